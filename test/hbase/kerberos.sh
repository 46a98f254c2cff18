#!/bin/sh
# test/hbase/kerberos.sh DIRECTORY PORT: a Kerberos realm for tests, with its KDC, and a port with Kerberos.
#
# Prints words for `export`: the environment of a client, and the port (HBASE_KERBEROS) of negotiate.py, which passes the
# calls of a client who proves who it is on to the gateway at PORT.  Status 77, and a line that says why, when there is no KDC.
# Both processes end after ten minutes; their pids are in DIRECTORY.
set -eu
PATH=$PATH:/usr/sbin:/sbin
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
for program in krb5kdc kdb5_util kadmin.local; do
	command -v $program >/dev/null || { echo "no $program (Debian: krb5-kdc, krb5-admin-server)"; exit 77; }
done
/usr/bin/python3 -c 'import gssapi' 2>/dev/null || { echo "no gssapi for Python (Debian: python3-gssapi)"; exit 77; }

mkdir -p "$1"
cd "$1"
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >krb5.conf <<CONF
[libdefaults]
	default_realm = WIDECOL.TEST
	dns_lookup_kdc = false
	dns_canonicalize_hostname = false
	rdns = false
[realms]
	WIDECOL.TEST = {
		kdc = 127.0.0.1:$port
	}
CONF
cat >kdc.conf <<CONF
[kdcdefaults]
	kdc_listen = 127.0.0.1:$port
	kdc_tcp_listen = 127.0.0.1:$port
[realms]
	WIDECOL.TEST = {
		database_name = $1/principal
		key_stash_file = $1/stash
		acl_file = /dev/null
	}
[logging]
	kdc = FILE:$1/kdc.log
CONF
KRB5_CONFIG=$1/krb5.conf
KRB5_KDC_PROFILE=$1/kdc.conf
export KRB5_CONFIG KRB5_KDC_PROFILE
{
	kdb5_util create -s -P secret -r WIDECOL.TEST
	for name in HTTP/localhost widecol; do
		kadmin.local addprinc -randkey $name
		kadmin.local ktadd -k "${name%%/*}.keytab" $name
	done
} >log 2>&1 || { cat log; exit 1; }
chmod 644 widecol.keytab
timeout 600 krb5kdc -n >/dev/null 2>&1 &
echo $! >kdc.pid
KRB5_KTNAME=$1/HTTP.keytab /usr/bin/python3 "$here/negotiate.py" "$2" "$1/negotiate.pid" >port
echo "KRB5_CONFIG=$KRB5_CONFIG KRB5_CLIENT_KTNAME=$1/widecol.keytab KRB5CCNAME=MEMORY: HBASE_KERBEROS=$(cat port)"
