/*
 * fdw/convert/convert_internal.h: declarations that the convert files share.
 *
 * Not for use outside this folder.
 */
#ifndef WC_FDW_CONVERT_CONVERT_INTERNAL_H
#define WC_FDW_CONVERT_CONVERT_INTERNAL_H

#include "postgres.h"

#include "compat.h"
#include "fdw/convert/convert.h"

/*
 * The families of types.  Each fills encode, decode, width, expected and what
 * bytes can decide; the spec is resolved and known to be supported.
 */
extern bool wc_fixed_is(Oid type);	/* bool, ints, floats, date, timestamps, uuid */
extern void wc_fixed_init(WcCodec *codec);
extern void wc_numeric_init(WcCodec *codec);	/* ordered and binary */
extern void wc_bytea_init(WcCodec *codec);	/* ordered and binary */
extern void wc_textual_init(WcCodec *codec);	/* everything made of the text form */

/* text, varchar, bpchar */
extern bool wc_textual_is(Oid type);

/* wc_codec_encode_bound for value types other than the column's own. */
extern WcFit wc_fixed_bound(WcCodec *codec, Oid value_type, Datum value, WcBuf *out);

/* The words: column "c" of foreign table "t"; without the table if the codec has none.  palloc'd. */
extern const char *wc_codec_name(const WcCodecSpec *spec);

/* Raises that the column cannot hold `what`. */
extern void wc_codec_refuse(const WcCodec *codec, int sqlerrcode, const char *what) pg_attribute_noreturn();

/* Is it text of the database, but for a conversion that may still be needed? */
static inline bool
wc_is_utf8(WcSlice s)
{
	if (s.len == 0)
		return true;
	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		return memchr(s.data, 0, s.len) == NULL;
	return (size_t) pg_encoding_verifymbstr(PG_UTF8, (const char *) s.data, (int) s.len) == s.len;
}

/*
 * Calls the type's input function with a zero-terminated string in the
 * database's encoding.  False when the string is no value of the type;
 * codec->problem then says why.
 */
extern bool wc_codec_parse(WcCodec *codec, char *string, Datum *value);

/* --- input functions (convert_input.c) --- */

/*
 * The input function of a type that is no domain; fn_mcxt is CurrentMemoryContext.  No function runs that users have
 * written: a stored value counts as checked when it was written, so a domain's constraints are not evaluated, also of
 * an array's elements.  Therefore an error can be caught without a subtransaction (wc_codec_parse).
 */
extern void wc_input_init(WcInput *in, Oid type, int32 typmod);
extern Datum wc_input_call(WcInput *in, char *string);

/* --- enums that were renamed, composite types, arrays and ranges of these (convert_node.c) --- */

typedef struct WcNested WcNested;

/* Is the type an enum whose labels the column names, a composite type, a range over a domain, or an array of arrays over a
 * domain; or an array, a range or a multirange of one? */
extern bool wc_nested_is(Oid type, const List *labels);

/* In CurrentMemoryContext, which, and labels, must live as long. */
extern WcNested *wc_nested_create(Oid type, int32 typmod, const List *labels, bool as_key);

/* Settings that its text form depends on now: a composite type may have changed. */
extern int	wc_nested_guards(WcNested *node);

/* The text form in the database's encoding, palloc'd, and back (convert_nested.c). */
extern char *wc_nested_out(WcNested *node, Datum value);
extern Datum wc_nested_in(WcNested *node, char *string);

/* --- text forms (convert_form.c) ------------------------------------------ */

/* Settings that text forms of this type depend on. */
extern int	wc_form_guards(Oid type);

/*
 * Sets them to the values that the stored form needs; returns a nest level for wc_form_unguard, 0 if all have
 * these values already.
 */
extern int	wc_form_guard(int guards);
extern void wc_form_unguard(int level);

/* Room for their output, the terminating zero included. */
#define WC_FORM_MAX 128

/* zone: a timestamp is followed by "+00" and in UTC. */
extern void wc_form_of_date(char *buf, Datum value);
extern void wc_form_of_timestamp(char *buf, Datum value, bool zone);

/* The usual ones, without the input function; false: let it have a try. */
extern bool wc_form_to_date(const char *s, size_t len, Datum *value);
extern bool wc_form_to_timestamp(const char *s, size_t len, bool zone, Datum *value);
extern bool wc_form_to_numeric(const char *s, size_t len, int32 typmod, Datum *value);

/* unscaled / 10 ^ scale, shown with so many digits after the point (at least `scale`).  False: the number has more than WC_SMALL_DIGITS
 * digits, or the scale is no small one, or the type modifier would change the number. */
#define WC_SMALL_DIGITS 18
extern bool wc_small_numeric(int64 unscaled, int scale, int shown, int32 typmod, Datum *value);

#endif
