# Writers of heap tables and stored tables in the same transactions, and the question
# whether both hold the same.
#
# Tables: heap (h, PostgreSQL's), stored_row and stored_cell (widecol's, one of each packing).
# Every transaction does the same to each.  A writer is a psql that reads a script; its output
# file, outside the cluster, is the journal of acknowledged transactions.
package WidecolLoad;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(load_tables load_start load_awaited load_stop load_finish load_acked contents is_same_everywhere
  wait_until);

my @TABLES = qw(heap stored_row stored_cell);
my $scripts = 0;

sub load_tables
{
	my ($node) = @_;
	$node->safe_psql('postgres', q{
CREATE EXTENSION widecol;
CREATE TABLE heap (k bigint PRIMARY KEY, v text, n int);
CREATE FOREIGN TABLE stored_row (k bigint OPTIONS (rowkey '1'), v text, n int) SERVER widecol
	OPTIONS (families '{"cf": {"packing": "row"}}');
CREATE FOREIGN TABLE stored_cell (k bigint OPTIONS (rowkey '1'), v text, n int) SERVER widecol
	OPTIONS (families '{"cf": {"packing": "cell", "versions": 3}}');
});
	return;
}

sub everywhere
{
	my ($statement) = @_;
	return join '', map { (my $s = $statement) =~ s/TABLE/$_/g; "$s;\n" } @TABLES;
}

# Transaction number $seq of a writer: its journal row (key = base + seq) is never changed; rows
# from base + 500000 on come, change and go, as do large lots of rows from base + 600000 on.
sub transaction
{
	my ($base, $seq, $prepare) = @_;
	my $row = $base + 500000 + int(rand(40));
	my $other = $base + 500000 + int(rand(40));
	my $lot = $base + 600000 + 2000 * int(rand(2));
	my $kind = int(rand(40));
	my $sql = "BEGIN;\n" . everywhere("INSERT INTO TABLE VALUES (${\($base + $seq)}, 'journal', $seq)");

	$sql .= everywhere("DELETE FROM TABLE WHERE k = $row") if $kind % 3 == 0;
	$sql .= everywhere("UPDATE TABLE SET n = n + 1, v = 'changed by $seq' WHERE k = $row") if $kind % 3 == 1;
	$sql .= everywhere("INSERT INTO TABLE SELECT $other, repeat('y', $kind * 10), 0 "
		  . "WHERE NOT EXISTS (SELECT FROM TABLE WHERE k = $other)") if $kind % 3 != 0 || $other != $row;
	$sql .= "SAVEPOINT a;\n" . everywhere("UPDATE TABLE SET n = -1 WHERE k BETWEEN $base + 500000 AND $base + 500010")
	  . "ROLLBACK TO a;\n" . everywhere("UPDATE TABLE SET n = n + 7 WHERE k = $other") if $kind % 4 == 0;
	$sql .= everywhere("DELETE FROM TABLE WHERE k BETWEEN $lot AND $lot + 1999")
	  . everywhere("INSERT INTO TABLE SELECT $lot + i, repeat('$kind', 300), i FROM generate_series(0, 1499) i")
	  if $kind == 5;
	# a chunk in the log before it is rolled back, and another after that
	$sql .= "SAVEPOINT b;\n" . everywhere("INSERT INTO TABLE SELECT $lot + 1500 + i, repeat('z', 2000), i FROM generate_series(0, 299) i")
	  . "ROLLBACK TO b;\n" . everywhere("DELETE FROM TABLE WHERE k BETWEEN $lot AND $lot + 100") if $kind == 6;
	my $end = $kind == 7 || $kind == 8 ? 'ROLLBACK' : 'COMMIT';
	$end = "PREPARE TRANSACTION '$base.$seq';\n$end PREPARED '$base.$seq'" if $prepare && $kind % 2 == 0;
	return "$sql$end;\n\\echo ack $seq\n";
}

# Starts a writer.  client: its number, which no other may have at the time; first: number of its
# first transaction, greater than all before; count: how many; settings: for its session; prepare:
# half of them are prepared first.
sub load_start
{
	my ($node, %o) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir_short() . '/writer' . ++$scripts;
	my $base = $o{client} * 1000000;
	my %writer = (base => $base, journal => "$file.out", errors => "$file.err");

	append_to_file("$file.sql", join '', "$o{settings};\n", map { transaction($base, $_, $o{prepare}) } $o{first} .. $o{first} + $o{count} - 1);
	$writer{run} = IPC::Run::start(
		[ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-f', "$file.sql" ],
		'<', '/dev/null', '>', $writer{journal}, '2>', $writer{errors});
	return \%writer;
}

# Waits until each has got something done (its journal is written in pieces of some kilobytes).
sub load_awaited
{
	my (@writers) = @_;
	my $sizes = join ' ', map { -s $_->{journal} // 0 } @writers;

	foreach my $writer (@writers)
	{
		my $size = -s $writer->{journal};
		wait_until(sub { -s $writer->{journal} > $size || !$writer->{run}->pumpable });
	}
	return;
}

# Ends writers at any point; transactions that are not in their journals may or may not have committed.
sub load_stop
{
	my (@writers) = @_;
	$_->{run}->signal('TERM') foreach @writers;
	load_finish(@writers);
	return;
}

sub load_finish
{
	my (@writers) = @_;
	$_->{run}->finish foreach @writers;
	return;
}

# Keys of the journal rows of all transactions that were acknowledged: COMMIT was answered by COMMIT.
sub load_acked
{
	my (@writers) = @_;
	return map { my $w = $_; map { $w->{base} + $_ } slurp_file($w->{journal}) =~ /^COMMIT(?: PREPARED)?\nack (\d+)$/mg } @writers;
}

# What each table holds, in a line.
sub contents
{
	my ($node) = @_;
	return $node->safe_psql('postgres', 'SELECT ' . join ', ', map {
		"(SELECT count(*) || ' ' || coalesce(md5(string_agg(k || ':' || v || ':' || n, ',' ORDER BY k)), '') FROM $_)"
	} @TABLES);
}

# Do the stored tables hold what the heap does?  Says what differs if not.
sub is_same_everywhere
{
	my ($node, $name) = @_;
	my ($heap, @stored) = split /\|/, contents($node);
	my $same = !grep { $_ ne $heap } @stored;

	ok($same, $name);
	foreach my $table ($same ? () : @TABLES[ 1, 2 ])
	{
		diag("$table: " . $node->safe_psql('postgres', qq{
SELECT count(*), count(*) FILTER (WHERE s.k IS NULL) AS missing, count(*) FILTER (WHERE h.k IS NULL) AS extra, min(k), max(k)
FROM heap h FULL JOIN $table s USING (k) WHERE (h.v, h.n) IS DISTINCT FROM (s.v, s.n)}));
	}
	return $same;
}

sub wait_until
{
	my ($condition) = @_;
	foreach (1 .. 50 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return 1 if $condition->();
		usleep(20_000);
	}
	return 0;
}

1;
