/* SPDX-License-Identifier: Apache-2.0 */
/* Where time goes: a timer of its CPU time per thread, whose signal interrupts it. */
#define _GNU_SOURCE
#include "loader.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#define SIGNAL 62
#define STACK_PAGES 16u /* that a thread must have left to be interrupted */
#define RETRY (-4)      /* EINTR */
#define RESTORER UINT64_C(0x04000000) /* SA_RESTORER */

extern const char _end[] __attribute__((visibility("hidden")));

static bool are_on; /* the signal is ours */

/* ---- where the program counter was ---- */

static bool is_ours(uint64_t address) {
    return address >= (uint64_t)__ehdr_start && address < (uint64_t)_end;
}

/* A jump into the copy, or a short jump to one: nothing of the program runs there. */
static bool is_anchor(const Loaded *module, uint64_t address) {
    const uint8_t *code = (const uint8_t *)address;
    if (code[0] == 0xeb) {
        code += 2 + (int8_t)code[1];
    }
    int32_t distance;
    memcpy(&distance, code + 1, 4);
    const uint64_t to = (uint64_t)code + 5 + (uint64_t)(int64_t)distance;
    return code[0] == 0xe9 && module->code && to >= (uint64_t)module->code
        && to < (uint64_t)module->code + module->code_bytes;
}

static bool is_after_call(uint64_t address) {
    const uint8_t *code = (const uint8_t *)address;
    return (address & 4095) >= 2 && code[-2] == 0x0f && code[-1] == 0x05; /* on one page */
}

static void note(Bank *bank, uint64_t *count, uint64_t address) {
    ++*count;
    if (!arena_sample(address)) {
        bank->dropped++;
    }
}

static void classify(Bank *bank, uint64_t address) {
    const Loaded *module = loaded_with_copy_at(address);
    if (is_ours(address)) {
        bank->in_loader++;
    } else if (module) {
        *(is_after_call(address) ? &bank->in_kernel : &bank->in_copy) += 1;
    } else if (!(module = loaded_at(address))) {
        note(bank, &bank->elsewhere, address);
    } else if (is_after_call(address)) {
        bank->in_kernel++;
    } else if (is_anchor(module, address)) {
        bank->in_copy++;
    } else {
        note(bank, &bank->in_original, address);
    }
}

/* Many calls are not begun anew after a handler, whatever its flags: the program must not see that
   there was one. What was called is kept by hook_system_call. */
static void call_again(greg_t *registers, const Bank *bank) {
    const uint64_t call = bank->slots[SLOT_CALL];
    if (registers[REG_RAX] == RETRY && call != SYS_close && call != SYS_connect
        && is_after_call((uint64_t)registers[REG_RIP])
        && loaded_with_copy_at((uint64_t)registers[REG_RIP])) {
        registers[REG_RAX] = (greg_t)call;
        registers[REG_RIP] -= 2;
    }
}

/* At the head of a loop that counts in registers, the way to where it records; else the address. */
static uint64_t turned(uint64_t address) {
    const Loaded *module = loaded_with_copy_at(address);
    if (!module) {
        return address;
    }
    const Section *section = &module->copy->sections[SECTION_TURNS];
    const LoopTurn *turns = (const LoopTurn *)((const uint8_t *)module->copy + section->at);
    const uint64_t at = address - (uint64_t)module->code;
    uint64_t low = 0, high = section->n;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (turns[middle].head < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool is_head = low < section->n && turns[low].head == at;
    return is_head ? (uint64_t)module->code + turns[low].to : address;
}

static void timer_fired(int signal, void *info, ucontext_t *context) {
    (void)signal;
    (void)info;
    Bank *bank = bank_here();
    classify(bank, (uint64_t)context->uc_mcontext.gregs[REG_RIP]);
    call_again(context->uc_mcontext.gregs, bank);
    traffic_tick(bank);
    if (bank->slots[SLOT_TURN]) {
        greg_t *const at = &context->uc_mcontext.gregs[REG_RIP];
        *at = (greg_t)turned((uint64_t)*at);
    }
}

/* ---- timers ---- */

void samples_begin(void) {
    const KernelAction action = {(uint64_t)timer_fired,
                                 SA_SIGINFO | SA_RESTART | SA_ONSTACK | RESTORER,
                                 (uint64_t)hook_return_from_signal,
                                 ~UINT64_C(0) /* no other handler is to see that it interrupts this */};
    are_on = process.arena->options & OPTION_SAMPLES && process.arena->period_ns
        && !kernel(SYS_rt_sigaction, SIGNAL, (uint64_t)&action, 0, 8, 0, 0);
}

/* A frame of a signal takes up to 12 KiB where there are tiles. */
static bool has_stack(void) {
    uint8_t bytes[STACK_PAGES];
    uint64_t here[2] = {(uint64_t)bytes, sizeof bytes}, there[2 * STACK_PAGES];
    const uint64_t top = (uint64_t)__builtin_frame_address(0);
    if (process.tid_of_main == kernel(SYS_gettid, 0, 0, 0, 0, 0, 0)) {
        return true;
    }
    for (unsigned i = 0; i < STACK_PAGES; i++) {
        there[2 * i] = top - 4096 * i;
        there[2 * i + 1] = 1;
    }
    const int64_t n = kernel(SYS_process_vm_readv, (uint64_t)process.pid, (uint64_t)here, 1,
                                  (uint64_t)there, STACK_PAGES, 0);
    return n == STACK_PAGES || n == -38 /* ENOSYS */ || n == -1 /* EPERM */;
}

void samples_of_thread(Thread *thread) {
    struct {
        uint64_t value;
        int32_t signal, notify, tid, unused[11];
    } event = {.signal = SIGNAL, .notify = SIGEV_THREAD_ID, .tid = (int32_t)thread->tid};
    int32_t timer = -1;
    if (!are_on || !has_stack()
        || kernel(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (uint64_t)&event,
                       (uint64_t)&timer, 0, 0, 0)) {
        return;
    }
    const uint64_t ns = process.arena->period_ns, second = UINT64_C(1000000000);
    const uint64_t period[4] = {ns / second, ns % second, ns / second, ns % second};
    kernel(SYS_timer_settime, (uint64_t)timer, 0, (uint64_t)period, 0, 0, 0);
    thread->timer = timer;
}

bool samples_want(uint64_t signal) {
    return are_on && signal == SIGNAL;
}

/* The program does something about the signal that is ours. If it only resets it, it may think
   so; if it has a use for it, it gets it. */
void samples_give_way(bool has_use) {
    if (has_use) {
        are_on = false;
        threads_stop_timers();
    }
}
