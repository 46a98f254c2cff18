#!/bin/sh
# test/bench/plot.sh RATIOS > FILE.svg: draws what benchmarks have kept in the file RATIOS (bench.sh) as bars, a group after
# the other.  Needs gnuplot.  A line of the file: group, what, ratio, must (or NaN), with tabs between.
set -eu
[ $# = 1 ] && [ -s "$1" ] || { echo "usage: plot.sh RATIOS > FILE.svg" >&2; exit 2; }
command -v gnuplot >/dev/null 2>&1 || { echo "plot.sh: gnuplot is not here: apt-get install gnuplot-nox" >&2; exit 1; }

tmp=$(mktemp -d /tmp/wcXXXXXX)
trap 'rm -rf "$tmp"' EXIT

# Rows of the plot from above: a group's name, and its bars.  Columns: y, ratio, must, label.
awk -F '\t' -v OFS='\t' -v bars="$tmp/bars" -v groups="$tmp/groups" '
	$1 != group { y -= group == "" ? 1 : 1.5; group = $1; printf "set label \"%s\" at graph -0.64, first %s font \",14\"\n", $1, y > groups }
	{ y--; print y, $3, $4, $2, sprintf("%.2f", $3) > bars }
	END { print -y + 1 }' "$1" >"$tmp/height"
height=$(cat "$tmp/height")

gnuplot <<PLOT
set terminal svg size 900, 20 * $height + 60 font "sans-serif,12" background rgb "white"
set datafile separator "\t"
set logscale x 2
set xrange [0.125:16]
set yrange [-$height:0]
set lmargin 42
set tmargin 3
set xtics ("1/8" 0.125, "1/4" 0.25, "1/2" 0.5, "1" 1, "2" 2, "4" 4, "8" 8, "16" 16)
set grid xtics lc rgb "#dddddd"
set border 5 lc rgb "#888888"
set xtics textcolor rgb "black"
set ytics scale 0 textcolor rgb "black"
load "$tmp/groups"
unset key
set title "widecol's speed to heap's (bytes: heap's to widecol's); lines: must" offset -12, 0
in(x) = x < 0.125 ? 0.125 : x > 16 ? 16 : x
plot "$tmp/bars" using (in(\$2)):1:(\$2 < 1 ? in(\$2) : 1):(\$2 < 1 ? 1 : in(\$2)):(\$1 - 0.35):(\$1 + 0.35):(\$2 < 1 ? 0xd9822b : 0x3a7d44):ytic(4) \
		with boxxyerror fill solid 0.9 noborder lc rgb variable, \
	"" using (\$2 < 1 ? NaN : in(\$2) * 1.05):1:5 with labels left font ",10", \
	"" using (\$2 < 1 ? in(\$2) / 1.05 : NaN):1:5 with labels right font ",10", \
	"" using 3:(\$1 - 0.45):(0):(0.9) with vectors nohead lw 2 lc rgb "#222222"
PLOT
