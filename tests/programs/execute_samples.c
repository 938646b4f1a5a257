/*
 * Executes instructions on this CPU and holds what they do against what the decoder says.
 *
 * From stdin come records of 16 bytes: an instruction of at most 15, and the flags that it leaves
 * undefined. Each is executed twice. The second time all registers and flags that are said to be
 * unread hold other values, which must change nothing that is said to be overwritten. Needs
 * AVX-512; what faults is counted and not judged.
 */
#include "instruction.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct {
    uint64_t registers[16], flags, masks[8];
    uint8_t vectors[32][64];
} State;

typedef struct {
    uint8_t code[15], undefined_flags;
} Sample;

enum { MEMORY = 1 << 15, MIDDLE = MEMORY / 2, CODE = 4096 };
#define STATE_FLAGS UINT64_C(0xCD5) /* CF PF AF ZF SF DF OF */

State in, out;
uint64_t host_stack, begin;
void execute(void);
void executed(void);

#define ALL_8 "0,1,2,3,4,5,6,7"
#define ALL_32 ALL_8 ",8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
__asm__(
    ".text\n"
    ".globl execute, executed\n"
    "execute:\n"
    "push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
    "mov %rsp, host_stack(%rip)\n"
    ".irp n," ALL_32 "\nvmovdqu64 in+200+64*\\n(%rip), %zmm\\n\n.endr\n"
    ".irp n," ALL_8 "\nkmovq in+136+8*\\n(%rip), %k\\n\n.endr\n"
    "push in+128(%rip)\npopfq\n"
    "mov in(%rip), %rax\nmov in+8(%rip), %rcx\nmov in+16(%rip), %rdx\nmov in+24(%rip), %rbx\n"
    "mov in+32(%rip), %rsp\nmov in+40(%rip), %rbp\nmov in+48(%rip), %rsi\nmov in+56(%rip), %rdi\n"
    ".irp n,8,9,10,11,12,13,14,15\nmov in+8*\\n(%rip), %r\\n\n.endr\n"
    "jmp *begin(%rip)\n"
    "executed:\n"
    "mov %rax, out(%rip)\nmov %rcx, out+8(%rip)\nmov %rdx, out+16(%rip)\nmov %rbx, out+24(%rip)\n"
    "mov %rsp, out+32(%rip)\nmov %rbp, out+40(%rip)\nmov %rsi, out+48(%rip)\n"
    "mov %rdi, out+56(%rip)\n"
    ".irp n,8,9,10,11,12,13,14,15\nmov %r\\n, out+8*\\n(%rip)\n.endr\n"
    "mov host_stack(%rip), %rsp\n"
    "pushfq\npop out+128(%rip)\ncld\n"
    ".irp n," ALL_32 "\nvmovdqu64 %zmm\\n, out+200+64*\\n(%rip)\n.endr\n"
    ".irp n," ALL_8 "\nkmovq %k\\n, out+136+8*\\n(%rip)\n.endr\n"
    "vzeroupper\n"
    "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
    "ret\n");

static uint8_t *memory, *code; /* below 2 GiB, so that every kind of address can reach it */
static uint8_t before[MEMORY], first_memory[MEMORY];
static sigjmp_buf faulted;
static uint64_t chance = 88172645463325252u;
static unsigned n_executed, n_faulted, n_wrong;

static uint64_t draw(void) { /* xorshift64 */
    chance ^= chance << 13;
    chance ^= chance >> 7;
    return chance ^= chance << 17;
}

static void on_fault(int signal) { siglongjmp(faulted, signal); }

static uint64_t pointer(void) { return (uintptr_t)memory + MIDDLE + (draw() & 0xFF8); }

static void put(uint8_t *to, uint64_t value, unsigned bytes) { memcpy(to, &value, bytes); }

/* The instruction, its constants changed so that addresses are in `memory`; then back to us. */
static void place(const Sample *sample, const Instruction *is, Instruction *placed) {
    memset(code, 0xCC, CODE);
    uint8_t *at = code + 64;
    memcpy(at, sample->code, is->length);
    uint8_t *displacement = at + is->displacement_at;
    if (is->displacement_bytes == 8) {
        put(displacement, pointer(), 8);
    } else if (is->displacement_bytes == 4) {
        const uint64_t target = is->is_rip_relative ? pointer() - (uintptr_t)(at + is->length)
                                : is->base == NO_REGISTER ? pointer() : draw() & 255;
        put(displacement, target, 4);
    }
    memcpy(at + is->length, "\xFF\x25\0\0\0\0", 6);
    put(at + is->length + 6, (uintptr_t)executed, 8);
    begin = (uintptr_t)at;
    instruction_decode(at, 15, begin, placed);
}

/* Values with which most instructions do not fault. */
static void choose_state(const Instruction *is) {
    for (unsigned n = 0; n < 16; n++) {
        in.registers[n] = draw() >> (draw() & 63);
        if (n == is->index && !is->is_vsib) {
            in.registers[n] = draw() & 63;
        }
        if (n == is->base || n == 4 || n == 5 ||
            ((is->implicit_access) && (n == 3 || n >= 6))) {
            in.registers[n] = pointer();
        }
    }
    if (is->what == WHAT_REPEATED) {
        in.registers[1] = draw() & 15;
    }
    for (unsigned n = 0; n < 8; n++) {
        in.masks[n] = draw();
    }
    in.flags = 2 | (draw() & STATE_FLAGS);
    uint8_t *bytes = (uint8_t *)in.vectors;
    for (size_t i = 0; i < sizeof(in.vectors); i++) {
        bytes[i] = is->is_vsib ? (i % is->index_bytes ? 0 : draw() & 63) : draw();
    }
    for (size_t i = 0; i < MEMORY; i += 8) {
        put(before + i, draw(), 8);
    }
}

static uint64_t flags_of(unsigned flags) {
    static const uint16_t bits[] = {0x1, 0x4, 0x10, 0x40, 0x80, 0x800, 0x400};
    uint64_t found = 0;
    for (unsigned n = 0; n < 7; n++) {
        found |= flags >> n & 1 ? bits[n] : 0;
    }
    return found;
}

/* Other values in all that does not matter. */
static void change_unread(const Instruction *is) {
    for (unsigned n = 0; n < 16; n++) {
        if (!(is->read >> n & 1) && !(is->uses_stack && n == 4)) {
            in.registers[n] = draw();
        }
    }
    in.flags ^= STATE_FLAGS & ~flags_of(is->flags_read) & draw();
}

static int run(void) {
    const uint32_t mxcsr = 0x1F80;
    memcpy(memory, before, MEMORY);
    const int signal = sigsetjmp(faulted, 1);
    if (signal == 0) {
        __asm__ volatile("fninit; ldmxcsr %0" : : "m"(mxcsr));
        execute();
    }
    __asm__ volatile("cld; emms; fninit; ldmxcsr %0" : : "m"(mxcsr));
    return signal;
}

/* Whether the bytes that changed are those that the operand, or the stack, has. */
static bool is_outside(const Instruction *is, const State *with) {
    if (is->is_vsib || is->implicit_access || (is->has_memory && !is->memory_bytes)) {
        return false;
    }
    uint64_t from = is->displacement_bytes == 8 || is->is_rip_relative
                        ? is->target
                        : (uint64_t)(int64_t)is->displacement;
    from += is->base < 16 ? with->registers[is->base] : 0;
    from += is->index < 16 ? with->registers[is->index] * is->scale : 0;
    from -= (uintptr_t)memory;
    const uint64_t bytes = is->memory_access & 2 ? is->memory_bytes : 0;
    const uint64_t stack = with->registers[4] - (uintptr_t)memory;
    for (uint64_t i = 0; i < MEMORY; i++) {
        const bool in_stack = is->stack_access & 2 && i + 64 > stack && i < stack + 64;
        if (memory[i] != before[i] && !(i - from < bytes) && !in_stack) {
            return true;
        }
    }
    return false;
}

static void complain(const Sample *sample, const Instruction *is, const char *what, unsigned n) {
    n_wrong++;
    for (unsigned i = 0; i < is->length; i++) {
        printf("%02x", sample->code[i]);
    }
    printf(" %s %u\n", what, n);
}

static void judge_state(const Sample *sample, const Instruction *is) {
    for (unsigned n = 0; n < 16; n++) {
        if (!(is->changed >> n & 1) && in.registers[n] != out.registers[n]) {
            complain(sample, is, "changes register", n);
        }
    }
    for (unsigned n = 0; n < 8; n++) {
        if (!(is->masks_changed >> n & 1) && in.masks[n] != out.masks[n]) {
            complain(sample, is, "changes mask", n);
        }
    }
    if (is_outside(is, &in)) {
        complain(sample, is, "writes outside of its", is->memory_bytes);
    }
}

static void judge_both(const Sample *sample, const Instruction *is, const State *first) {
    for (unsigned n = 0; n < 16; n++) {
        if ((is->written >> n & 1) && first->registers[n] != out.registers[n]) {
            complain(sample, is, "depends on what is unread, in register", n);
        }
    }
    const uint64_t flags = flags_of(is->flags_written & ~sample->undefined_flags);
    if ((first->flags ^ out.flags) & flags) {
        complain(sample, is, "depends on what is unread, in flags", first->flags ^ out.flags);
    }
    if (memcmp(first->vectors, out.vectors, sizeof(out.vectors)) ||
        memcmp(first->masks, out.masks, sizeof(out.masks))) {
        complain(sample, is, "depends on what is unread, in vectors or masks", 0);
    }
    if (memcmp(first_memory, memory, MEMORY)) {
        complain(sample, is, "depends on what is unread, in memory", 0);
    }
}

static void judge(const Sample *sample) {
    Instruction is;
    if (!instruction_decode(sample->code, 15, 0, &is)) {
        complain(sample, &is, "is no instruction", 0);
        return;
    }
    place(sample, &is, &is);
    choose_state(&is);
    if (run()) {
        n_faulted++;
        return;
    }
    n_executed++;
    const State first = out;
    memcpy(first_memory, memory, MEMORY);
    judge_state(sample, &is);
    change_unread(&is);
    const int signal = run();
    if (signal) {
        complain(sample, &is, "depends on what is unread, and ends by signal", signal);
        return;
    }
    judge_state(sample, &is);
    judge_both(sample, &is, &first);
}

int main(void) {
    const int low = MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT;
    static uint8_t stack[1 << 16];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, low, -1, 0);
    code = mmap(NULL, CODE, PROT_READ | PROT_WRITE | PROT_EXEC, low, -1, 0);
    if (memory == MAP_FAILED || code == MAP_FAILED || sigaltstack(&alternate, NULL)) {
        return 2;
    }
    const int signals[] = {SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGBUS};
    for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        sigaction(signals[i], &action, NULL);
    }
    Sample sample;
    while (fread(&sample, sizeof(sample), 1, stdin) == 1) {
        judge(&sample);
    }
    printf("%u executed, %u faulted, %u wrong\n", n_executed, n_faulted, n_wrong);
    return n_wrong != 0;
}
