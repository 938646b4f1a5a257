/* Opens damaged copies of a module and carries the unwind tables of all functions over: whatever
 * is in them, that must end, and touch no byte that is not theirs.
 *
 *     damaged_modules FILE SEED COPIES
 *
 * Compiled with native/copying, sanitizers and RIDGEPOINT_OWN_SYSTEM: the files are in memory, and
 * memory is from malloc, so that these see every access beyond an end.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "system.h"
#include "unwind.h"

#define FILE_DESCRIPTOR 1000
#define DELTA UINT64_C(0x4000000)

static uint8_t *file;
static size_t file_size;

static int64_t new_memory(size_t n) {
    return (int64_t)(uintptr_t)calloc(1, n);
}

int64_t system_call(int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                    uint64_t f) {
    (void)d, (void)f;
    switch (number) {
    case SYS_open:
        return FILE_DESCRIPTOR;
    case SYS_fstat:
        ((struct stat *)b)->st_mode = S_IFREG;
        ((struct stat *)b)->st_size = (off_t)file_size;
        return 0;
    case SYS_mmap: {
        const int64_t at = new_memory(b);
        if ((int)e == FILE_DESCRIPTOR) {
            memcpy((void *)at, file, file_size);
        }
        return at;
    }
    case SYS_mremap: {
        const int64_t at = new_memory(c);
        memcpy((void *)at, (void *)a, b);
        free((void *)a);
        return at;
    }
    case SYS_munmap:
        free((void *)a);
        return 0;
    default:
        return 0;
    }
}

/* As if counters had been put in. */
static uint32_t place_of(void *context, uint64_t address) {
    const Module *module = context;
    const uint64_t from_lowest = address - module->lowest;
    return address % 64 == 63 ? NO_PLACE : (uint32_t)(4096 + from_lowest + from_lowest / 16 * 9);
}

static size_t read_everything(const Module *module) {
    size_t sum = 0;
    for (size_t i = 0; i < module->n_functions; i++) {
        for (const char *at = module->strings + module->functions[i].name; *at; at++) {
            sum += (size_t)*at;
        }
        sum += module_function_at(module, module->functions[i].end - 1)->start;
    }
    for (size_t i = 0; i < module->n_imports; i++) {
        for (const char *at = module->strings + module->imports[i].name; *at; at++) {
            sum += (size_t)*at;
        }
    }
    for (size_t i = 0; i < module->n_relocated; i++) {
        uint64_t value;
        sum += module_word(module, module->relocated[i].start, &value);
    }
    return sum;
}

static size_t carry_over(Module *module) {
    Array functions, found, code, outward, lost;
    array_begin(&functions, sizeof(CopiedFunction));
    array_begin(&found, sizeof(uint64_t));
    array_begin(&code, 1);
    array_begin(&outward, sizeof(uint32_t));
    array_begin(&lost, sizeof(uint64_t));
    for (size_t i = 0; i < module->n_functions; i++) {
        const Function *function = &module->functions[i];
        unwind_landing_pads(module, function, &found);
        const uint64_t start = function->start & ~UINT64_C(1), end = function->end & ~UINT64_C(1);
        *(CopiedFunction *)array_add(&functions, 1) =
            (CopiedFunction){function->start, function->end, function->fde,
                             place_of(module, start), place_of(module, end)};
    }
    unwind_emit(module, (CopiedFunction *)functions.items, functions.n, place_of, module, DELTA,
                &code, &outward, &lost);
    const size_t sum = code.n + lost.n + found.n;
    array_end(&functions);
    array_end(&found);
    array_end(&code);
    array_end(&outward);
    array_end(&lost);
    return sum;
}

static uint64_t draw(uint64_t below) {
    return below ? (((uint64_t)random() << 31) ^ (uint64_t)random()) % below : 0;
}

/* One of: a part of the file, its headers, one of its sections. */
static void choose_part(const uint8_t *whole, size_t n, size_t *from, size_t *bytes) {
    Elf64_Ehdr header;
    memcpy(&header, whole, sizeof header);
    *from = 0;
    *bytes = n;
    const uint64_t what = draw(8);
    if (what == 0) {
        *bytes = 1024;
    } else if (what == 1 && header.e_shoff) {
        *from = header.e_shoff;
        *bytes = n - header.e_shoff;
    } else if (what > 2 && header.e_shnum) {
        Elf64_Shdr section;
        memcpy(&section, whole + header.e_shoff + draw(header.e_shnum) * sizeof section,
               sizeof section);
        if (section.sh_type != SHT_NOBITS && section.sh_size) {
            *from = section.sh_offset;
            *bytes = section.sh_size;
        }
    }
}

static void damage(const uint8_t *whole, size_t n) {
    size_t from, bytes;
    memcpy(file, whole, n);
    file_size = n;
    for (uint64_t flips = 1 + draw(30); flips; flips--) {
        choose_part(whole, n, &from, &bytes);
        const uint64_t at = from + draw(bytes);
        if (draw(4)) {
            file[at] ^= (uint8_t)(1 << draw(8));
        } else {
            static const uint8_t EXTREME[] = {0, 1, 0x7F, 0x80, 0xFF};
            file[at] = EXTREME[draw(sizeof EXTREME)];
        }
    }
    if (!draw(8)) {
        file_size = draw(n);
    }
}

int main(int n_arguments, char **arguments) {
    FILE *stream = n_arguments == 4 ? fopen(arguments[1], "rb") : NULL;
    if (!stream || fseek(stream, 0, SEEK_END)) {
        return 2;
    }
    const size_t n = (size_t)ftell(stream);
    uint8_t *whole = malloc(n);
    file = malloc(n);
    rewind(stream);
    if (fread(whole, 1, n, stream) != n) {
        return 2;
    }
    fclose(stream);
    srandom((unsigned)atoi(arguments[2]));
    int opened = 0;
    size_t sum = 0;
    double slowest = 0;
    const int copies = atoi(arguments[3]);
    for (int i = 0; i < copies; i++) {
        struct timespec begin, end;
        Module module;
        damage(whole, n);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        if (!module_open(&module, "damaged")) {
            opened++;
            sum += read_everything(&module) + carry_over(&module);
            module_close(&module);
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double took =
            (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        slowest = took > slowest ? took : slowest;
    }
    printf("%d of %d opened, the slowest took %.3f s (%zu)\n", opened, copies, slowest, sum);
    free(whole);
    free(file);
    return 0;
}
