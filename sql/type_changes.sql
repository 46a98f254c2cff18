-- Stored values stay readable when their type is changed.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;

-- --- enums --------------------------------------------------------------------------

CREATE TYPE tc_e AS ENUM ('lo', 'mid', 'hi');
CREATE DOMAIN tc_d AS tc_e;
CREATE TYPE tc_c AS (a int, e tc_e);
CREATE FOREIGN TABLE tc (
  k int OPTIONS (rowkey '1'),
  ke tc_e OPTIONS (rowkey '2', encoding 'text'),
  e tc_e, a tc_e[], c tc_c, ca tc_c[], d tc_d
) SERVER widecol OPTIONS (on_duplicate 'error');
CREATE FOREIGN TABLE tc_h (h tc_e OPTIONS (rowkey '1', encoding 'md5', family 'cf', qualifier 'h'), n int) SERVER widecol;
INSERT INTO tc VALUES (1, 'lo', 'lo', '{lo,NULL,hi}', '(1,lo)', '{"(1,lo)","(2,)"}', 'lo'),
                      (2, 'hi', 'hi', '[5:6]={mid,lo}', '(,hi)', NULL, NULL);
INSERT INTO tc_h VALUES ('lo', 1), ('mid', 2);
ALTER TYPE tc_e RENAME VALUE 'lo' TO 'low "est"';
SELECT * FROM tc ORDER BY k;
SELECT attname, attfdwoptions FROM pg_attribute WHERE attrelid = 'tc'::regclass AND attnum > 0 ORDER BY attnum;
SELECT k FROM tc WHERE e = 'low "est"';
SELECT k FROM tc WHERE k = 1 AND ke = 'low "est"';
SELECT k FROM tc WHERE a[1] = 'low "est"' OR (c).e = 'low "est"';
SELECT * FROM tc_h WHERE h = 'low "est"';
-- a new row is found beside the old ones, and is the same row
INSERT INTO tc VALUES (1, 'low "est"', 'hi');
INSERT INTO tc VALUES (3, 'low "est"', 'low "est"', '{"low \"est\"",mid}', ROW(3, 'low "est"'), ARRAY[ROW(4, 'low "est"')::tc_c], NULL);
SELECT * FROM tc WHERE e = 'low "est"' ORDER BY k;
SELECT encode(qualifier, 'escape') AS qualifier, encode(value, 'escape') AS value
  FROM widecol.get('tc', (SELECT "row" FROM widecol.scan('tc', columns => '{cf:c}') WHERE value = '(3,lo)'));
UPDATE tc SET c = ROW(1, e) WHERE ke = 'low "est"' AND k = 3;
DELETE FROM tc WHERE k = 1 AND ke = 'low "est"';
DELETE FROM tc_h WHERE h = 'low "est"';
SELECT k, c FROM tc ORDER BY k;
SELECT * FROM tc_h;
-- names change places; rollback
BEGIN;
ALTER TYPE tc_e RENAME VALUE 'mid' TO 'tmp';
ALTER TYPE tc_e RENAME VALUE 'hi' TO 'mid';
ALTER TYPE tc_e RENAME VALUE 'tmp' TO 'hi';
SELECT k, ke, e, a, c FROM tc ORDER BY k;
ROLLBACK;
SELECT k, ke, e, a, c FROM tc ORDER BY k;
-- a new value by an old name
ALTER TYPE tc_e ADD VALUE 'lo' BEFORE 'mid';
ALTER TYPE tc_e ADD VALUE IF NOT EXISTS 'lo';
INSERT INTO tc VALUES (4, 'lo', 'lo', '{lo}');
SELECT k, ke, e, a FROM tc WHERE e IN ('lo', 'low "est"') ORDER BY k;
SELECT attfdwoptions FROM pg_attribute WHERE attrelid = 'tc'::regclass AND attname = 'e';
-- back to the old label
DELETE FROM tc WHERE k = 4;
ALTER TYPE tc_e RENAME VALUE 'lo' TO 'lo_2';
ALTER TYPE tc_e RENAME VALUE 'low "est"' TO 'lo';
SELECT k, ke, e, a, c, ca FROM tc ORDER BY k;
SELECT attname, attfdwoptions FROM pg_attribute WHERE attrelid = 'tc'::regclass AND attfdwoptions IS NOT NULL ORDER BY attnum;
-- the option is the user's, too
CREATE FOREIGN TABLE tc_o (k int OPTIONS (rowkey '1'), e tc_e OPTIONS (labels 'no json')) SERVER widecol;
CREATE FOREIGN TABLE tc_o (k int OPTIONS (rowkey '1'), e tc_e OPTIONS (labels '[1]')) SERVER widecol;
CREATE FOREIGN TABLE tc_o (k int OPTIONS (rowkey '1'), e tc_e OPTIONS (labels '{"lo": 1}')) SERVER widecol;
CREATE FOREIGN TABLE tc_o (k int OPTIONS (rowkey '1'), e tc_e OPTIONS (labels '{"none": "x"}')) SERVER widecol;
CREATE FOREIGN TABLE tc_o (k int OPTIONS (rowkey '1'), e text OPTIONS (labels '{"lo": "x"}')) SERVER widecol;
CREATE FOREIGN TABLE tc_o (k int OPTIONS (rowkey '1'), e tc_e OPTIONS (labels '{"lo": "x", "hi": "x"}')) SERVER widecol;
CREATE FOREIGN TABLE tc_o (k int OPTIONS (rowkey '1'), e tc_e OPTIONS (labels '{"lo": "hi"}')) SERVER widecol;
CREATE FOREIGN TABLE tc_o (k int OPTIONS (rowkey '1'), e tc_e OPTIONS (labels '{"lo": "0", "hi": "1"}')) SERVER widecol;
INSERT INTO tc_o VALUES (1, 'lo'), (2, 'hi'), (3, 'mid');
SELECT encode(value, 'escape') AS value FROM widecol.scan('tc_o');
SELECT k FROM tc_o WHERE e = 'hi';
SELECT widecol.put('tc_o', '\x80000001', 'cf:e', 'hi');
SELECT * FROM tc_o WHERE k = 1;
-- ranges of them
CREATE TYPE tc_bound AS ENUM ('a', 'b', 'c, d', 'e');
CREATE TYPE tc_span AS RANGE (subtype = tc_bound, multirange_type_name = tc_spans);
CREATE TYPE tc_part AS (n int, e tc_bound);
CREATE TYPE tc_parts AS RANGE (subtype = tc_part);
CREATE FOREIGN TABLE tc_ranges (k tc_span OPTIONS (rowkey '1', encoding 'text'), m tc_spans, a tc_span[], c tc_parts) SERVER widecol;
INSERT INTO tc_ranges VALUES ('[b,"c, d"]', '{[a,b),["c, d",e)}', '{"[a,b]",NULL,empty}', '["(1,b)","(2,\"c, d\")")'),
                             ('(,b]', '{}', NULL, '("(,b)",)'), ('empty', NULL, NULL, 'empty');
ALTER TYPE tc_bound RENAME VALUE 'b' TO 'b"[';
ALTER TYPE tc_bound RENAME VALUE 'c, d' TO 'b';
SELECT * FROM tc_ranges ORDER BY k;
SELECT k FROM tc_ranges WHERE k = '["b""[",b]';
SELECT k FROM tc_ranges WHERE m @> 'b'::tc_bound;
INSERT INTO tc_ranges VALUES ('["b""[",b]', '{["b""[",b)}');
ALTER TYPE tc_part DROP ATTRIBUTE n;
SELECT * FROM tc_ranges ORDER BY k;
SELECT encode("row", 'escape') AS "row", encode(qualifier, 'escape') AS qualifier, encode(value, 'escape') AS value FROM widecol.scan('tc_ranges');
-- two enums in one column
CREATE TYPE tc_e2 AS ENUM ('lo', 'x');
CREATE TYPE tc_cc AS (e tc_e, e2 tc_e2);
CREATE FOREIGN TABLE tc_two (k int OPTIONS (rowkey '1'), c tc_cc) SERVER widecol;
INSERT INTO tc_two VALUES (1, '(mid,x)');
ALTER TYPE tc_e RENAME VALUE 'lo' TO 'low';
ALTER TYPE tc_e RENAME VALUE 'mid' TO 'middle';
SELECT * FROM tc_two;
-- another owner's table
CREATE ROLE regress_widecol_tc;
ALTER TYPE tc_e2 OWNER TO regress_widecol_tc;
SET ROLE regress_widecol_tc;
ALTER TYPE tc_e RENAME VALUE 'hi' TO 'high';
ALTER TYPE tc_e2 RENAME VALUE 'x' TO 'y';
RESET ROLE;
SELECT * FROM tc_two;

-- --- composite types ------------------------------------------------------------------

CREATE TYPE tc_in AS (x int, y timestamptz);
CREATE TYPE tc_r AS (a int, t text, i tc_in);
CREATE FOREIGN TABLE tc_rows (k tc_r OPTIONS (rowkey '1', encoding 'text'), r tc_r, ra tc_r[]) SERVER widecol;
INSERT INTO tc_rows VALUES ('(1,k,)', ROW(1, 'a "b" (c), \ d', ROW(1, '2024-03-01 12:00+00')), ARRAY[ROW(1, NULL, NULL), NULL]::tc_r[]),
                           ('(2,,)', ROW(NULL, '', ROW(NULL, NULL)), '{}');
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SELECT * FROM tc_rows ORDER BY (k).a;
SELECT encode(qualifier, 'escape') AS qualifier, encode(value, 'escape') AS value FROM widecol.scan('tc_rows');
ALTER TYPE tc_r ADD ATTRIBUTE d timestamptz;
ALTER TYPE tc_in ADD ATTRIBUTE z numeric;
SELECT * FROM tc_rows ORDER BY (k).a;
SELECT (r).d IS NULL AS d, ((r).i).z IS NULL AS z FROM tc_rows;
-- new values do not depend on the session's settings; the key's bytes are as before
SET TimeZone = 'Asia/Tokyo';
SET DateStyle = 'German';
UPDATE tc_rows SET r = ROW(5, 'new', ROW(1, NULL, 2.5), '2024-03-01 12:00+00') WHERE (k).a = 1;
SELECT encode(value, 'escape') AS value FROM widecol.scan('tc_rows', columns => '{cf:r}');
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
DELETE FROM tc_rows WHERE (k).a = 2;
SELECT count(*) FROM widecol.scan('tc_rows', columns => '{cf}');
-- an attribute that is dropped keeps its place
ALTER TYPE tc_r DROP ATTRIBUTE t;
ALTER TYPE tc_r ADD ATTRIBUTE n int;
SELECT * FROM tc_rows;
INSERT INTO tc_rows VALUES ('(3,,,7)', '(4,"(1,,)",,8)', NULL);
SELECT * FROM tc_rows ORDER BY (k).a;
SELECT widecol.put('tc_rows', 'x', 'cf:r', '(1,,,,,6)'), widecol.put('tc_rows', 'y', 'cf:r', '(1,2'), widecol.put('tc_rows', 'z', 'cf:r', '(x)');
SET client_min_messages = warning;
CREATE FOREIGN TABLE tc_raw (k bytea OPTIONS (rowkey 'raw'), r tc_r) SERVER widecol OPTIONS (table 'tc_rows');
RESET client_min_messages;
SELECT r FROM tc_raw WHERE k = 'x';
SELECT r FROM tc_raw WHERE k = 'y';
SELECT r FROM tc_raw WHERE k = 'z';

RESET TimeZone;
RESET DateStyle;
SET client_min_messages = error;
DROP FOREIGN TABLE tc, tc_h, tc_o, tc_ranges, tc_two, tc_rows, tc_raw;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['tc', 'tc_h', 'tc_o', 'tc_ranges', 'tc_two', 'tc_rows']) t;
DROP TYPE tc_d, tc_e, tc_e2, tc_c, tc_cc, tc_in, tc_r, tc_span, tc_parts, tc_bound, tc_part CASCADE;
DROP ROLE regress_widecol_tc;
