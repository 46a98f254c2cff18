# Many sessions count, append and claim at once: nothing is lost, nothing is
# counted twice, whatever is rolled back, cancelled or terminated meanwhile.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol'
deadlock_timeout = '20ms'
});
$node->start;
$node->safe_psql('postgres', q{
CREATE EXTENSION widecol;
SELECT widecol.create_table('c', '{"f": {"packing": "cell"}, "g": {"packing": "row"}}');
CREATE FOREIGN TABLE c (k bytea OPTIONS (rowkey 'raw'),
	f bigint OPTIONS (family 'f', qualifier 'n'), g bigint OPTIONS (family 'g', qualifier 'n'))
	SERVER widecol OPTIONS (family 'f');
CREATE TABLE claims (item int, client int);
});

# What the counters of some rows hold together.
sub counted
{
	my ($column, $rows) = @_;
	return $node->safe_psql('postgres', "SELECT sum($column) FROM c WHERE k LIKE '$rows'");
}

sub pgbench
{
	my ($options, $clients, $transactions, $name, $script) = @_;
	my $total = $clients * $transactions;
	$node->pgbench("--no-vacuum --client=$clients --jobs=2 --transactions=$transactions $options",
		0, [qr{processed: $total/$total}], [qr{^(?:(?!ERROR|FATAL|PANIC).)*$}s], $name, $script);
}

# --- one row that everybody counts in, and rows that several do -------------------
pgbench('', 8, 100, 'eight sessions count', {
	'003_count' => q{
\set row random(1, 20)
SELECT widecol.incr('c', 'hot', 'f:n');
SELECT widecol.incr('c', ('row' || :row)::bytea, 'f:n', 3), widecol.incr('c', ('row' || :row)::bytea, 'g:n', 5);
SELECT widecol.append('c', 'log', 'f:x', 'x');
}});
is(counted('f', 'hot'), 800, 'every one was counted');
is(counted('f', 'row%') . ' ' . counted('g', 'row%'), '2400 4000', 'in both packings');
is($node->safe_psql('postgres', q{SELECT length(value) FROM widecol.get('c', 'log')}), 800, 'every append is there');

# --- transactions, a part of which goes back -----------------------------------------
pgbench('', 6, 60, 'six sessions count, and take some back', {
	'003_rollback@2' => q{
BEGIN;
SELECT widecol.incr('c', 'keep', 'g:n');
SAVEPOINT s;
SELECT widecol.incr('c', 'keep', 'g:n', 1000);
ROLLBACK TO s;
SELECT widecol.incr('c', 'keep', 'f:n', 2);
COMMIT;
}, '003_nothing@1' => q{
BEGIN;
SELECT widecol.incr('c', 'keep', 'f:n', 1000000), widecol.incr('c', 'keep', 'g:n', 1000000);
ROLLBACK;
}});
my ($twice, $once) = split / /, counted('f', 'keep') . ' ' . counted('g', 'keep');
cmp_ok($once, '>', 0, 'some were kept');
cmp_ok($once, '<=', 360, 'and no others');
is($twice, 2 * $once, 'whole transactions or nothing');

# --- two rows in any order: deadlocks, which are tried again ---------------------------
pgbench('--max-tries=1000', 8, 50, 'transfers that get in each other\'s way', {
	'003_transfer' => q{
\set a random(1, 4)
\set b 1 + (:a + random(0, 2)) % 4
BEGIN;
SELECT widecol.incr('c', ('account' || :a)::bytea, 'f:n', -7);
SELECT widecol.incr('c', ('account' || :b)::bytea, 'f:n', 7), widecol.incr('c', ('account' || :b)::bytea, 'g:n');
COMMIT;
}});
is(counted('f', 'account%'), 0, 'nothing came or went');
is(counted('g', 'account%'), 400, 'every transfer was made once');

# --- the same under REPEATABLE READ: conflicts, which are tried again --------------------
pgbench('--max-tries=10000', 4, 25, 'four sessions count under REPEATABLE READ', {
	'003_serial' => q{
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT widecol.incr('c', 'serial', 'f:n');
COMMIT;
}});
is(counted('f', 'serial'), 100, 'every one was counted');

# --- claims: each item has one owner -----------------------------------------------------
pgbench('', 8, 100, 'eight sessions claim a hundred items', {
	'003_claim' => q{
\set item random(1, 100)
BEGIN;
SELECT widecol.check_and_put('c', ('item' || :item)::bytea, 'f:owner', NULL, 'f:owner', (:client_id)::text::bytea) AS mine \gset
\if :mine
INSERT INTO claims VALUES (:item, :client_id);
\endif
COMMIT;
}});
is($node->safe_psql('postgres', 'SELECT count(*) = count(DISTINCT item) AND count(*) BETWEEN 50 AND 100 FROM claims'), 't',
	'no item was claimed twice');
is($node->safe_psql('postgres', q{SELECT count(*) FROM claims
	JOIN LATERAL widecol.get('c', ('item' || item)::bytea, '{f:owner}') g ON convert_from(g.value, 'UTF8') = client::text}),
	$node->safe_psql('postgres', 'SELECT count(*) FROM claims'), 'and its owner is the client that claimed it');

# --- the holder of a lock disconnects; a waiting session is cancelled ------------------------
my $holder = $node->background_psql('postgres', on_error_stop => 0);
my $waiter = $node->background_psql('postgres', on_error_stop => 0);
my $holder_pid = $holder->query_safe('SELECT pg_backend_pid()');
my $waiter_pid = $waiter->query_safe('SELECT pg_backend_pid()');

sub await_waiting
{
	return $node->poll_query_until('postgres',
		"SELECT wait_event_type = 'Lock' AND pg_blocking_pids(pid) = '{$holder_pid}' FROM pg_stat_activity WHERE pid = $waiter_pid");
}

is($holder->query_safe(q{BEGIN; SELECT widecol.incr('c', 'held', 'f:n')}), '1', 'a session counts');
$waiter->query_until(qr/started/, "\\echo started\nSELECT widecol.incr('c', 'held', 'f:n', 10);\n\\echo over\n");
ok(await_waiting(), 'another waits for it');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($waiter_pid)");
$waiter->query_until(qr/over/, '');
like($waiter->{stderr}, qr/canceling statement due to user request/, 'it is cancelled');
$waiter->{stderr} = '';

$waiter->query_until(qr/started/, "\\echo started\nSELECT widecol.incr('c', 'held', 'f:n', 100);\n\\echo over\n");
ok(await_waiting(), 'it waits again');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($holder_pid)");
like($waiter->query_until(qr/over/, ''), qr/100/, 'when the other is terminated, it goes on, as if that had not been');
is($waiter->query_safe('SELECT 1'), '1', 'the session lives');
$waiter->quit;
eval { $holder->quit };

# --- still there after a restart ------------------------------------------------------------
$node->restart;
is(counted('f', 'hot') . ' ' . counted('f', 'held') . ' ' . counted('g', 'account%'), '800 100 400', 'the counters survive a restart');
is($node->safe_psql('postgres', q{SELECT widecol.incr('c', 'hot', 'f:n')}), '801', 'and count on');

# --- ids: each once, from whatever session, and behind a restart -----------------------
$node->safe_psql('postgres', 'CREATE TABLE ids (id bigint, client int)');
pgbench('', 8, 20, 'eight sessions make ids', {
	'003_ids' => q{
INSERT INTO ids SELECT widecol.snowflake_id(), :client_id FROM generate_series(1, 200);
}});
my $greatest = 'SELECT max(id & ~(63::bigint << 57)) FROM ids';
my $before = $node->safe_psql('postgres', $greatest);
$node->stop('immediate');
$node->start;
$node->safe_psql('postgres', 'INSERT INTO ids SELECT widecol.snowflake_id(), -1');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id & ~(63::bigint << 57)) FROM ids'), '32001|32001', 'every id is another');
cmp_ok($node->safe_psql('postgres', $greatest), '>', $before, 'and greater after a crash');

$node->stop;
done_testing();
