/*
 * thrift/thrift.h: constants and types of Apache Thrift's protocols.
 *
 * A WcThriftType has the type's number in the binary protocol.  The compact protocol has
 * other numbers.
 */
#ifndef WC_THRIFT_THRIFT_H
#define WC_THRIFT_THRIFT_H

#include "base/buf.h"
#include "base/limits.h"

typedef enum WcThriftProtocol
{
	WC_THRIFT_BINARY,
	WC_THRIFT_COMPACT
} WcThriftProtocol;

typedef enum WcThriftTransport
{
	WC_THRIFT_BUFFERED,			/* one message behind the other */
	WC_THRIFT_FRAMED			/* each message behind its length, 4 bytes */
} WcThriftTransport;

typedef enum WcThriftType
{
	WC_THRIFT_STOP = 0,
	WC_THRIFT_BOOL = 2,
	WC_THRIFT_BYTE = 3,
	WC_THRIFT_DOUBLE = 4,
	WC_THRIFT_I16 = 6,
	WC_THRIFT_I32 = 8,
	WC_THRIFT_I64 = 10,
	WC_THRIFT_STRING = 11,
	WC_THRIFT_STRUCT = 12,
	WC_THRIFT_MAP = 13,
	WC_THRIFT_SET = 14,
	WC_THRIFT_LIST = 15,
	WC_THRIFT_TYPES = 16
} WcThriftType;

typedef enum WcThriftMessageType
{
	WC_THRIFT_CALL = 1,
	WC_THRIFT_REPLY = 2,
	WC_THRIFT_EXCEPTION = 3
} WcThriftMessageType;

/* First bytes of a message. */
#define WC_THRIFT_BINARY_VERSION 0x80010000u	/* the type in the last byte */
#define WC_THRIFT_COMPACT_ID 0x82
#define WC_THRIFT_COMPACT_VERSION 1

/* Types of the compact protocol. */
#define WC_THRIFT_COMPACT_TRUE 1	/* a field of type bool that is true has no other bytes */
#define WC_THRIFT_COMPACT_FALSE 2
#define WC_THRIFT_COMPACT_TYPES 13

/* The type that has this number in the compact protocol; 0: unknown. */
extern WcThriftType wc_thrift_type_of_compact(uint8_t number);

/* Is this the number of a type that a value may have? */
extern bool wc_thrift_type_is_known(uint8_t type);

#endif
