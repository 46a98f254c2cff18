-- HBase's filter language: widecol.scan, get and count with a filter.
-- The results of each filter are tested by test/unit/test_filterlang.c and test/conformance/filters.py.
\set VERBOSITY default
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SELECT widecol.create_table('flt', '{"f": {"versions": 3}, "g": {}}') \g /dev/null
SELECT widecol.put('flt', 'r1', 'f:a', '1', 10), widecol.put('flt', 'r1', 'f:a', '5', 20), widecol.put('flt', 'r1', 'g:c', '3', 10),
       widecol.put('flt', 'r2', 'f:a', '7', 10), widecol.put('flt', 'r3', 'g:c', '4', 20), widecol.put('flt', 's', 'f:b', 'é', 10) \g /dev/null
CREATE FUNCTION flt_cells(widecol.cell) RETURNS text IMMUTABLE LANGUAGE sql
AS $$ SELECT format('%s/%s:%s@%s=%s', widecol.to_string($1."row"), $1.family, widecol.to_string($1.qualifier), $1.ts, convert_from($1.value, 'UTF8')) $$;

-- the three functions that take one, by foreign table and by name
CREATE FOREIGN TABLE flt_all ("row" bytea, family text, qualifier bytea, ts bigint, value bytea)
  SERVER widecol OPTIONS ("table" 'flt', layout 'cell');
SELECT flt_cells(c) FROM widecol.scan('flt', filter => $$PrefixFilter('r') AND SingleColumnValueFilter('f', 'a', >=, 'binary:5')$$) c;
SELECT flt_cells(c) FROM widecol.scan('flt_all'::regclass, filter => $$ValueFilter(=, 'regexstring:^[1-4]$')$$, versions => 2) c;
SELECT flt_cells(c) FROM widecol.scan('flt', reversed => true, row_limit => 1, filter => $$FamilyFilter(=, 'binary:g')$$) c;
SELECT flt_cells(c) FROM widecol.get('flt', 'r1', filter => $$ColumnPaginationFilter(1, 1)$$) c;
SELECT flt_cells(c) FROM widecol.get('flt_all'::regclass, 'r1', filter => $$QualifierFilter(!=, 'binary:a')$$) c;
SELECT flt_cells(c) FROM widecol.get('flt', ARRAY['r1', 'r2', 's'], filter => $$PageFilter(1) AND ColumnPrefixFilter('a')$$) c;
SELECT widecol.count('flt', filter => $$ColumnPrefixFilter('a')$$), widecol.count('flt_all'::regclass, filter => $$KeyOnlyFilter()$$),
       widecol.count('flt', columns => '{g}', filter => $$SingleColumnValueFilter('f', 'a', =, 'binary:5', true, true)$$);
SELECT widecol.count('flt', filter => NULL), count(*) FROM widecol.scan('flt', filter => NULL);

-- bytes beyond text; letters
SELECT flt_cells(c) FROM widecol.scan('flt', filter => $$RowFilter(>=, 'binary:' X'7272') OR RowFilter(=, 'binary:r' X'32')$$) c;
SELECT flt_cells(c) FROM widecol.scan('flt', filter => $$ValueFilter(=, 'substring:É')$$) c;

-- a transaction sees its own writes through the filter
BEGIN;
SELECT widecol.put('flt', 'r2', 'f:a', '9') \g /dev/null
SELECT widecol.delete('flt', 'r1', 'f:a') \g /dev/null
SELECT widecol.to_string("row"), convert_from(value, 'UTF8') FROM widecol.scan('flt', filter => $$ValueFilter(>=, 'binary:5') AND RowFilter(<, 'binary:s')$$);
ROLLBACK;

-- below a LIMIT; rows of more than a block
SELECT flt_cells(c) FROM widecol.scan('flt', filter => $$KeyOnlyFilter()$$) c LIMIT 2;
SELECT widecol.put('flt', 'wide', 'f:' || i, repeat('x', 100), 10) FROM generate_series(1, 3000) i \g /dev/null
SELECT count(*), sum(length(value)) FROM widecol.scan('flt', filter => $$SKIP ValueFilter(=, 'substring:XX') AND PrefixFilter('wide')$$);
SELECT count(*), sum(length(value)) FROM widecol.scan('flt', filter => $$ColumnRangeFilter('1', true, '2', false) AND PrefixFilter('wide')$$);

-- privileges: a filter may read cells that the caller must not see
CREATE ROLE flt_role;
CREATE FOREIGN TABLE flt_rows (k text OPTIONS (rowkey '1') COLLATE "C", a text OPTIONS (family 'f'))
  SERVER widecol OPTIONS ("table" 'flt');
GRANT SELECT ON flt_all, flt_rows TO flt_role;
SET ROLE flt_role;
SELECT count(*) FROM widecol.scan('flt_all'::regclass, row_prefix => 'r', filter => $$ColumnPrefixFilter('a')$$);
SELECT count(*) FROM widecol.scan('flt_rows'::regclass, row_prefix => 'r');
SELECT count(*) FROM widecol.scan('flt_rows'::regclass, filter => $$ColumnPrefixFilter('a')$$);
SELECT count(*) FROM widecol.scan('default:flt', filter => $$ColumnPrefixFilter('a')$$);
RESET ROLE;

-- texts that are not of the language
SELECT widecol.count('flt', filter => '');
SELECT widecol.count('flt', filter => $$PrefixFilter('é') AND$$);
SELECT widecol.count('flt', filter => $$NoFilter()$$);
SELECT widecol.count('flt', filter => $$RowFilter(=, 'regexstring:[a[b]]')$$);
SELECT widecol.count('flt', filter => repeat('SKIP ', 40) || 'KeyOnlyFilter()');
SELECT widecol.count('flt', filter => format('PrefixFilter(%L)', repeat('x', 1024 * 1024)));
-- limits of comparators
SELECT widecol.count('flt', filter => $$ValueFilter(=, 'long:5')$$);
SELECT widecol.put('flt', 'x', 'f:a', repeat('a', 100)) \g /dev/null
SELECT widecol.count('flt', start_row => 'x', filter => $$ValueFilter(=, 'regexstring:(a+)+[bd]')$$);
SELECT widecol.put('flt', 'y', 'f:a', repeat('a', 100000)) \g /dev/null
SELECT widecol.count('flt', start_row => 'y', filter => $$ValueFilter(=, 'regexstring:a*a*[yz]')$$);
SELECT widecol.count('flt', start_row => 'y', filter => $$ValueFilter(=, 'regexstring:^.*a.*$')$$);

DROP FOREIGN TABLE flt_all, flt_rows;
SELECT widecol.drop_table('flt') \g /dev/null
DROP FUNCTION flt_cells;
DROP ROLE flt_role;
