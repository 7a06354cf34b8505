/*
 * What is wrong while the daemon still decides and accepts: launches that do not work, and a disk that has less
 * room than the reserve; and what is kept beside the record for a full disk.
 */
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/log.h"
#include "daemon/daemon_state.h"
#include "daemon/output_caps.h"

static void launches_fail(const struct daemon *d, char *out, size_t cap)
{
	size_t n = d->failed_launches.n;

	if (n)
		snprintf(out, cap, "%zu job%s cannot be launched: %s", n, n == 1 ? "" : "s",
			d->failed_launches.at[0].why);
}

static bool disk_is_low(const struct daemon *d, char *out, size_t cap)
{
	const struct output_caps *caps = d->config.output;
	struct statvfs disk;
	double left, reserve;
	char left_text[32], reserve_text[32];

	if (!caps || d->config.slurm || statvfs(d->config.state_dir, &disk) < 0)
		return false;
	left = (double)disk.f_bavail * (double)disk.f_frsize;
	reserve = (double)output_reserve_of(caps, (double)disk.f_blocks * (double)disk.f_frsize);
	if (left >= reserve)
		return false;
	snprintf(out, cap, "the disk of %s has %s free and keeps %s in reserve: output of jobs is cut",
		d->config.state_dir, text_size(left, left_text), text_size(reserve, reserve_text));
	return true;
}

bool daemon_disk_is_low(const struct daemon *d)
{
	char ignored[sizeof(d->degraded)];

	return disk_is_low(d, ignored, sizeof(ignored));
}

bool daemon_use_reserve(struct daemon *d)
{
	while (d->trouble[0] && record_make_room(d->record)) {
		d->retry_s = 0;
		daemon_flush(d);
	}
	return !d->trouble[0];
}

void daemon_look_degraded(struct daemon *d)
{
	char text[sizeof(d->degraded)] = "";
	bool low = disk_is_low(d, text, sizeof(text));

	if (low && !d->disk_low)
		log_warning(d->log, "%s; make room", text);
	else if (d->disk_low && !low)
		log_notice(d->log, "the disk has room again");
	d->disk_low = low;
	record_keep_reserve(d->record);
	launches_fail(d, text, sizeof(text));
	pthread_mutex_lock(&d->mutex);
	memcpy(d->degraded, text, sizeof(text));
	pthread_mutex_unlock(&d->mutex);
	metrics_set(d->metrics, METRICS_FAILED_LAUNCHES, (double)d->failed_launches.n);
}
