// Single rows weighed in logarithms, for evidence of any size and for sets that are given.
#pragma once

#include "shard.hpp"

inline double log_sum(double a, double b) {
    const double high = a > b ? a : b, low = a > b ? b : a;
    return low == -INFINITY ? high : high + log1p(exp(low - high));
}

// Turn logarithms of weights into shares of 1; gives the logarithm of their sum.
inline double share_out(double *logs, int64_t count) {
    double largest = logs[0], weight = 0.0;
    for (int64_t k = 1; k < count; k++) largest = logs[k] > largest ? logs[k] : largest;
    for (int64_t k = 0; k < count; k++) weight += logs[k] = exp(logs[k] - largest);
    for (int64_t k = 0; k < count; k++) logs[k] /= weight;
    return largest + log(weight);
}

// How many numbers `weigh_margins` needs room for.
inline int64_t log_states(int64_t width, int64_t lower, int64_t upper) {
    return (width + 2) * ((upper >= width ? lower : upper) + 1);
}

// Probability of every cell to be right from margins of any size; gives the logarithm of the sum over all allowed sets.
inline double
weigh_margins(const double *margins, int64_t width, int64_t lower, int64_t upper, double *room, double *inclusion) {
    const bool absorbing = upper >= width;
    const int64_t top = absorbing ? lower : upper, states = top + 1;
    double *counter = room, *later = room + states;
    for (int64_t s = 0; s < states; s++) {
        later[width * states + s] = s >= lower ? 0.0 : -INFINITY;
        counter[s] = s ? -INFINITY : 0.0;
    }
    for (int64_t c = width - 1; c >= 0; c--) {
        double *here = later + c * states, *next = here + states;
        for (int64_t s = 0; s < top; s++) here[s] = log_sum(next[s], margins[c] + next[s + 1]);
        here[top] = absorbing ? log_sum(next[top], margins[c] + next[top]) : next[top];
    }
    const double log_partition = later[0];
    for (int64_t c = 0; c < width; c++) {
        const double *next = later + (c + 1) * states;
        double inside = absorbing ? counter[top] + next[top] : -INFINITY;
        for (int64_t s = 0; s < top; s++) inside = log_sum(inside, counter[s] + next[s + 1]);
        const double share = inside + margins[c] - log_partition;
        inclusion[c] = exp(share < 0.0 ? share : 0.0);
        if (absorbing) counter[top] = log_sum(counter[top], counter[top] + margins[c]);
        for (int64_t s = top; s > 0; s--) counter[s] = log_sum(counter[s], counter[s - 1] + margins[c]);
    }
    return log_partition;
}
