// SPDX-License-Identifier: BSD-3-Clause
// Several links in VLANs of one port: removes and inserts their 802.1Q tags.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/dpdk/queue_pair.h"
#include "common/metrics/counter.h"

namespace turnpike::router {

/// Used by one lcore, as the port's queue pair is. A link's frames have no tag; PCP and DEI are
/// ignored at arrival and sent as 0. A frame of no link's VLAN, an untagged one where no link is
/// untagged, and one with a second tag go to the first untagged link, or else to the first link,
/// with their tags; a frame without any gets a tag of VID 0. So the receiver can tell them from the
/// link's own frames. Does not allocate after construction.
class VlanTrunk {
 public:
  static constexpr uint16_t kUntagged = 0;      // also of frames with VID 0, which have a PCP alone
  static constexpr uint32_t kMaxWaiting = 256;  // received frames that wait for one link's rx()

  struct Member {
    uint16_t vid = kUntagged;
    uint16_t mbuf_port = 0;  // rte_mbuf::port of its received frames
  };
  /// `links`: each with a VID of its own. `port` must outlive the trunk.
  VlanTrunk(QueuePair& port, std::span<const Member> links);
  VlanTrunk(const VlanTrunk&) = delete;
  VlanTrunk& operator=(const VlanTrunk&) = delete;
  /// Frees received frames that wait.
  ~VlanTrunk();

  [[nodiscard]] QueuePair& link(size_t index) { return links_[index]; }
  /// Frames dropped at transmission, since they had no room for a tag. Any thread.
  [[nodiscard]] uint64_t without_room() const { return without_room_.read(); }

 private:
  static constexpr uint32_t kBurst = 32;

  class Link final : public QueuePair {
   public:
    Link(VlanTrunk& trunk, const Member& member) : trunk_(trunk), member_(member) {}

    uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override;
    uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) override;
    [[nodiscard]] Nanos next_deadline() const override;

    [[nodiscard]] uint32_t waiting() const { return end_ - begin_; }
    void put(rte_mbuf* m);
    rte_mbuf* take() { return slots_[begin_++ % kMaxWaiting]; }

   private:
    VlanTrunk& trunk_;
    Member member_;
    uint32_t begin_ = 0, end_ = 0;
    std::array<rte_mbuf*, kMaxWaiting> slots_;
  };

  /// Receives bursts until `link` has `wanted` frames, a link has no room for another burst, or the
  /// port has no more.
  void receive(const Link& link, size_t wanted, Nanos now);
  void sort(rte_mbuf* m);
  [[nodiscard]] bool has_room() const;

  QueuePair& port_;
  std::vector<Link> links_;
  std::array<uint16_t, 4096> by_vid_;  // index into links_
  uint16_t rest_ = 0;                  // link of all other frames
  uint32_t waiting_ = 0;               // frames at all links
  Nanos empty_at_ = kNever;            // the port had no more packets then
  metrics::Counter without_room_;
};

}  // namespace turnpike::router
