// The least loss inside one region at one price, by dynamic programming over all subtrees.
//
// A relaxation of the loss is a rule for which part of a sample enters which side of a test:
//   own     all of it stays where it is cheapest: a lower bound (theory, section 4)
//   shared  a part of it crosses, the rest stays: a lower bound, too, since the parts add up to one (see Crossings)
//   sum     all of it enters both sides: an upper bound (theory, section 3)
// Under each rule the two subtrees of a test are independent, and a test on the last level is exact.
//
// What makes it fast: samples with the same class, price so far and weight form a group, and the pair counts of a group come
// from its columns of bits. (Counts are exact; a sum has a term for each group at most, and each point is in one group, so
// `Instance::rounding` covers it.) A region is known by the set of its tests and sides, whatever their order, so each is solved once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "crossings.h"
#include "relaxation.h"

namespace hardwood::search {

enum class Rule { own, shared, sum };

// How many rows have one of some values of a feature: a sum of the counts of its columns, and perhaps of all rows.
struct Terms {
    bool all = false;
    std::vector<std::pair<std::size_t, double>> columns;  // column of the feature, and sign
};

// The best single leaf from what each class has; what is lost is the rest.
double best_leaf(const double* mass, std::size_t n_classes, int& label);

class Programme {
public:
    // Samples form groups only if what they pay depends on their values alone.
    static bool fits(const Instance& instance);

    Programme(const Instance& instance, Watch& watch);
    ~Programme();

    struct Question {
        double price = 0.0;
        Rule rule = Rule::own;
        const Crossings* crossings = nullptr;  // for rule `shared`
        double test_price = 0.0;
        double cutoff = infinity;  // values above it need not be exact, only at least as large
        bool each_test = false;    // whether the values for each test on top are wanted, too
        const std::vector<bool>* left_out = nullptr;  // tests of the region that are not to stand on top
    };

    // `weight` says how many samples each place of the region stands for. When the watch stops, nothing is known: no loss.
    Relaxed solve(const Region& region, const std::vector<double>& weight, const Question& question);


    // The part of a point that a test sends to a side, under rule `shared` at the price of the last question.
    double part(std::size_t point, std::size_t test, int side) const {
        return part_[part_index(instance_.label(point), test, side) + value_[feature_of(test) * n_points_ + point]];
    }
    // How much the part that crosses a test grows with its coefficient.
    double slope(std::size_t point, std::size_t test) const {
        return slope_[test][value_[feature_of(test) * n_points_ + point]];
    }
    int home_side(std::size_t point, std::size_t test) const {
        return home_side_[test][value_[feature_of(test) * n_points_ + point]];
    }
    void set(double price, const Crossings& crossings);

private:
    Terms terms_of(std::size_t feature, const std::vector<std::size_t>& values) const;

    // What is left of a feature, and what its tests do there. Vectors are by value of the feature.
    struct State;
    struct Cut {
        bool splits = false;
        std::vector<std::uint8_t> side;            // where the value is cheapest
        std::array<std::vector<double>, 2> extra;  // price times the cost of being on a side, 0 where it is cheapest
        // Values that the test treats alike: a set of values of the state, and one of them.
        struct Alike {
            std::size_t set;
            std::size_t value;
        };
        std::vector<Alike> alike;
        Terms right;
    };
    struct State {
        Limit limit;
        std::vector<Cut> cuts;                                // by test of the feature
        std::vector<Terms> sets;                              // of values that some test treats alike
        std::vector<std::array<State*, 2>> part;              // by test and side, once it was asked for
        // By test and side, once it was asked for: tests of this feature that split what is left, how they act there, and the
        // values for which that differs from how they act here.
        struct Second {
            std::size_t place;
            const Cut* cut;
            std::vector<std::size_t> differs;
        };
        std::vector<std::array<std::vector<Second>, 2>> seconds;
    };

    struct Group {
        std::size_t label;
        double cost;    // times the price
        double weight;  // of each row
        std::size_t begin, end;
    };

    using Key = std::array<std::uint16_t, 12>;  // tests and sides in order, then zeros
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    struct Entry {
        double bound;
        bool exact;
        Skeleton best;
    };
    using EntryPtr = std::shared_ptr<const Entry>;

    struct Part {
        std::vector<State*> state;  // by feature
        std::vector<Group> groups;
        std::vector<std::uint32_t> rows;
        Key key{};
    };

    // The two-level optimum for each test on top.
    struct Look {
        double leaf = 0.0;
        int leaf_label = 0;
        std::vector<int> tests;
        std::vector<double> value;
        std::vector<std::array<Choice, 8>> best;
    };

    std::size_t feature_of(std::size_t test) const { return instance_.tests()[test].feature; }
    std::size_t part_index(std::size_t label, std::size_t test, int side) const {
        return ((label * instance_.tests().size() + test) * 2 + static_cast<std::size_t>(side)) * most_values_;
    }
    double scaled(double cost) const { return cost <= instance_.budget() ? price_ * cost : 2.0; }

    void set_price(double price);
    State* state_of(const Limit& limit);
    State* part_of_state(State& state, int test, int side);
    void find_alike(State& state) const;
    void find_seconds(State& state);
    // Which part of a point goes to a side of a test, by its value.
    double sent(std::size_t label, std::size_t test, int side, std::size_t value, const Cut& cut) const {
        if (rule_ == Rule::own) return cut.side[value] == side ? 1.0 : 0.0;
        return rule_ == Rule::sum ? 1.0 : part_[part_index(label, test, side) + value];
    }
    void add_region(const Region& region, const std::vector<double>& weight, Part& part);
    void split(const Part& part, int test, int side, Part& result);
    Key with(const Key& key, int test, int side) const;

    // The least loss of the part at a depth; `by_test`, if given, is filled for each test on top.
    EntryPtr least(std::size_t depth, int levels, double cutoff, std::vector<double>* by_test);
    struct Split {
        double value = 0.0;
        bool exact = false;
        std::array<EntryPtr, 2> child;
    };
    Split split_on(std::size_t depth, int levels, int test, double limit);
    static std::vector<std::size_t> by_value(const Look& look);
    EntryPtr known(const Key& key) const;
    void leave_out(Look& look) const;
    // The best tree of two levels, or of one, for each test on top.
    void look_at_two(const Part& part, Look& result);
    void look_at_one(const Part& part, Look& result);
    void look_at_none(const Part& part, Look& result);
    void find_live_tests(const Part& part);

    const Instance& instance_;
    Watch& watch_;
    std::size_t n_points_;
    std::size_t n_classes_;
    bool repeat_;  // whether a point stands in as many rows as it has samples: more rows, but fewer groups
    std::size_t most_values_ = 0;
    std::vector<std::vector<std::size_t>> representative_;  // by feature and value: a point that has it
    std::vector<std::uint16_t> value_;                      // feature after feature: which of its values each point has
    std::vector<std::vector<int>> tests_of_;                // by feature
    std::vector<std::size_t> place_of_test_;                // in the list of its feature
    // Bits of each point. First the columns: for an ordered feature, whether the value is above each value but the last; for
    // others, whether it is each value (of two, only the second). Then the values.
    std::size_t n_words_ = 0, n_column_words_ = 0;
    std::vector<std::uint64_t> bits_;
    std::vector<std::size_t> n_columns_, first_bit_, value_bit_;  // by feature

    double price_ = -1.0;
    bool slopes_known_ = false;
    Rule rule_ = Rule::own;
    std::vector<bool> left_out_;  // by test, for the top
    double test_price_ = 0.0;
    std::map<std::tuple<std::size_t, std::int32_t, std::int32_t, std::vector<std::uint8_t>>, State> states_;
    std::vector<double> part_;                            // by class, test, side and value
    std::vector<std::vector<double>> slope_;              // by test and value
    std::vector<std::vector<std::uint8_t>> home_side_;    // by test and value: the side without any limits
    std::vector<Part> parts_;                             // by depth
    std::vector<Look> looks_;                             // by depth
    std::unordered_map<Key, EntryPtr, KeyHash> cache_;

    // Of a split, kept to be filled again.
    std::vector<Group> arriving_;
    std::vector<std::vector<std::uint32_t>> arriving_rows_;
    std::vector<std::size_t> bucket_, order_;

    struct LiveTest {
        int test;
        std::size_t feature;
        const Cut* cut;
    };
    std::vector<std::uint64_t> seen_;                  // bits of the values that occur
    std::vector<LiveTest> live_;                       // tests with points on both sides
    std::vector<std::vector<std::size_t>> occurring_;  // by feature: values that occur; empty without a live test
    class PairTable;
    std::unique_ptr<PairTable> pairs_;
};

}  // namespace hardwood::search
