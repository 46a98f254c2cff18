-- Members of a map: only those that a query names are read.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;

CREATE FOREIGN TABLE members (
  k     text  OPTIONS (rowkey '1') COLLATE "C",
  fixed int   OPTIONS (family 'f', qualifier 'fixed'),
  m     jsonb OPTIONS (family 'f'),
  p     jsonb OPTIONS (family 'h', qualifier_prefix 'p:'),
  other jsonb OPTIONS (family 'g')
) SERVER widecol OPTIONS (families '{"g": {"packing": "cell"}}');

INSERT INTO members VALUES
  ('a', 1, '{"x": "1", "y": "2", "": "none", "p:1": "one"}', NULL, '{"x": "gx", "z": "gz"}'),
  ('b', 2, '{"y": "3"}', '{"p:2": "two", "p:3": "three"}', NULL),
  ('c', NULL, NULL, NULL, '{"é": "accent", "a b": "space"}');

-- columns and members that are read
EXPLAIN (COSTS OFF) SELECT m->'x' FROM members;
EXPLAIN (COSTS OFF) SELECT k, m->>'x', m['y'], other->>'z' FROM members WHERE other->>'x' = 'gx' ORDER BY m->>'q';
EXPLAIN (COSTS OFF) SELECT p->'p:2', m->'fixed' FROM members;
EXPLAIN (COSTS OFF) SELECT count(*) FROM members WHERE m->>'x' > '0' GROUP BY m->>'y' HAVING max(m->>'z') IS NULL;

-- and that it is the same
SELECT k, m->'x', m->>'y', m['y'], m->'', m->'p:1', other->>'z' FROM members;
SELECT k, p->>'p:2', p->>'p:9', p->>'x', m->>'fixed', m->>'p:2' FROM members;
SELECT k, other->'é', other->>'a b', other->NULL FROM members WHERE other->'é' IS NOT NULL OR k = 'a';
SELECT m->>'y' AS y, count(*), max(other->>'z') FROM members GROUP BY m->>'y' ORDER BY y;
SELECT k FROM members WHERE NOT (m->>'x' = '1') OR m->>'x' IS NULL ORDER BY m->>'y' DESC, k;

-- a map that is used otherwise, too, is read whole
SELECT m->'x', m FROM members;
SELECT k FROM members WHERE m->>'x' = '1' AND m ? 'y';
SELECT k FROM members WHERE NOT m ? 'x';
SELECT m->'x', members FROM members WHERE k = 'b';
SELECT k, m->'x', (SELECT count(*) FROM jsonb_object_keys(members.m)) FROM members;
SELECT k, m->'x', n FROM members, LATERAL (SELECT string_agg(key, ',' ORDER BY key) FROM jsonb_each(m)) s(n);
SELECT a.m->>'y', b.m FROM members a JOIN members b ON b.m->>'y' = a.m->>'y' ORDER BY 1;
SELECT m->'x' FROM members ORDER BY m;
SELECT count(m), count(m->'x'), count(DISTINCT m) FROM members;
SELECT k, m->0, m->k FROM members WHERE k = 'a';
SELECT k, m->>'x' FROM members WHERE m->>'y' = (SELECT max(i.m->>'y') FROM members i WHERE i.m @> members.m);

-- subqueries, views, unions, common table expressions
CREATE VIEW member_view AS SELECT k, m FROM members;
SELECT v.m->>'y' FROM member_view v ORDER BY 1;
SELECT v.m->>'y' FROM (SELECT * FROM member_view UNION ALL SELECT k, other FROM members) v ORDER BY 1;
WITH c AS MATERIALIZED (SELECT k, m FROM members) SELECT k, m->>'x' FROM c ORDER BY k;
SELECT k, EXISTS (SELECT 1 FROM members i WHERE i.m->>'y' = o.m->>'x') FROM members o ORDER BY k;
DROP VIEW member_view;

-- parameters, of custom and generic plans
PREPARE member(text, text) AS SELECT k, m->>$1, other->>$2 FROM members ORDER BY k;
EXECUTE member('x', 'z');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE member('x', 'z');
EXECUTE member('x', 'z');
EXECUTE member('y', NULL);
RESET plan_cache_mode;
DEALLOCATE member;

-- writes see whole maps; so do queries that lock
UPDATE members SET fixed = length(m->>'y') WHERE m->>'x' = '1' RETURNING m->'x', m;
UPDATE members SET m = jsonb_build_object('x', m->>'y') WHERE k = 'b' RETURNING m;
SELECT k, m FROM members ORDER BY k;
DELETE FROM members WHERE m->>'x' = '3' RETURNING m->>'x';

-- own writes, before they are committed
BEGIN;
INSERT INTO members (k, m) VALUES ('n', '{"x": "new", "y": "newer"}');
UPDATE members SET m = m || '{"x": "other"}' WHERE k = 'a';
SELECT k, m->>'x' FROM members ORDER BY k;
ROLLBACK;
SELECT k, m->>'x' FROM members ORDER BY k;

-- a domain is not looked through
CREATE DOMAIN json_map AS jsonb;
CREATE FOREIGN TABLE members_domain (
  k text     OPTIONS (rowkey '1') COLLATE "C",
  m json_map OPTIONS (family 'g')
) SERVER widecol OPTIONS (table 'members');
EXPLAIN (COSTS OFF) SELECT k, m->>'x' FROM members_domain ORDER BY k;
SELECT k, m->>'x' FROM members_domain ORDER BY k;

-- inheritance trees
CREATE TABLE members_parent (k text COLLATE "C", m jsonb);
INSERT INTO members_parent VALUES ('h', '{"x": "heap", "z": "heap"}');
CREATE FOREIGN TABLE members_child (k text OPTIONS (rowkey '1') COLLATE "C", m jsonb OPTIONS (family 'g'))
  INHERITS (members_parent) SERVER widecol OPTIONS (table 'members');
SELECT k, m->>'x', m->>'z' FROM members_parent ORDER BY k;

DROP TABLE members_parent CASCADE;
DROP FOREIGN TABLE members, members_domain;
DROP DOMAIN json_map;
SELECT widecol.drop_table('members');

-- of partitions and children, too: columns may have other numbers there, and the query names those of the parent
CREATE TABLE tree (m jsonb, k text COLLATE "C", n int) PARTITION BY LIST (n);
CREATE TABLE tree_low PARTITION OF tree FOR VALUES IN (1, 2) PARTITION BY LIST (n);
CREATE FOREIGN TABLE tree_one (n int, k text OPTIONS (rowkey '1') COLLATE "C", gone int, m jsonb OPTIONS (family 'm')) SERVER widecol;
ALTER FOREIGN TABLE tree_one DROP COLUMN gone;
ALTER TABLE tree_low ATTACH PARTITION tree_one FOR VALUES IN (1);
CREATE TABLE tree_two PARTITION OF tree FOR VALUES IN (3);
INSERT INTO tree VALUES ('{"x": "1", "y": "2"}', 'a', 1), ('{"x": "3"}', 'b', 1), ('{"x": "5", "y": "6"}', 'c', 3);
EXPLAIN (COSTS OFF) SELECT m->>'x' FROM tree WHERE k < 'z' AND n < 3;
EXPLAIN (COSTS OFF) SELECT k, m->>'x' FROM tree WHERE m->>'y' = '2' AND n = 1;
EXPLAIN (COSTS OFF) SELECT k, m FROM tree WHERE n = 1;
EXPLAIN (COSTS OFF) SELECT m->>'x', tree FROM tree WHERE n = 1;
SELECT k, m->>'x', m->'y' FROM tree ORDER BY k;
SELECT k, m->>'x' FROM tree WHERE m->>'y' = '2' OR m['x'] = '"3"' ORDER BY k;
SELECT count(*), sum((m->>'x')::int) FROM tree;
CREATE TABLE ancestor (k text COLLATE "C", m jsonb);
CREATE FOREIGN TABLE heir (extra jsonb OPTIONS (family 'e'), k text OPTIONS (rowkey '1') COLLATE "C", m jsonb OPTIONS (family 'm')) INHERITS (ancestor) SERVER widecol;
INSERT INTO heir VALUES ('a', '{"x": "1", "y": "2"}', '{"x": "other"}');
EXPLAIN (COSTS OFF) SELECT m->'x' FROM ancestor;
SELECT m->'x', tableoid::regclass FROM ancestor;
EXPLAIN (COSTS OFF) SELECT m->'x' FROM heir UNION ALL SELECT extra->'x' FROM heir UNION ALL SELECT m FROM tree_one;
SELECT m->'x' FROM heir UNION ALL SELECT extra->'x' FROM heir UNION ALL SELECT m FROM tree_one;
DROP TABLE tree, ancestor CASCADE;
SELECT count(widecol.drop_table(t)) FROM unnest('{tree_one,heir}'::text[]) t;
