package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/api"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/backuptest"
)

// A crowd is people who post, vote, comment, follow and make hubs.
type crowd struct {
	people [backuptest.Writers]api.Tokens
	posts  [backuptest.Writers]string // the newest of each
}

func numberOf(writer int) string { return fmt.Sprintf("+3460000010%d", 10+writer) }

// asJSON are headers of what a person sends.
func asJSON(token string) []string {
	return []string{"Content-Type", "application/json", "Authorization", "Bearer " + token}
}

func (c *crowd) begin(p *apptest.Process, l *backuptest.Ledger) {
	for i := range c.people {
		c.people[i] = enter(p.T, p.URL, numberOf(i), printed(p.T, p.URL))
		settle(p.T, p.URL, c.people[i], fmt.Sprint("Person", i))
		l.Keep("person "+c.people[i].UserID, fmt.Sprint("Person", i))
	}
	for i := range c.people {
		for n := range 4 {
			c.turn(p, l, i, n)
		}
		require.NotEmpty(p.T, c.posts[i])
	}
}

// send sends something new of a writer, and returns its id, "" if no answer came.
func (c *crowd) send(p *apptest.Process, writer int, path string, body any, id string) string {
	text, err := json.Marshal(body)
	if err != nil {
		return ""
	}
	status, answer := p.Try(http.MethodPost, path, string(text), asJSON(c.people[writer].AccessToken)...)
	var made map[string]any
	if status != http.StatusCreated || json.Unmarshal([]byte(answer), &made) != nil {
		return ""
	}
	return fmt.Sprint(made[id])
}

func (c *crowd) turn(p *apptest.Process, l *backuptest.Ledger, writer, n int) {
	name := fmt.Sprintf("%d.%d", writer, n)
	if n%4 == 0 {
		if post := c.send(p, writer, "/posts", api.NewPost{Slider: &api.Slider{Text: "Tea " + name}},
			"postId"); post != "" {
			c.posts[writer] = post
			l.Keep("post "+post, "Tea "+name)
		}
	}
	post := c.posts[writer]
	switch n % 4 {
	case 1:
		comment := c.send(p, writer, "/posts/"+post+"/comments", api.NewComment{Text: "Why " + name}, "commentId")
		if comment != "" {
			l.Keep("comment "+post+" "+comment, "Why "+name)
		}
	case 2:
		if c.send(p, writer, "/posts/"+post+"/vote", api.NewVote{Position: "left"}, "") != "" {
			l.Keep("vote "+post+" "+numberOf(writer), "")
		}
	case 3:
		link := fmt.Sprintf("hub-%d-%d", writer, n)
		picture := c.upload(p, writer, "hub")
		if hub := c.send(p, writer, "/hubs", api.NewHub{Name: "Hub " + name, CustomLink: link, Picture: picture},
			"hubId"); hub != "" {
			l.Keep("hub "+hub, "Hub "+name)
		}
	}
}

// upload uploads a picture of a writer, and returns its id, "" if no answer came.
func (c *crowd) upload(p *apptest.Process, writer int, purpose string) string {
	id := c.send(p, writer, "/assets",
		api.NewAsset{
			Purpose: api.AssetPurpose(purpose), ContentType: "image/png",
			FileSizeBytes: int64(len(duubletest.PNG)),
		}, "assetId")
	headers := []string{"Content-Type", "image/png", "Authorization", "Bearer " + c.people[writer].AccessToken}
	if status, _ := p.Try(http.MethodPut, "/assets/"+id+"/content", string(duubletest.PNG),
		headers...); status != http.StatusOK {
		return ""
	}
	return id
}

// find looks for each thing by its id. A second vote of a person is refused.
func (c *crowd) find(p *apptest.Process, kept map[string]string) {
	tokens := map[string]string{}
	for i := range c.people {
		tokens[numberOf(i)] = enter(p.T, p.URL, numberOf(i), printed(p.T, p.URL)).AccessToken
	}
	token := tokens[numberOf(0)]
	for what, value := range kept {
		kind, id, _ := strings.Cut(what, " ")
		id, other, _ := strings.Cut(id, " ")
		found := ""
		switch kind {
		case "person":
			found = *ask[api.Profile](p.T, 200, "GET", p.URL+"/users/"+id, token, nil).Username
		case "post":
			found = ask[api.Card](p.T, 200, "GET", p.URL+"/posts/"+id, token, nil).Slider.Text
		case "comment":
			for _, one := range ask[api.Items[api.Comment]](p.T, 200, "GET",
				p.URL+"/posts/"+id+"/comments", token, nil).Items {
				if one.CommentID == other {
					found = one.Text
				}
			}
		case "vote":
			ask[httpjson.Problem](p.T, 409, "POST", p.URL+"/posts/"+id+"/vote", tokens[other],
				api.NewVote{Position: "left"})
		case "hub":
			hub := ask[api.Hub](p.T, 200, "GET", p.URL+"/hubs/"+id, token, nil)
			found = hub.Name
			shown(p.T, p.URL, token, *hub.Picture)
		}
		require.Equal(p.T, value, found, "%s was acknowledged before the backup began", what)
	}
}

// TestBackupUnderLoad: backups that are made while eight people post, vote, comment and make hubs
// are complete.
func TestBackupUnderLoad(t *testing.T) {
	c := &crowd{}
	story := backuptest.Story{Begin: c.begin, Turn: c.turn, Find: c.find, Apart: []string{keysFile}}
	backuptest.UnderLoad(t, process(t), story, backuptest.File)
}
