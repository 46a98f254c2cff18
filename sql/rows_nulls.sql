-- Rows and NULLs: a row is there while a mapped family holds a cell of it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;

CREATE FOREIGN TABLE n (
  k int OPTIONS (rowkey '1'),
  a text,
  b int,
  c text OPTIONS (family 'g')
) SERVER widecol;
CREATE VIEW n_cells AS
  SELECT encode("row", 'hex') AS "row", family, convert_from(qualifier, 'UTF8') AS qualifier,
         encode(value, 'escape') AS value FROM widecol.scan('n');

-- NULL is no cell
INSERT INTO n VALUES (1, 'one', 1, 'c'), (2, 'two', NULL, NULL), (3, NULL, NULL, 'only g');
SELECT * FROM n ORDER BY k;
SELECT * FROM n_cells;

-- nothing but NULLs: the row is there, by a marker cell
INSERT INTO n (k) VALUES (4);
SELECT * FROM n ORDER BY k;
SELECT * FROM n_cells WHERE "row" = '80000004';

-- INSERT replaces: columns that are left out are cleared
INSERT INTO n (k, b) VALUES (1, 11);
SELECT * FROM n WHERE k = 1;
INSERT INTO n (k) VALUES (2);
SELECT * FROM n WHERE k = 2;
INSERT INTO n VALUES (4, 'four');
SELECT * FROM n WHERE k = 4;

-- cells that the foreign table does not map stay
SELECT widecol.put('n', '\x80000001', 'cf:extra', 'x');
INSERT INTO n VALUES (1, 'uno');
SELECT * FROM n_cells WHERE "row" = '80000001';

-- UPDATE writes the assigned columns
UPDATE n SET b = 5 WHERE k = 1;
SELECT * FROM n WHERE k = 1;
UPDATE n SET a = NULL WHERE k = 1;
SELECT * FROM n WHERE k = 1;
UPDATE n SET a = NULL, b = NULL, c = NULL WHERE k = 3;
SELECT * FROM n WHERE k = 3;
SELECT * FROM n_cells WHERE "row" = '80000003';
UPDATE n SET b = 3 WHERE k = 3;
SELECT * FROM n_cells WHERE "row" = '80000003';

-- DELETE deletes the row, with the unmapped cells in mapped families
DELETE FROM n WHERE k = 1;
SELECT * FROM n_cells WHERE "row" = '80000001';
SELECT k FROM n ORDER BY k;
DELETE FROM n;
SELECT count(*) FROM n;
SELECT count(*) FROM n_cells;

-- a row written again after its deletion is there
INSERT INTO n VALUES (1, 'again');
SELECT * FROM n;

-- another view of the same stored table: families it does not map do not count
CREATE FOREIGN TABLE n_g (k int OPTIONS (rowkey '1'), c text OPTIONS (family 'g')) SERVER widecol OPTIONS (table 'n');
SELECT * FROM n_g;
INSERT INTO n_g VALUES (1, 'from g'), (9, NULL);
SELECT * FROM n ORDER BY k;
DELETE FROM n_g;
SELECT * FROM n ORDER BY k;

-- only key columns: every family counts
CREATE FOREIGN TABLE n_keys (k int OPTIONS (rowkey '1')) SERVER widecol OPTIONS (table 'n');
INSERT INTO n_g VALUES (2, 'g only');
SELECT * FROM n_keys ORDER BY k;
INSERT INTO n_keys VALUES (3);
SELECT * FROM n ORDER BY k;
DELETE FROM n_keys WHERE k = 2;
SELECT * FROM n ORDER BY k;

-- a column with the marker's place
CREATE FOREIGN TABLE n_empty (k int OPTIONS (rowkey '1'), v text OPTIONS (qualifier '')) SERVER widecol;
INSERT INTO n_empty VALUES (1, 'x'), (2, '');
SELECT k, v, v IS NULL AS is_null FROM n_empty ORDER BY k;
INSERT INTO n_empty VALUES (3, NULL);
UPDATE n_empty SET v = NULL WHERE k = 1;
SELECT k, v FROM n_empty ORDER BY k;

-- NULL in a key column, an empty key, too long a key
INSERT INTO n VALUES (NULL, 'x');
CREATE FOREIGN TABLE n_text (k text OPTIONS (rowkey '1') COLLATE "C", v int) SERVER widecol;
INSERT INTO n_text VALUES ('', 1);
INSERT INTO n_text VALUES (repeat('x', 32768), 1);
INSERT INTO n_text VALUES (repeat('x', 32769), 1);
SELECT length(k), v FROM n_text;

-- NOT NULL and CHECK
CREATE FOREIGN TABLE n_check (
  k int OPTIONS (rowkey '1'),
  a text NOT NULL,
  b int CHECK (b > 0)
) SERVER widecol;
INSERT INTO n_check VALUES (1, NULL, 1);
INSERT INTO n_check VALUES (1, 'a', 0);
INSERT INTO n_check VALUES (1, 'a', 1);
UPDATE n_check SET a = NULL;
UPDATE n_check SET b = -1;
COPY n_check FROM stdin;
2	\N	1
\.
COPY n_check FROM stdin;
2	a	-1
\.
SELECT * FROM n_check;

SET client_min_messages = warning;
DROP VIEW n_cells;
DROP FOREIGN TABLE n, n_g, n_keys, n_empty, n_text, n_check;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['n', 'n_empty', 'n_text', 'n_check']) t;
