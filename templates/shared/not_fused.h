/* gcc 12 makes fused instructions of a - b, a + b in vectors even with -ffp-contract=off: the last bit would differ. */
#if defined(__GNUC__) && !defined(__clang__) && (defined(__FMA__) || defined(__FMA4__))
#pragma GCC optimize("no-tree-slp-vectorize")
#endif
