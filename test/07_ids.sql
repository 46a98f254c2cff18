-- Case 7, ids that grow with time and do not all go to the same place: a 64-bit
-- number that begins with a partition, and digits that begin with the minute.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(38);

CREATE FUNCTION plan_has(query text, pattern text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ pattern THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;
CREATE FUNCTION rows_read(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; n bigint = 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    n = n + coalesce(substring(line FROM 'Rows Read: (\d+)')::bigint, 0);
  END LOOP;
  RETURN n;
END $$;

-- --- 64 bits: 1 unused, 6 partition, 32 seconds, 9 worker, 16 sequence -----------
CREATE FUNCTION make_id(partition bigint, seconds bigint, worker bigint DEFAULT 0, sequence bigint DEFAULT 0) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT AS 'SELECT (partition << 57) | (seconds << 25) | (worker << 16) | sequence';
CREATE FUNCTION partition_of(id bigint) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT (id >> 57)::int';
CREATE FUNCTION seconds_of(id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS 'SELECT (id >> 25) & 4294967295';

SELECT is(make_id(59, 4294967295, 511, 65535), 8646911284551352319, 'the greatest id is below 2^63');
SELECT is(seconds_of(make_id(35, 1500500100, 7, 9)), 1500500100::bigint, 'its seconds can be told');
SELECT is(partition_of(make_id(35, 1500500100, 7, 9)), 35, 'and its partition');

CREATE FOREIGN TABLE message (
  id       bigint OPTIONS (rowkey '1'),
  author   text,
  original text   OPTIONS (family 'long')
) SERVER widecol OPTIONS (families '{"long": {"compression": "zstd"}}');

-- Two and a bit days, a message every 20 seconds, in the partition of its minute;
-- two workers.  One in fifty is long.
CREATE TABLE written AS
SELECT make_id(t / 60 % 60, t, t / 20 % 2, t % 7) AS id, t AS seconds, 'a' || t % 13 AS author,
       CASE t % 1000 WHEN 0 THEN repeat('long ' || t || ' ', 300) ELSE 'short ' || t END AS original
FROM generate_series(1500508800::bigint - 3600, 1500508800 + 2 * 86400 + 3599, 20) t;
INSERT INTO message SELECT id, author, original FROM written;

SELECT is((SELECT count(*) FROM message), (SELECT count(*) FROM written), 'all messages are there');
SELECT ok(min(n) > 140 AND count(*) = 60, 'every partition has its share') FROM (SELECT count(*) AS n FROM message GROUP BY id >> 57) partitions;
SELECT is(octet_length("row"), 8, 'an id is eight bytes') FROM widecol.scan('message', row_limit => 1, columns => '{cf}');
SELECT results_eq($$SELECT length(original), left(original, 15) FROM message WHERE id = make_id(1500509000 / 60 % 60, 1500509000, 1500509000 / 20 % 2, 1500509000 % 7)$$,
  $$VALUES (4800, 'long 1500509000')$$, 'a long one, by its id');

-- A time is a range in every partition.
CREATE FUNCTION within(lo bigint, hi bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$SELECT format('widecol.snowflake_within(id, %L, %L)', to_timestamp(lo), to_timestamp(hi))$$;
SELECT bag_eq('SELECT id FROM message WHERE ' || within(1500508800, 1500508800 + 86400),
  'SELECT id FROM written WHERE ' || (SELECT string_agg(format('id >= %s AND id < %s', make_id(p, 1500508800), make_id(p, 1500508800 + 86400)), ' OR ') FROM generate_series(0, 59) p),
  'a day is what lies between two ids in each partition');
SELECT is(widecol.snowflake_time(make_id(35, 1500500100, 7, 9)), to_timestamp(1500500100), 'the time of an id');
SELECT is(rows_read('SELECT id FROM message WHERE ' || within(1500508800, 1500508800 + 86400)), 4320::bigint, 'a day: only its rows are read');
SELECT ok(plan_has('SELECT id FROM message WHERE ' || within(1500508800, 1500508800 + 86400), 'SKIP SCAN ON 60 RANGES'), 'in sixty ranges');
SELECT results_eq('SELECT id, author, original FROM message WHERE ' || within(1500508800, 1500508800 + 86400) || ' ORDER BY id',
  $$SELECT id, author, original FROM written WHERE seconds >= 1500508800 AND seconds < 1500508800 + 86400 ORDER BY id$$, 'a day in the order of ids');
SELECT ok(NOT plan_has('SELECT id FROM message WHERE ' || within(1500508800, 1500508800 + 86400) || ' ORDER BY id', 'Sort'), 'needs no Sort');
SELECT results_eq('SELECT id FROM message WHERE ' || within(1500508800, 1500508800 + 86400) || ' ORDER BY id DESC LIMIT 10',
  $$SELECT id FROM written WHERE seconds >= 1500508800 AND seconds < 1500508800 + 86400 ORDER BY id DESC LIMIT 10$$, 'backwards');
SELECT is(rows_read('SELECT id FROM message WHERE ' || within(1500508800, 1500508800 + 86400) || ' ORDER BY id DESC LIMIT 10'), 10::bigint,
  'ten rows are ten rows');
SELECT results_eq('SELECT seconds_of(id) FROM message WHERE ' || within(1500508800 + 90, 1500508800 + 150) || ' ORDER BY 1',
  ARRAY[1500508900, 1500508920, 1500508940]::bigint[], 'a minute over two partitions');
SELECT is(rows_read('SELECT id FROM message WHERE ' || within(1500508800 + 90, 1500508800 + 150)), 3::bigint, 'reads three rows');
SELECT is_empty('SELECT id FROM message WHERE ' || within(1500508800 + 150, 1500508800 + 90), 'the wrong way round is nothing');

-- Page by page through a day: behind the last id seen.
PREPARE page(bigint) AS SELECT id FROM message WHERE id > $1 ORDER BY id LIMIT 100;
CREATE FUNCTION pages(lo bigint, hi bigint) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE last bigint = -1; seen int;
BEGIN
  LOOP
    seen = 0;
    FOR last IN EXECUTE 'SELECT id FROM message WHERE id > $1 AND ' || within(lo, hi) || ' ORDER BY id LIMIT 1000' USING last LOOP
      seen = seen + 1;
      RETURN NEXT last;
    END LOOP;
    EXIT WHEN seen < 1000;
  END LOOP;
END $$;
SELECT results_eq($$SELECT pages(1500508800, 1500508800 + 86400)$$,
  $$SELECT id FROM written WHERE seconds >= 1500508800 AND seconds < 1500508800 + 86400 ORDER BY id$$, 'a day, page by page');
SELECT results_eq('EXECUTE page(4611686018427387904)', $$SELECT id FROM written WHERE id > 4611686018427387904 ORDER BY id LIMIT 100$$, 'behind an id');

-- Ids that are made here.
INSERT INTO message SELECT widecol.snowflake_id(), 'now', 'now ' || i FROM generate_series(1, 100) i;
SELECT is(count(DISTINCT id), 100::bigint, 'a hundred ids of one statement') FROM message WHERE widecol.snowflake_within(id, now() - interval '1 minute', now() + interval '1 minute');
SELECT is(author, 'now', 'the last message has the last time') FROM message ORDER BY widecol.snowflake_time(id) DESC LIMIT 1;
SELECT results_eq($$SELECT original FROM message WHERE author = 'now' AND widecol.snowflake_within(id, now() - interval '1 minute', now() + interval '1 minute') ORDER BY widecol.snowflake_time(id), id & 65535 LIMIT 3$$,
  ARRAY['now 1', 'now 2', 'now 3'], 'in the order in which they were made');

-- --- the same as parts of a key ----------------------------------------------------
CREATE FOREIGN TABLE parted (
  part     int2   OPTIONS (rowkey '1'),
  seconds  bigint OPTIONS (rowkey '2'),
  worker   int2   OPTIONS (rowkey '3'),
  sequence int    OPTIONS (rowkey '4'),
  author   text
) SERVER widecol;
INSERT INTO parted SELECT partition_of(id), seconds, (id >> 16) & 511, id & 65535, author FROM written;
PREPARE one_day AS SELECT part, seconds, author FROM parted
WHERE part = ANY (ARRAY(SELECT generate_series(0, 59)::int2)) AND seconds >= 1500508800 AND seconds < 1500508800 + 86400;
SELECT bag_eq('one_day', $$SELECT partition_of(id)::int2, seconds, author FROM written WHERE seconds >= 1500508800 AND seconds < 1500508800 + 86400$$,
  'a day of all partitions is one WHERE');
SELECT is(rows_read('EXECUTE one_day'), 4320::bigint, 'and reads its rows only');
SELECT ok(plan_has('EXECUTE one_day', 'SKIP SCAN'), 'is ranges');
SELECT ok(NOT plan_has('EXECUTE one_day', 'Filter'), 'and nothing is filtered');
SELECT results_eq($$SELECT seconds, author FROM parted WHERE part IN (0, 1, 2) AND seconds BETWEEN 1500508800 AND 1500508980 ORDER BY seconds DESC LIMIT 4$$,
  $$SELECT seconds, author FROM written WHERE partition_of(id) IN (0, 1, 2) AND seconds BETWEEN 1500508800 AND 1500508980 ORDER BY seconds DESC LIMIT 4$$,
  'in the order of time');

-- --- readable: minute, hour, day, month, year, five digits -------------------------
CREATE FOREIGN TABLE readable (
  minute text OPTIONS (rowkey '1', length '2') COLLATE "C",
  hour   text OPTIONS (rowkey '2', length '2') COLLATE "C",
  day    text OPTIONS (rowkey '3', length '2') COLLATE "C",
  month  text OPTIONS (rowkey '4', length '2') COLLATE "C",
  year   text OPTIONS (rowkey '5', length '4') COLLATE "C",
  number text OPTIONS (rowkey '6', length '5') COLLATE "C",
  said   text
) SERVER widecol;
CREATE TABLE spoken AS
SELECT to_char(at, 'MI') AS minute, to_char(at, 'HH24') AS hour, to_char(at, 'DD') AS day, to_char(at, 'MM') AS month, to_char(at, 'YYYY') AS year,
       lpad((i % 100000)::text, 5, '0') AS number, 'said at ' || at AS said, at
FROM generate_series(0, 5999) i, LATERAL (SELECT '2017-07-18 12:00'::timestamp + i * interval '31 seconds' AS at) t;
INSERT INTO readable SELECT minute, hour, day, month, year, number, said FROM spoken;
INSERT INTO readable VALUES ('35', '21', '19', '07', '2016', '00000', 'a year before'), ('35', '21', '19', '08', '2017', '00000', 'a month later');

SELECT is(encode("row", 'escape'), '35211907201703900', '20170719 21:35 starts with 352119072017')
FROM widecol.scan('readable', row_prefix => '352119072017', row_limit => 1);
SELECT results_eq($$SELECT said FROM readable WHERE minute = '35' AND hour = '21' AND day = '19' AND month = '07' AND year = '2017'$$,
  $$SELECT said FROM spoken WHERE at >= '2017-07-19 21:35' AND at < '2017-07-19 21:36' ORDER BY number$$, 'a minute');
SELECT ok(plan_has($$SELECT said FROM readable WHERE minute = '35' AND hour = '21' AND day = '19' AND month = '07' AND year = '2017'$$, 'RANGE SCAN')
  AND NOT plan_has($$SELECT said FROM readable WHERE minute = '35' AND hour = '21' AND day = '19' AND month = '07' AND year = '2017'$$, 'Filter'),
  'is one range');
PREPARE day_read AS SELECT said FROM readable
WHERE minute = ANY (ARRAY(SELECT to_char(i, 'FM00') FROM generate_series(0, 59) i)) AND hour = ANY (ARRAY(SELECT to_char(i, 'FM00') FROM generate_series(0, 23) i))
  AND day = '19' AND month = '07' AND year = '2017';
SELECT bag_eq('day_read', $$SELECT said FROM spoken WHERE at::date = '2017-07-19'$$, 'a day');
SELECT is(rows_read('EXECUTE day_read'), (SELECT count(*) FROM spoken WHERE at::date = '2017-07-19'), 'reads its rows only, minute by minute');
SELECT ok(plan_has(format($$SELECT said FROM readable WHERE minute = ANY (%L) AND hour = ANY (%L) AND day = '19' AND month = '07' AND year = '2017'$$,
  ARRAY(SELECT to_char(i, 'FM00') FROM generate_series(0, 59) i), ARRAY(SELECT to_char(i, 'FM00') FROM generate_series(0, 23) i)), 'SKIP SCAN ON 1440 RANGES'),
  'in 1440 ranges');
SELECT bag_eq($$SELECT said FROM readable WHERE (minute = ANY (ARRAY(SELECT to_char(i, 'FM00') FROM generate_series(50, 59) i)) AND hour = '21'
                  OR minute = ANY (ARRAY(SELECT to_char(i, 'FM00') FROM generate_series(0, 4) i)) AND hour = '22')
                  AND day = '19' AND month = '07' AND year = '2017'$$,
  $$SELECT said FROM spoken WHERE at >= '2017-07-19 21:50' AND at < '2017-07-19 22:05'$$, 'a quarter of an hour over the hour''s end');
SELECT ok(plan_has($$SELECT said FROM readable WHERE (minute IN ('58', '59') AND hour = '21' OR minute IN ('00', '01') AND hour = '22')
                  AND day = '19' AND month = '07' AND year = '2017'$$, 'SKIP SCAN ON 4 RANGES'), 'is a range a minute');
SELECT is(said, 'a year before', 'the year is behind the month') FROM readable
WHERE minute = '35' AND hour = '21' AND day = '19' AND month = '07' ORDER BY year LIMIT 1;
SELECT throws_ok($$INSERT INTO readable VALUES ('135', '21', '19', '07', '2017', '00000', 'x')$$, '22001', NULL, 'a part that is too long is refused');

SELECT * FROM finish();
