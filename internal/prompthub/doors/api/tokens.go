package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
)

func (a *api) tokens() {
	route(a, user, huma.Operation{
		OperationID: "list-tokens", Method: http.MethodGet, Path: "/me/tokens", Tags: []string{"tokens"},
		Summary: "My access tokens, the newest first, without their secrets", Errors: []int{http.StatusNotFound},
		Description: "With their names, scopes and the day of their last use, so that tokens that are no longer used can be revoked.",
	}, a.listTokens)
	route(a, user, huma.Operation{
		OperationID: "create-token", Method: http.MethodPost, Path: "/me/tokens", Tags: []string{"tokens"},
		DefaultStatus: http.StatusCreated,
		Summary:       "Make an access token, which this answer alone shows", Errors: badBody,
		Description: "A token is for programs: it acts as its owner, as far as its scope goes. Only a hash of its secret is kept, so it cannot be shown again. Needs a caller who signed in, and no access token.",
	}, a.createToken)
	route(a, user, huma.Operation{
		OperationID: "revoke-token", Method: http.MethodDelete, Path: "/me/tokens/{token}", Tags: []string{"tokens"},
		Summary:     "Revoke an access token of mine; admins revoke anybody's. Within ten seconds it is refused everywhere",
		Errors:      []int{http.StatusNotFound},
		Description: "Each instance believes a token for at most ten seconds after it last asked. One that is not there any more is answered 404.",
	}, a.revokeToken)
}

type tokensInput struct {
	Owner string `query:"owner" doc:"For admins: the handle or authorId of the user whose access tokens to list" example:"ann-lee"`
}

type tokensOutput struct {
	Body TokenList
}

func (a *api) listTokens(ctx context.Context, c call, in *tokensInput) (*tokensOutput, error) {
	all, err := a.Service.Tokens(ctx, c.User, in.Owner)
	if err != nil {
		return nil, err
	}
	return encodeTokens(all), nil
}

func encodeTokens(all []library.Token) *tokensOutput {
	out := &tokensOutput{TokenList{Items: make([]Token, len(all))}}
	for i, t := range all {
		out.Body.Items[i] = encodeToken(t)
	}
	return out
}

func encodeToken(t library.Token) Token {
	wire := Token{
		ID: t.ID, Name: t.Name, Scopes: t.Scopes, CreatedAt: httpjson.FormatTime(t.CreatedAt),
		ExpiresAt: httpjson.FormatTime(t.ExpiresAt),
	}
	if !t.UsedOn.IsZero() {
		wire.UsedOn = t.UsedOn.UTC().Format(time.DateOnly)
	}
	return wire
}

type newTokenInput struct {
	Body NewToken
}

type newTokenOutput struct {
	CacheControl string `header:"Cache-Control" doc:"no-store"`
	Body         ShownToken
}

func (a *api) createToken(ctx context.Context, c call, in *newTokenInput) (*newTokenOutput, error) {
	t, text, err := a.Service.CreateToken(ctx, c.User, a.tokenDraft(in.Body))
	return shown(t, text, err)
}

func (a *api) tokenDraft(in NewToken) library.TokenDraft {
	return library.TokenDraft{Name: in.Name, Scopes: in.Scopes, ExpiresAt: in.ExpiresAt, Claimed: a.Claimed}
}

func shown(t library.Token, text string, err error) (*newTokenOutput, error) {
	if err != nil {
		return nil, err
	}
	return &newTokenOutput{CacheControl: "no-store", Body: ShownToken{Token: encodeToken(t), Secret: text}}, nil
}

// ByToken names an access token.
type ByToken struct {
	Token string `path:"token" doc:"The id of an access token" example:"mfrggzdfmztwq2lk"`
}

func (a *api) revokeToken(ctx context.Context, c call, in *ByToken) (*struct{}, error) {
	return nil, a.Service.RevokeToken(ctx, c.User, in.Token)
}
