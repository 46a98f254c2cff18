/*
 * base/cpu.h: processors, and on which of them a thread runs.
 *
 * Placement is advice: where the system does not allow it, nothing happens.
 */
#ifndef WC_BASE_CPU_H
#define WC_BASE_CPU_H

#include <pthread.h>
#include <stdint.h>

/* Anywhere, or not known. */
#define WC_CPU_ANY	(-1)

/* Anywhere but on this processor (0 or more). */
#define WC_CPU_BUT(cpu)	(-2 - (cpu))

/*
 * Where this process may run, as a set that wc_cpu_stay can go back to, is found at
 * the first call in the process, which has to come before its threads.  Returns how
 * many processors that are; at least 1.
 */
extern int wc_cpu_count(void);

/* The processor the calling thread runs on at this moment, or WC_CPU_ANY. */
extern int wc_cpu_here(void);

/*
 * From now on the calling thread runs on this processor only; WC_CPU_ANY: wherever the process may; WC_CPU_BUT: there, but
 * not on that one, unless it is the only one.
 */
extern void wc_cpu_stay(int where);

/* A thread that is made with these attributes begins wherever the process may run; without them, where its maker has to stay. */
extern void wc_cpu_let_begin_anywhere(pthread_attr_t *attr);

/* Lets another thread run that waits for this processor; at once back if there is none. */
extern void wc_cpu_give_way(void);

/*
 * From now on the calling thread gets the processor in short slices (Linux 6.12 and later; else nothing happens): it gets no
 * more of the processor's time than before, but gets it sooner after it has been woken or has yielded, while other threads
 * want the processor, too.
 */
extern void wc_cpu_short_slices(void);

#endif
