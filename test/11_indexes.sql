-- Case 11, secondary access: users by birthplace and by age, through index tables
-- that a trigger keeps right in the transaction of the write.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(40);

CREATE FUNCTION plan_has(query text, pattern text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ pattern THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;
-- Rows that the foreign scans of a query gave.
CREATE FUNCTION rows_given(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; n bigint = 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    n = n + coalesce(substring(line FROM 'Foreign Scan.*actual rows=(\d+)')::bigint, 0);
  END LOOP;
  RETURN n;
END $$;
CREATE FUNCTION rows_read(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; n bigint = 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    n = n + coalesce(substring(line FROM 'Rows Read: (\d+)')::bigint, 0);
  END LOOP;
  RETURN n;
END $$;

CREATE FOREIGN TABLE person (
  id    bigint OPTIONS (rowkey '1'),
  name  text,
  birthplace text,
  age   int
) SERVER widecol;

-- Index tables: keys end in the person's id, a row has no columns of its own.
CREATE FOREIGN TABLE by_birthplace (birthplace text OPTIONS (rowkey '1') COLLATE "C", id bigint OPTIONS (rowkey '2')) SERVER widecol;
CREATE FOREIGN TABLE by_age (age int OPTIONS (rowkey '1'), id bigint OPTIONS (rowkey '2')) SERVER widecol;
CREATE FOREIGN TABLE by_both (birthplace text OPTIONS (rowkey '1') COLLATE "C", age int OPTIONS (rowkey '2'), id bigint OPTIONS (rowkey '3')) SERVER widecol;

CREATE FUNCTION keep_indexes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM by_birthplace WHERE birthplace = OLD.birthplace AND id = OLD.id;
    DELETE FROM by_age WHERE age = OLD.age AND id = OLD.id;
    DELETE FROM by_both WHERE birthplace = OLD.birthplace AND age = OLD.age AND id = OLD.id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO by_birthplace SELECT NEW.birthplace, NEW.id WHERE NEW.birthplace IS NOT NULL;
    INSERT INTO by_age SELECT NEW.age, NEW.id WHERE NEW.age IS NOT NULL;
    INSERT INTO by_both SELECT NEW.birthplace, NEW.age, NEW.id WHERE NEW.birthplace IS NOT NULL AND NEW.age IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER indexes AFTER INSERT OR UPDATE OR DELETE ON person FOR EACH ROW EXECUTE FUNCTION keep_indexes();

CREATE TABLE people AS
SELECT i AS id, 'person ' || i AS name, (ARRAY['Hangzhou', 'Beijing', 'Shanghai', 'Hangzhou Bay', 'Chengdu', 'Wuhan', 'Xi''an', 'Harbin'])[1 + (i * 31 % 1009) % 8] AS birthplace,
       (18 + (i * 17 % 997) % 40)::int AS age
FROM generate_series(1::bigint, 12000) i;
INSERT INTO person SELECT * FROM people;
ANALYZE person;
ANALYZE by_birthplace;
ANALYZE by_age;
ANALYZE by_both;

SELECT is((SELECT count(*) FROM by_birthplace), 12000::bigint, 'an index row a person');
SELECT bag_eq('SELECT birthplace COLLATE "default", id FROM by_birthplace', 'SELECT birthplace, id FROM people', 'those of the birthplaces');
SELECT bag_eq('SELECT age, id FROM by_age', 'SELECT age, id FROM people', 'those of the ages');

-- --- one index --------------------------------------------------------------------
SELECT results_eq($$SELECT p.id, p.name FROM by_age i JOIN person p USING (id) WHERE i.age = 20 ORDER BY i.id LIMIT 10$$,
  'SELECT id, name FROM people WHERE age = 20 ORDER BY id LIMIT 10', 'the first ten aged 20');
SELECT ok(plan_has('SELECT id FROM by_age WHERE age = 20 ORDER BY id LIMIT 10', 'Row Limit: 10')
  AND NOT plan_has('SELECT id FROM by_age WHERE age = 20 ORDER BY id LIMIT 10', 'Sort'), 'ten rows of a range, in order');
SELECT results_eq($$SELECT id FROM by_birthplace WHERE birthplace = 'Hangzhou' ORDER BY id LIMIT 10$$,
  $$SELECT id FROM people WHERE birthplace = 'Hangzhou' ORDER BY id LIMIT 10$$, 'born in Hangzhou, not in Hangzhou Bay');
SELECT results_eq($$SELECT id FROM by_birthplace WHERE birthplace = 'Hangzhou' AND id > 1000 ORDER BY id LIMIT 10$$,
  $$SELECT id FROM people WHERE birthplace = 'Hangzhou' AND id > 1000 ORDER BY id LIMIT 10$$, 'behind id 1000');
SELECT results_eq('SELECT age, count(*) FROM by_age WHERE age BETWEEN 20 AND 22 GROUP BY age ORDER BY age',
  'SELECT age, count(*) FROM people WHERE age BETWEEN 20 AND 22 GROUP BY age ORDER BY age', 'how many of each age');

-- --- two indexes: a merge join of two ordered scans ----------------------------------
PREPARE two_indexes AS SELECT b.id FROM by_birthplace b JOIN by_age a ON a.id = b.id WHERE b.birthplace = 'Hangzhou' AND a.age = 20 ORDER BY b.id LIMIT 10;
SELECT results_eq('two_indexes', $$SELECT id FROM people WHERE birthplace = 'Hangzhou' AND age = 20 ORDER BY id LIMIT 10$$, 'born in Hangzhou and aged 20, the first ten');
SELECT ok(plan_has('EXECUTE two_indexes', 'Merge Join'), 'is a merge join');
SELECT ok(NOT plan_has('EXECUTE two_indexes', 'Sort'), 'which sorts nothing');
SELECT ok(rows_given('EXECUTE two_indexes') <= (SELECT count(*) + 2 FROM people
  WHERE (birthplace = 'Hangzhou' OR age = 20) AND id <= (SELECT max(id) FROM (SELECT id FROM people WHERE birthplace = 'Hangzhou' AND age = 20 ORDER BY id LIMIT 10) ten)) + 10,
  'and stops after ten');
SELECT results_eq(
  $$SELECT b.id FROM by_birthplace b JOIN by_age a ON a.id = b.id WHERE b.birthplace = 'Hangzhou' AND a.age = 20 ORDER BY b.id DESC LIMIT 10$$,
  $$SELECT id FROM people WHERE birthplace = 'Hangzhou' AND age = 20 ORDER BY id DESC LIMIT 10$$, 'the last ten');
SELECT ok(NOT plan_has(
  $$SELECT b.id FROM by_birthplace b JOIN by_age a ON a.id = b.id WHERE b.birthplace = 'Hangzhou' AND a.age = 20 ORDER BY b.id DESC LIMIT 10$$, 'Sort'),
  'by two reversed scans');
SELECT results_eq(
  $$SELECT p.name FROM by_birthplace b JOIN by_age a ON a.id = b.id JOIN person p ON p.id = b.id WHERE b.birthplace = 'Hangzhou' AND a.age = 20 ORDER BY p.id LIMIT 10$$,
  $$SELECT name FROM people WHERE birthplace = 'Hangzhou' AND age = 20 ORDER BY id LIMIT 10$$, 'with their names');
SELECT bag_eq($$SELECT id FROM by_birthplace WHERE birthplace = 'Hangzhou' INTERSECT SELECT id FROM by_age WHERE age = 20$$,
  $$SELECT id FROM people WHERE birthplace = 'Hangzhou' AND age = 20$$, 'all of them, as an intersection');
SELECT is((SELECT count(*) FROM by_birthplace b FULL JOIN by_age a ON a.id = b.id AND a.age = 20 AND b.birthplace = 'Hangzhou'
           WHERE b.birthplace = 'Hangzhou' OR a.age = 20),
  (SELECT count(*) FROM people WHERE birthplace = 'Hangzhou' OR age = 20), 'the one or the other');

-- --- a combined index: one range ---------------------------------------------------------
PREPARE combined AS SELECT id FROM by_both WHERE birthplace = 'Hangzhou' AND age = 20 ORDER BY id LIMIT 10;
SELECT results_eq('combined', $$SELECT id FROM people WHERE birthplace = 'Hangzhou' AND age = 20 ORDER BY id LIMIT 10$$, 'the same ten');
SELECT ok(plan_has('EXECUTE combined', 'RANGE SCAN') AND NOT plan_has('EXECUTE combined', 'Sort|Filter'), 'are one range');
SELECT is(rows_read('EXECUTE combined'), 10::bigint, 'of which ten rows are read');
SELECT results_eq($$SELECT age, id FROM by_both WHERE birthplace = 'Hangzhou' AND age > 30 ORDER BY age, id LIMIT 10$$,
  $$SELECT age, id FROM people WHERE birthplace = 'Hangzhou' AND age > 30 ORDER BY age, id LIMIT 10$$, 'older than 30, the youngest first');

-- --- the indexes follow, in the same transaction -------------------------------------------
CREATE FUNCTION wrong() RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*) FROM (
    SELECT 'p', birthplace COLLATE "C", NULL::int, id FROM person WHERE birthplace IS NOT NULL
    UNION ALL SELECT 'a', NULL, age, id FROM person WHERE age IS NOT NULL
    UNION ALL SELECT 'b', birthplace COLLATE "C", age, id FROM person WHERE birthplace IS NOT NULL AND age IS NOT NULL
  ) should FULL JOIN (
    SELECT 'p' AS k, birthplace, NULL::int AS age, id FROM by_birthplace
    UNION ALL SELECT 'a', NULL, age, id FROM by_age
    UNION ALL SELECT 'b', birthplace, age, id FROM by_both
  ) are ON ROW(should.*)::text = ROW(are.*)::text
  WHERE should.id IS NULL OR are.id IS NULL
$$;
SELECT is(wrong(), 0::bigint, 'the indexes are right');
UPDATE person SET birthplace = 'Suzhou' WHERE id BETWEEN 100 AND 120;
SELECT is((SELECT count(*) FROM by_birthplace WHERE birthplace = 'Suzhou'), 21::bigint, 'a row with a new place is found at this place');
SELECT is_empty('SELECT FROM by_birthplace WHERE birthplace <> ''Suzhou'' AND id BETWEEN 100 AND 120', 'and not at the old one');
SELECT is(wrong(), 0::bigint, 'right after an update');
UPDATE person SET age = age + 1 WHERE birthplace = 'Suzhou';
SELECT is(wrong(), 0::bigint, 'after an UPDATE of a column that is part of two keys');
UPDATE person SET name = upper(name) WHERE id = 100;
SELECT is(wrong(), 0::bigint, 'after one that changes no key');
UPDATE person SET id = id + 1000000 WHERE id = 110;
SELECT results_eq('SELECT id FROM by_age WHERE id > 12000', ARRAY[1000110]::bigint[], 'a row with a new id is found by it');
SELECT is(wrong(), 0::bigint, 'right, too');
UPDATE person SET age = NULL WHERE id = 111;
SELECT is_empty('SELECT FROM by_age WHERE id = 111 UNION ALL SELECT FROM by_both WHERE id = 111', 'no age, no index row');
DELETE FROM person WHERE id BETWEEN 115 AND 130;
SELECT is_empty('SELECT FROM by_age WHERE id BETWEEN 115 AND 130', 'a deleted row has no index row');
SELECT is(wrong(), 0::bigint, 'right after all this');

BEGIN;
INSERT INTO person VALUES (50000, 'new', 'Hangzhou', 20), (0, 'first', 'Hangzhou', 20);
SELECT results_eq('two_indexes', $$SELECT 0::bigint UNION ALL (SELECT id FROM people WHERE birthplace = 'Hangzhou' AND age = 20 AND id NOT BETWEEN 100 AND 130 ORDER BY id LIMIT 9)$$,
  'a transaction sees its own index rows');
SELECT is(wrong(), 0::bigint, 'right before the commit');
SAVEPOINT s;
DELETE FROM person WHERE birthplace = 'Hangzhou' AND id < 5000;
SELECT is_empty($$SELECT FROM by_both WHERE birthplace = 'Hangzhou' AND id < 5000$$, 'deleted');
SELECT is(wrong(), 0::bigint, 'from all');
ROLLBACK TO s;
SELECT isnt_empty($$SELECT FROM by_both WHERE birthplace = 'Hangzhou' AND id < 5000$$, 'and back');
SELECT is(wrong(), 0::bigint, 'in all');
ROLLBACK;
SELECT is_empty('SELECT FROM by_age WHERE id IN (0, 50000)', 'a row that is rolled back leaves no index row');
SELECT is(wrong(), 0::bigint, 'and the indexes are right');

SELECT * FROM finish();
