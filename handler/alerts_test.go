package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/apptest"
)

// A scraped is what Prometheus would have got of a process: the values of two scrapes, by the names
// and labels of their series, and when.
type scraped struct {
	up            bool
	at            time.Time
	before, after map[string]float64
}

var sample = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? (\S+)$`)

// scrape reads the metrics of a process that alerts ask for.
func scrape(t *testing.T, metrics, instance string) map[string]float64 {
	t.Helper()
	status, body := apptest.Send(t, "GET", metrics, "")
	require.Equal(t, http.StatusOK, status)
	all := map[string]float64{}
	for _, m := range sample.FindAllStringSubmatch(body, -1) {
		switch m[1] {
		case "http_server_request_duration_seconds_count", "prompthub_queue_length", "prompthub_backup_newest_seconds",
			"prompthub_disk_free_bytes", "prompthub_disk_size_bytes", "prompthub_swept_seconds":
			labels := `job="prompthub", instance="` + instance + `"`
			if m[2] != "" {
				labels += ", " + m[2]
			}
			v, err := strconv.ParseFloat(m[3], 64)
			require.NoError(t, err)
			all[m[1]+"{"+labels+"}"] = v
		}
	}
	return all
}

// minutes is for how long the rules see what was scraped.
const minutes = 60

// series returns what was scraped as promtool takes it, in which time begins at 0: each minute like
// that between the two scrapes.
func (s scraped) series(instance string) (all []map[string]string) {
	add := func(name string, first, step float64) {
		all = append(all, map[string]string{"series": name, "values": fmt.Sprintf("%f+%fx%d", first, step, minutes)})
	}
	up := 0.0
	if s.up {
		up = 1
	}
	add(`up{job="prompthub", instance="`+instance+`"}`, up, 0)
	began := float64(s.at.Add(-minutes * time.Minute).Unix())
	for name, after := range s.after {
		first, step := after, 0.0
		switch {
		case strings.HasPrefix(name, "http_"):
			first, step = s.before[name], after-s.before[name]
		case strings.Contains(name, "_newest_seconds{"), strings.Contains(name, "_swept_seconds{"):
			first -= began
		}
		add(name, first, step)
	}
	return all
}

// TestAlertsFire: each alert fires at what a process says of itself after a fault was provoked in
// it or its store, and none but one fires at what a healthy process says, which writes no backups.
func TestAlertsFire(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("SKIPPED: promtool is missing, so no alert was tried: install Debian's prometheus")
	}
	rules, err := filepath.Abs("../deploy/prometheus-alerts.yml")
	require.NoError(t, err)
	clean(t, "METRICS_ADDR", ":0", "LOG_LEVEL", "warn")
	const at = `Metrics for Prometheus are at (http://127\.0\.0\.1:\d+/metrics)\n`
	small := smallDisk(t)
	data := filepath.Join(t.TempDir(), "data")
	if small != "" {
		data = filepath.Join(small, "data")
	}

	// a healthy one, until it has ended
	p, url := startLocal(t, data)
	metrics := await(t, &p.err, at)
	status, body := send(t, "POST", url+"/api/v1/prompts",
		`{"title":"t","text":"x","tags":["text"],"visibility":"public"}`)
	require.Equal(t, http.StatusCreated, status, body)
	var made struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(body), &made))
	well := scraped{up: true, before: scrape(t, metrics, "well")}
	for range 20 {
		status, body := send(t, "GET", url+"/api/v1/prompts/"+made.ID, "")
		require.Equal(t, http.StatusOK, status, body)
	}
	well.after, well.at = scrape(t, metrics, "well"), time.Now()
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	_, err = http.Get(metrics)
	require.Error(t, err)
	down := scraped{at: time.Now()}

	// one with all faults
	backups := t.TempDir()
	old := time.Now().Add(-3 * 24 * time.Hour)
	require.NoError(t, os.WriteFile(filepath.Join(backups, "prompthub-"+old.UTC().Format("20060102T150405Z")+".jsonl"),
		nil, 0o600))
	provoke(t, data)
	if small != "" {
		require.NoError(t, os.WriteFile(filepath.Join(small, "fill"), make([]byte, 117<<20), 0o600))
	}
	p, url = startLocal(t, data, "--backup-dir", backups, "--backup-every", "240h")
	metrics = await(t, &p.err, at)
	ill := scraped{up: true}
	require.Eventually(t, func() bool {
		for name, v := range scrape(t, metrics, "ill") {
			if strings.Contains(name, `-poison"`) && v > 0 {
				return true
			}
		}
		return false
	}, 2*time.Minute, 50*time.Millisecond)
	ask := func() int {
		status, _ := send(t, "GET", url+"/api/v1/prompts/"+made.ID, "")
		return status
	}
	require.GreaterOrEqual(t, ask(), 500)
	ill.before = scrape(t, metrics, "ill")
	for range 20 {
		require.GreaterOrEqual(t, ask(), 500)
	}
	ill.after, ill.at = scrape(t, metrics, "ill"), time.Now()
	p.stop()
	require.Equal(t, command.OK, <-p.code)

	var exprs []map[string]any
	fires := func(instance, alert string, want bool) {
		samples := []map[string]any{}
		if want {
			samples = append(samples, map[string]any{"labels": "{}", "value": 1})
		}
		exprs = append(exprs, map[string]any{
			"expr": fmt.Sprintf(`sum(ALERTS{alertname="%s", instance="%s", alertstate="firing"})`,
				alert, instance),
			"eval_time": fmt.Sprintf("%dm", minutes), "exp_samples": samples,
		})
	}
	text, err := os.ReadFile(rules)
	require.NoError(t, err)
	alerts := regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, alerts)
	for _, m := range alerts {
		alert := m[1]
		fires("well", alert, alert == "PromptHubNoBackup")
		fires("down", alert, alert == "PromptHubDown")
		fires("ill", alert, alert != "PromptHubNoBackup" && alert != "PromptHubDown" &&
			(alert != "PromptHubDiskIsFull" || small != ""))
	}
	test, err := json.MarshalIndent(map[string]any{
		"rule_files": []string{rules}, "evaluation_interval": "1m",
		"tests": []any{map[string]any{
			"interval": "1m", "promql_expr_test": exprs,
			"input_series": append(append(well.series("well"), down.series("down")...), ill.series("ill")...),
		}},
	}, "", " ")
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), promtool, "test", "rules",
		file(t, "provoked.yml", string(test))).CombinedOutput()
	require.NoError(t, err, "%s\n%s", out, test)
}

// smallDisk returns a disk of 128 MB of its own, "" where it cannot make one.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=128m", "tmpfs",
		dir).CombinedOutput(); err != nil {
		t.Logf("NOT PROVOKED: a full disk, as none can be mounted here: %s", out)
		return ""
	}
	t.Cleanup(func() {
		out, err := exec.Command("umount", dir).CombinedOutput()
		require.NoError(t, err, string(out))
	})
	return dir
}

// provoke spoils a store at rest: a message whose job fails, rows of votes that cannot be read, and
// an index row that anti-entropy cannot mend because of these, so that it does not come to its end,
// as it has not for four days.
func provoke(t *testing.T, data string) {
	t.Helper()
	st, err := service().OpenExisting(data, "")
	require.NoError(t, err)
	_, err = st.Queues.Send(t.Context(), promptdb.QueueRepairs, "no message", 0)
	require.NoError(t, err)
	for range 5 { // tries that have failed
		ms, err := st.Queues.Receive(t.Context(), promptdb.QueueRepairs, 32, time.Minute)
		require.NoError(t, err)
		require.NotEmpty(t, ms)
		for _, m := range ms {
			_, err := st.Queues.Hide(t.Context(), promptdb.QueueRepairs, m.Receipt, 0)
			require.NoError(t, err)
		}
	}
	old := table.Time(time.Now().Add(-4 * 24 * time.Hour))
	for _, name := range promptdb.DefaultTables().All() {
		op := table.Op{
			Kind: table.Upsert,
			Row: table.Row{
				Key:   table.Key{Partition: "sweep", Row: name},
				Props: table.Props{{Name: "Next", Value: table.String("")}, {Name: "FullPassAt", Value: old}},
			},
		}
		_, err := st.Tables.Write(t.Context(), promptdb.DefaultTables().SystemState, op)
		require.NoError(t, err)
	}
	page, err := st.Tables.List(t.Context(), promptdb.DefaultTables().TagIndex, table.Range{}, 1, "")
	require.NoError(t, err)
	require.Len(t, page.Rows, 1)
	stray := page.Rows[0]
	stray.ETag, stray.Partition = "", strings.Replace(stray.Partition, "text", "image", 1)
	_, err = st.Tables.Write(t.Context(), promptdb.DefaultTables().TagIndex, table.Op{Kind: table.Insert, Row: stray})
	require.NoError(t, err)
	require.NoError(t, st.Close())
	db, err := bbolt.Open(filepath.Join(data, "prompthub.db"), 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte("r/" + promptdb.DefaultTables().Votes))
		var keys [][]byte
		if err := b.ForEach(func(k, _ []byte) error {
			keys = append(keys, append([]byte(nil), k...))
			return nil
		}); err != nil {
			return err
		}
		for _, k := range keys {
			if err := b.Put(k, []byte("?")); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, db.Close())
}
