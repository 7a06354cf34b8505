#include "cli/top/feed.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/live_tell.h"
#include "cli/top/screen.h"

/* A forecast that took a second is made again after ten at the earliest; one that there is not, after a minute. */
enum { JOBS_SHOWN = 1000, FORECAST_EVERY_S = 5, FORECAST_REST = 10, FORECAST_RETRY_S = 60 };

void feed_answer_fini(struct feed_answer *answer)
{
	json_decref(answer->nodes);
	json_decref(answer->jobs);
	json_decref(answer->forecast);
	buf_fini(&answer->text);
	free(answer->question.ids);
	*answer = (struct feed_answer){ 0 };
}

/* ---- questions */

void feed_look(const struct args *args, struct feed_answer *out)
{
	double began_s = clock_wall_s();
	char *path = mem_printf("/v1/jobs?limit=%d", JOBS_SHOWN);

	out->kind = FEED_LOOK;
	out->rc = live_get(args, "/v1/nodes", &out->nodes, &out->err);
	if (!out->rc)
		out->rc = live_get(args, path, &out->jobs, &out->err);
	out->took_s = clock_wall_s() - began_s;
	free(path);
}

json_t *feed_forecast(const struct args *args)
{
	struct err ignored = { 0 };
	json_t *forecast = NULL;

	live_get(args, "/v1/forecast", &forecast, &ignored);
	return forecast;
}

static int put_part(const struct args *args, const char *job, const char *part, live_put *put,
	struct feed_answer *out)
{
	char *path = live_job_path(job, part);
	json_t *answer = NULL;
	int rc = live_get(args, path, &answer, &out->err);

	if (!rc)
		put(answer, &(struct term){ .utf8 = true }, &out->text);
	json_decref(answer);
	free(path);
	return rc;
}

/* What explain cannot say of a job (it may just have ended) takes nothing from what is known. */
static void details(const struct args *args, struct feed_answer *out)
{
	const char *job = out->question.label;

	out->rc = put_part(args, job, NULL, live_put_job, out);
	if (!out->rc) {
		buf_char(&out->text, '\n');
		put_part(args, job, "explain", live_put_explanation, out);
	}
}

/* Of several jobs none was changed: that is a failure, with the reason of the first. */
static void judge(const json_t *reply, struct feed_answer *out)
{
	const json_t *reason = json_array_get(json_object_get(reply, "reasons"), 0);

	if (!out->rc && live_number(reply, "skipped") > 0 && !(live_number(reply, "changed") > 0))
		out->rc = err_set(&out->err, ERR_REFUSED, "job %s %s", live_text(reason, "first"),
			live_text(reason, "reason"));
}

static void change(const struct args *args, struct feed_answer *out)
{
	const struct feed_question *q = &out->question;
	char *path = q->ids ? mem_printf("/v1/jobs/%s", q->verb) : live_job_path(q->label, q->verb);
	json_t *body = json_object(), *reply = NULL;

	if (q->ids)
		json_object_set_new(body, "ids", json_string(q->ids));
	if (q->sets_priority)
		json_object_set_new(body, "priority", json_integer(q->priority));
	if (q->stop)
		json_object_set_new(body, "stop", json_true());
	out->rc = live_post(args, path, body, &reply, &out->err);
	if (!out->rc && q->ids)
		judge(reply, out);
	json_decref(reply);
	free(path);
}

/* ---- the thread */

struct feed {
	struct args args; /* of these only where the daemon is */
	char *socket;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked;
	bool over;
	/* under the lock: */
	struct {
		bool asked, busy, ready;
		struct feed_answer answer;
	} slots[FEED_KINDS];
	/* the thread's own: */
	json_t *forecast;  /* the last one */
	double forecast_s; /* when the next is asked for */
};

/* Forecasts are dear, and change slowly: the last one serves until the next is due. */
static void renew_forecast(struct feed *feed)
{
	double began_s = clock_wall_s(), took_s;

	if (began_s < feed->forecast_s)
		return;
	json_decref(feed->forecast);
	feed->forecast = feed_forecast(&feed->args);
	took_s = clock_wall_s() - began_s;
	feed->forecast_s = began_s +
		(feed->forecast ? fmax(FORECAST_EVERY_S, took_s * FORECAST_REST) : FORECAST_RETRY_S);
}

static void look(struct feed *feed, struct feed_answer *out)
{
	feed_look(&feed->args, out);
	if (out->rc) {
		feed->forecast_s = 0; /* whoever answers next may be another daemon */
		return;
	}
	renew_forecast(feed);
	out->forecast = json_incref(feed->forecast);
}

static void answer(struct feed *feed, enum feed_kind kind, struct feed_answer *out)
{
	switch (kind) {
	case FEED_LOOK:
		look(feed, out);
		break;
	case FEED_DETAILS:
		details(&feed->args, out);
		break;
	default:
		change(&feed->args, out);
	}
}

/* The next question, changes first; FEED_KINDS: none.  Under the lock. */
static int next_of(const struct feed *feed)
{
	int kind = FEED_KINDS - 1;

	while (kind >= 0 && !feed->slots[kind].asked)
		kind--;
	return kind < 0 ? FEED_KINDS : kind;
}

static void *work(void *ctx)
{
	struct feed *feed = ctx;

	pthread_mutex_lock(&feed->lock);
	while (!feed->over) {
		int kind = next_of(feed);
		struct feed_answer result;

		if (kind == FEED_KINDS) {
			pthread_cond_wait(&feed->asked, &feed->lock);
			continue;
		}
		feed->slots[kind].asked = false;
		feed->slots[kind].busy = true;
		result = feed->slots[kind].answer;
		pthread_mutex_unlock(&feed->lock);
		answer(feed, kind, &result);
		pthread_mutex_lock(&feed->lock);
		feed->slots[kind].answer = result;
		feed->slots[kind].busy = false;
		feed->slots[kind].ready = true;
		if (!feed->over)
			screen_wake();
	}
	pthread_mutex_unlock(&feed->lock);
	return NULL;
}

struct feed *feed_create(const struct args *args)
{
	struct feed *feed = mem_alloc(sizeof(*feed));
	sigset_t all, was;

	feed->socket = args->socket ? mem_strdup(args->socket) : NULL;
	feed->args = (struct args){ .socket = feed->socket };
	pthread_mutex_init(&feed->lock, NULL);
	pthread_cond_init(&feed->asked, NULL);
	/* Signals are for the thread that has the terminal. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	if (pthread_create(&feed->thread, NULL, work, feed))
		abort();
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return feed;
}

void feed_destroy(struct feed *feed)
{
	enum { PATIENCE_NS = 300 * 1000 * 1000 };
	struct timespec until;

	if (!feed)
		return;
	pthread_mutex_lock(&feed->lock);
	feed->over = true;
	pthread_cond_signal(&feed->asked);
	pthread_mutex_unlock(&feed->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PATIENCE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	/* One that still waits for the daemon keeps what it uses until the process ends, which is soon. */
	if (pthread_timedjoin_np(feed->thread, NULL, &until)) {
		pthread_detach(feed->thread);
		return;
	}
	for (int i = 0; i < FEED_KINDS; i++)
		feed_answer_fini(&feed->slots[i].answer);
	json_decref(feed->forecast);
	pthread_mutex_destroy(&feed->lock);
	pthread_cond_destroy(&feed->asked);
	free(feed->socket);
	free(feed);
}

bool feed_ask(struct feed *feed, enum feed_kind kind, const struct feed_question *about)
{
	bool free_slot;

	pthread_mutex_lock(&feed->lock);
	free_slot = !feed->slots[kind].asked && !feed->slots[kind].busy && !feed->slots[kind].ready;
	if (free_slot) {
		feed->slots[kind].answer = (struct feed_answer){ .kind = kind };
		if (about)
			feed->slots[kind].answer.question = *about;
		feed->slots[kind].asked = true;
		pthread_cond_signal(&feed->asked);
	}
	pthread_mutex_unlock(&feed->lock);
	return free_slot;
}

bool feed_take(struct feed *feed, struct feed_answer *out)
{
	bool found = false;

	pthread_mutex_lock(&feed->lock);
	for (int i = 0; i < FEED_KINDS && !found; i++) {
		if (!feed->slots[i].ready)
			continue;
		found = true;
		feed->slots[i].ready = false;
		*out = feed->slots[i].answer;
		feed->slots[i].answer = (struct feed_answer){ 0 };
	}
	pthread_mutex_unlock(&feed->lock);
	return found;
}
