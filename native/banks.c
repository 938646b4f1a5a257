/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters, apart for each set of active regions.
 *
 * A bank's counters lie in pages. The compiled code finds the page of a segment in
 * `counter_pages`, so that going to another bank means no more than filling that table anew.
 */
#include "engine.h"

#define MOST_BANKS 4096u
#define MOVED_PER_PAGE 256u

struct Bank {
    UInt n_names;
    UInt *names; /* of the active regions, the outermost first, each once */
    ULong **pages;
    Moved **moved; /* pages of it, by instruction; absent where nothing moved */
    UInt n_moved_pages;
    Moved elsewhere[MAX_GEOMETRIES]; /* totals in the other geometries */
};

ULong *counter_pages[MAX_COUNTER_PAGES];
static UInt n_pages;
static Bank *banks[MOST_BANKS];
static UInt n_known;
static Bank *in_use;

static ULong *new_page(void) {
    return allocate(COUNTERS_PER_PAGE * sizeof(ULong));
}

static Bank *new_bank(UInt n_names, const UInt *names) {
    Bank *bank = allocate(sizeof *bank);
    bank->n_names = n_names;
    bank->names = allocate((n_names + 1) * sizeof *names);
    VG_(memcpy)(bank->names, names, n_names * sizeof *names);
    bank->pages = allocate(MAX_COUNTER_PAGES * sizeof *bank->pages);
    for (UInt i = 0; i < n_pages; i++) {
        bank->pages[i] = new_page();
    }
    banks[n_known++] = bank;
    return bank;
}

void banks_begin(void) {
    bank_use(new_bank(0, NULL));
}

void banks_make_room(UInt segment_index) {
    while (segment_index >= n_pages * COUNTERS_PER_PAGE) {
        if (n_pages == MAX_COUNTER_PAGES) {
            give_up("the program has more than 67108864 pieces of code");
        }
        for (UInt i = 0; i < n_known; i++) {
            banks[i]->pages[n_pages] = new_page();
        }
        counter_pages[n_pages] = in_use->pages[n_pages];
        n_pages++;
    }
}

Bank *bank_outside(void) {
    return banks[0];
}

Bool bank_holds(const Bank *bank, UInt name) {
    for (UInt i = 0; i < bank->n_names; i++) {
        if (bank->names[i] == name) {
            return True;
        }
    }
    return False;
}

static Bank *bank_with(UInt n, const UInt *names) {
    for (UInt i = 0; i < n_known; i++) {
        if (banks[i]->n_names == n &&
            VG_(memcmp)(banks[i]->names, names, n * sizeof *names) == 0) {
            return banks[i];
        }
    }
    if (n_known == MOST_BANKS) {
        give_up("the program has more than 4096 combinations of regions");
    }
    return new_bank(n, names);
}

/* A region entered again within itself leaves its outer place: what matters of a bank is which
 * regions are active and which is the innermost, and so recursion makes no bank without end. */
Bank *bank_entered(Bank *from, UInt name) {
    UInt *names = allocate((from->n_names + 1) * sizeof *names);
    UInt n = 0;
    for (UInt i = 0; i < from->n_names; i++) {
        if (from->names[i] != name) {
            names[n++] = from->names[i];
        }
    }
    names[n++] = name;
    Bank *found = bank_with(n, names);
    VG_(free)(names);
    return found;
}

Bank *bank_within(const Bank *outer, const Bank *inner) {
    UInt *names = allocate((outer->n_names + inner->n_names + 1) * sizeof *names);
    UInt n = outer->n_names;
    VG_(memcpy)(names, outer->names, n * sizeof *names);
    for (UInt i = 0; i < inner->n_names; i++) {
        if (!bank_holds(outer, inner->names[i])) {
            names[n++] = inner->names[i];
        }
    }
    Bank *found = bank_with(n, names);
    VG_(free)(names);
    return found;
}

void bank_use(Bank *bank) {
    in_use = bank;
    VG_(memcpy)(counter_pages, bank->pages, n_pages * sizeof *counter_pages);
}

/* The first time that an instruction, or one near it, moves a line. */
static __attribute__((noinline)) Moved *moved_on_new_page(UInt instruction) {
    const UInt page = instruction / MOVED_PER_PAGE;
    if (page >= in_use->n_moved_pages) {
        const UInt n = 2 * page + 64;
        in_use->moved = VG_(realloc)("ridgepoint.moved", in_use->moved, n * sizeof *in_use->moved);
        VG_(memset)(in_use->moved + in_use->n_moved_pages, 0,
                    (n - in_use->n_moved_pages) * sizeof *in_use->moved);
        in_use->n_moved_pages = n;
    }
    if (!in_use->moved[page]) {
        in_use->moved[page] = allocate(MOVED_PER_PAGE * sizeof(Moved));
    }
    return &in_use->moved[page][instruction % MOVED_PER_PAGE];
}

Moved *bank_moved(void *unused, UInt instruction) {
    const UInt page = instruction / MOVED_PER_PAGE;
    if (page >= in_use->n_moved_pages || !in_use->moved[page]) {
        return moved_on_new_page(instruction);
    }
    return &in_use->moved[page][instruction % MOVED_PER_PAGE];
}

Moved *bank_moved_elsewhere(void *geometry, UInt instruction) {
    return &in_use->elsewhere[(UWord)geometry];
}

void banks_forget_counts(void) {
    for (UInt i = 0; i < n_known; i++) {
        for (UInt page = 0; page < n_pages; page++) {
            VG_(memset)(banks[i]->pages[page], 0, COUNTERS_PER_PAGE * sizeof(ULong));
        }
        for (UInt page = 0; page < banks[i]->n_moved_pages; page++) {
            if (banks[i]->moved[page]) {
                VG_(memset)(banks[i]->moved[page], 0, MOVED_PER_PAGE * sizeof(Moved));
            }
        }
        VG_(memset)(banks[i]->elsewhere, 0, sizeof banks[i]->elsewhere);
    }
}

UInt n_banks(void) {
    return n_known;
}

Bank *bank_of(UInt index) {
    return banks[index];
}

UInt bank_path(const Bank *bank, const UInt **names) {
    *names = bank->names;
    return bank->n_names;
}

ULong bank_counter(const Bank *bank, UInt segment_index) {
    return bank->pages[segment_index / COUNTERS_PER_PAGE][segment_index % COUNTERS_PER_PAGE];
}

const Moved *bank_moved_by(const Bank *bank, UInt instruction) {
    const UInt page = instruction / MOVED_PER_PAGE;
    if (page >= bank->n_moved_pages || !bank->moved[page]) {
        return NULL;
    }
    return &bank->moved[page][instruction % MOVED_PER_PAGE];
}

const Moved *bank_moved_in(const Bank *bank, UInt geometry) {
    return &bank->elsewhere[geometry];
}
