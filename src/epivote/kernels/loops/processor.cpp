// Which instructions this processor has. The loops are compiled for several levels, and the highest one is loaded.
#include "shard.hpp"

#if defined(__x86_64__)
#include <cpuid.h>

namespace {

// Bits of the answers to CPUID, as in the processors' manuals, and of the registers that the system saves.
constexpr uint32_t FMA = 1u << 12, MOVBE = 1u << 22, OSXSAVE = 1u << 27, F16C = 1u << 29; // leaf 1, ecx
constexpr uint32_t BMI1 = 1u << 3, AVX2 = 1u << 5, BMI2 = 1u << 8;                        // leaf 7, ebx
constexpr uint32_t AVX512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;         // F, DQ, CD, BW, VL
constexpr uint32_t LZCNT = 1u << 5;                                                       // leaf 0x80000001, ecx
constexpr uint32_t SAVES_256 = 0x06, SAVES_512 = 0xe6;                                    // XCR0

bool has(uint32_t found, uint32_t wanted) { return (found & wanted) == wanted; }

} // namespace
#endif

// 3 or 4 if all instructions of x86-64-v3 (AVX2, FMA) or x86-64-v4 (AVX-512) are there, else 2; 0 on other processors.
EXPORTED int32_t processor_level() {
#if defined(__x86_64__)
    uint32_t eax, ebx, ecx, edx, saved, unused;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !has(ecx, FMA | MOVBE | OSXSAVE | F16C)) return 2;
    __asm__("xgetbv" : "=a"(saved), "=d"(unused) : "c"(0));
    if (!has(saved, SAVES_256) || !__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) || !has(ecx, LZCNT)) return 2;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !has(ebx, BMI1 | AVX2 | BMI2)) return 2;
    return has(ebx, AVX512) && has(saved, SAVES_512) ? 4 : 3;
#else
    return 0;
#endif
}
