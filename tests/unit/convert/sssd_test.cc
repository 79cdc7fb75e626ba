// SPDX-License-Identifier: GPL-2.0-or-later
// sssd.conf as nslcd.conf; docs/admin/from-slinky.md has the same table.
#include "convert/sssd.hpp"

#include <cstdio>

#include "support/cmocka.hpp"
#include "support/source_file.hpp"

namespace slurmk8s {
namespace {

std::string notes_of(const NslcdConf& conf) {
  std::string text;
  for (const ConvertNote& note : conf.notes) {
    text += note.where + ": " + to_string(note.kind) + ": " + note.what + "\n";
  }
  return text;
}

constexpr const char* kDomain = "[domain/A]\nid_provider=ldap\nldap_uri=ldaps://l/\n";
constexpr const char* kOfDomain =
    "sssd.conf [domain/A]: not needed: id_provider: a domain of another one than ldap is "
    "not converted\n";

// A key beside those of kDomain.
void single_keys(void**) {
  const struct {
    const char* sssd;
    const char* nslcd;
    const char* note;
  } cases[] = {
      {"", "", ""},
      {"ldap_search_base = dc=a, dc=b", "base dc=a, dc=b\n", ""},
      {"ldap_search_base = dc=a?subtree?(x=y)", "", "not converted: ldap_search_base: with a scope or a filter"},
      {"ldap_user_search_base=ou=u", "base passwd ou=u\nbase shadow ou=u\n", ""},
      {"ldap_group_search_base=ou=g", "base group ou=g\n", ""},
      {"ldap_backup_uri = ldaps://m/, _srv_", "uri ldaps://m/ DNS\n", ""},
      {"ldap_default_bind_dn = cn=r\nldap_default_authtok = s=1", "binddn cn=r\nbindpw s=1\n", ""},
      {"ldap_default_authtok_type = password", "", "not needed: ldap_default_authtok_type: password: as without it"},
      {"ldap_default_authtok_type = obfuscated_password", "", "not converted: ldap_default_authtok_type: obfuscated"},
      {"ldap_id_use_start_tls = True", "ssl start_tls\n", ""},
      {"ldap_id_use_start_tls = false", "", ""},
      {"ldap_tls_reqcert = demand", "tls_reqcert demand\n", ""},
      {"ldap_tls_cacert = /etc/ssl/certs/ca-certificates.crt", "", "not needed: ldap_tls_cacert: /etc"},
      {"ldap_tls_cacert = /etc/sssd/ca.crt", "",
       "not converted: ldap_tls_cacert: /etc/sssd/ca.crt: add the file to a Secret with nslcd.conf"},
      {"min_id = 5000", "nss_min_uid 5000\n", ""},
      {"ldap_schema = rfc2307bis", "", "not needed: ldap_schema: rfc2307bis: as without it"},
      {"ldap_schema = AD", "", "not converted: ldap_schema: AD: see Active Directory"},
      {"ldap_user_object_class = user", "filter passwd (objectClass=user)\n", ""},
      {"ldap_user_name = cn", "map passwd uid cn\nmap shadow uid cn\n", ""},
      {"ldap_group_member = memberUid", "", "not needed: ldap_group_member"},
      {"override_homedir = /home/%u", "map passwd homeDirectory \"/home/$uid\"\n", ""},
      {"override_homedir = /home/%d/%u", "", "not converted: override_homedir: /home/%d/%u: an expression"},
      {"override_shell = \"x", "", "not converted: override_shell: \"x: an expression"},
      {"fallback_homedir = /h/%u\nldap_user_name = cn",
       "map passwd uid cn\nmap shadow uid cn\nmap passwd homeDirectory \"${homeDirectory:-/h/$cn}\"\n", ""},
      {"default_shell = /bin/bash", "map passwd loginShell \"${loginShell:-/bin/bash}\"\n", ""},
      {"auth_provider = ldap", "", "not needed: auth_provider: ldap: as without it"},
      {"auth_provider = krb5", "", "not converted: auth_provider: krb5: passwords are those of the directory"},
      {"access_provider = simple\nsimple_allow_groups = a", "", "not converted: simple_allow_groups: a: AllowGroups"},
      {"cache_credentials = true", "", "not needed: cache_credentials: of SSSD itself"},
      {"tomorrow = 1", "", "not converted: tomorrow: unknown"},
      {"; remark\n# remark\n\n", "", ""},
      {"ldap_search_base = a\n  b", "base a\n", "not converted: a line that is no KEY = VALUE"},
      {"ldap_search_base =", "", ""},
  };
  for (const auto& c : cases) {
    print_message("%s\n", c.sssd);
    const NslcdConf conf = convert_sssd(std::string(kDomain) + c.sssd);
    const std::string uri = "uri ldaps://l/\n";
    assert_text(conf.text, uri + c.nslcd);
    assert_contains(notes_of(conf), c.note);
    if (*c.note == '\0') assert_text(notes_of(conf), kOfDomain);
  }
}

void sections(void**) {
  const struct {
    const char* sssd;
    const char* nslcd;
    const char* note;
  } cases[] = {
      {"", "", "sssd.conf: not converted: no domain of LDAP"},
      {"a=b", "", "sssd.conf: not converted: a line"},
      {"[domain/A]\nid_provider=ad", "", "sssd.conf [domain/A]: not converted: one domain of LDAP alone"},
      {"[domain/A]\nid_provider=ad\n[domain/B]\nid_provider=ldap\nldap_uri=ldaps://b/", "uri ldaps://b/\n",
       "sssd.conf [domain/A]: not converted: one domain"},
      {"[sssd]\ndomains = B, A\n[domain/A]\nid_provider=ldap\nldap_uri=ldaps://a/\n"
       "[domain/B]\nid_provider=ldap\nldap_uri=ldaps://b/",
       "uri ldaps://b/\n", "sssd.conf [domain/A]: not converted: one domain"},
      {"[sssd]\ndomains = C\n[domain/A]\nid_provider=ldap", "", "not converted: no domain of LDAP"},
      {"[nss]\noverride_shell=/bin/sh\n[domain/A]\nid_provider=ldap\nldap_uri=ldaps://a/",
       "uri ldaps://a/\nmap passwd loginShell \"/bin/sh\"\n", ""},
      {"[domain/A]\nid_provider=ldap\n[pam]\nldap_uri=ldap://x/", "",
       "sssd.conf [pam]: not converted: ldap_uri: without"},
      {"[domain/A]\nid_provider=ldap", "", "sssd.conf [domain/A]: to be completed: no ldap_uri"},
      {"[domain/A]\nid_provider=ldap\nldap_uri=ldap://a/", "uri ldap://a/\n",
       "sssd.conf [domain/A]: to be completed: ldap_uri: SSSD sends passwords by TLS alone"},
      {"[domain/A]\nid_provider=ldap\nldap_uri=ldap://a/, ldap://b/\nldap_id_use_start_tls=TRUE",
       "uri ldap://a/ ldap://b/\nssl start_tls\n", ""},
  };
  for (const auto& c : cases) {
    print_message("%s\n", c.sssd);
    const NslcdConf conf = convert_sssd(c.sssd);
    assert_text(conf.text, c.nslcd);
    assert_contains(notes_of(conf), c.note);
    if (*c.note == '\0') assert_text(notes_of(conf), kOfDomain);
  }
}

void no_note_has_a_password(void**) {
  for (const char* section : {"[domain/A]\nid_provider=ldap\n", "[domain/B]\nid_provider=ad\n", "[pam]\n"}) {
    const std::string notes = notes_of(convert_sssd(std::string(section) + "ldap_default_authtok = secret-1\n"));
    assert_true(notes.find("secret-1") == std::string::npos);
  }
}

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

void the_documentation_has_the_table(void**) {
  std::string table = "| of `sssd.conf` | of nslcd.conf | |\n|---|---|---|\n";
  for (const SssdField& row : sssd_fields()) {
    std::string becomes = !row.lines.empty() ? "" : row.is_lost ? "**not converted**" : "not needed";
    for (std::size_t start = 0; start < row.lines.size();) {
      const std::size_t end = std::min(row.lines.find('\n', start), row.lines.size());
      becomes += (start ? ", " : "") + code(row.lines.substr(start, end - start));
      start = end + 1;
    }
    if (!row.harmless.empty()) becomes += " (but " + code(row.harmless) + " loses nothing)";
    table += "| " + code(row.key) + " | " + becomes + " | " + std::string(row.note) + " |\n";
  }
  const bool has_table = read_source("docs/admin/from-slinky.md").find(table) != std::string::npos;
  if (!has_table) std::fprintf(stderr, "docs/admin/from-slinky.md must have:\n%s", table.c_str());
  assert_true(has_table);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(single_keys),
      SLURMK8S_TEST(sections),
      SLURMK8S_TEST(no_note_has_a_password),
      SLURMK8S_TEST(the_documentation_has_the_table),
  };
  return cmocka_run_group_tests_name("convert_sssd", tests, nullptr, nullptr);
}
