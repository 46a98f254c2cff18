/*
 * shell/statistics.c: rows of the views pg_stat_widecol, pg_stat_widecol_tables and
 * pg_stat_widecol_sessions; and setting their counters to 0.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/pg_lsn.h"
#include "utils/timestamp.h"

#include "client/statistics.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_stat_engine);
PG_FUNCTION_INFO_V1(widecol_stat_tables);
PG_FUNCTION_INFO_V1(widecol_stat_sessions);
PG_FUNCTION_INFO_V1(widecol_stat_progress);
PG_FUNCTION_INFO_V1(widecol_stat_reset);

#define UNIX_EPOCH_US ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)
#define COLUMNS_MAX 64

/* A row that is being made, from its first column on. */
typedef struct Row
{
	int			n;
	Datum		values[COLUMNS_MAX];
	bool		nulls[COLUMNS_MAX];
} Row;

static void
add(Row *row, Datum value)
{
	Assert(row->n < COLUMNS_MAX);
	row->values[row->n] = value;
	row->nulls[row->n++] = false;
}

static void
add_null(Row *row)
{
	Assert(row->n < COLUMNS_MAX);
	row->values[row->n] = (Datum) 0;
	row->nulls[row->n++] = true;
}

static void
add_count(Row *row, uint64 count)
{
	add(row, Int64GetDatum((int64) count));
}

static void
add_counts(Row *row, const uint64 *counts, int n)
{
	for (int i = 0; i < n; i++)
		add_count(row, counts[i]);
}

/* NULL stays NULL. */
static void
add_text(Row *row, const char *text)
{
	if (text != NULL)
		add(row, CStringGetTextDatum(text));
	else
		add_null(row);
}

static void
add_name(Row *row, WcSlice name)
{
	add(row, CStringGetTextDatum(wc_name_from_utf8(name)));
}

/* Microseconds since 1970; 0 is NULL. */
static void
add_time(Row *row, uint64 us)
{
	if (us != 0)
		add(row, TimestampTzGetDatum((TimestampTz) us - UNIX_EPOCH_US));
	else
		add_null(row);
}

/* 0 is NULL. */
static void
add_pid(Row *row, uint64 pid)
{
	if (pid != 0)
		add(row, Int32GetDatum((int32) pid));
	else
		add_null(row);
}

static void
add_lsn(Row *row, XLogRecPtr lsn)
{
	if (lsn != InvalidXLogRecPtr)
		add(row, LSNGetDatum(lsn));
	else
		add_null(row);
}

/* The row is complete; the next one begins. */
static void
put(ReturnSetInfo *rsinfo, Row *row)
{
	if (row->n != rsinfo->setDesc->natts)
		elog(ERROR, "a row of statistics has %d columns instead of %d", row->n, rsinfo->setDesc->natts);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, row->values, row->nulls);
	row->n = 0;
}

static void
check_rows(const WcDecoder *d)
{
	WcError		err;

	if (!d->failed)
		return;
	wc_error(&err, WC_CORRUPT, "statistics of the engine are malformed");
	wc_raise(&err);
}

/* --- the engine --------------------------------------------------------------- */

static void
add_lag(Row *row, const WcClientEngine *engine, const WcEngineStatistics *s)
{
	XLogRecPtr	applied = engine->applied;

	/* no commit waits: everything that was read is applied, or concerns no stored table */
	if (s != NULL && s->backlog_commits == 0)
		applied = Max(applied, engine->read_upto);
	add_lsn(row, engine->read_upto);
	add_lsn(row, applied);
	if (applied == InvalidXLogRecPtr)
		add_null(row);
	else
		add_count(row, engine->end > applied ? engine->end - applied : 0);
	if (s == NULL)
		add_null(row);
	else
	{
		Interval   *lag = palloc0(sizeof(Interval));

		if (s->waiting_us != 0)
			lag->time = Max(GetCurrentTimestamp() + UNIX_EPOCH_US - (int64) s->waiting_us, 0);
		add(row, IntervalPGetDatum(lag));
	}
}

static Datum
levels_datum(const WcEngineStatistics *s)
{
	Datum		levels[WC_ROCKS_LEVELS];

	for (int i = 0; i < WC_ROCKS_LEVELS; i++)
		levels[i] = Int64GetDatum((int64) s->level_bytes[i]);
	return PointerGetDatum(construct_array(levels, WC_ROCKS_LEVELS, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Columns that only the engine knows. */
static void
add_engine(Row *row, const WcClientEngine *engine, const WcEngineStatistics *s)
{
	static const char *const writes[] = {"normal", "delayed", "stopped"};
	uint64		bytes = 0;

	for (int i = 0; i < WC_ROCKS_LEVELS; i++)
		bytes += s->level_bytes[i];
	add_time(row, s->applied_us);
	add_count(row, s->backlog_commits);
	add_count(row, s->backlog_bytes);
	add_count(row, s->commits);
	add_count(row, s->operations);
	add_count(row, s->void_operations);
	add_count(row, s->batches);
	add_count(row, s->logged_bytes);
	add_count(row, s->steps);
	add_count(row, s->sessions);
	add_count(row, s->requests);
	add_count(row, s->blocks_hit);
	add_count(row, s->blocks_read);
	add_count(row, s->get_hits);
	add_count(row, s->get_misses);
	add_count(row, s->snapshots);
	add_time(row, s->snapshot_us);
	add_pid(row, s->snapshot_pid);
	add_count(row, s->memtable_bytes);
	add_count(row, s->index_bytes);
	add_count(row, s->cache_bytes);
	add_count(row, s->transaction_bytes + s->backlog_bytes);
	add_count(row, engine->get_bytes);
	add_count(row, s->flushes);
	add_count(row, s->flushed_bytes);
	add_count(row, s->compactions);
	add_count(row, s->compacted_bytes);
	add_count(row, s->flushes_running);
	add_count(row, s->compactions_running);
	add_count(row, s->compactions_waiting);
	add_count(row, s->stalls);
	add_text(row, writes[Min(s->stalled, 2)]);
	add_count(row, s->files);
	add_count(row, bytes);
	add(row, levels_datum(s));
	add_time(row, s->reset_us);
}

/* The columns of the view, in its order. */
Datum
widecol_stat_engine(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		all = wc_client_may_see_all();
	WcClientEngine engine;
	WcEngineStatistics s = {0};
	WcSlice		why = {NULL, 0};
	Row			row = {0};

	InitMaterializedSRF(fcinfo, 0);
	wc_client_engine(&engine);
	if (engine.ready)
	{
		WcDecoder	d = wc_decoder(wc_client_statistics(WC_STATISTICS_ENGINE));

		if (!wc_statistics_next(&d, &why, WC_ENGINE_TEXTS, (uint64_t *) &s, WC_STATISTICS_NUMBERS(s)))
			wc_decoder_fail(&d);
		check_rows(&d);
		if (why.len > 0)
			engine.failure = wc_name_from_utf8(why);
	}
	add_text(&row, engine.state);
	add_pid(&row, (uint64) engine.pid);
	add_time(&row, s.started_us);
	add_text(&row, all ? engine.failure : NULL);
	if (engine.stalled_since != 0)
		add(&row, TimestampTzGetDatum(engine.stalled_since));
	else
		add_null(&row);
	add_text(&row, all ? engine.stall : NULL);
	add_lag(&row, &engine, engine.ready ? &s : NULL);
	if (engine.ready)
		add_engine(&row, &engine, &s);
	while (row.n < rsinfo->setDesc->natts)
		add_null(&row);
	put(rsinfo, &row);
	return (Datum) 0;
}

/* --- tables ------------------------------------------------------------------- */

Datum
widecol_stat_tables(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WcSlice		names[WC_FAMILY_TEXTS];
	WcFamilyStatistics s;
	WcDecoder	d;
	Row			row = {0};

	InitMaterializedSRF(fcinfo, 0);
	d = wc_decoder(wc_client_statistics(WC_STATISTICS_TABLES));
	while (wc_statistics_next(&d, names, WC_FAMILY_TEXTS, (uint64_t *) &s, WC_STATISTICS_NUMBERS(s)))
	{
		for (int i = 0; i < WC_FAMILY_TEXTS; i++)
			add_name(&row, names[i]);
		add_counts(&row, &s.reads, 5);
		add_count(&row, s.cells_written);
		add_count(&row, s.deletes);
		add_count(&row, s.bytes_written);
		add_count(&row, s.keys);
		add_count(&row, s.dead);
		add_count(&row, s.memtable_bytes);
		add_count(&row, s.files);
		add_count(&row, s.file_bytes);
		add_count(&row, s.flushes);
		add_time(&row, s.flush_us);
		add_count(&row, s.compactions);
		add_time(&row, s.compaction_us);
		put(rsinfo, &row);
	}
	check_rows(&d);
	return (Datum) 0;
}

/* --- sessions ----------------------------------------------------------------- */

static void
add_session(Row *row, const WcSessionStatistics *s, const WcSlice *names)
{
	add_text(row, s->working ? "active" : "idle");
	add_text(row, s->requests > 0 || s->since_us != 0 ? wc_client_request_name(s->request) : NULL);
	if (names[1].len > 0)
	{
		add_name(row, names[0]);
		add_name(row, names[1]);
	}
	else
	{
		add_null(row);
		add_null(row);
	}
	add_time(row, s->since_us);
	add_count(row, s->scanners);
	add_count(row, s->snapshots);
	add_time(row, s->snapshot_us);
	add_count(row, s->transaction_bytes);
	add_counts(row, &s->requests, 5);
}

Datum
widecol_stat_sessions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WcSlice		names[WC_SESSION_TEXTS];
	WcSessionStatistics s;
	WcDecoder	d;
	Row			row = {0};

	InitMaterializedSRF(fcinfo, 0);
	d = wc_decoder(wc_client_statistics(WC_STATISTICS_SESSIONS));
	while (wc_statistics_next(&d, names, WC_SESSION_TEXTS, (uint64_t *) &s, WC_STATISTICS_NUMBERS(s)))
	{
		add_pid(&row, s.pid);
		add(&row, ObjectIdGetDatum((Oid) s.database));
		if (wc_client_may_see_process((int) s.pid))
			add_session(&row, &s, names);
		while (row.n < rsinfo->setDesc->natts)
			add_null(&row);
		put(rsinfo, &row);
	}
	check_rows(&d);
	return (Datum) 0;
}

/* --- progress ------------------------------------------------------------------ */

static const char *
work_name(uint64 kind)
{
	static const char *const names[] = {
		[WC_PROGRESS_FLUSH] = "flush",[WC_PROGRESS_COMPACTION] = "compaction",[WC_PROGRESS_MAJOR_COMPACTION] = "major compaction",
		[WC_PROGRESS_UPKEEP] = "upkeep",[WC_PROGRESS_ROCKS_FLUSH] = "background flush",
		[WC_PROGRESS_ROCKS_COMPACTION] = "background compaction"
	};

	return kind < lengthof(names) ? names[kind] : NULL;
}

/* Phase, done, total and their unit; an unknown value is NULL. */
static void
add_phase(Row *row, const WcProgress *p)
{
	switch (p->phase)
	{
		case WC_PHASE_FORGET:
			add_text(row, "looking for what can be forgotten");
			add_count(row, p->done);
			add_count(row, p->total);
			add_text(row, "keys");
			return;
		case WC_PHASE_REWRITE:
			add_text(row, "rewriting files");
			add_count(row, p->done);
			add_count(row, p->total);
			add_text(row, "parts");
			return;
		case WC_PHASE_ROCKS:
			add_text(row, p->kind == WC_PROGRESS_ROCKS_FLUSH ? "writing memory to files" : "rewriting files");
			add_null(row);
			if (p->total > 0)
				add_count(row, p->total);
			else
				add_null(row);
			add_text(row, "bytes");
			return;
		default:
			add_text(row, p->phase == WC_PHASE_FLUSH ? "writing memory to files" : "starting");
			add_null(row);
			add_null(row);
			add_null(row);
	}
}

/* Work that a session has asked for is shown to roles that may see the session; the engine's own work to
 * sessions of the table's database. */
static bool
may_see(const WcProgress *p)
{
	if (wc_client_may_see_all())
		return true;
	return p->database == MyDatabaseId && (p->pid == 0 || wc_client_may_see_process((int) p->pid));
}

Datum
widecol_stat_progress(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WcSlice		names[WC_PROGRESS_TEXTS];
	WcProgress	p;
	WcDecoder	d;
	Row			row = {0};

	InitMaterializedSRF(fcinfo, 0);
	d = wc_decoder(wc_client_statistics(WC_STATISTICS_PROGRESS));
	while (wc_statistics_next(&d, names, WC_PROGRESS_TEXTS, (uint64_t *) &p, WC_STATISTICS_NUMBERS(p)))
	{
		add_pid(&row, p.pid);
		add(&row, ObjectIdGetDatum((Oid) p.database));
		add_text(&row, work_name(p.kind));
		if (may_see(&p))
		{
			for (int i = 0; i < WC_PROGRESS_TEXTS; i++)
				add_name(&row, names[i]);
			add_phase(&row, &p);
			add_time(&row, p.since_us);
		}
		while (row.n < rsinfo->setDesc->natts)
			add_null(&row);
		put(rsinfo, &row);
	}
	check_rows(&d);
	return (Datum) 0;
}

/* --- resetting ---------------------------------------------------------------- */

Datum
widecol_stat_reset(PG_FUNCTION_ARGS)
{
	(void) wc_client_statistics(WC_STATISTICS_RESET);
	PG_RETURN_VOID();
}
