-- What PostgreSQL lets people do with tables gives the answers that heap tables give.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA as_tables;
SET search_path = as_tables, public;

-- A BEFORE trigger that changes the row, or one whose turn is yet to come, by another statement
CREATE FOREIGN TABLE tree (id int OPTIONS (rowkey '1'), parent int, label text, children int DEFAULT 0)
  SERVER widecol OPTIONS (table 'as_tables');
INSERT INTO tree VALUES (9, NULL, 'root', 2), (2, 9, 'left', 0), (3, 9, 'right', 0);
CREATE FUNCTION tree_del() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tree SET children = children - 1 WHERE id = old.parent;
  RETURN old;
END $$;
CREATE TRIGGER tree_del BEFORE DELETE ON tree FOR EACH ROW EXECUTE FUNCTION tree_del();
DELETE FROM tree WHERE id = 3;
DELETE FROM tree;
SELECT * FROM tree ORDER BY id;
DELETE FROM tree WHERE id = 2;
SELECT * FROM tree ORDER BY id;

CREATE FUNCTION tree_upd() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.label = 'self' THEN
    UPDATE tree SET children = 99 WHERE id = old.id;
  ELSIF new.label = 'gone' THEN
    DELETE FROM tree WHERE id = old.id;
  ELSIF new.label = 'moved' THEN
    UPDATE tree SET id = 7 WHERE id = old.id;
  ELSIF new.label = 'skipped' THEN
    UPDATE tree SET children = 50 WHERE id = old.id;
    RETURN NULL;
  ELSIF new.label = 'undone' THEN
    BEGIN
      UPDATE tree SET children = 99 WHERE id = old.id;
      RAISE division_by_zero;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
  END IF;
  RETURN new;
END $$;
DROP TRIGGER tree_del ON tree;
INSERT INTO tree VALUES (2, 9, 'left', 0);
CREATE TRIGGER tree_upd BEFORE UPDATE ON tree FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION tree_upd();
UPDATE tree SET label = 'self' WHERE id = 9;
UPDATE tree SET label = 'self', id = 4 WHERE id = 9;
UPDATE tree SET label = 'gone' WHERE id = 9;
UPDATE tree SET label = 'moved' WHERE id = 9;
UPDATE tree SET label = 'undone' WHERE id = 9 RETURNING *;
UPDATE tree SET label = 'skipped' WHERE id = 9 RETURNING *;
SELECT * FROM tree ORDER BY id;

-- a function in the query does the same
CREATE FUNCTION grow(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tree SET children = children + 1 WHERE id = i;
  RETURN i;
END $$;
UPDATE tree SET parent = grow(id);
UPDATE tree SET parent = grow(11 - id) WHERE id = 2;
SELECT * FROM tree ORDER BY id;

-- the whole row of the target, in a condition of a join
UPDATE tree t SET label = x FROM (VALUES ('(2,9,left,0)'), ('(9,,undone,51)')) v(x) WHERE t::text = x RETURNING t, t.id;
WITH d AS (DELETE FROM tree t USING tree u WHERE t.* = u.* AND u.id = 2 RETURNING t, u) SELECT * FROM d;
SELECT * FROM tree;

-- a renamed column keeps its cells; a new one may have its old name
ALTER FOREIGN TABLE tree RENAME label TO name;
ALTER FOREIGN TABLE tree ADD label text, ADD COLUMN parent_2 int, ADD IF NOT EXISTS label text;
ALTER FOREIGN TABLE tree RENAME parent TO father;
ALTER FOREIGN TABLE tree ADD parent int;
UPDATE tree SET label = 'new', parent = 1, parent_2 = 2 WHERE id = 9 RETURNING *;
ALTER FOREIGN TABLE tree RENAME label TO second;
ALTER FOREIGN TABLE tree ADD label text;
SELECT * FROM tree;
SELECT attname, attfdwoptions FROM pg_attribute WHERE attrelid = 'tree'::regclass AND attnum > 0 ORDER BY attnum;
-- columns with different options need no other name
ALTER FOREIGN TABLE tree ADD other text OPTIONS (qualifier 'name'), ADD third text OPTIONS (qualifier 'children');

-- columns that show a cell's timestamp or versions leave its place to another column
CREATE FOREIGN TABLE price (item text OPTIONS (rowkey '1') COLLATE "C", since timestamptz OPTIONS (qualifier 'price', attribute 'timestamp'),
  sizes widecol.version[] OPTIONS (qualifier 'size')) SERVER widecol OPTIONS (table 'as_tables_price');
SELECT widecol.put('as_tables_price', 'tea', 'cf:price', '3.5');
ALTER FOREIGN TABLE price ADD COLUMN price numeric, ADD COLUMN size int;
UPDATE price SET size = 7;
SELECT item, price, since IS NOT NULL AS dated, size, cardinality(sizes) AS sizes FROM price;

-- an inheritance tree, of which one table has triggers
CREATE FOREIGN TABLE up (k int OPTIONS (rowkey '1'), v text) SERVER widecol OPTIONS (table 'as_tables_up');
CREATE FOREIGN TABLE down (k int OPTIONS (rowkey '1'), v text, w int) INHERITS (up) SERVER widecol OPTIONS (table 'as_tables_down');
CREATE TABLE down_heap () INHERITS (up);
INSERT INTO up VALUES (1, 'a'), (2, 'b');
INSERT INTO down VALUES (3, 'c', 33), (4, 'd', 44);
INSERT INTO down_heap VALUES (5, 'e'), (6, 'f');
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE INFO '% % %: %', tg_table_name, tg_when, tg_op, old;
  RETURN CASE tg_op WHEN 'DELETE' THEN old ELSE new END;
END $$;
CREATE TRIGGER before_row BEFORE UPDATE OR DELETE ON down FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER after_row AFTER UPDATE OR DELETE ON down FOR EACH ROW EXECUTE FUNCTION tell();
UPDATE up SET v = v || k WHERE k % 2 = 1;
DELETE FROM up WHERE k % 2 = 1;
DELETE FROM up USING (VALUES (2), (4), (6)) v(x) WHERE k = x RETURNING up, tableoid::regclass;
SELECT count(*) FROM up;

SET client_min_messages = error;
DROP SCHEMA as_tables CASCADE;
SELECT widecol.drop_table(name) FROM (VALUES ('as_tables'), ('as_tables_up'), ('as_tables_down'), ('as_tables_price')) t(name);
