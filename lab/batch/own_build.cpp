// SPDX-License-Identifier: BSD-3-Clause
#include "lab/batch/own_build.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>

#include <elf.h>
#include <link.h>

#include "common/report/run_data.h"
#include "lab/batch/content_hash.h"

namespace turnpike::lab {
namespace {

std::string hexadecimal(std::span<const uint8_t> bytes) {
  std::string out;
  for (const uint8_t byte : bytes) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    out += digits.data();
  }
  return out;
}

/// The build ID among the notes of a segment; empty: there is none.
std::string build_id(std::span<const uint8_t> notes) {
  constexpr size_t kAlign = 4;
  const auto padded = [](size_t n) { return (n + kAlign - 1) / kAlign * kAlign; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const size_t name = sizeof note, content = name + padded(note.n_namesz);
    const size_t end = content + padded(note.n_descsz);
    if (end > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(notes.data() + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
      return hexadecimal(notes.subspan(content, note.n_descsz));
    notes = notes.subspan(end);
  }
  return "";
}

/// Reads the first object, which is the program.
int read_program(dl_phdr_info* object, size_t, void* out) {
  auto& id = *static_cast<std::string*>(out);
  for (const ElfW(Phdr) & segment : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (segment.p_type != PT_NOTE || !id.empty()) continue;
    const uintptr_t address = object->dlpi_addr + segment.p_vaddr;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the linker gives an integer
    const auto* notes = reinterpret_cast<const uint8_t*>(address);
    id = build_id({notes, segment.p_memsz});
  }
  return 1;  // no other object
}

}  // namespace

std::string own_build() {
  std::string id;
  dl_iterate_phdr(read_program, &id);
  if (!id.empty()) return id;
  const auto text = report::read_text("/proc/self/exe");
  return text ? content_hash(*text) : "";
}

}  // namespace turnpike::lab
