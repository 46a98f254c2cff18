# The engine as a process of the server: pg_stat_activity shows it; when it is terminated, a new one starts, and the
# rest of the server keeps running.  Acknowledged commits are there.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WidecolEngine;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol'
max_connections = 20
max_prepared_transactions = 1
fsync = on
});
$node->start;
$node->safe_psql('postgres', q{
CREATE EXTENSION widecol;
CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, 100000) i;
CREATE FOREIGN TABLE w (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
CREATE FOREIGN TABLE acked (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
});

# --- where people and tools look -------------------------------------------------
my $activity = "FROM pg_stat_activity WHERE backend_type = 'widecol engine'";
my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
is($node->safe_psql('postgres', "SELECT pid $activity"), engine_pid($node), 'the engine is in pg_stat_activity');
is($node->safe_psql('postgres', "SELECT datname IS NULL, backend_xid IS NULL, backend_xmin IS NULL $activity"), 't|t|t',
	'without a database, a transaction or a snapshot');
ok($node->poll_query_until('postgres',
	"SELECT wait_event IN ('Extension', 'WidecolEngineMain') AND wait_event_type = 'Extension' $activity"),
	'and waits for sessions');
$node->safe_psql('postgres', 'CREATE DATABASE d; ');
$node->safe_psql('postgres', 'DROP DATABASE d');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_database WHERE datname = 'd'}), '0',
	'databases are made and dropped beside it');

# --- a new one for the old --------------------------------------------------------
sub restart_engine
{
	my $old = $node->safe_psql('postgres', "SELECT pid $activity");

	$node->safe_psql('postgres', "SELECT pg_terminate_backend($old)");
	$node->poll_query_until('postgres', "SELECT count(*) = 1 $activity AND pid <> $old") or die 'no new engine';
	$node->safe_psql('postgres', 'SELECT v FROM t WHERE k = 1');	# waits until it is ready
	return;
}

sub session
{
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query_safe('\set VERBOSITY verbose');
	return $session;
}

sub fails_with
{
	my ($session, $sqlstate, $query, $name) = @_;
	$session->{stderr} = '';
	$session->query($query);
	like($session->{stderr}, qr/ERROR:  $sqlstate:/, $name);
	$session->{stderr} = '';
	return;
}

# Each in a session of its own, all over one restart.
my ($reader, $repeatable, $unsent, $sent, $silent, $cursor, $locker, $maker, $busy, $set, $computed) = map { session() } 1 .. 11;
my $busy_pid = $busy->query_safe('SELECT pg_backend_pid()');

$reader->query_safe('BEGIN; SELECT count(*) FROM t WHERE k < 100');
$repeatable->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t WHERE k < 100');
$unsent->query_safe("BEGIN; INSERT INTO w VALUES (1, 'not sent before')");
$sent->query_safe("BEGIN; INSERT INTO w VALUES (2, 'sent'); SELECT count(*) FROM w");
$silent->query_safe("BEGIN; INSERT INTO w VALUES (3, 'sent'); SELECT count(*) FROM w");
$cursor->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT k FROM t ORDER BY k; FETCH 5 FROM c');
$locker->query_safe(q{BEGIN; SELECT widecol.incr('w', '\x01', 'cf:n', 1)});
$set->query_safe(q{BEGIN; UPDATE t SET v = 'lost' WHERE k = 11});
$computed->query_safe(q{BEGIN; UPDATE t SET v = v || ' lost' WHERE k = 12});
$maker->query_safe(q{BEGIN; SELECT widecol.create_table('made', '{"cf": {}}')});
$busy->query_until(qr/started/, "\\echo started\nSELECT count(*) FROM t WHERE pg_sleep(0.002) IS NOT NULL;\nSELECT 'alive';\n");
ok($node->poll_query_until('postgres', "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $busy_pid"),
	'a statement is under way');
restart_engine();

is($reader->query_safe('SELECT count(*) FROM t WHERE k < 100; COMMIT'), '99', 'READ COMMITTED: a transaction that has only read continues');
fails_with($repeatable, '40001', 'SELECT count(*) FROM t WHERE k < 100', 'REPEATABLE READ: the snapshot is gone');
$repeatable->query_safe('ROLLBACK');
is($repeatable->query_safe('SELECT count(*) FROM t WHERE k < 100'), '99', 'the next transaction has another');
$unsent->query_safe('COMMIT');
is($node->safe_psql('postgres', 'SELECT v FROM w WHERE k = 1'), 'not sent before', 'writes that had not been sent are committed');
fails_with($sent, '40001', 'SELECT count(*) FROM w', 'writes that had been sent are gone: the next statement fails');
$sent->query_safe('ROLLBACK');
fails_with($silent, '40001', 'COMMIT', 'or COMMIT does');
is($node->safe_psql('postgres', 'SELECT count(*) FROM w WHERE k IN (2, 3)'), '0', 'and nothing of it is there');
fails_with($cursor, '(?:40001|57P01)', 'FETCH 50000 FROM c', 'a cursor fails');
$cursor->query_safe('ROLLBACK');
fails_with($locker, '40001', 'COMMIT', 'a transaction that had locked rows fails');

# Their commits would ask the engine for nothing, if it were the one that has their locks.
$node->safe_psql('postgres', q{UPDATE t SET v = 'other' WHERE k IN (11, 12)});
fails_with($set, '40001', 'COMMIT', 'and one that has changed a row by its key');
fails_with($computed, '40001', 'COMMIT', 'in either way');
is($node->safe_psql('postgres', 'SELECT string_agg(DISTINCT v, $$ $$) FROM t WHERE k IN (11, 12)'), 'other', 'and nothing of them is there');

# An id that was given, but not used before the restart, is given again.
$node->safe_psql('postgres', q{
CREATE FOREIGN TABLE second (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO second VALUES (1, 'second');
});
fails_with($maker, '40001', 'COMMIT', 'a transaction that makes a table fails');
is($node->safe_psql('postgres', 'SELECT v FROM second'), 'second', 'and does no harm to another');
$busy->query_until(qr/alive/, '');
like($busy->{stderr}, qr/ERROR:  (?:57P01|40001)/, 'the statement under way has failed, and the session lives');
$_->quit foreach ($reader, $repeatable, $unsent, $sent, $silent, $cursor, $locker, $maker, $busy, $set, $computed);

# --- a statement of heap tables and stored tables that was planned with the engine, and begins without ---------
# It waits for the next one, which has applied by then what is committed meanwhile.
$node->safe_psql('postgres', q{
CREATE TABLE beside (v int);
INSERT INTO beside VALUES (1);
CREATE FOREIGN TABLE stored (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO stored VALUES (1, 1);
CREATE FUNCTION stop_engine(engine int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_terminate_backend(engine);
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE pid = engine) LOOP
		PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
	END LOOP;
END $$;
-- all queries of an SQL function are planned before the first one runs
CREATE FUNCTION both_later(pid int) RETURNS text LANGUAGE sql AS $$
SELECT stop_engine(pid);
SELECT 'read: ' || h.v || ' ' || s.v FROM beside h, stored s;
$$;
BEGIN;
UPDATE beside SET v = 2;
UPDATE stored SET v = 2;
PREPARE TRANSACTION 'both';
});
my ($early, $other) = (session(), session());
my $early_pid = $early->query_safe('SELECT pg_backend_pid()');
$early->query_until(qr/begun/, "\\echo begun\nSELECT both_later(pid) $activity;\nSELECT 'done';\n");
ok($node->poll_query_until('postgres', "SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $early_pid"), 'it waits');
isnt($other->query_safe(q{COMMIT PREPARED 'both'; SELECT state FROM widecol.pg_stat_widecol}), 'ready', 'while there is no engine');
like($early->query_until(qr/done/, ''), qr/read: (\d) \1/, 'and shows one state of both');
$_->quit foreach ($early, $other);

# --- several times, while sessions write --------------------------------------------
# Each writer reports its commits, and the errors of its other transactions.
my @writers;
foreach my $w (0 .. 3)
{
	my $script = join '', map { <<"SQL" } map { $w * 100000 + $_ } 1 .. 30000;
INSERT INTO acked VALUES ($_, 'v'), (1000000 + $_, 'v');
\\if :ERROR
\\echo $_ :SQLSTATE
\\else
\\echo $_
\\endif
SQL
	my $file = PostgreSQL::Test::Utils::tempdir_short() . "/writer$w.sql";
	my %writer = (in => '', out => '', err => '');

	append_to_file($file, $script);
	$writer{run} = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-f', $file ],
		'<', \$writer{in}, '>', \$writer{out}, '2>', \$writer{err},
		IPC::Run::timeout(2 * $PostgreSQL::Test::Utils::timeout_default));
	push @writers, \%writer;
}
foreach my $cycle (1 .. 4)
{
	my @before = map { $_->{out} =~ tr/\n// } @writers;
	foreach my $i (0 .. $#writers)
	{
		$writers[$i]{run}->pump until ($writers[$i]{out} =~ tr/\n//) >= $before[$i] + 200;
	}
	restart_engine();
}
foreach my $writer (@writers)
{
	my $before = $writer->{out} =~ tr/\n//;
	$writer->{run}->pump until ($writer->{out} =~ tr/\n//) >= $before + 200;
	$writer->{run}->kill_kill;
}
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO acked%'");
my %state = map { /^(\d+)(?: (\w+))?$/ ? ($1 => $2 // 'acked') : () } map { split /\n/, $_->{out} } @writers;
my %there = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', 'SELECT k FROM acked');
my %kinds;
$kinds{$_}++ foreach values %state;
note(join ', ', map { "$_: $kinds{$_}" } sort keys %kinds);
cmp_ok($kinds{acked}, '>=', 2000, 'sessions go on writing over four restarts of the engine');
is(join(' ', grep { !/^(?:acked|57P01|40001)$/ } sort keys %kinds), '', 'what fails, fails with a SQLSTATE that says so');
is(scalar(grep { $state{$_} eq 'acked' && !($there{$_} && $there{ 1000000 + $_ }) } keys %state), 0, 'acknowledged commits are there');
is(scalar(grep { $state{$_} =~ /57P01|40001/ && $there{$_} } keys %state), 0, 'failed ones are not');
is(scalar(grep { !$there{ ($_ + 1000000) % 2000000 } } keys %there), 0, 'and there is no half of anything');
is((split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0], $postmaster, 'the server is the same');
unlike(slurp_file($node->logfile), qr/terminating any other active server processes/, 'which did not restart');

$node->stop('fast');
done_testing();
