/// Identifiers for rows of values: equal rows share one identifier.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace hardwood::search {

/// A hash table without deletion. Rows have a fixed width; a new row gets the next identifier, and
/// rows are stored side by side in the order of their identifiers.
template <typename Value>
class RowIds {
public:
    explicit RowIds(std::size_t width) : width_(width), slots_(16, none) {}

    std::size_t size() const { return size_; }
    const Value* operator[](std::size_t id) const { return rows_.data() + id * width_; }

    /// The identifier of a row, and whether the row is new.
    std::pair<std::uint32_t, bool> add(const Value* row) {
        std::uint32_t& slot = slots_[slot_of(row)];
        if (slot != none) return {slot, false};
        const auto id = static_cast<std::uint32_t>(size_++);
        slot = id;
        rows_.insert(rows_.end(), row, row + width_);
        if (2 * size_ > slots_.size()) grow();
        return {id, true};
    }

    /// The identifier of a row, or -1.
    std::int64_t find(const Value* row) const {
        const std::uint32_t id = slots_[slot_of(row)];
        return id == none ? -1 : static_cast<std::int64_t>(id);
    }

private:
    static constexpr std::uint32_t none = 0xffffffff;

    /// Where the row is, or where it would be inserted.
    std::size_t slot_of(const Value* row) const {
        std::uint64_t hash = 0x9E3779B97F4A7C15ULL;
        visit_words(row, [&](std::uint64_t word, std::size_t) {
            hash = (hash ^ word) * 0xBF58476D1CE4E5B9ULL;
            hash ^= hash >> 29;
            return true;
        });
        std::size_t slot = hash & (slots_.size() - 1);
        while (slots_[slot] != none && !equals(row, slots_[slot]))
            slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    bool equals(const Value* row, std::uint32_t id) const {
        const Value* const known = (*this)[id];
        return visit_words(
            row, [&](std::uint64_t word, std::size_t k) { return word == word_at(known, k); });
    }

    static constexpr std::size_t values_per_word = sizeof(std::uint64_t) / sizeof(Value);

    bool is_whole_word(std::size_t k) const { return k + values_per_word <= width_; }

    /// Adjacent values as one integer; the last values, which do not fill a word, one by one.
    std::uint64_t word_at(const Value* row, std::size_t k) const {
        if (!is_whole_word(k)) return static_cast<std::uint64_t>(row[k]);
        std::uint64_t word;
        std::memcpy(&word, row + k, sizeof word);
        return word;
    }

    template <typename Visit>
    bool visit_words(const Value* row, Visit visit) const {
        for (std::size_t k = 0; k < width_; k += is_whole_word(k) ? values_per_word : 1) {
            if (!visit(word_at(row, k), k)) return false;
        }
        return true;
    }

    void grow() {
        slots_.assign(2 * slots_.size(), none);
        for (std::size_t id = 0; id < size_; ++id)
            slots_[slot_of((*this)[id])] = static_cast<std::uint32_t>(id);
    }

    std::size_t width_;
    std::size_t size_ = 0;
    std::vector<Value> rows_;
    std::vector<std::uint32_t> slots_;  // a power of two of them, at most half of them taken
};

}  // namespace hardwood::search
