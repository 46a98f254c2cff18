-- what goes wrong between a session and an HBase cluster
\getenv port HBASE_GATEWAY
\getenv silent HBASE_SILENT
\! python3 gateway.py "$HBASE_BUFFERED" < sql/failures.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', fetch_size '100');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1') COLLATE "C", n int OPTIONS (family 'f', encoding 'text')) SERVER hbase
  OPTIONS ("table" 'wc_failures:t');

-- nobody there
CREATE SERVER nobody FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port '1');
CREATE FOREIGN TABLE nowhere (id text OPTIONS (rowkey '1')) SERVER nobody OPTIONS ("table" 'wc_failures:t');

-- another protocol than the gateway's
ALTER SERVER hbase OPTIONS (ADD protocol 'compact', ADD timeout '5');
\set VERBOSITY sqlstate
SELECT count(*) FROM t;
ALTER SERVER hbase OPTIONS (DROP protocol, ADD transport 'framed');
SELECT count(*) FROM t;
ALTER SERVER hbase OPTIONS (DROP transport, DROP timeout);
SELECT count(*) FROM t;

-- no answer: a limit of the server's, one of the session's
CREATE SERVER silent FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'silent', timeout '1');
CREATE FOREIGN TABLE unheard (id text OPTIONS (rowkey '1')) SERVER silent OPTIONS ("table" 'wc_failures:t');
ALTER SERVER silent OPTIONS (SET timeout '3600');
SET statement_timeout = '300ms';
CREATE FOREIGN TABLE unheard (id text OPTIONS (rowkey '1')) SERVER silent OPTIONS ("table" 'wc_failures:t');
RESET statement_timeout;
\set VERBOSITY default

CREATE FUNCTION rest(c refcursor, most int, OUT rows int, OUT first text, OUT last text, OUT ascending bool) LANGUAGE plpgsql AS $$
DECLARE
  r record;
BEGIN
  rows := 0;
  ascending := true;
  WHILE rows < most LOOP
    FETCH c INTO r;
    EXIT WHEN NOT FOUND;
    ascending := ascending AND (last IS NULL OR r.id > last COLLATE "C");
    first := coalesce(first, r.id);
    last := r.id;
    rows := rows + 1;
  END LOOP;
END $$;

-- in the midst of a scan the gateway is restarted, a region is split, regions move, a region server is killed
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM t ORDER BY id;
FETCH 1 FROM c;
\! curl -sS "$HBASE_CONTROL/gateway?i=0"
SELECT * FROM rest('c', 1000);
\! curl -sS "$HBASE_CONTROL/split?t=wc_failures:t&k=726f773032303030"
SELECT * FROM rest('c', 2000);
\! curl -sS "$HBASE_CONTROL/move?t=wc_failures:t"
SELECT * FROM rest('c', 3000);
\! curl -sS "$HBASE_CONTROL/kill"
SELECT * FROM rest('c', 100000);
COMMIT;
SELECT count(*), sum(n) FROM t;

DROP FUNCTION rest;
DROP SERVER hbase CASCADE;
DROP SERVER nobody CASCADE;
DROP SERVER silent CASCADE;
