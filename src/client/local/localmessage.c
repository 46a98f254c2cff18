/*
 * client/local/localmessage.c: messages to the embedded engine that are sent later, snapshots that it holds, and the wait
 * for an answer.
 *
 * Messages without an answer (CLOSE, SNAPSHOT_RELEASE, UNLOCK) are deferred: they are noted
 * when they become necessary, which may be during an abort, and sent before the next message.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "channel/shmem.h"
#include "client/local/gets.h"
#include "client/local/local.h"

/* Time between two checks whether a commit has been written. */
#define COMMIT_WAIT_US 50

typedef struct Deferred
{
	uint64	   *releases;		/* has room for every snapshot in use */
	int			nreleases;
	int			releases_cap;
	SubTransactionId unlock;	/* 0: no deferred UNLOCK */
} Deferred;

static uint64 *known_snapshots; /* numbers of snapshots that the engine may hold */
static int	nsnapshots;
static int	snapshots_cap;

static Deferred deferred;

WcLocalTransaction wc_local_txn;

/* --- deferred messages ------------------------------------------------------*/

static bool
send_number(uint8 type, uint64 number, bool lazily)
{
	wc_message_numbers_encode(wc_connection_message(), &number, 1);
	if (wc_connection_try_send(type, 0))
		return true;
	if (lazily)
		return false;
	(void) wc_connection_send(type, 0, WC_SEND_NOW);
	return true;
}

void
wc_local_send_deferred(bool lazily)
{
	uint32		closed;

	wc_local_cancel_unwanted();
	if (deferred.unlock != InvalidSubTransactionId)
	{
		if (!send_number(WC_MSG_UNLOCK, deferred.unlock, lazily))
			return;
		deferred.unlock = InvalidSubTransactionId;
	}
	while (wc_local_next_close(&closed))
	{
		if (!send_number(WC_MSG_CLOSE, closed, lazily))
			return;
		wc_local_close_sent();
	}
	while (deferred.nreleases > 0)
	{
		if (!send_number(WC_MSG_SNAPSHOT_RELEASE, deferred.releases[deferred.nreleases - 1], lazily))
			return;
		deferred.nreleases--;
	}
}

WcBuf *
wc_local_begin(void)
{
	wc_local_send_deferred(false);
	return wc_connection_message();
}

/* Wakes the engine, because other transactions may wait for these rows. */
void
wc_local_unlock(SubTransactionId subid)
{
	uint64_t	number;

	if (deferred.unlock == InvalidSubTransactionId || deferred.unlock > subid)
		deferred.unlock = subid;
	if (!wc_local_txn.has_locks || !wc_connection_live())
		return;
	number = deferred.unlock;
	wc_message_numbers_encode(wc_connection_message(), &number, 1);
	if (wc_connection_post(WC_MSG_UNLOCK, 0) != 0)
		deferred.unlock = InvalidSubTransactionId;
}

bool
wc_local_send_handed(uint64 xid)
{
	wc_local_send_deferred(true);
	return deferred.unlock == InvalidSubTransactionId && send_number(WC_MSG_HANDED, xid, true);
}

void
wc_local_forget_messages(void)
{
	nsnapshots = 0;
	deferred.nreleases = 0;
	deferred.unlock = InvalidSubTransactionId;
}

/* --- answers ---------------------------------------------------------------*/

WcFrameReader *
wc_local_await(uint64 id)
{
	for (;;)
	{
		WcFrameReader *frame = wc_connection_receive(id);

		if (frame == NULL)
			wc_connection_raise_gone();
		if (frame->header.id == id)
			return frame;
		wc_local_stray(frame);
	}
}

WcSlice
wc_local_payload(WcFrameReader *frame)
{
	WcError		err;

	if (frame->dropped)
		wc_error(&err, WC_NO_MEMORY, "out of memory for an answer of %u bytes", frame->header.length);
	else if (frame->header.type == WC_MSG_OK)
		return wc_buf_slice(&frame->body);
	else
		wc_message_error_decode(wc_buf_slice(&frame->body), &err);
	wc_raise(&err);
}

WcSlice
wc_local_ask(uint8 type, WcSend how)
{
	return wc_local_payload(wc_local_await(wc_connection_send(type, 0, how)));
}

/* --- snapshots -------------------------------------------------------------*/

bool
wc_local_knows_snapshot(uint64 snapshot)
{
	for (int i = nsnapshots; i > 0; i--)
	{
		if (known_snapshots[i - 1] == snapshot)
			return true;
	}
	return false;
}

void
wc_local_note_snapshot(uint64 number)
{
	if (wc_local_knows_snapshot(number))
		return;
	known_snapshots = wc_local_grow(known_snapshots, &snapshots_cap, nsnapshots + 1, sizeof(uint64));
	deferred.releases = wc_local_grow(deferred.releases, &deferred.releases_cap, nsnapshots + deferred.nreleases + 1,
									  sizeof(uint64));
	known_snapshots[nsnapshots++] = number;
}

uint32
wc_local_snapshots(void)
{
	return (uint32) nsnapshots;
}

bool
wc_local_ready(void)
{
	return atomic_load(&wc_shmem()->state) == WC_ENGINE_READY;
}

bool
wc_local_snapshot_enter(uint64 number, bool wait)
{
	while (wc_gets_epoch(number) == 0)
	{
		if (wc_local_knows_snapshot(number) || !wc_local_ready())
			return false;
		if (wc_gets_enter(number))
			return true;
		if (!wait || wc_gets_full())
			return false;
		CHECK_FOR_INTERRUPTS();
		pg_usleep(COMMIT_WAIT_US);
	}
	return true;
}

void
wc_local_snapshot_take(uint64 number)
{
	uint64_t	n = number;

	if (wc_local_snapshot_enter(number, false))
		return;					/* the entered epoch keeps the snapshot */
	if (wc_local_knows_snapshot(number))
		return;
	wc_local_note_snapshot(number);
	wc_message_numbers_encode(wc_local_begin(), &n, 1);
	wc_local_txn.in_use = true;
	(void) wc_local_ask(WC_MSG_SNAPSHOT, WC_SEND_STAY);
}

void
wc_local_snapshot_release(uint64 number)
{
	wc_gets_leave(number);
	for (int i = nsnapshots; i > 0; i--)
	{
		if (known_snapshots[i - 1] != number)
			continue;
		known_snapshots[i - 1] = known_snapshots[--nsnapshots];
		if (nsnapshots == 0 && deferred.nreleases == 0 && wc_connection_release_snapshots(number))
			return;
		deferred.releases[deferred.nreleases++] = number;
		wc_local_send_deferred(true);
		return;
	}
}
