#!/bin/sh
# test/fuzz/grow.sh SECONDS [fuzz_NAME...]: lets the fuzz targets that make fuzz has built, all
# or those named, look for inputs so long, and makes their corpora anew: the fewest small files
# that reach as much of the code as the old ones and those that were found.
set -eu
seconds=$1
shift
top=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$top"
[ $# -gt 0 ] || set -- $(sed 's|.*/||' build/fuzz/targets)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

for target in "$@"; do
	program=build/fuzz/test/fuzz/$target
	corpus=test/fuzz/corpus/${target#fuzz_}
	mkdir -p "$corpus" "$out/$target" "$out/$target.kept"
	"$program" -max_total_time="$seconds" -max_len=256 -reduce_inputs=1 "$out/$target" "$corpus" >"$out/log" 2>&1 ||
		{ tail -n 40 "$out/log"; exit 1; }
	# by the reached code, not by how often: fewer files
	"$program" -merge=1 -use_counters=0 "$out/$target.kept" "$corpus" "$out/$target" >"$out/log" 2>&1
	rm -rf "$corpus"
	mv "$out/$target.kept" "$corpus"
	echo "$target: $(ls "$corpus" | wc -l) files, $(cat "$corpus"/* | wc -c) bytes"
done
