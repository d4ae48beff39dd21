// Package meet keeps the members of a community: their accounts and sessions, their profiles and
// preferences, and their pictures.
//
// # Rows
//
//	Users            USER_{c} / userId            the account and the profile: the truth
//	UserEmails       EMAIL_{hh} / SHA-256 in hex  the address is taken, by UserId
//	Sessions         userId / sessionId           who is signed in, and tokens to set a new password
//	UserImages       userId / imageId             a picture; its files are profile-images
//	                 userId / !images             heads the pictures of a member
//	UserPreferences  userId / PREFS
//	                 userId / PLACE               where the member is in the deck
//	                 userId / SEEN                up to when the member has seen their matches
//	                 userId / TOLD                up to when a mail told the news, and the secret that ends such mails
//	UserSettings     userId / SETTINGS
//	Pairs            smaller id / larger id       likes, match, blocks and passes of two members: the truth
//	Deck             see package deck: it follows Users, UserPreferences and UserSettings
//	Chats, UserChats, Messages   see package chat: whether a chat is open follows Pairs
//
//	Likes            from / {inv}_{to}            a like that was sent
//	                 from / DAY_{yyyyMMdd}        how many likes were sent on a day
//	LikesReceived    to / {inv}_{from}            one that waits for an answer; anonymous: {to}_ANON
//	                 to_ANON / {inv}_             of a member who was erased
//	Matches          userId / otherId             in both directions
//	Blocks           userId / {inv}_{otherId}     and {otherId}_BY / {inv}_{userId}
//
//	Mails            JOIN_{c} / id                a registration that waits for its mail to be answered
//	                 DAY_{yyyyMMdd} / {kind}_{hash of address}, all   how many mails were sent on a day
//	                 WAIT / userId                since when there is news for a member
//	                 WAIT / userId_eventId        an event that changed, as it is now
//
//	State            tidy / its walks             places of timers
//	                 DUE_{yyyyMMdd} / {t}_account_{userId}   an account that was deleted on that day: see package erase
//
// The rows of Likes, LikesReceived, Matches and Blocks are lists, and follow Pairs: a row that the
// pair refuses is not shown. {inv} is an instant, written so that later ones come first; a pair
// gives no instant twice.
//
// {c} is the first character of an id, {hh} are the first two of a hash.
//
// # How an account is made
//
// Nothing is atomic beyond one partition, so an account is one that its row of UserEmails names:
// inserting that row is the commit.
//
//	message          says that something may be half-way; it is seen after 30 s
//	insert Users     with Registered false: no request finds it yet
//	insert UserEmails   the commit
//	Registered, settings, preferences, Deck, session
//	delete message   after the answer
//
// A picture is two files, then a row under the ETag of `!images`, then ProfileImageUrl, which
// follows the first picture; a deletion goes the other way. A row without files is never there.
//
// A process may stop anywhere. The job of the message finishes an account that was committed, and
// removes one that was not, once no write of its registration can land any more.
package meet

import (
	"github.com/google/uuid"

	"prompthub/internal/storage/rowstore"
)

// Tables names the tables.
type Tables struct {
	Users           string `table:"Users"`
	UserEmails      string `table:"UserEmails"`
	Sessions        string `table:"Sessions"`
	UserImages      string `table:"UserImages"`
	UserPreferences string `table:"UserPreferences"`
	UserSettings    string `table:"UserSettings"`
	Likes           string `table:"Likes"`
	LikesReceived   string `table:"LikesReceived"`
	Matches         string `table:"Matches"`
	Blocks          string `table:"Blocks"`
	Pairs           string `table:"Pairs"`

	Deck      string `table:"Deck"`
	Chats     string `table:"Chats"`
	UserChats string `table:"UserChats"`
	Messages  string `table:"Messages"`
	State     string `table:"State"`
	Mails     string `table:"Mails"`
}

// All returns the names.
func (t Tables) All() []string { return rowstore.TableNames(t) }

// IsID reports whether s can be the id of something: a GUID in lower case.
func IsID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}

func (s *Service) newID() string {
	id, err := uuid.NewRandomFromReader(s.Entropy)
	if err != nil {
		panic(err) // the system has no random numbers, and keys would have none either
	}
	return id.String()
}
