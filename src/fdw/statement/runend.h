/*
 * fdw/statement/runend.h: what a statement has put off, it does at the end of its run: before its AFTER triggers, and before its
 * number of rows is told.
 */
#ifndef WC_FDW_STATEMENT_RUNEND_H
#define WC_FDW_STATEMENT_RUNEND_H

#include "postgres.h"

#include "lib/ilist.h"
#include "nodes/execnodes.h"

typedef struct WcRunEnd
{
	dlist_node	node;
	const EState *estate;		/* the statement's */
	void		(*fn) (void *arg);
	void	   *arg;
} WcRunEnd;

/* Lets fn be called at the end of the statement's run, until wc_runend_forget.  e is the caller's memory. */
extern void wc_runend_note(WcRunEnd *e, const EState *estate, void (*fn) (void *arg), void *arg);

/* Must be called before e is freed. */
extern void wc_runend_forget(WcRunEnd *e);

/* A row that was put off, and that PostgreSQL has counted as written, is not written after all. */
extern void wc_runend_uncount(EState *estate);

/* Once in a process. */
extern void wc_runend_hook_install(void);

#endif
