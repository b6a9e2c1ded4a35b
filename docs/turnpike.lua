-- SPDX-License-Identifier: BSD-3-Clause
-- Wireshark dissector of the wire format that wire-format.md describes.
--   tshark -X lua_script:docs/turnpike.lua -r capture.pcap -O turnpike
local turnpike = Proto("turnpike", "Turnpike")

local VERSION, COMMON_SIZE, RANGE_SIZE, MAX_RANGES, LENGTH_UNIT = 1, 24, 8, 8, 4
local TICK_NS = 64

local kinds = {
  [1] = "SYN", [2] = "SYN-ACK", [3] = "DATA", [4] = "ACK", [5] = "FIN", [6] = "FIN-ACK", [7] = "RESET",
}
local answers = { [2] = true, [4] = true, [6] = true, [7] = true }
local protocols = {
  [1] = "FCP", [2] = "RCP", [3] = "QFCP", [4] = "XCP", [5] = "QCP", [6] = "TCP", [7] = "ACC", [8] = "QCP (8 B)",
}

local acc_roles = { [0] = "data", [1] = "out of band", [2] = "in band", [3] = "estimate" }

local f = {
  version = ProtoField.uint8("turnpike.version", "Version", base.DEC, nil, 0xf0),
  kind = ProtoField.uint8("turnpike.kind", "Kind", base.DEC, kinds, 0x0f),
  protocol = ProtoField.uint8("turnpike.protocol", "Protocol", base.DEC, protocols),
  ranges = ProtoField.uint8("turnpike.ranges", "Ranges"),
  length = ProtoField.uint8("turnpike.length", "Length (words of 4 B)"),
  flow = ProtoField.uint32("turnpike.flow", "Flow", base.HEX),
  sequence = ProtoField.uint32("turnpike.seq", "Sequence"),
  acknowledgement = ProtoField.uint32("turnpike.ack", "Acknowledgement"),
  timestamp = ProtoField.uint32("turnpike.timestamp", "Timestamp (64 ns)"),
  echo = ProtoField.uint32("turnpike.echo", "Echo (64 ns)"),
  token = ProtoField.uint32("turnpike.token", "Token", base.HEX),
  congestion = ProtoField.bytes("turnpike.congestion", "Congestion header"),
  range = ProtoField.none("turnpike.range", "Range"),
  range_begin = ProtoField.uint32("turnpike.range.begin", "Begin"),
  range_end = ProtoField.uint32("turnpike.range.end", "End"),
  payload = ProtoField.bytes("turnpike.payload", "Payload"),
  sealed_key = ProtoField.uint32("turnpike.sealed.key", "Key id", base.HEX),
  sealed_nonce = ProtoField.bytes("turnpike.sealed.nonce", "Nonce"),
  sealed_text = ProtoField.bytes("turnpike.sealed.text", "Datagrams, encrypted"),
  sealed_tag = ProtoField.bytes("turnpike.sealed.tag", "Tag"),
  fcp_rtt = ProtoField.uint32("turnpike.fcp.rtt", "Round trip (ns)"),
  fcp_price = ProtoField.float("turnpike.fcp.price", "Price ($/B)"),
  fcp_reserve = ProtoField.float("turnpike.fcp.reserve", "Reserve price ($/B)"),
  fcp_age = ProtoField.uint32("turnpike.fcp.age", "Age of the balance (ns)"),
  fcp_preload = ProtoField.float("turnpike.fcp.preload", "Preload"),
  fcp_balance = ProtoField.float("turnpike.fcp.balance", "Balance ($/B)"),
  fcp_exchange = ProtoField.float("turnpike.fcp.exchange", "Exchange rate"),
  fcp_charged = ProtoField.float("turnpike.fcp.charged", "Charged by the links ($/B)"),
  fcp_first = ProtoField.bool("turnpike.fcp.first", "Of the first round", 32, nil, 0x80000000),
  fcp_slot = ProtoField.float("turnpike.fcp.slot", "Slot (s)"),
  -- The same bytes on a SYN.
  fcp_limit = ProtoField.float("turnpike.fcp.limit", "Rate limit of the first round (B/s)"),
  fcp_wait = ProtoField.uint32("turnpike.fcp.wait", "Wait before the first round (ns)"),
  fcp_first_round = ProtoField.float("turnpike.fcp.first_round", "First round (sizes of the SYN)"),
  fcp_budget = ProtoField.float("turnpike.fcp.budget", "Budget ($/s)"),
  fcp_parts = ProtoField.float("turnpike.fcp.parts", "Parts of a round trip for the first round"),
  rate_rtt = ProtoField.uint32("turnpike.rate.rtt", "Round trip (ns)"),
  rate_rate = ProtoField.float("turnpike.rate.rate", "Rate (B/s)"),
  qcp_interval = ProtoField.float("turnpike.qcp.interval", "Inter-byte interval (s/B)"),
  xcp_rtt = ProtoField.uint32("turnpike.xcp.rtt", "Round trip (ns)"),
  xcp_flow = ProtoField.float("turnpike.xcp.flow", "Part of its flow (s)"),
  xcp_feedback = ProtoField.float("turnpike.xcp.feedback", "Feedback (B/s)"),
  tcp_capable = ProtoField.bool("turnpike.tcp.capable", "May be marked (ECT)", 32, nil, 1),
  tcp_marked = ProtoField.bool("turnpike.tcp.marked", "Congestion experienced (CE)", 32, nil, 2),
  tcp_in_profile = ProtoField.bool("turnpike.tcp.in_profile", "Within its profile", 32, nil, 4),
  acc_role = ProtoField.uint8("turnpike.acc.role", "Role", base.DEC, acc_roles),
  acc_round = ProtoField.uint16("turnpike.acc.round", "Round"),
  acc_measure = ProtoField.float("turnpike.acc.measure", "Virtual delay (s) or accumulation (B)"),
}
turnpike.fields = f

local function malformed(name, text)
  return ProtoExpert.new("turnpike." .. name, text, expert.group.MALFORMED, expert.severity.ERROR)
end
local e = {
  truncated = malformed("truncated", "The packet ends before its header"),
  version = malformed("bad_version", "Unknown version"),
  kind = malformed("bad_kind", "Unknown kind"),
  length = malformed("bad_length", "Length and ranges contradict each other"),
  protocol = malformed("bad_protocol", "Unknown protocol"),
  congestion = malformed("bad_congestion", "Not as long as the protocol's congestion header"),
  figure = malformed("bad_figure", "A figure that no honest sender or link writes"),
  range = malformed("bad_range", "An empty or reversed range"),
  request_ranges = malformed("bad_request", "A request carries no ranges"),
}
turnpike.experts = e

turnpike.prefs.port = Pref.uint("UDP port", 4747, "Where receivers of flows listen")

-- The bounds of common/protocols/fcp/header.h; comparisons with NaN are false.
local LEAST, MOST, MOST_PRELOAD = 1.2e-38, 1e12, 1e20
local function amount(v)
  return v == 0 or (v >= LEAST and v <= MOST)
end

-- The value of a bfloat16: the upper half of a binary32.
local function bfloat16(range)
  local bits = range:uint()
  local sign = bits < 0x8000 and 1 or -1
  local exponent, mantissa = math.floor(bits / 128) % 256, bits % 128 / 128
  if exponent == 255 then return mantissa == 0 and sign * math.huge or 0 / 0 end
  if exponent == 0 then return sign * mantissa * 2.0 ^ -126 end
  return sign * (1 + mantissa) * 2.0 ^ (exponent - 127)
end

-- Shows four bytes as a figure, and marks a value out of bounds.
local function figures(tvb, tree)
  return function(field, at, believable)
    local range = tvb(at, 4)
    local item = tree:add(field, range)
    if not believable(range) then item:add_proto_expert_info(e.figure) end
    return item
  end
end

local function ms(range) return string.format(" (%.3f ms)", range:uint() / 1e6) end

-- A SYN and its answer use five of the nine fields for other figures.
local function fcp(tvb, tree, kind)
  local figure = figures(tvb, tree)
  local syn = kind == 1 or kind == 2
  local function is_amount(r) return amount(r:float()) end
  figure(f.fcp_rtt, 0, function(r) return r:uint() == 0 or r:uint() >= 1000 end):append_text(ms(tvb(0, 4)))
  figure(f.fcp_price, 4, is_amount)
  figure(syn and f.fcp_limit or f.fcp_reserve, 8, is_amount)
  tree:add(syn and f.fcp_wait or f.fcp_age, tvb(12, 4)):append_text(ms(tvb(12, 4)))
  figure(syn and f.fcp_first_round or f.fcp_preload, 16, function(r)
    local v = math.abs(r:float())
    return v == 0 or (v >= LEAST and v <= MOST_PRELOAD)
  end)
  figure(syn and f.fcp_budget or f.fcp_balance, 20, is_amount)
  local exchange, charged = bfloat16(tvb(24, 2)), bfloat16(tvb(26, 2))
  local rate = tree:add(f.fcp_exchange, tvb(24, 2), exchange)
  if not (exchange >= LEAST and exchange <= MOST) then rate:add_proto_expert_info(e.figure) end
  local sum = tree:add(f.fcp_charged, tvb(26, 2), charged)
  if not amount(charged) then sum:add_proto_expert_info(e.figure) end
  local slot = math.abs(tvb(28, 4):float())
  if not syn then tree:add(f.fcp_first, tvb(28, 4)) end
  local item = tree:add(syn and f.fcp_parts or f.fcp_slot, tvb(28, 4), slot)
  if not amount(slot) then item:add_proto_expert_info(e.figure) end
  return string.format(" price=%.4g", tvb(4, 4):float())
end

local function finite(v) return v > -math.huge and v < math.huge end

-- RCP's, QFCP's and QCP's of 8 bytes.
local function explicit_rate(tvb, tree)
  local figure = figures(tvb, tree)
  tree:add(f.rate_rtt, tvb(0, 4))
  figure(f.rate_rate, 4, function(r) return r:float() > 0 and finite(r:float()) end)
  return string.format(" rate=%.4g", tvb(4, 4):float())
end

local function qcp(tvb, tree)
  local text = explicit_rate(tvb, tree)
  figures(tvb, tree)(f.qcp_interval, 8, function(r) return r:float() > 0 and finite(r:float()) end)
  return text
end

local function xcp(tvb, tree)
  local figure = figures(tvb, tree)
  local rtt = tvb(0, 4):uint()
  tree:add(f.xcp_rtt, tvb(0, 4))
  figure(f.xcp_flow, 4, function(r)
    return r:float() >= 0 and r:float() <= 4.3e6 and (rtt == 0 or r:float() > 0)
  end)
  figure(f.xcp_feedback, 8, function(r) return finite(r:float()) end)
  return string.format(" feedback=%.4g", tvb(8, 4):float())
end

local function tcp(tvb, tree)
  local flags = tvb(0, 4):uint()
  for _, field in ipairs({ f.tcp_capable, f.tcp_marked, f.tcp_in_profile }) do tree:add(field, tvb(0, 4)) end
  return flags % 4 >= 2 and " CE" or ""
end

local function acc(tvb, tree)
  local figure = figures(tvb, tree)
  local role = tvb(0, 1):uint()
  local item = tree:add(f.acc_role, tvb(0, 1))
  if not acc_roles[role] then item:add_proto_expert_info(e.figure) end
  tree:add(f.acc_round, tvb(2, 2))
  figure(f.acc_measure, 4, function(r)
    local v = r:float()
    return finite(v) and v >= 0 and (v == 0 or role == 1 or role == 3)
  end)
  return string.format(" %s measure=%.4g", acc_roles[role] or "?", tvb(4, 4):float())
end

-- Protocol id -> size of its congestion header, and its decoder (which returns text for the list).
local congestion_headers = {
  [1] = { size = 32, show = fcp },
  [2] = { size = 8, show = explicit_rate },
  [3] = { size = 8, show = explicit_rate },
  [4] = { size = 12, show = xcp },
  [5] = { size = 12, show = qcp },
  [6] = { size = 4, show = tcp },
  [7] = { size = 8, show = acc },
  [8] = { size = 8, show = explicit_rate },
}

local function show_ranges(tvb, tree, count)
  for i = 0, count - 1 do
    local range = tvb(i * RANGE_SIZE, RANGE_SIZE)
    local first, past = range(0, 4):uint(), range(4, 4):uint()
    local item = tree:add(f.range, range):append_text(string.format(": [%u, %u)", first, past))
    item:add(f.range_begin, range(0, 4))
    item:add(f.range_end, range(4, 4))
    -- Serial numbers (RFC 1982): the end is less than 2^31 ahead.
    local span = (past - first) % 2 ^ 32
    if span == 0 or span >= 2 ^ 31 then item:add_proto_expert_info(e.range) end
  end
end

-- Decodes the common header. Returns kind, ranges and length in bytes; nothing
-- where decoding has to stop.
local function common_header(tvb, tree, pinfo)
  if tvb:len() == 0 then return tree:add_proto_expert_info(e.truncated) and nil end
  local version = tree:add(f.version, tvb(0, 1))
  if tvb(0, 1):bitfield(0, 4) ~= VERSION then return version:add_proto_expert_info(e.version) and nil end
  if tvb:len() < COMMON_SIZE then return tree:add_proto_expert_info(e.truncated) and nil end

  local kind, ranges, length = tvb(0, 1):bitfield(4, 4), tvb(2, 1):uint(), tvb(3, 1):uint() * LENGTH_UNIT
  local kind_item = tree:add(f.kind, tvb(0, 1))
  tree:add(f.protocol, tvb(1, 1))
  local ranges_item = tree:add(f.ranges, tvb(2, 1))
  local length_item = tree:add(f.length, tvb(3, 1)):append_text(string.format(" (%d B)", length))
  tree:add(f.flow, tvb(4, 4))
  tree:add(f.sequence, tvb(8, 4))
  tree:add(f.acknowledgement, tvb(12, 4))
  local time, time_at, token_at = f.timestamp, 16, 20
  if answers[kind] then time, time_at, token_at = f.echo, 20, 16 end
  tree:add(time, tvb(time_at, 4)):append_text(string.format(" (%.6f s)", tvb(time_at, 4):uint() * TICK_NS / 1e9))
  tree:add(f.token, tvb(token_at, 4))

  pinfo.cols.info = string.format("%s flow=%08x seq=%u", kinds[kind] or "?", tvb(4, 4):uint(), tvb(8, 4):uint())
  if answers[kind] then pinfo.cols.info:append(string.format(" ack=%u", tvb(12, 4):uint())) end

  if not kinds[kind] then return kind_item:add_proto_expert_info(e.kind) and nil end
  if ranges > MAX_RANGES or length < COMMON_SIZE + ranges * RANGE_SIZE then
    return length_item:add_proto_expert_info(e.length) and nil
  end
  if length > tvb:len() then return length_item:add_proto_expert_info(e.truncated) and nil end
  if ranges > 0 and not answers[kind] then ranges_item:add_proto_expert_info(e.request_ranges) end
  return kind, ranges, length
end

-- Payload of a gateway's tunnel that is encrypted: no IP datagram begins with such a byte. That of an answer has no
-- datagrams.
local function show_sealed(tvb, tree, pinfo)
  local front, tag = 16, 16
  if tvb(0, 1):uint() < 0x80 or tvb:len() < front + tag then return end
  tree:append_text(", sealed")
  tree:add(f.sealed_key, tvb(0, 4))
  tree:add(f.sealed_nonce, tvb(4, 12))
  if tvb:len() > front + tag then tree:add(f.sealed_text, tvb(front, tvb:len() - front - tag)) end
  tree:add(f.sealed_tag, tvb(tvb:len() - tag, tag))
  pinfo.cols.info:append(string.format(" sealed key=%08x", tvb(0, 4):uint()))
end

function turnpike.dissector(tvb, pinfo, tree)
  pinfo.cols.protocol = "Turnpike"
  local subtree = tree:add(turnpike, tvb())
  local kind, ranges, length = common_header(tvb, subtree, pinfo)
  if not kind then
    pinfo.cols.info:append(" [malformed]")
    return tvb:len()
  end
  subtree:set_len(length)
  subtree:append_text(", " .. kinds[kind])

  local protocol = tvb(1, 1):uint()
  local size = length - COMMON_SIZE - ranges * RANGE_SIZE
  local scheme = congestion_headers[protocol]
  if size > 0 then
    local item = subtree:add(f.congestion, tvb(COMMON_SIZE, size))
    if scheme and size == scheme.size then
      item:set_text((protocols[protocol] or "") .. " congestion header")
      pinfo.cols.info:append(scheme.show(tvb(COMMON_SIZE, size):tvb(), item, kind))
    end
  end
  if not scheme then
    subtree:add_proto_expert_info(e.protocol)
  elseif size ~= scheme.size then
    subtree:add_proto_expert_info(e.congestion)
  end
  if ranges > 0 then show_ranges(tvb(COMMON_SIZE + size, ranges * RANGE_SIZE):tvb(), subtree, ranges) end
  if tvb:len() > length then
    local payload = tvb(length)
    local item = tree:add(f.payload, payload)
    pinfo.cols.info:append(string.format(" len=%d", payload:len()))
    show_sealed(payload:tvb(), item, pinfo)
  end
  return tvb:len()
end

local udp = DissectorTable.get("udp.port")
local registered
local function register(port)
  if registered then udp:remove(registered, turnpike) end
  udp:add(port, turnpike)
  registered = port
end
function turnpike.prefs_changed()
  register(turnpike.prefs.port)
end
register(turnpike.prefs.port)
