// SPDX-License-Identifier: GPL-2.0-or-later
// LineSplitter: bytes in any chunks in, whole lines out. Each byte is looked at once.
#include "http/line_splitter.hpp"

#include <utility>

#include "base/strings.hpp"

namespace slurmk8s::http {

Status LineSplitter::feed(std::string_view bytes, const std::function<void(std::string_view)>& line) {
  for (;;) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (part.size() > max_line_ - rest_.size()) {
      rest_.clear();
      return Error(Errc::protocol, format("a line of more than %zu bytes", max_line_));
    }
    if (end == std::string_view::npos) {
      rest_.append(part);
      return {};
    }
    bytes.remove_prefix(end + 1);
    if (rest_.empty()) {
      if (!part.empty()) line(part);
    } else {
      const std::string whole = std::exchange(rest_, {}).append(part);
      line(whole);
    }
  }
}

}  // namespace slurmk8s::http
