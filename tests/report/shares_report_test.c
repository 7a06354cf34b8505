#include "report/shares_report.h"

#include <jansson.h>

#include "report/fixture.h"
#include "report/html_check.h"

enum { JOBS = 3, TYPES = 2 };

/* Three jobs on two types; the first two share devices for a while. */
struct made_up {
	struct fixture fixture;
	struct cluster cluster;
	struct arena arena;
	struct job jobs[JOBS];
	struct round round;
	struct program program;
	struct shares shares;
	struct program_pair pair;
	uint32_t id[JOBS];
	double gang[JOBS], weight[JOBS], x[JOBS * TYPES], pair_x[TYPES], price[TYPES], level[JOBS];
	bool tight[JOBS];
};

static void made_up_init(struct made_up *m)
{
	static const double x[] = { 0.5, 1e-12, 0, 0.25, 0.125, 0.875 };

	*m = (struct made_up){ .pair = { 0, 1 }, .pair_x = { 0, 0.25 }, .price = { 0.5, 1e-14 } };
	fixture_init(&m->fixture, JOBS);
	assert_int_equal(cluster_parse("1x4:k80,1x4:v100", &m->cluster, NULL), 0);
	memcpy(m->x, x, sizeof(x));
	for (uint32_t i = 0; i < JOBS; i++) {
		m->jobs[i] = m->fixture.trace.jobs[i];
		m->id[i] = i;
		m->gang[i] = i == 2 ? 2 : 1;
		m->weight[i] = 1;
		m->level[i] = 0.5 + i;
		m->tight[i] = i == 2;
	}
	m->round = (struct round){ .cluster = &m->cluster, .jobs = m->jobs, .njobs = JOBS };
	m->program = (struct program){ .round = &m->round,
		.jobs = JOBS,
		.types = TYPES,
		.type = { 0, 1 },
		.capacity = { 4, 4 },
		.id = m->id,
		.gang = m->gang,
		.weight = m->weight,
		.pairs = 1,
		.pair = &m->pair };
	m->shares = (struct shares){ .x = m->x,
		.pair_x = m->pair_x,
		.value = 0.5,
		.price = m->price,
		.level = m->level,
		.tight = m->tight };
}

static void made_up_fini(struct made_up *m)
{
	fixture_fini(&m->fixture);
	cluster_fini(&m->cluster);
	arena_fini(&m->arena);
}

static void report_of(struct made_up *m, struct shares_report *r)
{
	shares_report_init(r, &m->program, &m->shares, &m->fixture.trace);
	r->policy = "gavel";
	r->cluster = "1x4:k80,1x4:v100";
	r->source = HOSTILE;
	r->at_s = 7200;
}

static void totals_count_pairs_once_a_device(void **state)
{
	struct made_up m;
	struct shares_report r;

	(void)state;
	made_up_init(&m);
	report_of(&m, &r);
	assert_int_equal(r.npairs, 1);
	assert_true(r.types[0].used == 0.5 + 2 * 0.125);
	assert_true(r.types[1].used == 0.25 + 0.25 + 2 * 0.875);
	assert_true(r.jobs[0].sum == 0.75 && r.jobs[0].paired == 0.25);
	assert_true(r.jobs[1].sum == 0.5 && r.jobs[2].sum == 1);
	assert_true(r.jobs[0].x[1] == 0 && r.types[1].price == 0); /* rounding of a solver */
	shares_report_fini(&r);
	made_up_fini(&m);
}

static void text_names_shares_prices_and_bottlenecks(void **state)
{
	static const char *const words[] = { "gavel on 1x4:k80,1x4:v100",
		"3 jobs active at 7200 s (2.00 h); objective 0.5, held down by 1 job", "k80",
		"87.5", "bottleneck", "paired", "j0 + j1", "price" };
	struct made_up m;
	struct shares_report r;
	struct buf out = { 0 };

	(void)state;
	made_up_init(&m);
	report_of(&m, &r);
	shares_report_text(&r, 40, &(struct term){ 0 }, &out);
	for (size_t i = 0; i < COUNT(words); i++) {
		if (!strstr(out.at, words[i]))
			fail_msg("no '%s' in\n%s", words[i], out.at);
	}
	assert_false(has_nan(out.at));
	assert_null(strstr(out.at, "more job"));
	assert_null(strchr(out.at, '\033'));
	buf_clear(&out);
	shares_report_text(&r, 40, &(struct term){ .utf8 = true, .colour = true }, &out);
	assert_non_null(strstr(out.at, "87.5 █\033[0m"));
	buf_fini(&out);
	shares_report_fini(&r);
	made_up_fini(&m);
}

static void bottlenecks_come_first_where_not_all_fit(void **state)
{
	struct made_up m;
	struct shares_report r;
	struct buf out = { 0 };

	(void)state;
	made_up_init(&m);
	report_of(&m, &r);
	shares_report_text(&r, 1, &(struct term){ 0 }, &out);
	assert_non_null(strstr(out.at, "\nj2 "));
	assert_null(strstr(out.at, "\nj1 "));
	assert_non_null(strstr(out.at, "... and 2 more jobs; --all"));
	buf_fini(&out);
	shares_report_fini(&r);
	made_up_fini(&m);
}

static void what_is_not_known_is_left_out(void **state)
{
	struct made_up m;
	struct shares_report r;
	struct buf out = { 0 };
	json_t *root;

	(void)state;
	made_up_init(&m);
	m.shares = (struct shares){ .x = m.x };
	report_of(&m, &r);
	shares_report_text(&r, 40, &(struct term){ 0 }, &out);
	assert_null(strstr(out.at, "objective"));
	assert_null(strstr(out.at, "level"));
	assert_null(strstr(out.at, "bottleneck"));
	assert_false(has_nan(out.at));
	buf_clear(&out);
	shares_report_json(&r, &out);
	root = json_loads(out.at, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_true(json_is_null(json_object_get(root, "objective")));
	assert_true(json_is_null(
		json_object_get(json_array_get(json_object_get(root, "jobs"), 0), "bottleneck")));
	json_decref(root);
	buf_fini(&out);
	shares_report_fini(&r);
	made_up_fini(&m);
}

static void json_has_everything(void **state)
{
	struct made_up m;
	struct shares_report r;
	struct buf out = { 0 };
	json_t *root, *job;

	(void)state;
	made_up_init(&m);
	report_of(&m, &r);
	r.source = "made up";
	shares_report_json(&r, &out);
	root = json_loads(out.at, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "shares/1");
	assert_int_equal(json_array_size(json_object_get(root, "jobs")), JOBS);
	assert_int_equal(json_array_size(json_object_get(root, "types")), TYPES);
	assert_int_equal(json_array_size(json_object_get(root, "pairs")), 1);
	job = json_array_get(json_object_get(root, "jobs"), 2);
	assert_true(json_is_true(json_object_get(job, "bottleneck")));
	assert_true(json_number_value(json_object_get(json_object_get(job, "x"), "v100")) == 0.875);
	assert_true(json_number_value(json_object_get(job, "level")) == 2.5);
	json_decref(root);
	buf_fini(&out);
	shares_report_fini(&r);
	made_up_fini(&m);
}

static void pages_are_well_formed_whatever_the_names(void **state)
{
	struct html_info info = { .title = HOSTILE, .command = "stint shares", .trace = HOSTILE };
	struct made_up m;
	struct shares_report r;
	struct buf out = { 0 };

	(void)state;
	made_up_init(&m);
	report_of(&m, &r);
	r.jobs[0].label = r.jobs[1].model = HOSTILE;
	for (uint32_t top = 1; top < 4; top++) {
		buf_clear(&out);
		shares_report_html(&r, top, &info, &out);
		check_html(out.at);
		assert_false(has_nan(out.at));
	}
	assert_non_null(strstr(out.at, "<desc id=\"heat-d\">3 jobs active"));
	buf_clear(&out);
	shares_report_svg(&r, 40, &out);
	assert_memory_equal(out.at, "<svg xmlns=", 11);
	assert_null(strstr(out.at, "<script"));
	buf_fini(&out);
	shares_report_fini(&r);
	made_up_fini(&m);
}

static void nobody_is_said_with_the_times_around(void **state)
{
	struct made_up m;
	struct shares_report r;
	struct buf out = { 0 };

	(void)state;
	made_up_init(&m);
	m.program.jobs = m.program.pairs = 0;
	m.shares = (struct shares){ 0 };
	report_of(&m, &r);
	r.last_end_s = 100;
	r.next_start_s = 10800;
	r.held = 2;
	shares_report_text(&r, 40, &(struct term){ 0 }, &out);
	assert_non_null(strstr(out.at,
		"no job is active at 7200 s (2.00 h); 2 are held back by admission or dependencies; the "
		"last one before ended at 100 s; the next one arrives at 10800 s (3.00 h)\n"));
	assert_false(has_nan(out.at));
	buf_clear(&out);
	shares_report_html(&r, 40, &(struct html_info){ 0 }, &out);
	check_html(out.at);
	buf_clear(&out);
	shares_report_svg(&r, 40, &out);
	assert_false(has_nan(out.at));
	buf_fini(&out);
	shares_report_fini(&r);
	made_up_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_count_pairs_once_a_device),
		cmocka_unit_test(text_names_shares_prices_and_bottlenecks),
		cmocka_unit_test(bottlenecks_come_first_where_not_all_fit),
		cmocka_unit_test(what_is_not_known_is_left_out),
		cmocka_unit_test(json_has_everything),
		cmocka_unit_test(pages_are_well_formed_whatever_the_names),
		cmocka_unit_test(nobody_is_said_with_the_times_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
