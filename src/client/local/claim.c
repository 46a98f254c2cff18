/*
 * client/local/claim.c: locks the rows of a small transaction in shared memory, at its commit.
 */
#include "postgres.h"

#include "channel/flight.h"
#include "client/local/claim.h"
#include "model/batch.h"

/* The transaction's claims. */
static WcClaim taken[WC_CLAIMS_MAX];
static int ntaken;

/* True if all rows are free at this moment.  It only reads: a claim that is taken and given back would send other
 * transactions to the engine. */
static bool
are_free(uint64 opening, WcSlice operations)
{
	WcDecoder	d = wc_decoder(operations);
	int			n = 0;
	WcOp		op;
	WcStatus	status;

	while ((status = wc_batch_next_op(&d, &op, NULL)) == WC_OK)
	{
		if (op.kind != WC_OP_ROW || (op.flags & WC_ROW_MUST_BE_ABSENT) != 0 || ++n > WC_CLAIMS_MAX ||
			!wc_claims_is_free(wc_claims(), wc_places(), opening, op.table_id, op.row, operations.len))
			return false;
	}
	return status == WC_END;
}

bool
wc_claim_rows(uint64 xid, uint16 place, WcSlice operations)
{
	uint64		opening = wc_claims_opening(wc_claims());
	WcDecoder	d = wc_decoder(operations);
	WcOp		op;

	if (opening == 0 || !are_free(opening, operations))
		return false;
	while (wc_batch_next_op(&d, &op, NULL) == WC_OK)
	{
		if (!wc_claims_take(wc_claims(), wc_places(), opening, op.table_id, op.row, operations.len, place, xid, &taken[ntaken]))
		{
			wc_claim_give_back();
			return false;
		}
		ntaken++;
	}
	return true;
}

void
wc_claim_give_back(void)
{
	for (int i = 0; i < ntaken; i++)
		wc_claims_give_back(wc_claims(), &taken[i]);
	ntaken = 0;
}

void
wc_claim_forget(void)
{
	ntaken = 0;
}
