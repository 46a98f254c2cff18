-- Words of HBase's shell and methods of Java's Bytes: count, exists, get of many rows, deleteall of a
-- prefix, get_counter; row keys of foreign tables from values and back.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SET bytea_output = 'escape';

SELECT widecol.create_table('words', '{"cf": {"versions": 3}, "d": {}}');
SELECT widecol.exists('words'), widecol.exists('default:words'), widecol.exists('nobody'), widecol.exists(NULL);
SELECT widecol.exists('a:b:c');
BEGIN;
SELECT widecol.drop_table('words');
SELECT widecol.exists('words');
ROLLBACK;

SELECT widecol.put('words', 'rose', 'cf:q', 'v1', 1), widecol.put('words', 'rose', 'cf:q', 'v2', 2), widecol.put('words', 'rose', 'cf:r', 'x', 5),
       widecol.put('words', 'rot', 'd:q', 'w', 7), widecol.put('words', 'tulip', 'cf:z', '\x00ff', 9);

-- rows come in the order of their keys, each once
SELECT * FROM widecol.get('words', ARRAY['tulip', 'rose', 'nobody', 'rose']);
SELECT * FROM widecol.get('words', '{tulip,rose}'::bytea[], '{cf:q}', versions => 3);
SELECT * FROM widecol.get('words', rows => '{rot,rose}', time_range => '[0,2)');
SELECT * FROM widecol.get('words', rows => '{rose}', column_limit => 1, column_offset => 1);
SELECT * FROM widecol.get('words', '{}'::bytea[]);
SELECT * FROM widecol.get('words', ARRAY['a', NULL]);
SELECT * FROM widecol.get('words', ARRAY['a', '']);
SELECT * FROM widecol.get('words', ARRAY[repeat('a', 32769)]);
SELECT * FROM widecol.get('words', NULL::bytea[]);
-- a literal is one row
SELECT * FROM widecol.get('words', 'rot');
SELECT * FROM widecol.get('words', '{rot}');

SELECT widecol.count('words'), widecol.count('words', 'rot'), widecol.count('words', 'a', 'rot'), widecol.count('words', row_prefix => 'ro'),
       widecol.count('words', columns => '{cf}'), widecol.count('words', columns => '{cf:r,d:q}'), widecol.count('words', time_range => '[5,8)');
SELECT widecol.count('words', 'x', 'a');
SELECT widecol.count('words', 'x', row_prefix => 'x');
SELECT widecol.count('words', columns => '{nobody}');
SELECT widecol.count('nobody');
SELECT widecol.count(NULL::text);

-- a scan gives its cells one by one, as they are wanted
EXPLAIN (COSTS OFF) SELECT "row" FROM widecol.scan('words', row_prefix => 'ro') WHERE qualifier = 'q' LIMIT 1;
SELECT "row", value FROM widecol.scan('words', row_prefix => 'ro') WHERE qualifier = 'q' LIMIT 1;
SELECT a."row", b.qualifier FROM widecol.scan('words', columns => '{cf}') a, LATERAL widecol.scan(tab => 'words', start_row => a."row", row_limit => 1) b;
SELECT count(*) FROM widecol.scan('words', row_limit => (SELECT 2));
SELECT (widecol.scan('words', row_limit => 2)).qualifier;
BEGIN;
DECLARE cells CURSOR FOR SELECT "row", qualifier FROM widecol.scan('words');
FETCH 2 FROM cells;
SELECT widecol.deleteall('words', row_prefix => 't'), widecol.put('words', 'zebra', 'cf:q', 'later');
SELECT widecol.count('words');
FETCH ALL FROM cells;
ROLLBACK;

SELECT widecol.incr('words', 'n', 'cf:n', 5);
SELECT widecol.get_counter('words', 'n', 'cf:n'), widecol.get_counter('words', 'n', 'cf:m'), widecol.get_counter('words', 'm', 'cf:n');
SELECT widecol.get_counter('words', 'rose', 'cf:q');
SELECT widecol.get_counter('words', 'n', 'cf');
SELECT widecol.get_counter('words', NULL, 'cf:n');

-- a prefix: whole rows, a column, a family, up to a timestamp
BEGIN;
SELECT widecol.deleteall('words', row_prefix => 'ro');
SELECT widecol.count('words');
ROLLBACK;
SELECT widecol.count('words');
BEGIN;
SELECT widecol.put('words', 'roll', 'cf:q', 'own write'), widecol.put('words', '\x726fff', 'cf:q', 'own write');
SELECT widecol.deleteall('words', row_prefix => 'ro', col => 'cf:q', ts => 1);
SELECT "row", qualifier, value FROM widecol.scan('words', row_prefix => 'ro', versions => 3);
SELECT widecol.deleteall('words', NULL, 'cf', row_prefix => 'ro');
SELECT "row", qualifier, value FROM widecol.scan('words', row_prefix => 'ro', versions => 3);
ROLLBACK;
SELECT widecol.deleteall('words', row_prefix => 'nobody');
SELECT widecol.deleteall('words', row_prefix => '');
SELECT widecol.deleteall('words', 'rose', row_prefix => 'ro');
SELECT widecol.deleteall('words', row_prefix => 'ro', col => 'nobody:q');
SELECT widecol.deleteall('words');
SET default_transaction_read_only = on;
SELECT widecol.deleteall('words', row_prefix => 'nobody');
RESET default_transaction_read_only;
SELECT widecol.count('words');

-- row keys
CREATE FOREIGN TABLE words_key (
  a int OPTIONS (rowkey '1'), b timestamptz OPTIONS (rowkey '2', sort 'desc'), c varchar(5) OPTIONS (rowkey '3') COLLATE "C", v int
) SERVER widecol;
CREATE FOREIGN TABLE words_salted (id bigint OPTIONS (rowkey '1'), v int) SERVER widecol OPTIONS (salt_buckets '8');
CREATE FOREIGN TABLE words_hashed (url text OPTIONS (rowkey '1', encoding 'md5', family 'cf', qualifier 'url'), n int OPTIONS (rowkey '2'), v int) SERVER widecol;
CREATE FOREIGN TABLE words_raw (k bytea OPTIONS (rowkey 'raw'), v int) SERVER widecol;
CREATE FOREIGN TABLE words_cells ("row" bytea, family text, qualifier bytea, value bytea) SERVER widecol OPTIONS ("table" 'words', layout 'cell');
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET bytea_output = 'hex';
INSERT INTO words_key VALUES (1, '2026-01-01', 'x', 7);
INSERT INTO words_salted SELECT i, i FROM generate_series(1, 20) i;
INSERT INTO words_hashed VALUES ('www', 1, 10);
SELECT "row" = widecol.row_key('words_key', 1, '2026-01-01', 'x') FROM widecol.scan('words_key');
-- values are converted as by INSERT
SELECT widecol.row_key('words_key', 1::bigint, '2026-01-01'::date, 'x'::text);
SELECT count(*) FROM widecol.scan('words_salted', columns => '{cf:v}') s, words_salted t WHERE s."row" = widecol.row_key('words_salted', t.id);
SELECT widecol.to_int(value) FROM widecol.get('words_hashed', widecol.row_key('words_hashed', 'www', 1), '{cf:v}');
SELECT widecol.row_key('words_raw', '\x0102'::bytea), widecol.row_key('words_raw', VARIADIC '{a}'::text[]::bytea[]);
SELECT widecol.incr('words_key', widecol.row_key('words_key', 1, '2026-01-01', 'x'), 'cf:clicks');
SELECT widecol.row_key_parts('words_key', "row") FROM widecol.scan('words_key', columns => '{cf:v}');
SELECT k.* FROM widecol.scan('words_key', columns => '{cf:v}') s, widecol.row_key_parts('words_key', s."row") AS k(a int, b timestamptz, c varchar(5));
SELECT row_to_json(widecol.row_key_parts('words_salted', widecol.row_key('words_salted', 12)));
SELECT widecol.row_key_parts('words_hashed', widecol.row_key('words_hashed', 'www', 1));
SELECT widecol.row_key_parts('words_raw', '\x0102');
-- values that are no key
SELECT widecol.row_key('words_key', 1);
SELECT widecol.row_key('words_key');
SELECT widecol.row_key('words_key', 1, 2, 3, 4);
SELECT widecol.row_key('words_key', 1, NULL, 'x');
SELECT widecol.row_key('words_key', 'one', now(), 'x');
SELECT widecol.row_key('words_key', now(), now(), 'x');
SELECT widecol.row_key('words_key', 1, now(), 'too long');
SELECT widecol.row_key('words_raw', ''::bytea);
SELECT widecol.row_key('words_cells', 'x');
SELECT widecol.row_key('pg_class', 1);
SELECT widecol.row_key(NULL, 1);
SELECT widecol.row_key_parts('words_key', '\x01');
SELECT widecol.row_key_parts('words_key', '');
SELECT widecol.row_key_parts('words_key', NULL);
SELECT * FROM widecol.row_key_parts('words_key', widecol.row_key('words_key', 1, '2026-01-01', 'x')) AS k(a int);

-- Java's Bytes, there and back
SELECT widecol.to_bytes(1), widecol.to_bytes(-1::bigint), widecol.to_bytes(2::smallint), widecol.to_bytes(1.5::real), widecol.to_bytes(2.5::float8),
       widecol.to_bytes(-12.50), widecol.to_bytes(true), widecol.to_bytes(false), widecol.to_bytes('grün'), widecol.to_bytes('');
SELECT widecol.to_int('\x00000001'), widecol.to_long('\xffffffffffffffff'), widecol.to_short('\x0002'), widecol.to_float('\x3fc00000'), widecol.to_double('\x4004000000000000'),
       widecol.to_big_decimal('\x00000002fb1e'), widecol.to_boolean('\x01'), widecol.to_boolean('\x00'), widecol.to_string('\x6772c3bc6e'), widecol.to_string('') = '';
SELECT widecol.to_long(NULL), widecol.to_bytes(NULL::int), widecol.to_string_binary(NULL);
SELECT widecol.to_long('\x00');
SELECT widecol.to_int('\x0000000001');
SELECT widecol.to_boolean('\x');
SELECT widecol.to_big_decimal('\x0001');
SELECT widecol.to_string('\xff');
SELECT widecol.to_bytes('NaN'::numeric);
SELECT widecol.to_string_binary('\x20 61 5c 7e 7f 00 ff'), widecol.to_string_binary('') = '' AS empty;
SELECT widecol.to_bytes_binary('a\x00\xffÿ\x5C');
SELECT widecol.to_bytes_binary('\xg1');
SELECT widecol.to_bytes_binary('\\');
SELECT widecol.to_bytes_binary('\x1');
SELECT bool_and(widecol.to_bytes_binary(widecol.to_string_binary(b)) = b) FROM (SELECT decode(lpad(to_hex(i), 2, '0'), 'hex') || 'x' AS b FROM generate_series(0, 255) i) t;

-- other roles: as in SQL
CREATE ROLE regress_words;
GRANT USAGE ON FOREIGN SERVER widecol TO regress_words;
CREATE FOREIGN TABLE words_part (k text OPTIONS (rowkey '1') COLLATE "C", q text OPTIONS (qualifier 'q'), d text OPTIONS (family 'd', qualifier 'q'))
  SERVER widecol OPTIONS ("table" 'words');
GRANT SELECT (k, q) ON words_part TO regress_words;
SET ROLE regress_words;
SELECT widecol.exists('words');
SELECT widecol.count('words');
SELECT widecol.count('words_part');
SELECT widecol.count('words_part', columns => '{cf:q}'), widecol.count('words_part', columns => '{cf:q}', row_prefix => 't');
SELECT * FROM widecol.get('words_part', ARRAY['rose', 'rot', 'tulip'], '{cf:q}');
SELECT * FROM widecol.get('words_part', ARRAY['rose', 'rot', 'tulip'], '{cf:r}');
SELECT widecol.get_counter('words_part', 'n', 'cf:n');
SELECT widecol.deleteall('words_part', row_prefix => 'ro');
SELECT widecol.row_key('words_part', 'a');
RESET ROLE;
GRANT SELECT, DELETE ON words_part TO regress_words;
SET ROLE regress_words;
SELECT widecol.count('words_part');
SELECT widecol.deleteall('words_part', row_prefix => 'r', col => 'cf:r');
SELECT widecol.deleteall('words_part', row_prefix => 'r', col => 'cf:q');
SELECT widecol.count('words_part');
SELECT widecol.deleteall('words_part', row_prefix => 'r');
RESET ROLE;
SELECT "row", family, qualifier FROM widecol.scan('words');

SET client_min_messages = warning;
DROP FOREIGN TABLE words_key, words_salted, words_hashed, words_raw, words_cells, words_part;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['words', 'words_key', 'words_salted', 'words_hashed', 'words_raw']) t;
REVOKE USAGE ON FOREIGN SERVER widecol FROM regress_words;
DROP ROLE regress_words;
