/*
 * wire/shared/unapplied.c: the places, each with a `turn` that is odd while the place is written.
 */
#include "wire/shared/unapplied.h"
#include "wire/shared/words.h"

/* Many more than the rows that several sessions change at a time. */
#define PLACES 1024

typedef struct Place
{
	_Alignas(64) _Atomic uint32_t turn;
	_Atomic uint32_t follows;
	WcWord		hash;
	WcWord		xid;
	WcWord		lengths;		/* the Get's, and above 32 bits the answer's */
	WcWord		bytes[WC_WORDS(WC_UNAPPLIED_BYTES_MAX) + 1];	/* each of both begins with a word */
} Place;

struct WcUnapplied
{
	Place		places[PLACES];
};

size_t
wc_unapplied_size(void)
{
	return sizeof(WcUnapplied);
}

void
wc_unapplied_put(WcUnapplied *unapplied, uint64_t hash, uint64_t xid, uint32_t follows, WcSlice get, WcSlice answer)
{
	Place	   *p = &unapplied->places[hash % PLACES];
	uint32_t	turn = atomic_load_explicit(&p->turn, memory_order_relaxed);

	if (get.len + answer.len > WC_UNAPPLIED_BYTES_MAX || (turn & 1) != 0 ||
		!atomic_compare_exchange_strong_explicit(&p->turn, &turn, turn + 1, memory_order_acquire, memory_order_relaxed))
		return;
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&p->follows, follows, memory_order_relaxed);
	wc_word_put(&p->hash, hash);
	wc_word_put(&p->xid, xid);
	wc_word_put(&p->lengths, (uint64_t) answer.len << 32 | get.len);
	wc_words_put(p->bytes, get);
	wc_words_put(p->bytes + WC_WORDS(get.len), answer);
	atomic_store_explicit(&p->turn, turn + 2, memory_order_release);
}

bool
wc_unapplied_find(const WcUnapplied *unapplied, uint64_t hash, uint64_t xid, uint32_t *follows, WcBuf *get, WcBuf *answer)
{
	const Place *p = &unapplied->places[hash % PLACES];
	uint32_t	turn = atomic_load_explicit(&p->turn, memory_order_acquire);
	size_t		get_before = get->len;
	size_t		answer_before = answer->len;
	uint64_t	lengths = wc_word_get(&p->lengths);
	size_t		get_len = (uint32_t) lengths;
	size_t		answer_len = (size_t) (lengths >> 32);

	/* words that are being overwritten may have any value */
	if ((turn & 1) != 0 || wc_word_get(&p->hash) != hash || wc_word_get(&p->xid) != xid ||
		get_len > WC_UNAPPLIED_BYTES_MAX || answer_len > WC_UNAPPLIED_BYTES_MAX - get_len)
		return false;
	*follows = atomic_load_explicit(&p->follows, memory_order_relaxed);
	if (wc_words_append(p->bytes, get_len, get) && wc_words_append(p->bytes + WC_WORDS(get_len), answer_len, answer))
	{
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&p->turn, memory_order_relaxed) == turn)
			return true;
	}
	get->len = get_before;
	answer->len = answer_before;
	return false;
}
