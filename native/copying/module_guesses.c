/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that a module says nothing of: without unwind tables, and stripped, as the kernels in
 * assembly of many libraries are, and all of some programs.
 *
 * Code is followed from where the module is entered: what it calls, jumps to, or takes the address
 * of begins a function. What is only found by looking at bytes does not: tables of constants lie
 * between functions too, and nobody may write into those. */
#include "instruction.h"
#include "module_parts.h"

#define MOST_PADDING 64u /* between two functions */
#define LEAST_BYTES 256u  /* of code that is not known: with less nothing is guessed, */
#define LEAST_PART 64u    /* nor if it is less than one byte in so many */
#define MOST_CODE (UINT64_C(1) << 32)
#define MOST_LOOKED_AT 16
#define MOST_LOOKED_THROUGH 1024
#define MOST_SKIPPED 4096 /* by a jump inside a function */
#define START_BYTES 128 /* of a program, where the address of main is taken */

typedef struct {
    Opening *opening;
    const Module *module;
    uint64_t from, to;  /* all code */
    uint64_t *starts;   /* bit n: a function begins at from + n */
    Array waiting;      /* uint64_t: starts that were not followed yet */
    Array found;        /* Function */
} Guesses;

/* ---- starts ---- */

static bool is_start(const Guesses *g, uint64_t address) {
    const uint64_t bit = address - g->from;
    return address >= g->from && address < g->to && (g->starts[bit >> 6] >> (bit & 63) & 1);
}

static bool decode(const Guesses *g, uint64_t address, Instruction *x) {
    size_t room = 0;
    const uint8_t *code = module_rest(g->module, address, &room);
    return code && module_is_code(g->module, address)
        && instruction_decode(code, room, address, x) && (code[0] || code[1]);
}

static bool ends_flow(const Instruction *x) {
    return x->flow == FLOW_JUMP || x->flow == FLOW_INDIRECT_JUMP || x->flow == FLOW_RETURN
        || x->flow == FLOW_STOP;
}

/* One-byte opcodes that compilers hardly use, but constants that are no code have: ports, far
   returns, interrupts, LOOP, flags, AL. Bit n of word k: opcode 64 k + n. */
static const uint64_t ODD_OPCODES[4] = {
    UINT64_C(0x0000000000000000),
    UINT64_C(0x0000F00000000000), /* 6C-6F */
    UINT64_C(0x00000000F8005000), /* 8C 8E 9B-9F */
    UINT64_C(0x2C32F0FF0080BD00), /* C8 CA-CD CF D7 E0-E7 EC-EF F1 F4 F5 FA FB FD */
};

static bool is_odd(const uint8_t *code, uint8_t length) {
    uint8_t i = 0;
    while (i + 1 < length && (code[i] == 0x66 || code[i] == 0xF2 || code[i] == 0xF3
                              || code[i] == 0x64 || (code[i] & 0xF0) == 0x40)) {
        i++;
    }
    const uint8_t opcode = code[i];
    return ODD_OPCODES[opcode >> 6] >> (opcode & 63) & 1;
}

/* Whether what begins at an address that somebody took is code: it can be decoded up to where it
   ends, and nothing in it is odd. */
static bool is_plausible(const Guesses *g, uint64_t address) {
    uint64_t furthest = address;
    Instruction x;
    for (int i = 0; i < MOST_LOOKED_THROUGH; i++) {
        if (!decode(g, address, &x)
            || is_odd(module_bytes(g->module, address, x.length), x.length)) {
            return false;
        }
        address += x.length;
        const bool is_branch = x.flow == FLOW_CONDITIONAL || x.flow == FLOW_JUMP;
        if ((is_branch || x.flow == FLOW_CALL) && !module_is_code(g->module, x.target)) {
            return false;
        }
        if (is_branch && x.target > furthest && x.target - address < MOST_SKIPPED) {
            furthest = x.target;
        }
        if (ends_flow(&x) && address > furthest) {
            return x.flow != FLOW_STOP || i;
        }
    }
    return true;
}

/* What seems to lead there may be data as well. */
static void add_start(Guesses *g, uint64_t address) {
    const Module *module = g->module;
    if (!module_is_code(module, address) || module_function_at(module, address)
        || module_has_stubs(module, address, address + 1) || is_start(g, address)
        || !is_plausible(g, address)) {
        return;
    }
    uint64_t *added = array_add(&g->waiting, 1);
    if (added) {
        *added = address;
        g->starts[(address - g->from) >> 6] |= UINT64_C(1) << ((address - g->from) & 63);
    }
}

#define ARGUMENTS (1u << 7 | 1u << 6 | 1u << 2 | 1u << 1 | 1u << 8 | 1u << 9)

/* From a register into another. */
static bool is_move(const Instruction *x, unsigned reg) {
    return !x->has_memory && !x->flags_written && x->flow == FLOW_NEXT && x->read == 1u << reg
        && x->written && !(x->written & (x->written - 1)) && x->written == x->changed;
}

/* Whether a register that holds an address goes somewhere, as an argument of a call or into
   memory, before it is used as an address of data. */
static bool is_passed_on(const Guesses *g, uint64_t address, unsigned reg) {
    Instruction x;
    for (int i = 0; i < MOST_LOOKED_AT && decode(g, address, &x); i++, address += x.length) {
        if (x.has_memory && (x.base == reg || (x.index == reg && !x.is_vsib))) {
            return false;
        }
        if (x.flow == FLOW_CALL || x.flow == FLOW_INDIRECT_CALL || x.flow == FLOW_JUMP
            || x.flow == FLOW_INDIRECT_JUMP) {
            return ARGUMENTS >> reg & 1;
        }
        if (x.has_memory && x.memory_access == 2 && x.read >> reg & 1) {
            return true;
        }
        if (is_move(&x, reg)) {
            reg = (unsigned)__builtin_ctz(x.written);
        } else if (x.changed >> reg & 1 || ends_flow(&x)) {
            return false;
        }
    }
    return false;
}

/* An address of code that an instruction takes: LEA, or an immediate where addresses are fixed. */
static void add_taken(Guesses *g, const Instruction *x) {
    uint64_t address = 0;
    if (x->what == WHAT_LEA && x->is_rip_relative) {
        address = x->target;
    } else if (x->immediate_bytes == 4 && x->flow == FLOW_NEXT
               && g->opening->header.e_type == ET_EXEC) {
        uint32_t immediate;
        const uint8_t *code = module_bytes(g->module, x->address, x->length);
        memcpy(&immediate, code + x->immediate_at, sizeof immediate);
        address = immediate;
    }
    if (!module_is_code(g->module, address)) {
        return;
    }
    const unsigned reg = x->written ? (unsigned)__builtin_ctz(x->written) : NO_REGISTER;
    if (reg == NO_REGISTER || is_passed_on(g, x->address + x->length, reg)) {
        add_start(g, address);
    }
}

/* ---- following ---- */

/* A branch inside a function reaches forwards; one out of it leads to another's start. */
static void follow_branch(Guesses *g, const Instruction *x, uint64_t start, uint64_t limit,
                          uint64_t *furthest) {
    const bool is_forwards = x->target >= x->address;
    const bool is_near = x->flow != FLOW_JUMP || x->target - x->address < MOST_SKIPPED;
    if (is_forwards && x->target < limit && is_near) {
        *furthest = x->target > *furthest ? x->target : *furthest;
    } else if (is_forwards || x->target < start) {
        add_start(g, x->target);
    }
}

/* Follow code from a start as far as it goes on, but not into another function. Returns where it
   ends: after the last instruction that does not go on and that no branch goes beyond. */
static uint64_t follow(Guesses *g, uint64_t start, uint64_t limit) {
    uint64_t at = start, furthest = start;
    bool is_open = false; /* it has jumps of which it is not known where they go */
    Instruction x;
    while (at < limit && (at == start || !is_start(g, at)) && decode(g, at, &x)) {
        at += x.length;
        if (x.flow == FLOW_CALL) {
            add_start(g, x.target);
        } else if (x.flow == FLOW_CONDITIONAL || x.flow == FLOW_LOOP || x.flow == FLOW_JUMP) {
            follow_branch(g, &x, start, limit, &furthest);
        }
        is_open |= x.flow == FLOW_INDIRECT_JUMP;
        if (ends_flow(&x) && at > furthest && !is_open) {
            break;
        }
        add_taken(g, &x);
    }
    return at < limit ? at : limit;
}

static uint64_t next_function(const Guesses *g, uint64_t address) {
    const Module *m = g->module;
    const size_t code = records_until(m->code, m->n_code, sizeof(Range) / 8, address);
    const size_t next =
        records_until(m->functions, m->n_functions, sizeof(Function) / 8, address);
    const uint64_t end = m->code[code - 1].end;
    return next < m->n_functions && m->functions[next].start < end ? m->functions[next].start
                                                                   : end;
}

static void follow_all(Guesses *g) {
    const Module *m = g->module;
    for (size_t i = 0; i < m->n_functions; i++) {
        Instruction x;
        for (uint64_t at = m->functions[i].start;
             at < m->functions[i].end && decode(g, at, &x); at += x.length) {
            if (x.flow == FLOW_CALL || x.flow == FLOW_JUMP) {
                add_start(g, x.target);
            }
            add_taken(g, &x);
        }
    }
    while (g->waiting.n) {
        const uint64_t start = ((const uint64_t *)g->waiting.items)[--g->waiting.n];
        const uint64_t end = follow(g, start, next_function(g, start));
        Function *function = end > start ? array_add(&g->found, 1) : NULL;
        if (function) {
            *function = (Function){.start = start, .end = end, .is_guessed = true};
        }
    }
}

/* ---- entries ---- */

/* The first code of a program hands main's address to the library: as all C libraries have it,
   by LEA or MOV to rdi, or from a slot. */
static void add_main(Guesses *g, uint64_t entry) {
    size_t n = 0;
    const uint8_t *code = module_rest(g->module, entry, &n);
    n = n < START_BYTES ? n : START_BYTES;
    for (size_t i = 0; code && i + 7 <= n; i++) {
        int32_t value;
        uint64_t address = 0;
        memcpy(&value, code + i + 3, sizeof value);
        const uint64_t far = entry + i + 7 + (uint64_t)(int64_t)value;
        if (!memcmp(code + i, "\x48\x8D\x3D", 3)) {
            address = far;
        } else if (!memcmp(code + i, "\x48\xC7\xC7", 3)) {
            address = (uint64_t)(int64_t)value;
        } else if (!memcmp(code + i, "\x48\x8B\x3D", 3)) {
            module_word(g->module, far, &address);
        }
        add_start(g, address);
    }
}

static void add_entries(Guesses *g) {
    const Array *entries = owned_array(g->opening, OWNED_ENTRIES);
    for (size_t i = 0; i < entries->n; i++) {
        add_start(g, ((const uint64_t *)entries->items)[i]);
    }
    for (size_t i = 0; i < g->module->n_pointers; i++) {
        add_start(g, g->module->pointers[i]);
    }
    add_main(g, g->opening->header.e_entry);
}

/* ---- all of it ---- */

/* Whether there is more than padding between the functions that are known. */
static bool has_gaps(const Module *module) {
    uint64_t unknown = 0, all = 0;
    size_t next = 0, stub = 0;
    for (size_t i = 0; i < module->n_code; i++) {
        all += module->code[i].end - module->code[i].start;
        for (uint64_t at = module->code[i].start; at < module->code[i].end;) {
            const Function *function = next < module->n_functions ? &module->functions[next] : NULL;
            const Range *stubs = stub < module->n_stubs ? &module->stubs[stub] : NULL;
            uint64_t start = module->code[i].end, end = start;
            if (function && function->start < start) {
                start = function->start;
                end = function->end;
            }
            if (stubs && stubs->start < start) {
                start = stubs->start;
                end = stubs->end;
            }
            next += function && function->start <= start;
            stub += stubs && stubs->start <= start;
            if (start > at && start - at > MOST_PADDING) {
                unknown += start - at;
            }
            at = end > at ? end : at;
        }
    }
    return unknown >= LEAST_BYTES && unknown >= all / LEAST_PART;
}

/* Functions end at the latest where the next one begins. */
static void add_functions(Guesses *g) {
    Array *functions = owned_array(g->opening, OWNED_FUNCTIONS);
    Module *module = g->opening->module;
    Function *added = array_add(functions, g->found.n);
    if (added && g->found.n) {
        memcpy(added, g->found.items, g->found.n * sizeof *added);
        sort_records(functions->items, functions->n, sizeof *added / 8);
    }
    module->functions = (Function *)functions->items;
    module->n_functions = functions->n;
    for (size_t i = 0; i + 1 < functions->n; i++) {
        Function *function = &module->functions[i];
        if (function->end > function[1].start) {
            function->end = function[1].start;
        }
    }
}

void guess_functions(Opening *opening) {
    Module *module = opening->module;
    /* Segments of code may hold strings, too. */
    if (!opening->has_sections_of_code || !has_gaps(module)
        || module->code[module->n_code - 1].end - module->code[0].start > MOST_CODE) {
        return;
    }
    Guesses g = {
        .opening = opening,
        .module = module,
        .from = module->code[0].start,
        .to = module->code[module->n_code - 1].end,
    };
    const size_t bytes = (g.to - g.from) / 8 + 8;
    g.starts = pages_take(bytes);
    if (!g.starts) {
        return;
    }
    array_begin(&g.waiting, sizeof(uint64_t));
    array_begin(&g.found, sizeof(Function));
    add_entries(&g);
    follow_all(&g);
    add_functions(&g);
    array_end(&g.waiting);
    array_end(&g.found);
    pages_give(g.starts, bytes);
}
