-- Ids that grow with time but are spread over partitions
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA snowflake;
SET search_path = snowflake, public;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- 1 bit unused, 6 partition, 32 seconds, 9 worker, 16 sequence
SELECT id > 0 AS positive, id >> 57 BETWEEN 0 AND 59 AS partition, id >> 57 = (id >> 25 & 4294967295) / 60 % 60 AS minute,
       abs((id >> 25 & 4294967295) - extract(epoch FROM clock_timestamp())) < 100 AS seconds, id >> 16 & 511 AS worker
FROM widecol.snowflake_id() id;
SELECT id >> 57 = (id >> 25 & 4294967295) % 60 AS second FROM widecol.snowflake_id('second') id;
SELECT widecol.snowflake_id('hour');
SELECT widecol.snowflake_id(NULL);
SHOW widecol.worker_id;
SET widecol.worker_id = 3;

-- once each, growing, more than a second has
CREATE TEMP TABLE made AS SELECT i, widecol.snowflake_id(CASE WHEN i % 2 = 0 THEN 'minute' ELSE 'second' END) AS id FROM generate_series(1, 70000) i;
SELECT count(*), count(DISTINCT id & ~(63::bigint << 57)), bool_and(grows) AS growing, count(DISTINCT seconds) > 1 AS seconds
FROM (SELECT id, id & ~(63::bigint << 57) > lag(id & ~(63::bigint << 57), 1, 0::bigint) OVER (ORDER BY i) AS grows,
             id >> 25 & 4294967295 AS seconds FROM made) m;
-- cancelled while it waits for the next second
SET statement_timeout = '300ms';
SELECT count(widecol.snowflake_id()) FROM generate_series(1, 1000000);
RESET statement_timeout;

-- times
SELECT widecol.snowflake_time((35::bigint << 57) | (1500500100::bigint << 25) | (7 << 16) | 9);
SELECT widecol.snowflake_first(35, '2017-07-19 21:35:00+00') = (35::bigint << 57) | (1500500100::bigint << 25) AS first,
       widecol.snowflake_time(widecol.snowflake_first(59, '2017-07-19 21:35:00.000001+00')) AS next_second;
SELECT widecol.snowflake_first(0, '-infinity'), widecol.snowflake_first(0, '1950-01-01'), widecol.snowflake_first(59, 'infinity'),
       widecol.snowflake_time(widecol.snowflake_first(59, 'infinity') - 1);
SELECT widecol.snowflake_first(60, now());
SELECT t, widecol.snowflake_within(widecol.snowflake_first(3, t), '2026-01-01 00:00:01+00', '2026-01-01 00:00:03+00') AS within
FROM unnest('{2026-01-01 00:00:00+00, 2026-01-01 00:00:01+00, 2026-01-01 00:00:02.5+00, 2026-01-01 00:00:03+00, infinity, -infinity}'::timestamptz[]) t;
SELECT widecol.snowflake_within(-1, '-infinity', 'infinity'), widecol.snowflake_within(60::bigint << 57, '-infinity', 'infinity'),
       widecol.snowflake_within(NULL, now(), now());

-- a time is a range in each partition
CREATE FOREIGN TABLE message (id bigint OPTIONS (rowkey '1') DEFAULT widecol.snowflake_id(), said text) SERVER widecol OPTIONS ("table" 'snowflake');
INSERT INTO message (said) VALUES ('now');
INSERT INTO message SELECT widecol.snowflake_first(extract(minute FROM t)::int, t) + i, 'at ' || t
FROM generate_series('2026-01-01 00:00+00'::timestamptz, '2026-01-02 12:00+00', '5 min') WITH ORDINALITY g(t, i);
ANALYZE message;
SELECT count(*) FROM message WHERE widecol.snowflake_within(id, '2026-01-01 12:00+00', '2026-01-02 12:00+00');
SELECT said FROM message WHERE widecol.snowflake_within(id, '2026-01-01 11:50+00', '2026-01-01 12:05+00') ORDER BY id;
SELECT said FROM message WHERE widecol.snowflake_within(id, now() - interval '1 day', now() + interval '1 day');
EXPLAIN (COSTS OFF) SELECT said FROM message WHERE widecol.snowflake_within(id, '2026-01-01 11:50+00', '2026-01-01 12:05+00') ORDER BY id LIMIT 5;
PREPARE page(timestamptz, timestamptz, bigint) AS
  SELECT said FROM message WHERE widecol.snowflake_within(id, $1, $2) AND id > $3 ORDER BY id LIMIT 2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE page('2026-01-01 11:50+00', '2026-01-01 12:05+00', 0);
EXECUTE page('2026-01-01 11:50+00', '2026-01-01 12:05+00', 0);
EXECUTE page('2026-01-01 11:50+00', '2026-01-01 12:05+00', widecol.snowflake_first(50, '2026-01-01 12:00+00'));
EXECUTE page('2026-01-01 12:05+00', '2026-01-01 11:50+00', 0);
EXECUTE page(NULL, '2026-01-01 11:50+00', 0);
RESET plan_cache_mode;
SELECT count(*) FROM message m, (VALUES ('2026-01-01 11:50+00'::timestamptz)) v(t) WHERE widecol.snowflake_within(m.id, v.t, v.t + interval '20 min');
SELECT count(*) FROM message WHERE NOT widecol.snowflake_within(id, '2026-01-01', '2026-01-02');
-- where it is no range it is a function
SELECT count(*) FROM message WHERE widecol.snowflake_within(id + 0, '2026-01-01', '2026-01-02');
CREATE TEMP TABLE heap AS SELECT * FROM message;
SELECT count(*) FROM heap WHERE widecol.snowflake_within(id, '2026-01-01', '2026-01-02');
EXPLAIN (COSTS OFF) SELECT count(*) FROM heap WHERE widecol.snowflake_within(id, '2026-01-01', '2026-01-02');

DROP SCHEMA snowflake CASCADE;
SELECT widecol.drop_table('snowflake');
