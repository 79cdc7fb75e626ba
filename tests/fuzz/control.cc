// SPDX-License-Identifier: GPL-2.0-or-later
// Any line on the engine's socket is taken or refused; what is taken says the same when it is written and read again.
#include "control/control.hpp"
#include "control/pod_jobs.hpp"
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto message = Json::parse(as_text(data, size));
  if (!message) return 0;
  const auto request = decode_resume(*message);
  if (!request) {
    require(!request.error().message().empty(), "a resume refused without words");
  } else {
    const auto again = decode_resume(encode_resume(*request));
    require(again.ok(), "a resume that can't be read back");
    require(again->id == request->id && again->jobs == request->jobs, "a resume that changes");
    require(again->nodes.size() <= request->nodes.size(), "a resume that grows");
  }
  const auto nodes = decode_nodes(*message);
  if (!nodes) {
    require(!nodes.error().message().empty(), "a suspend refused without words");
  } else {
    require(decode_nodes(encode_suspend(*nodes)).ok(), "a suspend that can't be read back");
  }
  const auto jobs = decode_pod_jobs(*message);
  if (!jobs) {
    require(!jobs.error().message().empty(), "jobs of pods refused without words");
  } else {
    const auto again = decode_pod_jobs(encode_pod_jobs(*jobs));
    require(again.ok() && *again == *jobs, "jobs of pods that change");
  }
  const auto report = decode_report(*message);
  if (report) {
    const auto again = decode_report(encode_report(*report));
    require(again.ok() && *again == *report, "a report that changes");
  }
  return 0;
}
