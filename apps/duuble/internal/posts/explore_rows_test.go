package posts_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// A place is a partition of a table.
type place struct{ name, partition string }

// A watched store knows which partitions were changed, and which rows were removed.
type watched struct {
	*memory.Tables
	mu      sync.Mutex
	changed map[place]bool
	removed []table.Key
}

// Write implements table.DB.
func (w *watched) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	etags, err := w.Tables.Write(ctx, name, ops...)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed[place{name, ops[0].Row.Partition}] = true
	for _, op := range ops {
		if op.Kind == table.Delete && err == nil {
			w.removed = append(w.removed, op.Row.Key)
		}
	}
	return etags, err
}

// changes returns the partitions that were changed since the last time, and the removed rows.
func (w *watched) changes() (all []place, removed []table.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := range w.changed {
		all = append(all, p)
	}
	clear(w.changed)
	removed, w.removed = w.removed, nil
	return all, removed
}

// rows returns the rows of a partition, or of a table.
func (x *explorer) rows(name, partition string) (all []table.Row) {
	for row, err := range table.All(context.Background(), x.db.Tables, name, table.Range{Partition: partition}) {
		if err != nil {
			x.Note(err)
			return nil
		}
		all = append(all, row)
	}
	return all
}

// known is what was seen of rows, and must stay so.
type known struct {
	dates   map[table.Key]string // when a tie or membership began, in which scopes a vote counts
	ends    map[table.Key]string // how an invitation or a request ended
	counted map[table.Key]int64  // how many votes a scope has counted, by its first part
}

func newKnown() *known {
	return &known{map[table.Key]string{}, map[table.Key]string{}, map[table.Key]int64{}}
}

// stays holds that what a row says is what it said, as long as it is there.
func stays(was map[table.Key]string, key table.Key, says string) error {
	if before, is := was[key]; is && before != says {
		return fmt.Errorf("%s said %s, and says %s", key, before, says)
	}
	was[key] = says
	return nil
}

// look holds the rows to the rules that hold at all times.
func (x *explorer) look() error {
	x.hear()
	var wrong error
	changed, removed := x.db.changes()
	for _, key := range removed {
		delete(x.known.dates, key)
		delete(x.known.ends, key)
	}
	for _, p := range changed {
		rows := x.rows(p.name, p.partition)
		switch kind, _, _ := strings.Cut(p.partition, "|"); p.name + " " + kind {
		case "Users u":
			wrong = errors.Join(wrong, x.user(p.partition, rows))
		case "Hubs h":
			wrong = errors.Join(wrong, x.hub(p.partition, rows))
		case "Hubs d":
			wrong = errors.Join(wrong, x.discussion(p.partition, rows))
		case "Posts p":
			wrong = errors.Join(wrong, x.post(p.partition, rows))
		case "Notifications n":
			wrong = errors.Join(wrong, told(rows))
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for thing, w := range x.watches {
		if err := w.holds(); err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", thing, err))
		}
	}
	return wrong
}

// equal returns an error for each two numbers that are not the same.
func equal(where string, pairs ...any) (wrong error) {
	for i := 0; i < len(pairs); i += 3 {
		if a, b := pairs[i+1], pairs[i+2]; a != b {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %s: %v and %v", where, pairs[i], a, b))
		}
	}
	return wrong
}

// user holds the rows of a person to their counts (C5), and the dates of follows (C11). Of an
// account that is being removed rows go one batch after the other.
func (x *explorer) user(partition string, rows []table.Row) (wrong error) {
	says, has := map[string]int64{}, map[string]int64{}
	goes := true
	for _, row := range rows {
		kind, _, _ := strings.Cut(row.Row, "|")
		live := !row.Props.Get("IsDeleted").Bool()
		switch {
		case kind == "me":
			goes = row.Props.Get("purging").Bool()
			if name := row.Props.Get("username").Str(); name != "" {
				wrong = errors.Join(wrong, stays(x.known.dates, row.Key, name)) // C10
			}
		case kind == "c":
			for _, column := range []string{
				"followers_count", "following_count", "blocks_count", "posts_count",
				"locked_posts_count", "votes_cast_count",
			} {
				says[column] += row.Props.Get(column).Int()
			}
		case kind == "po" && live && row.Props.Get("counted_in").Str() == "locked_posts_count":
			has["locked"]++
		case live:
			has[kind]++
		}
		if kind == "fo" || kind == "bl" {
			wrong = errors.Join(wrong, stays(x.known.dates, row.Key, row.Props.Get("created_at").Time().String()))
		}
	}
	if goes {
		return wrong
	}
	return errors.Join(wrong, equal(partition,
		"followers", says["followers_count"], has["fr"], "followers by time", has["fr"], has["frd"], "following",
		says["following_count"], has["fo"], "following by time", has["fo"], has["fod"],
		"blocks", says["blocks_count"], has["bl"], "saved", has["sv"], has["svd"], "posts", says["posts_count"],
		has["po"], "locked posts", says["locked_posts_count"], has["locked"], "votes",
		says["votes_cast_count"], has["uv"]))
}

// hub holds the rows of a hub to their counts (C6, C12), one pending request a person (C7), ends
// that stay (C8), and the dates of memberships (C11).
func (x *explorer) hub(partition string, rows []table.Row) (wrong error) {
	var members, said, managers, saidManagers int64
	has, locks := map[string]int64{}, map[string]string{}
	for _, row := range rows {
		kind, rest, _ := strings.Cut(row.Row, "|")
		status := row.Props.Get("status").Str()
		has[kind]++
		switch kind {
		case "hub":
			saidManagers = row.Props.Get("super_admins").Int()
		case "c":
			said += row.Props.Get("member_count").Int()
		case "m":
			wrong = errors.Join(wrong, stays(x.known.dates, row.Key, row.Props.Get("joined_at").Time().String()))
			if !row.Props.Get("IsDeleted").Bool() {
				members++
				if row.Props.Get("role").Str() == hubs.SuperAdmin {
					managers++
				}
			}
		case "dp": // a post has one discussion
			wrong = errors.Join(wrong, stays(x.known.dates, row.Key, row.Props.Get("discussion_id").Str()))
		case "ji", "iv":
			lock := "jp|" + row.Props.Get("user_id").Str()
			if kind == "iv" {
				lock = "ip|" + row.Props.Get("number").Str()
			}
			if kind == "ji" && status == hubs.Pending || status == hubs.Invited {
				if locks[lock] != "" {
					wrong = errors.Join(wrong, fmt.Errorf("%s: two are open: %s", partition, lock))
				}
				locks[lock] = rest
			} else if status != hubs.Pending {
				wrong = errors.Join(wrong, stays(x.known.ends, row.Key, status))
			}
		}
	}
	for _, row := range rows {
		if strings.HasPrefix(row.Row, "jp|") || strings.HasPrefix(row.Row, "ip|") {
			if of := row.Props.Get("request_id").Str() + row.Props.Get("invitation_id").Str(); locks[row.Row] != of {
				wrong = errors.Join(wrong, fmt.Errorf("%s: %s is of %q, which is not open", partition, row.Row, of))
			}
		}
	}
	if members > 0 && managers == 0 {
		wrong = errors.Join(wrong, fmt.Errorf("%s: no super_admin", partition))
	}
	return errors.Join(wrong, equal(partition, "members", said, members, "members by time", members, has["mj"],
		"members by role", members, has["mr"], "super_admins", saidManagers, managers,
		"open", int64(len(locks)), has["jp"]+has["ip"], "requests by status", has["ji"], has["jr"],
		"invitations by status", has["iv"], has["ivd"],
		"discussions by post", has["d"], has["dp"], "discussions in order", has["d"], has["dl"]))
}

// discussion holds the messages of a discussion to their counts. Of one that is being removed, rows
// go one batch after the other.
func (x *explorer) discussion(partition string, rows []table.Row) error {
	in := strings.Split(partition, "|")
	thread, _ := x.db.Get(context.Background(), "Hubs", table.Key{Partition: "h|" + in[1], Row: "d|" + in[2]})
	if _, err := x.db.Get(context.Background(), "Posts",
		table.Key{Partition: "p|" + thread.Props.Get("post_id").Str(), Row: "!post"}); err != nil {
		x.Meet("removed discussion")
		return nil //nolint:nilerr // as documented
	}
	var said, replies, counted, countedReplies, places int64
	for _, row := range rows {
		switch kind, _, _ := strings.Cut(row.Row, "|"); kind {
		case "c":
			counted = row.Props.Get("message_count").Int()
		case "g":
			said++
			countedReplies += row.Props.Get("reply_count").Int()
		case "gr":
			said++
			replies++
		case "gi":
			places++
		}
	}
	return equal(partition, "messages", counted, said, "places", places, said, "replies", countedReplies, replies)
}

// post holds the rows of a post to their counts (C2, C15), its votes to their scopes (C4), and its
// results to those that were there before (C3).
func (x *explorer) post(partition string, rows []table.Row) (wrong error) {
	type sums struct{ receipts, total, counted, waiting, withheld, positions int64 }
	scopes := map[string]*sums{}
	of := func(scope string) *sums {
		if scopes[scope] == nil {
			scopes[scope] = &sums{}
		}
		return scopes[scope]
	}
	says, has := map[string]int64{}, map[string]int64{}
	goes, end := true, ballot.EndOf(rows)
	if end.Counted {
		x.Meet("ended")
	}
	for _, row := range rows {
		kind, rest, _ := strings.Cut(row.Row, "|")
		p := row.Props
		live := !p.Get("IsDeleted").Bool()
		switch {
		case row.Row == "!post":
			goes = p.Get("purging").Bool()
			if goes {
				x.Meet("purged post")
			}
		case kind == "!n":
			for _, column := range []string{"comment_count", "active_repost_count", "share_count"} {
				says[column] += p.Get(column).Int()
			}
		case kind == "v" || kind == "b":
			if kind == "v" {
				wrong = errors.Join(wrong, stays(x.known.dates, row.Key, p.Get("scopes").Str()))
			}
			for scope := range strings.SplitSeq(p.Get("scopes").Str(), ";") {
				if kind == "v" {
					of(scope).receipts++
				} else {
					of(scope).waiting += p.Get("waiting_votes").Int()
				}
			}
		case kind == "!k" || kind == "k":
			scope := ballot.Global
			if kind == "k" {
				scope, _, _ = strings.Cut(rest, "|")
			}
			one := of(scope)
			one.total += p.Get("total_votes").Int()
			one.counted += p.Get("counted_votes").Int()
			one.withheld += p.Get("withheld_votes").Int()
			for _, position := range ballot.Positions() {
				one.positions += p.Get(position).Int()
			}
		case kind == "rp" && (!live || p.Get("locked_in").Str() != ""):
		case live:
			has[kind]++
		}
	}
	if goes {
		return wrong
	}
	for scope, one := range scopes {
		where := partition + " in " + scope
		wrong = errors.Join(wrong, equal(where, "votes and receipts", one.total, one.receipts, "votes", one.total,
			one.counted+one.waiting+one.withheld, "positions", one.counted, one.positions))
		key := table.Key{Partition: partition, Row: scope}
		if !end.At.IsZero() && !end.Ended && one.counted > 0 {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %d votes are counted before the end", where, one.counted))
		}
		if end.Counted && scope == ballot.Global && one.total >= 3 && one.counted != one.total {
			wrong = errors.Join(wrong, fmt.Errorf("%s: of %d votes %d are counted at the end",
				where, one.total, one.counted))
		}
		if more := one.counted - x.known.counted[key]; more < 0 {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %d more votes are counted at once", where, more))
		} else if more > 0 {
			x.Meet("counted")
		}
		x.known.counted[key] = one.counted
	}
	return errors.Join(wrong, equal(partition, "comments", says["comment_count"], has["ci"], "reposts",
		says["active_repost_count"], has["rp"], "shares", says["share_count"], has["se"]))
}

// told holds that a person is told once (C14). A follow that begins anew, after the one before was
// removed for good, is another one.
func told(rows []table.Row) (wrong error) {
	seen := map[string]bool{}
	for _, row := range rows {
		p := row.Props
		what := fmt.Sprint(p.Get("type").Str(), " ", p.Get("actor_id").Str(), " ",
			p.Get("post_id").Str(), " ", p.Get("thing").Str())
		if p.Get("type").Str() == "user_followed" {
			what += p.Get("created_at").Time().String()
		}
		if seen[what] {
			wrong = errors.Join(wrong, fmt.Errorf("%s: told twice of %s", row.Partition, what))
		}
		seen[what] = true
	}
	return wrong
}

// atRest holds the rows to the promises, and the answers to the rights of people, once nothing
// happens any more.
func (x *explorer) atRest(ctx context.Context) (wrong error) {
	for _, one := range x.promised {
		if one.key.Row == "" || x.left[one.by] {
			continue
		}
		post, err := x.db.Get(ctx, "Posts", table.Key{Partition: "p|" + one.post, Row: "!post"})
		if errors.Is(err, table.ErrNotFound) && one.key.Row != "!post" { // it was removed for good, with all around it
			continue
		}
		if x.left[post.Props.Get("author_id").Str()] {
			continue
		}
		row, err := x.db.Get(ctx, one.name, one.key)
		if err != nil && one.key.Row == "!post" { // the same, unless it is one that no one deleted
			continue
		}
		if err != nil || one.live && row.Props.Get("IsDeleted").Bool() {
			wrong = errors.Join(wrong, fmt.Errorf("%s was promised, and is not there", one.key))
		}
	}
	accounts, blocks, follows := map[string]string{}, map[string]bool{}, []string{}
	for _, row := range x.rows("Names", "") {
		if number, ok := strings.CutPrefix(row.Partition, "phone|"); ok {
			accounts[row.Props.Get("user_id").Str()] = number
		}
	}
	for _, row := range x.rows("Users", "") {
		user := strings.TrimPrefix(row.Partition, "u|")
		kind, other, _ := strings.Cut(row.Row, "|")
		live := !row.Props.Get("IsDeleted").Bool()
		switch {
		case kind == "me" && accounts[user] == "" && !row.Props.Get("purging").Bool():
			wrong = errors.Join(wrong, fmt.Errorf("%s: another account has the number", user)) // C18
		case kind == "bl" && live:
			blocks[user+" "+other], blocks[other+" "+user] = true, true
		case kind == "fo" && live:
			follows = append(follows, user+" "+other)
		}
	}
	for _, follow := range follows {
		if blocks[follow] {
			wrong = errors.Join(wrong, fmt.Errorf("%s: a follow beside a block", follow))
		}
	}
	in := map[string]bool{} // hubs and numbers of their members
	for _, row := range x.rows("Hubs", "") {
		if user, is := strings.CutPrefix(row.Row, "m|"); is && present(row.Props) {
			in[row.Partition+" "+accounts[user]] = true
		}
	}
	for _, row := range x.rows("Hubs", "") {
		if number, is := strings.CutPrefix(row.Row, "bn|"); is && in[row.Partition+" "+number] {
			wrong = errors.Join(wrong, fmt.Errorf("%s: a member has a number that is banned", row.Partition))
		}
	}
	for _, row := range x.rows("Sessions", "") { // C17
		if slices.Contains(x.ended, row.Row) {
			wrong = errors.Join(wrong, fmt.Errorf("%s: a session goes on after it was told to have ended", row.Key))
		}
	}
	return errors.Join(wrong, x.hidden(ctx))
}

// hidden holds that locked posts are there for their authors and members of their hubs alone, and
// discussions for members who see their posts (C9).
func (x *explorer) hidden(ctx context.Context) (wrong error) {
	refusals := []fault.Code{
		posts.PostNotFound, discussions.DiscussionNotFound, hubs.NotAMember,
		"SESSION_ENDED", "ACCOUNT_DELETED",
	}
	talks := discussions.New(x.calm)
	for _, row := range x.rows("Hubs", "") {
		id, is := strings.CutPrefix(row.Row, "d|")
		if !is {
			continue
		}
		hub := strings.TrimPrefix(row.Partition, "h|")
		for _, c := range x.claims[:persons] {
			in, err := x.calm.Hubs.In(ctx, c.UserID, []string{hub})
			if err != nil {
				return err
			}
			_, unseen := x.calm.Card(ctx, c, row.Props.Get("post_id").Str())
			if target, err := x.db.Get(ctx, "Posts",
				table.Key{Partition: "p|" + row.Props.Get("post_id").Str(), Row: "!t|" + hub}); err == nil &&
				isOut(target.Props) {
				unseen = errors.New("taken out")
			}
			_, err = talks.Messages(ctx, c, hub, id, "", "", 10)
			if err == nil && (len(in) == 0 || unseen != nil) {
				wrong = errors.Join(wrong, fmt.Errorf("%s reads the discussion %s", c.UserID, id))
			}
			if err != nil && (len(in) > 0 && unseen == nil || !slices.Contains(refusals, fault.CodeOf(err))) {
				wrong = errors.Join(wrong, fmt.Errorf("%s does not read the discussion %s: %w", c.UserID, id, err))
			}
		}
	}
	for _, row := range x.rows("Posts", "") {
		if row.Row != "!post" || row.Props.Get("visibility").Str() != posts.Locked {
			continue
		}
		id, author := strings.TrimPrefix(row.Partition, "p|"), row.Props.Get("author_id").Str()
		for _, c := range x.claims[:persons] {
			in, err := x.calm.Hubs.In(ctx, c.UserID, strings.Split(row.Props.Get("created_in").Str(), ";"))
			if err != nil {
				return err
			}
			_, err = x.calm.Card(ctx, c, id)
			if err == nil && len(in) == 0 && c.UserID != author {
				wrong = errors.Join(wrong, fmt.Errorf("%s sees the locked post %s", c.UserID, id))
			}
			if err != nil && !slices.Contains(refusals, fault.CodeOf(err)) {
				wrong = errors.Join(wrong, err)
			}
		}
	}
	return wrong
}

// nothingLeft holds that nothing is there any more that was due (C16, C19): neither the row of an
// ended thing, nor one around a post that went, nor one that names a person whose account went.
func (x *explorer) nothingLeft() (wrong error) {
	accounts := map[string]bool{}
	all := map[string][]table.Row{}
	for _, name := range duubletest.Tables.All() {
		all[name] = x.rows(name, "")
	}
	for _, row := range all["Users"] {
		if row.Row == "me" {
			accounts[strings.TrimPrefix(row.Partition, "u|")] = true
		}
	}
	var gone []string
	for user := range x.left {
		if !accounts[user] {
			x.Meet("purged account")
			gone = append(gone, user)
		}
	}
	there := map[string]bool{}
	for _, row := range all["Posts"] {
		if row.Row == "!post" {
			there[row.Partition] = true
		}
	}
	for _, name := range duubletest.Tables.All() {
		for _, row := range all[name] {
			of := ""
			switch {
			case name == "Posts":
				of = row.Partition
			case name == "Hubs" && strings.HasPrefix(row.Row, "d|"):
				of = "p|" + row.Props.Get("post_id").Str()
			}
			if of != "" && !there[of] {
				wrong = errors.Join(wrong, fmt.Errorf("%s of %s is there, and its post went", row.Key, name))
			}
			if row.Props.Get("IsDeleted").Bool() {
				wrong = errors.Join(wrong, fmt.Errorf("%s of %s was deleted, and is there", row.Key, name))
			}
			for _, user := range gone {
				if names(row, user) {
					wrong = errors.Join(wrong, fmt.Errorf("%s of %s names %s, whose account went", row.Key, name, user))
				}
			}
		}
	}
	var named, files []string
	for _, row := range all["Names"] {
		if strings.HasPrefix(row.Partition, "as|") {
			path := row.Props.Get("gcs_object_path").Str()
			named = append(named, path, strings.TrimSuffix(path, ".jpg")+"_320.jpg")
			if row.Props.Get("attached_to").Str() == "" {
				wrong = errors.Join(wrong, fmt.Errorf("%s is a picture of nothing", row.Key))
			}
		}
	}
	page, err := x.blobs.List(context.Background(), assets.Container, "", blob.MaxPage, "")
	for _, item := range page.Items {
		files = append(files, item.Name)
	}
	slices.Sort(named)
	if err != nil || !slices.Equal(named, files) {
		wrong = errors.Join(wrong, err, fmt.Errorf("the files are %v, and rows name %v", files, named))
	}
	return wrong
}

// names reports whether a row has an id in its key or its properties.
func names(row table.Row, id string) bool {
	return strings.Contains(row.Partition+" "+row.Row, id) ||
		slices.ContainsFunc(row.Props, func(p table.Prop) bool { return strings.Contains(p.Value.Str(), id) })
}
