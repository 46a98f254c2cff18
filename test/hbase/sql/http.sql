-- transport 'http': TLS, user mappings, what may go wrong
\getenv port HBASE_HTTP
\getenv buffered HBASE_BUFFERED
\getenv silent HBASE_SILENT
\getenv certificates HBASE_CERTIFICATES
\! python3 gateway.py "$HBASE_BUFFERED" < sql/http.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport 'http', fetch_size '500');
CREATE FOREIGN TABLE t (id text OPTIONS (rowkey '1') COLLATE "C", n int OPTIONS (family 'f', encoding 'text')) SERVER hbase
  OPTIONS ("table" 'wc_http:t');
SELECT count(*), sum(n) FROM t;
SELECT * FROM t WHERE id = 'row00017';
BEGIN;
INSERT INTO t SELECT 'new' || i, i FROM generate_series(1, 2000) i;
DELETE FROM t WHERE id > 'row00010';
SELECT count(*), sum(n) FROM t;
COMMIT;
SELECT count(*), sum(n) FROM t;

-- what fails, by SQLSTATE, with the words of detail and hint that matter here
CREATE FUNCTION failure(words text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  said text;
  more text;
  hint text;
BEGIN
  RETURN count(*) FROM t;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS said = MESSAGE_TEXT, more = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' ', SQLSTATE, (SELECT string_agg(DISTINCT lower(m[1]), ', ') FROM regexp_matches(concat_ws(' ', said, more, hint), words, 'gi') m));
END $$;

-- a wrong path; nobody there; not HTTP; no answer
ALTER SERVER hbase OPTIONS (ADD path '/nowhere/', SET port '1');
SELECT failure('(could not connect)');
ALTER SERVER hbase OPTIONS (SET port :'buffered', ADD timeout '5');
SELECT failure('(not a Thrift2 gateway|transport "http")');
ALTER SERVER hbase OPTIONS (SET port :'silent', SET timeout '1');
SELECT failure('(did not answer within 1 s|option "timeout")');
ALTER SERVER hbase OPTIONS (SET timeout '3600');
SET statement_timeout = '300ms';
\set VERBOSITY sqlstate
SELECT count(*) FROM t;
\set VERBOSITY default
RESET statement_timeout;
-- answers of a proxy, or of another server
\set status `python3 status.py 404`
ALTER SERVER hbase OPTIONS (SET port :'status');
SELECT failure('(HTTP status 404|option[^.]*"path")');
\set status `python3 status.py 200`
ALTER SERVER hbase OPTIONS (SET port :'status');
SELECT failure('(not a Thrift2 gateway)');
\set status `python3 status.py 503`
ALTER SERVER hbase OPTIONS (SET port :'status');
SELECT failure('(could not connect|HTTP status 503)');
SET statement_timeout = '20s';
\set status `python3 status.py 404 endless`
ALTER SERVER hbase OPTIONS (SET port :'status');
SELECT failure('(not a Thrift2 gateway)');
RESET statement_timeout;
-- who are you?
\set status `python3 status.py 401 'WWW-Authenticate: Negotiate'`
ALTER SERVER hbase OPTIONS (SET port :'status');
SELECT failure('(has refused this client|HTTP status 401|option "kerberos" ''on'')');
CREATE USER MAPPING FOR PUBLIC SERVER hbase OPTIONS (kerberos 'on');
SELECT failure('(has refused this client|HTTP status 401|environment|gss_init_sec_context)');
ALTER USER MAPPING FOR PUBLIC SERVER hbase OPTIONS (SET kerberos 'off');
SELECT failure('(HTTP status 401|gss_init_sec_context)');

-- this gateway lets no client act for others
ALTER SERVER hbase OPTIONS (SET port :'port');
SELECT failure('(failed)');
ALTER USER MAPPING FOR PUBLIC SERVER hbase OPTIONS (ADD "user" 'ann');
SELECT failure('(option "user" of a user mapping)');
DROP USER MAPPING FOR PUBLIC SERVER hbase;
SELECT failure('(failed)');

-- TLS, with a certificate for "localhost": wrong name, unknown signer, neither
\set tls `python3 tls.py "$HBASE_HTTP" "$HBASE_CERTIFICATES/localhost.pem" "$HBASE_CERTIFICATES/localhost.key"`
\set ca :certificates /ca.pem
\set other :certificates /other.pem
ALTER SERVER hbase OPTIONS (SET port :'tls', ADD tls 'on', ADD tls_ca :'ca');
SELECT failure('(certificate subject name|option "tls_ca")');
ALTER SERVER hbase OPTIONS (SET host 'localhost', SET tls_ca :'other');
SELECT failure('(certificate problem|option "tls_ca")');
ALTER SERVER hbase OPTIONS (DROP tls_ca);
SELECT failure('(certificate problem|option "tls_ca")');
ALTER SERVER hbase OPTIONS (ADD tls_ca '/does/not/exist');
SELECT failure('(certificate|option "tls_ca")');
ALTER SERVER hbase OPTIONS (SET tls_ca :'ca');
SELECT count(*), sum(n) FROM t;
INSERT INTO t VALUES ('by TLS', 1);
SELECT * FROM t WHERE id = 'by TLS';
-- no TLS there; TLS where there should be none
ALTER SERVER hbase OPTIONS (SET port :'port');
SELECT failure('$^');
ALTER SERVER hbase OPTIONS (SET port :'tls', DROP tls, DROP tls_ca);
SELECT failure('$^');
-- the client must have a certificate
\set tls `python3 tls.py "$HBASE_HTTP" "$HBASE_CERTIFICATES/localhost.pem" "$HBASE_CERTIFICATES/localhost.key" "$HBASE_CERTIFICATES/ca.pem"`
ALTER SERVER hbase OPTIONS (SET port :'tls', ADD tls 'on', ADD tls_ca :'ca');
\set cert :certificates /client.pem
\set key :certificates /client.key
CREATE USER MAPPING FOR CURRENT_USER SERVER hbase OPTIONS (tls_cert :'cert', tls_key :'key');
SELECT * FROM t WHERE id = 'by TLS';
-- a mapping is the session user's, whoever the current user is
CREATE ROLE hbase_reader;
GRANT SELECT ON t TO hbase_reader;
SET ROLE hbase_reader;
SELECT * FROM t WHERE id = 'by TLS';
RESET ROLE;
DROP USER MAPPING FOR CURRENT_USER SERVER hbase;
SELECT failure('(could not connect)');
-- options of mappings are for superusers, and need http
GRANT USAGE ON FOREIGN SERVER hbase TO hbase_reader;
SET ROLE hbase_reader;
CREATE USER MAPPING FOR CURRENT_USER SERVER hbase OPTIONS (kerberos 'on');
RESET ROLE;
CREATE USER MAPPING FOR CURRENT_USER SERVER hbase OPTIONS (tls_cert :'cert');
CREATE USER MAPPING FOR CURRENT_USER SERVER hbase OPTIONS (kerberos 'on');
ALTER SERVER hbase OPTIONS (SET host '127.0.0.1', SET port :'buffered', DROP path, DROP tls, DROP tls_ca, SET transport 'buffered');
SELECT count(*) FROM t;

-- an answer is lost: HBase has the row, and the session cannot know; libcurl has not sent it again
DROP USER MAPPING FOR CURRENT_USER SERVER hbase;
\set proxy `python3 proxy.py "$HBASE_HTTP" putMultiple`
ALTER SERVER hbase OPTIONS (SET port :'proxy', SET transport 'http');
SELECT count(*) FROM t WHERE id = 'row00000';
\set VERBOSITY sqlstate
INSERT INTO t VALUES ('lost', 1);
\set VERBOSITY default
ALTER SERVER hbase OPTIONS (SET port :'port');
CREATE FOREIGN TABLE cells ("row" text, qualifier text, value text) SERVER hbase OPTIONS ("table" 'wc_http:t', layout 'cell');
SELECT * FROM cells WHERE "row" = 'lost';
-- a gateway that is restarted while its connection is idle
\! curl -sS "$HBASE_CONTROL/gateway?i=2"
INSERT INTO t VALUES ('after a restart', 1);
SELECT * FROM t WHERE id = 'after a restart';

-- an answer that came in time, while the session was stopped
CREATE FOREIGN TABLE large (id text OPTIONS (rowkey '1') COLLATE "C", v text OPTIONS (family 'f', qualifier 'v')) SERVER hbase
  OPTIONS ("table" 'wc_http:t');
INSERT INTO large VALUES ('large', repeat('x', 48 * 1024));
SELECT pg_backend_pid() AS pid \gset
\setenv WIDECOL_PID :pid
\set proxy `python3 proxy.py "$HBASE_HTTP" getScannerResults stop "$WIDECOL_PID"`
ALTER SERVER hbase OPTIONS (SET port :'proxy', SET timeout '2');
SELECT length(v) FROM large WHERE id BETWEEN 'large' AND 'large0';
ALTER SERVER hbase OPTIONS (SET port :'port');

DROP FUNCTION failure;
DROP SERVER hbase CASCADE;
DROP ROLE hbase_reader;
