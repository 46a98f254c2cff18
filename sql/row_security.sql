-- Row security: policies of a partitioned table whose partitions
-- are foreign, views over a foreign table, privileges of columns.  Pushed-down conditions
-- must show a function of the user no row that the policy or the view hides.
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_widecol_ann, regress_widecol_bob;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
CREATE SCHEMA rows;
SET search_path = rows, public;
CREATE ROLE regress_widecol_ann;
CREATE ROLE regress_widecol_bob;
GRANT USAGE ON SCHEMA rows TO regress_widecol_ann, regress_widecol_bob;
CREATE FUNCTION seen(anyelement) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$BEGIN RAISE NOTICE 'seen: %', $1; RETURN true; END$$;

-- --- policies -------------------------------------------------------------------

CREATE TABLE notes (id int, owner text COLLATE "C", body text COLLATE "C", n int) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE notes_1 (id int OPTIONS (rowkey '1'), owner text OPTIONS (rowkey '2') COLLATE "C", body text COLLATE "C", n int) SERVER widecol;
CREATE FOREIGN TABLE notes_2 (n int, owner text COLLATE "C", body text COLLATE "C", id int OPTIONS (rowkey '1')) SERVER widecol;
ALTER TABLE notes ATTACH PARTITION notes_1 FOR VALUES FROM (0) TO (10);
ALTER TABLE notes ATTACH PARTITION notes_2 FOR VALUES FROM (10) TO (20);
CREATE TABLE notes_3 PARTITION OF notes FOR VALUES FROM (20) TO (30);
INSERT INTO notes SELECT i, CASE WHEN i % 2 = 0 THEN 'ann' ELSE 'bob' END, 'note ' || i, i % 3 FROM generate_series(0, 25) i;
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON notes USING ('regress_widecol_' || owner = current_user);
CREATE POLICY shared ON notes AS RESTRICTIVE FOR INSERT WITH CHECK (n < 100);
GRANT SELECT, INSERT, UPDATE, DELETE ON notes TO regress_widecol_ann;
SET ROLE regress_widecol_ann;

-- a function, a division: of own rows only.  An operator that tells nothing may go first.
SELECT id FROM notes WHERE id BETWEEN 7 AND 13 AND seen(body);
SELECT id FROM notes WHERE id IN (8, 9, 11, 15) AND 1 / (id % 3) = 0;
SELECT id FROM notes WHERE id < 20 AND owner LIKE 'bo%';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE id < 10 AND owner LIKE 'bo%' AND body LIKE 'note%' AND n = 2;
SELECT id FROM notes ORDER BY id DESC LIMIT 3;
SELECT id FROM notes WHERE id < 18 ORDER BY id DESC LIMIT 3;

-- written rows must satisfy the policies
INSERT INTO notes VALUES (8, 'bob', 'as bob', 1);
INSERT INTO notes VALUES (18, 'bob', 'as bob', 1);
INSERT INTO notes VALUES (18, 'ann', 'too many', 100);
-- no row is replaced: it might be a hidden one
INSERT INTO notes VALUES (11, 'ann', 'as ann', 1);
INSERT INTO notes VALUES (11, 'ann', 'as ann', 1), (12, 'ann', 'as ann', 1) ON CONFLICT DO NOTHING RETURNING *;
UPDATE notes SET id = 11 WHERE id = 18;
DELETE FROM notes WHERE id IN (8, 18);
INSERT INTO notes VALUES (8, 'ann', 'as ann', 1), (18, 'ann', 'as ann', 1) RETURNING *;
UPDATE notes SET owner = 'bob' WHERE id = 8;
UPDATE notes SET owner = 'bob' WHERE id = 18;
UPDATE notes SET owner = 'bob';
UPDATE notes SET n = 100 WHERE id IN (8, 18) RETURNING id, n;
UPDATE notes SET body = 'changed' WHERE id BETWEEN 5 AND 15;

-- of a row that moves to another partition it is UPDATE's
UPDATE notes SET id = id - 20, n = 200 WHERE id = 24;
DELETE FROM notes WHERE id = 4;
UPDATE notes SET id = id - 20, n = 200 WHERE id = 24;
UPDATE notes SET id = id - 10, owner = 'bob' WHERE id = 22;
DELETE FROM notes WHERE id BETWEEN 12 AND 13 AND seen(body);
RESET ROLE;
SELECT tableoid::regclass, * FROM notes ORDER BY id, owner;

-- --- views ----------------------------------------------------------------------

CREATE VIEW anns WITH (security_barrier) AS SELECT id, owner, body, n FROM notes_2 WHERE owner = 'ann' WITH CHECK OPTION;
GRANT SELECT, INSERT, UPDATE, DELETE ON anns TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT id FROM anns WHERE id < 15 AND seen(body);
SELECT id FROM anns WHERE body LIKE 'note%' AND id > 12 AND n = 2;
EXPLAIN (COSTS OFF) SELECT id FROM anns WHERE body LIKE 'note%' AND id > 12 AND n = 2;
INSERT INTO anns VALUES (19, 'bob', 'x', 1);
UPDATE anns SET owner = 'bob';
UPDATE anns SET n = 7 WHERE id < 15;
DELETE FROM anns WHERE id = 16 AND seen(id);
SELECT * FROM notes_2;
RESET ROLE;
SELECT id, owner, n FROM notes_2 ORDER BY id;

-- --- cells that do not decode --------------------------------------------------------
-- Of a row that is hidden they are no error, and none of its bytes is in a message.

CREATE TABLE docs (id int, owner text COLLATE "C", body text COLLATE "C", n int, m jsonb) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE docs_1 (id int OPTIONS (rowkey '1'), owner text COLLATE "C", body text COLLATE "C", n int, m jsonb OPTIONS (family 'm')) SERVER widecol;
ALTER TABLE docs ATTACH PARTITION docs_1 FOR VALUES FROM (0) TO (10);
INSERT INTO docs SELECT i, CASE WHEN i % 2 = 0 THEN 'ann' ELSE 'bob' END, 'doc ' || i, i, '{"a": 1}' FROM generate_series(0, 5) i;
SELECT widecol.put('docs_1', '\x80000003', 'cf:n', 'abc'), widecol.put('docs_1', '\x80000003', 'cf:body', '\xff'),
       widecol.put('docs_1', '\x80000003', 'm:b', '\xff');
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON docs USING ('regress_widecol_' || owner = current_user);
GRANT SELECT, UPDATE, DELETE ON docs TO regress_widecol_ann, regress_widecol_bob;
CREATE TABLE wanted (id int);
INSERT INTO wanted SELECT generate_series(0, 5);
ANALYZE wanted;
GRANT SELECT ON wanted TO regress_widecol_ann;
SET ROLE regress_widecol_ann;
SELECT * FROM docs ORDER BY id;
SELECT id FROM docs WHERE n >= 2 ORDER BY id;
SELECT id FROM docs WHERE n >= 2 AND seen(body);
SELECT id, n FROM docs WHERE n > 0 ORDER BY id LIMIT 1 OFFSET 1;
SELECT sum(n), count(m -> 'b') FROM docs;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM docs WHERE n * 2 > 1;
SELECT w.id, d.n FROM wanted w JOIN docs d USING (id) ORDER BY 1;
SELECT id, (SELECT n FROM docs d WHERE d.id = w.id) AS n FROM wanted w ORDER BY 1;
UPDATE docs SET n = n + 10 RETURNING id, n;
-- bob may see it
SET ROLE regress_widecol_bob;
SELECT n FROM docs WHERE id = 3;
SELECT id FROM docs WHERE id = 3;
RESET ROLE;
-- the engine decides on the policy
ALTER POLICY own ON docs USING (owner = 'ann');
SET ROLE regress_widecol_ann;
SELECT id, n FROM docs WHERE n >= 2 ORDER BY id;
SELECT id, n FROM docs ORDER BY id;
RESET ROLE;
-- with a subquery
ALTER POLICY own ON docs USING (EXISTS (SELECT FROM wanted w WHERE w.id = docs.id AND w.id % 2 = 0));
SET ROLE regress_widecol_ann;
EXPLAIN (COSTS OFF) SELECT id, n FROM docs WHERE length(body) > 0;
SELECT id, n FROM docs WHERE length(body) > 0 ORDER BY id;
RESET ROLE;
-- the policy's column cannot be decoded
ALTER POLICY own ON docs USING (length(body) > 0 AND m || '{}' ? 'a' AND n > 0);
SET ROLE regress_widecol_ann;
SELECT id FROM docs;
RESET ROLE;
ALTER POLICY own ON docs USING (n * 2 > 0);
SET ROLE regress_widecol_ann;
SELECT id FROM docs;
RESET ROLE;
ALTER POLICY own ON docs USING (m || '{}' ? 'a');
SET ROLE regress_widecol_ann;
SELECT id FROM docs;
RESET ROLE;
-- views, and a condition of the user that PostgreSQL moves into one
CREATE VIEW anns_docs WITH (security_barrier) AS SELECT * FROM docs_1 WHERE owner || '' = 'ann';
GRANT SELECT ON anns_docs TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT id, n, body FROM anns_docs ORDER BY id;
SELECT id FROM anns_docs WHERE n >= 2;
RESET ROLE;
-- rows that come in several blocks
CREATE FOREIGN TABLE long_docs (id int OPTIONS (rowkey '1'), n int, body text, m jsonb OPTIONS (family 'm'), z text OPTIONS (family 'z')) SERVER widecol;
INSERT INTO long_docs SELECT i, i, repeat('b', 3000), (SELECT jsonb_object_agg('q' || j, repeat('v', 100)) FROM generate_series(1, 40) j),
	repeat('z', 9000) FROM generate_series(1, 5) i;
CREATE VIEW odd_docs WITH (security_barrier) AS SELECT * FROM long_docs WHERE n % 2 = 1;
SELECT id, n, length(body) AS body, (SELECT count(*) FROM jsonb_object_keys(m)) AS members, length(z) AS z FROM odd_docs;
-- conditions with values of the query's other rows, which PostgreSQL moves into the view
SELECT q.n, (SELECT count(*) FROM odd_docs d WHERE d.n <= q.n) FROM (VALUES (0), (2), (3), (9)) q (n);
-- a join in a view: its condition hides rows, and is another one for each row of the other side
CREATE TABLE asked (id int, least int);
INSERT INTO asked VALUES (1, 0), (2, 1), (3, 2), (4, 0), (5, 0);
ANALYZE asked;
ANALYZE long_docs;
CREATE VIEW asked_docs WITH (security_barrier) AS SELECT d.id, a.least, d.n FROM asked a JOIN long_docs d ON d.id = a.id AND d.n % 4 > a.least;
BEGIN;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_material = off;
SELECT * FROM asked_docs ORDER BY id;
ROLLBACK;
DROP FOREIGN TABLE long_docs CASCADE;
-- a condition on the key, which the range decides, and a value that the engine leaves to the session (NaN)
CREATE FOREIGN TABLE odd_rates (id int OPTIONS (rowkey '1'), rate numeric, n int) SERVER widecol;
INSERT INTO odd_rates VALUES (1, 'NaN', 1), (2, NULL, 2), (3, 1.5, 3), (4, 'NaN', 4), (5, 7, 5);
CREATE VIEW rates_seen WITH (security_barrier) AS SELECT * FROM odd_rates WHERE id < 4 AND rate IS DISTINCT FROM 1.5;
SELECT count(*), sum(n) FROM rates_seen;
SELECT n, rate FROM rates_seen ORDER BY n;
SELECT rate FROM rates_seen WHERE id <= 1;
ALTER FOREIGN TABLE odd_rates ADD COLUMN key bytea OPTIONS (rowkey 'raw');
CREATE VIEW keys_seen WITH (security_barrier) AS SELECT * FROM odd_rates WHERE key > '\x80000001' AND rate IS DISTINCT FROM 1.5;
SELECT n, rate FROM keys_seen ORDER BY n;
DROP FOREIGN TABLE odd_rates CASCADE;
-- cells as rows
SET client_min_messages = warning;
CREATE FOREIGN TABLE doc_cells ("row" bytea, qualifier text, value text) SERVER widecol OPTIONS (table 'docs_1', layout 'cell');
RESET client_min_messages;
CREATE VIEW doc_cells_seen WITH (security_barrier) AS SELECT * FROM doc_cells WHERE qualifier || '' = 'owner';
GRANT SELECT ON doc_cells_seen TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT * FROM doc_cells_seen ORDER BY 1;
RESET ROLE;
DROP FOREIGN TABLE doc_cells CASCADE;

-- the conditions of a view run once for each row, whatever the statement does with it
CREATE FOREIGN TABLE turns (id int OPTIONS (rowkey '1'), n int) SERVER widecol;
INSERT INTO turns SELECT i, i FROM generate_series(1, 4) i;
CREATE TABLE turned (id int);
INSERT INTO turned VALUES (2), (3), (4);
CREATE VIEW turns_seen WITH (security_barrier) AS SELECT * FROM turns WHERE seen(id) AND n % 2 = 0;
UPDATE turns_seen SET n = n + 2;
UPDATE turns_seen SET n = 10 WHERE id < 3;
UPDATE turns_seen t SET n = t.n + 2 FROM turned o WHERE o.id = t.id AND o.id > 3;
SELECT * FROM turns_seen WHERE id > 1 FOR UPDATE;
SELECT n FROM turns_seen WHERE id = 2 FOR SHARE;
WITH changed AS (UPDATE turns_seen SET n = n + 2 WHERE id = 4 RETURNING n) SELECT n, (SELECT count(*) FROM turns_seen WHERE id < 3) FROM changed;
DELETE FROM turns_seen WHERE id IN (1, 2);
SELECT * FROM turns;
DROP FOREIGN TABLE turns CASCADE;

-- --- columns ----------------------------------------------------------------------

GRANT SELECT (id, owner), UPDATE (n), INSERT (id, n) ON notes_2 TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
SELECT id, owner FROM notes_2 WHERE id = 11;
SELECT id FROM notes_2 WHERE body = 'note 11';
UPDATE notes_2 SET n = 9 WHERE id = 11;
UPDATE notes_2 SET n = n + 1 WHERE id = 11;
UPDATE notes_2 SET n = 9 WHERE id = 11 RETURNING body;
UPDATE notes_2 SET body = 'x' WHERE id = 11;
INSERT INTO notes_2 (id, n) VALUES (12, 1) RETURNING id;
INSERT INTO notes_2 (id, body) VALUES (13, 'x');
DELETE FROM notes_2 WHERE id = 11;
COPY notes_2 (id, n) FROM stdin;
14	2
\.
\copy notes_2 (id, body) FROM /dev/null
SELECT widecol.get('notes_2', '\x8000000b');
RESET ROLE;
SELECT id, owner, body, n FROM notes_2 ORDER BY id;

-- a message names a key to those who may read it
CREATE FOREIGN TABLE tickets (day int OPTIONS (rowkey '1') DEFAULT 7, id int OPTIONS (rowkey '2') DEFAULT 1, n int) SERVER widecol OPTIONS (on_duplicate 'error');
INSERT INTO tickets (n) VALUES (0);
CREATE FUNCTION use_up() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN UPDATE rows.tickets SET n = -1; RETURN new; END$$;
CREATE TRIGGER use_up BEFORE UPDATE ON tickets FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION use_up();
GRANT INSERT (n), SELECT (day), UPDATE (n) ON tickets TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
INSERT INTO tickets (n) VALUES (1);
INSERT INTO tickets (n) SELECT i FROM generate_series(1, 3) i;
COPY tickets (n) FROM stdin;
1
\.
UPDATE tickets SET n = 2;
RESET ROLE;
GRANT SELECT (id) ON tickets TO regress_widecol_bob;
SET ROLE regress_widecol_bob;
INSERT INTO tickets (n) VALUES (1);
UPDATE tickets SET n = 2;
RESET ROLE;
DROP FOREIGN TABLE tickets;

DROP OWNED BY regress_widecol_ann, regress_widecol_bob;
DROP ROLE regress_widecol_ann, regress_widecol_bob;
SET client_min_messages = error;
DROP SCHEMA rows CASCADE;
SELECT widecol.drop_table('notes_1'), widecol.drop_table('notes_2'), widecol.drop_table('docs_1'), widecol.drop_table('long_docs'), widecol.drop_table('odd_rates'), widecol.drop_table('turns'), widecol.drop_table('tickets');
