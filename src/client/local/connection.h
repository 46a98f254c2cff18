/*
 * client/local/connection.h: this backend's connection to the engine: frames out and
 * frames in.
 *
 * A backend has one connection.  It is made at first use, and lasts to the end of the backend
 * or of the engine.  Sending never stops within a frame; an interrupt that comes then is
 * served after the frame.  Receiving may stop anywhere: the next call finishes a frame that
 * was read in part.
 */
#ifndef WC_CLIENT_LOCAL_CONNECTION_H
#define WC_CLIENT_LOCAL_CONNECTION_H

#include "postgres.h"

#include "wire/message/frame.h"
#include "wire/message/message.h"

/* Is there a connection to an engine that has not stopped? */
extern bool wc_connection_live(void);

/* Connects if there is no live connection.  Waits, interruptibly, for an engine that is
 * starting.  Errors: 55000 without preload, 57P01 when the engine stops, and the reason why
 * the engine could not start. */
extern void wc_connection_open(void);

/* The connection's buffer, emptied, for the payload of the next message. */
extern WcBuf *wc_connection_message(void);

/* When the engine is to read a message, and on which processor. */
typedef enum WcSend
{
	WC_SEND_LAZILY,				/* with the next message that wakes the engine, or within a second */
	WC_SEND_STAY,				/* now, on the processor of the session's thread */
	WC_SEND_NOW,				/* now; the request may take long: on any processor */
	WC_SEND_BRIEF				/* now; the request is as short as reading a few rows: on the backend's processor if all are busy */
} WcSend;

/*
 * Sends the message in the connection's buffer; returns its request id.  Waits for room,
 * and receives answers meanwhile (see wc_connection_set_stray).
 */
extern uint64 wc_connection_send(uint8 type, uint8 flags, WcSend how);

/* The same with a second part of the payload, tail, which is not copied into the buffer. */
extern uint64 wc_connection_send_with(uint8 type, uint8 flags, WcSlice tail, WcSend how);

/* Sends the message in the connection's buffer if the ring has room for it now: false without
 * room or connection.  Never fails, never wakes the engine. */
extern bool wc_connection_try_send(uint8 type, uint8 flags);

/* The same, and wakes the engine; returns the request's id, 0 if nothing was sent. */
extern uint64 wc_connection_post(uint8 type, uint8 flags);

/* A request may be sent soon: wakes the session's thread, if one has been sent since the last call, the thread sleeps and
 * a processor is idle.  Never fails. */
extern void wc_connection_rouse(void);

/* A transaction has committed: has it waited for the disk?  Never fails. */
extern void wc_connection_waited(bool for_disk);

/*
 * The next whole frame (an answer may have several: other frames follow CHANGES), or NULL when the engine has
 * stopped (the connection is then closed: wc_connection_raise_gone reports why).  An interrupt is served; if that
 * raises an error, request id is cancelled.  Valid until the next call of a function of this file; the caller may
 * swap the frame's body for another buffer.
 */
extern WcFrameReader *wc_connection_receive(uint64 id);

/* Tells the engine that no snapshot with this number or a smaller one is needed any more.  The engine
 * reads this when it has time.  False: there is no connection. */
extern bool wc_connection_release_snapshots(uint64 upto);

/* Has the engine finished request id?  Its answer is then in the ring, or has been received. */
extern bool wc_connection_answered(uint64 id);

/* Cancels every request so far that is not answered.  The caller must not need any answer that still
 * comes.  Never fails. */
extern void wc_connection_cancel(void);

/* Cancels request id, the newest, and receives the part of its answer that is on the way.  Not
 * interruptible, but short.  Never fails. */
extern void wc_connection_give_up(uint64 id);

/* Cancels every request so far, tells the engine to forget the transaction, and
 * receives the answers that are on the way.  Not interruptible, but short.  Never fails. */
extern void wc_connection_abandon(void);

/* The generation of the connected engine (wire/shared/flight.h), or a later one if this engine stopped just after it
 * answered HELLO. */
extern uint64 wc_connection_generation(void);

/* Raises an error with the reason why the engine has stopped. */
extern void wc_connection_raise_gone(void) pg_attribute_noreturn();

/* Raises 40001: the transaction needs state that was lost with the engine. */
extern void wc_connection_raise_lost(void) pg_attribute_noreturn();

/* The function that receives whole frames that come while a message is being sent. */
typedef void (*WcStrayFrame) (WcFrameReader *frame);
extern void wc_connection_set_stray(WcStrayFrame stray);

#endif
