/*
 * test/t/clock.c: sets the monotonic clock of one process of a server back; for tests, preloaded.
 *
 * The file WIDECOL_CLOCK, which must be there when a process first asks for the time, has two numbers of eight bytes each: the
 * process's id, and the seconds by which it sees the time earlier.  They may change at any time.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "preload.h"

typedef int (*Clock) (clockid_t id, struct timespec *now);

static const _Atomic int64_t *
set_back(void)
{
	static const _Atomic int64_t none[2];
	const char *path = getenv("WIDECOL_CLOCK");
	int			fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void	   *file = MAP_FAILED;

	if (fd >= 0)
	{
		file = mmap(NULL, 2 * sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
	}
	return file == MAP_FAILED ? none : file;
}

int
clock_gettime(clockid_t id, struct timespec *now)
{
	static _Atomic(Clock) real;
	static _Atomic(const _Atomic int64_t *) file;
	int			rc;

	if (atomic_load(&file) == NULL)
	{
		atomic_store(&real, (Clock) dlsym(RTLD_NEXT, "clock_gettime"));
		atomic_store(&file, set_back());
	}
	rc = atomic_load(&real) (id, now);
	if (id == CLOCK_MONOTONIC && atomic_load(&file)[0] == getpid())
		now->tv_sec -= (time_t) atomic_load(&file)[1];
	return rc;
}
