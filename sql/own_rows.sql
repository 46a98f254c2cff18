-- A transaction reads and changes rows again that it has locked and changed before.  The session answers what it knows itself; each
-- answer must be the one that the engine would give, and that is seen after the commit.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA own_rows;
SET search_path = own_rows, public;
CREATE FOREIGN TABLE own_t (k text OPTIONS (rowkey '1'), v text, w text, x text) SERVER widecol;
CREATE FOREIGN TABLE own_two (k text OPTIONS (rowkey '1'), v text, w text OPTIONS (family 'second')) SERVER widecol;
CREATE FOREIGN TABLE own_short (k text OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (families '{"cf": {"ttl": 3600}}');
INSERT INTO own_t SELECT 'r' || i, 'v' || i, 'w' || i FROM generate_series(1, 5) i;
INSERT INTO own_two VALUES ('r1', 'v', 'w'), ('r2', 'v', NULL);
INSERT INTO own_short VALUES ('r1', 'v');

-- other columns than were read before, a column that had no value, one that has none any more
BEGIN;
UPDATE own_t SET v = v || '+' WHERE k = 'r1';
SELECT v FROM own_t WHERE k = 'r1';
SELECT * FROM own_t WHERE k = 'r1';
UPDATE own_t SET x = v, v = v || w WHERE k = 'r1' RETURNING *;
SELECT * FROM own_t WHERE k = 'r1';
SELECT x, v FROM own_t WHERE k = 'r1';
UPDATE own_t SET w = 'constant' WHERE k = 'r1';
SELECT w, x FROM own_t WHERE k = 'r1';
SELECT count(*) FROM own_t WHERE k = 'r1';
UPDATE own_t SET w = NULL WHERE k = 'r1';
SELECT * FROM own_t WHERE k = 'r1';
UPDATE own_t SET v = coalesce(w, 'none') WHERE k = 'r1';
SELECT * FROM own_t WHERE k = 'r1' AND v = 'none';
SELECT * FROM own_t WHERE k = 'r1' AND v = 'some';
COMMIT;
SELECT * FROM own_t WHERE k = 'r1';

-- the same rows in one statement: each part sees the state before
BEGIN;
UPDATE own_t SET v = v || '+' WHERE k = 'r2';
WITH u AS (UPDATE own_t SET v = v || '+' WHERE k = 'r2' RETURNING v) SELECT u.v, t.v FROM u, own_t t WHERE t.k = 'r2';
SELECT v FROM own_t WHERE k = 'r2';
DECLARE c CURSOR FOR SELECT t.v FROM generate_series(1, 3) g, LATERAL (SELECT v FROM own_t WHERE k = 'r' || (g % 2 + 2)) t;
FETCH 1 FROM c;
UPDATE own_t SET v = v || 'later' WHERE k = 'r2';
FETCH 2 FROM c;
CLOSE c;
SELECT v FROM own_t WHERE k = 'r2';
ROLLBACK;

-- savepoints
BEGIN;
UPDATE own_t SET v = v || 'a' WHERE k = 'r3';
SAVEPOINT s;
UPDATE own_t SET v = v || 'b' WHERE k = 'r3' RETURNING v;
SELECT v FROM own_t WHERE k = 'r3';
ROLLBACK TO s;
SELECT v FROM own_t WHERE k = 'r3';
UPDATE own_t SET v = v || 'c' WHERE k = 'r3' RETURNING v;
SAVEPOINT s;
UPDATE own_t SET v = v || 'd' WHERE k = 'r3';
RELEASE s;
SELECT v FROM own_t WHERE k = 'r3';
COMMIT;
SELECT v FROM own_t WHERE k = 'r3';

-- deleted, inserted again, moved
BEGIN;
UPDATE own_t SET v = v || 'a', x = 'x' WHERE k = 'r4';
DELETE FROM own_t WHERE k = 'r4';
SELECT * FROM own_t WHERE k = 'r4';
UPDATE own_t SET v = v || 'b' WHERE k = 'r4' RETURNING v;
INSERT INTO own_t VALUES ('r4', 'new');
SELECT * FROM own_t WHERE k = 'r4';
UPDATE own_t SET w = v || 'er' WHERE k = 'r4';
SELECT * FROM own_t WHERE k = 'r4';
UPDATE own_t SET v = v || 'a' WHERE k = 'r5';
UPDATE own_t SET k = 'r6', v = v || 'b' WHERE k = 'r5';
SELECT * FROM own_t WHERE k IN ('r5', 'r6');
SELECT * FROM own_t WHERE k = 'r5';
SELECT * FROM own_t WHERE k = 'r6';
UPDATE own_t SET v = 'all' WHERE k > 'r3';
SELECT * FROM own_t WHERE k = 'r4';
ROLLBACK;

-- cells of later times, and delete markers of later times, hide what is written now
SELECT widecol.put('own_t', 'f1', 'cf:v', 'future', 4000000000000000), widecol.put('own_t', 'f1', 'cf:w', 'now'),
       widecol.put('own_t', 'f2', 'cf:w', 'now'), widecol.delete('own_t', 'f2', 'cf:v', 4000000000000000),
       widecol.put('own_t', 'f3', 'cf:w', 'far', 4000000000000002), widecol.delete_family('own_t', 'f3', 'cf', 4000000000000001);
BEGIN;
UPDATE own_t SET v = w || '+' WHERE k = 'f1';
SELECT v, w FROM own_t WHERE k = 'f1';
UPDATE own_t SET v = w || '+' WHERE k = 'f2';
SELECT v, w FROM own_t WHERE k = 'f2';
UPDATE own_t SET v = w || '+' WHERE k = 'f3';
SELECT v, w FROM own_t WHERE k = 'f3';
UPDATE own_t SET x = coalesce(v, 'none') WHERE k IN ('f1', 'f2', 'f3');
COMMIT;
SELECT k, v, w, x FROM own_t WHERE k LIKE 'f%' ORDER BY k;
SELECT widecol.put('own_two', 'm', 'cf:v', 'v'), widecol.delete_family('own_two', 'm', 'second', 4000000000000000);
BEGIN;
UPDATE own_two SET w = v || '+' WHERE k = 'm';
SELECT * FROM own_two WHERE k = 'm';
COMMIT;
SELECT * FROM own_two WHERE k = 'm';

-- two families, one of them without a cell
BEGIN;
UPDATE own_two SET v = coalesce(w, '') || '+' WHERE k IN ('r1', 'r2');
UPDATE own_two SET v = v || '+' WHERE k = 'r1';
UPDATE own_two SET w = coalesce(w, v) WHERE k = 'r2';
SELECT * FROM own_two WHERE k = 'r1';
SELECT * FROM own_two WHERE k = 'r2';
SELECT w FROM own_two WHERE k = 'r2';
COMMIT;
SELECT * FROM own_two WHERE k = 'r2';

-- changes by functions: cells with timestamps, deletes, counters
BEGIN;
UPDATE own_t SET v = v || '+' WHERE k = 'r2';
SELECT widecol.put('own_t', 'r2', 'cf:v', 'old', 1);
SELECT v FROM own_t WHERE k = 'r2';
SELECT widecol.put('own_t', 'r2', 'cf:v', 'put');
SELECT v FROM own_t WHERE k = 'r2';
UPDATE own_t SET v = v || '+' WHERE k = 'r2';
SELECT widecol.append('own_t', 'r2', 'cf:v', '!');
SELECT v FROM own_t WHERE k = 'r2';
UPDATE own_t SET v = v || '+' WHERE k = 'r2' RETURNING v;
SELECT widecol.delete('own_t', 'r2', 'cf:v');
SELECT v, w FROM own_t WHERE k = 'r2';
UPDATE own_t SET v = v || '+', w = w || '+' WHERE k = 'r2' RETURNING v, w;
SELECT widecol.incr('own_t', 'r2', 'cf:n');
SELECT v, w FROM own_t WHERE k = 'r2';
COMMIT;
SELECT v, w FROM own_t WHERE k = 'r2';

-- a cell that expires
BEGIN;
UPDATE own_short SET v = v || '+' WHERE k = 'r1';
SELECT v FROM own_short WHERE k = 'r1';
UPDATE own_t SET v = w || '+' WHERE k = 'r2';
SELECT widecol.put('own_t', 'r2', 'cf:v', 'gone', ttl => interval '1 hour');
SELECT v FROM own_t WHERE k = 'r2';
COMMIT;

-- another foreign table of the same stored table; the table emptied, and filled again
CREATE FOREIGN TABLE own_other (k text OPTIONS (rowkey '1'), v text, x text) SERVER widecol OPTIONS ("table" 'own_t');
BEGIN;
UPDATE own_t SET v = w || '+' WHERE k = 'r2';
SELECT * FROM own_other WHERE k = 'r2';
UPDATE own_other SET x = v || '+' WHERE k = 'r2';
SELECT * FROM own_t WHERE k = 'r2';
TRUNCATE own_t;
SELECT * FROM own_t WHERE k = 'r2';
INSERT INTO own_t VALUES ('r2', 'again');
UPDATE own_t SET v = v || '+' WHERE k = 'r2';
SELECT * FROM own_t WHERE k = 'r2';
ROLLBACK;

-- rows that INSERT makes, whatever was there before
BEGIN;
DECLARE c CURSOR FOR SELECT t.* FROM generate_series(1, 2) g, LATERAL (SELECT * FROM own_t WHERE k = 'i' || g) t;
INSERT INTO own_t VALUES ('i1', 'v', NULL, 'x');
SELECT * FROM own_t WHERE k = 'i1';
SELECT x, w FROM own_t WHERE k = 'i1';
SELECT * FROM own_other WHERE k = 'i1';
FETCH ALL FROM c;
INSERT INTO own_t (k, w) VALUES ('i1', 'w');
SELECT * FROM own_t WHERE k = 'i1';
UPDATE own_t SET v = w || '+', w = NULL WHERE k = 'i1' RETURNING *;
SELECT * FROM own_t WHERE k = 'i1';
SAVEPOINT s;
INSERT INTO own_t VALUES ('i1', 'later'), ('i2', 'later');
SELECT * FROM own_t WHERE k = 'i1';
ROLLBACK TO s;
SELECT * FROM own_t WHERE k = 'i1';
SELECT * FROM own_t WHERE k = 'i2';
INSERT INTO own_t VALUES ('i1'), ('i2');
SELECT * FROM own_t WHERE k = 'i1';
WITH i AS (INSERT INTO own_t VALUES ('i2', 'with') RETURNING v) SELECT i.v, t.v FROM i, own_t t WHERE t.k = 'i2';
SELECT widecol.delete('own_t', 'i2', 'cf:v');
SELECT * FROM own_t WHERE k = 'i2';
DELETE FROM own_t WHERE k = 'i1';
SELECT * FROM own_t WHERE k = 'i1';
COMMIT;
SELECT * FROM own_t WHERE k IN ('i1', 'i2');
BEGIN;
INSERT INTO own_two VALUES ('i1', NULL, 'w'), ('i2', 'v', NULL), ('i3', NULL, NULL);
SELECT * FROM own_two WHERE k = 'i1';
SELECT * FROM own_two WHERE k = 'i2';
SELECT * FROM own_two WHERE k = 'i3';
SELECT w FROM own_two WHERE k = 'i2';
COMMIT;
SELECT * FROM own_two WHERE k LIKE 'i%';
INSERT INTO own_short VALUES ('i1', 'v');
SELECT v FROM own_short WHERE k = 'i1';

-- rows that are read as soon as they are inserted: also where cells and delete markers have later times, which may just have been committed
CREATE PROCEDURE insert_and_read() LANGUAGE plpgsql AS $$
DECLARE
	read text[];
	t text;
BEGIN
	FOR i IN 1 .. 20 LOOP
		t := 'own_ahead' || i;
		EXECUTE format('CREATE FOREIGN TABLE %I (k text OPTIONS (rowkey ''1''), v text, w text) SERVER widecol', t);
		EXECUTE format('INSERT INTO %I VALUES (''r'', ''old'')', t);
		COMMIT;
		EXECUTE format('INSERT INTO %I VALUES (''r'', NULL, ''new'')', t);
		COMMIT;
		EXECUTE format('SELECT ARRAY[v, w] FROM %I WHERE k = ''r''', t) INTO read;
		ASSERT read = '{NULL,new}', format('%s: %s', t, read);
		IF i % 2 = 0 THEN
			PERFORM widecol.put(t, 'r', 'cf:v', 'future', 4000000000000000);
		ELSE
			PERFORM widecol.delete(t, 'r', 'cf:v', 4000000000000000);
		END IF;
		COMMIT;
		EXECUTE format('INSERT INTO %I VALUES (''r'', ''newer'')', t);
		EXECUTE format('SELECT ARRAY[v, w] FROM %I WHERE k = ''r''', t) INTO read;
		ASSERT read IS NOT DISTINCT FROM CASE i % 2 WHEN 0 THEN '{future,NULL}'::text[] END, format('%s, as the transaction sees it: %s', t, read);
		COMMIT;
		FOR n IN 1 .. 2 LOOP
			EXECUTE format('SELECT ARRAY[v, w] FROM %I WHERE k = ''r''', t) INTO read;
			ASSERT read IS NOT DISTINCT FROM CASE i % 2 WHEN 0 THEN '{future,NULL}'::text[] END, format('%s: %s', t, read);
			PERFORM pg_sleep(0.01 * n);
			EXECUTE format('INSERT INTO %I VALUES (''r'', ''newest'')', t);
			COMMIT;
		END LOOP;
		EXECUTE format('DROP FOREIGN TABLE %I', t);
		PERFORM widecol.drop_table(t);
		COMMIT;
	END LOOP;
	FOR i IN 1 .. 20 LOOP
		t := 'own_ahead' || i;
		EXECUTE format('CREATE FOREIGN TABLE %I (k text OPTIONS (rowkey ''1''), v text, w text) SERVER widecol', t);
		COMMIT;
		-- in the same transaction
		IF i % 2 = 0 THEN
			PERFORM widecol.put(t, 'r', 'cf:v', 'future', 4000000000000000);
		ELSE
			PERFORM widecol.delete(t, 'r', 'cf:v', 4000000000000000);
		END IF;
		EXECUTE format('INSERT INTO %I VALUES (''r'', ''new'')', t);
		FOR n IN 1 .. 2 LOOP
			EXECUTE format('SELECT ARRAY[v, w] FROM %I WHERE k = ''r''', t) INTO read;
			ASSERT read IS NOT DISTINCT FROM CASE i % 2 WHEN 0 THEN '{future,NULL}'::text[] END, format('%s: %s', t, read);
			COMMIT;
		END LOOP;
		EXECUTE format('DROP FOREIGN TABLE %I', t);
		PERFORM widecol.drop_table(t);
		COMMIT;
	END LOOP;
END $$;
CALL insert_and_read();

-- more rows than the session remembers, each changed three times
BEGIN;
DO $$
BEGIN
	INSERT INTO own_t SELECT 'm' || i, '0' FROM generate_series(100, 199) i;
	FOR pass IN 1 .. 3 LOOP
		FOR i IN 100 .. 199 LOOP
			UPDATE own_t SET v = (v::int + i)::text WHERE k = 'm' || i;
			PERFORM FROM own_t WHERE k = 'm' || i AND v = (pass * i)::text;
			IF NOT FOUND THEN
				RAISE 'row m% is not what it should be', i;
			END IF;
		END LOOP;
	END LOOP;
END $$;
COMMIT;
SELECT count(*), sum(v::int) FROM own_t WHERE k LIKE 'm%';

-- a row that is gone is not changed, and not deleted again
BEGIN;
SELECT * FROM own_t WHERE k = 'm101' FOR UPDATE;
DELETE FROM own_t WHERE k = 'm101';
UPDATE own_t SET w = 'constant' WHERE k = 'm101';
DELETE FROM own_t WHERE k = 'm101';
DELETE FROM own_t WHERE k = 'm102' RETURNING v;
UPDATE own_t SET w = 'constant' WHERE k = 'm102';
UPDATE own_t SET w = v || '+' WHERE k = 'm102';
COMMIT;
SELECT * FROM own_t WHERE k IN ('m101', 'm102');

-- what a rollback has taken back is not sent to the engine, and the changes behind it are known
SELECT * FROM own_t WHERE k = 'm103';
BEGIN;
SAVEPOINT s;
INSERT INTO own_t VALUES ('n', 'new');
SELECT count(*) FROM own_t WHERE k >= 'm';
ROLLBACK TO s;
RELEASE s;
SELECT * FROM own_t WHERE k = 'm103' FOR UPDATE;
UPDATE own_t SET w = 'constant' WHERE k = 'm103';
SELECT * FROM own_t WHERE k = 'm103';
INSERT INTO own_t SELECT 'n', v, w FROM own_t WHERE k = 'm103';
UPDATE own_t SET w = w || '+' WHERE k = 'm103' RETURNING *;
SELECT * FROM own_t WHERE k = 'm103';
DELETE FROM own_t WHERE k = 'm103';
SELECT * FROM own_t WHERE k = 'm103';
COMMIT;
SELECT * FROM own_t WHERE k IN ('m103', 'n');

-- a family that was added later, and comes first
CREATE FOREIGN TABLE own_added (k text OPTIONS (rowkey '1'), v text OPTIONS (family 'm')) SERVER widecol;
ALTER FOREIGN TABLE own_added ADD COLUMN e text;
ALTER FOREIGN TABLE own_added ADD COLUMN f text OPTIONS (family 'm');
INSERT INTO own_added VALUES ('a', 'old', 'e', 'f'), ('b', NULL, 'e', NULL);
BEGIN;
SELECT * FROM own_added WHERE k = 'a' FOR UPDATE;
UPDATE own_added SET v = 'new' WHERE k = 'a';
SELECT * FROM own_added WHERE k = 'a';
UPDATE own_added SET e = 'new', f = 'new' WHERE k = 'a';
SELECT * FROM own_added WHERE k = 'a';
SELECT * FROM own_added WHERE k = 'b' FOR UPDATE;
UPDATE own_added SET f = 'new', v = 'new' WHERE k = 'b';
SELECT * FROM own_added WHERE k = 'b';
COMMIT;
SELECT * FROM own_added WHERE k = 'a';
SELECT * FROM own_added WHERE k = 'b';

-- random statements on single rows, beside a heap table that gets the same
CREATE TABLE own_heap (k text PRIMARY KEY, v int, w text, x text);
CREATE FOREIGN TABLE own_one_family (k text OPTIONS (rowkey '1'), v int, w text, x text) SERVER widecol;
CREATE FOREIGN TABLE own_two_families (k text OPTIONS (rowkey '1'), v int, w text, x text OPTIONS (family 'second')) SERVER widecol;
CREATE FUNCTION on_both(name text, statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	heap own_heap[];
	stored own_heap[];
	nheap bigint;
	nstored bigint;
BEGIN
	IF statement LIKE 'SELECT%' THEN
		EXECUTE format('SELECT array_agg((k, v, w, x)::own_heap ORDER BY k) FROM (' || statement || ') q', 'own_heap') INTO heap;
		EXECUTE format('SELECT array_agg((k, v, w, x)::own_heap ORDER BY k) FROM (' || statement || ') q', name) INTO stored;
	ELSE
		EXECUTE format(statement, 'own_heap');
		GET DIAGNOSTICS nheap = ROW_COUNT;
		EXECUTE format(statement, name);
		GET DIAGNOSTICS nstored = ROW_COUNT;
	END IF;
	IF heap IS DISTINCT FROM stored OR nheap IS DISTINCT FROM nstored THEN
		RAISE '%: % % beside % %', statement, nstored, stored, nheap, heap;
	END IF;
	RETURN coalesce(nheap, 0);
END $$;
CREATE FUNCTION random_statement(k text) RETURNS text LANGUAGE sql AS $$
	SELECT format((ARRAY['SELECT * FROM %%I WHERE k = %1$L', 'SELECT * FROM %%I WHERE k = %1$L FOR UPDATE',
		'SELECT * FROM %%I WHERE k = %1$L FOR NO KEY UPDATE', 'SELECT k, v, NULL AS w, NULL AS x FROM %%I WHERE k = %1$L',
		'UPDATE %%I SET v = %2$s WHERE k = %1$L', 'UPDATE %%I SET v = v + 1 WHERE k = %1$L', 'UPDATE %%I SET w = %2$L WHERE k = %1$L',
		'UPDATE %%I SET w = NULL, v = 1 WHERE k = %1$L', 'UPDATE %%I SET x = w || v WHERE k = %1$L', 'UPDATE %%I SET x = %2$L WHERE k = %1$L',
		'DELETE FROM %%I WHERE k = %1$L', 'SELECT * FROM %%1$I WHERE k >= %1$L',
		'INSERT INTO %%1$I SELECT %1$L, %2$s, ''new'' WHERE NOT EXISTS (SELECT FROM %%1$I WHERE k = %1$L)'])[1 + floor(random() * 13)::int],
		k, floor(random() * 100))
$$;
CREATE PROCEDURE run(name text) LANGUAGE plpgsql AS $$
DECLARE
	changed bigint := 0;
BEGIN
	FOR i IN 1 .. 600 LOOP
		FOR n IN 1 .. 1 + floor(random() * 6)::int LOOP
			changed := changed + on_both(name, random_statement('r' || floor(random() * 3)::int));
		END LOOP;
		BEGIN
			FOR n IN 1 .. floor(random() * 4)::int LOOP
				changed := changed + on_both(name, random_statement('r' || floor(random() * 3)::int));
			END LOOP;
			IF random() < 0.5 THEN
				RAISE division_by_zero;
			END IF;
		EXCEPTION WHEN division_by_zero THEN
			NULL;
		END;
		FOR n IN 1 .. floor(random() * 4)::int LOOP
			changed := changed + on_both(name, random_statement('r' || floor(random() * 3)::int));
		END LOOP;
		IF random() < 0.2 THEN
			ROLLBACK;
		ELSE
			COMMIT;
		END IF;
	END LOOP;
	IF changed < 500 THEN
		RAISE 'only % rows were changed', changed;
	END IF;
END $$;
SELECT setseed(0.5);
CALL run('own_one_family');
SELECT * FROM own_heap EXCEPT SELECT * FROM own_one_family;
SELECT * FROM own_one_family EXCEPT SELECT * FROM own_heap;
DELETE FROM own_heap;
CALL run('own_two_families');
SELECT * FROM own_heap EXCEPT SELECT * FROM own_two_families;
SELECT * FROM own_two_families EXCEPT SELECT * FROM own_heap;

-- above READ COMMITTED
BEGIN ISOLATION LEVEL REPEATABLE READ;
UPDATE own_t SET v = v || '+' WHERE k = 'm100' RETURNING v;
SELECT v FROM own_t WHERE k = 'm100';
UPDATE own_t SET v = v || '+' WHERE k = 'm100' RETURNING v;
COMMIT;
SELECT v FROM own_t WHERE k = 'm100';

DROP SCHEMA own_rows CASCADE;
SELECT count(widecol.drop_table(t)) FROM unnest('{own_t,own_two,own_short,own_one_family,own_two_families,own_added}'::text[]) t;
