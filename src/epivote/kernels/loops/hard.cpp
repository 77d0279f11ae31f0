// The hard pass over a shard: score, choose, count. Scores are added up in the order in which arrays add them up, so
// that results agree with `epivote.model.passes.ArrayPass` to the last bit.
#include "shard.hpp"

namespace {

constexpr double TIE_SCALE = 1e9; // margins are compared as whole numbers of 1e-9, like `choose.TIE_DECIMALS`
constexpr double SLACK_SAFETY =
    1e-8; // relative; ten times the width of a tie, so that a kept set is never one short of a tie
constexpr int PLACE_BITS = 6;
constexpr int64_t WIDEST = 1 << PLACE_BITS; // cells of a row whose set is a mask: its bits
constexpr int64_t LAST_PLACE = WIDEST - 1;

bool is_right(double margin) { return margin * TIE_SCALE >= -0.5; }

// Theorem 1 for one row of at most 64 cells, as bits: all margins from 0 on, or the largest within the bounds. Also how
// far all margins may move, each on its own, with the set surely staying the same.
uint64_t choose_mask(const double *margins, int64_t width, int64_t lower, int64_t upper, int64_t *keys, double &free) {
    uint64_t inside = 0;
    free = INFINITY;
    for (int64_t c = 0; c < width; c++) {
        inside |= static_cast<uint64_t>(is_right(margins[c])) << c;
        const double distance = fabs(margins[c]);
        free = distance < free ? distance : free;
    }
    const int64_t size = bits(inside);
    if (lower <= size && size <= upper) return inside;
    // The rounded margin first, then the place: the largest key is the one to take.
    for (int64_t c = 0; c < width; c++) {
        keys[c] = (static_cast<int64_t>(rint(margins[c] * TIE_SCALE)) * WIDEST) | (LAST_PLACE - c);
    }
    const int64_t taken = size < lower ? lower : upper;
    inside = 0;
    double last = INFINITY;
    for (int64_t number = 0;; number++) { // the last is the first that is left out
        if (number == width) {
            free = INFINITY;
            return inside;
        }
        int64_t best = keys[0];
        for (int64_t c = 1; c < width; c++) best = keys[c] > best ? keys[c] : best;
        const int64_t place = LAST_PLACE - (best & LAST_PLACE);
        if (number == taken) {
            free = (last - margins[place]) / 2; // both are on the same side of 0, and not nearer to it
            return inside;
        }
        inside |= uint64_t{1} << place;
        keys[place] = INT64_MIN;
        last = margins[place];
    }
}

int descending(const void *one, const void *other) {
    const double a = *static_cast<const double *>(one), b = *static_cast<const double *>(other);
    return (a < b) - (a > b);
}

// The same for a row of any length; `rounded` and `sorted` are room for its margins.
void choose_row(
    const double *margins, int64_t width, int64_t lower, int64_t upper, double *rounded, double *sorted, uint8_t *chosen
) {
    int64_t size = 0;
    for (int64_t c = 0; c < width; c++) size += chosen[c] = is_right(margins[c]);
    if (lower <= size && size <= upper) return;
    size = size < lower ? lower : upper;
    for (int64_t c = 0; c < width; c++) sorted[c] = rounded[c] = rint(margins[c] * TIE_SCALE);
    qsort(sorted, width, sizeof(double), descending);
    int64_t above = 0; // of those that are equal to the last one taken, the first are
    for (int64_t c = 0; c < width; c++) above += size && rounded[c] > sorted[size - 1];
    for (int64_t c = 0; c < width; c++) {
        const bool is_equal = size && rounded[c] == sorted[size - 1] && above < size;
        chosen[c] = size && (rounded[c] > sorted[size - 1] || is_equal);
        above += is_equal;
    }
}

} // namespace

// Choose the set of every row, of any width; count hits and true alternatives seen of every voter, and occurrences. The
// sets are kept unless `sets` is null. Gives whether there was enough memory.
EXPORTED int32_t hard_pass(
    const Shard *shard, const double *prior_log_odds, const double *pushes, double *counts, double *occurrences,
    uint8_t *sets
) {
    const int64_t width = shard->width;
    const Room<double> room(4 * width);
    const Room<uint8_t> chosen(width);
    if (!room.at || !chosen.at) return 0;
    double *prior = room, *margins = prior + width;
    return with_voters(*shard, [&](const auto *voters) {
        for (int64_t row = 0; row < shard->rows; row++) {
            if (shard->is_fixed(row)) {
                memcpy(chosen, shard->given + row * width, width);
            } else {
                for (int64_t c = 0; c < width; c++) prior[c] = prior_log_odds[shard->alternative(row, c)];
                margins_of(*shard, voters, row, prior, pushes, margins);
                choose_row(margins, width, shard->lower, shard->upper, margins + width, margins + 2 * width, chosen);
            }
            int64_t size = 0;
            for (int64_t c = 0; c < width; c++) {
                size += chosen[c];
                occurrences[shard->alternative(row, c)] += chosen[c];
            }
            for (int64_t b = shard->ballot_start[row]; b < shard->ballot_start[row + 1]; b++) {
                int64_t hits = 0;
                for (int64_t k = shard->tick_start[b]; k < shard->tick_start[b + 1]; k++)
                    hits += chosen[shard->column(k)];
                counts[2 * voters[b]] += hits;
                counts[2 * voters[b] + 1] += size;
            }
            if (sets) memcpy(sets + row * width, chosen, width);
        }
        return 1;
    });
}

// The same for rows of up to 64 cells, as a change of what was kept and counted before: sets as bits, and how far the
// margins of a row may move before its set could be another. A row is not chosen anew while it has slack left. `moves`
// says how far up and down a ballot of every voter can have moved a margin since; it is null if nothing was chosen
// before, and then sets are empty.
EXPORTED void hard_change(
    const Shard *shard, const double *prior_log_odds, const double *pushes, double largest_push, const double *moves,
    double prior_moves, double *slack, uint64_t *sets, double *counts, double *occurrences
) {
    const int64_t width = shard->width;
    double prior[WIDEST], margins[WIDEST];
    int64_t keys[WIDEST];
    if (!shard->offered) memcpy(prior, prior_log_odds, sizeof(double) * width);
    with_voters(*shard, [&](const auto *voters) {
        for (int64_t row = 0; row < shard->rows; row++) {
            const int64_t first = shard->ballot_start[row], end = shard->ballot_start[row + 1];
            if (moves) {
                double up = prior_moves, down = prior_moves;
                for (int64_t b = first; b < end; b++) {
                    up += moves[2 * voters[b]];
                    down += moves[2 * voters[b] + 1];
                }
                slack[row] -= up > down ? up : down;
                if (slack[row] > 0.0) continue;
            }
            uint64_t inside = 0;
            double free = INFINITY;
            if (shard->is_fixed(row)) {
                for (int64_t c = 0; c < width; c++) inside |= static_cast<uint64_t>(shard->given[row * width + c]) << c;
            } else {
                if (shard->offered) {
                    for (int64_t c = 0; c < width; c++) prior[c] = prior_log_odds[shard->alternative(row, c)];
                }
                margins_of(*shard, voters, row, prior, pushes, margins);
                inside = choose_mask(margins, width, shard->lower, shard->upper, keys, free);
            }
            slack[row] = free - SLACK_SAFETY * (1.0 + largest_push * static_cast<double>(end - first));
            const uint64_t before = sets[row];
            if (inside == before) continue;
            sets[row] = inside;
            const int64_t more = bits(inside) - bits(before);
            for (int64_t b = first; b < end; b++) {
                counts[2 * voters[b]] += bits(shard->masks[b] & inside) - bits(shard->masks[b] & before);
                counts[2 * voters[b] + 1] += more;
            }
            for (uint64_t flips = inside ^ before; flips; flips &= flips - 1) {
                const int64_t c = lowest_bit(flips);
                occurrences[shard->alternative(row, c)] += (inside >> c) & 1 ? 1.0 : -1.0;
            }
        }
    });
}
