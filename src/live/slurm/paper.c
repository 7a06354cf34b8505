/*
 * Files of a job in STATE/jobs/JOB, and what is submitted to Slurm.
 *
 *	slurm            which job of Slurm's it is: {"cluster":"vc","id":"4711","submit":…,"gen":1,"held":0,
 *	                 "out":"/home/ann/slurm-4711.out"}, paths where sbatch gave them
 *	stdout, stderr   unless the job has paths of its own; its runs append to them
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/members.h"
#include "live/slurm/driver.h"
#include "live/slurm/script.h"

static char *path_of(const struct slurm *s, uint32_t job, const char *name)
{
	return mem_printf("%s/jobs/%u/%s", s->base.config.state_dir, job, name);
}

static int make_dir(const struct slurm *s, uint32_t job, struct err *err)
{
	char *dir = mem_printf("%s/jobs/%u", s->base.config.state_dir, job);
	int rc = hands_make_path(dir, err);

	free(dir);
	return rc;
}

/* ---- which job it is */

static json_t *note_of(const struct slurm *s, const struct slurm_job *j)
{
	json_t *note = json_pack("{s:s,s:s,s:f,s:I,s:i}", "cluster", s->cluster, "id", j->name,
		"submit", j->submit_s, "gen", (json_int_t)j->generation, "held", (int)j->user_held);

	/* sbatch chose them, and Slurm forgets them. */
	if (j->kind == KIND_TAKEN && j->fact.out)
		json_object_set_new(note, "out", json_string(j->fact.out));
	if (j->kind == KIND_TAKEN && j->fact.err_out)
		json_object_set_new(note, "err", json_string(j->fact.err_out));
	return note;
}

void paper_write(struct slurm *s, const struct slurm_job *j)
{
	json_t *note = note_of(s, j);
	char *path = path_of(s, j->job, "slurm"), *text = json_dumps(note, JSON_COMPACT);
	struct err err = { 0 };

	/* Slurm shows it as well: no disk is waited for, which ten thousand jobs would feel. */
	if (make_dir(s, j->job, &err) < 0 || !text ||
		file_write_soon(path, text, strlen(text), &err) < 0)
		slurm_say(s, LEVEL_WARNING,
			"job %u is job %s in Slurm, which cannot be written down: %s", j->job,
			j->name, err.text);
	free(path);
	free(text);
	json_decref(note);
}

/* NULL: there is none. */
static json_t *read_note(const struct slurm *s, uint32_t job)
{
	char *path = path_of(s, job, "slurm");
	struct file file;
	struct err err;
	json_t *note = NULL;

	if (file_read_upto(path, 16384, &file, &err) == 0) {
		note = json_loadb(file.at, file.n, 0, NULL);
		file_fini(&file);
	}
	free(path);
	return note;
}

bool paper_read(const struct slurm *s, uint32_t job, struct paper *out)
{
	json_t *note = read_note(s, job);
	const char *cluster, *id;
	bool known;

	cluster = member_text(note, "cluster");
	id = member_text(note, "id");
	known = cluster && id && !strcmp(cluster, s->cluster) && strlen(id) < SLURM_NAME_MAX;
	if (known) {
		snprintf(out->name, sizeof(out->name), "%s", id);
		out->submit_s = member_number(note, "submit", 0);
		out->generation = (uint32_t)member_int(note, "gen", 0);
		out->user_held = (enum user_hold)member_int(note, "held", HOLD_NONE);
	}
	json_decref(note);
	return known;
}

/* ---- output */

char *paper_output(const struct slurm *s, uint32_t job, bool err_out)
{
	json_t *note = read_note(s, job);
	const char *given = member_text(note, err_out ? "err" : "out");
	char *path = given ? mem_strdup(given) : path_of(s, job, err_out ? "stderr" : "stdout");

	json_decref(note);
	return path;
}

/* The job's user must be able to write there, and cannot make files in our directory. */
static void make_output(const struct slurm *s, const struct launch *l, const char *path)
{
	struct err err;
	int fd;

	if (make_dir(s, l->job, &err) < 0)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	if (geteuid() == 0)
		(void)!fchown(fd, l->uid, l->gid);
	close(fd);
}

/* Slurm reads signs such as %j in paths. */
static json_t *path_for_slurm(const char *path)
{
	struct buf text = { 0 };
	json_t *json;

	for (; *path; path++) {
		if (*path == '%')
			buf_char(&text, '%');
		buf_char(&text, *path);
	}
	json = json_stringn(text.at ? text.at : "", text.n);
	buf_fini(&text);
	return json;
}

static json_t *output_of(const struct slurm *s, const struct launch *l, const char *given, bool err_out)
{
	char *path = given ? mem_strdup(given) : paper_output(s, l->job, err_out);
	json_t *json;

	if (!given)
		make_output(s, l, path);
	json = path_for_slurm(path);
	free(path);
	return json;
}

/* ---- what is submitted */

static json_t *words(const char *const *from)
{
	json_t *list = json_array();

	for (; from && *from; from++) {
		json_t *word = json_string(*from);

		if (word) /* what is no UTF-8 cannot travel */
			json_array_append_new(list, word);
	}
	return list;
}

json_t *paper_content(const struct slurm *s, const struct launch *l)
{
	json_t *job = json_object();
	struct buf script = { 0 };

	script_write(l, &script);
	json_object_set_new(job, "name", json_string(l->name));
	json_object_set_new(job, "script", json_stringn(script.at, script.n));
	json_object_set_new(job, "env", words(l->env));
	json_object_set_new(job, "cwd", json_string(l->cwd));
	json_object_set_new(job, "uid", json_integer((json_int_t)l->uid));
	json_object_set_new(job, "gid", json_integer((json_int_t)l->gid));
	if (s->partition)
		json_object_set_new(job, "partition", json_string(s->partition));
	json_object_set_new(job, "gpus", json_integer(l->gpus));
	json_object_set_new(job, "nodes", json_integer(1));
	if (l->cpus > 0)
		json_object_set_new(job, "cpus", json_integer((json_int_t)ceil(l->cpus)));
	if (l->mem_bytes > 0)
		json_object_set_new(job, "mem_mb", json_integer((l->mem_bytes + (1 << 20) - 1) >> 20));
	if (l->time_s > 0)
		json_object_set_new(job, "limit_s", json_integer((json_int_t)ceil(l->time_s)));
	json_object_set_new(job, "out", output_of(s, l, l->out, false));
	json_object_set_new(job, "err", output_of(s, l, l->err_out, true));
	json_object_set_new(job, "hold", json_true());
	/* Slurm must let us put it back; whether it may run again is the daemon's to know. */
	json_object_set_new(job, "requeue", json_true());
	buf_fini(&script);
	return job;
}
