/*
 * What CPUs and memory of hosts do to models, from files: CSV of our own, or
 * Synergy's profiles as JSON.
 */
#ifndef IO_HOSTING_IO_H
#define IO_HOSTING_IO_H

#include "base/err.h"
#include "io/notes.h"
#include "model/hosting.h"
#include "model/profile.h"

/*
 * CSV "model,cpus,speed[,gpus,memory,split,step_s,dataset,storage,epoch_s]" (doc/hosts.md), or the JSON of
 * Synergy: a list of profiles with a matrix of speeds each.  Models are added to `models`.  Speeds of
 * steps that it tells go to `speeds`, for every type of `cluster`.  Nothing changes unless the whole file
 * was understood.  `notes` may be NULL.
 */
int hosting_read(const char *path, const struct cluster *cluster, struct names *models,
	struct hosting *out, struct profile *speeds, struct notes *notes, struct err *err);
/* The same from memory; `where` names it in messages. */
int hosting_read_text(const char *where, struct slice text, const struct cluster *cluster,
	struct names *models, struct hosting *out, struct profile *speeds, struct notes *notes,
	struct err *err);

#endif
