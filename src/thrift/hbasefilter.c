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

/* java.util.regex.Pattern */
#define CASE_INSENSITIVE 2
#define DOTALL 32
#define UNICODE_CASE 64

/* Appends the text as a regular expression that matches this text: \Q...\E, with each \E of the text between two such. */
static void
put_quoted(WcBuf *out, WcSlice text)
{
	wc_buf_append(out, "\\Q", 2);
	for (size_t i = 0; i < text.len; i++)
	{
		wc_buf_append_u8(out, text.data[i]);
		if (text.data[i] == '\\' && i + 1 < text.len && text.data[i + 1] == 'E')
		{
			i++;
			wc_buf_append(out, "E\\\\E\\Q", 6);
		}
	}
	wc_buf_append(out, "\\E", 2);
}

/* message RegexStringComparator { string pattern = 1; int32 pattern_flags = 2; string charset = 3; } */
static void
put_regex(WcBuf *out, const WcHBaseComparison *comparison)
{
	WcBuf		pattern = WC_BUF_INIT;

	if (comparison->comparator == WC_HBASE_SUBSTRING_NOCASE)
		put_quoted(&pattern, comparison->value);
	else
		wc_buf_append_slice(&pattern, comparison->value);
	put_message(out, BYTES(1), &pattern);
	wc_buf_append_u8(out, VARINT(2));
	wc_buf_append_u8(out, comparison->comparator == WC_HBASE_REGEX ? DOTALL : DOTALL | CASE_INSENSITIVE | UNICODE_CASE);
	put_bytes(out, BYTES(3), wc_slice_cstr("UTF-8"));
}

/* message Comparator { string name = 1; bytes serialized_comparator = 2; } */
static void
put_comparator(WcBuf *out, uint8_t field, const WcHBaseComparison *comparison)
{
	bool		prefix = comparison->comparator == WC_HBASE_PREFIX;
	bool		regex = comparison->comparator >= WC_HBASE_REGEX;
	const char *class = regex ? PACKAGE "RegexStringComparator" :
		prefix ? PACKAGE "BinaryPrefixComparator" : PACKAGE "BinaryComparator";
	WcBuf		content = WC_BUF_INIT;
	WcBuf		comparator = WC_BUF_INIT;

	if (regex)
		put_regex(&content, comparison);
	else
	{
		WcBuf		bytes = WC_BUF_INIT;

		put_bytes(&bytes, BYTES(1), comparison->value);
		put_message(&content, BYTES(1), &bytes);
	}
	put_bytes(&comparator, BYTES(1), wc_slice_cstr(class));
	put_message(&comparator, BYTES(2), &content);
	put_message(out, field, &comparator);
}

/* RowFilter and the like: { CompareFilter compare_filter = 1; } */
void
wc_hbasefilter_compare(WcBuf *out, WcHBasePart part, const WcHBaseComparison *comparison)
{
	static const char *const classes[] = {
		[WC_HBASE_ROW] = PACKAGE "RowFilter",[WC_HBASE_FAMILY] = PACKAGE "FamilyFilter",
		[WC_HBASE_QUALIFIER] = PACKAGE "QualifierFilter",[WC_HBASE_VALUE] = PACKAGE "ValueFilter"
	};
	WcBuf		compare = WC_BUF_INIT;
	WcBuf		content = WC_BUF_INIT;

	wc_buf_append_u8(&compare, VARINT(1));
	wc_buf_append_u8(&compare, (uint8_t) comparison->op);
	put_comparator(&compare, BYTES(2), comparison);
	put_message(&content, BYTES(1), &compare);
	put_filter(out, classes[part], &content);
}

void
wc_hbasefilter_row_prefix(WcBuf *out, WcSlice prefix)
{
	WcBuf		content = WC_BUF_INIT;

	put_bytes(&content, BYTES(1), prefix);
	put_filter(out, PACKAGE "PrefixFilter", &content);
}

void
wc_hbasefilter_last_row(WcBuf *out, WcSlice row)
{
	WcBuf		content = WC_BUF_INIT;

	put_bytes(&content, BYTES(1), row);
	put_filter(out, PACKAGE "InclusiveStopFilter", &content);
}

void
wc_hbasefilter_column_prefixes(WcBuf *out, const WcSlice *prefixes, uint32_t n)
{
	WcBuf		content = WC_BUF_INIT;

	for (uint32_t i = 0; i < n; i++)
		put_bytes(&content, BYTES(1), prefixes[i]);
	put_filter(out, n == 1 ? PACKAGE "ColumnPrefixFilter" : PACKAGE "MultipleColumnPrefixFilter", &content);
}

void
wc_hbasefilter_column_range(WcBuf *out, WcSlice min, bool min_inclusive, WcSlice max, bool max_inclusive)
{
	WcBuf		content = WC_BUF_INIT;

	if (min.len > 0)
		put_bytes(&content, BYTES(1), min);
	put_bool(&content, VARINT(2), min_inclusive);
	if (max.len > 0)
		put_bytes(&content, BYTES(3), max);
	put_bool(&content, VARINT(4), max_inclusive);
	put_filter(out, PACKAGE "ColumnRangeFilter", &content);
}

void
wc_hbasefilter_column(WcBuf *out, WcSlice qualifier, bool seeks)
{
	/* an empty bound would be none */
	if (seeks && qualifier.len > 0)
		wc_hbasefilter_column_range(out, qualifier, true, qualifier, true);
	else
		wc_hbasefilter_compare(out, WC_HBASE_QUALIFIER, &(WcHBaseComparison) {.op = WC_HBASE_EQ,.value = qualifier});
}

/* message TimestampsFilter { repeated int64 timestamps = 1 [packed = true]; } */
void
wc_hbasefilter_timestamps(WcBuf *out, const int64_t *timestamps, uint32_t n)
{
	WcBuf		packed = WC_BUF_INIT;
	WcBuf		content = WC_BUF_INIT;

	for (uint32_t i = 0; i < n; i++)
		wc_buf_append_varint(&packed, (uint64_t) timestamps[i]);
	put_message(&content, BYTES(1), &packed);
	put_filter(out, PACKAGE "TimestampsFilter", &content);
}

/* { bytes family = 1; bytes qualifier = 2; CompareType compare_op = 3; Comparator comparator = 4; } */
static void
put_column_comparison(WcBuf *out, WcSlice family, WcSlice qualifier, const WcHBaseComparison *comparison)
{
	put_bytes(out, BYTES(1), family);
	put_bytes(out, BYTES(2), qualifier);
	wc_buf_append_u8(out, VARINT(3));
	wc_buf_append_u8(out, (uint8_t) comparison->op);
	put_comparator(out, BYTES(4), comparison);
}

void
wc_hbasefilter_column_value(WcBuf *out, WcSlice family, WcSlice qualifier, const WcHBaseComparison *comparison)
{
	WcBuf		content = WC_BUF_INIT;

	put_column_comparison(&content, family, qualifier, comparison);
	put_filter(out, PACKAGE "ColumnValueFilter", &content);
}

/* The same and: { bool filter_if_missing = 5; bool latest_version_only = 6; } */
void
wc_hbasefilter_value(WcBuf *out, WcSlice family, WcSlice qualifier, const WcHBaseComparison *comparison, bool required,
					 bool newest)
{
	WcBuf		content = WC_BUF_INIT;

	put_column_comparison(&content, family, qualifier, comparison);
	put_bool(&content, VARINT(5), required);
	put_bool(&content, VARINT(6), newest);
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
