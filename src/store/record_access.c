/*
 * Who may read the record.
 *
 * It has the commands and environments of the jobs of all users, so that only its owner can open it.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "store/record_parts.h"

static void add_owner(struct buf *out, uid_t uid)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		buf_str(out, user->pw_name);
	else
		buf_printf(out, "user %u", (unsigned int)uid);
}

/* Where the file itself cannot be seen either, nothing is known of its owner but that root may. */
static void add_readers(struct buf *out, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && st.st_uid != 0) {
		add_owner(out, st.st_uid);
		buf_str(out, " and ");
	}
	buf_str(out, "root");
}

int record_refuse_reader(const char *path, struct err *err)
{
	struct buf readers = { 0 };
	int rc;

	if (access(path, R_OK) == 0 || errno != EACCES)
		return 0;
	add_readers(&readers, path);
	rc = err_set(err, ERR_REFUSED,
		"only %s can read %s, which has the commands and environments of all users: run this with "
		"sudo, or ask an administrator",
		readers.at, path);
	buf_fini(&readers);
	return rc;
}
