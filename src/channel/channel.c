/*
 * channel/channel.c: offering and taking segments.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "channel/channel.h"

WcSegment *
wc_channel_segment(dsm_segment *dsm)
{
	return (WcSegment *) TYPEALIGN(64, dsm_segment_address(dsm));
}

size_t
wc_channel_segment_size(dsm_segment *dsm)
{
	size_t		before = (size_t) ((char *) wc_channel_segment(dsm) - (char *) dsm_segment_address(dsm));
	size_t		mapped = dsm_segment_map_length(dsm);

	return mapped > before ? mapped - before : 0;
}

/* Also called at every exit of the process except a crash. */
static void
tell_engine(dsm_segment *dsm, Datum arg)
{
	WcSegment  *segment = wc_channel_segment(dsm);

	atomic_store(&segment->closing, 1);
	atomic_store(&segment->cancel, true);
	wc_segment_wake_engine(segment);
}

dsm_segment *
wc_channel_offer(WcShmem *shmem, WcSlot *slot)
{
	dsm_segment *dsm = dsm_create(wc_segment_size() + 64, 0);

	dsm_pin_mapping(dsm);
	wc_segment_init(wc_channel_segment(dsm));
	on_dsm_detach(dsm, tell_engine, (Datum) 0);

	atomic_store(&slot->refused, 0);
	atomic_store(&slot->wanted, WC_SLOT_WANTED | dsm_segment_handle(dsm));
	atomic_fetch_add(&shmem->offers, 1);
	SetLatch(wc_shmem_latch(atomic_load(&shmem->engine_process)));
	return dsm;
}

bool
wc_channel_refused(WcSlot *slot, dsm_segment *dsm)
{
	return atomic_load(&slot->refused) == (WC_SLOT_WANTED | dsm_segment_handle(dsm));
}

void
wc_channel_close(dsm_segment *dsm)
{
	dsm_detach(dsm);
}

dsm_segment *
wc_channel_take(WcShmem *shmem, int slot)
{
	uint64		wanted;
	dsm_segment *volatile dsm = NULL;
	MemoryContext context = CurrentMemoryContext;

	if (atomic_load(&shmem->slots[slot].wanted) == 0)
		return NULL;
	wanted = atomic_exchange(&shmem->slots[slot].wanted, 0);
	if (wanted == 0)
		return NULL;

	PG_TRY();
	{
		dsm = dsm_attach((dsm_handle) wanted);
		if (dsm != NULL)
			dsm_pin_mapping(dsm);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		FlushErrorState();
		dsm = NULL;
	}
	PG_END_TRY();

	if (dsm == NULL)
	{
		/* A backend that went away in the meantime does not look. */
		atomic_store(&shmem->slots[slot].refused, wanted);
		SetLatch(wc_shmem_latch((uint32) slot));
	}
	return dsm;
}
