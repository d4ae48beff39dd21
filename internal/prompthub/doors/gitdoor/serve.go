package gitdoor

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/git"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// The bounds of an instance. A pack is held in memory until it is sent, and has 32 MiB at most. A
// slow client takes minutes for that, in which others must not wait: so packs have other places
// while they are sent than while they are made, and small ones need none.
const (
	packsAtOnce = 2 // that are made: one of a caller's, and one of all callers who are not signed in
	sentAtOnce  = 6 // large ones: one of a caller's, and three of all callers who are not signed in
	packWithin  = 20 * time.Second
	packWaits   = 10 * time.Second // for its turn
	again       = 20 * time.Millisecond
	largeAnswer = 1 << 20 // bytes
)

// advertise tells a client what is served.
func (d *handler) advertise(w http.ResponseWriter, r *http.Request) error {
	switch r.URL.Query().Get("service") {
	case receivePack:
		return errReadOnly()
	case uploadPack:
	default:
		return fault.New(fault.Malformed, "git asks with ?service=git-upload-pack; use git 2.26 or later")
	}
	x, err := d.admit(w, r)
	if err != nil {
		return err
	}
	leave, err := x.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	if err := x.exists(r.Context()); err != nil {
		return err
	}
	w.Header().Set("Content-Type", git.AdvertisementType)
	_, _ = w.Write(git.Advertise(r.Header.Get("Git-Protocol"))) //nolint:gosec // the header says what it is; the client may have gone away
	return nil
}

// fetch answers a command of the protocol: it lists refs, or sends objects.
func (d *handler) fetch(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get("Content-Type") != git.RequestType {
		return httpjson.NewProblem(r.Context(), http.StatusUnsupportedMediaType, "send "+git.RequestType)
	}
	x, err := d.admit(w, r)
	if err != nil {
		return err
	}
	body, err := d.Admission.ReadBody(w, r, git.MaxRequest)
	if err != nil {
		return err
	}
	leave, err := x.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	parts, sent, err := x.answer(r.Context(), body)
	if refusal := new(git.Refusal); errors.As(err, &refusal) {
		parts, err = [][]byte{refusal.Packet()}, nil
	}
	if err != nil {
		return err
	}
	defer sent()
	leave()
	w.Header().Set("Content-Type", git.ResultType)
	for _, p := range parts {
		if _, err := w.Write(p); err != nil { //nolint:gosec // as above; the client has gone away
			break
		}
	}
	return nil
}

// answer returns the answer to a request, and a function that gives its memory free.
func (x reader) answer(ctx context.Context, body []byte) (parts [][]byte, sent func(), err error) {
	sent = func() {}
	q, err := git.ReadRequest(bytes.NewReader(body))
	if err != nil {
		return nil, sent, err
	}
	if q.IsFetch() {
		made, err := x.turn(ctx, x.packs)
		if err != nil {
			return nil, sent, err
		}
		defer made()
	}
	ctx, cancel := context.WithTimeout(ctx, packWithin)
	defer cancel()
	r, err := x.open(ctx, q.IsFetch())
	if err == nil {
		parts, err = q.Answer(ctx, r)
	}
	if errors.Is(err, errDiffers) {
		x.Log.WarnContext(ctx, "a repository begins anew", slog.Any("error", err))
		if r != nil && r.differs != nil {
			err = r.differs(ctx)
		}
		if err == nil || errors.Is(err, errDiffers) {
			err = &git.Refusal{Text: "the repository has changed meanwhile; fetch again"}
		}
	}
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if err == nil && size > largeAnswer {
		sent, err = x.turn(ctx, x.sends)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = &fault.Error{
			Kind: fault.Unavailable,
			Text: "this took longer than 20 seconds; try again, or clone with --depth 1", Cause: err,
		}
	}
	return parts, sent, err
}

// turn waits for a place.
func (x reader) turn(ctx context.Context, places *httpjson.Gate) (leave func(), err error) {
	resume := httpjson.Pause(ctx)
	defer resume()
	for end := time.Now().Add(packWaits); ; {
		if leave, err = places.Enter(x.Key); err == nil {
			return leave, nil
		}
		if time.Now().After(end) {
			return func() {}, err
		}
		select {
		case <-ctx.Done():
			return func() {}, err
		case <-time.After(again):
		}
	}
}

// open returns the repository as it is now: all of it, or its refs alone.
func (x reader) open(ctx context.Context, whole bool) (r *repository, err error) {
	if x.address.prompt != "" {
		r, err = x.promptRepository(ctx)
	} else {
		r, err = x.shelfRepository(ctx, whole)
	}
	if f := new(fault.Error); fault.Of(err) == fault.Invalid && errors.As(err, &f) {
		err = &git.Refusal{Text: f.Text} // git shows no sentence of another answer
	}
	return r, err
}

// exists returns an error if there is no such repository.
func (x reader) exists(ctx context.Context) (err error) {
	switch {
	case x.collection != "":
		_, _, err = x.collectionFor(ctx)
	case x.address.prompt != "":
		_, err = x.Service.GetByName(ctx, x.as, x.owner, x.address.prompt,
			library.WantedVersion{Label: prompt.Latest, History: true})
	case !x.isOwn():
		_, err = x.Service.UserByHandle(ctx, auth.User{}, x.address.handle)
	}
	if fault.Of(err) == fault.NotFound {
		err = errNoRepository()
	}
	return err
}
