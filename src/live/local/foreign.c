#include "live/local/foreign.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "live/local/guard.h"

#define HELD "used by attempt "

bool foreign_is_ours(const struct hands_config *config, const struct lineage_point *of)
{
	if (!of->id[0])
		return !config->lineage || config->adopt_unmarked;
	return config->lineage && lineage_has(config->lineage, of);
}

/* ---- looking */

static void read_devices(int dir, struct foreign_attempt *out)
{
	int fd = openat(dir, "grant", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	json_t *grant = fd < 0 ? NULL : json_loadfd(fd, 0, NULL);
	const json_t *devices = json_object_get(grant, "devices"), *device;
	size_t i, n = 0;

	json_array_foreach(devices, i, device)
	{
		const char *word = json_string_value(device);

		if (word && n + strlen(word) + 2 < sizeof(out->devices))
			n += (size_t)snprintf(out->devices + n, sizeof(out->devices) - n, "%s%s",
				n ? "," : "", word);
	}
	json_decref(grant);
	if (fd >= 0)
		close(fd);
}

static bool is_further(const struct lineage_point *a, const struct lineage_point *b)
{
	return a->generation != b->generation ? a->generation > b->generation : a->seq > b->seq;
}

/* Of our own id the furthest is remembered: the record must have come as far. */
static void note_newest(struct foreign *foreign, const struct hands_config *config,
	const struct claim_note *note, uint32_t job, uint32_t attempt)
{
	if (!config->lineage || strcmp(note->of.id, config->lineage->id) != 0)
		return;
	if (foreign->newest_job && !is_further(&note->of, &foreign->newest))
		return;
	foreign->newest = note->of;
	foreign->newest_job = job;
	foreign->newest_attempt = attempt;
}

void foreign_add(struct foreign *foreign, const struct hands_config *config, uint32_t job,
	uint32_t attempt)
{
	char *path = mem_printf("%s/jobs/%u/%u", config->state_dir, job, attempt);
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), guard;
	struct foreign_attempt one = { .job = job, .attempt = attempt };
	struct claim_note note = { 0 };
	struct err ignored;

	free(path);
	if (dir >= 0 && foreign_find(foreign, job, attempt, NULL) < 0 &&
		claim_read(dir, &note, &ignored) == 0) {
		note_newest(foreign, config, &note, job, attempt);
		one.elsewhere = note.elsewhere;
		guard = note.is_void || (foreign_is_ours(config, &note.of) && !note.elsewhere)
			? -1
			: proc_open(&note.guard);
		if (guard >= 0) {
			one.of = note.of;
			one.guard = note.guard.pid;
			one.uid = note.uid;
			one.begun_s = note.begun_s;
			read_devices(dir, &one);
			vec_push(&foreign->at, one);
			vec_push(&foreign->guards, guard);
		}
		claim_fini(&note);
	}
	if (dir >= 0)
		close(dir);
}

/* The next entry that is a number; 0: there is none. */
static uint32_t next_number(DIR *dir)
{
	struct dirent *entry;
	char *end;

	while (dir && (entry = readdir(dir))) {
		unsigned long n = strtoul(entry->d_name, &end, 10);

		if (!*end && n > 0 && n < UINT32_MAX)
			return (uint32_t)n;
	}
	return 0;
}

static void look_at_job(struct foreign *foreign, const struct hands_config *config, uint32_t job)
{
	char *path = mem_printf("%s/jobs/%u", config->state_dir, job);
	DIR *dir = opendir(path);
	uint32_t attempt;

	while ((attempt = next_number(dir)))
		foreign_add(foreign, config, job, attempt);
	if (dir)
		closedir(dir);
	free(path);
}

static void look_everywhere(struct foreign *foreign, const struct hands_config *config)
{
	char *path = mem_printf("%s/jobs", config->state_dir);
	DIR *dir = opendir(path);
	uint32_t job;

	while ((job = next_number(dir)))
		look_at_job(foreign, config, job);
	if (dir)
		closedir(dir);
	free(path);
}

void foreign_look(struct foreign *foreign, const struct hands_config *config)
{
	const char *left = config->foreign;
	unsigned int job, attempt;
	uint32_t last;
	int n;

	if (!left) {
		look_everywhere(foreign, config);
		return;
	}
	for (; sscanf(left, " %u/%u%n", &job, &attempt, &n) == 2; left += n)
		foreign_add(foreign, config, job, attempt);
	last = hands_last_dir(&(struct hands){ .config = *config });
	if (last)
		look_at_job(foreign, config, last);
}

void foreign_fini(struct foreign *foreign)
{
	for (size_t i = 0; i < foreign->guards.n; i++)
		close(foreign->guards.at[i]);
	vec_fini(&foreign->guards);
	vec_fini(&foreign->at);
}

/* ---- holding */

static void drop_at(struct foreign *foreign, size_t i)
{
	close(foreign->guards.at[i]);
	for (size_t k = i + 1; k < foreign->at.n; k++) {
		foreign->at.at[k - 1] = foreign->at.at[k];
		foreign->guards.at[k - 1] = foreign->guards.at[k];
	}
	foreign->at.n--;
	foreign->guards.n--;
}

bool foreign_forget(struct foreign *foreign)
{
	size_t before = foreign->at.n;

	for (size_t i = foreign->at.n; i-- > 0;) {
		struct pollfd on = { foreign->guards.at[i], POLLIN, 0 };

		if (poll(&on, 1, 0) == 1)
			drop_at(foreign, i);
	}
	return foreign->at.n < before;
}

static bool is_held(const struct machine_device *device)
{
	return !strncmp(device->why, HELD, strlen(HELD));
}

static bool is_named(const struct machine_device *device, struct slice word)
{
	const char *const names[] = { device->visible, device->uuid };

	for (size_t i = 0; i < 2; i++) {
		if (names[i][0] && strlen(names[i]) == word.n && !memcmp(names[i], word.at, word.n))
			return true;
	}
	return false;
}

static bool has_device(const struct foreign_attempt *one, const struct machine_device *device)
{
	struct slice left = slice_of(one->devices);

	while (left.n) {
		if (is_named(device, slice_cut(&left, ',')))
			return true;
	}
	return false;
}

/* Who holds it; NULL: none of them. */
static const struct foreign_attempt *holder(const struct foreign *foreign,
	const struct machine_device *device)
{
	for (size_t i = 0; i < foreign->at.n; i++) {
		if (has_device(&foreign->at.at[i], device))
			return &foreign->at.at[i];
	}
	return NULL;
}

int foreign_hold(struct foreign *foreign, struct machine *machine)
{
	int changed = 0;

	foreign_forget(foreign);
	for (uint32_t i = 0; i < machine->ndevices; i++) {
		struct machine_device *device = &machine->devices[i];
		const struct foreign_attempt *one = holder(foreign, device);

		if (one && device->up) {
			device->up = false;
			snprintf(device->why, sizeof(device->why), HELD "%u of job %u of another %s",
				one->attempt, one->job, one->elsewhere ? "state directory" : "record");
			changed = MACHINE_UP;
		} else if (!one && is_held(device)) {
			device->up = true;
			device->why[0] = '\0';
			changed = MACHINE_UP;
		}
	}
	return changed;
}

/* ---- by a person's word */

int foreign_find(const struct foreign *foreign, uint32_t job, uint32_t attempt, struct err *err)
{
	for (size_t i = 0; i < foreign->at.n; i++) {
		if (foreign->at.at[i].job == job && foreign->at.at[i].attempt == attempt)
			return (int)i;
	}
	return err_set(err, ERR_MISSING, "no attempt %u of job %u of another record runs here",
		attempt, job);
}

void foreign_drop(struct foreign *foreign, uint32_t job, uint32_t attempt)
{
	int at = foreign_find(foreign, job, attempt, NULL);

	if (at >= 0)
		drop_at(foreign, (size_t)at);
}

int foreign_end(struct foreign *foreign, uint32_t job, uint32_t attempt, bool now, struct err *err)
{
	int at = foreign_find(foreign, job, attempt, err);

	if (at < 0)
		return at;
	if (syscall(SYS_pidfd_send_signal, foreign->guards.at[at], now ? GUARD_KILL : GUARD_STOP,
		    NULL, 0) < 0 &&
		errno != ESRCH)
		return err_set(err, ERR_IO, "cannot reach the guard of attempt %u of job %u: %s",
			attempt, job, strerror(errno));
	syscall(SYS_pidfd_send_signal, foreign->guards.at[at], SIGCONT, NULL, 0);
	return 0;
}

/* ---- out of the way */

int foreign_set_aside(const char *dir, const struct lineage_point *of, struct err *err)
{
	for (int i = 0; i < 1000; i++) {
		char *aside = mem_printf("%s.%.*s.%u", dir, LINEAGE_SHOWN,
			of->id[0] ? of->id : "unmarked", of->generation + (uint32_t)i);
		int rc = renameat2(AT_FDCWD, dir, AT_FDCWD, aside, RENAME_NOREPLACE), why = errno;

		free(aside);
		if (rc == 0 || why == ENOENT)
			return 0;
		if (why != EEXIST)
			return err_set(err, ERR_IO, "cannot move %s aside: %s", dir, strerror(why));
	}
	return err_set(err, ERR_IO, "cannot move %s aside: too many were before", dir);
}
