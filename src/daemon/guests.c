/*
 * Guests: jobs that have only what others on the same devices leave (doc/sharing.md).
 */
#include "daemon/daemon_state.h"

bool daemon_is_guest(const struct daemon *d, uint32_t id)
{
	const struct live_job *job = core_job(d->core, id);
	const struct grant *now = job ? core_engine_job(d->core, job)->grant : NULL;
	const struct attempt *a;

	if (now)
		return now->guest; /* a guest may have been raised since its attempt was made */
	a = job ? core_attempt(d->core, id, job->attempt) : NULL;
	return a && a->grant->guest;
}

static bool has_devices(const struct attempt *a)
{
	return a->phase != PHASE_OVER && a->phase != PHASE_WAITING;
}

static bool overlap(const struct grant *a, const struct grant *b)
{
	for (uint32_t i = 0; i < a->nslots; i++) {
		for (uint32_t k = 0; k < b->nslots; k++) {
			if (a->slots[i].node == b->slots[k].node &&
				(a->slots[i].devices & b->slots[k].devices))
				return true;
		}
	}
	return false;
}

void daemon_put_beside(const struct daemon *d, const struct attempt *a, struct json *j)
{
	size_t n;
	const struct attempt *const *attempts = core_attempts(d->core, &n);

	json_begin_array(j, "beside");
	for (size_t i = 0; i < n; i++) {
		if (attempts[i]->job != a->job && has_devices(attempts[i]) &&
			overlap(attempts[i]->grant, a->grant))
			json_int(j, NULL, attempts[i]->job);
	}
	json_end(j, ']');
}
