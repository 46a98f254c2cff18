-- Every object of the extension has a comment, which \df+, \dT+, \d+ and \dx+ show.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS widecol;
-- no rows: no object is without a comment; "made": all objects, except types that come with another object
WITH made AS (
  SELECT classid, objid, 0 AS objsubid
  FROM pg_depend
  WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'widecol')
  UNION ALL
  SELECT 'pg_class'::regclass, attrelid, attnum
  FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
  WHERE relnamespace = 'widecol'::regnamespace AND relkind IN ('v', 'f', 'c') AND attnum > 0
  UNION ALL
  SELECT 'pg_namespace'::regclass, 'widecol'::regnamespace, 0
)
SELECT pg_describe_object(classid, objid, objsubid) AS without_comment
FROM made
WHERE (CASE WHEN objsubid > 0 THEN col_description(objid, objsubid) ELSE obj_description(objid, classid::regclass::name) END) IS NULL
  AND NOT EXISTS (SELECT FROM pg_type t LEFT JOIN pg_class c ON c.oid = typrelid
                  WHERE classid = 'pg_type'::regclass AND t.oid = objid AND (typcategory = 'A' OR relkind <> 'c'))
ORDER BY 1;
SELECT count(*) > 50 AS functions FROM pg_proc WHERE pronamespace = 'widecol'::regnamespace AND obj_description(oid, 'pg_proc') <> '';
-- only functions of the same name may have the same comment
SELECT obj_description(oid, 'pg_proc') AS comment, array_agg(DISTINCT proname) AS functions
FROM pg_proc WHERE pronamespace = 'widecol'::regnamespace
GROUP BY 1 HAVING count(DISTINCT proname) > 1;
