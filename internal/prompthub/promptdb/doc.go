// Package promptdb keeps prompts, votes and tags in tables: their keys, the truth rows, the
// index rows that follow them, the lists read from those, and the checks that prove that all agree.
// It is the only code that reads or writes the tables.
//
// There is one truth row for each prompt, in the partition of its author. Every other row of
// a prompt is a pure function of it: rows is the only code that knows which exist. Table
// Storage has no transaction across partitions, so a write goes like this:
//
//  1. A repair message is put on the queue index-repairs, invisible for 100 s.
//  2. The truth row is written under its ETag, in one batch with the author's summary row. This
//     is the commit point. The same write sets Pending: who projects, until when, and which
//     index rows become stale.
//  3. The index rows are written and the stale ones deleted, in parallel.
//  4. Pending is cleared, under the ETag of the commit, and the repair message deleted.
//
// Pending is clear if and only if the index rows agree with the truth row. Only the holder of an
// unexpired Pending writes index rows of the prompt; who finds an expired one takes it over and
// finishes it. So whatever stops a writer, its repair message finds the row and does the rest.
//
// Where the storage changes tables and queues together, as the embedded store does, step 2 alone is
// left, with the index rows in it: see atomic.go.
//
// A vote and its share of the tally are one batch in the partition of the prompt. The counts
// reach the truth row, and with it the index rows, by a message on the queue score-bucket-moves.
//
// keys.go holds the schema.
package promptdb
