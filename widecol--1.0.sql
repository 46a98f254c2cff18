/* widecol--1.0.sql: what CREATE EXTENSION widecol makes, all in schema widecol */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION widecol" to load this file. \quit

-- Anyone may name what is in the schema; each function looks at the caller's
-- privileges on the server or on the foreign table it is given.
GRANT USAGE ON SCHEMA widecol TO PUBLIC;

-- sections: foreign-data wrapper, types, tables, data, administration, views

-- ---------------------------------------------------------------------------
-- Foreign-data wrapper.  As with every wrapper, only its owner may use the
-- server until USAGE on it is granted.
-- ---------------------------------------------------------------------------

CREATE FUNCTION widecol_handler() RETURNS fdw_handler
AS 'MODULE_PATHNAME', 'widecol_handler' LANGUAGE C STRICT;
COMMENT ON FUNCTION widecol_handler() IS 'handler of the foreign-data wrapper widecol';

CREATE FUNCTION widecol_validator(options text[], catalog oid) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_validator' LANGUAGE C STRICT;
COMMENT ON FUNCTION widecol_validator(text[], oid) IS 'checks the options of servers, foreign tables and columns of widecol';

CREATE FOREIGN DATA WRAPPER widecol HANDLER widecol_handler VALIDATOR widecol_validator;
COMMENT ON FOREIGN DATA WRAPPER widecol IS 'wide-column tables';

CREATE SERVER widecol FOREIGN DATA WRAPPER widecol;
COMMENT ON SERVER widecol IS 'the embedded engine of this cluster';

-- ---------------------------------------------------------------------------
-- Types
-- ---------------------------------------------------------------------------

CREATE TYPE cell AS (
    "row"     bytea,
    family    text,
    qualifier bytea,
    ts        bigint,
    type      text,
    value     bytea
);
COMMENT ON TYPE cell IS 'one cell; ts is microseconds since 1970-01-01 UTC';

CREATE TYPE version AS (
    ts    bigint,
    value bytea
);
COMMENT ON TYPE version IS 'one version of a column; ts is microseconds since 1970-01-01 UTC';

-- ---------------------------------------------------------------------------
-- Stored tables and namespaces
-- ---------------------------------------------------------------------------

CREATE FUNCTION create_namespace(namespace text) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_create_namespace' LANGUAGE C STRICT;
COMMENT ON FUNCTION create_namespace(text) IS 'makes a namespace for stored tables';

CREATE FUNCTION drop_namespace(namespace text) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_drop_namespace' LANGUAGE C STRICT;
COMMENT ON FUNCTION drop_namespace(text) IS 'drops an empty namespace';

CREATE FUNCTION create_table(name text, families jsonb, splits bytea[] DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_create_table' LANGUAGE C;
COMMENT ON FUNCTION create_table(text, jsonb, bytea[]) IS 'makes a stored table with its families';

CREATE FUNCTION alter_table(name text, families jsonb) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_alter_table' LANGUAGE C;
COMMENT ON FUNCTION alter_table(text, jsonb) IS 'adds families, changes attributes; null drops a family and its data';

CREATE FUNCTION drop_table(name text) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_drop_table' LANGUAGE C STRICT;
COMMENT ON FUNCTION drop_table(text) IS 'drops a stored table and its data';

CREATE FUNCTION truncate_table(name text) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_truncate_table' LANGUAGE C STRICT;
COMMENT ON FUNCTION truncate_table(text) IS 'empties a stored table';

CREATE FUNCTION describe(name text,
    OUT family text, OUT versions int, OUT min_versions int, OUT ttl interval,
    OUT keep_deleted_cells text, OUT bloomfilter text, OUT compression text, OUT blocksize int,
    OUT blockcache boolean, OUT in_memory boolean, OUT packing text, OUT history_from timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_describe' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION describe(text) IS 'a row a family of a stored table; ttl null: for ever';

-- ---------------------------------------------------------------------------
-- Data: tab is a foreign table; the caller's privilege on it decides
-- ---------------------------------------------------------------------------

CREATE FUNCTION put(tab regclass, "row" bytea, col text, value bytea, ts bigint DEFAULT NULL, ttl interval DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'widecol_put' LANGUAGE C;
COMMENT ON FUNCTION put(regclass, bytea, text, bytea, bigint, interval) IS 'writes one cell';

CREATE FUNCTION get(tab regclass, "row" bytea, columns text[] DEFAULT NULL, versions int DEFAULT 1,
    time_range int8range DEFAULT NULL, column_limit int DEFAULT NULL, column_offset int DEFAULT NULL)
RETURNS SETOF cell
AS 'MODULE_PATHNAME', 'widecol_get' LANGUAGE C ROWS 10;
COMMENT ON FUNCTION get(regclass, bytea, text[], int, int8range, int, int) IS 'the cells of one row';

CREATE FUNCTION scan(tab regclass, start_row bytea DEFAULT NULL, stop_row bytea DEFAULT NULL, row_prefix bytea DEFAULT NULL,
    columns text[] DEFAULT NULL, versions int DEFAULT 1, time_range int8range DEFAULT NULL, reversed boolean DEFAULT false,
    row_limit bigint DEFAULT NULL, raw boolean DEFAULT false, include_start boolean DEFAULT true, include_stop boolean DEFAULT false,
    column_limit int DEFAULT NULL, column_offset int DEFAULT NULL)
RETURNS SETOF cell
AS 'MODULE_PATHNAME', 'widecol_scan' LANGUAGE C ROWS 1000;
COMMENT ON FUNCTION scan(regclass, bytea, bytea, bytea, text[], int, int8range, boolean, bigint, boolean, boolean, boolean, int, int)
IS 'the cells of a range of rows, in HBase''s order';

CREATE FUNCTION delete(tab regclass, "row" bytea, col text, ts bigint DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete' LANGUAGE C;
COMMENT ON FUNCTION delete(regclass, bytea, text, bigint) IS 'deletes every version of a column up to ts';

CREATE FUNCTION delete_version(tab regclass, "row" bytea, col text, ts bigint DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete_version' LANGUAGE C;
COMMENT ON FUNCTION delete_version(regclass, bytea, text, bigint) IS 'deletes exactly the version at ts; null: the newest visible one';

CREATE FUNCTION delete_family(tab regclass, "row" bytea, family text, ts bigint DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete_family' LANGUAGE C;
COMMENT ON FUNCTION delete_family(regclass, bytea, text, bigint) IS 'deletes every version of every column of a family up to ts';

CREATE FUNCTION delete_family_version(tab regclass, "row" bytea, family text, ts bigint) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete_family_version' LANGUAGE C;
COMMENT ON FUNCTION delete_family_version(regclass, bytea, text, bigint) IS 'deletes the versions at exactly ts of every column of a family';

CREATE FUNCTION deleteall(tab regclass, "row" bytea, col text DEFAULT NULL, ts bigint DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_deleteall' LANGUAGE C;
COMMENT ON FUNCTION deleteall(regclass, bytea, text, bigint) IS 'deletes a whole row, or one column of it, up to ts';

-- Counters and conditional writes lock the row to the end of the transaction.

CREATE FUNCTION incr(tab regclass, "row" bytea, col text, by bigint DEFAULT 1, ts bigint DEFAULT NULL, ttl interval DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'widecol_incr' LANGUAGE C;
COMMENT ON FUNCTION incr(regclass, bytea, text, bigint, bigint, interval) IS 'adds to a counter of 8 bytes, big-endian; what it is then';

CREATE FUNCTION append(tab regclass, "row" bytea, col text, value bytea, ts bigint DEFAULT NULL, ttl interval DEFAULT NULL)
RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_append' LANGUAGE C;
COMMENT ON FUNCTION append(regclass, bytea, text, bytea, bigint, interval) IS 'appends to a cell; what it is then';

CREATE FUNCTION "check"(tab regclass, "row" bytea, check_col text, expected bytea, op text DEFAULT '=',
    time_range int8range DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_check' LANGUAGE C;
COMMENT ON FUNCTION "check"(regclass, bytea, text, bytea, text, int8range)
IS 'locks the row, then compares: expected op stored; expected null: there is no cell, or an empty one';

CREATE FUNCTION check_and_put(tab regclass, "row" bytea, check_col text, expected bytea, col text, value bytea, op text DEFAULT '=')
RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_check_and_put' LANGUAGE C;
COMMENT ON FUNCTION check_and_put(regclass, bytea, text, bytea, text, bytea, text) IS 'writes one cell if the check holds; whether it did';

CREATE FUNCTION check_and_delete(tab regclass, "row" bytea, check_col text, expected bytea, col text, op text DEFAULT '=')
RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_check_and_delete' LANGUAGE C;
COMMENT ON FUNCTION check_and_delete(regclass, bytea, text, bytea, text, text) IS 'deletes a column if the check holds; whether it did';

-- ---------------------------------------------------------------------------
-- Administration
-- ---------------------------------------------------------------------------

CREATE FUNCTION flush(name text) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_flush' LANGUAGE C STRICT;
COMMENT ON FUNCTION flush(text) IS 'writes a stored table''s memory to files';

CREATE FUNCTION compact(name text) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_compact' LANGUAGE C STRICT;
COMMENT ON FUNCTION compact(text) IS 'compacts a stored table''s files, keeping delete markers';

CREATE FUNCTION major_compact(name text) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_major_compact' LANGUAGE C STRICT;
COMMENT ON FUNCTION major_compact(text) IS 'compacts a stored table''s files into one and forgets what may be forgotten';

CREATE FUNCTION regions(name text, OUT start_row bytea, OUT end_row bytea, OUT rows bigint, OUT bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_regions' LANGUAGE C STRICT ROWS 10;
COMMENT ON FUNCTION regions(text) IS 'a row a region between split points; rows and bytes are approximate';

CREATE FUNCTION hex_splits(lo text, hi text, n int) RETURNS bytea[]
AS 'MODULE_PATHNAME', 'widecol_hex_splits' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION hex_splits(text, text, int) IS 'split points for n regions of 16-digit hexadecimal text keys';

CREATE FUNCTION hexstring_splits(n int) RETURNS bytea[]
AS 'MODULE_PATHNAME', 'widecol_hexstring_splits' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION hexstring_splits(int) IS 'split points for n regions of 8-digit hexadecimal text keys';

CREATE FUNCTION uniform_splits(n int) RETURNS bytea[]
AS 'MODULE_PATHNAME', 'widecol_uniform_splits' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION uniform_splits(int) IS 'split points of 8 raw bytes for n regions';

CREATE FUNCTION bytes_split(a bytea, b bytea, num int) RETURNS bytea[]
AS 'MODULE_PATHNAME', 'widecol_bytes_split' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bytes_split(bytea, bytea, int) IS 'a, num keys evenly between, b';

-- ---------------------------------------------------------------------------
-- Ids that grow with time but are spread over partitions
-- ---------------------------------------------------------------------------

CREATE FUNCTION snowflake_id(partition text DEFAULT 'minute') RETURNS bigint
AS 'MODULE_PATHNAME', 'widecol_snowflake_id' LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id(text)
IS 'a new id: 6 bits partition (the minute of the hour, or the second of the minute), 32 bits seconds, 9 bits worker, 16 bits sequence';

CREATE FUNCTION snowflake_time(id bigint) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'widecol_snowflake_time' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_time(bigint) IS 'the second in which an id was made';

CREATE FUNCTION snowflake_first(partition int, moment timestamptz) RETURNS bigint
AS 'MODULE_PATHNAME', 'widecol_snowflake_first' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_first(int, timestamptz) IS 'the least id of a partition that is made at this moment or later';

CREATE FUNCTION snowflake_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'widecol_snowflake_support' LANGUAGE C STRICT;
COMMENT ON FUNCTION snowflake_support(internal) IS 'for the planner: snowflake_within of a key column is a range in each partition';

CREATE FUNCTION snowflake_within(id bigint, "from" timestamptz, "to" timestamptz) RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_snowflake_within' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE SUPPORT snowflake_support;
COMMENT ON FUNCTION snowflake_within(bigint, timestamptz, timestamptz) IS 'was the id made from one moment until before another?';

-- ---------------------------------------------------------------------------
-- Views: this database's stored tables
-- ---------------------------------------------------------------------------

CREATE FUNCTION list_tables(OUT namespace text, OUT name text, OUT families text[], OUT splits int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_tables' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION list_tables() IS 'what the view widecol.tables shows';

CREATE FUNCTION list_families(OUT namespace text, OUT "table" text, OUT family text, OUT versions int, OUT min_versions int,
    OUT ttl interval, OUT keep_deleted_cells text, OUT bloomfilter text, OUT compression text, OUT blocksize int,
    OUT blockcache boolean, OUT in_memory boolean, OUT packing text, OUT history_from timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_families' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION list_families() IS 'what the view widecol.families shows';

CREATE VIEW tables AS SELECT * FROM widecol.list_tables();
COMMENT ON VIEW tables IS 'the stored tables of this database';
GRANT SELECT ON tables TO PUBLIC;

CREATE VIEW families AS SELECT * FROM widecol.list_families();
COMMENT ON VIEW families IS 'the families of this database''s stored tables, with their attributes';
GRANT SELECT ON families TO PUBLIC;
