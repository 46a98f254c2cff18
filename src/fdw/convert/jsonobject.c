/*
 * fdw/convert/jsonobject.c: a jsonb object whose values are all text, made member by member.
 *
 * In a jsonb (utils/jsonb.h) stand a count, an entry for each key, one for each value, the bytes
 * of the keys and those of the values.  Keys are ordered by length, those of one length as bytes.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "fdw/convert/jsonobject.h"

/* More memory than this is not kept from one object to the next. */
#define KEPT_MAX (1024 * 1024)

/* Keys of fewer bytes are sorted by counting. */
#define SHORT_KEY 256

typedef struct Member
{
	uint32		at;				/* of the key in bytes; the value follows */
	uint32		key_len;
	uint32		value_len;
} Member;

struct WcJsonObject
{
	MemoryContext context;
	StringInfoData bytes;		/* keys and values as they came */
	Member	   *members;
	Member	   *sorted;			/* room for as many */
	int			nmembers;
	int			max_members;
	uint32		longest;		/* key */
	bool		ascending;		/* keys so far, as bytes */
	bool		in_order;		/* as jsonb orders them */
};

WcJsonObject *
wc_jsonobject_create(void)
{
	WcJsonObject *o = palloc0(sizeof(WcJsonObject));

	o->context = CurrentMemoryContext;
	initStringInfo(&o->bytes);
	wc_jsonobject_reset(o);
	return o;
}

void
wc_jsonobject_reset(WcJsonObject *o)
{
	resetStringInfo(&o->bytes);
	if (o->bytes.maxlen > KEPT_MAX)
	{
		MemoryContext old = MemoryContextSwitchTo(o->context);

		pfree(o->bytes.data);
		initStringInfo(&o->bytes);
		MemoryContextSwitchTo(old);
	}
	if (o->max_members * sizeof(Member) > KEPT_MAX)
	{
		pfree(o->members);
		pfree(o->sorted);
		o->members = o->sorted = NULL;
		o->max_members = 0;
	}
	o->nmembers = 0;
	o->longest = 0;
	o->ascending = o->in_order = true;
}

static int
compare_bytes(const char *a, uint32 a_len, const char *b, uint32 b_len)
{
	int			c = memcmp(a, b, Min(a_len, b_len));

	return c != 0 ? c : (a_len > b_len) - (a_len < b_len);
}

static void
make_room(WcJsonObject *o)
{
	Size		n = Max(o->max_members * 2, 16);

	if (o->nmembers < o->max_members)
		return;
	if (o->members == NULL)
	{
		o->members = MemoryContextAllocHuge(o->context, n * sizeof(Member));
		o->sorted = MemoryContextAllocHuge(o->context, n * sizeof(Member));
	}
	else
	{
		o->members = repalloc_huge(o->members, n * sizeof(Member));
		o->sorted = repalloc_huge(o->sorted, n * sizeof(Member));
	}
	o->max_members = (int) n;
}

void
wc_jsonobject_add(WcJsonObject *o, const char *key, Size key_len, const char *value, Size value_len)
{
	Member	   *m;

	if (key_len + value_len + o->bytes.len > JENTRY_OFFLENMASK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("total size of jsonb object elements exceeds the maximum of %u bytes", JENTRY_OFFLENMASK)));
	make_room(o);
	m = &o->members[o->nmembers];
	*m = (Member) {.at = (uint32) o->bytes.len,.key_len = (uint32) key_len,.value_len = (uint32) value_len};
	if (o->nmembers > 0)
	{
		const Member *last = m - 1;

		o->ascending = o->ascending && compare_bytes(o->bytes.data + last->at, last->key_len, key, m->key_len) < 0;
		o->in_order = o->in_order && o->ascending && last->key_len <= m->key_len;
	}
	o->longest = Max(o->longest, m->key_len);
	appendBinaryStringInfo(&o->bytes, key, (int) key_len);
	appendBinaryStringInfo(&o->bytes, value, (int) value_len);
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

/* The members in jsonb's order. */
static const Member *
sort_members(WcJsonObject *o)
{
	uint32		behind[SHORT_KEY] = {0};	/* of each length, where its next member goes */
	uint32		before = 0;

	if (o->in_order)
		return o->members;
	if (!o->ascending || o->longest >= SHORT_KEY)
	{
		qsort_arg(o->members, (size_t) o->nmembers, sizeof(Member), compare_members, o->bytes.data);
		return o->members;
	}
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

/* Text of len bytes that ends at `end`; now and then an entry has the latter, in place of the length. */
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
	Size		size = VARHDRSZ + sizeof(uint32) + 2 * (Size) n * sizeof(JEntry) + (Size) o->bytes.len;
	Jsonb	   *jsonb = palloc(size);
	char	   *start = (char *) (jsonb->root.children + 2 * n);
	char	   *p = start;

	SET_VARSIZE(jsonb, size);
	jsonb->root.header = (uint32) n | JB_FOBJECT;
	for (int i = 0; i < n; i++)
	{
		const Member *m = &members[i];

		memcpy(p, o->bytes.data + m->at, m->key_len);
		p += m->key_len;
		jsonb->root.children[i] = entry(i, m->key_len, (uint32) (p - start));
	}
	for (int i = 0; i < n; i++)
	{
		const Member *m = &members[i];

		memcpy(p, o->bytes.data + m->at + m->key_len, m->value_len);
		p += m->value_len;
		jsonb->root.children[n + i] = entry(n + i, m->value_len, (uint32) (p - start));
	}
	wc_jsonobject_reset(o);
	return JsonbPGetDatum(jsonb);
}
