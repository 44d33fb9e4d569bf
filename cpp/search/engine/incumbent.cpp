#include "incumbent.h"

namespace hardwood::search {

namespace {

// A tree as text: tests in preorder, and for each leaf its label.
void write(const Skeleton& tree, std::size_t at, std::string& text) {
    const std::int32_t entry = tree[at].test >= 0 ? tree[at].test : -1 - tree[at].label;
    text.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    if (tree[at].test < 0) return;
    write(tree, 2 * at, text);
    write(tree, 2 * at + 1, text);
}

}  // namespace

std::optional<Evaluation> Judge::operator()(const Skeleton& tree, double price) {
    // The whole tree is the key, not a hash of it: a tree that is skipped must have been evaluated before.
    std::string key;
    write(tree, 1, key);
    if (seen_.size() > 200'000) seen_.clear();
    const auto [entry, is_new] = seen_.try_emplace(std::move(key), price);
    if (!is_new && entry->second <= price) return std::nullopt;
    entry->second = price;
    return evaluate_(tree);
}

}  // namespace hardwood::search
