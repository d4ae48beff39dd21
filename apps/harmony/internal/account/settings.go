package account

import (
	"time"

	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// preferencesColumns are the properties of preferences.
var preferencesColumns = rowstore.Columns[rules.Preferences]{
	rowstore.Number("AgeRangeMin", func(p *rules.Preferences) *int { return &p.AgeMin }),
	rowstore.Number("AgeRangeMax", func(p *rules.Preferences) *int { return &p.AgeMax }),
	rowstore.Number("MaxDistanceKm", func(p *rules.Preferences) *int { return &p.MaxDistance }),
	rowstore.Text("ShowMe", func(p *rules.Preferences) *string { return &p.ShowMe }),
}

// PreferencesRow returns what is stored of what a member looks for.
func PreferencesRow(user string, p rules.Preferences, changes Daily, now time.Time) table.Row {
	return table.Row{Key: PreferencesKey(user), Props: append(preferencesColumns.Props(&p),
		table.Prop{Name: "ChangesOn", Value: table.String(changes.Day)},
		table.Prop{Name: "Changes", Value: table.Int32(int32(changes.Count))},
		table.Prop{Name: "UpdatedAt", Value: table.Time(now)},
	)}
}

// privacyColumns are the properties of settings of privacy.
var privacyColumns = rowstore.Columns[rules.Privacy]{
	rowstore.Text("ProfileVisibility", func(p *rules.Privacy) *string { return &p.Visibility }),
	rowstore.Flag("AnonymousLikes", func(p *rules.Privacy) *bool { return &p.AnonymousLikes }),
	rowstore.Text("Language", func(p *rules.Privacy) *string { return &p.Language }),
	rowstore.Flag("NotificationsEnabled", func(p *rules.Privacy) *bool { return &p.Notifications }),
	rowstore.Flag("EmailNotifications", func(p *rules.Privacy) *bool { return &p.Emails }),
}

// PrivacyRow returns what is stored of what a member shows.
func PrivacyRow(user string, p rules.Privacy, now time.Time) table.Row {
	return table.Row{
		Key:   SettingsKey(user),
		Props: append(privacyColumns.Props(&p), table.Prop{Name: "UpdatedAt", Value: table.Time(now)}),
	}
}

// ParsePreferences reads what a member looks for from its row.
func ParsePreferences(row table.Row) (p rules.Preferences) {
	preferencesColumns.Read(row.Props, &p)
	return p
}

// ParseChanges reads how often preferences were changed on a day.
func ParseChanges(row table.Row) Daily {
	return Daily{row.Props.Get("ChangesOn").Str(), int(row.Props.Get("Changes").Int())}
}

// ParsePrivacy reads what a member shows from its row.
func ParsePrivacy(row table.Row) (p rules.Privacy) {
	privacyColumns.Read(row.Props, &p)
	return p
}

// DueKey is the key of the row of State by which the timer of erasure finds an account that was
// deleted at an instant.
func DueKey(id string, deletedAt time.Time) table.Key {
	return table.Key{
		Partition: DueRows + deletedAt.UTC().Format("20060102"),
		Row:       rowstore.Ascending(deletedAt) + "_account_" + id,
	}
}

// DueRows begins the partitions of accounts that were deleted, by the day.
const DueRows = "DUE_"
