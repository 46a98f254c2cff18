-- cells, and all kinds of deletes, in layout cell
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/writecells.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');
CREATE FOREIGN TABLE c (row text, family text, qualifier text, ts bigint, type text, value text) SERVER hbase
  OPTIONS ("table" 'wc_writecells:t', layout 'cell', versions '5');
CREATE FOREIGN TABLE stored (row text, family text, qualifier text, ts bigint, type text, value text) SERVER hbase
  OPTIONS ("table" 'wc_writecells:t', layout 'cell', raw 'true');
INSERT INTO c (row, family, qualifier, ts, value)
  SELECT r, f, q, v * 1000, r || f || q || v FROM unnest('{a,b,c,d,e}'::text[]) r, unnest('{f,g}'::text[]) f,
    unnest('{p,q}'::text[]) q, generate_series(1, 3) v;
SELECT count(*) FROM c;

-- markers of each kind, with timestamps
INSERT INTO c (row, family, qualifier, ts, type) VALUES
  ('a', 'f', 'p', 2000, 'Delete'), ('b', 'f', 'p', 2000, 'DeleteColumn'), ('c', 'f', '', 2000, 'DeleteFamily'),
  ('d', 'f', '', 2000, 'DeleteFamilyVersion');
-- a version; some of a row; a put and markers of two kinds in one row
DELETE FROM c WHERE row = 'a' AND family = 'g' AND ts = 3000;
BEGIN;
INSERT INTO c (row, family, qualifier, ts, value) VALUES ('e', 'f', 'new', 5000, 'put');
INSERT INTO c (row, family, qualifier, ts, type) VALUES ('e', 'f', 'p', 3000, 'Delete'), ('e', 'g', '', 9000, 'DeleteFamily');
SELECT row, family, qualifier, ts, value FROM c WHERE row = 'e';
COMMIT;
SELECT row, family, qualifier, ts, value FROM c;
SELECT row, family, qualifier, ts, type FROM stored WHERE type <> 'Put';

-- several of a family in one row: each is stored
BEGIN;
INSERT INTO c (row, family, qualifier, ts, value) VALUES ('m', 'f', 'p', 4000, 'older'), ('m', 'f', 'q', 6000, 'newer'), ('n', 'f', 'p', 6000, 'kept');
COMMIT;
BEGIN;
INSERT INTO c (row, family, ts, type) VALUES ('m', 'f', 5000, 'DeleteFamily'), ('m', 'f', 7000, 'DeleteFamily'), ('n', 'f', 5000, 'DeleteFamily');
SELECT row, qualifier, ts, value FROM c WHERE row IN ('m', 'n');
COMMIT;
SELECT row, qualifier, ts, value FROM c WHERE row IN ('m', 'n');
SELECT row, family, ts, type FROM stored WHERE row IN ('m', 'n') AND type <> 'Put';

-- the transaction sees what its markers uncover, though HBase does not show it yet, and not what markers in HBase hide
CREATE FOREIGN TABLE one (row text, family text, qualifier text, ts bigint, type text, value text) SERVER hbase
  OPTIONS ("table" 'wc_writecells:one', layout 'cell');
INSERT INTO one (row, family, qualifier, ts, value) VALUES ('a', 'f', 'q', 1000, 'older'), ('b', 'f', 'q', 1000, 'older'), ('c', 'f', 'q', 1000, 'older');
INSERT INTO one (row, family, qualifier, ts, value) VALUES ('a', 'f', 'q', 2000, 'newer'), ('b', 'f', 'q', 2000, 'newer'), ('c', 'f', 'q', 2000, 'newer');
INSERT INTO one (row, family, ts, type) VALUES ('d', 'f', 5000, 'DeleteFamily');
BEGIN;
DELETE FROM one WHERE row = 'a' AND ts = 2000;
INSERT INTO one (row, family, qualifier, ts, value) VALUES ('d', 'f', 'q', 4000, 'hidden'), ('d', 'f', 'r', 6000, 'shown');
SELECT row, qualifier, ts, value FROM one WHERE row IN ('a', 'd');
SELECT ts, convert_from(value, 'UTF8') AS value FROM widecol.get('one', 'a', '{f:q}', time_range => '[0,1500)');
SELECT widecol.check('one', 'a', 'f:q', NULL);
COMMIT;
SELECT row, qualifier, ts, value FROM one WHERE row IN ('a', 'd');
BEGIN;
SELECT widecol.delete_version('one', 'b', 'f:q'), widecol.deleteall('one', row_prefix => 'b');
SELECT widecol.delete_version('one', 'c', 'f:q');
SELECT widecol.delete_version('one', 'c', 'f:q');
COMMIT;
SELECT row, qualifier, ts, value FROM one WHERE row IN ('b', 'c');

-- versions that are written as a whole replace those that HBase does not show, too
CREATE FOREIGN TABLE history (k text OPTIONS (rowkey '1') COLLATE "C", v widecol.version[] OPTIONS (family 'f', qualifier 'v')) SERVER hbase
  OPTIONS ("table" 'wc_writecells:one', family 'f');
INSERT INTO one (row, family, qualifier, ts, value) VALUES ('h', 'f', 'v', 1000, 'older');
INSERT INTO one (row, family, qualifier, ts, value) VALUES ('h', 'f', 'v', 3000, 'newer');
UPDATE history SET v = ARRAY[(2000, 'given')::widecol.version] WHERE k = 'h';
SELECT ts, value FROM one WHERE row = 'h';
DELETE FROM one WHERE row = 'h';
SELECT ts, value FROM one WHERE row = 'h';

-- without a timestamp: a marker deletes the cells before it, not later ones
INSERT INTO c (row, family, qualifier, type) VALUES ('a', 'f', 'p', 'Delete'), ('b', 'f', 'q', 'DeleteColumn'), ('c', 'g', '', 'DeleteFamily');
INSERT INTO c (row, family, qualifier, value) VALUES ('b', 'f', 'q', 'comes'), ('c', 'g', 'p', 'comes');
SELECT row, family, qualifier, value FROM c WHERE row IN ('a', 'b', 'c');
BEGIN;
INSERT INTO c (row, family, qualifier, type) VALUES ('b', 'f', 'q', 'DeleteColumn');
INSERT INTO c (row, family, qualifier, value) VALUES ('b', 'f', 'q', 'comes again');
COMMIT;
SELECT row, family, qualifier, value FROM c WHERE row = 'b' AND qualifier = 'q';

-- a value is changed in its version
UPDATE c SET value = 'changed' WHERE row = 'd' AND family = 'g' AND qualifier = 'p' AND ts = 2000;
SELECT qualifier, ts, value FROM c WHERE row = 'd' AND family = 'g';
BEGIN;
INSERT INTO c (row, family, qualifier, value) VALUES ('d', 'f', 'x', 'no timestamp yet');
DO $$ BEGIN
  DELETE FROM c WHERE row = 'd' AND qualifier = 'x';
EXCEPTION WHEN datetime_field_overflow THEN RAISE NOTICE '%', regexp_replace(sqlerrm, '\d+', '...');
END $$;
ROLLBACK;
INSERT INTO c (row, family, qualifier, ts, value) VALUES ('d', 'f', 'x', 1500001, 'microseconds');
CREATE FOREIGN TABLE lives (row text, family text, qualifier text, ts bigint, ttl interval, value text) SERVER hbase
  OPTIONS ("table" 'wc_writecells:t', layout 'cell');
-- times to live: HBase has one for all cells of a put, and a row may have several; it does not show them
BEGIN;
INSERT INTO lives VALUES ('l1', 'f', 'ever', 1000, NULL, 'a'), ('l1', 'f', 'gone', 1000, '1 day', 'b'), ('l1', 'f', 'long', 1000, '2000 years', 'c'),
  ('l1', 'g', 'gone', 2000, '1 day', 'd'), ('l2', 'f', 'gone', 1000, '1 day', 'e'), ('l3', 'f', 'long', 1000, '2000 years', 'f');
SELECT * FROM lives WHERE row IN ('l1', 'l2', 'l3');
COMMIT;
SELECT * FROM lives WHERE row IN ('l1', 'l2', 'l3');
DELETE FROM lives WHERE row IN ('l1', 'l2', 'l3');
INSERT INTO lives VALUES ('d', 'f', 'x', 1000, '1.5 milliseconds', 'short');
INSERT INTO c (row, family, qualifier, value) VALUES ('d', 'none', 'x', 'y');

-- timestamps that are no times
ALTER SERVER hbase OPTIONS (ADD timestamps 'raw');
INSERT INTO c (row, family, qualifier, ts, value) VALUES ('r', 'f', 'x', 7, 'seven'), ('r', 'f', 'x', 8, 'eight');
DELETE FROM c WHERE row = 'r' AND ts = 8;
SELECT ts, value FROM c WHERE row = 'r';
BEGIN;
INSERT INTO c (row, family, qualifier, value) VALUES ('r', 'f', 'y', 'no timestamp yet');
\set VERBOSITY terse
\set SHOW_CONTEXT never
DO $$ BEGIN
  DELETE FROM c WHERE row = 'r' AND qualifier = 'y';
EXCEPTION WHEN datetime_field_overflow THEN RAISE NOTICE '%', regexp_replace(sqlerrm, '\d+', '...');
END $$;
ROLLBACK;
DROP SERVER hbase CASCADE;
