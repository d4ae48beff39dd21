package posts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/feed"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Repair writes the rows of lists and counts that follow from posts, from comments that were
// deleted, and from votes that were not told to their voters' lists yet. After a restore no message
// does it.
func (s *Service) Repair(ctx context.Context) error {
	if err := s.Manage.Repair(ctx); err != nil {
		return err
	}
	for row, err := range table.All(ctx, s.DB, s.Tables.Posts, table.Range{}) {
		if err != nil {
			return err
		}
		id := strings.TrimPrefix(row.Partition, schema.Post(""))
		switch {
		case row.Key.Row == postRow:
			p := parsePost(id, []table.Row{row})
			if p.purging {
				err = s.deletedRows().Add(ctx, p.deletedAt, id) // Purge goes on with it
				break
			}
			err = s.writeFollowers(ctx, *p)
			if err == nil && p.isLive() {
				err = s.feed.Note(ctx, p.activity())
			}
			if err == nil && !p.isLive() {
				err = s.addDeleted(ctx, p.AuthorID, p.deletedAt, id, p.removed && !p.withdrawn)
			}
		case strings.HasPrefix(row.Key.Row, "o|"):
			var text []byte
			text, err = json.Marshal(map[string]string{"post": id, "outbox": strings.TrimPrefix(row.Key.Row, "o|")})
			if err == nil {
				err = s.Ballot.Deliver(ctx, string(text))
			}
		case strings.HasPrefix(row.Key.Row, shareRows):
			x := parseShare(row)
			if err = s.listShare(ctx, *x); err == nil && x.ByID != "" {
				if err = s.Upsert(ctx, s.Tables.Users, table.Row{Key: x.byUser()}); err == nil {
					err = s.feed.Note(ctx, x.activity())
				}
			}
		case row.Key.Row == mainRow:
			err = s.dropMissing(ctx, manage.Target{Kind: manage.APost, ID: id}, row)
		case strings.HasPrefix(row.Key.Row, commentRows):
			c := parseComment(row)
			if err = s.dropMissing(ctx, c.target(), row); err != nil {
				break
			}
			if err = s.Upsert(ctx, s.Tables.Users, table.Row{Key: c.byAuthor()}); err == nil && !c.isLive() {
				if err = s.deletedRows().Add(ctx, c.deletedAt, id+"|"+c.ID); err == nil && c.Replies > 0 {
					err = s.listReplies(ctx, id, c.ID)
				}
			}
			if err == nil && c.isLive() {
				err = s.feed.Note(ctx, c.activity())
			}
		case strings.HasPrefix(row.Key.Row, voterRows) && row.Props.Get("user_id").Str() != "":
			err = s.feed.Note(ctx, voteActivity(receiptOf(id, row)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropMissing takes a picture that is not there off the row of a post or a comment.
func (s *Service) dropMissing(ctx context.Context, t manage.Target, row table.Row) error {
	missing, err := s.People.Assets.IsMissing(ctx, t.Name(), row.Props.Get(assetID).Str())
	if !missing {
		return err
	}
	row.Props = slices.DeleteFunc(row.Props, func(p table.Prop) bool { return p.Name == assetID })
	return s.Write(ctx, s.Tables.Posts, []table.Op{rowstore.Put(row)})
}

// receiptOf returns who voted on a post, and when.
func receiptOf(post string, row table.Row) ballot.Receipt {
	return ballot.Receipt{Post: post, Voter: row.Props.Get("user_id").Str(), VotedAt: row.Props.Get("voted_at").Time()}
}

// VerifyRows compares lists and counts with the posts and receipts that they follow from, and
// reports each difference. It is silent only in a quiet system.
func (s *Service) VerifyRows(ctx context.Context, report func(string)) (rows int, err error) {
	there := func(name string, key table.Key, what string) error {
		row, err := s.GetRow(ctx, name, key)
		if err == nil && row == nil {
			report(what)
		}
		return err
	}
	swept, err := s.feed.Swept(ctx)
	if err != nil {
		return 0, err
	}
	noted := func(id string, a feed.Activity) error {
		is, err := s.feed.IsNoted(ctx, a, swept)
		if err == nil && !is {
			report(fmt.Sprintf("post %s: the list of a person's activities has no %s", id, a.Type))
		}
		return err
	}
	var comments *talk
	purging := "" // a post that is being removed
	for row, err := range table.All(ctx, s.DB, s.Tables.Posts, table.Range{}) {
		if err != nil {
			return rows, err
		}
		rows++
		id := strings.TrimPrefix(row.Partition, schema.Post(""))
		if comments == nil || comments.post != id {
			comments.check(report)
			comments = newTalk(id)
		}
		comments.add(row)
		picture := manage.Target{Kind: manage.APost, ID: id}
		if strings.HasPrefix(row.Key.Row, commentRows) {
			picture = parseComment(row).target()
		}
		if err := s.People.Assets.VerifyThing(ctx, picture.Name(), row.Props.Get(assetID).Str(), report); err != nil {
			return rows, err
		}
		switch {
		case row.Key.Row == postRow:
			p := parsePost(id, []table.Row{row})
			if p.purging {
				purging = id
				continue
			}
			at := rowstore.Descending(p.CreatedAt) + "|" + id
			for _, list := range p.listPartitions() {
				if err := there(s.Tables.Lists, table.Key{Partition: list, Row: at},
					fmt.Sprintf("post %s: it is not in the list %s", id, list)); err != nil {
					return rows, err
				}
			}
			mirror, unread := s.GetRow(ctx, s.Tables.Users, postOf(p.AuthorID, id))
			if mirror == nil || mirror.Props.Get("version").Int() != p.version ||
				mirror.Props.Get("IsDeleted").Bool() == p.isLive() {
				report(fmt.Sprintf("post %s: its author has no row for it", id))
			}
			var isDue *table.Row
			if unread == nil && !p.isLive() {
				if isDue, unread = s.GetRow(ctx, s.Tables.Admin, s.deletedRows().Key(p.deletedAt, id)); unread == nil &&
					isDue == nil {
					report(fmt.Sprintf("post %s: it was deleted, and no row says when it is due to be removed", id))
				}
			}
			// An older program deleted posts and listed none of them.
			if isListed := isDue != nil && isDue.Props.Get(authorOf).Str() != ""; unread == nil &&
				isListed && (!p.removed || p.withdrawn) && !s.isGone(p) {
				unread = there(s.Tables.Users, deletedKey(p.AuthorID, p.deletedAt, id),
					fmt.Sprintf("post %s: its author has deleted it, and does not find it", id))
			}
			if unread == nil {
				unread = s.verifyRepost(ctx, *p, report)
			}
			if unread == nil && p.isLive() {
				unread = noted(id, p.activity())
			}
			err = unread
		case strings.HasPrefix(row.Key.Row, commentRows):
			c := parseComment(row)
			if id == purging || !c.isLive() && s.People.Overdue(c.deletedAt) {
				continue // Purge may be at it
			}
			err = there(s.Tables.Users, c.byAuthor(),
				fmt.Sprintf("post %s: the author of a comment has no row for it", id))
			if err == nil && c.isLive() {
				err = noted(id, c.activity())
			}
			if err == nil && !c.isLive() {
				err = there(s.Tables.Admin, s.deletedRows().Key(c.deletedAt, id+"|"+c.ID),
					fmt.Sprintf("post %s: a comment was deleted, and no row says when it is due to be removed", id))
			}
		case strings.HasPrefix(row.Key.Row, shareRows):
			if x := parseShare(row); id != purging {
				if err = s.verifyShare(ctx, x, report); err == nil && x.ByID != "" {
					err = noted(id, x.activity())
				}
			}
		case strings.HasPrefix(row.Key.Row, voterRows) && row.Props.Get("user_id").Str() == "":
		case strings.HasPrefix(row.Key.Row, voterRows):
			v := receiptOf(id, row)
			err = there(s.Tables.Users,
				table.Key{Partition: schema.User(v.Voter), Row: voteRows + rowstore.Descending(v.VotedAt) + "|" + id},
				fmt.Sprintf("post %s: a vote is not in the list of its voter", id))
			if err == nil {
				err = noted(id, voteActivity(v))
			}
		}
		if err != nil {
			return rows, err
		}
	}
	comments.check(report)
	if err := s.Manage.VerifyRows(ctx, report); err != nil {
		return rows, err
	}
	told, err := s.feed.VerifyRows(ctx, s.People.Exists, report)
	if err != nil {
		return rows, err
	}
	users, err := s.verifyCounts(ctx, report)
	return rows + told + users, err
}

// verifyCounts compares the counts of users with the rows that they count.
func (s *Service) verifyCounts(ctx context.Context, report func(string)) (rows int, err error) {
	var user string
	var counted, said [3]int64 // posts, votes, locked posts
	check := func() {
		if counted != said {
			report(
				fmt.Sprintf("user %s: %d posts, %d votes and %d locked posts are counted, and there are %d, %d and %d",
					strings.TrimPrefix(user, schema.User("")), said[0], said[1], said[2],
					counted[0], counted[1], counted[2]))
		}
		counted, said = [3]int64{}, [3]int64{}
	}
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Range{}) {
		if err != nil {
			return rows, err
		}
		rows++
		if row.Partition != user {
			check()
			user = row.Partition
		}
		switch key := row.Key.Row; {
		case strings.HasPrefix(key, "c|"):
			said[0] += row.Props.Get("posts_count").Int()
			said[1] += row.Props.Get("votes_cast_count").Int()
			said[2] += row.Props.Get("locked_posts_count").Int()
		case strings.HasPrefix(key, postsOfUser) && row.Props.Get("IsDeleted").Bool():
		case strings.HasPrefix(key, postsOfUser) && row.Props.Get("counted_in").Str() == "locked_posts_count":
			counted[2]++
		case strings.HasPrefix(key, postsOfUser):
			counted[0]++
		case strings.HasPrefix(key, voteRows):
			counted[1]++
		}
	}
	check()
	return rows, nil
}
