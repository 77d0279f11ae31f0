// Rows of delimited text cut into cells, and different texts numbered.
//
// Texts are looked up by a hash of 64 bits, and compared whole where half of it agrees. Words of eight bytes may reach
// beyond the end of a text, so arrays of bytes need seven more than they use. The first byte of a word is its lowest,
// as on all processors that the loops are compiled for.
#include "words.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace {

constexpr int64_t BLOCK = 64; // bytes that are looked through at a time: as many as a number has bits
constexpr int SEEN_SHIFT = 54, SEEN = 1 << (64 - SEEN_SHIFT); // 16 KB of names, which stay in the first cache
constexpr int64_t NOT_PLAIN = -1;                             // given back where text has to be read with more care
constexpr uint64_t FACTOR =
    0x9E3779B97F4A7C15; // 2^64 over the golden ratio, odd: its multiples spread over all numbers

// The first `count` bytes of a word, all eight if there are more.
inline uint64_t word_mask(int64_t count) { return count >= WORD ? ~uint64_t{0} : (uint64_t{1} << (8 * count)) - 1; }

// A number of 64 bits that is seldom the same for two texts; its first bits and its last ones are equally good.
inline uint64_t hash_of(const uint8_t *text, int64_t size) {
    uint64_t code = size;
    for (int64_t k = 0; k < size; k += WORD) {
        code = (code ^ (load_word(text + k) & word_mask(size - k))) * FACTOR;
        code ^= code >> 32;
    }
    return code * FACTOR;
}

// What a slot holds: the last half of a hash, and the number plus 1.
inline uint64_t slot_of(int64_t number, uint64_t code) { return code << 32 | static_cast<uint64_t>(number + 1); }

// The number in a slot if its name may have this hash, else -1, also if the slot is free.
inline int64_t number_in(uint64_t slot, uint64_t code) {
    return slot >> 32 == (code & 0xFFFFFFFF) ? static_cast<int64_t>(slot & 0xFFFFFFFF) - 1 : -1;
}

// Whether a text is this name, which has a line feed behind it and none inside.
inline bool is_name(const uint8_t *text, int64_t size, const uint8_t *name) {
    uint64_t differ = name[size] != '\n';
    for (int64_t k = 0; k < size; k += WORD)
        differ |= (load_word(text + k) ^ load_word(name + k)) & word_mask(size - k);
    return differ == 0;
}

// Names that are known so far. Name k is `bytes` from start[k] on, with a line feed behind it. Slot `hash >> shift`, or the
// first free one after it, has the number of a name plus 1 and the other half of its hash; 0 if it is free. There must be
// room for all that could be new, and for twice as many slots.
struct Names {
    uint64_t *slots;
    int64_t shift, known;
    uint8_t *bytes;
    int64_t *start;

    // The number of a text; it is added if it is new.
    int64_t number_of(const uint8_t *text, int64_t size, uint64_t code) {
        const int64_t last_slot = static_cast<int64_t>(~uint64_t{0} >> shift);
        int64_t slot = static_cast<int64_t>(code >> shift);
        for (; slots[slot]; slot = (slot + 1) & last_slot) {
            const int64_t number = number_in(slots[slot], code);
            if (number >= 0 && is_name(text, size, bytes + start[number])) return number;
        }
        slots[slot] = slot_of(known, code);
        uint8_t *name = bytes + start[known];
        copy_words(name, text, size);
        name[size] = '\n';
        start[known + 1] = start[known] + size + 1;
        return known++;
    }
};

// A name of at most eight bytes, and its number.
struct ShortName {
    uint64_t word;
    int32_t size, number;
};

// Which of 64 bytes are among those looked for, as bits.
template <class... Byte>
inline uint64_t places_of(const uint8_t *text, Byte... looked_for) {
    uint64_t mask = 0;
#ifdef __SSE2__ // one instruction takes a bit of each byte
    for (int k = 0; k < BLOCK; k += 16) {
        const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i *>(text + k));
        const int found = (_mm_movemask_epi8(_mm_cmpeq_epi8(some, _mm_set1_epi8(static_cast<char>(looked_for)))) | ...);
        mask |= static_cast<uint64_t>(found) << k;
    }
#else
    uint8_t found[BLOCK];
    for (int k = 0; k < BLOCK; k++) found[k] = ((text[k] == looked_for) | ...);
    for (int k = 0; k < BLOCK; k += WORD)
        mask |= load_word(found + k) * 0x0102040810204080 >> 56 << k; // each byte's lowest bit
#endif
    return mask;
}

} // namespace

// Where the cells of every complete row in the first `length` bytes begin and end, without the quotes around them. Cell k
// of a row goes to column column_of[k] of `begins` and `ends`, which have `most` rows, or nowhere if that is -1. Gives the
// number of rows, and in `done` where the last one ends; no number but NOT_PLAIN if one has more or fewer cells, only
// blank ones, or a quote or a line end inside a cell. The text needs room for a whole last block.
EXPORTED int64_t split_rows(
    const uint8_t *text, int64_t length, uint8_t separator, const int64_t *column_of, int64_t cells, int64_t most,
    int64_t *begins, int64_t *ends, int64_t *done
) {
    enum { NO_QUOTE, OPENED, CLOSED } quotes = NO_QUOTE; // around the present cell
    int64_t row = 0, cell = 0, begin = 0, closed = 0;
    bool filled = false;
    *done = 0;
    for (int64_t block = 0; block < length; block += BLOCK) {
        uint64_t found = places_of(text + block, separator, '\n', '\r', '"'); // what ends a cell or is not plain
        if (length - block < BLOCK) found &= (uint64_t{1} << (length - block)) - 1;
        for (; found; found &= found - 1) {
            const int64_t place = block + lowest_bit(found);
            if (place < begin) continue; // the line feed behind a carriage return
            uint8_t byte = text[place];
            if (byte == '"') {
                if (quotes == CLOSED || (quotes == NO_QUOTE && place > begin)) return NOT_PLAIN;
                quotes = quotes == OPENED ? CLOSED : OPENED;
                closed = place;
                continue;
            }
            if (quotes == OPENED && byte == separator) continue;
            if (quotes == OPENED || (quotes == CLOSED && place > closed + 1) || cell == cells) return NOT_PLAIN;
            const int64_t first = quotes ? begin + 1 : begin, end = quotes ? closed : place, column = column_of[cell++];
            if (column >= 0) {
                begins[column * most + row] = first;
                ends[column * most + row] = end;
            }
            filled |= end > first;
            quotes = NO_QUOTE;
            int64_t next = place + 1;
            if (byte == '\r') {
                if (next == length) return row;
                byte = text[next++];
                if (byte != '\n') return NOT_PLAIN;
            }
            begin = next;
            if (byte == '\n') {
                if (cell < cells || !filled) return NOT_PLAIN;
                row++;
                cell = 0;
                filled = false;
                *done = next;
            }
        }
    }
    return row;
}

// The number of every text from begins[row] to ends[row]; those that are new are added to the `known` names. `hashes` and
// `firsts` are room for a number per row. Gives how many names are known then.
EXPORTED int64_t number_texts(
    const uint8_t *text, const int64_t *begins, const int64_t *ends, int64_t rows, uint64_t *slots, int64_t shift,
    int64_t known, uint8_t *bytes, int64_t *start, uint64_t *hashes, int64_t *firsts, int32_t *numbers
) {
    Names names{slots, shift, known, bytes, start};
    // In the first loops no row has to wait for the one before it, so that several wait for memory at the same time.
    for (int64_t row = 0; row < rows; row++) hashes[row] = hash_of(text + begins[row], ends[row] - begins[row]);
    for (int64_t row = 0; row < rows; row++)
        numbers[row] = static_cast<int32_t>(number_in(slots[hashes[row] >> shift], hashes[row]));
    for (int64_t row = 0; row < rows; row++) firsts[row] = start[numbers[row] < 0 ? 0 : numbers[row]];
    for (int64_t row = 0; row < rows; row++) {
        const uint8_t *here = text + begins[row];
        const int64_t size = ends[row] - begins[row];
        if (numbers[row] >= 0 && is_name(here, size, bytes + firsts[row])) continue;
        numbers[row] = static_cast<int32_t>(names.number_of(here, size, hashes[row]));
    }
    return names.known;
}

// The same for the parts between separators of every text, few of which are different; `counts` says how many each text
// has. Parts without a byte are left out.
EXPORTED int64_t number_parts(
    const uint8_t *text, const int64_t *begins, const int64_t *ends, int64_t rows, uint8_t separator, uint64_t *slots,
    int64_t shift, int64_t known, uint8_t *bytes, int64_t *start, int32_t *counts, int32_t *numbers
) {
    Names names{slots, shift, known, bytes, start};
    ShortName seen[SEEN] = {}; // short names that came last, so that most need no look at the slots
    int32_t *to = numbers;
    const auto add = [&](int64_t begin, int64_t end) {
        const uint8_t *here = text + begin;
        const int64_t size = end - begin;
        const uint64_t word = load_word(here) & word_mask(size);
        ShortName &last = seen[(word + size) * FACTOR >> SEEN_SHIFT];
        if (last.word != word || last.size != size) {
            if (size == 0) return;
            const int64_t number = names.number_of(here, size, hash_of(here, size));
            if (size > WORD) {
                *to++ = static_cast<int32_t>(number);
                return;
            }
            last = {word, static_cast<int32_t>(size), static_cast<int32_t>(number)};
        }
        *to = last.number;
        to += size > 0;
    };
    for (int64_t row = 0; row < rows; row++) {
        const int32_t *const first = to;
        int64_t begin = begins[row];
        const int64_t end = ends[row];
        for (int64_t block = begin; block < end; block += BLOCK) {
            uint64_t found = places_of(text + block, separator);
            if (end - block < BLOCK) found &= (uint64_t{1} << (end - block)) - 1;
            for (; found; found &= found - 1) {
                const int64_t place = block + lowest_bit(found);
                add(begin, place);
                begin = place + 1;
            }
        }
        add(begin, end);
        counts[row] = static_cast<int32_t>(to - first);
    }
    return names.known;
}

// Write the numbers of names into free slots.
EXPORTED void fill_slots(const uint8_t *bytes, const int64_t *start, int64_t count, uint64_t *slots, int64_t shift) {
    const int64_t last_slot = static_cast<int64_t>(~uint64_t{0} >> shift);
    for (int64_t number = 0; number < count; number++) {
        const uint64_t code = hash_of(bytes + start[number], start[number + 1] - start[number] - 1);
        int64_t slot = static_cast<int64_t>(code >> shift);
        while (slots[slot]) slot = (slot + 1) & last_slot;
        slots[slot] = slot_of(number, code);
    }
}

// The hash of one text.
EXPORTED uint64_t text_hash(const uint8_t *text, int64_t size) { return hash_of(text, size); }
