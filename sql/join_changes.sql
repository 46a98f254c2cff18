-- UPDATE and DELETE of a table that is joined with others.  The rows are locked together, some hundred at a time, after the plan
-- has returned them, if nothing can look at the table before.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA join_changes;
SET search_path = join_changes, public;
CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text, n int) SERVER widecol;
CREATE TABLE s (k int, d int);
INSERT INTO t SELECT i, 'v' || i, 0 FROM generate_series(1, 1000) i;
INSERT INTO s SELECT i * 2, i FROM generate_series(1, 400) i;
ANALYZE t, s;

-- more rows than one request locks; the number of rows is right
\unset QUIET
UPDATE t SET n = s.d FROM s WHERE t.k = s.k;
UPDATE t SET n = n + 1, v = NULL WHERE k IN (SELECT k FROM s WHERE d <= 300);
UPDATE t SET n = n + 1 FROM s WHERE t.k = s.k AND t.n < 0;
DELETE FROM t USING s WHERE t.k = s.k AND s.d > 390;
\set QUIET on
SELECT count(*), sum(n), count(v), max(k) FILTER (WHERE n > 0) FROM t;

-- a row is changed once, though it is joined with several; each sees the rows of before
UPDATE t SET n = -1 FROM (SELECT k % 40 AS k FROM s) x WHERE t.k = x.k;
SELECT count(*), min(k), max(k) FROM t WHERE n = -1;
UPDATE t SET n = b.k FROM t b WHERE t.k = b.k + 1 AND t.k <= 500;
SELECT count(*), sum(n) FROM t WHERE k <= 500 AND n = k - 1;

-- an error leaves nothing
ALTER TABLE t ADD CONSTRAINT below CHECK (n < 5000);
UPDATE t SET n = s.d * 13 FROM s WHERE t.k = s.k;
UPDATE t SET n = 1000 / (s.d - 377) FROM s WHERE t.k = s.k;
SELECT count(*) FROM t WHERE n > 1000;
ALTER TABLE t DROP CONSTRAINT below;

-- in a transaction: own changes of before, a rollback to before
BEGIN;
UPDATE t SET n = 7 FROM s WHERE t.k = s.k;
SAVEPOINT a;
DELETE FROM t USING s WHERE t.k = s.k;
SELECT count(*) FROM t;
ROLLBACK TO a;
UPDATE t SET n = n + 1 FROM s WHERE t.k = s.k AND t.n = 7;
INSERT INTO t VALUES (2, 'new', 8);
UPDATE t SET n = n + 1 FROM s WHERE t.k = s.k AND t.n = 8;
SELECT n, count(*) FROM t JOIN s USING (k) GROUP BY n ORDER BY n;
COMMIT;

-- REPEATABLE READ
BEGIN ISOLATION LEVEL REPEATABLE READ;
UPDATE t SET n = n + 1 FROM s WHERE t.k = s.k;
UPDATE t SET n = n + 1 FROM s WHERE t.k = s.k;
SELECT n, count(*) FROM t JOIN s USING (k) GROUP BY n ORDER BY n;
COMMIT;

-- what looks at the table sees what was changed before, as in a heap table
CREATE FUNCTION changed() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) FROM t WHERE v LIKE 'c%');
END $$;
UPDATE t SET v = 'c' || changed() FROM s WHERE t.k = s.k AND s.d <= 4;
SELECT v FROM t WHERE v LIKE 'c%' ORDER BY k;
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE WARNING '% % sees %', TG_LEVEL, TG_WHEN, (SELECT count(*) FROM t WHERE v LIKE 'w%');
	RETURN NEW;
END $$;
CREATE TRIGGER a AFTER UPDATE ON t FOR EACH STATEMENT EXECUTE FUNCTION tell();
UPDATE t SET v = 'w' FROM s WHERE t.k = s.k AND s.d <= 3;
CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION tell();
UPDATE t SET v = 'wx' FROM s WHERE t.k = s.k AND s.d BETWEEN 3 AND 5;
DROP TRIGGER a ON t;
DROP TRIGGER b ON t;
WITH u AS (UPDATE t SET v = 'y' FROM s WHERE t.k = s.k AND s.d <= 3 RETURNING t.k, t.v, s.d) SELECT * FROM u ORDER BY k;
WITH u AS (UPDATE t SET v = 'z' FROM s WHERE t.k = s.k AND s.d <= 300 RETURNING t.k)
DELETE FROM t USING u WHERE t.k = u.k + 1;
SELECT count(*), count(*) FILTER (WHERE v = 'z') FROM t;

-- keys that change, parts of the key, tables with columns that are maps or generated
UPDATE t SET k = t.k + 10000 FROM s WHERE t.k = s.k AND s.d <= 300;
SELECT count(*), count(*) FILTER (WHERE k > 10000) FROM t;
CREATE FOREIGN TABLE g (a text OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), n int, twice int GENERATED ALWAYS AS (n * 2) STORED,
	m jsonb OPTIONS (family 'm')) SERVER widecol OPTIONS (salt_buckets '3');
INSERT INTO g (a, b, n, m) SELECT 'a' || i % 3, i, i, jsonb_build_object('x', i, 'y', 'old') FROM generate_series(1, 600) i;
UPDATE g SET n = -s.d, m = m || jsonb_build_object('y', s.d) FROM s WHERE g.b = s.k;
SELECT count(*), sum(n), sum(twice), count(*) FILTER (WHERE m ->> 'y' = (-n)::text) FROM g WHERE n < 0;
DELETE FROM g USING s WHERE g.b = s.k AND g.a = 'a1';
SELECT a, count(*) FROM g GROUP BY a ORDER BY a;

-- long values are not kept without end
UPDATE t SET v = repeat('x', 300000) FROM s WHERE t.k = s.k + 10000 AND s.d <= 12;
UPDATE t SET n = -7 FROM s WHERE t.k = s.k + 10000 AND s.d <= 12;
SELECT count(*), sum(length(v)) FROM t WHERE n = -7;

SET client_min_messages = error;
DROP SCHEMA join_changes CASCADE;
SELECT widecol.drop_table(name) FROM unnest(ARRAY['t', 'g']) name;
