package meet

import (
	"context"
	"time"

	"prompthub/apps/harmony/internal/pairs"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Like is what one member thinks of another.
type Like struct {
	To        string
	CreatedAt time.Time
	Anonymous bool
	Match     bool
	ChatID    string // of a match
}

func likeOf(p pairs.Pair, side int) Like {
	l := Like{
		To: p.IDs[1-side], CreatedAt: table.TimeOf(p.Like[side]),
		Anonymous: p.Anonymous[side], Match: p.Matched(),
	}
	if l.Match {
		l.ChatID = p.ChatID()
	}
	return l
}

// readOther reads the other member of a pair, and does other reads at the same time.
// The caller sees them as a member, whatever their role is. Oneself is refused.
func (s *Service) readOther(ctx context.Context, c Claim, id string,
	reads ...func(context.Context) error,
) (view, error) {
	v, err := s.readSight(ctx, c, id, reads...)
	if err != nil {
		return view{}, err
	}
	if id == c.UserID {
		return view{}, fault.Coded(fault.Invalid, NotYourself, "name another member")
	}
	viewer := v.caller.User
	viewer.Role = Member
	if sightOf(viewer, v.of, v.shows, v.pair, s.Now()) == Hidden {
		return view{}, noUser()
	}
	return v, nil
}

// Like likes a member; anonymous nil stands for the caller's setting. created reports that there
// was no like before. If both like each other they match: exactly one of the two calls makes the
// match.
func (s *Service) Like(ctx context.Context, c Claim, to string, anonymous *bool) (like Like, created bool, err error) {
	var mine rules.Privacy
	var used pairs.Day
	v, err := s.readOther(ctx, c, to, func(ctx context.Context) (err error) {
		mine, _, err = s.readPrivacy(ctx, c.UserID)
		return err
	}, func(ctx context.Context) (err error) {
		used, err = s.readLikesOfDay(ctx, c.UserID)
		return err
	})
	if err != nil {
		return Like{}, false, err
	}
	side := v.pair.Side(c.UserID)
	if v.pair.Like[side] > 0 {
		return likeOf(v.pair, side), false, nil
	}
	if s.LikesADay >= 0 && used.Count >= s.LikesADay {
		return Like{}, false, &fault.Error{
			Kind: fault.Limited, Code: LikesUsedUp,
			Text:       "you have used up the likes of this day, which ends at midnight UTC",
			RetryAfter: s.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(s.Now()),
		}
	}
	secret := mine.AnonymousLikes
	if anonymous != nil {
		secret = *anonymous
	}
	ctx = s.beginPair(ctx)
	wake, err := s.wakeLike(ctx, v.pair, side)
	if err != nil {
		return Like{}, false, err
	}
	p, created, err := s.changeWoken(ctx, c.UserID, v.pair, wake,
		func(p *pairs.Pair, side int, now time.Time) (bool, error) {
			switch {
			case p.Blocked():
				return false, noUser()
			case p.Like[side] > 0:
				return true, nil
			}
			p.Like[side], p.Anonymous[side], p.Pass[side] = p.Tick(now), secret, 0
			if secret {
				p.Kept[side] = 0 // this one counts in its place
			}
			if p.Like[1-side] > 0 {
				p.MatchedAt = p.Tick(now)
				p.MatchNumber++
				p.Kept = [2]int64{}
			}
			return false, nil
		}, &used)
	like = likeOf(p, side)
	if created && (like.Match || !like.Anonymous) {
		s.HasNews(ctx, to)
	}
	if created && p.Like[1-side] > p.Like[side] { // the other like came later, and made the match
		like.Match, like.ChatID = false, ""
	}
	return like, created, err
}

// maxMatches is how many matches a member has at a time. Two likes at the same instant may make one
// more.
const maxMatches = 1000

// wakeLike sends the message of a like, and at the same time finds out whether both may have
// another match if it makes one.
func (s *Service) wakeLike(ctx context.Context, p pairs.Pair, side int) (wake queue.Receipt, err error) {
	send := func(ctx context.Context) (err error) {
		wake, err = s.wakePair(ctx, p)
		return err
	}
	if p.Like[1-side] == 0 {
		return wake, send(ctx)
	}
	full := func(i int) func(context.Context) error {
		return func(ctx context.Context) error {
			active := table.Range{Partition: p.IDs[i], Filter: func(p table.Props) bool {
				return p.Get("IsActive").Bool()
			}, FilterProps: []string{"IsActive"}, MaxMatches: maxMatches}
			rows, _, err := s.Budget().Rows(ctx, s.Tables.Matches, active, rowstore.MaxScan)
			if err == nil && rowstore.CountMatches(rows) >= maxMatches {
				err = fault.Coded(fault.Conflict, TooManyMatches,
					"one of you has 1,000 matches, the most that a member may have; end one first")
			}
			return err
		}
	}
	err = rowstore.Both(ctx, func(ctx context.Context) error { return rowstore.Both(ctx, full(0), full(1)) }, send)
	if err != nil {
		s.pairOutbox().Cancel(ctx, wake)
		return wake, err
	}
	return wake, nil
}

// Unlike takes a like back that waits for an answer.
func (s *Service) Unlike(ctx context.Context, c Claim, to string) error {
	return s.commandPair(ctx, c, to, true, func(p *pairs.Pair, side int, _ time.Time) (bool, error) {
		switch {
		case p.Like[side] == 0:
			return false, fault.Coded(fault.NotFound, LikeNotFound, "you do not like this member")
		case p.Matched():
			return false, fault.Coded(fault.Conflict, LikeMatched, "you match; end the match instead")
		}
		p.Like[side], p.Anonymous[side] = 0, false
		return false, nil
	})
}

// Unmatch ends a match, by either of the two. Both likes are used up.
func (s *Service) Unmatch(ctx context.Context, c Claim, with string) error {
	return s.commandPair(ctx, c, with, true, func(p *pairs.Pair, _ int, _ time.Time) (bool, error) {
		if !p.Matched() {
			return false, fault.Coded(fault.NotFound, MatchNotFound, "you do not match this member")
		}
		p.Part()
		return false, nil
	})
}

// Pass hides a member from the caller's deck for a while.
func (s *Service) Pass(ctx context.Context, c Claim, id string) error {
	v, err := s.readOther(ctx, c, id)
	if err != nil {
		return err
	}
	return s.changePair(ctx, c.UserID, v.pair, func(p *pairs.Pair, side int, now time.Time) (bool, error) {
		if p.Like[side] > 0 {
			return false, fault.Coded(fault.Conflict, LikeMatched, "you like this member; take the like back first")
		}
		p.Pass[side] = p.Tick(now)
		return false, nil
	})
}

// Unpass takes a pass back: decks show the member to the caller again.
func (s *Service) Unpass(ctx context.Context, c Claim, id string) error {
	v, err := s.readOther(ctx, c, id)
	if err != nil || v.pair.Pass[v.pair.Side(c.UserID)] == 0 {
		return err
	}
	return s.changePair(ctx, c.UserID, v.pair, func(p *pairs.Pair, side int, _ time.Time) (bool, error) {
		p.Pass[side] = 0
		return false, nil
	})
}

// Block ends all that is between two members, and each looks to the other as if the account were
// gone. Anybody who exists can be blocked, seen or not. A block of a member who does not exist
// succeeds too: a member whose account is erased must look as one who blocked the caller.
func (s *Service) Block(ctx context.Context, c Claim, id string) error {
	var of *User
	var p pairs.Pair
	_, err := s.identifyCaller(ctx, c, func(ctx context.Context) (err error) {
		if IsID(id) {
			of, err = s.readUser(ctx, id)
		}
		return err
	}, func(ctx context.Context) (err error) {
		if IsID(id) && id != c.UserID {
			p, err = s.readPair(ctx, c.UserID, id)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case id == c.UserID:
		return fault.Coded(fault.Invalid, NotYourself, "name another member")
	case !IsID(id):
		return noUser()
	case of == nil || !of.Registered:
		return nil
	}
	return s.changePair(ctx, c.UserID, p, func(p *pairs.Pair, side int, now time.Time) (bool, error) {
		if p.Block[side] > 0 {
			return true, nil
		}
		p.Shut()
		p.Pass = [2]int64{}
		p.Block[side] = p.Tick(now)
		return false, nil
	})
}

// Unblock takes a block back. It brings nothing else back.
func (s *Service) Unblock(ctx context.Context, c Claim, id string) error {
	return s.commandPair(ctx, c, id, false, func(p *pairs.Pair, side int, _ time.Time) (bool, error) {
		if p.Block[side] == 0 {
			return true, nil
		}
		p.Block[side] = 0
		return false, nil
	})
}

// commandPair makes a change of a pair. If there must be another member, a member that is suspended
// or has deleted the account counts as a stranger to the caller. It looks the same after a block.
func (s *Service) commandPair(ctx context.Context, c Claim, id string, there bool, do change) error {
	p := pairs.Of(c.UserID, id)
	var of *User
	reads := []func(context.Context) error{func(ctx context.Context) (err error) {
		if IsID(id) && id != c.UserID {
			p, err = s.readPair(ctx, c.UserID, id)
		}
		return err
	}}
	if there {
		reads = append(reads, func(ctx context.Context) (err error) {
			if IsID(id) {
				of, err = s.readUser(ctx, id)
			}
			return err
		})
	}
	if _, err := s.identifyCaller(ctx, c, reads...); err != nil {
		return err
	}
	if p.ETag == "" || there && !s.isPresent(of) { // the change says what is missing
		p = pairs.Of(c.UserID, id)
		_, err := do(&p, p.Side(c.UserID), s.Now())
		return err
	}
	return s.changePair(ctx, c.UserID, p, do)
}

// readLikesOfDay reads how many likes a member has used up today.
func (s *Service) readLikesOfDay(ctx context.Context, user string) (pairs.Day, error) {
	return s.readDay(ctx, table.Key{Partition: user, Row: dayRows + s.Now().UTC().Format("20060102")})
}

func (s *Service) readDay(ctx context.Context, key table.Key) (pairs.Day, error) {
	d := pairs.Day{Key: key}
	row, err := s.GetRow(ctx, s.Tables.Likes, key)
	if row != nil {
		d.Count, d.ETag = int(row.Props.Get("Count").Int()), row.ETag
	}
	return d, err
}

// dayRows begins the rows of days, which come after all likes.
const dayRows = "DAY_"

// picturesADay is how many pictures a member sends to chats on a day.
const picturesADay = 100

// CountPicture counts a picture that a member sends to a chat, or refuses it.
func (s *Service) CountPicture(ctx context.Context, user string) error {
	key := table.Key{Partition: user, Row: dayRows + "pictures_" + s.Now().UTC().Format("20060102")}
	return s.Change(ctx, s.Tables.Likes, func(ctx context.Context) ([]table.Op, error) {
		d, err := s.readDay(ctx, key)
		if err == nil && d.Count >= picturesADay {
			err = &fault.Error{
				Kind: fault.Limited, Code: PicturesUsedUp,
				Text:       "you have sent 100 pictures on this day, which ends at midnight UTC",
				RetryAfter: s.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(s.Now()),
			}
		}
		return []table.Op{d.Next()}, err
	})
}

// useDay counts a like.
func (s *Service) useDay(ctx context.Context, d pairs.Day) error {
	for try := 0; ; try++ {
		err := s.Write(ctx, s.Tables.Likes, []table.Op{d.Next()})
		if err == nil || !rowstore.Overtaken(err) {
			return err
		}
		if err := s.Retry(ctx, try, err); err != nil {
			return err
		}
		if d, err = s.readDay(ctx, d.Key); err != nil {
			return err
		}
	}
}
