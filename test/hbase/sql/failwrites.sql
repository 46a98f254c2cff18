-- what happens in HBase, and to connections, while changes are sent: each row is there once, or an error says what is
\getenv port HBASE_GATEWAY
\! python3 gateway.py "$HBASE_BUFFERED" < sql/failwrites.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', fetch_size '50');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1') COLLATE "C", n int OPTIONS (family 'f', encoding 'text')) SERVER hbase
  OPTIONS ("table" 'wc_failwrites:t');
CREATE FOREIGN TABLE load (id text OPTIONS (rowkey '1') COLLATE "C", n int OPTIONS (family 'f', encoding 'text')) SERVER hbase
  OPTIONS ("table" 'wc_failwrites:t', write_mode 'stream');
CREATE FOREIGN TABLE cells ("row" text, ts bigint, value text) SERVER hbase OPTIONS ("table" 'wc_failwrites:t', layout 'cell');
CREATE FUNCTION key(i int) RETURNS text IMMUTABLE RETURN 'r' || lpad(i::text, 5, '0');

-- regions move and are split between two calls of a load, and before a COMMIT
BEGIN;
INSERT INTO load SELECT key(i), i FROM generate_series(1, 1500) i;
\! curl -sS "$HBASE_CONTROL/move?t=wc_failwrites:t"
INSERT INTO load SELECT key(i), i FROM generate_series(1501, 2500) i;
DELETE FROM t WHERE n % 2 = 0;
INSERT INTO t SELECT key(i), i FROM generate_series(2501, 5000) i;
\! curl -sS "$HBASE_CONTROL/split?t=wc_failwrites:t&k=723031303030"
COMMIT;
SELECT count(*), sum(n), count(*) FILTER (WHERE id <> key(n)) AS wrong FROM t;
-- and none twice
SELECT count(*), count(DISTINCT "row") FROM cells;

-- each tenth answer to a scan is lost
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults lose 10`
ALTER SERVER hbase OPTIONS (SET port :'proxy');
SELECT count(*), sum(n), count(*) FILTER (WHERE id <> key(n)) AS wrong FROM t;
SELECT count(*), sum(n) FROM (SELECT * FROM t ORDER BY id DESC OFFSET 10) s;

-- the fourth answer to a load is lost: that chunk is there, once, and nothing behind it
\set proxy `python3 proxy.py "$HBASE_GATEWAY" putMultiple lose 4`
ALTER SERVER hbase OPTIONS (SET port :'proxy');
DO $$
DECLARE
  detail text;
BEGIN
  INSERT INTO load SELECT key(i), i FROM generate_series(10001, 20000) i;
EXCEPTION WHEN transaction_resolution_unknown THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RAISE INFO '%', detail;
END $$;
SELECT count(*), max(n), count(*) FILTER (WHERE id <> key(n)) AS wrong FROM t WHERE id > key(10000);
SELECT count(*), count(DISTINCT "row") FROM cells WHERE "row" > key(10000);

DROP FUNCTION key;
DROP SERVER hbase CASCADE;
