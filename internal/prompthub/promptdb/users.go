package promptdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// A user has a row with the profile, and rows that lead from names to his id: one for the key that
// stands for him in public, and one for the handle that he has chosen. These are inserted and never
// changed, and the insert of a handle is its reservation. They are written before the profile names
// them, so whatever stops a writer, a handle that is shown leads to its user; and one that leads to
// somebody leads to nobody else, ever.

// Profile returns the profile of a user, the zero one where he has none.
func (db *DB) Profile(ctx context.Context, user prompt.UserID) (prompt.Profile, error) {
	row, err := db.get(ctx, db.t.Users, profileKey(user))
	if err != nil || row == nil {
		return prompt.Profile{}, err
	}
	return parseProfile(*row), nil
}

// PutProfile writes the profile of a user. A handle that he has stays; the zero one leaves it.
func (db *DB) PutProfile(ctx context.Context, user prompt.UserID, p prompt.Profile) (prompt.Profile, error) {
	for range maxTries {
		row, err := db.get(ctx, db.t.Users, profileKey(user))
		if err != nil {
			return p, err
		}
		op := table.Op{Kind: table.Insert, Row: table.Row{Key: profileKey(user)}}
		var was prompt.Profile
		if row != nil {
			op.Kind, op.Row.ETag, was = table.Replace, row.ETag, parseProfile(*row)
		}
		next, err := db.handle(ctx, user, was, p)
		if err != nil {
			return p, err
		}
		if row != nil && next == was {
			return next, nil
		}
		op.Row.Props = profileProps(user, next)
		err = db.write(ctx, db.t.Users, []table.Op{op})
		switch {
		case errors.Is(err, table.ErrConflict) || errors.Is(err, table.ErrExists):
			continue // the user himself was faster, in another window
		case err != nil:
			return p, unavailable(fmt.Errorf("write a profile: %w", err))
		}
		return next, nil
	}
	return p, busy(time.Second)
}

// handle returns the profile with the handle that the user has, or takes one for him.
func (db *DB) handle(ctx context.Context, user prompt.UserID, was, p prompt.Profile) (prompt.Profile, error) {
	switch {
	case was.Handle != "" && p.Handle != "" && p.Handle != was.Handle:
		return p, prompt.HandleChosen(was.Handle)
	case was.Handle != "":
		p.Handle = was.Handle
		return p, nil
	}
	if err := db.writeUserByKey(ctx, user); err != nil {
		return p, err
	}
	if p.Handle == "" {
		return p, nil
	}
	err := db.writeUserRow(ctx, user, handleKey(p.Handle))
	if errors.Is(err, errConflict) {
		return p, prompt.HandleTaken(p.Handle)
	}
	return p, err
}

// writeUserRow has a row lead to a user. It is errConflict if it leads to another.
func (db *DB) writeUserRow(ctx context.Context, user prompt.UserID, key table.Key) error {
	for range maxTries {
		row, err := db.get(ctx, db.t.Users, key)
		switch {
		case err != nil:
			return err
		case row != nil && userIn(row.Props, "UserId") != user:
			return errConflict
		case row != nil:
			return nil
		}
		op := table.Op{Kind: table.Insert, Row: table.Row{Key: key, Props: table.Props{{Name: "UserId", Value: table.String(string(user))}}}}
		if err = db.write(ctx, db.t.Users, []table.Op{op}); err == nil {
			return nil
		}
		if !errors.Is(err, table.ErrExists) {
			return unavailable(fmt.Errorf("write where a user is: %w", err))
		}
	}
	return busy(time.Second)
}

// UserID returns the id of the user that a handle or a key leads to, "" for nobody.
func (db *DB) UserID(ctx context.Context, name string) (prompt.UserID, error) {
	key := handleKey(name)
	if strings.Contains(name, "_") { // no handle has one
		key = knownKey(name)
	}
	row, err := db.get(ctx, db.t.Users, key)
	if err != nil || row == nil {
		return "", err
	}
	user := userIn(row.Props, "UserId")
	if key == knownKey(name) && name != db.AuthorKey(user) {
		return "", nil // a key of before there was a secret, which anybody can make of an id
	}
	return user, nil
}

// users remembers whose key leads to them.
type users struct {
	mu sync.Mutex
	m  map[prompt.UserID]bool
}

// first reports whether nobody has asked this before of a user.
func (u *users) first(user prompt.UserID) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.m == nil || len(u.m) >= maxAuthors {
		u.m = make(map[prompt.UserID]bool)
	}
	first := !u.m[user]
	u.m[user] = true
	return first
}

func (u *users) forget(user prompt.UserID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.m, user)
}

// TouchUser has the key of a user lead to him, behind the answer, once in a while of each instance.
func (db *DB) TouchUser(ctx context.Context, user prompt.UserID) {
	if !db.known.first(user) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	db.background(func() {
		ctx, cancel := context.WithTimeout(ctx, 2*callWithin)
		defer cancel()
		_ = db.writeUserByKey(ctx, user) // if not now, the next time
	})
}

// touchAuthor is Known, done when it returns: for authors who wrote before there were keys, and
// those whose Known was lost.
func (db *DB) touchAuthor(ctx context.Context, author prompt.UserID) error {
	if !db.known.first(author) {
		return nil
	}
	return db.writeUserByKey(ctx, author)
}

func (db *DB) writeUserByKey(ctx context.Context, user prompt.UserID) error {
	err := db.LearnAuthorKeys(ctx)
	if err == nil {
		err = db.writeUserRow(ctx, user, knownKey(db.AuthorKey(user)))
	}
	if err != nil {
		db.known.forget(user)
	}
	return err
}

// ByAuthor returns the prompts of an author that everyone may see, with all tags and all words in
// the title, the newest first. It reads the
// author's own list: no other is by author, and one that is written with every prompt would cost
// each a row more.
func (db *DB) ByAuthor(ctx context.Context, author prompt.UserID, tags []prompt.Tag, words prompt.Query, after string, limit int) (Page, error) {
	page, err := db.mineNewest(ctx, author, Filter{listed: true, Tags: tags, Words: words}, after, limit)
	if err != nil {
		return Page{}, err
	}
	for i := range page.Items {
		page.Items[i].Revision, page.Items[i].OwnTags = 0, nil // as in the other lists for everyone
	}
	if id, ok := parseMine(page.After); ok && (len(page.Items) == 0 || page.Items[len(page.Items)-1].ID != id) {
		// The place where reading stopped may be a private prompt, which nobody is told of.
		page.After = minePrefix + byAge(prompt.FirstID(id))
	}
	return page, nil
}

func profileProps(user prompt.UserID, p prompt.Profile) table.Props {
	return table.Props{
		{Name: "UserId", Value: table.String(string(user))},
		{Name: "Handle", Value: table.String(p.Handle)},
		{Name: "Name", Value: table.String(p.Name)},
		{Name: "About", Value: table.String(p.About)},
	}
}

func parseProfile(row table.Row) prompt.Profile {
	p := row.Props
	return prompt.Profile{Handle: p.Get("Handle").Str(), Name: p.Get("Name").Str(), About: p.Get("About").Str()}
}

// checkUser reports a row of the users that leads astray: a handle or a key that is another's, or a
// profile whose handle or key leads elsewhere. A handle without a profile that names it is what a
// writer left that was stopped: it is its user's.
func (db *DB) checkUser(ctx context.Context, row table.Row) ([]Difference, error) {
	d := Difference{Table: db.t.Users, Key: row.Key}
	user := userIn(row.Props, "UserId")
	differ := func(what string) ([]Difference, error) {
		d.What = what
		return []Difference{d}, nil
	}
	_, err := db.readAuthorSecret(ctx)
	switch {
	case fault.CodeOf(err) == AuthorSecretDamaged:
		return differ("has a key that the damaged secret of author keys made")
	case err != nil:
		return nil, err
	}
	handle, isHandle := strings.CutPrefix(row.Partition, handlePrefix)
	switch {
	case isHandle && prompt.ValidSlug(handle) && row.Key == handleKey(handle), row.Key == knownKey(db.AuthorKey(user)):
		return nil, nil
	case row.Key == erasureKey(user):
		return db.checkErasure(ctx, row, d)
	// what a writer left that was stopped, at worst
	case strings.HasPrefix(row.Partition, erasePrefix) && row.Row == enc(string(user)):
		return nil, nil
	case strings.HasPrefix(row.Partition, knownPrefix):
		d.user = user
		return differ("is under a key that its user does not have")
	case row.Key != profileKey(user):
		return differ("is no row that this version writes")
	}
	names := []table.Key{knownKey(db.AuthorKey(user))}
	if p := parseProfile(row); p.Handle != "" {
		names = append(names, handleKey(p.Handle))
	}
	for _, key := range names {
		there, err := db.get(ctx, db.t.Users, key)
		if err != nil {
			return nil, err
		}
		if there == nil && strings.HasPrefix(key.Partition, knownPrefix) {
			d.user = user
		}
		if there == nil || userIn(there.Props, "UserId") != user {
			return differ("is not where " + key.String() + " leads")
		}
	}
	return nil, nil
}

// checkErasure reports a mark that no job would find.
func (db *DB) checkErasure(ctx context.Context, row table.Row, d Difference) ([]Difference, error) {
	key := dueKey(userIn(row.Props, "UserId"), day(row.Props.Get("EraseAt").Time()))
	due, err := db.get(ctx, db.t.Users, key)
	if err != nil || due != nil {
		return nil, err
	}
	d.What = "is not among those that are to be erased on " + key.Partition
	return []Difference{d}, nil
}

// A userLine is a profile in a backup, or a handle that leads to a user, or both.
type userLine struct {
	ID      prompt.UserID `json:"id"`
	Handle  string        `json:"handle,omitempty"`
	Name    string        `json:"name,omitempty"`
	About   string        `json:"about,omitempty"`
	Profile bool          `json:"profile,omitempty"` // whether this is more than a reservation of the handle
	// when the account will be erased, on a line of its own
	EraseAt time.Time `json:"eraseAt,omitzero"`
}

func userOf(row table.Row) (*line, error) {
	l := userLine{ID: userIn(row.Props, "UserId")}
	handle, isHandle := strings.CutPrefix(row.Partition, handlePrefix)
	switch {
	case strings.HasPrefix(row.Partition, erasePrefix): // follows from the mark
		return nil, nil
	case isHandle:
		l.Handle = handle
	case row.Row == erasureRow:
		l.EraseAt = row.Props.Get("EraseAt").Time()
	case row.Row == profileRow:
		p := parseProfile(row)
		l.Handle, l.Name, l.About, l.Profile = p.Handle, p.Name, p.About, true
	}
	return &line{Kind: "user", User: &l}, nil
}

// user restores the row that a line was made of. A line without anything else is a key. One without
// an id is a handle whose user was erased.
func (re *restore) user(ctx context.Context, l userLine) error {
	if l.ID == "" && (l.Handle == "" || l.Profile) || l.Handle != "" && !prompt.ValidSlug(l.Handle) {
		return fmt.Errorf("a user with the handle %q, whose id has %d bytes", l.Handle, len(l.ID))
	}
	if err := re.db.LearnAuthorKeys(ctx); err != nil { // of a backup without a secret
		return err
	}
	row := table.Row{Key: knownKey(re.db.AuthorKey(l.ID)), Props: table.Props{{Name: "UserId", Value: table.String(string(l.ID))}}}
	switch {
	case !l.EraseAt.IsZero():
		if err := re.add(ctx, re.db.t.Users, table.Row{Key: dueKey(l.ID, day(l.EraseAt)), Props: row.Props}); err != nil {
			return err
		}
		row = table.Row{Key: erasureKey(l.ID), Props: append(row.Props, table.Prop{Name: "EraseAt", Value: table.Time(l.EraseAt)})}
	case l.Profile:
		row = table.Row{Key: profileKey(l.ID), Props: profileProps(l.ID, prompt.Profile{Handle: l.Handle, Name: l.Name, About: l.About})}
	case l.Handle != "":
		row.Key = handleKey(l.Handle)
	}
	return re.add(ctx, re.db.t.Users, row)
}
