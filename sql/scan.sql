-- Reading: rows, columns and their values.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA scan;
SET search_path = scan, public;
SET timezone = 'UTC';
SET datestyle = 'ISO';

CREATE FOREIGN TABLE t (
  id int OPTIONS (rowkey '1'),
  i int, l int8 OPTIONS (family 'f2'), f float8, n numeric, b bool, s text OPTIONS (family 'f2', qualifier 'str'),
  d date, ts timestamptz, u uuid, y bytea, j jsonb OPTIONS (qualifier 'json'), arr int[],
  "dropped" int
) SERVER widecol;
ALTER FOREIGN TABLE t DROP COLUMN "dropped";
INSERT INTO t VALUES
  (1, 1, 2, 3.5, 4.50, true, 'text', '2026-01-02', '2026-01-02 03:04:05.678+00', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\x00ff', '{"a": [1, null]}', '{1,2,NULL}'),
  (2, -1, -2, 'NaN', 'NaN', false, '', '-infinity', 'infinity', NULL, '', 'null', '{}'),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT * FROM t;
SELECT s, id FROM t WHERE l < 0 OR l IS NULL;
SELECT count(*), count(i), sum(l) FROM t;
SELECT t FROM t WHERE id = 1;
SELECT (t).s, t.* IS NULL FROM t WHERE id = 2;
SELECT tableoid::regclass, id FROM t;
SELECT 1 FROM t;
SELECT id FROM t LIMIT 2;
SELECT id FROM t ORDER BY id DESC LIMIT 2 OFFSET 1;
SELECT id FROM t ORDER BY id FETCH FIRST 1 ROW WITH TIES;
SELECT * FROM t TABLESAMPLE SYSTEM (10);

-- A row is there when a mapped family has a cell of it.
CREATE FOREIGN TABLE only_f2 (id int OPTIONS (rowkey '1'), l int8 OPTIONS (family 'f2')) SERVER widecol OPTIONS (table 't', family 'f2');
CREATE FOREIGN TABLE only_keys (id int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (table 't');
SELECT * FROM only_f2;
SELECT * FROM only_keys;
SELECT count(*) FROM only_f2;
SELECT count(*) FROM only_keys;

-- The raw key beside the parts.
CREATE FOREIGN TABLE raw_too (id int OPTIONS (rowkey '1'), raw bytea OPTIONS (rowkey 'raw'), i int) SERVER widecol OPTIONS (table 't');
SELECT * FROM raw_too;
SELECT raw FROM raw_too WHERE id = 2;
CREATE FOREIGN TABLE raw_only (k bytea OPTIONS (rowkey 'raw'), i int) SERVER widecol OPTIONS (table 't');
SELECT * FROM raw_only WHERE k > '\x80000001';

-- Timestamps, maps, versions.
SELECT widecol.create_table('v', '{"cf": {"versions": 3}, "m": {}}');
CREATE FOREIGN TABLE v (
  k text OPTIONS (rowkey '1'),
  x int,
  x_us bigint OPTIONS (qualifier 'x', attribute 'timestamp'),
  x_at timestamptz OPTIONS (qualifier 'x', attribute 'timestamp'),
  x_versions widecol.version[] OPTIONS (qualifier 'x', versions '2'),
  tags jsonb OPTIONS (family 'm', qualifier_prefix 'tag:')
) SERVER widecol;
CREATE FOREIGN TABLE m (
  k text OPTIONS (rowkey '1'),
  first text OPTIONS (family 'm', qualifier 'first'),
  rest jsonb OPTIONS (family 'm')
) SERVER widecol OPTIONS (table 'v', family 'm');
SELECT widecol.put('v', 'a', 'cf:x', '\x00000001', 1000000);
SELECT widecol.put('v', 'a', 'cf:x', '\x00000002', 2000000);
SELECT widecol.put('v', 'a', 'cf:x', '\x00000003', 3000000);
SELECT widecol.put('v', 'a', 'm:first', 'one', 5);
SELECT widecol.put('v', 'a', 'm:tag:x', 'tx', 5);
SELECT widecol.put('v', 'a', 'm:tag:y', 'ty', 5);
SELECT widecol.put('v', 'a', 'm:other', convert_to('é日', 'UTF8'), 5);
SELECT widecol.put('v', 'b', 'm:tag:x', 'only', 5);
SELECT * FROM v;
SELECT x_versions FROM v;
SELECT x, x_at FROM v;
SELECT tags FROM v;
SELECT * FROM m;
SELECT rest FROM m;
SELECT first FROM m;
SELECT k FROM m WHERE rest ? 'other';
SELECT k, key, value FROM m, jsonb_each_text(rest);

-- Cells whose bytes are no value of the column.
SELECT widecol.put('v', 'bad', 'cf:x', '\x0001', 5);
SELECT widecol.put('v', 'bad', 'm:bin', '\xff00', 5);
SELECT k FROM v;
SELECT x FROM v;
SELECT x_at FROM v WHERE k = 'bad';
SELECT rest FROM m WHERE k = 'bad';
SELECT tags FROM v WHERE k = 'bad';
SELECT widecol.put('t', '\x0102', 'cf:i', '\x00000001');
SELECT count(*) FROM t;
SELECT id FROM t;
SELECT widecol.deleteall('t', '\x0102');

-- Layout cell.
CREATE FOREIGN TABLE cells ("row" bytea, family text, qualifier bytea, ts bigint, type text, value bytea, ttl interval)
  SERVER widecol OPTIONS (table 'v', layout 'cell');
CREATE FOREIGN TABLE cells_text (value text, "row" text COLLATE "C", qualifier text)
  SERVER widecol OPTIONS (table 'v', layout 'cell', versions '1');
CREATE FOREIGN TABLE cells_raw ("row" text, qualifier text, ts bigint, type text)
  SERVER widecol OPTIONS (table 'v', layout 'cell', raw 'true');
SELECT widecol.put('v', 'c', 'm:short', 'lived', ttl => '1 day');
SELECT widecol.delete('v', 'a', 'm:first', 5);
SELECT * FROM cells WHERE "row" < 'c';
SELECT value, type, ttl FROM cells WHERE "row" = 'c';
SELECT * FROM cells_text WHERE "row" = 'a' AND qualifier LIKE 'tag%';
SELECT "row", count(*) FROM cells_text GROUP BY 1 ORDER BY 1;
SELECT * FROM cells_text WHERE "row" LIKE 'b' AND qualifier = 'tag:x';
SELECT "row", qualifier FROM cells_text WHERE "row" LIKE 'b%';
SELECT * FROM cells_raw WHERE qualifier = 'first';
SELECT count(*) FROM cells;
EXPLAIN (COSTS OFF) SELECT value FROM cells_text WHERE "row" LIKE 'b%' ORDER BY "row";
EXPLAIN (COSTS OFF) SELECT value FROM cells WHERE "row" = 'a';

-- Values and rows of any size.
CREATE FOREIGN TABLE big (k int OPTIONS (rowkey '1'), v bytea, w text) SERVER widecol;
INSERT INTO big SELECT k, decode(repeat(lpad(to_hex(k), 2, '0'), k * 300000), 'hex'), repeat('w', k) FROM generate_series(1, 5) k;
SELECT k, length(v), md5(v) = md5(decode(repeat(lpad(to_hex(k), 2, '0'), k * 300000), 'hex')), w FROM big;
SELECT k, w FROM big;

DROP FOREIGN TABLE t, only_f2, only_keys, raw_too, raw_only, v, m, cells, cells_text, cells_raw, big;
SELECT widecol.drop_table(name) FROM unnest('{t,v,big}'::text[]) name;
DROP SCHEMA scan CASCADE;
