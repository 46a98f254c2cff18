-- test/demo/load.sql: one of :chunks parts of the generated plays, into each of
-- the three designs.  A part has all of a player's plays, since an INSERT says
-- what the whole row is.

BEGIN;

CREATE TEMPORARY TABLE part ON COMMIT DROP AS
SELECT player, day, game, plays FROM generated_plays WHERE n % :chunks = :chunk;

INSERT INTO prod_focus
SELECT player, day, jsonb_object_agg(game, plays) FROM part GROUP BY player, day;

INSERT INTO prod_focus_v2
SELECT game, player, jsonb_object_agg(day, plays) FROM part GROUP BY game, player;

INSERT INTO prod_focus_v3
SELECT game || '$' || player, game, player, jsonb_object_agg(day, plays) FROM part GROUP BY game, player;

COMMIT;
