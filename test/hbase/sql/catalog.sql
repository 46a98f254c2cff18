-- names in an HBase cluster: IMPORT FOREIGN SCHEMA, definitions, changes by others
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/catalog.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');

CREATE SCHEMA cells;
IMPORT FOREIGN SCHEMA wc_catalog FROM SERVER hbase INTO cells;
\d cells.one
SELECT "row", family, qualifier, type, value FROM cells.one;
CREATE SCHEMA wide;
IMPORT FOREIGN SCHEMA wc_catalog LIMIT TO (one, two) FROM SERVER hbase INTO wide OPTIONS (layout 'row');
SELECT c.relname, a.attname, a.attfdwoptions FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
  WHERE c.relnamespace = 'wide'::regnamespace AND attnum > 0 ORDER BY 1, attnum;
SELECT * FROM wide.one;
\set VERBOSITY terse
IMPORT FOREIGN SCHEMA wc_nowhere FROM SERVER hbase INTO wide;
\set VERBOSITY default

-- with option "create" off no table is made, in whichever engine
ALTER SERVER hbase OPTIONS (ADD create 'off');
CREATE FOREIGN TABLE nowhere (id text OPTIONS (rowkey '1')) SERVER hbase OPTIONS ("table" 'wc_catalog:nowhere');
CREATE FOREIGN TABLE nowhere (id text OPTIONS (rowkey '1')) SERVER hbase;
CREATE FOREIGN TABLE two (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'no')) SERVER hbase OPTIONS ("table" 'wc_catalog:two');
CREATE FOREIGN TABLE two (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'cf')) SERVER hbase
  OPTIONS ("table" 'wc_catalog:two', families '{"cf": {"versions": 7}, "more": {}}');
DROP FOREIGN TABLE two;
SELECT count(*) FROM widecol.tables WHERE name IN ('two', 'nowhere');

-- the name of the foreign table is the table's, and stays it when that is renamed
CREATE FOREIGN TABLE two (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'cf')) SERVER hbase OPTIONS ("table" 'wc_catalog:two');
ALTER FOREIGN TABLE two RENAME x TO y;
ALTER FOREIGN TABLE two ADD COLUMN z text OPTIONS (family 'no');
SELECT attname, attfdwoptions FROM pg_attribute WHERE attrelid = 'two'::regclass AND attnum > 0;
SELECT * FROM two;
DROP FOREIGN TABLE two;

-- a stored table of the same name is another one
CREATE FOREIGN TABLE embedded (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'a')) SERVER widecol OPTIONS ("table" 'one');
INSERT INTO embedded VALUES ('e', 'here');
CREATE FOREIGN TABLE remote (id text OPTIONS (rowkey '1'), "text" text OPTIONS (family 'a')) SERVER hbase OPTIONS ("table" 'wc_catalog:one');
SELECT * FROM embedded;
SELECT * FROM remote;
SELECT foreign_tables FROM widecol.tables WHERE name = 'one';

-- a table that others have dropped, and made again with other families
CREATE FOREIGN TABLE gone (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'cf')) SERVER hbase OPTIONS ("table" 'wc_catalog:gone');
SELECT * FROM gone;
\! echo drop wc_catalog:gone | python3 gateway.py "$HBASE_BUFFERED"
SELECT * FROM gone;
SELECT * FROM gone;
\! echo create wc_catalog:gone other | python3 gateway.py "$HBASE_BUFFERED"
SELECT * FROM gone;
\! echo drop wc_catalog:gone | python3 gateway.py "$HBASE_BUFFERED"
\! echo create wc_catalog:gone cf other | python3 gateway.py "$HBASE_BUFFERED"
SELECT * FROM gone;

SET client_min_messages = warning;
SELECT widecol.drop_table('one', cascade => true);
DROP SCHEMA cells CASCADE;
DROP SCHEMA wide CASCADE;
DROP SERVER hbase CASCADE;
