-- what goes wrong when changes are sent to HBase
\getenv port HBASE_GATEWAY
\getenv silent HBASE_SILENT
\! python3 gateway.py "$HBASE_BUFFERED" < sql/writefail.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'port');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'f')) SERVER hbase OPTIONS ("table" 'wc_writefail:t');
CREATE FOREIGN TABLE u (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'f'), y text OPTIONS (family 'g')) SERVER hbase
  OPTIONS ("table" 'wc_writefail:u');
CREATE TABLE heap (id text);

-- the gateway is restarted between two statements, and before COMMIT: its connections are closed
INSERT INTO t VALUES ('a', '1');
\! curl -sS "$HBASE_CONTROL/gateway?i=0"
INSERT INTO t VALUES ('b', '2');
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
\! psql -X -q -d hbase_regression -c "DO 'BEGIN WHILE NOT (SELECT bool_or(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE query = ''COMMIT;'' AND state = ''active'' AND wait_event_type = ''Extension'') IS TRUE LOOP PERFORM pg_stat_clear_snapshot(); END LOOP; END'" &
COMMIT;
\set VERBOSITY default
SELECT * FROM heap;
SELECT * FROM t;

-- HBase refuses a row: nothing else was sent
BEGIN;
INSERT INTO heap VALUES ('gone');
INSERT INTO u VALUES ('a', '1', NULL);
\! echo "drop wc_writefail:u" | python3 gateway.py "$HBASE_BUFFERED"
COMMIT;
SELECT * FROM heap;
-- HBase refuses a row when it has taken others
\! echo "create wc_writefail:u f g" | python3 gateway.py "$HBASE_BUFFERED"
BEGIN;
INSERT INTO heap VALUES ('gone');
INSERT INTO t VALUES ('e', '5'), ('f', '6');
INSERT INTO u VALUES ('a', '1', '1'), ('b', '2', '2');
\! echo "drop wc_writefail:u" | python3 gateway.py "$HBASE_BUFFERED"
COMMIT;
SELECT * FROM heap;
SELECT * FROM t;
-- a transaction that fails before HBase is asked
CREATE TABLE deferred (id int UNIQUE DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO t VALUES ('never', '7');
INSERT INTO deferred VALUES (1), (1);
COMMIT;
SELECT * FROM t WHERE id = 'never';

DROP TABLE heap, deferred;
DROP SERVER hbase CASCADE;
