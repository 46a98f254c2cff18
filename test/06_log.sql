-- Case 6, logs and time series: one day's events under every key that people
-- give them, names as numbers, and wide rows of a time slice.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(44);

CREATE FUNCTION plan_has(query text, pattern text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ pattern THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;

-- The events: 4 hosts, 3 kinds, one each minute of a day for every host.
CREATE TABLE events (ts bigint, host text, event text, message text);
INSERT INTO events
SELECT 1483228800 + m * 60 + h, 'host' || h, (ARRAY['login', 'logout', 'error'])[1 + (m * 7 + h) % 3], 'm' || m || ' of host' || h
FROM generate_series(0, 1439) m, generate_series(1, 4) h;

-- --- [ts][host][event] ----------------------------------------------------------
CREATE FOREIGN TABLE by_time (
  ts      bigint OPTIONS (rowkey '1'),
  host    text   OPTIONS (rowkey '2') COLLATE "C",
  event   text   OPTIONS (rowkey '3') COLLATE "C",
  message text
) SERVER widecol;
INSERT INTO by_time SELECT * FROM events ORDER BY message;

SELECT is(count(*), 5760::bigint, 'a day of four hosts') FROM by_time;
SELECT bag_eq($$SELECT host COLLATE "default", message FROM by_time WHERE ts >= 1483232400 AND ts < 1483232700$$,
  $$SELECT host, message FROM events WHERE ts >= 1483232400 AND ts < 1483232700$$, 'five minutes of all hosts');
SELECT ok(plan_has($$SELECT message FROM by_time WHERE ts >= 1483232400 AND ts < 1483232700$$, 'Start Row')
  AND plan_has($$SELECT message FROM by_time WHERE ts >= 1483232400 AND ts < 1483232700$$, 'Stop Row'), 'are one range');
SELECT results_eq($$SELECT ts FROM by_time ORDER BY ts DESC, host DESC LIMIT 3$$, ARRAY[1483315144, 1483315143, 1483315142]::bigint[],
  'the newest, by a reversed scan');
SELECT ok(plan_has($$SELECT ts FROM by_time ORDER BY ts DESC, host DESC LIMIT 3$$, 'REVERSE'), 'which it is');

-- --- [bucket][ts][host][event], bucket = ts mod 6, by hand -----------------------
CREATE FOREIGN TABLE by_bucket (
  bucket  int    OPTIONS (rowkey '1') GENERATED ALWAYS AS ((ts % 6)::int) STORED,
  ts      bigint OPTIONS (rowkey '2'),
  host    text   OPTIONS (rowkey '3') COLLATE "C",
  event   text   OPTIONS (rowkey '4') COLLATE "C",
  message text
) SERVER widecol;
INSERT INTO by_bucket (ts, host, event, message) SELECT * FROM events;

SELECT results_eq($$SELECT bucket, count(*) FROM by_bucket GROUP BY 1 ORDER BY 1$$,
  $$VALUES (1, 1440::bigint), (2, 1440), (3, 1440), (4, 1440)$$, 'rows of one time are spread over the key range');
PREPARE buckets AS SELECT message FROM by_bucket WHERE bucket IN (0, 1, 2, 3, 4, 5) AND ts >= 1483232400 AND ts < 1483232700;
SELECT bag_eq('buckets', $$SELECT message FROM events WHERE ts >= 1483232400 AND ts < 1483232700$$, 'a time of all buckets');
SELECT ok(plan_has('EXECUTE buckets', 'SKIP SCAN ON 6 RANGES'), 'is six ranges');
SELECT results_eq($$SELECT message FROM by_bucket WHERE bucket IN (0, 1, 2, 3, 4, 5) AND ts BETWEEN 1483232400 AND 1483232410 ORDER BY ts$$,
  ARRAY['m60 of host1', 'm60 of host2', 'm60 of host3', 'm60 of host4'], 'in the order of time');
SELECT is(message, 'm60 of host2', 'one event is a Get in its bucket') FROM by_bucket
WHERE bucket = 1483232402 % 6 AND ts = 1483232402 AND host = 'host2' AND event = 'error';
SELECT ok(plan_has($$SELECT message FROM by_bucket WHERE bucket = 1483232402 % 6 AND ts = 1483232402 AND host = 'host2' AND event = 'error'$$,
  'POINT LOOKUP'), 'which EXPLAIN says');

-- --- [host][event][ts], and ts descending ----------------------------------------
CREATE FOREIGN TABLE by_host (
  host    text   OPTIONS (rowkey '1') COLLATE "C",
  event   text   OPTIONS (rowkey '2') COLLATE "C",
  ts      bigint OPTIONS (rowkey '3'),
  message text
) SERVER widecol;
INSERT INTO by_host SELECT host, event, ts, message FROM events;
CREATE FOREIGN TABLE newest_first (
  host    text   OPTIONS (rowkey '1') COLLATE "C",
  event   text   OPTIONS (rowkey '2') COLLATE "C",
  ts      bigint OPTIONS (rowkey '3', sort 'desc'),
  message text
) SERVER widecol;
INSERT INTO newest_first SELECT * FROM by_host;

SELECT results_eq($$SELECT message FROM by_host WHERE host = 'host3' AND event = 'error' AND ts BETWEEN 1483232400 AND 1483236000 ORDER BY ts$$,
  $$SELECT message FROM events WHERE host = 'host3' AND event = 'error' AND ts BETWEEN 1483232400 AND 1483236000 ORDER BY ts$$,
  'one kind of event of a host in an hour');
SELECT ok(NOT plan_has($$SELECT message FROM by_host WHERE host = 'host3' AND event = 'error' AND ts > 1483232400 ORDER BY ts$$, 'Sort|Filter'),
  'is a range, and in order');
SELECT results_eq($$SELECT message FROM by_host WHERE host = 'host3' AND event = 'error' ORDER BY ts DESC LIMIT 5$$,
  $$SELECT message FROM events WHERE host = 'host3' AND event = 'error' ORDER BY ts DESC LIMIT 5$$, 'the last five');
SELECT ok(plan_has($$SELECT message FROM by_host WHERE host = 'host3' AND event = 'error' ORDER BY ts DESC LIMIT 5$$, 'REVERSE'),
  'read backwards from the end');
SELECT results_eq($$SELECT message FROM newest_first WHERE host = 'host3' AND event = 'error' ORDER BY ts DESC LIMIT 5$$,
  $$SELECT message FROM events WHERE host = 'host3' AND event = 'error' ORDER BY ts DESC LIMIT 5$$, 'the last five, ts descending');
SELECT ok(NOT plan_has($$SELECT message FROM newest_first WHERE host = 'host3' AND event = 'error' ORDER BY ts DESC LIMIT 5$$, 'REVERSE|Sort|Filter')
  AND plan_has($$SELECT message FROM newest_first WHERE host = 'host3' AND event = 'error' ORDER BY ts DESC LIMIT 5$$, 'Row Limit: 5'),
  'read forwards, and five rows only');
SELECT results_eq(
  $$SELECT message FROM newest_first WHERE host = 'host3' AND event = 'error' AND ts <= 1483236000 AND ts > 1483232400 ORDER BY ts DESC$$,
  $$SELECT message FROM events WHERE host = 'host3' AND event = 'error' AND ts <= 1483236000 AND ts > 1483232400 ORDER BY ts DESC$$,
  'an hour, newest first');
SELECT results_eq($$SELECT host COLLATE "default", e.event COLLATE "default", max(ts) FROM newest_first e GROUP BY 1, 2 ORDER BY 1, 2$$,
  $$SELECT host, event, max(ts) FROM events GROUP BY 1, 2 ORDER BY 1, 2$$, 'the last of each kind');
SELECT results_eq(
  $$SELECT h, e, last.message FROM unnest(ARRAY['host1', 'host4']) h, unnest(ARRAY['error', 'login']) e,
      LATERAL (SELECT message FROM newest_first WHERE host = h AND event = e ORDER BY ts DESC LIMIT 1) last ORDER BY h, e$$,
  $$SELECT DISTINCT ON (host, event) host, event, message FROM events
    WHERE host IN ('host1', 'host4') AND event IN ('error', 'login') ORDER BY host, event, ts DESC$$, 'the last of some, by reading one row each');
INSERT INTO newest_first VALUES ('host1', 'error', 1483315201, 'now');
SELECT results_eq($$SELECT message FROM newest_first WHERE host = 'host1' AND event = 'error' ORDER BY ts DESC LIMIT 1$$,
  ARRAY['now'], 'the newest row is first');

-- --- [md5(host)][md5(event)][ts], the originals in columns -----------------------
CREATE FOREIGN TABLE hashed (
  host    text   OPTIONS (rowkey '1', encoding 'md5', length '8', family 'cf', qualifier 'host') COLLATE "C",
  event   text   OPTIONS (rowkey '2', encoding 'md5', length '8', family 'cf', qualifier 'event') COLLATE "C",
  ts      bigint OPTIONS (rowkey '3', encoding 'binary'),
  message text
) SERVER widecol;
INSERT INTO hashed SELECT host, event, ts, message FROM events;
SELECT results_eq($$SELECT encode("row", 'hex') FROM widecol.scan('hashed', row_prefix => decode(left(md5('host2'), 16), 'hex'), row_limit => 1)
                    WHERE qualifier = 'host'$$,
  $$SELECT left(md5('host2'), 16) || left(md5(event), 16) || encode(int8send(ts), 'hex') FROM events WHERE host = 'host2'
    ORDER BY md5(event), ts LIMIT 1$$, 'keys of 24 bytes, whatever the names');
SELECT results_eq($$SELECT host COLLATE "default", event COLLATE "default", message FROM hashed h
                    WHERE h.host = 'host2' AND h.event = 'login' AND ts BETWEEN 1483232400 AND 1483236000$$,
  $$SELECT host, event, message FROM events WHERE host = 'host2' AND event = 'login' AND ts BETWEEN 1483232400 AND 1483236000 ORDER BY ts$$,
  'a time of one kind of a host');
SELECT ok(plan_has($$SELECT message FROM hashed WHERE host = 'host2' AND event = 'login' AND ts BETWEEN 1483232400 AND 1483236000$$, 'RANGE SCAN'),
  'is a range, hashed or not');
SELECT bag_eq($$SELECT message FROM hashed WHERE host = 'host2'$$, $$SELECT message FROM events WHERE host = 'host2'$$, 'all of a host');
SELECT ok(NOT plan_has($$SELECT message FROM hashed WHERE host = 'host2'$$, 'FULL SCAN'), 'is a range too');
SELECT bag_eq($$SELECT message FROM hashed WHERE host IN ('host1', 'host4') AND event IN ('login', 'error') AND ts < 1483229400$$,
  $$SELECT message FROM events WHERE host IN ('host1', 'host4') AND event IN ('login', 'error') AND ts < 1483229400$$, 'several hosts and kinds');
SELECT bag_eq($$SELECT message FROM hashed WHERE host > 'host2' AND event < 'login' AND ts < 1483229400$$,
  $$SELECT message FROM events WHERE host > 'host2' COLLATE "C" AND event < 'login' COLLATE "C" AND ts < 1483229400$$,
  'ranges of names are right, though no ranges of rows');

-- --- numbers for names -------------------------------------------------------------
-- LOG_TYPES gives each name a number, from a counter, once.
CREATE FOREIGN TABLE log_types (name text OPTIONS (rowkey '1') COLLATE "C", id bigint OPTIONS (qualifier 'id')) SERVER widecol;
CREATE FOREIGN TABLE log_names (id bigint OPTIONS (rowkey '1'), name text) SERVER widecol;
SELECT widecol.create_table('log_counters', '{"c": {}}');
CREATE FOREIGN TABLE log_counters (what text OPTIONS (rowkey '1') COLLATE "C", n bigint OPTIONS (family 'c', qualifier 'n')) SERVER widecol;

CREATE FUNCTION number_of(given text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE found bigint;
BEGIN
  SELECT id INTO found FROM log_types WHERE name = given;
  IF found IS NULL THEN
    found = widecol.incr('log_counters', 'types', 'c:n');
    INSERT INTO log_types VALUES (given, found);
    INSERT INTO log_names VALUES (found, given);
  END IF;
  RETURN found;
END $$;

CREATE FOREIGN TABLE by_number (
  host    bigint OPTIONS (rowkey '1'),
  event   bigint OPTIONS (rowkey '2'),
  ts      bigint OPTIONS (rowkey '3', sort 'desc'),
  message text
) SERVER widecol;
INSERT INTO by_number SELECT number_of(host), number_of(event), ts, message FROM events WHERE ts < 1483232400;

SELECT is(count(*), 7::bigint, 'seven names, each once') FROM log_types;
SELECT is(n, 7::bigint, 'the counter says so') FROM log_counters WHERE what = 'types';
SELECT results_eq($$SELECT id FROM log_names ORDER BY id$$, ARRAY[1, 2, 3, 4, 5, 6, 7]::bigint[], 'numbers without a gap');
SELECT is(number_of('host3'), (SELECT id FROM log_types WHERE name = 'host3'), 'a name keeps its number');
SELECT is(octet_length("row"), 24, 'a key is three numbers') FROM widecol.scan('by_number', row_limit => 1);
SELECT results_eq(
  $$SELECT h.name COLLATE "default", e.name, n.message FROM log_types h, log_types t, log_names e, by_number n
    WHERE h.name = 'host3' AND t.name = 'error' AND n.host = h.id AND n.event = t.id AND e.id = n.event ORDER BY n.ts DESC LIMIT 4$$,
  $$SELECT host, event, message FROM events WHERE host = 'host3' AND event = 'error' AND ts < 1483232400 ORDER BY ts DESC LIMIT 4$$,
  'read by name, shown by name');
SELECT ok(plan_has($$SELECT n.message FROM by_number n
                     WHERE host = (SELECT id FROM log_types WHERE name = 'host3') AND event = (SELECT id FROM log_types WHERE name = 'error')
                     ORDER BY ts DESC LIMIT 4$$, 'Row Limit: 4'), 'four rows are read');
BEGIN;
SELECT is(number_of('reboot'), 8::bigint, 'a new name in a transaction ...');
ROLLBACK;
SELECT is(number_of('shutdown'), 8::bigint, '... that is rolled back gives its number back');

-- --- wide rows: metric and hour, a qualifier the second in it -----------------------
CREATE FOREIGN TABLE metrics (
  metric text   OPTIONS (rowkey '1', length '8') COLLATE "C",
  hour   bigint OPTIONS (rowkey '2', encoding 'binary')
) SERVER widecol OPTIONS (family 't', families '{"t": {"packing": "cell"}}');
CREATE FOREIGN TABLE points ("row" bytea, family text, qualifier bytea, value bytea)
  SERVER widecol OPTIONS (table 'metrics', layout 'cell');

CREATE FUNCTION slice(metric text, ts bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS
  $$SELECT rpad(metric, 8, '.')::bytea || int8send(ts - ts % 3600)$$;
CREATE FUNCTION bytes_to_int(b bytea) RETURNS bigint LANGUAGE sql IMMUTABLE AS
  $$SELECT ('x' || lpad(encode(b, 'hex'), 16, '0'))::bit(64)::bigint$$;
-- A point a minute; offsets are two bytes.
SELECT widecol.put('metrics', slice('cpu', t), 't:\x' || encode(substring(int2send((t % 3600)::int2) FROM 1 FOR 1), 'hex')
                                               || '\x' || encode(substring(int2send((t % 3600)::int2) FROM 2), 'hex'), int8send(t % 97))
FROM generate_series(1483228800::bigint, 1483228800 + 3 * 3600 - 1, 60) t;

CREATE VIEW cpu AS
SELECT bytes_to_int(substring("row" FROM 9)) + bytes_to_int(qualifier) AS ts, bytes_to_int(value) AS load, "row", qualifier FROM points
WHERE family = 't' AND "row" BETWEEN 'cpu.....' AND 'cpu.....' || '\xffffffffffffffff'::bytea;

SELECT is(count(DISTINCT "row"), 3::bigint, 'three hours are three rows') FROM points;
SELECT results_eq($$SELECT ts, load FROM cpu$$,
  $$SELECT t, t % 97 FROM generate_series(1483228800::bigint, 1483228800 + 3 * 3600 - 1, 60) t$$, 'all points, in the order of time');
SELECT results_eq(
  $$SELECT load FROM cpu WHERE "row" = slice('cpu', 1483232400) AND qualifier >= int2send(600::int2) AND qualifier < int2send(900::int2)$$,
  $$SELECT t % 97 FROM generate_series(1483232400::bigint + 600, 1483232400 + 899, 60) t$$, 'five minutes in an hour: a range of qualifiers');
SELECT ok(plan_has(
  $$SELECT value FROM points WHERE "row" = slice('cpu', 1483232400) AND qualifier >= int2send(600::int2) AND qualifier < int2send(900::int2)$$,
  'POINT LOOKUP'), 'of one row');
SELECT results_eq(
  $$SELECT ts FROM cpu WHERE "row" BETWEEN slice('cpu', 1483232400 - 120) AND slice('cpu', 1483232400 + 120)
      AND ts BETWEEN 1483232400 - 120 AND 1483232400 + 120$$,
  $$SELECT t FROM generate_series(1483232400::bigint - 120, 1483232400 + 120, 60) t$$, 'a time over the hour''s end');
SELECT results_eq(
  $$SELECT bytes_to_int(qualifier) FROM widecol.get('metrics', slice('cpu', 1483232400), '{t}', column_limit => 3, column_offset => 10)$$,
  ARRAY[600, 660, 720]::bigint[], 'a page of a row');
SELECT results_eq($$SELECT ts / 3600 * 3600, max(load) FROM cpu GROUP BY 1 ORDER BY 1$$,
  $$SELECT t / 3600 * 3600, max(t % 97) FROM generate_series(1483228800::bigint, 1483228800 + 3 * 3600 - 1, 60) t GROUP BY 1 ORDER BY 1$$,
  'the greatest of each hour');

SELECT * FROM finish();
