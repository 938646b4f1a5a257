/* Products of tiles of AMX, of two sizes. usage: tiles TIMES
 *
 * small() is a product of bf16 of 3 rows, 5 columns and 2 x 4 deep; large() one of 16 x 16 x 32; each
 * is executed TIMES times, with its own configuration. Status 77: there are no tiles here.
 */
#define _GNU_SOURCE
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TILES __attribute__((noinline, noclone, target("amx-tile,amx-bf16,amx-int8")))

enum { ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18 };

static uint8_t room[1024] __attribute__((aligned(64)));

TILES static void product(int rows, int columns, int depth, long times) {
    struct {
        uint8_t palette, start, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } set __attribute__((aligned(64)));
    memset(&set, 0, sizeof set);
    set.palette = 1;
    set.rows[0] = set.rows[1] = (uint8_t)rows;
    set.rows[2] = (uint8_t)depth;
    set.row_bytes[0] = set.row_bytes[2] = (uint16_t)(4 * columns);
    set.row_bytes[1] = (uint16_t)(4 * depth);
    _tile_loadconfig(&set);
    _tile_zero(0);
    _tile_loadd(1, room, 64);
    _tile_loadd(2, room, 64);
    for (long i = 0; i < times; i++) _tile_dpbf16ps(0, 1, 2);
    _tile_stored(0, room, 64);
    _tile_release();
}

__attribute__((noinline, noclone)) void small(long times) { product(3, 5, 4, times); }
__attribute__((noinline, noclone)) void large(long times) { product(16, 16, 16, times); }

int main(int argc, char **argv) {
    const long times = argc > 1 ? atol(argv[1]) : 1;
    if (syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA)) return 77;
    small(times);
    large(times);
    return 0;
}
