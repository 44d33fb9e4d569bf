/// Threads that share the tasks of one step.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hardwood::search {

/// Runs many short jobs, one after the other, each divided into tasks. Which thread runs a task is
/// left to chance, so results must not depend on it: a task writes only what belongs to it, or
/// buffers of its thread.
///
/// Helpers wait for the next job without giving up their core for some microseconds, then asleep.
class ThreadTeam {
public:
    /// Tells a job which of its tasks is to be done, by which thread (0: the caller).
    using Job = std::function<void(std::size_t task, std::size_t thread)>;

    /// Has fewer threads if the system has no more.
    explicit ThreadTeam(int n_threads);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    std::size_t size() const { return helpers_.size() + 1; }

    /// Runs all tasks and returns when they have ended; each thread takes them in ascending order.
    /// The caller takes part. An exception of a task is rethrown here, and tasks that have not
    /// begun are left out. Only one thread may call this, and not from a task.
    void run(std::size_t n_tasks, const Job& job);

private:
    void help(std::size_t thread);
    void wait_for_job(unsigned seen) const;
    void do_tasks(std::size_t thread);
    void wait_for_helpers() const;

    const Job* job_ = nullptr;
    std::size_t n_tasks_ = 0;
    std::atomic<std::size_t> next_task_ = 0;
    std::atomic<bool> is_open_ = false;    // whether helpers may begin with the current job
    std::atomic<int> n_inside_ = 0;        // helpers that look at the current job
    std::atomic<unsigned> n_started_ = 0;  // jobs
    std::atomic<bool> ends_ = false;
    std::mutex mutex_;
    std::exception_ptr failure_;  // guarded by the mutex
    std::vector<std::jthread> helpers_;
};

/// How many ranges of at most `length` numbers make 0 to n.
inline std::size_t n_ranges(std::size_t n, std::size_t length) {
    return (n + length - 1) / length;
}

}  // namespace hardwood::search
