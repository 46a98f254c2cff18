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
# Requests are counted here: a step of upkeep would make answers that are kept invalid.
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol, pg_stat_statements'
widecol.upkeep = 0
});
$node->start;
$node->safe_psql('postgres', q{
CREATE EXTENSION widecol;
CREATE FOREIGN TABLE t (k text OPTIONS (rowkey '1') COLLATE "C", v text) SERVER widecol;
INSERT INTO t SELECT 'secretkey' || i, 'secretvalue' FROM generate_series(1, 1000) i;
CREATE FOREIGN TABLE m (k text OPTIONS (rowkey '1') COLLATE "C", d jsonb OPTIONS (family 'd')) SERVER widecol;
});

# --- numbers of rows -----------------------------------------------------------------
# Rows that are put off, and then left out, are not counted; in a statement that a rule adds none are.
$node->safe_psql('postgres', $_) foreach q{
CREATE EXTENSION pg_stat_statements;
CREATE FOREIGN TABLE counted (k int OPTIONS (rowkey '1')) SERVER widecol;
CREATE TABLE ruled (k int);
CREATE RULE also AS ON INSERT TO ruled DO ALSO INSERT INTO counted SELECT k FROM generate_series(1, 10) k ON CONFLICT DO NOTHING;
}, 'INSERT INTO ruled VALUES (1), (2)', 'INSERT INTO ruled VALUES (1), (2)', 'INSERT INTO counted SELECT generate_series(6, 15) ON CONFLICT DO NOTHING';
is($node->safe_psql('postgres', q{SELECT sum(rows) FROM pg_stat_statements WHERE query LIKE 'INSERT INTO ruled%'}), '4',
	'of the statement that a rule adds no rows are counted');
is($node->safe_psql('postgres', q{SELECT rows FROM pg_stat_statements WHERE query LIKE 'INSERT INTO counted%'}), '5',
	'rows that are left out are not counted');

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
my $log = logged(q{SELECT count(v) FROM t WHERE v LIKE 'secret%'; DELETE FROM t WHERE k = 'secretkey7';
	BEGIN; INSERT INTO t VALUES ('secretkey7', 'secretvalue'); DELETE FROM t WHERE k = 'secretkey7'; COMMIT; SELECT widecol.flush('t')});
like($log, qr/slow scan of stored table "t" by process \d+: \d+\.\d{3} ms, rows examined 1000, rows returned 1000$/m, 'a scan, once');
like($log, qr/slow modify of stored table "t" by process \d+: .* rows examined 1, rows returned 1$/m, 'a DELETE');
like($log, qr/slow commit by process/, 'a commit that locks a row');
like($log, qr/slow flush of stored table "t" by process/, 'a flush');
unlike($log, qr/secret/, 'no keys and no values');
$node->append_conf('postgresql.conf', 'widecol.log_min_duration = 1h');
$node->reload;
ok(wait_until(sub { logged('SELECT 1') eq '' }), 'shorter requests are not logged');

# --- rows that were read before ------------------------------------------------------
# Requests of these statements, and one of the view.
sub requests
{
	my ($sql, $reads) = @_;
	my $get = "SELECT * FROM t WHERE k = 'secretkey9' \\g /dev/null\n";

	return $node->safe_psql('postgres', "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM m) \\g /dev/null\n" . $get x ($reads // 2) .
		"SELECT requests FROM widecol.pg_stat_widecol \\gset\n$sql;\nSELECT requests - :requests FROM widecol.pg_stat_widecol");
}

my $key = "WHERE k = 'secretkey9'";
is(requests("UPDATE t SET v = 'secretvalue' $key"), 1, 'UPDATE of a row that was read before asks nothing');
is(requests("UPDATE t SET v = v || '' $key"), 1, 'nor does one that computes the value');
is(requests("BEGIN; SELECT * FROM t $key FOR UPDATE \\g /dev/null\nUPDATE t SET v = 'secretvalue' $key; COMMIT"), 1,
	'nor does a transaction that locks the row first');
is(requests("BEGIN; SAVEPOINT s; UPDATE t SET v = 'secretvalue' $key; COMMIT"), 2, 'but a subtransaction, whose locks can be released, does');
is(requests("BEGIN; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; UPDATE t SET v = 'secretvalue' $key; COMMIT") > 1, 1,
	'and one that must see that the row has not changed');

# The session that changes a row knows it: the engine does not read it again, however often it is changed.  (Now and then an
# UPDATE asks the engine, and if that was the last one, the next reader asks, too: in about one of thirty tries.)
ok(wait_until(sub {
	$node->safe_psql('postgres', "SELECT * FROM t $key \\g /dev/null\n" . "UPDATE t SET v = 'secretvalue' $key;\n" x 300);
	return requests("SELECT * FROM t $key \\g /dev/null\nSELECT", 0) == requests('SELECT', 0);
}), 'a row that was changed many times is known to its readers');

# A page that is read again and again asks nothing, until a row of it is written.  (The engine keeps its rows when the session
# leaves it the time.)
$node->safe_psql('postgres', q{CREATE FOREIGN TABLE numbers (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO numbers SELECT i, 'v' FROM generate_series(1, 100, 2) i;
ANALYZE numbers});
my $page = 'SELECT k FROM numbers WHERE k > 50 ORDER BY k LIMIT 3';
my $pages = "$page \\g /dev/null\n" x 70;
my $rest = "\\g /dev/null\nSELECT";
my $planned = sub { requests("EXPLAIN $page $rest") };
ok(wait_until(sub { requests("${pages}SELECT") == $planned->() }), 'a page that is read again asks nothing');
is(requests("SELECT k FROM numbers WHERE k > 51 AND k < 56 ORDER BY k DESC LIMIT 2 $rest"), $planned->(),
	'nor does another page of its rows');
ok(wait_until(sub { requests("SELECT v FROM numbers WHERE k > 51 ORDER BY k LIMIT 1 $rest") == $planned->() }),
	'other columns are kept for themselves');
$node->safe_psql('postgres', "UPDATE numbers SET v = 'w' WHERE k = 1");
is(requests("$page $rest"), $planned->(), 'and a write elsewhere in the table leaves the page');
$node->safe_psql('postgres', "INSERT INTO numbers VALUES (52, 'between')");
is($node->safe_psql('postgres', $page), "51\n52\n53", 'which an INSERT into the page makes invalid');
$node->safe_psql('postgres', $pages . 'DELETE FROM numbers WHERE k = 51');
is($node->safe_psql('postgres', $page), "52\n53\n55", 'and so does a DELETE');
$node->safe_psql('postgres', q{CREATE FOREIGN TABLE passing (k int OPTIONS (rowkey '1'), v text) SERVER widecol
OPTIONS (families '{"cf": {"ttl": "2s"}}');
INSERT INTO passing VALUES (60, 'v');
ANALYZE passing});
$page =~ s/numbers/passing/;
$node->safe_psql('postgres', "$page \\g /dev/null\n" x 70);
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM ($page) AS p"), 'and so does the end of a row');

# Answers that other sessions have asked for: of all columns, and of a member of a map.
$node->safe_psql('postgres', q{
INSERT INTO m VALUES ('one', '{"a": "1", "b": "1"}'), ('two', '{"b": "1"}'), ('none', NULL);
SELECT * FROM t WHERE k = 'secretkey21';
SELECT d FROM m WHERE k = 'one';
SELECT d ->> 'a' FROM m WHERE k = 'two';
SELECT d FROM m WHERE k = 'none';
});
my $put = q{UPDATE m SET d = d || '{"a": "%s"}' WHERE k = '%s'};
my $ts = "SELECT ts FROM widecol.get('m', 'one') WHERE qualifier = 'a'";
is(requests("UPDATE t SET v = 'secretvalue' WHERE k = 'secretkey21'", 0), 1, 'nor does the UPDATE of a row that another session has read');
is(requests(sprintf($put, 2, 'one'), 0), 1, 'nor does one that puts another value of a member into a map');
my $put_at = $node->safe_psql('postgres', $ts);
isnt($put_at, '', 'it has a timestamp');
is(requests(sprintf($put, 2, 'one'), 0) > 1, 1, 'but one that puts the same value does');
is($node->safe_psql('postgres', $ts), $put_at, 'and leaves the cell as it was');
is(requests(sprintf($put, 2, $_), 0) > 1, 1, "as does one of a member that the row '$_' does not have") foreach qw(two none);
is($node->safe_psql('postgres', 'SELECT k, d FROM m ORDER BY k'), qq{none|\none|{"a": "2", "b": "1"}\ntwo|{"a": "2", "b": "1"}},
	'each row has what it should have');

# Rows that a scan has returned are locked without a further request, if they are as they were.
my $scanned = q{SELECT k FROM t WHERE k > 'secretkey3' ORDER BY k LIMIT 3};
my $scan = requests("BEGIN; $scanned \\g /dev/null\nCOMMIT");
is(requests("BEGIN; $scanned FOR UPDATE SKIP LOCKED \\g /dev/null\nCOMMIT"), $scan, 'SELECT FOR UPDATE of some rows asks no more than SELECT');
my $deletes = q{WITH first AS (SELECT k FROM t WHERE k > 'secretkey4' ORDER BY k LIMIT 1 FOR UPDATE) DELETE FROM t USING first WHERE t.k = first.k};
is(requests("BEGIN; $deletes; ROLLBACK"), $scan, 'nor does a DELETE of the first row');

my $unread = "WHERE k = 'secretkey13'";
my $locks = requests("BEGIN; SELECT * FROM t $unread FOR UPDATE \\g /dev/null\nCOMMIT", 0);
$unread =~ s/13/12/;			# not behind the other row
is(requests("BEGIN; SELECT * FROM t $unread FOR UPDATE \\g /dev/null\nUPDATE t SET v = 'secretvalue' $unread; COMMIT", 0), $locks,
	'a row that is locked first is known when it is changed');
ok(wait_until(sub { requests("UPDATE t SET v = 'secretvalue' WHERE k = 'secretkey11'", 0) == 1 }),
	'a row that is changed again and again, and not read, is known, too');

# A loop over keys in their order: the engine reads some rows ahead.  Nothing is committed:
# upkeep of dead rows would flush, and the counters below must stand still.
$node->safe_psql('postgres', q{CREATE FOREIGN TABLE looped (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO looped SELECT i, 0 FROM generate_series(1, 4000) i});
my @loops;
my $loop = 'DO $$ BEGIN FOR i IN %s LOOP %s WHERE k = i; END LOOP; END $$';
foreach my $in ([ '1 .. 500', 'PERFORM v FROM looped' ], [ '1001 .. 1500', 'UPDATE looped SET v = v + 1' ], [ '2001 .. 2500', 'DELETE FROM looped' ],
	[ '3001 .. 3500', 'UPDATE looped SET v = 1' ])
{
	cmp_ok(requests('BEGIN; ' . sprintf($loop, @$in) . '; ROLLBACK'), '<', 250, "few requests for 500 rows: $in->[1]");
	push @loops, sprintf($loop, @$in);
}
is($node->safe_psql('postgres', join(';', 'BEGIN', @loops, 'SELECT count(*), sum(v) FROM looped', 'ROLLBACK')), '3500|1000',
	'and each row has been changed');

# Without the engine a commit stays in flight.
my ($writer, $reader) = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2;
my @gets = map { "SELECT v FROM t WHERE k = 'secretkey$_'" } 9, 10, 11;
$_->query_safe(join(';', @gets, @gets)) foreach $writer, $reader;
my $stopped = stop_engine($node);
$writer->query("SET statement_timeout = '60s'; UPDATE t SET v = 'in flight' $key; DELETE FROM t WHERE k = 'secretkey11'");
my ($changed, $other) = map { scalar $reader->query("SET statement_timeout = '60s'; $_") } @gets[0, 1];
my $waits = $reader->query("SET statement_timeout = '100ms'; $gets[2]");
my ($write_errors, $read_errors) = ($writer->{stderr}, $reader->{stderr});
kill 'CONT', $stopped;
is($write_errors, '', 'rows that were read before are changed without the engine');
is($changed, 'in flight', 'a changed row is shown as the commit has left it');
is($other, 'secretvalue', 'and others are read, which do not wait for that commit');
is($waits, '', 'but a row that is gone is not shown as it was before');
like($read_errors, qr/statement timeout/, 'its reader waits');
$reader->{stderr} = '';
is($reader->query_safe("SET statement_timeout = 0; $gets[2]"), '', 'and sees the commit');
$writer->query_safe("UPDATE t SET v = 'secretvalue' $key; INSERT INTO t (k, v) VALUES ('secretkey11', 'secretvalue')");
$_->quit foreach $writer, $reader;

# --- restarts ----------------------------------------------------------------------
my $counters = q{SELECT count(*) FROM t; SELECT commits, operations, batches, flushes, get_cache_misses, stats_reset FROM widecol.pg_stat_widecol;
SELECT cells_written, deletes, flushes, last_flush FROM widecol.pg_stat_widecol_tables WHERE family = 'cf'};
my $file = $node->data_dir . '/pg_stat/widecol.stat';
my $blocks = 'SELECT requests, blocks_hit + blocks_read FROM widecol.pg_stat_widecol';

$node->safe_psql('postgres', q{SELECT v FROM t WHERE k = 'secretkey8'; SELECT count(v) FROM t});
my $before = $node->safe_psql('postgres', $counters);
my ($requests, $read) = split /\|/, $node->safe_psql('postgres', $blocks);
like($before, qr/^999\n[1-9]\d*\|[1-9]\d\d\d\|/, 'counters have counted');
ok(!-e $file, 'a server that runs has no file of statistics');
$node->stop;
ok(-e $file, 'a stop in order leaves one');
$node->start;
is($node->safe_psql('postgres', $counters), $before, 'counters go on over a restart');
my ($requests_now, $read_now) = split /\|/, $node->safe_psql('postgres', $blocks);
ok($requests_now > $requests && $read_now >= $read && $read > 0, 'those of sessions too');
is($node->safe_psql('postgres', 'SELECT started_at > stats_reset FROM widecol.pg_stat_widecol'), 't', 'stats_reset is of before');
ok(!-e $file, 'the file has gone');

my $engine = engine_pid($node);
kill 'TERM', $engine;
ok(wait_until(sub { ($node->psql('postgres', 'SELECT count(*) FROM t'))[0] == 0 && engine_pid($node) != $engine }), 'the engine starts again');
is($node->safe_psql('postgres', $counters), $before, 'and over a restart of the engine alone');

$node->stop('immediate');
$node->start;
my (undef, $after) = split /\n/, $node->safe_psql('postgres', $counters);
like($after, qr/^0\|0\|0\|/, 'after a crash they begin anew');

$node->stop;
append_to_file($file, "nonsense\n");
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '999', 'a damaged file keeps nobody from starting');
like(slurp_file($node->logfile), qr/statistics begin anew: file ".*widecol.stat" is of another store or build, or damaged/, 'and is logged');
ok(!-e $file, 'and removed');

# --- an engine that does not come ----------------------------------------------------
$node->stop;
rename($node->data_dir . '/widecol', $node->data_dir . '/elsewhere') or die "rename: $!";
$node->start;
ok($node->poll_query_until('postgres', q{SELECT state = 'failed' FROM widecol.pg_stat_widecol}), 'the view answers while the engine cannot start');
# the postmaster starts it again and again: for a moment it is starting
ok($node->poll_query_until('postgres', q{SELECT state = 'failed' AND pid IS NULL AND error ~ 'widecol' AND commits IS NULL
	FROM widecol.pg_stat_widecol}), 'and says why');
$node->safe_psql('postgres', 'CREATE ROLE nobody');
ok($node->poll_query_until('postgres', q{SET ROLE nobody; SELECT state = 'failed' AND error IS NULL FROM widecol.pg_stat_widecol}, "SET\nt"),
	'but not to everybody');
$node->stop('immediate');

done_testing();
