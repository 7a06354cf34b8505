/*
 * When batch sizes change: tables by model, first batch and devices.
 */
#include "model/regime.h"

#include <string.h>

#include "base/names.h"

/* Models whose adaptation was measured. */
static const struct family {
	const char *name;
	uint32_t samples;
	uint32_t largest; /* batch */
	bool accordion;   /* it can be led by critical regimes */
} families[] = {
	{ "ResNet-18", 50000, 256, true },
	{ "ResNet-50", 100000, 128, true },
	{ "Transformer", 10000, 128, false },
	{ "LM", 59675, 80, true },
	{ "Recommendation", 117907, 8192, true },
	{ "CycleGAN", 6287, 0, false },
	{ "A3C", 4, 0, false },
};

enum { RESNET18, RESNET50, TRANSFORMER, LM, RECOMMENDATION };

/* Epochs from which on the noise lets the batch be twice as large, once more each. */
enum { DOUBLINGS_MAX = 4 };

static const struct doubling {
	uint32_t family, batch, gpus;
	uint32_t from[DOUBLINGS_MAX]; /* 0: no more */
} doublings[] = {
	{ RESNET18, 16, 1, { 31, 41, 51, 71 } },
	{ RESNET18, 32, 1, { 21, 31, 51 } },
	{ RESNET18, 64, 1, { 11, 31 } },
	{ RESNET18, 128, 1, { 11 } },
	{ RESNET18, 16, 2, { 21, 31, 91, 111 } },
	{ RESNET18, 32, 2, { 11, 21, 41 } },
	{ RESNET18, 64, 2, { 21, 41 } },
	{ RESNET18, 128, 2, { 41 } },
	{ RESNET18, 16, 4, { 11, 21, 81, 91 } },
	{ RESNET18, 32, 4, { 21, 31, 61 } },
	{ RESNET18, 64, 4, { 11, 61 } },
	{ RESNET18, 128, 4, { 11 } },
	{ RESNET50, 64, 1, { 101 } },
	{ RESNET50, 32, 2, { 101, 111 } },
	{ RESNET50, 64, 2, { 81 } },
	{ RESNET50, 32, 4, { 131, 221 } },
	{ RESNET50, 64, 4, { 191 } },
	{ LM, 5, 1, { 31, 41, 61, 71 } },
	{ LM, 10, 1, { 11, 21, 41 } },
	{ LM, 20, 1, { 11, 41 } },
	{ LM, 40, 1, { 11 } },
	{ LM, 5, 2, { 31, 51, 61, 71 } },
	{ LM, 10, 2, { 11, 31, 41 } },
	{ LM, 20, 2, { 31, 41 } },
	{ LM, 40, 2, { 11 } },
	{ LM, 5, 4, { 11, 31, 71, 91 } },
	{ LM, 10, 4, { 11, 31, 61 } },
	{ LM, 20, 4, { 11, 61 } },
	{ LM, 40, 4, { 61 } },
	{ RECOMMENDATION, 512, 1, { 21, 41, 71, 91 } },
	{ RECOMMENDATION, 1024, 1, { 21, 51, 91 } },
	{ RECOMMENDATION, 2048, 1, { 21, 41 } },
	{ RECOMMENDATION, 4096, 1, { 41 } },
};

enum adapting adapting_of(struct slice word)
{
	static const char *const words[] = { "static", "accordion", "gns" };

	for (int i = 0; i < ADAPTING_COUNT; i++) {
		if (slice_is(word, words[i]))
			return (enum adapting)i;
	}
	return ADAPTING_COUNT;
}

/* ---- which regimes there are */

static const struct doubling *doubling_of(const struct adaptation *a)
{
	for (size_t i = 0; i < sizeof(doublings) / sizeof(*doublings); i++) {
		const struct doubling *d = &doublings[i];

		if (d->family == a->family && d->batch == a->regime[0].batch && d->gpus == a->gpus)
			return d;
	}
	return NULL;
}

static void add_regime(struct adaptation *a, uint32_t batch)
{
	a->regime[a->nregimes++] = (struct regime){ batch, NAME_NONE };
}

static void add_regimes(struct adaptation *a, uint32_t batch)
{
	const struct family *family = &families[a->family];
	const struct doubling *d;

	add_regime(a, batch);
	if (batch >= family->largest)
		return;
	if (a->how == ADAPTING_ACCORDION && family->accordion)
		add_regime(a, family->largest);
	d = a->how == ADAPTING_NOISE ? doubling_of(a) : NULL;
	for (uint32_t i = 0; d && i < DOUBLINGS_MAX && d->from[i]; i++) {
		batch *= 2;
		if (batch <= family->largest)
			add_regime(a, batch);
	}
}

/* "ResNet-18 (batch size 32)": the part before the blank, and the number before the bracket. */
static bool take_apart(struct slice model, struct slice *name, int64_t *batch)
{
	struct slice rest = model;

	*name = slice_cut(&rest, ' ');
	while (memchr(rest.at, ' ', rest.n))
		slice_cut(&rest, ' ');
	if (rest.n == 0 || rest.at[rest.n - 1] != ')')
		return false;
	rest.n--;
	return slice_int(rest, batch) && *batch > 0 && *batch <= 1 << 24;
}

bool adaptation_init(struct adaptation *a, struct slice model, uint32_t gpus, enum adapting how,
	double steps)
{
	struct slice name;
	int64_t batch;

	*a = (struct adaptation){ .how = how, .gpus = gpus };
	if (!take_apart(model, &name, &batch) || !(steps >= 1 && steps <= 1e12))
		return false;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		if (!slice_is(name, families[i].name))
			continue;
		a->family = (uint32_t)i;
		a->samples = families[i].samples;
		add_regimes(a, (uint32_t)batch);
		a->epochs = adaptation_begun(a, 0, steps);
		return true;
	}
	return false;
}

void adaptation_name(const struct adaptation *a, struct slice model, uint32_t regime, struct buf *out)
{
	struct slice name = slice_cut(&model, ' ');

	buf_printf(out, "%.*s (batch size %u)", (int)name.n, name.at, a->regime[regime].batch);
}

/* ---- epochs and steps */

double adaptation_steps(const struct adaptation *a, uint32_t regime)
{
	return ceil((double)a->samples / a->regime[regime].batch);
}

static uint32_t whole(double epochs)
{
	return epochs > 0 ? epochs < 4e9 ? (uint32_t)epochs : UINT32_MAX : 0;
}

uint32_t adaptation_begun(const struct adaptation *a, uint32_t regime, double done)
{
	return whole(ceil(done / adaptation_steps(a, regime)));
}

uint32_t adaptation_ended(const struct adaptation *a, uint32_t regime, double done)
{
	return whole(floor(done / adaptation_steps(a, regime)));
}

/* ---- which regime when */

/* Epochs at the start that are critical for Accordion. */
static uint32_t critical_head(const struct adaptation *a)
{
	uint32_t batch = a->regime[0].batch;

	if (a->family == RESNET18)
		return batch == 256 ? 20 : 10;
	if (a->family == RECOMMENDATION)
		return batch <= 1024 ? 30 : batch <= 2048 ? 40 : 10;
	return 10;
}

static bool critical(const struct adaptation *a, uint32_t epoch)
{
	if (a->family == RESNET50)
		return epoch % 30 < 10;
	if (a->family == RESNET18 && ((epoch >= 150 && epoch < 160) || (epoch >= 250 && epoch < 260)))
		return true;
	return epoch < critical_head(a);
}

/* The profile has two more for recommendation, and none late in ResNet-50. */
static bool critical_in_profile(const struct adaptation *a, uint32_t epoch)
{
	if (a->family == RECOMMENDATION && ((epoch >= 60 && epoch < 70) || (epoch >= 80 && epoch < 90)))
		return true;
	return critical(a, epoch) && !(a->family == RESNET50 && epoch >= 600);
}

static uint32_t doubled(const struct adaptation *a, uint32_t epoch)
{
	const struct doubling *d = doubling_of(a);
	uint32_t times = 0;

	while (d && times < DOUBLINGS_MAX && d->from[times] && epoch >= d->from[times])
		times++;
	return times < a->nregimes ? times : a->nregimes - 1;
}

/* The last epoch of a profile with several doublings is at the first batch, except in the first doubling. */
static uint32_t doubled_in_profile(const struct adaptation *a, uint32_t epoch)
{
	uint32_t times = doubled(a, epoch);

	return times > 1 && epoch + 1 >= a->epochs ? 0 : times;
}

uint32_t adaptation_profiled(const struct adaptation *a, uint32_t epoch)
{
	if (a->nregimes == 1)
		return 0;
	if (a->how == ADAPTING_NOISE)
		return doubled_in_profile(a, epoch);
	/* The first three tenths always count as critical there. */
	return epoch > a->epochs * 0.3 && !critical_in_profile(a, epoch);
}

uint32_t adaptation_turn(const struct adaptation *a, uint32_t regime, uint32_t begun)
{
	if (a->nregimes == 1)
		return regime;
	if (a->how == ADAPTING_NOISE)
		return regime + (doubled(a, begun + 1) > regime);
	return !critical(a, begun);
}

struct tally adaptation_recount(const struct adaptation *a, uint32_t from, uint32_t to,
	struct tally tally)
{
	double steps = adaptation_steps(a, to);
	double ratio = 1 / ((double)a->regime[to].batch / a->regime[from].batch);
	uint32_t epochs = adaptation_begun(a, from, tally.work);
	struct tally anew = { .work = ceil(tally.work * ratio) };

	if (adaptation_begun(a, to, anew.work) != epochs)
		anew.work = steps * epochs;
	anew.done = adaptation_begun(a, from, tally.done) * steps;
	return anew;
}

/* ---- seconds */

double adaptation_epoch_s(const struct rates *rates, const struct job *job, uint32_t type,
	uint32_t regime)
{
	struct job there = *job;
	double speed;

	there.regime = regime;
	speed = rate_if(rates, &there, type, job_gpus_on(job, type));
	return speed > 0 ? (double)job->adapts->samples / job->adapts->regime[regime].batch / speed
			 : 0;
}

double adaptation_run_s(const struct rates *rates, const struct job *job, uint32_t type)
{
	double epoch_s[REGIMES_MAX] = { 0 }, sum_s = 0;

	for (uint32_t i = 0; i < job->adapts->nregimes; i++)
		epoch_s[i] = adaptation_epoch_s(rates, job, type, i);
	for (uint32_t i = 0; i < job->adapts->epochs; i++)
		sum_s += epoch_s[adaptation_profiled(job->adapts, i)];
	return sum_s;
}
