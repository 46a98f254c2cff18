/*
 * client/owner.h: whose a stored table is, and what takes its owner.
 *
 * A stored table belongs to a role, which is noted in its descriptor.  As with
 * PostgreSQL's own objects, whoever has the privileges of that role (is it, or is a
 * member of it and inherits) may do what the owner may; superusers may always.  A
 * table whose owner is unknown, or whose owner has been dropped, is the superusers'.
 */
#ifndef WC_CLIENT_OWNER_H
#define WC_CLIENT_OWNER_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "model/descriptor.h"

/* Has the current user (GetUserId) the privileges of the owner? */
extern bool wc_owner_is_mine(const WcTableDesc *desc);

/* The owner's name, palloc'd; NULL when there is none. */
extern char *wc_owner_name(const WcTableDesc *desc);

/* 42501 naming the owner unless wc_owner_is_mine.  hint: what the caller can do
 * instead, a whole sentence; NULL: it says whom to ask. */
extern void wc_owner_require(const WcTableDesc *desc, const char *hint);

/*
 * The stored table for a change that takes its owner: nobody else reads or writes it,
 * by name or through a foreign table, until the transaction ends.  Locks first
 * the foreign tables that map it, in the order of their oids, then the name.
 * action: for 55006, what cannot be done while a query of this session uses one of them,
 * those in `checked` aside, of which the caller knows.  *relids (unless NULL): the foreign
 * tables.
 */
extern WcTableDesc *wc_owner_open(const char *name, const char *action, List *checked, List **relids);

/*
 * The same for changes that foreign tables need not know of: locks the name alone against
 * all other users of it, who write to the table or call it by its name.
 */
extern WcTableDesc *wc_owner_open_name(const char *name);

/* 42501 when a foreign table already maps the name of this table, which is about to be
 * made, and is somebody's who has not the privileges of the owner to be: it would
 * show him what he may not see. */
extern void wc_owner_check_foreign_tables(const WcTableDesc *desc);

/* The owner becomes `role`: takes the owner, who must be able to become `role`, which
 * must have USAGE on the server widecol. */
extern void wc_owner_change(const char *name, Oid role);

/* REASSIGN OWNED: this database's stored tables of `roles` become those of `role`. */
extern void wc_owner_reassign(List *roles, Oid role);

/* The current user needs USAGE on the server widecol. */
extern void wc_owner_require_usage(void);

#endif
