-- joins: what the planner knows of row keys, and how keys are looked up
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA joins;
SET search_path = joins, public;

CREATE FOREIGN TABLE customers (
	id int OPTIONS (rowkey '1'), name text, region int
) SERVER widecol OPTIONS (table 'joins_customers');
CREATE FOREIGN TABLE orders (
	customer int OPTIONS (rowkey '1'), no int OPTIONS (rowkey '2'), product text, amount numeric
) SERVER widecol OPTIONS (table 'joins_orders');
INSERT INTO customers SELECT i, 'customer ' || i, i % 10 FROM generate_series(1, 2000) i;
INSERT INTO orders SELECT 1 + i * 7 % 2500, i, 'product ' || i % 50, i * 1.5 FROM generate_series(1, 6000) i;
ANALYZE customers, orders;

-- --- a row key is there once -----------------------------------------------------

-- an outer join that can neither add nor multiply rows is left out
EXPLAIN (COSTS OFF)
SELECT o.product FROM orders o LEFT JOIN customers c ON c.id = o.customer;
EXPLAIN (COSTS OFF)
SELECT c.name FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.no = c.region;
SELECT count(*) FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.no = c.region;
-- half a key is not unique
EXPLAIN (COSTS OFF)
SELECT c.name FROM customers c LEFT JOIN orders o ON o.customer = c.id;
SELECT count(*) FROM customers c LEFT JOIN orders o ON o.customer = c.id;

-- a semijoin with a whole key is a join
EXPLAIN (COSTS OFF)
SELECT sum(amount) FROM orders WHERE customer IN (SELECT id FROM customers WHERE region = 3);
SELECT sum(amount) FROM orders WHERE customer IN (SELECT id FROM customers WHERE region = 3);

-- a raw key is unique, too; in layout cell the row key is not
CREATE FOREIGN TABLE raws (key bytea OPTIONS (rowkey 'raw'), name text) SERVER widecol OPTIONS (table 'joins_customers');
CREATE FOREIGN TABLE cells ("row" bytea, qualifier text, value text) SERVER widecol OPTIONS (table 'joins_customers', layout 'cell');
EXPLAIN (COSTS OFF) SELECT a.name FROM raws a LEFT JOIN raws b USING (key);
EXPLAIN (COSTS OFF) SELECT a.name FROM raws a LEFT JOIN cells b ON b."row" = a.key;
SELECT count(*) FROM raws a LEFT JOIN cells b ON b."row" = a.key;

-- nor is the key of several tables together
CREATE TABLE parent (id int, name text, region int);
ALTER FOREIGN TABLE customers INHERIT parent;
INSERT INTO parent VALUES (1, 'another');
EXPLAIN (COSTS OFF) SELECT o.product FROM orders o LEFT JOIN parent p ON p.id = o.customer;
SELECT count(*) FROM orders o LEFT JOIN parent p ON p.id = o.customer;
ALTER FOREIGN TABLE customers NO INHERIT parent;
DROP TABLE parent;

-- a key that is not compared by its bytes is not unique: 1 day equals 24 hours, in two rows
CREATE FOREIGN TABLE spans (span interval OPTIONS (rowkey '1', encoding 'text'), name text) SERVER widecol OPTIONS (table 'joins_spans');
INSERT INTO spans VALUES ('1 day', 'a'), ('24:00:00', 'b');
EXPLAIN (COSTS OFF) SELECT a.name FROM spans a LEFT JOIN spans b USING (span);
SELECT a.name FROM spans a LEFT JOIN spans b USING (span) ORDER BY 1;


-- --- many keys in one call -------------------------------------------------------

-- the same rows, with the setting and without it?
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	batched text[];
	single text[];
	plan text := '';
	line text;
BEGIN
	PERFORM set_config('widecol.enable_batched_lookup', 'on', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line;
	END LOOP;
	EXECUTE 'SELECT array_agg(q::text ORDER BY q::text) FROM (' || query || ') q' INTO batched;
	PERFORM set_config('widecol.enable_batched_lookup', 'off', true);
	EXECUTE 'SELECT array_agg(q::text ORDER BY q::text) FROM (' || query || ') q' INTO single;
	PERFORM set_config('widecol.enable_batched_lookup', 'on', true);
	RETURN format('%s: %s rows, %s', CASE WHEN plan ~ 'Widecol Lookahead' THEN 'batched' ELSE 'single' END,
				  cardinality(batched), CASE WHEN batched IS DISTINCT FROM single THEN 'DIFFERENT' ELSE 'the same' END);
END $$;

CREATE TABLE wanted (id int, customer int, no bigint, name text);
INSERT INTO wanted SELECT i, NULLIF(i * 13 % 2600, 0), i * 13 % 2600 * 5, 'customer ' || i FROM generate_series(1, 700) i;
INSERT INTO wanted VALUES (701, NULL, NULL, NULL), (702, 13, 65, 'twice'), (703, 13, 65, 'twice'), (704, 13, 65, 'twice');
ANALYZE wanted;

EXPLAIN (COSTS OFF)
SELECT w.id, c.name FROM wanted w JOIN customers c ON c.id = w.customer ORDER BY w.id;
EXPLAIN (COSTS OFF)
SELECT w.id, o.product FROM wanted w LEFT JOIN orders o ON o.customer = w.customer AND o.no > w.no AND o.amount > 100 WHERE w.id < 50;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
SET enable_material = off;
SELECT same('SELECT w.*, c.* FROM wanted w JOIN customers c ON c.id = w.customer');
SELECT same('SELECT w.*, c.* FROM wanted w LEFT JOIN customers c ON c.id = w.customer');
SELECT same('SELECT w.*, c.* FROM wanted w LEFT JOIN customers c ON c.id = w.customer AND c.region = w.id % 10 WHERE c.id IS NULL');
SELECT same('SELECT w.* FROM wanted w WHERE EXISTS (SELECT FROM orders o WHERE o.customer = w.customer AND o.amount > w.id)');
SELECT same('SELECT w.* FROM wanted w WHERE NOT EXISTS (SELECT FROM orders o WHERE o.customer = w.customer AND o.amount > w.id)');
SELECT same('SELECT o.* FROM orders o WHERE o.customer IN (SELECT customer FROM wanted WHERE name > ''customer 5'')');
-- keys of other types, of expressions, with a constant part; ranges behind a part
SELECT same('SELECT w.id, c.name FROM wanted w JOIN customers c ON c.id = w.no');
SELECT same('SELECT w.id, c.name FROM wanted w JOIN customers c ON c.id = w.customer + w.id');
SELECT same('SELECT w.id, o.product FROM wanted w JOIN orders o ON o.customer = 1 + w.id * 7 % 2500 AND o.no = w.id');
SELECT same('SELECT w.id, o.product FROM wanted w JOIN orders o ON o.customer = w.customer AND o.no >= w.no');
SELECT same('SELECT w.id, o.product FROM wanted w JOIN orders o ON (o.customer, o.no) > (w.customer, w.no) AND (o.customer, o.no) < (w.customer + 2, 0)');
SELECT same('SELECT w.id, o.product FROM wanted w JOIN orders o ON o.customer IN (w.customer, 1 + w.id * 7 % 2500) AND o.no IN (w.no, w.id + 1, w.id)');
SELECT same('SELECT w.id, o.product FROM wanted w JOIN orders o ON o.customer = w.customer OR o.customer = w.id AND o.no < 100');
-- three tables: keys from two sides, one behind another
SELECT same('SELECT w.id, c.name, o.product FROM wanted w JOIN customers c ON c.id = w.customer JOIN orders o ON o.customer = c.id AND o.no > w.no');
SELECT same('SELECT a.id, b.id, o.product FROM wanted a, wanted b, orders o WHERE o.customer = a.customer AND o.no = b.no AND a.id < 40 AND b.id < 400');
SELECT same('SELECT c.name, d.name FROM customers c LEFT JOIN (customers d JOIN orders o ON o.customer = d.id) ON d.id = c.region');
-- loops in loops, each starting anew
CREATE FOREIGN TABLE keys (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2')) SERVER widecol OPTIONS (table 'joins_keys');
INSERT INTO keys SELECT i % 50, i FROM generate_series(1, 600) i;
ANALYZE keys;
SELECT same('SELECT w.id, s.* FROM wanted w, LATERAL (SELECT count(*), min(c.name) FROM keys k JOIN customers c ON c.id = k.b WHERE k.a = w.id % 60) s');
SELECT same('SELECT w.id, (SELECT string_agg(c.name, '','') FROM keys k JOIN customers c ON c.id = k.b * 2 AND c.region <> w.id % 10 WHERE k.a = w.id % 60) FROM wanted w');
SELECT same('SELECT w.id, EXISTS (SELECT FROM keys k JOIN customers c ON c.id = k.b + w.id AND c.region = 3 WHERE k.a = w.id % 60) FROM wanted w');
SELECT same('WITH RECURSIVE walk(id, n) AS (SELECT id, 1 FROM wanted WHERE id < 30 UNION ALL SELECT o.no, n + 1 FROM walk JOIN orders o ON o.customer = walk.id WHERE n < 4) SELECT * FROM walk');
-- whole rows, no columns at all, and columns of the outer side that are computed
SELECT same('SELECT w, c FROM wanted w JOIN customers c ON c.id = w.customer');
SELECT same('SELECT 1 FROM wanted w JOIN customers c ON c.id = w.customer');
SELECT same('SELECT s.x, c.name FROM (SELECT id, count(*) AS x, max(customer) AS m FROM wanted GROUP BY 1) s LEFT JOIN customers c ON c.id = s.m');
SELECT same('SELECT s.x, c.name FROM (SELECT id, coalesce(customer, 5) AS x FROM wanted) s LEFT JOIN customers c ON c.id = s.x');
SELECT same('SELECT w.id, s.x, o.product FROM wanted w LEFT JOIN (SELECT id, coalesce(region, 7) AS x FROM customers) s ON s.id = w.customer LEFT JOIN orders o ON o.customer = s.x AND o.no < 1000');
-- more than fits into memory
SET work_mem = '64kB';
SELECT same('SELECT w.id, o.* FROM wanted w JOIN orders o ON o.customer = w.customer');
SELECT same('SELECT w.id, o.* FROM wanted w JOIN orders o ON o.customer BETWEEN w.customer AND w.customer + 200 WHERE w.id < 100');
SELECT same('SELECT w.id, repeat(w.name, 50), c.* FROM wanted w JOIN customers c ON c.id = w.customer');
RESET work_mem;

-- other keys: raw; descending text and numeric; a hash; only keys
CREATE FOREIGN TABLE mixed (
	a text OPTIONS (rowkey '1', sort 'desc') COLLATE "C", b numeric OPTIONS (rowkey '2'), v int
) SERVER widecol OPTIONS (table 'joins_mixed');
INSERT INTO mixed SELECT 'a' || i % 30, i / 10.0, i FROM generate_series(1, 600) i;
CREATE FOREIGN TABLE hashed (
	a text OPTIONS (rowkey '1', encoding 'md5', length '4', family 'cf', qualifier 'a'), v int
) SERVER widecol OPTIONS (table 'joins_hashed');
INSERT INTO hashed SELECT 'customer ' || i, i FROM generate_series(1, 600) i;
ANALYZE mixed, hashed;
SELECT same('SELECT r.name FROM (SELECT key FROM raws ORDER BY key LIMIT 300) k JOIN raws r USING (key)');
SELECT same('SELECT w.id, m.* FROM wanted w JOIN mixed m ON m.a = ''a'' || w.id % 40 AND m.b > w.id / 20');
SELECT same('SELECT w.id, m.* FROM wanted w JOIN mixed m ON m.a = ''a'' || w.id % 30 AND m.b = w.id::numeric(10, 3) / 10');
SELECT same('SELECT w.id, m.* FROM wanted w JOIN mixed m ON m.a LIKE ''a'' || w.id % 40 || ''%'' AND w.id < 100');
SELECT same('SELECT w.id, h.* FROM wanted w LEFT JOIN hashed h ON h.a = w.name');
SELECT same('SELECT w.id, k.* FROM wanted w JOIN keys k ON k.a = w.id % 60');
SELECT same('SELECT w.id FROM wanted w WHERE NOT EXISTS (SELECT FROM keys k WHERE k.a = w.id % 60 AND k.b = w.id)');

-- the statement sees the transaction's writes before it
BEGIN;
UPDATE customers SET name = 'changed' WHERE id % 13 = 0;
DELETE FROM customers WHERE id % 26 = 0;
SELECT count(*), count(c.name), count(*) FILTER (WHERE c.name = 'changed') FROM wanted w LEFT JOIN customers c ON c.id = w.customer;
SELECT same('SELECT w.id, c.* FROM wanted w LEFT JOIN customers c ON c.id = w.customer');
INSERT INTO customers SELECT 10000 + w.id, c.name, c.region FROM wanted w JOIN customers c ON c.id = w.customer;
SELECT count(*) FROM customers WHERE id > 10000 AND name = 'changed';
ROLLBACK;

-- cursors, scrolling ones too; prepared statements with plans for any value
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT w.id, c.name FROM (SELECT * FROM wanted ORDER BY id) w JOIN customers c ON c.id = w.customer;
FETCH 3 FROM c;
FETCH RELATIVE 40 FROM c;
FETCH BACKWARD 2 FROM c;
UPDATE customers SET name = 'later' WHERE id = 65;
FETCH ABSOLUTE 5 FROM c;
ROLLBACK;
SET plan_cache_mode = force_generic_plan;
PREPARE find(int, int) AS SELECT count(*), sum(o.amount) FROM wanted w JOIN orders o ON o.customer = w.customer + $1 AND o.no > $2 WHERE w.id < $1 * 20;
EXPLAIN (COSTS OFF) EXECUTE find(1, 2);
EXECUTE find(5, 10);
EXECUTE find(5, 3000);
EXECUTE find(NULL, 10);
RESET plan_cache_mode;

-- a query for few rows reads few rows
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
SELECT c.name FROM wanted w JOIN customers c ON c.id = w.customer LIMIT 1;
-- a query for all rows reads ever larger batches: 1, 8, 64, 512 outer rows at once
CREATE FUNCTION batches(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Widecol Lookahead|Batches|Foreign Scan|Rows Read' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
SELECT batches('SELECT c.name FROM wanted w JOIN customers c ON c.id = w.customer');
-- in 64 kB there is no room for so many
SET work_mem = '64kB';
SELECT batches('SELECT o.product FROM wanted w JOIN orders o ON o.customer = w.customer');
RESET work_mem;

-- rows that are locked or changed are found one by one
EXPLAIN (COSTS OFF) SELECT 1 FROM wanted w JOIN customers c ON c.id = w.customer FOR UPDATE OF w;
EXPLAIN (COSTS OFF) UPDATE wanted w SET name = c.name FROM customers c WHERE c.id = w.customer;
-- and all are, without the setting
SET widecol.enable_batched_lookup = off;
EXPLAIN (COSTS OFF) SELECT c.name FROM wanted w JOIN customers c ON c.id = w.customer;
RESET widecol.enable_batched_lookup;

-- each partition looks up those of the next keys that it may have
CREATE TABLE parted (id int, v text) PARTITION BY RANGE (id);
CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (800) TO (2000) PARTITION BY HASH (id);
CREATE FOREIGN TABLE parted_a (id int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'joins_parted_a');
CREATE FOREIGN TABLE parted_b (v text, id int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (table 'joins_parted_b');
CREATE FOREIGN TABLE parted_c (id int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'joins_parted_c');
CREATE TABLE parted_heap (id int PRIMARY KEY, v text);
ALTER TABLE parted ATTACH PARTITION parted_a FOR VALUES FROM (0) TO (400);
ALTER TABLE parted ATTACH PARTITION parted_b FOR VALUES FROM (400) TO (800);
ALTER TABLE parted_high ATTACH PARTITION parted_c FOR VALUES WITH (MODULUS 2, REMAINDER 0);
ALTER TABLE parted_high ATTACH PARTITION parted_heap FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT i, 'v' || i FROM generate_series(0, 1999, 3) i;
ANALYZE parted, parted_a, parted_b, parted_c, parted_heap;
SELECT batches('SELECT w.id, p.v FROM wanted w JOIN parted p ON p.id = w.customer');
SELECT same('SELECT w.id, p.v FROM wanted w JOIN parted p ON p.id = w.customer');
SELECT same('SELECT w.id, p.v FROM wanted w LEFT JOIN parted p ON p.id = w.customer');
SELECT same('SELECT w.id FROM wanted w WHERE NOT EXISTS (SELECT 1 FROM parted p WHERE p.id = w.customer AND p.v <> ''v30'')');
SELECT same('SELECT w.id, p.v FROM wanted w JOIN parted p ON p.id = w.customer::bigint');
SELECT same('SELECT w.id, p.v FROM wanted w JOIN parted p ON p.id = w.customer OR p.id = w.id');
SELECT same('SELECT w.id, p.v FROM wanted w JOIN parted p ON p.id BETWEEN w.customer AND w.customer + 2');
-- without pruning, too
SET enable_partition_pruning = off;
SELECT same('SELECT w.id, p.v FROM wanted w JOIN parted p ON p.id = w.customer');
RESET enable_partition_pruning;
-- a partition is not asked for keys outside of its bounds, even if its stored table has them
ALTER TABLE parted DETACH PARTITION parted_b;
CREATE FOREIGN TABLE parted_d (id int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'joins_parted_a');
ALTER TABLE parted ATTACH PARTITION parted_d FOR VALUES FROM (400) TO (800);
SELECT batches('SELECT p.v FROM generate_series(799, 0, -5) w (id) JOIN parted p USING (id)');
DROP TABLE parted;
DROP FOREIGN TABLE parted_b;

-- an error in rows that are read ahead ends the statement, but not the session
SELECT c.name FROM wanted w JOIN customers c ON c.id = 100 / (w.id - 60) WHERE w.id < 100;
SELECT count(*) FROM wanted w JOIN customers c ON c.id = w.customer;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_memoize;
RESET enable_material;

-- hash and merge joins stay where they are better
EXPLAIN (COSTS OFF) SELECT count(*) FROM orders o JOIN customers c ON c.id = o.no;

DROP TABLE wanted;
DROP FUNCTION same(text);
DROP FUNCTION batches(text);
DROP FOREIGN TABLE customers, orders, raws, cells, spans, mixed, hashed, keys;
SELECT count(widecol.drop_table('joins_' || name)) FROM unnest('{customers,orders,spans,mixed,hashed,keys,parted_a,parted_b,parted_c}'::text[]) name;
DROP SCHEMA joins;
