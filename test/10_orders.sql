-- Case 10, customers and orders: several record types in one stored table, and the
-- same orders normalised, denormalised and as documents; all give the same answers.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(46);

CREATE FUNCTION plan_has(query text, pattern text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ pattern THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;
CREATE FUNCTION rows_read(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; n bigint = 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    n = n + coalesce(substring(line FROM 'Rows Read: (\d+)')::bigint, 0);
  END LOOP;
  RETURN n;
END $$;

-- --- the orders ---------------------------------------------------------------------
CREATE TABLE customers AS
SELECT c AS customer, 'customer ' || c AS name, (ARRAY['Berlin', 'Hamburg', 'Ulm'])[1 + c % 3] AS city FROM generate_series(1, 50) c;
CREATE TABLE locations AS
SELECT customer, l AS location, (ARRAY['Berlin', 'Hamburg', 'Ulm', 'Köln'])[1 + (customer + l) % 4] AS town FROM customers, generate_series(1, 2) l;
CREATE TABLE orders AS
SELECT customer, o AS ordno, '2026-01-01'::date + customer % 7 * 10 + o AS day, 1 + (customer + o) % 2 AS location FROM customers, generate_series(1, 6) o WHERE (customer + o) % 5 > 0;
CREATE TABLE items AS
SELECT customer, ordno, i AS item, 'article ' || (customer * ordno + i) % 17 AS article, i * ordno AS pieces, (customer % 9 + i)::numeric / 4 AS price
FROM orders, generate_series(1, 3) i WHERE (ordno + i) % 4 > 0;

-- --- record types: customer | '1', customer | '2' | order ... -------------------------
CREATE FOREIGN TABLE r_customer (
  customer int  OPTIONS (rowkey '1'),
  kind     text OPTIONS (rowkey '2', length '1') COLLATE "C" GENERATED ALWAYS AS ('1') STORED,
  name text, city text
) SERVER widecol OPTIONS (table 'shop');
CREATE FOREIGN TABLE r_order (
  customer int  OPTIONS (rowkey '1'),
  kind     text OPTIONS (rowkey '2', length '1') COLLATE "C" GENERATED ALWAYS AS ('2') STORED,
  ordno    int  OPTIONS (rowkey '3'),
  day date, location int
) SERVER widecol OPTIONS (table 'shop');
CREATE FOREIGN TABLE r_location (
  customer int  OPTIONS (rowkey '1'),
  kind     text OPTIONS (rowkey '2', length '1') COLLATE "C" CHECK (kind = '3') DEFAULT '3',
  location int  OPTIONS (rowkey '3'),
  town text
) SERVER widecol OPTIONS (table 'shop');
CREATE FOREIGN TABLE r_item (
  customer int  OPTIONS (rowkey '1'),
  kind     text OPTIONS (rowkey '2', length '1') COLLATE "C" CHECK (kind = '4') DEFAULT '4',
  ordno    int  OPTIONS (rowkey '3'),
  item     int  OPTIONS (rowkey '4'),
  article text, pieces int, price numeric
) SERVER widecol OPTIONS (table 'shop');
CREATE FOREIGN TABLE shop_rows ("row" bytea, family text, qualifier text, value text) SERVER widecol OPTIONS (table 'shop', layout 'cell');
INSERT INTO r_item (customer, ordno, item, article, pieces, price) SELECT * FROM items;
INSERT INTO r_location (customer, location, town) SELECT * FROM locations;
INSERT INTO r_order (customer, ordno, day, location) SELECT * FROM orders;
INSERT INTO r_customer (customer, name, city) SELECT * FROM customers;

SELECT bag_eq('SELECT customer, name, city FROM r_customer', 'SELECT * FROM customers', 'one foreign table sees the customers');
SELECT bag_eq('SELECT customer, ordno, day, location FROM r_order', 'SELECT * FROM orders', 'one the orders');
SELECT bag_eq('SELECT customer, location, town FROM r_location', 'SELECT * FROM locations', 'one the places');
SELECT bag_eq('SELECT customer, ordno, item, article, pieces, price FROM r_item', 'SELECT * FROM items', 'and one the items');
SELECT is((SELECT count(DISTINCT "row") FROM shop_rows),
  (SELECT count(*) FROM customers) + (SELECT count(*) FROM orders) + (SELECT count(*) FROM locations) + (SELECT count(*) FROM items), 'all in one stored table');

-- one scan gives all about a customer, in the order of types
SELECT results_eq($$SELECT chr(get_byte("row", 4)), count(DISTINCT "row") FROM shop_rows
                    WHERE "row" >= '\x80000007' AND "row" < '\x80000008' GROUP BY 1 ORDER BY 1$$,
  $$VALUES ('1', 1::bigint), ('2', (SELECT count(*) FROM orders WHERE customer = 7)), ('3', 2), ('4', (SELECT count(*) FROM items WHERE customer = 7))$$,
  'a customer with everything');
SELECT ok(plan_has($$SELECT * FROM shop_rows WHERE "row" >= '\x80000007' AND "row" < '\x80000008'$$, 'RANGE SCAN'), 'is one range');
SELECT results_eq($$SELECT qualifier, value FROM shop_rows WHERE "row" = '\x8000000731'$$, $$VALUES ('city', 'Hamburg'), ('name', 'customer 7')$$, 'the customer comes first');
SELECT is(count(*), 20::bigint, 'without the others') FROM (SELECT FROM r_customer WHERE customer > 30) x;

SELECT is(name, 'customer 7', 'a customer by number') FROM r_customer WHERE customer = 7;
SELECT ok(plan_has('SELECT name FROM r_customer WHERE customer = 7', 'POINT LOOKUP'), 'is a Get, though the type is not named');
SELECT results_eq('SELECT ordno, day FROM r_order WHERE customer = 7 ORDER BY ordno', 'SELECT ordno, day FROM orders WHERE customer = 7 ORDER BY ordno', 'the orders of a customer');
SELECT is(rows_read('SELECT ordno FROM r_order WHERE customer = 7'), (SELECT count(*) FROM orders WHERE customer = 7), 'reads nothing else');
SELECT ok(NOT plan_has('SELECT ordno FROM r_order WHERE customer = 7 ORDER BY ordno', 'Sort|Filter'), 'and sorts nothing');
SELECT is(rows_read('SELECT ordno FROM r_order WHERE customer = 7 ORDER BY ordno DESC LIMIT 1'), 1::bigint, 'the last one is one row');
SELECT results_eq('SELECT article, pieces FROM r_item WHERE customer = 7 AND ordno = 2 ORDER BY item', 'SELECT article, pieces FROM items WHERE customer = 7 AND ordno = 2 ORDER BY item',
  'the items of an order');
SELECT is_empty($$SELECT FROM r_order WHERE kind = '1'$$, 'no order is a customer');
SELECT throws_ok($$INSERT INTO r_item (customer, kind, ordno, item) VALUES (1, '2', 1, 1)$$, '23514', NULL, 'an item cannot be written as an order');
SELECT throws_ok($$INSERT INTO r_order (customer, kind, ordno) VALUES (1, '1', 1)$$, '428C9', NULL, 'nor an order as a customer');

-- --- the same questions of every design -------------------------------------------------
-- normalised
CREATE FOREIGN TABLE n_customer (customer int OPTIONS (rowkey '1'), name text, city text) SERVER widecol;
CREATE FOREIGN TABLE n_location (customer int OPTIONS (rowkey '1'), location int OPTIONS (rowkey '2'), town text) SERVER widecol;
CREATE FOREIGN TABLE n_order (customer int OPTIONS (rowkey '1'), ordno int OPTIONS (rowkey '2'), day date, location int) SERVER widecol;
CREATE FOREIGN TABLE n_item (customer int OPTIONS (rowkey '1'), ordno int OPTIONS (rowkey '2'), item int OPTIONS (rowkey '3'), article text, pieces int, price numeric) SERVER widecol;
INSERT INTO n_customer SELECT * FROM customers;
INSERT INTO n_location SELECT * FROM locations;
INSERT INTO n_order SELECT * FROM orders;
INSERT INTO n_item SELECT * FROM items;
-- denormalised: an item says it all
CREATE FOREIGN TABLE d_item (
  customer int OPTIONS (rowkey '1'), ordno int OPTIONS (rowkey '2'), item int OPTIONS (rowkey '3'),
  name text, city text, day date, town text, article text, pieces int, price numeric
) SERVER widecol;
INSERT INTO d_item SELECT customer, ordno, item, name, city, day, town, article, pieces, price
FROM customers JOIN orders USING (customer) JOIN locations USING (customer, location) JOIN items USING (customer, ordno);
-- documents: an order is a cell
CREATE FOREIGN TABLE j_order (customer int OPTIONS (rowkey '1'), ordno int OPTIONS (rowkey '2'), doc jsonb OPTIONS (qualifier 'doc')) SERVER widecol;
INSERT INTO j_order SELECT customer, ordno, jsonb_build_object('name', name, 'city', city, 'day', day, 'town', town, 'items',
  (SELECT jsonb_agg(jsonb_build_object('article', article, 'pieces', pieces, 'price', price) ORDER BY item) FROM items i WHERE (i.customer, i.ordno) = (o.customer, o.ordno)))
FROM customers JOIN orders o USING (customer) JOIN locations USING (customer, location);

-- Every design as items, so that a question is asked in the same words.
CREATE VIEW by_types AS SELECT customer, ordno, name, city, day, town, article, pieces, price
FROM r_customer JOIN r_order USING (customer) JOIN r_location USING (customer, location) JOIN r_item USING (customer, ordno);
CREATE VIEW by_tables AS SELECT customer, ordno, name, city, day, town, article, pieces, price
FROM n_customer JOIN n_order USING (customer) JOIN n_location USING (customer, location) JOIN n_item USING (customer, ordno);
CREATE VIEW by_items AS SELECT customer, ordno, name, city, day, town, article, pieces, price FROM d_item;
CREATE VIEW by_documents AS SELECT customer, ordno, doc ->> 'name' AS name, doc ->> 'city' AS city, (doc ->> 'day')::date AS day, doc ->> 'town' AS town, article, pieces, price
FROM j_order, jsonb_to_recordset(doc -> 'items') AS i (article text, pieces int, price numeric);
CREATE VIEW truth AS SELECT customer, ordno, name, city, day, town, article, pieces, price
FROM customers JOIN orders USING (customer) JOIN locations USING (customer, location) JOIN items USING (customer, ordno);

SELECT bag_eq(format(q, design), format(q, 'truth'), what || ', ' || replace(design, '_', ' '))
FROM (VALUES
  (1, 'SELECT * FROM %I', 'everything'),
  (2, 'SELECT customer, name, sum(pieces * price) FROM %I GROUP BY 1, 2', 'what a customer paid'),
  (3, $$SELECT DISTINCT customer, ordno FROM %I WHERE town = 'Hamburg' AND city <> 'Hamburg'$$, 'what went to Hamburg from elsewhere'),
  (4, 'SELECT article, pieces FROM %I WHERE customer = 7 AND ordno = 2', 'the items of an order'),
  (5, $$SELECT article, sum(pieces) FROM %I WHERE day BETWEEN '2026-01-10' AND '2026-02-05' GROUP BY 1 HAVING sum(pieces) > 10$$, 'articles that were sold often in a time')
) questions (n, q, what), unnest(ARRAY['by_types', 'by_tables', 'by_items', 'by_documents']) WITH ORDINALITY designs (design, m)
ORDER BY n, m;
SELECT ok(NOT plan_has('SELECT article, pieces FROM by_types WHERE customer = 7 AND ordno = 2', 'FULL SCAN'), 'an order is never looked for in the whole table, by types');
SELECT ok(NOT plan_has('SELECT article, pieces FROM by_tables WHERE customer = 7 AND ordno = 2', 'FULL SCAN'), 'nor by tables');
SELECT ok(plan_has('SELECT article, pieces FROM by_documents WHERE customer = 7 AND ordno = 2', 'POINT LOOKUP'), 'and is one Get as a document');

-- --- changes -----------------------------------------------------------------------------
BEGIN;
UPDATE r_customer SET city = 'Bremen' WHERE customer = 7;
DELETE FROM r_order WHERE customer = 7 AND ordno = 1;
INSERT INTO r_order (customer, ordno, day, location) VALUES (7, 9, '2026-03-01', 1);
SELECT results_eq($$SELECT city, array_agg(ordno ORDER BY ordno) FROM r_customer JOIN r_order USING (customer) WHERE customer = 7 GROUP BY city$$,
  $$SELECT 'Bremen', array_agg(ordno ORDER BY ordno) || 9 FROM orders WHERE customer = 7 AND ordno > 1$$, 'two types of a customer change in one transaction');
SELECT is(count(*), (SELECT count(*) FROM items WHERE customer = 7), 'items of that customer stay') FROM r_item WHERE customer = 7;
DELETE FROM r_order;
SELECT is((SELECT count(*) FROM r_customer), 50::bigint, 'all orders are deleted, and no customer');
ROLLBACK;
SELECT bag_eq('SELECT customer, ordno, day, location FROM r_order', 'SELECT * FROM orders', 'and back');

SELECT * FROM finish();
