/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are counted alone, with what they call: `--function`.
 *
 * A thread that enters one counts in a bank whose last region is the function, marked so that no
 * region of the program's own has such a name. All that it calls belongs to it, itself included. It
 * is left when code runs that it returned to, or any further up on the same stack: then an exception
 * or longjmp went past it. What runs on another stack (of a coroutine, or a signal handler's own)
 * says nothing. */
#include "loader.h"
#include "pattern.h"
#include "regions.h"

/* A return takes its address and at most 65535 bytes of arguments off the stack. */
#define MOST_POPPED (8 + 65535)
#define MOST_NAME_BYTES 4096u
#define MOST_KNOWN 256u
/* Below the top of the stack of the first thread nothing else lies for as much. */
#define FIRST_STACK_BYTES (UINT64_C(128) << 20)

/* ---- which ---- */

static bool is_selected(const char *name) {
    const char *wanted = arena_text(process.arena->function_name);
    char original[MOST_NAME_BYTES];
    if (text_equal(name, wanted) || pattern_matches(wanted, name)) {
        return true;
    }
    const size_t length = original_length(name);
    if (!name[length] || length >= sizeof original) {
        return false;
    }
    memcpy(original, name, length);
    original[length] = 0;
    return text_equal(original, wanted) || pattern_matches(wanted, original);
}

static const NamedFunction *functions_of(const Loaded *module) {
    return (const NamedFunction *)((const uint8_t *)module->copy
                                   + module->copy->sections[SECTION_FUNCTIONS].at);
}

/* The name of one; NULL: the file is damaged. */
static const char *name_of(const Loaded *module, const NamedFunction *function) {
    const Section *names = &module->copy->sections[SECTION_NAMES];
    const char *text = (const char *)module->copy + names->at;
    return function->name && function->name < names->n && !text[names->n - 1]
        ? text + function->name
        : NULL;
}

/* Entries that were found by their names lately: regions with the function's. */
typedef struct {
    uint64_t entry, before, regions;
} Known;

static Known known[MOST_KNOWN];
uint64_t functions_lock;

static Known *known_at(uint64_t entry, uint64_t before) {
    const uint64_t hash = (entry ^ before << 7) * UINT64_C(0x9e3779b97f4a7c15);
    return &known[hash >> 32 & (MOST_KNOWN - 1)];
}

void functions_select(const Loaded *module) {
    const NamedFunction *functions = functions_of(module);
    const uint64_t n = module->copy->sections[SECTION_FUNCTIONS].n;
    if (!process.arena->function_name) {
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        const char *name = name_of(module, &functions[i]);
        uint8_t *entry = module->code + functions[i].at;
        if (name && functions[i].at + 2 < module->code_bytes && *entry == 0xEB
            && is_selected(name)) {
            entry[0] = 0x66; /* do nothing, in place of the jump over the hook */
            entry[1] = 0x90;
        }
    }
    if (lock_take(&functions_lock)) { /* another module may have been there */
        memset(known, 0, sizeof known);
        lock_release(&functions_lock);
    }
}

static const char *name_at(uint64_t entry) {
    const Loaded *module = loaded_with_copy_at(entry);
    if (!module) {
        return NULL;
    }
    const NamedFunction *functions = functions_of(module);
    const uint64_t n = module->copy->sections[SECTION_FUNCTIONS].n;
    uint64_t low = 0, high = n;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (functions[middle].at < entry - (uint64_t)module->code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < n && functions[low].at == entry - (uint64_t)module->code; low++) {
        const char *name = name_of(module, &functions[low]);
        if (name && is_selected(name)) {
            return name;
        }
    }
    return NULL;
}

static uint64_t regions_in(uint64_t before, uint64_t entry) {
    Known *at = known_at(entry, before);
    uint64_t regions = 0;
    if (lock_take(&functions_lock)) {
        regions = at->entry == entry && at->before == before ? at->regions : 0;
        lock_release(&functions_lock);
    }
    const char *name = regions ? NULL : name_at(entry);
    if (name) {
        char marked[MOST_NAME_BYTES] = {FUNCTION_MARK};
        regions = regions_with(before, marked, text_add(marked, 1, sizeof marked, name));
        if (regions && lock_take(&functions_lock)) {
            *at = (Known){entry, before, regions};
            lock_release(&functions_lock);
        }
    }
    return regions;
}

/* ---- stacks ---- */

/* What is mapped around an address, up to there. */
static void find_mapping(uint64_t address, uint64_t found[2]) {
    Array content;
    const char *text = (const char *)call_read_all("/proc/self/maps", &content);
    Mapping one;
    while (maps_next(&text, &one)) {
        if (one.start <= address && address < one.end) {
            found[0] = one.start;
            found[1] = address;
            break;
        }
    }
    array_end(&content);
}

/* The stack that the C library gave the thread: its own data are at the top of it, but for the first
   thread. A forked child may have been any. */
static void find_stack(Thread *thread, uint64_t sp) {
    const uint64_t top = process.stack_end;
    uint64_t own;
    if (sp < top && top - sp < FIRST_STACK_BYTES) {
        thread->stack[0] = top - FIRST_STACK_BYTES;
        thread->stack[1] = top;
    } else if ((int64_t)thread->tid != process.tid_of_main) {
        __asm__ volatile("movq %%fs:0, %0" : "=r"(own));
        find_mapping(own, thread->stack);
    }
}

static bool is_on_stack(const Thread *thread, uint64_t sp) {
    return sp >= thread->stack[0] && sp < thread->stack[1];
}

/* ---- hooks ---- */

/* Behind Frame: where the hook returns to, then what the program may use below its stack. */
static uint64_t return_of(const Frame *frame) {
    return *(const uint64_t *)(frame + 1);
}

static uint64_t stack_of(const Frame *frame) {
    return (uint64_t)(frame + 1) + 8 + BELOW_STACK;
}

static void goes_in(Thread *thread, uint64_t sp, uint64_t regions) {
    thread->open_before_function = thread->open.n;
    thread->regions_before_function = thread->regions;
    thread->function_sp = sp;
    thread->function_return = *(const uint64_t *)sp;
    if (!thread->stack[1]) {
        find_stack(thread, sp);
    }
    bank_use(thread, regions, bank_here()->tiles);
}

void thread_goes_on(Thread *thread, const Thread *before) {
    thread->open_before_function = before->open_before_function;
    thread->regions_before_function = before->regions_before_function;
    thread->function_sp = before->function_sp;
    thread->function_return = before->function_return;
    memcpy(thread->stack, before->stack, sizeof thread->stack);
}

static void goes_out(Thread *thread) {
    thread->function_sp = NO_LIMIT;
    thread->open.n = thread->open_before_function;
    bank_use(thread, thread->regions_before_function, bank_here()->tiles);
}

void function_entered(const Frame *frame) {
    Thread *thread = thread_here();
    if (thread->function_sp != NO_LIMIT || thread->busy) {
        return; /* all that it calls belongs to it */
    }
    thread->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const uint64_t regions = regions_in(thread->regions, return_of(frame) - ENTERED_BYTES);
    if (regions) {
        goes_in(thread, stack_of(frame), regions);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->busy = 0;
}

void function_returned(uint64_t sp) {
    Thread *thread = process.arena ? thread_here() : NULL;
    if (thread && !thread->busy && thread->function_sp == sp - 8) {
        thread->busy = 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        goes_out(thread);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        thread->busy = 0;
    }
}

/* Something is returned to whose stack pointer is above the limit of this bank. */
void function_left(const Frame *frame) {
    Thread *thread = thread_here();
    const uint64_t sp = stack_of(frame), to = return_of(frame) - LEFT_BYTES;
    if (thread->busy || sp <= thread->function_sp) {
        return;
    }
    const bool returned =
        to == thread->function_return && sp - thread->function_sp <= MOST_POPPED;
    const bool jumped = is_on_stack(thread, thread->function_sp) && is_on_stack(thread, sp);
    if (returned || jumped) {
        thread->busy = 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        goes_out(thread);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        thread->busy = 0;
    }
}
