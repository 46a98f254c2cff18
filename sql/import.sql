-- IMPORT FOREIGN SCHEMA: foreign tables over stored tables
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA imported;
SELECT widecol.create_namespace('imp');
SELECT widecol.create_namespace('Odd-Ns');
SELECT widecol.create_namespace('imp.empty');
SELECT widecol.create_table('imp:web', '{"anchor": {}, "contents": {"versions": 3}}');
SELECT widecol.create_table('imp:Upper.Case', '{"cf": {}}');
SELECT widecol.create_table('imp:other', '{"Über \"f''": {}, "rowkey": {}, "ctid": {}, "select": {}}');
SELECT widecol.create_table('Odd-Ns:web', '{"cf": {}}');
CREATE FOREIGN TABLE imp_web (k text OPTIONS (rowkey '1') COLLATE "C", a jsonb OPTIONS (family 'anchor'),
  html text OPTIONS (family 'contents', qualifier 'html')) SERVER widecol OPTIONS (table 'imp:web');
INSERT INTO imp_web VALUES ('com.cnn.www', '{"cnnsi.com": "CNN"}', '<html>'), ('org.x', NULL, 'x');

CREATE VIEW shown AS
SELECT c.relnamespace::regnamespace AS schema, c.relname, t.ftoptions, a.attname, format_type(a.atttypid, a.atttypmod) AS type,
       a.attfdwoptions AS options, co.collname
FROM pg_foreign_table t JOIN pg_class c ON c.oid = t.ftrelid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
LEFT JOIN pg_collation co ON co.oid = a.attcollation AND co.collname <> 'default'
WHERE c.relnamespace = 'imported'::regnamespace ORDER BY c.relname COLLATE "C", a.attnum;

-- the cells, unless something else is asked for
IMPORT FOREIGN SCHEMA imp FROM SERVER widecol INTO imported;
SELECT relname, ftoptions, string_agg(attname || ' ' || type || coalesce(' ' || collname, ''), ', ') AS columns
FROM shown GROUP BY relname, ftoptions ORDER BY relname COLLATE "C";
SELECT "row", family, qualifier, value FROM imported.web;
SELECT convert_from(value, 'UTF8') FROM imported.web WHERE family = 'anchor';
INSERT INTO imported."Upper.Case" ("row", family, qualifier, value) VALUES ('k', 'cf', 'q', 'v');
SELECT "row", family, qualifier, value FROM imported."Upper.Case";
-- once more: they are there
IMPORT FOREIGN SCHEMA imp FROM SERVER widecol INTO imported;
DROP FOREIGN TABLE imported.web, imported.other, imported."Upper.Case";

-- rows, with maps (the member without name and value is stored as a zero byte, and is text all the same)
INSERT INTO imp_web VALUES ('org.y', '{"": ""}', NULL);
IMPORT FOREIGN SCHEMA imp FROM SERVER widecol INTO imported OPTIONS (layout 'row');
SELECT relname, ftoptions, attname, type, collname, options FROM shown;
SELECT * FROM imported.web ORDER BY rowkey;
DELETE FROM imported.web WHERE rowkey = 'org.y';
EXPLAIN (COSTS OFF) SELECT anchor FROM imported.web WHERE rowkey > 'com.' ORDER BY rowkey LIMIT 1;
INSERT INTO imported.other VALUES ('k', '{"a": "1"}', NULL, '{"b": "2"}', '{"c": "3"}');
SELECT * FROM imported.other;
DROP FOREIGN TABLE imported.web, imported.other, imported."Upper.Case";

-- keys that are no text
IMPORT FOREIGN SCHEMA imp LIMIT TO (web) FROM SERVER widecol INTO imported OPTIONS (layout 'row', key_type 'bytea');
SELECT rowkey, anchor FROM imported.web WHERE rowkey = 'org.x';
DROP FOREIGN TABLE imported.web;
IMPORT FOREIGN SCHEMA imp LIMIT TO (web) FROM SERVER widecol INTO imported OPTIONS (layout 'cell', key_type 'text');
SELECT "row", family, qualifier FROM imported.web WHERE "row" LIKE 'org.%';
DROP FOREIGN TABLE imported.web;

-- some of them; names are as they are stored
IMPORT FOREIGN SCHEMA imp LIMIT TO (web, "Upper.Case", absent) FROM SERVER widecol INTO imported;
SELECT DISTINCT relname FROM shown ORDER BY 1;
DROP FOREIGN TABLE imported.web, imported."Upper.Case";
IMPORT FOREIGN SCHEMA imp LIMIT TO (WEB, "upper.case") FROM SERVER widecol INTO imported;
SELECT DISTINCT relname FROM shown ORDER BY 1;
DROP FOREIGN TABLE imported.web;
IMPORT FOREIGN SCHEMA imp EXCEPT (web, other) FROM SERVER widecol INTO imported;
SELECT DISTINCT relname FROM shown ORDER BY 1;
DROP FOREIGN TABLE imported."Upper.Case";

-- namespaces
IMPORT FOREIGN SCHEMA "Odd-Ns" FROM SERVER widecol INTO imported;
SELECT relname, ftoptions, count(*) FROM shown GROUP BY 1, 2;
DROP FOREIGN TABLE imported.web;
IMPORT FOREIGN SCHEMA "imp.empty" FROM SERVER widecol INTO imported;
SELECT count(*) FROM shown;
IMPORT FOREIGN SCHEMA absent FROM SERVER widecol INTO imported;
\echo :SQLSTATE
IMPORT FOREIGN SCHEMA IMP FROM SERVER widecol INTO absent;
SELECT widecol.create_table('imp_default', '{"cf": {}}');
IMPORT FOREIGN SCHEMA "default" LIMIT TO (imp_default) FROM SERVER widecol INTO imported;
SELECT relname, ftoptions FROM shown GROUP BY 1, 2;
DROP FOREIGN TABLE imported.imp_default;

-- stored tables that the transaction has made itself, and rolls back
BEGIN;
SELECT widecol.create_table('imp.empty:fresh', '{"a": {}}');
IMPORT FOREIGN SCHEMA "imp.empty" FROM SERVER widecol INTO imported OPTIONS (layout 'row');
SELECT attname FROM shown;
ROLLBACK;
SELECT count(*) FROM shown;
BEGIN;
SELECT widecol.drop_table('imp_default');
IMPORT FOREIGN SCHEMA "default" LIMIT TO (imp_default) FROM SERVER widecol INTO imported;
SELECT count(*) FROM shown;
ROLLBACK;

-- options
IMPORT FOREIGN SCHEMA imp FROM SERVER widecol INTO imported OPTIONS (colour 'red');
IMPORT FOREIGN SCHEMA imp FROM SERVER widecol INTO imported OPTIONS (layout 'column');
IMPORT FOREIGN SCHEMA imp FROM SERVER widecol INTO imported OPTIONS (key_type 'int');
IMPORT FOREIGN SCHEMA imp FROM SERVER widecol INTO imported OPTIONS (layout 'row', layout 'row');

-- privileges are those of creating foreign tables
CREATE ROLE regress_importer;
GRANT USAGE ON SCHEMA imported TO regress_importer;
SET ROLE regress_importer;
IMPORT FOREIGN SCHEMA imp FROM SERVER widecol INTO imported;
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER widecol TO regress_importer;
SET ROLE regress_importer;
IMPORT FOREIGN SCHEMA imp FROM SERVER widecol INTO imported;
RESET ROLE;
GRANT CREATE ON SCHEMA imported TO regress_importer;
SET ROLE regress_importer;
IMPORT FOREIGN SCHEMA imp LIMIT TO (web) FROM SERVER widecol INTO imported;
RESET ROLE;
SELECT widecol.alter_table_owner('imp:web', 'regress_importer');
SET ROLE regress_importer;
IMPORT FOREIGN SCHEMA imp LIMIT TO (web) FROM SERVER widecol INTO imported;
SELECT count(*) FROM imported.web;
RESET ROLE;
SELECT tableowner FROM pg_catalog.pg_class c, LATERAL pg_get_userbyid(c.relowner) AS tableowner WHERE oid = 'imported.web'::regclass;

-- nothing was made, no family was added
SELECT namespace, name, families FROM widecol.tables WHERE namespace IN ('imp', 'Odd-Ns', 'imp.empty') OR name = 'imp_default' ORDER BY 1, 2;

DROP VIEW shown;
DROP SCHEMA imported CASCADE;
DROP FOREIGN TABLE imp_web;
REVOKE USAGE ON FOREIGN SERVER widecol FROM regress_importer;
DROP ROLE regress_importer;
SELECT widecol.drop_table(CASE namespace WHEN 'default' THEN name ELSE namespace || ':' || name END) FROM widecol.tables
WHERE namespace IN ('imp', 'Odd-Ns', 'imp.empty') OR name = 'imp_default';
SELECT widecol.drop_namespace('imp'), widecol.drop_namespace('imp.empty'), widecol.drop_namespace('Odd-Ns');
