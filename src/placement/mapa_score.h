/*
 * What devices of a node are worth to a job that communicates in a pattern (MAPA).
 *
 * Three scores: the widths of the links used, in all; the bandwidth that a
 * ring over so many double, single and host links is predicted to reach; and the
 * bandwidth of the direct links among the devices that stay free.
 */
#ifndef PLACEMENT_MAPA_SCORE_H
#define PLACEMENT_MAPA_SCORE_H

#include "model/links.h"
#include "solver/embed.h"

/* Of a pair of devices, as a job sees it: by host, by one link, by more. */
enum link_kind { LINK_HOST, LINK_SINGLE, LINK_DOUBLE };

/* The polynomial published with MAPA's program, in GB/s; fitted to a DGX-1V, and not monotone. */
double bandwidth_published(const uint32_t links[EMBED_KINDS]);
/* Ours: close to it where one kind is used alone; more or faster links never make it less. */
double bandwidth_monotone(const uint32_t links[EMBED_KINDS]);

/* Which of the devices to take. */
enum mapa_rule {
	MAPA_GREEDY,    /* the widest links in all */
	MAPA_PREDICTED, /* the largest predicted bandwidth */
	MAPA_PRESERVE,  /* those that leave the widest links to others; of equals the widest */
	MAPA_LOWEST,    /* the lowest numbers */
	MAPA_SOCKET,    /* the lowest of one socket that is larger than the job, else the lowest */
};

struct mapa_graph; /* a topology as all this sees it, with what was found out about it */
/* Keeps nothing of `t`; `predict` as above.  NULL: it has too many devices for trying sets. */
struct mapa_graph *mapa_graph_create(const struct topology *t, enum pattern pattern,
	embed_value *predict);
void mapa_graph_destroy(struct mapa_graph *graph);
const struct embed_graph *mapa_graph_edges(const struct mapa_graph *graph);

struct mapa_choice {
	uint64_t devices;
	double value; /* of the rule, the larger the better; MAPA_PRESERVE: what is lost, negative */
	double sum;   /* widths of its links, in GB/s; not of MAPA_PREDICTED */
};

/*
 * n of the `free` devices; of equals those of the lowest numbers.  False: none is worth more than `least`, or there
 * are too few.
 */
bool mapa_choose(struct mapa_graph *graph, uint64_t free, uint32_t n, enum mapa_rule rule,
	double least, struct mapa_choice *out);
/* Bandwidth of the direct links among these devices, in GB/s. */
double mapa_linked(const struct mapa_graph *graph, uint64_t devices);
/* The best sum for n devices of the whole node. */
double mapa_best_sum(struct mapa_graph *graph, uint32_t n);

#endif
