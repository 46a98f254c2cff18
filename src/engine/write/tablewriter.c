/*
 * engine/write/tablewriter.c: writes a commit's changes of the rows of one table.
 */
#include "engine/write/tablewriter.h"

#include <inttypes.h>
#include <stdlib.h>

#include "read/cell/quote.h"

/* A family of the table. */
typedef struct Part
{
	WcFamilyWriter *writer;		/* NULL until a row needs it */
	bool		started;		/* in the current row */
	uint32_t	touched;		/* by place in this list: those that are started */
} Part;

struct WcTableWriter
{
	WcTableWriterOptions options;
	uint32_t	ntouched;
	Part		parts[];		/* in the order of the picture's families */
};

WcStatus
wc_tablewriter_create(const WcTableWriterOptions *options, WcTableWriter **writer, WcError *err)
{
	*writer = calloc(1, sizeof(WcTableWriter) + options->table->desc.nfamilies * sizeof(Part));
	if (*writer == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for the changes of a table");
	(*writer)->options = *options;
	wc_table_ref(options->table);
	return WC_OK;
}

void
wc_tablewriter_free(WcTableWriter *w)
{
	if (w == NULL)
		return;
	for (uint32_t i = 0; i < w->options.table->desc.nfamilies; i++)
		wc_familywriter_free(w->parts[i].writer);
	wc_table_unref(w->options.table);
	free(w);
}

const WcTable *
wc_tablewriter_table(const WcTableWriter *w)
{
	return w->options.table;
}

/* --- families -------------------------------------------------------------*/

/* The index of a family in the table; *skip: the family was dropped after the operation was made. */
static WcStatus
find_family(const WcTableWriter *w, uint32_t id, uint64_t offset, uint32_t *at, bool *skip, WcError *err)
{
	const WcTableDesc *desc = &w->options.table->desc;
	char		name[2 * WC_NAME_MAX + 2];

	*skip = false;
	for (uint32_t i = 0; i < desc->nfamilies; i++)
	{
		if (desc->families[i].id == id)
		{
			*at = i;
			return WC_OK;
		}
	}
	*skip = true;
	for (const WcGoneFamily *gone = w->options.state->gone; gone; gone = gone->next)
	{
		if (gone->id == id && offset < gone->offset)
			return WC_OK;
	}
	return wc_error(err, WC_NO_FAMILY, "stored table \"%s\" has no family with id %" PRIu32,
					wc_table_desc_fullname(desc, name, sizeof(name)), id);
}

static WcStatus
start_family(WcTableWriter *w, uint32_t at, WcSlice row, WcError *err)
{
	Part	   *part = &w->parts[at];
	WcStatus	status;

	if (part->started)
		return WC_OK;
	if (part->writer == NULL)
	{
		WcTable    *table = w->options.table;
		const WcTable *base = w->options.state->base;
		WcStore    *store = table->stores[at];
		WcFamilyWriterOptions options = {
			.store = store,.desc = &table->desc,.family = &table->desc.families[at],
			.ts = w->options.ts,.now_us = w->options.now_us,.sink = w->options.sink,.renews = w->options.renews,
			.empty = base == NULL || wc_table_store(base, store->family_id) != store
		};

		status = wc_familywriter_create(&options, &part->writer, err);
		if (status != WC_OK)
			return status;
	}
	wc_familywriter_start(part->writer, row);
	part->started = true;
	w->parts[w->ntouched++].touched = at;
	return WC_OK;
}

WcFamilyNotes
wc_tablewriter_notes(const WcTableWriter *w, uint32_t i)
{
	const WcFamilyNotes none = {0};

	return w->parts[i].writer ? wc_familywriter_notes(w->parts[i].writer) : none;
}

WcScanRenewal *
wc_tablewriter_take_renewal(WcTableWriter *w, uint32_t i)
{
	return w->parts[i].writer ? wc_familywriter_take_renewal(w->parts[i].writer) : NULL;
}

/* --- rows -----------------------------------------------------------------*/

static WcStatus
error_duplicate(const WcTableWriter *w, WcSlice row, WcError *err)
{
	const WcTableDesc *desc = &w->options.table->desc;
	char		name[2 * WC_NAME_MAX + 2];
	char		text[WC_QUOTE_MAX];

	(void) wc_error(err, WC_DUPLICATE_ROW, "row %s already exists in stored table \"%s\"",
					wc_quote(text, sizeof(text), row), wc_table_desc_fullname(desc, name, sizeof(name)));
	wc_error_row(err, desc->id, row.data, row.len);
	return WC_DUPLICATE_ROW;
}

static WcStatus
check_absent(WcTableWriter *w, const WcOp *op, uint64_t offset, WcError *err)
{
	WcDecoder	d = wc_decoder(op->families);

	while (d.p < d.end)
	{
		uint32_t	id = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
		uint32_t	at;
		bool		skip;
		bool		exists = false;
		WcStatus	status = find_family(w, id, offset, &at, &skip, err);

		if (skip)
			continue;			/* if that is wrong, the items tell */
		status = start_family(w, at, op->row, err);
		if (status == WC_OK)
			status = wc_resolver_exists(wc_familywriter_resolver(w->parts[at].writer), &exists, err);
		if (status != WC_OK)
			return status;
		if (exists)
			return error_duplicate(w, op->row, err);
	}
	return WC_OK;
}

/* As wc_tablewriter_op, without the operation's end. */
static WcStatus
take_items(WcTableWriter *w, const WcTxnEntry *entry, const WcOp *op, WcError *err)
{
	WcDecoder	d = wc_decoder(op->items);
	uint32_t	family = 0;
	uint32_t	at = UINT32_MAX;	/* where it is; UINT32_MAX: not looked for yet */
	bool		skip = false;
	WcStatus	missing = WC_OK;
	WcItem		item;
	WcStatus	status;

	while ((status = wc_op_next_item(&d, &item, err)) == WC_OK)
	{
		if (at == UINT32_MAX || item.family != family)
		{
			family = item.family;
			status = find_family(w, family, entry->offset, &at, &skip, err);
			if (skip)
			{
				missing = missing == WC_OK ? status : missing;
				at = UINT32_MAX;
				continue;
			}
			status = start_family(w, at, wc_txnentry_row(entry), err);
		}
		if (status == WC_OK)
			status = wc_resolver_item(wc_familywriter_resolver(w->parts[at].writer), &item, err);
		if (status != WC_OK)
			return status;
	}
	return status == WC_END ? missing : status;
}

WcStatus
wc_tablewriter_op(WcTableWriter *w, const WcTxnEntry *entry, WcError *err)
{
	WcDecoder	d = wc_decoder(wc_slice(entry->bytes, entry->len));
	WcStatus	missing;
	WcOp		op;
	WcStatus	status = wc_batch_next_op(&d, &op, err);

	if (status == WC_OK && (op.flags & WC_ROW_MUST_BE_ABSENT))
		status = check_absent(w, &op, entry->offset, err);
	if (status != WC_OK)
		return status;
	missing = take_items(w, entry, &op, err);
	if (missing != WC_OK && missing != WC_NO_FAMILY)
		return missing;
	for (uint32_t i = 0; status == WC_OK && i < w->ntouched; i++)
		status = wc_resolver_end_op(wc_familywriter_resolver(w->parts[w->parts[i].touched].writer), err);
	return status == WC_OK ? missing : status;
}

WcStatus
wc_tablewriter_finish_row(WcTableWriter *w, int64_t *last_ts, WcError *err)
{
	WcStatus	too_large = WC_OK;
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; status == WC_OK && i < w->ntouched; i++)
	{
		status = wc_familywriter_finish(w->parts[w->parts[i].touched].writer, last_ts, err);
		if (status == WC_TOO_LARGE)
		{
			too_large = status;
			status = WC_OK;
		}
	}
	wc_tablewriter_leave_row(w);
	return status == WC_OK ? too_large : status;
}

void
wc_tablewriter_leave_row(WcTableWriter *w)
{
	for (uint32_t i = 0; i < w->ntouched; i++)
		w->parts[w->parts[i].touched].started = false;
	w->ntouched = 0;
}
