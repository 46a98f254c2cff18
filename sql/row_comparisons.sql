-- Row comparisons and other conditions on keys of ascending, descending and mixed
-- parts: random ones, each against a heap table.  Another seed: psql -v seed=0.7.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA row_comparisons;
SET search_path = row_comparisons, public;
SET datestyle = 'ISO';
\if :{?seed}
\else
\set seed 0.4711
\endif
SELECT setseed(:seed) \g /dev/null

-- --- tables: every layout over the same few values -----------------------------------
-- A column: its name, type, options as a key part, and the values that it has.
CREATE TYPE col AS (name text, type text, options text, vals text[]);
CREATE TABLE layout (id int, what text, cols col[], more text);
INSERT INTO layout VALUES
  (1, 'ascending', ARRAY[('a', 'int4', '', '{-1,0,1,2}'), ('b', 'int4', '', '{-2147483648,0,1,2147483647}'), ('c', 'int8', '', '{0,1,2}')]::col[], ''),
  (2, 'descending', ARRAY[('a', 'int4', ', sort ''desc''', '{-1,0,1,2}'), ('b', 'int2', ', sort ''desc''', '{-32768,0,1,32767}'), ('c', 'int8', ', sort ''desc''', '{0,1,2}')]::col[], ''),
  (3, 'mixed', ARRAY[('a', 'int4', '', '{-1,0,1}'), ('b', 'int4', ', sort ''desc''', '{-1,0,1}'), ('c', 'int8', '', '{0,1,2}'), ('d', 'int2', ', sort ''desc''', '{0,1}')]::col[], ''),
  (4, 'mixed the other way', ARRAY[('a', 'int8', ', sort ''desc''', '{-1,0,1}'), ('b', 'int4', '', '{-1,0,1}'), ('c', 'int4', ', sort ''desc''', '{0,1,2}'), ('d', 'int4', '', '{0,1}')]::col[], ''),
  (5, 'text', ARRAY[('a', 'text COLLATE "C"', '', '{"",a,ab,b}'), ('b', 'text COLLATE "C"', ', sort ''desc''', '{"",a,ab,é}'), ('c', 'text COLLATE "C"', '', '{a,aa,b,b%}')]::col[], ''),
  (6, 'delimited', ARRAY[('a', 'text COLLATE "C"', '', '{a,ab,b," "}'), ('b', 'text COLLATE "C"', '', '{"",a,ab,é}'), ('c', 'text COLLATE "C"', '', '{a,aa,b,~}')]::col[], 'OPTIONS (delimiter ''|'')'),
  (7, 'padded', ARRAY[('a', 'text COLLATE "C"', ', length ''3''', '{"",a,ab,b}'), ('b', 'text COLLATE "C"', ', length ''3'', sort ''desc''', '{"",a,ab,é}'), ('c', 'int4', '', '{0,1,2}')]::col[], ''),
  (8, 'other types', ARRAY[('a', 'bool', ', sort ''desc''', '{t,f}'), ('b', 'date', '', '{-infinity,1999-12-31,2000-01-01,infinity}'), ('c', 'float8', ', sort ''desc''', '{-Infinity,-1.5,0,2,NaN}'),
    ('d', 'numeric', '', '{-1.5,0,1e200}')]::col[], ''),
  (9, 'binary', ARRAY[('a', 'int4', ', encoding ''binary''', '{-2,-1,0,1}'), ('b', 'int4', ', encoding ''binary'', sort ''desc''', '{-1,0,1}'), ('c', 'float8', ', encoding ''binary''', '{-1.5,-0.5,0,1}')]::col[], ''),
  (10, 'a hash between', ARRAY[('a', 'int4', '', '{-1,0,1}'), ('b', 'int4', ', encoding ''md5'', length ''8'', qualifier ''b''', '{0,1,2}'), ('c', 'int4', ', sort ''desc''', '{0,1,2}')]::col[], ''),
  (11, 'digits', ARRAY[('a', 'int4', ', encoding ''text''', '{-1,0,1,10}'), ('b', 'int4', ', encoding ''reversed''', '{1,10,12}'), ('c', 'int4', '', '{0,1,2}')]::col[], ''),
  (12, 'bytes', ARRAY[('a', 'bytea', '', '{"","\\x00","\\x0000","\\x00ff","\\xff"}'), ('b', 'bytea', ', sort ''desc''', '{"","\\x00","\\xff","\\xff00"}'), ('c', 'bytea', '', '{"\\x00","\\x01","\\xff"}')]::col[], ''),
  (13, 'another collation', ARRAY[('a', 'text COLLATE "und-x-icu"', '', '{a,A,b,B,é}'), ('b', 'int4', '', '{0,1,2}'), ('c', 'text COLLATE "und-x-icu"', '', '{a,A,b}')]::col[], ''),
  (14, 'salted', ARRAY[('a', 'int4', '', '{-1,0,1,2}'), ('b', 'int8', ', sort ''desc''', '{-1,0,1}'), ('c', 'text COLLATE "C"', '', '{"",a,ab,b}')]::col[], 'OPTIONS (salt_buckets ''5'')'),
  (15, 'salted by two', ARRAY[('a', 'text COLLATE "C"', ', sort ''desc''', '{"",a,ab}'), ('b', 'int4', '', '{-1,0,1}'), ('c', 'int8', ', sort ''desc''', '{-1,0,1}'), ('d', 'int4', '', '{0,1}')]::col[],
    'OPTIONS (salt_buckets ''3'', salt_by ''a, c'')'),
  (16, 'salted by the minute', ARRAY[('a', 'timestamp', '', '{1999-12-31 23:59:59.5,2000-01-01 00:00:00,2000-01-01 00:01:00,2000-01-01 01:00:30}'), ('b', 'int4', '', '{-1,0,1}'), ('c', 'int4', ', sort ''desc''', '{-1,0,1}')]::col[],
    'OPTIONS (salt_buckets ''60'', salt_by ''minute(a)'')');

CREATE FUNCTION make_layout(l layout) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE foreigns text; heap text; source text; c col; i int = 0; n bigint;
BEGIN
  FOREACH c IN ARRAY l.cols LOOP
    i = i + 1;
    foreigns = concat_ws(', ', foreigns, format('%s %s OPTIONS (rowkey %L%s)%s', c.name, split_part(c.type, ' COLLATE', 1), i::text, c.options, substring(c.type FROM ' COLLATE.*')));
    heap = concat_ws(', ', heap, c.name || ' ' || c.type);
    source = concat_ws(', ', source, format('unnest(%L::text[]) %s', c.vals, c.name));
  END LOOP;
  EXECUTE format('CREATE TABLE h%s (%s, v int, id int)', l.id, heap);
  EXECUTE format('CREATE FOREIGN TABLE w%s (%s, v int, id int) SERVER widecol %s', l.id, foreigns, l.more);
  EXECUTE format('INSERT INTO h%s SELECT %s, nullif((random() * 4)::int, 4), row_number() OVER () FROM %s', l.id,
    (SELECT string_agg(format('%s::%s', k.name, split_part(k.type, ' COLLATE', 1)), ', ') FROM unnest(l.cols) k), source);
  EXECUTE format('INSERT INTO w%1$s SELECT * FROM h%1$s ORDER BY random()', l.id);
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n;
END $$;
SELECT what, make_layout(layout) FROM layout ORDER BY id;

-- --- random conditions ------------------------------------------------------------------
CREATE FUNCTION below(n int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT floor(random() * n)::int';
CREATE FUNCTION one_of(VARIADIC a text[]) RETURNS text LANGUAGE sql VOLATILE AS 'SELECT a[1 + below(cardinality(a))]';

-- A value to compare a column with: one that it has, or lies near, in its type or another.
CREATE FUNCTION random_value(c col) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE v text = one_of(VARIADIC c.vals); base text = split_part(c.type, ' COLLATE', 1);
BEGIN
  IF random() < 0.06 THEN RETURN 'NULL::' || base; END IF;
  IF random() < 0.7 THEN RETURN format('''%s''::%s', v, base); END IF;
  CASE
    WHEN base ~ '^int' THEN RETURN one_of(v || '::int8', v || '::int4', CASE WHEN abs(v::int8) < 32768 THEN v || '::int2' ELSE v END, '3000000000', '-3000000000',
                                          '9223372036854775807', '100::int2', v || '::numeric', v || '.5', v || '::float8', '(' || v || ' - 1)', 'NULL::int8');
    WHEN base = 'text' THEN RETURN format('''%s''::%s', one_of(v || 'a', v || chr(1), left(v, 1), upper(v), '~~~~~', ' '), one_of('text', 'text', 'varchar', CASE WHEN c.type ~ '"C"' THEN 'name' ELSE 'text' END));
    WHEN base = 'float8' THEN RETURN one_of('''-0''::float8', '1::float4', '''0.1''::float8', '2::int4', '''1e300''::float8');
    WHEN base = 'numeric' THEN RETURN one_of('0.00', '-1.50', '1e200', '1e199', 'NULL', '0::int4', '''NaN''::numeric', '1::float8');
    WHEN base = 'date' THEN RETURN one_of('timestamp ''1999-12-31 12:00''', 'timestamp ''2000-01-01''', 'date ''2000-01-02''', 'timestamp ''infinity''', 'localtimestamp', 'current_date');
    WHEN base = 'timestamp' THEN RETURN one_of('date ''2000-01-01''', 'timestamp ''2000-01-01 00:00:30''', 'date ''1999-12-31''', 'localtimestamp', 'timestamp ''-infinity''', '''2000-01-01 00:01:00+00''::timestamptz');
    WHEN base = 'bytea' THEN RETURN one_of('''\x0001''::bytea', '''\xffff''::bytea', '''\x00ffff''::bytea');
    ELSE RETURN format('''%s''::%s', v, base);
  END CASE;
END $$;

-- (x, y, ...) op (value, value, ...)
CREATE FUNCTION random_row(cols col[]) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE n int = cardinality(cols); start int = 1; most int; chosen col[]; names text; vals text; vals2 text; kind float = random();
BEGIN
  IF random() < 0.4 THEN start = 1 + below(n); END IF;
  most = greatest(1 + below(n - start + 1), least(2, n - start + 1));
  chosen = cols[start:start + most - 1];
  IF random() < 0.15 THEN chosen = chosen || ('v', 'int4', '', '{0,1,2,3}')::col; END IF;
  IF random() < 0.1 THEN SELECT array_agg(k ORDER BY random()) INTO chosen FROM unnest(chosen) k; END IF;
  SELECT string_agg(k.name, ', '), string_agg(random_value(k), ', '), string_agg(random_value(k), ', ') INTO names, vals, vals2 FROM unnest(chosen) k;
  IF kind < 0.08 THEN RETURN format('ROW(%s) BETWEEN ROW(%s) AND ROW(%s)', names, vals, vals2); END IF;
  IF kind < 0.12 THEN RETURN format('ROW(%s) NOT BETWEEN ROW(%s) AND ROW(%s)', names, vals, vals2); END IF;
  IF kind < 0.16 THEN RETURN format('ROW(%s) IN (ROW(%s), ROW(%s))', names, vals, vals2); END IF;
  IF kind < 0.3 THEN RETURN format('ROW(%s) %s ROW(%s)', vals, one_of('<', '<=', '>', '>='), names); END IF;
  RETURN format('ROW(%s) %s ROW(%s)', names, one_of('<', '<=', '>', '>=', '<', '<=', '>', '>=', '=', '<>'), vals);
END $$;

-- a condition on one column
CREATE FUNCTION random_atom(cols col[]) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE c col = cols[1 + below(cardinality(cols))]; kind float = random(); v text = random_value(c); v2 text = random_value(c);
BEGIN
  IF c.type ~ '^text' AND kind < 0.4 THEN
    RETURN format('%s %s %L', c.name, one_of('LIKE', 'LIKE', 'NOT LIKE', '^@', 'LIKE'), one_of('a%', '', '%', 'a', 'a_', '_', 'a\%', 'b\%', 'b\%%', 'é%', 'ab%%', '%b', 'a%b', '\a%', 'A%')) ||
      CASE WHEN random() < 0.2 THEN ' AND starts_with(' || c.name || ', ' || one_of('''a''', '''''', '''b''', 'NULL') || ')' ELSE '' END;
  END IF;
  IF c.type ~ '^text' AND kind < 0.5 THEN
    RETURN one_of(format('%s LIKE ''a!%%'' ESCAPE ''!''', c.name), format('%s LIKE ''a%%'' ESCAPE ''''', c.name), format('%s > ''a'' COLLATE "und-x-icu"', c.name), format('%s < ''b'' COLLATE "C"', c.name),
      format('%s = ''A'' COLLATE "C"', c.name), format('%s COLLATE "C" >= ''a''', c.name), format('%s ILIKE ''A%%''', c.name), format('%s LIKE NULL', c.name));
  END IF;
  IF kind < 0.6 THEN RETURN format(one_of('%s %s %s', '%s %s %s', '%3$s %2$s %1$s'), c.name, one_of('=', '<', '<=', '>', '>=', '<>'), v); END IF;
  IF kind < 0.7 THEN RETURN format('%s %s %s AND %s', c.name, one_of('BETWEEN', 'BETWEEN SYMMETRIC', 'NOT BETWEEN', 'NOT BETWEEN SYMMETRIC'), v, v2); END IF;
  IF kind < 0.85 THEN RETURN format('%s %s (%s, %s, %s)', c.name, one_of('IN', 'IN', 'NOT IN'), v, v2, random_value(c)); END IF;
  IF kind < 0.9 THEN RETURN format('%s %s %s', c.name, one_of('IS DISTINCT FROM', 'IS NOT DISTINCT FROM'), v); END IF;
  IF kind < 0.95 THEN RETURN c.name || ' ' || one_of('IS NULL', 'IS NOT NULL'); END IF;
  RETURN format('%s %s (SELECT %s)', c.name, one_of('=', '<', '>='), v);
END $$;

CREATE FUNCTION random_condition(cols col[], depth int DEFAULT 2) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE parts text[] = '{}'; i int;
BEGIN
  IF random() < 0.3 THEN
    FOR i IN 1..below(cardinality(cols)) LOOP
      parts = parts || format(one_of('%s = %s', '%s = %s', '%s IN (%s, %s)'), (cols[i]).name, random_value(cols[i]), random_value(cols[i]));
    END LOOP;
  END IF;
  FOR i IN 1..1 + below(2) LOOP
    IF random() < 0.6 THEN parts = parts || random_row(cols);
    ELSIF depth > 0 AND random() < 0.3 THEN parts = parts || format('(%s OR %s)', random_condition(cols, depth - 1), random_condition(cols, depth - 1));
    ELSIF random() < 0.1 THEN parts = parts || format('NOT (%s)', random_row(cols));
    ELSE parts = parts || random_atom(cols);
    END IF;
  END LOOP;
  RETURN array_to_string(parts, ' AND ');
END $$;

-- --- each on both tables --------------------------------------------------------------------
CREATE TABLE outcome (layout int, condition text, generic bool, found int, verdict text);

CREATE FUNCTION ids(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found int[];
BEGIN
  EXECUTE query INTO found;
  RETURN coalesce(found::text, '{}');
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;

-- The literals of a condition as parameters of a prepared statement, planned without their values.
CREATE FUNCTION generic_ids(tab text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE m text[]; types text[] = '{}'; vals text[] = '{}'; found text;
  literal text = '(NULL|''[^'']*''|\m\d+)::(int2|int4|int8|text|varchar|bytea|date|bool|float8|numeric|timestamp)\M';
BEGIN
  LOOP
    m = regexp_match(condition, literal);
    EXIT WHEN m IS NULL;
    types = types || m[2];
    vals = vals || (m[1] || '::' || m[2]);
    condition = regexp_replace(condition, literal, '$' || cardinality(types));
  END LOOP;
  EXECUTE format('PREPARE p%s AS SELECT array_agg(id ORDER BY id) FROM %s WHERE %s', '(' || nullif(array_to_string(types, ','), '') || ')', tab, condition);
  found = ids('EXECUTE p' || coalesce('(' || nullif(array_to_string(vals, ','), '') || ')', ''));
  DEALLOCATE p;
  RETURN found;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;

CREATE FUNCTION run_cases(l layout, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE c text; mine text; heaps text;
BEGIN
  FOR i IN 1..n LOOP
    c = random_condition(l.cols);
    mine = ids(format('SELECT array_agg(id ORDER BY id) FROM w%s WHERE %s', l.id, c));
    heaps = ids(format('SELECT array_agg(id ORDER BY id) FROM h%s WHERE %s', l.id, c));
    INSERT INTO outcome VALUES (l.id, c, false, CASE WHEN heaps ~ '^{' THEN cardinality(heaps::int[]) ELSE -1 END, CASE WHEN mine = heaps THEN 'same' ELSE mine || ' for ' || heaps END);
    PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
    mine = generic_ids('w' || l.id, c);
    PERFORM set_config('plan_cache_mode', 'auto', true);
    INSERT INTO outcome VALUES (l.id, c, true, -2, CASE WHEN mine = heaps THEN 'same' ELSE mine || ' for ' || heaps END);
  END LOOP;
END $$;

SELECT run_cases(layout, 300) FROM layout ORDER BY id \g /dev/null
SELECT l.what, generic, count(*) AS cases, count(*) FILTER (WHERE verdict <> 'same') AS differ FROM outcome o JOIN layout l ON l.id = o.layout GROUP BY l.id, l.what, generic ORDER BY l.id, generic;
SELECT l.what, generic, condition, verdict FROM outcome o JOIN layout l ON l.id = o.layout WHERE verdict <> 'same' ORDER BY length(condition) LIMIT 10;
-- conditions of every kind: those that fail are few, and many find some rows, not all
SELECT count(*) FILTER (WHERE found = -1) < 100 AS few_fail, count(*) FILTER (WHERE found > 0) > 1500 AS many_find, count(*) FILTER (WHERE found = 0) > 300 AS some_find_none
FROM outcome WHERE NOT generic;

-- many points before a comparison over parts of both orders: conditions that would make too many ranges are rechecked
CREATE TABLE many_heap AS SELECT i % 100 * 90 AS a, i % 3 AS b, i % 3 AS c, i % 2 AS d, i % 3 AS e, i % 2 AS f, i % 3 AS g, i % 2 AS h, i AS i FROM generate_series(1, 500) i;
CREATE FOREIGN TABLE many (a int OPTIONS (rowkey '1'), b int OPTIONS (rowkey '2'), c int OPTIONS (rowkey '3', sort 'desc'), d int OPTIONS (rowkey '4'),
  e int OPTIONS (rowkey '5', sort 'desc'), f int OPTIONS (rowkey '6'), g int OPTIONS (rowkey '7', sort 'desc'), h int OPTIONS (rowkey '8'),
  i int OPTIONS (rowkey '9', sort 'desc')) SERVER widecol OPTIONS (table 'w17');
INSERT INTO many SELECT * FROM many_heap;
PREPARE few (int) AS SELECT count(*) FROM many WHERE a = ANY (ARRAY(SELECT generate_series(1, $1))) AND (b, c, d, e, f, g, h, i) > (1, 1, 1, 1, 1, 1, 1, 1);
PREPARE few_heap (int) AS SELECT count(*) FROM many_heap WHERE a = ANY (ARRAY(SELECT generate_series(1, $1))) AND (b, c, d, e, f, g, h, i) > (1, 1, 1, 1, 1, 1, 1, 1);
EXECUTE few (900);
EXECUTE few_heap (900);
EXECUTE few (9000);
EXECUTE few_heap (9000);
SELECT count(*) FROM many WHERE a = ANY (ARRAY(SELECT generate_series(1, 9000))) AND b <> 1 AND b <> 2;
SELECT count(*) FROM many_heap WHERE a = ANY (ARRAY(SELECT generate_series(1, 9000))) AND b <> 1 AND b <> 2;
DROP SCHEMA row_comparisons CASCADE;
SELECT widecol.drop_table('w' || i) FROM generate_series(1, 17) i \g /dev/null
