package transfer

import (
	"bytes"
	"cmp"
	"context"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A Copied is a copy of a prompt, as far as it was made.
type Copied struct {
	library.View
	Outcome Outcome
	Loss    []string // what it has not: labels that a rule keeps for proposals
	More    bool     // the same again goes on
	Changes int      // that were made, or tried
}

// Copy makes a private copy of a prompt, with its versions, labels and files, for an owner for whom
// the caller acts. It is an import of what an export has of that prompt, so the same again goes on
// where one request has made as many changes as it may, and finds a whole copy unchanged.
func Copy(ctx context.Context, s *library.Service, who, owner auth.User, id prompt.ID) (c Copied, err error) {
	if err := library.Needs(owner, auth.ScopeWrite); err != nil {
		return c, err
	}
	var file bytes.Buffer
	name := ""
	for from := int64(1); from > 0; {
		w, err := s.Whole(ctx, who, id, from)
		if err != nil {
			return c, err
		}
		w.Visibility, w.PublicFrom, w.MyVote = prompt.Private, 0, prompt.None
		if err := writeLines(&file, lineOf(*w)); err != nil {
			return c, err
		}
		if file.Len() > MaxFile {
			return c, fault.Coded(fault.Invalid, format.FileTooLarge, "all versions of the prompt together take more than 4 MiB: export and import it with the command line")
		}
		name, from = w.Name, w.Next
	}
	r, err := Import(ctx, s, owner, file.Bytes(), Options{File: "account.jsonl"})
	c.More, c.Changes = r.More, r.Changes
	if err != nil {
		return c, err
	}
	for _, item := range r.Items {
		if item.Outcome == Rejected {
			return c, fault.Coded(fault.Conflict, cmp.Or(item.Code, EntryRefused), item.Reason)
		}
		c.Outcome, c.Loss = item.Outcome, item.Loss
	}
	c.View, err = s.GetByName(ctx, owner, library.IDOf(owner), name, library.WantedVersion{})
	return c, err
}
