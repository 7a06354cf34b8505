#include "cli/live.h"

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/client.h"
#include "api/route.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/plain.h"
#include "cli/live_print.h"
#include "cli/ui.h"
#include "live/submission.h"

/* Seconds without a byte from the daemon, and of one long poll. */
enum { LONG_S = 60, POLL_S = 30 };

/* ---- flags */

static const struct flag daemon_flags[] = {
	TEXT(socket, "PATH", "where the daemon listens (default: $STINT_SOCKET, or its own place)"),
	{ 0 },
};

const struct flag_group flags_daemon = {
	.title = "the daemon",
	.flags = daemon_flags,
	.aside = true,
};

#undef SWITCH
static const struct flag job_flags[] = {
#define SAID(name_, letter_, value_, help_) \
	{ .name = #name_, \
		.kind = FLAG_SAID, \
		.letter = (letter_), \
		.offset = offsetof(struct args, said), \
		.value = (value_), \
		.help = (help_) },
#define FIELD(name_, letter_, value_, help_) SAID(name_, letter_, value_, help_)
#define SWITCH(name_, letter_, help_) SAID(name_, letter_, NULL, help_)
#include "live/submission_fields.def"
#undef FIELD
#undef SWITCH
	{ 0 },
};

const struct flag_group flags_job = { .title = "the job", .flags = job_flags };

/* ---- places */

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static const char *home(void)
{
	const struct passwd *me = variable("HOME") ? NULL : getpwuid(geteuid());

	return variable("HOME") ? variable("HOME") : me ? me->pw_dir : "/";
}

char *live_state_dir(const char *said, bool system)
{
	const char *dir = said ? said : variable("STINT_STATE");

	if (dir)
		return mem_strdup(dir);
	if (system)
		return mem_strdup("/var/lib/stint");
	if (variable("XDG_STATE_HOME"))
		return path_join(variable("XDG_STATE_HOME"), "stint");
	return path_join(home(), ".local/state/stint");
}

char *live_socket(const char *said, const char *state_dir, bool system)
{
	const char *path = said ? said : variable("STINT_SOCKET"),
		   *runtime = variable("XDG_RUNTIME_DIR");

	if (path)
		return mem_strdup(path);
	if (system)
		return mem_strdup("/run/stint/socket");
	if (runtime && file_is_dir(runtime))
		return path_join(runtime, "stint/socket");
	return path_join(state_dir, "socket");
}

/* One's own daemon, or else the machine's. */
static char *find_socket(const struct args *args)
{
	char *state = live_state_dir(NULL, false), *own = live_socket(args->socket, state, false);
	char *common = live_socket(args->socket, state, true);
	bool use_common = !file_exists(own) && file_exists(common);

	free(state);
	free(use_common ? own : common);
	return use_common ? common : own;
}

/* ---- asking */

struct daemon_line {
	struct client *client;
	char *socket;
};

static int line_open(struct daemon_line *line, const struct args *args, struct err *err)
{
	int rc;

	line->socket = find_socket(args);
	rc = client_open(&(struct client_where){ .socket = line->socket }, &line->client, err);
	if (rc)
		free(line->socket);
	return rc;
}

static void line_close(struct daemon_line *line)
{
	client_close(line->client);
	free(line->socket);
}

static int unreachable(const struct daemon_line *line, int rc, struct err *err)
{
	if (rc != ERR_UNREACHABLE)
		return rc;
	return err_set(err, rc, "no daemon answers at %s; start one with: stint daemon &",
		line->socket);
}

/* What people see of an answer is plain: names in old records may not be.  JSON is escaped where it is printed. */
static void make_plain(json_t *value)
{
	struct buf out = { 0 };
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_string(value) && !text_is_plain(json_string_value(value))) {
		text_escape(&out, json_string_value(value));
		json_string_set(value, out.at);
		buf_fini(&out);
	}
	json_array_foreach(value, i, member)
	{
		make_plain(member);
	}
	json_object_foreach(value, key, member)
	{
		/* These two have lines; ui_print() sees to the rest. */
		if (strcmp(key, "yaml") != 0 && strcmp(key, "cluster") != 0)
			make_plain(member);
	}
}

static int ask(const struct args *args, const struct client_ask *question, json_t **reply,
	struct err *err)
{
	struct client_answer answer = { 0 };
	struct daemon_line line;
	int rc = line_open(&line, args, err);

	if (rc)
		return rc;
	rc = client_request(line.client, question, &answer, err);
	if (rc)
		rc = unreachable(&line, rc, err);
	else
		rc = client_check(&answer, err);
	if (!rc && reply && !answer.json)
		rc = err_set(err, ERR_FORMAT, "the daemon's answer to %s is no JSON", question->path);
	if (!rc && reply) {
		if (!args->json)
			make_plain(answer.json);
		*reply = json_incref(answer.json);
	}
	client_answer_fini(&answer);
	line_close(&line);
	return rc;
}

int live_get(const struct args *args, const char *path, json_t **reply, struct err *err)
{
	return ask(args, &(struct client_ask){ .method = "GET", .path = path, .timeout_s = LONG_S },
		reply, err);
}

int live_post(const struct args *args, const char *path, json_t *body, json_t **reply, struct err *err)
{
	const struct client_ask question = { .method = "POST",
		.path = path,
		.body = body,
		.timeout_s = LONG_S };
	int rc = ask(args, &question, reply, err);

	json_decref(body);
	return rc;
}

int live_stream(const struct args *args, const char *path, reply_body *see, void *ctx, struct err *err)
{
	return ask(args,
		&(struct client_ask){ .method = "GET", .path = path, .timeout_s = -1, .see = see, .ctx = ctx },
		NULL, err);
}

int live_events(const struct args *args, uint64_t after, sse_event *see, void *ctx, struct err *err)
{
	struct daemon_line line;
	int rc = line_open(&line, args, err);

	if (rc)
		return rc;
	rc = unreachable(&line, client_events(line.client, after, see, ctx, err), err);
	line_close(&line);
	return rc;
}

/* ---- paths */

int live_check_job(const char *word, struct err *err)
{
	static const char slurm[] = "slurm:";
	const char *said = word;
	size_t n, m;
	bool whole, element;

	if (!strncmp(word, slurm, sizeof(slurm) - 1))
		word += sizeof(slurm) - 1;
	n = strspn(word, "0123456789");
	m = word[n] == '_' ? strspn(word + n + 1, "0123456789") : 0;
	whole = n && n < 11 && !word[n];
	element = n && n < 11 && m && m < 11 && !word[n + 1 + m];
	if (whole || element)
		return 0;
	return err_set(err, ERR_USAGE,
		"'%s' is no job; write its number, such as 7, or 7_3 in an array; slurm:4711 by Slurm's number",
		said);
}

char *live_job_path(const char *job, const char *verb)
{
	return mem_printf("/v1/jobs/%s%s%s", job, verb ? "/" : "", verb ? verb : "");
}

void live_query(struct buf *path, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(path, "%c%s=", memchr(path->at, '?', path->n) ? '&' : '?', name);
	url_encode(value, path);
}

void live_query_number(struct buf *path, const char *name, double value)
{
	struct buf text = { 0 };

	buf_double(&text, value);
	live_query(path, name, text.at);
	buf_fini(&text);
}

const char *live_user(void)
{
	const struct passwd *me = getpwuid(geteuid());

	return me ? me->pw_name : "?";
}

/* ---- how jobs end */

bool live_is_over(const json_t *job)
{
	static const char *const live[] = { "PENDING", "CONFIGURING", "RUNNING", "COMPLETING" };
	const char *state = live_text(job, "state");

	for (size_t i = 0; state && i < sizeof(live) / sizeof(*live); i++)
		if (!strcmp(state, live[i]))
			return false;
	return state;
}

int live_exit_code(const json_t *job)
{
	const char *state = live_text(job, "state");
	double code = live_number(job, "exit_code");
	int number = live_signal(job);

	if (!state)
		return EXIT_FAILED;
	if (!strcmp(state, "COMPLETED"))
		return 0;
	if (!strcmp(state, "REJECTED"))
		return EXIT_NEVER;
	if (number > 0 && number < 128)
		return EXIT_SIGNAL + number;
	/* One that was stopped and left with 0 has not done its work. */
	return code > 0 && code < 256 ? (int)code : EXIT_FAILED;
}

int live_poll(const struct args *args, const char *job, double timeout_s, json_t **reply,
	struct err *err)
{
	char *base = live_job_path(job, "wait");
	struct buf path = { 0 };
	int rc;

	buf_str(&path, base);
	free(base);
	live_query_number(&path, "timeout_s", timeout_s);
	rc = live_get(args, path.at, reply, err);
	buf_fini(&path);
	return rc;
}

void live_say_notes(const struct args *args, const json_t *reply)
{
	const json_t *notes = json_object_get(reply, "notes");

	for (size_t i = 0; i < json_array_size(notes); i++)
		ui_say(args, "note: %s", json_string_value(json_array_get(notes, i)));
}

int live_wait(const struct args *args, const char *job, double until_s, json_t **reply, struct err *err)
{
	double lost_s = NAN; /* since when nobody answers */
	bool asked = false; /* the first question tells whether there is such a job and a daemon at all */

	for (;;) {
		double now_s = clock_wall_s();
		double timeout_s = asked ? fmin(fmax(0, until_s - now_s), POLL_S) : 0;
		int rc = live_poll(args, job, timeout_s, reply, err);

		if (!rc)
			err->text[0] = '\0'; /* of a daemon that was away */
		if (!rc && live_is_over(*reply))
			return 0;
		if (rc && !(asked && (rc == ERR_IO || rc == ERR_UNREACHABLE)))
			return rc;
		if (rc && now_s - lost_s > LIVE_PATIENCE_S)
			return rc;
		if (!rc)
			json_decref(*reply);
		*reply = NULL;
		asked = true;
		lost_s = !rc ? NAN : isnan(lost_s) ? now_s : lost_s;
		if (clock_wall_s() >= until_s)
			return err_set(err, ERR_TIMEOUT,
				"job %s has not ended in this time; it goes on", job);
		if (rc)
			live_pause(0.5);
	}
}

void live_pause(double seconds)
{
	struct timespec rest = { (time_t)seconds, (long)(fmod(seconds, 1) * 1e9) };

	fflush(stdout);
	nanosleep(&rest, NULL);
}

/* ---- where the daemon of $STINT_SOCKET keeps its state */

/* The daemon's own word; one that does not run may have had its socket there. */
static char *state_beside(const char *socket)
{
	char *dir = mem_strndup(socket, (size_t)(path_base(socket) - socket));
	char *db = path_join(*dir ? dir : ".", "stint.db");
	bool is = file_exists(db);

	free(db);
	if (is)
		return dir;
	free(dir);
	return NULL;
}

int live_find_state(const char *said, char **out, struct err *err)
{
	const char *socket = variable("STINT_SOCKET");
	struct args args = { 0 };
	json_t *reply = NULL;
	int rc;

	*out = NULL;
	if (said || variable("STINT_STATE") || !socket)
		return 0;
	rc = live_get(&args, "/v1/record", &reply, err);
	if (rc == 0 && json_is_string(json_object_get(reply, "state")))
		*out = mem_strdup(json_string_value(json_object_get(reply, "state")));
	json_decref(reply);
	if (!*out)
		*out = state_beside(socket);
	if (*out)
		return 0;
	return err_set(err, rc < 0 ? rc : ERR_MISSING,
		"STINT_SOCKET is %s, and the daemon there does not say where it keeps its state; say so with --state DIR",
		socket);
}
