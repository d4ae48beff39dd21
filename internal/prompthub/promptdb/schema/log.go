package schema

import (
	"compress/flate"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// What search knows of prompts is a log: a row for each prompt with its words, in the order of
// change. An instance reads the rows of a scope once, keeps an index of them in memory, and then
// reads what is new at the end.

// A Scope names prompts that are searched together: the public ones, or those of one owner that
// are not public.
type Scope struct {
	Owner prompt.UserID // "" for the public ones
}

// Public is the scope of the prompts in the public lists.
var Public = Scope{}

// Logs says in which logs a prompt has a row: that of the scope that it is in, and that of one that
// it left, where its row says so.
type Logs uint8

// The logs that a prompt may have a row in.
const (
	inPublic Logs = 1 << iota
	inOwn
)

// now returns the log of the scope that a prompt is in: none for a deleted one.
func (r Record) now() Logs {
	switch {
	case r.Listed():
		return inPublic
	case r.Deleted():
		return 0
	}
	return inOwn
}

// In reports whether a prompt is in a scope.
func (r Record) In(s Scope) bool {
	if s == Public {
		return r.now() == inPublic
	}
	return r.now() == inOwn && r.AuthorID == s.Owner
}

// Stamp puts a record to the end of its logs, at a time: later than it was there before. So a row
// is late by the time that its writer had for it, at most, whoever that was; and of two rows of a
// prompt the one with the later stamp counts.
func (r *Record) Stamp(at time.Time) {
	if next := r.LoggedAt.Add(Tick); at.Before(next) {
		at = next
	}
	r.LoggedAt = table.TimeOf(table.Ticks(at))
	r.Logs |= r.now()
}

// PublicLogPrefix is how the partitions of the public log begin, OwnLogPrefix how those of owners.
const (
	PublicLogPrefix = "s|"
	OwnLogPrefix    = "o|"
)

// LogPartition has the rows of a scope whose stamps are near a time. The public log has eight for
// each month, in the order of time; that of an owner has one.
func (s Scope) LogPartition(stamp time.Time) string {
	if s.Owner != "" {
		return OwnLogPrefix + rowstore.Encode(string(s.Owner))
	}
	stamp = stamp.UTC()
	return PublicLogPrefix + stamp.Format("200601") + "|" + strconv.Itoa((stamp.Day()-1)/daysOfPart)
}

// IsPublicLog reports whether a partition is one of the public log.
func IsPublicLog(partition string) bool { return strings.HasPrefix(partition, PublicLogPrefix) }

// daysOfPart is how many days of a month share a partition.
const daysOfPart = 4

// NextPart returns the beginning of the part of the month that follows that of a time.
func NextPart(at time.Time) time.Time {
	at = at.UTC()
	day := (at.Day()-1)/daysOfPart*daysOfPart + 1 + daysOfPart
	next := time.Date(at.Year(), at.Month(), day, 0, 0, 0, 0, time.UTC)
	if next.Month() != at.Month() {
		return time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	}
	return next
}

// LogRow returns the beginning of the row keys in a log that have a stamp.
func LogRow(stamp time.Time) string { return rowstore.Ascending(stamp) }

// ParseLogRow returns the stamp and the prompt that a row key in a log names.
func ParseLogRow(row string) (stamp time.Time, id prompt.ID, ok bool) {
	digits, text, ok := strings.Cut(row, "|")
	if !ok {
		return stamp, "", false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > table.MaxTicks || digits != rowstore.Ascending(table.TimeOf(n)) {
		return stamp, "", false
	}
	id, ok = ParseID(text)
	return table.TimeOf(n), id, ok
}

// A part of the index below is a letter for the log, the stamp and, of an owner's log, the owner.
const (
	publicPart = "s"
	ownPart    = "o"
)

func logParts(r Record) (parts []string) {
	if r.LoggedAt.IsZero() {
		return nil
	}
	if r.Logs&inPublic != 0 {
		parts = append(parts, publicPart+LogRow(r.LoggedAt))
	}
	if r.Logs&inOwn != 0 {
		parts = append(parts, ownPart+LogRow(r.LoggedAt)+"|"+string(r.AuthorID))
	}
	return parts
}

func logKey(part string, id prompt.ID) table.Key {
	rest := strings.TrimPrefix(strings.TrimPrefix(part, publicPart), ownPart)
	digits, owner, _ := strings.Cut(rest, "|")
	ticks, _ := strconv.ParseInt(digits, 10, 64) // parts come from logParts or parseLog
	scope := Scope{Owner: prompt.UserID(owner)}
	return table.Key{Partition: scope.LogPartition(table.TimeOf(ticks)), Row: digits + "|" + string(id)}
}

func parseLog(key table.Key) (part string, id prompt.ID, ok bool) {
	stamp, id, ok := ParseLogRow(key.Row)
	if owner, own := strings.CutPrefix(key.Partition, OwnLogPrefix); own {
		user, okUser := decUser(owner)
		return ownPart + LogRow(stamp) + "|" + string(user), id, ok && okUser && user != ""
	}
	return publicPart + LogRow(stamp), id, ok
}

// logIndex is the logs of all scopes.
var logIndex = index{
	code:  CodeLog,
	table: func(t Tables) string { return t.SearchLog },
	parts: logParts,
	key:   logKey,
	parse: parseLog,
	props: func(_ table.Props, part string, r Record) table.Props {
		here := inOwn
		if strings.HasPrefix(part, publicPart) {
			here = inPublic
		}
		if r.now() != here {
			return append(GoneProps(r.ID), table.Prop{Name: "AuthorId", Value: table.String(string(r.AuthorID))})
		}
		props := table.Props{
			{Name: "PromptId", Value: table.String(string(r.ID))},
			{Name: "AuthorId", Value: table.String(string(r.AuthorID))},
			{Name: "AuthorName", Value: table.String(r.AuthorName)},
			{Name: "Title", Value: table.String(r.Title)},
			{Name: "Name", Value: table.String(r.Name)},
			{Name: "Slug", Value: table.String(r.Slug)},
			{Name: "Tags", Value: table.String(JoinTags(r.Tags))},
		}
		if here == inOwn {
			props = append(props, ownTags(r.Prompt)...)
		}
		return append(props, table.Prop{Name: "Terms", Value: table.String(packTerms(termsOf(r.Prompt)))})
	},
}

// CodeLog names the index of the logs.
const CodeLog = "l"

// GoneProps is what the row of a prompt says in the log of a scope that it left. An instance that
// has the prompt in an index takes it out. It names no user: it may outlive its prompt.
func GoneProps(id prompt.ID) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "Gone", Value: table.Bool(true)},
	}
}

// GoneFor is how long the public log says that a prompt is gone, whatever became of the prompt. An
// instance that has not read the log for as long forgets what it knows, and reads all of it.
const GoneFor = 24 * time.Hour

// IsGone reports whether a row of a log says that its prompt left the scope.
func IsGone(p table.Props) bool { return p.Get("Gone").Bool() }

// MaxTerms is how many bytes the words of a prompt take in its row of a log, compressed. Of a text
// that takes more, the last words are left out. In base 64 they fit into one property.
const MaxTerms = 24 << 10

// TermsOf returns the words that a search finds a prompt by, but for those of its title: those of
// the description, the tags and the text, in their order, as many as its row in a log has.
func TermsOf(p prompt.Prompt) []string {
	terms := termsOf(p)
	if len(terms) > MaxTerms-maxOverhead {
		terms, _ = unpackText(packTerms(terms))
	}
	return strings.Fields(terms)
}

// maxOverhead is how many bytes what cannot be compressed may grow by.
const maxOverhead = 64

func termsOf(p prompt.Prompt) string {
	var b strings.Builder
	for _, text := range append([]string{p.Description}, append(tagParts(p), p.Content().Words())...) {
		for _, word := range prompt.Terms(text) {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(word)
		}
	}
	return b.String()
}

// packTerms compresses words, as many of the first as fit.
func packTerms(terms string) string {
	for {
		packed := pack([]byte(terms))
		if len(packed) <= base64.StdEncoding.EncodedLen(MaxTerms) {
			return packed
		}
		// a little less than would fit if all of it were compressed alike
		keep := len(terms) * base64.StdEncoding.EncodedLen(MaxTerms) / len(packed) * 31 / 32
		keep = max(strings.LastIndexByte(terms[:keep], ' '), 0)
		terms = terms[:keep]
	}
}

// decompressors are kept because each takes 40 KB.
var decompressors = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// TermsIn returns the words that a row of a log has, but for those of the title.
func TermsIn(p table.Props) ([]string, error) {
	text, err := unpackText(p.Get("Terms").Str())
	if err != nil {
		return nil, fmt.Errorf("the words of a prompt: %w", err)
	}
	return strings.Fields(text), nil
}

func unpackText(packed string) (string, error) {
	r := decompressors.Get().(io.ReadCloser)
	defer decompressors.Put(r)
	source := base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed))
	if err := r.(flate.Resetter).Reset(source, nil); err != nil {
		return "", err
	}
	var b strings.Builder
	b.Grow(2 * len(packed))
	_, err := io.Copy(&b, io.LimitReader(r, maxTermsText))
	return b.String(), err
}

// maxTermsText is more than the words of any prompt take, which are in a row with it.
const maxTermsText = 8 << 20

// SameRow reports whether a row has the properties that it must have. Words count as what they are,
// however they were compressed.
func SameRow(got, want table.Props) bool {
	if got.Equal(want) {
		return true
	}
	packed, wanted := got.Get("Terms").Str(), want.Get("Terms").Str()
	if packed == wanted || packed == "" || wanted == "" {
		return false
	}
	text, err := unpackText(packed)
	is, _ := unpackText(wanted)
	if err != nil || text != is {
		return false
	}
	with := append(table.Props{}, got...)
	for i := range with {
		if with[i].Name == "Terms" {
			with[i].Value = table.String(wanted)
		}
	}
	return with.Equal(want)
}
