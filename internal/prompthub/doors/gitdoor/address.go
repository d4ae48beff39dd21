package gitdoor

import (
	"context"
	"net/http"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// An address names a repository: of the skills of an author, of a workspace, of the caller or of a
// collection, or of one prompt.
type address struct {
	handle     string // of an author, whose public prompts it has, or of the owner of a collection
	workspace  string // the handle of one
	collection string // the slug of one
	prompt     string // a name of one; "" for all
}

// isOwn reports whether it is for its owner alone, whom a token stands for.
func (a address) isOwn() bool { return a.handle == "" }

// addressOf returns the address of a request. The ending .git may be left out.
func addressOf(r *http.Request) (address, error) {
	a := address{
		handle: r.PathValue("handle"), workspace: r.PathValue("workspace"),
		collection: r.PathValue("collection"), prompt: r.PathValue("prompt"),
	}
	for _, last := range []*string{&a.prompt, &a.collection, &a.workspace, &a.handle} {
		if *last != "" {
			*last = strings.TrimSuffix(*last, ".git")
			break
		}
	}
	if a.handle == library.Me || a.handle != "" && !prompt.NamesUser(a.handle) {
		return a, errNoRepository()
	}
	return a, nil
}

// A reader reads a repository for a caller.
type reader struct {
	*handler
	address
	doors.Caller
	as    auth.User     // its reader: for one of an author the public
	owner prompt.UserID // of the prompts
}

// admit lets a request in.
func (d *handler) admit(w http.ResponseWriter, r *http.Request) (reader, error) {
	a, err := addressOf(r)
	if err != nil {
		return reader{}, err
	}
	c, err := d.Door.Admit(w, r, doors.Need{Scope: auth.ScopeRead, Users: a.isOwn()})
	return reader{handler: d, address: a, Caller: c}, err
}

// enter takes a place at work, and finds the owner of the repository.
func (x *reader) enter(ctx context.Context) (leave func(), err error) {
	leave, err = x.Door.AwaitPlace(ctx, x.Key)
	if err != nil {
		return nil, err
	}
	if err := x.find(ctx); err != nil {
		leave()
		if fault.Of(err) == fault.NotFound {
			err = errNoRepository()
		}
		return nil, err
	}
	return leave, nil
}

func (x *reader) find(ctx context.Context) (err error) {
	switch {
	case x.workspace != "":
		x.as, err = x.Service.In(ctx, x.User, x.workspace)
		x.owner = library.IDOf(x.as)
	case x.isOwn():
		x.as, x.owner = x.User, library.IDOf(x.User)
	case x.collection != "":
	default:
		x.owner, err = x.Service.OwnerID(ctx, auth.User{}, x.address.handle)
	}
	return err
}
