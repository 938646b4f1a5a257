/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: on which simulated CPU each is, and who is in the selected region. */
#include "regions.h"
#include "traffic_state.h"

/* The CPU with the fewest threads: as a scheduler does it that has time. */
static uint32_t idlest_cpu(void) {
    uint32_t best = 0;
    for (uint32_t cpu = 1; cpu < traffic.n_cpus; cpu++) {
        if (traffic.threads_on_cpu[cpu] < traffic.threads_on_cpu[best]) {
            best = cpu;
        }
    }
    return best;
}

static TrafficThread *find(uint64_t tid) {
    for (uint32_t i = traffic.n_threads; i-- > 0;) {
        if (traffic.threads[i].tid == tid) {
            return &traffic.threads[i];
        }
    }
    return NULL;
}

TrafficThread *traffic_thread(uint64_t tid) {
    TrafficThread *thread = find(tid);
    if (thread) {
        return thread;
    }
    TrafficThread *const all = traffic_grown(traffic.threads, traffic.n_threads,
                                             &traffic.room_for_threads, sizeof *all);
    if (!all) {
        return NULL;
    }
    traffic.threads = all;
    thread = &all[traffic.n_threads++];
    *thread = (TrafficThread){.tid = tid, .cpu = idlest_cpu()};
    traffic.threads_on_cpu[thread->cpu]++;
    return thread;
}

void traffic_forget_thread(uint64_t tid) {
    TrafficThread *const thread = find(tid);
    if (thread) {
        traffic.threads_on_cpu[thread->cpu]--;
        traffic.n_inside -= thread->is_inside;
        *thread = traffic.threads[--traffic.n_threads];
    }
}

void traffic_only_thread(uint64_t before, uint64_t tid) {
    for (uint32_t i = traffic.n_threads; i-- > 0;) {
        if (traffic.threads[i].tid != before) {
            traffic_forget_thread(traffic.threads[i].tid);
        }
    }
    TrafficThread *const thread = traffic_thread(before);
    if (thread) {
        thread->tid = tid;
    }
}

/* ---- the selected region ---- */

static const char *name_at(uint64_t offset) {
    return (const char *)traffic.arena + traffic.arena->names_at + offset;
}

static bool is_inside(uint64_t regions) {
    const ArenaTraffic *const options = traffic.options;
    const char *const wanted = options->region_name ? name_at(options->region_name) : NULL;
    return regions && regions_hold(name_at(regions), wanted, options->flags & TRAFFIC_FUNCTION);
}

void traffic_goes_into(TrafficThread *thread, uint64_t own, uint64_t regions) {
    const bool inside = is_inside(own);
    traffic.n_inside += (uint32_t)inside - (uint32_t)thread->is_inside;
    thread->is_inside = inside;
    thread->regions = regions;
}

static bool has_selection(void) {
    return traffic.options->region_name || (traffic.options->flags & TRAFFIC_FUNCTION);
}

bool traffic_is_selected(const TrafficThread *thread) {
    return !has_selection() || thread->is_inside ||
           ((traffic.options->flags & TRAFFIC_ALL_THREADS) && traffic.n_inside);
}

/* Emptied caches know nothing of what went before; but reuse distances do. */
bool traffic_is_dropped(void) {
    return has_selection() && traffic.n_inside == 0 && !traffic.reuse &&
           (traffic.options->flags & TRAFFIC_COLD);
}

/* What a thread does outside, while all threads count, belongs to the regions of one inside. */
uint64_t traffic_regions_of(const TrafficThread *thread) {
    if (thread->regions || !has_selection() || !traffic_is_selected(thread)) {
        return thread->regions;
    }
    for (uint32_t i = 0; i < traffic.n_threads; i++) {
        if (traffic.threads[i].is_inside) {
            return traffic.threads[i].regions;
        }
    }
    return thread->regions;
}
