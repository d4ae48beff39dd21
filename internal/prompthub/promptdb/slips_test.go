package promptdb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// learned is a world that has these prompts and has learned their words.
func learned(t *testing.T, ds ...prompt.Draft) *world {
	w := newWorld(t)
	for _, d := range ds {
		w.add("ann", d)
	}
	w.run()
	w.learn()
	return w
}

// learn runs the job that learns the words of titles, and waits until it is believed.
func (w *world) learn() {
	w.t.Helper()
	w.clock.Advance(10 * time.Minute)
	_, err := w.CountTags(w.t.Context())
	require.NoError(w.t, err)
}

func titled(title, text string) prompt.Draft {
	return prompt.Draft{Title: title, Text: text, Visibility: prompt.Public}
}

// TestSlips: a word that no prompt has is replaced by the nearest known ones, or left out, and the
// answer says so. One that exists is never replaced; where no prompt has all words, those that tell
// least are left out.
func TestSlips(t *testing.T) {
	w := learned(t,
		titled("Linux terminal", "act as a shell"), titled("Terminal of an airport", "planes"),
		titled("Translator", "into English, and a terminus"), titled("Summarize the meeting", "in short"),
	)
	for _, d := range []prompt.Draft{{Title: "Secretive terminus", Text: "x"}} {
		w.add("ann", d) // a private one
	}
	w.run()
	w.learn()
	one := func(word string, by ...string) []prompt.Replacement {
		return []prompt.Replacement{{Word: word, By: by}}
	}
	for words, want := range map[string]struct {
		titles   []string
		replaced []prompt.Replacement
	}{
		"terminl":                        {[]string{"Terminal of an airport", "Linux terminal"}, one("terminl", "terminal")},
		"linux terminl":                  {[]string{"Linux terminal"}, one("terminl", "terminal")},
		"Lniux":                          {[]string{"Linux terminal"}, one("lniux", "linux")},
		"lniux terminl":                  {[]string{"Linux terminal"}, []prompt.Replacement{{Word: "lniux", By: []string{"linux"}}, {Word: "terminl", By: []string{"terminal"}}}},
		"sumarrize":                      {[]string{"Summarize the meeting"}, one("sumarrize", "summarize")}, // two edits, and nine letters
		"the meeting sumarize":           {[]string{"Summarize the meeting"}, one("sumarize", "summarize")},
		"terminus":                       {[]string{"Translator"}, nil},            // which is in a text
		"terminus meeting":               {[]string{"Translator"}, one("meeting")}, // each exists, and titles have this one
		"make a terminal shell scripts":  {[]string{"Linux terminal"}, []prompt.Replacement{{Word: "make"}, {Word: "scripts"}}},
		"shell planes summarize english": {[]string{}, nil}, // no two of them are in one prompt
		"tremnial":                       {[]string{"Terminal of an airport", "Linux terminal"}, one("tremnial", "terminal")},
		"secretiv":                       {[]string{}, nil}, // a private prompt teaches nothing
		"lni":                            {[]string{}, nil}, // too short
		"terminl absent":                 {[]string{"Terminal of an airport", "Linux terminal"}, []prompt.Replacement{{Word: "absent"}, {Word: "terminl", By: []string{"terminal"}}}},
		"absent gone":                    {[]string{}, nil}, // nothing is left
	} {
		for _, order := range []promptdb.Order{promptdb.Relevance, promptdb.Newest, promptdb.MostLiked} {
			for limit := range 3 {
				search := promptdb.Search{Words: query(t, words), Text: true, Order: order}
				require.Equal(t, want.titles, w.find(t, search, limit+1), "%s, %s, pages of %d", words, order, limit+1)
			}
		}
		page, err := w.Find(t.Context(), promptdb.Search{Words: query(t, words), Text: true}, "", 10)
		require.NoError(t, err)
		require.Equal(t, want.replaced, page.Replaced, words)
		page, err = w.Find(t.Context(), promptdb.Search{Words: query(t, words), Text: true, Verbatim: true}, "", 10)
		require.NoError(t, err)
		require.Empty(t, page.Replaced, words)
		if want.replaced != nil {
			require.Empty(t, page.Items, words)
		}
	}
}

// TestReplacedWordsAreNotOfTheGone: a known word of a prompt that is private again is not told.
func TestReplacedWordsAreNotOfTheGone(t *testing.T) {
	w := learned(t, titled("Linux terminal", "x"))
	p := w.add("ann", titled("Secretive", "x"))
	w.run()
	w.learn()
	search := promptdb.Search{Words: query(t, "secretve"), Text: true}
	page, err := w.Find(t.Context(), search, "", 10)
	require.NoError(t, err)
	require.Len(t, page.Replaced, 1)
	w.goes(p, 0)
	page, err = w.Find(t.Context(), search, "", 10)
	require.NoError(t, err)
	require.Empty(t, page.Replaced)
	require.Empty(t, page.Items)
}

// TestForgedReplacements asks for pages after positions that no page ends with.
func TestForgedReplacements(t *testing.T) {
	w := learned(t, titled("Linux terminal", "x"))
	for _, after := range []string{"i", "i\n", "iterminl:terminal", "iterminl\n", "iterminl:\n", "iabsent:terminal\n", "iterminl:the\n", "iterminl:two words\n", "iterminl:a,b,c,d,e,f\n", "iterminl:terminal\nx"} {
		_, err := w.Find(t.Context(), promptdb.Search{Words: query(t, "terminl"), Text: true, Order: promptdb.Relevance}, after, 10)
		require.Error(t, err, "%q", after)
	}
}

// TestSlipsInQueries: qualifiers hold in all orders, both if words are found in another form and if
// they are replaced. Words of phrases are neither.
func TestSlipsInQueries(t *testing.T) {
	tagged := func(title, text string, tags ...prompt.Tag) prompt.Draft {
		d := titled(title, text)
		d.Tags = tags
		return d
	}
	w := learned(t,
		tagged("Linux terminal", "act as a shell", "text"), tagged("Linux terminals", "act as shells", "data"),
		tagged("Terminal of an airport", "planes", "data"), titled("Linux", "no act of a shell"),
	)
	all := []string{"Linux terminals", "Linux terminal"}
	for words, want := range map[string]struct {
		titles   []string
		replaced string
	}{
		"linux terminal":                {all, ""},
		`linux "terminal"`:              {[]string{"Linux terminal"}, ""},
		`"linux terminals"`:             {[]string{"Linux terminals"}, ""},
		`linux terminal -shells`:        {[]string{"Linux terminal"}, ""},
		`linux terminal tag:data`:       {[]string{"Linux terminals"}, ""},
		"linux terminl":                 {all, "terminl"},
		`terminl "linux terminals"`:     {[]string{"Linux terminals"}, "terminl"},
		`terminl "act as a" linux`:      {[]string{"Linux terminal"}, "terminl"},
		`linux terminl -shells`:         {[]string{"Linux terminal"}, "terminl"},
		`linux terminl -terminal`:       {[]string{"Linux terminals"}, "terminl"},
		`linux terminl tag:data`:        {[]string{"Linux terminals"}, "terminl"},
		`linux terminl name:no`:         {[]string{}, ""},
		`linux terminl author:somebody`: {[]string{}, ""},
		`linux "terminl"`:               {[]string{}, ""},
		`terminal "linux airport"`:      {[]string{}, ""},
		`planes tag:text`:               {[]string{}, ""}, // which exists, though none with the tag
		`shells "of an"`:                {[]string{}, ""},
		`terminl -planes -act`:          {[]string{}, ""},
	} {
		for _, order := range []promptdb.Order{promptdb.Relevance, promptdb.Newest, promptdb.MostLiked} {
			for limit := range 2 {
				search := promptdb.Search{Words: query(t, words), Text: true, Order: order}
				require.ElementsMatch(t, want.titles, w.find(t, search, limit+1), "%s, %s, pages of %d", words, order, limit+1)
			}
		}
		page, err := w.Find(t.Context(), promptdb.Search{Words: query(t, words), Text: true}, "", 10)
		require.NoError(t, err)
		if want.replaced == "" {
			require.Empty(t, page.Replaced, words)
			continue
		}
		require.Equal(t, []prompt.Replacement{{Word: want.replaced, By: []string{"terminal"}}}, page.Replaced, words)
		require.NotContains(t, page.Searched.Typed(), want.replaced, words)
		require.True(t, page.Searched.Expanded(), words)
	}
}

// TestManyFormsByVotes: titles alone, in more forms than one, of more prompts than are sorted in
// memory.
func TestManyFormsByVotes(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	const n = 300
	w.seed(n, func(table.Key) bool { return true }, func(i int) prompt.Prompt {
		title := "common poet " + numbered(i)
		if i%2 == 0 {
			title = "common poets " + numbered(i)
		}
		p := w.made("ann", draft(title, "text"))
		p.Likes = int32(i * 7 % 100)
		return p
	})
	w.learn()
	for _, order := range []promptdb.Order{promptdb.Newest, promptdb.MostLiked, promptdb.Hot, promptdb.Relevance} {
		require.Len(t, w.find(t, promptdb.Search{Words: query(t, "poets common"), Order: order}, 50), n, "in the order %s", order)
	}
}

// TestSlipsSoonAfterTheFirstImport: an instance that has read no words, or few, reads them again
// after a minute, and at once if it kept them itself. Else a new library knows no slip for long.
func TestSlipsSoonAfterTheFirstImport(t *testing.T) {
	w := newWorld(t)
	other := w.another()
	slip := promptdb.Search{Words: query(t, "terminl"), Text: true}
	found := func(db *promptdb.DB) int {
		t.Helper()
		page, err := db.Find(t.Context(), slip, "", 10)
		require.NoError(t, err)
		return len(page.Items)
	}
	require.Zero(t, found(w.DB)+found(other), "both have read that there are no words")
	w.add("ann", titled("Linux terminal", "x"))
	w.run()
	_, err := w.CountTags(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, found(w.DB), "the instance whose job learned the words")
	require.Zero(t, found(other))
	w.clock.Advance(time.Minute)
	require.Equal(t, 1, found(other), "another one")
}
