package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// maxFetchers is how many access tokens are named for each version.
const maxFetchers = 10

// A fetching is the last fetches of a prompt, for those who may know.
type fetching struct {
	Versions []fetchedVersion // lower ones first
	Without  int64
	More     bool
}

// A fetchedVersion is a version with the access tokens that fetched it last.
type fetchedVersion struct {
	Version   int64
	Count, Of int       // tokens
	Still     bool      // whether programs that name none get another one, or none
	Recalled  bool      // whether it was recalled
	Names     string    // of tokens of the owner
	On        time.Time // the last day
}

// fetchingOf returns the last fetches of a prompt; nil if the reader may not know.
func (s *web) fetchingOf(r *request, h library.History, id prompt.ID) (*fetching, error) {
	if !h.Mine {
		return nil, nil //nolint:nilnil // as documented
	}
	f, err := s.Service.Fetches(r.Context(), r.who, id)
	if fault.Of(err) == fault.Forbidden {
		return nil, nil //nolint:nilnil // as documented
	}
	if err != nil {
		return nil, err
	}
	all := &fetching{Without: f.Without, More: f.More}
	var names []string
	for i, x := range f.ByToken {
		if i == 0 || f.ByToken[i-1].Version != x.Version {
			_, recalled := slices.BinarySearch(h.Recalled, x.Version)
			all.Versions, names = append(all.Versions,
				fetchedVersion{
					Version: x.Version, Of: len(f.ByToken),
					Still: x.Version != h.Served, Recalled: recalled,
				}), nil
		}
		b := &all.Versions[len(all.Versions)-1]
		if b.Count++; x.On.After(b.On) {
			b.On = x.On
		}
		if x.Token != "" && len(names) < maxFetchers {
			names = append(names, x.Token)
		}
		b.Names = strings.Join(names, ", ")
		if n := b.Count - len(names); n > 0 && len(names) > 0 {
			b.Names += fmt.Sprintf(" and %d more", n)
		}
	}
	return all, nil
}
