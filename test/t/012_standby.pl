# Standbys: made under load, read while they follow, restarted, killed, cascaded, promoted; and
# pg_rewind of an old primary.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
use WidecolEngine;
use WidecolLoad;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol'
restart_after_crash = on
wal_log_hints = on
wal_keep_size = '1GB'
max_standby_streaming_delay = '10s'
});
$primary->start;
load_tables($primary);

sub caught_up
{
	my ($from, $to) = @_;
	my $position = $from->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
	return comes_back($to, "SELECT coalesce(pg_last_wal_replay_lsn() >= '$position', false)");
}

# At the same position both have the same, in every table.
sub is_equal
{
	my ($from, $to, $name) = @_;
	ok(caught_up($from, $to), "$name: the log has come");
	is_same_everywhere($to, "$name: heap and stored tables hold the same there");
	return is(contents($to), contents($from), "$name: and the same as where it comes from");
}

sub start_writers
{
	my ($node, $first) = @_;
	my @writers = map { load_start($node, client => $_, first => $first, count => 5000, settings => '') } 1 .. 2;
	load_awaited(@writers);
	return @writers;
}

# --- a base backup under load --------------------------------------------------------
my @writers = start_writers($primary, 1);
$primary->backup('one');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'one', has_streaming => 1);
$standby->start;
ok(comes_back($standby, 'SELECT count(*) >= 0 FROM stored_row'), 'a standby serves');

# --- a statement that sees a heap row sees the stored rows ---------------------------
my $behind = q{SELECT count(*), count(*) FILTER (WHERE r.k IS NULL OR c.k IS NULL)
FROM heap h LEFT JOIN stored_row r USING (k) LEFT JOIN stored_cell c USING (k) WHERE h.v = 'journal'};
my $parallel = q{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET enable_nestloop = off; };
like($standby->safe_psql('postgres', $parallel . "EXPLAIN (COSTS OFF) $behind"), qr/Parallel Foreign Scan/, 'with workers, too');
my ($lacking, $grown, $last) = (0, 0, 0);
foreach (1 .. 20)
{
	my ($seen, $lacks) = split /\|/, $standby->safe_psql('postgres', ($_ % 2 == 0 ? $parallel : '') . $behind);
	$lacking += $lacks;
	$grown++ if $seen > $last;
	$last = $seen;
}
is($lacking, 0, 'statements on a standby see the stored rows of each heap row that they see');
cmp_ok($grown, '>', 1, 'while there are more and more');
load_stop(@writers);
is_equal($primary, $standby, 'standby');

# --- DDL arrives -------------------------------------------------------------------------
$primary->safe_psql('postgres', q{
CREATE FOREIGN TABLE made (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
CREATE FOREIGN TABLE emptied (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
CREATE FOREIGN TABLE gone (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO made SELECT i, 'v' FROM generate_series(1, 100) i;
INSERT INTO emptied SELECT i, 'v' FROM generate_series(1, 100) i;
INSERT INTO gone SELECT i, 'v' FROM generate_series(1, 100) i;
});
ok(caught_up($primary, $standby), 'tables have come');
is($standby->safe_psql('postgres', 'SELECT (SELECT count(*) FROM made), (SELECT count(*) FROM emptied), (SELECT count(*) FROM gone)'),
	'100|100|100', 'with their rows');
$primary->safe_psql('postgres', q{
TRUNCATE emptied;
INSERT INTO emptied VALUES (1, 'new');
DROP FOREIGN TABLE gone;
SELECT widecol.drop_table('gone');
ALTER FOREIGN TABLE made ADD COLUMN w text;
UPDATE made SET w = 'added' WHERE k <= 10;
});
ok(caught_up($primary, $standby), 'changes of them have come');
is($standby->safe_psql('postgres', q{SELECT (SELECT count(*) FROM made WHERE w = 'added'), (SELECT count(*) FROM emptied),
	(SELECT count(*) FROM widecol.tables WHERE name = 'gone')}), '10|1|0', 'an added column, a truncated table, a dropped one');
$primary->safe_psql('postgres', 'CREATE DATABASE dropped');
$primary->safe_psql('dropped', q{CREATE EXTENSION widecol; SELECT widecol.create_table('gone', '{"f": {}}')});
$primary->safe_psql('postgres', 'DROP DATABASE dropped');
ok(caught_up($primary, $standby), 'DROP DATABASE has come');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM widecol.orphans()'), '0', 'with its stored tables');
my ($status, $out, $err) = $standby->psql('postgres', q{INSERT INTO made VALUES (1, 'x')});
isnt($status, 0, 'a standby takes no writes');
like($err, qr/read-only transaction|recovery/, 'and says why');

# --- a commit that waits for the standby ------------------------------------------------------
$primary->safe_psql('postgres', q{
CREATE TABLE waited_heap (k int);
CREATE FOREIGN TABLE waited (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
});
$primary->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = '*'});
$primary->reload;
ok($primary->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'}),
	'the standby is synchronous');
my @seen;
foreach my $how (qw(remote_apply remote_write on remote_apply local))
{
	$primary->safe_psql('postgres', qq{
SET synchronous_commit = $how;
BEGIN;
INSERT INTO waited_heap SELECT 1;
INSERT INTO waited SELECT 1 + count(*), '$how' FROM waited;
COMMIT;
});
	push @seen, $standby->safe_psql('postgres', 'SELECT (SELECT count(*) FROM waited_heap), (SELECT count(*) FROM waited)')
		if $how eq 'remote_apply';
}
is("@seen", '1|1 4|4', 'remote_apply: the standby shows heap rows and stored rows as soon as COMMIT returns');
is($primary->safe_psql('postgres', q{SELECT string_agg(v, ' ' ORDER BY k) FROM waited}),
	'remote_apply remote_write on remote_apply local', 'synchronous_commit in other values');
$primary->safe_psql('postgres', 'ALTER SYSTEM RESET synchronous_standby_names');
$primary->reload;

# --- replay runs ahead ---------------------------------------------------------------------
# So far that there is no place any more for transactions that the store does not have yet.
$primary->safe_psql('postgres', q{
CREATE TABLE ahead_heap (k int);
CREATE FOREIGN TABLE ahead (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
});
ok(caught_up($primary, $standby), 'more tables have come');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM ahead'), '0', 'which are empty');
my $stopped = stop_engine($standby);
$primary->safe_psql('postgres', q{
DO $$ BEGIN
FOR i IN 1 .. 2000 LOOP
	INSERT INTO ahead_heap VALUES (i);
	INSERT INTO ahead VALUES (i, 'v');
	COMMIT;
END LOOP; END $$});
ok(caught_up($primary, $standby), 'what many transactions wrote has come');
my $reader = $standby->background_psql('postgres');
my $reader_pid = $reader->query_safe('SELECT pg_backend_pid()');
$reader->query_until(qr/started/, "\\echo started\nSELECT 'seen', (SELECT count(*) FROM ahead_heap), (SELECT count(*) FROM ahead);\n");
ok($standby->poll_query_until('postgres', "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $reader_pid"),
	'a reader waits for the engine');
kill 'CONT', $stopped;
like($reader->query_until(qr/seen\|\d+\|\d+/, ''), qr/seen\|2000\|2000/, 'and sees stored rows as it sees heap rows');
$reader->quit;
my $position = $primary->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
ok(comes_back($standby, "SELECT applied_lsn >= '$position' AND backlog_commits = 0 AND replay_lag = '0' FROM widecol.pg_stat_widecol"),
	'the view of statistics says that the standby has all');
is($standby->safe_psql('postgres', 'SELECT state, stalled_since IS NULL, commits >= 2000, last_commit_at > started_at FROM widecol.pg_stat_widecol'),
	'ready|t|t|t', 'and the applied commits');

# --- restarts and kills of the standby, under load ----------------------------------------
@writers = start_writers($primary, 10001);
$standby->restart;
ok(comes_back($standby, 'SELECT count(*) >= 0 FROM stored_row'), 'the standby serves after a restart');
load_awaited(@writers);
kill_engine($standby, 'KILL');
load_awaited(@writers);
ok(comes_back($standby, 'SELECT count(*) >= 0 FROM stored_row'), 'and after kill -9 of its engine');
kill_engine($standby, 'TERM');
load_awaited(@writers);
ok(comes_back($standby, 'SELECT count(*) >= 0 FROM stored_row'), 'and when its engine was ended');
$primary->safe_psql('postgres', 'CHECKPOINT');
$standby->stop('immediate');
load_awaited(@writers);
$standby->start;

# --- a cascade: a backup from the standby ----------------------------------------------------
ok(comes_back($standby, 'SELECT count(*) >= 0 FROM stored_row'), 'it serves after an immediate stop');
$primary->safe_psql('postgres', 'CHECKPOINT');
ok(caught_up($primary, $standby), 'it follows');
ok(wait_until(sub { $standby->safe_psql('postgres', 'CHECKPOINT'); !-e $standby->data_dir . '/widecol.no_backup' }),
	'a backup from the standby is allowed');
$standby->backup('two');
my $cascade = PostgreSQL::Test::Cluster->new('cascade');
$cascade->init_from_backup($standby, 'two', has_streaming => 1);
$cascade->start;
ok(comes_back($cascade, 'SELECT count(*) >= 0 FROM stored_row'), 'a standby of the standby serves');
load_stop(@writers);
is_equal($primary, $standby, 'standby after restarts');
is_equal($primary, $cascade, 'cascaded standby');

# --- promotion without a change of a stored table behind it ------------------------------------------
# The engine has read the log of the new timeline, though it has applied nothing of it.
$standby->backup('idle');
my $idle = PostgreSQL::Test::Cluster->new('idle');
$idle->init_from_backup($standby, 'idle', has_streaming => 1);
$idle->start;
is_equal($primary, $idle, 'a further standby');
$idle->promote;
ok(comes_back($idle, 'SELECT NOT pg_is_in_recovery()'), 'is promoted');
my $held = $idle->safe_psql('postgres', 'SELECT count(*) FROM stored_row');
$idle->safe_psql('postgres', 'CREATE TABLE beside AS SELECT generate_series(1, 1000) AS i; CHECKPOINT');
is($idle->safe_psql('postgres', 'SELECT count(*) FROM stored_row'), $held, 'holds the same');
for my $way (qw(fast fast immediate))
{
	$idle->stop($way);
	$idle->start;
	ok(comes_back($idle, "SELECT count(*) = $held FROM stored_row"), "and does after a stop ($way)");
	$idle->safe_psql('postgres', 'CHECKPOINT');
}
$idle->stop('fast');

# --- promotion under load -----------------------------------------------------------------------
@writers = start_writers($primary, 20001);
$standby->promote;
ok(comes_back($standby, 'SELECT NOT pg_is_in_recovery()'), 'the standby is promoted');
is_same_everywhere($standby, 'heap and stored tables hold the same there');
my @others = start_writers($standby, 30001);
load_awaited(@writers);
load_stop(@writers);
kill_engine($standby, 'KILL');
load_finish(@others);
ok(comes_back($standby, 'SELECT count(*) >= 0 FROM stored_row'), 'it comes back after kill -9 of its engine');
is_same_everywhere($standby, 'and heap and stored tables hold the same');
my %there = map { $_ => 1 } split /\n/, $standby->safe_psql('postgres', q{SELECT k FROM heap WHERE v = 'journal'});
is(scalar(grep { !$there{$_} } load_acked(@others)), 0, 'no acknowledged row is missing');
is_equal($standby, $cascade, 'the cascaded standby follows the promoted one');

# --- pg_rewind of the old primary -----------------------------------------------------------------
$standby->safe_psql('postgres', 'CHECKPOINT');
$primary->stop('fast');
command_ok([ 'pg_rewind', '--target-pgdata', $primary->data_dir, '--source-server', $standby->connstr('postgres'),
	'--no-sync', '--config-file', $primary->data_dir . '/postgresql.conf' ], 'pg_rewind of the old primary');
$primary->append_conf('postgresql.conf', 'port = ' . $primary->port);
$primary->enable_streaming($standby);
$primary->set_standby_mode;
$primary->start;
ok(comes_back($primary, 'SELECT count(*) >= 0 FROM stored_row'), 'it serves as a standby');
@writers = start_writers($standby, 40001);
load_stop(@writers);
is_equal($standby, $primary, 'old primary');

$_->stop('fast') foreach $primary, $cascade, $standby;
done_testing();
