-- Scans that start again: joins, subplans, cursors, changed parameters.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA rescan;
SET search_path = rescan, public;

CREATE FOREIGN TABLE item (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), v text) SERVER widecol;
INSERT INTO item SELECT a, b, a || '/' || b FROM generate_series(1, 20) a, generate_series(1, 5) b;
CREATE TABLE probe (id int, a int, b int);
INSERT INTO probe VALUES (1, 3, 2), (2, 3, 9), (3, 7, 1), (4, NULL, 1), (5, 3, 2), (6, 21, 1);
ANALYZE probe;
ANALYZE item;

-- Nested loops with a key from the other side.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
EXPLAIN (COSTS OFF) SELECT p.id, i.v FROM probe p JOIN item i ON i.a = p.a AND i.b = p.b;
SELECT p.id, i.v FROM probe p JOIN item i ON i.a = p.a AND i.b = p.b ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT p.id, count(i.v) FROM probe p LEFT JOIN item i ON i.a = p.a AND i.b > p.b GROUP BY 1;
SELECT p.id, count(i.v) FROM probe p LEFT JOIN item i ON i.a = p.a AND i.b > p.b GROUP BY 1 ORDER BY 1;
SELECT p.id, count(i.v) FROM probe p LEFT JOIN item i ON (i.a, i.b) > (p.a, p.b) GROUP BY 1 ORDER BY 1;
-- A key of two relations' values.
EXPLAIN (COSTS OFF) SELECT count(*) FROM probe p, probe q, item i WHERE i.a = p.a AND i.b = q.b AND p.id = 1 AND q.id = 1;
SELECT count(*) FROM probe p, probe q, item i WHERE i.a = p.a AND i.b = q.b AND p.id = 1 AND q.id = 1;
-- The same rows again and again, without any parameter.
SELECT count(*), sum(i.b) FROM probe p, item i WHERE i.v LIKE '%/1' AND p.id <> i.b;
-- Foreign table against itself.
SELECT count(*) FROM item x JOIN item y ON y.a = x.b AND y.b = x.a;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;

-- Subplans: correlated, uncorrelated, hashed, EXISTS, LATERAL.
SELECT id, (SELECT v FROM item i WHERE i.a = p.a AND i.b = p.b) FROM probe p ORDER BY 1;
SELECT id, (SELECT max(b) FROM item i WHERE i.a = p.a) FROM probe p ORDER BY 1;
SELECT id FROM probe p WHERE EXISTS (SELECT FROM item i WHERE i.a = p.a AND i.b < p.b) ORDER BY 1;
SELECT id FROM probe p WHERE p.a IN (SELECT a FROM item WHERE b = 1) ORDER BY 1;
SELECT id, l.v FROM probe p, LATERAL (SELECT v FROM item i WHERE i.a = p.a ORDER BY i.b DESC LIMIT 2) l ORDER BY 1, 2;
SELECT v FROM item WHERE a = (SELECT max(a) FROM probe WHERE a < 10) AND b = 1;
SELECT a, ARRAY(SELECT b FROM item i WHERE i.a = o.a AND i.b > o.b) FROM item o WHERE a = 2;
WITH RECURSIVE walk(a, b) AS (
  SELECT 1, 1 UNION ALL SELECT i.a, i.b FROM walk w JOIN item i ON i.a = w.a + 1 AND i.b = w.b % 5 + 1)
SELECT count(*), max(a), max(b) FROM walk;

-- Prepared, with plans for any value.
SET plan_cache_mode = force_generic_plan;
PREPARE get(int, int) AS SELECT v FROM item WHERE a = $1 AND b = $2;
EXECUTE get(2, 3);
EXECUTE get(3, 3);
EXECUTE get(3, 6);
EXECUTE get(NULL, 6);
RESET plan_cache_mode;

-- Cursors.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a, b FROM item WHERE a = 5;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
MOVE FORWARD ALL IN c;
FETCH BACKWARD 2 FROM c;
FETCH FIRST FROM c;
DECLARE d CURSOR FOR SELECT a, b FROM item WHERE a = 6;
FETCH 1 FROM d;
INSERT INTO item VALUES (6, 6, 'late');
DELETE FROM item WHERE a = 6 AND b = 2;
FETCH 1 FROM d;
SAVEPOINT s;
FETCH 1 FROM d;
ROLLBACK TO s;
FETCH ALL FROM d;
SELECT b FROM item WHERE a = 6;
ROLLBACK;
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT a, b FROM item WHERE a = 7 ORDER BY a, b;
FETCH 1 FROM h;
COMMIT;
FETCH 2 FROM h;
CLOSE h;

-- A function that looks while the outer query reads.
CREATE FUNCTION next_of(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT min(a) FROM item WHERE a > $1';
SELECT DISTINCT a, next_of(a) FROM item WHERE a BETWEEN 18 AND 20 ORDER BY 1;
DO $$
DECLARE r record; n int = 0;
BEGIN
  FOR r IN SELECT a, b FROM item WHERE a <= 3 LOOP
    UPDATE item SET v = 'seen' WHERE a = r.a AND b = r.b;
    n = n + 1;
  END LOOP;
  RAISE INFO '% rows', n;
END $$;
SELECT count(*) FROM item WHERE v = 'seen';

-- Subqueries whose condition is not on the key: the rows are read twice at most, then they are kept.
CREATE FUNCTION read_of_item(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Rows Read|Foreign Scan' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
UPDATE item SET v = b || '/' || a WHERE a > 3;
SELECT read_of_item('SELECT g, (SELECT count(*) FROM item WHERE v || '''' < g::text) FROM generate_series(1, 50) g');
SELECT g, (SELECT count(*) FROM item WHERE v || '' < g::text) FROM generate_series(1, 6) g;
SELECT read_of_item('SELECT * FROM generate_series(1, 50) g, LATERAL (SELECT a FROM item WHERE v || '''' LIKE ''%'' || g || ''%'' LIMIT 1) i');
SELECT * FROM generate_series(1, 6) g, LATERAL (SELECT a, b FROM item WHERE b + 0 = g ORDER BY a, b LIMIT 1 OFFSET 1) i;
-- ranges that change in between, or are the same for a while
SELECT p.id, g, (SELECT string_agg(v, ' ') FROM item i WHERE i.a = p.a AND length(v) < g)
  FROM probe p, generate_series(3, 5) g WHERE id < 4 ORDER BY 1, 2;
-- the statement does not see its own writes, in rows that it reads and in rows that it keeps
WITH u AS (UPDATE item SET v = 'later' WHERE a = 20 RETURNING b)
SELECT u.b, (SELECT count(*) FROM item WHERE v || '' = 'later' AND b + 0 * u.b > 0) FROM u ORDER BY 1;
-- too many for work_mem: read each time
CREATE FOREIGN TABLE wide (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'item_wide');
INSERT INTO wide SELECT g, repeat(chr(64 + g), 10000) FROM generate_series(1, 20) g;
SET work_mem = '64kB';
SELECT g, (SELECT count(*) FROM wide WHERE left(v, 1) < chr(64 + g)) FROM generate_series(1, 4) g;
SELECT read_of_item('SELECT g, (SELECT count(*) FROM wide WHERE left(v, 1) < chr(64 + g)) FROM generate_series(1, 4) g');
RESET work_mem;
SELECT read_of_item('SELECT g, (SELECT count(*) FROM wide WHERE left(v, 1) < chr(64 + g)) FROM generate_series(1, 4) g');
DROP FOREIGN TABLE wide;
SELECT widecol.drop_table('item_wide');

-- An error in the middle leaves the session usable.
SELECT 1 / (a - 4) FROM item WHERE b = 1;
SELECT count(*) FROM item;
DROP FOREIGN TABLE item;
SELECT widecol.drop_table('item');
DROP SCHEMA rescan CASCADE;
