/*
 * model/descriptor.c: the descriptor of a stored table: its rules and its encoding.
 */
#include "model/descriptor.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/coding.h"

#define DESC_VERSION		3
#define DESC_VERSION_PLAIN	2	/* the same without ttl and flags at the end */
#define DESC_VERSION_UNOWNED	1	/* and without an owner */
#define FLAG_BLOCKCACHE		0x01
#define FLAG_IN_MEMORY		0x02
#define FLAG_DISABLED		0x01	/* of a table */
#define FLAG_SNAPSHOT		0x02	/* likewise: origin and time follow */

/* Least bytes of an encoded family or split point: limits the memory that a corrupt count can ask for. */
#define FAMILY_BYTES_MIN	13
#define SPLIT_BYTES_MIN		2

const WcFamilyAttrs wc_family_attrs_default = {
	.versions = 1,
	.min_versions = 0,
	.ttl_us = 0,
	.keep_deleted = WC_KEEP_DELETED_FALSE,
	.bloomfilter = WC_BLOOM_ROW,
	.compression = WC_COMPRESSION_LZ4,
	.packing = WC_PACKING_AUTO,
	.blocksize = 16384,
	.blockcache = true,
	.in_memory = false,
};

/* --- names ------------------------------------------------------------------ */

#define NAME_TEXT_MAX (WC_NAME_MAX + 1)

/* A name for a message: control characters are shown as question marks, and the
 * C string ends where the limit of names does. */
static const char *
name_text(WcSlice name, char *text)
{
	size_t		n = name.len < WC_NAME_MAX ? name.len : WC_NAME_MAX;

	/* Not in the middle of a character. */
	while (n < name.len && n > 0 && (name.data[n] & 0xC0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++)
		text[i] = (char) (name.data[i] < ' ' || name.data[i] == 0x7F ? '?' : name.data[i]);
	text[n] = '\0';
	return text;
}

static WcStatus
name_length_check(const char *what, WcSlice name, WcError *err)
{
	if (name.len == 0)
		return wc_error(err, WC_INVALID, "%s name is empty", what);
	if (name.len > WC_NAME_MAX)
		return wc_error(err, WC_TOO_LARGE, "%s name is too long: %zu bytes, the limit is %d",
						what, name.len, WC_NAME_MAX);
	return WC_OK;
}

WcStatus
wc_family_name_check(WcSlice name, WcError *err)
{
	char		text[NAME_TEXT_MAX];
	WcStatus	status = name_length_check("family", name, err);
	bool		good;

	if (status != WC_OK)
		return status;
	good = name.data[0] != '.';
	for (size_t i = 0; i < name.len && good; i++)
	{
		uint8_t		c = name.data[i];

		good = c >= ' ' && c != 0x7F && c != ':' && c != '/' && c != '\\';
	}
	if (good)
		return WC_OK;
	wc_error(err, WC_INVALID, "invalid family name \"%s\"", name_text(name, text));
	wc_error_detail(err, "A family name does not start with \".\" and holds no control character, \":\", \"/\" or \"\\\".");
	return WC_INVALID;
}

static WcStatus
table_part_check(const char *what, WcSlice name, WcError *err)
{
	char		text[NAME_TEXT_MAX];
	WcStatus	status = name_length_check(what, name, err);
	bool		good;

	if (status != WC_OK)
		return status;
	good = name.data[0] != '.' && name.data[0] != '-';
	for (size_t i = 0; i < name.len && good; i++)
	{
		uint8_t		c = name.data[i];

		good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			c == '_' || c == '-' || c == '.' || c > 0x7F;
	}
	if (good)
		return WC_OK;
	wc_error(err, WC_INVALID, "invalid %s name \"%s\"", what, name_text(name, text));
	wc_error_detail(err, "A %s name holds letters, digits, \"_\", \"-\" and \".\", and does not start with \"-\" or \".\".", what);
	return WC_INVALID;
}

WcStatus
wc_namespace_name_check(WcSlice ns, WcError *err)
{
	return table_part_check("namespace", ns, err);
}

WcStatus
wc_table_name_check(WcSlice ns, WcSlice name, WcError *err)
{
	WcStatus	status = wc_namespace_name_check(ns, err);

	if (status != WC_OK)
		return status;
	return table_part_check("table", name, err);
}

WcStatus
wc_table_name_split(WcSlice full, WcSlice *ns, WcSlice *name, WcError *err)
{
	const uint8_t *colon = full.len > 0 ? memchr(full.data, ':', full.len) : NULL;

	if (colon)
	{
		*ns = wc_slice(full.data, (size_t) (colon - full.data));
		*name = wc_slice(colon + 1, full.len - ns->len - 1);
	}
	else
	{
		*ns = wc_slice_cstr(WC_NAMESPACE_DEFAULT);
		*name = full;
	}
	return wc_table_name_check(*ns, *name, err);
}

char *
wc_table_desc_fullname(const WcTableDesc *desc, char *buf, size_t size)
{
	if (wc_slice_eq(desc->ns, wc_slice_cstr(WC_NAMESPACE_DEFAULT)))
		snprintf(buf, size, "%.*s", (int) desc->name.len, (const char *) desc->name.data);
	else
		snprintf(buf, size, "%.*s:%.*s", (int) desc->ns.len, (const char *) desc->ns.data,
				 (int) desc->name.len, (const char *) desc->name.data);
	return buf;
}

/* --- rules ------------------------------------------------------------------ */

WcStatus
wc_family_attrs_check(WcSlice name, const WcFamilyAttrs *attrs, WcError *err)
{
	char		text[NAME_TEXT_MAX];

	name_text(name, text);
	if (attrs->versions < 1 || attrs->versions > WC_VERSIONS_MAX)
		return wc_error(err, WC_INVALID, "versions of family \"%s\" is %u, must be between 1 and %d",
						text, attrs->versions, WC_VERSIONS_MAX);
	if (attrs->min_versions > attrs->versions)
		return wc_error(err, WC_INVALID, "min_versions of family \"%s\" is %u, more than its versions %u",
						text, attrs->min_versions, attrs->versions);
	if (attrs->ttl_us < 0)
		return wc_error(err, WC_INVALID, "ttl of family \"%s\" is negative", text);
	if (attrs->keep_deleted > WC_KEEP_DELETED_TTL)
		return wc_error(err, WC_INVALID, "family \"%s\" has an unknown keep_deleted_cells %u",
						text, attrs->keep_deleted);
	if (attrs->bloomfilter > WC_BLOOM_ROWCOL)
		return wc_error(err, WC_INVALID, "family \"%s\" has an unknown bloomfilter %u",
						text, attrs->bloomfilter);
	if (attrs->compression > WC_COMPRESSION_ZSTD)
		return wc_error(err, WC_INVALID, "family \"%s\" has an unknown compression %u",
						text, attrs->compression);
	if (attrs->packing > WC_PACKING_CELL)
		return wc_error(err, WC_INVALID, "family \"%s\" has an unknown packing %u",
						text, attrs->packing);
	if (attrs->blocksize < WC_BLOCKSIZE_MIN || attrs->blocksize > WC_BLOCKSIZE_MAX)
		return wc_error(err, WC_INVALID, "blocksize of family \"%s\" is %u bytes, must be between %d and %d",
						text, attrs->blocksize, WC_BLOCKSIZE_MIN, WC_BLOCKSIZE_MAX);
	return WC_OK;
}

static WcStatus
families_check(const WcTableDesc *desc, WcError *err)
{
	char		text[NAME_TEXT_MAX];

	if (desc->nfamilies == 0)
		return wc_error(err, WC_INVALID, "a table needs at least one family");
	if (desc->nfamilies > WC_FAMILIES_MAX)
		return wc_error(err, WC_TOO_LARGE, "too many families: %u, the limit is %d",
						desc->nfamilies, WC_FAMILIES_MAX);
	for (uint32_t i = 0; i < desc->nfamilies; i++)
	{
		const WcFamilyDesc *f = &desc->families[i];
		WcStatus	status = wc_family_name_check(f->name, err);

		if (status == WC_OK)
			status = wc_family_attrs_check(f->name, &f->attrs, err);
		if (status != WC_OK)
			return status;
		name_text(f->name, text);
		if (f->attrs.packing == WC_PACKING_AUTO)
			return wc_error(err, WC_INVALID, "packing of family \"%s\" has not been chosen", text);
		if (f->history_from_us < 0)
			return wc_error(err, WC_INVALID, "history of family \"%s\" begins before 1970", text);
		if (f->id >= desc->next_family_id)
			return wc_error(err, WC_INVALID, "id %u of family \"%s\" is not below the table's next family id %u",
							f->id, text, desc->next_family_id);
		for (uint32_t j = 0; j < i; j++)
			if (desc->families[j].id == f->id)
				return wc_error(err, WC_INVALID, "id %u of family \"%s\" is another family's too", f->id, text);
		if (i > 0)
		{
			int			c = wc_slice_cmp(desc->families[i - 1].name, f->name);

			if (c == 0)
				return wc_error(err, WC_INVALID, "family \"%s\" is named twice", text);
			if (c > 0)
				return wc_error(err, WC_INVALID, "family \"%s\" is not in the order of names", text);
		}
	}
	return WC_OK;
}

static WcStatus
splits_check(const WcTableDesc *desc, WcError *err)
{
	if (desc->nsplits > WC_SPLITS_MAX)
		return wc_error(err, WC_TOO_LARGE, "too many split points: %u, the limit is %d",
						desc->nsplits, WC_SPLITS_MAX);
	for (uint32_t i = 0; i < desc->nsplits; i++)
	{
		WcSlice		split = desc->splits[i];

		if (split.len == 0)
			return wc_error(err, WC_INVALID, "split point %u is empty", i + 1);
		if (split.len > WC_ROW_MAX)
			return wc_error(err, WC_TOO_LARGE, "split point %u is too long: %zu bytes, the limit of a row key is %d",
							i + 1, split.len, WC_ROW_MAX);
		if (i > 0 && wc_slice_cmp(desc->splits[i - 1], split) >= 0)
			return wc_error(err, WC_INVALID, "split point %u is not behind the one before it", i + 1);
	}
	return WC_OK;
}

static int
compare_families(const void *a, const void *b)
{
	return wc_slice_cmp(((const WcFamilyDesc *) a)->name, ((const WcFamilyDesc *) b)->name);
}

void
wc_family_descs_sort(WcFamilyDesc *families, size_t n)
{
	if (n > 0)
		qsort(families, n, sizeof(WcFamilyDesc), compare_families);
}

WcStatus
wc_table_desc_check(const WcTableDesc *desc, WcError *err)
{
	WcStatus	status = wc_table_name_check(desc->ns, desc->name, err);

	if (status == WC_OK)
		status = families_check(desc, err);
	if (status == WC_OK)
		status = splits_check(desc, err);
	return status;
}

void
wc_table_desc_inherit(WcTableDesc *desc)
{
	for (uint32_t i = 0; i < desc->nfamilies; i++)
	{
		WcFamilyAttrs *a = &desc->families[i].attrs;

		if (a->ttl_inherited)
			a->ttl_us = 0;
		a->ttl_inherited = a->ttl_us == 0 && desc->ttl_us != 0;
		if (a->ttl_inherited)
			a->ttl_us = desc->ttl_us;
	}
}

/* --- looking up ------------------------------------------------------------- */

const WcFamilyDesc *
wc_table_desc_family(const WcTableDesc *desc, WcSlice name)
{
	for (uint32_t i = 0; i < desc->nfamilies; i++)
		if (wc_slice_eq(desc->families[i].name, name))
			return &desc->families[i];
	return NULL;
}

const WcFamilyDesc *
wc_table_desc_family_by_id(const WcTableDesc *desc, uint32_t id)
{
	for (uint32_t i = 0; i < desc->nfamilies; i++)
		if (desc->families[i].id == id)
			return &desc->families[i];
	return NULL;
}

/* --- bytes ------------------------------------------------------------------ */

static void
family_encode(WcBuf *out, const WcFamilyDesc *f)
{
	const WcFamilyAttrs *a = &f->attrs;

	wc_buf_append_varint(out, f->id);
	wc_buf_append_varint(out, f->generation);
	wc_buf_append_bytes(out, f->name);
	wc_buf_append_varint(out, (uint64_t) f->history_from_us);
	wc_buf_append_varint(out, a->versions);
	wc_buf_append_varint(out, a->min_versions);
	wc_buf_append_varint(out, a->ttl_inherited ? 0 : (uint64_t) a->ttl_us);
	wc_buf_append_u8(out, a->keep_deleted);
	wc_buf_append_u8(out, a->bloomfilter);
	wc_buf_append_u8(out, a->compression);
	wc_buf_append_u8(out, a->packing);
	wc_buf_append_varint(out, a->blocksize);
	wc_buf_append_u8(out, (uint8_t) ((a->blockcache ? FLAG_BLOCKCACHE : 0) |
									 (a->in_memory ? FLAG_IN_MEMORY : 0)));
}

void
wc_table_desc_encode(WcBuf *out, const WcTableDesc *desc)
{
	assert(desc->nfamilies > 0 && desc->nfamilies <= WC_FAMILIES_MAX && desc->nsplits <= WC_SPLITS_MAX);
	wc_buf_append_u8(out, DESC_VERSION);
	wc_buf_append_varint(out, desc->id);
	wc_buf_append_varint(out, desc->database);
	wc_buf_append_varint(out, desc->owner);
	wc_buf_append_bytes(out, desc->ns);
	wc_buf_append_bytes(out, desc->name);
	wc_buf_append_varint(out, desc->next_family_id);
	wc_buf_append_varint(out, desc->nfamilies);
	for (uint32_t i = 0; i < desc->nfamilies; i++)
		family_encode(out, &desc->families[i]);
	wc_buf_append_varint(out, desc->nsplits);
	for (uint32_t i = 0; i < desc->nsplits; i++)
		wc_buf_append_bytes(out, desc->splits[i]);
	wc_buf_append_varint(out, (uint64_t) desc->ttl_us);
	wc_buf_append_u8(out, (uint8_t) ((desc->disabled ? FLAG_DISABLED : 0) | (desc->origin.len > 0 ? FLAG_SNAPSHOT : 0)));
	if (desc->origin.len > 0)
	{
		wc_buf_append_bytes(out, desc->origin);
		wc_buf_append_varint(out, (uint64_t) desc->taken_us);
	}
}

static void
family_decode(WcDecoder *d, WcFamilyDesc *f)
{
	WcFamilyAttrs *a = &f->attrs;
	uint8_t		flags;

	f->id = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	f->generation = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	f->name = wc_decode_bytes(d);
	f->history_from_us = (int64_t) wc_decode_varint_max(d, INT64_MAX);
	a->versions = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	a->min_versions = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	a->ttl_us = (int64_t) wc_decode_varint_max(d, INT64_MAX);
	a->ttl_inherited = false;
	a->keep_deleted = wc_decode_u8(d);
	a->bloomfilter = wc_decode_u8(d);
	a->compression = wc_decode_u8(d);
	a->packing = wc_decode_u8(d);
	a->blocksize = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	flags = wc_decode_u8(d);
	if ((flags & ~(FLAG_BLOCKCACHE | FLAG_IN_MEMORY)) != 0)
		wc_decoder_fail(d);
	a->blockcache = (flags & FLAG_BLOCKCACHE) != 0;
	a->in_memory = (flags & FLAG_IN_MEMORY) != 0;
}

/* Bytes that decode but break a rule: says which, in ASCII whatever they hold. */
static WcStatus
broken_rule(WcError *err, const WcError *rule)
{
	char		text[WC_ERROR_TEXT_MAX];
	size_t		n = strlen(rule->message);

	for (size_t i = 0; i <= n; i++)
		text[i] = (char) ((unsigned char) rule->message[i] > 0x7F ? '?' : rule->message[i]);
	wc_error(err, WC_CORRUPT, "table descriptor makes no sense: %s", text);
	return WC_CORRUPT;
}

/* The fields after the split points, from format 3 on. */
static void
tail_decode(WcDecoder *d, WcTableDesc *desc)
{
	uint8_t		flags;

	desc->ttl_us = (int64_t) wc_decode_varint_max(d, INT64_MAX);
	flags = wc_decode_u8(d);
	if ((flags & ~(FLAG_DISABLED | FLAG_SNAPSHOT)) != 0)
		wc_decoder_fail(d);
	desc->disabled = (flags & FLAG_DISABLED) != 0;
	if ((flags & FLAG_SNAPSHOT) == 0)
		return;
	desc->origin = wc_decode_bytes(d);
	desc->taken_us = (int64_t) wc_decode_varint_max(d, INT64_MAX);
	if (desc->origin.len == 0 || desc->origin.len > 2 * WC_NAME_MAX + 1)
		wc_decoder_fail(d);
}

static bool
is_known(uint8_t version)
{
	return version == DESC_VERSION || version == DESC_VERSION_PLAIN || version == DESC_VERSION_UNOWNED;
}

WcStatus
wc_table_desc_decode(WcSlice bytes, WcArena *arena, WcTableDesc *desc, WcError *err)
{
	WcSlice		copy = wc_arena_copy(arena, bytes);
	WcDecoder	d = wc_decoder(copy);
	uint8_t		version;
	WcError		rule;

	memset(desc, 0, sizeof(*desc));
	if (copy.len != bytes.len)
		goto no_memory;
	version = wc_decode_u8(&d);
	if (!is_known(version))
		return wc_error(err, WC_CORRUPT, "table descriptor has an unknown format");
	desc->id = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	desc->database = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	if (version != DESC_VERSION_UNOWNED)
		desc->owner = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	desc->ns = wc_decode_bytes(&d);
	desc->name = wc_decode_bytes(&d);
	desc->next_family_id = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);

	desc->nfamilies = (uint32_t) wc_decode_count(&d, WC_FAMILIES_MAX, FAMILY_BYTES_MIN);
	desc->families = wc_arena_alloc(arena, desc->nfamilies * sizeof(WcFamilyDesc));
	if (!desc->families)
		goto no_memory;
	for (uint32_t i = 0; i < desc->nfamilies; i++)
		family_decode(&d, &desc->families[i]);

	desc->nsplits = (uint32_t) wc_decode_count(&d, WC_SPLITS_MAX, SPLIT_BYTES_MIN);
	desc->splits = wc_arena_alloc(arena, desc->nsplits * sizeof(WcSlice));
	if (!desc->splits)
		goto no_memory;
	for (uint32_t i = 0; i < desc->nsplits; i++)
		desc->splits[i] = wc_decode_bytes(&d);

	if (version == DESC_VERSION)
		tail_decode(&d, desc);
	if (!wc_decoder_done(&d))
		return wc_error(err, WC_CORRUPT, "table descriptor of %zu bytes cannot be decoded", bytes.len);
	if (wc_table_desc_check(desc, &rule) != WC_OK)
		return broken_rule(err, &rule);
	wc_table_desc_inherit(desc);
	return WC_OK;

no_memory:
	return wc_error(err, WC_NO_MEMORY, "out of memory: table descriptor of %zu bytes", bytes.len);
}

bool
wc_table_desc_peek_id(WcSlice bytes, uint32_t *id)
{
	WcDecoder	d = wc_decoder(bytes);
	uint8_t		version = wc_decode_u8(&d);

	*id = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	return !d.failed && is_known(version);
}
