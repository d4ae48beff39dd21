package main

import (
	"fmt"
	"net/http"
	"net/url"

	"prompthub/internal/testing/load"
)

// setup is the community as one would build it with PocketBase: a follow, a post and a vote are
// records, a unique index has each person vote once, and a trigger counts the vote in the
// transaction of its record. A home is a filter over follows, so nothing is written into homes.
// Nothing seals votes, there are no blocks, and no one is told of a vote.
func setup(n, voters, hot int) load.Setup {
	const users = "_pb_users_auth_"
	const signedIn = `@request.auth.id != ""`
	people := load.Users("id, email, name", n+voters, func(i int) string {
		return fmt.Sprintf("'%s', 'person%d@example.com', 'Person%d'", userID(i), i, i)
	})
	return load.Setup{
		Collections: []load.Object{
			{
				"id": users, "name": "users", "type": "auth", "listRule": signedIn, "viewRule": signedIn,
				"fields": []load.Object{load.Field("name", "text")},
			},
			load.Collection("follows", load.Rules{Read: signedIn, Create: "follower = @request.auth.id"},
				[]string{
					"CREATE UNIQUE INDEX idx_follow ON follows (follower, followee)",
					"CREATE INDEX idx_followed ON follows (followee, follower)",
				}, load.Relation("follower", users),
				load.Relation("followee", users)),
			load.Collection("posts", load.Rules{Read: signedIn, Create: "author = @request.auth.id"},
				[]string{"CREATE INDEX idx_author ON posts (author, created)"},
				load.Relation("author", users), load.Field("thought", "text"), load.Field("slider", "text"),
				load.Field("total", "number"),
				load.Field("strong_left", "number"), load.Field("left", "number"), load.Field("neutral", "number"),
				load.Field("right", "number"), load.Field("strong_right", "number")),
			load.Collection("activities", load.Rules{Read: signedIn, Create: "actor = @request.auth.id"},
				[]string{
					"CREATE INDEX idx_acted ON activities (actor, created)",
					"CREATE INDEX idx_activity ON activities (created)",
				}, load.Relation("actor", users),
				load.Relation("post", "pbc_posts"), load.Field("kind", "text")),
			load.Collection("votes", load.Rules{Read: "voter = @request.auth.id", Create: "voter = @request.auth.id"},
				[]string{"CREATE UNIQUE INDEX idx_vote ON votes (post, voter)"}, load.Relation("post", "pbc_posts"),
				load.Relation("voter", users), load.Field("position", "text")),
		},
		SQL: append(people,
			fmt.Sprintf(`WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < %d)
				INSERT INTO follows (id, follower, followee, created) SELECT printf('f%%014d', substr(u.id, 5) * %d + k.i), u.id, printf('user%%011d', (substr(u.id, 5) + 1 + k.i * %d / %d) %% %d), '2026-11-01 12:00:00.000Z'
				FROM users u JOIN k WHERE substr(u.id, 5) + 0 < %d`, follows-1, follows, n, follows, n, n),
			fmt.Sprintf(`INSERT INTO posts (id, author, thought, slider, total, strong_left, "left", neutral, "right", strong_right, created) SELECT printf('post%%011d', substr(id, 5)), id, 'A good cup needs seven lamps, and somebody to argue with.', 'Is tea better than coffee?', 0, 0, 0, 0, 0, 0, printf('2026-11-01 12:%%02d:%%02d.000Z', substr(id, 5) / 60 %% 60, substr(id, 5) %% 60)
				FROM users WHERE substr(id, 5) + 0 < %d`, n*2/5),
			`INSERT INTO activities (id, actor, post, kind, created) SELECT replace(id, 'post', 'acti'), author, id, 'post_created', created FROM posts`,
			fmt.Sprintf(`WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < %d)
				INSERT INTO posts (id, author, slider, total, strong_left, "left", neutral, "right", strong_right, created) SELECT printf('hot%%012d', i), '%s', 'Is tea better than coffee?', 0, 0, 0, 0, 0, 0, '2026-11-01 13:00:00.000Z' FROM k`, hot-1, userID(0)),
			`CREATE TRIGGER voted AFTER INSERT ON votes BEGIN
				UPDATE posts SET total = total + 1, strong_left = strong_left + (NEW.position = 'strong_left'), "left" = "left" + (NEW.position = 'left'), neutral = neutral + (NEW.position = 'neutral'),
					"right" = "right" + (NEW.position = 'right'), strong_right = strong_right + (NEW.position = 'strong_right') WHERE id = NEW.post; END`),
	}
}

func userID(i int) string { return fmt.Sprintf("user%011d", i) }

// asPocketBase says how PocketBase is asked.
func (s *side) asPocketBase(n int, tokens []string) {
	s.vote = func(voter, post int, position string) load.Request {
		return load.Call(http.MethodPost, "/api/collections/votes/records", tokens[n+voter],
			map[string]any{"voter": userID(n + voter), "post": fmt.Sprintf("hot%012d", post), "position": position})
	}
	s.home = func(of int) load.Request {
		q := url.Values{
			"perPage": {"20"}, "skipTotal": {"1"}, "sort": {"-created"}, "expand": {"actor,post"},
			"filter": {fmt.Sprintf(`actor.follows_via_followee.follower ?= "%s"`, userID(of))},
		}
		return load.Call(http.MethodGet, "/api/collections/activities/records?"+q.Encode(), tokens[of], nil)
	}
}
