#!/bin/sh
# test/cassert.sh: a PostgreSQL with assertions, of the major version that PG_CONFIG
# belongs to, from Debian's source package.  It is built once, which takes some minutes,
# and stays below build/cassert.  The last line of the output is its directory, which
# can be copied elsewhere.
#
# Needs no privilege: apt's lists of source packages are kept below build/cassert, too.
set -u
. "$(dirname -- "$0")/env.sh"

find_pg_config || die "no PostgreSQL with header files found"
major=$("$PG_CONFIG" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
dir=$top/build/cassert/$major
log=$dir/log

finish()
{
	echo "$dir/pg"
	exit 0
}

# The mark is written last.
[ ! -e "$dir/ready" ] || finish

failed()
{
	tail -n 30 "$log"
	die "$*"
}

# apt-get or apt-cache, with source packages of the archives that this machine knows.
apt()
{
	command=$1
	shift
	"$command" -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$dir/apt/sources" \
		-o Dir::State::Lists="$dir/apt/lists" -o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User= "$@" </dev/null
}

describe_archives()
{
	mkdir -p "$dir/apt/sources" "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -f "$file" ] || sed -n 's/^deb[ 	]/deb-src /p' "$file"
	done >"$dir/apt/sources/all.list"
	for file in /etc/apt/sources.list.d/*.sources; do
		[ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$dir/apt/sources/$(basename "$file")"
	done
}

# The newest version that can be had: a mirror may lack what the lists name.
fetch()
{
	for version in $(apt apt-cache showsrc --only-source "postgresql-$major" | sed -n 's/^Version: //p' | sort -Vru); do
		( cd "$dir/source" && apt apt-get source --download-only "postgresql-$major=$version" ) && return 0
		rm -f "$dir/source"/*
	done
	return 1
}

command -v apt-get >/dev/null 2>&1 || die "the source package of PostgreSQL comes by apt-get, which is not here"
rm -rf "$dir"
mkdir -p "$dir/source" || exit 1
describe_archives
say "fetching the source of PostgreSQL $major"
apt apt-get update >"$log" 2>&1 || say "apt-get update failed for some archives"
fetch >>"$log" 2>&1 || failed "apt-get could not fetch the source of postgresql-$major"

say "building it with assertions (some minutes)"
cd "$dir/source" || exit 1
tar -xf "$(ls postgresql-*.orig.tar.*[!c])" --strip-components=1 2>>"$log" || failed "could not unpack the source"
./configure --prefix="$dir/pg" --enable-cassert --enable-debug --enable-tap-tests --with-icu --without-readline \
	--without-zlib CC="${CC:-gcc}" CFLAGS='-O1 -g -fno-omit-frame-pointer' >>"$log" 2>&1 </dev/null || failed "configure failed"
make -j"$(getconf _NPROCESSORS_ONLN)" world-bin >>"$log" 2>&1 </dev/null || failed "make failed"
make install-world-bin >>"$log" 2>&1 </dev/null || failed "make install failed"
cd "$dir" || exit 1
rm -rf source
: >ready
finish
