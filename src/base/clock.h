/*
 * What this process has used, and what time it is.  For reports, benches and
 * the daemon's loop: nothing here may reach a decision.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

double clock_cpu_s(void);        /* of the process */
double clock_thread_cpu_s(void); /* of the calling thread */
double clock_wall_s(void);       /* monotonic */
double clock_real_s(void);       /* seconds since 1970 */
double clock_boot_s(void);       /* monotonic, and counts while the machine sleeps */
int64_t clock_peak_rss_bytes(void);

#endif
