/*
 * fdw/row/jsonobject.c: a jsonb object whose values are all text, made member by member.
 *
 * A jsonb (utils/jsonb.h) has a count, an entry for each key, an entry for each value, the bytes of the keys and
 * the bytes of the values.  Keys are sorted by length; keys of equal length are sorted as bytes.
 *
 * Most rows of a table have the same members as the row before: the keys of the last object are kept with their order and
 * entries, until a key is added that is not the last object's at this place.
 */
#include "postgres.h"

#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "fdw/row/jsonobject.h"

/* Buffers up to this size, in bytes, are kept for the next object. */
#define KEPT_MAX (1024 * 1024)

/* The size of the memory for a passing jsonb, in bytes.  Memory of its own for each would cost a reset of its context in each row. */
#define PASSING_SIZE 4096

/* Keys with fewer bytes are sorted by a counting sort. */
#define SHORT_KEY 256

typedef struct Member
{
	uint32		key_at;			/* offset in `keys` */
	uint32		key_len;
	uint32		value_at;		/* offset in `values` */
	uint32		value_len;
} Member;

/* Bytes that are added at the end. */
typedef struct Bytes
{
	char	   *data;
	uint32		len;
	Size		max;
} Bytes;

struct WcJsonObject
{
	MemoryContext context;
	Bytes		keys;			/* in the order of wc_jsonobject_add */
	Bytes		values;			/* in the same order */
	Member	   *members;
	uint32	   *order;			/* [place in the jsonb]: index in members */
	int			nmembers;
	int			max_members;	/* room in members and order */

	/* the last object */
	int			nexpected;		/* members that had its keys, behind nmembers; 0 once another key was added */
	int			narranged;		/* order and head are those of the first so many members; -1: of none */
	bool		in_order;		/* order is 0, 1, 2, ... */
	Bytes		head;			/* the entries of the keys, and their bytes, both in the jsonb's order */
	Jsonb	   *passing;		/* memory for the last object's jsonb; NULL: none yet */
};

WcJsonObject *
wc_jsonobject_create(void)
{
	WcJsonObject *o = palloc0(sizeof(WcJsonObject));

	o->context = CurrentMemoryContext;
	o->narranged = -1;
	return o;
}

static bool
free_large(Bytes *b)
{
	if (b->max <= KEPT_MAX)
		return false;
	pfree(b->data);
	*b = (Bytes) {0};
	return true;
}

void
wc_jsonobject_reset(WcJsonObject *o)
{
	bool		large = free_large(&o->keys) | free_large(&o->head);

	(void) free_large(&o->values);
	if (o->max_members * sizeof(Member) > KEPT_MAX)
	{
		pfree(o->members);
		pfree(o->order);
		o->members = NULL;
		o->order = NULL;
		o->max_members = 0;
		large = true;
	}
	if (large)
		o->narranged = -1;
	o->nexpected = Max(o->narranged, 0);
	o->nmembers = 0;
	o->values.len = 0;
}

static void *
enlarged(WcJsonObject *o, void *p, Size size)
{
	return p == NULL ? MemoryContextAlloc(o->context, size) : repalloc(p, size);
}

static void
append(WcJsonObject *o, Bytes *b, const char *data, Size len)
{
	if (len == 0)
		return;
	if (b->len + len > b->max)
	{
		Size		max = Max(b->max * 2, Max(b->len + len, 1024));

		b->data = enlarged(o, b->data, max);
		b->max = max;
	}
	memcpy(b->data + b->len, data, len);
	b->len += (uint32) len;
}

/* Makes room for one more member. */
static void
make_room(WcJsonObject *o)
{
	int			n = Max(o->max_members * 2, 16);

	if (o->nmembers < o->max_members)
		return;
	if (n > (int) (MaxAllocSize / sizeof(Member)))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("number of jsonb object pairs exceeds the maximum allowed (%d)", o->max_members)));
	o->members = enlarged(o, o->members, (Size) n * sizeof(Member));
	o->order = enlarged(o, o->order, (Size) n * sizeof(uint32));
	o->max_members = n;
}

/* Is this the key of the member?  Sorted names mostly differ in their last bytes. */
static inline bool
has_key(const WcJsonObject *o, const Member *m, const char *key, Size key_len)
{
	const char *its = o->keys.data + m->key_at;

	return m->key_len == key_len &&
		(key_len == 0 || (its[key_len - 1] == key[key_len - 1] && memcmp(its, key, key_len - 1) == 0));
}

bool
wc_jsonobject_is_last(const WcJsonObject *o, const char *key, Size key_len)
{
	return o->nmembers > 0 && has_key(o, &o->members[o->nmembers - 1], key, key_len);
}

/* The object has this many bytes so far, and gets more. */
static void
check_size(Size bytes, Size more)
{
	if (bytes + more > JENTRY_OFFLENMASK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("total size of jsonb object elements exceeds the maximum of %u bytes", JENTRY_OFFLENMASK)));
}

/* The next member has its key already. */
static void
add_value(WcJsonObject *o, const char *value, Size value_len)
{
	Member	   *m = &o->members[o->nmembers];

	m->value_at = o->values.len;
	m->value_len = (uint32) value_len;
	append(o, &o->values, value, value_len);
	o->nmembers++;
}

bool
wc_jsonobject_add_expected(WcJsonObject *o, const char *key, Size key_len, const char *value, Size value_len)
{
	const Member *m = &o->members[o->nmembers];

	if (o->nmembers >= o->nexpected || !has_key(o, m, key, key_len))
		return false;
	check_size((Size) m->key_at + key_len + o->values.len, value_len);
	add_value(o, value, value_len);
	return true;
}

void
wc_jsonobject_add(WcJsonObject *o, const char *key, Size key_len, const char *value, Size value_len)
{
	Member	   *m;

	if (wc_jsonobject_add_expected(o, key, key_len, value, value_len))
		return;
	make_room(o);
	m = &o->members[o->nmembers];
	o->keys.len = o->nmembers > 0 ? m[-1].key_at + m[-1].key_len : 0;
	check_size((Size) o->keys.len + o->values.len, key_len + value_len);
	o->nexpected = 0;
	o->narranged = -1;
	m->key_at = o->keys.len;
	m->key_len = (uint32) key_len;
	append(o, &o->keys, key, key_len);
	add_value(o, value, value_len);
}

static int
compare_keys(const WcJsonObject *o, const Member *x, const Member *y)
{
	int			c = memcmp(o->keys.data + x->key_at, o->keys.data + y->key_at, Min(x->key_len, y->key_len));

	return c != 0 ? c : (x->key_len > y->key_len) - (x->key_len < y->key_len);
}

static int
compare_places(const void *a, const void *b, void *arg)
{
	const WcJsonObject *o = arg;
	const Member *x = &o->members[*(const uint32 *) a];
	const Member *y = &o->members[*(const uint32 *) b];

	if (x->key_len != y->key_len)
		return x->key_len < y->key_len ? -1 : 1;
	return memcmp(o->keys.data + x->key_at, o->keys.data + y->key_at, x->key_len);
}

/* Orders members with short keys, which ascend as bytes: by length only. */
static void
order_by_length(WcJsonObject *o, uint32 longest)
{
	uint32		behind[SHORT_KEY];	/* [length]: place of the next member with a key of this length */
	uint32		before = 0;

	memset(behind, 0, (longest + 1) * sizeof(uint32));
	for (int i = 0; i < o->nmembers; i++)
		behind[o->members[i].key_len]++;
	for (uint32 len = 0; len <= longest; len++)
	{
		uint32		n = behind[len];

		behind[len] = before;
		before += n;
	}
	for (int i = 0; i < o->nmembers; i++)
		o->order[behind[o->members[i].key_len]++] = (uint32) i;
}

static void
order_members(WcJsonObject *o)
{
	bool		ascending = true;	/* as bytes */
	uint32		longest = o->nmembers > 0 ? o->members[0].key_len : 0;

	o->in_order = true;
	for (int i = 1; i < o->nmembers; i++)
	{
		const Member *m = &o->members[i];

		ascending = ascending && compare_keys(o, m - 1, m) < 0;
		o->in_order = o->in_order && ascending && m[-1].key_len <= m->key_len;
		longest = Max(longest, m->key_len);
	}
	if (ascending && !o->in_order && longest < SHORT_KEY)
	{
		order_by_length(o, longest);
		return;
	}
	for (int i = 0; i < o->nmembers; i++)
		o->order[i] = (uint32) i;
	if (!o->in_order)
		qsort_arg(o->order, (size_t) o->nmembers, sizeof(uint32), compare_places, o);
}

/* The entry of a text of len bytes that ends at `end`; every JB_OFFSET_STRIDE-th entry has the end, not the length. */
static inline JEntry
entry(int i, uint32 len, uint32 end)
{
	return JENTRY_ISSTRING | (i % JB_OFFSET_STRIDE == 0 ? end | JENTRY_HAS_OFF : len);
}

/* Makes order and head for the object's keys. */
static void
arrange(WcJsonObject *o)
{
	uint32		end = 0;

	o->narranged = -1;			/* if memory is out */
	order_members(o);
	o->head.len = 0;
	for (int i = 0; i < o->nmembers; i++)
	{
		const Member *m = &o->members[o->order[i]];
		JEntry		e = entry(i, m->key_len, end += m->key_len);

		append(o, &o->head, (const char *) &e, sizeof(e));
	}
	for (int i = 0; i < o->nmembers; i++)
	{
		const Member *m = &o->members[o->order[i]];

		append(o, &o->head, o->keys.data + m->key_at, m->key_len);
	}
	o->narranged = o->nmembers;
}

/* Writes the entries of the values, which end behind `end` bytes of keys, and their bytes. */
static void
write_values(const WcJsonObject *o, JEntry *entries, char *p, uint32 end)
{
	int			n = o->nmembers;

	if (o->in_order && o->values.len > 0)
		memcpy(p, o->values.data, o->values.len);
	for (int i = 0; i < n; i++)
	{
		const Member *m = &o->members[o->order[i]];

		entries[i] = entry(n + i, m->value_len, end += m->value_len);
		if (o->in_order || m->value_len == 0)
			continue;
		memcpy(p, o->values.data + m->value_at, m->value_len);
		p += m->value_len;
	}
}

static Jsonb *
memory_for(WcJsonObject *o, Size size, bool passing)
{
	if (!passing || size > PASSING_SIZE)
		return palloc(size);
	if (o->passing == NULL)
		o->passing = MemoryContextAlloc(o->context, PASSING_SIZE);
	return o->passing;
}

Datum
wc_jsonobject_finish(WcJsonObject *o, bool passing)
{
	int			n = o->nmembers;
	Size		entries = (Size) n * sizeof(JEntry);
	Size		keys;
	Size		size;
	Jsonb	   *jsonb;
	char	   *start;

	if (o->narranged != n)
		arrange(o);
	keys = o->head.len - entries;
	size = VARHDRSZ + sizeof(uint32) + 2 * entries + keys + o->values.len;
	jsonb = memory_for(o, size, passing);
	SET_VARSIZE(jsonb, size);
	jsonb->root.header = (uint32) n | JB_FOBJECT;
	start = (char *) (jsonb->root.children + 2 * n);
	if (n > 0)
	{
		memcpy(jsonb->root.children, o->head.data, entries);
		memcpy(start, o->head.data + entries, keys);
	}
	write_values(o, jsonb->root.children + n, start + keys, (uint32) keys);
	wc_jsonobject_reset(o);
	return JsonbPGetDatum(jsonb);
}
