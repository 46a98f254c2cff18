-- Case 12, hot spots: keys salted by hand, by option and minute-first, hashed and
-- reversed keys, split points; none of it changes what a query answers.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(42);

CREATE FUNCTION plan_has(query text, pattern text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ pattern THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;

-- --- a salt by hand: foo0001 to foo0004 over four buckets ----------------------
CREATE FOREIGN TABLE salted (
  salt text OPTIONS (rowkey '1', length '1') COLLATE "C",
  dash text OPTIONS (rowkey '2', length '1') COLLATE "C",
  id   text OPTIONS (rowkey '3') COLLATE "C",
  q    text OPTIONS (family 'f')
) SERVER widecol;
INSERT INTO salted VALUES ('a', '-', 'foo0003', '3'), ('b', '-', 'foo0001', '1'), ('c', '-', 'foo0004', '4'),
  ('d', '-', 'foo0002', '2'), ('c', '-', 'foo0003', '3c');
SELECT results_eq($$SELECT encode("row", 'escape') FROM widecol.scan('salted')$$,
  ARRAY['a-foo0003', 'b-foo0001', 'c-foo0003', 'c-foo0004', 'd-foo0002'], 'salted rows lie in the order of their salts');
SELECT results_eq($$SELECT encode("row", 'escape') FROM widecol.scan('salted', row_prefix => 'c')$$,
  ARRAY['c-foo0003', 'c-foo0004'], 'one bucket is a prefix');
SELECT results_eq($$SELECT id COLLATE "default", q FROM salted s ORDER BY s.id, s.salt$$,
  $$VALUES ('foo0001', '1'), ('foo0002', '2'), ('foo0003', '3'), ('foo0003', '3c'), ('foo0004', '4')$$, 'read back in order');
SELECT results_eq(
  $$SELECT q FROM salted s WHERE salt IN ('a', 'b', 'c', 'd') AND dash = '-' AND id BETWEEN 'foo0002' AND 'foo0003' ORDER BY s.id, s.salt$$,
  ARRAY['2', '3', '3c'], 'a range in all buckets');
SELECT ok(plan_has(
  $$SELECT q FROM salted WHERE salt IN ('a', 'b', 'c', 'd') AND dash = '-' AND id BETWEEN 'foo0002' AND 'foo0003'$$, 'SKIP SCAN ON 4 RANGES'),
  'is four ranges');

-- --- a salt by option: the same, and nobody sees it --------------------------------
CREATE FOREIGN TABLE spread (id text OPTIONS (rowkey '1') COLLATE "C", q int) SERVER widecol OPTIONS (salt_buckets '4');
INSERT INTO spread SELECT 'foo' || to_char(i, 'FM0000'), i FROM generate_series(1, 4) i;
SELECT results_eq($$SELECT encode(substr("row", 2), 'escape') FROM widecol.scan('spread')$$,
  ARRAY['foo0001', 'foo0003', 'foo0002', 'foo0004'], 'foo0001 to foo0004 lie in four buckets');
SELECT results_eq($$SELECT get_byte("row", 0) FROM widecol.scan('spread')$$, ARRAY[0, 1, 2, 3], 'one in each');
SELECT results_eq($$SELECT q FROM spread ORDER BY id$$, ARRAY[1, 2, 3, 4], 'and are read back in order');
SELECT results_eq($$SELECT q FROM spread WHERE id BETWEEN 'foo0002' AND 'foo0003' ORDER BY id DESC$$, ARRAY[3, 2], 'a range in all buckets, backwards');
SELECT ok(plan_has($$SELECT q FROM spread WHERE id BETWEEN 'foo0002' AND 'foo0003'$$, 'SKIP SCAN ON 4 RANGES'), 'is four ranges');
SELECT ok(plan_has($$SELECT q FROM spread WHERE id = 'foo0002'$$, 'POINT LOOKUP') AND
          plan_has($$SELECT q FROM spread WHERE id = 'foo0002'$$, '1 of 4'), 'a key is a Get in its bucket');
INSERT INTO spread SELECT 'foo' || to_char(i, 'FM0000'), i FROM generate_series(5, 4000) i;
ANALYZE spread;
SELECT ok(min(n) > 900 AND count(*) = 4, 'following ids spread evenly')
FROM (SELECT count(*) AS n FROM widecol.scan('spread') GROUP BY get_byte("row", 0)) buckets;
SELECT results_eq($$SELECT q FROM spread ORDER BY id$$, $$SELECT generate_series(1, 4000)$$, 'all of them in order');
SELECT ok(plan_has($$SELECT q FROM spread ORDER BY id$$, '4 of 4, merged') AND NOT plan_has($$SELECT q FROM spread ORDER BY id$$, 'Sort'),
  'by merging the buckets, without a Sort');
SELECT results_eq($$SELECT q FROM spread WHERE id > 'foo2999' ORDER BY id LIMIT 10$$, $$SELECT generate_series(3000, 3009)$$, 'a page amid them');
SELECT ok(plan_has($$SELECT q FROM spread WHERE id > 'foo2999' ORDER BY id LIMIT 10$$, 'Row Limit: 10'), 'reads ten rows');

-- --- minute-first: what comes now goes to one of 60 places, the next minute's to another ------
CREATE FOREIGN TABLE messages (
  at  timestamptz OPTIONS (rowkey '1'),
  seq int         OPTIONS (rowkey '2'),
  body text
) SERVER widecol OPTIONS (salt_buckets '60', salt_by 'minute(at)');
INSERT INTO messages SELECT '2017-07-19 00:00+00'::timestamptz + i * interval '20 s', i, 'm' || i FROM generate_series(0, 3 * 1440 - 1) i;
SELECT results_eq($$SELECT count(*), count(DISTINCT get_byte("row", 0)) FROM widecol.scan('messages')$$, $$VALUES (4320::bigint, 60::bigint)$$,
  'a day is 60 ranges');
SELECT results_eq($$SELECT DISTINCT get_byte(s."row", 0) FROM widecol.scan('messages') s, messages m
                    WHERE m.at >= '2017-07-19 21:35+00' AND m.at < '2017-07-19 21:36+00' AND s.value = convert_to(m.body, 'UTF8')$$, ARRAY[35], 'a minute is in one');
SELECT results_eq($$SELECT seq FROM messages WHERE at >= '2017-07-19 21:58+00' AND at < '2017-07-19 22:02+00' ORDER BY at, seq$$,
  $$SELECT generate_series(3 * (21 * 60 + 58), 3 * (22 * 60 + 2) - 1)$$, 'a window over the hour, in order');
SELECT results_eq($$SELECT seq FROM messages WHERE at >= '2017-07-19 12:00+00' ORDER BY at, seq LIMIT 5$$,
  $$SELECT generate_series(2160, 2164)$$, 'a page');
SELECT ok(plan_has($$SELECT seq FROM messages WHERE at >= '2017-07-19 12:00+00' ORDER BY at, seq LIMIT 5$$, 'merged') AND
          NOT plan_has($$SELECT seq FROM messages WHERE at >= '2017-07-19 12:00+00' ORDER BY at, seq LIMIT 5$$, 'Sort'), 'is merged, not sorted');
SELECT results_eq($$SELECT seq FROM messages ORDER BY at DESC, seq DESC LIMIT 3$$, ARRAY[4319, 4318, 4317], 'the newest');
SELECT is(count(*), 4320::bigint, 'none is lost') FROM messages;

-- --- a hash: the same key goes to the same place, and spreads -------------------
CREATE FOREIGN TABLE hashed (
  id    text OPTIONS (rowkey '1', encoding 'md5', length '8', qualifier 'id') COLLATE "C",
  value int
) SERVER widecol;
INSERT INTO hashed SELECT 'foo' || to_char(i, 'FM0000'), i FROM generate_series(1, 400) i;
SELECT is(value, 17, 'a Get by the original') FROM hashed WHERE id = 'foo0017';
SELECT ok(plan_has($$SELECT value FROM hashed WHERE id = 'foo0017'$$, 'POINT LOOKUP'), 'is a Get');
SELECT results_eq($$SELECT encode("row", 'hex') FROM widecol.scan('hashed', columns => '{cf:id}') WHERE value = 'foo0017'$$,
  $$SELECT left(md5('foo0017'), 16)$$, 'its key is the hash');
SELECT ok(min(n) > 50 AND count(*) = 4, 'following ids spread evenly over four quarters')
FROM (SELECT count(*) AS n FROM widecol.scan('hashed', columns => '{cf:id}') GROUP BY get_byte("row", 0) / 64) quarters;
SELECT results_eq($$SELECT value FROM hashed WHERE id IN ('foo0001', 'foo0002', 'foo0003', 'foo0004') ORDER BY id$$,
  ARRAY[1, 2, 3, 4], 'read back in order');

-- --- reversal: the digit that changes most comes first ---------------------------
CREATE FOREIGN TABLE turned (id int OPTIONS (rowkey '1', encoding 'reversed'), value text) SERVER widecol;
INSERT INTO turned SELECT i, 'v' || i FROM generate_series(1001, 1012) i;
SELECT results_eq($$SELECT encode("row", 'escape') FROM widecol.scan('turned', row_limit => 4)$$,
  ARRAY['0101', '1001', '1101', '2001'], 'neighbours lie apart');
SELECT is(value, 'v1010', 'a Get turns its key') FROM turned WHERE id = 1010;
SELECT results_eq($$SELECT id FROM turned WHERE id BETWEEN 1003 AND 1005 ORDER BY id$$, ARRAY[1003, 1004, 1005], 'a range is right all the same');

-- --- splits: both listings -------------------------------------------------------
SELECT is(ARRAY(SELECT encode(s, 'escape') FROM unnest(widecol.hex_splits('0000000000000000', 'ffffffffffffffff', 10)) s),
  ARRAY['1999999999999999', '3333333333333332', '4ccccccccccccccb', '6666666666666664', '7ffffffffffffffd',
        '9999999999999996', 'b33333333333332f', 'ccccccccccccccc8', 'e666666666666661'], 'hex_splits: nine keys, ten regions');
SELECT is(ARRAY(SELECT encode(s, 'hex') FROM unnest(widecol.bytes_split('0000000000000000', 'ffffffffffffffff', 7)) s),
  ARRAY['30303030303030303030303030303030', '36f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6', '3dbdbdbdbdbdbdbdbdbdbdbdbdbdbdbc',
        '44848484848484848484848484848482', '4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b48', '5212121212121212121212121212120e',
        '58d8d8d8d8d8d8d8d8d8d8d8d8d8d8d4', '5f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9a', '66666666666666666666666666666666'],
  'bytes_split: keys between as bytes, which no hexadecimal text has');

SELECT widecol.create_table('by_hex', '{"cf": {}}', widecol.hex_splits('0000000000000000', 'ffffffffffffffff', 10));
SELECT widecol.create_table('by_bytes', '{"cf": {}}', widecol.bytes_split('0000000000000000', 'ffffffffffffffff', 7));
CREATE FOREIGN TABLE by_hex   (k text OPTIONS (rowkey '1') COLLATE "C", v int) SERVER widecol;
CREATE FOREIGN TABLE by_bytes (k text OPTIONS (rowkey '1') COLLATE "C", v int) SERVER widecol;
CREATE FOREIGN TABLE by_none  (k text OPTIONS (rowkey '1') COLLATE "C", v int) SERVER widecol;
CREATE TEMP TABLE keys AS SELECT left(md5(i::text), 16) AS k, i AS v FROM generate_series(1, 2000) i;
INSERT INTO by_hex SELECT * FROM keys;
INSERT INTO by_bytes SELECT * FROM keys;
INSERT INTO by_none SELECT * FROM keys;

-- How many rows are in each region, counted and not estimated.
CREATE FUNCTION filled(tab text) RETURNS TABLE (region bigint, rows bigint) LANGUAGE sql AS $$
  SELECT row_number() OVER (ORDER BY start_row), (SELECT count(*) FROM widecol.scan(tab, start_row, end_row))
  FROM widecol.regions(tab)
$$;
SELECT results_eq($$SELECT encode(start_row, 'escape'), encode(end_row, 'escape') FROM widecol.regions('by_hex')$$,
  $$VALUES ('', '1999999999999999'), ('1999999999999999', '3333333333333332'), ('3333333333333332', '4ccccccccccccccb'),
           ('4ccccccccccccccb', '6666666666666664'), ('6666666666666664', '7ffffffffffffffd'), ('7ffffffffffffffd', '9999999999999996'),
           ('9999999999999996', 'b33333333333332f'), ('b33333333333332f', 'ccccccccccccccc8'), ('ccccccccccccccc8', 'e666666666666661'),
           ('e666666666666661', '')$$, 'the ten regions');
SELECT ok(min(rows) > 120 AND max(rows) < 280 AND sum(rows) = 2000, 'hex_splits: about as many rows in each') FROM filled('by_hex');
SELECT results_eq($$SELECT region FROM filled('by_bytes') WHERE rows = 0$$, ARRAY[1, 4, 5, 6, 7, 8, 10]::bigint[],
  'bytes_split: only digits and a to f are ever filled');
SELECT is(sum(rows), 2000::numeric, 'bytes_split: no row is lost') FROM filled('by_bytes');

-- Results never depend on splits.
SELECT bag_eq($$SELECT * FROM by_hex$$, $$SELECT * FROM by_none$$, 'all rows');
SELECT results_eq($$SELECT v FROM by_hex ORDER BY k$$, $$SELECT v FROM by_none ORDER BY k$$, 'in order');
SELECT results_eq($$SELECT v FROM by_bytes WHERE k BETWEEN '1' AND 'b' ORDER BY k DESC LIMIT 700$$,
  $$SELECT v FROM keys WHERE k COLLATE "C" BETWEEN '1' AND 'b' ORDER BY k COLLATE "C" DESC LIMIT 700$$,
  'a reversed range over several regions');
SELECT results_eq($$SELECT "row" FROM widecol.scan('by_hex', '3', '7', include_start => false, row_limit => 300)$$,
  $$SELECT "row" FROM widecol.scan('by_none', '3', '7', include_start => false, row_limit => 300)$$, 'a limit goes over regions');
SELECT widecol.flush(t), widecol.major_compact(t) FROM unnest(ARRAY['by_hex', 'by_bytes']) t;
SELECT bag_eq($$SELECT * FROM by_hex$$, $$SELECT * FROM by_bytes$$, 'all rows, compacted');

SELECT * FROM finish();
