/* SPDX-License-Identifier: Apache-2.0 */
/* Who moved lines: rows in the arena, for each instruction of each set of regions one. */
#include "traffic_state.h"

#define SHARE_KEPT 8u

static Moved lost; /* by code for which the arena has no row at all */

/* The last rows are kept for sums, of which there are few: they have to be right. */
static Moved *new_row(const Sheet *sheet, MovedKind kind, uint64_t module, uint64_t address) {
    ArenaTraffic *const options = traffic.options;
    const uint64_t kept = kind == MOVED_AT ? options->most_moved / SHARE_KEPT : 0;
    if (__atomic_load_n(&options->n_moved, __ATOMIC_RELAXED) >= options->most_moved - kept) {
        return NULL;
    }
    const uint64_t n = __atomic_fetch_add(&options->n_moved, 1, __ATOMIC_RELAXED);
    if (n >= options->most_moved) {
        return NULL;
    }
    ArenaMoved *const row = (ArenaMoved *)((char *)traffic.arena + options->moved_at) + n;
    row->process = sheet->process;
    row->regions = sheet->regions;
    row->module = module;
    row->address = address;
    __atomic_store_n(&row->kind, kind, __ATOMIC_RELEASE);
    _Static_assert(sizeof(ArenaMoved) - offsetof(ArenaMoved, read_lines) == sizeof(Moved),
                   "a row ends with what Moved is");
    return (Moved *)row->read_lines;
}

static Sheet *new_sheet(uint64_t process, uint64_t regions) {
    Sheet *const sheet = traffic_take(sizeof *sheet);
    if (!sheet) {
        return NULL;
    }
    sheet->process = process;
    sheet->regions = regions;
    sheet->next = traffic.sheets;
    traffic.sheets = sheet;
    Moved *row = new_row(sheet, MOVED_ANYWHERE, 0, 0);
    sheet->anywhere = row ? row : &lost;
    for (uint32_t i = 1; i < traffic.n_geometries; i++) {
        row = new_row(sheet, MOVED_ELSEWHERE, i - 1, 0);
        sheet->elsewhere[i - 1] = row ? row : &lost;
    }
    return sheet;
}

void traffic_use_sheet(uint64_t process, uint64_t regions) {
    if (traffic.sheet && traffic.sheet->process == process && traffic.sheet->regions == regions) {
        return;
    }
    Sheet **link = &traffic.sheets;
    while (*link && ((*link)->process != process || (*link)->regions != regions)) {
        link = &(*link)->next;
    }
    Sheet *const found = *link;
    if (found) {
        *link = found->next;
        found->next = traffic.sheets;
        traffic.sheets = found;
    }
    traffic.sheet = found ? found : new_sheet(process, regions);
}

/* Room for the page that a site is on. */
static Moved **page_of(Sheet *sheet, uint32_t page) {
    if (page >= sheet->n_pages) {
        const uint32_t n = 2 * page + 16;
        Moved ***const pages = traffic_take(n * sizeof *pages);
        if (!pages) {
            return NULL;
        }
        for (uint32_t i = 0; i < sheet->n_pages; i++) {
            pages[i] = sheet->pages[i];
        }
        sheet->pages = pages;
        sheet->n_pages = n;
    }
    if (!sheet->pages[page]) {
        sheet->pages[page] = traffic_take(SITES_PER_PAGE * sizeof **sheet->pages);
    }
    return sheet->pages[page];
}

/* The first time that a site moves a line. */
static __attribute__((noinline)) Moved *moved_first(uint32_t site) {
    Sheet *const sheet = traffic.sheet;
    if (!sheet) {
        return &lost;
    }
    Moved **const page =
        site < traffic.n_sites ? page_of(sheet, site / SITES_PER_PAGE) : NULL;
    if (!page) { /* or nothing ran yet */
        return sheet->anywhere;
    }
    const Site *const from = &traffic.sites[site / SITES_PER_PAGE][site % SITES_PER_PAGE];
    Moved *const row = new_row(sheet, MOVED_AT, from->module, from->address);
    page[site % SITES_PER_PAGE] = row ? row : sheet->anywhere;
    return page[site % SITES_PER_PAGE];
}

Moved *traffic_moved(void *unused, uint32_t site) {
    (void)unused;
    const Sheet *const sheet = traffic.sheet;
    const uint32_t page = site / SITES_PER_PAGE;
    if (sheet && page < sheet->n_pages && sheet->pages[page] &&
        sheet->pages[page][site % SITES_PER_PAGE]) {
        return sheet->pages[page][site % SITES_PER_PAGE];
    }
    return moved_first(site);
}

Moved *traffic_moved_elsewhere(void *geometry, uint32_t site) {
    (void)site;
    return traffic.sheet ? traffic.sheet->elsewhere[(uintptr_t)geometry] : &lost;
}
