// Ballots put in order, and the sets of their ticks collected.
#include "words.hpp"

namespace {

constexpr int64_t SHORT = 32;          // rows or numbers that are sorted by insertion; a round number
constexpr int64_t LISTS_AT_ONCE = 256; // a round number: what is looked up of them stays in the first cache
constexpr int64_t MASK_BITS = 64;

// Sorts some rows by their voters; rows of the same voter stay as they are. `room` is for as many rows.
void sort_rows(const int32_t *voter, int32_t *rows, int64_t count, int32_t *room) {
    for (int64_t begin = 0; begin < count; begin += SHORT) {
        const int64_t end = begin + SHORT < count ? begin + SHORT : count;
        for (int64_t k = begin + 1; k < end; k++) {
            const int32_t row = rows[k];
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
            memcpy(rows + begin, room + begin, sizeof(int32_t) * (end - begin));
        }
    }
}

template <class Value>
int ascending(const void *one, const void *other) {
    const Value a = *static_cast<const Value *>(one), b = *static_cast<const Value *>(other);
    return (a > b) - (a < b);
}

// Write the numbers of some values, ascending and each once; gives how many there are.
template <class Value>
int64_t write_set(const Value *values, int64_t size, const Value *numbers, int64_t limit, Value *to) {
    int64_t written = 0;
    if (limit <= MASK_BITS) {
        uint64_t mask = 0;
        for (int64_t k = 0; k < size; k++) mask |= uint64_t{1} << numbers[values[k]];
        for (; mask; mask &= mask - 1) to[written++] = static_cast<Value>(lowest_bit(mask));
        return written;
    }
    for (int64_t k = 0; k < size; k++) {
        const Value number = numbers[values[k]];
        int64_t place = k;
        for (; size <= SHORT && place > 0 && to[place - 1] > number; place--) to[place] = to[place - 1];
        to[place] = number;
    }
    if (size > SHORT) qsort(to, size, sizeof(Value), ascending<Value>);
    for (int64_t k = 0; k < size; k++)
        if (k == 0 || to[k] != to[written - 1]) to[written++] = to[k];
    return written;
}

// See `collect_sets`. Where the next lists start is looked up first, so that several wait for memory at the same time.
template <class Value>
int64_t collect(
    const int64_t *start, const Value *values, const Value *numbers, int64_t limit, const int32_t *list_of,
    const int32_t *rows, int64_t count, int64_t at, int64_t *starts, Value *found
) {
    int64_t firsts[LISTS_AT_ONCE], sizes[LISTS_AT_ONCE];
    const int64_t begin_at = at;
    for (int64_t begin = 0; begin < count; begin += LISTS_AT_ONCE) {
        const int64_t some = count - begin < LISTS_AT_ONCE ? count - begin : LISTS_AT_ONCE;
        for (int64_t k = 0; k < some; k++) firsts[k] = list_of ? list_of[rows[begin + k]] : rows[begin + k];
        for (int64_t k = 0; k < some; k++) {
            sizes[k] = start[firsts[k] + 1] - start[firsts[k]];
            firsts[k] = start[firsts[k]];
        }
        for (int64_t k = 0; k < some; k++) {
            starts[begin + k] = at;
            at += write_set(values + firsts[k], sizes[k], numbers, limit, found + at);
        }
    }
    return at - begin_at;
}

// Calls `use(begin, end)` for the rows of each instance in turn, which come together, from row `first` to before `last`.
template <class Use>
void for_each_instance(const int32_t *instance, int64_t first, int64_t last, Use use) {
    for (int64_t begin = first, end; begin < last; begin = end) {
        for (end = begin + 1; end < last && instance[end] == instance[begin];) end++;
        use(begin, end);
    }
}

// See `order_in_place`.
template <class Value>
int64_t in_place(
    const int32_t *instance, int32_t *voter, int64_t first_row, int64_t last_row, int64_t last_value,
    const Value *numbers, int64_t limit, int64_t *start, Value *values, int64_t *ballot_start
) {
    const auto start_of = [&](int64_t row) { return row < last_row ? start[row] : last_value; };
    const int64_t first = start[first_row];
    int64_t most_rows = 0, most_values = 0, at = first;
    for_each_instance(instance, first_row, last_row, [&](int64_t begin, int64_t end) {
        const int64_t size = start_of(end) - start[begin];
        most_rows = end - begin > most_rows ? end - begin : most_rows;
        most_values = size > most_values ? size : most_values;
    });
    const Room<int32_t> order(most_rows), room(most_rows);
    const Room<int64_t> firsts(most_rows + 1);
    const Room<Value> before(most_values);
    if (!order.at || !room.at || !firsts.at || !before.at) return -1;
    for_each_instance(instance, first_row, last_row, [&](int64_t begin, int64_t end) {
        const int64_t count = end - begin, first_value = start[begin];
        for (int64_t k = 0; k <= count; k++) firsts[k] = start_of(begin + k) - first_value;
        for (int64_t k = 0; k < count; k++) order[k] = static_cast<int32_t>(k);
        memcpy(before.at, values + first_value, sizeof(Value) * firsts[count]);
        sort_rows(voter + begin, order, count, room);
        for (int64_t k = 0; k < count; k++) room[k] = voter[begin + order[k]];
        memcpy(voter + begin, room.at, sizeof(int32_t) * count);
        ballot_start[instance[begin]] = begin;
        for (int64_t k = 0; k < count; k++) {
            const int64_t from = firsts[order[k]], size = firsts[order[k] + 1] - from;
            start[begin + k] = at;
            at += write_set(before.at + from, size, numbers, limit, values + at);
        }
    });
    return at - first;
}

// Calls a function with a value of a type that has so many bytes.
template <class Use>
int64_t with_value_of(int64_t bytes, Use use) {
    switch (bytes) {
    case 1: return use(uint8_t{});
    case 2: return use(uint16_t{});
    default: return use(int32_t{});
    }
}

} // namespace

// The rows in the order of their instances and then of their voters, and these voters; those with the same of both stay
// as they are. `starts` has a zero per instance and two more, and then says where the rows of each instance start, the
// first of the two where the last ones end. Gives how many rows follow one of the same instance and voter; -1 if there was
// not enough memory.
EXPORTED int64_t order_ballots(
    const int32_t *instance, const int32_t *voter, int64_t rows, int64_t instances, int64_t *starts, int32_t *order,
    int32_t *voters
) {
    int64_t *const next =
        starts + 1; // where the next row of an instance goes: in the end, where the one after it starts
    for (int64_t row = 0; row < rows; row++) next[instance[row] + 1]++;
    int64_t most = 0, repeats = 0;
    for (int64_t z = 0; z < instances; z++) {
        most = next[z + 1] > most ? next[z + 1] : most;
        next[z + 1] += next[z];
    }
    const Room<int32_t> room(most);
    if (!room.at) return -1;
    for (int64_t row = 0; row < rows; row++) order[next[instance[row]]++] = static_cast<int32_t>(row);
    for (int64_t z = 0; z < instances; z++) {
        sort_rows(voter, order + starts[z], starts[z + 1] - starts[z], room);
        for (int64_t k = starts[z]; k < starts[z + 1]; k++) voters[k] = voter[order[k]];
        for (int64_t k = starts[z] + 1; k < starts[z + 1]; k++) repeats += voters[k] == voters[k - 1];
    }
    return repeats;
}

// How many values the lists of these rows have together; row r has list list_of[r], or r if that is null.
EXPORTED int64_t count_values(const int64_t *start, const int32_t *list_of, const int32_t *rows, int64_t count) {
    int64_t total = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t list = list_of ? list_of[rows[k]] : rows[k];
        total += start[list + 1] - start[list];
    }
    return total;
}

// Write the lists of these rows one after the other, from value `at` on, and where each of them starts. Value v becomes
// numbers[v], which is below `limit`; each list ascends and has no number twice. Values and numbers have so many bytes.
// Gives how many were written.
EXPORTED int64_t collect_sets(
    const int64_t *start, const void *values, const void *numbers, int64_t bytes, int64_t limit, const int32_t *list_of,
    const int32_t *rows, int64_t count, int64_t at, int64_t *starts, void *found
) {
    return with_value_of(bytes, [&](auto one) {
        using Value = decltype(one);
        return collect<Value>(
            start, static_cast<const Value *>(values), static_cast<const Value *>(numbers), limit, list_of, rows, count,
            at, starts, static_cast<Value *>(found)
        );
    });
}

// How many of the rows from `first` to before `last` have the instance and the voter of an earlier one, where the rows of
// an instance come together; -1 if there was not enough memory.
EXPORTED int64_t count_repeats(const int32_t *instance, const int32_t *voter, int64_t first, int64_t last) {
    int64_t most = 0, repeats = 0;
    for_each_instance(instance, first, last, [&](int64_t begin, int64_t end) {
        most = end - begin > most ? end - begin : most;
    });
    const Room<int32_t> order(most), room(most);
    if (!order.at || !room.at) return -1;
    for_each_instance(instance, first, last, [&](int64_t begin, int64_t end) {
        const int32_t *const here = voter + begin;
        for (int64_t k = 0; k < end - begin; k++) order[k] = static_cast<int32_t>(k);
        sort_rows(here, order, end - begin, room);
        for (int64_t k = 1; k < end - begin; k++) repeats += here[order[k]] == here[order[k - 1]];
    });
    return repeats;
}

// Where the rows of an instance come together, each with another voter: put the rows of every instance in the order of
// their voters, and make sets of their lists as `collect_sets` does, all in the memory they are in. Only the rows from
// `first_row` to before `last_row` are touched; list r is `values` from start[r] to start[r + 1], the last one to
// `last_value`. `ballot_start` then says where the rows of their instances start. Gives how many values were written; -1
// if there was not enough memory.
EXPORTED int64_t order_in_place(
    const int32_t *instance, int32_t *voter, int64_t first_row, int64_t last_row, int64_t last_value,
    const void *numbers, int64_t bytes, int64_t limit, int64_t *start, void *values, int64_t *ballot_start
) {
    return with_value_of(bytes, [&](auto one) {
        using Value = decltype(one);
        return in_place<Value>(
            instance, voter, first_row, last_row, last_value, static_cast<const Value *>(numbers), limit, start,
            static_cast<Value *>(values), ballot_start
        );
    });
}
