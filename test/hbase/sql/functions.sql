-- widecol's functions on cells, of tables in an HBase cluster
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/functions.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'cf')) SERVER hbase OPTIONS ("table" 'wc_functions:t');

-- reading
SELECT * FROM widecol.get('t', 'a');
SELECT * FROM widecol.get('t'::regclass, 'a', columns => '{cf:x}', versions => 3);
SELECT * FROM widecol.get('t', 'a', columns => '{cf:x}', versions => 3, time_range => '[0,2000000)');
SELECT * FROM widecol.get('t', 'a', time_range => '[9223372036854775807,]');
SELECT * FROM widecol.get('t', '{b,a,nobody}'::widecol.bytes[], columns => '{cf}');
SELECT * FROM widecol.scan('t', row_prefix => 'b');
SELECT "row", family, qualifier FROM widecol.scan('t', reversed => true, row_limit => 1);
SELECT "row", value FROM widecol.scan('t', columns => '{cf}', filter => 'ValueFilter(=, ''binary:3'')');
SELECT widecol.count('t'), widecol.count('t', columns => '{g}');
-- HBase gets what it can decide of a filter: one answer has all rows that pass
\! rm -f filtered
\set proxy `python3 proxy.py "$HBASE_GATEWAY" getScannerResults count filtered`
CREATE SERVER counted FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'proxy', transport :'transport', protocol :'protocol');
CREATE FOREIGN TABLE many (id text OPTIONS (rowkey '1')) SERVER counted OPTIONS ("table" 'wc_functions:many');
SELECT convert_from("row", 'UTF8'), family, value FROM widecol.scan('many', filter => $$SingleColumnValueFilter('f', 'n', =, 'binary:2345')$$);
SELECT convert_from("row", 'UTF8') FROM widecol.scan('many', filter => $$SingleColumnValueFilter('f', 'n', =, 'regexstring:^2\d45$')
  AND FirstKeyOnlyFilter() AND PageFilter(3)$$, reversed => true);
SELECT convert_from("row", 'UTF8'), family FROM widecol.scan('many', filter => $$ValueFilter(=, 'substring:2345') OR FamilyFilter(>, 'binary:f')$$);
\! wc -l <filtered
-- not the parts that see what other parts have let through
SELECT convert_from("row", 'UTF8') FROM widecol.scan('many', filter => $$PageFilter(1) AND SingleColumnValueFilter('f', 'n', >, 'binary:5')$$);
SELECT count(*) FROM widecol.scan('many', filter => $$FamilyFilter(=, 'binary:g') AND SingleColumnValueFilter('f', 'n', =, 'binary:0')$$);
DROP SERVER counted CASCADE;
SELECT widecol.row_key('t', 'a');
SELECT * FROM widecol.get('t', 'a', columns => '{no:x}');
SELECT * FROM widecol.get('wc_functions:t', 'a');

-- writing: with the transaction
BEGIN;
SELECT widecol.put('t', 'c', 'cf:x', '4'), widecol.put('t', 'c', 'cf:x', 'old', ts => 3000000);
SELECT x FROM t WHERE id = 'c';
ROLLBACK;
SELECT count(*) FROM t WHERE id = 'c';
SELECT widecol.put('t', 'c', 'cf:x', '4', ts => 3000000);
SELECT widecol.put('t', 'c', 'cf:x', '5', ts => 4000000);
SELECT widecol.delete_version('t', 'c', 'cf:x');
SELECT * FROM widecol.get('t', 'c');
SELECT widecol.put('t', 'c', 'cf:x', '4', ts => 3000001);
SELECT widecol.put('t', 'c', 'cf:x', '4', ttl => '1.5 milliseconds');
SELECT widecol.delete('t', 'a', 'cf:x', ts => 1000000);
SELECT * FROM widecol.get('t', 'a', columns => '{cf:x}', versions => 3);
SELECT widecol.delete_family('t', 'a', 'g'), widecol.delete_family_version('t', 'a', 'cf', 2000000);
SELECT count(*) FROM widecol.get('t', 'a');
SELECT widecol.deleteall('t', row_prefix => 'c');
SELECT "row", type, ts FROM widecol.scan('t', row_prefix => 'c', raw => true);

-- checks lock the row, and what follows belongs to the transaction
SELECT widecol.check_and_put('t', 'd', 'cf:x', NULL, 'cf:x', 'first');
SELECT widecol.check_and_put('t', 'd', 'cf:x', NULL, 'cf:x', 'second');
SELECT widecol.check_and_put('t', 'd', 'cf:x', 'first', 'cf:x', 'third'), widecol.check_and_put('t', 'd', 'cf:x', 'third', 'cf:y', 'fourth');
SELECT "row", family, qualifier, value FROM widecol.get('t', 'd');
SELECT widecol.check_and_delete('t', 'd', 'cf:x', 'z', 'cf:y', op => '>');
SELECT x FROM t WHERE id = 'd';
BEGIN;
SELECT widecol."check"('t', 'd', 'cf:x', 'third');
SELECT widecol.put('t', 'd', 'cf:x', 'mine');
SELECT widecol."check"('t', 'd', 'cf:x', 'mine');
ROLLBACK;
SELECT x FROM t WHERE id = 'd';

-- what another client changes between the check and COMMIT: nothing is written
BEGIN;
INSERT INTO t VALUES ('other', 'row');
SELECT widecol.check_and_put('t', 'd', 'cf:x', 'third', 'cf:y', 'not');
SAVEPOINT a;
SELECT widecol."check"('t', 'b', 'cf:x', '3');
ROLLBACK TO a;
\! echo "put wc_functions:t d cf:x theirs" | python3 gateway.py "$HBASE_BUFFERED"
COMMIT;
\echo :SQLSTATE
SELECT "row", family, qualifier, value FROM widecol.scan('t', row_prefix => 'd');
SELECT count(*) FROM t WHERE id = 'other';
BEGIN;
INSERT INTO t VALUES ('other', 'row');
SELECT widecol.check_and_delete('t', 'd', 'cf:x', 'theirs', 'cf:x'), widecol.check_and_put('t', 'e', 'cf:x', NULL, 'cf:x', 'new');
\! echo "put wc_functions:t d cf:y theirs,%20too" | python3 gateway.py "$HBASE_BUFFERED"
COMMIT;
SELECT "row", family, qualifier, value FROM widecol.scan('t', start_row => 'd');

-- counters: HBase changes them at once, in a transaction block the transaction does
SELECT widecol.incr('t', 'n', 'g:n'), widecol.incr('t', 'n', 'g:n', 5);
SELECT widecol.append('t', 'n', 'g:s', 'abc'), widecol.append('t', 'n', 'g:s', '\x00ff');
BEGIN;
SELECT widecol.incr('t', 'n', 'g:n'), widecol.append('t', 'n', 'g:s', 'd');
ROLLBACK;
SELECT widecol.get_counter('t', 'n', 'g:n');
SELECT value FROM widecol.get('t', 'n', '{g:s}');
BEGIN;
SELECT widecol.incr('t', 'n', 'g:n', -7);
SELECT widecol.incr('t', 'n', 'g:n', 2);
COMMIT;
SELECT widecol.get_counter('t', 'n', 'g:n');
BEGIN;
SELECT widecol.incr('t', 'n', 'g:n');
\! echo "put wc_functions:t n g:n %00%00%00%00%00%00%00%10" | python3 gateway.py "$HBASE_BUFFERED"
COMMIT;
SELECT widecol.get_counter('t', 'n', 'g:n');
ALTER SERVER hbase OPTIONS (ADD atomic_in_transaction 'on');
BEGIN;
SELECT widecol.incr('t', 'n', 'g:n');
ROLLBACK;
SELECT widecol.get_counter('t', 'n', 'g:n');
ALTER SERVER hbase OPTIONS (DROP atomic_in_transaction);
SELECT widecol.incr('t', 'new', 'g:n', 3, ts => 5000000);
SELECT * FROM widecol.get('t', 'new');

-- over a cell of the future: each change is later than that
SELECT widecol.put('t', 'future', 'g:n', '\x0000000000000005', ts => 4102444800000000);
BEGIN;
SELECT widecol.incr('t', 'future', 'g:n'), widecol.get_counter('t', 'future', 'g:n');
SELECT widecol.incr('t', 'future', 'g:n');
COMMIT;
SELECT widecol.incr('t', 'future', 'g:n');
SELECT value FROM widecol.get('t', 'future');
SELECT widecol.check_and_put('t', 'future', 'g:n', '\x0000000000000008', 'g:n', 'set');
SELECT value FROM widecol.get('t', 'future');
SELECT widecol.deleteall('t', 'future');
SELECT widecol.incr('t', 'n', 'g:s');
-- the answer is lost: HBase has done it, and the session cannot know
\set proxy `python3 proxy.py "$HBASE_BUFFERED" increment`
CREATE SERVER lossy FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'proxy');
CREATE FOREIGN TABLE lossy (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'cf')) SERVER lossy OPTIONS ("table" 'wc_functions:t');
\set VERBOSITY sqlstate
SELECT widecol.incr('lossy', 'n', 'g:n');
\set VERBOSITY default
SELECT widecol.get_counter('t', 'n', 'g:n');

-- rights: of USAGE on the server, or of the foreign table
CREATE ROLE regress_hbase_reader;
GRANT USAGE ON SCHEMA widecol TO regress_hbase_reader;
SET ROLE regress_hbase_reader;
SELECT * FROM widecol.get('t', 'b');
RESET ROLE;
GRANT SELECT ON t TO regress_hbase_reader;
SET ROLE regress_hbase_reader;
SELECT * FROM widecol.get('t', 'b', columns => '{cf:x}');
SELECT * FROM widecol.get('t', 'b', columns => '{g:n}');
SELECT widecol.put('t', 'b', 'cf:x', 'no');
SELECT * FROM widecol.scan('t', raw => true);
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER hbase TO regress_hbase_reader;
SET ROLE regress_hbase_reader;
SELECT count(*) FROM widecol.get('t', 'b', columns => '{g:n}');
RESET ROLE;
REVOKE ALL ON SCHEMA widecol FROM regress_hbase_reader;
REVOKE ALL ON FOREIGN SERVER hbase FROM regress_hbase_reader;
REVOKE ALL ON t FROM regress_hbase_reader;
DROP ROLE regress_hbase_reader;

-- a stored table goes before a foreign table of another wrapper, not before one of HBase
CREATE FOREIGN TABLE embedded (id text OPTIONS (rowkey '1'), x text OPTIONS (family 'cf')) SERVER widecol OPTIONS ("table" 't');
INSERT INTO embedded VALUES ('b', 'embedded');
SELECT value FROM widecol.get('t', 'b');
SELECT value FROM widecol.get('default:t', 'b');

SET client_min_messages = warning;
SELECT widecol.drop_table('t', cascade => true);
DROP SERVER hbase CASCADE;
DROP SERVER lossy CASCADE;
