#!/bin/sh
# test/threads.sh [CLANG]: has clang check what base/threads.h says of mutexes, in all of core's files
# that lock any.  Prints TAP.  Each lock is released on every path out of a function, and a function
# that wants a mutex locked is called with it locked.  From clang 19 on also: a field that a mutex
# guards is touched with that locked.
set -u
top=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$top" || exit 1
clang=${1:-}
for one in clang-19 clang-14 clang; do
	[ -n "$clang" ] || ! command -v "$one" >/dev/null 2>&1 || clang=$one
done
clang=${clang:-clang-14}

if ! command -v "$clang" >/dev/null 2>&1; then
	echo "ok 1 - locks and unlocks # SKIP $clang is not there"
	echo "ok 2 - guarded fields # SKIP $clang is not there"
	echo "1..2"
	exit 0
fi

flags="-std=c11 -D_GNU_SOURCE -Isrc -fsyntax-only -Wall -Wno-gcc-compat -Wthread-safety -Werror -DWC_CHECK_THREADS"
fields=no
if printf '#include <pthread.h>\ntypedef pthread_mutex_t M __attribute__((capability("mutex")));\nstruct { M m; int i __attribute__((guarded_by(&m))); } s;\n' |
	$clang $flags -fexperimental-late-parse-attributes -x c - 2>/dev/null; then
	flags="$flags -fexperimental-late-parse-attributes -DWC_CHECK_FIELDS"
	fields=yes
fi

files=$(grep -lE 'pthread_(mutex|rwlock|cond)_|base/threads\.h|engine/store/|rpc/lock/locktable\.h' $(find src/base src/read src/engine src/rpc -name '*.c') | sort)
# shellcheck disable=SC2086 # lists of words
errors=$(printf '%s\n' $files | xargs -P "$(nproc)" -n 8 $clang $flags 2>&1)
status=$?
if [ $status -eq 0 ]; then
	echo "ok 1 - locks and unlocks"
else
	echo "not ok 1 - locks and unlocks"
	printf '%s\n' "$errors" | grep -E 'error|note' | sed 's/^/#   /' | head -n 60
fi
if [ $fields = yes ]; then
	[ $status -eq 0 ] && echo "ok 2 - guarded fields" || echo "not ok 2 - guarded fields"
else
	echo "ok 2 - guarded fields # SKIP $clang cannot check them in C"
fi
echo "1..2"
exit $status
