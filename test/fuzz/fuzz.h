/*
 * test/fuzz/fuzz.h: what the fuzz targets share.
 *
 * A target is a file fuzz_NAME.c with one FUZZ_TARGET(NAME): a function that is given
 * untrusted bytes, has core decode them, and checks with HOLDS what must hold of the
 * result.  Bytes that core refuses are no failure.  The bytes lie in memory of exactly
 * their size, so that the address sanitizer sees a read beyond them.
 */
#ifndef WC_TEST_FUZZ_H
#define WC_TEST_FUZZ_H

#include "base/buf.h"
#include "base/coding.h"

typedef void (*WcFuzzRun) (WcSlice in);

/* A program calls its targets by their names: one (libFuzzer), or all (test_corpus.c). */
typedef struct WcFuzzTarget
{
	const char *name;
	WcFuzzRun	run;
} WcFuzzTarget;

#define WC_FUZZ_TARGETS_MAX 64

extern WcFuzzTarget wc_fuzz_targets[WC_FUZZ_TARGETS_MAX];
extern size_t wc_fuzz_ntargets;

extern void wc_fuzz_enlist(const char *name, WcFuzzRun run);

#define FUZZ_TARGET(name) \
	static void fuzz_##name(WcSlice in); \
	__attribute__((constructor)) static void enlist_##name(void) { wc_fuzz_enlist(#name, fuzz_##name); } \
	static void fuzz_##name(WcSlice in)

/* Ends the program, as a crash does. */
extern void wc_fuzz_fail(const char *file, int line, const char *condition) __attribute__((noreturn));

#define HOLDS(condition) \
	((condition) ? (void) 0 : wc_fuzz_fail(__FILE__, __LINE__, #condition))

/* Reads every byte, as a user of the slice would. */
extern void wc_fuzz_touch(WcSlice s);

/* A copy in memory of exactly its size, to be freed with wc_fuzz_free. */
extern WcSlice wc_fuzz_copy(WcSlice s);
extern void wc_fuzz_free(WcSlice s);

/* Decodes in and appends to out what the encoder makes of the result; false: in was refused. */
typedef bool (*WcFuzzRecode) (WcSlice in, WcBuf *out);

/*
 * Decodes and encodes, twice: what an encoder has written is accepted, and encoded to the
 * same bytes again.
 *
 * If exact, the first bytes too are the decoder's input, unless they are fewer: the only
 * freedom of the input is to say something in more bytes than needed (a number not in its
 * shortest form, a default value spelled out).
 */
extern void wc_fuzz_recode(WcSlice in, WcFuzzRecode recode, bool exact);

#endif
