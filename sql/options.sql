-- Options: each is checked, alone and together.  What fails makes nothing.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;

-- unknown ones: the valid ones are listed
CREATE SERVER o_server FOREIGN DATA WRAPPER widecol OPTIONS (host 'localhost');
CREATE SERVER o_server FOREIGN DATA WRAPPER widecol OPTIONS (address 'localhost');
CREATE SERVER o_server FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', port '0');
CREATE SERVER o_server FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', transport 'https');
CREATE SERVER o_server FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', path '/');
CREATE SERVER o_server FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', transport 'http', path 'gateway');
CREATE SERVER o_server FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', transport 'http', tls_ca '/etc/ca.pem');
CREATE SERVER o_server FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', transport 'http', tls 'on', tls_ca 'ca.pem');
CREATE SERVER o_server FOREIGN DATA WRAPPER widecol OPTIONS (engine 'leveldb');
CREATE USER MAPPING FOR CURRENT_USER SERVER widecol OPTIONS (password 'x');
CREATE USER MAPPING FOR CURRENT_USER SERVER widecol OPTIONS (kerberos 'yes');
CREATE USER MAPPING FOR CURRENT_USER SERVER widecol OPTIONS ("user" E'ann\nContent-Length: 0');
CREATE USER MAPPING FOR CURRENT_USER SERVER widecol OPTIONS (tls_cert '/etc/client.pem');
ALTER FOREIGN DATA WRAPPER widecol OPTIONS (ADD anything 'x');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (tabel 'o');
CREATE FOREIGN TABLE o (k int OPTIONS (rowky '1')) SERVER widecol;

-- repeated
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (table 'o', table 'p');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1', rowkey '2')) SERVER widecol;

-- values of table options
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (table 'a b');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (table '');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (layout 'wide');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (family 'a:b');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (families '{"cf": {"versions": 3}');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (families '["cf"]');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (families '{"cf": {"version": 3}}');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (families '{"cf": {"versions": 0}}');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (families '{"cf": {"versions": 1, "min_versions": 2}}');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (delimiter '');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (on_duplicate 'ignore');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (fetch_size '0');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (parallel_workers '-1');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (write_mode 'at once');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (write_mode 'stream');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (layout 'cell', versions 'all');
CREATE FOREIGN TABLE o ("row" bytea) SERVER widecol OPTIONS (layout 'cell', raw 'perhaps');

-- values of column options
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '0')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey 'first')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1', sort 'down')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1', encoding 'utf8')) SERVER widecol;
CREATE FOREIGN TABLE o (k text OPTIONS (rowkey '1', length '-1')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v int OPTIONS (family 'a/b')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v int OPTIONS (attribute 'ts')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v widecol.version[] OPTIONS (versions '0')) SERVER widecol;

-- contradictions
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (versions '3');
CREATE FOREIGN TABLE o ("row" bytea) SERVER widecol OPTIONS (layout 'cell', on_duplicate 'error');
CREATE FOREIGN TABLE o ("row" bytea OPTIONS (rowkey '1')) SERVER widecol OPTIONS (layout 'cell');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v int OPTIONS (sort 'desc')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v text OPTIONS (encoding 'md5')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1', qualifier 'k')) SERVER widecol;
CREATE FOREIGN TABLE o (k text OPTIONS (rowkey '1', encoding 'md5')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1', versions '2')) SERVER widecol;
CREATE FOREIGN TABLE o (k bytea OPTIONS (rowkey 'raw', sort 'desc')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v jsonb OPTIONS (qualifier 'a', qualifier_prefix 'a')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v bigint OPTIONS (attribute 'timestamp', versions '2')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v jsonb OPTIONS (family 'cf', encoding 'text')) SERVER widecol;

-- columns that do not go together
CREATE FOREIGN TABLE o (v int) SERVER widecol;
CREATE FOREIGN TABLE o (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '3')) SERVER widecol;
CREATE FOREIGN TABLE o (a int OPTIONS (rowkey '2')) SERVER widecol;
CREATE FOREIGN TABLE o (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '1')) SERVER widecol;
CREATE FOREIGN TABLE o (a bytea OPTIONS (rowkey 'raw'), b bytea OPTIONS (rowkey 'raw')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey 'raw')) SERVER widecol;
CREATE FOREIGN TABLE o (k json OPTIONS (rowkey '1')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (delimiter '$');
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), a int OPTIONS (qualifier 'x'), b int OPTIONS (qualifier 'x')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), a jsonb OPTIONS (family 'f'), b jsonb OPTIONS (family 'f', qualifier_prefix 'x')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v int OPTIONS (qualifier_prefix 'x')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v int OPTIONS (attribute 'timestamp')) SERVER widecol;
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v text OPTIONS (versions '2')) SERVER widecol;
CREATE FOREIGN TABLE o ("row" bytea, cell text) SERVER widecol OPTIONS (layout 'cell');
CREATE FOREIGN TABLE o ("row" int) SERVER widecol OPTIONS (layout 'cell');
CREATE FOREIGN TABLE "o o" (k int OPTIONS (rowkey '1')) SERVER widecol;
CREATE COLLATION o_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE FOREIGN TABLE o (k text OPTIONS (rowkey '1') COLLATE o_ci) SERVER widecol;
DROP COLLATION o_ci;

-- nothing was made
SELECT count(*) FROM widecol.tables WHERE name IN ('o', 'p', 'o o');
SELECT count(*) FROM pg_foreign_table WHERE ftrelid::regclass::text = 'o';

-- ALTER is held to the same
CREATE FOREIGN TABLE o (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
ALTER FOREIGN TABLE o OPTIONS (ADD delimiter '$');
ALTER FOREIGN TABLE o ALTER v OPTIONS (ADD rowkey '3');
ALTER FOREIGN TABLE o ALTER k OPTIONS (DROP rowkey);
ALTER FOREIGN TABLE o DROP COLUMN k;
ALTER FOREIGN TABLE o ADD COLUMN w int OPTIONS (qualifier 'v');
ALTER FOREIGN TABLE o OPTIONS (ADD colour 'red');
ALTER FOREIGN TABLE o OPTIONS (ADD layout 'cell');
\d o
DROP FOREIGN TABLE o;
SELECT widecol.drop_table('o');
