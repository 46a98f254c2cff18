-- rows in buckets, in the order of their keys: requests for several buckets are on their way at a time
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/buckets.tables
CREATE SERVER h FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');
SET client_min_messages = warning;
CREATE FOREIGN TABLE t (id bigint OPTIONS (rowkey '1'), v text OPTIONS (family 'a'), w int OPTIONS (family 'b'))
  SERVER h OPTIONS ("table" 'wc_buckets:t', salt_buckets '16');
RESET client_min_messages;
INSERT INTO t SELECT i, 'v' || i, nullif(i % 10, 0) FROM generate_series(1, 1600) i;

-- pages, both ways; the whole table in order
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE id > 1000 ORDER BY id LIMIT 3;
SELECT * FROM t WHERE id > 1000 ORDER BY id LIMIT 3;
SELECT * FROM t WHERE id < 1000 ORDER BY id DESC LIMIT 3;
SELECT * FROM t ORDER BY id LIMIT 2 OFFSET 1200;
SELECT count(*), count(*) FILTER (WHERE id = n), count(w), sum(w) FROM (SELECT *, row_number() OVER () AS n FROM (SELECT * FROM t ORDER BY id) x) y;
SELECT count(*) FILTER (WHERE id = 1601 - n) FROM (SELECT id, row_number() OVER () AS n FROM (SELECT * FROM t ORDER BY id DESC) x) y;
SELECT id FROM t WHERE w > 8 AND id > 500 ORDER BY id LIMIT 4;
SELECT id FROM t WHERE id IN (7, 1599, 13, 4000, 1) OR id BETWEEN 100 AND 102 ORDER BY id DESC;

-- a cursor that is closed early; two at a time
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM t ORDER BY id;
DECLARE d CURSOR FOR SELECT id FROM t ORDER BY id DESC;
FETCH 2 c;
FETCH 2 d;
MOVE 700 c;
FETCH 2 c;
CLOSE c;
MOVE 700 d;
FETCH 2 d;
COMMIT;

-- the transaction's own changes
BEGIN;
DELETE FROM t WHERE id BETWEEN 1001 AND 1003;
SAVEPOINT s;
UPDATE t SET v = 'new' WHERE id = 1005;
INSERT INTO t VALUES (0, 'zero');
SELECT * FROM t WHERE id > 999 ORDER BY id LIMIT 4;
SELECT id FROM t ORDER BY id LIMIT 2;
ROLLBACK TO s;
SELECT * FROM t WHERE id > 999 ORDER BY id LIMIT 3;
ROLLBACK;

-- answers are held until four calls wait for one: they come with four connections, and not with three
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults hold 4`
ALTER SERVER h OPTIONS (SET port :'proxy');
SELECT id FROM t WHERE id > 1000 ORDER BY id LIMIT 3;
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults hold 4`
ALTER SERVER h OPTIONS (SET port :'proxy', ADD connections '3', ADD timeout '1');
\set VERBOSITY sqlstate
SELECT id FROM t WHERE id > 1000 ORDER BY id LIMIT 3;
-- a cancel ends the wait
ALTER SERVER h OPTIONS (SET timeout '60');
SET statement_timeout = '300ms';
SELECT id FROM t WHERE id > 1000 ORDER BY id LIMIT 3;
RESET statement_timeout;
\set VERBOSITY default
ALTER SERVER h OPTIONS (SET port :'port', SET connections '16');
SELECT id FROM t WHERE id > 1000 ORDER BY id LIMIT 3;

-- answers come while the session does something else, for longer than an answer may take; then its latch is set
ALTER SERVER h OPTIONS (SET connections '4', SET timeout '2');
DO $$
DECLARE
  c CURSOR FOR SELECT id FROM t ORDER BY id;
  n int := 0;
BEGIN
  FOR r IN c LOOP
    n := n + 1;
    IF n = 200 THEN
      PERFORM pg_sleep(2.5), pg_log_backend_memory_contexts(pg_backend_pid());
    END IF;
  END LOOP;
  RAISE NOTICE '% rows', n;
END $$;
ALTER SERVER h OPTIONS (SET timeout '60');
-- connections are lost while answers are awaited
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults lose 5`
ALTER SERVER h OPTIONS (SET port :'proxy', SET connections '4');
SELECT count(*), count(*) FILTER (WHERE id = n) FROM (SELECT id, row_number() OVER () AS n FROM (SELECT * FROM t ORDER BY id) x) y;
-- the gateway takes a single connection
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults single`
ALTER SERVER h OPTIONS (SET port :'proxy');
SELECT count(*), count(*) FILTER (WHERE id = n) FROM (SELECT id, row_number() OVER () AS n FROM (SELECT * FROM t ORDER BY id) x) y;
-- later it takes several, and answers two calls at a time: the session tries again
\! rm -f out/again
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults again out/again`
ALTER SERVER h OPTIONS (SET port :'proxy', SET timeout '2');
SELECT count(*), count(*) FILTER (WHERE id = n) FROM (SELECT id, row_number() OVER () AS n FROM (SELECT * FROM t ORDER BY id) x) y;
\! touch out/again
DO $$
BEGIN
  FOR i IN 1 .. 20 LOOP
    BEGIN
      PERFORM FROM t ORDER BY id LIMIT 1;
      RAISE NOTICE 'several connections';
      EXIT;
    EXCEPTION WHEN connection_failure THEN
      PERFORM pg_sleep(0.5);
    END;
  END LOOP;
END $$;

DROP SERVER h CASCADE;
