// Lists of different numbers below 64 as the bits of 64-bit numbers, and rows of bits as tables.
#include "shard.hpp"

namespace {

constexpr int64_t LISTS_AT_ONCE = 256; // so that their running sums stay in the second cache: 128 kB

// Different bits may as well be added, so one running sum over all lists gives each of them as a difference. That avoids
// one inner loop per list, whose end a processor cannot predict.
template <class Value>
void fill(const int64_t *start, const Value *values, int64_t count, uint64_t *masks) {
    uint64_t sums[LISTS_AT_ONCE * 64 + 1];
    sums[0] = 0;
    for (int64_t first = 0; first < count; first += LISTS_AT_ONCE) {
        const int64_t end = first + LISTS_AT_ONCE < count ? first + LISTS_AT_ONCE : count, begin = start[first];
        uint64_t total = 0;
        for (int64_t k = begin; k < start[end]; k++) sums[k - begin + 1] = total += uint64_t{1} << values[k];
        for (int64_t r = first; r < end; r++) masks[r] = sums[start[r + 1] - begin] - sums[start[r] - begin];
    }
}

} // namespace

// Every list values[start[r]] to values[start[r + 1] - 1] as bits; values have so many bytes each.
EXPORTED void fill_masks(const int64_t *start, const void *values, int64_t bytes, int64_t count, uint64_t *masks) {
    switch (bytes) {
    case 1: return fill(start, static_cast<const uint8_t *>(values), count, masks);
    case 2: return fill(start, static_cast<const uint16_t *>(values), count, masks);
    case 4: return fill(start, static_cast<const uint32_t *>(values), count, masks);
    default: return fill(start, static_cast<const uint64_t *>(values), count, masks);
    }
}

// Rows of bits, in as many words as each needs, as rows of a table of 0 and 1.
EXPORTED void fill_sets(const uint64_t *masks, int64_t rows, int64_t width, uint8_t *sets) {
    for (int64_t row = 0; row < rows; row++) {
        const uint64_t *mask = masks + row * words(width);
        for (int64_t c = 0; c < width; c++) sets[row * width + c] = (mask[c / WORD_BITS] >> c % WORD_BITS) & 1;
    }
}
