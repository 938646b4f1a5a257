/* Libraries that come and go. usage: reloads TIMES LIBRARY LIBRARY
 *
 * Compiled with -shared it is such a library: touch() reads and writes an array of 512 lines of its
 * own. The program loads both, calls it, and unloads them, so many times.
 */
#include <dlfcn.h>
#include <stdlib.h>

#ifdef __PIC__
static double own[4096];

void touch(void);
__attribute__((noinline, noclone)) void touch(void) {
    for (int i = 0; i < 4096; i++) own[i] += 1;
}
#endif

int main(int argc, char **argv) {
    for (int n = argc > 3 ? atoi(argv[1]) : 0; n > 0; n--) {
        for (int k = 2; k < 4; k++) {
            void *library = dlopen(argv[k], RTLD_NOW);
            if (!library) return 3;
            void (*called)(void) = (void (*)(void))dlsym(library, "touch");
            called();
            dlclose(library);
        }
    }
    return 0;
}
