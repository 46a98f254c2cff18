--
-- Rows read again by their whole key are answered from shared memory
-- (widecol.get_cache_size): each answer must be the engine's.
-- Every query runs at least twice, so that later runs find the answer of the first.
--
\set VERBOSITY terse
SET widecol.debug_clock_offset = 0;

-- rows that are there, that are not, and that come and go
CREATE FOREIGN TABLE gc (k int OPTIONS (rowkey '1'), a int, b text, m jsonb OPTIONS (family 'cf')) SERVER widecol;
INSERT INTO gc VALUES (1, 1, 'one', '{"x": "1"}'), (2, NULL, NULL, NULL);
SELECT * FROM gc WHERE k = 1;
SELECT * FROM gc WHERE k = 1;
SELECT a FROM gc WHERE k = 1;
SELECT m FROM gc WHERE k = 1;
SELECT * FROM gc WHERE k = 2;
SELECT * FROM gc WHERE k = 2;
SELECT * FROM gc WHERE k = 3;
SELECT * FROM gc WHERE k = 3;
INSERT INTO gc VALUES (3, 3, 'three');
SELECT * FROM gc WHERE k = 3;
DELETE FROM gc WHERE k = 1;
SELECT * FROM gc WHERE k = 1;
SELECT m FROM gc WHERE k = 1;

-- HBase's words write and read the same cells
SELECT widecol.put('gc', '\x80000001', 'cf:b', 'put');
SELECT b FROM gc WHERE k = 1;
SELECT convert_from(value, 'UTF8') FROM widecol.get('gc', '\x80000001');
SELECT convert_from(value, 'UTF8') FROM widecol.get('gc', '\x80000001');
SELECT widecol.deleteall('gc', '\x80000001');
SELECT b FROM gc WHERE k = 1;
SELECT convert_from(value, 'UTF8') FROM widecol.get('gc', '\x80000001');

-- own writes, rolled back
SELECT b FROM gc WHERE k = 3;
BEGIN;
SELECT b FROM gc WHERE k = 3;
SAVEPOINT s;
UPDATE gc SET b = 'mine' WHERE k = 3;
SELECT b FROM gc WHERE k = 3;
ROLLBACK TO s;
SELECT b FROM gc WHERE k = 3;
UPDATE gc SET b = 'mine again' WHERE k = 3;
SELECT b FROM gc WHERE k = 3;
ROLLBACK;
SELECT b FROM gc WHERE k = 3;

-- a function that sees the statement's snapshot, and one that sees its changes
CREATE FUNCTION gc_stable(int) RETURNS text STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT b FROM gc WHERE k = $1); END $$;
CREATE FUNCTION gc_volatile(int) RETURNS text VOLATILE LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT b FROM gc WHERE k = $1); END $$;
SELECT gc_stable(3), gc_volatile(3);
UPDATE gc SET b = 'new' WHERE k = 3 RETURNING b, gc_stable(3), gc_volatile(3);
SELECT gc_stable(3), gc_volatile(3);

-- a prepared statement with other keys; a nested loop; a filter
PREPARE p(int) AS SELECT b FROM gc WHERE k = $1 AND a > 2;
EXECUTE p(3);
EXECUTE p(3);
EXECUTE p(2);
UPDATE gc SET a = 2 WHERE k = 3;
EXECUTE p(3);
UPDATE gc SET a = 4 WHERE k = 3;
EXECUTE p(3);
SELECT i, (SELECT b FROM gc WHERE k = i % 3 + 1) FROM generate_series(1, 6) i;

-- truncated, altered, dropped and made anew
TRUNCATE gc;
SELECT * FROM gc WHERE k = 3;
INSERT INTO gc VALUES (3, 3, 'after');
SELECT b FROM gc WHERE k = 3;
SELECT widecol.alter_table('gc', '{"cf": {"ttl": "1 hour"}}');
SELECT b FROM gc WHERE k = 3;
SET widecol.debug_clock_offset = '2 h';
SELECT b FROM gc WHERE k = 3;
SET widecol.debug_clock_offset = 0;
SELECT b FROM gc WHERE k = 3;
DROP FUNCTION gc_stable, gc_volatile;
DROP FOREIGN TABLE gc;
SELECT widecol.drop_table('gc');
CREATE FOREIGN TABLE gc (k int OPTIONS (rowkey '1'), a int, b text) SERVER widecol;
SELECT * FROM gc WHERE k = 3;

-- cells that end by themselves, of their own
INSERT INTO gc VALUES (1, 1, 'one');
SELECT widecol.put('gc', '\x80000001', 'cf:b', 'short', ttl => '10 s');
SELECT b FROM gc WHERE k = 1;
SET widecol.debug_clock_offset = '11 s';
SELECT b FROM gc WHERE k = 1;
SET widecol.debug_clock_offset = 0;
SELECT b FROM gc WHERE k = 1;
SELECT a FROM gc WHERE k = 1;

CREATE FOREIGN TABLE gc_ttl (k int OPTIONS (rowkey '1'), a int) SERVER widecol OPTIONS (families '{"cf": {"ttl": "1 s"}}');
INSERT INTO gc_ttl VALUES (1, 1);
-- it goes, sooner or later
DO $$
BEGIN
	FOR i IN 1 .. 600 LOOP
		EXIT WHEN NOT EXISTS (SELECT a FROM gc_ttl WHERE k = 1);
		PERFORM pg_sleep(0.1);
	END LOOP;
END $$;
SELECT a FROM gc_ttl WHERE k = 1;

-- a compaction by another clock drops it for all
SELECT widecol.alter_table('gc_ttl', '{"cf": {"ttl": "1 hour"}}');
INSERT INTO gc_ttl VALUES (2, 2);
SELECT a FROM gc_ttl WHERE k = 2;
SELECT a FROM gc_ttl WHERE k = 2;
SET widecol.debug_clock_offset = '2 h';
SELECT widecol.flush('gc_ttl');
SELECT widecol.major_compact('gc_ttl');
SET widecol.debug_clock_offset = 0;
SELECT a FROM gc_ttl WHERE k = 2;
DROP FOREIGN TABLE gc_ttl;
SELECT widecol.drop_table('gc_ttl');

-- as of a time
SELECT b FROM gc WHERE k = 1;
INSERT INTO gc VALUES (4, 1, 'now');
SELECT b FROM gc WHERE k = 4;
SET widecol.read_timestamp = '1000000000000000';
SELECT b FROM gc WHERE k = 4;
RESET widecol.read_timestamp;
SELECT b FROM gc WHERE k = 4;

-- versions, and rows that are too large to be kept
CREATE FOREIGN TABLE gc_cells ("row" bytea, family text, qualifier bytea, ts bigint, value text)
	SERVER widecol OPTIONS (table 'gc_cells', layout 'cell', families '{"cf": {"versions": 3}}');
INSERT INTO gc_cells VALUES ('r', 'cf', 'q', 1, 'v1'), ('r', 'cf', 'q', 2, 'v2'), ('r', 'cf', 'big', 1, repeat('b', 3000));
SELECT ts, value FROM gc_cells WHERE "row" = 'r' AND qualifier = 'q';
SELECT ts, value FROM gc_cells WHERE "row" = 'r' AND qualifier = 'q';
SELECT ts, length(value) FROM gc_cells WHERE "row" = 'r';
SELECT ts, length(value) FROM gc_cells WHERE "row" = 'r';
DELETE FROM gc_cells WHERE "row" = 'r' AND qualifier = 'q' AND ts = 2;
SELECT ts, value FROM gc_cells WHERE "row" = 'r' AND qualifier = 'q';
SELECT ts, length(value) FROM gc_cells WHERE "row" = 'r';

-- as in HBase, cells that only a purged marker has masked are visible after the compaction
SELECT widecol.deleteall('gc_cells', 'm', 'cf:q', 1000);
SELECT widecol.flush('gc_cells');
INSERT INTO gc_cells VALUES ('m', 'cf', 'q', 500, 'below');
SELECT ts, value FROM gc_cells WHERE "row" = 'm';
SELECT ts, value FROM gc_cells WHERE "row" = 'm';
SELECT widecol.major_compact('gc_cells');
SELECT ts, value FROM gc_cells WHERE "row" = 'm';

-- an undecodable cell is an error each time
SELECT widecol.put('gc', '\x80000004', 'cf:a', 'x');
SELECT a FROM gc WHERE k = 4;
SELECT a FROM gc WHERE k = 4;

-- EXPLAIN ANALYZE asks the engine
SELECT a FROM gc WHERE k = 1;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT a FROM gc WHERE k = 1;

DROP FOREIGN TABLE gc, gc_cells;
SELECT widecol.drop_table('gc'), widecol.drop_table('gc_cells');
