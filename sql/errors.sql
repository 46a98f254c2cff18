-- Errors give the reason, and change nothing.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;

CREATE FOREIGN TABLE e (
  a int OPTIONS (rowkey '1'),
  b text OPTIONS (rowkey '2') COLLATE "C",
  v int,
  t text
) SERVER widecol;
CREATE FOREIGN TABLE e_raw (k bytea OPTIONS (rowkey 'raw')) SERVER widecol OPTIONS (table 'e');
CREATE FOREIGN TABLE e_bytes (k bytea OPTIONS (rowkey '1'), v text) SERVER widecol;
CREATE FOREIGN TABLE e_delim (a text OPTIONS (rowkey '1') COLLATE "C", b text OPTIONS (rowkey '2') COLLATE "C", v text)
  SERVER widecol OPTIONS (delimiter '$');
INSERT INTO e VALUES (1, 'one', 1, 'first'), (2, 'two', 2, 'second');
INSERT INTO e_bytes VALUES ('key', 'value');
INSERT INTO e_delim VALUES ('a', 'b$c', 'a delimiter in the last part');

-- an empty row key
INSERT INTO e_bytes VALUES ('', 'x');
\echo :SQLSTATE
INSERT INTO e_bytes VALUES ('fine', 'x'), ('', 'x');
UPDATE e_bytes SET k = '';
SELECT widecol.put('e', '', 'cf:v', 'x');
\echo :SQLSTATE
SELECT widecol.get('e', '');
SELECT widecol.delete('e', '', 'cf:v');
SELECT widecol.delete_family('e', '', 'cf');
SELECT widecol.deleteall('e', '');

-- a value that an encoding has no bytes for
CREATE FOREIGN TABLE e_days (k int OPTIONS (rowkey '1'), d date OPTIONS (encoding 'binary')) SERVER widecol;
INSERT INTO e_days VALUES (1, 'infinity');
DROP FOREIGN TABLE e_days;
SELECT widecol.drop_table('e_days');

-- a row key that is too long; the longest there may be
INSERT INTO e_bytes VALUES (convert_to(repeat('k', 32769), 'UTF8'), 'x');
\echo :SQLSTATE
INSERT INTO e VALUES (3, repeat('k', 32765), 3);
UPDATE e SET b = repeat('k', 32765) WHERE a = 1;
SELECT widecol.put('e', convert_to(repeat('k', 32769), 'UTF8'), 'cf:v', 'x');
\echo :SQLSTATE
SELECT widecol.get('e', convert_to(repeat('k', 32769), 'UTF8'));
INSERT INTO e_bytes VALUES (convert_to(repeat('k', 32768), 'UTF8'), 'longest');
SELECT length(k), v FROM e_bytes WHERE k = convert_to(repeat('k', 32768), 'UTF8');
DELETE FROM e_bytes WHERE length(k) = 32768;
-- a condition finds nothing, it does not fail
SELECT * FROM e_bytes WHERE k = convert_to(repeat('k', 32769), 'UTF8');
SELECT * FROM e_bytes WHERE k = '';
SELECT * FROM e_bytes WHERE k > '' ORDER BY k;

-- NULL in a key column
INSERT INTO e VALUES (NULL, 'x', 1);
\echo :SQLSTATE
INSERT INTO e (a, v) VALUES (1, 1);
UPDATE e SET b = NULL WHERE a = 1;
INSERT INTO e_bytes VALUES (NULL, 'x');
-- drivers find the column in a field of the error
DO $$
DECLARE
  s text; t text; c text;
BEGIN
  INSERT INTO e VALUES (3, NULL, 1);
EXCEPTION WHEN not_null_violation THEN
  GET STACKED DIAGNOSTICS s = SCHEMA_NAME, t = TABLE_NAME, c = COLUMN_NAME;
  RAISE NOTICE 'schema %, table %, column %', s, t, c;
END $$;
SELECT * FROM e WHERE a IS NULL OR b IS NULL;

-- a delimiter inside a part before the last
INSERT INTO e_delim VALUES ('a$', 'b', 'x');
\echo :SQLSTATE
UPDATE e_delim SET a = '$a';
SELECT * FROM e_delim WHERE a = 'a$';
SELECT * FROM e_delim;

-- a value over the limit
SELECT widecol.put('e', 'big', 'cf:v', convert_to(repeat('v', 268435457), 'UTF8'));
\echo :SQLSTATE
INSERT INTO e SELECT 3, 'big', 3, repeat('v', 268435457);
\echo :SQLSTATE
-- one of exactly the limit comes back
INSERT INTO e SELECT 3, 'big', 3, repeat(repeat('v', 1024), 262144);
SELECT octet_length(t) FROM e WHERE a = 3 AND b = 'big';
DELETE FROM e WHERE a = 3 AND b = 'big';
-- a qualifier over the limit
SELECT widecol.put('e', 'r', 'cf:' || repeat('q', 65536), 'x');
\echo :SQLSTATE

-- a missing family
SELECT widecol.put('e', 'r', 'nope:v', 'x');
\echo :SQLSTATE
SELECT widecol.get('e', 'r', '{nope}');
SELECT widecol.get('e', 'r', '{cf:v,nope:v}');
SELECT widecol.scan('e', columns => '{nope:v}');
SELECT widecol.delete('e', 'r', 'nope:v');
SELECT widecol.delete_family('e', 'r', 'nope');
SELECT widecol.deleteall('e', 'r', 'nope:v');

-- cells that are not what the column says
SELECT widecol.put('e', '\x800000096e696e65', 'cf:v', '\x010203');
SELECT a, b, v FROM e WHERE a = 9;
\echo :SQLSTATE
SELECT count(*) FROM e;
SELECT a, b, t FROM e WHERE a = 9;
SELECT sum(v) FROM e;
SELECT widecol.put('e', '\x8000000a74656e', 'cf:t', '\xff');
SELECT t FROM e WHERE a = 10;
\echo :SQLSTATE
-- keys that are not
SELECT widecol.put('e', 'abc', 'cf:v', '\x00000001');
SELECT a, b FROM e;
\echo :SQLSTATE
SELECT widecol.deleteall('e', 'abc'), widecol.deleteall('e', '\x800000096e696e65'), widecol.deleteall('e', '\x8000000a74656e');

-- arguments
SELECT widecol.put('e', 'r', 'cf', 'x');
\echo :SQLSTATE
SELECT widecol.put('e', 'r', '', 'x');
SELECT widecol.put('e', 'r', ':v', 'x');
SELECT widecol.put('e', 'r', 'cf:\x0', 'x');
SELECT widecol.put('e', 'r', 'cf:\xgg', 'x');
SELECT widecol.put('e', 'r', 'cf:a\b', 'x');
SELECT widecol.put('e', 'r', 'cf:v', 'x', -1);
SELECT widecol.put('e', 'r', 'cf:v', 'x', ttl => '0');
SELECT widecol.put('e', 'r', 'cf:v', 'x', ttl => '-1 day');
SELECT widecol.put('e', 'r', 'cf:v', 'x', ttl => '300000 years');
SELECT widecol.put(NULL, 'r', 'cf:v', 'x');
SELECT widecol.put('e', NULL, 'cf:v', 'x');
SELECT widecol.put('e', 'r', NULL, 'x');
SELECT widecol.put('e', 'r', 'cf:v', NULL);
\echo :SQLSTATE
SELECT widecol.get('e', NULL);
SELECT widecol.get('e', 'r', '{}');
SELECT widecol.get('e', 'r', '{NULL}');
SELECT widecol.get('e', 'r', versions => 0);
SELECT widecol.get('e', 'r', time_range => '[-5,5)');
SELECT widecol.get('e', 'r', column_limit => 0);
SELECT widecol.get('e', 'r', column_offset => -1);
SELECT widecol.scan('e', row_limit => 0);
SELECT widecol.scan('e', start_row => 'a', row_prefix => 'a');
SELECT widecol.scan('e', columns => '{cf:v}', raw => true);
SELECT widecol.delete('e', 'r', 'cf');
SELECT widecol.delete('e', 'r', 'cf:v', -1);
SELECT widecol.delete_family('e', 'r', NULL);
SELECT widecol.delete_family('e', 'r', 'cf', -1);
SELECT widecol.delete_family_version('e', 'r', 'cf', NULL);
SELECT widecol.delete_version('e', 'r', 'cf:v', -1);
SELECT widecol.deleteall('e', NULL);

-- tables that are none of ours
CREATE TABLE e_heap (k int);
CREATE VIEW e_view AS SELECT * FROM e;
SELECT widecol.put('e_heap', 'r', 'cf:v', 'x');
\echo :SQLSTATE
SELECT widecol.get('e_view', 'r');
SELECT widecol.scan('pg_class');
SELECT widecol.scan('no_such_table');
SELECT widecol.scan(0);
DROP VIEW e_view;
DROP TABLE e_heap;

-- nothing of all that is there
SELECT * FROM e ORDER BY a;
SELECT * FROM e_bytes;
SELECT * FROM e_delim;
SELECT count(*) FROM widecol.scan('e', raw => true) WHERE type = 'Put';

-- a read-only transaction
BEGIN READ ONLY;
SELECT count(*) FROM e;
INSERT INTO e VALUES (5, 'x');
\echo :SQLSTATE
ROLLBACK;
BEGIN READ ONLY;
SELECT widecol.put('e', 'r', 'cf:v', 'x');
\echo :SQLSTATE
ROLLBACK;
BEGIN READ ONLY;
SELECT widecol.create_table('e_ro', '{"cf": {}}');
\echo :SQLSTATE
ROLLBACK;
BEGIN READ ONLY;
SELECT widecol.drop_table('e');
ROLLBACK;
BEGIN READ ONLY;
TRUNCATE e;
ROLLBACK;
SELECT count(*) FROM e;

-- privileges: nothing without USAGE on the server
CREATE ROLE regress_widecol_user;
SET ROLE regress_widecol_user;
SELECT widecol.create_table('e_mine', '{"cf": {}}');
\echo :SQLSTATE
SELECT widecol.create_namespace('e_mine');
SELECT widecol.drop_table('e');
SELECT widecol.truncate_table('e');
SELECT widecol.alter_table('e', '{"x": {}}');
SELECT widecol.describe('e');
SELECT widecol.regions('e');
SELECT widecol.flush('e');
SELECT widecol.major_compact('e');
SELECT * FROM e;
\echo :SQLSTATE
SELECT widecol.get('e', 'r');
\echo :SQLSTATE
SELECT widecol.scan('e');
SELECT widecol.put('e', 'r', 'cf:v', 'x');
SELECT widecol.delete('e', 'r', 'cf:v');
SELECT widecol.deleteall('e', 'r');
SET widecol.debug_clock_offset = '1h';
RESET ROLE;

-- each privilege gives its own
GRANT SELECT ON e TO regress_widecol_user;
SET ROLE regress_widecol_user;
SELECT count(*) FROM e;
SELECT count(*) FROM widecol.scan('e');
SELECT widecol.put('e', '\x8000000700', 'cf:v', '\x00000007');
SELECT widecol.deleteall('e', '\x80000001');
DELETE FROM e;
TRUNCATE e;
RESET ROLE;
REVOKE SELECT ON e FROM regress_widecol_user;
GRANT SELECT (a), INSERT ON e TO regress_widecol_user;
SET ROLE regress_widecol_user;
SELECT count(a) FROM e;
SELECT v FROM e;
SELECT count(*) FROM widecol.scan('e');
SELECT widecol.put('e', '\x8000000773', 'cf:v', '\x00000007');
SELECT widecol.deleteall('e', '\x8000000773');
RESET ROLE;
GRANT DELETE ON e TO regress_widecol_user;
SET ROLE regress_widecol_user;
SELECT widecol.deleteall('e', '\x8000000773');
RESET ROLE;
SELECT * FROM e ORDER BY a;

-- USAGE lets a role make stored tables, but not change those that other roles map
GRANT USAGE ON FOREIGN SERVER widecol TO regress_widecol_user;
GRANT CREATE ON SCHEMA public TO regress_widecol_user;
SET ROLE regress_widecol_user;
SELECT widecol.create_table('e_mine', '{"cf": {}}');
CREATE FOREIGN TABLE e_mine (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO e_mine VALUES (1, 1);
SELECT * FROM e_mine;
SELECT family FROM widecol.describe('e');
SELECT widecol.alter_table('e_mine', '{"more": {}}');
SELECT widecol.flush('e_mine');
SELECT widecol.drop_table('e');
\echo :SQLSTATE
SELECT widecol.truncate_table('e');
SELECT widecol.alter_table('e', '{"cf": null, "x": {}}');
SELECT widecol.compact('e');
RESET ROLE;
SELECT count(*) FROM e;

SET client_min_messages = warning;
DROP FOREIGN TABLE e_mine, e_raw, e_bytes, e_delim, e;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['e', 'e_bytes', 'e_delim', 'e_mine']) t;
DROP OWNED BY regress_widecol_user;
DROP ROLE regress_widecol_user;
