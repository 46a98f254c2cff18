-- transport 'http' with Kerberos (SPNEGO): who has no ticket is refused
\getenv kerberos HBASE_KERBEROS
\! python3 gateway.py "$HBASE_BUFFERED" < sql/kerberos.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host 'localhost', port :'kerberos', transport 'http');
CREATE USER MAPPING FOR CURRENT_USER SERVER hbase OPTIONS (kerberos 'on');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1') COLLATE "C", n int OPTIONS (family 'f', encoding 'text')) SERVER hbase
  OPTIONS ("table" 'wc_kerberos:t');
ALTER USER MAPPING FOR CURRENT_USER SERVER hbase OPTIONS (SET kerberos 'off');
\set VERBOSITY sqlstate
SELECT count(*) FROM t;
\set VERBOSITY default
ALTER USER MAPPING FOR CURRENT_USER SERVER hbase OPTIONS (SET kerberos 'on');
SELECT count(*), sum(n) FROM t;
INSERT INTO t SELECT 'new' || i, i FROM generate_series(1, 2000) i;
SELECT count(*), sum(n) FROM t;
-- there is no ticket for a service on 127.0.0.1
ALTER SERVER hbase OPTIONS (SET host '127.0.0.1');
\set VERBOSITY sqlstate
SELECT count(*) FROM t;
\set VERBOSITY default

DROP SERVER hbase CASCADE;
