// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever lines a watch brings, and whatever body an answer has: objects are decoded, or the caller hears an error.
// Each line of the input is one; the last one is the body of an answer.
#include "base/strings.hpp"
#include "fuzz/target.hpp"
#include "kube/client.hpp"
#include "kube/status.hpp"
#include "nodeset/pod.hpp"
#include "support/fake_transport.hpp"

namespace {

using namespace slurmk8s;

void look(const Json& object) {
  const Pod pod = decode_pod(object);
  require(pod.grace.count() >= 0, "a grace period below zero");
  require(!pod.deleting || !describe_deletion(pod).empty(), "a deletion without words");
  is_node_pod(object);
}

void watch(std::string_view lines) {
  http::FakeTransport transport;
  const auto client = kube::make_http_client(transport);
  int ends = 0;
  const auto on_event = [&](kube::WatchEvent event, const Json& object) {
    require(ends == 0, "an event after the end");
    require(event == kube::WatchEvent::opened || object.is_object(), "an event without an object");
    look(object);
  };
  const auto on_end = [&](const Status& status) {
    ++ends;
    require(status.ok() || !status.error().message().empty(), "an end without words");
  };
  const auto id = client->watch(kube::kPods, "slurm", {}, on_event, on_end);
  for (const std::string_view line : split(lines, '\n')) transport.line(id, line);
  transport.answer(id, 200, "");
  require(ends == 1, "a watch that does not end once");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string_view input = as_text(data, size);
  const std::size_t last = input.rfind('\n');
  watch(input);
  const std::string body(last == std::string_view::npos ? input : input.substr(last + 1));
  for (const int status : {200, 409, 500}) {
    const auto answer = kube::decode_response(http::Response{status, body, {}});
    require(answer.ok() ? answer->is_object() : !answer.error().message().empty(), "neither an object nor words");
    require(status == 200 || !answer.ok(), "a failure that is none");
  }
  return 0;
}
