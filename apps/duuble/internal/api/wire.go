package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/people"
)

// Words of short lists.
type (
	// Channel is a way that a code may go.
	Channel string
	// Purpose is what a code may be for.
	Purpose string
	// Step is how far an onboarding is.
	Step string
)

// Schema returns the values.
func (Channel) Schema(huma.Registry) *huma.Schema { return oneOf(people.Channels) }

// Schema returns the values.
func (Purpose) Schema(huma.Registry) *huma.Schema { return oneOf(people.Purposes) }

// Schema returns the values.
func (Step) Schema(huma.Registry) *huma.Schema { return oneOf(people.Steps) }

func oneOf(values []string) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

// stamp writes an instant as all answers do.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// stampOr returns an instant that is null if it is zero.
func stampOr(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := stamp(t)
	return &s
}

// textOr returns a text that is null if it is empty.
func textOr(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// CodeRequest asks for a code.
type CodeRequest struct {
	Channel     Channel `json:"channel" doc:"How the code goes" example:"sms"`
	Destination string  `json:"destination" doc:"A phone number with its country, as E.164 writes it" example:"+34600000001"`
	Purpose     Purpose `json:"purpose" doc:"What it is for" example:"sign_in"`
}

// CodeSent is a code on its way.
type CodeSent struct {
	ChallengeID        string `json:"challengeId" doc:"Send it back with the code" example:"01KA0000000000000000000000"`
	ExpiresAt          string `json:"expiresAt" format:"date-time" doc:"Until when the code is good" example:"2026-11-01T12:05:00.000Z"`
	ResendAfterSeconds int    `json:"resendAfterSeconds" doc:"When another code may be asked for" example:"30"`
}

// CodeTyped is a code as a person read it.
type CodeTyped struct {
	ChallengeID string `json:"challengeId" doc:"As the request for the code was answered" example:"01KA0000000000000000000000"`
	Code        string `json:"code" doc:"The six digits" example:"123456"`
	Device      string `json:"device,omitempty" doc:"What to call this session, up to 100 characters" example:"Ann's phone"`
}

// DevCode is the code of a challenge, in development.
type DevCode struct {
	Code string `json:"code" doc:"The six digits" example:"123456"`
}

// RefreshRequest asks for the next tokens.
type RefreshRequest struct {
	RefreshToken string `json:"refreshToken" doc:"The newest one" example:"dr_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
	RequestID    string `json:"requestId,omitempty" doc:"16 to 100 random characters. The same request again within a minute gets the same answer, so a lost answer signs nobody out" example:"b1f6a526c5a4d0e9f2c3"`
}

// Everywhere says which sessions end.
type Everywhere struct {
	Everywhere bool `json:"everywhere,omitempty" doc:"End all sessions of the person" example:"true"`
}

// Tokens are what a session is known by.
type Tokens struct {
	UserID                string `json:"userId" doc:"Whose session it is" example:"01KA0000000000000000000001"`
	AccessToken           string `json:"accessToken" doc:"Send it as Authorization: Bearer" example:"eyJhbGciOiJIUzI1NiJ9.e30.AAAA"`
	AccessExpiresAt       string `json:"accessExpiresAt" format:"date-time" doc:"15 minutes from now" example:"2026-11-01T12:15:00.000Z"`
	RefreshToken          string `json:"refreshToken" doc:"Good once, for the next tokens. One that was replaced ends the session" example:"dr_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
	RefreshExpiresAt      string `json:"refreshExpiresAt" format:"date-time" doc:"30 days from now, and at most 180 days from the sign-in" example:"2026-12-01T12:00:00.000Z"`
	IsNewUser             bool   `json:"isNewUser" doc:"Whether this sign-in made the account" example:"true"`
	OnboardingStep        Step   `json:"onboardingStep" doc:"How far the onboarding is" example:"verified_identity"`
	IsOnboardingCompleted bool   `json:"isOnboardingCompleted" doc:"Whether the person may do all that others may" example:"false"`
}

func tokensOf(in people.SignedIn) Tokens {
	t := in.Tokens
	return Tokens{t.UserID, t.Access, stamp(t.AccessExpires), t.Refresh, stamp(t.RefreshEnds), in.IsNew, Step(in.User.Step()), in.User.Onboarded()}
}

// Session is where a person is signed in.
type Session struct {
	SessionID  string `json:"sessionId" doc:"The id of the session" example:"01KA0000000000000000000002"`
	Device     string `json:"device" doc:"As the sign-in called it" example:"Ann's phone"`
	IssuedAt   string `json:"issuedAt" format:"date-time" doc:"The sign-in" example:"2026-11-01T12:00:00.000Z"`
	LastUsedAt string `json:"lastUsedAt" format:"date-time" doc:"When it got its newest tokens" example:"2026-11-01T12:00:00.000Z"`
	Current    bool   `json:"current" doc:"Whether it is the one that asks" example:"true"`
}

// Sessions are all sessions of a person.
type Sessions struct {
	Items []Session `json:"items" nullable:"false" doc:"The last used first"`
}

// Onboarding is how far somebody is.
type Onboarding struct {
	Step      Step     `json:"step" doc:"How far the onboarding is" example:"verified_identity"`
	Completed bool     `json:"completed" doc:"Whether nothing is missing" example:"false"`
	Missing   []string `json:"missing" nullable:"false" doc:"Of username, fullName and terms" example:"[\"username\",\"fullName\",\"terms\"]"`
}

// Basics are the first entries of a profile.
type Basics struct {
	Username string  `json:"username" doc:"3 to 100 of A-Z a-z 0-9 . _ with a letter first. It never changes" example:"Ann_1"`
	FullName string  `json:"fullName" doc:"1 to 100 characters" example:"Ann"`
	Bio      *string `json:"bio,omitempty" doc:"Up to 500 characters" example:"I like tea"`
}

// ProfileChange are changes of a profile; absent members stay as they are.
type ProfileChange struct {
	Username *string `json:"username,omitempty" doc:"Only if there is none yet" example:"Ann_1"`
	FullName *string `json:"fullName,omitempty" doc:"1 to 100 characters" example:"Ann"`
	Bio      *string `json:"bio,omitempty" doc:"Up to 500 characters" example:"I like tea"`
}

// Terms are the texts that a person accepts.
type Terms struct {
	TermsVersion   string `json:"termsVersion" doc:"Which terms of use, up to 50 characters" example:"2026-11"`
	PrivacyVersion string `json:"privacyVersion" doc:"Which statement on privacy, up to 50 characters" example:"2026-11"`
}

// Person is what everybody sees of somebody.
type Person struct {
	UserID   string `json:"userId" doc:"The id of the person" example:"01KA0000000000000000000001"`
	Username string `json:"username" doc:"Unique whatever its case" example:"Ann_1"`
	FullName string `json:"fullName" doc:"As the person wrote it" example:"Ann"`
}

func personOf(p people.Person) Person { return Person{p.ID, p.Username, p.FullName} }

// MyCounts are numbers that go with an account.
type MyCounts struct {
	Posts     int64 `json:"posts" doc:"Posts of the person" example:"2"`
	VotesCast int64 `json:"votesCast" doc:"Votes of the person" example:"7"`
}

// Me is the caller's own account.
type Me struct {
	UserID                 string   `json:"userId" doc:"The id of the person" example:"01KA0000000000000000000001"`
	Username               *string  `json:"username" doc:"Null until it is chosen" example:"Ann_1"`
	FullName               string   `json:"fullName" doc:"Empty until it is given" example:"Ann"`
	Bio                    string   `json:"bio" doc:"About the person" example:"I like tea"`
	Phone                  string   `json:"phone" doc:"The number in part; others do not see it" example:"+34•••••01"`
	OnboardingStep         Step     `json:"onboardingStep" doc:"How far the onboarding is" example:"completed"`
	IsOnboardingCompleted  bool     `json:"isOnboardingCompleted" doc:"Whether nothing is missing" example:"true"`
	AcceptedTermsVersion   *string  `json:"acceptedTermsVersion" doc:"Which terms were accepted, or null" example:"2026-11"`
	AcceptedPrivacyVersion *string  `json:"acceptedPrivacyVersion" doc:"Which statement on privacy, or null" example:"2026-11"`
	AcceptedAt             *string  `json:"acceptedAt" format:"date-time" doc:"When, or null" example:"2026-11-01T12:00:00.000Z"`
	CreatedAt              string   `json:"createdAt" format:"date-time" doc:"The first sign-in" example:"2026-11-01T12:00:00.000Z"`
	Counts                 MyCounts `json:"counts" doc:"Numbers that follow what the person did"`
}

func meOf(m people.Me) Me {
	return Me{
		UserID: m.ID, Username: textOr(m.Username), FullName: m.FullName, Bio: m.Bio, Phone: m.Phone, OnboardingStep: Step(m.Step()), IsOnboardingCompleted: m.Onboarded(),
		AcceptedTermsVersion: textOr(m.TermsVersion), AcceptedPrivacyVersion: textOr(m.PrivacyVersion), AcceptedAt: stampOr(m.AcceptedAt), CreatedAt: stamp(m.CreatedAt),
		Counts: MyCounts(m.Counts),
	}
}

// ProfileCounts are numbers that everybody sees.
type ProfileCounts struct {
	Posts int64 `json:"posts" doc:"Posts of the person" example:"2"`
}

// Profile is the page of a person.
type Profile struct {
	Person
	Bio       string        `json:"bio" doc:"About the person" example:"I like tea"`
	CreatedAt string        `json:"createdAt" format:"date-time" doc:"The first sign-in" example:"2026-11-01T12:00:00.000Z"`
	Counts    ProfileCounts `json:"counts" doc:"Numbers that follow what the person did"`
}

func profileOf(p people.Profile) Profile {
	return Profile{personOf(p.Person), p.Bio, stamp(p.CreatedAt), ProfileCounts{p.Posts}}
}

// Availability says whether a name can be had.
type Availability struct {
	Available bool   `json:"available" doc:"Whether the caller can have the name" example:"false"`
	Reason    string `json:"reason,omitempty" enum:"invalid,reserved,taken" doc:"Why not; absent if the name can be had" example:"taken"`
}
