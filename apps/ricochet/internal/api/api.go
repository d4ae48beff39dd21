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

	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with.
const Prefix = openapi.Prefix

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
	service openapi.Service[guest]
	daily   *game.Daily
}

// A guest is every caller: keys and secrets prove what a request may do.
type guest struct{}

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	a := &api{Config: c, daily: &game.Daily{Now: c.Now}, service: openapi.Service[guest]{
		Admission: c.Admission, Origins: c.Origins, Log: c.Log, Now: c.Now, Telemetry: c.Telemetry, Version: c.Version,
		Ready: c.Games.Ready, MaxBody: maxBody,
		Document: openapi.Document{
			Problem: httpjson.Problem{}, Meanings: meanings, ETag: `"6b3e1f0a9c24d785"`,
			Rare: []string{"currentRound", "winner", "optimalMoveCount"},
		},
	}}
	mux := http.NewServeMux()
	a.service.Begin(mux, a.settings())
	a.games()
	a.rounds()
	a.solutions()
	a.today()
	a.service.Finish()
	return a.service.Handler(httpjson.Routes(mux))
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
		hostScheme: {
			Type: "apiKey", In: "header", Name: "X-Host-Key",
			Description: "What the answer to the creation of the game alone has told.",
		},
	}
	return c
}

// route registers an action. op.Errors names the statuses of its errors beyond those of every
// route.
func route[I, O any](a *api, op huma.Operation, act func(context.Context, *I) (*O, error)) {
	openapi.Route(&a.service, openapi.Anyone, openapi.Bound{}, op, openapi.Unclaimed[guest](act))
}

// meanings says what each status that reports an error means here, with an example. Those that mean
// the same everywhere package openapi knows.
var meanings = map[int]openapi.Meaning{
	400: {Doc: "The query or the body cannot be read", Detail: "the body is not valid JSON"},
	401: {
		Doc:    "The key is not that of the host; INVALID_HOST_KEY, also where there is no such game",
		Detail: "send the hostKey of this game in the header X-Host-Key: whoever created the game was told it",
	},
	403: {Doc: "Somebody else has the name (NAME_TAKEN), or a page of another site asks", Detail: "somebody else plays under this name in this game; choose another, or send the playerSecret that it was given"},
	404: {Doc: "There is no such game or round: GAME_NOT_FOUND, ROUND_NOT_FOUND", Detail: "there is no such game"},
	409: {Doc: "It cannot be as things are: ROUND_ALREADY_ACTIVE, ROUND_ALREADY_ENDED, ROUND_ENDED, ROUND_ACTIVE, ALL_GOALS_EXHAUSTED, TOO_MANY_ROUNDS, TOO_MANY_SOLUTIONS, GAME_FULL", Detail: "the round has ended; it takes no solutions any more"},
	413: {Doc: "The body is too large", Detail: "the body is larger than 64 KiB"},
	422: {
		Doc:    "The request breaks rules, which are named: VALIDATION_ERROR, INVALID_SOLUTION",
		Detail: "the request breaks the rules named here",
		Fields: []httpjson.Field{{
			Location: "body.moves[2]",
			Message:  "the red robot cannot move up from column 2, row 1",
		}},
	},
}
