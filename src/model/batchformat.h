/*
 * model/batchformat.h: constants of the batch format that only its writer and its reader need. model/README
 * specifies the format.
 */
#ifndef WC_MODEL_BATCHFORMAT_H
#define WC_MODEL_BATCHFORMAT_H

#include "model/batch.h"

#define WC_OP_HEAD			5		/* kind, length of the payload */
#define WC_ROW_FLAGS		WC_ROW_MUST_BE_ABSENT

/* An item's tag: its kind and these. */
#define WC_ITEM_KIND_MASK	0x3F
#define WC_ITEM_HAS_TS		0x40
#define WC_ITEM_HAS_TTL		0x80

#endif
