# The README's tour says what a reader would see: its statements are run, and the
# output printed behind a block is that of the block's last statement (and, printed
# behind that of an EXPLAIN, of what it explains).

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $readme = slurp_file("$FindBin::RealBin/../../README.md");
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'widecol'\ntimezone = 'UTC'");
$node->start;

sub statements
{
	my ($sql) = @_;
	$sql =~ s/--.*$//mg;
	return grep { /\S/ } split(/;\s*(?:\n|\z)/, $sql);
}

# As psql prints it, without what the README leaves out.
sub printed
{
	my ($sql) = @_;
	my ($status, $out, $err) = $node->psql('postgres', $sql, extra_params => ['--pset=format=aligned', '--pset=tuples_only=off']);
	is($err, '', 'no complaint about: ' . substr($sql, 0, 60) =~ s/\s+/ /gr);
	$out =~ s/^\s*QUERY PLAN\s*\n-+\n// if $sql =~ /^\s*EXPLAIN/;
	$out =~ s/^\(\d+ rows?\)\n*//mg;
	return $out;
}

sub trimmed
{
	my ($text) = @_;
	return join("\n", map { s/\s+$//r } grep { /\S/ } split(/\n/, $text));
}

my ($last, $out, $compared);
while ($readme =~ /^```(\w*)\n(.*?)^```$/msg)
{
	my ($kind, $text) = ($1, $2);
	if ($kind eq 'sql')
	{
		my @statements = statements($text);
		$last = $statements[-1];
		$out = printed($_) for @statements;
	}
	elsif ($kind eq '' && defined $last)
	{
		$out = printed($last) if !defined $out && $last =~ s/^\s*EXPLAIN \([^)]*\)//;
		is(trimmed($out // ''), trimmed($text), 'what the README shows') and $compared++;
		undef $out;
	}
}
cmp_ok($compared, '>=', 4, 'outputs were compared');

$node->stop;
done_testing();
