package hubs

import (
	"context"
	"time"

	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/internal/storage/table"
)

const (
	contentMuted = "content_muted"
	mutedUntil   = "muted_until"
	memberRows   = "m|"
	// mostMuted is for how long a hub can be muted until a time.
	mostMuted = 366 * 24 * time.Hour
)

// Muted returns whether the caller is told of posts of a hub.
func (s *Service) Muted(ctx context.Context, c people.Claim, hub string) (Mute, error) {
	_, mine, err := s.checkRole(ctx, c, hub, Member)
	if err != nil {
		return Mute{}, err
	}
	return mine.Mute, nil
}

// SetMuted has the caller be told of posts of a hub, or not.
func (s *Service) SetMuted(ctx context.Context, c people.Claim, hub string, to Mute) (Mute, error) {
	var b rules.Broken
	b.Add(to.Until.Before(s.Now().Add(mostMuted)) && to.Until.Year() >= 0, "mutedUntil",
		"give a time within a year from now, or null")
	_, _, err := s.checkRole(ctx, c, hub, Member)
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		return Mute{}, err
	}
	if !to.Until.IsZero() {
		to.Until = table.TimeOf(table.Ticks(to.Until))
	}
	err = s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		m, err := s.readMembership(ctx, hub, c.UserID)
		if err == nil && !m.isLive() {
			err = notAMember() // any more
		}
		if err != nil || m.Mute == to {
			return nil, err
		}
		m.Mute = to
		row := m.toRow()
		return []table.Op{{Kind: table.Replace, Row: row}}, nil
	})
	return to, err
}
