-- Key codecs: for every type, encoding and direction, alone and beside others, over
-- edge and random values: reads return the written values, the bytes of keys sort as
-- SQL sorts, and conditions find the same rows as in a heap table.  Another seed:
-- psql -v seed=0.7.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA codecs;
SET search_path = codecs, public;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET extra_float_digits = 1;
\if :{?seed}
\else
\set seed 0.4711
\endif
SELECT setseed(:seed) \g /dev/null

-- --- values --------------------------------------------------------------------------
CREATE TABLE pool (id int GENERATED ALWAYS AS IDENTITY, type text, val text);

CREATE FUNCTION random_int(bits int) RETURNS bigint LANGUAGE sql VOLATILE AS
  $$SELECT trunc((random() * 2 - 1) * 2 ^ (random() * (bits - 1)))::bigint$$;
-- Text of a few letters, so that starts and equal ones are common.
CREATE FUNCTION random_text(alphabet text[], most int) RETURNS text LANGUAGE sql VOLATILE AS
  $$SELECT coalesce(string_agg(alphabet[1 + floor(random() * cardinality(alphabet))::int], ''), '') FROM generate_series(1, floor(random() * (most + 1))::int)$$;

INSERT INTO pool (type, val) SELECT 'bool', v FROM unnest('{true,false}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'int2', v FROM unnest('{-32768,-32767,-256,-255,-1,0,1,127,128,255,256,32766,32767}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'int2', random_int(16)::text FROM generate_series(1, 30);
INSERT INTO pool (type, val) SELECT 'int4', v FROM unnest('{-2147483648,-2147483647,-65536,-32769,-1,0,1,32768,65535,2147483646,2147483647}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'int4', random_int(32)::text FROM generate_series(1, 30);
INSERT INTO pool (type, val) SELECT 'int8', v FROM unnest('{-9223372036854775808,-9223372036854775807,-4294967296,-1,0,1,4294967295,9223372036854775806,9223372036854775807}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'int8', random_int(64)::text FROM generate_series(1, 30);
INSERT INTO pool (type, val) SELECT 'float8', v FROM unnest('{-Infinity,-1.7976931348623157e308,-1.5,-1,-2.2250738585072014e-308,-5e-324,0,-0,5e-324,2.2250738585072014e-308,0.1,1,1.0000000000000002,1.5,1.7976931348623157e308,Infinity,NaN}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'float8', ((random() * 2 - 1) * 10 ^ (random() * 600 - 300))::text FROM generate_series(1, 30);
INSERT INTO pool (type, val) SELECT 'float4', v FROM unnest('{-Infinity,-3.4028235e38,-1.5,-1,-1.1754944e-38,-1e-45,0,-0,1e-45,0.1,1,1.0000001,3.4028235e38,Infinity,NaN}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'float4', ((random() * 2 - 1) * 10 ^ (random() * 70 - 35))::float4::text FROM generate_series(1, 30);
INSERT INTO pool (type, val) SELECT 'finite', v FROM unnest('{0,0.00,1,1.0,1.000,-1,-1.0,9,10,99,100,101,0.1,0.01,0.001,-0.1,-0.01,9999,10000,99999999,100000000,-10000,0.0001,0.00001,123456789012345678901234567890.123456789}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'finite', v FROM unnest('{1e99,1e100,1e101,-1e99,-1e100,-1e101,1e-99,1e-100,1e-101,1e-102,-1e-100,-1e-101,9.99e100,1e1000,-1e1000,1e-1000}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'finite', (random_int(63)::numeric * ('1e' || trunc(random() * 60 - 40)::int)::numeric)::text FROM generate_series(1, 30);
INSERT INTO pool (type, val) SELECT 'finite', random_int(20) || '.' || trunc(random() * 1000)::int || repeat('0', floor(random() * 5)::int) FROM generate_series(1, 20);
INSERT INTO pool (type, val) SELECT 'numeric', val FROM pool WHERE type = 'finite' UNION ALL SELECT 'numeric', unnest('{NaN,Infinity,-Infinity,1e131071,-1e131071,1e-16383,-1e-16383}'::text[]);
INSERT INTO pool (type, val) SELECT 'day', v FROM unnest('{4714-11-24 BC,0001-12-31 BC,0001-01-01,1582-10-15,1969-12-31,1970-01-01,1999-12-31,2000-01-01,2024-02-29,9999-12-31}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'day', ('2000-01-01'::date + random_int(19)::int)::text FROM generate_series(1, 30);
INSERT INTO pool (type, val) SELECT 'date', val FROM pool WHERE type = 'day' UNION ALL SELECT 'date', unnest('{-infinity,infinity,5874897-12-31}'::text[]);
INSERT INTO pool (type, val) SELECT 'milli', v FROM unnest('{4714-11-24 00:00:00 BC,0001-01-01 00:00:00 BC,1969-12-31 23:59:59.999,1970-01-01 00:00:00,1999-12-31 23:59:59.999,2000-01-01 00:00:00,2024-02-29 12:34:56,294276-12-31 23:59:59.999}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'milli', ('2000-01-01'::timestamp + random_int(40) * interval '1 millisecond')::text FROM generate_series(1, 30);
INSERT INTO pool (type, val) SELECT 'timestamp', val FROM pool WHERE type = 'milli' UNION ALL
  SELECT 'timestamp', unnest('{-infinity,infinity,1999-12-31 23:59:59.999999,2000-01-01 00:00:00.000001,294276-12-31 23:59:59.999999}'::text[]);
INSERT INTO pool (type, val) SELECT 'timestamptz', val FROM pool WHERE type = 'timestamp';
INSERT INTO pool (type, val) SELECT 'uuid', v FROM unnest('{00000000-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000001,7fffffff-ffff-ffff-ffff-ffffffffffff,80000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'uuid', md5(random()::text)::uuid::text FROM generate_series(1, 20);
INSERT INTO pool (type, val) SELECT 'word', v FROM unnest(ARRAY['a', 'aa', 'ab', 'b', 'Z', ' ', 'a ', ' a', chr(1), chr(127), 'é', 'e', 'ß', '日本', '日本語', '€', chr(65535), chr(65536), chr(1114111), '😀', '😀a', 'a😀']) v;
INSERT INTO pool (type, val) SELECT 'word', 'w' || random_text(ARRAY['a', 'b', chr(1), chr(127), 'é', '€', '😀', chr(1114111)], 6) FROM generate_series(1, 40);
INSERT INTO pool (type, val) SELECT 'short', val FROM pool WHERE type = 'word' AND octet_length(val) <= 12 UNION ALL SELECT 'short', '';
INSERT INTO pool (type, val) SELECT 'padless', val FROM pool WHERE type = 'word' AND length(val) <= 12 AND val !~ '^ *$';
INSERT INTO pool (type, val) SELECT 'text', val FROM pool WHERE type = 'word' UNION ALL SELECT 'text', unnest(ARRAY['', repeat('x', 1000), repeat('x', 1001)]);
INSERT INTO pool (type, val) SELECT 'domain', v FROM unnest('{www.apache.org,apache.org,org,hbase.apache.org,www.example.com,.com,com.,..,a..b,x}'::text[]) v;
INSERT INTO pool (type, val) SELECT 'domain', random_text('{a,b,.,-}', 9) || 'c' FROM generate_series(1, 30);
INSERT INTO pool (type, val) SELECT 'bytea', v FROM unnest(ARRAY['', '\x00', '\x0000', '\x000000', '\x0001', '\x00ff', '\x00ff00', '\x01', '\x7f', '\x80', '\xff', '\xff00', '\xffff', '\xfffe']) v;
INSERT INTO pool (type, val) SELECT 'bytea', '\x' || random_text('{00,01,fe,ff,61}', 7) FROM generate_series(1, 40);
INSERT INTO pool (type, val) SELECT 'four', '\x' || random_text('{00}', 0) || encode(int4send(random_int(32)::int), 'hex') FROM generate_series(1, 20);
INSERT INTO pool (type, val) SELECT 'four', v FROM unnest(ARRAY['\x00000000', '\x000000ff', '\xff000000', '\xffffffff']) v;

-- --- the check ----------------------------------------------------------------------
-- Parts are (type, values' pool, options, collation); sorted: the bytes' order is SQL's.
CREATE TYPE part AS (type text, pool text, options text, sorted bool);

-- A key of these parts, its last one's values all, the others' combined at random.
CREATE FUNCTION check_key(parts part[], more text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  n int = cardinality(parts);
  columns text; heap text; names text; orders text = ''; reverse text = ''; same text = ''; source text = ''; bad text[] = '{}';
  p part; i int = 0; found bigint; o text; k text; prefix text; line text;
BEGIN
  FOREACH p IN ARRAY parts LOOP
    i = i + 1;
    columns = concat_ws(', ', columns, format('k%s %s OPTIONS (rowkey %L%s)%s', i, p.type, i::text, replace(p.options, '$i', i::text),
                                              CASE WHEN p.type ~ '^(text|varchar|char)' THEN ' COLLATE "C"' ELSE '' END));
    heap = concat_ws(', ', heap, format('k%s %s%s', i, p.type, CASE WHEN p.type ~ '^(text|varchar|char)' THEN ' COLLATE "C"' ELSE '' END));
    names = concat_ws(', ', names, 'k' || i);
    orders = orders || CASE i WHEN 1 THEN '' ELSE ', ' END || 'k' || i || CASE WHEN p.options ~ '''desc''' THEN ' DESC' ELSE '' END;
    reverse = reverse || CASE i WHEN 1 THEN '' ELSE ', ' END || 'k' || i || CASE WHEN p.options ~ '''desc''' THEN '' ELSE ' DESC' END;
    same = same || CASE i WHEN 1 THEN '' ELSE ' AND ' END || format('w.k%1$s = h.k%1$s', i);
    -- all values of a part alone, some of several
    source = source || CASE i WHEN 1 THEN '' ELSE ', ' END ||
      format('(SELECT val::%s FROM pool WHERE type = %L ORDER BY %s) k%s(k%s)', p.type, p.pool,
             CASE n WHEN 1 THEN 'id' ELSE 'md5(val || id) LIMIT ' || CASE n WHEN 2 THEN 16 WHEN 3 THEN 6 ELSE 4 END END, i, i);
  END LOOP;
  EXECUTE format('CREATE FOREIGN TABLE w (%s, raw bytea OPTIONS (rowkey ''raw''), v text) SERVER widecol %s', columns, more);
  EXECUTE format('CREATE TABLE h (%s, v text)', heap);
  EXECUTE format('INSERT INTO h SELECT DISTINCT ON (%1$s) %1$s, md5(concat_ws(''|'', %1$s)) FROM %2$s%3$s', names, source,
                 CASE WHEN n = 1 AND p.pool IN ('text', 'bytea', 'short') THEN ' WHERE k1::text NOT IN ('''', ''\x'')' ELSE '' END);
  EXECUTE format('INSERT INTO w (%1$s, v) SELECT %1$s, v FROM h ORDER BY md5(v)', names);

  -- what comes back; -0 and 1.50 come as 0 and 1.5, but for the originals of hashes
  EXECUTE format('SELECT count(*) FROM w FULL JOIN h ON %s AND w.v = h.v WHERE w.v IS NULL OR h.v IS NULL', same) INTO found;
  IF found > 0 THEN bad = bad || format('%s rows do not come back', found); END IF;
  FOR i IN 1..n LOOP
    EXECUTE format('SELECT count(*) FROM w JOIN h ON %s WHERE %s', same,
      CASE WHEN parts[i].type = 'numeric' AND parts[i].options !~ 'original' THEN format('trim_scale(h.k%1$s)::text <> w.k%1$s::text', i)
           WHEN parts[i].type ~ 'float' THEN format('replace(h.k%1$s::text, ''-0'', ''0'') <> replace(w.k%1$s::text, ''-0'', ''0'')', i)
           ELSE format('h.k%1$s::text <> w.k%1$s::text', i) END) INTO found;
    IF found > 0 THEN bad = bad || format('part %s: %s values look different', i, found); END IF;
  END LOOP;

  -- order of bytes, order of the scan and its reverse
  IF (SELECT bool_and(sorted) FROM unnest(parts)) THEN
    EXECUTE format('SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY raw) b, row_number() OVER (ORDER BY %s) s FROM (SELECT * FROM w OFFSET 0) x) y WHERE b <> s', orders) INTO found;
    IF found > 0 THEN bad = bad || format('bytes of %s rows sort differently', found); END IF;
    FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT * FROM w ORDER BY %s', orders) LOOP
      IF line ~ 'Sort' THEN bad = bad || 'the order of the key needs a sort'::text; EXIT; END IF;
    END LOOP;
  END IF;
  FOREACH o IN ARRAY ARRAY[orders, reverse] LOOP
    EXECUTE format('SELECT count(*) FROM (SELECT v, row_number() OVER () n FROM (SELECT v FROM w ORDER BY %1$s) a) a
                    FULL JOIN (SELECT v, row_number() OVER () n FROM (SELECT v FROM h ORDER BY %1$s) b) b ON a.v = b.v AND a.n = b.n WHERE a.v IS NULL OR b.v IS NULL', o) INTO found;
    IF found > 0 THEN bad = bad || format('%s rows are elsewhere in ORDER BY %s', found, o); END IF;
  END LOOP;

  -- the whole key, one by one; and every operator on every part behind equal ones, against each value
  EXECUTE format('SELECT count(*) FROM h, LATERAL (SELECT count(*) c FROM w WHERE %s) x WHERE c <> 1', same) INTO found;
  IF found > 0 THEN bad = bad || format('%s keys do not find their row', found); END IF;
  prefix = '';
  FOR i IN 1..n LOOP
    EXECUTE format('CREATE TABLE probes AS SELECT %s FROM h ORDER BY md5(v) LIMIT %s',
      (SELECT string_agg('k' || j, ', ') FROM generate_series(1, i) j), CASE n WHEN 1 THEN 25 ELSE 6 END);
    FOREACH o IN ARRAY '{=,<,<=,>,>=}'::text[] LOOP
      EXECUTE format('SELECT count(*) FROM probes q, LATERAL (SELECT count(*) c, min(v) lo, max(v) hi FROM w WHERE %1$s w.k%2$s %3$s q.k%2$s OFFSET 0) a,
                      LATERAL (SELECT count(*) c, min(v) lo, max(v) hi FROM h w WHERE %1$s w.k%2$s %3$s q.k%2$s OFFSET 0) b WHERE a IS DISTINCT FROM b', prefix, i, o) INTO found;
      IF found > 0 THEN bad = bad || format('%s values of part %s are compared wrongly by %s', found, i, o); END IF;
    END LOOP;
    EXECUTE format('SELECT count(*) FROM (SELECT v FROM w WHERE k%1$s = ANY (ARRAY(SELECT k%1$s FROM probes))) a
                    FULL JOIN (SELECT v FROM h WHERE k%1$s = ANY (ARRAY(SELECT k%1$s FROM probes))) b USING (v) WHERE a.v IS NULL OR b.v IS NULL', i) INTO found;
    IF found > 0 THEN bad = bad || format('%s rows of an array of part %s', found, i); END IF;
    DROP TABLE probes;
    prefix = prefix || format('w.k%1$s = q.k%1$s AND ', i);
  END LOOP;

  EXECUTE 'SELECT count(*) FROM w' INTO found;
  DROP FOREIGN TABLE w;
  DROP TABLE h;
  PERFORM widecol.drop_table('w');
  IF found < 2 THEN bad = bad || format('only %s rows', found); END IF;
  RETURN CASE WHEN bad = '{}' THEN 'right' ELSE array_to_string(bad, '; ') END;
END $$;

-- Every type and encoding that a key part can have.
CREATE TABLE variant (id int GENERATED ALWAYS AS IDENTITY, p part);
INSERT INTO variant (p)
  SELECT (type, pool, direction, true)::part
  FROM (VALUES ('bool', 'bool'), ('int2', 'int2'), ('int4', 'int4'), ('int8', 'int8'), ('float4', 'float4'), ('float8', 'float8'), ('numeric', 'numeric'),
    ('date', 'date'), ('timestamp', 'timestamp'), ('timestamptz', 'timestamptz'), ('uuid', 'uuid'), ('text', 'text'), ('varchar(1001)', 'text'), ('bytea', 'bytea'),
    ('text', 'word')) t (type, pool), unnest(ARRAY['', ', sort ''desc''']) direction;
INSERT INTO variant (p) SELECT ('char(12)', 'padless', d, true)::part FROM unnest(ARRAY['', ', sort ''desc''']) d;
INSERT INTO variant (p) SELECT ('text', 'short', ', length ''12''' || d, true)::part FROM unnest(ARRAY['', ', sort ''desc''']) d;
INSERT INTO variant (p) SELECT ('bytea', 'four', ', length ''4''' || d, true)::part FROM unnest(ARRAY['', ', sort ''desc''']) d;
INSERT INTO variant (p)
  SELECT (type, pool, ', encoding ''binary''', type IN ('bool', 'uuid', 'text', 'bytea'))::part
  FROM (VALUES ('bool', 'bool'), ('int2', 'int2'), ('int4', 'int4'), ('int8', 'int8'), ('float4', 'float4'), ('float8', 'float8'), ('numeric', 'finite'),
    ('date', 'day'), ('timestamp', 'milli'), ('timestamptz', 'milli'), ('uuid', 'uuid'), ('text', 'text'), ('bytea', 'bytea')) t (type, pool);
INSERT INTO variant (p)
  SELECT (type, pool, ', encoding ''binary'', sort ''desc''', true)::part
  FROM (VALUES ('bool', 'bool'), ('int2', 'int2'), ('int4', 'int4'), ('int8', 'int8'), ('date', 'day'), ('timestamp', 'milli'), ('timestamptz', 'milli'),
    ('uuid', 'uuid'), ('text', 'text'), ('bytea', 'bytea')) t (type, pool);
INSERT INTO variant (p)
  SELECT (type, pool, ', encoding ''text''' || d, type = 'text')::part
  FROM (VALUES ('bool', 'bool'), ('int2', 'int2'), ('int4', 'int4'), ('int8', 'int8'), ('float4', 'float4'), ('float8', 'float8'), ('numeric', 'finite'),
    ('date', 'date'), ('timestamp', 'timestamp'), ('timestamptz', 'timestamptz'), ('uuid', 'uuid'), ('text', 'text')) t (type, pool), unnest(ARRAY['', ', sort ''desc''']) d;
INSERT INTO variant (p)
  SELECT (type, pool, format(', encoding %L%s, qualifier ''original $i''', hash, length), false)::part
  FROM (VALUES ('int4', 'int4'), ('numeric', 'numeric'), ('text', 'text'), ('float8', 'float8'), ('timestamptz', 'timestamptz')) t (type, pool),
    (VALUES ('md5', ', length ''8'''), ('sha1', ''), ('murmur3', ', length ''10''')) h (hash, length);
INSERT INTO variant (p)
  SELECT (type, pool, ', encoding ''reversed''' || d, false)::part
  FROM (VALUES ('int2', 'int2'), ('int4', 'int4'), ('int8', 'int8'), ('text', 'text')) t (type, pool), unnest(ARRAY['', ', sort ''desc''']) d;
INSERT INTO variant (p) SELECT ('text', 'domain', ', encoding ''reversed_domain''' || d, false)::part FROM unnest(ARRAY['', ', sort ''desc''']) d;

CREATE TABLE verdict (place text, parts part[], verdict text);
INSERT INTO verdict SELECT 'alone', ARRAY[p], check_key(ARRAY[p]) FROM variant ORDER BY id;
INSERT INTO verdict SELECT 'before another', k, check_key(k) FROM variant, LATERAL (SELECT ARRAY[p, ('int4', 'int2', '', true)::part] AS k) x ORDER BY id;
INSERT INTO verdict SELECT 'behind another', k, check_key(k) FROM variant, LATERAL (SELECT ARRAY[('text', 'short', '', true)::part, p] AS k) x WHERE id % 3 = 0 ORDER BY id;
-- of two to four kinds
INSERT INTO verdict SELECT 'random', k, check_key(k)
FROM generate_series(1, 30) i, LATERAL (SELECT array_agg(p) AS k FROM (SELECT p FROM variant ORDER BY md5(id || '-' || i) LIMIT 2 + i % 3) v) x ORDER BY i;
-- before a delimiter
INSERT INTO verdict SELECT 'delimited', k, check_key(k, format('OPTIONS (delimiter %L)', d))
FROM unnest(ARRAY[':', '::', '|']) d,
  LATERAL (VALUES (ARRAY[('text', 'word', '', false), ('text', 'text', '', true)]::part[]), (ARRAY[('text', 'short', '', false), ('int4', 'int4', '', true)]::part[]),
    (ARRAY[('int4', 'int4', ', encoding ''text''', false), ('text', 'short', ', sort ''desc''', true)]::part[]),
    (ARRAY[('text', 'short', '', false), ('text', 'word', '', false), ('int8', 'int8', ', sort ''desc''', true)]::part[]),
    (ARRAY[('numeric', 'numeric', '', true), ('text', 'domain', ', encoding ''reversed_domain''', false), ('bytea', 'bytea', '', true)]::part[])) x (k);
-- behind a salt: no order of bytes, but the order of scans
INSERT INTO verdict SELECT 'salted', k, check_key(k, format('OPTIONS (salt_buckets %L)', 2 + i % 5))
FROM generate_series(1, 20) i, LATERAL (SELECT array_agg(((p).type, (p).pool, (p).options, false)::part) AS k FROM (SELECT p FROM variant ORDER BY md5(i || '-' || id) LIMIT 1 + i % 3) v) x ORDER BY i;
SELECT place, verdict = 'right' AS right, count(*), min(cardinality(parts)), max(cardinality(parts)) FROM verdict GROUP BY 1, 2 ORDER BY 1, 2;
SELECT place, verdict, (SELECT string_agg(p.type || ' of ' || p.pool || p.options, ' | ') FROM unnest(parts) p) FROM verdict WHERE verdict <> 'right' ORDER BY 1, 2;

-- text forms do not depend on the session's settings
CREATE TYPE pair AS (a text[], b timestamptz);
CREATE FOREIGN TABLE forms (k regclass OPTIONS (rowkey '1', encoding 'text'), t text[], p pair, ps pair[]) SERVER widecol OPTIONS (table 'codecs_forms');
INSERT INTO forms VALUES ('pg_class', '{a,NULL,"NULL"}', ROW('{x,NULL}', '2026-01-01 00:00:00+00')::pair, ARRAY[ROW('{NULL}', NULL)::pair, NULL]);
CREATE TABLE before AS SELECT "row", qualifier, value FROM widecol.scan('codecs_forms');
SET array_nulls = off;
SET quote_all_identifiers = on;
SET timezone = 'Asia/Tokyo';
INSERT INTO forms SELECT k, t, p, ps FROM forms;
SELECT k, t[2] IS NULL AS a_null, (p).a[2] IS NULL AS in_a_row, ps[2] IS NULL AS a_null_row FROM forms WHERE k = 'pg_class'::regclass;
SELECT count(*) FROM forms;
SELECT "row", qualifier, value FROM widecol.scan('codecs_forms') EXCEPT SELECT * FROM before;
RESET array_nulls;
RESET quote_all_identifiers;
RESET timezone;
DROP FOREIGN TABLE forms;
SELECT widecol.drop_table('codecs_forms');
-- numeric: each number is read as PostgreSQL reads its text, also small ones, which need no text
CREATE FOREIGN TABLE numbers (k int OPTIONS (rowkey '1'), t numeric OPTIONS (encoding 'text'), b numeric OPTIONS (encoding 'binary'),
	t2 numeric(12,3) OPTIONS (encoding 'text'), b2 numeric(12,3) OPTIONS (encoding 'binary')) SERVER widecol;
CREATE TABLE heap_numbers (k int, v numeric, v2 numeric(12,3));
INSERT INTO heap_numbers SELECT row_number() OVER (), v, CASE WHEN abs(v) < 1e9 THEN v END
FROM (SELECT (sign || digits || point)::numeric
	FROM (VALUES (''), ('-')) s (sign),
		(VALUES ('0'), ('7'), ('10'), ('9999'), ('10000'), ('123456789'), ('99999999999999999'), ('999999999999999999'), ('1000000000000000000'),
			('9223372036854775807'), ('9223372036854775808'), ('18446744073709551616'), ('123456789012345678901234567890')) d (digits),
		(VALUES (''), ('.0'), ('.5'), ('.50'), ('.05'), ('.001'), ('.0001'), ('.00010'), ('.999'), ('.12345'), ('.999999999999999999'), ('.25000000000000000000'),
			('.00000000000000000000000000000000000000000000000000001')) p (point)) x (v);
INSERT INTO numbers SELECT k, v, v, v2, v2 FROM heap_numbers;
SELECT count(*), count(t2), count(*) FILTER (WHERE t::text IS DISTINCT FROM v::text OR numeric_send(t) IS DISTINCT FROM numeric_send(v)) AS t,
	count(*) FILTER (WHERE b::text IS DISTINCT FROM v::text OR numeric_send(b) IS DISTINCT FROM numeric_send(v)) AS b,
	count(*) FILTER (WHERE t2::text IS DISTINCT FROM v2::text) AS t2, count(*) FILTER (WHERE b2::text IS DISTINCT FROM v2::text) AS b2
FROM numbers JOIN heap_numbers USING (k);
-- what other programs write: as the input function reads it, rounded to the column's scale, or no number
CREATE FUNCTION shown(cell text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM widecol.put('numbers', '\x80000000', 'cf:t', cell), widecol.put('numbers', '\x80000000', 'cf:t2', cell);
	RETURN (SELECT t || ' ' || t2 FROM numbers WHERE k = 0);
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SELECT cell, shown(cell) FROM unnest('{1,1.5,1.2345,01.500,.5,5.,-.5,-,.,-0.000,+1,1e3," 1.250 ",1..5,1.5.5,1-5,999999999.999,1000000000.000}'::text[]) cell;
SELECT widecol.put('numbers', '\x80000000', 'cf:b', '\x000000008000000000000000'::bytea);
SELECT b FROM numbers WHERE k = 0;
DROP FOREIGN TABLE numbers;
SELECT widecol.drop_table('numbers');
DROP SCHEMA codecs CASCADE;
