-- Families as maps: jsonb and hstore, whole families and prefixes.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;

CREATE FOREIGN TABLE mp (
  k text OPTIONS (rowkey '1') COLLATE "C",
  degree jsonb OPTIONS (family 'degree'),
  total int OPTIONS (family 'degree', qualifier 'total'),
  note text
) SERVER widecol;

INSERT INTO mp VALUES
  ('a', '{"DTLegend": "1", "3DARPG": 6, "flag": true, "none": null, "list": [1, {"x": "y"}]}', 7, 'n'),
  ('b', '{}', NULL, NULL),
  ('c', NULL, 1, NULL);
SELECT * FROM mp ORDER BY k;
SELECT encode("row", 'escape') AS "row", family, encode(qualifier, 'escape') AS qualifier,
       CASE WHEN qualifier <> 'total' THEN encode(value, 'escape') END AS value
  FROM widecol.scan('mp', columns => '{degree}');

-- INSERT replaces the map; it clears the cell of another column in the family only if that column is NULL
INSERT INTO mp VALUES ('a', '{"Frus3D": "2"}', 2, NULL);
SELECT * FROM mp WHERE k = 'a';

-- UPDATE writes only changed members
SELECT ts AS before FROM widecol.get('mp', 'a', '{degree:Frus3D}') \gset
UPDATE mp SET degree = degree || '{"DTLegend": "3"}' WHERE k = 'a';
SELECT ts = :before AS untouched FROM widecol.get('mp', 'a', '{degree:Frus3D}');
SELECT * FROM mp WHERE k = 'a';
UPDATE mp SET degree = degree - 'Frus3D' WHERE k = 'a';
UPDATE mp SET degree = jsonb_set(degree, '{DTLegend}', '"4"'), total = total + 1 WHERE k = 'a';
SELECT * FROM mp WHERE k = 'a';
UPDATE mp SET degree = NULL WHERE k = 'a';
SELECT * FROM mp WHERE k = 'a';
UPDATE mp SET total = NULL WHERE k = 'a' RETURNING *;
SELECT * FROM mp ORDER BY k;
SELECT degree ? 'x' AS has, count(*) FROM mp GROUP BY 1 ORDER BY 1;

-- values that a map cannot have
INSERT INTO mp (k, degree) VALUES ('x', '[1]');
INSERT INTO mp (k, degree) VALUES ('x', '"text"');
INSERT INTO mp (k, degree) VALUES ('x', '{"total": 1}');
SELECT widecol.put('mp', 'x', 'degree:bin', '\xff00');
SELECT * FROM mp WHERE k = 'x';
SELECT k, note FROM mp WHERE k = 'x';
-- statements that do not read the cell do not fail
INSERT INTO mp (k, total, note) VALUES ('y', 1, 'n');
UPDATE mp SET note = k || 'ote', total = 3 WHERE k = 'x' RETURNING k, note, total;
UPDATE mp SET k = 'y' || k, note = note || '!' WHERE k = 'x' RETURNING k, note;
UPDATE mp SET note = note || '?' WHERE k = 'yx' RETURNING degree;
UPDATE mp SET degree = '{}', note = k WHERE k = 'yx';
UPDATE mp SET note = k WHERE k = 'yx' AND degree ? 'bin';
UPDATE mp SET note = mp::text WHERE k = 'yx';
UPDATE mp SET note = NULL, total = NULL WHERE k = 'yx' AND note = k || k RETURNING k;
UPDATE mp SET note = NULL, total = nullif(total, 3) WHERE k = 'yx' RETURNING k, note, total;
SELECT encode(qualifier, 'escape') AS qualifier, value FROM widecol.get('mp', 'yx') WHERE qualifier <> '';
ALTER FOREIGN TABLE mp ADD CHECK (degree IS NULL OR degree <> '"x"');
UPDATE mp SET note = k WHERE k = 'yx' AND length(k) > 0;
ALTER FOREIGN TABLE mp DROP CONSTRAINT mp_degree_check;
SELECT widecol.deleteall('mp', 'yx'), widecol.deleteall('mp', 'y');

-- a member without a name and without a value
INSERT INTO mp VALUES ('e', '{"": ""}', NULL, NULL), ('f', '{"": "v", "q": ""}', NULL, NULL), ('g', '{}', NULL, NULL);
SELECT k, degree, degree -> '' AS member FROM mp WHERE k IN ('e', 'f', 'g') ORDER BY k;
SELECT k FROM mp WHERE degree ->> '' = '' ORDER BY k;
UPDATE mp SET degree = degree || '{"": ""}' WHERE k IN ('f', 'g');
UPDATE mp SET degree = degree - '' WHERE k = 'e';
SELECT k, degree FROM mp WHERE k IN ('e', 'f', 'g') ORDER BY k;
SELECT encode("row", 'escape') AS "row", encode(qualifier, 'escape') AS qualifier, value FROM widecol.scan('mp', 'e', 'h', columns => '{degree}');
DELETE FROM mp WHERE k IN ('e', 'f', 'g');

-- prefixes
CREATE FOREIGN TABLE mp_p (
  k text OPTIONS (rowkey '1') COLLATE "C",
  x jsonb OPTIONS (family 'f', qualifier_prefix 'x:'),
  y jsonb OPTIONS (family 'f', qualifier_prefix 'y:'),
  z text OPTIONS (family 'f', qualifier 'x:z')
) SERVER widecol;
INSERT INTO mp_p VALUES ('a', '{"x:1": "1", "x:2": "2"}', '{"y:1": "1"}', 'own');
SELECT * FROM mp_p;
SELECT widecol.put('mp_p', 'a', 'f:other', 'stays');
UPDATE mp_p SET x = '{"x:2": "two"}';
SELECT * FROM mp_p;
INSERT INTO mp_p (k, y) VALUES ('a', '{"y:9": "9"}');
SELECT * FROM mp_p;
SELECT encode(qualifier, 'escape') AS qualifier FROM widecol.scan('mp_p');
INSERT INTO mp_p VALUES ('b', '{"y:1": "1"}');
INSERT INTO mp_p VALUES ('b', '{"x:z": "1"}');

-- keys move with their maps
UPDATE mp_p SET k = 'b';
SELECT * FROM mp_p;
SELECT encode("row", 'escape') AS "row", encode(qualifier, 'escape') AS qualifier FROM widecol.scan('mp_p');
UPDATE mp_p SET k = 'c', y = y || '{"y:10": "10"}', z = 'z';
SELECT * FROM mp_p;

-- hstore
SET client_min_messages = warning;
CREATE EXTENSION hstore;
RESET client_min_messages;
CREATE FOREIGN TABLE mp_h (k int OPTIONS (rowkey '1'), h hstore OPTIONS (family 'h')) SERVER widecol;
INSERT INTO mp_h VALUES (1, 'a=>1, b=>"two words", c=>NULL'), (2, '');
SELECT * FROM mp_h ORDER BY k;
UPDATE mp_h SET h = h || 'd=>4'::hstore - 'a'::text WHERE k = 1;
SELECT * FROM mp_h ORDER BY k;

-- non-ASCII
INSERT INTO mp_h VALUES (3, '"Größe"=>"ÄÖ"');
SELECT * FROM mp_h WHERE k = 3;
SELECT qualifier, value FROM widecol.get('mp_h', '\x80000003');

-- a type of that name that somebody else made is no map, and none of its functions is called;
-- not even when it was added to the extension
CREATE SCHEMA mp_s;
CREATE TYPE mp_s.hstore AS (x text);
CREATE FUNCTION mp_s.to_jsonb(mp_s.hstore) RETURNS jsonb LANGUAGE plpgsql AS $$BEGIN RAISE 'to_jsonb was called'; END$$;
CREATE CAST (mp_s.hstore AS jsonb) WITH FUNCTION mp_s.to_jsonb(mp_s.hstore);
CREATE FUNCTION mp_s.hstore(text[], text[]) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FOREIGN TABLE mp_fake (k int OPTIONS (rowkey '1'), h mp_s.hstore OPTIONS (family 'h', qualifier_prefix 'x')) SERVER widecol;
CREATE FOREIGN TABLE mp_fake (k int OPTIONS (rowkey '1'), h mp_s.hstore OPTIONS (family 'h')) SERVER widecol;
INSERT INTO mp_fake VALUES (1, ROW('a=>1'));
SELECT * FROM mp_fake;
SELECT encode(qualifier, 'escape') AS qualifier, encode(value, 'escape') AS value FROM widecol.scan('mp_fake');
ALTER EXTENSION hstore ADD TYPE mp_s.hstore;
ALTER EXTENSION hstore ADD FUNCTION mp_s.hstore(text[], text[]);
ALTER EXTENSION hstore ADD FUNCTION mp_s.to_jsonb(mp_s.hstore);
ALTER FOREIGN TABLE mp_fake OPTIONS (ADD fetch_size '10');
SELECT * FROM mp_fake;
ALTER EXTENSION hstore DROP FUNCTION mp_s.to_jsonb(mp_s.hstore);
ALTER EXTENSION hstore DROP FUNCTION mp_s.hstore(text[], text[]);
ALTER EXTENSION hstore DROP TYPE mp_s.hstore;

-- of the real type the real functions are called, wherever they are
CREATE SCHEMA mp_t;
ALTER EXTENSION hstore SET SCHEMA mp_t;
CREATE FUNCTION mp_t.hstore(text[], text[], int DEFAULT 0) RETURNS int LANGUAGE sql AS 'SELECT 1';
SELECT * FROM mp_h ORDER BY k;

SET client_min_messages = warning;
-- keys of all lengths, few members and many: the jsonb that PostgreSQL makes, also of a row that is large
CREATE FOREIGN TABLE mp_j (k int OPTIONS (rowkey '1'), m jsonb OPTIONS (family 'm')) SERVER widecol;
CREATE TABLE mp_made AS
SELECT n AS k, (SELECT jsonb_object_agg(repeat(chr(97 + i % 7), i * 7 % most) || i, repeat('v', i % 50)) FROM generate_series(1, n) i) AS m
  FROM (VALUES (1, 3), (2, 3), (31, 20), (33, 40), (64, 250), (65, 301), (500, 301)) x (n, most);
INSERT INTO mp_j SELECT * FROM mp_made;
SELECT k, j.m = h.m AS equal, j.m::text = h.m::text AS same_text, length(j.m::text) AS length,
       (SELECT count(*) FROM jsonb_each(h.m) e WHERE j.m -> e.key = e.value) AS found
  FROM mp_j j JOIN mp_made h USING (k) ORDER BY k;
UPDATE mp_j SET m = m || '{"b": "1", "zz": "2"}' WHERE k > 60;
SELECT k, m - 'b' - 'zz' = (SELECT h.m - 'b' - 'zz' FROM mp_made h WHERE h.k = j.k) AS rest, m -> 'zz' AS zz FROM mp_j j WHERE k > 60 ORDER BY k;
DROP TABLE mp_made;

-- members that are those of the row before, a part of them, more, or others; names of bytes in another order than jsonb's; empty names
-- and values; a row without members
DELETE FROM mp_j;
CREATE TABLE mp_made AS
SELECT n AS k, (SELECT jsonb_object_agg(q, CASE n % 3 WHEN 0 THEN '' ELSE q || n END) FROM unnest(names) q) AS m
  FROM generate_series(1, 200) n, LATERAL (SELECT CASE n * 7 % 11
       WHEN 0 THEN '{a,b,bb}'::text[] WHEN 1 THEN '{a,b,bb}' WHEN 2 THEN '{}' WHEN 3 THEN '{a,b,bb,c}' WHEN 4 THEN '{b,bb}' WHEN 5 THEN '{"",a}'
       WHEN 6 THEN '{""}' WHEN 7 THEN '{a,b}' WHEN 8 THEN '{aé,ab,b}' WHEN 9 THEN '{a,b,cc}' ELSE '{a,b,cc,"cc "}' END AS names) x;
INSERT INTO mp_j SELECT * FROM mp_made;
SELECT count(*), count(j.m), count(*) FILTER (WHERE j.m::text = h.m::text) AS same,
       count(*) FILTER (WHERE j.m IS DISTINCT FROM h.m) AS different FROM mp_j j JOIN mp_made h USING (k);
DROP TABLE mp_made;

DROP FOREIGN TABLE mp, mp_p, mp_h, mp_fake, mp_j;
DROP SCHEMA mp_s CASCADE;
DROP EXTENSION hstore;
DROP SCHEMA mp_t CASCADE;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['mp', 'mp_p', 'mp_h', 'mp_fake', 'mp_j']) t;
