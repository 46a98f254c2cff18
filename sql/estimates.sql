-- How many rows the planner expects: of tables nobody has analyzed, or not since
-- they changed, the engine tells.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
CREATE SCHEMA estimates;
SET search_path = estimates, public;

-- the number of rows expected, and whether as many come, give or take a fifth and ten
CREATE FUNCTION expected(query text, OUT rows text) LANGUAGE plpgsql AS $$
DECLARE
  plan json;
  expected float8;
  actual float8;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT json) ' || query INTO plan;
  expected := plan->0->'Plan'->>'Plan Rows';
  actual := plan->0->'Plan'->>'Actual Rows';
  rows := CASE WHEN abs(expected - actual) <= actual / 5 + 10 THEN 'right' ELSE expected || ', not ' || actual END;
END $$;

CREATE FUNCTION expected_number(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  EXECUTE 'EXPLAIN ' || query INTO line;
  RETURN split_part(split_part(line, 'rows=', 2), ' ', 1);
END $$;

-- the session's knowledge of a table is up to a second old
CREATE FUNCTION later() RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(1.1)';

CREATE FOREIGN TABLE e (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), v int, t text) SERVER widecol
  OPTIONS (families '{"cf": {"packing": "row"}}');
CREATE FOREIGN TABLE s (k text OPTIONS (rowkey '1') COLLATE "C", n int) SERVER widecol
  OPTIONS (families '{"cf": {"packing": "cell"}}');
CREATE FUNCTION all_right() RETURNS TABLE (query text, rows text) LANGUAGE sql AS $$
  SELECT q, expected(q) FROM unnest(ARRAY[
    'SELECT * FROM e',
    'SELECT * FROM e WHERE a = 5',
    'SELECT * FROM e WHERE a = 5 AND b = 7',
    'SELECT * FROM e WHERE a = 5 AND b < 20',
    'SELECT * FROM e WHERE a BETWEEN 10 AND 49',
    'SELECT * FROM e WHERE a < 100',
    'SELECT * FROM e WHERE a >= 0',
    'SELECT * FROM e WHERE a IN (1, 2, 3)',
    'SELECT * FROM e WHERE a IN (1, 7, 13) AND b = 3',
    'SELECT * FROM e WHERE a = 10 OR a BETWEEN 20 AND 22',
    'SELECT * FROM e WHERE (a, b) > (150, 50)',
    'SELECT * FROM e WHERE a = -1',
    'SELECT * FROM e WHERE a > 1000',
    'SELECT * FROM s WHERE k LIKE ''u1%''',
    'SELECT * FROM s WHERE k = ''u123''',
    'SELECT * FROM s WHERE k >= ''u5''',
    'SELECT * FROM e JOIN s ON s.k = ''u'' || e.b WHERE e.a = 3'
  ]) q;
$$;

-- nothing, one row, many
SELECT expected('SELECT * FROM e WHERE a = 1 AND b = 1');
INSERT INTO e VALUES (1, 1);
SELECT later();
SELECT expected('SELECT * FROM e'), expected('SELECT * FROM e WHERE a = 1'), expected('SELECT * FROM e WHERE a > 1');
INSERT INTO e SELECT g / 100, g % 100, g % 10, 'x' FROM generate_series(0, 19999) g;
INSERT INTO s SELECT 'u' || g, g FROM generate_series(0, 9999) g;
SELECT later();
SELECT * FROM all_right() WHERE rows <> 'right';
SELECT widecol.flush('e'), widecol.flush('s');
SELECT later();
SELECT * FROM all_right() WHERE rows <> 'right';

-- rows of layout cell are cells
CREATE FOREIGN TABLE wide (k int OPTIONS (rowkey '1'), m jsonb OPTIONS (family 'cf')) SERVER widecol OPTIONS (table 'wide');
CREATE FOREIGN TABLE cells ("row" bytea, family text, qualifier text, ts bigint, value bytea) SERVER widecol OPTIONS (table 'wide', layout 'cell');
INSERT INTO wide
SELECT g, (SELECT jsonb_object_agg('c' || c, md5(c || '.' || g) || md5(g || '.' || c)) FROM generate_series(1, 20) c)
FROM generate_series(1, 500) g;
SELECT later();
SELECT expected('SELECT * FROM wide');
SELECT expected_number('SELECT * FROM cells') BETWEEN 5000 AND 20000 AS all_cells,
       expected_number('SELECT * FROM cells WHERE "row" = ''\x80000005''') BETWEEN 10 AND 40 AS of_a_row;

-- rows are those that the foreign table's families have
CREATE FOREIGN TABLE both_of (k int OPTIONS (rowkey '1'), v int, w int OPTIONS (family 'g')) SERVER widecol OPTIONS (table 'two');
CREATE FOREIGN TABLE one_of (k int OPTIONS (rowkey '1'), w int OPTIONS (family 'g')) SERVER widecol OPTIONS (table 'two', family 'g');
INSERT INTO both_of SELECT g, g, CASE WHEN g % 100 = 0 THEN g END FROM generate_series(1, 5000) g;
SELECT later();
SELECT expected('SELECT * FROM both_of'), expected('SELECT * FROM one_of'), expected('SELECT * FROM one_of WHERE k < 1000');
ANALYZE one_of;
SELECT expected('SELECT * FROM one_of'), expected('SELECT * FROM one_of WHERE k < 1000');

-- the results of ANALYZE are outdated
TRUNCATE e;
ANALYZE e, s;
INSERT INTO e SELECT g / 100, g % 100, g % 10, 'x' FROM generate_series(0, 19999) g;
SELECT later();
SELECT * FROM all_right() WHERE rows <> 'right';
ANALYZE e;
SELECT * FROM all_right() WHERE rows <> 'right' AND query !~ '-1';
DELETE FROM e WHERE a >= 20;
SELECT widecol.major_compact('e');
SELECT later();
SELECT expected('SELECT * FROM e'), expected('SELECT * FROM e WHERE a < 10'), expected('SELECT * FROM e WHERE a > 100');

DROP FUNCTION all_right, later, expected, expected_number;
SET client_min_messages = error;
DROP SCHEMA estimates CASCADE;
SELECT widecol.drop_table('e'), widecol.drop_table('s'), widecol.drop_table('wide'), widecol.drop_table('two');
