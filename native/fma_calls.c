/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fused multiply-add by the hardware's instructions: a function for each of its forms. */
#include "fma_calls.h"

#ifdef FMA_BY_CALLS

/* These two take the place of libvex's own: an archive's member is linked only where a symbol
 * is still missing. They compute the lanes of what is not understood. */
VG_REGPARM(3)
void h_generic_calc_MAddF64(Double *result, Double *x, Double *y, Double *z) {
    *result = __builtin_fma(*x, *y, *z);
}

VG_REGPARM(3)
void h_generic_calc_MAddF32(Float *result, Float *x, Float *y, Float *z) {
    *result = __builtin_fmaf(*x, *y, *z);
}

/* ---- vectors ---- */

typedef Double F64x2 __attribute__((vector_size(HALF_BYTES)));
typedef Float F32x4 __attribute__((vector_size(HALF_BYTES)));

static union {
    F64x2 f64[MOST_OPERANDS][MOST_HALVES];
    F32x4 f32[MOST_OPERANDS][MOST_HALVES];
} operands;

void *fma_operands = &operands;

/* Of several NaNs the hardware takes that of the first operand in the order x, y, z: which is which
 * must not be left to a compiler. */
#define FUSE(instruction, x, y, z) __asm__(instruction " %2, %1, %0" : "+x"(x) : "x"(z), "xm"(y))

#define CALL(name, member, instruction, n_halves)                                                 \
    static void name(void) {                                                                      \
        for (UInt half = 0; half < n_halves; half++) {                                            \
            FUSE(instruction, operands.member[0][half], operands.member[1][half],                 \
                 operands.member[2][half]);                                                       \
        }                                                                                         \
    }
#define CALLS_OF(name, member, type, n)                                                           \
    CALL(name##_add_##n, member, "vfmadd132" type, n)                                             \
    CALL(name##_sub_##n, member, "vfmsub132" type, n)                                             \
    CALL(name##_addsub_##n, member, "vfmaddsub132" type, n)                                       \
    CALL(name##_subadd_##n, member, "vfmsubadd132" type, n)                                       \
    CALL(name##_nadd_##n, member, "vfnmadd132" type, n)                                           \
    CALL(name##_nsub_##n, member, "vfnmsub132" type, n)
/* No instruction negates the product of a sum that alternates. */
#define NAMES_OF(name, n)                                                                         \
    {{name##_add_##n, name##_sub_##n, name##_addsub_##n, name##_subadd_##n},                      \
     {name##_nadd_##n, name##_nsub_##n, NULL, NULL}}
#define CALLS(name, member, type)                                                                 \
    CALLS_OF(name, member, type, 1)                                                               \
    CALLS_OF(name, member, type, 2)                                                               \
    static void (*const name[MOST_HALVES][2][ADDENDS])(void) = {NAMES_OF(name, 1),                \
                                                                NAMES_OF(name, 2)};

CALLS(fuse_f64, f64, "pd")
CALLS(fuse_f32, f32, "ps")

/* ---- scalars ---- */

typedef union {
    ULong bits;
    Double f64;
    Float f32;
} Scalar;

#define SCALAR(name, member, instruction)                                                         \
    static ULong name(ULong x, ULong y, ULong z) {                                                \
        Scalar result = {.bits = x};                                                              \
        const Scalar factor = {.bits = y}, addend = {.bits = z};                                  \
        FUSE(instruction, result.member, factor.member, addend.member);                           \
        return result.bits;                                                                       \
    }
#define SCALARS(name, member, type)                                                               \
    SCALAR(name##_add, member, "vfmadd132" type)                                                  \
    SCALAR(name##_sub, member, "vfmsub132" type)                                                  \
    SCALAR(name##_nadd, member, "vfnmadd132" type)                                                \
    SCALAR(name##_nsub, member, "vfnmsub132" type)                                                \
    static ULong (*const name[2][2])(ULong, ULong, ULong) = {{name##_add, name##_sub},            \
                                                             {name##_nadd, name##_nsub}};

SCALARS(fuse_scalar_f64, f64, "sd")
SCALARS(fuse_scalar_f32, f32, "ss")

/* ---- the choice ---- */

void *fma_of_vectors(IRType lane, UInt n_halves, Bool product_negated, Addend addend) {
    return lane == Ity_F64 ? fuse_f64[n_halves - 1][product_negated][addend]
                           : fuse_f32[n_halves - 1][product_negated][addend];
}

void *fma_of_scalars(IRType type, Bool product_negated, Addend addend) {
    return type == Ity_F64 ? fuse_scalar_f64[product_negated][addend]
                           : fuse_scalar_f32[product_negated][addend];
}

#endif
