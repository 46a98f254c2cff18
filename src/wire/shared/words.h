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

/* Whole words come first, in these two: a memcpy of a fixed length is one instruction. */
static inline void
wc_words_put(WcWord *at, WcSlice s)
{
	uint64_t	word;

	for (; s.len >= sizeof(word); s.data += sizeof(word), s.len -= sizeof(word))
	{
		memcpy(&word, s.data, sizeof(word));
		wc_word_put(at++, word);
	}
	if (s.len > 0)
		wc_word_put(at, wc_words_take(&s));
}

static inline void
wc_words_get(const WcWord *at, uint8_t *to, size_t len)
{
	uint64_t	word;

	for (; len >= sizeof(word); to += sizeof(word), len -= sizeof(word))
	{
		word = wc_word_get(at++);
		memcpy(to, &word, sizeof(word));
	}
	if (len == 0)
		return;
	word = wc_word_get(at);
	memcpy(to, &word, len);
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
	const uint8_t *p = s.data;
	uint64_t	word;
	int			c;

	for (; left >= sizeof(word); p += sizeof(word), left -= sizeof(word))
	{
		word = wc_word_get(at++);
		c = memcmp(&word, p, sizeof(word));
		if (c != 0)
			return c;
	}
	if (left > 0)
	{
		word = wc_word_get(at);
		c = memcmp(&word, p, left);
		if (c != 0)
			return c;
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
