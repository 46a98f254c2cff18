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
wc_hbasefilter_column(WcBuf *out, WcSlice qualifier)
{
	WcBuf		content = WC_BUF_INIT;

	put_bytes(&content, BYTES(1), qualifier);
	put_bool(&content, VARINT(2), true);
	put_bytes(&content, BYTES(3), qualifier);
	put_bool(&content, VARINT(4), true);
	put_filter(out, PACKAGE "ColumnRangeFilter", &content);
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
