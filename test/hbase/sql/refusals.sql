-- what tables of HBase clusters are not good for
\getenv port HBASE_GATEWAY
\! python3 gateway.py "$HBASE_BUFFERED" < sql/refusals.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'port');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'cf')) SERVER hbase OPTIONS ("table" 'wc_refusals:t');

SELECT is_insertable_into FROM information_schema.tables WHERE table_name = 't';

-- isolation that HBase does not have
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM t;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM t;
ROLLBACK;
ALTER SERVER hbase OPTIONS (ADD isolation 'none');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM t;
ROLLBACK;
SET widecol.read_timestamp = '2020-01-01';
SELECT * FROM t;
RESET widecol.read_timestamp;

-- a name without a server is the embedded engine's
SELECT widecol.truncate_table('t'::regclass::text);
SELECT count(*) FROM widecol.tables WHERE name = 't';

DROP SERVER hbase CASCADE;
