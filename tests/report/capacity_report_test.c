#include "report/capacity_report.h"

#include "report/fixture.h"
#include "report/html_check.h"

struct scene {
	struct target target;
	struct capacity_option options[3];
	struct capacity_report r;
};

static void fill(struct scene *s)
{
	static const struct {
		const char *type;
		uint32_t per_node, nodes;
		double price;
	} rows[] = { { "v100", 8, 3, 2.5 }, { "a100", 4, 4, 3 }, { "odd", 8, 1, 0 } };

	*s = (struct scene){ 0 };
	assert_int_equal(target_parse("p90 wait < 2h", &s->target, NULL), 0);
	for (int i = 0; i < 3; i++) {
		struct capacity_option *o = &s->options[i];

		*o = (struct capacity_option){
			.type = mem_strdup(rows[i].type),
			.per_node = rows[i].per_node,
			.price_per_h = rows[i].price,
			.found = i < 2,
			.monotone = true,
			.nodes = rows[i].nodes,
			.why = i < 2 ? NULL : mem_strdup("2 of 9 jobs cannot run"),
		};
		/* Out of order, as a search asks. */
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t nodes = rows[i].nodes + (k * 2) % 3;

			capacity_add(o,
				&(struct capacity_point){
					.nodes = nodes,
					.devices = nodes * o->per_node,
					.counts = { nodes == 3 ? NAN : 3600.0 * nodes },
					.ok = i < 2,
					.left = i < 2 ? 0 : 2,
				});
		}
	}
	s->r = (struct capacity_report){
		.targets = &s->target,
		.ntargets = 1,
		.options = s->options,
		.noptions = 3,
		.nseeds = 11,
		.njobs = 9,
		.present = "2x8:v100",
		.history = HOSTILE,
	};
}

static void release(struct scene *s)
{
	for (int i = 0; i < 3; i++)
		capacity_option_fini(&s->options[i]);
}

static void points_are_in_order(void **state)
{
	struct scene s;

	(void)state;
	fill(&s);
	for (uint32_t k = 0; k < 3; k++)
		assert_int_equal(s.options[0].points.at[k].nodes, 3 + k);
	assert_int_equal(capacity_at(&s.options[0], 4)->devices, 32);
	assert_null(capacity_at(&s.options[0], 9));
	release(&s);
}

static void the_cheapest_is_by_cost(void **state)
{
	struct scene s;
	struct buf text = { 0 };

	(void)state;
	fill(&s);
	assert_int_equal(capacity_cheapest(&s.r), 1); /* 16 x 3 is less than 24 x 2.5 */
	capacity_lead(&s.r, &text);
	assert_string_equal(text.at,
		"4 nodes of 4 a100: 16 devices for 48.00 per hour meet p90 wait < 2h");
	s.options[1].price_per_h = 10;
	assert_int_equal(capacity_cheapest(&s.r), 0);
	s.options[0].price_per_h = 0; /* by devices */
	assert_int_equal(capacity_cheapest(&s.r), 1);
	s.options[0].found = s.options[1].found = false;
	assert_int_equal(capacity_cheapest(&s.r), -1);
	buf_clear(&text);
	capacity_lead(&s.r, &text);
	assert_non_null(strstr(text.at, "cannot be reached"));
	buf_fini(&text);
	release(&s);
}

static void it_is_text_json_and_a_page(void **state)
{
	struct scene s;
	struct buf text = { 0 };
	struct term term = { .width = 100 };

	(void)state;
	fill(&s);
	s.options[0].by_luck = 1;
	capacity_text(&s.r, &term, &text);
	assert_non_null(strstr(text.at, "cheapest"));
	assert_non_null(strstr(text.at, "2 of 9 jobs cannot run"));
	assert_non_null(strstr(text.at, "chance, not capacity"));
	assert_false(has_nan(text.at));
	buf_clear(&text);
	capacity_json(&s.r, &text);
	assert_non_null(strstr(text.at, "\"schema\": \"capacity/1\""));
	assert_non_null(strstr(text.at, "\"cheapest\": \"a100\""));
	assert_false(has_nan(text.at));
	buf_clear(&text);
	capacity_html(&s.r, &(struct html_info){ .title = HOSTILE, .trace = HOSTILE }, &text);
	check_html(text.at);
	assert_false(has_nan(text.at));
	buf_fini(&text);
	release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_are_in_order),
		cmocka_unit_test(the_cheapest_is_by_cost),
		cmocka_unit_test(it_is_text_json_and_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
