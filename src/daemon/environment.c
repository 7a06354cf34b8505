/*
 * The environment of a job: what its user sent along, and what Stint tells it
 * of itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon_state.h"

/* The last one of a name counts, so that what we say cannot be undone by the submitter. */
static void set(struct environment *env, const char *name, const char *value)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->at.n; i++) {
		if (!strncmp(env->at.at[i], name, n) && env->at.at[i][n] == '=') {
			env->at.at[i] = arena_printf(&env->words, "%s=%s", name, value);
			return;
		}
	}
	vec_push(&env->at, arena_printf(&env->words, "%s=%s", name, value));
}

static void set_number(struct environment *env, const char *name, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	set(env, name, text);
}

static bool has(const struct environment *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->at.n; i++) {
		if (!strncmp(env->at.at[i], name, n) && env->at.at[i][n] == '=')
			return true;
	}
	return false;
}

static void set_devices(struct daemon *d, struct environment *env, const struct grant *grant)
{
	struct buf text = { 0 };

	buf_str(&text, "");
	daemon_devices(d, grant, device_uuid, &text);
	set(env, "STINT_DEVICES", text.at);
	buf_clear(&text);
	buf_str(&text, "");
	daemon_devices(d, grant, device_visible, &text);
	set(env, "CUDA_VISIBLE_DEVICES", text.at);
	set(env, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
	if (grant->guest) {
		set(env, "STINT_GUEST", "1");
		set_number(env, "STINT_SHARE", grant->share);
	}
	buf_fini(&text);
}

/* For torchrun and its like: one machine, one process unless the job starts more. */
static void set_ranks(struct environment *env, const struct live_job *job)
{
	set(env, "RANK", "0");
	set(env, "LOCAL_RANK", "0");
	set(env, "WORLD_SIZE", "1");
	set(env, "LOCAL_WORLD_SIZE", "1");
	set(env, "MASTER_ADDR", "127.0.0.1");
	set_number(env, "MASTER_PORT", 20000 + job->id % 20000);
}

static void set_array(struct environment *env, const struct live_job *job)
{
	if (!job->array_id)
		return;
	set_number(env, "STINT_ARRAY_ID", job->array_id);
	set_number(env, "STINT_ARRAY_INDEX", job->array_index);
	set_number(env, "SLURM_ARRAY_JOB_ID", job->array_id);
	set_number(env, "SLURM_ARRAY_TASK_ID", job->array_index);
}

static void set_attempt(struct daemon *d, struct environment *env, const struct live_job *job,
	const struct attempt *a, const char *dir)
{
	const struct cluster *cluster = &d->epoch.cluster;
	char *grant = mem_printf("%s/grant", dir);

	set_number(env, "STINT_ATTEMPT", a->number);
	set_number(env, "STINT_RESTARTS", a->number - 1);
	set_number(env, "STINT_GPUS", a->grant->gpus);
	set(env, "STINT_TYPE", cluster->types[a->grant->type].name);
	set(env, "STINT_NODE", cluster->nodes[a->grant->slots[0].node].name);
	if (a->grant->cpus > 0 || job->base.cpus > 0)
		set_number(env, "STINT_CPUS", a->grant->cpus > 0 ? a->grant->cpus : job->base.cpus);
	if (a->grant->mem_bytes > 0 || job->base.mem_bytes > 0)
		set_number(env, "STINT_MEM_BYTES",
			(double)(a->grant->mem_bytes > 0 ? a->grant->mem_bytes : job->base.mem_bytes));
	set(env, "STINT_DIR", dir);
	set(env, "STINT_GRANT", grant);
	free(grant);
}

static void set_job(struct daemon *d, struct environment *env, const struct live_job *job)
{
	set(env, "STINT", "1");
	set_number(env, "STINT_JOB_ID", job->id);
	set(env, "STINT_NAME", job->name);
	set(env, "STINT_TENANT", job->tenant ? job->tenant : "");
	set_number(env, "STINT_MIN_GPUS", job->base.min_gpus);
	set_number(env, "STINT_MAX_GPUS", job->base.max_gpus);
	set(env, "STINT_SIGNAL", signal_name(job->stop_signal));
	set_number(env, "STINT_GRACE_S", job->grace_s);
	set_number(env, "STINT_SHARE", job->base.share > 0 ? job->base.share : 1);
	if (d->config.socket)
		set(env, "STINT_SOCKET", d->config.socket);
}

/* One job may submit another: what it was told of itself is not the other's. */
static bool is_of_a_job(const char *variable)
{
	return !strncmp(variable, "STINT_", 6) || !strncmp(variable, "STINT=", 6) ||
		!strncmp(variable, "SLURM_ARRAY_", 12) || !strncmp(variable, "SLURM_JOB_ID=", 13);
}

/* What only a launch on this machine can say. */
static void set_here(struct daemon *d, struct environment *env, const struct live_job *job,
	const struct attempt *a, const char *dir)
{
	set_attempt(d, env, job, a, dir);
	set_number(env, "SLURM_JOB_ID", job->id);
	set_array(env, job);
	set_devices(d, env, a->grant);
	set_ranks(env, job);
	if (device_type_is_cpu(&d->epoch.cluster.types[a->grant->type]) && !has(env, "OMP_NUM_THREADS"))
		set_number(env, "OMP_NUM_THREADS", a->grant->gpus);
}

void daemon_environment(struct daemon *d, struct environment *env, const struct live_job *job,
	const struct attempt *a, const struct submission *what, const char *dir)
{
	for (size_t i = 0; what->env && what->env[i]; i++) {
		if (!is_of_a_job(what->env[i]))
			vec_push(&env->at, what->env[i]);
	}
	set_job(d, env, job);
	/* A world with launchers of its own says the rest itself, when the job starts. */
	if (!d->hands->table->sets_devices)
		set_here(d, env, job, a, dir);
	vec_push(&env->at, NULL);
}
