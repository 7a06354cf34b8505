/*
 * Dally's order in numbers.
 */
#ifndef POLICY_LOCALITY_DALLY_H
#define POLICY_LOCALITY_DALLY_H

/* What part of its time a job computed that made `done` steps in `ran_s`: small if communication slowed it; 0..1. */
double dally_sensitivity(double done, double ideal_per_s, double ran_s);

#endif
