/*
 * fdw/convert/convert_input.c: types' input functions, without the constraints of domains.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "fdw/convert/convert_internal.h"

void
wc_input_init(WcInput *in, Oid type, int32 typmod)
{
	Oid			element = get_element_type(type);
	Oid			function;

	getTypeInputInfo(type, &function, &in->ioparam);
	fmgr_info(function, &in->fn);
	in->typmod = typmod;
	in->domain = InvalidOid;
	if (!OidIsValid(element) || get_typtype(element) != TYPTYPE_DOMAIN)
		return;
	in->domain = element;
	in->ioparam = getBaseTypeAndTypmod(element, &in->typmod);
}

Datum
wc_input_call(WcInput *in, char *string)
{
	Datum		value = InputFunctionCall(&in->fn, string, in->ioparam, in->typmod);

	if (OidIsValid(in->domain))
		DatumGetArrayTypeP(value)->elemtype = in->domain;
	return value;
}
