/*
 * client/catalog/owner.h: the owner of a stored table, and changes that only the owner may make.
 *
 * A stored table belongs to a role, its owner, which the table's descriptor names.  As with
 * PostgreSQL's own objects, a user that has the privileges of this role (the role itself, or a
 * member that inherits) has the owner's rights; superusers always have them.  A table
 * whose owner is unknown, or has been dropped, belongs to the superusers.
 */
#ifndef WC_CLIENT_CATALOG_OWNER_H
#define WC_CLIENT_CATALOG_OWNER_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "client/client.h"

/* Has the current user (GetUserId) the privileges of the owner? */
extern bool wc_owner_is_mine(const WcTableDesc *desc);

/* The owner's name, palloc'd; NULL when there is none. */
extern char *wc_owner_name(const WcTableDesc *desc);

/* 42501 naming the owner unless wc_owner_is_mine.  hint: a whole sentence that says what the
 * user can do instead; NULL: the hint names the roles that can do it. */
extern void wc_owner_require(const WcTableDesc *desc, const char *hint);

/*
 * Opens the stored table for a change that only its owner may make: no other transaction reads or
 * writes the table, by name or through a foreign table, until this transaction ends.  Locks first
 * the foreign tables that map the table, in the order of their oids, then the name.
 * action: for 55006, the change that cannot be made while a query of this session uses one of the
 * foreign tables; those in `checked` are excepted, because the caller has checked them.  *relids (unless
 * NULL): the foreign tables.
 *
 * A table of an HBase cluster has no owner: it takes USAGE on the server.  Its foreign tables are locked, its name is
 * not: other clients of HBase know nothing of locks here.
 */
extern WcTableDesc *wc_owner_open(WcClientStore *store, const char *name, const char *action, List *checked, List **relids);

/*
 * The same for changes that foreign tables need not know of: locks the name alone, against
 * transactions that write to the table or use it by its name.
 */
extern WcTableDesc *wc_owner_open_name(WcClientStore *store, const char *name);

/* Makes `role` the owner.  Only the present owner may do so, and must be able to become `role`; `role`
 * must have USAGE on the server widecol. */
extern void wc_owner_change(const char *name, Oid role);

/* REASSIGN OWNED: makes `role` the owner of this database's stored tables that belong to `roles`. */
extern void wc_owner_reassign(List *roles, Oid role);

/* 42501 unless the current user has USAGE on the store's server: "widecol" of the embedded engine. */
extern void wc_owner_require_usage(const WcClientStore *store);

#endif
