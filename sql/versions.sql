-- Several versions of a cell in layout row: widecol.version[] columns, timestamps, and both packings.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
CREATE SCHEMA versions;
SET search_path = versions, public;
SET bytea_output = 'escape';
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- the same families in both packings
SELECT widecol.create_table('vc', '{"f": {"versions": 3, "packing": "cell"}, "g": {"packing": "cell"}}');
SELECT widecol.create_table('vr', '{"f": {"versions": 3, "packing": "row"}, "g": {"packing": "row"}}');
CREATE FOREIGN TABLE vc (
  k text OPTIONS (rowkey '1') COLLATE "C",
  x text OPTIONS (family 'f'),
  x_all widecol.version[] OPTIONS (family 'f', qualifier 'x'),
  x_two widecol.version[] OPTIONS (family 'f', qualifier 'x', versions '2'),
  x_many widecol.version[] OPTIONS (family 'f', qualifier 'x', versions '99'),
  x_us bigint OPTIONS (family 'f', qualifier 'x', attribute 'timestamp'),
  x_at timestamptz OPTIONS (family 'f', qualifier 'x', attribute 'timestamp'),
  y text OPTIONS (family 'f'),
  z int OPTIONS (family 'g'),
  z_all widecol.version[] OPTIONS (family 'g', qualifier 'z')
) SERVER widecol OPTIONS (family 'f');
CREATE FOREIGN TABLE vr (
  k text OPTIONS (rowkey '1') COLLATE "C",
  x text OPTIONS (family 'f'),
  x_all widecol.version[] OPTIONS (family 'f', qualifier 'x'),
  x_two widecol.version[] OPTIONS (family 'f', qualifier 'x', versions '2'),
  x_many widecol.version[] OPTIONS (family 'f', qualifier 'x', versions '99'),
  x_us bigint OPTIONS (family 'f', qualifier 'x', attribute 'timestamp'),
  x_at timestamptz OPTIONS (family 'f', qualifier 'x', attribute 'timestamp'),
  y text OPTIONS (family 'f'),
  z int OPTIONS (family 'g'),
  z_all widecol.version[] OPTIONS (family 'g', qualifier 'z')
) SERVER widecol OPTIONS (family 'f');
SELECT tab, family, versions, packing FROM unnest('{vc,vr}'::text[]) tab, widecol.describe(tab);
SELECT tab, widecol.put(tab, 'a', 'f:x', ('v' || ts)::bytea, ts * 1000000) FROM unnest('{vc,vr}'::regclass[]) tab, generate_series(1, 4) ts \g /dev/null
SELECT tab, widecol.put(tab, 'a', 'g:z', '\x00000007', 5), widecol.put(tab, 'a', 'g:z', '\x00000008', 6),
       widecol.put(tab, 'b', 'f:y', 'only y', 7), widecol.put(tab, 'c', 'f:x', 'one version', 8)
  FROM unnest('{vc,vr}'::regclass[]) tab \g /dev/null
\x on
SELECT * FROM vc;
\x off
SELECT count(*) AS same FROM vc JOIN vr USING (k) WHERE vc = vr;
SELECT count(*) FROM vr;
-- as many as are asked for, the family's VERSIONS at most
SELECT k, x_two FROM vc;
SELECT k, x_two, x FROM vr;
SELECT k, x_many FROM vr;
SELECT k, x, x_us, x_at, y FROM vc;
SELECT k, x, x_us, x_at, y FROM vr;
EXPLAIN (COSTS OFF) SELECT x_two, x_us, z FROM vc WHERE k = 'a';
-- unnested: a row a version
SELECT k, v.ts, convert_from(v.value, 'UTF8') AS value FROM vr, unnest(x_all) v;
SELECT k, x_all[1].ts - x_all[2].ts AS age FROM vc WHERE array_length(x_all, 1) > 1;
SELECT k FROM vc WHERE x_us >= 4000000;
SELECT k FROM vr WHERE x_at IS NULL ORDER BY k;
SELECT max(x_at) FROM vr;

-- a new version
UPDATE vc SET x = 'new' WHERE k = 'a';
UPDATE vr SET x = 'new' WHERE k = 'a';
SELECT 'vc' AS tab, k, x, array_length(x_all, 1) AS n, x_all[2] AS before, x_at > now() - interval '1 hour' AS now FROM vc WHERE k = 'a'
UNION ALL SELECT 'vr', k, x, array_length(x_all, 1), x_all[2], x_at > now() - interval '1 hour' FROM vr WHERE k = 'a';
-- NULL deletes every version; the row stays while another column is there
UPDATE vc SET x = NULL WHERE k = 'a';
UPDATE vr SET x = NULL WHERE k = 'a';
SELECT 'vc' AS tab, k, x, x_all, x_us, x_at, z FROM vc WHERE k = 'a' UNION ALL SELECT 'vr', k, x, x_all, x_us, x_at, z FROM vr WHERE k = 'a';
-- deleting the newest version shows the one before
SELECT tab, widecol.put(tab, 'd', 'f:x', ('v' || ts)::bytea, ts) FROM unnest('{vc,vr}'::regclass[]) tab, generate_series(1, 3) ts \g /dev/null
SELECT tab, widecol.delete_version(tab, 'd', 'f:x') FROM unnest('{vc,vr}'::regclass[]) tab;
SELECT 'vc' AS tab, x, x_all, x_us FROM vc WHERE k = 'd' UNION ALL SELECT 'vr', x, x_all, x_us FROM vr WHERE k = 'd';
-- in a transaction, its own versions on top
BEGIN;
UPDATE vc SET x = 'own' WHERE k = 'd';
UPDATE vr SET x = 'own' WHERE k = 'd';
SELECT 'vc' AS tab, x, array_length(x_all, 1) AS n, x_all[2] AS before FROM vc WHERE k = 'd'
UNION ALL SELECT 'vr', x, array_length(x_all, 1), x_all[2] FROM vr WHERE k = 'd';
ROLLBACK;
SELECT 'vc' AS tab, x, x_all, x_us FROM vc WHERE k = 'd' UNION ALL SELECT 'vr', x, x_all, x_us FROM vr WHERE k = 'd';

-- flushed and compacted: versions beyond VERSIONS are gone, the rest is the same
SELECT tab, widecol.flush(tab), widecol.major_compact(tab) FROM unnest('{vc,vr}'::text[]) tab \g /dev/null
SELECT 'vc' AS tab, k, x_all FROM vc UNION ALL SELECT 'vr', k, x_all FROM vr;
-- more VERSIONS count at once, fewer too
SELECT widecol.put('vc', 'e', 'f:x', ('v' || ts)::bytea, ts) FROM generate_series(1, 5) ts \g /dev/null
SELECT array_length(x_all, 1) FROM vc WHERE k = 'e';
SELECT widecol.alter_table('vc', '{"f": {"versions": 5}}');
SELECT array_length(x_all, 1) FROM vc WHERE k = 'e';
SELECT widecol.alter_table('vc', '{"f": {"versions": 1}}');
SELECT x, x_all FROM vc WHERE k = 'e';
SELECT widecol.alter_table('vc', '{"f": {"versions": 3}}');
SELECT x, x_all FROM vc WHERE k = 'e';

-- written: the cell gets the timestamp, or the versions, that are given
INSERT INTO vc (k, x, x_us) VALUES ('w', 'five', 5), ('w2', 'now', NULL);
INSERT INTO vr (k, x, x_us) VALUES ('w', 'five', 5), ('w2', 'now', NULL);
INSERT INTO vc (k, x_all, y) VALUES ('w3', ARRAY[(8, 'eight'), (6, 'six')]::widecol.version[], 'y');
INSERT INTO vr (k, x_all, y) VALUES ('w3', ARRAY[(8, 'eight'), (6, 'six')]::widecol.version[], 'y');
INSERT INTO vc (k, x, x_at, x_two, x_us) VALUES ('w4', 'b', '2026-01-02', '{"(1767312000000000,b)","(7,a)"}', 1767312000000000);
INSERT INTO vr SELECT * FROM vc WHERE k = 'w4';
SELECT k, x, CASE WHEN x_us < now_us THEN x_us END AS x_us, x_all, y FROM (SELECT *, 1767312000000001 AS now_us FROM vc) v WHERE k IN ('w', 'w3', 'w4');
SELECT count(*) AS same FROM vc JOIN vr USING (k) WHERE k IN ('w', 'w3', 'w4') AND vc = vr;
SELECT k, x_at > now() - interval '1 hour' AS now FROM vc WHERE k = 'w2';
-- INSERT replaces the row: newer versions are gone, and if all versions are given, the older ones, too
INSERT INTO vc (k, x, x_us) VALUES ('w', 'four', 4);
INSERT INTO vr (k, x, x_us) VALUES ('w', 'four', 4);
INSERT INTO vc (k, x_all) VALUES ('w3', '{"(7,seven)"}');
INSERT INTO vr (k, x_all) VALUES ('w3', '{"(7,seven)"}');
SELECT k, x, x_us, x_all, y FROM vc WHERE k IN ('w', 'w3') ORDER BY k;
SELECT k, x, x_us, x_all, y FROM vr WHERE k IN ('w', 'w3') ORDER BY k;
-- a newer one on top; nothing
INSERT INTO vc (k, x, x_us) VALUES ('w3', 'nine', 9);
INSERT INTO vc (k, x_all) VALUES ('w', '{}');
SELECT k, x, x_us, x_all FROM vc WHERE k IN ('w', 'w3') ORDER BY k;
-- UPDATE: columns that are not assigned have no effect
UPDATE vc SET x_us = x_us + 1 WHERE k = 'w3';
UPDATE vr SET x = 'ten', x_at = timestamptz '1970-01-01 00:00:00.00001+00' WHERE k = 'w3';
SELECT 'vc' AS tab, x, x_us, x_all FROM vc WHERE k = 'w3' UNION ALL SELECT 'vr', x, x_us, x_all FROM vr WHERE k = 'w3';
UPDATE vc SET x_all = x_all[2:], y = 'u' WHERE k = 'w3';
UPDATE vr SET x_us = NULL WHERE k = 'w3';
SELECT x, x_us, x_all, y FROM vc WHERE k = 'w3';
SELECT x, x_us > 10 AS now, array_length(x_all, 1) AS n FROM vr WHERE k = 'w3';
UPDATE vc SET x_all = NULL WHERE k = 'w3';
UPDATE vr SET k = 'w5', x_us = 12 WHERE k = 'w3';
SELECT k, x, x_us, y FROM vc WHERE k = 'w3' UNION ALL SELECT k, x, x_us, y FROM vr WHERE k = 'w5';
UPDATE vr SET x_us = x_us, x_all = x_all, y = 'same' WHERE k = 'w5';
SELECT k, x, x_us, x_all, y FROM vr WHERE k = 'w5';
-- as in HBase, a timestamp that was deleted stays deleted
UPDATE vc SET x_us = 5, x = 'five again' WHERE k = 'w2';
INSERT INTO vc (k, x, x_us) VALUES ('w2', 'three', 3), ('w2', 'five hidden', 5);
SELECT x, x_us FROM vc WHERE k = 'w2';
-- on_duplicate 'error', a transaction's own row, COPY
BEGIN;
INSERT INTO vr (k, x, x_us) VALUES ('w6', 'seven', 7);
INSERT INTO vr (k, x, x_us) VALUES ('w6', 'six', 6);
COPY vr (k, x, x_us, x_all) FROM stdin;
w7	a	3	{"(3,a)","(2,b)"}
w8	c	4	\N
\.
SELECT k, x, x_us, x_all FROM vr WHERE k > 'w5' ORDER BY k;
ALTER FOREIGN TABLE vr OPTIONS (ADD on_duplicate 'error');
INSERT INTO vr (k, x, x_us) VALUES ('w6', 'five', 5);
ROLLBACK;
-- a cell that the transaction has written without a timestamp, and then writes with one
BEGIN;
INSERT INTO vr (k, x) VALUES ('w8', 'now');
UPDATE vr SET x = 'five', x_us = 5 WHERE k = 'w8' RETURNING x, x_us;
SELECT x, x_us FROM vr WHERE k = 'w8';
UPDATE vr SET x = 'now' WHERE k = 'w8';
SAVEPOINT s;
UPDATE vr SET x_all = '{"(7,seven)","(3,three)"}' WHERE k = 'w8';
SELECT x, x_us, x_all FROM vr WHERE k = 'w8';
ROLLBACK TO s;
SELECT x, x_us > 1e15, cardinality(x_all) FROM vr WHERE k = 'w8';
INSERT INTO vr (k, x, x_us) VALUES ('w8', 'six', 6);
COMMIT;
SELECT x, x_us, x_all FROM vr WHERE k = 'w8';
BEGIN;
UPDATE vr SET x = 'now', x_us = NULL WHERE k = 'w8';
UPDATE vr SET x = 'eight', x_us = 8 WHERE k = 'w8';
UPDATE vr SET x = 'and now' WHERE k = 'w8';
COMMIT;
SELECT x, x_us > 1e15 FROM vr WHERE k = 'w8';
INSERT INTO vr (k, x, x_us) VALUES ('w9', 'late', 4e15);
BEGIN;
UPDATE vr SET x = 'now' WHERE k = 'w9';
UPDATE vr SET x_all = '{"(4000000000000000,late)","(3,three)"}' WHERE k = 'w9';
ROLLBACK;
DELETE FROM vr WHERE k IN ('w8', 'w9');
-- errors
INSERT INTO vc (k, x_us) VALUES ('v', 1);
UPDATE vc SET x_us = 1 WHERE k = 'w3';
INSERT INTO vc (k, x, x_us) VALUES ('v', 'x', -1);
INSERT INTO vc (k, x, x_us) VALUES ('v', 'x', 9223372036854775807);
INSERT INTO vc (k, x, x_at) VALUES ('v', 'x', '1969-12-31 23:59:59.999999+00');
INSERT INTO vc (k, x, x_at) VALUES ('v', 'x', 'infinity');
INSERT INTO vc (k, x, x_at, x_us) VALUES ('v', 'x', '2026-01-01', 1);
INSERT INTO vc (k, x, x_all) VALUES ('v', 'x', '{"(1,y)"}');
INSERT INTO vc (k, x_us, x_all) VALUES ('v', 2, '{"(1,y)"}');
INSERT INTO vc (k, x_two, x_all) VALUES ('v', '{"(1,x)"}', '{"(1,y)"}');
INSERT INTO vc (k, x_all) VALUES ('v', '{"(,y)"}');
INSERT INTO vc (k, x_all) VALUES ('v', '{"(1,)"}');
INSERT INTO vc (k, x_all) VALUES ('v', '{NULL}');
INSERT INTO vc (k, x_all) VALUES ('v', '{"(-1,y)"}');
SELECT count(*) FROM vc WHERE k = 'v';

-- a row without values gets a value that is older than its deletion: the value stays hidden, the row stays visible
CREATE FOREIGN TABLE vd (k text OPTIONS (rowkey '1') COLLATE "C", v text, ts timestamptz OPTIONS (qualifier 'v', attribute 'timestamp'),
  vs widecol.version[] OPTIONS (qualifier 'v')) SERVER widecol OPTIONS (families '{"cf": {"versions": 5}}');
INSERT INTO vd (k, v, ts) VALUES ('a', '1', '2026-01-01');
UPDATE vd SET v = NULL;
UPDATE vd SET v = '2', ts = '2026-01-02';
SELECT k, v, ts FROM vd;
UPDATE vd SET v = '3' RETURNING k, v;
-- RETURNING shows no versions that the UPDATE may have deleted
INSERT INTO vd (k, v, ts) VALUES ('b', '1', '2026-01-01');
UPDATE vd SET v = '2', ts = '2026-01-02' WHERE k = 'b';
SELECT cardinality(vs) FROM vd WHERE k = 'b';
UPDATE vd SET ts = '2026-01-01' WHERE k = 'b' RETURNING v, ts = '2026-01-01' AS dated, vs;
SELECT v, ts = '2026-01-01' AS dated, cardinality(vs) FROM vd WHERE k = 'b';
DROP FOREIGN TABLE vd;
SELECT widecol.drop_table('vd');

-- an earlier timestamp deletes also versions that have expired and are hidden by a newer one
SELECT widecol.create_table('ve', '{"f": {"versions": 3, "min_versions": 1, "ttl": "1 hour", "packing": "cell"},
                                    "g": {"versions": 3, "min_versions": 1, "ttl": "1 hour", "packing": "row"}}');
CREATE FOREIGN TABLE ve (
  k text OPTIONS (rowkey '1') COLLATE "C",
  x text OPTIONS (family 'f'), x_us bigint OPTIONS (family 'f', qualifier 'x', attribute 'timestamp'),
  y text OPTIONS (family 'g'), y_us bigint OPTIONS (family 'g', qualifier 'y', attribute 'timestamp')
) SERVER widecol OPTIONS (family 'f');
INSERT INTO ve VALUES ('a', 'twenty', 20, 'twenty', 20);
UPDATE ve SET x = 'thirty', x_us = 30, y = 'thirty', y_us = 30;
UPDATE ve SET x = 'ten', x_us = 10, y = 'ten', y_us = 10 RETURNING *;
SELECT * FROM ve;
SELECT widecol.flush('ve') \g /dev/null
SELECT * FROM ve;
DROP FOREIGN TABLE ve;
SELECT widecol.drop_table('ve');

-- bad options
CREATE FOREIGN TABLE bad (k text OPTIONS (rowkey '1') COLLATE "C", v widecol.version[] OPTIONS (versions '0')) SERVER widecol OPTIONS (table 'vc', family 'f');
CREATE FOREIGN TABLE bad (k text OPTIONS (rowkey '1') COLLATE "C", v text OPTIONS (versions '2')) SERVER widecol OPTIONS (table 'vc', family 'f');
CREATE FOREIGN TABLE bad (k text OPTIONS (rowkey '1') COLLATE "C", v int OPTIONS (attribute 'timestamp')) SERVER widecol OPTIONS (table 'vc', family 'f');
CREATE FOREIGN TABLE bad (k text OPTIONS (rowkey '1') COLLATE "C", v bigint OPTIONS (attribute 'age')) SERVER widecol OPTIONS (table 'vc', family 'f');
CREATE FOREIGN TABLE bad (k text OPTIONS (rowkey '1') COLLATE "C", v bigint OPTIONS (attribute 'timestamp', encoding 'text')) SERVER widecol OPTIONS (table 'vc', family 'f');

SET client_min_messages = warning;
DROP FOREIGN TABLE vc, vr;
SELECT widecol.drop_table('vc'), widecol.drop_table('vr');
DROP SCHEMA versions CASCADE;
