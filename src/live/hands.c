/*
 * What all worlds have in common: where attempts have their files, and what a
 * world does not do.
 */
#include "live/hands.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "live/local/proc.h"

void hands_init(struct hands *hands, const struct hands_table *table, const struct hands_config *config)
{
	hands->table = table;
	hands->config = *config;
	hands->config.state_dir = mem_strdup(config->state_dir);
}

void hands_close(struct hands *hands)
{
	if (!hands)
		return;
	hands->table->close(hands);
	free((char *)hands->config.state_dir);
	free(hands);
}

/* ---- files */

/* Jobs of others must be able to reach their files, not to list or make any. */
int hands_make_path(const char *path, struct err *err)
{
	mode_t mode = geteuid() == 0 ? 0711 : 0700;

	if (mkdir(path, mode) < 0)
		return errno == EEXIST
			? 0
			: err_set(err, ERR_IO, "cannot make %s: %s", path, strerror(errno));
	if (chmod(path, mode) < 0)
		return err_set(err, ERR_IO, "cannot make %s: %s", path, strerror(errno));
	return 0;
}

char *hands_dir(const struct hands *hands, uint32_t job, uint32_t attempt)
{
	return mem_printf("%s/jobs/%u/%u", hands->config.state_dir, job, attempt);
}

int hands_make_dir(struct hands *hands, uint32_t job, uint32_t attempt, struct err *err)
{
	char *of_job = mem_printf("%s/jobs/%u", hands->config.state_dir, job);
	char *dir = hands_dir(hands, job, attempt);
	int rc = hands_make_path(of_job, err);

	if (rc == 0)
		rc = hands_make_path(dir, err);
	free(of_job);
	free(dir);
	return rc;
}

char *hands_output(const struct hands *hands, uint32_t job, uint32_t attempt, bool err_out)
{
	if (hands->table->output)
		return hands->table->output(hands, job, attempt, err_out);
	return mem_printf("%s/jobs/%u/%u/%s", hands->config.state_dir, job, attempt,
		err_out ? "stderr" : "stdout");
}

/* ---- the table */

int hands_fd(const struct hands *hands)
{
	return hands->table->fd(hands);
}

int hands_poll(struct hands *hands, struct err *err)
{
	return hands->table->poll(hands, err);
}

int hands_discover(struct hands *hands, struct machine *out, struct err *err)
{
	return hands->table->discover(hands, out, err);
}

int hands_refresh(struct hands *hands, struct machine *machine)
{
	return hands->table->refresh(hands, machine);
}

int hands_busy(const struct hands *hands, const struct machine *machine, uint32_t device)
{
	return hands->table->busy ? hands->table->busy(hands, machine, device) : -1;
}

int hands_expect(struct hands *hands, const struct launch *launch, struct err *err)
{
	return hands->table->expect ? hands->table->expect(hands, launch, err) : 0;
}

void hands_expected_all(struct hands *hands)
{
	if (hands->table->expected_all)
		hands->table->expected_all(hands);
}

void hands_taken(struct hands *hands, const char *key, uint32_t job, const char *why)
{
	if (hands->table->taken)
		hands->table->taken(hands, key, job, why);
}

void hands_forget(struct hands *hands, uint32_t job)
{
	if (hands->table->forget)
		hands->table->forget(hands, job);
}

int hands_launch(struct hands *hands, const struct launch *launch, struct err *err)
{
	return hands->table->launch(hands, launch, err);
}

int hands_stop(struct hands *hands, uint32_t job, uint32_t attempt, bool now, struct err *err)
{
	return hands->table->stop(hands, job, attempt, now, err);
}

int hands_signal(struct hands *hands, uint32_t job, uint32_t attempt, int signal, struct err *err)
{
	return hands->table->signal(hands, job, attempt, signal, err);
}

int hands_limit(struct hands *hands, uint32_t job, uint32_t attempt, double cpus, int64_t mem_bytes,
	struct err *err)
{
	if (!hands->table->limit)
		return 0;
	return hands->table->limit(hands, job, attempt, cpus, mem_bytes, err);
}

bool hands_can_hold_output(const struct hands *hands)
{
	return hands->table->hold_output != NULL;
}

int hands_hold_output(struct hands *hands, uint32_t job, uint32_t attempt, bool hold, struct err *err)
{
	if (!hands->table->hold_output)
		return 0;
	return hands->table->hold_output(hands, job, attempt, hold, err);
}

int hands_claim(struct hands *hands, const struct holding *of, bool void_it, enum claim *out,
	struct ending *ending, struct err *err)
{
	return hands->table->claim(hands, of, void_it, out, ending, err);
}

int hands_clear(struct hands *hands, uint32_t job, uint32_t attempt, struct err *err)
{
	return hands->table->clear ? hands->table->clear(hands, job, attempt, err) : 0;
}

const struct foreign_attempt *hands_foreign(const struct hands *hands, size_t *n)
{
	*n = 0;
	return hands->table->foreign ? hands->table->foreign(hands, n) : NULL;
}

static int no_foreign(uint32_t job, uint32_t attempt, struct err *err)
{
	return err_set(err, ERR_MISSING, "no attempt %u of job %u of another record runs here",
		attempt, job);
}

int hands_end_foreign(struct hands *hands, uint32_t job, uint32_t attempt, bool now, struct err *err)
{
	if (!hands->table->end_foreign)
		return no_foreign(job, attempt, err);
	return hands->table->end_foreign(hands, job, attempt, now, err);
}

int hands_adopt_foreign(struct hands *hands, uint32_t job, uint32_t attempt, struct err *err)
{
	if (!hands->table->adopt_foreign)
		return no_foreign(job, attempt, err);
	return hands->table->adopt_foreign(hands, job, attempt, err);
}

bool hands_newest(const struct hands *hands, struct lineage_point *out, uint32_t *job, uint32_t *attempt)
{
	return hands->table->newest && hands->table->newest(hands, out, job, attempt);
}

uint32_t hands_last_dir(const struct hands *hands)
{
	char *path = mem_printf("%s/jobs", hands->config.state_dir), *end;
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned long last = 0;

	while (dir && (entry = readdir(dir))) {
		unsigned long id = strtoul(entry->d_name, &end, 10);

		/* Of a file of that name nothing was ever started. */
		if (!*end && entry->d_type != DT_REG && id > last && id < UINT32_MAX)
			last = id;
	}
	if (dir)
		closedir(dir);
	free(path);
	return (uint32_t)last;
}

char *hands_alias(const struct hands *hands, uint32_t job)
{
	return hands->table->alias ? hands->table->alias(hands, job) : NULL;
}

uint32_t hands_running(const struct hands *hands)
{
	return hands->table->running(hands);
}

const char *hands_kind(const struct hands *hands)
{
	return hands->table->kind(hands);
}

/* ---- what attempts use */

void hands_find_guards(const struct hands *hands, struct hands_use *of, size_t n)
{
	for (size_t i = 0; i < n; i++)
		of[i].guard = -1;
	if (hands->table->find_guards)
		hands->table->find_guards(hands, of, n);
}

void hands_measure(struct hands_use *of, size_t n)
{
	struct proc_cpu *roots = mem_alloc(mem_array_size(n + 1, sizeof(*roots)));

	for (size_t i = 0; i < n; i++)
		roots[i].root = of[i].guard;
	proc_cpu(roots, n);
	for (size_t i = 0; i < n; i++) {
		of[i].cpu_s = roots[i].cpu_s;
		of[i].known = roots[i].found;
	}
	free(roots);
}
