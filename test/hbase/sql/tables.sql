-- tables and namespaces of an HBase cluster, made and changed by widecol's functions
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/tables.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');

-- with the transaction: HBase has it at COMMIT, and nothing after ROLLBACK
BEGIN;
SELECT widecol.create_namespace('wc_tables', server => 'hbase');
CREATE FOREIGN TABLE one (id text OPTIONS (rowkey '1'), x text, m jsonb OPTIONS (family 'm')) SERVER hbase
  OPTIONS ("table" 'wc_tables:one', families '{"m": {"versions": 3, "ttl": "1 day"}, "more": {}}');
SELECT * FROM widecol.describe('wc_tables:one', 'hbase');
INSERT INTO one VALUES ('a', '1'), ('b', '2');
SELECT * FROM one;
SELECT count(*) FROM widecol.list_namespaces('hbase') WHERE namespace = 'wc_tables';
ROLLBACK;
SELECT widecol.exists('wc_tables:one', 'hbase');
SELECT widecol.list_namespace_tables('wc_tables', 'hbase');
BEGIN;
SELECT widecol.create_namespace('wc_tables', server => 'hbase');
SAVEPOINT a;
SELECT widecol.create_table('wc_tables:one', '{"no": {}}', server => 'hbase');
SELECT widecol.list_namespace_tables('wc_tables', 'hbase');
ROLLBACK TO a;
SELECT widecol.list_namespace_tables('wc_tables', 'hbase');
SELECT widecol.create_table('wc_tables:one', '{"cf": {"versions": 3, "ttl": "1 day", "bloomfilter": "rowcol"}, "d": {}}', server => 'hbase');
CREATE FOREIGN TABLE one (id text OPTIONS (rowkey '1'), x text) SERVER hbase OPTIONS ("table" 'wc_tables:one');
INSERT INTO one VALUES ('a', '1'), ('b', '2');
COMMIT;
SELECT * FROM one;
SELECT * FROM widecol.describe('wc_tables:one', 'hbase');
SELECT * FROM widecol.list_tables('hbase') WHERE namespace = 'wc_tables';
SELECT family, versions, ttl FROM widecol.list_families('hbase') WHERE namespace = 'wc_tables';
SELECT * FROM widecol.list_namespaces('hbase') WHERE namespace = 'wc_tables';
SELECT widecol.exists('wc_tables:one'), widecol.exists('wc_tables:one', 'hbase');

-- split points, over a transport that the gateway reads rightly
SELECT widecol.create_table('wc_tables:split', '{"cf": {}}', widecol.hexstring_splits(4), 'hbase');
SELECT * FROM widecol.regions('wc_tables:split', 'hbase');
SELECT region FROM widecol.list_regions('wc_tables:split', 'hbase');
SELECT widecol.get_splits('wc_tables:split', 'hbase') = widecol.hexstring_splits(4);
BEGIN;
SELECT widecol.clone_table_schema('wc_tables:split', 'wc_tables:clone', server => 'hbase');
SELECT count(*) FROM widecol.regions('wc_tables:clone', 'hbase');
ROLLBACK;
\getenv framed HBASE_FRAMED
CREATE SERVER framed FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'framed', transport 'framed', protocol 'compact');
SELECT widecol.create_table('wc_tables:two', '{"cf": {}}', widecol.hexstring_splits(4), 'framed');
SELECT widecol.alter_table('wc_tables:split', '{"cf": {"versions": 2}}', 'framed');
SELECT widecol.alter_table('wc_tables:split', '{"cf": null, "d": {}}', 'framed');
SELECT widecol.alter_table('wc_tables:split', '{"d": {"versions": 4}}', 'framed');
SELECT family, versions FROM widecol.describe('wc_tables:split', 'framed');
DROP SERVER framed;

-- families
BEGIN;
SELECT widecol.alter_table('wc_tables:one', '{"e": {"in_memory": true}}', 'hbase');
SELECT family FROM widecol.describe('wc_tables:one', 'hbase');
SELECT * FROM one;
ROLLBACK;
SELECT widecol.alter_table('wc_tables:one', '{"e": {"in_memory": true}}', 'hbase');
SELECT family, in_memory FROM widecol.describe('wc_tables:one', 'hbase');
CREATE FOREIGN TABLE e (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'e')) SERVER hbase OPTIONS ("table" 'wc_tables:one');
INSERT INTO e VALUES ('e', 'new');
SELECT * FROM e;
DROP FOREIGN TABLE e;
SELECT widecol.alter_table('wc_tables:one', '{"cf": {"versions": 5, "ttl": "forever"}, "e": null}', 'hbase');
SELECT family, versions, ttl, bloomfilter FROM widecol.describe('wc_tables:one', 'hbase');
SELECT widecol.alter_table('wc_tables:one', '{"cf": null}', 'hbase');
SELECT * FROM one;

-- a row's families come in the order of their names, those that were added later, too
SELECT widecol.alter_table('wc_tables:one', '{"added": {}}', 'hbase');
CREATE FOREIGN TABLE cells ("row" text COLLATE "C", family text COLLATE "C", qualifier text, value text) SERVER hbase OPTIONS ("table" 'wc_tables:one', layout 'cell');
INSERT INTO cells VALUES ('order', 'cf', 'q', 'old'), ('order', 'added', 'q', 'new');
SELECT family, value FROM cells WHERE "row" = 'order' ORDER BY "row", family LIMIT 1;
SELECT family FROM widecol.get('cells', 'order');
SELECT widecol.deleteall('cells', 'order');
DROP FOREIGN TABLE cells;
SELECT widecol.alter_table('wc_tables:one', '{"added": null}', 'hbase');

-- TRUNCATE, with the transaction
BEGIN;
TRUNCATE one;
SELECT * FROM one;
INSERT INTO one VALUES ('c', '3');
SELECT * FROM one;
ROLLBACK;
SELECT * FROM one;
BEGIN;
INSERT INTO one VALUES ('c', '3');
TRUNCATE one;
ROLLBACK;
BEGIN;
TRUNCATE one;
INSERT INTO one VALUES ('c', '3');
COMMIT;
SELECT * FROM one;

-- disabled tables are neither read nor written in HBase, either
SELECT widecol.is_enabled('wc_tables:one', 'hbase');
BEGIN;
SELECT widecol.disable('wc_tables:one', 'hbase');
SELECT widecol.is_enabled('wc_tables:one', 'hbase');
ROLLBACK;
SELECT widecol.disable('wc_tables:one', 'hbase');
SELECT widecol.is_enabled('wc_tables:one', 'hbase');
SELECT * FROM one;
INSERT INTO one VALUES ('d', '4');
TRUNCATE one;
SELECT widecol.enable('wc_tables:one', 'hbase');
SELECT * FROM one;

-- dropped
SELECT widecol.drop_namespace('wc_tables', 'hbase');
SELECT widecol.drop_table('wc_tables:one', server => 'hbase');
BEGIN;
SELECT widecol.drop_table('wc_tables:one', cascade => true, server => 'hbase');
SELECT widecol.create_table('wc_tables:one', '{"other": {}}', server => 'hbase');
SELECT family FROM widecol.describe('wc_tables:one', 'hbase');
COMMIT;
SELECT family FROM widecol.describe('wc_tables:one', 'hbase');
SELECT widecol.drop_table('wc_tables:split', server => 'hbase');
SELECT widecol.exists('wc_tables:split', 'hbase');

-- refused before anything is sent
SELECT widecol.create_table('wc_nowhere:one', '{"cf": {}}', server => 'hbase');
SELECT widecol.create_table('wc_tables:two', '{"cf": {"packing": "row"}}', server => 'hbase');
SELECT widecol.create_table('wc_tables:two', '{"cf": {"ttl": "1500 ms"}}', server => 'hbase');
SELECT widecol.create_table('wc_tables:two', '{"cf": {}}', server => 'nobody');
SELECT widecol.create_namespace('wc-tables', server => 'hbase');
SELECT widecol.create_namespace('wc_tables', server => 'hbase');
SELECT widecol.create_namespace('wc_other', '{"a": 1}', 'hbase');
SELECT widecol.drop_namespace('wc_nowhere', server => 'hbase');
SELECT widecol.truncate_table('wc_tables:split', 'hbase');
SELECT widecol.create_table('wc_tables:one', '{"cf": {}}', server => 'hbase');
BEGIN READ ONLY;
SELECT widecol.drop_table('wc_tables:one', server => 'hbase');
ROLLBACK;
CREATE ROLE regress_hbase_maker;
GRANT USAGE ON SCHEMA widecol TO regress_hbase_maker;
SET ROLE regress_hbase_maker;
SELECT widecol.create_table('wc_tables:three', '{"cf": {}}', server => 'hbase');
SELECT widecol.drop_table('wc_tables:one', server => 'hbase');
SELECT widecol.exists('wc_tables:one', 'hbase');
RESET ROLE;
CREATE FOREIGN TABLE one (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'other')) SERVER hbase OPTIONS ("table" 'wc_tables:one');
GRANT USAGE ON FOREIGN SERVER hbase TO regress_hbase_maker;
SET ROLE regress_hbase_maker;
SELECT widecol.drop_table('wc_tables:one', cascade => true, server => 'hbase');
RESET ROLE;
REVOKE ALL ON SCHEMA widecol FROM regress_hbase_maker;
REVOKE ALL ON FOREIGN SERVER hbase FROM regress_hbase_maker;
DROP ROLE regress_hbase_maker;

-- what others have done meanwhile is an error at COMMIT; what HBase had made before stays
BEGIN;
SELECT widecol.create_table('wc_tables:two', '{"cf": {}}', server => 'hbase');
SELECT widecol.create_table('wc_tables:gone', '{"cf": {}}', server => 'hbase');
\! echo create wc_tables:gone cf | python3 gateway.py "$HBASE_BUFFERED"
COMMIT;
\echo :SQLSTATE
SELECT widecol.exists('wc_tables:two', 'hbase');
BEGIN;
SELECT widecol.drop_table('wc_tables:gone', server => 'hbase');
\! echo drop wc_tables:gone | python3 gateway.py "$HBASE_BUFFERED"
COMMIT;
-- an answer is lost after the table was disabled
\set proxy `python3 proxy.py "$HBASE_BUFFERED" deleteTable`
CREATE SERVER lossy FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'proxy');
\set VERBOSITY sqlstate
SELECT widecol.drop_table('wc_tables:one', cascade => true, server => 'lossy');
\set VERBOSITY default
BEGIN;
SELECT widecol.drop_table('wc_tables:two', server => 'hbase');
PREPARE TRANSACTION 'p';

SET client_min_messages = warning;
DROP SERVER hbase CASCADE;
DROP SERVER lossy;
