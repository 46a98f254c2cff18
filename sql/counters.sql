-- incr, append, check, check_and_put, check_and_delete: cells computed from what
-- they hold, and writes that depend on it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SET bytea_output = 'escape';

SELECT widecol.create_table('c', '{"f": {"versions": 4}, "g": {"packing": "row", "versions": 4}}');
CREATE FOREIGN TABLE c ("row" bytea, family text, qualifier bytea, ts bigint, type text, value bytea, ttl interval)
  SERVER widecol OPTIONS (table 'c', layout 'cell');
-- the counters of a row, in both packings
CREATE FUNCTION counters("row" bytea) RETURNS TABLE (col text, n bigint)
BEGIN ATOMIC
  SELECT family || ':' || convert_from(qualifier, 'UTF8'), ('x' || encode(value, 'hex'))::bit(64)::bigint
    FROM widecol.get('c', $1);
END;

-- incr: a missing cell counts as 0; adds 1, or the given number; returns the new value
SELECT widecol.incr('c', 'r', 'f:n'), widecol.incr('c', 'r', 'g:n');
SELECT widecol.incr('c', 'r', 'f:n', 41), widecol.incr('c', 'r', 'g:n', 41);
SELECT widecol.incr('c', 'r', 'f:n', -2), widecol.incr('c', 'r', 'g:n', by => -2);
SELECT widecol.incr('c', 'r', 'f:n', 0), widecol.incr('c', 'r', 'f:zero', 0);
SELECT value FROM widecol.get('c', 'r', '{f:n,g:n,f:zero}');
-- the empty qualifier is a counter like others
SELECT widecol.incr('c', 'r', 'f:', 3), widecol.incr('c', 'r', 'f:', 3);
-- 64 bits, and around
SELECT widecol.incr('c', 'r', 'f:max', 9223372036854775807);
SELECT widecol.incr('c', 'r', 'f:max');
SELECT widecol.incr('c', 'r', 'f:max', -1);
SELECT * FROM counters('r');
-- old values stay as versions; after a deletion it begins again
SELECT value FROM widecol.get('c', 'r', '{f:n}', versions => 9);
SELECT value FROM widecol.get('c', 'r', '{g:n}', versions => 9);
SELECT widecol.delete_version('c', 'r', 'f:n');
SELECT widecol.incr('c', 'r', 'f:n', 100);
SELECT widecol.delete('c', 'r', 'f:n'), widecol.delete('c', 'r', 'g:n');
SELECT widecol.incr('c', 'r', 'f:n'), widecol.incr('c', 'r', 'g:n');
SELECT widecol.deleteall('c', 'r');
SELECT widecol.incr('c', 'r', 'f:n', 5), widecol.incr('c', 'r', 'g:n', 6);
SELECT * FROM counters('r');

-- several in one statement, several statements in one transaction: each sees those before it
SELECT widecol.incr('c', 's', 'f:n', i), widecol.incr('c', 's', 'g:n', i) FROM generate_series(1, 5) i;
BEGIN;
SELECT widecol.incr('c', 's', 'f:n');
SELECT widecol.incr('c', 's', 'f:n'), widecol.incr('c', 's', 'g:n');
SELECT * FROM counters('s');
COMMIT;
SELECT * FROM counters('s');
-- one transaction makes one version, whatever it did
SELECT count(*) FROM c WHERE "row" = 's' AND family = 'f';
-- a rollback takes it back, and a savepoint a part of it
BEGIN;
SELECT widecol.incr('c', 's', 'f:n', 1000);
ROLLBACK;
BEGIN;
SELECT widecol.incr('c', 's', 'f:n', 10);
SAVEPOINT a;
SELECT widecol.incr('c', 's', 'f:n', 100);
ROLLBACK TO a;
SELECT widecol.incr('c', 's', 'f:n', 1000);
COMMIT;
SELECT * FROM counters('s');
-- deleted and counted again in one transaction
BEGIN;
SELECT widecol.delete('c', 's', 'f:n'), widecol.delete('c', 's', 'g:n');
SELECT widecol.incr('c', 's', 'f:n', 7), widecol.incr('c', 's', 'g:n', 7);
SELECT * FROM counters('s');
COMMIT;
SELECT * FROM counters('s');
-- beside a put of the same transaction
BEGIN;
SELECT widecol.put('c', 's', 'f:n', '\x0000000000000064');
SELECT widecol.incr('c', 's', 'f:n');
SELECT widecol.put('c', 's', 'g:n', '\x0000000000000064');
COMMIT;
SELECT * FROM counters('s');
SELECT widecol.deleteall('c', 's');

-- a cell that is no counter: nothing is applied
SELECT widecol.put('c', 'bad', 'f:n', 'abc'), widecol.put('c', 'bad', 'f:empty', ''), widecol.put('c', 'bad', 'g:\x00', '123456789');
SELECT widecol.incr('c', 'bad', 'f:other'), widecol.incr('c', 'bad', 'f:n');
\echo :LAST_ERROR_SQLSTATE
SELECT widecol.incr('c', 'bad', 'f:empty');
SELECT widecol.incr('c', 'bad', 'g:\x00');
SELECT family, qualifier, value FROM widecol.get('c', 'bad');

-- timestamps: the commit's; one of one's own only for a cell that is not there
SELECT widecol.incr('c', 't', 'f:n', 100, 999), widecol.incr('c', 't', 'g:n', 100, 999);
SELECT widecol.incr('c', 't', 'f:n', 100, 999), widecol.incr('c', 't', 'g:n', 100, 999);
SELECT family, CASE WHEN ts > 1000000000000000 THEN 'now' ELSE ts::text END AS ts, value FROM c WHERE "row" = 't';
-- over a cell that is dated ahead, one more than that
SELECT widecol.put('c', 'u', 'f:n', '\x0000000000000001', 9000000000000000000),
       widecol.put('c', 'u', 'g:n', '\x0000000000000001', 9000000000000000000);
SELECT widecol.incr('c', 'u', 'f:n'), widecol.incr('c', 'u', 'g:n');
BEGIN;
SELECT widecol.incr('c', 'u', 'f:n', 10), widecol.incr('c', 'u', 'g:n', 10);
SELECT widecol.incr('c', 'u', 'f:n', 100), widecol.incr('c', 'u', 'g:n', 100);
COMMIT;
SELECT family, ts, value FROM c WHERE "row" = 'u';
SELECT widecol.put('c', 'u', 'f:last', '\x0000000000000001', 9223372036854775806);
SELECT widecol.incr('c', 'u', 'f:last');

-- TTL: when it is over, the value before shows again; it is handed on
SELECT widecol.incr('c', 'v', 'f:n', 1);
SELECT widecol.incr('c', 'v', 'f:n', 1, ttl => '1 minute');
SELECT widecol.incr('c', 'v', 'f:n', 1);
SELECT value, ttl FROM c WHERE "row" = 'v';
SET widecol.debug_clock_offset = '2 min';
SELECT * FROM counters('v');
SELECT widecol.incr('c', 'v', 'f:n', 10);
RESET widecol.debug_clock_offset;
SELECT widecol.deleteall('c', 'v');

-- append
SELECT widecol.append('c', 'a', 'f:x', 'one'), widecol.append('c', 'a', 'g:x', 'one');
SELECT widecol.append('c', 'a', 'f:x', ', two'), widecol.append('c', 'a', 'g:x', ', two');
SELECT widecol.append('c', 'a', 'f:x', '');
BEGIN;
SELECT widecol.append('c', 'a', 'f:x', ', ' || i::text::bytea) FROM generate_series(3, 4) i;
ROLLBACK;
SELECT family, value FROM c WHERE "row" = 'a';
SELECT widecol.append('c', 'a', 'f:empty', '');
SELECT qualifier, value FROM widecol.get('c', 'a', '{f:empty}');
SELECT widecol.append('c', 'a', 'f:t', 'a', 5), widecol.append('c', 'a', 'f:t', 'b', 5, '1 day');
SELECT value, ts = 5 AS ts_5, ttl FROM c WHERE "row" = 'a' AND qualifier = 't';

-- check: "expected op stored"
SELECT widecol.put('c', 'k', 'f:x', 'bbbb', 50), widecol.put('c', 'k', 'f:empty', '');
SELECT op, widecol.check('c', 'k', 'f:x', 'aaaa', op) AS aaaa, widecol.check('c', 'k', 'f:x', 'bbbb', op) AS bbbb,
       widecol.check('c', 'k', 'f:x', 'cccc', op) AS cccc, widecol.check('c', 'k', 'f:x', 'bbb', op) AS bbb,
       widecol.check('c', 'k', 'f:x', NULL, op) AS "null", widecol.check('c', 'k', 'f:empty', NULL, op) AS null_empty,
       widecol.check('c', 'k', 'f:empty', 'a', op) AS a_empty,
       widecol.check('c', 'k', 'f:none', NULL, op) AS null_none, widecol.check('c', 'k', 'f:none', '', op) AS empty_none,
       widecol.check('c', 'k', 'f:none', 'a', op) AS a_none
  FROM unnest('{=,<>,!=,<,<=,>,>=}'::text[]) WITH ORDINALITY o(op, n) ORDER BY n;
SELECT widecol.check('c', 'k', 'f:x', 'bbbb');
SELECT widecol.check('c', 'no such row', 'f:x', NULL);
-- in a time range: as in a get
SELECT r, widecol.check('c', 'k', 'f:x', 'bbbb', time_range => r) FROM unnest('{"[50,51)","[0,50)","[51,)","(,)",empty}'::int8range[]) r;
-- the transaction's own writes count
BEGIN;
SELECT widecol.put('c', 'k', 'f:y', 'mine');
SELECT widecol.check('c', 'k', 'f:y', 'mine'), widecol.delete('c', 'k', 'f:y'), widecol.check('c', 'k', 'f:y', NULL);
ROLLBACK;
-- with writes behind it: HBase's checkAndMutate
BEGIN;
SELECT widecol.check('c', 'k', 'f:x', 'bbbb') AS applied \gset
\if :applied
SELECT widecol.put('c', 'k', 'f:x', 'dddd');
SELECT widecol.incr('c', 'k', 'f:changes');
SELECT widecol.delete('c', 'k', 'f:empty');
\endif
COMMIT;
SELECT qualifier, value FROM widecol.get('c', 'k');

-- check_and_put
SELECT widecol.check_and_put('c', 'p', 'f:x', NULL, 'f:x', 'first');
SELECT widecol.check_and_put('c', 'p', 'f:x', NULL, 'f:x', 'second');
SELECT widecol.check_and_put('c', 'p', 'f:x', 'first', 'g:y', 'third');
SELECT widecol.check_and_put('c', 'p', 'f:x', 'zzz', 'g:y', 'fourth', '>');
SELECT widecol.check_and_put('c', 'p', 'f:x', 'zzz', 'g:y', 'fifth', op => '<');
SELECT family, qualifier, value FROM widecol.get('c', 'p');
-- never behind the cell that was checked
SELECT widecol.put('c', 'p', 'f:ahead', 'old', 9000000000000000000);
SELECT widecol.check_and_put('c', 'p', 'f:ahead', 'old', 'f:ahead', 'new');
SELECT ts, value FROM c WHERE "row" = 'p' AND qualifier = 'ahead';
BEGIN;
SELECT widecol.put('c', 'p', 'f:z', '1'), widecol.check_and_put('c', 'p', 'f:z', '1', 'f:z', '2'), widecol.check_and_put('c', 'p', 'f:z', '2', 'f:z', '3');
ROLLBACK;
SELECT count(*) FROM widecol.get('c', 'p', '{f:z}');

-- check_and_delete: every version
SELECT widecol.put('c', 'd', 'f:x', 'x1', 1), widecol.put('c', 'd', 'f:x', 'x2', 2), widecol.put('c', 'd', 'f:y', 'y', 3);
SELECT widecol.check_and_delete('c', 'd', 'f:y', 'no', 'f:x');
SELECT widecol.check_and_delete('c', 'd', 'f:y', 'no', 'f:x', '>');
SELECT widecol.check_and_delete('c', 'd', 'f:y', 'y', 'f:x');
SELECT qualifier, value FROM widecol.get('c', 'd', versions => 9);

-- layout row sees counters as bigint
CREATE FOREIGN TABLE pages (url text OPTIONS (rowkey '1') COLLATE "C", hits bigint, log text) SERVER widecol;
INSERT INTO pages VALUES ('/a', 41), ('/b', NULL);
SELECT widecol.incr('pages', '/a', 'cf:hits'), widecol.incr('pages', '/b', 'cf:hits'), widecol.incr('pages', '/c', 'cf:hits', 9);
SELECT widecol.append('pages', '/a', 'cf:log', 'x');
SELECT * FROM pages ORDER BY url;

-- arguments that make no sense
SELECT widecol.incr(NULL, 'r', 'f:n');
SELECT widecol.incr('c', NULL, 'f:n');
SELECT widecol.incr('c', '', 'f:n');
SELECT widecol.incr('c', 'r', NULL);
SELECT widecol.incr('c', 'r', 'f');
SELECT widecol.incr('c', 'r', 'h:n');
SELECT widecol.incr('c', 'r', 'f:n', NULL);
SELECT widecol.incr('c', 'r', 'f:n', 1, -1);
SELECT widecol.incr('c', 'r', 'f:n', 1, 1, '0');
SELECT widecol.append('c', 'r', 'f:n', NULL);
SELECT widecol.check('c', 'r', NULL, 'x');
SELECT widecol.check('c', 'r', 'f:n', 'x', NULL);
SELECT widecol.check('c', 'r', 'f:n', 'x', 'like');
SELECT widecol.check_and_put('c', 'k', 'f:none', 'x', 'h:n', 'y');
SELECT widecol.check_and_put('c', 'k', 'f:none', 'x', 'f:n', NULL);
SELECT widecol.check_and_delete('c', 'k', 'f:none', 'x', 'f');
SELECT widecol.incr('pg_class', 'r', 'f:n');

-- transactions that may not write
BEGIN READ ONLY;
SELECT widecol.incr('c', 'r', 'f:n');
ROLLBACK;
BEGIN READ ONLY;
SELECT widecol.check('c', 'r', 'f:n', NULL);
ROLLBACK;

-- privileges: SELECT, and to incr and append INSERT, to check any that writes
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_widecol_counter;
RESET client_min_messages;
CREATE ROLE regress_widecol_counter;
GRANT SELECT ON c TO regress_widecol_counter;
SET ROLE regress_widecol_counter;
SELECT widecol.incr('c', 'r', 'f:n');
SELECT widecol.append('c', 'r', 'f:n', 'x');
SELECT widecol.check('c', 'r', 'f:n', 'x');
SELECT widecol.check_and_put('c', 'r', 'f:n', 'x', 'f:n', 'y');
SELECT widecol.check_and_delete('c', 'r', 'f:n', 'x', 'f:n');
RESET ROLE;
GRANT DELETE ON c TO regress_widecol_counter;
SET ROLE regress_widecol_counter;
SELECT widecol.check('c', 'r', 'f:n', 'x'), widecol.check_and_delete('c', 'r', 'f:n', 'x', 'f:n');
SELECT widecol.check_and_put('c', 'r', 'f:n', 'x', 'f:n', 'y');
RESET ROLE;
GRANT INSERT ON c TO regress_widecol_counter;
REVOKE SELECT ON c FROM regress_widecol_counter;
SET ROLE regress_widecol_counter;
SELECT widecol.incr('c', 'r', 'f:n');
SELECT widecol.check('c', 'r', 'f:n', 'x');
RESET ROLE;
GRANT SELECT ON c TO regress_widecol_counter;
SET ROLE regress_widecol_counter;
SELECT widecol.incr('c', 'r', 'f:n'), widecol.append('c', 'r', 'f:x', 'x'), widecol.check_and_put('c', 'r', 'f:n', 'x', 'f:n', 'y');
RESET ROLE;
DROP OWNED BY regress_widecol_counter;
DROP ROLE regress_widecol_counter;

DROP FUNCTION counters(bytea);
DROP FOREIGN TABLE c, pages;
SELECT widecol.drop_table('c'), widecol.drop_table('pages');
RESET bytea_output;
