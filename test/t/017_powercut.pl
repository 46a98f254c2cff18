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
$node->stop('fast');
done_testing();
