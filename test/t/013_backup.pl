# Backups are complete or refused: pg_basebackup with checkpoints amid it, low-level backups, an
# archive and points in time, copies without images, a copy's slot.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use File::Path qw(rmtree);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
use WidecolEngine;
use WidecolLoad;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1, has_archiving => 1);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol'
restart_after_crash = on
min_wal_size = '32MB'
max_wal_size = '64MB'
checkpoint_timeout = 1h
track_activities = off
});

# Processes whose clock is set back; see clock.c.
my $clock = "$PostgreSQL::Test::Utils::tmp_check/clock";
sub set_back
{
	my ($pid, $seconds) = @_;
	open(my $file, '+<', $clock) or die "$clock: $!";
	syswrite($file, pack('qq', $pid, $seconds));
	return close($file);
}
append_to_file($clock, pack('qq', 0, 0));
{
	local $ENV{LD_PRELOAD} = preload_library('clock');
	local $ENV{WIDECOL_CLOCK} = $clock;
	$node->start;
}
load_tables($node);
my $store = $node->data_dir . '/widecol';

sub images
{
	return map { m{([^/]+)$} } glob "$store/image-*";
}

# Makes images old enough to go at the next checkpoint, if nothing holds them.
sub age_images
{
	utime 1, 1, glob "$store/image-*";
	return;
}

sub checkpoint
{
	$node->safe_psql('postgres', 'SELECT pg_current_xact_id(); CHECKPOINT');
	return;
}

sub backup_is_allowed
{
	return wait_until(sub { !-e $node->data_dir . '/widecol.no_backup' });
}

my $first = 1;

sub start_writers
{
	my @writers = map { load_start($node, client => $_, first => $first, count => 5000, settings => '') } 1 .. 2;
	$first += 5000;
	load_awaited(@writers);
	return @writers;
}

# A cluster from a backup, as it is once its recovery has come to the end.
sub restored
{
	my ($name, $backup, %how) = @_;
	my $copy = PostgreSQL::Test::Cluster->new($name);
	$copy->init_from_backup($node, $backup, has_restoring => 1, standby => 0, %{ $how{init} // {} });
	$copy->append_conf('postgresql.conf', $how{conf} // '');
	$copy->append_conf('postgresql.conf', 'archive_mode = off');
	$copy->start;
	ok(comes_back($copy, 'SELECT NOT pg_is_in_recovery()'), "$name: recovery has ended");
	ok(comes_back($copy, 'SELECT count(*) >= 0 FROM stored_row'), "$name: stored tables are there");
	return $copy;
}

# --- a slow copy with checkpoints amid it ----------------------------------------------
my @writers = start_writers();
ok(backup_is_allowed(), 'backups are allowed');
my $slow = $node->backup_dir . '/slow';
my $copying = IPC::Run::start([ 'pg_basebackup', '-D', $slow, '-d', $node->connstr('postgres'), '--checkpoint=fast',
	'--no-sync', '--max-rate=2M', '-X', 'stream' ], '<', '/dev/null', '&>', '/dev/null');
ok(wait_until(sub { -e "$slow/backup_label" || -e "$slow/PG_VERSION" || -d "$slow/base" }), 'a slow copy has begun');
my %before = map { $_ => 1 } images();
foreach (1 .. 4)
{
	age_images();
	checkpoint();
}
my $lasts = $copying->pumpable;
my %after = map { $_ => 1 } images();
ok($lasts, 'it takes longer than four checkpoints');
ok($copying->finish, 'it succeeds');
is(scalar(grep { !$after{$_} } keys %before), 0, 'no image has gone meanwhile');
load_stop(@writers);

my $copy = restored('slow', 'slow');
is_same_everywhere($copy, 'slow: heap and stored tables hold the same');
is($copy->safe_psql('postgres', q{SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'widecol'}), '1',
	'slow: it has a slot of its own');
$copy->stop('fast');
checkpoint();
age_images();
checkpoint();
cmp_ok(scalar(images()), '<=', 3, 'images go when the backup has ended');

# --- a checkpoint ends behind its image, however much DDL there has been ----------------------------------
# The engine's process is told of so many changes of catalogs that PostgreSQL has it read them at once.
$node->safe_psql('postgres', q{DO $$ BEGIN FOR i IN 1 .. 60 LOOP CREATE TEMP TABLE t (k int PRIMARY KEY); DROP TABLE t; END LOOP; END $$})
  foreach (1 .. 4);
my $behind = 0;
foreach my $i (1 .. 4)
{
	$node->safe_psql('postgres', "INSERT INTO stored_row SELECT -1000 - k, 'x', 0 FROM generate_series(1, 2000) k; CHECKPOINT");
	my ($newest) = reverse sort(images());
	my ($high, $low) = map { hex } split m{/}, $node->safe_psql('postgres', 'SELECT redo_lsn FROM pg_control_checkpoint()');

	# an image at the end of a page is as new as the first record of the next one
	$behind++ if hex($newest =~ s/.*-//r) + 40 < $high * 2**32 + $low;
}
is($behind, 0, 'each checkpoint ends behind its image');
$node->safe_psql('postgres', 'DELETE FROM stored_row WHERE k < -1000');

# --- a low-level backup --------------------------------------------------------------------
@writers = start_writers();
my $session = $node->background_psql('postgres', on_error_stop => 1);
$session->query_safe(q{SELECT pg_backup_start('low', true)});
ok(backup_is_allowed(), 'backups are allowed');
%before = map { $_ => 1 } images();
my $low = $node->backup_dir . '/low';
mkdir $low;
# the pool and the images come last
system_or_bail('sh', '-c', 'cd "$1" && for f in * .[!.]*; do case $f in postmaster.*|pg_wal|widecol|"*"|".[!.]*") ;; *) cp -r "$f" "$2/" 2>/dev/null || true ;; esac; done',
	'sh', $node->data_dir, $low);
foreach (1 .. 4)
{
	age_images();
	checkpoint();
}
%after = map { $_ => 1 } images();
is(scalar(grep { !$after{$_} } keys %before), 0, 'no image goes while a low-level backup is under way');
system_or_bail('sh', '-c', 'mkdir "$2/widecol" "$2/pg_wal" "$2/pg_wal/archive_status" && chmod -R go= "$2" && cp -r "$1"/widecol/sst "$1"/widecol/image-* "$2/widecol/"',
	'sh', $node->data_dir, $low);
my $label = $session->query_safe('SELECT labelfile FROM pg_backup_stop(false)');
append_to_file("$low/backup_label", "$label\n");
chmod 0600, "$low/backup_label";
$session->quit;
age_images();
checkpoint();
age_images();
checkpoint();
cmp_ok(scalar(images()), '<=', 3, 'images go when it has ended');

# --- functions that copy files ----------------------------------------------------------------
# A session that has called one of them, and now does something else, keeps images for ten minutes.
$session = $node->background_psql('postgres', on_error_stop => 1);
my $pid = $session->query_safe('SELECT pg_backend_pid()');
$session->query_safe(q{SELECT count(*) FROM pg_ls_dir('.')});
%before = map { $_ => 1 } images();
foreach (1 .. 4)
{
	age_images();
	checkpoint();
}
%after = map { $_ => 1 } images();
is(scalar(grep { !$after{$_} } keys %before), 0, 'no image goes while a session may be copying');
set_back($pid, 11 * 60);
foreach my $call (q{SELECT length(pg_read_binary_file('PG_VERSION'))}, q{BEGIN; SELECT count(*) FROM pg_ls_dir('.')})
{
	$session->query_safe($call);
	%before = map { $_ => 1 } images();
	foreach (1 .. 3)
	{
		age_images();
		checkpoint();
	}
	%after = map { $_ => 1 } images();
	my $gone = grep { !$after{$_} } keys %before;
	if ($call =~ /BEGIN/)
	{
		is($gone, 0, 'nor as long as its transaction lasts');
		$session->query_safe('COMMIT');
		age_images();
		checkpoint();
		age_images();
		checkpoint();
	}
	cmp_ok(scalar(images()), '<=', 3, 'images go ten minutes after the last call, though the session lasts');
}
$session->quit;

# --- a point in time ------------------------------------------------------------------------
load_awaited(@writers);
$node->safe_psql('postgres', q{SELECT pg_create_restore_point('here')});
load_awaited(@writers) foreach 1 .. 2;
load_stop(@writers);
$node->safe_psql('postgres', 'SELECT pg_switch_wal()');
my $journal = q{SELECT count(*) FROM heap WHERE v = 'journal'};
my $rows = $node->safe_psql('postgres', $journal);

unlink "$low/postmaster.opts";
$copy = restored('low', 'low', conf => q{
recovery_target_name = 'here'
recovery_target_action = 'promote'
});
is_same_everywhere($copy, 'at a point in time heap and stored tables hold the same');
cmp_ok($copy->safe_psql('postgres', $journal), '<', $rows, 'which is not all that came later');
$copy->safe_psql('postgres', join '', map { "INSERT INTO $_ VALUES (-1, 'written to the copy', 1);" } qw(heap stored_row stored_cell));
kill_engine($copy, 'KILL');
ok(comes_back($copy, 'SELECT count(*) = 1 FROM stored_row WHERE k = -1'), 'the copy takes writes, and keeps them');
is_same_everywhere($copy, 'after kill -9 of its engine heap and stored tables hold the same');
$copy->stop('fast');

# --- the slot is there before log is removed -----------------------------------------------------
# The engine is kept from starting while restartpoints remove what nobody keeps.
$node->backup('old');
@writers = start_writers();
load_awaited(@writers) foreach 1 .. 2;
load_stop(@writers);
my $end = $node->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
$node->safe_psql('postgres', $_) foreach 'SELECT pg_switch_wal()', 'CHECKPOINT', 'SELECT pg_switch_wal()', 'CHECKPOINT', 'SELECT pg_switch_wal()';
$copy = PostgreSQL::Test::Cluster->new('late');
$copy->init_from_backup($node, 'old', has_restoring => 1);
my $refuses = $copy->data_dir . '/widecol';
rename $refuses, "$refuses.aside" or die $!;
$copy->start;
ok(comes_back($copy, "SELECT pg_last_wal_replay_lsn() >= '" . $end . "'"),
	'a standby whose stored tables cannot be opened replays all the same');
my ($status, $out, $err) = $copy->psql('postgres', 'SELECT count(*) FROM stored_row');
isnt($status, 0, 'its stored tables are refused');
$copy->safe_psql('postgres', 'CHECKPOINT') foreach 1 .. 2;
rename "$refuses.aside", $refuses or die $!;
$copy->reload;
ok(comes_back($copy, 'SELECT count(*) >= 0 FROM stored_row'), 'the log that they need has been kept');
is_same_everywhere($copy, 'heap and stored tables hold the same');
is(contents($copy), contents($node), 'and the same as where they come from');
$copy->stop('fast');

# --- the archive replaces a segment that the engine reads ------------------------------------------------
$node->backup('two');
$copy = PostgreSQL::Test::Cluster->new('two');
$copy->init_from_backup($node, 'two', has_restoring => 1, has_streaming => 1);
$copy->append_conf('postgresql.conf', "wal_retrieve_retry_interval = '100ms'");
$copy->start;
ok(comes_back($copy, 'SELECT count(*) >= 0 FROM stored_row'), 'a standby serves');
$node->safe_psql('postgres', q{INSERT INTO stored_row VALUES (-2, 'streamed', 1)});
ok(comes_back($copy, 'SELECT count(*) = 1 FROM stored_row WHERE k = -2'), 'it has the beginning of a segment');
my $engine = engine_pid($copy);
$copy->append_conf('postgresql.conf', "primary_conninfo = ''");
$copy->reload;
ok(comes_back($copy, 'SELECT count(*) = 0 FROM pg_stat_wal_receiver'), 'and gets the rest from the archive');
$node->safe_psql('postgres', $_) foreach q{INSERT INTO stored_row VALUES (-3, 'archived', 1)}, 'SELECT pg_switch_wal()';
ok(comes_back($copy, 'SELECT count(*) = 1 FROM stored_row WHERE k = -3'), 'its engine reads the rest, too');
is(engine_pid($copy), $engine, 'and is the same process');
unlike(slurp_file($copy->logfile), qr/could not read the log/, 'it had no trouble');
$copy->stop('fast');
$node->safe_psql('postgres', 'DELETE FROM stored_row WHERE k < 0');

# --- recovery to an earlier point than one before, which was cut off --------------------------------------
# The live database has applied more than the recovery that is cut off has written of heap tables (no page has to make room); so PostgreSQL
# allows it.  The engine starts when the new timeline is longer than what the live database has followed.
$node->backup('twice');
$copy = PostgreSQL::Test::Cluster->new('twice');
$copy->init_from_backup($node, 'twice', has_streaming => 1);
$copy->append_conf('postgresql.conf', "archive_mode = off\nbgwriter_lru_maxpages = 0\nshared_buffers = 32MB");
$copy->start;
ok(comes_back($copy, 'SELECT count(*) >= 0 FROM stored_row'), 'a standby serves');
ok(wait_until(sub { !-e $copy->data_dir . '/widecol.no_backup' }), 'and has its first image');
$node->safe_psql('postgres', $_)
	foreach q{INSERT INTO stored_row VALUES (-4, 'early', 1)}, q{SELECT pg_create_restore_point('early')}, q{INSERT INTO stored_row VALUES (-5, 'late', 1)};
ok(comes_back($copy, 'SELECT count(*) = 1 FROM stored_row WHERE k = -5'), 'it has applied a commit');
$copy->stop('immediate');
rename $copy->data_dir . '/standby.signal', $copy->data_dir . '/recovery.signal' or die $!;
$copy->append_conf('postgresql.conf', q{
primary_conninfo = ''
restore_command = 'false'
hot_standby = off
recovery_target_name = 'early'
recovery_target_action = 'promote'
});
$copy->start;
ok(comes_back($copy, 'SELECT NOT pg_is_in_recovery()'), 'recovery ends before that commit');
ok(comes_back($copy, 'SELECT count(*) > 0 FROM stored_row'), 'there are stored tables');
is($copy->safe_psql('postgres', 'SELECT string_agg(v, NULL) FROM stored_row WHERE k IN (-4, -5)'), 'early', 'which do not have it');
like(slurp_file($copy->logfile), qr/the stored tables are ahead of the server's log/, 'they begin with an image, and the log says why');
$copy->safe_psql('postgres', q{INSERT INTO stored_row VALUES (-5, 'new', 1)});
is($copy->safe_psql('postgres', 'SELECT v FROM stored_row WHERE k = -5'), 'new', 'and take commits');
$copy->stop('fast');
$node->safe_psql('postgres', 'DELETE FROM stored_row WHERE k < 0');

# --- a copy without images ---------------------------------------------------------------------------
$node->backup('bare');
rmtree($node->backup_dir . '/bare/widecol');
$copy = PostgreSQL::Test::Cluster->new('bare');
$copy->init_from_backup($node, 'bare', has_restoring => 1);
$copy->start;
($status, $out, $err) = $copy->psql('postgres', 'SELECT count(*) FROM stored_row');
isnt($status, 0, 'a copy without images shows no stored tables');
like($err, qr/engine could not start.*(does not exist|is missing)/s, 'and names the missing file or log');
is($copy->safe_psql('postgres', 'SELECT count(*) FROM heap'), $node->safe_psql('postgres', 'SELECT count(*) FROM heap'),
	'its heap tables are there');
$copy->stop('fast');

# --- without an engine ----------------------------------------------------------------------------------
rename $store, "$store.aside" or die $!;
kill_engine($node, 'TERM');
ok(wait_until(sub { -e $node->data_dir . '/widecol.no_backup' }), 'without an engine no backup is allowed');
command_fails_like([ 'pg_basebackup', '-D', $node->backup_dir . '/none', '-d', $node->connstr('postgres'), '--checkpoint=fast' ],
	qr/widecol\.no_backup/, 'pg_basebackup is refused, and names the reason');
ok(wait_until(sub { (() = slurp_file($node->logfile) =~ /engine could not start/g) >= 4 }), 'the engine waits longer and longer before it tries again');
is(($node->psql('postgres', q{SET statement_timeout = '4s'; SELECT pg_current_xact_id(); CHECKPOINT}))[0], 0,
	'checkpoints do not wait for it');
$node->stop('immediate');
rename "$store.aside", $store or die $!;
$node->start;
ok(comes_back($node, 'SELECT count(*) >= 0 FROM stored_row'), 'the engine is back');
is_same_everywhere($node, 'with all its rows');
ok(backup_is_allowed(), 'and backups are allowed');
$node->stop('fast');
ok(!-e $node->data_dir . '/widecol.no_backup', 'as are copies of a server that was stopped');
done_testing();
