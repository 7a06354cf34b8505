/*
 * Admission rules: small enough for one file.
 */
#include "policy/admission.h"

#include <string.h>

#include "base/lookup.h"

static enum verdict all_decide(void *self, const struct round *round, const struct job *job,
	int64_t demand, struct reason *why)
{
	(void)self;
	(void)round;
	(void)job;
	(void)demand;
	(void)why;
	return ADMIT_ACCEPT;
}

static const struct admission admit_all = {
	.name = "all",
	.summary = "every job competes from its submission on",
	.decide = all_decide,
};

struct load {
	double limit;
};

static const struct option load_options[] = {
	OPT_DOUBLE(struct load, limit, 1.2, 0.01, 1000,
		"GPUs asked for by admitted jobs over GPUs of the cluster"),
	{ 0 },
};

/* A job is always let in when nobody else is: otherwise one larger than the limit would wait for ever. */
static enum verdict load_decide(void *self, const struct round *round, const struct job *job,
	int64_t demand, struct reason *why)
{
	const struct load *load = self;
	double room = load->limit * round->cluster->devices;

	if (demand == 0 || (double)(demand + job->gpus) <= room)
		return ADMIT_ACCEPT;
	*why = (struct reason){
		.why = WHY_ADMISSION,
		.need = job->gpus,
		.have = (int32_t)(room - (double)demand),
		.other = JOB_NONE,
	};
	return ADMIT_HOLD;
}

static const struct admission admit_load = {
	.name = "load",
	.summary = "holds jobs outside while those inside ask for more than a multiple of the cluster",
	.origin = "Blox: Agarwal et al., EuroSys 2024",
	.options = load_options,
	.in_order = true,
	.state_size = sizeof(struct load),
	.decide = load_decide,
};

const struct admission *const admissions[] = { &admit_all, &admit_load, &admit_quota, NULL };

const struct admission *admission_find(const char *name, struct err *err)
{
	const char *names[sizeof(admissions) / sizeof(admissions[0])];
	size_t n = 0;

	for (; admissions[n]; n++) {
		if (strcmp(admissions[n]->name, name) == 0)
			return admissions[n];
		names[n] = admissions[n]->name;
	}
	lookup_failed("admission rule", name, names, n, "stint admissions", err);
	return NULL;
}
