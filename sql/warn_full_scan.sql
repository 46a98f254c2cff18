-- widecol.warn_full_scan: a word about queries that ask for little and read all
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA warned;
SET search_path = warned, public;
CREATE FOREIGN TABLE large (a int OPTIONS (rowkey '1'), b text OPTIONS (rowkey '2') COLLATE "C", v text, n int) SERVER widecol OPTIONS ("table" 'warned');
CREATE FOREIGN TABLE cells ("row" bytea, family text, qualifier text, value bytea) SERVER widecol OPTIONS ("table" 'warned', layout 'cell');
CREATE FOREIGN TABLE raw (k bytea OPTIONS (rowkey 'raw'), v text) SERVER widecol OPTIONS ("table" 'warned');
CREATE FOREIGN TABLE small (a int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS ("table" 'warned_small');
INSERT INTO large SELECT i, 'b' || i, 'v' || i, i % 4 FROM generate_series(1, 10000) i;
INSERT INTO small SELECT i, 'v' || i FROM generate_series(1, 9999) i;
SELECT widecol.flush('warned'), widecol.flush('warned_small');
ANALYZE large, small, cells, raw;
RESET client_min_messages;

SHOW widecol.warn_full_scan;
SELECT a FROM large WHERE v = 'v77';
SET widecol.warn_full_scan = on;
SELECT a FROM large WHERE v = 'v77';
SELECT a FROM large WHERE a + 0 = 77;
SELECT a FROM large WHERE b = 'b77';
SELECT l.a FROM large l WHERE v = (SELECT 'v77') AND n < 4;
SELECT count(*) FROM raw WHERE v = 'v77';
SELECT count(*) FROM cells WHERE value = 'v77';
UPDATE large SET n = 5 WHERE v = 'v77';
PREPARE p(text) AS SELECT a FROM large WHERE v = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE p('v77');
RESET plan_cache_mode;
-- once a query
SELECT count(*) FROM (VALUES (1), (2)) x(i), LATERAL (SELECT a FROM large WHERE v = 'v' || i::text OFFSET 0) l;
SELECT count(*) FROM (VALUES (1), (2)) x(i), LATERAL (SELECT i FROM large WHERE v = 'v7' OFFSET 0) l;
-- ... that workers run
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT a FROM large WHERE v = 'v77';
SET parallel_leader_participation = off;
SELECT a FROM large WHERE v = 'v77';
RESET parallel_leader_participation;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- not: all is wanted, or much; the key is limited; the table is small; nothing runs
SELECT count(*) FROM large;
SELECT count(*) FROM large WHERE n = 1;
SELECT count(*) FROM large WHERE v <> 'v77';
SELECT a FROM large WHERE a = 77 AND v = 'v77';
SELECT a FROM large WHERE a < 100 AND v = 'v77';
SELECT a FROM large ORDER BY a LIMIT 1;
SELECT count(*) FROM small WHERE v = 'v77';
EXPLAIN (COSTS OFF) SELECT a FROM large WHERE v = 'v77';
SET widecol.warn_full_scan = off;
EXECUTE p('v77');
SELECT a FROM large WHERE v = 'v77';

SET client_min_messages = warning;
DROP SCHEMA warned CASCADE;
SELECT widecol.drop_table('warned'), widecol.drop_table('warned_small');
