-- Functions that are safe in parallel workers and read stored tables: workers see the
-- same as their leader.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;

CREATE TABLE ph (k int) WITH (parallel_workers = 2);
INSERT INTO ph SELECT generate_series(1, 1000);
ANALYZE ph;
CREATE FOREIGN TABLE ps (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO ps SELECT i, i FROM generate_series(1, 500) i;
CREATE FUNCTION p_point(int) RETURNS int STABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT v FROM ps WHERE k = $1);
END $$;
CREATE FUNCTION p_sum(int) RETURNS bigint STABLE PARALLEL SAFE LANGUAGE sql AS $$
	SELECT sum(v) + $1 - $1 FROM ps
$$;
CREATE FUNCTION p_cells(int) RETURNS bigint STABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) FROM widecol.scan('ps', row_limit => $1 % 2 + 1));
END $$;
CREATE FUNCTION p_volatile(int) RETURNS int VOLATILE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT v FROM ps WHERE k = $1);
END $$;
ALTER FUNCTION widecol.scan(regclass, widecol.bytes, widecol.bytes, widecol.bytes, text[], int, int8range, boolean, bigint, boolean, boolean, boolean, int, int, text) PARALLEL SAFE;

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;

EXPLAIN (COSTS OFF) SELECT count(p_point(k)), sum(p_point(k)) FROM ph;
SELECT count(p_point(k)), sum(p_point(k)) FROM ph;
SELECT min(p_sum(k)), max(p_sum(k)) FROM ph WHERE k <= 20;
SELECT sum(p_cells(k)) FROM ph WHERE k <= 20;
SELECT count(p_volatile(k)), sum(p_volatile(k)) FROM ph;
SELECT k FROM ph WHERE p_point(k) BETWEEN 10 AND 12 ORDER BY k;

-- in a function, whose query is parallel
CREATE FUNCTION p_query() RETURNS bigint VOLATILE LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT sum(p_point(k)) FROM ph);
END $$;
SELECT p_query();

-- a transaction's snapshot
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(p_point(k)), sum(p_point(k)) FROM ph;
SELECT sum(v) FROM ps;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY;
SELECT count(p_volatile(k)), sum(p_volatile(k)) FROM ph;
COMMIT;

-- no workers, since these would not see the transaction's writes
BEGIN;
UPDATE ps SET v = v + 1000 WHERE k <= 10;
SELECT count(p_point(k)), sum(p_point(k)) FROM ph;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT k FROM ph WHERE p_point(k) > 1000;
SELECT p_query();
SAVEPOINT s;
DELETE FROM ps;
SELECT count(p_point(k)) FROM ph;
ROLLBACK TO s;
SELECT count(p_point(k)), sum(p_point(k)) FROM ph;
ROLLBACK;
SELECT count(p_point(k)), sum(p_point(k)) FROM ph;

-- a worker that fails amid a scan, and one that would write
\set VERBOSITY terse
CREATE FUNCTION p_fails(int) RETURNS int STABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT sum(1 / (v - 400)) FROM ps);
END $$;
CREATE FUNCTION p_writes(int) RETURNS int VOLATILE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
	UPDATE ps SET v = 0 WHERE k = $1;
	RETURN $1;
END $$;
CREATE FUNCTION p_puts(int) RETURNS int VOLATILE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
	PERFORM widecol.put('ps', '\x80000001', 'cf:v', '\x80000001');
	RETURN $1;
END $$;
SELECT count(p_fails(k)) FROM ph;
SELECT count(p_writes(k)) FROM ph;
SELECT count(p_puts(k)) FROM ph;
SELECT count(p_point(k)), sum(p_point(k)) FROM ph;

-- a session has few snapshots to share, and statements give theirs back: in a transaction
-- that goes on, after errors, amid functions that go on
CREATE VIEW p_ruled AS SELECT 1 AS n;
CREATE TABLE p_made (n int, v int);
CREATE RULE p_rule AS ON INSERT TO p_ruled DO INSTEAD (
	INSERT INTO p_made SELECT new.n, v FROM ps WHERE k = 1;
	INSERT INTO p_made SELECT new.n + 1, v FROM ps WHERE k = 2);
CREATE FUNCTION p_nested(int) RETURNS int VOLATILE LANGUAGE plpgsql AS $$
DECLARE
	n int;
	r record;
BEGIN
	n := p_point(1) + p_point(2);
	FOR r IN SELECT v FROM ps WHERE k <= 3 LOOP
		n := n + p_point(r.v);
	END LOOP;
	BEGIN
		n := n + p_point(1);
		SELECT v / (k - k) INTO n FROM ps WHERE k = 1;
	EXCEPTION WHEN division_by_zero THEN
		n := n + p_point(2);
	END;
	RETURN n + CASE WHEN $1 > 0 THEN p_nested($1 - 1) ELSE 0 END;
END $$;
PREPARE p_prepared AS SELECT sum(v) FROM ps;
\set quiet 'SELECT p_nested(3); INSERT INTO p_ruled VALUES (1); EXECUTE p_prepared; CREATE TEMP TABLE p_temp AS SELECT * FROM ps; DROP TABLE p_temp; ANALYZE ps; DECLARE c CURSOR FOR SELECT v FROM ps ORDER BY k; FETCH 2 FROM c; CLOSE c; SAVEPOINT s; SELECT v / (k - 2) FROM ps; ROLLBACK TO s; SAVEPOINT s; SELECT p_point(1), p_fails(1); ROLLBACK TO s; DO $do$ BEGIN PERFORM p_point(1); PERFORM p_nested(1); END $do$;'
BEGIN;
:quiet
:quiet
:quiet
:quiet
:quiet
SELECT count(p_point(k)), sum(p_point(k)) FROM ph;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT k FROM ph WHERE p_point(k) > 490;
COMMIT;
SELECT count(DISTINCT v), count(*) FROM p_made;

-- with more cursors open than can be shared a query runs without workers
BEGIN;
DECLARE c1 CURSOR FOR SELECT v FROM ps WHERE k = 1;
DECLARE c2 CURSOR FOR SELECT v FROM ps WHERE k = 2;
DECLARE c3 CURSOR FOR SELECT v FROM ps WHERE k = 3;
DECLARE c4 CURSOR FOR SELECT v FROM ps WHERE k = 4;
DECLARE c5 CURSOR FOR SELECT v FROM ps WHERE k = 5;
SELECT count(p_point(k)), sum(p_point(k)) FROM ph;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT k FROM ph WHERE p_point(k) > 490;
FETCH ALL FROM c1;
FETCH ALL FROM c5;
COMMIT;
DROP VIEW p_ruled;
DROP TABLE p_made;
DROP FUNCTION p_nested;

ALTER FUNCTION widecol.scan(regclass, widecol.bytes, widecol.bytes, widecol.bytes, text[], int, int8range, boolean, bigint, boolean, boolean, boolean, int, int, text) PARALLEL UNSAFE;
DROP FUNCTION p_point, p_sum, p_cells, p_volatile, p_query, p_fails, p_writes, p_puts;
DROP TABLE ph;
SET client_min_messages = warning;
DROP FOREIGN TABLE ps;
SELECT widecol.drop_table('ps');
