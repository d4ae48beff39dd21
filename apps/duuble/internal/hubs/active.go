package hubs

import (
	"context"
	"encoding/base64"
	"log/slog"
	"slices"
	"time"

	"github.com/axiomhq/hyperloglog"
	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// How many members are active is counted by sketches: a row hll|{hub} / {yyyyMMddHH} of Sessions
// for each hour has the registers of a HyperLogLog, which tell how many people were added. They
// have no ids. The number is that of the union of the last hours. A process adds a person to an
// hour once, and reads the number of a hub once a minute.

const (
	sketchRows = "hll|"
	sketchHour = "2006010215"
	registers  = "registers"
	// activeFor is how long a person who did something counts, and up to an hour more.
	activeFor = 24 * time.Hour
	// countedFor is how long a process knows a number.
	countedFor = time.Minute
	// mostNoted and mostCounts are how much a process knows of both.
	mostNoted  = 20_000
	mostCounts = 1000
)

// A presence is who did something in which hub and hour.
type presence struct{ hub, user, hour string }

// A count is how many members of a hub are active, as read at a time.
type count struct {
	members int64
	at      time.Time
}

// active is what a process knows of the activity of members.
type active struct {
	noted  *lru.Cache[presence, struct{}]
	counts *lru.Cache[string, count]
}

func newActive() active {
	return active{rowstore.NewLRU[presence, struct{}](mostNoted), rowstore.NewLRU[string, count](mostCounts)}
}

func sketchKey(hub, hour string) table.Key {
	return table.Key{Partition: sketchRows + hub, Row: hour}
}

// Acted notes that a member did something in hubs: after the answer, and not if the storage fails.
func (s *Service) Acted(ctx context.Context, user string, in ...string) {
	hour := s.Now().UTC().Format(sketchHour)
	in = slices.DeleteFunc(slices.Clone(in), func(hub string) bool {
		return s.active.noted.Contains(presence{hub, user, hour})
	})
	if len(in) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	s.Background(func() {
		err := rowstore.Each(ctx, len(in), rowstore.MaxParallel, func(ctx context.Context, i int) error {
			err := s.notePresence(ctx, presence{in[i], user, hour})
			if err == nil {
				s.active.noted.Add(presence{in[i], user, hour}, struct{}{})
			}
			return err
		})
		if err != nil {
			s.Log.WarnContext(ctx, "a member is not counted among those who are active",
				slog.String("error", err.Error()))
		}
	})
}

func (s *Service) notePresence(ctx context.Context, p presence) error {
	return s.Change(ctx, s.Tables.Sessions, func(ctx context.Context) ([]table.Op, error) {
		row, err := s.GetRow(ctx, s.Tables.Sessions, sketchKey(p.hub, p.hour))
		if err != nil {
			return nil, err
		}
		sketch := hyperloglog.New14()
		next := table.Row{Key: sketchKey(p.hub, p.hour)}
		before := ""
		if row != nil {
			next.ETag, before = row.ETag, row.Props.Get(registers).Str()
			if sketch, err = parseSketch(*row); err != nil {
				return nil, err
			}
		}
		sketch.Insert([]byte(p.user))
		b, err := sketch.MarshalBinary()
		if err != nil {
			return nil, err
		}
		after := base64.StdEncoding.EncodeToString(b)
		if after == before {
			return nil, nil
		}
		next.Props = table.Props{textProp(registers, after)}
		return []table.Op{rowstore.Put(next)}, nil
	})
}

func parseSketch(row table.Row) (*hyperloglog.Sketch, error) {
	b, err := base64.StdEncoding.DecodeString(row.Props.Get(registers).Str())
	sketch := hyperloglog.New14()
	if err == nil {
		err = sketch.UnmarshalBinary(b)
	}
	return sketch, err
}

// activeIn returns how many members of a hub did something in the last 24 to 25 hours.
func (s *Service) activeIn(ctx context.Context, hub string) (int64, error) {
	now := s.Now().UTC()
	if known, ok := s.active.counts.Get(hub); ok && now.Sub(known.at) < countedFor {
		return known.members, nil
	}
	all := hyperloglog.New14()
	for row, err := range table.All(ctx, s.DB, s.Tables.Sessions,
		table.Range{Partition: sketchRows + hub, From: now.Add(-activeFor).Format(sketchHour)}) {
		if err != nil {
			return 0, rowstore.Unavailable(err)
		}
		one, err := parseSketch(row)
		if err == nil {
			err = all.Merge(one)
		}
		if err != nil {
			return 0, rowstore.Unavailable(err)
		}
	}
	n := int64(all.Estimate())
	s.active.counts.Add(hub, count{n, now})
	return n, nil
}

// forgetSketches removes those of hours that do not count any more.
func (s *Service) forgetSketches(ctx context.Context) error {
	last := s.Now().UTC().Add(-activeFor).Format(sketchHour)
	var failed rowstore.Failures
	// keys are enough
	for row, err := range table.All(ctx, s.DB, s.Tables.Sessions,
		table.Range{FromPartition: sketchRows, ToPartition: table.After(sketchRows), Select: []string{"none"}}) {
		if err == nil && row.Row < last {
			err = s.RemoveKey(ctx, s.Tables.Sessions, row.Key)
		}
		if !failed.Record(err) {
			break
		}
	}
	return failed.Join()
}
