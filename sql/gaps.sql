-- Conditions behind a part of the key that has few values and none on it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA gaps;
SET search_path = gaps, public;

CREATE FOREIGN TABLE t (
  kind int OPTIONS (rowkey '1'), done bool OPTIONS (rowkey '2', sort 'desc'), id int OPTIONS (rowkey '3'), v int
) SERVER widecol;
CREATE TABLE h (kind int, done bool, id int, v int);
INSERT INTO h SELECT k, i % 3 = 0, i, k * 100 + i FROM generate_series(1, 4) k, generate_series(1, 60) i;
INSERT INTO t SELECT * FROM h;
CREATE FOREIGN TABLE flags (done bool OPTIONS (rowkey '1'), id int OPTIONS (rowkey '2'), v int)
  SERVER widecol OPTIONS (salt_buckets '4', salt_by 'done');
INSERT INTO flags SELECT done, id, v FROM h WHERE kind = 1;

CREATE FUNCTION scan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    CONTINUE WHEN line !~ '(Scan|Row|Rows|Buckets|Filter): ' AND line !~ 'Sort';
    RETURN NEXT trim(line);
  END LOOP;
END $$;

SELECT scan_of('SELECT v FROM t WHERE kind = 2 AND id = 7');
SELECT v FROM t WHERE kind = 2 AND id = 7;
SELECT scan_of('SELECT v FROM t WHERE kind = 2 AND id BETWEEN 7 AND 9 ORDER BY kind, done DESC, id');
SELECT done, id FROM t WHERE kind = 2 AND id BETWEEN 7 AND 9 ORDER BY kind, done DESC, id;
-- by id alone is another order
SELECT scan_of('SELECT v FROM t WHERE kind = 2 AND id BETWEEN 7 AND 9 ORDER BY id');
SELECT id FROM t WHERE kind = 2 AND id BETWEEN 7 AND 9 ORDER BY id;
-- not when the part has a condition of its own, or nothing is behind it
SELECT scan_of('SELECT v FROM t WHERE kind = 2 AND done AND id = 9');
SELECT scan_of('SELECT v FROM t WHERE kind = 2 AND done < true AND id = 7');
SELECT scan_of('SELECT v FROM t WHERE kind = 2');
SELECT scan_of('SELECT v FROM t WHERE id = 7');
SELECT scan_of('SELECT v FROM t WHERE kind = 2 AND done IS TRUE AND id IN (6, 7)');
SELECT v FROM t WHERE kind = 2 AND done IS TRUE AND id IN (6, 7);
SELECT scan_of('SELECT v FROM flags WHERE id > 57');
SELECT id, done FROM flags WHERE id > 57 ORDER BY done, id;
SELECT scan_of('SELECT v FROM flags WHERE (id, v) > (58, 0) ORDER BY done, id LIMIT 2');
SELECT count(*), sum(v) FROM t WHERE kind IN (1, 3) AND id < 10 AND id > NULL;
SELECT count(*), sum(v) FROM t WHERE kind IN (1, 3) AND id < 10 AND v % 2 = 0;
SELECT count(*), sum(v) FROM h WHERE kind IN (1, 3) AND id < 10 AND v % 2 = 0;
DELETE FROM t WHERE kind = 4 AND id > 50;
UPDATE t SET v = 0 WHERE kind = 4 AND id = 50;
SELECT count(*), sum(v) FROM t WHERE kind = 4;

DROP SCHEMA gaps CASCADE;
SELECT count(widecol.drop_table(name)) FROM widecol.tables WHERE name IN ('t', 'flags');
