-- joins of HBase tables with heap tables and tables of the embedded engine: how many calls they take
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/joins.tables
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults count calls`
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'proxy', transport :'transport', protocol :'protocol');
CREATE FOREIGN TABLE far (id text OPTIONS (rowkey '1') COLLATE "C", v int OPTIONS (family 'f', encoding 'text'))
  SERVER hbase OPTIONS ("table" 'wc_joins:t');
CREATE FOREIGN TABLE near (id text OPTIONS (rowkey '1') COLLATE "C", g int) SERVER widecol OPTIONS ("table" 'wc_joins_near');
CREATE TABLE heap AS SELECT 'row' || lpad((g * 7 % 4000)::text, 5, '0') AS id, g FROM generate_series(1, 2000) g;
INSERT INTO near SELECT id, g FROM heap WHERE g % 2 = 0;
ANALYZE heap, near;

-- the keys of the outer rows travel in batches; each is one call with as many ranges (the first, of one key, is a get)
EXPLAIN (COSTS OFF) SELECT heap.g, near.g, far.v FROM heap JOIN near USING (id) JOIN far USING (id);
CREATE FUNCTION calls(query text, OUT "table" text, OUT rows int, OUT calls int) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT json) ' || query INTO plan;
  RETURN QUERY SELECT node->>'Relation Name', (node->>'Rows Read')::int, (node->>'Calls')::int
    FROM jsonb_path_query(plan, 'strict $.** ? (exists (@."Calls"))') AS node;
END $$;
SELECT count(*), sum(far.v) FROM heap JOIN near USING (id) JOIN far USING (id);
\! wc -l < calls
SELECT * FROM calls('SELECT heap.g, near.g, far.v FROM heap JOIN near USING (id) JOIN far USING (id)');
\! wc -l < calls

-- keys that are not there, and none at all
SELECT count(*), count(far.v) FROM heap LEFT JOIN far USING (id);
SELECT * FROM calls('SELECT far.v FROM (SELECT id FROM heap WHERE g < 0) none JOIN far USING (id)');

-- many keys of one list, and those of a subquery
SELECT * FROM calls($$SELECT v FROM far WHERE id = ANY (ARRAY(SELECT id FROM heap WHERE g <= 900))$$);
SELECT * FROM calls($$SELECT v FROM far WHERE id IN (SELECT id FROM near WHERE g < 200)$$);

-- each partition is asked for those of the keys that it may have
CREATE FOREIGN TABLE far2 (id text OPTIONS (rowkey '1') COLLATE "C", v int OPTIONS (family 'f', encoding 'text'))
  SERVER hbase OPTIONS ("table" 'wc_joins:t');
CREATE TABLE parts (id text COLLATE "C", v int) PARTITION BY RANGE (id);
ALTER TABLE parts ATTACH PARTITION far FOR VALUES FROM ('row') TO ('row02000');
ALTER TABLE parts ATTACH PARTITION far2 FOR VALUES FROM ('row02000') TO ('rox');
SELECT * FROM calls('SELECT near.g, parts.v FROM near JOIN parts USING (id)');
SELECT count(*), sum(parts.v) FROM near JOIN parts USING (id);
ALTER TABLE parts DETACH PARTITION far;
DROP TABLE parts;

-- own changes are joined, too, before and after they are sent
BEGIN;
INSERT INTO far VALUES ('row00007', -7), ('row03500', -35);
DELETE FROM far WHERE id = 'row00014';
SELECT id, g, v FROM heap JOIN far USING (id) WHERE g IN (1, 2, 3, 500) ORDER BY id;
COMMIT;
SELECT id, g, v FROM heap JOIN far USING (id) WHERE g IN (1, 2, 3, 500) ORDER BY id;

-- what was rolled back is not sent by what changes the embedded engine alone
BEGIN;
INSERT INTO far VALUES ('ghost', 0);
ROLLBACK;
SELECT widecol.create_table('wc_joins_other', '{"f": {}}'), widecol.drop_table('wc_joins_other');
SELECT count(*) FROM far WHERE id = 'ghost';

DROP FUNCTION calls;
DROP TABLE heap;
DROP FOREIGN TABLE near;
SELECT widecol.drop_table('wc_joins_near');
DROP SERVER hbase CASCADE;
