/* SPDX-License-Identifier: Apache-2.0 */
/* Which module and which copy an address is in. */
#include "loader.h"

const Loaded *loaded_with_copy_at(uint64_t address) {
    const uint64_t n = __atomic_load_n(&n_loaded, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < n; i++) {
        if (loaded[i].is_there && loaded[i].code && address >= (uint64_t)loaded[i].code
            && address - (uint64_t)loaded[i].code < loaded[i].code_bytes) {
            return &loaded[i];
        }
    }
    return NULL;
}

const Loaded *loaded_at(uint64_t address) {
    const uint64_t n = __atomic_load_n(&n_loaded, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < n; i++) {
        if (loaded[i].is_there && !loaded[i].is_over
            && address >= loaded[i].bias + loaded[i].lowest
            && address < loaded[i].bias + loaded[i].highest) {
            return &loaded[i];
        }
    }
    return NULL;
}

/* A stub is between the entry of a function and the rest of it: where it jumps back to. */
static uint64_t out_of_stub(const Loaded *module, uint64_t at) {
    const uint64_t stub = STUBS_AT + (at - STUBS_AT) / STUB_BYTES * STUB_BYTES;
    const uint8_t *jump = module->code + stub + ENTRY_STUB_BYTES + COUNTER_BYTES;
    int32_t distance;
    memcpy(&distance, jump + 1, 4);
    return *jump == 0xe9 ? (uint64_t)(jump + 5 + distance) - (uint64_t)module->code : at;
}

/* The last place that is not behind an address; NULL: it is before all of them. */
static const Place *place_at(const Loaded *module, uint64_t address) {
    const Section *section = &module->copy->sections[SECTION_PLACES];
    const Place *places = (const Place *)((const uint8_t *)module->copy + section->at);
    uint64_t at = address - (uint64_t)module->code;
    if (at >= STUBS_AT && at < HOOKS_BYTES) {
        at = out_of_stub(module, at);
    }
    uint64_t low = 0, high = section->n;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (places[middle].at <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low ? &places[low - 1] : NULL;
}

uint64_t loaded_original(const Loaded *module, uint64_t address) {
    const Place *place = place_at(module, address);
    return place ? module->bias + module->lowest + place->address : 0;
}

uint64_t loaded_place(const Loaded *module, uint64_t address) {
    const Place *place = place_at(module, address);
    return place ? (uint64_t)module->code + place->at : address;
}

uint64_t loaded_copy(const Loaded *module, uint64_t address) {
    const Section *section = &module->copy->sections[SECTION_PLACES];
    const Place *places = (const Place *)((const uint8_t *)module->copy + section->at);
    const uint64_t wanted = address - module->bias - module->lowest;
    uint64_t low = 0, high = section->n;
    if (module->copy->flags & COPY_HAS_BOTH) { /* those of the counting code come first */
        high /= 2;
    }
    const uint64_t n = high;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (places[middle].address < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && places[low].address == wanted ? (uint64_t)module->code + places[low].at : 0;
}

/* After a call that returns comes the copy of the next instruction; else the call is found again,
   by who looks one byte before. */
uint64_t loaded_original_return(const Loaded *module, uint64_t address) {
    const Place *place = place_at(module, address);
    if (place && (uint64_t)module->code + place->at == address) {
        return module->bias + module->lowest + place->address;
    }
    const uint64_t call = loaded_original(module, address - 1);
    return call ? call + 1 : address;
}
