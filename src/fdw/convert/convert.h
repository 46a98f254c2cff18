/*
 * fdw/convert/convert.h: PostgreSQL's values as bytes, and back.
 *
 * A WcCodec is set up once for a column (it looks up functions and types, and
 * may ereport) and then called for each cell.  It belongs to one scan or one
 * statement; everything it keeps is in the memory context current at
 * wc_codec_init.  Text forms do not depend on the session's settings and are
 * UTF-8.  Domains are treated as their base type (their constraints are the
 * executor's business).  NULLs never come here: NULL is the absence of a cell.
 */
#ifndef WC_FDW_CONVERT_CONVERT_H
#define WC_FDW_CONVERT_CONVERT_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "nodes/pg_list.h"

#include "base/buf.h"
#include "rowkey/rowkey.h"

typedef enum WcEncoding
{
	WC_ENCODING_DEFAULT,		/* by type: default_encoding in convert.c */
	WC_ENCODING_ORDERED,
	WC_ENCODING_BINARY,
	WC_ENCODING_TEXT,
	WC_ENCODING_MD5,
	WC_ENCODING_SHA1,
	WC_ENCODING_MURMUR3,
	WC_ENCODING_REVERSED,
	WC_ENCODING_REVERSED_DOMAIN
} WcEncoding;

/* The option's value to the enum (exact, lower case; false: no such encoding;
 * "default" is none) and back. */
extern bool wc_encoding_parse(const char *name, WcEncoding *encoding);
extern const char *wc_encoding_name(WcEncoding encoding);

/* The valid names, "binary, md5, ...", for hints: those of keys, or of values. */
extern const char *wc_encoding_list(bool as_key);

/* md5, sha1, murmur3: only encoding, the original is in a cell. */
extern bool wc_encoding_is_hash(WcEncoding encoding);

/* Bytes a hash has when no length cuts it; 0 for other encodings. */
extern int	wc_encoding_hash_size(WcEncoding encoding);

/* A label of an enum that is stored under another name: its name before it was renamed. */
typedef struct WcLabel
{
	char	   *label;
	char	   *stored;
} WcLabel;

typedef struct WcCodecSpec
{
	const char *table;			/* foreign table, for messages; NULL: none; must live as long as the codec */
	const char *column;			/* likewise */
	Oid			type;
	int32		typmod;
	Oid			collation;		/* the column's */
	WcEncoding	encoding;		/* DEFAULT is resolved */
	const List *labels;			/* WcLabel *, of the enums in the type; must live as long as the codec */
	bool		as_key;			/* a part of the row key, else a cell's value */

	/* The rest is for keys only. */
	bool		desc;			/* sort 'desc' */
	bool		is_last;		/* the last part of the key */
	bool		delimited;		/* the table has a delimiter */
	int			length;			/* option length; 0: none */
} WcCodecSpec;

typedef struct WcCodec WcCodec;

/* Where a cell was found, for messages. */
typedef struct WcCodecWhere
{
	const char *table;			/* foreign table */
	WcSlice		row;			/* row key */
	bool		hidden;			/* the user may not be allowed to see the row: messages show none of its bytes */
	bool		lenient;		/* what does not decode is NULL, and a WARNING, unless it is hidden */
} WcCodecWhere;

/* The level of the message about a value that does not decode: ERROR or WARNING. */
static inline int
wc_undecodable_level(const WcCodecWhere *where)
{
	return where != NULL && where->lenient && !where->hidden ? WARNING : ERROR;
}

/* A type's input function (convert_input.c). */
typedef struct WcInput
{
	FmgrInfo	fn;
	Oid			ioparam;
	int32		typmod;
	Oid			domain;			/* an array's elements' type if it is a domain, of whose base type they are read; else InvalidOid */
} WcInput;

struct WcCodec
{
	WcCodecSpec spec;			/* encoding resolved, type and typmod those of the base type */

	/* For keys: how the part's content is laid into the key. */
	WcPartShape shape;

	/*
	 * What bytes can decide.  equality_safe: values that are = in SQL (under the
	 * spec's collation) have the same content, so "=" may be pushed down as
	 * equality of contents.  equality_exact: and values that are not have not, so
	 * it needs no recheck (false for hashes, say).
	 * order: content's byte order against SQL's <, of text under the collation "C", whatever the
	 * column's is (shape.order is the same).
	 * prefix_exact: LIKE 'x%', ^@ and starts_with are prefixes of content.
	 */
	bool		equality_safe;
	bool		equality_exact;
	bool		prefix_exact;
	WcPartOrder order;

	bool		is_hash;		/* cannot be decoded */

	/* The rest belongs to the convert files. */
	void		(*encode) (WcCodec *codec, Datum value, WcBuf *out);
	bool		(*decode) (WcCodec *codec, WcSlice bytes, Datum *value);
	int			width;			/* bytes of content, 0: it varies */
	int			guards;			/* settings the text form depends on */
	FmgrInfo	out_fn;			/* looked up when a text form is made by it */
	WcInput		in;
	struct WcNested *nested;	/* makes and reads the text form instead of these; NULL: they do */
	const char *expected;		/* what decode expects, for messages */
	char	   *problem;		/* why it could not decode the last bytes; NULL: it has given no reason */
};

extern void wc_codec_init(WcCodec *codec, const WcCodecSpec *spec);

/* Is content a text's or a bytea's own bytes, nothing else? */
extern bool wc_codec_verbatim(const WcCodec *codec);

/* Is a cell's content of at most len bytes, with the header of a varlena before it, the column's value? */
typedef enum WcBytesAreValue
{
	WC_BYTES_NO,
	WC_BYTES_YES,
	WC_BYTES_IF_TEXT			/* if wc_codec_is_text(content) */
} WcBytesAreValue;

extern WcBytesAreValue wc_codec_bytes_are_value(const WcCodec *codec, size_t len);

/* Is stored text in the database's encoding?  One without an encoding (SQL_ASCII) has bytes that cannot be converted. */
static inline bool
wc_bytes_are_same(void)
{
	int			encoding = GetDatabaseEncoding();

	return encoding == PG_UTF8 || encoding == PG_SQL_ASCII;
}

/* Are the bytes text that the database may have? */
extern bool wc_codec_is_text(WcSlice bytes);

/*
 * Do bytes that old has written mean the same to new?  Of two types only where both store
 * bytes verbatim, or the same text form and the new one is any text, or PostgreSQL itself
 * takes one's value for the other's; of one type, unless its modifier gets narrower.
 * Bytes that are no text may be an error to new (22P03).  Shapes are not compared.
 */
extern bool wc_codec_same_bytes(const WcCodec *old, const WcCodec *new);

/*
 * Appends value's content (keys) or bytes (values) to out.  Raises an error that
 * names table and column when the value cannot be stored (infinity where there is
 * none, more than out's limit, out of memory).  Whether content fits its
 * part is found by wc_rowkey_compose; see wc_codec_compose_error.
 */
static inline void wc_codec_encode(WcCodec *codec, Datum value, WcBuf *out);

/*
 * The same for the value of a condition "column op value": raises no error for a value that cannot be
 * stored (but 22P05 for a text that UTF-8 does not have), and returns how value relates to values that can. value_type may differ from the column's where
 * PostgreSQL compares them directly: integers of any width, float4 and float8, date and timestamp, text and
 * varchar, to which a name may be compared, too (and domains over these); a timestamptz column may be compared
 * with a date or timestamp, in the session's time zone.  Otherwise value_type has to be the column's base type, else
 * the answer is WC_FIT_UNKNOWN.  Without content (see WcFit) nothing is appended.  For WC_KEY_PREFIX conditions
 * give the prefix as text.
 */
extern WcFit wc_codec_encode_bound(WcCodec *codec, Oid value_type, Datum value, WcBuf *out);

/*
 * The value of these bytes, palloc'd in the current memory context. 22P03 when they are not a value of this
 * column: the message names column, table, row and the bytes found. where may be NULL.
 */
extern Datum wc_codec_decode(WcCodec *codec, WcSlice bytes, const WcCodecWhere *where);

/* The same, but that where->lenient makes the error a WARNING: then it is false. */
extern bool wc_codec_try_decode(WcCodec *codec, WcSlice bytes, const WcCodecWhere *where, Datum *value);

/* A timestamp's milliseconds since 1970, rounded down, as encoding `binary` has them. */
extern int64 wc_codec_msecs(Timestamp ts);

/* Raises the error that wc_rowkey_compose reported; column names the bad part (NULL: the whole key). */
extern void wc_codec_compose_error(const char *table, const char *column, const WcError *err) pg_attribute_noreturn();

/* Raises the error that wc_rowkey_split reported: 22P03, as wc_codec_decode does. */
extern void wc_codec_split_error(const WcCodecWhere *where, const WcError *err) pg_attribute_noreturn();

/* A value of type int2, int4 or int8 as a number. */
extern int64 wc_integer_of(Oid type, Datum value);

/* Text in the database's encoding as UTF-8 bytes (s itself when nothing has to be done), and back (always
 * palloc'd); for qualifiers, delimiters, map keys. from_utf8 raises 22021 for bytes that are not UTF-8 or have
 * a zero byte. */
extern WcSlice wc_text_to_utf8(const char *s, size_t len);
extern char *wc_text_from_utf8(WcSlice s);

/* Raises why out failed. */
extern void wc_codec_check_out(WcCodec *codec, const WcBuf *out) pg_attribute_noreturn();

static inline void
wc_codec_encode(WcCodec *codec, Datum value, WcBuf *out)
{
	codec->encode(codec, value, out);
	if (unlikely(out->failed))
		wc_codec_check_out(codec, out);
}

#endif
