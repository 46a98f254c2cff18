/*
 * base/cpu.c: processors.
 */
#include "base/cpu.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The shortest that Linux accepts. */
#define SLICE_NS 100000

static cpu_set_t allowed;
static int	count;

int
wc_cpu_count(void)
{
	if (count > 0)
		return count;

	/* More of them than a cpu_set_t can name: they are only counted. */
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		CPU_ZERO(&allowed);
	count = CPU_COUNT(&allowed);
	if (count == 0)
		count = (int) sysconf(_SC_NPROCESSORS_ONLN);
	if (count < 1)
		count = 1;
	return count;
}

int
wc_cpu_here(void)
{
	int			cpu = sched_getcpu();

	return cpu >= 0 ? cpu : WC_CPU_ANY;
}

void
wc_cpu_stay(int where)
{
	cpu_set_t	set = allowed;

	if (where >= 0)
	{
		if (where >= CPU_SETSIZE || !CPU_ISSET(where, &allowed))
			return;
		CPU_ZERO(&set);
		CPU_SET(where, &set);
	}
	else if (where != WC_CPU_ANY && WC_CPU_BUT(where) < CPU_SETSIZE && count > 1)
		CPU_CLR(WC_CPU_BUT(where), &set);
	if (CPU_COUNT(&set) > 0)
		(void) sched_setaffinity(0, sizeof(set), &set);
}

void
wc_cpu_let_begin_anywhere(pthread_attr_t *attr)
{
	if (CPU_COUNT(&allowed) > 0)
		(void) pthread_attr_setaffinity_np(attr, sizeof(allowed), &allowed);
}

void
wc_cpu_give_way(void)
{
	(void) sched_yield();
}

/* The C library of Debian 12 has neither the struct nor the function. */
typedef struct SchedAttr
{
	uint32_t	size;
	uint32_t	policy;
	uint64_t	flags;
	int32_t		nice;
	uint32_t	priority;
	uint64_t	runtime_ns;		/* of SCHED_OTHER: the slice */
	uint64_t	deadline_ns;
	uint64_t	period_ns;
} SchedAttr;

void
wc_cpu_short_slices(void)
{
	SchedAttr	attr = {.size = sizeof(attr),.policy = SCHED_OTHER,.runtime_ns = SLICE_NS};

	attr.nice = getpriority(PRIO_PROCESS, 0);
	(void) syscall(SYS_sched_setattr, 0, &attr, 0);
}
