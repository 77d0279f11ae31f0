// One sweep over the priors of instances with the same bounds, as `epivote.model.priors` explains it, in plain numbers.
#include "shard.hpp"

namespace {

constexpr int MOST_STEPS = 200;  // as in `epivote.model.solve`
constexpr double CLOSE = 1e-14;  // relative, likewise
constexpr double FAR_APART = 30; // log-odds, likewise in `epivote.model.priors`: beyond it a root loses digits
constexpr int32_t NO_MEMORY = -1, TOO_FAR = 0, DONE = 1;

inline double between(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

// Sums over sets of every size up to `most` of the products of their odds, with one more alternative.
inline void add_alternative(double *sums, int64_t most, double odds) {
    for (int64_t size = most; size > 0; size--) sums[size] += odds * sums[size - 1];
}

// Log-odds with count sigmoid(theta + pull) + believed sigmoid(theta) = right: see `_coordinate` and `_of_two`.
double coordinate(double right, double count, double pull, double believed, double previous, double limit) {
    if (fabs(pull) == INFINITY) { // forced in or out: only the belief decides
        if (believed == 0) return previous;
        right -= pull > 0 ? count : 0;
        count = 0;
    }
    const double total = count + believed;
    if (right <= 0) return -limit;
    if (right >= total) return limit;
    if (believed == 0) return between(log(right / (total - right)) - pull, -limit, limit);
    if (count == 0) return between(log(right / (total - right)), -limit, limit);
    const double ratio = exp(-pull), square = ratio * (total - right);
    const double linear = count + ratio * believed - right * (1 + ratio);
    const double root = sqrt(linear * linear + 4 * square * right);
    const double odds = linear > 0 ? 2 * right / (linear + root) : (root - linear) / (2 * square);
    return between(log(odds) - pull, -limit, limit);
}

// The expected number of members among those that move, over all instances, and how fast it grows with the shift.
struct Level {
    const double *weights; // of every size
    int64_t most;
    double count, believed;
    const double *theta;
    int64_t width;
    double limit;

    void at(double shift, double &mean, double &slope) const {
        double largest = -INFINITY, total = 0, first = 0, second = 0;
        for (int64_t size = 0; size <= most; size++)
            if (weights[size] > 0) largest = fmax(largest, log(weights[size]) + shift * size);
        for (int64_t size = 0; size <= most; size++) {
            if (!(weights[size] > 0)) continue;
            const double share = exp(log(weights[size]) + shift * size - largest);
            total += share;
            first += share * size;
        }
        first /= total;
        for (int64_t size = 0; size <= most; size++)
            if (weights[size] > 0)
                second += exp(log(weights[size]) + shift * size - largest) * (size - first) * (size - first);
        mean = count * first;
        slope = count * second / total;
        for (int64_t j = 0; believed > 0 && j < width; j++) {
            if (!(fabs(theta[j]) < limit)) continue;
            const double inside = 1 / (1 + exp(-(theta[j] + shift)));
            mean += believed * inside;
            slope += believed * inside * (1 - inside);
        }
    }
};

// Where the expected number is `target`, or the end of the interval nearest to it: see `solve_rising`.
double best_shift(const Level &level, double target, double low, double high) {
    bool low_unseen = true, high_unseen = true;
    double x = between(0, low, high), value, slope;
    for (int step = 0; step < MOST_STEPS; step++) {
        level.at(x, value, slope);
        if (value == target) break;
        const bool is_below = value < target;
        (is_below ? low : high) = x;
        (is_below ? low_unseen : high_unseen) = false;
        double following = slope > 0 ? x + (target - value) / slope : low;
        if (!(low < following && following < high)) {
            bool &unseen = is_below ? high_unseen : low_unseen;
            if (unseen) {
                const double end = is_below ? high : low;
                double at_end, ignored;
                level.at(end, at_end, ignored);
                if (at_end == target || (at_end < target) == is_below) return end;
                unseen = false;
            }
            following = (low + high) / 2;
        }
        if (fabs(following - x) <= CLOSE * (1 + fabs(x))) break;
        x = following;
    }
    return x;
}

} // namespace

// Each of the `width` log-odds in turn at its maximum given all others, then the best common shift of those strictly
// between -limit and limit. `right` says how often each alternative is in a set of the `count` instances, the believed
// ones included, and `believed` how many instances without bounds are believed besides. No product of odds may leave the
// range of floats. Gives DONE, NO_MEMORY or, where a pull is so strong that it takes more care, TOO_FAR.
EXPORTED int32_t sweep_priors(
    const double *right, int64_t width, int64_t lower, int64_t upper, double count, double believed, double limit,
    double *theta
) {
    const int64_t states = upper + 1;
    const Room<double> later((width + 1) * states), counter(states), others(states);
    if (!later.at || !counter.at || !others.at) return NO_MEMORY;
    for (int64_t s = 0; s < states; s++) later[width * states + s] = s >= lower;
    for (int64_t j = width - 1; j >= 0; j--) {
        const double odds = exp(theta[j]), *const after = later + (j + 1) * states;
        double *const before = later + j * states;
        for (int64_t s = 0; s < upper; s++) before[s] = after[s] + odds * after[s + 1];
        before[upper] = after[upper];
    }
    for (int64_t s = 0; s < states; s++) counter[s] = s == 0;
    for (int64_t j = 0; j < width; j++) {
        const double *const after = later + (j + 1) * states;
        double with = 0, without = counter[upper] * after[upper];
        for (int64_t s = 0; s < upper; s++) {
            without += counter[s] * after[s];
            with += counter[s] * after[s + 1];
        }
        const double pull = with == 0 ? -INFINITY : without > 0 ? log(with / without) : INFINITY;
        if (believed > 0 && fabs(pull) >= FAR_APART && fabs(pull) < INFINITY) return TOO_FAR;
        theta[j] = coordinate(right[j], count, pull, believed, theta[j], limit);
        add_alternative(counter, upper, exp(theta[j]));
    }
    if (lower == 0 && upper == width) return DONE;
    // The common level: sets of those that move, whatever the others do within the bounds.
    double least = INFINITY, most = -INFINITY, target = 0;
    for (int64_t s = 0; s < states; s++) counter[s] = others[s] = s == 0;
    for (int64_t j = 0; j < width; j++) {
        const bool moves = fabs(theta[j]) < limit;
        add_alternative(moves ? counter : others, upper, exp(theta[j]));
        if (!moves) continue;
        target += right[j];
        least = fmin(least, theta[j]);
        most = fmax(most, theta[j]);
    }
    if (least > most) return DONE;
    for (int64_t size = 0; size < states; size++) {
        double worth = 0;
        for (int64_t other = lower > size ? lower - size : 0; other <= upper - size; other++) worth += others[other];
        counter[size] *= worth;
    }
    const Level level{counter, upper, count, believed, theta, width, limit};
    const double shift = best_shift(level, target, -limit - least, limit - most);
    for (int64_t j = 0; j < width; j++)
        if (fabs(theta[j]) < limit) theta[j] = between(theta[j] + shift, -limit, limit);
    return DONE;
}
