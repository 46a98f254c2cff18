# Modules beside widecol: one whose callback fails, one of another version, one that writes damaged records into the log.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WidecolEngine;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'widecol'");
$node->start;
my $library = session_library($node);
$node->safe_psql('postgres', qq{
CREATE EXTENSION widecol;
CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
CREATE FUNCTION refuse_subtransactions(int) RETURNS void STRICT LANGUAGE c AS '$library';
CREATE FUNCTION log_damaged_record() RETURNS void LANGUAGE c AS '$library';
CREATE FUNCTION load_driver_as_version_0() RETURNS boolean LANGUAGE c AS '$library';
});

# --- a subtransaction that fails when it begins -----------------------------------
my (undef, undef, $err) = $node->psql('postgres', q{
\set ON_ERROR_STOP off
SELECT refuse_subtransactions(3);
BEGIN;
INSERT INTO t VALUES (1, 'before');
SELECT count(*) FROM t;		-- sends it to the engine
SAVEPOINT a;
INSERT INTO t VALUES (2, 'rolled back');
SAVEPOINT b;
ROLLBACK TO a;
INSERT INTO t VALUES (3, 'after');
COMMIT;
});
like($err, qr/subtransactions of level 3 are refused/, 'a module refuses a savepoint');
is($node->safe_psql('postgres', 'SELECT k, v FROM t ORDER BY k'), "1|before\n3|after", 'the rollback to the savepoint before it takes back only what came behind that');

# --- a driver for another library --------------------------------------------------
(undef, undef, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT load_driver_as_version_0()");
like($err, qr/ERROR:  55000: library widecol_hbase is of another version than library widecol\nHINT:  Restart the server\./,
	'a driver of HBase tables of another version is refused');

# --- a record that cannot be read ---------------------------------------------------
# The engine ends.  It marks nothing behind the record: else the next one would go on there, without what the record says.
$node->psql('postgres', q{SELECT log_damaged_record(); INSERT INTO t VALUES (4, 'wakes the engine')});
$node->wait_for_log(qr/could not follow the log at/);
(undef, undef, $err) = $node->psql('postgres', 'SELECT count(*) FROM t');
like($err, qr/the widecol engine could not start: could not follow the log at/, 'after a damaged record no engine starts');
$node->stop;
done_testing();
