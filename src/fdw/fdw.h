/*
 * fdw/fdw.h: the callbacks that PostgreSQL gets, file by file.
 *
 * Their contracts are PostgreSQL's (fdwhandler).  fdw.c puts them together.
 */
#ifndef WC_FDW_FDW_H
#define WC_FDW_FDW_H

#include "postgres.h"

#include "access/parallel.h"
#include "commands/explain.h"
#include "foreign/fdwapi.h"

/* plan/relplan.c */
extern void widecolGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid);

/* plan/plan.c */
extern void widecolGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid);
extern ForeignScan *widecolGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid,
										  ForeignPath *best_path, List *tlist, List *scan_clauses,
										  Plan *outer_plan);

/* plan/limit.c, plan/aggregate.c, plan/distinct.c, plan/mapkeys.c: GetForeignUpperPaths calls them all, each has its stages */
extern void widecolGetForeignLimitPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
										RelOptInfo *output_rel, void *extra);
extern void widecolGetForeignGroupPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
										RelOptInfo *output_rel, void *extra);
extern void widecolGetForeignDistinctPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
										RelOptInfo *output_rel, void *extra);
extern void widecolGetForeignMemberPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
										RelOptInfo *output_rel, void *extra);

/* scan/scan.c */
extern void widecolBeginForeignScan(ForeignScanState *node, int eflags);
extern TupleTableSlot *widecolIterateForeignScan(ForeignScanState *node);
extern void widecolReScanForeignScan(ForeignScanState *node);
extern void widecolEndForeignScan(ForeignScanState *node);
extern Size widecolEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt);
extern void widecolInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate);
extern void widecolReInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate);
extern void widecolInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc, void *coordinate);
extern void widecolShutdownForeignScan(ForeignScanState *node);

/* scan/parallel.c */
extern bool widecolIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);

/* scan/rowlock.c */
extern RowMarkType widecolGetForeignRowMarkType(RangeTblEntry *rte, LockClauseStrength strength);
extern void widecolRefetchForeignRow(EState *estate, ExecRowMark *erm, Datum rowid, TupleTableSlot *slot, bool *updated);

/* scan/async.c */
extern bool widecolIsForeignPathAsyncCapable(ForeignPath *path);
extern void widecolForeignAsyncRequest(AsyncRequest *areq);
extern void widecolForeignAsyncConfigureWait(AsyncRequest *areq);
extern void widecolForeignAsyncNotify(AsyncRequest *areq);

/* scan/explain.c */
extern void widecolExplainForeignScan(ForeignScanState *node, ExplainState *es);

/* ddl/import.c */
extern List *widecolImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid serverid);

/* scan/analyze.c */
extern bool widecolAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func, BlockNumber *totalpages);

/* write/modify.c */
extern void widecolAddForeignUpdateTargets(PlannerInfo *root, Index rtindex, RangeTblEntry *target_rte,
										   Relation target_relation);
extern List *widecolPlanForeignModify(PlannerInfo *root, ModifyTable *plan, Index resultRelation,
									  int subplan_index);
extern void widecolBeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private,
									  int subplan_index, int eflags);
extern TupleTableSlot *widecolExecForeignInsert(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot,
												TupleTableSlot *planSlot);
extern TupleTableSlot *widecolExecForeignUpdate(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot,
												TupleTableSlot *planSlot);
extern TupleTableSlot *widecolExecForeignDelete(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot,
												TupleTableSlot *planSlot);
extern void widecolEndForeignModify(EState *estate, ResultRelInfo *rinfo);
extern void widecolBeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rinfo);
extern void widecolEndForeignInsert(EState *estate, ResultRelInfo *rinfo);
extern int	widecolIsForeignRelUpdatable(Relation rel);
extern void widecolExecForeignTruncate(List *rels, DropBehavior behavior, bool restart_seqs);

/* write/directplan.c */
extern bool widecolPlanDirectModify(PlannerInfo *root, ModifyTable *plan, Index resultRelation, int subplan_index);

/* write/direct.c */
extern void widecolBeginDirectModify(ForeignScanState *node, int eflags);
extern TupleTableSlot *widecolIterateDirectModify(ForeignScanState *node);
extern void widecolEndDirectModify(ForeignScanState *node);

/* dump/dump.c: the callbacks for widecol.dump, which is no view of a stored table, in the place
 * of those above. */
extern FdwRoutine *wc_dump_routine(void);

#endif
