// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a fuzz target over files, as a plain test without a fuzzer: `fuzz/json [FILE…]`; without files over its corpus,
// $srcdir/fuzz/corpus/json. Prints TAP, one line per file.
//
// With clang the targets are real fuzzers, without this file: tests/fuzz/run.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "fuzz/target.hpp"

namespace {

std::vector<std::string> corpus_of(const std::filesystem::path& program) {
  const char* source = std::getenv("srcdir");
  const auto folder = std::filesystem::path(source != nullptr ? source : ".") / "fuzz" / "corpus" / program.filename();
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t kMaxFile = 16u << 20;
  const auto files = argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : corpus_of(argv[0]);
  std::printf("1..%zu\n", files.size());
  bool failed = files.empty();
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto file = slurmk8s::read_file(files[i], kMaxFile);
    if (!file.ok()) {
      std::printf("not ok %zu - %s\n", i + 1, file.error().message().c_str());
      failed = true;
      continue;
    }
    // A target that finds something ends the program: TAP then lacks lines that the plan announced.
    std::printf("# %s\n", files[i].c_str());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(file->data()), file->size());
    std::printf("ok %zu - %s\n", i + 1, files[i].c_str());
  }
  return failed ? 1 : 0;
}
