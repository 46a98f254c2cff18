-- A database in another encoding: stored text is UTF-8 nevertheless.
SET client_min_messages = warning;
SELECT current_database() AS here \gset
CREATE DATABASE widecol_latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0;
\c widecol_latin1
SET client_min_messages = warning;
SET client_encoding = 'UTF8';
CREATE EXTENSION widecol;
CREATE FOREIGN TABLE café (k text OPTIONS (rowkey '1') COLLATE "C", "thé" text, list text[],
  doc jsonb, map jsonb OPTIONS (family 'm')) SERVER widecol OPTIONS (family 'crème');
CREATE TABLE heap (k text COLLATE "C", "thé" text, list text[], doc jsonb, map jsonb);
INSERT INTO heap VALUES ('é', 'ñ', '{é,ß}', '{"é": ["ÿ"]}', '{"é": "ü"}'), ('ÿ', 'ÿ', NULL, NULL, NULL),
  ('z', NULL, NULL, NULL, NULL), ('ab', 'x', NULL, NULL, '{"a": "ß"}'), ('a', 'é', '{}', NULL, NULL);
INSERT INTO café SELECT * FROM heap;
SELECT * FROM café ORDER BY k;
SELECT * FROM café EXCEPT SELECT * FROM heap;
SELECT convert_from("row", 'UTF8') AS k, family, convert_from(qualifier, 'UTF8') AS qualifier, value
  FROM widecol.scan('café', start_row => 'z');

-- conditions, by the bytes of either encoding
SELECT array_agg(k) FROM café WHERE k > 'b';
SELECT array_agg(k) FROM café WHERE k BETWEEN 'a' AND 'é';
SELECT array_agg(k) FROM (SELECT k FROM café WHERE k >= 'é' ORDER BY k DESC) d;
SELECT array_agg(k) FROM café WHERE k LIKE 'é%' OR k = chr(255);
SELECT array_agg(k) FROM café WHERE "thé" IN ('ÿ', 'é');
SELECT k, map ->> 'é' FROM café WHERE map ? 'é';
EXPLAIN (COSTS OFF) SELECT k FROM café WHERE k > 'é';

-- names in messages; locks by the same names
CREATE FOREIGN TABLE other (k text OPTIONS (rowkey '1'), v int) SERVER widecol OPTIONS (table 'café', family 'crème');
UPDATE café SET "thé" = '1' WHERE k = 'z';
SELECT k, v FROM other WHERE k = 'z';
SELECT widecol.create_table('café', '{"cf": {}}');
SELECT widecol.alter_table('café', '{"thé": null}');
SELECT widecol.create_table('thé:café', '{"cf": {}}');
BEGIN;
INSERT INTO café (k) VALUES ('ö');
SELECT widecol.truncate_table('café');
SELECT DISTINCT w.mode, t.mode FROM pg_locks w JOIN pg_locks t USING (locktype, database, classid, objid, objsubid, pid)
  WHERE pid = pg_backend_pid() AND locktype NOT IN ('relation', 'virtualxid') AND w.mode = 'RowExclusiveLock' AND t.mode = 'AccessExclusiveLock';
SELECT count(*) FROM café;
ROLLBACK;
SELECT count(*) FROM café;

-- the engine's messages
SELECT widecol.alter_table('café', '{"crème": {"versions": 2, "min_versions": 5}}');

-- stored text that this database's encoding lacks
SELECT widecol.put('café', 'q', 'crème:thé', '\xe697a5');
SELECT k FROM café;
SELECT "thé" FROM café WHERE k = 'q';

\c :here
DROP DATABASE widecol_latin1;
