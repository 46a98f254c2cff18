#!/bin/sh
# test/unit.sh DIR [TEST...]: runs the unit tests that make unit-asan-build or
# unit-tsan-build left in DIR (build/asan, build/tsan), all or those named
# (test_ring), and prints TAP.  Status 1 when one failed.
set -u
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
dir=$1
shift

export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
export LSAN_OPTIONS="${LSAN_OPTIONS:-suppressions=$here/lsan.supp:print_suppressions=0}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-suppressions=$here/tsan.supp:second_deadlock_stack=1:halt_on_error=1:history_size=7}"

# ThreadSanitizer does not bear much randomisation of addresses.
launch=
case $dir in
*tsan*) setarch -R true 2>/dev/null && launch="setarch -R" ;;
esac

failed=0
while read -r program; do
	name=$(basename "$program")
	if [ $# -gt 0 ]; then
		case " $* " in *" $name "*) ;; *) continue ;; esac
	fi
	echo "# $dir $name"
	$launch timeout --foreground "${WIDECOL_TEST_TIMEOUT:-300}" "$program" </dev/null 2>&1
	rc=$?
	if [ $rc -ne 0 ]; then
		echo "# $name ended with status $rc"
		failed=1
	fi
done <"$dir/tests"
exit $failed
