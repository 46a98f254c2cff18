/*
 * fdw/row/aggregatestate.c: transition states of PostgreSQL's aggregates.
 *
 * They are bytes, numbers and arrays as PostgreSQL's own functions make and read them: int8_avg_serialize, numeric_avg_serialize,
 * float8_accum and others.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "fdw/convert/convert.h"
#include "fdw/row/aggregatestate.h"

#define NUMERIC_BASE 10000
#define NUMERIC_BASE_DIGITS 4

/* As numericvar_serialize of PostgreSQL: counts and places of 4 bytes, digits to the base of 10,000.  The sum is in units of
 * 10,000 ^ -nfraction. */
static void
append_numeric(StringInfo out, WcSum sum, int nfraction, int scale)
{
	bool		negative = sum < 0;
	int16		digits[12];
	int			ndigits = 0;
	int			zeros = 0;

	while (sum != 0)
	{
		int			digit = (int) (sum % NUMERIC_BASE);

		digits[ndigits++] = (int16) abs(digit);
		sum /= NUMERIC_BASE;
	}
	while (zeros < ndigits && digits[zeros] == 0)
		zeros++;
	pq_sendint32(out, ndigits - zeros);
	pq_sendint32(out, ndigits > 0 ? ndigits - 1 - nfraction : 0);
	pq_sendint32(out, negative ? 0x4000 : 0);
	pq_sendint32(out, scale);
	for (int i = ndigits - 1; i >= zeros; i--)
		pq_sendint16(out, digits[i]);
}

/* The rest of numeric_avg_serialize. */
static bytea *
end_numeric_state(StringInfo out, int scale, int64 nfinite, int64 nnans, int64 ninfinities, int64 nnegative)
{
	pq_sendint32(out, scale);
	pq_sendint64(out, nfinite);	/* numbers with this scale, which only moving aggregates need */
	pq_sendint64(out, nnans);
	pq_sendint64(out, ninfinities);
	pq_sendint64(out, nnegative);
	return pq_endtypsend(out);
}

/* The transition state of one number. */
static Datum
numeric_state(Datum number)
{
	bytea	   *sent = DatumGetByteaPP(DirectFunctionCall1(numeric_send, number));
	StringInfoData in = {.data = VARDATA_ANY(sent),.len = (int) VARSIZE_ANY_EXHDR(sent)};
	StringInfoData out;
	bool		nan = numeric_is_nan(DatumGetNumeric(number));
	bool		infinite = numeric_is_inf(DatumGetNumeric(number));
	int			ndigits = pq_getmsgint(&in, 2);
	int			weight = (int16) pq_getmsgint(&in, 2);
	int			sign = pq_getmsgint(&in, 2);
	int			scale = pq_getmsgint(&in, 2);

	pq_begintypsend(&out);
	pq_sendint64(&out, nan || infinite ? 0 : 1);
	if (nan || infinite)
	{
		append_numeric(&out, 0, 0, 0);
		return PointerGetDatum(end_numeric_state(&out, 0, 0, nan, infinite && sign == 0xD000, infinite && sign != 0xD000));
	}
	pq_sendint32(&out, ndigits);
	pq_sendint32(&out, weight);
	pq_sendint32(&out, sign);
	pq_sendint32(&out, scale);
	for (int i = 0; i < ndigits; i++)
		pq_sendint16(&out, pq_getmsgint(&in, 2));
	return PointerGetDatum(end_numeric_state(&out, scale, 1, 0, 0, 0));
}

Datum
wc_state_of_sum(WcStateKind kind, int64 count, WcSum sum)
{
	Datum		pair[2] = {Int64GetDatum(count), Int64GetDatum((int64) sum)};
	StringInfoData bytes;

	switch (kind)
	{
		case WC_STATE_COUNT_AND_SUM:
			return PointerGetDatum(construct_array(pair, 2, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
		case WC_STATE_NUMERIC:
			pq_begintypsend(&bytes);
			pq_sendint64(&bytes, count);
			append_numeric(&bytes, sum, 0, 0);
			return PointerGetDatum(pq_endtypsend(&bytes));
		default:
			return Int64GetDatum((int64) sum);
	}
}

Datum
wc_state_of_decimals(int64 count, WcSum sum, int scale)
{
	StringInfoData bytes;

	StaticAssertStmt(WC_SUM_SCALE % NUMERIC_BASE_DIGITS == 0, "a sum ends with a digit to this base");
	pq_begintypsend(&bytes);
	pq_sendint64(&bytes, count);
	append_numeric(&bytes, sum, WC_SUM_SCALE / NUMERIC_BASE_DIGITS, scale);
	return PointerGetDatum(end_numeric_state(&bytes, scale, count, 0, 0, 0));
}

Datum
wc_state_of_floats(WcStateKind kind, int64 count, double sum, double squares)
{
	Datum		three[3] = {Float8GetDatum((double) count), Float8GetDatum(0.0 + sum), Float8GetDatum(squares)};

	switch (kind)
	{
		case WC_STATE_SINGLE:
			return Float4GetDatum((float4) sum);
		case WC_STATE_DOUBLES:
			return PointerGetDatum(construct_array(three, 3, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
		default:
			return Float8GetDatum(sum);
	}
}

Datum
wc_state_of_value(WcStateKind kind, Oid type, Datum value)
{
	double		real;

	switch (kind)
	{
		case WC_STATE_VALUE:
			return value;
		case WC_STATE_DECIMAL:
			return numeric_state(value);
		case WC_STATE_DOUBLE:
		case WC_STATE_SINGLE:
		case WC_STATE_DOUBLES:
			real = type == FLOAT4OID ? (double) DatumGetFloat4(value) : DatumGetFloat8(value);
			return wc_state_of_floats(kind, 1, real, isfinite(real) ? 0 : get_float8_nan());
		default:
			return wc_state_of_sum(kind, 1, wc_integer_of(type, value));
	}
}
