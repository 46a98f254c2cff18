/*
 * client/txn/provisional.c: the provisional timestamps that the transaction has been shown.
 *
 * A cell that the transaction has written without a timestamp has another provisional one in each scan.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

#include "client/txn/txn.h"

typedef struct Shown
{
	int64		ts;
	char		status;
} Shown;

#define SH_PREFIX shown
#define SH_ELEMENT_TYPE Shown
#define SH_KEY_TYPE int64
#define SH_KEY ts
#define SH_HASH_KEY(table, k) hash_bytes((const unsigned char *) &(k), sizeof(k))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static shown_hash *shown;		/* in TopTransactionContext; NULL: none */
static int64 last;				/* the one that was noted last */

void
wc_client_note_provisional(int64 ts)
{
	bool		found;

	if (shown != NULL && last == ts)
		return;
	if (shown == NULL)
		shown = shown_create(TopTransactionContext, 64, NULL);
	(void) shown_insert(shown, ts, &found);
	last = ts;
}

bool
wc_client_is_provisional(int64 ts)
{
	return shown != NULL && shown_lookup(shown, ts) != NULL;
}

void
wc_provisional_forget(void)
{
	shown = NULL;
}
