/*
 * Inside model/training.h: what was measured of a model, table by table.
 */
#ifndef MODEL_TRAINING_PARTS_H
#define MODEL_TRAINING_PARTS_H

#include <pthread.h>

#include "base/vec.h"
#include "model/training.h"
#include "solver/delaunay.h"

/* One row: devices that lie as `on_node` says (its smallest rotation). */
struct training_row {
	const uint16_t *on_node; /* NULL: known by numbers only */
	uint32_t nodes, replicas;
	double batch;
	struct pass pass;
};

struct training_rows {
	struct training_row *at;
	size_t n, cap;
};

/* Everything else than measured placements: between points (nodes, devices, batch). */
struct training_mesh {
	struct delaunay *mesh; /* NULL: no points, or Qhull failed */
	struct pass *pass;     /* by point */
	uint32_t most_nodes;
};

struct training_fit;

/* Of one model on one type. */
struct training_table {
	struct training_rows placed; /* by (nodes, on_node, batch) */
	struct training_rows scaled; /* as they were added: the order matters to the mesh */
	double cap_local;            /* 0: none */
	struct training_mesh *mesh;  /* made when first asked for */
	struct training_fit *fit;    /* likewise; for what lies beyond */
};

/* Of one total batch size, epoch by epoch. */
struct training_curve {
	double batch;
	struct training_epoch *at;
	size_t n, cap;
};

struct training_of_model {
	bool known;
	struct training_model facts;
	struct training_table *tables; /* by type */
	struct training_curve *curves; /* by batch */
	size_t ncurves;
	double *progress; /* by epochs done: the least of all curves */
};

struct training {
	const struct cluster *cluster;
	const struct names *names;
	struct training_of_model *models;
	uint32_t nmodels;
	uint32_t widest[TYPES_MAX], widest_said[TYPES_MAX];
	struct arena memory;   /* owns lays */
	pthread_mutex_t mutex; /* guards the making of meshes: runs of a comparison ask at once */
};

/* The smallest rotation without zeros into `out` (of lay.nodes); returns how many nodes are left. */
uint32_t lay_normalise(struct lay lay, uint16_t *out);

struct training_mesh *training_mesh_create(const struct training_table *table);
void training_mesh_destroy(struct training_mesh *mesh);
bool training_mesh_pass(const struct training_mesh *mesh, uint32_t nodes, uint32_t replicas,
	double batch, struct pass *out);

/*
 * Outside of what was measured; `table` has rows.  Unless it `scales` (a pipeline's stage does not) the
 * nearest measurement counts as it is.  False: no pass is like that.
 */
bool training_table_beyond(const struct training *training, const struct training_table *table,
	uint32_t nodes, uint32_t replicas, double batch, bool scales, struct pass *out);
void training_fit_destroy(struct training_fit *fit);

#endif
