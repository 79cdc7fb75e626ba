// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/job_placeholders: values of a job in a pod's labels and annotations.
#include "nodeset/job_placeholders.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

Json metadata_with(const char* part, const std::string& value) {
  return Json::object().set(part, Json::object().set("k", value).set("fixed", "as-it-is"));
}

std::string expand(const char* part, const std::string& text, const SlurmJob& job) {
  const Json expanded = expand_placeholders(metadata_with(part, text), job);
  assert_text(expanded[part]["fixed"].text(), "as-it-is");
  return std::string(expanded[part]["k"].text());
}

void replaces_each(void**) {
  const SlurmJob job{.id = 12,
                     .name = "train",
                     .user = "alice",
                     .account = "physics",
                     .partitions = "gpu",
                     .qos = "high",
                     .reservation = "class",
                     .extra = "team=a",
                     .features = "cuda12&gpu",
                     .memory = "4000M",
                     .gres = "gpu=2",
                     .cpus = 8,
                     .nodes = 2};
  assert_text(expand("annotations",
                     "$(JOB_ID) $(JOB_NAME) $(JOB_USER) $(JOB_ACCOUNT) $(JOB_PARTITION) $(JOB_QOS) $(JOB_RESERVATION) "
                     "$(JOB_EXTRA) $(JOB_CONSTRAINT) $(JOB_CPUS) $(JOB_MEMORY) $(JOB_GRES) $(JOB_NODES)",
                     job),
              "12 train alice physics gpu high class team=a cuda12&gpu 8 4000M gpu=2 2");
  assert_text(expand("labels", "acct-$(JOB_ACCOUNT)", job), "acct-physics");
  assert_text(expand("labels", "$(JOB_EXTRA)", job), "team_a");
  assert_text(expand("annotations", "$(JOB_", job), "$(JOB_");
}

void a_label_stays_one(void**) {
  const auto label = [](const std::string& name) { return expand("labels", "$(JOB_NAME)", {.name = name}); };
  assert_text(label("a b/c\"\n$"), "a_b_c");
  assert_text(label("--x.."), "x");
  assert_text(label("\xc3\xa9t\xc3\xa9"), "t");
  assert_text(label("///"), "");
  assert_int_equal(label(std::string(100, 'a')).size(), 63);
  assert_text(label(std::string(62, 'a') + "--b"), std::string(62, 'a'));
}

void an_annotation_is_text(void**) {
  const auto annotation = [](const std::string& extra) {
    return expand("annotations", "<$(JOB_EXTRA)>", {.extra = extra});
  };
  assert_text(annotation("{\"a\": \"b\\c\"}"), "<{\"a\": \"b\\c\"}>");
  assert_text(annotation("a\nb\x7f"
                         "c\x01"),
              "<a b c >");
  assert_text(annotation("\xc3\xa9\xf0\x9f\x9a\x80"), "<\xc3\xa9\xf0\x9f\x9a\x80>");
  assert_text(annotation("a\xff\xc3"), "<a?\?>");
  assert_int_equal(annotation(std::string(1023, 'a') + "\xc3\xa9").size(), 1023 + 2);
  // Users' texts are not expanded again.
  assert_text(annotation("$(JOB_USER)"), "<$(JOB_USER)>");
}

void without_a_job_they_are_empty(void**) {
  const Json expanded = expand_placeholders(metadata_with("labels", "a-$(JOB_ID)"), std::nullopt);
  assert_text(expanded["labels"]["k"].text(), "a");
}

void finds_them(void**) {
  const auto find = [](const char* part, const char* text) {
    return find_placeholders(metadata_with(part, text), "m");
  };
  assert_true(*find("labels", "$(JOB_ID)"));
  assert_true(*find("annotations", "x $(JOB_GRES) y"));
  assert_false(*find("labels", "$(OTHER)"));
  assert_false(*find("labels", "plain"));
  const auto wrong = find("labels", "$(JOB_ID)-$(JOB_PASSWORD)");
  assert_false(wrong.ok());
  assert_contains(
      wrong.error().message(),
      "m.labels.k: Invalid value: \"$(JOB_PASSWORD)\": unknown placeholder; supported placeholders: $(JOB_ID)");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(replaces_each),
      SLURMK8S_TEST(a_label_stays_one),
      SLURMK8S_TEST(an_annotation_is_text),
      SLURMK8S_TEST(without_a_job_they_are_empty),
      SLURMK8S_TEST(finds_them),
  };
  return cmocka_run_group_tests_name("nodeset_job_placeholders", tests, nullptr, nullptr);
}
