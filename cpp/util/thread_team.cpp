#include "util/thread_team.h"

#include <system_error>
#include <utility>

namespace hardwood::search {

namespace {

/// How often a thread looks before it sleeps: some tens of microseconds, as long as the pauses
/// between most jobs.
constexpr int n_looks = 2000;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(int n_threads) {
    try {
        for (int k = 1; k < n_threads; ++k)
            helpers_.emplace_back([this, k] { help(static_cast<std::size_t>(k)); });
    } catch (const std::system_error&) {  // the system has no more threads: fewer do the same work
    }
}

ThreadTeam::~ThreadTeam() {
    ends_ = true;
    ++n_started_;
    n_started_.notify_all();
}

void ThreadTeam::do_tasks(std::size_t thread) {
    try {
        for (std::size_t task = next_task_++; task < n_tasks_; task = next_task_++)
            (*job_)(task, thread);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        next_task_ = n_tasks_;
    }
}

void ThreadTeam::wait_for_job(unsigned seen) const {
    for (int look = 0; look < n_looks; ++look) {
        if (n_started_.load() != seen) return;
        pause_briefly();
    }
    n_started_.wait(seen);
}

/// A helper that comes late finds the job closed, and does not look at it. One that comes in time
/// is counted before it looks, so the caller waits for it. (The two counters are sequentially
/// consistent: either the helper sees that the job is closed, or the caller sees the helper.)
void ThreadTeam::help(std::size_t thread) {
    unsigned seen = 0;
    while (true) {
        wait_for_job(seen);
        seen = n_started_.load();
        if (ends_) return;
        ++n_inside_;
        if (is_open_) do_tasks(thread);
        if (--n_inside_ == 0) n_inside_.notify_one();
    }
}

void ThreadTeam::wait_for_helpers() const {
    for (int look = 0; look < n_looks; ++look) {
        if (n_inside_ == 0) return;
        pause_briefly();
    }
    while (const int n = n_inside_) n_inside_.wait(n);
}

void ThreadTeam::run(std::size_t n_tasks, const Job& job) {
    if (helpers_.empty() || n_tasks <= 1) {
        for (std::size_t task = 0; task < n_tasks; ++task) job(task, 0);
        return;
    }
    job_ = &job;
    n_tasks_ = n_tasks;
    next_task_ = 0;
    is_open_ = true;
    ++n_started_;
    n_started_.notify_all();
    do_tasks(0);
    is_open_ = false;
    wait_for_helpers();
    if (!failure_) return;
    const std::exception_ptr failure = std::exchange(failure_, nullptr);
    std::rethrow_exception(failure);
}

}  // namespace hardwood::search
