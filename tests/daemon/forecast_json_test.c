/*
 * What is told of a forecast when some of its jobs have ended meanwhile.
 */
#include "daemon/forecast_json.h"
#include "support/property.h"

/* Jobs 1 to 3 as the thread writes them: each but the first with the comma before it. */
static void write_text(struct forecast_text *text)
{
	struct json j;

	json_init(&j, &text->json, false);
	json_begin_object(&j, NULL);
	json_int(&j, "at", 7);
	json_begin_array(&j, "jobs");
	for (uint32_t i = 1; i <= 3; i++) {
		struct forecast_place place = { i, text->json.n, 0 };

		json_begin_object(&j, NULL);
		json_int(&j, "id", i);
		json_end(&j, '}');
		place.to = text->json.n;
		vec_push(&text->jobs, place);
	}
	json_end(&j, ']');
	json_begin_array(&j, "spans");
	json_end(&j, ']');
	json_end(&j, '}');
}

static bool in_bits(const void *ctx, uint32_t number)
{
	return *(const unsigned *)ctx >> number & 1;
}

static void jobs_that_have_ended_are_left_out(void **state)
{
	static const struct {
		unsigned alive;
		const char *jobs;
	} rows[] = {
		{ 0xe, "{\"id\":1},{\"id\":2},{\"id\":3}" },
		{ 0xc, "{\"id\":2},{\"id\":3}" },
		{ 0xa, "{\"id\":1},{\"id\":3}" },
		{ 0x6, "{\"id\":1},{\"id\":2}" },
		{ 0x8, "{\"id\":3}" },
		{ 0x0, "" },
	};
	struct forecast_text text = { 0 };

	(void)state;
	write_text(&text);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf got = { 0 }, want = { 0 };

		forecast_text_put(&text, in_bits, &rows[i].alive, &got);
		buf_printf(&want, "\"at\":7,\"jobs\":[%s],\"spans\":[]", rows[i].jobs);
		assert_string_equal(got.at, want.at);
		buf_fini(&got);
		buf_fini(&want);
	}
	forecast_text_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_that_have_ended_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
