/*
 * fdw/convert/convert_encoding.c: encodings by name, and errors about values that an encoding has no bytes for.
 */
#include "postgres.h"

#include "common/md5.h"
#include "common/sha1.h"
#include "utils/builtins.h"

#include "fdw/convert/convert_internal.h"
#include "rowkey/murmur3.h"

static const struct
{
	const char *name;
	WcEncoding	encoding;
	int			hash_size;
}			encodings[] = {
	{"binary", WC_ENCODING_BINARY, 0},
	{"md5", WC_ENCODING_MD5, MD5_DIGEST_LENGTH},
	{"murmur3", WC_ENCODING_MURMUR3, WC_MURMUR3_SIZE},
	{"ordered", WC_ENCODING_ORDERED, 0},
	{"reversed", WC_ENCODING_REVERSED, 0},
	{"reversed_domain", WC_ENCODING_REVERSED_DOMAIN, 0},
	{"sha1", WC_ENCODING_SHA1, SHA1_DIGEST_LENGTH},
	{"text", WC_ENCODING_TEXT, 0}
};

bool
wc_encoding_parse(const char *name, WcEncoding *encoding)
{
	for (int i = 0; i < lengthof(encodings); i++)
	{
		if (strcmp(encodings[i].name, name) == 0)
		{
			*encoding = encodings[i].encoding;
			return true;
		}
	}
	return false;
}

const char *
wc_encoding_name(WcEncoding encoding)
{
	for (int i = 0; i < lengthof(encodings); i++)
	{
		if (encodings[i].encoding == encoding)
			return encodings[i].name;
	}
	return "default";
}

const char *
wc_encoding_list(bool as_key)
{
	return as_key ? "binary, md5, murmur3, ordered, reversed, reversed_domain, sha1, text" :
		"binary, ordered, reversed, reversed_domain, text";
}

int
wc_encoding_hash_size(WcEncoding encoding)
{
	for (int i = 0; i < lengthof(encodings); i++)
	{
		if (encodings[i].encoding == encoding)
			return encodings[i].hash_size;
	}
	return 0;
}

bool
wc_encoding_is_hash(WcEncoding encoding)
{
	return wc_encoding_hash_size(encoding) > 0;
}

/* --- errors --------------------------------------------------------------------- */

const char *
wc_codec_name(const WcCodecSpec *spec)
{
	if (spec->table == NULL)
		return psprintf("column \"%s\"", spec->column);
	return psprintf("column \"%s\" of foreign table \"%s\"", spec->column, spec->table);
}

void
wc_codec_refuse(const WcCodec *codec, int sqlerrcode, const char *what)
{
	ereport(ERROR,
			(errcode(sqlerrcode),
			 errmsg("%s cannot hold %s", wc_codec_name(&codec->spec), what),
			 errdetail("Encoding \"%s\" of type %s has no bytes for it.",
					   wc_encoding_name(codec->spec.encoding), format_type_be(codec->spec.type))));
}

void
wc_codec_check_out(WcCodec *codec, const WcBuf *out)
{
	WcError		err;
	WcStatus	status = wc_buf_status(out, "value", &err);

	ereport(ERROR,
			(errcode(status == WC_TOO_LARGE ? ERRCODE_PROGRAM_LIMIT_EXCEEDED : ERRCODE_OUT_OF_MEMORY),
			 errmsg("cannot encode value of %s: %s", wc_codec_name(&codec->spec), err.message)));
}
