// What is asked once a fit has ended: log-odds of all cells, and probabilities from log-odds. `margin_table` does what
// `epivote.model.margins` does, to the last bit; `weigh_table` what `log_partition_and_inclusion` does, up to rounding.
#include "log.hpp"
#include "weigh.hpp"

// Fill in the log-odds of every cell. Gives whether there was enough memory.
EXPORTED int32_t margin_table(const Shard *shard, const double *prior_log_odds, const double *pushes, double *margins) {
    const int64_t width = shard->width;
    const Room<double> prior(width);
    if (!prior.at) return 0;
    return with_voters(*shard, [&](const auto *voters) {
        for (int64_t row = 0; row < shard->rows; row++) {
            for (int64_t c = 0; c < width; c++) prior[c] = prior_log_odds[shard->alternative(row, c)];
            margins_of(*shard, voters, row, prior, pushes, margins + row * width);
        }
        return 1;
    });
}

// Fill in the logarithm of the sum over all allowed sets of every row, and the probability of every cell. Gives whether
// there was enough memory.
EXPORTED int32_t weigh_table(
    const double *log_odds, int64_t rows, int64_t width, int64_t lower, int64_t upper, double *log_partition,
    double *inclusion
) {
    const Counter counter({width, lower, upper});
    const bool one_by_one = counter.states() > MOST_STATES;
    Tables tables(one_by_one ? 0 : 3 * width + counter.states());
    const Room<double> states(log_states(width, lower, upper));
    if (!tables.ok() || !states.at) return 0;
    if (one_by_one) {
        for (int64_t row = 0; row < rows; row++) {
            log_partition[row] =
                weigh_margins(log_odds + row * width, width, lower, upper, states, inclusion + row * width);
        }
        return 1;
    }
    const Table odds = tables.take(width, 0.0), fewer = tables.take(width, 0.0), within = tables.take(width, 0.0);
    const Table later = tables.take(counter.states(), 1.0);
    for (int64_t begin = 0; begin < rows; begin += LANES) {
        const int64_t count = rows - begin < LANES ? rows - begin : LANES;
        for (int lane = 0; lane < count; lane++) {
            for (int64_t c = 0; c < width; c++) odds.cell(c, lane) = exp(log_odds[(begin + lane) * width + c]);
        }
        const Sums sums = weigh(counter, odds, later, fewer, within);
        for (int lane = 0; lane < count; lane++) {
            const int64_t row = begin + lane;
            const double partition = in_lane(sums.allowed, lane);
            double *found = inclusion + row * width;
            if (in_lane(sums.everything, lane) < LARGEST && partition > SMALLEST) {
                log_partition[row] = log(partition);
                for (int64_t c = 0; c < width; c++) {
                    const double share = within.cell(c, lane) / partition;
                    found[c] = share < 1.0 ? share : 1.0;
                }
            } else { // the sums could leave the range of floats
                log_partition[row] = weigh_margins(log_odds + row * width, width, lower, upper, states, found);
            }
        }
    }
    return 1;
}
