/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the simulation share. All of it is the process's own (a fork copies it), but
 * for the rows of moved lines, which are in the arena.
 *
 *   traffic.c         what the loader calls: the lock, begin, fork and end
 *   traffic_thread.c  threads: their simulated CPUs, and who is in the selected region
 *   traffic_block.c   what a block accesses, made from the rows of its copy when it first runs
 *   traffic_replay.c  the words of a ring, replayed
 *   traffic_form.c    accesses of more than one word: gathers, strings, masks, tiles
 *   traffic_moved.c   who moved lines, apart for each set of regions
 *
 * All but traffic.c may be compiled with vector instructions, as caches/ may: TRAFFIC_VECTORS then
 * says that there are registers to be saved.
 */
#ifndef RIDGEPOINT_TRAFFIC_STATE_H
#define RIDGEPOINT_TRAFFIC_STATE_H

#include "arena_traffic.h"
#include "cache.h"
#include "reuse.h"
#include "traffic.h"

/* How a step of a block finds its addresses in the ring. */
typedef enum { FORM_PLAIN, FORM_GATHER, FORM_REPEATED, FORM_MASKED, FORM_TILE } StepForm;

typedef struct {
    uint32_t site;
    uint16_t bytes;
    uint8_t kind;  /* AccessKind in the low four bits, StepForm in the others */
    uint8_t shape; /* as Access has it */
} Step;

typedef struct {
    uint64_t address; /* of a line of code, in the original */
    uint32_t site;
} CodeLine;

/* What a block does, in one piece of memory: its steps follow it, then its lines. */
typedef struct Block {
    uint32_t n_words; /* in the ring, after its own */
    uint32_t n_steps, n_lines;
    uint32_t last_site; /* of its last instruction */
    uint64_t runs;      /* in the bursts up to now; where there are none, nobody looks */
    uint64_t counter;
    struct Block *known_before; /* another one */
    bool is_plain;      /* all steps are */
    const CodeLine *lines;
    Step steps[];
} Block;

/* An instruction; sites are numbered as they are met. */
typedef struct {
    uint64_t module, address; /* vaddr */
} Site;

#define SITES_PER_PAGE 512u
#define MOST_SITE_PAGES 65536u

/* What was moved in one set of regions by one process. */
typedef struct Sheet {
    struct Sheet *next;
    uint64_t process, regions;
    Moved *anywhere;
    Moved *elsewhere[TRAFFIC_GEOMETRIES];
    uint32_t n_pages;
    Moved ***pages; /* by site; NULL where nothing was moved */
} Sheet;

typedef struct {
    uint64_t tid, regions;
    uint32_t cpu;
    bool is_inside; /* of the selected region */
} TrafficThread;

typedef struct {
    uint64_t module, first_counter, n_counters, bias;
    const CopyHeader *copy; /* mapped as long as the module's code may run */
} TrafficModule;

/* A counter that tells how far the program came, and the words that recording would have written. */
typedef struct {
    uint64_t counter, words;
} Hot;

#define MOST_HOT 1024u

/* Only bursts of accesses are simulated. */
typedef struct {
    bool are_wanted;
    bool is_on;
    uint64_t number;     /* of the one that is on, or was last; 0: none was */
    uint64_t words, limit; /* of it */
    uint32_t n_parts;
    uint64_t ticks_before; /* ticks_in when it began */
    ArenaBurst *row;     /* NULL: there was no room */
    BurstMoved moved;
    uint64_t ticks_in, ticks_out; /* of the timers of threads, in bursts and between them */
    uint64_t progress;   /* words that were not recorded, by the hot blocks */
    uint64_t start, end; /* where in progress the next burst begins, and what it stands for ends */
    bool is_scout;       /* the burst that is on, or was last */
    uint64_t n_lost, scout_tick; /* ticks one after the other of hardly any progress; when a scout may go */
    uint64_t start_tick; /* or when, if nothing is known of progress yet */
    uint64_t weight, usual_limit, random;
    uint64_t n_hot, generation; /* of the list */
    Hot *hot;
} Bursts;

typedef struct {
    ArenaHeader *arena;    /* NULL: nothing is simulated */
    ArenaTraffic *options;
    uint64_t process;      /* its number */
    uint64_t first_kib;    /* resident when its copies had been loaded */
    bool has_failed;       /* there was no memory: nothing is simulated any more */
    bool is_over;          /* the process is about to end, or makes no more calls */
    bool has_ended;        /* nobody misses what threads still do */
    uint32_t n_geometries;
    Caches *caches[TRAFFIC_GEOMETRIES];
    Reuse *reuse;
    uint32_t line_bits;    /* of the first geometry */
    uint32_t lines_kept;   /* ways of the L1s of instructions: a block of no more lines, run again at
                              once, finds them all, and leaves the order of their use as it was */
    uint64_t last_fetched; /* line: fetching it once more changes nothing */
    uint32_t last_site;    /* of the block replayed last */
    uint32_t skip_bits;    /* log2 of the shortest line, in which string instructions are taken
                              together; 0: their accesses are made one by one */

    Block **blocks;        /* by counter */
    TrafficModule *modules;
    uint32_t n_modules, room_for_modules;
    Site **sites;          /* pages */
    uint32_t n_sites;
    Sheet *sheets, *sheet; /* the one used last is first, and in use */

    TrafficThread *threads;
    uint32_t n_threads, room_for_threads, n_inside;
    uint32_t *threads_on_cpu;
    uint32_t n_cpus;

    Bursts bursts;
    Block *known;          /* all blocks, the newest first */

    uint8_t *memory;       /* what is left of the last piece taken */
    size_t memory_left;
} TrafficState;

extern TrafficState traffic __attribute__((visibility("hidden")));

/* Zeroed memory that is kept, or NULL. */
void *traffic_take(size_t bytes);
/* An array with room for one more item than n, moved if it has to be; NULL: there is no memory. */
void *traffic_grown(void *items, uint32_t n, uint32_t *room, size_t size);

/* traffic_block.c: NULL if the word begins no record of a block. */
const Block *traffic_new_block(uint64_t word);
void traffic_add_module(const TrafficModule *module);
static inline const Block *traffic_block(uint64_t word) {
    const uint64_t n = (word - COUNTERS_AT) / sizeof(uint64_t);
    const bool is_one = n < traffic.arena->most_counters && word % sizeof(uint64_t) == 0;
    const Block *const known = is_one ? traffic.blocks[n] : NULL;
    return known ? known : traffic_new_block(word);
}

/* traffic_moved.c */
void traffic_use_sheet(uint64_t process, uint64_t regions);
Moved *traffic_moved(void *unused, uint32_t site);
Moved *traffic_moved_elsewhere(void *geometry, uint32_t site);

/* traffic_thread.c */
TrafficThread *traffic_thread(uint64_t tid); /* announced now if it was not; NULL: no memory */
void traffic_forget_thread(uint64_t tid);
void traffic_only_thread(uint64_t before, uint64_t tid); /* of a child of fork, renamed */
/* A thread that is itself in some regions counts in these. */
void traffic_goes_into(TrafficThread *thread, uint64_t own, uint64_t regions);
bool traffic_is_selected(const TrafficThread *thread);
bool traffic_is_dropped(void); /* nothing that runs now matters to anybody */
uint64_t traffic_regions_of(const TrafficThread *thread); /* that its accesses belong to */

/* traffic_replay.c */
bool traffic_make_caches(void);
void traffic_replay(Bank *bank);
void traffic_empty_caches(void);
void traffic_write_end(uint64_t process, uint64_t why);
uint64_t traffic_resident_kib(void); /* at most, up to now */
void traffic_access(uint32_t site, uint64_t address, uint32_t bytes, AccessKind kind);

/* traffic_burst.c, for the lock's holder */
void burst_prepare(bool is_program);
void burst_ring(Bank *bank);
void burst_state(Bank *bank);
void burst_ends(bool is_last, Bank *(*next_bank)(Bank *before));
/* The counter of the counting code of a block, by that of its recording code. */
uint64_t traffic_counting(uint64_t counter);

/* traffic_form.c */
uint32_t traffic_words_of(const Access *access); /* in the ring, its address among them */
/* Make the accesses of a step that is not plain, and of the next one if they take turns. Returns
   the words behind theirs. */
const uint64_t *traffic_make_form(const Bank *bank, const Step **step, const Step *end,
                                  const uint64_t *words);

#endif
