# A dump of a database with foreign tables restores into another, data included;
# a database that is dropped takes its stored tables with it.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'widecol'");
$node->start;

$node->safe_psql('postgres', q{
CREATE DATABASE before;
CREATE DATABASE after;
});
$node->safe_psql('before', q{
CREATE EXTENSION widecol;
CREATE FOREIGN TABLE d (
	day text OPTIONS (rowkey '2') COLLATE "C",
	player int OPTIONS (rowkey '1', sort 'desc'),
	tag text OPTIONS (rowkey '3', encoding 'md5', length '8', family 'd', qualifier 'tag') COLLATE "C",
	games jsonb OPTIONS (family 'm'),
	score int OPTIONS (family 'd')
) SERVER widecol OPTIONS (table 'plays', families '{"m": {"versions": 5}}');
INSERT INTO d SELECT 'day ' || i % 3, i, 'tag ' || i, jsonb_build_object('game', i), i * 10 FROM generate_series(1, 100) i;
UPDATE d SET score = NULL WHERE player = 7;
});

my $rows = 'SELECT * FROM d ORDER BY player, day, tag';
my $attributes = q{SELECT family, versions, packing FROM widecol.families WHERE "table" = 'plays' AND family IN ('d', 'm') ORDER BY 1};
my $written = $node->safe_psql('before', $rows);
is(scalar(split /\n/, $written), 100, 'rows are there to be dumped');

my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-d', $node->connstr('before'), '--include-foreign-data=widecol', '-f', $dump ], 'dump');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('after'), '-f', $dump ], 'restore');
is($node->safe_psql('after', $rows), $written, 'the same rows are in the other database');
is($node->safe_psql('after', $attributes), $node->safe_psql('before', $attributes), 'families have their attributes');

# The same definition by hand is still refused when it has no key.
my ($ret, $out, $err) = $node->psql('after', 'CREATE FOREIGN TABLE nokey (a int, b int) SERVER widecol');
like($err, qr/no key column/, 'a foreign table without a key is refused outside a restore');

# Names are per database: dropping one database leaves the other's table alone.
sub column_families
{
	my @options = reverse sort(glob($node->data_dir . '/widecol/OPTIONS-*'));
	my $text = slurp_file($options[0]);
	return scalar(() = $text =~ /^\[CFOptions/mg);
}

my $families;
$families = eval { column_families() } until defined $families;
$node->safe_psql('postgres', 'DROP DATABASE before');
my $gone = 0;
foreach (1 .. 300)
{
	# the file that was found may be replaced before it is read
	$gone = eval { column_families() < $families };
	last if $gone;
	select(undef, undef, undef, 0.1);
}
ok($gone, 'a dropped database takes its stored tables with it');
is($node->safe_psql('after', $rows), $written, 'the other database keeps its own');
$node->restart;
is($node->safe_psql('after', $rows), $written, 'also after a restart');

$node->stop;
done_testing();
