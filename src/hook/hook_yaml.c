/*
 * Reading rules from YAML (doc/notify.md).
 *
 * Every value is loaded as text and read here, so that a wrong one is told with
 * its line and what is allowed.  What the text says comes first; the files and
 * programs it names are looked at afterwards, by hooks_read() alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/file.h"
#include "hook/event.h"
#include "hook/hook.h"
#include "io/yaml.h"

enum { FILE_MAX = 1 << 20 };

#define WEBHOOK_RETRIES 5
#define TIMEOUT_S 10.0
#define TIMEOUT_MIN_S 0.1
#define TIMEOUT_MAX_S 300.0

/* ---- the file as it is written: NULL where a value is left out or empty */

struct rule_text {
	char **on, **command;
	uint32_t non, ncommand;
	char *tenant, *user, *name, *webhook, *secret_file, *retries, *timeout_s;
};

struct rules_text {
	struct rule_text *rules;
	uint32_t nrules;
};

#define TEXT_FLAGS (CYAML_FLAG_POINTER_NULL_STR | CYAML_FLAG_OPTIONAL)
#define TEXT(field) \
	CYAML_FIELD_STRING_PTR(#field, TEXT_FLAGS, struct rule_text, field, 0, CYAML_UNLIMITED)
#define WORDS(field) \
	CYAML_FIELD_SEQUENCE_COUNT(#field, TEXT_FLAGS, struct rule_text, field, n##field, \
		&word_schema, 0, CYAML_UNLIMITED)

static const cyaml_schema_value_t word_schema = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED),
};

static const cyaml_schema_field_t rule_fields[] = {
	WORDS(on),
	TEXT(tenant),
	TEXT(user),
	TEXT(name),
	TEXT(webhook),
	TEXT(secret_file),
	WORDS(command),
	TEXT(retries),
	TEXT(timeout_s),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t rule_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct rule_text, rule_fields),
};

static const cyaml_schema_field_t rules_fields[] = {
	CYAML_FIELD_SEQUENCE_COUNT("rules", TEXT_FLAGS, struct rules_text, rules, nrules,
		&rule_schema, 0, CYAML_UNLIMITED),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t rules_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct rules_text, rules_fields),
};

/* ---- one rule */

struct reader {
	struct yaml yaml;
	struct hooks *hooks;
	uint32_t entry;
	struct err *err;
};

#define RULE(r) YAML_PATH({ "rules", 0 }, { NULL, (r)->entry })
#define FIELD(r, key) YAML_PATH({ "rules", 0 }, { NULL, (r)->entry }, { key, 0 })
#define WORD(r, key, i) \
	YAML_PATH({ "rules", 0 }, { NULL, (r)->entry }, { key, 0 }, { NULL, (uint32_t)(i) })

static bool is_clean(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 127)
			return false;
	}
	return true;
}

static char *keep(struct reader *r, const char *text)
{
	return text ? arena_strdup(&r->hooks->words, text) : NULL;
}

static bool is_event_name(const char *text)
{
	return *text && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") == strlen(text) &&
		strlen(text) < 64;
}

static int no_event_name(struct reader *r, const char *name, size_t i)
{
	struct buf known = { 0 };
	int rc;

	for (const struct event_name *e = event_names; e->name; e++)
		buf_printf(&known, "%s, ", e->name);
	rc = yaml_fail(&r->yaml, WORD(r, "on", i), r->err,
		"\"%.80s\" is no name of an event; there are %s" EVENT_ALL
		", and those of 'stint events'",
		name, known.at);
	buf_fini(&known);
	return rc;
}

/* One that is not known may come with another version; one that is nearly known is a slip. */
static int read_event(struct reader *r, struct hook *hook, const char *name, size_t i)
{
	const char *near;

	if (!is_event_name(name))
		return no_event_name(r, name, i);
	near = event_is_known(name) ? NULL : event_near(name);
	if (near)
		return yaml_fail(&r->yaml, WORD(r, "on", i), r->err,
			"there is no event \"%s\"; did you mean \"%s\"?", name, near);
	hook->on[hook->non++] = keep(r, name);
	return 0;
}

static int read_events(struct reader *r, struct hook *hook, const struct rule_text *text)
{
	if (!text->non)
		return yaml_fail(&r->yaml, RULE(r), r->err,
			"a rule says what it is told of, such as on: [failed, preempted]");
	hook->on = arena_array(&r->hooks->words, const char *, text->non + 1);
	for (uint32_t i = 0; i < text->non; i++) {
		if (read_event(r, hook, text->on[i], i) < 0)
			return r->err->code;
	}
	return 0;
}

static int read_who(struct reader *r, const char *field, const char *text, const char **out)
{
	if (text && !is_clean(text))
		return yaml_fail(&r->yaml, FIELD(r, field), r->err,
			"a name has no line ends, tabs or other control characters");
	*out = keep(r, text);
	return 0;
}

static int read_number(struct reader *r, const char *field, const char *text, double low,
	double high, double *out)
{
	if (text && (!slice_double(slice_of(text), out) || !(*out >= low && *out <= high)))
		return yaml_fail(&r->yaml, FIELD(r, field), r->err,
			"\"%.40s\" is no number from %g to %g", text, low, high);
	return 0;
}

/* ---- addresses */

static int bad_address(struct reader *r, const char *what)
{
	return yaml_fail(&r->yaml, FIELD(r, "webhook"), r->err,
		"%s; write an address such as https://hooks.example.org/stint or http://127.0.0.1:9000/",
		what);
}

static bool is_port(struct slice text)
{
	int64_t port;

	return slice_int(text, &port) && port > 0 && port < 65536 && text.n < 6;
}

/* What it is sent in: no spaces, quotes or backslashes, so that no header or option can be made of it. */
static bool is_address_text(const char *url)
{
	for (; *url; url++) {
		if (*url <= ' ' || *url > '~' || strchr("\"\\<>^`{|}", *url))
			return false;
	}
	return true;
}

static bool cut_host(struct slice *host, struct slice *port)
{
	const char *colon = memrchr(host->at, ':', host->n);
	bool six = host->n > 2 && host->at[0] == '[';

	if (six && host->at[host->n - 1] == ']')
		colon = NULL;
	if (colon) {
		*port = (struct slice){ colon + 1, (size_t)(host->at + host->n - colon) - 1 };
		host->n = (size_t)(colon - host->at);
	}
	if (six && host->n > 2 && host->at[host->n - 1] == ']')
		*host = (struct slice){ host->at + 1, host->n - 2 };
	else if (memchr(host->at, ':', host->n))
		return false;
	return host->n > 0 && host->n < 254 && is_port(*port);
}

static int read_address(struct reader *r, struct hook *hook, const char *url)
{
	struct slice host, port;
	size_t scheme, n;

	if (!is_address_text(url))
		return bad_address(r, "it has characters that no address has");
	hook->https = !strncmp(url, "https://", 8);
	if (!hook->https && strncmp(url, "http://", 7) != 0)
		return bad_address(r, "it begins with neither http:// nor https://");
	scheme = hook->https ? 8 : 7;
	n = strcspn(url + scheme, "/?#");
	host = (struct slice){ url + scheme, n };
	port = slice_of(hook->https ? "443" : "80");
	if (memchr(host.at, '@', host.n))
		return bad_address(r,
			"it has a user or password in it, which is not sent; sign with secret_file instead");
	if (!cut_host(&host, &port))
		return bad_address(r, "it has no host, or a wrong port");
	hook->webhook = keep(r, url);
	hook->host = arena_strndup(&r->hooks->words, host.at, host.n);
	hook->port = arena_strndup(&r->hooks->words, port.at, port.n);
	url += scheme + n;
	hook->path = arena_printf(&r->hooks->words, "%s%.*s", *url == '/' ? "" : "/",
		(int)strcspn(url, "#"), url);
	return 0;
}

/* ---- receivers */

static int read_command(struct reader *r, struct hook *hook, const struct rule_text *text)
{
	hook->command = arena_array(&r->hooks->words, const char *, text->ncommand + 1);
	for (uint32_t i = 0; i < text->ncommand; i++)
		hook->command[i] = keep(r, text->command[i]);
	if (!hook->command[0][0])
		return yaml_fail(&r->yaml, FIELD(r, "command"), r->err,
			"its first word is empty; it is the program to run");
	return 0;
}

static int read_receiver(struct reader *r, struct hook *hook, const struct rule_text *text)
{
	if (text->webhook && text->ncommand)
		return yaml_fail(&r->yaml, FIELD(r, "command"), r->err,
			"a rule has one receiver; write a second rule for this one");
	if (!text->webhook && !text->ncommand)
		return yaml_fail(&r->yaml, RULE(r), r->err,
			"a rule needs a receiver: webhook: ADDRESS, or command: [PROGRAM, ARGUMENT, …]");
	if (!text->webhook && text->secret_file)
		return yaml_fail(&r->yaml, FIELD(r, "secret_file"), r->err,
			"only what goes to a webhook is signed");
	hook->secret_file = keep(r, text->secret_file);
	return text->webhook ? read_address(r, hook, text->webhook) : read_command(r, hook, text);
}

static int read_rule(struct reader *r, struct hook *hook, const struct rule_text *text)
{
	double retries = text->webhook ? WEBHOOK_RETRIES : 0;

	hook->timeout_s = TIMEOUT_S;
	if (read_events(r, hook, text) < 0 || read_receiver(r, hook, text) < 0 ||
		read_who(r, "tenant", text->tenant, &hook->tenant) < 0 ||
		read_who(r, "user", text->user, &hook->user) < 0 ||
		read_who(r, "name", text->name, &hook->name) < 0 ||
		read_number(r, "retries", text->retries, 0, HOOK_RETRIES_MAX, &retries) < 0 ||
		read_number(r, "timeout_s", text->timeout_s, TIMEOUT_MIN_S, TIMEOUT_MAX_S,
			&hook->timeout_s) < 0)
		return r->err->code;
	hook->retries = (int)retries;
	return 0;
}

static int read_rules(struct reader *r)
{
	const struct rules_text *text = r->yaml.data;

	if (!text || !text->nrules)
		return yaml_fail(&r->yaml, YAML_PATH({ "rules", 0 }), r->err,
			"there are no rules; write rules: and below it - on: [failed] and a receiver");
	if (text->nrules > HOOKS_MAX)
		return yaml_fail(&r->yaml, YAML_PATH({ "rules", 0 }, { NULL, HOOKS_MAX }), r->err,
			"there are more than %d rules", HOOKS_MAX);
	r->hooks->at = arena_array(&r->hooks->words, struct hook, text->nrules);
	for (; r->entry < text->nrules; r->entry++) {
		if (read_rule(r, &r->hooks->at[r->entry], &text->rules[r->entry]) < 0)
			return r->err->code;
		r->hooks->n++;
	}
	return 0;
}

/* ---- what the text names */

/* Whether `mask` keeps a file from others, and it is ours or root's; else why not. */
static int check_private(struct reader *r, const char *field, const char *path,
	const struct stat *of, mode_t mask)
{
	if (!S_ISREG(of->st_mode))
		return yaml_fail(&r->yaml, FIELD(r, field), r->err, "%s is no file", path);
	if (of->st_uid != geteuid() && of->st_uid != 0)
		return yaml_fail(&r->yaml, FIELD(r, field), r->err,
			"%s belongs to somebody else (user %u)", path, (unsigned)of->st_uid);
	if (of->st_mode & mask)
		return yaml_fail(&r->yaml, FIELD(r, field), r->err,
			mask & 044 ? "%s can be read by others, so it is no secret: chmod 600 %s"
				   : "%s can be written by others, who would choose what runs: chmod go-w %s",
			path, path);
	return 0;
}

/* The descriptor of such a file. */
static int open_private(struct reader *r, const char *field, const char *path, mode_t mask, int *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat of;
	int rc;

	if (fd < 0 || fstat(fd, &of) < 0)
		rc = yaml_fail(&r->yaml, FIELD(r, field), r->err, "%s: %s", path, strerror(errno));
	else
		rc = check_private(r, field, path, &of, mask);
	if (rc == 0)
		*out = fd;
	else if (fd >= 0)
		close(fd);
	return rc;
}

static int take_secret(struct reader *r, struct hook *hook, const char *path, int fd)
{
	char bytes[HOOK_SECRET_MAX + 1];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	while (n > 0 && (bytes[n - 1] == '\n' || bytes[n - 1] == '\r'))
		n--;
	if (n <= 0 || n > HOOK_SECRET_MAX || memchr(bytes, '\0', (size_t)n))
		return yaml_fail(&r->yaml, FIELD(r, "secret_file"), r->err,
			"%s must hold one secret of 1 to %d characters, such as from: openssl rand -hex 32",
			path, HOOK_SECRET_MAX);
	hook->secret = arena_strndup(&r->hooks->words, bytes, (size_t)n);
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}

static int read_secret(struct reader *r, struct hook *hook, const char *rules)
{
	const char *slash = strrchr(rules, '/');
	int fd = -1, rc;

	if (hook->secret_file[0] != '/' && slash)
		hook->secret_file = arena_printf(&r->hooks->words, "%.*s/%s", (int)(slash - rules),
			rules, hook->secret_file);
	rc = open_private(r, "secret_file", hook->secret_file, 077, &fd);
	if (rc < 0)
		return rc;
	rc = take_secret(r, hook, hook->secret_file, fd);
	close(fd);
	return rc;
}

static int check_programs(struct reader *r, const struct hook *hook, const char *rules,
	const struct stat *of)
{
	if (hook->webhook && hook->https && !child_is_there("curl"))
		return yaml_fail(&r->yaml, FIELD(r, "webhook"), r->err,
			"https needs the program curl, which is not here: install it (apt install curl), or send to a proxy on http://127.0.0.1");
	if (hook->webhook)
		return 0;
	if (!child_is_there(hook->command[0]))
		return yaml_fail(&r->yaml, FIELD(r, "command"), r->err,
			"there is no program %.200s%s", hook->command[0],
			strchr(hook->command[0], '/') ? "" : " in $PATH; write its whole path");
	return check_private(r, "command", rules, of, 022);
}

static int look_around(struct reader *r, const char *rules, const struct stat *of)
{
	for (r->entry = 0; r->entry < r->hooks->n; r->entry++) {
		struct hook *hook = &r->hooks->at[r->entry];

		if (check_programs(r, hook, rules, of) < 0 ||
			(hook->secret_file && read_secret(r, hook, rules) < 0))
			return r->err->code;
	}
	return 0;
}

/* ---- all of it */

/* `of`: what the text was read from, which `where` is the path of; NULL: the text alone. */
static int read_all(const char *where, const struct stat *of, const char *text, size_t n,
	struct hooks *out, struct err *err)
{
	struct hooks hooks = { 0 };
	struct reader r = { .hooks = &hooks, .err = err };
	int rc = yaml_open(&r.yaml, where, text, n, &rules_schema, err);

	if (rc < 0)
		return rc;
	rc = read_rules(&r);
	if (rc == 0 && of)
		rc = look_around(&r, where, of);
	yaml_fini(&r.yaml);
	if (rc == 0)
		*out = hooks;
	else
		hooks_fini(&hooks);
	return rc;
}

int hooks_read_yaml(const char *where, const char *text, size_t n, struct hooks *out, struct err *err)
{
	return read_all(where, NULL, text, n, out, err);
}

int hooks_read(const char *path, struct hooks *out, struct err *err)
{
	struct file file;
	struct stat of;
	int rc = file_read_owned(path, FILE_MAX, &file, &of, err);

	if (rc < 0)
		return rc;
	rc = read_all(path, &of, file.at, file.n, out, err);
	file_fini(&file);
	return rc;
}

void hooks_fini(struct hooks *hooks)
{
	arena_fini(&hooks->words);
	*hooks = (struct hooks){ 0 };
}

void hook_receiver(const struct hook *hook, struct buf *out)
{
	bool six = hook->webhook && strchr(hook->host, ':');

	if (!hook->webhook)
		buf_str(out, hook->command[0]);
	else
		buf_printf(out, "%s://%s%s%s:%s", hook->https ? "https" : "http", six ? "[" : "",
			hook->host, six ? "]" : "", hook->port);
}
