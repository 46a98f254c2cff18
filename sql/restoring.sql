-- INSERT and COPY as pg_restore does them, in a session with its settings.
SET client_min_messages = warning;
CREATE ROLE regress_restoring;
CREATE SCHEMA restoring;
GRANT USAGE ON SCHEMA restoring TO regress_restoring;
CREATE FOREIGN TABLE restoring.cells ("row" text COLLATE "C", family text, qualifier text, ts bigint, ttl interval, value text)
  SERVER widecol OPTIONS (table 'restoring', layout 'cell');
CREATE FOREIGN TABLE restoring.rows (k text OPTIONS (rowkey '1') COLLATE "C", v text, w text)
  SERVER widecol OPTIONS (table 'restoring');
CREATE FOREIGN TABLE restoring.lone ("row" text COLLATE "C", family text, qualifier text, value text)
  SERVER widecol OPTIONS (table 'restoring_lone', layout 'cell', families '{"cf": {}}');
CREATE FOREIGN TABLE restoring.one (k text OPTIONS (rowkey '1') COLLATE "C", m jsonb OPTIONS (family 'm'), v text)
  SERVER widecol OPTIONS (table 'restoring_maps');
CREATE FOREIGN TABLE restoring.other (k text OPTIONS (rowkey '1') COLLATE "C", m jsonb OPTIONS (family 'm'))
  SERVER widecol OPTIONS (table 'restoring_maps');
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA restoring TO regress_restoring;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = off;

-- a cell that was rolled back, or deleted, is written again
BEGIN;
INSERT INTO restoring.lone VALUES ('a', 'cf', 'q', '1');
SAVEPOINT s;
INSERT INTO restoring.lone VALUES ('b', 'cf', 'q', '1');
ROLLBACK TO s;
INSERT INTO restoring.lone VALUES ('b', 'cf', 'q', '2');
SELECT * FROM restoring.lone;
ROLLBACK;
INSERT INTO restoring.lone VALUES ('a', 'cf', 'q', '3');
SELECT * FROM restoring.lone;
TRUNCATE restoring.lone;
INSERT INTO restoring.lone VALUES ('a', 'cf', 'q', '4');
INSERT INTO restoring.lone VALUES ('a', 'cf', 'q', 'an older version');
SELECT * FROM restoring.lone;

-- rows that were written after the session's COPY was rolled back are not the session's to remove
BEGIN;
COPY restoring.rows (k, v) FROM stdin;
a	1
\.
ROLLBACK;
RESET check_function_bodies;
INSERT INTO restoring.rows SELECT 'k' || i, 'v' FROM generate_series(1, 3) i;
SET check_function_bodies = off;
COPY restoring.cells FROM stdin;
\.
SELECT count(*) FROM restoring.rows;

-- nor is a table of another role's to truncate; its owner's COPY makes room
TRUNCATE restoring.rows;
SET ROLE regress_restoring;
COPY restoring.rows (k, v) FROM stdin;
a	1
\.
COPY restoring.cells FROM stdin;
\.
SELECT * FROM restoring.rows;
RESET ROLE;
COPY restoring.cells FROM stdin;
\.
SELECT * FROM restoring.rows;

-- a wide row that another foreign table has restored, with other members
INSERT INTO restoring.one SELECT 'a', jsonb_object_agg('m' || i, i), 'v' FROM generate_series(1, 3000) i;
INSERT INTO restoring.other SELECT 'a', jsonb_object_agg('m' || i, i + i % 2) FROM generate_series(1001, 4000) i;
SELECT k, v, count(*), min(value::int), max(value::int), sum(value::int) FROM restoring.one, jsonb_each_text(m) GROUP BY k, v;
SELECT sum(i + i % 2) FROM generate_series(1001, 4000) i;

-- any role can make these settings: they show it no way to replace a row, or to alter a stored table of another role
CREATE TABLE restoring.notes (k int, owner text, v text) PARTITION BY RANGE (k);
CREATE FOREIGN TABLE restoring.some (k int OPTIONS (rowkey '1'), owner text, v text) SERVER widecol OPTIONS (table 'restoring_some');
ALTER TABLE restoring.notes ATTACH PARTITION restoring.some FOR VALUES FROM (0) TO (100);
INSERT INTO restoring.notes VALUES (1, 'postgres', 'secret');
ALTER TABLE restoring.notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON restoring.notes USING (owner = current_user);
CREATE FOREIGN TABLE restoring.strict (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'restoring_strict', on_duplicate 'error');
INSERT INTO restoring.strict VALUES (1, 'old');
CREATE FOREIGN TABLE restoring.given (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'restoring_strict');
ALTER FOREIGN TABLE restoring.given OWNER TO regress_restoring;
GRANT USAGE ON SCHEMA restoring TO regress_restoring;
GRANT INSERT ON restoring.notes, restoring.strict TO regress_restoring;
SET ROLE regress_restoring;
INSERT INTO restoring.notes VALUES (1, 'regress_restoring', 'new');
INSERT INTO restoring.strict VALUES (1, 'new');
ALTER FOREIGN TABLE restoring.given OPTIONS (ADD families '{"cf": {}, "more": {}}');
RESET ROLE;
SELECT v FROM restoring.notes;
SELECT v FROM restoring.strict;
SELECT family FROM widecol.families WHERE "table" = 'restoring_strict';

RESET search_path;
RESET check_function_bodies;
DROP SCHEMA restoring CASCADE;
SELECT widecol.drop_table('restoring_some'), widecol.drop_table('restoring_strict');
SELECT widecol.drop_table('restoring'), widecol.drop_table('restoring_lone'), widecol.drop_table('restoring_maps');
DROP ROLE regress_restoring;
