/*
 * Stint's client for training loops in C and C++: one header, POSIX only.
 *
 * In exactly one source file, before any other include:
 *
 *	#define STINT_IMPLEMENTATION
 *	#include "stint.h"
 *
 * and in the others just the include.  Outside Stint everything here does
 * nothing, so a loop needs no `if`:
 *
 *	stint_init();
 *	long step = load(&model);                        // 0 if there is no checkpoint
 *	for (; step < total && !stint_should_stop(); step++) {
 *		train(&model);
 *		stint_progress(step + 1, total);
 *		if ((step + 1) % 100 == 0)
 *			save(&model, step + 1);          // and stint_checkpointed(step + 1)
 *	}
 *	save(&model, step);
 *	if (step < total)
 *		stint_exit_for_requeue();
 *
 * What is promised:
 *
 *   - Nothing here fails because of the daemon or waits for it longer than 0.2 s.
 *     stint_progress() does not wait at all: it sends, and reads the answer the next
 *     time.  While the daemon is away, messages are replaced by newer ones, and the
 *     newest is sent when it is back.
 *   - The signal handler notes the signal and the time and calls the handler that
 *     was there before.  Nothing is allocated, there or elsewhere.
 *   - stint_should_stop() may be called from any thread; everything else from one.
 *   - A forked child has the flag but reports nothing.  Where RANK is set, rank 0
 *     reports.
 */
#ifndef STINT_H
#define STINT_H

#if !defined(_POSIX_C_SOURCE) && !defined(_GNU_SOURCE) && !defined(__cplusplus)
#define _POSIX_C_SOURCE 200809L /* -std=c99 and -std=c11 hide it else */
#endif
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { STINT_REQUEUE = 85 }; /* exit code: "checkpointed, run me again" */
enum { STINT_DEVICES_MAX = 64, STINT_DEVICE_LENGTH = 96 };

/* Watches for the signal.  Whether Stint started this.  The other functions call it if need be. */
int stint_init(void);
int stint_running(void);
long stint_job_id(void);              /* -1 outside Stint */
int stint_attempt(void);              /* 1 outside */
int stint_restarts(void);             /* attempts before this one */
int stint_array_index(int otherwise); /* `otherwise` if this is not part of an array */

/* Whether Stint has asked this job to stop: save, then stint_exit_for_requeue(). */
int stint_should_stop(void);
/* Seconds until the kill; negative as long as nobody has asked us to stop. */
double stint_grace_left(void);
/* exit(85), after what is still to be reported. */
void stint_exit_for_requeue(void);

/*
 * How many steps are done, of how many (0: not known).  Call it as often as you like: one message a
 * second is sent, and the last one always is, at the latest at exit() or at a checkpoint.
 */
void stint_progress(long long step, long long total);
/* The same with numbers worth seeing; what is not finite is left out, and so is what exceeds 32. */
struct stint_metric {
	const char *name;
	double value;
};
void stint_progress_with(long long step, long long total, const struct stint_metric *metrics,
	int count);
/* Everything up to `step` is safely saved. */
void stint_checkpointed(long long step);
/* Sends what stint_progress() still holds back. */
void stint_flush(void);

/*
 * Replaces a file as a whole: write to the stream, then commit, which syncs and renames it into place.
 * NULL or -1 with errno if it cannot; the old file is there then.  Abort gives it up.
 *
 *	struct stint_save save;
 *	FILE *out = stint_save_open(&save, "model.ckpt");
 *	if (!out || fwrite(&model, sizeof(model), 1, out) != 1 || stint_save_commit(&save) < 0)
 *		perror("model.ckpt");
 */
struct stint_save {
	FILE *file;
	char path[1024], beside[1088];
};
FILE *stint_save_open(struct stint_save *save, const char *path);
int stint_save_commit(struct stint_save *save);
void stint_save_abort(struct stint_save *save);

/* What the job holds. */
struct stint_grant {
	int gpus;
	long serial;                                          /* grows with each change */
	int count;                                            /* of the names that follow */
	char devices[STINT_DEVICES_MAX][STINT_DEVICE_LENGTH]; /* as CUDA_VISIBLE_DEVICES wants them; none for CPU slots */
};
/* Devices held now.  Outside Stint: as many as CUDA_VISIBLE_DEVICES names, else 1. */
int stint_gpus(void);
void stint_grant_now(struct stint_grant *out);

/*
 * For jobs that can grow and shrink while they run; calling it declares that.  Call it between steps: 1 and
 * `out` if the job's devices have changed.  Then use exactly those and say so with stint_resize_done(); until
 * then what was taken away is not given to others, and a job that does not answer is stopped.
 */
int stint_resized(struct stint_grant *out);
void stint_resize_done(const struct stint_grant *grant);

#ifdef __cplusplus
}
#endif

#endif /* STINT_H */

#if defined(STINT_IMPLEMENTATION) && !defined(STINT_IMPLEMENTED)
#define STINT_IMPLEMENTED

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STINT_EVERY_S 1.0  /* at most one progress message in so long */
#ifndef STINT_WAIT_S       /* tests on a slow machine have more patience */
#define STINT_WAIT_S 0.2   /* the longest anything here waits for the daemon */
#define STINT_ANSWER_S 5.0 /* an answer that takes longer will not come */
#endif
#define STINT_AWAY_S 30.0  /* the longest between two attempts to reach a daemon that is away */

/* Most urgent first. */
enum { STINT_RESIZED, STINT_CHECKPOINTED, STINT_PROGRESS, STINT_KINDS };
enum { STINT_BODY = 4096, STINT_ANSWER = 16384, STINT_METRICS = 32 };

struct stint_link {
	int fd;            /* -1: none */
	int fresh;         /* nothing was answered on this connection yet */
	int flying;        /* kind whose answer is awaited, or -1 */
	double since_s;    /* when that was sent */
	double progress_s; /* when progress was sent last; negative: never */
	double retry_s, pause_s;
	int waiting[STINT_KINDS]; /* whether there is a message, newest of its kind */
	char body[STINT_KINDS][STINT_BODY];
	char flown[STINT_BODY]; /* the body that is flying, in case it must be sent again */
	char out[STINT_BODY + 256];
	size_t out_size, out_done;
	char in[STINT_ANSWER];
	size_t in_size;
};

/* All that this header remembers. */
static struct stint_state {
	int ready, inside, speaks;
	pid_t home;
	int resizable;
	double looked_s; /* at the grant */
	ino_t grant_inode;
	struct timespec grant_time;
	struct stint_grant grant; /* in use */
	long seen;                /* serial of the grant that was given out last */
	struct sigaction earlier_stop, earlier_resize;
	struct stint_link link;
} stint_state_;

/* What the handlers write. */
static volatile sig_atomic_t stint_asked_, stint_look_ = 1;
static struct timespec stint_asked_at_;

#ifndef STINT_NOW /* seconds; tests have a clock of their own */
#define STINT_NOW stint_now_
static double stint_now_(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
#endif

static long stint_number_(const char *name, long otherwise)
{
	const char *text = getenv(name);
	char *end = NULL;
	long value = text ? strtol(text, &end, 10) : 0;

	return text && end != text && *end == '\0' ? value : otherwise;
}

/* ---- signals */

static int stint_signal_number_(void)
{
	static const struct {
		const char *name;
		int number;
	} names[] = {
		{ "TERM", SIGTERM },
		{ "INT", SIGINT },
		{ "HUP", SIGHUP },
		{ "QUIT", SIGQUIT },
		{ "USR1", SIGUSR1 },
		{ "USR2", SIGUSR2 },
		{ "ALRM", SIGALRM },
		{ "CONT", SIGCONT },
		{ "TSTP", SIGTSTP },
		{ "URG", SIGURG },
	};
	const char *text = getenv("STINT_SIGNAL");
	size_t i;

	if (!text || !*text)
		return SIGTERM;
	if (text[0] >= '0' && text[0] <= '9')
		return atoi(text);
	if (strncasecmp(text, "SIG", 3) == 0)
		text += 3;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(text, names[i].name) == 0)
			return names[i].number;
	}
	return SIGTERM;
}

static void stint_chain_(const struct sigaction *earlier, int number, siginfo_t *info, void *context)
{
	if (earlier->sa_flags & SA_SIGINFO)
		earlier->sa_sigaction(number, info, context);
	else if (earlier->sa_handler != SIG_DFL && earlier->sa_handler != SIG_IGN)
		earlier->sa_handler(number);
}

static void stint_on_stop_(int number, siginfo_t *info, void *context)
{
	int kept = errno;

	if (!stint_asked_)
		clock_gettime(CLOCK_MONOTONIC, &stint_asked_at_);
	stint_asked_ = 1;
	stint_chain_(&stint_state_.earlier_stop, number, info, context);
	errno = kept;
}

static void stint_on_resize_(int number, siginfo_t *info, void *context)
{
	stint_look_ = 1;
	stint_chain_(&stint_state_.earlier_resize, number, info, context);
}

static void stint_watch_(int number, void (*handler)(int, siginfo_t *, void *), struct sigaction *earlier)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	sigemptyset(&action.sa_mask);
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	action.sa_sigaction = handler;
	/* The earlier one must be known before ours can be called. */
	if (sigaction(number, NULL, earlier) == 0)
		sigaction(number, &action, NULL);
}

/* ---- the connection */

static void stint_link_drop_(struct stint_link *l, int failed)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	l->out_size = l->out_done = l->in_size = 0;
	if (l->flying >= 0 && !l->waiting[l->flying]) {
		memcpy(l->body[l->flying], l->flown, sizeof(l->flown));
		l->waiting[l->flying] = 1;
	}
	l->flying = -1;
	if (failed) {
		l->retry_s = STINT_NOW() + l->pause_s;
		l->pause_s = l->pause_s * 2 < STINT_AWAY_S ? l->pause_s * 2 : STINT_AWAY_S;
	}
}

static int stint_link_due_(const struct stint_link *l, double now, int force)
{
	int kind;

	for (kind = 0; kind < STINT_KINDS; kind++) {
		if (l->waiting[kind] &&
			(force || kind != STINT_PROGRESS || l->progress_s < 0 ||
				now - l->progress_s >= STINT_EVERY_S))
			return kind;
	}
	return -1;
}

static void stint_link_connect_(struct stint_link *l)
{
	const char *path = getenv("STINT_SOCKET");
	struct sockaddr_un address;

	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	if (!path || !*path || strlen(path) >= sizeof(address.sun_path)) {
		memset(l->waiting, 0, sizeof(l->waiting));
		return;
	}
	strcpy(address.sun_path, path);
	l->fresh = 1;
	l->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (l->fd < 0 || fcntl(l->fd, F_SETFD, FD_CLOEXEC) < 0 ||
		fcntl(l->fd, F_SETFL, O_NONBLOCK) < 0 ||
		connect(l->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		stint_link_drop_(l, 1);
}

static void stint_link_send_(struct stint_link *l, int kind, double now)
{
	static const char *const names[] = { "resized", "checkpointed", "progress" };
	int size;

	memcpy(l->flown, l->body[kind], sizeof(l->flown));
	l->waiting[kind] = 0;
	size = snprintf(l->out, sizeof(l->out),
		"POST /v1/jobs/%ld/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		"Content-Length: %zu\r\n\r\n%s",
		stint_job_id(), names[kind], strlen(l->flown), l->flown);
	if (size < 0 || (size_t)size >= sizeof(l->out))
		return;
	l->out_size = (size_t)size;
	l->out_done = l->in_size = 0;
	l->flying = kind;
	l->since_s = now;
	if (kind == STINT_PROGRESS)
		l->progress_s = now;
}

/* Value of a field of the answer's head, or NULL. */
static const char *stint_field_(const char *head, const char *end, const char *name)
{
	size_t length = strlen(name);
	const char *line;

	for (line = strstr(head, "\r\n"); line && line < end; line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, length) == 0 && line[length] == ':')
			return line + length + 1 + strspn(line + length + 1, " \t");
	}
	return NULL;
}

/* Status of the answer once it is whole, else 0; negative: this is no answer. */
static int stint_link_status_(struct stint_link *l, int closed, int *closes)
{
	char *end, *body;
	const char *field;
	int status;

	l->in[l->in_size] = '\0';
	end = strstr(l->in, "\r\n\r\n");
	if (!end)
		return closed || l->in_size == sizeof(l->in) - 1 ? -1 : 0;
	body = end + 4;
	status = strncmp(l->in, "HTTP/1.", 7) == 0 ? atoi(l->in + 9) : -1;
	if (status >= 100 && status < 200) {
		l->in_size -= (size_t)(body - l->in);
		memmove(l->in, body, l->in_size + 1);
		return stint_link_status_(l, closed, closes);
	}
	field = stint_field_(l->in, end, "Connection");
	*closes = closed || (field && strncasecmp(field, "close", 5) == 0);
	field = stint_field_(l->in, end, "Content-Length");
	if (status < 0 || status == 204 || closed)
		return status;
	if (field)
		return l->in_size - (size_t)(body - l->in) >= (size_t)atol(field) ? status : 0;
	if (stint_field_(l->in, end, "Transfer-Encoding") && strstr(body, "0\r\n\r\n"))
		return status;
	return l->in_size == sizeof(l->in) - 1 ? -1 : 0;
}

static void stint_link_answered_(struct stint_link *l, int status, int closes)
{
	int kind = l->flying, trouble = status >= 500 || status == 429;

	if (!trouble || kind == STINT_PROGRESS)
		l->flying = -1; /* else it is put back and sent again */
	l->fresh = 0;
	l->in_size = 0;
	if (!trouble)
		l->pause_s = 1.0;
	if (trouble || closes)
		stint_link_drop_(l, trouble);
}

/* Writes and reads what can be without waiting. */
static void stint_link_receive_(struct stint_link *l, double now)
{
	ssize_t n = 0;
	int closed = 0, closes = 0, status;

	while (l->out_done < l->out_size && n >= 0) {
		n = send(l->fd, l->out + l->out_done, l->out_size - l->out_done, MSG_NOSIGNAL);
		if (n > 0)
			l->out_done += (size_t)n;
	}
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		closed = 1; /* an answer may be there all the same */
	do {
		n = recv(l->fd, l->in + l->in_size, sizeof(l->in) - 1 - l->in_size, 0);
		if (n > 0)
			l->in_size += (size_t)n;
	} while (n > 0 && l->in_size < sizeof(l->in) - 1);
	if (n == 0 && l->in_size < sizeof(l->in) - 1)
		closed = 1;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		closed = 1;

	status = l->flying >= 0 ? stint_link_status_(l, closed, &closes) : closed ? -1 : 0;
	if (status > 0)
		stint_link_answered_(l, status, closes);
	else if (status < 0)
		stint_link_drop_(l, l->flying >= 0 && l->fresh); /* an idle one may be closed at any time */
	else if (l->flying >= 0 && now - l->since_s > STINT_ANSWER_S)
		stint_link_drop_(l, 1);
}

static int stint_speaks_(void)
{
	return stint_state_.speaks && stint_state_.home == getpid();
}

static void stint_link_advance_(struct stint_link *l, int force)
{
	double now = STINT_NOW();
	int tries, kind;

	if (l->fd >= 0 && (l->flying >= 0 || stint_link_due_(l, now, force) >= 0))
		stint_link_receive_(l, now);
	for (tries = 0; tries < 2 * STINT_KINDS && l->flying < 0; tries++) {
		kind = stint_link_due_(l, now, force);
		if (kind < 0 || (l->fd < 0 && now < l->retry_s))
			return;
		if (l->fd < 0)
			stint_link_connect_(l);
		if (l->fd < 0)
			return;
		stint_link_send_(l, kind, now);
		if (l->flying >= 0)
			stint_link_receive_(l, now);
	}
}

/* ---- what the environment says */

static void stint_read_devices_(struct stint_grant *out, const char *text)
{
	size_t length;

	for (out->count = 0; text && *text && out->count < STINT_DEVICES_MAX;) {
		length = strcspn(text, ",");
		if (length > 0 && length < STINT_DEVICE_LENGTH) {
			memcpy(out->devices[out->count], text, length);
			out->devices[out->count++][length] = '\0';
		}
		text += length + (text[length] == ',');
	}
}

/* The strings of a JSON array that begins at `text`. */
static void stint_read_array_(struct stint_grant *out, const char *text)
{
	const char *end = strchr(text, ']'), *close;

	for (out->count = 0; end && out->count < STINT_DEVICES_MAX;) {
		text = strchr(text, '"');
		close = text && text < end ? strchr(text + 1, '"') : NULL;
		if (!close || close - text > STINT_DEVICE_LENGTH)
			return;
		memcpy(out->devices[out->count], text + 1, (size_t)(close - text - 1));
		out->devices[out->count][close - text - 1] = '\0';
		out->count += close > text + 1;
		text = close + 1;
	}
}

/* What follows "name": in a JSON object of one level, or NULL. */
static const char *stint_member_(const char *json, const char *name)
{
	const char *found = strstr(json, name);

	if (!found)
		return NULL;
	found += strlen(name);
	found += strspn(found, " \t\r\n");
	return *found == ':' ? found + 1 + strspn(found + 1, " \t\r\n") : NULL;
}

static int stint_read_grant_(struct stint_grant *out)
{
	const char *path = getenv("STINT_GRANT"), *field;
	char text[16384];
	FILE *in = path ? fopen(path, "r") : NULL;
	size_t size;
	char *end;

	if (!in)
		return -1;
	size = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	text[size] = '\0';
	memset(out, 0, sizeof(*out));
	field = stint_member_(text, "\"gpus\"");
	out->gpus = field ? (int)strtol(field, &end, 10) : -1;
	if (!field || end == field || !strchr(text, '}'))
		return -1;
	if ((field = stint_member_(text, "\"serial\"")) != NULL)
		out->serial = strtol(field, NULL, 10);
	if ((field = stint_member_(text, "\"devices\"")) != NULL && *field == '[')
		stint_read_array_(out, field);
	return 0;
}

static void stint_first_grant_(struct stint_grant *out)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	if (stint_state_.inside && stint_read_grant_(out) == 0)
		return;
	memset(out, 0, sizeof(*out));
	if (stint_state_.inside && (!visible || !*visible))
		visible = getenv("STINT_DEVICES");
	stint_read_devices_(out, visible);
	out->gpus = out->count ? out->count : 1;
	if (stint_state_.inside)
		out->gpus = (int)stint_number_("STINT_GPUS", out->gpus);
}

int stint_init(void)
{
	struct stint_state *s = &stint_state_;
	const char *inside = getenv("STINT");

	if (s->ready)
		return s->inside;
	s->ready = 1;
	s->inside = inside && strcmp(inside, "1") == 0;
	s->home = getpid();
	s->link.fd = s->link.flying = -1;
	s->link.progress_s = -1;
	s->link.pause_s = 1.0;
	s->seen = -1;
	stint_first_grant_(&s->grant);
	if (!s->inside)
		return 0;
	s->speaks = stint_number_("RANK", 0) == 0;
	stint_watch_(stint_signal_number_(), stint_on_stop_, &s->earlier_stop);
	atexit(stint_flush);
	return 1;
}

int stint_running(void)
{
	return stint_init();
}

long stint_job_id(void)
{
	return stint_init() ? stint_number_("STINT_JOB_ID", -1) : -1;
}

int stint_attempt(void)
{
	return stint_init() ? (int)stint_number_("STINT_ATTEMPT", 1) : 1;
}

int stint_restarts(void)
{
	return stint_init() ? (int)stint_number_("STINT_RESTARTS", 0) : 0;
}

int stint_array_index(int otherwise)
{
	return stint_init() ? (int)stint_number_("STINT_ARRAY_INDEX", otherwise) : otherwise;
}

int stint_should_stop(void)
{
	return stint_init() && stint_asked_;
}

double stint_grace_left(void)
{
	const char *text = getenv("STINT_GRACE_S");
	double left_s = text ? atof(text) : 30;

	if (!stint_asked_)
		return -1;
	left_s -= STINT_NOW() - (double)stint_asked_at_.tv_sec - (double)stint_asked_at_.tv_nsec * 1e-9;
	return left_s > 0 ? left_s : 0;
}

void stint_exit_for_requeue(void)
{
	stint_flush();
	exit(STINT_REQUEUE);
}

/* ---- reports */

void stint_flush(void)
{
	struct stint_link *l = &stint_state_.link;
	double end_s = STINT_NOW() + STINT_WAIT_S, left_s;
	struct pollfd poller;

	if (!stint_init() || !stint_speaks_())
		return;
	l->retry_s = 0; /* one attempt at once, wherever the daemon was */
	for (;;) {
		stint_link_advance_(l, 1);
		left_s = end_s - STINT_NOW();
		if (l->flying < 0 || left_s <= 0)
			return;
		poller.fd = l->fd;
		poller.events = (short)(POLLIN | (l->out_done < l->out_size ? POLLOUT : 0));
		poll(&poller, 1, (int)(left_s * 1000) + 1);
	}
}

/* Adds the name as a JSON string without what would need an escape. */
static size_t stint_put_name_(char *out, size_t at, size_t limit, const char *name)
{
	for (; *name && at < limit; name++) {
		if ((unsigned char)*name >= ' ' && *name != '"' && *name != '\\')
			out[at++] = *name;
	}
	return at;
}

static size_t stint_put_metrics_(char *out, size_t at, const struct stint_metric *metrics, int count)
{
	size_t limit = STINT_BODY - 64;
	int i, put = 0;
	char number[40], *comma;

	for (i = 0; i < count && put < STINT_METRICS && at + 160 < limit; i++) {
		if (!metrics[i].name || metrics[i].value - metrics[i].value != 0)
			continue; /* not finite */
		at += (size_t)sprintf(out + at, put++ ? ",\"" : ",\"metrics\":{\"");
		at = stint_put_name_(out, at, at + 100, metrics[i].name);
		snprintf(number, sizeof(number), "%.17g", metrics[i].value);
		if ((comma = strchr(number, ',')) != NULL)
			*comma = '.'; /* some locales */
		at += (size_t)sprintf(out + at, "\":%s", number);
	}
	if (put)
		out[at++] = '}';
	return at;
}

void stint_progress_with(long long step, long long total, const struct stint_metric *metrics, int count)
{
	struct stint_link *l = &stint_state_.link;
	char *out = l->body[STINT_PROGRESS];
	size_t at;

	if (!stint_init() || !stint_speaks_())
		return;
	at = (size_t)sprintf(out, "{\"attempt\":%d,\"step\":%lld", stint_attempt(), step);
	if (total > 0)
		at += (size_t)sprintf(out + at, ",\"total\":%lld", total);
	at = stint_put_metrics_(out, at, metrics, metrics ? count : 0);
	sprintf(out + at, "%s}", stint_state_.resizable ? ",\"resizable\":true" : "");
	l->waiting[STINT_PROGRESS] = 1;
	stint_link_advance_(l, 0);
}

void stint_progress(long long step, long long total)
{
	stint_progress_with(step, total, NULL, 0);
}

void stint_checkpointed(long long step)
{
	struct stint_link *l = &stint_state_.link;

	if (!stint_init() || !stint_speaks_())
		return;
	sprintf(l->body[STINT_CHECKPOINTED], "{\"attempt\":%d,\"step\":%lld}", stint_attempt(), step);
	l->waiting[STINT_CHECKPOINTED] = 1;
	stint_flush();
}

/* ---- checkpoints */

FILE *stint_save_open(struct stint_save *save, const char *path)
{
	long owner = stint_job_id();
	int n;

	save->file = NULL;
	if (strlen(path) >= sizeof(save->path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	strcpy(save->path, path);
	/* The same name in every attempt, and another one for each rank. */
	n = snprintf(save->beside, sizeof(save->beside), "%s.tmp.%ld.%ld", path,
		owner >= 0 ? owner : (long)getpid(), stint_number_("RANK", 0));
	if (n < 0 || (size_t)n >= sizeof(save->beside)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return save->file = fopen(save->beside, "wb");
}

static void stint_sync_folder_(const char *path)
{
	char folder[1024];
	char *slash;
	int fd;

	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	fd = open(slash ? folder : ".", O_RDONLY);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

int stint_save_commit(struct stint_save *save)
{
	FILE *file = save->file;
	int bad, why;

	save->file = NULL;
	if (!file)
		return -1;
	errno = 0;
	bad = ferror(file) || fflush(file) != 0 || fsync(fileno(file)) != 0;
	why = errno ? errno : EIO;
	if (fclose(file) != 0 && !bad) {
		bad = 1;
		why = errno;
	}
	if (!bad && rename(save->beside, save->path) != 0) {
		bad = 1;
		why = errno;
	}
	if (bad) {
		unlink(save->beside);
		errno = why;
		return -1;
	}
	stint_sync_folder_(save->path);
	return 0;
}

void stint_save_abort(struct stint_save *save)
{
	if (!save->file)
		return;
	fclose(save->file);
	save->file = NULL;
	unlink(save->beside);
}

/* ---- growing and shrinking in place */

int stint_gpus(void)
{
	stint_init();
	return stint_state_.grant.gpus;
}

void stint_grant_now(struct stint_grant *out)
{
	stint_init();
	*out = stint_state_.grant;
}

static void stint_declare_(void)
{
	struct stint_state *s = &stint_state_;

	s->resizable = 1;
	/* What changed before anyone looked is not lost. */
	if (s->grant.gpus == stint_number_("STINT_GPUS", s->grant.gpus))
		s->seen = s->grant.serial;
	stint_watch_(SIGURG, stint_on_resize_, &s->earlier_resize);
}

/* The signal may have reached only a shell that started us, so the file is looked at too. */
static int stint_grant_changed_(void)
{
	struct stint_state *s = &stint_state_;
	const char *path = getenv("STINT_GRANT");
	double now = STINT_NOW();
	struct stat info;
	int changed;

	if (!path || (!stint_look_ && now - s->looked_s < STINT_EVERY_S))
		return 0;
	stint_look_ = 0;
	s->looked_s = now;
	if (stat(path, &info) != 0)
		return 0;
	changed = info.st_ino != s->grant_inode || info.st_mtim.tv_sec != s->grant_time.tv_sec ||
		info.st_mtim.tv_nsec != s->grant_time.tv_nsec;
	s->grant_inode = info.st_ino;
	s->grant_time = info.st_mtim;
	return changed;
}

int stint_resized(struct stint_grant *out)
{
	struct stint_state *s = &stint_state_;
	struct stint_grant grant;

	if (!stint_init())
		return 0;
	if (!s->resizable)
		stint_declare_();
	if (!stint_grant_changed_() || stint_read_grant_(&grant) < 0 || grant.serial == s->seen)
		return 0;
	s->seen = grant.serial;
	*out = grant;
	return 1;
}

void stint_resize_done(const struct stint_grant *grant)
{
	struct stint_link *l = &stint_state_.link;

	if (!stint_init())
		return;
	stint_state_.grant = *grant;
	if (!stint_speaks_())
		return;
	sprintf(l->body[STINT_RESIZED], "{\"attempt\":%d,\"gpus\":%d}", stint_attempt(), grant->gpus);
	l->waiting[STINT_RESIZED] = 1;
	stint_flush();
}

#ifdef __cplusplus
}
#endif

#endif /* STINT_IMPLEMENTATION */
