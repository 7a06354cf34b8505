/*
 * Clusters from a YAML file or the short form, and speeds from files.
 */
#ifndef IO_CLUSTER_IO_H
#define IO_CLUSTER_IO_H

#include "base/err.h"
#include "model/cluster.h"
#include "model/profile.h"
#include "model/trace.h"

/* "16x8:v100,4x4:a100", or a YAML file (doc/formats.md), or a Tiresias cluster CSV.  Release with cluster_fini(). */
int cluster_read(const char *spec, struct cluster *out, struct err *err);
/* YAML from memory; `where` names it in messages. */
int cluster_read_yaml(const char *where, const char *text, size_t n, struct cluster *out,
	struct err *err);
/* YAML that reads back as an equal cluster. */
void cluster_write_yaml(const struct cluster *cluster, struct buf *out);

/*
 * Measured speeds: Gavel's throughput JSON, or CSV "model,type,gpus,nodes,steps_per_s[,beside,beside_steps_per_s]".
 * `out` was created for `cluster` and `models`; types that the cluster does not have are passed over.
 */
int profile_read(const char *path, const struct cluster *cluster, struct names *models,
	struct profile *out, struct err *err);
/* The same from memory; `where` names it in messages. */
int profile_read_text(const char *where, const char *text, size_t n, const struct cluster *cluster,
	struct names *models, struct profile *out, struct err *err);

#endif
