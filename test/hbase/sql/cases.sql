-- stories (test/01_game.sql, 02, 03, 04 and 10 tell them over the embedded engine)
\getenv port HBASE_GATEWAY
\getenv transport HBASE_TRANSPORT
\getenv protocol HBASE_PROTOCOL
\! python3 gateway.py "$HBASE_BUFFERED" < sql/cases.tables
CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
  OPTIONS (engine 'hbase', host '127.0.0.1', port :'port', transport :'transport', protocol :'protocol');

-- 1. a game platform: which player follows which game; wide, tall, and with a hashed key
CREATE FOREIGN TABLE wide (
  player text OPTIONS (rowkey '1') COLLATE "C",
  day    text OPTIONS (rowkey '2') COLLATE "C",
  degree jsonb OPTIONS (family 'degree')
) SERVER hbase OPTIONS ("table" 'wc_cases:prodFocus', delimiter '$');
CREATE FOREIGN TABLE dtlegend (
  player text OPTIONS (rowkey '1') COLLATE "C",
  day    text OPTIONS (rowkey '2') COLLATE "C",
  plays  text OPTIONS (family 'degree', qualifier 'DTLegend')
) SERVER hbase OPTIONS ("table" 'wc_cases:prodFocus', delimiter '$');
CREATE FOREIGN TABLE tall (
  game   text OPTIONS (rowkey '1') COLLATE "C",
  player text OPTIONS (rowkey '2') COLLATE "C",
  plays  jsonb OPTIONS (family 'cf')
) SERVER hbase OPTIONS ("table" 'wc_cases:prodFocusV2', delimiter '$');
CREATE FOREIGN TABLE hashed (
  game_player text OPTIONS (rowkey '1', encoding 'md5', length '8', family 'cf', qualifier 'key') COLLATE "C",
  game   text OPTIONS (family 'cf'),
  player text OPTIONS (family 'cf'),
  plays  jsonb OPTIONS (family 'day')
) SERVER hbase OPTIONS ("table" 'wc_cases:prodFocusV3');
INSERT INTO wide VALUES
  ('QQ121102645', '20141216', '{"3DARPG": 6, "DTLegend": 1}'), ('WeiXin_295y603765de8', '20140928', '{"DTLegend": 3}'),
  ('ChaoChenYY', '20141109', '{"3CountryBattle": 1, "Forget Xian": 1}'), ('QQ5863976645', '20141214', '{"Frus3D": 2}'),
  ('HeXaoYang', '20140907', '{"Space Hunter": 1, "3CountryBattle": 2, "Frus3D": 1}'), ('FengKe_Tony', '20150216', '{"DTLegend": 1}'),
  ('junping_Jeff', '20141204', '{"Frus3D": 2}'), ('XiaoFenXia', '20150716', '{"Forget Xian": 3}');
INSERT INTO tall VALUES
  ('3DARPG', 'QQ121102645', '{"20141224": 6}'), ('DTLegend', 'QQ121102645', '{"20141216": 1}'),
  ('DTLegend', 'WeiXin_295y603765de8', '{"20141212": 3}'), ('3CountryBattle', 'ChaoChenYY', '{"20141214": 2}'),
  ('Frus3D', 'QQ5863976645', '{"20150906": 2}'), ('Space Hunter', 'HeXaoYang', '{"20140907": 1}'),
  ('3CountryBattle', 'HeXiaoYang', '{"20140907": 2}'), ('Frus3D', 'HexiaoYang', '{"20140907": 1}'),
  ('DTLegend', 'FengKe_Tony', '{"20150216": 1}'), ('Frus3D', 'junping_Jeff', '{"20141204": 2}'), ('Forget Xian', 'XiaoFenXia', '{"20150716": 3}');
INSERT INTO hashed SELECT game || '$' || player, game, player, plays FROM tall;
-- which games does QQ121102645 follow?
SELECT DISTINCT jsonb_object_keys(degree) AS game FROM wide WHERE player = 'QQ121102645' ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT degree FROM wide WHERE player = 'QQ121102645';
SELECT game FROM tall WHERE player = 'QQ121102645';
SELECT game FROM hashed WHERE player = 'QQ121102645' ORDER BY game;
-- did this player play 3CountryBattle?
SELECT EXISTS (SELECT FROM wide WHERE player = 'QQ121102645' AND degree ? '3CountryBattle') AS wide,
  EXISTS (SELECT FROM tall WHERE game = '3CountryBattle' AND player = 'QQ121102645') AS tall,
  EXISTS (SELECT FROM hashed WHERE game_player = '3CountryBattle$QQ121102645') AS hashed;
EXPLAIN (COSTS OFF) SELECT plays FROM tall WHERE game = '3CountryBattle' AND player = 'QQ121102645';
-- which players follow DTLegend?
SELECT player FROM dtlegend WHERE plays IS NOT NULL;
SELECT player FROM tall WHERE game = 'DTLegend';
SELECT player FROM hashed WHERE game = 'DTLegend' ORDER BY player;
-- was 3CountryBattle ever followed?
SELECT EXISTS (SELECT FROM wide WHERE degree ? '3CountryBattle') AS wide, EXISTS (SELECT FROM tall WHERE game = '3CountryBattle') AS tall,
  EXISTS (SELECT FROM hashed WHERE game = '3CountryBattle') AS hashed;
-- a game goes, another comes
UPDATE wide SET degree = degree - 'Frus3D' || '{"New Game": 4}' WHERE player = 'HeXaoYang';
SELECT degree FROM wide WHERE player = 'HeXaoYang';

-- 2. webtable: reversed domains, versions by time; it moves to the embedded engine and back with its versions
CREATE FOREIGN TABLE webtable (
  host   text OPTIONS (rowkey '1', encoding 'reversed_domain') COLLATE "C",
  html   text  OPTIONS (family 'contents', qualifier 'html'),
  anchor jsonb OPTIONS (family 'anchor'),
  people jsonb OPTIONS (family 'people')
) SERVER hbase OPTIONS ("table" 'wc_cases:webtable');
CREATE FOREIGN TABLE webcells ("row" text COLLATE "C", family text COLLATE "C", qualifier text COLLATE "C", ts bigint, value bytea)
  SERVER hbase OPTIONS ("table" 'wc_cases:webtable', layout 'cell');
SELECT widecol.create_table('wc_cases_web', '{"contents": {"versions": 3}, "anchor": {"versions": 3}, "people": {"versions": 3}}');
CREATE FOREIGN TABLE localcells ("row" text COLLATE "C", family text COLLATE "C", qualifier text COLLATE "C", ts bigint, value bytea)
  SERVER widecol OPTIONS ("table" 'wc_cases_web', layout 'cell');
INSERT INTO localcells VALUES ('com.cnn.www', 'contents', 'html', 3000, '<html> 3'), ('com.cnn.www', 'contents', 'html', 5000, '<html> 5'),
  ('com.cnn.www', 'contents', 'html', 6000, '<html> 6'), ('com.cnn.www', 'anchor', 'cnnsi.com', 9000, 'CNN'),
  ('com.cnn.www', 'anchor', 'my.look.ca', 8000, 'CNN.com'), ('com.example.www', 'contents', 'html', 5000, '<html> e'),
  ('com.example.www', 'people', 'author', 5000, 'John Doe');
INSERT INTO webcells SELECT * FROM localcells;
-- the latest of everything, and contents:html at t8
SELECT DISTINCT ON ("row", family, qualifier) "row", family, qualifier, ts, convert_from(value, 'UTF8') AS value FROM webcells
  ORDER BY "row", family, qualifier, ts DESC;
SELECT * FROM webcells WHERE "row" = 'com.cnn.www' AND family = 'contents' AND ts = 8000;
SELECT ts FROM webcells WHERE "row" = 'com.cnn.www' AND family = 'contents' AND qualifier = 'html';
SELECT * FROM webtable;
SELECT anchor ->> 'cnnsi.com' AS anchor FROM webtable WHERE host = 'www.cnn.com';
INSERT INTO webtable (host, html)
  VALUES ('www.apache.org', 'a'), ('jira.apache.org', 'j'), ('mail.apache.org', 'm'), ('www.apache.com', 'c'), ('apache.org', 'o');
SELECT host FROM webtable WHERE host LIKE '%.apache.org';
SELECT DISTINCT "row" FROM webcells WHERE "row" LIKE 'org.apache.%' ORDER BY 1;
-- and back
SELECT widecol.create_table('wc_cases_back', '{"contents": {"versions": 3}, "anchor": {"versions": 3}, "people": {"versions": 3}}');
CREATE FOREIGN TABLE backcells ("row" text COLLATE "C", family text COLLATE "C", qualifier text COLLATE "C", ts bigint, value bytea)
  SERVER widecol OPTIONS ("table" 'wc_cases_back', layout 'cell');
INSERT INTO backcells SELECT * FROM webcells;
SELECT count(*) FROM backcells;
SELECT * FROM webcells EXCEPT SELECT * FROM backcells;
SELECT * FROM localcells EXCEPT SELECT * FROM backcells;
-- versions of one millisecond do not fit
INSERT INTO localcells VALUES ('com.cnn.www', 'contents', 'html', 6001, 'later');
INSERT INTO webcells SELECT * FROM localcells;
-- a version is deleted, an older one shows; the column, the row
DELETE FROM webcells WHERE "row" = 'com.cnn.www' AND family = 'contents' AND ts = 6000;
SELECT html FROM webtable WHERE host = 'www.cnn.com';
UPDATE webtable SET html = NULL WHERE host = 'www.cnn.com';
SELECT * FROM webtable WHERE host = 'www.cnn.com';
DELETE FROM webtable WHERE host = 'www.cnn.com';
SELECT count(*) FROM webtable WHERE host = 'www.cnn.com';

-- 3. emp: cells put, replaced and deleted
CREATE FOREIGN TABLE emp (
  id text OPTIONS (rowkey '1') COLLATE "C",
  name text OPTIONS (family 'personal'), city text OPTIONS (family 'personal'),
  designation text OPTIONS (family 'professional'), salary text OPTIONS (family 'professional')
) SERVER hbase OPTIONS ("table" 'wc_cases:emp');
CREATE FOREIGN TABLE empcells (row text COLLATE "C", family text, qualifier text, ts bigint, type text, value text) SERVER hbase
  OPTIONS ("table" 'wc_cases:emp', layout 'cell');
CREATE FOREIGN TABLE empstored (row text COLLATE "C", family text, qualifier text, ts bigint, type text, value text) SERVER hbase
  OPTIONS ("table" 'wc_cases:emp', layout 'cell', raw 'true');
INSERT INTO empcells (row, family, qualifier, ts, value) VALUES
  ('1', 'personal', 'city', 1417521848375000, 'hyderabad'), ('1', 'personal', 'name', 1417521785385000, 'ramu'),
  ('1', 'professional', 'designation', 1417521885277000, 'manager'), ('1', 'professional', 'salary', 1417521903862000, '50000'),
  ('2', 'personal', 'city', 1417524574905000, 'chennai'), ('2', 'personal', 'name', 1417524556125000, 'ravi'),
  ('2', 'professional', 'designation', 1417524204000, 'sr:engg'), ('2', 'professional', 'salary', 1417524604221000, '30000'),
  ('3', 'personal', 'city', 1417524681780000, 'delhi'), ('3', 'personal', 'name', 1417524672067000, 'rajesh'),
  ('3', 'professional', 'designation', 1417523187000, 'jr:engg'), ('3', 'professional', 'salary', 1417524702514000, '25000');
SELECT family, qualifier, ts, value FROM empcells WHERE row = '1';
SELECT * FROM emp;
UPDATE emp SET city = 'pune' WHERE id = '3';
INSERT INTO empcells (row, family, qualifier, ts, value) VALUES ('3', 'personal', 'city', 5000, 'long ago');
SELECT city FROM emp WHERE id = '3';
-- a cell at its timestamp; each version up to a time; all of a row
DELETE FROM empcells WHERE row = '1' AND qualifier = 'city' AND ts = 1417521848374000;
SELECT city FROM emp WHERE id = '1';
DELETE FROM empcells WHERE row = '1' AND qualifier = 'city' AND ts = 1417521848375000;
INSERT INTO empcells (row, family, qualifier, ts, type) VALUES ('1', 'professional', 'salary', 1417521903862000, 'DeleteColumn');
SELECT * FROM emp WHERE id = '1';
DELETE FROM emp WHERE id = '1';
SELECT * FROM emp;
SELECT row, family, ts, type FROM empstored WHERE row = '1' AND type = 'DeleteFamily';
INSERT INTO empcells (row, family, qualifier, ts, value) VALUES ('1', 'personal', 'name', 1417521785384000, 'before');
SELECT * FROM emp WHERE id = '1';
\! curl -sS "$HBASE_CONTROL/flush?t=wc_cases:emp"
\! curl -sS "$HBASE_CONTROL/major?t=wc_cases:emp"
SELECT * FROM empstored WHERE row = '1';
INSERT INTO empcells (row, family, qualifier, ts, value) VALUES ('1', 'personal', 'name', 1417521785384000, 'before');
SELECT * FROM emp WHERE id = '1';

-- 4. paging: userid | stamp desc | actionid
CREATE FOREIGN TABLE useractions (
  userid int OPTIONS (rowkey '1'), stamp bigint OPTIONS (rowkey '2', sort 'desc'), actionid int OPTIONS (rowkey '3'),
  name text OPTIONS (family 'content', qualifier 'name')
) SERVER hbase OPTIONS ("table" 'wc_cases:useractions');
INSERT INTO useractions SELECT u, 1000 + i, i, 'u' || u || '-a' || lpad(i::text, 2, '0') FROM generate_series(1, 3) u, generate_series(0, 99) i;
EXPLAIN (COSTS OFF) SELECT actionid, name FROM useractions WHERE userid = 1 ORDER BY stamp DESC LIMIT 10 OFFSET 20;
SELECT actionid, name FROM useractions WHERE userid = 1 ORDER BY stamp DESC LIMIT 10 OFFSET 20;
-- the next page and the previous one, by the last key seen
SELECT array_agg(actionid) FROM (SELECT actionid FROM useractions WHERE userid = 1 AND stamp < 1070 ORDER BY stamp DESC LIMIT 10) p;
EXPLAIN (COSTS OFF) SELECT actionid FROM useractions WHERE userid = 1 AND stamp > 1070 ORDER BY stamp LIMIT 10;
SELECT array_agg(actionid) FROM (SELECT actionid FROM useractions WHERE userid = 1 AND stamp > 1070 ORDER BY stamp LIMIT 10) p;
-- never into the next user
SELECT array_agg(actionid) FROM (SELECT actionid FROM useractions WHERE userid = 1 ORDER BY stamp DESC LIMIT 10 OFFSET 95) p;
SELECT actionid FROM useractions WHERE userid = 1 ORDER BY stamp DESC LIMIT 10 OFFSET 100;
-- by a cursor
BEGIN;
DECLARE pages CURSOR FOR SELECT actionid FROM useractions WHERE userid = 2 ORDER BY stamp DESC;
FETCH 3 FROM pages;
MOVE 90 FROM pages;
FETCH 10 FROM pages;
COMMIT;

-- 10. customers and orders: record types in one table
CREATE FOREIGN TABLE customer (
  customer int OPTIONS (rowkey '1'),
  kind text OPTIONS (rowkey '2', length '1') COLLATE "C" GENERATED ALWAYS AS ('1') STORED,
  name text, city text
) SERVER hbase OPTIONS ("table" 'wc_cases:shop');
CREATE FOREIGN TABLE orders (
  customer int OPTIONS (rowkey '1'),
  kind text OPTIONS (rowkey '2', length '1') COLLATE "C" CHECK (kind = '2') DEFAULT '2',
  ordno int OPTIONS (rowkey '3'),
  day date, doc jsonb OPTIONS (qualifier 'doc')
) SERVER hbase OPTIONS ("table" 'wc_cases:shop');
CREATE FOREIGN TABLE shop ("row" bytea, qualifier text COLLATE "C", value text) SERVER hbase OPTIONS ("table" 'wc_cases:shop', layout 'cell');
INSERT INTO orders (customer, ordno, day, doc) SELECT c, o, '2026-01-01'::date + o, jsonb_build_object('town', 'Ulm', 'pieces', c * o)
  FROM generate_series(1, 50) c, generate_series(1, 6) o WHERE (c + o) % 5 > 0;
INSERT INTO customer (customer, name, city) SELECT c, 'customer ' || c, (ARRAY['Berlin', 'Hamburg', 'Ulm'])[1 + c % 3] FROM generate_series(1, 50) c;
SELECT (SELECT count(*) FROM customer) AS customers, (SELECT count(*) FROM orders) AS orders, (SELECT count(DISTINCT "row") FROM shop) AS rows;
EXPLAIN (COSTS OFF) SELECT * FROM shop WHERE "row" >= '\x80000007' AND "row" < '\x80000008';
SELECT * FROM shop WHERE "row" >= '\x80000007' AND "row" < '\x80000008' AND qualifier <> 'doc';
EXPLAIN (COSTS OFF) SELECT name FROM customer WHERE customer = 7;
SELECT name, city FROM customer WHERE customer = 7;
EXPLAIN (COSTS OFF) SELECT ordno, doc FROM orders WHERE customer = 7 ORDER BY ordno DESC LIMIT 1;
SELECT ordno, doc FROM orders WHERE customer = 7 ORDER BY ordno DESC LIMIT 1;
SELECT city, sum((doc ->> 'pieces')::int) FROM customer JOIN orders USING (customer) GROUP BY city ORDER BY city;
INSERT INTO orders (customer, kind, ordno) VALUES (1, '1', 1);
BEGIN;
UPDATE customer SET city = 'Bremen' WHERE customer = 7;
DELETE FROM orders WHERE customer = 7 AND ordno = 1;
INSERT INTO orders (customer, ordno, day) VALUES (7, 9, '2026-03-01');
SELECT city, array_agg(ordno ORDER BY ordno) FROM customer JOIN orders USING (customer) WHERE customer = 7 GROUP BY city;
DELETE FROM orders;
SELECT (SELECT count(*) FROM customer) AS customers, (SELECT count(*) FROM orders) AS orders;
ROLLBACK;
SELECT city, array_agg(ordno ORDER BY ordno) FROM customer JOIN orders USING (customer) WHERE customer = 7 GROUP BY city;

DROP SERVER hbase CASCADE;
DROP FOREIGN TABLE localcells, backcells;
SELECT widecol.drop_table('wc_cases_web'), widecol.drop_table('wc_cases_back');
