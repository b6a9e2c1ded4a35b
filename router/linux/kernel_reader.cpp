// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/kernel_reader.h"

#include <algorithm>
#include <utility>

#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "common/wire/bytes.h"

namespace turnpike::router {
namespace {

constexpr Nanos kRetry{1'000'000'000};  // after a dump that failed
constexpr Nanos kMinGap{50'000'000};    // between resynchronisations, each of which is reported
/// At most this share of the time is spent in periodic resynchronisations.
constexpr int64_t kPeriodicShare = 20;

}  // namespace

tl::expected<std::unique_ptr<KernelReader>, std::string> KernelReader::open(const Parts& parts) {
  auto notifications =
      NetlinkSocket::open(NetlinkSocket::route_groups(), parts.limits.receive_buffer);
  if (!notifications) return tl::unexpected(notifications.error());
  auto requests = NetlinkSocket::open({}, 0);
  if (!requests) return tl::unexpected(requests.error());
  return std::unique_ptr<KernelReader>(
      new KernelReader(parts, std::move(*notifications), std::move(*requests)));
}

KernelReader::KernelReader(const Parts& parts, NetlinkSocket notifications, NetlinkSocket requests)
    : limits_(parts.limits),
      notifications_(std::move(notifications)),
      requests_(std::move(requests)),
      state_({parts.sink, parts.listener, parts.interfaces, parts.distances}),
      listener_(parts.listener),
      asked_(parts.limits.neighbours),
      probes_(parts.limits.probes),
      wanted_(Wanted{ResyncReason::kStart, Nanos(0), Nanos(0)}) {}

void KernelReader::want(ResyncReason reason, Nanos now, Nanos due) {
  if (!wanted_) {
    wanted_ = Wanted{reason, now, due};
    return;
  }
  // Each further change defers it, within limits; what is urgent does not wait.
  const bool urgent = due <= now;
  if (urgent) wanted_->reason = reason;
  wanted_->due = urgent
                     ? std::min(wanted_->due, due)
                     : std::min(std::max(wanted_->due, due), wanted_->since + limits_.max_debounce);
}

uint64_t KernelReader::newly_lost() {
  // The kernel counts in 32 bits.
  const auto now = static_cast<uint32_t>(notifications_.dropped());
  const uint32_t lost = now - static_cast<uint32_t>(counts_.lost);
  counts_.lost += lost;
  return lost;
}

void KernelReader::read_notifications(Nanos now) {
  drained_ = false;
  for (size_t i = 0; i < limits_.batches && !drained_; ++i) {
    const auto read = notifications_.receive([this](const nlmsghdr& header) {
      ++counts_.notifications;
      const Message message = parse_message(header);
      if (std::holds_alternative<MalformedMessage>(message)) ++counts_.malformed;
      state_.apply(message);
    });
    switch (read) {
      case NetlinkSocket::Read::kMessages:
        break;
      case NetlinkSocket::Read::kEmpty:
        drained_ = true;
        break;
      case NetlinkSocket::Read::kOverrun:
      case NetlinkSocket::Read::kFailed:
        // The kernel sends nothing more, and no further error, until the socket has been read to
        // its end: a dump may begin only then.
        ++counts_.overruns;
        want(ResyncReason::kOverrun, now, now);
        break;
    }
  }
  const auto doubt = state_.take_doubt();
  // A message from during the dump may be about a state that the dump has passed already.
  if (doubt && !(replaying_ && *doubt == ResyncReason::kAmbiguous)) {
    want(*doubt, now, now + limits_.debounce);
  }
  if (drained_) replaying_ = false;
}

void KernelReader::read_replies() {
  // Errors of requests; dumps read their own replies.
  while (requests_.receive([this](const nlmsghdr& header) {
    if (header.nlmsg_type == NLMSG_ERROR) ++counts_.resolve_failed;
  }) == NetlinkSocket::Read::kMessages) {
  }
}

void KernelReader::begin_resync(Nanos now) {
  current_ = {.reason = wanted_->reason};
  wanted_.reset();
  started_ = progress_ = now;
  dump_.emplace(requests_, state_, sequence_);
}

void KernelReader::continue_resync(Nanos now) {
  const uint64_t before = dump_->messages();
  const Dump::Progress progress = dump_->step(limits_.dump_batches);
  if (dump_->messages() > before) progress_ = now;
  if (progress == Dump::Progress::kRunning) return;
  if (progress == Dump::Progress::kWaiting && now - progress_ < limits_.patience) return;
  finish_resync(now, progress);
}

void KernelReader::finish_resync(Nanos now, Dump::Progress result) {
  current_.duration = now - started_;
  current_.messages = dump_->messages();
  current_.lost = newly_lost();
  current_.routes = state_.routes().ipv4 + state_.routes().ipv6;
  current_.complete = result == Dump::Progress::kComplete;
  sequence_ = dump_->sequence();
  counts_.dumped += dump_->messages();
  counts_.malformed += dump_->malformed();
  counts_.interrupted += dump_->interruptions();
  ++counts_.resyncs[static_cast<size_t>(current_.reason)];
  counts_.last_resync = current_.duration;
  counts_.longest_resync = std::max(counts_.longest_resync, current_.duration);
  dump_.reset();
  state_.take_doubt();  // the routes were read after everything that it is about
  replaying_ = true;
  drained_ = false;
  // Half of the time, at least, is left for notifications.
  not_before_ = now + std::max(current_.duration, kMinGap);
  next_periodic_ = now + std::max(limits_.period, current_.duration * kPeriodicShare);
  if (result != Dump::Progress::kComplete) {
    if (result != Dump::Progress::kInterrupted) ++counts_.failed;
    want(ResyncReason::kInterrupted, now, now + kRetry);
  }
  state_.commit();
  listener_.resynchronised(current_);
}

Nanos KernelReader::poll(Nanos now) {
  state_.set_time(now);
  if (dump_) {
    continue_resync(now);
  } else {
    read_replies();
    read_notifications(now);
    state_.commit();
    if (!wanted_ && now >= next_periodic_) want(ResyncReason::kPeriodic, now, now);
    if (wanted_ && drained_ && now >= std::max(wanted_->due, not_before_)) {
      begin_resync(now);
      continue_resync(now);
    }
  }
  if (dump_) return now;
  probe_neighbours(now);
  if (!drained_) return now;
  return std::min(wanted_ ? std::max(wanted_->due, not_before_) : next_periodic_, probes_.due());
}

void KernelReader::probe_neighbours(Nanos now) {
  for (const auto& neighbour : state_.take_stale())
    if (!probes_.add(neighbour)) ++counts_.not_probed;
  probes_.send(now, [this](const NeighbourProbes::Neighbour& n) {
    if (use_neighbour(n.link, n.address)) ++counts_.probed;
  });
}

bool KernelReader::resolve(size_t link, const Address& address, Nanos now) {
  if (state_.interfaces().of_link(link) == 0) return false;
  switch (asked_.ask(link, address, now)) {
    case NeighbourRequests::Decision::kRecent:
      ++counts_.resolve_recent;
      return false;
    case NeighbourRequests::Decision::kTooMany:
      ++counts_.resolve_too_many;
      return false;
    case NeighbourRequests::Decision::kAsk:
      break;
  }
  if (!use_neighbour(link, address)) return false;
  ++counts_.resolve_asked;
  return true;
}

// As if the kernel had a packet for it: a neighbour without a MAC address is resolved, one that is
// stale is probed (neigh_event_send).
bool KernelReader::use_neighbour(size_t link, const Address& address) {
  const uint32_t interface = state_.interfaces().of_link(link);
  if (interface == 0) return false;
  alignas(nlmsghdr) std::array<char, 256> buffer{};
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.data());
  message->nlmsg_type = RTM_NEWNEIGH;
  message->nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE;
  auto* h = static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ndmsg)));
  h->ndm_ifindex = static_cast<int>(interface);
  h->ndm_flags = NTF_USE;
  if (const auto* v4 = std::get_if<config::Ipv4>(&address)) {
    h->ndm_family = AF_INET;
    std::array<uint8_t, 4> bytes{};
    wire::store_be32(bytes.data(), *v4);
    mnl_attr_put(message, NDA_DST, bytes.size(), bytes.data());
  } else {
    const auto& v6 = std::get<config::Ipv6>(address);
    h->ndm_family = AF_INET6;
    mnl_attr_put(message, NDA_DST, v6.size(), v6.data());
  }
  if (requests_.send(*message)) return true;
  ++counts_.resolve_failed;
  return false;
}

}  // namespace turnpike::router
