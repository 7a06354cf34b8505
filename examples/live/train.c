/*
 * Trains a tiny network, and can be stopped and continued at any step.
 *
 *	cc -O2 -I clients/c -o train examples/live/train.c -lm
 *	./train [STEPS] [SECONDS-PER-STEP] [SAVE-EVERY] [CHECKPOINT]
 *
 * The network learns to tell two spirals apart.  What makes it a good citizen is
 * in main(): it begins from its checkpoint if there is one, saves now and then, and
 * when asked to stop it saves and leaves.  All that the next step depends on is
 * in struct state, the random numbers too, so an interrupted run ends with exactly
 * the same weights as one that was left alone; the last line tells a digest of them.
 */
#define STINT_IMPLEMENTATION
#include "stint.h"

#include <math.h>
#include <stdint.h>

enum { HIDDEN = 12, BATCH = 16, POINTS = 200, WEIGHTS = 4 * HIDDEN + 1 };

static const double rate = 0.05, momentum = 0.9;

struct point {
	double x, y, label;
};

/* The whole checkpoint. */
struct state {
	int64_t step;
	uint64_t random;
	double loss;
	double weights[WEIGHTS], speed[WEIGHTS];
};

static uint64_t draw(struct state *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

static void make_spirals(struct point *points)
{
	int i;

	for (i = 0; i < 2 * POINTS; i++) {
		double turn = 3.5 * (i / 2) / POINTS, side = i % 2 ? -1 : 1;

		points[i].x = side * turn * cos(2 * turn) / 3.5;
		points[i].y = side * turn * sin(2 * turn) / 3.5;
		points[i].label = side;
	}
}

static void make_state(struct state *s, int seed)
{
	int i;

	memset(s, 0, sizeof(*s));
	s->random = 88172645463325252u + (uint64_t)seed;
	s->loss = 1;
	for (i = 0; i < WEIGHTS; i++)
		s->weights[i] = (double)(draw(s) >> 11) / 9007199254740992.0 * 2.4 - 1.2;
}

/* Adds one point's part to the slope; its loss. */
static double learn(const double *w, const struct point *p, double *slope)
{
	double hidden[HIDDEN], score = w[WEIGHTS - 1], error, back;
	int h;

	for (h = 0; h < HIDDEN; h++) {
		hidden[h] = tanh(w[4 * h] * p->x + w[4 * h + 1] * p->y + w[4 * h + 2]);
		score += w[4 * h + 3] * hidden[h];
	}
	error = -p->label / (1 + exp(p->label * score)) / BATCH;
	slope[WEIGHTS - 1] += error;
	for (h = 0; h < HIDDEN; h++) {
		back = error * w[4 * h + 3] * (1 - hidden[h] * hidden[h]);
		slope[4 * h] += back * p->x;
		slope[4 * h + 1] += back * p->y;
		slope[4 * h + 2] += back;
		slope[4 * h + 3] += error * hidden[h];
	}
	return log1p(exp(-p->label * score));
}

static void train_step(struct state *s, const struct point *points)
{
	double slope[WEIGHTS] = { 0 }, loss = 0;
	int i;

	for (i = 0; i < BATCH; i++)
		loss += learn(s->weights, &points[draw(s) % (2 * POINTS)], slope) / BATCH;
	for (i = 0; i < WEIGHTS; i++) {
		s->speed[i] = momentum * s->speed[i] - rate * slope[i];
		s->weights[i] += s->speed[i];
	}
	s->loss = 0.98 * s->loss + 0.02 * loss;
	s->step++;
}

static int load(struct state *s, const char *path)
{
	FILE *in = fopen(path, "rb");
	int whole;

	if (!in)
		return 0;
	whole = fread(s, sizeof(*s), 1, in) == 1 && fgetc(in) == EOF;
	fclose(in);
	return whole;
}

static void save(const struct state *s, const char *path)
{
	struct stint_save file;
	FILE *out = stint_save_open(&file, path);

	if (!out || fwrite(s, sizeof(*s), 1, out) != 1 || stint_save_commit(&file) < 0) {
		perror(path);
		exit(1);
	}
	stint_checkpointed(s->step);
}

static unsigned long long digest(const struct state *s)
{
	const unsigned char *bytes = (const unsigned char *)s->weights;
	unsigned long long hash = 14695981039346656037u;
	size_t i;

	for (i = 0; i < sizeof(s->weights); i++)
		hash = (hash ^ bytes[i]) * 1099511628211u;
	return hash;
}

static void rest(double seconds)
{
	struct timespec t;

	t.tv_sec = (time_t)seconds;
	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	int64_t steps = argc > 1 ? atoll(argv[1]) : 2000;
	double step_s = argc > 2 ? atof(argv[2]) : 0.01;
	int64_t every = argc > 3 ? atoll(argv[3]) : 200;
	char path[256];
	struct point points[2 * POINTS];
	struct state state;

	stint_init();
	snprintf(path, sizeof(path), "train-c-%ld.ckpt", stint_job_id());
	if (argc > 4)
		snprintf(path, sizeof(path), "%s", argv[4]);
	make_spirals(points);
	if (load(&state, path))
		printf("attempt %d goes on at step %lld\n", stint_attempt(), (long long)state.step);
	else
		make_state(&state, stint_array_index(0));

	while (state.step < steps && !stint_should_stop()) {
		struct stint_metric loss = { "loss", 0 };

		train_step(&state, points);
		loss.value = state.loss;
		stint_progress_with(state.step, steps, &loss, 1);
		if (every > 0 && state.step % every == 0) {
			save(&state, path);
			printf("step %lld of %lld, loss %.4f\n", (long long)state.step,
				(long long)steps, state.loss);
			fflush(stdout);
		}
		rest(step_s);
	}

	save(&state, path);
	if (state.step < steps) {
		printf("asked to stop: saved at step %lld\n", (long long)state.step);
		stint_exit_for_requeue();
	}
	printf("done after %lld steps, loss %.6f, weights %016llx\n", (long long)state.step,
		state.loss, digest(&state));
	return 0;
}
