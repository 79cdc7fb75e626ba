// SPDX-License-Identifier: GPL-2.0-or-later
// What the tests of faults share: two sessions with the fake API server (faults.cc), what it is told to do
// (fake_apiserver/faults.py), and what it is asked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/strings.hpp"
#include "contract/session.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s::contract {

extern std::unique_ptr<Session> fate;     ///< plays fate, and looks at what the server has: meets no fault
extern std::unique_ptr<Session> session;  ///< the one under test; another one for each test

/** A request to the fake about itself; its answer. */
Json tell(const std::string& what, const Json& body, const char* method = "POST");
/** A fault that `session` and others meet, as JSON. */
void fault(const char* text);
/** Only for `session`: a request of the last test may still be on its way to the server. */
void fault_for_session(const char* text);
std::int64_t count(const char* what);

void make_pod(const std::string& name);
std::string list_version();
http::Request get_pods(std::chrono::milliseconds timeout = 30s);

/** Files that with_fake.sh has made. */
std::string in_folder(const char* file);
std::string content(const char* file);
void write_file(const std::string& path, const std::string& text);

kube::Config config();
/** What a list of pods says to a client of this configuration. */
Result<Json> list_as(const kube::Config& other);

int begin_fault_test(void**);
int end_fault_test(void**);
#define SLURMK8S_FAULT_TEST(fn) SLURMK8S_TEST_WITH(fn, begin_fault_test, end_fault_test)

std::vector<CMUnitTest> connection_faults();
std::vector<CMUnitTest> watch_faults();
std::vector<CMUnitTest> engine_faults();

}  // namespace slurmk8s::contract
