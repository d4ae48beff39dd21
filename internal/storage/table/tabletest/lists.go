package tabletest

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

// sample returns rows whose keys put order and bounds to the test: one a prefix of the
// other, numbers as text, signs before and after letters, the empty row key, accents.
func sample() []table.Row {
	var rows []table.Row
	for _, partition := range []string{"a", "a ", "a!", "a|", "a|b", "b", "B", "ab", "é", "日本", "~"} {
		for _, r := range []string{"", "!", "1", "10", "2", "a", "a|1", "a|2", "a}", "é", "語"} {
			rows = append(rows, number(key(partition, r), len(rows)))
		}
	}
	return rows
}

func testOrder(f fixture) {
	rows := sample()
	want := f.load(rows)
	for _, limit := range []int{1, 7, 100, table.MaxPage} {
		got := f.list(table.Range{}, limit)
		require.Equal(f, want, keysOf(got), "pages of %d", limit)
		for _, g := range got {
			i := slices.IndexFunc(rows, func(r table.Row) bool { return r.Key == g.Key })
			require.True(f, g.Props.Equal(rows[i].Props), "row %s", g.Key)
			require.NotEmpty(f, g.ETag)
		}
	}
	some := f.list(table.Range{Partition: "ab"}, 4)
	require.Equal(f, f.get(some[3].Key), some[3], "List and Get see the same row")
}

// contains is the definition of a Range, word for word.
func contains(r table.Range, k table.Key) bool {
	in := k.Partition == r.Partition
	if r.Partition == "" {
		in = r.FromPartition <= k.Partition && (r.ToPartition == "" || k.Partition < r.ToPartition)
	}
	return in && r.From <= k.Row && (r.After == "" || r.After < k.Row) && (r.To == "" || k.Row < r.To)
}

func testRanges(f fixture) {
	keys := f.load(sample())
	partitions := []table.Range{
		{},
		{Partition: "a"},
		{Partition: "a|"},
		{Partition: "日本"},
		{Partition: "nobody"},
		{FromPartition: "a!"},
		{FromPartition: "a#"},
		{ToPartition: "a|b"},
		{FromPartition: "a", ToPartition: "a|"},
		{FromPartition: "b", ToPartition: "b"},
		{FromPartition: "c", ToPartition: "b"},
		{FromPartition: "~~"},
	}
	rows := []table.Range{
		{},
		{From: "10"},
		{From: "11"},
		{After: "1"},
		{After: "11"},
		{To: "a"},
		{From: "a|", To: "a}"},
		{After: "a|1", To: "é"},
		{From: "2", To: "2"},
		{From: "b", To: "a"},
		{From: "語", To: "語~"},
		{After: "語"},
	}
	for _, p := range partitions {
		for _, r := range rows {
			r.Partition, r.FromPartition, r.ToPartition = p.Partition, p.FromPartition, p.ToPartition
			want := slices.DeleteFunc(slices.Clone(keys), func(k table.Key) bool { return !contains(r, k) })
			for _, limit := range []int{9, table.MaxPage} {
				require.Equal(f, want, keysOf(f.list(r, limit)), "range %+v in pages of %d", r, limit)
			}
		}
	}
	prefix := keysOf(f.list(table.Prefix("a|b", "a|"), 10))
	require.Equal(f, []table.Key{key("a|b", "a|1"), key("a|b", "a|2")}, prefix)
}

// testFilter: a row that does not match comes in its place with its key alone, and others as they
// are.
func testFilter(f fixture) {
	f.load(sample())
	all := f.list(table.Range{}, table.MaxPage)
	var kept []table.Props
	odd := 0
	r := table.Range{Filter: func(p table.Props) bool {
		if odd++; odd%2 == 0 {
			return false
		}
		kept = append(kept, slices.Clone(p))
		return true
	}}
	got := f.page(r, table.MaxPage, "").Rows
	require.Len(f, got, odd, "it is asked once for each row")
	require.Equal(f, keysOf(all[:len(got)]), keysOf(got))
	for i, row := range got {
		if i%2 == 1 {
			require.Equal(f, table.Row{Key: all[i].Key}, row)
			continue
		}
		require.Equal(f, all[i].ETag, row.ETag)
		require.True(f, row.Props.Equal(all[i].Props), "row %s", row.Key)
	}
	require.Len(f, kept, (len(got)+1)/2)
}

// testMaxMatches: a page that ended after the matches it was asked for leads on to all other rows.
func testMaxMatches(f fixture) {
	f.load(sample())
	all := f.list(table.Range{}, table.MaxPage)
	for enough := 1; enough <= 3; enough++ {
		asked := 0
		r := table.Range{MaxMatches: enough, Filter: func(table.Props) bool { asked++; return asked%2 == 0 }}
		got := f.list(r, table.MaxPage)
		require.Equal(f, keysOf(all), keysOf(got))
		require.Equal(f, len(all), asked, "it is asked once for each row")
		for i, row := range got {
			require.Equal(f, i%2 == 1, row.Props != nil, "row %s", row.Key)
		}
	}
	r := table.Range{MaxMatches: 3, Filter: func(table.Props) bool { return true }}
	first := f.page(r, table.MaxPage, "")
	r.MaxMatches = 1
	require.Equal(f, keysOf(all), keysOf(f.rest(r, table.MaxPage, first)), "a token is valid whatever is enough")
}

// testSelect: rows come with the properties that were asked for, if they have them, and keep their
// ETags.
func testSelect(f fixture) {
	name := func(n string, v table.Value) table.Prop { return table.Prop{Name: n, Value: v} }
	row := table.Row{Key: key("p", "r"), Props: table.Props{
		name("A", table.String("text")), name("B", table.Int64(1<<40)),
		name("C", table.Bool(true)), name("D", table.String("")),
	}}
	f.write(table.Op{Kind: table.Insert, Row: row})
	whole := f.get(row.Key)
	for _, names := range [][]string{{"Nosuch"}, {"A"}, {"D", "B"}, {"A", "Nosuch"}} {
		var want table.Props
		for _, p := range row.Props {
			if slices.Contains(names, p.Name) {
				want = append(want, p)
			}
		}
		got := f.list(table.Range{Partition: "p", Select: names}, 10)
		require.Len(f, got, 1)
		require.Equal(f, whole.Key, got[0].Key)
		require.Equal(f, whole.ETag, got[0].ETag)
		require.True(f, want.Equal(got[0].Props), "%v: %v", names, got[0].Props)
		require.NotNil(f, got[0].Props, "as those of a row that does not match")
	}
	asked := false
	r := table.Range{Partition: "p", Select: []string{"A"}, Filter: func(p table.Props) bool {
		asked = len(p) == 1 && p[0].Name == "A"
		return false
	}}
	require.Equal(f, []table.Row{{Key: row.Key}}, f.list(r, 10))
	require.True(f, asked, "it is asked about what was selected")
	for _, kept := range []bool{true, false} {
		r := table.Range{Partition: "p", FilterProps: []string{"D", "B", "Nosuch"}, Filter: func(p table.Props) bool {
			require.True(f, table.Props{row.Props[1], row.Props[3]}.Equal(p), "%v", p)
			return kept
		}}
		want := table.Row{Key: row.Key}
		if kept {
			want = whole
		}
		require.Equal(f, []table.Row{want}, f.list(r, 10))
	}
}

func testInvalidLists(f fixture) {
	for _, limit := range []int{-1, 0, table.MaxPage + 1} {
		_, err := f.List(f.Context(), f.table, table.Range{}, limit, "")
		require.ErrorIs(f, err, table.ErrInvalid, "limit %d", limit)
	}
	for _, r := range []table.Range{
		{Partition: "p", FromPartition: "o"},
		{Partition: "p", ToPartition: "q"},
		{From: "a", After: "b"},
		{Partition: "p", Select: []string{"a,b"}},
		{Partition: "p", MaxMatches: -1},
		{Partition: "p", FilterProps: []string{"A"}, Select: []string{"A", "B"}},
	} {
		_, err := f.List(f.Context(), f.table, r, 10, "")
		require.ErrorIs(f, err, table.ErrInvalid, "range %+v", r)
	}
}

func testLargePage(f fixture) {
	var rows []table.Row
	for i := range table.MaxPage + 60 {
		rows = append(rows, number(key("p", fmt.Sprintf("%05d", i)), i))
	}
	want := f.load(rows)
	require.Equal(f, want, keysOf(f.list(table.Range{Partition: "p"}, table.MaxPage)))
	require.Equal(f, want, keysOf(f.list(table.Range{Partition: "p"}, 333)))

	var all []table.Key
	for r, err := range table.All(f.Context(), f.DB, f.table, table.Range{}) {
		require.NoError(f, err)
		if all = append(all, r.Key); len(all) == table.MaxPage+10 {
			break
		}
	}
	require.Equal(f, want[:table.MaxPage+10], all)
}

// testChangesBetweenPages deletes, after each page, the row that was read last and
// the two that follow, and in the end inserts one after all. Rows that stood all the time
// are read once, deleted rows not again.
func testChangesBetweenPages(f fixture) {
	var rows []table.Row
	for i := range 40 {
		rows = append(rows, number(key("p", fmt.Sprintf("%02d", i)), i))
	}
	keys := f.load(rows)
	r := table.Range{Partition: "p"}
	var got, want []table.Key
	end := key("p", "end")
	for next, started := "", false; next != "" || !started; started = true {
		page := f.page(r, 5, next)
		got = append(got, keysOf(page.Rows)...)
		if next = page.Next; len(page.Rows) == 0 || next == "" {
			continue
		}
		last := slices.Index(keys, page.Rows[len(page.Rows)-1].Key)
		if last < 0 { // this was the row inserted after all
			continue
		}
		want = append(want, keys[:last+1]...)
		gone := keys[last:min(last+3, len(keys))]
		for _, k := range gone {
			f.write(op(table.Delete, tagged(row(k), table.Any)))
		}
		keys = keys[last+len(gone):]
		if len(keys) < 10 {
			f.write(op(table.Upsert, number(end, 0)))
		}
	}
	want = append(want, keys...)
	require.Equal(f, append(want, end), got)
}

func testEndDeletedBetweenPages(f fixture) {
	var rows []table.Row
	for i := range 10 {
		rows = append(rows, number(key("p", fmt.Sprint(i)), i))
	}
	keys := f.load(rows)
	r := table.Range{FromPartition: "a", From: "2"}
	page := f.page(r, 3, "")
	for len(page.Rows) == 0 { // an empty page is no end
		require.NotEmpty(f, page.Next)
		page = f.page(r, 3, page.Next)
	}
	read := len(page.Rows)
	for _, k := range keys {
		f.write(op(table.Delete, tagged(row(k), table.Any)))
	}
	require.Len(f, f.rest(r, 3, page), read)
}
