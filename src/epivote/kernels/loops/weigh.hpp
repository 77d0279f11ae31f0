// What the allowed sets with each cell are worth: a size counter runs over the cells, back and forth, for eight rows.
#pragma once

#include "lanes.hpp"

constexpr double LARGEST = 1e130;        // odds; the product of two stays below the largest float (1e308)
constexpr double SMALLEST = 1 / LARGEST; // sums below it are left to logarithms as well
constexpr int64_t MOST_STATES =
    1 << 21; // of a size counter over all cells: 128 MB; rows with more are weighed one by one

// A size counter for rows of some width. Without a binding upper bound it stops counting at `lower`.
struct Counter {
    int64_t width, lower, upper;
    bool absorbing; // the last state means "enough"
    int64_t last, height, lowest;

    // A cell has some fours of states, and the last one, where the counter stops. Those from 1 on are asked for; the
    // number is rounded up by states below.
    explicit Counter(const int64_t (&sizes)[3])
        : width(sizes[0]), lower(sizes[1]), upper(sizes[2]), absorbing(upper >= width), last(absorbing ? lower : upper),
          height(FOUR * (last < 2 ? 1 : (last + FOUR - 2) / FOUR) + 1), lowest(last - height + 1) {}

    int64_t states() const { return width * height; }
};

struct Sums {
    Floats everything, allowed;
};

// Fill in four states of all cells, from row `s` of a cell on: the sum over all ways to go on after it. Those from row
// `enough` on are allowed to end; the state above the four was filled in before.
inline void count_back(const Counter &counter, Table odds, Table later, int64_t s, int64_t enough) {
    const Floats none = every(0.0), one = every(1.0);
    Floats first = s >= enough ? one : none, second = s + 1 >= enough ? one : none;
    Floats third = s + 2 >= enough ? one : none, fourth = s + 3 >= enough ? one : none;
    for (int64_t c = counter.width - 1; c >= 0; c--) {
        const Floats odd = odds[c];
        const int64_t place = c * counter.height + s;
        later[place] = first;
        later[place + 1] = second;
        later[place + 2] = third;
        later[place + 3] = fourth;
        first = plus_product(first, odd, second);
        second = plus_product(second, odd, third);
        third = plus_product(third, odd, fourth);
        fourth = plus_product(fourth, odd, later[place + FOUR]);
    }
}

// Count how often four states are reached before each cell, and add what they are worth with it to `within`. The fourth
// is kept in `fewer` if the state above it is counted, too; otherwise the table would only crowd the first cache. With
// the first four states two sums are worked out as well: `everything`, and `allowed` by the first cell of a set, after
// which the counter goes on from state 1, row `one_more` of a cell. State 0, below the four or one of them, stays at 1;
// states below it stay at 0.
template <bool is_first>
inline void count_forth(
    const Counter &counter, Table odds, Table later, int64_t s, Table fewer, bool kept, Table within, Sums &sums,
    int64_t one_more
) {
    const Floats none = every(0.0), one = every(1.0);
    const int64_t state = counter.lowest + s;
    Floats first = state == 0 ? one : none, second = state == -1 ? one : none;
    Floats third = state == -2 ? one : none, fourth = state == -3 ? one : none;
    Floats below = state == 1 ? one : none, everything = sums.everything, allowed = sums.allowed;
    for (int64_t c = 0; c < counter.width; c++) {
        const Floats odd = odds[c];
        const int64_t place = c * counter.height + s;
        Floats inside;
        if (is_first) {
            everything = plus_product(everything, everything, odd);
            allowed = plus_product(allowed, odd, later[place + one_more]);
            inside = below * later[place];
        } else {
            below = fewer[c];
            inside = none;
        }
        inside = plus_product(inside, first, later[place + 1]);
        inside = plus_product(inside, second, later[place + 2]);
        inside = plus_product(inside, third, later[place + 3]);
        inside = plus_product(inside, fourth, later[place + FOUR]);
        within[c] = is_first ? odd * inside : plus_product(within[c], odd, inside);
        if (kept) fewer[c] = fourth;
        fourth = plus_product(fourth, odd, third);
        third = plus_product(third, odd, second);
        second = plus_product(second, odd, first);
        first = plus_product(first, odd, below);
    }
    sums = {everything, allowed};
}

// What the allowed sets with each cell are worth, into `within`; gives the sum over all sets, and over those that are
// allowed. `later` has a table of `height` rows per cell, which must be 1 before the first call: the last row is written
// to only where no upper bound binds.
inline Sums weigh(const Counter &counter, Table odds, Table later, Table fewer, Table within) {
    const int64_t width = counter.width, height = counter.height;
    if (counter.absorbing) {
        Floats every_set = every(1.0);
        for (int64_t c = width - 1; c >= 0; c--) {
            later[(c + 1) * height - 1] = every_set;
            every_set = plus_product(every_set, every_set, odds[c]);
        }
    }
    for (int64_t s = height - 1 - FOUR; s >= 0; s -= FOUR)
        count_back(counter, odds, later, s, counter.lower - counter.lowest);
    Sums sums = {every(1.0), every(counter.lower ? 0.0 : 1.0)};
    const int64_t one_more = (counter.last < 1 ? counter.last : 1) - counter.lowest;
    for (int64_t s = 0; s < height - 1; s += FOUR) {
        const bool kept = counter.absorbing || s + FOUR < height - 1;
        if (s == 0) {
            count_forth<true>(counter, odds, later, s, fewer, kept, within, sums, one_more);
        } else {
            count_forth<false>(counter, odds, later, s, fewer, kept, within, sums, one_more);
        }
    }
    if (counter.absorbing) {
        Floats enough = every(counter.last ? 0.0 : 1.0);
        for (int64_t c = 0; c < width; c++) {
            const Floats odd = odds[c];
            within[c] = plus_product(within[c], odd, enough * later[(c + 1) * height - 1]);
            enough = plus_product(enough, odd, (enough + fewer[c]));
        }
    }
    if (!counter.upper) sums.allowed = every(1.0);
    return sums;
}
