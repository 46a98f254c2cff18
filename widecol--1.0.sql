/* widecol--1.0.sql: what CREATE EXTENSION widecol makes, all in schema widecol */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION widecol" to load this file. \quit

-- All roles may use names in the schema.  Each function checks the owner of the stored
-- table, and the caller's privileges on the server or on the foreign table.
GRANT USAGE ON SCHEMA widecol TO PUBLIC;
COMMENT ON SCHEMA widecol IS 'functions and views of HBase-style wide-column tables';

-- sections: foreign-data wrapper, types, tables, data, Java's Bytes, administration, views

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

-- Row keys and values as arguments: bytea, or text, whose bytes in UTF-8 they are.  A
-- literal is read as one of bytea.
CREATE TYPE bytes;
CREATE FUNCTION bytes_in(cstring) RETURNS bytes
AS 'MODULE_PATHNAME', 'widecol_bytes_in' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bytes_out(bytes) RETURNS cstring AS 'byteaout' LANGUAGE internal STRICT STABLE PARALLEL SAFE;
CREATE FUNCTION bytes_recv(internal) RETURNS bytes AS 'bytearecv' LANGUAGE internal STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bytes_send(bytes) RETURNS bytea AS 'byteasend' LANGUAGE internal STRICT IMMUTABLE PARALLEL SAFE;
-- of category S, so that a literal is one of them and not an array of them (get)
CREATE TYPE bytes (INPUT = bytes_in, OUTPUT = bytes_out, RECEIVE = bytes_recv, SEND = bytes_send, LIKE = bytea, CATEGORY = 'S');
COMMENT ON TYPE bytes IS 'a row key or a value, given as bytea or text';
COMMENT ON FUNCTION bytes_in(cstring) IS 'reads a literal as one of bytea';
COMMENT ON FUNCTION bytes_out(bytes) IS 'writes bytes as bytea is written';
COMMENT ON FUNCTION bytes_recv(internal) IS 'reads bytes from a binary message';
COMMENT ON FUNCTION bytes_send(bytes) IS 'writes bytes to a binary message';

CREATE FUNCTION bytes_of(text) RETURNS bytes
AS 'MODULE_PATHNAME', 'widecol_bytes_of' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bytes_of(text) IS 'the bytes of a text in UTF-8';
CREATE CAST (bytea AS bytes) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (bytes AS bytea) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (text AS bytes) WITH FUNCTION bytes_of(text) AS IMPLICIT;
CREATE CAST (varchar AS bytes) WITH FUNCTION bytes_of(text) AS IMPLICIT;
COMMENT ON CAST (bytea AS bytes) IS 'the same bytes';
COMMENT ON CAST (bytes AS bytea) IS 'the same bytes';
COMMENT ON CAST (text AS bytes) IS 'the bytes of the text in UTF-8';
COMMENT ON CAST (varchar AS bytes) IS 'the bytes of the text in UTF-8';

CREATE TYPE cell AS (
    "row"     bytea,
    family    text,
    qualifier bytea,
    ts        bigint,
    type      text,
    value     bytea
);
COMMENT ON TYPE cell IS 'one cell; ts is microseconds since 1970-01-01 UTC';
COMMENT ON COLUMN cell."row" IS 'the row key as it is stored';
COMMENT ON COLUMN cell.family IS 'name of the family';
COMMENT ON COLUMN cell.qualifier IS 'name of the column in the family';
COMMENT ON COLUMN cell.ts IS 'microseconds since 1970-01-01 UTC';
COMMENT ON COLUMN cell.type IS 'Put; of raw scans also Delete, DeleteColumn, DeleteFamily, DeleteFamilyVersion';
COMMENT ON COLUMN cell.value IS 'the value; of a delete marker empty';

CREATE TYPE version AS (
    ts    bigint,
    value bytea
);
COMMENT ON TYPE version IS 'one version of a column; ts is microseconds since 1970-01-01 UTC';
COMMENT ON COLUMN version.ts IS 'microseconds since 1970-01-01 UTC';
COMMENT ON COLUMN version.value IS 'the value as it is stored';

-- ---------------------------------------------------------------------------
-- Stored tables and namespaces
-- ---------------------------------------------------------------------------

CREATE FUNCTION create_namespace(namespace text, properties jsonb DEFAULT NULL, server name DEFAULT 'widecol') RETURNS void
AS 'MODULE_PATHNAME', 'widecol_create_namespace' LANGUAGE C;
COMMENT ON FUNCTION create_namespace(text, jsonb, name) IS 'makes a namespace for stored tables';

CREATE FUNCTION alter_namespace(namespace text, properties jsonb) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_alter_namespace' LANGUAGE C;
COMMENT ON FUNCTION alter_namespace(text, jsonb) IS 'sets properties of a namespace; null takes one away';

CREATE FUNCTION drop_namespace(namespace text, server name DEFAULT 'widecol') RETURNS void
AS 'MODULE_PATHNAME', 'widecol_drop_namespace' LANGUAGE C;
COMMENT ON FUNCTION drop_namespace(text, name) IS 'drops an empty namespace';

CREATE FUNCTION describe_namespace(namespace text) RETURNS jsonb
AS 'MODULE_PATHNAME', 'widecol_describe_namespace' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION describe_namespace(text) IS 'the properties of a namespace';

CREATE FUNCTION list_namespace_tables(namespace text, server name DEFAULT 'widecol') RETURNS text[]
AS 'MODULE_PATHNAME', 'widecol_list_namespace_tables' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION list_namespace_tables(text, name) IS 'the names of the stored tables of a namespace';

CREATE FUNCTION create_table(name text, families jsonb, splits bytea[] DEFAULT NULL,
    server name DEFAULT 'widecol') RETURNS void
AS 'MODULE_PATHNAME', 'widecol_create_table' LANGUAGE C;
COMMENT ON FUNCTION create_table(text, jsonb, bytea[], name) IS 'makes a stored table with its families';

CREATE FUNCTION alter_table(name text, families jsonb, server name DEFAULT 'widecol') RETURNS void
AS 'MODULE_PATHNAME', 'widecol_alter_table' LANGUAGE C;
COMMENT ON FUNCTION alter_table(text, jsonb, name) IS 'adds families, changes attributes; null drops a family and its data';

CREATE FUNCTION alter_table_owner(name text, owner name) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_alter_table_owner' LANGUAGE C;
COMMENT ON FUNCTION alter_table_owner(text, name) IS 'gives a stored table to another role';

CREATE FUNCTION alter_table_ttl(name text, ttl interval) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_alter_table_ttl' LANGUAGE C;
COMMENT ON FUNCTION alter_table_ttl(text, interval) IS 'the time to live in families that have none of their own; null: for ever';

CREATE FUNCTION rename_table(name text, new_name text) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_rename_table' LANGUAGE C;
COMMENT ON FUNCTION rename_table(text, text) IS 'gives a stored table another name; foreign tables map it as before';

CREATE FUNCTION clone_table_schema(name text, new_name text, preserve_splits boolean DEFAULT true,
    server name DEFAULT 'widecol') RETURNS void
AS 'MODULE_PATHNAME', 'widecol_clone_table_schema' LANGUAGE C;
COMMENT ON FUNCTION clone_table_schema(text, text, boolean, name) IS 'makes an empty stored table with the families of another';

CREATE FUNCTION snapshot(name text, snapshot text) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_snapshot' LANGUAGE C;
COMMENT ON FUNCTION snapshot(text, text) IS 'keeps a stored table as it is now, under the name of a snapshot';

CREATE FUNCTION list_snapshots(OUT snapshot text, OUT stored_table text, OUT taken timestamptz, OUT owner name)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_list_snapshots' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION list_snapshots() IS 'the snapshots of this database''s stored tables';

CREATE FUNCTION clone_snapshot(snapshot text, new_name text) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_clone_snapshot' LANGUAGE C;
COMMENT ON FUNCTION clone_snapshot(text, text) IS 'makes a new stored table of a snapshot';

CREATE FUNCTION restore_snapshot(snapshot text, name text DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_restore_snapshot' LANGUAGE C;
COMMENT ON FUNCTION restore_snapshot(text, text) IS 'restores a stored table from a snapshot; null: the table of which it was taken';

CREATE FUNCTION delete_snapshot(snapshot text) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete_snapshot' LANGUAGE C;
COMMENT ON FUNCTION delete_snapshot(text) IS 'deletes a snapshot';

CREATE FUNCTION disable(name text, server name DEFAULT 'widecol') RETURNS void
AS 'MODULE_PATHNAME', 'widecol_disable' LANGUAGE C;
COMMENT ON FUNCTION disable(text, name) IS 'from now on a stored table is only read';

CREATE FUNCTION enable(name text, server name DEFAULT 'widecol') RETURNS void
AS 'MODULE_PATHNAME', 'widecol_enable' LANGUAGE C;
COMMENT ON FUNCTION enable(text, name) IS 'a stored table can be written to again';

CREATE FUNCTION is_enabled(name text, server name DEFAULT 'widecol') RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_is_enabled' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION is_enabled(text, name) IS 'can the stored table be written to?';

CREATE FUNCTION drop_table(name text, cascade boolean DEFAULT false, server name DEFAULT 'widecol') RETURNS void
AS 'MODULE_PATHNAME', 'widecol_drop_table' LANGUAGE C;
COMMENT ON FUNCTION drop_table(text, boolean, name) IS 'drops a stored table and its data; cascade: the foreign tables that map it, too';

CREATE FUNCTION truncate_table(name text, server name DEFAULT 'widecol') RETURNS void
AS 'MODULE_PATHNAME', 'widecol_truncate_table' LANGUAGE C;
COMMENT ON FUNCTION truncate_table(text, name) IS 'empties a stored table';

CREATE FUNCTION "exists"(name text, server name DEFAULT 'widecol') RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_exists' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION "exists"(text, name) IS 'is there such a stored table?';

CREATE FUNCTION describe(name text, server name DEFAULT 'widecol',
    OUT family text, OUT versions int, OUT min_versions int, OUT ttl interval,
    OUT keep_deleted_cells text, OUT bloomfilter text, OUT compression text, OUT blocksize int,
    OUT blockcache boolean, OUT in_memory boolean, OUT packing text, OUT history_from timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_describe' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION describe(text, name) IS 'a row a family of a stored table; ttl null: for ever';

-- ---------------------------------------------------------------------------
-- Data: tab is a foreign table, or by its name a stored table, which is for its owner.
-- src/shell/access.h says which privileges each function needs.
-- ---------------------------------------------------------------------------

CREATE FUNCTION put(tab regclass, "row" bytes, col text, value bytes, ts bigint DEFAULT NULL, ttl interval DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'widecol_put' LANGUAGE C;
CREATE FUNCTION put(tab text, "row" bytes, col text, value bytes, ts bigint DEFAULT NULL, ttl interval DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'widecol_put' LANGUAGE C;
COMMENT ON FUNCTION put(regclass, bytes, text, bytes, bigint, interval) IS 'writes one cell';
COMMENT ON FUNCTION put(text, bytes, text, bytes, bigint, interval) IS 'writes one cell';

CREATE FUNCTION get(tab regclass, "row" bytes, columns text[] DEFAULT NULL, versions int DEFAULT 1,
    time_range int8range DEFAULT NULL, column_limit int DEFAULT NULL, column_offset int DEFAULT NULL, filter text DEFAULT NULL)
RETURNS SETOF cell
AS 'MODULE_PATHNAME', 'widecol_get' LANGUAGE C ROWS 10;
CREATE FUNCTION get(tab text, "row" bytes, columns text[] DEFAULT NULL, versions int DEFAULT 1,
    time_range int8range DEFAULT NULL, column_limit int DEFAULT NULL, column_offset int DEFAULT NULL, filter text DEFAULT NULL)
RETURNS SETOF cell
AS 'MODULE_PATHNAME', 'widecol_get' LANGUAGE C ROWS 10;
COMMENT ON FUNCTION get(regclass, bytes, text[], int, int8range, int, int, text) IS 'the cells of one row';
COMMENT ON FUNCTION get(text, bytes, text[], int, int8range, int, int, text) IS 'the cells of one row';

CREATE FUNCTION get(tab regclass, rows bytes[], columns text[] DEFAULT NULL, versions int DEFAULT 1,
    time_range int8range DEFAULT NULL, column_limit int DEFAULT NULL, column_offset int DEFAULT NULL, filter text DEFAULT NULL)
RETURNS SETOF cell
AS 'MODULE_PATHNAME', 'widecol_get_rows' LANGUAGE C ROWS 100;
CREATE FUNCTION get(tab text, rows bytes[], columns text[] DEFAULT NULL, versions int DEFAULT 1,
    time_range int8range DEFAULT NULL, column_limit int DEFAULT NULL, column_offset int DEFAULT NULL, filter text DEFAULT NULL)
RETURNS SETOF cell
AS 'MODULE_PATHNAME', 'widecol_get_rows' LANGUAGE C ROWS 100;
COMMENT ON FUNCTION get(regclass, bytes[], text[], int, int8range, int, int, text) IS 'the cells of some rows, in the order of their keys';
COMMENT ON FUNCTION get(text, bytes[], text[], int, int8range, int, int, text) IS 'the cells of some rows, in the order of their keys';

-- PostgreSQL computes all rows of a function in FROM before it uses the first; of a function in the select list it
-- takes one row after the other.  So scan is a function in SQL, which the planner inlines: a LIMIT ends it early.
CREATE FUNCTION scan_cells(tab regclass, start_row bytes, stop_row bytes, row_prefix bytes, columns text[], versions int, time_range int8range,
    reversed boolean, row_limit bigint, raw boolean, include_start boolean, include_stop boolean, column_limit int, column_offset int, filter text)
RETURNS SETOF cell
AS 'MODULE_PATHNAME', 'widecol_scan_cells' LANGUAGE C STABLE ROWS 1000;
CREATE FUNCTION scan_cells(tab text, start_row bytes, stop_row bytes, row_prefix bytes, columns text[], versions int, time_range int8range,
    reversed boolean, row_limit bigint, raw boolean, include_start boolean, include_stop boolean, column_limit int, column_offset int, filter text)
RETURNS SETOF cell
AS 'MODULE_PATHNAME', 'widecol_scan_cells' LANGUAGE C STABLE ROWS 1000;
COMMENT ON FUNCTION scan_cells(regclass, bytes, bytes, bytes, text[], int, int8range, boolean, bigint, boolean, boolean, boolean, int, int, text)
IS 'what widecol.scan calls: its cells one by one';
COMMENT ON FUNCTION scan_cells(text, bytes, bytes, bytes, text[], int, int8range, boolean, bigint, boolean, boolean, boolean, int, int, text)
IS 'what widecol.scan calls: its cells one by one';

CREATE FUNCTION scan(tab regclass, start_row bytes DEFAULT NULL, stop_row bytes DEFAULT NULL, row_prefix bytes DEFAULT NULL,
    columns text[] DEFAULT NULL, versions int DEFAULT 1, time_range int8range DEFAULT NULL, reversed boolean DEFAULT false,
    row_limit bigint DEFAULT NULL, raw boolean DEFAULT false, include_start boolean DEFAULT true, include_stop boolean DEFAULT false,
    column_limit int DEFAULT NULL, column_offset int DEFAULT NULL, filter text DEFAULT NULL)
RETURNS SETOF cell
LANGUAGE sql STABLE ROWS 1000
AS $$SELECT (c."cell")."row", (c."cell").family, (c."cell").qualifier, (c."cell").ts, (c."cell").type, (c."cell").value
FROM (SELECT widecol.scan_cells($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) AS "cell") c$$;
CREATE FUNCTION scan(tab text, start_row bytes DEFAULT NULL, stop_row bytes DEFAULT NULL, row_prefix bytes DEFAULT NULL,
    columns text[] DEFAULT NULL, versions int DEFAULT 1, time_range int8range DEFAULT NULL, reversed boolean DEFAULT false,
    row_limit bigint DEFAULT NULL, raw boolean DEFAULT false, include_start boolean DEFAULT true, include_stop boolean DEFAULT false,
    column_limit int DEFAULT NULL, column_offset int DEFAULT NULL, filter text DEFAULT NULL)
RETURNS SETOF cell
LANGUAGE sql STABLE ROWS 1000
AS $$SELECT (c."cell")."row", (c."cell").family, (c."cell").qualifier, (c."cell").ts, (c."cell").type, (c."cell").value
FROM (SELECT widecol.scan_cells($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) AS "cell") c$$;
COMMENT ON FUNCTION scan(regclass, bytes, bytes, bytes, text[], int, int8range, boolean, bigint, boolean, boolean, boolean, int, int, text)
IS 'the cells of a range of rows, in HBase''s order';
COMMENT ON FUNCTION scan(text, bytes, bytes, bytes, text[], int, int8range, boolean, bigint, boolean, boolean, boolean, int, int, text)
IS 'the cells of a range of rows, in HBase''s order';

CREATE FUNCTION count(tab regclass, start_row bytes DEFAULT NULL, stop_row bytes DEFAULT NULL, row_prefix bytes DEFAULT NULL,
    columns text[] DEFAULT NULL, time_range int8range DEFAULT NULL, filter text DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'widecol_count' LANGUAGE C;
CREATE FUNCTION count(tab text, start_row bytes DEFAULT NULL, stop_row bytes DEFAULT NULL, row_prefix bytes DEFAULT NULL,
    columns text[] DEFAULT NULL, time_range int8range DEFAULT NULL, filter text DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'widecol_count' LANGUAGE C;
COMMENT ON FUNCTION count(regclass, bytes, bytes, bytes, text[], int8range, text) IS 'number of rows of a range';
COMMENT ON FUNCTION count(text, bytes, bytes, bytes, text[], int8range, text) IS 'number of rows of a range';

CREATE FUNCTION get_counter(tab regclass, "row" bytes, col text) RETURNS bigint
AS 'MODULE_PATHNAME', 'widecol_get_counter' LANGUAGE C;
CREATE FUNCTION get_counter(tab text, "row" bytes, col text) RETURNS bigint
AS 'MODULE_PATHNAME', 'widecol_get_counter' LANGUAGE C;
COMMENT ON FUNCTION get_counter(regclass, bytes, text) IS 'what a counter is; null: there is no cell';
COMMENT ON FUNCTION get_counter(text, bytes, text) IS 'what a counter is; null: there is no cell';

CREATE FUNCTION delete(tab regclass, "row" bytes, col text, ts bigint DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete' LANGUAGE C;
CREATE FUNCTION delete(tab text, "row" bytes, col text, ts bigint DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete' LANGUAGE C;
COMMENT ON FUNCTION delete(regclass, bytes, text, bigint) IS 'deletes every version of a column up to ts';
COMMENT ON FUNCTION delete(text, bytes, text, bigint) IS 'deletes every version of a column up to ts';

CREATE FUNCTION delete_version(tab regclass, "row" bytes, col text, ts bigint DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete_version' LANGUAGE C;
CREATE FUNCTION delete_version(tab text, "row" bytes, col text, ts bigint DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete_version' LANGUAGE C;
COMMENT ON FUNCTION delete_version(regclass, bytes, text, bigint) IS 'deletes exactly the version at ts; null: the newest visible one';
COMMENT ON FUNCTION delete_version(text, bytes, text, bigint) IS 'deletes exactly the version at ts; null: the newest visible one';

CREATE FUNCTION delete_family(tab regclass, "row" bytes, family text, ts bigint DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete_family' LANGUAGE C;
CREATE FUNCTION delete_family(tab text, "row" bytes, family text, ts bigint DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete_family' LANGUAGE C;
COMMENT ON FUNCTION delete_family(regclass, bytes, text, bigint) IS 'deletes every version of every column of a family up to ts';
COMMENT ON FUNCTION delete_family(text, bytes, text, bigint) IS 'deletes every version of every column of a family up to ts';

CREATE FUNCTION delete_family_version(tab regclass, "row" bytes, family text, ts bigint) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete_family_version' LANGUAGE C;
CREATE FUNCTION delete_family_version(tab text, "row" bytes, family text, ts bigint) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_delete_family_version' LANGUAGE C;
COMMENT ON FUNCTION delete_family_version(regclass, bytes, text, bigint) IS 'deletes the versions at exactly ts of every column of a family';
COMMENT ON FUNCTION delete_family_version(text, bytes, text, bigint) IS 'deletes the versions at exactly ts of every column of a family';

CREATE FUNCTION deleteall(tab regclass, "row" bytes DEFAULT NULL, col text DEFAULT NULL, ts bigint DEFAULT NULL,
    row_prefix bytes DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'widecol_deleteall' LANGUAGE C;
CREATE FUNCTION deleteall(tab text, "row" bytes DEFAULT NULL, col text DEFAULT NULL, ts bigint DEFAULT NULL,
    row_prefix bytes DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'widecol_deleteall' LANGUAGE C;
COMMENT ON FUNCTION deleteall(regclass, bytes, text, bigint, bytes) IS 'deletes a row, or all with a prefix, or one column of them, up to ts';
COMMENT ON FUNCTION deleteall(text, bytes, text, bigint, bytes) IS 'deletes a row, or all with a prefix, or one column of them, up to ts';

-- Row keys of foreign tables, from the values of their key columns and back.

CREATE FUNCTION row_key(tab regclass, VARIADIC key "any") RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_row_key' LANGUAGE C STABLE;
COMMENT ON FUNCTION row_key(regclass, "any") IS 'the row key of the row with these values of the key columns';

CREATE FUNCTION row_key_parts(tab regclass, "row" bytes) RETURNS record
AS 'MODULE_PATHNAME', 'widecol_row_key_parts' LANGUAGE C STABLE;
COMMENT ON FUNCTION row_key_parts(regclass, bytes) IS 'the values of the key columns in a row key';

-- Counters and conditional writes lock the row to the end of the transaction.

CREATE FUNCTION incr(tab regclass, "row" bytes, col text, by bigint DEFAULT 1, ts bigint DEFAULT NULL, ttl interval DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'widecol_incr' LANGUAGE C;
CREATE FUNCTION incr(tab text, "row" bytes, col text, by bigint DEFAULT 1, ts bigint DEFAULT NULL, ttl interval DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'widecol_incr' LANGUAGE C;
COMMENT ON FUNCTION incr(regclass, bytes, text, bigint, bigint, interval) IS 'adds to a counter of 8 bytes, big-endian; returns the new value';
COMMENT ON FUNCTION incr(text, bytes, text, bigint, bigint, interval) IS 'adds to a counter of 8 bytes, big-endian; returns the new value';

CREATE FUNCTION append(tab regclass, "row" bytes, col text, value bytes, ts bigint DEFAULT NULL, ttl interval DEFAULT NULL)
RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_append' LANGUAGE C;
CREATE FUNCTION append(tab text, "row" bytes, col text, value bytes, ts bigint DEFAULT NULL, ttl interval DEFAULT NULL)
RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_append' LANGUAGE C;
COMMENT ON FUNCTION append(regclass, bytes, text, bytes, bigint, interval) IS 'appends to a cell; returns the new value';
COMMENT ON FUNCTION append(text, bytes, text, bytes, bigint, interval) IS 'appends to a cell; returns the new value';

CREATE FUNCTION "check"(tab regclass, "row" bytes, check_col text, expected bytes, op text DEFAULT '=',
    time_range int8range DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_check' LANGUAGE C;
CREATE FUNCTION "check"(tab text, "row" bytes, check_col text, expected bytes, op text DEFAULT '=',
    time_range int8range DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_check' LANGUAGE C;
COMMENT ON FUNCTION "check"(regclass, bytes, text, bytes, text, int8range)
IS 'locks the row, then compares: expected op stored; expected null: there is no cell, or an empty one';
COMMENT ON FUNCTION "check"(text, bytes, text, bytes, text, int8range)
IS 'locks the row, then compares: expected op stored; expected null: there is no cell, or an empty one';

CREATE FUNCTION check_and_put(tab regclass, "row" bytes, check_col text, expected bytes, col text, value bytes, op text DEFAULT '=')
RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_check_and_put' LANGUAGE C;
CREATE FUNCTION check_and_put(tab text, "row" bytes, check_col text, expected bytes, col text, value bytes, op text DEFAULT '=')
RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_check_and_put' LANGUAGE C;
COMMENT ON FUNCTION check_and_put(regclass, bytes, text, bytes, text, bytes, text) IS 'writes one cell if the check holds; whether it did';
COMMENT ON FUNCTION check_and_put(text, bytes, text, bytes, text, bytes, text) IS 'writes one cell if the check holds; whether it did';

CREATE FUNCTION check_and_delete(tab regclass, "row" bytes, check_col text, expected bytes, col text, op text DEFAULT '=')
RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_check_and_delete' LANGUAGE C;
CREATE FUNCTION check_and_delete(tab text, "row" bytes, check_col text, expected bytes, col text, op text DEFAULT '=')
RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_check_and_delete' LANGUAGE C;
COMMENT ON FUNCTION check_and_delete(regclass, bytes, text, bytes, text, text) IS 'deletes a column if the check holds; whether it did';
COMMENT ON FUNCTION check_and_delete(text, bytes, text, bytes, text, text) IS 'deletes a column if the check holds; whether it did';

-- ---------------------------------------------------------------------------
-- Values as HBase's class Bytes writes them in Java, and bytes as its shell shows them
-- ---------------------------------------------------------------------------

CREATE FUNCTION to_bytes(value bigint) RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_to_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_bytes(bigint) IS 'the bytes that Bytes.toBytes makes of it';
CREATE FUNCTION to_bytes(value int) RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_to_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_bytes(int) IS 'the bytes that Bytes.toBytes makes of it';
CREATE FUNCTION to_bytes(value smallint) RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_to_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_bytes(smallint) IS 'the bytes that Bytes.toBytes makes of it';
CREATE FUNCTION to_bytes(value real) RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_to_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_bytes(real) IS 'the bytes that Bytes.toBytes makes of it';
CREATE FUNCTION to_bytes(value float8) RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_to_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_bytes(float8) IS 'the bytes that Bytes.toBytes makes of it';
CREATE FUNCTION to_bytes(value numeric) RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_to_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_bytes(numeric) IS 'the bytes that Bytes.toBytes makes of it';
CREATE FUNCTION to_bytes(value boolean) RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_to_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_bytes(boolean) IS 'the bytes that Bytes.toBytes makes of it';
CREATE FUNCTION to_bytes(value text) RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_to_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_bytes(text) IS 'the bytes that Bytes.toBytes makes of it';

CREATE FUNCTION to_long(bytes bytea) RETURNS bigint
AS 'MODULE_PATHNAME', 'widecol_from_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_long(bytea) IS '8 bytes as a number';

CREATE FUNCTION to_int(bytes bytea) RETURNS int
AS 'MODULE_PATHNAME', 'widecol_from_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_int(bytea) IS '4 bytes as a number';

CREATE FUNCTION to_short(bytes bytea) RETURNS smallint
AS 'MODULE_PATHNAME', 'widecol_from_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_short(bytea) IS '2 bytes as a number';

CREATE FUNCTION to_float(bytes bytea) RETURNS real
AS 'MODULE_PATHNAME', 'widecol_from_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_float(bytea) IS '4 bytes as a floating-point number';

CREATE FUNCTION to_double(bytes bytea) RETURNS float8
AS 'MODULE_PATHNAME', 'widecol_from_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_double(bytea) IS '8 bytes as a floating-point number';

CREATE FUNCTION to_big_decimal(bytes bytea) RETURNS numeric
AS 'MODULE_PATHNAME', 'widecol_from_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_big_decimal(bytea) IS '4 bytes of scale and a number, as a decimal number';

CREATE FUNCTION to_boolean(bytes bytea) RETURNS boolean
AS 'MODULE_PATHNAME', 'widecol_from_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_boolean(bytea) IS 'one byte as true or false';

CREATE FUNCTION to_string(bytes bytea) RETURNS text
AS 'MODULE_PATHNAME', 'widecol_from_bytes' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_string(bytea) IS 'bytes in UTF-8 as text';

CREATE FUNCTION to_string_binary(bytes bytea) RETURNS text
AS 'MODULE_PATHNAME', 'widecol_to_string_binary' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_string_binary(bytea) IS 'bytes as HBase''s shell shows them: printable ASCII as it is, the rest as \xHH';

CREATE FUNCTION to_bytes_binary(value text) RETURNS bytea
AS 'MODULE_PATHNAME', 'widecol_to_bytes_binary' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION to_bytes_binary(text) IS 'the bytes of what to_string_binary shows';

-- ---------------------------------------------------------------------------
-- Administration
-- ---------------------------------------------------------------------------

CREATE FUNCTION flush(name text, family text DEFAULT NULL, wait boolean DEFAULT true) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_flush' LANGUAGE C;
COMMENT ON FUNCTION flush(text, text, boolean) IS 'writes a stored table''s memory to files';

CREATE FUNCTION compact(name text, family text DEFAULT NULL, wait boolean DEFAULT true) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_compact' LANGUAGE C;
COMMENT ON FUNCTION compact(text, text, boolean) IS 'compacts a stored table''s files, keeping delete markers';

CREATE FUNCTION major_compact(name text, family text DEFAULT NULL, wait boolean DEFAULT true) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_major_compact' LANGUAGE C;
COMMENT ON FUNCTION major_compact(text, text, boolean) IS 'compacts a stored table''s files into one and forgets what may be forgotten';

CREATE FUNCTION compaction_state(name text) RETURNS text
AS 'MODULE_PATHNAME', 'widecol_compaction_state' LANGUAGE C;
COMMENT ON FUNCTION compaction_state(text) IS 'compactions under way or waiting: NONE, MINOR, MAJOR or MAJOR_AND_MINOR';

CREATE FUNCTION check_store(name text DEFAULT NULL, OUT stored_table text, OUT family text, OUT problem text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_check_store' LANGUAGE C VOLATILE ROWS 1;
COMMENT ON FUNCTION check_store(text) IS 'reads a whole stored table; a row for each damage; null: the catalog and all stored tables';

CREATE FUNCTION regions(name text, server name DEFAULT 'widecol', OUT start_row bytea, OUT end_row bytea, OUT rows bigint, OUT bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_regions' LANGUAGE C STRICT ROWS 10;
COMMENT ON FUNCTION regions(text, name) IS 'a row a region between split points; rows and bytes are approximate';

CREATE FUNCTION list_regions(name text, server name DEFAULT 'widecol',
    OUT region text, OUT start_row bytea, OUT end_row bytea, OUT rows bigint, OUT bytes bigint)
RETURNS SETOF record
LANGUAGE sql STRICT VOLATILE ROWS 10
AS $$SELECT $1 OPERATOR(pg_catalog.||) ',' OPERATOR(pg_catalog.||) widecol.to_string_binary(start_row), * FROM widecol.regions($1, $2)$$;
COMMENT ON FUNCTION list_regions(text, name) IS 'regions, with a name for each as HBase''s begin: table,start row';

CREATE FUNCTION get_splits(name text, server name DEFAULT 'widecol') RETURNS bytea[]
AS 'MODULE_PATHNAME', 'widecol_get_splits' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION get_splits(text, name) IS 'the split points of a stored table';

CREATE FUNCTION split(name text, split_point bytes) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_split' LANGUAGE C;
COMMENT ON FUNCTION split(text, bytes) IS 'adds a split point: of the region in which it is become two';

CREATE FUNCTION merge_regions(name text, split_point bytes) RETURNS void
AS 'MODULE_PATHNAME', 'widecol_merge_regions' LANGUAGE C;
COMMENT ON FUNCTION merge_regions(text, bytes) IS 'takes a split point away: the regions beside it become one';

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
-- Dumps: the parts of stored tables that the foreign tables of a database do not show.  pg_dump
-- dumps this foreign table as configuration of the extension, with --include-foreign-data=widecol.
-- An INSERT makes stored tables of any owner: grant no privileges on it.
-- ---------------------------------------------------------------------------

CREATE FOREIGN TABLE dump (
    kind      text NOT NULL,
    name      text NOT NULL,
    owner     name,
    families  jsonb,
    splits    bytea[],
    "row"     bytea,
    family    text,
    qualifier bytea,
    ts        bigint,
    type      text,
    value     bytea,
    ttl       interval
) SERVER widecol OPTIONS (layout 'dump');
COMMENT ON FOREIGN TABLE dump IS 'for pg_dump: namespaces, stored tables, and the cells that no foreign table shows';
COMMENT ON COLUMN dump.kind IS 'namespace, table, cell, or newest (a cell that replaces what a foreign table brings)';
COMMENT ON COLUMN dump.name IS 'of the namespace or the stored table';
COMMENT ON COLUMN dump.owner IS 'of a table: its owner';
COMMENT ON COLUMN dump.families IS 'of a table: its families with all attributes; of a namespace: its properties';
COMMENT ON COLUMN dump.splits IS 'of a table: its split points';
COMMENT ON COLUMN dump."row" IS 'of a cell: the row key as it is stored';
COMMENT ON COLUMN dump.family IS 'of a cell: name of the family';
COMMENT ON COLUMN dump.qualifier IS 'of a cell: name of the column in the family';
COMMENT ON COLUMN dump.ts IS 'of a cell: microseconds since 1970-01-01 UTC';
COMMENT ON COLUMN dump.type IS 'of a cell: Put, Delete, DeleteColumn, DeleteFamily or DeleteFamilyVersion';
COMMENT ON COLUMN dump.value IS 'of a cell: the value';
COMMENT ON COLUMN dump.ttl IS 'of a cell, or a table: its time to live; null: none of its own';
SELECT pg_catalog.pg_extension_config_dump('dump', '');

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

CREATE FUNCTION list_tables(server name DEFAULT 'widecol', OUT namespace text, OUT name text, OUT families text[], OUT splits int, OUT owner name,
    OUT foreign_tables regclass[], OUT ttl interval, OUT enabled boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_tables' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION list_tables(name) IS 'what the view widecol.tables shows';

CREATE FUNCTION orphans(OUT database oid, OUT namespace text, OUT name text, OUT families text[])
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_orphans' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION orphans() IS 'stored tables of databases that are no more';
REVOKE ALL ON FUNCTION orphans() FROM PUBLIC;

CREATE FUNCTION drop_orphans() RETURNS bigint
AS 'MODULE_PATHNAME', 'widecol_drop_orphans' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION drop_orphans() IS 'drop the stored tables of databases that are no more; how many there were';
REVOKE ALL ON FUNCTION drop_orphans() FROM PUBLIC;

CREATE FUNCTION list_namespaces(server name DEFAULT 'widecol', OUT namespace text, OUT tables int, OUT properties jsonb)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_namespaces' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION list_namespaces(name) IS 'what the view widecol.namespaces shows';

CREATE FUNCTION list_families(server name DEFAULT 'widecol', OUT namespace text, OUT "table" text, OUT family text, OUT versions int, OUT min_versions int,
    OUT ttl interval, OUT keep_deleted_cells text, OUT bloomfilter text, OUT compression text, OUT blocksize int,
    OUT blockcache boolean, OUT in_memory boolean, OUT packing text, OUT history_from timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_families' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION list_families(name) IS 'what the view widecol.families shows';

CREATE VIEW tables AS SELECT * FROM widecol.list_tables();
COMMENT ON VIEW tables IS 'the stored tables of this database';
COMMENT ON COLUMN tables.namespace IS 'default, if none was given';
COMMENT ON COLUMN tables.name IS 'name of the stored table, without the namespace';
COMMENT ON COLUMN tables.families IS 'names of its families';
COMMENT ON COLUMN tables.splits IS 'number of split points';
COMMENT ON COLUMN tables.owner IS 'the owning role; null: gone or unknown';
COMMENT ON COLUMN tables.foreign_tables IS 'foreign tables that map it';
COMMENT ON COLUMN tables.ttl IS 'time to live in families without one of their own; null: for ever';
COMMENT ON COLUMN tables.enabled IS 'false: it is only read';
GRANT SELECT ON tables TO PUBLIC;

CREATE VIEW namespaces AS SELECT * FROM widecol.list_namespaces();
COMMENT ON VIEW namespaces IS 'the namespaces of this database';
COMMENT ON COLUMN namespaces.namespace IS 'its name; default is always there';
COMMENT ON COLUMN namespaces.tables IS 'number of stored tables in it';
COMMENT ON COLUMN namespaces.properties IS 'what create_namespace and alter_namespace have set';
GRANT SELECT ON namespaces TO PUBLIC;

CREATE VIEW families AS SELECT * FROM widecol.list_families();
COMMENT ON VIEW families IS 'the families of this database''s stored tables, with their attributes';
COMMENT ON COLUMN families.namespace IS 'of the stored table';
COMMENT ON COLUMN families."table" IS 'name of the stored table, without the namespace';
COMMENT ON COLUMN families.family IS 'name of the family';
COMMENT ON COLUMN families.versions IS 'most versions of a column that are kept';
COMMENT ON COLUMN families.min_versions IS 'versions that stay although ttl is over';
COMMENT ON COLUMN families.ttl IS 'time to live of cells; null: for ever';
COMMENT ON COLUMN families.keep_deleted_cells IS 'false, true or ttl: whether deleted cells are kept';
COMMENT ON COLUMN families.bloomfilter IS 'none, row or rowcol: of what there is a filter';
COMMENT ON COLUMN families.compression IS 'none, snappy, lz4 or zstd';
COMMENT ON COLUMN families.blocksize IS 'bytes of a block before compression';
COMMENT ON COLUMN families.blockcache IS 'whether blocks are cached';
COMMENT ON COLUMN families.in_memory IS 'whether its blocks have a part of the cache';
COMMENT ON COLUMN families.packing IS 'row or cell: what makes a key of the store';
COMMENT ON COLUMN families.history_from IS 'since when it remembers all that it held; null: all of it';
GRANT SELECT ON families TO PUBLIC;

-- ---------------------------------------------------------------------------
-- Statistics, as PostgreSQL's own views are
-- ---------------------------------------------------------------------------

CREATE FUNCTION stat_engine(OUT state text, OUT pid int, OUT started_at timestamptz, OUT error text, OUT stalled_since timestamptz,
    OUT stall text, OUT read_lsn pg_lsn, OUT applied_lsn pg_lsn, OUT replay_lag_bytes bigint, OUT replay_lag interval,
    OUT last_commit_at timestamptz, OUT backlog_commits bigint, OUT backlog_bytes bigint, OUT commits bigint,
    OUT operations bigint, OUT void_operations bigint, OUT batches bigint, OUT bytes_logged bigint, OUT steps bigint,
    OUT sessions bigint, OUT requests bigint, OUT blocks_hit bigint, OUT blocks_read bigint, OUT get_cache_hits bigint,
    OUT get_cache_misses bigint, OUT snapshots bigint, OUT oldest_snapshot_at timestamptz, OUT oldest_snapshot_pid int,
    OUT memtable_bytes bigint, OUT index_bytes bigint, OUT block_cache_bytes bigint, OUT transaction_bytes bigint,
    OUT get_cache_bytes bigint, OUT flushes bigint, OUT flushed_bytes bigint, OUT compactions bigint,
    OUT compacted_bytes bigint, OUT flushes_running bigint, OUT compactions_running bigint,
    OUT compactions_waiting bigint, OUT stalls bigint, OUT writes text, OUT files bigint, OUT file_bytes bigint,
    OUT level_bytes bigint[], OUT stats_reset timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_stat_engine' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION stat_engine() IS 'what the view widecol.pg_stat_widecol shows';

CREATE VIEW pg_stat_widecol AS SELECT * FROM widecol.stat_engine();
COMMENT ON VIEW pg_stat_widecol IS 'one row: the engine';
COMMENT ON COLUMN pg_stat_widecol.state IS 'ready; starting, stopped, failed or absent: then nothing is known but state, error, stall and positions';
COMMENT ON COLUMN pg_stat_widecol.pid IS 'process of the engine; null: it is not ready';
COMMENT ON COLUMN pg_stat_widecol.started_at IS 'when the store was opened';
COMMENT ON COLUMN pg_stat_widecol.error IS 'why the engine could not start, or why RocksDB takes no writes; null: no error, or pg_read_all_stats is missing';
COMMENT ON COLUMN pg_stat_widecol.stalled_since IS 'since when commits cannot be applied; null: they can';
COMMENT ON COLUMN pg_stat_widecol.stall IS 'why they cannot; null also without pg_read_all_stats';
COMMENT ON COLUMN pg_stat_widecol.read_lsn IS 'up to where the engine has read the server''s log';
COMMENT ON COLUMN pg_stat_widecol.applied_lsn IS 'up to where stored tables have all that the log says';
COMMENT ON COLUMN pg_stat_widecol.replay_lag_bytes IS 'bytes of the log, on a standby of the replayed log, that stored tables do not have yet';
COMMENT ON COLUMN pg_stat_widecol.replay_lag IS 'how long ago the oldest commit was made that the engine has read and not applied yet; 0: there is none';
COMMENT ON COLUMN pg_stat_widecol.last_commit_at IS 'time of the last commit that was applied since started_at';
COMMENT ON COLUMN pg_stat_widecol.backlog_commits IS 'commits that were read and not applied yet';
COMMENT ON COLUMN pg_stat_widecol.backlog_bytes IS 'bytes of their changes';
COMMENT ON COLUMN pg_stat_widecol.commits IS 'commits applied to stored tables';
COMMENT ON COLUMN pg_stat_widecol.operations IS 'operations of these commits: about as many as rows were written';
COMMENT ON COLUMN pg_stat_widecol.void_operations IS 'operations that had no effect although they had been checked; always 0 but for a defect';
COMMENT ON COLUMN pg_stat_widecol.batches IS 'batches of committed transactions that were read from the log';
COMMENT ON COLUMN pg_stat_widecol.bytes_logged IS 'bytes of these batches';
COMMENT ON COLUMN pg_stat_widecol.steps IS 'steps of flushes, compactions and upkeep';
COMMENT ON COLUMN pg_stat_widecol.sessions IS 'sessions that are connected to the engine';
COMMENT ON COLUMN pg_stat_widecol.requests IS 'requests that sessions have sent to the engine';
COMMENT ON COLUMN pg_stat_widecol.blocks_hit IS 'blocks that sessions found in the block cache, and pieces of the scan cache';
COMMENT ON COLUMN pg_stat_widecol.blocks_read IS 'blocks that sessions had to read from files';
COMMENT ON COLUMN pg_stat_widecol.get_cache_hits IS 'reads of one row, also to lock or to change it, and of short ranges, that shared memory has answered';
COMMENT ON COLUMN pg_stat_widecol.get_cache_misses IS 'those that shared memory was asked for and could not answer';
COMMENT ON COLUMN pg_stat_widecol.snapshots IS 'snapshots that are held';
COMMENT ON COLUMN pg_stat_widecol.oldest_snapshot_at IS 'when the oldest of them was taken';
COMMENT ON COLUMN pg_stat_widecol.oldest_snapshot_pid IS 'session that holds it; null: none, or the engine itself';
COMMENT ON COLUMN pg_stat_widecol.memtable_bytes IS 'memory of changes that have not been written to files yet';
COMMENT ON COLUMN pg_stat_widecol.index_bytes IS 'memory of indexes and filters of open files';
COMMENT ON COLUMN pg_stat_widecol.block_cache_bytes IS 'memory of blocks in the block cache, and of the scan cache';
COMMENT ON COLUMN pg_stat_widecol.transaction_bytes IS 'memory of changes of open transactions and of the backlog';
COMMENT ON COLUMN pg_stat_widecol.get_cache_bytes IS 'shared memory of the cache of Gets';
COMMENT ON COLUMN pg_stat_widecol.flushes IS 'files that were written from memory';
COMMENT ON COLUMN pg_stat_widecol.flushed_bytes IS 'bytes of these files';
COMMENT ON COLUMN pg_stat_widecol.compactions IS 'compactions of RocksDB that have ended';
COMMENT ON COLUMN pg_stat_widecol.compacted_bytes IS 'bytes of the files that they made';
COMMENT ON COLUMN pg_stat_widecol.flushes_running IS 'flushes that run now';
COMMENT ON COLUMN pg_stat_widecol.compactions_running IS 'compactions that run now';
COMMENT ON COLUMN pg_stat_widecol.compactions_waiting IS 'families that wait for a compaction';
COMMENT ON COLUMN pg_stat_widecol.stalls IS 'times that a family has slowed down or stopped writing';
COMMENT ON COLUMN pg_stat_widecol.writes IS 'normal; delayed or stopped: flushes and compactions do not keep up';
COMMENT ON COLUMN pg_stat_widecol.files IS 'files with stored tables'' data';
COMMENT ON COLUMN pg_stat_widecol.file_bytes IS 'bytes of these files';
COMMENT ON COLUMN pg_stat_widecol.level_bytes IS 'the same by level of RocksDB, from level 0 on';
COMMENT ON COLUMN pg_stat_widecol.stats_reset IS 'since when the counters count';
GRANT SELECT ON pg_stat_widecol TO PUBLIC;

CREATE FUNCTION stat_tables(OUT namespace text, OUT "table" text, OUT family text, OUT reads bigint, OUT rows_examined bigint,
    OUT rows_returned bigint, OUT cells_examined bigint, OUT cells_returned bigint, OUT cells_written bigint,
    OUT deletes bigint, OUT bytes_written bigint, OUT keys bigint, OUT dead_keys bigint, OUT memtable_bytes bigint,
    OUT files bigint, OUT file_bytes bigint, OUT flushes bigint, OUT last_flush timestamptz, OUT compactions bigint,
    OUT last_compaction timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_stat_tables' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION stat_tables() IS 'what the view widecol.pg_stat_widecol_tables shows';

CREATE VIEW pg_stat_widecol_tables AS SELECT * FROM widecol.stat_tables();
COMMENT ON VIEW pg_stat_widecol_tables IS 'a row for each family of this database''s stored tables: reads, writes, size';
COMMENT ON COLUMN pg_stat_widecol_tables.namespace IS 'of the stored table';
COMMENT ON COLUMN pg_stat_widecol_tables."table" IS 'name of the stored table, without the namespace';
COMMENT ON COLUMN pg_stat_widecol_tables.family IS 'name of the family';
COMMENT ON COLUMN pg_stat_widecol_tables.reads IS 'scans and reads of rows that have read the family in the engine';
COMMENT ON COLUMN pg_stat_widecol_tables.rows_examined IS 'rows that they have looked at, in whichever families';
COMMENT ON COLUMN pg_stat_widecol_tables.rows_returned IS 'rows that they have returned';
COMMENT ON COLUMN pg_stat_widecol_tables.cells_examined IS 'cells of the family that they have looked at';
COMMENT ON COLUMN pg_stat_widecol_tables.cells_returned IS 'cells of the family that they have returned';
COMMENT ON COLUMN pg_stat_widecol_tables.cells_written IS 'cells that commits have written';
COMMENT ON COLUMN pg_stat_widecol_tables.deletes IS 'delete markers that commits have written';
COMMENT ON COLUMN pg_stat_widecol_tables.bytes_written IS 'bytes of keys and values that commits have given to RocksDB';
COMMENT ON COLUMN pg_stat_widecol_tables.keys IS 'keys that are stored, estimated: rows, or cells of large rows with packing cell';
COMMENT ON COLUMN pg_stat_widecol_tables.dead_keys IS 'about how many of the stored keys could be dropped: superseded cells and delete markers';
COMMENT ON COLUMN pg_stat_widecol_tables.memtable_bytes IS 'memory of changes that have not been written to files yet';
COMMENT ON COLUMN pg_stat_widecol_tables.files IS 'files with the family''s data';
COMMENT ON COLUMN pg_stat_widecol_tables.file_bytes IS 'bytes of these files';
COMMENT ON COLUMN pg_stat_widecol_tables.flushes IS 'files that were written from memory';
COMMENT ON COLUMN pg_stat_widecol_tables.last_flush IS 'when the last of them was complete';
COMMENT ON COLUMN pg_stat_widecol_tables.compactions IS 'compactions of RocksDB that have ended';
COMMENT ON COLUMN pg_stat_widecol_tables.last_compaction IS 'when the last of them ended';
GRANT SELECT ON pg_stat_widecol_tables TO PUBLIC;

CREATE FUNCTION stat_sessions(OUT pid int, OUT datid oid, OUT state text, OUT request text, OUT namespace text, OUT "table" text,
    OUT state_change timestamptz, OUT scanners bigint, OUT snapshots bigint, OUT snapshot_at timestamptz,
    OUT transaction_bytes bigint, OUT requests bigint, OUT rows_examined bigint, OUT rows_returned bigint,
    OUT blocks_hit bigint, OUT blocks_read bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_stat_sessions' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION stat_sessions() IS 'what the engine knows of the view widecol.pg_stat_widecol_sessions';

CREATE VIEW pg_stat_widecol_sessions AS
SELECT s.pid, s.datid, d.datname, a.usename, s.state, s.request, s.namespace, s."table", s.state_change, s.scanners,
       s.snapshots, s.snapshot_at, s.transaction_bytes, s.requests, s.rows_examined, s.rows_returned, s.blocks_hit,
       s.blocks_read, CASE WHEN s.state IS NOT NULL THEN nullif(pg_blocking_pids(s.pid), '{}') END AS waits_for
FROM widecol.stat_sessions() s LEFT JOIN pg_database d ON d.oid = s.datid LEFT JOIN pg_stat_activity a ON a.pid = s.pid;
COMMENT ON VIEW pg_stat_widecol_sessions IS 'a row for each session, of any database, that is connected to the engine';
COMMENT ON COLUMN pg_stat_widecol_sessions.pid IS 'process of the session';
COMMENT ON COLUMN pg_stat_widecol_sessions.datid IS 'its database';
COMMENT ON COLUMN pg_stat_widecol_sessions.datname IS 'name of that database';
COMMENT ON COLUMN pg_stat_widecol_sessions.usename IS 'role of the session';
COMMENT ON COLUMN pg_stat_widecol_sessions.state IS 'active: the engine works on a request; idle: it does not; null, as the following: no privilege to see it';
COMMENT ON COLUMN pg_stat_widecol_sessions.request IS 'the request that it works on, or has worked on last';
COMMENT ON COLUMN pg_stat_widecol_sessions.namespace IS 'of the stored table that the request is about; null: of none';
COMMENT ON COLUMN pg_stat_widecol_sessions."table" IS 'name of that table, without the namespace';
COMMENT ON COLUMN pg_stat_widecol_sessions.state_change IS 'when the request began, or ended';
COMMENT ON COLUMN pg_stat_widecol_sessions.scanners IS 'scans that are open';
COMMENT ON COLUMN pg_stat_widecol_sessions.snapshots IS 'snapshots that it holds in the engine';
COMMENT ON COLUMN pg_stat_widecol_sessions.snapshot_at IS 'when the oldest of its snapshots was taken; null: none keeps old versions';
COMMENT ON COLUMN pg_stat_widecol_sessions.transaction_bytes IS 'changes of its transaction that the engine has';
COMMENT ON COLUMN pg_stat_widecol_sessions.requests IS 'requests that it has sent';
COMMENT ON COLUMN pg_stat_widecol_sessions.rows_examined IS 'rows that its scans have looked at';
COMMENT ON COLUMN pg_stat_widecol_sessions.rows_returned IS 'rows that they have returned';
COMMENT ON COLUMN pg_stat_widecol_sessions.blocks_hit IS 'blocks that they found in the block cache, and pieces of the scan cache';
COMMENT ON COLUMN pg_stat_widecol_sessions.blocks_read IS 'blocks that they had to read from files';
COMMENT ON COLUMN pg_stat_widecol_sessions.waits_for IS 'processes whose locks it waits for, of rows or anything else';
GRANT SELECT ON pg_stat_widecol_sessions TO PUBLIC;

CREATE FUNCTION pg_stat_widecol_reset() RETURNS void
AS 'MODULE_PATHNAME', 'widecol_stat_reset' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION pg_stat_widecol_reset() IS 'sets all counters of widecol''s statistics to 0';
REVOKE ALL ON FUNCTION pg_stat_widecol_reset() FROM PUBLIC;

CREATE FUNCTION stat_progress(OUT pid int, OUT datid oid, OUT operation text, OUT namespace text, OUT "table" text, OUT family text,
    OUT phase text, OUT done bigint, OUT total bigint, OUT unit text, OUT started_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'widecol_stat_progress' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION stat_progress() IS 'what the engine knows of the view widecol.progress';

-- COPY and ANALYZE of foreign tables are in PostgreSQL's own views.
CREATE VIEW progress AS
WITH maps AS (
  SELECT ftrelid FROM pg_foreign_table JOIN pg_foreign_server s ON s.oid = ftserver JOIN pg_foreign_data_wrapper w ON w.oid = srvfdw
  WHERE fdwname = 'widecol'
)
SELECT p.pid, p.datid, d.datname, p.operation, p.namespace, p."table", p.family, p.phase, p.done, p.total, p.unit, p.started_at
FROM widecol.stat_progress() p LEFT JOIN pg_database d ON d.oid = p.datid
UNION ALL
SELECT c.pid, c.datid, c.datname, 'load', NULL, c.relid::regclass::text, NULL, 'reading rows',
       CASE WHEN c.bytes_total > 0 THEN c.bytes_processed ELSE c.tuples_processed END, nullif(c.bytes_total, 0),
       CASE WHEN c.bytes_total > 0 THEN 'bytes' ELSE 'rows' END, a.query_start
FROM pg_stat_progress_copy c JOIN maps ON c.relid = ftrelid LEFT JOIN pg_stat_activity a USING (pid)
WHERE c.command = 'COPY FROM' AND c.datname = current_database()
UNION ALL
SELECT n.pid, n.datid, n.datname, 'analyze', NULL, n.relid::regclass::text, NULL, n.phase, n.sample_blks_scanned,
       nullif(n.sample_blks_total, 0), 'rows', a.query_start
FROM pg_stat_progress_analyze n JOIN maps ON n.relid = ftrelid LEFT JOIN pg_stat_activity a USING (pid)
WHERE n.datname = current_database();
COMMENT ON VIEW progress IS 'a row for each load, ANALYZE, flush and compaction under way';
COMMENT ON COLUMN progress.pid IS 'process that does it, or has asked the engine to; null: the engine does it by itself';
COMMENT ON COLUMN progress.datid IS 'database of the table';
COMMENT ON COLUMN progress.datname IS 'name of that database';
COMMENT ON COLUMN progress.operation IS 'load (COPY), analyze, flush, compaction, major compaction, upkeep, background flush, background compaction';
COMMENT ON COLUMN progress.namespace IS 'of the stored table; null: the operation is one of PostgreSQL, on a foreign table';
COMMENT ON COLUMN progress."table" IS 'name of the stored table without the namespace, or of the foreign table with its schema';
COMMENT ON COLUMN progress.family IS 'name of the family; null: all';
COMMENT ON COLUMN progress.phase IS 'the present part of the work';
COMMENT ON COLUMN progress.done IS 'how much of it is done; null: not known';
COMMENT ON COLUMN progress.total IS 'how much work there is in all, perhaps estimated; null: not known';
COMMENT ON COLUMN progress.unit IS 'of both: rows, keys, bytes, or parts of the family';
COMMENT ON COLUMN progress.started_at IS 'when the operation began, for PostgreSQL''s the statement';
GRANT SELECT ON progress TO PUBLIC;
