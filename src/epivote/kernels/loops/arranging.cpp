// Ballots put in order, and the lists of their ticks collected.
#include "words.hpp"

namespace {

constexpr int64_t SHORT = 32;          // rows that are sorted by insertion; a round number
constexpr int64_t LISTS_AT_ONCE = 256; // a round number: what is looked up of them stays in the first cache

// Sorts some rows by their voters; rows of the same voter stay as they are. `room` is for as many rows.
void sort_rows(const int32_t *voter, int64_t *rows, int64_t count, int64_t *room) {
    for (int64_t begin = 0; begin < count; begin += SHORT) {
        const int64_t end = begin + SHORT < count ? begin + SHORT : count;
        for (int64_t k = begin + 1; k < end; k++) {
            const int64_t row = rows[k];
            int64_t to = k;
            for (; to > begin && voter[rows[to - 1]] > voter[row]; to--) rows[to] = rows[to - 1];
            rows[to] = row;
        }
    }
    for (int64_t sorted = SHORT; sorted < count; sorted *= 2) {
        for (int64_t begin = 0; begin + sorted < count; begin += 2 * sorted) {
            const int64_t middle = begin + sorted, end = middle + sorted < count ? middle + sorted : count;
            int64_t one = begin, other = middle;
            for (int64_t to = begin; to < end; to++) {
                const bool is_first = other == end || (one < middle && voter[rows[one]] <= voter[rows[other]]);
                room[to] = is_first ? rows[one++] : rows[other++];
            }
            memcpy(rows + begin, room + begin, sizeof(int64_t) * (end - begin));
        }
    }
}

} // namespace

// The rows in the order of their instances and then of their voters; those with the same of both stay as they are.
// `starts` has a zero per instance and one more. Gives how many rows follow one of the same instance and voter; -1 if
// there was not enough memory.
EXPORTED int64_t order_ballots(
    const int32_t *instance, const int32_t *voter, int64_t rows, int64_t instances, int64_t *starts, int64_t *order
) {
    for (int64_t row = 0; row < rows; row++) starts[instance[row] + 1]++;
    int64_t most = 0, repeats = 0;
    for (int64_t z = 0; z < instances; z++) {
        most = starts[z + 1] > most ? starts[z + 1] : most;
        starts[z + 1] += starts[z];
    }
    const Room<int64_t> room(most);
    if (!room.at) return -1;
    for (int64_t row = 0; row < rows; row++) order[starts[instance[row]]++] = row;
    for (int64_t z = 0, begin = 0; z < instances; begin = starts[z++]) { // each start is now where the instance ends
        sort_rows(voter, order + begin, starts[z] - begin, room);
        for (int64_t k = begin + 1; k < starts[z]; k++) repeats += voter[order[k]] == voter[order[k - 1]];
    }
    return repeats;
}

// How many values the lists of these rows have together; row r has list list_of[r].
EXPORTED int64_t count_values(const int64_t *start, const int32_t *list_of, const int64_t *rows, int64_t count) {
    int64_t total = 0;
    for (int64_t k = 0; k < count; k++) total += start[list_of[rows[k]] + 1] - start[list_of[rows[k]]];
    return total;
}

// Write the lists of these rows one after the other, from value `at` on, and where each of them starts. A value has so
// many bytes, and `total` values are written. Where the next lists start is looked up first, so that several wait for
// memory at the same time.
EXPORTED void copy_lists(
    const int64_t *start, const uint8_t *values, int64_t bytes, const int32_t *list_of, const int64_t *rows,
    int64_t count, int64_t at, int64_t total, int64_t *starts, uint8_t *found
) {
    int64_t firsts[LISTS_AT_ONCE], ends[LISTS_AT_ONCE];
    uint8_t *to = found + at * bytes, *const last_word = to + total * bytes - WORD;
    for (int64_t begin = 0; begin < count; begin += LISTS_AT_ONCE) {
        const int64_t some = count - begin < LISTS_AT_ONCE ? count - begin : LISTS_AT_ONCE;
        for (int64_t k = 0; k < some; k++) firsts[k] = list_of[rows[begin + k]];
        for (int64_t k = 0; k < some; k++) {
            ends[k] = start[firsts[k] + 1];
            firsts[k] = start[firsts[k]];
        }
        for (int64_t k = 0; k < some; k++) {
            const int64_t size = (ends[k] - firsts[k]) * bytes;
            const uint8_t *from = values + firsts[k] * bytes;
            starts[begin + k] = at;
            at += ends[k] - firsts[k];
            if (to + size <= last_word) { // whole words stay among the values that are written here
                copy_words(to, from, size);
            } else {
                memcpy(to, from, size);
            }
            to += size;
        }
    }
}
