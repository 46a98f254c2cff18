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

-- a raw key is unique, too; what is a cell version a row is not
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

-- what is not compared by its bytes does not count: a day is 24 hours, in two rows
CREATE FOREIGN TABLE spans (span interval OPTIONS (rowkey '1', encoding 'text'), name text) SERVER widecol OPTIONS (table 'joins_spans');
INSERT INTO spans VALUES ('1 day', 'a'), ('24:00:00', 'b');
EXPLAIN (COSTS OFF) SELECT a.name FROM spans a LEFT JOIN spans b USING (span);
SELECT a.name FROM spans a LEFT JOIN spans b USING (span) ORDER BY 1;

DROP FOREIGN TABLE customers, orders, raws, cells, spans;
SELECT widecol.drop_table(name) FROM unnest('{joins_customers,joins_orders,joins_spans}'::text[]) name;
DROP SCHEMA joins;
