package schema

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

func testID(t testing.TB, ms uint64, entropy uint64) prompt.ID {
	t.Helper()
	var u ulid.ULID
	require.NoError(t, u.SetTime(ms%(1<<47)))
	require.NoError(t, u.SetEntropy([]byte{
		0, 0, byte(entropy >> 56), byte(entropy >> 48), byte(entropy >> 40), byte(entropy >> 32),
		byte(entropy >> 24), byte(entropy >> 16), byte(entropy >> 8), byte(entropy),
	}))
	id, _ := prompt.ParseID(u.String())
	return prompt.ID(cmp.Or(string(id), "01ARZ3NDEKTSV4RRFFQ69G5FAV"))
}

func TestKeysAsTheSchemaSays(t *testing.T) {
	id := prompt.ID("01KBFJ5G00AAAAAAAAAAAAAAAA")
	at := id.Time()
	require.Equal(t, "2025-12-02", at.Format(time.DateOnly))
	ticks := ByAge(id)
	require.Len(t, ticks, 19+1+26)
	for _, tc := range []struct {
		name string
		got  table.Key
		want table.Key
	}{
		{"truth", PromptKey("ann", id), table.Key{Partition: "u|ann", Row: string(id)}},
		{"author's list", MineKey("ann", id), table.Key{Partition: "u|ann", Row: "!mine|" + ticks}},
		{"idempotency", IdemKey("ann", "0af3"), table.Key{Partition: "u|ann", Row: "!idem|0af3"}},
		{"vote", VoteKey("bob", id), table.Key{Partition: "p|" + string(id), Row: "u|bob"}},
		{"tally", TallyKey(id, 7), table.Key{Partition: "p|" + string(id), Row: "!tally|7"}},
		{"locator", LocatorKey(id), table.Key{Partition: "p|" + string(id), Row: "!prompt"}},
		{"voter", VoterKey("bob", id), table.Key{Partition: "u|bob", Row: ticks}},
		{"tag", tagKey("c++", id), table.Key{Partition: "t|c++", Row: ticks}},
		{"token", tokenKey("c#", id), table.Key{Partition: "q|c%23", Row: ticks}},
		{"newest", NewestKey(id), table.Key{Partition: "pub|newest|202512", Row: ticks}},
		{"liked", likedKey(25, id), table.Key{Partition: "pub|liked|9997", Row: "2147483622|" + ticks}},
		{"disliked", likedKey(-3, id), table.Key{Partition: "pub|liked|9999", Row: "2147483650|" + ticks}},
		{"top", likedKey(maxScore, id), table.Key{Partition: "pub|liked|0000", Row: "0000000000|" + ticks}},
		{"deleted", DeletedKey("20260102", id), table.Key{Partition: "deleted|20260102", Row: string(id)}},
		{"hidden", hiddenKey(id), table.Key{Partition: "hidden", Row: ticks}},
		{"catalog", CatalogKey("ci.cd"), table.Key{Partition: "tagcatalog", Row: "ci.cd"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, tc.got)
			require.NoError(t, table.CheckKey(tc.got))
		})
	}
}

func TestNoUserLeavesItsPartition(t *testing.T) {
	for _, user := range []prompt.UserID{
		"a|b", "u|", "a/b", `a\b`, "#", "?", "%", "%7C", "'", " a ", "ü", "😀",
		"a\u0000b", "a\u2028b", "\ufffd", prompt.UserID(strings.Repeat("|", 128)),
	} {
		key := VoterKey(user, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
		require.NoError(t, table.CheckKey(key), "user %q", user)
		require.Equal(t, 1, strings.Count(key.Partition, "|"), "user %q in %q", user, key.Partition)
		got, ok := ParseUser(key.Partition)
		require.True(t, ok)
		require.Equal(t, user, got)
	}
}

func FuzzEncode(f *testing.F) {
	for _, s := range []string{"", "ann", "a|b", "c#", "%41", "日本", "a\x80b", "\xff"} {
		f.Add(s, s+"x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		ea, eb := rowstore.Encode(a), rowstore.Encode(b)
		if strings.ContainsAny(ea, `|/\#?' `) {
			t.Fatalf("enc(%q) = %q", a, ea)
		}
		if got, ok := rowstore.Decode(ea); !ok || got != a {
			t.Fatalf("dec(rowstore.Encode(%q)) = %q, %t", a, got, ok)
		}
		if (a == b) != (ea == eb) {
			t.Fatalf("%q and %q are encoded as %q and %q", a, b, ea, eb)
		}
		if text, ok := rowstore.Decode(a); ok && rowstore.Encode(text) != a {
			t.Fatalf("dec(%q) = %q, which is encoded as %q", a, text, rowstore.Encode(text))
		}
	})
}

func FuzzKeysRoundTripInOrder(f *testing.F) {
	f.Add(uint64(1), uint64(1), int32(0), uint64(2), uint64(1), int32(9))
	f.Add(uint64(1767225600000), uint64(7), int32(10), uint64(1767225600000), uint64(8), int32(10))
	f.Fuzz(func(t *testing.T, ms1, e1 uint64, s1 int32, ms2, e2 uint64, s2 int32) {
		a, b := testID(t, ms1, e1), testID(t, ms2, e2)
		if got, ok := ParseByAge(ByAge(a)); !ok || got != a {
			t.Fatalf("byAge(%s) = %q reads as %s, %t", a, ByAge(a), got, ok)
		}
		if s1 > -maxScore && s2 > -maxScore {
			la, lb := likedKey(s1, a), likedKey(s2, b)
			if score, id, ok := parseLiked(la.Row); !ok || score != s1 || id != a {
				t.Fatalf("likedKey(%d, %s) = %s reads as %d, %s, %t", s1, a, la, score, id, ok)
			}
			want := cmp.Or(cmp.Compare(s2, s1), -a.Time().Compare(b.Time()), cmp.Compare(a, b))
			if got := cmp.Or(cmp.Compare(la.Partition, lb.Partition), cmp.Compare(la.Row, lb.Row)); got != want {
				t.Fatalf("scores %d and %d of %s and %s: keys %s and %s compare as %d, want %d",
					s1, s2, a, b, la, lb, got, want)
			}
		}
		want := cmp.Or(-a.Time().Compare(b.Time()), cmp.Compare(a, b))
		if got := cmp.Compare(ByAge(a), ByAge(b)); got != want {
			t.Fatalf("%s and %s compare as %d, want %d", ByAge(a), ByAge(b), got, want)
		}
		if a.Time().Before(b.Time()) && NewestKey(a).Partition > NewestKey(b).Partition {
			t.Fatalf("months %s and %s are out of order", NewestKey(a), NewestKey(b))
		}
	})
}

func FuzzParsers(f *testing.F) {
	f.Add("0251130000000000000|01ARZ3NDEKTSV4RRFFQ69G5FAV")
	f.Add("!mine|0251130000000000000|01ARZ3NDEKTSV4RRFFQ69G5FAV")
	f.Add("2147483622|0251130000000000000|01ARZ3NDEKTSV4RRFFQ69G5FAV")
	f.Fuzz(func(t *testing.T, s string) {
		if id, ok := ParseByAge(s); ok && ByAge(id) != s {
			t.Fatalf("%q reads as %s", s, id)
		}
		if id, ok := ParseMine(s); ok && MineKey("a", id).Row != s {
			t.Fatalf("%q reads as %s", s, id)
		}
		if score, id, ok := parseLiked(s); ok && likedKey(score, id).Row != s {
			t.Fatalf("%q reads as %d, %s", s, score, id)
		}
		if voter, ok := ParseVote(s); ok && VoteKey(voter, "").Row != s {
			t.Fatalf("%q reads as %q", s, voter)
		}
	})
}
