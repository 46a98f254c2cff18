/*
 * fdw/convert/convert_node.h: what a type is made of, for convert_node.c and convert_nested.c.
 */
#ifndef WC_FDW_CONVERT_CONVERT_NODE_H
#define WC_FDW_CONVERT_CONVERT_NODE_H

#include "postgres.h"

#include "access/tupdesc.h"

#include "fdw/convert/convert_internal.h"

typedef enum WcNestedKind
{
	WC_NESTED_SCALAR,
	WC_NESTED_ENUM,
	WC_NESTED_ARRAY,
	WC_NESTED_RANGE,
	WC_NESTED_MULTIRANGE,
	WC_NESTED_ROW
} WcNestedKind;

struct WcNested
{
	WcNestedKind	kind;
	Oid			type;			/* no domain */
	int32		typmod;
	const List *labels;			/* WcLabel * */
	bool		as_key;
	MemoryContext context;		/* where the node was made */

	/* SCALAR, ENUM */
	FmgrInfo	out_fn;
	WcInput		in;

	int			guards;			/* SCALAR, ENUM; ARRAY: but for those of its members */

	/* ARRAY, RANGE, MULTIRANGE: one; ROW: [tupdesc->natts], NULL for dropped attributes */
	WcNested  **members;
	int16		len;			/* ARRAY: of the element */
	bool		byval;
	char		align;

	/* ROW: made anew when the type changes */
	MemoryContext row_context;
	uint64		identifier;		/* of the type cache's descriptor */
	TupleDesc	tupdesc;
};

/* Of a composite type: makes its members again if the type has changed. */
extern void wc_nested_refresh(WcNested *node);

#endif
