-- Case 8, a forum: posts, index tables by user and by forum, threads by their last
-- reply, and a reply as one transaction.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(43);

CREATE FUNCTION plan_has(query text, pattern text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ pattern THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;
CREATE FUNCTION rows_read(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; n bigint = 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    n = n + coalesce(substring(line FROM 'Rows Read: (\d+)')::bigint, 0);
  END LOOP;
  RETURN n;
END $$;

-- A post is one document, so that its key is there once, and beside it a flag.
CREATE FOREIGN TABLE post (
  id      bigint OPTIONS (rowkey '1'),
  packed  jsonb  OPTIONS (family 'post', qualifier 'packed'),
  deleted bool   OPTIONS (family 'flag', qualifier 'deleted')
) SERVER widecol OPTIONS (families '{"post": {"compression": "none"}, "flag": {"compression": "none"}}');

-- Index rows are named userid:time and forumid:time, as in the installation; the
-- post's id behind them, since two posts may have one second.
CREATE FOREIGN TABLE post_by_user (
  userid text   OPTIONS (rowkey '1') COLLATE "C",
  at     text   OPTIONS (rowkey '2') COLLATE "C",
  postid text   OPTIONS (rowkey '3') COLLATE "C",
  raw    bytea  OPTIONS (rowkey 'raw'),
  forum  int
) SERVER widecol OPTIONS (delimiter ':');
CREATE FOREIGN TABLE post_by_forum (
  forumid text OPTIONS (rowkey '1') COLLATE "C",
  at      text OPTIONS (rowkey '2') COLLATE "C",
  postid  text OPTIONS (rowkey '3') COLLATE "C"
) SERVER widecol OPTIONS (delimiter ':');
CREATE FOREIGN TABLE thread (
  forumid    int    OPTIONS (rowkey '1'),
  last_reply bigint OPTIONS (rowkey '2', sort 'desc'),
  threadid   bigint OPTIONS (rowkey '3'),
  title      text
) SERVER widecol;
CREATE FOREIGN TABLE thread_place (threadid bigint OPTIONS (rowkey '1'), forumid int, last_reply bigint) SERVER widecol;
CREATE FOREIGN TABLE thread_counts (threadid bigint OPTIONS (rowkey '1'), replies bigint OPTIONS (family 'c', qualifier 'replies'))
  SERVER widecol OPTIONS (families '{"users": {}}');
CREATE FOREIGN TABLE thread_users ("row" bytea, family text, qualifier text, value bytea)
  SERVER widecol OPTIONS (table 'thread_counts', layout 'cell');
-- The row of a thread's counters, which are incremented as cells.
CREATE FUNCTION counts_of(tid bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS 'SELECT int8send(tid # (-9223372036854775808))';

-- A new thread, and a reply: the post, its index rows, the thread's new place, the counter.
CREATE FUNCTION open_thread(tid bigint, forum int, title text, at bigint) RETURNS void LANGUAGE sql AS $$
  INSERT INTO thread VALUES (forum, at, tid, title);
  INSERT INTO thread_place VALUES (tid, forum, at);
$$;
CREATE FUNCTION reply(pid bigint, tid bigint, usr int, at bigint, body text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE place thread_place;
BEGIN
  SELECT * INTO place FROM thread_place WHERE threadid = tid;
  IF NOT FOUND THEN
    RAISE no_data_found USING MESSAGE = format('no thread %s', tid);
  END IF;
  INSERT INTO post VALUES (pid, jsonb_build_object('thread', tid, 'user', usr, 'at', at, 'body', body));
  INSERT INTO post_by_user (userid, at, postid, forum) VALUES (usr, reply.at, pid, place.forumid);
  INSERT INTO post_by_forum VALUES (place.forumid, reply.at, pid);
  UPDATE thread SET last_reply = reply.at WHERE forumid = place.forumid AND last_reply = place.last_reply AND threadid = tid;
  IF NOT FOUND THEN
    RAISE no_data_found USING MESSAGE = format('thread %s is not where it should be', tid);
  END IF;
  UPDATE thread_place SET last_reply = reply.at WHERE threadid = tid;
  PERFORM widecol.incr('thread_counts', counts_of(tid), 'users:' || usr);
  RETURN widecol.incr('thread_counts', counts_of(tid), 'c:replies');
END $$;

SELECT open_thread(t, t % 3 + 1, 'thread ' || t, 1230768000 - 1000 + t) FROM generate_series(1, 12) t;
-- 1200 replies in three days from 2009-01-01 on, one each 216 seconds; users 96 to 105.
CREATE TABLE told AS
SELECT i AS id, 1 + (i * 5) % 12 AS thread, (96 + (i * 7) % 10)::int AS usr, 1230768000::bigint + i * 216 AS at, 'body ' || i AS body
FROM generate_series(0::bigint, 1199) i;
SELECT is(sum(n), 12 * 5050::numeric, 'replies are counted one by one') FROM (SELECT reply(id, thread, usr, at, body) AS n FROM told ORDER BY id) replies;
SELECT is((SELECT count(*) FROM post), 1200::bigint, 'every reply is a post');
SELECT is((SELECT count(*) FROM thread), 12::bigint, 'a thread has one place, however often it moved');

-- --- posts -------------------------------------------------------------------------
SELECT is(packed ->> 'body', 'body 777', 'a post by its id') FROM post WHERE id = 777;
SELECT ok(plan_has('SELECT packed FROM post WHERE id = 777', 'POINT LOOKUP'), 'is a Get');
UPDATE post SET deleted = true WHERE id IN (5, 777);
SELECT results_eq('SELECT id FROM post WHERE deleted', ARRAY[5, 777]::bigint[], 'a deleted post has a flag');
SELECT is(packed ->> 'body', 'body 777', 'and is there') FROM post WHERE id = 777;
SELECT is((SELECT count(*) FROM post WHERE deleted IS NOT TRUE), 1198::bigint, 'the others are not');
SELECT ok(plan_has('SELECT id, deleted FROM post WHERE deleted', 'Columns: flag:deleted$'), 'the flag is read without the posts');

-- --- all posts of a user -------------------------------------------------------------
SELECT results_eq($$SELECT p.id, p.packed ->> 'body' FROM post_by_user i JOIN post p ON p.id = i.postid::bigint WHERE i.userid = '100' ORDER BY i.at$$,
  'SELECT id, body FROM told WHERE usr = 100 ORDER BY at', 'all posts of user 100');
SELECT is(rows_read($$SELECT postid FROM post_by_user WHERE userid = '100'$$), 120::bigint, 'reads 120 index rows');
SELECT is_empty($$SELECT * FROM post_by_user WHERE userid = '10'$$, 'user 10 has none of them');

-- of 2009-01-01: 100:1230796800 <= row <= 100:1230883200
SELECT results_eq($$SELECT postid::bigint FROM post_by_user WHERE raw BETWEEN '100:1230796800' AND '100:1230883200' ORDER BY raw$$,
  'SELECT id FROM told WHERE usr = 100 AND at >= 1230796800 AND at < 1230883200 ORDER BY at', 'of user 100 on one day, by row keys');
SELECT ok(plan_has($$SELECT postid FROM post_by_user WHERE raw BETWEEN '100:1230796800' AND '100:1230883200'$$, 'RANGE SCAN'), 'is one range');
SELECT is(rows_read($$SELECT postid FROM post_by_user WHERE raw BETWEEN '100:1230796800' AND '100:1230883200'$$), 40::bigint, 'reads that day''s rows');
SELECT results_eq($$SELECT postid::bigint FROM post_by_user WHERE userid = '100' AND at >= '1230796800' AND at < '1230883200' ORDER BY at$$,
  'SELECT id FROM told WHERE usr = 100 AND at >= 1230796800 AND at < 1230883200 ORDER BY at', 'the same by the key''s parts');
SELECT results_eq($$SELECT postid::bigint FROM post_by_user WHERE userid = '100' AND forum = 2 ORDER BY at$$,
  'SELECT id FROM told WHERE usr = 100 AND thread % 3 + 1 = 2 ORDER BY at', 'of user 100 in one forum');
SELECT results_eq($$SELECT postid::bigint FROM post_by_user WHERE userid = '100' AND postid IN (SELECT postid FROM post_by_forum WHERE forumid = '2') ORDER BY at$$,
  'SELECT id FROM told WHERE usr = 100 AND thread % 3 + 1 = 2 ORDER BY at', 'the same from both indexes');
SELECT results_eq($$SELECT postid::bigint FROM post_by_user WHERE userid = '100' ORDER BY at DESC, postid DESC LIMIT 5$$,
  'SELECT id FROM told WHERE usr = 100 ORDER BY at DESC LIMIT 5', 'their last five');

-- --- the forum's front page: threads by their last reply ------------------------------
SELECT results_eq('SELECT threadid, last_reply FROM thread WHERE forumid = 2 ORDER BY last_reply DESC LIMIT 3',
  'SELECT thread, max(at) FROM told WHERE thread % 3 + 1 = 2 GROUP BY thread ORDER BY 2 DESC LIMIT 3', 'the threads that were answered last');
SELECT is(rows_read('SELECT threadid, last_reply FROM thread WHERE forumid = 2 ORDER BY last_reply DESC LIMIT 3'), 3::bigint, 'three rows are read');
SELECT ok(NOT plan_has('SELECT threadid, last_reply FROM thread WHERE forumid = 2 ORDER BY last_reply DESC LIMIT 3', 'Sort'), 'and none sorted');
SELECT results_eq('SELECT threadid FROM thread WHERE forumid = 2 AND (last_reply, threadid) < (SELECT last_reply, threadid FROM thread_place WHERE threadid = 10) ORDER BY last_reply DESC',
  'SELECT thread FROM told WHERE thread % 3 + 1 = 2 GROUP BY thread HAVING max(at) < (SELECT max(at) FROM told WHERE thread = 10) ORDER BY max(at) DESC',
  'the next page, behind thread 10');
SELECT results_eq('SELECT threadid, replies FROM thread_counts ORDER BY 1',
  'SELECT thread, count(*) FROM told GROUP BY 1 ORDER BY 1', 'the counters say how many');
SELECT is(replies, 100::bigint, 'a hundred replies to each') FROM thread_counts WHERE threadid = 7;
SELECT results_eq($$SELECT qualifier, ('x' || encode(value, 'hex'))::bit(64)::bigint FROM thread_users WHERE "row" = counts_of(7) AND family = 'users'$$,
  'SELECT usr::text, count(*) FROM told WHERE thread = 7 GROUP BY 1 ORDER BY 1', 'a counter for every user');

-- --- a reply is all or nothing ----------------------------------------------------------
CREATE FUNCTION state() RETURNS TABLE (what text, contents text) LANGUAGE sql AS $$
  SELECT 'post', p::text FROM post p UNION ALL SELECT 'user', u::text FROM post_by_user u UNION ALL SELECT 'forum', f::text FROM post_by_forum f
  UNION ALL SELECT 'thread', t::text FROM thread t UNION ALL SELECT 'place', t::text FROM thread_place t UNION ALL SELECT 'counts', c::text FROM thread_users c
$$;
CREATE TABLE before AS SELECT * FROM state();
BEGIN;
SELECT is(reply(2000, 3, 100, 1231100000, 'one'), 101::bigint, 'a reply counts');
SELECT is((SELECT threadid FROM thread WHERE forumid = 1 ORDER BY last_reply DESC LIMIT 1), 3::bigint, 'its thread is first');
SELECT is(reply(2001, 6, 100, 1231100001, 'two'), 101::bigint, 'another one');
SELECT results_eq('SELECT threadid FROM thread WHERE forumid = 1 ORDER BY last_reply DESC LIMIT 2', ARRAY[6, 3]::bigint[], 'both threads are first');
SELECT results_eq($$SELECT postid::int FROM post_by_user WHERE userid = '100' ORDER BY at DESC LIMIT 2$$, ARRAY[2001, 2000], 'and in the user''s index');
ROLLBACK;
SELECT bag_eq('SELECT * FROM state()', 'SELECT * FROM before', 'rolled back, nothing happened');
BEGIN;
SELECT is(reply(2000, 3, 100, 1231100000, 'one'), 101::bigint, 'a reply again');
SAVEPOINT s;
SELECT throws_ok($$SELECT reply(2001, 99, 100, 1231100001, 'two')$$, 'P0002', 'no thread 99', 'one to no thread fails');
SELECT is(reply(2002, 3, 101, 1231100002, 'three'), 102::bigint, 'one more');
ROLLBACK TO s;
COMMIT;
SELECT results_eq('SELECT last_reply, threadid FROM thread WHERE threadid = 3', $$VALUES (1231100000::bigint, 3::bigint)$$, 'the thread moved once');
SELECT is(replies, 101::bigint, 'and was counted once') FROM thread_counts WHERE threadid = 3;
SELECT is_empty('SELECT FROM post WHERE id > 2000', 'there is no post of the transaction that was rolled back');
SELECT is((SELECT count(*) FROM thread), 12::bigint, 'threads are as many as before');
SELECT is_empty('SELECT threadid FROM thread EXCEPT SELECT threadid FROM thread_place', 'each has a place');
SELECT bag_eq('SELECT forumid, last_reply, threadid FROM thread', 'SELECT forumid, last_reply, threadid FROM thread_place', 'which is where it is');

-- --- what a post of 300 bytes takes: 520 there ---------------------------------------------
CREATE FOREIGN TABLE weighed (id bigint OPTIONS (rowkey '1'), body text OPTIONS (family 'post'), deleted bool OPTIONS (family 'post'))
  SERVER widecol OPTIONS (families '{"post": {"compression": "none"}}');
INSERT INTO weighed SELECT i, left(string_agg(md5(i::text || j), ''), 300), CASE WHEN i % 50 = 0 THEN true END
FROM generate_series(1, 5000) i, generate_series(1, 10) j GROUP BY i;
SELECT widecol.flush('weighed'), widecol.major_compact('weighed');
SELECT ok(sum(bytes) / 5000 BETWEEN 300 AND 360, 'here less than 60 more than its 300') FROM widecol.regions('weighed');
SELECT is((SELECT count(*) FROM weighed WHERE length(body) = 300), 5000::bigint, 'and nothing is lost');

SELECT * FROM finish();
