/*
 * test/unit/rowsite.c: see rowsite.h.
 */
#include "rowsite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/message/segment.h"

WcSlice
site_answer(Site *site, int session, uint8_t type, uint8_t *answer)
{
	WcDispatch *d = &site->sessions[session];
	WcFrameReader *request = &site->requests[session];
	WcFrameHeader header;

	request->header = (WcFrameHeader) {.length = (uint32_t) request->body.len,.type = type};
	if (!wc_dispatch(d, request, false))
	{
		*answer = 0;
		return wc_slice(NULL, 0);
	}
	assert_true(d->out.len >= WC_FRAME_HEADER);
	memcpy(&header, d->out.data, sizeof(header));
	*answer = header.type;
	return wc_slice(d->out.data + WC_FRAME_HEADER, header.length);
}

WcBuf *
site_message(Site *site, int session)
{
	wc_buf_reset(&site->requests[session].body, SIZE_MAX);
	return &site->requests[session].body;
}

WcSlice
site_ask(Site *site, int session, uint8_t type)
{
	uint8_t		answer;
	WcSlice		payload = site_answer(site, session, type, &answer);

	if (answer == WC_MSG_ERROR)
	{
		wc_message_error_decode(payload, &site->kit.err);
		fail_msg("%s", site->kit.err.message);
	}
	return payload;
}

uint64_t
site_ask_number(Site *site, int session, uint8_t type, uint64_t number)
{
	uint64_t	result = 0;
	WcSlice		payload;

	wc_message_numbers_encode(site_message(site, session), &number, 1);
	payload = site_ask(site, session, type);
	if (payload.len > 0)
		assert_ok(&site->kit, wc_message_numbers_decode(payload, &result, 1, &site->kit.err));
	return result;
}

void
site_write_ops(Site *site, int session, WcSlice ops)
{
	WcBatchMessage m = {.bytes_max = 1 << 30,.at = site->lengths[session]};
	uint8_t		answer;

	wc_message_batch_encode(site_message(site, session), &m);
	wc_buf_append_slice(&site->requests[session].body, ops);
	(void) site_answer(site, session, WC_MSG_BATCH, &answer);
	site->batches[session].len = site->lengths[session];
	wc_buf_append_slice(&site->batches[session], ops);
	site->lengths[session] += ops.len;
}

void
site_write(Site *site, int session)
{
	site_write_ops(site, session, wc_buf_slice(&site->kit.ops));
	wc_buf_reset(&site->kit.ops, SIZE_MAX);
	wc_batch_init(&site->kit.builder, &site->kit.ops);
}

void
site_put(Site *site, const char *row, const char *value)
{
	kit_put(&site->kit, row, 1, "q", KIT_LATEST, value);
}

void
site_end(Site *site, int session)
{
	(void) site_message(site, session);
	(void) site_ask(site, session, WC_MSG_ABORT);
	site->lengths[session] = 0;
}

bool
site_try_commit(Site *site, int session, uint64_t snapshot, uint64_t *holder, WcError *err)
{
	WcCommitMessage m = {.xid = (uint64_t) session + 1,.length = site->lengths[session],.snapshot = snapshot};
	WcBuf	   *batch = &site->batches[session];
	uint8_t		answer;
	WcSlice		payload;

	wc_message_commit_encode(site_message(site, session), &m);
	payload = site_answer(site, session, WC_MSG_PRECOMMIT, &answer);
	if (answer == WC_MSG_ERROR)
	{
		wc_message_error_decode(payload, err);
		return false;
	}
	if (wc_message_numbers_decode(payload, holder, 1, err) != WC_OK)
		return false;
	if (*holder != 0)
		return true;
	batch->len = site->lengths[session];
	site->lengths[session] = 0;
	return kitlog_commit(&site->log, m.xid, wc_buf_slice(batch), err);
}

uint64_t
site_commit_since(Site *site, int session, uint64_t snapshot)
{
	uint64_t	holder;

	if (!site_try_commit(site, session, snapshot, &holder, &site->kit.err))
		fail_msg("%s", site->kit.err.message);
	return holder;
}

uint64_t
site_commit(Site *site, int session)
{
	return site_commit_since(site, session, 0);
}

int
site_set_up(void **state)
{
	Site	   *site = calloc(1, sizeof(*site));

	assert_non_null(site);
	kit_open(&site->kit);
	site->getcache = kit_getcache(1 << 16, SESSIONS);
	kitlog_open(&site->log, &site->kit);
	site->locktable = wc_locktable_create(site->log.options.claims, site->log.options.flight);
	assert_ok(&site->kit, wc_epochs_create(site->kit.engine, site->getcache, &site->epochs, &site->kit.err));
	assert_ok(&site->kit, wc_intake_create(site->kit.engine, site->locktable, &site->log.options, &site->intake, &site->kit.err));
	assert_ok(&site->kit, wc_applier_start(&(WcApplierOptions)
	{
		.engine = site->kit.engine,.epochs = site->epochs,
		.catalog_generation = &site->generation,.writes = &site->writes,.applied = wc_intake_applied(site->intake)
	}, &site->applier, &site->kit.err));
	wc_intake_begin(site->intake, site->applier);
	site->log.intake = site->intake;
	site->log.applier = site->applier;
	for (int i = 0; i < SESSIONS; i++)
	{
		WcHelloMessage hello = {WC_PROTOCOL_VERSION, KIT_DATABASE};

		assert_ok(&site->kit, wc_dispatch_init(&site->sessions[i], site->kit.engine, site->intake, site->epochs,
											   site->locktable, &site->cancel, &site->kit.err));
		wc_frame_reader_init(&site->requests[i]);
		wc_message_hello_encode(site_message(site, i), &hello);
		(void) site_ask(site, i, WC_MSG_HELLO);
	}
	kit_create(&site->kit, "t", WC_PACKING_ROW, 3);
	site_put(site, "a", "1");
	site_put(site, "b", "1");
	site_put(site, "c", "1");
	site_write(site, 0);
	assert_int_equal(site_commit(site, 0), 0);
	*state = site;
	return 0;
}

int
site_tear_down(void **state)
{
	Site	   *site = *state;

	for (int i = 0; i < SESSIONS; i++)
	{
		wc_dispatch_free(&site->sessions[i]);
		wc_frame_reader_free(&site->requests[i]);
		wc_buf_free(&site->batches[i]);
	}
	wc_applier_stop(site->applier);
	wc_intake_free(site->intake);
	wc_epochs_free(site->epochs);
	wc_locktable_free(site->locktable);
	kitlog_close(&site->log);
	kit_close(&site->kit);
	free(site->getcache);
	free(site);
	return 0;
}

const char *
site_lock_with(Site *site, int session, WcLockMessage *m, const char *letters)
{
	static char text[1024];
	WcSlice		rows[256];
	WcLockResult r;
	size_t		n = 0;

	m->table_id = site->kit.table;
	m->owner = m->xid = (uint64_t) session + 1;
	if (m->subid == 0)
		m->subid = 1;
	if (m->mode == 0)
		m->mode = WC_LOCK_EXCLUSIVE;
	m->nrows = (uint32_t) strlen(letters);
	m->rows = rows;
	for (uint32_t i = 0; i < m->nrows; i++)
		rows[i] = wc_slice(letters + i, 1);
	wc_message_lock_encode(site_message(site, session), m);
	assert_ok(&site->kit, wc_message_locked_decode(site_ask(site, session, WC_MSG_LOCK), m, &r, &site->kit.err));
	text[0] = '\0';
	for (uint32_t i = 0; i < r.nlocked; i++)
		n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%c%s%s%s", i > 0 ? " " : "", letters[i],
							   r.rows[i] & WC_LOCKED_CHANGED ? "!" : "", r.rows[i] & WC_LOCKED_EXISTS ? "+" : "",
							   r.rows[i] & WC_LOCKED_REWRITTEN ? "*" : r.rows[i] & WC_LOCKED_GONE ? "-" : "");
	if (r.holder != 0)
		snprintf(text + n, sizeof(text) - n, " | %d%s", (int) r.holder, r.has_weaker ? " weaker" : "");
	return text;
}

uint64_t
site_locks_of(Site *site, int session)
{
	WcLockOwner *owner = wc_lock_enter(site->locktable, (uint64_t) session + 1);
	uint64_t	n = owner->nlocks;

	wc_lock_leave(site->locktable, owner);
	return n;
}

const char *
site_lock(Site *site, int session, const char *letters)
{
	WcLockMessage m = {0};

	return site_lock_with(site, session, &m, letters);
}

const char *
site_lock_since(Site *site, int session, uint64_t snapshot, const char *letters)
{
	WcLockMessage m = {.snapshot = snapshot};

	return site_lock_with(site, session, &m, letters);
}
