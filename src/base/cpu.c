/*
 * base/cpu.c: processors.
 */
#include "base/cpu.h"

#include <sched.h>
#include <unistd.h>

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
wc_cpu_stay(int cpu)
{
	cpu_set_t	set;

	if (cpu == WC_CPU_ANY)
		set = allowed;
	else
	{
		if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed))
			return;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
	}
	if (CPU_COUNT(&set) > 0)
		(void) sched_setaffinity(0, sizeof(set), &set);
}
