-- Scans that a query's workers share: one of the processes reads each row, in order if the query
-- has one.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;

CREATE FOREIGN TABLE pt (k int OPTIONS (rowkey '1'), g int, v bigint, x text) SERVER widecol;
INSERT INTO pt SELECT i, i % 7, i * 10, CASE WHEN i % 3 > 0 THEN 'x' || i END FROM generate_series(1, 6000) i;
ANALYZE pt;

-- The results of a query without workers and with one; all: also with two alone, and when none can be started.
CREATE FUNCTION pt_run(query text, workers int, leader bool, available int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
	PERFORM set_config('parallel_leader_participation', leader::text, true);
	PERFORM set_config('max_parallel_workers', available::text, true);
	RETURN QUERY EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(q::text, '','')), ''-'') FROM (%s) q', query);
END $$;
CREATE FUNCTION pt_compare(query text, "all" bool DEFAULT false) RETURNS TABLE (rows text, plan text, answers text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	serial text := pt_run(query, 0, true, 8);
BEGIN
	rows := split_part(serial, ' ', 1);
	PERFORM set_config('max_parallel_workers_per_gather', '2', true);
	plan := 'serial';
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line LIKE '%Parallel Foreign Scan%' THEN plan := 'shared'; END IF;
	END LOOP;
	answers := CASE WHEN serial = ALL (ARRAY(SELECT pt_run(query, 1, true, 8))) AND
		(NOT "all" OR serial = ALL (ARRAY(SELECT pt_run(query, 2, false, 8) UNION ALL SELECT pt_run(query, 2, true, 0))))
		THEN 'the same' ELSE 'different' END;
	RETURN NEXT;
END $$;

-- Plans: rows, in order, groups, conditions that the engine does not decide.
EXPLAIN (COSTS OFF) SELECT count(*), sum(v) FROM pt;
EXPLAIN (COSTS OFF) SELECT g, count(*), max(v) FROM pt WHERE k > 100 GROUP BY g ORDER BY g;
EXPLAIN (COSTS OFF) SELECT count(*) FROM pt WHERE v % 3 = 0;
EXPLAIN (COSTS OFF) SELECT k, x FROM pt WHERE v % 3 = 0 ORDER BY k;
EXPLAIN (COSTS OFF) SELECT k, x FROM pt WHERE v % 3 = 0 ORDER BY k DESC;
EXPLAIN (COSTS OFF) SELECT k, count(*) FROM pt GROUP BY k;
-- A row by its key, and few of them, are not.
EXPLAIN (COSTS OFF) SELECT x FROM pt WHERE k = 5;

SELECT * FROM pt_compare('SELECT count(*), sum(v), min(x COLLATE "C"), max(k), avg(k) FROM pt', true);
SELECT * FROM pt_compare('SELECT g, count(*), count(x), sum(k) FROM pt GROUP BY g ORDER BY g');
SELECT * FROM pt_compare('SELECT k, sum(v) FROM pt GROUP BY k ORDER BY k');
SELECT * FROM pt_compare('SELECT count(*) FROM pt WHERE g = 3 AND x IS NULL');
SELECT * FROM pt_compare('SELECT * FROM pt WHERE v % 3 = 0 ORDER BY k', true);
SELECT * FROM pt_compare('SELECT * FROM pt WHERE v % 3 = 0 ORDER BY k DESC');
SELECT * FROM pt_compare('SELECT * FROM pt WHERE v % 3 = 0 ORDER BY k DESC LIMIT 17');
SELECT * FROM pt_compare('SELECT * FROM pt WHERE v % 3 = 0 ORDER BY g, v');

-- Ranges: one, some, rows by their keys, nothing; values that are known when the query runs.
SELECT * FROM pt_compare('SELECT sum(v), count(*) FROM pt WHERE k > 1000 AND k <= 4000');
SELECT * FROM pt_compare('SELECT sum(v), count(*) FROM pt WHERE k >= 5999');
SELECT * FROM pt_compare('SELECT k FROM pt WHERE (k < 100 OR k BETWEEN 3000 AND 3001 OR k > 5000) AND v % 2 = 0 ORDER BY k');
SELECT * FROM pt_compare('SELECT count(*), sum(v) FROM pt WHERE k IN (1, 2, 3, 5999, 6000, 6001)');
SELECT * FROM pt_compare('SELECT count(*), sum(v) FROM pt WHERE k > 10000');
SELECT * FROM pt_compare('SELECT count(*), sum(v) FROM pt WHERE k > (SELECT 10 * min(k) FROM pt) AND k < (SELECT 100)');

-- A scan that begins anew, with other ranges and with the same.
SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM (VALUES (1), (2), (3)) a (n) LEFT JOIN (SELECT k FROM pt WHERE v % 3 = 0 OFFSET 0) b ON b.k > a.n;
SELECT count(*) FROM (VALUES (1), (2), (3)) a (n) LEFT JOIN (SELECT k FROM pt WHERE v % 3 = 0 OFFSET 0) b ON b.k > a.n;
RESET enable_material;
SELECT n, (SELECT count(*) FROM pt WHERE k <= n) FROM (VALUES (0), (1), (4000), (7000)) a (n);

-- Joins: each worker looks keys up, or makes a hash table, or has its part of it.
CREATE FOREIGN TABLE pl (k bigint OPTIONS (rowkey '1'), w text) SERVER widecol;
INSERT INTO pl SELECT i * 10, 'w' || i FROM generate_series(1, 6000, 2) i;
ANALYZE pl;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT count(w) FROM pt JOIN pl ON pl.k = pt.v WHERE v % 3 = 0;
SELECT * FROM pt_compare('SELECT pt.k, w FROM pt LEFT JOIN pl ON pl.k = pt.v WHERE v % 3 = 0 ORDER BY 1', true);
SET widecol.enable_batched_lookup = off;
SELECT * FROM pt_compare('SELECT pt.k, w FROM pt JOIN pl ON pl.k = pt.v WHERE v % 3 = 0 ORDER BY 1');
RESET widecol.enable_batched_lookup;
RESET enable_hashjoin;
SELECT * FROM pt_compare('SELECT pt.k, w FROM pt JOIN pl ON pl.k = pt.v WHERE v % 3 = 0 ORDER BY 1');
SET enable_parallel_hash = off;
SELECT * FROM pt_compare('SELECT pt.k, w FROM pt JOIN pl ON pl.k = pt.v WHERE v % 3 = 0 ORDER BY 1');
RESET enable_parallel_hash;
RESET enable_mergejoin;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT * FROM pt_compare('SELECT pt.k, w FROM pt JOIN pl ON pl.k = pt.v WHERE v % 3 = 0 ORDER BY 1');
RESET enable_hashjoin;
RESET enable_nestloop;

-- Keys that begin alike, packing cell, buckets, descending parts, rows of many blocks, cells.
CREATE FOREIGN TABLE pk (a text OPTIONS (rowkey '1') COLLATE "C", b int OPTIONS (rowkey '2', sort 'desc'), v int) SERVER widecol
	OPTIONS (families '{"cf": {"PACKING": "cell"}}');
INSERT INTO pk SELECT repeat('a', i % 50) || i % 11, i, i FROM generate_series(1, 3000) i;
SELECT * FROM pt_compare('SELECT a, b, v FROM pk WHERE v % 2 = 0 ORDER BY a, b DESC');
SELECT * FROM pt_compare('SELECT a, count(*) FROM pk GROUP BY a ORDER BY a');
SELECT * FROM pt_compare('SELECT a, b, v FROM pk WHERE a = ANY (ARRAY(SELECT DISTINCT a FROM pk WHERE v % 5 = 0)) AND v % 2 = 0 ORDER BY a, b DESC');
SELECT * FROM pt_compare('SELECT a, b, v FROM pk WHERE a = ANY (ARRAY(SELECT DISTINCT a FROM pk WHERE v % 5 = 0)) AND v % 2 = 0 ORDER BY a DESC, b');
CREATE FOREIGN TABLE pb (a int OPTIONS (rowkey '1'), v int) SERVER widecol OPTIONS (salt_buckets '16');
INSERT INTO pb SELECT i, i FROM generate_series(1, 3000) i;
SELECT * FROM pt_compare('SELECT count(*), sum(v) FROM pb');
SELECT * FROM pt_compare('SELECT count(*), sum(v) FROM pb WHERE a BETWEEN 100 AND 2000');
SELECT * FROM pt_compare('SELECT * FROM pb WHERE v % 2 = 0 ORDER BY a');
CREATE FOREIGN TABLE pw (k int OPTIONS (rowkey '1'), v text, m jsonb OPTIONS (family 'm')) SERVER widecol;
INSERT INTO pw SELECT i, repeat(i::text, 20000), jsonb_build_object('a' || i % 3, i::text, 'b', 'c') FROM generate_series(1, 60) i;
SELECT * FROM pt_compare('SELECT k, md5(v), m FROM pw WHERE length(v) > 0 ORDER BY k');
SELECT * FROM pt_compare('SELECT count(*) FROM pw WHERE m ? ''a1''');
SET client_min_messages = warning;
CREATE FOREIGN TABLE pc (row bytea, family text, qualifier text, value bytea) SERVER widecol OPTIONS (table 'pk', layout 'cell');
RESET client_min_messages;
SELECT * FROM pt_compare('SELECT count(*), min(qualifier) FROM pc WHERE length(value) > 1');

-- Partitions, of which one is empty.
CREATE TABLE pp (k int, v int) PARTITION BY RANGE (k);
CREATE FOREIGN TABLE pp1 (k int OPTIONS (rowkey '1') NOT NULL, v int) SERVER widecol;
ALTER TABLE pp ATTACH PARTITION pp1 FOR VALUES FROM (0) TO (2000);
CREATE FOREIGN TABLE pp2 (k int OPTIONS (rowkey '1') NOT NULL, v int) SERVER widecol;
ALTER TABLE pp ATTACH PARTITION pp2 FOR VALUES FROM (2000) TO (4000);
CREATE FOREIGN TABLE pp3 (k int OPTIONS (rowkey '1') NOT NULL, v int) SERVER widecol;
ALTER TABLE pp ATTACH PARTITION pp3 FOR VALUES FROM (4000) TO (6000);
INSERT INTO pp SELECT i, i FROM generate_series(0, 3999) i;
ANALYZE pp1, pp2, pp3;
EXPLAIN (COSTS OFF) SELECT count(*) FROM pp WHERE v % 2 = 0;
SELECT * FROM pt_compare('SELECT count(*), sum(v) FROM pp WHERE v % 2 = 0');
SELECT * FROM pt_compare('SELECT * FROM pp WHERE v % 2 = 0 ORDER BY k');
SET enable_partitionwise_aggregate = on;
EXPLAIN (COSTS OFF) SELECT count(*) FROM pp;
SELECT * FROM pt_compare('SELECT count(*), sum(v) FROM pp');
RESET enable_partitionwise_aggregate;

-- A transaction that has written has no workers, since they would not see that.
BEGIN;
INSERT INTO pt VALUES (6001, 1, 1, NULL);
EXPLAIN (COSTS OFF) SELECT count(*) FROM pt;
SELECT count(*) FROM pt;
ROLLBACK;
PREPARE pt_count AS SELECT count(*) FROM pt WHERE v % 3 < 3;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE pt_count;
EXECUTE pt_count;
BEGIN;
DELETE FROM pt WHERE k <= 1000;
EXECUTE pt_count;
SAVEPOINT s;
DELETE FROM pt WHERE k <= 2000;
EXECUTE pt_count;
ROLLBACK TO s;
EXECUTE pt_count;
ROLLBACK;
EXECUTE pt_count;
RESET plan_cache_mode;
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
EXECUTE pt_count;
EXECUTE pt_count;
COMMIT;
DEALLOCATE pt_count;

-- Reads without workers: a cursor, a new table, rows for another stored table.
BEGIN;
DECLARE c CURSOR FOR SELECT k FROM pt WHERE v % 3 = 0 ORDER BY k;
FETCH 3 FROM c;
MOVE 1000 IN c;
FETCH 1 FROM c;
COMMIT;
CREATE TABLE pt_copy AS SELECT * FROM pt WHERE v % 2 = 0;
SELECT count(*), sum(k) FROM pt_copy;
INSERT INTO pl SELECT k + 100000, x FROM pt WHERE v % 2 = 0 ON CONFLICT DO NOTHING;
SELECT count(*) FROM pl;

-- The counters of workers are in those of the scan.
CREATE FUNCTION pt_examined(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT json) ' || query INTO plan;
	RETURN substring(plan::text FROM '"Rows Examined": (\d+)');
END $$;
SELECT pt_examined('SELECT count(*) FROM pt WHERE g = 3');
SET parallel_leader_participation = off;
SELECT pt_examined('SELECT count(*) FROM pt WHERE g = 3');
SELECT pt_examined('SELECT k FROM pt WHERE v % 3 = 0 ORDER BY k');
RESET parallel_leader_participation;
SELECT pt_examined('SELECT k FROM pt WHERE v % 3 = 0 LIMIT 1')::int < 6000 AS "ends early";

-- A cell that cannot be decoded is an error in a worker as well.
SELECT widecol.put('pt', widecol.to_bytes(3000), 'cf:v', '\x01'::bytea);
\set SHOW_CONTEXT never
SELECT sum(v) FROM pt WHERE v % 3 = 0;
\set SHOW_CONTEXT errors
SET client_min_messages = error;
SET widecol.on_undecodable = 'null';
SELECT * FROM pt_compare('SELECT count(v), count(*) FROM pt');
RESET widecol.on_undecodable;
RESET client_min_messages;

DROP FUNCTION pt_run, pt_compare, pt_examined;
SET client_min_messages = warning;
DROP TABLE pp, pt_copy;
DROP FOREIGN TABLE pt, pl, pk, pb, pw, pc;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['pt', 'pl', 'pk', 'pb', 'pw', 'pp1', 'pp2', 'pp3']) t;
