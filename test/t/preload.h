/*
 * test/t/preload.h: common parts of the libraries that tests preload into a server (addresses.c, clock.c, disk.c, fault.c).
 */
#ifndef WC_TEST_PRELOAD_H
#define WC_TEST_PRELOAD_H

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

/* The function that the library replaces. */
#define REAL(type, name, ...) ((type (*) (__VA_ARGS__)) dlsym(RTLD_NEXT, #name))

typedef int (*OpenFunction) (const char *path, int flags,...);

/* open or open64: calls open_with with the real function and the mode, which is 0 if the call has none. */
#define DEFINE_OPEN(name, open_with) \
	int \
	name(const char *path, int flags,...) \
	{ \
		va_list		args; \
		mode_t		mode; \
		\
		va_start(args, flags); \
		mode = flags & O_CREAT ? va_arg(args, mode_t) : 0; \
		va_end(args); \
		return open_with(REAL(int, name, const char *, int,...), path, flags, mode); \
	}

#endif
