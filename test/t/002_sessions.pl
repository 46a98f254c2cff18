# Many sessions, and sessions that are stopped: by a cancel, a timeout, a
# termination, while the engine works and while it does not answer at all.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WidecolEngine;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol'
max_connections = 230
});
$node->start;
$node->safe_psql('postgres', q{
CREATE EXTENSION widecol;
CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text, n int) SERVER widecol;
INSERT INTO t SELECT i, repeat('x', 100), 0 FROM generate_series(1, 200000) i;
CREATE FOREIGN TABLE w (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
});

# Seconds of work in the engine alone: it reads every row and finds nothing.
my $long = q{SELECT count(*) FROM generate_series(1, 100000) g,
 LATERAL widecol.scan('t', columns => '{cf:none}', row_limit => 1 + g % 2)};

# Waits until the backend does something, or nothing any more, for the engine.
sub wait_active
{
	my ($pid) = @_;
	return $node->poll_query_until('postgres',
		"SELECT state = 'active' AND query LIKE '%none%' FROM pg_stat_activity WHERE pid = $pid");
}

sub wait_gone
{
	my ($pid) = @_;
	return $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
}

# --- a duplicate is said with all fields ---
$node->safe_psql('postgres', "CREATE FOREIGN TABLE dup (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (on_duplicate 'error')");
my $duplicate = qr/23505: duplicate key value violates row key of foreign table "dup"\n.*Key \(k\)=\(1\) already exists\..*SCHEMA NAME:  public\n.*TABLE NAME:  dup\n.*CONSTRAINT NAME:  dup_rowkey/s;
my (undef, undef, $complaint) = $node->psql('postgres', "\\set VERBOSITY verbose\nINSERT INTO dup VALUES (1, 'first'); INSERT INTO dup VALUES (1, 'later');");
like($complaint, $duplicate, 'a duplicate that the statement finds');

# --- so is a row that another session has changed since the snapshot, at COMMIT too ---
my $repeats = $node->background_psql('postgres', on_error_stop => 0);
foreach my $change ("INSERT INTO w VALUES (1, 'mine')", "DELETE FROM w WHERE k = 1", "SELECT widecol.append('w', '\\x80000001', 'cf:v', '!')")
{
	$node->safe_psql('postgres', "INSERT INTO w VALUES (1, 'before')");
	$repeats->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM w');
	$node->safe_psql('postgres', "INSERT INTO w VALUES (1, 'theirs')");
	$repeats->query("$change; COMMIT;");
	like($repeats->{stderr}, qr/could not serialize access due to concurrent update\n.*DETAIL: .*(\(k\)=\(1\) of foreign table "w"|"\\x80\\x00\\x00\\x01" of stored table "w") was changed by another/s, "$change: the row is named");
	$repeats->{stderr} = '';
	is($repeats->query_safe('SELECT v FROM w WHERE k = 1'), 'theirs', 'and nothing is changed');
}
$repeats->quit;

# --- timeouts and cancels: the session goes on -----------------------------------
my $session = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $session->query_safe('SELECT pg_backend_pid()');

$session->query("SET statement_timeout = '300ms'; $long;");
like($session->{stderr}, qr/canceling statement due to statement timeout/, 'statement_timeout stops a scan');
$session->{stderr} = '';
is($session->query_safe('RESET statement_timeout; SELECT n FROM t WHERE k = 77'), '0', 'and the session can read');

$session->query_safe("BEGIN; INSERT INTO w VALUES (1, 'before the cancel'); SAVEPOINT s");
$session->query_until(qr/started/, "\\echo started\nINSERT INTO w VALUES (2, 'with it'); $long;\n\\echo over\n");
ok(wait_active($pid), 'a long scan runs in a transaction');
is($node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)"), 't', 'it is cancelled');
$session->query_until(qr/over/, '');
like($session->{stderr}, qr/canceling statement due to user request/, 'and stops');
$session->{stderr} = '';
is($session->query_safe('ROLLBACK TO s; SELECT * FROM w ORDER BY k'), '1|before the cancel',
	'its savepoint gives the transaction back');
$session->query_safe("INSERT INTO w VALUES (3, 'after it'); COMMIT");
is($node->safe_psql('postgres', 'SELECT k, v FROM w ORDER BY k'), "1|before the cancel\n3|after it", 'which commits');

# --- a termination: nothing of the session is left --------------------------------
$session->query_safe("BEGIN; INSERT INTO w VALUES (4, 'never committed')");
$session->query_until(qr/started/, "\\echo started\n$long;\n");
ok(wait_active($pid), 'a long scan runs once more');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
ok(wait_gone($pid), 'pg_terminate_backend ends it');
eval { $session->quit };
is($node->safe_psql('postgres', 'SELECT count(*) FROM w WHERE k = 4'), '0', 'without its writes');
$node->safe_psql('postgres', q{SET lock_timeout = '60s'; SELECT widecol.truncate_table('w')});
is($node->safe_psql('postgres', 'SELECT count(*) FROM w'), '0', 'and without its locks');

# --- workers that share a scan: one that is stopped ends the query, and the session stops them ----
$session = $node->background_psql('postgres', on_error_stop => 0);
$pid = $session->query_safe('SELECT pg_backend_pid()');
$session->query_safe(q{SET parallel_setup_cost = 0; SET parallel_leader_participation = off;
SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2});
my $workers = "SELECT a.pid FROM pg_stat_activity a JOIN widecol.pg_stat_widecol_sessions USING (pid) WHERE leader_pid = $pid";
foreach my $stop (
	[ 'a worker is cancelled', "SELECT pg_cancel_backend(pid) FROM ($workers LIMIT 1) w", qr/canceling statement due to user request/ ],
	[ 'a worker is terminated', "SELECT pg_terminate_backend(pid) FROM ($workers LIMIT 1) w",
		qr/terminating connection due to administrator command|terminating background worker|lost connection to parallel worker/ ],
	[ 'the leader is cancelled', "SELECT pg_cancel_backend($pid)", qr/canceling statement due to user request/ ])
{
	my ($name, $how, $error) = @$stop;

	$session->query_until(qr/started/, "\\echo started\nSELECT count(pg_sleep(0.01)) FROM t WHERE n = 0;\n\\echo over\n");
	ok($node->poll_query_until('postgres', "SELECT count(*) > 0 FROM ($workers) w"), 'workers read a table');
	is($node->safe_psql('postgres', $how), 't', $name);
	$session->query_until(qr/over/, '');
	like($session->{stderr}, $error, 'the query ends');
	$session->{stderr} = '';
	ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM ($workers) w"), 'and its workers with it');
	is($session->query_safe('SELECT count(*), sum(n) FROM t'), '200000|0', 'the session goes on');
}
$session->query_until(qr/started/, "\\echo started\nSELECT count(pg_sleep(0.01)) FROM t WHERE n = 0;\n");
ok($node->poll_query_until('postgres', "SELECT count(*) > 0 FROM ($workers) w"), 'workers read once more');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
ok(wait_gone($pid), 'their leader is terminated');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM ($workers) w"), 'and they end');
eval { $session->quit };

# --- an engine that does not answer ------------------------------------------------
my $engine = engine_pid($node);
$session = $node->background_psql('postgres', on_error_stop => 0);
$pid = $session->query_safe('SELECT pg_backend_pid()');
# sizes of many tables, which the planner wants: they are known from the first time, and of p1 if ANALYZE does not ask before the
# INSERT is applied (such a size is asked for again after a second); the count waits for that
my $partitions = join ' ', map {
	"CREATE FOREIGN TABLE p$_ (k int OPTIONS (rowkey '1'), i int, v int) SERVER widecol OPTIONS (table 'parts');"
	. "ALTER TABLE p ATTACH PARTITION p$_ FOR VALUES IN ($_);" } 1 .. 70;
my $plan = 'EXPLAIN (COSTS OFF) SELECT * FROM p WHERE v >= 0;';
$session->query_safe("SET client_min_messages = warning; CREATE TABLE p (k int, i int, v int) PARTITION BY LIST (i); $partitions");
$session->query_safe("INSERT INTO p1 SELECT i, 1, i FROM generate_series(1, 2000) i; SELECT count(*) FROM p1; ANALYZE p1, p2, p3; $plan");
$session->query_safe('SELECT v FROM t WHERE k = 1');
my $other = $node->background_psql('postgres', on_error_stop => 0);
my $other_pid = $other->query_safe('SELECT pg_backend_pid()');
$other->query_safe('SELECT v FROM t WHERE k = 1');

my ($large, $larger) = map { $node->background_psql('postgres', on_error_stop => 0) } 1, 2;
my @large_pids = map { $_->query_safe('SELECT pg_backend_pid()') } $large, $larger;
$_->query_safe("BEGIN; INSERT INTO w SELECT i, repeat('z', 100) FROM generate_series(1, 100000) i") foreach $large, $larger;

# rows far behind those that have been read: shared memory does not have them
stop_engine($node);
my $planned = $session->query_safe("SET statement_timeout = '60s'; $plan");
is(scalar(() = $planned =~ /Foreign Scan on p/g), 70, 'planning needs the engine the first time only');
$session->query("SET statement_timeout = '300ms'; SELECT v FROM t WHERE k = 1002;");
like($session->{stderr}, qr/canceling statement due to statement timeout/, 'statement_timeout stops a wait for a stopped engine');
$session->{stderr} = '';
foreach my $change ("UPDATE t SET v = 'lost' WHERE k = 1003", "UPDATE t SET v = v || 'lost' WHERE k = 1003", 'DELETE FROM t WHERE k = 1003')
{
	$session->query("SET statement_timeout = '300ms'; BEGIN; $change;");
	like($session->{stderr}, qr/canceling statement due to statement timeout/, "and one for a row's lock: $change");
	$session->{stderr} = '';
	$session->query_safe('ROLLBACK');
}
is($session->query_safe('RESET statement_timeout; SELECT 1'), '1', 'the session lives');
is($session->query_safe('SELECT length(v) FROM t WHERE k = 1'), '100', 'and a row read before does not need the engine');
$other->query_until(qr/started/, "\\echo started\nSELECT count(*) AS none FROM t;\n");
ok(wait_active($other_pid), 'another waits');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($other_pid)");
ok(wait_gone($other_pid), 'and can be terminated');
eval { $other->quit };

# in the midst of a message
$_->query_until(qr/started/, "\\echo started\nCOMMIT;\n") foreach $large, $larger;
ok($node->poll_query_until('postgres', "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $_"), 'a large transaction commits') foreach @large_pids;
sleep 1;
$node->safe_psql('postgres', "SELECT pg_cancel_backend($large_pids[0]), pg_terminate_backend($large_pids[1])");
ok($node->poll_query_until('postgres', "SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $large_pids[0]"), 'and can be canceled');
ok(wait_gone($large_pids[1]), 'or terminated');
kill 'CONT', $engine;
$large->query('SELECT count(*) FROM w');
like($large->{stderr}, qr/canceling statement due to user request/, 'this is its error');
$large->{stderr} = '';
is($large->query_safe('SELECT count(*) FROM w'), '0', 'and the session goes on, with nothing of it');
eval { $_->quit } foreach $large, $larger;

is($session->query_safe('SELECT length(v) FROM t WHERE k = 1'), '100', 'the engine goes on, and the session with it');
is($node->safe_psql('postgres', "SET lock_timeout = '60s'; UPDATE t SET v = v WHERE k = 1003 RETURNING length(v)"), '100',
	'a row that was waited for in vain is as it was, and free');
is($session->query_safe('SELECT count(*), sum(k) FROM t'), '200000|20000100000', 'with all rows');
$session->quit;
is(engine_pid($node), $engine, 'it is still the same engine');

# --- rows that have been changed, while the engine applies nothing ------------------
my $add = 'UPDATE hot SET n = n + 1 WHERE k = 1 RETURNING n';
my @needs_engine = ('SELECT sum(n) FROM hot', "BEGIN; $add; SELECT sum(n) FROM hot",
	"BEGIN; $add; UPDATE t SET v = 'lost' WHERE k = 150004", "BEGIN ISOLATION LEVEL REPEATABLE READ; $add", 'BEGIN; SELECT n FROM hot WHERE k = 1 FOR KEY SHARE',
	"BEGIN; SELECT n FROM hot WHERE k = 1 FOR UPDATE; SAVEPOINT s; ROLLBACK TO s; $add");
$node->safe_psql('postgres', q{
CREATE FOREIGN TABLE hot (k int OPTIONS (rowkey '1'), v text, n int, w text) SERVER widecol;
INSERT INTO hot SELECT i, 'v' || i, 0 FROM generate_series(1, 25) i;
});
my ($one, $two, $back, $partly, $many, @blocked) = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 5 + @needs_engine;
$many->query_safe(join '; ', map { "SELECT * FROM hot WHERE k = $_" } 1 .. 25);
foreach my $s ($one, $two, $back, $partly, $many, @blocked)
{
	$s->query_safe($_) foreach 'SELECT * FROM hot WHERE k = 1', 'SELECT n FROM hot WHERE k = 1', 'SELECT count(*) FROM t WHERE k = 1',
		q{SET statement_timeout = '60s'};
}
my $waits = q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'};
stop_engine($node);
is($one->query_safe($add), '1', 'a row is changed');
is($two->query_safe($add), '2', 'and by another session, which knows the change');
is($two->query_safe($add), '3', 'once more');
is($one->query_safe('SELECT n FROM hot WHERE k = 1'), '3', 'a session that has not changed it last reads it');
is($many->query_safe('BEGIN; SELECT n FROM hot WHERE k = 1 FOR UPDATE'), '3', 'or locks it');
like($many->query_safe(join '; ', map { "SELECT * FROM hot WHERE k = $_ FOR UPDATE" } 2 .. 22), qr/^2\|v2\|0\|\n.*^22\|v22\|0\|/ms, 'and many others');
is($many->query("SET statement_timeout = '300ms'; $add"), '', 'then it does not take the row for what it was before');
$many->{stderr} = '';
$many->query_safe('ROLLBACK');
is($back->query_safe("BEGIN; UPDATE hot SET n = 100 WHERE k = 1; SELECT n FROM hot WHERE k = 1"), '100', 'a transaction reads its own change');
$two->query_until(qr/started/, "\\echo started\n$add;\n");
ok($node->poll_query_until('postgres', $waits), 'another one waits for it');
$back->query_safe('ROLLBACK');
is($two->query_safe("SELECT 'done'"), "4\ndone", 'and adds to what was there before, when it is rolled back');
is($back->query_safe($add), '5', 'the first one goes on');
foreach my $needs (@needs_engine)
{
	my $s = shift @blocked;
	$s->query("SET statement_timeout = '300ms'; $needs");
	like($s->{stderr}, qr/canceling statement due to statement timeout/, "needs the engine: $needs");
	eval { $s->quit };
}
$partly->query_safe("BEGIN; $add; SAVEPOINT s; UPDATE hot SET n = n + 50 WHERE k = 1; ROLLBACK TO s");
$one->query_until(qr/started/, "\\echo started\n$add;\n");
ok($node->poll_query_until('postgres', $waits), 'another one waits again');
$partly->query_safe('COMMIT');
kill 'CONT', $engine;
is($one->query_safe("SELECT 'done'"), "7\ndone", 'it adds to what was committed');
is($two->query_safe($add), '8', 'and the row is free');
is($one->query_safe('SELECT sum(n), count(*) FROM hot'), '8|25', 'the engine has applied all of it');
is($two->query_safe("BEGIN; $add; SELECT sum(n) FROM hot; COMMIT"), "9\n9", 'a transaction that has changed the row sees the whole table');

# --- the first query of a transaction ends before the engine's snapshot is taken ------
$node->safe_psql('postgres', 'CREATE TABLE beside (n int)');
$one->query_safe('SELECT * FROM hot WHERE k = 1');
foreach my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
	$node->safe_psql('postgres', 'TRUNCATE beside; DELETE FROM hot WHERE k = 100');
	$back->query_safe("BEGIN ISOLATION LEVEL $level; SAVEPOINT s; SET LOCAL statement_timeout = '300ms'");
	stop_engine($node);
	$one->query_safe($add);
	$back->query('SELECT n FROM hot WHERE k = 1');
	like($back->{stderr}, qr/canceling statement due to statement timeout/, "$level: the first query is canceled");
	$back->{stderr} = '';
	$back->query_safe('ROLLBACK TO s');
	$two->query_safe("BEGIN; INSERT INTO beside VALUES (1); INSERT INTO hot VALUES (100, '$level', 0); COMMIT");
	kill 'CONT', $engine;
	is($back->query_safe('SELECT (SELECT count(*) FROM beside), (SELECT count(*) FROM hot WHERE k = 100)'), '1|1',
		"$level: the next one sees heap and stored tables at one time");
	$back->query_safe('COMMIT');
}
eval { $_->quit } foreach $one, $two, $back, $partly, $many;

# --- an engine that is told to go: a new one comes, other processes stay -------------
$session = $node->background_psql('postgres', on_error_stop => 0);
$pid = $session->query_safe('SELECT pg_backend_pid()');
$session->query_safe("INSERT INTO w VALUES (1, 'committed'); BEGIN; INSERT INTO w VALUES (2, 'with the old engine')");
is($session->query_safe('SELECT count(*) FROM w'), '2', 'a transaction has written');
kill 'TERM', $engine;
my $patience = $PostgreSQL::Test::Utils::timeout_default;
sleep 1 while (engine_pid($node) == $engine || engine_pid($node) == 0) && --$patience > 0;
isnt(engine_pid($node), $engine, 'there is a new engine');
$session->query('SELECT count(*) FROM w; COMMIT;');
like($session->{stderr}, qr/ERROR:.*widecol engine/, 'the transaction that the old one had fails');
$session->{stderr} = '';
ok($node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM w'), 'nothing of it is there');
is($session->query_safe('SELECT pg_backend_pid(), v FROM w'), "$pid|committed", 'the session goes on with the new one');
$session->query_safe('TRUNCATE w');
$session->quit;

# --- 200 connections at once ---------------------------------------------------------
my $idle = engine_threads($node);
$node->pgbench(
	'--no-vacuum --client=200 --jobs=4 --transactions=5',
	0,
	[qr{processed: 1000/1000}],
	[qr{^(?:(?!ERROR|FATAL|PANIC).)*$}s],
	'200 connections read and write at once',
	{
		'200_sessions' => q{
\set mine 100 * :client_id
BEGIN;
INSERT INTO w SELECT :mine + g, 'client ' || :client_id FROM generate_series(0, 99) g;
SELECT count(*) / (count(*) = 100)::int FROM w WHERE k BETWEEN :mine AND :mine + 99;
UPDATE t SET n = n + 1 WHERE k = :mine + 1;
COMMIT;
SELECT v FROM w WHERE k = :mine;
SELECT count(*) FROM t WHERE k BETWEEN 500 AND 600;
}
	});
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT v), min(k), max(k) FROM w'), '20000|200|0|19999',
	'every row of every client is there');
is($node->safe_psql('postgres', 'SELECT count(*), min(n), max(n) FROM t WHERE k % 100 = 1 AND k < 20000'), '200|5|5',
	'and every update');

# --- rows in shared memory: all as of one commit, while others commit --------------------
$node->safe_psql('postgres', q{
CREATE FOREIGN TABLE same (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO same SELECT k, 0 FROM generate_series(1, 4) k;
CREATE FUNCTION minus_same(bigint) RETURNS bigint STABLE LANGUAGE sql AS 'SELECT $1 - sum(v) FROM same';
CREATE AGGREGATE less_same(int) (sfunc = int4_sum, stype = bigint, initcond = '0', finalfunc = minus_same);
});
$node->pgbench(
	'--no-vacuum --client=8 --jobs=2 --transactions=1000 --protocol=prepared',
	0,
	[qr{processed: 8000/8000}],
	[qr{^(?:(?!ERROR|FATAL|PANIC).)*$}s],
	'statements and transactions that read rows by their keys see whole commits',
	{
		'same_write@1' => q{
\set v random(1, 1000000)
UPDATE same SET v = :v;
},
		'same_statement@6' => q{
SELECT 1 / (count(*) = 4 AND count(DISTINCT v) = 1)::int
FROM generate_series(1, 4) i, LATERAL (SELECT (SELECT v FROM same WHERE k = i)) s(v);
},
		'same_aggregate@3' => 'SELECT 1 / (less_same(v) = 0)::int FROM same WHERE k < 9;',
		'same_transaction@3' => q{
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT v FROM same WHERE k = 1 \gset
SELECT 1 / (v = :v)::int FROM same WHERE k = 2;
SELECT 1 / (sum(v) = 4 * :v::bigint)::int FROM same;
SELECT 1 / (v = :v)::int FROM same WHERE k = 3;
COMMIT;
}
	});

# --- one state of heap tables and stored tables, while others change both -----------------
# What the writers take from the one table they add to the other.
$node->safe_psql('postgres', q{
CREATE TABLE here (k int PRIMARY KEY, n bigint);
CREATE FOREIGN TABLE there (k int OPTIONS (rowkey '1'), n bigint) SERVER widecol;
INSERT INTO here SELECT k, 0 FROM generate_series(0, 19) k;
INSERT INTO there SELECT k, 0 FROM generate_series(0, 19) k;
});
my $both = '(SELECT sum(n) FROM here) + (SELECT sum(n) FROM there)';
my $writer = q{
\set k :client_id
BEGIN;
UPDATE there SET n = n + 1 WHERE k = :k;
UPDATE here SET n = n - 1 WHERE k = :k;
COMMIT;
};
$node->pgbench(
	'--no-vacuum --client=6 --jobs=2 --transactions=400',
	0,
	[qr{processed: 2400/2400}],
	[qr{^(?:(?!ERROR|FATAL|PANIC).)*$}s],
	'statements and transactions see of each commit both changes or none',
	{
		'both_write@4' => $writer,
		'both_statement@1' => "SELECT 1 / ($both = 0)::int;",
		'both_cursor@1' => "BEGIN; DECLARE c CURSOR FOR SELECT 1 / (sum(h.n + t.n) = 0)::int FROM here h JOIN there t USING (k); FETCH c; COMMIT;",
		map { ("both_" . lc(substr($_, 0, 6)) . "\@1" => "BEGIN ISOLATION LEVEL $_; SELECT sum(n) AS n FROM here \\gset\nSELECT 1 / (sum(n) = - :n)::int FROM there;\nCOMMIT;") }
		  ('REPEATABLE READ', 'SERIALIZABLE READ ONLY')
	});
is($node->safe_psql('postgres', "SELECT $both, (SELECT sum(n) > 0 FROM there)"), '0|t', 'nothing came or went');

# --- ranges that wait for no commit of other rows: they show the session's last commit, and whole commits -----
$node->safe_psql('postgres', q{
CREATE FOREIGN TABLE pages (k bigint OPTIONS (rowkey '1'), v int) SERVER widecol;
CREATE FOREIGN TABLE whole (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO pages SELECT k * 1000000, 0 FROM generate_series(0, 1000) k;
INSERT INTO whole SELECT k, 0 FROM generate_series(1, 20) k;
});
my $page = q{
SELECT k AS k1, v AS v1 FROM pages WHERE k >= :from ORDER BY k LIMIT 1 \gset
SELECT k AS k2, v AS v2 FROM pages WHERE k <= :to ORDER BY k DESC LIMIT 1 \gset
SELECT 1 / (:k1 = :k AND :k2 = :k AND :v1 = :v AND :v2 = :v)::int;
};
$node->pgbench(
	'--no-vacuum --client=8 --jobs=2 --transactions=400 --protocol=prepared',
	0,
	[qr{processed: 3200/3200}],
	[qr{^(?:(?!ERROR|FATAL|PANIC).)*$}s],
	'a session sees its last commit in pages, and whole commits of others in ranges',
	{
		'pages_change@4' => qq{
\\set first 1000000 * random(1, 999) + 1000 * :client_id
\\set k :first + random(1, 999)
\\set from random(:first + 1, :k)
\\set to random(:k, :first + 999)
\\set v random(1, 1000000)
INSERT INTO pages VALUES (:k, :v);
$page
\\set v :v + 1
UPDATE pages SET v = v + 1 WHERE k = :k;
$page
DELETE FROM pages WHERE k = :k;
SELECT 1 / (count(*) = 0)::int FROM pages WHERE k > :k - 1 AND k < :k + 1;
},
		'whole_change@3' => q{
\set k random(1, 19)
UPDATE whole SET v = v + CASE WHEN k = :k THEN 1 ELSE -1 END WHERE k BETWEEN :k AND :k + 1;
},
		'whole_read@5' => q{
SELECT 1 / (sum(v) = 0)::int FROM whole;
SELECT 1 / (count(*) = 1001)::int FROM pages WHERE k % 1000000 = 0;
}
	});
is($node->safe_psql('postgres', 'SELECT count(*), sum(v) FROM pages'), '1001|0', 'and each session has taken back its own');

# --- a session that waits for an asynchronous commit does not wait for the walwriter ---------
$node->safe_psql('postgres', $_) foreach q{ALTER SYSTEM SET wal_writer_delay = '10s'}, 'SELECT pg_reload_conf()';
($one, $other) = map { $node->background_psql('postgres', on_error_stop => 0) } 1, 2;
my $before = $node->safe_psql('postgres', 'SELECT n FROM there WHERE k = 1');
$one->query_safe('SET synchronous_commit = off');
$other->query_safe(q{SET statement_timeout = '5s'});
foreach (1 .. 4)
{
	$one->query_safe('BEGIN; SAVEPOINT s; UPDATE there SET n = n + 1 WHERE k = 1; RELEASE s; COMMIT;');
	$other->query('UPDATE there SET n = n - 1 WHERE k = 1');
}
is($node->safe_psql('postgres', 'SELECT n FROM there WHERE k = 1'), $before, 'nor if a subtransaction has locked the row');
$_->quit foreach $one, $other;
$node->safe_psql('postgres', $_) foreach 'ALTER SYSTEM RESET wal_writer_delay', 'SELECT pg_reload_conf()';

my $tries = $PostgreSQL::Test::Utils::timeout_default;
sleep 1 while engine_threads($node) > $idle && --$tries > 0;
cmp_ok(engine_threads($node), '<=', $idle, 'the engine keeps no thread of a session that is gone');

$node->stop('fast');
done_testing();
