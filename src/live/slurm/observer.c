/*
 * A Slurm cluster that is looked at: the line to it, and the table of a world
 * that does nothing.
 */
#include "live/slurm/observer.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/members.h"
#include "live/slurm/observer_state.h"

#define ANSWER_S 60.0 /* for an answer of the bridge */
#define OPEN_S 20.0   /* for the first word of the cluster */
#define NODES_EVERY_S 15.0
#define PAUSE_MAX_S 60.0 /* between looks at a cluster that does not answer */
#define POLL_S 2.0
#define PATIENCE_S 120.0
enum { NOTE_MAX_BYTES = 65536 };

static struct slurm_observer *of(const struct hands *hands)
{
	return (struct slurm_observer *)hands;
}

void observer_wake(struct slurm_observer *o)
{
	wire_wake(o->wire, o->now_s());
}

/* ---- a cluster that does not answer */

static void lose_sight(struct slurm_observer *o, const char *error)
{
	o->pause_s = fmin(PAUSE_MAX_S, o->pause_s > 0 ? o->pause_s * 2 : o->poll_s);
	if (!o->away)
		buf_printf(&o->say,
			"Slurm does not answer (%s): nothing is heard of its jobs until it does; trying on\n",
			error);
	o->away = true;
}

static void regain_sight(struct slurm_observer *o)
{
	o->pause_s = 0;
	o->back |= o->away;
	o->away = false;
}

static enum err_code code_of(const char *kind)
{
	if (!strcmp(kind, "program"))
		return ERR_MISSING;
	return !strcmp(kind, "unreachable") || !strcmp(kind, "timeout") || !strcmp(kind, "bridge")
		? ERR_IO
		: ERR_REFUSED;
}

static void hear_away(void *ctx, const char *kind, const char *error)
{
	struct slurm_observer *o = ctx;

	if (!o->helloed) {
		o->refused = true;
		err_set(&o->trouble, code_of(kind), "%s%s",
			strcmp(kind, "program") ? "Slurm cannot be looked at: " : "", error);
		return;
	}
	lose_sight(o, error);
}

static void hear_hello(void *ctx, const json_t *hello)
{
	struct slurm_observer *o = ctx;
	const char *cluster = member_text(hello, "cluster"), *version = member_text(hello, "slurm");

	o->helloed = true;
	snprintf(o->cluster, sizeof(o->cluster), "%s", cluster ? cluster : "slurm");
	snprintf(o->version, sizeof(o->version), "%s", version ? version : "?");
}

/* ---- nodes */

static void hear_partitions(void *ctx, const struct wire_answer *answer)
{
	struct slurm_observer *o = ctx;
	const json_t *one;
	size_t i;

	if (answer->lost || !answer->ok)
		return;
	json_array_foreach(json_object_get(answer->body, "partitions"), i, one)
	{
		const char *name = member_text(one, "name");
		json_t *nodes = json_object_get(one, "nodes");

		if (!name || strcmp(name, o->partition) != 0)
			continue;
		/* Nodes are shown again in full, or those that are new in it would be missing. */
		if (o->members && !json_equal(o->members, nodes))
			o->nodes_stamp = 0;
		json_decref(o->members);
		o->members = json_incref(nodes);
	}
	o->members_known = true;
}

static void hear_nodes(void *ctx, const struct wire_answer *answer)
{
	struct slurm_observer *o = ctx;

	o->asked_nodes = false;
	o->nodes_answered = true;
	if (answer->lost || !answer->ok) {
		err_set(&o->trouble, answer->lost ? ERR_IO : code_of(answer->kind),
			"Slurm does not say which nodes there are: %s", answer->error);
		return;
	}
	if (o->partition && !o->members)
		return;
	o->nodes_changed |= nodes_read(&o->nodes, answer->body, o->members) && o->nodes_known;
	o->nodes_known = true;
	o->nodes_stamp = member_int(answer->body, "stamp", 0);
}

static void ask_nodes(struct slurm_observer *o)
{
	if (o->asked_nodes)
		return;
	o->asked_nodes = true;
	o->next_nodes_s = o->now_s() + fmax(NODES_EVERY_S, o->pause_s);
	if (o->partition)
		wire_send(o->wire, json_pack("{s:s}", "op", "partitions"), ANSWER_S,
			hear_partitions, o);
	wire_send(o->wire, json_pack("{s:s,s:I}", "op", "nodes", "since", (json_int_t)o->nodes_stamp),
		ANSWER_S, hear_nodes, o);
}

/* As people see them who only look: where nothing new starts something may still run. */
static struct nodes as_seen(const struct nodes *nodes)
{
	struct nodes seen = { 0 };

	for (size_t i = 0; i < nodes->at.n; i++) {
		struct slurm_node node = nodes->at.at[i];

		node.usable = !node.dead;
		if (node.usable)
			node.why[0] = '\0';
		vec_push(&seen.at, node);
	}
	return seen;
}

/* Polls until it is so; false: not in time, or it was refused. */
static bool wait_for(struct slurm_observer *o, const bool *it, double patience_s)
{
	double until_s = clock_wall_s() + patience_s;
	struct err ignored = { 0 };

	while (!*it && clock_wall_s() < until_s) {
		struct pollfd fd = { .fd = wire_fd(o->wire), .events = POLLIN };

		wire_poll(o->wire, &ignored);
		if (*it || (o->refused && o->trouble.code != ERR_IO))
			break;
		poll(&fd, 1, 100);
	}
	return *it;
}

static int observer_discover(struct hands *hands, struct machine *out, struct err *err)
{
	struct slurm_observer *o = of(hands);
	struct nodes seen;
	int rc;

	o->nodes_answered = false;
	ask_nodes(o);
	wait_for(o, &o->nodes_answered, ANSWER_S);
	if (!o->nodes_known) {
		if (o->members_known && !o->members)
			return err_set(err, ERR_MISSING,
				"Slurm has no partition %s; `sinfo` lists those that it has",
				o->partition);
		return err_set(err, o->trouble.code ? o->trouble.code : ERR_IO, "%s",
			o->trouble.code ? o->trouble.text : "Slurm does not say which nodes there are");
	}
	seen = as_seen(&o->nodes);
	nodes_notices(&seen, &o->say);
	rc = nodes_machine(&seen, o->cluster, o->version, out, err);
	nodes_fini(&seen);
	return rc;
}

static int observer_refresh(struct hands *hands, struct machine *machine)
{
	struct nodes seen = as_seen(&of(hands)->nodes);
	int what = nodes_refresh(&seen, NULL, 0, NULL, machine);

	nodes_fini(&seen);
	return what;
}

/* ---- jobs */

static void hear_jobs(void *ctx, const struct wire_answer *answer)
{
	struct slurm_observer *o = ctx;

	o->asked_jobs = false;
	if (answer->lost || !answer->ok) {
		lose_sight(o, answer->error);
	} else {
		regain_sight(o);
		/* An answer to a question before somebody was expected late says nothing of them. */
		if (o->jobs_stamp >= 0 || member_bool(answer->body, "full", false))
			o->jobs_stamp = member_int(answer->body, "stamp", 0);
		sights_read(&o->sights, answer->body, o->now_s(), &o->say);
	}
	o->next_jobs_s = o->now_s() + (o->pause_s > 0 ? o->pause_s : o->poll_s);
}

static void ask_jobs(struct slurm_observer *o)
{
	json_t *request = json_pack("{s:s,s:I}", "op", "jobs", "since",
		(json_int_t)(o->jobs_stamp > 0 ? o->jobs_stamp : 0));

	if (o->partition)
		json_object_set_new(request, "partitions", json_pack("[s]", o->partition));
	o->asked_jobs = true;
	wire_send(o->wire, request, ANSWER_S, hear_jobs, o);
}

static int observer_poll(struct hands *hands, struct err *err)
{
	struct slurm_observer *o = of(hands);
	double now_s = o->now_s();
	bool more;
	int rc;

	if (o->expected_all && !o->asked_nodes && now_s >= o->next_nodes_s)
		ask_nodes(o);
	if (o->expected_all && !o->asked_jobs && now_s >= o->next_jobs_s)
		ask_jobs(o);
	rc = wire_poll(o->wire, err);
	more = o->expected_all && observer_tell(o);
	wire_wake(o->wire,
		more                                        ? now_s
			: !o->expected_all || o->asked_jobs ? INFINITY
							    : o->next_jobs_s);
	return rc;
}

static int observer_fd(const struct hands *hands)
{
	return wire_fd(of(hands)->wire);
}

/* ---- what the core says */

/* A job that is announced late was not in the last answer: the next is asked for in full. */
static int observer_expect(struct hands *hands, const struct launch *launch, struct err *err)
{
	struct slurm_observer *o = of(hands);
	struct sight *s = sights_expect(&o->sights, launch->key);

	(void)err;
	if (!s)
		return 0; /* not of Slurm: it waits for ever, as whoever submitted it here was told */
	if (s->standing == SIGHT_ASKED)
		o->unanswered--;
	if (s->standing != SIGHT_TAKEN || s->job != launch->job)
		sights_bind(&o->sights, s, launch->job);
	if (!s->shown && o->sights.began)
		o->jobs_stamp = -1;
	return 0;
}

static void observer_expected_all(struct hands *hands)
{
	of(hands)->expected_all = true;
	observer_wake(of(hands));
}

static void observer_taken(struct hands *hands, const char *key, uint32_t job, const char *why)
{
	struct slurm_observer *o = of(hands);
	struct sight *s = sights_find_key(&o->sights, key);

	if (!s || s->standing != SIGHT_ASKED)
		return;
	o->unanswered--;
	sights_bind(&o->sights, s, job);
	if (!job)
		buf_printf(&o->say, "Slurm's job %s is not shown: %s\n", s->name,
			why ? why : "it was refused");
	observer_wake(o);
}

static void observer_forget(struct hands *hands, uint32_t job)
{
	struct sight *s = sights_find_job(&of(hands)->sights, job);

	if (!s || s->standing != SIGHT_TAKEN)
		return;
	while (s->runs.n)
		sight_drop_run(s);
	s->standing = SIGHT_IGNORED;
}

/* ---- attempts */

static char *note_path(const struct slurm_observer *o, uint32_t job, uint32_t attempt)
{
	char *dir = hands_dir(&o->base, job, attempt), *path = path_join(dir, "slurm.json");

	free(dir);
	return path;
}

/* Which run the attempt is, for a daemon that is started anew. */
static int write_note(const struct slurm_observer *o, const struct sight *s, const struct run *run,
	uint32_t attempt, struct err *err)
{
	json_t *note = json_pack("{s:s,s:I,s:f,s:s?,s:s?}", "job", s->name, "restarts",
		(json_int_t)run->restarts, "start", run->begun_s, "out",
		member_text(s->shown, "out"), "err", member_text(s->shown, "err"));
	char *path = note_path(o, s->job, attempt), *text = json_dumps(note, JSON_COMPACT);
	int rc = file_write(path, text, strlen(text), err);

	free(text);
	free(path);
	json_decref(note);
	return rc;
}

/* NULL: there is none. */
static json_t *read_note(const struct slurm_observer *o, uint32_t job, uint32_t attempt)
{
	char *path = note_path(o, job, attempt);
	struct err ignored = { 0 };
	json_t *note = NULL;
	struct file file;

	if (file_exists(path) && file_read_upto(path, NOTE_MAX_BYTES, &file, &ignored) == 0) {
		note = json_loadb(file.at, file.n, 0, NULL);
		file_fini(&file);
	}
	free(path);
	return note;
}

/* The run that is to be launched; of a job that was not shown since a restart it is whichever comes first. */
static struct run *run_to_launch(struct sight *s)
{
	struct run *run = s ? sight_run(s) : NULL;

	if (!s || s->standing != SIGHT_TAKEN)
		return NULL;
	if (run)
		return run->told && !run->attempt ? run : NULL;
	if (s->shown || s->gone)
		return NULL;
	run = sight_add_run(s, -1, 0);
	run->told = true;
	return run;
}

static int observer_launch(struct hands *hands, const struct launch *launch, struct err *err)
{
	struct slurm_observer *o = of(hands);
	struct sight *s = sights_find_job(&o->sights, launch->job);
	struct run *run = run_to_launch(s);

	if (run && write_note(o, s, run, launch->attempt, err) < 0)
		return err->code;
	if (run) {
		run->attempt = launch->attempt;
		s->dirty = true;
	} else {
		vec_push(&o->loose, (struct loose){ launch->job, launch->attempt });
	}
	observer_wake(o);
	return 0;
}

static struct run *run_of(const struct slurm_observer *o, uint32_t job, uint32_t attempt)
{
	struct sight *s = sights_find_job(&o->sights, job);
	struct run *run = s ? sight_run(s) : NULL;

	return run && run->attempt == attempt ? run : NULL;
}

/* Nothing is done: it is over when Slurm shows that it is. */
static int observer_stop(struct hands *hands, uint32_t job, uint32_t attempt, bool now, struct err *err)
{
	struct run *run = run_of(of(hands), job, attempt);

	(void)now;
	(void)err;
	if (run)
		run->asked = true;
	return 0;
}

static int observer_signal(struct hands *hands, uint32_t job, uint32_t attempt, int signal,
	struct err *err)
{
	(void)hands;
	(void)job;
	(void)attempt;
	(void)signal;
	return err_set(err, ERR_REFUSED,
		"this daemon only looks on: it changes nothing of Slurm's jobs; use scancel --signal");
}

static int observer_claim(struct hands *hands, const struct holding *holding, bool void_it,
	enum claim *out, struct ending *ending, struct err *err)
{
	struct slurm_observer *o = of(hands);
	struct sight *s = sights_find_job(&o->sights, holding->job);
	struct run *run;
	json_t *note;

	(void)void_it;
	(void)err;
	if (!s || s->standing != SIGHT_TAKEN) {
		*out = CLAIM_ENDED;
		*ending = (struct ending){ .job = holding->job, .attempt = holding->attempt, .code = -1 };
		snprintf(ending->text, sizeof(ending->text), "it is no job of the Slurm cluster %s",
			o->cluster);
		return 0;
	}
	*out = CLAIM_RUNS;
	if (run_of(o, holding->job, holding->attempt))
		return 0;
	note = read_note(o, holding->job, holding->attempt);
	run = run_to_launch(s);
	if (!run)
		run = sight_add_run(s, -1, 0);
	if (note && !run->on) {
		run->restarts = member_int(note, "restarts", -1);
		run->begun_s = member_number(note, "start", 0);
	}
	run->told = true;
	run->attempt = holding->attempt;
	s->dirty = true;
	json_decref(note);
	observer_wake(o);
	return 0;
}

/* ---- for people */

static char *observer_output(const struct hands *hands, uint32_t job, uint32_t attempt, bool err_out)
{
	const struct slurm_observer *o = of(hands);
	const struct sight *s = sights_find_job(&o->sights, job);
	const char *what = err_out ? "err" : "out", *path = s ? member_text(s->shown, what) : NULL;
	json_t *note = path ? NULL : read_note(o, job, attempt);
	char *found, *dir;

	if (note)
		path = member_text(note, what);
	if (path) {
		found = mem_strdup(path);
	} else {
		dir = hands_dir(hands, job, attempt);
		found = path_join(dir, err_out ? "stderr" : "stdout");
		free(dir);
	}
	json_decref(note);
	return found;
}

static char *observer_alias(const struct hands *hands, uint32_t job)
{
	const struct sight *s = sights_find_job(&of(hands)->sights, job);

	return s ? mem_strdup(s->name) : NULL;
}

static uint32_t observer_running(const struct hands *hands)
{
	const struct sights *sights = &of(hands)->sights;
	uint32_t n = 0;

	for (size_t i = 0; i < sights->all.n; i++)
		n += sights->all.at[i]->runs.n && sights->all.at[i]->runs.at[0].attempt;
	return n;
}

static const char *observer_kind(const struct hands *hands)
{
	(void)hands;
	return "slurm";
}

/* ---- the table */

static void observer_close(struct hands *hands)
{
	struct slurm_observer *o = of(hands);

	wire_close(o->wire);
	sights_fini(&o->sights);
	nodes_fini(&o->nodes);
	json_decref(o->members);
	buf_fini(&o->say);
	vec_fini(&o->loose);
	free(o->partition);
	for (char **word = o->command; word && *word; word++)
		free(*word);
	free(o->command);
}

static const struct hands_table table = {
	.name = "slurm",
	.close = observer_close,
	.fd = observer_fd,
	.poll = observer_poll,
	.discover = observer_discover,
	.refresh = observer_refresh,
	.expect = observer_expect,
	.expected_all = observer_expected_all,
	.taken = observer_taken,
	.forget = observer_forget,
	.launch = observer_launch,
	.stop = observer_stop,
	.signal = observer_signal,
	.claim = observer_claim,
	.output = observer_output,
	.alias = observer_alias,
	.running = observer_running,
	.kind = observer_kind,
	.sets_devices = true,
};

/* ---- opening */

static struct slurm_observer *create(const struct hands_config *config,
	const struct slurm_options *options)
{
	struct slurm_observer *o = mem_alloc(sizeof(*o));

	hands_init(&o->base, &table, config);
	o->now_s = options->now_s ? options->now_s : clock_real_s;
	o->poll_s = options->poll_s > 0 ? options->poll_s : POLL_S;
	o->patience_s = options->patience_s > 0 ? options->patience_s : PATIENCE_S;
	o->partition = options->partition ? mem_strdup(options->partition) : NULL;
	o->command = bridge_command(options->bridge);
	o->bridge = (struct bridge){ .command = (const char *const *)o->command,
		.pid = -1,
		.in = -1,
		.out = -1 };
	return o;
}

static int make_jobs_dir(const struct slurm_observer *o, struct err *err)
{
	char *path = path_join(o->base.config.state_dir, "jobs");
	int rc = hands_make_path(path, err);

	free(path);
	return rc;
}

static int connect_to(struct slurm_observer *o, const struct transport *transport, void *self,
	struct err *err)
{
	struct wire_config wire = {
		.transport = transport,
		.transport_self = self,
		.now_s = o->now_s,
		.ctx = o,
		.hello = hear_hello,
		.away = hear_away,
	};

	if (make_jobs_dir(o, err) < 0 || wire_open(&wire, &o->wire, err) < 0)
		return err->code;
	if (wait_for(o, &o->helloed, OPEN_S)) {
		o->refused = false;
		o->trouble = (struct err){ 0 };
		return 0;
	}
	if (o->trouble.code)
		*err = o->trouble;
	else
		err_set(err, ERR_IO,
			"the bridge to Slurm (stint-slurm) does not answer: see what `sinfo` says");
	return err->code;
}

static int finish(struct slurm_observer *o, int rc, struct hands **out)
{
	if (rc < 0)
		hands_close(&o->base);
	else
		*out = &o->base;
	return rc;
}

int slurm_observer_open_on(const struct hands_config *config, const struct slurm_options *options,
	const struct transport *transport, void *self, struct hands **out, struct err *err)
{
	struct slurm_observer *o = create(config, options);

	return finish(o, connect_to(o, transport, self, err), out);
}

int slurm_observer_open(const struct hands_config *config, const struct slurm_options *options,
	struct hands **out, struct err *err)
{
	struct slurm_observer *o = create(config, options);

	return finish(o, connect_to(o, &bridge_transport, &o->bridge, err), out);
}
