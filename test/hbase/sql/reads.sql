-- rows of HBase tables: ranges, keys, both directions, pages, filters, joins
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/reads.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');

CREATE FOREIGN TABLE people (
  id text OPTIONS (rowkey '1') COLLATE "C",
  name text OPTIONS (family 'info'),
  born int OPTIONS (family 'info', encoding 'text'),
  first bytea OPTIONS (family 'notes'),
  info jsonb OPTIONS (family 'info'),
  notes jsonb OPTIONS (family 'notes'),
  names widecol.version[] OPTIONS (family 'info', qualifier 'name', versions '5')
) SERVER hbase OPTIONS ("table" 'wc_reads:people');
CREATE FOREIGN TABLE events (
  id text OPTIONS (rowkey '1') COLLATE "C",
  n int OPTIONS (family 'f', encoding 'text')
) SERVER hbase OPTIONS ("table" 'wc_reads:events');

EXPLAIN (COSTS OFF) SELECT * FROM people;
SELECT id, name, born, first FROM people;
SELECT id, name, born, first FROM people ORDER BY id DESC;
SELECT id, info, notes FROM people WHERE id <> 'ada';
SELECT names FROM people WHERE id = 'ada';
SELECT count(*) FROM people;
SELECT id FROM people WHERE name IS NULL;

-- one key, several, none of them there; also from behind
SELECT name FROM people WHERE id = 'grace';
SELECT name FROM people WHERE id = 'nowhere';
SELECT id, first FROM people WHERE id IN ('nobody', 'ada', 'zoe', 'alan');
SELECT id, first FROM people WHERE id IN ('nobody', 'ada', 'zoe', 'alan') ORDER BY id DESC;

-- bounds that are in and out of the range, over boundaries of regions
SELECT * FROM events WHERE id >= 'row01998' AND id < 'row02002';
SELECT * FROM events WHERE id > 'row01998' AND id <= 'row02002';
SELECT * FROM events WHERE id >= 'row01998' AND id < 'row02002' ORDER BY id DESC;
SELECT * FROM events WHERE id > 'row01998' AND id <= 'row02002' ORDER BY id DESC;
SELECT * FROM events WHERE id > 'row09997';
SELECT * FROM events WHERE id < 'row00002' ORDER BY id DESC;
SELECT id FROM events WHERE id LIKE 'row0500%' AND id > 'row05007';
SELECT count(*), sum(n), min(id), max(id) FROM events;
SELECT count(*) FROM events WHERE id BETWEEN 'row00100' AND 'row00199' OR id BETWEEN 'row07000' AND 'row07099' OR id = 'row09999';
SELECT min(n), max(n) FROM (SELECT n FROM events WHERE id BETWEEN 'row00100' AND 'row00199' OR id BETWEEN 'row07000' AND 'row07099' ORDER BY id DESC LIMIT 150) AS page;

-- pages
EXPLAIN (COSTS OFF) SELECT id FROM events ORDER BY id OFFSET 4998 LIMIT 3;
SELECT id FROM events ORDER BY id OFFSET 4998 LIMIT 3;
SELECT id FROM events ORDER BY id DESC OFFSET 4998 LIMIT 3;
SELECT id FROM events WHERE id > 'row00009' ORDER BY id LIMIT 2;

-- what HBase was not asked to decide is decided here
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id FROM events WHERE n = 4242;
SELECT id FROM events WHERE n = 4242;
SELECT id FROM events WHERE n > 9000 ORDER BY id OFFSET 10 LIMIT 2;
SELECT id FROM people WHERE name LIKE 'A%' AND born < 1900;

-- text is compared by HBase: only what passes travels
CREATE FOREIGN TABLE texts (id text OPTIONS (rowkey '1') COLLATE "C", n text OPTIONS (family 'f') COLLATE "C", other text OPTIONS (family 'f'))
  SERVER hbase OPTIONS ("table" 'wc_reads:events');
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id FROM texts WHERE n = '4242';
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id FROM texts WHERE n LIKE '424%' AND upper(n) <> '4244' ORDER BY id DESC;
CREATE FUNCTION compare(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  query text := format('SELECT count(*)::text || coalesce('' '' || md5(string_agg(id, '','' ORDER BY id)), '''') FROM texts WHERE %s', condition);
  pushed text;
  plain text;
BEGIN
  EXECUTE query INTO pushed;
  SET LOCAL widecol.enable_pushdown = off;
  EXECUTE query INTO plain;
  SET LOCAL widecol.enable_pushdown = on;
  RETURN split_part(pushed, ' ', 1) || CASE WHEN pushed = plain THEN '' ELSE ' but ' || plain END;
END $$;
-- "HBase Filter" in EXPLAIN, where it is not the whole condition
CREATE FUNCTION sent(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) SELECT * FROM texts WHERE ' || condition INTO plan;
  RETURN CASE WHEN plan->0->'Plan'->>'HBase Filter' = plan->0->'Plan'->>'Session Filter' AND plan->0->'Plan'->>'Filter' IS NULL THEN 'all'
    ELSE plan->0->'Plan'->>'HBase Filter' END;
END $$;
SELECT condition, compare(condition), sent(condition) FROM unnest(ARRAY[
  $$n = '4242'$$, $$n <> '4242'$$, $$n < '2'$$, $$n <= '2'$$, $$n > '97'$$, $$n >= '97' AND n < '98'$$, $$NOT (n >= '97' AND n < '98')$$,
  $$n LIKE '424%'$$, $$n NOT LIKE '424%'$$, $$n LIKE '4%2'$$, $$n IN ('1', '22', 'none', '333')$$, $$n NOT IN ('1', '22', 'none', '333')$$,
  $$n = ANY (SELECT g::text FROM generate_series(1, 900, 3) AS g)$$, $$n = ANY (ARRAY(SELECT g::text FROM generate_series(1, 900, 3) AS g))$$,
  $$n IS NULL$$, $$n IS NOT NULL AND id > 'row09990'$$, $$other IS NULL AND n < '11'$$, $$other = 'x'$$, $$other <> 'x' OR n = '7'$$,
  $$NOT (other = 'x' OR n > '10')$$, $$(n = '1') IS TRUE$$, $$(n = '1') IS NOT TRUE$$, $$(other = 'x') IS NOT TRUE AND n < '11'$$,
  $$n = '17' OR id > 'row09990'$$, $$n = '17' OR length(n) = 1$$, $$n < '5' AND (n LIKE '1%' OR n > '4999')$$, $$n = NULL$$,
  $$n IS DISTINCT FROM '5'$$, $$n BETWEEN '30' AND '31' AND id < 'row00400'$$]) AS condition;
SELECT id, name FROM people WHERE name > 'B' ORDER BY id DESC;
SELECT id, name, first, notes FROM people WHERE name > 'B' ORDER BY id DESC;
SELECT id FROM people WHERE first IS NULL ORDER BY id DESC;
SELECT id FROM people WHERE first = '\x000102' OR name = 'Alan Turing';

-- lookups of many keys: one call has up to 1000 of them
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*), sum(n) FROM generate_series(0, 9999, 7) AS g JOIN events ON id = 'row' || lpad(g::text, 5, '0');
SELECT count(*) FROM events WHERE id = ANY (SELECT 'row' || lpad(g::text, 5, '0') FROM generate_series(0, 12000, 4) AS g);
RESET enable_hashjoin;
RESET enable_mergejoin;

-- with tables of the embedded engine, and with heap tables
CREATE FOREIGN TABLE local_copy (id text OPTIONS (rowkey '1') COLLATE "C", name text, born int) SERVER widecol;
INSERT INTO local_copy SELECT id, name, born FROM people;
CREATE TABLE heap_copy AS SELECT id, name, born, first FROM people;
SELECT l.id, h.born, e.n FROM local_copy l JOIN heap_copy h USING (id) JOIN people p USING (id) LEFT JOIN events e ON e.id = 'row0' || p.born;

-- partitions of all kinds
CREATE TABLE parts (id text COLLATE "C", n int) PARTITION BY RANGE (id);
ALTER TABLE parts ATTACH PARTITION events FOR VALUES FROM ('row') TO ('rox');
CREATE TABLE parts_heap PARTITION OF parts FOR VALUES FROM ('a') TO ('b');
INSERT INTO parts VALUES ('apple', -1);
SELECT * FROM parts WHERE id < 'row00003' ORDER BY id;
SELECT count(*), sum(n) FROM parts;
ALTER TABLE parts DETACH PARTITION events;
DROP TABLE parts;

-- ANALYZE counts the rows, and the planner believes that
ANALYZE events;
SELECT reltuples FROM pg_class WHERE relname = 'events';
CREATE FUNCTION planned_rows(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
SELECT planned_rows('SELECT * FROM events'), planned_rows('SELECT * FROM people');

-- a family of few rows is not looked for behind the wanted rows
CREATE FOREIGN TABLE sparse (id text OPTIONS (rowkey '1') COLLATE "C", n int OPTIONS (family 'f', encoding 'text'),
  seldom int OPTIONS (family 'g', encoding 'text', qualifier 'n')) SERVER hbase OPTIONS ("table" 'wc_reads:sparse');
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM sparse LIMIT 3;
SELECT * FROM sparse ORDER BY id DESC LIMIT 2;
SELECT count(*), sum(n), sum(seldom) FROM sparse;

-- a cursor goes on where it was
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM events ORDER BY id DESC;
FETCH 2 FROM c;
MOVE 4000 IN c;
FETCH 2 FROM c;
COMMIT;

-- keys and bounds that are longer than HBase's row keys, of 32767 bytes, or so long that HBase cannot locate a row
CREATE FOREIGN TABLE long (id text OPTIONS (rowkey '1') COLLATE "C", n text OPTIONS (family 'f')) SERVER hbase OPTIONS ("table" 'wc_reads:long');
CREATE TABLE heap_long (id text COLLATE "C", n text);
INSERT INTO heap_long SELECT * FROM (VALUES ('a', 1), ('k', 2), (repeat('k', 32000), 3), ('z', 6)) AS v(id, n);
INSERT INTO long SELECT * FROM heap_long;
-- the rows forwards, the last ones backwards, and the first one
CREATE FUNCTION answers(relation text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT (SELECT string_agg(n, '','' ORDER BY id) FROM %1$s WHERE %2$s) || '' down '' ||
    (SELECT string_agg(n, '','') FROM (SELECT n FROM %1$s WHERE %2$s ORDER BY id DESC LIMIT 5) AS d) || '' next '' ||
    coalesce((SELECT n FROM %1$s WHERE %2$s ORDER BY id LIMIT 1), '''')', relation, condition) INTO result;
  RETURN coalesce(result, 'nothing');
END $$;
CREATE FUNCTION differences() RETURNS TABLE (condition text, answer text, answer_of_heap text) LANGUAGE plpgsql AS $$
DECLARE
  key text;
BEGIN
  FOR key IN SELECT format('repeat(''k'', %s) || ''%s''', length - length(last), last)
    FROM unnest('{31999,32000,32001,32740,32766,32767,32768,40000}'::int[]) AS length, unnest('{"",a,z}'::text[]) AS last
  LOOP
    FOR condition IN SELECT format(f, key) FROM unnest(ARRAY['id = %s', 'id > %s', 'id >= %s', 'id < %s', 'id <= %s', $f$id IN (%s, 'z', 'a')$f$,
      $f$id > %1$s OR id < 'b'$f$, $f$id < %s OR id > 'y'$f$, 'id ^@ (%s)', $f$id BETWEEN 'b' AND %s$f$, $f$id BETWEEN %s AND 'y'$f$]) AS f
    LOOP
      SELECT answers('long', condition), answers('heap_long', condition) INTO answer, answer_of_heap;
      IF answer <> answer_of_heap THEN
        RETURN NEXT;
      END IF;
    END LOOP;
  END LOOP;
END $$;
SELECT answers('long', 'id > repeat(''k'', 32768)'), answers('long', 'id <= repeat(''k'', 32768)'), answers('long', 'id = repeat(''k'', 32768)');
SELECT * FROM differences();
-- rows that other clients could write, since they knew the region
\! (echo put wc_reads:long k f:n 2; for n in 32001 32760 32767; do printf 'put wc_reads:long '; printf "%${n}s" '' | tr ' ' k; echo " f:n $n"; done) | python3 gateway.py "$HBASE_BUFFERED"
INSERT INTO heap_long SELECT repeat('k', n), n FROM unnest('{32001,32760,32767}'::int[]) AS n;
SELECT n, length(id) FROM long ORDER BY id;
SELECT * FROM differences();
-- the first call, which has to locate the row
\! (echo drop wc_reads:long; echo create wc_reads:long f /m) | python3 gateway.py "$HBASE_BUFFERED"
SELECT count(*) FROM long WHERE id = repeat('k', 32767);
\! (echo drop wc_reads:long; echo create wc_reads:long f /m) | python3 gateway.py "$HBASE_BUFFERED"
SELECT n FROM long WHERE id < repeat('k', 32767) ORDER BY id DESC;
INSERT INTO long VALUES (repeat('k', 32768), 'n');
DELETE FROM long WHERE id = repeat('k', 32768);
SELECT widecol.put('long', convert_to(repeat('k', 32768), 'UTF8'), 'f:n', 'x');
SELECT widecol.incr('long', convert_to(repeat('k', 32768), 'UTF8'), 'f:c');
SELECT count(*) FROM widecol.get('long', convert_to(repeat('k', 32768), 'UTF8'));
SELECT count(*) FROM widecol.scan('long', start_row => convert_to(repeat('k', 32768), 'UTF8'), reversed => true);

SET client_min_messages = warning;
DROP TABLE heap_long;
DROP FUNCTION answers, differences;
SELECT widecol.drop_table('local_copy', cascade => true);
DROP TABLE heap_copy;
DROP FUNCTION compare, sent, planned_rows;
DROP SERVER hbase CASCADE;
