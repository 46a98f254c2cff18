-- Aggregates in the engine: what the plan says is done where, and the results are those of
-- a heap copy and those without.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA aggregates;
SET search_path = aggregates, public;
SET max_parallel_workers_per_gather = 0;
SET datestyle = 'ISO';
SET timezone = 'UTC';
-- rows are dear: few are enough for the engine to count them
SET cpu_tuple_cost = 0.1;

CREATE FOREIGN TABLE t (
  a  int OPTIONS (rowkey '1'), b text OPTIONS (rowkey '2') COLLATE "C", c int8 OPTIONS (rowkey '3', sort 'desc'),
  i  int, i2 int2, i8 int8, io int8 OPTIONS (encoding 'ordered'), it int OPTIONS (encoding 'text'),
  f8 float8, bo bool, s text, sc text COLLATE "C", vc varchar(10) COLLATE "C", ch char(8) COLLATE "C",
  n  numeric, d date, ts timestamp OPTIONS (encoding 'binary'), u uuid, j jsonb OPTIONS (qualifier 'j'), other int OPTIONS (family 'more')
) SERVER widecol OPTIONS (table 'aggregates_t');
INSERT INTO t
  SELECT g % 5 - 2, 'b' || g % 3, g,
         v, v, v::int8 * 460000000000000000, v::int8 * 460000000000000000, v * 49999999,
         CASE g % 9 WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN '-0' ELSE v / 4.0 END,
         v % 2 = 0, 'n' || v, 'n' || v, 'n' || v, 'n' || v,
         v * 0.50, date '2024-02-25' + v, timestamp '2024-02-25 00:00:00' + v * interval '1 hour 0.25 s',
         md5(v::text)::uuid, jsonb_build_object('v', v), CASE WHEN v % 3 = 0 THEN v END
  FROM (SELECT g, CASE WHEN g % 7 <> 0 THEN g % 40 - 20 END AS v FROM generate_series(1, 1200) g) x;
CREATE TABLE t_heap AS SELECT * FROM t;
ANALYZE t, t_heap;

\getenv srcdir PG_ABS_SRCDIR
\set file :srcdir '/sql/include/aggregated.sql'
\i :file

-- counts
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*), count(i), count(*) + 1 FROM t WHERE a > 0 AND i < 5 HAVING count(*) > 0;
SELECT aggregated('t', 'SELECT count(*) FROM _');
SELECT aggregated('t', 'SELECT count(*), count(1), count(i), count(a), count(c), count(j), count(other), count(s) FROM _');
SELECT aggregated('t', 'SELECT count(*) FROM _ WHERE a = 1 AND i > 3');
SELECT aggregated('t', 'SELECT count(other) FROM _ WHERE sc LIKE ''n1%'' OR i IS NULL');
SELECT aggregated('t', 'SELECT count(*), count(i) FROM _ WHERE i > 1000');
SELECT aggregated('t', 'SELECT count(*) FROM _ WHERE false');

-- the least and the greatest
SELECT aggregated('t', 'SELECT min(i), max(i), min(i2), max(i2), min(i8), max(i8), min(io), max(io), min(it), max(it) FROM _');
SELECT aggregated('t', 'SELECT min(f8), max(f8), bool_and(bo), bool_or(bo), every(bo) FROM _');
SELECT aggregated('t', 'SELECT min(sc), max(sc), min(vc), max(vc), min(s COLLATE "C"), max(n), min(n), min(d), max(d), min(ts), max(ts) FROM _');
SELECT aggregated('t', 'SELECT min(a), max(a), min(b), max(b), min(c), max(c), count(*) FROM _');
SELECT aggregated('t', 'SELECT min(other), max(other), min(d) FROM _ WHERE i > 1000');
SELECT aggregated('t', 'SELECT max(f8) FROM _ WHERE f8 <= 0');

-- sums and averages
SELECT aggregated('t', 'SELECT sum(i), sum(i2), sum(i8), sum(io), sum(it), sum(a), sum(c) FROM _');
SELECT aggregated('t', 'SELECT avg(i), avg(i2), avg(i8), avg(io), avg(it), avg(a), avg(c) FROM _');
SELECT aggregated('t', 'SELECT sum(i8), avg(i8), sum(io), avg(io), sum(i), avg(it) FROM _ WHERE i IS NULL');
SELECT aggregated('t', 'SELECT sum(i8), avg(i8), sum(i) FROM _ WHERE i > 1000');
SELECT aggregated('t', 'SELECT sum(i8), sum(io), avg(i8) FROM _ WHERE i = 0');
SELECT aggregated('t', 'SELECT sum(i8), sum(io), avg(i8) FROM _ WHERE i IN (7, -13, 12)');
SELECT pg_typeof(sum(i)) AS sum4, pg_typeof(sum(i8)) AS sum8, pg_typeof(avg(i)) AS avg4, pg_typeof(avg(i8)) AS avg8, pg_typeof(count(*)) AS count FROM t;

-- groups
EXPLAIN (VERBOSE, COSTS OFF) SELECT a, b, count(*), sum(i) FROM t WHERE c > 100 GROUP BY a, b HAVING sum(i) > 0 ORDER BY a, b;
SELECT aggregated('t', 'SELECT a, count(*), sum(i) FROM _ GROUP BY a');
SELECT aggregated('t', 'SELECT a, count(*), sum(i) FROM _ GROUP BY a ORDER BY a');
SELECT aggregated('t', 'SELECT a, count(*), sum(i) FROM _ GROUP BY a ORDER BY a DESC LIMIT 2');
SELECT aggregated('t', 'SELECT a, b, avg(i8), max(sc) FROM _ GROUP BY a, b ORDER BY a, b');
SELECT aggregated('t', 'SELECT b, min(i), max(n) FROM _ GROUP BY b');
SELECT aggregated('t', 'SELECT i % 2, count(*) FROM _ GROUP BY i % 2');
SELECT aggregated('t', 'SELECT i, count(*) FROM _ GROUP BY i');
SELECT aggregated('t', 'SELECT s, j, other, count(d), sum(i8) FROM _ GROUP BY s, j, other');
SELECT aggregated('t', 'SELECT f8, n, ch, count(*) FROM _ GROUP BY f8, n, ch');
SELECT aggregated('t', 'SELECT c, count(*) FROM _ GROUP BY c');
SELECT aggregated('t', 'SELECT bo, d FROM _ GROUP BY bo, d');
SELECT aggregated('t', 'SELECT a, count(*) FROM _ WHERE i > 1000 GROUP BY a');
SELECT aggregated('t', 'SELECT a, count(*) FROM _ GROUP BY a HAVING count(*) > 1000');
-- groups of one value, which PostgreSQL 16 and later leave out of the plan's key; of no rows there is no group
SELECT line FROM aggregated('t', 'SELECT a, count(*), sum(i) FROM _ WHERE a = 1 GROUP BY a') line WHERE line ~ '^(Engine|[0-9]+ row)';
SELECT line FROM aggregated('t', 'SELECT b, s, a, count(*) FROM _ WHERE s = ''n3'' AND a = 1 GROUP BY a, s, b') line WHERE line ~ '^(Engine|[0-9]+ row)';
SELECT line FROM aggregated('t', 'SELECT i, i8, count(*) FROM _ WHERE i = i8 GROUP BY i, i8') line WHERE line ~ '^(Engine|[0-9]+ row)';
SELECT line FROM aggregated('t', 'SELECT n, count(*) FROM _ WHERE n = 1.5 GROUP BY n') line WHERE line ~ '^(Engine|[0-9]+ row)';
SELECT line FROM aggregated('t', 'SELECT a, count(*) FROM _ WHERE a = 1 AND i > 1000 GROUP BY a') line WHERE line ~ '^(Engine|[0-9]+ row)';
SELECT count(*) FROM t WHERE i > 1000 GROUP BY 'a'::text;
SELECT 'a'::text, count(*), max(i) FROM t GROUP BY 1;
SELECT aggregated('t', 'SELECT DISTINCT b FROM _');
SELECT a, sum(i), avg(i8) FROM t GROUP BY a ORDER BY a;

-- more groups than the engine has at once
CREATE FOREIGN TABLE wide (k int OPTIONS (rowkey '1'), v text COLLATE "C", w int) SERVER widecol OPTIONS (table 'aggregates_wide');
INSERT INTO wide SELECT g, repeat('x', 1000) || g % 1200, g FROM generate_series(1, 5000) g;
CREATE TABLE wide_heap AS SELECT * FROM wide;
ANALYZE wide, wide_heap;
SELECT aggregated('wide', 'SELECT v, count(*), sum(w), max(w) FROM _ GROUP BY v HAVING count(*) > 4 AND max(w) % 100 = 0');
SELECT aggregated('wide', 'SELECT count(*), sum(n), max(length(v)) FROM (SELECT v, count(*) AS n FROM _ GROUP BY v) x');

-- groups that cannot be sorted
SELECT aggregated('t', 'SELECT (a % 2)::text::xid, count(*), sum(i8) FROM _ GROUP BY (a % 2)::text::xid');
SELECT aggregated('t', 'SELECT (a % 2)::text::xid, b, count(*), sum(i8) FROM _ GROUP BY (a % 2)::text::xid, b');

-- DISTINCT, FILTER, and aggregates that PostgreSQL computes
SELECT aggregated('t', 'SELECT count(DISTINCT i) FROM _');
SELECT aggregated('t', 'SELECT count(*) FILTER (WHERE i > 3) FROM _');
SELECT aggregated('t', 'SELECT array_agg(i ORDER BY a, b, c) FROM _ WHERE c < 10');
SELECT aggregated('t', 'SELECT count(*) FROM _ WHERE length(s) > 2');
SELECT aggregated('t', 'SELECT sum(f8), avg(f8) FROM _ WHERE i > 10 AND f8 < 100');
SELECT aggregated('t', 'SELECT sum(n) FROM _');
-- sums of floats are not put together of smaller groups
SELECT aggregated('t', 'SELECT sum(f8), count(*) FILTER (WHERE i > 3) FROM _ WHERE f8 < 100');
SELECT aggregated('t', 'SELECT a + 1, sum(f8) FROM _ WHERE f8 < 100 GROUP BY a + 1');
SELECT aggregated('t', 'SELECT a, sum(f8), count(*) FILTER (WHERE a > 0) FROM _ WHERE f8 < 100 GROUP BY a');
SELECT aggregated('t', 'SELECT max(ch), min(ch) FROM _');
SELECT aggregated('t', 'SELECT sum(i + 1) FROM _');
SELECT aggregated('t', 'SELECT a, b, count(*) FROM _ GROUP BY GROUPING SETS ((a), (b), ())');
SELECT aggregated('t', 'SELECT count(*) FROM _ x JOIN t_heap y USING (a, b, c) WHERE x.i = y.i');
SELECT aggregated('t', 'SELECT count(*) FROM _ WHERE a = 1 AND b = ''b1'' AND c = 4');
SELECT aggregated('t', 'SELECT count(*) FROM (SELECT FROM _ LIMIT 10) x');
SELECT aggregated('t', 'SELECT a, count(*), generate_series(1, 2) FROM _ GROUP BY a');

-- in subqueries, with parameters, with windows above
SELECT aggregated('t', 'SELECT x.a, (SELECT count(*) FROM _ y WHERE y.a = x.a AND y.i > 5) FROM (VALUES (-2), (0), (7), (NULL)) x (a)');
SELECT aggregated('t', 'SELECT a, count(*), sum(sum(i)) OVER (ORDER BY a) FROM _ GROUP BY a');
SELECT aggregated('t', 'WITH w AS (SELECT a, sum(i) AS s FROM _ GROUP BY a) SELECT sum(s), count(*) FROM w');
-- very few
SET cpu_tuple_cost = 100;
PREPARE p (int, text) AS SELECT a, count(*), max(i) FROM t WHERE a >= $1 AND sc LIKE $2 GROUP BY a ORDER BY a;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE p (0, 'n1%');
EXECUTE p (0, 'n1%');
EXECUTE p (1, 'n%1');
EXECUTE p (NULL, 'n%1');
PREPARE q (text) AS SELECT count(*), sum(i), max(sc) FROM t WHERE sc LIKE $1;
EXPLAIN (COSTS OFF) EXECUTE q ('n1%');
EXECUTE q ('n1%');
EXECUTE q ('n%1');
EXECUTE q ('%1');
EXECUTE q (NULL);
SELECT count(*), sum(i), max(sc) FROM t_heap WHERE sc LIKE '%1';
RESET plan_cache_mode;
DEALLOCATE p;
DEALLOCATE q;
SELECT aggregated('t', 'SELECT a, b, count(*), min(i), sum(i8) FROM _ WHERE i > 15 AND f8 < 3 GROUP BY a, b ORDER BY a DESC, b DESC');
SELECT aggregated('t', 'SELECT count(*), sum(i) FROM _ WHERE a IN (-2, 0, 2, NULL) AND b > ''b0'' AND c BETWEEN 100 AND 900');
SELECT aggregated('t', 'SELECT x.a, (SELECT sum(i8) FROM _ y WHERE y.a = x.a AND y.i > x.i) FROM (VALUES (-2, 1), (0, NULL), (7, 1), (NULL, 2), (1, 3)) x (a, i)');

-- forms that only decoding understands are counted beside the groups; what does not decode is an error
CREATE FOREIGN TABLE odd (k text OPTIONS (rowkey '1') COLLATE "C", o int OPTIONS (rowkey '2'), g text, it int OPTIONS (encoding 'text'), n numeric, d date, i int)
  SERVER widecol OPTIONS (table 'aggregates_odd');
CREATE FOREIGN TABLE odd_text (k text OPTIONS (rowkey '1') COLLATE "C", o int OPTIONS (rowkey '2'), g bytea, it text, n text, d text, i bytea)
  SERVER widecol OPTIONS (table 'aggregates_odd');
INSERT INTO odd SELECT k, o, o % 2, o, o * 0.5, date '2024-01-05' + o, o FROM unnest('{a,b,c,d}'::text[]) k, generate_series(1, 20) o;
UPDATE odd_text SET it = ' +7', n = '25e-1', d = 'Jan 6 2024' WHERE k = 'b' AND o IN (1, 10, 20);
UPDATE odd_text SET n = 'Infinity', g = NULL WHERE k = 'd' AND o = 1;
CREATE TABLE odd_heap AS SELECT * FROM odd;
ANALYZE odd, odd_heap;
SELECT aggregated('odd', 'SELECT count(*), count(it), sum(it), avg(it), min(it), max(it), min(n), max(n), min(d), max(d) FROM _');
SELECT aggregated('odd', 'SELECT g, count(*), sum(it), max(n) FROM _ GROUP BY g');
SELECT aggregated('odd', 'SELECT k, count(*), sum(it), avg(it), max(n), min(d) FROM _ GROUP BY k ORDER BY k');
SELECT aggregated('odd', 'SELECT k, count(*), sum(i), max(o) FROM _ WHERE n < 3 GROUP BY k ORDER BY k DESC');
SELECT aggregated('odd', 'SELECT sum(i), max(d) FROM _ WHERE it > 5 AND n < 100');
SELECT aggregated('odd', 'SELECT count(*) FROM _ WHERE n > 100');
UPDATE odd_text SET i = '\x010203' WHERE k = 'c' AND o = 3;
SELECT count(*), sum(it) FROM odd;
SELECT sum(i) FROM odd;
SELECT count(*), sum(i) FROM odd WHERE k < 'c';
SELECT i, count(*) FROM odd GROUP BY i;
SET widecol.on_undecodable = 'null';
SELECT count(*), count(i), sum(i) FROM odd;
RESET widecol.on_undecodable;
DELETE FROM odd WHERE k = 'c';
UPDATE odd_text SET g = '\xff' WHERE k = 'd' AND o = 4;
SELECT sum(i) FROM odd;
SELECT g, sum(i) FROM odd GROUP BY g;
SET cpu_tuple_cost = 0.1;

-- own writes, of this command's snapshot; deleted, empty and expired
CREATE FOREIGN TABLE own (k int OPTIONS (rowkey '1'), v int, w int) SERVER widecol OPTIONS (table 'aggregates_own');
CREATE TABLE own_heap (k int, v int, w int);
SELECT aggregated('own', 'SELECT count(*), sum(v), min(v), avg(w) FROM _');
SELECT aggregated('own', 'SELECT k, count(*) FROM _ GROUP BY k');
BEGIN;
INSERT INTO own SELECT g, g, NULL FROM generate_series(1, 2000) g;
INSERT INTO own_heap SELECT g, g, NULL FROM generate_series(1, 2000) g;
UPDATE own SET v = -v, w = 3 WHERE k % 3 = 0;
UPDATE own_heap SET v = -v, w = 3 WHERE k % 3 = 0;
SAVEPOINT s;
DELETE FROM own WHERE k BETWEEN 100 AND 1500;
DELETE FROM own_heap WHERE k BETWEEN 100 AND 1500;
SELECT aggregated('own', 'SELECT count(*), sum(v), min(v), avg(w), count(w) FROM _');
SELECT aggregated('own', 'SELECT w, count(*), sum(v) FROM _ GROUP BY w');
DECLARE cur CURSOR FOR SELECT w, count(*) FROM own GROUP BY w ORDER BY w;
DELETE FROM own;
FETCH ALL FROM cur;
SELECT count(*) FROM own;
ROLLBACK TO s;
SELECT count(*), sum(v) FROM own;
ROLLBACK;
INSERT INTO own SELECT g, g, NULL FROM generate_series(1, 300) g;
SELECT widecol.flush('aggregates_own');
DELETE FROM own WHERE k > 200;
UPDATE own SET v = NULL WHERE k > 100;
SELECT count(*) AS put FROM (SELECT widecol.put('aggregates_own', ('\x8' || lpad(to_hex(g), 7, '0'))::bytea, 'cf:v', '\x00000001', 1, '1 second') FROM generate_series(1, 5) g) x;
INSERT INTO own_heap SELECT k, v, w FROM own;
SELECT aggregated('own', 'SELECT count(*), count(v), sum(v), min(v), avg(w) FROM _');

-- row security: what a policy hides is not counted, and what cannot be read of it is no error
CREATE TABLE docs (k int NOT NULL, owner text COLLATE "C", n int, m int) PARTITION BY RANGE (k);
CREATE FOREIGN TABLE docs_1 (k int OPTIONS (rowkey '1') NOT NULL, owner text COLLATE "C", n int, m int) SERVER widecol OPTIONS (table 'aggregates_docs');
ALTER TABLE docs ATTACH PARTITION docs_1 FOR VALUES FROM (0) TO (100000);
INSERT INTO docs SELECT g, CASE WHEN g % 3 = 0 THEN 'aggregates_ann' ELSE 'bob' END, g, g FROM generate_series(1, 1500) g;
ANALYZE docs;
SELECT widecol.put('docs_1', '\x80000001', 'cf:n', 'abc');
CREATE ROLE aggregates_ann;
GRANT USAGE ON SCHEMA aggregates TO aggregates_ann;
GRANT SELECT (k, owner, n) ON docs TO aggregates_ann;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON docs USING (owner = current_user);
CREATE FUNCTION leak(int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE WARNING 'leaked %', $1; RETURN true; END $$;
SET enable_partitionwise_aggregate = on;
SET ROLE aggregates_ann;
EXPLAIN (COSTS OFF) SELECT count(*), sum(n) FROM docs;
SELECT count(*), sum(n), min(k) FROM docs;
SELECT owner, count(*) FROM docs GROUP BY owner;
EXPLAIN (COSTS OFF) SELECT count(*) FROM docs WHERE leak(n) AND k > 1495;
SELECT count(*) FROM docs WHERE leak(n) AND k > 1495;
SELECT sum(m) FROM docs;
SELECT count(*) FROM docs_1;
RESET ROLE;
SELECT count(*) FROM docs;
SELECT sum(n) FROM docs;
CREATE VIEW mine WITH (security_barrier) AS SELECT * FROM docs_1 WHERE owner = 'aggregates_ann';
GRANT SELECT ON mine TO aggregates_ann;
SET ROLE aggregates_ann;
EXPLAIN (COSTS OFF) SELECT count(*), sum(n) FROM mine;
SELECT count(*), sum(n) FROM mine;
RESET ROLE;
RESET enable_partitionwise_aggregate;

-- partitions combine what each has counted
CREATE TABLE p (a int, b int, v int8) PARTITION BY RANGE (a);
CREATE FOREIGN TABLE p1 (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), v int8) SERVER widecol OPTIONS (table 'aggregates_p1');
CREATE FOREIGN TABLE p2 (v int8, b int OPTIONS (rowkey '2'), a int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (table 'aggregates_p2');
ALTER TABLE p ATTACH PARTITION p1 FOR VALUES FROM (0) TO (10);
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (10) TO (20);
CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (20) TO (30);
INSERT INTO p SELECT g % 30, g, g * 3000000000000000 FROM generate_series(0, 2999) g;
ANALYZE p;
CREATE TABLE p_heap AS SELECT * FROM p;
SET enable_partitionwise_aggregate = on;
EXPLAIN (COSTS OFF) SELECT count(*), sum(v), avg(b), max(v) FROM p;
SELECT aggregated('p', 'SELECT count(*), sum(v), avg(b), max(v), avg(v) FROM _');
SELECT aggregated('p', 'SELECT a, count(*), sum(v) FROM _ GROUP BY a');
SELECT aggregated('p', 'SELECT b % 2, count(*), sum(v) FROM _ GROUP BY b % 2');
SELECT aggregated('p', 'SELECT count(*), sum(v), avg(b), max(v) FROM _ WHERE a BETWEEN 5 AND 12 AND v > 0');
RESET enable_partitionwise_aggregate;

-- more rows than a session's thread reads alone: other threads may help, and the result is the same
CREATE FOREIGN TABLE long (k int OPTIONS (rowkey '1'), g int, v int8, w text, d jsonb OPTIONS (family 'd')) SERVER widecol;
INSERT INTO long SELECT n, n % 8, n * 7919 % 100003, md5(n::text), jsonb_build_object('m', (n % 1000)::text, 'o', md5(n::text))
  FROM generate_series(1, 20000) n;
DELETE FROM long WHERE k % 1000 = 7;
CREATE TABLE long_heap AS SELECT * FROM long;
ANALYZE long;
SELECT aggregated('long', 'SELECT count(*), sum(k), sum(v), min(v), max(v), avg(v), min(k), max(w COLLATE "C") FROM _');
SELECT aggregated('long', 'SELECT count(*), sum(k) FROM _ WHERE d ->> ''m'' = ''17''');
SELECT aggregated('long', 'SELECT g, count(*), sum(v) FROM _ WHERE k > 500 GROUP BY g');
SELECT aggregated('long', 'SELECT k, count(*), sum(v) FROM _ WHERE v < 5000 GROUP BY k');
SELECT k, v FROM long WHERE v < 60 ORDER BY k DESC;
SELECT k, v FROM long_heap WHERE v < 60 ORDER BY k DESC;

-- counters of the engine
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT a, count(*) FROM t WHERE i > 3 GROUP BY a;
SET widecol.enable_pushdown = off;
EXPLAIN (COSTS OFF) SELECT b, count(*) FROM t WHERE i > 3 GROUP BY b;
RESET widecol.enable_pushdown;

DROP SCHEMA aggregates CASCADE;
DROP ROLE aggregates_ann;
