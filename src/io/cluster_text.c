/*
 * libcyaml's description of a cluster's file: a field here is a field there.
 */
#include "io/cluster_text.h"

/* An empty value counts as none. */
#define TEXT_FLAGS (CYAML_FLAG_POINTER_NULL_STR | CYAML_FLAG_OPTIONAL)
#define TEXT(owner, field) \
	CYAML_FIELD_STRING_PTR(#field, TEXT_FLAGS, struct owner, field, 0, CYAML_UNLIMITED)
#define LIST(owner, field, entry) \
	CYAML_FIELD_SEQUENCE_COUNT(#field, TEXT_FLAGS, struct owner, field, n##field, &(entry), 0, \
		CYAML_UNLIMITED)

static const cyaml_schema_value_t text_schema = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED),
};

static const cyaml_schema_field_t type_fields[] = {
	TEXT(type_text, name),
	TEXT(type_text, mem),
	TEXT(type_text, flops),
	TEXT(type_text, mem_bandwidth),
	TEXT(type_text, link_bandwidth),
	TEXT(type_text, price_per_h),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t rack_fields[] = {
	TEXT(rack_text, name),
	TEXT(rack_text, count),
	TEXT(rack_text, uplink),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t topology_fields[] = {
	TEXT(topology_text, name),
	TEXT(topology_text, devices),
	TEXT(topology_text, preset),
	TEXT(topology_text, others),
	LIST(topology_text, links, text_schema),
	LIST(topology_text, groups, text_schema),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t nodes_fields[] = {
	TEXT(nodes_text, count),
	TEXT(nodes_text, name),
	TEXT(nodes_text, first),
	TEXT(nodes_text, type),
	TEXT(nodes_text, devices),
	TEXT(nodes_text, rack),
	LIST(nodes_text, racks, text_schema),
	TEXT(nodes_text, cpus),
	TEXT(nodes_text, mem),
	TEXT(nodes_text, topology),
	TEXT(nodes_text, price_per_h),
	TEXT(nodes_text, rentable),
	TEXT(nodes_text, spot),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t pooling_fields[] = {
	TEXT(pooling_text, rtt),
	TEXT(pooling_text, pcie),
	TEXT(pooling_text, attach),
	TEXT(pooling_text, detach),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t renting_fields[] = {
	TEXT(renting_text, boot),
	TEXT(renting_text, period),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t level_fields[] = {
	TEXT(level_text, name),
	TEXT(level_text, of),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t level_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct level_text, level_fields),
};

static const cyaml_schema_field_t cells_fields[] = {
	TEXT(cells_text, type),
	LIST(cells_text, levels, level_schema),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t network_fields[] = {
	TEXT(network_text, node_link),
	TEXT(network_text, rack_uplink),
	CYAML_FIELD_END,
};

#define MAPPING(type, fields) \
	{ \
		CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct type, fields) \
	}

static const cyaml_schema_value_t type_schema = MAPPING(type_text, type_fields);
static const cyaml_schema_value_t rack_schema = MAPPING(rack_text, rack_fields);
static const cyaml_schema_value_t topology_schema = MAPPING(topology_text, topology_fields);
static const cyaml_schema_value_t nodes_schema = MAPPING(nodes_text, nodes_fields);
static const cyaml_schema_value_t cells_schema = MAPPING(cells_text, cells_fields);

static const cyaml_schema_field_t cluster_fields[] = {
	LIST(cluster_text, types, type_schema),
	LIST(cluster_text, racks, rack_schema),
	LIST(cluster_text, topologies, topology_schema),
	LIST(cluster_text, nodes, nodes_schema),
	LIST(cluster_text, cells, cells_schema),
	CYAML_FIELD_MAPPING("network", CYAML_FLAG_OPTIONAL, struct cluster_text, network, network_fields),
	CYAML_FIELD_MAPPING("pooling", CYAML_FLAG_OPTIONAL, struct cluster_text, pooling, pooling_fields),
	CYAML_FIELD_MAPPING("renting", CYAML_FLAG_OPTIONAL, struct cluster_text, renting, renting_fields),
	TEXT(cluster_text, gangs),
	CYAML_FIELD_END,
};

const cyaml_schema_value_t cluster_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct cluster_text, cluster_fields),
};
