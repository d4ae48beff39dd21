package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// maxGroup bounds the rows and messages that one transaction alters, but for those of its last
// change, and with them the memory that it takes; maxLater those of background changes if a caller
// waited a moment ago, and with them how long the next caller waits.
const (
	maxGroup = 1024
	maxLater = 256
)

// A plan checks all conditions of a change and alters nothing. It returns what carries
// the change out, nil where there is nothing to do. An error refuses this change
// alone; an error of apply takes down the whole transaction.
type plan func(tx *bbolt.Tx) (apply func() error, err error)

// A change is a plan on its way through the writer.
type change struct {
	plan    plan
	size    int // how many rows or messages it alters at most
	urgency urgency
	refused error
	done    chan error // takes the one answer without blocking
}

// An urgency says who waits for a change.
type urgency int

const (
	awaited urgency = iota // somebody who asked for it
	job                    // a job: it is carried out at once, and keeps no later one waiting
	later                  // no one: a background change
)

// update hands a plan for n rows to the writer and waits until its transaction is durable.
// Where ctx ends before, the outcome is unknown.
func (s *Store) update(ctx context.Context, size int, u urgency, p plan) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &change{plan: p, size: size, urgency: u, done: make(chan error, 1)}
	way := s.changes
	if u == later {
		way = s.later
	}
	select {
	case way <- c:
	case <-s.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the write may have landed: %w", ctx.Err())
	}
}

// writer commits what waits, group after group, until the store closes.
func (s *Store) writer() {
	defer close(s.stopped)
	again := time.NewTimer(0)
	defer again.Stop()
	var p pace
	for {
		var first *change
		select {
		case first = <-s.changes: // who came while the last group was committed
			p.waited(first, time.Now())
		default:
		}
		var others <-chan *change
		if wait := p.wait(time.Now()); wait > 0 {
			again.Reset(wait)
		} else {
			others = s.later
		}
		if first == nil {
			select {
			case first = <-s.changes:
			case first = <-others:
			case <-again.C:
				continue
			case <-s.closing:
				return
			}
		}
		began := time.Now()
		group := s.gather(first, others, p.room(began))
		s.commit(group)
		p.spent(group, began, time.Now())
	}
}

// gather returns first and every change that waits after it, and before these some rows of others,
// if others is not nil.
func (s *Store) gather(first *change, others <-chan *change, rest int) []*change {
	group, room := []*change{first}, maxGroup-first.size
	if first.urgency == later {
		rest, room = rest-first.size, maxGroup
	}
	take := func(from <-chan *change, room int) {
		for room > 0 {
			select {
			case c := <-from:
				group, room = append(group, c), room-c.size
			default:
				return
			}
		}
	}
	take(others, rest)
	take(s.changes, room)
	return group
}

// A pace says when background changes have their turn: when no caller has waited for a moment, or
// else in a fifth of the time, and at least once a second on a slow disk.
type pace struct {
	quiet time.Time // since when no caller has waited for a moment
	turn  time.Time // from when on they have waited long enough
	still time.Time // since when no caller has waited for long
}

const (
	quietFor = 10 * time.Millisecond
	turnBy   = time.Second
	stillFor = time.Second

	turnIn = 4 // times what the last turn took
)

// wait returns in how long it is their turn.
func (p *pace) wait(now time.Time) time.Duration {
	return min(p.quiet.Sub(now), p.turn.Sub(now))
}

// room returns how many rows they may alter.
func (p *pace) room(now time.Time) int {
	if now.Before(p.still) {
		return maxLater
	}
	return maxGroup
}

// spent notes that a group was committed.
func (p *pace) spent(group []*change, began, ended time.Time) {
	for _, c := range group {
		p.waited(c, ended)
		if c.urgency == later {
			p.turn = ended.Add(min(turnIn*ended.Sub(began), turnBy))
		}
	}
}

// waited notes that the caller of c waited until now, if c has one that waits.
func (p *pace) waited(c *change, now time.Time) {
	if c.urgency == awaited {
		p.quiet, p.still = now.Add(quietFor), now.Add(stillFor)
	}
}

// commit carries a group out in one transaction and answers all of it afterwards, also
// the refused: the row that stood in their way may be one that this transaction brings.
func (s *Store) commit(group []*change) {
	err := s.transact(group)
	for _, c := range group {
		if err != nil {
			c.done <- err
		} else {
			c.done <- c.refused
		}
	}
}

func (s *Store) transact(group []*change) error {
	tx, err := s.db.Begin(true)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	s.shared = newSharing(tx)
	defer func() { s.shared = nil }()
	altered := false
	for _, c := range group {
		var apply func() error
		if apply, c.refused = c.plan(tx); apply == nil {
			continue
		}
		altered = true
		if err := apply(); err != nil {
			return errors.Join(fmt.Errorf("apply: %w", err), tx.Rollback())
		}
	}
	if !altered { // save the sync
		return tx.Rollback()
	}
	if err := s.shared.flush(); err != nil {
		return errors.Join(fmt.Errorf("apply: %w", err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
