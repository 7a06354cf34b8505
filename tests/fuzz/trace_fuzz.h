/*
 * A fuzz target for one trace format: whatever the text, reading it ends with
 * jobs or with an error; jobs can be checked, written and read back equal.
 */
#ifndef TESTS_FUZZ_TRACE_FUZZ_H
#define TESTS_FUZZ_TRACE_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/trace_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static inline void write_again(const struct trace *trace)
{
	struct buf first = { 0 }, second = { 0 };
	const struct import_options options = { .format = "stint" };
	struct trace again = { 0 };
	struct err err = { 0 };

	trace_write(trace, &first);
	if (trace_read_text("again", (struct slice){ first.at, first.n }, &options, &again, NULL, &err)) {
		fprintf(stderr, "ERROR: cannot read what was written: %s\n%s\n", err.text, first.at);
		abort();
	}
	trace_write(&again, &second);
	if (strcmp(first.at, second.at) != 0) {
		fprintf(stderr, "ERROR: reads back different:\n%s\n%s\n", first.at, second.at);
		abort();
	}
	trace_fini(&again);
	buf_fini(&first);
	buf_fini(&second);
}

/* `format` NULL: recognised. */
static inline void fuzz_trace(const char *format, bool lenient, struct slice text)
{
	const struct import_options options = { .format = format, .lenient = lenient };
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };

	if (trace_read_text("fuzz", text, &options, &trace, &notes, &err) == 0) {
		trace_check(&trace, NULL, &notes);
		write_again(&trace);
	} else if (!err.code || !err.text[0]) {
		fprintf(stderr, "ERROR: failed without a reason\n");
		abort();
	}
	trace_fini(&trace);
	notes_fini(&notes);
}

#define FUZZ_FORMAT(format) \
	int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) \
	{ \
		fuzz_trace((format), false, (struct slice){ (const char *)bytes, n }); \
		fuzz_trace((format), true, (struct slice){ (const char *)bytes, n }); \
		return 0; \
	}

#endif
