/// wb/testing/attention_stored.h: what cases of strength three expect of q, k, v and o
/// that are stored in few bits.
#pragma once

#include <wb/attention.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_scores.h>
#include <wb/testing/attention_triples.h>
#include <wb/testing/stored_types.h>

#include <cstddef>

namespace wb::testing {

/// What grade_triple() asks of a type.
/// @tparam kExpect  of a shape, and of inputs that T holds exactly
template <class T,
          AttentionExpected (*kExpect)(const AttentionShape&, const AttentionInputs&)>
struct StoredTriples {
    static AttentionInputs stored(const AttentionInputs& inputs) {
        return as_stored<T>(inputs);
    }
    static AttentionExpected expect(const AttentionShape& shape,
                                    const AttentionInputs& inputs) {
        return kExpect(shape, inputs);
    }
    static AttentionExpected chosen(const AttentionShape& shape,
                                    const AttentionInputs& inputs) {
        AttentionExpected expected = expect_equal_weights(shape, inputs);
        for (std::size_t i = 0; i < expected.o.size(); ++i)
            expected.o_bound[i] = stored_bound<T>(expected.o[i], expected.o_bound[i]);
        return expected;
    }
    static AttentionExpected uneven(const AttentionShape& shape,
                                    const AttentionInputs& inputs) {
        AttentionExpected expected = expect(shape, inputs);
        expected.lse_bound = expect_uneven_choice(shape, inputs).lse_bound;
        return expected;
    }
    static AttentionExpected stepped(const AttentionShape& shape,
                                     const AttentionInputs& inputs) {
        AttentionExpected expected = expect(shape, inputs);
        expected.lse_bound = expect_stepped(shape, inputs).lse_bound;
        return expected;
    }
};

}  // namespace wb::testing
