// Vectors whose memory is kept for the next one. The search makes and drops large arrays all the time; giving their pages
// back to the system and taking them anew costs more than the work on them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <new>
#include <vector>

namespace hardwood::search {

// Blocks of one thread by size, a power of two each. What is kept is at most what was once in use at the same time.
class BlockPool {
public:
    BlockPool() = default;
    BlockPool(const BlockPool&) = delete;
    BlockPool& operator=(const BlockPool&) = delete;
    ~BlockPool() {
        for (auto& blocks : free_) {
            for (void* block : blocks) ::operator delete(block);
        }
    }

    void* take(std::size_t bytes) {
        auto& blocks = free_[size_class(bytes)];
        if (blocks.empty()) return ::operator new(std::bit_ceil(bytes));
        void* block = blocks.back();
        blocks.pop_back();
        return block;
    }

    void give_back(void* block, std::size_t bytes) { free_[size_class(bytes)].push_back(block); }

    static BlockPool& of_this_thread() {
        static thread_local BlockPool pool;
        return pool;
    }

private:
    static std::size_t size_class(std::size_t bytes) { return static_cast<std::size_t>(std::bit_width(bytes - 1)); }

    std::array<std::vector<void*>, 65> free_;
};

template <typename T>
struct PooledAllocator {
    using value_type = T;
    static constexpr std::size_t small = std::size_t{1} << 15;  // bytes; malloc is good at these

    PooledAllocator() = default;
    template <typename U>
    PooledAllocator(const PooledAllocator<U>&) {}

    T* allocate(std::size_t n) {
        const std::size_t bytes = n * sizeof(T);
        if (bytes < small) return static_cast<T*>(::operator new(bytes));
        return static_cast<T*>(BlockPool::of_this_thread().take(bytes));
    }

    void deallocate(T* block, std::size_t n) {
        const std::size_t bytes = n * sizeof(T);
        if (bytes < small) {
            ::operator delete(block);
        } else {
            BlockPool::of_this_thread().give_back(block, bytes);
        }
    }

    template <typename U>
    bool operator==(const PooledAllocator<U>&) const {
        return true;
    }
};

using Doubles = std::vector<double, PooledAllocator<double>>;

}  // namespace hardwood::search
