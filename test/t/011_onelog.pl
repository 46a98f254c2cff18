# One log: heap tables and stored tables of a transaction commit together, whatever dies.
# WC_KILLS: how many kills (20).

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
use WidecolLoad;

my $kills = $ENV{WC_KILLS} || 20;
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol'
restart_after_crash = on
max_connections = 20
checkpoint_timeout = 1h
});
$node->start;
load_tables($node);

my $seed = time;
srand($seed);
note "random seed $seed";

# --- whatever is killed, at any time -----------------------------------------------
my $first = 1;
my %acked;

sub start_writers
{
	my ($settings) = @_;
	my @writers = map { load_start($node, client => $_, first => $first, count => 3000, settings => $settings) } 1 .. 3;
	$first += 3000;
	load_awaited(@writers);
	return @writers;
}

sub any_backend
{
	return $node->safe_psql('postgres',
		q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1});
}

# No new postmaster starts while children of the old one are left.
sub start_again
{
	my $tries = $PostgreSQL::Test::Utils::timeout_default * 5;
	until ($node->start(fail_ok => 1) || --$tries <= 0)
	{
		usleep(200_000);
	}
	return;
}

sub checkpoint_beside
{
	return IPC::Run::start([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-c', 'CHECKPOINT' ],
		'<', '/dev/null', '>', '/dev/null', '2>', '/dev/null');
}

sub missing
{
	my %there = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', q{SELECT k FROM heap WHERE v = 'journal'});
	return scalar grep { !$there{$_} } keys %acked;
}

foreach my $i (1 .. $kills)
{
	my $what = ('the engine', 'a backend', 'the postmaster')[ $i % 3 ];
	my $lazy = $i % 4 == 0;
	my @writers = start_writers('SET synchronous_commit = ' . ($lazy ? 'off' : 'on'));
	my $checkpoint = $i % 2 == 0 ? checkpoint_beside() : undef;

	usleep(int(rand(400_000)));
	if ($what eq 'the postmaster')
	{
		$node->kill9;
	}
	else
	{
		my $backend = $what eq 'the engine' ? undef : any_backend();
		$backend ? kill 'KILL', $backend : kill_engine($node, 'KILL');
	}
	load_finish(@writers);
	$checkpoint->finish if $checkpoint;
	start_again() if $what eq 'the postmaster';
	ok(comes_back($node, 'SELECT count(*) >= 0 FROM stored_row'), "kill $i, of $what: the cluster comes back");
	unless (is_same_everywhere($node, 'heap and stored tables hold the same'))
	{
		BAIL_OUT('seed ' . $seed) if $kills > 20;
	}
	%acked = (%acked, map { $_ => 1 } load_acked(@writers)) unless $lazy;
	is(missing(), 0, 'no acknowledged row is missing');
}
cmp_ok(scalar keys %acked, '>', 0, 'there were commits: ' . scalar keys %acked);

# --- an asynchronous commit -----------------------------------------------------------
# Other sessions see it at once: the reader does not wait for the walwriter, which sleeps here.
$node->append_conf('postgresql.conf', q{wal_writer_delay = '10s'});
$node->reload;
my $late = 0;
foreach my $i (1 .. 10)
{
	$node->safe_psql('postgres', qq{
SET synchronous_commit = off;
INSERT INTO heap VALUES (-100 - $i, 'asynchronous', 1);
INSERT INTO stored_row VALUES (-100 - $i, 'asynchronous', 1);
INSERT INTO stored_cell VALUES (-100 - $i, 'asynchronous', 1);
});
	my ($status, $out) = $node->psql('postgres', qq{
SET statement_timeout = '5s';
SELECT count(*) FROM stored_row WHERE k < -100;
});
	$late++ if $status != 0 || $out ne $i;
}
is($late, 0, 'readers see asynchronous commits at once');
$node->append_conf('postgresql.conf', q{wal_writer_delay = '200ms'});
$node->reload;

# --- a transaction that is not kept in memory ---------------------------------------
# Of which a part is in the store at a checkpoint, and whose apply a crash interrupts, most likely.
$node->safe_psql('postgres', q{
CREATE TABLE large_heap (k int PRIMARY KEY, n int, v text);
CREATE FOREIGN TABLE large_stored (k int OPTIONS (rowkey '1'), n int, v text) SERVER widecol;
});
foreach my $killed ('the server', 'the engine')
{
	$node->safe_psql('postgres', q{
BEGIN;
TRUNCATE large_heap;
INSERT INTO large_heap SELECT i, i % 7, 'row ' || i FROM generate_series(1, 200000) i;
INSERT INTO large_stored SELECT * FROM large_heap ORDER BY v;
CHECKPOINT;
SAVEPOINT s;
INSERT INTO large_stored SELECT k, -1, 'no' FROM large_heap;
ROLLBACK TO s;
UPDATE large_heap SET n = n + 10 WHERE k % 5 = 0;
INSERT INTO large_stored SELECT * FROM large_heap WHERE k % 5 = 0;
COMMIT;
});
	if ($killed eq 'the server')
	{
		$node->kill9;
		start_again();
	}
	else
	{
		kill_engine($node, 'KILL');
	}
	ok(comes_back($node, 'SELECT count(*) >= 0 FROM large_stored'), "after a large commit $killed is killed, and comes back");
	is($node->safe_psql('postgres', 'SELECT count(*), sum(n), count(DISTINCT v) FROM large_stored'),
		$node->safe_psql('postgres', 'SELECT count(*), sum(n), count(DISTINCT v) FROM large_heap'),
		'and all of the large commit is there');
}

# --- the engine alone starts again, while there are writers ---------------------------
my @writers = start_writers('SET synchronous_commit = on');
foreach (1 .. 2)
{
	my $before = engine_pid($node);
	kill 'TERM', $before;
	ok(wait_until(sub { my $now = engine_pid($node); $now != 0 && $now != $before }), 'another engine');
	ok(comes_back($node, 'SELECT count(*) >= 0 FROM stored_row'), 'it serves');
	load_awaited(@writers);
}
load_stop(@writers);
ok(comes_back($node, q{SELECT count(*) = 0 FROM pg_stat_activity
	WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()}), 'the writers are gone');
is_same_everywhere($node, 'after SIGTERM of the engine both hold the same');
%acked = (%acked, map { $_ => 1 } load_acked(@writers));
is(missing(), 0, 'no acknowledged row is missing');

# --- an error at COMMIT, behind what stored tables do there ----------------------------
# NOTIFY takes a lock, which a transaction holds that waits for a standby.
$node->append_conf('postgresql.conf', "synchronous_standby_names = 'nobody'");
$node->reload;
my $waiting;
ok(wait_until(sub {
	# the checkpointer makes commits wait, a little later
	return 1 if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'}) > 0;
	return 0 if $waiting && $waiting->pumpable;
	$waiting->finish if $waiting;
	$waiting = IPC::Run::start([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-c',
		'BEGIN; NOTIFY a; CREATE TEMP TABLE written (i int); INSERT INTO written VALUES (1); COMMIT' ],
		'<', '/dev/null', '&>', '/dev/null');
	return 0;
}), 'a transaction holds the lock of NOTIFY');
my ($status, $out, $err) = $node->psql('postgres', q{
SET synchronous_commit = local;
SET lock_timeout = '200ms';
BEGIN;
INSERT INTO heap VALUES (-1, 'late', 1);
INSERT INTO stored_row VALUES (-1, 'late', 1);
INSERT INTO stored_cell VALUES (-1, 'late', 1);
NOTIFY b;
COMMIT;
});
like($err, qr/lock timeout/, 'COMMIT fails behind what stored tables did');
foreach my $table (qw(heap stored_row stored_cell))
{
	is($node->safe_psql('postgres', "SELECT count(*) FROM $table WHERE k = -1"), '0', "nothing of it is in $table");
}
$node->append_conf('postgresql.conf', "synchronous_standby_names = ''");
$node->reload;
$waiting->finish;
$node->safe_psql('postgres', q{
INSERT INTO heap VALUES (-1, 'again', 1);
INSERT INTO stored_row VALUES (-1, 'again', 1);
INSERT INTO stored_cell VALUES (-1, 'again', 1);
});
is_same_everywhere($node, 'the same row can be written then');

$node->stop('fast');
$node->start;
is_same_everywhere($node, 'both hold the same after a fast restart');
$node->stop('fast');
done_testing();
