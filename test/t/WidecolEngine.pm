# The engine process of a test's node, seen from outside.
package WidecolEngine;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

our @EXPORT = qw(comes_back engine_pid engine_threads kill_engine stop_engine fault_library preload_library session_library);

# Its process id, 0 when there is none.  Without a connection: the server may be just
# coming back.
sub engine_pid
{
	my ($node) = @_;
	my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
	foreach my $stat (glob '/proc/[0-9]*/stat')
	{
		open(my $file, '<', $stat) or next;
		my ($pid, $parent) = (<$file> // '') =~ /^(\d+) \(.*\) \S (\d+)/;
		next unless defined $parent && $parent == $postmaster;
		open(my $title, '<', "/proc/$pid/cmdline") or next;
		return $pid if (<$title> // '') =~ /widecol engine/;
	}
	return 0;
}

# Sends it a signal, as soon as it is there; returns its process id.
sub kill_engine
{
	my ($node, $signal) = @_;
	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my $pid = engine_pid($node);
		return $pid if $pid && kill $signal, $pid;
		usleep(100_000);
	}
	die 'there is no engine';
}

# Stops it, and waits until each of its threads stands still: a thread may answer until the one that takes the signal has
# finished its write to disk.  Returns its process id; CONT sets it going again.
sub stop_engine
{
	my ($node) = @_;
	my $pid = kill_engine($node, 'STOP');
	foreach (1 .. 1000 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my @threads = glob "/proc/$pid/task/*";
		return $pid if @threads && !grep { thread_state($_) !~ /[TtX]/ } @threads;
		usleep(1_000);
	}
	die 'the engine does not stand still';
}

# The letter in /proc that tells what a thread does; X if it is gone.
sub thread_state
{
	my ($directory) = @_;
	open(my $stat, '<', "$directory/stat") or return 'X';
	my ($state) = (<$stat> // '') =~ /\) (\S)/;
	return $state // 'X';
}

# How many threads it has.
sub engine_threads
{
	my ($node) = @_;
	my @threads = glob('/proc/' . engine_pid($node) . '/task/*');
	return scalar @threads;
}

# A library made of a C file of this directory, to be preloaded.
sub preload_library
{
	my ($name, @flags) = @_;
	my ($out, $err);
	my $library = "$PostgreSQL::Test::Utils::tmp_check/$name.so";
	(my $directory = __FILE__) =~ s/[^\/]*$//;

	IPC::Run::run([ $ENV{CC} || 'cc', '-shared', '-fPIC', @flags, '-o', $library, "$directory$name.c", '-ldl' ], '>', \$out, '2>', \$err)
		or die "could not compile $name.c: $err";
	return $library;
}

# The library made of functions.c, whose functions a session can call.
sub session_library
{
	my ($node) = @_;
	return preload_library('functions', '-I', $node->config_data('--includedir-server'));
}

# That of fault.c, and the file for its WIDECOL_FAULT.
sub fault_library
{
	return (preload_library('fault'), "$PostgreSQL::Test::Utils::tmp_check/fault");
}

# After a crash: waits until a query gives t, false when it does not in time.
# poll_query_until is not for this: it writes the query to a psql that may have
# been refused and be gone, and dies of the broken pipe.
sub comes_back
{
	my ($node, $query) = @_;
	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my ($out, $err) = ('', '');
		my $answered = IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $query ],
			'<', '/dev/null', '>', \$out, '2>', \$err);
		return 1 if $answered && $out eq "t\n";
		usleep(100_000);
	}
	return 0;
}

1;
