-- Snapshots of stored tables: taken, read, cloned, restored, deleted; all in transactions.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
SET bytea_output = 'escape';
CREATE FOREIGN TABLE snap (k text OPTIONS (rowkey '1') COLLATE "C", v text, m jsonb OPTIONS (family 'm')) SERVER widecol
  OPTIONS (families '{"cf": {"versions": 3, "packing": "cell"}, "m": {"packing": "row"}}');
INSERT INTO snap VALUES ('a', 'one', '{"x": "1"}'), ('b', 'two', NULL), ('c', 'three', '{"y": "2"}');
UPDATE snap SET v = 'ONE' WHERE k = 'a';
DELETE FROM snap WHERE k = 'c';
SELECT widecol.put('snap', 'd', 'cf:v', 'dated', 1000), widecol.put('snap', 'd', 'cf:t', 'mortal', 2000, '1000000 days'), widecol.delete_version('snap', 'd', 'cf:v', 500);
SELECT widecol.alter_table_ttl('snap', '40000 days');
RESET client_min_messages;

SELECT widecol.snapshot('snap', 's1');
SELECT snapshot, stored_table, owner = current_user AS mine, taken <= clock_timestamp() AS taken FROM widecol.list_snapshots();
-- all that is stored of it, in the same order
SELECT count(*) AS cells,
  (SELECT count(*) FROM (SELECT "row", family, qualifier, ts, type, value FROM widecol.scan('snap', raw => true, versions => 99)
    EXCEPT SELECT "row", family, qualifier, ts, type, value FROM widecol.scan('snapshot:s1', raw => true, versions => 99)) t) AS missing
FROM widecol.scan('snapshot:s1', raw => true, versions => 99);
SELECT family, versions, ttl, packing FROM widecol.describe('snapshot:s1');
-- it is only read, and stays
SELECT widecol.put('snapshot:s1', 'a', 'cf:v', 'x');
SELECT widecol.enable('snapshot:s1');
SELECT widecol.rename_table('snapshot:s1', 'other');
SELECT widecol.snapshot('snapshot:s1', 's2');
SELECT widecol.restore_snapshot('s1', 'snapshot:s1');
SELECT widecol.snapshot('snap', 's1');
SELECT widecol.snapshot('nobody', 's2');
SELECT widecol.snapshot('snap', 'a b');

-- changed, and restored: rows, families, attributes
SET client_min_messages = warning;
SELECT widecol.alter_table('snap', '{"cf": {"versions": 1}, "late": {}}');
SELECT widecol.alter_table_ttl('snap', NULL);
INSERT INTO snap VALUES ('new', 'row', NULL), ('b', 'changed', '{"z": "3"}');
DELETE FROM snap WHERE k = 'a';
CREATE FOREIGN TABLE snap_late (k text OPTIONS (rowkey '1') COLLATE "C", l text OPTIONS (family 'late')) SERVER widecol OPTIONS ("table" 'snap');
SELECT widecol.restore_snapshot('s1');
DROP FOREIGN TABLE snap_late;
SELECT widecol.disable('snap');
BEGIN;
SELECT widecol.restore_snapshot('s1');
SELECT * FROM snap;
SELECT family, versions, ttl FROM widecol.describe('snap');
ROLLBACK;
SELECT k, v FROM snap;
SELECT family, versions, ttl FROM widecol.describe('snap');
SELECT widecol.restore_snapshot('s1');
SELECT * FROM snap;
SELECT family, versions, ttl, packing FROM widecol.describe('snap');
SELECT count(*) FROM (SELECT "row", family, qualifier, ts, type, value FROM widecol.scan('snapshot:s1', raw => true, versions => 99)
  EXCEPT SELECT "row", family, qualifier, ts, type, value FROM widecol.scan('snap', raw => true, versions => 99)) t;
-- it was disabled, and is
SELECT widecol.is_enabled('snap');
SELECT widecol.enable('snap');
INSERT INTO snap VALUES ('after', 'restore', NULL);
SELECT widecol.put('snap', 'd', 'cf:v', 'hidden', 400);
SELECT k, v FROM snap;

-- cloned: a table as any
SELECT widecol.clone_snapshot('s1', 'snap_clone');
SELECT name, enabled, ttl FROM widecol.tables WHERE name = 'snap_clone';
SELECT "row", qualifier, value FROM widecol.scan('snap_clone');
SELECT widecol.put('snap_clone', 'z', 'cf:v', 'x');
SELECT widecol.count('snap_clone'), widecol.count('snapshot:s1');
SELECT widecol.clone_snapshot('s1', 'snap_clone');
SELECT widecol.restore_snapshot('s1', 'snap_clone');
SELECT widecol.count('snap_clone');
-- a transaction that takes it back, or that uses it at once
BEGIN;
SELECT widecol.snapshot('snap', 's2');
SELECT widecol.delete_snapshot('s1');
SELECT snapshot FROM widecol.list_snapshots();
SELECT widecol.deleteall('snap', row_prefix => 'a');
SELECT widecol.restore_snapshot('s2');
SELECT k, v FROM snap;
ROLLBACK;
SELECT snapshot FROM widecol.list_snapshots();
-- by a transaction that began before
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM snap;
SELECT widecol.clone_snapshot('s1', 'snap_rr');
SELECT widecol.count('snap_rr');
ROLLBACK;
SELECT widecol.snapshot('snap_clone', 's3');
SELECT widecol.drop_table('snap_clone');
SELECT widecol.restore_snapshot('s3');
SELECT widecol.clone_snapshot('s3', 'snap_clone');
SELECT widecol.count('snap_clone');
SELECT widecol.delete_snapshot('nobody');
SELECT widecol.restore_snapshot(NULL);
SELECT widecol.create_table('snapshot:plain', '{"cf": {}}');
SELECT widecol.delete_snapshot('plain');

-- others
CREATE ROLE regress_snap;
GRANT USAGE ON FOREIGN SERVER widecol TO regress_snap;
SET ROLE regress_snap;
SELECT widecol.snapshot('snap', 's4');
SELECT widecol.clone_snapshot('s1', 'snap_bob');
SELECT widecol.restore_snapshot('s1');
SELECT widecol.delete_snapshot('s1');
SELECT snapshot, stored_table FROM widecol.list_snapshots();
RESET ROLE;

SELECT widecol.delete_snapshot('s1'), widecol.delete_snapshot('s3');
SELECT * FROM widecol.list_snapshots();
DROP FOREIGN TABLE snap;
SELECT widecol.drop_table(t) FROM unnest(ARRAY['snap', 'snap_clone', 'snapshot:plain']) t;
SELECT widecol.drop_namespace('snapshot');
REVOKE USAGE ON FOREIGN SERVER widecol FROM regress_snap;
DROP ROLE regress_snap;
