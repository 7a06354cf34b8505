/*
 * What the readers of HiveD's configuration share.
 */
#ifndef IO_HIVED_PARTS_H
#define IO_HIVED_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <yaml.h>

#include "base/err.h"
#include "base/names.h"
#include "base/vec.h"
#include "model/cell_design.h"

/* An entry of cellTypes. */
struct cell_kind {
	yaml_node_t *node;
	const char *child;
	uint32_t split;
	bool is_node;
};

struct hived {
	const char *where;
	yaml_document_t document;
	struct cell_design *design;
	struct names kinds; /* the number of a type is its place in `kind` */
	VEC(struct cell_kind) kind;
	struct names hosts; /* "chain address", to find an address given twice */
	uint64_t leaves;    /* in all chains */
	struct err *err;
};

int hived_fail(struct hived *h, const yaml_node_t *node, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
yaml_node_t *hived_field(struct hived *h, yaml_node_t *map, const char *name);
const char *hived_text(const yaml_node_t *node); /* NULL unless it is a single value */
int hived_number(struct hived *h, yaml_node_t *map, const char *name, int64_t min, int64_t max,
	int64_t *out);
bool hived_is_empty(const yaml_node_t *node); /* not there, or null */
uint32_t hived_length(const yaml_node_t *list);
yaml_node_t *hived_entry(struct hived *h, const yaml_node_t *list, uint32_t i);
const struct cell_kind *hived_kind(const struct hived *h, const char *name); /* NULL: a device */

int hived_read_physical(struct hived *h, yaml_node_t *cells);
int hived_read_virtual(struct hived *h, yaml_node_t *clusters);

#endif
