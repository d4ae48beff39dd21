package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/testing/azurite"
)

// picturesVar is how many pictures there are before anybody backs up: a sample of 40 on a file,
// unless it is set.
const picturesVar = "BACKUP_PICTURES"

// section is where the crowd writes.
const section = "music"

// A crowd is people who write and upload until they are stopped.
type crowd struct {
	*killed
	members []api.Session

	mu      sync.Mutex
	stored  map[string]string // pictures that were acknowledged, by their addresses
	dropped map[string]bool   // those of which the deletion was asked
	said    map[string]bool   // messages that were acknowledged
}

// square is a picture of a colour of its own.
func square(t testing.TB, n int) string {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, 48, 48), color.Palette{color.RGBA{byte(n), byte(n >> 8), byte(n >> 16), 255}, color.White})
	m.SetColorIndex(n%48, n/48%48, 1)
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.String()
}

// send sends a request that the end of the process may cut off.
func (c *crowd) send(method, path, token, kind, body string) (status int, answer string) {
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.at+path, strings.NewReader(body))
	if err != nil {
		return 0, ""
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		return 0, ""
	}
	return resp.StatusCode, b.String()
}

// upload adds a picture of a member, and reads it as it is served.
func (c *crowd) upload(member api.Session, n int) (url string) {
	status, answer := c.send(http.MethodPost, "/users/"+member.User.UserID+"/images", member.AccessToken, "image/png", square(c.t, n))
	if status != http.StatusCreated {
		return ""
	}
	var made api.Image
	if json.Unmarshal([]byte(answer), &made) != nil {
		return ""
	}
	url = made.URL
	status, body := c.send(http.MethodGet, strings.TrimPrefix(url, api.Prefix), member.AccessToken, "", "")
	if status != http.StatusOK {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stored[url] = body
	return url
}

// goOn has eight people write and upload. Stop waits for them.
func (c *crowd) goOn(round int) (stop func()) {
	var done sync.WaitGroup
	end := make(chan struct{})
	for i, member := range c.members[:8] {
		done.Go(func() {
			var mine []string
			for n := 0; ; n++ {
				select {
				case <-end:
					return
				default:
				}
				text := fmt.Sprintf("%d.%d.%d", round, i, n)
				if status, _ := c.send(http.MethodPost, "/forum/topics", member.AccessToken, "application/json", fmt.Sprintf(`{"sectionId":%q,"title":"Topic %s","content":"enough of words"}`, section, text)); status == http.StatusCreated {
					c.mu.Lock()
					c.said["Topic "+text] = true
					c.mu.Unlock()
				}
				if len(mine) == 3 {
					c.mu.Lock()
					c.dropped[mine[0]] = true
					c.mu.Unlock()
					id := strings.TrimSuffix(mine[0][strings.LastIndexByte(mine[0], '/')+1:], ".jpg")
					c.send(http.MethodDelete, "/users/"+member.User.UserID+"/images/"+id, member.AccessToken, "", "")
					mine = mine[1:]
				}
				if url := c.upload(member, 1<<20+round<<16+i<<12+n); url != "" {
					mine = append(mine, url)
				}
			}
		})
	}
	return func() { close(end); done.Wait() }
}

// acknowledged returns what was until now.
func (c *crowd) acknowledged() (pictures, topics []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for url := range c.stored {
		if !c.dropped[url] {
			pictures = append(pictures, url)
		}
	}
	for topic := range c.said {
		topics = append(topics, topic)
	}
	return pictures, topics
}

// command returns a process that runs a command on the store of the service.
func (c *crowd) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), asHandler+"=1", "AzureWebJobsStorage="), append(c.env, env...)...)
	return cmd
}

// TestBackupUnderLoad backs up while eight people write and upload, and kills at ten moments: the
// command or the service. A backup file that exists is complete. A store that is restored from it
// verifies, has the pictures byte for byte, and lacks nothing that was acknowledged before the
// backup began.
func TestBackupUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes, and kills them")
	}
	pictures := 40
	if text := os.Getenv(picturesVar); text != "" {
		var err error
		pictures, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	for _, on := range []string{"embedded", "azurite"} {
		if on == "azurite" && os.Getenv(picturesVar) == "" {
			continue // the whole run takes some minutes
		}
		t.Run(on, func(t *testing.T) { backUpUnderLoad(t, on == "azurite", pictures) })
	}
}

func backUpUnderLoad(t *testing.T, onAzure bool, pictures int) {
	k := &killed{t: t, data: t.TempDir(), kept: map[string]bool{}, count: map[string]int{}}
	c := &crowd{killed: k, stored: map[string]string{}, dropped: map[string]bool{}, said: map[string]bool{}}
	elsewhere := []string{"TABLE_PREFIX=Elsewhere", "QUEUE_PREFIX=elsewhere-", "CONTAINER_PREFIX=elsewhere-"}
	if onAzure {
		k.env = []string{"AzureWebJobsStorage=" + azurite.WithBlobs(t, azurite.Start(t)), "TABLE_PREFIX=Here", "QUEUE_PREFIX=here-", "CONTAINER_PREFIX=here-"}
	}
	kill := k.start()
	defer func() { kill() }()
	for i := range max(8, (pictures+9)/10) {
		c.members = append(c.members, ask[api.Session](t, 201, "POST", k.at+"/auth/register", "", newcomer(fmt.Sprint("member", i))))
	}
	out, err := c.command(nil, "role", "member0@example.com", "admin", "--data", k.data).CombinedOutput()
	require.NoError(t, err, "%s", out)
	ask[any](t, 201, "POST", k.at+"/admin/forum/sections", c.members[0].AccessToken, map[string]any{"sectionId": section, "name": "Музыка", "description": "", "orderIndex": 0})
	for n := range pictures { // members write with seven more
		require.NotEmpty(t, c.upload(c.members[n%len(c.members)], n))
	}

	folder, whole := t.TempDir(), 0
	begun := time.Now()
	require.NoError(t, c.command(nil, "backup", filepath.Join(folder, "first.jsonl"), "--data", k.data).Run())
	took := time.Since(begun)
	for moment := range 10 {
		stop := c.goOn(moment)
		file := filepath.Join(folder, fmt.Sprint(moment, ".jsonl"))
		backup := c.command(nil, "backup", file, "--data", k.data)
		require.NoError(t, backup.Start())
		time.Sleep(took/10*time.Duration(moment) + rand.N(took/10)) // the moment is the test's to choose
		if moment%2 == 0 {
			_ = backup.Process.Kill()
		} else {
			kill()
		}
		err = backup.Wait()
		stop()
		if moment%2 == 1 {
			kill = k.start()
		}
		if err != nil {
			require.NoFileExists(t, file)
			continue
		}
		whole++
		require.NoError(t, c.command(elsewhere, "drill", file).Run(), "moment %d", moment)
	}
	t.Logf("%d of 10 backups were complete before the kill; a backup takes %v", whole, took)

	stop := c.goOn(10)
	require.Eventually(t, func() bool { _, topics := c.acknowledged(); return len(topics) > 20 }, time.Minute, time.Millisecond)
	files, topics := c.acknowledged()
	last := filepath.Join(folder, "last.jsonl")
	out, err = c.command(nil, "backup", last, "--data", k.data).CombinedOutput()
	stop()
	require.NoError(t, err, "%s", out)
	c.mu.Lock()
	for _, url := range files {
		if c.dropped[url] { // while it was written, perhaps
			delete(c.stored, url)
		}
	}
	c.mu.Unlock()
	kill()

	other := &killed{t: t, data: t.TempDir(), env: k.env}
	if onAzure {
		other.env = append(other.env, elsewhere...)
	}
	restored := &crowd{killed: other}
	out, err = restored.command(nil, "restore", last, "--data", other.data).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = restored.command(nil, "verify", "--data", other.data).CombinedOutput()
	require.NoError(t, err, "%s", out)
	end := other.start()
	defer end()
	reader := ask[api.Session](t, 200, "POST", other.at+"/auth/login", "", api.Credentials{Email: "member0@example.com", Password: "tea under seven lamps"})
	compared := 0
	for _, url := range files {
		if want, ok := c.stored[url]; ok {
			require.Equal(t, want, bytesOf(t, other.at, url, reader.AccessToken))
			compared++
		}
	}
	found := map[string]bool{}
	for path := "/forum/sections/" + section + "/topics?limit=50"; path != ""; {
		page := ask[api.List[api.Topic]](t, 200, "GET", other.at+path, reader.AccessToken, nil)
		for _, topic := range page.Items {
			found[topic.Title] = true
		}
		path = ""
		if page.NextCursor != "" {
			path = "/forum/sections/" + section + "/topics?limit=50&cursor=" + page.NextCursor
		}
	}
	for _, topic := range topics {
		require.True(t, found[topic], "%s was acknowledged before the backup began", topic)
	}
	t.Logf("compared %d pictures and %d topics", compared, len(topics))
}
