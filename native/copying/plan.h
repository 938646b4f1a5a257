/* SPDX-License-Identifier: Apache-2.0 */
/* Where a copy shall be in a program, and which counters it shall have there: as long as both are
 * free, the file of the copy is mapped as it is, and nothing of it has to be read or changed. */
#ifndef RIDGEPOINT_PLAN_H
#define RIDGEPOINT_PLAN_H

#include "copier.h"

/* Plan a place that the copies of other modules hardly have. */
void plan_place(Copy *copy, const Module *module);
/* Plan the counters from `first` on; once. */
void plan_counters(Copy *copy, uint64_t first);

#endif
