/*
 * client/foreign/ttl.h: a time to live as an interval of SQL.
 */
#ifndef WC_CLIENT_FOREIGN_TTL_H
#define WC_CLIENT_FOREIGN_TTL_H

#include "postgres.h"

/* In microseconds; a month has 30 days.  22008 if it is out of range, 22023 if it is not above zero. */
extern int64 wc_ttl_of_interval(Datum interval);

/* The interval of so many microseconds, in days and less; palloc'd. */
extern Datum wc_ttl_to_interval(int64 ttl_us);

#endif
