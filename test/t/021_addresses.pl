# A host with several addresses: each of them has the whole time of the server's option connect_timeout.  Two ports answer
# no request for a connection, as if they were behind a firewall; the second one does when it has been asked.  No HBase is
# needed: the test ends when something answers.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use IO::Select;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Socket;
use Test::More;
use Time::HiRes qw(usleep);
use WidecolEngine;

my @addresses = ('127.0.0.2', '127.0.0.3');
my $port = 0;

# A socket that listens, and one whose connection fills the listener's queue: Linux drops further requests.
sub silent_port
{
	my ($address) = @_;
	socket(my $listener, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
	bind($listener, pack_sockaddr_in($port, inet_aton($address))) or die "bind: $!";
	listen($listener, 0) or die "listen: $!";
	$port = (unpack_sockaddr_in(getsockname($listener)))[0];
	socket(my $filler, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
	connect($filler, getsockname($listener)) or die "connect: $!";
	return ($listener, $filler);
}
my ($first, $first_filler) = silent_port($addresses[0]);
my ($second, $second_filler) = silent_port($addresses[1]);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'widecol'");
{
	local $ENV{LD_PRELOAD} = preload_library('addresses');
	local $ENV{WIDECOL_ADDRESSES} = "@addresses";
	$node->start;
}
$node->safe_psql('postgres', qq{
CREATE EXTENSION widecol;
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host 'several.test', port '$port', connect_timeout '3');
});

# Does a request for a connection with the address wait for an answer?
sub is_asked
{
	my ($address) = @_;
	my $remote = sprintf '%08X:%04X 02', unpack('L', inet_aton($address)), $port;
	return scalar grep { / $remote / } split /\n/, slurp_file('/proc/net/tcp');
}

my ($out, $err) = ('', '');
my $psql = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'),
	'-c', "CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1')) SERVER hbase" ], '<', '/dev/null', '>', \$out, '2>', \$err);
usleep(20_000) while $psql->pumpable && ($psql->pump_nb || 1) && !is_asked($addresses[1]);
if ($psql->pumpable)
{
	# that of the filler, then the session's, which is asked for once more
	foreach (1 .. 2)
	{
		IO::Select->new($second)->can_read($PostgreSQL::Test::Utils::timeout_default) or last;
		accept(my $connection, $second) or die "accept: $!";
		syswrite($connection, "no gateway\n" x 10);
	}
}
$psql->finish;
like($err, qr/what answers at several\.test:$port is not a Thrift2 gateway/, 'the second address is tried when the first one does not answer');

$node->stop;
done_testing();
