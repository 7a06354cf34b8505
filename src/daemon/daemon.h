/*
 * The daemon: one loop around the record, the core that decides and the hands
 * that carry out.
 *
 *	collect what happened   calls, endings, progress, devices, time
 *	record it               one transaction: inputs are durable before they count
 *	decide                  live/core.h, which is deterministic
 *	record what was decided decisions are durable before they are carried out
 *	carry out               live/hands.h
 *	answer                  callers, followers, metrics
 *
 * The face (api/) runs in threads of its own and reaches the loop by daemon_call()
 * alone.
 */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/text.h"
#include "daemon/idle.h"
#include "daemon/stream.h"
#include "live/health.h"
#include "live/local/discover.h"
#include "live/slurm/hands.h"

struct daemon;
struct log;
struct output_caps;
struct roles;

/*
 * What jobs of one machine want with no configuration: tenants share it fairly, each orders its own jobs, no GPU idles.
 * An hour of waiting is long for a wide job, and short against what draining devices costs where jobs have no limits.
 * Only where the record says nothing yet: a changed default leaves state directories that exist as they are.
 */
#define DAEMON_POLICY "fair-share:preempt=1,elastic=1,priority=1,reserve_s=3600"

struct daemon_config {
	const char *state_dir; /* absolute; made if it is not there */
	const char *guard;     /* path of stint-guard */
	const char *program; /* path of stint, for what is simulated beside the loop; NULL: nothing is */
	const char *policy, *placer,
		*admit;            /* specs; NULL: what the record says last, else the defaults */
	const char *tenants;       /* file; NULL: none */
	const char *limits;        /* of users and tenants, daemon/limits.h; NULL: the presets */
	struct roles *roles;       /* daemon/roles.h; NULL: every user is a user.  Kept */
	const char *host_profiles; /* file; NULL: what the record says last, else none */
	const char *socket;        /* what jobs are told as STINT_SOCKET; NULL: none */
	const char *runs; /* directory of simulator results for the page; NULL: STATE/runs */
	uint64_t seed;
	double forecast_every_s; /* 0: only when somebody asks */
	struct machine_options machine;
	const struct slurm_options *slurm; /* NULL: this machine; its site is the record's own */
	bool observe;                      /* of Slurm: look on, and change nothing */
	const char *shadow;                /* a policy that decides beside it, spec; NULL: none */
	double shadow_every_s;
	double born_s;         /* the record's zero where it is new, seconds since 1970; 0: now */
	struct care care;      /* when failures count against devices */
	struct idle_rule idle; /* a zeroed one: nobody is watched */
	double keep_s;         /* what is older becomes summaries; 0: nothing does by itself */
	const struct output_caps *output; /* of output that is kept; NULL: no bounds.  Kept */
	bool cgroups;
	bool system;     /* jobs run as whoever submitted them; needs root */
	struct log *log; /* NULL: silent */
};

int daemon_open(const struct daemon_config *config, struct daemon **out, struct err *err);
/* Until daemon_stop() or a signal (TERM, INT).  Jobs run on. */
int daemon_run(struct daemon *daemon, struct err *err);
/* The service manager is told that the loop is alive, and how many jobs run. */
struct notify;
void daemon_beat(struct daemon *daemon, const struct notify *notify);
/* From any thread. */
void daemon_stop(struct daemon *daemon);
void daemon_close(struct daemon *daemon);

/*
 * What a caller may do; each may do what those before it may (role_meaning()).
 */
enum role {
	ROLE_USER, /* of a caller that was zeroed */
	ROLE_NONE,
	ROLE_READ,
	ROLE_OPERATOR,
	ROLE_ADMIN,
};

enum { CALLER_FROM_MAX = 64 };

/* Who calls. */
struct caller {
	uid_t uid;
	gid_t gid;
	enum role role; /* of one who is no admin */
	bool admin;     /* root, the daemon's own user, the token, or ROLE_ADMIN */
	bool outside;   /* the world itself: a job that was submitted there */
	const char *by; /* for the audit: how the caller proved who it is, and from where; NULL, "": not said */
	char from[CALLER_FROM_MAX];
};

struct verb; /* daemon/verbs.h */

/*
 * From any thread: has `verb` done and calls answer() once, from the daemon's thread, which takes the
 * buffer (buf_fini).  Takes the reference to `args` (a JSON object; may be NULL).  `status` is HTTP's;
 * the body is JSON, with `schema`, and problem JSON (RFC 9457) if status >= 400.
 */
typedef void daemon_answer(void *ctx, int status, struct buf *body);
void daemon_call(struct daemon *daemon, const struct verb *verb, const struct caller *caller,
	json_t *args, daemon_answer *answer, void *ctx);

/* The role of a user of the machine; thread-safe, and may ask the system for the user's groups. */
enum role daemon_role(struct daemon *daemon, uid_t uid);

/* Whatever happens, for event streams; thread-safe. */
struct stream *daemon_stream(struct daemon *daemon);
/* OpenMetrics text; thread-safe. */
void daemon_metrics(struct daemon *daemon, struct buf *out);
/* Counts a request; thread-safe. */
void daemon_count(struct daemon *daemon, const char *route, int status);
/* Counts a notification by what became of it; thread-safe. */
void daemon_notified(struct daemon *daemon, const char *result);
/*
 * Whether it decides and accepts: "ok", "disk-full: …", …; thread-safe.  "degraded: …" of one that does and cannot
 * do something else.
 */
bool daemon_healthy(struct daemon *daemon, struct buf *out);

#endif
