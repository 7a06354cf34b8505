#include "base/option_json.h"

#include <stdlib.h>

#include "support/property.h"

struct thing {
	double limit_s;
	int queues, way;
	bool fast;
	char file[OPTION_TEXT_MAX];
};

static const char *const ways[] = { "near", "far", NULL };

static const struct option options[] = {
	OPT_DOUBLE(struct thing, limit_s, 60, 1, 3600, "seconds"),
	OPT_INT(struct thing, queues, 2, 1, 16, "queues"),
	OPT_BOOL(struct thing, fast, 1, "at once"),
	OPT_CHOICE(struct thing, way, 1, ways, "which way"),
	OPT_TEXT(struct thing, file, "x", "where"),
	{ 0 },
};

static const char *const want[] = {
	"{\"name\":\"limit_s\",\"kind\":\"number\",\"default\":60,\"min\":1,\"max\":3600,\"help\":\"seconds\"}",
	"{\"name\":\"queues\",\"kind\":\"integer\",\"default\":2,\"min\":1,\"max\":16,\"help\":\"queues\"}",
	"{\"name\":\"fast\",\"kind\":\"bool\",\"default\":true,\"help\":\"at once\"}",
	"{\"name\":\"way\",\"kind\":\"choice\",\"default\":\"far\",\"choices\":[\"near\",\"far\"],\"help\":\"which way\"}",
	"{\"name\":\"file\",\"kind\":\"text\",\"default\":\"x\",\"help\":\"where\"}",
};

static void each_kind_has_what_a_form_needs(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(want); i++) {
		struct buf out = { 0 };
		struct json j;

		json_init(&j, &out, false);
		option_to_json(&options[i], &j);
		assert_string_equal(out.at, want[i]);
		buf_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_what_a_form_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
