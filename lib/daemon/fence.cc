// SPDX-License-Identifier: GPL-2.0-or-later
// The fence before the API server and before slurmctld.
#include "daemon/fence.hpp"

namespace slurmk8s {

http::RequestId FencedKubeWriter::create(const kube::ObjectRef& at, const Json& body, kube::OnObject done) {
  return fenced_.write([&](kube::Writer& writer) { return writer.create(at, body, std::move(done)); },
                       http::RequestId{0});
}

http::RequestId FencedKubeWriter::patch(const kube::ObjectRef& object, kube::PatchType type, const Json& patch,
                                        kube::OnObject done) {
  return fenced_.write([&](kube::Writer& writer) { return writer.patch(object, type, patch, std::move(done)); },
                       http::RequestId{0});
}

http::RequestId FencedKubeWriter::remove(const kube::ObjectRef& object, const kube::DeleteOptions& options,
                                         kube::OnObject done) {
  return fenced_.write([&](kube::Writer& writer) { return writer.remove(object, options, std::move(done)); },
                       http::RequestId{0});
}

Status FencedSlurmWriter::exempt_from_suspend(const std::string& hostlist, bool exempt) {
  return write([&](SlurmWriter& writer) { return writer.exempt_from_suspend(hostlist, exempt); });
}

Status FencedSlurmWriter::create_nodes(const std::string& line) {
  return write([&](SlurmWriter& writer) { return writer.create_nodes(line); });
}

Status FencedSlurmWriter::delete_nodes(const std::string& hostlist) {
  return write([&](SlurmWriter& writer) { return writer.delete_nodes(hostlist); });
}

Status FencedSlurmWriter::update_nodes(const std::string& hostlist, const SlurmNodeUpdate& update) {
  return write([&](SlurmWriter& writer) { return writer.update_nodes(hostlist, update); });
}

Status FencedSlurmWriter::schedule_jobs(const std::string& node) {
  return write([&](SlurmWriter& writer) { return writer.schedule_jobs(node); });
}

Status FencedSlurmWriter::create_partition(const SlurmPartition& partition) {
  return write([&](SlurmWriter& writer) { return writer.create_partition(partition); });
}

Status FencedSlurmWriter::update_partition(const SlurmPartition& change) {
  return write([&](SlurmWriter& writer) { return writer.update_partition(change); });
}

Status FencedSlurmWriter::delete_partition(const std::string& name) {
  return write([&](SlurmWriter& writer) { return writer.delete_partition(name); });
}

Status FencedSlurmWriter::clear_begin_time(std::uint32_t job) {
  return write([&](SlurmWriter& writer) { return writer.clear_begin_time(job); });
}

Status FencedSlurmWriter::hold_job(std::uint32_t job) {
  return write([&](SlurmWriter& writer) { return writer.hold_job(job); });
}

Status FencedSlurmWriter::end_out_of_memory(std::uint32_t job) {
  return write([&](SlurmWriter& writer) { return writer.end_out_of_memory(job); });
}

Status FencedSlurmWriter::comment_job(std::uint32_t job, const std::string& text) {
  return write([&](SlurmWriter& writer) { return writer.comment_job(job, text); });
}

Status FencedSlurmWriter::make_created_nodes_schedulable() {
  return write([&](SlurmWriter& writer) { return writer.make_created_nodes_schedulable(); });
}

Status FencedSlurmWriter::drop_lost_nodes() {
  return write([&](SlurmWriter& writer) { return writer.drop_lost_nodes(); });
}

Status FencedSlurmWriter::restart_slurmctld() {
  return write([&](SlurmWriter& writer) { return writer.restart_slurmctld(); });
}

}  // namespace slurmk8s
