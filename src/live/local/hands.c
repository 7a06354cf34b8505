/*
 * The daemon's side of this machine: the table of its operations, the directories of attempts, other
 * records' attempts, opening and closing.
 */
#include "live/local/hands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "live/local/local_internal.h"

#define CLAIM_TIMEOUT_S 30.0

struct local *local_of(const struct hands *hands)
{
	return (struct local *)hands;
}

static uint32_t local_running(const struct hands *self)
{
	return (uint32_t)local_of(self)->watched.n;
}

static const char *local_kind(const struct hands *self)
{
	return cgroup_kind_name(local_of(self)->group.kind);
}

static int local_fd(const struct hands *self)
{
	return local_of(self)->epoll;
}

/* ---- directories */

/* The directory of the attempt, open; made if it is not there. */
int local_open_dir(struct local *hands, uint32_t job, uint32_t attempt, struct err *err)
{
	char *dir = hands_dir(&hands->base, job, attempt);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && hands_make_dir(&hands->base, job, attempt, err) == 0) {
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			err_set(err, ERR_IO, "cannot open %s: %s", dir, strerror(errno));
	}
	free(dir);
	return fd < 0 ? ERR_IO : fd;
}

/* ---- whose */

/* This record, as it is now. */
struct lineage_point local_point_at(const struct local *hands, uint64_t seq)
{
	const struct lineage *lineage = hands->base.config.lineage;
	struct lineage_point of = { .seq = seq };

	if (lineage) {
		memcpy(of.id, lineage->id, sizeof(of.id));
		of.generation = lineage->generation;
	}
	return of;
}

/* ---- looking */

static void local_find_guards(const struct hands *self, struct hands_use *of, size_t n)
{
	struct local *hands = local_of(self);
	for (size_t i = 0; i < n; i++) {
		const struct watched *w = local_find(hands, of[i].job, of[i].attempt);

		of[i].guard = w && w->guard >= 0 ? w->pid : -1;
	}
}

/* ---- what there is */

static int local_discover(struct hands *self, struct machine *out, struct err *err)
{
	int rc = machine_discover(&local_of(self)->machine, out, err);

	if (rc == 0)
		foreign_hold(&local_of(self)->foreign, out);
	return rc;
}

static int local_refresh(struct hands *self, struct machine *machine)
{
	int changed = machine->has_gpus ? machine_refresh(machine) : 0;

	return changed | foreign_hold(&local_of(self)->foreign, machine);
}

static int local_busy(const struct hands *self, const struct machine *machine, uint32_t device)
{
	(void)self;
	return machine_busy(machine, device);
}

/* ---- other records' */

static const struct foreign_attempt *local_foreign(const struct hands *self, size_t *n)
{
	const struct foreign *foreign = &local_of(self)->foreign;

	*n = foreign->at.n;
	return foreign->at.at;
}

static bool local_newest(const struct hands *self, struct lineage_point *out, uint32_t *job,
	uint32_t *attempt)
{
	const struct foreign *foreign = &local_of(self)->foreign;

	*out = foreign->newest;
	*job = foreign->newest_job;
	*attempt = foreign->newest_attempt;
	return foreign->newest_job > 0;
}

static int local_end_foreign(struct hands *self, uint32_t job, uint32_t attempt, bool now,
	struct err *err)
{
	return foreign_end(&local_of(self)->foreign, job, attempt, now, err);
}

static int local_adopt_foreign(struct hands *self, uint32_t job, uint32_t attempt, struct err *err)
{
	struct local *hands = local_of(self);
	struct lineage_point of = local_point_at(hands, hands->base.config.seq);
	int dir, rc = foreign_find(&hands->foreign, job, attempt, err);

	if (rc < 0)
		return rc;
	if (hands->foreign.at.at[rc].elsewhere)
		return err_set(err, ERR_REFUSED,
			"attempt %u of job %u runs in another state directory, of which this is a copy, and how it "
			"ends is written there: let it end, or end it with 'stint foreign end %u/%u'",
			attempt, job, job, attempt);
	dir = local_open_dir(hands, job, attempt, err);
	if (dir < 0)
		return dir;
	rc = claim_stamp(dir, &of, hands->foreign.at.at[rc].uid, err);
	close(dir);
	if (rc == 0)
		foreign_drop(&hands->foreign, job, attempt);
	return rc;
}

/* ---- the whole */

static int prepare(struct local *hands, struct err *err)
{
	char *jobs = mem_printf("%s/jobs", hands->base.config.state_dir);
	int rc = hands_make_path(jobs, err);

	free(jobs);
	if (rc < 0)
		return rc;
	hands->epoll = epoll_create1(EPOLL_CLOEXEC);
	hands->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	hands->deadline = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (hands->epoll < 0 || hands->timer < 0 || hands->deadline < 0 ||
		local_listen(hands, hands->timer, 0, FROM_TIMER) < 0 ||
		local_listen(hands, hands->deadline, 0, FROM_DEADLINE) < 0)
		return err_set(err, ERR_IO, "cannot watch processes: %s", strerror(errno));
	if (access(hands->guard, X_OK) < 0)
		return err_set(err, ERR_MISSING, "cannot execute %s: %s", hands->guard,
			strerror(errno));
	return 0;
}

static void local_close(struct hands *self)
{
	struct local *hands = local_of(self);

	while (hands->watched.n)
		local_unwatch(hands, &hands->watched.at[hands->watched.n - 1]);
	vec_fini(&hands->watched);
	foreign_fini(&hands->foreign);
	local_hang_up(&hands->timer);
	local_hang_up(&hands->deadline);
	local_hang_up(&hands->epoll);
	cgroup_tidy(&hands->group);
	cgroup_fini(&hands->group);
	free(hands->guard);
}

static const struct hands_table local_table = {
	.name = "local",
	.close = local_close,
	.fd = local_fd,
	.poll = local_poll,
	.discover = local_discover,
	.refresh = local_refresh,
	.busy = local_busy,
	.launch = local_launch,
	.stop = local_stop,
	.signal = local_signal,
	.limit = local_limit,
	.hold_output = local_hold_output,
	.claim = local_claim,
	.clear = local_clear,
	.foreign = local_foreign,
	.newest = local_newest,
	.end_foreign = local_end_foreign,
	.adopt_foreign = local_adopt_foreign,
	.find_guards = local_find_guards,
	.running = local_running,
	.kind = local_kind,
	.in_place = true,
	.has_terminals = true,
};

int local_hands_open(const struct hands_config *config, const struct local_options *options,
	struct hands **out, struct err *err)
{
	struct local *hands = mem_alloc(sizeof(*hands));
	int rc;

	hands_init(&hands->base, &local_table, config);
	hands->machine = options->machine;
	hands->guard = mem_strdup(options->guard);
	hands->claim_timeout_s = options->claim_timeout_s > 0 ? options->claim_timeout_s
							      : CLAIM_TIMEOUT_S;
	hands->epoll = hands->timer = hands->deadline = -1;
	rc = prepare(hands, err);
	if (rc < 0) {
		hands_close(&hands->base);
		return rc;
	}
	if (options->cgroups)
		cgroup_find(&hands->group, CGROUP_NONE);
	foreign_look(&hands->foreign, &hands->base.config);
	local_watch_foreign(hands, 0);
	*out = &hands->base;
	return 0;
}
