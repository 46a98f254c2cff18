-- Case 3, emp: cells put, replaced and deleted, counters, and what becomes of
-- deleted cells with and without KEEP_DELETED_CELLS.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(39);

SELECT widecol.create_table('emp', '{"personal": {}, "professional": {}}');
CREATE FOREIGN TABLE emp (
  id          text OPTIONS (rowkey '1') COLLATE "C",
  name        text OPTIONS (family 'personal'),
  city        text OPTIONS (family 'personal'),
  designation text OPTIONS (family 'professional'),
  salary      text OPTIONS (family 'professional')
) SERVER widecol;

SELECT widecol.put('emp', '1', 'personal:city', 'hyderabad', 1417521848375),
       widecol.put('emp', '1', 'personal:name', 'ramu', 1417521785385),
       widecol.put('emp', '1', 'professional:designation', 'manager', 1417521885277),
       widecol.put('emp', '1', 'professional:salary', '50000', 1417521903862),
       widecol.put('emp', '2', 'personal:city', 'chennai', 1417524574905),
       widecol.put('emp', '2', 'personal:name', 'ravi', 1417524556125),
       widecol.put('emp', '2', 'professional:designation', 'sr:engg', 1417524204),
       widecol.put('emp', '2', 'professional:salary', '30000', 1417524604221),
       widecol.put('emp', '3', 'personal:city', 'delhi', 1417524681780),
       widecol.put('emp', '3', 'personal:name', 'rajesh', 1417524672067),
       widecol.put('emp', '3', 'professional:designation', 'jr:engg', 1417523187),
       widecol.put('emp', '3', 'professional:salary', '25000', 1417524702514);

-- A row, and one column of it.
SELECT results_eq(
  $$SELECT family, encode(qualifier, 'escape'), ts, encode(value, 'escape') FROM widecol.get('emp', '1')$$,
  $$VALUES ('personal', 'city', 1417521848375, 'hyderabad'), ('personal', 'name', 1417521785385, 'ramu'),
           ('professional', 'designation', 1417521885277, 'manager'), ('professional', 'salary', 1417521903862, '50000')$$,
  'get a row');
SELECT results_eq(
  $$SELECT family, encode(qualifier, 'escape'), ts, encode(value, 'escape') FROM widecol.get('emp', '1', '{personal:name}')$$,
  $$VALUES ('personal', 'name', 1417521785385, 'ramu')$$, 'get one column');
SELECT results_eq($$SELECT * FROM emp e ORDER BY e.id$$,
  $$VALUES ('1' COLLATE "C", 'ramu', 'hyderabad', 'manager', '50000'), ('2', 'ravi', 'chennai', 'sr:engg', '30000'),
           ('3', 'rajesh', 'delhi', 'jr:engg', '25000')$$, 'the same three in SQL');

-- A put replaces.
SELECT widecol.put('emp', '3', 'personal:city', 'mumbai');
SELECT is(city, 'mumbai', 'put replaces a value') FROM emp WHERE id = '3';
UPDATE emp SET city = 'pune' WHERE id = '3';
SELECT results_eq($$SELECT encode(value, 'escape') FROM widecol.get('emp', '3', '{personal:city}', versions => 5)$$,
  ARRAY['pune'], 'a family of one version has no more than one');
SELECT widecol.put('emp', '3', 'personal:city', 'long ago', 5);
SELECT is(city, 'pune', 'an older put hides behind a newer one') FROM emp WHERE id = '3';

-- Delete a cell at its timestamp.
SELECT widecol.delete_version('emp', '1', 'personal:city', 1417521848374);
SELECT is(city, 'hyderabad', 'another timestamp deletes nothing') FROM emp WHERE id = '1';
SELECT widecol.delete_version('emp', '1', 'personal:city', 1417521848375);
SELECT results_eq(
  $$SELECT family, encode(qualifier, 'escape'), encode(value, 'escape') FROM widecol.get('emp', '1')$$,
  $$VALUES ('personal', 'name', 'ramu'), ('professional', 'designation', 'manager'), ('professional', 'salary', '50000')$$,
  'one cell is gone');
SELECT is(city, NULL, 'and NULL in SQL') FROM emp WHERE id = '1';
SELECT widecol.delete('emp', '1', 'professional:salary', 1417521903862);
SELECT is(salary, NULL, 'every version up to a time') FROM emp WHERE id = '1';

-- deleteall, and the remaining cells.
SELECT widecol.deleteall('emp', '1');
SELECT is_empty($$SELECT * FROM widecol.get('emp', '1')$$, 'deleteall deletes the row');
SELECT results_eq($$SELECT DISTINCT encode("row", 'escape') FROM widecol.scan('emp') ORDER BY 1$$, ARRAY['2', '3'],
  'a scan shows the remaining cells');
SELECT results_eq($$SELECT family, type FROM widecol.scan('emp', row_prefix => '1', raw => true) WHERE type = 'DeleteFamily'$$,
  $$VALUES ('personal', 'DeleteFamily'), ('professional', 'DeleteFamily')$$, 'a raw scan shows a marker in each family');
SELECT widecol.put('emp', '1', 'personal:name', 'before', 1417521785386);
SELECT is_empty($$SELECT * FROM widecol.get('emp', '1')$$, 'an older put that comes later stays hidden');
SELECT widecol.flush('emp');
SELECT widecol.major_compact('emp');
SELECT is_empty($$SELECT * FROM widecol.scan('emp', row_prefix => '1', raw => true)$$,
  'after a major compaction not even the markers are left');
SELECT results_eq($$SELECT count(*) FROM widecol.scan('emp')$$, ARRAY[8::bigint], 'two rows of four cells are');
SELECT widecol.put('emp', '1', 'personal:name', 'before', 1417521785386);
SELECT is(name, 'before', 'the same put once more shows') FROM emp WHERE id = '1';

-- A counter is eight bytes, the greatest first.
SELECT is(widecol.incr('emp', 'visits', 'personal:count'), 1::bigint, 'a counter begins with 1');
SELECT results_eq($$SELECT encode(value, 'hex') FROM widecol.get('emp', 'visits', '{personal:count}')$$,
  ARRAY['0000000000000001'], 'and is 00...01');
SELECT is(widecol.incr('emp', 'visits', 'personal:count', 10), 11::bigint, 'by ten');
SELECT is(widecol.incr('emp', 'visits', 'personal:count', -12), (-1)::bigint, 'below zero');

-- KEEP_DELETED_CELLS, both listings step by step.
CREATE FUNCTION cells(tab regclass, raw boolean DEFAULT true, range int8range DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(string_agg(ts || ' ' || type, ', '), 'nothing')
  FROM widecol.scan(tab, versions => 1000, raw => raw, time_range => range)
$$;
SELECT widecol.create_table('forgets', '{"e": {"versions": 2147483647}}'),
       widecol.create_table('keeps', '{"e": {"versions": 2147483647, "keep_deleted_cells": true}}');
CREATE FOREIGN TABLE forgets (k bytea OPTIONS (rowkey 'raw')) SERVER widecol;
CREATE FOREIGN TABLE keeps (k bytea OPTIONS (rowkey 'raw')) SERVER widecol;
SELECT widecol.put(tab, 'r1', 'e:c1', 'value', ts)
FROM unnest(ARRAY['forgets', 'keeps']::regclass[]) tab, unnest(ARRAY[10, 12, 14]) ts;
SELECT widecol.delete(tab, 'r1', 'e:c1', 11) FROM unnest(ARRAY['forgets', 'keeps']::regclass[]) tab;

SELECT is(cells('forgets'), '14 Put, 12 Put, 11 DeleteColumn, 10 Put', 'false: in memory everything is there');
SELECT is(cells('forgets', false), '14 Put, 12 Put', 'false: a read sees two');
SELECT is(cells('forgets', false, '[0,11)'), 'nothing', 'false: nothing of the past that was deleted');
SELECT is(cells('forgets', false, '[0,13)'), '12 Put', 'false: only the cell that was not deleted');
SELECT widecol.flush('forgets');
SELECT is(cells('forgets'), '14 Put, 12 Put, 11 DeleteColumn', 'false: a flush drops what a marker hides');
SELECT widecol.major_compact('forgets');
SELECT is(cells('forgets'), '14 Put, 12 Put', 'false: a major compaction drops the marker too');
SELECT is(cells('forgets', false), '14 Put, 12 Put', 'false: a read sees two, as before');

SELECT is(cells('keeps'), '14 Put, 12 Put, 11 DeleteColumn, 10 Put', 'true: in memory everything is there');
SELECT widecol.flush('keeps');
SELECT is(cells('keeps'), '14 Put, 12 Put, 11 DeleteColumn, 10 Put', 'true: after a flush too');
SELECT widecol.major_compact('keeps');
SELECT is(cells('keeps'), '14 Put, 12 Put, 11 DeleteColumn, 10 Put', 'true: after a major compaction too');
SELECT is(cells('keeps', false), '14 Put, 12 Put', 'true: a read sees two');
SELECT is(cells('keeps', false, '[0,11)'), '10 Put', 'true: a read of the past sees a cell that was deleted later');
SELECT is(cells('keeps', false, '[0,12)'), 'nothing', 'true: a range with the marker does not');

-- Kept cells count as versions; a marker goes when no put is older, which is one
-- compaction later than the put it hides.
SELECT widecol.alter_table('keeps', '{"e": {"versions": 2}}');
SELECT is(cells('keeps', false, '[0,11)'), '10 Put', 'fewer versions: still there until the next compaction');
SELECT widecol.major_compact('keeps');
SELECT is(cells('keeps'), '14 Put, 12 Put, 11 DeleteColumn', 'fewer versions: a compaction drops the older ones');
SELECT is(cells('keeps', false, '[0,11)'), 'nothing', 'fewer versions: and with it the past');
SELECT widecol.major_compact('keeps');
SELECT is(cells('keeps'), '14 Put, 12 Put', 'fewer versions: the next one drops the marker');
SELECT widecol.put('keeps', 'r1', 'e:c1', 'late', 9);
SELECT is(cells('keeps', false, '[0,11)'), '9 Put', 'no marker is left to hide an older put');

SELECT * FROM finish();
