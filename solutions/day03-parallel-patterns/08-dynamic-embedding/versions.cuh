// versions.cuh: the versions of each function, by the names under which tests and
// benchmarks run them.
#pragma once

WB_RUNG(table_find, table_find_v1, "a thread a key");
WB_RUNG(table_find, table_find_v2, "16 lanes a bucket");
WB_RUNG(table_find, table_find_v3, "digests before keys");
WB_RUNG(table_find, table_find_v4, "four keys in flight");

WB_RUNG(table_insert_or_find, table_insert_or_find_v1, "a thread a key");
WB_RUNG(table_insert_or_find, table_insert_or_find_v2, "16 lanes a bucket");
WB_RUNG(table_insert_or_find, table_insert_or_find_v3, "digests before keys");
WB_RUNG(table_insert_or_find, table_insert_or_find_v4, "four keys in flight");

WB_RUNG(table_lookup, table_lookup_v1, "a thread an element");
WB_RUNG(table_lookup, table_lookup_v2, "four rows in flight");

WB_RUNG(table_backward, table_backward_v1, "a thread an element");
WB_RUNG(table_backward, table_backward_v2, "lanes share a row");
