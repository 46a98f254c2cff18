/*
 * compat.h: what differs between the versions of PostgreSQL that we build for,
 * said in the words of the oldest (15).  PostgreSQL side only; no other file
 * looks at the version.
 */
#ifndef WC_COMPAT_H
#define WC_COMPAT_H

#include "postgres.h"

#include "utils/acl.h"

#if PG_VERSION_NUM >= 160000
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_server.h"

#define pg_class_ownercheck(relation, role) object_ownercheck(RelationRelationId, (relation), (role))
#define pg_foreign_server_ownercheck(server, role) object_ownercheck(ForeignServerRelationId, (server), (role))
#define pg_foreign_server_aclcheck(server, role, mode) object_aclcheck(ForeignServerRelationId, (server), (role), (mode))
#endif

#endif
