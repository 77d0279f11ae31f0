// Pairs of voters counted for the first guess: what `estimate.starts` does by sorting, for crowds of moderate size.
#include "shard.hpp"

namespace {

// For every two voters `pairs` keeps one number, 0 at first: whether they met, the ticks that both made, and in its lower
// half those of either.
template <class Pair>
void count_pairs(
    const int64_t *ballot_start, int64_t rows, const uint32_t *voters, const uint64_t *masks, int64_t n_voters,
    Pair *pairs, double *total, double *met
) {
    constexpr int HALF = 4 * sizeof(Pair);
    constexpr Pair LOW = (Pair{1} << HALF) - 1, MET = Pair{1} << (2 * HALF - 1);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t b = ballot_start[row]; b < ballot_start[row + 1]; b++) {
            Pair *others = pairs + voters[b] * n_voters;
            for (int64_t other = b + 1; other < ballot_start[row + 1]; other++) {
                const Pair both = bits(masks[b] & masks[other]), either = bits(masks[b] | masks[other]);
                others[voters[other]] = (others[voters[other]] | MET) + ((both << HALF) | either);
            }
        }
    }
    for (int64_t one = 0; one < n_voters; one++) {
        for (int64_t two = one + 1; two < n_voters; two++) {
            const Pair ticks = pairs[one * n_voters + two];
            if (!ticks) continue;
            const double either = static_cast<double>(ticks & LOW), both = static_cast<double>((ticks & ~MET) >> HALF);
            const double distance = either > 0 ? 1.0 - both / either : 0.0;
            total[one] += distance;
            total[n_voters + two] += distance;
            met[one] += 1.0;
            met[n_voters + two] += 1.0;
        }
    }
}

} // namespace

// Add every voter's Jaccard distances to those she met to `total`, and how many she met to `met`: as the first and as the
// second of two, over all pairs of ballots on the same row. `pairs` has numbers of 4 or 8 bytes.
EXPORTED void distances_met(
    const int64_t *ballot_start, int64_t rows, const uint32_t *voters, const uint64_t *masks, int64_t n_voters,
    void *pairs, int64_t pair_bytes, double *total, double *met
) {
    if (pair_bytes == 4) {
        count_pairs(ballot_start, rows, voters, masks, n_voters, static_cast<uint32_t *>(pairs), total, met);
    } else {
        count_pairs(ballot_start, rows, voters, masks, n_voters, static_cast<uint64_t *>(pairs), total, met);
    }
}
