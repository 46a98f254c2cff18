# A small max_slot_wal_keep_size: after a crash the log that stored tables need is there, or recovery does not end;
# stored tables whose log is gone say how to go on.

use strict;
use warnings;

use File::Path qw(rmtree);
use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
use WidecolEngine;
use WidecolLoad;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1, extra => ['--wal-segsize=1']);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol'
min_wal_size = '32MB'
max_wal_size = '1GB'
max_slot_wal_keep_size = '8MB'
checkpoint_timeout = 1h
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', q{
CREATE EXTENSION widecol;
CREATE TABLE heap (k int, v text);
CREATE FOREIGN TABLE stored (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
});
my $rows = 0;

sub insert_row
{
	$node->safe_psql('postgres', 'INSERT INTO stored VALUES (' . ++$rows . ", 'x')");
	return;
}

# Log that does not concern stored tables: some 30 MB.
sub write_log
{
	$node->safe_psql('postgres', q{INSERT INTO heap SELECT i, repeat('x', 1000) FROM generate_series(1, 25000) i});
	return;
}

# All processes of the server at once: a process that learns of the postmaster's death ends in order.
sub crash
{
	my @all = map { m{(\d+)} } grep { (readlink($_) // '') eq $node->data_dir } glob '/proc/[0-9]*/cwd';
	kill 'STOP', @all;
	kill 'KILL', @all;
	$node->kill9;
	ok(wait_until(sub { !grep { (readlink($_) // '') eq $node->data_dir } glob '/proc/[0-9]*/cwd' }), 'the server is gone');
	return;
}

sub has_all_rows
{
	my ($name) = @_;
	ok(comes_back($node, "SELECT count(*) = $rows FROM stored"), $name);
	return;
}

my $slot = q{FROM pg_replication_slots WHERE slot_name = 'widecol'};

# --- marks come often enough ---------------------------------------------------------------------
$node->safe_psql('postgres', 'CHECKPOINT');
insert_row();
write_log();
insert_row();
ok(comes_back($node, "SELECT pg_current_wal_lsn() - restart_lsn < 4 * 1024 * 1024 $slot"),
	'the slot is near the end of the log without a checkpoint');
crash();
$node->start;
has_all_rows('after a crash all rows are there');
ok(comes_back($node, "SELECT wal_status <> 'lost' $slot"), 'and the slot keeps log');

# --- the log that is needed is longer: the engine made no mark --------------------------------------
insert_row();
has_all_rows('the row is in the store');
stop_engine($node);
write_log();
crash();
ok(!$node->start(fail_ok => 1), 'recovery does not end if it would remove log that stored tables need');
like(slurp_file($node->logfile), qr/FATAL:  the end of recovery would remove log that stored tables need\n.*DETAIL:  They need \d+ MB of it/,
	'the message says how much they need');
$node->append_conf('postgresql.conf', 'max_slot_wal_keep_size = -1');
$node->start;
has_all_rows('with another setting all rows are there');
$node->append_conf('postgresql.conf', 'max_slot_wal_keep_size = 8MB');
$node->reload;

# --- the same behind a start without an engine: its slot is before the last checkpoint ----------------
my $live = $node->data_dir . '/widecol/pgsql_tmp.live';
insert_row();
has_all_rows('the row is in the store');
crash();
chmod 0777, $live or die $!;
$node->start;
write_log();
crash();
my $from = -s $node->logfile;
ok(!$node->start(fail_ok => 1), 'recovery does not end either');
like(slurp_file($node->logfile, $from), qr/FATAL:  the end of recovery would remove log that stored tables need/, 'with the same message');
chmod 0700, $live or die $!;
$node->append_conf('postgresql.conf', 'max_slot_wal_keep_size = -1');
$node->start;
has_all_rows('with another setting all rows are there, too');
$node->append_conf('postgresql.conf', 'max_slot_wal_keep_size = 8MB');
$node->reload;

# --- the log is gone ------------------------------------------------------------------------------------
my $store = $node->data_dir . '/widecol';
insert_row();
has_all_rows('the row is in the store');
rename $store, "$store.aside" or die $!;
kill_engine($node, 'TERM');
ok(comes_back($node, 'SELECT true'), 'a server without its stored tables');
write_log();
$node->safe_psql('postgres', 'CHECKPOINT');
write_log();
$node->safe_psql('postgres', 'CHECKPOINT');
is($node->safe_psql('postgres', "SELECT wal_status $slot"), 'lost', 'the server keeps log for a while only');
$node->stop;
rename "$store.aside", $store or die $!;
$node->start;
my ($status, $out, $err) = $node->psql('postgres', 'SELECT count(*) FROM stored');
like($err, qr/log that the stored tables need has been removed.*HINT:  Put the log's files from there on back.*accept_store = '[0-9a-f]{8}'/s,
	'without the log the engine does not start, and says what to do');
my ($id) = $err =~ /accept_store = '([0-9a-f]{8})'/;
$node->append_conf('postgresql.conf', "widecol.accept_store = '$id'");
$node->reload;
has_all_rows('they are accepted as they are');
insert_row();
has_all_rows('and can be written');
ok(comes_back($node, "SELECT wal_status <> 'lost' $slot"), 'the slot keeps log again');

# --- others have all slots ----------------------------------------------------------------------------
sub failed_starts { return scalar(() = slurp_file($node->logfile) =~ /could not start: all replication slots are in use/g) }

$node->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('other')});
$node->stop('fast');
rmtree($node->data_dir . '/pg_replslot/widecol');
$node->append_conf('postgresql.conf', 'max_replication_slots = 1');
$node->start;
ok(wait_until(sub { failed_starts() >= 4 }), 'without a slot the engine does not start, and waits longer and longer before it tries again');
$node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('other'); CHECKPOINT});
is(failed_starts(), 4, 'a slot is dropped while it waits');
$node->reload;
has_all_rows('then it starts');
$node->stop('fast');
done_testing();
