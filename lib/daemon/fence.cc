// SPDX-License-Identifier: GPL-2.0-or-later
// The fence before the API server and before slurmctld.
#include "daemon/fence.hpp"

namespace slurmk8s {
namespace {

class FencedClient final : public kube::Client {
 public:
  FencedClient(kube::Client& client, Fence& fence) : client_(client), fence_(fence) {}

  http::RequestId get(const kube::ObjectRef& object, kube::OnObject done) override {
    return client_.get(object, std::move(done));
  }
  http::RequestId list(const kube::Resource& resource, const std::string& name_space, const kube::ListOptions& options,
                       kube::OnObject done) override {
    return client_.list(resource, name_space, options, std::move(done));
  }
  http::RequestId watch(const kube::Resource& resource, const std::string& name_space,
                        const kube::WatchOptions& options, kube::OnEvent event, kube::OnWatchEnd end) override {
    return client_.watch(resource, name_space, options, std::move(event), std::move(end));
  }
  http::RequestId create(const kube::ObjectRef& at, const Json& body, kube::OnObject done) override {
    return fence_.is_open() ? client_.create(at, body, std::move(done)) : 0;
  }
  http::RequestId patch(const kube::ObjectRef& object, kube::PatchType type, const Json& patch,
                        kube::OnObject done) override {
    return fence_.is_open() ? client_.patch(object, type, patch, std::move(done)) : 0;
  }
  http::RequestId remove(const kube::ObjectRef& object, const kube::DeleteOptions& options,
                         kube::OnObject done) override {
    return fence_.is_open() ? client_.remove(object, options, std::move(done)) : 0;
  }
  void cancel(http::RequestId id) override { client_.cancel(id); }

 private:
  kube::Client& client_;
  Fence& fence_;
};

class FencedSlurm final : public Slurm {
 public:
  FencedSlurm(Slurm& slurm, Fence& fence) : slurm_(slurm), fence_(fence) {}

  Result<std::optional<std::vector<SlurmNode>>> load_nodes_since(std::time_t& since) override {
    return slurm_.load_nodes_since(since);
  }
  Result<SlurmConfig> load_config() override { return slurm_.load_config(); }
  Result<SlurmNode> load_node(const std::string& name) override { return slurm_.load_node(name); }
  Result<SlurmJob> load_job(std::uint32_t id) override { return slurm_.load_job(id); }
  Result<std::optional<std::vector<SlurmJob>>> load_open_jobs_since(std::time_t& since) override {
    return slurm_.load_open_jobs_since(since);
  }
  Result<std::vector<std::string>> load_nodes_of_jobs() override { return slurm_.load_nodes_of_jobs(); }
  Result<std::vector<SlurmRun>> load_runs() override { return slurm_.load_runs(); }
  Result<std::vector<std::uint32_t>> load_jobs_to_begin(std::chrono::seconds within) override {
    return slurm_.load_jobs_to_begin(within);
  }
  Status check_partitions_persist() override { return slurm_.check_partitions_persist(); }
  Result<std::optional<std::vector<SlurmPartition>>> load_partitions_since(std::time_t& since) override {
    return slurm_.load_partitions_since(since);
  }

  Status exempt_from_suspend(const std::string& hostlist, bool exempt) override {
    return fenced([&] { return slurm_.exempt_from_suspend(hostlist, exempt); });
  }
  Status create_nodes(const std::string& line) override {
    return fenced([&] { return slurm_.create_nodes(line); });
  }
  Status delete_nodes(const std::string& hostlist) override {
    return fenced([&] { return slurm_.delete_nodes(hostlist); });
  }
  Status update_nodes(const std::string& hostlist, const SlurmNodeUpdate& update) override {
    return fenced([&] { return slurm_.update_nodes(hostlist, update); });
  }
  Status schedule_jobs(const std::string& node) override {
    return fenced([&] { return slurm_.schedule_jobs(node); });
  }
  Status create_partition(const SlurmPartition& partition) override {
    return fenced([&] { return slurm_.create_partition(partition); });
  }
  Status update_partition(const SlurmPartition& change) override {
    return fenced([&] { return slurm_.update_partition(change); });
  }
  Status delete_partition(const std::string& name) override {
    return fenced([&] { return slurm_.delete_partition(name); });
  }
  Status comment_job(std::uint32_t job, const std::string& text) override {
    return fenced([&] { return slurm_.comment_job(job, text); });
  }
  Status clear_begin_time(std::uint32_t job) override {
    return fenced([&] { return slurm_.clear_begin_time(job); });
  }
  Status hold_job(std::uint32_t job) override {
    return fenced([&] { return slurm_.hold_job(job); });
  }
  Status end_out_of_memory(std::uint32_t job) override {
    return fenced([&] { return slurm_.end_out_of_memory(job); });
  }
  Status make_created_nodes_schedulable() override {
    return fenced([&] { return slurm_.make_created_nodes_schedulable(); });
  }
  Status drop_lost_nodes() override {
    return fenced([&] { return slurm_.drop_lost_nodes(); });
  }
  Status restart_slurmctld() override {
    return fenced([&] { return slurm_.restart_slurmctld(); });
  }

 private:
  template <typename Write>
  Status fenced(Write write) {
    if (!fence_.is_open()) return Error(Errc::cancelled, "not the leader any more");
    return write();
  }

  Slurm& slurm_;
  Fence& fence_;
};

}  // namespace

std::unique_ptr<kube::Client> make_fenced_client(kube::Client& client, Fence& fence) {
  return std::make_unique<FencedClient>(client, fence);
}

std::unique_ptr<Slurm> make_fenced_slurm(Slurm& slurm, Fence& fence) {
  return std::make_unique<FencedSlurm>(slurm, fence);
}

}  // namespace slurmk8s
