/*
 * channel/servertext.h: core's texts, in the database's encoding.
 */
#ifndef WC_CHANNEL_SERVERTEXT_H
#define WC_CHANNEL_SERVERTEXT_H

/*
 * Core writes messages in UTF-8, and may quote names, and paths of any bytes.  Returns the text in the database's encoding: the same
 * pointer, or palloc'd.  Where it has no equivalent there, or is no UTF-8, each byte that is not ASCII is written as \xHH: the
 * error that the text tells is not replaced by another one.  Backends only.
 */
extern const char *wc_server_text(const char *text);

#endif
