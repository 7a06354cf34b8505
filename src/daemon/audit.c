/*
 * A short table of what happened lately, and a queue of what is written at once.
 */
#include "daemon/audit.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "daemon/daemon_state.h"
#include "daemon/verbs.h"

enum { CHANGES_MAX = 256, DETAIL_MAX = 512 };

/* Equal keys are the same thing again. */
struct audit_slot {
	char *key;        /* NULL: free */
	char *body;       /* of the event, without its count and its last brace */
	double until_s;   /* the window's end */
	uint64_t repeats; /* since it was written */
};

struct audit {
	pthread_mutex_t lock;
	struct audit_slot slots[AUDIT_SLOTS];
	VEC(char *) due; /* bodies to be written now */
	uint64_t others; /* that found no slot */
	double others_s; /* when they are written; 0: there are none */
};

struct audit *audit_create(void)
{
	struct audit *a = mem_alloc(sizeof(*a));

	pthread_mutex_init(&a->lock, NULL);
	return a;
}

static void slot_free(struct audit_slot *slot)
{
	free(slot->key);
	free(slot->body);
	*slot = (struct audit_slot){ 0 };
}

void audit_destroy(struct audit *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < AUDIT_SLOTS; i++)
		slot_free(&a->slots[i]);
	for (size_t i = 0; i < a->due.n; i++)
		free(a->due.at[i]);
	vec_fini(&a->due);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

/* ---- what an event says */

static void put_text(struct json *j, const char *name, const char *text)
{
	if (text)
		json_str(j, name, text);
}

static char *body_of(const struct audit_entry *e)
{
	char detail[DETAIL_MAX + 1];
	struct buf text = { 0 };
	struct json j;

	json_init(&j, &text, false);
	json_begin_object(&j, NULL);
	json_str(&j, "what", e->what);
	put_text(&j, "by", e->by);
	/* Who has proved nothing, or only a token to read with, is no user. */
	if (e->caller.uid != (uid_t)-2)
		json_int(&j, "uid", e->caller.uid);
	json_str(&j, "role", caller_role(&e->caller));
	put_text(&j, "from", e->from);
	put_text(&j, "verb", e->verb);
	if (e->status)
		json_int(&j, "status", e->status);
	if (e->jobs) {
		json_int(&j, "job", e->job);
		json_int(&j, "jobs", (int64_t)e->jobs);
		json_int(&j, "owner", e->owner);
	}
	if (e->detail) {
		snprintf(detail, sizeof(detail), "%s", e->detail);
		/* What callers wrote: in ASCII, so that it can be shown as it is. */
		for (char *c = detail; *c; c++)
			*c = *c < ' ' || *c > '~' ? '?' : *c;
		json_str(&j, "detail", detail);
	}
	json_end(&j, '}');
	return text.at;
}

/* ---- putting in */

static struct audit_slot *find_slot(struct audit *a, const char *key)
{
	for (size_t i = 0; i < AUDIT_SLOTS; i++) {
		if (a->slots[i].key && !strcmp(a->slots[i].key, key))
			return &a->slots[i];
	}
	return NULL;
}

static struct audit_slot *free_slot(struct audit *a, double now_s)
{
	for (size_t i = 0; i < AUDIT_SLOTS; i++) {
		struct audit_slot *s = &a->slots[i];

		if (s->key && !s->repeats && s->until_s <= now_s)
			slot_free(s);
		if (!s->key)
			return s;
	}
	return NULL;
}

/* Each change is an event of its own: only an operator or an admin makes one. */
static bool add_change(struct audit *a, char *body)
{
	if (a->due.n >= CHANGES_MAX)
		return false;
	vec_push(&a->due, body);
	return true;
}

static bool add_other(struct audit *a, double now_s)
{
	a->others++;
	if (a->others_s == 0)
		a->others_s = now_s + AUDIT_WINDOW_S;
	return false;
}

/* Takes the body. */
static bool add(struct audit *a, bool change, char *body, double now_s)
{
	struct audit_slot *slot = change ? NULL : find_slot(a, body);

	if (change && add_change(a, body))
		return true;
	if (slot) {
		slot->repeats++;
		free(body);
		return false;
	}
	slot = free_slot(a, now_s);
	if (!slot) {
		free(body);
		return add_other(a, now_s);
	}
	*slot = (struct audit_slot){ .key = body,
		.body = mem_strdup(body),
		.until_s = now_s + AUDIT_WINDOW_S };
	vec_push(&a->due, mem_strdup(body));
	return true;
}

bool audit_add(struct audit *a, const struct audit_entry *entry, double now_s)
{
	char *body = body_of(entry);
	bool due;

	pthread_mutex_lock(&a->lock);
	due = add(a, !strcmp(entry->what, "change"), body, now_s);
	pthread_mutex_unlock(&a->lock);
	return due;
}

/* ---- taking out */

/* The body again, with how often. */
static void put_repeats(const char *body, uint64_t n, struct buf *out)
{
	buf_add(out, body, strlen(body) - 1);
	buf_printf(out, ",\"count\":%llu}", (unsigned long long)n);
}

static bool take_repeats(struct audit *a, double now_s, struct buf *out)
{
	for (size_t i = 0; i < AUDIT_SLOTS; i++) {
		struct audit_slot *s = &a->slots[i];

		if (!s->key || s->until_s > now_s || !s->repeats)
			continue;
		put_repeats(s->body, s->repeats, out);
		s->repeats = 0;
		s->until_s = now_s + AUDIT_WINDOW_S;
		return true;
	}
	return false;
}

bool audit_take(struct audit *a, double now_s, struct buf *out)
{
	bool taken = true;

	buf_clear(out);
	pthread_mutex_lock(&a->lock);
	if (a->due.n) {
		buf_str(out, a->due.at[0]);
		free(a->due.at[0]);
		memmove(a->due.at, a->due.at + 1, --a->due.n * sizeof(a->due.at[0]));
	} else if (a->others_s > 0 && a->others_s <= now_s) {
		put_repeats("{\"what\":\"others\"}", a->others, out);
		a->others = 0;
		a->others_s = 0;
	} else {
		taken = take_repeats(a, now_s, out);
	}
	pthread_mutex_unlock(&a->lock);
	return taken;
}

double audit_next_s(struct audit *a)
{
	double next = INFINITY;

	pthread_mutex_lock(&a->lock);
	if (a->due.n)
		next = 0;
	if (a->others_s > 0)
		next = fmin(next, a->others_s);
	for (size_t i = 0; i < AUDIT_SLOTS; i++) {
		if (a->slots[i].key && a->slots[i].repeats)
			next = fmin(next, a->slots[i].until_s);
	}
	pthread_mutex_unlock(&a->lock);
	return next;
}

/* ---- the daemon's */

void daemon_audit(struct daemon *d, const struct audit_entry *entry)
{
	if (audit_add(d->audit, entry, clock_wall_s()))
		daemon_wake(d);
}

static void write_until(struct daemon *d, double now_s)
{
	struct buf body = { 0 };
	bool any = false;

	while (!d->trouble[0] && audit_take(d->audit, now_s, &body)) {
		daemon_row(d, "audit", 0, 0, d->last_s, body.at, false);
		any = true;
	}
	if (any)
		daemon_flush(d);
	buf_fini(&body);
}

/* While the record cannot be written everything is counted and nothing is lost but what comes on top. */
void audit_turn(struct daemon *d)
{
	write_until(d, clock_wall_s());
}

void audit_finish(struct daemon *d)
{
	if (d->audit && d->record)
		write_until(d, INFINITY);
}

void audit_jobs(struct daemon *d, const struct call *call, uid_t owner, uint32_t first, size_t n)
{
	const struct caller *caller = &call->caller;
	char detail[DETAIL_MAX];
	struct audit_entry entry = {
		.what = "change",
		.by = caller->by,
		.from = caller->from[0] ? caller->from : NULL,
		.verb = call->verb->name,
		.detail = detail,
		.caller = *caller,
		.status = 200,
		.jobs = n,
		.job = first,
		.owner = owner,
	};
	char *body;

	if (!n || owner == caller->uid || caller->outside)
		return;
	if (n == 1)
		snprintf(detail, sizeof(detail), "job %u of %s", first, verb_user_name(d, owner));
	else
		snprintf(detail, sizeof(detail), "%zu jobs of %s, the first is %u", n,
			verb_user_name(d, owner), first);
	body = body_of(&entry);
	daemon_row(d, "audit", 0, 0, d->last_s, body, false);
	free(body);
}
