/*
 * compat.h: differences between the versions of PostgreSQL for which widecol is built, as the oldest (15) has them.
 * PostgreSQL side only.  Other files test PG_VERSION_NUM only for a difference in the middle of a function.
 */
#ifndef WC_COMPAT_H
#define WC_COMPAT_H

#include "postgres.h"

#include "utils/acl.h"
#include "utils/memutils.h"

#if PG_VERSION_NUM >= 160000
#include "access/xlogrecord.h"
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_type.h"
#include "varatt.h"

#define pg_class_ownercheck(relation, role) object_ownercheck(RelationRelationId, (relation), (role))
#define pg_type_ownercheck(type, role) object_ownercheck(TypeRelationId, (type), (role))
#define pg_foreign_server_ownercheck(server, role) object_ownercheck(ForeignServerRelationId, (server), (role))
#define pg_foreign_server_aclcheck(server, role, mode) object_aclcheck(ForeignServerRelationId, (server), (role), (mode))
#endif

/* 42501 unless `member` can SET ROLE to `role`. */
#if PG_VERSION_NUM >= 160000
#define wc_check_can_become(member, role) check_can_set_role((member), (role))
#else
#define wc_check_can_become(member, role) check_is_member_of_role((member), (role))
#endif

/* A range of its bounds, in the type's canonical form. */
#if PG_VERSION_NUM >= 160000
#define wc_make_range(type, lower, upper) make_range((type), (lower), (upper), false, NULL)
#else
#define wc_make_range(type, lower, upper) make_range((type), (lower), (upper), false)
#endif

/* --- settings and times ---------------------------------------------------- */

/* Memory of settings' values; NULL when there is none. */
#if PG_VERSION_NUM >= 160000
#define wc_guc_malloc(size) guc_malloc(LOG, size)
#define wc_guc_strdup(s) guc_strdup(LOG, s)
#define wc_guc_free(p) guc_free(p)
#else
#define wc_guc_malloc(size) malloc(size)
#define wc_guc_strdup(s) strdup(s)
#define wc_guc_free(p) free(p)
#endif

#if PG_VERSION_NUM >= 160000
#define wc_decode_datetime(field, ftype, nf, dtype, tm, fsec, tz) \
	DecodeDateTime(field, ftype, nf, dtype, tm, fsec, tz, &(DateTimeErrorExtra) {0})
#else
#define wc_decode_datetime(field, ftype, nf, dtype, tm, fsec, tz) \
	DecodeDateTime(field, ftype, nf, dtype, tm, fsec, tz)
#endif

/* --- the server ------------------------------------------------------------ */

/* A wait event of our own; before 17 all extensions share one. */
#if PG_VERSION_NUM >= 170000
#define wc_wait_event_new(name) WaitEventExtensionNew(name)
#else
#define wc_wait_event_new(name) ((void) (name), PG_WAIT_EXTENSION)
#endif

/* A set of at most n events to wait for, until it is freed; _kept: it may outlive the statement and the transaction. */
#if PG_VERSION_NUM >= 170000
#define wc_wait_event_set(n) CreateWaitEventSet(NULL, (n))
#define wc_wait_event_set_kept(n) CreateWaitEventSet(NULL, (n))
#else
#define wc_wait_event_set(n) CreateWaitEventSet(CurrentMemoryContext, (n))
#define wc_wait_event_set_kept(n) CreateWaitEventSet(TopMemoryContext, (n))
#endif

/* A physical replication slot that stays. */
#if PG_VERSION_NUM >= 170000
#define wc_slot_create(name) ReplicationSlotCreate(name, false, RS_PERSISTENT, false, false, false)
#else
#define wc_slot_create(name) ReplicationSlotCreate(name, false, RS_PERSISTENT, false)
#endif

/* A slot whose log PostgreSQL has given up (max_slot_wal_keep_size) keeps log again.  The caller has its mutex. */
#if PG_VERSION_NUM >= 160000
#define wc_slot_revive(slot) ((slot)->data.invalidated = RS_INVAL_NONE)
#else
#define wc_slot_revive(slot) ((slot)->data.invalidated_at = InvalidXLogRecPtr)
#endif

/* The number of this process's transaction, as others see it. */
#if PG_VERSION_NUM >= 170000
#define wc_my_lxid (MyProc->vxid.lxid)
#else
#define wc_my_lxid (MyProc->lxid)
#endif

/* The database of a relation's storage. */
#if PG_VERSION_NUM >= 160000
#define wc_relation_database(relation) ((relation)->rd_locator.dbOid)
#else
#define wc_relation_database(relation) ((relation)->rd_node.dbNode)
#endif

/* Most bytes of one record of the log. */
#if PG_VERSION_NUM >= 160000
#define WC_XLOG_RECORD_MAX XLogRecordMaxSize
#else
#define WC_XLOG_RECORD_MAX MaxAllocSize
#endif

/* --- processes ------------------------------------------------------------- */

/* The process by the number that names it in a virtual transaction id; NULL: none. */
#if PG_VERSION_NUM >= 170000
#define wc_proc_of_backend(number) ProcNumberGetProc((ProcNumber) (number))
#else
#define wc_proc_of_backend(number) BackendIdGetProc((int) (number))
#endif

/* --- planning -------------------------------------------------------------- */

#if PG_VERSION_NUM >= 160000
#define wc_expression_pathkey(root, expr, opno, rel) \
	build_expression_pathkey(root, expr, opno, (rel)->relids, false)
#else
#define wc_expression_pathkey(root, expr, opno, rel) \
	build_expression_pathkey(root, expr, NULL, opno, (rel)->relids, false)
#endif

/* The GROUP BY clause without repeated expressions, and without those that have one value: NIL even if there is a GROUP BY. */
#if PG_VERSION_NUM >= 160000
#define wc_group_clause(root) ((root)->processed_groupClause)
#else
#define wc_group_clause(root) ((root)->parse->groupClause)
#endif

/* The DISTINCT clause without columns that have one value. */
#if PG_VERSION_NUM >= 160000
#define wc_distinct_clause(root) ((root)->processed_distinctClause)
#else
#define wc_distinct_clause(root) ((root)->parse->distinctClause)
#endif

#if PG_VERSION_NUM >= 180000
#define wc_make_foreign_upper_path(root, rel, target, rows, startup, total, pathkeys, private_) \
	create_foreign_upper_path(root, rel, target, rows, 0, startup, total, pathkeys, NULL, NIL, private_)
#elif PG_VERSION_NUM >= 170000
#define wc_make_foreign_upper_path(root, rel, target, rows, startup, total, pathkeys, private_) \
	create_foreign_upper_path(root, rel, target, rows, startup, total, pathkeys, NULL, NIL, private_)
#else
#define wc_make_foreign_upper_path(root, rel, target, rows, startup, total, pathkeys, private_) \
	create_foreign_upper_path(root, rel, target, rows, startup, total, pathkeys, NULL, private_)
#endif

#if PG_VERSION_NUM >= 180000
#define wc_make_foreign_path(root, rel, rows, startup, total, pathkeys, outer, private_) \
	create_foreignscan_path(root, rel, NULL, rows, 0, startup, total, pathkeys, outer, NULL, NIL, private_)
#elif PG_VERSION_NUM >= 170000
#define wc_make_foreign_path(root, rel, rows, startup, total, pathkeys, outer, private_) \
	create_foreignscan_path(root, rel, NULL, rows, startup, total, pathkeys, outer, NULL, NIL, private_)
#else
#define wc_make_foreign_path(root, rel, rows, startup, total, pathkeys, outer, private_) \
	create_foreignscan_path(root, rel, NULL, rows, startup, total, pathkeys, outer, NULL, private_)
#endif

#if PG_VERSION_NUM >= 170000
#define wc_estimate_array_length(root, node) estimate_array_length(root, node)
#else
#define wc_estimate_array_length(root, node) ((double) estimate_array_length(node))
#endif

#endif
