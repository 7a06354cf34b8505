/*
 * Output that Stint keeps in the attempt's directory, and its bound.
 *
 * The job has the files themselves as its standard output and error, opened for appending: no process stands
 * between.  The guard looks at their sizes, the more often the less room there is.  Beyond the bound it shortens the
 * larger file: the beginning stays, then comes a line that says how much was cut, then the latest lines, and the job
 * goes on writing behind them.  Writes never fail for that.
 *
 * While the disk has less free space than the reserve, no file grows: what is written beyond the size it had
 * before the space ran low is cut in the same way.  The same holds while the daemon says so (kept_hold): it knows
 * what all jobs of a tenant keep together.
 */
#ifndef LIVE_LOCAL_KEPT_OUTPUT_H
#define LIVE_LOCAL_KEPT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { KEPT_OUT, KEPT_ERR, KEPT_FILES };

struct kept_file {
	int fd;          /* appends, and is the job's, too; -1: not kept */
	int reader;      /* the same file */
	int64_t settled; /* size at the last look, or when the file was kept from growing */
	int64_t cut_at;  /* the last mark is there or before; 0: nothing was cut */
	int64_t cut;     /* bytes that the mark stands for */
};

struct kept_output {
	struct kept_file files[KEPT_FILES];
	int dir;         /* of the attempt */
	int64_t cap;     /* bytes of both files together; 0: any */
	int64_t reserve; /* bytes that stay free on the disk; 0: none */
	bool low;        /* less is free now */
	bool held;       /* the daemon says that no file may grow */
	bool any;        /* there is a file */
};

/*
 * Opens the file NAME in the open directory and gives it to the user.  Before any child exists: what is written as the
 * guard's user is out of the job's reach.  False: errno says why.
 */
bool kept_open(struct kept_output *kept, int which, const char *name, uid_t uid, gid_t gid);
/*
 * Bounds what was opened.  `cap` counts for all attempts of the job; an attempt has a sixteenth of it even where those
 * before have used it up.
 */
void kept_bound(struct kept_output *kept, uint32_t attempt, int64_t cap, int64_t reserve);
/* From now on, or no more: no file grows beyond its present size.  To be followed by kept_look(). */
void kept_hold(struct kept_output *kept, bool hold);
/* Shortens what is too large; seconds until it is to be called again, INFINITY: never. */
double kept_look(struct kept_output *kept);

#endif
