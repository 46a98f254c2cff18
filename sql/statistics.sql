-- Statistics: a known load gives known numbers; privileges
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA counts;
SET search_path = counts, public;
CREATE FOREIGN TABLE t (id int OPTIONS (rowkey '1'), v text, w text OPTIONS (family 'g')) SERVER widecol OPTIONS ("table" 'counts');
CREATE FOREIGN TABLE c ("row" text COLLATE "C", family text COLLATE "C", qualifier text COLLATE "C", ts bigint, value text)
  SERVER widecol OPTIONS ("table" 'counts_cells', layout 'cell', families '{"cf": {"versions": 3}}');

-- the counters of these two tables after some statements; a count waits until all commits are applied
CREATE VIEW numbers AS
SELECT "table", family, reads, rows_examined, rows_returned, cells_returned, cells_written, deletes
FROM widecol.pg_stat_widecol_tables WHERE "table" LIKE 'counts%' ORDER BY 1, 2;
SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM c);
SELECT widecol.pg_stat_widecol_reset();
SELECT * FROM numbers;
INSERT INTO t SELECT i, 'value ' || i, CASE WHEN i <= 10 THEN 'w' END FROM generate_series(1, 1000) i;
INSERT INTO c SELECT 'r' || r, 'cf', 'q' || q, 1, 'v' FROM generate_series(1, 5) r, generate_series(1, 20) q;
SELECT count(*) FROM t;
SELECT * FROM numbers;
SELECT v FROM t WHERE id BETWEEN 101 AND 110 ORDER BY id LIMIT 3;
SELECT count(*) FROM t WHERE v LIKE '%99%';
SELECT * FROM numbers WHERE "table" = 'counts';
SELECT count(value) FROM c WHERE row = 'r2';
SELECT count(value) FROM c WHERE row >= 'r4';
SELECT * FROM numbers WHERE "table" = 'counts_cells';
DELETE FROM t WHERE id <= 4;
UPDATE t SET v = 'new' WHERE id = 5;
DELETE FROM c WHERE row = 'r1' AND qualifier IN ('q1', 'q2');
SELECT count(*) FROM t;
SELECT "table", family, cells_written, deletes FROM numbers;
-- rolled-back writes are not counted
BEGIN;
INSERT INTO t SELECT i, 'gone' FROM generate_series(2001, 3000) i;
ROLLBACK;
SELECT count(*) FROM t WHERE id > 2000;
SELECT "table", family, cells_written, deletes FROM numbers WHERE family = 'cf' AND "table" = 'counts';

-- the engine: commits of this session only, since nobody else writes
SELECT state, pid = (SELECT pid FROM pg_stat_activity WHERE backend_type = 'widecol engine') AS pid, error, stall, commits, operations,
       void_operations, batches >= commits AS batches, bytes_logged > 20000 AS bytes_logged, backlog_commits, replay_lag
FROM widecol.pg_stat_widecol;
SELECT applied_lsn <= read_lsn AS positions, started_at < stats_reset AS started, last_commit_at > stats_reset AS committed, requests > 10 AS requests,
       sessions > 0 AS sessions, memtable_bytes > 0 AS memtables, get_cache_bytes > 0 AS get_cache,
       writes IN ('normal', 'delayed', 'stopped') AS writes
FROM widecol.pg_stat_widecol;
-- a Get that comes again is answered by the cache of Gets, and the table is not read
SELECT v FROM t WHERE id = 500;
SELECT get_cache_hits AS hits_before, reads AS reads_before FROM widecol.pg_stat_widecol, numbers WHERE family = 'cf' AND "table" = 'counts' \gset
SELECT v FROM t WHERE id = 500;
SELECT get_cache_hits - :hits_before AS hits, reads - :reads_before AS reads
FROM widecol.pg_stat_widecol, numbers WHERE family = 'cf' AND "table" = 'counts';

-- files and blocks
SELECT widecol.flush('counts');
SELECT family, files > 0 AS files, file_bytes > 0 AS bytes, flushes > 0 AS flushes, last_flush > now() - interval '1 hour' AS flushed, compactions, last_compaction
FROM widecol.pg_stat_widecol_tables WHERE "table" = 'counts' AND family = 'cf';
SELECT blocks_hit + blocks_read AS blocks_before FROM widecol.pg_stat_widecol \gset
SELECT count(v) FROM t;
SELECT blocks_hit + blocks_read > :blocks_before AS blocks FROM widecol.pg_stat_widecol;
SELECT widecol.major_compact('counts');
SELECT family, files, compactions > 0 AS compactions, last_compaction >= last_flush AS compacted, keys, dead_keys
FROM widecol.pg_stat_widecol_tables WHERE "table" = 'counts' AND family = 'cf';
SELECT flushes >= 2 AS flushes, flushed_bytes > 0 AS flushed, compactions > 0 AS compactions, compacted_bytes > 0 AS compacted, steps > 0 AS steps,
       files > 0 AS files, file_bytes = (SELECT sum(b) FROM unnest(level_bytes) b) AS levels, array_length(level_bytes, 1) AS nlevels
FROM widecol.pg_stat_widecol;

-- this session
BEGIN;
DECLARE cur CURSOR FOR SELECT * FROM t ORDER BY id;
FETCH 1 FROM cur;
INSERT INTO t VALUES (5000, 'own');
SELECT count(*) FROM t WHERE id = 5000;
SELECT datname = current_database() AS database, usename = current_user AS role, state, request, "table", scanners, snapshots > 0 AS snapshots,
       transaction_bytes > 0 AS bytes, requests > 10 AS requests, rows_returned > 1000 AS rows, waits_for
FROM widecol.pg_stat_widecol_sessions WHERE pid = pg_backend_pid();
ROLLBACK;
SELECT scanners, transaction_bytes FROM widecol.pg_stat_widecol_sessions WHERE pid = pg_backend_pid();

-- a job is taken with one request, for rows: the row is locked in shared memory, and the DELETE knows that it exists
CREATE FUNCTION sent() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT requests FROM widecol.pg_stat_widecol_sessions WHERE pid = pg_backend_pid()
$$;
CREATE FOREIGN TABLE jobs (id int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS ("table" 'jobs_taken');
INSERT INTO jobs SELECT i, 'job' FROM generate_series(1, 100) i;
PREPARE take AS WITH job AS (SELECT id FROM jobs ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) DELETE FROM jobs USING job WHERE jobs.id = job.id;
EXECUTE take;
BEGIN;
SELECT sent() AS before \gset
SELECT sent() AS own \gset
EXECUTE take;
SELECT sent() - :own - (:own - :before) AS requests;
COMMIT;
SELECT min(id) AS next FROM jobs;
DEALLOCATE take;
DROP FOREIGN TABLE jobs;
SELECT widecol.drop_table('jobs_taken');

-- progress of a COPY, as a column's default expression sees it; PostgreSQL counts rows after they have been written
CREATE FUNCTION seen() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT concat_ws(' ', operation, "table", phase, done, total, unit, started_at <= now()) FROM widecol.progress WHERE pid = pg_backend_pid()
$$;
SELECT seen();
ALTER FOREIGN TABLE t ALTER w SET DEFAULT seen();
COPY t (id, v) FROM stdin;
6001	first
6002	second
6003	third
\.
SELECT id, w FROM t WHERE id > 6000;

-- privileges: all roles see counts; only privileged ones see other sessions, and errors with names of files
CREATE ROLE counts_bob;
GRANT USAGE ON SCHEMA counts TO counts_bob;
GRANT SELECT ON numbers TO counts_bob;
SET ROLE counts_bob;
SELECT state, commits > 0 AS commits FROM widecol.pg_stat_widecol;
SELECT count(*) FROM widecol.pg_stat_widecol_tables WHERE "table" LIKE 'counts%';
SELECT datname = current_database() AS database, state, request, scanners, requests, waits_for
FROM widecol.pg_stat_widecol_sessions WHERE pid = pg_backend_pid();
SELECT widecol.pg_stat_widecol_reset();
RESET ROLE;
GRANT pg_monitor TO counts_bob;
SET ROLE counts_bob;
SELECT state, request, requests > 10 AS requests FROM widecol.pg_stat_widecol_sessions WHERE pid = pg_backend_pid();
RESET ROLE;
GRANT EXECUTE ON FUNCTION widecol.pg_stat_widecol_reset() TO counts_bob;
SET ROLE counts_bob;
SELECT widecol.pg_stat_widecol_reset();
RESET ROLE;
SELECT commits, operations, batches, bytes_logged, get_cache_hits, get_cache_misses, blocks_read FROM widecol.pg_stat_widecol;
SELECT * FROM numbers;

DROP SCHEMA counts CASCADE;
SELECT widecol.drop_table('counts'), widecol.drop_table('counts_cells');
REVOKE ALL ON FUNCTION widecol.pg_stat_widecol_reset() FROM counts_bob;
DROP ROLE counts_bob;
