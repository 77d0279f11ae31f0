// Eight bytes at a time.
#pragma once

#include "shard.hpp"

constexpr int64_t WORD = 8; // bytes

inline uint64_t load_word(const uint8_t *from) {
    uint64_t word;
    memcpy(&word, from, WORD);
    return word;
}

// Copies whole words, and so up to seven bytes more than were asked for.
inline void copy_words(uint8_t *to, const uint8_t *from, int64_t size) {
    for (int64_t k = 0; k < size; k += WORD) memcpy(to + k, from + k, WORD);
}
