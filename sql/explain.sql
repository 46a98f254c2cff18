-- What EXPLAIN says of a scan.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA explained;
SET search_path = explained, public;

CREATE FOREIGN TABLE useractions (
  userid int OPTIONS (rowkey '1'),
  stamp timestamptz OPTIONS (rowkey '2', sort 'desc'),
  actionid int OPTIONS (rowkey '3'),
  name text OPTIONS (family 'content', qualifier 'name'),
  extra jsonb OPTIONS (family 'more'),
  tags jsonb OPTIONS (family 'content', qualifier_prefix 'tag:'),
  raw bytea OPTIONS (rowkey 'raw')
) SERVER widecol;
INSERT INTO useractions (userid, stamp, actionid, name)
  SELECT u, '2026-01-01 00:00+00'::timestamptz + i * interval '1 minute', i, 'n' || i FROM generate_series(1, 3) u, generate_series(1, 100) i;
ANALYZE useractions;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Plans as every version of PostgreSQL says them.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    RETURN NEXT regexp_replace(regexp_replace(line, '(InitPlan \d+) \(returns \$\d+\)', '\1'), '\(InitPlan (\d+)\)\.col1', '$0');
  END LOOP;
END $$;

-- kinds of scan
EXPLAIN (COSTS OFF) SELECT * FROM useractions;
EXPLAIN (COSTS OFF) SELECT count(*) FROM useractions;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid = 1;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid = 1 AND stamp > '2026-01-01' AND stamp <= '2026-01-02';
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid > 1 AND userid <= 3;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid = 1 AND stamp = '2026-01-01' AND actionid = 2;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid IN (1, 2) AND stamp = '2026-01-01' AND actionid IN (2, 3, 4);
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid IN (1, 2);
SELECT plan('SELECT name FROM useractions WHERE userid = ANY (ARRAY(SELECT 1))');
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE (userid, actionid) > (1, 2);
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE (userid, stamp) > (1, '2026-01-01');
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid = 1 OR (userid = 2 AND stamp > '2026-01-01');
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid = 1 AND stamp = '2026-01-01' AND (actionid = 3 OR actionid = 5);
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE raw > '\x80' ORDER BY raw LIMIT 10;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE raw = '\x80';
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE raw BETWEEN '\x80' AND '\x81';
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE raw > '\x80' AND userid = 1;

-- nothing to read: neither is anything read
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid IS NULL;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE raw IS NULL AND userid = 1;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid > 3 AND userid < 2;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE actionid IS NULL OR name = 'x';
SELECT count(*) FROM useractions WHERE stamp IS NULL;
SELECT count(*) FROM useractions WHERE raw IS NULL;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid = 1 AND stamp > now() - interval '1 day' AND name = 'x';

-- order and limit
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid = 1 ORDER BY stamp DESC LIMIT 10 OFFSET 20;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid = 1 ORDER BY stamp LIMIT 10;
EXPLAIN (COSTS OFF) SELECT name FROM useractions ORDER BY userid, stamp DESC NULLS LAST, actionid LIMIT 10;
EXPLAIN (COSTS OFF) SELECT name FROM useractions ORDER BY userid DESC, stamp, actionid DESC LIMIT 10;
EXPLAIN (COSTS OFF) SELECT name FROM useractions ORDER BY userid, stamp LIMIT 10;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid IN (1, 3) ORDER BY userid, stamp DESC LIMIT 10;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE name <> 'x' ORDER BY userid LIMIT 10;
SELECT plan('SELECT max(userid) FROM useractions');
EXPLAIN (COSTS OFF) SELECT userid, count(*) FROM useractions GROUP BY userid;
EXPLAIN (COSTS OFF) SELECT name FROM useractions WHERE userid = 1 ORDER BY stamp DESC FETCH FIRST 10 ROWS WITH TIES;

-- columns
EXPLAIN (COSTS OFF) SELECT extra FROM useractions WHERE userid = 1;
EXPLAIN (COSTS OFF) SELECT tags, name FROM useractions WHERE userid = 1;
EXPLAIN (COSTS OFF) SELECT useractions FROM useractions WHERE userid = 1;
EXPLAIN (COSTS OFF) SELECT userid, raw FROM useractions WHERE userid = 1;
-- as functions take them
CREATE FOREIGN TABLE named (k int OPTIONS (rowkey '1'), v text OPTIONS (family 'fä', qualifier 'a\b:ü')) SERVER widecol;
INSERT INTO named VALUES (1, 'found');
EXPLAIN (COSTS OFF) SELECT v FROM named WHERE k = 1 OR k = 3;
SELECT encode(value, 'escape') AS value FROM widecol.get('named', '\x80000001', '{"fä:a\\x5Cb:\\xC3\\xBC"}');
DROP FOREIGN TABLE named;
SELECT widecol.drop_table('named');

-- values that are known later
PREPARE page(int, timestamptz) AS SELECT name FROM useractions WHERE userid = $1 AND stamp < $2 ORDER BY stamp DESC LIMIT 10;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE page(1, '2026-01-01');
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) SELECT u.name FROM useractions u JOIN generate_series(1, 3) g(i) ON u.userid = g.i AND u.stamp = timestamptz '2026-01-01' + g.i * interval '1 minute' AND u.actionid = g.i;

-- verbose, structured, with counters
EXPLAIN (COSTS OFF, VERBOSE) SELECT name FROM useractions WHERE userid = 1 AND stamp > '2026-01-01';
EXPLAIN (COSTS OFF, FORMAT JSON) SELECT name FROM useractions WHERE userid = 1 AND stamp > '2026-01-01';
CREATE FUNCTION counters(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Rows Read|Foreign Scan' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
SELECT counters('SELECT name FROM explained.useractions WHERE userid = 1');
SELECT counters('SELECT name FROM explained.useractions WHERE userid = 1 AND stamp = ''2026-01-01 00:05+00'' AND actionid = 5');
SELECT counters('SELECT name FROM explained.useractions WHERE userid = 1 ORDER BY stamp DESC LIMIT 10 OFFSET 20');

-- estimates: ANALYZE knows the rows
SELECT reltuples FROM pg_class WHERE oid = 'useractions'::regclass;
DROP FOREIGN TABLE useractions;
SELECT widecol.drop_table('useractions');
DROP SCHEMA explained CASCADE;
