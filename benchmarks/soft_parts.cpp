// The first parts of the soft pass over a shard, to be timed one after the other.
#include "../src/epivote/kernels/loops/soft.cpp"

// Multiply the odds of every block; with more parts weigh sets, then count hits.
EXPORTED int32_t first_parts(
    int32_t parts, const Shard *shard, const double *factors, int64_t alternatives, const double *prior_log_odds,
    double *counts
) {
    const double log_weight = 0.0;
    const Pass pass = {*shard,         factors,     nullptr, 1,       alternatives,
                       prior_log_odds, &log_weight, counts,  nullptr, nullptr};
    PassRoom room(pass);
    if (!room.ok()) return 0;
    Block block = room.block(pass);
    return with_voters(*shard, [&](const auto *voters) {
        for (int64_t number = 0; next_block(pass, room, block, number, [](int64_t) {});) {
            multiply(pass, voters, block);
            if (parts > 1) weigh(room.counter, block.odds, block.later, block.fewer, block.within);
            if (parts > 2) count(pass, voters, block, every(1.0));
        }
        return 1;
    });
}
