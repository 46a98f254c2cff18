# A store that is incomplete, or is not the cluster's, is refused, and nothing on disk is changed.  Restored files
# make it as before; and the settings that accept it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Digest::SHA;
use File::Find;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use Test::More;
use WidecolEngine;

my $conf = q{
shared_preload_libraries = 'widecol'
max_wal_senders = 4
wal_level = replica
};
my $rows = q{
CREATE EXTENSION widecol;
CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
CREATE FOREIGN TABLE safe (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO safe VALUES (1, 'safe');
INSERT INTO t SELECT i, repeat(md5(i::text), 3) FROM generate_series(1, 5000) i;
SELECT widecol.flush('t');
};
my $more = join '', map { "INSERT INTO t VALUES ($_, 'synced');" } 5001 .. 5500;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', $conf);
$node->start;
ok(comes_back($node, q{SELECT (pg_stat_file('widecol.store', true)).size > 0}), 'the cluster has a store before anybody makes a table');
$node->safe_psql('postgres', $rows);
$node->safe_psql('postgres', $more);

# Images of the store, and the database itself.
my $dir = $node->data_dir . '/widecol';
my $live = "$dir/pgsql_tmp.live";
my $record = $node->data_dir . '/widecol.store';
my $count = 'SELECT count(*), sum(k) FROM t';
my $all = $node->safe_psql('postgres', $count);
is($all, '5500|15127750', 'rows are there');

# Names, modes and bytes of a store's files and of the record; RocksDB's diary is no part of it.
sub fingerprint
{
	my @found;
	return join "\n", map { -e $_ ? "$_ " . Digest::SHA->new(1)->addfile($_)->hexdigest : "no $_" } $record unless -e $dir;
	find({ no_chdir => 1, wanted => sub {
		return if m{/LOG[^/]*$};
		my $mode = sprintf '%o', (stat $_)[2];
		push @found, "$_ $mode" . (-f $_ ? ' ' . Digest::SHA->new(1)->addfile($_)->hexdigest : '');
	} }, $dir, $record);
	return join "\n", sort @found;
}

sub store_id
{
	return (slurp_file($record) =~ /^widecol store ([0-9a-f]{8})$/m)[0];
}

# The engine's answer to a statement, once it has tried to start.
sub refusal
{
	my ($out, $err) = ('', '');
	$node->psql('postgres', $count, stdout => \$out, stderr => \$err);
	return $err;
}

sub newest_log
{
	my @logs = sort grep { -s $_ } glob "$live/*.log";
	return $logs[-1];
}

sub refused
{
	my ($name, $damage, $message, $repair) = @_;

	$node->stop('fast');
	$damage->();
	my $before = fingerprint();
	$node->start;
	like(refusal(), qr/ERROR:  the widecol engine could not start: .*$message/s, "$name: refused");
	like(refusal(), qr/HINT: |DETAIL: /, "$name: the error says more");
	is($node->safe_psql('postgres', 'SELECT 1'), '1', "$name: and the rest of the server is there");
	$node->stop('fast');
	is(fingerprint(), $before, "$name: nothing was changed");
	return unless $repair;
	$repair->();
	$node->start;
	is($node->safe_psql('postgres', $count), $all, "$name: after the files are restored all rows are there");
	return;
}

# --- missing or damaged files --------------------------------------------------
# A copy with the inodes is what a repair puts back.
my $aside = $node->basedir . '/aside';
mkdir $aside;

sub put_aside
{
	my ($file) = @_;
	my ($name) = $file =~ m{([^/]+)$};
	system_or_bail('cp', '-a', $file, "$aside/$name");
	return;
}

sub put_back
{
	my ($file) = @_;
	my ($name) = $file =~ m{([^/]+)$};
	system_or_bail('cp', '-a', "$aside/$name", $file);
	return;
}

refused('CURRENT missing', sub { rename "$live/CURRENT", "$aside/CURRENT" or die $! }, 'file "CURRENT" is missing',
	sub { rename "$aside/CURRENT", "$live/CURRENT" or die $! });
refused('ID missing', sub { rename "$live/ID", "$aside/ID" or die $! }, 'file "ID" is missing',
	sub { rename "$aside/ID", "$live/ID" or die $! });
refused('directory missing', sub { rename $dir, "$aside/widecol" or die $! }, 'does not exist.*widecol\.new_store',
	sub { rename "$aside/widecol", $dir or die $! });
refused('directory empty, as where nothing is mounted', sub { rename $dir, "$aside/widecol" or die $!; mkdir $dir, 0700 },
	'does not exist', sub { rmdir $dir or die $!; rename "$aside/widecol", $dir or die $! });
refused('mode 777', sub { chmod 0777, $live }, 'invalid permissions', sub { chmod 0700, $live });

my $log;					# cut by 100 bytes it loses the last mark, and a part of a commit
foreach my $how (
	[ 'last log missing', sub { unlink $log } ],
	[ 'last log cut', sub { truncate $log, (-s $log) - 100 } ],
	[ 'last log flipped', sub {
		open my $file, '+<', $log or die $!;
		seek $file, int((-s $log) / 2), 0;
		read $file, my $byte, 1;
		seek $file, int((-s $log) / 2), 0;
		print $file chr(255 ^ ord $byte);
		close $file;
	} ])
{
	my ($name, $damage) = @$how;
	# into a log of this start
	$node->safe_psql('postgres', $more);
	refused($name, sub { $log = newest_log(); put_aside($log); $damage->() }, 'has lost commits.*accept_store',
		sub { put_back($log) });
}

# After a crash RocksDB's log may end early, and after a loss of power some of its last bytes may be wrong: the server's log has
# the lost commits.
foreach my $how (
	[ 'cut', sub { truncate $log, (-s $log) - 3 } ],
	[ 'flipped at its end', sub {
		open my $file, '+<', $log or die $!;
		seek $file, -3, 2;
		read $file, my $byte, 1;
		seek $file, -3, 2;
		print $file chr(255 ^ ord $byte);
		close $file;
	} ])
{
	my ($name, $damage) = @$how;
	$node->safe_psql('postgres', "$more; $count");
	$node->stop('immediate');
	$log = newest_log();
	$damage->();
	my $from = -s $node->logfile;
	$node->start;
	is($node->safe_psql('postgres', $count), $all, "last log $name, after an immediate stop: nothing is missing");
	my $messages = slurp_file($node->logfile, $from);
	like($messages, qr/LOG:  the log of the stored tables ends in an incomplete write, as after a crash/, 'the server\'s log explains that');
	unlike($messages, qr/WARNING:  RocksDB/, 'and does not warn of damage');
}

# The live database is lost, or a copy of it was put in its place while it was in use.
$node->safe_psql('postgres', $more);
$node->stop('fast');
rename $live, "$aside/live" or die $!;
$node->start;
is($node->safe_psql('postgres', $count), $all, 'the live database is missing: an image takes its place');
like(slurp_file($node->logfile), qr/the stored tables begin with their image at .*does not exist/, 'the log tells of that');
$node->safe_psql('postgres', $more);
$node->stop('immediate');
system_or_bail('cp', '-r', $live, "$aside/copy");
system_or_bail('rm', '-r', $live);
system_or_bail('cp', '-r', "$aside/copy", $live);
$node->start;
is($node->safe_psql('postgres', $count), $all, 'it is a copy of one in use: likewise, and the rest comes from the log of the server');

# So does one that a damaged log keeps from opening, if somebody moves it away.
$node->safe_psql('postgres', $more);
$node->stop('fast');
$log = newest_log();
truncate $log, (-s $log) - 100;
$node->start;
like(refusal(), qr/has lost commits.*HINT:  .*move the directory away/s, 'last log cut: the hint tells of images');
$node->stop('fast');
system_or_bail('mv', $live, "$aside/moved");
$node->start;
is($node->safe_psql('postgres', $count), $all, 'moved away: nothing is missing');
$node->safe_psql('postgres', $more);
$node->stop('fast');
$log = newest_log();
truncate $log, (-s $log) - 100;
$node->start;
like(refusal(), qr/has lost commits/, 'last log cut once more: refused');

# --- continuing without the lost data ---------------------------------------------
my $id = store_id();
$node->append_conf('postgresql.conf', "widecol.accept_store = '$id'");
$node->reload;
ok(comes_back($node, 'SELECT count(*) BETWEEN 5000 AND 5500 FROM t'), 'accepted: the store opens without a restart of the server');
is($node->safe_psql('postgres', 'SELECT v FROM safe'), 'safe', 'and everything else is there');
isnt(store_id(), $id, 'the store has another id now');
$node->safe_psql('postgres', $more);
is($node->safe_psql('postgres', $count), $all, 'and can be written to');
refused('CURRENT missing, and an old word', sub { rename "$live/CURRENT", "$aside/CURRENT" or die $! }, 'file "CURRENT" is missing',
	sub { rename "$aside/CURRENT", "$live/CURRENT" or die $! });

# --- only reads of a damaged file fail -----------------------------------------------
$node->safe_psql('postgres', "SELECT widecol.flush('t'), widecol.flush('safe')");
$node->stop('fast');
my ($largest) = sort { -s $b <=> -s $a } glob "$live/*.sst";
put_aside($largest);
open my $file, '+<', $largest or die $!;
seek $file, int((-s $largest) / 2), 0;
print $file 'damaged';
close $file;
$node->start;
my ($name) = $largest =~ m{([^/]+)$};
my ($out, $err) = ('', '');
$node->psql('postgres', $count, stdout => \$out, stderr => \$err);
like($err, qr/ERROR: .*\Q$name\E/s, 'a damaged file: a read of its table names it');
is($node->safe_psql('postgres', 'SELECT v FROM safe'), 'safe', 'other tables can be read');
like($node->safe_psql('postgres', 'SELECT * FROM widecol.check_store()'), qr/\At\|cf\|.*\Q$name\E[^\n]*\z/, 'check_store names the damaged file');
is($node->safe_psql('postgres', "SELECT * FROM widecol.check_store('safe')"), '', 'and reports nothing for an undamaged table');
$node->safe_psql('postgres', "INSERT INTO safe VALUES (2, 'written')");
is($node->safe_psql('postgres', 'SELECT count(*) FROM safe'), '2', 'and written');
$node->stop('fast');
put_back($largest);
$node->start;
is($node->safe_psql('postgres', $count), $all, 'and with the file all is there');
is($node->safe_psql('postgres', 'SELECT * FROM widecol.check_store()'), '', 'check_store finds no damage');

# --- a change of a damaged row -----------------------------------------------------
# It is committed, and cannot be applied, as the row is read for it.
my $lost = "lost\xE2\x82\xAC";
$node->safe_psql('postgres', qq{
CREATE FOREIGN TABLE lost (k int OPTIONS (rowkey '1'), v text, w text) SERVER widecol
  OPTIONS (table '$lost', families '{"cf": {"compression": "none"}}');
INSERT INTO lost SELECT i, 'marked' || i || repeat('z', 200) FROM generate_series(1001, 3000) i;
SELECT widecol.flush('$lost');
});
$node->safe_psql('postgres', q{CREATE DATABASE latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0});
$node->safe_psql('latin1', q{CREATE EXTENSION widecol; CREATE FOREIGN TABLE beside (k int OPTIONS (rowkey '1'), v text) SERVER widecol});
$node->stop('fast');
my ($marked) = grep { slurp_file($_) =~ /marked2500/ } glob "$live/*.sst";
my $bytes = slurp_file($marked);
open my $block, '+<', $marked or die $!;
seek $block, index($bytes, 'marked2500'), 0;
print $block 'bad';
close $block;
$node->start;
$node->safe_psql('postgres', q{BEGIN; INSERT INTO lost SELECT i, 'new', NULL FROM generate_series(2300, 2700) i;
  INSERT INTO lost VALUES (1001, 'other block', 'w'); INSERT INTO safe VALUES (3, 'beside it'); COMMIT});
$node->psql('postgres', 'SELECT count(*) FROM safe', stderr => \$err);
like($err, qr/cannot show the last commits: .*"$lost".*widecol\.accept_damage = [0-9]+/s, 'a change of a damaged row is told, with a way on');
my ($table) = $err =~ /accept_damage = ([0-9]+)/;
$node->psql('latin1', q{INSERT INTO beside VALUES (1, 'x')}, stderr => \$err);
like($err, qr/cannot be written to now: .*"lost\\xE2\\x82\\xAC"/s, 'and in a database whose encoding lacks a character of the name');
$node->append_conf('postgresql.conf', "widecol.accept_damage = $table");
$node->reload;
ok($node->poll_query_until('postgres', 'SELECT true FROM safe LIMIT 1'), 'a setting lets the engine go on');
is($node->safe_psql('postgres', 'SELECT count(*) FROM safe'), '3', 'with the other changes of the commit');
is($node->safe_psql('postgres', 'SELECT v FROM lost WHERE k = 1001'), 'other block', 'and with that of a row which is not damaged');
is($node->safe_psql('postgres', q{SELECT (SELECT count(*) FROM lost WHERE k BETWEEN 2300 AND 2400 AND v = 'new'),
  (SELECT count(*) FROM lost WHERE k BETWEEN 2600 AND 2700 AND v = 'new')}), '101|101', 'before it and behind it');
isnt($node->psql('postgres', 'SELECT * FROM lost WHERE k = 2500'), 0, 'nothing is written into the damaged row');
like(slurp_file($node->logfile), qr/operations of the commit at position [0-9]+ that are void: [1-9][0-9]?; of the first: .*/, 'what is lost is logged');
$node->stop('fast');
$node->start;
$node->safe_psql('postgres', qq{SET client_min_messages = warning; DROP FOREIGN TABLE lost; SELECT widecol.drop_table('$lost')});
$node->append_conf('postgresql.conf', 'widecol.accept_damage = 0');
$node->reload;
is($node->safe_psql('postgres', 'SELECT * FROM widecol.check_store()'), '', 'then the table can be dropped');

# --- copies ---------------------------------------------------------------------------
# One that pg_basebackup makes while the engine works has an image, and the log behind it.
$node->backup('running');
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'running');
chmod 0700, $copy->data_dir . '/widecol';
$copy->start;
is($copy->safe_psql('postgres', $count), $all, 'a base backup of a running cluster is as good');
$copy->stop('fast');

# One of a server that is stopped is as good.
my $moved = PostgreSQL::Test::Cluster->new('moved');
$node->stop('fast');
PostgreSQL::Test::RecursiveCopy::copypath($node->data_dir, $moved->data_dir);
chmod 0700, $moved->data_dir, $moved->data_dir . '/widecol', $moved->data_dir . '/widecol/pgsql_tmp.live';
$moved->append_conf('postgresql.conf', 'port = ' . $moved->port);
$moved->start;
is($moved->safe_psql('postgres', $count), $all, 'a copy of a stopped cluster is as good');
$moved->stop('fast');

# But not with the directory of the first.
$moved->append_conf('postgresql.conf', "widecol.data_directory = '$dir'");
my $before = fingerprint();
$moved->start;
$moved->psql('postgres', $count, stdout => \$out, stderr => \$err);
like($err, qr/belongs to the cluster of which this data directory is a copy/, 'the copy does not take the store of the first');
is(fingerprint(), $before, 'and changes nothing');
$node->start;
is($node->safe_psql('postgres', $count), $all, 'which has it');
$moved->reload;
($out, $err) = ('', '');
$moved->psql('postgres', $count, stdout => \$out, stderr => \$err);
like($err, qr/is in use by another engine|belongs to the cluster/, 'nor while that runs');
$moved->stop('fast');

# --- another cluster's store --------------------------------------------------------
my $other = PostgreSQL::Test::Cluster->new('other');
$other->init(allows_streaming => 1);
$other->append_conf('postgresql.conf', $conf);
$other->start;
$other->safe_psql('postgres', $rows);
$other->stop('fast');
refused('another cluster', sub {
	rename $dir, "$aside/widecol" or die $!;
	rename $other->data_dir . '/widecol', $dir or die $!;
}, 'holds the stored tables of another cluster', sub {
	rename $dir, $other->data_dir . '/widecol' or die $!;
	rename "$aside/widecol", $dir or die $!;
});
$node->stop('fast');

# --- a new start, once ----------------------------------------------------------------
rename $dir, "$aside/lost" or die $!;
$id = store_id();
$node->append_conf('postgresql.conf', "widecol.new_store = '$id'");
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM widecol.tables'), '0', 'a store that was given up begins empty');
$node->safe_psql('postgres', q{
DROP FOREIGN TABLE t;
CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO t VALUES (1, 'new');
});
$node->restart;
is($node->safe_psql('postgres', $count), '1|1', 'and stays');
$all = '1|1';
refused('directory missing, and an old word', sub { rename $dir, "$aside/widecol" or die $! }, 'does not exist',
	sub { rename "$aside/widecol", $dir or die $! });

# The rows of a large commit become a file that the store takes in.
my $from = -s $node->logfile;
$node->safe_psql('postgres', q{
CREATE FOREIGN TABLE large (k int OPTIONS (rowkey '1'), v text) SERVER widecol;
INSERT INTO large SELECT i, repeat(md5(i::text), 40) FROM generate_series(1, 12000) i;
});
is($node->safe_psql('postgres', 'SELECT count(*) FROM large'), '12000', 'a large commit is there');
$node->restart;
is($node->safe_psql('postgres', 'SELECT count(*) FROM large'), '12000', 'and stays');
unlike(slurp_file($node->logfile, $from), qr/WARNING:  RocksDB/, 'of which RocksDB does not warn');

$node->stop('fast');
done_testing();
