/*
 * Products, instances and their names.
 */
#include "live/local/machine_type.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/catalogue.h"

static const int64_t GIB = INT64_C(1) << 30;

/* Vendors reserve a little, and count in powers of ten now and then. */
static bool about_as_large(int64_t mem_bytes, int64_t should)
{
	return fabs((double)mem_bytes - (double)should) <= 0.2 * (double)should;
}

/* The entry of the same family with that memory: a v100 of 32 GiB is the catalogue's v100-32g. */
static const struct accelerator *of_size(const struct accelerator *family, int64_t mem_bytes)
{
	int n = (int)strcspn(family->name, "-");
	const struct accelerator *found;
	char name[64];

	snprintf(name, sizeof(name), "%.*s-%lldg", n, family->name,
		(long long)((mem_bytes + GIB / 2) / GIB));
	found = catalogue_accelerator(name);
	return found && about_as_large(mem_bytes, found->mem_bytes) ? found : NULL;
}

static const struct accelerator *known_product(const char *product, int64_t mem_bytes)
{
	const struct accelerator *found = catalogue_accelerator(product);

	if (!found || about_as_large(mem_bytes, found->mem_bytes))
		return found;
	return of_size(found, mem_bytes);
}

/* What stands behind the maker's names. */
static const char *without_maker(const char *product)
{
	static const char *const makers[] = { "nvidia ", "tesla ", "geforce ", "quadro " };

	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++) {
		size_t n = strlen(makers[i]);

		if (strncasecmp(product, makers[i], n) == 0 && product[n])
			product += n;
	}
	return product;
}

/* Small letters, digits and . _ +; a hyphen for whatever else stands between them. */
static void plain_name(const char *product, char *out, size_t size)
{
	size_t n = 0;
	bool gap = false;

	for (const char *at = without_maker(product); *at && n + 2 < size; at++) {
		unsigned char c = (unsigned char)*at;

		if (c >= 128 || !(isalnum(c) || strchr("._+", c))) {
			gap = n > 0;
			continue;
		}
		if (gap)
			out[n++] = '-';
		gap = false;
		out[n++] = (char)tolower(c);
	}
	out[n] = '\0';
	if (n == 0)
		snprintf(out, size, "gpu");
}

void machine_type(const char *product, const char *profile, int64_t mem_bytes, char *out, size_t size)
{
	/* How large the whole GPU is an instance does not say: its product's name must do. */
	const struct accelerator *known = *profile ? catalogue_accelerator(product)
						   : known_product(product, mem_bytes);
	char own[48], part[48];

	plain_name(product, own, sizeof(own));
	if (!*profile) {
		snprintf(out, size, "%s", known ? known->name : own);
		return;
	}
	plain_name(profile, part, sizeof(part));
	snprintf(out, size, "%.26s.%.20s", known ? known->name : own, part);
}

/* Compute slices of a profile's name ("a100-40g.3g.20gb": 3), 0 if it is none. */
static int slices_of(const char *type)
{
	const char *dot = strchr(type, '.');
	char *end;
	long n;

	if (!dot)
		return 0;
	n = strtol(dot + 1, &end, 10);
	return n > 0 && n < 8 && end[0] == 'g' && end[1] == '.' ? (int)n : 0;
}

void machine_type_facts(struct device_type *type, int64_t mem_bytes)
{
	const double slices = 7; /* of a whole GPU, on all that the catalogue has and that can be split */
	double part = slices_of(type->name) / slices;
	double of_memory = type->mem_bytes > 0 ? (double)mem_bytes / (double)type->mem_bytes : 0;

	if (part > 0) {
		type->flops *= part;
		type->mem_Bps *= of_memory;
		type->price_per_h *= part;
		type->link_Bps = 0;
	} else if (mem_bytes > 0 && type->mem_bytes > 0 && !about_as_large(mem_bytes, type->mem_bytes)) {
		*type = (struct device_type){ .name = type->name };
	}
	type->mem_bytes = mem_bytes;
}
