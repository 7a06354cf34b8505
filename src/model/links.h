/*
 * What the links inside a node mean: how many of them join two devices, how near
 * these are in the tree of switches and sockets, and how fast a ring goes.
 */
#ifndef MODEL_LINKS_H
#define MODEL_LINKS_H

#include "model/cluster.h"

enum nearness { NEAR_SWITCH, NEAR_SOCKET, NEAR_NODE, NEAR_CLUSTER, NEAR_COUNT };
extern const char *const nearness_names[NEAR_COUNT];

/* For whoever builds one, before anybody asks: both directions of a pair, and of all pairs through the host. */
void topology_link(struct topology *t, uint32_t i, uint32_t j, double Bps);
void topology_link_all(struct topology *t, double Bps);
/* How many direct links the pair has; else its speed tells. */
void topology_say_links(struct topology *t, uint32_t i, uint32_t j, uint8_t links);
/* Exactly these devices are one switch's, one socket's. */
void topology_begin_groups(struct topology *t);
void topology_group(struct topology *t, uint64_t devices, enum nearness near);
void topology_copy_links(const struct topology *from, struct topology *to);

static inline double topology_Bps(const struct topology *t, uint32_t i, uint32_t j)
{
	return t->Bps[i * t->devices + j];
}

/* Direct links that a speed stands for: none below that of PCIe 3.0, else one for each 25 GB/s. */
uint8_t links_of_speed(double Bps);
uint8_t topology_links(const struct topology *t, uint32_t i, uint32_t j);

/*
 * NEAR_NODE at most.  Where groups were not said, devices with a direct link, or whose links are all
 * alike, are as near as on one switch, and a socket has the lower or the upper half of the devices.
 */
enum nearness topology_nearness(const struct topology *t, uint32_t i, uint32_t j);
/* The devices of its socket, itself among them. */
uint64_t topology_socket(const struct topology *t, uint32_t i);

/* The narrowest link of the widest ring through these devices; 0 for fewer than two. */
double topology_ring_Bps(const struct topology *t, uint64_t devices);
/* That of the best `n` devices. */
double topology_best_ring_Bps(const struct topology *t, uint32_t n);
/* The slowest pair. */
double topology_slowest_Bps(const struct topology *t);

/* How far devices are from each other, by nearness: only the order matters. */
struct distances {
	double of[NEAR_COUNT];
};

extern const struct distances distances_usual; /* 1, 10, 20, 100 */

#endif
