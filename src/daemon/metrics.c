/*
 * The registry: three tables of families, two of labelled counters, one mutex.
 */
#include "daemon/metrics.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BUCKETS = 16, LABELLED_MAX = 1024 };

struct family {
	const char *name, *help;
};

static const struct family counters[METRICS_COUNTERS] = {
	[METRICS_SUBMITS] = { "stint_submits", "Jobs accepted." },
	[METRICS_STARTS] = { "stint_starts", "Attempts started." },
	[METRICS_PREEMPTIONS] = { "stint_preemptions", "Attempts stopped for another job's sake." },
	[METRICS_RESIZES] = { "stint_resizes", "Changes of a running job's devices." },
	[METRICS_REFUSED] = { "stint_refused", "Calls that were refused." },
	[METRICS_DECISIONS] = { "stint_decisions", "Times the policy was asked." },
	[METRICS_IDLE_RECLAIMS] = { "stint_idle_reclaims", "Attempts stopped because they did nothing." },
};

static const struct family gauges[METRICS_GAUGES] = {
	[METRICS_PENDING] = { "stint_jobs_pending", "Jobs that wait." },
	[METRICS_RUNNING] = { "stint_jobs_running", "Jobs that hold devices." },
	[METRICS_DEVICES] = { "stint_devices", "Devices there are." },
	[METRICS_DEVICES_UP] = { "stint_devices_up", "Devices that work." },
	[METRICS_DEVICES_HELD] = { "stint_devices_held", "Devices held by jobs." },
	[METRICS_FORECAST_COVERAGE] = { "stint_forecast_coverage_ratio",
		"Starts that lay in the interval said to hold 80 % of them." },
	[METRICS_FORECAST_OUTCOMES] = { "stint_forecast_outcomes", "Starts that this was measured on." },
	[METRICS_FORECAST_ERROR] = { "stint_forecast_median_error_seconds",
		"Median distance of starts from the middle of their forecast." },
	[METRICS_FAILED_LAUNCHES] = { "stint_failed_launches",
		"Jobs that have devices and cannot be launched." },
	[METRICS_IDLE_DEVICES] = { "stint_idle_devices", "Devices held by jobs that do nothing." },
	[METRICS_DRAINED_DEVICES] = { "stint_drained_devices", "Devices that go to nobody new." },
};

/* Upper bounds; 0 ends a shorter table. */
static const double long_s[BUCKETS] = { 1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400, 43200,
	86400, 259200, 604800 };
static const double short_s[BUCKETS] = { 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1,
	0.2, 0.5, 1, 2, 5, 10 };

static const struct {
	struct family is;
	const double *bounds;
} times[METRICS_TIMES] = {
	[METRICS_WAIT] = { { "stint_wait_seconds", "From submission to the first start." }, long_s },
	[METRICS_RUN] = { { "stint_run_seconds", "How long attempts ran." }, long_s },
	[METRICS_DECISION] = { { "stint_decision_seconds", "How long decisions took." }, short_s },
	[METRICS_COMMIT] = { { "stint_commit_seconds", "How long the record took to be durable." },
		short_s },
	[METRICS_FORECAST] = { { "stint_forecast_seconds", "How long forecasts took, beside the loop." },
		short_s },
	[METRICS_SUBMIT] = { { "stint_submit_seconds", "From a submission's arrival to its answer." },
		short_s },
	[METRICS_QUESTION] = { { "stint_question_cpu_seconds",
				       "CPU time of the loop for a question, or a piece of a long one." },
		short_s },
};

static const struct family endings = { "stint_endings", "Jobs that ended, by state." };
static const struct family requests = { "stint_http_requests",
	"Requests answered, by route and status." };
static const struct family notifications = { "stint_notifications",
	"Notifications, by what became of them." };

/* A counter for one set of labels, kept as it is written: state="FAILED" */
struct labelled {
	char *labels;
	uint64_t n;
};

struct labels {
	struct labelled at[LABELLED_MAX];
	size_t n;
};

struct histogram {
	uint64_t in[BUCKETS + 1]; /* the last is beyond all bounds */
	double sum;
};

struct metrics {
	pthread_mutex_t lock;
	uint64_t count[METRICS_COUNTERS];
	double value[METRICS_GAUGES];
	struct histogram times[METRICS_TIMES];
	struct labels endings, requests, notifications;
};

struct metrics *metrics_create(void)
{
	struct metrics *metrics = mem_alloc(sizeof(*metrics));

	pthread_mutex_init(&metrics->lock, NULL);
	return metrics;
}

static void labels_fini(struct labels *labels)
{
	for (size_t i = 0; i < labels->n; i++)
		free(labels->at[i].labels);
}

void metrics_destroy(struct metrics *metrics)
{
	if (!metrics)
		return;
	labels_fini(&metrics->endings);
	labels_fini(&metrics->requests);
	labels_fini(&metrics->notifications);
	pthread_mutex_destroy(&metrics->lock);
	free(metrics);
}

void metrics_count(struct metrics *metrics, enum metrics_counter which, uint64_t n)
{
	pthread_mutex_lock(&metrics->lock);
	metrics->count[which] += n;
	pthread_mutex_unlock(&metrics->lock);
}

void metrics_set(struct metrics *metrics, enum metrics_gauge which, double value)
{
	pthread_mutex_lock(&metrics->lock);
	metrics->value[which] = value;
	pthread_mutex_unlock(&metrics->lock);
}

static size_t bucket_of(const double *bounds, double seconds)
{
	for (size_t i = 0; i < BUCKETS && bounds[i] > 0; i++) {
		if (seconds <= bounds[i])
			return i;
	}
	return BUCKETS;
}

void metrics_time(struct metrics *metrics, enum metrics_time which, double seconds)
{
	struct histogram *h = &metrics->times[which];

	if (!isfinite(seconds))
		return;
	seconds = fmax(seconds, 0);
	pthread_mutex_lock(&metrics->lock);
	h->in[bucket_of(times[which].bounds, seconds)]++;
	h->sum += seconds;
	pthread_mutex_unlock(&metrics->lock);
}

/* Takes the text.  What finds no room any more is counted in the last row. */
static void labels_count(struct labels *labels, char *text)
{
	size_t i = 0;

	while (i < labels->n && strcmp(labels->at[i].labels, text) != 0)
		i++;
	if (i == LABELLED_MAX)
		i--;
	if (i < labels->n)
		free(text);
	else
		labels->at[labels->n++].labels = text;
	labels->at[i].n++;
}

static void add_label(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, "%s%s=\"", out->n ? "," : "", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			buf_char(out, '\\');
		if (*value == '\n')
			buf_str(out, "\\n");
		else
			buf_char(out, *value);
	}
	buf_char(out, '"');
}

static void count_by(struct metrics *metrics, struct labels *labels, const char *name, const char *value)
{
	struct buf text = { 0 };

	add_label(&text, name, value);
	pthread_mutex_lock(&metrics->lock);
	labels_count(labels, text.at);
	pthread_mutex_unlock(&metrics->lock);
}

void metrics_ended(struct metrics *metrics, const char *state)
{
	count_by(metrics, &metrics->endings, "state", state);
}

void metrics_notified(struct metrics *metrics, const char *result)
{
	count_by(metrics, &metrics->notifications, "result", result);
}

void metrics_http(struct metrics *metrics, const char *route, int status)
{
	struct buf text = { 0 };
	char code[16];

	snprintf(code, sizeof(code), "%d", status);
	add_label(&text, "route", route);
	add_label(&text, "status", code);
	pthread_mutex_lock(&metrics->lock);
	labels_count(&metrics->requests, text.at);
	pthread_mutex_unlock(&metrics->lock);
}

/* ---- text */

static void head(struct buf *out, const struct family *is, const char *type, const char *unit)
{
	buf_printf(out, "# TYPE %s %s\n", is->name, type);
	if (unit)
		buf_printf(out, "# UNIT %s %s\n", is->name, unit);
	buf_printf(out, "# HELP %s %s\n", is->name, is->help);
}

static void render_counter(struct buf *out, const struct family *is, uint64_t n)
{
	head(out, is, "counter", NULL);
	buf_printf(out, "%s_total %llu\n", is->name, (unsigned long long)n);
}

static void render_gauge(struct buf *out, const struct family *is, double value)
{
	head(out, is, "gauge", NULL);
	buf_printf(out, "%s ", is->name);
	if (isfinite(value))
		buf_double(out, value);
	else
		buf_str(out, "NaN");
	buf_char(out, '\n');
}

static void render_labels(struct buf *out, const struct family *is, const struct labels *labels)
{
	head(out, is, "counter", NULL);
	for (size_t i = 0; i < labels->n; i++)
		buf_printf(out, "%s_total{%s} %llu\n", is->name, labels->at[i].labels,
			(unsigned long long)labels->at[i].n);
}

static void render_time(struct buf *out, enum metrics_time which, const struct histogram *h)
{
	const char *name = times[which].is.name;
	const double *bounds = times[which].bounds;
	uint64_t sum = 0;

	head(out, &times[which].is, "histogram", "seconds");
	for (size_t i = 0; i < BUCKETS && bounds[i] > 0; i++) {
		sum += h->in[i];
		buf_printf(out, "%s_bucket{le=\"", name);
		buf_double(out, bounds[i]);
		/* Bounds are written as floats, so that every reader names them alike. */
		buf_printf(out, "%s\"} %llu\n", bounds[i] == floor(bounds[i]) ? ".0" : "",
			(unsigned long long)sum);
	}
	sum += h->in[BUCKETS];
	buf_printf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum ", name, (unsigned long long)sum, name);
	buf_double(out, h->sum);
	buf_printf(out, "\n%s_count %llu\n", name, (unsigned long long)sum);
}

void metrics_render(struct metrics *metrics, struct buf *out)
{
	pthread_mutex_lock(&metrics->lock);
	for (int i = 0; i < METRICS_COUNTERS; i++)
		render_counter(out, &counters[i], metrics->count[i]);
	for (int i = 0; i < METRICS_GAUGES; i++)
		render_gauge(out, &gauges[i], metrics->value[i]);
	render_labels(out, &endings, &metrics->endings);
	render_labels(out, &requests, &metrics->requests);
	render_labels(out, &notifications, &metrics->notifications);
	for (int i = 0; i < METRICS_TIMES; i++)
		render_time(out, (enum metrics_time)i, &metrics->times[i]);
	pthread_mutex_unlock(&metrics->lock);
	buf_str(out, "# EOF\n");
}
