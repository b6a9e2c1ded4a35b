// SPDX-License-Identifier: BSD-3-Clause
// Names of the header's kinds and errors.
#include "common/wire/turnpike_header.h"

namespace turnpike::wire {

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kSyn:
      return "SYN";
    case Kind::kSynAck:
      return "SYN-ACK";
    case Kind::kData:
      return "DATA";
    case Kind::kAck:
      return "ACK";
    case Kind::kFin:
      return "FIN";
    case Kind::kFinAck:
      return "FIN-ACK";
    case Kind::kReset:
      return "RESET";
  }
  return "unknown";
}

std::string_view error_name(HeaderError error) {
  switch (error) {
    case HeaderError::kNone:
      return "none";
    case HeaderError::kTruncated:
      return "truncated";
    case HeaderError::kVersion:
      return "version";
    case HeaderError::kKind:
      return "kind";
    case HeaderError::kLength:
      return "length";
  }
  return "unknown";
}

}  // namespace turnpike::wire
