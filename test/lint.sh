#!/bin/sh
# test/lint.sh [-v]: checks rules of the whole tree that no compiler checks: the order of
# includes and calls (src/README), headers that compile alone, symbols of core and of the
# modules, sizes, the manual's completeness.  Prints TAP; run after make.  With -v also lists
# long functions.
set -u
top=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$top" || exit 1
LC_ALL=C
export LC_ALL
CC=${CC:-gcc}
PG_CONFIG=${PG_CONFIG:-pg_config}
verbose=${1:-}
pg_include=$("$PG_CONFIG" --includedir-server) || {
	echo "$0: no pg_config; sh test/install.sh installs what is missing" >&2
	exit 1
}

read_folders="read read/cell read/txn read/filter read/scan"
engine_folders="engine/rocks engine/copies engine/store engine/source engine/forget engine/catalog engine/write engine/estimate engine"
rpc_folders="rpc/lock rpc/session rpc/log rpc"
wire_folders="wire/wait wire/message wire/shared"
core="base model rowkey filterlang $wire_folders thrift $read_folders $engine_folders $rpc_folders"
fdw_folders="fdw/convert fdw/relation fdw/ddl fdw/condition fdw/plan fdw/row fdw/scan fdw/statement fdw/write fdw/dump"
shell_folders="shell/table shell/data shell/value"
client_folders="client/session client/foreign client/local client/txn client/catalog client"
hbase_folders="hbase/gateway hbase/catalog hbase/changes hbase/scan hbase/commit hbase"
postgres_side="channel worker $client_folders $hbase_folders fdw $fdw_folders shell $shell_folders"
cxx_folder=src/engine/rocks	# the only one with files in C++
client_headers="client/client.h client/catalog/owner.h client/foreign/families.h client/foreign/foreign.h client/foreign/serveroption.h client/foreign/ttl.h client/settings.h client/statistics.h"

file_lines_max=1000
function_lines=70
folder_files_max=15

# The files of the project that a folder may include, besides its own.  Each of the
# folders in fdw/, read/, engine/, rpc/ and client/: those before it (the README there).
allowed()
{
	case $1 in
	base) ;;
	model | rowkey) echo "base/ $([ "$1" = rowkey ] && echo model/)" ;;
	filterlang) echo "base/" ;;
	wire/wait | wire/message | wire/shared) echo "base/ model/" ;;
	thrift) echo "base/" ;;
	read) echo "base/ model/ read/cell/" ;;
	read/cell) echo "base/ model/" ;;
	read/txn) echo "base/ model/ read/storage.h read/cell/" ;;
	read/filter) echo "base/ model/ filterlang/" ;;
	read/scan) echo "base/ model/ rowkey/ read/storage.h read/cell/ read/txn/ read/filter/" ;;
	engine/rocks) echo "base/ model/ rowkey/ read/ engine/engine.h" ;;
	engine/copies) echo "base/" ;;
	engine/store) echo "$(allowed engine/rocks) engine/rocks/ engine/copies/" ;;
	engine/source) echo "$(allowed engine/store) engine/store/" ;;
	engine/forget) echo "$(allowed engine/source) engine/source/" ;;
	engine/catalog) echo "$(allowed engine/forget) engine/forget/" ;;
	engine/write) echo "$(allowed engine/catalog) engine/catalog/" ;;
	engine/estimate) echo "$(allowed engine/write) engine/write/" ;;
	engine) echo "$(allowed engine/estimate) engine/estimate/" ;;
	rpc/lock) echo "base/ model/ rowkey/ wire/ read/ engine/engine.h" ;;
	rpc/session) echo "$(allowed rpc/lock) rpc/lock/" ;;
	rpc/log) echo "$(allowed rpc/session) rpc/session/ rpc/rpc.h" ;;
	rpc) echo "$(allowed rpc/log) rpc/log/" ;;
	channel) echo "base/ model/ wire/ compat.h" ;;
	worker) echo "base/ model/ channel/ rpc/rpc.h compat.h" ;;
	client/session) echo "base/ model/ wire/ channel/ compat.h client/client.h client/settings.h" ;;
	client/foreign) echo "base/ model/ wire/ channel/ compat.h client/client.h" ;;
	client/local) echo "$(allowed client/foreign) client/driver.h" ;;
	client/txn) echo "$(allowed client/local) client/settings.h client/local/" ;;
	client/catalog) echo "$(allowed client/txn) client/foreign/ client/txn/" ;;
	client) echo "$(allowed client/catalog) client/catalog/" ;;
	hbase/gateway) echo "base/ model/ read/storage.h thrift/ client/driver.h compat.h" ;;
	hbase/catalog) echo "$(allowed hbase/gateway) hbase/gateway/gateway.h" ;;
	hbase/changes) echo "$(allowed hbase/catalog) read/ hbase/catalog/" ;;
	hbase/scan) echo "$(allowed hbase/changes) filterlang/filterlang.h hbase/changes/" ;;
	hbase/commit) echo "$(allowed hbase/scan) hbase/scan/" ;;
	hbase) echo "$(allowed hbase/commit) hbase/commit/" ;;
	fdw) echo "base/ model/ rowkey/ compat.h $client_headers" ;;
	shell) echo "$(allowed fdw) filterlang/filterlang.h fdw/convert/convert.h fdw/relation/reach.h fdw/relation/recordtype.h fdw/relation/relation.h" ;;
	shell/table | shell/data | shell/value) echo "$(allowed shell) shell/shell.h shell/access.h" ;;
	fdw/convert) echo "base/ rowkey/ compat.h" ;;
	fdw/relation) echo "$(allowed fdw) fdw/fdw.h fdw/convert/convert.h" ;;
	fdw/ddl) echo "$(allowed fdw/relation) fdw/relation/" ;;
	fdw/condition) echo "$(allowed fdw/ddl)" ;;
	fdw/plan) echo "$(allowed fdw/condition) fdw/condition/" ;;
	fdw/row) echo "$(allowed fdw/plan) fdw/plan/" ;;
	fdw/scan) echo "$(allowed fdw/row) fdw/row/" ;;
	fdw/statement) echo "$(allowed fdw/scan) fdw/scan/" ;;
	fdw/write) echo "$(allowed fdw/statement) fdw/statement/" ;;
	fdw/dump) echo "$(allowed fdw/write) fdw/write/" ;;
	.) echo "base/ channel/ client/ fdw/ shell/" ;;
	esac
}

number=0
bad=0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# check WORDS: ok if $scratch/found is empty; else it has the problems.
check()
{
	number=$((number + 1))
	if [ -s "$scratch/found" ]; then
		echo "not ok $number - $1"
		sed 's/^/#   /' "$scratch/found" | head -n 60
		bad=$((bad + 1))
	else
		echo "ok $number - $1"
	fi
	: >"$scratch/found"
}
: >"$scratch/found"

sources()						# folder...
{
	for folder in "$@"; do
		[ ! -d "src/$folder" ] || find "src/$folder" -maxdepth 1 \( -name '*.[ch]' -o -name '*.cc' -o -name '*.hh' \) | sort
	done
}

is_in()
{
	case " $2 " in *" $1 "*) return 0 ;; esac
	return 1
}

# --- the include table ----------------------------------------------------------
# One line an include: file, line number, the included name with its mark.
includes()
{
	awk 'match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]*/) {
		name = substr($0, RSTART, RLENGTH); sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name); print FILENAME, FNR, name }' "$@" </dev/null
}

for folder in $core $postgres_side .; do
	list=$(sources "$folder")
	[ -n "$list" ] || continue
	may=$(allowed "$folder")
	# shellcheck disable=SC2086 # a list of files
	includes $list | while read -r file line include; do
		name=${include#?}
		mine=no
		[ -e "src/$name" ] && mine=yes
		case $include in
		'"'*)
			if [ $mine = yes ]; then
				good=no
				[ "${name%/*}" = "$folder" ] && good=yes
				for one in $may; do
					case $name in "$one"*) good=yes ;; esac
				done
				[ $good = yes ] || echo "$file:$line: $folder may not include $name"
			elif is_in "$folder" "$core"; then
				echo "$file:$line: $name is not one of ours; core includes nothing else with quotes"
			fi
			;;
		'<'*)
			[ $mine = no ] || echo "$file:$line: our own $name wants quotes"
			;;
		esac
		case $name in
		rocksdb/*) is_in "$folder" "$engine_folders" || echo "$file:$line: RocksDB is for engine/ alone" ;;
		curl/*) [ "$folder" = hbase/gateway ] || echo "$file:$line: libcurl is for hbase/gateway/ alone" ;;
		pcre2*) [ "$folder" = filterlang ] || echo "$file:$line: PCRE2 is for filterlang/ alone" ;;
		esac
	done >>"$scratch/found"
	check "includes of src/$folder"
done

for folder in $core; do
	list=$(sources "$folder")
	# shellcheck disable=SC2086 # a list of files
	[ -z "$list" ] || grep -nE '#[ \t]*include[ \t]*[<"](postgres|postgresql/|c\.h|fmgr|libpq|utils/|storage/|access/|catalog/|nodes/|executor/|port/)' $list
done >"$scratch/found"
check "no PostgreSQL header behind the wall"

for folder in $core; do
	list=$(sources "$folder")
	# shellcheck disable=SC2086 # a list of files
	[ -z "$list" ] || grep -nE 'pthread_(mutex|rwlock)_t\b' $list | grep -v '^src/base/threads.h:'
done >"$scratch/found"
check "core's mutexes are those that clang can check (base/threads.h)"

# rpc/README, "Mutexes": file, and the lock's name in it.
grep -rnoE '^[[:space:]]+Wc(Mutex|RwLock)[[:space:]]+[a-z_]+;' src | sed -E 's/^src\/([^:]*):[0-9]*:[[:space:]]*Wc[A-Za-z]*[[:space:]]*([a-z_]*);/\1 \2/' | sort -u >"$scratch/known"
awk '/^Mutexes/ { on = 1 } on && $1 ~ /\.[ch]$/ { print $1, $2 }' src/rpc/README | sort -u >"$scratch/said"
{
	comm -23 "$scratch/known" "$scratch/said" | sed 's|^|src/rpc/README does not say when to lock |'
	comm -13 "$scratch/known" "$scratch/said" | sed 's|^|src/rpc/README has a lock that is not there: |'
} >"$scratch/found"
check "the order of locks names each of them"

find src test -name '*.cc' -o -name '*.hh' -o -name '*.cpp' -o -name '*.hpp' | grep -v "^$cxx_folder/[a-z]*\.[ch][ch]\$" >"$scratch/found"
check "no C++ but in $cxx_folder"

# --- headers alone ----------------------------------------------------------------
for folder in $core $postgres_side .; do
	flags="-std=c11 -D_GNU_SOURCE"
	is_in "$folder" "$core" || flags="-std=gnu11 -D_GNU_SOURCE -isystem $pg_include"
	for header in $(sources "$folder" | grep '\.h$'); do
		# shellcheck disable=SC2086 # flags is a list of words
		printf '#include "%s"\n' "${header#src/}" |
			$CC $flags -Wall -Werror -Isrc -fsyntax-only -x c - 2>"$scratch/errors" ||
			{ echo "$header"; head -n 3 "$scratch/errors"; }
	done
done >"$scratch/found"
check "each header compiles alone"

for header in $(find src -name '*.h'); do
	guard=$(printf '%s' "${header#src/}" | tr 'a-z/.' 'A-Z__')
	grep -q "^#ifndef WC_$guard\$" "$header" || echo "$header: its guard should be WC_$guard"
done >"$scratch/found"
check "each header has its guard"

# --- symbols ------------------------------------------------------------------------
for library in libc.so.6 libm.so.6 libpthread.so.0 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1; do
	path=$($CC -print-file-name=$library)
	[ -e "$path" ] && nm -D --defined-only "$path" | awk '{ sub(/@.*/, "", $3); print $3 }'
done | sort -u >"$scratch/libc"
nm --defined-only "$($CC -print-libgcc-file-name)" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u >>"$scratch/libc"
echo _GLOBAL_OFFSET_TABLE_ >>"$scratch/libc"

for folder in $core; do
	for source in $(sources "$folder" | grep '\.cc*$'); do
		object=build/${source#src/}
		object=${object%.*}.o
		if [ ! -e "$object" ]; then
			echo "$object: not there, run make first"
			continue
		fi
		nm -u "$object" | awk -v object="$object" -v folder="$folder" -v libc="$scratch/libc" -v cxx="$(case $source in *.cc) echo 1 ;; esac)" '
			BEGIN { while ((getline name < libc) > 0) known[name] = 1 }
			$2 ~ /^wc_/ { next }
			$2 ~ /^rocksdb_/ && folder ~ /^engine(\/|$)/ { next }
			$2 ~ /^pcre2_/ && folder == "filterlang" { next }
			cxx && $2 ~ /^(_Z|__cxa_|__gxx_personality_v0$|_Unwind_|__dso_handle$|__tls_get_addr$|_GLOBAL_)/ { next }
			!($2 in known) { print object ": needs " $2 }'
	done
done >"$scratch/found"
check "core needs only libc, pthread, wc_, (in engine) RocksDB and (in filterlang) PCRE2"

# A header in which several folders' functions are declared (engine/engine.h) would let one
# call what comes after it.
: >"$scratch/before"
for folder in $core; do
	objects=$(sources "$folder" | sed -n 's|^src/\(.*\)\.cc*$|build/\1.o|p')
	[ -n "$objects" ] || continue
	# shellcheck disable=SC2086 # a list of files
	nm --defined-only $objects 2>/dev/null | awk 'NF == 3 && $3 ~ /^wc_/ { print $3 }' >>"$scratch/before"
	# shellcheck disable=SC2086
	nm -A -u $objects 2>/dev/null | awk -v before="$scratch/before" '
		BEGIN { while ((getline name < before) > 0) known[name] = 1 }
		$NF ~ /^wc_/ && !($NF in known) { sub(/:.*/, "", $1); print $1 ": needs " $NF " of a folder after it" }'
done >"$scratch/found"
check "no folder of core calls one that comes after it"

# Files do not call each other in circles, within a folder or beyond.
# shellcheck disable=SC2046 # a list of files
nm -A $(for folder in $core $postgres_side; do sources "$folder"; done | sed -n 's|^src/\(.*\)\.cc*$|build/\1.o|p') 2>/dev/null | awk '
	BEGIN { n = 0 }
	$2 ~ /^[TDBRU]$/ { file = $1; sub(/^build\//, "", file); sub(/\.o:.*/, "", file) }
	$2 ~ /^[TDBR]$/ { of[$3] = file }
	$2 == "U" { user[n] = file; used[n++] = $3 }
	END { for (i = 0; i < n; i++) if (used[i] in of && of[used[i]] != user[i]) print user[i], of[used[i]] }' | tsort 2>&1 >/dev/null |
	sed 's|^tsort: -: input contains a loop:|these call each other in a circle:|; s|^tsort: |    |' >"$scratch/found"
check "no files call each other in circles"

for module in widecol widecol_engine widecol_hbase; do
	if [ ! -e build/$module.so ]; then
		echo "build/$module.so: not there, run make first"
		continue
	fi
	nm -D -u build/$module.so | awk -v module=$module '
		$2 ~ /^wc_/ { print module ".so: " $2 " is defined nowhere in it" }
		$2 ~ /^rocksdb_/ && module != "widecol_engine" { print module ".so: needs " $2 }'
done >"$scratch/found"
if readelf -d build/widecol.so 2>/dev/null | grep -q 'NEEDED.*rocksdb'; then
	echo "widecol.so: is linked with RocksDB" >>"$scratch/found"
fi
for module in widecol widecol_engine; do
	if readelf -d build/$module.so 2>/dev/null | grep -q 'NEEDED.*curl'; then
		echo "$module.so: is linked with libcurl" >>"$scratch/found"
	fi
done
check "modules are complete, widecol.so knows no RocksDB, and widecol_hbase.so alone libcurl"

# widecol.so may export the functions that widecol--*.sql names, and no others.
sql_symbols=$(sed -n "s/.*'MODULE_PATHNAME', *'\([a-z_0-9]*\)'.*/\1/p" widecol--*.sql | sort -u)
{
	printf '%s\n' Pg_magic_func _PG_init
	for name in $sql_symbols; do
		printf '%s\n' "$name" "pg_finfo_$name"
	done
} | sort >"$scratch/may.widecol"
printf '%s\n' Pg_magic_func wc_worker_main | sort >"$scratch/may.widecol_engine"
printf '%s\n' Pg_magic_func wc_hbase_driver | sort >"$scratch/may.widecol_hbase"
for module in widecol widecol_engine widecol_hbase; do
	[ -e build/$module.so ] || continue
	nm -D --defined-only build/$module.so | awk '{ print $3 }' | sort >"$scratch/exports"
	comm -23 "$scratch/exports" "$scratch/may.$module" | sed "s/^/$module.so exports what SQL does not use: /"
	comm -13 "$scratch/exports" "$scratch/may.$module" | sed "s/^/$module.so lacks: /"
done >"$scratch/found"
check "modules export what SQL names, and nothing else"

# A function that only its own file calls is static; one that nothing calls goes.
objects=$(for folder in $core $postgres_side .; do sources "$folder"; done | sed -n 's|^src/\(.*\)\.cc*$|build/\1.o|p')
# shellcheck disable=SC2086 # a list of files
nm --defined-only $objects 2>/dev/null | awk 'NF == 3 && $2 ~ /[TDBR]/ && $3 ~ /^wc_/ { print $3 }' | sort -u >"$scratch/known"
{
	# shellcheck disable=SC2086
	nm -u $objects 2>/dev/null | awk 'NF == 2 { print $2 }'
	grep -rhowE 'wc_[a-z0-9_]+' test --include='*.[ch]'
	printf '%s\n' "$sql_symbols"
	cat "$scratch"/may.*
} | sort -u >"$scratch/said"
comm -23 "$scratch/known" "$scratch/said" | sed 's/$/ is called by no other file/' >"$scratch/found"
check "each function that a file exports is called by another one, or by a test"

# --- sizes ---------------------------------------------------------------------------
find src test -name '*.[ch]' -o -name '*.cc' -o -name '*.hh' | xargs wc -l | awk -v max=$file_lines_max '$2 != "total" && $1 > max { print $2 ": " $1 " lines, " max " at most" }' >"$scratch/found"
check "no file over $file_lines_max lines"

for folder in $core $postgres_side .; do
	n=$(sources "$folder" | grep -c '\.cc*$')
	[ "$n" -le $folder_files_max ] || echo "src/$folder: $n source files, $folder_files_max at most: some belong into a folder of their own"
done >"$scratch/found"
check "no folder over $folder_files_max source files"

if [ "$verbose" = -v ]; then
	for file in $(find src -name '*.c' | sort); do
		awk -v file="$file" -v max=$function_lines '
			/^[a-z_][A-Za-z0-9_]*\(/ { name = $0; sub(/\(.*/, "", name) }
			/^{/ { start = FNR }
			/^}/ { if (start && FNR - start - 1 > max) print "# " file ":" start ": " name " has " FNR - start - 1 " lines"; start = 0 }' "$file"
	done
fi

# --- the manual ------------------------------------------------------------------------
# Each name in the sources has a heading in doc/reference, and each heading a name in the sources.
reference=doc/reference

# names FILE ARRAY: the strings of an array in C
names()
{
	awk -v array="$2" 'index($0, array "[") && /=/ { on = 1 }
		on { rest = $0; while (match(rest, /"[^"]*"/)) { print substr(rest, RSTART + 1, RLENGTH - 2); rest = substr(rest, RSTART + RLENGTH) } }
		on && /};/ { exit }' "$1" | sort
}

# headings PAGE LEVEL [SECTION]: what headings of this level (## or ###) name in backquotes, all or those of a section
headings()
{
	awk -v level="$2" -v wanted="${3:-}" '/^## / { section = substr($0, 4) }
		index($0, level " `") == 1 && (wanted == "" || section == wanted) { split($0, part, "`"); print part[2] }' "$reference/$1" | sort
}

# documented WORDS: what stands in $scratch/known and in $scratch/said
documented()
{
	comm -23 "$scratch/known" "$scratch/said" | sed "s|^|$1 has nothing on |"
	comm -13 "$scratch/known" "$scratch/said" | sed "s|^|$1 has a heading without a name in the sources: |"
}

option_c=src/fdw/relation/option.c
for pair in "table_option_names:Foreign table" "column_option_names:Column" 'import_option_names:`IMPORT FOREIGN SCHEMA`'; do
	names $option_c "${pair%%:*}" >"$scratch/known"
	headings options.md '###' "${pair#*:}" >"$scratch/said"
	documented "$reference/options.md, ${pair#*:},"
done >"$scratch/found"
names src/client/foreign/serveroption.c server_option_names >"$scratch/known"
headings options.md '###' Server >"$scratch/said"
documented "$reference/options.md, Server," >>"$scratch/found"
names src/client/foreign/serveroption.c user_option_names >"$scratch/known"
headings options.md '###' 'User mapping' >"$scratch/said"
documented "$reference/options.md, User mapping," >>"$scratch/found"
check "the reference has each option"

{
	names src/client/foreign/families.c attribute_names >"$scratch/known"
	headings families.md '###' >"$scratch/said"
	documented $reference/families.md
	sed -n 's/^\t{"\([a-z0-9_]*\)", WC_ENCODING_.*/\1/p' src/fdw/convert/convert_encoding.c | sort >"$scratch/known"
	headings encodings.md '##' >"$scratch/said"
	documented $reference/encodings.md
} >"$scratch/found"
check "the reference has each attribute and encoding"

{
	sed -n 's/^CREATE FUNCTION "*\([a-z0-9_]*\).*/widecol.\1/p' widecol--*.sql | sort -u >"$scratch/known"
	headings functions.md '###' >"$scratch/said"
	documented $reference/functions.md
	sed -n 's/^CREATE \(VIEW\|TYPE\|FOREIGN TABLE\) \([a-z0-9_]*\).*/widecol.\2/p' widecol--*.sql | sort -u >"$scratch/known"
	headings views.md '###' >"$scratch/said"
	documented $reference/views.md
	grep -rhoE 'DefineCustom[A-Za-z]+Variable\("[a-z_.]+"' src | cut -d '"' -f 2 | sort >"$scratch/known"
	headings settings.md '###' >"$scratch/said"
	documented $reference/settings.md
} >"$scratch/found"
check "the reference has each function, view, type and setting"

# Of conditions that are compared with, rather than raised, the reference need not know.
{
	find src -name '*.[ch]' -exec grep -hvE 'case ERRCODE_|== ERRCODE_|ERRCODE_TO_CATEGORY' {} + | grep -oE 'ERRCODE_[A-Z0-9_]+' | sort -u >"$scratch/raised"
	sed -n "s/^#define \(ERRCODE_[A-Z0-9_]*\) MAKE_SQLSTATE('\(.\)','\(.\)','\(.\)','\(.\)','\(.\)').*/\1 \2\3\4\5\6/p" \
		"$pg_include/utils/errcodes.h" | sort -u -k 1,1 | join "$scratch/raised" - | cut -d ' ' -f 2 | sort -u >"$scratch/known"
	sed -n 's/^| `\([0-9A-Z]\{5\}\)` |.*/\1/p' $reference/errors.md | sort >"$scratch/said"
	documented $reference/errors.md
	[ -s "$scratch/known" ] || echo "no SQLSTATE found in $pg_include/utils/errcodes.h"
} >"$scratch/found"
check "the reference has each SQLSTATE"

# A link leads to a file, and to a heading in it (as GitHub names them).
anchors()						# page
{
	awk '/^```/ { code = !code } !code && /^##* / { sub(/^#+ /, ""); s = tolower($0); gsub(/[^a-z0-9 _\-]/, "", s); gsub(/ /, "-", s)
		n = seen[s]++; print n ? s "-" n : s }' "$1"
}
for page in README.md doc/*.md doc/*/*.md; do
	awk '/^```/ { code = !code } !code { while (match($0, /\]\([^)]*\)/)) { print substr($0, RSTART + 2, RLENGTH - 3); $0 = substr($0, RSTART + RLENGTH) } }' "$page" |
		grep -v '^https*:' | while read -r link; do
		target=$page
		[ -z "${link%%#*}" ] || target=$(dirname "$page")/${link%%#*}
		case $link in
		*'#'*) [ -e "$target" ] && anchors "$target" | grep -qxF -e "${link#*#}" ;;
		*) [ -e "$target" ] ;;
		esac || echo "$page: $link leads nowhere"
	done
done >"$scratch/found"
check "links in the manual lead somewhere"

for page in doc/*/*.md doc/operations.md doc/performance.md; do
	grep -qF "(${page#doc/})" doc/README.md || echo "doc/README.md does not name $page"
done >"$scratch/found"
check "the manual's contents name each page"

# --- habits --------------------------------------------------------------------------
grep -rnE 'TODO|FIXME|XXX' src sql test widecol--*.sql Makefile 2>/dev/null | grep -v '^test/lint.sh:' | grep -vE '(# TODO|XXXXXX)' >"$scratch/found"
check "no work left for later"

for file in sql/*.sql; do
	[ -e "$file" ] || continue
	name=$(basename "$file" .sql)
	grep -qE "^test:(.* )?$name( |\$)" test/schedule 2>/dev/null || echo "$file: not in test/schedule"
	[ -e "expected/$name.out" ] || echo "$file: no expected/$name.out"
done >"$scratch/found"
check "each file of sql/ is in test/schedule and has its expected output"

echo "1..$number"
[ $bad -eq 0 ]
