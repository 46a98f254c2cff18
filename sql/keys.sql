-- Conditions on key columns become ranges; the answers stay those of a heap table.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA keys;
SET search_path = keys, public;

-- Runs a condition on both tables; gives the number of rows, or how they differ.
CREATE FUNCTION same(stored text, heap text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE missing bigint; extra bigint; n bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM (SELECT * FROM %2$s WHERE %3$s EXCEPT ALL SELECT * FROM %1$s WHERE %3$s) d',
                 stored, heap, condition) INTO missing;
  EXECUTE format('SELECT count(*) FROM (SELECT * FROM %1$s WHERE %3$s EXCEPT ALL SELECT * FROM %2$s WHERE %3$s) d',
                 stored, heap, condition) INTO extra;
  EXECUTE format('SELECT count(*) FROM %s WHERE %s', stored, condition) INTO n;
  IF missing = 0 AND extra = 0 THEN
    RETURN n || ' rows';
  END IF;
  RETURN format('DIFFERS: %s missing, %s too many', missing, extra);
END $$;

-- The kind of scan that a condition makes.
CREATE FUNCTION scan_kind(stored text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; kind text = 'no scan'; filtered text = '';
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT * FROM %s WHERE %s', stored, condition) LOOP
    IF line ~ '^ *Scan: ' THEN kind = regexp_replace(line, '^ *Scan: ', ''); END IF;
    IF line ~ '^  Filter: ' THEN filtered = ', filter'; END IF;
    IF line ~ '^  Engine Filter: ' THEN filtered = filtered || ', engine filter'; END IF;
  END LOOP;
  RETURN kind || filtered;
END $$;

-- One key column of every type: each comparison with values in and around the data.
CREATE FUNCTION check_type(coltype text, options text, vals text[], probes text[], coll text = '') RETURNS TABLE (op text, verdict text)
LANGUAGE plpgsql AS $$
DECLARE probe text; o text; result text; bad text; n int;
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE one (k %s OPTIONS (rowkey ''1''%s) %s, i int OPTIONS (rowkey ''2''), v int) SERVER widecol', coltype, options, coll);
  EXECUTE format('CREATE TABLE one_heap (k %s %s, i int, v int)', coltype, coll);
  EXECUTE format('INSERT INTO one_heap SELECT x::%s, i, i * 10 FROM unnest($1) x, generate_series(1, 2) i', coltype) USING vals;
  INSERT INTO one SELECT * FROM one_heap;
  FOREACH o IN ARRAY ARRAY['=', '<', '<=', '>', '>='] LOOP
    bad = NULL;
    FOREACH probe IN ARRAY probes || vals LOOP
      result = same('one', 'one_heap', format('k %s %L', o, probe));
      IF result LIKE 'DIFFERS%' THEN bad = concat_ws('; ', bad, probe || ' ' || result); END IF;
      result = same('one', 'one_heap', format('k %s %L AND i > 1', o, probe));
      IF result LIKE 'DIFFERS%' THEN bad = concat_ws('; ', bad, probe || ' (i > 1) ' || result); END IF;
    END LOOP;
    op = o || ' ' || scan_kind('one', format('k %s %L', o, vals[1]));
    verdict = coalesce(bad, 'same');
    RETURN NEXT;
  END LOOP;
  op = 'order';
  EXECUTE 'SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY k, i) n, k, i FROM one EXCEPT SELECT row_number() OVER (ORDER BY k, i), k, i FROM one_heap) d' INTO n;
  verdict = CASE n WHEN 0 THEN 'same' ELSE n || ' differ' END;
  RETURN NEXT;
  DROP FOREIGN TABLE one;
  DROP TABLE one_heap;
  PERFORM widecol.drop_table('one');
END $$;

SELECT * FROM check_type('int2', '', '{-32768,-1,0,1,32767}', '{2,-2}');
SELECT * FROM check_type('int4', '', '{-2147483648,-1,0,1,2147483647}', '{5,-5}');
SELECT * FROM check_type('int4', ', sort ''desc''', '{-2147483648,-1,0,1,2147483647}', '{5,-5}');
SELECT * FROM check_type('int4', ', encoding ''binary''', '{-2147483648,-1,0,1,2147483647}', '{5,-5}');
SELECT * FROM check_type('int8', '', '{-9223372036854775808,-1,0,1,9223372036854775807}', '{5,-5}');
SELECT * FROM check_type('int8', ', sort ''desc'', encoding ''binary''', '{-9223372036854775808,-1,0,1,9223372036854775807}', '{5,-5}');
SELECT * FROM check_type('float8', '', '{-Infinity,-1.5,0,1e-300,3,Infinity,NaN}', '{-0,2,1e300}');
SELECT * FROM check_type('numeric', '', '{-1000,-1.50,0,0.001,1,1.5,10,NaN}', '{1.50,-1.5,100,-Infinity}');
SELECT * FROM check_type('bool', '', '{true,false}', '{}');
SELECT * FROM check_type('date', '', '{-infinity,1999-12-31,2000-01-01,2026-02-28,infinity}', '{2010-01-01}');
SELECT * FROM check_type('timestamptz', ', sort ''desc''', '{-infinity,1999-12-31 00:00+00,2000-01-01 00:00+00,infinity}', '{2010-01-01 00:00+00}');
SELECT * FROM check_type('uuid', '', '{00000000-0000-0000-0000-000000000000,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,ffffffff-ffff-ffff-ffff-ffffffffffff}', '{b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}');
SELECT * FROM check_type('bytea', '', '{"","\\x00","\\x0000","\\x00ff","\\x01","\\xff","\\xffff"}', '{"\\x0001","\\xff00"}');
SELECT * FROM check_type('text', '', '{"",a,ab,abc,b,Z,é,日本}', '{aa,abcd,c}', 'COLLATE "C"');
SELECT * FROM check_type('text', ', sort ''desc''', '{"",a,ab,abc,b,Z,é,日本}', '{aa,abcd,c}', 'COLLATE "C"');
SELECT * FROM check_type('text', ', length ''4''', '{"",a,ab,abc,abcd,b,Z}', '{aa,abcde,c}', 'COLLATE "C"');
SELECT * FROM check_type('varchar(10)', '', '{"",a,ab,abc,b,Z}', '{aa,abcd,c}', 'COLLATE "C"');
SELECT * FROM check_type('text', ', encoding ''reversed''', '{"",a,ab,abc,b,Z}', '{aa,abcd,c}', 'COLLATE "C"');
SELECT * FROM check_type('int4', ', encoding ''text''', '{-10,-1,0,1,10,9}', '{5,-5}');

-- Text in another collation than "C": equality and prefixes only.
CREATE FOREIGN TABLE words (w text OPTIONS (rowkey '1') COLLATE "en-x-icu", n int) SERVER widecol;
CREATE TABLE words_heap (w text COLLATE "en-x-icu", n int);
INSERT INTO words_heap SELECT w, row_number() OVER () FROM unnest('{a,B,b,A,ab,Ab,é,e,z,Z,a%b,a_b,a\\b}'::text[]) w;
INSERT INTO words SELECT * FROM words_heap;
SELECT c, same('words', 'words_heap', c), scan_kind('words', c) FROM unnest(ARRAY[
  $$w = 'b'$$, $$w > 'b'$$, $$w <= 'a'$$, $$w LIKE 'a%'$$, $$w LIKE 'a'$$, $$w LIKE 'a\%%'$$, $$w LIKE 'a_'$$, $$w LIKE '%b'$$,
  $$w ^@ 'a'$$, $$starts_with(w, 'A')$$, $$w IN ('a', 'z', 'nothing')$$, $$w = NULL$$, $$w LIKE NULL$$]) c;
SELECT w FROM words ORDER BY w;
DROP FOREIGN TABLE words;
SELECT widecol.drop_table('words');

-- A composite key: equality, then a range; combinations, contradictions.
CREATE FOREIGN TABLE comp (
  a int OPTIONS (rowkey '1'),
  b text OPTIONS (rowkey '2') COLLATE "C",
  c int8 OPTIONS (rowkey '3', sort 'desc'),
  raw bytea OPTIONS (rowkey 'raw'),
  v int) SERVER widecol;
INSERT INTO comp (a, b, c, v) SELECT a, b, c, a * 100 + c FROM generate_series(-2, 2) a, unnest('{"",x,xy,y}'::text[]) b, generate_series(-3, 3) c;
CREATE TABLE comp_heap AS SELECT * FROM comp;
SELECT count(*), count(DISTINCT raw) FROM comp_heap;
SELECT c AS condition, same('comp', 'comp_heap', c), scan_kind('comp', c) FROM unnest(ARRAY[
  'a = 1',
  'a = 1 AND b = ''x''',
  'a = 1 AND b = ''x'' AND c = 2',
  'a = 1 AND b = ''x'' AND c = 2::int2',
  'a = 1::int8 AND b > ''x''',
  'a = 3000000000',
  'a < 3000000000',
  'a > 3000000000',
  'a >= -3000000000 AND a < 0',
  'a = 1 AND b LIKE ''x%''',
  'a = 1 AND b ^@ ''x'' AND c > 0',
  'a = 1 AND c > 0',
  'a BETWEEN 0 AND 1',
  'a BETWEEN 1 AND 0',
  'a > 0 AND a < 2 AND a <> 1',
  'a > 2 AND a < 1',
  'a = 1 AND a > 1',
  'a = 1 AND a >= 1 AND b < ''y'' AND b >= ''x'' AND b LIKE ''x%''',
  'a = 1 AND b = ''x'' AND c < 2',
  'a = 1 AND b = ''x'' AND c >= -1 AND c < 2',
  'a = 1 AND b = ''x'' AND c BETWEEN -1 AND 9223372036854775807',
  'a IN (1, 2, 5)',
  'a IN (1, 2, NULL) AND b IN (''x'', ''y'') AND c IN (0, 1)',
  'a = ANY (ARRAY[2, 1, 1, 2]) AND b > ''x''',
  'a IN (1, 2) AND a > 1',
  'a = ANY (''{}''::int[])',
  'a = ANY (NULL::int[])',
  'a = NULL',
  'a IS NULL',
  'a IS NOT NULL',
  'a = 1 OR a = 2',
  'a = 1 OR a BETWEEN -1 AND 0 OR a > 5',
  '(a = 1 AND b = ''x'') OR (a = 2 AND c = 1)',
  'a = 1 AND (b = ''x'' OR b > ''xy'')',
  'a = 1 AND (b = ''x'' OR c = 1)',
  'a = 1 OR v = 200',
  'a BETWEEN SYMMETRIC 2 AND 1',
  '(a, b) IN ((1, ''x''), (2, ''y''))',
  '(a, b, c) IN ((1, ''x'', 0), (2, ''y'', 9))',
  '(a = 1 OR a = 2) AND (b = ''x'' OR b = ''y'')',
  '(a = 1 OR a = 2) AND b = ''x'' AND c = 0',
  '(a = 1 OR a = 2 OR a = NULL) AND b > ''x''',
  '(a = 1 OR a = 2::int8) AND b = ''x'' AND c = 0',
  '(a = 1 OR a = 3000000000) AND b = ''x''',
  '(a, b, c) IN ((1, ''x'', 0), (2, ''x'', 0))',
  '((a = 1 AND b = ''x'') OR (a = 2 AND b = ''y'')) AND c = 0',
  '((a = 1 AND b = ''x'') OR (a = 2 AND b = ''y'')) AND c > 0 AND c < 3',
  '((a = 1 AND b = ''x'') OR (a = 2 AND b = ''y'')) AND c IN (0, 1, NULL)',
  '((a = 1 AND b = ''x'') OR a = 2) AND c = 0',
  '((a = 1 AND c = 1) OR a = 2) AND b = ''x''',
  '((a = 1 AND c = 1) OR a > 1) AND b = ''x''',
  '((a = 1 AND v = 100) OR (a = 2 AND b = ''x'')) AND b <= ''x'' AND c = 0',
  '((a = 1 AND b = ''x'') OR (a = 2 AND b = ''y'')) AND c = ANY (ARRAY(SELECT generate_series(-5000, 1000)))',
  'a IS NOT DISTINCT FROM 1 AND b = ''x''',
  'a IS NOT DISTINCT FROM NULL',
  'a = 1 AND left(b, 1) = ''x''',
  'a = 1 AND left(b, -1) = ''x''',
  'a = 1 AND ''xy'' = substring(b FROM 1 FOR 2)',
  'a = 1 AND substr(b, 2, 1) = ''y''',
  'a = 1 AND substr(b, 1, 1) = (SELECT ''x'')',
  'left(b, 1) = ''x''',
  'b ~ ''^x.''',
  'NOT (b, v) > (''x'', 100)',
  '(a = 1 OR raw < ''\x80000000'') AND (a < 2 OR a = NULL)',
  'NOT a = 1',
  '1 = a AND ''x'' < b',
  'a + 1 = 2',
  'a = v',
  'a::numeric = 1',
  '(a, b) > (1, ''x'')',
  '(a, b) >= (1, ''x'')',
  '(a, b) < (1, ''x'')',
  '(a, b, c) < (1, ''x'', 0)',
  '(a, b, c) >= (1, ''x'', 0)',
  '(a, c) > (1, 0)',
  'a = 1 AND (b, c) > (''x'', 0)',
  'a = 1 AND (b, c) <= (''x'', 0)',
  '(1, ''x'') < (a, b)',
  '(a, b) > (1, NULL)',
  '(a, v) > (1, 100)',
  '(b, a) > (''x'', 1)',
  'raw = (SELECT raw FROM comp_heap WHERE a = 1 AND b = ''x'' AND c = 0)',
  'raw > (SELECT raw FROM comp_heap WHERE a = 1 AND b = ''x'' AND c = 0)',
  'raw <= (SELECT raw FROM comp_heap WHERE a = 1 AND b = ''x'' AND c = 0) AND a = 1',
  'raw = ANY (ARRAY(SELECT raw FROM comp_heap WHERE c = 0))',
  'raw > ''''',
  'raw >= ''''',
  'raw < ''''',
  'raw = ''''',
  'raw > ''\x8000'' AND raw < ''\x80000001'''
]) c;

-- More combinations than ranges are made of: the rest is filtered.
SELECT same('comp', 'comp_heap', 'a = ANY (ARRAY(SELECT generate_series(-300, 300))) AND b = ANY (ARRAY(SELECT chr(i) FROM generate_series(33, 126) i)) AND c = 1');

-- Values that are known only when the query runs.
PREPARE by_a(int, text) AS SELECT count(*) FROM comp WHERE a = $1 AND b >= $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_a(1, 'x');
EXECUTE by_a(NULL, 'x');
EXECUTE by_a(1, NULL);
PREPARE by_like(text) AS SELECT count(*) FROM comp WHERE a = 1 AND b LIKE $1;
EXECUTE by_like('x%');
EXECUTE by_like('x');
EXECUTE by_like('%y');
EXECUTE by_like('x_');
EXECUTE by_like('');
EXECUTE by_like('x\');
PREPARE by_any(int[]) AS SELECT count(*) FROM comp WHERE a = ANY ($1);
EXECUTE by_any('{1,2}');
EXECUTE by_any('{1,NULL,1}');
EXECUTE by_any('{{1,2},{0,5}}');
EXECUTE by_any(NULL);
RESET plan_cache_mode;
SELECT count(*) FROM comp WHERE a = length(current_database()) - length(current_database());
SELECT count(*) FROM comp WHERE a > random() + 5;
DROP FOREIGN TABLE comp;
SELECT widecol.drop_table('comp');

-- A delimiter between the parts; bytes below it break the order of whole keys.
CREATE FOREIGN TABLE plays (
  player text OPTIONS (rowkey '1') COLLATE "C",
  day text OPTIONS (rowkey '2') COLLATE "C",
  n int) SERVER widecol OPTIONS (delimiter '$');
CREATE TABLE plays_heap (player text COLLATE "C", day text COLLATE "C", n int);
INSERT INTO plays_heap SELECT p, d, 1 FROM unnest('{"a","a!","a#","ab","a b","b",""," "}'::text[]) p, unnest('{20140101,20141216,"2$4",""}'::text[]) d;
INSERT INTO plays SELECT * FROM plays_heap;
SELECT c, same('plays', 'plays_heap', c), scan_kind('plays', c) FROM unnest(ARRAY[
  $$player = 'a'$$, $$player > 'a'$$, $$player >= 'a'$$, $$player < 'a'$$, $$player <= 'a'$$, $$player <= 'a!'$$,
  $$player LIKE 'a%'$$, $$player LIKE 'a$%'$$, $$player = 'a$'$$, $$player = 'a' AND day > '2014'$$,
  $$player = 'a' AND day LIKE '2014%'$$, $$player = 'a' AND day = '20141216'$$, $$player = 'a' AND day = '2$4'$$,
  $$player IN ('a', 'b') AND day < '2015'$$, $$(player, day) > ('a', '2014')$$]) c;
DROP FOREIGN TABLE plays;
SELECT widecol.drop_table('plays');

-- Of type char, LIKE sees the blanks at the end, which are not in the key.
CREATE FOREIGN TABLE codes (
  code char(5) OPTIONS (rowkey '1') COLLATE "C",
  n int OPTIONS (rowkey '2'),
  v int) SERVER widecol;
CREATE TABLE codes_heap (code char(5) COLLATE "C", n int, v int);
INSERT INTO codes_heap SELECT k, n, n FROM unnest('{"",a,"a b","a  b",ab,abc,abcde,b,"%"}'::text[]) k, generate_series(1, 3) n;
INSERT INTO codes SELECT * FROM codes_heap;
SELECT c, same('codes', 'codes_heap', c), scan_kind('codes', c) FROM unnest(ARRAY[
  $$code LIKE 'a%'$$, $$code LIKE 'a %'$$, $$code LIKE 'a  %'$$, $$code LIKE ' %'$$, $$code LIKE '%'$$, $$code LIKE ''$$, $$code LIKE 'ab'$$,
  $$code LIKE 'ab   '$$, $$code LIKE 'abcde' AND n = 1$$, $$code LIKE 'abcde%' AND n = 1$$, $$code LIKE 'a_'$$, $$code LIKE 'a____'$$,
  $$code LIKE '\%%'$$, $$code NOT LIKE 'a%'$$, $$code ~ '^ab'$$, $$code ~ '^a '$$, $$code ~ '^ab$'$$, $$code ~ '^abcde$'$$, $$code ~ '^'$$,
  $$left(code, 2) = 'ab'$$, $$left(code, 2) = 'a '$$, $$substr(code, 1, 3) = 'a b'$$, $$left(code, 1) = (SELECT 'a')$$,
  $$code LIKE (SELECT 'a%')$$, $$code LIKE (SELECT 'a %')$$, $$code LIKE (SELECT 'a_c%')$$, $$code LIKE (SELECT 'ab   ') AND n > 1$$,
  $$code LIKE (SELECT 'ab') AND n > 1$$, $$code LIKE NULL$$, $$code LIKE 'a%' OR code = 'b'$$,
  $$code = 'a' OR code LIKE 'ab'$$, $$code LIKE 'ab' OR code = 'a'$$, $$code = 'a' OR code ~ '^ab$'$$, $$code = 'a' OR code LIKE 'abcde'$$, $$code SIMILAR TO 'ab%'$$]) c;
EXPLAIN (COSTS OFF) SELECT * FROM codes WHERE code LIKE 'ab%' ORDER BY code, n LIMIT 2;
EXPLAIN (COSTS OFF) SELECT * FROM codes WHERE code LIKE 'a\_b' OR code LIKE 'b\_c%';
-- a part that has one value may stand anywhere in ORDER BY
EXPLAIN (COSTS OFF) SELECT * FROM codes WHERE code IS NOT DISTINCT FROM 'ab' ORDER BY code, n LIMIT 2;
EXPLAIN (COSTS OFF) SELECT * FROM codes WHERE code IS NOT DISTINCT FROM 'ab' ORDER BY n DESC, code LIMIT 2;
DROP FOREIGN TABLE codes;
SELECT widecol.drop_table('codes');

-- Hashed parts find by equality, and look at the original.
CREATE FOREIGN TABLE hashed (
  host text OPTIONS (rowkey '1', encoding 'md5', length '2', family 'cf', qualifier 'host'),
  n int OPTIONS (rowkey '2'),
  v int) SERVER widecol;
INSERT INTO hashed SELECT 'host' || (i % 7), i, i FROM generate_series(1, 30) i;
CREATE TABLE hashed_heap AS SELECT * FROM hashed;
SELECT c, same('hashed', 'hashed_heap', c), scan_kind('hashed', c) FROM unnest(ARRAY[
  $$host = 'host3'$$, $$host = 'host3' AND n > 10$$, $$host = 'host3' AND n = 10$$, $$host > 'host3'$$, $$host IN ('host1', 'host2')$$,
  $$host = 'nothing'$$, $$host = 'host1' OR host = 'host2'$$, $$(host = 'host1' OR host = 'host2') AND n = 8$$]) c;
DROP FOREIGN TABLE hashed;
SELECT widecol.drop_table('hashed');

DROP SCHEMA keys CASCADE;
