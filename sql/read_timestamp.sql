-- widecol.read_timestamp: the session sees stored tables as of a time, or is told that it cannot.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
CREATE SCHEMA asof;
SET search_path = asof, public;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- the setting: a time, a number of microseconds, or nothing; shown as it is understood
SHOW widecol.read_timestamp;
SET widecol.read_timestamp = '2026-01-02 03:04:05.678+02';
SHOW widecol.read_timestamp;
SET timezone = 'Asia/Tokyo';
SET widecol.read_timestamp = '2026-01-02 03:04:05';
SHOW widecol.read_timestamp;
RESET timezone;
SET timezone = 'UTC';
SHOW widecol.read_timestamp;
SET widecol.read_timestamp = 1767323045678901;
SHOW widecol.read_timestamp;
SET widecol.read_timestamp = 25;
SHOW widecol.read_timestamp;
SET widecol.read_timestamp = '1970-01-01 00:00:00+00';
SHOW widecol.read_timestamp;
SET widecol.read_timestamp = 0;
SHOW widecol.read_timestamp;
SET widecol.read_timestamp = '';
SHOW widecol.read_timestamp;
SET widecol.read_timestamp = 'yesterday, perhaps';
SET widecol.read_timestamp = 'infinity';
SET widecol.read_timestamp = -1;
SET widecol.read_timestamp = 1.5;
SET widecol.read_timestamp = '1969-12-31 23:59:59+00';
SET widecol.read_timestamp = '9223372036854775807';
SET widecol.read_timestamp = '99999999999999999999';
SHOW widecol.read_timestamp;
BEGIN;
SET LOCAL widecol.read_timestamp = 25;
SHOW widecol.read_timestamp;
COMMIT;
SHOW widecol.read_timestamp;
SELECT set_config('widecol.read_timestamp', '25', false);
RESET widecol.read_timestamp;

-- cells with given timestamps, so that answers are the same every day
SELECT widecol.create_table('h', '{"f": {"versions": 3}, "one": {}, "kept": {"versions": 9, "keep_deleted_cells": "true"}, "packed": {"versions": 2, "packing": "row"}}');
CREATE FOREIGN TABLE h (k text OPTIONS (rowkey '1') COLLATE "C",
  x text OPTIONS (family 'f'), x_us bigint OPTIONS (family 'f', qualifier 'x', attribute 'timestamp'),
  x_all widecol.version[] OPTIONS (family 'f', qualifier 'x'), rest jsonb OPTIONS (family 'f')) SERVER widecol OPTIONS (family 'f');
CREATE FOREIGN TABLE h_one (k text OPTIONS (rowkey '1') COLLATE "C", o text) SERVER widecol OPTIONS (table 'h', family 'one');
CREATE FOREIGN TABLE h_kept (k text OPTIONS (rowkey '1') COLLATE "C", x text) SERVER widecol OPTIONS (table 'h', family 'kept');
CREATE FOREIGN TABLE h_packed (k text OPTIONS (rowkey '1') COLLATE "C", x text) SERVER widecol OPTIONS (table 'h', family 'packed');
CREATE FOREIGN TABLE cells ("row" text COLLATE "C", family text, qualifier text, ts bigint, value text) SERVER widecol OPTIONS (table 'h', layout 'cell');
SELECT widecol.put('h', 'a', 'f:x', 'ten', 10), widecol.put('h', 'a', 'f:x', 'twenty', 20), widecol.put('h', 'a', 'f:x', 'thirty', 30),
       widecol.put('h', 'a', 'f:y', 'fifteen', 15), widecol.put('h', 'b', 'f:x', 'twentyfive', 25),
       widecol.put('h', 'a', 'one:o', 'old', 10), widecol.put('h', 'a', 'one:o', 'new', 20),
       widecol.put('h', 'a', 'kept:x', 'ten', 10), widecol.put('h', 'a', 'kept:x', 'twenty', 20),
       widecol.put('h', 'a', 'packed:x', 'ten', 10), widecol.put('h', 'a', 'packed:x', 'twenty', 20) \g /dev/null
SELECT * FROM h;
SET widecol.read_timestamp = 9;
SELECT * FROM h;
SET widecol.read_timestamp = 10;
SELECT * FROM h;
SET widecol.read_timestamp = 24;
SELECT * FROM h;
SELECT * FROM h_one;
SELECT * FROM h_packed;
SET widecol.read_timestamp = 25;
SELECT * FROM h;
SELECT k FROM h WHERE x_us = 25;
SELECT * FROM h WHERE k = 'a';
SELECT count(*) FROM h;
EXPLAIN (COSTS OFF) SELECT * FROM h WHERE k = 'a';
-- the functions and layout cell, with time ranges and conditions of their own
SELECT qualifier, ts FROM widecol.get('h', 'a', '{f}', versions => 9);
SELECT qualifier, ts FROM widecol.get('h', 'a', '{f}', versions => 9, time_range => '[0,20)');
SELECT qualifier, ts FROM widecol.get('h', 'a', '{f}', versions => 9, time_range => '[20,99)');
SELECT count(*) FROM widecol.get('h', 'a', '{f}', time_range => '[26,99)');
SELECT convert_from("row", 'UTF8'), ts FROM widecol.scan('h', columns => '{f}');
SELECT family, qualifier, ts FROM cells WHERE "row" = 'a';
SELECT family, qualifier, ts FROM cells WHERE ts > 15;
-- in a join, a subquery, a cursor, a prepared statement
SELECT k, h.x, h_one.o FROM h LEFT JOIN h_one USING (k);
PREPARE q AS SELECT x FROM h WHERE k = 'a';
EXECUTE q;
SET widecol.read_timestamp = 10;
EXECUTE q;
RESET widecol.read_timestamp;
EXECUTE q;

-- nothing is written meanwhile
SET widecol.read_timestamp = 25;
INSERT INTO h (k, x) VALUES ('c', 'no');
UPDATE h SET x = 'no';
DELETE FROM h WHERE k = 'not there';
COPY h (k, x) FROM stdin;
\.
TRUNCATE h;
SELECT widecol.put('h', 'a', 'f:x', 'no');
SELECT widecol.deleteall('h', 'a');
SELECT widecol.incr('h', 'a', 'f:n');
SELECT widecol.create_table('h2', '{"f": {}}');
SELECT widecol.drop_table('h');
CREATE FOREIGN TABLE h2 (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
-- heap tables and administration have nothing to do with it
CREATE TEMP TABLE heap AS SELECT k, x FROM h;
SELECT * FROM heap;
SELECT widecol.flush('h');
RESET widecol.read_timestamp;
SELECT count(*) FROM h;

-- with one version the flush ends the history before it, in this family only
SELECT family, history_from FROM widecol.describe('h');
SET widecol.read_timestamp = 15;
SELECT * FROM h_one;
SELECT * FROM h;
SELECT qualifier FROM widecol.get('h', 'a', '{one:o}');
SELECT qualifier FROM widecol.get('h', 'a', '{f}');
SELECT count(*) FROM cells;
SELECT count(*) FROM cells WHERE family = 'f';
SET widecol.read_timestamp = 20;
SELECT * FROM h_one;
-- the time range of the functions is HBase's, and tells nothing
RESET widecol.read_timestamp;
SELECT count(*) FROM widecol.get('h', 'a', '{one}', time_range => '[0,16)');

-- packing row drops at once the version that a third one replaces
SELECT widecol.put('h', 'a', 'packed:x', 'thirty', 30);
SELECT family, history_from FROM widecol.families WHERE "table" = 'h' AND history_from IS NOT NULL;
SET widecol.read_timestamp = 29;
SELECT * FROM h_packed;
SET widecol.read_timestamp = 30;
SELECT * FROM h_packed;
RESET widecol.read_timestamp;

-- kept deletes: reads as of an earlier time show the deleted cell
SELECT widecol.delete('h', 'a', 'kept:x', 25);
SELECT count(*) FROM h_kept;
SELECT widecol.flush('h'), widecol.major_compact('h');
SET widecol.read_timestamp = 24;
SELECT * FROM h_kept;
SET widecol.read_timestamp = 25;
SELECT * FROM h_kept;
RESET widecol.read_timestamp;
-- other deletes end the history at their commit
SELECT clock_timestamp() AS before_delete \gset
SELECT widecol.delete('h', 'a', 'f:x', 20);
SELECT history_from > :'before_delete' AS at_the_delete FROM widecol.describe('h') WHERE family = 'f';
SET widecol.read_timestamp = :'before_delete';
DO $$ BEGIN PERFORM * FROM h; EXCEPTION WHEN invalid_parameter_value THEN RAISE NOTICE 'refused: %', regexp_replace(SQLERRM, ' as of .*', ''); END $$;
RESET widecol.read_timestamp;
SELECT history_from AS from_then FROM widecol.describe('h') WHERE family = 'f' \gset
SET widecol.read_timestamp = :'from_then';
SELECT k, x FROM h;
RESET widecol.read_timestamp;

-- times as they are: commits
CREATE FOREIGN TABLE log (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (families '{"cf": {"versions": 3}}');
INSERT INTO log VALUES (1, 'one'), (2, 'one');
SELECT clock_timestamp() AS t1 \gset
UPDATE log SET v = 'two' WHERE k = 1;
INSERT INTO log VALUES (3, 'two');
SELECT clock_timestamp() AS t2 \gset
BEGIN;
UPDATE log SET v = 'three';
INSERT INTO log VALUES (4, 'three');
SELECT clock_timestamp() AS t3 \gset
COMMIT;
SELECT clock_timestamp() AS t4 \gset
SELECT family, packing, history_from FROM widecol.describe('log');
SET widecol.read_timestamp = :'t1';
SELECT * FROM log;
SET widecol.read_timestamp = :'t2';
SELECT * FROM log;
-- it was not committed yet
SET widecol.read_timestamp = :'t3';
SELECT * FROM log;
SET widecol.read_timestamp = :'t4';
SELECT * FROM log;
SET widecol.read_timestamp = '2100-01-01';
SELECT * FROM log;
RESET widecol.read_timestamp;
-- reads as of a past time do not show the transaction's own writes
BEGIN;
UPDATE log SET v = 'own';
DELETE FROM log WHERE k = 4;
SET LOCAL widecol.read_timestamp = :'t4';
SELECT * FROM log;
SET LOCAL widecol.read_timestamp = '';
SELECT * FROM log;
ROLLBACK;
-- a snapshot keeps the cells that it sees
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM log;
SET LOCAL widecol.read_timestamp = :'t2';
SELECT * FROM log;
COMMIT;
-- a read as of a past time counts times to live as of that time, while expired cells are stored
CREATE FOREIGN TABLE fly (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (families '{"cf": {"ttl": "1 hour", "packing": "cell"}}');
INSERT INTO fly VALUES (1, 'may');
SELECT clock_timestamp() AS t5 \gset
SET widecol.debug_clock_offset = '2 h';
SELECT count(*) FROM fly;
SET widecol.read_timestamp = :'t5';
SELECT * FROM fly;
RESET widecol.read_timestamp;
SELECT widecol.flush('fly'), widecol.major_compact('fly');
SET widecol.read_timestamp = :'t5';
DO $$ BEGIN PERFORM * FROM fly; EXCEPTION WHEN invalid_parameter_value THEN RAISE NOTICE 'refused: %', regexp_replace(SQLERRM, ' as of .*', ''); END $$;
RESET widecol.read_timestamp;
RESET widecol.debug_clock_offset;
-- TRUNCATE forgets
TRUNCATE log;
SET widecol.read_timestamp = :'t4';
DO $$ BEGIN PERFORM * FROM log; EXCEPTION WHEN invalid_parameter_value THEN RAISE NOTICE 'refused: %', regexp_replace(SQLERRM, ' as of .*', ''); END $$;
RESET widecol.read_timestamp;
-- a shorter memory, too
INSERT INTO fly VALUES (2, 'again');
SELECT clock_timestamp() AS t6 \gset
SELECT widecol.alter_table('fly', '{"cf": {"ttl": "30 min"}}');
SELECT history_from > :'t6' AS at_the_alter FROM widecol.describe('fly');

SET client_min_messages = warning;
DROP FOREIGN TABLE h, h_one, h_kept, h_packed, cells, log, fly;
SELECT widecol.drop_table(name) FROM unnest('{h,log,fly}'::text[]) name;
DROP SCHEMA asof CASCADE;
