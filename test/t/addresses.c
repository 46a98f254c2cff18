/*
 * test/t/addresses.c: a host that has several addresses; for tests, preloaded.
 *
 * WIDECOL_ADDRESSES has the addresses of the host "several.test", in the order in which they are to be tried.
 */
#define _GNU_SOURCE
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload.h"

int
getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
	const char *next = getenv("WIDECOL_ADDRESSES");
	char		address[64];
	int			len;

	if (node == NULL || strcmp(node, "several.test") != 0 || next == NULL)
		return REAL(int, getaddrinfo, const char *, const char *, const struct addrinfo *, struct addrinfo **) (node, service, hints, found);
	*found = NULL;
	for (; sscanf(next, "%63s%n", address, &len) == 1; next += len)
	{
		int			failure = REAL(int, getaddrinfo, const char *, const char *, const struct addrinfo *, struct addrinfo **)
			(address, service, hints, found);

		if (failure != 0)
			return failure;
		while (*found != NULL)
			found = &(*found)->ai_next;
	}
	return 0;
}
