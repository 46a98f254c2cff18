/*
 * base/threads.h: starting threads, and mutexes and locks that clang can check (-Wthread-safety).
 *
 * A mutex of core is a WcMutex, a lock for readers and writers a WcRwLock.  They are POSIX's, and so are
 * the functions on them.  The annotations below are read by sh test/threads.sh only:
 *
 *     WC_GUARDED_BY(&mutex)   a field of a struct: only touched with that mutex locked, which is a
 *                             field of the same struct.  clang before 19 cannot check it in C.
 *     WC_REQUIRES(m)          a function that is called with m locked, and returns with m locked
 *     WC_REQUIRES_SHARED(m)   likewise; a lock that is locked for reading will do
 *     WC_ACQUIRES(m)          a function that returns with m locked; WC_RELEASES(m): with m unlocked
 *     WC_UNCHECKED            a function that clang need not understand: no other thread knows the object
 *                             yet, or any more, or only the run tells which mutex is locked
 *
 * Those of functions stand behind the parameters, in the definition too.
 */
#ifndef WC_BASE_THREADS_H
#define WC_BASE_THREADS_H

#include <pthread.h>
#include <stddef.h>
#include <time.h>

#ifdef WC_CHECK_THREADS
#define WC_ANNOTATE(attribute) __attribute__((attribute))
#else
#define WC_ANNOTATE(attribute)
#endif

#ifdef WC_CHECK_FIELDS
#define WC_GUARDED_BY(m)	WC_ANNOTATE(guarded_by(m))
#else
#define WC_GUARDED_BY(m)
#endif

#define WC_REQUIRES(m)			WC_ANNOTATE(requires_capability(m))
#define WC_REQUIRES_SHARED(m)	WC_ANNOTATE(requires_shared_capability(m))
#define WC_ACQUIRES(m)			WC_ANNOTATE(acquire_capability(m))
#define WC_RELEASES(m)			WC_ANNOTATE(release_capability(m))
#define WC_UNCHECKED			WC_ANNOTATE(no_thread_safety_analysis)

typedef pthread_mutex_t WcMutex WC_ANNOTATE(capability("mutex"));
typedef pthread_rwlock_t WcRwLock WC_ANNOTATE(capability("lock"));

#ifdef WC_CHECK_THREADS
extern int	pthread_mutex_lock(WcMutex *m) WC_ACQUIRES(*m);
extern int	pthread_mutex_trylock(WcMutex *m) WC_ANNOTATE(try_acquire_capability(0, *m));
extern int	pthread_mutex_unlock(WcMutex *m) WC_RELEASES(*m);
extern int	pthread_cond_wait(pthread_cond_t *cond, WcMutex *m) WC_REQUIRES(*m);
extern int	pthread_cond_timedwait(pthread_cond_t *cond, WcMutex *m, const struct timespec *until) WC_REQUIRES(*m);
extern int	pthread_rwlock_rdlock(WcRwLock *lock) WC_ANNOTATE(acquire_shared_capability(*lock));
extern int	pthread_rwlock_wrlock(WcRwLock *lock) WC_ACQUIRES(*lock);
extern int	pthread_rwlock_unlock(WcRwLock *lock) WC_ANNOTATE(release_generic_capability(*lock));
#endif

/*
 * Makes a thread that runs fn(arg), with a stack of so many bytes (0: the system's usual size).  It takes no signals, which are
 * the main thread's, and runs wherever the process may, also if its maker has to stay somewhere.  Returns 0 or an errno.
 */
extern int	wc_thread_start(pthread_t *thread, size_t stack_bytes, void *(*fn) (void *arg), void *arg);

#endif
