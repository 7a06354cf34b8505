/*
 * The hands of a Slurm cluster: what the daemon asks is noted down here and
 * carried out by looks and orders (driver.h).
 */
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/members.h"
#include "live/slurm/driver.h"
#include "live/slurm/turn.h"

/* ---- small things */

double slurm_now(const struct slurm *s)
{
	return s->clock();
}

void slurm_say(struct slurm *s, int level, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	if (!s->base.config.say)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	s->base.config.say(s->base.config.ctx, level, text);
}

/* The daemon's thread goes on; what it asked is sent when it comes back to us. */
static void hurry(struct slurm *s)
{
	wire_wake(s->wire, slurm_now(s));
}

static int slurm_fd(const struct hands *self)
{
	return wire_fd(of_hands(self)->wire);
}

static uint32_t slurm_running(const struct hands *self)
{
	const struct slurm *s = of_hands(self);
	uint32_t n = 0;

	for (size_t i = 0; i < s->jobs.at.n; i++)
		n += s->jobs.at.at[i]->run.attempt != 0;
	return n;
}

static const char *slurm_kind_word(const struct hands *self)
{
	(void)self;
	return "slurm";
}

/* ---- polling */

static int slurm_poll(struct hands *self, struct err *err)
{
	struct slurm *s = of_hands(self);
	int rc;

	do {
		rc = wire_poll(s->wire, err);
		for (size_t i = 0; i < s->jobs.at.n; i++) {
			struct slurm_job *j = s->jobs.at.at[i];

			slurm_watch(s, j);
			if (j->kind == KIND_OFFER && !j->dead)
				slurm_offer(s, j);
		}
		jobs_sweep(&s->jobs);
		if (rc == 0)
			slurm_pump(s);
		/* What was sent just now may be answered at once. */
	} while (rc == 0 && wire_is_due(s->wire));
	return rc;
}

/* ---- what there is */

static int slurm_discover(struct hands *self, struct machine *out, struct err *err)
{
	struct slurm *s = of_hands(self);
	int rc = nodes_machine(&s->nodes, s->cluster, s->version, out, err);

	if (rc < 0)
		return rc;
	out->even = true;
	machine_turn(out, s->scheduler, s->schedulers);
	free(s->hosts);
	s->hosts = mem_alloc(mem_array_size(out->ndevices, sizeof(*s->hosts)));
	s->nhosts = out->ndevices;
	for (uint32_t i = 0; i < out->ndevices; i++)
		memcpy(s->hosts[i], out->devices[i].host, sizeof(s->hosts[i]));
	return 0;
}

static int slurm_refresh(struct hands *self, struct machine *machine)
{
	struct slurm *s = of_hands(self);
	struct nodes_guest *guests;
	size_t n = slurm_guests(s, &guests);
	bool *held = mem_alloc(mem_array_size(machine->ndevices + 1u, sizeof(*held)));
	int what;

	slurm_held(s, held, machine->ndevices);
	what = nodes_refresh(&s->nodes, guests, n, held, machine);
	free(held);
	free(guests);
	return what;
}

/* ---- jobs that wait */

/* The entry for a job of the daemon's, made if there is none. */
static struct slurm_job *entry_of(struct slurm *s, const struct launch *l)
{
	struct slurm_job *j = jobs_find(&s->jobs, l->job);
	char name[SLURM_NAME_MAX];
	double submit_s = 0;
	struct paper paper;

	if (j)
		return j;
	if (l->key && outside_key_read(l->key, name, &submit_s)) {
		j = jobs_find_name(&s->jobs, name);
		if (!j) {
			j = jobs_add(&s->jobs, KIND_TAKEN);
			jobs_set_name(&s->jobs, j, name);
		}
		j->kind = KIND_TAKEN;
		j->submit_s = submit_s;
		jobs_set_number(&s->jobs, j, l->job);
		if (paper_read(s, l->job, &paper) && !strcmp(paper.name, name))
			j->user_held = paper.user_held;
		return j;
	}
	j = jobs_add(&s->jobs, KIND_OWN);
	j->generation = 1;
	jobs_set_number(&s->jobs, j, l->job);
	if (!paper_read(s, l->job, &paper))
		return j;
	j->generation = paper.generation;
	if (!jobs_find_name(&s->jobs, paper.name)) {
		jobs_set_name(&s->jobs, j, paper.name);
		j->submit_s = paper.submit_s;
		j->user_held = paper.user_held;
	}
	return j;
}

static int slurm_expect(struct hands *self, const struct launch *l, struct err *err)
{
	struct slurm *s = of_hands(self);
	struct slurm_job *j = entry_of(s, l);

	(void)err;
	j->forgotten = false;
	j->stop_signal = l->stop_signal;
	j->grace_s = l->grace_s;
	j->limit_s = l->time_s;
	j->never_again = j->kind == KIND_TAKEN && !l->requeue;
	/* Until Slurm shows it: what was written down may be gone from there. */
	if (j->kind == KIND_OWN && !j->content && j->fact.state == FACT_NONE)
		j->content = paper_content(s, l);
	hurry(s);
	return 0;
}

static void slurm_expected_all(struct hands *self)
{
	struct slurm *s = of_hands(self);

	s->expected_all = true;
	hurry(s);
}

static void slurm_taken(struct hands *self, const char *key, uint32_t job, const char *why)
{
	struct slurm *s = of_hands(self);
	char name[SLURM_NAME_MAX];
	double submit_s;
	struct slurm_job *j;

	if (!outside_key_read(key, name, &submit_s) || !(j = jobs_find_name(&s->jobs, name)))
		return;
	if (!job && j->kind == KIND_OFFER) {
		j->kind = KIND_BACK;
		free(j->why);
		j->why = mem_printf("stint: %s", why ? why : "it was not taken in");
	} else if (job && j->kind == KIND_OFFER && !jobs_find(&s->jobs, job)) {
		j->kind = KIND_TAKEN;
		j->user_held = j->offered_held ? HOLD_WORD : HOLD_NONE;
		jobs_set_number(&s->jobs, j, job);
	}
	if (j->job)
		paper_write(s, j);
	hurry(s);
}

static void slurm_forget(struct hands *self, uint32_t job)
{
	struct slurm *s = of_hands(self);
	struct slurm_job *j = jobs_find(&s->jobs, job);

	if (!j)
		return;
	j->forgotten = true;
	json_decref(j->content);
	j->content = NULL;
	hurry(s);
}

/* ---- attempts */

static uint32_t count_on(const struct slurm *s, const struct run *run, const char *host)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < run->ndevices; i++)
		n += run->devices[i] < s->nhosts && !strcmp(s->hosts[run->devices[i]], host);
	return n;
}

/* Slurm gives each node of a job as many GPUs as the others. */
static void check_equal(const struct slurm *s, struct run *run)
{
	size_t n = json_array_size(run->nodes), i;
	const json_t *name;

	json_array_foreach(run->nodes, i, name)
	{
		if (count_on(s, run, json_string_value(name)) * n == run->ndevices)
			continue;
		run->back = run->hopeless = true;
		snprintf(run->why, sizeof(run->why),
			"Slurm gives every node of a job the same number of GPUs, and this was %u on %zu "
			"nodes otherwise",
			run->ndevices, n);
	}
}

static void begin_run(struct slurm *s, struct slurm_job *j, const struct holding *of)
{
	struct run *run = &j->run;

	run_fini(run);
	run->attempt = of->attempt;
	run->devices = mem_alloc(mem_array_size(of->n + 1u, sizeof(*run->devices)));
	run->ndevices = of->n;
	memcpy(run->devices, of->devices, of->n * sizeof(*run->devices));
	run->nodes = json_array();
	for (uint32_t i = 0; i < of->n; i++) {
		const char *host = of->devices[i] < s->nhosts ? s->hosts[of->devices[i]] : "";

		if (*host && !texts_have(run->nodes, host))
			json_array_append_new(run->nodes, json_string(host));
	}
	check_equal(s, run);
}

static int slurm_launch(struct hands *self, const struct launch *l, struct err *err)
{
	struct slurm *s = of_hands(self);
	struct slurm_job *j = entry_of(s, l);
	struct run *run = &j->run;

	if (run->attempt == l->attempt)
		return err_set(err, ERR_REFUSED, "attempt %u of job %u was ordered before",
			l->attempt, l->job);
	if (run->attempt)
		return err_set(err, ERR_IO, "attempt %u of job %u is not over yet", run->attempt,
			l->job);
	/* The daemon lets it go: somebody has released it there. */
	j->overruled |= j->user_held != HOLD_NONE;
	j->user_held = HOLD_NONE;
	begin_run(s, j, &(struct holding){ l->job, l->attempt, l->devices, l->ndevices });
	run->limit_s = l->time_s;
	run->stop_signal = l->stop_signal;
	run->grace_s = l->grace_s;
	run->never_again = j->kind == KIND_TAKEN && !l->requeue;
	if (j->kind == KIND_OWN && !*j->name && !j->content)
		j->content = paper_content(s, l);
	if (l->checkpoint)
		slurm_say(s, LEVEL_INFO,
			"job %u: its checkpoint command is not run, since Slurm has no place for it; the "
			"signal alone tells the job to save",
			l->job);
	hurry(s);
	return 0;
}

static int slurm_stop(struct hands *self, uint32_t job, uint32_t attempt, bool now, struct err *err)
{
	struct slurm *s = of_hands(self);
	struct slurm_job *j = jobs_find(&s->jobs, job);

	(void)err;
	if (!j || j->run.attempt != attempt)
		return 0;
	if (!j->run.stop)
		j->run.asked_s = slurm_now(s);
	j->run.stop = true;
	j->run.now |= now;
	/* It may have ended by itself since the last look. */
	j->need_look = s->looks + 1;
	hurry(s);
	return 0;
}

static int slurm_signal(struct hands *self, uint32_t job, uint32_t attempt, int number, struct err *err)
{
	struct slurm *s = of_hands(self);
	struct slurm_job *j = jobs_find(&s->jobs, job);

	if (number < 1 || number >= NSIG)
		return err_set(err, ERR_USAGE, "there is no signal %d", number);
	if (!j || j->run.attempt != attempt)
		return 0;
	j->signal = number;
	hurry(s);
	return 0;
}

/* It was ordered before a restart, perhaps: what Slurm shows will tell. */
static int slurm_claim(struct hands *self, const struct holding *of, bool void_it, enum claim *out,
	struct ending *ending, struct err *err)
{
	struct slurm *s = of_hands(self);
	struct launch like = { .job = of->job };
	struct slurm_job *j = entry_of(s, &like);

	(void)ending;
	(void)err;
	*out = CLAIM_RUNS;
	if (j->run.attempt == of->attempt) {
		j->run.stop |= void_it;
		return 0;
	}
	begin_run(s, j, of);
	j->run.claimed = true;
	j->run.stopped_before = void_it;
	j->run.stop_signal = j->stop_signal ? j->stop_signal : SIGTERM;
	j->run.grace_s = j->grace_s;
	j->run.never_again = j->never_again;
	j->run.limit_s = j->limit_s;
	if (void_it) {
		j->run.stop = true;
		j->run.asked_s = slurm_now(s);
	}
	hurry(s);
	return 0;
}

/* ---- for people */

static char *slurm_output(const struct hands *self, uint32_t job, uint32_t attempt, bool err_out)
{
	const struct slurm *s = of_hands(self);
	const struct slurm_job *j = jobs_find(&s->jobs, job);
	const char *path = !j ? NULL : err_out ? j->fact.err_out : j->fact.out;

	(void)attempt;
	return path ? mem_strdup(path) : paper_output(s, job, err_out);
}

static char *slurm_alias(const struct hands *self, uint32_t job)
{
	const struct slurm *s = of_hands(self);
	const struct slurm_job *j = jobs_find(&s->jobs, job);
	struct paper paper;

	if (j)
		return *j->name ? mem_strdup(j->name) : NULL;
	return paper_read(s, job, &paper) ? mem_strdup(paper.name) : NULL;
}

/* ---- the whole */

static void slurm_close(struct hands *self)
{
	struct slurm *s = of_hands(self);

	wire_close(s->wire);
	jobs_fini(&s->jobs);
	vec_fini(&s->asked);
	nodes_fini(&s->nodes);
	json_decref(s->names);
	json_decref(s->partitions);
	free(s->hosts);
	for (char **word = s->command; word && *word; word++)
		free(*word);
	free(s->command);
	free(s->partition);
	free(s->site);
}

static const struct hands_table slurm_table = {
	.name = "slurm",
	.close = slurm_close,
	.fd = slurm_fd,
	.poll = slurm_poll,
	.discover = slurm_discover,
	.refresh = slurm_refresh,
	.expect = slurm_expect,
	.expected_all = slurm_expected_all,
	.taken = slurm_taken,
	.forget = slurm_forget,
	.launch = slurm_launch,
	.stop = slurm_stop,
	.signal = slurm_signal,
	.claim = slurm_claim,
	.output = slurm_output,
	.alias = slurm_alias,
	.running = slurm_running,
	.kind = slurm_kind_word,
	.sets_devices = true,
};

/* Seconds since 1970 that go forward even where somebody sets the clock back. */
static double steady_clock(void)
{
	static double offset_s;

	if (offset_s == 0)
		offset_s = clock_real_s() - clock_wall_s();
	return clock_wall_s() + offset_s;
}

static int prepare(struct slurm *s, const struct slurm_options *o, struct err *err)
{
	struct wire_config wire = {
		.transport = o->transport ? o->transport : &bridge_transport,
		.transport_self = o->transport ? o->transport_self : &s->bridge,
		.now_s = s->clock,
		.ctx = s,
		.hello = slurm_hello,
		.away = slurm_away,
	};
	char *jobs = mem_printf("%s/jobs", s->base.config.state_dir);
	int rc = hands_make_path(jobs, err);

	free(jobs);
	if (rc == 0)
		rc = wire_open(&wire, &s->wire, err);
	return rc < 0 ? rc : slurm_begin(s, err);
}

int slurm_hands_open(const struct hands_config *config, const struct slurm_options *o,
	struct hands **out, struct err *err)
{
	struct slurm *s = mem_alloc(sizeof(*s));
	int rc;

	hands_init(&s->base, &slurm_table, config);
	s->command = bridge_command(o->bridge);
	s->bridge = (struct bridge){ .command = (const char *const *)s->command,
		.pid = -1,
		.in = -1,
		.out = -1 };
	s->partition = o->partition ? mem_strdup(o->partition) : NULL;
	s->site = mem_strdup(o->site);
	s->take = o->take;
	s->poll_s = o->poll_s > 0 ? o->poll_s : 1;
	s->patience_s = o->patience_s > 0 ? o->patience_s : 30;
	s->scheduler = o->scheduler;
	s->schedulers = o->schedulers;
	s->fake = o->transport;
	s->clock = o->now_s ? o->now_s : steady_clock;
	s->opened_s = slurm_now(s);
	rc = prepare(s, o, err);
	if (rc < 0) {
		hands_close(&s->base);
		return rc;
	}
	*out = &s->base;
	return 0;
}
