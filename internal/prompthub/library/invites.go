package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// Invites is how the secrets of invitations read.
var Invites = auth.TokenForm{Prefix: "phi_", IDBytes: 10}

// The pages where people open an invitation, and set a new password, with the secret after the
// sign #.
const (
	JoinPath  = "/app/join"
	ResetPath = "/app/reset"
)

// firstInvite is the id of the invitation of the first administrator of a site.
var firstInvite, _, _ = Invites.Parse(Invites.Format(make([]byte, Invites.IDBytes), [auth.SecretBytes]byte{}))

// FirstInviteFor is how long the link of an operator is good.
const FirstInviteFor = time.Hour

// A WantedInvite is what a caller wants of a new invitation.
type WantedInvite struct {
	Offers     []WantedOffer
	Admin      bool // an account made by it is an administrator of the site
	Uses, Days int
}

// A WantedOffer is a role in a workspace that a handle names.
type WantedOffer struct {
	Workspace string
	Role      prompt.Role
}

// An Invite is an invitation as those see it who may withdraw it.
type Invite struct {
	prompt.Invite
	Workspaces []InvitedTo
	ForNew     bool           // whether somebody without an account makes one by it
	By         string         // the public key of who made it, "" for an operator
	Maker      prompt.Profile // of them
}

// An InvitedTo is a workspace that an invitation offers.
type InvitedTo struct {
	Handle, Name string
	Role         prompt.Role
}

// CreateInvite makes an invitation and returns it with its secret, which is never shown again. It
// is for administrators of each workspace that it names, and of the site where it names none.
func (s *Service) CreateInvite(ctx context.Context, who auth.User, want WantedInvite) (Invite, string, error) {
	if err := signedIn(who); err != nil {
		return Invite{}, "", err
	}
	roles := make([]prompt.Role, len(want.Offers))
	for i, o := range want.Offers {
		roles[i] = o.Role
	}
	if err := prompt.CheckInvite(want.Uses, want.Days, roles); err != nil {
		return Invite{}, "", err
	}
	if len(want.Offers) == 0 || want.Admin {
		if !who.Admin() {
			return Invite{}, "", errNeedsAdmin()
		}
		if err := s.needPasswords(); err != nil {
			return Invite{}, "", err
		}
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	i := prompt.Invite{
		Admin: want.Admin, Uses: want.Uses, By: IDOf(who), CreatedAt: now,
		ExpiresAt: now.AddDate(0, 0, want.Days),
	}
	for at, o := range want.Offers {
		w, m, err := s.workspace(ctx, who, o.Workspace, prompt.RoleAdministrator)
		if err != nil {
			return Invite{}, "", err
		}
		if slices.ContainsFunc(i.Offers, func(o prompt.Offer) bool { return o.Workspace == w.ID }) {
			return Invite{}, "", &fault.Error{
				Kind: fault.Invalid, Text: "the invitation breaks the rules named here",
				Fields: []fault.Field{
					{
						Name: fmt.Sprintf("workspaces[%d].handle", at), Value: o.Workspace,
						Message: "name each workspace once",
					},
				},
			}
		}
		kind, name := s.membership(who, m)
		i.Offers = append(i.Offers, prompt.Offer{Workspace: w.ID, Role: o.Role, ViaKind: kind, Via: name})
	}
	var text string
	text, i.ID, i.Secret = Invites.New()
	if err := s.db.AddInvite(ctx, i); err != nil {
		return Invite{}, "", err
	}
	made, err := s.seen(ctx, []prompt.Invite{i})
	if err != nil {
		return Invite{}, "", err
	}
	return made[0], text, nil
}

// seen returns invitations with the names of those whom they are about.
func (s *Service) seen(ctx context.Context, all []prompt.Invite) ([]Invite, error) {
	shown := make([]Invite, len(all))
	for at, i := range all {
		shown[at].Invite = i
		if i.By != "" {
			shown[at].By = s.AuthorKey(i.By)
			var err error
			if shown[at].Maker, err = s.db.Profile(ctx, i.By); err != nil {
				return nil, err
			}
		}
		for _, o := range i.Offers {
			w, err := s.db.Workspace(ctx, o.Workspace)
			if err != nil {
				return nil, err
			}
			if w != nil {
				shown[at].Workspaces = append(shown[at].Workspaces, InvitedTo{w.Handle, w.Name, o.Role})
			}
		}
	}
	return shown, nil
}

// ListInvites returns the invitations of the caller and, to an admin where people have passwords,
// those of everybody that are open, the newest first; or those to a workspace of which the caller
// is an administrator, with the offers of that workspace alone.
func (s *Service) ListInvites(ctx context.Context, who auth.User, workspace string) ([]Invite, error) {
	if err := signedIn(who); err != nil {
		return nil, err
	}
	if workspace != "" {
		w, _, err := s.workspace(ctx, who, workspace, prompt.RoleAdministrator)
		if err != nil {
			return nil, err
		}
		all, err := s.db.Invites(ctx, w.ID)
		for at := range all {
			all[at].Offers = slices.DeleteFunc(all[at].Offers, func(o prompt.Offer) bool { return o.Workspace != w.ID })
		}
		if err != nil {
			return nil, err
		}
		return s.seen(ctx, all)
	}
	all, err := s.db.Invites(ctx, IDOf(who))
	if err == nil && who.Admin() && s.passwords != nil {
		var open []prompt.Invite
		open, err = s.db.OpenInvites(ctx)
		for _, i := range open {
			if i.By != IDOf(who) {
				all = append(all, i)
			}
		}
		slices.SortFunc(all, func(a, b prompt.Invite) int { return b.CreatedAt.Compare(a.CreatedAt) })
	}
	if err != nil {
		return nil, err
	}
	return s.seen(ctx, all)
}

// RemoveInvite withdraws an invitation: its maker may, an administrator of a workspace that it
// names, and an admin of the site.
func (s *Service) RemoveInvite(ctx context.Context, who auth.User, id string) error {
	if err := signedIn(who); err != nil {
		return err
	}
	if !Invites.HasID(id) {
		return prompt.ErrNoInvite()
	}
	i, err := s.db.InviteByID(ctx, id)
	if err != nil {
		return err
	}
	may := i.ID != "" && (i.By == IDOf(who) || who.Admin())
	for _, o := range i.Offers {
		if may {
			break
		}
		m, err := s.db.ReadWorkspace(ctx, o.Workspace)
		if err != nil {
			return err
		}
		may = s.role(who, m) == prompt.RoleAdministrator
	}
	if !may {
		return prompt.ErrNoInvite()
	}
	return s.db.RemoveInvite(ctx, i)
}

// OpenInvite returns the offers of an invitation to the holder of its secret.
func (s *Service) OpenInvite(ctx context.Context, secret string) (Invite, error) {
	id, hash, ok := Invites.Parse(secretIn(secret))
	if !ok {
		return Invite{}, prompt.ErrNoInvite()
	}
	i, err := s.db.Invite(ctx, id, hash)
	if err == nil {
		err = i.Open(s.now())
	}
	if err != nil {
		return Invite{}, err
	}
	shown, err := s.seen(ctx, []prompt.Invite{i})
	if err != nil {
		return Invite{}, err
	}
	shown[0].ForNew, err = s.givesAccounts(ctx, i)
	return shown[0], err
}

// secretIn returns the secret that somebody gave, alone or with the link that has it.
func secretIn(text string) string {
	return strings.TrimSpace(text[strings.LastIndexByte(text, '#')+1:])
}

// HasAdmin reports whether somebody with a password is an administrator of the site.
func (s *Service) HasAdmin(ctx context.Context) (bool, error) { return s.db.HasAdmin(ctx) }

// givesAccounts reports whether people without an account make one by an invitation: operators and
// admins of the site say who is let in, as long as they are that.
func (s *Service) givesAccounts(ctx context.Context, i prompt.Invite) (bool, error) {
	if s.passwords == nil || i.By == "" {
		return s.passwords != nil, nil
	}
	maker, err := s.db.Account(ctx, i.By)
	return maker != nil && maker.Admin, err
}

// A NewPerson is what somebody without an account gives with an invitation.
type NewPerson struct{ Handle, Name, Password string }

// An Accepted is what an invitation gave.
type Accepted struct {
	Workspaces []InvitedTo
	Handle     string // of a new account
	Session    string // of a new account
}

// AcceptInvite gives the caller what an invitation offers. Somebody who is not signed in makes an
// account by it, where people have passwords and an admin made it, and is signed in.
func (s *Service) AcceptInvite(ctx context.Context, who auth.User, secret string, p NewPerson,
	by Asker,
) (Accepted, error) {
	id, hash, ok := Invites.Parse(secretIn(secret))
	switch {
	case who.Known() && signedIn(who) != nil:
		return Accepted{}, signedIn(who)
	case !who.Known() && s.passwords == nil:
		return Accepted{}, fault.New(fault.Unauthenticated, "sign in first, and accept the invitation then")
	case !ok:
		return Accepted{}, prompt.ErrNoInvite()
	}
	if who.Known() {
		i, err := s.db.AcceptInvite(ctx, IDOf(who), id, hash, nil)
		if err != nil {
			return Accepted{}, err
		}
		s.MakeKnown(ctx, who)
		return s.accepted(ctx, i)
	}
	i, err := s.db.Invite(ctx, id, hash)
	if err != nil {
		return Accepted{}, err
	}
	switch gives, err := s.givesAccounts(ctx, i); {
	case err != nil:
		return Accepted{}, err
	case !gives:
		return Accepted{}, prompt.ErrNeedsAccount()
	}
	n, err := s.newcomer(ctx, i, p, by)
	if err != nil {
		return Accepted{}, err
	}
	if i, err = s.db.AcceptInvite(ctx, n.ID, id, hash, n); err != nil {
		return Accepted{}, err
	}
	a, err := s.accepted(ctx, i)
	if err != nil {
		return Accepted{}, err
	}
	made, err := s.db.Account(ctx, n.ID)
	if err != nil {
		return Accepted{}, err
	}
	if made == nil { // erased since
		return Accepted{}, promptdb.ErrNoAccount()
	}
	a.Handle = n.Handle
	if a.Session, err = s.open(ctx, *made, by); err != nil {
		return Accepted{}, fault.Wrap(fault.Unavailable,
			"the account is made, but you are not signed in yet; sign in", err)
	}
	return a, nil
}

func (s *Service) accepted(ctx context.Context, i prompt.Invite) (Accepted, error) {
	shown, err := s.seen(ctx, []prompt.Invite{{Offers: i.Offers}})
	if err != nil {
		return Accepted{}, err
	}
	return Accepted{Workspaces: shown[0].Workspaces}, nil
}

// newcomer returns the account that somebody makes by an invitation. Its id follows from the
// invitation and the handle, so that the same request again makes the same one.
func (s *Service) newcomer(ctx context.Context, i prompt.Invite, p NewPerson, by Asker) (*promptdb.Newcomer, error) {
	handle := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(p.Handle), "@"))
	given, err := prompt.Profile{Handle: cmp.Or(handle, prompt.Slug(p.Name)), Name: p.Name}.Check()
	var fields []fault.Field
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		fields = f.Fields
	}
	if given.Handle == "" {
		fields = append(fields, fault.Field{
			Name:    "handle",
			Message: "choose a handle: people find you by it, and you sign in with it",
		})
	}
	fields = append(fields, checkPassword(p.Password, given.Handle, given.Name)...)
	if len(fields) > 0 {
		return nil, &fault.Error{Kind: fault.Invalid, Text: "the account breaks the rules named here", Fields: fields}
	}
	id := prompt.UserID(uuid.NewSHA1(uuid.NameSpaceOID, []byte("prompthub|"+i.ID+"|"+given.Handle)).String())
	if err := s.db.LearnAuthorKeys(ctx); err != nil {
		return nil, err
	}
	key := prompt.UserID(s.AuthorKey(id))
	if slices.ContainsFunc(i.Takers, func(t prompt.Taker) bool { return t.Key == key && t.Done }) {
		return nil, prompt.HandleTaken(given.Handle) // by somebody with the same invitation
	}
	if _, err := i.Take(key, s.now()); err != nil {
		return nil, err // before it costs a hash
	}
	from := password.At(by.Site, by.Network)
	hash, err := s.passwords.hasher.Hash(ctx, from, p.Password)
	if err != nil {
		return nil, err
	}
	return &promptdb.Newcomer{
		Account: promptdb.Account{
			ID: id, Name: cmp.Or(given.Name, given.Handle), PasswordHash: hash, Admin: i.Admin, Invite: i.ID,
			CreatedAt: s.now().UTC().Truncate(time.Millisecond),
		},
		Handle: given.Handle,
		Same: func(other string) (bool, error) {
			ok, _, err := s.passwords.hasher.Verify(ctx, from, p.Password, other)
			return ok, err
		},
	}, nil
}

// AdminInvite makes the secret of a link by which somebody becomes an administrator of the site,
// once and within an hour. It is for operators. While there is no administrator a new one takes the
// place of the one before. Again says that it is wanted where there is an administrator, too:
// without, the secret is "" then.
func (s *Service) AdminInvite(ctx context.Context, again bool) (string, error) {
	if err := s.needPasswords(); err != nil {
		return "", err
	}
	there, err := s.db.HasAdmin(ctx)
	if err != nil || there && !again {
		return "", err
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	i := prompt.Invite{Admin: true, Uses: 1, CreatedAt: now, ExpiresAt: now.Add(FirstInviteFor)}
	var text string
	if text, i.ID, i.Secret = Invites.New(); there {
		return text, s.db.PutInvite(ctx, i)
	}
	_, secret, _ := Invites.Bytes(text)
	text = Invites.Format(make([]byte, Invites.IDBytes), secret)
	_, i.Secret, _ = Invites.Parse(text)
	i.ID = firstInvite
	return text, s.db.PutInvite(ctx, i)
}
