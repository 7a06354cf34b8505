/*
 * Tiresias' placement: consolidate only the models that need it.
 *
 * A model with one dominating tensor sends a few large messages and suffers
 * when its workers lie on many nodes; the others take any free devices, from
 * the fullest nodes first, which keeps whole nodes free.
 */
#include "placement/placer.h"

struct skew {
	double threshold;
	bool unknown; /* consolidate models that nothing is known of */
};

static const struct option options[] = {
	OPT_DOUBLE(struct skew, threshold, 0.3, 0, 1,
		"largest tensor over all parameters above which a job is consolidated"),
	OPT_BOOL(struct skew, unknown, 0, "consolidate models that nothing is known of"),
	{ 0 },
};

static bool skewed(const struct skew *s, const struct placing *p)
{
	double skew = NAN;

	if (p->belief && p->job->model != NAME_NONE)
		skew = profile_skew(p->belief, p->job->model);
	return isnan(skew) ? s->unknown : skew > s->threshold;
}

static bool skew_choose(void *self, const struct placing *p, struct slots *out)
{
	if (skewed(self, p))
		return place_compact(p, out);
	return place_fullest(p, p->gpus, out) == p->gpus;
}

const struct placer placer_skew = {
	.name = "skew",
	.summary = "consolidates models with one dominating tensor, packs the others anywhere",
	.origin = "Tiresias: Gu et al., NSDI 2019",
	.options = options,
	.state_size = sizeof(struct skew),
	.by_model = true,
	.choose = skew_choose,
};
