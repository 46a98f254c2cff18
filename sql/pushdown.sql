-- Each kind of condition that is pushed down: the plan's nodes, the kind of scan, the rest
-- that the session filters and limits; and the rows are those of a heap copy, in its order
-- if the query has one.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA pushed;
SET search_path = pushed, public;
SET max_parallel_workers_per_gather = 0;
SET datestyle = 'ISO';

CREATE FOREIGN TABLE visit (
  host  text   OPTIONS (rowkey '1') COLLATE "C",
  day   date   OPTIONS (rowkey '2', sort 'desc'),
  n     int    OPTIONS (rowkey '3'),
  raw   bytea  OPTIONS (rowkey 'raw'),
  url   text,
  bytes int8,
  agent text   OPTIONS (family 'more'),
  tags  jsonb  OPTIONS (family 'tag')
) SERVER widecol;
INSERT INTO visit (host, day, n, url, bytes, agent, tags)
  SELECT 'h' || h, '2026-01-01'::date + d, i, '/' || i, h * 100 + i, CASE i WHEN 2 THEN NULL ELSE 'a' || i END, CASE i WHEN 1 THEN '{"k": "v"}'::jsonb END
  FROM generate_series(1, 12) h, generate_series(0, 9) d, generate_series(1, 3) i;
CREATE TABLE visit_heap AS SELECT * FROM visit;
CREATE INDEX ON visit_heap (host, day DESC, n);
ANALYZE visit;
ANALYZE visit_heap;

-- The plan of a query about "visit" without its values; and whether the heap copy says the same.
CREATE FUNCTION pushed(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text; mine text[]; heaps text[];
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    line = regexp_replace(regexp_replace(line, '^( *)->  ', '\1'), '(InitPlan \d+) \(returns \$\d+\)', '\1');
    IF line ~ '^ *(Widecol Table|Key Conditions|Start Row|Stop Row|Row|Prefix|Output|Presorted Key|Join Filter|Merge Cond|Hash Cond|Inner Unique|Cell.*):' THEN CONTINUE; END IF;
    RETURN NEXT line;
  END LOOP;
  EXECUTE 'SELECT array_agg(q::text) FROM (' || query || ') q' INTO mine;
  EXECUTE 'SELECT array_agg(q::text) FROM (' || regexp_replace(query, '\mvisit\M', 'visit_heap', 'g') || ') q' INTO heaps;
  IF query !~ 'ORDER BY' THEN
    mine = ARRAY(SELECT unnest(mine) ORDER BY 1);
    heaps = ARRAY(SELECT unnest(heaps) ORDER BY 1);
  END IF;
  RETURN NEXT coalesce(cardinality(mine), 0) || ' rows' || CASE WHEN mine IS NOT DISTINCT FROM heaps OR mine = '{}' AND heaps IS NULL THEN '' ELSE ': NOT THOSE OF THE HEAP TABLE' END;
END $$;

-- = on the whole key: a Get
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND day = '2026-01-03' AND n = 2$$);
SELECT pushed($$SELECT url FROM visit WHERE raw = (SELECT v.raw FROM visit v WHERE host = 'h1' AND day = '2026-01-03' AND n = 2)$$);

-- = on leading key parts, a range on the next
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1'$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND day >= '2026-01-03'$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND day BETWEEN '2026-01-03' AND '2026-01-05'$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND day BETWEEN SYMMETRIC '2026-01-05' AND '2026-01-03'$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND '2026-01-03' > day$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND day = '2026-01-03' AND n > 1::int8 AND n < 3::int2$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND day > timestamp '2026-01-03 12:00'$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND day < localtimestamp - interval '1 day'$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND day >= timestamptz '2026-01-03 12:00+00'$$);
SELECT pushed($$SELECT url FROM visit WHERE host >= 'h3' AND host < 'h5'$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND n = 2$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1'::name AND day = '2026-01-05'$$);
SELECT pushed($$SELECT url FROM visit WHERE host = current_user$$);
SELECT pushed($$SELECT url FROM visit WHERE (host, day) >= ('h8'::name, '2026-01-03')$$);

-- IN, = ANY, OR of ranges
SELECT pushed($$SELECT url FROM visit WHERE host IN ('h1', 'h3', 'none')$$);
SELECT pushed($$SELECT url FROM visit WHERE host = ANY ('{h1,h3}') AND day IN ('2026-01-01', '2026-01-02') AND n = ANY ('{1,2}')$$);
SELECT pushed($$SELECT url FROM visit WHERE host = ANY (ARRAY(SELECT 'h' || i FROM generate_series(1, 3) i)) AND day > '2026-01-09'$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' OR (host = 'h2' AND day > '2026-01-05') OR host > 'h8'$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND (day < '2026-01-03' OR day > '2026-01-08')$$);
SELECT pushed($$SELECT url FROM visit WHERE host > 'h8' OR (host = 'h8' AND (day < '2026-01-03' OR (day = '2026-01-03' AND (n = 1 OR n = 3))))$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h2' OR (host = 'h1' AND (day = '2026-01-03' OR length(url) = 2))$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h2' OR (host = 'h1' AND (n = 1 OR day = '2026-01-03') AND (day = '2026-01-04' OR n = 3))$$);

-- LIKE 'x%', ^@, starts_with, regular expressions
SELECT pushed($$SELECT url FROM visit WHERE host LIKE 'h1%'$$);
SELECT pushed($$SELECT url FROM visit WHERE host LIKE 'h1_'$$);
SELECT pushed($$SELECT url FROM visit WHERE host ^@ 'h1' AND day = '2026-01-03'$$);
SELECT pushed($$SELECT url FROM visit WHERE starts_with(host, 'h1')$$);
SELECT pushed($$SELECT url FROM visit WHERE host LIKE '%1'$$);
SELECT pushed($$SELECT url FROM visit WHERE host ~ '^h1[02]'$$);
SELECT pushed($$SELECT url FROM visit WHERE host ~ '^h11$' AND day = '2026-01-03'$$);
SELECT pushed($$SELECT url FROM visit WHERE host SIMILAR TO 'h1(1|2)%'$$);
SELECT pushed($$SELECT url FROM visit WHERE host ~ '^h?1' OR host ~ '1$' OR host ~ '(?i)^H2'$$);

-- row comparisons: the next page
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND (day, n) >= ('2026-01-05', 2)$$);
SELECT pushed($$SELECT url FROM visit WHERE (host, day) > ('h3', '2026-01-05')$$);
SELECT pushed($$SELECT url FROM visit WHERE (host, day, n) BETWEEN ('h3', '2026-01-05', 2) AND ('h4', '2026-01-05', 2)$$);
SELECT pushed($$SELECT url FROM visit WHERE raw > (SELECT v.raw FROM visit v WHERE host = 'h1' AND day = '2026-01-03' AND n = 2) ORDER BY raw LIMIT 5$$);
SELECT pushed($$SELECT url FROM visit WHERE raw < (SELECT v.raw FROM visit v WHERE host = 'h1' AND day = '2026-01-03' AND n = 2) ORDER BY raw DESC LIMIT 5$$);

-- conditions on value columns: the engine's, beside ranges or alone
SELECT pushed($$SELECT n FROM visit WHERE bytes > 1101$$);
SELECT pushed($$SELECT n FROM visit WHERE host = 'h1' AND bytes IN (101, 103) AND agent IS NOT NULL$$);
SELECT pushed($$SELECT n FROM visit WHERE host = 'h1' AND (agent IS NULL OR url = '/1') AND NOT bytes = 101$$);
SELECT pushed($$SELECT n FROM visit WHERE host = 'h1' AND url LIKE '/1%' AND length(url) = 2$$);
SELECT pushed($$SELECT n FROM visit WHERE host = 'h1' AND bytes > 101 ORDER BY day DESC, n LIMIT 3$$);

-- the columns a query needs
SELECT pushed($$SELECT host, n FROM visit WHERE host = 'h1'$$);
SELECT pushed($$SELECT agent FROM visit WHERE host = 'h1'$$);
SELECT pushed($$SELECT tags ->> 'k', url FROM visit WHERE host = 'h1'$$);
SELECT pushed($$SELECT count(*) AS n FROM visit WHERE host = 'h1'$$);

-- ORDER BY the key order, or its reverse, also behind equalities
SELECT pushed($$SELECT url FROM visit ORDER BY host, day DESC, n$$);
SELECT pushed($$SELECT url FROM visit ORDER BY host DESC, day, n DESC$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' ORDER BY day DESC, n$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND day = '2026-01-03' ORDER BY n DESC$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND day = '2026-01-03' ORDER BY host, n$$);
SELECT pushed($$SELECT url FROM visit WHERE host IN ('h3', 'h1', 'h2') ORDER BY host, day DESC, n$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' ORDER BY n, day$$);
SELECT pushed($$SELECT max(day) AS last FROM visit WHERE host = 'h1'$$);

-- LIMIT and OFFSET, when nothing is left to filter
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' ORDER BY day DESC, n LIMIT 5 OFFSET 10$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' ORDER BY day, n DESC LIMIT 5 OFFSET 10$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' ORDER BY n, day LIMIT 5$$);
SELECT pushed($$SELECT url FROM visit WHERE host = 'h1' AND length(url) = 2 ORDER BY day DESC, n LIMIT 5$$);

-- joins on the key: many Gets, or a range for each row
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT pushed($$SELECT v.url FROM generate_series(1, 3) i JOIN visit v ON v.host = 'h' || i AND v.day = '2026-01-03' AND v.n = 1$$);
SELECT pushed($$SELECT i, v.url FROM generate_series(1, 3) i LEFT JOIN visit v ON v.host = 'h1' AND v.day = '2026-01-03' AND v.n = i + 1$$);
SELECT pushed($$SELECT i, v.url FROM generate_series(1, 3) i, LATERAL (SELECT url FROM visit WHERE host = 'h' || i ORDER BY day DESC, n LIMIT 2) v$$);
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- values that come later: as many ranges as the array has values then
SET plan_cache_mode = force_generic_plan;
PREPARE any_host(text[], date) AS SELECT count(*) FROM visit WHERE host = ANY ($1) AND day > $2;
EXPLAIN (COSTS OFF) EXECUTE any_host('{h1,h2}', '2026-01-09');
EXECUTE any_host('{h1,h2,NULL,h1}', '2026-01-09');
EXECUTE any_host('{}', '2026-01-09');
EXECUTE any_host(NULL, '2026-01-09');
EXECUTE any_host('{h1,h2}', NULL);
PREPARE next_page(text, date, int) AS SELECT host, day, n FROM visit WHERE (host, day, n) > ($1, $2, $3) ORDER BY host, day DESC, n LIMIT 2;
EXPLAIN (COSTS OFF) EXECUTE next_page('h1', '2026-01-03', 2);
PREPARE next_in_host(text, date, int) AS SELECT host, day, n FROM visit WHERE host = $1 AND (day < $2 OR (day = $2 AND n > $3)) ORDER BY host, day DESC, n LIMIT 2;
EXPLAIN (COSTS OFF) EXECUTE next_in_host('h1', '2026-01-03', 2);
EXECUTE next_in_host('h1', '2026-01-03', 2);
EXECUTE next_in_host('h1', '2026-01-03', NULL);
EXECUTE next_in_host('h1', NULL, 2);
PREPARE by_pattern(text) AS SELECT host, n FROM visit WHERE host LIKE $1 AND day = '2026-01-01' AND n = 1;
EXPLAIN (COSTS OFF) EXECUTE by_pattern('h1%');
EXECUTE by_pattern('h_1');
EXECUTE by_pattern('h1');
RESET plan_cache_mode;

-- contradictions read nothing
CREATE FUNCTION rows_read(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; n int = 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    n = n + coalesce(substring(line FROM 'Rows Read: (\d+)')::int, 0);
  END LOOP;
  RETURN n || ' rows read';
END $$;
SELECT c AS condition, rows_read('SELECT url FROM visit WHERE ' || c) FROM unnest(ARRAY[
  $$host = 'h1' AND host = 'h2'$$,
  $$host > 'h5' AND host < 'h3'$$,
  $$host > 'h5' AND host <= 'h5'$$,
  $$host = 'h1' AND day BETWEEN '2026-01-05' AND '2026-01-03'$$,
  $$host = 'h1' AND day = '2026-01-03' AND n = 3000000000$$,
  $$host = 'h1' AND day = '2026-01-03' AND n > 3000000000$$,
  $$host = 'h1' AND day = timestamp '2026-01-03 12:00'$$,
  $$host = ANY ('{}')$$,
  $$host = NULL$$,
  $$host LIKE NULL$$,
  $$host LIKE 'h1%' AND host ^@ 'h2'$$,
  $$host IN ('h1', 'h2') AND host IN ('h3', 'h4')$$,
  $$(host, day) > ('h3', '2026-01-05') AND host = 'h2'$$,
  $$(host, day) > (NULL, '2026-01-05')$$,
  $$(host, day, n) BETWEEN ('h4', '2026-01-05', 2) AND ('h3', '2026-01-05', 2)$$,
  $$host = 'h1' AND (day < '2026-01-01' OR day > '2026-01-10')$$,
  $$raw < ''$$,
  $$raw = ''$$,
  $$raw > '\xff'$$,
  $$host = (SELECT NULL)$$,
  $$host = 'h1' AND day = (SELECT NULL::date)$$
]) c;
-- and these no more rows than they give
SELECT c AS condition, rows_read('SELECT url FROM visit WHERE ' || c) FROM unnest(ARRAY[
  $$host = 'h1' AND day >= '2026-01-09'$$,
  $$host = 'h1' AND day = '2026-01-03' AND n < 3000000000$$,
  $$host = 'h1' AND day = '2026-01-03' AND n <= 2.5::float8::int8$$,
  $$(host, day, n) > ('h9', '2026-01-02', 1)$$,
  $$host IN ('h1', 'h2') AND day > '2026-01-09'$$,
  $$host = 'h1' AND (day, n) > ('2026-01-10', 1)$$,
  $$host LIKE 'h11%'$$
]) c;

-- instants against dates and times without zone, in a zone that skips an hour and repeats another
CREATE FOREIGN TABLE moment (v timestamptz OPTIONS (rowkey '1'), w timestamptz) SERVER widecol;
CREATE FOREIGN TABLE local_moment (v timestamp OPTIONS (rowkey '1', sort 'desc'), w timestamp) SERVER widecol;
CREATE FOREIGN TABLE local_day (v date OPTIONS (rowkey '1', encoding 'binary'), w date) SERVER widecol;
EXPLAIN (COSTS OFF) SELECT * FROM moment WHERE v >= current_date AND v < localtimestamp AND w > current_date;
EXPLAIN (COSTS OFF) SELECT * FROM moment WHERE v = ANY ('{2026-01-03}'::date[]);
EXPLAIN (COSTS OFF) SELECT * FROM local_moment WHERE v >= now() - interval '1 day' AND v <> now();
EXPLAIN (COSTS OFF) SELECT * FROM local_day WHERE v < now();
EXPLAIN (COSTS OFF) SELECT * FROM local_day WHERE v = now();
EXPLAIN (COSTS OFF) SELECT * FROM local_moment WHERE v = timestamptz '2026-01-03 12:00+00';
EXPLAIN (COSTS OFF) SELECT * FROM local_moment WHERE v IS NOT DISTINCT FROM NULL::timestamptz OR now() = v AND v > '2026-01-01';
SET timezone = 'America/St_Johns';
CREATE TABLE stored AS
  SELECT DISTINCT t AT TIME ZONE 'UTC' AS v FROM unnest('{2024-03-10,2024-11-03}'::date[]) day, generate_series(day - interval '2 days', day + interval '2 days', interval '30 min') t
  UNION ALL SELECT unnest('{-infinity,infinity,"4714-11-25 00:00:00+00 BC","294276-12-31 00:00:00+00"}'::timestamptz[]);
INSERT INTO moment SELECT v, v FROM stored;
INSERT INTO local_moment SELECT DISTINCT v::timestamp, v::timestamp FROM stored;
INSERT INTO local_day SELECT DISTINCT v::date, v::date FROM stored WHERE isfinite(v);
CREATE TABLE moment_heap AS SELECT * FROM moment;
CREATE TABLE local_moment_heap AS SELECT * FROM local_moment;
CREATE TABLE local_day_heap AS SELECT * FROM local_day;
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE rows text;
BEGIN
  EXECUTE 'SELECT md5(string_agg(v::text, '','' ORDER BY v::text)) FROM ' || query INTO rows;
  RETURN rows;
END $$;
CREATE FUNCTION differing(relation text, type text, given text[]) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT condition FROM unnest(given) g, unnest('{<,<=,=,>=,>,<>}'::text[]) op, unnest('{v,w}'::text[]) c,
    LATERAL (SELECT format('%s %s %L::%s', c, op, g, type) AS condition) x
  WHERE rows_of(relation || ' WHERE ' || condition) IS DISTINCT FROM rows_of(relation || '_heap WHERE ' || condition) $$;
SELECT differing('moment', 'date', '{2024-03-10,2024-03-11,2024-11-03,2024-11-04,"4714-11-24 BC",5000000-01-01,-infinity,infinity}');
SELECT differing('moment', 'timestamp', '{"2024-03-10 01:59","2024-03-10 02:15","2024-03-10 03:00","2024-11-03 01:30","2024-11-03 02:00",
  "4714-11-24 BC","294276-12-31 23:59",-infinity,infinity}');
SELECT differing(relation, 'timestamptz', '{"2024-03-10 05:15+00","2024-03-10 05:30+00","2024-03-10 05:45+00","2024-11-03 03:45+00",
  "2024-11-03 05:00+00","4714-11-25 00:00+00 BC","294276-12-31 23:59+00",-infinity,infinity}') FROM unnest('{local_moment,local_day}'::text[]) relation;
CREATE TABLE changes (zone text, day date);		-- in the first zones clocks change on that day, or skip it
INSERT INTO changes VALUES ('America/St_Johns', '2024-03-10'), ('America/St_Johns', '2024-11-03'), ('Europe/London', '2024-03-31'),
  ('Europe/London', '2024-10-27'), ('Australia/Lord_Howe', '2024-04-07'), ('Australia/Lord_Howe', '2024-10-06'),
  ('Pacific/Apia', '2011-12-30'), ('Etc/GMT+12', '2024-03-10'), ('Pacific/Kiritimati', '2024-03-10');
CREATE TABLE added AS SELECT t FROM changes, generate_series(day - 1, day + interval '2 days', interval '30 min') t WHERE zone !~ 'St_Johns|GMT|Kiri';
INSERT INTO local_moment SELECT t, t FROM added;
INSERT INTO local_moment_heap SELECT t, t FROM added;
INSERT INTO local_day SELECT DISTINCT t::date, t::date FROM added;
INSERT INTO local_day_heap SELECT DISTINCT t::date, t::date FROM added;
CREATE FUNCTION differing_zones() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  change record;
BEGIN
  FOR change IN SELECT zone, day::timestamp AT TIME ZONE zone AS at FROM changes LOOP
    PERFORM set_config('timezone', change.zone, true);
    RETURN QUERY SELECT change.zone || ': ' || r || ' ' || t
      FROM unnest('{local_moment,local_day}'::text[]) r, generate_series(change.at - interval '26 h', change.at + interval '26 h', interval '30 min') t
      WHERE rows_of(format('%s WHERE v = %L::timestamptz', r, t)) IS DISTINCT FROM rows_of(format('%s_heap WHERE v = %L::timestamptz', r, t));
  END LOOP;
END $$;
SELECT differing_zones();
SELECT count(*) FROM local_moment JOIN moment_heap m ON local_moment.v = m.v;
SELECT count(*) FROM local_moment_heap JOIN moment_heap m ON local_moment_heap.v = m.v;
-- the zone is that of the query
PREPARE of_day AS SELECT count(*), min(v) FROM moment WHERE v >= date '2024-03-10' AND v < date '2024-03-11';
EXECUTE of_day;
SET timezone = 'UTC';
EXECUTE of_day;
DEALLOCATE of_day;

DROP FOREIGN TABLE visit, moment, local_moment, local_day;
SELECT widecol.drop_table(t) FROM unnest('{visit,moment,local_moment,local_day}'::text[]) t;
DROP SCHEMA pushed CASCADE;
