// SPDX-License-Identifier: GPL-2.0-or-later
// Changes /etc/hosts.
#include "base/job_hosts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>
#include <set>

#include "base/file.hpp"
#include "base/file_lock.hpp"
#include "base/strings.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kMark = "# slurm-k8s job ";
/** Some jobs of thousands of nodes. */
constexpr std::size_t kMaxBytes = 4 << 20;

struct Line {
  std::string_view text;
  std::vector<std::string_view> words;  ///< address and names
  std::optional<std::int64_t> job;      ///< of ours
};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr const char* kBlanks = " \t\r";
  for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = text.find_first_of(kBlanks, at);
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

Line parse_line(std::string_view text) {
  const std::size_t comment = text.find('#');
  Line line{text, words_of(text.substr(0, comment)), std::nullopt};
  if (comment != std::string_view::npos && text.substr(comment).starts_with(kMark)) {
    line.job = parse_int(text.substr(comment + kMark.size()));
  }
  return line;
}

std::vector<Line> parse_lines(std::string_view text) {
  std::vector<Line> lines;
  for (const std::string_view line : split(text, '\n')) lines.push_back(parse_line(line));
  if (lines.back().text.empty()) lines.pop_back();  // behind the last line's end
  return lines;
}

bool write_all(int fd, std::string_view text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = ::pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    done += static_cast<std::size_t>(put);
  }
  return true;
}

/**
 * As long as `before` at least, with empty lines: no part of an earlier line follows for who reads meanwhile. On a full
 * disk `before` is written again, which needs no space. Part of a line would have no mark, and would stay.
 */
Status write_over(int fd, const std::string& path, std::string text, const std::string& before) {
  const std::size_t size = text.size();
  if (size < before.size()) text.append(before.size() - size, '\n');
  if (!write_all(fd, text)) {
    const Error failed = file_error(path, "write");
    if (!write_all(fd, before) || ::ftruncate(fd, static_cast<off_t>(before.size())) != 0)
      return file_error(path, "write back");
    return failed;
  }
  if (size < before.size() && ::ftruncate(fd, static_cast<off_t>(size)) != 0) return file_error(path, "truncate");
  return {};
}

}  // namespace

std::string with_job_hosts(std::string_view text, std::uint32_t job, const std::vector<Host>& hosts) {
  std::map<std::string_view, std::string_view> wanted;
  for (const Host& host : hosts) wanted.emplace(host.name, host.address);
  std::set<std::string_view> done;
  std::string out;
  for (const Line& line : parse_lines(text)) {
    if (!line.job) {
      done.insert(line.words.begin(), line.words.end());
    } else if (line.words.size() == 2) {
      const auto host = wanted.find(line.words[1]);
      const bool same = host != wanted.end() && host->second == line.words[0];
      if (line.job == job && same) done.insert(line.words[1]);
      if (!same && (line.job == job || host != wanted.end())) continue;
    }
    out.append(line.text).append("\n");
  }
  for (const Host& host : hosts) {
    if (!done.insert(host.name).second) continue;
    out += host.address + "\t" + host.name + "\t" + std::string(kMark) + std::to_string(job) + "\n";
  }
  return out;
}

std::string without_job_hosts(std::string_view text, std::uint32_t job) {
  std::string out;
  for (const Line& line : parse_lines(text)) {
    if (line.job != job) out.append(line.text).append("\n");
  }
  return out;
}

Status change_hosts(const std::string& path, const std::string& lock,
                    const std::function<std::string(std::string_view)>& change) {
  const UniqueFd locked = SLURMK8S_TRY(take_file_lock(lock));
  const std::string before = SLURMK8S_TRY(read_file(path, kMaxBytes));
  const std::string after = change(before);
  if (after == before) return {};
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return file_error(path, "open");
  return write_over(file.get(), path, after, before);
}

}  // namespace slurmk8s
