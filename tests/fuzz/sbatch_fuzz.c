/*
 * Any bytes as a script: its comments are read or refused with line and text.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "io/notes.h"
#include "live/sbatch.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct notes notes = { 0 };
	const struct submission_context context = { .now_s = 1.7e9, .cwd = "/w", .notes = &notes };
	static const char *const argv[] = { NULL };
	struct submission s;
	struct err err = { 0 };
	int rc;

	submission_init(&s);
	rc = sbatch_read(&s, "fuzz", (const char *)bytes, n, &context, &err);
	if (rc) {
		assert(rc == ERR_FORMAT && !strncmp(err.text, "fuzz:", 5));
	} else {
		s.script = "#!/bin/sh\n";
		s.argv = argv;
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
