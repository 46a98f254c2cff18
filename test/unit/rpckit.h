/*
 * test/unit/rpckit.h: sessions served in this process, over memory from malloc: the test sends and receives what a
 * backend would.
 */
#ifndef WC_TEST_RPCKIT_H
#define WC_TEST_RPCKIT_H

#include "enginekit.h"

#include <pthread.h>

#include "kitlog.h"
#include "rpc/rpc.h"
#include "wire/message/frame.h"
#include "wire/message/message.h"
#include "wire/message/segment.h"

/* How long a test waits for what must come, in seconds; only a failing one takes as long. */
#define PATIENCE_S 60

/* A latch: what the server's threads set. */
typedef struct Bell
{
	pthread_mutex_t mutex;
	pthread_cond_t rung;
	bool		set;
} Bell;

typedef struct Backend
{
	WcSegment  *segment;
	WcRingEnd	out;
	WcRingEnd	in;
	WcFrameReader reader;
	WcBuf		message;
	uint64_t	last_id;
	uint64_t	xid;			/* its transaction's id */
	uint64_t	length;			/* of its batch */
	WcBuf		batch;
	Bell		bell;
} Backend;

typedef struct Site
{
	Kit			kit;
	WcServer   *server;
	KitLog		log;
	WcBusy		busy;
	WcGetCache *getcache;
	WcRangeCache *rangecache;
	_Atomic uint64_t generation;
	_Atomic uint64_t writes;
	uint64_t	nbackends;
	int			nsessions;		/* attached, and not reaped yet */
	Bell		finished;
} Site;

/* Counts rows and cells of the block that has come; its cells' bytes, too. */
typedef struct Count
{
	int			rows;
	int			cells;
	size_t		bytes;
	bool		last;
} Count;

/* For about so many bytes of stretches; to be freed. */
extern WcRangeCache *make_rangecache(uint64_t bytes);

/* --- server -----------------------------------------------------------------*/
extern void site_open(Site *site, int sessions_max);
extern void site_close(Site *site);
extern void site_leave(Site *site); /* when the server has been stopped */
extern void await_sessions(Site *site, int n);

/* --- backend ----------------------------------------------------------------*/
extern Backend *backend_make(void);
extern WcStatus attach(Site *site, Backend *b);
extern Backend *connect_backend(Site *site);
extern void leave(Backend *b);	/* as at its exit */

/* A message is built in its buffer, and sent. */
extern WcBuf *message(Backend *b);
extern uint64_t send_frame(Backend *b, uint8_t type, uint8_t flags);
extern void send_number(Backend *b, uint8_t type, uint64_t number, bool wake);

/* The next frame; false when the session is gone instead. */
extern bool receive(Backend *b);

/* The answer to the newest request: its type. */
extern uint8_t answer(Backend *b);
extern WcStatus answered_error(Backend *b, WcError *err);

/* --- its requests -----------------------------------------------------------*/
extern void put_rows(Site *site, int from, int n);	/* collected by the kit */

/* A piece of the batch; wake false: it lies there until something else wakes the session's
 * thread. */
extern void send_piece(Backend *b, uint64_t at, WcSlice bytes, uint64_t bytes_max, bool wake);
extern void send_batch(Site *site, Backend *b, uint64_t bytes_max); /* what the kit has collected */
extern void send_cut(Backend *b, uint64_t offset);	/* rolls back the bytes from there on; does not wake the engine */
extern void send_commit(Backend *b);	/* PRECOMMIT */
extern void commit_accepted(Site *site, Backend *b);	/* the answer to it must be OK: then the log has the commit */
extern void commit(Site *site, Backend *b); /* what the kit has collected; must succeed */
extern void abort_transaction(Backend *b);

/* --- its answers ------------------------------------------------------------*/
extern void send_open(Backend *b, uint32_t table, uint32_t number, uint64_t snapshot, uint32_t target);
extern void send_next(Backend *b, uint32_t number, uint32_t target);
extern void count_block(Backend *b, Count *count);	/* that has come */
extern Count scan_all(Backend *b, uint32_t table, uint64_t snapshot, uint32_t target);

#endif
