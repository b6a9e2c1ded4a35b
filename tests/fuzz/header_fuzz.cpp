// SPDX-License-Identifier: BSD-3-Clause
// The wire codecs over any bytes: they read no byte outside of the input, accepted headers keep the
// invariants, and encoding a decoded header restores it.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "common/protocols/fcp/header.h"
#include "common/wire/layers.h"
#include "common/wire/turnpike_header.h"

namespace {

using namespace turnpike;

void require(bool holds) {
  if (!holds) std::abort();
}

void congestion(const uint8_t* data) {
  const fcp::Header h = fcp::load(data);
  uint8_t again[fcp::kHeaderSize];
  fcp::store(h, again);
  require(std::memcmp(again, data, sizeof again) == 0);
  if (!fcp::credible(h)) return;
  // Accepted fields are safe to compute with: sums stay finite and never fall below the least
  // price.
  require(h.price >= 0 && h.balance >= 0 && h.exchange > 0);
  const double path = fcp::add_prices(h.price, h.balance);
  require(path >= kMinPrice.count() && path <= 2.0 * fcp::kMaxPrice);
}

void header(std::span<const uint8_t> data) {
  wire::Header h;
  if (wire::decode(data, h) != wire::HeaderError::kNone) return;
  require(h.length <= data.size() && h.ranges <= wire::kMaxRanges);
  require(h.length >= wire::header_length(0, h.ranges) && h.length <= wire::kMaxHeaderLength);

  std::vector<uint8_t> again(data.begin(), data.begin() + h.length);
  wire::encode(h, again.data());
  for (size_t i = 0; i < h.ranges; ++i) {
    wire::store_range(h, again.data(), i, wire::load_range(h, data.data(), i));
  }
  require(std::memcmp(again.data(), data.data(), h.length) == 0);

  if (h.length >= wire::header_length(fcp::kHeaderSize, h.ranges)) {
    congestion(data.data() + wire::kHeaderSize);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of exactly this size, so that the sanitizer reports any read beyond it.
  const auto copy = std::make_unique<uint8_t[]>(size);
  if (size > 0) std::memcpy(copy.get(), data, size);
  const std::span<const uint8_t> bytes(copy.get(), size);

  header(bytes);
  wire::UdpFrame at;
  if (wire::locate_udp(bytes, at) == wire::FrameError::kNone) {
    require(size_t{at.payload} + at.payload_size <= size);
    wire::verify_checksums(bytes, at);
    header(bytes.subspan(at.payload, at.payload_size));
  }
  return 0;
}
