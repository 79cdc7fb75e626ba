// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the sections, and looks each key up in a table.
#include "convert/sssd.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

using Kind = ConvertNote::Kind;

constexpr bool kLost = true;
constexpr bool kUnneeded = false;
constexpr bool kCarried = false;

constexpr std::string_view kFiles =
    "add the file to a Secret with nslcd.conf, `login.nslcd.existingSecret` (login.md), and name it there";
constexpr std::string_view kAccess = "AllowGroups in `login.extraSshdConfig`, or pam_authz_search in nslcd.conf";
constexpr std::string_view kOfSssd = "of SSSD itself";

constexpr SssdField kFields[] = {
    {"ldap_uri", "uri @", kCarried, "", "`_srv_` is `DNS`"},
    {"ldap_backup_uri", "uri @", kCarried, "", "after the others"},
    {"ldap_search_base", "base @", kCarried, "", "without scope and filter"},
    {"ldap_user_search_base", "base passwd @\nbase shadow @", kCarried, "", "the same"},
    {"ldap_group_search_base", "base group @", kCarried, "", "the same"},
    {"ldap_default_bind_dn", "binddn @", kCarried, "", ""},
    {"ldap_default_authtok", "bindpw @", kCarried, "", ""},
    {"ldap_default_authtok_type", "", kLost, "password", "write the password itself: bindpw"},
    {"ldap_id_use_start_tls", "ssl start_tls", kCarried, "", "when true"},
    {"ldap_tls_reqcert", "tls_reqcert @", kCarried, "", ""},
    {"ldap_tls_cacert", "", kLost, "/etc/ssl/certs/ca-certificates.crt", kFiles},
    {"ldap_tls_cacertdir", "", kLost, "/etc/ssl/certs", kFiles},
    {"ldap_tls_cert", "", kLost, "", kFiles},
    {"ldap_tls_key", "", kLost, "", kFiles},
    {"ldap_search_timeout", "timelimit @", kCarried, "", ""},
    {"ldap_network_timeout", "bind_timelimit @", kCarried, "", ""},
    {"min_id", "nss_min_uid @", kCarried, "", ""},
    {"max_id", "", kLost, "0", "nslcd has no such limit"},
    {"ldap_schema", "", kLost, "rfc2307,rfc2307bis", "see Active Directory in nslcd.conf(5)"},
    {"ldap_user_object_class", "filter passwd (objectClass=@)", kCarried, "", ""},
    {"ldap_user_name", "map passwd uid @\nmap shadow uid @", kCarried, "", ""},
    {"ldap_user_uid_number", "map passwd uidNumber @", kCarried, "", ""},
    {"ldap_user_gid_number", "map passwd gidNumber @", kCarried, "", ""},
    {"ldap_user_gecos", "map passwd gecos @", kCarried, "", ""},
    {"ldap_user_home_directory", "map passwd homeDirectory @", kCarried, "", ""},
    {"ldap_user_shell", "map passwd loginShell @", kCarried, "", ""},
    {"ldap_user_ssh_public_key", "", kLost, "",
     "keys come from ~/.ssh/authorized_keys and `login.users.authorizedKeys`"},
    {"ldap_group_object_class", "filter group (objectClass=@)", kCarried, "", ""},
    {"ldap_group_name", "map group cn @", kCarried, "", ""},
    {"ldap_group_gid_number", "map group gidNumber @", kCarried, "", ""},
    {"ldap_group_member", "", kLost, "member,memberuid", "map group member, or memberUid, in nslcd.conf"},
    {"fallback_homedir", "map passwd homeDirectory \"${homeDirectory:-@}\"", kCarried, "", "`%u` alone; also of [nss]"},
    {"override_homedir", "map passwd homeDirectory \"@\"", kCarried, "", "the same"},
    {"default_shell", "map passwd loginShell \"${loginShell:-@}\"", kCarried, "", "also of [nss]"},
    {"override_shell", "map passwd loginShell \"@\"", kCarried, "", "the same"},
    {"auth_provider", "", kLost, "ldap,none", "passwords are those of the directory"},
    {"access_provider", "", kLost, "permit", kAccess},
    {"ldap_access_filter", "", kLost, "", kAccess},
    {"ldap_access_order", "", kLost, "", kAccess},
    {"simple_allow_users", "", kLost, "", kAccess},
    {"simple_allow_groups", "", kLost, "", kAccess},
    {"ldap_referrals", "", kLost, "true", "referrals no in nslcd.conf"},
    {"id_provider", "", kUnneeded, "", "a domain of another one than ldap is not converted"},
    {"chpass_provider", "", kUnneeded, "", "passwords are not changed on login pods"},
    {"domains", "", kUnneeded, "", "the first is converted"},
    {"filter_users", "", kUnneeded, "", "ids below 1000 are ignored, unless `min_id` says otherwise"},
    {"filter_groups", "", kUnneeded, "", "the same"},
    {"cache_credentials", "", kUnneeded, "", kOfSssd},
    {"config_file_version", "", kUnneeded, "", kOfSssd},
    {"debug_level", "", kUnneeded, "", kOfSssd},
    {"entry_cache_timeout", "", kUnneeded, "", kOfSssd},
    {"enumerate", "", kUnneeded, "", "users are listed for slurmctld's copy of them"},
    {"offline_credentials_expiration", "", kUnneeded, "", kOfSssd},
    {"reconnection_retries", "", kUnneeded, "", kOfSssd},
    {"services", "", kUnneeded, "", kOfSssd},
};

struct Setting {
  std::string_view key;
  std::string_view value;
};
struct Section {
  std::string_view name;
  std::vector<Setting> settings;

  std::optional<std::string_view> find(std::string_view key) const {
    const auto found = std::ranges::find(settings, key, &Setting::key);
    return found == settings.end() ? std::nullopt : std::optional(found->value);
  }
};

constexpr std::string_view kDomain = "domain/";

class SssdConversion {
 public:
  NslcdConf run(std::string_view text) {
    read(text);
    const Section* domain = first_domain();
    if (!domain) {
      note(Kind::lost, "", "no domain of LDAP");
    } else {
      convert(*domain);
    }
    for (const Section& section : sections_) {
      const bool is_other = section.name.starts_with(kDomain) && &section != domain;
      if (is_other) {
        note(Kind::lost, section.name, "one domain of LDAP alone");
      } else {
        leave_out(section, &section == domain);
      }
    }
    return std::move(result_);
  }

 private:
  void note(Kind kind, std::string_view where, std::string_view what) {
    std::string path = "sssd.conf";
    if (!where.empty()) path.append(" [").append(where).append("]");
    result_.notes.push_back({kind, std::move(path), std::string(what)});
  }
  void note(Kind kind, const Section& section, std::string_view key, std::string_view what) {
    note(kind, section.name, std::string(key).append(": ").append(what));
  }

  void read(std::string_view text) {
    for (const std::string_view raw : split(text, '\n')) {
      const std::string_view line = trim(raw);
      const std::size_t equals = line.find('=');
      if (line.empty() || line[0] == '#' || line[0] == ';') continue;
      if (line[0] == '[' && line.back() == ']') {
        sections_.push_back({trim(line.substr(1, line.size() - 2)), {}});
      } else if (sections_.empty() || equals == std::string_view::npos || raw[0] == ' ' || raw[0] == '\t') {
        note(Kind::lost, sections_.empty() ? "" : sections_.back().name, "a line that is no KEY = VALUE");
      } else {
        sections_.back().settings.push_back({trim(line.substr(0, equals)), trim(line.substr(equals + 1))});
      }
    }
  }

  const Section* find(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    return found == sections_.end() ? nullptr : &*found;
  }

  /** The first that [sssd] lists, else the first of the file; of LDAP. */
  const Section* first_domain() const {
    const Section* sssd = find("sssd");
    const std::string_view listed = sssd ? sssd->find("domains").value_or("") : "";
    const auto is_ldap = [](const Section* section) { return section && section->find("id_provider") == "ldap"; };
    for (const std::string_view name : split(listed, ',')) {
      const Section* section = find(std::string(kDomain).append(trim(name)));
      if (is_ldap(section)) return section;
    }
    const auto found = std::ranges::find_if(sections_, [&](const Section& section) {
      return section.name.starts_with(kDomain) && listed.empty() && is_ldap(&section);
    });
    return found == sections_.end() ? nullptr : &*found;
  }

  void convert(const Section& domain) {
    for (const SssdField& row : kFields) {
      if (row.lines.empty()) continue;
      for (const Section* section : {&domain, find("nss")}) {
        const auto value = section ? section->find(row.key) : std::nullopt;
        if (!value || value->empty()) continue;
        if (const auto text = nslcd_value(domain, *section, row, *value)) add(row.lines, *text);
        break;
      }
    }
    const std::string_view uri = domain.find("ldap_uri").value_or("");
    if (uri.empty()) note(Kind::missing, domain.name, "no ldap_uri: write `uri DNS` where DNS has SRV records of it");
    if (uri.starts_with("ldap://") && to_lower(domain.find("ldap_id_use_start_tls").value_or("")) != "true") {
      note(Kind::missing, domain, "ldap_uri",
           "SSSD sends passwords by TLS alone, nslcd does not: add `ssl start_tls`, or let keys be the only way in");
    }
  }

  /** The text for @; none when there is no line, for a reason that is noted where it is one. */
  std::optional<std::string> nslcd_value(const Section& domain, const Section& section, const SssdField& row,
                                         std::string_view value) {
    const bool has_place = row.lines.find('@') != std::string_view::npos;
    if (!has_place) return to_lower(value) == "true" ? std::optional("") : std::nullopt;
    if (row.lines.starts_with("uri")) return uris(value);
    if (row.lines.starts_with("base") && value.find('?') != std::string_view::npos) {
      note(Kind::lost, section, row.key, "with a scope or a filter: base and filter in nslcd.conf");
      return std::nullopt;
    }
    if (row.lines.find('"') == std::string_view::npos) return std::string(value);
    return expression(domain, section, row, value);
  }

  static std::string uris(std::string_view list) {
    std::string text;
    for (const std::string_view one : split(list, ',')) {
      const std::string_view uri = trim(one);
      if (uri.empty()) continue;
      text.append(text.empty() ? "" : " ").append(uri == "_srv_" ? "DNS" : uri);
    }
    return text;
  }

  /** In an expression of nslcd $uid is the attribute; the user's name may be another one. */
  std::optional<std::string> expression(const Section& domain, const Section& section, const SssdField& row,
                                        std::string_view value) {
    std::string text(value);
    const std::string name = "$" + std::string(domain.find("ldap_user_name").value_or("uid"));
    const bool is_plain = value.find_first_of("\"$\\}") == std::string_view::npos;
    for (std::size_t at = 0; (at = text.find("%u", at)) != std::string::npos; at += name.size()) {
      text.replace(at, 2, name);
    }
    if (is_plain && text.find('%') == std::string::npos) return text;
    note(Kind::lost, section, row.key, std::string(value) + ": an expression of nslcd.conf(5) may say it");
    return std::nullopt;
  }

  void add(std::string_view lines, std::string_view value) {
    for (const char c : lines) {
      if (c == '@') {
        result_.text += value;
      } else {
        result_.text += c;
      }
    }
    result_.text += '\n';
  }

  /** Notes for the keys that nslcd.conf does not have. */
  void leave_out(const Section& section, bool is_domain) {
    for (const auto& [key, value] : section.settings) {
      const auto row = std::ranges::find(kFields, key, &SssdField::key);
      if (row == std::end(kFields)) {
        note(Kind::lost, section, key, "unknown: no key that slurm-k8s knows");
      } else if (!row->lines.empty()) {
        const bool is_read = is_domain || section.name == "nss";
        if (!is_read) note(Kind::lost, section, key, "without a domain");
      } else if (!row->is_lost) {
        note(Kind::unneeded, section, key, row->note);
      } else {
        const auto harmless = split(row->harmless, ',');
        const bool is_harmless = value.empty() || std::ranges::find(harmless, to_lower(value)) != harmless.end();
        const std::string shown = std::string(value) + ": ";
        if (is_harmless) note(Kind::unneeded, section, key, shown + "as without it");
        if (!is_harmless) note(Kind::lost, section, key, shown + std::string(row->note));
      }
    }
  }

  std::vector<Section> sections_;
  NslcdConf result_;
};

}  // namespace

std::span<const SssdField> sssd_fields() { return kFields; }

NslcdConf convert_sssd(std::string_view text) { return SssdConversion().run(text); }

}  // namespace slurmk8s
