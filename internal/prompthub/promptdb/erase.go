package promptdb

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
	"prompthub/internal/storage/table"
)

// An account that will be erased has two rows in Users: a mark next to its profile, and a row by
// which the job of the day finds it. The latter is written first and removed last, so whatever
// stops a writer, a mark is found; a row without a mark is nothing. Until the day nothing else
// changes, and the mark can be taken away.

// eraseFor bounds one run of Erase; the next one goes on, inside one account if need be.
const eraseFor = 3 * time.Minute

// Erasure returns when the account of a user will be erased; the zero time where it is not.
func (db *DB) Erasure(ctx context.Context, user prompt.UserID) (time.Time, error) {
	mark, err := db.get(ctx, db.t.Users, erasureKey(user))
	if err != nil || mark == nil {
		return time.Time{}, err
	}
	return mark.Props.Get("EraseAt").Time(), nil
}

// Holds reports whether anything is stored under the id of a user. What others' rows say of him, as
// who hid a prompt, is not looked for.
func (db *DB) Holds(ctx context.Context, user prompt.UserID) (bool, error) {
	for _, name := range []string{db.t.Users, db.t.Prompts, db.t.VotesByVoter, db.t.AccessTokens, db.t.Favorites} {
		for _, err := range table.All(ctx, db.store, name, table.Range{Partition: userPart(user)}) {
			return err == nil, err
		}
	}
	return false, nil
}

// EraseAt has the account of a user erased at a time, or earlier, if that was decided before, and
// returns when that is.
func (db *DB) EraseAt(ctx context.Context, user prompt.UserID, at time.Time) (time.Time, error) {
	for range maxTries {
		if was, err := db.Erasure(ctx, user); err != nil || !was.IsZero() {
			return was, err
		}
		props := table.Props{{Name: "UserId", Value: table.String(string(user))}}
		due := table.Op{Kind: table.Upsert, Row: table.Row{Key: dueKey(user, day(at)), Props: props}}
		if err := db.write(ctx, db.t.Users, []table.Op{due}); err != nil {
			return time.Time{}, unavailable(fmt.Errorf("write when to erase an account: %w", err))
		}
		mark := table.Row{Key: erasureKey(user), Props: append(props, table.Prop{Name: "EraseAt", Value: table.Time(at)})}
		err := db.write(ctx, db.t.Users, []table.Op{{Kind: table.Insert, Row: mark}})
		if err == nil {
			return at, nil
		}
		if !errors.Is(err, table.ErrExists) {
			return time.Time{}, unavailable(fmt.Errorf("mark an account to be erased: %w", err))
		}
	}
	return time.Time{}, busy(time.Second)
}

// CancelErase keeps the account of a user, which would have been erased.
func (db *DB) CancelErase(ctx context.Context, user prompt.UserID) error {
	mark, err := db.get(ctx, db.t.Users, erasureKey(user))
	if err != nil || mark == nil {
		return err
	}
	return db.unmark(ctx, user, day(mark.Props.Get("EraseAt").Time()))
}

func (db *DB) unmark(ctx context.Context, user prompt.UserID, day string) error {
	if err := db.remove(ctx, db.t.Users, erasureKey(user)); err != nil {
		return err
	}
	return db.remove(ctx, db.t.Users, dueKey(user, day))
}

// Erase removes for good all that is stored of users whose day has come, and returns how many such
// accounts it came to the end of. It may be stopped at any point and run again.
func (db *DB) Erase(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, JobEnds)
	defer cancel()
	until := db.now().Add(eraseFor)
	erased := 0
	var failed failures
	// A day's partition is due when the whole day is: a day late at most, never early.
	r := table.Range{FromPartition: erasePrefix, ToPartition: erasePrefix + day(db.now())}
	for row, err := range table.All(ctx, db.store, db.t.Users, r) {
		if err != nil {
			return erased, errors.Join(err, failed.join())
		}
		user := userIn(row.Props, "UserId")
		at, err := db.Erasure(ctx, user)
		switch {
		case err != nil:
		case at.IsZero() || dueKey(user, day(at)) != row.Key: // taken back, or asked for once more
			err = db.remove(ctx, db.t.Users, row.Key)
		default:
			var done bool
			if done, err = db.EraseNow(ctx, user, until); done {
				erased++
			}
		}
		if !failed.record(err) || !db.now().Before(until) || ctx.Err() != nil {
			break
		}
	}
	return erased, failed.join()
}

// EraseNow removes for good all that is stored of a user who has a mark, or as much as it can until
// a time. It reports whether it came to the end, with which the mark goes.
func (db *DB) EraseNow(ctx context.Context, user prompt.UserID, until time.Time) (bool, error) {
	at, err := db.Erasure(ctx, user)
	if err != nil || at.IsZero() {
		return false, err
	}
	e := &erasure{db: db, user: user, at: at, until: until}
	if now := db.now(); e.at.After(now) { // an operator need not wait for the day that the user chose
		e.at = now
	}
	for _, step := range []func(context.Context) error{e.tokens, e.prompts, e.sideRows, e.votes, e.favorites, e.traces, e.profile} {
		if err := step(ctx); err != nil || e.late() {
			return false, err
		}
	}
	db.known.forget(user)
	return true, db.unmark(ctx, user, day(at))
}

// An erasure is the work on one account. Each of its steps may be done any number of times.
type erasure struct {
	db    *DB
	user  prompt.UserID
	at    time.Time
	until time.Time
}

func (e *erasure) late() bool { return !e.db.now().Before(e.until) }

// each does something with the rows of a range until time is up. What fails keeps it from none of
// the others.
func (e *erasure) each(ctx context.Context, name string, r table.Range, do func(table.Row) error) error {
	var failed failures
	for row, err := range table.All(ctx, e.db.store, name, r) {
		if err != nil {
			failed.record(unavailable(err))
			break
		}
		if !failed.record(do(row)) || e.late() || ctx.Err() != nil {
			break
		}
	}
	return failed.join()
}

func (e *erasure) tokens(ctx context.Context) error {
	return e.each(ctx, e.db.t.AccessTokens, table.Range{Partition: accessPartition(e.user)}, func(row table.Row) error {
		_, err := e.db.RemoveToken(ctx, e.user, parseToken(row).ID)
		return err
	})
}

// prompts deletes the user's prompts as he would, and purges them as if he had when he left.
func (e *erasure) prompts(ctx context.Context) error {
	r := table.Range{Partition: authorPartition(e.user), From: "0"}
	return e.each(ctx, e.db.t.Prompts, r, func(row table.Row) error {
		_, id, err := truthKey(row.Key)
		if err != nil {
			return err
		}
		return e.prompt(ctx, id)
	})
}

func (e *erasure) prompt(ctx context.Context, id prompt.ID) error {
	left := e.at.AddDate(0, 0, -prompt.RestoreDays)
	_, err := e.db.Change(ctx, e.user, id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Deleted() && !p.DeletedAt.After(left) {
			return p, ErrUnchanged
		}
		p.DeletedAt = left
		return p, nil
	})
	if err != nil && fault.Of(err) != fault.NotFound { // that one is being purged
		return err
	}
	rec, err := e.db.record(ctx, e.user, id)
	if err != nil || rec == nil {
		return err
	}
	return e.purge(ctx, id, table.Row{Key: deletedKey(day(rec.DeletedAt), id)})
}

func (e *erasure) purge(ctx context.Context, id prompt.ID, index table.Row) error {
	done, err := e.db.purge(ctx, e.user, id, index, e.until)
	if err == nil && !done && !e.late() {
		return busy(time.Second)
	}
	return err
}

// sideRows removes what is left next to the prompts: names and keys that lead to none. What
// belongs to a prompt that was made meanwhile stays: whoever comes back begins anew.
func (e *erasure) sideRows(ctx context.Context) error {
	r := table.Range{Partition: authorPartition(e.user), To: "0"}
	return e.each(ctx, e.db.t.Prompts, r, func(row table.Row) error {
		if id := row.Props.Get("PromptId").Str(); id != "" {
			truth, err := e.db.get(ctx, e.db.t.Prompts, promptKey(e.user, prompt.ID(id)))
			if err != nil || truth != nil {
				return err
			}
		}
		return e.db.removeRow(ctx, e.db.t.Prompts, row)
	})
}

// removeRow deletes a row as it was read; one that is gone is as good, and so is one that was
// changed: it is somebody's now.
func (db *DB) removeRow(ctx context.Context, name string, row table.Row) error {
	err := db.write(ctx, name, []table.Op{{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: row.ETag}}})
	if err != nil && !errors.Is(err, table.ErrNotFound) && !errors.Is(err, table.ErrConflict) {
		return unavailable(fmt.Errorf("delete from %s: %w", name, err))
	}
	return nil
}

// votes takes the user's votes back, by his own list of them.
func (e *erasure) votes(ctx context.Context) error {
	return e.each(ctx, e.db.t.VotesByVoter, table.Range{Partition: voterPartition(e.user)}, func(row table.Row) error {
		id, ok := parseByAge(row.Row)
		if !ok {
			return fmt.Errorf("a vote at %s", row.Row)
		}
		if err := e.db.eraseVote(ctx, e.user, id); err != nil {
			return err
		}
		return e.db.remove(ctx, e.db.t.VotesByVoter, row.Key)
	})
}

// A trace is where something else may name a user: rows of a table, and what is done with one that
// does.
type trace struct {
	table string
	r     table.Range
	erase func(context.Context, table.Row) error
}

// traceList returns all of them. A vote that was taken back is in nobody's list; a moderator is
// named in what others wrote.
func (e *erasure) traceList() []trace {
	names := func(prop string) func(table.Props) bool {
		return func(p table.Props) bool { return userIn(p, prop) == e.user }
	}
	voter := voteKey(e.user, "").Row
	return []trace{
		// '!' sorts before all else that a key can go on with
		{e.db.t.Votes, table.Range{From: voter, To: voter + "!", Select: []string{"VoterId"}}, func(ctx context.Context, row table.Row) error {
			id, ok := parsePrompt(row.Partition)
			if !ok {
				return fmt.Errorf("a vote in %s", row.Partition)
			}
			return e.db.eraseVote(ctx, e.user, id)
		}},
		{e.db.t.Prompts, table.Range{From: "0", Select: []string{"HiddenBy"}, Filter: names("HiddenBy")}, func(ctx context.Context, row table.Row) error {
			author, id, err := truthKey(row.Key)
			if err != nil {
				return err
			}
			_, err = e.db.Change(ctx, author, id, func(p prompt.Prompt) (prompt.Prompt, error) {
				if p.HiddenBy != e.user {
					return p, ErrUnchanged
				}
				p.HiddenBy = ""
				return p, nil
			})
			if fault.Of(err) == fault.NotFound { // it is being purged
				return nil
			}
			return err
		}},
		// which a purge leaves that was stopped
		{e.db.t.DeletedIndex, table.Range{Select: []string{"AuthorId"}, Filter: names("AuthorId")}, func(ctx context.Context, row table.Row) error {
			_, id, ok := parseDeleted(row.Key)
			if !ok {
				return fmt.Errorf("a deleted prompt at %s", row.Row)
			}
			return e.purge(ctx, id, row)
		}},
		{e.db.t.Users, table.Range{Select: []string{"UserId"}, Filter: names("UserId")}, e.name},
	}
}

// traces walks the tables, from where the last run stopped.
func (e *erasure) traces(ctx context.Context) error {
	mark, err := e.db.get(ctx, e.db.t.Users, erasureKey(e.user))
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
	page, err := e.db.store.List(ctx, t.table, t.r, table.MaxPage, at.Next)
	if errors.Is(err, table.ErrInvalid) && at.Next != "" { // the place is of another kind of store
		at.Next = ""
		return nil
	}
	if err != nil {
		return unavailable(err)
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
	err := e.db.write(ctx, e.db.t.Users, []table.Op{{Kind: table.Merge, Row: table.Row{Key: erasureKey(e.user), ETag: table.Any, Props: table.Props{
		{Name: "Trace", Value: table.Int32(int32(at.Trace))},
		{Name: "Next", Value: table.String(at.Next)},
	}}}})
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return unavailable(fmt.Errorf("note how far an erasure has come: %w", err))
	}
	return nil
}

// name has a row no longer lead to the user. His handle leads to nobody, and stays taken.
func (e *erasure) name(ctx context.Context, row table.Row) error {
	switch {
	case strings.HasPrefix(row.Partition, handlePrefix):
		err := e.db.write(ctx, e.db.t.Users, []table.Op{{Kind: table.Replace, Row: table.Row{
			Key: row.Key, ETag: table.Any, Props: table.Props{{Name: "UserId", Value: table.String("")}},
		}}})
		if err != nil {
			return unavailable(fmt.Errorf("erase whose a handle is: %w", err))
		}
		return nil
	case strings.HasPrefix(row.Partition, knownPrefix):
		return e.db.remove(ctx, e.db.t.Users, row.Key)
	}
	return nil // the profile goes next, the mark and what leads to it in the end
}

// profile removes the profile, and places of anti-entropy that name the user.
func (e *erasure) profile(ctx context.Context) error {
	if err := e.db.remove(ctx, e.db.t.Users, profileKey(e.user)); err != nil {
		return err
	}
	return e.each(ctx, e.db.t.SystemState, table.Range{Partition: sweepPartition}, func(row table.Row) error {
		var votes votesAt
		// one that cannot be read begins anew
		_ = json.Unmarshal([]byte(row.Props.Get("Votes").Str()), &votes)
		if votes.Author != e.user && !mentions(row.Props.Get("Next").Str(), enc(string(e.user))) {
			return nil
		}
		row.Props = table.Props{{Name: "Next", Value: table.String("")}}
		err := e.db.write(ctx, e.db.t.SystemState, []table.Op{{Kind: table.Replace, Row: row}})
		if err != nil && !errors.Is(err, table.ErrConflict) { // the walk went on
			return unavailable(err)
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
