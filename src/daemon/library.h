/*
 * Answers that take long to look up: a thread of the daemon's with its own,
 * read-only connection to the record, so that no decision waits for a question.
 *
 * A verb looks at what is the daemon's own, puts it on a desk and names a reader;
 * the call is then answered by the library's thread, which sees nothing of the
 * daemon but the desk.
 */
#ifndef DAEMON_LIBRARY_H
#define DAEMON_LIBRARY_H

#include "daemon/daemon_state.h"

/* A tenant's weight, and a device, as they are now. */
struct desk_tenant {
	const char *name;
	double weight;
	uint32_t parent;        /* index; TENANT_NONE: at the top */
	const char *guaranteed; /* as it was said; empty: not at all */
	double devices;         /* guaranteed in all, with what follows from those below */
	double borrow, lend;    /* INFINITY: no limit */
	double held, borrowed;  /* now, with all below */
	const char *cells;      /* promised: "2 node, 4 pair"; empty: none */
};

/* What a tenant has and has used; for who asks for quotas. */
struct desk_use {
	const char *name;
	uint32_t running, pending, gpus;
	uint32_t lent; /* of these, on loan (daemon/loans.h) */
	double used_gpu_s;
};

struct desk_device {
	uint32_t node;
	int32_t index; /* as people count it */
	const char *type, *title;
	bool up;
};

/* What a reader works with; text is in `words`. */
struct desk {
	struct arena words;
	struct wallclock wall;
	double now_s;     /* the daemon's time */
	const char *runs; /* directory */
	uint32_t nnodes, ndevices;
	const char **nodes;          /* names */
	struct desk_device *devices; /* by node, then bit */
	const uint32_t *device_at; /* [node * NODE_DEVICES_MAX + bit]: index in devices; UINT32_MAX: none */
	struct desk_tenant *tenants;
	uint32_t ntenants;
	struct desk_use *uses; /* nuses of them; verb_quota() puts them there */
	size_t nuses;
	const char *policy;
	bool quotas;        /* are kept */
	bool by_policy;     /* the policy keeps some of its own */
	bool cells;         /* of tenants are kept */
	const char *note;   /* what is to be said of the table; NULL: nothing */
	const char *yaml;   /* the table of tenants; verb_quota() */
	const char *limits; /* JSON of what is limited; NULL: not told */
	size_t live;        /* jobs that have not ended */
	uint64_t refused;   /* jobs whose deadlines could not be promised */
};

/* What there is to know now, for a reader that the daemon runs itself. */
struct desk *desk_create(struct daemon *d);
void desk_destroy(struct desk *desk);
/* Numbers of a node's devices, as people count them, as an array of that name. */
void desk_put_devices(const struct desk *desk, uint32_t node, uint64_t devices, const char *key,
	struct json *j);

/* Sets the call's status and body. */
typedef void library_reader(struct record *record, const struct desk *desk, struct call *call);

/* The daemon's own side of a verb: the call goes to the library when the verb has returned. */
void library_ask(struct daemon *d, struct call *call, library_reader *reader);

/* From cycle.c: takes a call that has a reader. */
void library_give(struct daemon *d, struct call *call);
/* Ends; what is not answered yet is refused.  NULL is fine. */
void library_close(struct library *library);

#endif
