// Direction vectors of Sobol's sequences: the numbers that Joe and Kuo published
// ("Constructing Sobol sequences with better two-dimensional projections", 2008, the
// set D6), which cuRAND uses. For dimensions 2 to 1111 the vectors of both libraries
// were compared, of 32 and of 64 bits; they are equal.

#include <sys/mman.h>

#include "api/call.h"
#include "simt/curand/sobol_host.h"

namespace simt::detail {
namespace {

/// Of dimension d, with a polynomial of degree s, the numbers m_2 to m_s (m_1 is 1). As
/// m_i is odd and less than 2^i, it is (m_i - 1) / 2 in i - 1 bits, six in a character.
constexpr char kNumbers[] =
#include "joe_kuo.inc"
    ;

/// Reads the bits of kNumbers one after the other.
class Bits {
 public:
    unsigned next(int count) {
        unsigned result = 0;
        for (; count > 0; --count, ++at_)
            result = result << 1 | ((digit(kNumbers[at_ / 6]) >> (5 - at_ % 6)) & 1);
        return result;
    }

 private:
    static unsigned digit(char c) {
        if (c >= 'A' && c <= 'Z') return static_cast<unsigned>(c - 'A');
        if (c >= 'a' && c <= 'z') return static_cast<unsigned>(c - 'a') + 26;
        if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0') + 52;
        return c == '+' ? 62 : 63;
    }
    size_t at_ = 0;
};

/// Is x^s + ... + 1, the inner coefficients being the bits of a, primitive: are the
/// powers of x all the 2^s - 1 polynomials?
bool is_primitive(int s, unsigned a) {
    const unsigned polynomial = 1u << s | a << 1 | 1;
    unsigned x = 1, order = 0;
    do {
        x <<= 1;
        if (x >> s & 1) x ^= polynomial;
    } while (++order < (1u << s) && x != 1);
    return order == (1u << s) - 1;
}

/// The vectors of one dimension from its numbers.
template <class Word>
void extend(Word* v, int s, unsigned a, const unsigned* m) {
    constexpr int kBits = 8 * sizeof(Word);
    for (int i = 0; i < kBits; ++i) {
        if (i < s) {
            v[i] = Word(m[i]) << (kBits - 1 - i);
            continue;
        }
        v[i] = v[i - s] ^ (v[i - s] >> s);
        for (int k = 1; k < s; ++k)
            if (a >> (s - 1 - k) & 1) v[i] ^= v[i - k];
    }
}

/// All dimensions that are known. A program that takes the vectors of others, which
/// cuRAND has, meets memory that nobody may read.
template <class Word>
Word* make_table() {
    constexpr size_t kBits = 8 * sizeof(Word);
    constexpr size_t kPage = 4096;
    const size_t known = kSobolDimensions * kBits * sizeof(Word);
    const size_t whole = 20000 * kBits * sizeof(Word);
    const size_t open = (known + kPage - 1) / kPage * kPage;
    void* memory = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, open, PROT_READ | PROT_WRITE) != 0)
        return nullptr;
    Word* const table = static_cast<Word*>(memory);
    for (size_t i = 0; i < kBits; ++i)
        table[i] = Word(1) << (kBits - 1 - i);
    Bits numbers;
    size_t d = 1;
    for (int s = 1; d < kSobolDimensions; ++s)
        for (unsigned a = 0; a < (1u << (s - 1)); ++a) {
            if (!is_primitive(s, a)) continue;
            unsigned m[16] = {1};
            for (int i = 1; i < s; ++i)
                m[i] = 2 * numbers.next(i) + 1;
            extend(table + d++ * kBits, s, a, m);
        }
    return table;
}

template <class Word>
Word* table() {
    static Word* const made = make_table<Word>();
    return made;
}

template <class Vectors, class Word>
curandStatus_t give(Vectors** vectors, curandDirectionVectorSet_t set, int plain,
                    Word* words) {
    if (!vectors || !words) return CURAND_STATUS_OUT_OF_RANGE;
    if (set != plain) {
        hint(
            "cuRAND: scrambled direction vectors are random numbers of NVIDIA's and "
            "not "
            "simulated");
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    *vectors = reinterpret_cast<Vectors*>(words);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t refuse_constants() {
    hint(
        "cuRAND: its scramble constants are random numbers of NVIDIA's and not "
        "simulated");
    return CURAND_STATUS_TYPE_ERROR;
}

}  // namespace

unsigned int* sobol_vectors32() {
    return table<unsigned int>();
}
unsigned long long* sobol_vectors64() {
    return table<unsigned long long>();
}

bool knows_sobol_dimensions(unsigned dimensions) {
    if (dimensions <= kSobolDimensions) return true;
    hint("cuRAND: of %u dimensions only the first %zu are simulated", dimensions,
         kSobolDimensions);
    return false;
}

}  // namespace simt::detail

using namespace simt::detail;

curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t** vectors,
                                           curandDirectionVectorSet_t set) {
    return give(vectors, set, CURAND_DIRECTION_VECTORS_32_JOEKUO6, sobol_vectors32());
}
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t** vectors,
                                           curandDirectionVectorSet_t set) {
    return give(vectors, set, CURAND_DIRECTION_VECTORS_64_JOEKUO6, sobol_vectors64());
}
curandStatus_t curandGetScrambleConstants32(unsigned int**) {
    return refuse_constants();
}
curandStatus_t curandGetScrambleConstants64(unsigned long long**) {
    return refuse_constants();
}
