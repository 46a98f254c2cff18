/*
 * read/scan/scanparts.h: the rest of a long scan, read by several threads.
 *
 * A scanner reads the first rows of its range alone.  If there are more, the rest of the range is divided into parts,
 * each with a scanner of its own at the same state; several threads read parts at once, and their blocks are joined in
 * the order of the scan.  All of this happens within wc_scanner_next: between its calls no other thread reads.
 */
#ifndef WC_READ_SCAN_SCANPARTS_H
#define WC_READ_SCAN_SCANPARTS_H

#include "base/threads.h"
#include "read/scan/scannerstate.h"

/* A block of a part that is not joined yet. */
typedef struct WcPartBlock
{
	struct WcPartBlock *next;
	WcBuf		bytes;
} WcPartBlock;

typedef struct WcScanPart
{
	WcRange		range;
	WcScanner  *scanner;		/* NULL: not begun, or finished */
	bool		taken;			/* a thread reads it */
	bool		finished;
	WcPartBlock *first;			/* that are not joined yet */
	WcPartBlock **last;
	size_t		bytes;			/* of these */
} WcScanPart;

struct WcScanParts
{
	WcStorage  *storage;
	WcScanHelpers helpers;
	WcArena		arena;
	WcScan		scan;
	WcReadPoint at;
	uint32_t	nparts;
	WcScanPart *parts;			/* in the order of the scan */

	WcMutex		mutex;
	uint32_t	current WC_GUARDED_BY(&mutex);	/* the first part whose blocks are not all joined */
	size_t		waiting WC_GUARDED_BY(&mutex);	/* bytes of all blocks */
	size_t		wanted WC_GUARDED_BY(&mutex);	/* bytes that end the call, from the current part on without gaps */
	size_t		target WC_GUARDED_BY(&mutex);	/* of a block */
	bool		failed WC_GUARDED_BY(&mutex);
	WcError		err WC_GUARDED_BY(&mutex);
	WcScanStats finished WC_GUARDED_BY(&mutex);	/* of scanners that are closed */
};

/* Divides the rows after the scanner's row, if they are worth it: then s->parts is set. */
extern WcStatus wc_scanparts_begin(WcScanner *s, WcError *err) WC_WARN_UNUSED;

/* Closes their scanners, too (scanopen.c). */
extern void wc_scanparts_free(WcScanParts *parts);

#endif
