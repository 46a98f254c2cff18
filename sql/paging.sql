-- Paging: by key columns and by the raw key, forward and backward, and cursors that
-- scroll, hold and see one state.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA paging;
SET search_path = paging, public;
SET datestyle = 'ISO';

-- A table with an order; a page and its end; then all pages one after the other.
CREATE FOREIGN TABLE page (
  grp   text   OPTIONS (rowkey '1') COLLATE "C",
  stamp bigint OPTIONS (rowkey '2', sort 'desc'),
  n     int    OPTIONS (rowkey '3'),
  raw   bytea  OPTIONS (rowkey 'raw'),
  v     int
) SERVER widecol;
INSERT INTO page (grp, stamp, n, v) SELECT g, s, n, row_number() OVER (ORDER BY g COLLATE "C", s DESC, n)
  FROM unnest('{"",a,ab,b,"b ",c}'::text[]) g, generate_series(-8, 8) s, generate_series(1, 3) n;
CREATE TABLE page_heap AS SELECT * FROM page;
SELECT count(*), count(DISTINCT raw), (SELECT count(*) FROM (SELECT v, row_number() OVER (ORDER BY raw) i FROM page_heap) x WHERE v <> i) AS elsewhere FROM page_heap;

-- Goes through the table by a query of $1 to $n, the last row's columns; returns the rows,
-- which rows were read more than once a page, and whether a plan sorts or filters.
CREATE FUNCTION walk(first text, next text, size int, generic bool) RETURNS TABLE (pages int, rows int, in_order bool, plan text) LANGUAGE plpgsql AS $$
DECLARE last page; seen int[] = '{}'; got int; line text; sql text; filled text;
BEGIN
  PERFORM set_config('plan_cache_mode', CASE WHEN generic THEN 'force_generic_plan' ELSE 'force_custom_plan' END, true);
  sql = format('PREPARE next_page(text, bigint, int, bytea) AS %s LIMIT %s', next, size);
  EXECUTE sql;
  pages = 0;
  LOOP
    got = 0;
    IF pages = 0 THEN filled = first || ' LIMIT ' || size;
    ELSE filled = format('EXECUTE next_page(%L, %s, %s, %L)', last.grp, last.stamp, last.n, last.raw);
    END IF;
    IF pages = 1 AND size < 100 THEN
      FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || filled LOOP
        IF line ~ '(Scan:|Sort|Filter|Row Limit)' THEN plan = concat_ws(', ', plan, regexp_replace(trim(line), '^(->|Scan:) *', '')); END IF;
      END LOOP;
    END IF;
    FOR last IN EXECUTE filled LOOP
      got = got + 1;
      seen = seen || last.v;
    END LOOP;
    EXIT WHEN got = 0;
    pages = pages + 1;
  END LOOP;
  DEALLOCATE next_page;
  PERFORM set_config('plan_cache_mode', 'auto', true);
  rows = cardinality(seen);
  SELECT count(*) = 0 INTO in_order FROM (SELECT v, lag(v) OVER (ORDER BY i) AS before FROM unnest(seen) WITH ORDINALITY s (v, i)) x WHERE before IS NOT NULL AND abs(v - before) <> 1;
  RETURN NEXT;
END $$;

CREATE TABLE way (id int, what text, first text, next text);
INSERT INTO way VALUES
  (1, 'raw key', 'SELECT * FROM page ORDER BY raw', 'SELECT * FROM page WHERE raw > $4 ORDER BY raw'),
  (2, 'raw key back', 'SELECT * FROM page ORDER BY raw DESC', 'SELECT * FROM page WHERE raw < $4 ORDER BY raw DESC'),
  (3, 'raw key, the parts'' order', 'SELECT * FROM page ORDER BY grp, stamp DESC, n', 'SELECT * FROM page WHERE raw > $4 ORDER BY grp, stamp DESC, n'),
  (4, 'parts', 'SELECT * FROM page ORDER BY grp, stamp DESC, n',
   'SELECT * FROM page WHERE grp >= $1 AND (grp > $1 OR (grp = $1 AND (stamp < $2 OR (stamp = $2 AND n > $3)))) ORDER BY grp, stamp DESC, n'),
  (5, 'parts back', 'SELECT * FROM page ORDER BY grp DESC, stamp, n DESC',
   'SELECT * FROM page WHERE grp < $1 OR (grp = $1 AND stamp > $2) OR (grp = $1 AND stamp = $2 AND n < $3) ORDER BY grp DESC, stamp, n DESC'),
  (6, 'negated part', 'SELECT * FROM page ORDER BY grp, stamp DESC, n', 'SELECT * FROM page WHERE (grp, - stamp, n) > ($1, - $2, $3) ORDER BY grp, stamp DESC, n'),
  (7, 'one group', 'SELECT * FROM page WHERE grp = ''ab'' ORDER BY stamp DESC, n', 'SELECT * FROM page WHERE grp = ''ab'' AND (stamp < $2 OR (stamp = $2 AND n > $3)) ORDER BY stamp DESC, n'),
  (8, 'one group back, raw key', 'SELECT * FROM page WHERE grp = ''ab'' ORDER BY stamp, n DESC', 'SELECT * FROM page WHERE grp = ''ab'' AND raw < $4 ORDER BY stamp, n DESC');
SELECT what, size, generic, w.* FROM way, unnest('{1,10,51,400}'::int[]) size, unnest('{f,t}'::bool[]) generic, LATERAL walk(first, next, size, generic) w ORDER BY id, generic, size;

-- the same behind a salt, whose raw keys have another order
CREATE FOREIGN TABLE salted (
  grp   text   OPTIONS (rowkey '1') COLLATE "C",
  stamp bigint OPTIONS (rowkey '2', sort 'desc'),
  n     int    OPTIONS (rowkey '3'),
  raw   bytea  OPTIONS (rowkey 'raw'),
  v     int
) SERVER widecol OPTIONS (salt_buckets '5');
INSERT INTO salted (grp, stamp, n, v) SELECT grp, stamp, n, v FROM page_heap;
SELECT what, size, generic, w.* FROM way, unnest('{1,10,51}'::int[]) size, unnest('{f,t}'::bool[]) generic,
  LATERAL walk(replace(first, 'FROM page', 'FROM salted'), replace(next, 'FROM page', 'FROM salted'), size, generic) w WHERE id IN (4, 5, 7) ORDER BY id, generic, size;
SELECT count(*) AS elsewhere FROM (SELECT raw, row_number() OVER () i FROM (SELECT raw FROM salted ORDER BY raw) x) a JOIN (SELECT raw, row_number() OVER (ORDER BY encode(raw, 'hex') COLLATE "C") i FROM salted) b USING (i) WHERE a.raw <> b.raw;

-- a page is read alone, wherever it is
CREATE FUNCTION rows_read(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; n bigint = 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    n = n + coalesce(substring(line FROM 'Rows Read: (\d+)')::bigint, 0);
  END LOOP;
  RETURN n;
END $$;
SELECT what, array_agg(rows_read(replace(replace(replace(replace(next, '$1', quote_literal(grp)), '$2', stamp::text), '$3', n::text), '$4', quote_literal(raw)) || ' LIMIT 10') ORDER BY v) AS read
FROM way, page_heap WHERE way.id IN (1, 2, 3, 4, 5) AND v IN (20, 100, 200, 290) GROUP BY way.id, what ORDER BY way.id;

-- all parts ascending: (a, b) > ($1, $2) is one range
CREATE FOREIGN TABLE plain (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), v int) SERVER widecol;
INSERT INTO plain SELECT a, b, a * 10 + b FROM generate_series(-3, 3) a, generate_series(0, 9) b;
PREPARE next_two(int, int) AS SELECT * FROM plain WHERE (a, b) > ($1, $2) ORDER BY a, b LIMIT 2;
PREPARE prior_two(int, int) AS SELECT * FROM plain WHERE (a, b) < ($1, $2) ORDER BY a DESC, b DESC LIMIT 2;
EXPLAIN (COSTS OFF) EXECUTE next_two(0, 8);
EXECUTE next_two(0, 8);
EXECUTE prior_two(0, 0);
EXECUTE prior_two(-3, 0);
EXECUTE next_two(3, 9);
EXECUTE next_two(0, NULL);
EXECUTE next_two(NULL, 0);
SET plan_cache_mode = force_generic_plan;
EXECUTE next_two(0, 8);
EXECUTE next_two(0, NULL);
EXECUTE prior_two(0, NULL);
RESET plan_cache_mode;

-- rows that come and go between pages
SELECT b FROM plain WHERE a = 0 AND b > 3 ORDER BY b LIMIT 2;
DELETE FROM plain WHERE a = 0 AND b = 5;
INSERT INTO plain VALUES (0, 6, 66);
DELETE FROM plain WHERE a = 0 AND b = 7;
SELECT b, v FROM plain WHERE a = 0 AND b > 5 ORDER BY b LIMIT 2;

-- OFFSET: beyond the end, none, with a filter
SELECT b FROM plain WHERE a = 1 ORDER BY b OFFSET 8;
SELECT b FROM plain WHERE a = 1 ORDER BY b OFFSET 20;
SELECT b FROM plain WHERE a = 1 ORDER BY b LIMIT 0;
SELECT b FROM plain WHERE a = 1 ORDER BY b LIMIT NULL OFFSET 8;
SELECT b FROM plain WHERE a = 1 AND v % 3 = 0 ORDER BY b LIMIT 2 OFFSET 1;
SELECT b FROM plain WHERE a = 1 ORDER BY b FETCH FIRST 2 ROWS WITH TIES;
PREPARE part_of(int, int) AS SELECT b FROM plain WHERE a = 1 ORDER BY b LIMIT $1 OFFSET $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE part_of(2, 3);
EXECUTE part_of(NULL, 8);
EXECUTE part_of(1, NULL);
EXECUTE part_of(-1, 0);
RESET plan_cache_mode;

-- --- cursors ------------------------------------------------------------------------
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT b FROM plain WHERE a = 2 ORDER BY b;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH BACKWARD 5 FROM c;
FETCH NEXT FROM c;
FETCH ABSOLUTE 7 FROM c;
FETCH ABSOLUTE -2 FROM c;
FETCH RELATIVE -3 FROM c;
FETCH RELATIVE 0 FROM c;
FETCH LAST FROM c;
FETCH NEXT FROM c;
FETCH PRIOR FROM c;
FETCH FIRST FROM c;
FETCH ABSOLUTE 0 FROM c;
FETCH ABSOLUTE 11 FROM c;
MOVE BACKWARD ALL FROM c;
MOVE 4 FROM c;
FETCH NEXT FROM c;
MOVE FORWARD ALL FROM c;
MOVE BACKWARD 3 FROM c;
FETCH ALL FROM c;
CLOSE c;

-- without SCROLL: forward, and backward where the plan can
DECLARE c NO SCROLL CURSOR FOR SELECT b FROM plain WHERE a = 2 ORDER BY b;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
ROLLBACK;

-- a cursor sees the table as it was when it was declared, its own transaction's writes too
BEGIN;
INSERT INTO plain VALUES (2, 10, 1);
DECLARE c SCROLL CURSOR FOR SELECT b, v FROM plain WHERE a = 2 AND b > 7 ORDER BY b;
FETCH 1 FROM c;
UPDATE plain SET v = 0 WHERE a = 2;
DELETE FROM plain WHERE a = 2 AND b = 9;
INSERT INTO plain VALUES (2, 11, 1);
FETCH ALL FROM c;
FETCH BACKWARD ALL FROM c;
SAVEPOINT s;
INSERT INTO plain VALUES (2, 12, 1);
DECLARE d SCROLL CURSOR FOR SELECT b, v FROM plain WHERE a = 2 AND b > 7 ORDER BY b;
FETCH LAST FROM d;
ROLLBACK TO s;
FETCH FIRST FROM c;
FETCH LAST FROM c;
DECLARE d SCROLL CURSOR FOR SELECT b, v FROM plain WHERE a = 2 AND b > 7 ORDER BY b;
FETCH LAST FROM d;
ROLLBACK;

-- WITH HOLD outlives the transaction, and does not show later changes
BEGIN;
DECLARE held SCROLL CURSOR WITH HOLD FOR SELECT b, v FROM plain WHERE a = 3 ORDER BY b DESC;
FETCH 2 FROM held;
COMMIT;
DELETE FROM plain WHERE a = 3;
FETCH 2 FROM held;
FETCH ABSOLUTE 10 FROM held;
FETCH PRIOR FROM held;
MOVE FIRST FROM held;
FETCH RELATIVE 3 FROM held;
SELECT count(*) FROM plain WHERE a = 3;
CLOSE held;
BEGIN;
DECLARE gone CURSOR WITH HOLD FOR SELECT b FROM plain;
ROLLBACK;
FETCH 1 FROM gone;

-- a cursor on a page, with parameters, rewound by a loop
CREATE FUNCTION twice(which int) RETURNS SETOF int LANGUAGE plpgsql AS $$
DECLARE c SCROLL CURSOR (x int) FOR SELECT b FROM plain WHERE a = x ORDER BY b LIMIT 3; got int;
BEGIN
  OPEN c(which);
  LOOP FETCH c INTO got; EXIT WHEN NOT FOUND; RETURN NEXT got; END LOOP;
  LOOP FETCH PRIOR FROM c INTO got; EXIT WHEN NOT FOUND; RETURN NEXT got; END LOOP;
  MOVE ABSOLUTE 2 IN c;
  FETCH NEXT FROM c INTO got;
  RETURN NEXT got;
END $$;
SELECT array_agg(t) FROM twice(1) t;

-- several ranges and single rows, scrolled
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a, b FROM plain WHERE a IN (-3, 1) AND b > 7 ORDER BY a, b;
FETCH ALL FROM c;
FETCH BACKWARD ALL FROM c;
FETCH ABSOLUTE 3 FROM c;
CLOSE c;
DECLARE c SCROLL CURSOR FOR SELECT a, b FROM plain WHERE a = 1 AND b = 1;
FETCH BACKWARD 1 FROM c;
FETCH 5 FROM c;
FETCH 1 FROM c;
FETCH BACKWARD 5 FROM c;
CLOSE c;
DECLARE c SCROLL CURSOR FOR SELECT a, b FROM plain WHERE a = 1 AND b > 100;
FETCH 1 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
COMMIT;

-- errors of a positioned update
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM plain WHERE a = 1 FOR UPDATE;
FETCH 1 FROM c;
UPDATE plain SET v = 1 WHERE CURRENT OF c;
ROLLBACK;

DROP FOREIGN TABLE page, salted, plain;
SELECT widecol.drop_table('page'), widecol.drop_table('salted');
SELECT widecol.drop_table('plain');
DROP SCHEMA paging CASCADE;
