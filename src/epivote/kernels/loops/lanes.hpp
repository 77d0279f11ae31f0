// Vectors of eight numbers: eight rows are worked on in lockstep, each in a lane of its own. A vector is as many
// registers as the processor needs for it. A table has a column per lane, and a vector is a row of a table.
#pragma once

#include "shard.hpp"

constexpr int LANES = 8; // a register of 512 bits
constexpr int FOUR =
    4; // cells, or states of a size counter, at a time: the next result comes while an addition takes four cycles

#if defined(__AVX512F__)
#define REGISTER_BYTES 64
#elif defined(__AVX__)
#define REGISTER_BYTES 32
#else
#define REGISTER_BYTES 16
#endif
constexpr int REGISTERS = 8 * LANES / REGISTER_BYTES;
#define EACH_REGISTER _Pragma("GCC unroll 4") for (int k = 0; k < REGISTERS; k++)

typedef double FloatRegister __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef int64_t IntegerRegister __attribute__((vector_size(REGISTER_BYTES), may_alias));

// Whether something holds, lane by lane; or integers.
struct __attribute__((may_alias)) Integers {
    IntegerRegister at[REGISTERS];
};

struct __attribute__((may_alias)) Floats {
    FloatRegister at[REGISTERS];
};

#define LANE_BY_LANE(Result, name, left, right, expression)                                                            \
    inline Result name(left one, right other) {                                                                        \
        Result found;                                                                                                  \
        EACH_REGISTER found.at[k] = expression;                                                                        \
        return found;                                                                                                  \
    }

LANE_BY_LANE(Floats, operator+, Floats, Floats, one.at[k] + other.at[k])
LANE_BY_LANE(Floats, operator*, Floats, Floats, one.at[k] * other.at[k])
LANE_BY_LANE(Floats, operator/, Floats, Floats, one.at[k] / other.at[k])
LANE_BY_LANE(Floats, smaller, Floats, Floats, one.at[k] < other.at[k] ? one.at[k] : other.at[k])
LANE_BY_LANE(Integers, operator<, Floats, Floats, one.at[k] < other.at[k])
LANE_BY_LANE(Integers, operator<=, Floats, Floats, one.at[k] <= other.at[k])
LANE_BY_LANE(Integers, operator|, Integers, Integers, one.at[k] | other.at[k])
LANE_BY_LANE(Integers, operator<<, Integers, int64_t, one.at[k] << other)

inline Floats &operator+=(Floats &one, Floats other) { return one = one + other; }

inline Floats &operator*=(Floats &one, Floats other) { return one = one * other; }

// `third + one * other`, in one instruction where there is one: compilers join the two only within an expression.
inline Floats plus_product(Floats third, Floats one, Floats other) {
    Floats found;
    EACH_REGISTER found.at[k] = third.at[k] + one.at[k] * other.at[k];
    return found;
}

inline Floats every(double number) {
    Floats found;
    EACH_REGISTER found.at[k] = FloatRegister{} + number;
    return found;
}

// Of two vectors the first in lanes whose integer is negative, else the second.
inline Floats select(Integers which, Floats then, Floats otherwise) {
    Floats found;
    EACH_REGISTER found.at[k] = which.at[k] < 0 ? then.at[k] : otherwise.at[k];
    return found;
}

struct Table {
    double *at;
    Floats &operator[](int64_t row) const { return reinterpret_cast<Floats *>(at)[row]; }
    double &cell(int64_t row, int lane) const { return at[row * LANES + lane]; }
};

inline Floats loaded(const double *numbers) {
    Floats found;
    memcpy(&found, numbers, sizeof found);
    return found;
}

inline double in_lane(const Floats &vector, int lane) {
    return vector.at[lane * REGISTERS / LANES][lane % (LANES / REGISTERS)];
}

inline bool is_any(Integers found) {
    IntegerRegister any = {};
    EACH_REGISTER any |= found.at[k];
    int64_t all = 0;
    for (int lane = 0; lane < LANES / REGISTERS; lane++) all |= any[lane];
    return all != 0;
}

// Tables one after the other in one piece of memory, whose rows begin where lines of the cache do.
struct Tables {
    explicit Tables(int64_t height) : room((height + 1) * LANES) {
        const uintptr_t bytes = sizeof(double) * LANES;
        next = reinterpret_cast<double *>((reinterpret_cast<uintptr_t>(room.at) + bytes - 1) / bytes * bytes);
    }
    Table take(int64_t height, double filled) {
        const Table table{next};
        for (int64_t k = 0; k < height * LANES; k++) table.at[k] = filled;
        next += height * LANES;
        return table;
    }
    bool ok() const { return room.at; }

  private:
    Room<double> room;
    double *next;
};
