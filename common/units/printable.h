// SPDX-License-Identifier: BSD-3-Clause
// Text of unknown origin, made fit for a message on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace turnpike {

/// Bytes of the UTF-8 character that `text` begins with (RFC 3629); 0: it begins with none.
size_t utf8_length(std::string_view text);

/// Whether the character of utf8_length() bytes that `text` begins with is a control character: C0,
/// DEL or C1.
bool is_control(std::string_view text);

/// `text` with control characters and bytes that are not UTF-8 written as \xNN. Beyond `most` bytes
/// of it, "..." stands for the rest.
std::string printable(std::string_view text, size_t most);

}  // namespace turnpike
