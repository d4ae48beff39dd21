// Package schema says where the rows of Duuble are: names of tables, ids, and keys in time.
//
//	Users     u|{user}      me · id|phone · c|{nn} · po|{post} · uv|{inv}|{post} · h|{hub} · jr|{inv}|{request}
//	                        fo|{user} · fod|{inv}|{user} · fr|{user} · frd|{inv}|{user} · fb|{inv}|{user} · fans
//	                        bl|{user} · br|{user} · w|{word} · pd|{inv}|{post} · co|{post}|{comment} · sh|{post}|{inv}|{share}
//	                        as|{asset} · ms|{hub}|{discussion}|{message} · bn|{hub}|{ban} · sv|{hub}|{discussion} · svd|{inv}|{discussion}
//	Names     phone|{hmac}, name|{lower}, idem|{hash}, link|{lower}, tok|{sha256}, as|{asset}      r
//	          ph|{hmac}      {time}|{invitation}
//	Posts     p|{post}      !post · !main · !t|{hub} · !n|{nn} · o|{id}, and the rows of package ballot
//	                        ci|{comment} · cm|{inv}|{comment} · cr|{root}|{comment} · rp|{inv}|{post}
//	                        se|{inv}|{share}
//	Hubs      h|{hub}       the rows of package hubs
//	          h|{hub}, d|{hub}|{discussion}      those of package discussions
//	Lists     pub|{yyyyMM}, au|{user}, hf|{hub}      {inv}|{post}, {inv}|{share}
//	          act|{user}, home|{user}      the rows of package feed
//	          pn|{two letters}, hn|{two letters}      {word}|{user}, {word}|{hub}: the rows of package search
//	Notifications  the rows of package notices
//	Sessions  s|{user} / {session} · otp|{challenge} / c · rl|{bucket} / w · hll|{hub} / {yyyyMMddHH}
//	Admin     the rows of package manage · cfg / keys, sweep · due|settle|{yyyyMMddHH} / {post} · due|end|{yyyyMMddHH} / {ticks}|{post} · due|expire|{yyyyMMddHH} / {ticks}|{sha256}
//	          due|purge|{yyyyMMddHH} / {ticks}|{post}, {ticks}|{post}|{comment} · due|account|{yyyyMMddHH} / {ticks}|{user}
//	          due|name|{yyyyMMddHH} / {ticks}|{lower} · due|asset|{yyyyMMddHH} / {ticks}|{asset} · store / id
//	          due|tie|{yyyyMMddHH} / {ticks}|{user}|{row} · due|hub|{yyyyMMddHH} / {ticks}|{hub}|{row}
//
// {inv} is an instant, written so that later ones come first.
package schema

import (
	"io"
	"regexp"
	"time"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/storage/rowstore"
)

// MessageAfter is when the message of a change is seen. By then all writes of the change have
// landed.
const MessageAfter = time.Minute

// Tables names the tables.
type Tables struct {
	Users         string `table:"Users"`
	Names         string `table:"Names"`
	Posts         string `table:"Posts"`
	Lists         string `table:"Lists"`
	Notifications string `table:"Notifications"`
	Sessions      string `table:"Sessions"`
	Hubs          string `table:"Hubs"`
	Admin         string `table:"Admin"`
}

// All returns the names.
func (t Tables) All() []string { return rowstore.TableNames(t) }

// User returns the partition of a user in Users.
func User(id string) string { return "u|" + id }

// Post returns the partition of a post in Posts.
func Post(id string) string { return "p|" + id }

// Hub returns the partition of a hub in Hubs.
func Hub(id string) string { return "h|" + id }

// Discussion returns the partition of a discussion in Hubs.
func Discussion(hub, id string) string { return "d|" + hub + "|" + id }

// ids are what the id of something can be: a ULID here, a UUID of a row that was imported.
var ids = regexp.MustCompile(`^[0-9A-Za-z-]{1,36}$`)

// IsID reports whether s can be the id of something.
func IsID(s string) bool { return ids.MatchString(s) }

// NewID returns a new id, which has the time in it, to the millisecond.
func NewID(now time.Time, entropy io.Reader) string {
	return ulid.MustNew(ulid.Timestamp(now), entropy).String()
}

// TimeOf returns the time in an id that NewID made.
func TimeOf(id string) time.Time {
	u, err := ulid.ParseStrict(id)
	if err != nil {
		return time.Time{}
	}
	return ulid.Time(u.Time()).UTC()
}
