// SPDX-License-Identifier: GPL-2.0-or-later
// AdminServer: /healthz, /readyz, /metrics and pages below it, answered by a thread of their own from what the main
// loop published. admin_http.cc is the only file that knows libmicrohttpd.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/locked.hpp"
#include "base/result.hpp"

namespace slurmk8s {

/** What the main loop tells about itself; never changed once it is published. */
struct AdminPage {
  bool listed = false;                      ///< all NodeSets are known
  std::optional<TimePoint> slurm_answered;  ///< last answer of slurmctld
  std::string metrics;
  bool stands_by = false;  ///< another sidecar acts: nothing is known, and that is well
};

struct AdminAnswer {
  int status;
  std::string body;
};

/** Pages of metrics beside /metrics; both functions are called on the server's thread. */
struct MetricsPages {
  std::vector<std::string> paths;                            ///< in the order in which /metrics/all has them
  std::function<std::string(const std::string& path)> read;  ///< may block for a moment
};

/** The meeting point of the main loop and the server. Any thread. */
class AdminState {
 public:
  static constexpr std::chrono::seconds kStuck{60};        ///< a loop that hasn't turned for this long isn't healthy
  static constexpr std::chrono::seconds kSlurmSilent{30};  ///< without an answer of slurmctld for this long: not ready

  static constexpr std::chrono::seconds kMetricsAge{1};  ///< what `more_metrics` said is repeated for so long

  /**
   * `more_metrics` is called for a GET /metrics, at most once in kMetricsAge, on the server's thread; it may block for
   * a moment.
   */
  explicit AdminState(const Clock& clock, std::function<std::string()> more_metrics = {}, MetricsPages pages = {})
      : clock_(clock), more_metrics_(std::move(more_metrics)), pages_(std::move(pages)), turned_(clock.now()) {}

  /** The main loop has turned once more. */
  void turned() { turned_ = clock_.now(); }
  void publish(AdminPage page) { *page_.lock() = std::make_shared<const AdminPage>(std::move(page)); }

  /** The answer to GET `path`; 404 for paths that we don't have. */
  AdminAnswer answer(const std::string& path);

 private:
  /** What more_metrics_ said, and when. */
  struct Extra {
    std::optional<TimePoint> asked;
    std::string text;
  };
  std::string extra_metrics(TimePoint now);
  std::optional<std::string> metrics(const std::string& path, const AdminPage& page, TimePoint now);

  const Clock& clock_;
  const std::function<std::string()> more_metrics_;
  const MetricsPages pages_;
  std::atomic<TimePoint> turned_;
  Locked<Extra> extra_;
  Locked<std::shared_ptr<const AdminPage>> page_{std::make_shared<const AdminPage>()};
};

/** Stops its thread when it goes. */
class AdminServer {
 public:
  virtual ~AdminServer() = default;
  /** The port that it listens on: of use when 0 was asked for. */
  virtual int port() const = 0;
};

/**
 * Listens on "HOST:PORT" (a numeric address; "[::1]:9100" for IPv6) or ":PORT" (every address). Signals that are
 * blocked in the calling thread stay so in the server's. Error: the address and why; `state` must outlive the server.
 */
Result<std::unique_ptr<AdminServer>> start_admin_server(const std::string& listen, AdminState& state);

}  // namespace slurmk8s
