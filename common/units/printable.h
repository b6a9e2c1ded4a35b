// SPDX-License-Identifier: BSD-3-Clause
// Makes untrusted text fit for a message on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace turnpike {

/// Bytes of the UTF-8 character at the beginning of `text` (RFC 3629); 0: none.
size_t utf8_length(std::string_view text);

/// Whether the character at the beginning of `text`, of utf8_length() bytes, is a control
/// character: C0, DEL or C1.
bool is_control(std::string_view text);

/// `text` with control characters and bytes that are not UTF-8 as \xNN. Text beyond `most` bytes
/// becomes "...".
std::string printable(std::string_view text, size_t most);

}  // namespace turnpike
