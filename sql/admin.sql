-- Namespaces and stored tables by name: made, described, changed, emptied,
-- dropped; split points; flush and compaction.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SET bytea_output = 'escape';

-- namespaces
SELECT widecol.create_namespace('admin_ns');
SELECT widecol.create_namespace('admin_ns');
SELECT widecol.create_namespace('a b');
SELECT widecol.create_namespace('');
SELECT widecol.create_namespace('default');
SELECT widecol.create_table('admin_ns:t', '{"cf": {}}');
SELECT widecol.create_table('admin_no:t', '{"cf": {}}');
SELECT namespace, name, families, splits FROM widecol.tables WHERE namespace = 'admin_ns';
SELECT widecol.drop_namespace('admin_ns');
SELECT widecol.drop_table('admin_ns:t');
SELECT widecol.drop_namespace('admin_ns');
SELECT widecol.drop_namespace('admin_ns');
SELECT widecol.drop_namespace('default');

-- a table, with every attribute; the rest as it is by default
SELECT widecol.create_table('admin', '{
  "plain": {},
  "full": {"versions": 5, "min_versions": 2, "ttl": "7 days 12 hours", "keep_deleted_cells": "ttl", "bloomfilter": "rowcol",
           "compression": "zstd", "blocksize": 65536, "blockcache": false, "in_memory": true, "packing": "cell"},
  "packed": {"packing": "row", "ttl": 3600, "keep_deleted_cells": true, "bloomfilter": "NONE"}
}');
\x on
SELECT * FROM widecol.describe('admin');
\x off
SELECT namespace, name, families, splits FROM widecol.tables WHERE name = 'admin';
SELECT namespace, "table", family, versions, ttl, packing FROM widecol.families WHERE "table" = 'admin';
SELECT * FROM widecol.describe('default:admin') EXCEPT SELECT * FROM widecol.describe('admin');
SELECT widecol.create_table('admin', '{"cf": {}}');
SELECT widecol.create_table('default:admin', '{"cf": {}}');
SELECT widecol.describe('nobody');

-- families that cannot be
SELECT widecol.create_table('admin_bad', '{}');
SELECT widecol.create_table('admin_bad', '[]');
SELECT widecol.create_table('admin_bad', '{"cf": 3}');
SELECT widecol.create_table('admin_bad', '{"": {}}');
SELECT widecol.create_table('admin_bad', '{".cf": {}}');
SELECT widecol.create_table('admin_bad', '{"c:f": {}}');
SELECT widecol.create_table('admin_bad', '{"cf": null}');
SELECT widecol.create_table('admin_bad', '{"cf": {"version": 3}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"versions": 0}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"versions": 1.5}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"versions": "many"}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"versions": 1, "min_versions": 2}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"ttl": "a while"}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"ttl": 0}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"ttl": "-1 day"}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"compression": "rar"}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"bloomfilter": "column"}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"keep_deleted_cells": "some"}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"packing": "tight"}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"blockcache": "perhaps"}}');
SELECT widecol.create_table('admin_bad', '{"cf": {"blocksize": -1}}');
SELECT widecol.create_table('admin_bad', jsonb_build_object(repeat('f', 201), '{}'::jsonb));
SELECT widecol.create_table(repeat('t', 201), '{"cf": {}}');
SELECT widecol.create_table('', '{"cf": {}}');
SELECT widecol.create_table(':t', '{"cf": {}}');
SELECT widecol.create_table('a:b:c', '{"cf": {}}');
SELECT widecol.create_table(NULL, '{"cf": {}}');
SELECT widecol.create_table('admin_bad', NULL);
SELECT count(*) FROM widecol.tables WHERE name LIKE 'admin\_bad%';

-- alter: adds, changes, drops
CREATE FOREIGN TABLE admin (k bytea OPTIONS (rowkey 'raw')) SERVER widecol;
SELECT widecol.alter_table('admin', '{"added": {"versions": 3}, "plain": {"versions": 3}}');
SELECT family, versions, packing FROM widecol.describe('admin');
SELECT widecol.put('admin', 'r', f || ':q', (f || ts)::bytea, ts) FROM unnest(ARRAY['added', 'plain']) f, unnest(ARRAY[1, 2, 3]) ts \g /dev/null
SELECT family, ts, value FROM widecol.get('admin', 'r', versions => 3);
-- fewer versions hold for reads at once
SELECT widecol.alter_table('admin', '{"added": {"versions": 2}}');
SELECT family, ts, value FROM widecol.get('admin', 'r', '{added}', versions => 3);
SELECT widecol.alter_table('admin', '{"added": {"ttl": "1 hour"}}');
SELECT count(*) FROM widecol.get('admin', 'r', '{added}');
SELECT family, versions, ttl FROM widecol.describe('admin') WHERE family = 'added';
-- a family that comes back is empty
SELECT widecol.alter_table('admin', '{"plain": null, "packed": null}');
SELECT family FROM widecol.describe('admin');
SELECT widecol.get('admin', 'r', '{plain}');
SELECT widecol.alter_table('admin', '{"plain": {}}');
SELECT count(*) FROM widecol.get('admin', 'r', '{plain}');
SELECT widecol.put('admin', 'r', 'plain:q', 'again', 1);
SELECT value FROM widecol.get('admin', 'r', '{plain}');
-- what cannot be
SELECT widecol.alter_table('admin', '{"missing": null}');
SELECT widecol.alter_table('admin', '{"plain": {"packing": "row"}}');
SELECT widecol.alter_table('admin', '{"plain": {"min_versions": 9}}');
SELECT widecol.alter_table('admin', '{"plain": null, "added": null, "full": null}');
SELECT widecol.alter_table('admin', NULL);
SELECT widecol.alter_table('nobody', '{"cf": {}}');
SELECT family, versions FROM widecol.describe('admin');

-- a family's time to live
SELECT widecol.alter_table('admin', '{"hour": {"ttl": "1 hour"}}');
SELECT widecol.put('admin', 'r2', 'hour:q', 'short'), widecol.put('admin', 'r2', 'plain:q', 'long');
SELECT value FROM widecol.get('admin', 'r2');
SET widecol.debug_clock_offset = '61min';
SELECT value FROM widecol.get('admin', 'r2');
RESET widecol.debug_clock_offset;

-- emptied, dropped
SELECT widecol.truncate_table('admin');
SELECT count(*) FROM widecol.scan('admin', raw => true);
SELECT family FROM widecol.describe('admin');
SELECT widecol.put('admin', 'r', 'plain:q', 'after', 1);
SELECT count(*) FROM admin;
TRUNCATE admin;
SELECT count(*) FROM admin;
SELECT widecol.truncate_table('nobody');
SELECT widecol.drop_table('nobody');
SELECT widecol.drop_table('admin');
SELECT widecol.drop_table('admin', cascade => true);
SELECT count(*) FROM admin;
SELECT widecol.put('admin', 'r', 'plain:q', 'x');
SELECT widecol.create_table('admin', '{"plain": {}}');
CREATE FOREIGN TABLE admin (k bytea OPTIONS (rowkey 'raw')) SERVER widecol;
SELECT count(*) FROM admin;

-- regions
SELECT widecol.create_table('admin_split', '{"cf": {}}', '{m,c,x}');
SELECT start_row, end_row FROM widecol.regions('admin_split');
SELECT start_row, end_row FROM widecol.regions('admin');
SELECT name, splits FROM widecol.tables WHERE name LIKE 'admin%' ORDER BY name;
SELECT widecol.create_table('admin_bad', '{"cf": {}}', '{m,m}');
SELECT widecol.create_table('admin_bad', '{"cf": {}}', '{m,""}');
SELECT widecol.create_table('admin_bad', '{"cf": {}}', '{m,NULL}');
SELECT widecol.create_table('admin_bad', '{"cf": {}}', '{{m,n}}');
SELECT widecol.regions('nobody');
CREATE FOREIGN TABLE admin_split (k text OPTIONS (rowkey '1') COLLATE "C", v text) SERVER widecol;
INSERT INTO admin_split SELECT c || i, repeat('v', 100) FROM unnest(ARRAY['a', 'c', 'n', 'z']) c, generate_series(1, 1000) i;
SELECT widecol.flush('admin_split');
SELECT start_row, end_row, rows > 0 AS rows, bytes > 0 AS bytes FROM widecol.regions('admin_split');
SELECT count(*), min(k), max(k) FROM admin_split;

-- split points
SELECT widecol.hex_splits('0', '40', 4);
SELECT widecol.hex_splits('00', 'ffffffffffffffff', 2);
SELECT widecol.hexstring_splits(4);
SELECT widecol.hexstring_splits(2);
SET bytea_output = 'hex';
SELECT widecol.uniform_splits(4);
SELECT widecol.uniform_splits(3);
SELECT widecol.bytes_split('aaa', 'aab', 1);
SELECT widecol.bytes_split('\x00', '\x08', 3);
SELECT widecol.bytes_split('a', 'cc', 1);
SELECT widecol.bytes_split('b', 'a', 1);
SELECT widecol.bytes_split('a', 'a', 1);
SELECT widecol.hex_splits('10', '1', 4);
SELECT widecol.hex_splits('x', '10', 4);
SELECT widecol.hex_splits('0', 'ff', 1);
SELECT widecol.hexstring_splits(1);
SELECT widecol.uniform_splits(0);
SELECT widecol.create_table('admin_split16', '{"cf": {}}', widecol.hexstring_splits(16));
SELECT count(*) FROM widecol.regions('admin_split16');
SET bytea_output = 'escape';

-- flush and compaction lose nothing that shows, and forget what does not
SELECT widecol.create_table('admin_compact', '{"cf": {"versions": 2}}');
CREATE FOREIGN TABLE admin_compact (k bytea OPTIONS (rowkey 'raw')) SERVER widecol;
SELECT widecol.put('admin_compact', 'r', 'cf:q', ts::text::bytea, ts) FROM generate_series(1, 4) ts \g /dev/null
SELECT widecol.delete('admin_compact', 'r', 'cf:gone', 100), widecol.put('admin_compact', 'r', 'cf:gone', 'x', 50);
SELECT widecol.flush('admin_compact');
SELECT qualifier, ts FROM widecol.get('admin_compact', 'r', versions => 9);
SELECT widecol.compact('admin_compact');
SELECT qualifier, ts FROM widecol.get('admin_compact', 'r', versions => 9);
SELECT widecol.major_compact('admin_compact');
SELECT qualifier, ts, type FROM widecol.scan('admin_compact', raw => true, versions => 9);
SELECT widecol.put('admin_compact', 'r', 'cf:gone', 'back', 50);
SELECT qualifier, ts FROM widecol.get('admin_compact', 'r', versions => 9);
SELECT widecol.flush('nobody');
SELECT widecol.compact('nobody');
SELECT widecol.major_compact('nobody');

-- stored tables belong to one database
CREATE DATABASE regress_widecol_other TEMPLATE template0;
\set here :DBNAME
\c regress_widecol_other
CREATE EXTENSION widecol;
SELECT count(*) FROM widecol.tables;
SELECT widecol.create_table('admin', '{"other": {}}');
SELECT families FROM widecol.tables WHERE name = 'admin';
SELECT widecol.describe('admin_compact');
SELECT widecol.drop_table('admin');
-- so a copy of a database has the foreign tables alone
CREATE FOREIGN TABLE copied (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO copied VALUES (1, 'one');
\c :here
CREATE DATABASE regress_widecol_copy TEMPLATE regress_widecol_other;
DROP DATABASE regress_widecol_other;
\c regress_widecol_copy
SELECT * FROM copied;
SELECT widecol.get('copied', '\x80000001');
SELECT count(*) FROM widecol.tables;
SELECT widecol.create_table('copied', '{"cf": {}}');
SELECT * FROM copied;
SELECT widecol.drop_table('copied', cascade => true);
\c :here
DROP DATABASE regress_widecol_copy;
SELECT * FROM widecol.orphans() WHERE false;
SELECT families FROM widecol.tables WHERE name = 'admin';

-- an empty name of the store's directory would be the root directory
ALTER SYSTEM SET widecol.data_directory = '';

SET client_min_messages = warning;
DROP FOREIGN TABLE admin, admin_split, admin_compact;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['admin', 'admin_split', 'admin_split16', 'admin_compact']) t;
SELECT count(*) FROM widecol.tables WHERE name LIKE 'admin%' OR namespace LIKE 'admin%';
