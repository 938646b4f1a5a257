/* SPDX-License-Identifier: Apache-2.0 */
/* Where time goes: a timer per thread. */
#include "loader.h"

void samples_begin(void) {
}

void samples_of_thread(Thread *thread) {
    (void)thread;
}
