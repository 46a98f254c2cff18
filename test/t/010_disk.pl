# A disk that is full, or refuses writes: statements that need it fail with the reason; reading continues, and writing
# too as soon as the disk takes writes again.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WidecolEngine;

# System calls fail as the file says; see fault.c.
my ($library, $fault) = fault_library();

# Stores follow PostgreSQL's log: a commit is one before the store has it, and is applied as soon
# as the disk lets it.
my $node = PostgreSQL::Test::Cluster->new('main');
my $store = $node->data_dir . '/widecol';
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'widecol'
widecol.data_directory = '$store'
});
my $engine;

sub start_node
{
	my ($directory) = @_;
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{WIDECOL_FAULT} = $fault;
	local $ENV{WIDECOL_FAULT_DIR} = $directory;
	$node->start;
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'widecol engine'");
	$node->safe_psql('postgres', 'CHECKPOINT');		# the first image is there
	$engine = engine_pid($node);
}
start_node($store);
$node->safe_psql('postgres', q{
CREATE EXTENSION widecol;
CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (families '{"f": {"packing": "cell"}}', family 'f');
CREATE FOREIGN TABLE other (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
CREATE FOREIGN TABLE replaced (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO t VALUES (0, 'first');
INSERT INTO replaced VALUES (0, 'first');
});
my $rows = 1;					# that were acknowledged
my $next = 1;

sub break_disk
{
	my ($what) = @_;
	$node->safe_psql('postgres', 'SELECT count(*) FROM t, other');	# all of before is applied

	# No checkpoint of the stored tables is due: it could find the disk broken before the commit does that is to be
	# acknowledged, which would then wait and fail.  (A position may be that before the header of a page.)
	comes_back($node, q{SELECT redo_lsn - restart_lsn <= 40 FROM pg_control_checkpoint(), pg_replication_slots WHERE slot_name = 'widecol'})
		or die 'the stored tables have no checkpoint';
	append_to_file("$fault.new", "$what\n");
	rename("$fault.new", $fault) or die "rename: $!";
}

# Fails with the SQLSTATE and a message that names what could not be done.
sub fails
{
	my ($sql, $state, $message, $name) = @_;
	my ($rc, $stdout, $stderr) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");
	isnt($rc, 0, "$name: an error");
	like($stderr, qr/ERROR:  $state: /, "$name: SQLSTATE $state");
	like($stderr, qr/$message/, "$name: the message says what and where");
	return $stderr;
}

# Writing goes on by itself.
sub heals
{
	my ($name) = @_;
	my $k = $next++;
	ok(comes_back($node, "INSERT INTO t VALUES ($k, 'healed') RETURNING true"), "$name: then writing goes on");
	$rows++;
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), $rows, "$name: acknowledged rows are there, and no others");
	is(engine_pid($node), $engine, "$name: the engine is the same process");
}

# A transaction that PostgreSQL has committed while nothing can be applied.  It replaces a value, which the store forgets.
sub commits
{
	my ($name) = @_;
	$node->safe_psql('postgres', "BEGIN; INSERT INTO t VALUES ($next, '$name'); INSERT INTO replaced VALUES (0, '$name'); COMMIT");
	$next++;
	$rows++;
}

# A statement that waits for a commit that cannot be applied can be cancelled, and fails with the reason after a while.
sub cannot_go_on
{
	my ($state, $cause, $name) = @_;
	my (undef, undef, $stderr) = $node->psql('postgres', "SET statement_timeout = '300ms'; SELECT count(*) FROM t");
	like($stderr, qr/canceling statement due to statement timeout|$cause/, "$name: a reader can be cancelled");
	my $text = fails('SELECT count(*) FROM t', $state, "stored tables cannot show the last commits: $cause", "$name: reading");
	fails("INSERT INTO other VALUES (1, 'lost')", $state, "stored tables cannot (be written to now|show the last commits): $cause", "$name: writing");
	return $text;
}

# --- RocksDB's log ------------------------------------------------------------------
my $disk_full = 'storage engine could not write a commit to stored table "replaced" and 1 other\b';
my $locker = $node->background_psql('postgres', on_error_stop => 0);
$locker->query_safe(q{SET statement_timeout = '1min'; DELETE FROM replaced WHERE k = 1});
break_disk('28 * write create allocate');
commits('on a full disk');
my $stderr = cannot_go_on('53100', $disk_full, 'a full disk');
like($stderr, qr/HINT:  Free space on the disk of widecol\.data_directory/, 'the hint says what to do');

# A session that knows the table waits for nothing but the row, which such a commit has locked.
$locker->query('DELETE FROM replaced WHERE k = 0');
like($locker->{stderr}, qr/stored tables cannot be written to now: $disk_full/, 'nor can the row of such a commit be locked');
$locker->quit;
like($stderr, qr/RocksDB said: .*\.log: No space left on device/, 'the error says what RocksDB could not write');
is($node->safe_psql('postgres', 'SELECT 1'), '1', 'the rest of the server goes on');
is($node->safe_psql('postgres', q{SELECT state, stalled_since < now(), stall ~ 'write a commit', backlog_commits > 0,
	replay_lag > '0', replay_lag_bytes > 0 FROM widecol.pg_stat_widecol}), 'ready|t|t|t|t|t', 'statistics say so too');
$node->safe_psql('postgres', 'CHECKPOINT');
pass('and so do checkpoints');
unlink($fault);
heals('space is back');
ok(comes_back($node, 'SELECT stalled_since IS NULL AND stall IS NULL AND backlog_commits = 0 FROM widecol.pg_stat_widecol'),
	'and that it is over');

# The server stops, and committed rows are there when it starts again.
break_disk('28 * write create allocate');
commits('before a stop on a full disk');
$node->psql('postgres', "SET statement_timeout = '300ms'; SELECT count(*) FROM t");
$node->stop('fast');
unlink($fault);
start_node($store);
heals('after a stop on a full disk');

break_disk('once 5 .log write');
commits('while one write fails');
heals('after one EIO of a write');

# A TRUNCATE that cannot be written at once: it is tried again with the storage that was made for it.
foreach my $what ('28 .log write', 'once 5 .log write')
{
	$node->safe_psql('postgres', 'INSERT INTO other VALUES (0, $$to go$$)');
	$node->safe_psql('postgres', q{SELECT widecol.flush('t'), widecol.flush('other')});
	$node->safe_psql('postgres', 'CHECKPOINT');		# nothing is in memory that resuming could flush
	break_disk($what);
	$node->safe_psql('postgres', 'TRUNCATE other');
	$node->psql('postgres', "SET statement_timeout = '300ms'; SELECT count(*) FROM other");
	unlink($fault);
	heals("after TRUNCATE with '$what'");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM other'), '0', 'the table is empty');
}

# Its log is synced in checkpoints.
break_disk('once 5 .log sync');
commits('before a sync that fails');
$node->safe_psql('postgres', 'CHECKPOINT');
heals('after one EIO of a sync');

# --- files of families, and the list of files ---------------------------------------
foreach my $what ('28 .sst write create', '5 .sst sync', '5 MANIFEST write', '28 MANIFEST sync')
{
	my $state = $what =~ /^28/ ? '53100' : '58030';
	$node->safe_psql('postgres', "INSERT INTO t VALUES ($next, 'to be flushed')");
	$next++;
	$rows++;
	break_disk($what);
	fails(q{SELECT widecol.flush('t')}, $state, 'could not flush family "f" of stored table "t"', "flush with '$what'");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), $rows, 'reading goes on');
	commits("with $what");
	my $stopped = cannot_go_on($state, 'storage engine could not write a (commit to stored table "replaced" and 1 other|mark)', "with '$what'");
	like($stopped, qr/since flushing family "f" of stored table "t" failed/, 'the message names the table whose files failed')
		if $what =~ /sst/;
	unlink($fault);
	heals("after '$what'");

	# so that RocksDB compacts nothing on its own, at a time that nobody knows
	$node->safe_psql('postgres', q{SELECT widecol.major_compact('t')});
}

# Families are made before a transaction commits.
$node->safe_psql('postgres', q{INSERT INTO other VALUES (1, 'before')});
is($node->safe_psql('postgres', 'SELECT count(*) FROM other'), '1', 'another table has a row');
break_disk('28 MANIFEST write');
fails('TRUNCATE other', '53100', 'storage engine could not make family "cf" of stored table "other"', 'TRUNCATE with no room for the list of files');
is($node->safe_psql('postgres', 'SELECT count(*) FROM other'), '1', 'the table is as it was');
unlink($fault);
heals('after trouble with the list of files');
$node->safe_psql('postgres', q{TRUNCATE other; INSERT INTO other VALUES (2, 'again')});
is($node->safe_psql('postgres', 'SELECT k FROM other'), '2', 'the table that was truncated is empty but for its new row');

# --- compactions: tried again, and no matter for others -------------------------------
break_disk('28 .sst write create');
fails(q{SELECT widecol.major_compact('t')}, '53100', 'could not (compact|flush) family "f" of stored table "t"', 'major_compact on a full disk');
unlink($fault);
heals('after a compaction on a full disk');
$node->safe_psql('postgres', q{SELECT widecol.major_compact('t')});

# --- the engine goes, and cannot start again, while a transaction waits for a commit whose row it has taken over ----
# The commit is in the log, and can be applied neither by this engine nor by the next one.
my ($first, $second) = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2;
foreach my $session ($first, $second)
{
	$session->query_safe(q{SET statement_timeout = '1min'});
	$session->query_safe(q{SELECT v FROM replaced WHERE k = 0; UPDATE replaced SET v = 'known' WHERE k = 0}) foreach 1 .. 3;
}
break_disk('28 * write create allocate');
stop_engine($node);
$first->query_safe(q{UPDATE replaced SET v = 'first' WHERE k = 0});
$first->query_safe(q{INSERT INTO replaced VALUES (778, 'made')});
is($second->query_safe('SELECT v FROM replaced WHERE k = 778'), 'made', 'a row that was inserted is read without the engine');
$second->query_safe(q{BEGIN; UPDATE replaced SET v = 'second' WHERE k = 0});
pass('a row is taken over without the engine');
$second->query_until(qr/begun/, "\\echo begun\nUPDATE replaced SET v = 'second' WHERE k = 777;\n");
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
	WHERE query ~ '777' AND wait_event_type = 'Extension' AND pid <> pg_backend_pid()}), 'another row needs the engine');
my $current = "$store/pgsql_tmp.live/CURRENT";
rename $current, "$store/aside" or die "rename: $!";
kill_engine($node, $_) foreach qw(TERM CONT);
$second->query('ROLLBACK');
like($second->{stderr}, qr/ERROR:  the widecol engine (was shut down|could not start)/, 'the wait ends when the engine cannot start');
$_->quit foreach $first, $second;
unlink($fault);
rename "$store/aside", $current or die "rename: $!";
$node->reload;
ok(comes_back($node, q{SELECT v = 'first' FROM replaced WHERE k = 0}), 'the commit is there when it can');
$engine = engine_pid($node);
heals('after an engine that could not start');

# --- RocksDB's messages are in the server's log ---------------------------------------
my $log = slurp_file($node->logfile);
like($log, qr/RocksDB: .*No space left on device/, 'RocksDB\'s messages are in the server\'s log');
like($log, qr/storage engine takes no writes since .*No space left on device/, 'and so is the beginning');
like($log, qr/storage engine takes writes again/, 'and the end');
unlike($log, qr/was terminated by signal/, 'no process crashed');
ok(!-e "$store/LOG", 'there is no log of RocksDB\'s own');

# --- the place of the replication slot cannot be saved: no matter, the next checkpoint saves it ---------
$node->stop;
start_node($node->data_dir . '/pg_replslot');
break_disk('28 state write create');
$node->safe_psql('postgres', 'CHECKPOINT');
$node->safe_psql('postgres', 'SELECT pg_current_xact_id(); CHECKPOINT');
unlink($fault);
heals('after a slot that could not be saved');
like(slurp_file($node->logfile), qr/could not save replication slot "widecol": .*No space left on device/, 'the log tells of the slot');

# --- acknowledged commits are on disk --------------------------------------------------
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), $rows, 'all acknowledged rows are there after a crash');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE k < 0'), 0, 'and no others');
$node->stop;

done_testing();
