#include "api/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/members.h"
#include "base/text.h"

enum { GROUPS_MAX = 1024, LINKS_MAX = 16 };

void log_place_read(struct log_place *place, const json_t *said)
{
	const char *path = member_text(said, "path");

	*place = (struct log_place){
		.path = path ? mem_strdup(path) : NULL,
		.named = member_bool(said, "named", false),
		.uid = (uid_t)member_int(said, "uid", 0),
		.gid = (gid_t)member_int(said, "gid", 0),
	};
}

void log_place_copy(struct log_place *to, const struct log_place *from)
{
	*to = *from;
	to->path = from->path ? mem_strdup(from->path) : NULL;
}

void log_place_fini(struct log_place *place)
{
	free(place->path);
	*place = (struct log_place){ 0 };
}

/* ---- as another user, in this thread alone */

struct disguise {
	gid_t groups[GROUPS_MAX];
	int ngroups;
	bool on;
};

/* glibc's setgroups() is for all threads; the kernel's is for one. */
static bool set_groups(int n, const gid_t *groups)
{
	return syscall(SYS_setgroups, n, groups) == 0;
}

static int groups_of(uid_t uid, gid_t gid, gid_t *out)
{
	struct passwd entry, *user = NULL;
	char words[4096];
	int n = GROUPS_MAX;

	out[0] = gid;
	if (getpwuid_r(uid, &entry, words, sizeof(words), &user) != 0 || !user ||
		getgrouplist(user->pw_name, gid, out, &n) < 0)
		return 1;
	return n;
}

static void take_off(struct disguise *d)
{
	if (!d->on)
		return;
	setfsuid(geteuid());
	setfsgid(getegid());
	/* A thread that cannot be itself again must not go on. */
	if ((uid_t)setfsuid((uid_t)-1) != geteuid() || !set_groups(d->ngroups, d->groups))
		abort();
	d->on = false;
}

/* From here on files are opened with the user's rights and no others.  False: it cannot be. */
static bool put_on(struct disguise *d, uid_t uid, gid_t gid)
{
	gid_t groups[GROUPS_MAX];
	int n = groups_of(uid, gid, groups);

	d->ngroups = getgroups(GROUPS_MAX, d->groups);
	if (d->ngroups < 0 || !set_groups(n, groups))
		return false;
	d->on = true;
	setfsgid(gid);
	setfsuid(uid);
	if ((uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == gid)
		return true;
	take_off(d);
	return false;
}

/* ---- the way there */

/* Only root can have made it, and nobody else can put it elsewhere. */
static bool is_roots_link(int dir, const char *name)
{
	struct stat link, in;

	return fstatat(dir, name, &link, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(link.st_mode) &&
		link.st_uid == 0 && fstat(dir, &in) == 0 && in.st_uid == 0 &&
		(!(in.st_mode & 022) || in.st_mode & S_ISVTX);
}

/* Puts what the link says in front of `rest`, which is malloc'ed anew; false: no such link is followed. */
static bool follow_link(int dir, const char *name, char **rest)
{
	char target[PATH_MAX], *whole;
	ssize_t n;

	if (!is_roots_link(dir, name))
		return false;
	n = readlinkat(dir, name, target, sizeof(target) - 1);
	if (n <= 0 || n >= (ssize_t)sizeof(target) - 1)
		return false;
	target[n] = '\0';
	whole = mem_printf("%s/%s", target, *rest);
	free(*rest);
	*rest = whole;
	return true;
}

/* The first name of the path, cut off its front: false if it is the last. */
static bool cut_name(char *path, char *name, size_t size)
{
	char *slash = strchr(path, '/');

	if (!slash)
		return false;
	*slash = '\0';
	snprintf(name, size, "%s", path);
	memmove(path, slash + 1, strlen(slash + 1) + 1);
	return true;
}

static int open_root(void)
{
	return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* As open(path, O_PATH | O_NOFOLLOW), but through no link that is not root's. */
static int walk(const char *path)
{
	char *rest = mem_strdup(path), name[NAME_MAX + 2];
	int dir = open_root(), links = 0, found = -1;

	while (dir >= 0 && cut_name(rest, name, sizeof(name))) {
		int next;

		if (!*name) /* a leading slash, or two */
			continue;
		next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 && ++links <= LINKS_MAX && follow_link(dir, name, &rest))
			next = *rest == '/' ? open_root() : dup(dir);
		close(dir);
		dir = next;
	}
	if (dir >= 0)
		found = openat(dir, rest, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0)
		close(dir);
	free(rest);
	return found;
}

/* ---- the file */

/* What O_PATH found, and no other file that has its name by now. */
static int reopen(int found)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/*
 * What was found is looked at, not its name, and before it is opened, which of a device may do
 * something.  What is not theirs is not there: the difference is not theirs to know either.
 */
int log_open(const struct caller *caller, const struct log_place *place)
{
	bool as_owner = place->named && geteuid() == 0;
	struct disguise disguise = { 0 };
	int found, fd = -1;
	struct stat st;

	if (as_owner && place->uid != 0 && !put_on(&disguise, place->uid, place->gid)) {
		errno = ENOENT;
		return -1;
	}
	found = as_owner ? walk(place->path) : open(place->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (found >= 0) {
		/* Output that the daemon keeps is the user's, too. */
		if (fstat(found, &st) == 0 && S_ISREG(st.st_mode) &&
			(caller->admin || st.st_uid == caller->uid))
			fd = reopen(found);
		close(found);
	}
	take_off(&disguise);
	if (fd < 0)
		errno = ENOENT;
	return fd;
}
