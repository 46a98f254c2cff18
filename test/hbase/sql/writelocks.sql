-- sessions of this server exclude each other from rows of HBase
\getenv port HBASE_GATEWAY
\! python3 gateway.py "$HBASE_BUFFERED" < sql/writelocks.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'port');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1'), n int OPTIONS (family 'f')) SERVER hbase OPTIONS ("table" 'wc_writelocks:t');
INSERT INTO t VALUES ('a', 0), ('b', 0), ('c', 0);
-- waits until a statement of another session waits for a lock, or has ended
CREATE PROCEDURE await(statement text, waits bool) LANGUAGE plpgsql AS $$
BEGIN
  WHILE EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE statement AND pid <> pg_backend_pid() AND state = 'active'
    AND wait_event_type = 'Lock') IS DISTINCT FROM waits
    OR NOT waits AND EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE statement AND pid <> pg_backend_pid()) LOOP
    PERFORM pg_stat_clear_snapshot();
  END LOOP;
END $$;

-- an UPDATE waits for another one, and sees what that has written
BEGIN;
UPDATE t SET n = n + 1 WHERE id = 'a';
\! psql -X -q -d hbase_regression -c "UPDATE t SET n = n + 10 WHERE id = 'a'" &
CALL await('UPDATE t SET n = n + 10%', true);
COMMIT;
CALL await('UPDATE t SET n = n + 10%', false);
SELECT * FROM t;
-- of several rows, and when the other transaction is rolled back; a row that does not satisfy the condition any more
BEGIN;
UPDATE t SET n = 5 WHERE id = 'b';
\! psql -X -q -d hbase_regression -c "UPDATE t SET n = n + 100 WHERE n < 5" &
CALL await('UPDATE t SET n = n + 100%', true);
COMMIT;
CALL await('UPDATE t SET n = n + 100%', false);
SELECT * FROM t;
BEGIN;
DELETE FROM t WHERE id = 'b';
\! psql -X -q -d hbase_regression -c "UPDATE t SET n = n + 1000 WHERE id IN ('b', 'c')" &
CALL await('UPDATE t SET n = n + 1000%', true);
ROLLBACK;
CALL await('UPDATE t SET n = n + 1000%', false);
SELECT * FROM t;
-- joined with another table
BEGIN;
UPDATE t SET n = 1 WHERE id = 'c';
\! psql -X -q -d hbase_regression -c "UPDATE t SET n = n + x FROM (VALUES (7), (8)) v (x) WHERE id = 'c' AND x = 7" &
CALL await('UPDATE t SET n = n + x%', true);
COMMIT;
CALL await('UPDATE t SET n = n + x%', false);
SELECT * FROM t WHERE id = 'c';
-- an INSERT waits at its COMMIT
BEGIN;
SELECT * FROM t WHERE id = 'c' FOR UPDATE;
\! psql -X -q -d hbase_regression -c "INSERT INTO t VALUES ('c', 0)" &
CALL await('INSERT INTO t%', true);
UPDATE t SET n = 9 WHERE id = 'c';
COMMIT;
CALL await('INSERT INTO t%', false);
SELECT * FROM t WHERE id = 'c';
-- FOR UPDATE, given up by ROLLBACK TO
BEGIN;
SAVEPOINT s;
SELECT * FROM t WHERE id = 'a' FOR UPDATE;
\! psql -X -q -d hbase_regression -c "SELECT id FROM t WHERE id = 'a' FOR UPDATE NOWAIT"
\! psql -X -q -d hbase_regression -c "SELECT id FROM t ORDER BY id FOR UPDATE SKIP LOCKED"
\! psql -X -q -d hbase_regression -c "SET lock_timeout = '10ms'" -c "UPDATE t SET n = 0 WHERE id = 'a'"
ROLLBACK TO s;
\! psql -X -q -d hbase_regression -c "SELECT id FROM t WHERE id = 'a' FOR UPDATE NOWAIT"
COMMIT;
-- two that wait for each other
BEGIN;
UPDATE t SET n = 1 WHERE id = 'a';
\! psql -X -q -d hbase_regression -c "SET deadlock_timeout = '1h'" -c "BEGIN" -c "UPDATE t SET n = 2 WHERE id = 'b'" -c "UPDATE t SET n = 2 WHERE id = 'a'" -c "COMMIT" &
CALL await('UPDATE t SET n = 2 WHERE id = ''a''%', true);
SET deadlock_timeout = '10ms';
\set VERBOSITY sqlstate
UPDATE t SET n = 1 WHERE id = 'b';
ROLLBACK;
CALL await('%UPDATE t SET n = 2%', false);
CALL await('COMMIT', false);
SELECT * FROM t;

DROP PROCEDURE await;
DROP SERVER hbase CASCADE;
