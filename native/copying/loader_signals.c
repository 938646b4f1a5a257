/* SPDX-License-Identifier: Apache-2.0 */
/* The program's signal handlers, which must not see that they interrupt copies.
 *
 * The kernel calls one function for all of them. It shows the handler the address that the
 * interrupted instruction has in its module (exception tables, profilers look it up), and if the
 * handler leaves it there, the copy goes on where it was.
 */
#define _GNU_SOURCE
#include "loader.h"

#include <sys/syscall.h>
#include <ucontext.h>

#define MOST_SIGNALS 65u
#define IS_FUNCTION(handler) ((handler) > 1) /* else default or ignored */

static uint64_t handlers[MOST_SIGNALS]; /* of the program */

typedef void (*Handler)(int signal, void *info, void *context);

/* The kernel's sa_handler. */
static void signal_arrived(int signal, void *info, ucontext_t *context) {
    greg_t *counter = &context->uc_mcontext.gregs[REG_RIP];
    const greg_t interrupted = *counter;
    const greg_t shown = (greg_t)original_address((uint64_t)interrupted);
    const Handler handler = (Handler)__atomic_load_n(&handlers[signal], __ATOMIC_ACQUIRE);
    *counter = shown;
    handler(signal, info, context);
    if (*counter == shown) {
        *counter = interrupted;
    }
}

/* A call of rt_sigaction; true: it has to be looked at when it returns. */
bool action_begins(Thread *thread, Frame *frame) {
    KernelAction *action = &thread->action;
    const uint64_t signal = frame->rdi;
    const bool is_of_child = (uint64_t)system_call(SYS_gettid, 0, 0, 0, 0, 0, 0) != thread->tid;
    if (!signal || signal >= MOST_SIGNALS || frame->r10 != 8 || is_of_child) {
        return false;
    }
    thread->kept_signals = signals_block(); /* until it returned: a handler may call this as well */
    thread->kept_handler = handlers[signal];
    if (frame->rsi && read_program(frame->rsi, action, sizeof *action)) {
        if (samples_want(signal)) {
            samples_give_way(IS_FUNCTION(action->handler));
        }
        if (samples_want(signal)) {
            frame->rsi = 0; /* it goes on with its default, as far as the program is concerned */
        } else if (IS_FUNCTION(action->handler)
                   && action->handler != (uint64_t)signal_arrived) {
            __atomic_store_n(&handlers[signal], action->handler, __ATOMIC_RELEASE);
            action->handler = (uint64_t)signal_arrived;
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
    } else if (old && old->handler == (uint64_t)signal_arrived) {
        old->handler = thread->kept_handler;
    } else if (old && samples_want(signal)) {
        *old = (KernelAction){0};
    }
    signals_restore(thread->kept_signals);
}
