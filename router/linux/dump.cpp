// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/dump.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>

namespace turnpike::router {
namespace {

struct Request {
  uint16_t type;
  size_t header;  // B of the family header, whose first byte is the family
  uint8_t family;
};

Request request_of(DumpKind kind) {
  switch (kind) {
    case DumpKind::kLinks:
      return {RTM_GETLINK, sizeof(ifinfomsg), AF_UNSPEC};
    case DumpKind::kAddresses:
      return {RTM_GETADDR, sizeof(ifaddrmsg), AF_UNSPEC};
    case DumpKind::kNexthops:
      return {RTM_GETNEXTHOP, sizeof(nhmsg), AF_UNSPEC};
    case DumpKind::kNeighbours:
      return {RTM_GETNEIGH, sizeof(ndmsg), AF_UNSPEC};
    case DumpKind::kIpv4Routes:
      return {RTM_GETROUTE, sizeof(rtmsg), AF_INET};
    default:
      return {RTM_GETROUTE, sizeof(rtmsg), AF_INET6};
  }
}

/// The errno in an NLMSG_ERROR or at the end of a dump; 0: none.
int error_in(const nlmsghdr& message) {
  int error = 0;
  if (mnl_nlmsg_get_payload_len(&message) < sizeof error) return 0;
  std::memcpy(&error, mnl_nlmsg_get_payload(&message), sizeof error);
  return -error;
}

/// The kernel was built without IPv6 or nexthop objects: it has none of them.
bool is_absent(int error) {
  return error == EOPNOTSUPP || error == EAFNOSUPPORT || error == EPROTONOSUPPORT;
}

}  // namespace

Dump::Dump(NetlinkSocket& socket, KernelState& state, uint32_t sequence)
    : socket_(socket), state_(state), sequence_(sequence) {}

bool Dump::request() {
  const Request r = request_of(kind_);
  alignas(nlmsghdr) std::array<char, 256> buffer{};
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.data());
  message->nlmsg_type = r.type;
  message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message->nlmsg_seq = ++sequence_;
  auto* family = static_cast<uint8_t*>(mnl_nlmsg_put_extra_header(message, r.header));
  *family = r.family;
  listing_ = Kind::kListing;
  interrupted_ = false;
  requested_ = true;
  state_.begin(kind_);
  if (socket_.send(*message)) return true;
  error_ = errno;
  return false;
}

void Dump::handle(const nlmsghdr& message) {
  // Of an earlier dump that was given up, or of another request.
  if (message.nlmsg_seq != sequence_ || listing_ != Kind::kListing) return;
  if ((message.nlmsg_flags & NLM_F_DUMP_INTR) != 0) interrupted_ = true;
  if (message.nlmsg_type == NLMSG_DONE || message.nlmsg_type == NLMSG_ERROR) {
    const int error = error_in(message);
    listing_ = error == 0 || is_absent(error) ? Kind::kDone : Kind::kNotDone;
    error_ = listing_ == Kind::kNotDone ? error : 0;
    return;
  }
  ++messages_;
  const Message parsed = parse_message(message);
  if (std::holds_alternative<MalformedMessage>(parsed)) ++malformed_;
  state_.apply_dumped(parsed);
}

void Dump::finish_kind(bool complete) {
  state_.end(kind_, complete);
  incomplete_ |= !complete;
  kind_ = static_cast<DumpKind>(static_cast<uint8_t>(kind_) + 1);
  tries_ = 0;
  requested_ = false;
}

Dump::Progress Dump::step(size_t batches) {
  for (size_t i = 0; i < batches; ++i) {
    if (!requested_ && !request()) return Progress::kFailed;
    const auto read = socket_.receive([this](const nlmsghdr& m) { handle(m); });
    if (read == NetlinkSocket::Read::kFailed) {
      error_ = errno;
      return Progress::kFailed;
    }
    // A dump that lost a part is as good as interrupted.
    if (read == NetlinkSocket::Read::kOverrun) interrupted_ = true;
    if (listing_ == Kind::kNotDone) {
      state_.end(kind_, false);
      return Progress::kFailed;
    }
    if (listing_ == Kind::kDone) {
      if (interrupted_) ++interruptions_;
      if (interrupted_ && ++tries_ < kMaxTries) {
        requested_ = false;
      } else {
        finish_kind(!interrupted_);
      }
      if (kind_ != DumpKind::kCount) continue;
      return incomplete_ ? Progress::kInterrupted : Progress::kComplete;
    }
    if (read == NetlinkSocket::Read::kEmpty) return Progress::kWaiting;
  }
  return Progress::kRunning;
}

}  // namespace turnpike::router
