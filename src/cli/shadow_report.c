/*
 * The rows that a policy in the shadow left in a record, against what Slurm did.
 */
#include "cli/shadow_report.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/members.h"
#include "base/vec.h"
#include "cli/db_trace.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "report/table.h"

extern const struct command command_whatif;

/* One job: when it came, when Slurm began it and when the policy first would have. */
struct shadowed {
	uint32_t id;
	char *name, *key;
	double arrival_s, begun_s, would_s; /* NAN: not so far */
	bool over;                          /* it has ended */
};

struct shadow_tally {
	VEC(struct shadowed) jobs; /* by number */
	char *policy;
	uint64_t decisions,
		stops;  /* that differed from the one before; jobs it would have stopped in these */
	double first_s; /* when it first decided; NAN: never */
};

static int by_id(const void *a, const void *b)
{
	const struct shadowed *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static struct shadowed *find(struct shadow_tally *t, uint32_t id)
{
	struct shadowed key = { .id = id };

	return t->jobs.n ? bsearch(&key, t->jobs.at, t->jobs.n, sizeof(key), by_id) : NULL;
}

static int see_job(void *ctx, const struct record_job *row)
{
	struct shadow_tally *t = ctx;
	json_t *status = json_loads(row->status, 0, NULL);
	struct shadowed one = {
		.id = row->id,
		.name = mem_strdup(row->name ? row->name : ""),
		.key = row->key ? mem_strdup(row->key) : NULL,
		.arrival_s = row->arrival_s,
		.begun_s = member_number(status, "first_begun_s", NAN),
		.would_s = NAN,
		.over = !row->live,
	};

	vec_push(&t->jobs, one);
	json_decref(status);
	return 0;
}

static void see_starts(struct shadow_tally *t, const json_t *starts, double at_s)
{
	const json_t *number;
	size_t i;

	json_array_foreach(starts, i, number)
	{
		struct shadowed *one = find(t, (uint32_t)json_integer_value(number));

		if (one && isnan(one->would_s))
			one->would_s = at_s;
	}
}

/* Another policy from now on: only what this one decided counts. */
static void begin_anew(struct shadow_tally *t, const char *policy, double at_s)
{
	free(t->policy);
	t->policy = mem_strdup(policy);
	t->first_s = at_s;
	t->decisions = t->stops = 0;
	for (size_t i = 0; i < t->jobs.n; i++)
		t->jobs.at[i].would_s = NAN;
}

static int see_event(void *ctx, const struct record_event *event)
{
	struct shadow_tally *t = ctx;
	const char *policy;
	json_t *body;

	if (strcmp(event->kind, "shadow") != 0)
		return 0;
	body = json_loads(event->body, 0, NULL);
	policy = member_text(body, "policy");
	if (policy && (!t->policy || strcmp(policy, t->policy) != 0))
		begin_anew(t, policy, event->at_s);
	t->decisions++;
	t->stops += json_array_size(json_object_get(body, "stop"));
	see_starts(t, json_object_get(body, "start"), event->at_s);
	json_decref(body);
	return 0;
}

static int read_tally(struct record *record, struct shadow_tally *t, struct err *err)
{
	struct record_filter all = { .uid = UINT32_MAX, .ended_since_s = NAN };

	if (record_live_jobs(record, see_job, t, err) < 0 ||
		record_ended_jobs(record, &all, see_job, t, err) < 0)
		return err->code;
	if (t->jobs.n)
		qsort(t->jobs.at, t->jobs.n, sizeof(t->jobs.at[0]), by_id);
	if (record_events(record, 0, 0, 0, see_event, t, err) < 0)
		return err->code;
	if (!t->policy)
		return err_set(err, ERR_MISSING,
			"no policy has decided in the shadow here yet: run 'stint slurm shadow --policy NAME' for a while");
	return 0;
}

static void tally_fini(struct shadow_tally *t)
{
	for (size_t i = 0; i < t->jobs.n; i++) {
		free(t->jobs.at[i].name);
		free(t->jobs.at[i].key);
	}
	vec_fini(&t->jobs);
	free(t->policy);
}

/* ---- for people */

/* Seconds that the policy would have been earlier; NAN: nobody knows. */
static double gain_s(const struct shadowed *one)
{
	return isnan(one->would_s) || isnan(one->begun_s) ? NAN : one->begun_s - one->would_s;
}

/* The largest first; those that still wait before all. */
static int by_gain(const void *a, const void *b)
{
	const struct shadowed *const *x = a, *const *y = b;
	double gx = isnan(gain_s(*x)) ? INFINITY : gain_s(*x);
	double gy = isnan(gain_s(*y)) ? INFINITY : gain_s(*y);

	if (gx != gy)
		return (gx < gy) - (gx > gy);
	return by_id(*x, *y);
}

/* What had begun before the policy first decided says nothing of it. */
static bool counts(const struct shadow_tally *t, const struct shadowed *one)
{
	return !(one->begun_s < t->first_s) &&
		(!one->over || !isnan(one->begun_s) || one->arrival_s >= t->first_s);
}

/* Slurm is looked at every second or so, and the policy asked as often: what differs by less is the same. */
static const double SAME_S = 3;

struct counts {
	uint32_t jobs, earlier, waiting, never, same, later;
	double gained_s;
};

static struct counts count(const struct shadow_tally *t)
{
	struct counts c = { 0 };

	for (size_t i = 0; i < t->jobs.n; i++) {
		const struct shadowed *one = &t->jobs.at[i];

		if (!counts(t, one))
			continue;
		c.jobs++;
		if (isnan(one->begun_s)) {
			c.waiting += !one->over && !isnan(one->would_s);
			c.never += one->over;
		} else if (isnan(one->would_s) || fabs(gain_s(one)) < SAME_S) {
			c.same++;
		} else if (gain_s(one) > 0) {
			c.earlier++;
			c.gained_s += gain_s(one);
		} else {
			c.later++;
		}
	}
	return c;
}

static const char *moment(double s, double from_s, char out[32])
{
	return isnan(s) ? "not yet" : text_duration(fmax(0, s - from_s), out);
}

static void put_table(const struct shadow_tally *t, bool all, struct buf *out)
{
	enum { SHOWN = 20 };
	struct term term = term_of_stdout();
	VEC(const struct shadowed *) rows = { 0 };
	struct table table = { 0 };
	char a[32], b[32], c[32];

	for (size_t i = 0; i < t->jobs.n; i++) {
		if (!isnan(t->jobs.at[i].would_s) && counts(t, &t->jobs.at[i]) &&
			!(fabs(gain_s(&t->jobs.at[i])) < SAME_S))
			vec_push(&rows, &t->jobs.at[i]);
	}
	if (!rows.n)
		return;
	qsort(rows.at, rows.n, sizeof(rows.at[0]), by_gain);
	table_column(&table, "JOB", ALIGN_RIGHT, 0);
	table_column(&table, "SLURM'S", ALIGN_LEFT, 2);
	table_column(&table, "NAME", ALIGN_LEFT, 1);
	table_column(&table, "SLURM STARTED IT AFTER", ALIGN_RIGHT, 0);
	table_column(&table, "THE POLICY AFTER", ALIGN_RIGHT, 0);
	table_column(&table, "EARLIER BY", ALIGN_RIGHT, 0);
	for (size_t i = 0; i < rows.n && (all || i < SHOWN); i++) {
		const struct shadowed *one = rows.at[i];
		const char *at = one->key ? strchr(one->key, ':') : NULL;

		table_cellf(&table, "%u", one->id);
		table_cellf(&table, "%.*s", at ? (int)strcspn(at + 1, "@") : 0, at ? at + 1 : "");
		table_cell(&table, one->name);
		table_cell(&table, moment(one->begun_s, one->arrival_s, a));
		table_cell(&table, moment(one->would_s, one->arrival_s, b));
		table_cell(&table, isnan(gain_s(one)) ? "?" : text_duration(gain_s(one), c));
	}
	table_write(&table, TABLE_TEXT, &term, out, NULL);
	if (!all && rows.n > SHOWN)
		buf_printf(out, "… and %zu more: --all\n", rows.n - SHOWN);
	table_fini(&table);
	vec_fini(&rows);
}

static void put_text(const struct args *args, const struct shadow_tally *t, struct buf *out)
{
	struct counts c = count(t);
	char time[32];

	buf_printf(out,
		"%s in the shadow of Slurm: %llu decisions that differed from the one before.\n",
		t->policy, (unsigned long long)t->decisions);
	buf_printf(out,
		"Of %u jobs since then it would have started %u earlier than Slurm (%s in all) and %u that still wait;\n"
		"%u began about when it wanted them or before, %u it would have started later, %u ended without having run.\n"
		"It would have stopped running jobs %llu times.\n\n",
		c.jobs, c.earlier, text_duration(c.gained_s, time), c.waiting, c.same, c.later,
		c.never, (unsigned long long)t->stops);
	put_table(t, args->all, out);
}

static void put_json(const struct shadow_tally *t, struct buf *out)
{
	struct counts c = count(t);
	struct json j;

	json_init(&j, out, false);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "shadow/1");
	json_str(&j, "policy", t->policy);
	json_int(&j, "decisions", (int64_t)t->decisions);
	json_int(&j, "earlier", c.earlier);
	json_int(&j, "later", c.later);
	json_int(&j, "waiting", c.waiting);
	json_double(&j, "gained_s", c.gained_s);
	json_int(&j, "stops", (int64_t)t->stops);
	json_begin_array(&j, "jobs");
	for (size_t i = 0; i < t->jobs.n; i++) {
		const struct shadowed *one = &t->jobs.at[i];

		json_begin_object(&j, NULL);
		json_int(&j, "id", one->id);
		json_str(&j, "name", one->name);
		json_str(&j, "key", one->key);
		json_double(&j, "arrival_s", one->arrival_s);
		if (!isnan(one->begun_s))
			json_double(&j, "slurm_s", one->begun_s);
		if (!isnan(one->would_s))
			json_double(&j, "policy_s", one->would_s);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
}

/* From the first job on under the policy, beside how it really went: a what-if of the record. */
static int compare_courses(const struct args *args, const struct shadow_tally *t, char *path,
	struct err *err)
{
	char *words[] = { path, (char *)"--policy", t->policy, (char *)"--seeds", (char *)"1", NULL };
	struct args ask;
	bool help = false;
	int rc = args_parse(&command_whatif, 5, words, &ask, &help, err);

	if (rc == 0)
		rc = command_whatif.run(&ask, err);
	args_fini(&ask);
	if (rc == ERR_MISSING) {
		ui_say(args, "JCT and utilisation are compared once jobs have ended: %s", err->text);
		*err = (struct err){ 0 };
		rc = 0;
	}
	return rc;
}

int shadow_report(const struct args *args, struct err *err)
{
	struct shadow_tally t = { .first_s = NAN };
	struct record *record = NULL;
	struct buf out = { 0 };
	char *path = NULL;
	int rc = db_open(args->state, &path, &record, err);

	if (rc == 0)
		rc = read_tally(record, &t, err);
	if (rc == 0) {
		if (args->json)
			put_json(&t, &out);
		else
			put_text(args, &t, &out);
		rc = ui_print(&out, err);
	}
	if (rc == 0 && !args->json)
		rc = compare_courses(args, &t, path, err);
	record_close(record);
	tally_fini(&t);
	buf_fini(&out);
	free(path);
	return rc;
}
