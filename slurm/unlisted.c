/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libslurm has and its header does not say.  Looked for while running, so that a release without
 * it still does the rest.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "bridge.h"

const char *unlisted_reason(uint32_t reason)
{
	static const char *(*name)(uint32_t);
	static bool looked;
	static char number[16];

	if (!looked)
		*(void **)&name = dlsym(RTLD_DEFAULT, "slurm_job_reason_string");
	looked = true;
	if (name)
		return name(reason);
	snprintf(number, sizeof(number), "%u", reason);
	return number;
}

void unlisted_set_timeout(int seconds)
{
	slurm_conf_t *(*lock)(void);
	void (*unlock)(void);

	*(void **)&lock = dlsym(RTLD_DEFAULT, "slurm_conf_lock");
	*(void **)&unlock = dlsym(RTLD_DEFAULT, "slurm_conf_unlock");
	if (!lock || !unlock) {
		fprintf(stderr,
			"stint-slurm: this libslurm keeps its own time-out: --timeout is not used\n");
		return;
	}
	lock()->msg_timeout = (uint16_t)seconds;
	unlock();
}
