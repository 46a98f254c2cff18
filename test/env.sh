# test/env.sh: what the commands in this folder share; sourced, POSIX sh.
#
# Sets top (the checkout), PG_CONFIG, bindir; gives say, die, as_user and
# pick_user.  Nothing is changed on the machine.

[ -n "${top:-}" ] || top=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
until [ -f "$top/widecol.control" ] || [ "$top" = / ]; do
	top=$(dirname "$top")
done

# No user's or service's settings, and one language everybody has.
unset PGHOST PGHOSTADDR PGPORT PGUSER PGDATABASE PGDATA PGOPTIONS PGSERVICE PGSERVICEFILE PGPASSFILE PGPASSWORD \
	PGCLIENTENCODING PGTZ PGDATESTYLE PGAPPNAME PGSSLMODE PGTARGETSESSIONATTRS PSQLRC PG_COLOR MAKEFLAGS MAKELEVEL MFLAGS
LC_ALL=C.UTF-8
LANG=C.UTF-8					# PostgreSQL::Test::Utils forgets LC_ALL
export LC_ALL LANG

say()
{
	printf '%s\n' "== $*"
}

die()
{
	printf '%s\n' "$0: $*" >&2
	exit 1
}

# A pg_config that belongs to a server that is here with its header files.
is_server()
{
	[ -x "$1" ] && [ -f "$("$1" --includedir-server)/postgres.h" ] && [ -x "$("$1" --bindir)/postgres" ]
}

# The server to build for: PG_CONFIG when it is set, else the first version that
# is here, 15 before others.  Fails when there is none.
find_pg_config()
{
	if [ -n "${PG_CONFIG:-}" ]; then
		candidate=$(command -v "$PG_CONFIG") || die "PG_CONFIG=$PG_CONFIG: there is no such program"
		is_server "$candidate" || die "PG_CONFIG=$PG_CONFIG belongs to no server with header files"
		PG_CONFIG=$candidate
	else
		for candidate in /usr/lib/postgresql/15/bin/pg_config /usr/lib/postgresql/1[678]/bin/pg_config \
			/usr/pgsql-1[5678]/bin/pg_config "$(command -v pg_config)"; do
			if is_server "$candidate"; then
				PG_CONFIG=$candidate
				break
			fi
		done
		[ -n "${PG_CONFIG:-}" ] || return 1
	fi
	export PG_CONFIG
	bindir=$("$PG_CONFIG" --bindir)
}

# PostgreSQL does not run as root: its part is done as another user then.
pick_user()
{
	run_user=
	[ "$(id -u)" = 0 ] || return 0
	run_user=${WIDECOL_USER:-postgres}
	if ! id "$run_user" >/dev/null 2>&1; then
		say "creating the system user $run_user"
		useradd --system --shell /bin/sh --home-dir /nonexistent "$run_user" || die "cannot create the user $run_user"
	fi
}

# Runs a command as that user (as ourselves when we are not root).
as_user()
{
	if [ -z "$run_user" ]; then
		"$@"
	elif command -v runuser >/dev/null 2>&1; then
		runuser -u "$run_user" -- env HOME=/nonexistent "$@"
	elif command -v setpriv >/dev/null 2>&1; then
		setpriv --reuid="$run_user" --regid="$(id -g "$run_user")" --init-groups env HOME=/nonexistent "$@"
	else
		die "running PostgreSQL as $run_user needs runuser or setpriv (package util-linux)"
	fi
}

# --- building and installing ----------------------------------------------------
# The folder of make's output: each server version has its own.
build_dir=build

# Both print the end of make's output only when it fails.

build_target()					# target of the Makefile
{
	build_log=$(mktemp) || return 1
	if make -C "$top" -j"$(getconf _NPROCESSORS_ONLN)" BUILD="$build_dir" PG_CONFIG="$PG_CONFIG" CC="${CC:-gcc}" "$1" >"$build_log" 2>&1 </dev/null; then
		rm -f "$build_log"
		return 0
	fi
	grep -nE 'error:|Error |undefined reference|warning:' "$build_log" | head -n 40
	tail -n 15 "$build_log"
	rm -f "$build_log"
	return 1
}

# Into PostgreSQL's directories; with sudo if they are not writable (sudo -n if there is
# no terminal for a password).  Nothing is done if the installed files are the same.
install_extension()
{
	libdir=$("$PG_CONFIG" --pkglibdir)
	extdir=$("$PG_CONFIG" --sharedir)/extension
	same=yes
	for file in widecol.so widecol_engine.so widecol_hbase.so; do
		cmp -s "$top/$build_dir/$file" "$libdir/$file" || same=no
	done
	for file in widecol.control widecol--1.0.sql; do
		cmp -s "$top/$file" "$extdir/$file" || same=no
	done
	[ $same = no ] || return 0
	say "installing the extension into $libdir"
	if [ -w "$libdir" ] && [ -w "$extdir" ]; then
		build_target install
		return
	fi
	ask=
	[ -t 0 ] || ask=-n
	if ! command -v sudo >/dev/null 2>&1 || ! sudo $ask true; then
		say "no permission to write $libdir and $extdir: run this, or make install, as root"
		return 1
	fi
	sudo make -C "$top" BUILD="$build_dir" PG_CONFIG="$PG_CONFIG" CC="${CC:-gcc}" install >/dev/null </dev/null
}

# --- a private server -----------------------------------------------------------
# private_server DIR: PostgreSQL once more, below DIR, with the extension that is built here
# in it.  Programs find their files relative to themselves, so they are copies; the
# files are links to the installed ones.  Sets bindir.  Nothing outside DIR is changed.
private_server()
{
	libdir=$("$PG_CONFIG" --pkglibdir)
	sharedir=$("$PG_CONFIG" --sharedir)
	mkdir -p "$1$bindir" "$1$libdir" "$1$sharedir/extension" || return 1
	for program in postgres initdb pg_ctl psql pg_dump pg_restore pg_config; do
		[ ! -x "$bindir/$program" ] || cp -L "$bindir/$program" "$1$bindir/" || return 1
	done
	link_all "$libdir" "$1$libdir" && link_all "$sharedir" "$1$sharedir" &&
		link_all "$sharedir/extension" "$1$sharedir/extension" &&
		cp "$top/build/widecol.so" "$top/build/widecol_engine.so" "$top/build/widecol_hbase.so" "$1$libdir/" &&
		cp "$top/widecol.control" "$top/widecol--1.0.sql" "$1$sharedir/extension/" || return 1
	bindir=$1$bindir
}

# Links all files in FROM, except those of another widecol, and those that are in TO already.
link_all()						# FROM, TO
{
	for file in "$1"/*; do
		case $(basename "$file") in
		widecol | widecol.* | widecol_engine.* | widecol_hbase.* | widecol--*) continue ;;
		esac
		[ -e "$2/$(basename "$file")" ] || ln -s "$file" "$2/" || return 1
	done
}

# --- a private cluster: data in DIR/data, socket in DIR, log in DIR/server.log ------

# Runs as the server's user, which may not be able to enter our directory.
in_dir()
{
	( cd "$1" && shift && as_user "$@" )
}

# start_cluster DIR PORT: makes and starts it; further settings from standard input.
start_cluster()
{
	[ -z "$run_user" ] || chown -R "$run_user" "$1"
	if ! in_dir "$1" "$bindir/initdb" -D "$1/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 -N >"$1/initdb.log" 2>&1 </dev/null; then
		tail -n 15 "$1/initdb.log"
		return 1
	fi
	settings=$(cat)
	cat >>"$1/data/postgresql.conf" <<CONF
shared_preload_libraries = 'widecol'
listen_addresses = ''
unix_socket_directories = '$1'
port = $2
$settings
CONF
	if ! in_dir "$1" "$bindir/pg_ctl" -D "$1/data" -l "$1/server.log" -w -t 60 -s start >"$1/start.log" 2>&1 </dev/null; then
		cat "$1/start.log"
		tail -n 40 "$1/server.log"
		return 1
	fi
}

stop_cluster()					# DIR, mode
{
	[ ! -f "$1/data/postmaster.pid" ] || in_dir "$1" "$bindir/pg_ctl" -D "$1/data" -m "$2" -w -t 60 -s stop </dev/null
}
