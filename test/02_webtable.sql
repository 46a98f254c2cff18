-- Case 2, webtable: reversed domains as keys, versions by time, families as maps.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(14);

CREATE FOREIGN TABLE webtable (
  host     text OPTIONS (rowkey '1', encoding 'reversed_domain') COLLATE "C",
  html     text  OPTIONS (family 'contents', qualifier 'html'),
  anchor   jsonb OPTIONS (family 'anchor'),
  people   jsonb OPTIONS (family 'people')
) SERVER widecol OPTIONS (families
  '{"contents": {"versions": 3}, "anchor": {"versions": 3}, "people": {"versions": 3}}');

SELECT widecol.put('webtable', 'com.cnn.www', 'contents:html', '<html> 3', 3);
SELECT widecol.put('webtable', 'com.cnn.www', 'contents:html', '<html> 5', 5);
SELECT widecol.put('webtable', 'com.cnn.www', 'contents:html', '<html> 6', 6);
SELECT widecol.put('webtable', 'com.cnn.www', 'anchor:cnnsi.com', 'CNN', 9);
SELECT widecol.put('webtable', 'com.cnn.www', 'anchor:my.look.ca', 'CNN.com', 8);
SELECT widecol.put('webtable', 'com.example.www', 'contents:html', '<html> e', 5);
SELECT widecol.put('webtable', 'com.example.www', 'people:author', 'John Doe', 5);

-- Without a timestamp: the latest of everything.
SELECT results_eq(
  $$SELECT family, encode(qualifier, 'escape'), ts, encode(value, 'escape')
    FROM widecol.get('webtable', 'com.cnn.www')$$,
  $$VALUES ('anchor', 'cnnsi.com', 9::bigint, 'CNN'), ('anchor', 'my.look.ca', 8, 'CNN.com'),
           ('contents', 'html', 6, '<html> 6')$$,
  'the latest of everything: t9, t8, t6');
SELECT is_empty(
  $$SELECT * FROM widecol.get('webtable', 'com.cnn.www', ARRAY['contents:html'], time_range => '[8,9)')$$,
  'contents:html at t8: nothing');
SELECT results_eq(
  $$SELECT ts FROM widecol.get('webtable', 'com.cnn.www', ARRAY['contents:html'], versions => 3)$$,
  ARRAY[6, 5, 3]::bigint[], 'three versions, the newest first');
SELECT results_eq(
  $$SELECT ts FROM widecol.get('webtable', 'com.cnn.www', ARRAY['contents:html'], versions => 2)$$,
  ARRAY[6, 5]::bigint[], 'two versions when two are wanted');
SELECT results_eq(
  $$SELECT ts FROM widecol.get('webtable', 'com.cnn.www', ARRAY['contents:html'], time_range => '[0,6)')$$,
  ARRAY[5]::bigint[], 'the newest before t6');

-- In SQL the host is as people write it, families are maps.
SELECT results_eq(
  $$SELECT host COLLATE "default", html, anchor, people FROM webtable w ORDER BY w.host$$,
  $$VALUES ('www.cnn.com', '<html> 6', '{"cnnsi.com": "CNN", "my.look.ca": "CNN.com"}'::jsonb, NULL::jsonb),
           ('www.example.com', '<html> e', NULL, '{"author": "John Doe"}')$$,
  'rows with families as maps; an empty family is NULL');
SELECT is(html, '<html> 6', 'one page by its host') FROM webtable WHERE host = 'www.cnn.com';
SELECT is(anchor ->> 'cnnsi.com', 'CNN', 'one anchor out of the map') FROM webtable WHERE host = 'www.cnn.com';

-- All hosts of apache.org stand together.
INSERT INTO webtable (host, html)
VALUES ('www.apache.org', 'a'), ('jira.apache.org', 'j'), ('mail.apache.org', 'm'), ('www.apache.com', 'c'),
       ('apache.org', 'o');
SELECT results_eq(
  $$SELECT encode("row", 'escape') FROM widecol.scan('webtable', row_prefix => 'org.apache.')$$,
  ARRAY['org.apache.jira', 'org.apache.mail', 'org.apache.www'], 'a prefix of the key is a domain');
SELECT set_eq($$SELECT host FROM webtable WHERE host LIKE '%.apache.org'$$,
  ARRAY['www.apache.org', 'jira.apache.org', 'mail.apache.org'], 'the same in SQL');

-- A version is deleted, an older one shows; a column is deleted, nothing does.
SELECT widecol.delete_version('webtable', 'com.cnn.www', 'contents:html', 6);
SELECT is(html, '<html> 5', 'the newest version deleted, the one before shows') FROM webtable WHERE host = 'www.cnn.com';
SELECT widecol.delete('webtable', 'com.cnn.www', 'contents:html');
SELECT is(html, NULL, 'the column deleted') FROM webtable WHERE host = 'www.cnn.com';
SELECT is(count(*), 1::bigint, 'the row is still there for its anchors') FROM webtable WHERE host = 'www.cnn.com';
SELECT widecol.deleteall('webtable', 'com.cnn.www');
SELECT is(count(*), 0::bigint, 'the row deleted') FROM webtable WHERE host = 'www.cnn.com';

SELECT * FROM finish();
