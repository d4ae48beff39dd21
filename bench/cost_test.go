package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
)

func TestComputeByHand(t *testing.T) {
	t.Parallel()
	b := billFor(100, usage{"list": 1000}, prices{TableOperations: 0.001})
	require.InDelta(t, 100_000, b.Requests, 0)
	const counts = 2 * 30 * 24 * 60 // of no prompts, each minute
	require.InDelta(t, 200_000+counts, b.TableOps, 0, "two a list, and no prompts that anti-entropy could look at")
	require.InDelta(t, 286.4, b.Total, 1e-9)
	require.InDelta(t, 2.864, b.PerUser, 1e-9)
}

func TestFreeGrantsAreNotPaidBack(t *testing.T) {
	t.Parallel()
	b := billFor(1, usage{"list": 1}, listPrices())
	require.Zero(t, b.Compute)
	require.Zero(t, b.Logs)
	require.Positive(t, b.Operations, "queues are looked at even while nobody comes")
}

// Every timer is in the model, as often as its function.json says.
func TestTimersAreCounted(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../functions/*/function.json")
	require.NoError(t, err)
	runs, begin := 0, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var function struct {
			Bindings []struct{ Type, Schedule string }
		}
		require.NoError(t, json.Unmarshal(text, &function))
		if trigger := function.Bindings[0]; trigger.Type == "timerTrigger" {
			schedule, err := cron.NewParser(
				cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(trigger.Schedule)
			require.NoError(t, err)
			for at := schedule.Next(begin.Add(-time.Second)); at.Before(
				begin.Add(costMonth * time.Second)); at = schedule.Next(at) {
				runs++
			}
		}
	}
	require.Equal(t, int(timerRuns), runs)
}

func TestMoreUsersCostLessEach(t *testing.T) {
	t.Parallel()
	small, middle, large := billFor(10, activeUser(), listPrices()), billFor(1000, activeUser(), listPrices()),
		billFor(100_000, activeUser(), listPrices())
	require.Less(t, middle.PerUser, small.PerUser)
	require.Less(t, large.PerUser, middle.PerUser)
	require.Greater(t, large.Total, middle.Total)
}

func TestEveryRequestOfAUserIsKnown(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	for _, r := range costedRequests() {
		known[r.Name] = true
	}
	for name := range memberOfTeam() {
		require.True(t, known[name], name)
	}
}

// The tables in docs/deploy.md are those that "go run ./bench -cost" prints.
func TestDocumentShowsTheTables(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../docs/deploy.md")
	require.NoError(t, err)
	var tables strings.Builder
	require.NoError(t, writeCosts(&tables))
	require.Contains(t, string(document), tables.String(), "run go run ./bench -cost and put its tables there")
}
