/*
 * Gandiva's servers: which jobs are at home where, and in which order they take
 * turns.
 *
 * A server has an affinity: the size of the gangs it runs, until it is empty.  A
 * new job goes to a server of its size with room, else to an idle one, else to
 * any with room, else it takes turns on one of its size; and if there is none, on
 * any once it has waited for a slice.  Jobs that no server
 * can hold, and fractions of devices, have no home: they take what is free.
 */
#ifndef POLICY_FAIR_GANDIVA_SERVERS_H
#define POLICY_FAIR_GANDIVA_SERVERS_H

#include "policy/fair/server_turns.h"

enum gandiva_action { ACTION_NONE, ACTION_PACK, ACTION_GROW, ACTION_MOVE };

/* Kept for each job. */
struct slice_memory {
	uint32_t home;   /* 1 + the node; 0: none */
	uint32_t from;   /* 1 + the node it was moved from; 0: nowhere */
	uint32_t beside; /* 1 + the job whose devices it shares, as a guest; 0: none */
	uint32_t guest;  /* 1 + the job that shares its devices; 0: none */
	uint32_t grown;  /* devices beyond what it asked for */
	uint64_t turn;   /* smaller runs first in the next slice */
	double queued_s; /* since when it has that place */
	double began_s;  /* since when it runs, if it does */
	double before;   /* steps per second before the last action */
	double alone;    /* as last measured alone; 0: never */
	double acted_s;  /* when that was */
	uint8_t action;  /* enum gandiva_action: not judged yet */
	uint8_t failed;  /* packings that did not pay */
	bool no_grow, no_move;
};

struct slice_server {
	uint32_t first, n; /* of servers.jobs: those at home there, by turn */
	uint32_t devices;  /* that are up and not in the hands of jobs without a home */
	uint32_t demand;   /* devices that its jobs ask for; a pair counts once */
	uint32_t affinity; /* 0: unset */
};

struct slice_servers {
	const struct round *round;
	const struct plan *plan;
	double patience_s;       /* who finds no server of its size so long shares one of another */
	uint64_t *turns;         /* counter */
	uint32_t *affinity;      /* by node: kept */
	struct slice_server *at; /* by node */
	uint32_t *jobs;
	bool stale;         /* homes, turns or pairs have changed since they were listed */
	uint32_t nhomeless; /* jobs that wait without a home and cannot have one */
};

struct slice_memory *slice_memory_of(const struct slice_servers *s, uint32_t job);
/* Whether one server could hold it. */
bool slice_can_host(const struct slice_servers *s, const struct job *job, uint32_t node);
uint32_t slice_gpus(const struct slice_servers *s, const struct job *job, uint32_t node);
/* Devices of a server that nobody at home there asks for. */
static inline uint32_t slice_room(const struct slice_server *server)
{
	return server->devices > server->demand ? server->devices - server->demand : 0;
}

/* Lists everybody; drops homes and partners that are gone. */
void slice_servers_gather(struct slice_servers *s);
/* Gives homes to those without, in order of arrival. */
void slice_servers_admit(struct slice_servers *s);
/* Rules 1 to 3: the server with room for a gang as if it came now; UINT32_MAX: none has. */
uint32_t slice_find_room(const struct slice_servers *s, const struct job *job);
/* Lists everybody anew if something has changed. */
void slice_servers_list(struct slice_servers *s);
/* It is the last in the queue of its server, from now on. */
void slice_to_the_end(struct slice_servers *s, const struct job *job);
/* Changes its home; lists are as before until then. */
void slice_move(struct slice_servers *s, const struct job *job, uint32_t node);

#endif
