/// simt/libcu/mdspan.h: cuda::std::mdspan and submdspan: memory seen as an array of
/// several dimensions.
///
/// Elements are m(i, j), as in CUDA's for C++20.
#pragma once
#include <array>
#include <span>
#include <tuple>

#include "simt/libcu/extents.h"

namespace cuda::std {
using namespace ::std;

template <class Element>
struct default_accessor {
    using offset_policy = default_accessor;
    using element_type = Element;
    using reference = Element&;
    using data_handle_type = Element*;

    constexpr default_accessor() noexcept = default;
    template <class Other>
    requires ::std::is_convertible_v<Other (*)[], Element (*)[]>
    constexpr default_accessor(default_accessor<Other>) noexcept {}
    constexpr reference access(Element* data, ::std::size_t i) const noexcept {
        return data[i];
    }
    constexpr Element* offset(Element* data, ::std::size_t i) const noexcept {
        return data + i;
    }
};

template <class Element,
          class Extents,
          class Layout = layout_right,
          class Accessor = default_accessor<Element>>
class mdspan {
 public:
    using extents_type = Extents;
    using layout_type = Layout;
    using accessor_type = Accessor;
    using mapping_type = typename Layout::template mapping<Extents>;
    using element_type = Element;
    using value_type = ::std::remove_cv_t<Element>;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;
    using data_handle_type = typename Accessor::data_handle_type;
    using reference = typename Accessor::reference;

    constexpr mdspan() = default;
    template <class... Sizes>
    requires(sizeof...(Sizes) == Extents::rank() ||
             sizeof...(Sizes) == Extents::rank_dynamic()) &&
        (::std::is_convertible_v<Sizes, index_type> &&
         ...) constexpr explicit mdspan(data_handle_type data, Sizes... sizes)
        : data_(data),
    mapping_(shape(sizes...)) {}
    template <class Size, ::std::size_t kCount>
    requires(kCount == Extents::rank() ||
             kCount ==
                 Extents::rank_dynamic()) constexpr explicit(kCount !=
                                                             Extents::rank_dynamic())
        mdspan(data_handle_type data, const ::std::array<Size, kCount>& sizes)
        : data_(data), mapping_(Extents(sizes)) {}
    constexpr mdspan(data_handle_type data, const Extents& shape)
        : data_(data), mapping_(shape) {}
    constexpr mdspan(data_handle_type data, const mapping_type& mapping)
        : data_(data), mapping_(mapping) {}
    constexpr mdspan(data_handle_type data,
                     const mapping_type& mapping,
                     const Accessor& accessor)
        : data_(data), mapping_(mapping), accessor_(accessor) {}
    template <class E, class X, class L, class A>
    requires ::std::is_constructible_v<Accessor, const A&>
    constexpr mdspan(const mdspan<E, X, L, A>& other)
        : data_(other.data_handle()),
          mapping_(other.mapping()),
          accessor_(other.accessor()) {}

    template <class... Indices>
    requires(sizeof...(Indices) == Extents::rank()) &&
        (::std::is_convertible_v<Indices, index_type> && ...) constexpr reference
        operator()(Indices... indices) const {
        return accessor_.access(data_, mapping_(index_type(indices)...));
    }
    template <class I>
    requires(Extents::rank() == 1 &&
             ::std::is_convertible_v<I, index_type>) constexpr reference
    operator[](I i) const {
        return (*this)(i);
    }
    template <class I>
    constexpr reference operator[](const ::std::array<I, Extents::rank()>& at) const {
        return ::std::apply([this](auto... i) -> reference { return (*this)(i...); },
                            at);
    }

    static constexpr rank_type rank() noexcept { return Extents::rank(); }
    static constexpr rank_type rank_dynamic() noexcept {
        return Extents::rank_dynamic();
    }
    static constexpr ::std::size_t static_extent(rank_type r) noexcept {
        return Extents::static_extent(r);
    }
    constexpr index_type extent(rank_type r) const noexcept {
        return extents().extent(r);
    }
    constexpr size_type size() const noexcept {
        size_type n = 1;
        for (rank_type r = 0; r < rank(); ++r)
            n *= static_cast<size_type>(extent(r));
        return n;
    }
    constexpr bool empty() const noexcept { return size() == 0; }
    constexpr index_type stride(rank_type r) const { return mapping_.stride(r); }
    constexpr const Extents& extents() const noexcept { return mapping_.extents(); }
    constexpr const data_handle_type& data_handle() const noexcept { return data_; }
    constexpr const mapping_type& mapping() const noexcept { return mapping_; }
    constexpr const Accessor& accessor() const noexcept { return accessor_; }
    constexpr bool is_exhaustive() const { return mapping_.is_exhaustive(); }

 private:
    template <class... Sizes>
    static constexpr Extents shape(Sizes... sizes) {
        if constexpr (sizeof...(Sizes) == 0)
            return Extents();
        else
            return Extents(index_type(sizes)...);
    }
    data_handle_type data_{};
    mapping_type mapping_{};
    [[no_unique_address]] Accessor accessor_{};
};

template <class Element, class... Sizes>
requires(sizeof...(Sizes) > 0 && (::std::is_integral_v<Sizes> && ...))
    mdspan(Element*, Sizes...)
->mdspan<Element, dextents<::std::size_t, sizeof...(Sizes)>>;
template <class Element, class Index, ::std::size_t... kSizes>
mdspan(Element*, const extents<Index, kSizes...>&)
    -> mdspan<Element, extents<Index, kSizes...>>;
template <class Element, class Size, ::std::size_t kCount>
mdspan(Element*, const ::std::array<Size, kCount>&)
    -> mdspan<Element, dextents<::std::size_t, kCount>>;
template <class Element, class Mapping>
requires requires {
    typename Mapping::layout_type;
}
mdspan(Element*, const Mapping&)
    ->mdspan<Element, typename Mapping::extents_type, typename Mapping::layout_type>;

/// All of a dimension, for submdspan.
struct full_extent_t {
    explicit full_extent_t() = default;
};
inline constexpr full_extent_t full_extent{};

namespace detail_mdspan {
template <class T>
constexpr bool kIsPair = false;
template <class A, class B>
constexpr bool kIsPair<::std::pair<A, B>> = true;
template <class A, class B>
constexpr bool kIsPair<::std::tuple<A, B>> = true;

/// The first index of a slice, and how many there are.
template <class Index, class Slice>
constexpr ::std::pair<Index, Index> range(const Slice& slice, Index size) {
    if constexpr (::std::is_same_v<Slice, full_extent_t>)
        return {0, size};
    else if constexpr (kIsPair<Slice>)
        return {Index(::std::get<0>(slice)),
                Index(::std::get<1>(slice) - ::std::get<0>(slice))};
    else
        return {Index(slice), 1};
}
}  // namespace detail_mdspan

/// A part of an array: for each dimension an index, a pair [first, last), or
/// full_extent. Dimensions with an index vanish.
template <class E, class X, class L, class... Slices>
requires(sizeof...(Slices) ==
         X::rank()) constexpr auto submdspan(const mdspan<E, X, L>& whole,
                                             Slices... slices) {
    using Index = typename X::index_type;
    constexpr ::std::size_t kRank =
        ((::std::is_convertible_v<Slices, Index> ? 0 : 1) + ... + 0);
    using Shape = dextents<Index, kRank>;
    ::std::array<Index, kRank> sizes{};
    ::std::array<Index, kRank> strides{};
    E* data = whole.data_handle();
    ::std::size_t from = 0, to = 0;
    const auto take = [&](const auto& slice) {
        const auto [first, count] =
            detail_mdspan::range<Index>(slice, whole.extent(from));
        data += first * whole.stride(from);
        if constexpr (!::std::is_convertible_v<decltype(slice), Index>) {
            sizes[to] = count;
            strides[to++] = whole.stride(from);
        }
        ++from;
    };
    (take(slices), ...);
    using Part = mdspan<E, Shape, layout_stride>;
    return Part(data, typename Part::mapping_type(Shape(sizes), strides));
}

}  // namespace cuda::std
