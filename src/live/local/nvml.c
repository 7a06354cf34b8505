/*
 * Calling NVML: its functions by name, as its reference documents them.
 */
#include "live/local/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

/* ---- the library's side: what is needed of its interface */

enum answer {
	ANSWER_OK = 0,
	ANSWER_NOT_SUPPORTED = 3,
	ANSWER_NOT_FOUND = 6,
	ANSWER_NO_DRIVER = 9,
	ANSWER_NO_FUNCTION = 13,
	ANSWER_LOST = 15,
};

typedef void *handle;

struct memory_info {
	unsigned long long total, free, used;
};

struct pci_info {
	char bus_id_legacy[16];
	unsigned int domain, bus, device;
	unsigned int device_id, subsystem_id;
	char bus_id[32];
};

/* In per cent. */
struct use_info {
	unsigned int gpu, memory;
};

/* The later ones came with MIG, or are not missed; a library may be without them. */
struct calls {
	int (*init)(void);
	int (*shutdown)(void);
	int (*driver_version)(char *text, unsigned int size);
	const char *(*error_text)(int answer);
	int (*count)(unsigned int *n);
	int (*by_index)(unsigned int index, handle *out);
	int (*uuid)(handle gpu, char *text, unsigned int size);
	int (*name)(handle gpu, char *text, unsigned int size);
	int (*memory)(handle gpu, struct memory_info *out);
	int (*pci)(handle gpu, struct pci_info *out);
	int (*mig_mode)(handle gpu, unsigned int *now, unsigned int *pending);
	int (*mig_most)(handle gpu, unsigned int *n);
	int (*mig_by_index)(handle gpu, unsigned int index, handle *out);
	int (*by_uuid)(const char *uuid, handle *out);
	int (*busy)(handle gpu, struct use_info *out);
	int (*ancestor)(handle a, handle b, unsigned int *level);
	int (*link_state)(handle gpu, unsigned int link, unsigned int *active);
	int (*link_remote)(handle gpu, unsigned int link, struct pci_info *out);
	int (*link_remote_kind)(handle gpu, unsigned int link, unsigned int *kind);
	int (*link_version)(handle gpu, unsigned int link, unsigned int *version);
	int (*pcie_generation)(handle gpu, unsigned int *generation);
};

static const struct {
	const char *name;
	size_t offset;
	bool optional;
} symbols[] = {
	{ "nvmlInit_v2", offsetof(struct calls, init), false },
	{ "nvmlShutdown", offsetof(struct calls, shutdown), false },
	{ "nvmlSystemGetDriverVersion", offsetof(struct calls, driver_version), false },
	{ "nvmlErrorString", offsetof(struct calls, error_text), false },
	{ "nvmlDeviceGetCount_v2", offsetof(struct calls, count), false },
	{ "nvmlDeviceGetHandleByIndex_v2", offsetof(struct calls, by_index), false },
	{ "nvmlDeviceGetUUID", offsetof(struct calls, uuid), false },
	{ "nvmlDeviceGetName", offsetof(struct calls, name), false },
	{ "nvmlDeviceGetMemoryInfo", offsetof(struct calls, memory), false },
	{ "nvmlDeviceGetPciInfo_v3", offsetof(struct calls, pci), false },
	{ "nvmlDeviceGetMigMode", offsetof(struct calls, mig_mode), true },
	{ "nvmlDeviceGetMaxMigDeviceCount", offsetof(struct calls, mig_most), true },
	{ "nvmlDeviceGetMigDeviceHandleByIndex", offsetof(struct calls, mig_by_index), true },
	{ "nvmlDeviceGetHandleByUUID", offsetof(struct calls, by_uuid), true },
	{ "nvmlDeviceGetUtilizationRates", offsetof(struct calls, busy), true },
	{ "nvmlDeviceGetTopologyCommonAncestor", offsetof(struct calls, ancestor), true },
	{ "nvmlDeviceGetNvLinkState", offsetof(struct calls, link_state), true },
	{ "nvmlDeviceGetNvLinkRemotePciInfo_v2", offsetof(struct calls, link_remote), true },
	{ "nvmlDeviceGetNvLinkRemoteDeviceType", offsetof(struct calls, link_remote_kind), true },
	{ "nvmlDeviceGetNvLinkVersion", offsetof(struct calls, link_version), true },
	{ "nvmlDeviceGetMaxPcieLinkGeneration", offsetof(struct calls, pcie_generation), true },
};

struct nvml {
	void *library;
	struct calls call;
	bool started;
	char version[NVML_TEXT_MAX];
};

static int find_symbols(struct nvml *nvml, const char *library, struct err *err)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *found = dlsym(nvml->library, symbols[i].name);

		if (!found && !symbols[i].optional)
			return err_set(err, ERR_IO, "%s is no NVML or too old: it has no %s",
				library, symbols[i].name);
		memcpy((char *)&nvml->call + symbols[i].offset, &found, sizeof(found));
	}
	return 0;
}

static int failed(const struct nvml *nvml, const char *what, int answer, struct err *err)
{
	const char *text = nvml->call.error_text(answer);

	return err_set(err, answer == ANSWER_NO_DRIVER ? ERR_MISSING : ERR_IO, "NVML %s: %s", what,
		text ? text : "unknown error");
}

static int start(struct nvml *nvml, struct err *err)
{
	int answer = nvml->call.init();

	nvml->started = answer == ANSWER_OK;
	return nvml->started ? 0 : failed(nvml, "does not start", answer, err);
}

static void stop(struct nvml *nvml)
{
	if (nvml->started)
		nvml->call.shutdown();
	nvml->started = false;
}

int nvml_open(const char *library, struct nvml **out, struct err *err)
{
	struct nvml *nvml = mem_alloc(sizeof(*nvml));

	nvml->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!nvml->library) {
		free(nvml);
		return err_set(err, ERR_MISSING, "%s", dlerror());
	}
	if (find_symbols(nvml, library, err) < 0 || start(nvml, err) < 0) {
		nvml_close(nvml);
		return err->code;
	}
	if (nvml->call.driver_version(nvml->version, sizeof(nvml->version)) != ANSWER_OK)
		nvml->version[0] = '\0';
	*out = nvml;
	return 0;
}

void nvml_close(struct nvml *nvml)
{
	if (!nvml)
		return;
	stop(nvml);
	dlclose(nvml->library);
	free(nvml);
}

const char *nvml_version(const struct nvml *nvml)
{
	return nvml->version;
}

/* ---- listing */

/* What a GPU and an instance say alike. */
static bool describe(const struct nvml *nvml, handle gpu, struct nvml_gpu *out)
{
	struct memory_info memory;

	if (nvml->call.uuid(gpu, out->uuid, sizeof(out->uuid)) != ANSWER_OK ||
		nvml->call.name(gpu, out->name, sizeof(out->name)) != ANSWER_OK ||
		nvml->call.memory(gpu, &memory) != ANSWER_OK)
		return false;
	out->mem_bytes = (int64_t)memory.total;
	return true;
}

static bool is_split(const struct nvml *nvml, handle gpu)
{
	unsigned int now = 0, pending = 0;

	if (!nvml->call.mig_mode || !nvml->call.mig_most || !nvml->call.mig_by_index)
		return false;
	return nvml->call.mig_mode(gpu, &now, &pending) == ANSWER_OK && now == 1;
}

/* "NVIDIA A100-SXM4-40GB MIG 1g.5gb" is the product and the profile. */
static void split_name(struct nvml_gpu *instance)
{
	char *mig = strstr(instance->name, " MIG ");

	if (!mig) {
		snprintf(instance->profile, sizeof(instance->profile), "mig");
		return;
	}
	memmove(instance->profile, mig + 5, strlen(mig + 5) + 1);
	*mig = '\0';
}

static void list_instances(const struct nvml *nvml, handle gpu, const struct nvml_gpu *whole,
	struct nvml_gpus *out)
{
	unsigned int most = 0;

	if (nvml->call.mig_most(gpu, &most) != ANSWER_OK)
		return;
	for (unsigned int i = 0; i < most; i++) {
		struct nvml_gpu instance = *whole;
		handle mig;

		/* Numbers without an instance are "not found". */
		if (nvml->call.mig_by_index(gpu, i, &mig) != ANSWER_OK ||
			!describe(nvml, mig, &instance))
			continue;
		memcpy(instance.whole, whole->uuid, sizeof(instance.whole));
		split_name(&instance);
		vec_push(out, instance);
	}
}

static void list_one(const struct nvml *nvml, unsigned int index, struct nvml_gpus *out)
{
	struct nvml_gpu gpu = { 0 };
	struct pci_info pci;
	handle at;

	if (nvml->call.by_index(index, &at) != ANSWER_OK || nvml->call.pci(at, &pci) != ANSWER_OK ||
		!describe(nvml, at, &gpu)) {
		out->lost++;
		return;
	}
	gpu.domain = pci.domain;
	gpu.bus = pci.bus;
	gpu.device = pci.device;
	if (is_split(nvml, at))
		list_instances(nvml, at, &gpu, out);
	else
		vec_push(out, gpu);
}

static bool before(const struct nvml_gpu *a, const struct nvml_gpu *b)
{
	if (a->domain != b->domain)
		return a->domain < b->domain;
	return a->bus != b->bus ? a->bus < b->bus : a->device < b->device;
}

/* They nearly always are; instances of one GPU keep their order. */
static void sort_by_bus(struct nvml_gpus *gpus)
{
	for (uint32_t i = 1; i < gpus->n; i++) {
		struct nvml_gpu gpu = gpus->at[i];
		uint32_t k = i;

		for (; k > 0 && before(&gpu, &gpus->at[k - 1]); k--)
			gpus->at[k] = gpus->at[k - 1];
		gpus->at[k] = gpu;
	}
}

int nvml_list(struct nvml *nvml, bool anew, struct nvml_gpus *out, struct err *err)
{
	struct nvml_gpus gpus = { 0 };
	unsigned int n = 0;
	int answer;

	if (anew)
		stop(nvml);
	if (!nvml->started && start(nvml, err) < 0)
		return err->code;
	answer = nvml->call.count(&n);
	if (answer != ANSWER_OK)
		return failed(nvml, "does not count its GPUs", answer, err);
	for (unsigned int i = 0; i < n; i++)
		list_one(nvml, i, &gpus);
	sort_by_bus(&gpus);
	*out = gpus;
	return 0;
}

int nvml_busy(struct nvml *nvml, const char *uuid)
{
	struct use_info use;
	handle gpu;

	if (!nvml->started || !nvml->call.by_uuid || !nvml->call.busy ||
		nvml->call.by_uuid(uuid, &gpu) != ANSWER_OK || nvml->call.busy(gpu, &use) != ANSWER_OK)
		return -1;
	return (int)use.gpu;
}

/* ---- how two GPUs are joined */

enum { LINKS_MAX = 18, REMOTE_SWITCH = 2 };

/* The links of a GPU that lead to another, and those that lead to switches. */
struct link_count {
	uint8_t straight, switched;
	double Bps;
};

static bool leads_to(const struct nvml *nvml, handle gpu, unsigned int link, const struct pci_info *to)
{
	struct pci_info remote;

	return nvml->call.link_remote && nvml->call.link_remote(gpu, link, &remote) == ANSWER_OK &&
		remote.domain == to->domain && remote.bus == to->bus && remote.device == to->device;
}

static bool leads_to_switch(const struct nvml *nvml, handle gpu, unsigned int link)
{
	unsigned int kind;

	return nvml->call.link_remote_kind &&
		nvml->call.link_remote_kind(gpu, link, &kind) == ANSWER_OK && kind == REMOTE_SWITCH;
}

/* The first NVLinks were slower than all that came after. */
static double link_speed(const struct nvml *nvml, handle gpu, unsigned int link)
{
	unsigned int version;

	if (nvml->call.link_version && nvml->call.link_version(gpu, link, &version) == ANSWER_OK &&
		version == 1)
		return 20e9;
	return 25e9;
}

static struct link_count count_links(const struct nvml *nvml, handle gpu, handle other)
{
	struct link_count count = { .Bps = 25e9 };
	struct pci_info to;

	if (!nvml->call.link_state || nvml->call.pci(other, &to) != ANSWER_OK)
		return count;
	for (unsigned int link = 0; link < LINKS_MAX; link++) {
		unsigned int active = 0;

		if (nvml->call.link_state(gpu, link, &active) != ANSWER_OK || !active)
			continue;
		count.Bps = link_speed(nvml, gpu, link);
		if (leads_to_switch(nvml, gpu, link))
			count.switched++;
		else if (leads_to(nvml, gpu, link, &to))
			count.straight++;
	}
	return count;
}

static unsigned int generation(const struct nvml *nvml, handle gpu)
{
	unsigned int found = 0;

	if (!nvml->call.pcie_generation || nvml->call.pcie_generation(gpu, &found) != ANSWER_OK)
		return 0;
	return found < 8 ? found : 0;
}

static unsigned int smaller(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

struct nvml_pair nvml_pair(struct nvml *nvml, const char *a, const char *b)
{
	struct nvml_pair pair = { .ancestor = NVML_UNKNOWN };
	struct link_count there, back;
	unsigned int level;
	handle x, y;

	if (!nvml || !nvml->started || !nvml->call.by_uuid ||
		nvml->call.by_uuid(a, &x) != ANSWER_OK || nvml->call.by_uuid(b, &y) != ANSWER_OK)
		return pair;
	if (nvml->call.ancestor && nvml->call.ancestor(x, y, &level) == ANSWER_OK)
		pair.ancestor = (int)level;
	there = count_links(nvml, x, y);
	back = count_links(nvml, y, x);
	pair.links = (uint8_t)(there.straight + smaller(there.switched, back.switched));
	pair.link_Bps = there.Bps;
	pair.pcie_generation = smaller(generation(nvml, x), generation(nvml, y));
	return pair;
}
