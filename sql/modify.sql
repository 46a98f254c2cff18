-- INSERT, UPDATE, DELETE, COPY, TRUNCATE, RETURNING, triggers.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;

CREATE FOREIGN TABLE m (
  a int OPTIONS (rowkey '1'),
  b text OPTIONS (rowkey '2', sort 'desc') COLLATE "C",
  v text,
  w int DEFAULT 7
) SERVER widecol;

INSERT INTO m VALUES (1, 'x', 'first', DEFAULT), (1, 'y', 'second', NULL), (2, 'x', 'third', 3) RETURNING *;
INSERT INTO m SELECT a + 10, b, v || '!', w FROM m RETURNING a, v;
SELECT * FROM m ORDER BY a, b DESC;

UPDATE m SET v = upper(v), w = w + 1 WHERE a = 1 RETURNING *;
UPDATE m SET w = o.n FROM (VALUES (11, 100), (12, 200)) o(a, n) WHERE m.a = o.a RETURNING m.*, o.n;
DELETE FROM m WHERE a > 10 RETURNING a, b, v;
DELETE FROM m USING (VALUES (2)) o(a) WHERE m.a = o.a RETURNING *;
SELECT * FROM m ORDER BY a, b DESC;

-- keys move, with all that the row has
SELECT widecol.put('m', "row", 'cf:extra', 'kept') FROM widecol.scan('m', row_limit => 1) LIMIT 1;
UPDATE m SET a = a + 1 RETURNING *;
SELECT * FROM m ORDER BY a, b DESC;
SELECT count(*) FROM widecol.scan('m', columns => '{cf:extra}');
INSERT INTO m SELECT g, 'k', 'row ' || g, g FROM generate_series(1, 5) g;
UPDATE m SET a = a + 1 WHERE b = 'k';
SELECT a, v, w FROM m WHERE b = 'k' ORDER BY a;
UPDATE m SET a = a - 1, w = -w WHERE b = 'k';
SELECT a, v, w FROM m WHERE b = 'k' ORDER BY a;
UPDATE m SET a = 1, v = v || ' moved' WHERE b = 'k' AND a = 5;
SELECT a, v, w FROM m WHERE b = 'k' ORDER BY a;
UPDATE m SET b = b;
SELECT count(*) FROM m;

-- in one transaction, and rolled back
BEGIN;
UPDATE m SET a = a + 100 WHERE b = 'k';
UPDATE m SET a = a - 100 WHERE b = 'k';
DELETE FROM m WHERE b <> 'k';
SELECT a, b, v, w FROM m ORDER BY a;
ROLLBACK;
SELECT a, b, v, w FROM m ORDER BY a, b DESC;

-- on_duplicate
CREATE FOREIGN TABLE m_dup (k int OPTIONS (rowkey '1'), t text OPTIONS (rowkey '2') COLLATE "C", v int)
  SERVER widecol OPTIONS (on_duplicate 'error');
INSERT INTO m_dup VALUES (1, 'a', 1), (2, 'b', 2);
INSERT INTO m_dup VALUES (1, 'a', 3);
INSERT INTO m_dup VALUES (3, 'c', 3), (3, 'c', 4);
UPDATE m_dup SET k = 2, t = 'b' WHERE k = 1;
UPDATE m_dup SET k = 5, v = v + 1 WHERE k = 1;
INSERT INTO m_dup VALUES (2, 'b', 20), (6, 'f', 6) ON CONFLICT DO NOTHING RETURNING *;
INSERT INTO m_dup VALUES (2, 'b', 20) ON CONFLICT (k, t) DO NOTHING;
INSERT INTO m_dup VALUES (2, 'b', 20) ON CONFLICT (k) DO UPDATE SET v = 0;
SELECT * FROM m_dup ORDER BY k;
BEGIN;
DELETE FROM m_dup WHERE k = 2;
INSERT INTO m_dup VALUES (2, 'b', 22);
COMMIT;
SELECT * FROM m_dup ORDER BY k;
INSERT INTO m VALUES (1, 'k', 'no') ON CONFLICT DO NOTHING;
INSERT INTO m VALUES (1, 'k', 'same'), (1, 'k', 'the last wins');
SELECT * FROM m WHERE a = 1 AND b = 'k';

-- COPY
COPY m (a, b, v) FROM stdin;
50	copied	fifty
51	copied	fifty-one
\.
COPY (SELECT * FROM m WHERE b = 'copied' ORDER BY a) TO stdout;
COPY m FROM stdin;
52	\N	no key	1
\.
SELECT count(*) FROM m WHERE a = 52;

-- triggers
CREATE FUNCTION m_before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    RAISE NOTICE 'before delete %', OLD.v;
    RETURN OLD;
  END IF;
  IF NEW.v = 'skip' THEN RETURN NULL; END IF;
  NEW.v := NEW.v || ' (' || lower(TG_OP) || ')';
  RETURN NEW;
END $$;
CREATE FUNCTION m_after() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE 'after % old % new %', TG_OP, OLD, NEW;
  RETURN NULL;
END $$;
CREATE TRIGGER m_before BEFORE INSERT OR UPDATE OR DELETE ON m FOR EACH ROW EXECUTE FUNCTION m_before();
CREATE TRIGGER m_after AFTER INSERT OR UPDATE OR DELETE ON m FOR EACH ROW EXECUTE FUNCTION m_after();
INSERT INTO m VALUES (60, 't', 'one'), (61, 't', 'skip') RETURNING v;
UPDATE m SET w = 1 WHERE a = 60 RETURNING *;
SELECT * FROM m WHERE a = 60;
DELETE FROM m WHERE a = 60;
DROP TRIGGER m_before ON m;
DROP TRIGGER m_after ON m;
DROP FUNCTION m_before(), m_after();

-- generated columns, defaults
CREATE FOREIGN TABLE m_gen (
  k int OPTIONS (rowkey '1'),
  v int,
  twice int GENERATED ALWAYS AS (v * 2) STORED
) SERVER widecol;
INSERT INTO m_gen (k, v) VALUES (1, 4) RETURNING *;
UPDATE m_gen SET v = 5 RETURNING *;
SELECT * FROM m_gen;

-- columns that show more of a cell than its value, and the whole key
CREATE FOREIGN TABLE m_ts (
  k int OPTIONS (rowkey '1'),
  raw bytea OPTIONS (rowkey 'raw'),
  v text,
  at bigint OPTIONS (qualifier 'v', attribute 'timestamp'),
  old widecol.version[] OPTIONS (qualifier 'v')
) SERVER widecol OPTIONS (families '{"cf": {"versions": 3}}');
INSERT INTO m_ts (k, v) VALUES (1, 'a'), (2, 'b');
UPDATE m_ts SET v = 'c' WHERE k = 1;
SELECT k, raw, v, at > 0 AS has_ts, cardinality(old) AS versions, at = (old[1]).ts AS same FROM m_ts ORDER BY k;
INSERT INTO m_ts (k, v, at) VALUES (3, 'x', 5);
UPDATE m_ts SET at = 5;
UPDATE m_ts SET at = at, v = 'd' WHERE k = 2;
INSERT INTO m_ts (k, raw, v) VALUES (3, '\x80000003', 'right');
INSERT INTO m_ts (k, raw, v) VALUES (4, '\x80000003', 'wrong');
SELECT k, v FROM m_ts ORDER BY k;

-- a timestamp that is assigned dates the cell, also if the cell has it already
INSERT INTO m_ts (k, v, at) VALUES (10, 'a', 100), (11, 'b', 100), (12, 'c', 100), (13, 'd', 100), (14, 'e', 100), (15, 'f', 100);
UPDATE m_ts SET v = 'b', at = 100 WHERE k = 10 RETURNING k, v, at;
UPDATE m_ts SET v = v, at = at WHERE k = 11 RETURNING k, v, at;
UPDATE m_ts SET k = 22, at = 100 WHERE k = 12 RETURNING k, v, at;
UPDATE m_ts SET v = 'd' WHERE k = 13 RETURNING k, v, at;
SELECT k, v, CASE WHEN at < 1000 THEN at END AS at FROM m_ts WHERE k >= 10 ORDER BY k;
-- a row stays when all versions of its only cell are taken away, or the array was empty before
UPDATE m_ts SET old = '{}' WHERE k = 14;
UPDATE m_ts SET old = NULL WHERE k = 15;
SELECT k, v, at, old FROM m_ts WHERE k IN (14, 15) ORDER BY k;
UPDATE m_ts SET old = '{}' WHERE k = 15;
SELECT k, v, at, old FROM m_ts WHERE k IN (14, 15) ORDER BY k;
CREATE FOREIGN TABLE m_old (k int OPTIONS (rowkey '1'), old widecol.version[]) SERVER widecol;
INSERT INTO m_old VALUES (1, '{}'), (2, ARRAY[(7, 'x')::widecol.version]), (3, NULL);
UPDATE m_old SET old = '{}';
SELECT * FROM m_old ORDER BY k;
-- older versions that the family does not keep any more, but that are still stored, stay hidden
CREATE FOREIGN TABLE m_times (
  k int OPTIONS (rowkey '1'),
  v int,
  at bigint OPTIONS (qualifier 'v', attribute 'timestamp'),
  w widecol.version[] OPTIONS (qualifier 'w')
) SERVER widecol OPTIONS (families '{"cf": {"packing": "cell"}}');
INSERT INTO m_times (k, v, at) VALUES (1, 1, 2000), (2, 1, 2000);
UPDATE m_times SET v = 2, at = 3000;
UPDATE m_times SET v = 3, at = 1000 WHERE k = 1;
INSERT INTO m_times (k, v, at) VALUES (2, 3, 1000);
UPDATE m_times SET w = ARRAY[(2000, 'a')::widecol.version] WHERE k = 1;
UPDATE m_times SET w = ARRAY[(3000, 'b')::widecol.version] WHERE k = 1;
UPDATE m_times SET w = ARRAY[(1000, 'c')::widecol.version] WHERE k = 1;
SELECT * FROM m_times ORDER BY k;
CREATE FOREIGN TABLE m_times_in_one (
  k int OPTIONS (rowkey '1'),
  v int,
  at bigint OPTIONS (qualifier 'v', attribute 'timestamp')
) SERVER widecol OPTIONS (families '{"cf": {"packing": "row"}}');
INSERT INTO m_times_in_one VALUES (1, 1, 2000);
BEGIN;
UPDATE m_times_in_one SET at = 3000;
UPDATE m_times_in_one SET v = v + 1, at = 1000;
SELECT * FROM m_times_in_one;
COMMIT;
SELECT * FROM m_times_in_one;

-- columns that show one cell: RETURNING shows in all of them what one was given
CREATE FOREIGN TABLE m_shared (
  k int OPTIONS (rowkey '1'),
  v int OPTIONS (qualifier 'q'),
  at bigint OPTIONS (qualifier 'q', attribute 'timestamp'),
  since timestamptz OPTIONS (qualifier 'q', attribute 'timestamp'),
  old widecol.version[] OPTIONS (qualifier 'q')
) SERVER widecol;
INSERT INTO m_shared (k, v, at) VALUES (1, 1, 100) RETURNING k, v, at, extract(epoch FROM since), old;
UPDATE m_shared SET old = ARRAY[(1000, '\x00000063')::widecol.version, (50, '\x00000007')::widecol.version] WHERE k = 1 RETURNING k, v, at, extract(epoch FROM since);
SELECT k, v, at, extract(epoch FROM since) FROM m_shared;
UPDATE m_shared SET old = '{}' WHERE k = 1 RETURNING k, v, at, since;
SELECT k, v, at, since FROM m_shared;
UPDATE m_shared SET old = '{}', v = 5 WHERE k = 1 RETURNING k, v, at;
INSERT INTO m_shared (k, old) VALUES (2, ARRAY[(7, '\x00000008')::widecol.version]) RETURNING k, v, at;
UPDATE m_shared SET k = 3, old = ARRAY[(8, '\x00000009')::widecol.version] WHERE k = 2 RETURNING k, v, at;
SELECT k, v, at FROM m_shared WHERE k > 1;
UPDATE m_shared SET old = ARRAY[(9, '\x09')::widecol.version] WHERE k = 3 RETURNING k, v, at;

-- only the raw key
CREATE FOREIGN TABLE m_raw (key bytea OPTIONS (rowkey 'raw'), v text) SERVER widecol;
INSERT INTO m_raw VALUES ('\x00ff', 'a'), ('b', 'b');
UPDATE m_raw SET key = key || '\x01' RETURNING *;
DELETE FROM m_raw WHERE key = '\x6201' RETURNING *;
INSERT INTO m_raw VALUES ('', 'empty');
SELECT * FROM m_raw;

-- cells
CREATE FOREIGN TABLE m_cell ("row" text, family text, qualifier text, ts bigint, value text)
  SERVER widecol OPTIONS (layout 'cell', families '{"cf": {"versions": 5}, "d": {}}');
INSERT INTO m_cell VALUES ('r', 'cf', 'q', 1, 'one'), ('r', 'cf', 'q', 2, 'two'), ('r', 'd', 'q', 7, 'd');
INSERT INTO m_cell ("row", value) VALUES ('s', 'now');
SELECT "row", family, qualifier, CASE WHEN ts < 10 THEN ts END AS ts, value FROM m_cell;
UPDATE m_cell SET value = 'zwei' WHERE ts = 2;
DELETE FROM m_cell WHERE ts = 1 RETURNING *;
SELECT "row", family, qualifier, CASE WHEN ts < 10 THEN ts END AS ts, value FROM m_cell;
INSERT INTO m_cell VALUES ('r', 'e', 'q', 1, 'x');
INSERT INTO m_cell VALUES (NULL, 'cf', 'q', 1, 'x');
INSERT INTO m_cell VALUES ('r', 'cf', 'q', -1, 'x');
INSERT INTO m_cell VALUES ('r', 'cf', 'q', 1, NULL);
UPDATE m_cell SET qualifier = 'other' WHERE ts = 2;
CREATE FOREIGN TABLE m_some ("row" text, value text) SERVER widecol OPTIONS (table 'm_cell', layout 'cell');
DELETE FROM m_some;
INSERT INTO m_some VALUES ('t', 'default family');
SELECT * FROM m_some ORDER BY 1, 2;

-- partitions
CREATE TABLE m_part (k int, v text) PARTITION BY RANGE (k);
CREATE FOREIGN TABLE m_part1 (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
CREATE TABLE m_part2 PARTITION OF m_part FOR VALUES FROM (10) TO (20);
ALTER TABLE m_part ATTACH PARTITION m_part1 FOR VALUES FROM (0) TO (10);
INSERT INTO m_part VALUES (1, 'foreign'), (11, 'heap') RETURNING tableoid::regclass, *;
COPY m_part FROM stdin;
2	copied
12	copied too
\.
UPDATE m_part SET k = 3 WHERE k = 12 RETURNING tableoid::regclass, *;
UPDATE m_part SET v = v || '.' RETURNING tableoid::regclass, *;
UPDATE m_part SET k = 15 WHERE k = 1;
INSERT INTO m_part1 VALUES (30, 'outside');
DELETE FROM m_part WHERE v LIKE 'c%' RETURNING tableoid::regclass, *;
SELECT tableoid::regclass, * FROM m_part ORDER BY k;

-- TRUNCATE
BEGIN;
TRUNCATE m, m_part;
SELECT count(*) FROM m;
ROLLBACK;
SELECT count(*) > 0 AS there FROM m;
TRUNCATE m, m_part1;
SELECT (SELECT count(*) FROM m), (SELECT count(*) FROM m_part1);

-- COPY locks rows that must be new some at a time: a duplicate is found in the statement, wherever it is, and triggers and functions
-- see the rows before them
CREATE FOREIGN TABLE m_new (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (on_duplicate 'error');
CREATE TABLE m_new_parent (k int, v text) PARTITION BY RANGE (k);
ALTER TABLE m_new_parent ATTACH PARTITION m_new FOR VALUES FROM (0) TO (1000);
INSERT INTO m_new SELECT i, 'a' FROM generate_series(1, 40) i;
INSERT INTO m_new SELECT i, 'b' FROM generate_series(41, 80) i UNION ALL SELECT 45, 'b';
INSERT INTO m_new SELECT i, 'b' FROM generate_series(41, 80) i UNION ALL SELECT 80, 'b';
INSERT INTO m_new SELECT i, 'b' FROM generate_series(35, 60) i;
INSERT INTO m_new VALUES (41, 'b'), (40, 'b');
COPY m_new FROM stdin;
41	c
7	c
42	c
\.
COPY m_new_parent FROM stdin;
41	d
42	d
\.
DO $$BEGIN
  INSERT INTO m_new SELECT i, 'e' FROM generate_series(42, 62) i;
EXCEPTION WHEN unique_violation THEN
  INSERT INTO m_new SELECT i, 'e' FROM generate_series(43, 62) i;
END$$;
SELECT v, count(*), min(k), max(k) FROM m_new GROUP BY v ORDER BY v;
CREATE FUNCTION m_next() RETURNS int LANGUAGE sql AS 'SELECT max(k) + 1 FROM m_new';
INSERT INTO m_new SELECT m_next(), 'f' FROM generate_series(1, 20);
INSERT INTO m_new SELECT (SELECT m_next()) + i, (SELECT max(v) FROM m_new) FROM generate_series(1, 20) i;
ALTER FOREIGN TABLE m_new ALTER k SET DEFAULT m_next();
COPY m_new (v) FROM stdin;
g
g
\.
ALTER FOREIGN TABLE m_new ALTER k DROP DEFAULT;
CREATE FUNCTION m_tell() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
  RAISE NOTICE '% on %: % rows', TG_LEVEL, TG_TABLE_NAME, (SELECT count(*) FROM m_new);
  RETURN NULL;
END$$;
CREATE TRIGGER tell AFTER INSERT ON m_new_parent FOR EACH STATEMENT EXECUTE FUNCTION m_tell();
INSERT INTO m_new_parent VALUES (201, 'h'), (202, 'h');
COPY m_new_parent FROM stdin;
203	h
204	h
\.
CREATE TRIGGER tell AFTER INSERT ON m_new FOR EACH ROW EXECUTE FUNCTION m_tell();
INSERT INTO m_new VALUES (205, 'h'), (206, 'h');
SELECT v, count(*), min(k), max(k) FROM m_new GROUP BY v ORDER BY v;
DROP TRIGGER tell ON m_new;
DROP TRIGGER tell ON m_new_parent;
-- so do a condition of COPY, defaults of the table that it names, and triggers of its other partitions
CREATE FUNCTION m_has(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN EXISTS (SELECT FROM m_new WHERE k = $1); END$$;
COPY m_new FROM stdin WHERE NOT m_has(k);
206	i
301	i
302	i
301	i
\.
ALTER TABLE ONLY m_new_parent ALTER k SET DEFAULT m_next();
COPY m_new_parent (v) FROM stdin;
j
j
\.
CREATE TABLE m_new_other PARTITION OF m_new_parent FOR VALUES FROM (1000) TO (2000);
CREATE TRIGGER tell AFTER INSERT ON m_new_other FOR EACH ROW EXECUTE FUNCTION m_tell();
COPY m_new_parent FROM stdin;
305	k
306	k
1001	k
307	k
1002	k
\.
SELECT v, count(*), min(k), max(k) FROM m_new GROUP BY v ORDER BY v;
DROP TABLE m_new_parent;
DROP FUNCTION m_next(), m_tell(), m_has(int);

-- conditions on tableoid
CREATE FOREIGN TABLE m_oid (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
CREATE TABLE m_oid_parent (k int, v int);
ALTER FOREIGN TABLE m_oid INHERIT m_oid_parent;
INSERT INTO m_oid SELECT i, 0 FROM generate_series(1, 4) i;
UPDATE m_oid SET v = v + 1 WHERE tableoid = 'm_oid'::regclass AND k = 1 RETURNING tableoid::regclass, *;
UPDATE m_oid SET v = 2 WHERE tableoid = 'm_oid'::regclass AND k = 2;
UPDATE m_oid_parent SET v = v + 3 WHERE tableoid = 'm_oid'::regclass AND k > 2;
DELETE FROM m_oid_parent WHERE tableoid <> 'm_oid'::regclass;
SELECT * FROM m_oid ORDER BY k;
DELETE FROM m_oid WHERE tableoid = 'm_oid'::regclass AND k < 4 RETURNING *;

-- the raw key beside parts is composed of the parts
CREATE FOREIGN TABLE m_both (k int OPTIONS (rowkey '1'), v text, gone int, raw bytea OPTIONS (rowkey 'raw'), w int) SERVER widecol;
ALTER FOREIGN TABLE m_both DROP COLUMN gone;
INSERT INTO m_both (k, v) VALUES (1, 'a'), (2, NULL) RETURNING *;
UPDATE m_both SET k = k + 256 RETURNING *;
UPDATE m_both SET v = 'b' WHERE k = 257 RETURNING raw, v;
SELECT * FROM m_both;

-- the rest of a cell's time to live moves with its row; this one has no end
CREATE FOREIGN TABLE m_late (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
SELECT widecol.put('m_late', '\x80000001', 'cf:v', 'lives', 9223372036854775806, '1 day');
UPDATE m_late SET k = 2;
SELECT v FROM m_late WHERE k = 2;

SET client_min_messages = warning;
DROP TABLE m_part;
DROP TABLE m_oid_parent CASCADE;
DROP FOREIGN TABLE m, m_dup, m_gen, m_ts, m_old, m_times, m_times_in_one, m_shared, m_raw, m_cell, m_some, m_both, m_late;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['m', 'm_dup', 'm_gen', 'm_ts', 'm_old', 'm_times', 'm_times_in_one', 'm_shared', 'm_raw', 'm_cell', 'm_part1', 'm_both', 'm_late', 'm_new', 'm_oid']) t;
