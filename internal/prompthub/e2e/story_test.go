package e2e

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/functiontest"
)

// A size is how much of everything a story does: Azurite is a hundred times slower than the
// embedded store.
type size struct {
	rows    int // of the file to import; 0 is all
	votes   int
	voters  int
	crowd   int // of voters on one prompt
	atOnce  int // votes on their way
	between int // prompts made and deleted while paging
	alive   int // votes answered before a kill
}

var (
	whole = size{rows: 0, votes: 5000, voters: 200, crowd: 500, atOnce: 32, between: 40, alive: 50}
	small = size{rows: 40, votes: 100, voters: 20, crowd: 40, atOnce: 8, between: 5, alive: 20}
)

// onAzurite is how much is done there: everything where E2E_FULL is set.
func onAzurite() size {
	if full() {
		return whole
	}
	return small
}

func TestStoryOnEmbeddedStore(t *testing.T) {
	t.Parallel()
	story(t, work(t), func() app { return startLocal(t, "embedded") }, whole)
}

func TestStoryOnAzurite(t *testing.T) {
	t.Parallel()
	story(t, workOnAzurite(t), func() app { return startLocal(t, "azurite", azureEnv(t)...) }, onAzurite())
}

func TestStoryUnderTheHost(t *testing.T) {
	t.Parallel()
	faults := functiontest.Faults{Seed: 1, Duplicates: 0.1, Hold: 300 * time.Millisecond}
	story(t, workOnAzurite(t), func() app { return startHosted(t, faults) }, onAzurite())
}

// story is the main job: import, read in both orders while others write, vote, see the order
// follow, verify. It ends its work before it waits for the last effects.
func story(t *testing.T, done func(), start func() app, n size) {
	a := start()
	file, total, good := importFile(t, n.rows)
	runImport(t, a, file, good, 0, total-good)
	runImport(t, a, file, 0, good, total-good)

	reader := user{t: t, url: a.url(), name: "reader"}
	before := reader.walk("/prompts?sort=newest&limit=7", func() {})
	require.Len(t, before, good)
	require.True(t, slices.IsSortedFunc(before, func(x, y shown) int { return strings.Compare(y.ID[:10], x.ID[:10]) }),
		"newest first")
	pageWhileOthersWrite(t, a, "/prompts?sort=newest&limit=7", before, n.between)

	randomVotes(t, a, before, n)
	hot := before[len(before)/2].ID
	crowdVotes(t, a, hot, n)
	awaitOrder(t, reader, hot, n.crowd)
	// A prompt whose score changes during a walk may be missed, so all must have settled before it.
	require.Eventually(t, func() bool { return drained(t, a) }, 5*time.Minute, time.Second,
		"the lists do not follow the votes")
	settled := reader.walk("/prompts?sort=most-liked&limit=7", func() {})
	pageWhileOthersWrite(t, a, "/prompts?sort=most-liked&limit=7", settled, n.between)
	done()
	finish(t, a)
}

// importFile returns a file of prompts, and how many rows it has and how many are good; rows 0 is
// all. They are the real ones that PROMPTS_CSV names (prompts.chat publishes them), else made ones.
func importFile(t *testing.T, rows int) (path string, total, good int) {
	real := os.Getenv("PROMPTS_CSV")
	if real == "" {
		return madeFile(t, cmp.Or(rows, 900))
	}
	f, err := os.Open(real)
	require.NoError(t, err)
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	all = all[:min(len(all), cmp.Or(rows, len(all)-1)+1)]
	path = filepath.Join(t.TempDir(), "prompts.csv")
	out, err := os.Create(path)
	require.NoError(t, err)
	w := csv.NewWriter(out)
	require.NoError(t, w.WriteAll(all))
	require.NoError(t, out.Close())
	for _, row := range all[1:] {
		if len(utf16.Encode([]rune(row[1]))) <= 32_768 {
			good++
		}
	}
	return path, len(all) - 1, good
}

// madeFile stands in for the real prompts: every seventh is too long.
func madeFile(t *testing.T, rows int) (path string, total, good int) {
	var b strings.Builder
	b.WriteString("act,prompt,for_devs,type,contributor\n")
	for i := range rows {
		text := fmt.Sprintf("I want you to act as number %d.", i)
		if i%7 == 0 {
			text = strings.Repeat(text, 1200)
		} else {
			good++
		}
		fmt.Fprintf(&b, "Actor number %d,%s,%s,TEXT,author%d\n", i, text, []string{"TRUE", "FALSE"}[i%2], i%50)
	}
	path = filepath.Join(t.TempDir(), "made.csv")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path, rows, good
}

func runImport(t *testing.T, a app, file string, created, unchanged, rejected int) {
	t.Helper()
	code, out, errs := command(t, nil, "import", file, "--as-contributor", "--public", "--url", a.url())
	want := 0
	if rejected > 0 {
		want = 3
	}
	require.Equal(t, want, code, "%s\n%s", out, errs)
	all := lines(out)
	// A row that was answered 503 is sent again: where it had been stored, it is unchanged by then.
	var got [3]int
	_, err := fmt.Sscanf(all[len(all)-1], "created %d, unchanged %d, rejected %d", &got[0], &got[1], &got[2])
	require.NoError(t, err, all[len(all)-1])
	again := got[1] - unchanged
	require.GreaterOrEqual(t, again, 0)
	require.Equal(t, [3]int{created - again, unchanged + again, rejected}, got)
	told := 0
	for _, line := range all[:len(all)-1] {
		var more int
		switch n, _ := fmt.Sscanf(line, "and %d more rejected:", &more); {
		case n == 1:
			told += more
		case strings.HasPrefix(line, "row "):
			require.Regexp(t, `^row \d+ .*rejected: .+`, line)
			told++
		default:
			require.Regexp(t,
				`^\d+ rows have texts that are too long; a service with MAX_TEXT=\d+ would take \d+ of them$`, line)
		}
	}
	require.Equal(t, rejected, told, "each rejected row is told, or counted with its reason")
}

// pageWhileOthersWrite walks a list while prompts come and go, and finds each that was there all
// along exactly once.
func pageWhileOthersWrite(t *testing.T, a app, path string, there []shown, most int) {
	t.Helper()
	writer := user{t: t, url: a.url(), name: "writer"}
	made := 0
	var last shown
	seen := map[string]int{}
	for _, p := range (user{t: t, url: a.url(), name: "reader"}).walk(path, func() {
		if made++; made > most {
			return
		}
		if last.ID != "" {
			writer.do(204, "DELETE", "/prompts/"+last.ID, nil, nil)
		}
		last = writer.create(fmt.Sprintf("In between %d", made))
	}) {
		seen[p.ID]++
		require.Equal(t, 1, seen[p.ID], "%s twice", p.Title)
	}
	for _, p := range there {
		require.Equal(t, 1, seen[p.ID], "%s is missing", p.Title)
	}
	if last.ID != "" {
		writer.do(204, "DELETE", "/prompts/"+last.ID, nil, nil)
	}
}

// randomVotes casts votes at random, many at a time, and checks every tally against a count of its
// own.
func randomVotes(t *testing.T, a app, ps []shown, n size) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	type ballot struct{ id, voter, value string }
	var last sync.Map // of prompt and voter
	work := make(chan []ballot)
	var wg sync.WaitGroup
	for range n.atOnce {
		wg.Go(func() {
			for bs := range work {
				for _, b := range bs {
					if err := (user{t: t, url: a.url(), name: b.voter}).insistOnVote(b.id, b.value); err != nil {
						t.Errorf("vote: %v", err)
					}
					last.Store(b.id+" "+b.voter, b.value)
				}
			}
		})
	}
	for v := range n.voters { // one voter's votes are cast one after the other
		var bs []ballot
		for range n.votes / n.voters {
			p := ps[min(rnd.IntN(len(ps)), rnd.IntN(len(ps)))] // some get more than others
			bs = append(bs, ballot{
				p.ID, fmt.Sprintf("voter %d", v),
				[]string{"like", "like", "like", "dislike", "none"}[rnd.IntN(5)],
			})
		}
		work <- bs
	}
	close(work)
	wg.Wait()
	want := map[string][2]int{}
	last.Range(func(k, v any) bool {
		id, _, _ := strings.Cut(k.(string), " ")
		w := want[id]
		switch v {
		case "like":
			w[0]++
		case "dislike":
			w[1]++
		}
		want[id] = w
		return true
	})
	for id, w := range want {
		var p shown
		user{t: t, url: a.url(), name: "reader"}.do(200, "GET", "/prompts/"+id, nil, &p)
		require.Equal(t, w, [2]int{p.Likes, p.Dislikes}, "tally of %s", p.Title)
	}
}

// crowdVotes lets voters like one prompt, many at a time. Every one is answered.
func crowdVotes(t *testing.T, a app, id string, n size) {
	t.Helper()
	var wg sync.WaitGroup
	var failed atomic.Int32
	turns := make(chan int)
	for range n.atOnce {
		wg.Go(func() {
			for i := range turns {
				if err := (user{t: t, url: a.url(), name: fmt.Sprintf("crowd %d", i)}).insistOnVote(id,
					"like"); err != nil {
					failed.Add(1)
					t.Errorf("vote: %v", err)
				}
			}
		})
	}
	var was shown
	u := user{t: t, url: a.url(), name: "reader"}
	u.do(200, "GET", "/prompts/"+id, nil, &was)
	for i := range n.crowd {
		turns <- i
	}
	close(turns)
	wg.Wait()
	var now shown
	u.do(200, "GET", "/prompts/"+id, nil, &now)
	require.Equal(t, was.Likes+n.crowd, now.Likes)
	require.Equal(t, was.Dislikes, now.Dislikes)
	require.Zero(t, failed.Load())
}

// cutShort is by when all is well again after a call of storage that took longer than it may: the
// lease of its projection ends, then its message comes again, and then others of the same prompt.
const cutShort = 4 * time.Minute

// awaitOrder waits until the lists agree with the tallies and the crowd's prompt stands first,
// once.
func awaitOrder(t *testing.T, u user, hot string, crowd int) {
	t.Helper()
	require.Eventually(t, func() bool {
		all := u.walk("/prompts?sort=most-liked&limit=100", func() {})
		if !slices.IsSortedFunc(all, func(x, y shown) int { return y.Score - x.Score }) ||
			all[0].ID != hot || all[0].Score < crowd-20 {
			return false
		}
		for i, p := range all[:min(len(all), 20)] {
			var exact shown
			u.do(200, "GET", "/prompts/"+p.ID, nil, &exact)
			if exact.Score != p.Score {
				return false
			}
			for _, other := range all[:i] {
				if other.ID == p.ID {
					return false
				}
			}
		}
		return true
	}, cutShort, 500*time.Millisecond, "the order does not follow the votes")
}

// finish waits until nothing is under way, and verifies. What a kill cut short comes back after a
// minute and a half, and a vote whose write was unclear after one.
func finish(t *testing.T, a app) {
	t.Helper()
	if l, ok := a.(*local); ok && a.what() == "embedded" {
		finishEmbedded(t, l)
		return
	}
	for end := time.Now().Add(cutShort); ; {
		code, out, errs := command(t, a.env(), "verify", "--data", a.data())
		if code == 0 {
			return
		}
		require.True(t, time.Now().Before(end), "verify finds differences:\n%s%s", out, errs)
		// To compare everything costs much, so it is done again when there is reason to.
		for next := time.Now().Add(10 * time.Second); depth(t, a) > 0 && time.Now().Before(next); {
			time.Sleep(500 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond) // the last job ends
	}
}

// finishEmbedded does it for a store that only one process can open: the program runs on between
// two looks.
func finishEmbedded(t *testing.T, a *local) {
	t.Helper()
	require.Eventually(t, func() bool { return drained(t, a) }, 3*time.Minute, time.Second)
	for look := 0; ; look++ {
		a.quit(t)
		code, out, errs := command(t, a.env(), "verify", "--data", a.data())
		if code == 0 {
			return
		}
		require.Less(t, look, 24, "verify finds differences:\n%s%s", out, errs)
		a.start(t)
		time.Sleep(10 * time.Second) // nothing outside tells when its messages are done
	}
}

// drained reports whether the lists agree with the tallies of all prompts.
func drained(t *testing.T, a app) bool {
	if a.what() != "embedded" && depth(t, a) > 0 {
		return false
	}
	u := user{t: t, url: a.url(), name: "reader"}
	for _, p := range u.walk("/prompts?sort=most-liked&limit=100", func() {}) {
		var exact shown
		u.do(200, "GET", "/prompts/"+p.ID, nil, &exact)
		if exact.Likes != p.Likes || exact.Dislikes != p.Dislikes {
			return false
		}
	}
	return true
}
