/*
 * rpc/lock/answers.h: answers to Gets of rows that were just written.
 *
 * A write makes the kept answers to Gets of its row invalid (wire/shared/getcache.h), and a row that was just written is often
 * read next.  So the applier's thread, when it has nothing to apply, answers Gets of written rows in advance.  The Get is
 * the one that the engine was last asked for of the same table, with the written row's key; also the last one without values.
 * rpc/README has the limits.
 */
#ifndef WC_RPC_LOCK_ANSWERS_H
#define WC_RPC_LOCK_ANSWERS_H

#include "engine/engine.h"
#include "model/scan.h"
#include "wire/shared/getcache.h"

typedef struct WcAnswers WcAnswers;

/* Engine and cache outlive the answers.  NULL: out of memory. */
extern WcAnswers *wc_answers_create(WcEngine *engine, WcGetCache *cache);
extern void wc_answers_free(WcAnswers *answers);	/* NULL is allowed */

/* Can the answer to the Get be made in advance, for other rows?  answer_len: the length of this one. */
extern bool wc_answers_takes(const WcScan *scan, WcSlice get, size_t answer_len);

/* A session's thread has answered a Get that is to be kept: the Scan and its bytes, which are copied, and the answer's
 * length.  Nothing is noted if the answer is too large to be kept.  Any thread. */
extern void wc_answers_asked(WcAnswers *answers, uint32_t database, const WcScan *scan, WcSlice get, size_t answer_len);

/* A small commit is about to write the row.  Any thread. */
extern void wc_answers_written(WcAnswers *answers, uint32_t table_id, WcSlice row);

/* Answers the Get of one of the written rows, and keeps the answer.  False: no row is left.  The applier's thread, while it
 * applies nothing. */
extern bool wc_answers_make(WcAnswers *answers);

#endif
