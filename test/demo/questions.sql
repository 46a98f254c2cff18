-- test/demo/questions.sql: four questions to three designs, with their plans.

\pset footer off
\timing on

\echo
\echo '--- what there is'
SELECT (SELECT count(*) FROM prod_focus) AS wide_rows,
       (SELECT count(*) FROM prod_focus, jsonb_object_keys(degree)) AS wide_plays,
       (SELECT count(*) FROM prod_focus_v2) AS tall_rows,
       (SELECT count(*) FROM prod_focus_v2, jsonb_object_keys(plays)) AS tall_plays,
       (SELECT count(*) FROM prod_focus_v3) AS hashed_rows;

\echo
\echo '=== 1. Which games does QQ121102645 follow?'
\echo '--- wide: a range of rows, those whose key starts with the player'
EXPLAIN (COSTS OFF)
SELECT DISTINCT jsonb_object_keys(degree) AS game FROM prod_focus WHERE player = 'QQ121102645' ORDER BY 1;
SELECT DISTINCT jsonb_object_keys(degree) AS game FROM prod_focus WHERE player = 'QQ121102645' ORDER BY 1;
\echo '--- tall: the key starts with the game, so every row is looked at'
EXPLAIN (COSTS OFF)
SELECT game FROM prod_focus_v2 WHERE player = 'QQ121102645' ORDER BY game;
SELECT game FROM prod_focus_v2 WHERE player = 'QQ121102645' ORDER BY game;
\echo '--- hashed: every row is looked at'
EXPLAIN (COSTS OFF)
SELECT game FROM prod_focus_v3 WHERE player = 'QQ121102645' ORDER BY game;
SELECT game FROM prod_focus_v3 WHERE player = 'QQ121102645' ORDER BY game;

\echo
\echo '=== 2. Did QQ121102645 play 3CountryBattle?'
\echo '--- wide: the range of the player'
EXPLAIN (COSTS OFF)
SELECT EXISTS (SELECT FROM prod_focus WHERE player = 'QQ121102645' AND degree ? '3CountryBattle') AS played;
SELECT EXISTS (SELECT FROM prod_focus WHERE player = 'QQ121102645' AND degree ? '3CountryBattle') AS played;
\echo '--- tall: a Get'
EXPLAIN (COSTS OFF)
SELECT EXISTS (SELECT FROM prod_focus_v2 WHERE game = '3CountryBattle' AND player = 'QQ121102645') AS played;
SELECT EXISTS (SELECT FROM prod_focus_v2 WHERE game = '3CountryBattle' AND player = 'QQ121102645') AS played;
\echo '--- hashed: a Get'
EXPLAIN (COSTS OFF)
SELECT EXISTS (SELECT FROM prod_focus_v3 WHERE game_player = '3CountryBattle$QQ121102645') AS played;
SELECT EXISTS (SELECT FROM prod_focus_v3 WHERE game_player = '3CountryBattle$QQ121102645') AS played;

\echo
\echo '=== 3. Which players follow DTLegend?'
\echo '--- wide: a full scan that reads one qualifier'
EXPLAIN (COSTS OFF)
SELECT DISTINCT player FROM prod_focus_dtlegend WHERE plays IS NOT NULL ORDER BY player;
SELECT DISTINCT player FROM prod_focus_dtlegend WHERE plays IS NOT NULL ORDER BY player;
\echo '--- tall: a range'
EXPLAIN (COSTS OFF)
SELECT player FROM prod_focus_v2 WHERE game = 'DTLegend' ORDER BY player;
SELECT player FROM prod_focus_v2 WHERE game = 'DTLegend' ORDER BY player;
\echo '--- hashed: every row is looked at'
EXPLAIN (COSTS OFF)
SELECT player FROM prod_focus_v3 WHERE game = 'DTLegend' ORDER BY player;
SELECT player FROM prod_focus_v3 WHERE game = 'DTLegend' ORDER BY player;

\echo
\echo '=== 4. Was 3CountryBattle ever followed?'
\echo '--- wide: rows until the first that has it'
EXPLAIN (COSTS OFF)
SELECT EXISTS (SELECT FROM prod_focus WHERE degree ? '3CountryBattle') AS followed;
SELECT EXISTS (SELECT FROM prod_focus WHERE degree ? '3CountryBattle') AS followed;
\echo '--- tall: one row of a range'
EXPLAIN (COSTS OFF)
SELECT EXISTS (SELECT FROM prod_focus_v2 WHERE game = '3CountryBattle') AS followed;
SELECT EXISTS (SELECT FROM prod_focus_v2 WHERE game = '3CountryBattle') AS followed;
\echo '--- hashed: rows until the first that has it'
EXPLAIN (COSTS OFF)
SELECT EXISTS (SELECT FROM prod_focus_v3 WHERE game = '3CountryBattle') AS followed;
SELECT EXISTS (SELECT FROM prod_focus_v3 WHERE game = '3CountryBattle') AS followed;
