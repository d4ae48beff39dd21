package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/cursor"
	"prompthub/internal/http/openapi"
)

// The parts that inputs share. They are exported because huma fills no others.
type (
	// ByGame names a game.
	ByGame struct {
		GameID string `path:"gameId" doc:"The id of a game" example:"game_8f14e45fceea167a"`
	}
	// ByRound names a round of a game.
	ByRound struct {
		ByGame
		Number int `path:"n" minimum:"1" maximum:"1000" doc:"The number of a round" example:"3"`
	}
	// ByHost proves who the host is.
	ByHost struct {
		HostKey string `header:"X-Host-Key" hidden:"true"`
	}
)

// byHost are the operations of hosts.
var byHost = []map[string][]string{{hostScheme: {}}}

func (a *api) games() {
	route(a, huma.Operation{
		OperationID: "create-game", Method: http.MethodPost, Path: "/games", Tags: []string{"games"},
		DefaultStatus: http.StatusCreated,
		Metadata:      map[string]any{openapi.Once: true}, // the key of the host is told once
		Summary:       "Create a game",
		Description:   "With a board of its own. Whoever creates it is its host, and keeps hostKey.",
	}, func(ctx context.Context, in *struct{ Body *NewGame }) (*openapi.Body[CreatedGame], error) {
		n := game.NewGame{}
		if in.Body != nil {
			n = game.NewGame{
				Name: in.Body.GameName, DefaultDuration: milliseconds(in.Body.DefaultRoundDurationMs),
				Seed: in.Body.Seed,
			}
		}
		g, key, err := a.Games.NewGame(ctx, n)
		return openapi.Answer(CreatedGame{gameOf(g), key}, err)
	})
	route(a, huma.Operation{
		OperationID: "get-game", Method: http.MethodGet, Path: "/games/{gameId}",
		Tags: []string{"games"}, Errors: []int{404},
		Summary:     "A game",
		Description: "Its board, with the robots where the next round begins, and the goals that were won.",
	}, func(ctx context.Context, in *ByGame) (*openapi.Body[Game], error) {
		g, err := a.Games.Game(ctx, in.GameID)
		return openapi.Answer(gameOf(g), err)
	})
	route(a, huma.Operation{
		OperationID: "delete-game", Method: http.MethodDelete, Path: "/games/{gameId}",
		Tags: []string{"games"}, Security: byHost,
		Summary:     "Delete a game; its host may",
		Description: "With its rounds, names and solutions. It is gone at once.",
	}, func(ctx context.Context, in *struct {
		ByGame
		ByHost
	},
	) (*struct{}, error) {
		return nil, a.Games.Delete(ctx, in.GameID, in.HostKey)
	})
	route(a, huma.Operation{
		OperationID: "get-dashboard", Method: http.MethodGet, Path: "/games/{gameId}/dashboard",
		Tags: []string{"games"}, Security: byHost,
		Summary:     "What a host looks at; the host may",
		Description: "The game, its last rounds, and who is ahead. Hosts see no moves of an active round either.",
	}, func(ctx context.Context, in *struct {
		ByGame
		ByHost
	},
	) (*openapi.Body[Dashboard], error) {
		return openapi.Answer(a.dashboard(ctx, in.GameID, in.HostKey))
	})
}

// How many rounds a dashboard shows, and how many players of the newest. With the moves of all of
// them it is no larger than a page of a list.
const (
	dashboardRounds    = 10
	dashboardStandings = 10
)

func (a *api) dashboard(ctx context.Context, id, key string) (Dashboard, error) {
	g, err := a.Games.Hosted(ctx, id, key)
	if err != nil {
		return Dashboard{}, err
	}
	rounds, _, err := a.Games.Rounds(ctx, id, g.Rounds, dashboardRounds)
	if err != nil {
		return Dashboard{}, err
	}
	d := Dashboard{
		Game: gameOf(g), GoalsLeft: len(g.Board.AllGoals) - len(g.Board.CompletedGoalIndices),
		Rounds: roundsOf(rounds), Leaderboard: []Standing{},
	}
	if len(rounds) > 0 {
		page, err := a.Games.Leaderboard(ctx, id, rounds[0], game.Part{Limit: dashboardStandings})
		if err != nil {
			return Dashboard{}, err
		}
		d.Leaderboard = standingsOf(page.Standings, rounds[0])
	}
	return d, nil
}

func roundsOf(rounds []game.Round) []Round {
	all := make([]Round, len(rounds))
	for i, r := range rounds {
		all[i] = roundOf(r)
	}
	return all
}

func (a *api) rounds() {
	route(a, huma.Operation{
		OperationID: "list-rounds", Method: http.MethodGet, Path: "/games/{gameId}/rounds",
		Tags: []string{"rounds"}, Errors: []int{404},
		Summary:     "The rounds of a game, the newest first",
		Description: "In pages: next of one is from of the one before it in time.",
	}, func(ctx context.Context, in *struct {
		ByGame
		From  int `query:"from" minimum:"1" maximum:"1000" doc:"The number to begin at; the last where it is absent"`
		Limit int `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Most rounds in a page"`
	},
	) (*openapi.Body[RoundList], error) {
		g, err := a.Games.Game(ctx, in.GameID)
		if err != nil {
			return nil, err
		}
		from := g.Rounds
		if in.From > 0 {
			from = min(from, in.From)
		}
		rounds, next, err := a.Games.Rounds(ctx, in.GameID, from, in.Limit)
		return openapi.Answer(RoundList{roundsOf(rounds), next}, err)
	})
	route(a, huma.Operation{
		OperationID: "get-current-round", Method: http.MethodGet, Path: "/games/{gameId}/rounds/current",
		Tags: []string{"rounds"}, Errors: []int{404},
		Summary:     "The active round, or else the last one",
		Description: "With where its robots begin, so that a closed one can be replayed.",
	}, func(ctx context.Context, in *ByGame) (*openapi.Body[CurrentRound], error) {
		g, err := a.Games.Game(ctx, in.GameID)
		if err != nil || g.Rounds == 0 {
			return openapi.Answer(CurrentRound{GameComplete: g.Complete()}, err)
		}
		r, err := a.Games.Round(ctx, in.GameID, g.Rounds)
		wire := roundOf(r)
		return openapi.Answer(CurrentRound{GameComplete: g.Complete(), Round: &wire}, err)
	})
	route(a, huma.Operation{
		OperationID: "get-round", Method: http.MethodGet, Path: "/games/{gameId}/rounds/{n}",
		Tags: []string{"rounds"}, Errors: []int{404},
		Summary: "A round", Description: "For ever: with where its robots began, and who won it.",
	}, func(ctx context.Context, in *ByRound) (*openapi.Body[Round], error) {
		r, err := a.find(ctx, in.GameID, in.Number)
		return openapi.Answer(roundOf(r), err)
	})
	route(a, huma.Operation{
		OperationID: "start-round", Method: http.MethodPost, Path: "/games/{gameId}/rounds", Tags: []string{"rounds"},
		DefaultStatus: http.StatusCreated,
		Security:      byHost, Errors: []int{409}, Summary: "Start a round; the host may",
		Description: "One at a time, with a goal that luck chooses among those that nobody won.",
	}, func(ctx context.Context, in *struct {
		ByGame
		ByHost
		Body *StartRound
	},
	) (*openapi.Body[Round], error) {
		var d time.Duration
		if in.Body != nil {
			d = milliseconds(in.Body.DurationMs)
		}
		r, err := a.Games.Start(ctx, in.GameID, in.HostKey, d)
		return openapi.Answer(roundOf(r), err)
	})
	route(a, huma.Operation{
		OperationID: "extend-round", Method: http.MethodPost, Path: "/games/{gameId}/rounds/{n}/extend",
		Tags:     []string{"rounds"},
		Security: byHost, Errors: []int{404, 409}, Summary: "Move the end of the active round; the host may",
		Description: "By a second to a week, and never back.",
	}, a.extend)
	route(a, huma.Operation{
		OperationID: "close-round", Method: http.MethodPost, Path: "/games/{gameId}/rounds/{n}/close",
		Tags:     []string{"rounds"},
		Security: byHost, Errors: []int{404, 409}, Summary: "End the active round; the host may",
		Description: "The best solution wins the goal and moves the robots, and everybody sees all solutions. A round that nobody calls ends by itself at its end.",
	}, func(ctx context.Context, in *struct {
		ByRound
		ByHost
		Body *CloseRound
	},
	) (*openapi.Body[Round], error) {
		r, err := a.Games.Close(ctx, in.GameID, in.HostKey, in.Number, in.Body != nil && in.Body.SkipGoal)
		return openapi.Answer(roundOf(r), err)
	})
}

func (a *api) extend(ctx context.Context, in *struct {
	ByRound
	ByHost
	Body ExtendRound
},
) (*openapi.Body[Round], error) {
	if (in.Body.ExtendByMs == 0) == (in.Body.NewEndTime == 0) {
		return nil, openapi.Invalid("body", "give either extendByMs or newEndTime", nil)
	}
	x := game.Extension{By: milliseconds(in.Body.ExtendByMs)}
	if in.Body.NewEndTime > 0 {
		x.End = time.UnixMilli(in.Body.NewEndTime)
	}
	r, err := a.Games.Extend(ctx, in.GameID, in.HostKey, in.Number, x)
	return openapi.Answer(roundOf(r), err)
}

// find returns a round of a game that is there.
func (a *api) find(ctx context.Context, id string, number int) (game.Round, error) {
	if _, err := a.Games.Game(ctx, id); err != nil {
		return game.Round{}, err
	}
	return a.Games.Round(ctx, id, number)
}

func (a *api) solutions() {
	route(a, huma.Operation{
		OperationID: "submit-solution", Method: http.MethodPost, Path: "/games/{gameId}/rounds/{n}/solutions",
		Tags:          []string{"solutions"},
		DefaultStatus: http.StatusCreated, Errors: []int{404, 409}, Summary: "Submit a solution",
		Description: "As often as you like, up to 20 times a round; the best counts. What is accepted takes part in the result.",
	}, func(ctx context.Context, in *struct {
		ByRound
		Body Submission
	},
	) (*openapi.Body[Accepted], error) {
		accepted, err := a.Games.Submit(ctx, in.GameID, in.Number, game.Submission{
			Player: in.Body.PlayerName, Secret: in.Body.PlayerSecret, Moves: moves(in.Body.Moves),
		})
		return openapi.Answer(Accepted{accepted.Moves, accepted.Rank, accepted.Secret}, err)
	})
	route(a, huma.Operation{
		OperationID: "get-leaderboard", Method: http.MethodGet, Path: "/games/{gameId}/rounds/{n}/leaderboard",
		Tags: []string{"solutions"}, Errors: []int{404, 409},
		Summary: "Who is ahead", Description: "The fewest moves first, then the earliest. Nobody sees moves before the round is closed; then everybody does, and with all=true every solution. " +
			"In pages, which end at 1 MiB: one may hold fewer than asked for, while nextCursor goes on.",
	}, func(ctx context.Context, in *struct {
		ByRound
		All    bool   `query:"all" doc:"Every solution of a closed round, and not the best of each player alone"`
		Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Most solutions in a page" example:"20"`
		Cursor string `query:"cursor" maxLength:"512" doc:"The nextCursor of the page before, with the same all"`
	},
	) (*openapi.Body[Leaderboard], error) {
		r, err := a.find(ctx, in.GameID, in.Number)
		if err != nil {
			return nil, err
		}
		list := fmt.Sprintf("get-leaderboard %s %d %t", in.GameID, in.Number, in.All)
		after, err := cursor.Resume(list, in.Cursor)
		if err != nil {
			return nil, err
		}
		page, err := a.Games.Leaderboard(ctx, in.GameID, r, game.Part{Every: in.All, Limit: in.Limit, After: after})
		return openapi.Answer(Leaderboard{
			r.Number, string(r.Status), standingsOf(page.Standings, r),
			cursor.Seal(list, page.Next),
		}, err)
	})
	route(a, huma.Operation{
		OperationID: "get-optimal", Method: http.MethodGet, Path: "/games/{gameId}/rounds/{n}/optimal",
		Tags: []string{"solutions"}, Errors: []int{404, 409},
		Summary:     "How short a solution could be",
		Description: "Once the round is closed, which takes a job some seconds more.",
	}, func(ctx context.Context, in *ByRound) (*openapi.Body[Optimal], error) {
		r, err := a.find(ctx, in.GameID, in.Number)
		if err == nil && r.Status == game.Active {
			err = game.StillActive()
		}
		return openapi.Answer(optimalOf(r), err)
	})
}

func (a *api) today() {
	route(a, huma.Operation{
		OperationID: "get-today", Method: http.MethodGet, Path: "/today", Tags: []string{"games"},
		Summary:     "The puzzle of today",
		Description: "The same for everybody, to play alone: nothing is submitted or stored. Asks nothing of the storage.",
	}, func(ctx context.Context, _ *struct{}) (*openapi.Body[Today], error) {
		p, err := a.daily.Puzzle(ctx)
		return openapi.Answer(todayOf(p), err)
	})
}
