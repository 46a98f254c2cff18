#!/bin/sh
# test/bench/bench.sh [--rows N] [--rounds N] [--seconds N]: widecol beside a heap
# table, on a private server that it makes and removes.  bench.sh joins [--rounds N]
# [--scale F]: joins of many tables; bench.sh changes [--rows N] [--rounds N] [--seconds N]:
# UPDATE, DELETE, row locks, TPC-B; bench.sh groups [--rows N] [--rounds N]: counts, sums, groups,
# conditions on members of maps; bench.sh ycsb [--rows N] [--rounds N] [--seconds N] [--cold]: YCSB's workloads;
# bench.sh maps [--rows N] [--rounds N] [--seconds N] [--packing P]: maps beside jsonb and an
# entity-attribute-value table; bench.sh hbase [--rows N] [--rounds N] [--seconds N]: tables of an HBase beside its Java
# clients.  README.md explains the output.
# RATIOS=FILE in the environment: the ratios are appended to FILE, for plot.sh.
set -u
script=bench.py
[ "${1-}" = joins ] && script=joins.py && shift
[ "${1-}" = changes ] && script=changes.py && shift
[ "${1-}" = groups ] && script=groups.py && shift
[ "${1-}" = ycsb ] && script=ycsb.py && shift
[ "${1-}" = maps ] && script=maps.py && shift
[ "${1-}" = hbase ] && script=hbase.py && shift
top=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
. "$top/test/env.sh"

sh "$top/test/install.sh" check || exit 1
find_pg_config || die "no PostgreSQL with header files found"
pick_user
build_target all || die "the build failed"
install_extension || die "the extension could not be installed"

tmp=$(mktemp -d /tmp/wcXXXXXX) || exit 1
finish()
{
	status=$?
	trap - EXIT
	[ -z "${HBASE_FIXTURE_DIR:-}" ] || bash "$top/test/hbase/hbase.sh" stop
	[ -z "${RATIOS:-}" ] || [ ! -s "$tmp/ratios.tsv" ] || cat "$tmp/ratios.tsv" >>"$RATIOS"
	stop_cluster "$tmp" fast >/dev/null 2>&1
	rm -rf "$tmp"
	exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Both sides get room: neither is measured while it reads from disk.
start_cluster "$tmp" 5433 <<CONF || die "the server does not start"
shared_buffers = 2GB
max_wal_size = 8GB
checkpoint_timeout = 30min
widecol.block_cache_size = 2GB
widecol.get_cache_size = 1GB
widecol.range_cache_size = 512MB
autovacuum = off
jit = off
CONF
cp "$top"/test/bench/*.py "$tmp/"

if [ $script = hbase.py ]; then
	# HBase and its client compile what they run often, as they do in production
	HBASE_FIXTURE_DIR=$tmp/hbase HBASE_FIXTURE_TIER=4 HBASE_FIXTURE_GATEWAYS=0:buffered-binary
	export HBASE_FIXTURE_DIR HBASE_FIXTURE_TIER HBASE_FIXTURE_GATEWAYS
	bash "$top/test/hbase/hbase.sh" start >"$tmp/hbase.log" 2>&1 || { tail -n 5 "$tmp/hbase.log"; die "HBase does not start"; }
	. "$HBASE_FIXTURE_DIR/env"
	jars=${HBASE_FIXTURE_JARS:-${XDG_CACHE_HOME:-$HOME/.cache}/hbase-fixture-2.6.1}
	mkdir "$tmp/java"
	javac -nowarn -cp "$jars/*" -d "$tmp/java" "$top/test/bench/HBaseBench.java" || die "HBaseBench.java does not compile"
	export PATH="$bindir:$PATH" PGHOST="$tmp" PGPORT=5433 PGUSER=postgres PGDATABASE=postgres TMPDIR="$tmp"
	export HBASE_CLASSES="$tmp/java" HBASE_JAVA="$top/test/hbase/hbase.sh" HBASE_GATEWAY="$HBASE_THRIFT_BUFFERED_BINARY" HBASE_ZOOKEEPER
	psql -X -q -c "CREATE EXTENSION widecol" && python3 -B "$top/test/bench/hbase.py" "$@" </dev/null
	exit
fi
in_dir "$tmp" env PATH="$bindir:$PATH" PGHOST="$tmp" PGPORT=5433 PGUSER=postgres PGDATABASE=postgres TMPDIR="$tmp" \
	sh -c 'psql -X -q -c "CREATE EXTENSION widecol" && exec python3 "$0" "$@"' "$script" "$@" </dev/null
