-- Case 1, the game platform: which player follows which game, in three designs,
-- and the four questions people ask.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION pgtap;
CREATE EXTENSION widecol;

SELECT plan(24);

-- Does the plan of a query have a line like this?
CREATE FUNCTION plan_has(query text, pattern text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ pattern THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;

CREATE FOREIGN TABLE prod_focus (
  player text OPTIONS (rowkey '1') COLLATE "C",
  day    text OPTIONS (rowkey '2') COLLATE "C",
  degree jsonb OPTIONS (family 'degree')
) SERVER widecol OPTIONS (table 'prodFocus', delimiter '$');

CREATE FOREIGN TABLE prod_focus_dtlegend (
  player text OPTIONS (rowkey '1') COLLATE "C",
  day    text OPTIONS (rowkey '2') COLLATE "C",
  plays  text OPTIONS (family 'degree', qualifier 'DTLegend')
) SERVER widecol OPTIONS (table 'prodFocus', delimiter '$');

CREATE FOREIGN TABLE prod_focus_v2 (
  game   text OPTIONS (rowkey '1') COLLATE "C",
  player text OPTIONS (rowkey '2') COLLATE "C",
  plays  jsonb OPTIONS (family 'cf')
) SERVER widecol OPTIONS (table 'prodFocusV2', delimiter '$');

CREATE FOREIGN TABLE prod_focus_v3 (
  game_player text OPTIONS (rowkey '1', encoding 'md5', length '8', family 'cf', qualifier 'key') COLLATE "C",
  game        text OPTIONS (family 'cf'),
  player      text OPTIONS (family 'cf'),
  plays       jsonb OPTIONS (family 'day')
) SERVER widecol OPTIONS (table 'prodFocusV3');

INSERT INTO prod_focus VALUES
  ('QQ121102645', '20141216', '{"3DARPG": 6, "DTLegend": 1}'),
  ('WeiXin_295y603765de8', '20140928', '{"DTLegend": 3}'),
  ('ChaoChenYY', '20141109', '{"3CountryBattle": 1, "Forget Xian": 1}'),
  ('QQ5863976645', '20141214', '{"Frus3D": 2}'),
  ('HeXaoYang', '20140907', '{"Space Hunter": 1, "3CountryBattle": 2, "Frus3D": 1}'),
  ('FengKe_Tony', '20150216', '{"DTLegend": 1}'),
  ('junping_Jeff', '20141204', '{"Frus3D": 2}'),
  ('XiaoFenXia', '20150716', '{"Forget Xian": 3}');

INSERT INTO prod_focus_v2 VALUES
  ('3DARPG', 'QQ121102645', '{"20141224": 6}'),
  ('DTLegend', 'QQ121102645', '{"20141216": 1}'),
  ('DTLegend', 'WeiXin_295y603765de8', '{"20141212": 3}'),
  ('3CountryBattle', 'ChaoChenYY', '{"20141214": 2}'),
  ('Frus3D', 'QQ5863976645', '{"20150906": 2}'),
  ('Space Hunter', 'HeXaoYang', '{"20140907": 1}'),
  ('3CountryBattle', 'HeXiaoYang', '{"20140907": 2}'),
  ('Frus3D', 'HexiaoYang', '{"20140907": 1}'),
  ('DTLegend', 'FengKe_Tony', '{"20150216": 1}'),
  ('Frus3D', 'junping_Jeff', '{"20141204": 2}'),
  ('Forget Xian', 'XiaoFenXia', '{"20150716": 3}');

INSERT INTO prod_focus_v3
SELECT game || '$' || player, game, player, plays FROM prod_focus_v2;

SELECT is(count(*), 8::bigint, 'wide: eight rows') FROM prod_focus;
SELECT is(count(*), 11::bigint, 'tall: eleven rows') FROM prod_focus_v2;
SELECT is(count(*), 11::bigint, 'hashed: eleven rows') FROM prod_focus_v3;

-- 1. Which games does QQ121102645 follow?
SELECT set_eq($$SELECT DISTINCT jsonb_object_keys(degree) FROM prod_focus WHERE player = 'QQ121102645'$$,
              ARRAY['3DARPG', 'DTLegend'], 'question 1, wide');
SELECT ok(plan_has($$SELECT degree FROM prod_focus WHERE player = 'QQ121102645'$$, 'Start Row'),
          'question 1, wide, is a range');
SELECT ok(NOT plan_has($$SELECT degree FROM prod_focus WHERE player = 'QQ121102645'$$, 'FULL SCAN'),
          'question 1, wide, is no full scan');
SELECT set_eq($$SELECT game FROM prod_focus_v2 WHERE player = 'QQ121102645'$$,
              ARRAY['3DARPG', 'DTLegend'], 'question 1, tall');
SELECT set_eq($$SELECT game FROM prod_focus_v3 WHERE player = 'QQ121102645'$$,
              ARRAY['3DARPG', 'DTLegend'], 'question 1, hashed');
SELECT set_eq($$SELECT player FROM prod_focus WHERE player LIKE 'QQ%'$$,
              ARRAY['QQ121102645', 'QQ5863976645'], 'a prefix of the player');
SELECT ok(plan_has($$SELECT player FROM prod_focus WHERE player LIKE 'QQ%'$$, 'Start Row'),
          'a prefix of the player is a range');

-- 2. Did QQ121102645 play 3CountryBattle?
SELECT ok(NOT EXISTS (SELECT FROM prod_focus WHERE player = 'QQ121102645' AND degree ? '3CountryBattle'),
          'question 2, wide');
SELECT ok(NOT EXISTS (SELECT FROM prod_focus_v2 WHERE game = '3CountryBattle' AND player = 'QQ121102645'),
          'question 2, tall');
SELECT ok(plan_has($$SELECT plays FROM prod_focus_v2 WHERE game = '3CountryBattle' AND player = 'QQ121102645'$$,
                   'POINT LOOKUP'), 'question 2, tall, is a Get');
SELECT ok(NOT EXISTS (SELECT FROM prod_focus_v3 WHERE game_player = '3CountryBattle$QQ121102645'),
          'question 2, hashed');
SELECT ok(plan_has($$SELECT plays FROM prod_focus_v3 WHERE game_player = '3CountryBattle$QQ121102645'$$,
                   'POINT LOOKUP'), 'question 2, hashed, is a Get');

-- 3. Which players follow DTLegend?
SELECT set_eq($$SELECT player FROM prod_focus_dtlegend WHERE plays IS NOT NULL$$,
              ARRAY['QQ121102645', 'WeiXin_295y603765de8', 'FengKe_Tony'], 'question 3, wide');
SELECT results_eq($$SELECT player COLLATE "default" FROM prod_focus_v2 v WHERE game = 'DTLegend' ORDER BY v.player$$,
                  ARRAY['FengKe_Tony', 'QQ121102645', 'WeiXin_295y603765de8'], 'question 3, tall, in order');
SELECT ok(plan_has($$SELECT player FROM prod_focus_v2 WHERE game = 'DTLegend'$$, 'Stop Row'),
          'question 3, tall, is a range');
SELECT set_eq($$SELECT player FROM prod_focus_v3 WHERE game = 'DTLegend'$$,
              ARRAY['FengKe_Tony', 'QQ121102645', 'WeiXin_295y603765de8'], 'question 3, hashed');

-- 4. Was 3CountryBattle ever followed?
SELECT ok(EXISTS (SELECT FROM prod_focus WHERE degree ? '3CountryBattle'), 'question 4, wide');
SELECT ok(EXISTS (SELECT FROM prod_focus_v2 WHERE game = '3CountryBattle'), 'question 4, tall');
SELECT ok(EXISTS (SELECT FROM prod_focus_v3 WHERE game = '3CountryBattle'), 'question 4, hashed');

-- The bytes are HBase's: player$yyyymmdd, a qualifier a game, plays as text.
SELECT results_eq(
  $$SELECT encode("row", 'escape'), family, encode(qualifier, 'escape'), encode(value, 'escape')
    FROM widecol.get('prod_focus', 'HeXaoYang$20140907')$$,
  $$VALUES ('HeXaoYang$20140907', 'degree', '3CountryBattle', '2'),
           ('HeXaoYang$20140907', 'degree', 'Frus3D', '1'),
           ('HeXaoYang$20140907', 'degree', 'Space Hunter', '1')$$,
  'the cells of a row are in the order of their qualifiers');

-- A game goes, another comes: only a map changes.
UPDATE prod_focus SET degree = degree - 'Frus3D' || '{"New Game": 4}' WHERE player = 'HeXaoYang';
SELECT is(degree, '{"New Game": "4", "Space Hunter": "1", "3CountryBattle": "2"}'::jsonb,
          'games come and go without DDL') FROM prod_focus WHERE player = 'HeXaoYang';

SELECT * FROM finish();
