-- Foreign tables as partitions and as children in inheritance trees, mixed with
-- heap tables: the same statements over a copy of heap tables alone tell the same.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA parts;
CREATE SCHEMA heap;
SET search_path = parts, public;
SET datestyle = 'ISO';

-- runs a statement over parts and over heap; a difference is shown
CREATE FUNCTION same(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  here text[];
  there text[];
BEGIN
  SET LOCAL search_path = parts, public;
  EXECUTE CASE WHEN statement ~* '^(insert|update|delete).*returning' THEN format('WITH q AS (%s) SELECT array_agg(q::text ORDER BY q::text) FROM q', statement)
               ELSE format('SELECT array_agg(q::text) FROM (%s) q', statement) END INTO here;
  SET LOCAL search_path = heap, parts, public;
  EXECUTE CASE WHEN statement ~* '^(insert|update|delete).*returning' THEN format('WITH q AS (%s) SELECT array_agg(q::text ORDER BY q::text) FROM q', statement)
               ELSE format('SELECT array_agg(q::text) FROM (%s) q', statement) END INTO there;
  SET LOCAL search_path = parts, public;
  IF here IS DISTINCT FROM there THEN
    RETURN QUERY SELECT 'parts: ' || coalesce(r, 'nothing') FROM unnest(here) r;
    RETURN QUERY SELECT 'heap: ' || coalesce(r, 'nothing') FROM unnest(there) r;
  ELSE
    RETURN NEXT coalesce(array_length(here, 1), 0) || ' rows, the same';
  END IF;
END $$;

-- --- by range, with a heap partition and a default one ------------------------

CREATE TABLE visits (site int NOT NULL, at date NOT NULL, n int, page text) PARTITION BY RANGE (at);
CREATE FOREIGN TABLE visits_1 (site int OPTIONS (rowkey '1') NOT NULL, at date OPTIONS (rowkey '2') NOT NULL, n int, page text) SERVER widecol;
CREATE FOREIGN TABLE visits_2 (n int, page text, dropped int, at date OPTIONS (rowkey '2') NOT NULL, site int OPTIONS (rowkey '1') NOT NULL) SERVER widecol;
ALTER FOREIGN TABLE visits_2 DROP COLUMN dropped;		-- columns in another order
CREATE TABLE visits_3 PARTITION OF visits FOR VALUES FROM ('2024-03-01') TO ('2024-04-01');
CREATE FOREIGN TABLE visits_d (site int OPTIONS (rowkey '1') NOT NULL, at date OPTIONS (rowkey '2') NOT NULL, n int, page text) SERVER widecol;
ALTER TABLE visits ATTACH PARTITION visits_1 FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
ALTER TABLE visits ATTACH PARTITION visits_2 FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
ALTER TABLE visits ATTACH PARTITION visits_d DEFAULT;

CREATE TABLE heap.visits (site int NOT NULL, at date NOT NULL, n int, page text) PARTITION BY RANGE (at);
CREATE TABLE heap.visits_1 PARTITION OF heap.visits FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
CREATE TABLE heap.visits_2 PARTITION OF heap.visits FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
CREATE TABLE heap.visits_3 PARTITION OF heap.visits FOR VALUES FROM ('2024-03-01') TO ('2024-04-01');
CREATE TABLE heap.visits_d PARTITION OF heap.visits DEFAULT;

-- INSERT and COPY go to where the row belongs
INSERT INTO visits
SELECT s, d, s * 100 + extract(day FROM d)::int, CASE WHEN s % 3 > 0 THEN 'page ' || s END
FROM generate_series(1, 10) s, generate_series('2023-12-30'::date, '2024-04-05', '1 day') d;
COPY visits FROM stdin;
11	2024-01-05	1	\N
11	2024-02-05	2	two
11	2024-03-05	3	three
11	2025-01-01	4	four
\.
INSERT INTO heap.visits SELECT * FROM visits;
SELECT tableoid::regclass::text, count(*), min(at), max(at) FROM visits GROUP BY 1 ORDER BY 1;
INSERT INTO visits VALUES (12, '2024-02-29', 1, 'leap') RETURNING tableoid::regclass, *;
INSERT INTO visits VALUES (13, '2024-02-29', 1, 'leap') RETURNING site, ctid;
DELETE FROM visits WHERE ctid IN (SELECT ctid FROM visits LIMIT 1);
MERGE INTO visits v USING (VALUES (12, date '2024-02-29')) n (site, at) ON v.site = n.site AND v.at = n.at
	WHEN MATCHED THEN UPDATE SET page = 'merged';
MERGE INTO visits v USING (VALUES (12)) n (site) ON v.site = n.site WHEN MATCHED THEN DO NOTHING;
BEGIN;
CREATE TABLE sites (site int PRIMARY KEY, last date);
MERGE INTO sites s USING (SELECT site, max(at) AS at FROM visits GROUP BY site) v ON s.site = v.site
	WHEN MATCHED THEN UPDATE SET last = v.at WHEN NOT MATCHED THEN INSERT VALUES (v.site, v.at);
SELECT count(*), max(last) FROM sites;
ROLLBACK;
SELECT count(*) FROM (SELECT site, tableoid FROM visits WHERE site < 3 FOR UPDATE) v;
INSERT INTO heap.visits VALUES (12, '2024-02-29', 1, 'leap');
INSERT INTO visits_1 VALUES (12, '2024-02-29', 1, 'wrong');
INSERT INTO visits VALUES (12, NULL, 1, 'nothing');

-- pruned when planned, and when run
EXPLAIN (COSTS OFF) SELECT * FROM visits WHERE at = '2024-01-15';
EXPLAIN (COSTS OFF) SELECT n FROM visits WHERE site = 3 AND at BETWEEN '2024-01-15' AND '2024-02-15';
SELECT same($$SELECT * FROM visits WHERE site = 3 AND at BETWEEN '2024-01-15' AND '2024-03-15' ORDER BY at$$);
PREPARE by_day(date) AS SELECT count(*), sum(n) FROM visits WHERE at = $1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF) EXECUTE by_day('2024-02-10');
EXECUTE by_day('2024-02-10');
EXECUTE by_day('2024-03-10');
EXECUTE by_day('2030-01-01');
EXECUTE by_day(NULL);
RESET plan_cache_mode;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF)
SELECT v.n FROM (VALUES (1, '2024-01-02'::date), (2, '2024-03-03'), (3, '2024-01-04')) w (site, at)
JOIN visits v ON v.site = w.site AND v.at = w.at;
SELECT same($$SELECT v.* FROM (VALUES (1, '2024-01-02'::date), (2, '2024-03-03'), (3, '2023-12-31'), (4, NULL)) w (site, at)
JOIN visits v ON v.site = w.site AND v.at = w.at ORDER BY v.site$$);
RESET enable_hashjoin;
RESET enable_mergejoin;

-- in order: one partition after the other, or merged
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT * FROM visits WHERE at < '2024-03-01' AND at >= '2024-01-01' ORDER BY site, at LIMIT 3;
SELECT same('SELECT * FROM visits ORDER BY site, at LIMIT 50 OFFSET 200');
SELECT same('SELECT * FROM visits ORDER BY site DESC, at DESC LIMIT 50');
EXPLAIN (COSTS OFF) SELECT * FROM visits WHERE site = 3 AND at >= '2024-01-01' AND at < '2024-03-01' ORDER BY at;
SELECT same('SELECT * FROM visits WHERE site = 3 ORDER BY at');
SELECT same($$SELECT * FROM visits WHERE site = 3 AND at < '2024-03-01' AND at >= '2024-01-01' ORDER BY at DESC LIMIT 45$$);
RESET enable_sort;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT site, at FROM visits WHERE at < '2024-03-01' ORDER BY site, at;
FETCH 2 FROM c;
MOVE 60 IN c;
FETCH BACKWARD 2 FROM c;
DELETE FROM visits WHERE site = 1;
FETCH LAST FROM c;
FETCH FIRST FROM c;
ROLLBACK;

-- changes; rows move from heap tables to foreign tables, never from those
SELECT same($$UPDATE visits SET n = n + 1 WHERE at BETWEEN '2024-01-30' AND '2024-03-02' AND page IS NULL RETURNING *$$);
SELECT same($$UPDATE visits SET at = '2024-02-20', n = -1 WHERE site = 12 RETURNING *$$);
SELECT same($$UPDATE visits SET site = 15, at = at - 15, n = -2 WHERE site = 5 AND at BETWEEN '2024-03-01' AND '2024-03-10' AND n > 503 RETURNING *$$);
UPDATE visits SET at = '2024-03-31' WHERE site = 12;
UPDATE visits SET at = at + 1 WHERE at = '2024-02-29';
SELECT same('SELECT * FROM visits ORDER BY site, at');
SELECT same($$DELETE FROM visits WHERE site = 4 AND at > '2024-01-10' RETURNING *$$);
SELECT same($$DELETE FROM visits USING generate_series(1, 3) g WHERE site = g AND n % 7 = g RETURNING site, at$$);
SELECT same($$UPDATE visits v SET page = w.page || '!' FROM visits w WHERE w.site = v.site + 1 AND w.at = v.at AND v.site < 6 RETURNING v.*$$);
SELECT same('SELECT * FROM visits ORDER BY site, at');
BEGIN;
DELETE FROM visits WHERE site = 7;
SAVEPOINT s;
UPDATE visits SET n = 0;
SELECT count(*), sum(n) FROM visits;
ROLLBACK TO s;
SELECT count(*), sum(n) > 0 FROM visits WHERE at > '2024-01-01';
ROLLBACK;
SELECT same('SELECT count(*), sum(n) FROM visits');

-- row and statement triggers, on the parent and on a partition
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE INFO '% % % on %: % to %', tg_name, tg_when, tg_op, tg_table_name, old, new;
  RETURN coalesce(new, old);
END $$;
CREATE TRIGGER every AFTER INSERT OR UPDATE OR DELETE ON visits FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER first BEFORE INSERT OR UPDATE ON visits_1 FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER whole AFTER INSERT OR UPDATE OR DELETE ON visits FOR EACH STATEMENT EXECUTE FUNCTION tell();
INSERT INTO visits VALUES (20, '2024-01-01', 1), (20, '2024-03-01', 1);
UPDATE visits SET n = 2 WHERE site = 20;
UPDATE visits SET at = '2024-02-01' WHERE site = 20 AND at = '2024-03-01';
DELETE FROM visits WHERE site = 20;
DROP TRIGGER every ON visits;
DROP TRIGGER whole ON visits;
DROP TRIGGER first ON visits_1;

-- partition by partition
CREATE TABLE pages (site int NOT NULL, at date NOT NULL, title text) PARTITION BY RANGE (at);
CREATE FOREIGN TABLE pages_1 (site int OPTIONS (rowkey '1') NOT NULL, at date OPTIONS (rowkey '2') NOT NULL, title text) SERVER widecol;
CREATE FOREIGN TABLE pages_2 (site int OPTIONS (rowkey '1') NOT NULL, at date OPTIONS (rowkey '2') NOT NULL, title text) SERVER widecol;
ALTER TABLE pages ATTACH PARTITION pages_1 FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
ALTER TABLE pages ATTACH PARTITION pages_2 FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
CREATE TABLE heap.pages AS SELECT s AS site, d::date AS at, 't' || s AS title
FROM generate_series(2, 40, 2) s, generate_series('2024-01-01'::date, '2024-02-29', '2 days') d;
INSERT INTO pages SELECT * FROM heap.pages;
SET enable_partitionwise_join = on;
SET enable_partitionwise_aggregate = on;
SELECT same($$SELECT v.site, v.at, title FROM visits v JOIN pages p USING (site, at) WHERE at BETWEEN '2024-01-01' AND '2024-02-29' ORDER BY 1, 2$$);
SELECT same($$SELECT v.at, count(title), sum(n) FROM visits v LEFT JOIN pages p USING (site, at) WHERE v.at < '2024-02-10' GROUP BY v.at ORDER BY 1$$);
SELECT same('SELECT at, count(*), max(page) FROM visits GROUP BY at ORDER BY at');
EXPLAIN (COSTS OFF) SELECT p.title, q.title FROM pages p JOIN pages q USING (site, at);
RESET enable_partitionwise_join;
RESET enable_partitionwise_aggregate;

-- statistics of the whole
ANALYZE visits;
SELECT c.relname, c.reltuples = (CASE c.relname WHEN 'visits_1' THEN (SELECT count(*) FROM visits_1) WHEN 'visits_2' THEN (SELECT count(*) FROM visits_2)
  WHEN 'visits_d' THEN (SELECT count(*) FROM visits_d) WHEN 'visits' THEN (SELECT count(*) FROM visits) ELSE (SELECT count(*) FROM visits_3) END) AS counted
FROM pg_class c WHERE oid IN (SELECT relid FROM pg_partition_tree('visits')) ORDER BY 1;
SELECT attname, inherited, n_distinct > 0 OR n_distinct < -0.01 AS distinct FROM pg_stats WHERE schemaname = 'parts' AND tablename = 'visits' AND attname IN ('site', 'page') ORDER BY 1;

-- DETACH, ATTACH, TRUNCATE
ALTER TABLE visits DETACH PARTITION visits_2;
SELECT count(*) FROM visits WHERE at BETWEEN '2024-02-01' AND '2024-02-28';
INSERT INTO visits_2 (site, at) VALUES (1, '2023-01-01');
DELETE FROM visits_2 WHERE at = '2023-01-01';
ALTER TABLE visits ATTACH PARTITION visits_2 FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
SELECT same('SELECT * FROM visits ORDER BY site, at');
BEGIN;
TRUNCATE visits;
SELECT count(*) FROM visits;
INSERT INTO visits VALUES (1, '2024-01-01'), (1, '2024-03-01');
SELECT count(*) FROM visits;
ROLLBACK;
SELECT same('SELECT * FROM visits ORDER BY site, at');
TRUNCATE visits;
SELECT count(*) FROM visits;

-- --- by list and by hash, in two levels ---------------------------------------

CREATE TABLE orders (region text NOT NULL, id int NOT NULL, amount numeric) PARTITION BY LIST (region);
CREATE TABLE orders_n PARTITION OF orders FOR VALUES IN ('north', 'east') PARTITION BY HASH (id);
CREATE FOREIGN TABLE orders_s (region text OPTIONS (rowkey '1') NOT NULL, id int OPTIONS (rowkey '2') NOT NULL, amount numeric) SERVER widecol;
CREATE FOREIGN TABLE orders_n0 (region text OPTIONS (rowkey '1') NOT NULL, id int OPTIONS (rowkey '2') NOT NULL, amount numeric) SERVER widecol;
CREATE FOREIGN TABLE orders_n1 (region text OPTIONS (rowkey '1') NOT NULL, id int OPTIONS (rowkey '2') NOT NULL, amount numeric) SERVER widecol;
CREATE TABLE orders_n2 PARTITION OF orders_n FOR VALUES WITH (MODULUS 3, REMAINDER 2);
ALTER TABLE orders ATTACH PARTITION orders_s FOR VALUES IN ('south');
ALTER TABLE orders_n ATTACH PARTITION orders_n0 FOR VALUES WITH (MODULUS 3, REMAINDER 0);
ALTER TABLE orders_n ATTACH PARTITION orders_n1 FOR VALUES WITH (MODULUS 3, REMAINDER 1);
INSERT INTO orders SELECT (ARRAY['north', 'east', 'south'])[1 + g % 3], g, g * 1.5 FROM generate_series(1, 300) g;
CREATE TABLE heap.orders AS SELECT * FROM orders;
SELECT tableoid::regclass::text, region, count(*) > 20 AS some FROM orders GROUP BY 1, 2 ORDER BY 1, 2;
EXPLAIN (COSTS OFF) SELECT * FROM orders WHERE region = 'north' AND id = 30;
SELECT same('SELECT * FROM orders ORDER BY region, id');
SELECT same($$SELECT * FROM orders WHERE region = 'north' AND id IN (30, 33, 36, 31) ORDER BY id$$);
SELECT same($$SELECT * FROM orders WHERE region IN ('north', 'south') AND id BETWEEN 50 AND 150 ORDER BY id$$);
SELECT same($$SELECT region, sum(amount) FROM orders GROUP BY region ORDER BY 1$$);
SELECT same($$UPDATE orders SET amount = amount + 1 WHERE region = 'east' AND id < 100 RETURNING *$$);
SELECT same($$DELETE FROM orders WHERE region <> 'south' AND id % 10 = 0 RETURNING *$$);
SELECT same('SELECT * FROM orders ORDER BY region, id');
SELECT same('SELECT o.* FROM orders o JOIN orders p ON o.region = p.region AND o.id = p.id + 3 WHERE p.id < 40 ORDER BY o.id');
INSERT INTO orders VALUES ('west', 1, 1);

-- --- asynchronous Append ------------------------------------------------------

-- seventy partitions: more than are opened before their rows are wanted
CREATE TABLE hours (h int NOT NULL, id int NOT NULL, v text) PARTITION BY LIST (h);
DO $$ BEGIN
  FOR i IN 0..69 LOOP
    EXECUTE format('CREATE FOREIGN TABLE hours_%s (h int NOT NULL, id int OPTIONS (rowkey ''1'') NOT NULL, v text) SERVER widecol', i);
    EXECUTE format('ALTER TABLE hours ATTACH PARTITION hours_%s FOR VALUES IN (%s)', i, i);
  END LOOP;
END $$;
CREATE TABLE hours_70 PARTITION OF hours FOR VALUES IN (70);
INSERT INTO hours SELECT h, id, h || '.' || id FROM generate_series(0, 70) h, generate_series(1, 1 + h % 5) id;
CREATE TABLE heap.hours AS SELECT * FROM hours;
ANALYZE hours;

-- where few rows are expected, and all of them wanted
EXPLAIN (COSTS OFF) SELECT * FROM hours WHERE h IN (1, 2, 70) AND id = 2;
EXPLAIN (COSTS OFF) SELECT * FROM hours WHERE h IN (1, 2) LIMIT 1;
EXPLAIN (COSTS OFF) DECLARE c CURSOR FOR SELECT * FROM hours WHERE h IN (1, 2);
EXPLAIN (COSTS OFF) UPDATE hours SET v = v || '' WHERE h IN (1, 2);
EXPLAIN (COSTS OFF) SELECT count(*) FROM generate_series(1, 3) g WHERE EXISTS (SELECT FROM hours WHERE id = g AND h IN (1, 2));
EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT * FROM orders_n0 UNION ALL SELECT * FROM orders_s) o;
INSERT INTO orders_s SELECT 'south', g, 1 FROM generate_series(1001, 2000) g;
ANALYZE orders_s;
EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT * FROM orders_n0 UNION ALL SELECT * FROM orders_s) o;
SET enable_async_append = off;
EXPLAIN (COSTS OFF) SELECT * FROM hours WHERE h IN (1, 2);
RESET enable_async_append;

-- foreign tables in their order, behind others
SELECT string_agg(v, ' ') FROM (SELECT v FROM hours WHERE h IN (3, 7, 70, 11) AND id < 3) q;
SELECT same('SELECT count(*), sum(id), min(v) FROM hours');
SELECT same('SELECT * FROM hours WHERE id > 3 ORDER BY h, id');
EXPLAIN (COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF) SELECT * FROM hours WHERE h IN (0, 1, 69) AND id = 2;

-- again and again, all of it or not
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT same('SELECT g, count(h), sum(h) FROM generate_series(1, 6) g LEFT JOIN hours ON id = g GROUP BY g ORDER BY g');
SELECT same('SELECT g, count(h) FROM generate_series(1, 3) g JOIN hours ON id >= g AND h < 4 GROUP BY g ORDER BY g');
SELECT same('SELECT g, (SELECT count(*) FROM hours WHERE h = g AND id > 1) FROM generate_series(66, 71) g ORDER BY g');
SELECT same('SELECT g, (SELECT string_agg(v, '','' ORDER BY v) FROM hours WHERE id >= g AND h < 10) FROM generate_series(1, 6) g ORDER BY g');
SELECT g, EXISTS (SELECT FROM hours WHERE id >= g), (SELECT h FROM hours WHERE id >= g AND h < 60 LIMIT 1) FROM generate_series(4, 6) g;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- own writes, savepoints; rows larger than a session's buffers
BEGIN;
UPDATE hours SET v = 'changed' WHERE id = 1;
INSERT INTO hours SELECT h, 100, repeat('x', 20000) FROM generate_series(0, 69) h;
SELECT count(*), sum(length(v)) FROM hours WHERE id IN (1, 100);
SAVEPOINT s;
DELETE FROM hours WHERE h = 5;
SELECT count(*), sum(length(v)) FROM hours WHERE id IN (1, 100);
ROLLBACK TO s;
SELECT count(*), sum(length(v)) FROM hours WHERE id IN (1, 100);
DECLARE c SCROLL CURSOR FOR SELECT h, id FROM hours WHERE id = 2;
FETCH 2 FROM c;
DELETE FROM hours;
FETCH 2 FROM c;
FETCH BACKWARD 3 FROM c;
MOVE 50 IN c;
FETCH 1 FROM c;
ROLLBACK;

-- a function that reads the same tables meanwhile
CREATE FUNCTION counted(i int) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM hours WHERE id = i); END $$;
SELECT id, counted(id), count(*) FROM hours WHERE h < 6 AND counted(id) > 20 GROUP BY 1, 2 ORDER BY 1;

-- scans that end early do not cancel requests of a query that continues
CREATE FOREIGN TABLE minutes (m int OPTIONS (rowkey '1') NOT NULL, v text) SERVER widecol;
INSERT INTO minutes SELECT m, repeat('m', 500) FROM generate_series(1, 2000) m;
DO $$
DECLARE
  r record;
  n int = 0;
  caught int = 0;
BEGIN
  FOR r IN SELECT m, v FROM minutes LOOP
    n := n + 1;
    IF n % 40 = 0 THEN
      BEGIN
        PERFORM m, v FROM minutes LIMIT 500;
        PERFORM sum(1 / (h - n / 40)) FROM hours;
      EXCEPTION WHEN division_by_zero THEN
        caught := caught + 1;
      END;
    END IF;
  END LOOP;
  RAISE INFO '% rows, % errors', n, caught;
END $$;

-- an error in one of them, amid the others
BEGIN;
SAVEPOINT s;
SELECT sum(1 / (h - 7)) FROM hours WHERE h < 60;
ROLLBACK TO s;
SELECT same('SELECT count(*) FROM hours WHERE h < 60');
COMMIT;

-- --- inheritance --------------------------------------------------------------

CREATE TABLE things (id int NOT NULL, name text);
CREATE TABLE priced (price numeric);
CREATE FOREIGN TABLE books (id int OPTIONS (rowkey '1') NOT NULL, name text, price numeric, pages int) INHERITS (things, priced) SERVER widecol;
CREATE TABLE toys (age int) INHERITS (things, priced);
CREATE FOREIGN TABLE tools (id int OPTIONS (rowkey '1') NOT NULL, name text) INHERITS (things) SERVER widecol;
CREATE TABLE heap.things (id int NOT NULL, name text);
CREATE TABLE heap.priced (price numeric);
CREATE TABLE heap.books (pages int) INHERITS (heap.things, heap.priced);
CREATE TABLE heap.toys (age int) INHERITS (heap.things, heap.priced);
CREATE TABLE heap.tools () INHERITS (heap.things);
SELECT same('INSERT INTO books SELECT g, ''book '' || g, g * 2, g * 100 FROM generate_series(1, 20) g RETURNING *');
SELECT same('INSERT INTO toys SELECT g, ''toy '' || g, g * 3, g FROM generate_series(11, 30) g RETURNING *');
SELECT same('INSERT INTO tools SELECT g, ''tool '' || g FROM generate_series(21, 40) g RETURNING *');
SELECT same('INSERT INTO things VALUES (5, ''thing''), (50, NULL) RETURNING *');
SELECT same('SELECT tableoid::regclass::text ~ ''books'', * FROM things ORDER BY id, name');
SELECT same('SELECT * FROM priced ORDER BY price');
SELECT same('SELECT * FROM ONLY things ORDER BY id');
SELECT same('SELECT name FROM things WHERE id BETWEEN 5 AND 25 ORDER BY id, name');
SELECT same('SELECT t.name, p.price FROM things t JOIN priced p ON p.price = t.id * 2 ORDER BY 1, 2');
SELECT same('UPDATE things SET name = upper(name) WHERE id % 4 = 1 RETURNING id, name');
SELECT same('UPDATE priced SET price = price + 0.5 WHERE price > 20 RETURNING *');
SELECT same('DELETE FROM things WHERE id IN (5, 12, 22, 35) RETURNING *');
SELECT same('DELETE FROM priced WHERE price < 10 RETURNING *');
SELECT same('SELECT * FROM things ORDER BY id, name');
SELECT same('SELECT * FROM books ORDER BY id');
ALTER TABLE things ADD COLUMN note text DEFAULT 'new';
ALTER TABLE heap.things ADD COLUMN note text DEFAULT 'new';
SELECT same('INSERT INTO books (id, name, note) VALUES (60, ''later'', ''x'') RETURNING id, name, note');
SELECT id, note FROM things WHERE id >= 39 ORDER BY id;
ANALYZE things;
SELECT relname, reltuples FROM pg_class WHERE relnamespace = 'parts'::regnamespace AND relname IN ('things', 'books', 'toys', 'tools') ORDER BY 1;
ALTER FOREIGN TABLE books NO INHERIT priced;
SELECT count(*) FROM priced;
ALTER FOREIGN TABLE books INHERIT priced;
TRUNCATE things;
SELECT count(*) FROM things;

DEALLOCATE ALL;
DROP SCHEMA heap CASCADE;
SET client_min_messages = error;
DROP SCHEMA parts CASCADE;
SELECT count(widecol.drop_table('hours_' || i)) FROM generate_series(0, 69) i;
SELECT widecol.drop_table('minutes');
SELECT count(widecol.drop_table(t)) FROM unnest('{visits_1,visits_2,visits_d,pages_1,pages_2,orders_s,orders_n0,orders_n1,books,tools}'::text[]) t;
