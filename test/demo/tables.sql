-- test/demo/tables.sql: the game platform, which player follows which game, in
-- three designs.  Games come and go, so they cannot be columns of a table.

CREATE EXTENSION widecol;

-- Wide: a row a player and day (key player$yyyymmdd), a qualifier a game.
CREATE FOREIGN TABLE prod_focus (
  player text OPTIONS (rowkey '1') COLLATE "C",
  day    text OPTIONS (rowkey '2') COLLATE "C",
  degree jsonb OPTIONS (family 'degree')
) SERVER widecol OPTIONS (table 'prodFocus', delimiter '$');

-- The same stored table again, with one game as a column.
CREATE FOREIGN TABLE prod_focus_dtlegend (
  player text OPTIONS (rowkey '1') COLLATE "C",
  day    text OPTIONS (rowkey '2') COLLATE "C",
  plays  text OPTIONS (family 'degree', qualifier 'DTLegend')
) SERVER widecol OPTIONS (table 'prodFocus', delimiter '$');

-- Tall: a row a game and player (key game$player), a qualifier a day.
CREATE FOREIGN TABLE prod_focus_v2 (
  game   text OPTIONS (rowkey '1') COLLATE "C",
  player text OPTIONS (rowkey '2') COLLATE "C",
  plays  jsonb OPTIONS (family 'cf')
) SERVER widecol OPTIONS (table 'prodFocusV2', delimiter '$');

-- Hashed: the key is md5(game$player) cut to 8 bytes; the original, the game
-- and the player are kept in columns.
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

-- Generated plays, always the same ones: 100,000 days of 20,000 players, two or
-- three of 500 games each day.
CREATE VIEW generated_plays AS
SELECT i % 20000 AS n,
       'Player' || to_char(i % 20000, 'FM00000') AS player,
       to_char(date '2014-09-01' + i % 20000 % 60 + 60 * (i / 20000), 'YYYYMMDD') AS day,
       'Game ' || to_char((i * 7919 + k * 37) % 500, 'FM000') AS game,
       1 + (i + k) % 6 AS plays
FROM generate_series(0, 99999) AS i, generate_series(0, 2) AS k
WHERE k < 2 + i % 2;
