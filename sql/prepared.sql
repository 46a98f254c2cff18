-- PREPARE TRANSACTION, COMMIT PREPARED and ROLLBACK PREPARED of transactions that have written
-- to stored tables, or locked rows.  The server needs max_prepared_transactions = 2 at least.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SELECT current_setting('max_prepared_transactions')::int < 2 AS too_few \gset
\if :too_few
\quit
\endif

CREATE TABLE p_heap (k int);
CREATE FOREIGN TABLE p (k int OPTIONS (rowkey '1'), v text, n int) SERVER widecol;
INSERT INTO p SELECT i, 'v' || i, i FROM generate_series(1, 5) i;

-- all of it, or nothing, with the heap's rows; until then no session sees it
BEGIN;
INSERT INTO p VALUES (6, 'new', 6);
INSERT INTO p_heap VALUES (6);
UPDATE p SET v = 'changed' WHERE k = 1;
DELETE FROM p WHERE k = 2;
UPDATE p SET n = 30 WHERE k BETWEEN 3 AND 4;
SELECT widecol.put('p', '\x80000007', 'cf:v', 'put');
PREPARE TRANSACTION 'p1';
SELECT * FROM p ORDER BY k;
SELECT gid FROM pg_prepared_xacts WHERE database = current_database();
COMMIT PREPARED 'p1';
SELECT * FROM p ORDER BY k;
SELECT * FROM p_heap;
BEGIN;
DELETE FROM p;
DELETE FROM p_heap;
PREPARE TRANSACTION 'p1';
ROLLBACK PREPARED 'p1';
SELECT count(*), (SELECT count(*) FROM p_heap) FROM p;

-- savepoints
BEGIN;
SAVEPOINT a;
UPDATE p SET v = 'no' WHERE k = 1;
ROLLBACK TO a;
SAVEPOINT b;
UPDATE p SET v = 'yes' WHERE k = 3;
RELEASE b;
SAVEPOINT c;
UPDATE p SET v = 'neither' WHERE k = 4;
ROLLBACK TO c;
PREPARE TRANSACTION 'p1';
SET lock_timeout = '500ms';
UPDATE p SET v = 'mine' WHERE k = 4;
UPDATE p SET v = 'mine' WHERE k = 3;
COMMIT PREPARED 'p1';
SELECT k, v FROM p WHERE k IN (1, 3, 4) ORDER BY k;
BEGIN;
SAVEPOINT a;
DELETE FROM p;
ROLLBACK TO a;
PREPARE TRANSACTION 'p1';
UPDATE p SET v = 'free' WHERE k = 1;
COMMIT PREPARED 'p1';
SELECT k, v FROM p WHERE k = 1;

-- rows stay locked, also those that were only locked, in their modes
BEGIN;
SELECT k FROM p WHERE k = 1 FOR UPDATE;
SELECT k FROM p WHERE k = 3 FOR SHARE;
SELECT widecol.check('p', '\x80000004', 'cf:v', NULL);
PREPARE TRANSACTION 'p1';
UPDATE p SET v = 'waits' WHERE k = 1;
SELECT k FROM p WHERE k = 3 FOR SHARE;
SELECT k FROM p WHERE k = 3 FOR UPDATE NOWAIT;
SELECT k FROM p FOR UPDATE SKIP LOCKED;
SELECT widecol.incr('p', '\x80000004', 'cf:m');
INSERT INTO p VALUES (8, 'new', 8);
-- the holder is the prepared transaction, which has no process
SELECT mode, granted, pid FROM pg_locks JOIN pg_prepared_xacts x ON transactionid = x.transaction WHERE gid = 'p1';
ROLLBACK PREPARED 'p1';
UPDATE p SET v = 'free' WHERE k IN (1, 3, 4);
SELECT k, v FROM p WHERE k IN (1, 3, 4) ORDER BY k;

-- very many rows that were written are locked, and not their table
CREATE FOREIGN TABLE p_much (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
BEGIN;
INSERT INTO p_much SELECT i, 'v' FROM generate_series(1, 10000) i;
PREPARE TRANSACTION 'p1';
INSERT INTO p_much VALUES (20000, 'free');
INSERT INTO p_much VALUES (10000, 'waits');
COMMIT PREPARED 'p1';
INSERT INTO p_much VALUES (20000, 'free');
SELECT count(*), max(k) FROM p_much;
-- and very many rows one by one
BEGIN;
SELECT count(*) FROM (SELECT FROM p_much WHERE k <= 10000 FOR UPDATE) t;
PREPARE TRANSACTION 'p1';
SELECT k FROM p_much WHERE k IN (1, 5000, 10000, 20000) FOR UPDATE SKIP LOCKED;
ROLLBACK PREPARED 'p1';
SELECT count(*) FROM (SELECT FROM p_much FOR UPDATE) t;

-- a transaction that has failed is not prepared; a key that is prepared is taken, perhaps
CREATE FOREIGN TABLE p_once (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (on_duplicate 'error');
INSERT INTO p_once VALUES (1, 'first');
BEGIN;
INSERT INTO p_once VALUES (2, 'second'), (1, 'twice');
PREPARE TRANSACTION 'p1';
SELECT * FROM p_once;
BEGIN;
INSERT INTO p_once VALUES (2, 'second');
PREPARE TRANSACTION 'p1';
INSERT INTO p_once VALUES (2, 'too late');
COMMIT PREPARED 'p1';
INSERT INTO p_once VALUES (2, 'too late');
SELECT * FROM p_once ORDER BY k;

-- a PREPARE TRANSACTION that PostgreSQL refuses leaves no lock
BEGIN;
UPDATE p SET v = 'first' WHERE k = 1;
PREPARE TRANSACTION 'p1';
BEGIN;
UPDATE p SET v = 'second' WHERE k = 3;
PREPARE TRANSACTION 'p1';
UPDATE p SET v = 'third' WHERE k = 3;
BEGIN;
CREATE TEMP TABLE p_temp (k int);
UPDATE p SET v = 'second' WHERE k = 3;
PREPARE TRANSACTION 'p2';
UPDATE p SET v = 'third' WHERE k = 4;
COMMIT PREPARED 'p1';
COMMIT PREPARED 'p1';
SELECT k, v FROM p WHERE k IN (1, 3, 4) ORDER BY k;

-- counters
BEGIN;
SELECT widecol.incr('p', 'c', 'cf:count', 5);
SELECT widecol.append('p', 'c', 'cf:text', 'one');
PREPARE TRANSACTION 'p1';
SELECT widecol.incr('p', 'c', 'cf:count', 5);
COMMIT PREPARED 'p1';
SELECT widecol.incr('p', 'c', 'cf:count', 5);
SELECT widecol.append('p', 'c', 'cf:text', ' two');
SELECT widecol.deleteall('p', 'c');

-- two at once, one after the other
BEGIN;
UPDATE p SET n = n + 1 WHERE k = 1;
PREPARE TRANSACTION 'p1';
BEGIN;
UPDATE p SET n = n + 1 WHERE k = 3;
PREPARE TRANSACTION 'p2';
COMMIT PREPARED 'p2';
COMMIT PREPARED 'p1';
SELECT k, n FROM p WHERE k IN (1, 3) ORDER BY k;

-- stored tables that are made, changed, emptied and dropped: this session, too, continues with the
-- state before
BEGIN;
CREATE FOREIGN TABLE p_made (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO p_made VALUES (1, 'made');
SELECT widecol.create_table('p_made_too', '{"f": {}}');
PREPARE TRANSACTION 'p1';
SELECT count(*) FROM widecol.tables WHERE name IN ('p_made', 'p_made_too');
SELECT widecol.create_table('p_made', '{"f": {}}');
COMMIT PREPARED 'p1';
SELECT * FROM p_made;
SELECT name FROM widecol.tables WHERE name IN ('p_made', 'p_made_too') ORDER BY name;

BEGIN;
SELECT widecol.alter_table('p_made_too', '{"g": {}}');
TRUNCATE p_much;
INSERT INTO p_much VALUES (1, 'anew');
PREPARE TRANSACTION 'p1';
SELECT widecol.put('p_made_too', 'r', 'f:q', 'waits');
INSERT INTO p_much VALUES (2, 'waits');
ROLLBACK PREPARED 'p1';
SELECT count(*) FROM p_much;
SELECT widecol.put('p_made_too', 'r', 'g:q', 'no such family');

BEGIN;
SELECT widecol.alter_table('p_made_too', '{"g": {}}');
TRUNCATE p_much;
INSERT INTO p_much VALUES (1, 'anew');
PREPARE TRANSACTION 'p1';
COMMIT PREPARED 'p1';
SELECT * FROM p_much;
SELECT widecol.put('p_made_too', 'r', 'g:q', 'it is there');

BEGIN;
DROP FOREIGN TABLE p_made;
SELECT widecol.drop_table('p_made');
PREPARE TRANSACTION 'p1';
SELECT count(*) FROM widecol.tables WHERE name = 'p_made';
SELECT widecol.put('p_made', 'r', 'cf:v', 'waits');
COMMIT PREPARED 'p1';
SELECT count(*) FROM widecol.tables WHERE name = 'p_made';

-- prepared in one session, committed in another
BEGIN;
UPDATE p SET v = 'by another session' WHERE k = 1;
PREPARE TRANSACTION 'p1';
\c
COMMIT PREPARED 'p1';
SELECT v FROM p WHERE k = 1;

DROP FOREIGN TABLE p, p_much, p_once;
DROP TABLE p_heap;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['p', 'p_much', 'p_once', 'p_made_too']) t;
SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database();
