-- Writes and DDL follow the transaction: commit, rollback, savepoints, own
-- reads, cursors.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;

CREATE FOREIGN TABLE x (k int OPTIONS (rowkey '1'), v text, n int) SERVER widecol;
INSERT INTO x SELECT i, 'v' || i, i FROM generate_series(1, 5) i;

-- rollback
BEGIN;
INSERT INTO x VALUES (6, 'new', 6);
UPDATE x SET v = 'changed' WHERE k = 1;
DELETE FROM x WHERE k = 2;
SELECT widecol.put('x', '\x80000003', 'cf:v', 'put');
SELECT widecol.deleteall('x', '\x80000004');
SELECT * FROM x ORDER BY k;
ROLLBACK;
SELECT * FROM x ORDER BY k;

-- an error rolls back everything, earlier statements included
BEGIN;
INSERT INTO x VALUES (6, 'new', 6);
SELECT 1 / 0;
SELECT * FROM x;
COMMIT;
SELECT count(*) FROM x;
INSERT INTO x SELECT i, 'v', 1 / (10 - i) FROM generate_series(6, 12) i;
SELECT count(*) FROM x;

-- a statement that fails in the middle of many rows
BEGIN;
DELETE FROM x WHERE k <= 3;
SAVEPOINT s;
INSERT INTO x SELECT i, repeat('x', 1000), 1 / (5000 - i) FROM generate_series(6, 6000) i;
ROLLBACK TO s;
SELECT k FROM x ORDER BY k;
COMMIT;
SELECT k FROM x ORDER BY k;
INSERT INTO x SELECT i, 'v' || i, i FROM generate_series(1, 3) i;

-- savepoints
BEGIN;
INSERT INTO x VALUES (10, 'outer', 10);
SAVEPOINT a;
INSERT INTO x VALUES (11, 'a', 11);
UPDATE x SET v = 'a' WHERE k = 10;
SAVEPOINT b;
INSERT INTO x VALUES (12, 'b', 12);
DELETE FROM x WHERE k = 10;
SELECT k, v FROM x WHERE k >= 10 ORDER BY k;
ROLLBACK TO b;
SELECT k, v FROM x WHERE k >= 10 ORDER BY k;
INSERT INTO x VALUES (13, 'b again', 13);
RELEASE b;
SELECT k, v FROM x WHERE k >= 10 ORDER BY k;
ROLLBACK TO a;
SELECT k, v FROM x WHERE k >= 10 ORDER BY k;
SAVEPOINT a;
INSERT INTO x VALUES (14, 'second a', 14);
RELEASE a;
INSERT INTO x VALUES (15, 'end', 15);
ROLLBACK TO a;
SELECT k, v FROM x WHERE k >= 10 ORDER BY k;
COMMIT;
SELECT k, v FROM x WHERE k >= 10 ORDER BY k;
DELETE FROM x WHERE k >= 10;

-- deeply nested, released and rolled back in turn
BEGIN;
SAVEPOINT s1; INSERT INTO x VALUES (21, 's1', 0);
SAVEPOINT s2; INSERT INTO x VALUES (22, 's2', 0);
SAVEPOINT s3; INSERT INTO x VALUES (23, 's3', 0);
RELEASE s3;
SELECT k FROM x WHERE k > 20 ORDER BY k;
ROLLBACK TO s2;
SELECT k FROM x WHERE k > 20 ORDER BY k;
SAVEPOINT s4; INSERT INTO x VALUES (24, 's4', 0);
SAVEPOINT s5; UPDATE x SET v = 's5' WHERE k = 24;
RELEASE s4;
RELEASE s2;
SELECT k, v FROM x WHERE k > 20 ORDER BY k;
COMMIT;
SELECT k, v FROM x WHERE k > 20 ORDER BY k;
DELETE FROM x WHERE k > 20;

-- more than fits into one message, rolled back and committed
BEGIN;
INSERT INTO x SELECT i, repeat('o', 1000), i FROM generate_series(1001, 2000) i;
SAVEPOINT s;
INSERT INTO x SELECT i, repeat('s', 1000), i FROM generate_series(1501, 2500) i;
SELECT count(*), min(v) = repeat('o', 1000) AS o, max(v) = repeat('s', 1000) AS s FROM x WHERE k > 1000;
ROLLBACK TO s;
SELECT count(*), min(v) = repeat('o', 1000) AS o, max(v) = repeat('o', 1000) AS still_o FROM x WHERE k > 1000;
COMMIT;
SELECT count(*), sum(n), max(v) = repeat('o', 1000) AS o FROM x WHERE k > 1000;
BEGIN;
DELETE FROM x WHERE k > 1000;
SELECT count(*) FROM x WHERE k > 1000;
ROLLBACK;
SELECT count(*) FROM x WHERE k > 1000;
DELETE FROM x WHERE k > 1000;
-- rolled-back writes do not count for the limit
SET widecol.max_transaction_size = '1MB';
DO $$
BEGIN
  INSERT INTO x VALUES (1000, 'outer', 0);
  FOR i IN 1..5 LOOP
    BEGIN
      INSERT INTO x SELECT g, repeat('i', 1000), 0 FROM generate_series(1001, 1600) g;
      RAISE EXCEPTION 'no, of %', (SELECT count(*) FROM x WHERE k > 1000);
    EXCEPTION WHEN raise_exception THEN
      RAISE NOTICE '%', SQLERRM;
    END;
  END LOOP;
END $$;
INSERT INTO x SELECT g, repeat('i', 1000), 0 FROM generate_series(1001, 2000) g;
SELECT count(*), min(k) FROM x WHERE k >= 1000;
RESET widecol.max_transaction_size;
DELETE FROM x WHERE k >= 1000;

-- PL/pgSQL: each block with EXCEPTION is a subtransaction
CREATE FUNCTION x_try(key int, fail bool) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO x VALUES (key, 'tried', 0);
  IF fail THEN RAISE EXCEPTION 'no'; END IF;
  RETURN 'kept';
EXCEPTION WHEN raise_exception THEN
  RETURN 'taken back, rows: ' || (SELECT count(*) FROM x WHERE k = key);
END $$;
SELECT i, x_try(30 + i, i % 2 = 0) FROM generate_series(1, 4) i;
SELECT k FROM x WHERE k > 30 ORDER BY k;
DO $$
BEGIN
  FOR i IN 1..300 LOOP
    BEGIN
      INSERT INTO x VALUES (100 + i, 'loop', i);
      IF i % 3 = 0 THEN RAISE EXCEPTION 'no'; END IF;
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
  END LOOP;
END $$;
SELECT count(*), sum(n) FROM x WHERE k > 100;
DO $$
BEGIN
  UPDATE x SET n = n + 1 WHERE k = 101;
  COMMIT;
  UPDATE x SET n = n + 100 WHERE k = 101;
  ROLLBACK;
END $$;
SELECT n FROM x WHERE k = 101;
DELETE FROM x WHERE k > 30;
DROP FUNCTION x_try;

-- own writes: up to the command before
BEGIN;
INSERT INTO x VALUES (6, 'six', 6);
SELECT count(*) FROM x;
UPDATE x SET n = n * 10 WHERE v = 'six';
DELETE FROM x WHERE n = 60 RETURNING *;
SELECT count(*) FROM x;
ROLLBACK;
-- statements that feed themselves end
INSERT INTO x SELECT k + 100, v, n FROM x;
SELECT count(*) FROM x;
INSERT INTO x SELECT k, v || '!', n + 1 FROM x WHERE k > 100;
SELECT k, v, n FROM x WHERE k > 100 ORDER BY k;
UPDATE x SET k = k + 1000;
SELECT count(*), min(k), max(k) FROM x;
BEGIN;
UPDATE x SET k = k - 1000;
SELECT count(*), min(k), max(k) FROM x;
INSERT INTO x SELECT k + 10, v, n FROM x WHERE k < 10;
SELECT count(*), min(k), max(k) FROM x;
COMMIT;
SELECT count(*), min(k), max(k) FROM x;
DELETE FROM x WHERE k > 5;
-- commands within one statement: they see the state before it
WITH ins AS (INSERT INTO x VALUES (7, 'cte', 7) RETURNING k)
SELECT (SELECT count(*) FROM x) AS rows, (SELECT k FROM ins) AS k;
WITH moved AS (DELETE FROM x WHERE k = 7 RETURNING *)
INSERT INTO x SELECT 8, v, n FROM moved RETURNING *;
WITH upd AS (UPDATE x SET v = 'upd' WHERE k = 8 RETURNING v)
SELECT upd.v AS new, x.v AS old FROM upd, x WHERE k = 8;
SELECT k, v FROM x ORDER BY k;
DELETE FROM x WHERE k > 5;
-- a function's own commands see the one before; a stable one does not
CREATE FUNCTION x_count() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM x';
CREATE FUNCTION x_add(key int) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO x VALUES (key, 'added', 0);
  RETURN (SELECT count(*) FROM x);
END $$;
SELECT x_add(20 + i) AS rows, x_count() AS before FROM generate_series(1, 3) i;
SELECT x_count();
DELETE FROM x WHERE k > 5;
DROP FUNCTION x_count(), x_add(int);

-- cursors see the state of when they were opened
BEGIN;
DECLARE c CURSOR FOR SELECT k, v FROM x ORDER BY k;
FETCH 2 FROM c;
INSERT INTO x VALUES (6, 'later', 6);
UPDATE x SET v = 'later' WHERE k = 4;
DELETE FROM x WHERE k = 5;
FETCH ALL FROM c;
CLOSE c;
DECLARE c CURSOR FOR SELECT k, v FROM x ORDER BY k;
FETCH ALL FROM c;
ROLLBACK;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k FROM x ORDER BY k;
DELETE FROM x;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
FETCH FIRST FROM c;
SAVEPOINT s;
INSERT INTO x VALUES (1, 'again', 1);
FETCH NEXT FROM c;
ROLLBACK TO s;
FETCH NEXT FROM c;
ROLLBACK;
-- WITH HOLD: kept beyond the commit
BEGIN;
INSERT INTO x VALUES (6, 'held', 6);
DECLARE h CURSOR WITH HOLD FOR SELECT k, v FROM x WHERE k > 3 ORDER BY k;
FETCH 1 FROM h;
COMMIT;
DELETE FROM x WHERE k = 6;
FETCH ALL FROM h;
CLOSE h;
-- one that the transaction's own end closes
BEGIN;
DECLARE c CURSOR FOR SELECT k FROM x;
FETCH 1 FROM c;
SAVEPOINT s;
DECLARE d CURSOR FOR SELECT k FROM x ORDER BY k DESC;
FETCH 1 FROM d;
ROLLBACK TO s;
FETCH 1 FROM c;
FETCH 1 FROM d;
COMMIT;
-- WHERE CURRENT OF fails as for every foreign table
BEGIN;
DECLARE c CURSOR FOR SELECT k FROM x;
FETCH 1 FROM c;
DELETE FROM x WHERE CURRENT OF c;
ROLLBACK;
-- a loop over the rows that it changes
DO $$
DECLARE r record;
BEGIN
  FOR r IN SELECT k FROM x ORDER BY k LOOP
    INSERT INTO x VALUES (r.k + 1, 'loop', r.k) ;
    INSERT INTO x VALUES (r.k + 100, 'loop', r.k);
  END LOOP;
END $$;
SELECT * FROM x ORDER BY k;
TRUNCATE x;
INSERT INTO x SELECT i, 'v' || i, i FROM generate_series(1, 5) i;

-- DDL: creation
BEGIN;
CREATE FOREIGN TABLE x_new (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO x_new VALUES (1, 'one');
SELECT * FROM x_new;
SELECT count(*) FROM widecol.tables WHERE name = 'x_new';
ROLLBACK;
SELECT count(*) FROM widecol.tables WHERE name = 'x_new';
BEGIN;
SELECT widecol.create_namespace('x_ns');
SELECT widecol.create_table('x_ns:t', '{"cf": {}}');
SAVEPOINT s;
SELECT widecol.create_table('x_ns:u', '{"cf": {}}');
SELECT name FROM widecol.tables WHERE namespace = 'x_ns' ORDER BY name;
ROLLBACK TO s;
SELECT name FROM widecol.tables WHERE namespace = 'x_ns' ORDER BY name;
SELECT widecol.create_table('x_ns:u', '{"other": {}}');
SELECT name, families FROM widecol.tables WHERE namespace = 'x_ns' ORDER BY name;
ROLLBACK;
SELECT widecol.drop_namespace('x_ns');
-- drop
BEGIN;
SELECT widecol.drop_table('x', cascade => true);
SELECT count(*) FROM x;
ROLLBACK;
SELECT count(*) FROM x;
BEGIN;
SAVEPOINT s;
SELECT widecol.drop_table('x', cascade => true);
ROLLBACK TO s;
INSERT INTO x VALUES (6, 'still there', 6);
COMMIT;
SELECT count(*) FROM x;
-- dropped and made again: a new, empty one
BEGIN;
INSERT INTO x VALUES (7, 'goes with the table', 7);
SELECT widecol.drop_table('x', cascade => true);
SELECT widecol.create_table('x', '{"cf": {}}');
CREATE FOREIGN TABLE x (k int OPTIONS (rowkey '1'), v text, n int) SERVER widecol;
SELECT count(*) FROM x;
INSERT INTO x VALUES (8, 'new table', 8);
SELECT * FROM x;
ROLLBACK;
SELECT k FROM x ORDER BY k;
-- truncate
BEGIN;
INSERT INTO x VALUES (9, 'before', 9);
TRUNCATE x;
SELECT count(*) FROM x;
INSERT INTO x VALUES (10, 'after', 10);
SELECT * FROM x;
SAVEPOINT s;
SELECT widecol.truncate_table('x');
SELECT count(*) FROM x;
ROLLBACK TO s;
SELECT * FROM x;
ROLLBACK;
SELECT k FROM x ORDER BY k;
BEGIN;
TRUNCATE x;
INSERT INTO x VALUES (1, 'only', 1);
COMMIT;
SELECT * FROM x;
-- alter
BEGIN;
SELECT widecol.alter_table('x', '{"more": {}}');
SELECT widecol.put('x', '\x80000001', 'more:q', 'm');
SELECT count(*) FROM widecol.scan('x', columns => '{more}');
ROLLBACK;
SELECT widecol.scan('x', columns => '{more}');
BEGIN;
SELECT widecol.alter_table('x', '{"more": {}}');
SELECT widecol.put('x', '\x80000001', 'more:q', 'kept');
COMMIT;
BEGIN;
SELECT widecol.put('x', '\x80000001', 'more:q2', 'm');
SELECT widecol.alter_table('x', '{"more": null}');
SELECT family FROM widecol.describe('x');
SELECT widecol.scan('x', columns => '{more}');
ROLLBACK;
SELECT family FROM widecol.describe('x');
SELECT convert_from(value, 'UTF8') FROM widecol.scan('x', columns => '{more}');

-- triggers at the commit write too, and an error there takes all back
CREATE TABLE x_heap (k int PRIMARY KEY, v text);
CREATE FUNCTION x_copy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO x VALUES (NEW.k, NEW.v, (SELECT count(*) FROM x));
  IF NEW.v = 'bad' THEN RAISE EXCEPTION 'refused at the commit'; END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER x_copy AFTER INSERT ON x_heap DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION x_copy();
BEGIN;
INSERT INTO x_heap VALUES (50, 'fifty'), (51, 'fifty-one');
SELECT count(*) FROM x WHERE k >= 50;
COMMIT;
SELECT * FROM x WHERE k >= 50 ORDER BY k;
BEGIN;
INSERT INTO x VALUES (60, 'by hand', 60);
INSERT INTO x_heap VALUES (61, 'good'), (62, 'bad');
COMMIT;
SELECT count(*) FROM x WHERE k >= 60;
SELECT count(*) FROM x_heap WHERE k >= 60;
DROP TABLE x_heap;
DROP FUNCTION x_copy;
-- heap and foreign table together
CREATE TEMP TABLE x_log (k int UNIQUE);
BEGIN;
INSERT INTO x VALUES (70, 'with the heap', 70);
INSERT INTO x_log VALUES (70);
COMMIT;
BEGIN;
INSERT INTO x VALUES (71, 'with the heap', 71);
INSERT INTO x_log VALUES (70);
COMMIT;
SELECT k FROM x WHERE k >= 70 ORDER BY k;

-- isolation levels, alone
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM x;
INSERT INTO x VALUES (90, 'own', 90);
SELECT count(*) FROM x;
SAVEPOINT s;
DELETE FROM x;
SELECT count(*) FROM x;
ROLLBACK TO s;
SELECT count(*) FROM x;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
UPDATE x SET n = 91 WHERE k = 90;
SELECT n FROM x WHERE k = 90;
COMMIT;
SELECT n FROM x WHERE k = 90;
-- a change of the catalog writes no row, whatever has been rolled back before
BEGIN ISOLATION LEVEL SERIALIZABLE;
SAVEPOINT s;
INSERT INTO x SELECT i, repeat('x', 1000000) FROM generate_series(101, 120) i;
ROLLBACK TO s;
TRUNCATE x;
SELECT count(*) FROM x;
COMMIT;

SET client_min_messages = warning;
DROP FOREIGN TABLE x;
SELECT widecol.drop_table('x');
SELECT count(*) FROM widecol.tables WHERE name LIKE 'x%';

-- a rule's queries have one snapshot, whatever a subtransaction of a function of the first
-- one has given up
CREATE FOREIGN TABLE x (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO x SELECT i, i FROM generate_series(1, 100) i;
CREATE TABLE x_first (i int);
CREATE TABLE x_second (i int, n bigint);
CREATE RULE x_rule AS ON INSERT TO x_first DO ALSO INSERT INTO x_second SELECT new.i, (SELECT count(*) FROM x);
CREATE FUNCTION x_caught(x int) RETURNS int STABLE LANGUAGE plpgsql AS $$
DECLARE
	s int;
BEGIN
	BEGIN
		SELECT sum(1 / (v - 50)) INTO s FROM x;
	EXCEPTION WHEN division_by_zero THEN
		s := -x;
	END;
	RETURN s;
END $$;
INSERT INTO x_first SELECT x_caught(i) FROM generate_series(1, 2) i;
SELECT * FROM x_first ORDER BY i;
SELECT * FROM x_second ORDER BY i;
DROP TABLE x_first, x_second;
DROP FUNCTION x_caught;
DROP FOREIGN TABLE x;
SELECT widecol.drop_table('x');

-- a SERIALIZABLE transaction that has failed takes no snapshot when it ends
SET default_transaction_isolation = 'serializable';
BEGIN;
SELECT 1 / 0;
ROLLBACK;
SHOW work_mem;
BEGIN;
SELECT 1 / 0;
ROLLBACK AND CHAIN;
SELECT 1 / 0;
ROLLBACK;
SHOW work_mem;
RESET default_transaction_isolation;
