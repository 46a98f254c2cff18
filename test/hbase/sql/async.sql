-- partitions on several servers: their scans wait at the same time
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/async.tables
CREATE SERVER a FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');
CREATE SERVER b FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');
CREATE TABLE p (id text COLLATE "C", v int) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE pa (id text OPTIONS (rowkey '1') COLLATE "C", v int OPTIONS (family 'f', encoding 'text'))
  SERVER a OPTIONS ("table" 'wc_async:a');
CREATE FOREIGN TABLE pb (id text OPTIONS (rowkey '1') COLLATE "C", v int OPTIONS (family 'f', encoding 'text'))
  SERVER b OPTIONS ("table" 'wc_async:b');
CREATE FOREIGN TABLE pc (id text OPTIONS (rowkey '1') COLLATE "C", v int) SERVER widecol OPTIONS ("table" 'wc_async_c');
CREATE TABLE pd (id text COLLATE "C", v int);
ALTER TABLE p ATTACH PARTITION pa FOR VALUES FROM ('row00000') TO ('row03000');
ALTER TABLE p ATTACH PARTITION pb FOR VALUES FROM ('row03000') TO ('row06000');
ALTER TABLE p ATTACH PARTITION pc FOR VALUES FROM ('row06000') TO ('row07000');
ALTER TABLE p ATTACH PARTITION pd FOR VALUES FROM ('row07000') TO ('row08000');
INSERT INTO p SELECT 'row0' || g, g FROM generate_series(6000, 7999) g;
ANALYZE pc, pd;

EXPLAIN (COSTS OFF) SELECT * FROM p;
-- not asynchronous: what may not be wanted to the end
EXPLAIN (COSTS OFF) SELECT * FROM p WHERE id < 'row06000' LIMIT 5;
SELECT count(*), count(DISTINCT id), sum(v) FROM p;
SELECT count(*), min(id), max(id) FROM p WHERE id >= 'row02990' AND id < 'row06010';
SELECT count(*), sum(v) FROM p WHERE v % 100 = 7;
SELECT id FROM p WHERE id IN ('row00001', 'row02999', 'row03000', 'row05999', 'row06000', 'row07000', 'row1') ORDER BY id;
-- both on one connection
CREATE FOREIGN TABLE pb2 (id text OPTIONS (rowkey '1') COLLATE "C", v int OPTIONS (family 'f', encoding 'text'))
  SERVER a OPTIONS ("table" 'wc_async:b');
SELECT count(*), count(DISTINCT id), sum(v) FROM (SELECT * FROM pa UNION ALL SELECT * FROM pb2) u;
-- rescans; the same tables twice
SELECT g, (SELECT count(*) FROM p WHERE id >= 'row0' || g AND id < 'row06003' AND v > g - 1) FROM generate_series(5998, 6001) g;
SET enable_nestloop = off;
SELECT count(*), sum(x.v - y.v) FROM p x JOIN p y USING (id);
RESET enable_nestloop;
-- the transaction's own changes
BEGIN;
UPDATE p SET v = -1 WHERE id IN ('row00001', 'row05999');
DELETE FROM p WHERE id = 'row03000';
INSERT INTO p VALUES ('row00001x', -2), ('row04500x', -3);
SELECT count(*), sum(v) FROM p;
SELECT id, v FROM p WHERE v < 0 ORDER BY id;
ROLLBACK;
SELECT count(*), sum(v) FROM p;
-- connections are lost while answers are awaited
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults lose 3`
ALTER SERVER a OPTIONS (SET port :'proxy');
SELECT count(*), sum(v) FROM p;

-- answers of one gateway are held until both scans wait for one
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults hold 2`
ALTER SERVER a OPTIONS (SET port :'proxy', ADD timeout '1');
ALTER SERVER b OPTIONS (SET port :'proxy', ADD timeout '1');
SET enable_async_append = off;
\set VERBOSITY sqlstate
SELECT count(*) FROM p;
\set VERBOSITY default
SET enable_async_append = on;
ALTER SERVER a OPTIONS (SET timeout '60');
ALTER SERVER b OPTIONS (SET timeout '60');
SELECT count(*), sum(v) FROM p;

-- they never come: the limit of an answer holds, and the wait can be cancelled
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults hold 9`
ALTER SERVER a OPTIONS (SET port :'proxy', SET timeout '1');
\set VERBOSITY sqlstate
SELECT count(*) FROM p;
ALTER SERVER a OPTIONS (SET timeout '60');
SET statement_timeout = '300ms';
SELECT count(*) FROM p;
RESET statement_timeout;
\set VERBOSITY default
-- a call waits for the answer to another scan's request, which is on its connection, and is cancelled: that scan goes on
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults keep`
ALTER SERVER a OPTIONS (SET port :'proxy');
SET statement_timeout = '2s';
DO $$
DECLARE
  r record;
  n int := 0;
  other int;
BEGIN
  FOR r IN SELECT v FROM p WHERE id < 'row06000' LOOP
    n := n + 1;
    IF n = 1 THEN
      BEGIN
        SELECT count(*) INTO other FROM pb2;
      EXCEPTION WHEN query_canceled THEN
        RAISE NOTICE 'cancelled';
      END;
    END IF;
  END LOOP;
  RAISE NOTICE '% rows', n;
END $$;
RESET statement_timeout;
ALTER SERVER a OPTIONS (SET port :'port');
-- a statement that ends in the midst of it leaves nothing of an answer behind
DO $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT v FROM p WHERE id >= 'row03000' LOOP
    RAISE division_by_zero;
  END LOOP;
EXCEPTION WHEN division_by_zero THEN NULL;
END $$;
SELECT count(*) FROM pb;
ALTER SERVER a OPTIONS (SET port :'port');
SELECT count(*), sum(v) FROM p;

-- beside the scans of another wrapper
\getenv pghost PGHOST
\getenv pgport PGPORT
CREATE EXTENSION postgres_fdw;
CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host :'pghost', port :'pgport', dbname :'DBNAME', async_capable 'true');
CREATE USER MAPPING FOR CURRENT_USER SERVER other;
CREATE FOREIGN TABLE pe (id text COLLATE "C", v int) SERVER other OPTIONS (table_name 'pd');
ALTER TABLE p ATTACH PARTITION pe FOR VALUES FROM ('row08000') TO ('row09000');
EXPLAIN (COSTS OFF) SELECT * FROM p WHERE id >= 'row05000' AND v > 4000;
SELECT count(*), sum(v) FROM p;
SELECT count(*), sum(v) FROM p WHERE id >= 'row05000' AND v > 4000;

DROP TABLE p CASCADE;
SELECT widecol.drop_table('wc_async_c');
DROP SERVER a CASCADE;
DROP SERVER b CASCADE;
DROP EXTENSION postgres_fdw CASCADE;
