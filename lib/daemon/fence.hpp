// SPDX-License-Identifier: GPL-2.0-or-later
// Fence: what keeps a daemon that has lost its lease from writing anything more, wherever in a round it is.
//
// A daemon whose parts are FencedKubeWriter and FencedSlurmWriter, as the sidecar's DaemonParts, can't forget its
// fence: both can't be made without one, and have nothing but writes, each of which has to go through Fenced::write().
// A kube::Client is not a kube::Writer: a part that needs a Writer and gets the Client does not compile. Only the fence
// and the leader lease call unfenced_writer(). A Slurm is a SlurmWriter too, since the engine has no fence. In a daemon
// only `main` has one (make_rpc_slurm). tests/lint/includes.sh lists the files that name either.
#pragma once

#include <functional>
#include <utility>

#include "kube/client.hpp"
#include "slurm/slurm.hpp"

namespace slurmk8s {

/** Open while `may_write` says yes; once it said no it stays shut. One thread. */
class Fence {
 public:
  explicit Fence(std::function<bool()> may_write) : may_write_(std::move(may_write)) {}
  bool is_open() { return open_ = open_ && may_write_(); }

 private:
  const std::function<bool()> may_write_;
  bool open_ = true;
};

/** A writer behind a fence. References must outlive it. */
template <typename Writer>
class Fenced {
 public:
  Fenced(Writer& writer, Fence& fence) : writer_(writer), fence_(fence) {}

  /** What `send` says of the writer; `refused` when the fence is shut. */
  template <typename Send, typename Answer>
  Answer write(Send send, Answer refused) {
    return fence_.is_open() ? Answer(send(writer_)) : std::move(refused);
  }

 private:
  Writer& writer_;
  Fence& fence_;
};

/** Writes go no further when the fence is shut: they are neither sent nor answered, as if cancelled. */
class FencedKubeWriter final : public kube::Writer {
 public:
  FencedKubeWriter(kube::Client& client, Fence& fence) : fenced_(client.unfenced_writer(), fence), reader_(client) {}

  http::RequestId create(const kube::ObjectRef& at, const Json& body, kube::OnObject done) override;
  http::RequestId patch(const kube::ObjectRef& object, kube::PatchType type, const Json& patch,
                        kube::OnObject done) override;
  http::RequestId remove(const kube::ObjectRef& object, const kube::DeleteOptions& options,
                         kube::OnObject done) override;
  void cancel(http::RequestId id) override { reader_.cancel(id); }

 private:
  Fenced<kube::Writer> fenced_;
  kube::Reader& reader_;
};

/** Writes are refused (cancelled) when the fence is shut. */
class FencedSlurmWriter final : public SlurmWriter {
 public:
  FencedSlurmWriter(SlurmWriter& writer, Fence& fence) : fenced_(writer, fence) {}

  Status exempt_from_suspend(const std::string& hostlist, bool exempt) override;
  Status create_nodes(const std::string& line) override;
  Status delete_nodes(const std::string& hostlist) override;
  Status update_nodes(const std::string& hostlist, const SlurmNodeUpdate& update) override;
  Status schedule_jobs(const std::string& node) override;
  Status create_partition(const SlurmPartition& partition) override;
  Status update_partition(const SlurmPartition& change) override;
  Status delete_partition(const std::string& name) override;
  Status clear_begin_time(std::uint32_t job) override;
  Status hold_job(std::uint32_t job) override;
  Status end_out_of_memory(std::uint32_t job) override;
  Status comment_job(std::uint32_t job, const std::string& text) override;
  Status make_created_nodes_schedulable() override;
  Status drop_lost_nodes() override;
  Status restart_slurmctld() override;

 private:
  template <typename Send>
  Status write(Send send) {
    return fenced_.write(send, Status(Error(Errc::cancelled, "not the leader any more")));
  }

  Fenced<SlurmWriter> fenced_;
};

}  // namespace slurmk8s
