// The hard pass over a shard: score, choose, count. Scores are added up in the order in which arrays add them up, so
// that results agree with `epivote.model.passes.ArrayPass` to the last bit.
#include "shard.hpp"

namespace {

constexpr double TIE_SCALE = 1e9; // margins are compared as whole numbers of 1e-9, like `choose.TIE_DECIMALS`
constexpr double SLACK_SAFETY =
    1e-8; // relative; ten times the width of a tie, so that a kept set is never one short of a tie

constexpr int64_t LAST_BIT = WORD_BITS - 1;

bool is_right(double margin) { return margin * TIE_SCALE >= -0.5; }

// Room for the row that is worked on: priors, margins, their keys and the largest key of every word, the set as bits in so
// many words, and what a tick of each cell adds to hits. A set of masks is one word: a loop is compiled for those alone.
template <bool HAS_MASKS>
struct RowRoom {
    const int64_t width, all_words;
    const Room<double> prior, margins;
    const Room<int64_t> keys, tops;
    const Room<uint64_t> inside;
    const Room<int8_t> gains;

    explicit RowRoom(int64_t width)
        : width(width), all_words(words(width)), prior(width), margins(width), keys(width), tops(all_words),
          inside(all_words), gains(width) {}

    bool ok() const { return prior.at && margins.at && keys.at && tops.at && inside.at && gains.at; }

    int64_t size() const { return HAS_MASKS ? 1 : all_words; }

    // How many cells a word has.
    int64_t cells(int64_t w) const { return w + 1 < size() ? WORD_BITS : width - w * WORD_BITS; }

    void clear() const { memset(inside, 0, sizeof(uint64_t) * size()); }
};

int64_t largest(const int64_t *keys, int64_t count) {
    int64_t best = keys[0];
    for (int64_t k = 1; k < count; k++) best = keys[k] > best ? keys[k] : best;
    return best;
}

// The word of the cell to take next: of the largest margins, the one listed first.
int64_t next_word(const int64_t *tops, int64_t size) {
    int64_t word = 0, level = tops[0] | LAST_BIT;
    for (int64_t w = 1; w < size; w++) {
        if (tops[w] <= level) continue;
        word = w;
        level = tops[w] | LAST_BIT;
    }
    return word;
}

// Put the `taken` largest margins inside. Gives how far all margins may move, each on its own, with these surely staying
// the largest. Of every word only the next cell to take is compared with those of other words, so that a wide row is not
// swept again for every cell.
template <bool HAS_MASKS>
double take_largest(const RowRoom<HAS_MASKS> &room, int64_t taken) {
    for (int64_t w = 0; w < room.size(); w++) {
        const double *margins = room.margins + w * WORD_BITS;
        int64_t *keys = room.keys + w * WORD_BITS;
        const int64_t cells = room.cells(w);
        // The rounded margin first, then the place: the largest key is the one to take.
        for (int64_t bit = 0; bit < cells; bit++)
            keys[bit] = (static_cast<int64_t>(rint(margins[bit] * TIE_SCALE)) * WORD_BITS) | (LAST_BIT - bit);
        room.tops[w] = largest(keys, cells);
    }
    room.clear();
    double last = INFINITY;
    for (;; taken--) { // the last is the first that is left out
        const int64_t w = next_word(room.tops, room.size()), bit = LAST_BIT - (room.tops[w] & LAST_BIT);
        const double margin = room.margins[w * WORD_BITS + bit];
        if (taken == 0) return (last - margin) / 2;
        int64_t *keys = room.keys + w * WORD_BITS;
        room.inside[w] |= uint64_t{1} << bit;
        keys[bit] = INT64_MIN;
        room.tops[w] = largest(keys, room.cells(w));
        last = margin;
    }
}

// Theorem 1 for one row, as bits: all margins from 0 on, or the largest within the bounds. Gives how far all margins may
// move, each on its own, with the set surely staying the same.
template <bool HAS_MASKS>
double choose(const RowRoom<HAS_MASKS> &room, int64_t lower, int64_t upper) {
    int64_t size = 0;
    double nearest = INFINITY;
    for (int64_t w = 0; w < room.size(); w++) {
        const double *margins = room.margins + w * WORD_BITS;
        const int64_t cells = room.cells(w);
        uint64_t right = 0;
        for (int64_t bit = 0; bit < cells; bit++) {
            right |= static_cast<uint64_t>(is_right(margins[bit])) << bit;
            const double distance = fabs(margins[bit]);
            nearest = distance < nearest ? distance : nearest;
        }
        room.inside[w] = right;
        size += bits(right);
    }
    // Beyond a bound, the last that is taken and the first that is not are on the same side of 0, and not nearer to it.
    if (size < lower) return take_largest(room, lower);
    if (size > upper) return take_largest(room, upper);
    return nearest;
}

// What sets are chosen by, what was kept of them before, and where they are counted: see `hard_change`.
struct HardPass {
    const Shard &shard;
    const double *prior_log_odds, *pushes;
    double largest_push;
    const double *moves;
    double prior_moves, *slack;
    uint64_t *sets;
    double *counts, *occurrences;
};

// Put the set of a row inside: the given one, or the most likely one. Gives how far margins may move.
template <bool HAS_MASKS, class Voter>
double fill_inside(const HardPass &pass, const Voter *voters, int64_t row, const RowRoom<HAS_MASKS> &room) {
    const Shard &shard = pass.shard;
    const int64_t width = shard.width;
    if (shard.is_fixed(row)) {
        room.clear();
        for (int64_t c = 0; c < width; c++)
            room.inside[c / WORD_BITS] |= static_cast<uint64_t>(shard.given[row * width + c]) << c % WORD_BITS;
        return INFINITY;
    }
    for (int64_t c = 0; c < width && shard.offered; c++) room.prior[c] = pass.prior_log_odds[shard.alternative(row, c)];
    margins_of(shard, voters, row, shard.offered ? room.prior : pass.prior_log_odds, pass.pushes, room.margins);
    return choose(room, shard.lower, shard.upper);
}

// Keep the set inside instead of the one that a row had before, and count it.
template <bool HAS_MASKS, class Voter>
void replace(const HardPass &pass, const Voter *voters, int64_t row, const RowRoom<HAS_MASKS> &room, uint64_t *kept) {
    const Shard &shard = pass.shard;
    const uint64_t *inside = room.inside, gained = *inside & ~*kept, lost = *kept & ~*inside;
    int64_t more = 0;
    if (!HAS_MASKS) memset(room.gains, 0, shard.width);
    for (int64_t w = 0; w < room.size(); w++) {
        for (uint64_t flips = inside[w] ^ kept[w]; flips; flips &= flips - 1) {
            const int64_t bit = lowest_bit(flips), c = w * WORD_BITS + bit;
            const int8_t gain = (inside[w] >> bit) & 1 ? 1 : -1;
            if (!HAS_MASKS) room.gains[c] = gain;
            pass.occurrences[shard.alternative(row, c)] += gain;
            more += gain;
        }
        kept[w] = inside[w];
    }
    for (int64_t b = shard.ballot_start[row]; b < shard.ballot_start[row + 1]; b++) {
        int64_t hits = 0;
        if (HAS_MASKS) {
            hits = bits(shard.masks[b] & gained) - bits(shard.masks[b] & lost);
        } else {
            for (int64_t k = shard.tick_start[b]; k < shard.tick_start[b + 1]; k++) hits += room.gains[shard.column(k)];
        }
        double *counted = pass.counts + 2 * static_cast<int64_t>(voters[b]);
        counted[0] += hits;
        counted[1] += more;
    }
}

// How far the margins of a row can have moved.
template <class Voter>
double largest_move(const HardPass &pass, const Voter *voters, int64_t row) {
    double up = pass.prior_moves, down = pass.prior_moves;
    for (int64_t b = pass.shard.ballot_start[row]; b < pass.shard.ballot_start[row + 1]; b++) {
        up += pass.moves[2 * voters[b]];
        down += pass.moves[2 * voters[b] + 1];
    }
    return up > down ? up : down;
}

bool are_same(const uint64_t *one, const uint64_t *other, int64_t size) {
    uint64_t flips = 0;
    for (int64_t w = 0; w < size; w++) flips |= one[w] ^ other[w];
    return !flips;
}

template <bool HAS_MASKS>
int32_t change(const HardPass &pass) {
    const Shard &shard = pass.shard;
    const RowRoom<HAS_MASKS> room(shard.width);
    if (!room.ok()) return 0;
    return with_voters(shard, [&](const auto *voters) {
        for (int64_t row = 0; row < shard.rows; row++) {
            if (pass.moves) {
                pass.slack[row] -= largest_move(pass, voters, row);
                if (pass.slack[row] > 0.0) continue;
            }
            const auto cast = static_cast<double>(shard.ballot_start[row + 1] - shard.ballot_start[row]);
            pass.slack[row] = fill_inside(pass, voters, row, room) - SLACK_SAFETY * (1.0 + pass.largest_push * cast);
            uint64_t *kept = pass.sets + row * room.size();
            if (!are_same(room.inside, kept, room.size())) replace(pass, voters, row, room, kept);
        }
        return 1;
    });
}

} // namespace

// Choose the set of every row; count hits and true alternatives seen of every voter, and occurrences: all as a change of
// what was kept and counted before. Sets are kept as bits, in as many words as a row needs, and with them how far the
// margins of a row may move before its set could be another: a row is not chosen anew while it has slack left. `moves`
// says how far up and down a ballot of every voter can have moved a margin since; it is null if nothing was chosen
// before, and then sets are empty. Gives whether there was enough memory.
EXPORTED int32_t hard_change(
    const Shard *shard, const double *prior_log_odds, const double *pushes, double largest_push, const double *moves,
    double prior_moves, double *slack, uint64_t *sets, double *counts, double *occurrences
) {
    const HardPass pass = {*shard,      prior_log_odds, pushes, largest_push, moves,
                           prior_moves, slack,          sets,   counts,       occurrences};
    return shard->masks ? change<true>(pass) : change<false>(pass);
}
