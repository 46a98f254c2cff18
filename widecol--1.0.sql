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
