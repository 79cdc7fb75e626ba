// SPDX-License-Identifier: GPL-2.0-or-later
// YAML on libyaml's events. Only what a configuration file needs: see the header for what is refused.
#include "json/yaml.hpp"

#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr int kMaxDepth = 64;

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event_); }
  yaml_event_t* fill() {
    yaml_event_delete(&event_);
    return &event_;
  }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_{};
};

Error error_at(const yaml_mark_t& mark, const std::string& what) {
  return Error(Errc::invalid, format("YAML: line %zu, column %zu: %s", mark.line + 1, mark.column + 1, what.c_str()));
}

std::string_view view(const yaml_char_t* text, std::size_t length) {
  return {reinterpret_cast<const char*>(text), length};
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::size_t count_digits(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789");
  return end == std::string_view::npos ? text.size() : end;
}

/** What a plain scalar looks like by the core schema; a number with leading zeros is text to us. */
enum class Look { text, integer, real };

Look look_of(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t whole = count_digits(text);
  if (whole > 1 && text[0] == '0') return Look::text;
  text.remove_prefix(whole);
  if (text.empty()) return whole > 0 ? Look::integer : Look::text;
  std::size_t fraction = 0;
  if (text.front() == '.') {
    text.remove_prefix(1);
    fraction = count_digits(text);
    text.remove_prefix(fraction);
  }
  if (whole + fraction == 0) return Look::text;
  if (text.empty()) return Look::real;
  if (text.front() != 'e' && text.front() != 'E') return Look::text;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && count_digits(text) == text.size() ? Look::real : Look::text;
}

/** The value of 0x1F or 0o17, which the core schema has too; empty when it is no such number. */
std::optional<std::int64_t> based_integer(std::string_view text) {
  if (text.size() < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'o') || text[2] == '-') return std::nullopt;
  const int base = text[1] == 'x' ? 16 : 8;
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, base);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

/** A plain scalar; empty when it is a number that is out of range. */
std::optional<Json> plain_scalar(std::string_view text) {
  if (text.empty() || is_one_of(text, {"~", "null", "Null", "NULL"})) return Json();
  if (is_one_of(text, {"true", "True", "TRUE"})) return Json::boolean(true);
  if (is_one_of(text, {"false", "False", "FALSE"})) return Json::boolean(false);
  if (const auto value = based_integer(text)) return Json::integer(*value);
  const Look look = look_of(text);
  if (look == Look::text) return Json::string(text);
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  if (look == Look::integer) {
    const auto value = parse_int(digits);
    if (!value) return std::nullopt;
    return Json::integer(*value);
  }
  double value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return Json::number(value);
}

class Reader {
 public:
  explicit Reader(std::string_view text) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { yaml_parser_delete(&parser_); }

  /** All documents; more than `max` are an error. */
  Result<std::vector<Json>> run(std::size_t max) {
    std::vector<Json> documents;
    Event event;
    SLURMK8S_CHECK(next(event));  // the start of the stream
    for (;;) {
      SLURMK8S_CHECK(next(event));
      if (event->type == YAML_STREAM_END_EVENT) return documents;
      if (documents.size() == max) return error_at(event->start_mark, "second document");
      SLURMK8S_CHECK(next(event));  // behind the start of the document
      documents.push_back(SLURMK8S_TRY(node(event, 0)));
      SLURMK8S_CHECK(next(event));  // the end of the document
    }
  }

 private:
  Status next(Event& event) {
    if (yaml_parser_parse(&parser_, event.fill()) != 0) return {};
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    // What the reader refuses (bytes that are no UTF-8) has an offset, no mark.
    const bool has_mark = parser_.error != YAML_READER_ERROR;
    return error_at(has_mark ? parser_.problem_mark : parser_.mark,
                    parser_.problem != nullptr ? parser_.problem : "malformed");
  }

  /** The value that begins with `event`. */
  Result<Json> node(Event& event, int depth) {
    const auto mark = event->start_mark;
    switch (event->type) {
      case YAML_SCALAR_EVENT: return scalar(event);
      case YAML_SEQUENCE_START_EVENT:
        SLURMK8S_CHECK(refuse_decoration(mark, event->data.sequence_start.anchor, event->data.sequence_start.tag));
        return depth < kMaxDepth ? sequence(depth + 1) : too_deep(mark);
      case YAML_MAPPING_START_EVENT:
        SLURMK8S_CHECK(refuse_decoration(mark, event->data.mapping_start.anchor, event->data.mapping_start.tag));
        return depth < kMaxDepth ? mapping(depth + 1) : too_deep(mark);
      case YAML_ALIAS_EVENT: return error_at(mark, "alias");
      default: return error_at(mark, "no value where one must be");
    }
  }

  static Result<Json> too_deep(const yaml_mark_t& mark) {
    return error_at(mark, format("more than %d levels", kMaxDepth));
  }

  static Status refuse_decoration(const yaml_mark_t& mark, const yaml_char_t* anchor, const yaml_char_t* tag) {
    if (anchor != nullptr) return error_at(mark, "anchor");
    if (tag != nullptr) return error_at(mark, "tag");
    return {};
  }

  static Result<Json> scalar(const Event& event) {
    const auto& data = event->data.scalar;
    SLURMK8S_CHECK(refuse_decoration(event->start_mark, data.anchor, data.tag));
    const auto text = view(data.value, data.length);
    if (data.style != YAML_PLAIN_SCALAR_STYLE) return Json::string(text);
    auto value = plain_scalar(text);
    if (!value) return error_at(event->start_mark, "number out of range");
    return *std::move(value);
  }

  Result<Json> sequence(int depth) {
    Json result = Json::array();
    Event event;
    for (;;) {
      SLURMK8S_CHECK(next(event));
      if (event->type == YAML_SEQUENCE_END_EVENT) return result;
      result.push(SLURMK8S_TRY(node(event, depth)));
    }
  }

  Result<Json> mapping(int depth) {
    Json result = Json::object();
    Event event;
    for (;;) {
      SLURMK8S_CHECK(next(event));
      if (event->type == YAML_MAPPING_END_EVENT) return result;
      const std::string key = SLURMK8S_TRY(key_of(event, result));
      SLURMK8S_CHECK(next(event));
      result.set(key, SLURMK8S_TRY(node(event, depth)));
    }
  }

  static Result<std::string> key_of(const Event& event, const Json& mapping) {
    const auto mark = event->start_mark;
    if (event->type != YAML_SCALAR_EVENT) return error_at(mark, "key that is no scalar");
    const auto& data = event->data.scalar;
    SLURMK8S_CHECK(refuse_decoration(mark, data.anchor, data.tag));
    const std::string key(view(data.value, data.length));
    if (key.find('\0') != std::string::npos) return error_at(mark, "NUL in a key");
    if (mapping.has(key)) return error_at(mark, "duplicate key \"" + key + "\"");
    return key;
  }

  yaml_parser_t parser_{};
};

}  // namespace

Result<Json> parse_yaml(std::string_view text) {
  std::vector<Json> documents = SLURMK8S_TRY(Reader(text).run(1));
  return documents.empty() ? Json() : std::move(documents.front());
}

Result<std::vector<Json>> parse_yaml_documents(std::string_view text) {
  return Reader(text).run(std::numeric_limits<std::size_t>::max());
}

}  // namespace slurmk8s
