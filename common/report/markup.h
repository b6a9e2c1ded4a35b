// SPDX-License-Identifier: BSD-3-Clause
// Text from outside, made safe to stand in a page.
#pragma once

#include <string>
#include <string_view>

namespace turnpike::report {

/// Text for an element or a quoted attribute of XML or HTML. Control characters are left out and
/// bytes that are not UTF-8 become U+FFFD, so the result is always well-formed.
std::string escape(std::string_view text);

/// JSON text for a <script> element: the same value, without any character that ends an element.
std::string embeddable(std::string_view json);

}  // namespace turnpike::report
