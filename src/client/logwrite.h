/*
 * client/logwrite.h: what the transaction writes to stored tables, written into PostgreSQL's log.
 *
 * A transaction's operations are one stream of bytes (model/batch.h), which goes into the log
 * as BATCH records (model/README, "Log record").  Not during recovery.
 */
#ifndef WC_CLIENT_LOGWRITE_H
#define WC_CLIENT_LOGWRITE_H

#include "postgres.h"

#include "base/slice.h"

/*
 * Writes the bytes, which begin at this place of the stream, in records of at most
 * WC_BATCH_CHUNK bytes; without bytes, one record.  What was written behind `at` before is
 * gone: so a ROLLBACK TO gets into the log with what follows it.  Gives the transaction
 * an id.  Interruptible between records: then the log has the first of the bytes, and the
 * stream has to be cut, as after any error.
 */
extern void wc_stream_write(uint64 at, WcSlice bytes);

/* The transaction changes the catalog: BATCHes from here on say so. */
extern void wc_stream_note_catalog(void);

/* Has anything of the transaction been written? */
extern bool wc_stream_is_written(void);

/*
 * At PRE_COMMIT or PRE_PREPARE, before the last of the stream is written: takes a place among
 * the transactions in flight (channel/flight.h), which BATCHes from here on name.  May have
 * to wait for one, interruptibly.
 */
extern void wc_stream_take_place(void);

/* The place is given up until the next wc_stream_take_place: an engine that starts waits for who has
 * one.  Not after the last of the stream has been written. */
extern void wc_stream_leave_place(void);

/* After the last of the stream, which behind the batch may have LOCK operations (PREPARE TRANSACTION),
 * and whose length this is: if the log does not say so yet, or
 * does not name the place, it does now. */
extern void wc_stream_finish(uint64 length);

/* The end of the transaction; never fail, and do nothing if nothing was written. */
extern void wc_stream_committed(void);
extern void wc_stream_prepared(void);
extern void wc_stream_aborted(void);

#endif
