/*
 * Any JSON as a submission: read or refused with a text, and what passes its
 * check reads back as the same.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "live/submission.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void read_again(const struct submission *s)
{
	json_t *first = submission_to_json(s), *second;
	struct submission copy;
	struct err err = { 0 };

	assert(submission_from_json(&copy, first, &err) == 0);
	assert(submission_check(&copy, &err) == 0);
	second = submission_to_json(&copy);
	assert(json_equal(first, second));
	json_decref(first);
	json_decref(second);
	submission_fini(&copy);
}

static void check(struct submission *s)
{
	struct err err = { 0 };
	int rc = submission_check(s, &err);

	if (rc) {
		assert(rc == ERR_USAGE && strchr(err.text, ':'));
		return;
	}
	assert(s->name && s->cwd[0] == '/' && (s->script || s->argv[0]));
	assert(s->min_gpus <= s->gpus && s->gpus <= s->max_gpus);
	read_again(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	json_t *json = json_loadb((const char *)bytes, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	struct submission s;
	struct err err = { 0 };
	int rc;

	if (!json)
		return 0;
	rc = submission_from_json(&s, json, &err);
	json_decref(json);
	if (rc) {
		assert(rc == ERR_USAGE && strlen(err.text) > 5);
		return 0;
	}
	check(&s);
	submission_fini(&s);
	return 0;
}
