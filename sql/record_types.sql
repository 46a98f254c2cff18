-- Several types of records in one stored table, told apart by a constant part of the row key
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA record_types;
SET search_path = record_types, public;

-- customer | '1', customer | '2' | order, customer | '3' | order | line: all about a customer is together
CREATE FOREIGN TABLE customers (
  customer int OPTIONS (rowkey '1'),
  kind text OPTIONS (rowkey '2') COLLATE "C" DEFAULT '1' CHECK (kind = '1'),
  name text
) SERVER widecol OPTIONS ("table" 'shop');
CREATE FOREIGN TABLE orders (
  customer int OPTIONS (rowkey '1'),
  kind text OPTIONS (rowkey '2') COLLATE "C" GENERATED ALWAYS AS ('2') STORED,
  ordered timestamptz OPTIONS (rowkey '3'),
  total numeric
) SERVER widecol OPTIONS ("table" 'shop');
CREATE FOREIGN TABLE lines (
  customer int OPTIONS (rowkey '1'),
  kind text OPTIONS (rowkey '2') COLLATE "C" CHECK ('3' = kind AND line > 0),
  ordered timestamptz OPTIONS (rowkey '3'),
  line int OPTIONS (rowkey '4'),
  article text
) SERVER widecol OPTIONS ("table" 'shop');
CREATE FOREIGN TABLE everything (raw bytea OPTIONS (rowkey 'raw'), cf jsonb OPTIONS (family 'cf'))
  SERVER widecol OPTIONS ("table" 'shop');

-- writing: the constant fills itself in, or is checked
INSERT INTO customers (customer, name) SELECT i, 'customer ' || i FROM generate_series(1, 4) i;
INSERT INTO orders (customer, ordered, total) SELECT c, timestamptz '2026-01-01 00:00+00' + o * interval '1 day', c * 10 + o
  FROM generate_series(1, 3) c, generate_series(1, 3) o;
INSERT INTO orders (customer, ordered, total) VALUES (9, '2026-02-01 00:00+00', 99) RETURNING kind, total;
INSERT INTO lines SELECT c, '3', '2026-01-02 00:00+00', l, 'article ' || l FROM generate_series(1, 2) c, generate_series(1, 2) l;
INSERT INTO customers VALUES (5, '2', 'no');
INSERT INTO lines (customer, ordered, line, article) VALUES (1, '2026-01-02 00:00+00', 3, 'no');
INSERT INTO orders (customer, kind, ordered) VALUES (1, '3', '2026-01-02 00:00+00');
UPDATE customers SET kind = '2' WHERE customer = 1;
SELECT count(*) FROM everything;

-- reading: rows of other types do not turn up, whether the key's constant is named or not
SET timezone = 'UTC';
SET datestyle = 'ISO';
SELECT * FROM customers ORDER BY customer;
SELECT customer, ordered, total FROM orders ORDER BY customer, ordered;
SELECT * FROM lines;
SELECT count(*) FROM customers WHERE kind = '1';
SELECT count(*) FROM customers WHERE kind = '2';
SELECT count(*) FROM orders WHERE kind = '1';
SELECT count(*) FROM orders WHERE kind IN ('1', '2', '3');
SELECT customer, total FROM orders WHERE customer = 2;
SELECT customer, total FROM orders WHERE customer = 2 AND ordered > '2026-01-02 00:00+00';
SELECT customer, name FROM customers WHERE customer IN (1, 3, 9);
SELECT o.customer, c.name, sum(total) FROM customers c JOIN orders o USING (customer) GROUP BY 1, 2 ORDER BY 1;
SELECT name FROM customers OFFSET 1 LIMIT 2;
SELECT customer, kind FROM orders WHERE total > 30 ORDER BY customer DESC, ordered DESC LIMIT 2;

-- planning: the constant is in the range as if the query had named it
EXPLAIN (COSTS OFF) SELECT name FROM customers WHERE customer = 1;
EXPLAIN (COSTS OFF) SELECT total FROM orders WHERE customer = 1;
EXPLAIN (COSTS OFF) SELECT total FROM orders WHERE customer = 1 AND kind = '2';
EXPLAIN (COSTS OFF) SELECT total FROM orders WHERE customer = 1 ORDER BY ordered DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT total FROM orders WHERE customer = 1 ORDER BY kind, ordered LIMIT 3;
EXPLAIN (COSTS OFF) SELECT total FROM orders WHERE customer IN (1, 2) AND ordered > '2026-01-01';
-- where it cannot be, rows of other types are filtered; the order holds, and a limit counts the others only
EXPLAIN (COSTS OFF) SELECT total FROM orders ORDER BY customer, ordered LIMIT 3;
EXPLAIN (COSTS OFF) SELECT total FROM orders ORDER BY customer, kind, ordered LIMIT 3;
SELECT customer, total FROM orders ORDER BY customer, ordered LIMIT 4;
PREPARE one(int) AS SELECT count(*) FROM orders WHERE customer = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE one(1);
EXECUTE one(4);
-- the constraint stays while rows of other types are there
ALTER FOREIGN TABLE customers DROP CONSTRAINT customers_kind_check;
SELECT name FROM customers WHERE customer = 1 AND kind = '1';
SELECT count(*) FROM customers;
-- where it goes, a plan is made anew
CREATE FOREIGN TABLE alone (kind text OPTIONS (rowkey '1') COLLATE "C" CHECK (kind = 'a'), k int OPTIONS (rowkey '2'), v int) SERVER widecol;
INSERT INTO alone VALUES ('a', 1, 1);
PREPARE all_of_it AS SELECT * FROM alone;
EXECUTE all_of_it;
ALTER FOREIGN TABLE alone DROP CONSTRAINT alone_kind_check;
INSERT INTO alone VALUES ('b', 2, 2);
EXECUTE all_of_it;
ALTER FOREIGN TABLE alone ADD CHECK (kind = 'b') NOT VALID;
EXECUTE all_of_it;
DELETE FROM alone WHERE kind = 'a';
ALTER FOREIGN TABLE alone VALIDATE CONSTRAINT alone_kind_check;
EXECUTE all_of_it;
DEALLOCATE all_of_it;
RESET plan_cache_mode;

-- changing: rows of this type only
UPDATE orders SET total = 0 WHERE customer = 1;
UPDATE orders SET customer = 8 WHERE customer = 9 RETURNING customer, kind, ordered, total;
DELETE FROM lines;
SELECT count(*) FROM everything;
TRUNCATE orders;
DELETE FROM orders WHERE customer = 1;
SELECT customer, count(*) FROM orders GROUP BY 1;
SELECT count(*) FROM customers;
ANALYZE orders;
SELECT reltuples FROM pg_class WHERE oid = 'orders'::regclass;
SELECT n_distinct FROM pg_stats WHERE schemaname = 'record_types' AND tablename = 'orders' AND attname = 'kind';

-- the constant first; other types' keys are not of this shape at all
CREATE FOREIGN TABLE people (kind smallint OPTIONS (rowkey '1') CHECK (kind = 1), id int OPTIONS (rowkey '2'), name text)
  SERVER widecol OPTIONS ("table" 'first');
CREATE FOREIGN TABLE words (kind smallint OPTIONS (rowkey '1') GENERATED ALWAYS AS (1 + 1) STORED,
  word text OPTIONS (rowkey '2') COLLATE "C", n int) SERVER widecol OPTIONS ("table" 'first');
INSERT INTO people SELECT 1, i, 'p' || i FROM generate_series(-2, 2) i;
INSERT INTO words (word, n) VALUES ('', 0), ('a', 1), ('abcdef', 6);
SELECT * FROM people;
SELECT * FROM words WHERE word < 'b' ORDER BY word DESC;
EXPLAIN (COSTS OFF) SELECT * FROM people ORDER BY id DESC LIMIT 2;
EXPLAIN (COSTS OFF) SELECT * FROM words WHERE word LIKE 'a%';
SELECT * FROM words WHERE word LIKE 'a%';
DELETE FROM people;
SELECT count(*) FROM words;
ANALYZE people;
SELECT reltuples FROM pg_class WHERE oid = 'people'::regclass;

-- with a delimiter, as partitions of one table
CREATE TABLE events (day text COLLATE "C", kind text COLLATE "C", host text COLLATE "C", n int) PARTITION BY LIST (kind);
CREATE FOREIGN TABLE logins (day text OPTIONS (rowkey '1') COLLATE "C", kind text OPTIONS (rowkey '2') COLLATE "C",
  host text OPTIONS (rowkey '3') COLLATE "C", n int) SERVER widecol OPTIONS ("table" 'events', delimiter '/');
CREATE FOREIGN TABLE errors (day text OPTIONS (rowkey '1') COLLATE "C", kind text OPTIONS (rowkey '2') COLLATE "C",
  host text OPTIONS (rowkey '3') COLLATE "C", n int) SERVER widecol OPTIONS ("table" 'events', delimiter '/');
ALTER TABLE events ATTACH PARTITION logins FOR VALUES IN ('login');
ALTER TABLE events ATTACH PARTITION errors FOR VALUES IN ('error', 'panic');
INSERT INTO events SELECT '2026-01-0' || d, k, 'h' || d, d FROM generate_series(1, 3) d, unnest('{login, error, panic}'::text[]) k;
SELECT widecol.put('logins', 'odd', 'cf:n', '\x00000000');
SELECT * FROM logins;
SELECT count(*) FROM events;
SELECT kind, count(*) FROM errors GROUP BY kind ORDER BY kind;
SELECT count(*) FROM logins WHERE day = '2026-01-01';
EXPLAIN (COSTS OFF) SELECT * FROM logins WHERE day = '2026-01-01' AND host > 'a';
ALTER TABLE events DETACH PARTITION logins;
SELECT count(*) FROM logins WHERE day = '2026-01-01';

-- cursors, and a transaction's own rows
CREATE FOREIGN TABLE mine (customer int OPTIONS (rowkey '1'), kind text OPTIONS (rowkey '2') COLLATE "C" CHECK (kind = '1'), name text)
  SERVER widecol OPTIONS ("table" 'shop');
SELECT customer, name FROM mine WHERE name <> 'customer 2';
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT customer FROM mine ORDER BY customer;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
INSERT INTO mine VALUES (0, '1', 'own');
SELECT min(customer), count(*) FROM mine;
ROLLBACK;

-- random conditions, orders and limits beside heap tables with the same rows
SELECT setseed(0.42);
CREATE FOREIGN TABLE f1 (c int OPTIONS (rowkey '1'), kind text OPTIONS (rowkey '2') COLLATE "C" CHECK (kind = 'a'),
  o int OPTIONS (rowkey '3', sort 'desc'), p text OPTIONS (rowkey '4') COLLATE "C", v int) SERVER widecol OPTIONS ("table" 'random');
CREATE FOREIGN TABLE f2 (c int OPTIONS (rowkey '1'), kind text OPTIONS (rowkey '2') COLLATE "C" GENERATED ALWAYS AS ('ab') STORED,
  o int OPTIONS (rowkey '3', sort 'desc'), p text OPTIONS (rowkey '4') COLLATE "C", v int) SERVER widecol OPTIONS ("table" 'random');
CREATE FOREIGN TABLE f3 (c int OPTIONS (rowkey '1'), kind text OPTIONS (rowkey '2') COLLATE "C" CHECK (kind = ''), v int)
  SERVER widecol OPTIONS ("table" 'random');
INSERT INTO f1 SELECT random() * 20, 'a', random() * 10, substr('xyzw', 1 + (random() * 3)::int, (random() * 3)::int), random() * 5 FROM generate_series(1, 300);
INSERT INTO f2 (c, o, p, v) SELECT random() * 20, random() * 10, substr('xyzw', 1 + (random() * 3)::int, (random() * 3)::int), random() * 5 FROM generate_series(1, 300);
INSERT INTO f3 SELECT i, '', i FROM generate_series(0, 15) i;
CREATE TABLE h1 AS SELECT * FROM f1;
CREATE TABLE h2 AS SELECT * FROM f2;
CREATE FUNCTION condition() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  r float = random();
  op text = (ARRAY['=', '<', '>', '<=', '>=', '<>'])[1 + (random() * 5)::int];
  c int = random() * 20;
  o int = random() * 10;
  p text = substr('xyzw', 1 + (random() * 3)::int, (random() * 3)::int);
  kind text = (ARRAY['a', 'ab', '', 'b'])[1 + (random() * 3)::int];
BEGIN
  RETURN CASE
    WHEN r < .2 THEN format('c %s %s', op, c)
    WHEN r < .3 THEN format('c = %s', c)
    WHEN r < .4 THEN format('o %s %s', op, o)
    WHEN r < .5 THEN format('kind %s %L', op, kind)
    WHEN r < .6 THEN format('kind IN (%L, ''ab'')', kind)
    WHEN r < .7 THEN format('p %s %L', op, p)
    WHEN r < .75 THEN format('(c, kind) > (%s, %L)', c, kind)
    WHEN r < .8 THEN format('(c, kind, o) <= (%s, %L, %s)', c, kind, o)
    WHEN r < .85 THEN format('p LIKE %L', p || '%')
    WHEN r < .9 THEN format('v = %s', c % 5)
    ELSE format('(%s OR %s)', condition(), condition()) END;
END $$;
DO $$
DECLARE
  query text;
  ours text;
  heaps text;
BEGIN
  FOR i IN 1..500 LOOP
    query = format('SELECT string_agg(x::text, ''/'') FROM (SELECT c, kind, o, p, v FROM @%s WHERE %s AND %s ORDER BY %s%s) x', 1 + i % 2,
      condition(), condition(),
      (ARRAY['c, o DESC, p', 'c, kind, o DESC, p', 'c DESC, o, p DESC', 'o, c, p', 'p, c, o', 'c DESC, kind DESC, o, p DESC'])[1 + (random() * 5)::int],
      CASE WHEN i % 3 = 0 THEN format(' LIMIT %s OFFSET %s', i % 20, i % 5) END);
    EXECUTE replace(query, '@', 'f') INTO ours;
    EXECUTE replace(query, '@', 'h') INTO heaps;
    IF ours IS DISTINCT FROM heaps THEN
      RAISE WARNING '%: %, not %', query, ours, heaps;
    END IF;
  END LOOP;
END $$;
UPDATE f2 SET o = o + 100, c = c + 1;
SELECT (SELECT sum(o) + sum(c) FROM f2) = (SELECT sum(o + 100) + sum(c + 1) FROM h2) AS updated,
       (SELECT sum(o) + sum(c) FROM f1) = (SELECT sum(o) + sum(c) FROM h1) AS others, (SELECT count(*) FROM f3) AS third;

-- no constant: which instant a date is depends on the session's time zone
CREATE FOREIGN TABLE since (at timestamptz OPTIONS (rowkey '1') CHECK (at = date '2026-01-01'), id int OPTIONS (rowkey '2')) SERVER widecol;
EXPLAIN (COSTS OFF) SELECT * FROM since;

-- TRUNCATE of partitions whose bound is a constant of the key: allowed while the stored table has no other rows
CREATE TABLE visits (site text, id int, v text) PARTITION BY LIST (site);
CREATE FOREIGN TABLE visits_ab (site text OPTIONS (rowkey '1'), id int OPTIONS (rowkey '2'), v text) SERVER widecol;
ALTER TABLE visits ATTACH PARTITION visits_ab FOR VALUES IN ('a', 'b');
CREATE FOREIGN TABLE visits_c (site text OPTIONS (rowkey '1'), id int OPTIONS (rowkey '2'), v text) SERVER widecol;
ALTER TABLE visits ATTACH PARTITION visits_c FOR VALUES IN ('c');
CREATE FOREIGN TABLE visits_d (site text OPTIONS (rowkey '1'), id int OPTIONS (rowkey '2'), v text) SERVER widecol OPTIONS ("table" 'visits_c');
ALTER TABLE visits ATTACH PARTITION visits_d FOR VALUES IN ('d');
CREATE TABLE visits_rest PARTITION OF visits DEFAULT;
INSERT INTO visits SELECT chr(97 + i % 5), i, 'x' FROM generate_series(1, 50) i;
TRUNCATE visits_ab;
SELECT site, count(*) FROM visits GROUP BY 1 ORDER BY 1;
-- the stored table has rows of both
TRUNCATE visits_c;
TRUNCATE visits_d, visits_c;
SELECT site, count(*) FROM visits GROUP BY 1 ORDER BY 1;
INSERT INTO visits SELECT chr(97 + i % 5), i, 'x' FROM generate_series(1, 50) i;
TRUNCATE visits;
SELECT count(*) FROM visits;
-- rows that no foreign table shows, before, between and behind the constants; deleted ones, own ones
INSERT INTO visits VALUES ('a', 1, 'x'), ('b', 1, 'x'), ('c', 1, 'x');
CREATE FOREIGN TABLE all_visits (site text OPTIONS (rowkey '1'), id int OPTIONS (rowkey '2'), v text) SERVER widecol OPTIONS ("table" 'visits_ab');
INSERT INTO all_visits VALUES ('', 1, 'x');
TRUNCATE visits;
DELETE FROM all_visits WHERE site = '';
INSERT INTO all_visits VALUES ('aa', 1, 'x');
TRUNCATE visits;
UPDATE all_visits SET site = 'bb' WHERE site = 'aa';
TRUNCATE visits;
SELECT count(*) FROM visits;
-- all of them, if one of the truncated tables shows all
BEGIN;
TRUNCATE all_visits, visits;
SELECT count(*) FROM visits;
ROLLBACK;
BEGIN;
DELETE FROM all_visits WHERE site = 'bb';
TRUNCATE visits;
SELECT count(*) FROM visits;
INSERT INTO all_visits VALUES ('bb', 1, 'x');
SAVEPOINT s;
TRUNCATE visits;
ROLLBACK TO s;
COMMIT;
SELECT * FROM all_visits;
DROP TABLE visits;
DROP FOREIGN TABLE all_visits;
-- constants of two parts; of the second part alone; of the whole key
CREATE TABLE visits (site text, kind int, id int, v text) PARTITION BY LIST (site);
CREATE TABLE visits_c PARTITION OF visits FOR VALUES IN ('c') PARTITION BY LIST (kind);
CREATE FOREIGN TABLE visits_c12 (site text OPTIONS (rowkey '1'), kind int OPTIONS (rowkey '2'), id int OPTIONS (rowkey '3'), v text) SERVER widecol;
ALTER TABLE visits_c ATTACH PARTITION visits_c12 FOR VALUES IN (1, 2);
CREATE FOREIGN TABLE all_visits (site text OPTIONS (rowkey '1'), kind int OPTIONS (rowkey '2'), id int OPTIONS (rowkey '3'), v text) SERVER widecol OPTIONS ("table" 'visits_c12');
INSERT INTO visits VALUES ('c', 1, 1, 'x'), ('c', 2, 1, 'x');
INSERT INTO all_visits VALUES ('c', 0, 1, 'x');
TRUNCATE visits;
UPDATE all_visits SET kind = 3 WHERE kind = 0;
TRUNCATE visits;
UPDATE all_visits SET kind = 2, id = 7 WHERE kind = 3;
TRUNCATE visits;
SELECT count(*) FROM all_visits;
DROP TABLE visits;
DROP FOREIGN TABLE all_visits;
CREATE FOREIGN TABLE second (site text OPTIONS (rowkey '1'), kind int OPTIONS (rowkey '2') CHECK (kind = 1), id int OPTIONS (rowkey '3'), v text) SERVER widecol;
TRUNCATE second;
CREATE FOREIGN TABLE one (site text OPTIONS (rowkey '1') CHECK (site = 'a'), v text) SERVER widecol;
TRUNCATE one;
DROP FOREIGN TABLE second, one;
-- constants that are too long for a key: no row has them
CREATE TABLE codes (code text COLLATE "C", id int) PARTITION BY LIST (code);
CREATE FOREIGN TABLE codes_abc (code text OPTIONS (rowkey '1', length '4') COLLATE "C", id int OPTIONS (rowkey '2')) SERVER widecol;
ALTER TABLE codes ATTACH PARTITION codes_abc FOR VALUES IN ('abc', 'abcde');
CREATE FOREIGN TABLE codes_long (code text OPTIONS (rowkey '1', length '4') COLLATE "C", id int OPTIONS (rowkey '2')) SERVER widecol OPTIONS ("table" 'codes_abc');
ALTER TABLE codes ATTACH PARTITION codes_long FOR VALUES IN ('abcdef');
CREATE FOREIGN TABLE all_codes (code text OPTIONS (rowkey '1', length '4') COLLATE "C", id int OPTIONS (rowkey '2')) SERVER widecol OPTIONS ("table" 'codes_abc');
INSERT INTO codes VALUES ('abc', 1);
INSERT INTO all_codes VALUES ('abcd', 1);
TRUNCATE codes;
DELETE FROM all_codes WHERE code = 'abcd';
TRUNCATE codes_long;
TRUNCATE codes;
TRUNCATE codes_long;
SELECT count(*) FROM all_codes;
DROP TABLE codes;
DROP FOREIGN TABLE all_codes;
-- booleans, whose constants PostgreSQL writes without =
CREATE TABLE flags (f boolean, id int) PARTITION BY LIST (f);
CREATE FOREIGN TABLE flags_no (f boolean OPTIONS (rowkey '1'), id int OPTIONS (rowkey '2')) SERVER widecol;
ALTER TABLE flags ATTACH PARTITION flags_no FOR VALUES IN (false);
CREATE FOREIGN TABLE flags_yes (f boolean OPTIONS (rowkey '1'), id int OPTIONS (rowkey '2')) SERVER widecol OPTIONS ("table" 'flags_no');
ALTER TABLE flags ATTACH PARTITION flags_yes FOR VALUES IN (true);
CREATE FOREIGN TABLE checked (f boolean OPTIONS (rowkey '1') CHECK (f = true), id int OPTIONS (rowkey '2')) SERVER widecol OPTIONS ("table" 'flags_no');
INSERT INTO flags SELECT i % 3 = 0, i FROM generate_series(1, 9) i;
SELECT tableoid::regclass, f, count(*) FROM flags GROUP BY 1, 2 ORDER BY 1, 2;
SELECT * FROM flags WHERE id IN (2, 3) ORDER BY id;
SELECT count(*) FROM flags_no WHERE f;
SELECT * FROM checked ORDER BY id;
EXPLAIN (COSTS OFF) SELECT * FROM checked;
TRUNCATE flags_no;
TRUNCATE flags_yes;
TRUNCATE flags;
SELECT count(*) FROM flags;
DROP TABLE flags;
DROP FOREIGN TABLE checked;
-- NULL in a partition's bound, which no part of a key is
CREATE TABLE maybe (site text, id int) PARTITION BY LIST (site);
CREATE FOREIGN TABLE maybe_a (site text OPTIONS (rowkey '1'), id int OPTIONS (rowkey '2')) SERVER widecol;
ALTER TABLE maybe ATTACH PARTITION maybe_a FOR VALUES IN (NULL, 'a');
CREATE FOREIGN TABLE maybe_bc (site text OPTIONS (rowkey '1'), id int OPTIONS (rowkey '2')) SERVER widecol OPTIONS ("table" 'maybe_a');
ALTER TABLE maybe ATTACH PARTITION maybe_bc FOR VALUES IN ('b', 'c');
INSERT INTO maybe VALUES ('a', 1), ('b', 1), ('c', 1);
SELECT tableoid::regclass, * FROM maybe ORDER BY 2;
TRUNCATE maybe_a;
TRUNCATE maybe;
DROP TABLE maybe;
SELECT widecol.drop_table(t) FROM unnest('{visits_c12, second, one, codes_abc, flags_no, maybe_a}'::text[]) t;
SELECT widecol.drop_table('visits_ab'), widecol.drop_table('visits_c');

DROP TABLE events;
DROP SCHEMA record_types CASCADE;
SELECT widecol.drop_table(t) FROM unnest('{shop, first, events, random, alone, since}'::text[]) t;
