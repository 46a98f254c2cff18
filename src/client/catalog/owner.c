/*
 * client/catalog/owner.c: the owner of a stored table, and changes that only the owner may make.
 */
#include "postgres.h"

#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"

#include "client/catalog/owner.h"
#include "client/client.h"
#include "client/foreign/foreign.h"
#include "compat.h"

bool
wc_owner_is_mine(const WcTableDesc *desc)
{
	/* a dropped role has no members */
	if (!OidIsValid(desc->owner))
		return superuser();
	return has_privs_of_role(GetUserId(), desc->owner);
}

char *
wc_owner_name(const WcTableDesc *desc)
{
	return OidIsValid(desc->owner) ? GetUserNameFromId(desc->owner, true) : NULL;
}

void
wc_owner_require(const WcTableDesc *desc, const char *hint)
{
	char	   *owner;

	if (wc_owner_is_mine(desc))
		return;
	owner = wc_owner_name(desc);
	if (owner == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for stored table \"%s\", which has no owner and is the superusers'",
						wc_client_table_fullname(desc)),
				 errhint("A superuser can give it an owner with widecol.alter_table_owner.")));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for stored table \"%s\", whose owner is \"%s\"",
					wc_client_table_fullname(desc), owner),
			 hint ? errhint("%s", hint) :
			 errhint("Role \"%s\", its members and superusers can do it.", owner)));
}

/* The table, which is the current user's to change. */
static WcTableDesc *
open_mine(WcClientStore *store, const char *name)
{
	WcTableDesc *desc;

	if (!wc_client_store_is_embedded(store))
	{
		wc_owner_require_usage(store);
		return wc_client_store_table(store, name, false);
	}
	desc = wc_client_table(name, false);
	wc_owner_require(desc, NULL);
	return desc;
}

WcTableDesc *
wc_owner_open(WcClientStore *store, const char *name, const char *action, List *checked, List **relids)
{
	Oid			server = wc_client_store_server(store);
	List	   *locked;

	/* a user without the privilege must not lock the table, either */
	wc_client_require_writable();
	(void) open_mine(store, name);
	locked = wc_foreign_lock_tables_of(server, name, action, checked);
	if (wc_client_store_is_embedded(store))
		wc_client_lock_table(name, AccessExclusiveLock);

	/*
	 * A session that makes a foreign table that maps the name holds a lock on the name until
	 * the foreign table is visible: so no such session is running now.
	 */
	AcceptInvalidationMessages();
	if (list_difference_oid(wc_foreign_tables_of(server, name), locked) != NIL)
		locked = wc_foreign_lock_tables_of(server, name, action, checked);
	if (relids != NULL)
		*relids = locked;

	/* the table or its owner may have changed before the locks were taken */
	return open_mine(store, name);
}

WcTableDesc *
wc_owner_open_name(WcClientStore *store, const char *name)
{
	WcTableDesc *desc;

	wc_client_require_writable();
	desc = open_mine(store, name);
	if (!wc_client_store_is_embedded(store))
		return desc;
	wc_client_lock_table(name, AccessExclusiveLock);
	return open_mine(store, name);
}

void
wc_owner_require_usage(const WcClientStore *store)
{
	wc_foreign_require_usage(wc_client_store_is_embedded(store) ? GetForeignServerByName("widecol", false) :
							 GetForeignServer(wc_client_store_server(store)));
}

/* As for ALTER ... OWNER TO of PostgreSQL's own objects. */
static void
require_can_give_to(Oid role)
{
	ForeignServer *server;

	if (superuser())
		return;
	wc_check_can_become(GetUserId(), role);
	server = GetForeignServerByName("widecol", false);
	if (!pg_foreign_server_ownercheck(server->serverid, role) &&
		pg_foreign_server_aclcheck(server->serverid, role, ACL_USAGE) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\" cannot own a stored table", GetUserNameFromId(role, false)),
				 errdetail("It has no USAGE on the foreign server \"%s\".", server->servername)));
}

static void
set_owner(WcTableDesc *desc, Oid role)
{
	if (desc->owner == role)
		return;
	desc->owner = role;
	wc_client_alter_table(desc);
}

void
wc_owner_change(const char *name, Oid role)
{
	WcTableDesc *desc = wc_owner_open_name(wc_client_embedded(), name);

	require_can_give_to(role);
	set_owner(desc, role);
}

void
wc_owner_reassign(List *roles, Oid role)
{
	ListCell   *lc;

	foreach(lc, wc_client_list_tables())
	{
		WcTableDesc *desc = lfirst(lc);
		char	   *name = wc_client_table_fullname(desc);

		if (!list_member_oid(roles, desc->owner))
			continue;
		wc_client_lock_table(name, AccessExclusiveLock);
		desc = wc_client_table(name, true);
		if (desc != NULL && list_member_oid(roles, desc->owner))
			set_owner(desc, role);
	}
}
