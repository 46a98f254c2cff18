/*
 * rpc/lock/epochs.c: a snapshot for each epoch that has ended and still has readers.
 */
#include "rpc/lock/epochs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/threads.h"
#include "base/touch.h"

typedef struct Kept
{
	struct Kept *next;
	uint64_t	epoch;
	WcSnapshot *snapshot;
} Kept;

struct WcEpochs
{
	WcEngine   *engine;
	WcGetCache *cache;
	WcRowStamps *stamps;
	WcAnswers  *answers;
	WcLeft	   *left;			/* these two: NULL: not used */
	WcRanges   *ranges;
	atomic_bool used;			/* the cache is (wc_epochs_use_cache) */
	WcToucher  *toucher;		/* of the cache, once it is used; written by the thread that has set `used` */

	/* locked while a commit begins, so that each epoch with readers either is the present one or has a kept snapshot */
	WcMutex		mutex;
	Kept	   *kept WC_GUARDED_BY(&mutex);
	uint64_t   *read WC_GUARDED_BY(&mutex); /* scratch: the epochs in all readers' places */
};

static int
compare(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static void
release_unread(WcEpochs *e) WC_REQUIRES(e->mutex)
{
	Kept	  **link = &e->kept;
	uint32_t	nread;

	if (e->kept == NULL)
		return;
	nread = wc_getcache_epochs_read(e->cache, e->read);
	qsort(e->read, nread, sizeof(*e->read), compare);
	while (*link != NULL)
	{
		Kept	   *k = *link;

		if (bsearch(&k->epoch, e->read, nread, sizeof(*e->read), compare) != NULL)
		{
			link = &k->next;
			continue;
		}
		*link = k->next;
		wc_snapshot_release(e->engine, k->snapshot);
		free(k);
	}
}

/* If there is no memory, no snapshot is kept: a later request for the epoch fails. */
static void
keep(WcEpochs *e, uint64_t epoch) WC_REQUIRES(e->mutex)
{
	Kept	   *k = malloc(sizeof(*k));
	WcSnapshot *snapshot = k ? wc_snapshot_take(e->engine) : NULL;

	if (snapshot == NULL)
	{
		free(k);
		return;
	}
	*k = (Kept) {.next = e->kept,.epoch = epoch,.snapshot = snapshot};
	e->kept = k;
}

/* --- called by the engine ------------------------------------------------------- */

static void
on_row(void *arg, uint32_t table_id, WcSlice row, int64_t ts, uint64_t xid)
{
	WcEpochs   *e = arg;

	wc_getcache_touch_row(e->cache, table_id, row);
	if (e->ranges != NULL)
		wc_ranges_row(e->ranges, table_id, row, wc_getcache_epoch(e->cache) + 1);
	wc_rowstamps_row(e->stamps, table_id, row, ts);
	if (e->left != NULL)
		wc_left_row(e->left, table_id, row, xid);
	if (ts != 0)				/* neither a step nor a large commit */
		wc_answers_written(e->answers, table_id, row);
}

static void
on_table(void *arg, uint32_t table_id, int64_t ts)
{
	WcEpochs   *e = arg;

	wc_getcache_touch_table(e->cache, table_id);
	if (e->ranges != NULL)
		wc_ranges_table(e->ranges, table_id, wc_getcache_epoch(e->cache) + 1);
	wc_rowstamps_table(e->stamps, table_id, ts);
	if (e->left != NULL)
		wc_left_table(e->left, table_id);
}

static bool
on_many_rows(void *arg, uint32_t table_id, uint64_t nrows)
{
	WcEpochs   *e = arg;

	return wc_getcache_wants_rows(e->cache, table_id, nrows) ||
		(e->ranges != NULL && wc_ranges_wants_rows(e->ranges, table_id, nrows));
}

static void
on_range(void *arg, uint32_t table_id, WcSlice first, WcSlice last, int64_t ts)
{
	wc_rowstamps_range(((WcEpochs *) arg)->stamps, table_id, first, last, ts);
}

static void
on_begin(void *arg)
{
	WcEpochs   *e = arg;
	uint64_t	epoch;

	pthread_mutex_lock(&e->mutex);
	epoch = wc_getcache_epoch(e->cache);
	wc_getcache_begin(e->cache);
	release_unread(e);
	if (wc_getcache_is_read(e->cache, epoch))
		keep(e, epoch);
	pthread_mutex_unlock(&e->mutex);
}

static void
on_end(void *arg)
{
	wc_getcache_end(((WcEpochs *) arg)->cache);
}

/* --- for the sessions ---------------------------------------------------------*/

WcStatus
wc_epochs_create(WcEngine *engine, WcGetCache *cache, WcEpochs **epochs, WcError *err) WC_UNCHECKED
{
	WcEpochs   *e = calloc(1, sizeof(*e));
	WcWriteWatch watch = {
		.arg = e,.row = on_row,.table = on_table,.wants_rows = on_many_rows,.range = on_range,.begin = on_begin,.end = on_end
	};

	*epochs = NULL;
	if (e != NULL)
	{
		e->read = malloc(wc_getcache_places(cache) * sizeof(*e->read));
		e->stamps = wc_rowstamps_create();
		e->answers = wc_answers_create(engine, cache);
	}
	if (e == NULL || e->read == NULL || e->stamps == NULL || e->answers == NULL)
	{
		if (e != NULL)
		{
			wc_answers_free(e->answers);
			wc_rowstamps_free(e->stamps);
			free(e->read);
		}
		free(e);
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	}
	e->engine = engine;
	e->cache = cache;
	pthread_mutex_init(&e->mutex, NULL);
	wc_getcache_reset(cache);
	wc_engine_watch(engine, &watch);
	*epochs = e;
	return WC_OK;
}

void
wc_epochs_free(WcEpochs *e) WC_UNCHECKED
{
	if (e == NULL)
		return;
	wc_engine_watch(e->engine, NULL);
	while (e->kept != NULL)
	{
		Kept	   *k = e->kept;

		e->kept = k->next;
		wc_snapshot_release(e->engine, k->snapshot);
		free(k);
	}
	wc_toucher_stop(e->toucher);
	pthread_mutex_destroy(&e->mutex);
	wc_left_free(e->left);
	wc_ranges_free(e->ranges);
	wc_answers_free(e->answers);
	wc_rowstamps_free(e->stamps);
	free(e->read);
	free(e);
}

bool
wc_epochs_use_left(WcEpochs *e, const WcClaims *claims, const WcUnapplied *unapplied) WC_UNCHECKED
{
	e->left = wc_left_create(e->cache, claims, unapplied);
	return e->left != NULL;
}

WcLeft *
wc_epochs_left(const WcEpochs *e)
{
	return e->left;
}

bool
wc_epochs_use_ranges(WcEpochs *e, WcRangeCache *cache)
{
	e->ranges = wc_ranges_create(cache);
	return e->ranges != NULL;
}

WcRanges *
wc_epochs_ranges(const WcEpochs *e)
{
	return e->ranges;
}

WcRowStamps *
wc_epochs_stamps(const WcEpochs *e)
{
	return e->stamps;
}

WcStatus
wc_epochs_snapshot(WcEpochs *e, uint64_t epoch, WcSnapshot **snapshot, WcError *err)
{
	*snapshot = NULL;
	pthread_mutex_lock(&e->mutex);
	if (wc_getcache_is_now(e->cache, epoch))
		*snapshot = wc_snapshot_take(e->engine);
	else
	{
		for (const Kept *k = e->kept; k != NULL; k = k->next)
		{
			if (k->epoch == epoch)
				*snapshot = k->snapshot;
		}
		if (*snapshot != NULL)
			wc_snapshot_share(e->engine, *snapshot);
	}
	pthread_mutex_unlock(&e->mutex);
	if (*snapshot != NULL)
		return WC_OK;
	wc_error(err, WC_CONFLICT, "the snapshot of stored tables that the transaction reads by is gone");
	wc_error_detail(err, "The engine was started anew since, or it had no memory left when it was to keep epoch %" PRIu64 ".",
					epoch);
	wc_error_hint(err, "Run the transaction again.");
	return err->status;
}

WcGetCache *
wc_epochs_cache(const WcEpochs *e)
{
	return e->cache;
}

WcAnswers *
wc_epochs_answers(const WcEpochs *e)
{
	return e->answers;
}

bool
wc_epochs_tidy(WcEpochs *e)
{
	bool		any;

	pthread_mutex_lock(&e->mutex);
	release_unread(e);
	any = e->kept != NULL;
	pthread_mutex_unlock(&e->mutex);
	return any;
}

int64_t
wc_epochs_held_us(WcEpochs *e, uint32_t process)
{
	int64_t		oldest = 0;

	pthread_mutex_lock(&e->mutex);
	for (const Kept *k = e->kept; k != NULL; k = k->next)
	{
		int64_t		taken = wc_snapshot_taken_us(k->snapshot);

		if ((oldest == 0 || taken < oldest) && wc_getcache_reads(e->cache, process, k->epoch))
			oldest = taken;
	}
	pthread_mutex_unlock(&e->mutex);
	return oldest;
}

/* A row that was written within so much time before is one of those that are written often. */
#define OFTEN_US 1000000

bool
wc_epochs_wants_ahead(WcEpochs *e, uint32_t table_id, WcSlice row)
{
	return wc_getcache_has_room(e->cache, table_id, row) ||
		wc_rowstamps_perhaps_since(e->stamps, table_id, row, wc_clock_wall_us() - OFTEN_US);
}

uint64_t
wc_epochs_current(const WcEpochs *e)
{
	return wc_getcache_epoch(e->cache);
}

void
wc_epochs_use_cache(WcEpochs *e)
{
	void	   *memory;
	size_t		len;
	WcError		err;

	if (atomic_load_explicit(&e->used, memory_order_relaxed) || atomic_exchange(&e->used, true))
		return;
	memory = wc_getcache_atomics(e->cache, &len);
	if (wc_toucher_start(memory, len, &e->toucher, &err) != WC_OK)
		wc_log(WC_LOG_WARNING, "the memory for answers to Gets is slow at first: %s", err.message);
}

void
wc_epochs_keep(WcEpochs *e, uint64_t epoch, uint32_t table_id, WcSlice row, WcSlice get, WcSlice answer,
			   int64_t valid_from_us, int64_t valid_until_us)
{
	wc_epochs_use_cache(e);
	wc_getcache_add(e->cache, WC_GET_ASKED, epoch, table_id, row, get, answer, valid_from_us, valid_until_us);
}
