// SPDX-License-Identifier: BSD-3-Clause
// Solves the dual problem by an interior point method: minimises over prices p > 0
//
//   f(p) = sum C_l p_l - sum w_i log(sum_l a_il p_l) - mu sum log p_l
//
// by Newton's method while mu shrinks. The last term is one more flow of weight mu on each link
// alone. The final mu is so far below the smallest weight that its effect is negligible.
#include "sender/results/entitlement.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace turnpike::sender {
namespace {

constexpr double kMinMu = 1e-10;  // fraction of the smallest weight
constexpr double kShrink = 0.1;
constexpr int kMaxSteps = 200;        // per mu; Newton's method takes about ten
constexpr double kConverged = 1e-12;  // half the squared Newton decrement, relative to mu
constexpr double kRoom = 1e-6;  // fraction of a link's capacity; if more is unused, its price is 0

using Vector = std::vector<double>;

/// The dual problem in units where every capacity is 1 and the weights sum to 1.
struct Problem {
  std::vector<Demand> demands;  // links by their number here, loads relative to capacity
  size_t links = 0;

  static double price_of(const Demand& d, const Vector& p) {
    double sum = 0;
    for (const Crossing& c : d.path) sum += c.load * p[c.link];
    return sum;
  }

  double value(const Vector& p, double mu) const {
    double f = 0;
    for (const double price : p) f += price - mu * std::log(price);
    for (const Demand& d : demands) f -= d.weight * std::log(price_of(d, p));
    return f;
  }

  /// Gradient and Hessian (dense, row by row).
  void derive(const Vector& p, double mu, Vector& gradient, Vector& hessian) const {
    gradient.assign(links, 1);
    hessian.assign(links * links, 0);
    for (size_t l = 0; l < links; ++l) {
      gradient[l] -= mu / p[l];
      hessian[l * links + l] = mu / (p[l] * p[l]);
    }
    for (const Demand& d : demands) {
      const double price = price_of(d, p);
      const double rate = d.weight / price;
      for (const Crossing& a : d.path) {
        gradient[a.link] -= rate * a.load;
        for (const Crossing& b : d.path)
          hessian[a.link * links + b.link] += rate / price * a.load * b.load;
      }
    }
  }
};

/// Solves H x = b for a positive definite H by Cholesky's method; both are overwritten, b by x.
void solve_linear(Vector& h, Vector& b) {
  const size_t n = b.size();
  for (size_t j = 0; j < n; ++j) {
    for (size_t k = 0; k < j; ++k) h[j * n + j] -= h[j * n + k] * h[j * n + k];
    // Rounding may reduce a pivot to 0 if two links carry exactly the same flows.
    h[j * n + j] = std::sqrt(std::max(h[j * n + j], 1e-300));
    for (size_t i = j + 1; i < n; ++i) {
      for (size_t k = 0; k < j; ++k) h[i * n + j] -= h[i * n + k] * h[j * n + k];
      h[i * n + j] /= h[j * n + j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= h[i * n + k] * b[k];
    b[i] /= h[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= h[k * n + i] * b[k];
    b[i] /= h[i * n + i];
  }
}

/// Newton's method at one mu; `p`: initial value and result.
void centre(const Problem& problem, double mu, Vector& p) {
  Vector gradient, hessian, step;
  for (int n = 0; n < kMaxSteps; ++n) {
    problem.derive(p, mu, gradient, hessian);
    // In units of p, so that the matrix is well scaled for any ratio of prices.
    for (size_t i = 0; i < p.size(); ++i) {
      gradient[i] *= p[i];
      for (size_t j = 0; j < p.size(); ++j) hessian[i * p.size() + j] *= p[i] * p[j];
    }
    step = gradient;
    solve_linear(hessian, step);
    double slope = 0, largest = 0;
    for (size_t i = 0; i < p.size(); ++i) {
      slope += step[i] * gradient[i];
      largest = std::max(largest, step[i]);
    }
    if (!(slope > kConverged * mu)) return;
    // A step of at most 0.95 of the way to a price of 0; then halve it until the value falls.
    double length = std::min(1.0, 0.95 / std::max(largest, 1e-300));
    const double before = problem.value(p, mu);
    Vector next = p;
    while (length > 1e-12) {
      for (size_t i = 0; i < p.size(); ++i) next[i] = p[i] * (1 - length * step[i]);
      if (problem.value(next, mu) <= before - length * slope / 4) break;
      // Near the optimum, rounding errors exceed the fall: accept the full step.
      if (slope < 1e-9 && length == 1) break;
      length /= 2;
    }
    if (length <= 1e-12) return;
    p = next;
  }
}

/// Solves the whole problem: minimises while mu shrinks. Returns the prices.
Vector solve(const Problem& problem, double last_mu) {
  Vector p(problem.links, 1);  // all budgets at every link: above the solution
  double mu = 0.1;
  while (mu > last_mu) {
    centre(problem, mu, p);
    mu *= kShrink;
  }
  centre(problem, last_mu, p);
  return p;
}

/// The links that the problem has to know, of all that demands cross. A link that would have room
/// at the solution does not change it, and a Newton step takes time with the cube of the links.
class Binding {
 public:
  /// Begins with a link of each demand: the one that would cost most if it were the only link.
  Binding(const std::vector<Demand>& demands, size_t links) : number_(links, kLeftOut) {
    Vector alone(links, 0);
    for (const Demand& d : demands)
      for (const Crossing& c : d.path) alone[c.link] += d.weight * c.load;
    for (const Demand& d : demands)
      add(std::ranges::max(d.path, {}, [&](const Crossing& c) { return alone[c.link]; }).link);
  }

  [[nodiscard]] Problem problem(const std::vector<Demand>& demands) const {
    Problem out{.demands = {}, .links = links_.size()};
    for (const Demand& d : demands) {
      Demand& known = out.demands.emplace_back(Demand{d.weight, {}});
      for (const Crossing& c : d.path)
        if (number_[c.link] != kLeftOut) known.path.push_back({number_[c.link], c.load});
    }
    return out;
  }
  /// Adds the links that these rates overload; false: there is none.
  bool add_overloaded(const std::vector<Demand>& demands, const Vector& rates) {
    Vector load(number_.size(), 0);
    for (size_t i = 0; i < demands.size(); ++i)
      for (const Crossing& c : demands[i].path) load[c.link] += rates[i] * c.load;
    const size_t before = links_.size();
    for (size_t l = 0; l < load.size(); ++l)
      if (load[l] > 1 + kRoom) add(l);
    return links_.size() > before;
  }
  [[nodiscard]] const std::vector<size_t>& links() const { return links_; }

 private:
  static constexpr size_t kLeftOut = SIZE_MAX;

  void add(size_t link) {
    if (number_[link] != kLeftOut) return;
    number_[link] = links_.size();
    links_.push_back(link);
  }

  std::vector<size_t> number_, links_;
};

Vector rates_at(const Problem& problem, const Vector& p) {
  Vector rates;
  rates.reserve(problem.demands.size());
  for (const Demand& d : problem.demands) rates.push_back(d.weight / Problem::price_of(d, p));
  return rates;
}

}  // namespace

Entitlement entitlement(const std::vector<Demand>& demands, const std::vector<double>& capacities) {
  Entitlement result{Vector(demands.size(), 0), Vector(capacities.size(), 0)};
  double total = 0, least = INFINITY;
  std::vector<size_t> solved;  // indices of demands
  for (size_t i = 0; i < demands.size(); ++i) {
    if (!(demands[i].weight > 0) || demands[i].path.empty()) continue;
    total += demands[i].weight;
    least = std::min(least, demands[i].weight);
    solved.push_back(i);
  }
  if (solved.empty()) return result;

  std::vector<Demand> scaled;
  for (const size_t i : solved) {
    Demand& d = scaled.emplace_back(Demand{demands[i].weight / total, {}});
    for (const Crossing& c : demands[i].path)
      d.path.push_back({c.link, c.load / capacities[c.link]});
  }
  const double last_mu = kMinMu * least / total;
  Binding binding(scaled, capacities.size());
  Vector p, rates;
  do {
    const Problem problem = binding.problem(scaled);
    p = solve(problem, last_mu);
    rates = rates_at(problem, p);
  } while (binding.add_overloaded(scaled, rates));

  for (size_t k = 0; k < solved.size(); ++k) result.rates[solved[k]] = rates[k];
  // The extra flow's rate mu / p is the unused capacity of its link.
  for (size_t k = 0; k < p.size(); ++k) {
    const size_t link = binding.links()[k];
    if (last_mu / p[k] < kRoom) result.prices[link] = p[k] * total / capacities[link];
  }
  return result;
}

}  // namespace turnpike::sender
