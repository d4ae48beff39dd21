package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

// TestPicturesKeepNoPlaces holds that a request which waits for its turn has given its place at
// work back, that those which wait for one picture have it painted once, and that a caller who has
// more wait than it may is told so for that picture alone.
func TestPicturesKeepNoPlaces(t *testing.T) {
	t.Parallel()
	s := &web{
		Config:  Config{Admission: httpjson.NewAdmission(httpjson.Limits{AtWork: 1}, time.Now)},
		painter: newPainter(),
	}
	left := make(chan struct{}, 2*waitingPictures)
	ask := func(tag string) ([]byte, error) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		req := &request{Request: r, caller: httpjson.CallerOf(r, "ann"), leave: func() { left <- struct{}{} }}
		b, err := s.picture(req, cardImage{title: tag}, tag)
		if err == nil {
			req.leave()
		}
		return b, err
	}
	s.painter.turn <- struct{}{}
	const wait = waitingPictures / 8
	var pictures [wait][]byte
	done := make(chan error, wait)
	for i := range wait {
		go func() {
			var err error
			pictures[i], err = ask("one")
			done <- err
		}()
		<-left // before its turn
	}
	_, err := ask("other")
	require.Equal(t, fault.Limited, fault.Of(err))
	require.Equal(t, fault.Code("TOO_MANY_AT_ONCE"), fault.CodeOf(err))
	<-s.painter.turn
	for range wait {
		require.NoError(t, <-done)
	}
	for _, p := range pictures {
		require.Same(t, &pictures[0][0], &p[0], "painted once")
	}
	for i := range keptPictures {
		s.painter.pictures.Add(fmt.Sprint(i), []byte{1})
	}
	require.False(t, s.painter.pictures.Contains("one"))
	require.Equal(t, keptPictures, s.painter.pictures.Len())
}
