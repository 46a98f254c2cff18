/*
 * filterlang/parser.h: the state of a parse, for the files of the parser: parse.c (the grammar), argument.c (the
 * meaning of a filter's arguments) and parseerror.c (errors, with their place in the text).
 */
#ifndef WC_FILTERLANG_PARSER_H
#define WC_FILTERLANG_PARSER_H

#include "filterlang/filterlang.h"

typedef struct WcParser
{
	WcSlice		text;
	size_t		at;				/* the next byte */
	uint32_t	nodes;
	uint32_t	arguments;		/* of all filters */
	WcArena    *arena;
	WcError    *err;
} WcParser;

typedef struct WcArgument
{
	bool		quoted;
	WcSlice		text;
	size_t		at;
} WcArgument;

typedef struct WcArguments
{
	uint32_t	n;
	WcArgument *items;
	size_t		at;				/* of the filter's name */
} WcArguments;

/* The position of the byte `at` in characters, from 1. */
extern size_t wc_parse_position(const WcParser *p, size_t at);

/* WC_INVALID; the message names the position of the byte `at`. */
extern WcStatus wc_parse_fail(WcParser *p, size_t at, const char *what);
extern WcStatus wc_parse_no_memory(WcParser *p);

/* Sets the node's fields to the values of the arguments, whose number fits the node's kind. */
extern WcStatus wc_parse_understand(WcParser *p, const WcArguments *args, WcLangNode *node) WC_WARN_UNUSED;

#endif
