/*
 * rpc/session/session.c: scanners, snapshots, batch and locks of one session.
 */
#include "rpc/session/session.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

void
wc_session_init(WcSession *s, WcEngine *engine, WcEpochs *epochs, WcLockTable *locktable, const atomic_bool *cancel)
{
	memset(s, 0, sizeof(*s));
	s->engine = engine;
	s->epochs = epochs;
	s->locktable = locktable;
	s->slow.engine = engine;
	s->cancel = cancel;
}

static void
count_snapshot(const WcSnapshot *snapshot, uint32_t *number, int64_t *oldest)
{
	int64_t		taken = wc_snapshot_taken_us(snapshot);

	(*number)++;
	if (*oldest == 0 || taken < *oldest)
		*oldest = taken;
}

/* Publishes the number of snapshots, and the time of the oldest. */
static void
show_snapshots(WcSession *s)
{
	uint32_t	number = 0;
	int64_t		oldest = 0;

	for (uint32_t i = 0; i < s->nsnapshots; i++)
		count_snapshot(s->snapshots[i].snapshot, &number, &oldest);
	for (uint32_t i = 0; s->nscanners > 0 && i < s->scanners_cap; i++)
	{
		if (s->scanners[i] != NULL && wc_scanner_own_snapshot(s->scanners[i]) != NULL)
			count_snapshot(wc_scanner_own_snapshot(s->scanners[i]), &number, &oldest);
	}
	atomic_store_explicit(&s->activity.snapshots, number, memory_order_relaxed);
	atomic_store_explicit(&s->activity.snapshot_us, oldest, memory_order_relaxed);
}

void
wc_session_show(WcSession *s)
{
	atomic_store_explicit(&s->activity.scanners, s->nscanners, memory_order_relaxed);
	atomic_store_explicit(&s->activity.transaction_bytes, wc_session_length(s), memory_order_relaxed);
	atomic_store_explicit(&s->activity.xid, s->xid, memory_order_relaxed);
}

static void
release(WcSession *s)
{
	for (uint32_t i = 0; s->nscanners > 0 && i < s->scanners_cap; i++)
		wc_session_scanner_close(s, i);
	assert(s->nscanners == 0);	/* scanners read by snapshots */
	for (uint32_t i = 0; i < s->nsnapshots; i++)
		wc_snapshot_release(s->engine, s->snapshots[i].snapshot);
	s->nsnapshots = 0;
	show_snapshots(s);
	if (s->txn != NULL)
		wc_txn_reset(s->txn);
	s->txn_failed = false;
}

void
wc_session_unlock(WcSession *s, uint32_t subid)
{
	if (s->xid != 0)
		(void) wc_lock_release_of(s->locktable, s->xid, subid, true);
}

void
wc_session_end_transaction(WcSession *s)
{
	release(s);
	wc_session_unlock(s, 0);
	s->xid = 0;
}

WcStatus
wc_session_enter(WcSession *s, uint64_t xid, WcLockOwner **owner, WcError *err)
{
	if (xid == 0 || (s->xid != 0 && s->xid != xid))
		return wc_error(err, WC_CORRUPT, "a session locks rows for transaction %" PRIu64 " and for transaction %" PRIu64,
						s->xid, xid);
	*owner = wc_lock_enter(s->locktable, xid);
	if (*owner == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for locking rows");
	return WC_OK;
}

void
wc_session_leave(WcSession *s, WcLockOwner *owner)
{
	s->xid = wc_lock_leave(s->locktable, owner);
}

void
wc_session_free(WcSession *s)
{
	release(s);
	if (s->txn != NULL)
		wc_txn_destroy(s->txn);
	free(s->scanners);
	free(s->spent_us);
	free(s->snapshots);
}

bool
wc_session_holds(const WcSession *s)
{
	return s->nscanners > 0 || s->nsnapshots > 0 || s->xid != 0 || wc_session_length(s) > 0;
}

WcStatus
wc_session_snapshot(WcSession *s, uint64_t number, uint64_t epoch, WcSnapshot **snapshot, WcError *err)
{
	WcStatus	status = WC_OK;

	*snapshot = NULL;
	if (number == 0)
		return WC_OK;
	for (uint32_t i = s->nsnapshots; i > 0; i--)
	{
		if (s->snapshots[i - 1].number != number)
			continue;
		if (s->snapshots[i - 1].epoch != epoch)
			return wc_error(err, WC_CORRUPT, "snapshot %" PRIu64 " is of another epoch", number);
		*snapshot = s->snapshots[i - 1].snapshot;
		return WC_OK;
	}

	if (s->nsnapshots >= WC_SNAPSHOTS_MAX)
		return wc_error(err, WC_TOO_LARGE, "too many snapshots in one session (limit %d)", WC_SNAPSHOTS_MAX);
	if (s->nsnapshots == s->snapshots_cap)
	{
		uint32_t	cap = s->snapshots_cap == 0 ? 8 : s->snapshots_cap * 2;
		WcNamedSnapshot *grown = realloc(s->snapshots, cap * sizeof(*grown));

		if (grown == NULL)
			return wc_error(err, WC_NO_MEMORY, "out of memory");
		s->snapshots = grown;
		s->snapshots_cap = cap;
	}
	if (epoch != 0)
		status = wc_epochs_snapshot(s->epochs, epoch, snapshot, err);
	else if ((*snapshot = wc_snapshot_take(s->engine)) == NULL)
		status = wc_error(err, WC_NO_MEMORY, "out of memory");
	if (status != WC_OK)
		return status;
	s->snapshots[s->nsnapshots++] = (WcNamedSnapshot) {.number = number,.epoch = epoch,.snapshot = *snapshot};
	show_snapshots(s);
	return WC_OK;
}

void
wc_session_snapshots_release(WcSession *s, uint64_t upto)
{
	uint32_t	kept = 0;

	if (s->nscanners > 0 || s->nsnapshots == 0)
		return;
	for (uint32_t i = 0; i < s->nsnapshots; i++)
	{
		if (s->snapshots[i].number > upto)
			s->snapshots[kept++] = s->snapshots[i];
		else
			wc_snapshot_release(s->engine, s->snapshots[i].snapshot);
	}
	if (kept == s->nsnapshots)
		return;
	s->nsnapshots = kept;
	show_snapshots(s);
}

void
wc_session_snapshot_release(WcSession *s, uint64_t number)
{
	for (uint32_t i = s->nsnapshots; i > 0; i--)
	{
		if (s->snapshots[i - 1].number != number)
			continue;
		wc_snapshot_release(s->engine, s->snapshots[i - 1].snapshot);
		s->snapshots[i - 1] = s->snapshots[--s->nsnapshots];
		show_snapshots(s);
		return;
	}
}

WcStatus
wc_session_scanner_open(WcSession *s, uint32_t number, const WcScan *scan, const WcReadPoint *at,
						WcScanner **scanner, WcError *err)
{
	WcStatus	status;

	if (number >= WC_SCANNERS_MAX)
		return wc_error(err, WC_TOO_LARGE, "too many open scanners in one session (limit %d)", WC_SCANNERS_MAX);
	if (number >= s->scanners_cap)
	{
		uint32_t	cap = s->scanners_cap == 0 ? 8 : s->scanners_cap;
		WcScanner **grown;
		int64_t    *spent;

		while (cap <= number)
			cap *= 2;
		spent = realloc(s->spent_us, cap * sizeof(*spent));
		if (spent != NULL)
			s->spent_us = spent;
		grown = spent != NULL ? realloc(s->scanners, cap * sizeof(*grown)) : NULL;
		if (grown == NULL)
			return wc_error(err, WC_NO_MEMORY, "out of memory");
		memset(grown + s->scanners_cap, 0, (cap - s->scanners_cap) * sizeof(*grown));
		s->scanners = grown;
		s->scanners_cap = cap;
	}
	if (s->scanners[number] != NULL)
		return wc_error(err, WC_CORRUPT, "scanner %u is open already", number);
	status = wc_scanner_open(wc_engine_storage(s->engine), scan, at, scanner, err);
	if (status != WC_OK)
		return status;
	s->scanners[number] = *scanner;
	s->spent_us[number] = 0;
	s->nscanners++;
	if (wc_scanner_own_snapshot(*scanner) != NULL)
		show_snapshots(s);
	return WC_OK;
}

WcScanner *
wc_session_scanner(WcSession *s, uint32_t number)
{
	return number < s->scanners_cap ? s->scanners[number] : NULL;
}

void
wc_session_scanner_close(WcSession *s, uint32_t number)
{
	WcScanner  *scanner = wc_session_scanner(s, number);
	bool		shown;
	WcScanStats stats;

	if (scanner == NULL)
		return;
	shown = wc_scanner_own_snapshot(scanner) != NULL;
	stats = wc_scanner_rows(scanner);
	wc_slow_note(&s->slow, "scan", wc_scanner_table_id(scanner), s->spent_us[number], stats.rows_examined, stats.rows_returned);
	wc_scanner_close(scanner);
	assert(s->nscanners > 0);
	s->scanners[number] = NULL;
	s->nscanners--;
	if (shown)
		show_snapshots(s);
}

void
wc_session_scanner_spent(WcSession *s, uint32_t number, int64_t spent_us)
{
	s->spent_us[number] += spent_us;
}

WcStatus
wc_session_begin_write(WcSession *s, uint64_t bytes_max, WcError *err)
{
	if (s->txn_failed)
	{
		*err = s->txn_error;
		return err->status;
	}
	if (s->txn == NULL)
	{
		WcStatus	status = wc_txn_create(s->database, bytes_max, &s->txn, err);

		if (status != WC_OK)
			return status;
		wc_txn_spill_into(s->txn, wc_engine_spill(s->engine));
	}
	wc_txn_limit(s->txn, bytes_max);
	return WC_OK;
}

void
wc_session_write(WcSession *s, uint64_t at, WcSlice bytes, uint64_t bytes_max)
{
	WcStatus	status;

	/* bytes are missing, and this piece begins after the first of them */
	if (s->txn_failed && at > wc_session_length(s))
		return;
	s->txn_failed = false;
	status = wc_session_begin_write(s, bytes_max, &s->txn_error);
	if (status == WC_OK)
		status = wc_txn_append(s->txn, at, bytes, &s->txn_error);
	s->txn_failed = status != WC_OK;
}

uint64_t
wc_session_length(const WcSession *s)
{
	return s->txn != NULL ? wc_txn_length(s->txn) : 0;
}

WcTxn *
wc_session_txn(WcSession *s)
{
	return s->txn != NULL && wc_txn_count(s->txn) > 0 ? s->txn : NULL;
}
