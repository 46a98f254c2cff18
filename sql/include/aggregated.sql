-- Shows which aggregates the engine computes, and compares the results: _ as the foreign table, the same
-- without pushdown, and as the heap copy.
CREATE FUNCTION aggregated(tab text, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text; pushed text[]; local text[]; heaps text[];
  ours text = replace(query, ' _', ' ' || tab);
  rows_of text = 'SELECT array_agg(x::text ORDER BY x::text) FROM (%s) x';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || ours LOOP
    IF line ~ '(Engine|Agg|Append|Group)' THEN RETURN NEXT regexp_replace(trim(line), '^->  ', ''); END IF;
  END LOOP;
  EXECUTE format(rows_of, ours) INTO pushed;
  PERFORM set_config('widecol.enable_pushdown', 'off', true);
  EXECUTE format(rows_of, ours) INTO local;
  PERFORM set_config('widecol.enable_pushdown', 'on', true);
  EXECUTE format(rows_of, replace(query, ' _', ' ' || tab || '_heap')) INTO heaps;
  RETURN NEXT coalesce(cardinality(pushed), 0) || ' rows' || CASE WHEN cardinality(pushed) = 1 THEN ': ' || pushed[1] ELSE '' END ||
    CASE WHEN pushed IS DISTINCT FROM local THEN '; OTHERS LOCALLY: ' || local::text WHEN pushed IS DISTINCT FROM heaps THEN '; NOT THOSE OF THE HEAP TABLE: ' || heaps::text ELSE '' END;
END $$;
