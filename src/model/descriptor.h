/*
 * model/descriptor.h: the descriptor of a stored table.
 *
 * A descriptor is one allocation (wc_table_desc_decode) or built field by
 * field in an arena; names are slices into the same memory.  Families are in
 * byte order of their names.  Table ids are unique in the store for ever,
 * family ids in their table for ever (a dropped family's id is not reused).
 */
#ifndef WC_MODEL_DESCRIPTOR_H
#define WC_MODEL_DESCRIPTOR_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"

#define WC_BLOCKSIZE_MIN	1024
#define WC_BLOCKSIZE_MAX	(16 * 1024 * 1024)

/* The namespace of a table that names none. */
#define WC_NAMESPACE_DEFAULT "default"

typedef enum WcKeepDeleted
{
	WC_KEEP_DELETED_FALSE = 0,
	WC_KEEP_DELETED_TRUE = 1,
	WC_KEEP_DELETED_TTL = 2
} WcKeepDeleted;

typedef enum WcBloomFilter
{
	WC_BLOOM_NONE = 0,
	WC_BLOOM_ROW = 1,
	WC_BLOOM_ROWCOL = 2
} WcBloomFilter;

typedef enum WcCompression
{
	WC_COMPRESSION_NONE = 0,
	WC_COMPRESSION_SNAPPY = 1,
	WC_COMPRESSION_LZ4 = 2,
	WC_COMPRESSION_ZSTD = 3
} WcCompression;

typedef enum WcPacking
{
	WC_PACKING_AUTO = 0,		/* only in options; a stored family has one of the others */
	WC_PACKING_ROW = 1,			/* a key-value a row */
	WC_PACKING_CELL = 2			/* a key-value a cell */
} WcPacking;

typedef struct WcFamilyAttrs
{
	uint32_t	versions;		/* 1 .. WC_VERSIONS_MAX */
	uint32_t	min_versions;	/* 0 .. versions */
	int64_t		ttl_us;			/* 0: for ever */
	bool		ttl_inherited;	/* it is the table's, since the family has none of its own */
	uint8_t		keep_deleted;	/* WcKeepDeleted */
	uint8_t		bloomfilter;	/* WcBloomFilter */
	uint8_t		compression;	/* WcCompression */
	uint8_t		packing;		/* WcPacking */
	uint32_t	blocksize;		/* bytes, 1 KiB .. 16 MiB */
	bool		blockcache;
	bool		in_memory;
} WcFamilyAttrs;

typedef struct WcFamilyDesc
{
	uint32_t	id;
	uint32_t	generation;		/* grows with each TRUNCATE: names the storage */
	WcSlice		name;
	int64_t		history_from_us;	/* reads as of an earlier time are refused */
	WcFamilyAttrs attrs;
} WcFamilyDesc;

typedef struct WcTableDesc
{
	uint32_t	id;
	uint32_t	database;		/* PostgreSQL's oid of the database it belongs to */
	uint32_t	owner;			/* PostgreSQL's oid of the role that owns it; 0: unknown */
	int64_t		ttl_us;			/* of families without one of their own; 0: for ever */
	bool		disabled;		/* it is only read */
	WcSlice		origin;			/* of a snapshot: "[namespace:]name" of the table; else empty */
	int64_t		taken_us;		/* of a snapshot: when */
	WcSlice		ns;				/* namespace; "default" when none was named */
	WcSlice		name;
	uint32_t	nfamilies;
	WcFamilyDesc *families;		/* in byte order of their names */
	uint32_t	next_family_id;
	uint32_t	nsplits;
	WcSlice    *splits;			/* ascending, distinct, none empty */
} WcTableDesc;

extern const WcFamilyAttrs wc_family_attrs_default;

/* Family names: not empty, at most WC_NAME_MAX bytes, no leading '.', no
 * control character, none of : / \ .  Table and namespace names: letters,
 * digits, '_', '-', '.' and every byte above 0x7f, no leading '.' or '-'. */
extern WcStatus wc_family_name_check(WcSlice name, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_namespace_name_check(WcSlice ns, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_table_name_check(WcSlice ns, WcSlice name, WcError *err) WC_WARN_UNUSED;

/* Splits "[namespace:]table" at its first colon; without one ns is "default".
 * The parts point into full; they are checked as above. */
extern WcStatus wc_table_name_split(WcSlice full, WcSlice *ns, WcSlice *name, WcError *err) WC_WARN_UNUSED;

/* Ranges of the attributes and how they go together; name is for the message. */
extern WcStatus wc_family_attrs_check(WcSlice name, const WcFamilyAttrs *attrs, WcError *err) WC_WARN_UNUSED;

/* The whole descriptor: names, at least one family, order, packings chosen,
 * family ids distinct and below next_family_id, splits. */
extern WcStatus wc_table_desc_check(const WcTableDesc *desc, WcError *err) WC_WARN_UNUSED;

/* Sorts families by name, which is their order in a descriptor. */
extern void wc_family_descs_sort(WcFamilyDesc *families, size_t n);

/* The families without a ttl of their own get the table's: call it when a ttl has been changed.
 * A descriptor that was decoded has it done. */
extern void wc_table_desc_inherit(WcTableDesc *desc);

/* NULL when there is none. */
extern const WcFamilyDesc *wc_table_desc_family(const WcTableDesc *desc, WcSlice name);
extern const WcFamilyDesc *wc_table_desc_family_by_id(const WcTableDesc *desc, uint32_t id);

/* Bytes as in model/README; decode allocates everything, the bytes included,
 * in the arena.  Formats 1 and 2, which older versions wrote, are read too: the owner of 1 is
 * unknown, neither has a ttl of the table, is disabled or a snapshot. */
extern void wc_table_desc_encode(WcBuf *out, const WcTableDesc *desc);
extern WcStatus wc_table_desc_decode(WcSlice bytes, WcArena *arena, WcTableDesc *desc, WcError *err) WC_WARN_UNUSED;

/* The table's id alone, out of the bytes; false: they have none. */
extern bool wc_table_desc_peek_id(WcSlice bytes, uint32_t *id);

/* "ns:name", or "name" in namespace default, cut to size; returns buf. */
extern char *wc_table_desc_fullname(const WcTableDesc *desc, char *buf, size_t size);

#endif
