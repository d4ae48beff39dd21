package forum

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A SectionPage is a part of the list of sections.
type SectionPage struct {
	Sections []Section
	Next     string
}

// MaxCounted is how far the topics of a section are counted.
const MaxCounted = 100

// Sections returns the sections in their order, with the numbers of their topics.
func (s *Service) Sections(ctx context.Context, c meet.Claim, after string, limit int) (SectionPage, error) {
	var rows []table.Row
	_, err := s.members.Admit(ctx, c, func(ctx context.Context) (err error) {
		rows, _, err = s.Budget().Rows(ctx, s.tables.ForumSections, table.Range{Partition: sectionsPart}, maxSections)
		return err
	})
	if err != nil {
		return SectionPage{}, err
	}
	position := func(x Section) string { return fmt.Sprintf("%07d_%s", x.Order, x.ID) }
	p := SectionPage{Sections: []Section{}}
	for _, row := range rows {
		if x := parseSection(row); position(x) > after {
			p.Sections = append(p.Sections, x)
		}
	}
	slices.SortFunc(p.Sections, func(a, b Section) int { return strings.Compare(position(a), position(b)) })
	if len(p.Sections) > limit {
		p.Sections = p.Sections[:limit]
		p.Next = position(p.Sections[limit-1])
	}
	err = rowstore.Each(ctx, len(p.Sections), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		rows, _, err := s.Budget().Rows(ctx, s.tables.ForumTopics,
			table.Range{Partition: topic.List(p.Sections[i].ID), Select: []string{"AuthorId"}}, MaxCounted)
		p.Sections[i].Topics = len(rows)
		return err
	})
	return p, err
}

// readSection reads a section; nil if there is none.
func (s *Service) readSection(ctx context.Context, id string) (*Section, error) {
	if !isSection(id) {
		return nil, nil
	}
	row, err := s.GetRow(ctx, s.tables.ForumSections, sectionKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	x := parseSection(*row)
	return &x, nil
}

// requireAdmin finds out that the caller is an admin, and reads a section at the same time.
func (s *Service) requireAdmin(ctx context.Context, c meet.Claim, id string,
	reads ...func(context.Context) error,
) (was *Section, err error) {
	caller, err := s.members.Admit(ctx, c, append(reads, func(ctx context.Context) (err error) {
		was, err = s.readSection(ctx, id)
		return err
	})...)
	if err == nil && caller.Role != meet.Admin {
		err = roleRequired("only admins may do this")
	}
	return was, err
}

// NewSection makes a section; admins may.
func (s *Service) NewSection(ctx context.Context, c meet.Claim, x Section) (Section, error) {
	was, err := s.requireAdmin(ctx, c, x.ID)
	if err != nil {
		return Section{}, err
	}
	if err := x.checkSection(); err != nil {
		return Section{}, err
	}
	if was != nil {
		return Section{}, sectionTaken()
	}
	x.CreatedAt = s.Now().UTC()
	err = s.Write(ctx, s.tables.ForumSections, []table.Op{{Kind: table.Insert, Row: x.toRow()}})
	if rowstore.Overtaken(err) {
		return Section{}, sectionTaken()
	}
	if err != nil {
		return Section{}, rowstore.Unavailable(err)
	}
	return x, nil
}

func sectionTaken() error {
	return &fault.Error{
		Kind: fault.Conflict, Code: SectionTaken, Text: "there is a section with this id already",
		Fields: []fault.Field{{Name: "body.sectionId", Code: SectionTaken, Message: "give another id"}},
	}
}

// EditSection changes a section; admins may.
func (s *Service) EditSection(ctx context.Context, c meet.Claim, x Section) (Section, error) {
	was, err := s.requireAdmin(ctx, c, x.ID)
	if err == nil && was == nil {
		err = noSection()
	}
	if err != nil {
		return Section{}, err
	}
	if err := x.checkSection(); err != nil {
		return Section{}, err
	}
	x.CreatedAt = was.CreatedAt
	row := x.toRow()
	row.ETag = table.Any
	err = s.Write(ctx, s.tables.ForumSections, []table.Op{{Kind: table.Replace, Row: row}})
	if rowstore.Overtaken(err) {
		return Section{}, noSection()
	}
	if err != nil {
		return Section{}, rowstore.Unavailable(err)
	}
	return x, nil
}

// DeleteSection deletes a section without topics; admins may.
func (s *Service) DeleteSection(ctx context.Context, c meet.Claim, id string) error {
	var topics []table.Row
	was, err := s.requireAdmin(ctx, c, id, func(ctx context.Context) (err error) {
		if isSection(id) {
			topics, _, err = s.Budget().Rows(ctx, s.tables.ForumTopics, table.Range{Partition: topic.List(id)}, 1)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case was == nil:
		return noSection()
	case len(topics) > 0:
		return fault.Coded(fault.Conflict, SectionNotEmpty, "the section has topics")
	}
	return s.RemoveKey(ctx, s.tables.ForumSections, sectionKey(id))
}
