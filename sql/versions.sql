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

-- flushed and compacted: what was beyond VERSIONS is gone, the rest is the same
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

-- these columns are for reading
INSERT INTO vc (k, x_us) VALUES ('w', 1);
INSERT INTO vc (k, x, x_at) VALUES ('w', 'x', now());
INSERT INTO vc (k, x_all) VALUES ('w', '{}');
UPDATE vc SET x_us = 5 WHERE k = 'c';
UPDATE vc SET x_all = NULL WHERE k = 'c';
SELECT count(*) FROM vc WHERE k = 'w';

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
