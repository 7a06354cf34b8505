/*
 * Replaying: worlds at random with restarts at any point come again note by
 * note, and what was changed in a record is found.
 */
#include "live/replay.h"

#include <math.h>

#include "play.h"
#include "policy/policy.h"

/* ---- worlds at random */

struct world {
	struct play p;
	struct rng *rng;
	double now_s;
};

static bool chance(struct world *w, double of)
{
	return rng_uniform(w->rng) < of;
}

static uint32_t any(struct world *w, uint32_t n)
{
	return (uint32_t)rng_below(w->rng, n);
}

static struct ask random_ask(struct world *w)
{
	struct ask ask = {
		.gpus = 1 + (int)any(w, 4),
		.retries = (int)any(w, 2),
		.priority = (int)any(w, 3),
		.no_requeue = chance(w, 0.2),
		.hold = chance(w, 0.1),
		.begin_s = chance(w, 0.1) ? w->now_s + any(w, 100) : 0,
		.estimate_s = chance(w, 0.7) ? 1 + any(w, 400) : 0,
		.model = chance(w, 0.3) ? "resnet50" : NULL,
		.tenant = chance(w, 0.5) ? "b"
			: chance(w, 0.5) ? "a"
					 : NULL,
	};

	if (chance(w, 0.2)) {
		ask.gpus = 1;
		ask.share = 0.5;
	} else if (chance(w, 0.4)) {
		ask.min_gpus = 1;
		ask.max_gpus = 4;
	}
	if (w->p.jobs && chance(w, 0.3))
		ask.after[0] = (struct dependency){ (enum dependency_kind)any(w, 4),
			1 + any(w, w->p.jobs) };
	return ask;
}

static void submit_some(struct world *w)
{
	uint32_t ids[3], n = any(w, 3);

	if (w->p.jobs > 25)
		return;
	for (uint32_t i = 0; i < n; i++)
		ids[i] = play_write_submit(&w->p, random_ask(w));
	if (n == 0)
		return;
	play_flush(&w->p);
	for (uint32_t i = 0; i < n; i++)
		play_give_submit(&w->p, ids[i]);
}

static const char *const exits[] = {
	"{\"known\":true,\"code\":0}",
	"{\"known\":true,\"code\":0}",
	"{\"known\":true,\"code\":1}",
	"{\"known\":true,\"code\":1,\"ran_s\":3}",
	"{\"known\":true,\"code\":2,\"ran_s\":4}",
	"{\"known\":true,\"code\":85}",
	"{\"known\":true,\"code\":-1,\"signal\":15}",
	"{\"known\":true,\"code\":-1,\"signal\":9,\"timed_out\":true}",
	"{\"known\":true,\"code\":-1,\"signal\":9,\"over_memory\":true}",
	"{\"known\":false}",
};

static void of_an_idle_one(struct world *w, const struct proc *one)
{
	static const char *const inputs[][2] = {
		{ "idle_warned", "{\"since_s\":1,\"text\":\"idle\"}" },
		{ "active", "{}" },
		{ "reclaim", "{\"text\":\"reclaimed\",\"then\":\"hold\"}" },
		{ "reclaim", "{\"text\":\"reclaimed\",\"then\":\"requeue\"}" },
		{ "reclaim", "{\"text\":\"reclaimed\",\"then\":\"cancel\"}" },
	};
	uint32_t which = any(w, COUNT(inputs));

	play_try(&w->p, inputs[which][0], one->job, one->attempt, inputs[which][1]);
}

static void of_a_process(struct world *w)
{
	struct proc *one = w->p.procs.n ? &w->p.procs.at[any(w, (uint32_t)w->p.procs.n)] : NULL;
	char body[128];

	if (!one || !one->launched || one->over)
		return;
	if (!one->begun && chance(w, 0.9)) {
		play_try(&w->p, "begun", one->job, one->attempt, "{}");
	} else if (one->asked || chance(w, 0.2)) {
		play_try(&w->p, "exit", one->job, one->attempt, exits[any(w, COUNT(exits))]);
	} else if (chance(w, 0.2)) {
		of_an_idle_one(w, one);
	} else if (one->told && chance(w, 0.7)) {
		play_try(&w->p, "resized", one->job, one->attempt, "{}");
	} else {
		bool saves = chance(w, 0.3);

		snprintf(body, sizeof(body), "{\"step\":%u%s%s}", any(w, 1000),
			!saves && chance(w, 0.5) ? ",\"total\":1000" : "",
			!saves && chance(w, 0.3) ? ",\"resizable\":true" : "");
		play_try(&w->p, saves ? "checkpointed" : "progress", one->job, one->attempt, body);
	}
}

static char *change_of(struct world *w)
{
	uint32_t n = 1 + any(w, 2);

	switch (any(w, 4)) {
	case 0:
		return mem_printf("{\"gpus\":%u,\"min_gpus\":%u,\"max_gpus\":%u,\"cpus_asked\":%u}",
			n, n, n, n);
	case 1:
		return mem_printf("{\"name\":\"n%u\"}", any(w, 3));
	case 2:
		return mem_printf("{\"after\":[]}");
	default:
		return mem_printf("{\"priority\":%u}", any(w, 5));
	}
}

static void of_a_person(struct world *w)
{
	static const char *const kinds[] = { "cancel", "hold", "release", "release", "requeue",
		"update" };
	const char *kind = kinds[any(w, COUNT(kinds))];
	uint32_t job = w->p.jobs ? 1 + any(w, w->p.jobs) : 1;
	bool live = true;
	const char *status = play_status(&w->p, job, &live);
	char *body = NULL;

	if (!strcmp(kind, "requeue") && status && !live)
		body = mem_printf("{\"job\":%s}", status);
	if (!strcmp(kind, "update"))
		body = change_of(w);
	play_try(&w->p, kind, job, 0, body ? body : "{}");
	free(body);
}

static void of_a_device(struct world *w)
{
	uint32_t node = any(w, w->p.epoch.cluster.nnodes);
	uint64_t device = UINT64_C(1) << any(w, w->p.epoch.cluster.nodes[node].devices);
	bool up = w->p.down[node] & device;
	char body[128];

	if (chance(w, 0.5)) {
		snprintf(body, sizeof(body), "{\"node\":%u,\"devices\":%llu,\"reason\":\"x\"}",
			node, (unsigned long long)device);
		play_try(&w->p, chance(w, 0.5) ? "drain" : "resume", 0, 0, body);
		return;
	}
	w->p.down[node] ^= device;
	snprintf(body, sizeof(body), "{\"node\":%u,\"devices\":%llu,\"up\":%s}", node,
		(unsigned long long)device, up ? "true" : "false");
	play_try(&w->p, "devices", 0, 0, body);
	if (chance(w, 0.2)) {
		snprintf(body, sizeof(body), "{\"shift_s\":%d}", (int)any(w, 200) - 100);
		play_try(&w->p, "clock", 0, 0, body);
	}
}

static void one_input(struct world *w)
{
	double dice = rng_uniform(w->rng);

	if (dice < 0.7)
		of_a_process(w);
	else if (dice < 0.92)
		of_a_person(w);
	else
		of_a_device(w);
}

static void set_policy_traits(struct play *p)
{
	char name[64];
	struct err err = { 0 };

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(p->epoch.rules.policy, ":"),
		p->epoch.rules.policy);
	p->shares |= policy_find(name, &err)->traits & POLICY_SHARES;
}

/* Statuses say everything: what is made of one says the same. */
static void statuses_are_complete(const struct play *p)
{
	size_t n;
	const struct live_job *const *jobs = core_jobs(p->core, &n);
	const struct attempt *const *attempts;

	for (size_t i = 0; i < n; i++) {
		struct buf text = { 0 }, again = { 0 };
		struct live_job *job;
		struct err err = { 0 };
		json_t *json;

		core_job_status(p->core, jobs[i]->id, &text);
		json = json_loads(text.at, 0, NULL);
		assert_int_equal(live_job_from_status(json, &job, &err), 0);
		live_job_status(job, &again);
		assert_string_equal(text.at, again.at);
		live_job_destroy(job);
		json_decref(json);
		buf_fini(&text);
		buf_fini(&again);
	}
	attempts = core_attempts(p->core, &n);
	for (size_t i = 0; i < n; i++) {
		struct buf text = { 0 }, again = { 0 };
		struct attempt *a;
		struct err err = { 0 };
		json_t *json;

		core_attempt_status(p->core, attempts[i]->job, attempts[i]->number, &text);
		json = json_loads(text.at, 0, NULL);
		assert_int_equal(attempt_from_status(json, core_cluster(p->core), &a, &err), 0);
		attempt_status(a, core_cluster(p->core), &again);
		assert_string_equal(text.at, again.at);
		attempt_destroy(a);
		json_decref(json);
		buf_fini(&text);
		buf_fini(&again);
	}
}

/* Each job is here or has ended, never both. */
static void no_job_is_lost(const struct play *p)
{
	for (uint32_t id = 1; id <= p->jobs; id++) {
		const struct live_job *job = core_job(p->core, id);

		assert_int_not_equal(p->ended.at[id], -1);
		assert_int_equal(p->ended.at[id], job ? live_ended(job) : 1);
	}
}

static void one_cycle(struct world *w)
{
	uint32_t inputs = any(w, 4);

	w->now_s += rng_exponential(w->rng, chance(w, 0.2) ? 40 : 3);
	play_begin(&w->p, w->now_s);
	if (chance(w, 0.3))
		submit_some(w);
	for (uint32_t i = 0; i < inputs; i++)
		one_input(w);
	if (chance(w, 0.03))
		return; /* not even decided: what follows is a restart */
	play_decide(&w->p);
	if (chance(w, 0.03))
		return;
	play_flush(&w->p);
	no_job_is_lost(&w->p);
	statuses_are_complete(&w->p);
}

static const char *const policies_of_turns[] = { "las:round_s=30", "tiresias:limit_s=50,round_s=10",
	"gavel:round_s=20", "gavel:gangs=free,round_s=20", "srtf", "priority:preempt=yes", "fifo",
	"gavel:packing=yes,round_s=25", "sjf:preempt=yes", "fair-share:round_s=15,preempt=yes" };

static const char *any_policy(struct world *w)
{
	return policies_of_turns[any(w, COUNT(policies_of_turns))];
}

static void maybe_another_epoch(struct world *w)
{
	if (w->p.cycle.n > 0 || chance(w, 0.05)) {
		w->now_s += rng_exponential(w->rng, 5);
		play_restart(&w->p, w->now_s);
	} else if (chance(w, 0.03)) {
		w->now_s += rng_exponential(w->rng, 5);
		play_policy(&w->p, w->now_s, any_policy(w));
		set_policy_traits(&w->p);
	}
}

/* ---- until all is quiet */

static void end_processes(struct world *w)
{
	for (size_t i = 0; i < w->p.procs.n; i++) {
		struct proc *one = &w->p.procs.at[i];

		if (!one->launched || one->over)
			continue;
		play_try(&w->p, "begun", one->job, one->attempt, "{}");
		play_try(&w->p, "exit", one->job, one->attempt, exits[0]);
	}
}

static void free_jobs(struct world *w)
{
	for (uint32_t id = 1; id <= w->p.jobs; id++) {
		const struct live_job *job = core_job(w->p.core, id);

		if (job && job->gate == GATE_NEVER)
			play_try(&w->p, "cancel", id, 0, "{}");
		else if (job && job->held)
			play_try(&w->p, "release", id, 0, "{}");
	}
}

static void raise_devices(struct world *w)
{
	for (uint32_t node = 0; node < w->p.epoch.cluster.nnodes; node++) {
		char body[128];

		snprintf(body, sizeof(body), "{\"node\":%u,\"devices\":%llu,\"up\":true}", node,
			(unsigned long long)w->p.down[node]);
		if (w->p.down[node])
			play_apply(&w->p, "devices", 0, 0, body);
		w->p.down[node] = 0;
		snprintf(body, sizeof(body), "{\"node\":%u,\"devices\":15}", node);
		if (w->p.drained[node])
			play_apply(&w->p, "resume", 0, 0, body);
	}
}

static bool all_ended(const struct play *p)
{
	for (uint32_t id = 1; id <= p->jobs; id++) {
		if (!p->ended.at[id])
			return false;
	}
	return true;
}

static void until_all_have_ended(struct world *w)
{
	for (int i = 0; i < 400 && !all_ended(&w->p); i++) {
		w->now_s += 60;
		play_begin(&w->p, w->now_s);
		raise_devices(w);
		free_jobs(w);
		end_processes(w);
		play_end(&w->p);
		no_job_is_lost(&w->p);
	}
	assert_true(all_ended(&w->p));
	for (size_t i = 0; i < w->p.procs.n; i++)
		assert_true(w->p.procs.at[i].over);
}

/* ---- pruned */

/* The state that job `id` ended in before row `cut` and kept; NULL: it did not. */
static const char *past_state(const struct play *p, uint32_t id, size_t cut, char *state)
{
	const struct play_row *last = NULL;
	json_t *status;

	for (size_t i = 0; i < p->rows.n; i++) {
		if (p->rows.at[i].job == id && i >= cut)
			return NULL;
		if (p->rows.at[i].job == id && p->rows.at[i].job_after)
			last = &p->rows.at[i];
	}
	if (!last || last->job_live)
		return NULL;
	status = json_loads(last->job_after, 0, NULL);
	snprintf(state, 32, "%s", member_text(status, "state"));
	json_decref(status);
	return state;
}

/* As store/record_prune.h leaves them: rows from the cut on, and before it those of jobs that are not over. */
static bool is_left(const struct play_row *row, const bool *past, size_t i, size_t cut)
{
	if (i >= cut)
		return true;
	return row->job && !past[row->job] && strcmp(row->kind, "progress") != 0;
}

static void replay_pruned(const struct play *p, size_t cut)
{
	struct replay *replay = replay_create();
	bool *past = mem_alloc(p->jobs + 1);
	struct replay_result result;
	struct err err = { 0 };
	char state[32];

	replay_from(replay, cut + 1);
	for (uint32_t id = 1; id <= p->jobs; id++) {
		past[id] = past_state(p, id, cut, state) != NULL;
		if (past[id])
			assert_true(replay_past(replay, id, state));
	}
	for (size_t i = 0; i < p->rows.n && !err.code; i++) {
		const struct play_row *row = &p->rows.at[i];
		struct replay_row again = play_again(row, i + 1);

		if (is_left(row, past, i, cut))
			replay_row(replay, &again, &err);
	}
	assert_string_equal(err.text, "");
	replay_finish(replay, &result, &err);
	assert_true(result.from_seq == 0 || result.from_seq > cut);
	replay_destroy(replay);
	free(past);
}

static void one_world(struct rng *rng, const char *policy)
{
	struct world w = { .rng = rng };

	play_open(&w.p, rng_below(rng, 2) ? "1x4:v100" : "1x2:v100,1x3:a100", policy);
	set_policy_traits(&w.p);
	for (int cycle = 0; cycle < 60; cycle++) {
		one_cycle(&w);
		maybe_another_epoch(&w);
	}
	until_all_have_ended(&w);
	for (int i = 0; i < 4; i++)
		replay_pruned(&w.p, any(&w, (uint32_t)w.p.rows.n));
	play_close(&w.p);
}

static void worlds_come_again(void **state)
{
	struct rng rng = property("worlds at random, restarted anywhere, lose nothing and come again");

	(void)state;
	for (size_t round = 0; round < rounds(40); round++) {
		uint64_t seed = rng_u64(&rng);
		struct rng own;

		rng_init(&own, seed, RNG_TEST);
		one_world(&own, policies_of_turns[round % COUNT(policies_of_turns)]);
	}
}

static void every_policy_comes_again(void **state)
{
	struct rng rng = property("every policy comes again");

	(void)state;
	for (size_t i = 0; policies[i]; i++) {
		if (!policies[i]->simulated_for) /* those are refused live */
			one_world(&rng, policies[i]->name);
	}
}

/* ---- records that were tampered with */

static void play_a_little(struct play *p)
{
	play_open(p, "1x1", "fifo");
	play_submit(p, 1, (struct ask){ .gpus = 1 });
	play_begun(p, 2, 1, 1);
	play_exit(p, 3, 1, 1, 0);
	play_submit(p, 4, (struct ask){ .gpus = 1 });
	play_begun(p, 5, 2, 1);
	play_restart(p, 6);
	play_exit(p, 7, 2, 1, 0);
}

/* Replays with row `at` changed; returns what replay_row() said at the first row that was not fine. */
static int replay_changed(const struct play *p, size_t at, const struct replay_row *other,
	struct err *err)
{
	struct replay *replay = replay_create();
	int rc = 0;

	for (size_t i = 0; i < p->rows.n && rc == 0; i++) {
		const struct play_row *row = &p->rows.at[i];
		struct replay_row same = { i + 1, row->at_s, row->kind, row->job, row->attempt,
			row->body, row->job_after, row->attempt_after, row->job_live,
			row->attempt_over };

		if (i == at && !other->kind)
			continue; /* left out */
		rc = replay_row(replay, i == at ? other : &same, err);
	}
	replay_destroy(replay);
	return rc;
}

/* The first row of that kind. */
static size_t row_of(const struct play *p, const char *kind)
{
	size_t i = 0;

	while (strcmp(p->rows.at[i].kind, kind) != 0)
		i++;
	return i;
}

static struct replay_row copy_of(const struct play *p, size_t i)
{
	const struct play_row *row = &p->rows.at[i];

	return (struct replay_row){ i + 1, row->at_s, row->kind, row->job, row->attempt, row->body,
		row->job_after, row->attempt_after, row->job_live, row->attempt_over };
}

static void a_changed_note_is_a_difference(void **state)
{
	struct play p;
	struct replay_row row;
	struct err err = { 0 };

	(void)state;
	play_a_little(&p);
	row = copy_of(&p, row_of(&p, "launch"));
	row.at_s += 1e-9;
	assert_int_equal(replay_changed(&p, row.seq - 1, &row, &err), ERR_DIFFER);
	assert_non_null(strstr(err.text, "launch"));
	row = copy_of(&p, row_of(&p, "start"));
	row.body = "{}";
	assert_int_equal(replay_changed(&p, row.seq - 1, &row, &err), ERR_DIFFER);
	row = copy_of(&p, row_of(&p, "over"));
	row.attempt = 2;
	assert_int_equal(replay_changed(&p, row.seq - 1, &row, &err), ERR_DIFFER);
	row = copy_of(&p, row_of(&p, "end"));
	row.kind = "state";
	assert_int_equal(replay_changed(&p, row.seq - 1, &row, &err), ERR_DIFFER);
	play_close(&p);
}

static void a_missing_or_foreign_row_is_a_difference(void **state)
{
	struct play p;
	struct replay_row none = { 0 }, row;
	struct err err = { 0 };

	(void)state;
	play_a_little(&p);
	assert_int_equal(replay_changed(&p, row_of(&p, "launch"), &none, &err), ERR_DIFFER);
	assert_int_equal(replay_changed(&p, row_of(&p, "end"), &none, &err), ERR_DIFFER);
	assert_int_equal(replay_changed(&p, row_of(&p, "submit"), &none, &err), ERR_DIFFER);
	assert_int_equal(replay_changed(&p, row_of(&p, "exit"), &none, &err), ERR_DIFFER);
	row = copy_of(&p, row_of(&p, "begun"));
	row.kind = "nonsense";
	assert_int_equal(replay_changed(&p, row.seq - 1, &row, &err), ERR_FORMAT);
	row = copy_of(&p, row_of(&p, "begun"));
	row.body = "{";
	assert_int_equal(replay_changed(&p, row.seq - 1, &row, &err), ERR_FORMAT);
	row = copy_of(&p, 0);
	row.body = "{\"policy\":\"fifo\"}";
	assert_int_equal(replay_changed(&p, 0, &row, &err), ERR_FORMAT);
	assert_int_equal(replay_changed(&p, 0, &none, &err), ERR_FORMAT);
	play_close(&p);
}

/* Another seed, another machine: other decisions, or the same, but never silence. */
static void another_policy_decides_otherwise(void **state)
{
	struct play p;
	struct replay_row row;
	struct err err = { 0 };
	json_t *body;
	char *text;

	(void)state;
	play_open(&p, "1x1", "priority:preempt=yes");
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_submit(&p, 2, (struct ask){ .gpus = 1, .priority = 5 });
	body = json_loads(p.rows.at[0].body, 0, NULL);
	json_object_set_new(body, "policy", json_string("fifo"));
	text = json_dumps(body, JSON_COMPACT);
	row = copy_of(&p, 0);
	row.body = text;
	assert_int_equal(replay_changed(&p, 0, &row, &err), ERR_DIFFER);
	assert_non_null(strstr(err.text, "now comes nothing"));
	free(text);
	json_decref(body);
	play_close(&p);
}

/* Notes that came now but stand nowhere, before an epoch: its daemon was killed before it wrote them. */
static void notes_before_an_epoch_may_be_lost(void **state)
{
	struct play p;
	struct replay *replay = replay_create();
	struct replay_result result;
	struct err err = { 0 };

	(void)state;
	play_a_little(&p);
	for (size_t i = 0; i < p.rows.n; i++) {
		struct replay_row row = copy_of(&p, i);

		/* The last note of the first epoch is that of the last begin. */
		if (i + 1 < p.rows.n && !strcmp(p.rows.at[i + 1].kind, "epoch"))
			continue;
		assert_int_equal(replay_row(replay, &row, &err), 0);
		if (!strcmp(row.kind, "epoch") && i > 0)
			break;
	}
	assert_int_equal(replay_finish(replay, &result, &err), 0);
	assert_int_equal(result.lost, 1);
	assert_int_equal(result.epochs, 2);
	replay_destroy(replay);
	play_close(&p);
}

static void what_was_compared_is_counted(void **state)
{
	struct play p;
	struct replay_result result;

	(void)state;
	play_a_little(&p);
	play_replay(&p, &result);
	assert_int_equal(result.epochs, 2);
	assert_int_equal(result.inputs, 6);
	assert_int_equal(result.rows, result.notes + result.inputs + result.epochs);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_note_is_a_difference),
		cmocka_unit_test(a_missing_or_foreign_row_is_a_difference),
		cmocka_unit_test(another_policy_decides_otherwise),
		cmocka_unit_test(notes_before_an_epoch_may_be_lost),
		cmocka_unit_test(what_was_compared_is_counted),
		cmocka_unit_test(worlds_come_again),
		cmocka_unit_test(every_policy_comes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
