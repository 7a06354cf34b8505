/*
 * What is rendered is read by a parser that knows the OpenMetrics rules and
 * forgives nothing.
 */
#include "daemon/metrics.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "support/property.h"

enum { FAMILIES = 64, SAMPLES = 4096 };

struct sample {
	char key[512]; /* name{labels} */
	double value;
};

struct parsed {
	char family[FAMILIES][128], type[FAMILIES][16];
	size_t nfamilies;
	struct sample at[SAMPLES];
	size_t n;
	double last_le, last_bucket;
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static size_t name_length(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == ':')
		n++;
	assert_true(n > 0 && !isdigit((unsigned char)at[0]));
	return n;
}

/* "# TYPE name type": TYPE comes first, and no family comes twice. */
static void read_comment(struct parsed *p, const char *line)
{
	char what[16], name[128], rest[256];

	assert_int_equal(sscanf(line, "# %15s %127s %255[^\n]", what, name, rest), 3);
	if (!strcmp(what, "TYPE")) {
		for (size_t i = 0; i < p->nfamilies; i++)
			assert_string_not_equal(p->family[i], name);
		assert_true(!strcmp(rest, "counter") || !strcmp(rest, "gauge") ||
			!strcmp(rest, "histogram"));
		strcpy(p->family[p->nfamilies], name);
		strcpy(p->type[p->nfamilies++], rest);
		p->last_le = -1;
		p->last_bucket = 0;
		return;
	}
	assert_true(p->nfamilies > 0);
	assert_string_equal(p->family[p->nfamilies - 1], name);
	if (!strcmp(what, "UNIT")) {
		char end[300];

		snprintf(end, sizeof(end), "_%s", rest);
		assert_true(ends_with(name, end));
	} else {
		assert_string_equal(what, "HELP");
	}
}

static const char *read_labels(const char *at)
{
	assert_true(*at == '{');
	do {
		at++;
		at += name_length(at);
		assert_true(at[0] == '=' && at[1] == '"');
		for (at += 2; *at != '"'; at++) {
			assert_true(*at && *at != '\n');
			if (*at == '\\') {
				at++;
				assert_true(*at && strchr("\\\"n", *at));
			}
		}
		at++;
	} while (*at == ',');
	assert_true(*at == '}');
	return at + 1;
}

static void check_bucket(struct parsed *p, const char *key, double value)
{
	const char *le = strstr(key, "le=\"");
	double bound;

	assert_non_null(le);
	bound = !strncmp(le + 4, "+Inf", 4) ? INFINITY : strtod(le + 4, NULL);
	assert_true(bound > p->last_le && value >= p->last_bucket);
	p->last_le = bound;
	p->last_bucket = value;
}

static void check_suffix(struct parsed *p, const char *suffix, const char *key, double value)
{
	const char *type = p->type[p->nfamilies - 1];

	if (!strcmp(type, "counter")) {
		assert_string_equal(suffix, "_total");
		assert_true(value >= 0);
	} else if (!strcmp(type, "gauge")) {
		assert_string_equal(suffix, "");
	} else if (!strcmp(suffix, "_bucket")) {
		check_bucket(p, key, value);
	} else {
		assert_true(isinf(p->last_le)); /* the last bucket is +Inf */
		assert_true(!strcmp(suffix, "_sum") || !strcmp(suffix, "_count"));
		if (!strcmp(suffix, "_count"))
			assert_true(value == p->last_bucket);
	}
}

static void read_sample(struct parsed *p, const char *line)
{
	size_t n = name_length(line), family;
	const char *at = line + n, *name;
	struct sample *s = &p->at[p->n++];
	char suffix[64], *end;

	assert_true(p->nfamilies > 0 && p->n < SAMPLES);
	name = p->family[p->nfamilies - 1];
	family = strlen(name);
	assert_true(n >= family && !strncmp(line, name, family));
	snprintf(suffix, sizeof(suffix), "%.*s", (int)(n - family), line + family);
	if (*at == '{')
		at = read_labels(at);
	snprintf(s->key, sizeof(s->key), "%.*s", (int)(at - line), line);
	for (size_t i = 0; i + 1 < p->n; i++)
		assert_string_not_equal(p->at[i].key, s->key);
	assert_true(*at == ' ');
	s->value = strtod(at + 1, &end);
	assert_true(end > at + 1 && *end == '\n');
	check_suffix(p, suffix, s->key, s->value);
}

static struct parsed *parse(struct metrics *metrics)
{
	struct parsed *p = mem_alloc(sizeof(*p));
	struct buf text = { 0 };
	bool ended = false;

	metrics_render(metrics, &text);
	assert_true(ends_with(text.at, "\n# EOF\n"));
	for (const char *line = text.at; *line; line = strchr(line, '\n') + 1) {
		assert_false(ended);
		assert_true(*line != '\n');
		ended = !strncmp(line, "# EOF\n", 6);
		if (*line == '#' && !ended)
			read_comment(p, line);
		else if (!ended)
			read_sample(p, line);
	}
	buf_fini(&text);
	return p;
}

static double value_of(const struct parsed *p, const char *key)
{
	for (size_t i = 0; i < p->n; i++) {
		if (!strcmp(p->at[i].key, key))
			return p->at[i].value;
	}
	return NAN;
}

static void what_was_counted_is_read_back(void **state)
{
	struct metrics *m = metrics_create();
	struct parsed *p;

	(void)state;
	metrics_count(m, METRICS_SUBMITS, 3);
	metrics_count(m, METRICS_SUBMITS, 4);
	metrics_set(m, METRICS_PENDING, 12);
	metrics_set(m, METRICS_DEVICES_HELD, 2.5);
	metrics_ended(m, "COMPLETED");
	metrics_ended(m, "FAILED");
	metrics_ended(m, "COMPLETED");
	metrics_http(m, "/v1/jobs/{id}", 200);
	metrics_http(m, "/v1/jobs/{id}", 404);
	metrics_http(m, "odd \"\\\n route", 200);
	p = parse(m);
	assert_true(value_of(p, "stint_submits_total") == 7);
	assert_true(value_of(p, "stint_starts_total") == 0);
	assert_true(value_of(p, "stint_jobs_pending") == 12);
	assert_true(value_of(p, "stint_devices_held") == 2.5);
	assert_true(value_of(p, "stint_endings_total{state=\"COMPLETED\"}") == 2);
	assert_true(value_of(p, "stint_http_requests_total{route=\"/v1/jobs/{id}\",status=\"404\"}") ==
		1);
	assert_true(
		value_of(p, "stint_http_requests_total{route=\"odd \\\"\\\\\\n route\",status=\"200\"}") ==
		1);
	free(p);
	metrics_destroy(m);
}

static void times_fall_into_buckets(void **state)
{
	struct metrics *m = metrics_create();
	struct parsed *p;

	(void)state;
	metrics_time(m, METRICS_WAIT, 1); /* a bound belongs to its bucket */
	metrics_time(m, METRICS_WAIT, 1.5);
	metrics_time(m, METRICS_WAIT, -3);
	metrics_time(m, METRICS_WAIT, 1e9);
	metrics_time(m, METRICS_WAIT, NAN);
	metrics_time(m, METRICS_COMMIT, 0.003);
	p = parse(m);
	assert_true(value_of(p, "stint_wait_seconds_bucket{le=\"1.0\"}") == 2);
	assert_true(value_of(p, "stint_wait_seconds_bucket{le=\"5.0\"}") == 3);
	assert_true(value_of(p, "stint_wait_seconds_bucket{le=\"604800.0\"}") == 3);
	assert_true(value_of(p, "stint_wait_seconds_bucket{le=\"+Inf\"}") == 4);
	assert_true(value_of(p, "stint_wait_seconds_count") == 4);
	assert_true(value_of(p, "stint_wait_seconds_sum") == 1e9 + 2.5);
	assert_true(value_of(p, "stint_commit_seconds_bucket{le=\"0.002\"}") == 0);
	assert_true(value_of(p, "stint_commit_seconds_bucket{le=\"0.005\"}") == 1);
	assert_true(value_of(p, "stint_run_seconds_count") == 0);
	free(p);
	metrics_destroy(m);
}

static void any_times_make_a_good_text(void **state)
{
	struct rng rng = property("buckets grow, and the last one is the count");

	(void)state;
	for (size_t round = 0; round < rounds(20); round++) {
		struct metrics *m = metrics_create();
		double counts[METRICS_TIMES] = { 0 };

		for (int i = 0; i < 500; i++) {
			int which = (int)rng_below(&rng, METRICS_TIMES);

			metrics_time(m, (enum metrics_time)which,
				ldexp((double)rng_below(&rng, 1000), (int)rng_below(&rng, 40) - 25));
			counts[which]++;
		}
		struct parsed *p = parse(m);

		assert_true(value_of(p, "stint_wait_seconds_count") == counts[METRICS_WAIT]);
		assert_true(value_of(p, "stint_submit_seconds_count") == counts[METRICS_SUBMIT]);
		free(p);
		metrics_destroy(m);
	}
}

static void too_many_labels_are_counted_together(void **state)
{
	struct metrics *m = metrics_create();
	struct parsed *p;
	double sum = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		char route[32];

		snprintf(route, sizeof(route), "/%d", i);
		metrics_http(m, route, 200);
	}
	p = parse(m);
	for (size_t i = 0; i < p->n; i++) {
		if (!strncmp(p->at[i].key, "stint_http", 10))
			sum += p->at[i].value;
	}
	assert_true(sum == 3000);
	free(p);
	metrics_destroy(m);
}

static void *count_much(void *ctx)
{
	for (int i = 0; i < 5000; i++) {
		metrics_count(ctx, METRICS_STARTS, 1);
		metrics_http(ctx, "/metrics", 200);
		metrics_time(ctx, METRICS_DECISION, 0.001);
	}
	return NULL;
}

static void threads_lose_nothing(void **state)
{
	struct metrics *m = metrics_create();
	pthread_t threads[4];
	struct parsed *p;

	(void)state;
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_create(&threads[i], NULL, count_much, m);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	p = parse(m);
	assert_true(value_of(p, "stint_starts_total") == 20000);
	assert_true(value_of(p, "stint_http_requests_total{route=\"/metrics\",status=\"200\"}") ==
		20000);
	assert_true(value_of(p, "stint_decision_seconds_count") == 20000);
	free(p);
	metrics_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_counted_is_read_back),
		cmocka_unit_test(times_fall_into_buckets),
		cmocka_unit_test(any_times_make_a_good_text),
		cmocka_unit_test(too_many_labels_are_counted_together),
		cmocka_unit_test(threads_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
