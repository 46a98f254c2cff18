-- Salted keys: options salt_buckets and salt_by.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA salt;
SET search_path = salt, public;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Runs a query on the salted table t and on its heap copy; gives the number of rows, or how they differ.
CREATE FUNCTION same(rest text, cols text = '*') RETURNS text LANGUAGE plpgsql AS $$
DECLARE stored text[]; heap text[];
BEGIN
  EXECUTE format('SELECT array_agg(x::text) FROM (SELECT %s FROM t %s) x', cols, rest) INTO stored;
  EXECUTE format('SELECT array_agg(x::text) FROM (SELECT %s FROM h AS t %s) x', cols, rest) INTO heap;
  IF rest !~ 'ORDER BY' THEN
    SELECT array_agg(x ORDER BY x) INTO stored FROM unnest(stored) x;
    SELECT array_agg(x ORDER BY x) INTO heap FROM unnest(heap) x;
  END IF;
  IF stored IS NOT DISTINCT FROM heap THEN
    RETURN coalesce(cardinality(stored), 0) || ' rows';
  END IF;
  RETURN format('DIFFERS: %s and %s', stored, heap);
END $$;

-- A query's scan, whether there is a sort, and the cost.
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; words text[] = '{}';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ '^ *(-> *)?(Incremental )?Sort ' AND line !~ 'Sort (Key|Method)' THEN words = words || 'SORT'::text; END IF;
    IF line ~ '^ *(Scan|Buckets|Row Limit|Row Offset|Rows Read|Seeks): ' THEN
      words = words || trim(regexp_replace(line, '^ *Scan: ', ''));
    END IF;
  END LOOP;
  RETURN array_to_string(words, ' | ');
END $$;

-- --- options ------------------------------------------------------------------
CREATE FOREIGN TABLE bad (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (salt_buckets '0');
CREATE FOREIGN TABLE bad (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (salt_buckets '257');
CREATE FOREIGN TABLE bad (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (salt_by 'k');
CREATE FOREIGN TABLE bad (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (salt_buckets '4', salt_by 'x');
CREATE FOREIGN TABLE bad (k int OPTIONS (rowkey '1'), v int) SERVER widecol OPTIONS (salt_buckets '4', salt_by 'k, v');
CREATE FOREIGN TABLE bad (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (salt_buckets '4', salt_by 'k, "k"');
CREATE FOREIGN TABLE bad (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (salt_buckets '4', salt_by '');
CREATE FOREIGN TABLE bad (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (salt_buckets '4', salt_by 'k,');
CREATE FOREIGN TABLE bad (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (salt_buckets '4', salt_by 'minute(k)');
CREATE FOREIGN TABLE bad (k date OPTIONS (rowkey '1')) SERVER widecol OPTIONS (salt_buckets '4', salt_by 'minute(k)');
CREATE FOREIGN TABLE bad (k timestamp OPTIONS (rowkey '1', encoding 'text')) SERVER widecol OPTIONS (salt_buckets '4', salt_by 'minute(k)');
CREATE FOREIGN TABLE bad (k timestamp OPTIONS (rowkey '1')) SERVER widecol OPTIONS (salt_buckets '61', salt_by 'minute(k)');
CREATE FOREIGN TABLE bad (k bytea OPTIONS (rowkey 'raw')) SERVER widecol OPTIONS (salt_buckets '4');
CREATE FOREIGN TABLE bad ("row" bytea) SERVER widecol OPTIONS (layout 'cell', salt_buckets '4');

-- --- bytes: one leading byte, murmur3(key) mod n ---------------------------------
CREATE FOREIGN TABLE foo (id text OPTIONS (rowkey '1') COLLATE "C", raw bytea OPTIONS (rowkey 'raw'), v int)
  SERVER widecol OPTIONS (salt_buckets '4', on_duplicate 'error');
INSERT INTO foo (id, v) SELECT 'foo000' || i, i FROM generate_series(1, 4) i;
SELECT id, encode(raw, 'escape') AS raw, v FROM foo ORDER BY raw;
SELECT id, v FROM foo ORDER BY id DESC;
SELECT DISTINCT encode("row", 'escape') FROM widecol.scan('foo') ORDER BY 1;
INSERT INTO foo (id, v) VALUES ('foo0003', 33);
INSERT INTO foo (id, v) VALUES ('', 0);
INSERT INTO foo (id, v) VALUES (repeat('x', 32768), 0);
INSERT INTO foo (id, v) VALUES (repeat('x', 32767), 0);
DELETE FROM foo WHERE id = repeat('x', 32767);
UPDATE foo SET id = 'foo0003' WHERE id = 'foo0001';
UPDATE foo SET id = 'foo0009' WHERE id = 'foo0001' RETURNING id, encode(raw, 'escape');
SELECT id, v FROM foo WHERE raw = '\x01666f6f30303033';
SELECT id, v FROM foo WHERE raw > '\x01' ORDER BY raw LIMIT 2;
SELECT plan_of($$SELECT id FROM foo WHERE raw > '\x01' ORDER BY raw LIMIT 2$$);
SELECT id FROM foo WHERE raw > '\x01' ORDER BY id LIMIT 2;

-- Functions take stored row keys; a row in the wrong bucket is no row of this table.
SELECT widecol.put('foo', '\x01666f6f30303033', 'cf:v', '\x00000063');
SELECT v FROM foo WHERE id = 'foo0003';
SELECT widecol.put('foo', '\x02666f6f30303033', 'cf:v', '\x00000063');
SELECT id FROM foo;
SELECT id FROM foo ORDER BY id;
SELECT widecol.deleteall('foo', '\x02666f6f30303033');
-- Options on which stored row keys depend cannot be changed.
ALTER FOREIGN TABLE foo OPTIONS (SET salt_buckets '5');
ALTER FOREIGN TABLE foo OPTIONS (DROP salt_buckets);
ALTER FOREIGN TABLE foo OPTIONS (SET salt_buckets '4', ADD salt_by 'id');
ALTER FOREIGN TABLE foo RENAME COLUMN id TO "Id, too";
SELECT "Id, too", v FROM foo ORDER BY 1;
SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'foo'::regclass;
TRUNCATE foo;
SELECT * FROM foo ORDER BY 1;

-- --- a table and its copy -----------------------------------------------------------
CREATE FOREIGN TABLE t (
  a int  OPTIONS (rowkey '1'),
  b text OPTIONS (rowkey '2', sort 'desc') COLLATE "C",
  c int  OPTIONS (rowkey '3'),
  v int
) SERVER widecol OPTIONS (salt_buckets '16');
CREATE TABLE h (a int, b text COLLATE "C", c int, v int, PRIMARY KEY (a, b, c));
INSERT INTO h SELECT a, chr(96 + b), c, a * 1000 + b * 10 + c FROM generate_series(1, 50) a, generate_series(1, 5) b, generate_series(1, 4) c;
INSERT INTO t SELECT * FROM h;
ANALYZE t;
SELECT reltuples FROM pg_class WHERE oid = 't'::regclass;

-- Whole keys are in one bucket.
SELECT plan_of($$SELECT v FROM t WHERE a = 7 AND b = 'c' AND c = 2$$);
SELECT same($$WHERE a = 7 AND b = 'c' AND c = 2$$);
SELECT plan_of($$SELECT v FROM t WHERE a IN (7, 9) AND b = 'c' AND c IN (1, 2, 3)$$);
SELECT same($$WHERE a IN (7, 9) AND b = 'c' AND c IN (1, 2, 3)$$);
SELECT plan_of($$SELECT v FROM t WHERE (a = 7 AND b = 'c' AND c = 2) OR (a = 9 AND b = 'd' AND c = 3)$$);
SELECT same($$WHERE (a = 7 AND b = 'c' AND c = 2) OR (a = 9 AND b = 'd' AND c = 3)$$);
-- Ranges are one a bucket; the order takes no Sort, nor more than a row a bucket.
SELECT plan_of($$SELECT v FROM t WHERE a = 7 AND b > 'b'$$);
SELECT same($$WHERE a = 7 AND b > 'b'$$);
SELECT plan_of($$SELECT * FROM t ORDER BY a, b DESC, c LIMIT 10$$);
SELECT same($$ORDER BY a, b DESC, c LIMIT 10$$);
SELECT plan_of($$SELECT * FROM t ORDER BY a DESC, b, c DESC LIMIT 10 OFFSET 30$$);
SELECT same($$ORDER BY a DESC, b, c DESC LIMIT 10 OFFSET 30$$);
SELECT plan_of($$SELECT * FROM t WHERE a > 20 ORDER BY a, b DESC, c LIMIT 10$$);
SELECT same($$WHERE a > 20 ORDER BY a, b DESC, c LIMIT 10$$);
SELECT plan_of($$SELECT * FROM t WHERE (a, b) > (20, 'c') ORDER BY a, b DESC, c LIMIT 10$$);
SELECT same($$WHERE (a, b) > (20, 'c') ORDER BY a, b DESC, c LIMIT 10$$);
SELECT plan_of($$SELECT * FROM t WHERE a = 7 ORDER BY b, c DESC LIMIT 10$$);
SELECT same($$WHERE a = 7 ORDER BY b, c DESC LIMIT 10$$);
SELECT plan_of($$SELECT * FROM t WHERE a IN (7, 8, 30) AND b = 'b' ORDER BY a, b DESC, c LIMIT 10$$);
SELECT same($$WHERE a IN (7, 8, 30) AND b = 'b' ORDER BY a, b DESC, c LIMIT 10$$);
SELECT plan_of($$SELECT * FROM t WHERE a = 3 AND b = 'b' ORDER BY b, c DESC$$);
SELECT same($$WHERE a = 3 AND b = 'b' ORDER BY b, c DESC$$);
SELECT plan_of($$SELECT max(a) FROM t$$);
SELECT same('', 'min(a), max(a), count(*)');
SELECT plan_of($$SELECT count(*) FROM t$$);
SELECT same($$WHERE v % 7 = 0 ORDER BY a, b DESC, c LIMIT 5$$);
SELECT same($$WHERE a < 3 OR a > 48 ORDER BY a, b DESC, c$$);
SELECT same($$WHERE a = 5 AND a > 6$$), same($$WHERE a = NULL ORDER BY a$$), same($$WHERE b LIKE 'c%' AND a = 4$$);

-- Paging to the end, a page at a time.
CREATE FUNCTION pages() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE last t; r t; total bigint = 0; n int;
BEGIN
  last = (0, '~', 0, 0);
  LOOP
    n = 0;
    FOR r IN SELECT * FROM t WHERE (a, c) >= (last.a, 0) AND (a > last.a OR b < last.b OR (b = last.b AND c > last.c))
             ORDER BY a, b DESC, c LIMIT 30 LOOP
      IF (r.a, r.c) < (last.a, 0) OR (r.a = last.a AND (r.b > last.b OR (r.b = last.b AND r.c <= last.c))) THEN
        RAISE 'row % behind row %', r, last;
      END IF;
      last = r;
      n = n + 1;
    END LOOP;
    EXIT WHEN n = 0;
    total = total + n;
  END LOOP;
  RETURN total;
END $$;
SELECT pages();

-- Values that are known when it runs: prepared statements, joins, subqueries.
SET plan_cache_mode = force_generic_plan;
PREPARE one(int, text, int) AS SELECT v FROM t WHERE a = $1 AND b = $2 AND c = $3;
EXECUTE one(7, 'c', 2);
EXECUTE one(8, 'd', NULL);
SELECT plan_of($$EXECUTE one(7, 'c', 2)$$);
PREPARE next_page(int, text) AS SELECT a, b, c FROM t WHERE (a, b) > ($1, $2) ORDER BY a, b DESC, c LIMIT 3;
EXECUTE next_page(20, 'd');
EXECUTE next_page(50, 'e');
SELECT plan_of($$EXECUTE next_page(20, 'd')$$);
RESET plan_cache_mode;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT w.i, t.v FROM (VALUES (1, 3), (2, 40), (3, 70)) w(i, x) JOIN t ON t.a = w.x AND t.b = 'a' AND t.c = 1;
SELECT w.i, t.v FROM (VALUES (1, 3), (2, 40), (3, 70)) w(i, x) JOIN t ON t.a = w.x AND t.b = 'a' AND t.c = 1 ORDER BY 1;
SELECT w.x, l.* FROM (VALUES (3), (40), (70)) w(x), LATERAL (SELECT b, c FROM t WHERE a = w.x ORDER BY b DESC, c LIMIT 2) l;
RESET enable_hashjoin;
RESET enable_mergejoin;
-- A merge join takes two merged scans as they come.
SET enable_hashjoin = off;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t x JOIN t y USING (a);
SELECT count(*) FROM t x JOIN t y USING (a);
RESET enable_hashjoin;
RESET enable_nestloop;

-- Cursors, also backwards.
BEGIN;
DECLARE k SCROLL CURSOR FOR SELECT a, b, c FROM t WHERE a > 10 ORDER BY a, b DESC, c;
FETCH 3 FROM k;
FETCH BACKWARD 2 FROM k;
FETCH ABSOLUTE 800 FROM k;
FETCH RELATIVE 1 FROM k;
COMMIT;

-- A transaction's own rows are merged in, and go with a savepoint.
BEGIN;
INSERT INTO t SELECT a, 'm', c, -1 FROM generate_series(-2, 60, 3) a, generate_series(1, 2) c;
INSERT INTO h SELECT a, 'm', c, -1 FROM generate_series(-2, 60, 3) a, generate_series(1, 2) c;
SAVEPOINT s;
DELETE FROM t WHERE a = 2;
DELETE FROM h WHERE a = 2;
SELECT same($$ORDER BY a, b DESC, c LIMIT 40$$), same($$ORDER BY a DESC, b, c DESC LIMIT 40$$), same('WHERE a BETWEEN 1 AND 4');
ROLLBACK TO s;
SELECT same($$ORDER BY a, b DESC, c LIMIT 40$$), same('');
-- Keys that move are in other buckets.
UPDATE t SET c = c + 10 WHERE a < 5;
UPDATE h SET c = c + 10 WHERE a < 5;
SELECT same($$WHERE a < 6 ORDER BY a, b DESC, c$$), same('WHERE c > 10');
DELETE FROM t WHERE b = 'm' AND a > 30;
DELETE FROM h WHERE b = 'm' AND a > 30;
COMMIT;
SELECT same($$ORDER BY a, b DESC, c$$), same('WHERE a IN (1, 2, 3)');
SELECT widecol.flush('t'), widecol.major_compact('t');
SELECT same($$ORDER BY a DESC, b, c DESC$$), same('WHERE a IN (1, 2, 3)');
COPY t FROM STDIN;
1000	x	1	5
999	y	2	6
\.
SELECT * FROM t WHERE a > 900 ORDER BY a;

-- --- salt_by: buckets are known as soon as its columns are ----------------------------
CREATE FOREIGN TABLE by_host (
  day  int  OPTIONS (rowkey '1'),
  host text OPTIONS (rowkey '2') COLLATE "C",
  n    int  OPTIONS (rowkey '3'),
  v    int
) SERVER widecol OPTIONS (salt_buckets '8', salt_by 'host');
INSERT INTO by_host SELECT d, 'host' || h, n, n FROM generate_series(1, 10) d, generate_series(1, 10) h, generate_series(1, 5) n;
SELECT count(DISTINCT get_byte("row", 0)) FROM widecol.scan('by_host') WHERE "row"::text LIKE '\\x__800000__686f737433%';
SELECT plan_of($$SELECT v FROM by_host WHERE day = 3 AND host = 'host3' ORDER BY n LIMIT 2$$);
SELECT v FROM by_host WHERE day = 3 AND host = 'host3' ORDER BY n LIMIT 2;
SELECT plan_of($$SELECT v FROM by_host WHERE day > 3 AND host = 'host3' ORDER BY day, n LIMIT 2$$);
SELECT day, v FROM by_host WHERE day > 3 AND host = 'host3' ORDER BY day, n LIMIT 2;
SELECT plan_of($$SELECT v FROM by_host WHERE day > 3 AND host IN ('host3', 'host4')$$);
SELECT count(*), sum(v) FROM by_host WHERE day > 3 AND host IN ('host3', 'host4');
SELECT plan_of($$SELECT v FROM by_host WHERE day IN (3, 4) AND host IN ('host3', 'host4')$$);
SELECT plan_of($$SELECT v FROM by_host WHERE day = 3 AND n = 2$$);
SELECT count(*), sum(v) FROM by_host WHERE day = 3 AND n = 2;

-- --- minute-first ---------------------------------------------------------------------
CREATE FOREIGN TABLE log (
  at   timestamptz OPTIONS (rowkey '1'),
  host text        OPTIONS (rowkey '2') COLLATE "C",
  line text
) SERVER widecol OPTIONS (salt_buckets '60', salt_by 'minute(at)');
INSERT INTO log SELECT '2017-07-19 21:30+00'::timestamptz + i * interval '10 s', 'h' || i % 3, 'line ' || i FROM generate_series(0, 1000) i;
INSERT INTO log VALUES ('1999-12-31 23:59:59.999999+00', 'h', 'old'), ('1944-06-06 06:30:00.5+00', 'h', 'older');
INSERT INTO log VALUES ('infinity', 'h', 'never');
SELECT at, get_byte("row", 0) FROM log, widecol.scan('log') s WHERE host = 'h' AND convert_from(s.value, 'UTF8') = line ORDER BY at;
SELECT plan_of($$SELECT * FROM log WHERE at >= '2017-07-19 21:35+00' AND at < '2017-07-19 21:37+00' ORDER BY at, host$$);
SELECT count(*), min(line), max(line) FROM log WHERE at >= '2017-07-19 21:35+00' AND at < '2017-07-19 21:37+00';
SELECT line FROM log WHERE at >= '2017-07-19 21:58:50+00' AND at <= '2017-07-19 22:00+00' ORDER BY at;
SELECT line FROM log WHERE at BETWEEN '1999-12-31 23:59+00' AND '2000-01-01 00:00+00';
SELECT plan_of($$SELECT * FROM log WHERE at = '2017-07-19 21:35+00' ORDER BY host$$);
SELECT plan_of($$SELECT * FROM log WHERE at > '2017-07-19 21:35+00' ORDER BY at, host LIMIT 5$$);
SELECT line FROM log WHERE at > '2017-07-19 21:35+00' ORDER BY at, host LIMIT 5;
SELECT plan_of($$SELECT * FROM log WHERE (at, host) > ('2017-07-19 21:35+00', 'h2') AND at < '2017-07-19 21:38+00' ORDER BY at, host LIMIT 5$$);
SELECT line FROM log WHERE (at, host) > ('2017-07-19 21:35+00', 'h0') AND at < '2017-07-19 21:38+00' ORDER BY at, host LIMIT 5;
SELECT count(*) FROM log WHERE at > '2017-07-19 21:35+00' AND at < '2017-07-19 21:34+00';
SELECT count(*) FROM log WHERE at > '-infinity' AND at < 'infinity';
SELECT count(*) FROM log WHERE at = 'infinity' OR at = '2017-07-19 21:35+00';
SELECT count(*) FROM log WHERE at::date = '2017-07-20';
UPDATE log SET at = at + interval '1 minute' WHERE line = 'line 7' RETURNING at;
SELECT at FROM log WHERE line = 'line 7';

-- The timestamp behind another part: its minutes tell the buckets all the same.
CREATE FOREIGN TABLE by_minute (
  host text      OPTIONS (rowkey '1') COLLATE "C",
  at   timestamp OPTIONS (rowkey '2', encoding 'binary', sort 'desc'),
  v int
) SERVER widecol OPTIONS (salt_buckets '12', salt_by 'minute(at)');
INSERT INTO by_minute SELECT 'h' || h, '2020-01-01'::timestamp + m * interval '1 minute', m FROM generate_series(1, 5) h, generate_series(-100, 100) m;
SELECT plan_of($$SELECT v FROM by_minute WHERE at BETWEEN '2020-01-01 00:03' AND '2020-01-01 00:04:30'$$);
SELECT count(*), min(v), max(v) FROM by_minute WHERE at BETWEEN '2020-01-01 00:03' AND '2020-01-01 00:04:30';
SET enable_sort = off;		-- of so few rows either way costs the same
SELECT plan_of($$SELECT v FROM by_minute WHERE host = 'h3' AND at > '2019-12-31 23:58' AND at < '2020-01-01 00:01' ORDER BY at DESC$$);
RESET enable_sort;
SELECT v FROM by_minute WHERE host = 'h3' AND at > '2019-12-31 23:58' AND at < '2020-01-01 00:01' ORDER BY at DESC;
SELECT plan_of($$SELECT v FROM by_minute WHERE host > 'h3' AND at = '2020-01-01 00:03'$$);
SELECT v FROM by_minute WHERE host > 'h3' AND at = '2020-01-01 00:03';

DROP SCHEMA salt CASCADE;
SELECT count(widecol.drop_table(name)) FROM widecol.tables WHERE name IN ('foo', 't', 'by_host', 'log', 'by_minute');
