-- Conditions on value columns, decided in the engine: what the plan says is left
-- to filter where, and the rows are those of a heap copy and those found without.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA filters;
SET search_path = filters, public;
SET max_parallel_workers_per_gather = 0;
SET datestyle = 'ISO';
SET timezone = 'UTC';
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');

CREATE FOREIGN TABLE t (
  k  int OPTIONS (rowkey '1'),
  i  int, i2 int2, i8 int8, io int8 OPTIONS (encoding 'ordered'), it int OPTIONS (encoding 'text'),
  f4 float4, f8 float8, fo float8 OPTIONS (encoding 'ordered'),
  b  bool, bo bool OPTIONS (encoding 'ordered'),
  s  text, sc text COLLATE "C", vc varchar(10), ch char(8), rev text OPTIONS (encoding 'reversed'), m mood,
  n  numeric, n2 numeric(8, 2), nb numeric OPTIONS (encoding 'binary'),
  d  date, db date OPTIONS (encoding 'binary'), dt date OPTIONS (encoding 'ordered'),
  ts timestamp, tb timestamp OPTIONS (encoding 'binary'), tz timestamptz,
  u  uuid, y bytea, j jsonb OPTIONS (qualifier 'j'), other int OPTIONS (family 'more')
) SERVER widecol OPTIONS (table 'filters_t');
INSERT INTO t
  SELECT g, v, v, v::int8 * 1000000000, v::int8 * 1000000000, v,
         CASE g % 9 WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN '-0' ELSE v / 4.0 END,
         CASE g % 9 WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN '-0' ELSE v / 4.0 END, v / 3.0,
         v % 2 = 0, v % 2 = 0,
         'n' || v, 'n' || v, 'n' || v, 'n' || v, 'n' || v, (ARRAY['sad', 'ok', 'happy']::mood[])[1 + abs(v) % 3],
         v * 0.50, v * 0.25, v * 1.5,
         date '2024-02-25' + v, date '2024-02-25' + v, date '2024-02-25' + v,
         timestamp '2024-02-25 00:00:00' + v * interval '1 hour 0.25 s', timestamp '2024-02-25 00:00:00' + v * interval '1 hour 0.25 s',
         timestamptz '2024-02-25 00:00:00+00' + v * interval '1 hour 0.25 s',
         md5(v::text)::uuid, decode(md5(v::text), 'hex'), jsonb_build_object('v', v), CASE WHEN v % 3 = 0 THEN v END
  FROM (SELECT g, CASE WHEN g % 7 <> 0 THEN g % 40 - 20 END AS v FROM generate_series(1, 120) g) x;
CREATE TABLE t_heap AS SELECT * FROM t;

-- Shows the conditions that the session still evaluates, and the number of rows found.
CREATE FUNCTION filtered(condition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text; pushed int[]; local int[]; heaps int[];
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT k FROM t WHERE ' || condition LOOP
    IF line ~ 'Filter:' THEN RETURN NEXT regexp_replace(trim(line), '\(InitPlan (\d+)\)\.col1', '$0'); END IF;
  END LOOP;
  EXECUTE 'SELECT array_agg(k ORDER BY k) FROM t WHERE ' || condition INTO pushed;
  PERFORM set_config('widecol.enable_pushdown', 'off', true);
  EXECUTE 'SELECT array_agg(k ORDER BY k) FROM t WHERE ' || condition INTO local;
  PERFORM set_config('widecol.enable_pushdown', 'on', true);
  EXECUTE 'SELECT array_agg(k ORDER BY k) FROM t_heap t WHERE ' || condition INTO heaps;
  RETURN NEXT coalesce(cardinality(pushed), 0) || ' rows' ||
    CASE WHEN pushed IS DISTINCT FROM local THEN ': OTHERS LOCALLY' WHEN pushed IS DISTINCT FROM heaps THEN ': NOT THOSE OF THE HEAP TABLE' ELSE '' END;
END $$;

-- comparisons, type by type
SELECT filtered(c) FROM unnest(ARRAY[
  'i = 3', 'i <> 3', 'i < -15', '-15 >= i', 'i > 15', 'i >= 15', 'i BETWEEN -1 AND 1', 'i NOT BETWEEN -1 AND 1',
  'i = 3::int8', 'i > 3000000000', 'i < 3000000000', 'i = 3000000000', 'i <> 3000000000', 'i > -3000000000', 'i2 < 2::int8', 'i2 > 40000',
  'i8 = 3000000000', 'i8 < 0::int2', 'io < -17000000000', 'io >= 0', 'it = 3', 'it < -9', 'it > 9',
  'f4 = 0', 'f4 < 0', 'f4 > 1.3', 'f4 <= 1.3', 'f4 = 0.1', $$f4 = 'NaN'$$, $$f4 >= 'Infinity'$$, 'f8 = 0', 'f8 = -0.0::float8', 'f8 <> 0', 'f8 > 0',
  $$f8 < 'NaN'$$, $$f8 <= 'NaN'$$, $$f8 > 'NaN'$$, $$f8 = 'NaN'$$, $$f8 = '-Infinity'$$, 'fo < -1', 'fo > 1::float4',
  'b', 'NOT b', 'b = true', 'b < true', 'b <> bo', 'bo', 'bo IS NOT TRUE', 'b IS FALSE', 'b IS UNKNOWN', 'b IS NOT UNKNOWN',
  'n = 1.5', 'n = 1.500', 'n < -9.75', 'n > 9', 'n <= 0', $$n <> 'NaN'$$, 'n2 = 1.25', 'n2 > 4.5', 'n2 = 1.255', 'nb = 1.5',
  $$d = '2024-03-01'$$, $$d < '2024-02-10'$$, $$d > 'infinity'$$, $$d < 'infinity'$$, $$d > timestamp '2024-03-10 12:00'$$, $$d >= timestamptz '2024-03-10 12:00'$$,
  $$db > '2024-03-10'$$, $$db > '-infinity'$$, $$dt <= '2024-02-10'$$,
  $$ts > '2024-02-25 15:00'$$, $$ts = '2024-02-25 04:00:01'$$, $$ts < date '2024-02-25'$$, $$tb > '2024-02-25 15:00'$$, $$tb = '2024-02-25 01:00:00.250'$$,
  $$tb = '2024-02-25 01:00:00.2501'$$, $$tz > '2024-02-25 15:00+00'$$, $$tz = '2024-02-25 01:00:00.25+00'$$, $$tz < '2024-02-25 00:00+05'$$, 'tz < now()',
  $$u = 'a87ff679-a2f3-e71d-9181-a67b7542122c'$$, $$u < '20000000-0000-0000-0000-000000000000'$$, $$y > '\xe0'$$, $$y = decode(md5('3'), 'hex')$$,
  $$m = 'ok'$$, $$m <> 'ok'$$, $$m > 'sad'$$, $$m IN ('ok', 'sad')$$]) c;

-- text: = everywhere, order under "C", prefixes
SELECT filtered(c) FROM unnest(ARRAY[
  $$s = 'n3'$$, $$s <> 'n3'$$, $$s > 'n3' COLLATE "C"$$, $$s > 'n3' COLLATE "und-x-icu"$$, $$sc > 'n3'$$, $$sc <= 'n-3'$$, $$sc = 'n3' COLLATE "und-x-icu"$$,
  $$vc = 'n3'$$, $$vc = 'longer than ten'$$, $$vc < 'n-2'$$, $$ch = 'n3'$$, $$ch = 'n3  '$$, $$ch = 'n3  '::text$$, $$ch < 'n-2'$$,
  $$rev = 'n3'$$, $$rev < 'n3'$$, $$s LIKE 'n1%'$$, $$s LIKE 'n-1_'$$, $$s LIKE 'n3'$$, $$s NOT LIKE 'n1%'$$, $$s NOT LIKE 'n-1_'$$, $$s LIKE '%3'$$, $$s ILIKE 'N3'$$,
  $$vc LIKE 'n-%'$$, $$ch LIKE 'n-%'$$, $$s ^@ 'n1'$$, $$starts_with(s, 'n1')$$, $$rev LIKE 'n1%'$$, $$s LIKE 'n\-1%'$$,
  $$s = 'n3'::name$$, $$'n3'::name <> s$$, $$s < 'n3'::name$$, $$sc >= 'n3'::name$$, $$vc = ANY ('{n3,n4}'::name[])$$, $$rev = 'n3'::name$$, $$s = current_user$$,
  $$ch = 'n3'::name$$]) c;

-- NULL, lists, trees
SELECT filtered(c) FROM unnest(ARRAY[
  'i IS NULL', 'i IS NOT NULL', 'j IS NULL', 'nb IS NOT NULL', 'other IS NULL', 'i IS NULL OR other = 3', 'i = NULL', 'NOT (i = NULL)', 'i IN (1, 2, 3)',
  'i IN (1, NULL)', 'i NOT IN (1, 2)', 'i NOT IN (1, NULL)', $$i = ANY ('{}')$$, $$i <> ALL ('{}')$$, 'i = ANY (NULL::int[])', $$i IN (1, 3000000000)$$,
  $$s IN ('n1', 'n2', 'n1', NULL)$$, $$n IN (1.5, 2.50, 3)$$, 'i > ANY (ARRAY[15, 20])', $$f8 IN ('NaN', 0)$$,
  'i IS DISTINCT FROM 3', 'i IS NOT DISTINCT FROM 3', 'i IS DISTINCT FROM NULL', 'i IS NOT DISTINCT FROM NULL',
  '(i > 0) IS TRUE', '(i > 0) IS NOT TRUE', '(i > 0) IS FALSE', '(i > 0) IS NOT FALSE', '(i > 0) IS UNKNOWN', '(i > 0 AND b) IS NOT UNKNOWN',
  'i > 10 AND b', 'i > 10 OR other = -3', 'NOT (i > 10 OR other = -3)', 'NOT (i > 10 AND other IS NOT NULL)', $$(i = 1 AND s = 'n1') OR (i = 2 AND NOT b) OR (i = 3 AND f8 > 0)$$,
  'i > 10 AND length(s) = 3', 'i > 10 AND (b OR length(s) = 3)', $$i > 10 AND (s LIKE 'n1_' AND length(s) = 3 OR b)$$, 'i > 10 OR length(s) = 2',
  'NOT (i > 10 AND length(s) = 3)', 'i + 0 = 3', 'i = i2', 'i = k - 20', 'i = (SELECT 3)', 'i > (SELECT avg(k)::int - 50 FROM t_heap)',
  'i IN (SELECT i FROM t_heap WHERE k = 23)', 'k = 23 AND i = 3', 'k > 100 AND i > 0', 'k IN (20, 21, 22, 23) AND i > 0', $$s LIKE 'n1%' AND s LIKE 'n12%' AND i < 13$$,
  'i = random() + 100', 'i > 5 AND random() >= 0']) c;

-- columns that only the filter reads are not sent; a limit counts rows that pass
EXPLAIN (VERBOSE, COSTS OFF) SELECT k FROM t WHERE i > 3 AND other IS NOT NULL LIMIT 2;
SELECT k FROM t WHERE i > 3 AND other IS NOT NULL LIMIT 2;
SELECT k, i FROM t WHERE i > 3 AND other IS NOT NULL ORDER BY k DESC LIMIT 2 OFFSET 1;
EXPLAIN (COSTS OFF) SELECT k FROM t WHERE i > 3 AND length(s) = 2 LIMIT 2;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT k FROM t WHERE i = 3;
SET widecol.enable_pushdown = off;
EXPLAIN (COSTS OFF) SELECT k FROM t WHERE i > 3 AND other IS NOT NULL LIMIT 2;
EXPLAIN (COSTS OFF) SELECT i FROM t WHERE k < 5 LIMIT 2;
RESET widecol.enable_pushdown;

-- parameters, as plans that know the values and as plans that do not
PREPARE by_value(int, text, text[], numeric) AS SELECT k FROM t WHERE i > $1 AND s LIKE $2 AND sc = ANY ($3) AND n < $4;
EXECUTE by_value(3, 'n1%', '{n12,n13,n4}', 6.25);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_value(3, 'n1%', '{n12,n13,n4}', 6.25);
EXECUTE by_value(3, 'n1%', '{n12,n13,n4}', 6.25);
EXECUTE by_value(3, 'n_2', '{n12,n13,n4}', 6.25);
EXECUTE by_value(3, '%2', '{n12,n13,n4}', 6.25);
EXECUTE by_value(3, 'n12', '{n12,n13,n4}', 6.25);
EXECUTE by_value(3, 'n1%', '{n12,NULL}', 'NaN');
EXECUTE by_value(3, 'n1%', '{}', 6.25);
EXECUTE by_value(NULL, 'n1%', '{n12,n13,n4}', 6.25);
EXECUTE by_value(3, 'n1%', '{n12}', 1e100);
PREPARE not_like(text) AS SELECT count(*) FROM t WHERE s NOT LIKE $1;
EXECUTE not_like('n1%');
EXECUTE not_like('n_2');
EXECUTE not_like(NULL);
-- a list that is too long to travel is looked at here
PREPARE by_list(int[]) AS SELECT count(*) FROM t WHERE i = ANY ($1) AND b LIMIT 1;
EXECUTE by_list('{2,4}');
SELECT array_agg(g) AS many FROM generate_series(2, 40000) g \gset
EXECUTE by_list(:'many');
RESET plan_cache_mode;

-- a join's values, a loop's
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT x.k, t.i FROM (VALUES (23, 3), (24, 3), (64, 4)) x (k, i) JOIN t ON t.k = x.k AND t.i = x.i;
SELECT x.k, t.i FROM (VALUES (23, 3), (24, 3), (64, 4)) x (k, i) JOIN t ON t.k = x.k AND t.i = x.i;
SET widecol.enable_batched_lookup = off;
EXPLAIN (COSTS OFF) SELECT x.k, t.i FROM (VALUES (23, 3), (24, 3), (64, 4)) x (k, i) JOIN t ON t.k = x.k AND t.i = x.i;
SELECT x.k, t.i FROM (VALUES (23, 3), (24, 3), (64, 4)) x (k, i) JOIN t ON t.k = x.k AND t.i = x.i;
RESET widecol.enable_batched_lookup;
SELECT g, (SELECT min(k) FROM t WHERE i = g AND b) FROM generate_series(-1, 4) g;
SELECT g, l.k FROM generate_series(1, 2) g, LATERAL (SELECT k FROM t WHERE i = g ORDER BY k LIMIT 2) l;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- cursors
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, i FROM t WHERE i > 17 ORDER BY k;
FETCH 3 FROM c;
UPDATE t SET i = 18 WHERE k = 1;
FETCH BACKWARD 2 FROM c;
FETCH 2 FROM c;
-- own writes are seen, and gone with the savepoint
SAVEPOINT s;
UPDATE t SET i = 19 WHERE i = 3;
DELETE FROM t WHERE i = 19 AND k < 30;
SELECT k, i FROM t WHERE i = 19;
ROLLBACK TO s;
SELECT k, i FROM t WHERE i > 17;
ROLLBACK;
SELECT k, i FROM t WHERE i > 17;

-- rows without values, and whole rows
BEGIN;
INSERT INTO t (k) VALUES (200);
SELECT k FROM t WHERE i IS NULL AND k > 115;
SELECT k FROM t WHERE NOT (i IS NULL) AND k > 115;
SELECT t.k, t IS NOT NULL AS whole FROM t WHERE i = 3 AND k < 30;
ROLLBACK;
BEGIN;
SELECT k FROM t WHERE i = 3 ORDER BY k LIMIT 2 FOR UPDATE;
ROLLBACK;

-- changes without fetching rows
EXPLAIN (COSTS OFF) DELETE FROM t WHERE i = 3 AND s LIKE 'n%';
EXPLAIN (COSTS OFF) UPDATE t SET i = 5 WHERE i IN (3, 4) OR f8 = 0;
CREATE FUNCTION differences() RETURNS SETOF t LANGUAGE sql AS 'TABLE t EXCEPT ALL TABLE t_heap';
BEGIN;
DELETE FROM t WHERE i = 3 AND s LIKE 'n%';
DELETE FROM t_heap WHERE i = 3 AND s LIKE 'n%';
UPDATE t SET i = 5, s = NULL WHERE i IN (1, 4) OR other = 9;
UPDATE t_heap SET i = 5, s = NULL WHERE i IN (1, 4) OR other = 9;
UPDATE t SET b = true, i = NULL WHERE s IS NULL AND i IS NOT NULL;
UPDATE t_heap SET b = true, i = NULL WHERE s IS NULL AND i IS NOT NULL;
SELECT count(*) FROM differences();
SELECT (SELECT count(*) FROM t) - (SELECT count(*) FROM t_heap) AS more;
-- if no row is found, the SET expression is not evaluated
UPDATE t SET n2 = 1 / (extract(year FROM now())::int * 0) WHERE i = 1000;
ROLLBACK;
CREATE FOREIGN TABLE bare (k int OPTIONS (rowkey '1'), a int, b int) SERVER widecol OPTIONS (table 'filters_bare');
INSERT INTO bare VALUES (1, 1, NULL), (2, NULL, 1), (3, 1, 1), (4, NULL, NULL);
UPDATE bare SET a = NULL WHERE a = 1;
SELECT * FROM bare;
UPDATE bare SET b = 2 WHERE a IS NULL AND b IS NULL;
SELECT * FROM bare;
DELETE FROM bare WHERE b = 2;
SELECT * FROM bare;

-- conditions of policies and of leaky views come first
CREATE ROLE filters_reader;
GRANT USAGE ON SCHEMA filters TO filters_reader;
CREATE VIEW few WITH (security_barrier) AS SELECT k, i, s FROM t WHERE length(s) = 2;
GRANT SELECT ON few TO filters_reader;
SET ROLE filters_reader;
EXPLAIN (COSTS OFF) SELECT k FROM few WHERE i = 3 AND upper(s) = 'N3';
SELECT count(*) FROM few WHERE i = 3 AND upper(s) = 'N3';
RESET ROLE;

-- Bytes written by other programs: bytes that are no value are an error, also where the
-- column is only used in a condition; another spelling of a value counts as the value.
CREATE FOREIGN TABLE odd (k text OPTIONS (rowkey '1') COLLATE "C", i int, n numeric, n2 numeric(8, 2), d date, ts timestamp, it int OPTIONS (encoding 'text'),
  b bool, vc varchar(4), x text)
  SERVER widecol OPTIONS (table 'filters_odd');
INSERT INTO odd VALUES ('a', 1, 1.5, 1.5, '2024-01-05', '2024-01-05 10:00', 7, true, 'abc', 'x');
SELECT widecol.put('odd', 'b', 'cf:n', '01.500'), widecol.put('odd', 'b', 'cf:n2', '1.499'), widecol.put('odd', 'b', 'cf:d', '2024-1-5'),
  widecol.put('odd', 'b', 'cf:ts', 'Jan 5 2024 10:00'), widecol.put('odd', 'b', 'cf:it', ' +7'), widecol.put('odd', 'b', 'cf:b', '\x01'), widecol.put('odd', 'b', 'cf:vc', 'abc   ');
SELECT widecol.put('odd', 'c', 'cf:n', '15e-1'), widecol.put('odd', 'c', 'cf:d', '20240105'), widecol.put('odd', 'c', 'cf:ts', '2024-01-05 10:00:00.000');
SELECT k FROM odd WHERE n = 1.5;
SELECT k FROM odd WHERE n2 = 1.5;
SELECT k FROM odd WHERE d = '2024-01-05';
SELECT k FROM odd WHERE ts = '2024-01-05 10:00';
SELECT k FROM odd WHERE it = 7;
SELECT k FROM odd WHERE b;
SELECT k FROM odd WHERE vc IN ('abc', 'abc ');
SELECT k FROM odd WHERE n > 1.5 OR d < '2024-01-05' OR ts > '2024-01-05 10:00';
SELECT k, x FROM odd WHERE n = 1.5 AND d = '2024-01-05' ORDER BY k DESC LIMIT 2;
BEGIN;
UPDATE odd SET x = 'found' WHERE n = 1.5 AND ts = '2024-01-05 10:00';
DELETE FROM odd WHERE d = '2024-01-05' AND it = 7;
SELECT k, x FROM odd;
ROLLBACK;
SELECT widecol.put('odd', 'd', 'cf:i', '\x010203');
SELECT k FROM odd WHERE i = 1;
\set VERBOSITY sqlstate
SELECT k FROM odd WHERE i IS NULL AND x = 'y';
SET widecol.enable_pushdown = off;
SELECT k FROM odd WHERE i = 1;
RESET widecol.enable_pushdown;
\set VERBOSITY default
SELECT k FROM odd WHERE x = 'x';
SELECT k FROM odd WHERE i = 1 LIMIT 1;

-- old versions do not count
CREATE FOREIGN TABLE versioned (k int OPTIONS (rowkey '1'), v int, old widecol.version[] OPTIONS (qualifier 'v', versions '3'), at bigint OPTIONS (qualifier 'v', attribute 'timestamp'))
  SERVER widecol OPTIONS (table 'filters_versioned', families '{"cf": {"versions": 3}}');
INSERT INTO versioned (k, v) VALUES (1, 1), (2, 5);
UPDATE versioned SET v = 2 WHERE k = 1;
SELECT k, v, cardinality(old) FROM versioned WHERE v = 1;
SELECT k, v, cardinality(old) FROM versioned WHERE v = 2;
SELECT k, cardinality(old), at IS NULL AS never FROM versioned WHERE v < 3;

-- timestamps of cells as times, against times of any kind
ALTER FOREIGN TABLE versioned ADD COLUMN since timestamptz OPTIONS (qualifier 'v', attribute 'timestamp');
UPDATE versioned SET since = '2026-01-02 12:00:00+00', v = 4 WHERE k = 2;
SET timezone = 'Asia/Kathmandu';
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT k FROM versioned WHERE since < date '2026-01-03';
SELECT k FROM versioned WHERE since = timestamp '2026-01-02 17:45' AND since > date '-infinity' AND since < date '5000000-01-01';
SELECT k FROM versioned WHERE since < date '2026-01-02' OR since > timestamp 'infinity';
RESET timezone;

-- and as of a time they do
CREATE FOREIGN TABLE past (k int OPTIONS (rowkey '1'), v int) SERVER widecol
  OPTIONS (table 'filters_past', families '{"cf": {"versions": 5, "packing": "cell", "keep_deleted_cells": "true"}}');
INSERT INTO past SELECT g, g % 3 FROM generate_series(1, 9) g;
SELECT clock_timestamp() AS then \gset
UPDATE past SET v = 7 WHERE v = 1;
DELETE FROM past WHERE v = 2 AND k > 2;
SELECT k FROM past WHERE v IN (1, 2);
SELECT k FROM past WHERE v = 7;
SET widecol.read_timestamp = :'then';
SELECT k FROM past WHERE v IN (1, 2);
SELECT k FROM past WHERE v = 7;
RESET widecol.read_timestamp;

-- keys of which only a hash is stored
CREATE FOREIGN TABLE hashed (name text OPTIONS (rowkey '1', encoding 'md5', length '8', qualifier 'name') COLLATE "C", v int) SERVER widecol OPTIONS (table 'filters_hashed');
INSERT INTO hashed SELECT 'name' || g, g FROM generate_series(1, 30) g;
EXPLAIN (COSTS OFF) SELECT v FROM hashed WHERE name > 'name8';
SELECT v FROM hashed WHERE name > 'name8';
EXPLAIN (COSTS OFF) SELECT v FROM hashed WHERE name = 'name7';
SELECT v FROM hashed WHERE name = 'name7';

-- trees that are too large are looked at here
DO $$
DECLARE c text; n int; h int;
BEGIN
  SELECT string_agg(format('(i = %s AND i2 <> %s)', g % 20, g), ' OR ') INTO c FROM generate_series(1, 600) g;
  EXECUTE 'SELECT count(*) FROM t WHERE ' || c INTO n;
  EXECUTE 'SELECT count(*) FROM t_heap WHERE ' || c INTO h;
  RAISE WARNING 'wide: % rows, heap %', n, h;
  c = 'i = 1';
  FOR g IN 1 .. 50 LOOP
    c = format('(%s) %s i = %s', c, CASE g % 2 WHEN 0 THEN 'OR' ELSE 'AND' END, g % 5 - 1);
  END LOOP;
  EXECUTE 'SELECT count(*) FROM t WHERE ' || c INTO n;
  EXECUTE 'SELECT count(*) FROM t_heap WHERE ' || c INTO h;
  RAISE WARNING 'deep: % rows, heap %', n, h;
END $$;

DROP FOREIGN TABLE t, odd, versioned, hashed, bare, past CASCADE;
SELECT widecol.drop_table('filters_' || name) FROM unnest(ARRAY['t', 'odd', 'versioned', 'hashed', 'bare', 'past']) name;
DROP OWNED BY filters_reader;
DROP ROLE filters_reader;
DROP SCHEMA filters CASCADE;
