/*
 * A record in a temporary directory, and the few events that tests of it write.
 */
#ifndef TESTS_STORE_RECORD_FIXTURE_H
#define TESTS_STORE_RECORD_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/record.h"
#include "store/record_mark.h"

static char *folder, *place; /* the directory, and DIR/stint.db */

static inline int set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char *name = mem_printf("%s/record.XXXXXX", tmp ? tmp : "/tmp");

	(void)state;
	folder = mkdtemp(name);
	place = path_join(folder, "stint.db");
	return folder ? 0 : -1;
}

static inline void run_shell(const char *fmt, const char *a, const char *b)
{
	char *command = mem_printf(fmt, a, b);

	if (system(command) != 0)
		fprintf(stderr, "failed: %s\n", command);
	free(command);
}

static inline int tear_down(void **state)
{
	(void)state;
	run_shell("rm -rf '%s'%s", folder, "");
	free(folder);
	free(place);
	return 0;
}

/* Nothing is left of the record, nor of what says that there was one. */
static inline void forget_record(void)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal", "-reserve" };
	char *mark = record_mark_path(place);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		char *path = mem_printf("%s%s", place, ends[i]);

		unlink(path);
		free(path);
	}
	unlink(mark);
	free(mark);
}

/* A job that has just been submitted. */
static inline struct record_job a_job(uint32_t id)
{
	return (struct record_job){
		.id = id,
		.uid = 1000,
		.name = "train",
		.tenant = "ana",
		.state = "PENDING",
		.live = true,
		.arrival_s = 1763366400.123456 + id * 0.1,
		.end_s = NAN,
		.status = "{\"gpus\":1}",
	};
}

static inline int submit(struct record *r, struct record_job job, const char *body, struct err *err)
{
	struct record_event event = {
		.at_s = job.arrival_s,
		.kind = "submit",
		.job = job.id,
		.body = body,
	};

	return record_append(r, &event, &job, NULL, err);
}

/* What happens to job `id` next: `state` from now on, and its first attempt with it. */
static inline int change(struct record *r, uint32_t id, uint64_t submit_seq, const char *state,
	bool ends, struct err *err)
{
	struct record_job job = a_job(id);
	struct record_attempt attempt = { id, 1, ends, ends ? "{\"code\":0}" : "{}" };
	struct record_event event = {
		.at_s = job.arrival_s + 1 + ends,
		.kind = ends ? "end" : "start",
		.job = id,
		.attempt = 1,
		.body = "{}",
	};

	job.submit_seq = submit_seq;
	job.state = state;
	job.live = !ends;
	job.status = ends ? "{\"gpus\":1,\"ran_s\":1.5}" : "{\"gpus\":1,\"attempt\":1}";
	if (ends)
		job.end_s = event.at_s;
	return record_append(r, &event, &job, &attempt, err);
}

#endif
