--
-- Pages and short ranges are read from shared memory (widecol.range_cache_size), once the engine has put their rows there.  A heap
-- table says what they have to be.
--
\set VERBOSITY terse
SET widecol.debug_clock_offset = 0;
CREATE FOREIGN TABLE rc (a text OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), v int, t text) SERVER widecol
	OPTIONS (families '{"cf": {"versions": 2}}');
CREATE TABLE rc_heap (a text COLLATE "C", b int, v int, t text, PRIMARY KEY (a, b));
INSERT INTO rc_heap SELECT chr(97 + i % 5), i / 5 * 3, i, repeat('x', i % 200) FROM generate_series(0, 1999) i;
INSERT INTO rc SELECT * FROM rc_heap;

-- 1: the query does not give the same rows, in the same order, of the heap table
CREATE FUNCTION rc_differs(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	x text;
	y text;
BEGIN
	EXECUTE 'SELECT array_agg(p)::text FROM (' || query || ') p' INTO x;
	EXECUTE 'SELECT array_agg(p)::text FROM (' || replace(query, ' rc ', ' rc_heap ') || ') p' INTO y;
	RETURN (x IS DISTINCT FROM y)::int;
END $$;

BEGIN;
DELETE FROM rc_heap WHERE a = 'b' AND b = 300;
SELECT rc_differs('SELECT * FROM rc WHERE a = ''b'' AND b < 310 ORDER BY b') AS different;
ROLLBACK;

-- as many pages of both tables as are read, forward and backward, are the same
CREATE FUNCTION rc_pages(n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	bad int := 0;
	key text;
	number int;
	size int;
BEGIN
	FOR i IN 1 .. n LOOP
		key := chr(96 + (random() * 6)::int);
		number := (random() * 1300)::int - 50;
		size := 1 + (random() * 40)::int;
		bad := bad + rc_differs(format('SELECT * FROM rc WHERE (a, b) >= (%L, %s) ORDER BY a, b LIMIT %s', key, number, size))
			+ rc_differs(format('SELECT * FROM rc WHERE a = %L AND b < %s ORDER BY b DESC LIMIT %s', key, number, size))
			+ rc_differs(format('SELECT * FROM rc WHERE a = %L AND b BETWEEN %s AND %s ORDER BY b', key, number, number + size));
	END LOOP;
	RETURN bad;
END $$;

-- repeats the query until shared memory has its rows
CREATE PROCEDURE rc_await(query text) LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
BEGIN
	FOR i IN 1 .. 600 LOOP
		SELECT get_cache_misses INTO before FROM widecol.pg_stat_widecol;
		EXECUTE query;
		IF (SELECT get_cache_misses FROM widecol.pg_stat_widecol) = before THEN
			RAISE NOTICE 'found';
			RETURN;
		END IF;
		PERFORM pg_sleep(0.1);
	END LOOP;
END $$;

-- the engine puts rows there when a session leaves it the time
ANALYZE rc;
DO $$
DECLARE
	before bigint;
BEGIN
	FOR i IN 1 .. 600 LOOP
		SELECT get_cache_hits INTO before FROM widecol.pg_stat_widecol;
		FOR j IN 1 .. 100 LOOP
			PERFORM FROM rc WHERE (a, b) > ('b', j * 10) ORDER BY a, b LIMIT 10;
			PERFORM FROM rc WHERE (a, b) < ('d', j * 10) ORDER BY a DESC, b DESC LIMIT 10;
		END LOOP;
		IF (SELECT get_cache_hits FROM widecol.pg_stat_widecol) - before > 180 THEN
			RAISE NOTICE 'most are found';
			RETURN;
		END IF;
		PERFORM pg_sleep(0.1);
	END LOOP;
END $$;
SELECT setseed(0.5) IS NULL AS seed;
SELECT rc_pages(200) AS different;

-- rows are written between them: single ones, some at once, many; by one transaction, or one that is rolled back
CREATE PROCEDURE rc_change(n int) LANGUAGE plpgsql AS $$
DECLARE
	bad int := 0;
	key text;
	number int;
	name text;
BEGIN
	FOR i IN 1 .. n LOOP
		key := chr(96 + (random() * 6)::int);
		number := (random() * 1300)::int - 50;
		FOREACH name IN ARRAY ARRAY['rc', 'rc_heap'] LOOP
			CASE i % 5
				WHEN 0 THEN
					EXECUTE format('DELETE FROM %I WHERE a = $1 AND b = $2', name) USING key, number;
					EXECUTE format('INSERT INTO %I VALUES ($1, $2, $3, ''new'')', name) USING key, number, i;
				WHEN 1 THEN EXECUTE format('UPDATE %I SET v = $3 WHERE a = $1 AND b BETWEEN $2 AND $2 + 6', name) USING key, number, -i;
				WHEN 2 THEN EXECUTE format('DELETE FROM %I WHERE a = $1 AND b BETWEEN $2 AND $2 + 3', name) USING key, number;
				WHEN 3 THEN EXECUTE format('UPDATE %I SET t = NULL WHERE b = $1', name) USING number;
				ELSE NULL;
			END CASE;
		END LOOP;
		bad := bad + rc_pages(1);		-- own writes
		IF i % 7 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
		IF i % 3 > 0 THEN						-- then pages may take the rows from these answers
			FOR k IN number .. number + 6 LOOP
				bad := bad + rc_differs(format('SELECT * FROM rc WHERE a = %L AND b = %s', key, k));
			END LOOP;
		END IF;
		bad := bad + rc_differs(format('SELECT * FROM rc WHERE (a, b) >= (%L, %s) ORDER BY a, b LIMIT 20', key, number - 20));
		bad := bad + rc_pages(2);
		COMMIT;
	END LOOP;
	RAISE NOTICE 'different: %', bad;
END $$;
CALL rc_change(200);
SELECT count(*) = (SELECT count(*) FROM rc_heap) AS same FROM rc;

-- A row that has been written, or deleted, is taken from the answer to a read by its key: its pages are found again without the engine.
SELECT a, b, v, left(t, 7) AS t FROM rc WHERE (a, b) >= ('b', 300) ORDER BY a, b LIMIT 3;
CALL rc_await('SELECT * FROM rc WHERE (a, b) >= (''b'', 300) ORDER BY a, b LIMIT 3');
UPDATE rc SET v = 303, t = 'written' WHERE a = 'b' AND b = 303;
DELETE FROM rc WHERE a = 'b' AND b = 300;
SELECT a, b, v, left(t, 7) AS t FROM rc WHERE a = 'b' AND b = 303;
SELECT a, b, v, left(t, 7) AS t FROM rc WHERE a = 'b' AND b = 300;
SELECT get_cache_misses AS misses FROM widecol.pg_stat_widecol \gset
SELECT a, b, v, left(t, 7) AS t FROM rc WHERE (a, b) >= ('b', 300) ORDER BY a, b LIMIT 3;
SELECT a, b, v, left(t, 7) AS t FROM rc WHERE (a, b) < ('b', 307) ORDER BY a DESC, b DESC LIMIT 1;
SELECT get_cache_misses - :misses AS new_misses FROM widecol.pg_stat_widecol;
UPDATE rc_heap SET v = 303, t = 'written' WHERE a = 'b' AND b = 303;
DELETE FROM rc_heap WHERE a = 'b' AND b = 300;

-- a transaction goes on to see what it has seen
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT a, b FROM rc WHERE (a, b) > ('c', 100) ORDER BY a, b LIMIT 2;
SELECT rc_pages(5) AS different;
COMMIT;

-- many rows at once, and all rows
BEGIN;
UPDATE rc SET v = v + 1;
UPDATE rc_heap SET v = v + 1;
COMMIT;
SELECT rc_pages(20) AS different;
TRUNCATE rc;
SELECT * FROM rc WHERE (a, b) > ('c', 100) ORDER BY a, b LIMIT 2;
INSERT INTO rc SELECT * FROM rc_heap;
SELECT rc_pages(50) AS different;

-- a flush, and a compaction that drops cells
SELECT widecol.flush('rc');
SELECT widecol.major_compact('rc');
SELECT rc_pages(50) AS different;

-- cells that end by themselves
CREATE FOREIGN TABLE rc_ttl (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO rc_ttl SELECT i, i FROM generate_series(1, 5) i;
SELECT widecol.put('rc_ttl', '\x80000002', 'cf:v', '\x00000016', ttl => '10 s');
SELECT * FROM rc_ttl WHERE k > 0 ORDER BY k LIMIT 3;
SELECT * FROM rc_ttl WHERE k > 0 ORDER BY k LIMIT 3;
SET widecol.debug_clock_offset = '11 s';
SELECT * FROM rc_ttl WHERE k > 0 ORDER BY k LIMIT 3;
SET widecol.debug_clock_offset = 0;
SELECT * FROM rc_ttl WHERE k > 0 ORDER BY k LIMIT 3;
SELECT * FROM rc_ttl WHERE k < 4 ORDER BY k DESC LIMIT 2;

-- as of a time; other columns; without values
SET widecol.read_timestamp = '1000000000000000';
SELECT * FROM rc_ttl WHERE k > 0 ORDER BY k LIMIT 3;
RESET widecol.read_timestamp;
SELECT k FROM rc_ttl WHERE k > 0 ORDER BY k LIMIT 3;
SELECT v FROM rc_ttl WHERE k > 0 ORDER BY k LIMIT 3;

-- a family's versions, and time to live
SELECT widecol.alter_table('rc_ttl', '{"cf": {"ttl": "1 hour"}}');
SELECT * FROM rc_ttl WHERE k > 0 ORDER BY k LIMIT 3;
SET widecol.debug_clock_offset = '2 h';
SELECT * FROM rc_ttl WHERE k > 0 ORDER BY k LIMIT 3;
SET widecol.debug_clock_offset = 0;

-- dropped, and made anew by the same name
DROP FOREIGN TABLE rc_ttl;
SELECT widecol.drop_table('rc_ttl');
CREATE FOREIGN TABLE rc_ttl (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
SELECT * FROM rc_ttl WHERE k > 0 ORDER BY k LIMIT 3;
INSERT INTO rc_ttl VALUES (7, 7);
SELECT * FROM rc_ttl WHERE k > 0 ORDER BY k LIMIT 3;

-- maps, and rows that are too large to be kept
CREATE FOREIGN TABLE rc_map (k int OPTIONS (rowkey '1'), d jsonb OPTIONS (family 'd')) SERVER widecol;
INSERT INTO rc_map SELECT i, jsonb_build_object('a', i::text, 'b', repeat('b', i * 30000)) FROM generate_series(1, 6) i;
SELECT k, d ->> 'a' AS a, length(d ->> 'b') AS b FROM rc_map WHERE k >= 1 ORDER BY k LIMIT 4;
SELECT k, d ->> 'a' AS a, length(d ->> 'b') AS b FROM rc_map WHERE k >= 1 ORDER BY k LIMIT 4;
UPDATE rc_map SET d = d || '{"c": "3"}' WHERE k = 2;
SELECT k, d ->> 'a' AS a, d ->> 'c' AS c, length(d ->> 'b') AS b FROM rc_map WHERE k >= 1 ORDER BY k LIMIT 2;
SELECT k, d - 'b' AS d FROM rc_map WHERE k >= 1 ORDER BY k LIMIT 2;
SELECT k, d - 'b' AS d FROM rc_map WHERE k >= 1 ORDER BY k LIMIT 2;

-- a row of 30 KB, by its key
CALL rc_await('SELECT * FROM rc_map WHERE k = 1');
SELECT d = jsonb_build_object('a', '1', 'b', repeat('b', 30000)) AS same FROM rc_map WHERE k = 1;
UPDATE rc_map SET d = d || '{"a": "new"}' WHERE k = 1;
SELECT d = jsonb_build_object('a', 'new', 'b', repeat('b', 30000)) AS same FROM rc_map WHERE k = 1;
DELETE FROM rc_map WHERE k = 1;
SELECT * FROM rc_map WHERE k = 1;

DROP FUNCTION rc_pages, rc_differs;
DROP PROCEDURE rc_change, rc_await;
DROP TABLE rc_heap;
DROP FOREIGN TABLE rc, rc_ttl, rc_map;
SELECT count(widecol.drop_table(t)) FROM unnest(ARRAY['rc', 'rc_ttl', 'rc_map']) t;
