# The engine is killed at a system call that changes its files: each such call of a checkpoint, of DDL, of
# commits, and of a start, in turn.  Acknowledged rows are there afterwards, in heap tables and in stored tables.
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
my $calls = '* write sync create allocate name';
my ($library, $fault) = fault_library();
my $node = PostgreSQL::Test::Cluster->new('main');
my $store = $node->data_dir . '/widecol';
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'widecol'
widecol.data_directory = '$store'
widecol.write_buffer_size = 1MB
restart_after_crash = on
checkpoint_timeout = 1h
});
{
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{WIDECOL_FAULT} = $fault;
	local $ENV{WIDECOL_FAULT_DIR} = $store;
	$node->start;
}
load_tables($node);

my $seed = time;
srand($seed);
note "random seed $seed";

# Waits until the server has noticed all kills so far.  The process that removes the file has decided whether there is
# another kill.
my $killed = 0;

sub after_kills
{
	$killed++ unless unlink $fault;
	return wait_until(sub { (() = slurp_file($node->logfile) =~ /widecol engine.* was terminated by signal 9/g) >= $killed })
	  && comes_back($node, 'SELECT count(*) >= 0 FROM stored_row');
}

sub tell_library
{
	my ($what) = @_;
	append_to_file("$fault.new", "$what\n");
	rename("$fault.new", $fault) or die "rename: $!";
	return;
}

# Work that changes all kinds of files.  It may be cut off at any point.
sub work
{
	my ($node) = @_;
	return IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'CHECKPOINT',
			'-c', 'CREATE FOREIGN TABLE made (k int OPTIONS (rowkey \'1\'), v text) SERVER widecol',
			'-c', 'INSERT INTO made SELECT i, repeat(\'x\', 100) FROM generate_series(1, 20000) i',
			'-c', q{SELECT widecol.flush('stored_cell')}, '-c', q{SELECT widecol.major_compact('stored_row')},
			'-c', 'CHECKPOINT', '-c', 'TRUNCATE made', '-c', 'DROP FOREIGN TABLE made', '-c', 'CHECKPOINT' ],
		'<', '/dev/null', '>', '/dev/null', '2>', '/dev/null');
}

my $first = 1;
my %acked;

sub start_writers
{
	my @writers = map { load_start($node, client => $_, first => $first, count => 3000, settings => '') } 1 .. 2;
	$first += 3000;
	load_awaited(@writers);
	return @writers;
}

# --- how many calls there are ---------------------------------------------------------
my @writers = start_writers();
tell_library("trace $calls");
ok(work($node), 'the work is done when nobody is killed');
my @work = split /\n/, slurp_file("$fault.trace");
unlink "$fault.trace";
$node->stop('immediate');
{
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{WIDECOL_FAULT} = $fault;
	local $ENV{WIDECOL_FAULT_DIR} = $store;
	$node->start;
}
load_finish(@writers);
ok(comes_back($node, 'SELECT count(*) >= 0 FROM stored_row'), 'the engine starts after a crash');
my @start = split /\n/, slurp_file("$fault.trace");
unlink $fault;
foreach my $kind (qw(write sync create name))
{
	ok(scalar(grep { /^$kind / } @work), "there are calls of the kind \"$kind\" in the work");
}
note scalar(@work) . ' calls of work, ' . scalar(@start) . ' of a start';

# --- and a kill at some of them ----------------------------------------------------------
foreach my $i (1 .. $kills)
{
	my $starting = $i % 4 == 0;
	my $n = 1 + int(rand($starting ? @start : @work));
	my $dead = 0;

	@writers = start_writers();
	if ($starting)
	{
		tell_library("kill $n $calls");
		kill_engine($node, 'KILL');
		$killed++;
		comes_back($node, 'SELECT count(*) >= 0 FROM stored_row');
	}
	else
	{
		tell_library("kill $n $calls");
		work($node) for 1 .. 3;
	}
	load_stop(@writers);
	ok(after_kills(), "killed at call $n" . ($starting ? ' of a start' : '') . ': the cluster comes back');
	%acked = (%acked, map { $_ => 1 } load_acked(@writers));
	is_same_everywhere($node, 'heap and stored tables hold the same') or last;
	my %there = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', q{SELECT k FROM heap WHERE v = 'journal'});
	is(scalar(grep { !$there{$_} } keys %acked), 0, 'no acknowledged row is missing');
	$node->psql('postgres', 'DROP FOREIGN TABLE IF EXISTS made');
}
cmp_ok($killed, '>=', $kills, 'the engine was killed as often');
cmp_ok(scalar keys %acked, '>', 0, 'there were commits: ' . scalar keys %acked);
is($node->safe_psql('postgres', 'SELECT count(*) FROM widecol.check_store()'), '0', 'nothing is damaged');

# --- the postmaster is killed, and the engine while it ends: a checkpointer that waits for it ends, too --------------
sub processes
{
	return map { m{(\d+)} } grep { (readlink($_) // '') eq $node->data_dir } glob '/proc/[0-9]*/cwd';
}

# Nothing else is to be written meanwhile.
$node->safe_psql('postgres', $_) foreach 'ALTER SYSTEM SET widecol.upkeep = 0', 'SELECT pg_reload_conf()', 'CHECKPOINT';
usleep(3_000_000);
my $stopped = stop_engine($node);
my $checkpoint = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SELECT pg_current_xact_id()',
		'-c', 'CHECKPOINT' ], '<', '/dev/null', '>', '/dev/null', '2>', '/dev/null');
usleep(1_000_000);
tell_library("kill 1 $calls");
my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');
$node->kill9;
ok(wait_until(sub { !grep { $_ == $postmaster } processes() }), 'the postmaster is gone');
usleep(100_000);
kill 'CONT', $stopped;
ok(wait_until(sub { !-e $fault }), 'the engine is killed while it ends');
ok(wait_until(sub { !processes() }), 'all processes end');
kill 'KILL', processes();
$checkpoint->finish;
$node->start;
ok(comes_back($node, 'SELECT count(*) >= 0 FROM stored_row'), 'the cluster comes back');
is_same_everywhere($node, 'heap and stored tables hold the same');
$node->stop('fast');
done_testing();
