-- Flush and compaction, of one family or all, waited for or not; the store checked.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
RESET client_min_messages;
SET bytea_output = 'escape';
SELECT widecol.create_table('work', '{"a": {}, "b": {}, "r": {"packing": "row"}}');
SELECT widecol.put('work', 'r', f || ':q', ts::text, ts) FROM unnest(ARRAY['a', 'b', 'r']) f, generate_series(1, 3) ts \g /dev/null
SELECT widecol.delete('work', 'r', 'a:gone', 10), widecol.delete('work', 'r', 'b:gone', 10);
-- a flush drops superseded cells of the named family
SELECT widecol.flush('work', 'a');
SELECT family, qualifier, ts, type FROM widecol.scan('work', raw => true, versions => 9) WHERE family <> 'r';
SELECT widecol.flush('work');
SELECT family, qualifier, ts, type FROM widecol.scan('work', raw => true, versions => 9) WHERE family <> 'r';
-- a major compaction drops delete markers
SELECT widecol.compact('work', 'b'), widecol.major_compact('work', family => 'b');
SELECT family, qualifier, ts, type FROM widecol.scan('work', raw => true, versions => 9) WHERE family <> 'r';
SELECT widecol.compaction_state('work');

-- nobody waits, but here
CREATE PROCEDURE work_await() LANGUAGE plpgsql AS $$
BEGIN
  WHILE widecol.compaction_state('work') <> 'NONE' LOOP
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
SELECT widecol.major_compact('work', wait => false), widecol.major_compact('work', wait => false);
CALL work_await();
SELECT family, qualifier, ts, type FROM widecol.scan('work', raw => true, versions => 9);
SELECT widecol.compact('work', 'r', false), widecol.flush('work', wait => false);
CALL work_await();
SELECT family, qualifier, ts, type FROM widecol.scan('work', raw => true, versions => 9);
-- a table that the transaction has made has no files yet; work on a table that is dropped meanwhile ends without an error
BEGIN;
SELECT widecol.create_table('work_new', '{"a": {}}');
SELECT widecol.flush('work_new'), widecol.flush('work_new', wait => false), widecol.compact('work_new', wait => false);
SELECT * FROM widecol.check_store('work_new');
COMMIT;
SELECT widecol.compact('work_new', wait => false), widecol.drop_table('work_new');
-- errors
SELECT widecol.flush('work', 'nobody');
SELECT widecol.compact('nobody');
SELECT widecol.major_compact(NULL);
SELECT widecol.compaction_state('nobody');

-- nothing is damaged
SELECT widecol.put('work', 'row' || i, 'a:q', repeat('x', 100)), widecol.put('work', 'row' || i, 'r:\x00', '\x00') FROM generate_series(1, 300) i \g /dev/null
SELECT * FROM widecol.check_store('work');
SELECT widecol.flush('work');
SELECT * FROM widecol.check_store('work');
SELECT * FROM widecol.check_store();
SELECT * FROM widecol.check_store('nobody');

CREATE ROLE regress_work;
SET ROLE regress_work;
SELECT widecol.flush('work', 'a');
SELECT widecol.major_compact('work', wait => false);
SELECT widecol.compaction_state('work');
SELECT widecol.check_store('work');
SELECT widecol.check_store();
RESET ROLE;
SELECT widecol.alter_table_owner('work', 'regress_work');
SET ROLE regress_work;
SELECT widecol.compact('work', 'a', true);
SELECT widecol.compaction_state('work');
SELECT * FROM widecol.check_store('work');
RESET ROLE;

SET client_min_messages = warning;
SELECT widecol.drop_table('work');
DROP ROLE regress_work;
DROP PROCEDURE work_await;
