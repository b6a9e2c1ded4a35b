// SPDX-License-Identifier: BSD-3-Clause
// Uses cryptodev's synchronous CPU API: a message is processed by the call, without queues and
// operation buffers.
#include "common/dpdk/aes_gcm.h"

#include <mutex>
#include <utility>

#include <rte_cryptodev.h>
#include <rte_dev.h>
#include <rte_errno.h>

#include "common/dpdk/dpdk_log.h"
#include "common/dpdk/names.h"

namespace turnpike {
namespace {

constexpr const char* kDevice =
    "crypto_aesni_gcm_turnpike";  // a vdev's name begins as its driver's
constexpr const char* kFix =
    "AES-GCM needs a CPU with AES-NI and DPDK's driver crypto_aesni_gcm, which is in the package "
    "librte-crypto-ipsec-mb23 on Debian 12 and librte-crypto-ipsec-mb25 on Debian 13: apt install "
    "'librte-crypto-ipsec-mb*'";

tl::unexpected<std::string> no_driver(const std::string& why) {
  return tl::unexpected(why + "; " + kFix);
}

/// A pool for the sessions of so many keys, one to seal and one to open each; null: no memory.
rte_mempool* session_pool(uint8_t device, size_t keys) {
  return rte_cryptodev_sym_session_pool_create(
      unique_name("aes-gcm").c_str(), static_cast<uint32_t>(2 * keys),
      rte_cryptodev_sym_get_private_session_size(device), 0, 0, SOCKET_ID_ANY);
}

/// Attaches the driver, which stays until EAL ends. The error: it cannot be.
tl::expected<uint8_t, std::string> attach_driver() {
  const CapturedLog log;
  if (rte_dev_probe(kDevice) != 0) return no_driver("DPDK has no device " + std::string(kDevice));
  const int id = rte_cryptodev_get_dev_id(kDevice);
  if (id < 0) return no_driver("DPDK made no device " + std::string(kDevice));
  const auto device = static_cast<uint8_t>(id);
  rte_cryptodev_info info;
  rte_cryptodev_info_get(device, &info);
  if ((info.feature_flags & RTE_CRYPTODEV_FF_SYM_CPU_CRYPTO) == 0)
    return no_driver("the device " + std::string(kDevice) + " has no synchronous API");
  // Sessions need a queue pair, although no packet passes it.
  rte_cryptodev_config config{};
  config.socket_id = SOCKET_ID_ANY;
  config.nb_queue_pairs = 1;
  rte_cryptodev_qp_conf queue{};
  queue.nb_descriptors = 64;
  if (rte_cryptodev_configure(device, &config) != 0 ||
      rte_cryptodev_queue_pair_setup(device, 0, &queue, SOCKET_ID_ANY) != 0)
    return no_driver("the device " + std::string(kDevice) + " cannot be configured: " + log.text());
  return device;
}

tl::expected<uint8_t, std::string> driver() {
  static std::mutex mutex;
  static tl::expected<uint8_t, std::string> device = tl::unexpected(std::string());
  const std::scoped_lock lock(mutex);
  if (!device) device = attach_driver();
  return device;
}

}  // namespace

struct AesGcm::Sessions {
  uint8_t device = 0;
  rte_mempool* pool = nullptr;
  std::vector<void*> to_seal, to_open;  // by key

  Sessions(uint8_t id, rte_mempool* from) : device(id), pool(from) {}
  ~Sessions() {
    for (const auto* all : {&to_seal, &to_open})
      for (void* session : *all) rte_cryptodev_sym_session_free(device, session);
    rte_mempool_free(pool);
  }
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  /// Null: refused.
  void* make(std::span<const uint8_t> key, uint16_t aad, rte_crypto_aead_operation operation) {
    rte_crypto_sym_xform form{};
    form.type = RTE_CRYPTO_SYM_XFORM_AEAD;
    form.aead.op = operation;
    form.aead.algo = RTE_CRYPTO_AEAD_AES_GCM;
    form.aead.key.data = key.data();
    form.aead.key.length = static_cast<uint16_t>(key.size());
    form.aead.iv.length = kNonceSize;
    form.aead.digest_length = kTagSize;
    form.aead.aad_length = aad;
    return rte_cryptodev_sym_session_create(device, &form, pool);
  }
};

AesGcm::AesGcm(uint8_t device, std::unique_ptr<Sessions> sessions)
    : device_(device), sessions_(std::move(sessions)) {}
AesGcm::AesGcm(AesGcm&&) noexcept = default;
AesGcm& AesGcm::operator=(AesGcm&&) noexcept = default;
AesGcm::~AesGcm() = default;

tl::expected<AesGcm, std::string> AesGcm::make(std::span<const std::span<const uint8_t>> keys,
                                               uint16_t aad) {
  const auto device = driver();
  if (!device) return tl::unexpected(device.error());
  const CapturedLog log;
  rte_mempool* const pool = session_pool(*device, keys.size());
  if (pool == nullptr)
    return tl::unexpected(std::string("no memory for AES-GCM's keys: ") + rte_strerror(rte_errno));
  auto sessions = std::make_unique<Sessions>(*device, pool);
  for (const auto& key : keys) {
    void* const seal = sessions->make(key, aad, RTE_CRYPTO_AEAD_OP_ENCRYPT);
    if (seal != nullptr) sessions->to_seal.push_back(seal);
    void* const open = sessions->make(key, aad, RTE_CRYPTO_AEAD_OP_DECRYPT);
    if (open != nullptr) sessions->to_open.push_back(open);
    if (seal == nullptr || open == nullptr)
      return no_driver("AES-GCM takes no key of " + std::to_string(8 * key.size()) +
                       " bits: " + rte_strerror(rte_errno));
  }
  return AesGcm(*device, std::move(sessions));
}

bool AesGcm::process(void* session, const Message& m) const {
  rte_crypto_vec piece{};
  piece.base = m.text.data();
  piece.len = static_cast<uint32_t>(m.text.size());
  rte_crypto_sgl list{};
  list.vec = &piece;
  list.num = 1;
  // DPDK's pointers are to mutable bytes, also those that it only reads.
  rte_crypto_va_iova_ptr nonce{}, aad{}, tag{};
  nonce.va = const_cast<uint8_t*>(m.nonce);
  aad.va = const_cast<uint8_t*>(m.aad);
  tag.va = m.tag;
  int32_t status = 0;
  rte_crypto_sym_vec vector{};
  vector.num = 1;
  vector.src_sgl = &list;
  vector.iv = &nonce;
  vector.aad = &aad;
  vector.digest = &tag;
  vector.status = &status;
  return rte_cryptodev_sym_cpu_crypto_process(device_, session, rte_crypto_sym_ofs{}, &vector) == 1;
}

bool AesGcm::seal(size_t key, const Message& message) const {
  return process(sessions_->to_seal[key], message);
}

bool AesGcm::open(size_t key, const Message& message) const {
  return process(sessions_->to_open[key], message);
}

}  // namespace turnpike
