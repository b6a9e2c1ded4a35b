// SPDX-License-Identifier: BSD-3-Clause
// Escapes text from outside for HTML, XML and script elements.
#pragma once

#include <string>
#include <string_view>

namespace turnpike::report {

/// Text for an element or a quoted attribute of XML or HTML. Omits control characters and replaces
/// bytes that are not UTF-8 by U+FFFD, so that the result is always well-formed.
std::string escape(std::string_view text);

/// JSON text for a <script> element: the same value, without characters that could end the element.
std::string embeddable(std::string_view json);

}  // namespace turnpike::report
