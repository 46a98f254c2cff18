/*
 * test/fuzz/fuzz_logrecord.c: records in PostgreSQL's log (model/logrecord.h).
 *
 * The first byte is the kind, which PostgreSQL keeps apart.
 */
#include "fuzz.h"
#include "model/logrecord.h"

static bool
recode(WcSlice in, WcBuf *out)
{
	WcLogRecord r;
	uint8_t		head[WC_RECORD_HEAD_MAX];
	size_t		len;
	WcError		err;
	WcStatus	status;

	if (in.len == 0)
		return false;
	status = wc_logrecord_decode(in.data[0], wc_slice(in.data + 1, in.len - 1), &r, &err);
	if (status != WC_OK)
	{
		HOLDS(status == WC_CORRUPT || status == WC_UNSUPPORTED);
		return false;
	}
	HOLDS(wc_logrecord_encode(&r, head, &len, NULL) == WC_OK && len <= sizeof(head));
	wc_buf_append_u8(out, r.kind);
	wc_buf_append(out, head, len);
	wc_buf_append_slice(out, r.bytes);
	return true;
}

FUZZ_TARGET(logrecord)
{
	wc_fuzz_recode(in, recode, true);
}
