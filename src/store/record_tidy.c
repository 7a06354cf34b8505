/*
 * Emptying the write-ahead log beside the writer.
 *
 * A commit appends to the log and waits for the disk once.  Copying the log's pages into
 * the database (a checkpoint) means many more writes and another wait; a thread with a
 * connection of its own does it each time the log has grown by some.  If the writer pauses,
 * its next transaction finds everything copied and begins the log from its start again.  If
 * it does not pause, the thread is always a little behind: once the log is large it makes
 * passes as fast as it can, and when next to nothing is left the writer copies that itself.
 * Past MOST_PAGES each commit waits for a pass, but for the first: one commit of a great many
 * pages is answered without waiting for their copies.
 *
 * Failures here lose nothing: the log keeps what it has, and the next pass tries again.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/record_parts.h"

enum {
	PASS_PAGES = 2048,  /* 8 MiB: worth a pass */
	LARGE_PAGES = 8192, /* 32 MiB: time to begin anew */
	FEW_PAGES = 512,    /* a writer may copy so many, and a large log gets a pass for them */
	MOST_PAGES = 16384, /* 64 MiB: the writer waits for a pass, from the second commit on */
};

struct tidy {
	char *path;
	int pass_at, most_at; /* the log's pages when the next pass is due, and when it is waited for */
	bool over;            /* a commit has found the log past most_at and has not waited */
	atomic_int copied; /* pages of the log that the last pass found or made copied */
	atomic_uint log;   /* changes when the log begins anew: then a pass says nothing of it */

	bool started;
	pthread_t thread;
	pthread_mutex_t lock; /* of the two below */
	pthread_cond_t wake;
	bool wanted, stop;
	pthread_mutex_t pass; /* held while a pass is made */
};

static void make_pass(sqlite3 *db, struct tidy *tidy)
{
	unsigned int log = atomic_load(&tidy->log);
	int copied = 0;

	sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, &copied);
	if (atomic_load(&tidy->log) == log)
		atomic_store(&tidy->copied, copied);
}

/* Waits; false: it is over. */
static bool is_wanted(struct tidy *tidy)
{
	bool stop;

	pthread_mutex_lock(&tidy->lock);
	while (!tidy->wanted && !tidy->stop)
		pthread_cond_wait(&tidy->wake, &tidy->lock);
	tidy->wanted = false;
	stop = tidy->stop;
	pthread_mutex_unlock(&tidy->lock);
	return !stop;
}

/* A connection finds out that there is a log when it first reads. */
static bool open_beside(const char *path, sqlite3 **db)
{
	return sqlite3_open_v2(path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
		SQLITE_OK &&
		sqlite3_exec(*db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL) == SQLITE_OK;
}

static void *keep_tidy(void *arg)
{
	struct tidy *tidy = arg;
	sqlite3 *db = NULL;
	bool opened = open_beside(tidy->path, &db);

	while (is_wanted(tidy)) {
		if (!opened)
			continue;
		pthread_mutex_lock(&tidy->pass);
		make_pass(db, tidy);
		pthread_mutex_unlock(&tidy->pass);
	}
	sqlite3_close(db);
	return NULL;
}

/* Signals are for the threads that expect them. */
static bool start(struct tidy *tidy)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&tidy->thread, NULL, keep_tidy, tidy) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

static void ask_for_pass(struct tidy *tidy)
{
	if (!tidy->started)
		tidy->started = start(tidy);
	pthread_mutex_lock(&tidy->lock);
	tidy->wanted = true;
	pthread_cond_signal(&tidy->wake);
	pthread_mutex_unlock(&tidy->lock);
}

static void start_over(struct tidy *tidy)
{
	tidy->pass_at = PASS_PAGES;
	tidy->most_at = MOST_PAGES;
	tidy->over = false;
	atomic_fetch_add(&tidy->log, 1);
	atomic_store(&tidy->copied, 0);
}

/* The writer makes a pass: a short one, or one that must be.  False: the thread is at it. */
static bool help(struct tidy *tidy, sqlite3 *db, int pages)
{
	bool must = pages >= tidy->most_at && tidy->over;

	if (pages >= tidy->most_at && !tidy->over) {
		tidy->over = true;
		return false;
	}
	if (!must && (pages < LARGE_PAGES || pages - atomic_load(&tidy->copied) > FEW_PAGES))
		return false;
	if (!must && pthread_mutex_trylock(&tidy->pass) != 0)
		return false;
	if (must)
		pthread_mutex_lock(&tidy->pass);
	make_pass(db, tidy);
	pthread_mutex_unlock(&tidy->pass);
	if (must) /* somebody reads what is old and keeps the log from beginning anew */
		tidy->most_at = pages + PASS_PAGES;
	return true;
}

/* After each commit: `pages` are in the log. */
static int committed(void *arg, sqlite3 *db, const char *name, int pages)
{
	struct tidy *tidy = arg;

	(void)name;
	if (pages < PASS_PAGES) {
		start_over(tidy);
	} else if (!help(tidy, db, pages) && pages >= tidy->pass_at) {
		ask_for_pass(tidy);
		tidy->pass_at = pages + (pages < LARGE_PAGES ? PASS_PAGES : FEW_PAGES);
	}
	return SQLITE_OK;
}

struct tidy *tidy_create(sqlite3 *db, const char *path)
{
	struct tidy *tidy = mem_alloc(sizeof(*tidy));

	tidy->path = mem_strdup(path);
	start_over(tidy);
	pthread_mutex_init(&tidy->lock, NULL);
	pthread_mutex_init(&tidy->pass, NULL);
	pthread_cond_init(&tidy->wake, NULL);
	sqlite3_wal_hook(db, committed, tidy);
	return tidy;
}

void tidy_destroy(struct tidy *tidy)
{
	if (!tidy)
		return;
	if (tidy->started) {
		pthread_mutex_lock(&tidy->lock);
		tidy->stop = true;
		pthread_cond_signal(&tidy->wake);
		pthread_mutex_unlock(&tidy->lock);
		pthread_join(tidy->thread, NULL);
	}
	pthread_cond_destroy(&tidy->wake);
	pthread_mutex_destroy(&tidy->pass);
	pthread_mutex_destroy(&tidy->lock);
	free(tidy->path);
	free(tidy);
}
