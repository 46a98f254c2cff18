-- Aggregates of members of maps, and groups by members, in the engine: the results are those of a heap copy and those
-- without pushdown.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE EXTENSION hstore;
CREATE SCHEMA member_aggregates;
SET search_path = member_aggregates, public;
SET max_parallel_workers_per_gather = 0;
SET datestyle = 'ISO';
-- rows are dear: few are enough for the engine to count them
SET cpu_tuple_cost = 0.1;

CREATE FOREIGN TABLE t (
  a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), v int OPTIONS (family 'm', qualifier 'declared'),
  m jsonb OPTIONS (family 'm'), h hstore OPTIONS (family 'h'), p jsonb OPTIONS (family 'p', qualifier_prefix 'x:')
) SERVER widecol OPTIONS (table 'member_aggregates_t', families '{"h": {"packing": "cell"}}');
INSERT INTO t
  SELECT g % 4, g, CASE WHEN g % 3 > 0 THEN g % 11 END,
         jsonb_strip_nulls(jsonb_build_object('type', (ARRAY['post', 'reply', 'like', NULL])[1 + g % 4], 'n', (g * 37 % 101 - 50)::text,
                                              'big', (g * 4611686018427387::int8)::text, 'price', round(g / 7.0, 2)::text,
                                              'day', (date '2026-01-01' + g % 60)::text, 'odd', CASE WHEN g % 50 = 0 THEN ' ' || g ELSE '7' END)),
         hstore('tag', CASE WHEN g % 5 > 0 THEN 'tag' || g % 3 END) || hstore('n', g::text),
         CASE WHEN g % 2 = 0 THEN jsonb_build_object('x:score', (g % 13)::text) END
  FROM generate_series(1, 1200) g;
INSERT INTO t (a, b) VALUES (9, 9);
CREATE TABLE t_heap AS SELECT * FROM t;
-- so that groups of several members are expected to be few
CREATE STATISTICS member_values ON (m->>'type'), (m->>'n'), (h->'tag'), (p->>'x:score') FROM t;
ANALYZE t, t_heap;

\getenv srcdir PG_ABS_SRCDIR
\set file :srcdir '/sql/include/aggregated.sql'
\i :file

-- aggregates
EXPLAIN (VERBOSE, COSTS OFF) SELECT sum((m->>'n')::int), count(m->>'type'), count(*) FROM t WHERE a > 0 AND (m->>'n')::int < 40;
SELECT aggregated('t', 'SELECT count(m->>''type''), count(m->>''none''), count(*), count(h->''tag''), count(p->>''x:score'') FROM _');
SELECT aggregated('t', 'SELECT sum((m->>''n'')::int), avg((m->>''n'')::int), min((m->>''n'')::int), max((m->>''n'')::int) FROM _');
SELECT aggregated('t', 'SELECT sum((m->>''n'')::int2), sum((m->>''big'')::int8), avg((m->>''big'')::int8), max((m->>''big'')::int8) FROM _');
SELECT aggregated('t', 'SELECT max((m->>''price'')::numeric), min((m->>''price'')::numeric), min((m->>''day'')::date), max((m->>''day'')::date) FROM _');
SELECT aggregated('t', 'SELECT max(m->>''type'' COLLATE "C"), min((m->>''type'') COLLATE "C"), max((h->''tag'') COLLATE "C") FROM _');
SELECT aggregated('t', 'SELECT sum((h->''n'')::int), sum((p->>''x:score'')::int), sum(v), max(a) FROM _');
SELECT aggregated('t', 'SELECT sum((m->>''n'')::int) FROM _ WHERE m->>''type'' = ''post'' AND h ? ''tag''');
SELECT aggregated('t', 'SELECT sum((m->>''n'')::int), max(m->>''type'' COLLATE "C"), count(m->>''n'') FROM _ WHERE a = 9');
SELECT aggregated('t', 'SELECT count((m->>''n'')::int), sum((m->>''n'')::int) FROM _ WHERE false');

-- rows that a condition with lower costs excludes have no number
CREATE FOREIGN TABLE mixed (a int OPTIONS (rowkey '1'), m jsonb OPTIONS (family 'm')) SERVER widecol OPTIONS (table 'member_aggregates_mixed');
INSERT INTO mixed SELECT g, CASE WHEN g % 3 = 0 THEN '{"type": "text", "n": "none"}'::jsonb ELSE '{"type": "int", "n": " 7"}' END FROM generate_series(1, 1200) g;
CREATE TABLE mixed_heap AS SELECT * FROM mixed;
ANALYZE mixed, mixed_heap;
SELECT aggregated('mixed', 'SELECT count(*), sum(a) FROM _ WHERE (m->>''n'')::int > 3 AND m->>''type'' <> ''text''');

-- what the engine cannot read, or add up, or what is no member
SELECT aggregated('t', 'SELECT sum((m->>''odd'')::int), count((m->>''odd'')::int), max((m->>''odd'')::int), count(m->>''odd'') FROM _');
SELECT aggregated('t', 'SELECT sum((m->>''price'')::numeric) FROM _');
SELECT aggregated('t', 'SELECT sum(length(m->>''type'')) FROM _');
SELECT aggregated('t', 'SELECT count(m->>''declared''), count(m->>'''') FROM _');
SELECT aggregated('t', 'SELECT count(m->''type'') FROM _');
SELECT aggregated('t', 'SELECT count(m) FROM _');
SELECT aggregated('t', 'SELECT count(DISTINCT m->>''type''), sum((m->>''n'')::int) FROM _');
SELECT sum((m->>'type')::int) FROM t;
SELECT count((m->>'type')::int) FROM t;
SELECT max((m->>'big')::int2) FROM t;
INSERT INTO t (a, b, m) VALUES (5, 0, '{"n": "1"}');
SELECT widecol.put('member_aggregates_t', widecol.row_key('t', 5, 0), 'm:type', '\xff'::bytea);
SELECT count(m->>'type') FROM t WHERE a = 5;
SELECT m->>'type', count(*) FROM t WHERE a = 5 GROUP BY 1;
SET widecol.on_undecodable = 'null';
SELECT count(m->>'type'), count(*), sum((m->>'n')::int) FROM t WHERE a = 5;
SELECT m->>'type', count(*) FROM t WHERE a = 5 GROUP BY 1;
RESET widecol.on_undecodable;
DELETE FROM t WHERE a = 5;

-- groups
EXPLAIN (VERBOSE, COSTS OFF) SELECT m->>'type' AS type, v, count(*), sum((m->>'n')::int) FROM t GROUP BY 1, v HAVING sum((m->>'n')::int) > 0;
SELECT m->>'type' AS type, count(*), sum((m->>'n')::int), min((m->>'day')::date) FROM t GROUP BY m->>'type' ORDER BY 1;
SELECT aggregated('t', 'SELECT m->>''type'' FROM _ GROUP BY 1');
SELECT aggregated('t', 'SELECT m->>''type'', m->>''day'', h->''tag'', count(*), max(b) FROM _ GROUP BY 1, 2, 3');
SELECT aggregated('t', 'SELECT a, m->>''type'', v, count(*), avg((p->>''x:score'')::int) FROM _ GROUP BY 1, 2, 3');
SELECT aggregated('t', 'SELECT a, m->>''type'', count(*) FROM _ GROUP BY a, m->>''type'' ORDER BY a, 2');
SELECT aggregated('t', 'SELECT m->>''type'', m->>''type'', count(m->>''type''), max((m->>''type'') COLLATE "C") FROM _ GROUP BY m->>''type''');
SELECT aggregated('t', 'SELECT p->>''x:score'', sum((p->>''x:score'')::int) FROM _ GROUP BY 1 ORDER BY 1 DESC NULLS FIRST LIMIT 3');
SELECT aggregated('t', 'SELECT (m->>''n'')::int, count(*) FROM _ GROUP BY 1');
SELECT aggregated('t', 'SELECT upper(m->>''type''), count(*) FROM _ GROUP BY m->>''type''');

-- groups by expressions: the engine groups by the columns in them
EXPLAIN (VERBOSE, COSTS OFF) SELECT coalesce(m->>'type', 'none') || a % 2, count(*) FROM t GROUP BY 1;
SELECT aggregated('t', 'SELECT coalesce(m->>''type'', ''none''), count(*) FROM _ GROUP BY 1');
SELECT aggregated('t', 'SELECT a % 2, v / 3, count(*), sum(v) FROM _ GROUP BY 1, 2');
SELECT aggregated('t', 'SELECT a % 2 AS x, upper(m->>''type'') || a, count(*) FROM _ GROUP BY a, m->>''type'' HAVING m->>''type'' || a <> ''post1''');
SELECT aggregated('t', 'SELECT (m->>''n'')::int / 20, (m->>''odd'')::int > 10, count(*) FROM _ GROUP BY 1, 2');
SELECT aggregated('t', 'SELECT CASE WHEN v IS NULL THEN m->>''type'' ELSE ''v'' END, count(*), max((m->>''n'')::int) FROM _ GROUP BY 1 ORDER BY 1');
SELECT v > (SELECT avg(a) FROM t_heap) AS greater, count(*) FROM t GROUP BY 1 ORDER BY 1;
SELECT aggregated('t', 'SELECT v % 2, v % 3, v, count(*) FROM _ GROUP BY GROUPING SETS (1, 2, 3)');
SELECT aggregated('t', 'SELECT a + random() * 0 > 1, count(*) FROM _ GROUP BY 1');
SELECT aggregated('t', 'SELECT m ? ''type'', count(*) FROM _ GROUP BY 1');
SELECT aggregated('t', 'SELECT (SELECT min(b) FROM t_heap h WHERE h.a = x.a), count(*) FROM _ x GROUP BY 1');
SELECT (m->>'type')::int, count(*) FROM t GROUP BY 1;
PREPARE by_remainder(int) AS SELECT a % $1, count(*), sum(v) FROM t GROUP BY 1 ORDER BY 1;
EXECUTE by_remainder(2);
EXECUTE by_remainder(3);

-- DISTINCT: groups without aggregates
EXPLAIN (VERBOSE, COSTS OFF) SELECT DISTINCT m->>'type', v FROM t WHERE a > 0 ORDER BY 1, 2;
SELECT aggregated('t', 'SELECT DISTINCT m->>''type'' FROM _');
SELECT aggregated('t', 'SELECT DISTINCT coalesce(m->>''type'', ''none''), v % 2 FROM _ WHERE v > 1 ORDER BY 1 DESC, 2 LIMIT 3');
SELECT aggregated('t', 'SELECT count(DISTINCT m->>''type'') FROM _');
SELECT aggregated('t', 'SELECT v, count(DISTINCT m->>''type''), max(a), min(h->''tag'' COLLATE "C") FROM _ GROUP BY v');
SELECT aggregated('t', 'SELECT count(DISTINCT m->>''type''), count(*) FROM _');
SELECT aggregated('t', 'SELECT count(DISTINCT v) FILTER (WHERE a = 1), count(DISTINCT (m->>''n'')::int / 10) FROM _');
SELECT aggregated('t', 'SELECT DISTINCT ON (v) v, b FROM _ ORDER BY v, b');
SELECT aggregated('t', 'SELECT DISTINCT random() < 2, v FROM _');
SELECT aggregated('t', 'SELECT DISTINCT m FROM _');

-- FILTER: the engine groups by its columns, too, and the scan leaves groups out
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FILTER (WHERE m->>'type' = 'post'), sum((m->>'n')::int) FILTER (WHERE a > 1) FROM t;
SELECT aggregated('t', 'SELECT count(*) FILTER (WHERE m->>''type'' = ''post''), count(*) FILTER (WHERE m->>''type'' IS NULL), count(*) FROM _');
SELECT aggregated('t', 'SELECT a, count(v) FILTER (WHERE m->>''type'' = ''post''), sum(v) FILTER (WHERE m->>''type'' <> ''post''), max(v) FILTER (WHERE v < 5) FROM _ GROUP BY a');
SELECT aggregated('t', 'SELECT a % 2, avg(v) FILTER (WHERE a = 2), min(b) FILTER (WHERE false), sum(v) FILTER (WHERE NULL) FROM _ GROUP BY 1');
SELECT aggregated('t', 'SELECT sum((m->>''odd'')::int) FILTER (WHERE m->>''type'' = ''post''), count(*) FILTER (WHERE (m->>''odd'')::int > 1000) FROM _');
SELECT aggregated('t', 'SELECT sum((m->>''type'')::int) FILTER (WHERE m->>''type'' ~ ''^[0-9]+$'') FROM _');
SELECT count(*) FILTER (WHERE v > (SELECT min(a) FROM t_heap)) FROM t;
SELECT aggregated('t', 'SELECT count(*) FILTER (WHERE random() < 2) FROM _');
SELECT aggregated('t', 'SELECT a, count(*) FILTER (WHERE v > 3) AS many FROM _ GROUP BY a HAVING count(*) FILTER (WHERE v > 3) > 100 ORDER BY 1');
SELECT sum((m->>'type')::int) FILTER (WHERE a = 1) FROM t;

-- with conditions on the same member, which the engine decides, or does not
SELECT aggregated('t', 'SELECT m->>''type'', count(*) FROM _ WHERE m->>''type'' IN (''post'', ''like'') AND a > 0 GROUP BY 1');
SELECT aggregated('t', 'SELECT m->>''n'', count(*), sum((m->>''n'')::int) FROM _ WHERE (m->>''n'')::int > 47 OR m->>''type'' IS NULL GROUP BY 1');
SELECT aggregated('t', 'SELECT m->>''odd'', count(*) FROM _ WHERE (m->>''odd'')::int > 600 GROUP BY 1');
SELECT aggregated('t', 'SELECT m->>''odd'', count(*), sum((m->>''odd'')::int) FROM _ WHERE (m->>''odd'')::int > 600 GROUP BY 1');
SELECT aggregated('t', 'SELECT m->>''type'', count(*) FROM _ WHERE length(m->>''type'') > 4 GROUP BY 1');
PREPARE by_type(text, int) AS SELECT m->>'type', count(*), max((m->>'n')::int) FROM t WHERE m->>'type' = $1 AND a = $2 GROUP BY 1;
SET plan_cache_mode = 'force_generic_plan';
EXECUTE by_type('post', 0);
EXECUTE by_type('reply', 1);
EXECUTE by_type(NULL, 1);
RESET plan_cache_mode;

-- in subqueries, that are rescanned, of partitions, by workers
SELECT g, (SELECT max((m->>'n')::int) FROM t WHERE a = g), (SELECT count(*) FROM (SELECT m->>'type' FROM t WHERE a = g GROUP BY 1) x) FROM generate_series(0, 3) g;
SELECT count(*) FROM (SELECT m->>'type' AS type, count(*) FROM t GROUP BY 1) x JOIN (SELECT m->>'type' AS type, sum((m->>'n')::int) FROM t GROUP BY 1) y USING (type);
CREATE TABLE parts (k int, d jsonb) PARTITION BY RANGE (k);
CREATE FOREIGN TABLE part1 (k int OPTIONS (rowkey '1'), d jsonb OPTIONS (family 'd')) SERVER widecol OPTIONS (table 'member_aggregates_p1');
ALTER TABLE parts ATTACH PARTITION part1 FOR VALUES FROM (0) TO (5000);
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (5000) TO (6000);
INSERT INTO parts SELECT g, jsonb_build_object('t', 't' || g % 3, 'n', g::text, 'secret', CASE g % 3 WHEN 1 THEN 'hidden' ELSE g::text END)
  FROM generate_series(0, 5999) g;
CREATE TABLE parts_heap AS SELECT * FROM parts;
CREATE STATISTICS part_values ON (d->>'t') FROM part1;
ANALYZE parts, parts_heap;
SET enable_partitionwise_aggregate = on;
SELECT aggregated('parts', 'SELECT sum((d->>''n'')::int), count(d->>''t'') FROM _');
SELECT aggregated('parts', 'SELECT d->>''t'', sum((d->>''n'')::int) FROM _ GROUP BY 1');

-- a policy on the member that rows are grouped by: cells of hidden rows are not looked at
CREATE ROLE member_aggregates_reader;
GRANT USAGE ON SCHEMA member_aggregates TO member_aggregates_reader;
GRANT SELECT ON parts TO member_aggregates_reader;
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_types ON parts USING (d->>'t' <> 't1');
SET ROLE member_aggregates_reader;
EXPLAIN (COSTS OFF) SELECT d->>'t', count(*), sum((d->>'secret')::int) FROM parts GROUP BY 1;
SELECT d->>'t', count(*), sum((d->>'secret')::int), min((d->>'secret')::int) FROM parts GROUP BY 1 ORDER BY 1;
SELECT sum((d->>'secret')::int) FROM parts WHERE k < 5000;
RESET ROLE;
SELECT sum((d->>'secret')::int) FROM parts WHERE k < 5000;
RESET enable_partitionwise_aggregate;

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET max_parallel_workers_per_gather = 2;
SELECT aggregated('t', 'SELECT m->>''type'', sum((m->>''n'')::int), count(*) FROM _ GROUP BY 1');
SET max_parallel_workers_per_gather = 0;

-- of an hstore, too, only members that a query names are read
EXPLAIN (COSTS OFF) SELECT b, h->'tag', h['n'] FROM t WHERE a = 1 ORDER BY h->'tag';
EXPLAIN (COSTS OFF) SELECT h->'tag', h ? 'n' FROM t WHERE a = 1;
EXPLAIN (COSTS OFF) SELECT h->ARRAY['tag', 'n'] FROM t WHERE a = 1;
SELECT b, h->'tag', h['n'], h->'none' FROM t WHERE a = 1 AND b < 20 ORDER BY b;
SELECT h->'tag', h FROM t WHERE b = 11;

-- own writes of the transaction
BEGIN;
UPDATE t SET m = m || '{"type": "new"}' WHERE b <= 8;
INSERT INTO t (a, b, m) VALUES (0, 5000, '{"type": "new", "n": "1000"}');
DELETE FROM t WHERE b = 8;
SELECT m->>'type', count(*), max((m->>'n')::int) FROM t GROUP BY 1 ORDER BY 1;
ROLLBACK;

-- how many values a member has: 200, but for extended statistics
CREATE FUNCTION groups(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
SELECT groups('SELECT m->>''n'' FROM t GROUP BY 1');
DROP STATISTICS member_values;
SELECT groups('SELECT m->>''n'' FROM t GROUP BY 1');

DROP SCHEMA member_aggregates CASCADE;
DROP EXTENSION hstore;
DROP ROLE member_aggregates_reader;
SELECT count(widecol.drop_table(x)) FROM unnest('{member_aggregates_t,member_aggregates_mixed,member_aggregates_p1}'::text[]) x;
