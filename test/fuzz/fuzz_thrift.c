/*
 * test/fuzz/fuzz_thrift.c: Thrift messages as they arrive (thrift/incoming.h), and their values
 * (thrift/reader.h).  The input's first byte says which protocol and transport, and how large
 * the pieces are.
 */
#include "fuzz.h"
#include "thrift/incoming.h"
#include "thrift/reader.h"

#define MAX 4096

FUZZ_TARGET(thrift)
{
	WcDecoder	d = wc_decoder(in);
	uint8_t		how = wc_decode_u8(&d);
	WcThriftProtocol protocol = how & 1 ? WC_THRIFT_COMPACT : WC_THRIFT_BINARY;
	WcThriftTransport transport = how & 2 ? WC_THRIFT_FRAMED : WC_THRIFT_BUFFERED;
	size_t		piece = (how >> 2) + 1;
	WcSlice		rest = wc_slice(d.p, wc_decoder_left(&d));
	WcThriftIncoming whole;
	WcThriftIncoming pieces;
	WcSlice		message = wc_slice(NULL, 0);
	WcSlice		again = wc_slice(NULL, 0);
	size_t		used = 0;
	size_t		used_again = 0;
	WcStatus	status;
	WcStatus	one = WC_END;
	WcThriftReader r;
	WcThriftHead head;
	WcThriftField f;

	/* all at once, and piece by piece: the same */
	wc_thrift_incoming(&whole, protocol, transport, MAX);
	wc_thrift_incoming(&pieces, protocol, transport, MAX);
	status = wc_thrift_arrived(&whole, rest, &message, &used, NULL);
	for (size_t have = 0; one == WC_END; have += piece)
	{
		one = wc_thrift_arrived(&pieces, wc_slice(rest.data, have < rest.len ? have : rest.len), &again, &used_again, NULL);
		if (have >= rest.len)
			break;
	}
	HOLDS(status == WC_OK || status == WC_END || status == WC_TOO_LARGE || status == WC_CORRUPT);
	HOLDS(status == one);
	if (status != WC_OK)
		return;
	HOLDS(used == used_again && wc_slice_eq(message, again) && used <= rest.len && message.len <= MAX);

	/* a reader ends at its last byte, unless it is refused */
	wc_thrift_reader(&r, protocol, message, &head);
	wc_fuzz_touch(head.method);
	while (wc_thrift_next_field(&r, &f))
	{
		if (f.type == WC_THRIFT_STRING && f.id % 2 == 0)
			wc_fuzz_touch(wc_thrift_read_bytes(&r, f));
		else
			wc_thrift_skip(&r, f);
	}
	HOLDS(wc_thrift_failed(&r) || transport == WC_THRIFT_FRAMED || wc_decoder_done(&r.d));
}
