# What survives: restarts, kills of the postmaster, of a backend, of the engine;
# what does not: transactions that had not committed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
use WidecolEngine;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
fsync = on
restart_after_crash = on
max_connections = 20
});
$node->start;

# --- without shared_preload_libraries -----------------------------------------
my ($status, $out, $err);

$node->safe_psql('postgres', 'CREATE EXTENSION widecol');
($status, $out, $err) = $node->psql('postgres',
	q{CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text) SERVER widecol});
isnt($status, 0, 'without the engine a foreign table cannot be made');
like($err, qr/Add widecol to shared_preload_libraries/, 'and the error says what to add');

# --- with too little in PostgreSQL's log ---------------------------------------
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol'
wal_level = minimal
max_wal_senders = 0
});
$node->restart;
($status, $out, $err) = $node->psql('postgres',
	q{CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text) SERVER widecol});
like($err, qr/ERROR:  the widecol engine could not start: stored tables need wal_level "replica" or "logical"\nHINT:  Set wal_level/,
	'with wal_level minimal neither, and the error says what to set');

$node->append_conf('postgresql.conf', 'wal_level = replica');
$node->restart;

# --- a fast restart loses nothing ---------------------------------------------
$node->safe_psql('postgres', q{
CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO t SELECT i, 'value ' || i FROM generate_series(1, 1000) i;
});
my $sum = 'SELECT count(*), sum(k), min(v), max(v) FROM t';
my $all = $node->safe_psql('postgres', $sum);
is($all, '1000|500500|value 1|value 999', 'rows are there');
$node->stop('fast');
$node->start;
is($node->safe_psql('postgres', $sum), $all, 'and after a fast restart');

# --- an immediate stop keeps commits, and only these ---------------------------
# A session that has written and read its own writes, so that the engine has them.
sub open_transaction
{
	my ($key) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query_safe('BEGIN');
	$session->query_safe("INSERT INTO t SELECT $key + i, 'never committed' FROM generate_series(1, 100) i");
	my $seen = $session->query_safe("SELECT count(*) FROM t WHERE k > $key");
	return ($session, $seen);
}

sub backend_of
{
	my ($session) = @_;
	return $session->query_safe('SELECT pg_backend_pid()');
}

# The psql at the other end has lost its server; it only has to go.
sub forget
{
	my ($session) = @_;
	eval { $session->quit };
	return;
}

my ($session, $seen) = open_transaction(10000);
is($seen, '100', 'a transaction sees its own rows');
$node->safe_psql('postgres', q{INSERT INTO t VALUES (2000, 'committed just before')});
$node->stop('immediate');
forget($session);
$node->start;
is($node->safe_psql('postgres', 'SELECT v FROM t WHERE k = 2000'), 'committed just before',
	'the last commit survives an immediate stop');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE k > 10000'), '0',
	'uncommitted rows are gone');

# --- no other transaction gets the id of one that ended so ---------------------
# The subtransaction has no id, and so no record of the log has the transaction's id in its header.
$session = $node->background_psql('postgres', on_error_stop => 0);
$session->query_safe('BEGIN; SAVEPOINT s');
$session->query_safe("INSERT INTO t SELECT 10000 + i, 'never committed' FROM generate_series(1, 100) i");
is($session->query_safe('SELECT count(*) FROM t WHERE k > 10000'), '100', 'a subtransaction sees its own rows');
my $end = $node->safe_psql('postgres', "SELECT pg_logical_emit_message(false, 'test', '')");
ok($node->poll_query_until('postgres', "SELECT pg_current_wal_flush_lsn() >= '$end'"), 'the log with these rows is on disk');
$node->stop('immediate');
forget($session);
$node->start;
$node->safe_psql('postgres', 'SELECT pg_current_xact_id()');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE k > 10000'), '0',
	'and the next commit does not bring them back');

# --- kill -9 of everything: the postmaster first ------------------------------
($session, $seen) = open_transaction(10000);
$node->safe_psql('postgres', q{INSERT INTO t VALUES (2001, 'before the kill')});
$node->kill9;
forget($session);

# No new postmaster starts while children of the old one are left; they notice
# that it is gone and go too.
my $tries = $PostgreSQL::Test::Utils::timeout_default;
until ($node->start(fail_ok => 1) || --$tries <= 0)
{
	sleep 1;
}
is($node->safe_psql('postgres', 'SELECT v FROM t WHERE k = 2001'), 'before the kill',
	'the last commit survives kill -9 of the postmaster');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE k > 10000'), '0',
	'uncommitted rows are gone');

# --- the postmaster and the engine, while a session waits for a commit that is not applied ------
# Sessions that change the same row in turn find its claim and its answer in shared memory.
my ($first, $second) = map { $node->background_psql('postgres', on_error_stop => 0) } 1, 2;
my $change = q{UPDATE t SET v = 'hot' WHERE k = 1};
foreach (1 .. 5)
{
	foreach ($first, $second)
	{
		$_->query_safe($change);
		$node->safe_psql('postgres', 'SELECT count(*) FROM t');	# waits until the change is applied
	}
}
my $waits = backend_of($second);
my $stopped = stop_engine($node);
$first->query_safe($change);
$second->query_until(qr/changes/, "\\echo changes\n$change;\n");
usleep(500_000);
$node->kill9;
kill 'KILL', $stopped;
$tries = 100;
while (kill(0, $waits) && --$tries > 0)
{
	usleep(100_000);
}
cmp_ok($tries, '>', 0, 'a session that waits for the row ends behind the postmaster');
kill 'KILL', $waits;
forget($_) foreach $first, $second;
$tries = $PostgreSQL::Test::Utils::timeout_default;
until ($node->start(fail_ok => 1) || --$tries <= 0)
{
	sleep 1;
}

# --- kill -9 of a backend: the cluster restarts by itself ---------------------
($session, $seen) = open_transaction(10000);
kill 'KILL', backend_of($session);
forget($session);
ok(comes_back($node, 'SELECT count(*) = 0 FROM t WHERE k > 10000'),
	'after kill -9 of a backend the cluster comes back, without its rows');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '1002', 'and with all others');

# --- kill -9 of the engine ----------------------------------------------------
my $before = engine_pid($node);
isnt($before, 0, 'the engine is a process of the cluster');
($session, $seen) = open_transaction(10000);
$node->safe_psql('postgres', q{INSERT INTO t VALUES (2002, 'before the engine died')});
kill 'KILL', $before;
forget($session);
ok(comes_back($node, 'SELECT count(*) = 1 FROM t WHERE k = 2002'),
	'the cluster comes back after kill -9 of the engine');
isnt(engine_pid($node), $before, 'with a new one');
is($node->safe_psql('postgres', 'SELECT v FROM t WHERE k = 2002'), 'before the engine died',
	'which has the last commit');
is($node->safe_psql('postgres', $sum), '1003|506503|before the engine died|value 999', 'and everything else');

# --- acknowledged rows are there, whenever the engine dies ----------------------
# Each writer reports its commits; the engine dies meanwhile.
$node->safe_psql('postgres', "CREATE FOREIGN TABLE acked (k int OPTIONS (rowkey '1'), v text) SERVER widecol");
my @writers;
foreach my $w (0 .. 3)
{
	my $script = join '', map { "INSERT INTO acked VALUES ($_, 'v'), (1000000 + $_, 'v');\n\\echo $_\n" }
	  map { $w * 100000 + $_ } 1 .. 50000;
	my $file = PostgreSQL::Test::Utils::tempdir_short() . "/writer$w.sql";
	my %writer = (in => '', out => '', err => '');

	append_to_file($file, $script);
	$writer{run} = IPC::Run::start(
		[ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', $file ],
		'<', \$writer{in}, '>', \$writer{out}, '2>', \$writer{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	push @writers, \%writer;
}
foreach my $writer (@writers)
{
	$writer->{run}->pump until ($writer->{out} =~ tr/\n//) >= 100;
}
kill_engine($node, 'KILL');
foreach my $writer (@writers)
{
	$writer->{run}->finish;
}
ok(comes_back($node, 'SELECT count(*) > 0 FROM acked'), 'the cluster comes back once more');
my @acked = map { split /\n/, $_->{out} } @writers;
my %there = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', 'SELECT k FROM acked');
cmp_ok(scalar @acked, '>=', 400, 'there were commits');
is(scalar(grep { !$there{$_} || !$there{ 1000000 + $_ } } @acked), 0, 'all of them are there');
is(scalar(grep { !$there{ ($_ + 1000000) % 2000000 } } keys %there), 0, 'and no half of one');

# --- waiting is interruptible -------------------------------------------------
$node->safe_psql('postgres', q{
INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(100001, 300000) i;
});
my $endless = 'SELECT count(*) FROM t a, t b, t c WHERE a.v = b.v AND b.v <> c.v';
($status, $out, $err) = $node->psql('postgres', "SET statement_timeout = '300ms'; $endless");
like($err, qr/canceling statement due to statement timeout/, 'statement_timeout stops a scan');

$session = $node->background_psql('postgres', on_error_stop => 0);
my $pid = backend_of($session);
$session->query_until(qr/started/, "\\echo started\n$endless;\n");
ok($node->poll_query_until('postgres', "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $pid"),
	'a long query runs');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid"),
	'pg_terminate_backend ends it');
forget($session);

# A fast shutdown does not wait for it either (stop fails when it takes too long).
$session = $node->background_psql('postgres', on_error_stop => 0);
$session->query_until(qr/started/, "\\echo started\n$endless;\n");
$node->stop('fast');
forget($session);
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '201003', 'nothing was lost on the way');

# --- DDL goes with its transaction --------------------------------------------
$node->psql('postgres', q{
BEGIN;
CREATE FOREIGN TABLE gone (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO gone VALUES (1, 'x');
ROLLBACK;});

# --- cells with old timestamps, after upkeep has removed expired ones ---------------
$node->safe_psql('postgres', q{
SELECT widecol.create_table('ttl', '{"c": {"packing": "cell", "ttl": 1}, "r": {"packing": "row", "ttl": 1}}');
SELECT widecol.put('ttl', 'r', f || ':old', 'expired') FROM unnest(ARRAY['c', 'r']) f;
});
# upkeep goes by the timestamps of commits
ok($node->poll_query_until('postgres', q{
DO $$ BEGIN PERFORM widecol.put('ttl', 'clock', f || ':q', 'x') FROM unnest(ARRAY['c', 'r']) f; END $$;
SELECT count(*) = 0 FROM widecol.scan('ttl', 'r', 's', raw => true)}, "DO\nt"), 'upkeep removes expired cells');
$node->safe_psql('postgres', q{
SELECT widecol.alter_table('ttl', '{"c": {"ttl": "forever"}, "r": {"ttl": "forever"}}');
SELECT widecol.put('ttl', 'r', f || ':' || q, 'late', ts) FROM unnest(ARRAY['c', 'r']) f, (VALUES ('a', 1), ('b', 1000)) v (q, ts);
});
my $late = q{SELECT string_agg(family || ':' || convert_from(qualifier, 'UTF8') || '@' || ts, ' ') FROM widecol.get('ttl', 'r')};
is($node->safe_psql('postgres', $late), 'c:a@1 c:b@1000 r:a@1 r:b@1000', 'a longer TTL shows cells with old timestamps');

$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', q{SELECT count(*) FROM widecol.tables WHERE name = 'gone'}), '0',
	'a table whose creation was rolled back is nowhere');
is($node->safe_psql('postgres', $late), 'c:a@1 c:b@1000 r:a@1 r:b@1000', 'and so does the store after a crash');
$node->safe_psql('postgres', q{SELECT widecol.major_compact('ttl')});
is($node->safe_psql('postgres', $late), 'c:a@1 c:b@1000 r:a@1 r:b@1000', 'and after a compaction');

$node->stop('fast');
done_testing();
