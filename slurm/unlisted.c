/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libslurm has and its header does not say.  Looked for while running, so that a release without
 * it still does the rest.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

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

/* The configuration of this process, until `release` is called; NULL where it is not to be had. */
static slurm_conf_t *lock_conf(void (**release)(void))
{
	slurm_conf_t *(*lock)(void);

	*(void **)&lock = dlsym(RTLD_DEFAULT, "slurm_conf_lock");
	*(void **)release = dlsym(RTLD_DEFAULT, "slurm_conf_unlock");
	return lock && *release ? lock() : NULL;
}

void unlisted_set_timeout(int seconds)
{
	void (*release)(void);
	slurm_conf_t *conf = lock_conf(&release);

	if (!conf) {
		fprintf(stderr,
			"stint-slurm: this libslurm keeps its own time-out: --timeout is not used\n");
		return;
	}
	conf->msg_timeout = (uint16_t)seconds;
	release();
}

void unlisted_munge_socket(char *path, size_t size)
{
	void (*release)(void);
	slurm_conf_t *conf = lock_conf(&release);
	const char *at = conf && conf->authinfo ? strstr(conf->authinfo, "socket=") : NULL;

	if (at)
		snprintf(path, size, "%.*s", (int)strcspn(at + 7, ","), at + 7);
	else
		snprintf(path, size, "/run/munge/munge.socket.2");
	if (conf)
		release();
}

void unlisted_free_jobs(job_info_msg_t *jobs)
{
	static void (*release)(void **);

	if (!release)
		*(void **)&release = dlsym(RTLD_DEFAULT, "slurm_xfree");
	for (uint32_t i = 0; release && i < jobs->record_count; i++)
		release((void **)&jobs->job_array[i].admin_comment);
	slurm_free_job_info_msg(jobs);
}
