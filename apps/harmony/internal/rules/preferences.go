package rules

// Preferences are what a member looks for.
type Preferences struct {
	AgeMin, AgeMax int
	MaxDistance    int // km; 0: anywhere
	ShowMe         string
}

// The bounds of preferences.
const (
	MaxAge      = 99 // and older
	MaxDistance = 20_000
)

// NewPreferences are those of a new member.
func NewPreferences() Preferences {
	return Preferences{AgeMin: Adult, AgeMax: MaxAge, ShowMe: "everyone"}
}

// Check returns the rules that preferences break as an error, or nil.
func (p Preferences) Check() error {
	var b Broken
	if p.AgeMin < Adult || p.AgeMin > p.AgeMax {
		b.Add("ageRangeMin", AgeRange, "give ages from 18 to 99, the lower one first", p.AgeMin)
	}
	if p.AgeMax > MaxAge {
		b.Add("ageRangeMax", AgeRange, "give ages from 18 to 99, the lower one first", p.AgeMax)
	}
	if p.MaxDistance < 0 || p.MaxDistance > MaxDistance {
		b.Add("maxDistanceKm", DistanceRange, "give 0 to 20000 kilometers; 0 is anywhere", p.MaxDistance)
	}
	b.OneOf("showMe", p.ShowMe, ShowMe, ShowMeUnknown)
	return b.Err()
}

// Privacy is what a member shows, and in which language they are told.
type Privacy struct {
	Visibility     string
	AnonymousLikes bool
	Language       string
	Notifications  bool // kept, without effect
	Emails         bool // kept, without effect
}

// NewPrivacy is that of a new member.
func NewPrivacy(language string) Privacy {
	return Privacy{Visibility: "public", Language: language, Notifications: true, Emails: true}
}

// Check returns the rules that settings break as an error, or nil.
func (p Privacy) Check() error {
	var b Broken
	b.OneOf("profileVisibility", p.Visibility, Visibilities, VisibilityWrong)
	b.OneOf("language", p.Language, Languages, LanguageUnknown)
	return b.Err()
}
