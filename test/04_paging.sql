-- Case 4, paging on a composite key: userid | stamp desc | actionid.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(15);

CREATE FUNCTION plan_has(query text, pattern text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ pattern THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;

CREATE FOREIGN TABLE useractions (
  userid   int    OPTIONS (rowkey '1'),
  stamp    bigint OPTIONS (rowkey '2', sort 'desc'),
  actionid int    OPTIONS (rowkey '3'),
  name     text   OPTIONS (family 'content', qualifier 'name')
) SERVER widecol OPTIONS (table 'useractions');

-- Three users, 100 actions each; action i of a user at 1000 + i.
INSERT INTO useractions
SELECT u, 1000 + i, i, 'u' || u || '-a' || lpad(i::text, 2, '0')
FROM generate_series(1, 3) u, generate_series(0, 99) i;

SELECT is(count(*), 300::bigint, 'all actions are there') FROM useractions;

-- The third page of ten of one user's actions, newest first.
PREPARE third_page AS
SELECT actionid, name FROM useractions WHERE userid = 1 ORDER BY stamp DESC LIMIT 10 OFFSET 20;
SELECT results_eq('third_page',
  $$SELECT 99 - i, 'u1-a' || (99 - i) FROM generate_series(20, 29) i$$, 'the third page');
SELECT ok(NOT plan_has('EXECUTE third_page', 'Sort'), 'the third page needs no Sort');
SELECT ok(plan_has('EXECUTE third_page', 'Start Row'), 'the third page has a start row');
SELECT ok(plan_has('EXECUTE third_page', 'Stop Row'), 'the third page has a stop row');

-- The next page by the last key seen.
SELECT results_eq(
  $$SELECT actionid FROM useractions WHERE userid = 1 AND stamp < 1070 ORDER BY stamp DESC LIMIT 10$$,
  $$SELECT 69 - i FROM generate_series(0, 9) i$$, 'the next page by the last key seen');
SELECT ok(NOT plan_has(
  $$SELECT actionid FROM useractions WHERE userid = 1 AND stamp < 1070 ORDER BY stamp DESC LIMIT 10$$, 'Sort'),
  'the next page needs no Sort');

-- The previous page: the same order backwards.
SELECT results_eq(
  $$SELECT actionid FROM (SELECT actionid, stamp FROM useractions WHERE userid = 1 AND stamp > 1070
                          ORDER BY stamp LIMIT 10) page ORDER BY stamp DESC$$,
  $$SELECT 80 - i FROM generate_series(0, 9) i$$, 'the previous page by the reversed scan');
SELECT ok(plan_has(
  $$SELECT actionid FROM useractions WHERE userid = 1 AND stamp > 1070 ORDER BY stamp LIMIT 10$$, 'REVERSE'),
  'the previous page is a reversed scan');
SELECT ok(NOT plan_has(
  $$SELECT actionid FROM useractions WHERE userid = 1 AND stamp > 1070 ORDER BY stamp LIMIT 10$$, 'Sort'),
  'the previous page needs no Sort');

-- Never into the next user.
SELECT results_eq(
  $$SELECT actionid FROM useractions WHERE userid = 1 ORDER BY stamp DESC LIMIT 10 OFFSET 95$$,
  ARRAY[4, 3, 2, 1, 0], 'the last page is short');
SELECT is_empty(
  $$SELECT actionid FROM useractions WHERE userid = 1 ORDER BY stamp DESC LIMIT 10 OFFSET 100$$,
  'behind the last page is nothing');

-- The same through a cursor, which does not see what comes later.
BEGIN;
DECLARE pages CURSOR FOR SELECT actionid FROM useractions WHERE userid = 2 ORDER BY stamp DESC;
SELECT results_eq('FETCH 10 FROM pages', $$SELECT 99 - i FROM generate_series(0, 9) i$$, 'the first page of a cursor');
INSERT INTO useractions SELECT 2, 5000 + i, 1000 + i, 'late' FROM generate_series(0, 9) i;
DELETE FROM useractions WHERE userid = 2 AND stamp BETWEEN 1080 AND 1089;
SELECT results_eq('FETCH 10 FROM pages', $$SELECT 89 - i FROM generate_series(0, 9) i$$, 'its second page');
COMMIT;
SELECT results_eq($$SELECT actionid FROM useractions WHERE userid = 2 ORDER BY stamp DESC LIMIT 3 OFFSET 9$$,
                  ARRAY[1000, 99, 98], 'afterwards a new query sees it all');

SELECT * FROM finish();
