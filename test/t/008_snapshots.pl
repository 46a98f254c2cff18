# Snapshots that one session exports and others import: they see the same stored tables.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib $FindBin::RealBin;
use POSIX ();
use WidecolEngine;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'widecol'\nwal_level = logical");
$node->start;
$node->safe_psql('postgres', q{
CREATE EXTENSION widecol;
CREATE TABLE h (v int);
CREATE FOREIGN TABLE w (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO h VALUES (0);
INSERT INTO w VALUES (1, 0), (2, 0);
CREATE TABLE many (k int) WITH (parallel_workers = 2);
INSERT INTO many SELECT generate_series(1, 100);
CREATE FUNCTION wide(int) RETURNS int STABLE PARALLEL SAFE LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT v FROM w WHERE k = 1); END $$;
});

my $both = 'SELECT (SELECT v FROM h), (SELECT v FROM w WHERE k = 1), (SELECT sum(v) FROM w WHERE k > 1)';
my $stored = 'SELECT (SELECT v FROM w WHERE k = 1), (SELECT sum(v) FROM w WHERE k > 1)';

sub advance { $node->safe_psql('postgres', 'BEGIN; UPDATE h SET v = v + 1; UPDATE w SET v = v + 1; COMMIT') }

# without a transaction id: PostgreSQL's snapshots before and after look the same
sub advance_stored { $node->safe_psql('postgres', 'UPDATE w SET v = v + 1') }

# Opening the pipe ends when a reader has opened it, too.
sub write_pipe
{
	my ($line) = @_;
	open(my $fh, '>', $node->basedir . '/pipe') or die "pipe: $!";
	print $fh "$line\n";
	close($fh);
}

# Has this backend an active statement that sleeps, and waits for nothing that PostgreSQL knows?
sub wait_until_asleep
{
	my ($pid) = @_;
	my $asleep = 0;

	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my $active = $node->safe_psql('postgres', "SELECT state = 'active' AND wait_event IS NULL FROM pg_stat_activity WHERE pid = $pid");
		$asleep = $active eq 't' && slurp_file("/proc/$pid/stat") =~ /\) S / ? $asleep + 1 : 0;
		return 1 if $asleep == 5;
		select(undef, undef, undef, 0.1);
	}
	return 0;
}

sub session { return $node->background_psql('postgres', on_error_stop => 0) }

sub import_snapshot
{
	my ($session, $id, $mode) = @_;
	$session->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ$mode; SET TRANSACTION SNAPSHOT '$id'");
}

my $exporter = session();
my $importer = session();
my $late = session();

# --- a transaction that only exports, as pg_dump's first session ------------------------
$exporter->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
my $id = $exporter->query_safe('SELECT pg_export_snapshot()');
advance();
import_snapshot($importer, $id, ', READ ONLY');
advance_stored();
import_snapshot($late, $id, '');
advance();
is($exporter->query_safe($both), '0|0|0', 'the session that exports a snapshot keeps it');
is($importer->query_safe($both), '0|0|0', 'a session that imports it sees the same');
is($late->query_safe($both), '0|0|0', 'so does a session that imports it later');

# --- an imported snapshot outlives the exporter -----------------------------------------
$exporter->query_safe('COMMIT');
advance();
is($importer->query_safe($both), '0|0|0', 'the exporter has ended, the importer goes on');
$late->query_safe('INSERT INTO w VALUES (3, 100)');
is($late->query_safe($both), '0|0|100', 'and may write');
$importer->query_safe('COMMIT');
$late->query_safe('ROLLBACK');
is($importer->query_safe($both), '3|4|4', 'after its transaction it sees the newest rows');

# --- an exporter that has read and written before ----------------------------------------
$exporter->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; UPDATE h SET v = v WHERE false; CREATE TEMP TABLE t ()');
$exporter->query_safe($stored);
advance_stored();
$id = $exporter->query_safe('SELECT pg_export_snapshot()');
advance_stored();
import_snapshot($importer, $id, '');
is($exporter->query_safe($both), '3|4|4', 'a transaction exports the snapshot by which it has read');
is($importer->query_safe($both), '3|4|4', 'and others read by it');
$importer->query_safe('COMMIT');
$exporter->query_safe('COMMIT');

# --- READ COMMITTED: the statement's snapshot is exported, more than one ------------------
$exporter->query_safe('BEGIN');
my @exported = split /\|/, $exporter->query_safe('SELECT pg_export_snapshot(), ' . substr($stored, 7));
is("$exported[1]|$exported[2]", '6|6', 'a statement reads by the snapshot that it exports');
advance();
my $second = $exporter->query_safe('SELECT pg_export_snapshot()');
advance();
is($exporter->query_safe($both), '5|8|8', 'its transaction goes on to newer states');
import_snapshot($importer, $exported[0], '');
import_snapshot($late, $second, '');
is($importer->query_safe($both), '3|6|6', 'the first is there');
is($late->query_safe($both), '4|7|7', 'so is the second');
$exporter->query_safe('COMMIT');
$_->query_safe('COMMIT') foreach ($importer, $late);

# --- workers of a query beside what its session has exported, which looks the same ----------
$exporter->query_safe('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0');
$exporter->query_safe('SET parallel_leader_participation = off; BEGIN');
my $first = $exporter->query_safe('SELECT pg_export_snapshot()');
advance_stored();
is($exporter->query_safe('SELECT min(wide(k)), max(wide(k)), (SELECT v FROM w WHERE k = 1) FROM many'), '9|9|9',
	'workers see what their query sees');
import_snapshot($importer, $first, '');
is($importer->query_safe($stored), '8|8', 'the importing session sees the exported snapshot');
$importer->query_safe('COMMIT');
$exporter->query_safe('COMMIT');

# --- no session is in an old epoch: kept snapshots are released ----------------------------
advance();
is($node->safe_psql('postgres', $both), '6|10|10', 'and nothing is left of it');

# --- the first copy of a table that is replicated: all before the slot, nothing behind it ------
my $insert = 'INSERT INTO many VALUES (101)';
my $copied = $node->safe_psql('postgres', qq{
BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
CREATE_REPLICATION_SLOT slot TEMPORARY LOGICAL pgoutput USE_SNAPSHOT;
\\! psql -X -q -d '${\ $node->connstr('postgres')}' -c "$insert"
SELECT count(*) FROM many;
COMMIT;
}, replication => 'database');
like($copied, qr/^100$/m, "a replication slot's snapshot stays as it is");
is($node->safe_psql('postgres', 'SELECT count(*) FROM many'), 101, 'while other sessions see what came after it');

# --- a transaction that has an id before its first query is serializable as others are ----------
$node->safe_psql('postgres', 'CREATE TABLE pair (k int, v int); INSERT INTO pair VALUES (1, 0), (2, 0)');
my @sessions = ($exporter, $importer);
foreach my $k (1, 2)
{
	my $s = $sessions[$k - 1];
	$s->query_safe("BEGIN ISOLATION LEVEL SERIALIZABLE; CREATE TEMP TABLE own$k ()");
	$s->query_safe('SELECT sum(v) FROM pair');
	$s->query_safe("UPDATE pair SET v = v + 1 WHERE k = $k");
}
$_->query('COMMIT') foreach @sessions;
is($node->safe_psql('postgres', 'SELECT sum(v) FROM pair'), 1, 'of two that read what the other changes one fails');
$_->{stderr} = '' foreach @sessions;

# --- of very many SERIALIZABLE transactions PostgreSQL keeps a summary: none is taken for one beside those that came later --
$node->safe_psql('postgres', q{CREATE FOREIGN TABLE noted (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
INSERT INTO noted SELECT i, 0 FROM generate_series(1, 4) i});
$exporter->query_safe('BEGIN ISOLATION LEVEL SERIALIZABLE; UPDATE noted SET v = 1 WHERE k = 4');
$importer->query_safe('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT v FROM noted WHERE k = 1');
$node->safe_psql('postgres', 'BEGIN ISOLATION LEVEL SERIALIZABLE; UPDATE noted SET v = 1 WHERE k = 1; COMMIT');
$importer->query_safe('UPDATE noted SET v = 1 WHERE k = 2; COMMIT');
$node->safe_psql('postgres', q{SET default_transaction_isolation = 'serializable';
DO $$ BEGIN FOR i IN 1 .. 1000 LOOP UPDATE noted SET v = v + 1 WHERE k = 3; COMMIT; END LOOP; END $$});
is($node->safe_psql('postgres', q{BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT v FROM noted WHERE k = 2; UPDATE noted SET v = 2 WHERE k = 1; COMMIT}), '1',
	'a transaction that sees what they wrote commits');
$exporter->query_safe('COMMIT');
is($node->safe_psql('postgres', 'SELECT * FROM noted ORDER BY k'), "1|2\n2|1\n3|1000\n4|1", 'and so do all others');

# --- a snapshot that is not there is refused as ever ---------------------------------------
$importer->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
$importer->query("SET TRANSACTION SNAPSHOT '$id'");
like($importer->{stderr}, qr/snapshot.*does not exist|invalid snapshot identifier/, 'a snapshot that is gone');
$importer->{stderr} = '';
$importer->query_safe('ROLLBACK');
is($importer->query_safe($both), '6|10|10', 'and the session goes on');

# --- a READ ONLY transaction that begins while the engine starts -----------------------------
my $engine = $node->safe_psql('postgres', q{SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'widecol engine'});
$engine =~ s/\|.*//;
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $engine"), 'the engine is gone');
$importer->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
is($importer->query_safe('SELECT v FROM h'), '6', 'a transaction begins with a heap table');
advance();
is($importer->query_safe('SELECT v FROM w WHERE k = 1'), '10', 'and sees stored tables as of this statement');
$importer->query_safe('COMMIT');
is($importer->query_safe($both), '7|11|11', 'the next one sees the newest state');

# --- a SERIALIZABLE transaction that begins with DDL, and thus has an id before its first query -----
$importer->query_safe('BEGIN ISOLATION LEVEL SERIALIZABLE; CREATE TEMP TABLE early ()');
my $begun = $node->safe_psql('postgres', $both);
advance();
isnt($node->safe_psql('postgres', $both), $begun, 'another transaction commits meanwhile');
is($importer->query_safe($both), $begun, 'a transaction that began with DDL sees heap tables and stored tables as of then');
$importer->query_safe('ROLLBACK');

# --- a statement that begins while the engine cannot start, and comes to stored tables once it has started -----
# The scan of file_fdw waits for a writer of the pipe, after the statement has got its snapshot.
my $pipe = $node->basedir . '/pipe';
my $store = $node->data_dir . '/widecol';
POSIX::mkfifo($pipe, 0600) or die "mkfifo: $!";
$node->safe_psql('postgres', qq{CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE pipe (v int) SERVER files OPTIONS (filename '$pipe')});
my $backend = $importer->query_safe('SELECT pg_backend_pid()');
$importer->query_safe('SET plan_cache_mode = force_generic_plan');
$importer->query_safe('PREPARE mixed AS SELECT (SELECT v FROM pipe), (SELECT v FROM h), (SELECT v FROM w WHERE k = 1)');
$importer->query_until(qr/begun/, "\\echo begun\nEXECUTE mixed;\n");
write_pipe('1');
like($importer->query_safe('SELECT'), qr/^1\|8\|12$/m, 'with the engine the statement shows one state');
rename($store, "$store.away") or die "rename: $!";
kill_engine($node, 'TERM');
ok($node->poll_query_until('postgres', "SELECT state = 'failed' FROM widecol.pg_stat_widecol"), 'the engine cannot start');
$importer->query_until(qr/begun/, "\\echo begun\nEXECUTE mixed;\n");
ok(wait_until_asleep($backend), 'the statement waits for the pipe');
rename("$store.away", $store) or die "rename: $!";
$node->reload;
ok($node->poll_query_until('postgres', "SELECT state = 'ready' FROM widecol.pg_stat_widecol"), 'the engine starts');
advance();
write_pipe('1');
$importer->query('SELECT 1');
like($importer->{stderr}, qr/stored tables cannot be read by the snapshot of this statement.*Run the statement again/s,
	'no newer stored row is shown beside an older row of a heap table');
$importer->{stderr} = '';
is($importer->query_safe($both), '9|13|13', 'the next statement sees both');

$_->quit foreach ($exporter, $importer, $late);
$node->stop;
done_testing();
