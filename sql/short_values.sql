-- Short texts and byteas stay in the memory of a scan's block until the next row is read: each kind of plan
-- must see each row's own values, as of a heap table.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA short_values;
SET search_path = short_values, public;

CREATE DOMAIN word AS text CHECK (length(VALUE) < 1000);
CREATE TABLE heap (k int PRIMARY KEY, a text, b varchar(40), c varchar(400), d bytea, e word, f bytea, g text);
CREATE FOREIGN TABLE stored (k int OPTIONS (rowkey '1'), a text, b varchar(40), c varchar(400), d bytea, e word,
                             f bytea OPTIONS (encoding 'ordered'), g text) SERVER widecol;
CREATE FOREIGN TABLE cells (k int OPTIONS (rowkey '1'), a text, b varchar(40), c varchar(400), d bytea, e word,
                            f bytea OPTIONS (encoding 'ordered'), g text) SERVER widecol
  OPTIONS (families '{"cf": {"packing": "cell"}}');

-- lengths 0 to 140 bytes, of one, two and three bytes a character; now and then NULL, and a value of 100 KB
INSERT INTO heap
SELECT k, CASE WHEN k % 7 <> 3 THEN repeat(chr(97 + k % 26), k % 141) END, repeat(chr(228), k % 41),
       repeat(chr(8364), k % 48) || repeat('x', k % 3), decode(repeat(lpad(to_hex(k % 256), 2, '0'), 120 + k % 14), 'hex'),
       md5(k::text), decode(md5(k::text), 'hex'), CASE WHEN k % 500 = 499 THEN repeat(md5(k::text), 3200) ELSE k::text END
FROM generate_series(1, 3000) k;
INSERT INTO stored SELECT * FROM heap;
INSERT INTO cells SELECT * FROM heap;
ANALYZE stored;
ANALYZE cells;

-- the statement's result from each stored table that is not the heap table's, in order
CREATE FUNCTION differs(statement text, settings text[] DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    t text; s text; result text[]; expected text[]; wrong text[] := '{}';
BEGIN
    EXECUTE format('SELECT array_agg(x::text) FROM (%s) x', regexp_replace(statement, '\mT\M', 'heap', 'g')) INTO expected;
    FOREACH s IN ARRAY settings LOOP EXECUTE 'SET LOCAL ' || s; END LOOP;
    FOREACH t IN ARRAY ARRAY['stored', 'cells'] LOOP
        EXECUTE format('SELECT array_agg(x::text) FROM (%s) x', regexp_replace(statement, '\mT\M', t, 'g')) INTO result;
        IF result IS DISTINCT FROM expected OR cardinality(expected) < 10 THEN
            wrong := wrong || t;
        END IF;
    END LOOP;
    FOREACH s IN ARRAY settings LOOP EXECUTE 'RESET ' || split_part(s, ' ', 1); END LOOP;
    RETURN array_to_string(wrong, ', ');
END $$;

SELECT what, differs(statement, settings) AS differs FROM (VALUES
  ('scan', 'SELECT * FROM T ORDER BY k', '{}'::text[]),
  ('backward', 'SELECT * FROM T ORDER BY k DESC', '{}'),
  ('sort', 'SELECT * FROM T ORDER BY e, k', '{}'),
  ('sort of pages', 'SELECT * FROM T WHERE k > 100 ORDER BY k LIMIT 60', '{}'),
  ('with ties', 'SELECT k, b, e FROM T ORDER BY k FETCH FIRST 30 ROWS WITH TIES', '{}'),
  ('window', 'SELECT k, lag(a, 3) OVER w, lead(d, 2) OVER w, first_value(e) OVER w FROM T WINDOW w AS (ORDER BY k) ORDER BY k', '{}'),
  ('distinct', 'SELECT DISTINCT ON (k / 10) k, a, b, c, d, e FROM T ORDER BY k / 10, k', '{}'),
  ('groups', 'SELECT k / 10, min(a), max(e), string_agg(b, ''-'' ORDER BY k), array_agg(d ORDER BY k) FROM T GROUP BY 1 ORDER BY 1', '{}'),
  ('nested loop', 'SELECT x.k, x.a, x.d, y.a, y.e FROM T x JOIN T y ON y.k = x.k + 1 ORDER BY x.k', '{enable_hashjoin = off,enable_mergejoin = off}'),
  ('nested loop, one row a time', 'SELECT x.k, x.a, y.b, y.e FROM (SELECT * FROM T ORDER BY k LIMIT 300) x, LATERAL (SELECT * FROM T y WHERE y.k > x.k ORDER BY k LIMIT 2) y ORDER BY x.k, y.k', '{}'),
  ('merge join', 'SELECT x.k, x.a, y.c, y.d FROM T x JOIN T y ON y.k = x.k ORDER BY x.k', '{enable_hashjoin = off,enable_nestloop = off}'),
  ('hash join', 'SELECT x.k, x.a, y.k, y.e FROM T x JOIN T y ON y.a = x.a AND y.b = x.b ORDER BY x.k, y.k', '{enable_mergejoin = off,enable_nestloop = off}'),
  ('append', 'SELECT * FROM (SELECT k, a, d FROM T UNION ALL SELECT -k, c, f FROM T) u ORDER BY k', '{}'),
  ('except', 'SELECT a, e FROM T EXCEPT SELECT a, e FROM T WHERE k % 3 = 0 ORDER BY e', '{}'),
  ('subquery', 'SELECT k, (SELECT y.a FROM T y WHERE y.k = x.k + 1), a FROM T x ORDER BY k', '{}'),
  ('with', 'WITH w AS MATERIALIZED (SELECT * FROM T) SELECT x.*, y.a AS ya FROM w x JOIN w y ON y.k = x.k + 5 ORDER BY x.k', '{}'),
  ('whole rows', 'SELECT t, t.k FROM T t ORDER BY k', '{}'),
  ('updated', 'SELECT k, upper(a), b || c, substring(d FROM 2), length(g) FROM T ORDER BY k', '{}'),
  ('two readers', 'SELECT x.k, x.a, x.b, y.a, y.b FROM T x, T y WHERE x.k % 100 = 0 AND y.k % 150 = 0 ORDER BY x.k, y.k', '{}')
) s (what, statement, settings);

-- cursors that go back, and that outlive their transaction
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT k, a, b, e FROM stored WHERE k BETWEEN 10 AND 14 ORDER BY k;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
COMMIT;
FETCH ALL FROM c;
CLOSE c;

-- values that a function keeps
DO $$
DECLARE
    r stored; kept stored[] := '{}'; n int;
BEGIN
    FOR r IN SELECT * FROM stored s ORDER BY k LOOP
        kept := kept || r;
    END LOOP;
    SELECT count(*) INTO n FROM unnest(kept) x JOIN heap h ON h.k = x.k WHERE (x.a, x.b, x.c, x.d, x.e, x.f, x.g) IS NOT DISTINCT FROM (h.a, h.b, h.c, h.d, h.e, h.f, h.g);
    RAISE WARNING '% rows are the same', n;
END $$;

-- rows that are changed with values of theirs and of other rows: in the engine, by the executor, and with keys that move
UPDATE stored SET a = e, c = b WHERE k % 2 = 0;
UPDATE heap SET a = e, c = b WHERE k % 2 = 0;
UPDATE stored s SET g = o.a, d = s.f FROM cells o WHERE o.k = s.k + 1 AND s.k % 3 = 0;
UPDATE heap s SET g = o.a, d = s.f FROM cells o WHERE o.k = s.k + 1 AND s.k % 3 = 0;
UPDATE stored SET k = k + 10000, a = b, e = a WHERE k % 5 = 0 AND a IS NOT NULL;
UPDATE heap SET k = k + 10000, a = b, e = a WHERE k % 5 = 0 AND a IS NOT NULL;
SELECT count(*) FROM stored s JOIN heap h ON h.k = s.k AND s::text = h::text;
WITH gone AS (DELETE FROM stored WHERE k BETWEEN 2986 AND 2996 RETURNING *) SELECT k, a, b, e FROM gone ORDER BY k LIMIT 3;

DROP FOREIGN TABLE stored, cells;
SELECT widecol.drop_table('stored'), widecol.drop_table('cells');
DROP SCHEMA short_values CASCADE;
RESET client_min_messages;
