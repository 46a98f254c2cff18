-- joins_ahead: outer rows that are read before they are asked for, and nobody sees it
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA joins_ahead;
SET search_path = joins_ahead, public;

CREATE FOREIGN TABLE things (
	id int OPTIONS (rowkey '1'), next int, name text
) SERVER widecol OPTIONS (table 'joins_ahead_things');
INSERT INTO things SELECT i, i + 1, 'thing ' || i FROM generate_series(1, 1000) i;
CREATE TABLE wanted (i int, x int);
INSERT INTO wanted SELECT i, CASE WHEN i = 15 THEN 0 ELSE 1 END FROM generate_series(1, 100) i;
ANALYZE things, wanted;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;

-- batched, or one by one?
CREATE FUNCTION lookups(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Widecol Lookahead' THEN
			RETURN 'batched';
		END IF;
	END LOOP;
	RETURN 'one by one';
END $$;

-- --- errors belong to the row that asks ------------------------------------------

-- of the key: it is evaluated ahead, and again when the row is reached
SELECT lookups('SELECT w.i, t.name FROM wanted w JOIN things t ON t.id = 100 / w.x + w.i');
SELECT w.i, t.name FROM wanted w JOIN things t ON t.id = 100 / w.x + w.i LIMIT 14;
SELECT w.i, t.name FROM wanted w JOIN things t ON t.id = 100 / w.x + w.i LIMIT 15;
SELECT EXISTS (SELECT FROM wanted w JOIN things t ON t.id = 100 / w.x + w.i AND w.i > 12);
SELECT EXISTS (SELECT FROM wanted w JOIN things t ON t.id = 100 / w.x + w.i AND t.id > 120);
BEGIN;
DECLARE c CURSOR FOR SELECT w.i, t.name FROM wanted w JOIN things t ON t.id = 100 / w.x + w.i;
MOVE 12 IN c;
FETCH 2 FROM c;
FETCH 1 FROM c;
ROLLBACK;
-- while writing, too
BEGIN;
INSERT INTO things SELECT 2000 + w.i, 0, t.name FROM wanted w JOIN things t ON t.id = 100 / w.x + w.i LIMIT 14;
INSERT INTO things SELECT 3000 + w.i, 0, t.name FROM wanted w JOIN things t ON t.id = w.i + 2000;
SELECT count(*), min(name), max(name) FROM things WHERE id > 2000;
ROLLBACK;

-- of a condition on the outer side, or of a column that is computed there: one by one
SELECT lookups('SELECT w.i, t.name FROM wanted w JOIN things t ON t.id = w.i WHERE 100 / w.x > 7');
SELECT count(*) FROM (SELECT t.name FROM wanted w JOIN things t ON t.id = w.i WHERE 100 / w.x > 7 LIMIT 14) s;
SELECT count(*) FROM (SELECT t.name FROM wanted w JOIN things t ON t.id = w.i WHERE 100 / w.x > 7 LIMIT 15) s;
SELECT lookups('SELECT * FROM (SELECT i, 100 / x AS y FROM wanted OFFSET 0) w JOIN things t ON t.id = w.i');
SELECT count(s.y) FROM (SELECT w.y FROM (SELECT i, 100 / x AS y FROM wanted OFFSET 0) w JOIN things t ON t.id = w.i LIMIT 14) s;
SELECT lookups('SELECT * FROM (VALUES (1), (2)) w(i) JOIN things t ON t.id = w.i');
SELECT lookups('SELECT * FROM (VALUES (1), ((SELECT 1 / 0))) w(i) JOIN things t ON t.id = w.i');

-- of a row that cannot be decoded, on either side
CREATE FOREIGN TABLE bytes (
	id int OPTIONS (rowkey '1'), next bytea, name bytea
) SERVER widecol OPTIONS (table 'joins_ahead_things');
UPDATE bytes SET name = '\xff' WHERE id = 15;
SELECT lookups('SELECT a.name, b.id FROM things a JOIN things b ON b.id = a.next WHERE a.id < 100');
SELECT count(s.name) FROM (SELECT a.name, b.id FROM things a JOIN things b ON b.id = a.next WHERE a.id < 100 LIMIT 14) s;
SELECT count(s.name) FROM (SELECT a.name, b.id FROM things a JOIN things b ON b.id = a.next WHERE a.id < 100 LIMIT 15) s;
SELECT count(s.name) FROM (SELECT a.id, b.name FROM things a JOIN things b ON b.id = a.next WHERE a.id < 100 LIMIT 13) s;
SELECT count(s.name) FROM (SELECT a.id, b.name FROM things a JOIN things b ON b.id = a.next WHERE a.id < 100 LIMIT 14) s;
-- two joins deep, measured
EXPLAIN (ANALYZE, COSTS OFF, TIMING ON, SUMMARY OFF, FORMAT JSON)
SELECT a.name, b.name, c.id FROM things a JOIN things b ON b.id = a.next JOIN things c ON c.id = b.next WHERE a.id < 100 LIMIT 13 \g /dev/null
SELECT count(s.name) FROM (SELECT a.id, b.name, c.id FROM things a JOIN things b ON b.id = a.next JOIN things c ON c.id = b.next WHERE a.id < 100 LIMIT 13) s;
SELECT count(s.name) FROM (SELECT a.id, b.name, c.id FROM things a JOIN things b ON b.id = a.next JOIN things c ON c.id = b.next WHERE a.id < 100 LIMIT 14) s;
-- starting anew behind such a row, and before it
SELECT i, (SELECT max(z.name) FROM (SELECT a.name, b.id FROM things a JOIN things b ON b.id = a.next AND a.id > g.i LIMIT 9) z) FROM unnest('{5,1,20,4,700}'::int[]) g(i);
SELECT i, (SELECT max(z.name) FROM (SELECT a.name, b.id FROM things a JOIN things b ON b.id = a.next AND a.id > g.i LIMIT 9) z) FROM unnest('{5,6}'::int[]) g(i);
UPDATE things SET name = 'thing 15' WHERE id = 15;

-- --- effects -------------------------------------------------------------------------

-- sequences
CREATE SEQUENCE numbers;
SELECT lookups('SELECT * FROM (SELECT i, nextval(''numbers'') n FROM wanted OFFSET 0) w JOIN things t ON t.id = w.i');
SELECT w.i, w.n, t.name FROM (SELECT i, nextval('numbers') n FROM wanted OFFSET 0) w JOIN things t ON t.id = w.i LIMIT 10;
SELECT last_value FROM numbers;
SELECT lookups('SELECT * FROM wanted w JOIN things t ON t.id = w.i WHERE nextval(''numbers'') > w.i - 1000');

-- row locks
SELECT lookups('SELECT * FROM (SELECT i FROM wanted ORDER BY i FOR UPDATE SKIP LOCKED) w JOIN things t ON t.id = w.i');
BEGIN;
SELECT count(*) FROM (SELECT t.name FROM (SELECT i FROM wanted ORDER BY i FOR UPDATE SKIP LOCKED) w JOIN things t ON t.id = w.i LIMIT 10) s;
SELECT count(*) FROM wanted WHERE xmax::text::bigint = pg_current_xact_id()::text::bigint;
ROLLBACK;

-- a statement inside
SELECT lookups('WITH d AS (DELETE FROM wanted RETURNING i) SELECT * FROM d JOIN things t ON t.id = d.i');
-- sets, made one by one
SELECT lookups('SELECT * FROM (SELECT generate_series(1, 100 / x) AS i FROM wanted) w JOIN things t ON t.id = w.i');

-- functions that say something: in a key, in a condition, in a subquery of one
CREATE FUNCTION told(i int) RETURNS int STABLE LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'told %', i; RETURN i; END $$;
SELECT t.name FROM wanted w JOIN things t ON t.id = told(w.i) WHERE w.i > 50 LIMIT 2;
SELECT lookups('SELECT t.name FROM wanted w JOIN things t ON t.id = w.i WHERE told(w.i) > 0');
SELECT lookups('SELECT t.name FROM wanted w JOIN things t ON t.id = w.i WHERE w.x = (SELECT told(w.i))');
SELECT lookups('SELECT t.name FROM wanted w JOIN things t ON t.id = w.i WHERE w.x = 1 OR w.x = (SELECT told(5))');

-- --- expressions without side effects are batched --------------------------------------

SELECT lookups('SELECT * FROM wanted w JOIN things t ON t.id = w.i WHERE w.x = 1 AND w.i % 7 < 3');
SELECT lookups('SELECT * FROM things w JOIN things t ON t.id = w.next WHERE w.name LIKE ''thing 1%'' AND w.id > 20');
SELECT lookups('SELECT * FROM things w JOIN things t ON t.id = w.next JOIN things u ON u.id = t.next WHERE w.id < 50');
-- an expression that does not depend on the row fails before the first row
SELECT lookups('SELECT * FROM wanted w JOIN things t ON t.id = w.i WHERE w.x < extract(epoch FROM now() - interval ''1 day'')::int');
SELECT lookups('SELECT * FROM wanted w JOIN things t ON t.id = w.i WHERE w.x = (SELECT told(1))');
SELECT lookups('SELECT * FROM wanted w JOIN things t ON t.id = w.i WHERE w.i > 7 OR w.x < extract(epoch FROM now() - interval ''1 day'')::int');
-- so do nodes that read all rows first: sort, group, hash
SELECT lookups('SELECT * FROM (SELECT i, nextval(''numbers'') n FROM wanted ORDER BY 2) w JOIN things t ON t.id = w.i');
SELECT lookups('SELECT * FROM (SELECT i, count(*), min(100 / x) FROM wanted GROUP BY i) w JOIN things t ON t.id = w.i');
SELECT lookups('SELECT * FROM generate_series(1, (SELECT nextval(''numbers''))::int) w(i) JOIN things t ON t.id = w.i');
-- partitions have the same conditions
CREATE TABLE parts (i int, at timestamptz) PARTITION BY RANGE (i);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (50);
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (50) TO (500);
INSERT INTO parts SELECT i, now() FROM generate_series(1, 100) i;
ANALYZE parts;
SELECT lookups('SELECT * FROM parts w JOIN things t ON t.id = w.i WHERE w.at > now() - interval ''1 day''');
SELECT lookups('SELECT * FROM (SELECT i FROM part1 UNION ALL SELECT i FROM part2 WHERE at > now() - interval ''1 day'') w JOIN things t ON t.id = w.i');
SELECT count(t.name) FROM parts w JOIN things t ON t.id = w.i WHERE w.at > now() - interval '1 day';

-- --- loops that start anew and again ---------------------------------------------------

-- 40 loops, which read 20 to 59 rows of 100, most of them more or fewer than the one before
CREATE FUNCTION batches(query text) RETURNS TABLE(lookups int, batches int) LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		lookups := coalesce(substring(line FROM 'Foreign Scan.*loops=(\d+)')::int, lookups);
		batches := coalesce(substring(line FROM '\mBatches: (\d+)')::int, batches);
	END LOOP;
	RETURN NEXT;
END $$;
SELECT * FROM batches('SELECT sum(s) FROM (SELECT g, (SELECT sum(z.next) FROM (SELECT t.next FROM wanted w JOIN things t ON t.id = w.i + g * 20 WHERE w.x > g - 1000 LIMIT 20 + g * 37 % 40) z) AS s FROM generate_series(1, 40) g OFFSET 0) q');

RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;
DROP FOREIGN TABLE things, bytes;
SELECT widecol.drop_table('joins_ahead_things');
DROP TABLE wanted, parts;
DROP SEQUENCE numbers;
DROP FUNCTION lookups(text);
DROP FUNCTION batches(text);
DROP FUNCTION told(int);
DROP SCHEMA joins_ahead;
