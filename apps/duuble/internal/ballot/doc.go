// Package ballot counts votes so that the position that a person chose is found by no caller,
// by no number of reads, and not in the stored data.
//
// A vote has a set of scopes: global, and each hub that it counts in. Votes with the same
// scopes are of one class. A vote that is cast waits in the box of its class, sealed under a
// key that is not in the store. Once three times VoteMin votes are in a box, some are released:
// one batch counts a random number of random votes, VoteMin to twice that, in all their scopes,
// and takes them out of the box. So each counted number, in any row and at any time, is a sum over
// whole releases, and so is every sum or difference of such numbers. No one knows whose votes are
// in a release, so those who know of two of them learn little of the others.
//
// All rows of a post's votes are in the partition p|{post} of one table:
//
//	v|{user}         the receipt: the user has voted, when, and in which scopes
//	b|{class}|{nn}   the box: how many votes wait, their scopes, and the sealed positions
//	!k|{nn}          the tally of the scope global: all votes, and those that are counted
//	k|{hub}|{nn}     the tally of a hub
//	!end             when all votes are counted at once, of a post that has an end
//	o|{id}           the outbox: voters whose vote must still be told to other partitions
//
// nn is a shard, so that processes that count votes on one post do not wait for each other. A
// post has 1 to MaxShards. One batch writes receipts, boxes, tallies and the outbox, all or
// nothing, under the ETags of what it read.
//
// Votes that are left in boxes are released by Settle, which joins boxes once they are old
// enough.
package ballot
