# test/env.sh: what the commands in this folder share; sourced, POSIX sh.
#
# Sets top (the checkout), PG_CONFIG, bindir; gives say, die, as_user and
# pick_user.  Nothing is changed on the machine.

top=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)

# No user's or service's settings, and one language everybody has.
unset PGHOST PGHOSTADDR PGPORT PGUSER PGDATABASE PGDATA PGOPTIONS PGSERVICE PGSERVICEFILE PGPASSFILE PGPASSWORD \
	PGCLIENTENCODING PGTZ PGDATESTYLE PGAPPNAME PGSSLMODE PGTARGETSESSIONATTRS PSQLRC PG_COLOR MAKEFLAGS MAKELEVEL MFLAGS
LC_ALL=C.UTF-8
export LC_ALL

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
