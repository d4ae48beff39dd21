package main

// Where they live.
const (
	sessionRooms = "../../http/auth/session/"
	outboxRoom   = "../../storage/outbox/outbox.go"
	rowstoreRoom = "../../storage/rowstore/"
)

// kit are faults in what all applications are made of, and in how they use it. The tests of the
// package of each must notice it.
var kit = []mutant{
	{
		"a token that was used comes again with another request", sessionRooms + "session.go",
		"same(Hash([]byte(request)), x.RequestHash) && now.Sub", "now.Sub",
	},
	{
		"a token that was used comes again for ever", sessionRooms + "session.go",
		"now.Sub(x.UsedAt) < p.AgainFor", "true",
	},
	{
		"a session that is used goes on after its last day", sessionRooms + "session.go",
		"p.SessionFor > 0 && x.Ends.After(last)", "false && x.Ends.After(last)",
	},
	{
		"an access token is good after its end", sessionRooms + "caller.go",
		"now.Before(x.AccessEnds) && c.Proves", "c.Proves",
	},
	{
		"an access token is good without its secret", sessionRooms + "caller.go",
		"now.Before(x.AccessEnds) && c.Proves(x.AccessHash)", "now.Before(x.AccessEnds)",
	},
	{
		"an application takes access tokens of the other kind", sessionRooms + "caller.go",
		"c.isSigned != s.SignedAccess || ", "",
	},
	{
		"the rows of a claim serve for ever", sessionRooms + "caller.go",
		"now.Sub(k.at) >= knownFor", "false",
	},
	{
		"the rows of a claim serve twice", sessionRooms + "caller.go",
		"c.known.Swap(nil)", "c.known.Load()",
	},
	{
		"a token that two parties have ends no session", sessionRooms + "sessions.go",
		"			if err := s.End(ctx, c.UserID, c.SessionID); err != nil {\n				return of, Grant{}, err\n			}\n			return of, Grant{}, reused()", "			return of, Grant{}, reused()",
	},
	{
		"a refresh takes no notice of another one", sessionRooms + "sessions.go",
		"		next := s.rotate(c, *x, request, now)\n",
		"		next := s.rotate(c, *x, request, now)\n		next.ETag = table.Any\n",
	},
	{
		"a refresh without an answer counts as a theft", sessionRooms + "sessions.go",
		"if !s.comesAgain(request) && !rowstore", "if false && !rowstore",
	},
	{
		"an account that is refused gets a session again", sessionRooms + "sessions.go",
		"		if allow != nil {\n			if err := allow(*account)",
		"		if false {\n			if err := allow(*account)",
	},
	{
		"a sign-in ends a session that was used a moment ago", sessionRooms + "sessions.go",
		`table.Row{Key: s.Key(x.User, x.ID), ETag: x.ETag}},
			})`,
		"table.Row{Key: s.Key(x.User, x.ID), ETag: table.Any}}})",
	},
	{
		"a sign-in without an answer writes the same session again", sessionRooms + "sessions.go",
		"		g = s.New(g.User, g.Device, g.CreatedAt)\n", "",
	},
	{
		"a token that is no sign-in opens an account", sessionRooms + "sessions.go",
		"return s.SignedAccess || x.AccessHash != \"\"", "return true",
	},
	{
		"sessions end as of now, and not as of the last write of one", sessionRooms + "sessions.go",
		"s.Now().UTC().Add(rowstore.LandWithin + rowstore.ClockSkew)", "s.Now().UTC()",
	},
	{
		"a message is cancelled although its change is not done", outboxRoom,
		"	if err == nil {\n		o.Cancel(ctx, r)\n	}\n", "	o.Cancel(ctx, r)\n",
	},
	{
		"a message does not come again although its job looked too early", outboxRoom,
		"	if looked.After(until) {", "	if true || looked.After(until) {",
	},
	{
		"a message comes again for ever", outboxRoom,
		"	if looked.After(until) {", "	if false && looked.After(until) {",
	},
	{
		"a message comes before its change", outboxRoom,
		"return o.send(ctx, change, o.After)", "return o.send(ctx, change, 0)",
	},
	{
		"messages are cancelled by requests alone that still wait", outboxRoom,
		"	ctx = context.WithoutCancel(ctx)\n", "",
	},
	{
		"a change has no last moment to write", outboxRoom,
		"return rowstore.WriteBefore(ctx, o.Now().Add(o.Within()))",
		"return rowstore.WriteBefore(ctx, o.Now().Add(24*time.Hour))",
	},
	{
		"a job does not wait for the write that is under way", outboxRoom,
		"end.Add(landed)", "end",
	},
	{
		"a write begins after the last moment of its change", rowstoreRoom + "store.go",
		"ok && !db.Now().Before(end)", "ok && false && !db.Now().Before(end)",
	},
	{
		"a change may be written until the later of two moments", rowstoreRoom + "deadline.go",
		"ok && earlier.Before(end)", "ok && end.Before(earlier)",
	},
	{
		"a change is tried again after its last moment", rowstoreRoom + "change.go",
		" || errors.Is(failed, ErrTooLate)", "",
	},
	{
		"a write begins when the message of its change may be there", outboxRoom,
		"return o.After - landed", "return o.After",
	},
	{
		"a job reads its clock after its settlers", harmonyRooms + "meet/register.go",
		"		return s.settleChange(ctx, c, looked)\n",
		"		return s.settleChange(ctx, c, s.Now().Add(looked.Sub(looked)))\n",
	},
	{
		"a message of a newer version counts as done", harmonyRooms + "meet/register.go",
		"if !known { //", "if false && !known { //",
	},
}
