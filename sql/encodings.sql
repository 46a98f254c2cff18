-- Databases in other encodings than UTF-8: text is stored in UTF-8, sorts and is
-- found as this database's encoding has it.
SET client_min_messages = warning;
CREATE DATABASE wc_latin1 TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C';
CREATE DATABASE wc_koi8r TEMPLATE template0 ENCODING 'KOI8R' LC_COLLATE 'C' LC_CTYPE 'C';
CREATE DATABASE wc_euc_jp TEMPLATE template0 ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C';
CREATE DATABASE wc_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C';
\set db :DBNAME

-- The test for each encoding: words in it, as keys of every kind.
SELECT $script$
SET client_min_messages = warning;
CREATE EXTENSION widecol;
CREATE TABLE probe (n int, w text COLLATE "C");
CREATE FUNCTION check_words(options text, more text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE o text; found bigint; bad text[] = '{}'; wrong text = 'SELECT count(*) FROM (%s) a FULL JOIN (%s) b USING (w) WHERE a.w IS NULL OR b.w IS NULL';
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE ft (w text OPTIONS (rowkey ''1''%s) COLLATE "C", n int OPTIONS (rowkey ''2''), raw bytea OPTIONS (rowkey ''raw''), v text) SERVER widecol %s', options, more);
  INSERT INTO ft (w, n, v) SELECT w, n, w || '!' FROM probe;
  SELECT count(*) INTO found FROM ft JOIN probe p USING (w, n) WHERE ft.v = p.w || '!';
  IF found <> (SELECT count(*) FROM probe) THEN bad = bad || 'not all come back'::text; END IF;
  FOREACH o IN ARRAY '{=,<,<=,>,>=,^@,~~}'::text[] LOOP
    EXECUTE format('SELECT count(*) FROM probe q, LATERAL (SELECT count(*) c, sum(n) s FROM ft WHERE w %1$s q.w) a, LATERAL (SELECT count(*) c, sum(n) s FROM probe p WHERE p.w %1$s q.w) b WHERE a IS DISTINCT FROM b', o) INTO found;
    IF found > 0 THEN bad = bad || format('%s words are compared wrongly by %s', found, o); END IF;
  END LOOP;
  SELECT count(*) INTO found FROM (SELECT w, row_number() OVER () i FROM (SELECT w FROM ft ORDER BY w) x) a
    JOIN (SELECT w, row_number() OVER () i FROM (SELECT w FROM probe ORDER BY w) x) b USING (i) WHERE a.w <> b.w;
  IF found > 0 THEN bad = bad || format('%s words are in another place', found); END IF;
  SELECT count(*) INTO found FROM (SELECT w, row_number() OVER () i FROM (SELECT w FROM ft ORDER BY w DESC LIMIT 5) x) a
    JOIN (SELECT w, row_number() OVER () i FROM (SELECT w FROM probe ORDER BY w DESC LIMIT 5) x) b USING (i) WHERE a.w <> b.w;
  IF found > 0 THEN bad = bad || format('%s words are in another place backwards', found); END IF;
  SELECT count(*) INTO found FROM probe q, LATERAL (SELECT count(*) c FROM ft WHERE (w, n) > (q.w, q.n)) a, LATERAL (SELECT count(*) c FROM probe p WHERE (p.w, p.n) > (q.w, q.n)) b WHERE a <> b;
  IF found > 0 THEN bad = bad || format('%s pages differ', found); END IF;
  DROP FOREIGN TABLE ft;
  PERFORM widecol.drop_table('ft');
  RETURN CASE WHEN bad = '{}' THEN 'right' ELSE array_to_string(bad, '; ') END;
END $$;
$script$ AS setup \gset
SELECT $script$
SELECT getdatabaseencoding() AS encoding, o AS options, check_words(o) FROM unnest(ARRAY['', ', sort ''desc''', ', length ''40''', ', encoding ''text''', ', encoding ''reversed''',
  ', encoding ''reversed_domain''', ', encoding ''md5'', length ''8'', qualifier ''o''']) o
UNION ALL SELECT getdatabaseencoding(), 'delimited', check_words('', 'OPTIONS (delimiter ''|'')');
$script$ AS run \gset

\c wc_latin1
SET client_encoding = 'UTF8';
:setup
INSERT INTO probe SELECT row_number() OVER (), w FROM unnest('{a,z,A,é,è,éa,ÿ,ß,ab,a%,%,x.y,é.ü,ÄÖ,¡}'::text[]) w;
:run
CREATE FOREIGN TABLE bytes (w text OPTIONS (rowkey '1') COLLATE "C", v text) SERVER widecol;
INSERT INTO bytes VALUES ('é', 'ÿ');
SELECT "row", value FROM widecol.scan('bytes');
SELECT widecol.put('bytes', '\xe282ac', 'cf:v', 'x');
SELECT * FROM bytes;
SELECT v FROM bytes WHERE w = 'é';
SELECT widecol.delete('bytes', '\xe282ac', 'cf:v'), widecol.put('bytes', '\x62', 'cf:v', '\xe282ac');
SELECT w, length(v) FROM bytes;

\c wc_koi8r
SET client_encoding = 'UTF8';
:setup
INSERT INTO probe SELECT row_number() OVER (), w FROM unnest('{а,б,в,г,я,А,Я,ё,Ё,ю,ц,аб,ба,z,a,а%,мир.труд,─}'::text[]) w;
:run

\c wc_euc_jp
SET client_encoding = 'UTF8';
:setup
INSERT INTO probe SELECT row_number() OVER (), w FROM unnest('{日本,日,本,あ,ア,亜,龠,a,z,日a,a日,ｱ,Ａ,日.本,本%}'::text[]) w;
:run

\c wc_ascii
SET client_encoding = 'SQL_ASCII';
:setup
INSERT INTO probe SELECT row_number() OVER (), w FROM unnest('{a,z,A,é,日本,ab,a%,x.y}'::text[]) w;
:run
-- names are bytes, too: for definitions, for functions, in views and in a dump
SELECT widecol.create_namespace(E'n\xe9');
CREATE FOREIGN TABLE bytes (k int OPTIONS (rowkey '1'), v text OPTIONS (qualifier E'q\xe9')) SERVER widecol
  OPTIONS (table E'n\xe9:t\xe9', family E'f\xe9');
INSERT INTO bytes VALUES (1, 'x');
SELECT "row", encode(family::bytea, 'hex') AS family, qualifier, value FROM widecol.scan('bytes', columns => ARRAY[E'f\xe9:q\xe9']);
SELECT widecol.put(E'n\xe9:t\xe9', '\x80000001', E'f\xe9:other', E'\xe9'::text), widecol.put('bytes', '\x80000002', E'f\xe9:q\xe9', E'\xe9'),
  widecol.alter_table(E'n\xe9:t\xe9', E'{"f\xe9": {"versions": 3}}');
SELECT k, encode(v::bytea, 'hex') AS v FROM bytes;
SELECT encode(namespace::bytea, 'hex') AS namespace, encode(name::bytea, 'hex') AS name, encode(families[1]::bytea, 'hex') AS family, foreign_tables
  FROM widecol.tables WHERE name <> 'ft';
SELECT kind, encode(name::bytea, 'hex') AS name, families ? E'f\xe9' AS has_family, encode(family::bytea, 'hex') AS family,
  qualifier, value FROM widecol.dump WHERE name <> 'ft';
SELECT widecol.create_table(E'n\xe9:u\xe9', E'{"f\xe9": {}}'), widecol.rename_table(E'n\xe9:u\xe9', E'v\xe9'), widecol.drop_table(E'v\xe9');

-- members of maps are bytes, too, and stay the same when they are read and written back
CREATE EXTENSION hstore;
CREATE FOREIGN TABLE map (k int OPTIONS (rowkey '1'), m jsonb OPTIONS (family 'm')) SERVER widecol;
CREATE FOREIGN TABLE hmap (k int OPTIONS (rowkey '1'), m hstore OPTIONS (family 'm')) SERVER widecol OPTIONS (table 'map');
INSERT INTO map VALUES (1, E'{"caf\xe9": "\xe9\xc3", "b": "1"}'), (2, '{"é": "é"}');
INSERT INTO map SELECT k + 2, m FROM map;
INSERT INTO hmap SELECT k + 4, m FROM hmap WHERE k < 3;
UPDATE map SET m = m || '{"more": "1"}' WHERE k > 2;
SELECT qualifier, value, array_agg(get_byte("row", 3) ORDER BY "row") AS rows FROM widecol.scan('map') GROUP BY 1, 2 ORDER BY 1;
SELECT k, encode((m ->> E'caf\xe9')::bytea, 'hex') AS member FROM map WHERE m ? E'caf\xe9' ORDER BY k;
SELECT array_agg(k ORDER BY k) FROM map WHERE m ->> E'caf\xe9' = E'\xe9\xc3';
SELECT widecol.put('map', '\x80000009', 'm:zero', '\x6100');
SELECT m FROM map WHERE k = 9;
CREATE SCHEMA imported;
SELECT widecol.delete('map', '\x80000009', 'm:zero'), widecol.put('map', '\x80000009', 'm:n', '\x00');
IMPORT FOREIGN SCHEMA "default" LIMIT TO (map) FROM SERVER widecol INTO imported OPTIONS (layout 'row');
SELECT attname, format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = 'imported.map'::regclass AND attnum > 0 ORDER BY attnum;

\c :db
DROP DATABASE wc_latin1;
DROP DATABASE wc_koi8r;
DROP DATABASE wc_euc_jp;
DROP DATABASE wc_ascii;
