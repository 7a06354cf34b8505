/*
 * Timers of delay scheduling.
 */
#include "placement/delay_timers.h"

#include <math.h>
#include <string.h>

void delay_timers_fini(struct delay_timers *timers)
{
	for (size_t i = 0; i < timers->classes.n; i++) {
		for (int tier = 0; tier < TIER_COUNT; tier++)
			vec_fini(&timers->classes.at[i].samples[tier]);
	}
	vec_fini(&timers->classes);
}

static struct delay_class *find(const struct delay_timers *timers, uint32_t gpus)
{
	for (size_t i = 0; i < timers->classes.n; i++) {
		if (timers->classes.at[i].gpus == gpus)
			return &timers->classes.at[i];
	}
	return NULL;
}

void delay_timers_took(struct delay_timers *timers, const struct delay_rule *rule, uint32_t gpus,
	enum tier tier, struct delay_sample sample)
{
	struct delay_class *c = find(timers, gpus);
	size_t n;

	if (!c) {
		vec_push(&timers->classes, (struct delay_class){ .gpus = gpus });
		c = find(timers, gpus);
	}
	n = c->samples[tier].n;
	/* A plan may put a job down more than once in one decision. */
	for (size_t i = n; i > 0 && c->samples[tier].at[i - 1].at_s == sample.at_s; i--) {
		if (c->samples[tier].at[i - 1].job == sample.job)
			return;
	}
	if (n >= rule->window && n > 0) {
		memmove(c->samples[tier].at, c->samples[tier].at + 1,
			(n - 1) * sizeof(*c->samples[tier].at));
		c->samples[tier].n--;
	}
	vec_push(&c->samples[tier], sample);
}

/* The mean wait of those who got that tier lately; NAN: nobody did. */
static double mean_s(const struct delay_class *c, const struct delay_rule *rule, enum tier tier,
	double now_s)
{
	double sum = 0;
	uint32_t n = 0;

	for (size_t i = 0; i < c->samples[tier].n; i++) {
		const struct delay_sample *s = &c->samples[tier].at[i];

		if (s->at_s < now_s - rule->window_s)
			continue;
		sum += s->wait_s;
		n++;
	}
	return n ? sum / n : NAN;
}

double delay_timers_s(const struct delay_timers *timers, const struct delay_rule *rule,
	uint32_t gpus, enum tier tier, double now_s)
{
	const struct delay_class *c = rule->tune ? find(timers, gpus) : NULL;
	double timer_s = c ? mean_s(c, rule, tier, now_s) : NAN;

	if (!(timer_s < rule->most_s[tier]))
		timer_s = rule->most_s[tier];
	if (tier > TIER_MACHINE)
		timer_s = fmax(timer_s, delay_timers_s(timers, rule, gpus, tier - 1, now_s));
	return timer_s;
}
