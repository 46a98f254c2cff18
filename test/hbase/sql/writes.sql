-- tables of HBase clusters are written: changes are kept until COMMIT
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/writes.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1'), a text OPTIONS (family 'f'), n int OPTIONS (family 'f'),
  b text OPTIONS (family 'g')) SERVER hbase OPTIONS ("table" 'wc_writes:t');
-- what HBase has, markers included
CREATE FOREIGN TABLE stored (row text, family text, qualifier text, ts bigint, type text, value bytea) SERVER hbase
  OPTIONS ("table" 'wc_writes:t', layout 'cell', raw 'true');

-- a statement is a transaction
INSERT INTO t VALUES ('a', 'x', 1, 'y'), ('b', NULL, 2, NULL), ('c', NULL, NULL, NULL);
SELECT * FROM t;
UPDATE t SET a = 'changed', b = NULL WHERE id = 'a' RETURNING *;
DELETE FROM t WHERE id = 'b' RETURNING *;
SELECT * FROM t;
INSERT INTO t VALUES ('a', NULL, 3, 'only n and b');
SELECT * FROM t WHERE id = 'a';
SELECT row, family, qualifier, type, value FROM stored;
COPY t FROM stdin;
m	from a file	10	\N
n	\N	11	\N
\.
SELECT * FROM t WHERE id > 'c';
DELETE FROM t;
SELECT count(*) FROM t;

-- own changes are seen by own reads alone, until COMMIT
BEGIN;
INSERT INTO t VALUES ('a', 'one', 1, 'g1'), ('b', 'two', 2, 'g2'), ('c', NULL, 3, NULL);
COMMIT;
BEGIN;
INSERT INTO t VALUES ('d', NULL, 4, 'g4');
UPDATE t SET a = NULL, n = n + 10 WHERE id IN ('a', 'd');
DELETE FROM t WHERE id = 'b';
SELECT * FROM t;
SELECT * FROM t ORDER BY id DESC;
SELECT * FROM t WHERE id = 'a';
SELECT id FROM t WHERE a = 'one';
SELECT id FROM t WHERE a IS NULL LIMIT 1 OFFSET 1;
SELECT id FROM t WHERE n > 3;
SELECT count(*), sum(n) FROM t;
\! psql -X -d hbase_regression -Atc 'SELECT * FROM t'
ROLLBACK;
SELECT * FROM t;
BEGIN;
UPDATE t SET a = 'three' WHERE id = 'c';
SAVEPOINT s;
UPDATE t SET a = 'four' WHERE id = 'c';
DELETE FROM t WHERE id = 'a';
INSERT INTO t VALUES ('e', 'five', 5, NULL);
SAVEPOINT inner_one;
DELETE FROM t;
SELECT count(*) FROM t;
ROLLBACK TO inner_one;
SELECT id, a FROM t;
ROLLBACK TO s;
SELECT id, a FROM t;
INSERT INTO t VALUES ('f', 'six', 6, NULL);
COMMIT;
SELECT id, a FROM t;
-- a row again and again in one transaction; deleted, and there again
BEGIN;
DELETE FROM t WHERE id = 'a';
INSERT INTO t VALUES ('a', 'again', NULL, NULL);
UPDATE t SET a = NULL WHERE id = 'a';
UPDATE t SET a = 'at last' WHERE id = 'a';
UPDATE t SET n = i FROM generate_series(1, 1) i WHERE id = 'b';
DELETE FROM t WHERE id = 'f';
SELECT * FROM t;
COMMIT;
SELECT * FROM t;
-- nothing of what comes and goes in one transaction is sent
BEGIN;
INSERT INTO t VALUES ('never', 'x', 1, 'y');
DELETE FROM t WHERE id = 'never';
COMMIT;
SELECT count(*) FROM stored WHERE row = 'never';
-- an exception's block, a trigger, a cursor that began before
CREATE FUNCTION twice() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES ('p', 'kept', 1, NULL);
  BEGIN
    INSERT INTO t VALUES ('q', 'lost', 1, NULL);
    PERFORM 1 / 0;
  EXCEPTION WHEN division_by_zero THEN
    RETURN (SELECT string_agg(id, ' ') FROM t);
  END;
END $$;
SELECT twice();
SELECT id FROM t WHERE id >= 'p';
CREATE FUNCTION upper_a() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.a := upper(NEW.a); RETURN NEW; END $$;
CREATE TRIGGER upper_a BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION upper_a();
INSERT INTO t VALUES ('p', 'loud', 2, NULL) RETURNING *;
DROP TRIGGER upper_a ON t;
BEGIN;
DECLARE old CURSOR FOR SELECT id, a FROM t;
FETCH 1 FROM old;
UPDATE t SET a = 'new';
FETCH ALL FROM old;
DECLARE new CURSOR FOR SELECT id, a FROM t;
SAVEPOINT s;
DELETE FROM t;
ROLLBACK TO s;
FETCH ALL FROM new;
ROLLBACK;

-- keys: moved, taken, not to be taken
UPDATE t SET id = 'z' WHERE id = 'p' RETURNING *;
SELECT id FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD on_duplicate 'error');
INSERT INTO t VALUES ('a', 'taken', 1, NULL);
INSERT INTO t VALUES ('a', 'taken', 1, NULL) ON CONFLICT DO NOTHING;
BEGIN;
INSERT INTO t VALUES ('own', 'first', 1, NULL);
SAVEPOINT s;
INSERT INTO t VALUES ('own', 'second', 1, NULL);
ROLLBACK TO s;
COMMIT;
-- somebody else takes the key meanwhile
BEGIN;
INSERT INTO t VALUES ('race', 'mine', 1, NULL);
\! echo "put wc_writes:t race f:a theirs" | python3 gateway.py "$HBASE_BUFFERED"
COMMIT;
SELECT id, a FROM t WHERE id IN ('own', 'race');
ALTER FOREIGN TABLE t OPTIONS (DROP on_duplicate);

-- with heap tables, and tables of the embedded engine
CREATE TABLE heap (id text, v text);
INSERT INTO heap VALUES ('a', 'from heap'), ('a', 'twice'), ('c', 'c of heap');
UPDATE t SET b = v FROM heap WHERE heap.id = t.id AND v <> 'twice';
DELETE FROM t USING heap WHERE heap.id = t.id AND v = 'c of heap';
SELECT id, b FROM t;
CREATE FOREIGN TABLE local (id text OPTIONS (rowkey '1'), a text, n int) SERVER widecol;
BEGIN;
INSERT INTO local SELECT id, a, n FROM t;
INSERT INTO t SELECT 'copy of ' || id, a, n, NULL FROM local;
ROLLBACK;
SELECT count(*) FROM local;
SELECT count(*) FROM t WHERE id LIKE 'copy%';
BEGIN;
INSERT INTO local SELECT id, a, n FROM t;
INSERT INTO t SELECT 'copy of ' || id, a, n, NULL FROM local;
COMMIT;
SELECT count(*) FROM local;
SELECT count(*) FROM t WHERE id LIKE 'copy%';

-- many rows: several calls, several regions
CREATE FOREIGN TABLE events (id text OPTIONS (rowkey '1'), n int OPTIONS (family 'f', encoding 'binary'), pad text OPTIONS (family 'f'))
  SERVER hbase OPTIONS ("table" 'wc_writes:events');
INSERT INTO events SELECT 'row' || to_char(i, 'FM00000'), i, repeat('x', i % 300) FROM generate_series(0, 2499) i;
SELECT count(*), sum(n), sum(length(pad)) FROM events;
BEGIN;
UPDATE events SET pad = NULL WHERE n % 2 = 0;
DELETE FROM events WHERE n % 2 = 1 AND n % 5 = 0 OR n % 100 = 0;
SELECT count(*), count(pad), sum(n) FROM events;
COMMIT;
SELECT count(*), count(pad), sum(n) FROM events;

-- maps; timestamps; versions
CREATE FOREIGN TABLE maps (id int OPTIONS (rowkey '1'), m jsonb OPTIONS (family 'f'),
  p jsonb OPTIONS (family 'g', qualifier_prefix 'p_'), x text OPTIONS (family 'g'))
  SERVER hbase OPTIONS ("table" 'wc_writes:maps');
INSERT INTO maps VALUES (1, '{"a": "1", "b": "2"}', '{"p_c": "3"}', 'x'), (2, '{}', '{"p_d": "4"}', NULL);
UPDATE maps SET m = m - 'a' || '{"new": "5"}', p = '{}' WHERE id = 1;
SELECT * FROM maps;
BEGIN;
INSERT INTO maps VALUES (1, '{"only": "this"}', NULL, 'y');
UPDATE maps SET p = p || '{"p_e": "6"}' WHERE id = 2;
SELECT * FROM maps;
COMMIT;
SELECT * FROM maps;
CREATE FOREIGN TABLE stamps (id int OPTIONS (rowkey '1'), v text OPTIONS (family 'f'),
  at timestamptz OPTIONS (family 'f', qualifier 'v', attribute 'timestamp'),
  h widecol.version[] OPTIONS (family 'f', qualifier 'h')) SERVER hbase OPTIONS ("table" 'wc_writes:stamps');
SET TimeZone = 'UTC';
INSERT INTO stamps VALUES (1, 'x', '2020-01-02 03:04:05.678', ARRAY[(1000000, '3')::widecol.version, (2000000, '4')::widecol.version]);
INSERT INTO stamps VALUES (2, 'x', '2020-01-02 03:04:05.678901', NULL);
INSERT INTO stamps VALUES (2, 'now', NULL, NULL);
SELECT id, v, CASE WHEN id = 1 THEN at END AS at, at > now() - interval '1 day' AS new, h FROM stamps;
UPDATE stamps SET v = 'older', at = '2019-01-01' WHERE id = 1;
UPDATE stamps SET h = ARRAY[(3000000, '5')::widecol.version] WHERE id = 1;
SELECT id, v, at, h FROM stamps WHERE id = 1;

-- from behind, ranges of which one has no end
CREATE FOREIGN TABLE pairs (a bytea OPTIONS (rowkey '1', length '2'), b text OPTIONS (rowkey '2') COLLATE "C", x text OPTIONS (family 'f'))
  SERVER hbase OPTIONS ("table" 'wc_writes:pairs');
INSERT INTO pairs SELECT a, b, 'x' FROM unnest('{"\\x0000","\\x1234","\\xffff"}'::bytea[]) a, unnest('{b,c}'::text[]) b;
SELECT * FROM pairs WHERE a IN ('\x0000', '\xffff') ORDER BY a DESC, b DESC;

-- errors
BEGIN;
INSERT INTO t VALUES ('never', 'x', 1, NULL);
PREPARE TRANSACTION 'never';
SELECT count(*) FROM t WHERE id = 'never';
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO t VALUES ('never', 'x', 1, NULL);
ROLLBACK;
BEGIN READ ONLY;
INSERT INTO t VALUES ('never', 'x', 1, NULL);
ROLLBACK;
INSERT INTO t VALUES ('', 'x', 1, NULL);
INSERT INTO t VALUES (repeat('k', 32001), 'x', 1, NULL);
INSERT INTO t VALUES ('never', repeat('x', 10485760 - 30), 1, NULL);
SET widecol.max_transaction_size = '1MB';
INSERT INTO t SELECT 'never' || i, repeat('x', 1000), i, NULL FROM generate_series(1, 2000) i;
RESET widecol.max_transaction_size;
SELECT count(*) FROM t WHERE id LIKE 'never%';
DROP FOREIGN TABLE local;
SELECT widecol.drop_table('local');
DROP TABLE heap;
DROP FUNCTION twice, upper_a;

-- changes that are kept are sent, even if the table and the server are dropped before the commit
BEGIN;
INSERT INTO t VALUES ('parting', 'x', 1, NULL);
DROP SERVER hbase CASCADE;
COMMIT;
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1'), a text OPTIONS (family 'f')) SERVER hbase OPTIONS ("table" 'wc_writes:t');
SELECT * FROM t WHERE id = 'parting';
DROP SERVER hbase CASCADE;
