/* SPDX-License-Identifier: Apache-2.0 */
/* What a module has at an address. */
#include "module_parts.h"

/* Of records sorted by their first number: the last that begins at an address or before it. */
#define LAST_UNTIL(records, n, address) \
    last_until((records), (n), sizeof *(records), (address))

static const void *last_until(const void *records, size_t n, size_t size, uint64_t address) {
    const size_t before = records_until(records, n, size / 8, address);
    return before ? (const uint8_t *)records + (before - 1) * size : NULL;
}

const Segment *module_segment_at(const Module *module, uint64_t address) {
    const Segment *segment = LAST_UNTIL(module->segments, module->n_segments, address);
    return segment && address - segment->address < segment->bytes ? segment : NULL;
}

const uint8_t *module_rest(const Module *module, uint64_t address, size_t *n) {
    const Segment *segment = module_segment_at(module, address);
    if (!segment || address - segment->address >= segment->known) {
        return NULL;
    }
    const uint64_t before = address - segment->address;
    *n = segment->known - before;
    return segment->content + before;
}

const uint8_t *module_bytes(const Module *module, uint64_t address, size_t n) {
    size_t rest;
    const uint8_t *bytes = module_rest(module, address, &rest);
    return bytes && n <= rest ? bytes : NULL;
}

bool module_is_code(const Module *module, uint64_t address) {
    const Range *code = LAST_UNTIL(module->code, module->n_code, address);
    return code && address < code->end;
}

bool module_has_stubs(const Module *module, uint64_t start, uint64_t end) {
    const size_t n = records_until(module->stubs, module->n_stubs, sizeof(Range) / 8, end - 1);
    return n && start < module->stubs[n - 1].end;
}

bool module_word(const Module *module, uint64_t place, uint64_t *value) {
    const Range *relocated = LAST_UNTIL(module->relocated, module->n_relocated, place);
    if (relocated && relocated->start == place) {
        *value = relocated->end;
        return true;
    }
    const uint8_t *bytes = module_bytes(module, place, sizeof *value);
    if (bytes) {
        memcpy(value, bytes, sizeof *value);
    }
    return bytes != NULL;
}

const Import *module_import_at(const Module *module, uint64_t place) {
    const Import *import = LAST_UNTIL(module->imports, module->n_imports, place);
    return import && import->slot == place ? import : NULL;
}

const Function *module_function_at(const Module *module, uint64_t address) {
    const Function *function = LAST_UNTIL(module->functions, module->n_functions, address);
    return function && address < function->end ? function : NULL;
}
