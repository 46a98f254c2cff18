-- Cells that are no values of their columns: an error, or NULL and a warning; binary cells imported by rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE FOREIGN TABLE odd (k text OPTIONS (rowkey '1') COLLATE "C", n int, v text, old widecol.version[] OPTIONS (qualifier 'n', versions '3'),
  m jsonb OPTIONS (family 'm')) SERVER widecol OPTIONS (families '{"cf": {"versions": 3}}');
CREATE FOREIGN TABLE odd_cells ("row" text, family text, qualifier text, value text) SERVER widecol OPTIONS ("table" 'odd', layout 'cell');
RESET client_min_messages;
INSERT INTO odd (k, n, v, m) VALUES ('a', 1, 'one', '{"x": "y"}'), ('b', 2, 'two', '{"x": "z"}'), ('c', 3, 'three', NULL);
SELECT widecol.put('odd', 'b', 'cf:n', '\x0203'), widecol.put('odd', 'c', 'cf:v', '\xff'), widecol.put('odd', 'a', 'm:bin', '\xfe'), widecol.put('odd', 'a', 'm:\xFD', 'v');

SHOW widecol.on_undecodable;
SELECT k, n FROM odd;
SELECT k, v FROM odd;
SELECT k, m FROM odd;
SELECT * FROM odd_cells;
SET widecol.on_undecodable = 'null';
SELECT k, n FROM odd;
SELECT k, v FROM odd;
SELECT k, m FROM odd;
SELECT * FROM odd_cells;
-- of an older version nothing shows in its place, though it is decodable
SELECT k, n, array_length(old, 1) FROM odd WHERE k = 'b';
-- conditions get NULL, in the engine and in the session
SELECT k FROM odd WHERE n > 0;
SELECT k FROM odd WHERE n IS NULL;
SELECT count(*), sum(n) FROM odd;
SELECT k FROM odd WHERE v IS NOT NULL AND v <> 'two';
SELECT k FROM odd WHERE v IS NULL OR k = 'a';
SELECT k FROM odd WHERE m ? 'bin';
SELECT k FROM odd WHERE m ->> 'bin' IS NULL;
SELECT k FROM odd WHERE m ->> 'bin' <> 'x' AND k < 'b';
SELECT count(v), max(v) FROM odd WHERE v IS NOT NULL;
SELECT k FROM odd WHERE v IS NULL LIMIT 1 OFFSET 0;
SET widecol.enable_pushdown = off;
SELECT k FROM odd WHERE n > 0;
RESET widecol.enable_pushdown;
SELECT k, n FROM odd WHERE k = 'b';
-- it can be saved into another table, but a row that is changed is needed as it is
CREATE TEMP TABLE saved AS SELECT k, n FROM odd;
SELECT * FROM saved ORDER BY k;
UPDATE odd SET k = 'z' WHERE k = 'b';
UPDATE odd SET v = 'changed' WHERE n > 0 AND random() < 2;
DELETE FROM odd WHERE n = 5 AND random() < 2;
UPDATE odd SET n = 20 WHERE k = 'b';
-- functions write over it
SELECT widecol.put('odd', 'b', 'cf:n', widecol.to_bytes(20));
SELECT k, n FROM odd;
-- keys are no cells
CREATE FOREIGN TABLE odd_key (k int OPTIONS (rowkey '1'), n int) SERVER widecol OPTIONS ("table" 'odd');
SELECT * FROM odd_key;
-- a cell that cannot be decoded is an error in a policy: it must not decide which rows are visible
CREATE ROLE regress_odd;
CREATE TABLE odd_parent (k text COLLATE "C", n int) PARTITION BY LIST (k);
SET client_min_messages = warning;
CREATE FOREIGN TABLE odd_part (k text OPTIONS (rowkey '1') COLLATE "C", n int) SERVER widecol OPTIONS ("table" 'odd');
ALTER TABLE odd_parent ATTACH PARTITION odd_part DEFAULT;
RESET client_min_messages;
SELECT widecol.put('odd', 'b', 'cf:n', '\x0203');
ALTER TABLE odd_parent ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON odd_parent USING (n IS DISTINCT FROM 2);
GRANT SELECT ON odd_parent TO regress_odd;
SET ROLE regress_odd;
SELECT * FROM odd_parent;
RESET ROLE;
SET widecol.on_undecodable = 'nothing';
RESET widecol.on_undecodable;

-- IMPORT by rows: a column of bytes that are no text
CREATE SCHEMA odd_import;
SET client_min_messages = warning;
SELECT widecol.create_namespace('odd_ns');
SELECT widecol.create_table('odd_ns:mixed', '{"a": {}, "b": {}, "empty": {}}');
SELECT widecol.put('odd_ns:mixed', 'r1', 'a:text', 'plain'), widecol.put('odd_ns:mixed', 'r1', 'a:count', widecol.to_bytes(200)),
  widecol.put('odd_ns:mixed', 'r2', 'a:count', 'as text'), widecol.put('odd_ns:mixed', 'r2', 'b:count', '\x80'), widecol.put('odd_ns:mixed', 'r2', 'b:', '\xff'),
  widecol.put('odd_ns:mixed', 'r3', 'a:odd name''s', '\xff');
IMPORT FOREIGN SCHEMA odd_ns FROM SERVER widecol INTO odd_import OPTIONS (layout 'row');
SELECT attname, format_type(atttypid, NULL), attfdwoptions FROM pg_attribute WHERE attrelid = 'odd_import.mixed'::regclass AND attnum > 0 ORDER BY attnum;
SELECT * FROM odd_import.mixed;
UPDATE odd_import.mixed SET count = widecol.to_bytes(7), a = a || '{"more": "text"}' WHERE rowkey = 'r1';
SELECT widecol.to_string_binary(qualifier) AS qualifier, widecol.to_string_binary(value) AS value FROM widecol.get('odd_ns:mixed', 'r1');

-- maps in a sub-SELECT that several columns are set to
CREATE FOREIGN TABLE odd_pair (k int OPTIONS (rowkey '1'), a text, b text, d jsonb OPTIONS (family 'm')) SERVER widecol;
INSERT INTO odd_pair VALUES (1, NULL, NULL, '{"x": "1"}');
SELECT widecol.put('odd_pair', widecol.row_key('odd_pair', 1), 'm:y', '\xff');
UPDATE odd_pair SET (a, b) = (SELECT odd_pair.d ->> 'x', odd_pair.d ->> 'y');
UPDATE odd_pair SET (a, b) = (SELECT 'left', 'right');
-- a qualifier that is no text
CREATE FOREIGN TABLE odd_pair_cells ("row" bytea, qualifier text, value bytea) SERVER widecol OPTIONS ("table" 'odd_pair', layout 'cell');
SELECT widecol.put('odd_pair', widecol.row_key('odd_pair', 1), 'm:\xFF', 'z'::text);
SET widecol.on_undecodable = 'null';
SELECT value FROM odd_pair_cells WHERE qualifier IS NULL;
SELECT qualifier FROM odd_pair_cells WHERE qualifier IS NOT NULL;
RESET widecol.on_undecodable;
DROP FOREIGN TABLE odd_pair, odd_pair_cells;
SELECT widecol.drop_table('odd_pair');

DROP FOREIGN TABLE odd, odd_cells, odd_key, odd_import.mixed;
DROP TABLE odd_parent;
DROP SCHEMA odd_import;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['odd', 'odd_ns:mixed']) t;
SELECT widecol.drop_namespace('odd_ns');
DROP ROLE regress_odd;
