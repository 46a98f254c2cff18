/*
 * wire/wait/busy.c: counts busy sessions, by windows of time.
 */
#include "wire/wait/busy.h"

#define COUNT_MAX	UINT16_MAX

typedef struct Windows
{
	uint32_t	newest;			/* its number; they wrap around */
	uint32_t	count;			/* of halves of sessions */
	uint32_t	before;			/* likewise, in the window before */
} Windows;

static Windows
unpack(uint64_t word)
{
	return (Windows) {.newest = (uint32_t) (word >> 32),.count = (word >> 16) & COUNT_MAX,.before = word & COUNT_MAX};
}

static uint64_t
pack(Windows w)
{
	return (uint64_t) w.newest << 32 | w.count << 16 | w.before;
}

/* Never 0, which is a session's that was not counted yet. */
static uint32_t
window_at(int64_t now_us)
{
	return (uint32_t) (now_us / WC_BUSY_WINDOW_US) | UINT32_C(0x80000000);
}

/* The number of windows from the newest one; negative: before it. */
static int32_t
behind(uint32_t window, Windows w)
{
	return (int32_t) ((window - w.newest) << 1) >> 1;
}

void
wc_busy_note(WcBusy *busy, uint32_t *window, int64_t now_us, bool waits)
{
	uint32_t	halves = waits ? 1 : 2;
	uint32_t	now = window_at(now_us);
	uint64_t	word;
	uint64_t	changed;

	if (*window == now)
		return;
	*window = now;
	word = atomic_load(busy);
	do
	{
		Windows		w = unpack(word);
		int32_t		later = w.newest == 0 ? 2 : behind(now, w);

		if (later < 0)
			return;				/* others are ahead: it is counted the next time */
		if (later == 0)
			w.count += w.count + halves <= COUNT_MAX ? halves : 0;
		else
			w = (Windows) {.newest = now,.count = halves,.before = later == 1 ? w.count : 0};
		changed = pack(w);
	} while (!atomic_compare_exchange_weak(busy, &word, changed));
}

uint32_t
wc_busy_sessions(WcBusy *busy, int64_t now_us)
{
	Windows		w = unpack(atomic_load(busy));
	int32_t		later = w.newest == 0 ? 2 : behind(window_at(now_us), w);

	if (later == 1)
		return w.count / 2;
	if (later > 1)
		return 0;
	return (w.count > w.before ? w.count : w.before) / 2;
}
