-- write_mode 'stream': changes are sent before the commit
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/stream.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport',
  protocol :'protocol', write_mode 'stream');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1') COLLATE "C", x text OPTIONS (family 'f'), y text OPTIONS (family 'g')) SERVER hbase
  OPTIONS ("table" 'wc_stream:t');
-- what HBase has, without the changes of this session
CREATE SERVER beside FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport',
  protocol :'protocol');
CREATE FOREIGN TABLE there (id text OPTIONS (rowkey '1') COLLATE "C", x text OPTIONS (family 'f'), y text OPTIONS (family 'g')) SERVER beside
  OPTIONS ("table" 'wc_stream:t');
CREATE FUNCTION key(i int) RETURNS text IMMUTABLE RETURN 'r' || lpad(i::text, 5, '0');

-- a chunk is 1000 rows: HBase has whole chunks, the transaction sees all
BEGIN;
INSERT INTO t SELECT key(i), 'x' FROM generate_series(1, 999) i;
SELECT count(*) FROM there;
INSERT INTO t SELECT key(i), 'x', 'y' FROM generate_series(1000, 2500) i;
SELECT count(*) FROM there;
SELECT count(*), count(y), max(id) FROM t;
DELETE FROM t WHERE id = key(1);
UPDATE t SET y = 'new' WHERE id = key(2500);
SELECT count(*), count(y), max(y) FROM t;
COMMIT;
SELECT count(*), count(y), max(y) FROM there;

-- ROLLBACK forgets only what HBase does not have; the notice comes once
BEGIN;
INSERT INTO t SELECT key(i), 'rolled back' FROM generate_series(3001, 4500) i;
ROLLBACK;
SELECT count(*), max(id) FROM there WHERE x = 'rolled back';
-- so does a statement that fails; its error and the warning may come in any order
SET client_min_messages = error;
INSERT INTO t SELECT key(i), 'failed' || 1 / (6500 - i) FROM generate_series(5001, 7000) i;
RESET client_min_messages;
SELECT count(*), max(id) FROM there WHERE x LIKE 'failed%';
-- and ROLLBACK TO SAVEPOINT; what was not sent before the savepoint is sent at the commit
BEGIN;
INSERT INTO t VALUES (key(8000), 'before');
SAVEPOINT s;
INSERT INTO t SELECT key(i), 'savepoint' FROM generate_series(8001, 9500) i;
ROLLBACK TO s;
INSERT INTO t VALUES (key(9999), 'behind');
COMMIT;
SELECT x, count(*), max(id) FROM there WHERE id >= key(8000) GROUP BY x ORDER BY x;
BEGIN;
INSERT INTO t VALUES (key(10001), 'before');
SAVEPOINT s;
INSERT INTO t SELECT key(i), 'savepoint' FROM generate_series(10002, 10500) i;
ROLLBACK TO s;
COMMIT;
SELECT x, count(*) FROM there WHERE id > key(10000) GROUP BY x;

-- a statement does not meet its own changes
DELETE FROM t WHERE id > key(2500);
INSERT INTO t SELECT id || '+', 'copy' FROM t;
SELECT x, count(*) FROM there GROUP BY x ORDER BY x;
UPDATE t SET id = id || '-', y = 'moved' WHERE x = 'x' AND id < key(50);
SELECT x, y, count(*), min(id), max(id) FROM there GROUP BY x, y ORDER BY x, y;
\copy t (id, x) FROM PROGRAM 'seq -f "r%05.0f,by COPY" 20001 22000' (FORMAT csv)
SELECT count(*) FROM there WHERE x = 'by COPY';

-- the table's option comes before the server's; all changes of a table keep their order
CREATE FOREIGN TABLE at_commit (id text OPTIONS (rowkey '1') COLLATE "C", x text OPTIONS (family 'f'), y text OPTIONS (family 'g'))
  SERVER hbase OPTIONS ("table" 'wc_stream:t', write_mode 'commit');
BEGIN;
INSERT INTO at_commit SELECT key(i), 'kept' FROM generate_series(30001, 31500) i;
INSERT INTO t SELECT key(i), 'later' FROM generate_series(31001, 32500) i;
SELECT count(*) FROM there WHERE id > key(30000);
COMMIT;
SELECT x, count(*), min(id) FROM there WHERE id > key(30000) GROUP BY x ORDER BY x;
BEGIN;
INSERT INTO t SELECT key(i), 'sent' FROM generate_series(40001, 41500) i;
INSERT INTO at_commit SELECT key(i), 'later' FROM generate_series(41401, 41600) i;
SELECT x, count(*), min(id) FROM t WHERE id > key(40000) GROUP BY x ORDER BY x;
SELECT x, count(*), min(id) FROM there WHERE id > key(40000) GROUP BY x ORDER BY x;
COMMIT;
SELECT x, count(*), min(id) FROM there WHERE id > key(40000) GROUP BY x ORDER BY x;
BEGIN;
INSERT INTO t VALUES (key(43000), 'sent');
DECLARE c CURSOR FOR SELECT * FROM t;
FETCH 1 FROM c;
INSERT INTO at_commit SELECT key(i), 'kept' FROM generate_series(43001, 44500) i;
CLOSE c;
INSERT INTO t SELECT key(i), 'sent' FROM generate_series(44001, 45500) i;
SELECT count(*) FROM there WHERE id >= key(43000);
SELECT x, count(*) FROM t WHERE id >= key(43000) GROUP BY x ORDER BY x;
ROLLBACK;
SELECT count(*) FROM there WHERE id >= key(43000);
ALTER SERVER hbase OPTIONS (SET write_mode 'commit');
ALTER FOREIGN TABLE at_commit OPTIONS (SET write_mode 'stream');
SET client_min_messages = error;
BEGIN;
INSERT INTO at_commit SELECT key(i), 'x' FROM generate_series(50001, 51500) i;
SELECT count(*) FROM there WHERE id > key(50000);
PREPARE TRANSACTION 'streamed';
SELECT count(*) FROM there WHERE id > key(50000);
ALTER SERVER hbase OPTIONS (SET write_mode 'stream');

-- a duplicate is found before its chunk, of 1 MB here, is sent
CREATE FOREIGN TABLE strict (id text OPTIONS (rowkey '1') COLLATE "C", x text OPTIONS (family 'f'), y text OPTIONS (family 'g'))
  SERVER hbase OPTIONS ("table" 'wc_stream:u', on_duplicate 'error');
\set VERBOSITY terse
INSERT INTO strict SELECT key(i % 30), repeat('x', 60000) FROM generate_series(1, 40) i;
\set VERBOSITY default
RESET client_min_messages;
SELECT count(*) FROM strict;

-- a row with a condition is changed again when HBase has its chunk
SET client_min_messages = error;
BEGIN;
SELECT widecol.incr('t', 'counter', 'f:n');
INSERT INTO t SELECT key(i), 'beside' FROM generate_series(70001, 71100) i;
SELECT widecol.incr('t', 'counter', 'f:n');
COMMIT;
RESET client_min_messages;
SELECT widecol.get_counter('t', 'counter', 'f:n');

-- HBase refuses a chunk
CREATE FOREIGN TABLE v (id text OPTIONS (rowkey '1') COLLATE "C", x text OPTIONS (family 'f'), y text OPTIONS (family 'g')) SERVER hbase
  OPTIONS ("table" 'wc_stream:v');
BEGIN;
INSERT INTO v SELECT key(i), 'x', 'y' FROM generate_series(1, 1500) i;
\! echo "dropfamily wc_stream:v g" | python3 gateway.py "$HBASE_BUFFERED"
DO $$
DECLARE
  detail text;
BEGIN
  INSERT INTO v SELECT key(i), 'x', 'y' FROM generate_series(1501, 3000) i;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RAISE INFO '% %', SQLSTATE, substr(detail, 1, position('HBase says' IN detail) - 1);
END $$;
ROLLBACK;
-- an answer is lost
\set proxy `python3 proxy.py "$HBASE_GATEWAY" putMultiple`
ALTER SERVER hbase OPTIONS (SET port :'proxy');
\set VERBOSITY sqlstate
SET client_min_messages = error;
INSERT INTO t SELECT key(i), 'lost' FROM generate_series(60001, 62000) i;
\set VERBOSITY default
SELECT count(*) FROM there WHERE x = 'lost';

DROP FUNCTION key;
DROP SERVER hbase CASCADE;
DROP SERVER beside CASCADE;
