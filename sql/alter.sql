-- ALTER over stored rows: what their bytes mean does not change
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;

CREATE FOREIGN TABLE al (
  k int OPTIONS (rowkey '1'),
  n varchar(10) OPTIONS (rowkey '2') COLLATE "C",
  t text, v varchar(10), num numeric(10,2), b int, form int OPTIONS (encoding 'text'), bin bytea,
  at timestamptz, doc jsonb, part text OPTIONS (family 'g')
) SERVER widecol;
CREATE FOREIGN TABLE al_map (k int OPTIONS (rowkey '1'), n text OPTIONS (rowkey '2') COLLATE "C", m jsonb OPTIONS (family 'cf'))
  SERVER widecol OPTIONS ("table" 'al');
CREATE FOREIGN TABLE al_show (raw bytea OPTIONS (rowkey 'raw'), cf jsonb OPTIONS (family 'cf'), g jsonb OPTIONS (family 'g'))
  SERVER widecol OPTIONS ("table" 'al');

-- on an empty stored table the key may become another
ALTER FOREIGN TABLE al ALTER k TYPE bigint, ALTER k OPTIONS (ADD sort 'desc'), ALTER t TYPE int;
ALTER FOREIGN TABLE al ALTER n OPTIONS (SET rowkey '1'), ALTER k OPTIONS (SET rowkey '2');
BEGIN;
ALTER FOREIGN TABLE al DROP n;
ROLLBACK;
BEGIN;
ALTER FOREIGN TABLE al DROP n, ALTER k OPTIONS (SET rowkey '1');
ALTER FOREIGN TABLE al DROP k;
ROLLBACK;
ALTER FOREIGN TABLE al OPTIONS (ADD salt_buckets '4');
ALTER FOREIGN TABLE al ADD more int OPTIONS (rowkey '3'), ADD CHECK (k = 5);
ALTER FOREIGN TABLE al DROP more, DROP CONSTRAINT al_k_check;
ALTER FOREIGN TABLE al OPTIONS (DROP salt_buckets);
ALTER FOREIGN TABLE al ALTER n OPTIONS (SET rowkey '2'), ALTER k OPTIONS (SET rowkey '1', DROP sort), ALTER k TYPE int, ALTER t TYPE text;

INSERT INTO al (k, n, t, v, num, b, form, bin, at, doc, part)
  VALUES (1, 'a', '1234', '1234', 9.99, 825373492, 7, '\x31', '2026-01-01 00:00+00', '{"a": 1}', 'p');
SELECT * FROM al_show;

-- on one with rows it may not: types, encodings, order, lengths, numbers of parts
ALTER FOREIGN TABLE al ALTER k TYPE bigint;
ALTER FOREIGN TABLE al ALTER k TYPE oid;
ALTER FOREIGN TABLE al ALTER k OPTIONS (ADD sort 'desc');
ALTER FOREIGN TABLE al ALTER k OPTIONS (ADD encoding 'binary');
ALTER FOREIGN TABLE al ALTER n OPTIONS (ADD encoding 'reversed');
ALTER FOREIGN TABLE al ALTER n OPTIONS (ADD length '5');
ALTER FOREIGN TABLE al ALTER n TYPE varchar(5);
ALTER FOREIGN TABLE al ALTER n OPTIONS (SET rowkey '1'), ALTER k OPTIONS (SET rowkey '2');
ALTER FOREIGN TABLE al ALTER k OPTIONS (DROP rowkey), ALTER n OPTIONS (SET rowkey '1');
ALTER FOREIGN TABLE al ADD more int OPTIONS (rowkey '3');
ALTER FOREIGN TABLE al DROP n;
ALTER FOREIGN TABLE al DROP k;
ALTER FOREIGN TABLE al DROP k, ALTER n OPTIONS (SET rowkey '1');
-- the delimiter, salts
ALTER FOREIGN TABLE al OPTIONS (ADD delimiter '$');
ALTER FOREIGN TABLE al OPTIONS (ADD salt_buckets '4');
-- also where another foreign table wrote the rows
ALTER FOREIGN TABLE al_map ALTER k TYPE bigint;
-- constant parts, when other rows would be shown
ALTER FOREIGN TABLE al ADD CHECK (k = 2);
ALTER FOREIGN TABLE al ADD CONSTRAINT one CHECK (k = 1);
INSERT INTO al_map VALUES (2, 'b', '{"t": "two"}');
ALTER FOREIGN TABLE al DROP CONSTRAINT one;
ALTER FOREIGN TABLE al_map ADD CONSTRAINT unknown_yet CHECK (k = 1) NOT VALID;
ALTER FOREIGN TABLE al_map VALIDATE CONSTRAINT unknown_yet;
ALTER FOREIGN TABLE al_map DROP CONSTRAINT unknown_yet;
DELETE FROM al_map WHERE k = 2;
ALTER FOREIGN TABLE al DROP CONSTRAINT one;
-- rows that the transaction has written count, rows that it has deleted do not
BEGIN;
DELETE FROM al;
DELETE FROM al_map;
ALTER FOREIGN TABLE al ALTER k TYPE bigint;
INSERT INTO al (k, n) VALUES (3, 'c');
ALTER FOREIGN TABLE al ALTER k TYPE int;
ROLLBACK;

-- the same bytes: the type may change
ALTER FOREIGN TABLE al ALTER k OPTIONS (ADD encoding 'ordered');
ALTER FOREIGN TABLE al ALTER n TYPE varchar(20);
ALTER FOREIGN TABLE al ALTER n TYPE text;
ALTER FOREIGN TABLE al ALTER n TYPE bytea;
ALTER FOREIGN TABLE al ALTER n TYPE text;
CREATE DOMAIN al_int AS int CHECK (VALUE > 0);
ALTER FOREIGN TABLE al ALTER k TYPE al_int;
ALTER FOREIGN TABLE al ALTER k TYPE int;
DROP DOMAIN al_int;

-- cells
ALTER FOREIGN TABLE al ALTER t TYPE int;
ALTER FOREIGN TABLE al ALTER t TYPE int USING t::int;
ALTER FOREIGN TABLE al ALTER num TYPE float8;
ALTER FOREIGN TABLE al ALTER num TYPE numeric(10,1);
ALTER FOREIGN TABLE al ALTER b TYPE bigint;
ALTER FOREIGN TABLE al ALTER b TYPE text;
ALTER FOREIGN TABLE al ALTER b TYPE int, ALTER bin TYPE text;
ALTER FOREIGN TABLE al ALTER at TYPE timestamp;
ALTER FOREIGN TABLE al ALTER part TYPE jsonb;
ALTER FOREIGN TABLE al ALTER v TYPE text;
ALTER FOREIGN TABLE al ALTER v TYPE varchar;
ALTER FOREIGN TABLE al ALTER num TYPE numeric(12,2);
ALTER FOREIGN TABLE al ALTER num TYPE numeric;
ALTER FOREIGN TABLE al ALTER num TYPE text;
ALTER FOREIGN TABLE al ALTER form TYPE text;
ALTER FOREIGN TABLE al ALTER doc TYPE text, ALTER t TYPE bytea;
ALTER FOREIGN TABLE al ALTER v TYPE widecol.version[];
SELECT k, n, t, (v[1]).value AS v, num, b, form, bin, doc, part FROM al;
ALTER FOREIGN TABLE al ALTER v TYPE text;
ALTER FOREIGN TABLE al ALTER v TYPE bytea;
-- a column without cells has nothing to misread
ALTER FOREIGN TABLE al ADD none int;
ALTER FOREIGN TABLE al ALTER none TYPE text;

-- cells stay where and as they are, which is said
ALTER FOREIGN TABLE al ALTER b OPTIONS (ADD encoding 'binary');
ALTER FOREIGN TABLE al ALTER b OPTIONS (SET encoding 'ordered');
ALTER FOREIGN TABLE al ALTER b OPTIONS (ADD qualifier 'b');
ALTER FOREIGN TABLE al ALTER b OPTIONS (SET qualifier 'other');
ALTER FOREIGN TABLE al ALTER part OPTIONS (SET family 'h');
ALTER FOREIGN TABLE al_map ALTER m OPTIONS (ADD qualifier_prefix 'x');
ALTER FOREIGN TABLE al_map ALTER m OPTIONS (DROP qualifier_prefix);
SELECT * FROM al_show;

-- another stored table must be there
ALTER FOREIGN TABLE al OPTIONS (ADD "table" 'al_none');
ALTER FOREIGN TABLE al OPTIONS (ADD "table" 'default:al');
ALTER FOREIGN TABLE al OPTIONS (SET "table" 'nowhere:al');
ALTER FOREIGN TABLE al_map OPTIONS (DROP "table");
CREATE FOREIGN TABLE al_other (k int OPTIONS (rowkey '1'), t text, part text OPTIONS (family 'h')) SERVER widecol;
ALTER FOREIGN TABLE al OPTIONS (SET "table" 'al_other');
ALTER FOREIGN TABLE al OPTIONS (SET "table" 'al');

-- the whole key as it is stored; layout cell
CREATE FOREIGN TABLE al_raw (r bytea OPTIONS (rowkey 'raw'), t text) SERVER widecol OPTIONS ("table" 'al_other');
CREATE FOREIGN TABLE al_cells ("row" bytea, value bytea) SERVER widecol OPTIONS ("table" 'al_other', layout 'cell', family 'cf');
INSERT INTO al_other VALUES (1, 'one');
ALTER FOREIGN TABLE al_raw ALTER r OPTIONS (SET rowkey '1');
ALTER FOREIGN TABLE al_raw ALTER r OPTIONS (SET rowkey 'raw');
ALTER FOREIGN TABLE al_raw ALTER r TYPE int, ALTER r OPTIONS (SET rowkey '1');
ALTER FOREIGN TABLE al_cells ALTER "row" TYPE text;

-- a hash and the cell of its original
CREATE FOREIGN TABLE al_hash (k text OPTIONS (rowkey '1', encoding 'md5', length '8', qualifier 'k') COLLATE "C", v int) SERVER widecol;
INSERT INTO al_hash VALUES ('x', 1);
ALTER FOREIGN TABLE al_hash ALTER k TYPE varchar;
ALTER FOREIGN TABLE al_hash ALTER k OPTIONS (SET encoding 'sha1');
ALTER FOREIGN TABLE al_hash ALTER k OPTIONS (SET length '9');
ALTER FOREIGN TABLE al_hash ALTER k TYPE int;
SELECT * FROM al_hash WHERE k = 'x';

-- columns and constraints of a parent, and those that CASCADE would drop
CREATE TABLE al_parent (k int, v int);
CREATE FOREIGN TABLE al_child (k int OPTIONS (rowkey '1'), v int) INHERITS (al_parent) SERVER widecol;
INSERT INTO al_child VALUES (1, 2);
ALTER TABLE al_parent ALTER k TYPE bigint;
ALTER TABLE al_parent ADD CHECK (k = 2);
CREATE FUNCTION al_same(int) RETURNS int IMMUTABLE STRICT LANGUAGE internal AS 'int4up';
CREATE DOMAIN al_text AS text COLLATE "C";
CREATE FOREIGN TABLE al_drop (k int OPTIONS (rowkey '1') CHECK (k = al_same(1)), n al_text OPTIONS (rowkey '2'), v al_text) SERVER widecol;
INSERT INTO al_drop VALUES (1, 'a', 'b');
SELECT widecol.put('al_drop', '\x8000000262', 'cf:v', 'x');
SET client_min_messages = warning;
DROP DOMAIN al_text CASCADE;
DROP FUNCTION al_same(int) CASCADE;
RESET client_min_messages;
SELECT * FROM al_drop;

-- partitions: a bound on a part of the key makes it constant
CREATE TABLE al_events (kind text COLLATE "C", id int, v int) PARTITION BY LIST (kind);
CREATE FOREIGN TABLE al_a (kind text OPTIONS (rowkey '1') COLLATE "C", id int OPTIONS (rowkey '2'), v int) SERVER widecol OPTIONS ("table" 'al_events');
CREATE FOREIGN TABLE al_b (kind text OPTIONS (rowkey '1') COLLATE "C", id int OPTIONS (rowkey '2'), v int) SERVER widecol OPTIONS ("table" 'al_events');
CREATE FOREIGN TABLE al_c (kind text OPTIONS (rowkey '1') COLLATE "C" CHECK (kind = 'c'), id int OPTIONS (rowkey '2'), v int)
  SERVER widecol OPTIONS ("table" 'al_events');
INSERT INTO al_a VALUES ('a', 1, 1);
ALTER TABLE al_events ATTACH PARTITION al_a FOR VALUES IN ('a', 'aa');
ALTER TABLE al_events ATTACH PARTITION al_b FOR VALUES IN ('b');
ALTER TABLE al_events ATTACH PARTITION al_c FOR VALUES IN ('c');
INSERT INTO al_c VALUES ('c', 1, 1);
ALTER TABLE al_events DETACH PARTITION al_a;
ALTER TABLE al_events DETACH PARTITION al_a CONCURRENTLY;
ALTER TABLE al_events DETACH PARTITION al_c;
ALTER TABLE al_events ATTACH PARTITION al_c FOR VALUES IN ('c');
ALTER TABLE al_events DETACH PARTITION al_c CONCURRENTLY;
SELECT * FROM al_c;
SELECT * FROM al_events;
-- through a partitioned table; CONCURRENTLY of one value leaves a CHECK constraint
CREATE TABLE al_kinds (kind text COLLATE "C", id int, v int) PARTITION BY LIST (kind);
CREATE TABLE al_ab PARTITION OF al_kinds FOR VALUES IN ('a', 'b') PARTITION BY RANGE (id);
CREATE TABLE al_d PARTITION OF al_kinds FOR VALUES IN ('d') PARTITION BY RANGE (id);
CREATE FOREIGN TABLE al_ab_low (kind text OPTIONS (rowkey '1') COLLATE "C", id int OPTIONS (rowkey '2'), v int)
  SERVER widecol OPTIONS ("table" 'al_kinds');
CREATE FOREIGN TABLE al_d_low (kind text OPTIONS (rowkey '1') COLLATE "C", id int OPTIONS (rowkey '2'), v int)
  SERVER widecol OPTIONS ("table" 'al_kinds');
ALTER TABLE al_ab ATTACH PARTITION al_ab_low FOR VALUES FROM (0) TO (10);
ALTER TABLE al_d ATTACH PARTITION al_d_low FOR VALUES FROM (0) TO (10);
INSERT INTO al_kinds VALUES ('a', 1, 1), ('b', 1, 2), ('d', 1, 3);
ALTER TABLE al_kinds DETACH PARTITION al_ab;
ALTER TABLE al_kinds DETACH PARTITION al_ab CONCURRENTLY;
ALTER TABLE al_kinds DETACH PARTITION al_d CONCURRENTLY;
SELECT * FROM al_kinds;
SELECT * FROM al_d_low;
DROP TABLE al_kinds, al_d;
DROP FOREIGN TABLE al_b;
CREATE FOREIGN TABLE al_b (kind text OPTIONS (rowkey '1') COLLATE "C" CHECK (kind = 'b'), id int OPTIONS (rowkey '2'), v int)
  SERVER widecol OPTIONS ("table" 'al_events');
ALTER TABLE al_events ATTACH PARTITION al_b FOR VALUES IN ('b');
-- a family that no column maps any more may have been all that some rows have
CREATE FOREIGN TABLE al_families (k int OPTIONS (rowkey '1'), a int, b int OPTIONS (family 'g'), c int OPTIONS (family 'g'))
  SERVER widecol;
ALTER FOREIGN TABLE al_families DROP COLUMN c;
INSERT INTO al_families VALUES (1, NULL, 10), (2, 5, 6), (3, 7, NULL);
ALTER FOREIGN TABLE al_families DROP COLUMN b;
SELECT * FROM al_families;
-- without such columns all families are mapped
ALTER FOREIGN TABLE al_families DROP COLUMN a;
SELECT * FROM al_families;
ALTER FOREIGN TABLE al_families ADD b int OPTIONS (family 'g', qualifier 'b');
ALTER FOREIGN TABLE al_families ADD a int;
SELECT k, a, b FROM al_families;
UPDATE al_families SET b = NULL;
ALTER FOREIGN TABLE al_families DROP COLUMN b;
SELECT * FROM al_families;
-- a new schema changes nothing
CREATE SCHEMA al_schema;
ALTER FOREIGN TABLE al_c SET SCHEMA al_schema;
SELECT * FROM al_schema.al_c;

SET client_min_messages = warning;
DROP FOREIGN TABLE al, al_map, al_show, al_other, al_raw, al_cells, al_hash, al_child, al_drop, al_families, al_schema.al_c;
DROP TABLE al_parent, al_events CASCADE;
DROP SCHEMA al_schema;
DROP DOMAIN al_text;
DROP FUNCTION al_same(int);
SELECT widecol.drop_table(t) FROM unnest(ARRAY['al', 'al_other', 'al_hash', 'al_child', 'al_drop', 'al_events', 'al_families']) t;
