-- Conditions on parts of the row key that no range can say, or not exactly: decided in
-- the engine, with those on values; the rows are those of a heap copy and those found
-- without.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA key_filters;
SET search_path = key_filters, public;
SET max_parallel_workers_per_gather = 0;
SET datestyle = 'ISO';
SET timezone = 'UTC';

-- Shows which conditions the engine and the session evaluate, and the number of rows found.
CREATE FUNCTION filtered(tab text, condition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text; pushed text[]; local text[]; heaps text[]; query text = format('SELECT array_agg(t::text ORDER BY t::text) FROM %s t WHERE %s', tab, condition);
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT * FROM %s WHERE %s', tab, condition) LOOP
    IF line ~ '(Filter|Scan):' THEN RETURN NEXT regexp_replace(trim(line), '\(InitPlan (\d+)\)\.col1', '$0'); END IF;
  END LOOP;
  EXECUTE query INTO pushed;
  PERFORM set_config('widecol.enable_pushdown', 'off', true);
  EXECUTE query INTO local;
  PERFORM set_config('widecol.enable_pushdown', 'on', true);
  EXECUTE format('SELECT array_agg(t::text ORDER BY t::text) FROM %s_heap t WHERE %s', tab, condition) INTO heaps;
  RETURN NEXT coalesce(cardinality(pushed), 0) || ' rows' ||
    CASE WHEN pushed IS DISTINCT FROM local THEN ': OTHERS LOCALLY' WHEN pushed IS DISTINCT FROM heaps THEN ': NOT THOSE OF THE HEAP TABLE' ELSE '' END;
END $$;

CREATE FOREIGN TABLE t (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2', sort 'desc'), c int8 OPTIONS (rowkey '3'), v int, s text)
  SERVER widecol OPTIONS (table 'key_filters_t');
INSERT INTO t SELECT a, b, c, a * 100 + b * 10 + c, repeat('x', c) FROM generate_series(-2, 2) a, generate_series(0, 4) b, generate_series(0, 3) c;
CREATE TABLE t_heap AS SELECT * FROM t;
SELECT filtered('t', c) FROM unnest(ARRAY[
  'b = 3', 'c = 2', 'a = 1 AND c > 1', 'a > 0 AND b = 2', 'a = 1 AND b > 2 AND c <= 1', 'b IN (1, 3, 77)', 'b = ANY (ARRAY[1, NULL])', 'c NOT IN (0, 1)', 'b NOT IN (1, NULL)',
  'b BETWEEN 1 AND 2', 'b NOT BETWEEN 1 AND 2', 'b <> 3', 'a <> 1', 'NOT a = 1', 'b = 3::int8', 'b < 3000000000', 'b > 3000000000', 'c = 1::int2', '3 >= b',
  'b IS NULL', 'b IS NULL OR v = 111', 'c IS NOT NULL AND b = 1', 'NOT (b IS NOT NULL)', 'b IS DISTINCT FROM 2', 'b IS NOT DISTINCT FROM 2', 'b IS DISTINCT FROM NULL', '(b > 2) IS NOT TRUE', '(b > 2) IS UNKNOWN',
  'b = NULL', 'NOT (b = NULL)', 'a = 1 OR b = 1', 'a = 1 OR v = -3', '(a = 1 AND c = 2) OR (b = 1 AND v > 100)', 'NOT (b = 1 OR v > 100)', 'b = 1 AND v > 100', 'b = 1 AND length(s) = 2', 'b = 1 OR length(s) = 2',
  'b + 0 = 1', 'b = v / 10', 'b = (SELECT 2)', '(a, c) IN ((1, 2), (2, 1))', '(b, c) > (3, 1)', 'a IN (1, 2) AND c = ANY (ARRAY(SELECT 3))', 'b < random() - 1', 'a = 1 AND b = 2 AND c = 3 AND c <> 3']) c;

-- parts of other lengths and forms
CREATE FOREIGN TABLE u (h text OPTIONS (rowkey '1') COLLATE "C", l text OPTIONS (rowkey '2', length '6'), d date OPTIONS (rowkey '3', sort 'desc'), w varchar(5) OPTIONS (rowkey '4', sort 'desc') COLLATE "C",
    f bool OPTIONS (rowkey '5'), y bytea OPTIONS (rowkey '6'), v int)
  SERVER widecol OPTIONS (table 'key_filters_u');
INSERT INTO u SELECT h, repeat('l', i), CASE i WHEN 3 THEN 'infinity' ELSE date '2024-02-27' + i END, 'w' || h, i % 2 = 0, decode(repeat('00', i) || 'ff', 'hex'), i
  FROM unnest('{"",a,ab,é,h_}'::text[]) h, generate_series(0, 4) i;
CREATE TABLE u_heap AS SELECT * FROM u;
SELECT filtered('u', c) FROM unnest(ARRAY[
  $$l = 'll'$$, $$l > 'll'$$, $$l > 'll' COLLATE "C"$$, $$l LIKE 'll%'$$, $$l ^@ 'll'$$, $$starts_with(l, 'lll')$$, $$l LIKE 'l_'$$, $$l NOT LIKE 'll%'$$, $$l LIKE '%l'$$, $$l = 'more than six'$$, $$l < 'more than six' COLLATE "C"$$,
  $$w = 'wab'$$, $$w LIKE 'wa%'$$, $$w > 'wa'$$, $$w >= 'wé'$$, $$w IN ('wa', 'wh_', 'w')$$, $$w LIKE 'wh\_'$$, $$w = 'longer than five'$$, $$w ILIKE 'WA'$$, $$h LIKE 'a_' AND w = 'wab'$$,
  $$d = '2024-02-29'$$, $$d > '2024-02-28'$$, $$d < 'infinity'$$, $$d = 'infinity'$$, $$d > timestamp '2024-02-28 12:00'$$, $$d >= timestamptz '2024-02-28 12:00'$$, 'f', 'NOT f', 'f IS TRUE', 'f IS NOT FALSE', 'f = (v > 2)', 'f AND v > 2',
  $$y = '\x00ff'$$, $$y > '\x00'$$, $$y >= '\xff'$$, $$h = 'a' AND (f OR y < '\x01')$$]) c;

-- a delimiter, with which a range says too much
CREATE FOREIGN TABLE m (p text OPTIONS (rowkey '1') COLLATE "C", q int OPTIONS (rowkey '2'), r text OPTIONS (rowkey '3') COLLATE "C", v int) SERVER widecol OPTIONS (table 'key_filters_m', delimiter '$');
INSERT INTO m SELECT p, q, r, q FROM unnest('{"",a,a!,ab,b}'::text[]) p, generate_series(-1, 1) q, unnest('{"",$,x,$$x}'::text[]) r;
CREATE TABLE m_heap AS SELECT * FROM m;
SELECT filtered('m', c) FROM unnest(ARRAY[
  $$p > 'a'$$, $$p >= 'a!' AND p < 'b'$$, $$p <= 'a' AND r = 'x'$$, $$q = 1$$, $$p = 'a' AND r > '$'$$, $$p LIKE 'a%' AND q < 0$$, $$r LIKE '$%'$$, $$p > 'a' AND v = 1$$, $$p = 'a$'$$, $$p < 'a$b'$$]) c;

-- a salt
CREATE FOREIGN TABLE z (a int OPTIONS (rowkey '1'), b text OPTIONS (rowkey '2') COLLATE "C", at timestamptz OPTIONS (rowkey '3', sort 'desc'), v int)
  SERVER widecol OPTIONS (table 'key_filters_z', salt_buckets '5', salt_by 'b');
INSERT INTO z SELECT a, 'b' || b, timestamptz '2024-02-29 00:00+00' + b * interval '1 minute', b FROM generate_series(1, 6) a, generate_series(1, 12) b;
CREATE TABLE z_heap AS SELECT * FROM z;
SELECT filtered('z', c) FROM unnest(ARRAY[
  $$b = 'b3'$$, $$b IN ('b3', 'b4', 'x')$$, $$b > 'b3'$$, $$a = 3 AND at > '2024-02-29 00:05+00'$$, $$a > 4 AND b LIKE 'b1%' AND v <> 11$$, $$at = '2024-02-29 00:02+00'$$, $$a = 3 AND b = 'b7'$$]) c;
EXPLAIN (COSTS OFF) SELECT * FROM z WHERE b LIKE 'b1%' ORDER BY a, b LIMIT 3;
SELECT * FROM z WHERE b LIKE 'b1%' ORDER BY a, b LIMIT 3;
SELECT * FROM z WHERE b LIKE 'b1%' ORDER BY a DESC, b DESC LIMIT 3 OFFSET 1;

-- encodings: conditions that the engine or the session decides
CREATE FOREIGN TABLE e (k int OPTIONS (rowkey '1'), i2 int2 OPTIONS (rowkey '2', encoding 'binary'), i8 int8 OPTIONS (rowkey '3', encoding 'binary', sort 'desc'), f4 float4 OPTIONS (rowkey '4'),
    f8 float8 OPTIONS (rowkey '5', sort 'desc'), u uuid OPTIONS (rowkey '6'), ts timestamp OPTIONS (rowkey '7'), n numeric OPTIONS (rowkey '8'), tb timestamp OPTIONS (rowkey '9', encoding 'binary'), tz timestamptz OPTIONS (rowkey '10', encoding 'binary', sort 'desc'), np numeric(5, 2) OPTIONS (rowkey '11'),
    it int OPTIONS (rowkey '12', encoding 'text'), rd text OPTIONS (rowkey '13', encoding 'reversed_domain'), h text OPTIONS (rowkey '14', encoding 'md5', qualifier 'h') COLLATE "C", v int)
  SERVER widecol OPTIONS (table 'key_filters_e');
INSERT INTO e SELECT g, g, g * 5000000000, CASE g WHEN 3 THEN 'NaN' WHEN -3 THEN '-Infinity' ELSE g / 4.0 END, CASE g WHEN 3 THEN 'NaN' WHEN 0 THEN '-0' ELSE g / 4.0 END, md5(g::text)::uuid,
  CASE g WHEN 3 THEN 'infinity' ELSE timestamp '2024-02-29' + g * interval '1 day' END, CASE g WHEN 3 THEN 'NaN' WHEN 2 THEN 1e101 ELSE g * 1.50 END, timestamp '1970-01-01' + g * interval '1 day',
  timestamptz '1970-01-01 00:00+00' + g * interval '0.002 s', g * 1.25, g, 'w' || g || '.de', 'h' || g, g FROM generate_series(-3, 3) g;
CREATE TABLE e_heap AS SELECT * FROM e;
SELECT filtered('e', c) FROM unnest(ARRAY[
  'i2 < 0', 'i2 >= -1 AND i2 < 2', 'i2 > 40000', 'i2 <> -2', 'i8 < 0', 'i8 IN (0, 5000000000)', 'i8 >= -5000000000::int8', 'f4 < 0', 'f4 > 0.3', $$f4 = 'NaN'$$, $$f4 > '-Infinity' AND f4 < 'NaN'$$, 'f8 = 0', 'f8 <= -0.0::float8', 'f8 > 0.5::float4',
  $$u = 'cfcd2084-95d5-65ef-66e7-dff9f98764da'$$, $$u > 'c0000000-0000-0000-0000-000000000000'$$, $$ts > '2024-02-29'$$, $$ts < 'infinity'$$, $$ts <= date '2024-02-28'$$, 'n > 1', 'n = 1.5', 'n < -1.500', $$n = 'NaN'$$, 'n > 1e100', 'n IN (0.0, 1e101, 3)',
  $$tb < '1970-01-01'$$, $$tb = date '1970-01-02'$$, $$tb < 'infinity'$$, $$tz > '1970-01-01 00:00:00.0015+00'$$, $$tz <= '1969-12-31 23:59:59.998+00'$$, 'np = 2.5', 'it = 2', 'it < 2', $$rd = 'w1.de'$$, $$h > 'h1'$$,
  'i2 > 0 AND n > 1.5', 'i2 > 0 OR n < -1.5']) c;

-- rows that others tell to fail are not looked at; in all orders, buckets and families
CREATE FUNCTION examined(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ '(Engine Filter|Rows Examined):' THEN RETURN NEXT trim(line); END IF;
  END LOOP;
END $$;
CREATE FOREIGN TABLE g (a int OPTIONS (rowkey '1'), b text OPTIONS (rowkey '2', sort 'desc') COLLATE "C", c int OPTIONS (rowkey '3', sort 'desc'), v int, w int OPTIONS (family 'more'))
  SERVER widecol OPTIONS (table 'key_filters_g');
INSERT INTO g SELECT a, 'b' || b, c, CASE WHEN c % 2 = 0 THEN c END, CASE WHEN c % 2 = 1 THEN b END FROM generate_series(1, 5) a, generate_series(10, 49) b, generate_series(1, 30) c;
CREATE TABLE g_heap AS SELECT * FROM g;
CREATE FOREIGN TABLE gz (a int OPTIONS (rowkey '1'), b text OPTIONS (rowkey '2', sort 'desc') COLLATE "C", c int OPTIONS (rowkey '3', sort 'desc'), v int, w int OPTIONS (family 'more'))
  SERVER widecol OPTIONS (table 'key_filters_gz', salt_buckets '3', salt_by 'c');
INSERT INTO gz SELECT * FROM g_heap;
CREATE TABLE gz_heap AS SELECT * FROM g_heap;
SELECT examined('SELECT * FROM g WHERE ' || c) FROM unnest(ARRAY[
  $$b = 'b33'$$, $$b LIKE 'b3%'$$, $$b IN ('b11', 'b33', 'b48', 'x')$$, $$b > 'b47'$$, $$b < 'b12' AND c = 7$$, 'c = 30', 'c < 3', $$a > 2 AND b = 'b20'$$, $$b = 'b20' OR c = 7$$, $$b <> 'b20'$$, $$b = 'no'$$,
  $$b = 'b20' OR b = 'b40'$$, $$(b, c) IN (('b20', 5), ('b40', 6))$$, $$(b, c) < ('b11', 5)$$, $$a > 2 AND (b, c, v) > ('b48', 29, 0)$$, $$b BETWEEN SYMMETRIC 'b12' AND 'b11'$$,
  $$b IS NOT DISTINCT FROM 'b20'$$, $$b ~ '^b2[01]'$$, $$left(b, 2) = 'b4' AND c = 7$$, $$b = 'b20' OR (b = 'b40' AND v = 4)$$, $$(b = 'b20' AND c > 28) OR (b LIKE 'b1%' AND c > 29)$$]) c;
SELECT t, filtered(t, c) FROM unnest('{g,gz}'::text[]) t, unnest(ARRAY[
  $$b = 'b33' AND v > 20$$, $$b LIKE 'b3%' AND w IS NULL$$, $$b IN ('b11', 'b33', 'b48', 'x')$$, $$b > 'b47'$$, $$b < 'b12' AND c = 7$$, 'c IN (1, 30)', $$a > 2 AND b = 'b20'$$,
  $$(b, c) IN (('b20', 5), ('b40', 6))$$, $$(b, c) < ('b11', 5)$$, $$(b, w, c) >= ('b48', 48, 5)$$, $$NOT (b, v) > ('b20', 10)$$, $$b = 'b20' OR (b = 'b40' AND v = 4)$$, $$(b = 'b20' AND c > 28) OR (b LIKE 'b1%' AND w IS NULL)$$]) c;
SELECT examined($$SELECT * FROM gz WHERE b = 'b33' ORDER BY a DESC, b, c LIMIT 70$$);
SELECT count(*), count(DISTINCT (a, b, c)), min(a), sum(c) FROM (SELECT * FROM gz WHERE b = 'b33' ORDER BY a DESC, b, c LIMIT 70) q;
SELECT a, b, c, v, w FROM g WHERE b IN ('b12', 'b40') AND c BETWEEN 14 AND 15 ORDER BY a DESC, b, c LIMIT 6;
BEGIN;
INSERT INTO g VALUES (3, 'b33x', 7, 1, 1), (6, 'b00', 7, 1, 1);
DELETE FROM g WHERE b = 'b33' AND c <> 7;
SELECT a, b, c, v, w FROM g WHERE b LIKE 'b33%' ORDER BY a, b DESC;
SELECT a, b, c FROM g WHERE c = 7 AND b < 'b11' ORDER BY a DESC, b;
ROLLBACK;

-- only columns of the query are sent; a limit counts rows that pass
EXPLAIN (VERBOSE, COSTS OFF) SELECT s FROM t WHERE b = 3 AND v > 100 ORDER BY a LIMIT 2;
SELECT s FROM t WHERE b = 3 AND v > 100 ORDER BY a LIMIT 2;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM t WHERE c = 3 AND a < 0;
SELECT a, b, c FROM t WHERE c = 3 ORDER BY a DESC, b LIMIT 3 OFFSET 2;
PREPARE by_part(int, int8[]) AS SELECT a, v FROM t WHERE b = $1 AND c = ANY ($2) AND a > 0;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_part(1, '{2,3}');
EXECUTE by_part(1, '{2,3}');
EXECUTE by_part(NULL, '{2,3}');
EXECUTE by_part(1, '{}');
EXECUTE by_part(1, NULL);
RESET plan_cache_mode;

-- loops, cursors, own writes
SELECT g, (SELECT sum(v) FROM t WHERE a = g AND c = g + 1) FROM generate_series(-1, 2) g;
SELECT g, l.v FROM generate_series(1, 2) g, LATERAL (SELECT v FROM t WHERE c = g AND a > 0 ORDER BY a, b LIMIT 2) l;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT v FROM t WHERE c = 1 AND b < 2 ORDER BY a, b DESC;
FETCH 3 FROM c;
INSERT INTO t VALUES (0, 1, 1, 1000);
FETCH BACKWARD 2 FROM c;
FETCH 3 FROM c;
SELECT v FROM t WHERE c = 1 AND b = 1;
SAVEPOINT s;
DELETE FROM t WHERE c = 1 AND v > 0;
SELECT v FROM t WHERE c = 1 AND b = 1;
ROLLBACK TO s;
SELECT count(*) FROM t WHERE c = 1 AND b = 1;
ROLLBACK;

-- changes without fetching rows
EXPLAIN (COSTS OFF) DELETE FROM t WHERE c = 2;
EXPLAIN (COSTS OFF) UPDATE t SET v = 0 WHERE b IN (1, 2) AND c <> 1 OR v = 3;
EXPLAIN (COSTS OFF) DELETE FROM e WHERE n > 1;
CREATE FUNCTION differences() RETURNS SETOF t LANGUAGE sql AS '(TABLE t EXCEPT ALL TABLE t_heap) UNION ALL (TABLE t_heap EXCEPT ALL TABLE t)';
BEGIN;
UPDATE t SET v = 0 WHERE b IN (1, 2) AND c <> 1 OR v = 3;
UPDATE t_heap SET v = 0 WHERE b IN (1, 2) AND c <> 1 OR v = 3;
UPDATE t SET v = NULL, s = NULL WHERE c = 3;
UPDATE t_heap SET v = NULL, s = NULL WHERE c = 3;
UPDATE t SET s = 'bare' WHERE v IS NULL AND b = 4;
UPDATE t_heap SET s = 'bare' WHERE v IS NULL AND b = 4;
DELETE FROM t WHERE c = 2 AND (a = 1 OR v > 0);
DELETE FROM t_heap WHERE c = 2 AND (a = 1 OR v > 0);
SELECT * FROM differences();
SELECT count(*) FROM t;
UPDATE e SET v = 100 WHERE i2 > 1;
SELECT k, v FROM e WHERE v = 100 ORDER BY k;
ROLLBACK;

CREATE FOREIGN TABLE nk (n numeric OPTIONS (rowkey '1'), at timestamp OPTIONS (rowkey '2', encoding 'binary'), v int) SERVER widecol OPTIONS (table 'key_filters_nk');
CREATE TABLE nk_heap (LIKE nk);
CREATE FUNCTION same_changes(VARIADIC changes text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE change text; n int; stored bigint; heap bigint; counts text = '';
BEGIN
  TRUNCATE nk, nk_heap;
  INSERT INTO nk_heap SELECT g / 2.0, timestamp '1969-12-31 12:00' + g * interval '1 hour', g FROM generate_series(-20, 40) g;
  INSERT INTO nk SELECT * FROM nk_heap;
  FOREACH change IN ARRAY changes LOOP
    EXECUTE format(change, 'nk');
    GET DIAGNOSTICS stored = ROW_COUNT;
    EXECUTE format(change, 'nk_heap');
    GET DIAGNOSTICS heap = ROW_COUNT;
    counts = counts || stored || CASE WHEN stored <> heap THEN ' and not ' || heap ELSE '' END || ' ';
  END LOOP;
  SELECT count(*) INTO n FROM ((TABLE nk EXCEPT ALL TABLE nk_heap) UNION ALL (TABLE nk_heap EXCEPT ALL TABLE nk)) d;
  RETURN counts || CASE n WHEN 0 THEN 'changed alike' ELSE n || ' DIFFERENT' END;
END $$;
SELECT same_changes('DELETE FROM %s WHERE at < ''1970-01-01'' AND v > -10', 'UPDATE %s SET v = 0 WHERE n > 1 AND at <> ''1970-01-01 12:00''', 'UPDATE %s SET v = NULL WHERE n IN (7.0, 7.50)', 'DELETE FROM %s WHERE n <= 8 AND at > ''1970-01-01''');
SELECT same_changes('INSERT INTO %s VALUES (1e101, ''1970-01-01'', 7), (''NaN'', ''1970-01-01'', 8)', 'UPDATE %s SET v = 9 WHERE at = ''1970-01-01''', 'DELETE FROM %s WHERE n > 19.5 AND at < ''1970-01-02''');

-- conditions of policies and of leaky views come first
CREATE ROLE key_filters_reader;
GRANT USAGE ON SCHEMA key_filters TO key_filters_reader;
CREATE VIEW few WITH (security_barrier) AS SELECT a, b, s FROM t WHERE length(s) = 2;
GRANT SELECT ON few TO key_filters_reader;
SET ROLE key_filters_reader;
EXPLAIN (COSTS OFF) SELECT a FROM few WHERE b = 3 AND upper(s) = 'XX';
SELECT count(*) FROM few WHERE b = 3 AND upper(s) = 'XX';
RESET ROLE;

-- Keys written by other programs: bytes that are no key are an error wherever they are read
CREATE FOREIGN TABLE odd (a int OPTIONS (rowkey '1'), d date OPTIONS (rowkey '2'), s text OPTIONS (rowkey '3') COLLATE "C", v int) SERVER widecol OPTIONS (table 'key_filters_odd');
INSERT INTO odd VALUES (1, '2024-02-29', 'x', 1), (3, '2024-02-29', 'x', 3);
-- not in UTF-8
SELECT widecol.put('odd', '\x80000002800022726161ff', 'cf:v', '\x00000002');
SELECT v FROM odd WHERE d = '2024-02-29';
SELECT a, v FROM odd WHERE d < '2024-02-29';
\set VERBOSITY sqlstate
SELECT v FROM odd WHERE s = 'x';
SELECT v FROM odd WHERE a = 2 AND s = 'x';
SELECT v FROM odd WHERE a <> 2 AND (s = 'x' OR v = 7);
DELETE FROM odd WHERE s = 'x';
SET widecol.enable_pushdown = off;
SELECT v FROM odd WHERE s = 'x';
RESET widecol.enable_pushdown;
SELECT v FROM odd WHERE a <> 2 AND d = '2024-02-29';
-- a date that there is not
DELETE FROM odd WHERE a = 2;
SELECT widecol.deleteall('odd', '\x80000002800022726161ff'), widecol.put('odd', '\x8000000200000001616161', 'cf:v', '\x00000002');
SELECT v FROM odd WHERE d = '2024-02-29';
SELECT v FROM odd WHERE s = 'x';
SELECT v FROM odd WHERE v = 2;
UPDATE odd SET v = 5 WHERE d = '2024-02-29';
UPDATE odd SET v = 5 WHERE s = 'x';
-- too short for three parts
SELECT widecol.deleteall('odd', '\x8000000200000001616161'), widecol.put('odd', '\x8000000280', 'cf:v', '\x00000002');
SELECT v FROM odd WHERE d = '2024-02-29';
SELECT v FROM odd WHERE v = 2;
\set VERBOSITY default
SELECT v FROM odd WHERE s = 'x' AND a > 2;

DROP OWNED BY key_filters_reader;
DROP ROLE key_filters_reader;
DROP SCHEMA key_filters CASCADE;
SELECT widecol.drop_table('key_filters_' || name) FROM unnest(ARRAY['t', 'u', 'm', 'z', 'e', 'g', 'gz', 'nk', 'odd']) name;
