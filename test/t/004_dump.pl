# A dump of a database restores into another: what foreign tables show, and what none does.
# A database that is dropped takes its stored tables with it.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'widecol'\nautovacuum = off");
$node->start;

# --- a database with every kind of foreign table -----------------------------------------

$node->safe_psql('postgres', 'CREATE ROLE reader LOGIN');
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(before after jobs inserts parts bare served another named);
$node->safe_psql('before', q{
SET client_min_messages = warning;
CREATE EXTENSION widecol;
CREATE EXTENSION hstore;
CREATE SCHEMA other;
CREATE SCHEMA zz;			-- dumped after the extension's own

-- keys of several parts, a hash, a map, families with attributes
CREATE FOREIGN TABLE plays (
	day text OPTIONS (rowkey '2') COLLATE "C",
	player int OPTIONS (rowkey '1', sort 'desc'),
	tag text OPTIONS (rowkey '3', encoding 'md5', length '8', family 'd', qualifier 'tag') COLLATE "C",
	games jsonb OPTIONS (family 'm'),
	score int OPTIONS (family 'd')
) SERVER widecol OPTIONS (table 'plays', families '{"m": {"versions": 5}}');
INSERT INTO plays SELECT 'day ' || i % 3, i, 'tag ' || i, jsonb_build_object('game', i), i * 10 FROM generate_series(1, 100) i;
UPDATE plays SET score = NULL WHERE player = 7;

-- namespaces
SELECT widecol.create_namespace('full', '{"owner": "sales", "quota": 5}'), widecol.create_namespace('empty'),
	widecol.alter_namespace('default', '{"note": "kept"}');
CREATE FOREIGN TABLE other.inside (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'full:t');
INSERT INTO other.inside VALUES (1, 'one');

-- attributes, split points and packings by functions; a family, and cells, that nobody maps
SELECT widecol.create_table('adm', '{"a": {"versions": 3, "ttl": "10000 days 1 s"}, "b": {"compression": "zstd"}, "hidden": {"versions": 2, "packing": "row"}}',
	widecol.hex_splits('0', 'ff', 4));
CREATE FOREIGN TABLE adm (k text OPTIONS (rowkey '1') COLLATE "C", x int OPTIONS (family 'a'), y text OPTIONS (family 'b')) SERVER widecol;
INSERT INTO adm VALUES ('1', 1, 'y'), ('2', NULL, NULL), ('3', 3, 'z');
SELECT widecol.put('adm', '2'::bytea, 'hidden:q', 'v1', 10), widecol.put('adm', '2'::bytea, 'hidden:q', 'v2', 20),
	widecol.delete('adm', '3'::bytea, 'hidden:q', 30), widecol.put('adm', '4'::bytea, 'hidden:', 'only hidden', 40),
	widecol.put('adm', '1'::bytea, 'b:other', 'unmapped', 5);
SELECT widecol.alter_table('adm', '{"b": {"versions": 4}, "late": {"in_memory": true}, "odd": {"versions": 3, "min_versions": 1,
	"ttl": 0.5, "keep_deleted_cells": "ttl", "bloomfilter": "rowcol", "blocksize": 4096, "blockcache": false}}');
SELECT widecol.put('adm', '1'::bytea, 'b:y', 'older', 6);

-- stored tables that nobody maps
SELECT widecol.create_table('full:alone', '{"f": {"versions": 9}, "none": {}}', ARRAY['\x10', '\x20']::bytea[]);
CREATE FOREIGN TABLE for_now (k text OPTIONS (rowkey '1') COLLATE "C", f jsonb OPTIONS (family 'f')) SERVER widecol OPTIONS (table 'full:alone');
INSERT INTO for_now VALUES ('a', '{"q": "w"}');
SELECT widecol.put('for_now', 'a'::bytea, 'f:q', 'older', 77), widecol.put('for_now', 'b'::bytea, 'f:q', 'mortal', 78, '100000 days'),
	widecol.delete_family('for_now', 'a'::bytea, 'f', 50);
DROP FOREIGN TABLE for_now;
SELECT widecol.create_table('alone', '{"f": {}, "own": {"ttl": 60}}'), widecol.alter_table_ttl('alone', '9 days');
GRANT USAGE ON FOREIGN SERVER widecol TO reader;
SELECT widecol.alter_table_owner('alone', 'reader'), widecol.alter_table_owner('plays', 'reader');

-- several foreign tables on one stored table, the one that brings timestamps last, and first
CREATE FOREIGN TABLE s1 (k int OPTIONS (rowkey '1'), a text, b text) SERVER widecol
	OPTIONS (table 'shared', families '{"cf": {"versions": 3}, "e": {"versions": 2}}');
CREATE FOREIGN TABLE s2 (k int OPTIONS (rowkey '1'), b text, c text, e text OPTIONS (family 'e')) SERVER widecol OPTIONS (table 'shared');
CREATE FOREIGN TABLE s3 (k int OPTIONS (rowkey '1'), m jsonb OPTIONS (family 'cf')) SERVER widecol OPTIONS (table 'shared');
CREATE FOREIGN TABLE s4 ("row" bytea, family text, qualifier bytea, ts bigint, type text, value bytea, ttl interval) SERVER widecol
	OPTIONS (table 'shared', layout 'cell');
CREATE FOREIGN TABLE c1 ("row" bytea, family text, qualifier bytea, ts bigint, value bytea) SERVER widecol
	OPTIONS (table 'cells', layout 'cell', families '{"cf": {"versions": 3}, "e": {"versions": 2}}');
CREATE FOREIGN TABLE c2 (k int OPTIONS (rowkey '1'), a text, b text) SERVER widecol OPTIONS (table 'cells', on_duplicate 'error');
CREATE FOREIGN TABLE zz.c3 (k int OPTIONS (rowkey '1'), m jsonb OPTIONS (family 'cf'), e text OPTIONS (family 'e')) SERVER widecol OPTIONS (table 'cells');
INSERT INTO s1 VALUES (1, 'a1', 'b1'), (2, NULL, NULL), (3, 'a3', NULL);
INSERT INTO s2 VALUES (3, 'b3', 'c3', 'e3'), (4, NULL, 'c4', NULL);
UPDATE s1 SET a = 'a1 new' WHERE k = 1;
UPDATE s1 SET a = 'a1 new' WHERE k = 1;
DELETE FROM s2 WHERE k = 4;
INSERT INTO s2 VALUES (4, NULL, 'c4 again', NULL);
INSERT INTO c2 VALUES (1, 'a1', 'b1'), (2, NULL, NULL), (3, 'a3', NULL);
INSERT INTO zz.c3 VALUES (3, '{"b": "b3", "c": "c3"}', 'e3'), (4, NULL, 'e4');
UPDATE c2 SET a = 'a1 new' WHERE k = 1;
-- the same columns twice, no timestamps; the one table that has them is not all there is
CREATE FOREIGN TABLE t1 (k int OPTIONS (rowkey '1'), a text, b text) SERVER widecol OPTIONS (table 'twice', families '{"cf": {"versions": 3}}');
CREATE FOREIGN TABLE t2 (k int OPTIONS (rowkey '1'), b text, a text, a_at bigint OPTIONS (qualifier 'a', attribute 'timestamp')) SERVER widecol
	OPTIONS (table 'twice');
INSERT INTO t1 VALUES (1, 'a', 'b'), (2, NULL, 'b'), (3, NULL, NULL);

-- cells as they are stored, markers too
CREATE FOREIGN TABLE raw ("row" bytea, family text, qualifier bytea, ts bigint, type text, value bytea, ttl interval) SERVER widecol
	OPTIONS (table 'rawcells', layout 'cell', raw 'true', families '{"x": {"versions": 3}, "y": {}}');
INSERT INTO raw VALUES ('r', 'x', 'q', 5, 'Put', 'five', NULL), ('r', 'x', 'q', 6, 'Put', 'six', '1000000 days'),
	('r', 'x', 'q', 5, 'Delete', NULL, NULL), ('r', 'x', '', '9', 'DeleteFamily', NULL, NULL), ('r', 'x', 'z', 10, 'Put', 'zz', NULL);
CREATE FOREIGN TABLE cells_as_text ("row" text, family text, qualifier text, value text) SERVER widecol OPTIONS (layout 'cell', family 'x');
INSERT INTO cells_as_text VALUES ('r', 'x', 'q', 'value');
CREATE FOREIGN TABLE less ("row" text, value text) SERVER widecol OPTIONS (layout 'cell', families '{"x": {"versions": 2}, "y": {}}', family 'x');
INSERT INTO less VALUES ('r', 'value');
INSERT INTO less VALUES ('r', 'newer');

-- record types: CHECK, GENERATED, bounds of partitions
CREATE FOREIGN TABLE customers (customer int OPTIONS (rowkey '1'), kind text OPTIONS (rowkey '2') COLLATE "C" DEFAULT '1' CHECK (kind = '1'), name text)
	SERVER widecol OPTIONS (table 'shop');
CREATE FOREIGN TABLE orders (customer int OPTIONS (rowkey '1'), kind text OPTIONS (rowkey '2') COLLATE "C" GENERATED ALWAYS AS ('2') STORED,
	no int OPTIONS (rowkey '3'), total numeric) SERVER widecol OPTIONS (table 'shop', on_duplicate 'error');
INSERT INTO customers (customer, name) VALUES (1, 'c1'), (2, 'c2');
INSERT INTO orders (customer, no, total) VALUES (1, 1, 9.99), (2, 5, 1);
CREATE TABLE events (kind text COLLATE "C", id int, v int) PARTITION BY LIST (kind);
CREATE FOREIGN TABLE events_a (kind text OPTIONS (rowkey '1') COLLATE "C", id int OPTIONS (rowkey '2'), v int) SERVER widecol OPTIONS (table 'events');
CREATE FOREIGN TABLE events_b (kind text OPTIONS (rowkey '1') COLLATE "C", id int OPTIONS (rowkey '2'), v int) SERVER widecol OPTIONS (table 'events');
ALTER TABLE events ATTACH PARTITION events_a FOR VALUES IN ('a', 'aa');
ALTER TABLE events ATTACH PARTITION events_b FOR VALUES IN ('b');
INSERT INTO events VALUES ('a', 1, 1), ('aa', 1, 2), ('b', 1, 3);

-- generated columns, salts, timestamps, versions, delimiters, raw keys, hstore, keys alone, policies, triggers
CREATE FOREIGN TABLE stamped (k int OPTIONS (rowkey '1'), v text, at timestamptz OPTIONS (qualifier 'v', attribute 'timestamp'),
	twice int GENERATED ALWAYS AS (k * 2) STORED, n int) SERVER widecol OPTIONS (salt_buckets '4', fetch_size '10');
INSERT INTO stamped (k, v, at) VALUES (1, 'a', '2024-01-01 00:00+00'), (2, 'b', NULL), (3, NULL, NULL);
CREATE FOREIGN TABLE versions (k text OPTIONS (rowkey '1') COLLATE "C", p text OPTIONS (rowkey '2') COLLATE "C",
	v text, v_all widecol.version[] OPTIONS (qualifier 'v'), v_us bigint OPTIONS (qualifier 'v', attribute 'timestamp')) SERVER widecol
	OPTIONS (delimiter '$', families '{"cf": {"versions": 4}}');
INSERT INTO versions (k, p, v_all) VALUES ('a', 'b', ARRAY[(9, 'nine'), (8, 'eight')]::widecol.version[]), ('b', 'b', NULL);
CREATE FOREIGN TABLE raw_key (key bytea OPTIONS (rowkey 'raw'), h hstore OPTIONS (family 'cf')) SERVER widecol;
INSERT INTO raw_key VALUES ('\x00ff', 'a=>b, c=>d');
CREATE FOREIGN TABLE keys_only (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (families '{"f": {}}');
INSERT INTO keys_only VALUES (1);
CREATE FOREIGN TABLE since (k int OPTIONS (rowkey '1'), since bigint OPTIONS (family 'g', qualifier 'q', attribute 'timestamp'), o text OPTIONS (family 'h'))
	SERVER widecol;
SELECT widecol.put('since', '\x80000001', 'g:q', 'a value', 123);
CREATE FOREIGN TABLE policies (k int OPTIONS (rowkey '1') NOT NULL, owner text, CHECK (k > 0)) SERVER widecol;
INSERT INTO policies VALUES (1, 'somebody');
CREATE VIEW policies_view AS SELECT * FROM policies;

-- times to live of single cells, versions that are dated in the future; before and behind the extension's own data
CREATE FOREIGN TABLE mortal (k int OPTIONS (rowkey '1'), v text, w text) SERVER widecol OPTIONS (families '{"cf": {"versions": 3}}');
CREATE FOREIGN TABLE zz.mortal (k int OPTIONS (rowkey '1'), v text, v_all widecol.version[] OPTIONS (qualifier 'v'), m jsonb OPTIONS (family 'm')) SERVER widecol
	OPTIONS (table 'zz.mortal', on_duplicate 'error', families '{"cf": {"versions": 3}, "m": {"versions": 2}}');
CREATE FOREIGN TABLE zz.mortal_cells ("row" bytea, family text, qualifier bytea, ts bigint, value bytea) SERVER widecol
	OPTIONS (table 'zz.cells', layout 'cell', families '{"cf": {"versions": 3}}');
SELECT t, widecol.put(t, '\x80000001', 'cf:v', 'x', 9000000000000000), widecol.put(t, '\x80000001', 'cf:v', 'y', 9000000000000001),
	widecol.put(t, '\x80000002', 'cf:v', 'mortal', NULL, '100000 days'), widecol.put(t, '\x80000003', 'cf:v', 'mortal', 5, '100000 days'),
	widecol.put(t, '\x80000003', 'cf:v', 'not', 6) FROM unnest('{mortal, zz.mortal, zz.mortal_cells}'::regclass[]) t;
SELECT widecol.put('zz.mortal', '\x80000003', 'm:a', 'a', NULL, '100000 days'), widecol.put('zz.mortal', '\x80000003', 'm:b', 'b');
});

# --- there and back -----------------------------------------------------------------------

my @include = ('--include-foreign-data=widecol');

# The dump's text, without what pg_dump makes up anew each time.
sub dump_of
{
	my ($database, @options) = @_;
	my $file = $node->basedir . "/$database.sql";
	$node->command_ok([ 'pg_dump', '-d', $node->connstr($database), @options, '-f', $file ], "dump $database @options");
	return slurp_file($file) =~ s/^\\(un)?restrict .*\n//mgr;
}

# What two texts have that is not in both.
sub difference
{
	my @texts = @_;
	my @files = map { $node->basedir . "/text$_" } (0, 1);
	foreach (0, 1)
	{
		open(my $out, '>', $files[$_]) or die;
		print $out $texts[$_];
		close($out);
	}
	my ($out, $err);
	IPC::Run::run([ 'diff', @files ], '>', \$out, '2>', \$err);
	return $out . $err;
}

sub restore
{
	my ($database, $text) = @_;
	my $file = $node->basedir . '/restore.sql';
	open(my $out, '>', $file) or die;
	print $out $text;
	close($out);
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', $file ], "restore into $database");
}

my $catalog = q{
SELECT * FROM widecol.tables ORDER BY 1, 2;
SELECT to_jsonb(f) - 'history_from' FROM widecol.families f ORDER BY f.namespace, f."table", f.family;
SELECT t.name, start_row FROM widecol.tables t, widecol.regions(t.namespace || ':' || t.name) ORDER BY 1, 2;
SELECT name FROM widecol.dump WHERE kind = 'namespace' ORDER BY 1;
};
# cells with their timestamps, where some foreign table, or widecol.dump, has brought these
my $raw = join("\n", map { "SELECT '$_', * FROM widecol.scan('$_', versions => 100);" } qw(s4 c1))
	. q{SELECT * FROM widecol.scan('raw', raw => true, versions => 100); SELECT * FROM widecol.scan('since', raw => true, versions => 100);}
	. q{SELECT * FROM widecol.scan('versions', columns => '{cf:v}', versions => 100);}
	. q{SELECT * FROM widecol.scan('adm', columns => '{hidden}', raw => true, versions => 100);}
	. q{SELECT * FROM widecol.dump WHERE kind = 'cell' ORDER BY name, "row", family, qualifier, ts;};
$raw .= join("\n", map { "SELECT '$_', * FROM widecol.scan('$_', columns => '{cf}', versions => 100);" } qw(zz.mortal zz.mortal_cells));
my $rows = q{SELECT * FROM plays ORDER BY player, day, tag; SELECT * FROM s1; SELECT * FROM s2; SELECT * FROM s3; SELECT * FROM t2; SELECT * FROM events;
SELECT k, v FROM stamped ORDER BY k; SELECT * FROM versions; SELECT * FROM orders; SELECT * FROM since; SELECT * FROM mortal; SELECT k, v, m FROM zz.mortal};

my $dump = dump_of('before', @include);
my $written = $node->safe_psql('before', $rows);
like($dump, qr/^COPY widecol\.dump .*^namespace\tempty\t/ms, 'the dump has what no foreign table shows');
restore('after', $dump);
is(difference($node->safe_psql('after', $rows), $written), '', 'the same rows are in the other database');
is($node->safe_psql('after', $catalog), $node->safe_psql('before', $catalog), 'the same namespaces, stored tables, families, attributes, split points');
is(difference($node->safe_psql('after', $raw), $node->safe_psql('before', $raw)), '', 'the same cells, markers and timestamps');
is(difference(dump_of('after', @include), $dump), '', 'and the same dump');

# pg_restore, several sessions at a time; foreign data cannot be dumped so
$node->command_fails_like([ 'pg_dump', '-d', $node->connstr('before'), '-Fd', '-j', '2', @include, '-f', $node->basedir . '/jobs' ],
	qr/not supported with parallel backup/, 'no parallel dump of foreign data');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('before'), '-Fc', @include, '-f', $node->basedir . '/custom' ], 'dump in custom format');
$node->command_ok([ 'pg_restore', '-j', '3', '-d', $node->connstr('jobs'), $node->basedir . '/custom' ], 'restore with three jobs');
is($node->safe_psql('jobs', $catalog), $node->safe_psql('before', $catalog), 'three jobs: the same stored tables');
is(difference(dump_of('jobs', @include), $dump), '', 'three jobs: the same dump');

restore('inserts', dump_of('before', @include, '--inserts'));
is(difference(dump_of('inserts', @include), $dump), '', 'INSERT commands: the same dump');

# the definitions alone have the attributes of what foreign tables map
restore('parts', dump_of('before', '--schema-only'));
my $mapped = q{SELECT to_jsonb(f) - 'history_from' FROM widecol.families f WHERE "table" <> 'alone' AND NOT ("table" = 'adm' AND family IN ('hidden', 'late', 'odd'))
	ORDER BY f.namespace, f."table", f.family};
is($node->safe_psql('parts', $mapped), $node->safe_psql('before', $mapped), 'definitions alone: mapped families have their attributes');
restore('parts', dump_of('before', '--data-only', @include));
is($node->safe_psql('parts', $catalog), $node->safe_psql('before', $catalog), 'data behind definitions: the same stored tables');
is(difference(dump_of('parts', @include), $dump), '', 'data behind definitions: the same dump');

# one table; nothing of the foreign data
$node->safe_psql('bare', 'CREATE EXTENSION widecol');
restore('bare', dump_of('before', @include, '-t', 'plays'));
is($node->safe_psql('bare', 'SELECT * FROM plays ORDER BY player, day, tag'),
	$node->safe_psql('before', 'SELECT * FROM plays ORDER BY player, day, tag'), 'one foreign table alone');
unlike(dump_of('before'), qr/^COPY/m, 'without --include-foreign-data there are no rows, nor what no foreign table shows');

# --- other servers of the embedded engine --------------------------------------------------

$node->safe_psql('served', q{
SET client_min_messages = warning;
CREATE EXTENSION widecol;
CREATE SERVER other FOREIGN DATA WRAPPER widecol;
CREATE FOREIGN TABLE ot (k int OPTIONS (rowkey '1'), v text, m jsonb OPTIONS (family 'm')) SERVER other OPTIONS (families '{"cf": {"versions": 3}}');
INSERT INTO ot VALUES (1, 'one', '{"a": "b"}'), (2, NULL, NULL);
INSERT INTO ot VALUES (1, 'uno', '{"a": "b"}');
-- one stored table, foreign tables of both servers
CREATE FOREIGN TABLE mine (k int OPTIONS (rowkey '1'), a text) SERVER widecol OPTIONS (table 'shared', families '{"cf": {"versions": 3}, "e": {}}');
CREATE FOREIGN TABLE others (k int OPTIONS (rowkey '1'), b text, e text OPTIONS (family 'e')) SERVER other OPTIONS (table 'shared');
INSERT INTO mine VALUES (1, 'a1'), (2, 'a2');
INSERT INTO others VALUES (2, 'b2', 'e2'), (3, 'b3', NULL);
CREATE FOREIGN TABLE raw ("row" bytea, family text, qualifier bytea, ts bigint, type text, value bytea, ttl interval) SERVER other
	OPTIONS (table 'rawcells', layout 'cell', raw 'true', families '{"x": {"versions": 3}}');
INSERT INTO raw VALUES ('r', 'x', 'q', 5, 'Put', 'five', NULL), ('r', 'x', 'q', 5, 'Delete', NULL, NULL), ('r', 'x', 'q', 6, 'Put', 'six', '1000000 days');
});
my $served = join("\n", map { "SELECT '$_', * FROM $_;" } qw(ot mine others raw))
	. join("\n", map { "SELECT family, qualifier, value FROM widecol.scan('$_', versions => 100) WHERE value <> '';" } qw(ot mine));
restore('another', dump_of('served', @include));
is(difference(map { $node->safe_psql($_, $served) } qw(another served)), '', 'the rows of foreign tables of other servers come with widecol.dump');
restore('named', dump_of('served', @include, '--include-foreign-data=other'));
is(difference(map { $node->safe_psql($_, $served) } qw(named served)), '', 'and come once if their server is named, too');

# --- widecol.dump -------------------------------------------------------------------------

$node->safe_psql('bare', 'GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader');
$node->command_fails_like([ 'pg_dump', '-d', $node->connstr('bare'), '-U', 'reader', @include ],
	qr/permission denied for foreign table dump/, 'a dump that may not have all fails');

my ($ret, $out, $err) = $node->psql('bare', q{INSERT INTO widecol.dump (kind, name) VALUES ('thing', 'x')});
like($err, qr/invalid kind of row/, 'widecol.dump accepts only rows as it shows them');
($ret, $out, $err) = $node->psql('bare', q{UPDATE widecol.dump SET name = 'x'});
like($err, qr/does not allow updates/, 'and is not updated');
($ret, $out, $err) = $node->psql('bare', 'TRUNCATE widecol.dump');
like($err, qr/cannot truncate/, 'nor truncated');
is($node->safe_psql('bare', q{SELECT count(*) FROM widecol.dump a JOIN widecol.dump b USING (kind, name) WHERE kind = 'table'}), 1, 'it can be queried');

# The same definition by hand is still refused when it has no key.
($ret, $out, $err) = $node->psql('after', 'CREATE FOREIGN TABLE nokey (a int, b int) SERVER widecol');
like($err, qr/no key column/, 'a foreign table without a key is refused outside a restore');
($ret, $out, $err) = $node->psql('after', q{CREATE FOREIGN TABLE mydump (a int) SERVER widecol OPTIONS (layout 'dump')});
like($err, qr/invalid value for option "layout"/, 'layout dump is for the extension');

# --- DROP DATABASE ------------------------------------------------------------------------

# Names are per database: dropping one database leaves the other's table alone.
sub data_files
{
	my @files = glob($node->data_dir . '/widecol/pgsql_tmp.live/*.sst');
	return scalar(@files);
}

my $before = $node->safe_psql('before', $catalog);
($ret, $out, $err) = $node->psql('postgres', "BEGIN;\nDROP DATABASE before;");
like($err, qr/cannot run inside a transaction block/, 'DROP DATABASE that PostgreSQL refuses');
is($node->safe_psql('before', $catalog), $before, 'leaves the stored tables');
my $others = data_files();
$node->safe_psql('before', q{SELECT widecol.flush('plays')});
cmp_ok(data_files(), '>', $others, 'a stored table has files');
$node->safe_psql('postgres', 'DROP DATABASE before');
foreach (1 .. 300)
{
	last if data_files() <= $others;
	select(undef, undef, undef, 0.1);
}
cmp_ok(data_files(), '<=', $others, 'a dropped database takes the files of its stored tables with it');
is($node->safe_psql('after', $rows), $written, 'the other database keeps its own');
my $orphans = q{SELECT string_agg(namespace || ':' || name, ' ' ORDER BY name COLLATE "C") FROM widecol.orphans()};

# A crash in the midst of DROP DATABASE leaves an invalid database, which is to be dropped again.
my $make = q{CREATE EXTENSION widecol; SELECT widecol.create_table('left_over', '{"f": {}}')};
$node->safe_psql('postgres', 'CREATE DATABASE invalid');
$node->safe_psql('invalid', $make);
$node->safe_psql('postgres', q{UPDATE pg_database SET datconnlimit = -2 WHERE datname = 'invalid'});
is($node->safe_psql('after', $orphans), '', 'its stored tables are not given up');
$node->safe_psql('postgres', 'DROP DATABASE invalid');
is($node->safe_psql('after', $orphans), '', 'and go when it is dropped');

# A server without the library does not know of stored tables.
$node->safe_psql('postgres', q{CREATE DATABASE unnoticed TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'});
$node->safe_psql('unnoticed', $make . q{; SELECT widecol.create_table(name, '{"f": {}}') FROM unnest(ARRAY['left_too', E'left_\\xe9']) name});
$node->stop;
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->start;
$node->safe_psql('postgres', 'DROP DATABASE unnoticed');
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'widecol'");
$node->restart;
is($node->safe_psql('after', $orphans), 'default:left_\xE9 default:left_over default:left_too', 'what a server without the library left is listed');
is($node->safe_psql('after', 'BEGIN; SELECT widecol.drop_orphans(); SELECT count(*) FROM widecol.orphans(); ROLLBACK'), "3\n0", 'it can be dropped');
is($node->safe_psql('after', 'SELECT widecol.drop_orphans(); SELECT widecol.drop_orphans()'), "3\n0", 'once');
is($node->safe_psql('after', $orphans), '', 'it is gone');
is($node->safe_psql('after', $rows), $written, 'the other database has its own still');

$node->stop;
done_testing();
