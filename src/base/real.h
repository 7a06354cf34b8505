/*
 * Logarithm and exponential that are the same everywhere: libm's differ in the
 * last bit between versions and between processors with and without FMA, and
 * decisions must not.
 */
#ifndef BASE_REAL_H
#define BASE_REAL_H

double real_log(double x); /* x > 0 */
double real_exp(double x);
double real_pow(double x, double y); /* x > 0; relative error about |y log x| units of the last place */

#endif
