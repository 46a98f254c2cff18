#!/bin/sh
# test/hbase/certificates.sh DIRECTORY: makes certificates there, for a day.
#
# ca.pem has signed localhost.pem, for the name localhost, and client.pem; other.pem has signed nothing.
set -eu
umask 077
mkdir -p "$1"
cd "$1"

for name in ca other; do
	openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=widecol's test $name" -keyout $name.key -out $name.pem
done
for name in localhost client; do
	openssl req -newkey rsa:2048 -nodes -subj "/CN=$name" -keyout $name.key -out $name.csr
	echo "subjectAltName=DNS:$name" >$name.ext
	openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 -extfile $name.ext -out $name.pem
done
