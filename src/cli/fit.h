/*
 * What `stint fit` can fit; each has its flag with the file, and says and
 * writes its results itself.
 */
#ifndef CLI_FIT_H
#define CLI_FIT_H

#include "cli/command.h"

int fit_goodput_run(const struct args *args, struct err *err);
int fit_optimus_loss_run(const struct args *args, struct err *err);
int fit_optimus_speed_run(const struct args *args, struct err *err);
int fit_labels_run(const struct args *args, struct err *err);

#endif
