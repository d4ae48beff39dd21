package main

// harmonyRooms is where they live.
const harmonyRooms = "../../../apps/harmony/internal/"

// harmony are faults in the protocols of apps/harmony: in each one check is taken out. Its explorer
// must notice them, in 20,000 schedules at most.
var harmony = []mutant{
	{
		"a pair changes without a message", harmonyRooms + "meet/pairs.go",
		"	return s.pairOutbox().Send(ctx, pairChange{p.IDs[0], p.IDs[1], s.pairOutbox().Landed(ctx)})",
		"	return queue.Receipt{}, ctx.Err()",
	},
	{
		"a registration sends no message", harmonyRooms + "meet/register.go",
		`		wake, err = s.Outbox().Send(ctx,
			userChange{Kind: KindUser, ID: u.ID, Language: r.Language, Until: s.Outbox().Landed(ctx)})`, "		wake, err = queue.Receipt{}, ctx.Err()",
	},
	{
		"one who comes too late for an address leaves an account", harmonyRooms + "meet/register.go",
		"EmailTaken && s.RemoveKey(ctx, s.Tables.Users, account.UserKey(u.ID)) == nil {", "EmailTaken {",
	},
	{
		"an address goes to the last one who registers it", harmonyRooms + "meet/register.go",
		"[]table.Op{{Kind: table.Insert, Row: row}})\n	if err == nil {\n		return nil\n	}\n	owner, unread", "[]table.Op{{Kind: table.Upsert, Row: row}})\n	if err == nil {\n		return nil\n	}\n	owner, unread",
	},
	{
		"a pair is written whatever its version is", harmonyRooms + "meet/pairs.go",
		"		next.Attempt[side] = attempt\n", "		if next.Attempt[side] = attempt; next.ETag != \"\" {\n			next.ETag = table.Any\n		}\n",
	},
	{
		"a change of a pair whose answer was lost is made again", harmonyRooms + "meet/pairs.go",
		"		if p.Attempt[side] == attempt {", "		if false && p.Attempt[side] == attempt {",
	},
	{
		"a match gives way to an earlier version of its pair", harmonyRooms + "meet/pairs.go",
		"			if was.Props.Get(\"Version\").Int() >= p.Version {",
		"			if was.Props.Get(\"Version\").Int() == p.Version {",
	},
	{
		"a match that has ended before it was listed leaves no row", harmonyRooms + "meet/pairs.go",
		"			at = p.Last // the match", "			return nil, nil // the match",
	},
	{
		"a like that is written late hides the match", harmonyRooms + "meet/pairs.go",
		"	write := s.Insert\n", "	write := s.Upsert\n",
	},
	{
		"rows that a pair has no more stay in a store that changes tables together", harmonyRooms + "pairs/whole.go",
		"		t.Drop = append(t.Drop, key)\n", "		_ = key\n",
	},
	{
		"a chat does not follow its pair in a store that changes tables together", harmonyRooms + "meet/pairs.go",
		"	if next.Matched() != was.Matched() {\n		s.Rooms()", "	if false {\n		s.Rooms()",
	},
	{
		"a refused change takes its message back although a try may have landed", harmonyRooms + "meet/rooms.go",
		"	if c.lost == 0 {\n		c.s.Outbox().Cancel", "	if true {\n		c.s.Outbox().Cancel",
	},
	{
		"attendees are counted whatever the version of the event is", harmonyRooms + "events/attend.go",
		"headKey(e.ID), ETag: e.etag", "headKey(e.ID), ETag: table.Any",
	},
	{
		"a member who leaves an event does not stop what they are sending", harmonyRooms + "events/attend.go",
		"		if err := s.passChat(ctx, *st.event); err != nil || was == nil || !was.Told {",
		"		if err := error(nil); err == nil || was == nil || !was.Told {",
	},
	{
		"a newcomer takes a place that others wait for", harmonyRooms + "events/attend.go",
		"		if err := s.giveOwed(ctx, &st, id, c.UserID); err != nil {",
		"		if err := error(nil); err != nil {",
	},
	{
		"a place is given to the last of those who wait", harmonyRooms + "events/waiting.go",
		"cmp.Compare(a.number, b.number)", "cmp.Compare(b.number, a.number)",
	},
	{
		"a topic is written whatever its version is", harmonyRooms + "forum/topics.go",
		"		ops = []table.Op{rowstore.Put(t.Row())}", "		if t.ETag != \"\" {\n			t.ETag = table.Any\n		}\n		ops = []table.Op{rowstore.Put(t.Row())}",
	},
	{
		"a reply whose answer was lost is written again", harmonyRooms + "forum/replies.go",
		"		for _, r := range tried {", "		for _, r := range tried[:0] {",
	},
	{
		"a message does not ask whether its chat takes any", harmonyRooms + "chat/write.go",
		"x.headOps(r, next, true), table.Op{Kind: table.Insert, Row: m.toRow",
		"x.headOps(r, next, false), table.Op{Kind: table.Insert, Row: m.toRow",
	},
	{
		"a message whose answer was lost is sent again", harmonyRooms + "chat/write.go",
		"		for _, id := range tried {", "		for _, id := range tried[:0] {",
	},
	{
		"a key is good for many messages", harmonyRooms + "chat/write.go",
		"		if d.Key != \"\" {\n			ops", "		if false && d.Key != \"\" {\n			ops",
	},
	{
		"a profile that shows its first picture is not written", harmonyRooms + "meet/images.go",
		"		if u.ProfileImageURL != first {\n", "		if u.ProfileImageURL == first {\n			return nil\n		}\n		if u.ProfileImageURL != first {\n",
	},
	{
		"pictures are written whatever the version of their head is", harmonyRooms + "meet/images.go",
		"Row: account.ImagesHead}, ETag: all.Head,", "Row: account.ImagesHead}, ETag: table.Any,",
	},
}
