// SPDX-License-Identifier: GPL-2.0-or-later
// prep_k8s/gpu_files, prep_k8s/gpu_owners: which user has which device file, and where none is changed.
#include "prep_k8s/gpu_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.hpp"
#include "prep_k8s/gpu_owners.hpp"
#include "support/temporary_folder.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

constexpr FileOwner kOriginal{0, 44, 0666};

/** "UID:GPUS UID:GPUS…", GPUS with commas. */
std::vector<GpuJob> jobs_of(std::string_view text) {
  std::vector<GpuJob> jobs;
  for (const std::string_view word : split(text, ' ')) {
    const auto parts = split(word, ':');
    if (parts.size() == 2) jobs.push_back({static_cast<uid_t>(*parse_int(parts[0])), parse_gpus(parts[1])});
  }
  return jobs;
}

std::string shown(const FileOwner& owner) { return format("%u:%u %04o", owner.uid, owner.gid, owner.mode); }

/** Owners of GPUs 0 and 1. */
std::string owners(bool known, std::string_view jobs) {
  const auto owner = [&](unsigned gpu) {
    return shown(owner_of({"/dev/x", known ? std::optional(gpu) : std::nullopt, kOriginal}, jobs_of(jobs)));
  };
  return owner(0) + ", " + owner(1);
}

void who_owns_which_gpu(void**) {
  const struct {
    const char* title;
    bool known;
    const char* jobs;
    const char* expected;
  } cases[] = {
      {"no job", true, "", "0:0 0600, 0:0 0600"},
      {"a job without GPUs", true, "1001:", "0:0 0600, 0:0 0600"},
      {"a job with one", true, "1001:1", "0:0 0600, 1001:0 0600"},
      {"a job with all", true, "1001:0,1", "1001:0 0600, 1001:0 0600"},
      {"two users", true, "1001:0 1002:1", "1001:0 0600, 1002:0 0600"},
      {"two jobs of one user", true, "1001:0 1001:1", "1001:0 0600, 1001:0 0600"},
      {"one GPU of two users: shard, mps", true, "1001:0 1002:0", "0:44 0666, 0:0 0600"},
      {"one GPU of two jobs of one user", true, "1001:0 1001:0", "1001:0 0600, 0:0 0600"},
      {"a job of root", true, "0:0", "0:0 0600, 0:0 0600"},
      {"a GPU that the pod lacks", true, "1001:7", "0:0 0600, 0:0 0600"},
      {"unknown files, no job", false, "", "0:0 0600, 0:0 0600"},
      {"unknown files, a job without GPUs", false, "1001:", "0:0 0600, 0:0 0600"},
      {"unknown files, one user", false, "1001:0 1002:", "1001:0 0600, 1001:0 0600"},
      {"unknown files, two users", false, "1001:0 1002:1", "0:44 0666, 0:44 0666"},
  };
  for (const auto& c : cases) {
    print_message("%s\n", c.title);
    assert_text(owners(c.known, c.jobs), c.expected);
  }
}

void reads_the_entrypoints_lines(void**) {
  const auto files = parse_gpu_files(
      "0 0 44 666 /dev/nvidia6\n"
      "any 0 0 660 /dev/dri/renderD128\n"
      "some 0 0 660 /dev/x\n"
      "-1 0 0 660 /dev/x\n"
      "0 0 0 668 /dev/x\n"
      "0 0 0 660 /etc/passwd\n"
      "0 0 0 /dev/x\n"
      "\n");
  assert_int_equal(files.size(), 2);
  assert_text(files[0].path + " " + shown(files[0].original), "/dev/nvidia6 0:44 0666");
  assert_int_equal(files[0].gpu.value_or(9), 0);
  assert_text(files[1].path + " " + shown(files[1].original), "/dev/dri/renderD128 0:0 0660");
  assert_false(files[1].gpu.has_value());
  assert_true(parse_gpus("0,3").contains(3));
  assert_int_equal(parse_gpus("").size(), 0);
  assert_int_equal(parse_gpus("GPU-1,x,2").size(), 1);
}

constexpr const char* kRoot = "500 400 0:50 / / rw - overlay overlay rw\n";
constexpr const char* kOwnDev =
    "501 500 0:60 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755\n"
    "502 501 0:61 / /dev/pts rw,nosuid - devpts devpts rw,gid=5\n"
    "503 501 0:62 / /dev/shm rw,nosuid - tmpfs shm rw\n"
    "504 501 8:1 /pods/x/log /dev/termination-log rw - ext4 /dev/sda rw\n";

void where_files_are_the_containers_own(void**) {
  const std::string own = std::string(kRoot) + kOwnDev;
  const struct {
    const char* title;
    std::string mounts;
    const char* expected;
  } cases[] = {
      {"in /dev of the container", own, ""},
      {"a bind mount: the legacy mode of NVIDIA's runtime, user namespaces",
       own + "510 501 0:5 /nvidia0 /dev/nvidia0 ro,nosuid master:2 - devtmpfs devtmpfs rw\n",
       "it is a mount from outside of the container"},
      {"a hostPath at /dev", std::string(kRoot) + "501 500 0:5 / /dev rw - devtmpfs devtmpfs rw\n",
       "/dev is not the container's own"},
      {"a folder of the host at /dev", std::string(kRoot) + "501 500 8:1 /devices /dev rw - ext4 /dev/sda rw\n",
       "/dev is not the container's own"},
      {"a hostPath at /dev where the host's is a tmpfs (kind)",
       std::string(kRoot) + kOwnDev + "505 501 0:99 / /dev/pts rw - devpts devpts rw\n", "/dev is a volume"},
      {"a part of a tmpfs", std::string(kRoot) + "501 500 0:60 /dev /dev rw - tmpfs tmpfs rw\n",
       "/dev is not the container's own"},
      {"no mount at /dev", kRoot, "it is not in the container's /dev"},
      {"no mounts", "", "it is not in the container's /dev"},
      {"what only begins alike", own + "506 501 0:5 / /dev/nvidia rw - devtmpfs devtmpfs rw\n", ""},
  };
  for (const auto& c : cases) {
    print_message("%s\n", c.title);
    assert_text(why_not_own(c.mounts, "/dev/nvidia0"), c.expected);
  }
  assert_text(why_not_own(own + "507 501 0:5 /dri /dev/dri rw - devtmpfs devtmpfs rw\n", "/dev/dri/renderD128"),
              "it is not in the container's /dev");
}

/** Device files of /dev; the mounts say that it is a container's. Nothing is made where that is not permitted. */
struct Devices {
  explicit Devices(const std::string& suffix = "") {
    for (int gpu = 0; gpu < 2; ++gpu) {
      const std::string path = format("/dev/slurm-k8s-test-%d-%d", static_cast<int>(::getpid()), gpu);
      made = made && ::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0 && ::chmod(path.c_str(), 0666) == 0;
      files.push_back(path);
    }
    mounts = std::string(kRoot) + kOwnDev + suffix;
    paths.files = folder.write("gpu-files", "0 0 0 666 " + files[0] + "\n1 0 0 666 " + files[1] + "\n");
    paths.jobs = folder.path() + "/jobs";
    paths.lock = folder.path() + "/lock";
    paths.mounts = folder.write("mountinfo", mounts);
  }
  ~Devices() {
    for (const std::string& file : files) ::unlink(file.c_str());
  }
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  std::string shown() const {
    std::string text;
    for (const std::string& file : files) {
      struct stat found {};
      ::stat(file.c_str(), &found);
      text += format("%s%u %04o", text.empty() ? "" : ", ", found.st_uid, found.st_mode & 07777);
    }
    return text;
  }

  TemporaryFolder folder;
  std::vector<std::string> files;
  bool made = true;
  std::string mounts;
  GpuPaths paths;
};

void files_come_and_go_with_jobs(void**) {
  Devices devices;
  if (!devices.made) skip();
  const GpuPaths& paths = devices.paths;
  assert_ok(open_gpus(paths));  // no job was ever given one
  assert_text(devices.shown(), "0 0666, 0 0666");
  assert_ok(give_gpus(paths, 7, 1001, ""));
  assert_text(devices.shown(), "0 0600, 0 0600");
  assert_ok(give_gpus(paths, 8, 1001, "1"));
  assert_text(devices.shown(), "0 0600, 1001 0600");
  assert_ok(give_gpus(paths, 9, 1002, "0"));
  assert_text(devices.shown(), "1002 0600, 1001 0600");
  assert_ok(give_gpus(paths, 10, 1002, "1"));  // shares GPU 1
  assert_text(devices.shown(), "1002 0600, 0 0666");
  assert_ok(return_gpus(paths, 8, 1001));
  assert_text(devices.shown(), "1002 0600, 1002 0600");
  assert_ok(return_gpus(paths, 9, 1002));
  assert_ok(return_gpus(paths, 9, 1002));
  assert_text(devices.shown(), "0 0600, 1002 0600");
  assert_ok(open_gpus(paths));  // PrEpParameters=open_gpus is set while a job runs
  assert_text(devices.shown(), "0 0666, 0 0666");
}

void leaves_files_of_the_kubernetes_node(void**) {
  Devices devices;
  if (!devices.made) skip();
  devices.folder.write("mountinfo", devices.mounts + "9 501 0:5 /n " + devices.files[0] + " rw - devtmpfs d rw\n");
  assert_error(give_gpus(devices.paths, 7, 1001, "0,1"), Errc::forbidden,
               devices.files[0] + ": open to all jobs: it is a mount");
  assert_text(devices.shown(), "0 0666, 1001 0600");
}

void leaves_other_files(void**) {
  Devices devices;
  if (!devices.made) skip();
  ::unlink(devices.files[0].c_str());
  assert_error(give_gpus(devices.paths, 7, 1001, "0,1"), Errc::not_found, devices.files[0]);
  assert_int_equal(::symlink("/etc/passwd", devices.files[0].c_str()), 0);
  assert_error(give_gpus(devices.paths, 7, 1001, "0,1"), Errc::invalid, "not a device file");
  struct stat found {};
  ::stat("/etc/passwd", &found);
  assert_int_equal(found.st_uid, 0);
  GpuPaths without = devices.paths;
  without.files = devices.folder.path() + "/none";  // a pod without GPUs
  without.jobs = devices.folder.path() + "/other";
  assert_ok(give_gpus(without, 7, 1001, "0"));
  assert_int_equal(::access(without.jobs.c_str(), F_OK), -1);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(who_owns_which_gpu),
      SLURMK8S_TEST(reads_the_entrypoints_lines),
      SLURMK8S_TEST(where_files_are_the_containers_own),
      SLURMK8S_TEST(files_come_and_go_with_jobs),
      SLURMK8S_TEST(leaves_files_of_the_kubernetes_node),
      SLURMK8S_TEST(leaves_other_files),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
