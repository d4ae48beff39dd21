package e2e

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	unreadAnswers   = 200
	idleHeads       = 256
	pictureRequests = 256
	networks        = 8       // that all of these come from
	mostMemory      = 1 << 20 // KiB, what the unit of deploy/ gives the program
)

// attackFor is how long the attack goes on.
func attackFor() time.Duration {
	if full() {
		return 2 * time.Minute
	}
	return 6 * time.Second
}

// TestUnderAttack holds that the program serves a user who is signed in, within the memory that its
// unit gives it, while connections from eight networks at once read no answer, send heads without
// bodies and ask for pictures, and another user imports the worst file. The program itself sets
// GOMEMLIMIT; the test reads from /proc how much it had at most. With -v it prints that, and how
// long the user's requests took. E2E_FULL makes it go on for two minutes.
func TestUnderAttack(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" { // other systems have not all of 127.0.0.0/8
		t.Skip("takes seconds, both processors, and Linux")
	}
	t.Parallel()
	work(t)
	l := startLocal(t, "embedded", "PUBLIC_READ=true", "LIMIT_READS=100", "LIMIT_WRITES=20")
	a := attackers{t: t, l: l}
	picture := a.prepare()
	ctx, stop := context.WithTimeout(t.Context(), attackFor())
	defer stop()
	var all sync.WaitGroup
	for i := range unreadAnswers {
		all.Go(func() {
			a.hold(ctx, i, "GET /api/v1/prompts?fields=text&limit=20 HTTP/1.1\r\nHost: localhost\r\n\r\n")
		})
	}
	for i := range idleHeads {
		all.Go(func() {
			a.hold(ctx, i, "POST /api/v1/prompts/"+picture+"/render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 262144\r\n\r\n")
		})
	}
	for i := range pictureRequests {
		all.Go(func() { a.paint(ctx, i, picture) })
	}
	all.Go(func() { a.imports(ctx) })
	took, refused := a.works(ctx, "ann", picture)
	all.Wait()
	most := a.memory()
	slices.Sort(took)
	require.NotEmpty(t, took)
	t.Logf("%d requests of a user: median %v, p99 %v, longest %v; %d unread answers, %d idle heads and %d pictures were asked for, %d imports begun; at most %d MiB",
		len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1], a.unread.Load(), a.heads.Load(),
		a.pictures.Load(), a.files.Load(), most>>10)
	require.Empty(t, refused, "of the user's requests")
	require.Less(t, most, mostMemory)
	require.Positive(t, a.pictures.Load())
	require.Positive(t, a.files.Load())
}

// Attackers send what costs a program much, from eight addresses of this machine.
type attackers struct {
	t *testing.T
	l *local

	unread, heads, pictures, files atomic.Int64
}

// from returns a client at the i-th address.
func from(i int) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%networks))}}
}

func (a *attackers) send(ctx context.Context, client *http.Client,
	method, path, who, body string,
) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, a.l.url()+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if who != "" {
		r.Header.Set("X-Dev-User", who)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	return w.StatusCode, b, err
}

// prepare makes public prompts whose contents are as long as they may be, and returns the id of one
// with a title that is dear to paint.
func (a *attackers) prepare() (picture string) {
	for i := range 20 {
		draft, err := json.Marshal(map[string]any{
			"title": strings.Repeat("W", 190) + strconv.Itoa(i), "description": strings.Repeat("W", 1000),
			"text": strings.Repeat("中", 2900), "visibility": "public",
			"config": map[string]string{"a": strings.Repeat("中", 60000)},
		})
		require.NoError(a.t, err)
		status, b, err := a.send(a.t.Context(), http.DefaultClient, http.MethodPost,
			"/api/v1/prompts", "eve", string(draft))
		require.NoError(a.t, err)
		require.Equal(a.t, http.StatusCreated, status, string(b))
		var made struct{ ID string }
		require.NoError(a.t, json.Unmarshal(b, &made))
		picture = made.ID
	}
	return picture
}

// hold sends a request and reads nothing, until the connection is cut, and then again.
func (a *attackers) hold(ctx context.Context, i int, request string) {
	for ctx.Err() == nil {
		conn, err := from(i).DialContext(ctx, "tcp", a.l.addr)
		if err != nil {
			return
		}
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		if _, err := io.WriteString(conn, request); err == nil {
			if strings.HasPrefix(request, "GET") {
				a.unread.Add(1)
			} else {
				a.heads.Add(1)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(6 * time.Second): // by then it is cut
		}
		_ = conn.Close()
	}
}

// paint asks for a picture again and again.
func (a *attackers) paint(ctx context.Context, i int, id string) {
	client := &http.Client{Transport: &http.Transport{DialContext: from(i).DialContext}}
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		a.pictures.Add(1)
		_, _, _ = a.send(ctx, client, http.MethodGet, "/app/prompts/"+id+"/image.png", "", "")
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// imports looks at a ZIP of documents again and again that repeat an anchor for what they may.
func (a *attackers) imports(ctx context.Context) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	document := "---\na0: &a0 " + strings.Repeat("x", 20000) + "\nb: [" + strings.Repeat("*a0,", 199) + "]\n---\nx"
	for i := range 150 {
		f, err := z.Create(fmt.Sprintf("p%d.md", i))
		if err == nil {
			_, err = io.WriteString(f, document)
		}
		require.NoError(a.t, err)
	}
	require.NoError(a.t, z.Close())
	for ctx.Err() == nil {
		a.files.Add(1)
		_, _, _ = a.send(ctx, http.DefaultClient, http.MethodPost, "/api/v1/import?dryRun=true&file=a.zip", "mallory",
			b.String())
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// works makes requests as a user does, and returns how long they took and those that were refused.
func (a *attackers) works(ctx context.Context, who, id string) (took []time.Duration, refused []string) {
	for n := 0; ctx.Err() == nil; n++ {
		method, path, body := http.MethodGet, "/api/v1/prompts/"+id, ""
		switch n % 4 {
		case 1:
			path = "/api/v1/prompts?limit=20"
		case 2:
			path = "/app"
		case 3:
			method, path, body = http.MethodPost, "/api/v1/prompts", `{"title":"T","text":"some words"}`
		}
		start := time.Now()
		status, b, err := a.send(a.t.Context(), http.DefaultClient, method, path, who, body)
		took = append(took, time.Since(start))
		if err != nil || status >= 400 {
			refused = append(refused, fmt.Sprint(path, status, err, string(b)))
		}
		select {
		case <-ctx.Done():
		// A request is charged for its time, and twice that gives the tokens back: none is refused
		// because the machine is slow.
		case <-time.After(50*time.Millisecond + 2*took[n]):
		}
	}
	return took, refused
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// memory returns how many KiB the program had at most.
func (a *attackers) memory() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.l.cmd.Process.Pid))
	require.NoError(a.t, err)
	found := highWater.FindSubmatch(status)
	require.NotNil(a.t, found)
	n, err := strconv.Atoi(string(found[1]))
	require.NoError(a.t, err)
	return n
}
