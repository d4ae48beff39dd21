package account

import (
	"time"

	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// PreferencesRow returns what is stored of what a member looks for.
func PreferencesRow(user string, p rules.Preferences, changes Daily, now time.Time) table.Row {
	return table.Row{Key: PreferencesKey(user), Props: table.Props{
		{Name: "AgeRangeMin", Value: table.Int32(int32(p.AgeMin))},
		{Name: "AgeRangeMax", Value: table.Int32(int32(p.AgeMax))},
		{Name: "MaxDistanceKm", Value: table.Int32(int32(p.MaxDistance))},
		{Name: "ShowMe", Value: table.String(p.ShowMe)},
		{Name: "ChangesOn", Value: table.String(changes.Day)},
		{Name: "Changes", Value: table.Int32(int32(changes.Count))},
		{Name: "UpdatedAt", Value: table.Time(now)},
	}}
}

// PrivacyRow returns what is stored of what a member shows.
func PrivacyRow(user string, p rules.Privacy, now time.Time) table.Row {
	return table.Row{Key: SettingsKey(user), Props: table.Props{
		{Name: "ProfileVisibility", Value: table.String(p.Visibility)},
		{Name: "AnonymousLikes", Value: table.Bool(p.AnonymousLikes)},
		{Name: "Language", Value: table.String(p.Language)},
		{Name: "NotificationsEnabled", Value: table.Bool(p.Notifications)},
		{Name: "EmailNotifications", Value: table.Bool(p.Emails)},
		{Name: "UpdatedAt", Value: table.Time(now)},
	}}
}

// ParsePreferences reads what a member looks for from its row.
func ParsePreferences(row table.Row) rules.Preferences {
	p := row.Props
	return rules.Preferences{
		AgeMin: int(p.Get("AgeRangeMin").Int()), AgeMax: int(p.Get("AgeRangeMax").Int()),
		MaxDistance: int(p.Get("MaxDistanceKm").Int()), ShowMe: p.Get("ShowMe").Str(),
	}
}

// ParseChanges reads how often preferences were changed on a day.
func ParseChanges(row table.Row) Daily {
	return Daily{row.Props.Get("ChangesOn").Str(), int(row.Props.Get("Changes").Int())}
}

// ParsePrivacy reads what a member shows from its row.
func ParsePrivacy(row table.Row) rules.Privacy {
	p := row.Props
	return rules.Privacy{
		Visibility: p.Get("ProfileVisibility").Str(), AnonymousLikes: p.Get("AnonymousLikes").Bool(), Language: p.Get("Language").Str(),
		Notifications: p.Get("NotificationsEnabled").Bool(), Emails: p.Get("EmailNotifications").Bool(),
	}
}

// DueKey is the key of the row of State by which the timer of erasure finds an account that was
// deleted at an instant.
func DueKey(id string, deletedAt time.Time) table.Key {
	return table.Key{Partition: DueRows + deletedAt.UTC().Format("20060102"), Row: rowstore.Ascending(deletedAt) + "_account_" + id}
}

// DueRows begins the partitions of accounts that were deleted, by the day.
const DueRows = "DUE_"
