#!/bin/sh
# test/pg17.sh: builds and tests on PostgreSQL 17 and the compilers of Debian 13, in a chroot.  Prints TAP,
# a line for each step of test/check.sh that has run there.  Skips, and says why, where it cannot: it needs
# root, debootstrap, and a mirror of Debian (DEBIAN_MIRROR, else deb.debian.org).
#
# The chroot is made once, which takes some minutes, and stays below build/pg17 (WIDECOL_CHROOT names another
# place).  Mounts and processes in it end with this script.
set -u
. "$(dirname -- "$0")/env.sh"

root=${WIDECOL_CHROOT:-$top/build/pg17}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
steps=${WIDECOL_PG17_ONLY:-lint regress isolation pgtap conformance differential tap}

skip()
{
	echo "1..0 # SKIP PostgreSQL 17: $*"
	exit 0
}

[ "$(id -u)" = 0 ] || skip "a chroot needs root"
command -v unshare >/dev/null 2>&1 || skip "no unshare (package util-linux)"

# The mark is written last.
if [ ! -e "$root/ready" ]; then
	command -v debootstrap >/dev/null 2>&1 || skip "no debootstrap (package debootstrap)"
	rm -rf "$root"
	mkdir -p "$root"
	if ! debootstrap --variant=minbase trixie "$root" "$mirror" >"$root.log" 2>&1 </dev/null; then
		tail -n 5 "$root.log" | sed 's/^/# /'
		skip "no Debian 13 could be had from $mirror"
	fi
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"	# packages start no server
	chmod +x "$root/usr/sbin/policy-rc.d"
	touch "$root/ready"
fi

rm -rf "$root/src"
mkdir "$root/src" || exit 1
tar -C "$top" --exclude=./build --exclude=./.git -cf - . | tar -C "$root/src" --no-same-owner -xf - || exit 1

# Processes and mounts of its own: all of them end with it.
inside()						# commands
{
	unshare --mount --pid --fork --kill-child sh -c '
		mount --make-rprivate / && mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" &&
		exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive WIDECOL_ONLY="$1" sh -c "$2"' \
		"$root" "$steps" "$1" </dev/null 2>&1
}

if ! inside 'cd /src && sh test/install.sh check' >"$root.log"; then
	tail -n 5 "$root.log" | sed 's/^/# /'
	skip "its packages could not be installed"
fi

inside 'cd /src && CC=gcc sh test/check.sh' >"$root.log"
status=$?
sed 's/^/# /' "$root.log"
awk '/^== .*: [0-9]+ passed$/ { ok++; sub(/^== /, ""); print "ok " ++n " - PostgreSQL 17, " $0 }
	/^== .*: [0-9]+ passed, [0-9]+ failed/ || /^== FAILED/ { sub(/^== /, ""); print "not ok " ++n " - PostgreSQL 17, " $0 }
	END { print "1.." n + 0 }' "$root.log"
exit $status
