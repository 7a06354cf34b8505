/*
 * Units for people.
 */
#include "report/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct step {
	double from; /* in the base unit */
	double per;
	const char *name;
};

/* A unit is used once there are two or more of it. */
static const struct step seconds[] = {
	{ 1728000, 86400, "d" },
	{ 7200, 3600, "h" },
	{ 120, 60, "min" },
	{ 1, 1, "s" },
	{ 1e-3, 1e-3, "ms" },
	{ 1e-6, 1e-6, "us" },
	{ 0, 1, "s" },
};
static const struct step gpu_seconds[] = {
	{ 7200, 3600, "GPU-h" },
	{ 120, 60, "GPU-min" },
	{ 0, 1, "GPU-s" },
};
static const struct step bytes[] = {
	{ 1073741824.0, 1073741824.0, "GiB" },
	{ 1048576, 1048576, "MiB" },
	{ 1024, 1024, "KiB" },
	{ 0, 1, "B" },
};

static int decimals_of(double shown)
{
	return shown >= 1000 ? 0 : shown >= 10 ? 1 : 2;
}

static struct scale by_steps(const struct step *step, double largest)
{
	while (step->from > 0 && !(largest >= step->from))
		step++;
	return (struct scale){ step->per, step->name, decimals_of(largest / step->per) };
}

struct scale scale_with(const struct scale *shared, double largest)
{
	struct scale scale = *shared;

	scale.decimals = decimals_of(largest / scale.per);
	return scale;
}

struct scale scale_for(enum unit unit, double largest)
{
	largest = isfinite(largest) ? fabs(largest) : 0;
	switch (unit) {
	case UNIT_SECONDS:
		return by_steps(seconds, largest);
	case UNIT_GPU_SECONDS:
		return by_steps(gpu_seconds, largest);
	case UNIT_BYTES:
		return by_steps(bytes, largest);
	case UNIT_SHARE:
		return (struct scale){ 0.01, "%", 1 };
	case UNIT_RATIO:
		return (struct scale){ 1, "",
			largest >= 100          ? 0
				: largest >= 10 ? 1
				: largest > 1   ? 2
						: 3 };
	case UNIT_COUNT:
		break;
	}
	return (struct scale){ 1, "", -1 };
}

void scale_number(const struct scale *scale, double x, struct buf *out)
{
	char text[64];
	double shown = x / scale->per;
	int decimals = scale->decimals;
	size_t n, whole, first;

	if (!isfinite(shown) || fabs(shown) >= 1e18) {
		buf_char(out, '-');
		return;
	}
	if (decimals < 0)
		decimals = shown == floor(shown) || fabs(shown) >= 1000 ? 0 : 1;
	snprintf(text, sizeof(text), "%.*f", decimals, fabs(shown));
	if (shown < 0 && strpbrk(text, "123456789"))
		buf_char(out, '-');
	n = strlen(text);
	whole = strcspn(text, ".");
	first = whole % 3 ? whole % 3 : 3;
	for (size_t i = 0; i < n; i++) {
		if (i >= first && i < whole && (i - first) % 3 == 0)
			buf_char(out, ',');
		buf_char(out, text[i]);
	}
}

void unit_text(enum unit unit, double x, struct buf *out)
{
	struct scale scale = scale_for(unit, x);

	scale_number(&scale, x, out);
	if (isfinite(x) && *scale.name)
		buf_printf(out, " %s", scale.name);
}
