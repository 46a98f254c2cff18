-- Owners of stored tables: which roles may map, change, empty and drop them; privileges of the owner of a foreign
-- table over another role's stored table; details of errors that only privileged roles see.
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_widecol_ann, regress_widecol_bob, regress_widecol_eve, regress_widecol_staff, regress_widecol_gone;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
CREATE ROLE regress_widecol_ann;
CREATE ROLE regress_widecol_bob;
CREATE ROLE regress_widecol_eve;
CREATE ROLE regress_widecol_staff;
CREATE ROLE regress_widecol_gone;
CREATE SCHEMA own;
GRANT ALL ON SCHEMA own TO regress_widecol_ann, regress_widecol_bob, regress_widecol_eve, regress_widecol_staff;
GRANT USAGE ON FOREIGN SERVER widecol TO regress_widecol_ann, regress_widecol_bob;
SET search_path = own;
CREATE VIEW whose AS SELECT name, owner, foreign_tables FROM widecol.tables WHERE name LIKE 'own%' ORDER BY name;
GRANT SELECT ON whose TO PUBLIC;

-- --- the owner is the role that makes it ------------------------------------------

SET ROLE regress_widecol_ann;
CREATE FOREIGN TABLE pay (id int OPTIONS (rowkey '1'), who text, salary int OPTIONS (family 'secret'))
  SERVER widecol OPTIONS (table 'own_pay', families '{"secret": {"versions": 3}}');
INSERT INTO pay VALUES (1, 'ann', 1000), (2, 'bob', 2000);
SELECT widecol.create_table('own_made', '{"cf": {}}');
RESET ROLE;
SELECT * FROM whose;
-- a role without the privilege to make stored tables
SET ROLE regress_widecol_eve;
CREATE FOREIGN TABLE mine (id int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (table 'own_eve');
SELECT widecol.create_table('own_eve', '{"cf": {}}');
RESET ROLE;

-- --- operations for the owner only ----------------------------------------------------

SET ROLE regress_widecol_bob;
CREATE FOREIGN TABLE stolen (id int OPTIONS (rowkey '1'), who text) SERVER widecol OPTIONS (table 'own_pay');
CREATE FOREIGN TABLE stolen (id int OPTIONS (rowkey '1'), who text) SERVER widecol OPTIONS (table 'default:own_pay');
CREATE FOREIGN TABLE stolen ("row" bytea, value bytea) SERVER widecol OPTIONS (table 'own_pay', layout 'cell');
CREATE FOREIGN TABLE stolen (id int OPTIONS (rowkey '1'), x text OPTIONS (family 'no such')) SERVER widecol OPTIONS (table 'own_pay');
IMPORT FOREIGN SCHEMA "default" LIMIT TO (own_pay) FROM SERVER widecol INTO own;
SELECT widecol.alter_table('own_pay', '{"new": {}}');
SELECT widecol.truncate_table('own_pay');
SELECT widecol.drop_table('own_pay');
SELECT widecol.drop_table('own_pay', cascade => true);
SELECT widecol.drop_table('own_made');
SELECT widecol.alter_table_owner('own_pay', 'regress_widecol_bob');
SELECT widecol.flush('own_pay');
SELECT widecol.compact('own_pay');
SELECT widecol.major_compact('own_pay');
SELECT * FROM widecol.regions('own_pay');
-- a foreign table of one's own does not lead there
CREATE FOREIGN TABLE mine (id int OPTIONS (rowkey '1'), who text) SERVER widecol OPTIONS (table 'own_bob');
INSERT INTO mine VALUES (1, 'mine');
ALTER FOREIGN TABLE mine OPTIONS (SET table 'own_pay');
ALTER FOREIGN TABLE mine OPTIONS (SET table 'default:own_pay');
ALTER FOREIGN TABLE mine OPTIONS (DROP table);
ALTER FOREIGN TABLE mine RENAME TO own_pay;
SELECT * FROM own_pay;
ALTER FOREIGN TABLE own_pay OPTIONS (DROP table);
ALTER FOREIGN TABLE own_pay RENAME TO mine;
-- nor while a dump is restored, when incomplete definitions are accepted
SET check_function_bodies = off;
SELECT set_config('search_path', '', false);
CREATE FOREIGN TABLE own.stolen (id int, who text) SERVER widecol OPTIONS (table 'own_pay');
CREATE FOREIGN TABLE own.stolen (id int OPTIONS (rowkey '1'), who text) SERVER widecol OPTIONS (table 'own_pay');
CREATE FOREIGN TABLE own.later (id int, who text) SERVER widecol OPTIONS (table 'own_later');
ALTER FOREIGN TABLE own.later OPTIONS (SET table 'own_pay');
SET search_path = own;
RESET check_function_bodies;
SELECT * FROM whose;
-- a foreign table that waits for a stored table is no way to that
RESET ROLE;
SELECT widecol.create_table('own_later', '{"cf": {}}');
SET ROLE regress_widecol_bob;
DROP FOREIGN TABLE later;
RESET ROLE;
SELECT * FROM pay ORDER BY id;

-- members of the owner may; superusers, too
GRANT regress_widecol_ann TO regress_widecol_eve;
SET ROLE regress_widecol_eve;
SELECT widecol.alter_table('own_pay', '{"new": {}}');
CREATE FOREIGN TABLE pay2 (id int OPTIONS (rowkey '1'), n int OPTIONS (family 'new')) SERVER widecol OPTIONS (table 'own_pay');
RESET ROLE;
REVOKE regress_widecol_ann FROM regress_widecol_eve;
SELECT * FROM whose;
-- in a function that runs as the owner, the owner does it
SET ROLE regress_widecol_ann;
CREATE FUNCTION empty_made() RETURNS void LANGUAGE sql SECURITY DEFINER AS $$SELECT widecol.truncate_table('own_made')$$;
SET ROLE regress_widecol_bob;
SELECT widecol.truncate_table('own_made');
SELECT empty_made();
RESET ROLE;

-- --- a foreign table that was given away -----------------------------------------------

CREATE SCHEMA away;
GRANT ALL ON SCHEMA away TO regress_widecol_ann, regress_widecol_bob;
SET search_path = away, own;
SET ROLE regress_widecol_ann;
SET client_min_messages = warning;
CREATE FOREIGN TABLE given (id int OPTIONS (rowkey '1'), who text, old text OPTIONS (qualifier 'before'))
  SERVER widecol OPTIONS (table 'own_pay');
RESET client_min_messages;
RESET ROLE;
ALTER FOREIGN TABLE given OWNER TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
-- keeps its mapped columns
SELECT * FROM given ORDER BY id;
UPDATE given SET who = who || '!';
-- and no more: columns, families, qualifiers
ALTER FOREIGN TABLE given ADD COLUMN salary int OPTIONS (family 'secret');
ALTER FOREIGN TABLE given ADD COLUMN salary int;
ALTER FOREIGN TABLE given ADD COLUMN made int OPTIONS (family 'invented');
ALTER FOREIGN TABLE given ALTER who OPTIONS (ADD family 'secret');
ALTER FOREIGN TABLE given ALTER who OPTIONS (ADD qualifier 'salary');
ALTER FOREIGN TABLE given ALTER who OPTIONS (ADD qualifier_prefix '');
ALTER FOREIGN TABLE given ALTER who TYPE jsonb, ALTER who OPTIONS (ADD family 'cf');
ALTER FOREIGN TABLE given ALTER who OPTIONS (ADD attribute 'timestamp'), ALTER who TYPE bigint;
ALTER FOREIGN TABLE given ALTER who TYPE widecol.version[];
ALTER FOREIGN TABLE given OPTIONS (ADD family 'secret');
ALTER FOREIGN TABLE given OPTIONS (SET table 'own_made');
ALTER FOREIGN TABLE given OPTIONS (ADD layout 'cell');
-- without a value column it would show the rows of all families
ALTER FOREIGN TABLE given DROP COLUMN who, DROP COLUMN old;
-- nor by way of a parent
CREATE TABLE parent (id int, who text, old text);
ALTER FOREIGN TABLE given INHERIT parent;
ALTER TABLE parent ADD COLUMN salary int;
ALTER FOREIGN TABLE given NO INHERIT parent;
DROP TABLE parent;
TRUNCATE given;
SET check_function_bodies = off;
SELECT set_config('search_path', '', false);
ALTER FOREIGN TABLE away.given ADD COLUMN salary int OPTIONS (family 'secret');
ALTER FOREIGN TABLE away.given ALTER id OPTIONS (DROP rowkey);
SET search_path = away, own;
RESET check_function_bodies;
-- the foreign table's owner may make changes that show no more than before
ALTER FOREIGN TABLE given RENAME COLUMN who TO name;
ALTER FOREIGN TABLE given RENAME TO got;
ALTER FOREIGN TABLE got ALTER name SET NOT NULL, ADD CONSTRAINT long CHECK (length(name) > 1), OPTIONS (ADD fetch_size '10');
ALTER FOREIGN TABLE got DROP COLUMN old;
ALTER FOREIGN TABLE got ADD COLUMN old text OPTIONS (qualifier 'before');
-- but for names that become other qualifiers
ALTER FOREIGN TABLE got ADD COLUMN who text;
ALTER FOREIGN TABLE got ALTER name OPTIONS (DROP qualifier);
ALTER FOREIGN TABLE got DROP COLUMN name, ADD COLUMN name text OPTIONS (family 'secret', qualifier 'salary');
SELECT * FROM got ORDER BY id;
RESET ROLE;
\d got

-- a map of a family, or of a prefix, may be parted
SET ROLE regress_widecol_ann;
CREATE FOREIGN TABLE maps (k text OPTIONS (rowkey '1') COLLATE "C", f jsonb OPTIONS (family 'f'), p jsonb OPTIONS (family 'g', qualifier_prefix 'p_'))
  SERVER widecol OPTIONS (table 'own_maps', families '{"g": {}}');
RESET ROLE;
ALTER FOREIGN TABLE maps OWNER TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
ALTER FOREIGN TABLE maps ADD COLUMN x text OPTIONS (family 'f', qualifier 'x');
ALTER FOREIGN TABLE maps ADD COLUMN px text OPTIONS (family 'g', qualifier 'p_x');
ALTER FOREIGN TABLE maps ADD COLUMN y text OPTIONS (family 'g', qualifier 'y');
ALTER FOREIGN TABLE maps ALTER p OPTIONS (SET qualifier_prefix 'p_a');
ALTER FOREIGN TABLE maps ALTER p OPTIONS (SET qualifier_prefix 'p_');
ALTER FOREIGN TABLE maps ALTER p OPTIONS (SET qualifier_prefix 'p');
RESET ROLE;

-- cells: hidden cells stay hidden
CREATE FOREIGN TABLE cells ("row" bytea, family text, qualifier bytea, ts bigint, value bytea)
  SERVER widecol OPTIONS (table 'own_pay', layout 'cell', versions '1');
ALTER FOREIGN TABLE cells OWNER TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
ALTER FOREIGN TABLE cells OPTIONS (ADD raw 'true');
ALTER FOREIGN TABLE cells OPTIONS (DROP versions);
ALTER FOREIGN TABLE cells OPTIONS (SET versions '2');
ALTER FOREIGN TABLE cells DROP COLUMN ts;
RESET ROLE;

-- the rows of one record type
CREATE FOREIGN TABLE kinds (kind text OPTIONS (rowkey '1') COLLATE "C" CONSTRAINT one CHECK (kind = 'open'), id int OPTIONS (rowkey '2'), v text)
  SERVER widecol OPTIONS (table 'own_kinds');
CREATE FOREIGN TABLE hidden (kind text OPTIONS (rowkey '1') COLLATE "C", id int OPTIONS (rowkey '2'), v text)
  SERVER widecol OPTIONS (table 'own_kinds');
CREATE FOREIGN TABLE bound (kind text OPTIONS (rowkey '1') COLLATE "C", id int OPTIONS (rowkey '2'), v text)
  SERVER widecol OPTIONS (table 'own_kinds');
CREATE FOREIGN TABLE made (kind text OPTIONS (rowkey '1') COLLATE "C" GENERATED ALWAYS AS ('open') STORED, id int OPTIONS (rowkey '2'), v text)
  SERVER widecol OPTIONS (table 'own_kinds');
CREATE TABLE whole (kind text COLLATE "C", id int, v text) PARTITION BY LIST (kind);
ALTER TABLE whole ATTACH PARTITION bound FOR VALUES IN ('open');
CREATE TABLE sorts (kind text COLLATE "C", id int, v text) PARTITION BY LIST (kind);
CREATE TABLE opened PARTITION OF sorts FOR VALUES IN ('open') PARTITION BY RANGE (id);
CREATE FOREIGN TABLE opened_low (kind text OPTIONS (rowkey '1') COLLATE "C", id int OPTIONS (rowkey '2'), v text)
  SERVER widecol OPTIONS (table 'own_kinds');
ALTER TABLE opened ATTACH PARTITION opened_low FOR VALUES FROM (0) TO (10);
INSERT INTO hidden VALUES ('open', 1, 'seen'), ('shut', 1, 'unseen');
ALTER FOREIGN TABLE kinds OWNER TO regress_widecol_bob;
ALTER FOREIGN TABLE bound OWNER TO regress_widecol_bob;
ALTER FOREIGN TABLE made OWNER TO regress_widecol_bob;
ALTER TABLE whole OWNER TO regress_widecol_bob;
ALTER TABLE sorts OWNER TO regress_widecol_bob;
ALTER TABLE opened OWNER TO regress_widecol_bob;
ALTER FOREIGN TABLE opened_low OWNER TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
ALTER FOREIGN TABLE kinds DROP CONSTRAINT one;
ALTER FOREIGN TABLE kinds DROP CONSTRAINT one, ADD CONSTRAINT one CHECK (kind = 'shut');
ALTER FOREIGN TABLE kinds ALTER id OPTIONS (SET rowkey '1'), ALTER kind OPTIONS (SET rowkey '2');
ALTER FOREIGN TABLE made ALTER kind DROP EXPRESSION;
ALTER TABLE whole DETACH PARTITION bound;
ALTER TABLE whole DETACH PARTITION bound CONCURRENTLY;
ALTER TABLE sorts DETACH PARTITION opened;
ALTER TABLE sorts DETACH PARTITION opened CONCURRENTLY;
SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = 'opened'::regclass;
ALTER FOREIGN TABLE kinds DROP CONSTRAINT one, ADD CONSTRAINT two CHECK (kind = 'open');
SELECT * FROM kinds UNION ALL SELECT kind, id, v FROM made UNION ALL SELECT * FROM whole;
RESET ROLE;

-- --- errors and their details -----------------------------------------------------------

CREATE FOREIGN TABLE told (id int OPTIONS (rowkey '1'), who text) SERVER widecol OPTIONS (table 'own_pay');
CREATE FOREIGN TABLE told2 (id int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'own_new');
INSERT INTO told2 VALUES (1, 'one');
CREATE FOREIGN TABLE told3 (id int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'own_new');
ALTER FOREIGN TABLE told2 OPTIONS (SET table 'own_pay', ADD family 'new');
ALTER FOREIGN TABLE told2 OPTIONS (ADD fetch_size '10');
-- families of a table that is there
CREATE FOREIGN TABLE told4 (id int OPTIONS (rowkey '1'), who text) SERVER widecol
  OPTIONS (table 'own_pay', families '{"cf": {"versions": 5}, "secret": {"versions": 3}, "other": {}}');
ALTER FOREIGN TABLE told4 OPTIONS (ADD fetch_size '10');
ALTER FOREIGN TABLE told4 OPTIONS (SET families '{"cf": {"versions": 1, "packing": "auto"}}');
ALTER FOREIGN TABLE told4 OPTIONS (SET families '{"cf": {"ttl": 60}}');
SELECT * FROM whose WHERE name IN ('own_pay', 'own_new');

-- --- another owner -----------------------------------------------------------------------

SELECT widecol.alter_table_owner('own_made', 'regress_widecol_nobody');
SELECT widecol.alter_table_owner('own_nothing', 'regress_widecol_ann');
SET ROLE regress_widecol_ann;
-- to a role that ann can become, and that may make stored tables
SELECT widecol.alter_table_owner('own_made', 'regress_widecol_bob');
RESET ROLE;
GRANT regress_widecol_staff TO regress_widecol_ann;
SET ROLE regress_widecol_ann;
SELECT widecol.alter_table_owner('own_made', 'regress_widecol_staff');
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER widecol TO regress_widecol_staff;
SET ROLE regress_widecol_ann;
BEGIN;
SELECT widecol.alter_table_owner('own_made', 'regress_widecol_staff');
SELECT owner FROM whose WHERE name = 'own_made';
ROLLBACK;
SELECT owner FROM whose WHERE name = 'own_made';
SELECT widecol.alter_table_owner('own_made', 'regress_widecol_staff');
SELECT owner FROM whose WHERE name = 'own_made';
RESET ROLE;
REVOKE regress_widecol_staff FROM regress_widecol_ann;
SET ROLE regress_widecol_ann;
SELECT widecol.truncate_table('own_made');
RESET ROLE;
-- a role that is dropped leaves its stored tables to superusers
SELECT widecol.alter_table_owner('own_made', 'regress_widecol_gone');
DROP ROLE regress_widecol_gone;
SELECT * FROM whose WHERE name = 'own_made';
SET ROLE regress_widecol_ann;
SELECT widecol.truncate_table('own_made');
CREATE FOREIGN TABLE stolen (id int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (table 'own_made');
RESET ROLE;
SELECT widecol.truncate_table('own_made'), widecol.alter_table_owner('own_made', 'regress_widecol_ann');
SELECT * FROM whose WHERE name = 'own_made';
-- REASSIGN OWNED sees this database's
REASSIGN OWNED BY regress_widecol_ann TO regress_widecol_staff;
SELECT name, owner FROM whose;
REASSIGN OWNED BY regress_widecol_staff TO regress_widecol_ann;

-- --- emptied and dropped with the foreign tables ---------------------------------------------

-- a privilege on one foreign table does not suffice to empty the families of other foreign tables
GRANT TRUNCATE ON told TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
TRUNCATE told;
RESET ROLE;
GRANT SELECT ON told3, told TO regress_widecol_ann;
CREATE VIEW view_of_told3 AS SELECT * FROM told3;
SELECT widecol.drop_table('own_new');
SELECT widecol.drop_table('own_new', false);
SELECT widecol.drop_table('own_new', cascade => true);
SELECT to_regclass('told3'), to_regclass('view_of_told3');
SELECT * FROM whose WHERE name = 'own_new';
-- not from within a query that uses one of them
SELECT widecol.drop_table('own_pay', cascade => true) FROM told;
SELECT widecol.truncate_table('own_pay') FROM told;
SELECT widecol.alter_table('own_pay', '{"x": {}}') FROM told;
SELECT count(*) FROM told;
-- of a rolled back one all is there again
BEGIN;
SELECT widecol.drop_table('own_pay', cascade => true);
SELECT to_regclass('told');
ROLLBACK;
SELECT count(*) FROM told;
TRUNCATE told, got;
SELECT count(*) FROM own.pay;

-- layout cell: a foreign table that was given away gets no further part of the cells to show
CREATE FOREIGN TABLE own.cell_names ("row" bytea, family text, qualifier bytea) SERVER widecol OPTIONS ("table" 'own_pay', layout 'cell');
ALTER FOREIGN TABLE own.cell_names OWNER TO regress_widecol_bob;
GRANT CREATE, USAGE ON SCHEMA own TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
ALTER FOREIGN TABLE own.cell_names ADD COLUMN value bytea;
SELECT * FROM own.cell_names;
SELECT * FROM widecol.scan('own.cell_names');
SELECT widecol.put('own.cell_names', 'r', 'cf:q', 'x');
ALTER FOREIGN TABLE own.cell_names DROP COLUMN qualifier;
SELECT set_config('search_path', '', false) \g /dev/null
SET check_function_bodies = off;
ALTER FOREIGN TABLE own.cell_names ADD COLUMN value bytea;
RESET check_function_bodies;
RESET search_path;
RESET ROLE;

SET client_min_messages = error;
DROP SCHEMA away CASCADE;
DROP SCHEMA own CASCADE;
SELECT widecol.drop_table(name) FROM widecol.tables WHERE name LIKE 'own%' \g /dev/null
DROP OWNED BY regress_widecol_ann, regress_widecol_bob, regress_widecol_eve, regress_widecol_staff;
DROP ROLE regress_widecol_ann, regress_widecol_bob, regress_widecol_eve, regress_widecol_staff;
