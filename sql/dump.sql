-- widecol.dump: a foreign table that is queried and filled, and refuses the rest (test/t/004_dump.pl dumps and
-- restores with it).
SELECT widecol.create_table('dumped', '{"f": {}}');

-- no system columns but one
SELECT ctid FROM widecol.dump;
SELECT kind FROM widecol.dump WHERE xmin = '1';
SELECT DISTINCT tableoid::regclass, kind FROM widecol.dump WHERE kind = 'table';

-- no locks of rows; beside rows of another table that are locked it is read
CREATE TABLE dump_heap AS SELECT 'table' AS kind;
SELECT kind FROM widecol.dump FOR UPDATE;
SELECT kind FROM widecol.dump d JOIN dump_heap h USING (kind) FOR KEY SHARE;
SELECT count(*) > 0 AS tables FROM (SELECT 1 FROM widecol.dump d JOIN dump_heap h USING (kind) FOR UPDATE OF h) x;
UPDATE dump_heap h SET kind = 'changed' FROM widecol.dump d WHERE d.kind = h.kind RETURNING h.kind;

-- no changes of rows
UPDATE widecol.dump SET kind = 'x';
DELETE FROM widecol.dump;

-- times to live: in range, and above zero
INSERT INTO widecol.dump (kind, name, families, ttl) VALUES ('table', 'dumped', '{"f": {}}', '178000000 years');
INSERT INTO widecol.dump (kind, name, families, ttl) VALUES ('table', 'dumped', '{"f": {}}', '-1 day');
INSERT INTO widecol.dump (kind, name, "row", family, qualifier, ts, type, value, ttl) VALUES ('cell', 'dumped', 'r', 'f', 'q', 1, 'Put', 'v', '178000000 years');
INSERT INTO widecol.dump (kind, name, "row", family, qualifier, ts, type, value, ttl) VALUES ('cell', 'dumped', 'r', 'f', 'q', 1, 'Put', 'v', '0');
INSERT INTO widecol.dump (kind, name, "row", family, qualifier, ts, type, value, ttl) VALUES ('cell', 'dumped', 'r', 'f', 'q', 9000000000000000, 'Put', 'v', '1 month 1 day 1 s');
SELECT kind, "row", value, ttl FROM widecol.dump WHERE name = 'dumped';

DROP TABLE dump_heap;
SELECT widecol.drop_table('dumped');
