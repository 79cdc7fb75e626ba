// SPDX-License-Identifier: GPL-2.0-or-later
// ConfigExchange: a folder for each set, a pipe for requests, a file for the answer.
#include "sidecar/config_exchange.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/file.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"
#include "base/unique_fd.hpp"
#include "json/json.hpp"

namespace slurmk8s {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFile = 4u << 20;  // a ConfigMap has 1 MiB

const char* word_of(ConfigInstaller::Verb verb) {
  switch (verb) {
    case ConfigInstaller::Verb::check: return "check";
    case ConfigInstaller::Verb::install: return "install";
    case ConfigInstaller::Verb::restore: return "restore";
    case ConfigInstaller::Verb::keep: return "keep";
    case ConfigInstaller::Verb::compare: return "compare";
  }
  return "";
}

Error folder_error(const std::string& path, const std::error_code& code) {
  return Error(Errc::unavailable, path + ": " + code.message());
}

}  // namespace

Result<ConfigFiles> ConfigExchange::live() {
  ConfigFiles files;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(live_, code)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("..") || !entry.is_regular_file(code)) continue;
    files.emplace(name, SLURMK8S_TRY(read_file(entry.path(), kMaxFile)));
  }
  if (code) return folder_error(live_, code);
  return files;
}

Result<std::time_t> ConfigExchange::installed() {
  const std::string link = live_ + "/..data";  // made again with each set
  struct stat status {};
  if (::lstat(link.c_str(), &status) != 0) return file_error(link, "stat");
  return status.st_mtime;
}

Status ConfigExchange::ask(Verb verb, const ConfigFiles& files) {
  const std::string sets = folder_ + "/sets";
  const std::string id = random_id();
  std::error_code code;
  fs::remove_all(sets, code);
  const fs::path set = fs::path(sets) / id;
  fs::create_directories(set, code);
  if (code) return folder_error(sets, code);
  for (const auto& [name, text] : files) SLURMK8S_CHECK(replace_file(set / name, text));
  fs::remove(folder_ + "/answer", code);
  behind_.clear();
  // Nobody reads the pipe: ENXIO. It is made when the container starts.
  const std::string path = folder_ + "/requests";
  const UniqueFd pipe(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  const std::string line = format("%s %s\n", word_of(verb), id.c_str());
  if (!pipe || ::write(pipe.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return folder_error(path, std::error_code(errno, std::generic_category()));
  }
  id_ = id;
  return {};
}

std::optional<std::string> ConfigExchange::answer() {
  const Result<std::string> text = read_file(folder_ + "/answer", kMaxFile);
  if (!text.ok()) return std::nullopt;
  const Result<Json> answer = Json::parse(*text);
  if (!answer.ok() || (*answer)["id"].text() != id_) return std::nullopt;
  behind_.clear();
  (*answer)["behind"].each([&](const Json& one) {
    behind_.push_back({std::string(one["pod"].text()), std::string(one["uid"].text())});
  });
  return std::string((*answer)["error"].text());
}

}  // namespace slurmk8s
