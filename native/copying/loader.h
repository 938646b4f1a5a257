/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the preloaded library know of each other.
 *
 * It runs inside of programs that must not notice it: no library is called (a call of one would be
 * counted, or come back here), errno and the program's memory are left alone, nothing but general
 * registers is used. Whatever is missing or refused, the program goes on as it is.
 */
#ifndef RIDGEPOINT_LOADER_H
#define RIDGEPOINT_LOADER_H

#include "arena.h"
#include "copy_file.h"
#include "memory.h"
#include "system.h"
#include "text.h"
#include "traffic.h"

/* ---- layout that loader_hooks.S knows as well (loader_banks.c asserts it) ---- */

/* In a bank: where a system call goes first, by the lowest 8 bits of its number. Reached through
   %gs, since at a system call only rcx and r11 are free, and no flag. */
#define SYSTEM_CALLS_AT (COUNTERS_AT - 2048u) /* the last that a recording block reaches */

/* The registers of the program where a hook was reached, as loader_hooks.S saves them. */
typedef struct {
    uint64_t r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax, flags;
} Frame;

/* As rt_sigaction has it. */
typedef struct {
    uint64_t handler, flags, restorer, mask;
} KernelAction;

typedef struct {
    uint64_t mask;
} Signals;

typedef enum { KEPT_NOTHING, KEPT_EXEC, KEPT_ACTION, KEPT_LIMIT, KEPT_ARGUMENTS,
               KEPT_CALL /* unchanged: threads are counted together */ } KeptKind;

#define SLOT_CALL SLOT_LOADER /* number of the last system call that a copy made */

typedef struct Thread {
    uint64_t alive;   /* 0: it has ended, and another may go on with its banks */
    int64_t timer;    /* that samples it, or -1 */
    uint64_t tid;
    Bank *banks;      /* all of its own, by Bank.next */
    Bank *current;
    uint64_t busy;    /* it is in a mark: what a signal's handler marks meanwhile is ignored */
    uint64_t regions; /* that it is in itself, as in Bank */
    uint64_t line;    /* name of the line of Python that it is in or below; 0: none */
    uint64_t tells_lines; /* it is a thread of Python */
    /* Of loader_group.c. */
    uint64_t own;        /* the regions and the line */
    uint64_t is_inside;  /* of what is counted alone */
    uint64_t in_call;    /* it is in a system call, and looks around when that returns */
    uint64_t seen;       /* the last change that it knows */
    uint64_t late_from;  /* its CPU time at one that it does not know; 0: it knows all */
    Array open;       /* OpenRegion, the innermost last */
    /* The function that it is in, which is counted alone with what it calls. */
    uint64_t function_sp;     /* at its entry; NO_LIMIT: none */
    uint64_t function_return; /* where it returns to */
    uint64_t open_before_function, regions_before_function;
    uint64_t stack[2];        /* from, to; both 0: not looked for yet */
    /* A system call that was changed and is under way: what the program called. */
    uint64_t kept;    /* KeptKind */
    Frame kept_frame;
    uint64_t kept_handler;
    Signals kept_signals;
    KernelAction action; /* for rt_sigaction */
    uint64_t limit[2];   /* for setrlimit */
    uint8_t *environment; /* for exec: made here if the program's lacks something */
    uint64_t environment_bytes;
} Thread;

#define NO_LIMIT UINT64_MAX

typedef struct {
    uint64_t name;   /* offset in names */
    uint64_t before; /* regions that were open when it began */
} OpenRegion;

/* Of this process; forked children have a copy, which loader_process.c puts right. */
typedef struct {
    ArenaHeader *arena; /* NULL: nothing is counted */
    uint8_t *banks;     /* where all of them are mapped; NULL: they are one by one */
    uint64_t number;    /* as in Bank.process */
    int64_t pid;
    int64_t tid_of_main; /* whose stack grows */
    bool has_fsgsbase, has_tiles;
    bool is_limited;    /* in address space */
    uint64_t vdso, stack_end;
    uint64_t executable_headers, n_executable_headers, linker; /* from the kernel */
    char arena_path[64];
    char loader_path[4096];
} Process;

extern Process process;
extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* this library */

/* The program has forbidden itself system calls, and may be killed for any: no more of ours. */
extern bool is_quiet;

static inline int64_t kernel(int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                             uint64_t e, uint64_t f) {
    return is_quiet ? -38 /* ENOSYS */ : system_call(number, a, b, c, d, e, f);
}

static inline Bank *bank_here(void) {
    Bank *bank;
    __asm__ volatile("movq %%gs:0, %0" : "=r"(bank));
    return bank;
}

/* ---- loader_calls.c: the kernel, what is mapped, messages ---- */

int64_t call_open(const char *path, int flags);
void call_close(int64_t file);
void *call_map(uint64_t at, uint64_t bytes, int protection, int flags, int64_t file, uint64_t from);
int64_t call_protect(const void *at, uint64_t bytes, int protection);
/* All of a file, from the kernel's (its size is not known before) or any other; NULL: cannot. */
uint8_t *call_read_all(const char *path, Array *content);
Signals signals_block(void);
void signals_restore(Signals before);
bool lock_take(uint64_t *lock); /* false: it seems that nobody will ever release it */
void lock_release(uint64_t *lock);

/* A line of /proc/PID/maps. */
typedef struct {
    uint64_t start, end;
    const char *rest; /* from its permissions on */
} Mapping;

/* Take the next line, if there is one. NULL is a text without lines. */
bool maps_next(const char **text, Mapping *mapping);

void say(const char *what, const char *name, uint64_t number); /* if verbose */

/* ---- loader_arena.c ---- */

bool arena_map(const char *path);
const char *arena_text(uint64_t name);
uint64_t arena_name(const char *text, size_t length);
void arena_event(EventKind kind, const uint64_t values[4], uint64_t name, uint64_t name2);
bool arena_sample(uint64_t address); /* false: there is no room */
Bank *arena_bank(void); /* a new one, or NULL */
/* Number of a row with counters, whose names are those given; ~0: no room. `wanted` says where they
   are to begin (0: anywhere), and gets it unless others have them. */
uint64_t arena_module(const ArenaModule *wanted, const char *path, const char *copy_path);
const ArenaModule *arena_row(uint64_t row);

/* ---- loader_banks.c: threads and their banks ---- */

extern uint64_t threads_alive;
bool threads_begin(void);
Thread *thread_take(void);
Thread *thread_here(void);
/* Let the calling thread, which is in these regions, count in its bank of them and of tiles. */
void bank_use(Thread *thread, uint64_t regions, const uint8_t tiles[64]);
void thread_begins(Thread *thread, const uint8_t tiles[64]);
void thread_leaves(void); /* on a stack of its own */
Bank *bank_after(Bank *before); /* of this process; of NULL the first */
Thread *thread_after(Thread *before); /* that is alive; of NULL the first */
void threads_forget(void);
void threads_give_up(void); /* %gs is the program's again, and nothing is counted */
void threads_stop_timers(void);
void tiles_read(uint8_t tiles[64]);

/* ---- loader_modules.c: what the program has loaded ---- */

#define MOST_SEGMENTS 8u
#define MOST_LEFT 8u

typedef struct {
    uint64_t address, bytes, file_offset; /* of a segment with code; address at run time */
    bool is_writable;
} CodeSegment;

/* A module that was looked at, and its copy if it has one. Rows are only ever added, and read
   without a lock. */
typedef struct {
    uint64_t is_there; /* 1; 0: it was unloaded, or is not complete yet */
    uint64_t map, bias, dynamic;   /* its link map: address, l_addr, l_ld */
    uint64_t lowest, highest;      /* vaddrs, whole pages */
    uint8_t *code;                 /* its copy, or NULL */
    uint64_t code_bytes;
    const CopyHeader *copy;        /* the copy's file */
    uint64_t row;                  /* in the arena */
    uint64_t a_return;             /* address of a RET in its own code, or 0 */
    uint64_t unwinds;              /* Unwinds: how its own code asks where frames are */
    uint64_t asks_for_tables;      /* 1: it may hold an unwinder; 2: it does not */
    uint64_t eh_frame_hdr;         /* vaddr; 0: none */
    CodeSegment segments[MOST_SEGMENTS];
    uint64_t n_segments;
    struct {
        uint64_t from, to;         /* addresses at run time of code that the program may change, */
    } left[MOST_LEFT];             /* and that runs as it is */
    uint64_t n_left;
    uint64_t writes;               /* into code that it has made: see loader_generators.c */
    uint64_t is_over;              /* all of it is left; what is there now has another row */
} Loaded;

/* Whether a symbol is among those that a module needs of others. */
bool module_imports(const Loaded *module, const char *name);

#define MOST_LOADED 4096u
extern Loaded loaded[MOST_LOADED];
extern uint64_t n_loaded;

void modules_begin(void);
struct r_debug *linker_debug(void); /* in loader_linker.c */
const Loaded *loaded_with_copy_at(uint64_t address);
const Loaded *loaded_at(uint64_t address);
/* The instruction of the module that an address in its copy is a copy of. */
uint64_t loaded_original(const Loaded *module, uint64_t address);
/* Of an address that is returned to. */
uint64_t loaded_original_return(const Loaded *module, uint64_t address);
/* Where in the copy the code for that instruction begins. */
uint64_t loaded_place(const Loaded *module, uint64_t address);
/* Where the copy of an instruction of the module is; 0: it has none. Takes time. */
uint64_t loaded_copy(const Loaded *module, uint64_t address);

/* Those whose own code may unwind by dl_iterate_phdr. */
bool module_may_unwind(Loaded *module);

/* Code made at run time, whose file is at a path; false: it has no copy. The lock is taken. */
bool module_made(const char *path, uint64_t bias);
/* It is about to change, but for the copy, which somebody may be in; or to be gone. */
void module_unmade(Loaded *module, bool is_gone);
uint64_t find_return(const Loaded *module);
extern uint64_t modules_lock;

/* ---- loader_made.c ---- */

void made_changes(const Thread *thread, const Frame *frame);
bool made_allows(const CopyHeader *copy);

/* ---- loader_generators.c ---- */

/* Whether who calls mprotect writes no code where it has made some. */
bool writes_once(const Frame *frame);

/* ---- loader_file.c: a module's file, and the file of its copy ---- */

typedef struct {
    const uint8_t *bytes;
    uint64_t n;
    int64_t descriptor;
} MappedFile;

bool file_map(MappedFile *file, const char *path);
void file_unmap(MappedFile *file);
/* Of a module without a build id, by its content. */
void file_identity(const MappedFile *file, uint64_t identity[2]);
void file_real_path(const MappedFile *file, const char *path, char *real, size_t room);
/* NULL: there is none and none could be made; then *reason, and maybe a message. Else *file is to
   be closed. */
const CopyHeader *copy_find(const char *module_path, const uint64_t identity[2], char *copy_path,
                            size_t room, int64_t *file, Reason *reason, char *message,
                            size_t message_room);

/* ---- loader_copier.c ---- */

/* 0, the exit status of the copier, or -errno. */
/* `plan`: the file that says which counters are planned, or NULL. */
int64_t copier_run(const char *module, const char *kind, const char *copy_path, const char *plan,
                   char *message, size_t room);

/* ---- loader_place.c: where copies go ---- */

/* Memory of the process, readable and writable, from which a module can be reached and back;
   NULL: none. */
uint8_t *place_take(uint64_t wanted, uint64_t bytes, uint64_t lowest, uint64_t highest,
                    bool is_executable);
void places_know(void);
void places_forget(void); /* what is mapped may have changed */
uint64_t place_far(uint64_t bytes); /* where a file can be that is only looked at; a hint */

/* ---- loader_tables.c: jump tables that were copied ---- */

bool tables_move(Loaded *module, uint64_t wanted);

/* ---- loader_patch.c: bringing a copy into the module's neighbourhood, and its code to it ---- */

Reason copy_load(Loaded *module, int64_t file, int64_t copy_file, uint64_t first_counter,
                 bool is_executable);
bool patching_is_allowed(int64_t file);
extern uint64_t linker_break; /* r_debug.r_brk, where the dynamic linker tells of changes */
bool linker_break_patch(uint64_t lowest, uint64_t highest);

/* ---- loader_leave.c: code that the program changes ---- */

void copy_drop(Loaded *module);
void copy_leave(Loaded *module, uint64_t from, uint64_t to);
bool code_is_left(const Loaded *module, uint64_t address);

/* ---- loader_process.c, loader_exec.c, loader_regions.c, loader_entries.c ---- */

/* Bytes of the program's memory, wherever that is; false: it is not there. */
bool read_program(uint64_t address, void *to, uint64_t bytes);
void exec_begins(Thread *thread, Frame *frame);
void exec_failed(const Thread *thread, const Frame *frame);
void process_marks_forks(void);
void process_becomes_quiet(void);
void process_began(bool is_fork, uint64_t parent);
#define STUBS_AT 512u        /* behind the hooks, on their page */
#define STUB_BYTES 48u
#define ENTRY_STUB_BYTES 24u /* then what was at the entry, and a jump back */
#define COUNTER_BYTES 9u     /* inc qword gs:[n] */
bool entry_stub(EntryHook hook, uint8_t *stub, const uint8_t *entry);

uint64_t original_address(uint64_t address);
bool has_shadow_stack(void);

/* A list of regions with one more; 0: no room for it. */
uint64_t regions_with(uint64_t regions, const char *name, size_t n);
uint64_t regions_on_line(uint64_t regions, uint64_t line);
/* One list behind another, without what that has already; 0: no room for it. */
uint64_t regions_within(uint64_t outer, uint64_t inner);

/* ---- loader_group.c: threads that are counted together ---- */

bool group_is_on(void);
void group_forget(void);
uint64_t group_regions(Thread *thread, uint64_t own);
void group_leaves(Thread *thread);
void group_ends(void);
void group_call_begins(Thread *thread);
void group_call_returned(Thread *thread);
void group_call_interrupted(void);

/* ---- loader_functions.c: functions that are counted alone ---- */

extern uint64_t functions_lock;
/* A forked child is in the function that its parent's thread was in. */
void thread_goes_on(Thread *thread, const Thread *before);
/* Code that is not copied goes on at this stack pointer, behind a call. */
void function_returned(uint64_t sp);
void functions_select(const Loaded *module); /* whose copy is writable */

/* ---- loader_signals.c, loader_samples.c ---- */

bool action_begins(Thread *thread, Frame *frame);
void action_returned(Thread *thread, const Frame *before, const Frame *frame);
void samples_begin(void);
bool samples_want(uint64_t signal);
void samples_give_way(bool has_use);
void samples_of_thread(Thread *thread);

/* ---- loader_limits.c ---- */

uint64_t limits_own_space(const ArenaHeader *arena);
bool limit_begins(Thread *thread, Frame *frame);
void limit_returned(const Frame *before, const Frame *frame);
bool lock_begins(Thread *thread, Frame *frame);

/* ---- loader_hooks.S ---- */

void hook_system_call(void);
void hook_system_call_seen(void);
void hook_system_call_plain(void);
void hook_exit(void);
void hook_after_clone(void);
void hook_request(void);
void hook_tiles(void);
void hook_ring_full(void);
void hook_entered(void);
void hook_left(void);
void hook_none(void);
void hook_find_object(void);
void hook_iterate_phdr(void);
void hook_addr(void);
void hook_get_ip(void);
void hook_get_start(void);
void hook_caller(void);
void hook_register_frame(void);
void hook_return_from_signal(void);
void hook_signal(void);
void modules_changed(void);

#endif
