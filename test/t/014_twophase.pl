# Prepared transactions that have written to stored tables, or locked rows: over restarts and kills,
# on a standby that was made meanwhile, and over its promotion.

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
max_prepared_transactions = 20
checkpoint_timeout = 1h
wal_keep_size = '1GB'
});
$primary->start;
load_tables($primary);
$primary->safe_psql('postgres', q{
INSERT INTO heap SELECT i, 'old', i FROM generate_series(1, 10) i;
INSERT INTO stored_row SELECT * FROM heap;
INSERT INTO stored_cell SELECT * FROM heap;
CREATE FOREIGN TABLE emptied (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO emptied VALUES (1, 'old');
CREATE FOREIGN TABLE many (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO many SELECT i, 'old' FROM generate_series(1, 70001) i;
CREATE FOREIGN TABLE wide (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO wide VALUES (1, 'old');
CREATE FOREIGN TABLE several (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO several SELECT i, 'old' FROM generate_series(0, 9) i;
});

my $standby = PostgreSQL::Test::Cluster->new('standby');
my $promoted = 0;

sub finish_prepared
{
	my ($node, $verb, $gid) = @_;
	return $node->safe_psql('postgres', "$verb PREPARED '$gid'");
}

# Changes of prepared transactions are not visible, and their rows, and no others, are locked.  A row that is free may
# have been changed just before, by a transaction that the engine has yet to apply: lock_timeout counts that wait, too.
sub is_open
{
	my ($node, $name) = @_;
	is($node->safe_psql('postgres', q{SELECT count(*), count(*) FILTER (WHERE v <> 'old') FROM stored_row}), '10|0',
		"$name: nothing is seen");
	return if $node == $standby && !$promoted;
	my ($status, $out, $err) = $node->psql('postgres', q{
SELECT string_agg(k::text, ' ') FROM (SELECT k FROM stored_row FOR UPDATE SKIP LOCKED) t;
SELECT string_agg(k::text, ' ') FROM (SELECT k FROM stored_cell FOR UPDATE SKIP LOCKED) t;
SELECT string_agg(k::text, ' ') FROM (SELECT k FROM many WHERE k % 2500 < 2 FOR UPDATE SKIP LOCKED) t;
SET lock_timeout = '10ms';
UPDATE stored_row SET v = 'lost' WHERE k = 1;
UPDATE wide SET v = 'lost' WHERE k = 1;
INSERT INTO wide VALUES (20000, 'lost');
INSERT INTO several VALUES (10000, 'lost');
INSERT INTO emptied VALUES (2, 'lost');
SET lock_timeout = '1min';
UPDATE several SET v = 'beside' WHERE k = 0;
INSERT INTO several VALUES (10001, 'beside');
DELETE FROM several WHERE k = 10001}, on_error_stop => 0);
	is($out, "4 5 6 7 8 9 10\n4 5 6 7 8 9 10\n70001", "$name: these rows are locked, and no others");
	is(() = $err =~ /lock timeout/g, 5, "$name: a session that wants such a row, or the truncated table, waits; one that wants another does not");
	return;
}

sub serves { return comes_back($_[0], 'SELECT count(*) >= 0 FROM stored_row') }

# --- three are prepared ---------------------------------------------------------------
# One that writes to all tables, and makes, empties tables; one that is to be rolled back; one that has only
# locked; one that the engine does not keep in memory.  The rows were read before, so that the session locks them itself.
my $reads = join '', map { my $t = $_; map { "SELECT * FROM $t WHERE k = $_;\nSELECT FROM $t WHERE k = $_;\n" } 1 .. 3 } qw(stored_row stored_cell);
# Another session has a row of table many meanwhile: so many locks do not become one of the whole table, then or later.
my $beside = $primary->background_psql('postgres');
$beside->query_safe('BEGIN; SELECT FROM many WHERE k = 70001 FOR UPDATE');
$primary->safe_psql('postgres', $reads x 2 . q{
BEGIN;
UPDATE heap SET v = 'new' WHERE k = 1;
UPDATE stored_row SET v = 'new' WHERE k = 1;
UPDATE stored_cell SET v = 'new' WHERE k = 1;
INSERT INTO heap SELECT i, repeat('x', 1000), i FROM generate_series(11, 1000) i;
INSERT INTO stored_row SELECT i, repeat('x', 1000), i FROM generate_series(11, 1000) i;
INSERT INTO stored_cell SELECT i, repeat('x', 1000), i FROM generate_series(11, 1000) i;
CREATE FOREIGN TABLE made (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO made VALUES (1, 'made');
TRUNCATE emptied;
INSERT INTO emptied VALUES (1, 'anew');
UPDATE several SET v = 'new' WHERE k > 0;
INSERT INTO several SELECT i, 'new' FROM generate_series(10, 10000) i;
PREPARE TRANSACTION 'to commit';
BEGIN;
SAVEPOINT s;
DELETE FROM stored_row WHERE k = 2;
RELEASE s;
DELETE FROM stored_cell WHERE k = 2;
PREPARE TRANSACTION 'to roll back';
BEGIN;
SELECT FROM stored_row WHERE k = 3 FOR UPDATE;
SELECT FROM stored_cell WHERE k = 3 FOR SHARE;
SELECT count(*) FROM (SELECT FROM many WHERE k <= 70000 FOR UPDATE) t;
PREPARE TRANSACTION 'locks';
BEGIN;
INSERT INTO wide SELECT i, repeat(md5(i::text), 32) FROM generate_series(2, 20000) i;
DELETE FROM wide WHERE k = 1;
PREPARE TRANSACTION 'large';
});
$beside->quit;
my $prepared_at = $primary->safe_psql('postgres', 'SELECT pg_current_wal_lsn()');
is_open($primary, 'prepared');
$primary->backup('meanwhile');

# One that waits at COMMIT for such a row, as long as it takes: an engine that starts does not wait for it.
my $committer = $primary->background_psql('postgres', on_error_stop => 0);
$committer->query_until(qr/begun/, q{BEGIN;
SELECT 'begun', widecol.put('stored_row', '\x8000000000000001', 'cf:v', 'lost');
COMMIT;
});
ok($primary->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks JOIN pg_prepared_xacts x ON transactionid = x.transaction
	WHERE NOT granted}), 'a COMMIT waits');

# --- whatever ends and starts again ---------------------------------------------------------
my $before = engine_pid($primary);
kill 'TERM', $before;
ok(wait_until(sub { my $now = engine_pid($primary); $now != 0 && $now != $before }), 'another engine');
ok(serves($primary), 'which serves');
is_open($primary, 'another engine');
kill_engine($primary, 'KILL');
$committer->{run}->finish;
ok(serves($primary), 'back after kill -9 of the engine');
is_open($primary, 'after kill -9 of the engine');
my $victim = $primary->background_psql('postgres', on_error_stop => 0);
kill 'KILL', $victim->query_safe('SELECT pg_backend_pid()');
$victim->{run}->finish;
ok(serves($primary), 'back after kill -9 of a backend');
is_open($primary, 'after kill -9 of a backend');

# the server may remove the log before: checkpoints keep the changes
$primary->safe_psql('postgres', 'SELECT pg_switch_wal(); CHECKPOINT');
ok($primary->poll_query_until('postgres', "SELECT restart_lsn > '$prepared_at' FROM pg_replication_slots WHERE slot_name = 'widecol'"),
	'the engine needs no log from before any more');
$primary->stop('immediate');
$primary->start;
ok(serves($primary), 'back after a checkpoint and an immediate stop');
is_open($primary, 'after a checkpoint');

# --- a standby, from a backup taken meanwhile ---------------------------------------------------
$standby->init_from_backup($primary, 'meanwhile', has_streaming => 1);
$standby->start;
sub caught_up
{
	my $position = $primary->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
	return comes_back($standby, "SELECT coalesce(pg_last_wal_replay_lsn() >= '$position', false)");
}
ok(serves($standby) && caught_up(), 'a standby serves');
is_open($standby, 'standby');
$primary->safe_psql('postgres', q{
BEGIN;
INSERT INTO heap VALUES (-1, 'new', 1);
INSERT INTO stored_row VALUES (-1, 'new', 1);
INSERT INTO stored_cell VALUES (-1, 'new', 1);
PREPARE TRANSACTION 'on the primary';
CHECKPOINT;
});
ok(caught_up(), 'another prepared transaction has come');
$standby->safe_psql('postgres', 'CHECKPOINT');
$standby->restart;
ok(serves($standby), 'the standby starts behind its log');
finish_prepared($primary, 'COMMIT', 'on the primary');
ok(comes_back($standby, 'SELECT count(*) = 1 FROM heap WHERE k = -1'), 'it is committed there');
is_same_everywhere($standby, 'and a session that sees its heap row sees its stored rows');
foreach my $table (qw(heap stored_row stored_cell))
{
	$primary->safe_psql('postgres', "DELETE FROM $table WHERE k = -1");
}

# --- a crash of the primary -------------------------------------------------------------------
# A standby takes a transaction that the crash has cut off for one in progress, as long as older ones are prepared.  The
# standby's store follows the log so far that it has the end, and then its node replays the beginning again.
my $crashed = $primary->background_psql('postgres', on_error_stop => 0);
$crashed->query_safe(q{BEGIN; INSERT INTO heap VALUES (2000, 'lost', 0);
	INSERT INTO stored_row SELECT i, repeat('x', 1000), i FROM generate_series(2000, 3000) i; SELECT 1});
kill_engine($primary, 'KILL');
$crashed->{run}->finish;
ok(serves($primary), 'the primary is back after a crash');
$primary->safe_psql('postgres', q{BEGIN;
	INSERT INTO stored_row SELECT i, repeat('x', 1000), i FROM generate_series(3000, 23000) i; ROLLBACK});
ok(caught_up(), 'the standby follows');
$standby->stop('immediate');
$standby->start;
ok(serves($standby) && caught_up(), 'the standby replays the crash once more');

# --- promotion ------------------------------------------------------------------------------
# One that is cut off, younger than those that are prepared: nobody waits for it.
my $cut_off = $primary->background_psql('postgres');
$cut_off->query_safe(q{BEGIN; INSERT INTO heap VALUES (2000, 'lost', 0);
	INSERT INTO stored_row SELECT i, repeat('x', 1000), i FROM generate_series(2000, 3000) i; SELECT 1});
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
ok(caught_up(), 'the standby has its beginning');
$primary->stop('immediate');
$standby->promote;
ok(comes_back($standby, 'SELECT NOT pg_is_in_recovery()'), 'the standby is promoted');
$promoted = 1;
is($standby->safe_psql('postgres', q{SET statement_timeout = '60s'; SELECT count(*) FROM stored_row}), '10', 'readers wait for nobody');
is_open($standby, 'promoted standby');
finish_prepared($standby, 'COMMIT', 'to commit');
finish_prepared($standby, 'ROLLBACK', 'to roll back');
finish_prepared($standby, 'COMMIT', 'locks');
finish_prepared($standby, 'COMMIT', 'large');
is($standby->safe_psql('postgres', q{SELECT count(*), min(k), max(k), bool_and(v = repeat(md5(k::text), 32)) FROM wide}),
	'19999|2|20000|t', 'so is the large one');
is_same_everywhere($standby, 'committed: heap and stored tables hold the same');
is($standby->safe_psql('postgres', q{SELECT count(*), (SELECT v FROM made), (SELECT v FROM emptied) FROM stored_row}),
	'1000|made|anew', 'all of it is there');
is($standby->safe_psql('postgres', q{SET lock_timeout = '10s'; UPDATE stored_row SET n = 0 WHERE k <= 3 RETURNING k}), "1\n2\n3",
	'no row is locked any more');
$standby->stop('immediate');
$standby->start;
ok(serves($standby), 'back after an immediate stop');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM stored_cell'), '1000', 'it is still there');

# --- SERIALIZABLE: a transaction that was prepared before the start may have written any row ---------------------------------------------
$standby->safe_psql('postgres', 'CREATE DATABASE neighbour');
foreach my $database ('postgres', 'neighbour')
{
	$standby->safe_psql($database, q{CREATE EXTENSION IF NOT EXISTS widecol;
CREATE TABLE calm (n int);
CREATE FOREIGN TABLE skew (k text OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO skew VALUES ('x', 0), ('y', 0)});
}
$standby->safe_psql('postgres', q{BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT v FROM skew WHERE k = 'x';
UPDATE skew SET v = 1 WHERE k = 'y';
PREPARE TRANSACTION 'skew'});
$standby->restart;
ok(serves($standby), 'back with a SERIALIZABLE transaction that is prepared');
my $serializable = 'BEGIN ISOLATION LEVEL SERIALIZABLE';
my ($status, $out, $err) = $standby->psql('postgres', "$serializable; SELECT v FROM skew WHERE k = 'y'; UPDATE skew SET v = 1 WHERE k = 'x'; COMMIT");
like($err, qr/could not serialize access/, 'one beside it fails');
is($standby->safe_psql('neighbour', "$serializable; SELECT sum(v) FROM skew; UPDATE skew SET v = 1 WHERE k = 'x'; COMMIT"), '0', 'not in another database');
my $skewed = $standby->background_psql('postgres', on_error_stop => 0);
$skewed->query_safe("$serializable; SELECT count(*) FROM calm");
finish_prepared($standby, 'COMMIT', 'skew');
is($standby->safe_psql('postgres', 'SELECT string_agg(k || v, $$ $$ ORDER BY k) FROM skew'), 'x0 y1', 'it is committed');
$skewed->query("SELECT v FROM skew WHERE k = 'y'; UPDATE skew SET v = 1 WHERE k = 'x'; COMMIT");
like($skewed->{stderr}, qr/could not serialize access/, 'one that began before fails as well');
eval { $skewed->quit };
is($standby->safe_psql('postgres', "$serializable; SELECT sum(v) FROM skew; UPDATE skew SET v = 1 WHERE k = 'x'; COMMIT"), '1', 'a later one does not');

# --- kills under load ---------------------------------------------------------------------------
# No new postmaster starts while children of the old one are left.
sub start_again
{
	my ($node) = @_;
	my $tries = $PostgreSQL::Test::Utils::timeout_default * 5;
	usleep(200_000) until $node->start(fail_ok => 1) || --$tries <= 0;
	return;
}
start_again($primary);
ok(serves($primary), 'the old primary serves');
finish_prepared($primary, 'COMMIT', 'to commit');
finish_prepared($primary, 'COMMIT', 'to roll back');
finish_prepared($primary, 'ROLLBACK', 'locks');
finish_prepared($primary, 'COMMIT', 'large');
is($primary->safe_psql('postgres', q{SELECT count(*), min(k), max(k), bool_and(v = repeat(md5(k::text), 32)) FROM wide}),
	'19999|2|20000|t', 'it commits the large one too');
foreach my $table (qw(heap stored_row stored_cell))
{
	$primary->safe_psql('postgres', "TRUNCATE $table");
}
my %acked;
foreach my $i (0 .. 1)
{
	my $what = ('the engine', 'the postmaster')[$i];
	my @writers = map { load_start($primary, client => $_, first => 1 + 2000 * $i, count => 2000, settings => '', prepare => 1) } 1, 2;
	load_awaited(@writers);
	$primary->safe_psql('postgres', 'CHECKPOINT') if $i == 1;
	usleep(int(rand(200_000)));
	$what eq 'the engine' ? kill_engine($primary, 'KILL') : $primary->kill9;
	load_finish(@writers);
	start_again($primary) if $what eq 'the postmaster';
	ok(serves($primary), "kill $i, of $what: the cluster comes back");
	is_same_everywhere($primary, 'heap and stored tables hold the same');
	my @left = split /\n/, $primary->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts');
	finish_prepared($primary, $i == 1 ? 'ROLLBACK' : 'COMMIT', $_) foreach @left;
	is_same_everywhere($primary, 'and when the ' . @left . ' that were prepared have ended');
	%acked = (%acked, map { $_ => 1 } load_acked(@writers));
}
my %there = map { $_ => 1 } split /\n/, $primary->safe_psql('postgres', q{SELECT k FROM heap WHERE v = 'journal'});
is(scalar(grep { !$there{$_} } keys %acked), 0, 'no acknowledged row is missing');
cmp_ok(scalar keys %acked, '>', 0, 'there were commits: ' . scalar keys %acked);

$_->stop('fast') foreach $primary, $standby;
done_testing();
