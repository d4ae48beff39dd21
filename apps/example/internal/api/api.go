// Package api is the door for JSON over HTTP.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/example/internal/notes"
	"prompthub/internal/cursor"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with.
const Prefix = openapi.Prefix

// Config is what the API needs. Every field is required but Telemetry.
type Config struct {
	Book      *notes.Book
	Admission *httpjson.Admission
	Origins   httpjson.Origins
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry
	Version   string
}

type api struct {
	Config
	service openapi.Service[visit]
}

// A visit is a request with what it says about its caller.
type visit struct {
	claim notes.Claim
	asker notes.Asker
}

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	a := &api{Config: c}
	a.service = openapi.Service[visit]{
		Admission: c.Admission, Origins: c.Origins, Log: c.Log, Now: c.Now, Telemetry: c.Telemetry, Version: c.Version,
		Ready: c.Book.Ready, Document: openapi.Document{
			Problem: httpjson.Problem{}, Meanings: meanings, ETag: `"6b3e1f0a9c24d785"`, Rare: []string{"nextCursor"},
		},
		Scheme: scheme, MaxBody: 16 << 10, Identify: a.identify, LogKey: session.LogKey,
		Secret: func(_, path string) bool { return strings.HasPrefix(path, "/auth/") },
	}
	mux := http.NewServeMux()
	a.service.Begin(mux, a.settings())
	a.accounts()
	a.notes()
	a.service.Finish()
	return a.service.Handler(httpjson.Routes(mux))
}

const scheme = "accessToken"

func (a *api) settings() huma.Config {
	c := openapi.Config("Example", a.Version)
	c.Info.Description = "Notes of people who have an account. Every error is a problem document."
	c.Tags = []*huma.Tag{
		{Name: "account", Description: "To sign up, in and out"},
		{Name: "notes", Description: "Texts that last for 30 days"},
		{Name: "system", Description: "Whether the service is up, and this document"},
	}
	bearer := &huma.SecurityScheme{Type: "http", Scheme: "bearer", Description: "The accessToken of a session."}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{scheme: bearer}
	return c
}

// identify returns a request and the search for the session that it names, nil for a guest.
func (a *api) identify(r *http.Request, who openapi.Access) (v *visit, find func() (string, error), err error) {
	v = &visit{asker: AskerOf(a.Admission, r)}
	if who == openapi.Anyone {
		return v, nil, nil
	}
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return v, nil, session.SignIn()
	}
	return v, func() (user string, err error) {
		v.claim, _, err = a.Book.Recognize(r.Context(), token)
		return v.claim.UserID, err
	}, nil
}

// AskerOf returns the client that has sent a request.
func AskerOf(admission *httpjson.Admission, r *http.Request) notes.Asker {
	return notes.Asker{
		By: password.At(httpjson.AddressClass(r)), Device: session.Device(r.UserAgent()),
		Guess: func() (func(), error) { return admission.Guess(r) },
	}
}

var meanings = map[int]openapi.Meaning{
	400: {Doc: "The query or the body cannot be read", Detail: "the body is not valid JSON"},
	401: {
		Doc:    "The caller is not signed in: UNAUTHENTICATED, INVALID_TOKEN, INVALID_CREDENTIALS, REFRESH_REUSED",
		Detail: "the token is not valid, or not any more; sign in again",
	},
	403: {Doc: "A page of another site asks", Detail: "this was sent from a page of another site"},
	404: {Doc: "There is no such note", Detail: "there is no such note"},
	409: {Doc: "Somebody else has the name", Detail: "somebody else has this name; choose another"},
	413: {Doc: "The body is too large", Detail: "the body is larger than 16 KiB"},
	422: {
		Doc: "The request breaks rules, which are named", Detail: "a note has 1 to 1,000 characters",
		Fields: []httpjson.Field{{Location: "body.text", Message: "must have 1 to 1,000 characters"}},
	},
}

// Credentials are what an account is known by.
type Credentials struct {
	Name     string `json:"name" maxLength:"100" doc:"1 to 40 of a-z, 0-9 and -" example:"ann"`
	Password string `json:"password" maxLength:"500" doc:"12 to 200 characters" example:"correct horse battery staple"`
}

// Tokens are those of a session.
type Tokens struct {
	AccessToken  string `json:"accessToken" doc:"Send it as Authorization: Bearer, for 15 minutes" example:"ea_…"`
	RefreshToken string `json:"refreshToken" doc:"Gives the next tokens, once" example:"er_…"`
}

type in[T any] struct{ Body T }

func operation(tag, id, method, path, summary, doc string, errors ...int) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: method, Path: path, Tags: []string{tag}, Summary: summary,
		Description: doc, Errors: errors,
	}
}

func tokensOf(t notes.Tokens, err error) (*openapi.Body[Tokens], error) {
	return openapi.Answer(Tokens{t.Access, t.Refresh}, err)
}

func (a *api) accounts() {
	enter := openapi.Bound{Steps: 3, Calls: 4}
	openapi.Route(&a.service, openapi.Anyone, enter,
		operation("account", "sign-up", "POST", "/auth/sign-up", "Sign up", "Makes an account and signs it in.", 409),
		func(ctx context.Context, v visit, in *in[Credentials]) (*openapi.Body[Tokens], error) {
			return tokensOf(a.Book.SignUp(ctx, in.Body.Name, in.Body.Password, v.asker))
		})
	openapi.Route(&a.service, openapi.Anyone, enter,
		operation("account", "sign-in", "POST", "/auth/sign-in", "Sign in", "With a name and its password.", 401),
		func(ctx context.Context, v visit, in *in[Credentials]) (*openapi.Body[Tokens], error) {
			return tokensOf(a.Book.SignIn(ctx, in.Body.Name, in.Body.Password, v.asker))
		})
	openapi.Route(&a.service, openapi.Anyone, openapi.Bound{Steps: 2, Calls: 3},
		operation("account", "refresh", "POST", "/auth/refresh", "Get the next tokens",
			"In place of a refresh token, which is good once. The same request may come again for a minute.", 401),
		func(ctx context.Context, _ visit, in *in[Refresh]) (*openapi.Body[Tokens], error) {
			return tokensOf(a.Book.Refresh(ctx, in.Body.RefreshToken, in.Body.RequestID))
		})
	out := operation("account", "sign-out", "POST", "/auth/sign-out", "Sign out",
		"Ends the session of the access token.")
	out.DefaultStatus = http.StatusNoContent
	openapi.Route(&a.service, openapi.SignedIn, openapi.Bound{Steps: 1, Calls: 3}, out,
		func(ctx context.Context, v visit, _ *struct{}) (*struct{}, error) {
			return nil, a.Book.SignOut(ctx, v.claim)
		})
}

// A Refresh asks for the next tokens.
type Refresh struct {
	RefreshToken string `json:"refreshToken" maxLength:"200" doc:"That of the last answer" example:"er_…"`
	RequestID    string `json:"requestId,omitempty" maxLength:"64" doc:"Of your choice: the request may come again" example:"0123456789abcdef"`
}

// A Note is one of the caller's.
type Note struct {
	ID        string `json:"id" doc:"Names it" example:"2516087659799999999-5f3a0c1d2e3f4051"`
	Text      string `json:"text" doc:"What it says" example:"Buy milk"`
	CreatedAt string `json:"createdAt" format:"date-time" doc:"When it was written" example:"2026-11-01T12:00:00.000Z"`
	EndsAt    string `json:"endsAt" format:"date-time" doc:"When it is removed" example:"2026-12-01T12:00:00.000Z"`
}

// A NoteList is a page of notes.
type NoteList struct {
	Items      []Note `json:"items" nullable:"false" doc:"The newest first"`
	NextCursor string `json:"nextCursor,omitempty" doc:"Send it as cursor to get the next page; absent at the end" example:"AQ"`
}

// A NewNote is what a caller writes.
type NewNote struct {
	Text string `json:"text" maxLength:"2000" doc:"1 to 1,000 characters" example:"Buy milk"`
}

func noteOf(n notes.Note) Note {
	return Note{n.ID, n.Text, httpjson.FormatTime(n.CreatedAt), httpjson.FormatTime(n.Ends)}
}

func (a *api) notes() {
	openapi.Route(&a.service, openapi.SignedIn, openapi.Bound{Steps: 1, Calls: 3},
		operation("notes", "list-notes", "GET", "/notes", "Your notes", "The newest first."),
		func(ctx context.Context, v visit, in *struct {
			Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many at most" example:"20"`
			Cursor string `query:"cursor" maxLength:"512" doc:"That of the page before" example:"AQ"`
		},
		) (*openapi.Body[NoteList], error) {
			scope := "notes|" + v.claim.UserID
			after, err := cursor.Resume(scope, in.Cursor)
			if err != nil {
				return nil, err
			}
			page, err := a.Book.Notes(ctx, v.claim, after, in.Limit)
			list := NoteList{Items: []Note{}, NextCursor: cursor.Seal(scope, page.Next)}
			for _, n := range page.Notes {
				list.Items = append(list.Items, noteOf(n))
			}
			return openapi.Answer(list, err)
		})
	write := operation("notes", "write-note", "POST", "/notes", "Write a note", "It is removed after 30 days.")
	write.DefaultStatus = http.StatusCreated
	openapi.Route(&a.service, openapi.SignedIn, openapi.Bound{Steps: 3, Calls: 6}, write,
		func(ctx context.Context, v visit, in *in[NewNote]) (*openapi.Body[Note], error) {
			n, err := a.Book.Write(ctx, v.claim, in.Body.Text)
			return openapi.Answer(noteOf(n), err)
		})
	remove := operation("notes", "delete-note", "DELETE", "/notes/{noteId}",
		"Delete a note", "One that is gone is as good.", 404)
	remove.DefaultStatus = http.StatusNoContent
	openapi.Route(&a.service, openapi.SignedIn, openapi.Bound{Steps: 1, Calls: 3}, remove,
		func(ctx context.Context, v visit, in *struct {
			NoteID string `path:"noteId" maxLength:"100" doc:"The id of a note" example:"2516087659799999999-5f3a0c1d2e3f4051"`
		},
		) (*struct{}, error) {
			return nil, a.Book.Delete(ctx, v.claim, in.NoteID)
		})
}
