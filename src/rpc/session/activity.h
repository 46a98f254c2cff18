/*
 * rpc/session/activity.h: what a session is doing, and how much it has done.
 *
 * The session's thread writes; any thread reads at any time, without a mutex: each number is right by itself, but two
 * numbers may be of different moments.  Durations are of the monotonic clock.
 */
#ifndef WC_RPC_SESSION_ACTIVITY_H
#define WC_RPC_SESSION_ACTIVITY_H

#include <stdatomic.h>

#include "model/statistics.h"
#include "read/scan/scanner.h"

typedef struct WcActivity
{
	_Atomic uint32_t database;
	_Atomic uint32_t table_id;	/* of the request; 0: it names no table */
	_Atomic uint32_t request;	/* its type (wire/message/message.h) */
	_Atomic bool working;
	_Atomic int64_t since_us;	/* monotonic: when it began, or ended */
	_Atomic uint32_t scanners;
	_Atomic uint32_t snapshots;
	_Atomic int64_t snapshot_us;	/* when the oldest snapshot was taken; 0: there is none */
	_Atomic uint64_t transaction_bytes;
	_Atomic uint64_t xid;
	_Atomic uint64_t requests;	/* these five only grow, until a reset sets them to 0 */
	_Atomic uint64_t rows_examined;
	_Atomic uint64_t rows_returned;
	_Atomic uint64_t blocks_hit;
	_Atomic uint64_t blocks_read;
} WcActivity;

/* Sums over sessions. */
typedef struct WcActivitySum
{
	uint64_t	requests;
	uint64_t	blocks_hit;
	uint64_t	blocks_read;
	uint64_t	transaction_bytes;
} WcActivitySum;

/* The session's thread calls them when a request begins, and when it ends.  Both return monotonic time. */
extern int64_t wc_activity_begin(WcActivity *a, uint32_t request);
extern int64_t wc_activity_end(WcActivity *a);

/* The session's thread adds what a request has read. */
extern void wc_activity_read(WcActivity *a, const WcScanStats *news);

/* Any thread. */
extern void wc_activity_get(const WcActivity *a, WcSessionStatistics *to);
extern void wc_activity_add(const WcActivity *a, WcActivitySum *sum);
extern void wc_activity_reset(WcActivity *a);

static inline void
wc_activity_table(WcActivity *a, uint32_t table_id)
{
	atomic_store_explicit(&a->table_id, table_id, memory_order_relaxed);
}

#endif
