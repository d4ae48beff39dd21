package promptdb

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// The secret that makes keys of authors stands in one row, which is inserted at the first use and
// never changed. Links and clients hold keys, so a backup has the secret too.

func authorSecretKey() table.Key { return table.Key{Partition: "author-keys", Row: "secret"} }

func authorSecretRow(text string) table.Row {
	return table.Row{Key: authorSecretKey(), Props: table.Props{{Name: "Secret", Value: table.String(text)}}}
}

// authorSecretText returns a secret as a row and a backup have it.
func authorSecretText(s prompt.AuthorSecret) string { return base64.StdEncoding.EncodeToString(s[:]) }

// parseAuthorSecret is the opposite of authorSecretText.
func parseAuthorSecret(text string) (*prompt.AuthorSecret, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != len(prompt.AuthorSecret{}) {
		return nil, errors.New("the secret of author keys is not 32 bytes in base64") // without the text
	}
	return new(prompt.AuthorSecret(b)), nil
}

// AuthorSecretDamaged is the code by which requests are refused while nothing that is stored says
// how authors are called.
const AuthorSecretDamaged fault.Code = "AUTHOR_SECRET_DAMAGED"

// AuthorKey returns the key that stands for a user in public. It is empty until LearnAuthorKeys has
// succeeded.
func (db *DB) AuthorKey(user prompt.UserID) string {
	secret := db.authorSecret.Load()
	if secret == nil {
		return ""
	}
	return secret.Key(user)
}

// LearnAuthorKeys reads the secret that AuthorKey needs, once in the life of a DB. A store that has
// none gets one. Several instances may want to make it: what is inserted first counts for all.
func (db *DB) LearnAuthorKeys(ctx context.Context) error {
	for range maxTries {
		secret, err := db.readAuthorSecret(ctx)
		if err != nil || secret != nil {
			return err
		}
		var made prompt.AuthorSecret
		rand.Read(made[:])
		err = db.write(ctx, db.t.SystemState, []table.Op{{Kind: table.Insert, Row: authorSecretRow(authorSecretText(made))}})
		if err != nil && !errors.Is(err, table.ErrExists) {
			return unavailable(fmt.Errorf("write the secret of author keys: %w", err))
		}
	}
	return busy(time.Second)
}

// readAuthorSecret returns the secret that the store has, nil if it has none, and remembers it.
func (db *DB) readAuthorSecret(ctx context.Context) (*prompt.AuthorSecret, error) {
	if secret := db.authorSecret.Load(); secret != nil {
		return secret, nil
	}
	row, err := db.get(ctx, db.t.SystemState, authorSecretKey())
	if errors.Is(err, table.ErrDamaged) {
		return nil, authorSecretDamaged(err)
	}
	if err != nil || row == nil {
		return nil, err
	}
	secret, err := parseAuthorSecret(row.Props.Get("Secret").Str())
	if err != nil {
		return nil, authorSecretDamaged(err)
	}
	db.authorSecret.Store(secret)
	return secret, nil
}

// authorSecretDamaged refuses to go on. A new secret in place of the damaged one would have every
// link by a key lead nowhere, and a backup may have the old one.
func authorSecretDamaged(cause error) error {
	return &fault.Error{
		Kind: fault.Unavailable, Code: AuthorSecretDamaged, Cause: cause,
		Text: "the secret that names authors is damaged in the store; an operator restores a backup into a new one",
	}
}

// repairAuthorKey has the key of a user lead to him, and removes a row under a key that another
// secret made, or none: of a secret that was lost, of an instance that was at work during a
// restore, or of a version before there was a secret.
func (db *DB) repairAuthorKey(ctx context.Context, d Difference) error {
	if err := db.writeUserByKey(ctx, d.user); err != nil {
		return err
	}
	if strings.HasPrefix(d.Key.Partition, knownPrefix) && d.Key != knownKey(db.AuthorKey(d.user)) {
		return db.remove(ctx, db.t.Users, d.Key)
	}
	return nil
}

// secret restores the secret, in place of one that an instance made before.
func (re *restore) secret(ctx context.Context, text string) error {
	secret, err := parseAuthorSecret(text)
	if err != nil {
		return err
	}
	if re.rows > 1 {
		return errors.New("the secret of author keys is not the first row of the backup")
	}
	err = re.db.write(ctx, re.db.t.SystemState, []table.Op{{Kind: table.Upsert, Row: authorSecretRow(text)}})
	if err != nil {
		return unavailable(err)
	}
	re.db.authorSecret.Store(secret)
	return nil
}
