-- Stored tables as a whole: namespaces listed, tables renamed, cloned, disabled; a time to live for all families.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SET bytea_output = 'escape';
CREATE ROLE regress_tables_ann;
CREATE ROLE regress_tables_bob;
GRANT USAGE ON FOREIGN SERVER widecol TO regress_tables_ann, regress_tables_bob;

-- namespaces
SELECT widecol.create_namespace('tables_ns'), widecol.create_namespace('tables_empty');
SELECT widecol.create_table('tables_ns:b', '{"cf": {}}'), widecol.create_table('tables_ns:a', '{"cf": {}}');
SELECT namespace, tables FROM widecol.list_namespaces() WHERE namespace LIKE 'tables%';
SELECT count(*) FROM widecol.namespaces WHERE namespace = 'default';
SELECT widecol.list_namespace_tables('tables_ns'), widecol.list_namespace_tables('tables_empty');
SELECT widecol.list_namespace_tables('nobody');

-- their properties
SELECT widecol.create_namespace('tables_props', '{"owner": "sales", "quota": 5, "open": true, "none": null}');
SELECT widecol.describe_namespace('tables_props'), widecol.describe_namespace('tables_ns');
SELECT widecol.alter_namespace('tables_props', '{"owner": "Öl", "quota": null, "new": ""}');
SELECT * FROM widecol.namespaces WHERE namespace = 'tables_props';
BEGIN;
SELECT widecol.alter_namespace('tables_props', '{"owner": null, "open": null, "new": null}');
SELECT widecol.describe_namespace('tables_props');
SAVEPOINT s;
SELECT widecol.drop_namespace('tables_props'), widecol.create_namespace('tables_props');
SELECT widecol.alter_namespace('default', '{"note": 1}');
SELECT widecol.describe_namespace('tables_props'), widecol.describe_namespace('default');
SELECT namespace, properties FROM widecol.namespaces WHERE namespace IN ('default', 'tables_props');
ROLLBACK TO s;
SELECT widecol.describe_namespace('tables_props'), widecol.describe_namespace('default');
ROLLBACK;
SELECT widecol.describe_namespace('tables_props');
SELECT widecol.alter_namespace('nobody', '{"a": 1}');
SELECT widecol.alter_namespace('tables_props', '[1]');
SELECT widecol.alter_namespace('tables_props', '{"a": {"b": 1}}');
SELECT widecol.alter_namespace('tables_props', NULL);
SELECT widecol.alter_namespace('tables_props', jsonb_build_object('a', repeat('x', 65520)));
SELECT widecol.create_namespace('tables_bad', '"a"');
SELECT count(*) FROM widecol.namespaces WHERE namespace = 'tables_bad';
SELECT widecol.describe_namespace('tables_props');
SELECT widecol.describe_namespace('nobody');
SELECT widecol.drop_namespace('tables_props');
BEGIN;
SELECT widecol.drop_namespace('tables_empty');
SELECT namespace FROM widecol.namespaces WHERE namespace LIKE 'tables%';
ROLLBACK;
SELECT namespace FROM widecol.namespaces WHERE namespace LIKE 'tables%';

-- rename: rows, families and foreign tables stay
CREATE FOREIGN TABLE tables_one (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
CREATE FOREIGN TABLE tables_two (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS ("table" 'default:tables_one');
INSERT INTO tables_one VALUES (1, 'one');
PREPARE reads AS SELECT * FROM tables_one;
PREPARE writes AS INSERT INTO tables_two VALUES ($1, $2);
EXECUTE reads;
EXECUTE writes (2, 'two');
SELECT widecol.rename_table('tables_one', 'tables_ns:renamed');
SELECT namespace, name, foreign_tables FROM widecol.tables WHERE name IN ('tables_one', 'renamed');
EXECUTE reads;
EXECUTE writes (3, 'three');
SELECT * FROM tables_two;
SELECT ftrelid::regclass, ftoptions FROM pg_foreign_table WHERE ftrelid IN ('tables_one'::regclass, 'tables_two'::regclass) ORDER BY 1;
SELECT widecol.count('tables_ns:renamed');
SELECT widecol.count('default:tables_one');
-- rolled back, with the rows written under the new name
BEGIN;
SELECT widecol.rename_table('tables_ns:renamed', 'tables_again');
INSERT INTO tables_one VALUES (4, 'four');
SELECT widecol.count('tables_again');
SAVEPOINT s;
SELECT widecol.rename_table('tables_again', 'tables_third');
ROLLBACK TO s;
SELECT widecol.count('tables_again'), widecol.exists('tables_third');
ROLLBACK;
SELECT widecol.count('tables_ns:renamed'), widecol.exists('tables_again');
SELECT * FROM tables_one;
-- a name that is free again may be taken
SELECT widecol.create_table('tables_one', '{"cf": {}}');
SELECT widecol.rename_table('tables_ns:renamed', 'tables_one');
SELECT widecol.rename_table('tables_ns:renamed', 'tables_ns:a');
SELECT widecol.rename_table('tables_ns:renamed', 'nobody:a');
SELECT widecol.rename_table('tables_ns:renamed', 'a b');
SELECT widecol.rename_table('tables_ns:renamed', 'tables_ns:renamed');
SELECT widecol.rename_table('nobody', 'tables_x');
-- the stored table's owner may rename it, whichever roles own the foreign tables
GRANT CREATE ON SCHEMA public TO regress_tables_ann;
SET ROLE regress_tables_ann;
CREATE FOREIGN TABLE tables_ann (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
SELECT widecol.rename_table('tables_ns:renamed', 'tables_mine');
RESET ROLE;
CREATE FOREIGN TABLE tables_ann2 (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS ("table" 'tables_ann');
SET ROLE regress_tables_ann;
SELECT widecol.rename_table('tables_ann', 'tables_anns');
RESET ROLE;
INSERT INTO tables_ann2 VALUES (1, 'one');
SELECT * FROM tables_ann;
SELECT widecol.drop_table('tables_anns', cascade => true);

-- a time to live for the families that have none
SELECT widecol.create_table('tables_ttl', '{"forever": {}, "hour": {"ttl": 3600}}');
CREATE FOREIGN TABLE tables_ttl (k text OPTIONS (rowkey '1') COLLATE "C", v text OPTIONS (family 'forever')) SERVER widecol;
SELECT widecol.put('tables_ttl', 'r', 'forever:q', 'a'), widecol.put('tables_ttl', 'r', 'hour:q', 'b');
SELECT widecol.alter_table_ttl('tables_ttl', '10 min');
SELECT family, ttl FROM widecol.describe('tables_ttl');
SELECT name, ttl, enabled FROM widecol.tables WHERE name = 'tables_ttl';
SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'tables_ttl'::regclass;
SELECT widecol.alter_table('tables_ttl', '{"new": {}, "own": {"ttl": 60}}');
SELECT family, ttl FROM widecol.describe('tables_ttl');
SELECT family, value FROM widecol.get('tables_ttl', 'r');
SET widecol.debug_clock_offset = '11min';
SELECT family, value FROM widecol.get('tables_ttl', 'r');
RESET widecol.debug_clock_offset;
-- a family's own comes first; "forever" is none of its own
SELECT widecol.alter_table('tables_ttl', '{"new": {"ttl": "2 days"}, "own": {"ttl": "forever"}}');
SELECT family, ttl FROM widecol.describe('tables_ttl');
BEGIN;
SELECT widecol.alter_table_ttl('tables_ttl', NULL);
SELECT family, ttl FROM widecol.describe('tables_ttl');
SELECT ttl FROM widecol.tables WHERE name = 'tables_ttl';
ROLLBACK;
SELECT family, ttl FROM widecol.describe('tables_ttl');
SELECT widecol.alter_table_ttl('tables_ttl', '0');
SELECT widecol.alter_table_ttl('tables_ttl', '-1 day');
SELECT widecol.alter_table_ttl(NULL, '1 day');
SELECT widecol.alter_table_ttl('nobody', '1 day');

-- an empty table like another
SELECT widecol.create_table('tables_like', '{"a": {"versions": 3, "packing": "row"}, "b": {"compression": "zstd"}}', '{g,p}');
SELECT widecol.alter_table_ttl('tables_like', '1 day');
SELECT widecol.alter_table('tables_like', '{"z": {}, "b": null}');
SELECT widecol.put('tables_like', 'r', 'a:q', 'x');
SELECT widecol.clone_table_schema('tables_like', 'tables_ns:clone'), widecol.clone_table_schema('tables_like', 'tables_plain', preserve_splits => false);
SELECT family, versions, ttl, compression, packing FROM widecol.describe('tables_ns:clone');
SELECT count(*) FROM widecol.describe('tables_ns:clone') WHERE history_from IS NOT NULL;
SELECT namespace, name, families, splits, owner = current_user AS mine, ttl, enabled FROM widecol.tables WHERE name IN ('clone', 'tables_plain');
SELECT widecol.count('tables_ns:clone');
SELECT widecol.put('tables_ns:clone', 'r', 'z:q', 'x');
SELECT widecol.count('tables_ns:clone'), widecol.count('tables_like');
SELECT widecol.clone_table_schema('tables_like', 'tables_like');
SELECT widecol.clone_table_schema('nobody', 'tables_y');
SELECT widecol.clone_table_schema('tables_like', 'nobody:t');

-- a disabled table is only read
CREATE FOREIGN TABLE tables_like (k text OPTIONS (rowkey '1') COLLATE "C", v text OPTIONS (family 'a')) SERVER widecol;
SELECT widecol.is_enabled('tables_like');
SELECT widecol.disable('tables_like');
SELECT widecol.is_enabled('tables_like');
SELECT name, enabled FROM widecol.tables WHERE name = 'tables_like';
SELECT "row", family, qualifier, value FROM widecol.get('tables_like', 'r');
SELECT * FROM tables_like;
SELECT widecol.put('tables_like', 'r', 'a:q', 'y');
SELECT widecol.incr('default:tables_like', 'r', 'a:n');
SELECT widecol.check('tables_like', 'r', 'a:q', 'x');
SELECT widecol.deleteall('tables_like', 'r');
SELECT widecol.deleteall('tables_like', row_prefix => 'r');
INSERT INTO tables_like VALUES ('a', 'b');
UPDATE tables_like SET v = 'c' WHERE k = 'r';
DELETE FROM tables_like;
DELETE FROM tables_like WHERE random() < 2;
SELECT * FROM tables_like WHERE k = 'r' FOR UPDATE;
COPY tables_like FROM stdin;
a	b
\.
SELECT widecol.disable('tables_like');
SELECT widecol.flush('tables_like'), widecol.major_compact('tables_like');
SELECT widecol.alter_table('tables_like', '{"z": {"versions": 2}}');
SELECT widecol.is_enabled('tables_like');
-- in a transaction: seen by it, undone with it
BEGIN;
SELECT widecol.enable('tables_like');
SELECT widecol.put('tables_like', 'r', 'a:q', 'y');
SAVEPOINT s;
SELECT widecol.disable('tables_like');
SELECT widecol.put('tables_like', 'r', 'a:q', 'z');
ROLLBACK TO s;
SELECT widecol.put('tables_like', 'r', 'a:r', 'z');
SELECT widecol.is_enabled('tables_like'), widecol.count('tables_like', columns => '{a:r}');
ROLLBACK;
SELECT widecol.is_enabled('tables_like'), widecol.count('tables_like', columns => '{a:r}');
BEGIN;
SAVEPOINT s;
SELECT widecol.enable('tables_like');
SELECT widecol.put('tables_like', 'r', 'a:q', 'y');
ROLLBACK TO s;
SELECT widecol.put('tables_like', 'r', 'a:q', 'y');
ROLLBACK;
SELECT widecol.enable('tables_like'), widecol.enable('tables_like');
INSERT INTO tables_like VALUES ('a', 'b');
SELECT widecol.count('tables_like');
SELECT widecol.is_enabled('nobody');
SELECT widecol.enable('nobody');
SELECT widecol.disable('a:b:c');
-- it is made again without
SELECT widecol.disable('tables_like');
SELECT widecol.clone_table_schema('tables_like', 'tables_enabled');
SELECT widecol.is_enabled('tables_enabled');

-- split points
SELECT widecol.split('tables_plain', 'm'), widecol.split('tables_plain', 'z'), widecol.split('tables_plain', '\x0001');
SELECT widecol.get_splits('tables_plain'), widecol.get_splits('tables_ns:clone');
SELECT region, start_row, end_row, rows FROM widecol.list_regions('tables_plain');
SELECT widecol.merge_regions('tables_plain', 'm');
SELECT widecol.get_splits('tables_plain');
BEGIN;
SELECT widecol.merge_regions('tables_plain', 'z'), widecol.merge_regions('tables_plain', '\x0001');
SELECT widecol.get_splits('tables_plain');
ROLLBACK;
SELECT widecol.get_splits('tables_plain');
SELECT widecol.split('tables_plain', 'z');
SELECT widecol.split('tables_plain', '');
SELECT widecol.merge_regions('tables_plain', 'zz');
SELECT widecol.split('nobody', 'z');
SELECT widecol.create_table('tables_full', '{"cf": {}}', widecol.bytes_split('a', 'b', 9998));
SELECT widecol.split('tables_full', 'b0');
SELECT widecol.drop_table('tables_full');

-- others
SET ROLE regress_tables_bob;
SELECT widecol.split('tables_plain', 'b');
SELECT widecol.merge_regions('tables_plain', 'z');
SELECT widecol.get_splits('tables_plain');
SELECT * FROM widecol.list_regions('tables_plain');
SELECT widecol.is_enabled('tables_like'), widecol.list_namespace_tables('tables_ns') IS NOT NULL, widecol.describe_namespace('tables_ns');
SELECT widecol.enable('tables_like');
SELECT widecol.disable('tables_enabled');
SELECT widecol.rename_table('tables_enabled', 'tables_bob');
SELECT widecol.alter_table_ttl('tables_enabled', '1 day');
SELECT widecol.clone_table_schema('tables_enabled', 'tables_bob');
SELECT owner FROM widecol.tables WHERE name = 'tables_bob';
SELECT widecol.rename_table('tables_bob', 'tables_bobs');
SELECT widecol.disable('tables_bobs');
RESET ROLE;
REVOKE USAGE ON FOREIGN SERVER widecol FROM regress_tables_bob;
SET ROLE regress_tables_bob;
SELECT widecol.clone_table_schema('tables_enabled', 'tables_bob');
SELECT widecol.rename_table('tables_bobs', 'tables_bob');
SELECT widecol.describe_namespace('tables_ns');
SELECT widecol.alter_namespace('tables_ns', '{"a": 1}');
SELECT count(*) > 1 FROM widecol.namespaces;
RESET ROLE;

-- none of these does nothing for want of an argument
DO $$
DECLARE call text;
BEGIN
  FOREACH call IN ARRAY ARRAY['drop_namespace(NULL)', 'drop_table(NULL)', $q$drop_table('tables_bobs', NULL)$q$, 'truncate_table(NULL)',
    $q$alter_table_owner('tables_bobs', NULL)$q$, $q$alter_table_owner(NULL, 'regress_tables_ann')$q$, $q$rename_table('tables_bobs', NULL)$q$,
    $q$rename_table(NULL, 'tables_x')$q$, $q$clone_table_schema('tables_bobs', NULL)$q$, $q$clone_table_schema(NULL, 'tables_x')$q$,
    $q$clone_table_schema('tables_bobs', 'tables_x', NULL)$q$, $q$clone_table_schema('tables_bobs', 'tables_x', true, NULL)$q$, 'disable(NULL)',
    'enable(NULL)', $q$snapshot('tables_bobs', NULL)$q$, $q$snapshot(NULL, 'tables_x')$q$, $q$clone_snapshot('tables_x', NULL)$q$,
    $q$clone_snapshot(NULL, 'tables_x')$q$, 'delete_snapshot(NULL)', $q$split('tables_bobs', NULL)$q$, $q$split(NULL, 'x')$q$,
    $q$merge_regions('tables_bobs', NULL)$q$, $q$merge_regions(NULL, 'x')$q$]
  LOOP
    BEGIN
      EXECUTE 'SELECT widecol.' || call;
      RAISE INFO '%: no error', call;
    EXCEPTION WHEN null_value_not_allowed THEN
      RAISE INFO '%: %', call, sqlerrm;
    END;
  END LOOP;
END $$;

SET client_min_messages = warning;
DROP FOREIGN TABLE tables_one, tables_two, tables_ttl, tables_like;
SELECT widecol.drop_table(name) FROM (SELECT namespace || ':' || name AS name FROM widecol.tables WHERE name LIKE 'tables\_%' OR namespace = 'tables_ns') t \g /dev/null
SELECT widecol.drop_namespace('tables_ns'), widecol.drop_namespace('tables_empty');
REVOKE CREATE ON SCHEMA public FROM regress_tables_ann;
REVOKE USAGE ON FOREIGN SERVER widecol FROM regress_tables_ann;
DROP ROLE regress_tables_ann, regress_tables_bob;
SELECT count(*) FROM widecol.tables WHERE name LIKE 'tables\_%' OR namespace = 'tables_ns';
