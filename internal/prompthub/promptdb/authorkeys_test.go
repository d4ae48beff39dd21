package promptdb_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/azurite"
)

// authorKey returns the key of a user as an instance makes it.
func authorKey(t testing.TB, db *promptdb.DB, user prompt.UserID) string {
	t.Helper()
	require.NoError(t, db.LearnAuthorKeys(t.Context()))
	key := db.AuthorKey(user)
	require.Regexp(t, "^a_[a-z2-7]{26}$", key)
	require.True(t, prompt.NamesUser(key))
	return key
}

// formerKey returns the key that an earlier version made of an id, and that anybody can make.
func formerKey(user prompt.UserID) string {
	sum := sha256.Sum256([]byte("prompthub author\x00" + string(user)))
	return "a_" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:26])
}

// TestAuthorKeysCannotBeGuessed: an id that can be guessed does not give the key, which is another
// one in each deployment.
func TestAuthorKeysCannotBeGuessed(t *testing.T) {
	t.Parallel()
	here, there := newWorld(t), newWorld(t)
	for _, user := range []prompt.UserID{"ann@example.org", "1234567", "bwilson"} {
		key := authorKey(t, here.DB, user)
		require.NotContains(t, []string{formerKey(user), prompt.AuthorSecret{}.Key(user)}, key)
		require.NotEqual(t, authorKey(t, there.DB, user), key)
		require.Equal(t, key, authorKey(t, here.another(), user), "another instance")
	}
	require.NotEqual(t, here.AuthorKey("ann"), here.AuthorKey("bob"))
}

// TestAuthorKeysOutliveARestore: links by key lead where they led.
func TestAuthorKeysOutliveARestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("ann", draft("T"))
	key := authorKey(t, w.DB, "ann")
	var backup bytes.Buffer
	_, err := w.Backup(t.Context(), &backup, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	for name, started := range map[string]bool{
		"a store without a secret":       false,
		"one in which a service started": true,
	} {
		other := newWorld(t)
		require.NotEqual(t, key, authorKey(t, other.DB, "ann"), name)
		if !started {
			other.loseSecret()
		}
		require.NoError(t, restore(t.Context(), other.DB, bytes.NewReader(backup.Bytes())), name)
		for _, db := range []*promptdb.DB{other.DB, other.another()} {
			require.Equal(t, key, authorKey(t, db, "ann"), name)
			user, err := db.UserID(t.Context(), key)
			require.NoError(t, err)
			require.EqualValues(t, "ann", user, name)
		}
		other.check()
	}
}

// TestRestoreOfABackupWithoutASecret: its users get new keys.
func TestRestoreOfABackupWithoutASecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lines := `{"kind":"backup","version":2}` + "\n" + `{"kind":"user","user":{"id":"ann"}}` + "\n" +
		`{"kind":"end","rows":1}` + "\n"
	require.NoError(t, restore(t.Context(), w.DB, strings.NewReader(lines)))
	user, err := w.UserID(t.Context(), authorKey(t, w.another(), "ann"))
	require.NoError(t, err)
	require.EqualValues(t, "ann", user)
	w.check()
}

func TestRestoreRefusesASecret(t *testing.T) {
	t.Parallel()
	secret := func(n int) string {
		return `{"kind":"secret","authorKeys":"` + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, n)) +
			`"}` + "\n"
	}
	const no32 = "the secret of author keys is not 32 bytes in base64"
	for lines, why := range map[string]string{
		secret(31): no32,
		secret(33): no32,
		`{"kind":"secret","authorKeys":"no base64 !"}` + "\n":     no32,
		`{"kind":"secret"}` + "\n":                                "secret",
		secret(32) + secret(32):                                   "not the first row",
		`{"kind":"user","user":{"id":"ann"}}` + "\n" + secret(32): "not the first row",
	} {
		w := newWorld(t)
		require.ErrorContains(t, restore(t.Context(), w.DB,
			strings.NewReader(`{"kind":"backup","version":2}`+"\n"+lines)), why)
	}
}

// A race is a store in which no instance writes the secret before several have found that there is
// none.
type race struct {
	table.DB
	looked *sync.WaitGroup
}

func (r race) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	row, err := r.DB.Get(ctx, name, key)
	if key == secretKey && errors.Is(err, table.ErrNotFound) {
		r.looked.Done()
		r.looked.Wait()
	}
	return row, err
}

var secretKey = table.Key{Partition: "author-keys", Row: "secret"}

// TestInstancesAgreeOnTheSecret: of several that make it at once one wins, and the others take
// that.
func TestInstancesAgreeOnTheSecret(t *testing.T) {
	t.Parallel()
	file, err := embedded.Open(filepath.Join(t.TempDir(), "store.db"), time.Now, promptdb.SharedTexts()...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	for name, tables := range map[string]func(*testing.T) table.DB{
		"in memory": func(*testing.T) table.DB { return memory.NewTables() },
		"embedded":  func(*testing.T) table.DB { return file.Tables },
		"Azurite": func(t *testing.T) table.DB {
			account, err := azure.New(azure.Config{ConnectionString: azurite.Account(t)})
			require.NoError(t, err)
			return account.Tables
		},
	} {
		t.Run(name, func(t *testing.T) { instancesAgree(t, newWorldOn(t, tables(t))) })
	}
}

func instancesAgree(t *testing.T, w *world) {
	w.loseSecret()
	const instances = 4
	store := race{w.store, new(sync.WaitGroup)}
	store.looked.Add(instances)
	keys := make([]string, instances)
	var all sync.WaitGroup
	for i := range instances {
		all.Go(func() {
			db := w.over(store)
			if err := db.LearnAuthorKeys(t.Context()); err != nil {
				t.Error(err)
			}
			keys[i] = db.AuthorKey("ann")
		})
	}
	all.Wait()
	for _, key := range keys {
		require.Equal(t, authorKey(t, w.another(), "ann"), key)
	}
}

// A lossy store fails calls about the secret: before they reach the store, or by losing the answer.
type lossy struct {
	table.DB
	reads, writes, answers bool
}

func (l *lossy) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	if l.reads && key == secretKey {
		return table.Row{}, errors.New("away")
	}
	return l.DB.Get(ctx, name, key)
}

func (l *lossy) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if ops[0].Row.Key != secretKey {
		return l.DB.Write(ctx, name, ops...)
	}
	if l.writes {
		return nil, errors.New("away")
	}
	etags, err := l.DB.Write(ctx, name, ops...)
	if l.answers {
		return nil, errors.New("the answer is lost")
	}
	return etags, err
}

// TestNoSecretWhileTheStorageIsAway: nothing is made up then that the storage does not have.
func TestNoSecretWhileTheStorageIsAway(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]lossy{
		"reads": {reads: true}, "writes": {writes: true},
		"answers": {answers: true},
	} {
		w := newWorld(t)
		w.loseSecret()
		store := fail
		store.DB = w.store
		db := w.over(&store)
		for range 2 {
			err := db.LearnAuthorKeys(t.Context())
			if err == nil { // the insert whose answer was lost had landed
				require.Equal(t, "answers", name)
				continue
			}
			require.Equal(t, fault.Unavailable, fault.Of(err), name)
			require.Empty(t, db.AuthorKey("ann"), name)
		}
		store = lossy{DB: w.store}
		require.Equal(t, authorKey(t, w.another(), "ann"), authorKey(t, db, "ann"), name)
	}
}

// TestADamagedSecretIsNotReplaced: links would lead nowhere. A backup has the rest.
func TestADamagedSecretIsNotReplaced(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "AAAA", "no base64 !"} {
		w := newWorld(t)
		w.add("ann", draft("T"))
		w.run()
		damaged := table.Row{
			Key: secretKey, ETag: table.Any,
			Props: table.Props{{Name: "Secret", Value: table.String(text)}},
		}
		w.secretRow(table.Op{Kind: table.Replace, Row: damaged})
		w.DB = w.another()
		err := w.LearnAuthorKeys(t.Context())
		require.Equal(t, fault.Unavailable, fault.Of(err), text)
		require.Equal(t, promptdb.AuthorSecretDamaged, fault.CodeOf(err), text)
		require.NotContains(t, err.Error(), cmp.Or(text, "-"))
		require.Empty(t, w.AuthorKey("ann"), text)
		row, err := w.store.Get(t.Context(), promptdb.DefaultTables().SystemState, secretKey)
		require.NoError(t, err)
		require.Equal(t, text, row.Props.Get("Secret").Str())
		require.Len(t, w.found(), 1, "verify sees it in the row of Ann's key")

		var backup bytes.Buffer
		var leftOut []promptdb.Difference
		_, err = w.Backup(t.Context(), &backup, func(d promptdb.Difference) {
			leftOut = append(leftOut, d)
		}, func(int) {})
		require.NoError(t, err)
		require.Len(t, leftOut, 1)
		require.Equal(t, secretKey, leftOut[0].Key)
		other := newWorld(t)
		require.NoError(t, restore(t.Context(), other.DB, &backup))
		page, err := other.Mine(t.Context(), "ann", promptdb.Filter{}, promptdb.ByNewest, "", 10)
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		other.check()
	}
}

func (w *world) secretRow(op table.Op) {
	w.t.Helper()
	_, err := w.store.Write(w.t.Context(), promptdb.DefaultTables().SystemState, op)
	require.NoError(w.t, err)
}

// loseSecret removes the secret, and puts an instance that does not know it in place of the
// world's.
func (w *world) loseSecret() {
	w.t.Helper()
	w.secretRow(table.Op{Kind: table.Delete, Row: table.Row{Key: secretKey, ETag: table.Any}})
	w.DB = w.another()
}

// TestVerifyMakesNoSecret: it finds the keys of a secret that is gone, and writes nothing.
func TestVerifyMakesNoSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("ann", draft("T"))
	w.run()
	w.check()
	w.loseSecret()
	require.Len(t, w.found(), 1)
	_, err := w.store.Get(t.Context(), promptdb.DefaultTables().SystemState, secretKey)
	require.ErrorIs(t, err, table.ErrNotFound)
}

// before puts the key of a user as an earlier version wrote it, in place of the one there is.
func (w *world) before(user prompt.UserID) {
	w.t.Helper()
	key := authorKey(w.t, w.DB, user)
	w.userRow(table.Delete, table.Row{Key: table.Key{Partition: "k|" + key, Row: "r"}, ETag: table.Any})
	w.userRow(table.Insert, table.Row{
		Key:   table.Key{Partition: "k|" + formerKey(user), Row: "r"},
		Props: table.Props{{Name: "UserId", Value: table.String(string(user))}},
	})
}

// TestKeysOfBefore: what an earlier version wrote under keys that can be guessed leads nowhere, and
// reindex and anti-entropy mend it, also for a user who has a profile and no prompt.
func TestKeysOfBefore(t *testing.T) {
	t.Parallel()
	for name, mend := range map[string]func(*world) error{
		"reindex": func(w *world) error {
			_, err := w.Reindex(t.Context(), false, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
			return err
		},
		"anti-entropy": func(w *world) error { _, _, err := w.Sweep(t.Context()); return err },
	} {
		w := newWorld(t)
		w.add("ann", draft("T"))
		_, err := w.PutProfile(t.Context(), "bob", prompt.Profile{Handle: "bobby", Name: "Bob"})
		require.NoError(t, err)
		w.run()
		leads := func(key string) prompt.UserID {
			user, err := w.UserID(t.Context(), key)
			require.NoError(t, err, name)
			return user
		}
		for _, user := range []prompt.UserID{"ann", "bob"} {
			w.before(user)
			require.Empty(t, leads(formerKey(user)), name)
			require.Empty(t, leads(w.AuthorKey(user)), name)
		}
		require.EqualValues(t, "bob", leads("bobby"), name)
		require.Len(t, w.found(), 3, name) // two keys and a profile
		w.DB = w.another()
		require.NoError(t, mend(w), name)
		w.check()
		for _, user := range []prompt.UserID{"ann", "bob"} {
			require.Equal(t, user, leads(authorKey(t, w.DB, user)), name)
			_, err := w.store.Get(t.Context(), promptdb.DefaultTables().Users,
				table.Key{Partition: "k|" + formerKey(user), Row: "r"})
			require.ErrorIs(t, err, table.ErrNotFound, name)
		}
	}
}

// TestAuthorKeysAreReadOnce: each instance reads the secret one time.
func TestAuthorKeysAreReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	authorKey(t, w.DB, "ann")
	store := &lossy{DB: w.store}
	db := w.over(store)
	key := authorKey(t, db, "ann")
	store.reads, store.writes = true, true
	require.Equal(t, key, authorKey(t, db, "ann"))
}
