// SPDX-License-Identifier: GPL-2.0-or-later
// What every Client does, as tests: of an API server (suite.cc) and FakeClient (fake_client.cc).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contract/session.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s::contract {

/** What is tested: there before a test runs, with the namespaces name_space() and default. */
extern std::unique_ptr<Session> session;

/** Creates a pod and returns it as the server has it. */
Json made(const Json& object);
/** The resourceVersion of a list of pods. */
std::string list_version();

/** Fixture: deletes all pods of the namespace. */
int clear(void**);
#define CONTRACT_TEST(fn) SLURMK8S_TEST_WITH(fn, ::slurmk8s::contract::clear, ::slurmk8s::contract::clear)

/** All of them. */
std::vector<CMUnitTest> client_tests();
/** Those of client_tests() about subresources of pods. */
std::vector<CMUnitTest> subresource_tests();

}  // namespace slurmk8s::contract
