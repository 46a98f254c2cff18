/*
 * client/statistics.c: the engine's state and statistics, for views.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"

#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/driver.h"
#include "client/statistics.h"

static const char *
state_name(uint32 state)
{
	switch (state)
	{
		case WC_ENGINE_READY:
			return "ready";
		case WC_ENGINE_STOPPED:
			return "stopped";
		case WC_ENGINE_FAILED:
			return "failed";
		case WC_ENGINE_STARTING:
			return "starting";
		default:
			return "absent";
	}
}

static char *
error_text(const WcError *err)
{
	if (err->detail[0] == '\0')
		return pstrdup(err->message);
	return psprintf("%s (%s)", err->message, err->detail);
}

void
wc_client_engine(WcClientEngine *engine)
{
	WcShmem    *shmem;
	WcFollowing *following;
	uint32		state;
	WcError		why;

	wc_client_require_preload();
	shmem = wc_shmem();
	following = wc_following();
	memset(engine, 0, sizeof(*engine));
	state = atomic_load(&shmem->state);
	engine->state = state_name(state);
	engine->ready = state == WC_ENGINE_READY;
	if (engine->ready)
		engine->pid = wc_shmem_pid(atomic_load(&shmem->engine_process));
	if (state == WC_ENGINE_FAILED)
		engine->failure = error_text(&shmem->start_error);
	if (wc_following_stalled(&why))
	{
		engine->stalled_since = (TimestampTz) atomic_load(&following->stalled);
		engine->stall = error_text(&why);
	}
	engine->read_upto = atomic_load(&following->read_upto);
	engine->applied = atomic_load(&following->applied);
	engine->end = RecoveryInProgress() ? GetXLogReplayRecPtr(NULL) : GetXLogWriteRecPtr();
	engine->get_bytes = shmem->getcache_bytes;
}

WcSlice
wc_client_statistics(WcStatisticsView view)
{
	WcSlice		rows;

	wc_driver()->connect();
	wc_driver()->statistics((uint8) view, &rows);
	return rows;
}

bool
wc_client_may_see_all(void)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

bool
wc_client_may_see_process(int pid)
{
	PGPROC	   *proc;

	if (wc_client_may_see_all())
		return true;
	proc = BackendPidGetProc(pid);
	return proc != NULL && OidIsValid(proc->roleId) && has_privs_of_role(GetUserId(), proc->roleId);
}

const char *
wc_client_request_name(uint64 type)
{
	return wc_message_request_name((uint8) Min(type, UINT8_MAX));
}
