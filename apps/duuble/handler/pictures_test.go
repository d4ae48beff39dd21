package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/api"
	"prompthub/internal/host/command"
)

// TestManyPictures: a backup that is written while people send pictures has the pictures that were
// there before, 100 of them, or with BACKUP_DEEP 1,000; restored elsewhere each is as it was, and
// verify finds no difference. The account of a person is erased with its pictures.
func TestManyPictures(t *testing.T) {
	each := 25
	if os.Getenv("BACKUP_DEEP") != "" {
		each = 250
	}
	if testing.Short() {
		t.Skip("sends many pictures")
	}
	for _, name := range []string{"ASSETS_PER_DAY", "COMMENTS_PER_DAY"} {
		t.Setenv(name, "-1")
	}
	data := t.TempDir()
	url, stop := local(t, data)
	at := up(t, url)
	const senders = 4
	var people [senders]api.Tokens
	for i := range people {
		people[i] = enter(t, at, fmt.Sprint("+3460000000", i), printed(t, at))
		settle(t, at, people[i], fmt.Sprint("Person", i))
	}
	post := ask[api.Card](t, 201, "POST", at+"/posts", people[0].AccessToken,
		api.NewPost{Slider: &api.Slider{Text: "Tea?"}}).PostID
	send := func(i int) string {
		id := upload(t, at, people[i].AccessToken, "comment")
		ask[api.Comment](t, 201, "POST", at+"/posts/"+post+"/comments",
			people[i].AccessToken, api.NewComment{AssetID: id})
		return id
	}
	var sent [senders][]string
	var wg sync.WaitGroup
	for i := range people {
		wg.Go(func() {
			for range each {
				sent[i] = append(sent[i], send(i))
			}
		})
	}
	wg.Wait()
	for i := range people {
		wg.Go(func() {
			for range 10 {
				send(i)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "backup.jsonl")
	does(t, command.OK, "backup", file, "--data", data)
	wg.Wait()
	require.Contains(t, does(t, command.OK, "verify", "--data", data), "rows are as they must be")
	require.Zero(t, stop())

	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, keysFile),
		[]byte(textOf(t, filepath.Join(data, keysFile))), 0o600))
	does(t, command.OK, "restore", file, "--data", other)
	require.Contains(t, does(t, command.OK, "verify", "--data", other), "rows are as they must be")
	gone := people[senders-1].UserID
	does(t, command.OK, "erase", gone, "--data", other)
	url, stop = local(t, other)
	at = up(t, url)
	reader := enter(t, at, "+34600000000", printed(t, at))
	for i, ids := range sent {
		require.Len(t, ids, each)
		for _, id := range ids {
			if i < senders-1 {
				shown(t, at, reader.AccessToken, id)
				continue
			}
			ask[any](t, 404, "GET", at+"/assets/"+id+"/content", reader.AccessToken, nil)
		}
	}
	require.Zero(t, stop())
	require.Contains(t, does(t, command.OK, "verify", "--data", other), "rows are as they must be")
	left, err := filepath.Glob(filepath.Join(other, "*", "*", "*", "*.jpg"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(left), 2*each*(senders-1))
	for _, name := range left {
		require.NotContains(t, name, strings.ToLower(gone))
	}
}

// TestLostFile: verify tells of a picture without its file, also of a new one.
func TestLostFile(t *testing.T) {
	data := t.TempDir()
	url, stop := local(t, data)
	at := up(t, url)
	ann := enter(t, at, "+34600000001", printed(t, at))
	settle(t, at, ann, "Ann_1")
	id := upload(t, at, ann.AccessToken, "comment")
	require.Zero(t, stop())
	files, err := filepath.Glob(filepath.Join(data, "*", "*", "*", "*_320.jpg"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, os.Remove(files[0]))
	require.Contains(t, does(t, command.Failed, "verify", "--data", data), "picture "+id+": a file of it is missing")
}
