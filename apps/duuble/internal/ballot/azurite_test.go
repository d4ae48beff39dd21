package ballot_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/azurite"
)

// stored is the schema: the keys and the properties with their types.
var stored = []string{
	"!k|{nn}: counted_votes Int64, left Int64, left_count Int64, neutral Int64, neutral_count Int64, right Int64, right_count Int64, strong_left Int64, strong_right Int64, total_votes Int64, withheld_votes Int64",
	"!post: shards Int32",
	"b|g|{nn}: oldest_at DateTime, scopes String, sealed String, waiting_votes Int64",
	"b|{class}|{nn}: oldest_at DateTime, scopes String, sealed String, waiting_votes Int64",
	"b|{class}|{nn}: scopes String, sealed String, waiting_votes Int64",
	"k|hub1|{nn}: counted_votes Int64, left Int64, left_count Int64, neutral Int64, neutral_count Int64, right Int64, right_count Int64, strong_left Int64, strong_right Int64, total_votes Int64, withheld_votes Int64",
	"k|hub2|{nn}: counted_votes Int64, left Int64, left_count Int64, neutral Int64, neutral_count Int64, right Int64, right_count Int64, strong_left Int64, strong_right Int64, total_votes Int64, withheld_votes Int64",
	"o|{id}: voters String",
	"v|{voter}: op String, post_id String, scopes String, user_id String, voted_at DateTime",
}

// forms turn keys into their forms, in this order.
var forms = []struct {
	form string
	key  *regexp.Regexp
}{
	{"o|{id}", regexp.MustCompile(`^o\|[0-9a-f]{32}$`)},
	{"v|{voter}", regexp.MustCompile(`^v\|voter[0-9]+$`)},
	{"b|{class}|", regexp.MustCompile(`^b\|[0-9a-f]{16}\|`)},
	{"|{nn}", regexp.MustCompile(`\|[0-9]{2}$`)},
}

var typeNames = map[table.Type]string{
	table.TypeString: "String", table.TypeInt32: "Int32", table.TypeInt64: "Int64", table.TypeTime: "DateTime",
}

// TestRowsOnAzurite casts votes on Table Storage, settles them, and compares all that it holds
// with the schema.
func TestRowsOnAzurite(t *testing.T) {
	t.Parallel()
	account, err := azure.New(azure.Config{ConnectionString: azurite.Account(t)})
	require.NoError(t, err)
	prepare(t, account.Tables, account.Queues, 1)
	w := newWorld(t)
	w.Store = w.over(account.Tables, account.Queues)
	cast := func(n int, hubs ...string) {
		w.cast(voter(n), ballot.Position(n%5), hubs...)
		_, err := w.Cast(t.Context(), ballot.Vote{Post: post, Voter: voter(n)})
		requireCode(t, ballot.AlreadyVoted, err)
	}
	cast(0, "hub1")
	cast(1, "hub1", "hub2")
	cast(2, "hub1")
	w.clock.Pass(24 * time.Hour)
	require.NoError(t, w.SettleDue(t.Context()))
	w.shows("hub1", 3, 3, 0)
	w.shows("hub2", 1, 0, 1)
	cast(3)
	cast(4, "hub1")
	w.shows(ballot.Global, 5, 3, 0)
	_, err = w.Verify(t.Context(), func(d ballot.Difference) { t.Error(d.Text) })
	require.NoError(t, err)

	found := map[string]bool{}
	for _, row := range rowsOf(t, account.Tables, "") {
		key := row.Row
		for _, f := range forms {
			key = f.key.ReplaceAllLiteralString(key, f.form)
		}
		var props []string
		for _, p := range row.Props {
			props = append(props, p.Name+" "+typeNames[p.Value.Type()])
		}
		slices.Sort(props)
		found[fmt.Sprintf("%s: %s", key, strings.Join(props, ", "))] = true
	}
	want := map[string]bool{}
	for _, row := range stored {
		want[row] = true
	}
	require.Equal(t, want, found)
}
