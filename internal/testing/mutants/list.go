package main

// A mutant is a fault in the code of promptdb: one text put in place of another that stands there
// once.
type mutant struct {
	name, file, from, to string
}

var mutants = []mutant{
	{
		"no repair message before the commit", "commit/commit.go",
		`	if w.Holding || w.db.Transact != nil ||
		!w`, "	if true || !w",
	},
	{
		"Pending is cleared before the index rows are written", "commit/change.go",
		"	if err := w.db.project(ctx, rec, schema.TheRows|schema.TheLog); err != nil {", "	w.db.clear(ctx, rec)\n	if err := w.db.project(ctx, rec, schema.TheRows|schema.TheLog); err != nil {",
	},
	{
		"stale keys are not recorded", "commit/commit.go",
		"	stale = stale.Without(schema.EntriesOf(now))", "	stale = schema.Entries{}",
	},
	{
		"who takes over forgets the stale keys of the one before", "commit/commit.go",
		"			stale = stale.And(was.Lease.Stale)", "			_ = was.Lease.Stale",
	},
	{
		"across buckets the old row is deleted before the new one is there", "schema/project.go",
		"		last.Batches = append(last.Batches, []table.Op{op})\n",
		"		last.Batches = append([][]table.Op{{op}}, last.Batches...)\n",
	},
	{
		"an ambiguous commit counts as done without a look at the row", "commit/commit.go",
		"	return w.resolve(context.WithoutCancel(ctx), err)", "	if _, err := w.resolve(context.WithoutCancel(ctx), err); err == nil || true {\n		return now, nil\n	}\n	return now, nil",
	},
	{
		"a commit of a stale row is tried again without its ETag", "commit/commit.go",
		"		now.ETag = was.ETag", "		now.ETag = table.Any",
	},
	{
		"nobody respects another's lease", "schema/record.go",
		"return p != nil && now.Before(p.Until)", "return false && p != nil && now.Before(p.Until)",
	},
	{
		"the lease ends before late writes have landed", "commit/commit.go",
		"Lease = SendWithin + rowstore.LandWithin + rowstore.ClockSkew",
		"Lease = (SendWithin + rowstore.LandWithin + rowstore.ClockSkew) * 9 / 10",
	},
	{
		"a vote's repair message comes before a late write has landed", "commit/vote.go",
		"const voteRepairAfter = repairFresh + rowstore.LandWithin", "const voteRepairAfter = 3 * time.Second",
	},
	{
		"a vote's repair message is brought forward although a write may still land", "commit/vote.go",
		"	if batchErr == nil && !p.late {", "	if batchErr == nil {",
	},
	{
		"a vote that gives up takes its repair message back", "commit/vote.go",
		"	if over && p.wrote && !p.late {\n		p.runNow()",
		"	if over && p.wrote {\n		p.db.forget(QueueMoves, p.receipt)",
	},
	{
		"a projection does not look for votes that came meanwhile", "commit/repair.go",
		"	if after != rec.Tally {", "	if false && after != rec.Tally {",
	},
	{
		"a job that waits for a lease is dropped for a copy that comes sooner", "commit/repair.go",
		"until.Sub(now) <= minProjectionInterval && db.requeued.between(", "db.requeued.between(",
	},
	{
		"a commit that nothing can be learned of counts as none", "commit/commit.go",
		"		if !settled(cause) {\n			w.unknown++\n		}\n", "",
	},
	{
		"the voter's index row is written without a condition", "commit/repair.go",
		"	row.ETag = index.ETag\n	return table.Op{Kind: table.Replace, Row: row}, true",
		"	return table.Op{Kind: table.Upsert, Row: row}, true",
	},
	{
		"an index write of unknown outcome counts as done", "commit/project.go",
		"			return fmt.Errorf(\"%s of %s: %w\", ops[0].Kind, name, err)", "			return nil",
	},
	{
		"all at once leaves rows where they were", "commit/atomic.go",
		"	for _, r := range drop {", "	for _, r := range drop[:0] {",
	},
	{
		"first pages are kept after a change of all at once", "commit/atomic.go",
		"	defer w.db.OnProjected(now.Prompt)\n", "",
	},
	{
		"who finds a change of all at once done leaves first pages of before", "commit/change.go",
		"			db.OnProjected(rec.Prompt)\n", "",
	},
	{
		"a transaction ends with its caller", "commit/atomic.go",
		"context.WithTimeout(context.WithoutCancel(ctx), AtomicWithin)", "context.WithTimeout(ctx, AtomicWithin)",
	},
	{
		"a job does not know that its transaction may land", "commit/atomic.go",
		"			w.unknown++\n", "",
	},
	{
		"an instance does not know of the month of what it changed all at once", "query/pagecache.go",
		"		db.partitions.listed(monthOf(p.ID.Time()))\n", "",
	},
	{
		"a job that fails forgets the voter's own row that may land", "commit/repair.go",
		"	if unclear != nil || err", "	if err == nil && unclear != nil || err",
	},
	{
		"the voter's own row is not in the transaction of a vote", "commit/atomic.go",
		"		t.Put = []transact.Row{{Table: p.db.T.VotesByVoter, Row: row}}\n", "",
	},
	{
		"no job follows a vote of all at once", "commit/atomic.go",
		"	if p.author != \"\" {", "	if false {",
	},
	{
		"no job follows a label that lists tell of, where all is changed at once", "commit/labels.go",
		", Ops: ops, Messages: w.follows()})", ", Ops: ops})",
	},
	{
		"all at once takes the name of another", "commit/atomic.go",
		"		return schema.Record{}, failed\n	case failed != nil:\n		return schema.Record{}, rowstore.ErrConflict", "		return schema.Record{}, rowstore.ErrConflict\n	case failed != nil:\n		return schema.Record{}, rowstore.ErrConflict",
	},
	{
		"the embedded store applies what it refused", "../../storage/embedded/write.go",
		"		if failed != nil {\n			return &table.OpError{Index: i, Key: step.key, Err: failed}\n		}\n", "		if failed != nil && i == 0 {\n			return &table.OpError{Index: i, Key: step.key, Err: failed}\n		}\n",
	},
	{
		"the embedded store loses messages of a transaction", "../../storage/embedded/write.go",
		"		if _, err := s.put(tx, m.Queue, m.Text, m.Delay); err != nil {\n",
		"		if _, err := messagesOf(tx, m.Queue); err != nil {\n",
	},
	{
		"a row to drop must be there", "../../storage/embedded/write.go",
		"		drop.lenient = true\n", "",
	},
	{
		"a row may be in a transaction twice", "../../storage/transact/transact.go",
		"	if seen[k] {", "	if false {",
	},
	{
		"a row with fewer digits lies on the wrong side of those with more", "../../storage/embedded/keys.go",
		"followedAbove-byte(n)), rest...)\n	case below", "byte(n)), rest...)\n	case below",
	},
	{
		"what is no ULID lies behind all ULIDs of its time", "../../storage/embedded/keys.go",
		"		class = followedAbove - class\n		least",
		"		class = followedAbove - class\n		n = 0\n		least",
	},
	{
		"a damaged key counts as that of a row that lies elsewhere", "../../storage/embedded/keys.go",
		"bytes.Equal(appendPacked(nil, string(b[start:])), stored)", "true",
	},
	{
		"a text that the key has is that of another part of it", "../../storage/embedded/codec.go",
		"		return len(props) + i\n", "		return len(props) + 1 - i\n",
	},
	{
		"the number of a text that is gone is given out again", "../../storage/embedded/shared.go",
		"		all[at.number()] = entry{damaged: true, newly: true}\n", "",
	},
	{
		"a text passes for another one that had its number", "../../storage/embedded/shared.go",
		"	return alias(text), ok && refTo(at.number(), text) == at\n", "	return alias(text), ok\n",
	},
	{
		"a row that goes still counts for its texts", "../../storage/embedded/write.go",
		"		step.freed = names.referred(step.key, old)\n", "",
	},
	{
		"a text goes with the first row of those that share it", "../../storage/embedded/shared.go",
		"at.number()].rows--", "at.number()].rows = 0",
	},
	{
		"a text gets a number that another one has", "../../storage/embedded/shared.go",
		"return e.rows == 0 && !e.damaged", "return !e.damaged",
	},
	{
		"a text that finds no number is left out", "../../storage/embedded/shared.go",
		"appendText(nil, p.text)...)", "0)",
	},
	{
		"a text that is there again leads to one that is not looked up", "../../storage/embedded/codec.go",
		"p.Value == v && !d.shares(owner, p)", "p.Value == v",
	},
	{
		"who takes over writes the row of the log where it was to be before", "commit/commit.go",
		"	if which&schema.TheLog != 0 {\n",
		"	if which&schema.TheLog != 0 && (was == nil || was.Lease == nil) {\n",
	},
	{
		"stamps of attempts that failed pile up", "commit/change.go",
		"		there[i] = row != nil\n", "		there[i] = row != nil || err == nil\n",
	},
	{
		"the index in memory is told of a commit that was refused", "commit/atomic.go",
		"	defer w.db.OnProjected(now.Prompt)\n",
		"	defer w.db.OnProjected(now.Prompt)\n	w.db.OnCommitted(now)\n",
	},
	{
		"a prompt that leaves a scope leaves no row there", "schema/log.go",
		"	r.Logs |= r.now()", "	r.Logs = r.now()",
	},
	{
		"erasure takes the row that says that a prompt is gone", "erase/purge.go",
		"db.Now().Sub(rec.LoggedAt) < schema.GoneFor {", "false {",
	},
	{
		"rows of the log that come late are not looked for", "scopes/follow.go",
		"		if look && late.Before(seenAt) {", "		if false && look && late.Before(seenAt) {",
	},
	{
		"a hit is shown to whoever asks", "query/search.go",
		" || !rec.Listed() && (!w.shows(rec.AuthorID) || rec.Deleted())", "",
	},
	{
		"a search is told of words before its prompts are looked at", "query/search.go",
		"			if j.view != nil {\n				shown = append(shown, j)\n			}", "			if j.view == nil {\n				j.view = new(truth.View)\n			}\n			shown = append(shown, j)",
	},
	{
		"a commit does not tell the index of its own instance", "scopes/doc.go",
		"		c.tell(rec)\n", "		_ = c\n",
	},
	{
		"a search shows what a prompt lost since the index heard of it", "query/search.go",
		"!= hit.Revision && !stillHas(rec, w, words, hit) {",
		"!= hit.Revision && !stillHas(rec, w, words, hit) && false {",
	},
	{
		"a job that a failed read ends forgets a write that may land", "commit/repair.go",
		"unclear != nil || err != nil && w.unknown > 0 {", "unclear != nil {",
	},
	{
		"a snapshot stays when a user is erased", "scopes/snapshot.go",
		"	if err := s.RemoveKey(ctx, s.T.SystemState, headKey); err != nil {\n		return err\n	}\n	return s.removeParts(ctx, \"\")\n}", "	return nil\n}",
	},
	{
		"the job of the snapshot waits no longer than a search", "scopes/snapshot.go",
		"s.loaded(ctx, schema.Public, rowstore.JobEnds)", "s.loaded(ctx, schema.Public, waitWithin)",
	},
	{
		"a snapshot is made of what searches know, be it a moment old", "scopes/follow.go",
		"	err = c.follow(ctx)\n", "	err = c.upToDate(ctx)\n",
	},
	{
		"a job succeeds although Pending was not cleared", "commit/repair.go",
		"	if !db.clear(ctx, rec) {", "	if !db.clear(ctx, rec) && false {",
	},
	{
		"deleting answers although public rows are left", "commit/change.go",
		"		if mustBeGone {", "		if mustBeGone && false {",
	},
	{
		"the tally is not in the batch of the vote", "commit/vote.go",
		"	return []table.Op{schema.Overwrite(vote, b.Vote), schema.Overwrite(share, b.Share)}", "	_ = p.db.Write(context.Background(), p.db.T.Votes, []table.Op{{Kind: table.Upsert, Row: share}})\n	return []table.Op{schema.Overwrite(vote, b.Vote)}",
	},
	{
		"purge removes the row that leads to the prompt first", "erase/purge.go",
		"	if done, err := db.verify.PurgeVotes(ctx, id, until); err != nil || !done {", "	if err := db.RemoveKey(ctx, db.T.DeletedIndex, index.Key); err != nil {\n		return false, err\n	}\n	if done, err := db.verify.PurgeVotes(ctx, id, until); err != nil || !done {",
	},
	{
		"a share of the tally that is voted in meanwhile is judged", "verify/votes.go",
		"s.Says != s.Votes && s.ETag == now[n]", "s.Says != s.Votes",
	},
	{
		"the same key makes a second prompt", "commit/change.go",
		"rec.Idem, ops = idem.Key, append(ops, op)", "rec.Idem, ops = idem.Key, append(ops, table.Op{Kind: table.Upsert, Row: table.Row{Key: op.Row.Key, Props: op.Row.Props}})",
	},
	{
		"a lease of half a minute", "commit/commit.go",
		"Lease = SendWithin + rowstore.LandWithin + rowstore.ClockSkew", "Lease = 30 * time.Second",
	},
	{
		"a repair message counts as fresh for long", "commit/commit.go",
		"w.db.Now().Sub(w.repairSentAt) < w.db.Protocol.Fresh",
		"w.db.Now().Sub(w.repairSentAt) < 100*w.db.Protocol.Fresh",
	},
	{
		"a vote's repair message counts as fresh for long", "commit/vote.go",
		"p.db.Now().Sub(p.repairSentAt) < p.db.Protocol.Fresh",
		"p.db.Now().Sub(p.repairSentAt) < 100*p.db.Protocol.Fresh",
	},
	{
		"first pages are dropped before the writes", "commit/project.go",
		"	defer db.OnProjected(rec.Prompt)", "	db.OnProjected(rec.Prompt)",
	},
	{
		"moderators read the titles of private prompts", "schema/indexes.go",
		"one(p.Hidden() && !p.Deleted() && p.Visibility == prompt.Public)", "one(p.Hidden() && !p.Deleted())",
	},
	{
		"a row without a prompt is removed whatever it is by then", "verify/reindex.go",
		"Row: table.Row{Key: d.Key, ETag: d.stray.ETag}}})", "Row: table.Row{Key: d.Key, ETag: table.Any}}})",
	},
	{
		"a backup forgets that a prompt is hidden", "backup/backup.go",
		"		HiddenAt: rec.HiddenAt, HiddenBy: rec.HiddenBy, HiddenReason: rec.HiddenReason,",
		"		HiddenReason: rec.HiddenReason,",
	},
	{
		"rows of a newer version are written over", "truth/read.go",
		"	if err != nil || rec == nil || rec.RowsVersion <= schema.RowsVersion {", "	if true {",
	},
	{
		"a writer knows its last attempt only", "commit/commit.go",
		"slices.Contains(w.attempts, rec.Lease.Attempt)",
		"slices.Contains(w.attempts[len(w.attempts)-1:], rec.Lease.Attempt)",
	},
	{
		"anti-entropy does nothing", "verify/sweep.go",
		"	until := db.Now().Add(sweepFor)\n", "	until := db.Now()\n",
	},
	{
		"any 503 of Azure counts as refused", "../../storage/azure/errors.go",
		"f.status == http.StatusServiceUnavailable && f.code == \"ServerBusy\"",
		"f.status == http.StatusServiceUnavailable",
	},
	{
		"the embedded store does not wait for the disk", "../../storage/embedded/store.go",
		"			Timeout:      lockTimeout,\n",
		"			Timeout:      lockTimeout,\n			NoSync:       true,\n",
	},
	{
		"any older revision counts as a replay", "../library/service.go",
		"slices.Contains(m.Revisions, revision-1)",
		"slices.ContainsFunc(m.Revisions, func(r int64) bool { return r < revision })",
	},
	{
		"a backup that lost lines passes for a whole one", "backup/restore.go",
		"if *l.Rows != re.rows {", "if false {",
	},
	{
		"the number of a deleted version is given again", "commit/labels.go",
		"		now.Revision++\n	}\n	was := now",
		"		now.Revision++\n		now.Last = left\n	}\n	was := now",
	},
	{
		"the labels row is written without its ETag", "schema/labels.go",
		"	return table.Op{Kind: table.Replace, Row: c.Row(author, id)}", "	row := c.Row(author, id)\n	row.ETag = table.Any\n	return table.Op{Kind: table.Replace, Row: row}",
	},
	{
		"nothing follows a label that lists tell programs of", "commit/labels.go",
		"look = w.Load // with the repair message", "_ = w.Load",
	},
	{
		"a name is free while a living prompt has it", "commit/names.go",
		`schema.IsRedirect(*row) ||
		row.Props.Get("IsDeleted").Bool()`, `true`,
	},
	{
		"others see versions from before a prompt was public", "truth/labels.go",
		"viewer == p.AuthorID || n >= p.From\n}", "viewer == p.AuthorID || n > 0\n}",
	},
	{
		"others see moves of labels between versions from before a prompt was public", "query/versions.go",
		"	for _, n := range []*int64{&m.From, &m.To} {", "	for _, n := range []*int64{} {",
	},
	{
		"the rows beside a truth row go into a batch of their own", "commit/commit.go",
		"	etags, err := w.db.DB.Write(ctx, w.db.T.Prompts, batch...)",
		"	if len(ops) > 0 {\n		if _, err := w.db.DB.Write(ctx, w.db.T.Prompts, ops...); err != nil {\n			return w.resolve(context.WithoutCancel(ctx), err)\n		}\n		batch = batch[:2]\n	}\n	etags, err := w.db.DB.Write(ctx, w.db.T.Prompts, batch...)",
	},
	{
		"a longer text is cut where one property is full", "schema/text.go",
		"		if text = text[len(part):]; text == \"\" {", "		if text = text[len(part):]; true {",
	},
	{
		"a deleted prompt that comes back takes its name from the one that has it", "commit/names.go",
		"	if restored { // others may have taken what it was called", "	if restored && false {",
	},
	{
		"what a version includes does not know of it", "commit/names.go",
		"			ops = append(ops, table.Op{Kind: table.Upsert, Row: row}) // the number is taken by the other\n",
		"			_ = row\n",
	},
	{
		"a prompt that others include is deleted", "truth/uses.go",
		"	if err != nil || len(uses) == 0 {", "	if true {",
	},
	{
		"a label by which others include a prompt is removed", "commit/labels.go",
		"if to == 0 && slices.ContainsFunc(list, has) {", "if false {",
	},
	{
		"what is included is read with the rights of its owner", "query/resolve.go",
		"db.included(ctx, viewer, p.owner, p.Include)", "db.included(ctx, p.owner, p.owner, p.Include)",
	},
	{
		"prompts include others without end", "query/resolve.go",
		"	if depth > prompt.IncludeDepth {", "	if depth > 100 {",
	},
	{
		"a merge takes one of two changes of a line", "../prompt/merge.go",
		"		if x != y && (x.Start == y.Start || x.Start < y.End && y.Start < x.End) {", "		if false {",
	},
	{
		"two moves of a label in one tick have one key", "commit/labels.go",
		"	if next := c.MovedAt.Add(schema.Tick); at.Before(next) {",
		"	if next := c.MovedAt.Add(schema.Tick); false && at.Before(next) {",
	},
	{
		"a fork includes by names that are another's", "../library/forks.go",
		"	if v.AuthorID == owner || len(c.Includes()) == 0 {", "	if true {",
	},
	{
		"a fork forgets what was merged into it", "../library/forks.go",
		"		p.ForkedFrom.Version = u.Now.Version\n", "",
	},
	{
		"an access token is compared without its end", "../library/tokens.go",
		"	if !s.now().Before(t.ExpiresAt) {", "	if false {",
	},
	{
		"an access token is believed with any secret", "../library/tokens.go",
		"subtle.ConstantTimeCompare(t.Secret[:], secret[:]) == 1",
		"subtle.ConstantTimeCompare(t.Secret[:], secret[:]) <= 1",
	},
	{
		"an access token of development mode counts everywhere", "../library/tokens.go",
		" || t.Claimed != claimed {", " {",
	},
	{
		"an access token publishes without the scope", "../library/tokens.go",
		"	if !seen {\n		return nil\n	}\n	return Needs(who, auth.ScopePublish)", "	return nil",
	},
	{
		"an access token carries the scopes and the roles of its owner", "../library/tokens.go",
		", Grant: &auth.Grant{TokenID: t.ID, Scopes: t.Scopes}}, nil",
		", Grant: &auth.Grant{TokenID: t.ID, Scopes: auth.Scopes()}}, nil",
	},
	{
		"a member is there before a row leads to the workspace", "accounts/workspaces.go",
		"	if err := db.writeMembership(ctx, user, next, id); err != nil {\n		return nil, err\n	}\n	isNew := false\n", "	defer db.writeMembership(ctx, user, next, id)\n	isNew := false\n",
	},
	{
		"a member is changed whatever the workspace is now", "accounts/workspaces.go",
		"		row.ETag = m.etag", "		row.ETag = table.Any",
	},
	{
		"what was read of members is believed for ever", "accounts/workspaces.go",
		"db.Now().Sub(m.at) < membersFor", "m.Members != nil",
	},
	{
		"the handle of a workspace is not reserved", "accounts/workspaces.go",
		"	err := db.writeUserRow(ctx, w.ID, schema.HandleKey(w.Handle))", "	var err error",
	},
	{
		"everybody is in every group of the directory", "../library/workspaces.go",
		"		return who.Groups.Has(m.Name)", "		return true",
	},
	{
		"events are removed before they are too old", "verify/check.go",
		"db.Now().Sub(e.At) < db.EventsFor", "db.Now().Sub(e.At) < db.EventsFor/2",
	},
	{
		"members keep their rights in a deleted workspace", "../library/workspaces.go",
		"	if m == nil || m.Deleted() || !who.Known() {", "	if m == nil || !who.Known() {",
	},
	{
		"an access token of a member has all rights of the member", "../library/workspaces.go",
		"	if who.Grant == nil || role == \"\" {\n		return role\n	}",
		"	if true {\n		return role\n	}",
	},
	{
		"a role writes whatever it is", "../library/workspaces.go",
		"	return all[:1+slices.Index(prompt.Roles(), r)]", "	return all",
	},
	{
		"a handle tells of a workspace without public prompts", "../library/users.go",
		"err == nil && !known {", "err == nil && !known && false {",
	},
	{
		"a workspace that was restored is erased", "erase/erase.go",
		"		if w != nil && !w.Deleted() {", "		if w != nil && !w.Deleted() && false {",
	},
	{
		"an access token lets somebody in before its owner sees it", "accounts/tokens.go",
		`{Key: schema.OwnAccessKey(t.OwnerID, t.ID), Props: schema.OwnTokenProps(t)},
		{Key: schema.AccessKey(t.ID), Props: schema.SecretProps(t)},
	}`, "{Key: schema.AccessKey(t.ID), Props: schema.SecretProps(t)}, {Key: schema.OwnAccessKey(t.OwnerID, t.ID), Props: schema.OwnTokenProps(t)}}",
	},
	{
		"a revoked access token leaves the list before it is refused", "accounts/tokens.go",
		"[]table.Key{schema.AccessKey(id), schema.OwnAccessKey(owner, id)}",
		"[]table.Key{schema.OwnAccessKey(owner, id), schema.AccessKey(id)}",
	},
	{
		"an access token is kept from after it was read", "accounts/tokens.go",
		"		db.tokens.read.Add(id, readToken{t, at})",
		"		_ = at\n		db.tokens.read.Add(id, readToken{t, db.Now()})",
	},
	{
		"a handle leads to whoever asks for it", "accounts/users.go",
		"		case row != nil && schema.UserIn(row.Props, \"UserId\") != user:\n			return rowstore.ErrConflict\n", "",
	},
	{
		"the prompts of an author are listed to others, private ones too", "query/mine.go",
		"	if f.listed && !p.Listed() {", "	if false {",
	},
	{
		"anti-entropy forgets its place inside a prompt", "verify/sweep.go",
		"p.votes != nil && text != \"\" &&", "p.votes != nil && text == \"never\" &&",
	},
	{
		"index rows are compared while they are written", "verify/check.go",
		"rec.Lease.Held(db.Now()) || rec.Purging && name", "rec.Purging && name",
	},
	{
		"the lock of a message is renewed when it ends", "../../host/function/queuetrigger/delivery.go",
		"time.NewTicker(d.Settings.Lock / 2)", "time.NewTicker(d.Settings.Lock)",
	},
	{
		"a vote whose index row may still land counts as settled", "commit/vote.go",
		"p.late || !settled(batchErr) || !settled(indexErr)",
		"p.late || !settled(batchErr) || indexErr == nil && false",
	},
	{
		"a vote that is changed takes off what it would weigh now", "commit/vote.go",
		"	t = t.Add(b.Cast(), now)\n", "	t = t.Add(prompt.Cast{Vote: b.Value(), At: now.At}, now)\n",
	},
	{
		"anti-entropy weighs votes alike, whenever they were cast", "verify/votes.go",
		"share.Votes.Add(prompt.Cast{}, schema.CastOf(row))",
		"share.Votes.Add(prompt.Cast{}, prompt.Cast{Vote: schema.CastOf(row).Vote})",
	},
	{
		"votes that count as many and weigh otherwise move nothing", "commit/repair.go",
		"rec.Lease == nil && tally == rec.Tally &&", "rec.Lease == nil && tally.Unweighed() == rec.Unweighed() &&",
	},
	{
		"an erased vote stays in the tally", "commit/vote.go",
		"	if b.Share != nil {\n		ops = append(ops, schema.Overwrite(",
		"	if false {\n		ops = append(ops, schema.Overwrite(",
	},
	{
		"votes and favorites see what an admin hid", "schema/vote.go",
		"viewer == l.Author || l.public && !l.hidden)", "viewer == l.Author || l.public)",
	},
	{
		"the favorite of a new prompt of one's own counts as stray", "verify/accounts.go",
		"	if !ok || db.Now().Sub(row.Props.Get(\"AddedAt\").Time()) < schema.VoteSettled {", "	if !ok {",
	},
	{
		"prompts of several months come as their partitions lie", "query/newest.go",
		"			slices.SortFunc(part.Rows, func(a, b table.Row) int { return cmp.Compare(a.Row, b.Row) })\n",
		"			_ = cmp.Compare[string]\n",
	},
	{
		"an earlier month that this instance listed is looked for a minute later", "query/newest.go",
		"	if month < m.first {\n		m.first = month\n	}\n", "",
	},
	{
		"a restored tally stands in another share", "backup/restore.go",
		"	n := schema.Shard(v.Voter)\n", "	n := schema.Shard(v.Voter) ^ 1\n",
	},
	{
		"the oldest of many old names is taken from the prompt that has it now", "commit/names.go",
		"if row != nil && schema.IsRedirect(*row) && prompt.ID(row.Props.Get(\"PromptId\").Str()) == w.id {",
		"if row != nil {",
	},
	{
		"a revoked access token is believed for ever", "accounts/tokens.go",
		"return t.Token, ok && now.Sub(t.at) < tokenFor", "return t.Token, ok",
	},
	{
		"a search reads on behind what it wants", "../../storage/rowstore/walk.go",
		"found[followed].Limit, found[followed].Range.MaxMatches = size, enough", "found[followed].Limit = size",
	},
	{
		"texts are counted only where a transaction has one change", "../../storage/embedded/commit.go",
		"s.shared.flush(); err", "func() error {\n		if len(group) == 1 {\n			return s.shared.flush()\n		}\n		return nil\n	}(); err",
	},
	{
		"a text that a damaged count gives no row passes for good", "../../storage/embedded/shared.go",
		"n <= 0 || rows == 0 ||", "n <= 0 ||",
	},
	{
		"what follows half a ULID lies among those of its time", "../../storage/embedded/keys.go",
		"text[i] = 'Z'", "text[i] = '0'",
	},
	{
		"giving up on a write reads as if nothing was done", "../../storage/embedded/commit.go",
		"fmt.Errorf(\"the write may have landed: %w\", ctx.Err())", "ctx.Err()",
	},
	{
		"the error of a commit is lost", "../../storage/embedded/commit.go",
		"	if err := tx.Commit(); err != nil {\n		return fmt.Errorf(\"commit: %w\", err)\n	}\n",
		"	_ = tx.Commit()\n",
	},
	{
		"a change whose transaction failed is acknowledged", "../../storage/embedded/commit.go",
		"			c.done <- err\n", "			c.done <- nil\n",
	},
	{
		"names of a transaction that failed are taken for known", "../../storage/embedded/names.go",
		"tx.OnCommit(func() { s.names.Store(learnt) })", "s.names.Store(learnt)",
	},
	{
		"compact does not sync the new file before it takes the place of the old one",
		"../../storage/embedded/compact.go",
		"return c.to.Sync()", "return nil",
	},
	{
		"a folder is not synced", "../../storage/embedded/store.go",
		"	return errors.Join(d.Sync(), d.Close())", "	return d.Close()",
	},
	{
		"what a killed compact has left stays", "../../storage/embedded/store.go",
		"if err := removeLeft(path); err != nil", "if false",
	},
	{
		"a dictionary of names with a gap is read", "../../storage/embedded/names.go",
		"if len(k) != 2 || int(binary.BigEndian.Uint16(k)) != len(d.names)+1 {", "if len(k) != 2 {",
	},
	{
		"a message comes once more after its last try", "../../host/function/queuetrigger/delivery.go",
		"d.Dequeued == d.Settings.MaxDequeue:", "d.Dequeued > d.Settings.MaxDequeue:",
	},
	{
		"a row that is loaded in place of another counts for its texts too", "../../storage/embedded/load.go",
		"if refs != nil || to.filled {", "if refs != nil {",
	},
	{
		"one backup is the last of a process", "../../host/command/backup.go",
		"return sync.OnceFunc(func() { <-b.one }), true", "return sync.OnceFunc(func() {}), true",
	},
	{
		"a kill leaves the file of a backup", "../../host/command/backup.go",
		"	if err := os.Remove(file.Name()); err != nil {\n",
		"	if err := os.Chmod(file.Name(), 0o600); err != nil {\n",
	},
	{
		"a poison message is deleted before its copy is sent", "../../host/function/queuetrigger/delivery.go",
		"	if _, err := d.Queues.Send(ctx, name, d.Text, 0); err != nil {\n		return fmt.Errorf(\"send to %s: %w\", name, err)\n	}\n	return d.remove(ctx)", "	if err := d.remove(ctx); err != nil {\n		return err\n	}\n	_, err := d.Queues.Send(ctx, name, d.Text, 0)\n	return err",
	},
	{
		"a month that is listed during a search for the first one is forgotten", "query/newest.go",
		"found = min(found, m.first)", "_ = m.first",
	},
	{
		"a change of labels goes on although it has read that the prompt is deleted", "commit/labels.go",
		"case rec == nil || rec.Purging || rec.Deleted():\n			return nil, false",
		"case rec == nil || rec.Purging:\n			return nil, false",
	},
	{
		"a label is moved on a prompt that is deleted meanwhile", "commit/labels.go",
		"		if w.Labels.Deleted {\n			return nil, false, prompt.ErrUnknown()\n		}\n", "",
	},
	{
		"a table that anti-entropy could not repair counts as walked", "verify/sweep.go",
		"			if len(failed) == 0 { // else the next run begins again\n				s.full = s.db.Now()\n			}", "			s.full = s.db.Now()",
	},
	{
		"a clock that is set back ends anti-entropy", "verify/sweep.go",
		"s.next != \"\" || rested < 0 ||", "s.next != \"\" ||",
	},
	{
		"a profile is written without its ETag", "accounts/users.go",
		"table.Replace, row.ETag, schema", "table.Replace, table.Any, schema",
	},
	{
		"the instance that revokes an access token believes it", "accounts/tokens.go",
		"	db.tokens.read.Remove(id)\n	return there", "	return there",
	},
	{
		"a kept file that costs much is read at each export", "../transfer/file.go",
		"!format.Kept(&p.made.Source)", "false",
	},
	{
		"a restore ends before its late writes have landed", "../../storage/backup/read.go",
		"		time.Sleep(time.Until(l.late.Add(rowstore.LandWithin)))",
		"		time.Sleep(time.Until(l.late.Add(rowstore.CallWithin)))",
	},
	{
		"a batch of a restore that got no answer is not sent again", "../../storage/backup/read.go",
		"	maxSends  = 5", "	maxSends  = 1",
	},
	{
		"a partition of a backup is read although it follows once more", "../../storage/backup/read.go",
		"return w.n < w.found.void[w.in]", "return w.n < 0",
	},
	{
		"a file of a backup need not belong to a row", "../../storage/backup/read.go",
		"if came, named := w.named[b]; !named || came {", "if came, named := w.named[b]; named && came {",
	},
	{
		"rows of a backup may name files that it does not have", "../../storage/backup/read.go",
		"		if !came {", "		if false && !came {",
	},
	{
		"what the last line of a backup counts is not compared", "../../storage/backup/read.go",
		"		if *l.End != w.found.Count {", "		if l.End.Rows < 0 {",
	},
	{
		"a part of a backup is taken as it is", "../../storage/backup/sealed.go",
		"SHA256: hex.EncodeToString(part.Sum(nil))}) {\n			return",
		"SHA256: string(line[len(line)-67 : len(line)-3])}) {\n			return",
	},
	{
		"files of another store are taken for those of a new one", "../../storage/belong/belong.go",
		"own == \"\" && files && !old:", "false:",
	},
	{
		"files that are not there are no reason to refuse a start", "../../storage/belong/belong.go",
		"case own != \"\" && (files || slices.Contains(known, c)):", "case own != \"\" && files:",
	},
	{
		"the store has its id before its containers have", "../../storage/belong/belong.go",
		"	for _, c := range containers {\n		err := s.Blobs.Put",
		"	for _, c := range containers[:min(1, len(containers))] {\n		err := s.Blobs.Put",
	},
	{
		"a file has as many entries as it likes", "../transfer/entries.go",
		"		if len(all) == format.MaxRows {\n			return nil, errTooMany\n		}\n		s := spot",
		"		s := spot",
	},
	{
		"a title has a row for each of its tokens", "../prompt/term.go",
		"	left := MaxTokens\n", "	left := 100 * MaxTokens\n",
	},
	{
		"an approval of another digest is kept", "commit/proposals.go",
		"r.Version != now.Version || r.Digest != now.Digest", "r.Version != now.Version",
	},
	{
		"a proposal does not know its authors, so their approvals count", "commit/proposals.go",
		"p.Authors, p.Unsure, err =", "_, p.Unsure, err =",
	},
	{
		"a stale proposal is merged", "commit/proposals.go",
		"if l.IsStale(*now) {", "if false {",
	},
	{
		"the event of a proposal is written before its change", "commit/proposals.go",
		"	return w.eventOps(e, of, by)\n", "	if ops := w.eventOps(e, of, by); len(ops) > 0 {\n		_ = w.db.Write(context.Background(), w.db.T.Prompts, ops)\n	}\n	return nil\n",
	},
	{
		"former names of a prompt lead past a rule", "commit/rules.go",
		"		rule := rules.ForPrompt(label, p)\n", "		rule := rules.ForNames(label, []string{p.Name})\n",
	},
	{
		"a label goes back to a version that it was never on", "commit/rules.go",
		" && p.Get(\"To\").Int() == n", "",
	},
	{
		"an invitation takes no use", "accounts/invites.go",
		"return i.Take(key, db.Now())", "return i, nil",
	},
	{
		"two people take the last use of an invitation", "accounts/invites.go",
		"row.ETag = etag\n", "row.ETag = etag[:0] + table.Any\n",
	},
	{
		"a maker invites who stops being an administrator meanwhile", "accounts/invites.go",
		`		if !m.mayOffer(o) {
				return nil, prompt.Event{}`,
		"		if false {\n			return nil, prompt.Event{}",
	},
	{
		"an invitation has no end", "../prompt/invite.go",
		"case !now.Before(i.ExpiresAt):", "case false:",
	},
	{
		"a new password leaves sessions open", "../library/signin.go",
		"a.PasswordHash, a.SessionsAfter = hash, after", "a.PasswordHash = hash",
	},
	{
		"a new password by a link leaves access tokens", "../library/signin.go",
		"			_, err = s.db.RemoveToken(ctx, user, t.ID, \"\")\n", "			_ = t\n",
	},
	{
		"a sign-in of a command line outlives a new password", "../library/logins.go",
		"l.ExpiresAt.Add(-loginFor).Before(after)", "false && l.ExpiresAt.Add(-loginFor).Before(after)",
	},
	{
		"a session is believed for an hour after its end", "../library/signin.go",
		"sessionRead    = 8 * time.Second", "sessionRead    = time.Hour",
	},
	{
		"a commit does not wait for the bytes of its files", "commit/names.go",
		"	return append(ops, w.nameOps(was, *now, c)...), w.sendFiles(ctx)", "	w.db.Background(func() { _ = w.sendFiles(context.WithoutCancel(ctx)) })\n	return append(ops, w.nameOps(was, *now, c)...), nil",
	},
	{
		"bytes that are sent again are as old as their prompt", "commit/files.go",
		"all[f.SHA256], w.db.Now())...)", "all[f.SHA256], p.CreatedAt)...)",
	},
	{
		"bytes may be named that the latest version does not have", "commit/files.go",
		"		k, ok := known[f.SHA256]\n		if !ok {",
		"		k, ok := known[f.SHA256]\n		if k = f; false && !ok {",
	},
	{
		"a sweep removes the bytes of a file whatever they are by then", "verify/files.go",
		"db.RemoveRow(ctx, db.T.Files, row)", "db.RemoveKey(ctx, db.T.Files, row.Key)",
	},
	{
		"a sweep reads the bytes of a file after the versions", "verify/files.go",
		"		if err := db.RemoveRow(ctx, db.T.Files, row)", "		if now, err := db.GetRow(ctx, db.T.Files, row.Key); err == nil && now != nil {\n			row = *now\n		}\n		if err := db.RemoveRow(ctx, db.T.Files, row)",
	},
	{
		"a sweep that is overtaken removes the rows that lead to a count", "verify/files.go",
		"!counted[id] {", "false && !counted[id] {",
	},
	{
		"bytes that were sent again count twice for ever", "verify/files.go",
		"	for _, row := range rows {\n		if id, ok := schema.ParseFilesPartition(row.Partition); ok {",
		"	for _, row := range left {\n		if id, ok := schema.ParseFilesPartition(row.Partition); ok {",
	},
	{
		"a purge leaves the bytes of files", "erase/purge.go",
		"		if err := db.Empty(ctx, db.T.Files, schema.FilesPartition(id), \"\"); err != nil {",
		"		if err := db.Empty(ctx, db.T.Files, schema.FilesPartition(id)+\"x\", \"\"); err != nil {",
	},
	{
		"an empty list of files leaves those that there are", "../library/files.go",
		"d.FileBytes = prompt.Files{}, make", "d.FileBytes = nil, make",
	},
	{
		"a fork takes the name that its SKILL.md had", "../library/service.go",
		"	if origin.ID != \"\" {\n\t\td.Name = name", "	if false {\n\t\td.Name = name",
	},
	{
		"a recall leaves labels on the version", "commit/recall.go",
		"		labels := c.On(n)\n", "		labels := c.On(n)[:0]\n",
	},
	{
		"a recall is not in the row of its version", "commit/recall.go",
		"		return c, append(ops, w.recallOp(n, schema.RecallProps(&recall))), nil", "		return c, ops, nil",
	},
	{
		"a recall is not in the labels row", "commit/recall.go",
		"		if c.Recalled = c.Recalled.And(n); len(c.Recalled.String())",
		"		if d := c.Recalled.And(n); len(d.String())",
	},
	{
		"a label goes back to a version that was recalled", "commit/recall.go",
		"				if c.Serves(p, m.From) {", "				if m.From > 0 {",
	},
	{
		"a label goes back to where a move that was undone put it", "commit/recall.go",
		" && m.Undone.At.IsZero() {", " {",
	},
	{
		"a recall that left no version for programs gives them the latest", "commit/recall.go",
		"		c = c.WithoutProduction()\n", "",
	},
	{
		"a version is deleted, and programs get a recalled one", "commit/recall.go",
		"	if err != nil || !recalled[prompt.Production] {",
		"	if err != nil || !recalled[prompt.Production] || true {",
	},
	{
		"a label is put on a version that was recalled", "commit/rules.go",
		"	if c.Recalled.Have(to) {", "	if false && c.Recalled.Have(to) {",
	},
	{
		"programs get a recalled version by its number", "query/versions.go",
		"	if err == nil && v.ShownVersion.Recall != nil && !want.History {",
		"	if err == nil && v.ShownVersion.Recall != nil && false && !want.History {",
	},
	{
		"a backup forgets recalls", "backup/library_backup.go",
		" Recalls: recalls, ", " Recalls: nil, ",
	},
	{
		"a backup has half of a recall that comes meanwhile", "backup/library_backup.go",
		"	return all, err == nil && now != nil && slices.Equal(now.Recalled, c.Recalled), err",
		"	return all, err == nil && now != nil, err",
	},
	{
		"an edit of a collection overwrites the one that came before it", "accounts/collections.go",
		"		row.ETag = etag\n", "		row.ETag = table.Any\n",
	},
	{
		"a collection that is made replaces the one of its name", "accounts/collections.go",
		"db.writeCollection(ctx, table.Insert,", "db.writeCollection(ctx, table.Upsert,",
	},
	{
		"an owner has any number of collections", "accounts/collections.go",
		"	if isNew && len(rows) >= prompt.MaxCollections {",
		"	if false && isNew && len(rows) >= prompt.MaxCollections {",
	},
	{
		"a private collection is shown to others", "../library/collections.go",
		"	if c == nil || !by.own && c.Visibility != prompt.Public {", "	if c == nil {",
	},
	{
		"two skills of a collection are in one folder", "../library/collections.go",
		"		if v != nil && !slugs[v.Slug] {", "		if v != nil {",
	},
	{
		"a recalled skill hides its collection", "../library/collections.go",
		"			case fault.Of(err) == fault.NotFound, fault.Of(err) == fault.Gone: // or recalled just now",
		"			case fault.Of(err) == fault.NotFound:",
	},
	{
		"an author of a workspace changes its public collections", "../library/collections.go",
		"	return publishes(as, was == prompt.Public || now == prompt.Public)", "	return publishes(as, false)",
	},
	{
		"a fetch is written however often it comes", "accounts/fetches.go",
		"	fetchEvery  = time.Hour", "	fetchEvery  = time.Nanosecond",
	},
	{
		"a fetch writes all those that wait", "accounts/fetches.go",
		"	maxDue      = 2 ", "	maxDue      = 1 << 20 ",
	},
	{
		"an older fetch of another instance takes the place of a later one", "accounts/fetches.go",
		"			if f.Token != \"\" && was.At.After(f.At) {", "			if false && was.At.After(f.At) {",
	},
	{
		"a package is given out without a look at its digest", "../doors/marketplace/package.go",
		"	if skill.Sum(b) != digest {", "	if false && skill.Sum(b) != digest {",
	},
	{
		"a signed address is good for ever", "../doors/marketplace/package.go",
		" || !d.Now().Before(day.AddDate(0, 0, 1)) {", " || day.IsZero() {",
	},
	{
		"a signature is of any package", "../doors/marketplace/package.go",
		"return \"package\\n\" + path + \"\\n\" + until }", "_ = path; return \"package\\n\" + until }",
	},
}

// unbounded are faults by which a request costs more than its route may: the search of TestBounds
// must find them by itself.
var unbounded = []mutant{
	{
		"a filled text is as long as its values make it", "../prompt/template.go",
		"n > most && len(fields) == 0", "n > most && false",
	},
	{
		"a page has room for whatever a text becomes", "../doors/web/prompts.go",
		"budget(perByte*n + maxFrame - reserved)", "budget(1 << 40)",
	},
}
