/*
 * base/lockmode.h: how rows are locked, as PostgreSQL locks rows of heap tables.
 */
#ifndef WC_BASE_LOCKMODE_H
#define WC_BASE_LOCKMODE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The modes of SELECT FOR KEY SHARE, SHARE, NO KEY UPDATE and UPDATE, weakest first.
 * Each conflicts with all that the weaker ones conflict with, and more.
 */
typedef enum WcRowLockMode
{
	WC_LOCK_KEY_SHARE = 1,		/* conflicts with EXCLUSIVE */
	WC_LOCK_SHARE,				/* and with NO_KEY_UPDATE */
	WC_LOCK_NO_KEY_UPDATE,		/* and with SHARE */
	WC_LOCK_EXCLUSIVE			/* with all */
} WcRowLockMode;

static inline bool
wc_lockmode_conflicts(WcRowLockMode a, WcRowLockMode b)
{
	return (int) a + (int) b > (int) WC_LOCK_EXCLUSIVE;
}

#endif
