-- Attributes of families: each is set, described and changed, and has its effect.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SET bytea_output = 'escape';

-- a family without attributes
SELECT widecol.create_table('at', '{"cf": {}}');
CREATE FOREIGN TABLE at (k bytea OPTIONS (rowkey 'raw')) SERVER widecol;
SELECT family, versions, min_versions, ttl, keep_deleted_cells, bloomfilter, compression, blocksize, blockcache, in_memory, packing
  FROM widecol.describe('at');

-- changing one attribute leaves the others
SELECT widecol.alter_table('at', '{"cf": {"versions": 3}}');
SELECT widecol.alter_table('at', '{"cf": {"min_versions": 1}}');
SELECT widecol.alter_table('at', '{"cf": {"ttl": "2 days 3 hours"}}');
SELECT widecol.alter_table('at', '{"cf": {"keep_deleted_cells": "ttl"}}');
SELECT widecol.alter_table('at', '{"cf": {"bloomfilter": "rowcol"}}');
SELECT widecol.alter_table('at', '{"cf": {"compression": "snappy"}}');
SELECT widecol.alter_table('at', '{"cf": {"blocksize": 4096}}');
SELECT widecol.alter_table('at', '{"cf": {"blockcache": false}}');
SELECT widecol.alter_table('at', '{"cf": {"in_memory": true}}');
SELECT widecol.alter_table('at', '{"cf": {"packing": "cell"}}');
SELECT family, versions, min_versions, ttl, keep_deleted_cells, bloomfilter, compression, blocksize, blockcache, in_memory, packing
  FROM widecol.describe('at');
-- and back, all at once; a rollback leaves it
BEGIN;
SELECT widecol.alter_table('at', '{"cf": {"versions": 1, "min_versions": 0, "ttl": "forever", "keep_deleted_cells": false, "bloomfilter": "row",
  "compression": "lz4", "blocksize": 16384, "blockcache": true, "in_memory": false, "packing": "auto"}}');
SELECT versions, min_versions, ttl, keep_deleted_cells, bloomfilter, compression, blocksize, blockcache, in_memory, packing
  FROM widecol.describe('at');
ROLLBACK;
SELECT versions, min_versions, ttl, keep_deleted_cells, bloomfilter, compression, blocksize, blockcache, in_memory, packing
  FROM widecol.describe('at');
-- words and booleans in the forms that HBase's shell and JSON have; a TTL as seconds, text, HBase's FOREVER
SELECT widecol.alter_table('at', '{"cf": {"keep_deleted_cells": "TRUE", "bloomfilter": "NONE", "compression": "ZSTD", "blockcache": "true", "ttl": 90}}');
SELECT ttl, keep_deleted_cells, bloomfilter, compression, blockcache FROM widecol.describe('at');
SELECT widecol.alter_table('at', '{"cf": {"ttl": 8.2}}');
SELECT ttl FROM widecol.describe('at') WHERE family = 'cf';
SELECT widecol.alter_table('at', '{"cf": {"keep_deleted_cells": true, "ttl": 0.5}}');
SELECT ttl, keep_deleted_cells FROM widecol.describe('at');
SELECT widecol.alter_table('at', '{"cf": {"ttl": 2147483647}}');
SELECT ttl FROM widecol.describe('at');

-- bad input is refused, and changes nothing
SELECT widecol.alter_table('at', '{"cf": {"versions": 0}}');
\echo :SQLSTATE
SELECT widecol.alter_table('at', '{"cf": {"versions": -1}}');
SELECT widecol.alter_table('at', '{"cf": {"versions": 2147483648}}');
SELECT widecol.alter_table('at', '{"cf": {"versions": null}}');
SELECT widecol.alter_table('at', '{"cf": {"min_versions": -1}}');
SELECT widecol.alter_table('at', '{"cf": {"min_versions": 4}}');
SELECT widecol.alter_table('at', '{"cf": {"versions": 2, "min_versions": 3}}');
SELECT widecol.alter_table('at', '{"cf": {"ttl": 0}}');
SELECT widecol.alter_table('at', '{"cf": {"ttl": -1}}');
SELECT widecol.alter_table('at', '{"cf": {"ttl": "0 s"}}');
SELECT widecol.alter_table('at', '{"cf": {"ttl": "-1 day"}}');
SELECT widecol.alter_table('at', '{"cf": {"ttl": "soon"}}');
SELECT widecol.alter_table('at', '{"cf": {"ttl": true}}');
SELECT widecol.alter_table('at', '{"cf": {"ttl": 0.0000001}}');
SELECT widecol.alter_table('at', '{"cf": {"ttl": 1e300}}');
SELECT widecol.alter_table('at', '{"cf": {"keep_deleted_cells": "never"}}');
SELECT widecol.alter_table('at', '{"cf": {"bloomfilter": "rows"}}');
SELECT widecol.alter_table('at', '{"cf": {"compression": "gzip"}}');
SELECT widecol.alter_table('at', '{"cf": {"blocksize": 100}}');
SELECT widecol.alter_table('at', '{"cf": {"blocksize": 4294967296}}');
SELECT widecol.alter_table('at', '{"cf": {"blockcache": 2}}');
SELECT widecol.alter_table('at', '{"cf": {"in_memory": "very"}}');
SELECT widecol.alter_table('at', '{"cf": {"packing": "row"}}');
SELECT widecol.alter_table('at', '{"cf": {"max_versions": 3}}');
SELECT widecol.alter_table('at', '{"cf": {"versions": 3}, "x": {"replication_scope": 1}}');
SELECT widecol.alter_table('at', '{"cf": []}');
SELECT widecol.alter_table('at', '[]');
SELECT widecol.alter_table('at', '{"no/slash": {}}');
SELECT widecol.alter_table('at', '{"cf": null}');
SELECT widecol.alter_table('at', '{"none": null}');
SELECT family, versions, min_versions, ttl, keep_deleted_cells, bloomfilter, compression, blocksize, blockcache, in_memory, packing
  FROM widecol.describe('at');

-- cells: bad columns, times and families
SELECT widecol.put('at', 'r', 'cf', 'x');
\echo :SQLSTATE
SELECT widecol.put('at', 'r', 'no:q', 'x');
\echo :SQLSTATE
SELECT widecol.put('at', 'r', 'cf:q', 'x', -1);
\echo :SQLSTATE
SELECT widecol.put('at', 'r', 'cf:q', 'x', 1, '0 s');
SELECT widecol.put('at', 'r', 'cf:q', 'x', 1, '-1 s');
SELECT widecol.delete('at', 'r', 'cf', 1);
SELECT widecol.delete('at', 'r', 'cf:q', -1);
SELECT widecol.delete_version('at', 'r', 'no:q');
SELECT widecol.delete_family('at', 'r', 'no');
SELECT widecol.delete_family_version('at', 'r', 'cf', -1);
SELECT widecol.deleteall('at', 'r', 'no');
SELECT widecol.get('at', 'r', '{no}');
SELECT widecol.get('at', 'r', '{no:q}');
SELECT widecol.get('at', 'r', versions => 0);
SELECT widecol.get('at', 'r', time_range => '[-5,3)');
SELECT widecol.scan('at', columns => '{no}');
SELECT count(*) FROM widecol.scan('at', raw => true);
DROP FOREIGN TABLE at;
SELECT widecol.drop_table('at');

-- Effects of attributes.  Two families, one of each packing; vs shows a column's
-- versions in both: those that are there, and (raw) those that are stored.
SELECT widecol.create_table('at', '{"c": {"versions": 5, "packing": "cell"}, "r": {"versions": 5, "packing": "row"}}');
CREATE FOREIGN TABLE at (k bytea OPTIONS (rowkey 'raw')) SERVER widecol;
CREATE FUNCTION vs(q text, raw boolean DEFAULT false, range int8range DEFAULT NULL) RETURNS TABLE (family text, cells text)
LANGUAGE sql AS $$
  SELECT f, coalesce((SELECT string_agg(ts || CASE type WHEN 'Put' THEN '' ELSE ' ' || type END, ', ')
                      FROM widecol.scan('at', columns => ARRAY[f], versions => 100, raw => raw, time_range => range)
                      WHERE qualifier = q::bytea OR qualifier = ''), 'none')
  FROM unnest(ARRAY['c', 'r']) f
$$;
CREATE FUNCTION alter_both(attributes text) RETURNS void LANGUAGE sql AS $$
  SELECT widecol.alter_table('at', jsonb_build_object('c', attributes::jsonb, 'r', attributes::jsonb))
$$;
CREATE FUNCTION fill(q text, VARIADIC ts bigint[]) RETURNS void LANGUAGE sql AS $$
  SELECT widecol.put('at', 'row', f || ':' || q, 'v', t) FROM unnest(ARRAY['c', 'r']) f, unnest(ts) t
$$;

-- versions: a smaller number limits reads at once, and storage after a compaction; a greater one shows again the versions that are still stored
SELECT fill('v', 1, 2, 3, 4, 5, 6);
SELECT * FROM vs('v');
SELECT alter_both('{"versions": 2}');
SELECT * FROM vs('v');
SELECT alter_both('{"versions": 4}');
SELECT * FROM vs('v');
SELECT alter_both('{"versions": 2}');
SELECT widecol.flush('at'), widecol.major_compact('at');
SELECT alter_both('{"versions": 5}');
SELECT * FROM vs('v');

-- ttl: of a family, at once; min_versions stay
SELECT widecol.put('at', 'row', f || ':t', 'v', (extract(epoch FROM now()) * 1000000)::bigint - age * 60000000)
  FROM unnest(ARRAY['c', 'r']) f, unnest(ARRAY[0, 10, 20, 30]) age \g /dev/null
CREATE FUNCTION ages(raw boolean DEFAULT false) RETURNS TABLE (family text, ages int) LANGUAGE sql AS $$
  SELECT f, (SELECT count(*)::int FROM widecol.scan('at', columns => ARRAY[f], versions => 100, raw => raw) WHERE qualifier = 't')
  FROM unnest(ARRAY['c', 'r']) f
$$;
SELECT * FROM ages();
SELECT alter_both('{"ttl": "15 min"}');
SELECT * FROM ages();
SELECT alter_both('{"min_versions": 3}');
SELECT * FROM ages();
SELECT alter_both('{"ttl": "1 day", "min_versions": 0}');
SELECT * FROM ages();
SET widecol.debug_clock_offset = '1425min';
SELECT * FROM ages();
SET widecol.debug_clock_offset = '2d';
SELECT * FROM ages();
SELECT alter_both('{"min_versions": 1}');
SELECT * FROM ages();
-- a raw scan still shows expired cells, until a compaction
SELECT * FROM ages(true);
SELECT widecol.flush('at'), widecol.major_compact('at');
SELECT * FROM ages(true);
RESET widecol.debug_clock_offset;
SELECT * FROM ages();
SELECT alter_both('{"min_versions": 0, "ttl": "forever"}');
SELECT widecol.deleteall('at', 'row');
SELECT widecol.flush('at'), widecol.major_compact('at');

-- keep_deleted_cells false: reads as of a past time do not show deleted cells
SELECT fill('false', 10, 20);
SELECT widecol.delete('at', 'row', f || ':false', 15) FROM unnest(ARRAY['c', 'r']) f;
SELECT * FROM vs('false');
SELECT * FROM vs('false', range => '[0,15)');
SELECT widecol.flush('at'), widecol.major_compact('at');
SELECT * FROM vs('false', raw => true);
-- true: the past keeps it, also over compactions
SELECT alter_both('{"keep_deleted_cells": true}');
SELECT fill('true', 10, 20);
SELECT widecol.delete('at', 'row', f || ':true', 15) FROM unnest(ARRAY['c', 'r']) f;
SELECT * FROM vs('true');
SELECT * FROM vs('true', range => '[0,15)');
SELECT * FROM vs('true', range => '[0,16)');
SELECT widecol.flush('at'), widecol.major_compact('at');
SELECT * FROM vs('true', raw => true);
SELECT * FROM vs('true', range => '[0,15)');
-- back to false: from the next compaction on
SELECT alter_both('{"keep_deleted_cells": false}');
SELECT * FROM vs('true', range => '[0,15)');
SELECT widecol.major_compact('at');
SELECT * FROM vs('true', raw => true);
SELECT widecol.deleteall('at', 'row');
SELECT widecol.flush('at'), widecol.major_compact('at');
-- ttl: kept until the marker expires
SELECT alter_both('{"keep_deleted_cells": "ttl", "ttl": "1 h", "min_versions": 2}');
SELECT fill('ttl', 10, 20, 30);
SELECT widecol.delete('at', 'row', f || ':ttl') FROM unnest(ARRAY['c', 'r']) f;
SELECT * FROM vs('ttl');
SELECT * FROM vs('ttl', range => '[0,31)');
SELECT widecol.flush('at'), widecol.major_compact('at');
SELECT * FROM vs('ttl', range => '[0,31)');
SET widecol.debug_clock_offset = '2h';
SELECT widecol.major_compact('at');
SELECT * FROM vs('ttl', range => '[0,31)');
SELECT * FROM vs('ttl', raw => true);
RESET widecol.debug_clock_offset;
SELECT alter_both('{"keep_deleted_cells": false, "ttl": "forever", "min_versions": 0}');

-- a compaction removes expired cells from the disk
SELECT widecol.create_table('at_gone_' || p, format('{"cf": {"ttl": "1 h", "packing": "%s"}}', p)::jsonb) FROM unnest(ARRAY['cell', 'row']) p;
CREATE FOREIGN TABLE at_gone_cell (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
CREATE FOREIGN TABLE at_gone_row (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO at_gone_cell SELECT i, md5(i::text) FROM generate_series(1, 1000) i;
INSERT INTO at_gone_row SELECT i, md5(i::text) FROM generate_series(1, 1000) i;
SELECT widecol.flush('at_gone_cell'), widecol.flush('at_gone_row');
SELECT p, (SELECT bytes > 8000 AND rows > 500 FROM widecol.regions('at_gone_' || p)) AS there FROM unnest(ARRAY['cell', 'row']) p;
SET widecol.debug_clock_offset = '2h';
SELECT (SELECT count(*) FROM at_gone_cell) AS cell, (SELECT count(*) FROM at_gone_row) AS row;
SELECT p, (SELECT bytes > 8000 FROM widecol.regions('at_gone_' || p)) AS there FROM unnest(ARRAY['cell', 'row']) p;
SELECT widecol.major_compact('at_gone_cell'), widecol.major_compact('at_gone_row');
RESET widecol.debug_clock_offset;
SELECT (SELECT count(*) FROM at_gone_cell) AS cell, (SELECT count(*) FROM at_gone_row) AS row;
SELECT p, (SELECT ARRAY[bytes, rows] FROM widecol.regions('at_gone_' || p)) AS left FROM unnest(ARRAY['cell', 'row']) p;
DROP FOREIGN TABLE at_gone_cell, at_gone_row;
SELECT widecol.drop_table('at_gone_cell'), widecol.drop_table('at_gone_row');

-- bloomfilter, compression, blocksize, blockcache, in_memory: reads never depend on them, of cells written before or after
SELECT widecol.put('at', ('k' || i)::bytea, f || ':' || q, (q || i)::bytea, 1)
  FROM generate_series(1, 500) i, unnest(ARRAY['c', 'r']) f, unnest(ARRAY['x', 'y']) q \g /dev/null
SELECT widecol.flush('at');
CREATE FUNCTION answers() RETURNS TABLE (all_cells bigint, get bigint, missing_row bigint, missing_column bigint, in_range bigint) LANGUAGE sql AS $$
  SELECT (SELECT count(*) FROM widecol.scan('at')),
         (SELECT count(*) FROM generate_series(1, 500) i, widecol.get('at', ('k' || i)::bytea, '{c:x,r:y}')),
         (SELECT count(*) FROM generate_series(1, 500) i, widecol.get('at', ('n' || i)::bytea, '{c:x,r:y}')),
         (SELECT count(*) FROM generate_series(1, 500) i, widecol.get('at', ('k' || i)::bytea, '{c:z,r:z}')),
         (SELECT count(*) FROM widecol.scan('at', 'k2', 'k3', columns => '{c:y}'))
$$;
SELECT * FROM answers();
DO $$
DECLARE
  attributes text;
  a record;
BEGIN
  FOREACH attributes IN ARRAY ARRAY[
    '{"bloomfilter": "none"}', '{"bloomfilter": "rowcol"}', '{"bloomfilter": "row"}',
    '{"compression": "none"}', '{"compression": "snappy"}', '{"compression": "zstd"}', '{"compression": "lz4"}',
    '{"blocksize": 1024}', '{"blocksize": 1048576}', '{"blocksize": 16384}',
    '{"blockcache": false}', '{"blockcache": true}', '{"in_memory": true}', '{"in_memory": false}']
  LOOP
    PERFORM alter_both(attributes);
    SELECT * INTO a FROM answers();
    IF a::text <> '(2000,1000,0,0,111)' THEN RAISE WARNING 'at once % gives %', attributes, a; END IF;
  END LOOP;
END $$;
SELECT alter_both('{"bloomfilter": "rowcol", "compression": "zstd", "blocksize": 1024, "in_memory": true}');
SELECT widecol.put('at', 'k1', 'c:x', 'new', 2), widecol.put('at', 'n1', 'c:x', 'new', 2);
SELECT widecol.flush('at');
SELECT * FROM answers();
SELECT widecol.major_compact('at');
SELECT * FROM answers();
SELECT widecol.delete_family('at', 'k1', 'c'), widecol.delete('at', 'k2', 'c:x');
SELECT * FROM answers();
SELECT widecol.flush('at');
SELECT * FROM answers();

-- the same, of families that have them from the beginning; and compression shows in the bytes stored
SELECT widecol.create_table('at_' || b || p, format('{"cf": {"bloomfilter": "%s", "packing": "%s"}}', b, p)::jsonb)
  FROM unnest(ARRAY['none', 'row', 'rowcol']) b, unnest(ARRAY['cell', 'row']) p \g /dev/null
SELECT widecol.create_table('at_' || c, format('{"cf": {"compression": "%s"}}', c)::jsonb)
  FROM unnest(ARRAY['none', 'snappy', 'lz4', 'zstd']) c \g /dev/null
DO $$
DECLARE
  name text;
  n bigint[];
BEGIN
  FOR name IN SELECT t.name FROM widecol.tables t WHERE t.name LIKE 'at\_%' ORDER BY 1 LOOP
    EXECUTE format('CREATE FOREIGN TABLE %I (k text OPTIONS (rowkey ''1'') COLLATE "C", x text, y text) SERVER widecol', name);
    EXECUTE format('INSERT INTO %I SELECT ''k'' || i, repeat(''same '', 200), CASE WHEN i %% 2 = 0 THEN ''y'' END FROM generate_series(1, 1000) i', name);
    PERFORM widecol.flush(name);
    EXECUTE format('INSERT INTO %I SELECT ''l'' || i, ''x'', ''y'' FROM generate_series(1, 10) i', name);
    EXECUTE format('DELETE FROM %I WHERE k = ''k500''', name);
    EXECUTE format('SELECT ARRAY[(SELECT count(*) FROM %1$I), (SELECT count(y) FROM %1$I),
      (SELECT count(*) FROM generate_series(1, 1010) i, LATERAL (SELECT y FROM %1$I WHERE k = ''k'' || i) t),
      (SELECT count(*) FROM generate_series(1, 1010) i, LATERAL widecol.get(%1$L, (''k'' || i)::bytea, ''{cf:y}'') t)]', name) INTO n;
    IF n <> '{1009,509,999,499}' THEN RAISE WARNING '% gives %', name, n; END IF;
  END LOOP;
END $$;
SELECT widecol.major_compact('at_' || c) FROM unnest(ARRAY['none', 'snappy', 'lz4', 'zstd']) c \g /dev/null
SELECT c, (SELECT sum(bytes) FROM widecol.regions('at_' || c)) > 500000 AS large FROM unnest(ARRAY['none', 'snappy', 'lz4', 'zstd']) c;

-- packing: each of them has its limits and nothing else that shows
SELECT packing, "table" FROM widecol.families WHERE "table" LIKE 'at\_row%' ORDER BY 2;
CREATE FOREIGN TABLE at_auto (k int OPTIONS (rowkey '1'), fixed int OPTIONS (family 'f'), map jsonb OPTIONS (family 'm')) SERVER widecol;
SELECT family, packing FROM widecol.describe('at_auto');

-- an attribute given twice, in two spellings; a time to live so far below zero that its microseconds overflow
SELECT widecol.alter_table('at', '{"cf": {"versions": 2, "VERSIONS": 3}}');
SELECT widecol.alter_table('at', '{"cf": {"ttl": "-100000000 years"}}');

-- a family that a foreign table uses cannot be dropped from under it
SELECT widecol.alter_table('at_auto', '{"m": null}');
\echo :SQLSTATE
SELECT widecol.alter_table('at_auto', '{"f": null, "new": {}}');
ALTER FOREIGN TABLE at_auto DROP COLUMN map;
SELECT widecol.alter_table('at_auto', '{"m": null}');
SELECT family FROM widecol.describe('at_auto');
INSERT INTO at_auto VALUES (1, 1);
SELECT * FROM at_auto;

-- one that no column is in can be, also while another is added
SELECT widecol.alter_table('at', '{"r": null, "s": {"versions": 2}}');
SELECT family, versions, packing FROM widecol.describe('at');
SELECT count(*) FROM widecol.scan('at');

SET client_min_messages = warning;
DO $$
DECLARE name text;
BEGIN
  FOR name IN SELECT t.name FROM widecol.tables t WHERE t.name = 'at' OR t.name LIKE 'at\_%' LOOP
    EXECUTE format('DROP FOREIGN TABLE %I', name);
    PERFORM widecol.drop_table(name);
  END LOOP;
END $$;
DROP FUNCTION vs, alter_both, fill, ages, answers;
RESET client_min_messages;
RESET bytea_output;
