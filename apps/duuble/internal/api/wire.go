package api

import (
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
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
func (Channel) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(people.Channels) }

// Schema returns the values.
func (Purpose) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(people.Purposes) }

// Schema returns the values.
func (Step) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(people.Steps) }

// CodeRequest asks for a code.
type CodeRequest struct {
	Channel     Channel `json:"channel" doc:"How the code goes" example:"sms"`
	Destination string  `json:"destination" doc:"A phone number with its country, such as +34600000001; +34 600-000-001 and 0034600000001 are the same" example:"+34600000001"`
	Purpose     Purpose `json:"purpose" doc:"What it is for" example:"sign_in"`
	DeviceToken string  `json:"deviceToken,omitempty" maxLength:"200" doc:"As the last sign-in with this number on this device gave it: the device then shares no limit of codes with others" example:"dd_aaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
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
	Code        string `json:"code" doc:"The six digits; 123 456 and 123-456 are the same" example:"123456"`
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
	UserID                string  `json:"userId" doc:"Whose session it is" example:"01KA0000000000000000000001"`
	AccessToken           string  `json:"accessToken" doc:"Send it as Authorization: Bearer" example:"eyJhbGciOiJIUzI1NiJ9.e30.AAAA"`
	AccessExpiresAt       string  `json:"accessExpiresAt" format:"date-time" doc:"15 minutes from now" example:"2026-11-01T12:15:00.000Z"`
	RefreshToken          string  `json:"refreshToken" doc:"Good once, for the next tokens. One that was replaced ends the session" example:"dr_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
	RefreshExpiresAt      string  `json:"refreshExpiresAt" format:"date-time" doc:"30 days from now, and at most 180 days from the sign-in" example:"2026-12-01T12:00:00.000Z"`
	IsNewUser             bool    `json:"isNewUser" doc:"Whether this sign-in made the account" example:"true"`
	OnboardingStep        Step    `json:"onboardingStep" doc:"How far the onboarding is" example:"verified_identity"`
	IsOnboardingCompleted bool    `json:"isOnboardingCompleted" doc:"Whether the person may do all that others may" example:"false"`
	DeviceToken           string  `json:"deviceToken,omitempty" doc:"Of a sign-in by a code: keep it for 90 days, and send it with the next request for a code for this number" example:"dd_aaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
	DeletedAt             *string `json:"deletedAt" format:"date-time" doc:"When the person has left, or null. Such tokens are good to come back and to sign out, and nothing else" example:"2026-11-01T12:00:00.000Z"`
}

func tokensOf(in people.SignedIn) Tokens {
	t := in.Tokens
	return Tokens{
		t.UserID, t.Access, httpjson.FormatTime(t.AccessExpires), t.Refresh,
		httpjson.FormatTime(t.RefreshEnds), in.IsNew, Step(in.User.Step()), in.User.Onboarded(), in.Device,
		httpjson.OptionalTime(in.User.DeletedAt),
	}
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
	Picture  *string `json:"profileAssetId,omitempty" doc:"A picture of the purpose profile, or \"\" for none" example:"01KA000000000000000000000C"`
}

// ProfileChange are changes of a profile; absent members stay as they are.
type ProfileChange struct {
	Username *string `json:"username,omitempty" doc:"Only if there is none yet" example:"Ann_1"`
	FullName *string `json:"fullName,omitempty" doc:"1 to 100 characters" example:"Ann"`
	Bio      *string `json:"bio,omitempty" doc:"Up to 500 characters" example:"I like tea"`
	Picture  *string `json:"profileAssetId,omitempty" doc:"A picture of the purpose profile, or \"\" for none" example:"01KA000000000000000000000C"`
}

// Terms are the texts that a person accepts.
type Terms struct {
	TermsVersion   string `json:"termsVersion" doc:"Which terms of use, up to 50 characters" example:"2026-11"`
	PrivacyVersion string `json:"privacyVersion" doc:"Which statement on privacy, up to 50 characters" example:"2026-11"`
}

// Person is what everybody sees of somebody.
type Person struct {
	UserID   *string `json:"userId" doc:"The id of the person; null of one who has left" example:"01KA0000000000000000000001"`
	Username *string `json:"username" doc:"Unique whatever its case; null of one who has left" example:"Ann_1"`
	FullName string  `json:"fullName" doc:"As the person wrote it, or Deleted user" example:"Ann"`
	Picture  *string `json:"profileAssetId" doc:"The picture of the person, or null" example:"01KA000000000000000000000C"`
}

func personOf(p people.Person) Person {
	return Person{
		httpjson.OptionalText(p.ID), httpjson.OptionalText(p.Username), p.FullName,
		httpjson.OptionalText(p.Picture),
	}
}

// MyCounts are numbers that go with an account.
type MyCounts struct {
	Followers int64 `json:"followers" doc:"Who follows the person" example:"5"`
	Following int64 `json:"following" doc:"Whom the person follows" example:"3"`
	Posts     int64 `json:"posts" doc:"Posts of the person, the locked ones among them" example:"2"`
	VotesCast int64 `json:"votesCast" doc:"Votes of the person" example:"7"`
}

// Me is the caller's own account.
type Me struct {
	UserID                 string   `json:"userId" doc:"The id of the person" example:"01KA0000000000000000000001"`
	Username               *string  `json:"username" doc:"Null until it is chosen" example:"Ann_1"`
	FullName               string   `json:"fullName" doc:"Empty until it is given" example:"Ann"`
	Bio                    string   `json:"bio" doc:"About the person" example:"I like tea"`
	Picture                *string  `json:"profileAssetId" doc:"The picture of the person, or null" example:"01KA000000000000000000000C"`
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
		UserID: m.ID, Username: httpjson.OptionalText(m.Username), FullName: m.FullName, Bio: m.Bio,
		Picture: httpjson.OptionalText(m.Picture), Phone: m.Phone, OnboardingStep: Step(m.Step()),
		IsOnboardingCompleted:  m.Onboarded(),
		AcceptedTermsVersion:   httpjson.OptionalText(m.TermsVersion),
		AcceptedPrivacyVersion: httpjson.OptionalText(m.PrivacyVersion),
		AcceptedAt:             httpjson.OptionalTime(m.AcceptedAt), CreatedAt: httpjson.FormatTime(m.CreatedAt),
		Counts: MyCounts{m.Counts.Followers, m.Counts.Following, m.Counts.AllPosts(), m.Counts.VotesCast},
	}
}

// ProfileCounts are numbers that everybody sees.
type ProfileCounts struct {
	Followers int64 `json:"followers" doc:"Who follows the person" example:"5"`
	Following int64 `json:"following" doc:"Whom the person follows" example:"3"`
	Posts     int64 `json:"posts" doc:"Posts of the person that are not locked" example:"2"`
}

// ProfileViewer is what a profile says of the caller.
type ProfileViewer struct {
	Following  bool    `json:"following" doc:"Whether the caller follows the person" example:"true"`
	FollowedAt *string `json:"followedAt" format:"date-time" doc:"Since when, or null" example:"2026-11-01T12:00:00.000Z"`
	FollowsYou bool    `json:"followsYou" doc:"Whether the person follows the caller" example:"false"`
}

// Profile is the page of a person.
type Profile struct {
	Person
	Bio       string        `json:"bio" doc:"About the person" example:"I like tea"`
	CreatedAt string        `json:"createdAt" format:"date-time" doc:"The first sign-in" example:"2026-11-01T12:00:00.000Z"`
	Counts    ProfileCounts `json:"counts" doc:"Numbers that follow what the person did"`
	Viewer    ProfileViewer `json:"viewer" doc:"The caller"`
}

func profileOf(p people.Profile) Profile {
	return Profile{
		personOf(p.Person), p.Bio, httpjson.FormatTime(p.CreatedAt),
		ProfileCounts{p.Counts.Followers, p.Counts.Following, p.Counts.Posts},
		ProfileViewer{p.Follows, httpjson.OptionalTime(p.FollowedAt), p.FollowsYou},
	}
}

// Availability says whether a name can be had.
type Availability struct {
	Available bool   `json:"available" doc:"Whether the caller can have the name" example:"false"`
	Reason    string `json:"reason,omitempty" enum:"invalid,reserved,taken" doc:"Why not; absent if the name can be had" example:"taken"`
}

// nullable is an object of texts and of inline parts that may be null.
func nullable(properties map[string]*huma.Schema, required ...string) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Nullable: true, AdditionalProperties: false,
		Properties: properties, Required: required,
	}
}

func text(doc, example string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Description: doc, Examples: []any{example}}
}

// A Slider asks for an opinion between two sides.
type Slider struct {
	Text       string `json:"text"`
	LeftLabel  string `json:"leftLabel,omitempty"`
	RightLabel string `json:"rightLabel,omitempty"`

	EndsAt           string `json:"endsAt,omitempty"`
	EndsWhenAllVoted bool   `json:"endsWhenAllVoted,omitempty"`
	Ended            bool   `json:"ended,omitempty"`
}

// draft returns the slider that somebody asks for.
func (s *Slider) draft() (*posts.Slider, error) {
	if s == nil {
		return nil, nil
	}
	d := &posts.Slider{
		Text: s.Text, LeftLabel: s.LeftLabel, RightLabel: s.RightLabel,
		EndsWhenAllVoted: s.EndsWhenAllVoted,
	}
	if s.EndsAt == "" {
		return d, nil
	}
	var err error
	if d.EndsAt, err = time.Parse(time.RFC3339, s.EndsAt); err != nil {
		var b rules.Broken
		b.Add(false, "slider.endsAt", "give a time such as 2026-11-02T12:00:00Z")
		return nil, b.Err()
	}
	return d, nil
}

func sliderOf(c posts.Card) *Slider {
	if c.Slider == nil {
		return nil
	}
	s := &Slider{
		Text: c.Slider.Text, LeftLabel: c.Slider.LeftLabel, RightLabel: c.Slider.RightLabel,
		EndsWhenAllVoted: c.Slider.EndsWhenAllVoted, Ended: c.End.Counted,
	}
	if !c.Slider.EndsAt.IsZero() {
		s.EndsAt = httpjson.FormatTime(c.Slider.EndsAt)
	}
	return s
}

// Schema returns an object that may be null.
func (Slider) Schema(huma.Registry) *huma.Schema {
	return nullable(map[string]*huma.Schema{
		"text":       text("The question, 1 to 260 characters", "Is tea better than coffee?"),
		"leftLabel":  text("The left side, up to 50 characters", "Tea"),
		"rightLabel": text("The right side, up to 50 characters", "Coffee"),
		"endsAt": {
			Type: huma.TypeString, Format: "date-time",
			Description: "When all votes are counted, within 90 days. Until then none is, and after it none is taken",
			Examples:    []any{"2026-11-02T12:00:00.000Z"},
		},
		"endsWhenAllVoted": {Type: huma.TypeBoolean, Description: "Whether that is as soon as all have voted who were members of the hub when the post was made: five at least, of a post that is locked to one hub. Without endsAt it is 30 days later at most", Examples: []any{false}},
		"ended": {
			Type:        huma.TypeBoolean,
			Description: "Whether all votes are counted. No one needs to send it", Examples: []any{false},
		},
	}, "text")
}

// An Article is what a post is about.
type Article struct {
	Kind            string `json:"kind"`
	Text            string `json:"text,omitempty"`
	AssetID         string `json:"assetId,omitempty"`
	LinkURL         string `json:"linkUrl,omitempty"`
	LinkTitle       string `json:"linkTitle,omitempty"`
	LinkDescription string `json:"linkDescription,omitempty"`
	HasMore         bool   `json:"hasMore"`
}

// Schema returns an object that may be null.
func (Article) Schema(huma.Registry) *huma.Schema {
	kind := openapi.OneOf(posts.Kinds)
	kind.Description, kind.Examples = "text, link, media for a picture, or mixed for two or three of them",
		[]any{"mixed"}
	return nullable(map[string]*huma.Schema{
		"kind": kind, "text": text("Up to 60,000 characters", "In 1657 …"),
		"assetId":   text("A picture of the purpose post", "01KA000000000000000000000C"),
		"linkUrl":   text("http or https, up to 2,000 characters", "https://example.com/tea"),
		"linkTitle": text("Up to 200 characters", "Tea"), "linkDescription": text("Up to 500 characters", "A history"),
		"hasMore": {Type: huma.TypeBoolean, Description: "In lists: whether text is the first 500 characters of a longer one, which GET /posts/{id} has. No one needs to send it", Examples: []any{false}},
	}, "kind")
}

// A NewPost is what somebody posts: at least one part.
type NewPost struct {
	Visibility  string   `json:"visibility,omitempty" enum:"public,public_hub,private_locked_hub" doc:"Who sees it: everybody in all lists, everybody who has its id and the lists of its hubs, or the members of its hubs and its author; public if it is absent" example:"public_hub"`
	HubIDs      []string `json:"hubIds,omitempty" doc:"1 to 20 hubs of the caller, none of a public post" example:"[\"01KA0000000000000000000004\"]"`
	ThoughtText *string  `json:"thoughtText,omitempty" doc:"1 to 250 characters" example:"I had four cups today"`
	Slider      *Slider  `json:"slider,omitempty" doc:"Asks for votes"`
	Article     *Article `json:"article,omitempty" doc:"What the post is about"`
}

func (p NewPost) draft() (posts.Draft, error) {
	slider, err := p.Slider.draft()
	d := posts.Draft{Visibility: p.Visibility, Hubs: p.HubIDs, Thought: p.ThoughtText, Slider: slider}
	if a := p.Article; a != nil {
		d.Article = &posts.Article{
			Kind: a.Kind, Text: a.Text, Picture: a.AssetID, LinkURL: a.LinkURL,
			LinkTitle: a.LinkTitle, LinkDescription: a.LinkDescription,
		}
	}
	return d, err
}

// A NewRepost is a post about another post: it has at least one part.
type NewRepost struct {
	Visibility  string   `json:"visibility,omitempty" enum:"public,public_hub,private_locked_hub" doc:"As of a post" example:"public"`
	HubIDs      []string `json:"hubIds,omitempty" doc:"1 to 20 hubs of the caller, none of a public repost" example:"[]"`
	ThoughtText *string  `json:"thoughtText,omitempty" doc:"1 to 250 characters" example:"Not with milk"`
	Slider      *Slider  `json:"slider,omitempty" doc:"Asks for votes of its own"`
}

func (p NewRepost) draft(source string) (posts.Draft, error) {
	slider, err := p.Slider.draft()
	return posts.Draft{
		Visibility: p.Visibility, Hubs: p.HubIDs, Thought: p.ThoughtText,
		Slider: slider, Source: source,
	}, err
}

// A Viewer is what a card says of the caller.
type Viewer struct {
	Voted    bool `json:"voted" doc:"Whether the caller has voted on the post" example:"false"`
	IsAuthor bool `json:"isAuthor" doc:"Whether the caller wrote it" example:"true"`
}

// A HubName is a hub in which a post is.
type HubName struct {
	HubID string `json:"hubId" doc:"The id of the hub" example:"01KA0000000000000000000004"`
	Name  string `json:"name" doc:"Its name" example:"Tea drinkers"`
}

// A CardCounts is how much there is around a post.
type CardCounts struct {
	Comments int64 `json:"comments" doc:"Comments, with replies" example:"3"`
	Reposts  int64 `json:"reposts" doc:"Reposts that everybody can see" example:"1"`
	Shares   int64 `json:"shares" doc:"How often it was shared" example:"2"`
}

// A Card is a post.
type Card struct {
	PostID      string     `json:"postId" doc:"The id of the post" example:"01KA0000000000000000000003"`
	Author      Person     `json:"author" doc:"Who wrote it"`
	Visibility  string     `json:"visibility" enum:"public,public_hub,private_locked_hub" doc:"Who sees it" example:"public"`
	Hubs        []HubName  `json:"hubs" nullable:"false" doc:"Its hubs of which the caller is a member"`
	CreatedAt   string     `json:"createdAt" format:"date-time" doc:"When it was posted" example:"2026-11-01T12:00:00.000Z"`
	ShareID     *string    `json:"shareId,omitempty" doc:"In lists: the share by which the post is in the list" example:"01KA0000000000000000000009"`
	SharedBy    *Person    `json:"sharedBy,omitempty" doc:"Who shared it"`
	SharedAt    *string    `json:"sharedAt,omitempty" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
	Note        *string    `json:"note,omitempty" doc:"What the person wrote to it" example:"Read this"`
	IsRepost    bool       `json:"isRepost" doc:"Whether it is of another post" example:"false"`
	SourcePost  *Source    `json:"sourcePost" doc:"Of a repost: the post that it is of, or null if that is not there for the caller"`
	Article     *Article   `json:"article" doc:"What the post is about, or null"`
	ThoughtText *string    `json:"thoughtText" doc:"A thought, or null" example:"I had four cups today"`
	Slider      *Slider    `json:"slider" doc:"Null if there is nothing to vote on"`
	Counts      CardCounts `json:"counts" doc:"What is around it"`
	Vote        *Summary   `json:"vote" doc:"The votes, or null without a slider"`
	TakenOutOf  []HubName  `json:"takenOutOf" nullable:"false" doc:"For its author: the hubs out of which an admin took it"`
	Viewer      Viewer     `json:"viewer" doc:"The caller"`
}

func (a *api) cardOf(c posts.Card) Card {
	card := Card{
		PostID: c.ID, Author: personOf(c.Author), Visibility: c.Visibility, CreatedAt: httpjson.FormatTime(c.CreatedAt),
		ThoughtText: httpjson.OptionalText(c.Thought),
		Slider:      sliderOf(c), Counts: CardCounts{c.Comments, c.Reposts, c.Shares},
		Viewer: Viewer{c.Voted, c.IsAuthor},
		Hubs:   []HubName{}, TakenOutOf: []HubName{}, IsRepost: c.SourceID != "",
	}
	for _, hub := range c.In {
		card.Hubs = append(card.Hubs, HubName{hub.ID, hub.Name})
	}
	for _, hub := range c.TakenOut {
		card.TakenOutOf = append(card.TakenOutOf, HubName{hub.ID, hub.Name})
	}
	if a := c.Article; a != nil {
		card.Article = &Article{a.Kind, a.Text, a.Picture, a.LinkURL, a.LinkTitle, a.LinkDescription, a.More}
	}
	if c.Slider != nil {
		s := a.summaryOf(c.ID, c.Result)
		card.Vote = &s
	}
	if x := c.Share; x != nil {
		by, at := personOf(x.By), httpjson.FormatTime(x.CreatedAt)
		card.ShareID, card.SharedBy, card.SharedAt, card.Note = &x.ID, &by, &at, &x.Note
	}
	if c.Source != nil {
		source := Source(a.cardOf(*c.Source))
		card.SourcePost = &source
	}
	return card
}

// A NewShare shares a post into the caller's own list.
type NewShare struct {
	Note string `json:"note,omitempty" doc:"Up to 500 characters" example:"Read this"`
}

// A NewHubShare shares a post into hubs.
type NewHubShare struct {
	HubIDs []string `json:"hubIds" doc:"1 to 20 hubs of the caller" minItems:"1" example:"[\"01KA0000000000000000000004\"]" nullable:"false"`
	NewShare
}

// A ShareTarget is where a share goes.
type ShareTarget struct {
	TargetType string `json:"targetType" enum:"feed,hub" doc:"The list of the person who shares, or a hub" example:"hub"`
	TargetID   string `json:"targetId" doc:"The id of the person, or of the hub" example:"01KA0000000000000000000004"`
}

// A Shared is a share that was made.
type Shared struct {
	ShareID   string        `json:"shareId" doc:"The id of the share" example:"01KA0000000000000000000009"`
	PostID    string        `json:"postId" doc:"The post" example:"01KA0000000000000000000003"`
	CreatedAt string        `json:"createdAt" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
	Targets   []ShareTarget `json:"targets" nullable:"false" doc:"Where to"`
}

func sharedOf(x posts.Share) Shared {
	all := []ShareTarget{}
	for _, hub := range x.Hubs {
		all = append(all, ShareTarget{"hub", hub})
	}
	if len(all) == 0 {
		all = append(all, ShareTarget{"feed", x.ByID})
	}
	return Shared{x.ID, x.PostID, httpjson.FormatTime(x.CreatedAt), all}
}

// A ShareItem is a share of a post.
type ShareItem struct {
	ShareID    string `json:"shareId" doc:"The id of the share" example:"01KA0000000000000000000009"`
	SharedBy   Person `json:"sharedBy" doc:"Who shared it"`
	Note       string `json:"note" doc:"What the person wrote to it, or nothing" example:"Read this"`
	CreatedAt  string `json:"createdAt" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
	TargetType string `json:"targetType" enum:"feed,hub" doc:"To the list of the person, or to hubs" example:"feed"`
}

func shareItemOf(x posts.Share) ShareItem {
	target := "hub"
	if !x.ToHubs {
		target = "feed"
	}
	return ShareItem{x.ID, personOf(x.By), x.Note, httpjson.FormatTime(x.CreatedAt), target}
}

// A Source is the post that a repost is of.
type Source Card

// Schema returns a post that may be null.
func (Source) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{r.Schema(reflect.TypeFor[Card](), true, "Card"), {Type: "null"}}}
}

// A Cards is a page of posts.
type Cards struct {
	Items      []Card `json:"items" nullable:"false" doc:"The newest first"`
	NextCursor string `json:"nextCursor,omitempty" doc:"Where the next page begins; absent at the end" example:"AYm1Wq2kK3xPdWJ8"`
}

// A DeletedPost is a post that its author can bring back.
type DeletedPost struct {
	Post      Card   `json:"post" doc:"The post, which is not there for anybody now, nor is its picture"`
	DeletedAt string `json:"deletedAt" format:"date-time" doc:"Since when" example:"2026-11-01T12:00:00.000Z"`
	GoneAt    string `json:"goneAt" format:"date-time" doc:"Until when POST /posts/ID/restore brings it back" example:"2026-12-01T12:00:00.000Z"`
}

// A Summary is the votes of a scope.
type Summary struct {
	PostID       string `json:"postId"`
	Scope        string `json:"scope"`
	TotalVotes   int64  `json:"totalVotes"`
	CountedVotes int64  `json:"countedVotes"`
	Hidden       bool   `json:"hidden"`
	MinVotes     int    `json:"minVotes"`
	LeftCount    *int64 `json:"leftCount"`
	NeutralCount *int64 `json:"neutralCount"`
	RightCount   *int64 `json:"rightCount"`
}

// number is an integer of an answer.
func number(doc string, example int) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Description: doc, Examples: []any{example}}
}

// summary are the members of a Summary.
func summary() map[string]*huma.Schema {
	count := func(side string, example int) *huma.Schema {
		s := number("Votes counted "+side+", or null while nothing is counted", example)
		s.Nullable = true
		return s
	}
	return map[string]*huma.Schema{
		"postId": text("The post", "01KA0000000000000000000003"), "scope": text("Where the votes count", "global"),
		"totalVotes":   number("Votes cast", 4),
		"countedVotes": number("Those that are counted: zero, or a sum of groups of minVotes or more", 3),
		"hidden":       {Type: huma.TypeBoolean, Description: "Whether nothing is counted yet", Examples: []any{false}},
		"minVotes":     number("How many votes are counted together at least", 3), "leftCount": count("on the left", 2),
		"neutralCount": count("in the middle", 0), "rightCount": count("on the right", 1),
	}
}

// Schema returns an object that may be null.
func (Summary) Schema(huma.Registry) *huma.Schema {
	return nullable(summary(), "postId", "scope", "totalVotes", "countedVotes", "hidden", "minVotes", "leftCount",
		"neutralCount", "rightCount")
}

func (a *api) summaryOf(post string, r ballot.Result) Summary {
	s := Summary{
		PostID: post, Scope: r.Scope, TotalVotes: r.Total, CountedVotes: r.Counted,
		Hidden: r.Counted == 0, MinVotes: a.VoteMin,
	}
	if !s.Hidden {
		left, neutral, right := r.Counts.Left(), r.Counts[ballot.Neutral], r.Counts.Right()
		s.LeftCount, s.NeutralCount, s.RightCount = &left, &neutral, &right
	}
	return s
}

// A VoteSummary is a summary with the part of the caller.
type VoteSummary struct {
	PostID       string `json:"postId" doc:"The post" example:"01KA0000000000000000000003"`
	Scope        string `json:"scope" doc:"Where the votes count" example:"global"`
	TotalVotes   int64  `json:"totalVotes" doc:"Votes cast" example:"4"`
	CountedVotes int64  `json:"countedVotes" doc:"Those that are counted: zero, or a sum of groups of minVotes or more" example:"3"`
	Hidden       bool   `json:"hidden" doc:"Whether nothing is counted yet" example:"false"`
	MinVotes     int    `json:"minVotes" doc:"How many votes are counted together at least" example:"3"`
	LeftCount    *int64 `json:"leftCount" doc:"Votes counted on the left, or null while nothing is counted" example:"2"`
	NeutralCount *int64 `json:"neutralCount" doc:"In the middle, or null" example:"0"`
	RightCount   *int64 `json:"rightCount" doc:"On the right, or null" example:"1"`
	Voted        bool   `json:"voted" doc:"Whether the caller has voted" example:"true"`
}

// A Position is a place on a slider.
type Position string

// Schema returns the values.
func (Position) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(ballot.Positions()) }

// A NewVote is a vote.
type NewVote struct {
	Position Position `json:"position" doc:"What you choose, for ever" example:"strong_left"`
	Pad      string   `json:"pad,omitempty" maxLength:"32" doc:"Dropped: fill it so that the request is as long whatever you choose" example:"xxxx"`
}

// A ScopeOf is where a vote counts.
type ScopeOf struct {
	ScopeType string `json:"scopeType" enum:"global,hub" doc:"Everywhere, or in a hub" example:"global"`
	ScopeID   string `json:"scopeId" doc:"global, or the id of the hub" example:"global"`
}

// A VoteCast is a vote that was cast. It has no position.
type VoteCast struct {
	PostID  string    `json:"postId" doc:"The post" example:"01KA0000000000000000000003"`
	VotedAt string    `json:"votedAt" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
	Scopes  []ScopeOf `json:"scopes" nullable:"false" doc:"Where it counts"`
}

func castOf(r ballot.Receipt) VoteCast {
	v := VoteCast{r.Post, httpjson.FormatTime(r.VotedAt), []ScopeOf{{"global", ballot.Global}}}
	for _, hub := range r.Hubs {
		v.Scopes = append(v.Scopes, ScopeOf{"hub", hub})
	}
	return v
}

// A Bar is how many votes a position has.
type Bar struct {
	Position Position `json:"position" doc:"The position" example:"strong_left"`
	Count    int64    `json:"count" doc:"Votes counted" example:"1"`
}

// A Distribution is the votes by position.
type Distribution struct {
	PostID       string `json:"postId" doc:"The post" example:"01KA0000000000000000000003"`
	Scope        string `json:"scope" doc:"Where the votes count" example:"global"`
	TotalVotes   int64  `json:"totalVotes" doc:"Votes cast" example:"4"`
	CountedVotes int64  `json:"countedVotes" doc:"Those that are counted" example:"3"`
	MinVotes     int    `json:"minVotes" doc:"How many votes are counted together at least" example:"3"`
	Distribution []Bar  `json:"distribution" nullable:"false" doc:"All five in order, or none while nothing is counted"`
}

// A HubVote is the votes on a post in a hub.
type HubVote struct {
	PostID        string `json:"postId" doc:"The post" example:"01KA0000000000000000000003"`
	Scope         string `json:"scope" doc:"Always hub" example:"hub"`
	HubID         string `json:"hubId" doc:"The hub" example:"01KA0000000000000000000004"`
	Name          string `json:"name" doc:"Its name" example:"Tea drinkers"`
	TotalVotes    int64  `json:"totalVotes" doc:"Votes that members cast" example:"4"`
	CountedVotes  int64  `json:"countedVotes" doc:"Those that are counted: zero, or a sum of groups of minVotes or more" example:"3"`
	WithheldVotes int64  `json:"withheldVotes" doc:"Those that are counted for everybody and never here, because they were counted together with votes of others" example:"0"`
	Hidden        bool   `json:"hidden" doc:"Whether nothing is counted yet" example:"false"`
	MinVotes      int    `json:"minVotes" doc:"How many votes are counted together at least" example:"3"`
	LeftCount     *int64 `json:"leftCount" doc:"Votes counted on the left, or null while nothing is counted" example:"2"`
	NeutralCount  *int64 `json:"neutralCount" doc:"In the middle, or null" example:"0"`
	RightCount    *int64 `json:"rightCount" doc:"On the right, or null" example:"1"`
	Distribution  []Bar  `json:"distribution" nullable:"false" doc:"All five in order, or none while nothing is counted"`
}

// A HubVotes is the votes on a post in several hubs.
type HubVotes struct {
	Items []HubVote `json:"items" nullable:"false" doc:"In the order of the ids of the hubs"`
}

// A MyVote is a post on which the caller voted.
type MyVote struct {
	PostID  string `json:"postId" doc:"The post" example:"01KA0000000000000000000003"`
	VotedAt string `json:"votedAt" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
}

// A MyVotes is a page of them.
type MyVotes struct {
	Items      []MyVote `json:"items" nullable:"false" doc:"The newest first"`
	NextCursor string   `json:"nextCursor,omitempty" doc:"Where the next page begins; absent at the end" example:"AYm1Wq2kK3xPdWJ8"`
}
