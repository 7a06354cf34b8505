/*
 * A daemon from the command line: the loop, its face, and the words on the way up
 * and down.
 */
#include "cli/serve.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/listen.h"
#include "api/server.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/notify.h"
#include "cli/programs.h"
#include "cli/live.h"
#include "cli/rules.h"
#include "cli/ui.h"
#include "daemon/daemon.h"
#include "daemon/limits.h"
#include "daemon/output_caps.h"
#include "daemon/roles.h"
#include "hook/event.h"
#include "hook/notifier.h"

#define NOTIFY_LINGER_S 2.0 /* a daemon that stops sends so long what is not sent yet */

/* ---- what stands behind the face */

static void back_call(void *self, const struct verb *verb, const struct caller *caller,
	json_t *args, daemon_answer *answer, void *ctx)
{
	daemon_call(self, verb, caller, args, answer, ctx);
}

static void back_metrics(void *self, struct buf *out)
{
	daemon_metrics(self, out);
}

static bool back_healthy(void *self, struct buf *out)
{
	return daemon_healthy(self, out);
}

static void back_count(void *self, const char *route, int status)
{
	daemon_count(self, route, status);
}

static enum role back_role(void *self, uid_t uid)
{
	return daemon_role(self, uid);
}

static void back_audit(void *self, const struct audit_entry *entry)
{
	daemon_audit(self, entry);
}

/* ---- starting */

struct places {
	char *state, *socket, *guard, *runs; /* runs: NULL as a rule */
};

/* Guards and jobs work in directories of their own.  Takes `path`. */
static char *absolute(char *path)
{
	char here[PATH_MAX], *whole;

	if (path[0] == '/' || !getcwd(here, sizeof(here)))
		return path;
	whole = path_join(here, path);
	free(path);
	return whole;
}

static int find_places(const struct args *args, const struct serve_world *world, struct places *out,
	struct err *err)
{
	out->state = absolute(live_state_dir(args->state, args->system));
	out->socket = absolute(live_socket(args->socket, out->state, args->system));
	if (args->runs)
		out->runs = absolute(mem_strdup(args->runs));
	out->guard = guard_find();
	if (!out->guard && !world->slurm)
		return err_set(err, ERR_MISSING,
			"stint-guard, the parent of every job, is not beside this program; install Stint whole, or name it with $STINT_GUARD");
	return 0;
}

static void free_places(struct places *places)
{
	free(places->state);
	free(places->socket);
	free(places->guard);
	free(places->runs);
}

/* Checks a rule and spells it in full; NULL where none was named. */
static int full_rule(const struct rule_kind *kind, const char *text, struct chosen *out, struct err *err)
{
	*out = (struct chosen){ 0 };
	return text ? rule_choose(kind, text, out, err) : 0;
}

struct rules_named {
	struct chosen policy, placer, admit;
};

static int name_rules(const struct args *args, struct rules_named *out, struct err *err)
{
	const char *policy = args->policy.n ? args->policy.at[args->policy.n - 1] : NULL;
	const char *placer = args->placer.n ? args->placer.at[args->placer.n - 1] : NULL;

	if (full_rule(&rules_policy, policy, &out->policy, err) < 0 ||
		full_rule(&rules_placer, placer, &out->placer, err) < 0)
		return err->code;
	return full_rule(&rules_admission, args->admit, &out->admit, err);
}

/* NULL: none.  A daemon for all users has a port only where one was asked for. */
static const char *http_address(const struct args *args)
{
	if (args->no_http || (args->system && !args->listen && !args->port))
		return NULL;
	return args->listen ? args->listen : "127.0.0.1";
}

/* `given`: a socket of systemd's, or -1. */
static int start_server(const struct args *args, const struct places *places, struct daemon *daemon,
	int given, struct server **out, struct err *err)
{
	struct api_back back = {
		.self = daemon,
		.verbs = verbs,
		.call = back_call,
		.stream = daemon_stream(daemon),
		.metrics = back_metrics,
		.healthy = back_healthy,
		.role = back_role,
		.count = back_count,
		.audit = back_audit,
	};
	struct server_config config = {
		.socket = places->socket,
		.state_dir = places->state,
		.address = http_address(args),
		.given = args->no_http || given < 0 ? 0 : given,
		.port = (uint16_t)args->port,
		.exposed = args->expose,
		.new_token = args->new_token,
		.system = args->system,
	};

	return server_start(&config, &back, out, err);
}

/* For whoever starts it from a program. */
static void print_ready(const struct places *places, const char *address, uint16_t port)
{
	struct buf text = { 0 };
	struct err ignored = { 0 };
	struct json j;

	json_init(&j, &text, false);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "ready/1");
	json_int(&j, "pid", getpid());
	json_str(&j, "state", places->state);
	json_str(&j, "socket", places->socket);
	if (port) {
		json_str(&j, "address", address);
		json_int(&j, "port", port);
	}
	json_end(&j, '}');
	ui_print(&text, &ignored);
	fflush(stdout);
	buf_fini(&text);
}

static void say_hello(const struct args *args, const struct places *places,
	const struct server *server, struct log *log)
{
	if (args->json)
		print_ready(places, server_address(server), server_port(server));
	log_notice(log, "ready: state in %s, socket %s", places->state, places->socket);
	if (!server_port(server))
		return;
	if (server_was_unclean(server))
		log_notice(log,
			"the last daemon did not stop cleanly, so another program may have seen what was sent to its port: the tokens are new");
	if (server_lost_port(server))
		log_warning(log,
			"another program has port %u, which was the daemon's: the port is %u now and the tokens are new",
			server_lost_port(server), server_port(server));
	if (server_takes_token(server))
		log_notice(log,
			"HTTP on http://%s:%u, token in %s/token, for reading only in token.read; 'stint open' prints an address that logs in",
			server_address(server), server_port(server), places->state);
	else
		log_notice(log,
			"HTTP on http://%s:%u, to be read with the token in %s/token.read; 'stint open' prints an address that logs in",
			server_address(server), server_port(server), places->state);
}

/* The socket's own directory; that of the state is the daemon's to make. */
static int make_socket_dir(const struct places *places, bool system, struct err *err)
{
	char *dir = mem_strdup(places->socket), *slash = strrchr(dir, '/');
	int rc = 0;

	if (slash && slash != dir) {
		*slash = 0;
		if (mkdir(dir, system ? 0755 : 0700) < 0 && errno != EEXIST)
			rc = err_set(err, ERR_IO, "cannot make %s for the socket: %s", dir,
				strerror(errno));
	}
	free(dir);
	return rc;
}

static void back_notified(void *self, const char *result)
{
	daemon_notified(self, result);
}

/* Rules that wait for what this daemon never tells are no error: another version may. */
static void say_unknown(const struct hooks *hooks, struct log *log)
{
	for (uint32_t i = 0; i < hooks->n; i++) {
		for (size_t k = 0; k < hooks->at[i].non; k++) {
			if (!event_is_known(hooks->at[i].on[k]))
				log_warning(log,
					"notifications: rule %u waits for '%s', which is not known by name",
					i + 1, hooks->at[i].on[k]);
		}
	}
}

static int start_notifier(struct hooks *hooks, struct daemon *daemon, struct log *log,
	struct notifier **out, struct err *err)
{
	struct notifier_config config = {
		.stream = daemon_stream(daemon),
		.log = log,
		.count = back_notified,
		.ctx = daemon,
		.linger_s = NOTIFY_LINGER_S,
	};

	*out = NULL;
	if (!hooks->n)
		return 0;
	say_unknown(hooks, log);
	log_notice(log, "notifications by %u rule%s", hooks->n, hooks->n == 1 ? "" : "s");
	return notifier_start(&config, hooks, out, err);
}

static int serve(const struct args *args, const struct places *places, struct hooks *hooks,
	struct daemon *daemon, struct log *log, struct err *err)
{
	struct notifier *notifier = NULL;
	struct notify notify;
	struct server *server;
	int given, rc;

	if (notify_open(&notify, err) < 0)
		log_warning(log, "%s", err->text);
	*err = (struct err){ 0 };
	rc = tcp_given(&given, err);
	if (rc == 0)
		rc = make_socket_dir(places, args->system, err);
	if (rc == 0)
		rc = start_notifier(hooks, daemon, log, &notifier, err);
	if (rc == 0)
		rc = start_server(args, places, daemon, given, &server, err);
	if (rc == 0) {
		say_hello(args, places, server, log);
		notify_ready(&notify);
		daemon_beat(daemon, &notify);
		rc = daemon_run(daemon, err);
		notify_stopping(&notify);
		server_stop(server);
	}
	notifier_stop(notifier);
	notify_close(&notify);
	return rc;
}

static int open_and_serve(const struct args *args, const struct places *places,
	const struct rules_named *rules, const struct idle_rule *idle,
	const struct output_caps *output, struct roles *roles, const struct serve_world *world,
	struct hooks *hooks, struct log *log, struct err *err)
{
	struct daemon_config config = {
		.state_dir = places->state,
		.guard = places->guard,
		.program = "/proc/self/exe", /* this very file, also after another was installed */
		.socket = places->socket,
		.policy = world->observe ? "observed" : rules->policy.full,
		.placer = rules->placer.full,
		.admit = rules->admit.full,
		.tenants = args->tenants,
		.limits = args->limits,
		.roles = roles,
		.host_profiles = args->host_profiles,
		.runs = places->runs,
		.seed = (uint64_t)args->seed,
		.forecast_every_s = args->forecast_every,
		.machine = { .no_gpus = args->no_gpus, .slots = (int32_t)args->slots },
		.care = { .avoid_after = (int32_t)args->avoid_after,
			.drain_after = (int32_t)args->drain_after,
			/* No user alone may take devices from the others. */
			.drain_users = args->system ? 2 : 1 },
		.idle = *idle,
		.output = output,
		.slurm = world->slurm,
		.observe = world->observe,
		.shadow = world->observe ? rules->policy.full : NULL,
		.shadow_every_s = args->shadow_every,
		.born_s = world->born_s,
		.keep_s = args->keep_s,
		.cgroups = !args->no_cgroups,
		.system = args->system,
		.log = log,
	};
	struct daemon *daemon;
	int rc = daemon_open(&config, &daemon, err);

	if (rc < 0)
		return rc;
	if (world->opened)
		rc = world->opened(world->ctx, daemon, err);
	if (rc == 0)
		rc = serve(args, places, hooks, daemon, log, err);
	daemon_close(daemon);
	log_notice(log,
		world->observe ? "stopped; Slurm goes on as it did"
			       : "stopped; jobs that ran go on, and the next daemon takes them over");
	return rc;
}

int serve_daemon(const struct args *args, const struct serve_world *world, struct err *err)
{
	struct rules_named rules = { 0 };
	struct places places = { 0 };
	struct hooks hooks = { 0 };
	struct idle_rule idle = { 0 };
	struct limits limits;
	struct output_caps output;
	struct roles *roles = NULL;
	enum log_level level = LEVEL_NOTICE;
	struct log log;
	int rc;

	if (args->system && geteuid() != 0)
		return err_set(err, ERR_REFUSED,
			"--system runs jobs as whoever submits them, which only root can");
	if (args->log_level && !log_level_of(args->log_level, &level))
		return err_set(err, ERR_USAGE,
			"--log-level %s: error, warning, notice, info or debug", args->log_level);
	if (args->idle && idle_rule_parse(args->idle, &idle, err) < 0)
		return err_prefix(err, "--idle");
	if (args->roles && !args->system)
		return err_set(err, ERR_USAGE,
			"--roles goes with --system: the daemon of one user serves that user and root only");
	if (limits_parse(args->limits, &limits, err) < 0)
		return err_prefix(err, "--limits");
	if (output_caps_parse(args->output_cap, args->output_reserve, args->output_total, &output,
		    err) < 0) {
		limits_fini(&limits);
		return err->code;
	}
	log_init(&log, STDERR_FILENO, args->quiet ? LEVEL_WARNING : level);
	limits_warn(&limits, &log);
	limits_fini(&limits);
	rc = name_rules(args, &rules, err);
	if (rc == 0 && args->roles && roles_parse(args->roles, &roles, err) < 0)
		rc = err_prefix(err, "--roles");
	if (rc == 0)
		rc = find_places(args, world, &places, err);
	if (rc == 0 && args->notify)
		rc = hooks_read(args->notify, &hooks, err);
	if (rc == 0)
		rc = open_and_serve(args, &places, &rules, &idle, &output, roles, world, &hooks,
			&log, err);
	roles_destroy(roles);
	output_caps_fini(&output);
	hooks_fini(&hooks);
	free_places(&places);
	chosen_fini(&rules.policy);
	chosen_fini(&rules.placer);
	chosen_fini(&rules.admit);
	log_fini(&log);
	return rc;
}

const struct flag_group serve_flags_place = {
	.title = "where",
	.flags =
		(const struct flag[]){
			TEXT(state, "DIR",
				"directory of the record and of jobs' output; else $STINT_STATE, else ~/.local/state/stint"),
			TEXT(socket, "PATH",
				"unix socket; else $STINT_SOCKET, else in $XDG_RUNTIME_DIR/stint or the state directory"),
			TEXT(listen, "ADDRESS",
				"address of the HTTP port (127.0.0.1; with --system none unless --listen or --port is given)"),
			NUMBER(port, FLAG_INT, "PORT", 0, 0, 65535,
				"HTTP port; 0: that of the last run, else any that is free, see DIR/address"),
			SWITCH(no_http, "unix socket only"),
			TEXT(output_cap, "SIZE",
				"most output kept of a job, beyond which its middle is cut; other caps by tenant: 10G,nlp=50G; none: no cap (10G)"),
			TEXT(output_total, "SIZE",
				"most output kept of all jobs of a tenant together, as 200G or 50% of the disk, beyond which it is cut; others by tenant: 50%,nlp=2T; none: no cap (50 %)"),
			TEXT(output_reserve, "SIZE",
				"space of the disk, as 2G or 10%, that kept output leaves free (5 %, at most 1G)"),
			TEXT(runs, "DIR", "simulator results that the page shows (STATE/runs)"),
			SWITCH(expose,
				"allow --listen on an address that other machines reach; the token is sent in the clear"),
			SWITCH(new_token, "make a new token; the old one is void"),
			SWITCH(system,
				"serve every user of the machine: each job runs as the user who submitted it (root only)"),
			{ .name = "keep",
				.kind = FLAG_SECONDS,
				.offset = offsetof(struct args, keep_s),
				.value = "TIME",
				.min = 0,
				.max = 1e10,
				.preset = 0,
				.unit = true,
				.help = "prune what ended longer ago, such as 90d, once 'stint db prune' was confirmed; 0: keep all (default)" },
			{ 0 },
		},
};

const struct flag_group serve_flags_rules = {
	.title = "who decides",
	.flags =
		(const struct flag[]){
			LIST(policy, "SPEC",
				"policy with options, e.g. tiresias:limit_s=600; else as before, else " DAEMON_POLICY),
			LIST(placer, "SPEC",
				"rule that picks the devices; else as before, else first-fit"),
			TEXT(admit, "SPEC", "admission; else as before, else all"),
			TEXT(tenants, "FILE", TENANTS_HELP " (doc/formats.md); else as before"),
			TEXT(host_profiles, "FILE",
				"what CPUs and memory do to models' speeds (doc/hosts.md); else as before"),
			NUMBER(seed, FLAG_INT, "N", 0, 0, 9e15,
				"random seed, for policies that draw at random"),
			NUMBER(forecast_every, FLAG_SECONDS, "TIME", 30, 0, 1e6,
				"how often starts and ends are forecast; 0: only when asked (default 30)"),
			{ 0 },
		},
};

const struct flag_group serve_flags_output = {
	.title = "messages",
	.flags =
		(const struct flag[]){
			TEXT(log_level, "LEVEL", "error, warning, notice (default), info, debug"),
			TEXT(notify, "FILE",
				"rules for webhooks and commands that are called on events (doc/notify.md)"),
			SWITCH(json, "when ready, one line of JSON on standard output: where it listens"),
			SWITCH(quiet, "warnings and errors only"),
			{ 0 },
		},
};
