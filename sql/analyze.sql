-- ANALYZE: tables that are small are read whole, of others a sample is drawn all
-- over the table.  Estimates of samples are compared with the true values, with a tolerance.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
CREATE SCHEMA stats;
SET search_path = stats, public;
SET default_statistics_target = 10;		-- samples of 3000 rows

-- --- read whole: all is exact -----------------------------------------------

CREATE FOREIGN TABLE small (k int OPTIONS (rowkey '1'), v int, t text) SERVER widecol;
ANALYZE small;
SELECT reltuples FROM pg_class WHERE oid = 'small'::regclass;
INSERT INTO small SELECT g, nullif(g % 4, 0), 'x' FROM generate_series(1, 2000) g;
ANALYZE small;
SELECT reltuples FROM pg_class WHERE oid = 'small'::regclass;
SELECT attname, null_frac, n_distinct, correlation FROM pg_stats WHERE tablename = 'small' ORDER BY attname;
SELECT histogram_bounds FROM pg_stats WHERE tablename = 'small' AND attname = 'k';

-- rows that this transaction has written and deleted
BEGIN;
DELETE FROM small WHERE k <= 500;
INSERT INTO small SELECT g, 9, 'y' FROM generate_series(5001, 5100) g;
ANALYZE small;
SELECT reltuples FROM pg_class WHERE oid = 'small'::regclass;
SELECT null_frac, most_common_vals FROM pg_stats WHERE tablename = 'small' AND attname = 't';
ROLLBACK;

-- --- a sample ---------------------------------------------------------------

-- key parts repeat, values are skewed: true figures are in the names
CREATE FOREIGN TABLE large (
  site int OPTIONS (rowkey '1'),			-- 600 of 100 rows
  no int OPTIONS (rowkey '2', sort 'desc'),	-- 100
  tenth int,								-- NULL but for one in ten
  common text OPTIONS (family 'g'),			-- half are 'a', a quarter 'b', an eighth 'c' ...
  pad text OPTIONS (family 'g')				-- wide in the first fifth of the table
) SERVER widecol OPTIONS (families '{"cf": {"packing": "cell"}, "g": {"packing": "row"}}');
INSERT INTO large
SELECT g / 100, g % 100, CASE WHEN g % 10 = 0 THEN g END,
       chr(97 + least(floor(log(2, 1000 / (1 + (g * 7919) % 1000)::numeric))::int, 9)),
       (SELECT string_agg(md5(g || '.' || i), '') FROM generate_series(1, CASE WHEN g < 12000 THEN 8 ELSE 2 END) i)
FROM generate_series(0, 59999) g;

CREATE FUNCTION judge(tab regclass, OUT rows text, OUT sites text, OUT nos text, OUT nulls text, OUT common text,
                      OUT bounds text, OUT ordered text)
LANGUAGE plpgsql AS $$
DECLARE
  n float8;
BEGIN
  SELECT reltuples INTO n FROM pg_class WHERE oid = tab;
  rows := CASE WHEN n BETWEEN 54000 AND 66000 THEN 'right' ELSE n::text END;
  SELECT CASE WHEN n_distinct < 0 THEN -n_distinct * n ELSE n_distinct END INTO n
  FROM pg_stats WHERE tablename = tab::text AND attname = 'site';
  sites := CASE WHEN n BETWEEN 380 AND 750 THEN 'right' ELSE n::text END;
  SELECT n_distinct INTO n FROM pg_stats WHERE tablename = tab::text AND attname = 'no';
  nos := CASE WHEN n BETWEEN 95 AND 105 THEN 'right' ELSE n::text END;
  SELECT null_frac INTO n FROM pg_stats WHERE tablename = tab::text AND attname = 'tenth';
  nulls := CASE WHEN n BETWEEN 0.87 AND 0.93 THEN 'right' ELSE n::text END;
  SELECT most_common_freqs[1] INTO n FROM pg_stats WHERE tablename = tab::text AND attname = 'common';
  common := CASE WHEN n BETWEEN 0.45 AND 0.55 THEN 'right' ELSE n::text END;
  -- ten equal parts of the keys: the wide rows count no more than others
  SELECT max(abs(b - (i - 1) * 60)) INTO n
  FROM pg_stats, unnest(histogram_bounds::text::int[]) WITH ORDINALITY u(b, i)
  WHERE tablename = tab::text AND attname = 'site';
  bounds := CASE WHEN n < 60 THEN 'right' ELSE n::text END;
  SELECT correlation INTO n FROM pg_stats WHERE tablename = tab::text AND attname = 'site';
  ordered := CASE WHEN n > 0.99 THEN 'right' ELSE n::text END;
END $$;

-- nothing of it is in files; then everything; then a part
ANALYZE large;
SELECT * FROM judge('large');
SELECT widecol.flush('large');
ANALYZE large;
SELECT * FROM judge('large');
UPDATE large SET tenth = tenth + 1 WHERE site >= 400;
DELETE FROM large WHERE site >= 500;
INSERT INTO large SELECT 500 + g / 100, g % 100, CASE WHEN g % 10 = 0 THEN g END, CASE WHEN g % 2 = 0 THEN 'a' ELSE 'b' END, 'again'
FROM generate_series(0, 9999) g;
ANALYZE large;
SELECT * FROM judge('large');

-- of one type of records, that are few among many
SET client_min_messages = warning;
CREATE FOREIGN TABLE few (site int OPTIONS (rowkey '1') CHECK (site = 77), no int OPTIONS (rowkey '2', sort 'desc'), tenth int) SERVER widecol
  OPTIONS (table 'large');
RESET client_min_messages;
ANALYZE few;
SELECT reltuples, relpages < 20 AS small FROM pg_class WHERE oid = 'few'::regclass;
DROP FOREIGN TABLE few;

-- many uncommitted rows
BEGIN;
DELETE FROM large WHERE site < 300;
INSERT INTO large SELECT -g / 100, g % 100, NULL, 'own', 'own' FROM generate_series(100, 30099) g;
ANALYZE large (site);
SELECT reltuples BETWEEN 54000 AND 66000 AS rows FROM pg_class WHERE oid = 'large'::regclass;
SELECT (histogram_bounds::text::int[])[5] BETWEEN -180 AND 0 AS middle, (histogram_bounds::text::int[])[1] < -200 AS own
FROM pg_stats WHERE tablename = 'large' AND attname = 'site';
ROLLBACK;

-- a sample of cells; as of a time; a statement that is cancelled leaves nothing behind
SET client_min_messages = warning;
CREATE FOREIGN TABLE cells ("row" bytea, family text, qualifier text, value bytea) SERVER widecol
  OPTIONS (table 'large', layout 'cell');
RESET client_min_messages;
ANALYZE cells;
SELECT reltuples BETWEEN 115000 AND 137000 AS rows FROM pg_class WHERE oid = 'cells'::regclass;
SELECT n_distinct, most_common_vals FROM pg_stats WHERE tablename = 'cells' AND attname = 'family';
BEGIN;
SET LOCAL statement_timeout = '1ms';
ANALYZE large;
ROLLBACK;
ANALYZE VERBOSE small;
SELECT count(*) FROM large;

SET client_min_messages = error;
DROP SCHEMA stats CASCADE;
SELECT widecol.drop_table(t) FROM unnest('{large,small}'::text[]) t;
