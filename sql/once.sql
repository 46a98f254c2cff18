-- A statement changes a row once, however often its plan meets it, as on heap tables.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA once;
SET search_path = once, public;

CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), v text, n int) SERVER widecol OPTIONS (table 'once');
CREATE TABLE pairs (x int, y text);
INSERT INTO pairs VALUES (1, 'a'), (1, 'b'), (2, 'c'), (2, 'd'), (2, 'e');
INSERT INTO t VALUES (1, 'one', 1), (2, 'two', 2), (3, 'three', 3);

-- the other table has several rows for each
BEGIN;
WITH u AS (UPDATE t SET n = n + 1 FROM pairs WHERE k = x RETURNING k, n) SELECT count(*), sum(n) FROM u;
SELECT * FROM t ORDER BY k;
ROLLBACK;
BEGIN;
WITH d AS (DELETE FROM t USING pairs WHERE k = x RETURNING k) SELECT * FROM d ORDER BY k;
SELECT * FROM t ORDER BY k;
ROLLBACK;
BEGIN;
UPDATE t SET k = k + 1 FROM pairs WHERE k = x;
SELECT * FROM t ORDER BY k;
ROLLBACK;

-- two parts of a WITH want the same row: the first has it
BEGIN;
WITH a AS (UPDATE t SET n = 100 WHERE k = 1 RETURNING n), b AS (UPDATE t SET n = 200 WHERE k = 1 RETURNING n)
SELECT * FROM a UNION ALL SELECT * FROM b;
SELECT * FROM t WHERE k = 1;
ROLLBACK;
BEGIN;
WITH a AS (UPDATE t SET n = 100 WHERE k = 1), b AS (DELETE FROM t WHERE k = 1 RETURNING *) SELECT * FROM b;
SELECT * FROM t ORDER BY k;
ROLLBACK;

-- whatever its key is: one that comes from a tuple, and from the engine, in two forms of one number
CREATE FOREIGN TABLE o (k oid OPTIONS (rowkey '1', encoding 'text'), s "char" OPTIONS (rowkey '2', encoding 'text'), n int)
  SERVER widecol OPTIONS (table 'once_o');
INSERT INTO o VALUES (4294967295, 'x', 1), (7, E'\\201', 1), (2147483648, E'\\377', 1);
WITH a AS (UPDATE o SET n = 2 WHERE k > 0 RETURNING k, n), b AS (DELETE FROM o WHERE n = 1 AND n IS NOT NULL RETURNING k)
SELECT k, n FROM a UNION ALL SELECT k, -1 FROM b ORDER BY 1, 2;
SELECT * FROM o ORDER BY k;
DROP FOREIGN TABLE o;
SELECT widecol.drop_table('once_o');

-- the next statement of the transaction has it again, also one that a trigger runs
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE once.t SET n = n + 1000 FROM once.pairs WHERE k = x AND k = new.k AND n < 1000;
  RETURN NULL;
END $$;
CREATE TRIGGER again AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION again();
UPDATE t SET n = 0 FROM pairs WHERE k = x;
SELECT * FROM t ORDER BY k;

-- layout cell: a cell once
CREATE FOREIGN TABLE cells ("row" bytea, family text, qualifier text, ts bigint, value bytea)
  SERVER widecol OPTIONS (table 'once', layout 'cell');
WITH d AS (DELETE FROM cells USING pairs WHERE qualifier = 'v' RETURNING value) SELECT convert_from(value, 'UTF8') FROM d ORDER BY 1;
SELECT * FROM t ORDER BY k;

SET client_min_messages = error;
DROP SCHEMA once CASCADE;
SELECT widecol.drop_table('once');
