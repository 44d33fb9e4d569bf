/// Variants of a function for the vector units of different processors; the loader takes the best.
/// All give the same bits: no compiler option lets them reorder or contract operations.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(HARDWOOD_NO_CLONES)
#define HARDWOOD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HARDWOOD_CLONES
#endif
