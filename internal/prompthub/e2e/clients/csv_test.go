package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

// compareCSV is a program for Python, which reads a file of prompts and files of one prompt each,
// and wants each of these to be the row of the file with the number that it is named after.
const compareCSV = `
import csv, glob, os, sys
csv.field_size_limit(1 << 24)
with open(sys.argv[1], newline="", encoding="utf-8") as f:
    rows = list(csv.DictReader(f))
same = 0
for name in glob.glob(os.path.join(sys.argv[2], "*.csv")):
    with open(name, newline="", encoding="utf-8") as f:
        [row] = list(csv.DictReader(f))
    want = rows[int(os.path.basename(name)[:-4]) - 1]
    assert row == want, (name, row, want)
    same += 1
print(same, "of", len(rows), "rows are the same")
`

// TestPythonReadsTheSameCSV imports a file of prompts, that which PROMPTS_CSV names, as
// prompts.chat publishes it, or a small one, and has Python read what comes out of it.
func TestPythonReadsTheSameCSV(t *testing.T) {
	tried(t, tools, "rows of an exported CSV file", "csv of Python")
	python := needed(t, "python3")
	inputs.Packages(t, "./handler")
	dir := t.TempDir()
	file := filepath.Join(dir, "all.csv")
	content := []byte("\ufeffact,prompt,for_devs,type,contributor\r\nOne,\"He said \"\"no\"\",\r\ntwice\",TRUE,TEXT,ann\r\nTwo,é 🚀,FALSE,IMAGE,\"ann,bob\"\r\n")
	if path := os.Getenv("PROMPTS_CSV"); path != "" {
		var err error
		content, err = os.ReadFile(path)
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(file, bytes.TrimPrefix(content, []byte("\ufeff")), 0o600))
	p := start(t, "LIMIT_READS=100000", "LIMIT_WRITES=100000")
	rows := filepath.Join(dir, "rows")
	require.NoError(t, os.Mkdir(rows, 0o700))
	made, rejected := 0, 0
	for from, n, more := 0, 0, true; more; {
		var report struct {
			Items []struct{ ID, Outcome, Reason string }
			Next  *int
		}
		b := p.send(t, "chat", http.MethodPost, fmt.Sprintf("/import?file=prompts.csv&from=%d", from), content)
		require.NoError(t, json.Unmarshal(b, &report))
		for _, item := range report.Items {
			if n++; item.Outcome == "rejected" {
				rejected++ // too long for a prompt
				continue
			}
			made++
			row := p.send(t, "chat", http.MethodGet, "/prompts/"+item.ID+"/export?format=csv", nil)
			require.NoError(t, os.WriteFile(filepath.Join(rows, fmt.Sprintf("%d.csv", n)),
				bytes.TrimPrefix(row, []byte("\ufeff")), 0o600))
		}
		if more = report.Next != nil; more {
			from = *report.Next
		}
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", compareCSV, file, rows)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%d rejected; Python: %s", rejected, out)
	require.Contains(t, string(out), fmt.Sprintf("%d of", made))
}
