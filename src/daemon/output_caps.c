#include "daemon/output_caps.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static const int64_t default_cap = INT64_C(10) << 30, default_reserve_most = INT64_C(1) << 30;
static const double default_reserve_share = 0.05, default_total_share = 0.5;

static int take_size(struct slice text, const char *flag, int64_t *out, struct err *err)
{
	if (slice_is(text, "none"))
		*out = 0;
	else if (!slice_bytes(text, out) || *out < 0)
		return err_set(err, ERR_USAGE, "%s: '%.*s' is no size such as 512M, 10G or none",
			flag, (int)text.n, text.at);
	return 0;
}

/* "10G" or "nlp=50G". */
static int take_cap(struct slice word, struct output_caps *out, struct err *err)
{
	const char *equals = memchr(word.at, '=', word.n);
	struct slice name = word;
	struct tenant_cap cap = { 0 };

	if (!equals)
		return take_size(word, "--output-cap", &out->cap, err);
	name = slice_cut(&word, '=');
	if (!name.n)
		return err_set(err, ERR_USAGE, "--output-cap: a tenant is missing before '='");
	if (take_size(word, "--output-cap", &cap.bytes, err) < 0)
		return err->code;
	cap.tenant = mem_strndup(name.at, name.n);
	vec_push(&out->tenants, cap);
	return 0;
}

static int take_reserve(const char *text, struct output_caps *out, struct err *err)
{
	struct slice all = slice_of(text);
	double percent;

	if (!all.n || all.at[all.n - 1] != '%')
		return take_size(all, "--output-reserve", &out->reserve, err);
	all.n--;
	if (!slice_double(all, &percent) || !(percent >= 0 && percent <= 90))
		return err_set(err, ERR_USAGE, "--output-reserve: '%s' is not between 0%% and 90%%",
			text);
	out->reserve_share = percent / 100;
	out->reserve_most = 0;
	return 0;
}

/* "200G", "50%" or "none". */
static int take_total(struct slice text, struct tenant_total *out, struct err *err)
{
	struct slice number = text;
	double percent;

	*out = (struct tenant_total){ 0 };
	if (!text.n || text.at[text.n - 1] != '%')
		return take_size(text, "--output-total", &out->bytes, err);
	number.n--;
	if (!slice_double(number, &percent) || !(percent > 0 && percent <= 100))
		return err_set(err, ERR_USAGE,
			"--output-total: '%.*s' is not above 0%% and at most 100%%", (int)text.n,
			text.at);
	out->share = percent / 100;
	return 0;
}

static int take_totals(struct slice word, struct output_caps *out, struct err *err)
{
	struct tenant_total total;
	struct slice name;

	if (!memchr(word.at, '=', word.n))
		return take_total(word, &out->total, err);
	name = slice_cut(&word, '=');
	if (!name.n)
		return err_set(err, ERR_USAGE, "--output-total: a tenant is missing before '='");
	if (take_total(word, &total, err) < 0)
		return err->code;
	total.tenant = mem_strndup(name.at, name.n);
	vec_push(&out->totals, total);
	return 0;
}

int output_caps_parse(const char *cap, const char *reserve, const char *total,
	struct output_caps *out, struct err *err)
{
	struct output_caps caps = {
		.cap = default_cap,
		.reserve = -1,
		.reserve_share = default_reserve_share,
		.reserve_most = default_reserve_most,
		.total = { .share = default_total_share },
	};
	struct slice rest = slice_of(cap ? cap : ""), totals = slice_of(total ? total : "");
	int rc = 0;

	while (rc == 0 && rest.n)
		rc = take_cap(slice_cut(&rest, ','), &caps, err);
	while (rc == 0 && totals.n)
		rc = take_totals(slice_cut(&totals, ','), &caps, err);
	if (rc == 0 && reserve)
		rc = take_reserve(reserve, &caps, err);
	if (rc < 0) {
		output_caps_fini(&caps);
		return rc;
	}
	*out = caps;
	return 0;
}

void output_caps_fini(struct output_caps *caps)
{
	for (size_t i = 0; i < caps->tenants.n; i++)
		free(caps->tenants.at[i].tenant);
	vec_fini(&caps->tenants);
	for (size_t i = 0; i < caps->totals.n; i++)
		free(caps->totals.at[i].tenant);
	vec_fini(&caps->totals);
}

int64_t output_cap_of(const struct output_caps *caps, const char *tenant)
{
	for (size_t i = 0; tenant && i < caps->tenants.n; i++) {
		if (!strcmp(caps->tenants.at[i].tenant, tenant))
			return caps->tenants.at[i].bytes;
	}
	return caps->cap;
}

int64_t output_total_of(const struct output_caps *caps, const char *tenant, double disk_bytes)
{
	const struct tenant_total *total = &caps->total;

	for (size_t i = 0; tenant && i < caps->totals.n; i++) {
		if (!strcmp(caps->totals.at[i].tenant, tenant))
			total = &caps->totals.at[i];
	}
	return total->share > 0 ? (int64_t)(total->share * disk_bytes) : total->bytes;
}

int64_t output_reserve_of(const struct output_caps *caps, double disk_bytes)
{
	double share = caps->reserve_share * disk_bytes;

	if (caps->reserve >= 0)
		return caps->reserve;
	return caps->reserve_most && share > (double)caps->reserve_most ? caps->reserve_most
									: (int64_t)share;
}
