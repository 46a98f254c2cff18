/*
 * client/catalog/writerlock.c: the writer's lock on a table.
 */
#include "postgres.h"

#include "channel/flight.h"
#include "client/catalog/catalog.h"

/* Tables whose writer's lock this transaction is known to hold. */
#define LOCKED_MAX 8

static uint32 locked[LOCKED_MAX];
static int	nlocked;

/* During the wait for the lock, another transaction may have dropped, renamed or disabled the table. */
void
wc_lock_for_writing(const WcTableDesc *table)
{
	const WcTableDesc *now;
	char	   *name;

	for (int i = 0; i < nlocked; i++)
	{
		if (locked[i] == table->id)
			return;
	}
	wc_following_await_promotion();
	name = wc_client_table_fullname(table);
	wc_client_lock_table(name, RowExclusiveLock);
	now = wc_table_now(table);
	if (now == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("stored table \"%s\" does not exist", name),
				 errdetail("Another transaction has dropped or renamed it meanwhile.")));
	if (now->disabled)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stored table \"%s\" is disabled", name),
				 errdetail("It can be read, but not written to."),
				 now->origin.len > 0 ? errhint("It is a snapshot: widecol.clone_snapshot makes a table of it that can be changed.") :
				 errhint("Its owner can enable it with widecol.enable.")));
	if (nlocked < LOCKED_MAX)
		locked[nlocked++] = table->id;
}

void
wc_writer_locks_forget(void)
{
	nlocked = 0;
}
