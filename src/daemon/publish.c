/*
 * What those who follow events, and notifications, see of a row: nothing that is
 * its user's own.
 */
#include <jansson.h>
#include <string.h>

#include "base/members.h"
#include "daemon/daemon_state.h"

static void put_job(const struct row *row, struct json *j)
{
	if (!row->state)
		return;
	json_str(j, "state", row->state);
	json_str(j, "name", row->name);
	json_str(j, "tenant", row->tenant);
	json_str(j, "user", row->user);
}

static void put_end(const struct row *row, struct json *j)
{
	if (row->code >= 0)
		json_int(j, "exit_code", row->code);
	if (row->signal > 0)
		json_int(j, "signal_number", row->signal);
	if (row->end_text)
		json_str(j, "reason", row->end_text);
}

/* Of the bodies of these kinds what everybody may know; others have words of the submission. */
static void put_body(const struct record_event *event, struct json *j)
{
	bool stop = !strcmp(event->kind, note_name(NOTE_STOP)),
	     devices = !strcmp(event->kind, "devices");
	json_t *body = stop || devices ? json_loads(event->body, 0, NULL) : NULL;

	if (stop)
		json_str(j, "why", member_text(body, "why"));
	if (devices) {
		json_int(j, "node", member_int(body, "node", 0));
		json_int(j, "devices", member_int(body, "devices", 0));
		json_bool(j, "up", member_bool(body, "up", false));
	}
	json_decref(body);
}

/* Of some rows the body says what people want to know. */
static void put_about(const struct row *row, struct json *j)
{
	static const char *const kinds[] = { "drained", "resumed", "idle_warned", "reclaim", "clock" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(row->event.kind, kinds[i]))
			json_raw(j, "about", row->event.body, strlen(row->event.body));
	}
}

void daemon_publish(struct daemon *d, const struct row *row)
{
	struct buf *text = &d->row_text;
	struct json j;

	buf_clear(text);
	json_init(&j, text, false);
	json_begin_object(&j, NULL);
	json_int(&j, "seq", (int64_t)row->event.seq);
	json_double(&j, "at", daemon_wall_s(d, row->event.at_s));
	json_str(&j, "kind", row->event.kind);
	if (row->event.job)
		json_int(&j, "job", row->event.job);
	if (row->event.attempt)
		json_int(&j, "attempt", row->event.attempt);
	put_job(row, &j);
	put_body(&row->event, &j);
	if (row->has_end && !strcmp(row->event.kind, note_name(NOTE_END)))
		put_end(row, &j);
	put_about(row, &j);
	json_end(&j, '}');
	stream_push(d->stream, row->event.seq, row->event.kind, text->at);
}
