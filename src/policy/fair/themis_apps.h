/*
 * The apps of Themis: what each has, what it would be worth to it to have more,
 * and how far from its share it is.
 *
 * An app is a job, or all jobs of a tenant.  Everything is what is believed:
 * speeds by type and locality come from the profile where it knows the model,
 * else from the table of the options.
 */
#ifndef POLICY_FAIR_THEMIS_APPS_H
#define POLICY_FAIR_THEMIS_APPS_H

#include "model/finish_time.h"
#include "policy/kit.h"
#include "solver/auction.h"

enum app_kind { APP_JOB, APP_TENANT };
enum app_ideal { IDEAL_DEMAND, IDEAL_APPS };
enum app_starved { STARVED_WAITS, STARVED_NEVER };

/* What decides how apps are seen: options of the policy. */
struct app_rules {
	int app;     /* enum app_kind */
	int ideal;   /* enum app_ideal: what a fair part is a part of */
	int starved; /* enum app_starved: what an app without devices expects */
	bool elastic;
	double lease_s;
	double spread[3]; /* speed on one node, in one rack, beyond, where nothing better is known */
	double noise;     /* bids are off by up to this part */
};

/* Kept for each job. */
struct app_memory {
	double lease_end_s; /* of what it holds */
	double seen_s;      /* when it was first looked at */
	double crowd;       /* the integral then */
	double debt;        /* devices it has won and not yet paid with, where jobs are apps */
	bool seen;
};

struct app {
	uint32_t number;       /* the job, or the tenant's number */
	uint32_t first, njobs; /* of apps.jobs: those without a lease, most work first */
	uint32_t leader;       /* its first job */
	uint32_t leased;       /* one of its jobs with a lease, or JOB_NONE */
	double since_s, left_gpu_s, all_gpu_s;
	double held, most; /* devices' worth under leases; of all its jobs at once */
	double ideal_s;
	double rho, best; /* as it stands; if it had all it can use */
	uint32_t first_bid, nbids;
};

/* A job under a lease. */
struct app_lease {
	uint32_t job, app; /* app: its place in apps.at until they are ranked */
	double power;
};

/* One decision's view of all apps.  Everything is the round's scratch. */
struct apps {
	const struct app_rules *rules;
	const struct round *round;
	const struct plan *plan; /* leases that ended are free in it */
	struct app *at;          /* the worst off first, once ranked */
	uint32_t n;
	uint32_t *jobs;
	struct app_lease *leases;
	uint32_t nleases;
	struct auction_bid *bids;
	uint32_t nbids;
	uint32_t *node_free[TYPES_MAX]; /* free devices by node, most first; NULL: not asked yet */
	uint32_t rack_most[TYPES_MAX];  /* free devices of the rack that has most */
};

/* Whether a job keeps what it has whatever others bid. */
bool app_has_lease(const struct round *round, const struct job *job);

void apps_gather(struct apps *apps, const struct app_rules *rules, const struct round *round,
	const struct plan *plan, const struct crowd *crowd);
/* How badly off an app without devices is that gets all it can use after so long. */
double app_rho_after(const struct apps *apps, const struct app *app, double wait_s);
/* What is free now, and with it who is how badly off. */
void apps_rank(struct apps *apps);
/* Writes the bids of one app; none if it can use nothing that is free. */
void app_bid(struct apps *apps, struct app *app);
/* Its value with nothing more. */
double app_empty_value(const struct apps *apps, const struct app *app);

/* How crowded the cluster is as the rules see it. */
double apps_level(const struct apps *apps);

#endif
