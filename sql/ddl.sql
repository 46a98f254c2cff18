-- Foreign tables and their stored tables: CREATE, ALTER, RENAME, DROP.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;

-- families come from the columns, their attributes from the option
CREATE FOREIGN TABLE d (
  k int OPTIONS (rowkey '1'),
  a text,
  b text OPTIONS (family 'many'),
  m jsonb OPTIONS (family 'map')
) SERVER widecol OPTIONS (families '{"many": {"versions": 10, "ttl": "7 days"}, "spare": {"compression": "zstd"}}');
SELECT family, versions, ttl, compression, packing FROM widecol.families WHERE "table" = 'd' ORDER BY family;

-- a second view of it
CREATE FOREIGN TABLE d2 (k int OPTIONS (rowkey '1'), x text OPTIONS (family 'spare')) SERVER widecol OPTIONS (table 'd');
CREATE FOREIGN TABLE d3 (k int OPTIONS (rowkey '1'), x text OPTIONS (family 'missing')) SERVER widecol OPTIONS (table 'd');
CREATE FOREIGN TABLE d3 (k int OPTIONS (rowkey '1'), x text) SERVER widecol OPTIONS (table 'd', family 'none');

-- ALTER adds families
ALTER FOREIGN TABLE d2 ADD COLUMN y text OPTIONS (family 'added');
ALTER FOREIGN TABLE d2 ALTER x OPTIONS (SET family 'added too');
SELECT family FROM widecol.families WHERE "table" = 'd' ORDER BY family;
INSERT INTO d2 VALUES (1, 'x', 'y');
SELECT * FROM d2;

-- renaming leaves the data where it is
ALTER FOREIGN TABLE d2 RENAME COLUMN x TO z;
ALTER FOREIGN TABLE d2 RENAME COLUMN k TO key;
SELECT * FROM d2;
ALTER FOREIGN TABLE d RENAME TO d_new;
INSERT INTO d_new VALUES (2, 'a', 'b', '{"c": "d"}');
ALTER FOREIGN TABLE d_new RENAME COLUMN m TO map;
ALTER TABLE d_new RENAME COLUMN a TO aa;
SELECT * FROM d_new ORDER BY k;
\d d_new
ALTER FOREIGN TABLE d_new RENAME TO d;

-- IF NOT EXISTS that does nothing
CREATE FOREIGN TABLE IF NOT EXISTS d (k int) SERVER widecol;

-- in transactions
BEGIN;
CREATE FOREIGN TABLE d_tx (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO d_tx VALUES (1, 'one');
SELECT * FROM d_tx;
ROLLBACK;
SELECT count(*) FROM widecol.tables WHERE name = 'd_tx';
BEGIN;
SAVEPOINT s;
CREATE FOREIGN TABLE d_tx (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO d_tx VALUES (1, 'one');
ROLLBACK TO s;
CREATE FOREIGN TABLE d_tx (k int OPTIONS (rowkey '1'), w int) SERVER widecol;
INSERT INTO d_tx VALUES (1, 2);
ALTER FOREIGN TABLE d_tx ADD COLUMN x int OPTIONS (family 'g');
INSERT INTO d_tx VALUES (3, 4, 5);
COMMIT;
SELECT * FROM d_tx ORDER BY k;

-- DROP keeps the data and says so
DROP FOREIGN TABLE d_tx;
CREATE FOREIGN TABLE d_tx (k int OPTIONS (rowkey '1'), w int) SERVER widecol;
SELECT * FROM d_tx ORDER BY k;
SELECT widecol.drop_table('d_tx');
SELECT widecol.drop_table('d_tx', cascade => true);
SELECT * FROM d_tx;
CREATE FOREIGN TABLE d_tx (k int OPTIONS (rowkey '1'), w int) SERVER widecol;
SELECT * FROM d_tx;

-- namespaces
SELECT widecol.create_namespace('dns');
CREATE FOREIGN TABLE d_ns (k int OPTIONS (rowkey '1'), v int) SERVER widecol OPTIONS (table 'dns:t');
INSERT INTO d_ns VALUES (1, 1);
CREATE FOREIGN TABLE d_no (k int OPTIONS (rowkey '1'), v int) SERVER widecol OPTIONS (table 'nowhere:t');
DROP FOREIGN TABLE d_ns;
SELECT widecol.drop_table('dns:t');
SELECT widecol.drop_namespace('dns');

-- a parent's new column reaches the foreign table
CREATE TABLE d_parent (k int, v int);
CREATE FOREIGN TABLE d_child (k int OPTIONS (rowkey '1')) INHERITS (d_parent) SERVER widecol;
ALTER TABLE d_parent ADD COLUMN w int;
INSERT INTO d_child VALUES (1, 2, 3);
ALTER TABLE d_parent RENAME COLUMN w TO ww;
SELECT * FROM d_parent;
CREATE TABLE d_plist (k int, v int) PARTITION BY LIST (k);
CREATE FOREIGN TABLE d_p1 PARTITION OF d_plist FOR VALUES IN (1) SERVER widecol;

-- where families are named and no column has one, the default family is not made
CREATE FOREIGN TABLE d_cells ("row" text, family text, qualifier text, value text) SERVER widecol OPTIONS (layout 'cell', families '{"f": {}, "g": {}}');
CREATE FOREIGN TABLE d_keys (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (families '{"f": {}}');
INSERT INTO d_keys VALUES (1);
SELECT * FROM d_keys;
SELECT name, families FROM widecol.tables WHERE name IN ('d_cells', 'd_keys') ORDER BY name;

-- a query's table changes while the query runs, and when a transaction ends inside of it
CREATE FOREIGN TABLE d_changing (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO d_changing VALUES (1, 1);
CREATE FUNCTION d_change() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'GRANT SELECT ON d_changing TO public';
	RETURN (SELECT count(*) FROM d_changing);
END $$;
SELECT d_change() FROM d_changing;
SELECT d_change(), * FROM d_changing;
DO $$
DECLARE
	row record;
BEGIN
	FOR row IN SELECT d_change() AS n, * FROM d_changing LOOP
		COMMIT;
		PERFORM d_change() FROM d_changing;
		ROLLBACK;
	END LOOP;
END $$;
BEGIN;
SELECT d_change() / 0 FROM d_changing;
ROLLBACK;
SELECT * FROM d_changing;
DROP FUNCTION d_change();
DROP FOREIGN TABLE d_changing;
SELECT widecol.drop_table('d_changing');

-- PostgreSQL renames foreign tables and their columns by these statements, too
CREATE FOREIGN TABLE d_renames (k int OPTIONS (rowkey '1'), a text) SERVER widecol;
INSERT INTO d_renames VALUES (1, 'x');
ALTER INDEX d_renames RENAME TO d_renamed;
ALTER TYPE d_renamed RENAME ATTRIBUTE a TO b;
SELECT * FROM d_renamed;
SELECT ftoptions, attfdwoptions FROM pg_foreign_table JOIN pg_attribute ON attrelid = ftrelid WHERE ftrelid = 'd_renamed'::regclass AND attname = 'b';
DROP FOREIGN TABLE d_renamed;
SELECT widecol.drop_table('d_renames');

-- a server keeps its engine while it has foreign tables
CREATE SERVER d_server FOREIGN DATA WRAPPER widecol;
ALTER SERVER d_server OPTIONS (ADD engine 'hbase', ADD host 'nowhere.invalid');
ALTER SERVER d_server OPTIONS (SET engine 'rocksdb', DROP host);
ALTER SERVER d_server OPTIONS (DROP engine);
CREATE FOREIGN TABLE d_serves (k int OPTIONS (rowkey '1'), v int) SERVER d_server;
ALTER SERVER d_server OPTIONS (ADD engine 'rocksdb');
ALTER SERVER d_server OPTIONS (SET engine 'hbase');
ALTER SERVER d_server OPTIONS (DROP engine);
ALTER SERVER d_server OPTIONS (ADD engine 'hbase', ADD host 'nowhere.invalid');
ALTER SERVER d_server VERSION '2';
SELECT srvversion, srvoptions FROM pg_foreign_server WHERE srvname = 'd_server';
DROP FOREIGN TABLE d_serves;
ALTER SERVER d_server OPTIONS (ADD engine 'hbase');
DROP SERVER d_server;

-- cleaning up
CREATE SCHEMA d_schema;
CREATE FOREIGN TABLE d_schema.inside (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
DROP SCHEMA d_schema CASCADE;
SET client_min_messages = warning;
DROP TABLE d_parent, d_plist CASCADE;
DROP FOREIGN TABLE d, d2, d_tx, d_cells, d_keys;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['d', 'd_tx', 'd_cells', 'd_keys', 'd_child', 'd_serves', 'inside']) t;
