-- Case 9, link history: what links a page had when it was crawled, and from that
-- when each was new, modified, deleted.  Written without reading, derived in SQL.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(12);

-- A link is from:to; every crawl that sees it writes its anchor's text and the
-- day, both as a version at that day.
CREATE FOREIGN TABLE links (
  source text OPTIONS (rowkey '1') COLLATE "C",
  target text OPTIONS (rowkey '2') COLLATE "C",
  anchor text OPTIONS (family 'anchor', qualifier 'text'),
  day    int  OPTIONS (family 'ts', qualifier 'day', encoding 'text')
) SERVER widecol OPTIONS (delimiter ':', families '{"anchor": {"versions": 1000, "packing": "cell"}, "ts": {"versions": 1000, "packing": "cell"}}');

CREATE FOREIGN TABLE link_versions (
  source  text OPTIONS (rowkey '1') COLLATE "C",
  target  text OPTIONS (rowkey '2') COLLATE "C",
  anchors widecol.version[] OPTIONS (family 'anchor', qualifier 'text', versions '1000')
) SERVER widecol OPTIONS (table 'links', delimiter ':');

CREATE FOREIGN TABLE link_cells ("row" text, family text, qualifier text, ts bigint, value text)
  SERVER widecol OPTIONS (table 'links', layout 'cell');

-- The days on which a page was crawled, as versions of one cell.
CREATE FOREIGN TABLE crawls (
  page text OPTIONS (rowkey '1') COLLATE "C",
  days widecol.version[] OPTIONS (family 'ts', qualifier 'crawled', versions '1000')
) SERVER widecol OPTIONS (families '{"ts": {"versions": 1000, "packing": "cell"}}');

CREATE TABLE seen (source text, target text, day int, anchor text);
INSERT INTO seen VALUES
  ('a.org', 'x.org', 1, 'X'), ('a.org', 'x.org', 3, 'X!'),	-- absent, value, value, absent
  ('a.org', 'y.org', 0, 'Y'), ('a.org', 'y.org', 1, 'Y'), ('a.org', 'y.org', 3, 'Y'), ('a.org', 'y.org', 4, 'Y'),
  ('a.org', 'z.org', 0, 'Z'), ('a.org', 'z.org', 3, 'Z'),		-- goes and comes again
  ('b.org', 'x.org', 2, 'bX');
CREATE TABLE crawled (page text, day int);
INSERT INTO crawled SELECT 'a.org', unnest(ARRAY[0, 1, 3, 4]) UNION ALL SELECT 'b.org', unnest(ARRAY[2, 5]);

-- The days arrive in any order: a version is where its timestamp says.
SELECT widecol.put('links', (source || ':' || target)::bytea, 'anchor:text', anchor::bytea, day),
       widecol.put('links', (source || ':' || target)::bytea, 'ts:day', day::text::bytea, day)
FROM seen ORDER BY anchor DESC, day % 2, day;
SELECT widecol.put('crawls', page::bytea, 'ts:crawled', '', day) FROM crawled ORDER BY day % 3;

SELECT results_eq($$SELECT source COLLATE "default", target COLLATE "default", anchor, day FROM links l ORDER BY l.source, l.target$$,
  $$VALUES ('a.org', 'x.org', 'X!', 3), ('a.org', 'y.org', 'Y', 4), ('a.org', 'z.org', 'Z', 3), ('b.org', 'x.org', 'bX', 2)$$,
  'the latest version of every link');
SELECT results_eq($$SELECT v.ts, encode(v.value, 'escape') FROM link_versions, unnest(anchors) v WHERE source = 'a.org' AND target = 'x.org'$$,
  $$VALUES (3::bigint, 'X!'), (1, 'X')$$, 'all versions of one link, the newest first');
SELECT results_eq($$SELECT ts, value FROM link_cells WHERE "row" = 'a.org:x.org' AND family = 'anchor'$$,
  $$VALUES (3::bigint, 'X!'), (1, 'X')$$, 'the same as cells');
SELECT results_eq($$SELECT "row", value FROM link_cells WHERE family = 'anchor' AND ts = 3$$,
  $$VALUES ('a.org:x.org', 'X!'), ('a.org:y.org', 'Y'), ('a.org:z.org', 'Z')$$, 'what the crawl of one day saw');
SELECT results_eq($$SELECT value FROM link_cells WHERE "row" = 'a.org:x.org' AND family = 'anchor' AND ts < 3$$,
  ARRAY['X'], 'a condition on ts filters all that is visible');

-- On each day the source was crawled the link was there or not; with the crawl
-- before that gives its state.
CREATE VIEW link_states AS
WITH presence AS (
  SELECT l.source COLLATE "default" AS source, l.target COLLATE "default" AS target, d.ts AS day, encode(a.value, 'escape') AS anchor,
         a.ts IS NOT NULL AS there,
         lag(a.ts IS NOT NULL, 1, false) OVER (PARTITION BY l.source, l.target ORDER BY d.ts) AS before
  FROM link_versions l
  JOIN crawls c ON c.page = l.source
  CROSS JOIN LATERAL unnest(c.days) d
  LEFT JOIN LATERAL unnest(l.anchors) a ON a.ts = d.ts
)
SELECT source, target, day, anchor, CASE WHEN there AND before THEN 'mod' WHEN there THEN 'new' ELSE 'del' END AS state
FROM presence WHERE there OR before;

SELECT results_eq($$SELECT day, state, anchor FROM link_states WHERE source = 'a.org' AND target = 'x.org' ORDER BY day$$,
  $$VALUES (1::bigint, 'new', 'X'), (3, 'mod', 'X!'), (4, 'del', NULL)$$, 'absent, value, value, absent: new, mod, del');
SELECT results_eq($$SELECT day, state FROM link_states WHERE source = 'a.org' AND target = 'y.org' ORDER BY day$$,
  $$VALUES (0::bigint, 'new'), (1, 'mod'), (3, 'mod'), (4, 'mod')$$, 'a link that stays');
SELECT results_eq($$SELECT day, state FROM link_states WHERE source = 'a.org' AND target = 'z.org' ORDER BY day$$,
  $$VALUES (0::bigint, 'new'), (1, 'del'), (3, 'new'), (4, 'del')$$, 'a link that goes and comes again');
SELECT results_eq($$SELECT source, count(*) FROM link_states WHERE state = 'del' GROUP BY 1 ORDER BY 1$$,
  $$VALUES ('a.org', 3::bigint), ('b.org', 1)$$, 'how often links of a host went');

-- The same from files, and one more crawl on top of them.
CREATE TABLE states_before AS SELECT * FROM link_states;
SELECT widecol.flush(t), widecol.major_compact(t) FROM unnest(ARRAY['links', 'crawls']) t;
SELECT bag_eq('SELECT * FROM link_states', 'SELECT * FROM states_before', 'a compaction changes nothing');
SELECT widecol.put('links', 'a.org:x.org', 'anchor:text', 'X again', 6), widecol.put('crawls', 'a.org', 'ts:crawled', '', 6);
SELECT results_eq($$SELECT target, state FROM link_states WHERE source = 'a.org' AND day = 6 ORDER BY 1$$,
  $$VALUES ('x.org', 'new'), ('y.org', 'del')$$, 'a crawl makes states of all the links of its page');
SELECT results_eq($$SELECT state, count(*) FROM link_states GROUP BY 1 ORDER BY 1$$,
  $$VALUES ('del', 5::bigint), ('mod', 4), ('new', 6)$$, 'all states');

SELECT * FROM finish();
