/*
 * engine/forget/history.c: the start of a family's history.
 */
#include "engine/forget/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/*
 * Without KEEP_DELETED_CELLS a marker hides cells from reads of earlier times
 * too.  With it, one that hides a single version does so from its own time on,
 * which is earlier than when it was deleted.
 */
int64_t
wc_history_of_marker(const WcFamilyAttrs *attrs, const WcCell *marker, int64_t commit_ts, bool *single)
{
	bool		one = marker->type == WC_DELETE || marker->type == WC_DELETE_FAMILY_VERSION;

	*single |= one;
	if (attrs->keep_deleted == WC_KEEP_DELETED_FALSE)
		return marker->ts > commit_ts ? marker->ts : commit_ts;
	return one ? commit_ts : 0;
}

/* "2026-01-02 03:04:05.000006+00" */
static const char *
time_text(char *buf, size_t size, int64_t us)
{
	time_t		seconds = (time_t) (us / WC_USEC_PER_SEC);
	struct tm	tm;
	char		day[32];

	if (gmtime_r(&seconds, &tm) == NULL || strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm) == 0)
		snprintf(buf, size, "%" PRId64, us);
	else
		snprintf(buf, size, "%s.%06d+00", day, (int) (us % WC_USEC_PER_SEC));
	return buf;
}

static WcStatus
refuse(const WcTableDesc *table, const WcFamilyDesc *family, int64_t as_of_ts, int64_t from, WcError *err)
{
	char		name[2 * WC_NAME_MAX + 2];
	char		then[64];
	char		since[64];

	wc_error(err, WC_INVALID, "stored table \"%s\" cannot be seen as of %s",
			 wc_table_desc_fullname(table, name, sizeof(name)), time_text(then, sizeof(then), as_of_ts));
	wc_error_detail(err, "The history of family \"%.*s\" begins at %s.",
					(int) family->name.len, (const char *) family->name.data, time_text(since, sizeof(since), from));
	wc_error_hint(err, "Set widecol.read_timestamp to that time or a later one.  A family's history is longer with packing "
				  "\"cell\", more versions and keep_deleted_cells \"true\".");
	return WC_INVALID;
}

/* Cells that an expire step has removed are visible to no snapshot. */
WcStatus
wc_history_recheck(WcStore *store, const WcTableDesc *table, const WcFamilyDesc *family, int64_t as_of_ts, WcError *err)
{
	if (as_of_ts >= wc_store_gone(store).expired_ts)
		return WC_OK;
	return refuse(table, family, as_of_ts, wc_marks_history_from_us(store), err);
}

WcStatus
wc_history_check(WcStore *store, const WcTableDesc *table, const WcFamilyDesc *family,
				 const WcSnapshot *snapshot, int64_t as_of_ts, WcError *err)
{
	int64_t		from;
	WcMarks		then;
	WcStatus	status;

	if (as_of_ts < family->history_from_us)
		return refuse(table, family, as_of_ts, family->history_from_us, err);
	from = wc_marks_history_from_us(store);
	if (as_of_ts >= from)
		return WC_OK;
	status = wc_history_recheck(store, table, family, as_of_ts, err);
	if (status != WC_OK)
		return status;

	/* cells that later writes (not visible to the snapshot) have made the family forget are still there */
	status = wc_marks_read(store, snapshot, &then, err);
	if (status == WC_OK && as_of_ts < then.history_from_us)
		return refuse(table, family, as_of_ts, from, err);
	return status;
}
