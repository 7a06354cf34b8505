/*
 * The hands of a Slurm that is not there, and all that they told.
 */
#ifndef TESTS_LIVE_SLURM_PLAY_H
#define TESTS_LIVE_SLURM_PLAY_H

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/members.h"
#include "live/slurm/hands.h"
#include "support/fake_slurm.h"
#include "support/property.h"

enum news_kind { NEWS_BEGUN, NEWS_ENDED, NEWS_TOLD, NEWS_ARRIVED, NEWS_SAID };

struct news {
	enum news_kind kind;
	uint32_t job, attempt;
	struct ending ending;
	char word[32], key[96], text[512];
	json_t *body;
};

struct play {
	struct fake_slurm fake;
	struct hands *hands;
	struct machine machine;
	char dir[64];
	VEC(struct news) news;
	uint32_t changed;
	enum slurm_take take;
	double patience_s;
};

static void play_begun(void *ctx, uint32_t job, uint32_t attempt, double at_s)
{
	struct play *p = ctx;

	(void)at_s;
	vec_push(&p->news, (struct news){ .kind = NEWS_BEGUN, .job = job, .attempt = attempt });
}

static void play_ended(void *ctx, const struct ending *e)
{
	struct play *p = ctx;
	struct news news = { .kind = NEWS_ENDED, .job = e->job, .attempt = e->attempt, .ending = *e };

	vec_push(&p->news, news);
}

static void play_told(void *ctx, const char *input, uint32_t job, json_t *body)
{
	struct play *p = ctx;
	struct news news = { .kind = NEWS_TOLD, .job = job, .body = body };

	snprintf(news.word, sizeof(news.word), "%s", input);
	vec_push(&p->news, news);
}

static void play_arrived(void *ctx, const struct arrival *a)
{
	struct play *p = ctx;
	struct news news = { .kind = NEWS_ARRIVED, .body = json_deep_copy(a->submission) };

	snprintf(news.key, sizeof(news.key), "%s", a->key);
	snprintf(news.word, sizeof(news.word), "%s", a->tenant ? a->tenant : "");
	vec_push(&p->news, news);
}

static void play_changed(void *ctx)
{
	((struct play *)ctx)->changed++;
}

static void play_say(void *ctx, int level, const char *text)
{
	struct play *p = ctx;
	struct news news = { .kind = NEWS_SAID, .attempt = (uint32_t)level };

	snprintf(news.text, sizeof(news.text), "%s", text);
	if (getenv("LOUD"))
		printf("  %.2f %s\n", p->fake.now_s, text);
	vec_push(&p->news, news);
}

static inline int play_try_open(struct play *p, const char *partition, struct err *err)
{
	struct hands_config config = {
		.state_dir = p->dir,
		.ctx = p,
		.begun = play_begun,
		.ended = play_ended,
		.arrived = play_arrived,
		.told = play_told,
		.changed = play_changed,
		.say = play_say,
	};
	struct slurm_options options = {
		.partition = partition,
		.site = "x",
		.take = p->take,
		.poll_s = 1,
		.patience_s = p->patience_s,
		.now_s = fake_now,
		.transport = &fake_transport,
		.transport_self = &p->fake,
	};

	return slurm_hands_open(&config, &options, &p->hands, err);
}

static inline void play_open(struct play *p)
{
	struct err err = { 0 };
	int rc = play_try_open(p, "gpu", &err);

	if (rc < 0)
		fail_msg("%s", err.text);
	assert_int_equal(hands_discover(p->hands, &p->machine, &err), 0);
}

static inline void play_clear(struct play *p)
{
	for (size_t i = 0; i < p->news.n; i++)
		json_decref(p->news.at[i].body);
	p->news.n = 0;
}

static inline void play_close(struct play *p)
{
	hands_close(p->hands);
	machine_fini(&p->machine);
	p->hands = NULL;
	p->machine = (struct machine){ 0 };
}

static inline void play_init(struct play *p, uint64_t seed)
{
	*p = (struct play){ .patience_s = 10 };
	fake_init(&p->fake, seed);
	fake_node(&p->fake, "v1", "v100", 4);
	fake_node(&p->fake, "v2", "v100", 4);
	fake_node(&p->fake, "k1", "k80", 4);
	snprintf(p->dir, sizeof(p->dir), "/tmp/stint-slurm-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
}

static inline void play_fini(struct play *p)
{
	char command[128];

	if (p->hands)
		play_close(p);
	play_clear(p);
	vec_fini(&p->news);
	fake_fini(&p->fake);
	snprintf(command, sizeof(command), "rm -rf '%s'", p->dir);
	assert_int_equal(system(command), 0);
}

static inline void play_poll(struct play *p)
{
	struct err err = { 0 };

	if (hands_poll(p->hands, &err) < 0)
		fail_msg("%s", err.text);
}

/* Lets so much time pass. */
static inline void play_pass(struct play *p, double seconds)
{
	for (double end_s = p->fake.now_s + seconds; p->fake.now_s < end_s;) {
		fake_pass(&p->fake, 0.05);
		play_poll(p);
	}
}

static inline const struct news *play_find(const struct play *p, enum news_kind kind, uint32_t job,
	uint32_t attempt)
{
	for (size_t i = 0; i < p->news.n; i++) {
		const struct news *n = &p->news.at[i];

		if (n->kind == kind && n->job == job && n->attempt == attempt)
			return n;
	}
	return NULL;
}

static inline const struct news *play_told_of(const struct play *p, uint32_t job, const char *word)
{
	for (size_t i = 0; i < p->news.n; i++) {
		const struct news *n = &p->news.at[i];

		if (n->kind == NEWS_TOLD && n->job == job && !strcmp(n->word, word))
			return n;
	}
	return NULL;
}

/* Until it is told, at most so long. */
static inline const struct news *play_until(struct play *p, enum news_kind kind, uint32_t job,
	uint32_t attempt, double most_s)
{
	const struct news *found;
	double end_s = p->fake.now_s + most_s;

	while (!(found = play_find(p, kind, job, attempt)) && p->fake.now_s < end_s)
		play_pass(p, 0.1);
	if (!found)
		fail_msg("nothing of kind %d was told of job %u, attempt %u", kind, job, attempt);
	return found;
}

static inline struct launch play_launch_of(uint32_t job, uint32_t attempt, const uint32_t *devices,
	uint32_t n)
{
	static const char *const argv[] = { "python3", "train.py", NULL };
	static const char *const env[] = { "A=b", NULL };

	return (struct launch){ .job = job,
		.attempt = attempt,
		.devices = devices,
		.ndevices = n,
		.name = "train",
		.argv = argv,
		.env = env,
		.cwd = "/",
		.uid = getuid(),
		.gid = getgid(),
		.stop_signal = 15,
		.grace_s = 3,
		.gpus = n ? n : 1,
		.requeue = true };
}

static inline void play_expect(struct play *p, uint32_t job, const char *key)
{
	struct launch l = play_launch_of(job, 0, NULL, 0);
	struct err err = { 0 };

	l.key = key;
	assert_int_equal(hands_expect(p->hands, &l, &err), 0);
}

/* On devices first, first + 1, …. */
static inline void play_launch(struct play *p, uint32_t job, uint32_t attempt, uint32_t first,
	uint32_t n)
{
	uint32_t devices[16] = { 0 };
	struct launch l = play_launch_of(job, attempt, devices, n);
	struct err err = { 0 };

	for (uint32_t i = 0; i < n; i++)
		devices[i] = first + i;
	if (hands_launch(p->hands, &l, &err) < 0)
		fail_msg("%s", err.text);
}

static inline void play_stop(struct play *p, uint32_t job, uint32_t attempt, bool now)
{
	struct err err = { 0 };

	assert_int_equal(hands_stop(p->hands, job, attempt, now, &err), 0);
}

static inline void play_claim(struct play *p, uint32_t job, uint32_t attempt, uint32_t first,
	uint32_t n, bool void_it)
{
	uint32_t devices[16] = { 0 };
	struct holding of = { job, attempt, devices, n };
	struct ending ending;
	struct err err = { 0 };
	enum claim claim;

	for (uint32_t i = 0; i < n; i++)
		devices[i] = first + i;
	assert_int_equal(hands_claim(p->hands, &of, void_it, &claim, &ending, &err), 0);
	assert_int_equal(claim, CLAIM_RUNS);
}

#endif
