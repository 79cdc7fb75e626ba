// SPDX-License-Identifier: GPL-2.0-or-later
// VariantIndex: a VariantCatalog, arranged for the questions that slurmctld's plugins ask under its locks. Immutable;
// any thread.
//
// A question costs at most kMaxQuestionWork steps beside those of parse_constraint(), however many NodeSets, variants,
// users and records there are. Where that isn't enough the answer is the one that lets a job through: slurmctld has the
// last word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "nodeset/constraint.hpp"
#include "nodeset/variants.hpp"

namespace slurmk8s {

/** Most looks into a list of the index for one question. */
inline constexpr std::size_t kMaxQuestionWork = 8192;

/** The user of a job's constraint. */
struct Applicant {
  std::uint32_t uid = 0;
  std::string account;       ///< that the job names, lower case; empty: the user's default one
  bool is_operator = false;  ///< root or SlurmUser: may ask for everything
};

/** What a constraint comes to. */
struct ConstraintVerdict {
  bool refused = false;
  std::string settled;   ///< the constraint that slurmctld gets instead; empty: as it is
  std::string text;      ///< a sentence for the user: why it is refused; else what there is, or empty
  std::size_t work = 0;  ///< steps of parse_constraint() and of the index
};

class VariantIndex {
 public:
  VariantIndex() = default;
  /** Costs what the catalog is large: not under Slurm's locks. */
  explicit VariantIndex(const VariantCatalog& catalog);

  /** Whether a NodeSet has a variant of this name. */
  bool is_variant(std::string_view feature) const;

  /**
   * What becomes of a job's constraint. `applicant` null: any user, whose own constraint was judged before; nothing is
   * settled then.
   *
   * Settled: a constraint that has alternatives, and a variant among them, becomes the first alternative that a NodeSet
   * can fulfil and that the applicant may have; else the first one that a NodeSet can fulfil, else the first. slurmctld
   * can't be left to choose: with a '|' it takes nodes that are up for good whatever variant they run
   * (_valid_features() in node_scheduler.c, 22.05 to 26.05, looks at active features within parentheses only, and there
   * not at the first).
   *
   * Refused: two variants of one node; alternatives that weren't settled; a count, which needs nodes of different
   * variants; a variant that the applicant may not have; one of parse_constraint()'s limits; and a constraint that is
   * wrong and has a variant in it, which Slurm would multiply out without a limit. Another wrong one is fine here:
   * slurmctld says so itself.
   */
  ConstraintVerdict judge(std::string_view constraint, const Applicant* applicant) const;

  /**
   * The variant that the nodes of a job get: of the first alternative that all of them can fulfil; empty: none. `nodes`
   * is a hostlist. Without a value: it depends on the nodes, and `nodes` is null.
   */
  std::optional<std::string> choose(std::string_view constraint, const char* nodes) const;

 private:
  class Question;

  struct Access {
    bool open = false;
    std::unordered_set<std::uint32_t> uids;
    std::set<std::string> accounts;
    bool lets_in(const Applicant* applicant) const;
  };
  struct Feature {
    std::vector<std::uint32_t> groups;  ///< of nodes, rising: NodeSets, then records
    std::optional<Access> variant;      ///< of all NodeSets together, when it is one
  };
  struct Group {
    std::string name;
    std::string features;  ///< beside the name, for users
    std::map<std::string, Access> variants;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  Access resolve(const VariantAccess& access, const VariantCatalog& catalog) const;
  void add_nodeset(const std::string& name, const VariantCatalog::Entry& entry, const VariantCatalog& catalog);
  const Feature* find(std::string_view feature) const;
  std::string describe(const Applicant& applicant) const;
  std::optional<std::uint32_t> owner_of(std::string_view node) const;
  std::vector<std::optional<std::uint32_t>> owners_of(std::string_view hostlist) const;

  std::unordered_map<std::string, Feature, Hash, std::equal_to<>> features_;
  std::vector<Group> nodesets_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  ///< of NodeSets, in `nodesets_`
};

}  // namespace slurmk8s
