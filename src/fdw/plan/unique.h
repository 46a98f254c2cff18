/*
 * fdw/plan/unique.h: tells the planner that a row key is unique.
 */
#ifndef WC_FDW_PLAN_UNIQUE_H
#define WC_FDW_PLAN_UNIQUE_H

/* Installs the hook; once, from _PG_init. */
extern void wc_unique_hook_install(void);

#endif
