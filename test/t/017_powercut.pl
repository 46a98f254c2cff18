# The machine loses power under load: the store's files and PostgreSQL's log lose all bytes that were not synced,
# or a part of them.  Acknowledged rows are there afterwards, in heap tables and in stored tables.
# WC_KILLS: four times as many as there are power cuts (20).

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use File::Find;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
use WidecolEngine;
use WidecolLoad;

my $cuts = ($ENV{WC_KILLS} || 20) / 4;
my $library = preload_library('disk');
my $history = "$PostgreSQL::Test::Utils::tmp_check/disk";
my $node = PostgreSQL::Test::Cluster->new('main');
my $data = $node->data_dir;
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol'
fsync = on
wal_recycle = off
widecol.write_buffer_size = 1MB
checkpoint_timeout = 1h
});

# No new postmaster starts while children of the old one are left.
sub start_node
{
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{WIDECOL_DISK} = $history;
	my $tries = $PostgreSQL::Test::Utils::timeout_default * 5;

	unlink $history;
	until ($node->start(fail_ok => 1) || --$tries <= 0)
	{
		usleep(200_000);
	}
	return;
}

my $seed = time;
srand($seed);
note "random seed $seed";

# How much of each file had been written, and was on the disk.
sub read_history
{
	my (%end, %begun, %synced);

	open(my $file, '<', $history) or die "$history: $!";
	while (my $line = <$file>)
	{
		my ($what, $inode, $number) = split ' ', $line;
		if ($what eq 'c') { delete $end{$inode}; delete $synced{$inode}; }
		elsif ($what eq 'w') { $end{$inode} = $number if $number > ($end{$inode} // 0); }
		elsif ($what eq 'b') { $begun{"$inode $number"} = $end{$inode} // 0; }
		elsif ($begun{"$inode $number"} > ($synced{$inode} // 0)) { $synced{$inode} = $begun{"$inode $number"}; }
	}
	return (\%end, \%synced);
}

# Cuts from the files of a directory the bytes that are not on the disk; returns the number of these files.
sub lose
{
	my ($directory, $end, $synced, $take) = @_;
	my $n = 0;

	find(sub {
		my ($inode, $size) = (lstat($_))[ 1, 7 ];
		my $sure = $synced->{$inode} // 0;
		return unless -f _ && exists $end->{$inode} && $sure < $end->{$inode} && $sure < $size;
		$take->($_, $sure + (rand() < 0.5 ? 0 : int(rand($end->{$inode} - $sure))), $size);
		$n++;
	}, $directory);
	return $n;
}

sub cut_off
{
	my ($name, $at) = @_;
	truncate($name, $at) or die "$name: $!";
	return;
}

sub zero
{
	my ($name, $at, $size) = @_;
	open(my $file, '+<', $name) or die "$name: $!";
	seek($file, $at, 0);
	print $file "\0" x ($size - $at);
	close($file) or die "$name: $!";
	return;
}

# All processes of the server.
sub processes
{
	return map { m{(\d+)} } grep { (readlink($_) // '') eq $data } glob '/proc/[0-9]*/cwd';
}

start_node();
load_tables($node);
my $first = 1;
my ($lost, $lost_log) = (0, 0);
my %acked;
foreach my $i (1 .. $cuts)
{
	my @writers = map { load_start($node, client => $_, first => $first, count => 3000,
			settings => 'SET synchronous_commit = ' . ($_ == 3 ? 'off' : 'on')) } 1 .. 3;
	$first += 3000;
	load_awaited(@writers);
	$node->psql('postgres', 'CHECKPOINT') if $i % 3 == 1;
	$node->psql('postgres', q{BEGIN; CREATE FOREIGN TABLE made (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
		INSERT INTO made SELECT i, repeat('x', 100) FROM generate_series(1, 20000) i; COMMIT;
		TRUNCATE made; DROP FOREIGN TABLE made; SELECT widecol.drop_table('made')}) if $i % 3 == 2;
	usleep(int(rand(500_000)));
	kill 'KILL', processes();
	$node->kill9;
	load_finish(@writers);
	ok(wait_until(sub { !processes() }), 'all processes are gone');
	my ($end, $synced) = read_history();
	$lost += lose("$data/widecol", $end, $synced, \&cut_off);
	$lost_log += lose("$data/pg_wal", $end, $synced, \&zero);
	start_node();
	ok(comes_back($node, 'SELECT count(*) >= 0 FROM stored_row'), "power cut $i: the cluster comes back");
	is_same_everywhere($node, 'heap and stored tables hold the same') or last;
	%acked = (%acked, map { $_ => 1 } load_acked(@writers[ 0, 1 ]));
	my %there = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', q{SELECT k FROM heap WHERE v = 'journal'});
	is(scalar(grep { !$there{$_} } keys %acked), 0, 'no acknowledged row is missing');
}
cmp_ok(scalar keys %acked, '>', 0, 'there were commits: ' . scalar keys %acked);
cmp_ok($lost, '>', 0, "files of the store lost bytes: $lost");
note "files of the log lost bytes: $lost_log";
is($node->safe_psql('postgres', 'SELECT count(*) FROM widecol.check_store()'), '0', 'nothing is damaged');

# RocksDB begins a new log before it syncs the one before: power fails in between, and the old one loses its end, the new one does
# not.  Files that RocksDB takes in leave a gap in the sequence numbers, too, which is none.
sub logs { return sort glob "$data/widecol/pgsql_tmp.live/*.log"; }

sub commits
{
	my ($first, $last) = @_;
	$node->safe_psql('postgres', join '', map { "INSERT INTO gap VALUES ($_, repeat('x', 300));\n" } $first .. $last);
	return;
}

$node->safe_psql('postgres', q{
CREATE FOREIGN TABLE gap (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
CREATE FOREIGN TABLE other (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO other VALUES (1, 'a');
CREATE FOREIGN TABLE taken_in (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO taken_in SELECT i, repeat(md5(i::text), 16) FROM generate_series(1, 20000) i;
INSERT INTO gap VALUES (0, 'after files');
CHECKPOINT});
my ($old, $flush, $on_disk, $written, $out, $err);
my $last = 0;
foreach (1 .. 20)
{
	$old = (logs())[-1];
	commits($last + 1, $last + 100);
	$last += 100;
	$node->safe_psql('postgres', 'SELECT count(*) FROM gap');	# waits until they are applied
	open(my $hold, '>', "$history.hold") or die $!;
	close $hold;
	$flush = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr('postgres'),
			'-c', "INSERT INTO other VALUES ($last, 'a')", '-c', q{SELECT widecol.flush('other')} ], '>', \$out, '2>', \$err);
	wait_until(sub { (logs())[-1] ne $old });
	my ($end, $synced) = read_history();
	my $inode = (stat $old)[1];
	($on_disk, $written) = $inode ? ($synced->{$inode} // 0, $end->{$inode} // 0) : (0, 0);
	last if $on_disk < $written;

	# the engine has synced it just before
	unlink "$history.hold";
	$flush->finish;
}
cmp_ok($on_disk, '<', $written, 'there is a new log, and the old one is not on the disk');
commits($last + 1, $last + 100);
$last += 100;
is($node->safe_psql('postgres', 'SELECT count(*) FROM gap'), $last + 1, 'commits go to the new log');
kill 'KILL', processes();
$node->kill9;
$flush->finish;
ok(wait_until(sub { !processes() }), 'all processes are gone');
cut_off($old, $on_disk);
unlink "$history.hold";
my $from = -s $node->logfile;
start_node();
ok(comes_back($node, 'SELECT count(*) >= 0 FROM gap'), 'the cluster comes back');
is($node->safe_psql('postgres', q{SELECT count(*), min(k), max(k) FROM gap}), ($last + 1) . "|0|$last", 'no commit is missing');
like(slurp_file($node->logfile, $from), qr/LOG:  the log of the stored tables lacks writes before its file/, 'the server\'s log tells why');

# Without a loss nothing ends early, also behind files that were taken in.
$node->safe_psql('postgres', q{INSERT INTO taken_in SELECT i, repeat(md5(i::text), 16) FROM generate_series(20001, 40000) i;
INSERT INTO gap VALUES (-1, 'after files'); SELECT count(*) FROM gap});
$from = -s $node->logfile;
kill 'KILL', processes();
$node->kill9;
ok(wait_until(sub { !processes() }), 'all processes are gone');
start_node();
ok(comes_back($node, 'SELECT count(*) >= 0 FROM gap'), 'the cluster comes back');
is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM gap), (SELECT count(*) FROM taken_in)'), ($last + 2) . '|40000', 'all is there');
unlike(slurp_file($node->logfile, $from), qr/lacks writes/, 'and the log is read to its end');
$node->stop('fast');
done_testing();
