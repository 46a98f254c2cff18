-- Members of maps as columns of the scan's tuple: what a query reads of maps as text is never inside a map.  The results are
-- those of a heap copy and those without pushdown.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE EXTENSION hstore;
CREATE SCHEMA member_columns;
SET search_path = member_columns, public;
SET max_parallel_workers_per_gather = 0;

-- a dropped column; "own": declared in the family of m; p: members whose names begin with x:
CREATE FOREIGN TABLE t (gone int, k int OPTIONS (rowkey '1'), v int, own text OPTIONS (family 'm', qualifier 'own'), m jsonb OPTIONS (family 'm'),
  h hstore OPTIONS (family 'h'), p jsonb OPTIONS (family 'p', qualifier_prefix 'x:')) SERVER widecol OPTIONS ("table" 'member_columns_t');
ALTER FOREIGN TABLE t DROP COLUMN gone;
INSERT INTO t
  SELECT g, g % 10, CASE WHEN g % 4 = 0 THEN 'own' || g END,
    nullif(jsonb_strip_nulls(jsonb_build_object('a', CASE WHEN g % 5 <> 0 THEN 'a' || g % 7 END, 'n', (g % 13)::text, 'é', 'ü' || g,
      'long', CASE WHEN g % 9 = 0 THEN repeat('long' || g, 100) END, 'none', CASE WHEN g % 6 = 0 THEN '' END)) -
      CASE WHEN g % 11 = 0 THEN '{a,n,é,long,none}'::text[] ELSE '{}' END, '{}'),
    CASE WHEN g % 2 = 0 THEN hstore(ARRAY['a', 'b'], ARRAY['h' || g % 5, g::text]) END,
    CASE WHEN g % 3 = 0 THEN jsonb_build_object('x:a', g::text, 'x:b', '') END
  FROM generate_series(1, 300) g;
CREATE TABLE t_heap AS SELECT * FROM t;
ANALYZE t, t_heap;

-- The query reads t; its rows, as text, have to be the same in each way.  Shows what the scans return, their columns and filters.
CREATE FUNCTION checked(query text, sorted bool DEFAULT true) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  gather text = 'SELECT array_agg(x::text' || CASE WHEN sorted THEN ' ORDER BY x::text' ELSE '' END || ') FROM (' || query || ') x';
  pushed text[];
  unpushed text[];
  heaps text[];
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    -- PostgreSQL 17 shows values of subqueries in another way
    IF (line ~ '(Filter|Columns):' OR (line ~ 'Output:' AND line ~ '>' )) AND line !~ 'SubPlan|InitPlan|\$0' THEN
      RETURN NEXT regexp_replace(trim(line), '::text', '', 'g');
    END IF;
  END LOOP;
  EXECUTE gather INTO pushed;
  PERFORM set_config('widecol.enable_pushdown', 'off', true);
  EXECUTE gather INTO unpushed;
  PERFORM set_config('widecol.enable_pushdown', 'on', true);
  EXECUTE regexp_replace(gather, '\mFROM t\M', 'FROM t_heap t', 'g') INTO heaps;
  RETURN NEXT coalesce(cardinality(pushed), 0) || ' rows' ||
    CASE WHEN pushed IS DISTINCT FROM unpushed THEN ': OTHERS WITHOUT PUSHDOWN' WHEN pushed IS DISTINCT FROM heaps THEN ': NOT THOSE OF THE HEAP TABLE' ELSE '' END;
END $$;

-- target lists
EXPLAIN (VERBOSE, COSTS OFF) SELECT k, m ->> 'a', upper(m ->> 'a') FROM t WHERE k < 10;
SELECT k, m ->> 'a', h -> 'b', p ->> 'x:a', m ->> 'long' IS NULL, m ->> 'none' FROM t WHERE k < 13;
SELECT checked('SELECT k, m ->> ''a'', m ->> ''n'', m ->> ''é'', m ->> ''long'', m ->> ''none'', m ->> ''nowhere'' FROM t');
SELECT checked('SELECT h -> ''a'', h -> ''b'', p ->> ''x:a'', p ->> ''x:b'', p ->> ''y'', own, m ->> ''own'' FROM t');
SELECT checked('SELECT (m ->> ''n'')::int + v, length(m ->> ''long'') FROM t');
SELECT checked('SELECT m ->> ''a'', m FROM t');
SELECT checked('SELECT m ->> ''a'', h FROM t');
SELECT checked('SELECT m ->> ''a'', m -> ''a'', h -> ''a'' FROM t');
SELECT checked('SELECT m ->> ''a'', t FROM t');
SELECT checked('SELECT m ->> (''a'' || left(own, 0)) FROM t');
SELECT checked('SELECT tableoid IS NOT NULL, m ->> ''a'' FROM t');
SELECT checked('SELECT DISTINCT m ->> ''a'', h -> ''a'' FROM t');

-- order, limits, windows
SELECT checked('SELECT k, m ->> ''é'' FROM t ORDER BY m ->> ''a'', k', false);
SELECT checked('SELECT m ->> ''é'' FROM t ORDER BY k DESC LIMIT 7 OFFSET 3', false);
SELECT checked('SELECT random() < 2, m ->> ''é'', v FROM t ORDER BY k LIMIT 5', false);
SELECT checked('SELECT k, row_number() OVER (PARTITION BY m ->> ''a'' ORDER BY k), lag(m ->> ''n'') OVER (ORDER BY k) FROM t');
SELECT checked('SELECT k, generate_series(1, 2), m ->> ''a'' FROM t WHERE k < 20');

-- conditions: in the engine, in the session, not known before the query runs
SELECT checked('SELECT m ->> ''n'' FROM t WHERE m ->> ''a'' = ''a3''');
SELECT checked('SELECT m ->> ''a'' FROM t WHERE m ->> ''a'' IN (''a3'', ''a4'') AND m ->> ''n'' ~ ''1''');
SELECT checked('SELECT m ->> ''a'' FROM t WHERE (m ->> ''n'')::int > 10 AND length(h -> ''a'') = 2');
SELECT checked('SELECT m ->> ''a'' FROM t WHERE m ? ''long'' AND m @> ''{"n": "4"}''');
SELECT checked('SELECT m ->> ''n'' FROM t WHERE m::text LIKE ''%a3%''');
SELECT checked('SELECT m ->> ''é'' FROM t WHERE m ->> ''a'' LIKE (SELECT ''%3'')');
SELECT checked('SELECT m ->> ''é'', m ->> ''n'' FROM t WHERE (m ->> ''n'')::int8 = ANY ((SELECT array_agg(g) FROM generate_series(7, 3000) g)::int8[])');
SELECT checked('SELECT m ->> ''a'' FROM t WHERE k = 12.5 OR k = 14');
SELECT checked('SELECT m ->> ''a'' FROM t WHERE k = 12');
SELECT checked('SELECT m ->> ''a'' FROM t WHERE k IN (12, 40, 7) AND m ->> ''a'' > ''a1''');
SELECT checked('SELECT m ->> ''a'' FROM t WHERE now() IS NULL AND k < 9');

-- aggregates that PostgreSQL computes
EXPLAIN (VERBOSE, COSTS OFF) SELECT sum(length(m ->> 'a')) FROM t;
SELECT checked('SELECT sum(length(m ->> ''é'')), string_agg(m ->> ''a'', '','' ORDER BY k) FROM t');
SELECT checked('SELECT m ->> ''a'', array_agg(m ->> ''n'' ORDER BY k), count(*) FILTER (WHERE h -> ''a'' = ''h2'') FROM t GROUP BY m ->> ''a''');
SELECT checked('SELECT k, string_agg(m ->> ''a'', '''') FROM t GROUP BY k ORDER BY k', false);
SELECT checked('SELECT k / 10, count(DISTINCT m ->> ''a''), string_agg(own, '''' ORDER BY k) FROM t GROUP BY k / 10 HAVING max(length(m ->> ''é'')) > 3');
SELECT checked('SELECT upper(m ->> ''a''), string_agg(h -> ''b'', '''' ORDER BY k), sum(v * (m ->> ''n'')::int) FROM t WHERE m ->> ''n'' ~ ''1'' GROUP BY upper(m ->> ''a'')');
SELECT checked('SELECT (m ->> ''n'')::xid, sum(length(m ->> ''a'')) FROM t GROUP BY (m ->> ''n'')::xid');
SELECT checked('SELECT string_agg(m ->> ''a'', '''' ORDER BY k), count(m) FROM t');
SELECT checked('SELECT v, (m ->> ''a''), string_agg(own, '''' ORDER BY k) FROM t GROUP BY GROUPING SETS ((v), (m ->> ''a''))');
SELECT checked('SELECT string_agg(m ->> ''a'', '''' ORDER BY k) FROM t WHERE k = 3');

-- below other nodes, and again and again
SELECT checked('SELECT a || ''!'' FROM (SELECT k, m ->> ''a'' AS a FROM t OFFSET 2) x');
SELECT checked('SELECT m ->> ''a'' FROM t WHERE v = 2 UNION ALL SELECT m ->> ''n'' FROM t WHERE v = 3');
SELECT checked('WITH x AS MATERIALIZED (SELECT k, m ->> ''a'' AS a FROM t) SELECT x.a, y.a FROM x JOIN x y USING (k) WHERE k % 7 = 0');
SELECT checked('SELECT g, (SELECT string_agg(m ->> ''a'', '','' ORDER BY k) FROM t WHERE k BETWEEN g AND g + 5 AND m ->> ''n'' <> g::text) FROM generate_series(1, 40, 3) g');
SELECT checked('SELECT g, (SELECT max(k) FROM t WHERE m ->> ''n'' ~ g::text) FROM generate_series(1, 5) g');
SELECT checked('SELECT g, x.* FROM generate_series(1, 5) g, LATERAL (SELECT m ->> ''a'' AS a, k FROM t WHERE m ->> ''n'' ~ g::text ORDER BY k LIMIT 2) x');
SELECT checked('SELECT x.k, y.a FROM t_heap x LEFT JOIN (SELECT k, m ->> ''a'' AS a FROM t OFFSET 0) y ON y.k = x.k + 1');
SELECT checked('SELECT x.k, y.m ->> ''a'', x.m ->> ''n'' FROM t_heap x JOIN (SELECT * FROM t) y ON y.k = x.v + 1');
SELECT checked('SELECT k, EXISTS (SELECT FROM t_heap h WHERE h.m ->> ''a'' = t.m ->> ''a'' AND h.k = t.k + 7) FROM t');
SELECT checked('SELECT k FROM t WHERE m ->> ''a'' IN (SELECT h.m ->> ''a'' FROM t_heap h WHERE h.k < 5)');

-- parameters
SET plan_cache_mode = force_generic_plan;
PREPARE members (text, int) AS SELECT k, m ->> 'n' AS n, m ->> $1 AS other FROM t WHERE k < $2 ORDER BY k;
EXECUTE members ('a', 4);
PREPARE conditions (text, int) AS SELECT k, m ->> 'n' AS n FROM t WHERE m ->> 'a' LIKE $1 AND k < $2 ORDER BY k;
EXPLAIN (COSTS OFF) EXECUTE conditions ('a3%', 100);
EXECUTE conditions ('a3%', 30);
EXECUTE conditions ('%3', 30);
RESET plan_cache_mode;

-- cursors, rows that are locked or changed
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, m ->> 'a' AS a FROM t ORDER BY k;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
MOVE ABSOLUTE 100 IN c;
FETCH 1 FROM c;
SELECT k, m ->> 'a' AS a FROM t WHERE k < 4 ORDER BY k FOR UPDATE;
UPDATE t SET m = m || jsonb_build_object('n', m ->> 'a') WHERE k < 4 RETURNING k, m ->> 'n' AS n, m ->> 'a' AS a;
SELECT k, m ->> 'n' AS n FROM t WHERE k < 5 ORDER BY k;
INSERT INTO t (k, m) SELECT k + 1000, jsonb_build_object('a', m ->> 'é') FROM t WHERE k < 4;
SELECT k, m ->> 'a' AS a FROM t WHERE k > 1000 ORDER BY k;
ROLLBACK;

-- workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER FOREIGN TABLE t OPTIONS (ADD parallel_workers '2');
EXPLAIN (VERBOSE, COSTS OFF) SELECT m ->> 'a', length(h -> 'a') FROM t WHERE m ->> 'n' ~ '1';
SELECT checked('SELECT m ->> ''a'', length(h -> ''a'') FROM t WHERE m ->> ''n'' ~ ''1''');
SELECT checked('SELECT sum(length(m ->> ''a'')), count(*) FROM t');
ALTER FOREIGN TABLE t OPTIONS (DROP parallel_workers);
SET max_parallel_workers_per_gather = 0;

-- partitions, with other places of the columns
CREATE TABLE parts (k int, m jsonb, v int) PARTITION BY RANGE (k);
CREATE FOREIGN TABLE part (v int, m jsonb OPTIONS (family 'm'), k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS ("table" 'member_columns_t');
ALTER TABLE parts ATTACH PARTITION part FOR VALUES FROM (0) TO (1000);
CREATE TABLE part_heap PARTITION OF parts FOR VALUES FROM (1000) TO (2000);
INSERT INTO part_heap VALUES (1001, '{"a": "heap"}', 1);
EXPLAIN (VERBOSE, COSTS OFF) SELECT m ->> 'a', v FROM parts WHERE v = 1;
SELECT m ->> 'a' AS a, v FROM parts WHERE v = 1 AND (k < 30 OR k > 1000) ORDER BY k;
SELECT string_agg(m ->> 'a', ',' ORDER BY k) FROM parts WHERE v = 1 AND k % 2 = 1;

-- hidden rows: the conditions that hide them come first
CREATE ROLE regress_member_columns;
GRANT USAGE ON SCHEMA member_columns TO regress_member_columns;
CREATE VIEW few WITH (security_barrier) AS SELECT k, m ->> 'a' AS a, m ->> 'n' AS n FROM t WHERE m ->> 'a' ~ '3';
GRANT SELECT ON few TO regress_member_columns;
SET ROLE regress_member_columns;
SELECT k, a FROM few WHERE n = '4' ORDER BY k LIMIT 3;
RESET ROLE;

-- cells that no map can show
SELECT widecol.put('member_columns_t', widecol.row_key('t', 5), 'm:a', '\xff'), widecol.put('member_columns_t', widecol.row_key('t', 6), 'm:\xFE', 'x');
SELECT k, m ->> 'a' AS a FROM t WHERE k IN (5, 6) ORDER BY k;
SELECT k, m ->> 'n' AS n FROM t WHERE k IN (5, 6) ORDER BY k;
SELECT string_agg(m ->> 'a', '') FROM t;
SET widecol.on_undecodable = 'null';
SELECT k, m ->> 'a' AS a FROM t WHERE k IN (5, 6) ORDER BY k;
SELECT count(m ->> 'a'), string_agg(m ->> 'a', '' ORDER BY k) FROM t WHERE k < 9;
SELECT k, m ->> 'n' AS n FROM t WHERE k < 9 AND m ->> 'a' IS NULL;
RESET widecol.on_undecodable;

DROP SCHEMA member_columns CASCADE;
DROP EXTENSION hstore;
DROP ROLE regress_member_columns;
SELECT widecol.drop_table('member_columns_t');
