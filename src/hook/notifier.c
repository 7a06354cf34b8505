/*
 * A reader, and a thread for each rule.
 */
#include "hook/notifier.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/reply.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "hook/deliver.h"
#include "hook/event.h"

#define PAUSE_MAX_S 300.0
#define ABORT_S 1.0 /* for threads that were told to end at once */

enum { READ_BYTES = 256 * 1024, SAY_EVERY = 1000 };

struct queue {
	struct notifier *notifier;
	const struct hook *hook;
	uint32_t number; /* of the rule, from 1 */
	pthread_t thread;
	bool started;
	struct delivery at[NOTIFIER_QUEUE];
	size_t first, n;
	uint64_t dropped;
	atomic_bool cut; /* it was telling something when everything had to end */
	struct rng rng;
};

struct notifier {
	struct notifier_config config;
	struct hooks hooks;
	char host[256];
	struct stream_follower follower;
	uint64_t seq; /* the reader's */
	pthread_t reader;
	bool started; /* it was */

	pthread_mutex_t mutex; /* of what follows, and of the queues */
	pthread_cond_t changed;
	bool news;         /* the stream has something */
	bool read_all;     /* the reader has ended */
	bool stopping;     /* what waits may be sent, and that is all */
	atomic_bool abort; /* nothing may be waited for */
	struct queue *queues;
};

double notifier_pause_s(int tries, double chance)
{
	return fmin(ldexp(1, tries - 1), PAUSE_MAX_S) * (1 + chance / 2);
}

/* ---- what waits */

static void count(struct notifier *n, const char *result)
{
	if (n->config.count)
		n->config.count(n->config.ctx, result);
}

static void drop_oldest(struct queue *q)
{
	delivery_fini(&q->at[q->first]);
	q->first = (q->first + 1) % NOTIFIER_QUEUE;
	q->n--;
	q->dropped++;
	count(q->notifier, "dropped");
	if (q->dropped % SAY_EVERY == 1)
		log_warning(q->notifier->config.log,
			"notifications: rule %u does not keep up; the oldest are dropped (%llu so far)",
			q->number, (unsigned long long)q->dropped);
}

static void enqueue(struct queue *q, const char *name, const json_t *members)
{
	struct notifier *n = q->notifier;
	struct delivery d = { .event = mem_strdup(name) };
	struct buf body = { 0 };

	delivery_number(d.id);
	event_body(name, members, n->host, d.id, &body);
	d.body = body.at;
	pthread_mutex_lock(&n->mutex);
	if (q->n == NOTIFIER_QUEUE)
		drop_oldest(q);
	q->at[(q->first + q->n) % NOTIFIER_QUEUE] = d;
	q->n++;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->mutex);
}

/* False: there will be no more. */
static bool dequeue(struct queue *q, struct delivery *out)
{
	struct notifier *n = q->notifier;
	bool got;

	pthread_mutex_lock(&n->mutex);
	while (!q->n && !n->read_all && !atomic_load(&n->abort))
		pthread_cond_wait(&n->changed, &n->mutex);
	got = q->n && !atomic_load(&n->abort);
	if (got) {
		*out = q->at[q->first];
		q->at[q->first] = (struct delivery){ 0 };
		q->first = (q->first + 1) % NOTIFIER_QUEUE;
		q->n--;
	}
	pthread_mutex_unlock(&n->mutex);
	return got;
}

/* ---- the reader */

static int see(void *ctx, uint64_t id, const char *kind, const char *data)
{
	struct notifier *n = ctx;
	json_t *members = json_loads(data, 0, NULL);

	(void)id;
	if (!strcmp(kind, "lost")) {
		log_warning(n->config.log,
			"notifications: too much happened at once, some is not told");
		count(n, "dropped");
	}
	for (uint32_t i = 0; members && i < n->hooks.n; i++) {
		const char *name = hook_wants(&n->hooks.at[i], kind, members);

		if (name)
			enqueue(&n->queues[i], name, members);
	}
	json_decref(members);
	return 0;
}

/* Everything there is. */
static void read_stream(struct notifier *n, struct sse *sse)
{
	struct buf text = { 0 };

	while (stream_read(n->config.stream, &n->seq, READ_BYTES, &text)) {
		if (sse_feed(sse, text.at, text.n, see, n) < 0)
			log_warning(n->config.log, "notifications: an event is too long to be told");
		buf_clear(&text);
	}
	buf_fini(&text);
}

/* The stream calls wake() under its lock, so that ours must not be held when we call the stream. */
static bool wait_for_news(struct notifier *n)
{
	bool more;

	pthread_mutex_lock(&n->mutex);
	while (!n->news && !n->stopping)
		pthread_cond_wait(&n->changed, &n->mutex);
	n->news = false;
	more = !n->stopping;
	pthread_mutex_unlock(&n->mutex);
	return more;
}

static void *read_news(void *self)
{
	struct notifier *n = self;
	struct sse sse = { 0 };
	bool more;

	do {
		more = wait_for_news(n);
		read_stream(n, &sse);
	} while (more);
	sse_fini(&sse);
	pthread_mutex_lock(&n->mutex);
	n->read_all = true;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->mutex);
	return NULL;
}

static void wake(void *ctx)
{
	struct notifier *n = ctx;

	pthread_mutex_lock(&n->mutex);
	n->news = true;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->mutex);
}

/* ---- a rule */

static struct timespec moment(double in_s)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += (time_t)in_s;
	t.tv_nsec += (long)((in_s - floor(in_s)) * 1e9);
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* False: there is no time to try again. */
static bool pause_for(struct notifier *n, double seconds)
{
	struct timespec until = moment(seconds);
	int rc = 0;
	bool go;

	pthread_mutex_lock(&n->mutex);
	while (rc == 0 && !n->stopping)
		rc = pthread_cond_timedwait(&n->changed, &n->mutex, &until);
	go = !n->stopping;
	pthread_mutex_unlock(&n->mutex);
	return go;
}

static void say_failed(const struct queue *q, const struct delivery *d, int tries,
	const struct reception *o)
{
	struct buf to = { 0 };

	hook_receiver(q->hook, &to);
	log_warning(q->notifier->config.log,
		"notifications: rule %u could not tell %s of '%s' (%d tr%s): %s", q->number, to.at,
		d->event, tries, tries == 1 ? "y" : "ies", o->why.n ? o->why.at : "no reason given");
	buf_fini(&to);
}

/* One try after the other; nothing outside is touched once everything must end. */
static void tell(struct queue *q, const struct delivery *d)
{
	struct notifier *n = q->notifier;
	bool again = true;

	for (int tries = 1; again; tries++) {
		struct reception o;

		deliver(q->hook, d, &n->abort, &o);
		again = o.verdict == NOT_NOW && tries <= q->hook->retries && !atomic_load(&n->abort) &&
			pause_for(n, notifier_pause_s(tries, rng_uniform(&q->rng)));
		if (!again && o.verdict != DELIVERED && atomic_load(&n->abort)) {
			atomic_store(&q->cut, true);
		} else if (!again) {
			count(n, o.verdict == DELIVERED ? "delivered" : "failed");
			if (o.verdict != DELIVERED)
				say_failed(q, d, tries, &o);
		}
		reception_fini(&o);
	}
}

static void *serve(void *self)
{
	struct queue *q = self;
	struct delivery d;

	while (dequeue(q, &d)) {
		tell(q, &d);
		delivery_fini(&d);
	}
	return NULL;
}

/* ---- life */

/* Signals are the loop's. */
static bool start_thread(pthread_t *thread, void *(*run)(void *), void *self)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(thread, NULL, run, self);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc == 0;
}

static void init_queue(struct notifier *n, uint32_t i)
{
	struct queue *q = &n->queues[i];

	q->notifier = n;
	q->hook = &n->hooks.at[i];
	q->number = i + 1;
	/* Receivers that were away for many daemons are not asked by all of them at the same moment. */
	rng_init(&q->rng, (uint64_t)(clock_real_s() * 1e6) ^ ((uint64_t)getpid() << 32), i);
}

static struct notifier *create(const struct notifier_config *config, struct hooks *hooks)
{
	struct notifier *n = mem_alloc(sizeof(*n));
	pthread_condattr_t monotonic;

	n->config = *config;
	n->hooks = *hooks;
	*hooks = (struct hooks){ 0 };
	if (gethostname(n->host, sizeof(n->host) - 1) < 0)
		strcpy(n->host, "localhost");
	pthread_mutex_init(&n->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&n->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	n->queues = mem_alloc(mem_array_size(n->hooks.n, sizeof(*n->queues)));
	for (uint32_t i = 0; i < n->hooks.n; i++)
		init_queue(n, i);
	n->follower = (struct stream_follower){ .wake = wake, .ctx = n };
	n->seq = stream_last(config->stream);
	return n;
}

static bool start_all(struct notifier *n)
{
	bool fine = true;

	for (uint32_t i = 0; fine && i < n->hooks.n; i++)
		fine = n->queues[i].started = start_thread(&n->queues[i].thread, serve, &n->queues[i]);
	if (fine)
		fine = n->started = start_thread(&n->reader, read_news, n);
	return fine;
}

int notifier_start(const struct notifier_config *config, struct hooks *hooks, struct notifier **out,
	struct err *err)
{
	struct notifier *n = create(config, hooks);

	stream_follow(config->stream, &n->follower);
	if (!start_all(n)) {
		notifier_stop(n);
		return err_set(err, ERR_IO, "cannot start threads for notifications");
	}
	*out = n;
	return 0;
}

static void destroy(struct notifier *n)
{
	for (uint32_t i = 0; i < n->hooks.n; i++) {
		for (; n->queues[i].n; n->queues[i].n--) {
			delivery_fini(&n->queues[i].at[n->queues[i].first]);
			n->queues[i].first = (n->queues[i].first + 1) % NOTIFIER_QUEUE;
		}
	}
	hooks_fini(&n->hooks);
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->mutex);
	free(n->queues);
	free(n);
}

/* Nothing new; with `at_once` nothing at all. */
static void say_stop(struct notifier *n, bool at_once)
{
	pthread_mutex_lock(&n->mutex);
	n->stopping = true;
	if (!n->started)
		n->read_all = true;
	if (at_once)
		atomic_store(&n->abort, true);
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->mutex);
}

/* Whether all have ended by then. */
static bool join_all(struct notifier *n, double within_s)
{
	struct timespec until = moment(within_s);
	bool all = true;

	for (uint32_t i = 0; i < n->hooks.n; i++) {
		struct queue *q = &n->queues[i];

		if (q->started && pthread_clockjoin_np(q->thread, NULL, CLOCK_MONOTONIC, &until) == 0)
			q->started = false;
		all = all && !q->started;
	}
	return all;
}

/* Threads have ended, or hang in a name that is being looked up. */
static void say_unsent(struct notifier *n)
{
	size_t unsent = 0;

	pthread_mutex_lock(&n->mutex);
	for (uint32_t i = 0; i < n->hooks.n; i++)
		unsent += n->queues[i].n + n->queues[i].cut;
	pthread_mutex_unlock(&n->mutex);
	if (unsent)
		log_warning(n->config.log, "notifications: %zu could not be sent any more", unsent);
}

void notifier_stop(struct notifier *n)
{
	bool ended;

	if (!n)
		return;
	stream_unfollow(n->config.stream, &n->follower);
	say_stop(n, false);
	if (n->started)
		pthread_join(n->reader, NULL);
	ended = join_all(n, n->config.linger_s);
	if (!ended) {
		say_stop(n, true);
		ended = join_all(n, ABORT_S);
	}
	say_unsent(n);
	/* What a thread still looks at stays; the process ends soon. */
	if (ended)
		destroy(n);
}
