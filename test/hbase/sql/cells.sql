-- cells of HBase tables: versions, times, markers
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/cells.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol', fetch_size '3');

CREATE FOREIGN TABLE cells (
  "row" text COLLATE "C", family text COLLATE "C", qualifier bytea, ts bigint, type text, value text, ttl interval
) SERVER hbase OPTIONS ("table" 'wc_cells:t', layout 'cell');
-- HBase's milliseconds are microseconds here
SELECT * FROM cells;
SELECT * FROM cells WHERE "row" = 'a' AND family = 'f' AND qualifier = 'q';
SELECT * FROM cells WHERE family = 'g';
SELECT "row", ts, value FROM cells WHERE ts >= 1000001 AND ts < 3000000;
SELECT "row", ts, value FROM cells WHERE ts = 1500000;
SELECT count(*) FROM cells;

ALTER FOREIGN TABLE cells OPTIONS (ADD versions '2');
SELECT "row", family, qualifier, ts, value FROM cells WHERE "row" = 'a';
ALTER FOREIGN TABLE cells OPTIONS (DROP versions);

-- a filter of HBase's language decides on versions that are not the newest, too
SELECT ts, convert_from(value, 'UTF8') AS value FROM widecol.scan('cells', filter => 'ValueFilter(=, ''binary:v2'')');

-- markers, and what they hide
CREATE FOREIGN TABLE raw (
  "row" text COLLATE "C", family text COLLATE "C", qualifier bytea, ts bigint, type text, value text
) SERVER hbase OPTIONS ("table" 'wc_cells:t', layout 'cell', raw 'true');
SELECT * FROM raw WHERE "row" > 'a';

-- a time range decides before versions are counted
CREATE FOREIGN TABLE rows (
  id text OPTIONS (rowkey '1') COLLATE "C",
  q text OPTIONS (family 'f', qualifier 'q'),
  written bigint OPTIONS (family 'f', qualifier 'q', attribute 'timestamp')
) SERVER hbase OPTIONS ("table" 'wc_cells:t');
SELECT * FROM rows;
SELECT id FROM rows WHERE written = 3000000;

-- timestamps that are no times
CREATE FOREIGN TABLE late (
  "row" text COLLATE "C", family text, qualifier text, ts bigint, value text
) SERVER hbase OPTIONS ("table" 'wc_cells:late', layout 'cell');
SELECT * FROM late;
SELECT * FROM late WHERE "row" = 'b';
ALTER SERVER hbase OPTIONS (ADD timestamps 'raw');
SELECT * FROM late;
SELECT "row" FROM late WHERE ts > 12;

DROP SERVER hbase CASCADE;
