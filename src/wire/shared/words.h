/*
 * wire/shared/words.h: bytes in words that processes share, each of which is read and written as an atomic one.  The order of the
 * accesses is the caller's concern.
 */
#ifndef WC_WIRE_SHARED_WORDS_H
#define WC_WIRE_SHARED_WORDS_H

#include <stdatomic.h>
#include <string.h>

#include "base/buf.h"

typedef _Atomic uint64_t WcWord;

/* So many words have so many bytes. */
#define WC_WORDS(bytes) (((bytes) + 7) / 8)

static inline uint64_t
wc_word_get(const WcWord *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static inline void
wc_word_put(WcWord *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

/* Takes the next word from the bytes; zeros fill up the last one. */
static inline uint64_t
wc_words_take(WcSlice *s)
{
	uint64_t	word = 0;
	size_t		n = s->len < sizeof(word) ? s->len : sizeof(word);

	memcpy(&word, s->data, n);
	s->data += n;
	s->len -= n;
	return word;
}

static inline void
wc_words_put(WcWord *at, WcSlice s)
{
	while (s.len > 0)
		wc_word_put(at++, wc_words_take(&s));
}

static inline void
wc_words_get(const WcWord *at, uint8_t *to, size_t len)
{
	while (len > 0)
	{
		uint64_t	word = wc_word_get(at++);
		size_t		n = len < sizeof(word) ? len : sizeof(word);

		memcpy(to, &word, n);
		to += n;
		len -= n;
	}
}

/* Appends the bytes; false: out of memory. */
static inline bool
wc_words_append(const WcWord *at, size_t len, WcBuf *out)
{
	uint8_t    *to = wc_buf_reserve(out, len);

	if (to == NULL)
		return false;
	wc_words_get(at, to, len);
	out->len += len;
	return true;
}

/* As wc_slice_cmp. */
static inline int
wc_words_cmp(const WcWord *at, size_t len, WcSlice s)
{
	size_t		left = len < s.len ? len : s.len;

	for (const uint8_t *p = s.data; left > 0; p += sizeof(uint64_t), at++)
	{
		size_t		n = left < sizeof(uint64_t) ? left : sizeof(uint64_t);
		uint64_t	word = wc_word_get(at);
		int			c = memcmp(&word, p, n);

		if (c != 0)
			return c;
		left -= n;
	}
	return (len > s.len) - (len < s.len);
}

static inline bool
wc_words_are(const WcWord *at, WcSlice s)
{
	while (s.len > 0)
	{
		if (wc_word_get(at++) != wc_words_take(&s))
			return false;
	}
	return true;
}

#endif
