-- DISTINCT, DISTINCT ON, GROUP BY: one row of each prefix of the key
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';
-- the same plans on all versions: later ones than 15 ask for sorted rows below aggregates, and sort rows that are partly sorted below DISTINCT
DO $$ BEGIN PERFORM set_config(name, 'off', false) FROM pg_settings WHERE name IN ('enable_presorted_aggregate', 'enable_incremental_sort'); END $$;
CREATE SCHEMA d;
SET search_path = d;

CREATE FOREIGN TABLE d_actions (
  userid int         OPTIONS (rowkey '1'),
  stamp  timestamptz OPTIONS (rowkey '2', sort 'desc'),
  id     int         OPTIONS (rowkey '3'),
  name   text
) SERVER widecol;
INSERT INTO d_actions SELECT u, timestamptz '2026-01-02 10:00+00' + i / 2 * interval '1 minute', i, 'action ' || i % 10
FROM generate_series(1, 5) u, generate_series(1, 500) i;
ANALYZE d_actions;

-- the rows that EXPLAIN (ANALYZE) counts
CREATE FUNCTION examined(query text) RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Rows (Read|Examined)|Distinct' THEN RETURN NEXT; END IF;
  END LOOP;
END $$;

EXPLAIN (COSTS OFF) SELECT DISTINCT userid FROM d_actions;
SELECT DISTINCT userid FROM d_actions;
SELECT trim(line) FROM examined('SELECT DISTINCT userid FROM d_actions');

-- the newest of each user, and the oldest
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (userid) * FROM d_actions ORDER BY userid, stamp DESC, id;
SELECT DISTINCT ON (userid) * FROM d_actions ORDER BY userid, stamp DESC, id;
SELECT trim(line) FROM examined('SELECT DISTINCT ON (userid) * FROM d_actions ORDER BY userid, stamp DESC, id');
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (userid) * FROM d_actions ORDER BY userid, stamp, id DESC;
SELECT DISTINCT ON (userid) * FROM d_actions ORDER BY userid, stamp, id DESC;
SELECT DISTINCT ON (userid) * FROM d_actions ORDER BY userid DESC, stamp, id DESC LIMIT 2;
SELECT DISTINCT ON (userid) * FROM d_actions WHERE userid IN (2, 4) AND name = 'action 7' ORDER BY userid, stamp DESC;

-- groups, and aggregates that do not mind duplicates
EXPLAIN (COSTS OFF) SELECT userid FROM d_actions GROUP BY userid HAVING userid > 2;
SELECT userid FROM d_actions GROUP BY userid HAVING userid > 2;
EXPLAIN (COSTS OFF) SELECT count(DISTINCT userid), max(userid) FROM d_actions;
SELECT count(DISTINCT userid), max(userid) FROM d_actions;
SELECT count(DISTINCT userid) FILTER (WHERE userid % 2 = 0) FROM d_actions;
SELECT userid, count(DISTINCT stamp) FROM d_actions GROUP BY userid ORDER BY userid LIMIT 2;
SELECT DISTINCT userid % 2 AS odd FROM d_actions ORDER BY odd;
-- what cannot be sorted
SELECT odd FROM (SELECT DISTINCT (userid % 2)::text::xid AS odd FROM d_actions) x ORDER BY odd::text;
SELECT odd, greatest FROM (SELECT (userid % 2)::text::xid AS odd, max(userid) AS greatest FROM d_actions GROUP BY odd) x ORDER BY odd::text;
-- groups of one value, and of no row
SELECT userid, count(DISTINCT userid), max(userid) FROM d_actions WHERE userid = 3 GROUP BY userid;
SELECT userid, count(DISTINCT userid), max(userid) FROM d_actions WHERE userid = 6 GROUP BY userid;
SELECT userid FROM d_actions WHERE userid = 6 GROUP BY userid;
SELECT max(userid) FROM d_actions WHERE userid > 5 GROUP BY 'a'::text;
SELECT DISTINCT userid FROM d_actions WHERE userid = 6;
-- those that do
EXPLAIN (COSTS OFF) SELECT count(DISTINCT userid), sum(userid) FROM d_actions;

-- not: a condition that the session decides, an order that the key has not, a volatile function, a column that is not
-- in front; the setting
EXPLAIN (COSTS OFF) SELECT DISTINCT userid FROM d_actions WHERE length(name) > 3;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (userid) userid, stamp FROM d_actions ORDER BY userid, name;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (userid) userid, stamp FROM d_actions ORDER BY userid, id;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (userid) userid, random() < 2 FROM d_actions;
EXPLAIN (COSTS OFF) SELECT DISTINCT name FROM d_actions;
EXPLAIN (COSTS OFF) SELECT DISTINCT id FROM d_actions WHERE userid = 3;
SET widecol.enable_pushdown = off;
EXPLAIN (COSTS OFF) SELECT DISTINCT userid FROM d_actions;
RESET widecol.enable_pushdown;
-- a condition that turns out not to be decided when the scan runs
PREPARE beyond(numeric) AS SELECT DISTINCT userid FROM d_actions WHERE userid < $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE beyond(2.5);
EXECUTE beyond(1e20);
EXECUTE beyond('NaN');
RESET plan_cache_mode;

-- own writes
BEGIN;
INSERT INTO d_actions VALUES (0, '2026-01-01', 1, 'own'), (3, '2030-01-01', 1, 'own'), (3, '2020-01-01', 1, 'own');
DELETE FROM d_actions WHERE userid = 4 OR (userid = 5 AND stamp > '2026-01-02 11:00+00');
SELECT DISTINCT ON (userid) * FROM d_actions ORDER BY userid, stamp DESC, id;
SELECT DISTINCT ON (userid) * FROM d_actions ORDER BY userid, stamp, id DESC;
ROLLBACK;

-- a subquery that starts again; a cursor
SELECT u, (SELECT string_agg(userid::text, ',') FROM (SELECT DISTINCT userid FROM d_actions WHERE userid <= u) s)
FROM generate_series(1, 4) u;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT DISTINCT userid FROM d_actions ORDER BY userid DESC;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;

-- an equal first part, and the next one
EXPLAIN (COSTS OFF) SELECT DISTINCT stamp FROM d_actions WHERE userid = 3 AND stamp < '2026-01-02 10:05+00' ORDER BY stamp;
SELECT DISTINCT stamp FROM d_actions WHERE userid = 3 AND stamp < '2026-01-02 10:03+00' ORDER BY stamp;
SELECT DISTINCT userid FROM d_actions WHERE userid = 3;

-- parts of variable length, descending, bytes, a boolean
CREATE FOREIGN TABLE d_words (
  a text   OPTIONS (rowkey '1') COLLATE "C",
  b bytea  OPTIONS (rowkey '2', sort 'desc'),
  c bool   OPTIONS (rowkey '3'),
  d numeric OPTIONS (rowkey '4', sort 'desc'),
  v int
) SERVER widecol;
INSERT INTO d_words SELECT a, b, c, d, 1
FROM unnest(ARRAY['', 'a', 'aa', 'ab', 'é']) a, unnest(ARRAY['', '\x00', '\xff', '\xffff']::bytea[]) b, unnest(ARRAY[true, false]) c,
  generate_series(-20, 20) d;
ANALYZE d_words;
EXPLAIN (COSTS OFF) SELECT DISTINCT a, b FROM d_words;
SELECT DISTINCT a FROM d_words ORDER BY a;
SELECT a, string_agg(b::text, ' ') FROM (SELECT DISTINCT a, b FROM d_words ORDER BY a, b DESC) s GROUP BY a ORDER BY a;
SELECT DISTINCT b, a FROM d_words WHERE a > 'aa' ORDER BY b, a;
SELECT DISTINCT ON (a, b, c) a, b, c, d FROM d_words WHERE a IN ('', 'ab') AND b = '\xff' ORDER BY a, b DESC, c, d DESC;
SELECT DISTINCT ON (a, b, c) a, b, c, d FROM d_words WHERE a = 'ab' AND d < 5 ORDER BY a DESC, b, c DESC, d;
SELECT a, b, c FROM d_words WHERE a = 'é' AND c GROUP BY a, b, c ORDER BY b;
SELECT line FROM examined('SELECT DISTINCT a FROM d_words') line WHERE line ~ 'Read:';

-- between delimiters the rows are not in the order of the values
CREATE FOREIGN TABLE d_days (
  player text OPTIONS (rowkey '1') COLLATE "C",
  day    text OPTIONS (rowkey '2') COLLATE "C",
  n      int  OPTIONS (rowkey '3')
) SERVER widecol OPTIONS (delimiter '$');
INSERT INTO d_days SELECT p, '2026-01-0' || d, n FROM unnest(ARRAY['b', 'b!', 'a', 'a b']) p, generate_series(1, 3) d, generate_series(1, 50) n;
ANALYZE d_days;
EXPLAIN (COSTS OFF) SELECT DISTINCT player FROM d_days;
SELECT DISTINCT player FROM d_days ORDER BY player;
SELECT DISTINCT player, day FROM d_days WHERE player > 'a' ORDER BY player, day LIMIT 4;
SELECT DISTINCT day FROM d_days WHERE player = 'b' ORDER BY day;

-- salted
CREATE FOREIGN TABLE d_salted (
  a int OPTIONS (rowkey '1'),
  b int OPTIONS (rowkey '2', sort 'desc'),
  v int
) SERVER widecol OPTIONS (salt_buckets '4');
INSERT INTO d_salted SELECT a, b, a + b FROM generate_series(1, 4) a, generate_series(1, 500) b;
CREATE FOREIGN TABLE d_salted_by_a (
  a int OPTIONS (rowkey '1'),
  b int OPTIONS (rowkey '2', sort 'desc'),
  v int
) SERVER widecol OPTIONS (salt_buckets '4', salt_by 'a');
INSERT INTO d_salted_by_a SELECT * FROM d_salted;
ANALYZE d_salted, d_salted_by_a;
EXPLAIN (COSTS OFF) SELECT DISTINCT a FROM d_salted ORDER BY a;
SELECT DISTINCT a FROM d_salted ORDER BY a;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (a) * FROM d_salted ORDER BY a, b DESC;
SELECT DISTINCT ON (a) * FROM d_salted ORDER BY a, b DESC;
SELECT DISTINCT ON (a) * FROM d_salted ORDER BY a, b;
SELECT DISTINCT ON (a) * FROM d_salted_by_a ORDER BY a DESC, b;
SELECT trim(line) FROM examined('SELECT DISTINCT ON (a) * FROM d_salted_by_a ORDER BY a, b DESC');
SELECT DISTINCT a FROM d_salted_by_a WHERE a = 3;

-- rows of one type among those of others
CREATE FOREIGN TABLE d_orders (
  customer int  OPTIONS (rowkey '1'),
  kind     text OPTIONS (rowkey '2') COLLATE "C" CHECK (kind = 'o'),
  day      int  OPTIONS (rowkey '3'),
  id       int  OPTIONS (rowkey '4')
) SERVER widecol OPTIONS ("table" 'd_records');
CREATE FOREIGN TABLE d_notes (
  kind     text OPTIONS (rowkey '1') COLLATE "C" CHECK (kind = 'n'),
  customer int  OPTIONS (rowkey '2'),
  id       int  OPTIONS (rowkey '3')
) SERVER widecol;
INSERT INTO d_orders SELECT c, 'o', d, i FROM generate_series(1, 3) c, generate_series(1, 3) d, generate_series(1, 40) i;
INSERT INTO d_notes SELECT 'n', c, i FROM generate_series(1, 3) c, generate_series(1, 100) i;
ANALYZE d_orders, d_notes;
SELECT DISTINCT customer FROM d_orders ORDER BY customer;
SELECT DISTINCT day FROM d_orders WHERE customer = 2 ORDER BY day;
EXPLAIN (COSTS OFF) SELECT DISTINCT customer FROM d_notes;
SELECT DISTINCT customer FROM d_notes;
SELECT DISTINCT ON (customer) * FROM d_notes ORDER BY customer DESC, id DESC;

-- a hash part has its original in a cell; prefixes of one row are read as usual
CREATE FOREIGN TABLE d_hashed (a text OPTIONS (rowkey '1', encoding 'md5', qualifier 'a') COLLATE "C", b int OPTIONS (rowkey '2')) SERVER widecol;
INSERT INTO d_hashed SELECT 'a' || i % 2, i FROM generate_series(1, 400) i;
CREATE FOREIGN TABLE d_single (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2')) SERVER widecol;
INSERT INTO d_single SELECT i, i FROM generate_series(1, 1000) i;
ANALYZE d_hashed, d_single;
EXPLAIN (COSTS OFF) SELECT DISTINCT a FROM d_hashed;
SELECT DISTINCT a FROM d_hashed ORDER BY a;
-- a volatile aggregate sees every row
SELECT count(*) = (SELECT count(DISTINCT userid) FROM d_actions) AS all_are_there
  FROM (SELECT userid FROM d_actions GROUP BY userid HAVING count(DISTINCT random()) > 1) x;
EXPLAIN (COSTS OFF) SELECT DISTINCT a FROM d_single;

SET client_min_messages = warning;
DROP SCHEMA d CASCADE;
SELECT count(widecol.drop_table(t)) FROM unnest(ARRAY['d_actions', 'd_words', 'd_days', 'd_salted', 'd_salted_by_a', 'd_records', 'd_notes', 'd_hashed', 'd_single']) t;
