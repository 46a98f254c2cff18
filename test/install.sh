#!/bin/sh
# test/install.sh [demo|check|check-all|hbase]: installs the Debian packages that are missing
# for test/demo.sh (demo), test/check.sh (check), its long suite or test/hbase, and says which.  They stay;
# nothing else on the machine is changed.  Touches nothing and needs no
# privilege when all is there.
set -u
. "$(dirname -- "$0")/env.sh"

purpose=${1:-check}
case $purpose in
demo | check | check-all | hbase) ;;
*) die "usage: sh test/install.sh [demo|check|check-all|hbase]" ;;
esac
missing=

need()							# package, then a command that succeeds when it is there
{
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}

has_header()					# header: does the compiler find it
{
	printf '#define PCRE2_CODE_UNIT_WIDTH 8\n#include <stddef.h>\n#include <stdarg.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <%s>\n' "$1" |
		"${CC:-gcc}" -E -x c - -o /dev/null
}

# A C++ compiler with its library: of the same make as CC (Makefile).
compiles_cxx()
{
	echo '#include <string>' | "$(printf '%s\n' "${CC:-gcc}" | sed -e 's/clang/clang++/' -e 's/gcc/g++/')" -E -x c++ - -o /dev/null
}

# Is there a package of this name?
is_offered()
{
	apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [0-9]'
}

# Of the clang for make fuzz: FUZZ_CC's, else, as in the Makefile, the one that is here, else the one this Debian has.
clang_version()
{
	case ${FUZZ_CC:-} in
	clang-*)
		echo "${FUZZ_CC#clang-}"
		return
		;;
	esac
	for version in 14 19; do
		if command -v "clang-$version" >/dev/null 2>&1; then
			echo "$version"
			return
		fi
	done
	for version in 14 19; do
		if is_offered "clang-$version"; then
			echo "$version"
			return
		fi
	done
	echo 14
}

# clang with its sanitizers and libFuzzer.
fuzzes()
{
	echo 'int LLVMFuzzerTestOneInput(const char *data, long size); int LLVMFuzzerTestOneInput(const char *data, long size) { return 0; }' |
		"${FUZZ_CC:-clang-$(clang_version)}" -fsanitize=fuzzer,address,undefined -x c - -o /dev/null
}

has_file()
{
	[ -e "$1" ]
}

# Which major version: the one that is here, else the one this Debian has.
server_version()
{
	if find_pg_config; then
		"$PG_CONFIG" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/'
		return
	fi
	for version in 15 17 16 18; do
		if [ -x "/usr/lib/postgresql/$version/bin/postgres" ]; then
			echo "$version"
			return
		fi
	done
	for version in 15 17 16 18; do
		if is_offered "postgresql-server-dev-$version"; then
			echo "$version"
			return
		fi
	done
	echo none
}

look()
{
	missing=
	need make command -v make
	need gcc command -v "${CC:-gcc}"
	need g++ compiles_cxx
	need libc6-dev has_header stdio.h
	need librocksdb-dev has_header rocksdb/c.h
	need libpcre2-dev has_header pcre2.h
	need libcurl4-openssl-dev has_header curl/curl.h
	need libicu-dev has_header unicode/ucol.h	# utils/pg_locale.h wants it
	if ! find_pg_config; then
		# Both, so that their versions match.
		missing="$missing postgresql-SERVER postgresql-server-dev-SERVER"
	fi
	if [ "$purpose" = check-all ]; then
		need clang-CLANG command -v "${FUZZ_CC:-clang-$(clang_version)}"
		need libclang-rt-CLANG-dev fuzzes
	fi
	if [ "$purpose" = hbase ]; then
		need default-jdk-headless command -v javac
		need maven command -v mvn
		need curl command -v curl
	fi
	if [ "$purpose" != demo ]; then
		need libcmocka-dev has_header cmocka.h
		need perl command -v prove
		need libipc-run-perl perl -MIPC::Run -e 1
		need libtap-parser-sourcehandler-pgtap-perl command -v pg_prove
		need python3 command -v python3
		need openssl command -v openssl
		if [ -z "${PG_CONFIG:-}" ] ||
			! has_file "$("$PG_CONFIG" --sharedir)/extension/pgtap.control"; then
			missing="$missing postgresql-SERVER-pgtap"
		fi
	fi
}

look
[ -n "$missing" ] || exit 0

# The list to print: with versions, as far as they are known.
named()
{
	printf '%s' "$missing" | sed "s/SERVER/$(server_version | sed 's/none/15/')/g; s/CLANG/$(clang_version)/g"
}

if ! command -v apt-get >/dev/null 2>&1; then
	die "missing here (by Debian's package names):$(named).  Only Debian's packages are installed by this script: install these by hand"
fi

privileged=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null 2>&1 || die "missing:$(named).  Run this as root once, or install them by hand"
	privileged=sudo
fi

say "these Debian packages are missing:$(named)"
say "installing them with apt-get (a few minutes the first time); they stay installed"
say "reading the package lists: apt-get update"
$privileged env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::http::Timeout=30 update </dev/null ||
	say "apt-get update failed; trying with the lists that are here"

version=$(server_version)
[ "$version" != none ] || case $missing in
*SERVER*) die "this Debian offers none of PostgreSQL 15 to 18 with header files (postgresql-server-dev-15)" ;;
esac
packages=$(printf '%s' "$missing" | sed "s/SERVER/$version/g; s/CLANG/$(clang_version)/g")

# Installing Debian's server package makes and starts a cluster, which nobody
# asked for here: say no as long as that takes, unless somebody has already said something.
settings=/etc/postgresql-common/createcluster.conf
settings_are_ours=no
case $missing in
*postgresql-SERVER*)
	if [ ! -e $settings ]; then
		$privileged mkdir -p "$(dirname $settings)"
		settings_are_ours=yes
		printf '%s\n' '# Written by widecol while it installs PostgreSQL; see createcluster.conf(5).' \
			'create_main_cluster = false' | $privileged tee $settings >/dev/null
	fi
	;;
esac

# The package has a file of this name, and keeps an existing one.
forget_settings()
{
	[ $settings_are_ours = yes ] || return 0
	settings_are_ours=no
	if [ -e /usr/share/postgresql-common/createcluster.conf ]; then
		$privileged cp /usr/share/postgresql-common/createcluster.conf $settings
	else
		$privileged rm -f $settings
	fi
}
trap forget_settings EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say "installing:$packages"
# shellcheck disable=SC2086 # a list of words
$privileged env DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 \
	apt-get -q -y --no-install-recommends -o Acquire::http::Timeout=30 -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
	-o Dpkg::Use-Pty=0 install $packages </dev/null || die "apt-get could not install:$packages"

look
[ -z "$missing" ] || die "still missing after the installation:$(named)"
say "all that is needed is installed"
