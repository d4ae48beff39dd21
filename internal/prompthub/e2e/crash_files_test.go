package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/functiontest"
)

// TestKilledUnderUploads kills the program (SIGKILL) again and again while four people upload sets
// of files. Every version that is there has all files of one upload, and every upload that was
// acknowledged has its version. E2E_FULL kills it eight times.
func TestKilledUnderUploads(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		done := work(t)
		killedUnderUploads(t, startLocal(t, "embedded"), whole, done)
	})
	t.Run("host", func(t *testing.T) {
		if !full() {
			t.Skip("make deep kills it under the host, too; make test does so in TestKilledInTheMiddle")
		}
		t.Parallel()
		done := workOnAzurite(t)
		killedUnderUploads(t, startHosted(t, functiontest.Faults{}), small, done)
	})
}

func killedUnderUploads(t *testing.T, a app, n size, done func()) {
	kills := 2
	if full() {
		kills = 8
	}
	up := &uploads{versions: map[string]map[int64]string{}}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		u := &uploader{user: user{t: t, url: a.url(), name: fmt.Sprintf("uploader-%d", i)}, uploads: up}
		wg.Go(func() { until(stop, u.upload) })
	}
	awaitAnswers := func() {
		enough := up.answers() + n.alive/2 + rand.IntN(n.alive)
		require.Eventually(t, func() bool { return up.answers() > enough }, 3*time.Minute, time.Millisecond)
	}
	for range kills {
		awaitAnswers()
		a.kill(t)
	}
	awaitAnswers()
	close(stop)
	wg.Wait()
	done()
	up.check(t, a)
	t.Logf("%d uploads acknowledged, of %d prompts", up.answers(), len(up.versions))
	finish(t, a)
}

// uploads are what people were answered who uploaded files.
type uploads struct {
	mu       sync.Mutex
	versions map[string]map[int64]string // by prompt and version, which upload it is
	acked    int
}

func (up *uploads) answers() int {
	up.mu.Lock()
	defer up.mu.Unlock()
	return up.acked
}

type uploader struct {
	user
	*uploads
	id   string // of the prompt that it writes to
	made int
}

// A sentFile is a file as the API takes it.
type sentFile struct {
	Path       string `json:"path"`
	Content    string `json:"content,omitempty"`
	SHA256     string `json:"sha256,omitempty"`
	Executable bool   `json:"executable,omitempty"`
}

// every upload has these paths, and bytes that say which upload it is.
const filesOfAnUpload = 7

// contentOf returns a file of an upload. One is of two rows of the store, and some stay the same
// from one upload to the next, so that their bytes are shared.
func contentOf(name string, file int) string {
	switch file {
	case 0:
		return "the same in each upload\n"
	case 1:
		return name + "\n" + strings.Repeat("a line that fills many rows\n", 15_000)
	}
	return fmt.Sprintf("File %d of %s\n", file, name)
}

// upload puts a set of files into the prompt, or makes one of it.
func (u *uploader) upload() {
	u.made++
	name := fmt.Sprintf("upload %d of %s", u.made, u.name)
	files := make([]sentFile, filesOfAnUpload)
	for i := range files {
		files[i] = sentFile{
			Path:    fmt.Sprintf("d%d/file%d.txt", i%3, i),
			Content: contentOf(name, i), Executable: i == 3,
		}
	}
	var p struct {
		ID      string
		Version int64
	}
	var status int
	var err error
	if u.id == "" || rand.IntN(30) == 0 {
		status, _, err = u.try("POST", "/prompts",
			map[string]any{"title": name, "text": name, "visibility": "private", "files": files}, &p)
	} else {
		if rand.IntN(2) == 0 { // of the version before
			sum := sha256.Sum256([]byte(files[0].Content))
			files[0].Content, files[0].SHA256 = "", hex.EncodeToString(sum[:])
		}
		status, _, err = u.try("PATCH", "/prompts/"+u.id, map[string]any{"text": name, "files": files}, &p,
			"If-Match", "*")
	}
	if err != nil {
		time.Sleep(20 * time.Millisecond) // a client that is refused does not come back at once
		return
	}
	if status >= 300 {
		u.t.Errorf("%s is refused: %d", name, status)
		return
	}
	u.id = p.ID
	u.mu.Lock()
	defer u.mu.Unlock()
	u.acked++
	if u.versions[p.ID] == nil {
		u.versions[p.ID] = map[int64]string{}
	}
	u.versions[p.ID][p.Version] = name
}

// check reads the files of all versions that there are.
func (up *uploads) check(t *testing.T, a app) {
	t.Helper()
	for _, id := range slices.Sorted(maps.Keys(up.versions)) {
		acked := up.versions[id]
		name := slices.Collect(maps.Values(acked))[0]
		u := user{t: t, url: a.url(), name: name[strings.LastIndex(name, " ")+1:]}
		versions, err := items[saved](u, "/prompts/"+id+"/versions?limit=100")
		require.NoError(t, err)
		there := map[int64]bool{}
		for _, v := range versions {
			there[v.Version] = true
			var got struct{ Text string }
			u.do(200, "GET", fmt.Sprintf("/prompts/%s/versions/%d", id, v.Version), nil, &got)
			if was, ok := acked[v.Version]; ok {
				require.Equal(t, was, got.Text, "version %d of %s", v.Version, id)
			}
			up.whole(t, u, id, v.Version, got.Text)
		}
		for n, name := range acked {
			require.True(t, there[n], "version %d of %s, %s, was acknowledged and is lost", n, id, name)
		}
	}
}

// whole holds the files of a version against those of the upload that made it.
func (up *uploads) whole(t *testing.T, u user, id string, version int64, name string) {
	t.Helper()
	var list struct {
		Items []struct {
			Path, SHA256     string
			Executable, Made bool
		}
	}
	u.do(200, "GET", fmt.Sprintf("/prompts/%s/files?version=%d", id, version), nil, &list)
	require.Len(t, list.Items, filesOfAnUpload+1)
	for _, f := range list.Items {
		if f.Made {
			continue
		}
		var i, folder int
		_, err := fmt.Sscanf(f.Path, "d%d/file%d.txt", &folder, &i)
		require.NoError(t, err)
		sum := sha256.Sum256([]byte(contentOf(name, i)))
		require.Equal(t, hex.EncodeToString(sum[:]), f.SHA256, "%s of version %d of %s", f.Path, version, id)
		require.Equal(t, i == 3, f.Executable)
	}
	// the service compares the bytes with their SHA-256 when it reads them
	h := u.do(200, "GET", fmt.Sprintf("/prompts/%s/archive?version=%d", id, version), nil, nil)
	require.Len(t, h.Get("ETag"), 66)
}
