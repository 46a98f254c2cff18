-- what goes wrong when changes are sent to HBase
\getenv port HBASE_GATEWAY
\getenv silent HBASE_SILENT
\! python3 gateway.py "$HBASE_BUFFERED" < sql/writefail.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'port');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'f')) SERVER hbase OPTIONS ("table" 'wc_writefail:t');
CREATE FOREIGN TABLE u (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'f'), y text OPTIONS (family 'g')) SERVER hbase
  OPTIONS ("table" 'wc_writefail:u');
CREATE FOREIGN TABLE v (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'f'), y text OPTIONS (family 'g')) SERVER hbase
  OPTIONS ("table" 'wc_writefail:v');
CREATE TABLE heap (id text);

-- the gateway is restarted before COMMIT: its connections are closed
INSERT INTO t VALUES ('a', '1'), ('b', '2');
BEGIN;
INSERT INTO t VALUES ('c', '3');
\! curl -sS "$HBASE_CONTROL/gateway?i=0"
COMMIT;
SELECT * FROM t;

-- the gateway does not answer at COMMIT: nothing has been sent, and PostgreSQL's changes go, too
BEGIN;
INSERT INTO heap VALUES ('gone');
INSERT INTO t VALUES ('d', '4');
ALTER SERVER hbase OPTIONS (SET port :'silent', ADD timeout '1');
\set VERBOSITY sqlstate
COMMIT;
-- a COMMIT that waits can be cancelled
BEGIN;
INSERT INTO heap VALUES ('gone');
INSERT INTO t VALUES ('d', '4');
ALTER SERVER hbase OPTIONS (SET port :'silent');
\! psql -X -q -d hbase_regression -c "SET statement_timeout = '60s'" -c "DO 'BEGIN WHILE NOT (SELECT bool_or(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE query = ''COMMIT;'' AND state = ''active'' AND wait_event_type = ''Extension'') IS TRUE LOOP PERFORM pg_stat_clear_snapshot(); END LOOP; END'" &
COMMIT;
\set VERBOSITY default
SELECT * FROM heap;
SELECT * FROM t;

-- HBase refuses a row: nothing else was sent
\set VERBOSITY terse
BEGIN;
INSERT INTO heap VALUES ('gone');
INSERT INTO u VALUES ('a', '1', '1');
\! echo "dropfamily wc_writefail:u g" | python3 gateway.py "$HBASE_BUFFERED"
COMMIT;
\echo :LAST_ERROR_SQLSTATE
-- HBase refuses a row when it has taken others
BEGIN;
INSERT INTO heap VALUES ('gone');
INSERT INTO t VALUES ('e', '5'), ('f', '6');
INSERT INTO v VALUES ('a', '1', '1'), ('b', '2', '2');
\! echo "dropfamily wc_writefail:v g" | python3 gateway.py "$HBASE_BUFFERED"
COMMIT;
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY default
SELECT * FROM heap;
SELECT * FROM t;
-- the answer is lost: HBase has the row, and the session cannot know
\set proxy `python3 proxy.py "$HBASE_BUFFERED" putMultiple`
ALTER SERVER hbase OPTIONS (SET port :'proxy');
BEGIN;
INSERT INTO heap VALUES ('gone');
INSERT INTO t VALUES ('g', '7');
\set VERBOSITY sqlstate
COMMIT;
\set VERBOSITY default
ALTER SERVER hbase OPTIONS (SET port :'port');
SELECT * FROM heap;
SELECT * FROM t WHERE id = 'g';
-- a transaction that fails before HBase is asked
CREATE TABLE deferred (id int UNIQUE DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO t VALUES ('never', '7');
INSERT INTO deferred VALUES (1), (1);
COMMIT;
SELECT * FROM t WHERE id = 'never';

DROP TABLE heap, deferred;
DROP SERVER hbase CASCADE;
