// SPDX-License-Identifier: GPL-2.0-or-later
// YAML on libyaml's emitter.
#include "convert/yaml_writer.hpp"

#include <yaml.h>

#include <algorithm>
#include <initializer_list>
#include <new>

namespace slurmk8s {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/** True of a text that a reader of YAML 1.1 or 1.2 takes for just this text without quotes, on one line. */
bool is_plain(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view kInside = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%()* ";
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits > 0) {  // a quantity: 32Gi, 500m
    return is_one_of(text.substr(digits), {"m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"});
  }
  if (text.empty() || text.find_first_not_of(kInside) != std::string_view::npos) return false;
  if (text.front() != '/' && kLetters.find(text.front()) == std::string_view::npos) return false;
  if (text.back() == ':' || text.back() == ' ' || text.find(": ") != std::string_view::npos) return false;
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return !is_one_of(lower, {"y", "yes", "n", "no", "on", "off", "true", "false", "null"});
}

class Writer {
 public:
  Writer() {
    if (yaml_emitter_initialize(&emitter_) == 0) throw std::bad_alloc();
    yaml_emitter_set_output(&emitter_, &Writer::take, this);
    yaml_emitter_set_unicode(&emitter_, 1);
    yaml_emitter_set_indent(&emitter_, 2);
    yaml_emitter_set_width(&emitter_, -1);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { yaml_emitter_delete(&emitter_); }

  Result<std::string> run(const Json& value) {
    yaml_event_t event;
    SLURMK8S_CHECK(emit(event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING)));
    SLURMK8S_CHECK(emit(event, yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1)));
    SLURMK8S_CHECK(node(value));
    SLURMK8S_CHECK(emit(event, yaml_document_end_event_initialize(&event, 1)));
    SLURMK8S_CHECK(emit(event, yaml_stream_end_event_initialize(&event)));
    return std::move(text_);
  }

 private:
  static int take(void* self, unsigned char* data, std::size_t size) {
    static_cast<Writer*>(self)->text_.append(reinterpret_cast<const char*>(data), size);
    return 1;
  }

  /** Hands over an event that libyaml has made, or refused to make (0). */
  Status emit(yaml_event_t& event, int made) {
    if (made == 0) return Error(Errc::invalid, "YAML: a text that is no UTF-8");
    if (yaml_emitter_emit(&emitter_, &event) != 0) return {};
    if (emitter_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    return Error(Errc::internal,
                 std::string("YAML: ") + (emitter_.problem != nullptr ? emitter_.problem : "not written"));
  }

  Status scalar(std::string_view text, yaml_scalar_style_t style) {
    yaml_event_t event;
    const auto* bytes = reinterpret_cast<const yaml_char_t*>(text.data());
    return emit(event, yaml_scalar_event_initialize(&event, nullptr, nullptr, bytes, static_cast<int>(text.size()), 1,
                                                    1, style));
  }

  Status string(std::string_view text) {
    if (is_plain(text)) return scalar(text, YAML_PLAIN_SCALAR_STYLE);
    // libyaml itself takes quotes where a block can't hold the text. Its blocks don't keep other blank ends than one.
    const bool lines = text.find('\n') != std::string_view::npos &&
                       text.find_first_of("\r\t") == std::string_view::npos && text.front() != ' ' &&
                       text.front() != '\n' && !text.ends_with("\n\n");
    return scalar(text, lines ? YAML_LITERAL_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
  }

  Status node(const Json& value) {
    if (value.is_string()) return string(value.text());
    if (value.is_object()) return mapping(value);
    if (value.is_array()) return sequence(value);
    return scalar(value.dump(), YAML_PLAIN_SCALAR_STYLE);
  }

  Status mapping(const Json& value) {
    yaml_event_t event;
    const auto style = value.size() == 0 ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE;
    SLURMK8S_CHECK(emit(event, yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1, style)));
    Status status;
    value.each([&](std::string_view key, const Json& member) {
      if (status.ok()) status = scalar(key, is_plain(key) ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
      if (status.ok()) status = node(member);
    });
    SLURMK8S_CHECK(status);
    return emit(event, yaml_mapping_end_event_initialize(&event));
  }

  Status sequence(const Json& value) {
    yaml_event_t event;
    const auto style = value.size() == 0 ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE;
    SLURMK8S_CHECK(emit(event, yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1, style)));
    for (std::size_t i = 0; i < value.size(); i++) SLURMK8S_CHECK(node(value[i]));
    return emit(event, yaml_sequence_end_event_initialize(&event));
  }

  yaml_emitter_t emitter_{};
  std::string text_;
};

}  // namespace

Result<std::string> dump_yaml(const Json& value) { return Writer().run(value); }

}  // namespace slurmk8s
