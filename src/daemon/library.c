/*
 * One thread, one queue; started when it is first needed.
 */
#include "daemon/library.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct library {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	pthread_t thread;
	struct call *first, **last;
	bool stop;
	char *path;
	struct record *record; /* of the thread; NULL until it was needed */
};

/* ---- the desk */

static void put_tenants(const struct daemon *d, struct desk *desk)
{
	const struct tenants *stated = core_tenants(d->core);

	desk->ntenants = stated->n;
	desk->tenants = arena_array(&desk->words, struct desk_tenant, stated->n + 1);
	for (uint32_t i = 0; i < stated->n; i++)
		desk->tenants[i] = (struct desk_tenant){
			.name = arena_strdup(&desk->words, stated->at[i].name ? stated->at[i].name : ""),
			.weight = stated->at[i].weight,
			.parent = stated->at[i].parent,
		};
}

static void put_devices(const struct daemon *d, struct desk *desk)
{
	const struct cluster *cluster = &d->epoch.cluster;
	uint32_t *at = arena_array(&desk->words, uint32_t, cluster->nnodes * NODE_DEVICES_MAX + 1);

	desk->device_at = at;
	desk->nnodes = cluster->nnodes;
	desk->nodes = arena_array(&desk->words, const char *, cluster->nnodes + 1);
	desk->devices = arena_array(&desk->words, struct desk_device, cluster->devices + 1);
	for (uint32_t node = 0; node < cluster->nnodes; node++) {
		desk->nodes[node] = arena_strdup(&desk->words, cluster->nodes[node].name);
		for (uint32_t bit = 0; bit < NODE_DEVICES_MAX; bit++) {
			uint32_t place = node * NODE_DEVICES_MAX + bit;
			const struct machine_device *m;

			at[place] = UINT32_MAX;
			if (bit >= cluster->nodes[node].devices)
				continue;
			m = &d->machine.devices[d->device_of[place]];
			at[place] = desk->ndevices;
			desk->devices[desk->ndevices++] = (struct desk_device){
				.node = node,
				.index = m->index,
				.type = arena_strdup(&desk->words, m->type),
				.title = arena_strdup(&desk->words, m->title),
				.up = m->up,
			};
		}
	}
}

struct desk *desk_create(struct daemon *d)
{
	struct desk *desk = mem_alloc(sizeof(*desk));

	wallclock_copy(&d->clock.wall, &desk->wall);
	desk->now_s = daemon_now_s(d);
	desk->runs = arena_strdup(&desk->words, d->config.runs);
	desk->policy = arena_strdup(&desk->words, core_rules(d->core)->policy);
	desk->refused = d->refused;
	core_jobs(d->core, &desk->live);
	put_devices(d, desk);
	put_tenants(d, desk);
	return desk;
}

void desk_destroy(struct desk *desk)
{
	arena_fini(&desk->words);
	wallclock_fini(&desk->wall);
	free(desk);
}

void desk_put_devices(const struct desk *desk, uint32_t node, uint64_t devices, const char *key,
	struct json *j)
{
	json_begin_array(j, key);
	for (uint32_t bit = 0; bit < NODE_DEVICES_MAX; bit++) {
		uint32_t at = desk->device_at[node * NODE_DEVICES_MAX + bit];

		if (devices >> bit & 1 && at != UINT32_MAX)
			json_int(j, NULL, desk->devices[at].index);
	}
	json_end(j, ']');
}

void library_ask(struct daemon *d, struct call *call, library_reader *reader)
{
	call->desk = desk_create(d);
	call->reader = reader;
}

/* ---- the thread */

static void finish(struct call *call)
{
	call->answer(call->ctx, call->status, &call->body);
	desk_destroy(call->desk);
	call_destroy(call);
}

static void serve(struct library *l, struct call *call)
{
	struct err err = { 0 };

	if (!l->record && record_open(l->path, true, &l->record, &err) < 0)
		call_fail(call, err.code, err.text);
	else
		call->reader(l->record, call->desk, call);
	finish(call);
}

static void *run(void *ctx)
{
	struct library *l = ctx;

	pthread_mutex_lock(&l->mutex);
	while (!l->stop) {
		struct call *call = l->first;

		if (!call) {
			pthread_cond_wait(&l->changed, &l->mutex);
			continue;
		}
		l->first = call->next;
		if (!l->first)
			l->last = &l->first;
		pthread_mutex_unlock(&l->mutex);
		serve(l, call);
		pthread_mutex_lock(&l->mutex);
	}
	pthread_mutex_unlock(&l->mutex);
	return NULL;
}

static struct library *library_open(const char *state_dir)
{
	struct library *l = mem_alloc(sizeof(*l));

	l->path = mem_printf("%s/stint.db", state_dir);
	l->last = &l->first;
	pthread_mutex_init(&l->mutex, NULL);
	pthread_cond_init(&l->changed, NULL);
	if (pthread_create(&l->thread, NULL, run, l) == 0)
		return l;
	pthread_mutex_destroy(&l->mutex);
	pthread_cond_destroy(&l->changed);
	free(l->path);
	free(l);
	return NULL;
}

void library_give(struct daemon *d, struct call *call)
{
	struct library *l;

	if (!d->library)
		d->library = library_open(d->config.state_dir);
	l = d->library;
	if (!l) {
		call_problem(call, 503, 6, "cannot start a thread; try again later");
		finish(call);
		return;
	}
	call->next = NULL;
	pthread_mutex_lock(&l->mutex);
	*l->last = call;
	l->last = &call->next;
	pthread_cond_signal(&l->changed);
	pthread_mutex_unlock(&l->mutex);
}

void library_close(struct library *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->mutex);
	l->stop = true;
	pthread_cond_signal(&l->changed);
	pthread_mutex_unlock(&l->mutex);
	pthread_join(l->thread, NULL);
	while (l->first) {
		struct call *call = l->first;

		l->first = call->next;
		call_problem(call, 503, 6, "the daemon is stopping");
		finish(call);
	}
	record_close(l->record);
	pthread_mutex_destroy(&l->mutex);
	pthread_cond_destroy(&l->changed);
	free(l->path);
	free(l);
}
