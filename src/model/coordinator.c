/*
 * The coordinator's law: launch rates and memory limits of one device.
 */
#include "model/coordinator.h"

#include <math.h>
#include <stddef.h>

#define SLACK 1e-9       /* a mini-batch that is as long as allowed is not too long for rounding */
#define HOST_BPS 12e9    /* of the link to the host: PCIe 3.0 with sixteen lanes, as measured */
#define SPEED_LEAST 0.25 /* without memory on the device, where nothing is known of the model */

const struct launch_law launch_law_usual = { .tolerance = 0.05, .step = 0.05, .cap = 1 };

double launch_rate_next(const struct launch_law *law, double r, double took_s, double alone_s)
{
	if (took_s <= alone_s * (1 + law->tolerance + SLACK))
		return r + law->step < law->cap ? r + law->step : law->cap;
	r /= 2;
	return r < law->step ? 0 : r;
}

double guarantee_slowdown(double guaranteed, double r, double guests)
{
	double over = guaranteed + r * guests - 1;

	return over > 0 ? 1 + over : 1;
}

double guest_idle_share(double guaranteed, double guests)
{
	double idle = fmax(0, 1 - guaranteed);

	return guests > idle ? idle / guests : 1;
}

struct launch_settled launch_settle(const struct launch_law *law, double guaranteed, double guests)
{
	enum { WARM = 64, COUNTED = 128 };
	struct launch_settled s = { .worst = 1 };
	double r = 0;

	if (guarantee_slowdown(guaranteed, law->cap, guests) <= 1 + law->tolerance + SLACK) {
		double slowdown = guarantee_slowdown(guaranteed, law->cap, guests);

		return (struct launch_settled){ law->cap, slowdown, slowdown };
	}
	for (int i = 0; i < WARM + COUNTED; i++) {
		double slowdown = guarantee_slowdown(guaranteed, r, guests);

		if (i >= WARM) {
			s.r += r / COUNTED;
			s.slowdown += slowdown / COUNTED;
			s.worst = slowdown > s.worst ? slowdown : s.worst;
		}
		r = launch_rate_next(law, r, slowdown, 1);
	}
	return s;
}

/* ---- memory */

/* The most worthwhile of those not served yet, the first of equals. */
static struct guest_memory *next_guest(struct device_memory *m)
{
	struct guest_memory *best = NULL;

	for (uint32_t i = 0; i < m->nguests; i++) {
		struct guest_memory *g = &m->guests[i];

		if (g->limit_bytes < 0 && (!best || g->gain > best->gain))
			best = g;
	}
	return best;
}

/* Hands `left` to the guests: what a byte is worth falls for none before its need is met. */
static void serve_guests(struct device_memory *m, double left)
{
	struct guest_memory *g;

	for (uint32_t i = 0; i < m->nguests; i++)
		m->guests[i].limit_bytes = -1;
	while ((g = next_guest(m))) {
		g->limit_bytes = fmin(g->need_bytes, fmax(0, left));
		left -= g->limit_bytes;
	}
}

void memory_demand(struct device_memory *m, double need_bytes)
{
	m->need_bytes = fmin(need_bytes, m->bytes);
	serve_guests(m, m->bytes - fmax(m->need_bytes, m->limit_bytes));
}

void memory_settle(struct device_memory *m)
{
	m->limit_bytes = m->need_bytes;
	serve_guests(m, m->bytes - m->limit_bytes);
}

double memory_spilled(const struct device_memory *m)
{
	return fmax(0, m->need_bytes - m->limit_bytes);
}

double memory_speed(double kept, double bytes, double step_s)
{
	double spilled = 1 - fmin(1, fmax(0, kept));

	if (step_s > 0)
		return 1 / (1 + spilled * bytes / (HOST_BPS * step_s));
	return 1 - (1 - SPEED_LEAST) * spilled;
}

double memory_gain(double bytes, double step_s)
{
	return bytes > 0 ? (1 - memory_speed(0, bytes, step_s)) / bytes : 0;
}
