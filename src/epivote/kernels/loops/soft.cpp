// The soft pass over a shard: odds, probabilities, counts; with or without groups of instances.
//
// It does what `epivote.model.passes.ArrayPass` does with arrays, up to rounding. Eight rows are worked on in lockstep
// (lanes.hpp). Evidence is multiplied as odds: a voter's two factors are worked out once an iteration, so that no cell
// needs a logarithm or an exponential. Each product and each sum of positive numbers is off by at most one rounding, so
// all results are off by about as many roundings as there are ballots on an instance and alternatives, relative to
// themselves. Rows whose odds could leave the range of floats, and those whose sets are given, are weighed one by one in
// logarithms (log.hpp).
#include "log.hpp"
#include "weigh.hpp"

namespace {

// What all rows of a pass are weighed by, and where it counts: hits and true alternatives seen of every voter; per group
// its occurrences and how many instances it has.
struct Pass {
    const Shard &shard;
    const double *factors, *pushes;
    int64_t groups, alternatives;
    const double *prior_log_odds, *log_weights;
    double *counts, *occurrences, *sizes;
};

// Tables for a block of eight rows: of every ballot in turn the cells it ticks as bits, the highest cell first, what a
// tick says and what a non-tick does, and the hits; of every cell priors, odds, and what the sets with it are worth, by
// group; of every group its share of the rows, and of all blocks.
struct Block {
    int64_t rows[LANES], first[LANES], cast[LANES], most;
    Table ticks, tick, hits, priors, odds, later, fewer, within, seen, shares;
};

// The ticks of a ballot in every lane, shifted so that those of this place are the signs.
Integers from(Table ticks, int64_t b, int64_t place) {
    return reinterpret_cast<const Integers *>(ticks.at)[b] << place;
}

// What the ballots of every row say: the product over all of them for a cell that nobody ticks, and the least that a
// product on the way could be, where it is below 1; 0 in lanes without a row.
struct Heard {
    Floats nobody, least;
};

template <class Voter>
Heard read_ballots(const Pass &pass, const Voter *voters, const Block &block) {
    double nobodies[LANES], leasts[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        const int64_t first = block.first[lane], cast = block.cast[lane];
        double nobody = 1.0, least = block.rows[lane] < 0 ? 0.0 : 1.0;
        for (int64_t b = 0; b < cast; b++) {
            const double *factor = pass.factors + 2 * static_cast<int64_t>(voters[first + b]);
            const double tick = factor[0], no_tick = factor[1], both = tick * no_tick;
            const double with_tick = tick < both ? tick : both, without = no_tick < 1.0 ? no_tick : 1.0;
            nobody *= no_tick;
            least *= with_tick < without ? with_tick : without;
            block.tick.cell(b, lane) = tick;
            reinterpret_cast<uint64_t &>(block.ticks.cell(b, lane)) = pass.shard.masks[first + b]
                                                                      << (64 - pass.shard.width);
        }
        for (int64_t b = cast; b < block.most; b++) {
            block.tick.cell(b, lane) = 1.0;
            block.ticks.cell(b, lane) = 0.0;
        }
        nobodies[lane] = nobody;
        leasts[lane] = least;
    }
    return {loaded(nobodies), loaded(leasts)};
}

// The odds of a block's cells: the priors times what its ballots say. What they say of cells that nobody ticks is
// multiplied once for all cells; a tick makes up for the difference.
template <class Voter>
Floats multiply(const Pass &pass, const Voter *voters, const Block &block) {
    const Heard heard = read_ballots(pass, voters, block);
    const Floats one = every(1.0);
    int64_t place = 0; // of the present cell among the bits, counted from the highest
    for (int64_t c = pass.shard.width - FOUR; c >= 0; c -= FOUR, place += FOUR) {
        Floats first = block.priors[c + 3] * heard.nobody, second = block.priors[c + 2] * heard.nobody;
        Floats third = block.priors[c + 1] * heard.nobody, fourth = block.priors[c] * heard.nobody;
        for (int64_t b = 0; b < block.most; b++) {
            const Integers ticks = from(block.ticks, b, place);
            const Floats tick = block.tick[b];
            first *= select(ticks, tick, one);
            second *= select(ticks << 1, tick, one);
            third *= select(ticks << 2, tick, one);
            fourth *= select(ticks << 3, tick, one);
        }
        block.odds[c + 3] = first;
        block.odds[c + 2] = second;
        block.odds[c + 1] = third;
        block.odds[c] = fourth;
    }
    for (int64_t c = pass.shard.width % FOUR - 1; c >= 0; c--, place++) {
        Floats odd = block.priors[c] * heard.nobody;
        for (int64_t b = 0; b < block.most; b++) odd *= select(from(block.ticks, b, place), block.tick[b], one);
        block.odds[c] = odd;
    }
    return heard.least;
}

// Count the hits of a block's ballots and the true alternatives they saw; `within` has the inclusion probabilities.
template <class Voter>
void count(const Pass &pass, const Voter *voters, const Block &block, Floats size) {
    const Floats none = every(0.0);
    int64_t place = 0;
    for (int64_t b = 0; b < block.most; b++) block.hits[b] = none;
    for (int64_t c = pass.shard.width - FOUR; c >= 0; c -= FOUR, place += FOUR) {
        const Floats first = block.within[c + 3], second = block.within[c + 2];
        const Floats third = block.within[c + 1], fourth = block.within[c];
        for (int64_t b = 0; b < block.most; b++) {
            const Integers ticks = from(block.ticks, b, place);
            const Floats one = select(ticks, first, none) + select(ticks << 1, second, none);
            const Floats other = select(ticks << 2, third, none) + select(ticks << 3, fourth, none);
            block.hits[b] += one + other;
        }
    }
    for (int64_t c = pass.shard.width % FOUR - 1; c >= 0; c--, place++) {
        for (int64_t b = 0; b < block.most; b++)
            block.hits[b] += select(from(block.ticks, b, place), block.within[c], none);
    }
    for (int lane = 0; lane < LANES; lane++) {
        for (int64_t b = 0; b < block.cast[lane]; b++) {
            double *counted = pass.counts + 2 * static_cast<int64_t>(voters[block.first[lane] + b]);
            counted[0] += block.hits.cell(b, lane);
            counted[1] += in_lane(size, lane);
        }
    }
}

// `multiply` from lists of ticks.
template <class Voter>
Floats multiply_lists(const Pass &pass, const Voter *voters, const Block &block) {
    const Shard &shard = pass.shard;
    double leasts[LANES];
    for (int64_t c = 0; c < shard.width; c++) block.odds[c] = block.priors[c];
    for (int lane = 0; lane < LANES; lane++) {
        double nobody = 1.0, least = block.rows[lane] < 0 ? 0.0 : 1.0;
        for (int64_t b = block.first[lane]; b < block.first[lane] + block.cast[lane]; b++) {
            const double *factor = pass.factors + 2 * static_cast<int64_t>(voters[b]);
            const double tick = factor[0], no_tick = factor[1], both = tick * no_tick;
            const double with_tick = tick < both ? tick : both, without = no_tick < 1.0 ? no_tick : 1.0;
            nobody *= no_tick;
            least *= with_tick < without ? with_tick : without;
            for (int64_t k = shard.tick_start[b]; k < shard.tick_start[b + 1]; k++)
                block.odds.cell(shard.column(k), lane) *= tick;
        }
        for (int64_t c = 0; c < shard.width; c++) block.odds.cell(c, lane) *= nobody;
        leasts[lane] = least;
    }
    return loaded(leasts);
}

// `count` from lists of ticks.
template <class Voter>
void count_lists(const Pass &pass, const Voter *voters, const Block &block, Floats size) {
    const Shard &shard = pass.shard;
    for (int lane = 0; lane < LANES; lane++) {
        for (int64_t b = block.first[lane]; b < block.first[lane] + block.cast[lane]; b++) {
            double hits = 0.0;
            for (int64_t k = shard.tick_start[b]; k < shard.tick_start[b + 1]; k++)
                hits += block.within.cell(shard.column(k), lane);
            double *counted = pass.counts + 2 * static_cast<int64_t>(voters[b]);
            counted[0] += hits;
            counted[1] += in_lane(size, lane);
        }
    }
}

double logarithm(Floats product) {
    double total = 0.0;
    for (int lane = 0; lane < LANES; lane++) total += log(in_lane(product, lane));
    return total;
}

// Weigh the groups and cells of one row in logarithms, by its set where that is given, and count. Gives the logarithm of
// what all groups make of the row. `room` is for three rows of cells, the cells of all groups, the groups, and a counter.
template <class Voter>
double log_row(const Pass &pass, const Voter *voters, int64_t row, double *room) {
    const Shard &shard = pass.shard;
    const int64_t width = shard.width;
    double *prior = room, *margins = prior + width, *inside = margins + width, *within = inside + width;
    double *chances = within + pass.groups * width, *states = chances + pass.groups;
    for (int64_t k = 0; k < pass.groups; k++) {
        for (int64_t c = 0; c < width; c++)
            prior[c] = pass.prior_log_odds[k * pass.alternatives + shard.alternative(row, c)];
        margins_of(shard, voters, row, prior, pass.pushes, margins);
        chances[k] = pass.log_weights[k];
        if (shard.is_fixed(row)) {
            for (int64_t c = 0; c < width; c++) {
                within[k * width + c] = shard.given[row * width + c];
                chances[k] += shard.given[row * width + c] ? margins[c] : 0.0;
            }
        } else {
            chances[k] += weigh_margins(margins, width, shard.lower, shard.upper, states, within + k * width);
        }
    }
    const double total = share_out(chances, pass.groups);
    double size = 0.0;
    for (int64_t c = 0; c < width; c++) inside[c] = 0.0;
    for (int64_t k = 0; k < pass.groups; k++) {
        pass.sizes[k] += chances[k];
        for (int64_t c = 0; c < width; c++) {
            const double share = chances[k] * within[k * width + c];
            inside[c] += share;
            size += share;
            pass.occurrences[k * pass.alternatives + shard.alternative(row, c)] += share;
        }
    }
    for (int64_t b = shard.ballot_start[row]; b < shard.ballot_start[row + 1]; b++) {
        double hits = 0.0;
        if (shard.masks) {
            for (uint64_t ticks = shard.masks[b]; ticks; ticks &= ticks - 1) hits += inside[lowest_bit(ticks)];
        } else {
            for (int64_t k = shard.tick_start[b]; k < shard.tick_start[b + 1]; k++) hits += inside[shard.column(k)];
        }
        double *counted = pass.counts + 2 * static_cast<int64_t>(voters[b]);
        counted[0] += hits;
        counted[1] += size;
    }
    return total;
}

// Weigh the rows of a block and count. Gives the sum over all sets and groups in lanes that could be weighed; `usable` is
// at most SMALLEST in the others.
template <class Voter>
Floats weigh_block(
    const Pass &pass, const Voter *voters, const Counter &counter, const Block &block, const double *weights,
    Floats &usable
) {
    const Shard &shard = pass.shard;
    const int64_t width = shard.width, groups = pass.groups;
    const Floats one = every(1.0), none = every(0.0);
    usable = shard.masks ? multiply(pass, voters, block) : multiply_lists(pass, voters, block);
    Floats mass = none;
    for (int64_t k = 0; k < groups; k++) {
        if (k) {
            for (int64_t c = 0; c < width; c++) block.odds[c] *= block.priors[k * width + c];
        }
        const Sums sums =
            weigh(counter, block.odds, block.later, block.fewer, Table{block.within.at + k * width * LANES});
        const Floats partition = sums.allowed * every(weights[k]);
        block.shares[k] = partition;
        mass += partition;
        usable = select(sums.everything < every(LARGEST), smaller(partition, usable), none);
    }
    const Floats share = one / mass;
    usable = smaller(smaller(mass, share), usable);
    const Floats limit = select(every(SMALLEST) < usable, one, none);
    Floats size = none;
    // From here on the first rows of `within` turn into the probabilities of the cells.
    for (int64_t k = 0; k < groups; k++) {
        block.shares[groups + k] += smaller(block.shares[k] * share, limit);
        const Floats part = every(weights[k]) * share;
        for (int64_t c = 0; c < width; c++) {
            const Floats inside = smaller(block.within[k * width + c] * part, limit);
            block.seen[k * width + c] += inside;
            size += inside;
            block.within[c] = k ? block.within[c] + inside : inside;
        }
    }
    if (shard.masks) {
        count(pass, voters, block, size);
    } else {
        count_lists(pass, voters, block, size);
    }
    return select(every(SMALLEST) < usable, mass, one);
}

// Room for all that a pass needs, and the priors of the groups as odds. Priors of blocks are filled in where no menu
// changes them from row to row: of a further group the ratio to the one before.
struct PassRoom {
    const Counter counter;
    const bool one_by_one; // there would be too many states for eight rows
    const int64_t cells, most;
    Tables tables;
    const Room<double> row, odds;
    double *weights;

    explicit PassRoom(const Pass &pass)
        : counter({pass.shard.width, pass.shard.lower, pass.shard.upper}), one_by_one(counter.states() > MOST_STATES),
          cells(pass.groups * pass.shard.width), most(most_ballots(pass.shard)),
          tables(3 * most + 2 * pass.shard.width + 3 * cells + 2 * pass.groups + (one_by_one ? 0 : counter.states())),
          row(3 * pass.shard.width + cells + pass.groups +
              log_states(pass.shard.width, pass.shard.lower, pass.shard.upper)),
          odds(pass.groups * pass.alternatives + pass.groups), weights(odds + pass.groups * pass.alternatives) {}

    bool ok() const { return tables.ok() && row.at && odds.at; }

    Block block(const Pass &pass) {
        const int64_t width = pass.shard.width, groups = pass.groups;
        for (int64_t k = 0; k < groups * pass.alternatives; k++) odds[k] = exp(pass.prior_log_odds[k]);
        for (int64_t k = 0; k < groups; k++) weights[k] = exp(pass.log_weights[k]);
        Block block = {};
        block.ticks = tables.take(most, 0.0);
        block.tick = tables.take(most, 0.0);
        block.hits = tables.take(most, 0.0);
        block.priors = tables.take(cells, 0.0);
        block.odds = tables.take(width, 0.0);
        block.later = tables.take(one_by_one ? 0 : counter.states(), 1.0);
        block.fewer = tables.take(width, 0.0);
        block.within = tables.take(cells, 0.0);
        block.seen = tables.take(cells, 0.0);
        block.shares = tables.take(2 * groups, 0.0);
        for (int64_t k = 0; k < cells && !pass.shard.offered; k++)
            block.priors[k] = every(k < width ? odds[k] : odds[k] / odds[k - width]);
        return block;
    }

    static int64_t most_ballots(const Shard &shard) {
        int64_t most = 0;
        for (int64_t row = 0; row < shard.rows; row++) {
            const int64_t cast = shard.ballot_start[row + 1] - shard.ballot_start[row];
            most = cast > most ? cast : most;
        }
        return most;
    }
};

// Lay the next eight rows out, from the one that is `number` in order on; rows that are not worked on in lockstep are
// given to `alone`. Gives whether there are any.
template <class Alone>
bool next_block(const Pass &pass, const PassRoom &room, Block &block, int64_t &number, Alone alone) {
    const Shard &shard = pass.shard;
    int lane = 0;
    block.most = 0;
    for (; lane < LANES && number < shard.rows; number++) {
        const int64_t row = shard.order ? shard.order[number] : number;
        if (room.one_by_one || shard.is_fixed(row)) {
            alone(row);
            continue;
        }
        block.rows[lane] = row;
        block.first[lane] = shard.ballot_start[row];
        block.cast[lane] = shard.ballot_start[row + 1] - block.first[lane];
        block.most = block.cast[lane] > block.most ? block.cast[lane] : block.most;
        for (int64_t c = 0; c < shard.width && shard.offered; c++)
            block.priors.cell(c, lane) = room.odds[shard.alternative(row, c)];
        lane++;
    }
    const bool is_any_left = lane > 0;
    for (; lane < LANES; lane++) {
        block.rows[lane] = -1;
        block.first[lane] = block.cast[lane] = 0;
    }
    return is_any_left;
}

} // namespace

// Weigh the cells of all rows and count. `factors` are what a ballot of each voter multiplies the odds of a cell by: if
// it ticks it, on top of what it does to all cells, ticked or not. Priors have a row per group. Adds to `total` the
// logarithms of the sums over all sets and groups. Gives whether there was enough memory.
EXPORTED int32_t soft_pass(
    const Shard *shard, const double *factors, const double *pushes, int64_t groups, int64_t alternatives,
    const double *prior_log_odds, const double *log_weights, double *counts, double *occurrences, double *sizes,
    double *total
) {
    const Pass pass = {*shard,         factors,     pushes, groups,      alternatives,
                       prior_log_odds, log_weights, counts, occurrences, sizes};
    PassRoom room(pass);
    if (!room.ok()) return 0;
    Block block = room.block(pass);
    const int64_t width = shard->width;
    with_voters(*shard, [&](const auto *voters) {
        Floats product = every(1.0);
        double logs = 0.0;
        const auto alone = [&](int64_t row) { logs += log_row(pass, voters, row, room.row); };
        for (int64_t number = 0; next_block(pass, room, block, number, alone);) {
            Floats usable;
            product *= weigh_block(pass, voters, room.counter, block, room.weights, usable);
            if (is_any(usable <= every(SMALLEST))) {
                for (int lane = 0; lane < LANES; lane++) {
                    if (in_lane(usable, lane) <= SMALLEST && block.rows[lane] >= 0) alone(block.rows[lane]);
                }
            }
            if (is_any(every(LARGEST) <= product | product <= every(SMALLEST))) {
                logs += logarithm(product);
                product = every(1.0);
            }
            for (int lane = 0; shard->offered && lane < LANES && block.rows[lane] >= 0; lane++) {
                for (int64_t c = 0; c < width; c++)
                    occurrences[shard->alternative(block.rows[lane], c)] += block.within.cell(c, lane);
            }
        }
        *total += logs + logarithm(product);
    });
    for (int64_t k = 0; k < groups; k++) {
        for (int lane = 0; lane < LANES; lane++) {
            sizes[k] += block.shares.cell(groups + k, lane);
            for (int64_t c = 0; c < width && !shard->offered; c++)
                occurrences[k * alternatives + c] += block.seen.cell(k * width + c, lane);
        }
    }
    return 1;
}
