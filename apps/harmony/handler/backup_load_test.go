package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/backuptest"
)

// picturesVar is how many pictures there are before anybody backs up: a sample of 40, unless it is
// set.
const picturesVar = "BACKUP_PICTURES"

// section is where the crowd writes.
const section = "music"

// A crowd is members who write and upload.
type crowd struct {
	pictures int // before they do
	members  []api.Session
	mine     [backuptest.Writers][]string // pictures of theirs
}

// square is a picture of a colour of its own.
func square(t testing.TB, n int) string {
	t.Helper()
	its := color.RGBA{byte(n), byte(n >> 8), byte(n >> 16), 255}
	m := image.NewPaletted(image.Rect(0, 0, 48, 48), color.Palette{its, color.White})
	m.SetColorIndex(n%48, n/48%48, 1)
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.String()
}

func (c *crowd) begin(p *apptest.Process, l *backuptest.Ledger) {
	*c = crowd{pictures: c.pictures}
	for i := range max(backuptest.Writers, (c.pictures+9)/10) {
		member := ask[api.Session](p.T, 201, "POST", p.URL+"/auth/register", "", newcomer(fmt.Sprint("member", i)))
		c.members = append(c.members, member)
	}
	p.Does("role", "member0@example.com", "admin")
	ask[any](p.T, 201, "POST", p.URL+"/admin/forum/sections", c.members[0].AccessToken, map[string]any{
		"sectionId": section, "name": "Музыка", "description": "", "orderIndex": 0,
	})
	for n := range c.pictures { // those who write add more
		require.NotEmpty(p.T, c.upload(p, l, c.members[n%len(c.members)], n))
	}
}

// upload adds a picture of a member, and reads it as it is served.
func (c *crowd) upload(p *apptest.Process, l *backuptest.Ledger, member api.Session, n int) (url string) {
	bearer := "Bearer " + member.AccessToken
	status, answer := p.Try("POST", "/users/"+member.User.UserID+"/images", square(p.T, n),
		"Content-Type", "image/png", "Authorization", bearer)
	var made api.Image
	if status != http.StatusCreated || json.Unmarshal([]byte(answer), &made) != nil {
		return ""
	}
	status, body := p.Try("GET", strings.TrimPrefix(made.URL, api.Prefix), "", "Authorization", bearer)
	if status != http.StatusOK {
		return ""
	}
	l.Keep(made.URL, body)
	return made.URL
}

func (c *crowd) turn(p *apptest.Process, l *backuptest.Ledger, writer, n int) {
	member := c.members[writer]
	title := fmt.Sprintf("Topic %d.%d", writer, n)
	topic := fmt.Sprintf(`{"sectionId":%q,"title":%q,"content":"enough of words"}`, section, title)
	bearer := "Bearer " + member.AccessToken
	status, _ := p.Try("POST", "/forum/topics", topic, "Content-Type", "application/json", "Authorization", bearer)
	if status == http.StatusCreated {
		l.Keep(title, "")
	}
	if mine := c.mine[writer]; len(mine) == 3 {
		l.Drop(mine[0])
		id := strings.TrimSuffix(mine[0][strings.LastIndexByte(mine[0], '/')+1:], ".jpg")
		p.Try("DELETE", "/users/"+member.User.UserID+"/images/"+id, "", "Authorization", bearer)
		c.mine[writer] = mine[1:]
	}
	if url := c.upload(p, l, member, 1<<20+writer<<16+n); url != "" {
		c.mine[writer] = append(c.mine[writer], url)
	}
}

func (c *crowd) find(p *apptest.Process, kept map[string]string) {
	member := api.Credentials{Email: "member0@example.com", Password: "tea under seven lamps"}
	token := ask[api.Session](p.T, 200, "POST", p.URL+"/auth/login", "", member).AccessToken
	titles := map[string]bool{}
	const list = "/forum/sections/" + section + "/topics?limit=50"
	for path := list; path != ""; {
		page := ask[api.List[api.Topic]](p.T, 200, "GET", p.URL+path, token, nil)
		for _, topic := range page.Items {
			titles[topic.Title] = true
		}
		path = ""
		if page.NextCursor != "" {
			path = list + "&cursor=" + page.NextCursor
		}
	}
	for what, value := range kept {
		if strings.HasPrefix(what, "Topic ") {
			require.True(p.T, titles[what], "%s was acknowledged before the backup began", what)
			continue
		}
		require.Equal(p.T, value, bytesOf(p.T, p.URL, what, token))
	}
}

// TestBackupUnderLoad: backups that are made while eight members write and upload are complete,
// with pictures byte for byte.
func TestBackupUnderLoad(t *testing.T) {
	c := &crowd{pictures: 40}
	if text := os.Getenv(picturesVar); text != "" {
		var err error
		c.pictures, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	story := backuptest.Story{Begin: c.begin, Turn: c.turn, Find: c.find}
	backuptest.UnderLoad(t, process(t), story, backuptest.File)
}
