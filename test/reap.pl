#!/usr/bin/perl
# reap.pl COMMAND...: runs the command and takes in the orphans it leaves.
#
# A postmaster that a test kills is nobody's child any more.  Where process 1
# does not wait for orphans (many containers), it stays a zombie, and the next
# start finds its process id alive: "is another postmaster running?".  So this
# process becomes the one that orphans go to, and waits for them.
use strict;
use warnings;

my %prctl = (x86_64 => 157, aarch64 => 167, i686 => 172, armv7l => 172, ppc64le => 171, riscv64 => 167, s390x => 172);
my $machine = `uname -m`;
chomp $machine;
my $PR_SET_CHILD_SUBREAPER = 36;
warn "cannot adopt orphans on $machine\n"
  unless defined $prctl{$machine} && syscall($prctl{$machine}, $PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;

my $child = fork();
die "fork: $!\n" unless defined $child;
if ($child == 0)
{
	exec @ARGV or die "$ARGV[0]: $!\n";
}
$SIG{$_} = sub { kill $_[0], $child } for qw(INT TERM HUP);

my $status = 1;
while (1)
{
	my $pid = waitpid(-1, 0);
	next if $pid < 0 && $!{EINTR};
	last if $pid < 0;
	next if $pid != $child;
	$status = $?;
	last;
}
exit($status & 127 ? 128 + ($status & 127) : $status >> 8);
