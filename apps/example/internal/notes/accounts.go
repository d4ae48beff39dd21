package notes

import (
	"context"
	"crypto/sha256"
	"errors"
	"regexp"
	"time"

	"github.com/google/uuid"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An Account is a row.
type Account struct {
	ID, Name     string
	PasswordHash string
	CreatedAt    time.Time
}

var accountColumns = rowstore.Columns[Account]{
	rowstore.Text("Name", func(a *Account) *string { return &a.Name }),
	rowstore.Text("PasswordHash", func(a *Account) *string { return &a.PasswordHash }),
	rowstore.Instant("CreatedAt", func(a *Account) *time.Time { return &a.CreatedAt }),
}

// A Claim is what an access token says.
type Claim = session.Claim[Account]

// The forms of tokens, and how long they are good.
var (
	ids = session.IDs{
		Text:  func(id [16]byte) string { return uuid.UUID(id).String() },
		Bytes: func(id string) [16]byte { return uuid.MustParse(id) },
	}
	accessForm, refreshForm = session.NewForm("ea_", ids), session.NewForm("er_", ids)
	policy                  = session.Policy{
		AccessFor: 15 * time.Minute, RefreshFor: 30 * 24 * time.Hour, SessionFor: 180 * 24 * time.Hour,
		AgainFor: time.Minute, Most: 20,
	}
)

// Tokens are what a client gets when it signs in.
type Tokens struct{ Access, Refresh string }

func (b *Book) newSessions() *session.Sessions[Account] {
	return &session.Sessions[Account]{
		Store: b.Store, Policy: policy, Table: b.Tables.Sessions, Columns: session.Columns, Entropy: b.Entropy,
		NewID: func() string {
			var id [16]byte
			b.sessions.Fill(id[:])
			return ids.Text(id)
		},
		Account: b.account, Holds: func(session.Session, Account) bool { return true }, Ended: ended,
	}
}

// Ended is the code of a token that is good for nothing any more.
const Ended fault.Code = "INVALID_TOKEN"

func ended() error {
	return fault.Coded(fault.Unauthenticated, Ended, "the token is not valid, or not any more; sign in again")
}

func accountKey(id string) table.Key { return table.Key{Partition: id, Row: "account"} }

// idOf returns the id of the account with a name: no other row is needed to find it.
func idOf(name string) string {
	sum := sha256.Sum256([]byte("account|" + name))
	return ids.Text([16]byte(sum[:16]))
}

// account reads an account; nil if there is none.
func (b *Book) account(ctx context.Context, id string) (*Account, error) {
	row, err := b.GetRow(ctx, b.Tables.Accounts, accountKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	a := Account{ID: id}
	accountColumns.Read(row.Props, &a)
	return &a, nil
}

// An Asker is the client that asks to be signed in. Guess counts a wrong password.
type Asker struct {
	By     password.By
	Device string
	Guess  func() (wrong func(), err error)
}

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// MinPassword and MaxPassword are how long a password is.
const (
	MinPassword = 12
	MaxPassword = 200
)

// SignUp makes an account and signs it in.
func (b *Book) SignUp(ctx context.Context, name, pass string, by Asker) (Tokens, error) {
	var wrong []fault.Field
	if !names.MatchString(name) {
		wrong = append(wrong, fault.Field{Name: "body.name", Message: "must be 1 to 40 of a-z, 0-9 and -"})
	}
	if n := table.Units(pass); n < MinPassword || n > MaxPassword {
		wrong = append(wrong, fault.Field{Name: "body.password", Message: "must have 12 to 200 characters"})
	}
	if wrong != nil {
		return Tokens{}, &fault.Error{
			Kind: fault.Invalid, Text: "the name or the password breaks the rules",
			Fields: wrong,
		}
	}
	if _, err := by.Guess(); err != nil { // an account costs as much as a wrong password
		return Tokens{}, err
	}
	hash, err := b.Passwords.Hash(ctx, by.By, pass)
	if err != nil {
		return Tokens{}, err
	}
	a := Account{ID: idOf(name), Name: name, PasswordHash: hash, CreatedAt: b.Now().UTC()}
	row := table.Row{Key: accountKey(a.ID), Props: accountColumns.Props(&a)}
	err = b.Store.Write(ctx, b.Tables.Accounts, []table.Op{{Kind: table.Insert, Row: row}})
	if errors.Is(err, table.ErrExists) {
		return Tokens{}, fault.New(fault.Conflict, "somebody else has this name; choose another")
	}
	if err != nil {
		return Tokens{}, rowstore.Unavailable(err) // if it has landed, the name and the password sign in
	}
	return b.open(ctx, a, nil, by)
}

// SignIn signs an account in. It takes as long for a name that no account has.
func (b *Book) SignIn(ctx context.Context, name, pass string, by Asker) (Tokens, error) {
	wrong, err := by.Guess()
	if err != nil {
		return Tokens{}, err
	}
	a, err := b.account(ctx, idOf(name))
	if err != nil {
		return Tokens{}, err
	}
	known := Account{}
	if a != nil {
		known = *a
	}
	right, _, err := b.Passwords.Verify(ctx, by.By, pass, known.PasswordHash)
	if err != nil {
		return Tokens{}, err
	}
	if !right {
		wrong()
		return Tokens{}, fault.Coded(fault.Unauthenticated, "INVALID_CREDENTIALS", "the name or the password is wrong")
	}
	all, err := b.sessions.All(ctx, known.ID)
	if err != nil {
		return Tokens{}, err
	}
	return b.open(ctx, known, all, by)
}

// open opens a session of an account that has others.
func (b *Book) open(ctx context.Context, a Account, others []session.Session, by Asker) (Tokens, error) {
	g, err := b.sessions.Open(ctx, b.sessions.New(a.ID, by.Device, time.Time{}))
	if err != nil {
		return Tokens{}, err
	}
	b.sessions.Trim(ctx, others, a)
	return tokensOf(g), nil
}

func tokensOf(g session.Grant) Tokens {
	return Tokens{accessForm.Token(g.Session, g.Access), refreshForm.Token(g.Session, g.Refresh)}
}

// Refresh gives the tokens that follow a refresh token. A request with an id may come again.
func (b *Book) Refresh(ctx context.Context, token, request string) (Tokens, error) {
	c, ok := session.Parse[Account](refreshForm, token)
	if !ok {
		return Tokens{}, ended()
	}
	_, g, err := b.sessions.Refresh(ctx, c, request, nil)
	if err != nil {
		return Tokens{}, err
	}
	return tokensOf(g), nil
}

// Recognize finds out whose an access token is.
func (b *Book) Recognize(ctx context.Context, token string) (Claim, Account, error) {
	c, ok := session.Parse[Account](accessForm, token)
	if !ok {
		return Claim{}, Account{}, ended()
	}
	c, caller, err := b.sessions.Recognize(ctx, c)
	return c, caller.Account, err
}

// SignOut ends the session of the caller.
func (b *Book) SignOut(ctx context.Context, c Claim) error {
	if _, err := b.sessions.Identify(ctx, c, nil); err != nil {
		return err
	}
	return b.sessions.End(ctx, c.UserID, c.SessionID)
}
