// Package blog keeps the posts of a community's blog, which admins write and everybody reads.
//
// # Rows
//
//	BlogPosts  POST_{c} / postId                          a post: the truth
//	           BLOG, TAG_{hash of tag} / {inv of publishing}_{postId}_{version}   posts that are published, the newest first
//
// The rows of the lists follow the posts: a row that its post refuses is not shown. Their keys hold
// the version of the post's place in the lists, so no key is ever used for two places. A list
// begins at the present instant, so a post that is published for a later one shows from then on.
package blog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Tables names the table.
type Tables struct {
	BlogPosts string `table:"BlogPosts"`
}

// All returns the names.
func (t Tables) All() []string { return rowstore.TableNames(t) }

// The codes of errors.
const (
	PostNotFound  fault.Code = "POST_NOT_FOUND"
	TitleLength   fault.Code = "POST_TITLE_LENGTH"
	ExcerptLength fault.Code = "POST_EXCERPT_LENGTH"
	ContentLength fault.Code = "POST_CONTENT_LENGTH"
	TagsWrong     fault.Code = "POST_TAGS"
)

// The bounds of a post, in UTF-16 units.
const (
	maxTitle   = 200
	maxExcerpt = 500
	maxContent = 30_000
	maxTags    = 10
	maxTag     = 30
)

// A Post is a text of the blog.
type Post struct {
	ID, Title, Excerpt, Content string
	Tags                        []string
	AuthorID                    string // "" once the author is erased
	ImageURL                    string // "" if there is no picture
	Published                   bool
	PublishedAt                 time.Time // zero if no time was given yet
	CreatedAt, UpdatedAt        time.Time

	version int64 // of its place in the lists
	etag    string
}

// A Draft is what an admin writes of a post.
type Draft struct {
	Title, Excerpt, Content string
	Tags                    []string
	Published               bool
	PublishedAt             string // RFC 3339, or a time of the zone; "" for now, or as it was
	Zone                    string // of a time without an offset, "" if there is none
	// requests with one key and the same draft make one post; "" for a request without one
	Key string
}

const (
	postRows = "POST_"
	listRows = "BLOG"
	tagRows  = "TAG_"
)

// tagList is the partition of the posts with a tag, in any case.
func tagList(tag string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(tag))))
	return tagRows + hex.EncodeToString(sum[:16])
}

func postKey(id string) table.Key { return table.Key{Partition: postRows + id[:1], Row: id} }

// isSeen reports whether everybody sees the post.
func (p Post) isSeen(now time.Time) bool { return p.Published && !p.PublishedAt.After(now) }

// listKeys returns the keys of the rows that follow from a post.
func (p Post) listKeys() []table.Key {
	if !p.Published {
		return nil
	}
	place := fmt.Sprintf("%s_%s_%d", rowstore.Descending(p.PublishedAt), p.ID, p.version)
	all := []table.Key{{Partition: listRows, Row: place}}
	for _, tag := range p.Tags {
		if key := (table.Key{Partition: tagList(tag), Row: place}); !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return all
}

func (p Post) holdsKey(key table.Key) bool { return slices.Contains(p.listKeys(), key) }

// columns are the properties of a post but its tags.
var columns = rowstore.Columns[Post]{
	rowstore.Derived("PostId", func(p *Post) table.Value { return table.String(p.ID) }),
	rowstore.Text("Title", func(p *Post) *string { return &p.Title }),
	rowstore.Text("Excerpt", func(p *Post) *string { return &p.Excerpt }),
	rowstore.Text("Content", func(p *Post) *string { return &p.Content }),
	rowstore.Text("AuthorId", func(p *Post) *string { return &p.AuthorID }),
	rowstore.Flag("IsPublished", func(p *Post) *bool { return &p.Published }),
	rowstore.Instant("CreatedAt", func(p *Post) *time.Time { return &p.CreatedAt }),
	rowstore.Instant("UpdatedAt", func(p *Post) *time.Time { return &p.UpdatedAt }),
	rowstore.Long("Version", func(p *Post) *int64 { return &p.version }),
	rowstore.Text("ImageUrl", func(p *Post) *string { return &p.ImageURL }).Optional(),
	rowstore.Instant("PublishedAt", func(p *Post) *time.Time { return &p.PublishedAt }).Optional(),
}

func (p Post) toRow() table.Row {
	tags, err := json.Marshal(p.Tags)
	if err != nil {
		panic(err) // of texts
	}
	return table.Row{
		Key: postKey(p.ID), ETag: p.etag,
		Props: append(columns.Props(&p), table.Prop{Name: "Tags", Value: table.String(string(tags))}),
	}
}

func parsePost(row table.Row) (Post, error) {
	p := Post{ID: row.Key.Row, etag: row.ETag}
	columns.Read(row.Props, &p)
	if err := json.Unmarshal([]byte(row.Props.Get("Tags").Str()), &p.Tags); err != nil {
		return p, fmt.Errorf("read the tags of a post: %w", err)
	}
	return p, nil
}

// writeTo writes a draft into a post. The error names the rules that it breaks.
func (d Draft) writeTo(p *Post, now time.Time) error {
	var b rules.Broken
	p.Title = b.Text("title", d.Title, 1, maxTitle, TitleLength, false)
	p.Excerpt = b.Text("excerpt", d.Excerpt, 0, maxExcerpt, ExcerptLength, true)
	p.Content = b.Text("content", d.Content, 1, maxContent, ContentLength, true)
	p.Tags = []string{}
	for _, tag := range d.Tags {
		p.Tags = append(p.Tags, b.Text("tags", tag, 1, maxTag, TagsWrong, false))
	}
	if len(p.Tags) > maxTags {
		b.Add("tags", TagsWrong, "give up to 10 tags of 1 to 30 characters", nil)
	}
	p.Published = d.Published
	switch {
	case d.PublishedAt != "":
		var zone *time.Location
		if d.Zone != "" {
			zone = b.Zone("timeZone", d.Zone)
		}
		p.PublishedAt = b.Moment("publishedAt", d.PublishedAt, zone)
	case d.Published && p.PublishedAt.IsZero():
		p.PublishedAt = now.UTC().Truncate(time.Millisecond)
	}
	return b.Err()
}
