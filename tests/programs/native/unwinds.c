/* Walks its stack with libunwind, forwards and into a frame above. */
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "modes.h"

__attribute__((noinline)) static int frames(int depth) {
    if (depth > 0) {
        int n = frames(depth - 1);
        __asm__ volatile("" : "+r"(n));
        return n;
    }
    unw_context_t context;
    unw_cursor_t cursor;
    int n = 0;
    unw_getcontext(&context);
    EXPECT(unw_init_local(&cursor, &context) == 0);
    do n++;
    while (unw_step(&cursor) > 0);
    return n;
}
static int walk(int argc, char **argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 200; i++) EXPECT(frames(i % 30) - frames(0) == i % 30);
    printf("%d frames\n", frames(10));
    return 0;
}
__attribute__((noinline)) int named(int depth) {
    unw_context_t context;
    unw_cursor_t cursor;
    char name[100];
    unw_word_t offset;
    unw_proc_info_t info;
    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    for (int i = 0; i < depth; i++) {
        int found = unw_get_proc_name(&cursor, name, sizeof name, &offset);
        int known = unw_get_proc_info(&cursor, &info);
        printf("%s %d\n", found == 0 ? name : "?", known == 0 && info.start_ip <= info.end_ip);
        if (unw_step(&cursor) <= 0) break;
    }
    return depth;
}
static int names(int argc, char **argv) {
    (void)argc, (void)argv;
    int n = named(3);
    __asm__ volatile("" : "+r"(n));
    return n;
}
static int resume(int argc, char **argv) { /* leaves three frames at once */
    (void)argc, (void)argv;
    volatile int times = 0;
    unw_context_t context;
    unw_cursor_t cursor;
    unw_getcontext(&context);
    times = times + 1;
    if (times < 50) {
        unw_init_local(&cursor, &context);
        unw_resume(&cursor);
    }
    printf("%d times\n", times);
    return 0;
}
static const Mode modes[] = {{"walk", walk}, {"names", names}, {"resume", resume}};
RUN_MODES(modes)
