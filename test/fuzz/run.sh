#!/bin/sh
# test/fuzz/run.sh SECONDS [fuzz_NAME...]: runs the fuzz targets that make fuzz has built,
# all or those named, each so long from its corpus, one a core.  Prints TAP: a test a target,
# with its executions.  What a target finds new is not kept, but for an input that crashes it:
# that is printed.
set -u
seconds=$1
shift
top=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$top" || exit 1
[ $# -gt 0 ] || set -- $(sed 's|.*/||' build/fuzz/targets)
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"

printf '%s\n' "$@" | xargs -P "$(nproc)" -I '{}' sh -c '
	mkdir -p "$1/$2.new"
	"build/fuzz/test/fuzz/$2" -max_total_time="$3" -timeout=20 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
		-artifact_prefix="$1/$2-" "$1/$2.new" "test/fuzz/corpus/${2#fuzz_}" >"$1/$2.log" 2>&1
	echo $? >"$1/$2.status"' sh "$out" '{}' "$seconds"

number=0
failed=0
echo "1..$#"
for target in "$@"; do
	number=$((number + 1))
	executions=$(sed -n 's/^stat::number_of_executed_units: //p' "$out/$target.log")
	if [ "$(cat "$out/$target.status")" = 0 ] && [ "${executions:-0}" -gt 0 ]; then
		echo "ok $number - $target: $executions executions"
		continue
	fi
	failed=1
	echo "not ok $number - $target: after ${executions:-no} executions"
	tail -n 60 "$out/$target.log" | sed 's/^/# /'
	for input in "$out/$target"-*; do
		[ -e "$input" ] && echo "# the input, $(basename "$input"), in Base64: $(base64 -w 0 "$input")"
	done
done
exit $failed
