-- Functions that users have written: reading a stored table runs none of them unseen, and an error leaves nothing behind.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE ROLE regress_users_code;
CREATE SCHEMA users_code;
GRANT CREATE, USAGE ON SCHEMA users_code TO regress_users_code;
GRANT USAGE ON FOREIGN SERVER widecol TO regress_users_code;
SET search_path = users_code, public;
SET timezone = 'Asia/Tokyo';
RESET client_min_messages;

-- a function that runs as its owner, and fails for a text that is no number
CREATE FUNCTION is_known(text) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$ BEGIN RETURN $1::int > 0; END $$;
-- one that tells who runs it
CREATE FUNCTION tells(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'tells ran'; RETURN true; END $$;
CREATE FUNCTION tells_type() RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE INFO 'tells_type ran'; RETURN 'a'; END $$;
CREATE FUNCTION type_by_sql() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT users_code.tells_type() $$;

-- what is stored counts as checked: elements of arrays and bounds of ranges, as values of a domain
SET ROLE regress_users_code;
CREATE DOMAIN number AS text CHECK (is_known(value));
CREATE DOMAIN short AS varchar(3);
CREATE DOMAIN told AS text COLLATE "C" CHECK (tells(value));
CREATE TYPE tolds AS RANGE (subtype = told, collation = "C");
CREATE TYPE pair AS (a number[], b timestamptz);
CREATE FOREIGN TABLE numbers (k int OPTIONS (rowkey '1'), one number, many number[], pairs pair, shorts short[]) SERVER widecol OPTIONS (table 'users_code');
INSERT INTO numbers VALUES (1, '1', '{1,NULL,2}', '({3},"2026-01-01 00:00:00+00")', '{abc,de}');
INSERT INTO numbers VALUES (2, '1', '{x}');
SELECT widecol.put('users_code', widecol.row_key('numbers', 2), 'cf:one', 'x'), widecol.put('users_code', widecol.row_key('numbers', 2), 'cf:many', '{x,1}'),
  widecol.put('users_code', widecol.row_key('numbers', 3), 'cf:many', '{{'), widecol.put('users_code', widecol.row_key('numbers', 3), 'cf:pairs', '({x},never)'),
  widecol.put('users_code', widecol.row_key('numbers', 3), 'cf:shorts', '{long}');
SELECT *, current_user FROM numbers WHERE k < 3 ORDER BY k;
SELECT many[1]::int, pg_typeof(many), pg_typeof(many[1]), array_dims(many), many || '7'::number FROM numbers WHERE k = 1;
SELECT many || 'y'::number FROM numbers WHERE k = 1;
SELECT k, many FROM numbers WHERE many = '{1,NULL,2}';
SELECT many FROM numbers WHERE k = 3;
SET widecol.on_undecodable = 'null';
BEGIN;
SELECT *, current_user, current_setting('timezone') FROM numbers ORDER BY k;
SELECT current_user, current_setting('timezone'), current_setting('search_path'), '2026-01-01 09:00'::timestamptz AT TIME ZONE 'UTC';
COMMIT;
RESET widecol.on_undecodable;
CREATE DOMAIN tolds_domain AS told[];
CREATE TYPE told_lists AS RANGE (subtype = _told);
CREATE FOREIGN TABLE tellers (k int OPTIONS (rowkey '1'), many told[], span tolds, spans tolds[], deep tolds_domain[], lists told_lists) SERVER widecol OPTIONS (table 'users_code_told');
SET client_min_messages = error;
INSERT INTO tellers VALUES (1, '{a}', '[a,b)', '{"[a,b)"}', '{"{a,NULL}",NULL}', '[{a},{b})');
RESET client_min_messages;
RESET ROLE;
SELECT many, span, spans, lower(span), deep, lists FROM tellers;
SELECT pg_typeof(deep), pg_typeof(deep[1]), pg_typeof(lower(lists)) FROM tellers;

-- a CHECK that might name a type of records is read by whoever opens the table: of functions, only PostgreSQL's own are evaluated
SET ROLE regress_users_code;
CREATE FOREIGN TABLE typed (kind text OPTIONS (rowkey '1') COLLATE "C" CHECK (kind = lower('A')), id int OPTIONS (rowkey '2'), v int) SERVER widecol OPTIONS (table 'users_code_types');
CREATE FOREIGN TABLE trap (kind text OPTIONS (rowkey '1') COLLATE "C" CHECK (kind = tells_type()), id int OPTIONS (rowkey '2'), v int) SERVER widecol OPTIONS (table 'users_code_types');
CREATE FOREIGN TABLE half (kind text OPTIONS (rowkey '1') COLLATE "C", id int OPTIONS (rowkey '2'), v int, CHECK (kind = 'a' AND tells(v::text)))
  SERVER widecol OPTIONS (table 'users_code_types');
CREATE FOREIGN TABLE trap_sql (kind text OPTIONS (rowkey '1') COLLATE "C" CHECK (kind = type_by_sql()), id int OPTIONS (rowkey '2'), v int) SERVER widecol OPTIONS (table 'users_code_types');
RESET ROLE;
INSERT INTO typed VALUES ('a', 1, 1);
SELECT widecol.put('users_code_types', widecol.row_key('trap', 'b', 1), 'cf:v', '\x00000007'::bytea);
ANALYZE trap, trap_sql;
SELECT * FROM typed;
SELECT * FROM trap;
SELECT count(*) FROM trap_sql;
SELECT * FROM half;
SELECT count(*) > 0 FROM widecol.dump;

-- a policy's function fails on a row that a join reads ahead: the row was not asked for
CREATE FOREIGN TABLE guarded (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'users_code_guarded');
INSERT INTO guarded SELECT i, CASE i WHEN 7 THEN 'x' ELSE '1' END FROM generate_series(1, 2000) i;
CREATE TABLE parts (k int NOT NULL, v text) PARTITION BY RANGE (k);
ALTER TABLE guarded ALTER k SET NOT NULL;
ALTER TABLE parts ATTACH PARTITION guarded FOR VALUES FROM (0) TO (1000000);
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY known ON parts USING (is_known(v));
CREATE TABLE wanted AS SELECT i AS k FROM generate_series(1, 100) i;
GRANT SELECT ON parts, wanted TO regress_users_code;
ANALYZE guarded, wanted;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET ROLE regress_users_code;
BEGIN;
SELECT w.k, p.v, current_user FROM wanted w JOIN parts p ON p.k = w.k LIMIT 3;
SELECT current_user;
SELECT count(p.v) FROM wanted w JOIN parts p ON p.k = w.k;
ROLLBACK;
SELECT current_user;
RESET ROLE;

SET client_min_messages = warning;
RESET timezone;
DROP SCHEMA users_code CASCADE;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['users_code', 'users_code_told', 'users_code_types', 'users_code_guarded']) t;
DROP OWNED BY regress_users_code;
DROP ROLE regress_users_code;
