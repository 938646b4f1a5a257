/* SPDX-License-Identifier: Apache-2.0 */
/* A process becomes another program, which is to be counted as well, whatever environment it
 * gets. */
#include "loader.h"

#include <sys/syscall.h>

#define PRELOAD "LD_PRELOAD="
#define ARENA ARENA_VARIABLE "="
#define MOST_VARIABLES (1u << 20)
#define TEXT_BYTES 65536u

typedef struct {
    uint64_t n;       /* variables */
    uint64_t preload; /* number of LD_PRELOAD, or ~0 */
    bool has_library, has_arena;
} Environment;

/* False: it cannot be read, which the kernel will tell the program. */
static bool look_through(const uint64_t *variables, Environment *found) {
    *found = (Environment){.preload = ~UINT64_C(0)};
    for (uint64_t text; variables; variables++, found->n++) {
        if (found->n == MOST_VARIABLES || !read_program((uint64_t)variables, &text, sizeof text)) {
            return false;
        }
        if (!text) {
            break;
        }
        char first;
        if (!read_program(text, &first, 1)) {
            return false;
        }
        if (first == 'R') {
            found->has_arena |= text_begins((const char *)text, ARENA);
        } else if (first == 'L' && text_begins((const char *)text, PRELOAD)) {
            found->preload = found->n;
            found->has_library = text_find((const char *)text, process.loader_path) != NULL;
        }
    }
    return true;
}

static bool make_room(Thread *thread, uint64_t bytes) {
    if (bytes > thread->environment_bytes) {
        pages_give(thread->environment, thread->environment_bytes);
        thread->environment = pages_take(bytes);
        thread->environment_bytes = thread->environment ? bytes : 0;
    }
    return thread->environment != NULL;
}

/* The program's variables with what they lack, in memory of the thread; 0: there is none. */
static uint64_t completed(Thread *thread, const uint64_t *variables, const Environment *found) {
    const char *old = "";
    if (found->preload != ~UINT64_C(0)) {
        old = (const char *)variables[found->preload] + text_length(PRELOAD);
    }
    const size_t room = text_length(old) + 8192;
    if (!make_room(thread, (found->n + 3) * 8 + room)) {
        return 0;
    }
    uint64_t *made = (uint64_t *)thread->environment, n = 0;
    char *text = (char *)(made + found->n + 3);
    for (uint64_t i = 0; i < found->n; i++) {
        if (i != found->preload || found->has_library) {
            made[n++] = variables[i];
        }
    }
    if (!found->has_library) {
        made[n++] = (uint64_t)text;
        size_t length = text_add(text, 0, room, PRELOAD);
        length = text_add(text, length, room, process.loader_path);
        length = *old ? text_add(text, length, room, ":") : length;
        text += text_add(text, length, room, old) + 1;
    }
    if (!found->has_arena) {
        made[n++] = (uint64_t)text;
        text_add(text, text_add(text, 0, 128, ARENA), 128, process.arena_path);
    }
    made[n] = 0;
    return (uint64_t)made;
}

static bool is_vfork(const Thread *thread) {
    return (uint64_t)system_call(SYS_gettid, 0, 0, 0, 0, 0, 0) != thread->tid;
}

void exec_begins(Thread *thread, Frame *frame) {
    Environment found;
    uint64_t *environment = frame->rax == SYS_execve ? &frame->rdx : &frame->r10;
    const uint64_t path = frame->rax == SYS_execve ? frame->rdi : frame->rsi;
    char name[256];
    size_t n = 0;
    while (n < sizeof name && read_program(path + n, name + n, 1) && name[n]) {
        n++;
    }
    const uint64_t values[4] = {is_vfork(thread)};
    if (!is_vfork(thread)) {
        traffic_ring(bank_here());
        traffic_ends(process.number, false, bank_after);
    }
    arena_event(EVENT_EXECS, values, arena_name(name, n), 0);
    const uint64_t *variables = (const uint64_t *)*environment;
    if (process.loader_path[0] && look_through(variables, &found)
        && !(found.has_library && found.has_arena)) {
        const uint64_t made = completed(thread, variables, &found);
        *environment = made ? made : *environment;
    }
}

void exec_failed(const Thread *thread, const Frame *frame) {
    const uint64_t values[4] = {-frame->rax, is_vfork(thread)};
    arena_event(EVENT_EXEC_FAILED, values, 0, 0);
}
