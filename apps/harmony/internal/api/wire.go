package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// Words of short lists, whose values package rules has.
type (
	// Gender is one of rules.Genders.
	Gender string
	// Language is one of rules.Languages.
	Language string
	// ShowMe is one of rules.ShowMe.
	ShowMe string
	// Visibility is one of rules.Visibilities.
	Visibility string
	// Role is a role of a member.
	Role string
)

// Schema returns the values.
func (Gender) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(rules.Genders) }

// Schema returns the values.
func (Language) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(rules.Languages) }

// Schema returns the values.
func (ShowMe) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(rules.ShowMe) }

// Schema returns the values.
func (Visibility) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(rules.Visibilities) }

// Schema returns the values.
func (Role) Schema(huma.Registry) *huma.Schema {
	return openapi.OneOf([]string{string(meet.Member), string(meet.Moderator), string(meet.Admin)})
}

// A Position is a place on the map, in degrees.
type Position struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

// Schema returns an object that may be null.
func (Position) Schema(huma.Registry) *huma.Schema {
	degrees := func(doc string, example float64) *huma.Schema {
		return &huma.Schema{Type: huma.TypeNumber, Format: "double", Description: doc, Examples: []any{example}}
	}
	return &huma.Schema{
		Type: huma.TypeObject, Nullable: true, AdditionalProperties: false, Required: []string{"lat", "lon"},
		Properties: map[string]*huma.Schema{
			"lat": degrees("Latitude, -90 to 90, kept as tenths of a degree, rounded down", 55.7),
			"lon": degrees("Longitude, -180 to 180, likewise", 37.6),
		},
	}
}

// NewAccount is the body of a registration.
type NewAccount struct {
	Email     string   `json:"email" doc:"At most 254 characters; its case does not count" example:"anna@example.com"`
	Password  string   `json:"password" doc:"10 to 128 characters of any kind" example:"tea under seven lamps"`
	Name      string   `json:"name" doc:"1 to 50 characters" example:"Анна"`
	BirthDate string   `json:"birthDate" doc:"A day; members are 18 or older. It cannot be changed" example:"2000-02-29"`
	Gender    Gender   `json:"gender" doc:"Your gender" example:"female"`
	Location  string   `json:"location,omitempty" doc:"A word for where you live, up to 100 characters" example:"Москва"`
	Bio       string   `json:"bio,omitempty" doc:"About you, up to 1,000 characters" example:"Пою громче всех"`
	Language  Language `json:"language,omitempty" doc:"What pages speak to you; the best of Accept-Language if it is absent" example:"ru"`
}

// Credentials are the body of a sign-in.
type Credentials struct {
	Email    string `json:"email" doc:"The address of the account" example:"anna@example.com"`
	Password string `json:"password" doc:"Its password" example:"tea under seven lamps"`

	DeviceToken string `json:"deviceToken,omitempty" doc:"As the last session of the account on this device gave it: what strangers get wrong does not count for it" example:"hd_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
}

// RefreshToken asks for the next tokens.
type RefreshToken struct {
	RefreshToken string `json:"refreshToken" doc:"As a session or the last refresh gave it" example:"hr_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
}

// Tokens are what a session is known by.
type Tokens struct {
	AccessToken     string `json:"accessToken" doc:"Send it as Authorization: Bearer" example:"ha_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
	AccessExpiresIn int    `json:"accessExpiresIn" doc:"Seconds until the access token ends" example:"900"`
	RefreshToken    string `json:"refreshToken" doc:"Good for 30 days, for the next tokens. Two parties that use it end the session" example:"hr_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
}

func tokensOf(t meet.Tokens) Tokens {
	return Tokens{t.Access, int(t.ExpiresIn.Round(time.Second) / time.Second), t.Refresh}
}

// A Session is a member who has signed in.
type Session struct {
	User Me `json:"user" doc:"The member"`
	Tokens

	DeviceToken string `json:"deviceToken" doc:"Keep it on this device for 90 days, also after a sign-out, and send it with the next sign-in" example:"hd_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
}

// Me is the caller's own account.
type Me struct {
	UserID          string    `json:"userId" format:"uuid" doc:"The id of the member" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
	Email           string    `json:"email" doc:"Shown to no other member" example:"anna@example.com"`
	Name            string    `json:"name" doc:"1 to 50 characters" example:"Анна"`
	BirthDate       string    `json:"birthDate" format:"date" doc:"Shown to no other member" example:"2000-02-29"`
	Age             int       `json:"age" doc:"In years" example:"26"`
	Bio             string    `json:"bio" doc:"About the member" example:"Пою громче всех"`
	Location        string    `json:"location" doc:"A word for where they live" example:"Москва"`
	Position        *Position `json:"position" doc:"Where the member is, or null; shown to no other member"`
	Gender          Gender    `json:"gender" doc:"Their gender" example:"female"`
	Role            Role      `json:"role" doc:"What the member may do beyond others" example:"member"`
	ProfileImageURL *string   `json:"profileImageUrl" doc:"The first picture, or null" example:"/api/v1/images/profile/3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40/0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925.jpg"`
	Images          []Image   `json:"images" nullable:"false" doc:"The pictures in order"`
	CreatedAt       string    `json:"createdAt" format:"date-time" doc:"When the account was made" example:"2026-11-01T12:00:00.000Z"`
	UpdatedAt       string    `json:"updatedAt" format:"date-time" doc:"When it was changed last" example:"2026-11-01T12:00:00.000Z"`
}

func meOf(m meet.Me) Me {
	me := Me{
		UserID: m.ID, Email: m.Email, Name: m.Name, BirthDate: m.BirthDate.Format(time.DateOnly), Age: m.Age,
		Bio: m.Bio, Location: m.Location,
		Gender: Gender(m.Gender), Role: Role(m.Role), ProfileImageURL: httpjson.OptionalText(m.ProfileImageURL),
		Images: imagesOf(m.Images.All), CreatedAt: httpjson.FormatTime(m.CreatedAt),
		UpdatedAt: httpjson.FormatTime(m.UpdatedAt),
	}
	if m.Position != nil {
		lat, lon := m.Position.Degrees()
		me.Position = &Position{lat, lon}
	}
	return me
}

// A Profile is what a member writes about themselves.
type Profile struct {
	Name     string    `json:"name" doc:"1 to 50 characters" example:"Анна"`
	Bio      string    `json:"bio" doc:"About you, up to 1,000 characters" example:"Пою громче всех"`
	Location string    `json:"location" doc:"A word for where you live, up to 100 characters" example:"Москва"`
	Gender   Gender    `json:"gender" doc:"Your gender" example:"female"`
	Position *Position `json:"position" doc:"Where you are; null says nothing"`
}

func (p Profile) profile() meet.Profile {
	to := meet.Profile{Name: p.Name, About: account.About{Bio: p.Bio, Location: p.Location}, Gender: string(p.Gender)}
	if at := p.Position; at != nil {
		to.Lat, to.Lon, to.Located = at.Lat, at.Lon, true
	}
	return to
}

// A Card is what one member sees of another.
type Card struct {
	UserID          string  `json:"userId" format:"uuid" doc:"The id of the member" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
	Name            string  `json:"name" doc:"Their name" example:"Анна"`
	Age             int     `json:"age" doc:"In years" example:"26"`
	Bio             string  `json:"bio" doc:"About them" example:"Пою громче всех"`
	Location        string  `json:"location" doc:"A word for where they live" example:"Москва"`
	Gender          Gender  `json:"gender" doc:"Their gender" example:"female"`
	ProfileImageURL *string `json:"profileImageUrl" doc:"The first picture, or null" example:"/api/v1/images/profile/3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40/0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925.jpg"`
	DistanceKm      *int    `json:"distanceKm" doc:"10, 25, 50, 100, 250, 500 or 1000: the two are in one square of that width, or in two that touch; null beyond, and if one of the two gave no position" example:"25"`
	IsOnline        *bool   `json:"isOnline" doc:"Seen within 5 minutes; told to matches, null to others" example:"true"`
}

func cardOf(c meet.Card) Card {
	return Card{
		c.ID, c.Name, c.Age, c.Bio, c.Location, Gender(c.Gender),
		httpjson.OptionalText(c.ProfileImageURL), c.Distance, c.Online,
	}
}

// A Person is a profile as another member sees it.
type Person struct {
	Card
	IsMatch   bool `json:"isMatch" doc:"Whether the two like each other" example:"false"`
	LikedByMe bool `json:"likedByMe" doc:"Whether the caller likes them" example:"false"`

	ChatID *string `json:"chatId" doc:"The chat of a match, or null" example:"5d3c2b1a-0f9e-4d8c-8b7a-695847362514"`

	Images []Image `json:"images" nullable:"false" doc:"The pictures in order; the first alone, if the caller sees no more than the card"`
}

// An Image is a picture of a member.
type Image struct {
	ImageID    string `json:"imageId" format:"uuid" doc:"The id of the picture" example:"0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925"`
	URL        string `json:"url" doc:"A JPEG file of up to 1,200 pixels a side" example:"/api/v1/images/profile/3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40/0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925.jpg"`
	ThumbURL   string `json:"thumbUrl" doc:"One of up to 320 pixels" example:"/api/v1/images/profile/3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40/0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925_320.jpg"`
	OrderIndex int    `json:"orderIndex" doc:"0 for the first" example:"0"`
	Width      int    `json:"width" doc:"Of the larger file, in pixels" example:"1200"`
	Height     int    `json:"height" doc:"Of the larger file" example:"900"`
	UploadedAt string `json:"uploadedAt" format:"date-time" doc:"When it was sent" example:"2026-11-01T12:00:00.000Z"`
}

func imageOf(i meet.Image) Image {
	return Image{i.ID, i.URL(), i.ThumbURL(), i.Order, i.Width, i.Height, httpjson.FormatTime(i.UploadedAt)}
}

func imagesOf(all []meet.Image) []Image {
	list := make([]Image, len(all))
	for i, image := range all {
		list[i] = imageOf(image)
	}
	return list
}

// ImageList is all pictures of a member.
type ImageList struct {
	Items []Image `json:"items" nullable:"false" doc:"In order"`
}

// ImageOrder is a new order of pictures.
type ImageOrder struct {
	ImageIDs []string `json:"imageIds" nullable:"false" doc:"The ids of all pictures, each once" example:"[\"0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925\"]"`
}

// Preferences are what a member looks for.
type Preferences struct {
	AgeRangeMin   int    `json:"ageRangeMin" doc:"18 to 99" example:"18"`
	AgeRangeMax   int    `json:"ageRangeMax" doc:"Not less than ageRangeMin; 99 is 99 and older" example:"99"`
	MaxDistanceKm int    `json:"maxDistanceKm" doc:"0 to 20,000; 0 is anywhere. A limit counts as the next class of distances, beyond 1,000 as anywhere, and shows only people who gave a position" example:"0"`
	ShowMe        ShowMe `json:"showMe" doc:"Whom to show" example:"everyone"`
}

func (p Preferences) rules() rules.Preferences {
	return rules.Preferences{
		AgeMin: p.AgeRangeMin, AgeMax: p.AgeRangeMax,
		MaxDistance: p.MaxDistanceKm, ShowMe: string(p.ShowMe),
	}
}

func preferencesOf(p rules.Preferences) Preferences {
	return Preferences{p.AgeMin, p.AgeMax, p.MaxDistance, ShowMe(p.ShowMe)}
}

// Privacy is what a member shows.
type Privacy struct {
	ProfileVisibility    Visibility `json:"profileVisibility" doc:"public: to every member; private: to matches, and as a card to those whom you like openly; friends: to matches and those whom you like openly" example:"public"`
	AnonymousLikes       bool       `json:"anonymousLikes" doc:"Whether likes are secret unless they say otherwise" example:"false"`
	Language             Language   `json:"language" doc:"What pages speak to you" example:"ru"`
	NotificationsEnabled bool       `json:"notificationsEnabled" doc:"Whether anything tells you what is new while you are away" example:"true"`
	EmailNotifications   bool       `json:"emailNotifications" doc:"Whether mails do, where the service sends mail: about likes, matches and messages that wait for 15 minutes, in one mail, three a day at most" example:"true"`
}

func (p Privacy) rules() rules.Privacy {
	return rules.Privacy{
		Visibility: string(p.ProfileVisibility), AnonymousLikes: p.AnonymousLikes,
		Language: string(p.Language), Notifications: p.NotificationsEnabled, Emails: p.EmailNotifications,
	}
}

func privacyOf(p rules.Privacy) Privacy {
	return Privacy{Visibility(p.Visibility), p.AnonymousLikes, Language(p.Language), p.Notifications, p.Emails}
}

// Settings are both.
type Settings struct {
	Preferences          Preferences `json:"preferences" doc:"What you look for"`
	Privacy              Privacy     `json:"privacy" doc:"What you show"`
	PreferencesUpdatedAt string      `json:"preferencesUpdatedAt" format:"date-time" doc:"When they were changed" example:"2026-11-01T12:00:00.000Z"`
	PrivacyUpdatedAt     string      `json:"privacyUpdatedAt" format:"date-time" doc:"When it was changed" example:"2026-11-01T12:00:00.000Z"`
}
