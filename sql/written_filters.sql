-- Conditions on columns that show when a cell was written, decided in the engine: the rows are
-- those of a heap copy and those found without.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA written_filters;
SET search_path = written_filters, public;
SET max_parallel_workers_per_gather = 0;
SET timezone = 'UTC';

CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text COLLATE "C", n int OPTIONS (encoding 'text'),
  us bigint OPTIONS (qualifier 'v', attribute 'timestamp'), at timestamptz OPTIONS (qualifier 'n', attribute 'timestamp'))
  SERVER widecol OPTIONS (table 'written_filters_t');
-- row g: v of the time g, or none, n of the day g of 2024, or none; now and then older and newer versions
SELECT count(*) FROM (SELECT widecol.put('t', ('\x8' || lpad(to_hex(g), 7, '0'))::bytea, 'cf:v', 'v' || g % 5, g) FROM generate_series(1, 100) g WHERE g % 6 <> 0) x;
SELECT count(*) FROM (SELECT widecol.put('t', ('\x8' || lpad(to_hex(g), 7, '0'))::bytea, 'cf:n', CASE g % 10 WHEN 1 THEN ' ' ELSE '' END || g,
  (extract(epoch FROM timestamptz '2024-01-01 00:00+00' + g * interval '1 day') * 1000000)::bigint) FROM generate_series(1, 100) g WHERE g % 7 <> 0) x;
SELECT count(*) FROM (SELECT widecol.put('t', ('\x8' || lpad(to_hex(g), 7, '0'))::bytea, 'cf:v', 'again', g + 1000) FROM generate_series(10, 100, 10) g) x;
CREATE TABLE t_heap AS SELECT * FROM t;

CREATE FUNCTION filtered(condition text, columns text DEFAULT 't::text') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text; pushed text[]; local text[]; heaps text[];
  query text = format('SELECT array_agg(x ORDER BY x) FROM (SELECT %s AS x FROM t WHERE %s) t', columns, condition);
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT %s FROM t WHERE %s', CASE WHEN columns = 't::text' THEN '*' ELSE columns END, condition) LOOP
    IF line ~ '(Filter|Aggregate|Columns):' THEN RETURN NEXT trim(line); END IF;
  END LOOP;
  EXECUTE query INTO pushed;
  PERFORM set_config('widecol.enable_pushdown', 'off', true);
  EXECUTE query INTO local;
  PERFORM set_config('widecol.enable_pushdown', 'on', true);
  EXECUTE replace(query, 'FROM t WHERE', 'FROM t_heap t WHERE') INTO heaps;
  RETURN NEXT coalesce(cardinality(pushed), 0) || ' rows' ||
    CASE WHEN pushed IS DISTINCT FROM local THEN ': OTHERS LOCALLY' WHEN pushed IS DISTINCT FROM heaps THEN ': NOT THOSE OF THE HEAP TABLE' ELSE '' END;
END $$;
SELECT filtered('us > 95');
SELECT filtered('us > 95', 'k::text');
SELECT filtered('us BETWEEN 10::int2 AND 20 AND v <> ''v1''', 'v');
SELECT filtered('us = 1010 OR us IN (5, 7, -1, NULL)');
SELECT filtered('us <> 5', 'us::text');
SELECT filtered('us IS NULL');
SELECT filtered('us IS NOT NULL AND at IS NULL', 'n::text');
SELECT filtered('us < 9223372036854775807 AND us >= -9223372036854775808 AND k < 10');
SELECT filtered('at >= ''2024-03-01''', 'k::text');
SELECT filtered('at = ''2024-03-01 00:00+00''');
SELECT filtered('at < ''infinity'' AND at > ''-infinity'' AND k < 5');
SELECT filtered('at > ''294276-12-31 23:59:59.999999+00''');
SELECT filtered('at < ''2024-02-01 05:00+05'' AND n > 20');
SELECT filtered('at IS DISTINCT FROM ''2024-01-05'' AND n = 11');
SELECT filtered('at::date = ''2024-03-01''');
SELECT filtered('NOT (us > 20 OR at > ''2024-02-01'')');
SET cpu_tuple_cost = 100;
SELECT filtered('us > 50 AND at < ''2024-03-20''', 'count(*) || '' '' || sum(n) || '' '' || max(v)');
SET cpu_tuple_cost = 0.01;
-- own writes, and changes of rows found by them
BEGIN;
UPDATE t SET v = 'own' WHERE us = 5;
SELECT k, v FROM t WHERE us > 2000;
DELETE FROM t WHERE at > '2024-01-10';
SELECT count(*) FROM t;
ROLLBACK;
DROP SCHEMA written_filters CASCADE;
