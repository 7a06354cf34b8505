#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/property.h"
#include "io/cluster_io.h"
#include "support/data.h"

/* A cluster, models, and what was read for them. */
struct world {
	struct cluster cluster;
	struct names models;
	struct profile *profile;
	struct err err;
};

static struct world *world(const char *spec)
{
	struct world *w = mem_alloc(sizeof(*w));

	assert_int_equal(cluster_parse(spec, &w->cluster, &w->err), 0);
	w->profile = profile_create(&w->cluster, &w->models);
	return w;
}

static void destroy(struct world *w)
{
	profile_destroy(w->profile);
	names_fini(&w->models);
	cluster_fini(&w->cluster);
	free(w);
}

static int read_text(struct world *w, const char *text)
{
	return profile_read_text("speeds", text, strlen(text), &w->cluster, &w->models, w->profile,
		&w->err);
}

static double speed(struct world *w, const char *model, uint32_t type, uint32_t gpus, uint32_t nodes)
{
	uint32_t m = names_find(&w->models, model, strlen(model));

	return profile_rate(w->profile, m, type, (struct shape){ gpus, nodes, 1, 0 });
}

static double beside(struct world *w, const char *a, const char *b, uint32_t type, uint32_t gpus)
{
	return profile_beside(w->profile, type, gpus, names_find(&w->models, a, strlen(a)),
		names_find(&w->models, b, strlen(b)));
}

static void test_gavel(void **state)
{
	struct world *w = world("4x1:v100,4x1:k80");

	(void)state;
	assert_int_equal(
		read_text(w,
			"{\"v100\": {\"('Foo (batch size 16)', 1)\": {\"null\": 32.5,\n"
			"   \"('Bar', 1)\": [16.25, 3]},\n"
			" \"('Bar', 1)\": {\"null\": 4, \"('Foo (batch size 16)', 1)\": [3, 16.25], \"('Bar', 2)\": [1, 1]},\n"
			" \"('Bar', 4)\": {\"null\": 12}},\n"
			" \"k80\": {\"(\\\"Bar\\\", 2)\": {\"null\": 0}},\n"
			" \"v100_unconsolidated\": {\"('Foo (batch size 16)', 1)\": {\"null\": 1}},\n"
			" \"tpu\": {\"('Foo', 1)\": {\"null\": 99}}}"),
		0);
	assert_true(speed(w, "Foo (batch size 16)", 0, 1, 1) == 32.5);
	assert_true(speed(w, "Bar", 0, 4, 2) == 12);
	assert_true(speed(w, "Bar", 1, 2, 1) == 0);
	assert_true(beside(w, "Foo (batch size 16)", "Bar", 0, 1) == 0.5);
	assert_true(beside(w, "Bar", "Foo (batch size 16)", 0, 1) == 0.75);
	destroy(w);
}

static void test_csv(void **state)
{
	struct world *w = world("4x8:v100,4x8:k80");

	(void)state;
	assert_int_equal(read_text(w,
				 "# measured last week\n"
				 "Model,type,gpus,nodes,steps_per_s,beside,beside_steps_per_s\n"
				 "\"a, b\",V100,,,10\n"
				 "\"a, b\",v100,8,1,60\n"
				 "\"a, b\",v100,8,2,40,,\n"
				 "c,v100,1,,5\n"
				 "\"a, b\",v100,1,,7,c,4\n"
				 "a,tpu,1,,7\n"),
		0);
	assert_true(speed(w, "a, b", 0, 1, 1) == 10);
	assert_true(speed(w, "a, b", 0, 8, 1) == 60);
	assert_true(speed(w, "a, b", 0, 8, 2) == 40);
	assert_true(beside(w, "a, b", "c", 0, 1) == 0.7);
	assert_true(beside(w, "c", "a, b", 0, 1) == 0.8);
	destroy(w);
}

static const struct {
	const char *text, *part;
} bad[] = {
	{ "", "speeds: empty" },
	{ "# nothing\n", "the header must name model, type and steps_per_s" },
	{ "model,type\n", "speeds:1: the header must name model, type and steps_per_s" },
	{ "model,type,steps_per_s,speed\n", "no column \"speed\" is known" },
	{ "model,type,step_per_s\n", "(did you mean \"steps_per_s\"?)" },
	{ "model,type,steps_per_s,model\n", "column model is there twice" },
	{ "model,type,steps_per_s\n", "no speeds in it" },
	{ "model,type,steps_per_s\na,v100,fast\n", "speeds:2: steps_per_s: \"fast\" is not a speed" },
	{ "model,type,steps_per_s\na,v100,-1\n", "is not a speed; write steps per second" },
	{ "model,type,steps_per_s\na,v100,nan\n", "is not a speed" },
	{ "model,type,steps_per_s\na,v100,inf\n", "\"inf\" is not a speed" },
	{ "model,type,steps_per_s\na,v100,1e999\n", "is not a speed" },
	{ "model,type,steps_per_s,beside,beside_steps_per_s\na,v100,1,b,-2\n",
		"beside_steps_per_s: \"-2\" is not a speed" },
	{ "model,type,steps_per_s\na,v100\n", "\"\" is not a speed" },
	{ "model,type,steps_per_s\n\n,v100,1\n", "speeds:3: model: empty" },
	{ "model,type,steps_per_s\na,v100,1,2,3,4,5,6\n", "8 fields, and there are 7 columns" },
	{ "model,type,gpus,steps_per_s\na,v100,0,1\n", "gpus: \"0\" is not a whole number from 1" },
	{ "model,type,gpus,steps_per_s\na,v100,1.5,1\n", "gpus: \"1.5\" is not a whole number" },
	{ "model,type,nodes,steps_per_s\na,v100,-1,1\n", "nodes: \"-1\" is not a whole number from 0" },
	{ "model,type,steps_per_s,beside,beside_steps_per_s\na,v100,1,b\n",
		"beside_steps_per_s: \"\" is not a speed" },
	{ "model,type,steps_per_s\na,tpu,1\n", "speeds of tpu only, and the cluster has v100" },
	{ "model,type,steps_per_s\n\"a,v100,1\n", "speeds:" },
	{ "\"model\n", "speeds:" },
	{ "{", "speeds:1: not valid JSON" },
	{ "{\"v100\": {\n\n}", "speeds:3: not valid JSON" },
	{ "[1]", "speeds: a table of types belongs here" },
	{ "{}", "speeds: no speeds in it" },
	{ "{\"a\": {}, \"b\": {}}", "speeds of a, b only" },
	{ "{\"v100\": 1}", "speeds: \"v100\": a table of jobs belongs here" },
	{ "{\"v100\": {\"Foo\": {}}}", "\"v100\": \"Foo\": write a job as ('MODEL', GPUS)" },
	{ "{\"v100\": {\"('Foo', 1)\": 3}}", "a table of speeds belongs here" },
	{ "{\"v100\": {\"('Foo', 1)\": {\"null\": \"x\"}}}", "\"null\": a speed must be a number" },
	{ "{\"v100\": {\"('Foo', 1)\": {\"null\": -1}}}", "\"null\": a speed must be a number" },
	{ "{\"v100\": {\"('Foo', 1)\": {\"null\": NaN}}}", "speeds:1: not valid JSON" },
	{ "{\"v100\": {\"('Foo', 1)\": {\"null\": 1e999}}}", "speeds:1: not valid JSON" },
	{ "{\"v100\": {\"('Foo', 1)\": {\"null\": null}}}", "\"null\": a speed must be a number" },
	{ "{\"v100\": {\"('Foo', 1)\": {\"alone\": 1}}}", "\"alone\": write a job as" },
	{ "{\"v100\": {\"('Foo', 1)\": {\"('Bar', 1)\": 1}}}", "a pair has two speeds" },
	{ "{\"v100\": {\"('Foo', 1)\": {\"('Bar', 1)\": [1, -1]}}}", "a pair has two speeds" },
	{ "{\"v100\": {\"('Foo', 1)\": {\"null\": 1, \"null\": 2}}}", "not valid JSON" },
	{ "{\"v100\": {\"('', 1)\": {}}}", "write a job as" },
	{ "{\"v100\": {\"('a', 0)\": {}}}", "write a job as" },
	{ "{\"v100\": {\"('a', x)\": {}}}", "write a job as" },
	{ "{\"v100\": {\"('a\\\", 1)\": {}}}", "write a job as" },
	{ "{\"v100\": {\"(,)\": {}}}", "write a job as" },
	{ "{\"v100\": {\"(((((((\": {}}}", "write a job as" },
};

static void test_bad_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct world *w = world("4x1:v100");

		assert_int_equal(read_text(w, bad[i].text), ERR_FORMAT);
		print_message("%s\n", w->err.text);
		if (!strstr(w->err.text, bad[i].part))
			fail_msg("wanted: %s", bad[i].part);
		destroy(w);
	}
}

static void test_a_bad_file_adds_nothing(void **state)
{
	struct world *w = world("4x1:v100");

	(void)state;
	assert_true(read_text(w, "model,type,steps_per_s\nodd,v100,3\nodd,v100,x\n") < 0);
	assert_true(isnan(speed(w, "odd", 0, 1, 1)));
	destroy(w);
}

static void test_files(void **state)
{
	struct world *w = world("4x1:v100");
	char *path = mem_printf("/tmp/stint-speeds-%d.csv", (int)getpid());
	static const char text[] = "model,type,steps_per_s\nfoo,v100,3\n";

	(void)state;
	assert_int_equal(file_write(path, text, strlen(text), &w->err), 0);
	assert_int_equal(profile_read(path, &w->cluster, &w->models, w->profile, &w->err), 0);
	assert_true(speed(w, "foo", 0, 1, 1) == 3);
	unlink(path);
	assert_int_equal(profile_read(path, &w->cluster, &w->models, w->profile, &w->err), ERR_MISSING);
	free(path);
	destroy(w);
}

/* ---- the catalogue's estimate against published measurements */

enum { PAIRS_MAX = 4096 };

/* Two columns of the same things. */
struct columns {
	double a[PAIRS_MAX], b[PAIRS_MAX];
	size_t n;
};

static void add(struct columns *c, double a, double b)
{
	if (c->n == PAIRS_MAX || !(a > 0 && b > 0))
		return;
	c->a[c->n] = a;
	c->b[c->n++] = b;
}

static double rank_of(const double *x, size_t n, size_t i)
{
	size_t less = 0, equal = 0;

	for (size_t j = 0; j < n; j++) {
		less += x[j] < x[i];
		equal += x[j] == x[i];
	}
	return (double)less + ((double)equal - 1) / 2;
}

/* Spearman: Pearson's correlation of ranks, ties shared. */
static double rank_correlation(const struct columns *c)
{
	double mean = ((double)c->n - 1) / 2, ab = 0, aa = 0, bb = 0;

	for (size_t i = 0; i < c->n; i++) {
		double x = rank_of(c->a, c->n, i) - mean, y = rank_of(c->b, c->n, i) - mean;

		ab += x * y;
		aa += x * x;
		bb += y * y;
	}
	return ab / sqrt(aa * bb);
}

/* How far apart they are as a rule, as a factor. */
static double usual_factor(const struct columns *c)
{
	double sum = 0;

	for (size_t i = 0; i < c->n; i++)
		sum += fabs(log(c->b[i] / c->a[i]));
	return exp(sum / (double)c->n);
}

static double mean_difference(const struct columns *c)
{
	double sum = 0;

	for (size_t i = 0; i < c->n; i++)
		sum += fabs(c->a[i] - c->b[i]);
	return sum / (double)c->n;
}

/* The others were measured on one device only. */
static bool has_many(const char *model)
{
	return !strncmp(model, "ResNet", 6) || !strncmp(model, "Transformer", 11) ||
		!strncmp(model, "LM", 2);
}

static void compare_speeds(struct world *measured, struct world *estimated, struct columns *out)
{
	for (uint32_t gpus = 1; gpus <= 8; gpus *= 2) {
		for (uint32_t m = 0; m < measured->models.n; m++) {
			bool known = gpus == 1 || has_many(measured->models.at[m]);

			for (uint32_t t = 0; known && t < 3; t++) {
				struct shape s = profile_packed(measured->profile, t, gpus);

				add(out, profile_rate(measured->profile, m, t, s),
					profile_rate(estimated->profile, m, t, s));
			}
		}
	}
}

static void compare_types(struct world *measured, struct world *estimated, uint32_t type,
	struct columns *out)
{
	struct shape one = { .gpus = 1, .nodes = 1, .racks = 1 };

	for (uint32_t m = 0; m < measured->models.n; m++)
		add(out,
			profile_rate(measured->profile, m, 0, one) /
				profile_rate(measured->profile, m, type, one),
			profile_rate(estimated->profile, m, 0, one) /
				profile_rate(estimated->profile, m, type, one));
}

static void compare_pairs(struct world *measured, struct world *estimated, struct columns *out)
{
	for (uint32_t t = 0; t < 3; t++) {
		for (uint32_t a = 0; a < measured->models.n; a++) {
			for (uint32_t b = 0; b < measured->models.n; b++)
				add(out, profile_beside(measured->profile, t, 1, a, b),
					profile_beside(estimated->profile, t, 1, a, b));
		}
	}
}

static void test_against_gavel(void **state)
{
	char *path = mem_printf("%s/gavel/simulation_throughputs.json", data_dir());
	struct world *measured = world("8x8:v100,8x8:p100,8x8:k80"), *estimated;
	struct columns *speeds = mem_alloc(sizeof(*speeds)), *p100 = mem_alloc(sizeof(*p100));
	struct columns *k80 = mem_alloc(sizeof(*k80)), *pairs = mem_alloc(sizeof(*pairs));

	(void)state;
	estimated = world("8x8:v100,8x8:p100,8x8:k80");
	if (!file_exists(path)) {
		print_message("SKIPPED: there is no %s; set STINT_DATA to compare with Gavel\n", path);
	} else {
		assert_int_equal(profile_read(path, &measured->cluster, &measured->models,
					 measured->profile, &measured->err),
			0);
		for (uint32_t m = 0; m < measured->models.n; m++)
			names_add(&estimated->models, measured->models.at[m],
				strlen(measured->models.at[m]));
		assert_int_equal(measured->models.n, 26);
		compare_speeds(measured, estimated, speeds);
		compare_types(measured, estimated, 1, p100);
		compare_types(measured, estimated, 2, k80);
		compare_pairs(measured, estimated, pairs);
		print_message("steps/s: %zu speeds, rank correlation %.2f, off by a factor of %.2f\n",
			speeds->n, rank_correlation(speeds), usual_factor(speeds));
		print_message("v100 over p100: rank correlation %.2f, off by a factor of %.2f\n",
			rank_correlation(p100), usual_factor(p100));
		print_message("v100 over k80: rank correlation %.2f, off by a factor of %.2f\n",
			rank_correlation(k80), usual_factor(k80));
		print_message("two on one device: %zu pairs, rank correlation %.2f, off by %.2f\n",
			pairs->n, rank_correlation(pairs), mean_difference(pairs));
		assert_true(rank_correlation(speeds) > 0.85 && usual_factor(speeds) < 2.5);
		assert_true(rank_correlation(p100) > 0.6 && usual_factor(p100) < 2.5);
		assert_true(rank_correlation(k80) > 0.5 && usual_factor(k80) < 3);
		assert_true(rank_correlation(pairs) > 0.3 && mean_difference(pairs) < 0.25);
	}
	free(speeds);
	free(p100);
	free(k80);
	free(pairs);
	destroy(measured);
	destroy(estimated);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gavel),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_a_bad_file_adds_nothing),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_against_gavel),
	};

	return cmocka_run_group_tests_name("throughputs", tests, NULL, NULL);
}
