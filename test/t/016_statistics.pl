# Statistics where a session alone cannot see them: the server's log, restarts, a failed start.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WidecolEngine;
use WidecolLoad;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol'
});
$node->start;
$node->safe_psql('postgres', q{
CREATE EXTENSION widecol;
CREATE FOREIGN TABLE t (k text OPTIONS (rowkey '1') COLLATE "C", v text) SERVER widecol;
INSERT INTO t SELECT 'secretkey' || i, 'secretvalue' FROM generate_series(1, 1000) i;
});

# --- slow requests -----------------------------------------------------------------
# What the log gets while this runs, by this process.
sub logged
{
	my ($sql) = @_;
	my $offset = -s $node->logfile;
	my $pid = $node->safe_psql('postgres', "SELECT count(*) FROM t;\n$sql;\nSELECT 'pid', pg_backend_pid()");
	$pid =~ s/.*pid\|(\d+).*/$1/s;
	return join("\n", grep { /slow .*by process $pid:/ } split(/\n/, slurp_file($node->logfile, $offset)));
}

is(logged('SELECT count(v) FROM t'), '', 'no request is slow at first');
$node->append_conf('postgresql.conf', 'widecol.log_min_duration = 0');
$node->reload;
ok(wait_until(sub { logged('SELECT 1') ne '' }), 'a reload is enough');
my $log = logged(q{SELECT count(v) FROM t WHERE v LIKE 'secret%'; DELETE FROM t WHERE k = 'secretkey7'; SELECT widecol.flush('t')});
like($log, qr/slow scan of stored table "t" by process \d+: \d+\.\d{3} ms, rows examined 1000, rows returned 1000$/m, 'a scan, once');
like($log, qr/slow modify of stored table "t" by process \d+: .* rows examined 1, rows returned 1$/m, 'a DELETE');
like($log, qr/slow commit by process/, 'a commit');
like($log, qr/slow flush of stored table "t" by process/, 'a flush');
unlike($log, qr/secret/, 'no keys and no values');
$node->append_conf('postgresql.conf', 'widecol.log_min_duration = 1h');
$node->reload;
ok(wait_until(sub { logged('SELECT 1') eq '' }), 'what is shorter is not logged');

done_testing();
