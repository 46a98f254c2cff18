-- Sums of numeric and of floats in the engine: the results are those of a heap copy and those without pushdown.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA numeric_aggregates;
SET search_path = numeric_aggregates, public;
SET max_parallel_workers_per_gather = 0;
SET datestyle = 'ISO';
SET timezone = 'UTC';
-- rows are dear: few are enough for the engine to count them
SET cpu_tuple_cost = 5;
\getenv srcdir PG_ABS_SRCDIR
\set file :srcdir '/sql/include/aggregated.sql'
\i :file
CREATE FOREIGN TABLE nums (
  k int OPTIONS (rowkey '1'), n numeric, n2 numeric(10,2), b numeric OPTIONS (encoding 'binary'), f8 float8, f4 float4, fo float8 OPTIONS (encoding 'ordered'),
  m jsonb OPTIONS (family 'm')
) SERVER widecol OPTIONS (table 'numeric_aggregates_nums');
INSERT INTO nums
  SELECT g, CASE WHEN g % 11 > 0 THEN (g * 7919 % 10007 - 5000)::numeric / CASE g % 5 WHEN 0 THEN 1 WHEN 1 THEN 4 WHEN 2 THEN 8 WHEN 3 THEN 3 ELSE 1000 END END,
         (g * 7919 % 10007 - 5000) / 7.0, g / 8.0, sqrt(g) * CASE g % 3 WHEN 0 THEN -1 ELSE 1 END, sqrt(g), sqrt(g),
         jsonb_build_object('price', round(g / 7.0, g % 5)::text, 'kind', 'k' || g % 3)
  FROM generate_series(1, 1200) g;
CREATE TABLE nums_heap AS SELECT * FROM nums ORDER BY k;
ANALYZE nums, nums_heap;
SELECT aggregated('nums', 'SELECT sum(n), avg(n), sum(n2), avg(n2), count(n) FROM _');
SELECT aggregated('nums', 'SELECT sum(n), avg(n), sum(n2), avg(n2) FROM _ WHERE n < 100 AND k < 1000');
SELECT aggregated('nums', 'SELECT sum(n2), sum((m->>''price'')::numeric), avg((m->>''price'')::numeric) FROM _');
SELECT aggregated('nums', 'SELECT m->>''kind'', sum(n2), sum((m->>''price'')::numeric), count(*) FROM _ GROUP BY 1');
SELECT aggregated('nums', 'SELECT sum(f8), sum(f4) FROM _');
SELECT aggregated('nums', 'SELECT avg(f8), avg(f4), variance(f8), stddev(f4) FROM _');
SELECT aggregated('nums', 'SELECT var_pop(f8), var_samp(f8), stddev_pop(f8), stddev_samp(f8), var_pop(f4), stddev_samp(f4) FROM _');
SELECT aggregated('nums', 'SELECT stddev(f8), stddev_pop(f8), sum(f8), avg(n) FROM _ WHERE f8 = 1 AND k < 5');
SELECT aggregated('nums', 'SELECT stddev(f8), sum(f8), avg(f4), sum(n), avg(n2) FROM _ WHERE f8 > 1000');
SELECT aggregated('nums', 'SELECT stddev(n), variance(k), sum(fo), sum(b) FROM _');
SELECT pg_typeof(sum(n)) AS sum, pg_typeof(avg(n)) AS avg, pg_typeof(sum(f8)) AS sum8, pg_typeof(avg(f4)) AS avg4, pg_typeof(sum(f4)) AS sum4 FROM nums;

-- numbers that the engine does not add up, which come as rows, and those that would overflow a sum
INSERT INTO nums (k, n, f8, f4) SELECT 2000 + g, 'NaN', 'NaN', 'NaN' FROM generate_series(1, 40) g;
INSERT INTO nums (k, n, f8, f4) SELECT 2100 + g, 'Infinity', 'Infinity', 'Infinity' FROM generate_series(1, 40) g;
INSERT INTO nums (k, n, f8, f4) SELECT 2200 + g, '-Infinity', '-Infinity', '-Infinity' FROM generate_series(1, 40) g;
INSERT INTO nums (k, n, f8, f4) SELECT 2300 + g, 123456789012345678901.5 + g, 1e308, 3e38 FROM generate_series(1, 40) g;
INSERT INTO nums (k, n, f8, f4) SELECT 2400 + g, 0.1234567890123456789 * g, 1e200 * g, 1e20 FROM generate_series(1, 40) g;
INSERT INTO nums (k, n, f8, f4) SELECT 2500 + g, '-0.000', '-0', '-0' FROM generate_series(1, 40) g;
INSERT INTO nums (k, n, n2) SELECT 3000 + g, 9999999999999999, 99999999.99 FROM generate_series(1, 100) g;
INSERT INTO nums (k, n, n2) SELECT 4000 + g, -999999999999999999, -99999999.99 FROM generate_series(1, 200) g;
-- as other programs write them
SELECT count(widecol.put('numeric_aggregates_nums', widecol.row_key('numeric_aggregates.nums', 5000 + g), c, v::text))
  FROM generate_series(1, 50, 5) g, unnest('{cf:n2,cf:n2,cf:n2,cf:n,cf:n}'::text[], '{007.5,1.555," 2",1e2,.5}'::text[]) WITH ORDINALITY x(c, v, i),
    LATERAL (SELECT g + i) y(h) WHERE h > 0;
TRUNCATE nums_heap;
INSERT INTO nums_heap SELECT * FROM nums ORDER BY k;
ANALYZE nums;
SELECT aggregated('nums', 'SELECT sum(n), avg(n), sum(f8), avg(f8), sum(f4) FROM _ WHERE k BETWEEN 1000 AND 2040');
SELECT aggregated('nums', 'SELECT sum(n), avg(n), sum(f8), avg(f8), sum(f4) FROM _ WHERE k BETWEEN 2101 AND 2140');
SELECT aggregated('nums', 'SELECT sum(n), avg(n), sum(f8), avg(f8), sum(f4), stddev(f8) FROM _ WHERE k BETWEEN 2101 AND 2300');
SELECT aggregated('nums', 'SELECT sum(n), avg(n), sum(f8), avg(f8), stddev(f4) FROM _ WHERE k BETWEEN 2201 AND 2340');
SELECT aggregated('nums', 'SELECT sum(n), avg(n) FROM _ WHERE k BETWEEN 2301 AND 2340');
SELECT aggregated('nums', 'SELECT sum(n), avg(n), sum(f8), sum(f4), avg(f4) FROM _ WHERE k BETWEEN 2401 AND 2440');
SELECT aggregated('nums', 'SELECT sum(n), avg(n), sum(f8), avg(f8), sum(f4) FROM _ WHERE k BETWEEN 2501 AND 2540');
SELECT aggregated('nums', 'SELECT sum(n), avg(n), sum(n2), avg(n2) FROM _ WHERE k BETWEEN 3001 AND 3100');
SELECT aggregated('nums', 'SELECT sum(n), avg(n), sum(n2), avg(n2) FROM _ WHERE k BETWEEN 3001 AND 4200');
SELECT aggregated('nums', 'SELECT sum(n), avg(n), sum(n2), avg(n2), count(n2) FROM _ WHERE k BETWEEN 5000 AND 5100');
SELECT aggregated('nums', 'SELECT m->>''kind'', sum(n), avg(n2), count(n) FROM _ WHERE k < 2000 GROUP BY 1');
SELECT sum(f8) FROM nums WHERE k BETWEEN 2301 AND 2340;
SELECT avg(f8) FROM nums WHERE k BETWEEN 2301 AND 2340;
SELECT avg(f8) FROM nums_heap WHERE k BETWEEN 2301 AND 2340;
SELECT sum(f4) FROM nums WHERE k BETWEEN 2301 AND 2340;
SELECT avg(f4) FROM nums WHERE k BETWEEN 2301 AND 2340;
SELECT avg(f8) FROM nums WHERE k BETWEEN 2401 AND 2440;
SELECT avg(f8) FROM nums_heap WHERE k BETWEEN 2401 AND 2440;

-- parts of a scan are not read by several threads if floats are added up: the last digits would depend on chance
INSERT INTO nums (k, f8) SELECT 10000 + g, 1 / g::float8 FROM generate_series(1, 30000) g;
TRUNCATE nums_heap;
INSERT INTO nums_heap SELECT * FROM nums WHERE k > 10000 ORDER BY k;
ANALYZE nums;
SELECT aggregated('nums', 'SELECT sum(f8), avg(f8), variance(f8) FROM _ WHERE k > 10000');

DROP SCHEMA numeric_aggregates CASCADE;
SELECT widecol.drop_table('numeric_aggregates_nums');
