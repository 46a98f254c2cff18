-- Privileges of the functions on data: the stored table's owner may use all of them, by its name
-- or by a foreign table; other roles may do what SQL allows them through the foreign table.
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_widecol_ann, regress_widecol_bob;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SET bytea_output = 'escape';
CREATE ROLE regress_widecol_ann;
CREATE ROLE regress_widecol_bob;
GRANT USAGE ON FOREIGN SERVER widecol TO regress_widecol_ann;
CREATE SCHEMA acc;
GRANT ALL ON SCHEMA acc TO regress_widecol_ann;
GRANT USAGE ON SCHEMA acc TO regress_widecol_bob;
SET search_path = acc;

-- --- a stored table by its name, as in HBase's shell ------------------------------------

SET ROLE regress_widecol_ann;
SELECT widecol.create_table('acc_t', '{"cf": {"versions": 3}, "other": {}, "map": {}}');
SELECT widecol.put('acc_t', 'r', 'cf:q', 'v');
SELECT widecol.put('acc_t', 'r2', 'cf:q', 'v2', 2), widecol.put('default:acc_t', 'r2', 'other:q', 'o2', 2);
SELECT "row", family, qualifier, value FROM widecol.get('acc_t', 'r');
SELECT "row", family, qualifier, value FROM widecol.scan('acc_t');
SELECT "row", value FROM widecol.scan('acc_t', row_prefix => 'r2', columns => '{other}');
-- text and bytea, typed and not; a literal is one of bytea
SELECT widecol.put('acc_t', 'text'::text, 'cf:q', 'a\b'::text), widecol.put('acc_t'::text, 'bytea'::bytea, 'cf:q', '\x0001'::bytea),
       widecol.put('acc_t', 'varchar'::varchar, 'cf:q', '\x00ff'), widecol.put('acc_t'::varchar, '\x6869', 'cf:q', '\x4869'::text),
       widecol.put('acc_t'::name, 'umlaut ' || chr(228), 'cf:q', chr(228));
SELECT "row", value FROM widecol.scan('acc_t', columns => '{cf:q}') ORDER BY "row";
PREPARE put (text, text, text, text) AS SELECT widecol.put($1, $2, $3, $4);
EXECUTE put('acc_t', 'prepared', 'cf:q', '\x41');
PREPARE puts AS SELECT widecol.put($1, $2, $3, $4);
EXECUTE puts('acc_t', 'prepared2', 'cf:q', '\x41');
SELECT "row", value FROM widecol.scan('acc_t', row_prefix => 'prepared');
DEALLOCATE ALL;
-- each of the functions
SELECT widecol.incr('acc_t', 'f', 'cf:n', 5), widecol.append('acc_t', 'f', 'cf:a', 'ab'::text), widecol.append('acc_t', 'f', 'cf:a', 'c');
SELECT widecol.check('acc_t', 'f', 'cf:a', 'abc'::text), widecol.check('acc_t', 'f', 'cf:a', 'abcd'),
       widecol.check_and_put('acc_t', 'f', 'cf:a', 'abc', 'cf:b', 'put'::text), widecol.check_and_delete('acc_t', 'f', 'cf:b', 'put', 'cf:a');
SELECT qualifier, value FROM widecol.get('acc_t', 'f', '{cf:a,cf:b}');
SELECT widecol.delete('acc_t', 'r2', 'cf:q'), widecol.delete_version('acc_t', 'bytea', 'cf:q'),
       widecol.delete_family('acc_t', 'r2', 'other'), widecol.delete_family_version('acc_t', 'text', 'cf', 1),
       widecol.deleteall('acc_t', 'f');
SELECT "row" FROM widecol.scan('acc_t') ORDER BY 1;
-- bad names
SELECT widecol.put('acc_none', 'r', 'cf:q', 'v');
SELECT widecol.put('acc none', 'r', 'cf:q', 'v');
SELECT widecol.put('no_schema.t', 'r', 'cf:q', 'v');
SELECT widecol.put('none:t', 'r', 'cf:q', 'v');
SELECT widecol.put('', 'r', 'cf:q', 'v');
SELECT widecol.put(NULL::text, 'r', 'cf:q', 'v');
SELECT widecol.put('pg_catalog.pg_class', 'r', 'cf:q', 'v');
-- a relation that is no foreign table of ours does not hide a stored table; one that is, does
CREATE TABLE acc_t (x int);
SELECT count(*) FROM widecol.get('acc_t', 'r');
DROP TABLE acc_t;
SELECT widecol.create_table('acc_u', '{"cf": {}}');
SELECT widecol.put('acc_u', 'r', 'cf:q', 'of u');
SET client_min_messages = warning;
CREATE FOREIGN TABLE acc_u ("row" text, value text) SERVER widecol OPTIONS (table 'acc_t', layout 'cell');
RESET client_min_messages;
SELECT value FROM widecol.get('acc_u', 'r');
SELECT value FROM widecol.get('acc_u'::regclass, 'r');
SELECT value FROM widecol.get('acc."acc_u"', 'r');
SELECT value FROM widecol.get(current_database() || '.acc.acc_u', 'r');
SELECT value FROM widecol.get('default:acc_u', 'r');
DROP FOREIGN TABLE acc_u;
SELECT widecol.drop_table('acc_u');
-- it is the owner's
SET ROLE regress_widecol_bob;
SELECT widecol.put('acc_t', 'r', 'cf:q', 'v');
SELECT widecol.get('acc_t', 'r');
SELECT widecol.scan('default:acc_t');
SELECT widecol.delete('acc_t', 'r', 'cf:q');
SELECT widecol.delete_version('acc_t', 'r', 'cf:q');
SELECT widecol.delete_family('acc_t', 'r', 'cf');
SELECT widecol.delete_family_version('acc_t', 'r', 'cf', 1);
SELECT widecol.deleteall('acc_t', 'r');
SELECT widecol.incr('acc_t', 'r', 'cf:n');
SELECT widecol.append('acc_t', 'r', 'cf:q', 'v');
SELECT widecol.check('acc_t', 'r', 'cf:q', 'v');
SELECT widecol.check_and_put('acc_t', 'r', 'cf:q', 'v', 'cf:q', 'w');
SELECT widecol.check_and_delete('acc_t', 'r', 'cf:q', 'v', 'cf:q');
RESET ROLE;

-- --- layout row: mapped columns and granted privileges -----------------------------------

SET ROLE regress_widecol_ann;
SELECT widecol.truncate_table('acc_t');
SET client_min_messages = warning;
CREATE FOREIGN TABLE narrow (k text OPTIONS (rowkey '1') COLLATE "C", a text, b bytea, n bytea, at timestamptz OPTIONS (qualifier 'only_at', attribute 'timestamp'),
  p jsonb OPTIONS (qualifier_prefix 'p_'), m jsonb OPTIONS (family 'map'), mx text OPTIONS (family 'map', qualifier 'x'))
  SERVER widecol OPTIONS (table 'acc_t');
RESET client_min_messages;
SELECT widecol.put('acc_t', 'r1', c, 'r1 ' || c, 1), widecol.put('acc_t', 'r2', c, 'r2 ' || c, 1)
  FROM unnest(ARRAY['cf:a', 'cf:b', 'cf:hidden', 'cf:only_at', 'cf:p_1', 'map:x', 'map:y', 'other:z']) c \g /dev/null
-- the owner, through the foreign table: everything
SELECT family, qualifier, value FROM widecol.get('narrow', 'r1');
SELECT count(*) FROM widecol.scan('narrow'::regclass, raw => true);
RESET ROLE;

-- without any privilege
SET ROLE regress_widecol_bob;
SELECT widecol.get('narrow', 'r1');
SELECT widecol.put('narrow', 'r1', 'cf:a', 'x');
SELECT widecol.delete('narrow', 'r1', 'cf:a');
SELECT widecol.check('narrow', 'r1', 'cf:a', 'x');
RESET ROLE;

-- SELECT on the table: only mapped cells
GRANT SELECT ON narrow TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT family, qualifier, value FROM widecol.get('narrow', 'r1');
SELECT "row", family, qualifier FROM widecol.scan('narrow', row_limit => 1);
SELECT "row", family, qualifier FROM widecol.scan('narrow', columns => '{map}', reversed => true, row_limit => 1);
SELECT family, qualifier FROM widecol.get('narrow'::regclass, 'r1', '{cf,map:y}');
SELECT family, qualifier FROM widecol.get('narrow', 'r1', '{cf:p_1,cf:p_2,map:x}');
SELECT widecol.get('narrow', 'r1', '{cf:hidden}');
SELECT widecol.get('narrow', 'r1', '{cf:a,cf:hidden}');
SELECT widecol.get('narrow', 'r1', '{cf:only_at}');
SELECT widecol.get('narrow', 'r1', '{cf:}');
SELECT widecol.get('narrow', 'r1', '{other}');
SELECT widecol.scan('narrow', columns => '{other:z}');
SELECT widecol.scan('narrow', raw => true);
SELECT widecol.get('narrow', 'r1', '{nothing}');
-- reading is no writing
SELECT widecol.put('narrow', 'r1', 'cf:a', 'x');
SELECT widecol.delete('narrow', 'r1', 'cf:a');
SELECT widecol.delete_version('narrow', 'r1', 'cf:a');
SELECT widecol.delete_family('narrow', 'r1', 'cf');
SELECT widecol.delete_family_version('narrow', 'r1', 'cf', 1);
SELECT widecol.deleteall('narrow', 'r1');
SELECT widecol.incr('narrow', 'r1', 'cf:n');
SELECT widecol.append('narrow', 'r1', 'cf:a', 'x');
SELECT widecol.check('narrow', 'r1', 'cf:a', 'x');
SELECT widecol.check_and_put('narrow', 'r1', 'cf:a', 'x', 'cf:a', 'y');
SELECT widecol.check_and_delete('narrow', 'r1', 'cf:a', 'x', 'cf:a');
RESET ROLE;

-- SELECT on some columns
REVOKE ALL ON narrow FROM regress_widecol_bob;
GRANT SELECT (k, a, m) ON narrow TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT widecol.get('narrow', 'r1');
SELECT qualifier, value FROM widecol.get('narrow', 'r1', '{cf:a,map:y}');
SELECT widecol.get('narrow', 'r1', '{cf:b}');
SELECT widecol.get('narrow', 'r1', '{cf:p_1}');
SELECT widecol.get('narrow', 'r1', '{cf}');
-- what a column of its own shows is not in the map
SELECT widecol.get('narrow', 'r1', '{map:x}');
SELECT widecol.get('narrow', 'r1', '{map}');
RESET ROLE;
-- rows come with their keys
REVOKE ALL ON narrow FROM regress_widecol_bob;
GRANT SELECT (a) ON narrow TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT widecol.get('narrow', 'r1', '{cf:a}');
RESET ROLE;

-- INSERT
REVOKE ALL ON narrow FROM regress_widecol_bob;
GRANT INSERT (k, a, p) ON narrow TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT widecol.put('narrow', 'r3', 'cf:a', 'by bob'), widecol.put('narrow', 'r3', 'cf:p_9', 'by bob');
SELECT widecol.put('narrow', 'r3', 'cf:b', 'x');
SELECT widecol.put('narrow', 'r3', 'cf:hidden', 'x');
SELECT widecol.put('narrow', 'r3', 'cf:only_at', 'x');
SELECT widecol.put('narrow', 'r3', 'other:z', 'x');
SELECT widecol.put('narrow', 'r3', 'map:y', 'x');
SELECT widecol.incr('narrow', 'r3', 'cf:a');
SELECT widecol.append('narrow', 'r3', 'cf:a', 'x');
SELECT widecol.check('narrow', 'r3', 'cf:a', 'x');
SELECT widecol.check_and_put('narrow', 'r3', 'cf:a', 'by bob', 'cf:a', 'x');
SELECT widecol.get('narrow', 'r3', '{cf:a}');
RESET ROLE;
GRANT SELECT (k, a, n) ON narrow TO regress_widecol_bob;
GRANT INSERT (n) ON narrow TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT widecol.append('narrow', 'r3', 'cf:a', '!'), widecol.incr('narrow', 'r3', 'cf:n', 2), widecol.check('narrow', 'r3', 'cf:a', 'by bob!'),
       widecol.check_and_put('narrow', 'r3', 'cf:a', 'by bob!', 'cf:p_8', 'checked');
SELECT widecol.append('narrow', 'r3', 'cf:p_8', '!');
SELECT widecol.check('narrow', 'r3', 'cf:b', 'x');
SELECT widecol.check('narrow', 'r3', 'cf:hidden', 'x');
SELECT widecol.check_and_put('narrow', 'r3', 'cf:hidden', 'x', 'cf:a', 'y');
SELECT widecol.check_and_put('narrow', 'r3', 'cf:a', 'by bob!', 'cf:hidden', 'y');
SELECT widecol.check_and_put('narrow', 'r3', 'cf:a', 'by bob!', 'cf:b', 'y');
SELECT widecol.check_and_delete('narrow', 'r3', 'cf:a', 'by bob!', 'cf:a');
RESET ROLE;
SELECT family, qualifier, value FROM widecol.get('narrow', 'r3');

-- UPDATE: to look and lock; and to write over cells where INSERT does not replace rows
REVOKE ALL ON narrow FROM regress_widecol_bob;
GRANT SELECT, UPDATE (b) ON narrow TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT widecol.check('narrow', 'r3', 'cf:a', 'by bob!');
SELECT widecol.put('narrow', 'r3', 'cf:b', 'x');
RESET ROLE;
ALTER FOREIGN TABLE narrow OPTIONS (ADD on_duplicate 'error');
GRANT INSERT ON narrow TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT widecol.put('narrow', 'r3', 'cf:b', 'x');
SELECT widecol.put('narrow', 'r3', 'cf:a', 'x');
RESET ROLE;
ALTER FOREIGN TABLE narrow OPTIONS (DROP on_duplicate);

-- DELETE: columns that are mapped; families, and rows, as DELETE does it
REVOKE ALL ON narrow FROM regress_widecol_bob;
GRANT DELETE ON narrow TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT widecol.delete('narrow', 'r1', 'cf:hidden');
SELECT widecol.delete('narrow', 'r1', 'other:z');
SELECT widecol.delete_version('narrow', 'r1', 'cf:hidden');
SELECT widecol.deleteall('narrow', 'r1', 'cf:hidden');
SELECT widecol.deleteall('narrow', 'r1', 'other');
SELECT widecol.delete_family('narrow', 'r1', 'other');
SELECT widecol.delete_family_version('narrow', 'r1', 'other', 1);
SELECT widecol.check_and_delete('narrow', 'r1', 'cf:a', 'r1 cf:a', 'cf:a');
SELECT widecol.delete('narrow', 'r1', 'cf:a'), widecol.delete_version('narrow', 'r1', 'cf:b'), widecol.deleteall('narrow', 'r1', 'cf:p_1');
SELECT widecol.delete_family_version('narrow', 'r1', 'map', 1), widecol.deleteall('narrow', 'r2');
RESET ROLE;
SELECT "row", family, qualifier FROM widecol.scan('acc_t') WHERE "row" IN ('r1', 'r2');
GRANT SELECT ON narrow TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT widecol.check_and_delete('narrow', 'r3', 'cf:a', 'by bob!', 'cf:hidden');
SELECT widecol.check_and_delete('narrow', 'r3', 'cf:a', 'by bob!', 'cf:a');
RESET ROLE;
-- an owner of the foreign table has its privileges, and no more
ALTER FOREIGN TABLE narrow OWNER TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT family, qualifier FROM widecol.get('narrow', 'r3');
SELECT widecol.put('narrow', 'r3', 'cf:hidden', 'x');
SELECT widecol.get('acc_t', 'r3');
RESET ROLE;
-- a SECURITY DEFINER function has the privileges of its owner
SET ROLE regress_widecol_ann;
CREATE FUNCTION hidden(r text) RETURNS SETOF widecol.cell LANGUAGE sql SECURITY DEFINER AS $$SELECT * FROM widecol.get('acc_t', r, '{cf:hidden}')$$;
SELECT widecol.put('acc_t', 'r4', 'cf:hidden', 'told', 1);
SET ROLE regress_widecol_bob;
SELECT * FROM hidden('r4');
RESET ROLE;

-- keys alone
SET client_min_messages = warning;
CREATE FOREIGN TABLE keys (k bytea OPTIONS (rowkey 'raw')) SERVER widecol OPTIONS (table 'acc_t');
RESET client_min_messages;
GRANT SELECT, INSERT ON keys TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT widecol.scan('keys');
SELECT widecol.get('keys', 'r3', '{cf:a}');
SELECT widecol.put('keys', 'r3', 'cf:a', 'x');
RESET ROLE;

-- the original of a hash; a generated column
CREATE FOREIGN TABLE hashed (h text OPTIONS (rowkey '1', encoding 'md5', qualifier 'original'), v text, g text GENERATED ALWAYS AS (upper(v)) STORED)
  SERVER widecol OPTIONS (table 'acc_h');
INSERT INTO hashed VALUES ('one', 'two');
GRANT SELECT, INSERT, DELETE ON hashed TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT qualifier, value FROM widecol.scan('hashed');
SELECT widecol.put('hashed', "row", 'cf:original', 'x') FROM widecol.scan('hashed');
SELECT widecol.delete('hashed', "row", 'cf:original') FROM widecol.scan('hashed');
SELECT widecol.put('hashed', "row", 'cf:g', 'x') FROM widecol.scan('hashed');
SELECT widecol.put('hashed', "row", 'cf:v', 'three') FROM widecol.scan('hashed', columns => '{cf:v}');
RESET ROLE;
SELECT h, v FROM hashed;

-- --- rows of a record type ---------------------------------------------------------------

CREATE FOREIGN TABLE kinds (kind text OPTIONS (rowkey '1') COLLATE "C", id text OPTIONS (rowkey '2') COLLATE "C", v text)
  SERVER widecol OPTIONS (table 'acc_k', delimiter '-');
SET client_min_messages = warning;
CREATE FOREIGN TABLE opens (kind text OPTIONS (rowkey '1') COLLATE "C" CHECK (kind = 'open'), id text OPTIONS (rowkey '2') COLLATE "C", v text)
  SERVER widecol OPTIONS (table 'acc_k', delimiter '-');
RESET client_min_messages;
INSERT INTO kinds SELECT k, i, k || i FROM unnest(ARRAY['open', 'shut']) k, generate_series(1, 3) i;
GRANT ALL ON opens TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT "row", value FROM widecol.scan('opens');
SELECT "row", value FROM widecol.scan('opens', reversed => true, row_limit => 2);
SELECT "row", value FROM widecol.get('opens', 'open-1') UNION ALL SELECT "row", value FROM widecol.get('opens', 'shut-1');
SELECT widecol.put('opens', 'open-4', 'cf:v', 'put'), widecol.delete('opens', 'open-1', 'cf:v');
SELECT widecol.put('opens', 'shut-4', 'cf:v', 'put');
SELECT widecol.put('opens', 'open', 'cf:v', 'put');
SELECT widecol.delete('opens', 'shut-1', 'cf:v');
SELECT widecol.delete_version('opens', 'shut-1', 'cf:v');
SELECT widecol.delete_family('opens', 'shut-1', 'cf');
SELECT widecol.delete_family_version('opens', 'shut-1', 'cf', 1);
SELECT widecol.deleteall('opens', 'shut-1');
SELECT widecol.incr('opens', 'shut-1', 'cf:v');
SELECT widecol.append('opens', 'shut-1', 'cf:v', 'x');
SELECT widecol.check('opens', 'shut-1', 'cf:v', 'shut1');
SELECT widecol.check_and_put('opens', 'shut-1', 'cf:v', 'shut1', 'cf:v', 'x');
SELECT widecol.check_and_delete('opens', 'shut-1', 'cf:v', 'shut1', 'cf:v');
RESET ROLE;
SELECT * FROM kinds ORDER BY kind, id;
-- a row that the foreign table could not read
CREATE FOREIGN TABLE numbers (id int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'acc_n');
GRANT ALL ON numbers TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT widecol.put('numbers', '\x80000001', 'cf:v', 'one');
SELECT widecol.put('numbers', '\x800001', 'cf:v', 'one');
SELECT * FROM numbers;
RESET ROLE;

-- --- policies ------------------------------------------------------------------------------

-- of a table that has the foreign table for a partition, or a child
CREATE TABLE parent (id int, v text) PARTITION BY RANGE (id);
ALTER TABLE parent ATTACH PARTITION numbers FOR VALUES FROM (0) TO (100);
ALTER TABLE parent ENABLE ROW LEVEL SECURITY;
CREATE POLICY ones ON parent USING (v = 'nobody');
GRANT ALL ON parent TO regress_widecol_ann, regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT * FROM parent;
SELECT widecol.get('numbers', '\x80000001');
SELECT widecol.scan('numbers');
SELECT widecol.put('numbers', '\x80000001', 'cf:v', 'x');
SELECT widecol.delete('numbers', '\x80000001', 'cf:v');
SELECT widecol.delete_version('numbers', '\x80000001', 'cf:v');
SELECT widecol.delete_family('numbers', '\x80000001', 'cf');
SELECT widecol.delete_family_version('numbers', '\x80000001', 'cf', 1);
SELECT widecol.deleteall('numbers', '\x80000001');
SELECT widecol.incr('numbers', '\x80000001', 'cf:v');
SELECT widecol.append('numbers', '\x80000001', 'cf:v', 'x');
SELECT widecol.check('numbers', '\x80000001', 'cf:v', 'one');
SELECT widecol.check_and_put('numbers', '\x80000001', 'cf:v', 'one', 'cf:v', 'x');
SELECT widecol.check_and_delete('numbers', '\x80000001', 'cf:v', 'one', 'cf:v');
RESET ROLE;
-- the stored table's owner may use the stored table's name
SELECT widecol.alter_table_owner('acc_n', 'regress_widecol_ann');
SET ROLE regress_widecol_ann;
SELECT widecol.get('numbers', '\x80000001');
SELECT value FROM widecol.get('default:acc_n', '\x80000001');
RESET ROLE;
SELECT value FROM widecol.get('numbers', '\x80000001');
ALTER TABLE parent DISABLE ROW LEVEL SECURITY;
SET ROLE regress_widecol_bob;
SELECT value FROM widecol.get('numbers', '\x80000001');
RESET ROLE;
ALTER TABLE parent DETACH PARTITION numbers;
CREATE TABLE elder (id int);
CREATE TABLE mother (v text) INHERITS (elder);
ALTER FOREIGN TABLE numbers INHERIT mother;
ALTER TABLE elder ENABLE ROW LEVEL SECURITY;
SET ROLE regress_widecol_bob;
SELECT widecol.get('numbers', '\x80000001');
RESET ROLE;

-- --- layout cell: the privileges on the foreign table --------------------------------------

SET client_min_messages = warning;
CREATE FOREIGN TABLE cells ("row" text, family text, qualifier text, ts bigint, value text) SERVER widecol OPTIONS (table 'acc_t', layout 'cell');
RESET client_min_messages;
SET ROLE regress_widecol_bob;
SELECT widecol.get('cells', 'r4');
RESET ROLE;
GRANT SELECT ON cells TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT * FROM widecol.get('cells', 'r4');
SELECT count(*) > 0 FROM widecol.scan('cells', raw => true);
SELECT widecol.put('cells', 'r4', 'cf:hidden', 'x');
SELECT widecol.incr('cells', 'r4', 'cf:n');
SELECT widecol.append('cells', 'r4', 'cf:q', 'x');
SELECT widecol.check('cells', 'r4', 'cf:q', 'x');
SELECT widecol.check_and_put('cells', 'r4', 'cf:q', NULL, 'cf:q', 'x');
SELECT widecol.check_and_delete('cells', 'r4', 'cf:q', NULL, 'cf:q');
SELECT widecol.delete('cells', 'r4', 'cf:q');
SELECT widecol.delete_version('cells', 'r4', 'cf:q');
SELECT widecol.delete_family('cells', 'r4', 'cf');
SELECT widecol.delete_family_version('cells', 'r4', 'cf', 1);
SELECT widecol.deleteall('cells', 'r4');
RESET ROLE;
GRANT INSERT, DELETE ON cells TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT widecol.put('cells', 'r4', 'other:x', 'x'), widecol.incr('cells', 'r4', 'cf:n'), widecol.append('cells', 'r4', 'cf:q', 'x'),
       widecol.check('cells', 'r4', 'cf:q', 'x'), widecol.check_and_put('cells', 'r4', 'cf:q', 'x', 'cf:r', 'x'),
       widecol.check_and_delete('cells', 'r4', 'cf:q', 'x', 'cf:r'), widecol.delete('cells', 'r4', 'cf:q'),
       widecol.delete_version('cells', 'r4', 'cf:hidden'), widecol.delete_family('cells', 'r4', 'other'),
       widecol.delete_family_version('cells', 'r4', 'cf', 1);
SELECT qualifier FROM widecol.get('cells', 'r4');
SELECT widecol.deleteall('cells', 'r4');
RESET ROLE;

SET client_min_messages = error;
DROP SCHEMA acc CASCADE;
SELECT widecol.drop_table(name) FROM widecol.tables WHERE name LIKE 'acc%' \g /dev/null
DROP OWNED BY regress_widecol_ann, regress_widecol_bob;
DROP ROLE regress_widecol_ann, regress_widecol_bob;
