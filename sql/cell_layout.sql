-- Layout cell: one SQL row a cell version; conditions on cells; single cells written.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
CREATE SCHEMA cell_layout;
SET search_path = cell_layout, public;
SET bytea_output = 'escape';

SELECT widecol.create_table('cl', '{"a": {"versions": 3}, "b": {}, "c": {"versions": 3, "packing": "row"}}');
CREATE FOREIGN TABLE cells ("row" bytea, family text, qualifier bytea, ts bigint, type text, value bytea, ttl interval)
  SERVER widecol OPTIONS (table 'cl', layout 'cell');
CREATE FOREIGN TABLE texts ("row" text COLLATE "C", family text COLLATE "C", qualifier text COLLATE "C", ts bigint, value text)
  SERVER widecol OPTIONS (table 'cl', layout 'cell');
CREATE FOREIGN TABLE newest ("row" text, qualifier text, value text) SERVER widecol OPTIONS (table 'cl', layout 'cell', versions '1');
CREATE FOREIGN TABLE raw ("row" text, family text, qualifier text, ts bigint, type text, value text)
  SERVER widecol OPTIONS (table 'cl', layout 'cell', raw 'true');

-- INSERT writes one cell each; no family: the first; no qualifier: the empty one
INSERT INTO texts VALUES
  ('r1', 'a', 'x', 10, 'ten'), ('r1', 'a', 'x', 20, 'twenty'), ('r1', 'a', 'x', 30, 'thirty'),
  ('r1', 'a', 'y', 15, 'fifteen'), ('r1', 'b', 'x', 25, 'b'), ('r1', 'c', 'x', 10, 'c10'), ('r1', 'c', 'x', 20, 'c20'),
  ('r2', 'a', 'x:1', 11, 'one'), ('r2', 'a', 'x:2', 12, 'two'), ('r2', 'a', 'y:1', 13, 'three'), ('r2', 'c', '', 14, 'unnamed'),
  ('r3', 'b', 'long', 5, repeat('v', 10));
INSERT INTO texts ("row", ts, value) VALUES ('r4', 1, 'no family, no qualifier');
SELECT * FROM texts;
SELECT * FROM cells WHERE "row" = 'r1';
SELECT * FROM newest;

-- any subset of columns, in any order
CREATE FOREIGN TABLE only_value (value text) SERVER widecol OPTIONS (table 'cl', layout 'cell');
CREATE FOREIGN TABLE only_ts (ts bigint) SERVER widecol OPTIONS (table 'cl', layout 'cell');
SELECT count(*), min(value), max(value) FROM only_value;
SELECT ts FROM only_ts WHERE ts BETWEEN 12 AND 14;
SELECT count(*) FROM cells;

-- conditions on ts select among the visible versions: these are counted before
EXPLAIN (COSTS OFF) SELECT * FROM texts WHERE ts = 20;
SELECT "row", family, qualifier, ts, value FROM texts WHERE ts = 20;
SELECT "row", family, qualifier, ts FROM texts WHERE ts < 12;
SELECT "row", family, qualifier, ts FROM texts WHERE ts <= 12;
SELECT "row", family, qualifier, ts FROM texts WHERE ts > 25;
SELECT "row", family, qualifier, ts FROM texts WHERE ts >= 25;
SELECT "row", family, qualifier, ts FROM texts WHERE ts BETWEEN 12 AND 15;
SELECT "row", family, qualifier, ts FROM texts WHERE 12 < ts AND 15 >= ts;
EXPLAIN (COSTS OFF) SELECT ts FROM texts WHERE 12 < ts AND 15 >= ts;
SELECT "row", family, qualifier, ts FROM texts WHERE ts IN (10, 25);
EXPLAIN (COSTS OFF) SELECT ts FROM texts WHERE ts IN (10, 25);
-- of r1 a:x the newest is 30, in this table there is nothing else
CREATE FOREIGN TABLE newest_ts ("row" text, family text, qualifier text, ts bigint)
  SERVER widecol OPTIONS (table 'cl', layout 'cell', versions '1');
SELECT * FROM newest_ts WHERE "row" = 'r1' AND ts < 30;
SELECT qualifier, ts FROM widecol.get('texts', 'r1', '{a}', time_range => '[0,30)');
-- widths of integers, odd values, contradictions, NULL
SELECT count(*) FROM texts WHERE ts = 20::int2;
SELECT count(*) FROM texts WHERE ts > 20::int2 AND ts < 31::int4;
SELECT count(*) FROM texts WHERE ts < 0;
SELECT count(*) FROM texts WHERE ts > -5;
SELECT count(*) FROM texts WHERE ts = -5;
SELECT count(*) FROM texts WHERE ts >= 9223372036854775807;
SELECT count(*) FROM texts WHERE ts > 9223372036854775807;
SELECT count(*) FROM texts WHERE ts <= 9223372036854775807;
SELECT count(*) FROM texts WHERE ts < 9223372036854775806;
SELECT count(*) FROM texts WHERE ts < -9223372036854775807;
SELECT count(*) FROM texts WHERE ts > 20 AND ts < 20;
SELECT count(*) FROM texts WHERE ts = 20 AND ts = 30;
SELECT count(*) FROM texts WHERE ts = NULL::bigint;
SELECT count(*) FROM texts WHERE ts IN (NULL, 20);
SELECT count(*) FROM texts WHERE ts = ANY ('{}'::bigint[]);
SELECT count(*) FROM texts WHERE ts IS NULL;
EXPLAIN (COSTS OFF) SELECT count(*) FROM texts WHERE ts IS NOT NULL AND family IS NOT NULL AND qualifier IS NOT NULL;
-- not a condition for the engine
EXPLAIN (COSTS OFF) SELECT * FROM texts WHERE ts <> 20;
SELECT count(*) FROM texts WHERE ts <> 20;
SELECT count(*) FROM texts WHERE ts % 2 = 1 AND ts < 16;

-- family
EXPLAIN (COSTS OFF) SELECT * FROM texts WHERE family = 'b';
SELECT * FROM texts WHERE family = 'b';
SELECT "row", family, qualifier FROM texts WHERE family IN ('b', 'c', 'no such family');
SELECT "row", family, qualifier FROM texts WHERE family > 'a' AND family < 'c';
SELECT count(*) FROM texts WHERE family LIKE 'a%';
SELECT count(*) FROM texts WHERE family = 'no such family';
SELECT count(*) FROM texts WHERE family = 'a' AND family = 'b';
SELECT count(*) FROM texts WHERE family = NULL;
SELECT count(*) FROM texts WHERE family <> 'a';
SELECT count(*) FROM texts WHERE family = 'a'::varchar;

-- qualifier: =, IN, ranges, prefixes; text and bytea
EXPLAIN (COSTS OFF) SELECT * FROM texts WHERE family = 'a' AND qualifier = 'x';
SELECT * FROM texts WHERE family = 'a' AND qualifier = 'x';
SELECT * FROM texts WHERE qualifier = 'x' AND ts < 25;
SELECT * FROM texts WHERE qualifier = '';
SELECT "row", family, qualifier, ts FROM texts WHERE qualifier IN ('y', 'x:1', 'nothing');
EXPLAIN (COSTS OFF) SELECT * FROM texts WHERE qualifier LIKE 'x:%';
SELECT "row", family, qualifier FROM texts WHERE qualifier LIKE 'x:%';
SELECT "row", family, qualifier FROM texts WHERE qualifier LIKE 'x%1';
EXPLAIN (COSTS OFF) SELECT "row", family, qualifier FROM texts WHERE qualifier LIKE 'x%1';
SELECT "row", family, qualifier FROM texts WHERE qualifier ^@ 'y';
SELECT "row", family, qualifier FROM texts WHERE starts_with(qualifier, 'y') AND qualifier > 'y';
SELECT DISTINCT qualifier FROM texts WHERE qualifier > 'x' AND qualifier <= 'y' ORDER BY 1;
SELECT DISTINCT qualifier FROM texts WHERE qualifier >= 'x' AND qualifier < 'x:2' ORDER BY 1;
SELECT DISTINCT qualifier FROM texts WHERE qualifier < 'x' ORDER BY 1;
SELECT DISTINCT qualifier FROM texts WHERE qualifier BETWEEN 'y' AND 'x' ORDER BY 1;
SELECT DISTINCT qualifier FROM texts WHERE qualifier IN ('x', 'y', 'x:1') AND qualifier > 'x' ORDER BY 1;
SELECT DISTINCT qualifier FROM texts WHERE qualifier IN ('x', 'y') AND qualifier IN ('y', 'z') ORDER BY 1;
SELECT count(*) FROM texts WHERE qualifier < '';
SELECT count(*) FROM texts WHERE qualifier >= '';
SELECT count(*) FROM texts WHERE qualifier = NULL;
SELECT count(*) FROM texts WHERE qualifier = ANY (ARRAY['x', NULL]);
SELECT count(*) FROM texts WHERE qualifier = repeat('q', 70000);
SELECT count(*) FROM texts WHERE qualifier > repeat('q', 70000);
SELECT count(*) FROM texts WHERE qualifier < repeat('q', 70000);
SELECT DISTINCT qualifier FROM cells WHERE qualifier >= 'x' AND qualifier < 'y' ORDER BY 1;
SELECT "row", qualifier FROM cells WHERE qualifier IN ('x:1', 'y:1') AND "row" > 'r1';
EXPLAIN (COSTS OFF) SELECT "row", qualifier FROM cells WHERE qualifier IN ('x:1', 'y:1') AND "row" > 'r1';
-- ranges of text are the engine's under "C" only; equality always is
SELECT "row", qualifier FROM newest WHERE qualifier > 'x' COLLATE "C" ORDER BY 1, 2;
EXPLAIN (COSTS OFF) SELECT "row", qualifier FROM newest WHERE qualifier = 'x' AND qualifier <> 'y';
-- an OR is not
SELECT "row", family, qualifier, ts FROM texts WHERE qualifier = 'y' OR ts = 5;
EXPLAIN (COSTS OFF) SELECT "row" FROM texts WHERE qualifier = 'y' OR ts = 5;

-- all together, and with a condition that the engine cannot decide
SELECT * FROM texts WHERE "row" = 'r1' AND family IN ('a', 'c') AND qualifier = 'x' AND ts <= 20 AND value LIKE '%t%';
EXPLAIN (COSTS OFF) SELECT * FROM texts WHERE "row" = 'r1' AND family IN ('a', 'c') AND qualifier = 'x' AND ts <= 20 AND value LIKE '%t%';

-- order, limits, paging inside rows
EXPLAIN (COSTS OFF) SELECT "row", qualifier FROM texts WHERE family = 'a' ORDER BY "row" LIMIT 3;
SELECT "row", qualifier, ts FROM texts WHERE family = 'a' ORDER BY "row" LIMIT 3;
EXPLAIN (COSTS OFF) SELECT "row" FROM texts ORDER BY "row" DESC;
SELECT "row", family, qualifier, ts FROM texts WHERE ts > 12 ORDER BY "row" DESC;
SELECT "row", qualifier FROM texts WHERE ("row", qualifier) > ('r1', 'x') AND family = 'a' ORDER BY "row", qualifier LIMIT 3;
EXPLAIN (COSTS OFF) SELECT "row", qualifier FROM texts WHERE ("row", qualifier) > ('r1', 'x') AND family = 'a' ORDER BY "row", qualifier LIMIT 3;

-- values that are known when the scan starts
PREPARE one_column(text, bigint) AS SELECT "row", value FROM texts WHERE qualifier = $1 AND ts >= $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE one_column('x', 20);
EXECUTE one_column('x', 20);
EXECUTE one_column('x:2', 0);
EXECUTE one_column(NULL, 0);
EXECUTE one_column('x', NULL);
RESET plan_cache_mode;
PREPARE some_columns(text[]) AS SELECT DISTINCT qualifier FROM texts WHERE qualifier = ANY ($1) ORDER BY 1;
EXECUTE some_columns('{x,y,x}');
EXECUTE some_columns('{}');
EXECUTE some_columns(NULL);
PREPARE like_columns(text) AS SELECT DISTINCT qualifier FROM texts WHERE qualifier LIKE $1 AND family = 'a' ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
EXECUTE like_columns('x%');
EXECUTE like_columns('%1');
EXECUTE like_columns('x');
EXECUTE like_columns('x_%');
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) SELECT v.*, (SELECT count(*) FROM texts c WHERE c."row" = v.r AND c.qualifier = v.q AND c.ts > v.t)
  FROM (VALUES ('r1', 'x', 15), ('r1', 'y', 0), ('r2', 'x:1', 0), ('r2', NULL, 0)) v(r, q, t);
SELECT v.*, (SELECT count(*) FROM texts c WHERE c."row" = v.r AND c.qualifier = v.q AND c.ts > v.t)
  FROM (VALUES ('r1', 'x', 15), ('r1', 'y', 0), ('r2', 'x:1', 0), ('r2', NULL, 0)) v(r, q, t);
SELECT v.q, c.family, c.ts FROM (VALUES ('r1', 'x', 15), ('r1', 'y', 0), ('r2', 'x:1', 0)) v(r, q, t)
  JOIN texts c ON c."row" = v.r AND c.qualifier = v.q AND c.ts > v.t ORDER BY 1, 2, 3;

-- raw: markers, and the cells that they hide; the engine selects families, the session qualifiers
SELECT widecol.delete('texts', 'r1', 'a:x', 20), widecol.delete_version('texts', 'r2', 'a:x:2', 12),
       widecol.delete_family('texts', 'r3', 'b', 6), widecol.delete_family_version('texts', 'r2', 'a', 13);
SELECT "row", family, qualifier, ts, value FROM texts WHERE family = 'a';
SELECT * FROM raw WHERE family IN ('a', 'b');
SELECT * FROM raw WHERE qualifier = 'x' AND family = 'a' AND ts <= 20;
EXPLAIN (COSTS OFF) SELECT * FROM raw WHERE qualifier = 'x' AND family = 'a' AND ts <= 20;
SELECT "row", type, ts FROM raw WHERE type <> 'Put';

-- an inserted cell replaces one at its place
INSERT INTO texts ("row", family, qualifier, ts, value) VALUES ('c1', 'a', 'x', 5, 'old');
INSERT INTO texts ("row", family, qualifier, ts, value) VALUES ('c1', 'a', 'x', 5, 'new') ON CONFLICT DO NOTHING;
SELECT value FROM texts WHERE "row" = 'c1';
INSERT INTO texts ("row", family, qualifier, ts, value) VALUES ('c1', 'a', 'x', 5, 'new');
SELECT value FROM texts WHERE "row" = 'c1';
DELETE FROM texts WHERE "row" = 'c1';

-- types of columns; columns and options that the layout refuses
CREATE FOREIGN TABLE bad ("row" int) SERVER widecol OPTIONS (table 'cl', layout 'cell');
CREATE FOREIGN TABLE bad (ts timestamptz) SERVER widecol OPTIONS (table 'cl', layout 'cell');
CREATE FOREIGN TABLE bad (family bytea) SERVER widecol OPTIONS (table 'cl', layout 'cell');
CREATE FOREIGN TABLE bad (ttl bigint) SERVER widecol OPTIONS (table 'cl', layout 'cell');
CREATE FOREIGN TABLE bad (col text) SERVER widecol OPTIONS (table 'cl', layout 'cell');
CREATE FOREIGN TABLE bad (qualifier text OPTIONS (qualifier 'x')) SERVER widecol OPTIONS (table 'cl', layout 'cell');
CREATE FOREIGN TABLE bad (value text) SERVER widecol OPTIONS (table 'cl', layout 'cell', versions '0');
CREATE FOREIGN TABLE bad (value text) SERVER widecol OPTIONS (table 'cl', layout 'cell', raw 'perhaps');
-- text columns over bytes that are no text
SELECT widecol.put('texts', 'r9', 'a:\xff', '\x00ff'::bytea, 1);
SELECT "row", value FROM texts WHERE "row" = 'r9' AND qualifier = 'y';
SELECT "row" FROM texts WHERE "row" = 'r9';
SELECT qualifier FROM texts WHERE "row" = 'r9';
SELECT value FROM texts WHERE "row" = 'r9';
SELECT qualifier, value FROM cells WHERE "row" = 'r9';
DELETE FROM cells WHERE "row" = 'r9';
SELECT count(*) FROM cells WHERE "row" = 'r9';

-- INSERT, UPDATE, DELETE of single cells
INSERT INTO cells ("row", family, qualifier, ts, value, ttl) VALUES ('w', 'a', 'x', 100, 'lives', NULL), ('w', 'a', 'y', NULL, 'dies', '1 hour');
SELECT "row", qualifier, ts > 1000000 AS now, value, ttl FROM cells WHERE "row" = 'w';
INSERT INTO cells ("row", family, qualifier, ts, value) VALUES ('w', 'a', 'x', 100, 'replaced') RETURNING "row", ts, value;
UPDATE cells SET value = 'changed' WHERE "row" = 'w' AND qualifier = 'x';
UPDATE cells SET value = value || ' too' WHERE "row" = 'w' AND qualifier = 'y';
SELECT qualifier, ts = 100 AS given, value, ttl FROM cells WHERE "row" = 'w';
UPDATE cells SET ttl = '2 days' WHERE "row" = 'w' AND qualifier = 'y' RETURNING qualifier, ttl;
SELECT qualifier, value, ttl FROM cells WHERE "row" = 'w';
UPDATE cells SET ttl = NULL WHERE "row" = 'w' AND qualifier = 'y';
UPDATE texts SET value = 'via text' WHERE "row" = 'w' AND qualifier = 'x' AND ts = 100;
SELECT qualifier, value, ttl FROM cells WHERE "row" = 'w';
-- a version of several: only that one
INSERT INTO texts VALUES ('w2', 'a', 'x', 1, 'one'), ('w2', 'a', 'x', 2, 'two'), ('w2', 'a', 'x', 3, 'three');
DELETE FROM texts WHERE "row" = 'w2' AND ts = 2 RETURNING *;
SELECT ts, value FROM texts WHERE "row" = 'w2';
UPDATE texts SET value = upper(value) WHERE "row" = 'w2' AND ts < 3;
SELECT ts, value FROM texts WHERE "row" = 'w2';
DELETE FROM texts WHERE "row" = 'w2';
SELECT count(*) FROM texts WHERE "row" = 'w2';
SELECT type, ts FROM raw WHERE "row" = 'w2';
-- markers are inserted by their types
INSERT INTO cells ("row", family, qualifier, ts, value) VALUES ('w3', 'a', 'x', 1, 'one'), ('w3', 'a', 'x', 5, 'five'), ('w3', 'a', 'y', 1, 'one');
INSERT INTO cells ("row", family, qualifier, ts, type) VALUES ('w3', 'a', 'x', 3, 'DeleteColumn');
SELECT qualifier, ts FROM cells WHERE "row" = 'w3';
INSERT INTO cells ("row", family, ts, type) VALUES ('w3', 'a', 4, 'DeleteFamily');
SELECT qualifier, ts FROM cells WHERE "row" = 'w3';

-- a time to live is shown as it was given, and ends; a cell that is older than it is gone at once
INSERT INTO cells ("row", family, qualifier, value, ttl) VALUES ('t', 'b', 'x', 'soon', '90 min'), ('t', 'b', 'y', 'later', '1 month');
SELECT qualifier, ttl FROM cells WHERE "row" = 't';
INSERT INTO cells ("row", family, qualifier, ts, value, ttl) VALUES ('t', 'b', 'old', 1, 'gone', '1 day');
SELECT qualifier, ttl FROM cells WHERE "row" = 't';
SET widecol.debug_clock_offset = '89 min';
SELECT qualifier, ttl FROM cells WHERE "row" = 't';
SET widecol.debug_clock_offset = '91 min';
SELECT qualifier, ttl FROM cells WHERE "row" = 't';
RESET widecol.debug_clock_offset;

-- odd input
INSERT INTO cells ("row", family, qualifier, value, ttl) VALUES ('o', 'a', 'x', 'v', '0');
INSERT INTO cells ("row", family, qualifier, value, ttl) VALUES ('o', 'a', 'x', 'v', '-1 hour');
INSERT INTO cells ("row", family, qualifier, value, ttl) VALUES ('o', 'a', 'x', 'v', '1 month -31 days');
INSERT INTO cells ("row", family, qualifier, value, ttl) VALUES ('o', 'a', 'x', 'v', '290000 years');
INSERT INTO cells ("row", family, qualifier, value, ttl) VALUES ('o', 'a', 'x', 'v', '178000000 years');
INSERT INTO cells ("row", family, qualifier, value, ts) VALUES ('o', 'a', 'x', 'v', -1);
INSERT INTO cells ("row", family, qualifier, value, ts) VALUES ('o', 'a', 'x', 'v', 9223372036854775807);
INSERT INTO cells ("row", family, qualifier, value, ts) VALUES ('o', 'a', 'x', 'v', 9223372036854775806);
SELECT qualifier, ts FROM cells WHERE "row" = 'o' AND ts > 9223372036854775805;
DELETE FROM cells WHERE "row" = 'o';
INSERT INTO cells ("row", family, qualifier, value) VALUES (NULL, 'a', 'x', 'v');
INSERT INTO cells ("row", family, qualifier, value) VALUES ('', 'a', 'x', 'v');
INSERT INTO cells ("row", family, qualifier, value) VALUES ('o', 'nope', 'x', 'v');
INSERT INTO cells ("row", family, qualifier, value) VALUES ('o', 'a', 'x', NULL);
INSERT INTO cells ("row", family, qualifier, value, type) VALUES ('o', 'a', 'x', 'v', 'put');
INSERT INTO cells ("row", family, qualifier, value, type) VALUES ('o', 'a', 'x', 'v', 'Delete');
INSERT INTO cells ("row", family, qualifier, ttl, type) VALUES ('o', 'a', 'x', '1 day', 'Delete');
INSERT INTO cells ("row", family, qualifier, type) VALUES ('o', 'a', 'x', 'DeleteFamily');
INSERT INTO cells ("row", family, qualifier, value) VALUES ('o', 'a', convert_to(repeat('q', 65536), 'UTF8'), 'v');
INSERT INTO only_value VALUES ('where?');
UPDATE cells SET qualifier = 'z' WHERE "row" = 'w';
UPDATE cells SET ts = ts + 1 WHERE "row" = 'w';
UPDATE cells SET value = NULL WHERE "row" = 'w';
UPDATE only_value SET value = 'x';
DELETE FROM only_ts;
SELECT count(*) FROM cells WHERE "row" = 'o';

-- a transaction sees its own writes under the conditions, and rolls them back
BEGIN;
INSERT INTO texts VALUES ('tx', 'a', 'x', 7, 'seven'), ('tx', 'a', 'z', 8, 'eight');
UPDATE texts SET value = 'SEVEN' WHERE "row" = 'tx' AND ts = 7;
SELECT * FROM texts WHERE qualifier IN ('x', 'z') AND ts BETWEEN 7 AND 8;
DELETE FROM texts WHERE "row" = 'tx' AND qualifier = 'z';
SELECT * FROM texts WHERE "row" = 'tx';
ROLLBACK;
SELECT count(*) FROM texts WHERE "row" = 'tx';

-- a cell that the transaction has written without a timestamp is not known by one; to insert it again replaces it
BEGIN;
INSERT INTO cells ("row", family, qualifier, value) VALUES ('new', 'a', 'x', 'one'), ('new', 'a', 'y', 'one');
SAVEPOINT s;
UPDATE cells SET value = 'two' WHERE "row" = 'new' AND qualifier = 'x';
ROLLBACK TO s;
DELETE FROM cells WHERE "row" = 'new';
ROLLBACK TO s;
INSERT INTO cells ("row", family, qualifier, value) VALUES ('new', 'a', 'x', 'two');
COMMIT;
UPDATE cells SET value = 'three' WHERE "row" = 'new' AND qualifier = 'y';
SELECT qualifier, value FROM cells WHERE "row" = 'new';
DELETE FROM cells WHERE "row" = 'new';
SELECT count(*) FROM cells WHERE "row" = 'new';

-- many cells of a row are updated in one statement, in any order, and keep their times to live
INSERT INTO cells ("row", family, qualifier, ts, value, ttl)
SELECT 'many', f, ('q' || lpad(i::text, 3, '0'))::bytea, 1e15::bigint * 3 + v, 'v', CASE WHEN i % 3 > 0 THEN i * interval '1 day' END
FROM unnest('{a,b}'::text[]) f, generate_series(1, 300) i, generate_series(1, 2) v;
UPDATE texts SET value = 'w' WHERE "row" = 'many' AND qualifier < 'q200';
CREATE TABLE cell_order AS SELECT 'q' || lpad(i::text, 3, '0') AS q FROM generate_series(1, 300) i ORDER BY i * 7 % 301;
ANALYZE cell_order;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
UPDATE texts SET value = value || 'x' FROM cell_order WHERE "row" = 'many' AND qualifier = q;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT value, count(*), count(*) FILTER (WHERE ttl IS NOT DISTINCT FROM CASE WHEN i % 3 > 0 THEN i * interval '1 day' END) AS right
FROM (SELECT value, ttl, substr(convert_from(qualifier, 'UTF8'), 2)::int AS i FROM cells WHERE "row" = 'many') c GROUP BY value ORDER BY value;
DELETE FROM cells WHERE "row" = 'many';
DROP TABLE cell_order;

-- flushed and compacted it is the same
SELECT widecol.flush('cl');
SELECT widecol.major_compact('cl');
SELECT "row", family, qualifier, ts FROM texts WHERE ts BETWEEN 10 AND 30 AND qualifier >= 'x';

-- a condition on the qualifier only leaves out cells, also with min_versions, where a Get that names its columns shows one more
SELECT widecol.create_table('cl_kept', '{"cf": {"versions": 3, "min_versions": 1, "ttl": 3600}}');
CREATE FOREIGN TABLE kept ("row" text, family text, qualifier text, ts bigint, value text) SERVER widecol OPTIONS ("table" 'cl_kept', layout 'cell');
SELECT widecol.put('cl_kept', 'r', 'cf:x', 'fresh'), widecol.put('cl_kept', 'r', 'cf:x', 'old', 1000);
SELECT value FROM kept;
SELECT value FROM kept WHERE qualifier = 'x';
SELECT value FROM kept WHERE "row" = 'r' AND qualifier IN ('x', 'y');
SELECT value FROM kept WHERE "row" = 'r' AND qualifier = 'x' LIMIT 5;
SELECT count(*) FROM kept WHERE family = 'cf' AND qualifier = 'x';
UPDATE kept SET value = 'changed' WHERE qualifier = 'x' RETURNING value;

SET client_min_messages = warning;
DROP FOREIGN TABLE kept;
SELECT widecol.drop_table('cl_kept');
DROP FOREIGN TABLE cells, texts, newest, raw, only_value, only_ts, newest_ts;
SELECT widecol.drop_table('cl');
DROP SCHEMA cell_layout CASCADE;
