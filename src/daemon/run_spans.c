/*
 * Line by line: what gives devices begins a span, what takes them ends it.
 */
#include "daemon/run_spans.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/members.h"
#include "base/names.h"
#include "base/vec.h"

/* What a job holds. */
struct held {
	json_t *on; /* NULL: nothing */
	double from_s;
	int64_t attempt;
};

struct walk {
	struct json *j;
	struct names jobs;
	VEC(struct held) held; /* by number of the job */
	uint32_t n;
	bool more;
	double last_s;
};

static const struct {
	const char *event, *end; /* end NULL: it goes on with other devices */
	bool begins;
} kinds[] = {
	{ "start", NULL, true },
	{ "migrate", NULL, true },
	{ "resize", NULL, true },
	{ "renew", NULL, true },
	{ "finish", "COMPLETED", false },
	{ "preempt", "PREEMPTED", false },
	{ "lost", "NODE_FAIL", false },
	{ "withdraw", "CANCELLED", false },
	{ "yield", "REQUEUED", false },
};

/* "0-3,6" */
static void put_devices(struct json *j, const char *text)
{
	struct slice left = slice_of(text);

	json_begin_array(j, "devices");
	while (left.n) {
		struct slice item = slice_cut(&left, ','), to = item, from = slice_cut(&to, '-');
		int64_t first, last;

		if (!slice_int(from, &first))
			break;
		if (!to.n || !slice_int(to, &last))
			last = first;
		for (int64_t i = first; i <= last && i < first + 64; i++)
			json_int(j, NULL, i);
	}
	json_end(j, ']');
}

static void put_span(struct walk *w, const char *job, const struct held *held, double to_s,
	const char *end)
{
	const json_t *slot;
	size_t i;

	json_array_foreach(held->on, i, slot)
	{
		const char *node = json_string_value(json_array_get(slot, 0));
		const char *devices = json_string_value(json_array_get(slot, 1));

		if (!node || !devices)
			continue;
		if (w->n >= RUN_SPANS_MAX) {
			w->more = true;
			return;
		}
		w->n++;
		json_begin_object(w->j, NULL);
		json_str(w->j, "job", job);
		json_int(w->j, "attempt", held->attempt);
		json_str(w->j, "node", node);
		put_devices(w->j, devices);
		json_double(w->j, "from", held->from_s);
		json_double(w->j, "to", to_s);
		json_str(w->j, "end", end);
		json_end(w->j, '}');
	}
}

static void close_span(struct walk *w, uint32_t job, double to_s, const char *end)
{
	struct held *held = &w->held.at[job];

	if (held->on && to_s > held->from_s)
		put_span(w, w->jobs.at[job], held, to_s, end);
	json_decref(held->on);
	held->on = NULL;
}

/* A turn that is renewed on the same devices goes on. */
static bool goes_on(const struct held *held, const json_t *event, const json_t *on)
{
	return held->on && held->attempt == member_int(event, "attempt", 0) &&
		json_equal(held->on, on);
}

static void apply(struct walk *w, size_t kind, const json_t *event)
{
	const char *label = member_text(event, "job");
	double at_s = member_number(event, "t", NAN);
	json_t *on = json_object_get(event, "on");
	uint32_t job;

	if (!label || isnan(at_s))
		return;
	job = names_add(&w->jobs, label, strlen(label));
	vec_grow_zero(&w->held, job + 1);
	w->last_s = at_s;
	if (kinds[kind].begins && goes_on(&w->held.at[job], event, on))
		return;
	close_span(w, job, at_s, kinds[kind].end);
	if (kinds[kind].begins)
		w->held.at[job] = (struct held){ json_incref(on), at_s,
			member_int(event, "attempt", 0) };
}

/* The kind of an event from its text: most are of no interest, and are not read whole. */
static int kind_of(struct slice line)
{
	static const char mark[] = ",\"ev\":\"";
	const char *at = line.n ? memmem(line.at, line.n, mark, sizeof(mark) - 1) : NULL;

	for (size_t i = 0; at && i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *word = at + sizeof(mark) - 1;
		size_t n = strlen(kinds[i].event);

		if ((size_t)(line.at + line.n - word) > n && !memcmp(word, kinds[i].event, n) &&
			word[n] == '"')
			return (int)i;
	}
	return -1;
}

static void walk_lines(struct walk *w, struct slice events)
{
	struct lines lines = lines_of(events.at, events.n);
	struct slice line;

	while (!w->more && lines_next(&lines, &line)) {
		int kind = kind_of(line);
		json_t *event = kind >= 0 ? json_loadb(line.at, line.n, 0, NULL) : NULL;

		if (event)
			apply(w, (size_t)kind, event);
		json_decref(event);
	}
}

void run_spans_write(struct slice events, struct json *j)
{
	struct walk w = { .j = j };

	json_begin_array(j, "spans");
	walk_lines(&w, events);
	for (uint32_t job = 0; job < w.held.n; job++)
		close_span(&w, job, w.last_s, NULL);
	json_end(j, ']');
	json_bool(j, "spans_more", w.more);
	vec_fini(&w.held);
	names_fini(&w.jobs);
}
