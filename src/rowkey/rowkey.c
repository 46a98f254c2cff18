/*
 * rowkey/rowkey.c: parts to one key, and back.
 */
#include "rowkey/rowkey.h"

#include "base/limits.h"
#include "rowkey/lay.h"
#include "rowkey/ordered.h"

WcStatus
wc_rowkey_layout_check(const WcKeyLayout *layout, WcError *err)
{
	const WcSalt *salt = &layout->salt;
	uint32_t	salting = 0;

	if (layout->nparts == 0)
		return wc_error(err, WC_INVALID, "a row key needs at least one part");
	if (salt->buckets > WC_SALT_BUCKETS_MAX)
		return wc_error(err, WC_INVALID, "a row key is salted over %u buckets, the limit is %d",
						salt->buckets, WC_SALT_BUCKETS_MAX);
	for (uint32_t i = 0; salt->buckets > 0 && i < layout->nparts; i++)
		salting += salt->parts[i];
	if (salt->buckets > 0 && (salting == 0 || (salt->kind == WC_SALT_MINUTE && salting > 1)))
		return wc_error(err, WC_INVALID, "a salt cannot follow from %u parts of the row key", salting);
	for (uint32_t i = 0; i < layout->nparts; i++)
	{
		const WcPartShape *part = &layout->parts[i];
		bool		last = i + 1 == layout->nparts;

		switch (part->kind)
		{
			case WC_PART_FIXED:
				if (part->length == 0 || part->length > WC_ROW_MAX)
					return wc_error(err, WC_INVALID, "length of row key part %u must be between 1 and %d",
									i + 1, WC_ROW_MAX);
				break;
			case WC_PART_ESCAPED:
				break;
			case WC_PART_DELIMITED:
				if (last || part->desc || layout->delimiter.len == 0)
					return wc_error(err, WC_INVALID, "row key part %u cannot end at a delimiter", i + 1);
				break;
			case WC_PART_REST:
				if (!last || part->desc)
					return wc_error(err, WC_INVALID, "row key part %u cannot be the rest of the key", i + 1);
				break;
			default:
				return wc_error(err, WC_INVALID, "row key part %u has unknown kind %u", i + 1, part->kind);
		}
	}
	return WC_OK;
}

/* --- laying ------------------------------------------------------------------- */

/* Would a reader that looks for the delimiter find it right behind content?
 * (With a delimiter of several bytes it could begin inside.) */
static bool
ends_at_delimiter(WcSlice content, WcSlice delimiter)
{
	const uint8_t *p = content.data;
	size_t		left = content.len;

	if (wc_lay_find(content, delimiter) < content.len)
		return false;
	if (delimiter.len == 1)
		return true;

	/* the start of a delimiter at the end of content, completed by a part of the delimiter itself */
	if (left >= delimiter.len)
	{
		p += left - (delimiter.len - 1);
		left = delimiter.len - 1;
	}
	for (; left > 0; p++, left--)
	{
		if (memcmp(p, delimiter.data, left) == 0 &&
			memcmp(delimiter.data + left, delimiter.data, delimiter.len - left) == 0)
			return false;
	}
	return true;
}

bool
wc_lay_fits(const WcPartShape *part, WcSlice delimiter, WcSlice content)
{
	switch (part->kind)
	{
		case WC_PART_FIXED:
			if (!part->padded)
				return content.len == part->length;
			return content.len <= part->length &&
				(content.len == 0 || content.data[content.len - 1] != 0);
		case WC_PART_DELIMITED:
			return ends_at_delimiter(content, delimiter);
		default:
			return true;
	}
}

void
wc_lay_content(const WcPartShape *part, WcSlice content, WcBuf *out)
{
	size_t		n = part->length;
	uint8_t    *p;

	switch (part->kind)
	{
		case WC_PART_FIXED:
			p = wc_buf_reserve(out, n);
			if (p == NULL)
				return;
			if (content.len > 0)
				memcpy(p, content.data, content.len);
			memset(p + content.len, 0, n - content.len);
			if (part->desc)
				wc_ordered_invert(p, n);
			out->len += n;
			break;
		case WC_PART_ESCAPED:
			wc_ordered_append_escaped(out, content, part->desc, true);
			break;
		default:
			wc_buf_append_slice(out, content);
			break;
	}
}

/* Says why content does not fit. */
static WcStatus
misfit(const WcPartShape *part, WcSlice content, WcError *err)
{
	if (part->kind == WC_PART_DELIMITED)
		return wc_error(err, WC_INVALID, "value contains the delimiter of the row key");
	if (!part->padded)
		return wc_error(err, WC_INVALID, "value has %zu %s, but its part of the row key has %u",
						content.len, wc_bytes_word(content.len), part->length);
	if (content.len > part->length)
		return wc_error(err, WC_TOO_LARGE, "value has %zu %s, but its part of the row key has %u",
						content.len, wc_bytes_word(content.len), part->length);
	return wc_error(err, WC_INVALID, "value ends in a zero byte, which padding could not be told from");
}

/* The parts, one behind the other.  *part: the one that does not fit. */
static WcStatus
lay_parts(const WcKeyLayout *layout, const WcSlice *parts, WcBuf *out, uint32_t *part, WcError *err)
{
	for (*part = 0; *part < layout->nparts; ++*part)
	{
		const WcPartShape *shape = &layout->parts[*part];

		if (!wc_lay_fits(shape, layout->delimiter, parts[*part]))
			return misfit(shape, parts[*part], err);
		wc_lay_content(shape, parts[*part], out);
		if (*part + 1 < layout->nparts && layout->delimiter.len > 0)
			wc_buf_append_slice(out, layout->delimiter);
	}
	return WC_OK;
}

static WcStatus
lay_salt(const WcKeyLayout *layout, const WcSlice *parts, WcBuf *out, WcError *err)
{
	uint32_t	bucket;

	if (!wc_salt_bucket(&layout->salt, parts, layout->nparts, &bucket))
		return wc_error(err, WC_INVALID, "an infinite timestamp has no minute to take the salt from");
	wc_buf_append_u8(out, (uint8_t) bucket);
	return WC_OK;
}

WcStatus
wc_rowkey_compose(const WcKeyLayout *layout, const WcSlice *parts, WcBuf *out,
				  uint32_t *bad_part, WcError *err)
{
	size_t		before = out->len;
	size_t		salt = layout->salt.buckets > 0 ? 1 : 0;
	uint32_t	part = layout->nparts;
	size_t		len;
	WcStatus	status = WC_OK;

	if (salt > 0)
		status = lay_salt(layout, parts, out, err);
	if (status == WC_OK)
		status = lay_parts(layout, parts, out, &part, err);
	len = out->failed ? 0 : out->len - before;
	if (status == WC_OK && out->failed)
		status = wc_buf_status(out, "row key", err);
	else if (status == WC_OK && len == salt)
		status = wc_error(err, WC_INVALID, "row key must not be empty");
	else if (status == WC_OK && len > WC_ROW_MAX)
		status = wc_error(err, WC_TOO_LARGE, "row key has %zu bytes, but at most %d are allowed",
						  len, WC_ROW_MAX);
	if (status != WC_OK)
	{
		if (!out->failed)
			out->len = before;
		if (bad_part != NULL)
			*bad_part = part;
	}
	return status;
}

/* --- splitting ---------------------------------------------------------------- */

/* Content of a FIXED part, taken from the start of rest. */
static WcStatus
take_fixed(const WcPartShape *shape, uint32_t part, WcSlice *rest, WcBuf *scratch, WcSlice *content, WcError *err)
{
	size_t		n = shape->length;

	if (rest->len < n)
		return wc_error(err, WC_BAD_DATA, "row key has %zu %s left for part %u, which needs %zu",
						rest->len, wc_bytes_word(rest->len), part + 1, n);
	*content = wc_slice(rest->data, n);
	if (shape->desc)
	{
		uint8_t    *copy = wc_buf_reserve(scratch, n);

		if (copy == NULL)
			return wc_buf_status(scratch, "row key", err);
		memcpy(copy, rest->data, n);
		wc_ordered_invert(copy, n);
		scratch->len += n;
		content->data = copy;
	}
	rest->data += n;
	rest->len -= n;
	if (shape->padded)
	{
		while (content->len > 0 && content->data[content->len - 1] == 0)
			content->len--;
	}
	return WC_OK;
}

/* Content of an ESCAPED part; without escapes it need not be copied. */
static WcStatus
take_escaped(const WcPartShape *shape, uint32_t part, WcSlice *rest, WcBuf *scratch, WcSlice *content, WcError *err)
{
	const uint8_t *zero;
	size_t		before = scratch->len;
	size_t		used;

	if (!shape->desc && rest->len > 0 &&
		(zero = memchr(rest->data, 0, rest->len)) != NULL &&
		(size_t) (zero - rest->data) + 1 < rest->len && zero[1] == 0)
	{
		*content = wc_slice(rest->data, (size_t) (zero - rest->data));
		used = content->len + 2;
	}
	else
	{
		if (!wc_ordered_read_escaped(*rest, shape->desc, scratch, &used))
		{
			if (scratch->failed)
				return wc_buf_status(scratch, "row key", err);
			return wc_error(err, WC_BAD_DATA, "part %u of the row key has no valid end in the %zu %s left",
							part + 1, rest->len, wc_bytes_word(rest->len));
		}
		*content = wc_slice(scratch->data + before, scratch->len - before);
	}
	rest->data += used;
	rest->len -= used;
	return WC_OK;
}

static WcStatus
take_delimited(uint32_t part, WcSlice delimiter, WcSlice *rest, WcSlice *content, WcError *err)
{
	size_t		at = wc_lay_find(*rest, delimiter);

	if (at == rest->len)
		return wc_error(err, WC_BAD_DATA, "part %u of the row key is not followed by the delimiter in the %zu %s left",
						part + 1, rest->len, wc_bytes_word(rest->len));
	*content = wc_slice(rest->data, at);
	rest->data += at;
	rest->len -= at;
	return WC_OK;
}

/* Takes the salt off; a key has something behind it. */
static WcStatus
take_salt(WcSlice *rest, WcError *err)
{
	if (rest->len < 2)
		return wc_error(err, WC_BAD_DATA, "row key has %zu %s, too few for a salt and its parts",
						rest->len, wc_bytes_word(rest->len));
	rest->data++;
	rest->len--;
	return WC_OK;
}

/* Is the row in the bucket that its parts belong in? */
static WcStatus
check_salt(const WcKeyLayout *layout, WcSlice row, const WcSlice *parts, WcError *err)
{
	uint32_t	bucket;

	if (!wc_salt_bucket(&layout->salt, parts, layout->nparts, &bucket))
		return wc_error(err, WC_BAD_DATA, "row key has an infinite timestamp, which gives no salt");
	if (row.data[0] != bucket)
		return wc_error(err, WC_BAD_DATA, "row key is in bucket %u, but its parts belong in bucket %u of %u",
						row.data[0], bucket, layout->salt.buckets);
	return WC_OK;
}

/* Takes the first n parts, with the delimiters behind them; *left: the bytes of the row behind these. */
static WcStatus
take_parts(const WcKeyLayout *layout, WcSlice row, uint32_t n, WcBuf *scratch, WcSlice *parts, WcSlice *left, WcError *err)
{
	WcSlice		rest = row;
	WcStatus	status = layout->salt.buckets > 0 ? take_salt(&rest, err) : WC_OK;

	/* reserve once, since parts point into scratch: the copied bytes are never more than those of row */
	if (status != WC_OK)
		return status;
	wc_buf_reset(scratch, WC_ROW_MAX);
	if (row.len > 0 && wc_buf_reserve(scratch, row.len) == NULL)
		return wc_buf_status(scratch, "row key", err);

	for (uint32_t i = 0; i < n; i++)
	{
		const WcPartShape *shape = &layout->parts[i];

		switch (shape->kind)
		{
			case WC_PART_FIXED:
				status = take_fixed(shape, i, &rest, scratch, &parts[i], err);
				break;
			case WC_PART_ESCAPED:
				status = take_escaped(shape, i, &rest, scratch, &parts[i], err);
				break;
			case WC_PART_DELIMITED:
				status = take_delimited(i, layout->delimiter, &rest, &parts[i], err);
				break;
			default:
				parts[i] = rest;
				rest.len = 0;
				break;
		}
		if (status != WC_OK)
			return status;
		if (i + 1 < layout->nparts && layout->delimiter.len > 0)
		{
			if (!wc_slice_starts_with(rest, layout->delimiter))
				return wc_error(err, WC_BAD_DATA, "part %u of the row key is not followed by the delimiter", i + 1);
			rest.data += layout->delimiter.len;
			rest.len -= layout->delimiter.len;
		}
	}
	*left = rest;
	return WC_OK;
}

WcStatus
wc_rowkey_split_leading(const WcKeyLayout *layout, WcSlice row, uint32_t n, WcBuf *scratch, WcSlice *parts,
						WcError *err)
{
	WcSlice		rest;
	WcStatus	status = take_parts(layout, row, n, scratch, parts, &rest, err);

	if (status != WC_OK)
		return status;
	if (n == layout->nparts && rest.len > 0)
		return wc_error(err, WC_BAD_DATA, "row key has %zu %s behind its %u parts",
						rest.len, wc_bytes_word(rest.len), layout->nparts);
	/* the salt may follow from any of the parts */
	return layout->salt.buckets > 0 && n == layout->nparts ? check_salt(layout, row, parts, err) : WC_OK;
}

WcStatus
wc_rowkey_prefix(const WcKeyLayout *layout, WcSlice row, uint32_t n, WcBuf *scratch, WcSlice *parts, WcSlice *prefix,
				 WcError *err)
{
	WcSlice		rest;
	WcStatus	status = take_parts(layout, row, n, scratch, parts, &rest, err);

	if (status == WC_OK)
		*prefix = wc_slice(row.data, row.len - rest.len);
	return status;
}

WcStatus
wc_rowkey_split(const WcKeyLayout *layout, WcSlice row, WcBuf *scratch, WcSlice *parts, WcError *err)
{
	return wc_rowkey_split_leading(layout, row, layout->nparts, scratch, parts, err);
}
