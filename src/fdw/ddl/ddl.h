/*
 * fdw/ddl/ddl.h: what CREATE, ALTER and DROP of a foreign table mean for stored tables.
 */
#ifndef WC_FDW_DDL_DDL_H
#define WC_FDW_DDL_DDL_H

/* Installs the hooks; once, from _PG_init. */
extern void wc_ddl_hook_install(void);

#endif
