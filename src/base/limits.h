/*
 * base/limits.h: limits, in one place.
 *
 * doc/reference/limits.md lists the limits that a user can meet.  An error that a limit causes names two numbers: the
 * limit, and the number that is too large.  Units are bytes unless the name says otherwise.
 */
#ifndef WC_BASE_LIMITS_H
#define WC_BASE_LIMITS_H

#define WC_ROW_MAX				(32 * 1024)			/* row key */
#define WC_QUALIFIER_MAX		(64 * 1024 - 1)		/* column qualifier */
#define WC_VALUE_MAX			(256 * 1024 * 1024)	/* value of one cell */
#define WC_PACKED_ROW_MAX		(768 * 1024 * 1024)	/* one row of one family, packing "row" */
#define WC_ROW_TOGETHER_MAX		(32 * 1024)			/* packing "cell": one row of one family as one key-value */
#define WC_NAME_MAX				200					/* a namespace, table or family name */
#define WC_NAMESPACE_PROPERTIES_MAX (64 * 1024)		/* properties of one namespace, as JSON */
#define WC_FAMILIES_MAX			256					/* families of one table */
#define WC_SPLITS_MAX			10000				/* split points of one table */
#define WC_SALT_BUCKETS_MAX		256					/* buckets of a salted key: the salt is a byte */
#define WC_RANGES_MAX			65536				/* row ranges of one scan */
#define WC_KEY_RANGES_MAX		10000				/* row ranges that conditions on key parts become; beyond, rows are filtered */
#define WC_KEY_ARMS_MAX			1000				/* alternatives that an AND inside of an OR is taken apart into; beyond, rows are filtered */
#define WC_LOOKUP_KEYS_MAX		512					/* outer rows of a nested loop whose keys are looked up at once */
#define WC_COLUMNS_MAX			65536				/* columns named in one scan */
#define WC_FILTER_NODES_MAX		1000				/* conditions, ANDs, ORs ... of a scan's filter; beyond, backends filter */
#define WC_FILTER_DEPTH_MAX		32					/* how deep they are nested */
#define WC_FILTER_VALUES_MAX	10000				/* values they compare with */
#define WC_FILTER_BYTES_MAX		(1024 * 1024)		/* and the bytes of these; of a filter in HBase's language: of its text */
#define WC_FILTER_ROW_MAX		(256 * 1024 * 1024)	/* cells of one row, and what describes them, that a filter, which decides on whole rows, keeps until it decides */
#define WC_REGEX_STEPS_MAX		100000000		/* of one search for a regular expression */
#define WC_REGEX_BYTE_STEPS		10				/* and more for each byte that is searched */
#define WC_REGEX_MEMORY_MAX		(20 * 1024)			/* and its memory, in KiB */
#define WC_AGGREGATES_MAX		1000				/* aggregates of a scan, and columns it groups by; beyond, backends do it */
#define WC_SUM_DIGITS_MAX		18					/* of a number that is written in digits and added up in the engine */
#define WC_SUM_WHOLE_MAX		16					/* of a number with digits behind the point: before it, */
#define WC_SUM_SCALE			20					/* and behind it; the sum has so many */
#define WC_GROUPS_BYTES_MAX		(1024 * 1024)		/* groups that a scan has at once; then it sends them and begins anew */
#define WC_SCANNERS_MAX			65536				/* open scanners of one session */
#define WC_SCANS_AHEAD_MAX		64					/* a session opens at most so many scans before their rows are wanted */
#define WC_VERSIONS_MAX			2147483647			/* HBase's Integer.MAX_VALUE: "all" */

/* Locks of rows.  No number of rows is too large for a transaction: from
 * WC_ROW_LOCKS_TABLE rows of a table on it locks the whole table instead, when no other
 * transaction has locks there; with all the locks that it may have it waits for those. */
#define WC_ROW_LOCKS_TABLE		65536				/* rows of one table */
#define WC_ROW_LOCKS_MAX		1000000				/* rows one transaction has locked one by one */
#define WC_ROW_LOCK_BYTES_MAX	(256 * 1024 * 1024)	/* and the bytes of their row keys */
#define WC_LOCK_BATCH			4096				/* rows locked with one request */

/* Queued flushes and compactions, for which no session waits. */
#define WC_WORKS_MAX			1000

/* IMPORT with layout row reads so many rows to find columns that are no text, and makes at most so many columns. */
#define WC_IMPORT_ROWS			1000
#define WC_IMPORT_COLUMNS		100

/* widecol.check_store returns at most so many problems of one family; it counts the others. */
#define WC_PROBLEMS_MAX			100

/* widecol.upkeep: families with fewer key-values that could go are let be. */
#define WC_UPKEEP_DEAD_MIN		1000

/* widecol.warn_full_scan: tables of fewer rows, or of which more than this part is
 * wanted, are read in full without a word. */
#define WC_WARN_ROWS_MIN		10000
#define WC_WARN_FRACTION_MAX	0.1

/* Of a moment that is given once (client/client.h): 65,536 ids a second. */
#define WC_MOMENT_BITS			16

/* A message between backend and engine; one cell plus room for its headers. */
#define WC_MESSAGE_MAX			(WC_VALUE_MAX + 4 * 1024 * 1024)

/* All that one statement does to one row: it travels in one message. */
#define WC_OPERATION_MAX		(WC_VALUE_MAX + 2 * 1024 * 1024)

/* Parts of a parallel scan; and the bytes of the row keys between the parts: with long keys there are fewer parts. */
#define WC_PARTS_MAX			1024
#define WC_PART_POINTS_BYTES	(64 * 1024)

/* Cell blocks: the first answer of a scan, what later ones grow to, and the first answer of a scan with a limit, whose rows
 * are all wanted: it fits into the ring of answers. */
#define WC_BLOCK_FIRST			(4 * 1024)
#define WC_BLOCK_MAX			(64 * 1024)
#define WC_BLOCK_LIMITED		(112 * 1024)

/* The scan cache (engine/store/scancache.h): it takes at most this part of the block cache's memory, one half; a chunk
 * stays for so long after a scan has last read it. */
#define WC_SCAN_MEMORY_PART		2
#define WC_SCAN_CHUNK_IDLE_US	(INT64_C(60) * 1000 * 1000)
#define WC_SCAN_SMALL_CHUNKS	65536	/* small chunks are added to a store that has fewer chunks */

/* Chunks in which a transaction's batch travels (one larger op travels alone). */
#define WC_UNCHECKED_BYTES_MAX	(16 * 1024 * 1024)	/* a transaction with more bytes of changes is always checked before it commits */
#define WC_BATCH_CHUNK			(256 * 1024)

/* Bytes of one transaction's operations that the engine keeps in memory; further operations are in files. */
#define WC_TXN_MEMORY			(8 * 1024 * 1024)

/* Bytes that open transactions have logged: with so many in memory they are written into the store, in pieces of at most
 * the other limit. */
#define WC_PENDING_MEMORY		(16 * 1024 * 1024)
#define WC_PENDING_PIECE		(1024 * 1024)

/* Records of PostgreSQL's log: a BATCH has at most WC_BATCH_CHUNK bytes of its transaction,
 * wherever its operations begin and end; a STEP this many. */
#define WC_STEP_MAX				(1024 * 1024)

/* Places of transactions whose log may be ahead of the store, prepared transactions included.  A transaction that finds no
 * free place waits. */
#define WC_FLIGHT_MAX			65535

/* Chunks in which the operations that the engine makes go to the backend: each has room in
 * a session's ring, so that the next is made while the backend takes it in. */
#define WC_CHANGES_CHUNK		(112 * 1024)

/* A cancel flag is checked once in so many cells. */
#define WC_CANCEL_CELLS			1024
#define WC_CANCEL_LOOK_US		50000

/* Of an answer of HBase's gateway: rows that may be asked for, and bytes. */
#define WC_HBASE_ROWS_MAX		100000
#define WC_HBASE_ANSWER_MAX		(256 * 1024 * 1024)

/* Over HTTP, bytes of an answer's headers, and of a page in its place. */
#define WC_HBASE_HTTP_PAGE_MAX	(1024 * 1024)

/* Connections of a session with HBase's gateway. */
#define WC_HBASE_CONNECTIONS_MAX 16

/* Bytes of a row key in HBase. */
#define WC_HBASE_KEY_MAX		32767

/* Of a change of a row in HBase: bytes of its key (HBase locates a region by the key and the table's name
 * together, in 32 kB), and of a cell (HBase's hbase.client.keyvalue.maxsize): its value, row key, family and
 * qualifier, and 24 bytes. */
#define WC_HBASE_ROW_MAX		32000
#define WC_HBASE_CELL_MAX		(10 * 1024 * 1024)
#define WC_HBASE_CELL_OVERHEAD	24

/* Calls that change rows have at most so many rows, and about so many bytes unless one row has more: with
 * transport framed the gateway refuses 2 MB. */
#define WC_HBASE_SEND_ROWS		1000
#define WC_HBASE_SEND_BYTES		(1024 * 1024)

/* Values in values that a Thrift message may have. */
#define WC_THRIFT_DEPTH_MAX		24

#define WC_USEC_PER_SEC			INT64_C(1000000)

#endif
