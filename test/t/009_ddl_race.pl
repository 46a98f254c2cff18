# Functions that look through all foreign tables, while others make and drop some.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'widecol'");
$node->start;

# many, so that looking through them takes a while
$node->safe_psql('postgres', q{
CREATE EXTENSION widecol;
CREATE FOREIGN TABLE kept (k int OPTIONS (rowkey '1'), v int, w int OPTIONS (family 'd')) SERVER widecol;
CREATE FOREIGN TABLE made (k int OPTIONS (rowkey '1'), v int) SERVER widecol;
DO $$
BEGIN
	FOR i IN 1 .. 300 LOOP
		EXECUTE format('CREATE FOREIGN TABLE many_%s (k int OPTIONS (rowkey %L), v int) SERVER widecol OPTIONS ("table" %L)', i, '1', 'made');
	END LOOP;
END $$;
});

my %script = (
	ddl => q{
CREATE FOREIGN TABLE coming_:client_id (k int OPTIONS (rowkey '1'), v int) SERVER widecol OPTIONS ("table" 'made');
SET client_min_messages = error;
DROP FOREIGN TABLE coming_:client_id;
},
	look => q{
SELECT widecol.flush('kept');
SELECT widecol.alter_table('kept', '{"cf": {"versions": 2}}');
},
);
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/$_.sql", $script{$_}) foreach keys %script;

$node->command_ok([
	'pgbench', '-n', '-c', '4', '-j', '2', '-t', '150', '-f', "$dir/ddl.sql\@3", '-f', "$dir/look.sql\@2", 'postgres' ],
	'no session fails because another one drops a table');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname LIKE 'coming%'}), '0', 'and all is dropped');

# the purpose: a family with columns of a foreign table stays
my ($ret, $out, $err) = $node->psql('postgres', q{SELECT widecol.alter_table('kept', '{"d": null}')});
like($err, qr/cannot drop family "d" of stored table "kept" because foreign table public.kept has columns in it/,
	'a family with columns is not dropped');

$node->stop;
done_testing();
