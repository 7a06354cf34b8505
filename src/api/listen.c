/*
 * Unix and TCP sockets, the token.
 */
#include "api/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* ---- unix */

static char *dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(".");
	return slash == path ? mem_strdup("/") : mem_strndup(path, (size_t)(slash - path));
}

int unix_address(const char *path, struct sockaddr_un *out, int *dir, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const size_t room = sizeof(address.sun_path);
	char *parent;
	int n;

	*dir = -1;
	if (strlen(path) < room) {
		strcpy(address.sun_path, path);
		*out = address;
		return 0;
	}
	parent = dir_of(path);
	*dir = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(parent);
	if (*dir < 0)
		return err_set(err, errno == ENOENT ? ERR_MISSING : ERR_IO,
			"cannot open the directory of %s: %s", path, strerror(errno));
	n = snprintf(address.sun_path, room, "/proc/self/fd/%d/%s", *dir, path_base(path));
	if (n >= (int)room) {
		close(*dir);
		*dir = -1;
		return err_set(err, ERR_USAGE, "the name of the socket %s is too long", path);
	}
	*out = address;
	return 0;
}

/* Its directory, made if need be, open and locked against others who want to listen there. */
static int open_parent(const char *path, bool everyone, int *out, struct err *err)
{
	char *parent = dir_of(path);
	struct stat st;
	int dir = -1, rc = 0;

	if (mkdir(parent, everyone ? 0755 : 0700) < 0 && errno != EEXIST) {
		rc = dir_make(parent, err);
		if (!rc)
			chmod(parent, everyone ? 0755 : 0700);
	}
	if (!rc) {
		dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 || fstat(dir, &st) < 0 || flock(dir, LOCK_EX) < 0)
			rc = err_set(err, ERR_IO, "cannot use the directory %s: %s", parent,
				strerror(errno));
		else if ((st.st_uid != geteuid() && st.st_uid != 0) ||
			((st.st_mode & 022) && !(st.st_mode & S_ISVTX)))
			rc = err_set(err, ERR_REFUSED,
				"others may write in %s: no place for a socket that is to be ours",
				parent);
	}
	free(parent);
	if (rc < 0 && dir >= 0)
		close(dir);
	if (!rc)
		*out = dir;
	return rc;
}

static int remove_stale(int dir, const char *path, const struct sockaddr_un *address, struct err *err)
{
	struct stat st;
	int probe, rc;

	if (fstatat(dir, path_base(path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, ERR_REFUSED, "%s is there already and is no socket", path);
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe < 0)
		return err_set(err, ERR_IO, "cannot make a socket: %s", strerror(errno));
	rc = connect(probe, (const struct sockaddr *)address, sizeof(*address));
	if (rc < 0 && errno == ECONNREFUSED)
		rc = unlinkat(dir, path_base(path), 0);
	else
		rc = err_set(err, ERR_REFUSED, "somebody listens at %s already", path);
	close(probe);
	return rc;
}

static int bind_and_listen(int fd, int dir, const char *path, const struct sockaddr_un *address,
	bool everyone)
{
	mode_t mode = everyone ? 0666 : 0600;

	/* The file gets the socket's mode less the umask: never more, not even for a moment. */
	if (fchmod(fd, mode) < 0 || bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return -1;
	if (fchmodat(dir, path_base(path), mode, 0) < 0)
		return -1;
	return listen(fd, SOMAXCONN);
}

static int listen_in(int dir, const char *path, const struct sockaddr_un *address, bool everyone,
	struct unix_socket *out, struct err *err)
{
	struct stat st;
	int fd, rc = remove_stale(dir, path, address, err);

	if (rc < 0)
		return rc;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind_and_listen(fd, dir, path, address, everyone) < 0 ||
		fstatat(dir, path_base(path), &st, AT_SYMLINK_NOFOLLOW) < 0) {
		rc = err_set(err, ERR_IO, "cannot listen at %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return rc;
	}
	*out = (struct unix_socket){ fd, mem_strdup(path), st };
	return 0;
}

int unix_listen(const char *path, bool everyone, struct unix_socket *out, struct err *err)
{
	struct sockaddr_un address;
	int dir = -1, named = -1, rc;

	rc = open_parent(path, everyone, &dir, err);
	if (rc < 0)
		return rc;
	rc = unix_address(path, &address, &named, err);
	if (!rc)
		rc = listen_in(dir, path, &address, everyone, out, err);
	if (named >= 0)
		close(named);
	close(dir);
	return rc;
}

/* A number alone may have been given to the next file. */
static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
		a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

void unix_close(struct unix_socket *socket)
{
	struct stat st;

	if (!socket->path)
		return;
	if (lstat(socket->path, &st) == 0 && is_same(&st, &socket->made))
		unlink(socket->path);
	if (socket->fd >= 0)
		close(socket->fd);
	free(socket->path);
	*socket = (struct unix_socket){ .fd = -1 };
}

/* ---- tcp */

union any_address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static bool read_address(const char *text, uint16_t port, union any_address *out, bool *loopback)
{
	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, text, &out->four.sin_addr) == 1) {
		out->four.sin_family = AF_INET;
		out->four.sin_port = htons(port);
		*loopback = ntohl(out->four.sin_addr.s_addr) >> 24 == 127;
		return true;
	}
	if (inet_pton(AF_INET6, text, &out->six.sin6_addr) != 1)
		return false;
	out->six.sin6_family = AF_INET6;
	out->six.sin6_port = htons(port);
	*loopback = IN6_IS_ADDR_LOOPBACK(&out->six.sin6_addr);
	return true;
}

static int port_of(int fd, uint16_t *out)
{
	union any_address got;
	socklen_t n = sizeof(got);

	if (getsockname(fd, &got.any, &n) < 0)
		return -1;
	*out = ntohs(got.any.sa_family == AF_INET ? got.four.sin_port : got.six.sin6_port);
	return 0;
}

int tcp_listen(const char *address, uint16_t port, bool exposed, int *out, uint16_t *got,
	struct err *err)
{
	union any_address at;
	bool loopback;
	int fd, on = 1, rc = 0;

	if (!read_address(address, port, &at, &loopback))
		return err_set(err, ERR_USAGE, "'%s' is no address such as 127.0.0.1", address);
	if (!loopback && !exposed)
		return err_set(err, ERR_REFUSED,
			"%s can be reached from other machines, and what is sent is not encrypted: "
			"this must be asked for expressly (--expose)",
			address);
	fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, &at.any, at.any.sa_family == AF_INET ? sizeof(at.four) : sizeof(at.six)) < 0 ||
		listen(fd, SOMAXCONN) < 0 || port_of(fd, got) < 0) {
		rc = err_set(err, ERR_IO, "cannot listen on %s port %u: %s", address, port,
			strerror(errno));
		if (fd >= 0)
			close(fd);
		return rc;
	}
	*out = fd;
	return 0;
}

static bool is_tcp(int fd)
{
	int type = 0, listens = 0;
	socklen_t n = sizeof(type), m = sizeof(listens);
	union any_address at;
	socklen_t size = sizeof(at);

	return getsockname(fd, &at.any, &size) == 0 &&
		(at.any.sa_family == AF_INET || at.any.sa_family == AF_INET6) &&
		getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_STREAM &&
		getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &m) == 0 && listens;
}

/* A whole number in the environment, -1: none. */
static long variable(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long value = text && *text ? strtol(text, &end, 10) : -1;

	return value >= 0 && !*end ? value : -1;
}

int tcp_given(int *fd, struct err *err)
{
	enum { FIRST = 3 }; /* sd_listen_fds(3) */
	bool ours = variable("LISTEN_PID") == getpid();
	long n = ours ? variable("LISTEN_FDS") : 0;

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	*fd = -1;
	if (n <= 0)
		return 0;
	if (n > 1 || !is_tcp(FIRST))
		return err_set(err, ERR_USAGE,
			"systemd gave %ld sockets: one TCP socket is wanted (ListenStream=127.0.0.1:PORT in stint-http.socket)",
			n);
	if (fcntl(FIRST, F_SETFD, FD_CLOEXEC) < 0 || fcntl(FIRST, F_SETFL, O_NONBLOCK) < 0)
		return err_set(err, ERR_IO, "cannot use the socket of systemd: %s", strerror(errno));
	*fd = FIRST;
	return 0;
}

int tcp_adopt(int fd, bool exposed, char text[TCP_ADDRESS_MAX], uint16_t *port, struct err *err)
{
	union any_address at, again;
	socklen_t n = sizeof(at);
	bool loopback = false;

	if (getsockname(fd, &at.any, &n) < 0 || port_of(fd, port) < 0 ||
		!inet_ntop(at.any.sa_family,
			at.any.sa_family == AF_INET ? (void *)&at.four.sin_addr : (void *)&at.six.sin6_addr,
			text, TCP_ADDRESS_MAX) ||
		!read_address(text, *port, &again, &loopback))
		return err_set(err, ERR_IO, "cannot use the socket of systemd: %s", strerror(errno));
	if (!loopback && !exposed)
		return err_set(err, ERR_REFUSED,
			"stint-http.socket listens on %s, which can be reached from other machines, and what is sent is not encrypted: "
			"this must be asked for expressly (--expose)",
			text);
	return 0;
}

bool tcp_is_unprivileged(uint16_t port)
{
	FILE *f = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "re");
	unsigned first = 1024;

	if (f) {
		if (fscanf(f, "%u", &first) != 1)
			first = 0;
		fclose(f);
	}
	return port >= first;
}

/* ---- token */

static bool is_token(const char *text, ssize_t n)
{
	return n >= TOKEN_DIGITS && strspn(text, "0123456789abcdef") >= TOKEN_DIGITS &&
		(n == TOKEN_DIGITS || (n == TOKEN_DIGITS + 1 && text[TOKEN_DIGITS] == '\n'));
}

/* `forbidden`: bits of the mode that a secret of ours must not have; 0: another's will do. */
static bool read_secret(const char *path, mode_t forbidden, char token[TOKEN_DIGITS + 1])
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	char text[TOKEN_DIGITS + 8] = "";
	struct stat st;
	bool good = false;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		(!forbidden || (st.st_uid == geteuid() && !(st.st_mode & forbidden))))
		good = is_token(text, read(fd, text, sizeof(text) - 1));
	close(fd);
	if (good) {
		memcpy(token, text, TOKEN_DIGITS);
		token[TOKEN_DIGITS] = '\0';
	}
	return good;
}

int token_make(char token[TOKEN_DIGITS + 1], struct err *err)
{
	unsigned char random[TOKEN_DIGITS / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_set(err, ERR_IO, "cannot get random bytes: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(token + 2 * i, 3, "%02x", random[i]);
	return 0;
}

/* With the group and mode of the file it replaces, if that may be read by its group. */
static void keep_group(const char *path, int fd)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		(st.st_mode & 0777) == 0640 && fchown(fd, (uid_t)-1, st.st_gid) == 0)
		fchmod(fd, 0640);
}

static int write_secret(const char *path, bool group, const char *token, struct err *err)
{
	char *beside = mem_printf("%s.%ld", path, (long)getpid());
	char text[TOKEN_DIGITS + 2];
	int fd, rc = 0;

	snprintf(text, sizeof(text), "%s\n", token);
	unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && group)
		keep_group(path, fd);
	if (fd < 0 || write(fd, text, TOKEN_DIGITS + 1) != TOKEN_DIGITS + 1 || fsync(fd) < 0 ||
		rename(beside, path) < 0)
		rc = err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (rc)
		unlink(beside);
	free(beside);
	return rc;
}

static int load(const char *dir, const char *name, bool group, bool renew,
	char token[TOKEN_DIGITS + 1], struct err *err)
{
	char *path = path_join(dir, name);
	int rc = 0;

	if (renew || !read_secret(path, group ? 037 : 077, token)) {
		rc = token_make(token, err);
		if (!rc)
			rc = write_secret(path, group, token, err);
	}
	free(path);
	return rc;
}

int token_load(const char *dir, bool renew, char token[TOKEN_DIGITS + 1], struct err *err)
{
	return load(dir, "token", false, renew, token, err);
}

int token_load_read(const char *dir, bool renew, char token[TOKEN_DIGITS + 1], struct err *err)
{
	return load(dir, "token.read", true, renew, token, err);
}

void token_remove(const char *dir)
{
	char *path = path_join(dir, "token");

	unlink(path);
	free(path);
}

int token_read(const char *dir, char token[TOKEN_DIGITS + 1], struct err *err)
{
	char *path = path_join(dir, "token");
	int rc = 0;

	if (!read_secret(path, 0, token))
		rc = err_set(err, ERR_MISSING, "there is no token in %s that can be read", path);
	free(path);
	return rc;
}
