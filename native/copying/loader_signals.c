/* SPDX-License-Identifier: Apache-2.0 */
/* The program's signal handlers, which must not see that they interrupt copies.
 *
 * The kernel calls hook_signal for all of them. It shows the handler the address that the
 * interrupted instruction has in its module (exception tables, profilers look it up), and if the
 * handler leaves it there, the copy goes on where it was. It calls the handler with a return
 * address of its own, which unwinders see as they see that of libc: there is no frame more.
 */
#define _GNU_SOURCE
#include "loader.h"

#include <sys/syscall.h>
#include <ucontext.h>

#define MOST_SIGNALS 65u
#define IS_FUNCTION(handler) ((handler) > 1) /* else default or ignored */

static uint64_t handlers[MOST_SIGNALS]; /* of the program */

/* ---- what emitted code has put aside ---- */

#define SPILL_BYTES 5u   /* lea rsp, [rsp - 128] */
#define UNSPILL_BYTES 8u /* lea rsp, [rsp + 128] */

static const uint8_t spill[SPILL_BYTES] = {0x48, 0x8d, 0x64, 0x24, 0x80};
static const uint8_t unspill[UNSPILL_BYTES] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};

static const int registers[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                  REG_R12, REG_R13, REG_R14, REG_R15};

/* Emitted code that needs a register and has none: it steps over the program's part of the stack,
   and pushes one and maybe the flags. */
typedef struct {
    const uint8_t *begin;  /* spill; push; pushfq */
    const uint8_t *pushed; /* after PUSH */
    const uint8_t *flags;  /* after PUSHFQ; NULL: none */
    const uint8_t *end;    /* popfq; pop; unspill; */
    uint8_t spilled;       /* which register */
} Spill;

/* The last such code that begins in [from, to). */
static bool find_spill(const uint8_t *from, const uint8_t *to, const uint8_t *limit, Spill *found) {
    bool is_there = false;
    for (const uint8_t *at = from; at < to && at + SPILL_BYTES + 3 < limit; at++) {
        const uint8_t *push = at + SPILL_BYTES;
        const bool is_high = push[0] == 0x41;
        push += is_high;
        if (!memcmp(at, spill, SPILL_BYTES) && (push[0] & 0xf8) == 0x50) {
            *found = (Spill){.begin = at, .pushed = push + 1,
                             .flags = push[1] == 0x9c ? push + 2 : NULL,
                             .spilled = (uint8_t)((push[0] & 7) | is_high << 3)};
            is_there = true;
        }
    }
    for (const uint8_t *at = to > from ? found->pushed : limit; is_there; at++) {
        if (at + UNSPILL_BYTES > limit) {
            return false;
        }
        if (!memcmp(at, unspill, UNSPILL_BYTES)) {
            found->end = at + UNSPILL_BYTES;
            return true;
        }
    }
    return false;
}

/* How far below the program's the stack pointer is, and what of the program's is where. */
static void undo_spill(const Spill *spilled, const uint8_t *at, greg_t *context) {
    const uint8_t *pop = spilled->end - UNSPILL_BYTES - (spilled->spilled >= 8 ? 2 : 1);
    const uint64_t *stack = (const uint64_t *)context[REG_RSP];
    const bool has_flags = spilled->flags && at >= spilled->flags && at <= pop - 1;
    const bool has_register = at >= spilled->pushed && at <= pop;
    if (has_flags) {
        context[REG_EFL] = (greg_t)*stack++;
    }
    if (has_register) {
        context[registers[spilled->spilled]] = (greg_t)*stack++;
    }
    context[REG_RSP] = (greg_t)stack;
    if (at > spilled->begin && at < spilled->end) {
        context[REG_RSP] += 128;
    }
}

/* Registers as the program has them before the instruction whose copy was interrupted. */
static void show_original(greg_t *context) {
    const uint64_t address = (uint64_t)context[REG_RIP];
    const Loaded *module = loaded_with_copy_at(address);
    Spill spilled;
    if (!module) {
        return;
    }
    const uint64_t original = loaded_original(module, address);
    const uint8_t *from = (const uint8_t *)loaded_place(module, address);
    const uint8_t *at = (const uint8_t *)address, *end = module->code + module->code_bytes;
    if (original) {
        context[REG_RIP] = (greg_t)original;
        if (find_spill(from, at, end, &spilled) && at < spilled.end) {
            undo_spill(&spilled, at, context);
        }
    }
}

/* ---- handlers ---- */

static bool is_same(const greg_t *a, const greg_t *b) {
    return a[REG_RIP] == b[REG_RIP] && a[REG_RSP] == b[REG_RSP];
}

/* Back to where the copy was: registers that the handler did not change get what was in them. */
static void go_back(greg_t *context, const greg_t *interrupted, const greg_t *shown) {
    for (unsigned i = 0; i < NGREG; i++) {
        if (context[i] == shown[i]) {
            context[i] = interrupted[i];
        }
    }
}

/* The handler lets the program go on elsewhere, maybe behind an instruction whose neighbours a jump
   has overwritten: it goes on in the copy of that place. */
static void enter_copy(greg_t *context) {
    const uint64_t address = (uint64_t)context[REG_RIP];
    const Loaded *module = loaded_at(address);
    const bool has_copy = module && module->code && !code_is_left(module, address);
    const uint64_t copied = has_copy ? loaded_copy(module, address) : 0;
    if (copied) {
        context[REG_RIP] = (greg_t)copied;
    }
}

/* Kept on the stack, below the kernel's frame, until the handler returns; as loader_hooks.S has it. */
typedef struct {
    greg_t interrupted[NGREG], shown[NGREG];
} Kept;

_Static_assert(sizeof(Kept) == 368 && NGREG == 23 && offsetof(ucontext_t, uc_mcontext) == 40,
               "loader_hooks.S");

/* Which handler is to be called: of the program. */
uint64_t signal_begins(uint64_t signal, ucontext_t *context, void *room) {
    greg_t *here = context->uc_mcontext.gregs;
    Kept *kept = room;
    group_call_interrupted();
    memcpy(kept->interrupted, here, sizeof kept->interrupted);
    if (here[REG_RIP] == (greg_t)hook_signal) { /* another one has not even begun */
        here[REG_RIP] = (greg_t)handlers[here[REG_RDI] % MOST_SIGNALS];
    } else {
        show_original(here);
    }
    memcpy(kept->shown, here, sizeof kept->shown);
    return __atomic_load_n(&handlers[signal], __ATOMIC_ACQUIRE);
}

void signal_ends(ucontext_t *context, const void *room) {
    greg_t *here = context->uc_mcontext.gregs;
    const Kept *kept = room;
    function_returned((uint64_t)room);
    if (is_same(here, kept->shown)) {
        go_back(here, kept->interrupted, kept->shown);
    } else {
        enter_copy(here);
    }
}

/* ---- rt_sigaction ---- */

/* A call of rt_sigaction; true: it has to be looked at when it returns. */
bool action_begins(Thread *thread, Frame *frame) {
    KernelAction *action = &thread->action;
    const uint64_t signal = frame->rdi;
    const bool is_of_child = (uint64_t)kernel(SYS_gettid, 0, 0, 0, 0, 0, 0) != thread->tid;
    if (!signal || signal >= MOST_SIGNALS || frame->r10 != 8 || is_of_child) {
        return false;
    }
    thread->kept_handler = handlers[signal];
    if (frame->rsi && read_program(frame->rsi, action, sizeof *action)) {
        if (samples_want(signal)) {
            samples_give_way(IS_FUNCTION(action->handler));
        }
        if (samples_want(signal)) {
            frame->rsi = 0; /* it goes on with its default, as far as the program is concerned */
        } else if (IS_FUNCTION(action->handler) && !has_shadow_stack()
                   && action->handler != (uint64_t)hook_signal) {
            __atomic_store_n(&handlers[signal], action->handler, __ATOMIC_RELEASE);
            action->handler = (uint64_t)hook_signal;
            frame->rsi = (uint64_t)action;
        }
    }
    return true;
}

/* What it was before is told in the program's own terms. */
void action_returned(Thread *thread, const Frame *before, const Frame *frame) {
    const uint64_t signal = before->rdi;
    KernelAction *old = (KernelAction *)before->rdx;
    if (frame->rax) {
        handlers[signal] = thread->kept_handler;
    } else if (old && old->handler == (uint64_t)hook_signal) {
        old->handler = thread->kept_handler;
    } else if (old && samples_want(signal)) {
        *old = (KernelAction){0};
    }
}
