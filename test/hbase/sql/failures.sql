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
ALTER SERVER hbase OPTIONS (ADD protocol 'compact', ADD timeout '1');
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

-- rows come in another order, or twice, or from before the first wanted one
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults replace row00003 row00001`
ALTER SERVER hbase OPTIONS (SET port :'proxy');
SELECT count(*) FROM t;
\set VERBOSITY sqlstate
SELECT id FROM t WHERE id > 'row00002' ORDER BY id LIMIT 1;
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults replace row09996 row09998`
ALTER SERVER hbase OPTIONS (SET port :'proxy');
SELECT count(*) FROM (SELECT id FROM t ORDER BY id DESC LIMIT 10) x;
-- the last row of an answer once more, again and again
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults replace row00001 row00000`
ALTER SERVER hbase OPTIONS (SET port :'proxy', SET fetch_size '1');
SET statement_timeout = '10s';
SELECT count(*) FROM t;
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults replace row09998 row09999`
ALTER SERVER hbase OPTIONS (SET port :'proxy');
SELECT count(*) FROM (SELECT id FROM t ORDER BY id DESC LIMIT 10) x;
RESET statement_timeout;
ALTER SERVER hbase OPTIONS (SET port :'port', SET fetch_size '100');
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

-- A load ends well, or says how many rows HBase has, which are the first ones; perhaps it has those of one more call.
CREATE FOREIGN TABLE w (id int OPTIONS (rowkey '1'), n int OPTIONS (family 'f')) SERVER hbase
  OPTIONS ("table" 'wc_failures:w', write_mode 'stream');
CREATE FUNCTION load(rows int, OUT "first are there" bool, OUT "too many" bool, OUT wrong bool) LANGUAGE plpgsql AS $$
DECLARE
  acknowledged int := rows;
  detail text;
BEGIN
  BEGIN
    INSERT INTO w SELECT i, i FROM generate_series(1, rows) i;
  EXCEPTION WHEN transaction_resolution_unknown OR connection_failure OR fdw_error THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    acknowledged := coalesce(substring(detail FROM 'Changes of (\d+) other rows')::int, 0);
  END;
  SELECT count(*) FILTER (WHERE id <= acknowledged) = acknowledged, count(*) > acknowledged + 1000, coalesce(bool_or(id <> n), false)
    INTO "first are there", "too many", wrong FROM w;
END $$;

-- in the midst of a scan the gateway is restarted, a region is split, regions move, a region server is killed
SET client_min_messages = error;
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
SELECT * FROM load(20000);
SELECT * FROM rest('c', 100000);
COMMIT;
SELECT count(*), sum(n) FROM t;

DROP FUNCTION load, rest;
DROP SERVER hbase CASCADE;
DROP SERVER nobody CASCADE;
DROP SERVER silent CASCADE;
