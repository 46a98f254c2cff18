-- EXPLAIN (ANALYZE, VERBOSE): what the engine did; in every format; paging in a row by cells
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA counted;
SET search_path = counted, public;

CREATE FOREIGN TABLE t (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), v text) SERVER widecol OPTIONS ("table" 'counted');
INSERT INTO t SELECT i / 100, i % 100, 'value ' || i FROM generate_series(0, 9999) i;
SELECT widecol.flush('counted');

-- the numbers of blocks depend on how the blocks were filled, and on the cache
CREATE FUNCTION counters(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    CONTINUE WHEN line !~ 'Scan|Sort|Limit|Read|Examined|Seeks|Batches|Hits' OR line ~ 'Sort Method';
    RETURN NEXT regexp_replace(line, '(Hits|Blocks Read): \d+', '\1: N');
  END LOOP;
END $$;
SELECT count(*) FROM t;
CREATE FUNCTION blocks(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
  RETURN (plan->0->'Plan'->>'Cache Hits')::bigint + (plan->0->'Plan'->>'Blocks Read')::bigint;
END $$;
SELECT blocks('SELECT * FROM t WHERE a = 5') > 0 AS some, blocks('SELECT * FROM t') > 2 AS more;
SELECT counters('SELECT * FROM t WHERE a = 5');
SELECT counters('SELECT * FROM t WHERE a = 5 AND b = 7');
SELECT counters('SELECT * FROM t WHERE a IN (5, 7, 500) AND b < 10');
SELECT counters('SELECT * FROM t ORDER BY a DESC, b DESC LIMIT 10');
SELECT counters('SELECT * FROM t WHERE v = ''value 5''');
-- each loop counts
SELECT counters('SELECT * FROM (VALUES (1), (2), (3)) x(i), LATERAL (SELECT v FROM t WHERE a = i AND b = i OFFSET 0) y');
-- rows that are deleted are examined, until they are forgotten
DELETE FROM t WHERE a = 6;
SELECT counters('SELECT * FROM t WHERE a BETWEEN 5 AND 7');
SELECT widecol.flush('counted');
SELECT widecol.major_compact('counted');
SELECT counters('SELECT * FROM t WHERE a BETWEEN 5 AND 7');
-- a page of a hundred rows of 1 kB is one answer
INSERT INTO t SELECT 300, i, repeat('x', 1000) FROM generate_series(1, 200) i;
SELECT counters('SELECT * FROM t WHERE a = 300 ORDER BY b LIMIT 100');
DELETE FROM t WHERE a = 300;
-- nothing to read, nothing asked
SELECT counters('SELECT * FROM t WHERE a = 1 AND b > 5 AND b < 3');
-- own writes count
BEGIN;
INSERT INTO t VALUES (200, 1, 'own');
SELECT counters('SELECT * FROM t WHERE a = 200');
ROLLBACK;

-- blocks as PostgreSQL shows its own: blocks in the cache are not read
CREATE FUNCTION buffers(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    CONTINUE WHEN line !~ 'Scan on|Delete|Engine Blocks';
    RETURN NEXT regexp_replace(line, 'hit=\d+', 'hit=N');
  END LOOP;
END $$;
SELECT count(v) FROM t;
SELECT buffers('SELECT count(v) FROM t');
BEGIN;
SELECT buffers('DELETE FROM t WHERE a = 9');
ROLLBACK;
-- in memory only: no blocks
CREATE FOREIGN TABLE fresh (a int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS ("table" 'counted_fresh');
INSERT INTO fresh VALUES (1, 'one');
SELECT buffers('SELECT * FROM fresh');
CREATE FUNCTION block_counts(query text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
  RETURN plan->0->'Plan';
END $$;
-- nor has the scan cache rows that were written
INSERT INTO fresh VALUES (2, 'two');
SELECT p->>'Engine Hit Blocks' AS hit, p->>'Engine Read Blocks' AS read FROM block_counts('SELECT * FROM fresh') p;
SELECT (p->>'Engine Hit Blocks')::int > 2 AS hit, p->>'Engine Read Blocks' AS read FROM block_counts('SELECT * FROM t') p;

-- formats
CREATE FUNCTION formatted(query text, format text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text; whole text;
BEGIN
  FOR whole IN EXECUTE format('EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT %s) ', format) || query LOOP
    FOREACH line IN ARRAY string_to_array(whole, E'\n') LOOP
      RETURN NEXT regexp_replace(line, '(Hits|Blocks.Read)("?: |>)\d+', '\1\2N');
    END LOOP;
  END LOOP;
END $$;
SELECT formatted('SELECT v FROM counted.t WHERE a IN (1, 2) AND b > 97 ORDER BY a DESC, b DESC LIMIT 3', 'json');
SELECT formatted('SELECT v FROM counted.t WHERE a IN (1, 2) AND b > 97 ORDER BY a DESC, b DESC LIMIT 3', 'yaml');
SELECT formatted('SELECT v FROM counted.t WHERE (a, b) > (1, 97) AND (a = 1 OR a = 3)', 'xml');

-- a wide row, cell by cell: a limit stops in the midst of the row
CREATE FOREIGN TABLE wide ("row" text COLLATE "C", family text COLLATE "C", qualifier text COLLATE "C", ts bigint, value text)
  SERVER widecol OPTIONS ("table" 'counted_wide', layout 'cell', families '{"cf": {"versions": 3}}');
INSERT INTO wide SELECT r, 'cf', lpad(q::text, 4, '0'), 1, 'v' || q FROM unnest('{r1,r2}'::text[]) r, generate_series(1, 2000) q;
INSERT INTO wide VALUES ('r1', 'cf', '0003', 2, 'newer');
SELECT widecol.flush('counted_wide');
SELECT counters('SELECT qualifier FROM wide WHERE row = ''r1'' LIMIT 3');
SELECT counters('SELECT qualifier FROM wide WHERE row = ''r1'' AND family = ''cf'' AND qualifier > ''0999'' ORDER BY qualifier LIMIT 3 OFFSET 2');
SELECT qualifier, value FROM wide WHERE row = 'r1' AND family = 'cf' AND qualifier > '0999' ORDER BY qualifier LIMIT 3 OFFSET 2;
SELECT counters('SELECT qualifier FROM wide WHERE row = ''r1'' AND qualifier >= ''0100'' AND qualifier < ''0110''');
SELECT qualifier, ts, value FROM wide WHERE row = 'r1' AND family = 'cf' AND qualifier >= '0002' ORDER BY qualifier, ts DESC LIMIT 4;
SELECT counters('SELECT qualifier FROM wide WHERE row = ''r1'' AND family = ''cf'' AND qualifier >= ''0002'' ORDER BY qualifier, ts DESC LIMIT 4');
SELECT row, qualifier FROM wide WHERE qualifier IN ('0001', '1999') ORDER BY row, family, qualifier, ts DESC;
SELECT counters('SELECT qualifier FROM wide WHERE row >= ''r1'' AND family = ''cf'' ORDER BY row, qualifier LIMIT 2002');
SELECT counters('SELECT qualifier FROM wide WHERE row = ''r1'' ORDER BY qualifier DESC LIMIT 2');
SELECT counters('SELECT qualifier FROM wide WHERE row = ''r1'' AND value = ''v7'' ORDER BY family, qualifier LIMIT 1');

-- several families: each may be all that is asked for
SELECT widecol.alter_table('counted_wide', '{"b": {}, "x": {}}');
INSERT INTO wide SELECT 'r1', f, q::text, NULL, f || q FROM unnest('{b,x}'::text[]) f, generate_series(1, 3) q;
SELECT family, qualifier, value FROM wide WHERE row = 'r1' LIMIT 5;
SELECT family, qualifier, value FROM wide WHERE row = 'r1' ORDER BY family, qualifier OFFSET 2 LIMIT 3;
SELECT counters('SELECT family, qualifier, value FROM wide WHERE row = ''r1'' ORDER BY family, qualifier OFFSET 2 LIMIT 3');
SELECT counters('SELECT qualifier FROM wide WHERE row = ''r1'' ORDER BY qualifier LIMIT 3');
SELECT family, qualifier FROM wide WHERE row = 'r1' AND family > 'b' AND qualifier < '0003' ORDER BY family, qualifier, ts DESC LIMIT 7;

-- limit and offset a family in each row
SELECT "row", family, qualifier, value FROM widecol.get('wide', 'r1', column_limit => 2);
SELECT "row", family, qualifier, value FROM widecol.get('wide', 'r1', column_limit => 2, column_offset => 2);
SELECT "row", family, qualifier, value FROM widecol.get('wide', 'r1', columns => '{cf}', versions => 3, column_limit => 2, column_offset => 2);
SELECT "row", family, qualifier, value FROM widecol.scan('wide', column_limit => 1, column_offset => 1);
SELECT "row", family, qualifier, value FROM widecol.scan('wide', reversed => true, column_limit => 1, row_limit => 1);
SELECT "row", family, qualifier FROM widecol.scan('wide', columns => '{cf}', column_offset => 1999);
SELECT "row", family, qualifier FROM widecol.get('wide', 'r1', column_offset => 2000);
SELECT count(*) FROM widecol.get('wide', 'r1', column_limit => 0);
SELECT count(*) FROM widecol.get('wide', 'r1', column_limit => -1);
SELECT count(*) FROM widecol.get('wide', 'r1', column_offset => -1);

DROP SCHEMA counted CASCADE;
SELECT widecol.drop_table('counted'), widecol.drop_table('counted_wide'), widecol.drop_table('counted_fresh');
