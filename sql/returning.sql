-- RETURNING, and AFTER triggers, see the stored values, not the given ones.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

CREATE FOREIGN TABLE re (
  k numeric OPTIONS (rowkey '1'),
  f float8 OPTIONS (rowkey '2'),
  b timestamp OPTIONS (encoding 'binary'),
  n numeric,
  m jsonb OPTIONS (family 'm'),
  v text,
  ts bigint OPTIONS (qualifier 'v', attribute 'timestamp'),
  vs widecol.version[] OPTIONS (qualifier 'v', versions '3'),
  raw bytea OPTIONS (rowkey 'raw')
) SERVER widecol OPTIONS (families '{"cf": {"versions": 3}}');
CREATE FUNCTION re_see() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE '% % % %', TG_OP, NEW.k, NEW.b, NEW.m; RETURN NULL; END$$;

-- RETURNING shows the same as a read
INSERT INTO re (k, f, b, n, m, v) VALUES (1.50, '-0', '2024-03-01 12:00:00.123456', 2.50,
  '{"num": 6, "null": null, "obj": {"a": 1}, "bool": true, "text": "t"}', 'a') RETURNING k, f, b, n, m, v, ts, vs, raw;
SELECT k, f, b, n, m, v, raw FROM re;
UPDATE re SET m = m || '{"num": 7, "more": null}', b = b + '0.0007 s', n = n * 2 RETURNING k, b, n, m;
SELECT k, b, n, m FROM re;
UPDATE re SET m = '{"x": null}' RETURNING m;
SELECT m FROM re;
UPDATE re SET m = '{"x": [1, "y"]}' RETURNING m ->> 'x' AS x;

-- no system columns but one
UPDATE re SET n = 1 RETURNING tableoid::regclass;
INSERT INTO re (k, f) VALUES (9, 9) RETURNING k, xmin;
UPDATE re SET n = 1 RETURNING (SELECT ctid IS NULL);
DELETE FROM re RETURNING cmax;

-- nor in queries: one ctid for all rows would make the common DELETE of some rows a DELETE of all
DELETE FROM re WHERE ctid IN (SELECT ctid FROM re LIMIT 1);
DELETE FROM re a USING re b WHERE a.n = b.n AND a.ctid < b.ctid;
SELECT k FROM re WHERE ctid = '(0,1)';
SELECT max(xmin::text) FROM re;
SELECT count(*) FROM (SELECT ctid AS c FROM re UNION ALL SELECT ctid FROM re) u HAVING max(c) IS NULL;
SELECT ctid FROM re FOR UPDATE;
SELECT n FROM re GROUP BY n HAVING count(DISTINCT ctid) > 1;
-- row marks use it, and may
SELECT k, tableoid::regclass FROM re FOR UPDATE;
UPDATE re a SET n = 1 FROM re b WHERE a.k = b.k;

-- a cell's timestamp is the commit's: nobody knows it before; one that is not written keeps its own
SELECT ts AS before FROM re \gset
UPDATE re SET n = 3 + n RETURNING ts = :before AS same, array_length(vs, 1) AS versions;
UPDATE re SET v = v || 'b' RETURNING v, ts, vs;
SELECT ts > :before AS later, array_length(vs, 1) AS versions FROM re;
UPDATE re SET k = k + 1 RETURNING k, v, m, ts, vs, raw;
SELECT k, v, m, ts IS NULL AS ts, array_length(vs, 1) AS versions, raw FROM re;

-- triggers
CREATE TRIGGER re_see AFTER INSERT OR UPDATE ON re FOR EACH ROW EXECUTE FUNCTION re_see();
INSERT INTO re (k, f, b, m) VALUES (7.0, 0, '2024-03-01 12:00:00.0009', '{"a": 1, "b": null}');
UPDATE re SET m = m || '{"c": 2}', k = k + 1.00 WHERE k = 7;

SET client_min_messages = error;
CREATE EXTENSION hstore;
CREATE FOREIGN TABLE re_h (k int OPTIONS (rowkey '1'), h hstore OPTIONS (family 'h')) SERVER widecol;
INSERT INTO re_h VALUES (1, 'a=>1, b=>NULL') RETURNING h;
UPDATE re_h SET h = h || 'c=>NULL, d=>4' RETURNING h;
DROP FOREIGN TABLE re, re_h;
DROP EXTENSION hstore;
DROP FUNCTION re_see;
SELECT widecol.drop_table('re'), widecol.drop_table('re_h');
