package posts

import (
	"context"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/cursor"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Card is a post as somebody sees it. In a list its article has the beginning of its text.
type Card struct {
	Post
	Author   people.Person
	Result   ballot.Result // of a post with a slider
	Voted    bool          // by the viewer
	IsAuthor bool
	In       []HubName // the hubs of the post of which the viewer is a member
	Share    *Share    // by which the post is in a list; nil if it is there by itself
	Source   *Card     // of a repost: the post that it is of; nil if that is not there for the viewer
	TakenOut []HubName // for its author: the hubs out of which an admin took it
}

// A HubName is what a card says of a hub.
type HubName struct{ ID, Name string }

func nameHubs(ids []string, names map[string]string) []HubName {
	all := []HubName{}
	for _, id := range ids {
		all = append(all, HubName{id, names[id]})
	}
	return all
}

// cardRows is the range of the rows that make a card: those whose keys begin with "!".
func cardRows(id string) table.Range {
	return table.Range{Partition: schema.Post(id), From: "!", To: table.After("!")}
}

// A seen post is what a viewer sees of it.
type seen struct {
	post   *Post // nil if there is none that the viewer may see
	result ballot.Result
	voted  bool
	in     []string // the hubs of the post of which the viewer is a member
	counts []string // those of them in which a vote of the viewer counts, the oldest first
	share  *Share   // by which it is in a list; nil if it is there by itself
}

// takenFrom returns the hubs out of which an admin took a post, for its author alone.
func (p seen) takenFrom(viewer string) []string {
	if p.post == nil || viewer == "" || viewer != p.post.AuthorID {
		return nil
	}
	return p.post.takenFrom[:min(len(p.post.takenFrom), maxNamed)]
}

// lookAtPost reads a post as a viewer sees it: all at once, and then the memberships of the viewer
// in its hubs, and whether its author is hidden. A guest is "".
func (s *Service) lookAtPost(ctx context.Context, viewer, id string) (seen, error) {
	return s.findPost(ctx, viewer, id, true)
}

// maxNamed is how many hubs a card names, of those in which the post and the viewer are.
const maxNamed = 100

// findPost is lookAtPost, which leaves it to authorsOf whether the author is hidden unless blocks
// is true.
func (s *Service) findPost(ctx context.Context, viewer, id string, blocks bool) (p seen, err error) {
	if !schema.IsID(id) {
		return p, nil
	}
	err = rowstore.Both(ctx, func(ctx context.Context) error {
		rows, _, err := s.Budget().Rows(ctx, s.Tables.Posts, cardRows(id), rowstore.MaxScan)
		p.post, p.result = parsePost(id, rows), ballot.GlobalResult(rows)
		return err
	}, func(ctx context.Context) error {
		if viewer == "" {
			return nil
		}
		receipt, err := s.Ballot.Voted(ctx, id, viewer)
		p.voted = receipt != nil
		return err
	})
	if err != nil || !p.post.isLive() {
		return seen{}, err
	}
	hidden := false
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		p.in, err = s.Hubs.In(ctx, viewer, p.post.Hubs)
		return err
	}, func(ctx context.Context) (err error) {
		if blocks {
			hidden, err = s.People.Hidden(ctx, viewer, p.post.AuthorID)
		}
		return err
	})
	if err != nil || hidden || !p.post.seenBy(viewer, p.in) {
		return seen{}, err
	}
	for _, hub := range p.in {
		if slices.Contains(p.post.votesIn, hub) && len(p.counts) < ballot.MaxHubs {
			p.counts = append(p.counts, hub)
		}
	}
	p.in = p.in[:min(len(p.in), maxNamed)]
	return p, nil
}

// Authors reads people, and which of them are hidden from a viewer.
func (s *Service) Authors(ctx context.Context, viewer string,
	ids []string,
) (all map[string]people.Person, hidden map[string]bool, err error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		all, err = s.People.People(ctx, ids)
		return err
	}, func(ctx context.Context) (err error) {
		hidden, err = s.People.AreHidden(ctx, viewer, ids)
		return err
	})
	return all, hidden, err
}

// authorsOf reads the authors of posts that were found, and others, and takes out those who are
// hidden from the viewer, and their posts.
func (s *Service) authorsOf(ctx context.Context, viewer string, all []seen,
	others ...string,
) (map[string]people.Person, error) {
	ids := slices.Clone(others)
	for _, p := range all {
		if p.post != nil {
			ids = append(ids, p.post.AuthorID)
		}
		if p.share != nil {
			ids = append(ids, p.share.ByID)
		}
	}
	authors, hidden, err := s.Authors(ctx, viewer, ids)
	for i, p := range all {
		if p.post != nil && (hidden[p.post.AuthorID] || p.share != nil && hidden[p.share.ByID]) {
			all[i] = seen{}
		}
	}
	for id := range hidden {
		delete(authors, id)
	}
	return authors, err
}

// cardsOf returns the cards of posts that were looked at, without those that are not there.
func (s *Service) cardsOf(ctx context.Context, viewer string, posts []seen) ([]Card, error) {
	cards, _, err := s.cardsAnd(ctx, viewer, posts)
	return cards, err
}

// cardsAnd is cardsOf, and reads others at the same time, without people who are hidden from the
// viewer.
func (s *Service) cardsAnd(ctx context.Context, viewer string, posts []seen,
	others ...string,
) ([]Card, map[string]people.Person, error) {
	var sources []string
	for _, p := range posts {
		if p.post != nil && p.post.SourceID != "" {
			sources = append(sources, p.post.SourceID)
		}
	}
	sources = slices.Compact(slices.Sorted(slices.Values(sources)))
	all := slices.Concat(posts, make([]seen, len(sources)))
	err := rowstore.Each(ctx, len(sources), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		all[len(posts)+i], err = s.findPost(ctx, viewer, sources[i], false)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var in []string
	for _, p := range all {
		in = append(in, p.in...)
		in = append(in, p.takenFrom(viewer)...)
	}
	var authors map[string]people.Person
	var names map[string]string
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		authors, err = s.authorsOf(ctx, viewer, all, others...)
		return err
	}, func(ctx context.Context) (err error) {
		names, err = s.Hubs.Names(ctx, slices.Compact(slices.Sorted(slices.Values(in))))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	card := func(p seen) *Card {
		if p.post == nil {
			return nil
		}
		if p.share != nil {
			p.share.By = sharerOf(authors, p.share)
		}
		return &Card{
			Share: p.share, Post: *p.post, Author: authors[p.post.AuthorID], Result: p.result, Voted: p.voted,
			IsAuthor: viewer != "" && viewer == p.post.AuthorID, In: nameHubs(p.in, names),
			TakenOut: nameHubs(p.takenFrom(viewer), names),
		}
	}
	cards := []Card{}
	for i := range posts {
		if c := card(all[i]); c != nil {
			if at, ok := slices.BinarySearch(sources, c.SourceID); ok {
				c.Source = card(all[len(posts)+at])
			}
			cards = append(cards, *c)
		}
	}
	return cards, authors, nil
}

// See returns posts as a viewer sees them, by their ids. Those that are not there for the viewer
// are not among them.
func (s *Service) See(ctx context.Context, viewer string, ids []string) (map[string]Card, error) {
	all := make([]seen, len(ids))
	err := rowstore.Each(ctx, len(ids), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		all[i], err = s.findPost(ctx, viewer, ids[i], false)
		return err
	})
	if err != nil {
		return nil, err
	}
	cards, err := s.cardsOf(ctx, viewer, all)
	there := map[string]Card{}
	for _, c := range cards {
		there[c.ID] = c
	}
	return there, err
}

// IsIn reports whether a post is in a hub, for a viewer who is a member of it.
func (s *Service) IsIn(ctx context.Context, viewer, id, hub string) (bool, error) {
	p, err := s.lookAtPost(ctx, viewer, id)
	return err == nil && p.post != nil && slices.Contains(p.post.Hubs, hub), err
}

// Card returns a post with the whole text of its article.
func (s *Service) Card(ctx context.Context, c people.Claim, id string) (Card, error) {
	var p seen
	_, err := s.People.Visitor(ctx, c, func(ctx context.Context) (err error) {
		p, err = s.lookAtEnded(ctx, c.UserID, id, false)
		return err
	})
	if err != nil {
		return Card{}, err
	}
	var cards []Card
	text := ""
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		cards, err = s.cardsOf(ctx, c.UserID, []seen{p})
		return err
	}, func(ctx context.Context) (err error) {
		if p.post != nil && p.post.Article != nil && p.post.Article.More {
			text, err = s.readText(ctx, id)
		}
		return err
	})
	if err == nil && len(cards) == 0 {
		err = noPost()
	}
	if err != nil {
		return Card{}, err
	}
	if text != "" {
		cards[0].Article.Text, cards[0].Article.More = text, false
	}
	return cards[0], nil
}

// readText reads the whole text of an article.
func (s *Service) readText(ctx context.Context, id string) (string, error) {
	row, err := s.GetRow(ctx, s.Tables.Posts, postKey(id, textRow))
	if err == nil && row == nil { // an older program made it
		row, err = s.GetRow(ctx, s.Tables.Posts, postKey(id, mainRow))
	}
	if err != nil || row == nil {
		return "", err
	}
	return textOf(row.Props), nil
}

// lookAt returns a copy of a thing that is reported, as the caller sees it, or an error unless the
// caller may.
func (s *Service) lookAt(ctx context.Context, c people.Claim, t manage.Target) (manage.Copy, error) {
	switch t.Kind {
	case manage.APerson:
		u, err := s.People.SeenBy(ctx, c.UserID, t.ID)
		copied := manage.CopyOf(u.Person(), u.FullName, u.Bio)
		copied.Picture = u.Picture
		return copied, err
	case manage.AHub:
		h, err := s.Hubs.Get(ctx, c, t.ID)
		copied := manage.CopyOf(people.Person{}, h.Name, h.Description)
		copied.Picture = h.Picture
		return copied, err
	case manage.AMessage:
		return s.Around.Look(ctx, c, t)
	}
	post, id, _ := strings.Cut(t.ID, "|")
	var p seen
	var said *Comment
	text := ""
	err := rowstore.All(ctx, func(ctx context.Context) (err error) {
		p, err = s.lookAtPost(ctx, c.UserID, post)
		return err
	}, func(ctx context.Context) (err error) {
		if t.Kind == manage.AComment && schema.IsID(post) {
			said, err = s.readComment(ctx, post, id)
		}
		return err
	}, func(ctx context.Context) (err error) {
		if t.Kind == manage.APost && schema.IsID(post) {
			text, err = s.readText(ctx, post)
		}
		if parts := cutParts(text, manage.MaxCopied); len(parts) > 1 {
			text = parts[0]
		}
		return err
	})
	if err == nil && p.post == nil {
		err = noPost()
	}
	if err != nil {
		return manage.Copy{}, err
	}
	author := p.post.AuthorID
	if t.Kind == manage.AComment {
		hidden := false
		if said.isLive() {
			author = said.AuthorID
			hidden, err = s.People.Hidden(ctx, c.UserID, author)
		}
		if err == nil && (!said.isLive() || hidden) {
			err = noComment()
		}
		if err != nil {
			return manage.Copy{}, err
		}
	}
	persons, err := s.People.People(ctx, []string{author})
	by := persons[author]
	by.ID = author // also of a person who has left
	if said != nil {
		copied := manage.CopyOf(by, said.Text)
		copied.Picture = said.Picture
		return copied, err
	}
	parts := []string{p.post.Thought}
	if x := p.post.Slider; x != nil {
		parts = append(parts, x.Text, x.LeftLabel, x.RightLabel)
	}
	if x := p.post.Article; x != nil {
		parts = append(parts, text, x.LinkURL, x.LinkTitle, x.LinkDescription)
	}
	copied := manage.CopyOf(by, parts...)
	if p.post.Article != nil {
		copied.Picture = p.post.Article.Picture
	}
	return copied, err
}

// PictureOf returns the asset that a thing names as its picture, also one that was deleted and can
// come back, "" if there is none.
func (s *Service) PictureOf(ctx context.Context, thing string) (string, error) {
	switch kind, of, _ := strings.Cut(thing, "|"); kind {
	case manage.APerson:
		return s.People.PictureOf(ctx, of)
	case manage.AHub:
		return s.Hubs.PictureOf(ctx, of)
	case manage.Reported:
		return s.Manage.PictureOf(ctx, of)
	case manage.APost:
		return s.articlePicture(ctx, of)
	case manage.AComment:
		post, id, _ := strings.Cut(of, "|")
		c, err := s.readComment(ctx, post, id)
		if err != nil || c == nil {
			return "", err
		}
		return c.Picture, nil
	case manage.AMessage:
		return s.Around.Picture(ctx, of)
	}
	return "", nil
}

// removeReported deletes a reported thing for a manager. Of a person or a hub it deletes the
// reported picture: copied, the picture of the report, is a copy of it.
func (s *Service) removeReported(ctx context.Context, c people.Claim, t manage.Target, copied string) error {
	post, id, _ := strings.Cut(t.ID, "|")
	switch t.Kind {
	case manage.APost:
		return s.RemoveAny(ctx, c, post)
	case manage.AComment:
		there, err := s.readComment(ctx, post, id)
		if err != nil || !there.isLive() {
			return err
		}
		return s.removeComment(ctx, there)
	case manage.AMessage:
		return s.Around.Remove(ctx, t)
	}
	if copied == "" {
		return fault.Coded(fault.Conflict, manage.NotDeletable, "there is no picture to delete; people and hubs are not deleted so: suspend the person, or delete what is in the hub")
	}
	picture, err := s.PictureOf(ctx, t.Name())
	is := false
	if err == nil && picture != "" {
		is, err = s.People.Assets.AreAlike(ctx, picture, copied)
	}
	if err == nil && is {
		err = s.People.Assets.Release(ctx, picture)
	}
	switch {
	case err != nil || !is: // it is gone, or another one is there
		return err
	case t.Kind == manage.AHub:
		return s.Hubs.DropPicture(ctx, t.ID, picture)
	}
	return s.People.DropPicture(ctx, t.ID, picture)
}

// A Page is a part of a list. Next is the position that the next one begins after, "" at the end.
type Page struct {
	Cards []Card
	Next  string
}

// readPage looks at the posts that rows of a list name. The last part of their keys is the id of a
// post, or that of a share.
func (s *Service) readPage(ctx context.Context, viewer string, rows []table.Row) ([]Card, error) {
	all := make([]seen, len(rows))
	err := rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		post := rows[i].Props.Get(sharedPost).Str()
		if post == "" {
			all[i], err = s.findPost(ctx, viewer, lists.ID(rows[i]), false)
			return err
		}
		var x *Share
		err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
			all[i], err = s.findPost(ctx, viewer, post, false)
			return err
		}, func(ctx context.Context) (err error) {
			x, err = s.readShare(ctx, post, rows[i].Row)
			return err
		})
		if all[i].share = x; x == nil {
			all[i] = seen{}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.cardsOf(ctx, viewer, all)
}

// Newest returns public posts, the newest first. A position is the key of a row with its month
// before it.
func (s *Service) Newest(ctx context.Context, c people.Claim, after string, limit int) (Page, error) {
	var rows []table.Row
	next := ""
	_, err := s.People.Visitor(ctx, c, func(ctx context.Context) (err error) {
		rows, next, err = s.readNewest(ctx, after, limit)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	cards, err := s.readPage(ctx, c.UserID, rows)
	return Page{cards, next}, err
}

const (
	monthForm = "200601"
	monthRows = "pub|"
)

// readNewest reads rows of public posts, month after month back in time, as far as the budget of
// one request goes.
func (s *Service) readNewest(ctx context.Context, after string, limit int) (rows []table.Row, next string, err error) {
	at := s.Now().UTC()
	in, last, _ := strings.Cut(after, "|")
	if after != "" {
		if at, err = time.Parse(monthForm, in); err != nil {
			return nil, "", cursor.Refuse()
		}
	}
	budget := s.Budget()
	for !budget.Spent() {
		found, _, err := budget.Rows(ctx, s.Tables.Lists, table.Range{Partition: monthOf(at), After: last},
			limit+1-len(rows))
		if err != nil {
			return nil, "", err
		}
		if rows = append(rows, found...); len(rows) > limit {
			return rows[:limit], positionOf(rows[limit-1]), nil
		}
		older, _, err := budget.Rows(ctx, s.Tables.Lists,
			table.Range{FromPartition: monthRows, ToPartition: monthOf(at)}, 1)
		if err != nil || len(older) == 0 {
			return rows, "", err
		}
		at, last = time.Date(at.Year(), at.Month()-1, 1, 0, 0, 0, 0, time.UTC), ""
	}
	return rows, at.Format(monthForm) + "|", nil
}

func positionOf(row table.Row) string {
	return strings.TrimPrefix(row.Partition, monthRows) + "|" + row.Row
}

// Of returns the posts of a person that the caller may see, the newest first. A position is the
// key of a row.
func (s *Service) Of(ctx context.Context, c people.Claim, user, after string, limit int) (Page, error) {
	var rows []table.Row
	next := ""
	_, err := s.People.Visitor(ctx, c, func(ctx context.Context) error {
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			if !schema.IsID(user) {
				return nil // which the profile says, too
			}
			rows, next, err = s.readPostsOf(ctx, c.UserID, user, after, limit)
			return err
		}, func(ctx context.Context) error {
			return s.People.MustSee(ctx, c.UserID, user)
		})
	})
	if err != nil {
		return Page{}, err
	}
	cards, err := s.readPage(ctx, c.UserID, rows)
	return Page{cards, next}, err
}

// readPostsOf reads rows of the posts of a person, without those that are locked to the viewer:
// neither the length of a page nor whether there is another one may tell of them.
func (s *Service) readPostsOf(ctx context.Context, viewer, user, after string,
	limit int,
) (rows []table.Row, next string, err error) {
	return lists.Read(ctx, s.Store, lists.List{Table: s.Tables.Lists, Partition: byAuthor(user)}, after,
		limit, s.wantUnlocked(viewer))
}

// wantUnlocked returns those of rows of a list that do not name posts that are locked to a viewer.
func (s *Service) wantUnlocked(viewer string) lists.Wanted {
	return func(ctx context.Context, rows []table.Row) ([]table.Row, error) {
		var hubs []string
		for _, row := range rows {
			if in := row.Props.Get(lockedIn).Str(); in != "" &&
				(viewer == "" || viewer != row.Props.Get("author_id").Str()) {
				hubs = append(hubs, strings.Split(in, ";")...)
			}
		}
		hubs = slices.Compact(slices.Sorted(slices.Values(hubs)))
		if len(hubs) == 0 {
			return rows, nil
		}
		mine, err := s.Hubs.In(ctx, viewer, hubs)
		return slices.DeleteFunc(slices.Clone(rows), func(row table.Row) bool {
			in := row.Props.Get(lockedIn).Str()
			return in != "" && (viewer == "" || viewer != row.Props.Get("author_id").Str()) &&
				!slices.ContainsFunc(strings.Split(in, ";"), func(hub string) bool {
					return slices.Contains(mine, hub)
				})
		}), err
	}
}

// InHub returns the posts of a hub, the newest first, to its members.
func (s *Service) InHub(ctx context.Context, c people.Claim, hub, after string, limit int) (Page, error) {
	var rows []table.Row
	next := ""
	_, err := s.Hubs.MustBeIn(ctx, c, hub, func(ctx context.Context) (err error) {
		if schema.IsID(hub) {
			rows, next, err = lists.Read(ctx, s.Store, lists.List{Table: s.Tables.Lists, Partition: inHub(hub)}, after,
				limit, nil)
		}
		return err
	})
	if err != nil {
		return Page{}, err
	}
	s.Hubs.Acted(ctx, c.UserID, hub)
	cards, err := s.readPage(ctx, c.UserID, rows)
	cards = slices.DeleteFunc(cards, func(c Card) bool { return slices.Contains(c.takenFrom, hub) })
	return Page{cards, next}, err
}
