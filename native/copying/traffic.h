/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates caches for the addresses that recording copies note: what the loader calls.
 *
 * Each process simulates caches of its own; a child of fork goes on with a copy of its parent's,
 * warm as they are. Threads run in parallel, and their rings are replayed one after the other: the
 * order of accesses of different threads is by whole rings.
 *
 * All of these may be called wherever the loader's hooks run. They take a lock, with all signals
 * blocked while it is held, save what vector registers they use, and need 4 KiB of stack, the one
 * about the end 16 KiB. Where the arena asks for no traffic they do nothing but empty rings.
 */
#ifndef RIDGEPOINT_TRAFFIC_H
#define RIDGEPOINT_TRAFFIC_H

#include <stdbool.h>

#include "arena.h"
#include "copy_file.h"

/* A program begins in this process, also by exec; not called after fork. */
void traffic_begin(ArenaHeader *arena, uint64_t process);

/* Its first modules have been loaded, which takes memory that is not the program's. */
void traffic_begun(void);

/* A module's copy was loaded: its number in the arena, its first counter, the file of its copy
   (mapped as long as its code may run) and where the module is. Blocks that had these counters before are
   forgotten. */
void traffic_module(uint64_t module, uint64_t first_counter, const CopyHeader *copy, uint64_t bias);

/* A thread gets the simulated CPU that has the fewest; a thread that was not announced gets one
   with its first ring. */
void traffic_thread_begins(uint64_t tid);
void traffic_thread_ends(uint64_t tid);

/* Replay what is in the ring of the calling thread's bank, and empty it: when it is full, before
   another bank is used, and before the thread ends, forks, or becomes another program. */
void traffic_ring(Bank *bank);

/* Before a thread uses a bank: it is in the burst that is on, or in none. */
void traffic_enters(Bank *bank);

/* At a tick of a thread's timer, in its signal's handler: it will look in soon. */
void traffic_tick(Bank *bank);

/* The calling thread goes from one bank (whose ring was replayed) to another, and is itself in these
   regions: not those of the bank where it counts with another thread. */
void traffic_switched(const Bank *from, const Bank *to, uint64_t own);

/* Around a fork, whose child has a number and a bank of its own; not around vfork, which shares
   memory. `tid`: of the thread that forks, and of the one that goes on. Nothing but the fork may
   happen in between: the lock is held, and signals are blocked. In a parent it may be called after
   other calls too, and does nothing. */
void traffic_before_fork(uint64_t tid);
void traffic_after_fork(bool is_child, uint64_t process, uint64_t tid);

/* The process is about to end: rings of all its threads are replayed, and none is from now on. Or
   (is_last false) it is about to become another program, and goes on if it cannot; others run on
   until then, and their rings are left alone. next_bank: the bank of this process after another
   one, or NULL; of NULL the first. */
void traffic_ends(uint64_t process, bool is_last, Bank *(*next_bank)(Bank *before));

/* Other threads go on for a moment, until the kernel ends them. */
void traffic_has_ended(void);

#endif
