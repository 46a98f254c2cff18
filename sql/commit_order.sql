-- What other extensions do at commit comes before the stored tables' commit: when it
-- fails, nothing has been written to them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
RESET client_min_messages;

-- the remote side is this database; its constraint is checked when its transaction commits
DO $$
BEGIN
	EXECUTE format('CREATE SERVER remote FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
				   split_part(current_setting('unix_socket_directories'), ',', 1),
				   current_setting('port'), current_database());
END
$$;
CREATE USER MAPPING FOR CURRENT_USER SERVER remote;
CREATE TABLE held (k int UNIQUE DEFERRABLE INITIALLY DEFERRED);
CREATE FOREIGN TABLE far (k int) SERVER remote OPTIONS (table_name 'held');
CREATE TABLE near (k int);
CREATE FOREIGN TABLE cells (k int OPTIONS (rowkey '1'), v text) SERVER widecol;

-- all or nothing, whichever store the session uses first
\c -
BEGIN;
INSERT INTO far VALUES (1), (1);
INSERT INTO cells VALUES (1, 'far first');
INSERT INTO near VALUES (1);
COMMIT;
SELECT (SELECT count(*) FROM held) AS held, (SELECT count(*) FROM near) AS near, (SELECT count(*) FROM cells) AS cells;

\c -
BEGIN;
INSERT INTO cells VALUES (2, 'cells first');
INSERT INTO near VALUES (2);
INSERT INTO far VALUES (2), (2);
COMMIT;
SELECT (SELECT count(*) FROM held) AS held, (SELECT count(*) FROM near) AS near, (SELECT count(*) FROM cells) AS cells;

-- and a deferred constraint of this side
CREATE TABLE late (k int UNIQUE DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO cells VALUES (3, 'late');
INSERT INTO late VALUES (3), (3);
COMMIT;
SELECT count(*) FROM cells;

-- what commits, commits everywhere
BEGIN;
INSERT INTO cells VALUES (4, 'all');
INSERT INTO near VALUES (4);
INSERT INTO far VALUES (4);
COMMIT;
SELECT (SELECT count(*) FROM held) AS held, (SELECT count(*) FROM near) AS near, (SELECT count(*) FROM cells) AS cells;

DROP TABLE late, near;
SET client_min_messages = warning;
DROP SERVER remote CASCADE;
DROP TABLE held;
DROP FOREIGN TABLE cells;
SELECT widecol.drop_table('cells');
