package main

// duubleRooms is where they live.
const duubleRooms = "../../../apps/duuble/internal/"

// duuble are faults in the protocols of apps/duuble: in each one check or step is taken out. Its
// explorer must notice them, in 20,000 schedules at most.
var duuble = []mutant{
	{
		"what is done around a deleted post is in no list when the post comes back", duubleRooms + "posts/activity.go",
		"p == nil || s.isGone(p) || !d.holds", "!p.isLive() || !d.holds",
	},
	{
		"a post is removed that was brought back", duubleRooms + "posts/delete.go",
		`|| p.isLive() || p.purging ||
			!authorGoes && !s.isGone(p) {`, "|| p.purging {",
	},
	{
		"numbers of a post are written whatever their version is", duubleRooms + "posts/comments.go",
		"	return rowstore.Put(*row), nil",
		"	if row.ETag != \"\" {\n		row.ETag = table.Any\n	}\n	return rowstore.Put(*row), nil",
	},
	{
		"a session goes on whose clock is ahead of the one that ends it", duubleRooms + "people/leave.go",
		"began.After(now) {", "false && began.After(now) {",
	},
	{
		"no one finds that a block was never written", duubleRooms + "people/follow.go",
		"		if !live || kind == blockRows {", "		if !live {",
	},
	{
		"a follow stays beside a block", duubleRooms + "people/follow.go",
		"	if err == nil && x.isLive() && hidden {", "	if false && err == nil && x.isLive() && hidden {",
	},
	{
		"a tie that comes back has a new date", duubleRooms + "people/follow.go",
		"		x.version++\n", "		x.version++\n		x.createdAt = now\n",
	},
	{
		"the message of a follow is taken back although its mirror was not written", duubleRooms + "people/follow.go",
		"		if s.reflectFollow(ctx, c.UserID, other) == nil && s",
		"		if _ = s.reflectFollow(ctx, c.UserID, other); true || s",
	},
	{
		"a mirror gives way to an earlier version", duubleRooms + "people/mirror.go",
		".Int() >= m.Version {", ".Int() == m.Version {",
	},
	{
		"those who follow a person are not told that the account has gone", duubleRooms + "people/purge.go",
		"			err = s.dropTie(ctx, followRows, other, u.ID, all)\n", "",
	},
	{
		"members are counted whatever the version of the count is", duubleRooms + "hubs/hub.go",
		`	return rowstore.Put(table.Row{
		Key: hubKey(hub, "c|00"), ETag: t.etag,`, "	if t.etag != \"\" {\n		t.etag = table.Any\n	}\n	return rowstore.Put(table.Row{Key: hubKey(hub, \"c|00\"), ETag: t.etag,",
	},
	{
		"a member who comes back has a new date", duubleRooms + "hubs/member.go",
		"	if m.JoinedAt.IsZero() {", "	if true {",
	},
	{
		"the last super_admin may leave", duubleRooms + "hubs/member.go",
		"			if h.superAdmins--; h.superAdmins < 1 {", "			if h.superAdmins--; h.superAdmins < 0 {",
	},
	{
		"a request is decided twice", duubleRooms + "hubs/request.go",
		"		case r.Status != Pending:\n			return nil, alreadyDecided()\n		case !approve:",
		"		case !approve:",
	},
	{
		"two requests of a person wait", duubleRooms + "hubs/request.go",
		"insertOp(r.lockKey(), textProp(\"request_id\", r.ID))", "{Kind: table.Upsert, Row: table.Row{Key: r.lockKey(), Props: table.Props{textProp(\"request_id\", r.ID)}}}",
	},
	{
		"a post gets two discussions in a hub", duubleRooms + "discussions/discussions.go",
		"rowstore.Put(t.toRow()), rowstore.Put(t.lockRow()),",
		"rowstore.Put(t.toRow()), {Kind: table.Upsert, Row: t.lockRow()},",
	},
	{
		"messages are counted whatever the version of the count is", duubleRooms + "discussions/messages.go",
		"		if n.lastAt.Before(made.CreatedAt) {", "		if n.etag != \"\" {\n			n.etag = table.Any\n		}\n		if n.lastAt.Before(made.CreatedAt) {",
	},
	{
		"a message is written before what points at it", duubleRooms + "discussions/messages.go",
		"	if err = rowstore.All(ctx, before...); err != nil {\n		return Message{}, err\n	}\n	if err = s.writeMessage(ctx, made); err == nil {",
		"	if err = s.writeMessage(ctx, made); err != nil {\n		return Message{}, err\n	}\n	if err = rowstore.All(ctx, before...); err == nil {",
	},
	{
		"what is around a removed post is not looked at again", duubleRooms + "posts/delete.go",
		"again := due.Get(wasIn); err == nil", "again := due.Get(wasIn); false && err == nil",
	},
}

// moderated are faults in pictures, moderation and lists of apps/duuble, which tests
// of their own notice.
var moderated = []mutant{
	{
		"a sweep does not look whether a thing names the picture", duubleRooms + "assets/assets.go",
		"			if err != nil || is == id {\n				return err\n			}",
		"			if err != nil {\n				return err\n			}\n			_ = is",
	},
	{
		"a sweep takes a picture that was attached at this moment", duubleRooms + "assets/assets.go",
		"late := a.Status != removed && s.Now().Sub(a.attachedAt) < landsIn", "late := false",
	},
	{
		"a picture is that of two things", duubleRooms + "assets/assets.go",
		"		case a.Thing != \"\" && a.Thing != thing:\n			return nil, fault.Coded",
		"		case false:\n			return nil, fault.Coded",
	},
	{
		"a number that is banned is let in by a request", duubleRooms + "hubs/request.go",
		"	if err := s.checkBan(ctx, hub, number); err != nil { // which is written with the count",
		"	if err := s.checkBan(ctx, hub, number); false && err != nil { // which is written with the count",
	},
	{
		"a ban reads how many members there are after it has read who they are", duubleRooms + "hubs/ban.go",
		"		h, err = s.readMember(ctx, hub, user, &m)\n		return err\n", "		h, err = s.readMember(ctx, hub, user, &m)\n		if err == nil {\n			t, err = s.readTally(ctx, hub)\n		}\n		return err\n",
	},
	{
		"a post that was taken out is in the hub", duubleRooms + "posts/post.go",
		"ok && isOut(&row) {", "ok && false && isOut(&row) {",
	},
	{
		"no message tells of a post that was taken out", duubleRooms + "posts/takeout.go",
		"if err == nil && out && s.tellTakenOut(ctx, told) == nil {", "if err == nil && out {",
	},
	{
		"a message that was deleted keeps its text", duubleRooms + "discussions/messages.go",
		"		m.Text, m.Picture, m.DeletedBy = \"\", \"\", by", "		m.Picture, m.DeletedBy = \"\", by",
	},
	{
		"the picture of a deleted message stays", duubleRooms + "discussions/messages.go",
		"	if err := s.People.Assets.Release(ctx, picture); err != nil {\n		return err\n	}\n	err := s.Change(ctx, s.Tables.Hubs", "	var err error\n	err = s.Change(ctx, s.Tables.Hubs",
	},
	{
		"a report deletes whatever picture is there", duubleRooms + "posts/read.go",
		"		is, err = s.People.Assets.AreAlike(ctx, picture, copied)", "		is = true",
	},
	{
		"a follow that comes back is not marked", duubleRooms + "people/follow.go",
		"		err = s.catchUp(ctx, x)", "		_ = s.catchUp",
	},
	{
		"followers are said to be marked before they are", duubleRooms + "people/beyond.go",
		"	after = instantOf(after)\n", "	after = instantOf(after)\n	if _, err := s.setFans(ctx, user, marked, after); err != nil {\n		return false, err\n	}\n",
	},
	{
		"a follow that ends stays among those that a home reads", duubleRooms + "people/follow.go",
		"	if x.beyond {\n		keys = append(", "	if x.beyond && x.isLive() {\n		keys = append(",
	},
	{
		"the list of deleted posts keeps a post that went", duubleRooms + "posts/deleted.go",
		"	return s.RemoveKey(ctx, s.Tables.Users, deletedKey(author, due.At(row), row.Row))",
		"	_ = due.At(row)\n	return nil",
	},
	{
		"a deleted post is listed after it", duubleRooms + "posts/deleted.go",
		`err != nil ||
		removed {
		return err
	}
	return s.Upsert(`,
		"err != nil || removed || true {\n		return err\n	}\n	return s.Upsert(",
	},
	{
		"activities of an erased account stay in homes", duubleRooms + "posts/delete.go",
		`			if err := s.feed.Erase(ctx, u.ID); err != nil {
					return err
				}
				`, "",
	},
}
