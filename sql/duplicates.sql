-- INSERT of many rows whose keys must be new: on_duplicate 'error', and ON CONFLICT DO NOTHING.  Their locks are asked for
-- together, some hundred rows at a time, if nothing can look at the table before.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA duplicates;
SET search_path = duplicates, public;
CREATE FOREIGN TABLE d (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (on_duplicate 'error');
CREATE FOREIGN TABLE p (k int OPTIONS (rowkey '1'), v text) SERVER widecol;

-- more than one request has room for
INSERT INTO d SELECT i, 'a' || i FROM generate_series(1, 1000) i;
SELECT count(*), min(k), max(k) FROM d;
-- the row is there, in another request than the first; one of the statement's own
INSERT INTO d SELECT i, 'b' FROM generate_series(1500, 900, -1) i;
INSERT INTO d SELECT 2000 + i % 700, 'b' FROM generate_series(1, 1000) i;
INSERT INTO d SELECT 2000 + i % 7, 'b' FROM generate_series(1, 1000) i;
INSERT INTO d VALUES (3000, 'b'), (3001, 'b'), (3000, 'b');
SELECT count(*), min(k), max(k) FROM d;
-- an error of a later row leaves nothing
INSERT INTO d SELECT i, (1 / (4000 - i))::text FROM generate_series(3001, 4001) i;
SELECT count(*), min(k), max(k) FROM d;

-- the number of rows is right
\unset QUIET
INSERT INTO d SELECT i, 'c' FROM generate_series(901, 1400) i ON CONFLICT DO NOTHING;
INSERT INTO d SELECT 5000 + i % 700, 'c' || i FROM generate_series(0, 999) i ON CONFLICT DO NOTHING;
INSERT INTO p SELECT 1 + i / 2, 'c' || i FROM generate_series(0, 999) i ON CONFLICT DO NOTHING;
INSERT INTO p VALUES (500, 'd'), (501, 'd'), (501, 'e'), (0, 'f') ON CONFLICT DO NOTHING;
INSERT INTO p VALUES (501, 'd'), (502, 'e') ON CONFLICT DO NOTHING RETURNING *;
\set QUIET on
SELECT count(*), min(v), max(v) FROM d WHERE k BETWEEN 901 AND 1400 AND v LIKE 'c%';
SELECT k, v FROM d WHERE k IN (5000, 5299, 5300, 5699) ORDER BY k;
SELECT k, v FROM p WHERE k IN (0, 1, 500, 501, 502) ORDER BY k;

-- own writes of before, and a rollback to before
BEGIN;
INSERT INTO d VALUES (6000, 'a');
SAVEPOINT s;
INSERT INTO d SELECT i, 'b' FROM generate_series(6000, 6300) i;
ROLLBACK TO s;
INSERT INTO d SELECT i, 'b' FROM generate_series(6001, 6300) i;
SAVEPOINT s;
INSERT INTO d SELECT i, 'c' FROM generate_series(6301, 6600) i;
ROLLBACK TO s;
DELETE FROM d WHERE k BETWEEN 6001 AND 6100;
INSERT INTO d SELECT i, 'd' FROM generate_series(6001, 6100) i;
INSERT INTO d SELECT i, 'e' FROM generate_series(6001, 6400) i ON CONFLICT DO NOTHING;
SELECT v, count(*), min(k), max(k) FROM d WHERE k >= 6000 GROUP BY v ORDER BY v;
COMMIT;
SELECT v, count(*), min(k), max(k) FROM d WHERE k >= 6000 GROUP BY v ORDER BY v;

-- REPEATABLE READ
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM d WHERE k > 7000;
INSERT INTO d SELECT i, 'r' FROM generate_series(7001, 7300) i;
INSERT INTO d SELECT i, 's' FROM generate_series(7201, 7400) i ON CONFLICT DO NOTHING;
SELECT v, count(*) FROM d WHERE k > 7000 GROUP BY v ORDER BY v;
ROLLBACK;

-- what looks at the table sees each row that was inserted before, as in a heap table
CREATE FUNCTION rows_of_d(i int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) FROM d WHERE k >= 8000) || ' before ' || i;
END $$;
INSERT INTO d SELECT i, rows_of_d(i) FROM generate_series(8000, 8003) i;
SELECT v FROM d WHERE k >= 8000 ORDER BY k;
DELETE FROM d WHERE k >= 8000;
ALTER TABLE d ADD CONSTRAINT few CHECK (split_part(rows_of_d(k), ' ', 1)::int < 3 OR k < 8000);
INSERT INTO d SELECT i, '' FROM generate_series(8000, 8003) i;
INSERT INTO d SELECT i, '' FROM generate_series(8000, 8002) i;
ALTER TABLE d DROP CONSTRAINT few;
DELETE FROM d WHERE k >= 8000;
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE WARNING '% % sees %', TG_LEVEL, TG_WHEN, (SELECT count(*) FROM d WHERE k >= 8000);
	RETURN NEW;
END $$;
CREATE TRIGGER a AFTER INSERT ON d FOR EACH STATEMENT EXECUTE FUNCTION tell();
INSERT INTO d SELECT i, '' FROM generate_series(8000, 8002) i;
CREATE TRIGGER b BEFORE INSERT ON d FOR EACH ROW EXECUTE FUNCTION tell();
INSERT INTO d SELECT i, '' FROM generate_series(8003, 8004) i;
INSERT INTO d SELECT i, '' FROM generate_series(8004, 8005) i ON CONFLICT DO NOTHING;
DROP TRIGGER a ON d;
DROP TRIGGER b ON d;
CREATE DOMAIN few AS text CHECK (split_part(rows_of_d(1), ' ', 1)::int < 8);
INSERT INTO d SELECT i, i::text::few FROM generate_series(8006, 8009) i;
INSERT INTO d SELECT i, i::text::few FROM generate_series(8006, 8007) i;
SELECT count(*) FROM d WHERE k >= 8000;

-- parts of a statement
WITH a AS (INSERT INTO d SELECT i, 'w' FROM generate_series(9000, 9400) i RETURNING k)
INSERT INTO p SELECT k, 'from a' FROM a ON CONFLICT DO NOTHING;
WITH a AS (INSERT INTO d VALUES (9500, 'x'))
INSERT INTO d VALUES (9501, 'y'), (9500, 'y');
SELECT count(*) FROM d WHERE k >= 9000;
SELECT count(*) FROM p WHERE v = 'from a';

-- from PL/pgSQL, and in EXPLAIN ANALYZE
DO $$
DECLARE
	n int;
BEGIN
	INSERT INTO d SELECT i, 'p' FROM generate_series(9390, 9600) i ON CONFLICT DO NOTHING;
	GET DIAGNOSTICS n = ROW_COUNT;
	RAISE WARNING '% rows', n;
	BEGIN
		INSERT INTO d SELECT i, 'q' FROM generate_series(9600, 9900) i;
	EXCEPTION WHEN unique_violation THEN
		RAISE WARNING 'duplicate: %', SQLERRM;
	END;
	INSERT INTO d SELECT i, 'q' FROM generate_series(9601, 9900) i;
	GET DIAGNOSTICS n = ROW_COUNT;
	RAISE WARNING '% rows', n;
END $$;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
INSERT INTO d SELECT i, 'z' FROM generate_series(9901, 9910) i;
SELECT v, count(*), min(k), max(k) FROM d WHERE k >= 9000 GROUP BY v ORDER BY v;

-- partitions, of which one is a heap table, first without a trigger
CREATE TABLE parts (k int, v text) PARTITION BY RANGE (k);
CREATE FOREIGN TABLE part_1 (k int OPTIONS (rowkey '1'), v text) SERVER widecol
	OPTIONS (on_duplicate 'error');
ALTER TABLE parts ATTACH PARTITION part_1 FOR VALUES FROM (0) TO (1000);
CREATE FOREIGN TABLE part_2 (k int OPTIONS (rowkey '1'), v text) SERVER widecol
	OPTIONS (on_duplicate 'error');
ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES FROM (1000) TO (2000);
CREATE TABLE part_3 PARTITION OF parts FOR VALUES FROM (2000) TO (3000);
INSERT INTO parts SELECT i * 7 % 2500, 'a' FROM generate_series(0, 2499) i;
SELECT tableoid::regclass, count(*) FROM parts GROUP BY 1 ORDER BY 1;
INSERT INTO parts SELECT i, 'b' FROM generate_series(1999, 1990, -1) i;
INSERT INTO parts VALUES (2600, 'c'), (1500, 'c'), (2601, 'c') ON CONFLICT DO NOTHING;
SELECT count(*), count(*) FILTER (WHERE v = 'c') FROM parts;
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.v := (SELECT count(*) FROM parts WHERE v = 'd');
	RETURN NEW;
END $$;
CREATE TRIGGER look BEFORE INSERT ON part_3 FOR EACH ROW EXECUTE FUNCTION look();
DELETE FROM parts WHERE k < 10;
INSERT INTO parts VALUES (1, 'd'), (2, 'd'), (2700, ''), (3, 'd'), (2701, '');
SELECT k, v FROM parts WHERE k >= 2700 ORDER BY k;

-- a view's check option
CREATE VIEW small AS SELECT * FROM d WHERE k < 20000 WITH CHECK OPTION;
INSERT INTO small SELECT i, 'v' FROM generate_series(19999, 20001) i;
INSERT INTO small SELECT i, 'v' FROM generate_series(19998, 19999) i;
INSERT INTO small SELECT i, 'v' FROM generate_series(19997, 19999) i ON CONFLICT DO NOTHING;
SELECT count(*) FROM small WHERE v = 'v';

-- long values are not collected without end
INSERT INTO d SELECT 30000 + i, repeat('x', 1000000) FROM generate_series(1, 8) i;
INSERT INTO d SELECT 30004 + i, repeat('x', 1000000) FROM generate_series(1, 8) i ON CONFLICT DO NOTHING;
SELECT count(*), sum(length(v)) FROM d WHERE k >= 30000;

SET client_min_messages = error;
DROP SCHEMA duplicates CASCADE;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['d', 'p', 'part_1', 'part_2']) t;
