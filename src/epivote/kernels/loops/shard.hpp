// What the loops over a shard are given, and the parts they share. The fields are those of `LoopShard` in library.py.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define EXPORTED extern "C" __declspec(dllexport)
#else
#define EXPORTED extern "C" __attribute__((visibility("default")))
#endif

// The ballots of some instances, a row each: row r has those from ballot_start[r] to ballot_start[r + 1]. Ticks are
// bits of masks or, where masks is null, lists of columns. A menu has the alternative of every cell; without one,
// column c is alternative c. Rows that are fixed have the set that is given; both are null if there is no such row.
struct Shard {
    int64_t rows, width, lower, upper;
    int64_t voter_bytes, column_bytes;
    const int64_t *ballot_start;
    const void *ballot_voter;
    const uint64_t *masks;
    const int64_t *tick_start;
    const void *tick_column;
    const int64_t *offered;
    const uint8_t *fixed, *given;
    const int32_t *order; // the rows by their number of ballots; null if all have the same

    bool is_fixed(int64_t row) const { return fixed && fixed[row]; }

    int64_t alternative(int64_t row, int64_t c) const { return offered ? offered[row * width + c] : c; }

    int64_t column(int64_t k) const {
        return column_bytes == 2 ? static_cast<const uint16_t *>(tick_column)[k]
                                 : static_cast<const uint32_t *>(tick_column)[k];
    }
};

// Calls `work` with the numbers of voters as they are stored: a loop is compiled for each of their types.
template <class Work>
auto with_voters(const Shard &shard, Work work) {
    switch (shard.voter_bytes) {
    case 1: return work(static_cast<const uint8_t *>(shard.ballot_voter));
    case 2: return work(static_cast<const uint16_t *>(shard.ballot_voter));
    default: return work(static_cast<const uint32_t *>(shard.ballot_voter));
    }
}

constexpr int64_t WORD_BITS = 64;

// How many words a row of so many cells needs, with a bit for each.
inline int64_t words(int64_t width) { return (width + WORD_BITS - 1) / WORD_BITS; }

inline int64_t bits(uint64_t mask) { return __builtin_popcountll(mask); }

inline int64_t lowest_bit(uint64_t mask) { return __builtin_ctzll(mask); }

// Log-odds of one row's cells: ticks in the order of the ballots, then the prior, then the threshold.
template <class Voter>
inline void margins_of(
    const Shard &shard, const Voter *voters, int64_t row, const double *prior, const double *pushes,
    double *__restrict margins
) {
    const int64_t width = shard.width;
    double threshold = 0.0;
    for (int64_t c = 0; c < width; c++) margins[c] = 0.0;
    for (int64_t b = shard.ballot_start[row]; b < shard.ballot_start[row + 1]; b++) {
        const double *push = pushes + 2 * voters[b];
        const double weight = push[0];
        threshold += push[1];
        if (shard.masks) {
            const uint64_t mask = shard.masks[b];
            for (int64_t c = 0; c < width; c++) margins[c] += (mask >> c) & 1 ? weight : 0.0;
        } else {
            for (int64_t k = shard.tick_start[b]; k < shard.tick_start[b + 1]; k++) margins[shard.column(k)] += weight;
        }
    }
    for (int64_t c = 0; c < width; c++) margins[c] = (margins[c] + prior[c]) - threshold;
}

// Room for numbers, given back at the end of a loop; `at` is null if there was not enough memory.
template <class Number>
struct Room {
    Number *at;
    explicit Room(int64_t count) : at(static_cast<Number *>(malloc(sizeof(Number) * (count > 0 ? count : 1)))) {}
    ~Room() { free(at); }
    Room(const Room &) = delete;
    Room &operator=(const Room &) = delete;
    operator Number *() const { return at; }
};
