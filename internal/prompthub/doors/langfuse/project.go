package langfuse

import (
	"context"
	"net/http"
)

type organization struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type project struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Organization organization `json:"organization"`
	Metadata     struct{}     `json:"metadata"`
}

type projectList struct {
	Data []project `json:"data"`
}

// project tells the project of a pair of keys, the user. The SDKs ask for it to check the keys.
func (s *server) project(ctx context.Context, r request) (int, any, error) {
	u, err := s.Service.Profile(ctx, r.User)
	return http.StatusOK, projectList{[]project{{ID: u.Key, Name: u.Name, Organization: organization{u.Key, u.Name}}}},
		err
}
