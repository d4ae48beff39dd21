package embedded

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// maxGroup bounds the rows and messages that one transaction alters, but for those of its last
// change, and with them the memory that it takes.
const maxGroup = 1024

// A plan checks all conditions of a change and alters nothing. It returns what carries
// the change out, nil where there is nothing to do. An error refuses this change
// alone; an error of apply takes down the whole transaction.
type plan func(tx *bbolt.Tx) (apply func() error, err error)

// A change is a plan on its way through the writer.
type change struct {
	plan    plan
	size    int // how many rows or messages it alters at most
	refused error
	done    chan error // takes the one answer without blocking
}

// update hands a plan for n rows to the writer and waits until its transaction is durable.
// Where ctx ends before, the outcome is unknown.
func (s *Store) update(ctx context.Context, size int, p plan) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &change{plan: p, size: size, done: make(chan error, 1)}
	select {
	case s.changes <- c:
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
	for {
		select {
		case first := <-s.changes:
			s.commit(s.gather(first))
		case <-s.closing:
			return
		}
	}
}

// gather returns first and the changes that wait after it.
func (s *Store) gather(first *change) []*change {
	group := []*change{first}
	for room := maxGroup - first.size; room > 0; {
		select {
		case c := <-s.changes:
			group, room = append(group, c), room-c.size
		default:
			return group
		}
	}
	return group
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
