-- Case 5, browsing history, both ways: a row a visit, and a row a user with a
-- qualifier a visit.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(26);

CREATE FUNCTION plan_has(query text, pattern text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ pattern THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;

-- --- many rows, one column: user | time, the newest first ---------------------
CREATE FOREIGN TABLE visits (
  username text   OPTIONS (rowkey '1') COLLATE "C",
  at       bigint OPTIONS (rowkey '2', sort 'desc'),
  url      text
) SERVER widecol;

INSERT INTO visits
SELECT u, t, u || ' at ' || t FROM unnest(ARRAY['u1', 'u10', 'u2']) u, generate_series(10, 1000, 10) t;

SELECT is(url, 'u1 at 500', 'one visit') FROM visits WHERE username = 'u1' AND at = 500;
SELECT ok(plan_has($$SELECT url FROM visits WHERE username = 'u1' AND at = 500$$, 'POINT LOOKUP'), 'one visit is a Get');
SELECT results_eq($$SELECT at FROM visits WHERE username = 'u1' ORDER BY at DESC$$,
  $$SELECT 1010 - t FROM generate_series(10::bigint, 1000, 10) t$$, 'all visits of a user, and of no other');
SELECT ok(plan_has($$SELECT at FROM visits WHERE username = 'u1'$$, 'Start Row'), 'all visits of a user are a range');
SELECT results_eq($$SELECT at FROM visits WHERE username = 'u1' ORDER BY at DESC LIMIT 3$$,
  ARRAY[1000, 990, 980]::bigint[], 'the last three');
SELECT ok(plan_has($$SELECT at FROM visits WHERE username = 'u1' ORDER BY at DESC LIMIT 3$$, 'Row Limit: 3'),
  'the last three stop after three rows');
SELECT ok(NOT plan_has($$SELECT at FROM visits WHERE username = 'u1' ORDER BY at DESC LIMIT 3$$, 'Sort'),
  'the last three need no Sort');
SELECT results_eq($$SELECT at FROM visits WHERE username = 'u1' AND at BETWEEN 100 AND 120$$,
  ARRAY[120, 110, 100]::bigint[], 'those of a time');

-- HBase's own form of it: user and Long.MAX_VALUE - time.
CREATE FOREIGN TABLE reversed_time (
  username text   OPTIONS (rowkey '1', encoding 'text', length '2') COLLATE "C",
  at       bigint OPTIONS (rowkey '2', encoding 'binary', sort 'desc'),
  url      text   OPTIONS (qualifier '')
) SERVER widecol;
INSERT INTO reversed_time SELECT u, t, u || '@' || t FROM unnest(ARRAY['k1', 'k2']) u, unnest(ARRAY[100, 200, 300]) t;
SELECT results_eq($$SELECT encode("row", 'hex'), encode(value, 'escape') FROM widecol.scan('reversed_time', 'k1', 'k2')$$,
  $$VALUES ('6b317ffffffffffffed3', 'k1@300'), ('6b317fffffffffffff37', 'k1@200'), ('6b317fffffffffffff9b', 'k1@100')$$,
  'the bytes are HBase''s');
SELECT results_eq($$SELECT encode(value, 'escape') FROM widecol.scan('reversed_time', 'k2', row_limit => 2)$$,
  ARRAY['k2@300', 'k2@200'], 'the last two of k2');

-- --- one row, many columns: a qualifier is Long.MAX_VALUE - time ---------------
SELECT widecol.create_table('history', '{"cf": {}, "pages": {}}');
CREATE FOREIGN TABLE history (username text OPTIONS (rowkey '1') COLLATE "C") SERVER widecol;
CREATE FOREIGN TABLE history_cells ("row" text, family text, qualifier bytea, value text)
  SERVER widecol OPTIONS (table 'history', layout 'cell');

CREATE FUNCTION qualifier_of(t bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS
  'SELECT int8send(9223372036854775807 - t)';
CREATE FUNCTION time_of(q bytea) RETURNS bigint LANGUAGE sql IMMUTABLE AS
  $$SELECT 9223372036854775807 - ('x' || encode(q, 'hex'))::bit(64)::bigint$$;
CREATE FUNCTION column_of(t bigint, family text DEFAULT 'cf') RETURNS text LANGUAGE sql IMMUTABLE AS
  $$SELECT family || ':' || regexp_replace(encode(qualifier_of(t), 'hex'), '(..)', '\\x\1', 'g')$$;

SELECT widecol.put('history', u::bytea, column_of(t), (u || ' at ' || t)::bytea),
       widecol.put('history', u::bytea, column_of(t, 'pages'), t::text::bytea)
FROM unnest(ARRAY['u1', 'u2']) u, generate_series(10, 1000, 10) t;

SELECT is(count(*), 2::bigint, 'two rows') FROM history;
SELECT results_eq($$SELECT time_of(qualifier) FROM widecol.get('history', 'u1', '{cf}', column_limit => 3)$$,
  ARRAY[1000, 990, 980]::bigint[], 'the last three are the first three columns');
SELECT results_eq($$SELECT time_of(qualifier) FROM widecol.get('history', 'u1', '{cf}', column_limit => 3, column_offset => 3)$$,
  ARRAY[970, 960, 950]::bigint[], 'the next three');
SELECT results_eq($$SELECT time_of(qualifier) FROM widecol.get('history', 'u1', '{cf}', column_limit => 3, column_offset => 98)$$,
  ARRAY[20, 10]::bigint[], 'the last page is short');
SELECT is_empty($$SELECT * FROM widecol.get('history', 'u1', '{cf}', column_limit => 3, column_offset => 100)$$,
  'behind it is nothing');
SELECT results_eq($$SELECT family, time_of(qualifier) FROM widecol.get('history', 'u1', column_limit => 2, column_offset => 1)$$,
  $$VALUES ('cf', 990::bigint), ('cf', 980), ('pages', 990), ('pages', 980)$$, 'limit and offset are a family''s');
SELECT results_eq(
  $$SELECT encode("row", 'escape'), time_of(qualifier) FROM widecol.scan('history', columns => '{cf}', column_limit => 1)$$,
  $$VALUES ('u1', 1000::bigint), ('u2', 1000)$$, 'the last of each user');
SELECT results_eq($$SELECT encode(value, 'escape') FROM widecol.get('history', 'u1', ARRAY[column_of(500)])$$,
  ARRAY['u1 at 500'], 'one visit by its qualifier');

-- Page by page, ten visits each.
SELECT is(array_agg(t ORDER BY page, n), ARRAY(SELECT 1010 - t FROM generate_series(10::bigint, 1000, 10) t), 'ten pages are all of it')
FROM generate_series(0, 9) page, LATERAL (
  SELECT time_of(qualifier) AS t, row_number() OVER () AS n
  FROM widecol.get('history', 'u2', '{cf}', column_limit => 10, column_offset => page * 10)) cells;

-- Ranges of qualifiers, in SQL.
SELECT results_eq(
  $$SELECT value FROM history_cells WHERE "row" = 'u1' AND family = 'cf'
    AND qualifier >= qualifier_of(520) AND qualifier < qualifier_of(490)$$,
  ARRAY['u1 at 520', 'u1 at 510', 'u1 at 500'], 'a range of qualifiers is a range of time');
SELECT results_eq(
  $$SELECT value FROM history_cells WHERE "row" = 'u1' AND family = 'cf' AND qualifier > qualifier_of(20)$$,
  ARRAY['u1 at 10'], 'a range without an end');
SELECT results_eq(
  $$SELECT "row", value FROM history_cells WHERE family = 'cf' AND qualifier = qualifier_of(30)$$,
  $$VALUES ('u1', 'u1 at 30'), ('u2', 'u2 at 30')$$, 'one qualifier of all rows');
SELECT is_empty(
  $$SELECT value FROM history_cells WHERE "row" = 'u1' AND qualifier > qualifier_of(30) AND qualifier < qualifier_of(20)$$,
  'a range between two visits');

-- Deleted visits do not use up places on a page, files or not.
SELECT widecol.delete('history', 'u1', column_of(t)) FROM unnest(ARRAY[1000, 980]) t;
SELECT results_eq($$SELECT time_of(qualifier) FROM widecol.get('history', 'u1', '{cf}', column_limit => 3)$$,
  ARRAY[990, 970, 960]::bigint[], 'deleted visits are not counted');
SELECT widecol.flush('history');
SELECT widecol.put('history', 'u1', column_of(1010), 'u1 at 1010');
SELECT results_eq($$SELECT time_of(qualifier) FROM widecol.get('history', 'u1', '{cf}', column_limit => 3)$$,
  ARRAY[1010, 990, 970]::bigint[], 'a page out of memory and file');
SELECT widecol.major_compact('history');
SELECT results_eq($$SELECT time_of(qualifier) FROM widecol.get('history', 'u1', '{cf}', column_limit => 2, column_offset => 1)$$,
  ARRAY[990, 970]::bigint[], 'and after a major compaction');

SELECT * FROM finish();
