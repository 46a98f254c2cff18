# The engine process of a test's node, seen from outside.
package WidecolEngine;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;

our @EXPORT = qw(engine_pid engine_threads);

# Its process id, 0 when there is none.  It has no database, so it is not in
# pg_stat_activity.
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

# How many threads it has.
sub engine_threads
{
	my ($node) = @_;
	my @threads = glob('/proc/' . engine_pid($node) . '/task/*');
	return scalar @threads;
}

1;
