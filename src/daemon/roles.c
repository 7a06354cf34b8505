#include "daemon/roles.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"

enum {
	WORD_MAX = 128,
	ROLES_MAX_BYTES = 1 << 20,
	KNOWN = 1024,
	ENTRY_BYTES = 16 * 1024, /* of a user or group, at first */
	ENTRY_MAX_BYTES = 4 << 20,
	GROUPS_MAX = 65536,
};

static const struct {
	const char *name, *meaning;
	int rank;
} roles_known[] = {
	[ROLE_NONE] = { "none", "nothing", 0 },
	[ROLE_READ] = { "read", "sees the queue, nodes and reports; changes nothing", 1 },
	[ROLE_USER] = { "user", "submits jobs, and changes its own", 2 },
	[ROLE_OPERATOR] = { "operator", "changes jobs of all users, drains and resumes devices", 3 },
	[ROLE_ADMIN] = { "admin",
		"everything: policy, quotas, the record, output of all jobs, the audit", 4 },
};

const char *role_name(enum role role)
{
	return roles_known[role].name;
}

const char *role_meaning(enum role role)
{
	return roles_known[role].meaning;
}

int role_rank(enum role role)
{
	return roles_known[role].rank;
}

/* ---- users and groups of the system */

/* 0: found; ENOENT: there is none; else what went wrong. */
static int find_user(const char *name, uid_t uid, uid_t *out, gid_t *group, char **name_out)
{
	size_t n = ENTRY_BYTES;
	struct passwd entry, *found = NULL;
	char *words = mem_alloc(n);
	int rc;

	for (;;) {
		rc = name ? getpwnam_r(name, &entry, words, n, &found)
			  : getpwuid_r(uid, &entry, words, n, &found);
		if (rc != ERANGE || n >= ENTRY_MAX_BYTES)
			break;
		words = mem_resize(words, n *= 2);
	}
	if (found) {
		*out = entry.pw_uid;
		*group = entry.pw_gid;
		if (name_out)
			*name_out = mem_strdup(entry.pw_name);
	}
	free(words);
	return found ? 0 : rc ? rc : ENOENT;
}

static int find_group(const char *name, gid_t *out)
{
	size_t n = ENTRY_BYTES;
	struct group entry, *found = NULL;
	char *words = mem_alloc(n);
	int rc;

	for (;;) {
		rc = getgrnam_r(name, &entry, words, n, &found);
		if (rc != ERANGE || n >= ENTRY_MAX_BYTES)
			break;
		words = mem_resize(words, n *= 2);
	}
	if (found)
		*out = entry.gr_gid;
	free(words);
	return found ? 0 : rc ? rc : ENOENT;
}

typedef VEC(gid_t) gids;

/* A user without a name is in no group.  Not 0: it cannot be told. */
static int groups_of(uid_t uid, gids *out)
{
	int rc, n = 64, most = n;
	char *name = NULL;
	gid_t group;

	rc = find_user(NULL, uid, &uid, &group, &name);
	if (rc)
		return rc == ENOENT ? 0 : rc;
	vec_reserve(out, (size_t)n);
	while (getgrouplist(name, group, out->at, &n) < 0 && most < GROUPS_MAX) {
		most = n = n > most ? n : 2 * most;
		vec_reserve(out, (size_t)n);
	}
	out->n = (size_t)(n < most ? n : most);
	free(name);
	return 0;
}

/* ---- rules */

enum role_subject { OF_USER, OF_GROUP, OF_ALL };

struct role_rule {
	enum role role;
	enum role_subject of;
	uint32_t id;
	char who[WORD_MAX]; /* as it was written, "@ops" */
	char why[WORD_MAX + 64];
};

struct role_known {
	bool known;
	uid_t uid;
	double until_s;
	enum role role;
	const char *why;
};

struct roles {
	VEC(struct role_rule) rules;
	bool groups; /* there are rules for groups */
	pthread_mutex_t lock;
	struct role_known known[KNOWN]; /* where there are; by uid */
};

static bool read_role(struct slice text, enum role *out)
{
	for (size_t i = 0; i < sizeof(roles_known) / sizeof(*roles_known); i++) {
		if (i != ROLE_NONE && slice_is(text, roles_known[i].name)) {
			*out = (enum role)i;
			return true;
		}
	}
	return false;
}

/* A name, or a number that is no name. */
static int resolve(struct role_rule *rule, struct err *err)
{
	const char *name = rule->who + (rule->of == OF_GROUP);
	const char *what = rule->of == OF_GROUP ? "group" : "user";
	int64_t number;
	gid_t group = 0;
	uid_t user = 0;
	int rc;

	if (rule->of == OF_ALL)
		return 0;
	rc = rule->of == OF_GROUP ? find_group(name, &group) : find_user(name, 0, &user, &group, NULL);
	rule->id = rule->of == OF_GROUP ? group : user;
	if (rc && slice_int(slice_of(name), &number) && number >= 0 && number < UINT32_MAX) {
		rule->id = (uint32_t)number;
		rc = 0;
	}
	if (rc == ENOENT)
		return err_set(err, ERR_USAGE,
			"this system has no %s '%s'; a number works without a name, and 'getent %s %s' shows what the system knows",
			what, name, rule->of == OF_GROUP ? "group" : "passwd", name);
	if (rc)
		return err_set(err, ERR_IO, "%s '%s' cannot be looked up: %s", what, name,
			strerror(rc));
	if (rule->of == OF_USER && (rule->id == 0 || rule->id == geteuid()) && rule->role != ROLE_ADMIN)
		return err_set(err, ERR_USAGE,
			"%s: root and the daemon's own user are always admin", name);
	return 0;
}

static int read_rule(struct roles *roles, struct slice text, struct err *err)
{
	struct slice who = text, role = slice_trim(slice_cut(&who, ':'));
	struct role_rule rule = { 0 };

	who = slice_trim(who);
	if (!read_role(role, &rule.role) || !who.n || who.n >= sizeof(rule.who) ||
		memchr(who.at, ':', who.n) || (who.at[0] == '@' && who.n == 1))
		return err_set(err, ERR_USAGE,
			"'%.*s' is not understood; write ROLE:USER, ROLE:@GROUP or ROLE:* with a role of read, user, operator and admin, joined by commas, or the path of a file of such rules",
			(int)text.n, text.at);
	snprintf(rule.who, sizeof(rule.who), "%.*s", (int)who.n, who.at);
	snprintf(rule.why, sizeof(rule.why), "--roles %s:%s", role_name(rule.role), rule.who);
	rule.of = who.at[0] == '@' ? OF_GROUP : slice_is(who, "*") ? OF_ALL : OF_USER;
	if (resolve(&rule, err) < 0)
		return err->code;
	for (size_t i = 0; i < roles->rules.n; i++) {
		const struct role_rule *other = &roles->rules.at[i];

		if (other->of == rule.of && other->id == rule.id && other->role != rule.role)
			return err_set(err, ERR_USAGE, "%s has two roles, %s and %s", rule.who,
				role_name(other->role), role_name(rule.role));
	}
	roles->groups |= rule.of == OF_GROUP;
	vec_push(&roles->rules, rule);
	return 0;
}

static int read_line(struct roles *roles, struct slice line, struct err *err)
{
	while (line.n) {
		struct slice rule = slice_trim(slice_cut(&line, ','));

		if (read_rule(roles, rule, err) < 0)
			return err->code;
	}
	return 0;
}

/* A file that another user may write would let that user in. */
static int check_owner(const struct stat *of, struct err *err)
{
	if ((of->st_uid == 0 || of->st_uid == geteuid()) && !(of->st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return err_set(err, ERR_REFUSED,
		"rules of roles must be a file that only root can write: chown root and chmod go-w");
}

static int read_file(struct roles *roles, const char *path, struct err *err)
{
	struct slice line;
	struct lines lines;
	struct file file;
	struct stat of;
	int rc = file_read_owned(path, ROLES_MAX_BYTES, &file, &of, err);

	if (rc < 0)
		return rc;
	rc = check_owner(&of, err);
	if (rc < 0)
		err_prefix(err, "%s", path);
	lines = lines_of(file.at, file.n);
	while (rc == 0 && lines_next(&lines, &line)) {
		rc = read_line(roles, slice_trim(slice_cut(&line, '#')), err);
		if (rc < 0)
			err_prefix(err, "%s:%zu", path, lines.number);
	}
	file_fini(&file);
	return rc;
}

int roles_parse(const char *text, struct roles **out, struct err *err)
{
	struct roles *roles = mem_alloc(sizeof(*roles));
	int rc;

	pthread_mutex_init(&roles->lock, NULL);
	*out = roles;
	rc = strchr(text, '/') ? read_file(roles, text, err) : read_line(roles, slice_of(text), err);
	if (rc == 0 && !roles->rules.n)
		rc = err_set(err, ERR_USAGE, "there is no rule; write ROLE:USER or ROLE:@GROUP");
	if (rc < 0) {
		roles_destroy(roles);
		*out = NULL;
	}
	return rc;
}

void roles_destroy(struct roles *roles)
{
	if (!roles)
		return;
	vec_fini(&roles->rules);
	pthread_mutex_destroy(&roles->lock);
	free(roles);
}

/* ---- the role of a user */

static const struct role_rule *rule_of(const struct roles *roles, enum role_subject of, uint32_t id)
{
	for (size_t i = 0; i < roles->rules.n; i++) {
		const struct role_rule *rule = &roles->rules.at[i];

		if (rule->of == of && (of == OF_ALL || rule->id == id))
			return rule;
	}
	return NULL;
}

static bool has(const gids *groups, gid_t gid)
{
	for (size_t i = 0; i < groups->n; i++) {
		if (groups->at[i] == gid)
			return true;
	}
	return false;
}

/* The rule for one of the groups that allows most; NULL: none. */
static const struct role_rule *group_rule(const struct roles *roles, const gids *groups)
{
	const struct role_rule *best = NULL;

	for (size_t i = 0; i < roles->rules.n; i++) {
		const struct role_rule *rule = &roles->rules.at[i];

		if (rule->of == OF_GROUP && has(groups, rule->id) &&
			(!best || role_rank(rule->role) > role_rank(best->role)))
			best = rule;
	}
	return best;
}

/* What all rules for groups leave to a user whose groups cannot be looked up. */
static enum role least(const struct roles *roles, enum role role)
{
	for (size_t i = 0; i < roles->rules.n; i++) {
		const struct role_rule *rule = &roles->rules.at[i];

		if (rule->of == OF_GROUP && role_rank(rule->role) < role_rank(role))
			role = rule->role;
	}
	return role;
}

static struct role_known look_up(const struct roles *roles, uid_t uid, double now_s)
{
	const struct role_rule *all = rule_of(roles, OF_ALL, 0), *rule;
	struct role_known known = {
		.known = true,
		.uid = uid,
		.until_s = now_s + ROLES_KEPT_S,
		.role = all ? all->role : ROLE_USER,
		.why = all ? all->why : "no rule of --roles names this user",
	};
	gids groups = { 0 };

	if (roles->groups && groups_of(uid, &groups) != 0) {
		known.role = least(roles, known.role);
		known.why = "the system cannot say which groups this user is in";
		known.until_s = now_s + 1;
	}
	rule = group_rule(roles, &groups);
	if (rule) {
		known.role = rule->role;
		known.why = rule->why;
	}
	vec_fini(&groups);
	return known;
}

static struct role_known find_known(struct roles *roles, uid_t uid)
{
	struct role_known *slot = &roles->known[uid % KNOWN], found;
	double now_s = clock_boot_s();

	pthread_mutex_lock(&roles->lock);
	found = *slot;
	pthread_mutex_unlock(&roles->lock);
	if (found.known && found.uid == uid && found.until_s > now_s)
		return found;
	found = look_up(roles, uid, now_s); /* without the lock: a directory service may be slow */
	pthread_mutex_lock(&roles->lock);
	*slot = found;
	pthread_mutex_unlock(&roles->lock);
	return found;
}

enum role roles_of(struct roles *roles, uid_t uid, const char **why)
{
	const struct role_rule *rule;
	struct role_known known;
	const char *ignored = NULL;

	why = why ? why : &ignored;
	if (uid == 0 || uid == geteuid()) {
		*why = uid == 0 ? "root is always admin" : "the daemon runs as this user";
		return ROLE_ADMIN;
	}
	if (!roles) {
		*why = "every user of this machine has it";
		return ROLE_USER;
	}
	rule = rule_of(roles, OF_USER, uid);
	if (rule) {
		*why = rule->why;
		return rule->role;
	}
	known = find_known(roles, uid);
	*why = known.why;
	return known.role;
}

void roles_put(const struct roles *roles, const char *key, struct json *j)
{
	json_begin_array(j, key);
	for (size_t i = 0; roles && i < roles->rules.n; i++) {
		const struct role_rule *rule = &roles->rules.at[i];

		json_begin_object(j, NULL);
		json_str(j, "role", role_name(rule->role));
		json_str(j, "who", rule->who);
		if (rule->of != OF_ALL)
			json_int(j, rule->of == OF_GROUP ? "gid" : "uid", rule->id);
		json_end(j, '}');
	}
	json_end(j, ']');
}
