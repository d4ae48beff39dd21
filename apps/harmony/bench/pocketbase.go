package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/population"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/testing/load"
)

// newPocketBase starts the other program with the same members and matches.
func newPocketBase(ctx context.Context, dir string, members []population.Member, synced bool) (*side, error) {
	s := &side{Resident: load.Resident{Name: "PocketBase"}}
	var tokens []string
	var err error
	if s.Program, s.Data, tokens, err = load.PocketBase(ctx, dir, synced, setup(members)); err == nil {
		s.asPocketBase(members, tokens)
	}
	return s, err
}

// setup is the community as one would build it with PocketBase: profiles are fields of users, a
// decision of a member on another one is a record, and a block is one more, for the deck. The
// indexes are those that the requests need. Triggers make the match and keep the counts, in the
// transaction of the record.
func setup(members []population.Member) load.Setup {
	const users = "_pb_users_auth_"
	content := load.Field("content", "text")
	content["max"], content["required"] = 4000, true
	// Other members' decisions and blocks are for rules, not for filters.
	const dealt = `@request.auth.id != "" && visibility = "public" && decisions_via_to.from != @request.auth.id && blocks_via_by.who != @request.auth.id`
	const takesPart = "(a = @request.auth.id || b = @request.auth.id)"
	return load.Setup{
		Collections: []load.Object{
			{
				"id": users, "name": "users", "type": "auth", "listRule": dealt,
				"viewRule": `@request.auth.id != "" && visibility = "public"`,
				"fields": []load.Object{
					load.Field("name", "text"), load.Field("bio", "text"), load.Field("location", "text"),
					load.Field("gender", "text"), load.Field("birthDate", "text"), load.Field("showMe", "text"),
					load.Field("visibility", "text"),
					load.Field("shuffle", "text"), load.Field("ageMin", "number"), load.Field("ageMax", "number"),
					load.Field("lat", "number"), load.Field("lon", "number"),
				},
			},
			load.Collection("decisions",
				load.Rules{
					Read: "from = @request.auth.id", Create: "from = @request.auth.id",
					Remove: "from = @request.auth.id",
				},
				[]string{
					"CREATE UNIQUE INDEX idx_decision ON decisions (`from`, `to`)",
					"CREATE INDEX idx_decided ON decisions (`to`, `from`)",
				},
				load.Relation("from", users), load.Relation("to", users), load.Field("kind", "text"),
				load.Field("anonymous", "bool")),
			load.Collection("blocks", load.Rules{
				Read: "by = @request.auth.id", Create: "by = @request.auth.id",
				Remove: "by = @request.auth.id",
			}, []string{"CREATE UNIQUE INDEX idx_block ON blocks (`by`, who)"},
				load.Relation("by", users), load.Relation("who", users)),
			load.Collection("matches", load.Rules{Read: takesPart, Create: "", Remove: takesPart},
				[]string{"CREATE UNIQUE INDEX idx_match ON matches (a, b)", "CREATE INDEX idx_matched ON matches (b)"},
				load.Relation("a", users), load.Relation("b", users)),
			load.Collection("chats", load.Rules{Read: takesPart, Create: "", Remove: takesPart},
				[]string{"CREATE UNIQUE INDEX idx_chat ON chats (a, b)", "CREATE INDEX idx_chatting ON chats (b)"},
				load.Relation("a", users), load.Relation("b", users), load.Field("sentA", "number"),
				load.Field("sentB", "number"), load.Field("last", "text")),
			load.Collection("messages", load.Rules{
				Read:   "chat.a = @request.auth.id || chat.b = @request.auth.id",
				Create: "sender = @request.auth.id && (chat.a = @request.auth.id || chat.b = @request.auth.id)",
				Remove: "chat.a = @request.auth.id || chat.b = @request.auth.id",
			},
				[]string{"CREATE INDEX idx_messages ON messages (chat, created)"}, load.Relation("chat", "pbc_chats"),
				load.Relation("sender", users), content),
		},
		SQL: append(rows(members),
			`CREATE INDEX idx_shuffle ON users (shuffle)`, `CREATE INDEX idx_shuffled ON users (gender, shuffle)`,
			`CREATE TRIGGER liked AFTER INSERT ON decisions WHEN NEW.kind = 'like' AND EXISTS (SELECT 1 FROM decisions WHERE "from" = NEW."to" AND "to" = NEW."from" AND kind = 'like') BEGIN
				INSERT INTO matches (id, a, b, created) VALUES (lower(hex(randomblob(7))) || '0', min(NEW."from", NEW."to"), max(NEW."from", NEW."to"), NEW.created); END`,
			`CREATE TRIGGER sent AFTER INSERT ON messages BEGIN
				UPDATE chats SET sentA = sentA + (a = NEW.sender), sentB = sentB + (b = NEW.sender), last = NEW.created WHERE id = NEW.chat; END`),
	}
}

func userID(i int) string { return fmt.Sprintf("user%011d", i) }
func chatID(i int) string { return fmt.Sprintf("chat%011d", i/2) }

const day = "2006-01-02"

// rows is the SQL of the members, and of the likes, matches and chats of neighbors.
func rows(members []population.Member) []string {
	all := load.Users(
		"id, email, name, bio, location, gender, birthDate, showMe, visibility, shuffle, ageMin, ageMax, lat, lon",
		len(members), func(i int) string {
			m := members[i]
			var at rules.Position
			if m.Position != nil {
				at = *m.Position
			}
			return fmt.Sprintf("'%s', 'member%d@example.com', '%s', 'Tea, seven lamps, and every concert since the first one.', 'Москва', '%s', '%s', '%s', 'public', '%s', %d, %d, %d, %d",
				userID(i), i, m.Name, m.Gender, m.BirthDate.Format(day), m.Preferences.ShowMe, m.Shuffle,
				m.Preferences.AgeMin, m.Preferences.AgeMax, at.Lat, at.Lon)
		})
	return append(all,
		"INSERT INTO chats (id, a, b) SELECT printf('chat%011d', substr(x.id, 5) / 2), x.id, printf('user%011d', substr(x.id, 5) + 1) FROM users AS x WHERE substr(x.id, 5) % 2 = 0",
		"INSERT INTO matches (id, a, b) SELECT printf('match%010d', substr(id, 5)), a, b FROM chats",
		`INSERT INTO decisions (id, "from", "to", kind) SELECT printf('one%012d', substr(id, 5)), a, b, 'like' FROM chats`,
		`INSERT INTO decisions (id, "from", "to", kind) SELECT printf('two%012d', substr(id, 5)), b, a, 'like' FROM chats`)
}

// asPocketBase says how PocketBase is asked. The filter of a deck names what its reader looks for
// and is: the rule of users leaves out the members on whom the reader has decided.
func (s *side) asPocketBase(members []population.Member, tokens []string) {
	as := func(member int, method, path string, body any) load.Request {
		return load.Call(method, "/api/collections/"+path, tokens[member], body)
	}
	s.like = func(from, to int) load.Request {
		return as(from, http.MethodPost, "decisions/records",
			map[string]any{"from": userID(from), "to": userID(to), "kind": "like", "anonymous": false})
	}
	s.message = func(n, from int) load.Request {
		return as(from, http.MethodPost, "messages/records",
			map[string]any{"chat": chatID(from), "sender": userID(from), "content": text(n)})
	}
	s.deck = func(of int) load.Request {
		q := url.Values{
			"perPage": {"10"}, "skipTotal": {"1"}, "filter": {fits(of, members[of], time.Now())}, "sort": {"shuffle"},
			"fields": {"id,name,bio,location,gender,birthDate,avatar,lat,lon"},
		}
		return as(of, http.MethodGet, "users/records?"+q.Encode(), nil)
	}
}

// fits is the filter of a member's deck. Only rules may say @request.
func fits(n int, m population.Member, now time.Time) string {
	age, p, me := rules.Age(m.BirthDate, now), m.Preferences, userID(n)
	all := []string{
		fmt.Sprintf(`id != "%s"`, me), fmt.Sprintf(`shuffle > "%s"`, m.Shuffle),
		fmt.Sprintf(`birthDate <= "%s"`, now.AddDate(-p.AgeMin, 0, 0).Format(day)),
		fmt.Sprintf(`ageMin <= %d && (ageMax >= %d || ageMax = 99)`, age, age),
	}
	if p.AgeMax < rules.MaxAge {
		all = append(all, fmt.Sprintf(`birthDate > "%s"`, now.AddDate(-p.AgeMax-1, 0, 0).Format(day)))
	}
	shown := map[string]string{"male": "men", "female": "women", "non-binary": "non-binary"}
	if wanted := shown[m.Gender]; wanted != "" {
		all = append(all, fmt.Sprintf(`(showMe = "everyone" || showMe = "%s")`, wanted))
	} else {
		all = append(all, `showMe = "everyone"`)
	}
	for gender, wanted := range shown {
		if p.ShowMe == wanted {
			all = append(all, fmt.Sprintf(`gender = "%s"`, gender))
		}
	}
	return strings.Join(all, " && ")
}
