-- Text under collations of ICU, in the key and as values: conditions, orders, groups and
-- joins give what a heap table gives, whatever collation a query names.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA coll;
SET search_path = coll, public;
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION canonical (provider = icu, locale = 'und', deterministic = false);
CREATE DOMAIN swedish AS text COLLATE "sv-x-icu";
CREATE DOMAIN shouted AS text COLLATE caseless;

-- keys are bytes: two of them cannot be one value
CREATE FOREIGN TABLE refused (k text OPTIONS (rowkey '1') COLLATE caseless) SERVER widecol;
CREATE FOREIGN TABLE refused (k shouted OPTIONS (rowkey '1')) SERVER widecol;
CREATE FOREIGN TABLE refused (k text[] OPTIONS (rowkey '1', encoding 'text') COLLATE canonical) SERVER widecol;
CREATE FOREIGN TABLE refused (k text OPTIONS (rowkey '1', encoding 'md5', length '8', family 'cf', qualifier 'k') COLLATE canonical) SERVER widecol;
CREATE FOREIGN TABLE changed (k text OPTIONS (rowkey '1') COLLATE "en-x-icu", v text) SERVER widecol;
ALTER FOREIGN TABLE changed ALTER k TYPE text COLLATE caseless;
ALTER FOREIGN TABLE changed ALTER v TYPE text COLLATE caseless;
INSERT INTO changed VALUES ('a', 'A'), ('A', 'a');
SELECT * FROM changed WHERE k = 'a' AND v = 'a';

-- conditions that the engine decides, and conditions that it cannot
EXPLAIN (COSTS OFF) SELECT * FROM changed WHERE k = 'a';
EXPLAIN (COSTS OFF) SELECT * FROM changed WHERE k = 'a' COLLATE caseless;
EXPLAIN (COSTS OFF) SELECT * FROM changed WHERE k > 'a';
EXPLAIN (COSTS OFF) SELECT * FROM changed WHERE k > 'a' COLLATE "C";
EXPLAIN (COSTS OFF) SELECT * FROM changed ORDER BY k;
EXPLAIN (COSTS OFF) SELECT * FROM changed ORDER BY k COLLATE "C";
EXPLAIN (COSTS OFF) SELECT * FROM changed WHERE v = 'a' AND k LIKE 'a%' AND k ^@ 'a';
EXPLAIN (COSTS OFF) SELECT * FROM changed WHERE v = 'a' COLLATE "C" AND v LIKE 'a%' COLLATE "en-x-icu";

-- --- the same over a heap table -------------------------------------------------

CREATE TABLE words (id int, w text);
INSERT INTO words SELECT row_number() OVER (), w FROM unnest(ARRAY['', ' ', 'a', 'A', 'ä', 'Ä', U&'a\0308', 'a ', 'ab', 'AB', 'aB', 'a-b',
  'ab-c', U&'a\0308bc', 'äbc', 'b', 'z', 'Z', 'å', 'ö', 'Ö', 'ss', 'ß', 'i', 'I', 'ı', 'İ', '_a', '%a', 'a%c', 'é', U&'e\0301', '10', '2',
  '日本', '~']) w;
CREATE TABLE tabs (tab text, heap text);
DO $$
DECLARE
  kind record;
  tab text;
BEGIN
  FOR kind IN
    SELECT * FROM (VALUES ('plain', 'text', '', 'ordered'), ('c', 'text', 'COLLATE "C"', 'ordered'), ('english', 'text', 'COLLATE "en-x-icu"', 'ordered'),
      ('domain', 'swedish', '', 'ordered'), ('short', 'varchar(8)', 'COLLATE "en-x-icu"', 'ordered'), ('blank', 'char(6)', 'COLLATE "en-x-icu"', 'ordered'),
      ('name', 'name', '', 'text'), ('caseless', 'text', 'COLLATE caseless', NULL), ('canonical', 'text', 'COLLATE canonical', NULL),
      ('blank_caseless', 'char(6)', 'COLLATE caseless', NULL)) k (name, type, coll, encoding)
  LOOP
    EXECUTE format('CREATE TABLE %s_heap (id int, v %s %s)', kind.name, kind.type, kind.coll);
    EXECUTE format('INSERT INTO %s_heap SELECT * FROM words', kind.name);
    EXECUTE format('CREATE FOREIGN TABLE %s_value (id int OPTIONS (rowkey ''1''), v %s %s) SERVER widecol', kind.name, kind.type, kind.coll);
    IF kind.encoding IS NOT NULL THEN
      EXECUTE format('CREATE FOREIGN TABLE %s_key (v %s OPTIONS (rowkey ''1'', encoding %L) %s, id int OPTIONS (rowkey ''2'')) SERVER widecol',
        kind.name, kind.type, kind.encoding, kind.coll);
      EXECUTE format('CREATE FOREIGN TABLE %s_last (v %s OPTIONS (rowkey ''2'', encoding %L, sort ''desc'') %s, id int OPTIONS (rowkey ''1'')) SERVER widecol',
        kind.name, kind.type, kind.encoding, kind.coll);
    END IF;
    FOREACH tab IN ARRAY CASE WHEN kind.encoding IS NOT NULL THEN ARRAY['value', 'key', 'last'] ELSE ARRAY['value'] END LOOP
      EXECUTE format('INSERT INTO %s_%s (id, v) SELECT * FROM words', kind.name, tab);
      INSERT INTO tabs VALUES (kind.name || '_' || tab, kind.name || '_heap');
    END LOOP;
  END LOOP;
END $$;

-- an answer, or the code of the error
CREATE FUNCTION answer(query text, tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  a text;
BEGIN
  EXECUTE replace(query, '$T', tab) INTO a;
  RETURN coalesce(a, 'nothing');
EXCEPTION WHEN OTHERS THEN
  RETURN sqlstate;
END $$;

-- asks every foreign table and its heap copy; a difference is shown
CREATE FUNCTION compare(queries text[]) RETURNS SETOF text LANGUAGE sql AS $$
  WITH heap AS MATERIALIZED (SELECT h.heap, q, answer(q, h.heap) AS a FROM (SELECT DISTINCT heap FROM tabs) h, unnest(queries) q),
    pairs AS MATERIALIZED (SELECT t.tab, q, h.a AS there, answer(q, t.tab) AS here FROM tabs t JOIN heap h USING (heap))
  SELECT format('%s answers, %s different', count(*), count(*) FILTER (WHERE here <> there)) FROM pairs
  UNION ALL (SELECT format('%s: %s: %s, heap: %s', tab, q, here, there) FROM pairs WHERE here <> there ORDER BY tab, q)
$$;
CREATE TABLE collations (c text);
INSERT INTO collations VALUES (''), ('COLLATE "C"'), ('COLLATE "en-x-icu"'), ('COLLATE "sv-x-icu"'), ('COLLATE caseless'), ('COLLATE canonical');

-- one condition
SELECT compare(ARRAY(
  SELECT format('SELECT string_agg(id::text, '','' ORDER BY id) FROM $T WHERE v %s %L %s', op, probe, c)
  FROM unnest('{=,<>,<,>=,IS NOT DISTINCT FROM,LIKE,NOT LIKE,ILIKE,~,^@,~<~}'::text[]) op,
    unnest(ARRAY['', 'a', 'A ', 'ä', 'ss', 'a%']) probe, collations));
-- the constant's type decides whether trailing blanks count; the column's collation is another
SELECT compare(ARRAY(
  SELECT format('SELECT string_agg(id::text, '','' ORDER BY id) FROM $T WHERE v %s %s %s', c, op, probe)
  FROM unnest('{=,<,>=,^@}'::text[]) op, unnest('{''a ''::text,''a ''::char(3),''ab''::varchar(5),''A''::name,U&''a\0308''}'::text[]) probe, collations));
-- several
SELECT compare(ARRAY(
  SELECT format('SELECT string_agg(id::text, '','' ORDER BY id) FROM $T WHERE ' || cond, c)
  FROM unnest(ARRAY['v %s IN (''a'', ''Ä'', ''z'', ''none'')', 'v %s NOT IN (''a'', ''Ä'')', 'v %s = ANY (ARRAY[''AB'', ''é'', NULL])',
    'v %s <> ALL (ARRAY[''AB'', ''é''])', 'v %s BETWEEN ''a'' AND ''b''', 'v %s BETWEEN SYMMETRIC ''z'' AND ''a''', 'v %s = ''a'' OR v %1$s > ''z''',
    'NOT (v %s = ''a'' AND id > 3)', 'v IS NOT NULL AND v %s >= ''ö''', 'lower(v %s) = ''ä''', 'starts_with(v %s, ''a'')',
    '(v %s, id) > (''a'', 5)', '(v %s, id) <= (''ab'', 10)', '(v %s, id) = (''ä'', 5)']) cond, collations));
-- orders, groups, joins
SELECT compare(ARRAY(
  SELECT format(query, c)
  FROM unnest(ARRAY['SELECT string_agg(id::text, '','') FROM (SELECT id FROM $T ORDER BY v %s, id) o',
    'SELECT string_agg(id::text, '','') FROM (SELECT id FROM $T ORDER BY v %s DESC, id DESC LIMIT 9) o',
    'SELECT string_agg(n::text, '','') FROM (SELECT count(*) AS n FROM $T GROUP BY v %s ORDER BY min(id)) o',
    'SELECT count(*) FROM (SELECT DISTINCT v %s FROM $T) o',
    'SELECT count(*) FROM $T a JOIN $T b ON a.v %s = b.v',
    'SELECT string_agg(a.id::text, '','' ORDER BY a.id) FROM $T a WHERE EXISTS (SELECT FROM $T b WHERE b.v = a.v %s AND b.id <> a.id)',
    'SELECT string_agg(id::text, '','' ORDER BY id) FROM $T WHERE v %s IN (SELECT w FROM words WHERE id %% 3 = 0)',
    'SELECT count(*) FROM (SELECT v %s FROM $T WHERE id < 20 INTERSECT SELECT v FROM $T WHERE id > 10) o']) query, collations));
-- no collation to be had: the error, not an answer
SELECT compare(ARRAY(
  SELECT format('SELECT string_agg(id::text, '','' ORDER BY id) FROM $T WHERE EXISTS (SELECT FROM %s o WHERE $T.v %s o.v)', heap, op)
  FROM unnest('{english_heap,c_heap,blank_heap,name_heap}'::text[]) heap, unnest('{=,<>,<,^@,LIKE,IS DISTINCT FROM}'::text[]) op));
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT k.id FROM domain_heap h JOIN english_key k ON k.v = h.v ORDER BY 1;
SELECT id FROM domain_key k WHERE v = ANY (ARRAY(SELECT v FROM english_heap)) ORDER BY 1;
SELECT compare(ARRAY(
  SELECT format('SELECT string_agg(id::text, '','' ORDER BY id) FROM (SELECT b.id FROM words w JOIN $T b ON b.v %s = w.w) o', c) FROM collations));
RESET enable_mergejoin;
SET enable_nestloop = off;
SELECT compare(ARRAY(
  SELECT format('SELECT string_agg(id::text, '','' ORDER BY id) FROM (SELECT b.id FROM words w JOIN $T b ON b.v %s = w.w) o', c) FROM collations));
RESET enable_nestloop;
RESET enable_hashjoin;

-- parameters of a generic plan
SET plan_cache_mode = force_generic_plan;
PREPARE like_it(text) AS SELECT (SELECT string_agg(id::text, ',' ORDER BY id) FROM english_key WHERE v LIKE $1) AS key,
  (SELECT string_agg(id::text, ',' ORDER BY id) FROM english_value WHERE v LIKE $1) AS value,
  (SELECT string_agg(id::text, ',' ORDER BY id) FROM english_heap WHERE v LIKE $1) AS heap;
EXECUTE like_it('a%');
EXECUTE like_it('A_');
EXECUTE like_it('ä');
EXECUTE like_it('%');
EXECUTE like_it(NULL);
PREPARE same_as(text) AS SELECT (SELECT string_agg(id::text, ',' ORDER BY id) FROM caseless_value WHERE v = $1) AS value,
  (SELECT string_agg(id::text, ',' ORDER BY id) FROM caseless_heap WHERE v = $1) AS heap,
  (SELECT string_agg(id::text, ',' ORDER BY id) FROM english_key WHERE v = $1 COLLATE caseless) AS key;
EXECUTE same_as('A');
EXECUTE same_as('Äbc');
RESET plan_cache_mode;
DEALLOCATE ALL;

-- changes
BEGIN;
UPDATE caseless_value SET v = v || '!' WHERE v = 'AB';
SELECT id, v FROM caseless_value WHERE v IN ('ab!', 'Ab', 'Z') ORDER BY id;
DELETE FROM caseless_value WHERE v = 'z';
DELETE FROM english_key WHERE v = 'AB' COLLATE caseless;
SELECT (SELECT count(*) FROM caseless_value), (SELECT count(*) FROM english_key), (SELECT count(*) FROM words);
ROLLBACK;

SET client_min_messages = error;
SELECT count(widecol.drop_table(t, cascade => true)) FROM (SELECT tab FROM tabs UNION ALL VALUES ('changed')) d (t);
DROP SCHEMA coll CASCADE;
