#!/bin/sh
# test/demo.sh [stop]: a private PostgreSQL with widecol and the game platform's
# tables in it, from nothing: builds, makes the cluster, loads, asks the four
# questions.  Each run starts from clean.
#
# Missing packages of the system are installed, which it reports; nothing else is
# changed outside of the demo's directory.  The extension
# goes into a copy of the server there, so that a widecol that is installed
# already is not changed.
#
#   WIDECOL_DEMO_DIR    where the cluster lives (as root: /var/lib/widecol-demo,
#                       else demo/ in the checkout)
#   WIDECOL_DEMO_PORT   its port, 5544 (only a name for the socket: it does not
#                       listen on the network)
#   WIDECOL_USER        as root: the user who runs it (postgres)
set -u
. "$(dirname -- "$0")/env.sh"

port=${WIDECOL_DEMO_PORT:-5544}
mark=widecol-demo				# the file that says that the directory is ours to remove
chunks=10

# A socket's path is short, and the psql line should need no quotes.
demo_directory()
{
	if [ -n "${WIDECOL_DEMO_DIR:-}" ]; then
		case $WIDECOL_DEMO_DIR in
		/*) dir=$WIDECOL_DEMO_DIR ;;
		*) dir=$(pwd)/$WIDECOL_DEMO_DIR ;;
		esac
	elif [ "$(id -u)" = 0 ]; then
		dir=/var/lib/widecol-demo
	else
		dir=$top/demo
		case $dir in
		*[!A-Za-z0-9/._-]*) dir=/tmp/widecol-demo-$(id -u) ;;
		esac
		[ ${#dir} -le 80 ] || dir=/tmp/widecol-demo-$(id -u)
	fi
	case $dir in
	*[!A-Za-z0-9/._-]*) die "$dir: use a directory of letters, digits, / . _ - for WIDECOL_DEMO_DIR" ;;
	esac
	[ ${#dir} -le 80 ] || die "$dir: too long for a Unix socket, set WIDECOL_DEMO_DIR"
}

demo_directory

if [ "${1:-}" = stop ]; then
	find_pg_config || die "no PostgreSQL found"
	pick_user
	[ -f "$dir/$mark" ] || die "there is no demo in $dir"
	if [ ! -f "$dir/data/postmaster.pid" ]; then
		say "the demo in $dir is not running"
		exit 0
	fi
	stop_cluster "$dir" fast || die "it does not stop, see $dir/server.log"
	say "stopped; its files are in $dir (the next run removes them)"
	exit 0
fi
[ $# = 0 ] || die "usage: sh test/demo.sh [stop]"

sh "$top/test/install.sh" demo || exit 1
find_pg_config || die "no PostgreSQL with header files found"
pick_user

say "building for $("$PG_CONFIG" --version)"
build_target all || die "the build failed"

# --- a cluster of its own ---------------------------------------------------------
if [ -e "$dir" ]; then
	if [ -f "$dir/$mark" ]; then
		say "removing the demo before this one"
		stop_cluster "$dir" immediate
		rm -rf "$dir"
	elif ! rmdir "$dir" 2>/dev/null; then
		die "$dir is there and is not a demo's: remove it, or set WIDECOL_DEMO_DIR"
	fi
fi
mkdir -p "$dir" && chmod 700 "$dir" || die "cannot make $dir"
echo "made by test/demo.sh, which removes it" >"$dir/$mark"
[ -z "$run_user" ] || chown "$run_user" "$dir"
in_dir / test -w "$dir" || {
	rm -rf "$dir"
	die "$run_user cannot reach $dir: set WIDECOL_DEMO_DIR"
}
private_server "$dir/server" || die "cannot make a private copy of the server in $dir/server"

say "making and starting a private cluster in $dir"
start_cluster "$dir" "$port" </dev/null || die "the server does not start"

psql=$bindir/psql
query()
{
	"$psql" -X -q -v ON_ERROR_STOP=1 -h "$dir" -p "$port" -U postgres "$@" </dev/null
}

# --- the game platform ------------------------------------------------------------
query -d postgres -c 'CREATE DATABASE demo' || die "cannot make the database"
say "making the tables, with the rows of the book"
query -d demo -f "$top/test/demo/tables.sql" || die "the tables failed, see $dir/server.log"
say "loading generated plays, wide, tall and hashed"
chunk=0
while [ $chunk -lt $chunks ]; do
	query -d demo -v chunk=$chunk -v chunks=$chunks -f "$top/test/demo/load.sql" || die "loading failed, see $dir/server.log"
	chunk=$((chunk + 1))
	echo "   $((chunk * 100 / chunks)) %"
done
say "the four questions"
query -d demo -f "$top/test/demo/questions.sql" || die "the questions failed, see $dir/server.log"

# The settings with which the demo was started, for the command that stops it.
settings=
[ -z "${WIDECOL_DEMO_DIR:-}" ] || settings="WIDECOL_DEMO_DIR=$dir "
[ -z "${WIDECOL_USER:-}" ] || settings="${settings}WIDECOL_USER=$WIDECOL_USER "
script=$0
case $script in
*[!A-Za-z0-9/._-]*) script="'$(printf '%s\n' "$script" | sed "s/'/'\\\\''/g")'" ;;
esac

# Debian's psql is in the path; another's may not be.
client=psql
command -v psql >/dev/null 2>&1 || client=$psql
cat <<END

The demo is running.  Connect:

  $client -h $dir -p $port -U postgres demo

Stop it:

  ${settings}sh $script stop
END
