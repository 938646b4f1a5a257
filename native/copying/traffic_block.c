/* SPDX-License-Identifier: Apache-2.0 */
/* What blocks of code fetch and access: made from the rows of their copies when they first run. */
#include "traffic_state.h"

/* ---- modules ---- */

void traffic_add_module(const TrafficModule *module) {
    TrafficModule *const all = traffic_grown(traffic.modules, traffic.n_modules,
                                             &traffic.room_for_modules, sizeof *all);
    if (!all) {
        traffic.has_failed = true;
        return;
    }
    traffic.modules = all;
    all[traffic.n_modules++] = *module;
    const uint64_t most = traffic.arena->most_counters;
    for (uint64_t i = 0; i < module->n_counters && module->first_counter + i < most; i++) {
        if (traffic.blocks[module->first_counter + i]) { /* else the page stays untouched */
            traffic.blocks[module->first_counter + i] = NULL;
        }
    }
}

/* Of modules that had the same counters, the one loaded last. */
static const TrafficModule *module_with(uint64_t counter) {
    for (uint32_t i = traffic.n_modules; i-- > 0;) {
        const TrafficModule *const module = &traffic.modules[i];
        if (counter - module->first_counter < module->n_counters) {
            return module;
        }
    }
    return NULL;
}

static const void *section_of(const TrafficModule *module, SectionKind kind) {
    return (const char *)module->copy + module->copy->sections[kind].at;
}

/* ---- sites ---- */

/* The number of an instruction; of one met just before, the same. */
static uint32_t site_of(const TrafficModule *module, uint64_t address) {
    const uint32_t n = traffic.n_sites;
    if (n) {
        const Site *const last = &traffic.sites[(n - 1) / SITES_PER_PAGE][(n - 1) % SITES_PER_PAGE];
        if (last->module == module->module && last->address == address) {
            return n - 1;
        }
    }
    const uint32_t page = n / SITES_PER_PAGE;
    if (page < MOST_SITE_PAGES && !traffic.sites[page]) {
        traffic.sites[page] = traffic_take(SITES_PER_PAGE * sizeof **traffic.sites);
    }
    if (page == MOST_SITE_PAGES || !traffic.sites[page]) {
        traffic.has_failed = true;
        return 0;
    }
    traffic.sites[page][n % SITES_PER_PAGE] =
        (Site){.module = module->module, .address = address};
    return traffic.n_sites++;
}

/* ---- steps ---- */

static AccessKind kind_of(const Access *access) {
    if (access->bits & ACCESS_PREFETCH) {
        return ACCESS_PREFETCH_T0 + (access->shape & 3);
    }
    if (access->bits & ACCESS_WRITE) {
        return access->bits & ACCESS_NON_TEMPORAL ? ACCESS_NT_STORE : ACCESS_STORE;
    }
    return ACCESS_LOAD;
}

static StepForm form_of(const Access *access) {
    switch (access->bits & ~(ACCESS_READ | ACCESS_WRITE | ACCESS_NON_TEMPORAL | ACCESS_PREFETCH)) {
    case ACCESS_GATHER:
        return FORM_GATHER;
    case ACCESS_REPEATED:
        return FORM_REPEATED;
    case ACCESS_MASKED:
        return FORM_MASKED;
    case ACCESS_TILE:
        return FORM_TILE;
    default:
        return FORM_PLAIN;
    }
}

static Step step_of(const TrafficModule *module, const Access *access) {
    const uint16_t bytes = access->bytes && !(access->bits & ACCESS_PREFETCH) ? access->bytes : 1;
    return (Step){.site = site_of(module, module->copy->lowest + access->instruction),
                  .bytes = bytes,
                  .kind = (uint8_t)(kind_of(access) | form_of(access) << 4),
                  .shape = access->shape};
}

/* How many accesses fill the words of a row. */
static uint32_t n_steps(const TrafficModule *module, const Row *row) {
    const Access *const accesses = section_of(module, SECTION_ACCESSES);
    const uint64_t known = module->copy->sections[SECTION_ACCESSES].n;
    uint32_t n = 0;
    for (uint32_t words = 0; words < row->n_accesses && row->first_access + n < known; n++) {
        words += traffic_words_of(&accesses[row->first_access + n]);
    }
    return n;
}

/* ---- blocks ---- */

/* Each line that the block is fetched from; who misses one is the instruction at its beginning. */
static void add_lines(Block *block, CodeLine *lines, const TrafficModule *module, const Row *row) {
    const uint64_t line_bytes = UINT64_C(1) << traffic.line_bits;
    uint64_t address = row->address;
    const uint64_t end = address + row->bytes;
    while (address < end && traffic.n_geometries) {
        const uint64_t line = (module->bias + address) & -line_bytes;
        lines[block->n_lines++] = (CodeLine){.address = line, .site = site_of(module, address)};
        address = line + line_bytes - module->bias;
    }
}

static Block *new_block(const TrafficModule *module, const Row *row) {
    const uint32_t steps = n_steps(module, row);
    const uint32_t most_lines = (row->bytes >> traffic.line_bits) + 2;
    const size_t of_steps = sizeof(Block) + steps * sizeof(Step);
    const size_t lines_at = (of_steps + 7) & ~(size_t)7;
    Block *const block = traffic_take(lines_at + most_lines * sizeof(CodeLine));
    if (!block) {
        return NULL;
    }
    const Access *const accesses =
        (const Access *)section_of(module, SECTION_ACCESSES) + row->first_access;
    CodeLine *const lines = (CodeLine *)((char *)block + lines_at);
    block->lines = lines;
    block->n_words = row->n_accesses;
    block->n_steps = steps;
    block->is_plain = steps == row->n_accesses;
    add_lines(block, lines, module, row);
    for (uint32_t i = 0; i < steps; i++) {
        block->steps[i] = step_of(module, &accesses[i]);
    }
    block->last_site = site_of(module, row->address + row->bytes - 1);
    return block;
}

const Block *traffic_new_block(uint64_t word) {
    const uint64_t counter = (word - COUNTERS_AT) / sizeof(uint64_t);
    if (word % sizeof(uint64_t) || counter >= traffic.arena->most_counters) {
        return NULL;
    }
    const TrafficModule *const module = module_with(counter);
    if (!module) {
        return NULL;
    }
    const Row *const rows = section_of(module, SECTION_ROWS);
    const Row *const row = &rows[counter - module->first_counter];
    if (row->kind != ROW_BLOCK) {
        return NULL;
    }
    Block *const block = new_block(module, row);
    traffic.has_failed |= !block;
    traffic.blocks[counter] = block;
    if (block) {
        block->counter = counter;
        block->known_before = traffic.known;
        traffic.known = block;
    }
    return block;
}

uint64_t traffic_counting(uint64_t counter) {
    const TrafficModule *const module = module_with(counter);
    if (!module || !module->copy->sections[SECTION_RECORDING].n) {
        return counter;
    }
    const Recording *const recording = section_of(module, SECTION_RECORDING);
    const uint64_t row = counter - module->first_counter;
    const uint64_t same = row < recording->first_row ? row : row - recording->first_row;
    const Row *const of = (const Row *)section_of(module, SECTION_ROWS) + same;
    return module->first_counter + (of->shares ? of->shares - 1 : same);
}
