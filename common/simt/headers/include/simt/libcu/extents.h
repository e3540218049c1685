/// simt/libcu/extents.h: shapes and layouts of cuda::std::mdspan, as C++23 defines
/// them.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace cuda::std {

inline constexpr ::std::size_t dynamic_extent = ::std::dynamic_extent;

/// The sizes of an array: those that are dynamic_extent are known at run time only.
template <class Index, ::std::size_t... kSizes>
class extents {
 public:
    using index_type = Index;
    using size_type = ::std::make_unsigned_t<Index>;
    using rank_type = ::std::size_t;

    static constexpr rank_type rank() noexcept { return sizeof...(kSizes); }
    static constexpr rank_type rank_dynamic() noexcept {
        return ((kSizes == dynamic_extent ? 1 : 0) + ... + 0);
    }
    static constexpr ::std::size_t static_extent(rank_type r) noexcept {
        constexpr ::std::size_t sizes[] = {kSizes..., 0};
        return sizes[r];
    }
    constexpr index_type extent(rank_type r) const noexcept { return size_[r]; }

    constexpr extents() noexcept {
        for (rank_type r = 0; r < rank(); ++r)
            size_[r] = static_extent(r) == dynamic_extent ? 0 : Index(static_extent(r));
    }
    /// From all sizes, or from the dynamic ones.
    template <class... Sizes>
    requires((::std::is_convertible_v<Sizes, Index> && ...) &&
             (sizeof...(Sizes) == sizeof...(kSizes) ||
              sizeof...(Sizes) == rank_dynamic()) &&
             sizeof...(Sizes) > 0) constexpr explicit extents(Sizes... sizes) noexcept
        : extents(::std::array<Index, sizeof...(Sizes)>{Index(sizes)...}) {}
    template <class Size, ::std::size_t kCount>
    requires(kCount == sizeof...(kSizes) ||
             kCount == rank_dynamic()) constexpr explicit(kCount != rank_dynamic())
        extents(const ::std::array<Size, kCount>& sizes) noexcept
        : extents() {
        ::std::size_t next = 0;
        for (rank_type r = 0; r < rank(); ++r) {
            if (kCount == rank())
                size_[r] = Index(sizes[r]);
            else if (static_extent(r) == dynamic_extent)
                size_[r] = Index(sizes[next++]);
        }
    }
    template <class Other, ::std::size_t... kOthers>
    requires(sizeof...(kOthers) == sizeof...(kSizes)) constexpr extents(
        const extents<Other, kOthers...>& other) noexcept {
        for (rank_type r = 0; r < rank(); ++r)
            size_[r] = Index(other.extent(r));
    }
    template <class Other, ::std::size_t... kOthers>
    friend constexpr bool operator==(const extents& a,
                                     const extents<Other, kOthers...>& b) noexcept {
        if (a.rank() != b.rank()) return false;
        for (rank_type r = 0; r < rank(); ++r)
            if (::std::cmp_not_equal(a.extent(r), b.extent(r))) return false;
        return true;
    }

 private:
    Index size_[sizeof...(kSizes) + 1] = {};
};

template <class... Sizes>
extents(Sizes...) -> extents<::std::size_t, (0 * sizeof(Sizes) + dynamic_extent)...>;

namespace detail_mdspan {
template <class Index, class Ranks>
struct Dynamic;
template <class Index, ::std::size_t... kRanks>
struct Dynamic<Index, ::std::index_sequence<kRanks...>> {
    using type = extents<Index, (0 * kRanks + dynamic_extent)...>;
};

/// A mapping by strides that `Derived::stride` knows.
template <class Extents>
class Mapping {
 public:
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;

    constexpr Mapping() noexcept = default;
    constexpr Mapping(const Extents& shape) noexcept : shape_(shape) {}
    constexpr const Extents& extents() const noexcept { return shape_; }
    static constexpr bool is_always_unique() noexcept { return true; }
    static constexpr bool is_always_strided() noexcept { return true; }
    static constexpr bool is_unique() noexcept { return true; }
    static constexpr bool is_strided() noexcept { return true; }

 protected:
    /// The product of sizes [first, last).
    constexpr index_type product(rank_type first, rank_type last) const noexcept {
        index_type n = 1;
        for (rank_type r = first; r < last; ++r)
            n *= shape_.extent(r);
        return n;
    }
    Extents shape_{};
};

/// The sum of indices times strides.
template <class Map, class... Indices>
constexpr typename Map::index_type offset(const Map& map, Indices... indices) noexcept {
    using Index = typename Map::index_type;
    const Index at[] = {Index(indices)..., 0};
    Index sum = 0;
    for (::std::size_t r = 0; r < sizeof...(Indices); ++r)
        sum += at[r] * map.stride(r);
    return sum;
}
}  // namespace detail_mdspan

template <class Index, ::std::size_t kRank>
using dextents =
    typename detail_mdspan::Dynamic<Index, ::std::make_index_sequence<kRank>>::type;
template <::std::size_t kRank, class Index = ::std::size_t>
using dims = dextents<Index, kRank>;

/// The last index moves fastest, as in C.
struct layout_right {
    template <class Extents>
    class mapping : public detail_mdspan::Mapping<Extents> {
        using Base = detail_mdspan::Mapping<Extents>;

     public:
        using layout_type = layout_right;
        using Base::Base;
        template <class Other>
        constexpr mapping(const mapping<Other>& other) noexcept
            : Base(Extents(other.extents())) {}
        static constexpr bool is_always_exhaustive() noexcept { return true; }
        static constexpr bool is_exhaustive() noexcept { return true; }
        constexpr auto stride(::std::size_t r) const noexcept {
            return this->product(r + 1, Extents::rank());
        }
        constexpr auto required_span_size() const noexcept {
            return this->product(0, Extents::rank());
        }
        template <class... Indices>
        constexpr auto operator()(Indices... indices) const noexcept {
            return detail_mdspan::offset(*this, indices...);
        }
    };
};

/// The first index moves fastest, as in Fortran and BLAS.
struct layout_left {
    template <class Extents>
    class mapping : public detail_mdspan::Mapping<Extents> {
        using Base = detail_mdspan::Mapping<Extents>;

     public:
        using layout_type = layout_left;
        using Base::Base;
        template <class Other>
        constexpr mapping(const mapping<Other>& other) noexcept
            : Base(Extents(other.extents())) {}
        static constexpr bool is_always_exhaustive() noexcept { return true; }
        static constexpr bool is_exhaustive() noexcept { return true; }
        constexpr auto stride(::std::size_t r) const noexcept {
            return this->product(0, r);
        }
        constexpr auto required_span_size() const noexcept {
            return this->product(0, Extents::rank());
        }
        template <class... Indices>
        constexpr auto operator()(Indices... indices) const noexcept {
            return detail_mdspan::offset(*this, indices...);
        }
    };
};

/// Strides of any size.
struct layout_stride {
    template <class Extents>
    class mapping : public detail_mdspan::Mapping<Extents> {
        using Base = detail_mdspan::Mapping<Extents>;
        using Index = typename Base::index_type;

     public:
        using layout_type = layout_stride;
        constexpr mapping() noexcept : mapping(layout_right::mapping<Extents>()) {}
        template <class Stride>
        constexpr mapping(const Extents& shape,
                          const ::std::array<Stride, Extents::rank()>& strides) noexcept
            : Base(shape) {
            for (::std::size_t r = 0; r < Extents::rank(); ++r)
                stride_[r] = Index(strides[r]);
        }
        template <class Other>
        requires requires(const Other& other) {
            other.stride(0);
            other.extents();
        }
        constexpr mapping(const Other& other) noexcept
            : Base(Extents(other.extents())) {
            for (::std::size_t r = 0; r < Extents::rank(); ++r)
                stride_[r] = Index(other.stride(r));
        }
        static constexpr bool is_always_exhaustive() noexcept { return false; }
        constexpr bool is_exhaustive() const noexcept {
            return required_span_size() == this->product(0, Extents::rank());
        }
        constexpr Index stride(::std::size_t r) const noexcept { return stride_[r]; }
        constexpr ::std::array<Index, Extents::rank()> strides() const noexcept {
            ::std::array<Index, Extents::rank()> all{};
            for (::std::size_t r = 0; r < Extents::rank(); ++r)
                all[r] = stride_[r];
            return all;
        }
        constexpr Index required_span_size() const noexcept {
            Index last = 0;
            for (::std::size_t r = 0; r < Extents::rank(); ++r) {
                if (this->shape_.extent(r) == 0) return 0;
                last += (this->shape_.extent(r) - 1) * stride_[r];
            }
            return last + 1;
        }
        template <class... Indices>
        constexpr auto operator()(Indices... indices) const noexcept {
            return detail_mdspan::offset(*this, indices...);
        }

     private:
        Index stride_[Extents::rank() + 1] = {};
    };
};

}  // namespace cuda::std
