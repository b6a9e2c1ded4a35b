// SPDX-License-Identifier: BSD-3-Clause
// The charge of an FCP packet.
#pragma once

#include "common/protocols/charge.h"

namespace turnpike::fcp {

/// A data packet pays its balance for each of its bytes. Its promise is a rate N and a budget B for
/// the packet's slot: N x slot = size x (1 + preload), and B is N times the reserve price, or N
/// times the price paid if that is higher (promise_batch.cpp). The slot cancels out:
///
///     B x slot = max(reserve, balance) x size x (1 + preload)
///
/// Without a reserve price (preset `paper`) this is the commitment of equation 4. Links clip
/// promises of more than `growth` times the packet, which no honest sender exceeds; this charge is
/// not clipped.
Charge charge_of(const uint8_t* header, uint32_t size, bool opens);
/// ChargeReader::data and ChargeReader::payments: the same for data packets, in vectors.
bool read_charges(ChargeBatch& batch);
void read_payments(ChargeBatch& batch);

inline constexpr ChargeReader kChargeReader{
    .one = charge_of, .data = read_charges, .payments = read_payments};

}  // namespace turnpike::fcp
