-- put, get, scan and the deletes: cells as they are, in HBase's terms.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SET bytea_output = 'escape';

SELECT widecol.create_table('f', '{"a": {"versions": 3}, "b": {}}');
CREATE FOREIGN TABLE f (k bytea OPTIONS (rowkey 'raw')) SERVER widecol;

-- put and get
SELECT widecol.put('f', 'r1', 'a:x', 'ten', 10);
SELECT widecol.put('f', 'r1', 'a:x', 'thirty', 30);
SELECT widecol.put('f', 'r1', 'a:x', 'twenty', ts => 20);
SELECT widecol.put('f', 'r1', 'a:y', 'fifteen', 15),
       widecol.put('f', 'r1', 'b:', 'no qualifier', 5),
       widecol.put('f', 'r1', 'b:z', '', 6);
SELECT * FROM widecol.get('f', 'r1');
SELECT * FROM widecol.get('f', 'r1', versions => 2);
SELECT * FROM widecol.get('f', 'r1', versions => 2147483647);
SELECT * FROM widecol.get('f', 'no such row');
SELECT count(*) FROM f;
SELECT * FROM f;

-- a version more than the family keeps; one family keeps one
SELECT widecol.put('f', 'r1', 'a:x', 'forty', 40), widecol.put('f', 'r1', 'b:z', 'seven', 7);
SELECT qualifier, ts, value FROM widecol.get('f', 'r1', versions => 10);
-- the same timestamp again: the later write wins
SELECT widecol.put('f', 'r1', 'a:x', 'forty again', 40);
SELECT qualifier, ts, value FROM widecol.get('f', 'r1', '{a:x}', versions => 10);

-- columns: families come in byte order whatever the order asked for
SELECT family, qualifier, value FROM widecol.get('f', 'r1', '{a:y}');
SELECT family, qualifier, value FROM widecol.get('f', 'r1', '{b,a:x}');
SELECT family, qualifier, value FROM widecol.get('f', 'r1', '{a:y,a}');
SELECT family, qualifier, value FROM widecol.get('f', 'r1', '{a:y,a:y}');
SELECT family, qualifier, value FROM widecol.get('f', 'r1', '{b:}');
SELECT family, qualifier, value FROM widecol.get('f', 'r1', '{a:missing,a:y}');
SELECT count(*) FROM widecol.get('f', 'r1', '{a:missing}');

-- time ranges are half open and come before versions are counted
SELECT qualifier, ts FROM widecol.get('f', 'r1', '{a}', versions => 10, time_range => '[15,30)');
SELECT qualifier, ts FROM widecol.get('f', 'r1', '{a}', time_range => '[15,30)');
SELECT qualifier, ts FROM widecol.get('f', 'r1', '{a}', versions => 10, time_range => '[15,30]');
SELECT qualifier, ts FROM widecol.get('f', 'r1', '{a}', versions => 10, time_range => '(15,30)');
SELECT qualifier, ts FROM widecol.get('f', 'r1', '{a}', time_range => '(,40)');
SELECT qualifier, ts FROM widecol.get('f', 'r1', '{a}', versions => 10, time_range => '[30,)');
SELECT qualifier, ts FROM widecol.get('f', 'r1', '{a}', versions => 10, time_range => '(,)');
SELECT qualifier, ts FROM widecol.get('f', 'r1', '{a:x}', time_range => int8range(20, 21));
SELECT count(*) FROM widecol.get('f', 'r1', time_range => '[1000,2000)');
-- no timestamp is in an empty range
SELECT count(*) FROM widecol.get('f', 'r1', time_range => '[20,20)');
SELECT count(*) FROM widecol.scan('f', raw => true, versions => 10, time_range => 'empty');

-- column_limit and column_offset: cells a family in each row
SELECT widecol.put('f', 'wide', 'a:c' || i, ('a' || i)::bytea, 1), widecol.put('f', 'wide', 'b:c' || i, ('b' || i)::bytea, 1)
  FROM generate_series(1, 5) i \g /dev/null
SELECT family, qualifier FROM widecol.get('f', 'wide', column_limit => 2);
SELECT family, qualifier FROM widecol.get('f', 'wide', column_limit => 2, column_offset => 1);
SELECT family, qualifier FROM widecol.get('f', 'wide', column_offset => 4);
SELECT family, qualifier FROM widecol.get('f', 'wide', '{b}', column_limit => 2, column_offset => 4);
SELECT family, qualifier FROM widecol.get('f', 'wide', column_offset => 5);
SELECT "row", family, qualifier FROM widecol.scan('f', column_limit => 1);

-- qualifiers: everything after the first colon, \xHH a byte
SELECT widecol.put('f', 'q', 'a:b:c', 'colon', 1),
       widecol.put('f', 'q', 'a:\x00\xff\x5Cz', 'bytes', 1),
       widecol.put('f', 'q', 'a:' || chr(228), 'umlaut', 1),
       widecol.put('f', 'q', 'a: ', 'space', 1);
SELECT qualifier, value FROM widecol.get('f', 'q');
SELECT value FROM widecol.get('f', 'q', ARRAY['a:\x62:\x63']);
SELECT value FROM widecol.get('f', 'q', ARRAY['a:\x00\xFF\x5cz']);
SELECT value FROM widecol.get('f', 'q', ARRAY['a:\xc3\xa4', 'a:\x20']);
SELECT widecol.deleteall('f', 'q');

-- without a timestamp: that of the commit, one a transaction, growing
BEGIN;
SELECT widecol.put('f', 'now1', 'a:x', '1'), widecol.put('f', 'now2', 'b:y', '2');
COMMIT;
SELECT widecol.put('f', 'now3', 'a:x', '3');
SELECT "row", ts = min(ts) OVER () AS first, ts = max(ts) OVER () AS last,
       to_timestamp(ts / 1e6) BETWEEN now() - interval '1 hour' AND now() + interval '1 hour' AS now
  FROM widecol.scan('f', row_prefix => 'now');
SELECT widecol.deleteall('f', "row") FROM widecol.scan('f', row_prefix => 'now') \g /dev/null
SELECT count(*) FROM widecol.scan('f', row_prefix => 'now');

-- a cell's time to live: when it has passed, the version below shows
SELECT widecol.put('f', 'ttl', 'a:x', 'stays'), widecol.put('f', 'ttl', 'a:y', 'goes', ttl => '1 hour');
SELECT widecol.put('f', 'ttl', 'a:x', 'goes', ttl => '1 hour');
SELECT qualifier, value FROM widecol.get('f', 'ttl', versions => 3);
SET widecol.debug_clock_offset = '2h';
SELECT qualifier, value FROM widecol.get('f', 'ttl', versions => 3);
RESET widecol.debug_clock_offset;
SELECT qualifier, value FROM widecol.get('f', 'ttl');
SELECT widecol.deleteall('f', 'ttl');

-- any bytes
SELECT widecol.put('f', '\000\377', 'a:', '\000', 1), widecol.put('f', '\000', 'a:', '\\', 1), widecol.put('f', '\377\377', 'a:', '\377', 1);
SELECT "row", value FROM widecol.scan('f', columns => '{a:}');
SELECT "row", value FROM widecol.scan('f', row_prefix => '\377');
SELECT "row", value FROM widecol.scan('f', row_prefix => '\000');
SELECT widecol.deleteall('f', r) FROM unnest(ARRAY['\000\377', '\000', '\377\377']::bytea[]) r;

-- scan
SELECT widecol.put('f', ('s' || i)::bytea, CASE WHEN i % 2 = 0 THEN 'b:even' ELSE 'a:odd' END, i::text::bytea, i) FROM generate_series(1, 6) i \g /dev/null
SELECT widecol.put('f', 's22', 'a:odd', '22', 22), widecol.put('f', 's2', 'a:odd', 'older', 1), widecol.put('f', 's2', 'a:odd', 'newer', 2);
SELECT * FROM widecol.scan('f', row_prefix => 's');
SELECT "row", value FROM widecol.scan('f', 's3', 's5');
SELECT "row", value FROM widecol.scan('f', 's3', 's5', include_start => false, include_stop => true);
SELECT "row", value FROM widecol.scan('f', 's3', 's5', include_start => false);
SELECT "row", value FROM widecol.scan('f', 's3', 's3', include_stop => true);
SELECT "row", value FROM widecol.scan('f', 's3', 's3');
SELECT "row", value FROM widecol.scan('f', 's3', 's3', include_start => false, include_stop => true);
SELECT "row", value FROM widecol.scan('f', 's5', 's3');
SELECT "row", value FROM widecol.scan('f', start_row => 's5');
SELECT "row", family, qualifier FROM widecol.scan('f', '', 'r2', columns => '{a:y}');
SELECT "row", value FROM widecol.scan('f', row_prefix => 's2');
SELECT count(DISTINCT "row") FROM widecol.scan('f', row_prefix => '');
SELECT "row", qualifier, value FROM widecol.scan('f', row_prefix => 's', row_limit => 2);
-- rows without a wanted cell are no rows
SELECT "row", value FROM widecol.scan('f', row_prefix => 's', columns => '{b:even}', row_limit => 2);
SELECT "row", ts, value FROM widecol.scan('f', row_prefix => 's', columns => '{a}', versions => 2);
SELECT "row", ts, value FROM widecol.scan('f', row_prefix => 's', time_range => '[2,5)');
-- rows descending, cells within a row as ever
SELECT "row", family, value FROM widecol.scan('f', row_prefix => 's', reversed => true);
SELECT "row" FROM widecol.scan('f', 's5', 's3', reversed => true);
SELECT "row" FROM widecol.scan('f', 's5', 's3', reversed => true, include_start => false, include_stop => true);
SELECT "row" FROM widecol.scan('f', 's44', 's2', reversed => true);
SELECT "row" FROM widecol.scan('f', 's3', 's5', reversed => true);
SELECT "row", ts, value FROM widecol.scan('f', row_prefix => 's', columns => '{a}', versions => 2, reversed => true, row_limit => 4);

-- in joins and subqueries
SELECT s."row", g.value FROM (VALUES ('s1'::bytea), ('s4'), ('s2')) s("row"), LATERAL widecol.get('f', s."row") g;
SELECT n, (SELECT count(*) FROM widecol.scan('f', row_prefix => 's', row_limit => n)) AS cells FROM generate_series(1, 4) n;
SELECT (widecol.get('f', 's1')).*;

-- delete: every version up to ts
SELECT widecol.put('f', 'd', 'a:x', ts::text::bytea, ts), widecol.put('f', 'd', 'a:y', ts::text::bytea, ts),
       widecol.put('f', 'd', 'b:x', ts::text::bytea, ts) FROM unnest(ARRAY[10, 20, 30]) ts \g /dev/null
SELECT widecol.delete('f', 'd', 'a:x', 20);
SELECT family, qualifier, ts FROM widecol.get('f', 'd', versions => 3);
SELECT family, qualifier, ts, type, value FROM widecol.scan('f', 'd', 'd', include_stop => true, raw => true, versions => 10);
-- a later write with an older timestamp stays hidden
SELECT widecol.put('f', 'd', 'a:x', 'late', 15);
SELECT qualifier, ts FROM widecol.get('f', 'd', '{a:x}', versions => 3);
-- and until now
SELECT widecol.delete('f', 'd', 'a:x');
SELECT count(*) FROM widecol.get('f', 'd', '{a:x}', versions => 3);
SELECT widecol.put('f', 'd', 'a:x', 'back');
SELECT value FROM widecol.get('f', 'd', '{a:x}', versions => 3);

-- delete_version: exactly that one; none named: the newest that shows
SELECT widecol.delete_version('f', 'd', 'a:y', 20);
SELECT ts FROM widecol.get('f', 'd', '{a:y}', versions => 3);
SELECT widecol.delete_version('f', 'd', 'a:y');
SELECT ts FROM widecol.get('f', 'd', '{a:y}', versions => 3);
SELECT ts, type FROM widecol.scan('f', 'd', 'd', include_stop => true, columns => '{a}', raw => true, versions => 10)
 WHERE qualifier = 'y';
SELECT widecol.delete_version('f', 'd', 'a:y');
SELECT count(*) FROM widecol.get('f', 'd', '{a:y}', versions => 3);

-- families
SELECT widecol.put('f', 'e', 'a:' || q, ts::text::bytea, ts), widecol.put('f', 'e', 'b:' || q, ts::text::bytea, ts)
  FROM unnest(ARRAY['', 'x', 'y']) q, unnest(ARRAY[10, 20, 30]) ts \g /dev/null
SELECT widecol.delete_family_version('f', 'e', 'a', 20);
SELECT family, qualifier, ts FROM widecol.get('f', 'e', versions => 3);
SELECT widecol.delete_family('f', 'e', 'a', 20);
SELECT family, qualifier, ts FROM widecol.get('f', 'e', versions => 3);
SELECT family, qualifier, ts, type FROM widecol.scan('f', 'e', 'e', columns => '{a}', include_stop => true, raw => true, versions => 10);
SELECT widecol.delete_family('f', 'e', 'a');
SELECT family, qualifier, ts FROM widecol.get('f', 'e', versions => 3);

-- deleteall: a column, a family, the row, up to a time
SELECT widecol.put('f', 'g', 'a:' || q, ts::text::bytea, ts), widecol.put('f', 'g', 'b:' || q, ts::text::bytea, ts)
  FROM unnest(ARRAY['x', 'y']) q, unnest(ARRAY[10, 20, 30]) ts \g /dev/null
SELECT widecol.deleteall('f', 'g', 'a:x');
SELECT family, qualifier, ts FROM widecol.get('f', 'g');
SELECT widecol.deleteall('f', 'g', ts => 20);
SELECT family, qualifier, ts FROM widecol.get('f', 'g', versions => 3);
SELECT widecol.deleteall('f', 'g', 'a');
SELECT family, qualifier, ts FROM widecol.get('f', 'g', versions => 3);
SELECT widecol.deleteall('f', 'g');
SELECT count(*) FROM widecol.get('f', 'g');
SELECT family, type, count(*) FROM widecol.scan('f', 'g', 'g', include_stop => true, raw => true, versions => 10) GROUP BY 1, 2 ORDER BY 1, 2;
-- a missing cell: its marker is written nevertheless
SELECT widecol.delete('f', 'nobody', 'a:x', 50);
SELECT * FROM widecol.get('f', 'nobody');
SELECT * FROM widecol.scan('f', row_prefix => 'nobody', raw => true);
SELECT widecol.put('f', 'nobody', 'a:x', 'before', 50), widecol.put('f', 'nobody', 'a:y', 'other', 50);
SELECT * FROM widecol.get('f', 'nobody');

-- a delete and a put in one transaction keep their order
BEGIN;
SELECT widecol.put('f', 'order', 'a:x', 'one');
SELECT widecol.deleteall('f', 'order');
SELECT widecol.put('f', 'order', 'a:x', 'two');
SELECT value FROM widecol.get('f', 'order', versions => 3);
COMMIT;
SELECT value FROM widecol.get('f', 'order', versions => 3);
BEGIN;
SELECT widecol.put('f', 'order', 'a:x', 'three');
SELECT widecol.deleteall('f', 'order');
COMMIT;
SELECT value FROM widecol.get('f', 'order', versions => 3);

-- NULL arguments: those that may be, are as if left out; a NULL table or row is an error
SELECT family, qualifier FROM widecol.get('f', 'r1', NULL, NULL, NULL, NULL, NULL);
SELECT "row", value FROM widecol.scan('f', 's3', NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL);

-- packing "row": a row's cells together
SELECT widecol.create_table('f_packed', '{"p": {"packing": "row", "versions": 2}}');
CREATE FOREIGN TABLE f_packed (k bytea OPTIONS (rowkey 'raw')) SERVER widecol;
SELECT widecol.put('f_packed', 'r', 'p:' || q, (q || ts)::bytea, ts) FROM unnest(ARRAY['x', 'y']) q, unnest(ARRAY[20, 10, 30]) ts \g /dev/null
SELECT qualifier, ts, value FROM widecol.get('f_packed', 'r', versions => 5);
SELECT widecol.delete_version('f_packed', 'r', 'p:x', 30);
SELECT widecol.delete('f_packed', 'r', 'p:y', 25);
SELECT qualifier, ts, value FROM widecol.get('f_packed', 'r', versions => 5);
SELECT widecol.put('f_packed', 'r', 'p:x', 'newest', 40);
SELECT qualifier, ts, value FROM widecol.get('f_packed', 'r', '{p:x}', versions => 5);
SELECT qualifier, ts, value FROM widecol.get('f_packed', 'r', '{p}', time_range => '[0,40)');
SELECT widecol.deleteall('f_packed', 'r');
SELECT count(*) FROM widecol.scan('f_packed');

-- 100 MB in one cell, in both packings
SELECT widecol.put('f', 'big', 'a:v', convert_to(repeat('0123456789', 10000000), 'UTF8'), 1);
SELECT widecol.put('f_packed', 'big', 'p:v', convert_to(repeat('0123456789', 10000000), 'UTF8'), 1);
SELECT length(value), md5(value) = md5(repeat('0123456789', 10000000)) AS same FROM widecol.get('f', 'big');
SELECT length(value), md5(value) = md5(repeat('0123456789', 10000000)) AS same FROM widecol.get('f_packed', 'big');

DROP FOREIGN TABLE f, f_packed;
SELECT widecol.drop_table('f'), widecol.drop_table('f_packed');
RESET bytea_output;
