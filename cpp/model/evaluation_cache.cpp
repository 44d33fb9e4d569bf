#include "model/evaluation_cache.h"

namespace hardwood::search {

namespace {

constexpr std::size_t max_entries = 200'000;

/// A tree as text: splits in preorder, and the label of each leaf.
void append_key(const HeapTree& tree, std::size_t at, std::string& key) {
    const std::int32_t entry = tree[at].is_leaf() ? -1 - tree[at].label : tree[at].split;
    key.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    if (tree[at].is_leaf()) return;
    append_key(tree, 2 * at, key);
    append_key(tree, 2 * at + 1, key);
}

}  // namespace

std::optional<Evaluation> EvaluationCache::evaluate(const HeapTree& tree, double multiplier) {
    // The key is the whole tree, not a hash of it: a tree that is skipped must have been evaluated
    // before.
    std::string key;
    append_key(tree, 1, key);
    if (lowest_multiplier_.size() > max_entries) lowest_multiplier_.clear();
    const auto [entry, is_new] = lowest_multiplier_.try_emplace(std::move(key), multiplier);
    if (!is_new && entry->second <= multiplier) return std::nullopt;
    entry->second = multiplier;
    return evaluator_(tree);
}

}  // namespace hardwood::search
