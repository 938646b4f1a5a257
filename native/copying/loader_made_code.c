/* SPDX-License-Identifier: Apache-2.0 */
/* What of code made at run time is sure to be functions: followed from its first byte, instruction
 * by instruction, and from one function to the next. */
#include "loader_made.h"

#include "instruction.h"

#define NOWHERE UINT64_MAX

static uint64_t starts[MOST_BYTES / 64 + 1]; /* bit n: an instruction begins at byte n */

static bool is_start(uint64_t at) {
    return starts[at >> 6] >> (at & 63) & 1;
}

/* How functions begin, and constants do not: ENDBR64, PUSH, SUB RSP, MOV, LEA, LDTILECFG. */
static bool begins_function(const uint8_t *code) {
    static const uint8_t endbr[] = {0xF3, 0x0F, 0x1E, 0xFA}, tiles[] = {0xC4, 0xE2, 0x78, 0x49};
    const uint8_t *push = code + (code[0] == 0x41);
    const bool is_wide = (code[0] & 0xF8) == 0x48;
    return (push[0] & 0xF8) == 0x50 || !memcmp(code, endbr, 4) || !memcmp(code, tiles, 4)
        || (code[0] == 0x48 && (code[1] == 0x83 || code[1] == 0x81) && code[2] == 0xEC)
        || (is_wide && (code[1] == 0x89 || code[1] == 0x8B || code[1] == 0x8D));
}

MadeFunction made_functions[MOST_FUNCTIONS];
uint64_t n_made_functions;

/* From a function to the beginning of another. */
typedef struct {
    uint64_t from, target;
} MadeCall;

/* Of code that unwind tables are registered for: in the order of their functions. */
static MadeFrame frames[MOST_FUNCTIONS];
static uint64_t n_frames;

/* Where flow goes from an instruction that does not only go on. */
typedef struct {
    const uint8_t *code;
    uint64_t n;
    MadeFunction *function;
    Array waiting; /* uint64_t */
    Array *calls;
} Following;

static bool add_call(Following *f, uint64_t target) {
    MadeCall *call = array_add(f->calls, 1);
    if (call) {
        *call = (MadeCall){(uint64_t)(f->function - made_functions), target};
    }
    return call != NULL;
}

/* A jump by a register that a constant was put in just before leads to another function; one by a
   table never is so. */
static bool is_tail_call(const uint8_t *code, const Instruction *x) {
    const uint8_t *jump = code + x->address, *load = jump - 10; /* movabs */
    const bool is_high = jump[0] == 0x41;
    return x->flow == FLOW_INDIRECT_JUMP && !x->has_memory && x->address >= 10
        && load[0] == (is_high ? 0x49 : 0x48) && (load[1] & 0xF8) == 0xB8
        && (load[1] & 7) == (jump[is_high + 1] & 7);
}

/* False: it is not sure where it goes. */
static bool follow_flow(Following *f, const Instruction *x) {
    const bool is_inside = x->target >= f->function->begin && x->target < f->n;
    switch (x->flow) {
    case FLOW_CONDITIONAL:
    case FLOW_LOOP: return is_inside && numbers_add(&f->waiting, x->target);
    case FLOW_JUMP: return is_inside ? numbers_add(&f->waiting, x->target) : add_call(f, x->target);
    case FLOW_CALL: return add_call(f, x->target);
    case FLOW_INDIRECT_CALL: f->function->is_closed = false; return true;
    case FLOW_INDIRECT_JUMP: f->function->is_closed = false; return is_tail_call(f->code, x);
    case FLOW_NEXT:
    case FLOW_RETURN:
    case FLOW_STOP: return true;
    default: return false;
    }
}

static bool goes_on(const Instruction *x) {
    return x->flow != FLOW_RETURN && x->flow != FLOW_JUMP && x->flow != FLOW_STOP
        && x->flow != FLOW_INDIRECT_JUMP;
}

/* What is so far away may be out of reach from the copy. */
static bool is_near(const Instruction *x) {
    const int64_t distance = (int64_t)(x->target - x->address);
    return !x->is_rip_relative || (distance < INT64_C(1) << 30 && distance > -(INT64_C(1) << 30));
}

/* Follow code from `at` to where it does not go on, or has been before. */
static bool follow_path(Following *f, uint64_t at, bool *returns) {
    for (bool more = true; more && at < f->n && !is_start(at);) {
        Instruction x;
        if (!instruction_decode(f->code + at, f->n - at, at, &x)
            || (!f->code[at] && !f->code[at + 1]) || !is_near(&x) || x.what == WHAT_SYSCALL
            || x.what == WHAT_GS || x.segment == 0x65 || !follow_flow(f, &x)) {
            return false;
        }
        starts[at >> 6] |= UINT64_C(1) << (at & 63);
        *returns |= x.flow == FLOW_RETURN || x.flow == FLOW_JUMP || x.flow == FLOW_INDIRECT_JUMP;
        at += x.length;
        f->function->end = at > f->function->end ? at : f->function->end;
        more = goes_on(&x);
        if (more && at >= f->n) {
            return false;
        }
    }
    return true;
}

/* Mark what is reached from the beginning of a function; false: it is not sure that it is one. */
static bool follow(const uint8_t *code, uint64_t n, MadeFunction *function, Array *calls) {
    Following f = {code, n, function, {0}, calls};
    bool returns = false;
    array_begin(&f.waiting, sizeof(uint64_t));
    bool is_sure = numbers_add(&f.waiting, function->begin);
    while (is_sure && f.waiting.n) {
        is_sure = follow_path(&f, ((const uint64_t *)f.waiting.items)[--f.waiting.n], &returns);
    }
    array_end(&f.waiting);
    return is_sure && returns;
}

/* ---- functions that have unwind tables ---- */

/* Whether its copy can do what an instruction does. */
static bool is_usual(Following *f, const Instruction *x) {
    const bool is_inside = x->target >= f->function->begin && x->target < f->function->end;
    switch (x->flow) {
    case FLOW_CONDITIONAL:
    case FLOW_LOOP: return is_inside && numbers_add(&f->waiting, x->target);
    case FLOW_JUMP: return is_inside ? numbers_add(&f->waiting, x->target) : x->target < f->n;
    case FLOW_CALL: return x->target < f->n;
    case FLOW_INDIRECT_JUMP: return is_tail_call(f->code, x);
    case FLOW_XBEGIN: return false;
    default: return x->what != WHAT_SYSCALL && x->what != WHAT_GS && x->segment != 0x65;
    }
}

/* Its tables say where it ends: nothing but instructions is in it, to which it jumps. */
static bool read_function(const uint8_t *code, uint64_t n, MadeFunction *function, Array *calls) {
    Following f = {code, n, function, {0}, calls};
    bool is_sure = function->end <= n;
    array_begin(&f.waiting, sizeof(uint64_t));
    for (uint64_t at = function->begin; is_sure && at < function->end;) {
        Instruction x;
        is_sure = instruction_decode(code + at, function->end - at, at, &x) && is_near(&x)
            && is_usual(&f, &x);
        starts[at >> 6] |= UINT64_C(1) << (at & 63);
        at += x.length;
    }
    for (uint64_t i = 0; is_sure && i < f.waiting.n; i++) {
        is_sure = is_start(((const uint64_t *)f.waiting.items)[i]);
    }
    array_end(&f.waiting);
    return is_sure;
}

static const MadeFrame *frame_from(const uint8_t *code, uint64_t at) {
    for (uint64_t i = 0; i < n_frames; i++) {
        if (frames[i].start >= (uint64_t)code + at) {
            return &frames[i];
        }
    }
    return NULL;
}

/* Where the next function begins: behind what compilers fill up with. */
static uint64_t behind_padding(const uint8_t *code, uint64_t n, uint64_t at) {
    while (at < n && at & 15) {
        Instruction x;
        const bool is_trap = code[at] == 0xCC || !code[at];
        if (!is_trap && (!instruction_decode(code + at, n - at, at, &x) || x.what != WHAT_NOP)) {
            return NOWHERE;
        }
        at += is_trap ? 1 : x.length;
    }
    return at;
}

static void forget(const MadeFunction *function) {
    for (uint64_t at = function->begin; at < function->end; at++) {
        starts[at >> 6] &= ~(UINT64_C(1) << (at & 63));
    }
}

static bool is_closed_at(uint64_t begin) {
    for (uint64_t i = 0; i < n_made_functions; i++) {
        if (made_functions[i].begin == begin) {
            return made_functions[i].is_closed;
        }
    }
    return false;
}

/* Who calls what is not closed is not closed. Where unwind tables are registered for some
   functions, the others are of the same compiler, and have none because nobody unwinds through
   them. */
static void settle(const Array *calls, uint64_t n_certain) {
    const MadeCall *call = (const MadeCall *)calls->items;
    for (bool again = true; again;) {
        again = false;
        for (uint64_t i = 0; i < calls->n; i++) {
            if (made_functions[call[i].from].is_closed && !is_closed_at(call[i].target)) {
                made_functions[call[i].from].is_closed = false;
                again = true;
            }
        }
    }
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n_made_functions; i++) {
        const MadeFunction *function = &made_functions[i];
        if (function->is_closed || function->frame || (n_frames && i < n_certain)) {
            made_functions[kept++] = *function;
        } else {
            forget(function);
        }
    }
    n_made_functions = kept;
}

/* The function at `at`, and where what follows it begins; NOWHERE: it is not sure that there is
   one. */
static uint64_t add_function(const uint8_t *code, uint64_t n, uint64_t at, Array *calls) {
    const MadeFrame *frame = frame_from(code, at);
    MadeFunction *function = &made_functions[n_made_functions];
    *function = (MadeFunction){.begin = at, .end = at, .is_closed = true};
    const bool is_known = frame && frame->start == (uint64_t)code + at;
    if (is_known) {
        *function = (MadeFunction){.begin = at, .end = frame->end - (uint64_t)code, .frame = frame};
    }
    const bool is_sure = is_known ? read_function(code, n, function, calls)
                                  : follow(code, n, function, calls);
    if (!is_sure) {
        forget(function);
    }
    n_made_functions += is_sure;
    return is_sure || is_known ? behind_padding(code, n, function->end) : NOWHERE;
}

/* Only the first function may be followed by something else than the next, but for those that
   unwind tables are registered for. */
bool made_find_functions(const uint8_t *code, uint64_t n, bool may_change) {
    Array calls;
    uint64_t at = 0, n_certain = MOST_FUNCTIONS;
    n_frames = may_change ? 0 : frames_find((uint64_t)code, (uint64_t)code + n, frames,
                                            MOST_FUNCTIONS);
    n_made_functions = 0;
    memset(starts, 0, (n / 64 + 1) * 8);
    array_begin(&calls, sizeof(MadeCall));
    while (at < n && n_made_functions < MOST_FUNCTIONS) {
        const uint64_t next = add_function(code, n, at, &calls);
        const MadeFrame *frame = next == NOWHERE ? frame_from(code, at + 1) : NULL;
        if (next == NOWHERE && n_made_functions < n_certain) {
            n_certain = n_made_functions;
        }
        at = frame ? frame->start - (uint64_t)code : next;
    }
    if (may_change || n_certain < MOST_FUNCTIONS || at < n) { /* tables, or what is not known */
        for (uint64_t i = 1; i < n_made_functions; i++) {
            made_functions[i].is_closed = false;
        }
        made_functions[0].is_closed &= !made_functions[0].begin && begins_function(code);
    }
    n_made_functions = calls.failed ? 0 : n_made_functions;
    settle(&calls, n_certain);
    array_end(&calls);
    return n_made_functions;
}

/* Whether all that would be patched begins an instruction of it. */
bool made_allows(const CopyHeader *copy) {
    const Anchor *anchors =
        (const Anchor *)((const uint8_t *)copy + copy->sections[SECTION_ANCHORS].at);
    for (uint64_t i = 0; i < copy->sections[SECTION_ANCHORS].n; i++) {
        const uint64_t at = anchors[i].address - CODE_AT;
        if (at >= MOST_BYTES || !is_start(at)) {
            return false;
        }
    }
    return true;
}
