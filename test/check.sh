#!/bin/sh
# test/check.sh [--hbase | --all]: runs the quick tests (--hbase: and those over a real
# HBase, --all: and the long ones) on a temporary server that it makes and removes.
#
# Installs missing packages (test/install.sh), builds, checks the tree
# (test/lint.sh, test/threads.sh), runs core's unit tests under ASan+UBSan and under TSan, installs
# the extension, and runs pg_regress, isolation specs, pgTAP stories, TAP tests,
# the conformance cases, and random statements and histories beside a heap copy.  As root
# PostgreSQL's part runs as another user (WIDECOL_USER, else postgres).  --all does that
# part once more on a PostgreSQL with assertions, which it builds (test/cassert.sh), and some
# of it on one that forgets its caches at every chance, and on PostgreSQL 17 in a chroot of Debian 13
# where one can be made (test/pg17.sh).  Where no HBase can be had, its tests are
# skipped, which is said before the last line.  Goes on after failures; the last
# line is "N passed, N failed", the status 1 when a test failed or none ran.
#
#   WIDECOL_ONLY="lint regress"   only these steps (lint asan tsan regress
#                                 isolation pgtap tap conformance differential;
#                                 with --hbase: hbase; with --all: hbase model fuzz pg17
#                                 assertions caches)
#   WIDECOL_KEEP=1                keep the temporary directory, and name it
set -u
. "$(dirname -- "$0")/env.sh"

all=no
hbase=no
case ${1:-} in
--hbase) hbase=yes ;;
--all) all=yes hbase=yes ;;
'') ;;
*) die "usage: sh test/check.sh [--hbase | --all]" ;;
esac

passed=0
failed=0
failures=
skipped=
hbase_pid=						# of the tests over HBase, while they run
started=$(date +%s)

cd "$top" || exit 1
sh test/install.sh "$([ $all = yes ] && echo check-all || echo check)" || exit 1
find_pg_config || die "no PostgreSQL with header files found"
pick_user
find_pgxs()
{
	pgxs=$(dirname "$(dirname "$(dirname "$("$PG_CONFIG" --pgxs)")")")
}
find_pgxs

# Short, since a Unix socket's path has about 100 bytes.
tmp=$(mktemp -d "/tmp/wcXXXXXX") || exit 1
logs=$tmp/log
mkdir "$logs"

# Which server: plain, assertions, or caches (assertions, and no cache lives long).
pass=plain
server=$tmp/s
work=$server/work				# a copy of the tests, for the server's user
mkdir -p "$work"

finish()
{
	status=$?
	trap - EXIT
	[ -z "$hbase_pid" ] || kill "$hbase_pid" 2>/dev/null
	stop_cluster "$server" immediate >/dev/null 2>&1
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

wanted()
{
	[ -z "${WIDECOL_ONLY:-}" ] && return 0
	case " $WIDECOL_ONLY " in *" $1 "*) return 0 ;; esac
	return 1
}

# count NAME LOG STATUS: adds up what a log in TAP (or pg_regress's words before
# PostgreSQL 16) says.  Planned tests that did not run, and a bad status
# without a failed test, are failures.
count()
{
	counts=$(awk -v status="$3" '
		/^ok [0-9]+/ || /^(test|    ) *[^ ]+ +\.\.\. +ok( |$)/ { ok++ }
		/^not ok [0-9]+/ { if ($0 ~ /# TODO/) ok++; else bad++ }
		/^(test|    ) *[^ ]+ +\.\.\. +FAILED/ { bad++ }
		/^1\.\.[0-9]+/ { plan += substr($1, 4) }
		/^1\.\.0 # *[Ss][Kk][Ii][Pp]/ { skipped = 1 }
		END {
			if (plan > ok + bad) bad += plan - ok - bad
			if (status != 0 && !bad) bad = 1
			if (!ok && !bad && !skipped) bad = 1
			print ok + 0, bad + 0
		}' "$2")
	ok=${counts% *}
	bad=${counts#* }
	passed=$((passed + ok))
	failed=$((failed + bad))
	if [ "$bad" -eq 0 ]; then
		say "$1: $ok passed"
		return 0
	fi
	failures="$failures
  $1: $bad failed"
	say "$1: $ok passed, $bad failed (status $3)"
	grep -E '^not ok |\.\.\. +FAILED' "$2" | head -n 40
	echo "--- the end of its log:"
	tail -n "${4:-40}" "$2"
	echo "---"
	return 1
}

# run SECONDS NAME COMMAND...: a test program, with its log and a limit.
run()
{
	seconds=$1
	label=$2
	shift 2
	if [ $pass != plain ]; then
		label="$label ($pass)"
		seconds=$((seconds * 3))
	fi
	log=$logs/$(printf '%s' "$label" | tr '/ ' '__').log
	"$@" </dev/null >"$log" 2>&1
	count "$label" "$log" $?
}

fail()							# a step that could not be done at all
{
	failed=$((failed + 1))
	failures="$failures
  $*"
	say "FAILED: $*"
}

build()							# target, words for it
{
	say "building: $2"
	build_target "$1" && return 0
	fail "build: make $1"
	return 1
}

# --- the tree and core --------------------------------------------------------
built=no
build all "the modules" && built=yes

if wanted lint && [ $built = yes ]; then
	run 300 lint sh test/lint.sh
	run 300 threads sh test/threads.sh
fi

for sanitizer in asan tsan; do
	if wanted $sanitizer && build unit-$sanitizer-build "unit tests ($sanitizer)"; then
		mkdir -p "$tmp/unit"
		fewer=
		[ $sanitizer = tsan ] && fewer=WC_MODEL_PART=4	# one thread: nothing new there
		unit_logs=$logs/$sanitizer
		mkdir -p "$unit_logs"
		# One a core, the longest (test/model) first; their logs are counted in turn.
		xargs -P "$(nproc)" -I '{}' sh -c '
			test=$(basename "$4")
			env TMPDIR="$1" $2 sh test/unit.sh "build/$3" "$test" </dev/null >"$5/$test.log" 2>&1
			echo $? >"$5/$test.status"' sh "$tmp/unit" "$fewer" "$sanitizer" '{}' "$unit_logs" <"build/$sanitizer/tests"
		while read -r program; do
			test=$(basename "$program")
			count "$sanitizer $test" "$unit_logs/$test.log" "$(cat "$unit_logs/$test.status")"
		done <build/$sanitizer/tests
	fi
done

# --- foreign tables over HBase ---------------------------------------------------
# Java, Maven and its registry are not everywhere: then test/hbase/check.sh says what it misses.
# These tests have a server of their own, and mostly wait for HBase: they run beside the first steps of the other server.
begin_hbase()
{
	say "tests over HBase, meanwhile"
	(
		sh test/install.sh hbase
		exec timeout -k 30 900 env -u WIDECOL_ONLY sh -c 'sh test/hbase/check.sh; status=$?; [ $status = 77 ] || exit $status'
	) </dev/null >"$logs/HBase.log" 2>&1 &
	hbase_pid=$!
}

end_hbase()
{
	[ -n "$hbase_pid" ] || return 0
	wait "$hbase_pid"
	count HBase "$logs/HBase.log" $?
	hbase_pid=
	reason=$(sed -n 's/.*# SKIP //p' "$logs/HBase.log")
	[ -z "$reason" ] || skipped="$skipped
  HBase: $reason"
}

# --- a server with the extension ----------------------------------------------
server_steps="regress isolation pgtap tap conformance differential"

needs_server()
{
	for step in $server_steps; do
		wanted "$step" && return 0
	done
	return 1
}

# Without upkeep, or on a slow machine it would forget what a test has just deleted, or what has expired for a moment.
start_server()
{
	say "starting a temporary server ($("$PG_CONFIG" --version))"
	[ -z "$run_user" ] || chown -R "$run_user" "$tmp"
	start_cluster "$server" 5433 <<CONF
fsync = off
max_prepared_transactions = 4
widecol.upkeep = 0
log_min_messages = info
log_line_prefix = '%m [%p] %q%a '
$(cat)
CONF
}

# Did it survive?  A crash is a failure even when every test passed.
watch_server()
{
	crashes=$(grep -cE 'was terminated by signal|PANIC:|TRAP:' "$server/server.log")
	if [ "$crashes" -gt "${crashes_before:-0}" ]; then
		grep -nE -B3 -A3 'was terminated by signal|PANIC:|TRAP:' "$server/server.log" | tail -n 40
		fail "the server crashed during $1"
		tries=0
		until in_work pg_isready -q || [ $tries -ge 60 ]; do
			tries=$((tries + 1))
			sleep 1
		done
	fi
	crashes_before=$crashes
}

in_work()						# runs in the copy of the tests, as the server's user
{
	in_dir "$work" env PATH="$bindir:$PATH" PGHOST="$server" PGPORT=5433 PGUSER=postgres "$@"
}

bounded()						# the same with the limit of run()
{
	in_work timeout --foreground -k 10 "$seconds" "$@"
}

regress()						# schedule, seconds
{
	cp -R sql expected "$work"/
	mkdir -p "$work/regress" "$work/test"
	cp "test/$1" "$work/test/"
	[ -n "$run_user" ] && chown -R "$run_user" "$work"
	if ! run "$2" regress bounded "$pgxs/src/test/regress/pg_regress" --bindir="$bindir" --inputdir=. --outputdir=regress \
		--dbname=contrib_regression --encoding=UTF8 --no-locale --schedule="test/$1"; then
		head -n 400 "$work/regress/regression.diffs" 2>/dev/null
	fi
	watch_server regress
}

# The specs heap_* say what a heap table does: they are run over one, too.
as_heap_specs()
{
	mkdir -p "$work/heap/specs" "$work/heap/expected" "$work/heapout"
	for spec in test/isolation/specs/heap_*.spec; do
		sed -E "s/CREATE FOREIGN TABLE/CREATE TABLE/; s/ OPTIONS \(rowkey '1'\)/ PRIMARY KEY/g; s/\) SERVER widecol[^;]*;/);/
			s/DROP FOREIGN TABLE/DROP TABLE/; /widecol\.drop_table/d" "$spec" >"$work/heap/specs/$(basename "$spec")"
	done
	cp test/isolation/expected/heap_*.out "$work/heap/expected/"
}

isolation()
{
	cp -R test/isolation "$work"/
	mkdir -p "$work/iso"
	as_heap_specs
	[ -n "$run_user" ] && chown -R "$run_user" "$work"
	specs=$(cd test/isolation/specs && ls *.spec | sed 's/\.spec$//')
	# shellcheck disable=SC2086 # a list of words
	if ! run 300 isolation bounded "$pgxs/src/test/isolation/pg_isolation_regress" --bindir="$bindir" --inputdir=isolation --outputdir=iso \
		--dbname=isolation_regression --load-extension=widecol $specs; then
		head -n 200 "$work/iso/regression.diffs" 2>/dev/null
	fi
	specs=$(cd "$work/heap/specs" && ls *.spec | sed 's/\.spec$//')
	# shellcheck disable=SC2086 # a list of words
	if ! run 300 "isolation of heap tables" bounded "$pgxs/src/test/isolation/pg_isolation_regress" --bindir="$bindir" --inputdir=heap \
		--outputdir=heapout --dbname=isolation_regression --load-extension=widecol $specs; then
		head -n 200 "$work/heapout/regression.diffs" 2>/dev/null
	fi
	watch_server isolation
}

pgtap()
{
	for file in test/*.sql; do
		name=$(basename "$file" .sql)
		cp "$file" "$work/"
		if ! in_work createdb -T template0 "tap_$name" >"$logs/createdb.log" 2>&1; then
			cat "$logs/createdb.log"
			fail "pgtap $name: createdb"
			continue
		fi
		run 300 "pgtap $name" bounded pg_prove -v -d "tap_$name" "$name.sql"
		watch_server "pgtap $name"
	done
}

# prove_one NAME: runs one of test/t, for as many seconds as $seconds says
prove_one()
{
	mkdir -p "$work/tap/$1"
	[ -n "$run_user" ] && chown "$run_user" "$work/tap/$1"
	bounded perl reap.pl env PERL5LIB="$pgxs/src/test/perl" TESTDIR="$work/tap/$1" \
		TESTDATADIR="$work/tap/$1/tmp_check" TESTLOGDIR="$work/tap/$1/tmp_check/log" \
		PG_REGRESS="$pgxs/src/test/regress/pg_regress" PG_TEST_TIMEOUT_DEFAULT=120 prove -v "tap/t/$1.pl"
}

tap_failed()					# NAME
{
	for node_log in "$work/tap/$1"/tmp_check/log/*; do
		[ -f "$node_log" ] && echo "--- $(basename "$node_log")" && tail -n 25 "$node_log"
	done
}

# Runs those of test/t that no other lane has begun, one after another.
tap_lane()
{
	for file in test/t/*.pl; do
		name=$(basename "$file" .pl)
		mkdir "$lanes/$name" 2>/dev/null || continue
		prove_one "$name" </dev/null >"$lanes/$name/log" 2>&1
		echo $? >"$lanes/$name/status"
	done
}

tap()
{
	mkdir -p "$work/tap"
	cp -R test/t "$work/tap/"
	cp -R test/reap.pl README.md doc "$work/"
	[ -n "$run_user" ] && chown -R "$run_user" "$work"
	# They wait more than they work, each for servers of its own: two at a time; their logs are counted in turn.
	suffix=
	seconds=600
	[ $pass = plain ] || { suffix=" ($pass)"; seconds=1800; }
	lanes=$logs/tap_$pass
	mkdir -p "$lanes"
	tap_lane &
	tap_lane &
	wait
	for file in test/t/*.pl; do
		name=$(basename "$file" .pl)
		count "tap $name$suffix" "$lanes/$name/log" "$(cat "$lanes/$name/status")" || tap_failed "$name"
	done
	[ $all = yes ] && [ $pass = plain ] || return 0
	WC_KILLS=200
	export WC_KILLS
	for name in 011_onelog 015_killpoints 017_powercut; do
		run 3600 "tap $name (long)" prove_one $name || tap_failed $name
	done
	unset WC_KILLS
}

conformance()
{
	cp -R test/conformance "$work"/
	[ -n "$run_user" ] && chown -R "$run_user" "$work"
	in_work createdb -T template0 conformance >"$logs/createdb.log" 2>&1 || cat "$logs/createdb.log"
	run 600 conformance bounded env PGDATABASE=conformance python3 conformance/run.py
	run 600 filters bounded env PGDATABASE=conformance python3 conformance/filters.py
	watch_server conformance
}

# About a minute of rounds, half a minute of histories and some seconds of programs, that are the same every time
# (another --seed, a larger --count: others), half an hour of new ones with --all.
differential()
{
	cp -R test/differential "$work"/
	[ -n "$run_user" ] && chown -R "$run_user" "$work"
	in_work createdb -T template0 differential >"$logs/createdb.log" 2>&1 || cat "$logs/createdb.log"
	run 300 differential bounded env PGDATABASE=differential python3 -B differential/run.py --seed 1 --count 60
	watch_server differential
	run 300 histories bounded env PGDATABASE=differential python3 -B differential/histories.py --seed 1 --count 35 --kind steps beside
	watch_server histories
	run 300 programs bounded env PGDATABASE=differential python3 -B differential/histories.py --seed 1 --count 3 --kind guarded members
	watch_server programs
	[ $all = yes ] && [ $pass = plain ] || return 0
	run 3600 "differential (long)" bounded env PGDATABASE=differential python3 -B differential/run.py --seed random --count 1500
	watch_server "differential (long)"
	run 3600 "histories (long)" bounded env PGDATABASE=differential python3 -B differential/histories.py --seed random --count 1000
	watch_server "histories (long)"
}

# A step in which no test has run, whatever the reason is, has failed.
tests()							# function, its arguments
{
	counted=$((passed + failed))
	"$@"
	[ $((passed + failed)) -gt $counted ] || fail "$1: no test has run"
}

begin_server()					# on standard input: further settings
{
	if ! install_extension; then
		fail "installing the extension"
	elif ! start_server; then
		fail "starting the server"
	else
		crashes_before=0
		return 0
	fi
	return 1
}

end_server()
{
	say "stopping the server"
	if ! stop_cluster "$server" fast; then
		tail -n 40 "$server/server.log"
		fail "the server does not stop"
	fi
}

# Of a pass that is not the plain one, all steps.
due()
{
	[ $pass != plain ] || wanted "$1"
}

all_server_steps()
{
	begin_server </dev/null || return
	if due regress; then tests regress schedule 600; fi
	if due isolation; then tests isolation; fi
	if due pgtap; then tests pgtap; fi
	if due conformance; then tests conformance; fi
	if due differential; then tests differential; fi
	end_server
	end_hbase
	if due tap; then tests tap; fi
}

if [ $hbase = yes ] && [ $built = yes ] && wanted hbase; then
	begin_hbase
fi
if [ $built = yes ] && needs_server; then
	all_server_steps
fi
end_hbase

# --- the long ones (and differential's, above) ----------------------------------
if [ $all = yes ] && wanted model && build unit-asan-build "unit tests (asan)"; then
	for file in test/model/test_*.c; do
		name=$(basename "$file" .c)
		run 3600 "model $name (long, seed $started)" env WIDECOL_TEST_TIMEOUT=3000 WC_MODEL_SEQUENCES=1500 WC_SEED="$started" \
			sh test/unit.sh build/asan "$name"
	done
fi

# A minute a decoder, from the inputs that are kept; another minute every time.
if [ $all = yes ] && wanted fuzz && build fuzz "the fuzz targets"; then
	run 3600 fuzz sh test/fuzz/run.sh 60
	grep '^ok' "$logs/fuzz.log"
fi

# Where a chroot of Debian 13 can be made; else the script says why not.
if [ $all = yes ] && wanted pg17; then
	run 7200 "PostgreSQL 17" sh test/pg17.sh
	grep '# SKIP' "$logs/PostgreSQL_17.log"
fi

# --- and on a PostgreSQL with assertions ------------------------------------------
# From here on, PostgreSQL is the one with assertions.  It gets a place that the server's
# user may enter.
use_assertions()
{
	say "PostgreSQL with assertions"
	sh test/cassert.sh >"$logs/cassert.log" 2>&1
	status=$?
	sed '$d' "$logs/cassert.log"
	if [ $status -ne 0 ]; then
		tail -n 1 "$logs/cassert.log"
		fail "building PostgreSQL with assertions"
		return 1
	fi
	cp -R "$(tail -n 1 "$logs/cassert.log")" "$tmp/pg" || return 1
	pgtap_files=$("$PG_CONFIG" --sharedir)/extension
	PG_CONFIG=$tmp/pg/bin/pg_config
	export PG_CONFIG
	bindir=$("$PG_CONFIG" --bindir)
	cp "$pgtap_files"/pgtap* "$("$PG_CONFIG" --sharedir)/extension/"
	find_pgxs
	build_dir=build/assertions
	build all "the modules, for that"
}

start_pass()					# name
{
	pass=$1
	server=$tmp/$1
	work=$server/work
	mkdir -p "$work"
}

discard_caches()
{
	begin_server <<CONF || return
debug_discard_caches = 1
CONF
	regress schedule_caches 1800
	end_server
}

if [ $all = yes ] && { wanted assertions || wanted caches; } && use_assertions; then
	if wanted assertions; then
		start_pass assertions
		all_server_steps
	fi
	if wanted caches; then
		start_pass caches
		discard_caches
	fi
fi

say "$(($(date +%s) - started)) seconds"
if [ -n "$skipped" ]; then
	echo "skipped:$skipped"
fi
if [ -n "$failures" ]; then
	echo "failed:$failures"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
