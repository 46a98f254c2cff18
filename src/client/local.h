/*
 * client/local.h: what local.c and localask.c, which are the driver of the embedded engine,
 * tell each other.  Nobody else includes it.
 */
#ifndef WC_CLIENT_LOCAL_H
#define WC_CLIENT_LOCAL_H

#include "client/connection.h"
#include "client/driver.h"

/* --- local.c ---------------------------------------------------------------*/

/* Sends what was noted to be sent later.  Returns the connection's buffer for the next
 * message's payload, emptied. */
extern WcBuf *wc_local_begin(void);

/* Takes in an answer that was not waited for just now: it is some scan's, or nobody's. */
extern void wc_local_stray(WcFrameReader *frame);

/* The transaction has asked for ids of tables that it makes. */
extern void wc_local_note_ids(void);

/* --- localask.c ------------------------------------------------------------*/

/* The frame that answers request id, whatever it is; valid until the next message. */
extern WcFrameReader *wc_local_await(uint64 id);

/* The payload of an answer, valid as long; an answer that is an error is raised. */
extern WcSlice wc_local_payload(WcFrameReader *frame);

/* Sends what is in the connection's message buffer, and waits for the answer's payload. */
extern WcSlice wc_local_ask(uint8 type, WcSend how);

/* Functions of the driver (client/driver.h). */
extern bool wc_local_describe(WcSlice ns, WcSlice name, WcSlice *desc);
extern void wc_local_list_tables(bool all_databases, WcSlice *list);
extern void wc_local_list_namespaces(WcSlice *list);
extern uint32 wc_local_new_table_id(void);
extern void wc_local_work(WcClientWork work, uint32 table_id, uint32 family, bool wait, CommandId cid,
						  int64 clock_offset_us);
extern void wc_local_check_store(uint32 table_id, WcSlice *problems);
extern void wc_local_compacting(uint32 table_id, bool *minor, bool *major);
extern void wc_local_estimate(uint32 table_id, const WcRange *range, const uint32 *families, uint32 nfamilies,
							  uint64 *bytes, uint64 *rows);
extern void wc_local_split(uint32 table_id, const WcRange *range, const uint32 *families, uint32 nfamilies,
						   uint32 nparts, WcSlice *points);
extern void wc_local_sample(uint32 table_id, const WcRange *range, uint32 nranges, uint64 range_rows, uint64 seed,
							WcSlice *ranges);
extern void wc_local_statistics(uint8 view, WcSlice *rows);

#endif
