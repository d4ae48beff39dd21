// Package api is the door for JSON over HTTP: which routes there are, what they take and answer,
// and the OpenAPI document that says so. There is no sign-in: a host proves a game by its key, a
// player a name by its secret.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with.
const Prefix = "/api/v1"

// maxBody is how large a body may be, in bytes: more than a thousand moves take.
const maxBody = 64 << 10

// Config is what the API needs. Every field is required but those that say what their zero means.
type Config struct {
	Games     *game.Games
	Admission *httpjson.Admission
	Origins   httpjson.Origins // none where there are none
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
	Version   string
}

type api struct {
	Config
	huma     huma.API
	document openapi.Document
	about    openapi.System
	daily    *game.Daily
}

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	a := &api{Config: c, about: openapi.System{Version: c.Version, Ready: openapi.Readiness{Ask: c.Games.Ready, Now: c.Now}}, daily: &game.Daily{Now: c.Now}}
	mux := http.NewServeMux()
	a.huma = humago.NewWithPrefix(mux, Prefix, a.settings())
	a.document = openapi.Document{
		API: a.huma, Problem: httpjson.Problem{}, Meanings: meanings, ETag: `"6b3e1f0a9c24d785"`,
		Rare: []string{"currentRound", "winner", "optimalMoveCount"},
	}
	a.games()
	a.rounds()
	a.solutions()
	a.today()
	a.system()
	a.about.Rendered = a.document.Render()
	watch := httpjson.Observer{Log: c.Log, Now: c.Now, Telemetry: c.Telemetry}
	return watch.Observe(httpjson.Secure(httpjson.CORS(c.Origins, httpjson.Single(httpjson.JoinQuery(httpjson.ETags(httpjson.Routes(mux)))))))
}

const hostScheme = "hostKey"

func (a *api) settings() huma.Config {
	c := openapi.Config("Async Ricochet Robots", a.Version)
	c.Info.Description = "A host creates a board; players submit sequences of moves until a round ends; the shortest wins it and moves the robots. " +
		"Times and durations are milliseconds, cells are counted from the top left. Every error is a problem document with a code. " +
		"HEAD answers as GET does, without a body. Who sends too much is answered 429."
	c.Tags = []*huma.Tag{
		{Name: "games", Description: "Boards, and what was won on them"},
		{Name: "rounds", Description: "The search for the way to one goal"},
		{Name: "solutions", Description: "What players submit, and who is ahead"},
		{Name: "system", Description: "Whether the service is up, and this document"},
	}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		hostScheme: {Type: "apiKey", In: "header", Name: "X-Host-Key", Description: "What the answer to the creation of the game alone has told."},
	}
	return c
}

// route registers an action. op.Errors names the statuses of its errors beyond those of every
// route.
func route[I, O any](a *api, op huma.Operation, act func(context.Context, *I) (*O, error)) {
	op.BodyReadTimeout = -1 // openapi.ReadBody has its own
	op.Middlewares = huma.Middlewares{a.admit}
	statuses := append([]int{400, 422, 429, 500, 503}, op.Errors...)
	if op.Method != http.MethodGet {
		statuses = append(statuses, 403, 408, 413, 415) // pages of other sites, and bodies
	}
	if op.Security != nil {
		statuses = append(statuses, 401)
	}
	a.document.AddErrors(&op, statuses...)
	if op.Method == http.MethodGet && !openapi.IsProbe(op.Path) {
		openapi.Conditional(&op)
	}
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := openapi.WithinPage(in, func() (*O, error) { return act(ctx, in) })
		if err != nil {
			return nil, httpjson.Describe(ctx, err)
		}
		return out, nil
	})
}

// admit counts a request, reads what it sends, and finds room for it.
func (a *api) admit(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if openapi.IsProbe(ctx.Operation().Path) {
		if err := a.Admission.Probe(w, r); err != nil {
			httpjson.Refuse(w, r, err)
			return
		}
		next(ctx)
		return
	}
	caller := httpjson.CallerOf(r, "")
	if err := a.Admission.Admit(r.Context(), w.Header(), caller, httpjson.IsWrite(r)); err != nil {
		httpjson.Refuse(w, r, err)
		return
	}
	openapi.CheckQuery(ctx, func(ctx huma.Context) {
		if ctx.Operation().RequestBody != nil && !openapi.ReadBody(ctx, a.Admission, maxBody) {
			return
		}
		leave, err := a.Admission.Enter(ctx.Context(), caller)
		if err != nil {
			httpjson.Refuse(w, r, err)
			return
		}
		defer leave()
		next(ctx)
	})
}

func (a *api) system() {
	route(a, openapi.HealthRoute(), a.about.Health)
	route(a, openapi.ReadyRoute(), a.about.IsReady)
	route(a, openapi.DocumentRoute(), a.about.Document)
}

// meanings says what each status that reports an error means here, with an example. Those that mean
// the same everywhere package openapi knows.
var meanings = map[int]openapi.Meaning{
	400: {Doc: "The query or the body cannot be read", Detail: "the body is not valid JSON"},
	401: {Doc: "The key is not that of the host; INVALID_HOST_KEY, also where there is no such game", Detail: "send the hostKey of this game in the header X-Host-Key: whoever created the game was told it"},
	403: {Doc: "Somebody else has the name (NAME_TAKEN), or a page of another site asks", Detail: "somebody else plays under this name in this game; choose another, or send the playerSecret that it was given"},
	404: {Doc: "There is no such game or round: GAME_NOT_FOUND, ROUND_NOT_FOUND", Detail: "there is no such game"},
	409: {Doc: "It cannot be as things are: ROUND_ALREADY_ACTIVE, ROUND_ALREADY_ENDED, ROUND_ENDED, ROUND_ACTIVE, ALL_GOALS_EXHAUSTED, TOO_MANY_ROUNDS, TOO_MANY_SOLUTIONS, GAME_FULL", Detail: "the round has ended; it takes no solutions any more"},
	413: {Doc: "The body is too large", Detail: "the body is larger than 64 KiB"},
	422: {Doc: "The request breaks rules, which are named: VALIDATION_ERROR, INVALID_SOLUTION", Detail: "the request breaks the rules named here", Fields: []httpjson.Field{{Location: "body.moves[2]", Message: "the red robot cannot move up from column 2, row 1"}}},
}
