-- LIMIT and OFFSET in the engine: the rows of every page are PostgreSQL's, and where
-- the scan skips them, and where it must not.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA lo;
SET search_path = lo, public;

CREATE TABLE h (a int, b text COLLATE "C", v int, n numeric, w text);
INSERT INTO h SELECT a, 'b' || b, a * 10 + b, CASE WHEN b = 3 THEN 10::numeric ^ 70 + a ELSE (a * 7 + b) % 23 END, CASE WHEN b % 2 = 0 THEN repeat('w', b) END
  FROM generate_series(-6, 6) a, generate_series(0, 9) b;

-- The same rows in both packings, salted, by raw key, behind a record type, and with rows that are gone.
CREATE FOREIGN TABLE t_row (a int OPTIONS (rowkey '1'), b text OPTIONS (rowkey '2', sort 'desc') COLLATE "C", v int, n numeric, w text)
  SERVER widecol OPTIONS (families '{"cf": {"packing": "row"}}');
CREATE FOREIGN TABLE t_cell (a int OPTIONS (rowkey '1'), b text OPTIONS (rowkey '2') COLLATE "C", v int, n numeric, w text OPTIONS (family 'g'))
  SERVER widecol OPTIONS (families '{"cf": {"packing": "cell"}, "g": {"packing": "row"}}');
CREATE FOREIGN TABLE t_salt (a int OPTIONS (rowkey '1'), b text OPTIONS (rowkey '2') COLLATE "C", v int, n numeric, w text)
  SERVER widecol OPTIONS (salt_buckets '5');
CREATE FOREIGN TABLE t_type (kind text OPTIONS (rowkey '1') COLLATE "C" DEFAULT 'm', a int OPTIONS (rowkey '2'), b text OPTIONS (rowkey '3') COLLATE "C", v int, n numeric, w text,
  CHECK (kind = 'm')) SERVER widecol OPTIONS (table 't_types');
CREATE FOREIGN TABLE t_other (kind text OPTIONS (rowkey '1') COLLATE "C" DEFAULT 'n', a int OPTIONS (rowkey '2'), v int, CHECK (kind = 'n')) SERVER widecol OPTIONS (table 't_types');
INSERT INTO t_other (a) SELECT generate_series(1, 30);
SELECT format('INSERT INTO %s (a, b, v, n, w) SELECT * FROM h UNION ALL SELECT 3, ''gone'' || g, g, g, ''x'' FROM generate_series(1, 20) g', t),
       format('DELETE FROM %s WHERE b LIKE ''gone%%''', t) FROM unnest('{t_row,t_cell,t_salt,t_type}'::text[]) t \gexec

-- Every page of a query, with plans for the values and for any; gives how many rows all pages had, and which differed.
CREATE FUNCTION pages(t text, rest text, cols text = 'a, b, v, n, w') RETURNS text LANGUAGE plpgsql AS $$
DECLARE got text[]; want text[]; total int = 0; bad text[] = '{}'; mode text; l bigint; o bigint;
BEGIN
  EXECUTE format('PREPARE got(bigint, bigint) AS SELECT %s FROM %s AS t %s LIMIT $1 OFFSET $2', cols, t, rest);
  EXECUTE format('PREPARE want(bigint, bigint) AS SELECT %s FROM h AS t %s LIMIT $1 OFFSET $2', cols, rest);
  FOREACH mode IN ARRAY '{force_custom_plan,force_generic_plan}'::text[] LOOP
    PERFORM set_config('plan_cache_mode', mode, true);
    FOREACH l IN ARRAY '{NULL,4}'::bigint[] LOOP
      FOREACH o IN ARRAY '{NULL,1,17,129,131}'::bigint[] LOOP
        got = '{}'; want = '{}';
        FOR rest IN EXECUTE format('EXECUTE got(%s, %s)', coalesce(l::text, 'NULL'), coalesce(o::text, 'NULL')) LOOP got = got || rest; END LOOP;
        FOR rest IN EXECUTE format('EXECUTE want(%s, %s)', coalesce(l::text, 'NULL'), coalesce(o::text, 'NULL')) LOOP want = want || rest; END LOOP;
        total = total + cardinality(got);
        IF got <> want THEN bad = bad || format('%s LIMIT %s OFFSET %s: %s, not %s', mode, l, o, got, want); END IF;
      END LOOP;
    END LOOP;
  END LOOP;
  DEALLOCATE got;
  DEALLOCATE want;
  PERFORM set_config('plan_cache_mode', 'auto', true);
  RETURN total || ' rows' || CASE WHEN bad = '{}' THEN '' ELSE ', DIFFERS: ' || array_to_string(bad, ' and ') END;
END $$;

-- The lines of a plan that tell which node skips rows.
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; words text[] = '{}';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ '^ *(-> *)?(Scan|Row Limit|Row Offset|Engine Filter|Filter|Limit|Sort|Incremental Sort|LockRows|Append|ProjectSet|Unique)( |:|$)' THEN
      words = words || regexp_replace(regexp_replace(trim(line), '^(->|Scan:) *', ''), '\(InitPlan (\d+)\)\.col1', '$0', 'g');
    END IF;
  END LOOP;
  RETURN array_to_string(words, ' | ');
END $$;
CREATE FUNCTION rows_read(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; n bigint = 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    n = n + coalesce(substring(line FROM 'Rows Read: (\d+)')::bigint, 0);
  END LOOP;
  RETURN n;
END $$;

-- --- pages ------------------------------------------------------------------------
CREATE TABLE q (id int, what text, rest text);
INSERT INTO q VALUES
  (1, 'all', 'ORDER BY a, b'),
  (2, 'backward', 'ORDER BY a DESC, b DESC'),
  (3, 'mixed order', 'ORDER BY a, b DESC'),
  (4, 'one range', 'WHERE a BETWEEN -3 AND 2 ORDER BY a, b'),
  (5, 'ranges', 'WHERE a IN (-5, 0, 1, 4, 99) AND b > ''b3'' ORDER BY a, b'),
  (6, 'ranges back', 'WHERE a = ANY (ARRAY[-5, 1, 4]) AND b <= ''b7'' ORDER BY a DESC, b DESC'),
  (7, 'single rows', 'WHERE a IN (1, 2, 3) AND b IN (''b1'', ''b9'', ''none'') ORDER BY a, b'),
  (8, 'one row', 'WHERE a = 1 AND b = ''b1'' ORDER BY a, b'),
  (9, 'filter', 'WHERE v > 5 ORDER BY a, b'),
  (10, 'filter back', 'WHERE w IS NOT NULL AND v <> 14 ORDER BY a DESC, b DESC'),
  (11, 'rows that the filter leaves undecided', 'WHERE n > 8 ORDER BY a, b'),
  (12, 'the same, and most of them do not pass', 'WHERE n < 8 ORDER BY a DESC, b DESC'),
  (13, 'ranges and a filter', 'WHERE a IN (-2, 3, 5) AND (n >= 4 OR w IS NULL) ORDER BY a, b'),
  (14, 'a bound that is widened when it runs', 'WHERE a IN (1, 2) AND b LIKE (SELECT ''b_'') ORDER BY a, b'),
  (15, 'a filter that is widened when it runs', 'WHERE w LIKE (SELECT ''w_w%w'') ORDER BY a, b'),
  (16, 'too many ranges', 'WHERE a = ANY (ARRAY(SELECT generate_series(-150, 3))) AND b = ANY (ARRAY(SELECT ''b'' || generate_series(2, 99))) ORDER BY a, b'),
  (17, 'local condition', 'WHERE v % 3 = 0 ORDER BY a, b'),
  (18, 'another order', 'ORDER BY n, a, b'),
  (19, 'nothing', 'WHERE a > 3 AND a < 2 ORDER BY a, b'),
  (20, 'NULL', 'WHERE a = NULL::int ORDER BY a, b');
SELECT what, t, pages(t, rest) FROM q, unnest('{t_row,t_cell,t_salt,t_type}'::text[]) t ORDER BY id, t;

-- only the rows of the page travel
SET enable_sort = off;
SELECT what, t, rows_read(format('SELECT v FROM %s %s LIMIT 4 OFFSET 17', t, rest)) AS read, plan_of(format('SELECT v FROM %s %s LIMIT 4 OFFSET 17', t, rest)) AS plan
FROM q, unnest('{t_row,t_cell,t_salt,t_type}'::text[]) t WHERE id IN (1, 2, 5, 9, 14, 15, 17, 18) ORDER BY id, t;
RESET enable_sort;

-- --- EXPLAIN ------------------------------------------------------------------------
EXPLAIN (COSTS OFF) SELECT * FROM t_cell ORDER BY a, b LIMIT 10 OFFSET 20;
EXPLAIN (COSTS OFF, FORMAT JSON) SELECT v FROM t_cell OFFSET 20;
EXPLAIN (VERBOSE, COSTS OFF) SELECT v + 1, upper(w) FROM t_cell WHERE v > 3 ORDER BY a LIMIT 2 + 1 OFFSET 2 * 10;
PREPARE page(int, int) AS SELECT v FROM t_cell ORDER BY a, b LIMIT $1 OFFSET ($2 - 1) * $1;
EXPLAIN (COSTS OFF) EXECUTE page(10, 3);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE page(10, 3);
PREPARE first_rows(int) AS SELECT v FROM t_cell ORDER BY a, b LIMIT $1;
EXPLAIN (COSTS OFF) EXECUTE first_rows(3);
EXECUTE first_rows(3);
EXECUTE page(2, 5);
EXECUTE page(1, 1);
EXECUTE page(2, 66);
EXECUTE page(0, 3);
EXECUTE first_rows(0);
SELECT v FROM t_cell ORDER BY a, b LIMIT 9223372036854775807 OFFSET 128;
SELECT v FROM t_cell ORDER BY a, b OFFSET 9223372036854775807;

-- --- errors, as of PostgreSQL ----------------------------------------------------------
\set VERBOSITY sqlstate
EXECUTE first_rows(-1);
EXECUTE page(-1, 0);
EXECUTE page(2, 0);
\set VERBOSITY default
RESET plan_cache_mode;
SELECT v FROM t_cell ORDER BY a, b LIMIT -1;
SELECT v FROM t_cell ORDER BY a, b LIMIT -1 OFFSET -1;
SELECT v FROM t_cell WHERE a > 1 AND a < 1 OFFSET -1;
SELECT v FROM t_cell OFFSET 9223372036854775808;
SELECT v FROM t_cell WHERE a = 1 ORDER BY b LIMIT (SELECT 2) OFFSET (SELECT max(v) FROM h WHERE v < 5);
SELECT v FROM t_cell WHERE a = 1 ORDER BY b LIMIT (SELECT NULL::int) OFFSET (SELECT v FROM h WHERE false) + 8;

-- --- not pushed ---------------------------------------------------------------------
CREATE SEQUENCE s;
SELECT plan_of(x), x FROM unnest(ARRAY[
  'SELECT v FROM t_row ORDER BY a LIMIT 3 OFFSET 2 FOR UPDATE',
  'SELECT v FROM t_row ORDER BY a OFFSET 2 FETCH FIRST 3 ROWS WITH TIES',
  'SELECT DISTINCT a FROM t_row ORDER BY a LIMIT 3 OFFSET 2',
  'SELECT a, count(*) FROM t_row GROUP BY a ORDER BY a LIMIT 3 OFFSET 2',
  'SELECT a, rank() OVER (ORDER BY a) FROM t_row ORDER BY a LIMIT 3 OFFSET 2',
  'SELECT a, generate_series(1, 2) FROM t_row ORDER BY a LIMIT 3 OFFSET 2',
  'SELECT a, nextval(''s'') FROM t_row ORDER BY a LIMIT 3 OFFSET 2',
  'SELECT a, (SELECT nextval(''s'') FROM h WHERE h.v = t_row.v) FROM t_row ORDER BY a LIMIT 3 OFFSET 2',
  'SELECT a FROM t_row ORDER BY a LIMIT 3 OFFSET (random() * 2)::int',
  'SELECT a FROM t_row WHERE current_user = ''nobody'' ORDER BY a LIMIT 3 OFFSET 2',
  'SELECT a FROM t_row UNION ALL SELECT a FROM t_cell LIMIT 3 OFFSET 2',
  'SELECT x.a FROM t_row x JOIN t_cell y USING (a, b) ORDER BY a LIMIT 3 OFFSET 2',
  'SELECT v FROM t_row ORDER BY a LIMIT 3 OFFSET 0',
  'SELECT v FROM t_row ORDER BY a LIMIT 3']) x;
SET widecol.enable_pushdown = off;
SELECT plan_of('SELECT v FROM t_row ORDER BY a LIMIT 3 OFFSET 2');
RESET widecol.enable_pushdown;
SELECT v, nextval('s') FROM t_row ORDER BY a, b DESC LIMIT 2 OFFSET 3;
-- the select list of skipped rows is not evaluated
SELECT plan_of('SELECT v, (SELECT count(*) FROM h WHERE h.a = t.a) FROM t_cell t ORDER BY a, b LIMIT 2 OFFSET 25');
SELECT v, (SELECT count(*) FROM h WHERE h.a = t.a) FROM t_cell t ORDER BY a, b LIMIT 2 OFFSET 25;

-- --- the queries around -----------------------------------------------------------------
SELECT count(*), min(v) FROM (SELECT v FROM t_cell ORDER BY a, b OFFSET 30) x;
SELECT count(*) FROM (SELECT FROM t_cell LIMIT 7 OFFSET 125) x;
SELECT a, ARRAY(SELECT v FROM t_cell t WHERE t.a = x.a ORDER BY b LIMIT 2 OFFSET x.a) FROM (SELECT DISTINCT a FROM h WHERE a >= 0) x ORDER BY a;
SELECT x, l.v FROM generate_series(7, 11) x, LATERAL (SELECT v FROM t_cell WHERE a = 1 ORDER BY b LIMIT x - 6 OFFSET x) l ORDER BY 1, 2;
SELECT x, (SELECT v FROM t_cell ORDER BY a, b LIMIT 1 OFFSET 100) FROM generate_series(1, 3) x;
SELECT x, l.v FROM generate_series(1, 3) x, LATERAL (SELECT v FROM t_cell WHERE v + 0 * x > 0 ORDER BY a, b LIMIT 1 OFFSET 40) l;
SELECT x, EXISTS (SELECT FROM t_cell WHERE v > 0 OFFSET x) FROM unnest('{5,58,59,60,68,69}'::int[]) x;
SELECT x, -x FROM generate_series(0, 1) x, LATERAL (SELECT v FROM t_cell OFFSET -x) l LIMIT 200 OFFSET 130;
-- the same rows again and again: read twice at most, then kept
CREATE FUNCTION reads(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Rows Read|Row Offset|Foreign Scan' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
SET enable_material = off;
SELECT reads('SELECT x, v FROM (SELECT v FROM t_cell ORDER BY a, b LIMIT 3 OFFSET 50) t RIGHT JOIN generate_series(1, 4) x ON v <> x');
SELECT x, v FROM (SELECT v FROM t_cell ORDER BY a, b LIMIT 3 OFFSET 50) t RIGHT JOIN generate_series(1, 4) x ON v <> x AND v > -12 + x ORDER BY 1, 2;
RESET enable_material;
SELECT count(*) FROM (SELECT v FROM t_cell ORDER BY a, b LIMIT 3 OFFSET 50) x JOIN (SELECT v FROM t_row ORDER BY a, b DESC LIMIT 9 OFFSET 47) y USING (v);
WITH m AS MATERIALIZED (SELECT v FROM t_cell ORDER BY a, b LIMIT 3 OFFSET 127) SELECT * FROM m UNION ALL (SELECT v FROM t_row WHERE a = 0 ORDER BY b LIMIT 1 OFFSET 9) ORDER BY 1;
-- below an Append, where scans of few rows are opened together
SELECT plan_of('(SELECT v FROM t_cell WHERE a = 1 ORDER BY b OFFSET 8) UNION ALL (SELECT v FROM t_row WHERE a = 1 ORDER BY b DESC OFFSET 9) UNION ALL (SELECT v FROM t_type WHERE a = 1 OFFSET 7)');
(SELECT v FROM t_cell WHERE a = 1 ORDER BY b OFFSET 8) UNION ALL (SELECT v FROM t_row WHERE a = 1 ORDER BY b DESC OFFSET 9) UNION ALL (SELECT v FROM t_type WHERE a = 1 OFFSET 7);
SELECT x, ARRAY((SELECT v FROM t_cell WHERE a = 1 ORDER BY b OFFSET x) UNION ALL (SELECT v FROM t_row WHERE a = x - 7 ORDER BY b DESC OFFSET 9)) FROM generate_series(7, 9) x;
CREATE VIEW last_rows AS SELECT * FROM t_cell ORDER BY a DESC, b DESC LIMIT 5 OFFSET 2;
SELECT v FROM last_rows WHERE v > 65;
-- partitions and children are not taken over
CREATE TABLE parted (LIKE h) PARTITION BY LIST (a);
CREATE FOREIGN TABLE part_1 (a int OPTIONS (rowkey '1'), b text OPTIONS (rowkey '2') COLLATE "C", v int, n numeric, w text) SERVER widecol;
ALTER TABLE parted ATTACH PARTITION part_1 FOR VALUES IN (1);
CREATE FOREIGN TABLE part_2 (a int OPTIONS (rowkey '1'), b text OPTIONS (rowkey '2') COLLATE "C", v int, n numeric, w text) SERVER widecol;
ALTER TABLE parted ATTACH PARTITION part_2 FOR VALUES IN (2);
INSERT INTO parted SELECT * FROM h WHERE a IN (1, 2);
SELECT plan_of('SELECT v FROM parted ORDER BY a, b LIMIT 2 OFFSET 9');
SELECT v FROM parted ORDER BY a, b LIMIT 2 OFFSET 9;
SELECT v FROM parted WHERE a = 2 ORDER BY b LIMIT 2 OFFSET 8;

-- --- rows that this transaction has written -------------------------------------------
BEGIN;
DELETE FROM t_row WHERE a < 0; DELETE FROM t_cell WHERE a < 0; DELETE FROM t_salt WHERE a < 0; DELETE FROM t_type WHERE a < 0; DELETE FROM h WHERE a < 0;
SELECT format('INSERT INTO %s (a, b, v, n, w) SELECT -2, ''b'' || g, g, 10::numeric ^ (60 + g), NULL FROM generate_series(0, 8, 2) g', t) FROM unnest('{t_row,t_cell,t_salt,t_type,h}'::text[]) t \gexec
SAVEPOINT s;
SELECT format('UPDATE %s SET n = 9, v = v + 1 WHERE b = ''b4''', t) FROM unnest('{t_row,t_cell,t_salt,t_type,h}'::text[]) t \gexec
SELECT what, t, pages(t, rest) FROM q, unnest('{t_row,t_cell,t_salt,t_type}'::text[]) t WHERE id IN (1, 2, 5, 6, 9, 11, 15) ORDER BY id, t;
ROLLBACK TO s;
SELECT what, t, pages(t, rest) FROM q, unnest('{t_row,t_cell,t_salt,t_type}'::text[]) t WHERE id IN (2, 11) ORDER BY id, t;
-- a cursor sees the page as it was
DECLARE c SCROLL CURSOR FOR SELECT v FROM t_cell ORDER BY a, b LIMIT 4 OFFSET 3;
DELETE FROM t_cell WHERE a = -2;
FETCH 2 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
FETCH ABSOLUTE 2 FROM c;
FETCH LAST FROM c;
MOVE ABSOLUTE 0 FROM c;
FETCH NEXT FROM c;
DECLARE d NO SCROLL CURSOR FOR SELECT v FROM t_cell ORDER BY a, b OFFSET 67;
FETCH 1 FROM d;
INSERT INTO t_cell (a, b) VALUES (-2, 'x');
FETCH ALL FROM d;
FETCH PRIOR FROM d;
ROLLBACK;
BEGIN;
DECLARE held SCROLL CURSOR WITH HOLD FOR SELECT v FROM t_salt ORDER BY a, b LIMIT 2 OFFSET 64;
COMMIT;
FETCH ALL FROM held;
FETCH FIRST FROM held;
CLOSE held;

-- a page beside rows that are locked, changed and deleted
BEGIN;
SELECT h.v, p.v FROM h, (SELECT v FROM t_cell ORDER BY a, b LIMIT 1 OFFSET 77) p WHERE h.v = p.v + 1 FOR UPDATE OF h;
UPDATE h SET w = 'page' FROM (SELECT v FROM t_cell ORDER BY a, b LIMIT 2 OFFSET 77) p WHERE h.v = p.v RETURNING h.v, h.w;
DELETE FROM t_row WHERE v IN (SELECT v FROM t_row ORDER BY a, b DESC OFFSET 5);
SELECT v FROM t_row ORDER BY a, b DESC;
ROLLBACK;

-- --- layout cell: a row is a cell ---------------------------------------------------------
CREATE FOREIGN TABLE cells ("row" text COLLATE "C", family text COLLATE "C", qualifier text COLLATE "C", ts bigint, value text)
  SERVER widecol OPTIONS (layout 'cell', families '{"cf": {"versions": 3}, "g": {}}');
INSERT INTO cells SELECT 'r' || r, f, 'q' || c, ts, r || f || c || ts FROM generate_series(1, 3) r, unnest('{cf,g}'::text[]) f, generate_series(1, 4) c, generate_series(1, CASE f WHEN 'g' THEN 1 ELSE 3 END) ts;
DELETE FROM cells WHERE row = 'r2' AND qualifier = 'q2' AND ts = 1;
SELECT plan_of('SELECT value FROM cells ORDER BY row, family, qualifier, ts DESC LIMIT 3 OFFSET 13'),
       rows_read('SELECT value FROM cells ORDER BY row, family, qualifier, ts DESC LIMIT 3 OFFSET 13');
SELECT * FROM cells ORDER BY row, family, qualifier, ts DESC LIMIT 6 OFFSET 13;
SELECT row, value FROM cells ORDER BY row DESC LIMIT 3 OFFSET 14;
CREATE TABLE cells_heap AS SELECT * FROM cells;
CREATE FUNCTION page_of(t regclass, cond text, l int, o int) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE found text[];
BEGIN
  EXECUTE format('SELECT array_agg(c::text) FROM (SELECT "row", family, qualifier, ts, value FROM %s WHERE %s ORDER BY "row", family, qualifier, ts DESC LIMIT %s OFFSET %s) c', t, cond, l, o) INTO found;
  RETURN coalesce(found, '{}');
END $$;
SELECT cond, sum(cardinality(page_of('cells', cond, l, o))) AS rows, count(*) FILTER (WHERE page_of('cells', cond, l, o) <> page_of('cells_heap', cond, l, o)) AS differ
FROM unnest(ARRAY['true', '"row" > ''r1''', 'qualifier >= ''q2''', 'family = ''g''', 'ts < 3', '"row" = ''r2'' AND ts >= 2', 'value > ''1g''']) cond,
  generate_series(0, 50, 3) o, generate_series(0, 9, 3) l GROUP BY cond ORDER BY cond;

DROP SCHEMA lo CASCADE;
SELECT widecol.drop_table(t) FROM unnest('{t_row,t_cell,t_salt,t_types,part_1,part_2,cells}'::text[]) t;
