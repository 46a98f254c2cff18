-- Values are stored in forms that do not depend on the session: rows that sessions with other
-- settings wrote look as in a heap table, as values and in the key, for types that
-- are stored in binary and for those stored as text.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA settings;
SET search_path = settings, public;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
ALTER TYPE mood ADD VALUE 'meh' BEFORE 'ok';
CREATE DOMAIN percent AS numeric(5, 2) CHECK (value <= 100);
CREATE DOMAIN moment AS timestamptz;
CREATE TYPE pair AS (a timestamptz, b float8);

CREATE FUNCTION use(n int) RETURNS void LANGUAGE sql AS $$
  SELECT set_config(name, settings[1 + n % 3], false) FROM (VALUES
    ('datestyle', ARRAY['ISO, MDY', 'SQL, DMY', 'German']), ('intervalstyle', ARRAY['postgres', 'iso_8601', 'sql_standard']),
    ('timezone', ARRAY['UTC', 'America/New_York', 'Asia/Kathmandu']), ('extra_float_digits', ARRAY['1', '-8', '0']),
    ('bytea_output', ARRAY['hex', 'escape', 'hex']), ('quote_all_identifiers', ARRAY['off', 'on', 'off']),
    ('search_path', ARRAY['settings, public', 'public, settings', 'settings, pg_catalog, public'])) s (name, settings)
$$;

CREATE TABLE kinds (name text, type text, key text, ordered bool, literals text[]);
INSERT INTO kinds VALUES
  ('int2', 'int2', 'ordered', true, '{0,-1,32767,-32768}'),
  ('int8', 'int8', 'binary', true, '{0,-1,9223372036854775807,-9223372036854775808}'),
  ('float4', 'float4', 'ordered', true, '{NaN,Infinity,-Infinity,0,1.1,0.3,16777216,1e-45}'),
  ('float8', 'float8', 'ordered', true, '{NaN,Infinity,-Infinity,0,0.1,0.30000000000000004,1e308,5e-324}'),
  ('float8_text', 'float8', 'text', true, '{NaN,Infinity,-Infinity,0,0.1,0.30000000000000004,1e308,5e-324}'),
  ('numeric', 'numeric', 'ordered', true, '{NaN,Infinity,-Infinity,0,1.5,-1.5,1e30,1e-30,99.999,12345678901234567890.123}'),
  ('numeric_text', 'numeric', 'text', true, '{NaN,Infinity,-Infinity,0,1.5,-1.5,1e30,1e-30,100,99.999}'),
  ('percent', 'percent', 'ordered', true, '{0,1.5,-1.55,100}'),
  ('bool', 'bool', 'ordered', true, '{true,false}'),
  ('date', 'date', 'ordered', true, '{2024-02-29,infinity,-infinity,0044-03-15 BC,5000-01-02}'),
  ('date_text', 'date', 'text', true, '{2024-02-29,infinity,-infinity,0044-03-15 BC,5000-01-02}'),
  ('timestamp', 'timestamp', 'ordered', true, '{2024-02-03 04:05,infinity,-infinity,0044-03-15 12:00 BC,1999-12-31 23:59:59.999999}'),
  ('timestamptz', 'timestamptz', 'ordered', true, '{2024-02-03 04:05+00,infinity,-infinity,0044-03-15 12:00+00 BC,2024-03-31 01:30+00}'),
  ('timestamptz_text', 'timestamptz', 'text', true, '{2024-02-03 04:05+00,infinity,-infinity,0044-03-15 12:00+00 BC,2024-03-31 01:30+00}'),
  ('moment', 'moment', 'binary', true, '{2024-02-03 04:05+00,2024-10-27 00:30+00,2024-10-27 01:30+00}'),
  ('time', 'time', 'text', true, '{00:00,12:00,23:59:59.999999,24:00}'),
  ('timetz', 'timetz', 'text', true, '{12:00+00,13:00+01,11:00-01,00:00+00,24:00+00}'),
  ('interval', 'interval', 'text', true, '{1 mon,30 days,720:00:00,1 day,24:00:00,-1 day,1 year 2 mons 3 days 04:05:06.789,-1 years -2 mons +3 days -04:05:06}'),
  ('money', 'money', 'text', true, '{1.00,-1.00,0,92233720368547758.07}'),
  ('bytea', 'bytea', 'ordered', true, ARRAY['', '\x00', '\xff', '\x00ff5c', 'a']),
  ('bytea_text', 'bytea', 'text', true, ARRAY['', '\x00', '\xff', '\x00ff5c', 'a']),
  ('uuid', 'uuid', 'ordered', true, '{00000000-0000-0000-0000-000000000000,ffffffff-0000-0000-0000-000000000000}'),
  ('char1', '"char"', 'text', true, ARRAY['', 'a', 'B', '~', '\377', '\200']),
  ('bpchar', 'char(4)', 'ordered', true, ARRAY['', 'a', 'a  ', ' a', 'ab', 'B']),
  ('mood', 'mood', 'text', true, '{sad,ok,happy,meh}'),
  ('oid', 'oid', 'text', true, '{0,1,2147483648,4294967295}'),
  ('regclass', 'regclass', 'text', true, '{pg_catalog.pg_class,settings.kinds,0}'),
  ('regtype', 'regtype', 'text', true, '{pg_catalog.int4,settings.pair,0}'),
  ('inet', 'inet', 'text', true, '{10.0.0.1,10.0.0.1/24,10.0.0.0/8,::1,::ffff:10.0.0.1,255.255.255.255}'),
  ('cidr', 'cidr', 'text', true, '{10.0.0.0/8,10.0.0.0/16,::1/128}'),
  ('macaddr', 'macaddr', 'text', true, '{08:00:2b:01:02:03,ff:ff:ff:ff:ff:ff}'),
  ('bit', 'bit(4)', 'text', true, '{0000,0101,1111}'),
  ('varbit', 'varbit', 'text', true, '{"",0,00,1,01,10,101}'),
  ('json', 'json', 'text', false, ARRAY['{"b":1,  "a":2}', '[1,2]', 'null', '1.0']),
  ('jsonb', 'jsonb', 'text', true, ARRAY['{"b":1,  "a":2}', '[1,2]', 'null', '1.0', '1', '"a"']),
  ('int4_array', 'int[]', 'text', true, ARRAY['{}', '{1,2}', '{1,NULL}', '{{1,2},{3,4}}', '[2:3]={1,2}']),
  ('moment_array', 'moment[]', 'text', true, ARRAY['{}', '{2024-02-03 04:05+00,infinity}', '{NULL}']),
  ('float8_array', 'float8[]', 'text', true, ARRAY['{0.1,NaN}', '{0.30000000000000004}']),
  ('bytea_array', 'bytea[]', 'text', true, ARRAY['{"\\xff00","a"}', '{NULL,""}']),
  ('pair', 'pair', 'text', true, ARRAY['("2024-02-03 04:05+00",0.1)', '(,)', '(infinity,5e-324)']),
  ('range', 'tstzrange', 'text', true, ARRAY['empty', '[2024-02-03 04:05+00,2024-02-04 00:00+00)', '(,)', '[2024-02-03 04:05+00,infinity]']),
  ('multirange', 'datemultirange', 'text', true, ARRAY['{}', '{[2024-01-01,2024-02-01),[2024-03-01,)}']),
  ('point', 'point', 'text', false, '{"(1,2)","(0.1,1e-300)"}'),
  ('lsn', 'pg_lsn', 'text', true, '{0/0,FFFFFFFF/FFFFFFFF,1/A}'),
  ('tsvector', 'tsvector', 'text', true, ARRAY['a b', 'b:1 a:2', '']);

-- each row is written with other settings than the one before
DO $$
DECLARE
  k record;
  tab text;
BEGIN
  FOR k IN SELECT * FROM kinds LOOP
    EXECUTE format('CREATE TABLE settings.%s_heap (id int, v %s)', k.name, k.type);
    EXECUTE format('CREATE FOREIGN TABLE settings.%s_value (id int OPTIONS (rowkey ''1''), v %s) SERVER widecol', k.name, k.type);
    EXECUTE format('CREATE FOREIGN TABLE settings.%s_key (v %s OPTIONS (rowkey ''1'', encoding %L), id int OPTIONS (rowkey ''2'')) SERVER widecol', k.name, k.type, k.key);
    FOREACH tab IN ARRAY ARRAY['heap', 'value', 'key'] LOOP
      FOR i IN 1 .. array_length(k.literals, 1) LOOP
        PERFORM settings.use(i);
        EXECUTE format('INSERT INTO settings.%s_%s (id, v) VALUES (%s, %L::%s)', k.name, tab, i, k.literals[i], k.type);
      END LOOP;
    END LOOP;
    PERFORM settings.use(0);
  END LOOP;
END $$;

CREATE FUNCTION answer(query text, tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  a text;
BEGIN
  EXECUTE replace(query, '$T', tab) INTO a;
  RETURN coalesce(a, 'nothing');
EXCEPTION WHEN OTHERS THEN
  RETURN sqlstate;
END $$;

-- asks foreign tables and heap copies; a difference is shown
CREATE FUNCTION compare(setting int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  k record;
  query text;
  tab text;
  here text;
  there text;
  answers int = 0;
BEGIN
  PERFORM settings.use(setting);
  FOR k IN SELECT * FROM settings.kinds LOOP
    FOR query IN
      SELECT 'SELECT string_agg(id || '': '' || v::text, ''; '' ORDER BY id) FROM $T'
      UNION ALL
      SELECT format('SELECT string_agg(id::text, '','' ORDER BY id) FROM $T WHERE v %s %L::%s', op, literal, k.type)
      FROM unnest('{=,<}'::text[]) op, unnest(k.literals) literal WHERE k.ordered
      UNION ALL
      SELECT unnest(ARRAY[format('SELECT string_agg(id::text, '','' ORDER BY id) FROM $T WHERE v IN (%s)',
          (SELECT string_agg(format('%L::%s', literal, k.type), ',') FROM unnest(k.literals[:2]) literal)),
        'SELECT string_agg(id::text, '','') FROM (SELECT id FROM $T ORDER BY v, id) o',
        'SELECT string_agg(n::text, '','') FROM (SELECT count(*) AS n FROM $T GROUP BY v ORDER BY min(id)) o',
        format('SELECT count(*) FROM $T JOIN settings.%s_heap h USING (v)', k.name)]) WHERE k.ordered
    LOOP
      there := settings.answer(query, format('settings.%s_heap', k.name));
      FOREACH tab IN ARRAY ARRAY['value', 'key'] LOOP
        answers := answers + 1;
        here := settings.answer(query, format('settings.%s_%s', k.name, tab));
        IF here <> there THEN
          RETURN NEXT format('%s_%s: %s: %s, heap: %s', k.name, tab, query, here, there);
        END IF;
      END LOOP;
    END LOOP;
  END LOOP;
  RETURN NEXT format('%s answers', answers);
  PERFORM settings.use(0);
END $$;
SELECT compare(0);
SELECT settings.compare(1);
SET enable_hashjoin = off;		-- so that keys are looked up
SET enable_mergejoin = off;
SELECT settings.compare(2);
RESET enable_hashjoin;
RESET enable_mergejoin;

-- equal values that are spelled differently
SELECT (SELECT count(*) FROM interval_key WHERE v = '1 mon'), (SELECT count(*) FROM timetz_key WHERE v = '12:00+00'),
  (SELECT count(*) FROM bpchar_key WHERE v = 'a'), (SELECT count(*) FROM jsonb_key WHERE v = '1'),
  (SELECT count(*) FROM numeric_text_key WHERE v = 100.00), (SELECT count(*) FROM numeric_text_value WHERE v = 100.00);

-- a timestamp with time zone keeps its zone in a cell, as in an array; without one it is UTC
SET TimeZone = 'Asia/Tokyo';
SET DateStyle = 'ISO';
CREATE FOREIGN TABLE zoned (k int OPTIONS (rowkey '1'), z timestamptz, a timestamptz[], t timestamp) SERVER widecol;
INSERT INTO zoned VALUES (1, '2024-03-01 12:13:14+00', '{2024-03-01 12:13:14+00}', '2024-03-01 12:13:14'),
  (2, '2024-03-01 12:13:14.5+00', NULL, NULL), (3, '0044-03-15 12:00+00 BC', NULL, NULL), (4, 'infinity', NULL, NULL);
SELECT encode(qualifier, 'escape') AS qualifier, encode(value, 'escape') AS value FROM widecol.scan('zoned');
SELECT widecol.put('zoned', '\x80000005', 'cf:z', '2024-03-01 12:13:14'), widecol.put('zoned', '\x80000006', 'cf:z', '2024-03-01 12:13:14.25'),
  widecol.put('zoned', '\x80000007', 'cf:z', '2024-03-01 13:13:14+01');
SELECT k, z FROM zoned ORDER BY k;
SELECT k FROM zoned WHERE z = '2024-03-01 12:13:14+00' ORDER BY k;
SELECT k FROM zoned WHERE z > '2024-03-01 12:13:14+00' ORDER BY k;
RESET TimeZone;
RESET DateStyle;

SET client_min_messages = error;
SELECT widecol.drop_table('zoned', cascade => true);
SELECT count(widecol.drop_table(name || '_' || t, cascade => true)) FROM kinds, unnest('{value,key}'::text[]) t;
DROP SCHEMA settings CASCADE;
