// SPDX-License-Identifier: BSD-3-Clause
// Arrays of fixed length in large pages: random lookups in a table of hundreds of megabytes in 4 KB
// pages would each miss the TLB.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace turnpike {

inline constexpr size_t kLargePage = size_t{2} << 20;  // B, on x86

/// Maps zeroed memory that begins on a large page and ends with the 4 KB page of its last byte, in
/// large pages as far as the kernel has them; null if there is no memory. `length` in B.
void* map_large(size_t length);
/// The same without a reservation: `length` may be far more than the machine has, and pages take
/// memory when they are first written. In 4 KB pages, or in large ones for memory that is used
/// without gaps.
void* map_lazily(size_t length, bool large_pages = false);
/// Frees memory of either with the same `length`.
void unmap_large(void* memory, size_t length);
/// Writes a zero to every page, so that the kernel allocates all of them now.
void populate(void* memory, size_t length);

/// Constructs `size` elements at once; they never move.
template <class T>
class LargeArray {
 public:
  /// Throws std::bad_alloc.
  explicit LargeArray(size_t size)
      : size_(size), elements_(static_cast<T*>(map_large(size * sizeof(T)))) {
    if (elements_ == nullptr) throw std::bad_alloc();
    std::uninitialized_value_construct_n(elements_, size_);
  }
  ~LargeArray() {
    std::destroy_n(elements_, size_);
    unmap_large(elements_, size_ * sizeof(T));
  }
  LargeArray(const LargeArray&) = delete;
  LargeArray& operator=(const LargeArray&) = delete;

  [[nodiscard]] T& operator[](size_t i) { return elements_[i]; }
  [[nodiscard]] const T& operator[](size_t i) const { return elements_[i]; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  size_t size_;
  T* elements_;
};

/// Room for `capacity` elements, constructed one after another by grow(); they never move. Pages of
/// elements that are not yet constructed take no memory unless `populated`: then they are large.
template <class T>
class GrowingArray {
 public:
  /// `populated`: allocates all pages now, so that grow() never waits for the kernel. Throws
  /// std::bad_alloc.
  explicit GrowingArray(size_t capacity, bool populated = true)
      : capacity_(capacity),
        elements_(static_cast<T*>(populated ? map_large(capacity * sizeof(T))
                                            : map_lazily(capacity * sizeof(T)))) {
    if (elements_ == nullptr) throw std::bad_alloc();
    if (populated) populate(elements_, capacity * sizeof(T));
  }
  ~GrowingArray() {
    std::destroy_n(elements_, size_);
    unmap_large(elements_, capacity_ * sizeof(T));
  }
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;

  /// Constructs the next element and returns its index; there must be room.
  size_t grow() {
    std::construct_at(elements_ + size_);
    return size_++;
  }
  [[nodiscard]] bool can_grow() const { return size_ < capacity_; }

  [[nodiscard]] T& operator[](size_t i) { return elements_[i]; }
  [[nodiscard]] const T& operator[](size_t i) const { return elements_[i]; }
  /// Elements constructed so far.
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] size_t capacity() const { return capacity_; }

 private:
  size_t capacity_, size_ = 0;
  T* elements_;
};

}  // namespace turnpike
