/*
 * fdw/row/jsonobject.c: a jsonb object whose values are all text, made member by member.
 *
 * A jsonb (utils/jsonb.h) has a count, an entry for each key, an entry for each value, the bytes of the keys and
 * the bytes of the values.  Keys are sorted by length; keys of equal length are sorted as bytes.
 */
#include "postgres.h"

#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "fdw/row/jsonobject.h"

/* Buffers up to this size, in bytes, are kept for the next object. */
#define KEPT_MAX (1024 * 1024)

/* Keys with fewer bytes are sorted by a counting sort. */
#define SHORT_KEY 256

typedef struct Member
{
	uint32		at;				/* offset of the key in `bytes`; the value follows the key */
	uint32		key_len;
	uint32		value_len;
} Member;

struct WcJsonObject
{
	MemoryContext context;
	char	   *bytes;			/* keys and values in the order of wc_jsonobject_add */
	uint32		nbytes;
	Size		max_bytes;
	Member	   *members;
	Member	   *sorted;			/* as many elements as members has room for */
	int			nmembers;
	int			max_members;
	uint32		longest;		/* longest key, in bytes */
	bool		ascending;		/* the keys so far ascend as bytes */
	bool		in_order;		/* the keys so far are in jsonb's order */
};

WcJsonObject *
wc_jsonobject_create(void)
{
	WcJsonObject *o = palloc0(sizeof(WcJsonObject));

	o->context = CurrentMemoryContext;
	wc_jsonobject_reset(o);
	return o;
}

void
wc_jsonobject_reset(WcJsonObject *o)
{
	if (o->max_bytes > KEPT_MAX)
	{
		pfree(o->bytes);
		o->bytes = NULL;
		o->max_bytes = 0;
	}
	if (o->max_members * sizeof(Member) > KEPT_MAX)
	{
		pfree(o->members);
		pfree(o->sorted);
		o->members = o->sorted = NULL;
		o->max_members = 0;
	}
	o->nmembers = 0;
	o->nbytes = 0;
	o->longest = 0;
	o->ascending = o->in_order = true;
}

static int
compare_bytes(const char *a, uint32 a_len, const char *b, uint32 b_len)
{
	int			c = memcmp(a, b, Min(a_len, b_len));

	return c != 0 ? c : (a_len > b_len) - (a_len < b_len);
}

static void *
enlarged(WcJsonObject *o, void *p, Size size)
{
	return p == NULL ? MemoryContextAlloc(o->context, size) : repalloc(p, size);
}

/* Makes room for one more member, with so many bytes. */
static void
make_room(WcJsonObject *o, Size bytes)
{
	if (o->nmembers == o->max_members)
	{
		int			n = Max(o->max_members * 2, 16);

		if (n > (int) (MaxAllocSize / sizeof(Member)))
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("number of jsonb object pairs exceeds the maximum allowed (%d)", o->max_members)));
		o->members = enlarged(o, o->members, (Size) n * sizeof(Member));
		o->sorted = enlarged(o, o->sorted, (Size) n * sizeof(Member));
		o->max_members = n;
	}
	if (o->nbytes + bytes > o->max_bytes)
	{
		Size		n = Max(o->max_bytes * 2, Max(o->nbytes + bytes, 1024));

		o->bytes = enlarged(o, o->bytes, n);
		o->max_bytes = n;
	}
}

bool
wc_jsonobject_is_last(const WcJsonObject *o, const char *key, Size key_len)
{
	const Member *last;

	if (o->nmembers == 0)
		return false;
	last = &o->members[o->nmembers - 1];
	/* sorted names mostly differ in their last bytes */
	return last->key_len == key_len &&
		(key_len == 0 || (o->bytes[last->at + key_len - 1] == key[key_len - 1] &&
						  memcmp(o->bytes + last->at, key, key_len - 1) == 0));
}

void
wc_jsonobject_add(WcJsonObject *o, const char *key, Size key_len, const char *value, Size value_len)
{
	Member	   *m;

	if (key_len + value_len + o->nbytes > JENTRY_OFFLENMASK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("total size of jsonb object elements exceeds the maximum of %u bytes", JENTRY_OFFLENMASK)));
	make_room(o, key_len + value_len);
	m = &o->members[o->nmembers];
	*m = (Member) {.at = o->nbytes,.key_len = (uint32) key_len,.value_len = (uint32) value_len};
	if (o->nmembers > 0)
	{
		o->ascending = o->ascending && compare_bytes(o->bytes + m[-1].at, m[-1].key_len, key, m->key_len) < 0;
		o->in_order = o->in_order && o->ascending && m[-1].key_len <= m->key_len;
	}
	o->longest = Max(o->longest, m->key_len);
	memcpy(o->bytes + o->nbytes, key, key_len);
	memcpy(o->bytes + o->nbytes + key_len, value, value_len);
	o->nbytes += (uint32) (key_len + value_len);
	o->nmembers++;
}

static int
compare_members(const void *a, const void *b, void *arg)
{
	const Member *x = a;
	const Member *y = b;
	const char *bytes = arg;

	if (x->key_len != y->key_len)
		return x->key_len < y->key_len ? -1 : 1;
	return memcmp(bytes + x->at, bytes + y->at, x->key_len);
}

/* Sorts members with short keys, which ascend as bytes: by length only. */
static const Member *
sort_by_length(WcJsonObject *o)
{
	uint32		behind[SHORT_KEY];	/* [length]: index of the next member with a key of this length */
	uint32		before = 0;

	memset(behind, 0, (o->longest + 1) * sizeof(uint32));
	for (int i = 0; i < o->nmembers; i++)
		behind[o->members[i].key_len]++;
	for (uint32 len = 0; len <= o->longest; len++)
	{
		uint32		n = behind[len];

		behind[len] = before;
		before += n;
	}
	for (int i = 0; i < o->nmembers; i++)
		o->sorted[behind[o->members[i].key_len]++] = o->members[i];
	return o->sorted;
}

/* The members in jsonb's order. */
static const Member *
sort_members(WcJsonObject *o)
{
	if (o->in_order)
		return o->members;
	if (o->ascending && o->longest < SHORT_KEY)
		return sort_by_length(o);
	qsort_arg(o->members, (size_t) o->nmembers, sizeof(Member), compare_members, o->bytes);
	return o->members;
}

/* The entry of a text of len bytes that ends at `end`; every JB_OFFSET_STRIDE-th entry has the end, not the length. */
static inline JEntry
entry(int i, uint32 len, uint32 end)
{
	return JENTRY_ISSTRING | (i % JB_OFFSET_STRIDE == 0 ? end | JENTRY_HAS_OFF : len);
}

Datum
wc_jsonobject_finish(WcJsonObject *o)
{
	int			n = o->nmembers;
	const Member *members = sort_members(o);
	Size		size = VARHDRSZ + sizeof(uint32) + 2 * (Size) n * sizeof(JEntry) + (Size) o->nbytes;
	Jsonb	   *jsonb = palloc(size);
	char	   *start = (char *) (jsonb->root.children + 2 * n);
	char	   *p = start;

	SET_VARSIZE(jsonb, size);
	jsonb->root.header = (uint32) n | JB_FOBJECT;
	for (int i = 0; i < n; i++)
	{
		const Member *m = &members[i];

		memcpy(p, o->bytes + m->at, m->key_len);
		p += m->key_len;
		jsonb->root.children[i] = entry(i, m->key_len, (uint32) (p - start));
	}
	for (int i = 0; i < n; i++)
	{
		const Member *m = &members[i];

		memcpy(p, o->bytes + m->at + m->key_len, m->value_len);
		p += m->value_len;
		jsonb->root.children[n + i] = entry(n + i, m->value_len, (uint32) (p - start));
	}
	wc_jsonobject_reset(o);
	return JsonbPGetDatum(jsonb);
}
