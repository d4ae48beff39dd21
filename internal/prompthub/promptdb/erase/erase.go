package erase

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/accounts"
	"prompthub/internal/prompthub/promptdb/commit"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/prompthub/promptdb/verify"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An account that will be erased has two rows in Users: a mark next to its profile, and a row by
// which the job of the day finds it. The latter is written first and removed last, so whatever
// stops a writer, a mark is found; a row without a mark is nothing. Until the day nothing else
// changes, and the mark can be taken away.

// eraseFor bounds one run of Erase; the next one goes on, inside one account if need be.
const eraseFor = 3 * time.Minute

// Erasure returns when the account of a user will be erased; the zero time where it is not.
func (db *Eraser) Erasure(ctx context.Context, user prompt.UserID) (time.Time, error) {
	mark, err := db.GetRow(ctx, db.T.Users, schema.ErasureKey(user))
	if err != nil || mark == nil {
		return time.Time{}, err
	}
	return mark.Props.Get("EraseAt").Time(), nil
}

// EraseAt has the account of a user erased at a time, or earlier, if that was decided before, and
// returns when that is.
func (db *Eraser) EraseAt(ctx context.Context, user prompt.UserID, at time.Time) (time.Time, error) {
	for range rowstore.MaxTries {
		if was, err := db.Erasure(ctx, user); err != nil || !was.IsZero() {
			return was, err
		}
		props := table.Props{{Name: "UserId", Value: table.String(string(user))}}
		due := table.Op{Kind: table.Upsert, Row: table.Row{Key: schema.DueKey(user, schema.Day(at)), Props: props}}
		if err := db.Write(ctx, db.T.Users, []table.Op{due}); err != nil {
			return time.Time{}, rowstore.Unavailable(fmt.Errorf("write when to erase an account: %w", err))
		}
		mark := table.Row{
			Key:   schema.ErasureKey(user),
			Props: append(props, table.Prop{Name: "EraseAt", Value: table.Time(at)}),
		}
		err := db.Write(ctx, db.T.Users, []table.Op{{Kind: table.Insert, Row: mark}})
		if err == nil {
			return at, nil
		}
		if !errors.Is(err, table.ErrExists) {
			return time.Time{}, rowstore.Unavailable(fmt.Errorf("mark an account to be erased: %w", err))
		}
	}
	return time.Time{}, truth.Busy(time.Second)
}

// CancelErase keeps the account of a user, which would have been erased.
func (db *Eraser) CancelErase(ctx context.Context, user prompt.UserID) error {
	mark, err := db.GetRow(ctx, db.T.Users, schema.ErasureKey(user))
	if err != nil || mark == nil {
		return err
	}
	return db.unmark(ctx, user, schema.Day(mark.Props.Get("EraseAt").Time()))
}

func (db *Eraser) unmark(ctx context.Context, user prompt.UserID, day string) error {
	if err := db.RemoveKey(ctx, db.T.Users, schema.ErasureKey(user)); err != nil {
		return err
	}
	return db.RemoveKey(ctx, db.T.Users, schema.DueKey(user, day))
}

// Erase removes for good all that is stored of users whose day has come, and returns how many such
// accounts it came to the end of. It may be stopped at any point and run again.
func (db *Eraser) Erase(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	until := db.Now().Add(eraseFor)
	erased := 0
	var failed rowstore.Failures
	// A day's partition is due when the whole day is: a day late at most, never early.
	r := table.Range{FromPartition: schema.ErasePrefix, ToPartition: schema.ErasePrefix + schema.Day(db.Now())}
	for row, err := range table.All(ctx, db.DB, db.T.Users, r) {
		if err != nil {
			return erased, errors.Join(err, failed.Join())
		}
		user := schema.UserIn(row.Props, "UserId")
		at, err := db.Erasure(ctx, user)
		switch {
		case err != nil:
		case at.IsZero() || schema.DueKey(user, schema.Day(at)) != row.Key: // taken back, or asked for once more
			err = db.RemoveKey(ctx, db.T.Users, row.Key)
		default:
			var done bool
			if done, err = db.EraseNow(ctx, user, until); done {
				erased++
			}
		}
		if !failed.Record(err) || !db.Now().Before(until) || ctx.Err() != nil {
			break
		}
	}
	return erased, failed.Join()
}

// EraseNow removes for good all that is stored of a user who has a mark, or as much as it can until
// a time. It reports whether it came to the end, with which the mark goes.
func (db *Eraser) EraseNow(ctx context.Context, user prompt.UserID, until time.Time) (bool, error) {
	at, err := db.Erasure(ctx, user)
	if err != nil || at.IsZero() {
		return false, err
	}
	if prompt.IsWorkspace(user) {
		w, err := db.accounts.ReadWorkspace(ctx, user)
		if err != nil {
			return false, err
		}
		if w != nil && !w.Deleted() { // it was restored, and the end of that did not come
			return false, db.unmark(ctx, user, schema.Day(at))
		}
	}
	e := &erasure{db: db, user: user, at: at, until: until}
	if now := db.Now(); e.at.After(now) { // an operator need not wait for the day that the user chose
		e.at = now
	}
	for _, step := range []func(context.Context) error{
		e.tokens, e.signIn, e.memberships, e.prompts, e.sideRows,
		e.lines, e.log, e.votes, e.favorites, e.traces, e.db.scopes.ForgetSnapshot, e.profile,
	} {
		if err := step(ctx); err != nil || e.late() {
			return false, err
		}
	}
	db.accounts.Known.Remove(user)
	return true, db.unmark(ctx, user, schema.Day(at))
}

// An erasure is the work on one account. Each of its steps may be done any number of times.
type erasure struct {
	db    *Eraser
	user  prompt.UserID
	at    time.Time
	until time.Time
}

func (e *erasure) late() bool { return !e.db.Now().Before(e.until) }

// each does something with the rows of a range until time is up. A failure at one row does not keep
// it from the others.
func (e *erasure) each(ctx context.Context, name string, r table.Range, do func(table.Row) error) error {
	var failed rowstore.Failures
	for row, err := range table.All(ctx, e.db.DB, name, r) {
		if err != nil {
			failed.Record(rowstore.Unavailable(err))
			break
		}
		if !failed.Record(do(row)) || e.late() || ctx.Err() != nil {
			break
		}
	}
	return failed.Join()
}

func (e *erasure) tokens(ctx context.Context) error {
	return e.each(ctx, e.db.T.AccessTokens, table.Range{Partition: schema.AccessPartition(e.user)},
		func(row table.Row) error {
			_, err := e.db.accounts.RemoveToken(ctx, e.user, schema.ParseToken(row).ID, "")
			return err
		})
}

// signIn removes the password and the sessions of the user, and the invitations that they made.
func (e *erasure) signIn(ctx context.Context) error {
	if err := e.db.accounts.EndInvites(ctx, e.user); err != nil {
		return err
	}
	return e.db.accounts.EndAccount(ctx, e.user)
}

// memberships removes the user from workspaces, even the last administrator of one, or the
// memberships of a workspace. Its members' own rows go with those next to its prompts.
func (e *erasure) memberships(ctx context.Context) error {
	if prompt.IsWorkspace(e.user) {
		return e.db.accounts.ForgetMembers(ctx, e.user)
	}
	return e.each(ctx, e.db.T.Users, schema.MembershipsOf(e.user, prompt.Person, ""), func(row table.Row) error {
		m, ok := schema.ParseMembership(row)
		if !ok {
			return fmt.Errorf("a membership at %s", row.Row)
		}
		return e.db.accounts.EndMembership(ctx, m.ID, e.user)
	})
}

// prompts deletes the user's prompts as he would, and purges them as if he had when he left.
func (e *erasure) prompts(ctx context.Context) error {
	r := table.Range{Partition: schema.AuthorPartition(e.user), From: "0"}
	return e.each(ctx, e.db.T.Prompts, r, func(row table.Row) error {
		_, id, err := verify.TruthKey(row.Key)
		if err != nil {
			return err
		}
		return e.prompt(ctx, id)
	})
}

func (e *erasure) prompt(ctx context.Context, id prompt.ID) error {
	left := e.at.AddDate(0, 0, -prompt.RestoreDays)
	_, err := e.db.commit.Change(ctx, e.user, id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Deleted() && !p.DeletedAt.After(left) {
			return p, commit.ErrUnchanged
		}
		p.DeletedAt = left
		return p, nil
	})
	if err != nil && fault.Of(err) != fault.NotFound { // that one is being purged
		return err
	}
	rec, err := e.db.Record(ctx, e.user, id)
	if err != nil || rec == nil {
		return err
	}
	return e.purge(ctx, id, table.Row{Key: schema.DeletedKey(schema.Day(rec.DeletedAt), id)})
}

func (e *erasure) purge(ctx context.Context, id prompt.ID, index table.Row) error {
	done, err := e.db.purge(ctx, e.user, id, index, e.until)
	if err == nil && !done && !e.late() {
		return truth.Busy(time.Second)
	}
	return err
}

// sideRows removes what is left next to the prompts: names and keys that lead to none. Rows of a
// prompt that was made meanwhile stay: a user who comes back begins anew.
func (e *erasure) sideRows(ctx context.Context) error {
	r := table.Range{Partition: schema.AuthorPartition(e.user), To: "0"}
	return e.each(ctx, e.db.T.Prompts, r, func(row table.Row) error {
		if id := row.Props.Get("PromptId").Str(); id != "" {
			truth, err := e.db.GetRow(ctx, e.db.T.Prompts, schema.PromptKey(e.user, prompt.ID(id)))
			if err != nil || truth != nil {
				return err
			}
		}
		return e.db.RemoveRow(ctx, e.db.T.Prompts, row)
	})
}

// lines removes the snapshots of the user's repositories. Repositories of others that have shown a
// prompt of the user begin anew when a client asks, and anti-entropy removes them within a day.
func (e *erasure) lines(ctx context.Context) error {
	forget := func(row table.Row) error { return e.db.RemoveRow(ctx, e.db.T.Git, row) }
	for _, kind := range []schema.RepositoryKind{schema.OfPublic, schema.OfOwn} {
		r := table.Range{Partition: schema.Repository{Kind: kind, Owner: e.user}.Partition(), Select: []string{"none"}}
		if err := e.each(ctx, e.db.T.Git, r, forget); err != nil {
			return err
		}
	}
	of := schema.CollectionLines(e.user)
	return e.each(ctx, e.db.T.Git,
		table.Range{FromPartition: of, ToPartition: table.After(of), Select: []string{"none"}}, forget)
}

// log removes what is left in the log of the user's own prompts. Rows of a prompt that was made
// meanwhile stay.
func (e *erasure) log(ctx context.Context) error {
	r := table.Range{Partition: schema.Scope{Owner: e.user}.LogPartition(time.Time{}), Select: []string{"PromptId"}}
	return e.each(ctx, e.db.T.SearchLog, r, func(row table.Row) error {
		truth, err := e.db.GetRow(ctx, e.db.T.Prompts,
			schema.PromptKey(e.user, prompt.ID(row.Props.Get("PromptId").Str())))
		if err != nil || truth != nil {
			return err
		}
		return e.db.RemoveRow(ctx, e.db.T.SearchLog, row)
	})
}

// votes takes the user's votes back, by his own list of them.
func (e *erasure) votes(ctx context.Context) error {
	return e.each(ctx, e.db.T.VotesByVoter, table.Range{Partition: schema.VoterPartition(e.user)},
		func(row table.Row) error {
			id, ok := schema.ParseByAge(row.Row)
			if !ok {
				return fmt.Errorf("a vote at %s", row.Row)
			}
			if err := e.db.commit.EraseVote(ctx, e.user, id); err != nil {
				return err
			}
			return e.db.RemoveKey(ctx, e.db.T.VotesByVoter, row.Key)
		})
}

// A trace is a place that may name a user: rows of a table, and a function for each row that does.
type trace struct {
	table string
	r     table.Range
	erase func(context.Context, table.Row) error
}

// traceList returns all of them. A vote that was taken back is in no list; a moderator is named in
// prompts of others.
func (e *erasure) traceList() []trace {
	names := func(prop string) func(table.Props) bool {
		return func(p table.Props) bool { return schema.UserIn(p, prop) == e.user }
	}
	voter := schema.VoteKey(e.user, "").Row
	return []trace{
		// '!' sorts before all else that a key can go on with
		{
			e.db.T.Votes,
			table.Range{From: voter, To: voter + "!", Select: []string{"VoterId"}},
			func(ctx context.Context, row table.Row) error {
				id, ok := schema.ParsePrompt(row.Partition)
				if !ok {
					return fmt.Errorf("a vote in %s", row.Partition)
				}
				return e.db.commit.EraseVote(ctx, e.user, id)
			},
		},
		{
			e.db.T.Prompts,
			table.Range{From: "0", Select: []string{"HiddenBy"}, Filter: names("HiddenBy")},
			func(ctx context.Context, row table.Row) error {
				author, id, err := verify.TruthKey(row.Key)
				if err != nil {
					return err
				}
				_, err = e.db.commit.Change(ctx, author, id, func(p prompt.Prompt) (prompt.Prompt, error) {
					if p.HiddenBy != e.user {
						return p, commit.ErrUnchanged
					}
					p.HiddenBy = ""
					return p, nil
				})
				if fault.Of(err) == fault.NotFound { // it is being purged
					return nil
				}
				return err
			},
		},
		// which a purge leaves that was stopped
		{
			e.db.T.DeletedIndex,
			table.Range{Select: []string{"AuthorId"}, Filter: names("AuthorId")},
			func(ctx context.Context, row table.Row) error {
				_, id, ok := schema.ParseDeleted(row.Key)
				if !ok {
					return fmt.Errorf("a deleted prompt at %s", row.Row)
				}
				return e.purge(ctx, id, row)
			},
		},
		{e.db.T.Users, table.Range{Select: []string{"UserId"}, Filter: names("UserId")}, e.name},
	}
}

// traces walks the tables, from where the last run stopped.
func (e *erasure) traces(ctx context.Context) error {
	mark, err := e.db.GetRow(ctx, e.db.T.Users, schema.ErasureKey(e.user))
	if err != nil || mark == nil {
		return err
	}
	at := traceAt{Next: mark.Props.Get("Next").Str(), Trace: int(mark.Props.Get("Trace").Int())}
	for list := e.traceList(); at.Trace < len(list); {
		if err := e.trace(ctx, list[at.Trace], &at); err != nil {
			return err
		}
		if err := e.keepPlace(ctx, at); err != nil || e.late() {
			return err
		}
	}
	return nil
}

// A traceAt is how far the walk has come.
type traceAt struct {
	Trace int
	Next  string
}

// trace does one page.
func (e *erasure) trace(ctx context.Context, t trace, at *traceAt) error {
	page, err := e.db.DB.List(ctx, t.table, t.r, table.MaxPage, at.Next)
	if errors.Is(err, table.ErrInvalid) && at.Next != "" { // the place is of another kind of store
		at.Next = ""
		return nil
	}
	if err != nil {
		return rowstore.Unavailable(err)
	}
	for _, row := range page.Rows {
		if len(row.Props) == 0 {
			continue
		}
		if err := t.erase(ctx, row); err != nil {
			return err
		}
	}
	if at.Next = page.Next; at.Next == "" {
		at.Trace++
	}
	return nil
}

func (e *erasure) keepPlace(ctx context.Context, at traceAt) error {
	err := e.db.Write(ctx, e.db.T.Users,
		[]table.Op{{
			Kind: table.Merge,
			Row: table.Row{Key: schema.ErasureKey(e.user), ETag: table.Any, Props: table.Props{
				{Name: "Trace", Value: table.Int32(int32(at.Trace))},
				{Name: "Next", Value: table.String(at.Next)},
			}},
		}})
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return rowstore.Unavailable(fmt.Errorf("note how far an erasure has come: %w", err))
	}
	return nil
}

// name has a row no longer lead to the user. Their handle leads to no user, and stays taken.
func (e *erasure) name(ctx context.Context, row table.Row) error {
	switch {
	case strings.HasPrefix(row.Partition, schema.HandlePrefix):
		err := e.db.Write(ctx, e.db.T.Users, []table.Op{{Kind: table.Replace, Row: table.Row{
			Key: row.Key, ETag: table.Any, Props: table.Props{{Name: "UserId", Value: table.String("")}},
		}}})
		if err != nil {
			return rowstore.Unavailable(fmt.Errorf("erase whose a handle is: %w", err))
		}
		return nil
	case strings.HasPrefix(row.Partition, schema.KnownPrefix), strings.HasPrefix(row.Partition, schema.LoginPrefix),
		strings.HasPrefix(row.Partition, schema.InvitePrefix), // which a withdrawal left that was stopped
		row.Partition == schema.MovedPartition, row.Partition == schema.AdminsPartition:
		return e.db.RemoveKey(ctx, e.db.T.Users, row.Key)
	}
	return nil // the profile goes next, the mark and its row by day in the end
}

// profile removes the profile, the counts of authors, which the next count has without the user,
// and places of anti-entropy that name the user.
func (e *erasure) profile(ctx context.Context) error {
	if err := e.db.RemoveKey(ctx, e.db.T.Users, schema.ProfileKey(e.user)); err != nil {
		return err
	}
	if err := e.db.RemoveKey(ctx, e.db.T.SystemState, accounts.CountsKey()); err != nil {
		return err
	}
	return e.each(ctx, e.db.T.SystemState, table.Range{Partition: schema.SweepPartition}, func(row table.Row) error {
		var votes verify.VotesAt
		// one that cannot be read begins anew
		_ = json.Unmarshal([]byte(row.Props.Get("Votes").Str()), &votes)
		if votes.Author != e.user && !mentions(row.Props.Get("Next").Str(), rowstore.Encode(string(e.user))) {
			return nil
		}
		row.Props = table.Props{{Name: "Next", Value: table.String("")}}
		err := e.db.Write(ctx, e.db.T.SystemState, []table.Op{{Kind: table.Replace, Row: row}})
		if err != nil && !errors.Is(err, table.ErrConflict) { // the walk went on
			return rowstore.Unavailable(err)
		}
		return nil
	})
}

// mentions reports whether a place in a table says a text: stores encode keys in base64.
func mentions(place, text string) bool {
	for _, part := range strings.FieldsFunc(place, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_+/", r)
	}) {
		for _, enc := range []*base64.Encoding{base64.RawURLEncoding, base64.RawStdEncoding} {
			if key, err := enc.DecodeString(part); err == nil && strings.Contains(string(key), text) {
				return true
			}
		}
	}
	return strings.Contains(place, text)
}
