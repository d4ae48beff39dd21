package main

import (
	"context"
	"fmt"
	"slices"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/erase"
	"prompthub/apps/harmony/internal/gallery"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/tidy"
	"prompthub/internal/host/command"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/belong"
	"prompthub/internal/storage/table"
)

// pictures are the containers of files that rows name.
var pictures = []string{
	meet.ContainerProfiles, meet.ContainerChats, gallery.ContainerStore,
	gallery.ContainerEvents, gallery.ContainerBlog,
}

// contents say what a backup has. No backup has the sessions and tokens that open an account, or
// the places of timers.
func contents(s settings) *backup.Contents {
	tables := []backup.Table{
		// Addresses come before accounts, as they do when one is made.
		{Name: "UserEmails", Stored: s.UserEmails},
		{Name: "Users", Stored: s.Users},
		{Name: "Sessions", Stored: s.Sessions, Out: "sessions, and tokens to set a new password: members sign in anew"},
		{
			Name: "Mails", Stored: s.Mails,
			Out: "registrations that wait for a mail, and counts of mails: people register anew",
		},
		{Name: "UserImages", Stored: s.UserImages, Names: func(row table.Row) (files []backup.Blob) {
			if row.Key.Row == account.ImagesHead {
				return nil
			}
			for _, name := range (account.Image{ID: row.Key.Row, UserID: row.Partition}).Blobs() {
				files = append(files, backup.Blob{Container: meet.ContainerProfiles, Name: name})
			}
			return files
		}},
		{Name: "UserPreferences", Stored: s.UserPreferences},
		{Name: "UserSettings", Stored: s.UserSettings},
		{Name: "Pairs", Stored: s.Pairs},
		{Name: "Likes", Stored: s.Likes},
		{Name: "LikesReceived", Stored: s.LikesReceived},
		{Name: "Matches", Stored: s.Matches},
		{Name: "Blocks", Stored: s.Blocks},
		{Name: "Deck", Stored: s.Deck},
		{Name: "Chats", Stored: s.Chats},
		{Name: "UserChats", Stored: s.UserChats},
		{Name: "Messages", Stored: s.Messages, Names: func(row table.Row) (files []backup.Blob) {
			for _, name := range chats.Files(row) {
				files = append(files, backup.Blob{Container: meet.ContainerChats, Name: name})
			}
			return files
		}},
		{Name: "State", Stored: s.State, Without: []string{tidy.Name, erase.Name, belong.Partition}},
		{Name: "EventAttendees", Stored: s.EventAttendees, Names: func(row table.Row) []backup.Blob {
			if row.Props.Get("DeletedAt").Int() != 0 {
				return nil
			}
			return gallery.Named(gallery.ContainerEvents, row)
		}},
		{Name: "Events", Stored: s.Events},
		{Name: "UserEvents", Stored: s.UserEvents},
		{Name: "EventInvites", Stored: s.EventInvites},
		{Name: "ForumSections", Stored: s.ForumSections},
		{Name: "ForumTopics", Stored: s.ForumTopics},
		{Name: "ForumReplies", Stored: s.ForumReplies},
		{Name: "Reports", Stored: s.Reports},
		{Name: "StoreItems", Stored: s.StoreItems, Names: func(row table.Row) []backup.Blob {
			return gallery.Named(gallery.ContainerStore, row)
		}},
		{Name: "BlogPosts", Stored: s.BlogPosts, Names: func(row table.Row) []backup.Blob {
			return gallery.Named(gallery.ContainerBlog, row)
		}},
	}
	return &backup.Contents{
		Application: "harmony", Tables: tables, Containers: pictures,
		Prefix: s.ContainerPrefix, Sums: backup.IsSum("!"),
	}
}

// all returns the names of all tables.
func (s settings) all() []string {
	return slices.Concat(s.Tables.All(), s.EventTables.All(), s.ForumTables.All(), s.ReportTables.All(),
		s.ShopTables.All(), s.BlogTables.All())
}

// belongs has the store and its pictures know each other.
func (r rooms) belongs(adopt bool) belong.Store {
	t := r.members.Tables
	return belong.Store{
		Tables: r.members.DB, Table: t.State, Blobs: r.members.Blobs, Containers: pictures, Adopt: adopt,
		Old: func(ctx context.Context) (bool, error) {
			page, err := r.members.DB.List(ctx, t.UserEmails, table.Range{}, 1, "")
			return len(page.Rows) > 0, err
		},
	}
}

// repairs is how often rows are mended that follow from others which were mended.
const repairs = 5

// repair does what messages were about: accounts that were being made are finished or go, and rows
// that follow from others do.
func (r rooms) repair(ctx context.Context) error {
	if err := r.members.RepairAccounts(ctx); err != nil {
		return err
	}
	for range repairs {
		var found []meet.Finding
		if _, err := r.compared().Verify(ctx, func(f meet.Finding) { found = append(found, f) }); err != nil {
			return err
		}
		mended := 0
		for _, f := range found {
			if f.Mend == nil {
				continue
			}
			if err := f.Mend(ctx); err != nil {
				return err
			}
			mended++
		}
		if mended == 0 {
			break
		}
	}
	return nil
}

// verify compares all rows of a store, which may be that of a moment ago.
func (r rooms) verify(ctx context.Context, found func(any), progress func(int)) (int, error) {
	rows, err := r.compared().Verify(ctx, func(f meet.Finding) {
		note := ""
		if f.Mend == nil {
			note = " (a person must decide)"
		}
		found(fmt.Sprintf("%s\t%s\t%s%s", f.Table, f.Key, f.Says, note))
	})
	progress(rows)
	return rows, err
}

// asked is the work of commands.
func (r rooms) asked() map[string]command.Action {
	return map[string]command.Action{
		"role": func(ctx context.Context, std command.Streams, args []string) error {
			if len(args) != 2 || !slices.Contains(roles, args[1]) {
				return errOtherVersion
			}
			u, err := r.members.SetRole(ctx, args[0], meet.Role(args[1]))
			if err == nil {
				fmt.Fprintf(std.Out, "%s is %s now\n", u.Email, u.Role)
			}
			return err
		},
		"reset": func(ctx context.Context, std command.Streams, args []string) error {
			if len(args) != 1 {
				return errOtherVersion
			}
			token, err := r.members.NewReset(ctx, args[0])
			if err == nil {
				fmt.Fprintln(std.Out, token)
			}
			return err
		},
	}
}
