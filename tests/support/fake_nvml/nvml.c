/*
 * A stand-in for libnvidia-ml.so.1: the functions that Stint calls, answered from
 * a text file, so that GPUs can be had, lost and found again without any.
 *
 * $FAKE_NVML names the file (none: no GPUs).  It is read anew at every call.  A
 * line is a word and fields, separated by '|':
 *
 *	driver|550.54.15                        the version of the driver
 *	fail|FUNCTION|CODE                      this function answers CODE
 *	gpu|UUID|PRODUCT|BYTES|BUS[|STATE]      a GPU; BUS is domain:bus:device in hex
 *	mig|UUID|PRODUCT MIG PROFILE|BYTES      an instance of the GPU above, which is split then
 *	none                                    a number for an instance that is not there
 *	busy|UUID|PERCENT                       the GPU of that name, listed before, computes so much
 *	near|UUID|UUID|LEVEL                    the nearest thing two GPUs, listed before, have in common
 *	link|UUID|UUID|N                        so many NVLinks between them
 *	switch|UUID|N                           so many NVLinks from it to switches
 *
 * STATE: "lost" answers everything with "GPU is lost", "dying" all but its handle and bus, and
 * "start=N" is there once the library has been started N times.  '#' begins a remark.
 *
 *	FAKE_NVML=gpus.txt STINT_NVML=build/tests/fake/libnvidia-ml.so.1 stintd …
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OK = 0,
	UNINITIALIZED = 1,
	INVALID = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	TOO_SMALL = 7,
	NO_DRIVER = 9,
	LOST = 15,
};

enum { GPUS_MAX = 32, INSTANCES_MAX = 8, FIELDS_MAX = 6, TEXT = 96 };

struct memory_info {
	unsigned long long total, free, used;
};

struct pci_info {
	char bus_id_legacy[16];
	unsigned int domain, bus, device;
	unsigned int device_id, subsystem_id;
	char bus_id[32];
};

struct use_info {
	unsigned int gpu, memory;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlSystemGetDriverVersion(char *text, unsigned int size);
const char *nvmlErrorString(int answer);
int nvmlDeviceGetCount_v2(unsigned int *n);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **out);
int nvmlDeviceGetUUID(void *handle, char *text, unsigned int size);
int nvmlDeviceGetName(void *handle, char *text, unsigned int size);
int nvmlDeviceGetMemoryInfo(void *handle, struct memory_info *out);
int nvmlDeviceGetPciInfo_v3(void *handle, struct pci_info *out);
int nvmlDeviceGetMigMode(void *handle, unsigned int *now, unsigned int *pending);
int nvmlDeviceGetMaxMigDeviceCount(void *handle, unsigned int *n);
int nvmlDeviceGetMigDeviceHandleByIndex(void *handle, unsigned int index, void **out);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **out);
int nvmlDeviceGetUtilizationRates(void *handle, struct use_info *out);

int nvmlDeviceGetTopologyCommonAncestor(void *a, void *b, unsigned int *level);
int nvmlDeviceGetNvLinkState(void *handle, unsigned int link, unsigned int *active);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *handle, unsigned int link, struct pci_info *out);
int nvmlDeviceGetNvLinkRemoteDeviceType(void *handle, unsigned int link, unsigned int *kind);

struct part {
	char uuid[TEXT], name[TEXT];
	unsigned long long bytes;
	bool there;
};

struct gpu {
	struct part self;
	unsigned int domain, bus, device;
	bool lost, dying;
	unsigned int busy;
	unsigned char near[32], links[32]; /* by GPU; near: 1 + level, 0 unknown */
	unsigned int switched;
	struct part instances[INSTANCES_MAX];
	unsigned int ninstances;
};

struct world {
	char driver[TEXT];
	struct gpu gpus[GPUS_MAX];
	unsigned int n;
	int answer; /* of the function asked about */
};

/* As in the real one, what was started is the library's own. */
static int started, starts;

static void set_part(struct part *part, char **field)
{
	snprintf(part->uuid, sizeof(part->uuid), "%s", field[1] ? field[1] : "");
	snprintf(part->name, sizeof(part->name), "%s", field[2] ? field[2] : "");
	part->bytes = field[3] ? strtoull(field[3], NULL, 10) : 0;
	part->there = true;
}

static void add_gpu(struct world *w, char **field)
{
	struct gpu *gpu = &w->gpus[w->n];
	const char *state = field[5] ? field[5] : "";

	if (w->n == GPUS_MAX || (strncmp(state, "start=", 6) == 0 && starts < atoi(state + 6)))
		return;
	*gpu = (struct gpu){ .lost = strcmp(state, "lost") == 0, .dying = strcmp(state, "dying") == 0 };
	set_part(&gpu->self, field);
	sscanf(field[4] ? field[4] : "", "%x:%x:%x", &gpu->domain, &gpu->bus, &gpu->device);
	w->n++;
}

static void add_instance(struct world *w, char **field)
{
	struct gpu *gpu = w->n ? &w->gpus[w->n - 1] : NULL;

	if (!gpu || gpu->ninstances == INSTANCES_MAX)
		return;
	if (strcmp(field[0], "mig") == 0)
		set_part(&gpu->instances[gpu->ninstances], field);
	gpu->ninstances++;
}

static void set_busy(struct world *w, char **field)
{
	for (unsigned int i = 0; i < w->n && field[1] && field[2]; i++) {
		if (!strcmp(w->gpus[i].self.uuid, field[1]))
			w->gpus[i].busy = (unsigned int)atoi(field[2]);
	}
}

static int place_of(const struct world *w, const char *uuid)
{
	for (unsigned int i = 0; uuid && i < w->n; i++) {
		if (!strcmp(w->gpus[i].self.uuid, uuid))
			return (int)i;
	}
	return -1;
}

static void set_pair(struct world *w, char **field)
{
	int a = place_of(w, field[1]), b = place_of(w, field[2]);
	unsigned char n = (unsigned char)(field[3] ? atoi(field[3]) : 0);

	if (a < 0 || b < 0)
		return;
	if (strcmp(field[0], "near") == 0)
		w->gpus[a].near[b] = w->gpus[b].near[a] = n + 1;
	else
		w->gpus[a].links[b] = w->gpus[b].links[a] = n;
}

static void read_line(struct world *w, char *line, const char *function)
{
	char *field[FIELDS_MAX + 1] = { 0 };
	int n = 0;

	line[strcspn(line, "#\n")] = '\0';
	while (n < FIELDS_MAX && line)
		field[n++] = strsep(&line, "|");
	if (strcmp(field[0], "driver") == 0 && field[1])
		snprintf(w->driver, sizeof(w->driver), "%s", field[1]);
	else if (strcmp(field[0], "fail") == 0 && field[2] && strcmp(field[1], function) == 0)
		w->answer = atoi(field[2]);
	else if (strcmp(field[0], "gpu") == 0)
		add_gpu(w, field);
	else if (strcmp(field[0], "mig") == 0 || strcmp(field[0], "none") == 0)
		add_instance(w, field);
	else if (strcmp(field[0], "busy") == 0)
		set_busy(w, field);
	else if (strcmp(field[0], "near") == 0 || strcmp(field[0], "link") == 0)
		set_pair(w, field);
	else if (strcmp(field[0], "switch") == 0 && place_of(w, field[1]) >= 0 && field[2])
		w->gpus[place_of(w, field[1])].switched = (unsigned int)atoi(field[2]);
}

/* What `function` shall see; its answer if it shall fail. */
static int look(struct world *w, const char *function)
{
	const char *path = getenv("FAKE_NVML");
	FILE *in = path ? fopen(path, "re") : NULL;
	char line[512];

	*w = (struct world){ .driver = "0.0" };
	while (in && fgets(line, sizeof(line), in))
		read_line(w, line, function);
	if (in)
		fclose(in);
	if (w->answer == OK && started == 0 && strcmp(function, "nvmlInit_v2") != 0)
		return UNINITIALIZED;
	return w->answer;
}

/* ---- handles: 1 + GPU * 64, an instance adds 1 + its number */

static struct gpu *gpu_of(struct world *w, void *handle)
{
	uintptr_t at = ((uintptr_t)handle - 1) / 64;

	return handle && at < w->n ? &w->gpus[at] : NULL;
}

static unsigned int instance_of(void *handle)
{
	return ((uintptr_t)handle - 1) % 64;
}

/* The GPU or instance behind a handle for a function that the dying do not answer. */
static int find(struct world *w, void *handle, const char *function, struct part **out)
{
	unsigned int instance = instance_of(handle);
	struct gpu *gpu;
	int rc = look(w, function);

	if (rc != OK)
		return rc;
	gpu = gpu_of(w, handle);
	if (!gpu || instance > gpu->ninstances)
		return INVALID;
	if (gpu->lost || gpu->dying)
		return LOST;
	*out = instance ? &gpu->instances[instance - 1] : &gpu->self;
	return OK;
}

static int give_text(char *to, unsigned int size, const char *text)
{
	if (strlen(text) >= size)
		return TOO_SMALL;
	memcpy(to, text, strlen(text) + 1);
	return OK;
}

/* ---- the library */

int nvmlInit_v2(void)
{
	struct world w;
	int rc = look(&w, __func__);

	if (rc == OK) {
		started++;
		starts++;
	}
	return rc;
}

int nvmlShutdown(void)
{
	struct world w;
	int rc = look(&w, __func__);

	if (rc == OK)
		started--;
	return rc;
}

int nvmlSystemGetDriverVersion(char *text, unsigned int size)
{
	struct world w;
	int rc = look(&w, __func__);

	return rc != OK ? rc : give_text(text, size, w.driver);
}

const char *nvmlErrorString(int answer)
{
	switch (answer) {
	case OK:
		return "Success";
	case UNINITIALIZED:
		return "Uninitialized";
	case NO_DRIVER:
		return "Driver Not Loaded";
	case LOST:
		return "GPU is lost";
	default:
		return "Unknown Error";
	}
}

int nvmlDeviceGetCount_v2(unsigned int *n)
{
	struct world w;
	int rc = look(&w, __func__);

	if (rc == OK)
		*n = w.n;
	return rc;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **out)
{
	struct world w;
	int rc = look(&w, __func__);

	if (rc != OK)
		return rc;
	if (index >= w.n)
		return INVALID;
	if (w.gpus[index].lost)
		return LOST;
	*out = (void *)(uintptr_t)(1 + index * 64);
	return OK;
}

int nvmlDeviceGetUUID(void *handle, char *text, unsigned int size)
{
	struct part *part;
	struct world w;
	int rc = find(&w, handle, __func__, &part);

	return rc != OK ? rc : give_text(text, size, part->uuid);
}

int nvmlDeviceGetName(void *handle, char *text, unsigned int size)
{
	struct part *part;
	struct world w;
	int rc = find(&w, handle, __func__, &part);

	return rc != OK ? rc : give_text(text, size, part->name);
}

int nvmlDeviceGetMemoryInfo(void *handle, struct memory_info *out)
{
	struct part *part;
	struct world w;
	int rc = find(&w, handle, __func__, &part);

	if (rc == OK)
		*out = (struct memory_info){ part->bytes, part->bytes, 0 };
	return rc;
}

int nvmlDeviceGetPciInfo_v3(void *handle, struct pci_info *out)
{
	struct world w;
	int rc = look(&w, __func__);
	struct gpu *gpu = gpu_of(&w, handle);

	if (rc != OK || !gpu)
		return rc != OK ? rc : INVALID;
	if (gpu->lost)
		return LOST;
	*out = (struct pci_info){ .domain = gpu->domain, .bus = gpu->bus, .device = gpu->device };
	snprintf(out->bus_id, sizeof(out->bus_id), "%08x:%02x:%02x.0", gpu->domain, gpu->bus,
		gpu->device);
	return OK;
}

int nvmlDeviceGetMigMode(void *handle, unsigned int *now, unsigned int *pending)
{
	struct world w;
	int rc = look(&w, __func__);
	struct gpu *gpu = gpu_of(&w, handle);

	if (rc != OK || !gpu)
		return rc != OK ? rc : INVALID;
	*now = *pending = gpu->ninstances > 0;
	return strstr(gpu->self.name, "A100") || strstr(gpu->self.name, "H100") ? OK : NOT_SUPPORTED;
}

int nvmlDeviceGetMaxMigDeviceCount(void *handle, unsigned int *n)
{
	struct world w;
	int rc = look(&w, __func__);

	if (rc == OK)
		*n = gpu_of(&w, handle) ? INSTANCES_MAX - 1 : 0;
	return rc;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *handle, unsigned int index, void **out)
{
	struct world w;
	int rc = look(&w, __func__);
	struct gpu *gpu = gpu_of(&w, handle);

	if (rc != OK || !gpu)
		return rc != OK ? rc : INVALID;
	if (index >= gpu->ninstances || !gpu->instances[index].there)
		return NOT_FOUND;
	*out = (void *)((uintptr_t)handle + 1 + index);
	return OK;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **out)
{
	struct world w;
	int rc = look(&w, __func__);

	if (rc != OK)
		return rc;
	for (unsigned int i = 0; i < w.n; i++) {
		if (strcmp(w.gpus[i].self.uuid, uuid) == 0) {
			*out = (void *)(uintptr_t)(1 + i * 64);
			return OK;
		}
	}
	return NOT_FOUND;
}

int nvmlDeviceGetUtilizationRates(void *handle, struct use_info *out)
{
	struct world w;
	struct part *part;
	int rc = find(&w, handle, __func__, &part);

	if (rc != OK)
		return rc;
	if (instance_of(handle) || gpu_of(&w, handle)->ninstances)
		return NOT_SUPPORTED;
	*out = (struct use_info){ gpu_of(&w, handle)->busy, 0 };
	return OK;
}

/* ---- links: first those to other GPUs, in their order, then those to switches */

int nvmlDeviceGetTopologyCommonAncestor(void *a, void *b, unsigned int *level)
{
	struct world w;
	int rc = look(&w, __func__);
	struct gpu *x = gpu_of(&w, a), *y = gpu_of(&w, b);

	if (rc != OK || !x || !y)
		return rc != OK ? rc : INVALID;
	if (!x->near[y - w.gpus])
		return NOT_SUPPORTED;
	*level = x->near[y - w.gpus] - 1u;
	return OK;
}

/* The GPU a link leads to, -1: a switch, -2: nowhere. */
static int end_of(const struct world *w, const struct gpu *gpu, unsigned int link)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->n; i++) {
		n += gpu->links[i];
		if (link < n)
			return (int)i;
	}
	return link < n + gpu->switched ? -1 : -2;
}

int nvmlDeviceGetNvLinkState(void *handle, unsigned int link, unsigned int *active)
{
	struct world w;
	int rc = look(&w, __func__);
	struct gpu *gpu = gpu_of(&w, handle);

	if (rc != OK || !gpu)
		return rc != OK ? rc : INVALID;
	*active = end_of(&w, gpu, link) >= -1;
	return OK;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *handle, unsigned int link, struct pci_info *out)
{
	struct world w;
	int rc = look(&w, __func__), end;
	struct gpu *gpu = gpu_of(&w, handle);

	if (rc != OK || !gpu)
		return rc != OK ? rc : INVALID;
	end = end_of(&w, gpu, link);
	if (end < 0)
		return INVALID;
	*out = (struct pci_info){ .domain = w.gpus[end].domain,
		.bus = w.gpus[end].bus,
		.device = w.gpus[end].device };
	return OK;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *handle, unsigned int link, unsigned int *kind)
{
	struct world w;
	int rc = look(&w, __func__);
	struct gpu *gpu = gpu_of(&w, handle);

	if (rc != OK || !gpu)
		return rc != OK ? rc : INVALID;
	*kind = end_of(&w, gpu, link) == -1 ? 2 : 0;
	return OK;
}
