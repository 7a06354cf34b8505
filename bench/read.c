/*
 * read TRACE: how fast a trace is read: jobs, MB, seconds of CPU, MB per second.
 *
 * Everything that trace_read() does is in it: reading the file, recognising the
 * format, parsing, checking, hashing.  The best of a few counts; the file is in
 * the page cache after the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "io/trace_io.h"

enum { REPEAT = 3 };

/* Seconds of CPU that one reading took. */
static double read_once(const char *path, uint32_t *jobs)
{
	struct import_options options = { 0 };
	struct trace trace = { 0 };
	struct notes notes = { 0 };
	struct err err = { 0 };
	double before_s = clock_cpu_s(), took_s;

	if (trace_read(path, &options, NULL, &trace, &notes, &err) < 0) {
		fprintf(stderr, "read: %s\n", err.text);
		exit(1);
	}
	took_s = clock_cpu_s() - before_s;
	*jobs = trace.njobs;
	trace_fini(&trace);
	notes_fini(&notes);
	return took_s;
}

int main(int argc, char **argv)
{
	struct stat file;
	double best_s = 0;
	uint32_t jobs = 0;

	if (argc != 2 || stat(argv[1], &file) < 0) {
		fprintf(stderr, "usage: read TRACE\n");
		return 2;
	}
	for (int i = 0; i < REPEAT; i++) {
		double took_s = read_once(argv[1], &jobs);

		if (i == 0 || took_s < best_s)
			best_s = took_s;
	}
	printf("%u %.1f %.3f %.0f\n", jobs, (double)file.st_size / 1e6, best_s,
		(double)file.st_size / 1e6 / best_s);
	return 0;
}
