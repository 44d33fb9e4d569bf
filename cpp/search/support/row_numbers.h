// Numbers for rows of values: equal rows have the same number, a new row gets the next one.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace hardwood::search {

// A hash table without deletion: slots hold numbers, the rows stand side by side in the order of their numbers.
template <typename Value>
class RowNumbers {
public:
    explicit RowNumbers(std::size_t width) : width_(width), slots_(16, none) {}

    std::size_t size() const { return size_; }
    const Value* operator[](std::size_t number) const { return rows_.data() + number * width_; }

    // The number of a row, and whether it is new.
    std::pair<std::uint32_t, bool> add(const Value* row) {
        std::uint32_t& slot = slots_[slot_of(row)];
        if (slot != none) return {slot, false};
        const auto number = static_cast<std::uint32_t>(size_++);
        slot = number;
        rows_.insert(rows_.end(), row, row + width_);
        if (2 * size_ > slots_.size()) grow();
        return {number, true};
    }

    // Its number, or -1.
    std::int64_t find(const Value* row) const {
        const std::uint32_t number = slots_[slot_of(row)];
        return number == none ? -1 : static_cast<std::int64_t>(number);
    }

private:
    static constexpr std::uint32_t none = 0xffffffff;

    // Where the row is, or would be.
    std::size_t slot_of(const Value* row) const {
        std::uint64_t hash = 0x9E3779B97F4A7C15ULL;
        visit_words(row, [&](std::uint64_t word, std::size_t) {
            hash = (hash ^ word) * 0xBF58476D1CE4E5B9ULL;
            hash ^= hash >> 29;
            return true;
        });
        std::size_t slot = hash & (slots_.size() - 1);
        while (slots_[slot] != none && !is_at(row, slots_[slot])) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    bool is_at(const Value* row, std::uint32_t number) const {
        const Value* const known = (*this)[number];
        return visit_words(row, [&](std::uint64_t word, std::size_t at) { return word == word_of(known, at); });
    }

    static constexpr std::size_t in_word = sizeof(std::uint64_t) / sizeof(Value);

    // Values side by side as one number, where there are enough of them; the last ones alone.
    std::uint64_t word_of(const Value* row, std::size_t at) const {
        if (at + in_word > width_) return static_cast<std::uint64_t>(row[at]);
        std::uint64_t word;
        std::memcpy(&word, row + at, sizeof word);
        return word;
    }

    template <typename Visit>
    bool visit_words(const Value* row, Visit visit) const {
        for (std::size_t at = 0; at < width_; at += at + in_word > width_ ? 1 : in_word) {
            if (!visit(word_of(row, at), at)) return false;
        }
        return true;
    }

    void grow() {
        slots_.assign(2 * slots_.size(), none);
        for (std::size_t number = 0; number < size_; ++number) slots_[slot_of((*this)[number])] = static_cast<std::uint32_t>(number);
    }

    std::size_t width_;
    std::size_t size_ = 0;
    std::vector<Value> rows_;
    std::vector<std::uint32_t> slots_;  // a power of two of them, less than half of them taken
};

}  // namespace hardwood::search
