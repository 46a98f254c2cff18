/*
 * thrift/answer.c: answers of HBase's gateway (Thrift2).
 */
#include "thrift/answer.h"

#include "thrift/idl.h"

/* The type of a cell whose type field is absent; HBase's code. */
#define PUT 4

static WcStatus
malformed(WcError *err)
{
	return wc_error(err, WC_CORRUPT, "answer is not what HBase's interface says");
}

WcStatus
wc_answer_status(const WcAnswer *a, WcError *err)
{
	return wc_thrift_failed(&a->r) ? malformed(err) : WC_OK;
}

static WcStatus
no_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for an answer of HBase");
}

/* --- opening ----------------------------------------------------------------*/

/* Reads an exception's text, which is field 1 of all exceptions. */
static void
read_exception(WcAnswer *a)
{
	WcThriftField f;

	while (wc_thrift_next_field(&a->r, &f))
	{
		if (f.id == WC_TIOError_message && f.type == WC_THRIFT_STRING)
			a->message = wc_thrift_read_bytes(&a->r, f);
		else if (f.id == WC_TIOError_canRetry && f.type == WC_THRIFT_BOOL)
			a->can_retry = wc_thrift_read_bool(&a->r, f);
		else
			wc_thrift_skip(&a->r, f);
	}
}

static void
read_outcome(WcAnswer *a)
{
	WcThriftField f;

	a->kind = WC_ANSWER_NOTHING;
	while (wc_thrift_next_field(&a->r, &f))
	{
		switch (f.id)
		{
			case WC_RESULT_SUCCESS:
				a->kind = WC_ANSWER_RESULT;
				a->result = f;
				return;			/* the functions below read its value */
			case WC_RESULT_IO:
			case WC_RESULT_IA:
				a->kind = f.id == WC_RESULT_IO ? WC_ANSWER_IO_ERROR : WC_ANSWER_ILLEGAL;
				wc_thrift_read_struct(&a->r, f);
				read_exception(a);
				break;
			default:
				wc_thrift_skip(&a->r, f);
				break;
		}
	}
}

WcStatus
wc_answer_open(WcAnswer *a, WcThriftProtocol protocol, WcSlice message, const char *method, int32_t number, WcError *err)
{
	WcThriftHead head;

	memset(a, 0, sizeof(*a));
	wc_thrift_reader(&a->r, protocol, message, &head);
	if (head.number != number || !wc_slice_eq(head.method, wc_slice_cstr(method)))
		wc_decoder_fail(&a->r.d);
	else if (head.type == WC_THRIFT_EXCEPTION)
	{
		a->kind = WC_ANSWER_FAILED;
		read_exception(a);
	}
	else if (head.type == WC_THRIFT_REPLY)
		read_outcome(a);
	else
		wc_decoder_fail(&a->r.d);
	return wc_answer_status(a, err);
}

/* --- rows -------------------------------------------------------------------*/

uint32_t
wc_answer_rows(WcAnswer *a)
{
	return a->result.type == WC_THRIFT_STRUCT ? 1 : wc_thrift_read_list(&a->r, a->result, WC_THRIFT_STRUCT);
}

/* The struct is open. */
static void
read_row(WcAnswer *a, WcSlice *row, uint32_t *ncells)
{
	WcThriftField f;

	*row = wc_slice(NULL, 0);
	*ncells = 0;
	while (wc_thrift_next_field(&a->r, &f))
	{
		if (f.id == WC_TResult_row)
			*row = wc_thrift_read_bytes(&a->r, f);
		else if (f.id == WC_TResult_columnValues)
		{
			*ncells = wc_thrift_read_list(&a->r, f, WC_THRIFT_STRUCT);
			if (row->len == 0 && (*ncells > 0 || a->result.type != WC_THRIFT_STRUCT))
				break;			/* cells without a row key, or a scan's row without one */
			return;
		}
		else
			wc_thrift_skip(&a->r, f);
	}

	/* behind the row, a TResult always has a list of cells, perhaps an empty one */
	*ncells = 0;
	wc_decoder_fail(&a->r.d);
}

void
wc_answer_row(WcAnswer *a, WcSlice *row, uint32_t *ncells)
{
	wc_thrift_element_struct(&a->r);
	read_row(a, row, ncells);
}

void
wc_answer_cell(WcAnswer *a, WcThriftCell *cell)
{
	WcThriftField f;

	memset(cell, 0, sizeof(*cell));
	cell->type = PUT;
	wc_thrift_element_struct(&a->r);
	while (wc_thrift_next_field(&a->r, &f))
	{
		switch (f.id)
		{
			case WC_TColumnValue_family:
				cell->family = wc_thrift_read_bytes(&a->r, f);
				break;
			case WC_TColumnValue_qualifier:
				cell->qualifier = wc_thrift_read_bytes(&a->r, f);
				break;
			case WC_TColumnValue_value:
				cell->value = wc_thrift_read_bytes(&a->r, f);
				break;
			case WC_TColumnValue_timestamp:
				cell->ts = wc_thrift_read_i64(&a->r, f);
				break;
			case WC_TColumnValue_type:
				cell->type = (uint8_t) wc_thrift_read_byte(&a->r, f);
				break;
			default:
				wc_thrift_skip(&a->r, f);
				break;
		}
	}
	if (cell->family.len == 0)
		wc_decoder_fail(&a->r.d);
}

void
wc_answer_row_end(WcAnswer *a, bool *partial)
{
	WcThriftField f;

	*partial = false;
	while (wc_thrift_next_field(&a->r, &f))
	{
		if (f.id == WC_TResult_partial)
			*partial = wc_thrift_read_bool(&a->r, f);
		else
			wc_thrift_skip(&a->r, f);
	}
}

/* --- tables -----------------------------------------------------------------*/

static void
read_family(WcThriftReader *r, WcThriftFamily *family)
{
	const uint8_t *begin;
	WcThriftField f;

	/* HBase's defaults for fields that are absent */
	*family = (WcThriftFamily) {
		.blocksize = 65536,.bloomfilter = WC_TBloomFilterType_ROW,.compression = WC_TCompressionAlgorithm_NONE,
		.keep_deleted = WC_TKeepDeletedCells_FALSE,.versions = 1,.ttl = INT32_MAX,.blockcache = true
	};
	begin = r->d.p;
	wc_thrift_element_struct(r);
	while (wc_thrift_next_field(r, &f))
	{
		switch (f.id)
		{
			case WC_TColumnFamilyDescriptor_name:
				family->name = wc_thrift_read_bytes(r, f);
				break;
			case WC_TColumnFamilyDescriptor_blockSize:
				family->blocksize = wc_thrift_read_i32(r, f);
				break;
			case WC_TColumnFamilyDescriptor_bloomnFilterType:
				family->bloomfilter = wc_thrift_read_i32(r, f);
				break;
			case WC_TColumnFamilyDescriptor_compressionType:
				family->compression = wc_thrift_read_i32(r, f);
				break;
			case WC_TColumnFamilyDescriptor_keepDeletedCells:
				family->keep_deleted = wc_thrift_read_i32(r, f);
				break;
			case WC_TColumnFamilyDescriptor_maxVersions:
				family->versions = wc_thrift_read_i32(r, f);
				break;
			case WC_TColumnFamilyDescriptor_minVersions:
				family->min_versions = wc_thrift_read_i32(r, f);
				break;
			case WC_TColumnFamilyDescriptor_timeToLive:
				family->ttl = wc_thrift_read_i32(r, f);
				break;
			case WC_TColumnFamilyDescriptor_blockCacheEnabled:
				family->blockcache = wc_thrift_read_bool(r, f);
				break;
			case WC_TColumnFamilyDescriptor_inMemory:
				family->in_memory = wc_thrift_read_bool(r, f);
				break;
			default:
				wc_thrift_skip(r, f);
				break;
		}
	}
	if (family->name.len == 0)
		wc_decoder_fail(&r->d);
	if (!r->d.failed)
		family->all = wc_slice(begin, (size_t) (r->d.p - begin));
}

static void
read_table_name(WcThriftReader *r, WcThriftTable *table)
{
	WcThriftField f;

	while (wc_thrift_next_field(r, &f))
	{
		if (f.id == WC_TTableName_ns)
			table->ns = wc_thrift_read_bytes(r, f);
		else if (f.id == WC_TTableName_qualifier)
			table->name = wc_thrift_read_bytes(r, f);
		else
			wc_thrift_skip(r, f);
	}
	if (table->ns.len == 0)
		table->ns = wc_slice_cstr("default");
}

/* Reads the fields of a table's descriptor; false: out of memory. */
static bool
read_table(WcThriftReader *r, WcArena *arena, WcThriftTable *table)
{
	WcThriftField f;

	memset(table, 0, sizeof(*table));
	while (wc_thrift_next_field(r, &f))
	{
		if (f.id == WC_TTableDescriptor_tableName)
		{
			wc_thrift_read_struct(r, f);
			read_table_name(r, table);
		}
		else if (f.id == WC_TTableDescriptor_columns)
		{
			uint32_t	n = wc_thrift_read_list(r, f, WC_THRIFT_STRUCT);

			/* each family has a name: a number larger than the rest of the message can hold allocates nothing */
			if (n > wc_decoder_left(&r->d) / 4)
				wc_decoder_fail(&r->d);
			if (r->d.failed)
				return true;
			table->families = wc_arena_alloc_zero(arena, (n + 1) * sizeof(WcThriftFamily));
			if (table->families == NULL)
				return false;
			table->nfamilies = n;
			for (uint32_t i = 0; i < n && !r->d.failed; i++)
				read_family(r, &table->families[i]);
		}
		else
			wc_thrift_skip(r, f);
	}
	if (table->name.len == 0)
		wc_decoder_fail(&r->d);
	return true;
}

WcStatus
wc_answer_table(WcAnswer *a, WcArena *arena, WcThriftTable *table, WcError *err)
{
	wc_thrift_read_struct(&a->r, a->result);
	if (!read_table(&a->r, arena, table))
		return no_memory(err);
	return wc_answer_status(a, err);
}

WcStatus
wc_answer_tables(WcAnswer *a, WcArena *arena, WcThriftTable **tables, uint32_t *n, WcError *err)
{
	*n = wc_thrift_read_list(&a->r, a->result, WC_THRIFT_STRUCT);
	if (*n > wc_decoder_left(&a->r.d) / 4)
		wc_decoder_fail(&a->r.d);
	if (wc_thrift_failed(&a->r))
		return malformed(err);
	*tables = wc_arena_alloc_zero(arena, (*n + 1) * sizeof(WcThriftTable));
	if (*tables == NULL)
		return no_memory(err);
	for (uint32_t i = 0; i < *n && !wc_thrift_failed(&a->r); i++)
	{
		wc_thrift_element_struct(&a->r);
		if (!read_table(&a->r, arena, &(*tables)[i]))
			return no_memory(err);
	}
	return wc_answer_status(a, err);
}

/* --- others -----------------------------------------------------------------*/

WcStatus
wc_answer_names(WcAnswer *a, WcArena *arena, WcSlice **names, uint32_t *n, WcError *err)
{
	*n = wc_thrift_read_list(&a->r, a->result, WC_THRIFT_STRING);
	if (wc_thrift_failed(&a->r))
		return malformed(err);
	*names = wc_arena_alloc_zero(arena, (*n + 1) * sizeof(WcSlice));
	if (*names == NULL)
		return no_memory(err);
	for (uint32_t i = 0; i < *n; i++)
		(*names)[i] = wc_thrift_element_bytes(&a->r);
	return wc_answer_status(a, err);
}

WcStatus
wc_answer_number(WcAnswer *a, int32_t *number, WcError *err)
{
	*number = wc_thrift_read_i32(&a->r, a->result);
	return wc_answer_status(a, err);
}

WcStatus
wc_answer_bool(WcAnswer *a, bool *value, WcError *err)
{
	*value = wc_thrift_read_bool(&a->r, a->result);
	return wc_answer_status(a, err);
}

WcStatus
wc_answer_changed_cell(WcAnswer *a, WcThriftCell *cell, WcError *err)
{
	WcSlice		row;
	uint32_t	ncells;
	bool		partial;

	wc_thrift_read_struct(&a->r, a->result);
	read_row(a, &row, &ncells);
	if (ncells != 1)
		wc_decoder_fail(&a->r.d);
	wc_answer_cell(a, cell);
	wc_answer_row_end(a, &partial);
	return wc_answer_status(a, err);
}

/* A THRegionInfo, which is open. */
static void
read_region(WcThriftReader *r, WcSlice *start, int32_t *replica)
{
	WcThriftField f;

	while (wc_thrift_next_field(r, &f))
	{
		if (f.id == WC_THRegionInfo_startKey)
			*start = wc_thrift_read_bytes(r, f);
		else if (f.id == WC_THRegionInfo_replicaId)
			*replica = wc_thrift_read_i32(r, f);
		else
			wc_thrift_skip(r, f);
	}
}

WcStatus
wc_answer_regions(WcAnswer *a, WcArena *arena, WcSlice **starts, uint32_t *n, WcError *err)
{
	uint32_t	locations = wc_thrift_read_list(&a->r, a->result, WC_THRIFT_STRUCT);
	WcThriftField f;

	*n = 0;
	if (wc_thrift_failed(&a->r))
		return malformed(err);
	*starts = wc_arena_alloc_zero(arena, (locations + 1) * sizeof(WcSlice));
	if (*starts == NULL)
		return no_memory(err);
	for (uint32_t i = 0; i < locations && !wc_thrift_failed(&a->r); i++)
	{
		WcSlice		start = {0};
		int32_t		replica = 0;

		wc_thrift_element_struct(&a->r);
		while (wc_thrift_next_field(&a->r, &f))
		{
			if (f.id == WC_THRegionLocation_regionInfo)
			{
				wc_thrift_read_struct(&a->r, f);
				read_region(&a->r, &start, &replica);
			}
			else
				wc_thrift_skip(&a->r, f);
		}
		if (replica == 0)
			(*starts)[(*n)++] = start;
	}
	return wc_answer_status(a, err);
}
