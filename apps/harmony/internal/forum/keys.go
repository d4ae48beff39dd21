// Package forum keeps sections, topics and replies.
//
// # Rows
//
//	ForumSections  FORUM / sectionId          a section
//	ForumReplies   TOPIC_{topicId} / !topic   the topic, and how many replies it has: the truth
//	               TOPIC_{topicId} / {inv}_{replyId}   a reply
//	ForumTopics    SECTION_{sectionId} / …    a list, as package topic says
//
// The rows of ForumTopics follow the truth: one that it refuses is not shown. A topic moves in its
// list when it is pinned and at most once a minute when it is replied to, and each place has a key
// of its own.
//
// Every change of a reply is one batch with the topic under its ETag, and so is a lock. So the
// number of replies is exact, and no reply of a member lands after a lock was answered.
//
// Package events says who sees the topics of an event.
package forum

import (
	"regexp"

	"prompthub/internal/storage/table"
)

const (
	sectionsPart = "FORUM"
	maxSections  = 1000
)

func sectionKey(id string) table.Key { return table.Key{Partition: sectionsPart, Row: id} }

// replyForm is that of the ids of replies, which are their row keys: ids sort as time does.
var replyForm = regexp.MustCompile(`^[0-9]{19}_[0-9a-f-]{36}$`)
