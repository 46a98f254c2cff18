/*
 * thrift/hbasefilter.c: HBase's filters as bytes.
 */
#include "thrift/hbasefilter.h"

#include "base/coding.h"

#define PACKAGE "org.apache.hadoop.hbase.filter."

/* Protocol Buffers: a field's number and how it is written. */
#define VARINT(number) ((number) << 3 | 0)
#define BYTES(number) ((number) << 3 | 2)

static void
put_bool(WcBuf *out, uint8_t field, bool value)
{
	wc_buf_append_u8(out, field);
	wc_buf_append_u8(out, value);
}

static void
put_bytes(WcBuf *out, uint8_t field, WcSlice value)
{
	wc_buf_append_u8(out, field);
	wc_buf_append_bytes(out, value);
}

/* message Filter { string name = 1; bytes serialized_filter = 2; }; frees the content. */
static void
put_filter(WcBuf *out, const char *class, WcBuf *content)
{
	if (content->failed)
		out->failed = true;
	put_bytes(out, BYTES(1), wc_slice_cstr(class));
	put_bytes(out, BYTES(2), wc_buf_slice(content));
	wc_buf_free(content);
}

void
wc_hbasefilter_ranges(WcBuf *out, const WcHBaseRange *ranges, uint32_t n)
{
	WcBuf		content = WC_BUF_INIT;
	WcBuf		range = WC_BUF_INIT;

	for (uint32_t i = 0; i < n; i++)
	{
		wc_buf_reset(&range, SIZE_MAX);
		put_bytes(&range, BYTES(1), ranges[i].start);
		put_bool(&range, VARINT(2), ranges[i].start_inclusive);
		put_bytes(&range, BYTES(3), ranges[i].stop);
		put_bool(&range, VARINT(4), ranges[i].stop_inclusive);
		if (range.failed)
			content.failed = true;
		put_bytes(&content, BYTES(1), wc_buf_slice(&range));
	}
	wc_buf_free(&range);
	put_filter(out, PACKAGE "MultiRowRangeFilter", &content);
}

void
wc_hbasefilter_first_key(WcBuf *out)
{
	WcBuf		content = WC_BUF_INIT;

	put_filter(out, PACKAGE "FirstKeyOnlyFilter", &content);
}

void
wc_hbasefilter_row_keys(WcBuf *out)
{
	WcBuf		first = WC_BUF_INIT;
	WcBuf		keys = WC_BUF_INIT;
	WcBuf		content = WC_BUF_INIT;
	WcSlice		filters[2];

	wc_hbasefilter_first_key(&first);
	put_bool(&content, VARINT(1), false);	/* the value's length is not sent in its place */
	put_filter(&keys, PACKAGE "KeyOnlyFilter", &content);
	out->failed |= first.failed || keys.failed;
	filters[0] = wc_buf_slice(&first);
	filters[1] = wc_buf_slice(&keys);
	wc_hbasefilter_list(out, false, filters, 2);
	wc_buf_free(&first);
	wc_buf_free(&keys);
}

/* Writes a message as a field of another message; frees it. */
static void
put_message(WcBuf *out, uint8_t field, WcBuf *message)
{
	out->failed |= message->failed;
	put_bytes(out, field, wc_buf_slice(message));
	wc_buf_free(message);
}

/* message Comparator { string name = 1; bytes serialized_comparator = 2; }, of bytes */
static void
put_comparator(WcBuf *out, uint8_t field, WcSlice value, bool prefix)
{
	WcBuf		bytes = WC_BUF_INIT;
	WcBuf		binary = WC_BUF_INIT;
	WcBuf		comparator = WC_BUF_INIT;

	put_bytes(&bytes, BYTES(1), value);
	put_message(&binary, BYTES(1), &bytes);
	put_bytes(&comparator, BYTES(1), wc_slice_cstr(prefix ? PACKAGE "BinaryPrefixComparator" : PACKAGE "BinaryComparator"));
	put_message(&comparator, BYTES(2), &binary);
	put_message(out, field, &comparator);
}

/* message QualifierFilter { CompareFilter compare_filter = 1; } */
static void
put_qualifier_filter(WcBuf *out, WcSlice qualifier)
{
	WcBuf		compare = WC_BUF_INIT;
	WcBuf		content = WC_BUF_INIT;

	wc_buf_append_u8(&compare, VARINT(1));
	wc_buf_append_u8(&compare, WC_HBASE_EQ);
	put_comparator(&compare, BYTES(2), qualifier, false);
	put_message(&content, BYTES(1), &compare);
	put_filter(out, PACKAGE "QualifierFilter", &content);
}

void
wc_hbasefilter_column(WcBuf *out, WcSlice qualifier, bool seeks)
{
	WcBuf		content = WC_BUF_INIT;

	if (!seeks)
	{
		put_qualifier_filter(out, qualifier);
		return;
	}
	put_bytes(&content, BYTES(1), qualifier);
	put_bool(&content, VARINT(2), true);
	put_bytes(&content, BYTES(3), qualifier);
	put_bool(&content, VARINT(4), true);
	put_filter(out, PACKAGE "ColumnRangeFilter", &content);
}

/*
 * message SingleColumnValueFilter { bytes column_family = 1; bytes column_qualifier = 2; CompareType
 * compare_op = 3; Comparator comparator = 4; bool filter_if_missing = 5; bool latest_version_only = 6; }
 */
void
wc_hbasefilter_value(WcBuf *out, WcSlice family, WcSlice qualifier, WcHBaseCompare op, WcSlice value, bool prefix,
					 bool required)
{
	WcBuf		content = WC_BUF_INIT;

	put_bytes(&content, BYTES(1), family);
	put_bytes(&content, BYTES(2), qualifier);
	wc_buf_append_u8(&content, VARINT(3));
	wc_buf_append_u8(&content, (uint8_t) op);
	put_comparator(&content, BYTES(4), value, prefix);
	put_bool(&content, VARINT(5), required);
	put_bool(&content, VARINT(6), true);
	put_filter(out, PACKAGE "SingleColumnValueFilter", &content);
}

void
wc_hbasefilter_list(WcBuf *out, bool one, const WcSlice *filters, uint32_t n)
{
	WcBuf		content = WC_BUF_INIT;

	wc_buf_append_u8(&content, VARINT(1));
	wc_buf_append_u8(&content, one ? 2 : 1);	/* MUST_PASS_ONE, MUST_PASS_ALL */
	for (uint32_t i = 0; i < n; i++)
		put_bytes(&content, BYTES(2), filters[i]);
	put_filter(out, PACKAGE "FilterList", &content);
}
