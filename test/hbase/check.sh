#!/bin/sh
# test/hbase/check.sh: foreign tables over a real HBase, on temporary servers of both kinds.
#
# Status 77, and a TAP line that says why, when HBase cannot be had (no JDK, no Maven, no jars).
# An HBase that runs already, of HBASE_FIXTURE_DIR, is used and left running.
#
#   WIDECOL_ONLY="reads"      only these of test/hbase/sql
#   WIDECOL_KEEP=1            keep the temporary directory, and name it
set -u
. "$(dirname -- "$0")/../env.sh"

cd "$top" || exit 1
find_pg_config || die "no PostgreSQL with header files found"
pick_user
pgxs=$(dirname "$(dirname "$(dirname "$("$PG_CONFIG" --pgxs)")")")
here=$top/test/hbase

tmp=$(mktemp -d "/tmp/whXXXXXX") || exit 1
silent=
started=no
[ -n "${HBASE_FIXTURE_DIR:-}" ] || { HBASE_FIXTURE_DIR=$tmp/hbase; export HBASE_FIXTURE_DIR; }

finish()
{
	status=$?
	trap - EXIT
	for pid in $silent $(cat "$tmp"/kerberos/*.pid 2>/dev/null); do
		kill "$pid" 2>/dev/null
	done
	stop_cluster "$tmp" immediate >/dev/null 2>&1
	[ $started = no ] || bash "$here/hbase.sh" stop
	if [ -n "${WIDECOL_KEEP:-}" ]; then
		say "kept: $tmp"
	else
		rm -rf "$tmp"
	fi
	exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

if ! bash "$here/hbase.sh" status >/dev/null 2>&1; then
	started=yes
	HBASE_FIXTURE_SERVERS=${HBASE_FIXTURE_SERVERS:-2} bash "$here/hbase.sh" start >"$tmp/start.log" 2>&1
	status=$?
	if [ $status = 77 ]; then
		echo "1..0 # SKIP $(tail -n 1 "$tmp/start.log")"
		exit 77
	fi
	[ $status = 0 ] || { cat "$tmp/start.log"; exit 1; }
fi
. "$HBASE_FIXTURE_DIR/env"
[ -n "${HBASE_THRIFT_HTTP:-}" ] || die "the HBase that runs has no gateway of kind http"

say "the interface"
python3 "$here/idl.py" "$top/src/thrift/idl.h" "${HBASE_FIXTURE_JARS:-${XDG_CACHE_HOME:-$HOME/.cache}/hbase-fixture-2.6.1}" || exit 1

# The tests run as the server's user, which may not be able to read this tree.
mkdir -p "$tmp/work/out" "$tmp/work/hbase"
cp -R "$here/sql" "$here/expected" "$here"/*.py "$top/test/differential" "$top/test/conformance" "$tmp/work/"
sh "$here/certificates.sh" "$tmp/work/certificates" >"$tmp/openssl.log" 2>&1 || { cat "$tmp/openssl.log"; die "openssl cannot make certificates"; }
cp "$here/gateway.py" "$here/conformance.py" "$tmp/work/hbase/"
python3 "$here/silent.py" >"$tmp/silent" &
silent=$!
tries=0
until [ -s "$tmp/silent" ] || [ $tries -ge 100 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
chmod 755 "$tmp"
kerberos=
if words=$(sh "$here/kerberos.sh" "$tmp/kerberos" "$HBASE_THRIFT_HTTP"); then
	# shellcheck disable=SC2086 # a list of words
	export $words
	kerberos=kerberos
else
	say "Kerberos is not tried: $words"
fi
private_server "$tmp/pg" || die "cannot make a private server"
start_cluster "$tmp" 5434 <<CONF || exit 1
fsync = off
log_line_prefix = '%m [%p] %q%a '
CONF
[ -z "$run_user" ] || chown -R "$run_user" "$tmp/work"

# gateway PORT TRANSPORT PROTOCOL COMMAND...: with the settings of such a gateway, as the server's user
gateway()
{
	port=$1
	transport=$2
	protocol=$3
	shift 3
	in_dir "$tmp/work" env PATH="$bindir:$PATH" PGHOST="$tmp" PGPORT=5434 PGUSER=postgres PGDATABASE=postgres \
		HBASE_GATEWAY="$port" HBASE_TRANSPORT="$transport" HBASE_PROTOCOL="$protocol" \
		HBASE_BUFFERED="$HBASE_THRIFT_BUFFERED_BINARY" HBASE_FRAMED="$HBASE_THRIFT_FRAMED_COMPACT" \
		HBASE_HTTP="$HBASE_THRIFT_HTTP" HBASE_CERTIFICATES="$tmp/work/certificates" \
		HBASE_SILENT="$(cat "$tmp/silent")" HBASE_CONTROL="$HBASE_CONTROL" "$@"
}

# regress PORT TRANSPORT PROTOCOL TEST...
regress()
{
	port=$1
	transport=$2
	protocol=$3
	shift 3
	say "$transport, $protocol: $*"
	if ! gateway "$port" "$transport" "$protocol" \
		"$pgxs/src/test/regress/pg_regress" --bindir="$bindir" --inputdir=. --outputdir=out \
		--dbname=hbase_regression --load-extension=widecol --encoding=UTF8 --no-locale "$@"; then
		head -n 200 "$tmp/work/out/regression.diffs"
		failed=1
	fi
}

failed=0
# shellcheck disable=SC2086 # a list of words
regress "$HBASE_THRIFT_BUFFERED_BINARY" buffered binary ${WIDECOL_ONLY:-reads analyze joins async buckets cells catalog refusals functions tables writes writecells writelocks cases writefail stream failures failwrites http $kerberos}
if [ -z "${WIDECOL_ONLY:-}" ]; then
	say "the conformance cases"
	gateway "$HBASE_THRIFT_BUFFERED_BINARY" buffered binary python3 -B hbase/conformance.py || failed=1
	say "filters"
	gateway "$HBASE_THRIFT_BUFFERED_BINARY" buffered binary \
		python3 -B conformance/filters.py --hbase "$HBASE_THRIFT_BUFFERED_BINARY" || failed=1
	say "random statements, beside heap tables"
	gateway "$HBASE_THRIFT_BUFFERED_BINARY" buffered binary \
		python3 -B differential/run.py --hbase "$HBASE_THRIFT_BUFFERED_BINARY" --seed 1 --count 5 --cases 50 || failed=1
fi
[ -n "${WIDECOL_ONLY:-}" ] || regress "$HBASE_THRIFT_FRAMED_COMPACT" framed compact reads buckets cells catalog functions writes writecells
[ -n "${WIDECOL_ONLY:-}" ] || regress "$HBASE_THRIFT_HTTP" http binary buckets cells writecells
exit $failed
