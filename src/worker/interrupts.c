/*
 * worker/interrupts.c: what the engine's main thread does wherever it waits.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/sinval.h"
#include "utils/guc.h"

#include "worker/interrupts.h"

static uint32 reloads;

static void
ignore_message(SharedInvalidationMessage *message)
{
}

static void
ignore_reset(void)
{
}

void
wc_worker_serve_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();

	/*
	 * This process has no copies of PostgreSQL's catalogs, but must read the messages that make such copies invalid, since
	 * they would pile up.  ProcessCatchupInterrupt would read them in a transaction, and its end would let the checkpointer
	 * go on before there is an image (checkpoint.h), from then on always.
	 */
	if (catchupInterruptPending)
		ReceiveSharedInvalidMessages(ignore_message, ignore_reset);
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
		reloads++;
	}
}

uint32
wc_worker_reloads(void)
{
	return reloads;
}
