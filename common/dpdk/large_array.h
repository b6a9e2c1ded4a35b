// SPDX-License-Identifier: BSD-3-Clause
// Arrays of a fixed length in large pages: what is looked up all over a table of hundreds of
// megabytes would otherwise miss the TLB at every look.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace turnpike {

inline constexpr size_t kLargePage = size_t{2} << 20;  // B, on x86

/// Zeros that begin on a large page and end with the page of 4 KB that holds the last of `length`
/// B, in large pages as far as the kernel has them; null where there is no memory.
void* map_large(size_t length);
void unmap_large(void* memory, size_t length);
/// Writes a zero to every page of it, so that the kernel provides all of them now.
void populate(void* memory, size_t length);

/// Constructs its elements once; they never move.
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

/// Room for `capacity` elements, constructed one after another as they are needed; they never move.
/// Pages of elements that were never constructed take no memory.
template <class T>
class GrowingArray {
 public:
  /// `populated`: all pages are there from the beginning, so that grow() never waits for the
  /// kernel. Throws std::bad_alloc.
  explicit GrowingArray(size_t capacity, bool populated = true)
      : capacity_(capacity), elements_(static_cast<T*>(map_large(capacity * sizeof(T)))) {
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
