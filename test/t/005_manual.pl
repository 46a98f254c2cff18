# The examples in README.md and the pages of doc/ show the real output.  Each page has a database of its
# own and is one session of psql: every block ```sql is run, in order, and the block without a
# language after it has its output.  A second one after an EXPLAIN has the output of the explained
# statement.  Blocks ```sh are run by sh, ```text is not run.  Left out on both sides are empty lines, numbers of rows, the heading of EXPLAIN, and results of functions that return void.
# An ellipsis (one character) in a page stands for any text in a line.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'widecol'\ntimezone = 'UTC'\nmax_prepared_transactions = 2");
$node->start;

# One after another, each with its end: a semicolon, or the line's end behind a backslash.
sub statements
{
	my ($sql) = @_;
	my @found;
	while ($sql =~ /\G\s*((?:--[^\n]*\n\s*)*(?:\\[^\n]*\n|(?>\$(\w*)\$.*?\$\2\$|'[^']*'|--[^\n]*|[^;'\$-]|[\$-])+;[ \t]*(?:--[^\n]*)?(?:\n|\z)))/gcs)
	{
		push @found, $1;
	}
	my $rest = substr($sql, pos($sql) // 0) =~ s/--[^\n]*//gr;
	die "no end of a statement: $rest" if $rest =~ /\S/;
	return @found;
}

# What remains of what psql prints.
sub printed
{
	my ($out) = @_;
	$out =~ s/^ [ \w|]*\n-[-+]*\n(?:[ |]+\n)+(?:\(1 row\)\n)?//mg;
	$out =~ s/^\s*QUERY PLAN\s*\n-+\n//mg;
	$out =~ s/^\(\d+ rows?\)$//mg;
	return join("\n", map { s/\s+$//r } grep { /\S/ } split(/\n/, $out));
}

# Of a page: [line, code, language, outputs ...], the blocks with code and the outputs after them.
sub examples
{
	my ($page, $text) = @_;
	my @examples;
	while ($text =~ /^```(\w*)\n(.*?)^```$/msg)
	{
		my ($language, $block) = ($1, $2);
		my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
		next if $language eq 'text';
		die "$page:$line: a block of language $language" unless $language =~ /^(sql|sh|)$/;
		push @examples, [ $line, $block, $language ] if $language ne '';
		die "$page:$line: nothing prints this" unless @examples;
		push @{ $examples[-1] }, $block if $language eq '';
	}
	return @examples;
}

# Runs the pieces in one psql; what each of them prints, in order.
sub run_pieces
{
	my ($database, @pieces) = @_;
	my $script = join('', map { "\\warn \@\@\@$_\n$pieces[$_]" . ($pieces[$_] =~ /\n\z/ ? '' : "\n") } 0 .. $#pieces);
	my $out = '';
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	local $ENV{PGDATABASE} = $database;
	local $ENV{PGCLIENTENCODING} = 'UTF8';
	IPC::Run::run([ 'stdbuf', '-oL', 'psql', '-X', '-q' ], '<', \$script, '>&', \$out, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default))
	  or die "psql failed: $out";
	my @parts = split(/^\@\@\@\d+\n/m, $out, -1);
	shift @parts;
	return @parts;
}

my ($compared, $pages) = (0, 0);
sub check_page
{
	my ($page) = @_;
	my $text = slurp_file("$top/$page");
	my $database = 'page' . $pages++;
	my $scratch = PostgreSQL::Test::Utils::tempdir();
	my (@pieces, @owners);

	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'");
	$node->safe_psql($database, 'CREATE EXTENSION widecol') unless $text =~ /^CREATE EXTENSION widecol/m;

	my @examples = examples($page, $text);
	foreach my $e (0 .. $#examples)
	{
		my ($line, $code, $language, @outputs) = @{ $examples[$e] };
		my @run = ($code);
		if ($language eq 'sh')
		{
			append_to_file("$scratch/$e.sh", $code);
			@run = ("\\! cd $scratch && sh -e $e.sh 2>&1\n");
		}
		else
		{
			@run = statements($code);
		}
		push @pieces, @run;
		push @owners, ("$e 0") x @run;
		if (@outputs > 1)
		{
			push @pieces, $run[-1] =~ s/^(?:\s*--[^\n]*\n)*\s*EXPLAIN\s*\([^)]*\)//r;
			push @owners, "$e 1";
		}
	}

	my @parts = run_pieces($database, @pieces);
	my %got;
	$got{ $owners[$_] } .= printed($parts[$_] // 'psql did not come so far') . "\n" foreach (0 .. $#pieces);
	foreach my $e (0 .. $#examples)
	{
		my ($line, $code, $language, @outputs) = @{ $examples[$e] };
		push @outputs, '' unless @outputs;
		foreach (0 .. $#outputs)
		{
			my ($got, $wanted) = (printed($got{"$e $_"} // ''), printed($outputs[$_]));
			my $pattern = join('[^\n]*', map { quotemeta } split(/\xe2\x80\xa6/, $wanted, -1));
			is($got =~ /\A$pattern\z/ ? $wanted : $got, $wanted, "$page:$line");
		}
		$compared++;
	}
}

chdir $top or die "$top: $!";
foreach my $page ('README.md', sort(glob('doc/*.md doc/*/*.md')))
{
	check_page($page);
}
cmp_ok($compared, '>', 100, 'examples were compared');

$node->stop;
done_testing();
