# pg_upgrade: the new cluster has the foreign tables; the stored tables come with a copy of their directory.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WidecolLoad;

sub make_cluster
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'widecol'
});
	return $node;
}

my $old = make_cluster('old');
$old->start;
load_tables($old);
$old->safe_psql('postgres', q{
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE ROLE writer;
GRANT ALL ON SCHEMA public TO writer;
GRANT USAGE ON FOREIGN SERVER widecol TO writer;
SET ROLE writer;
CREATE FOREIGN TABLE moods (day date OPTIONS (rowkey '1'), who text OPTIONS (rowkey '2') COLLATE "C", mood mood, more jsonb OPTIONS (family 'more'))
  SERVER widecol OPTIONS (salt_buckets '4');
INSERT INTO moods SELECT date '2026-01-01' + i, 'w' || i % 7, CASE WHEN i % 2 = 0 THEN 'sad'::mood ELSE 'happy' END,
  jsonb_build_object('n', i) FROM generate_series(1, 500) i;
RESET ROLE;
ALTER TYPE mood RENAME VALUE 'sad' TO 'blue';
INSERT INTO heap SELECT i, 'v' || i, i FROM generate_series(1, 3000) i;
INSERT INTO stored_row SELECT * FROM heap;
INSERT INTO stored_cell SELECT * FROM heap;
SELECT widecol.flush('moods');
CREATE DATABASE other;
});
$old->safe_psql('other', q{
CREATE EXTENSION widecol;
CREATE FOREIGN TABLE elsewhere (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO elsewhere SELECT i, 'elsewhere' FROM generate_series(1, 100) i;
});

my $question = q{
SELECT count(*), min(day), max(who), string_agg(DISTINCT mood::text, ' '), sum((more->>'n')::int) FROM moods;
SELECT count(*), sum(n), min(v), max(v) FROM heap;
SELECT count(*), sum(n), min(v), max(v) FROM stored_row;
SELECT count(*), sum(n), min(v), max(v) FROM stored_cell;
SELECT name, owner FROM widecol.tables ORDER BY name};
my $before = $old->safe_psql('postgres', $question);
like($before, qr/^500\|2026-01-02\|w6\|blue happy\|125250\n3000\|/, 'the old cluster has rows');
$old->stop;

# --- pg_upgrade ----------------------------------------------------------------------
# It writes a script into its directory.
my $new = make_cluster('new');
my ($bindir) = map { chomp; $_ } `pg_config --bindir`;
my $cwd = $ENV{PWD};
chdir($PostgreSQL::Test::Utils::tmp_check) or die;
my @upgrade = ('pg_upgrade', '--no-sync', '-d', $old->data_dir, '-D', $new->data_dir, '-b', $bindir, '-B', $bindir,
	'-s', $new->host, '-p', $old->port, '-P', $new->port);
command_ok([ @upgrade, '--check' ], 'pg_upgrade --check');
command_ok(\@upgrade, 'pg_upgrade');
chdir($cwd) if defined $cwd;
ok(!-e $new->data_dir . '/widecol', 'and no engine has run in the new cluster');

# --- the stored tables -----------------------------------------------------------------
is(system('cp', '-a', $old->data_dir . '/widecol', $new->data_dir . '/'), 0, 'a copy of the directory');
$new->start;
my ($ret, $out, $err) = $new->psql('postgres', 'SELECT count(*) FROM moods');
like($err, qr/holds the stored tables of another cluster/, 'is refused at first');
like($err, qr/widecol\.accept_store = '([0-9a-f]{8})'/, 'with a hint');
my ($id) = $err =~ /widecol\.accept_store = '([0-9a-f]{8})'/;
$new->append_conf('postgresql.conf', "widecol.accept_store = '$id'");
$new->reload;
ok(wait_until(sub { ($new->psql('postgres', 'SELECT count(*) FROM moods'))[0] == 0 }), 'the engine takes it');
is($new->safe_psql('postgres', $question), $before, 'all rows are there');
is($new->safe_psql('other', 'SELECT count(*), max(v) FROM elsewhere'), '100|elsewhere', 'those of another database too');
$new->safe_psql('postgres', q{
INSERT INTO moods VALUES ('2027-01-01', 'new', 'blue', '{"n": "1"}');
CREATE FOREIGN TABLE more (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO more VALUES (1, 'one');
CHECKPOINT;
});
$new->stop('immediate');
$new->start;
is($new->safe_psql('postgres', q{SELECT count(*) FROM moods; SELECT v FROM more}), "501\none", 'and new ones, after a crash');
$new->safe_psql('other', 'SELECT widecol.flush($$elsewhere$$)');
$new->safe_psql('postgres', 'DROP DATABASE other');
is($new->safe_psql('postgres', q{SELECT count(*) FROM widecol.tables}), 4, 'DROP DATABASE drops the stored tables of the right database');
is($new->safe_psql('postgres', q{SELECT count(*) FROM widecol.check_store()}), 0, 'no damage');
$new->stop;

done_testing();
