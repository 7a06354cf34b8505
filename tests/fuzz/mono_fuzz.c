/*
 * Any bytes as a file of jobs of tasks: read or refused with a text; what was
 * read has no circles and nothing that cannot be run.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "io/mono_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct mono_load load = { 0 };
	struct err err = { 0 };
	int rc = mono_read_csv("fuzz", (const char *)bytes, n, &load, &err);
	uint64_t tasks = 0;

	if (rc) {
		assert(rc == ERR_FORMAT && err.code == rc && strlen(err.text) > 5);
		return 0;
	}
	assert(load.njobs > 0 && load.nstages >= load.njobs && dag_is_acyclic(&load.dag));
	for (uint32_t i = 0; i < load.nstages; i++) {
		assert(load.stages[i].tasks > 0 && load.stages[i].nsteps > 0);
		assert(load.stages[i].job < load.njobs && load.stages[i].mem_bytes >= 0);
		for (uint32_t k = 0; k < load.stages[i].nsteps; k++)
			assert(load.stages[i].steps[k].size_s > 0);
		tasks += load.stages[i].tasks;
	}
	assert(tasks == load.ntasks && tasks <= MONO_TASKS_MAX);
	mono_load_fini(&load);
	return 0;
}
