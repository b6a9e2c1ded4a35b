// SPDX-License-Identifier: BSD-3-Clause
// Reads all that a run depends on, and estimates the time that it takes.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "lab/batch/case.h"

namespace turnpike::lab {

struct CaseContent {
  /// The topology, all files that it reads, the seed and the counted law: runs of the same text
  /// have the same results.
  std::string text;
  /// An estimate of the time that the run takes, for comparisons: bits that links with a law can
  /// carry in it.
  double work = 0;
};

/// The error: a mistake in the file or the settings, or a file that cannot be read.
tl::expected<CaseContent, std::string> content_of(const Case& run);

}  // namespace turnpike::lab
