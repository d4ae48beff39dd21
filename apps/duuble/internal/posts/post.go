package posts

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/table"
)

// Lengths of the texts of a post, in characters.
const (
	MaxThought     = 250
	MaxSlider      = 260
	MaxLabel       = 50
	MaxArticle     = 60_000
	MaxLinkTitle   = 200
	MaxDescription = 500
	MaxURL         = 2000
	// MaxExcerpt is how much of the text of an article a card in a list has.
	MaxExcerpt = 500
)

// The visibilities of posts.
const (
	Public    = "public"             // everybody sees it, in all lists
	PublicHub = "public_hub"         // everybody sees it, in the lists of hubs and of its author
	Locked    = "private_locked_hub" // its author and the members of its hubs see it
)

// Visibilities are all of them.
var Visibilities = []string{Public, PublicHub, Locked}

// MaxTargets is in how many hubs a post can be.
const MaxTargets = 20

// Kinds are those of an article: a text, a link, a picture, or several of them.
var Kinds = []string{"text", "link", "media", "mixed"}

// An Article is what a post is about.
type Article struct {
	Kind, Text                          string
	LinkURL, LinkTitle, LinkDescription string
	Picture                             string `json:",omitzero"` // an asset
	More                                bool   // whether Text is the beginning of a longer one
}

// cutText leaves as much of the text as a card in a list has.
func (a *Article) cutText() {
	if some := cutParts(a.Text, MaxExcerpt); len(some) > 1 {
		a.Text, a.More = strings.Clone(some[0]), true
	}
}

// A Slider asks for an opinion between two sides. With an end nothing is counted before it, and all
// votes then.
type Slider struct {
	Text, LeftLabel, RightLabel string
	EndsAt                      time.Time `json:",omitzero"` // zero if there is no end by time
	EndsWhenAllVoted            bool      `json:",omitzero"` // or as soon as all have voted who were members of the hub
}

// hasEnd reports whether the votes are counted at an end.
func (s *Slider) hasEnd() bool { return s != nil && (s.EndsWhenAllVoted || !s.EndsAt.IsZero()) }

// Bounds of an end.
const (
	MaxEnd     = 90 * 24 * time.Hour
	defaultEnd = 30 * 24 * time.Hour // of a slider that waits for people and has no time
)

// A Draft is what somebody posts. Nil parts and empty texts are absent; one part there must be.
type Draft struct {
	Thought    *string
	Slider     *Slider
	Article    *Article
	Visibility string   // one of Visibilities; "" is Public
	Hubs       []string // none of a public post
	Source     string   // the post that a repost is of; "" of an original
}

func (d Draft) checkDraft(now time.Time) error {
	var b rules.Broken
	if d.Source == "" {
		b.Add(d.Thought != nil || d.Slider != nil || d.Article != nil, "thoughtText",
			"give a thought, a slider or an article")
	} else {
		b.Add(d.Thought != nil || d.Slider != nil, "thoughtText", "give a thought or a slider of your own")
	}
	b.OneOf("visibility", d.Visibility, Visibilities)
	b.Add(d.Visibility != Public || len(d.Hubs) == 0, "hubIds",
		"leave them out of a public post, or give another visibility")
	b.Add(d.Visibility == Public || len(d.Hubs) > 0 && len(d.Hubs) <= MaxTargets, "hubIds",
		"give 1 to 20 hubs, each once")
	b.Add(len(slices.Compact(slices.Sorted(slices.Values(d.Hubs)))) == len(d.Hubs), "hubIds", "give each hub once")
	b.Add(!slices.ContainsFunc(d.Hubs, func(id string) bool { return !schema.IsID(id) }), "hubIds", "give ids of hubs")
	if d.Thought != nil {
		b.Lines("thoughtText", *d.Thought, 1, MaxThought)
	}
	if d.Slider != nil {
		b.Line("slider.text", d.Slider.Text, 1, MaxSlider)
		b.Line("slider.leftLabel", d.Slider.LeftLabel, 0, MaxLabel)
		b.Line("slider.rightLabel", d.Slider.RightLabel, 0, MaxLabel)
		b.Add(d.Slider.EndsAt.IsZero() || d.Slider.EndsAt.After(now) && d.Slider.EndsAt.Sub(now) <= MaxEnd,
			"slider.endsAt", "give a time from now on, up to 90 days")
		b.Add(!d.Slider.EndsWhenAllVoted || d.Visibility == Locked && len(d.Hubs) == 1, "slider.endsWhenAllVoted",
			"leave it out, or post for the members of one hub alone")
	}
	if a := d.Article; a != nil {
		b.OneOf("article.kind", a.Kind, Kinds)
		link := a.LinkURL != "" || a.LinkTitle != "" || a.LinkDescription != ""
		parts := 0
		for _, has := range []bool{a.Text != "", link, a.Picture != ""} {
			if has {
				parts++
			}
		}
		b.Add(a.Kind != "mixed" || parts >= 2, "article.kind",
			"give two of a text, a link and a picture, or another kind")
		b.Add(a.Kind != "media" || a.Picture != "", "article.assetId", "give a picture, which you have uploaded")
		b.Add(a.Picture == "" || a.Kind == "media" || a.Kind == "mixed", "article.assetId",
			"leave it out, or give the kind media or mixed")
		if a.Text != "" || a.Kind == "text" {
			b.Add(a.Kind == "text" || a.Kind == "mixed", "article.text", "leave it out, or give the kind mixed")
			b.Lines("article.text", a.Text, 1, MaxArticle)
		}
		if link || a.Kind == "link" {
			b.Add(a.Kind == "link" || a.Kind == "mixed", "article.linkUrl", "leave links out, or give the kind mixed")
			b.Line("article.linkUrl", a.LinkURL, 1, MaxURL)
			b.Add(isWeb(a.LinkURL), "article.linkUrl", "give an address that begins with https:// or http://")
			b.Line("article.linkTitle", a.LinkTitle, 0, MaxLinkTitle)
			b.Line("article.linkDescription", a.LinkDescription, 0, MaxDescription)
		}
	}
	return b.Err()
}

func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// A Post is one as it is stored.
type Post struct {
	ID, AuthorID string
	CreatedAt    time.Time
	Visibility   string
	Hubs         []string // in which it is visible
	Thought      string   // "" if there is none
	Slider       *Slider
	Article      *Article
	Comments     int64  // how many there are
	Reposts      int64  // how many there are that everybody can see
	Shares       int64  // how many there were
	SourceID     string // of a repost: the post that it is of
	End          ballot.End

	createdIn []string // hubs in which it was posted
	takenFrom []string // hubs out of which an admin took it
	votesIn   []string // hubs in which votes count: those into which its author put it
	shards    int
	deletedAt time.Time // zero of one that is there
	purging   bool      // it is going for good
	removed   bool      // those who manage the service have deleted it
	withdrawn bool      // and its author had before
	version   int64
	props     table.Props // of its row
	etag      string
}

// seenBy decides who sees a post, from the hubs of the post in which the viewer is a member now.
// Nothing else decides it. A guest is "".
func (p Post) seenBy(viewer string, in []string) bool {
	switch p.Visibility {
	case Public, PublicHub:
		return true
	case Locked:
		return viewer != "" && (viewer == p.AuthorID || len(in) > 0)
	}
	return false
}

// assetID is the property of a row that names a picture.
const assetID = "asset_id"

const (
	postRow = "!post"
	mainRow = "!main"
	// textRow has a text of which mainRow has the beginning alone, so that a list reads no more.
	textRow = "text"
	// targetRows begin the rows of the hubs in which a post is visible.
	targetRows = "!t|"
	// maxPart is how much of an article one property has, in UTF-16 code units.
	maxPart = 32_000
)

// addTexts adds properties for texts that are not empty.
func addTexts(p table.Props, pairs ...string) table.Props {
	for pair := range slices.Chunk(pairs, 2) {
		if name, text := pair[0], pair[1]; text != "" {
			p = append(p, table.Prop{Name: name, Value: table.String(text)})
		}
	}
	return p
}

func (p Post) toRows() []table.Row {
	props := addTexts(table.Props{
		{Name: "author_id", Value: table.String(p.AuthorID)},
		{Name: "visibility", Value: table.String(p.Visibility)},
		{Name: "created_at", Value: table.Time(p.CreatedAt)},
		{Name: "is_repost", Value: table.Bool(p.SourceID != "")},
		{Name: "IsDeleted", Value: table.Bool(false)},
		{Name: "version", Value: table.Int64(p.version)},
	}, "thought_text", p.Thought, "created_in", strings.Join(p.createdIn, ";"), "source_post_id", p.SourceID)
	if s := p.Slider; s != nil {
		props = addTexts(props, "slider_text", s.Text, "left_label", s.LeftLabel, "right_label", s.RightLabel)
	}
	rows := []table.Row{{Key: table.Key{Partition: schema.Post(p.ID), Row: postRow}, Props: props}}
	if a := p.Article; a != nil {
		props := addTexts(table.Props{{Name: "kind", Value: table.String(a.Kind)}}, "link_url", a.LinkURL, "link_title",
			a.LinkTitle, "link_description", a.LinkDescription, assetID, a.Picture)
		begins := *a
		if begins.cutText(); begins.More {
			props = append(props, table.Prop{Name: "more", Value: table.Bool(true)})
			rows = append(rows, table.Row{
				Key:   table.Key{Partition: schema.Post(p.ID), Row: textRow},
				Props: textProps(a.Text),
			})
		}
		rows = append(rows, table.Row{
			Key:   table.Key{Partition: schema.Post(p.ID), Row: mainRow},
			Props: append(props, textProps(begins.Text)...),
		})
	}
	target := "created_in_hub"
	if p.SourceID != "" {
		target = "repost_to_hub"
	}
	for _, hub := range p.createdIn {
		rows = append(rows, table.Row{
			Key: table.Key{Partition: schema.Post(p.ID), Row: targetRows + hub},
			Props: table.Props{
				{Name: "target_type", Value: table.String(target)},
				{Name: "created_at", Value: table.Time(p.CreatedAt)},
			},
		})
	}
	return rows
}

func textProps(s string) (props table.Props) {
	for i, part := range cutParts(s, maxPart) {
		props = append(props, table.Prop{Name: fmt.Sprintf("text%d", i), Value: table.String(part)})
	}
	return props
}

// textOf returns the text of which textProps made properties.
func textOf(p table.Props) string {
	text := ""
	for i := 0; ; i++ {
		part := p.Get(fmt.Sprintf("text%d", i)).Str()
		if part == "" {
			return text
		}
		text += part
	}
}

// cutParts cuts a text into parts of up to most UTF-16 code units, and no character in two.
func cutParts(s string, most int) (all []string) {
	n, begin := 0, 0
	for i, r := range s {
		size := utf16.RuneLen(r)
		if n+size > most {
			all = append(all, s[begin:i])
			n, begin = 0, i
		}
		n += size
	}
	if begin < len(s) {
		all = append(all, s[begin:])
	}
	return all
}

// parsePost reads a post out of the rows of its partition, with the beginning of its article; nil
// if there is none.
func parsePost(id string, rows []table.Row) *Post {
	var post *Post
	var article *Article
	var hubs, votesIn, takenFrom []string
	var comments, reposts, shares int64
	for _, row := range rows {
		p := row.Props
		if strings.HasPrefix(row.Row, numberRows) {
			comments += p.Get(commentCount).Int()
			reposts += p.Get(repostCount).Int()
			shares += p.Get(shareCount).Int()
		}
		if hub, ok := strings.CutPrefix(row.Row, targetRows); ok && isOut(&row) {
			takenFrom = append(takenFrom, hub)
		} else if ok {
			hubs = append(hubs, hub)
			if p.Get("target_type").Str() != sharedToHub || p.Get(byAuthorOf).Bool() {
				votesIn = append(votesIn, hub)
			}
		}
		switch row.Row {
		case postRow:
			post = &Post{
				ID: id, AuthorID: p.Get("author_id").Str(), CreatedAt: p.Get("created_at").Time(),
				Visibility: p.Get("visibility").Str(), Thought: p.Get("thought_text").Str(),
				SourceID: p.Get("source_post_id").Str(), shards: ballot.ShardsOf(p),
				deletedAt: p.Get("deleted_at").Time(), purging: p.Get("purging").Bool(),
				removed: p.Get("removed").Bool(), withdrawn: p.Get(withdrawn).Bool(), version: p.Get("version").Int(),
				props: p, etag: row.ETag,
			}
			if in := p.Get("created_in").Str(); in != "" {
				post.createdIn = strings.Split(in, ";")
			}
			if text := p.Get("slider_text").Str(); text != "" {
				post.Slider = &Slider{
					Text: text, LeftLabel: p.Get("left_label").Str(),
					RightLabel: p.Get("right_label").Str(),
				}
			}
		case mainRow:
			article = &Article{
				Kind: p.Get("kind").Str(), Text: textOf(p), LinkURL: p.Get("link_url").Str(),
				LinkTitle: p.Get("link_title").Str(), LinkDescription: p.Get("link_description").Str(),
				Picture: p.Get(assetID).Str(), More: p.Get("more").Bool(),
			}
			article.cutText() // of a post that has no textRow, because an older program made it
		}
	}
	if post != nil {
		post.votesIn, post.takenFrom, post.End = votesIn, takenFrom, ballot.EndOf(rows)
		if post.Slider != nil {
			post.Slider.EndsAt, post.Slider.EndsWhenAllVoted = post.End.At, post.End.WhenAll
		}
		post.Article, post.Hubs, post.Comments, post.Reposts, post.Shares = article, hubs, comments, reposts, shares
	}
	return post
}
