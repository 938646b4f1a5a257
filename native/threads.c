/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which thread is in which regions, and on which simulated CPU.
 *
 * Valgrind runs one thread at a time. Before another one goes on, its bank of counters and its
 * CPU are put in place; the compiled code knows nothing of threads.
 *
 * With --all-threads a thread outside of what was selected counts there too while another one is
 * inside. Where the last one leaves, the others are not running: their banks are chosen anew
 * before they go on.
 *
 * Where nothing outside of what was selected matters, it is left out: code runs as it is until the
 * first thread enters the region, and later its records are dropped.
 */
#include "engine.h"

#include "pattern.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_transtab.h"

/* A return takes its address and at most 65535 bytes of arguments off the stack. */
#define MOST_POPPED (8 + 65535)
#define NO_LIMIT (~(Addr)0)

typedef struct {
    UInt name;
    Bank *before; /* the bank in use when the region began */
} Open;

typedef struct {
    Bank *bank;
    Open *open; /* regions, the innermost last */
    UInt n_open, room;
    UInt cpu;
    Bool alive;
    Bool inside; /* of what was selected */
    Bool in_function;
    UInt n_open_before_function;
    Addr function_sp, function_return;
} Thread;

Addr function_limit;
Bool asleep;

static Thread *threads; /* by Valgrind's number, which is used again after a thread's end */
static UInt *threads_on_cpu;
static ThreadId running;
static UInt n_alive, most_alive;
static ULong n_started;
static UInt selected_region; /* string; 0: none */
static UInt n_inside;        /* threads inside of what was selected */
static ThreadId host;        /* where others that work for it are: inside, if any thread is */

/* Emptied caches know nothing of what went before; but reuse distances do. */
static Bool outside_matters(void) {
    const Bool leaves_traces = traced() && !(options.cold && !options.reuse_lines);
    return leaves_traces || !(options.region || options.function);
}

void threads_begin(void) {
    asleep = options.region && !outside_matters();
    threads = allocate(VG_N_THREADS * sizeof *threads);
    threads_on_cpu = allocate((options.geometry[0].n_cpus + 1) * sizeof *threads_on_cpu);
    selected_region = options.region ? string_id(options.region) : 0;
    thread_created(1);
    thread_runs(1);
    trace_count_reuse(!options.region && !options.function);
}

/* The CPU with the fewest threads: as a scheduler does it that has time. */
static UInt idlest_cpu(void) {
    UInt best = 0;
    for (UInt cpu = 1; cpu < options.geometry[0].n_cpus; cpu++) {
        if (threads_on_cpu[cpu] < threads_on_cpu[best]) {
            best = cpu;
        }
    }
    return best;
}

void thread_created(ThreadId tid) {
    Thread *thread = &threads[tid];
    if (thread->alive) {
        return;
    }
    Open *open = thread->open; /* kept: the number was used before */
    const UInt room = thread->room;
    *thread = (Thread){.bank = bank_outside(), .open = open, .room = room, .alive = True};
    thread->cpu = idlest_cpu();
    threads_on_cpu[thread->cpu]++;
    n_started++;
    n_alive++;
    if (n_alive > most_alive) {
        most_alive = n_alive;
    }
}

static void set_inside(Thread *thread, Bool inside) {
    if (inside != thread->inside) {
        thread->inside = inside;
        n_inside += inside ? 1 : -1;
    }
}

void thread_ended(ThreadId tid) {
    Thread *thread = &threads[tid];
    if (thread->alive) {
        thread->alive = False;
        set_inside(thread, False);
        threads_on_cpu[thread->cpu]--;
        n_alive--;
    }
}

UInt threads_most(void) {
    return most_alive;
}

ULong threads_started(void) {
    return n_started;
}

static Bool is_inside(const Thread *thread) {
    return thread->in_function || (selected_region && bank_holds(thread->bank, selected_region));
}

/* Whether what the thread does now belongs to what was selected. */
static Bool is_selected(const Thread *thread) {
    return thread->inside || (options.all_threads && n_inside);
}

/* What a thread does that is outside belongs to all regions of one that is inside. */
static Bank *bank_of_guest(const Bank *own) {
    while (!threads[host].inside) {
        host = (host + 1) % VG_N_THREADS;
    }
    return bank_within(threads[host].bank, own);
}

static void count_in(Thread *thread, Bank *bank) {
    const Bool was_selected = is_selected(thread);
    trace_replay(); /* what was noted so far belongs to the bank before */
    thread->bank = bank;
    set_inside(thread, is_inside(thread));
    if (options.cold && was_selected && !is_selected(thread)) {
        trace_empty_caches(); /* what it leaves dirty belongs to the bank before, too */
    }
    const Bool is_guest = is_selected(thread) && !thread->inside;
    bank_use(is_guest ? bank_of_guest(bank) : bank);
    trace_drop(n_inside == 0 && !outside_matters());
    if (selected_region || options.function) {
        trace_count_reuse(is_selected(thread));
    }
}

/* From now on all code counts: what was translated so far does not. */
static void wake(void) {
    asleep = False;
    VG_(discard_translations_safely)(0, ~(SizeT)0, "ridgepoint.wake");
}

/* A thread goes into what was selected. */
static void selection_begins(const Thread *thread) {
    if (asleep) {
        wake();
    }
    if (options.cold && !is_selected(thread)) {
        trace_empty_caches();
    }
    if (n_inside == 0) {
        host = thread - threads;
    }
}

void thread_runs(ThreadId tid) {
    if (tid == running) {
        return;
    }
    trace_replay();
    running = tid;
    thread_created(tid); /* where its creation was not seen */
    Thread *thread = &threads[tid];
    count_in(thread, thread->bank);
    trace_select_cpu(thread->cpu);
    function_limit = thread->in_function ? thread->function_sp : NO_LIMIT;
}

void threads_of_child(ThreadId tid) {
    for (ThreadId other = 0; other < VG_N_THREADS; other++) {
        if (other != tid) {
            thread_ended(other);
        }
    }
    count_in(&threads[tid], threads[tid].bank);
}

static void open_region(Thread *thread, UInt name) {
    if (thread->n_open == thread->room) {
        thread->room = thread->room ? 2 * thread->room : 8;
        thread->open = VG_(realloc)("ridgepoint.open", thread->open,
                                    thread->room * sizeof *thread->open);
    }
    thread->open[thread->n_open++] = (Open){.name = name, .before = thread->bank};
    count_in(thread, bank_entered(thread->bank, name));
}

/* Ends the regions that were opened after the first `n`. */
static void close_regions(Thread *thread, UInt n) {
    if (n < thread->n_open) {
        thread->n_open = n;
        count_in(thread, thread->open[n].before);
    }
}

void region_begins(ThreadId tid, UInt name) {
    Thread *thread = &threads[tid];
    if (name == selected_region) {
        selection_begins(thread);
    }
    open_region(thread, name);
}

void region_ends(ThreadId tid, UInt name) {
    Thread *thread = &threads[tid];
    const UInt least = thread->in_function ? thread->n_open_before_function + 1 : 0;
    for (UInt n = thread->n_open; n > least; n--) {
        if (thread->open[n - 1].name == name) {
            close_regions(thread, n - 1);
            return;
        }
    }
}

/* ---- functions as regions ---- */

Bool is_selected_function(const HChar *name) {
    if (!options.function) {
        return False;
    }
    if (VG_(strcmp)(name, options.function) == 0 || pattern_matches(options.function, name)) {
        return True;
    }
    const SizeT length = original_length(name);
    if (name[length] == 0) {
        return False;
    }
    HChar *original = VG_(strdup)("ridgepoint.original", name);
    original[length] = 0;
    const Bool found =
        VG_(strcmp)(original, options.function) == 0 || pattern_matches(options.function, original);
    VG_(free)(original);
    return found;
}

/* Marked, so that no region of the program's own has such a name. */
UInt function_name_id(const HChar *name) {
    const SizeT size = VG_(strlen)(name) + 2;
    HChar *marked = VG_(malloc)("ridgepoint.name", size);
    VG_(sprintf)(marked, "\1%s", name);
    const UInt id = string_id(marked);
    VG_(free)(marked);
    return id;
}

void function_entered(UInt name, Addr sp) {
    Thread *thread = &threads[running];
    if (thread->in_function) {
        return; /* all that it calls belongs to it, itself included */
    }
    selection_begins(thread);
    thread->n_open_before_function = thread->n_open;
    thread->in_function = True;
    open_region(thread, name);
    function_limit = sp;
    thread->function_sp = sp;
    thread->function_return = *(const Addr *)sp;
}

static Bool is_on_stack(ThreadId tid, Addr sp) {
    const Addr top = VG_(thread_get_stack_max)(tid);
    return sp <= top && top - sp <= VG_(thread_get_stack_size)(tid);
}

/* A function is left when code runs that it returned to, or any further up on the same stack: then
 * an exception or longjmp went past it. What runs on another stack (of a coroutine, or a signal
 * handler's own) says nothing. */
void function_left(Addr sp, Addr to) {
    Thread *thread = &threads[running];
    if (!thread->in_function || sp <= thread->function_sp) {
        return;
    }
    const Bool returned =
        to == thread->function_return && sp - thread->function_sp <= MOST_POPPED;
    const Bool jumped = is_on_stack(running, thread->function_sp) && is_on_stack(running, sp);
    if (returned || jumped) {
        thread->in_function = False;
        function_limit = NO_LIMIT;
        close_regions(thread, thread->n_open_before_function);
    }
}
