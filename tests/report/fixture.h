/*
 * A small workload and runs of it, made up: what the tests of report share.
 */
#ifndef TESTS_REPORT_FIXTURE_H
#define TESTS_REPORT_FIXTURE_H

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "engine/outcome.h"
#include "model/cluster.h"
#include "model/trace.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* A name that would run as a script if anybody forgot to escape it. */
#define HOSTILE "</script><script>alert('x')</script>\"&\x01\xff"

/* Whether a number was printed that is none ("tenant" is fine). */
static inline bool has_nan(const char *text)
{
	for (const char *at = strstr(text, "nan"); at; at = strstr(at + 1, "nan")) {
		if (!isalpha((unsigned char)at[-1]) && !isalpha((unsigned char)at[3]))
			return true;
	}
	return false;
}

struct fixture {
	struct cluster cluster;
	struct trace trace;
};

/* n jobs on 2x4:v100: job i arrives at 10 i, has 1 GPU and runs 100 s. */
static inline void fixture_init(struct fixture *f, uint32_t n)
{
	*f = (struct fixture){ 0 };
	assert_int_equal(cluster_parse("2x4:v100", &f->cluster, NULL), 0);
	f->trace.source = mem_strdup("made up");
	for (uint32_t i = 0; i < n; i++) {
		struct job *job = trace_add(&f->trace);
		char label[16];

		snprintf(label, sizeof(label), "j%u", (unsigned)i);
		job->label = trace_text(&f->trace, label, strlen(label));
		job->name = i == 0 ? HOSTILE : NULL;
		job->tenant = names_add(&f->trace.tenants, i % 2 ? "even" : HOSTILE,
			i % 2 ? 4 : strlen(HOSTILE));
		job->model = names_add(&f->trace.models, "resnet50", 8);
		job->arrival_s = 10.0 * i;
		f->trace.work[i] = 100;
	}
	trace_finish(&f->trace, NAN);
}

static inline void fixture_fini(struct fixture *f)
{
	trace_fini(&f->trace);
	cluster_fini(&f->cluster);
}

/* A run in which job i waits `wait_s` and is then on device i % 8 for 100 s. */
static inline struct outcome fixture_run(const struct fixture *f, double wait_s)
{
	uint32_t n = f->trace.njobs;
	struct outcome o = {
		.jobs = mem_alloc((n + 1) * sizeof(struct job)),
		.njobs = n,
		.nsamples = n ? 10 : 0,
		.samples = mem_alloc(10 * sizeof(struct sample)),
		.spans = mem_alloc((n + 1) * sizeof(struct span)),
		.nspans = n,
		.events = 3 * (uint64_t)n,
		.event_hash = 0xabc + (uint64_t)wait_s,
		.decisions = n,
		.decision_cpu_s = 0.5,
		.cpu_s = 1,
		.gpus = 8,
		.busy_gpu_s = 100.0 * n,
		.useful_gpu_s = 90.0 * n,
		.up_gpu_s = 200.0 * n,
	};

	if (n)
		memcpy(o.jobs, f->trace.jobs, n * sizeof(struct job));
	for (uint32_t i = 0; i < n; i++) {
		struct job *job = &o.jobs[i];

		job->state = JOB_FINISHED;
		job->start_s = job->arrival_s + wait_s;
		job->finish_s = job->start_s + 100;
		job->waited_s = wait_s;
		job->ran_s = 100;
		job->fair_s = 50;
		o.spans[i] = (struct span){ job->start_s, job->finish_s, UINT64_C(1) << (i % 4),
			i % 8 / 4, i, 1 };
		o.waited_by_why_s[WHY_BUSY] += wait_s;
		o.to_s = job->finish_s;
	}
	o.step_s = o.to_s / 10;
	for (uint32_t i = 0; i < o.nsamples; i++)
		o.samples[i] =
			(struct sample){ .busy_gpus = 4, .up_gpus = 8, .running = 4, .pending = i };
	return o;
}

static inline void fixture_run_fini(struct outcome *o)
{
	free(o->jobs);
	free(o->samples);
	free(o->spans);
}

#endif
