/*
 * Rows into events for people.
 */
#include "daemon/history.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/members.h"
#include "base/vec.h"

/* What a kind of row is, for people.  Kinds that are not here are left out. */
struct kind {
	const char *name;
	const char *who; /* NULL: the user that the row names */
	const char *text;
};

static const struct kind kinds[] = {
	{ "submit", NULL, "submitted" },
	{ "hold", NULL, "held" },
	{ "release", NULL, "let go" },
	{ "requeue", NULL, "asked to run again" },
	{ "cancel", NULL, "cancelled" },
	{ "update", NULL, "changed" },
	{ "start", "policy", "given devices" },
	{ "resize", "policy", "given another size" },
	{ "renew", "policy", "given other CPUs and memory" },
	{ "stop", "policy", "asked to stop" },
	{ "begun", "machine", "its command runs" },
	{ "progress", "job", "reported progress" },
	{ "checkpointed", "job", "saved what it did" },
	{ "resized", "job", "took its new size" },
	{ "idle_warned", "machine", "warned of" },
	{ "active", "machine", "does something again" },
	{ "reclaim", "machine", "its devices are taken back" },
	{ "adopted", NULL, "taken over with the devices it runs on" },
	{ "exit", "machine", "its command ended" },
	{ "end", "machine", "ended" },
};

/* The rules of an epoch, which decide until the next one. */
struct rules {
	uint64_t seq; /* of the epoch's row; 0: not known */
	double at_s;
	char *text; /* policy with its options */
	json_t *inputs;
	char *why;
};

/* Reports in a row, not written yet. */
struct reports {
	char kind[16];
	uint32_t n, attempt;
	uint64_t seq;
	double at_s, since_s;
	double first_step, last_step;
};

struct history {
	struct record *record;
	struct json *j;
	const struct wallclock *wall;
	uid_t reader;
	VEC(struct rules) rules; /* in order */
	size_t next_rules;       /* not told yet */
	struct reports reports;
	uint64_t first_seq, last_seq;
	uint32_t rows;
	char user[64];
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	return NULL;
}

/* ---- rules */

static int see_rules(void *ctx, const struct record_event *event)
{
	struct history *h = ctx;
	json_t *body = json_loads(event->body, 0, NULL);
	const char *policy = member_text(body, "policy"), *why = member_text(body, "why");
	struct rules rules = {
		.seq = event->seq,
		.at_s = event->at_s,
		.text = mem_strdup(policy ? policy : "?"),
		.why = mem_strdup(why ? why : "start"),
		.inputs = json_object(),
	};
	static const char *const told[] = { "why", "policy", "placer", "admit", "seed" };

	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
		if (json_object_get(body, told[i]))
			json_object_set(rules.inputs, told[i], json_object_get(body, told[i]));
	}
	json_decref(body);
	vec_push(&h->rules, rules);
	return 0;
}

static int by_seq(const void *a, const void *b)
{
	const struct rules *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Those that decided while the job lived: from its end backwards, until before its submission. */
static void find_rules(struct history *h)
{
	struct err ignored = { 0 };
	uint64_t seq = h->last_seq;

	while (record_last_of_kind(h->record, "epoch", seq, see_rules, h, &ignored) == 0) {
		uint64_t found = h->rules.at[h->rules.n - 1].seq;

		if (found <= h->first_seq)
			break;
		seq = found - 1;
	}
	if (h->rules.n)
		qsort(h->rules.at, h->rules.n, sizeof(*h->rules.at), by_seq);
	h->next_rules = h->rules.n && h->rules.at[0].seq <= h->first_seq ? 1 : 0;
}

static const char *rule_at(const struct history *h, uint64_t seq)
{
	const char *text = NULL;

	for (size_t i = 0; i < h->rules.n && h->rules.at[i].seq <= seq; i++)
		text = h->rules.at[i].text;
	return text;
}

/* ---- events */

struct line {
	uint64_t seq;
	double at_s;
	uint32_t attempt;
	const char *kind, *who, *rule, *text;
	const json_t *inputs; /* NULL: none */
};

static void put_line(struct history *h, const struct line *line)
{
	char *inputs = line->inputs ? json_dumps(line->inputs, JSON_COMPACT) : NULL;

	json_begin_object(h->j, NULL);
	json_int(h->j, "seq", (int64_t)line->seq);
	json_double(h->j, "at", wallclock_s(h->wall, line->at_s));
	json_str(h->j, "kind", line->kind);
	json_str(h->j, "who", line->who);
	json_str(h->j, "rule", line->rule);
	json_str(h->j, "text", line->text);
	if (line->attempt)
		json_int(h->j, "attempt", line->attempt);
	json_raw(h->j, "inputs", inputs ? inputs : "{}", inputs ? strlen(inputs) : 2);
	json_end(h->j, '}');
	free(inputs);
}

static void put_reports(struct history *h)
{
	struct reports *r = &h->reports;
	struct buf text = { 0 };
	json_t *inputs = json_object();

	if (r->n) {
		json_object_set_new(inputs, "reports", json_integer(r->n));
		json_object_set_new(inputs, "since", json_real(wallclock_s(h->wall, r->since_s)));
		if (!isnan(r->last_step)) {
			json_object_set_new(inputs, "first_step", json_real(r->first_step));
			json_object_set_new(inputs, "last_step", json_real(r->last_step));
		}
		buf_str(&text, find_kind(r->kind)->text);
		if (!isnan(r->last_step))
			buf_printf(&text, ", step %.0f", r->last_step);
		if (r->n > 1)
			buf_printf(&text, " (%u times)", r->n);
		put_line(h,
			&(struct line){ r->seq, r->at_s, r->attempt, r->kind, "job", NULL, text.at,
				inputs });
	}
	*r = (struct reports){ 0 };
	json_decref(inputs);
	buf_fini(&text);
}

static void add_report(struct history *h, const struct record_event *event, const json_t *body)
{
	struct reports *r = &h->reports;

	if (strcmp(r->kind, event->kind) != 0 || r->attempt != event->attempt)
		put_reports(h);
	if (!r->n++) {
		snprintf(r->kind, sizeof(r->kind), "%s", event->kind);
		r->attempt = event->attempt;
		r->since_s = event->at_s;
		r->first_step = member_number(body, "step", NAN);
	}
	r->seq = event->seq;
	r->at_s = event->at_s;
	r->last_step = member_number(body, "step", NAN);
}

/* Rules that came before this row. */
static void put_rules(struct history *h, uint64_t before_seq)
{
	for (; h->next_rules < h->rules.n && h->rules.at[h->next_rules].seq < before_seq;
		h->next_rules++) {
		const struct rules *r = &h->rules.at[h->next_rules];
		bool started = !strcmp(r->why, "start");
		struct buf text = { 0 };

		put_reports(h);
		buf_printf(&text,
			started ? "the daemon was started with %s" : "decided by %s from now on",
			r->text);
		put_line(h,
			&(struct line){ r->seq, r->at_s, 0, "rules", started ? "machine" : "user",
				r->text, text.at, r->inputs });
		buf_fini(&text);
	}
}

/* Who asked for the attempt's end, and what it is called. */
static void tell_stop(const json_t *body, struct line *line, struct buf *text)
{
	const char *why = member_text(body, "why"), *said = member_text(body, "text");

	if (!why)
		return;
	if (!strcmp(why, "preempt") || !strcmp(why, "move")) {
		line->kind = !strcmp(why, "move") ? "move" : "preempt";
		if (said)
			buf_printf(text, ": %s", said);
		else
			buf_str(text,
				!strcmp(why, "move") ? ", to go on elsewhere" : ", others run instead");
		return;
	}
	line->who = !strcmp(why, "lost") || !strcmp(why, "idle") ? "machine" : "user";
	line->rule = why;
	buf_printf(text, ": %s", why);
}

static void tell_grant(const json_t *body, struct buf *text)
{
	const json_t *grant = json_object_get(body, "grant");
	const char *type = member_text(grant, "type");

	if (grant)
		buf_printf(text, ": %.0f %s", member_number(grant, "gpus", 0), type ? type : "?");
}

static void tell_exit(const json_t *body, struct buf *text)
{
	double code = member_number(body, "code", -1), number = member_number(body, "signal", 0);

	if (number > 0)
		buf_printf(text, ", by signal %.0f", number);
	else if (code >= 0)
		buf_printf(text, ", exit code %.0f", code);
	if (member_bool(body, "over_memory", false) && member_text(body, "text"))
		buf_printf(text, ": %s", member_text(body, "text"));
}

static void tell_end(const struct record_event *event, struct buf *text)
{
	json_t *after = event->job_after ? json_loads(event->job_after, 0, NULL) : NULL;
	const char *state = member_text(after, "state"), *words = member_text(after, "end_text");

	if (state)
		buf_printf(text, ": %s", state);
	if (words)
		buf_printf(text, ", %s", words);
	json_decref(after);
}

static void tell_user(struct history *h, const json_t *body, struct line *line, struct buf *text)
{
	const char *name = member_text(json_object_get(body, "job"), "user");
	const char *reason = member_text(body, "reason");
	double by = member_number(body, "by", NAN);

	if (name)
		snprintf(h->user, sizeof(h->user), "user %s", name);
	else if (!isnan(by))
		snprintf(h->user, sizeof(h->user), "uid %.0f", by);
	else
		snprintf(h->user, sizeof(h->user), "user");
	line->who = h->user;
	line->rule = line->kind;
	if (reason)
		buf_printf(text, ": %s", reason);
}

/* What was asked for, without the words of the command. */
static json_t *inputs_of(const struct history *h, const json_t *body)
{
	json_t *job = json_object_get(body, "job");

	if (!job)
		return body ? json_copy((json_t *)body) : json_object();
	job = json_copy(job);
	if (h->reader != HISTORY_ADMIN && member_int(job, "uid", -1) != (int64_t)h->reader) {
		json_object_del(job, "key");
		json_object_del(job, "comment");
	}
	return job;
}

static void tell(struct history *h, const struct kind *kind, const struct record_event *event,
	const json_t *body)
{
	struct line line = {
		.seq = event->seq,
		.at_s = event->at_s,
		.attempt = event->attempt,
		.kind = kind->name,
		.who = kind->who,
	};
	const char *rule = member_text(body, "rule"); /* that keeps promises, whatever the policy thinks */
	json_t *inputs = inputs_of(h, body);
	struct buf text = { 0 };

	buf_str(&text, kind->text);
	if (!kind->who)
		tell_user(h, body, &line, &text);
	else if (!strcmp(kind->who, "policy"))
		line.rule = rule_at(h, event->seq);
	if (rule && !strcmp(kind->who ? kind->who : "", "policy")) {
		line.who = "promise";
		line.rule = rule;
	}
	if (!strcmp(kind->name, "stop"))
		tell_stop(body, &line, &text);
	else if (!strcmp(kind->name, "exit"))
		tell_exit(body, &text);
	else if (!strcmp(kind->name, "end"))
		tell_end(event, &text);
	else if (member_text(body, "text"))
		buf_printf(&text, ": %s", member_text(body, "text"));
	else
		tell_grant(body, &text);
	line.text = text.at;
	line.inputs = inputs;
	put_line(h, &line);
	buf_fini(&text);
	json_decref(inputs);
}

static int see_event(void *ctx, const struct record_event *event)
{
	struct history *h = ctx;
	const struct kind *kind = find_kind(event->kind);
	json_t *body;

	if (!kind)
		return 0;
	put_rules(h, event->seq);
	body = json_loads(event->body, 0, NULL);
	if (kind->who && !strcmp(kind->who, "job")) {
		add_report(h, event, body);
	} else {
		put_reports(h);
		tell(h, kind, event, body);
	}
	json_decref(body);
	return 0;
}

static int see_ends(void *ctx, const struct record_event *event)
{
	struct history *h = ctx;

	if (!h->rows++)
		h->first_seq = event->seq;
	h->last_seq = event->seq;
	return 0;
}

static void history_fini(struct history *h)
{
	for (size_t i = 0; i < h->rules.n; i++) {
		free(h->rules.at[i].text);
		free(h->rules.at[i].why);
		json_decref(h->rules.at[i].inputs);
	}
	vec_fini(&h->rules);
}

/* ---- of a job that was pruned: what its summary says */

static int see_summary(void *ctx, const struct record_job *job)
{
	struct history *h = ctx;
	json_t *status = json_loads(job->status, 0, NULL);
	const char *words = member_text(status, "end_text"), *user = member_text(status, "user");
	double begun_s = member_number(status, "first_begun_s", NAN);
	struct buf text = { 0 };

	snprintf(h->user, sizeof(h->user), "user %s", user ? user : "");
	put_line(h,
		&(struct line){ 0, job->arrival_s, 0, "submit", h->user, "submit", "submitted", NULL });
	if (!isnan(begun_s))
		put_line(h,
			&(struct line){ 0, begun_s, 1, "begun", "machine", NULL, "its command ran",
				NULL });
	buf_printf(&text, "ended: %s%s%s", job->state, words ? ", " : "", words ? words : "");
	put_line(h, &(struct line){ 0, job->end_s, 0, "end", "machine", NULL, text.at, NULL });
	buf_fini(&text);
	json_decref(status);
	return 0;
}

static int put_summary(struct history *h, uint32_t job, struct err *err)
{
	int rc;

	json_bool(h->j, "pruned", true);
	json_begin_array(h->j, "events");
	rc = record_job(h->record, job, see_summary, h, err);
	json_end(h->j, ']');
	return rc;
}

int history_to_json(struct record *record, uint32_t job, const struct wallclock *wall, uid_t reader,
	struct json *j, struct err *err)
{
	struct history h = { .record = record, .j = j, .wall = wall, .reader = reader };
	int rc = record_events(record, 0, job, 0, see_ends, &h, err);

	if (rc == 0 && !h.rows)
		return put_summary(&h, job, err);
	if (rc < 0)
		return rc;
	find_rules(&h);
	json_begin_array(j, "events");
	rc = record_events(record, 0, job, 0, see_event, &h, err);
	put_reports(&h);
	json_end(j, ']');
	history_fini(&h);
	return rc;
}
