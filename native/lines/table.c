/* SPDX-License-Identifier: Apache-2.0 */
/* The file in which a process counts its samples. Handlers of several threads add to it at once. */
#include "lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

LineTable *table_make(const char *folder) {
    char path[4096];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int n = snprintf(path, sizeof path, "%s/%d.%lx.lines", folder, (int)getpid(),
                           (unsigned long)now.tv_sec * 1000000000UL + (unsigned long)now.tv_nsec);
    if (n < 0 || (size_t)n >= sizeof path) {
        return NULL;
    }
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        return NULL;
    }
    void *memory = MAP_FAILED;
    /* Allocated, not only sized: a page that finds no room later would end the program. */
    if (!posix_fallocate(file, 0, sizeof(LineTable))) {
        memory = mmap(NULL, sizeof(LineTable), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    close(file);
    if (memory == MAP_FAILED) {
        unlink(path);
        return NULL;
    }
    LineTable *table = memory;
    table->pid = (uint64_t)getpid();
    memcpy(table->magic, LINES_MAGIC, sizeof table->magic);
    return table;
}

/* In the child of a fork: what is known by its place in the parent's table has the same here. */
LineTable *table_follow(const char *folder, const LineTable *parent) {
    LineTable *table = table_make(folder);
    if (table && parent) {
        table->version = parent->version;
        table->n_files = parent->n_files;
        memcpy(table->files, parent->files, sizeof table->files);
        for (unsigned i = 0; i < MOST_LINES; i++) {
            table->rows[i].key = parent->rows[i].key;
        }
    }
    return table;
}

void row_add(LineRow *row, Kind kind, uint64_t ns) {
    __atomic_add_fetch(&row->samples, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&row->ns[kind], ns, __ATOMIC_RELAXED);
}

LineRow *table_row(LineTable *table, uint32_t file, uint32_t line) {
    const uint64_t key = (uint64_t)file << 32 | line;
    const uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    for (uint64_t i = 0; i < MOST_LINES / 2; i++) {
        LineRow *row = &table->rows[(hash + i) % MOST_LINES];
        uint64_t found = 0;
        __atomic_compare_exchange_n(&row->key, &found, key, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
        if (!found || found == key) {
            return row;
        }
    }
    __atomic_add_fetch(&table->no_room, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* Two threads that meet a file at the same moment may give it two places: rows add up. */
uint32_t table_file(LineTable *table, const char *path) {
    const uint64_t n = __atomic_load_n(&table->n_files, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < n && i < MOST_FILES; i++) {
        if (!strcmp(table->files[i], path)) {
            return (uint32_t)i + 1;
        }
    }
    const uint64_t place = __atomic_fetch_add(&table->n_files, 1, __ATOMIC_ACQ_REL);
    if (place >= MOST_FILES) {
        __atomic_store_n(&table->n_files, MOST_FILES, __ATOMIC_RELAXED);
        return 0;
    }
    strcpy(table->files[place], path); /* both have FILE_BYTES */
    return (uint32_t)place + 1;
}
