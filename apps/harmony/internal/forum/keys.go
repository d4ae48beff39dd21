// Package forum keeps sections, topics and replies.
//
// # Rows
//
//	ForumSections  FORUM / sectionId          a section
//	ForumReplies   TOPIC_{topicId} / !topic   the topic, and how many replies it has: the truth
//	               TOPIC_{topicId} / {inv}_{replyId}   a reply
//	ForumTopics    SECTION_{sectionId} / {0 pinned, 1 not}_{inv of activity}_{topicId}_{moves}   a list
//
// The rows of ForumTopics follow the truth: one that it refuses is not shown. A topic moves in its
// list when it is pinned and at most once a minute when it is replied to, and each place has a key
// of its own.
//
// Every change of a reply is one batch with the topic under its ETag, and so is a lock. So the
// number of replies is exact, and no reply of a member lands after a lock was answered.
package forum

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/storage/table"
)

// Tables names the tables.
type Tables struct {
	ForumSections string `envconfig:"TABLE_FORUM_SECTIONS" default:"ForumSections"`
	ForumTopics   string `envconfig:"TABLE_FORUM_TOPICS" default:"ForumTopics"`
	ForumReplies  string `envconfig:"TABLE_FORUM_REPLIES" default:"ForumReplies"`
}

// Prefixed returns the tables with a prefix in their names.
func (t Tables) Prefixed(prefix string) Tables {
	return Tables{prefix + t.ForumSections, prefix + t.ForumTopics, prefix + t.ForumReplies}
}

// All returns the names.
func (t Tables) All() []string { return []string{t.ForumSections, t.ForumTopics, t.ForumReplies} }

const (
	sectionsPart = "FORUM"
	headRow      = "!topic"
	maxSections  = 1000
)

func sectionKey(id string) table.Key { return table.Key{Partition: sectionsPart, Row: id} }
func headKey(topic string) table.Key { return table.Key{Partition: "TOPIC_" + topic, Row: headRow} }

func replyKey(topic, reply string) table.Key {
	return table.Key{Partition: "TOPIC_" + topic, Row: reply}
}

// replyForm is that of the ids of replies, which are their row keys: ids sort as time does.
var replyForm = regexp.MustCompile(`^[0-9]{19}_[0-9a-f-]{36}$`)

// list returns the keys of the list rows that follow from a topic.
func (t Topic) list() []table.Key {
	if t.deleted {
		return nil
	}
	pinned := 1
	if t.Pinned {
		pinned = 0
	}
	return []table.Key{{Partition: "SECTION_" + t.SectionID, Row: fmt.Sprintf("%d_%s_%s_%d", pinned, meet.Inverse(t.LastActivity), t.ID, t.moves)}}
}

func (t Topic) holds(key table.Key) bool { return slices.Contains(t.list(), key) }

// activity is the instant by which topics are in order.
func activity(now time.Time) time.Time { return now.UTC().Truncate(time.Minute) }
