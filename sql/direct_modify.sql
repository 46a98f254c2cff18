-- DELETE and UPDATE that change the rows of a range where they are.
CREATE TABLE plans (line text);
-- The node that gives the rows, and whether it changes them itself.
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

CREATE FOREIGN TABLE d (
  a int OPTIONS (rowkey '1'),
  b int OPTIONS (rowkey '2'),
  x int,
  y text,
  z text OPTIONS (family 'g')
) SERVER widecol OPTIONS (table 'direct');
CREATE PROCEDURE fill() LANGUAGE sql AS $$
  DELETE FROM d;
  INSERT INTO d SELECT a, b, a * 10 + b, 'y' || b, 'z' FROM generate_series(1, 5) a, generate_series(1, 4) b
$$;
CALL fill();

-- EXPLAIN.
EXPLAIN (COSTS OFF, VERBOSE) DELETE FROM d WHERE a BETWEEN 2 AND 3;
EXPLAIN (COSTS OFF) UPDATE d SET x = 0, y = NULL WHERE a = 2 AND b IN (1, 3);
EXPLAIN (COSTS OFF) DELETE FROM d;
BEGIN;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) DELETE FROM d WHERE a = 2;
ROLLBACK;

-- Which statements do.
SELECT way('UPDATE d SET x = 1 WHERE (a, b) > (2, 2)');
PREPARE set_x (int, int) AS UPDATE d SET x = $1 WHERE a = $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE set_x (1, 2);
SELECT way('UPDATE d SET y = now()::text WHERE a = 1');
SELECT way('UPDATE d SET y = (SELECT max(line) FROM plans) WHERE a = 1');
-- and which do not: something has to be seen of each row
SELECT way('DELETE FROM d WHERE length(y) = 2');
SELECT way('DELETE FROM d WHERE a = 1 RETURNING b');
SELECT way('DELETE FROM d USING plans WHERE a = 1 AND y = line');
SELECT way('UPDATE d SET x = x + 1 WHERE a = 1');
SELECT way('UPDATE d SET y = random()::text WHERE a = 1');
SELECT way('UPDATE d SET (x, y) = (SELECT 1, max(line) FROM plans) WHERE a = 1');
SELECT way('UPDATE d SET b = 9 WHERE a = 1 AND b = 1');
SELECT way('WITH gone AS (DELETE FROM plans) DELETE FROM d WHERE a = 1');
-- or it is switched off
SET widecol.enable_pushdown = off;
SELECT way('DELETE FROM d WHERE a = 1');
RESET widecol.enable_pushdown;

-- Rows and their counts.
UPDATE d SET x = 0 WHERE a = 2;
DELETE FROM d WHERE a = 3 AND b >= 2;
DELETE FROM d WHERE a = 99;
DELETE FROM d WHERE a = 1 AND a = 2;
DELETE FROM d WHERE a = NULL;
UPDATE d SET x = 7, z = NULL WHERE (a = 1 AND b = 1) OR (a = 5 AND b > 3);
EXECUTE set_x (-4, 4);
EXECUTE set_x (NULL, 5);
SELECT * FROM d ORDER BY a, b;
EXECUTE set_x (1, NULL);
DO $$
DECLARE
  n bigint;
BEGIN
  DELETE FROM d WHERE a = 4;
  GET DIAGNOSTICS n = ROW_COUNT;
  RAISE NOTICE '% rows, found: %', n, found;
END $$;

-- A row that has lost its last value is still there, and known by its mark; one
-- that gets a value loses the mark.
CALL fill();
UPDATE d SET x = NULL, y = NULL, z = NULL WHERE a = 1;
UPDATE d SET y = NULL, z = NULL WHERE a = 2;
UPDATE d SET x = NULL WHERE a IN (2, 3);
SELECT * FROM d WHERE a <= 3 ORDER BY a, b;
SELECT "row", family, qualifier, type, value FROM widecol.scan('d', stop_row => '\x80000004') WHERE get_byte("row", 7) = 1;
UPDATE d SET z = 'new' WHERE a <= 2 AND b = 1;
UPDATE d SET y = 'new' WHERE a = 1;
SELECT "row", family, qualifier, type, value FROM widecol.scan('d', stop_row => '\x80000003') WHERE get_byte("row", 7) = 1;
-- A mark beside values is not ours to take away.
SELECT widecol.put('d', '\x8000000480000001', 'cf:', '');
UPDATE d SET y = 'new' WHERE a = 4;
SELECT family, qualifier, value FROM widecol.scan('d', start_row => '\x8000000480000001', row_limit => 1);

-- The statement sees the transaction's earlier writes; its own writes are visible, committed and rolled back as others.
CALL fill();
BEGIN;
INSERT INTO d VALUES (7, 1, 71);
DELETE FROM d WHERE a = 5;
UPDATE d SET x = 1 WHERE a >= 4;
SELECT a, b, x FROM d WHERE a >= 4 ORDER BY a, b;
SAVEPOINT s;
DELETE FROM d WHERE a < 7;
INSERT INTO d VALUES (1, 1, 1);
UPDATE d SET y = 'again' WHERE a = 1;
SELECT a, b, x, y FROM d ORDER BY a, b;
ROLLBACK TO s;
SELECT count(*), sum(x) FROM d;
SAVEPOINT s;
UPDATE d SET x = 2;
RELEASE s;
DECLARE c CURSOR FOR SELECT a, b, x FROM d WHERE a >= 4 ORDER BY a, b;
FETCH 1 FROM c;
DELETE FROM d WHERE a = 4;
FETCH 2 FROM c;
COMMIT;
SELECT count(*), sum(x) FROM d;
BEGIN;
DELETE FROM d;
ROLLBACK;
SELECT count(*) FROM d;
-- An error afterwards takes it back, too.
DO $$
BEGIN
  DELETE FROM d;
  PERFORM 1 / 0;
EXCEPTION WHEN division_by_zero THEN
  RAISE NOTICE '% rows', (SELECT count(*) FROM d);
END $$;

-- Without a row nothing of SET fails, with one it does.
PREPARE divide (int, int) AS UPDATE d SET x = 1 / $1 WHERE a = $2;
EXECUTE divide (0, 99);
EXECUTE divide (0, 1);
EXECUTE divide (1, 1);

-- Nor does the transaction, and what it wrote before stays.
BEGIN;
INSERT INTO d (a, b, y) VALUES (98, 1, 'new');
EXECUTE divide (0, 99);
SAVEPOINT s;
EXECUTE divide (0, 98);
ROLLBACK TO SAVEPOINT s;
EXECUTE divide (1, 98);
SELECT * FROM d WHERE a = 98;
ROLLBACK;

-- Conditions on rows hold.
CREATE FOREIGN TABLE c (
  a int OPTIONS (rowkey '1'),
  b int OPTIONS (rowkey '2'),
  x int NOT NULL,
  y text CHECK (y <> 'bad'),
  z text OPTIONS (family 'g')
) SERVER widecol OPTIONS (table 'direct');
SELECT way('UPDATE c SET x = NULL WHERE a = 1');
SELECT way('UPDATE c SET x = 3 WHERE a = 1');
SELECT way('UPDATE c SET y = ''good'' WHERE a = 1');
SELECT way('UPDATE c SET z = ''good'' WHERE a = 1');
SELECT way('DELETE FROM c WHERE a = 1');
UPDATE c SET x = NULL WHERE a = 1;
UPDATE c SET y = 'bad' WHERE a = 1;
UPDATE c SET x = NULL WHERE a = 99;
-- A constraint that is NOT VALID is checked of every row that is written, as in a heap table.
ALTER FOREIGN TABLE c ADD CONSTRAINT later CHECK (z <> 'z') NOT VALID;
SELECT way('UPDATE c SET x = 3 WHERE a = 1');
UPDATE c SET x = 3 WHERE a = 1;
ALTER FOREIGN TABLE c DROP CONSTRAINT later;
-- So is one that may have other results now than when the rows were written.
ALTER FOREIGN TABLE c ADD CONSTRAINT open CHECK (current_setting('direct.open', true) IS DISTINCT FROM 'no');
SELECT way('UPDATE c SET x = 3 WHERE a = 1');
SET direct.open = 'no';
UPDATE c SET x = 3 WHERE a = 1;
ALTER FOREIGN TABLE c DROP CONSTRAINT open;
RESET direct.open;
-- Triggers see their rows; a trigger for the statement needs none.
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE '% %: %', TG_OP, TG_LEVEL, OLD;
  RETURN OLD;
END $$;
CREATE TRIGGER tell_statement AFTER DELETE ON c FOR EACH STATEMENT EXECUTE FUNCTION tell();
SELECT way('DELETE FROM c WHERE a = 1');
DELETE FROM c WHERE a = 1 AND b = 1;
CREATE TRIGGER tell_row AFTER DELETE ON c FOR EACH ROW EXECUTE FUNCTION tell();
SELECT way('DELETE FROM c WHERE a = 1');
DELETE FROM c WHERE a = 1 AND b = 2;
-- A statement inside of another: rows change once.
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_LEVEL = 'STATEMENT' THEN
    UPDATE d SET x = -1 WHERE a = 2;
    RETURN NULL;
  END IF;
  DELETE FROM d WHERE a = 4;
  RETURN OLD;
END $$;
CREATE TRIGGER meddle BEFORE UPDATE ON d FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION meddle();
CREATE TRIGGER meddle BEFORE DELETE ON c FOR EACH ROW EXECUTE FUNCTION meddle();
CALL fill();
UPDATE d SET x = 5 WHERE a = 2;
UPDATE d SET x = 5 WHERE a = 3;
SELECT a, x, count(*) FROM d WHERE a IN (2, 3) GROUP BY a, x ORDER BY a;
DELETE FROM c WHERE a = 4;
DELETE FROM c WHERE a = 5 AND b = 1;
SELECT a, count(*) FROM d GROUP BY a ORDER BY a;
DROP TRIGGER meddle ON d;

-- Views: rows that the view does not show are not changed; WITH CHECK OPTION checks each row.
CREATE VIEW seen AS SELECT * FROM d WHERE a = 2;
CREATE VIEW checked AS SELECT * FROM d WHERE a = 2 WITH CHECK OPTION;
SELECT way('UPDATE seen SET x = 5');
SELECT way('UPDATE checked SET x = 5');
UPDATE seen SET x = 5 WHERE b <= 2;
DELETE FROM seen WHERE a = 3;
SELECT count(*) FROM d WHERE x = 5;
DROP VIEW seen, checked;
DROP FOREIGN TABLE c;

-- Only the families that a foreign table maps are its rows.
CREATE FOREIGN TABLE part (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), x int)
  SERVER widecol OPTIONS (table 'direct');
DELETE FROM part WHERE a = 2;
SELECT * FROM d WHERE a = 2 ORDER BY b;
DROP FOREIGN TABLE part;

-- Keys that the foreign table cannot read are an error, not rows.
CALL fill();
SELECT widecol.put('d', '\x80000002', 'cf:x', '\x00000001');
DELETE FROM d WHERE a = 3;
DELETE FROM d WHERE a <= 3;
UPDATE d SET x = 1 WHERE a = 2;
SELECT widecol.deleteall('d', '\x80000002');
DELETE FROM d WHERE a <= 2;
CREATE FOREIGN TABLE keys (
  t text OPTIONS (rowkey '1') COLLATE "C",
  at timestamp OPTIONS (rowkey '2', sort 'desc'),
  f float8 OPTIONS (rowkey '3'),
  u bool OPTIONS (rowkey '4'),
  v varchar(3) OPTIONS (rowkey '5') COLLATE "C",
  x int
) SERVER widecol;
INSERT INTO keys SELECT t, at, f, u, v, 1
  FROM unnest('{"",é,x}'::text[]) t, unnest('{-infinity,2000-01-01,infinity}'::timestamp[]) at,
       unnest('{NaN,-1.5}'::float8[]) f, unnest('{f,t}'::bool[]) u, unnest('{"",abc}'::text[]) v;
SELECT way('DELETE FROM keys WHERE t = ''x''');
DELETE FROM keys WHERE t = 'x';
UPDATE keys SET x = 2 WHERE t >= 'x';
UPDATE keys SET x = 2;
SELECT count(*), sum(x) FROM keys;
CREATE PROCEDURE spoil(was text, becomes text) LANGUAGE plpgsql AS $$
DECLARE
  key bytea = decode(becomes, 'hex');
BEGIN
  PERFORM widecol.put('keys', key, 'cf:x', '\x00000001');
  BEGIN
    DELETE FROM keys;
    RAISE NOTICE '%: deleted', was;
  EXCEPTION WHEN data_exception OR invalid_text_representation OR string_data_right_truncation OR character_not_in_repertoire OR invalid_binary_representation THEN
    RAISE NOTICE '%: %, % rows', was, SQLERRM, (SELECT count(*) FROM widecol.scan('keys', columns => '{cf:x}'));
  END;
  PERFORM widecol.deleteall('keys', key);
END $$;
-- text, a time, a float, a bool, a varchar that no value has; then one that is right
CALL spoil('text', '810000' || '7fffffffffffffff' || 'bff8000000000000' || '00' || '61');
CALL spoil('surrogate', 'eda0800000' || '7fffffffffffffff' || 'bff8000000000000' || '00' || '61');
CALL spoil('overlong', 'e08080' || '0000' || '7fffffffffffffff' || 'bff8000000000000' || '00' || '61');
CALL spoil('timestamp', '610000' || '0000000000000001' || 'bff8000000000000' || '00' || '61');
CALL spoil('minus zero', '610000' || '7fffffffffffffff' || '7fffffffffffffff' || '00' || '61');
CALL spoil('bool', '610000' || '7fffffffffffffff' || 'bff8000000000000' || '02' || '61');
CALL spoil('varchar', '610000' || '7fffffffffffffff' || 'bff8000000000000' || '00' || '61626364');
CALL spoil('short', '610000' || '7fff');
CALL spoil('right', '610000' || '7fffffffffffffff' || 'bff8000000000000' || '00' || '616263');
SELECT count(*) FROM keys;
DROP FOREIGN TABLE keys;

-- Keys that only PostgreSQL can read, conditions that ranges do not decide, and
-- more ranges than a scan may have: rows are fetched, the result is the same.
CREATE FOREIGN TABLE n (a numeric OPTIONS (rowkey '1'), x int) SERVER widecol;
INSERT INTO n SELECT g / 2.0, g FROM generate_series(1, 30) g;
DELETE FROM n WHERE a > 7;
UPDATE n SET x = NULL WHERE a <= 1;
SELECT * FROM n WHERE a < 2 ORDER BY a;
SELECT count(*) FROM n;
CREATE FOREIGN TABLE w (a text OPTIONS (rowkey '1') COLLATE "C", b text OPTIONS (rowkey '2') COLLATE "C", x int)
  SERVER widecol OPTIONS (delimiter '$');
INSERT INTO w SELECT a, b, 1 FROM unnest('{a,a!,a#,b}'::text[]) a, unnest('{k,l}'::text[]) b;
UPDATE w SET x = 2 WHERE a > 'a';
DELETE FROM w WHERE a >= 'a' AND a < 'a#';
SELECT * FROM w ORDER BY a, b;
CALL fill();
UPDATE d SET x = -1 WHERE a = ANY (ARRAY(SELECT generate_series(2, 200))) AND b = ANY (ARRAY(SELECT generate_series(2, 200)));
DELETE FROM d WHERE a = ANY (ARRAY(SELECT generate_series(3, 200))) AND b = ANY (ARRAY(SELECT generate_series(3, 200)));
SELECT count(*), count(*) FILTER (WHERE x = -1) FROM d;
DROP FOREIGN TABLE n, w;

-- Key, map and shown columns; a value in the mark's place.
CREATE FOREIGN TABLE m (
  a bytea OPTIONS (rowkey 'raw'),
  first text OPTIONS (qualifier ''),
  second text,
  since bigint OPTIONS (qualifier 'third', attribute 'timestamp')
) SERVER widecol OPTIONS (table 'direct2');
INSERT INTO m SELECT decode(to_hex(g + 16), 'hex'), 'f', 's' FROM generate_series(1, 4) g;
SELECT way('UPDATE m SET second = NULL');
SELECT way('UPDATE m SET first = ''x'', second = NULL');
SELECT way('UPDATE m SET since = 1');
UPDATE m SET first = '', second = NULL WHERE a > '\x12';
UPDATE m SET first = NULL WHERE a = '\x13';
SELECT * FROM m ORDER BY a;
DELETE FROM m WHERE a < '\x12';
DROP FOREIGN TABLE m;
CREATE FOREIGN TABLE m (a bytea OPTIONS (rowkey 'raw'), all_of_it jsonb OPTIONS (family 'cf'), since bigint OPTIONS (family 'g', qualifier 'q', attribute 'timestamp'), other text OPTIONS (family 'g'))
  SERVER widecol OPTIONS (table 'direct3', family 'g');
INSERT INTO m VALUES ('\x01', '{"k": "v"}', NULL, 'o'), ('\x02', NULL, NULL, NULL);
SELECT way('UPDATE m SET other = NULL');
SELECT way('DELETE FROM m WHERE a = ''\x01''');
DELETE FROM m WHERE a = '\x01';
SELECT * FROM m;
DROP FOREIGN TABLE m;
CREATE FOREIGN TABLE m (a bytea OPTIONS (rowkey 'raw'), since bigint OPTIONS (qualifier 'q', attribute 'timestamp'), other text)
  SERVER widecol OPTIONS (table 'direct4');
INSERT INTO m VALUES ('\x01', NULL, 'o'), ('\x02', NULL, 'o');
SELECT widecol.put('m', '\x01', 'cf:q', 'v', ts => 5);
UPDATE m SET other = NULL;
SELECT "row", qualifier FROM widecol.scan('m');
DROP FOREIGN TABLE m;

-- Salted keys, and record types: rows of other types are not changed.
CREATE FOREIGN TABLE s (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), x int)
  SERVER widecol OPTIONS (salt_buckets '4', salt_by 'a');
CREATE FOREIGN TABLE minutes (at timestamp OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), x int)
  SERVER widecol OPTIONS (salt_buckets '4', salt_by 'minute(at)');
INSERT INTO s SELECT a, b, 1 FROM generate_series(1, 6) a, generate_series(1, 3) b;
INSERT INTO minutes SELECT timestamp '2026-01-01' + a * interval '40 s', a, 1 FROM generate_series(0, 9) a;
SELECT way('DELETE FROM s WHERE a = 2');
SELECT way('UPDATE minutes SET x = 2 WHERE at < ''2026-01-01 00:03''');
DELETE FROM s WHERE a = 2;
UPDATE s SET x = NULL WHERE a IN (3, 4) AND b > 1;
UPDATE s SET x = 5 WHERE a > 5;
UPDATE minutes SET x = 2 WHERE at < '2026-01-01 00:03';
SELECT count(*), count(x), sum(x) FROM s;
SELECT count(*), sum(x) FROM minutes;
-- a row in another bucket than its parts belong in
DO $$
DECLARE
  bucket int;
BEGIN
  FOR bucket IN 0..3 LOOP
    PERFORM widecol.put('s', set_byte('\x008000004680000001', 0, bucket), 'cf:x', '\x00000001');
  END LOOP;
  DELETE FROM s WHERE a >= 3;
EXCEPTION WHEN invalid_binary_representation OR invalid_text_representation THEN
  RAISE NOTICE '%', regexp_replace(SQLERRM, 'bucket \d, .*', 'a wrong bucket');
END $$;
DELETE FROM s;
DELETE FROM minutes;
SELECT count(*) FROM s;
SELECT count(*) FROM minutes;
DROP FOREIGN TABLE s, minutes;
CREATE FOREIGN TABLE r1 (a int OPTIONS (rowkey '1'), kind text OPTIONS (rowkey '2') COLLATE "C" CHECK (kind = 'one'), x int)
  SERVER widecol OPTIONS (table 'direct6');
CREATE FOREIGN TABLE r2 (a int OPTIONS (rowkey '1'), kind text OPTIONS (rowkey '2') COLLATE "C" CHECK (kind = 'two'), x int)
  SERVER widecol OPTIONS (table 'direct6');
INSERT INTO r1 SELECT g, 'one', g FROM generate_series(1, 3) g;
INSERT INTO r2 SELECT g, 'two', g FROM generate_series(1, 3) g;
DELETE FROM r1 WHERE a <= 2;
UPDATE r2 SET x = 0 WHERE a = 1;
DELETE FROM r2 WHERE a = 2;
UPDATE r1 SET x = 0;
SELECT * FROM r1 UNION ALL SELECT * FROM r2 ORDER BY 1, 2;
DROP FOREIGN TABLE r1, r2;

-- Partitions and inheritance: each child its own way.
CREATE TABLE tree (k int, kind text, x int) PARTITION BY LIST (kind);
CREATE FOREIGN TABLE tree_a (k int OPTIONS (rowkey '1'), kind text, x int) SERVER widecol;
CREATE FOREIGN TABLE tree_b (x int, kind text, k int OPTIONS (rowkey '1')) SERVER widecol;
ALTER TABLE tree ATTACH PARTITION tree_a FOR VALUES IN ('a');
ALTER TABLE tree ATTACH PARTITION tree_b FOR VALUES IN ('b');
CREATE TABLE tree_h PARTITION OF tree FOR VALUES IN ('h');
INSERT INTO tree SELECT g, kind, g FROM generate_series(1, 4) g, unnest('{a,b,h}'::text[]) kind;
EXPLAIN (COSTS OFF) UPDATE tree SET x = 0 WHERE k <= 2;
UPDATE tree SET x = 0 WHERE k <= 2;
SELECT tableoid::regclass, * FROM tree ORDER BY kind, k;
EXPLAIN (COSTS OFF) DELETE FROM tree WHERE k = 1;
DELETE FROM tree WHERE k = 1;
SELECT way('UPDATE tree SET kind = ''h''');
UPDATE tree SET kind = 'h';
SELECT count(*), sum(x) FROM tree;
-- a statement's trigger that wants to see the rows
CREATE TRIGGER tell AFTER DELETE ON tree REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION tell();
SELECT way('DELETE FROM tree WHERE k = 1');
DROP TABLE tree;
CREATE TABLE parent (k int, x int);
CREATE FOREIGN TABLE child (k int OPTIONS (rowkey '1'), x int) INHERITS (parent) SERVER widecol OPTIONS (table 'direct5');
INSERT INTO parent VALUES (1, 1);
INSERT INTO child SELECT g, g FROM generate_series(1, 3) g;
SELECT way('UPDATE parent SET x = 9 WHERE k = 1');
UPDATE parent SET x = 9 WHERE k = 1;
DELETE FROM parent WHERE k = 2;
SELECT tableoid::regclass, * FROM parent ORDER BY 1::text, 2;
DROP TABLE parent CASCADE;

-- Conditions that the engine decides on values.
CALL fill();
SELECT way('DELETE FROM d WHERE x > 30 AND z = ''z''');
SELECT way('UPDATE d SET y = ''big'' WHERE a >= 2 AND x > 30');
UPDATE d SET y = 'big' WHERE a >= 2 AND x > 30;
DELETE FROM d WHERE y = 'y2';
UPDATE d SET x = NULL, y = NULL WHERE y LIKE 'b%' AND a > 3;
UPDATE d SET x = NULL, y = NULL, z = NULL WHERE y LIKE 'y%' OR x IS NULL;
SELECT a, count(*), count(x) AS x, count(y) AS y, count(z) AS z FROM d GROUP BY a ORDER BY a;
SELECT count(*) FROM widecol.scan('d', columns => '{cf:}');
UPDATE d SET x = 5 WHERE x IS NULL AND a < 5;
SELECT count(*) FROM widecol.scan('d', columns => '{cf:}');
SELECT a, count(*), sum(x) AS x FROM d GROUP BY a ORDER BY a;
-- a value that it cannot tell of is an error, as when rows are fetched
SELECT widecol.put('d', '\x8000000480000001', 'cf:x', '\x01');
DELETE FROM d WHERE x = 5;
UPDATE d SET y = 'five' WHERE x = 5 AND a = 4;
SELECT widecol.delete('d', '\x8000000480000001', 'cf:x');
DELETE FROM d WHERE x = 5;
SELECT a, count(*) FROM d GROUP BY a ORDER BY a;

-- Rights.
CREATE ROLE direct_reader;
GRANT USAGE ON FOREIGN SERVER widecol TO direct_reader;
GRANT SELECT, DELETE ON d TO direct_reader;
CALL fill();
CREATE VIEW own WITH (security_barrier) AS SELECT * FROM d WHERE a = 4;
GRANT SELECT, DELETE ON own TO direct_reader;
SET ROLE direct_reader;
UPDATE d SET x = 1 WHERE a = 1;
DELETE FROM own WHERE b <= 2;
RESET ROLE;
SELECT count(*) FROM d WHERE a = 4;
DROP VIEW own;

-- Refused where writing is.
BEGIN READ ONLY;
DELETE FROM d WHERE a = 1;
ROLLBACK;
SET widecol.read_timestamp = '2020-01-01';
DELETE FROM d WHERE a = 1;
RESET widecol.read_timestamp;
-- Too much for one transaction: nothing of it is done.
SET widecol.max_transaction_size = '1MB';
BEGIN;
SAVEPOINT s;
\set VERBOSITY terse
UPDATE d SET y = repeat('long', 100000) WHERE a >= 1;
\set VERBOSITY default
ROLLBACK TO s;
UPDATE d SET y = 'short' WHERE a = 1;
COMMIT;
RESET widecol.max_transaction_size;
SELECT count(*) FILTER (WHERE length(y) > 5), count(*) FILTER (WHERE y = 'short') FROM d;
-- Large values, a row each that does not fit into a block.
UPDATE d SET y = repeat('long', 100000), z = repeat('z', 100000) WHERE a = 1;
UPDATE d SET x = 0 WHERE a = 1;
SELECT a, b, x, length(y), length(z) FROM d WHERE a = 1 ORDER BY b;
DELETE FROM d WHERE a = 1;
SELECT count(*) FROM d WHERE a = 1;

-- A value from a subquery.  The subquery is run once, if there is a row; what it opens belongs to the statement.
CREATE TABLE given (k int PRIMARY KEY, v int, j jsonb);
INSERT INTO given VALUES (1, 7, '{"from": "heap"}'), (2, NULL, NULL);
CREATE SEQUENCE calls;
CREATE FOREIGN TABLE direct_map (k int OPTIONS (rowkey '1'), m jsonb OPTIONS (family 'm')) SERVER widecol;
INSERT INTO direct_map VALUES (1, '{"a": "b"}');
INSERT INTO d (a, b, x) VALUES (200, 1, 0), (200, 2, 0);
SET enable_seqscan = off;
SELECT way('UPDATE d SET x = (SELECT v FROM given WHERE k = 1) WHERE a = 200');
UPDATE d SET x = (SELECT v FROM given WHERE k = 1) WHERE a = 200;
DO $$BEGIN UPDATE d SET x = (SELECT v + 1 FROM given WHERE k = 1), z = (SELECT 'text' FROM given WHERE k = 3) WHERE a = 200 AND b = 2; END$$;
SELECT b, x, z FROM d WHERE a = 200 ORDER BY b;
UPDATE direct_map SET m = m || (SELECT j FROM given WHERE k = 1);
SELECT * FROM direct_map;
UPDATE d SET x = (SELECT 1 / (v - 7) FROM given WHERE k = 1) WHERE a = 201;
UPDATE d SET x = (SELECT 1 / (v - 7) FROM given WHERE k = 1) WHERE a = 200;
UPDATE d SET x = (SELECT nextval('calls') FROM given WHERE k = 1) WHERE a = 201;
UPDATE d SET x = (SELECT nextval('calls') FROM given WHERE k = 1) WHERE a = 200;
WITH added AS (INSERT INTO given VALUES (3, 30) RETURNING v) UPDATE d SET x = (SELECT v FROM added) WHERE a = 200 AND b = 1;
SELECT b, x FROM d WHERE a = 200 ORDER BY b;
CREATE FUNCTION writes() RETURNS int LANGUAGE sql AS 'UPDATE d SET x = 99 WHERE a = 200 AND b = 2 RETURNING x';
UPDATE d SET x = (SELECT writes()) WHERE a = 200;
UPDATE d SET x = (SELECT writes()) WHERE a = 200 AND b = 1;
SELECT b, x FROM d WHERE a = 200 ORDER BY b;
RESET enable_seqscan;

-- Cancelled on the way: only the writes before the statement are there.
INSERT INTO d (a, b, x) SELECT 100, g, 0 FROM generate_series(1, 30000) g;
BEGIN;
UPDATE d SET x = 1 WHERE a = 100 AND b <= 10;
SAVEPOINT s;
SET LOCAL statement_timeout = '1ms';
UPDATE d SET x = 2, y = 'much' WHERE a = 100;
ROLLBACK TO s;
UPDATE d SET x = 3 WHERE a = 100 AND b > 29990;
SELECT x, count(*), count(y) FROM d WHERE a = 100 GROUP BY x ORDER BY x;
COMMIT;
SELECT x, count(*), count(y) FROM d WHERE a = 100 GROUP BY x ORDER BY x;

DROP OWNED BY direct_reader;
DROP ROLE direct_reader;
DROP PROCEDURE fill, spoil;
DROP FUNCTION way, tell, meddle, writes;
DROP TABLE plans, given;
DROP SEQUENCE calls;
DROP FOREIGN TABLE d, direct_map;
SELECT widecol.drop_table(name) FROM widecol.tables WHERE name ~ '^(direct|keys|minutes|n$|s$|w$|tree_)' ORDER BY name;
