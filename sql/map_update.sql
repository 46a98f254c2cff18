-- UPDATE t SET map = map || value: the engine puts the members of the value that differ, and the map is not read.
SET client_min_messages = warning;
CREATE FUNCTION way(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
    IF line ~ '(Foreign|Filter|Scan:)' THEN
      RETURN NEXT regexp_replace(line, '^ *(->  )?', '');
    END IF;
  END LOOP;
END $$;
CREATE FOREIGN TABLE mu (k int OPTIONS (rowkey '1'), d jsonb OPTIONS (family 'd'), x int OPTIONS (family 'e'))
  SERVER widecol OPTIONS (family 'd');
CREATE TABLE mu_heap (k int PRIMARY KEY, d jsonb, x int);
CREATE PROCEDURE fill() LANGUAGE sql AS $$
  DELETE FROM mu;
  DELETE FROM mu_heap;
  INSERT INTO mu_heap VALUES (1, '{"a": "1", "b": "2"}', 1), (2, '{"b": "new"}', NULL), (3, NULL, 3), (4, NULL, NULL),
    (5, '{"": "nameless"}', NULL), (6, '{"z": "z"}', 6);
  INSERT INTO mu_heap SELECT 7, jsonb_object_agg('m' || g, repeat('v', 100)), 7 FROM generate_series(1, 1000) g;
  INSERT INTO mu SELECT * FROM mu_heap;
$$;
-- Runs the statement on both tables, and tells where they differ.
CREATE FUNCTION same(statement text) RETURNS TABLE (k int, wide text, heap text) LANGUAGE plpgsql AS $$
DECLARE
  nwide bigint;
  nheap bigint;
BEGIN
  EXECUTE format(statement, 'mu');
  GET DIAGNOSTICS nwide = ROW_COUNT;
  EXECUTE format(statement, 'mu_heap');
  GET DIAGNOSTICS nheap = ROW_COUNT;
  IF nwide <> nheap THEN
    RAISE WARNING '% rows, not %', nwide, nheap;
  END IF;
  RETURN QUERY SELECT COALESCE(w.k, h.k), w::text, h::text FROM mu w FULL JOIN mu_heap h ON w.k = h.k WHERE (w.d, w.x) IS DISTINCT FROM (h.d, h.x);
END $$;
CALL fill();

-- Which statements do.
EXPLAIN (COSTS OFF) UPDATE mu SET d = d || '{"b": "new", "c": 3}' WHERE k = 1;
SELECT way('UPDATE mu SET d = d || jsonb_build_object(''a'', now())');
SELECT way('UPDATE mu SET d = d || ''{"a": "x"}'' WHERE d ->> ''b'' = ''2''');
SELECT way('UPDATE mu SET d = jsonb_set(d, ''{a}'', ''"x"'') WHERE k = 1');
-- and which do not
SELECT way('UPDATE mu SET d = jsonb_set(d, ''{a}'', ''"x"'', false) WHERE k = 1');
SELECT way('UPDATE mu SET d = jsonb_set(d, ''{a,b}'', ''"x"'') WHERE k = 1');
SELECT way('UPDATE mu SET d = jsonb_set(d, ARRAY[x::text], ''"x"'') WHERE k = 1');
SELECT way('UPDATE mu SET d = d || ''{"a": "x"}'', x = 1 WHERE k = 1');
SELECT way('UPDATE mu SET d = ''{"a": "x"}'' || d WHERE k = 1');
SELECT way('UPDATE mu SET d = d || d WHERE k = 1');
SELECT way('UPDATE mu SET d = d || jsonb_build_object(''a'', x) WHERE k = 1');
SELECT way('UPDATE mu SET d = d - ''a'' WHERE k = 1');
SELECT way('UPDATE mu SET d = d || jsonb_build_object(''a'', random()) WHERE k = 1');
SELECT way('UPDATE mu SET d = d || ''{"a": "x"}'' WHERE k = 1 RETURNING d');
SELECT way('UPDATE mu SET d = mu.d || ''{"a": "x"}'' FROM mu_heap h WHERE mu.k = h.k');

-- As on a heap table: a map that is NULL stays so, null members are left out.
SELECT same('UPDATE %s SET d = d || ''{"b": "new", "c": "3"}''');
SELECT same('UPDATE %s SET d = d || ''{"m500": "x"}'' WHERE k = 7');
SELECT same('UPDATE %s SET d = d || ''{"b": "newer"}'' WHERE d ->> ''b'' = ''new''');
SELECT same('UPDATE %s SET d = d || jsonb_build_object(''t'', ''true'', ''n'', ''1.50'', ''o'', ''[1, {"a": null}]''::text)');
SELECT same('UPDATE %s SET d = d || ''{}''');
SELECT same('UPDATE %s SET d = d || ''{"": "named"}'' WHERE k < 7');
SELECT same('UPDATE %s SET d = d || NULL WHERE k = 6');
SELECT same('UPDATE %s SET d = d || ''{"b": "no more NULL"}'' WHERE k = 6');
SELECT same('UPDATE %s SET d = d || ''{"b": "nobody"}'' WHERE k = 99');
SELECT same('UPDATE %s SET d = jsonb_set(d, ''{0}'', ''"zero"'') WHERE k < 5');
SELECT same('UPDATE %s SET d = jsonb_set(d, ''{j}'', to_jsonb(''"j"''::text)) WHERE k < 5');
SELECT same('UPDATE %s SET d = jsonb_set(d, ''{j}'', NULL) WHERE k = 5');
UPDATE mu SET d = d || '{"b": null, "t": true, "n": 1.50, "o": {"a": [1]}}' WHERE k = 1;
SELECT d FROM mu WHERE k = 1;
-- the rows without members have their marks, and no other cell
SELECT "row", qualifier, value FROM widecol.scan('mu', start_row => '\x80000003', stop_row => '\x80000005');

-- Unchanged members are not written again.
CALL fill();
CREATE FUNCTION written_later() RETURNS SETOF text LANGUAGE sql AS $$
  SELECT convert_from(qualifier, 'UTF8') || '=' || convert_from(value, 'UTF8')
  FROM widecol.scan('mu', start_row => '\x80000001', stop_row => '\x80000002')
  WHERE ts > (SELECT min(ts) FROM widecol.scan('mu', start_row => '\x80000001', stop_row => '\x80000002'))
$$;
UPDATE mu SET d = d || '{"a": "1", "b": "other"}' WHERE k = 1;
SELECT written_later();
UPDATE mu SET d = d || '{"a": "1"}' WHERE k = 1;
SELECT written_later();

-- Parameters; its own transaction; savepoints.
PREPARE put (text, int) AS UPDATE mu SET d = d || jsonb_build_object('p', $1) WHERE k = $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE put ('1', 1);
EXECUTE put ('1', 1);
EXECUTE put (NULL, 2);
PREPARE put_all (jsonb) AS UPDATE mu SET d = d || $1 WHERE k < 7;
EXECUTE put_all ('{"q": "1", "r": null}');
EXECUTE put_all ('{"s": "1"}');
SELECT k, d FROM mu WHERE k < 7 ORDER BY k;
PREPARE set_t (jsonb) AS UPDATE mu SET d = jsonb_set(d, '{t}', $1) WHERE k = 2;
EXPLAIN (COSTS OFF) EXECUTE set_t ('"1"');
EXECUTE set_t ('{"nested": 1}');
SELECT d FROM mu WHERE k = 2;
EXECUTE set_t ('null');
SELECT d FROM mu WHERE k = 2;
BEGIN;
EXECUTE set_t (NULL);
SELECT d FROM mu WHERE k = 2;
ROLLBACK;
BEGIN;
INSERT INTO mu VALUES (8, '{"own": "row"}');
EXECUTE put ('in', 8);
UPDATE mu SET d = NULL WHERE k = 1;
EXECUTE put ('gone', 1);
SAVEPOINT s;
EXECUTE put ('later', 8);
SELECT k, d FROM mu WHERE k IN (1, 8) ORDER BY k;
ROLLBACK TO s;
COMMIT;
SELECT k, d FROM mu WHERE k IN (1, 8) ORDER BY k;

-- Without a row nothing fails, with one it does, and nothing is written.
UPDATE mu SET d = d || '[1]' WHERE k = 99;
UPDATE mu SET d = d || '[1]' WHERE k = 2;
UPDATE mu SET d = d || '"x"' WHERE k = 2;
UPDATE mu SET d = d || jsonb_build_object(repeat('q', 70000), 'x') WHERE k = 99;
\set VERBOSITY terse
UPDATE mu SET d = d || jsonb_build_object(repeat('q', 70000), 'x') WHERE k = 2;
\set VERBOSITY default
EXECUTE put_all ('[2]');
SELECT d FROM mu WHERE k = 2;

-- Columns beside the map, constraints, triggers: rows are read.
CREATE FOREIGN TABLE mu_more (k int OPTIONS (rowkey '1'), d jsonb OPTIONS (family 'd'), b text OPTIONS (family 'd', qualifier 'b'))
  SERVER widecol OPTIONS (table 'mu', family 'd');
SELECT way('UPDATE mu_more SET d = d || ''{"a": "x"}'' WHERE k = 1');
UPDATE mu_more SET d = d || '{"b": "mine"}' WHERE k = 2;
DROP FOREIGN TABLE mu_more;
CREATE FOREIGN TABLE mu_more (k int OPTIONS (rowkey '1'), d jsonb OPTIONS (family 'd') NOT NULL) SERVER widecol OPTIONS (table 'mu', family 'd');
SELECT way('UPDATE mu_more SET d = d || ''{"a": "x"}'' WHERE k = 1');
DROP FOREIGN TABLE mu_more;
CREATE FOREIGN TABLE mu_more (k int OPTIONS (rowkey '1'), d jsonb OPTIONS (family 'd') CHECK (d ->> 'a' <> 'bad')) SERVER widecol OPTIONS (table 'mu', family 'd');
UPDATE mu_more SET d = d || '{"a": "bad"}' WHERE k = 2;
DROP FOREIGN TABLE mu_more;
-- In a family that is not the table's first, a cell without name and value is a member like others.
CREATE FOREIGN TABLE mu_more (k int OPTIONS (rowkey '1'), d jsonb OPTIONS (family 'd'), x int OPTIONS (family 'e')) SERVER widecol OPTIONS (table 'mu', family 'e');
SELECT widecol.put('mu', '\x80000009', 'd:', '');
SELECT k, d FROM mu WHERE k = 9;
UPDATE mu SET d = d || '{"a": "x"}' WHERE k = 9;
SELECT k, d FROM mu WHERE k = 9;
SELECT k, d FROM mu_more WHERE k = 9;
UPDATE mu_more SET d = d || '{"a": "x"}' WHERE k = 9;
SELECT k, d FROM mu_more WHERE k = 9;
-- Cells that are not text do no harm.
SELECT widecol.put('mu', '\x80000009', 'd:odd', '\xff');
UPDATE mu SET d = d || '{"a": "y"}' WHERE k = 9;
SELECT d ->> 'a' FROM mu WHERE k = 9;

DEALLOCATE put;
DEALLOCATE put_all;
DEALLOCATE set_t;
RESET plan_cache_mode;
DROP FOREIGN TABLE mu, mu_more;
DROP TABLE mu_heap;
DROP PROCEDURE fill;
DROP FUNCTION way, same, written_later;
SELECT widecol.drop_table('mu');
