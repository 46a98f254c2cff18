/*
 * client/connection.h: this backend's connection to the engine: frames out and
 * frames in.
 *
 * One a backend, made at first use, to the end of the backend or of the engine.
 * Sending never stops in the midst of a frame; an interrupt that comes then is
 * served after it.  Receiving may stop anywhere: a frame that was read in part is
 * finished by the next call.
 */
#ifndef WC_CLIENT_CONNECTION_H
#define WC_CLIENT_CONNECTION_H

#include "postgres.h"

#include "wire/frame.h"
#include "wire/message.h"

/* Is there a connection with an engine at its other end? */
extern bool wc_connection_live(void);

/* Makes one if there is none.  Waits, interruptibly, for an engine that is
 * starting.  Errors: 55000 without preload, 57P01 when the engine stops, what
 * kept the engine from starting. */
extern void wc_connection_open(void);

/* The connection's buffer for building a message's payload, emptied. */
extern WcBuf *wc_connection_message(void);

/* When the engine is to look at a message, and on which processor. */
typedef enum WcSend
{
	WC_SEND_LAZILY,				/* with the next one that wakes it, or within a second */
	WC_SEND_STAY,				/* now, wherever the session's thread is */
	WC_SEND_NOW,				/* now; it may take long: on any processor */
	WC_SEND_BRIEF				/* now; it takes no longer than a few rows do: on ours if all are at work */
} WcSend;

/*
 * Sends the message that was built; returns its request id.  Waits for room,
 * taking in answers meanwhile (see wc_connection_stray).
 */
extern uint64 wc_connection_send(uint8 type, uint8 flags, WcSend how);

/* The same with a second part of the payload that is not copied before. */
extern uint64 wc_connection_send_with(uint8 type, uint8 flags, WcSlice tail, WcSend how);

/* Sends the message that was built if there is room for it now: false if there
 * is not, or no connection.  Never fails, never wakes the engine. */
extern bool wc_connection_try_send(uint8 type, uint8 flags);

/* The same, and wakes the engine; the request's id, 0 if there is no room. */
extern uint64 wc_connection_post(uint8 type, uint8 flags);

/* How wc_connection_receive behaves when the backend is interrupted. */
typedef enum WcReceive
{
	WC_RECEIVE_INTERRUPTIBLE,	/* request `id` is cancelled, the interrupt served */
	WC_RECEIVE_FIRMLY			/* waits on */
} WcReceive;

/*
 * The next whole frame (an answer may have several: CHANGES are followed by others), or NULL when the engine is gone (the connection is then
 * closed: wc_connection_raise_gone says why).  Valid until the next call of this
 * file; its body may be swapped for another buffer.
 */
extern WcFrameReader *wc_connection_receive(uint64 id, WcReceive how);

/* No snapshot with this number or a smaller one is needed any more: the engine looks when
 * it has time.  False: there is no connection. */
extern bool wc_connection_release_snapshots(uint64 upto);

/* Has the engine done with request id?  Its answer is then in the ring, or was. */
extern bool wc_connection_answered(uint64 id);

/* Cancels every request so far that is not answered; what answers come nevertheless,
 * nobody may want.  Never fails. */
extern void wc_connection_cancel(void);

/* Cancels request id, the newest, and takes in what is under way of its answer.  Not
 * interruptible, but soon over.  Never fails. */
extern void wc_connection_give_up(uint64 id);

/* Cancels every request so far, tells the engine to forget the transaction, and
 * takes in what is under way.  Not interruptible, but soon over.  Never fails. */
extern void wc_connection_abandon(void);

/* The generation of the engine at the other end (wire/flight.h), or a later one if it was gone
 * already when it answered HELLO. */
extern uint64 wc_connection_generation(void);

/* Reports why the engine is gone. */
extern void wc_connection_raise_gone(void) pg_attribute_noreturn();

/* Reports that the transaction needs what went with the engine (40001). */
extern void wc_connection_raise_lost(void) pg_attribute_noreturn();
extern const char *wc_connection_gone_text(void);

/* Gets whole frames that come while a message is being sent. */
typedef void (*WcStrayFrame) (WcFrameReader *frame);
extern void wc_connection_set_stray(WcStrayFrame stray);

/* Gives the connection up without a word. */
extern void wc_connection_close(void);

#endif
