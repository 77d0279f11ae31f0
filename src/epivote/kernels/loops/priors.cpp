// One sweep over the priors of instances with the same bounds: `prior_sweep` of `epivote.model.priors` in plain numbers,
// operation by operation, so that both give the same priors to the last bit.
#include "shard.hpp"

// A product and a sum are rounded one after the other, as in Python.
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

namespace {

constexpr int MOST_STEPS = 200;  // as in `epivote.model.solve`
constexpr double CLOSE = 1e-14;  // relative, likewise
constexpr double FAR_APART = 30; // log-odds, as in `epivote.model.priors`
constexpr int32_t NO_MEMORY = -1, NOT_PLAIN = 0, DONE = 1;

inline double between(double value, double low, double high) {
    value = value > low ? value : low;
    return value < high ? value : high;
}

// Instances with the same bounds, and how many without bounds are believed besides.
struct Instances {
    int64_t width, lower, upper;
    double count, believed, limit;
};

// The size counter of `PlainCounter`: state `last` means "enough" if no upper bound binds.
struct Counter {
    const bool absorbing;
    const int64_t last;

    explicit Counter(const Instances &all)
        : absorbing(all.upper >= all.width), last(absorbing ? all.lower : all.upper) {}

    void back(const double *after, double odds, double *before) const {
        for (int64_t s = 0; s < last; s++) before[s] = after[s] + odds * after[s + 1];
        before[last] = absorbing ? (1 + odds) * after[last] : after[last];
    }

    void forth(double *states, double odds) const {
        const double enough = absorbing ? odds * states[last] : 0;
        for (int64_t s = last; s > 0; s--) states[s] += odds * states[s - 1];
        states[last] += enough;
    }

    double pull(const double *states, const double *later) const {
        double with = 0, without = 0;
        for (int64_t s = 0; s < last; s++) {
            without += states[s] * later[s];
            with += states[s] * later[s + 1];
        }
        const double rest = states[last] * later[last];
        without += rest;
        if (absorbing) with += rest;
        if (with == 0) return -INFINITY;
        return without > 0 ? log(with / without) : INFINITY;
    }
};

// See `_coordinate` and `_of_two`.
double coordinate(double right, double pull, double previous, const Instances &all) {
    double count = all.count;
    if (fabs(pull) == INFINITY) { // forced in or out: only the belief decides
        if (all.believed == 0) return previous;
        if (pull > 0) right -= count;
        count = pull = 0;
    }
    const double total = count + all.believed;
    if (right <= 0) return -all.limit;
    if (right >= total) return all.limit;
    if (count == 0 || all.believed == 0) return between(log(right / (total - right)) - pull, -all.limit, all.limit);
    const double ratio = exp(0 - pull), square = ratio * (total - right);
    const double linear = count + ratio * all.believed - right * (1 + ratio);
    const double root = sqrt(linear * linear + 4 * square * right);
    const double odds = linear > 0 ? 2 * right / (linear + root) : (root - linear) / (2 * square);
    return between(log(odds) - pull, -all.limit, all.limit);
}

// The expected number of members over all instances, by a common shift of all log-odds: see `best_shift` and
// `mean_and_variance`. Size k, where it is allowed, has the logarithm `log_weights[k]`; there is `room` for as many.
struct Level {
    const Instances &all;
    const double *theta, *log_weights;
    double *room;

    double at(double shift, double &slope) const {
        double largest = -INFINITY, total = 0, mean = 0, variance = 0;
        for (int64_t size = all.lower; size <= all.upper; size++) {
            room[size] = log_weights[size] + shift * static_cast<double>(size);
            largest = room[size] > largest ? room[size] : largest;
        }
        for (int64_t size = all.lower; size <= all.upper; size++) {
            room[size] = exp(room[size] - largest); // 0 where there is no such set
            total += room[size];
            mean += static_cast<double>(size) * room[size];
        }
        mean /= total;
        for (int64_t size = all.lower; size <= all.upper; size++) {
            const double apart = static_cast<double>(size) - mean;
            variance += apart * apart * room[size];
        }
        double expected = all.count * mean;
        slope = all.count * (variance / total);
        for (int64_t j = 0; all.believed > 0 && j < all.width; j++) {
            const double inside = 1 / (1 + exp(-(theta[j] + shift)));
            expected += all.believed * inside;
            slope += all.believed * inside * (1 - inside);
        }
        return expected;
    }

    // See `solve_rising`.
    double shift_to(double target, double low, double high) const {
        bool low_unseen = true, high_unseen = true;
        double x = between(0, low, high), slope;
        for (int step = 0; step < MOST_STEPS; step++) {
            const double value = at(x, slope);
            if (value == target) break;
            const bool is_below = value < target;
            (is_below ? low : high) = x;
            (is_below ? low_unseen : high_unseen) = false;
            double following = slope > 0 ? x + (target - value) / slope : low;
            if (!(low < following && following < high)) {
                bool &unseen = is_below ? high_unseen : low_unseen;
                if (unseen) {
                    const double end = is_below ? high : low, at_end = at(end, slope);
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
};

} // namespace

// Each of the `width` log-odds in turn at its maximum given all others, then the best common shift of all. `right` says
// how often each alternative is in a set of the `count` instances, the believed ones included, `total` is their sum, and
// `believed` says how many instances without bounds are believed besides. No product of odds may leave the range of
// floats. Gives DONE, NO_MEMORY, or NOT_PLAIN where the formulas must do it: where log-odds are at their limit, or pulls far
// apart.
EXPORTED int32_t sweep_priors(
    const double *right, double total, int64_t width, int64_t lower, int64_t upper, double count, double believed,
    double limit, double *theta
) {
    const Instances all{width, lower, upper, count, believed, limit};
    const Counter counter(all);
    const int64_t height = counter.last + 1;
    const Room<double> later((width + 1) * height), states(height), weights(upper + 1), room(upper + 1);
    if (!later.at || !states.at || !weights.at || !room.at) return NO_MEMORY;
    for (int64_t s = 0; s < height; s++) {
        later[width * height + s] = s >= lower;
        states[s] = s == 0;
    }
    for (int64_t j = width - 1; j >= 0; j--) counter.back(later + (j + 1) * height, exp(theta[j]), later + j * height);
    double least = INFINITY, most = -INFINITY;
    for (int64_t j = 0; j < width; j++) {
        const double pull = counter.pull(states, later + (j + 1) * height);
        if (believed > 0 && fabs(pull) >= FAR_APART && fabs(pull) < INFINITY) return NOT_PLAIN;
        theta[j] = coordinate(right[j], pull, theta[j], all);
        if (!(fabs(theta[j]) < limit)) return NOT_PLAIN;
        counter.forth(states, exp(theta[j]));
        least = theta[j] < least ? theta[j] : least;
        most = theta[j] > most ? theta[j] : most;
    }
    if (lower == 0 && upper == width) return DONE;
    for (int64_t size = 0; size <= upper; size++) weights[size] = size == 0;
    for (int64_t j = 0; j < width; j++) {
        const double odds = exp(theta[j]);
        for (int64_t size = upper; size > 0; size--) weights[size] += odds * weights[size - 1];
    }
    for (int64_t size = 0; size <= upper; size++) weights[size] = weights[size] > 0 ? log(weights[size]) : -INFINITY;
    const double shift = Level{all, theta, weights, room}.shift_to(total, -limit - least, limit - most);
    for (int64_t j = 0; j < width; j++) theta[j] = between(theta[j] + shift, -limit, limit);
    return DONE;
}
