-- Values of type xml are read whatever xmloption is.  (xml_forms_1.out: PostgreSQL is built without libxml.)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE SCHEMA xml_forms;
SET search_path = xml_forms, public;
\set VERBOSITY sqlstate
CREATE TYPE pair AS (a xml, b int);
CREATE FOREIGN TABLE t (k int OPTIONS (rowkey '1'), x xml, list xml[], p pair) SERVER widecol OPTIONS (table 'xml_forms_t');
SET xmloption = content;
INSERT INTO t VALUES (1, 'a<b/>c', '{a<b/>,<c/>d}', ROW('<a/><b/>'::xml, 1));
SET xmloption = document;
SELECT * FROM t;
INSERT INTO t VALUES (2, '<a/>', '{<b/>}', ROW('<c/>'::xml, 2));
INSERT INTO t SELECT k + 2, x, list, p FROM t WHERE k = 1;
SET xmloption = content;
SELECT * FROM t ORDER BY k;
DROP SCHEMA xml_forms CASCADE;
SELECT widecol.drop_table('xml_forms_t');
