-- Filters of lookups in batches: conditions that do not need the outer row are decided
-- in the engine, others here; the rows are those of other plans.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA batch_filters;
SET search_path = batch_filters, public;
SET max_parallel_workers_per_gather = 0;

CREATE FOREIGN TABLE t (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), c int OPTIONS (rowkey '3'), v int, s text)
  SERVER widecol OPTIONS (table 'batch_filters_t');
INSERT INTO t SELECT a, b, c, CASE WHEN c <> 3 THEN a * 100 + b * 10 + c END, 's' || b FROM generate_series(1, 300) a, generate_series(1, 3) b, generate_series(1, 5) c;
ANALYZE t;
CREATE TABLE o AS SELECT g AS x, g % 4 AS y FROM generate_series(1, 310) g;
ANALYZE o;

-- A query's plan and its answer in batches, without them, without filters, with another join.
CREATE FUNCTION batched(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text; answers text[]; answer text;
BEGIN
  PERFORM set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_material', 'off', true), set_config('enable_memoize', 'off', true);
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ '(Filter|Scan|Row):' THEN RETURN NEXT regexp_replace(regexp_replace(regexp_replace(trim(line), '\(InitPlan (\d+)\)\.col1', '$0', 'g'), '\$\d', '$n', 'g'), '\(([a-z.]+) = (o\.[a-z])\)', '(\2 = \1)'); END IF;
  END LOOP;
  FOR i IN 1 .. 4 LOOP
    PERFORM set_config('widecol.enable_batched_lookup', CASE WHEN i = 2 THEN 'off' ELSE 'on' END, true), set_config('widecol.enable_pushdown', CASE WHEN i = 3 THEN 'off' ELSE 'on' END, true);
    IF i = 4 THEN PERFORM set_config('enable_hashjoin', 'on', true), set_config('enable_nestloop', 'off', true); END IF;
    EXECUTE format('SELECT string_agg(q::text, %L ORDER BY q::text) FROM (%s) q', ' ', query) INTO answer;
    answers[i] = coalesce(answer, 'no rows');
  END LOOP;
  PERFORM set_config('enable_nestloop', 'on', true);
  RETURN NEXT CASE WHEN answers[1] = ALL (answers) THEN left(answers[1], 60) ELSE 'DIFFERENT: ' || array_to_string(answers, ' / ') END;
END $$;

SELECT batched(q) FROM unnest(ARRAY[
  'SELECT count(*), sum(t.v), min(o.y) FROM o JOIN t ON t.a = o.x AND t.v > 10000',
  'SELECT count(*), sum(t.v), min(o.y) FROM o JOIN t ON t.a = o.x AND t.c = 4 AND t.b = o.y',
  'SELECT count(*), sum(t.v), min(o.y) FROM o JOIN t ON t.a = o.x AND t.c IN (2, 5) AND t.v < 9000',
  'SELECT count(*), sum(t.v), min(o.y) FROM o JOIN t ON t.a = o.x AND t.v > o.y * 5000 AND t.s LIKE ''s2%''',
  'SELECT count(*), sum(t.v), min(o.y) FROM o JOIN t ON t.a = o.x AND t.c = o.y AND t.v IS NULL',
  'SELECT count(*), count(t.v), sum(o.y) FROM o LEFT JOIN t ON t.a = o.x AND t.c = 1 AND t.v > 10000',
  'SELECT count(*), sum(o.y) FROM o WHERE EXISTS (SELECT FROM t WHERE t.a = o.x AND t.c > 4 AND t.v > 25000)',
  'SELECT count(*), sum(o.y) FROM o WHERE NOT EXISTS (SELECT FROM t WHERE t.a = o.x AND t.c > 4 AND t.v > 25000)',
  'SELECT count(*), sum(t.v), min(o.y) FROM o JOIN t ON t.a = o.x AND t.b = 2 AND t.c = 4 AND t.v >= 20024',
  'SELECT count(*), sum(t.v) FROM o JOIN t ON t.a = o.x AND t.v > (SELECT 20000) AND length(t.s) = 2',
  'SELECT count(*), sum(t.v) FROM o JOIN t ON t.a = o.x AND t.c IS NULL',
  'SELECT count(*), sum(t.v) FROM o JOIN t ON t.a = o.x AND t.v = 3000000000']) q;

-- a query around the join: its values make other rows
SELECT batched('SELECT g, (SELECT count(*) FROM o JOIN t ON t.a = o.x AND t.b = g AND t.v > g * 10000) FROM generate_series(0, 4) g');
SELECT batched('SELECT g, (SELECT sum(v) FROM o JOIN t ON t.a = o.x AND t.v < g * 10000) FROM generate_series(0, 2) g');
SELECT batched('SELECT g, l.* FROM generate_series(1, 3) g, LATERAL (SELECT count(*), sum(v) FROM o JOIN t ON t.a = o.x + g AND t.c = g) l');

-- parameters that the plan does not know
SET plan_cache_mode = force_generic_plan;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
PREPARE lookup(text, int, int[]) AS SELECT count(t.a), sum(t.v) FROM o LEFT JOIN t ON t.a = o.x AND t.s LIKE $1 AND t.v > $2 AND t.c = ANY ($3);
EXPLAIN (COSTS OFF) EXECUTE lookup('s1%', 200, '{1,2}');
EXECUTE lookup('s1%', 200, '{1,2}');
EXECUTE lookup('s_', 200, '{1,2,NULL}');
EXECUTE lookup('%1', 200, '{1}');
EXECUTE lookup('s1%', NULL, '{1}');
EXECUTE lookup('s1%', 200, '{}');
RESET plan_cache_mode;

-- own writes; bytes that are no value, which the engine does not decide
BEGIN;
UPDATE t SET v = 100000 WHERE a = 17 AND c = 1;
DELETE FROM t WHERE a = 18;
SELECT o.x, t.b, t.v FROM o LEFT JOIN t ON t.a = o.x AND t.c = 1 AND t.v > 30010 WHERE o.x BETWEEN 16 AND 18 OR o.x = 300 ORDER BY 1, 2;
SELECT count(t.a) FROM o LEFT JOIN t ON t.a = o.x AND t.v > 0;
ROLLBACK;
CREATE FOREIGN TABLE odd (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), d date, n numeric) SERVER widecol OPTIONS (table 'batch_filters_odd');
INSERT INTO odd SELECT a, b, date '2024-01-01' + b, a FROM generate_series(1, 50) a, generate_series(1, 40) b;
SELECT widecol.put('odd', '\x8000000780000002', 'cf:d', '20240105'), widecol.put('odd', '\x8000000980000002', 'cf:d', '20240106');
ANALYZE odd;
EXPLAIN (COSTS OFF) SELECT o.x, odd.b FROM o LEFT JOIN odd ON odd.a = o.x AND odd.d = '2024-01-05' AND odd.b < 3 WHERE o.x BETWEEN 5 AND 10;
SELECT o.x, odd.b FROM o LEFT JOIN odd ON odd.a = o.x AND odd.d = '2024-01-05' AND odd.b < 3 WHERE o.x BETWEEN 5 AND 10;
SELECT count(odd.a), sum(odd.n) FROM o LEFT JOIN odd ON odd.a = o.x AND odd.d = '2024-01-05';
SELECT widecol.put('odd', '\x8000000780000002', 'cf:d', 'no date');
SELECT o.x, odd.b FROM o LEFT JOIN odd ON odd.a = o.x AND odd.d = '2024-01-05' AND odd.b > 2 AND odd.n = 3 WHERE o.x < 6;
\set VERBOSITY sqlstate
SELECT o.x, odd.b FROM o LEFT JOIN odd ON odd.a = o.x AND odd.d = '2024-01-05' WHERE o.x < 9;
\set VERBOSITY default

DROP SCHEMA batch_filters CASCADE;
SELECT widecol.drop_table('batch_filters_' || name) FROM unnest(ARRAY['t', 'odd']) name;
