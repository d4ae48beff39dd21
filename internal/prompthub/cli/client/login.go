package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Name returns the name by which the service calls the caller.
func (c *Client) Name(ctx context.Context) (string, error) {
	var me struct {
		Name string `json:"name"`
	}
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/me"}, &me)
	return me.Name, err
}

// TakeLogin returns the access token of a sign-in that somebody has allowed.
func (c *Client) TakeLogin(ctx context.Context, code, secret string) (string, error) {
	body, err := encode(map[string]string{"code": code, "secret": secret})
	if err != nil {
		return "", err
	}
	var made struct{ Token string }
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/logins", body: body}, &made)
	return made.Token, err
}

// RevokeMine revokes the access token that the client has.
func (c *Client) RevokeMine(ctx context.Context) error {
	_, rest, _ := strings.Cut(c.token, "_")
	id, _, _ := strings.Cut(rest, "_")
	_, err := c.do(ctx, call{method: http.MethodDelete, path: "/me/tokens/" + url.PathEscape(id)}, nil)
	return err
}

// IsRefused reports whether the service does not believe the token of the client, or not any more.
func IsRefused(err error) bool {
	var p *Problem
	return errors.As(err, &p) && p.Status == http.StatusUnauthorized
}
