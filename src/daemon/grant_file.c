/*
 * The file that tells a job of its size and devices, now and when they change.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/daemon_state.h"

static void grant_text(struct daemon *d, const struct live_job *job, const struct grant *grant,
	struct buf *out)
{
	struct buf devices = { 0 };
	struct slice left;
	struct json j;

	daemon_devices(d, grant, device_word, &devices);
	left = (struct slice){ devices.at, devices.n };
	json_init(&j, out, false);
	json_begin_object(&j, NULL);
	json_int(&j, "gpus", grant->gpus);
	json_int(&j, "serial",
		core_engine_job(d->core, job)->resizes + core_engine_job(d->core, job)->migrations + 1);
	json_begin_array(&j, "devices");
	while (left.n) {
		struct slice one = slice_cut(&left, ',');
		char text[128];

		snprintf(text, sizeof(text), "%.*s", (int)one.n, one.at);
		json_str(&j, NULL, text);
	}
	json_end(&j, ']');
	if (grant->cpus > 0)
		json_double(&j, "cpus", grant->cpus);
	if (grant->mem_bytes > 0)
		json_int(&j, "mem_bytes", grant->mem_bytes);
	json_end(&j, '}');
	buf_char(out, '\n');
	buf_fini(&devices);
}

int daemon_write_grant(struct daemon *d, const struct live_job *job, uint32_t attempt,
	const struct grant *grant, struct err *err)
{
	char *dir = hands_dir(d->hands, job->id, attempt);
	char *path = mem_printf("%s/grant", dir), *fresh = mem_printf("%s/grant.new", dir);
	struct buf text = { 0 };
	FILE *file;
	int rc = 0;

	grant_text(d, job, grant, &text);
	file = fopen(fresh, "we");
	if (!file || fwrite(text.at, 1, text.n, file) != text.n)
		rc = err_set(err, ERR_IO, "%s: %s", fresh, strerror(errno));
	if (file)
		fchmod(fileno(file), 0644); /* the job's user reads it */
	if (file && fclose(file) && rc == 0)
		rc = err_set(err, ERR_IO, "%s: %s", fresh, strerror(errno));
	if (rc == 0 && rename(fresh, path) < 0)
		rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	buf_fini(&text);
	free(dir);
	free(path);
	free(fresh);
	return rc;
}
