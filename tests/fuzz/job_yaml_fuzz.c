/*
 * Any bytes as a job file: read or refused with a text.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "io/notes.h"
#include "live/job_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct notes notes = { 0 };
	const struct submission_context context = { .now_s = 1.7e9, .cwd = "/w", .notes = &notes };
	struct submission s;
	struct err err = { 0 };
	int rc;

	submission_init(&s);
	rc = job_yaml_read(&s, "fuzz", (const char *)bytes, n, &context, &err);
	if (rc) {
		assert(rc == ERR_FORMAT && !strncmp(err.text, "fuzz:", 5));
	} else {
		s.cwd = s.cwd ? s.cwd : "/";
		rc = submission_check(&s, &err);
		assert(!rc || rc == ERR_USAGE);
		if (!rc)
			json_decref(submission_to_json(&s));
	}
	submission_fini(&s);
	notes_fini(&notes);
	return 0;
}
