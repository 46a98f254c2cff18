-- ANALYZE draws a sample of a table whose size nobody knows
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/analyze.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');
CREATE FOREIGN TABLE regions (id text OPTIONS (rowkey '1') COLLATE "C", n int OPTIONS (family 'f', encoding 'text'))
  SERVER hbase OPTIONS ("table" 'wc_analyze:regions');
CREATE FOREIGN TABLE rare (id text OPTIONS (rowkey '1') COLLATE "C", n int OPTIONS (family 'g', encoding 'text'))
  SERVER hbase OPTIONS ("table" 'wc_analyze:regions');
CREATE FOREIGN TABLE cells ("row" text, family text, qualifier text, value text)
  SERVER hbase OPTIONS ("table" 'wc_analyze:regions', layout 'cell');
CREATE FOREIGN TABLE one (id text OPTIONS (rowkey '1') COLLATE "C", n int OPTIONS (family 'f', encoding 'text'))
  SERVER hbase OPTIONS ("table" 'wc_analyze:one');
CREATE FOREIGN TABLE none (id text OPTIONS (rowkey '1') COLLATE "C", n int OPTIONS (family 'f', encoding 'text'))
  SERVER hbase OPTIONS ("table" 'wc_analyze:none');
CREATE FOREIGN TABLE skew (id bytea OPTIONS (rowkey '1'), n int OPTIONS (family 'f', encoding 'text'))
  SERVER hbase OPTIONS ("table" 'wc_analyze:skew');

-- small tables are read completely
ANALYZE regions, rare, one, none, skew;
SELECT relname, reltuples FROM pg_class WHERE relname IN ('regions', 'rare', 'one', 'none', 'skew') ORDER BY 1;

-- estimates of smaller samples; their mean has a small error
CREATE FUNCTION mean_estimate(of regclass, times int) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  total float8 := 0;
BEGIN
  FOR i IN 1 .. times LOOP
    EXECUTE format('ANALYZE %s', of);
    total := total + (SELECT reltuples FROM pg_class WHERE oid = of);
  END LOOP;
  RETURN total / times;
END $$;
SET default_statistics_target = 1;
SELECT mean_estimate('regions', 2) BETWEEN 7500 AND 13300 AS regions, mean_estimate('cells', 1) BETWEEN 6500 AND 14500 AS cells,
  mean_estimate('skew', 2) BETWEEN 3500 AND 7000 AS skew;
SELECT most_common_vals, most_common_freqs[1] BETWEEN 0.75 AND 1 AS nearly_all FROM pg_stats WHERE tablename = 'cells' AND attname = 'family';
-- rows of all parts of the table are in the sample
ANALYZE regions;
SELECT bounds[1] < 'row02000' AND bounds[2] > 'row08000' AS all_parts
FROM (SELECT histogram_bounds::text::text[] AS bounds FROM pg_stats WHERE tablename = 'regions' AND attname = 'id') s;
RESET default_statistics_target;

-- a partitioned table, and its partitions
CREATE TABLE parted (id text COLLATE "C", n int) PARTITION BY RANGE (id);
ALTER TABLE parted ATTACH PARTITION regions FOR VALUES FROM ('row') TO ('rox');
CREATE FOREIGN TABLE parted_local (id text OPTIONS (rowkey '1') COLLATE "C", n int) SERVER widecol OPTIONS ("table" 'wc_analyze_local');
ALTER TABLE parted ATTACH PARTITION parted_local FOR VALUES FROM ('a') TO ('b');
INSERT INTO parted SELECT 'a' || i, -i FROM generate_series(1, 5000) i;
ANALYZE parted;
SELECT relname, reltuples BETWEEN 14000 AND 16000 AS both, reltuples = 5000 AS local, reltuples = 10000 AS hbase FROM pg_class
WHERE relname IN ('parted', 'parted_local', 'regions') ORDER BY 1;
SELECT min(b) < 'a2' AS local, max(b) > 'row09' AS hbase
FROM (SELECT unnest(histogram_bounds::text::text[]) AS b FROM pg_stats WHERE tablename = 'parted' AND attname = 'id' AND inherited) s;

-- the transaction's own changes
BEGIN;
INSERT INTO none SELECT 'new' || i FROM generate_series(1, 20) i;
ANALYZE none;
SELECT reltuples FROM pg_class WHERE relname = 'none';
ROLLBACK;
BEGIN;
TRUNCATE one;
INSERT INTO skew SELECT int4send(i), i FROM generate_series(1, 1000) i;
DELETE FROM skew WHERE id >= 'row00000' AND id < 'row01000';
ANALYZE one, skew;
SELECT relname, reltuples FROM pg_class WHERE relname IN ('one', 'skew') ORDER BY 1;
ROLLBACK;

-- lost connections change nothing
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults lose 9`
ALTER SERVER hbase OPTIONS (SET port :'proxy');
ANALYZE one;
SELECT reltuples FROM pg_class WHERE relname = 'one';
-- no answer: it can be cancelled, and the limit of an answer holds; statistics stay
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults hold 9`
ALTER SERVER hbase OPTIONS (SET port :'proxy');
\set VERBOSITY sqlstate
SET statement_timeout = '300ms';
ANALYZE one;
RESET statement_timeout;
ALTER SERVER hbase OPTIONS (ADD timeout '1');
ANALYZE one;
\set VERBOSITY default
ALTER SERVER hbase OPTIONS (SET port :'port', DROP timeout);
SELECT reltuples FROM pg_class WHERE relname = 'one';
-- the table is gone
\! echo "drop wc_analyze:one" | python3 gateway.py "$HBASE_BUFFERED"
ANALYZE one;

DROP TABLE parted CASCADE;
SELECT widecol.drop_table('wc_analyze_local');
DROP SERVER hbase CASCADE;
DROP FUNCTION mean_estimate;
