// Package letters has the words of mails, in Russian and in English. None says a word that a member
// wrote, but of staff about events: a stranger can have some of these mails sent to anybody.
package letters

import (
	"fmt"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/delivery/mail"
)

// A letter is the words of a mail in one language, with a place for a link.
type letter struct{ subject, text string }

// foot ends every mail.
var foot = [2]string{"\n\n— Harmony Meet, фанаты AloeVera\n", "\n\n— Harmony Meet, listeners of AloeVera\n"}

func write(language, to, link string, ru, en letter) mail.Message {
	l, end := ru, foot[0]
	if language == rules.Languages[1] {
		l, end = en, foot[1]
	}
	return mail.Message{To: to, Subject: l.subject, Text: l.text + link + end}
}

// Join asks whether the owner of an address registers here.
func Join(language, to, link string) mail.Message {
	return write(language, to, link, letter{
		"Подтвердите почту",
		"Здравствуйте!\n\nКто-то, надеемся, что вы, регистрируется у нас с этой почтой. Чтобы закончить, откройте ссылку в течение суток:\n\n",
	}, letter{
		"Confirm your address",
		"Hello,\n\nsomebody, we hope it is you, signs up with this address. To finish, open this link within a day:\n\n",
	})
}

// JoinKnown tells a member that somebody registers with their address. The link leads to where a
// password is set anew.
func JoinKnown(language, to, link string) mail.Message {
	return write(language, to, link, letter{
		"У вас уже есть аккаунт",
		"Здравствуйте!\n\nКто-то указал у нас вашу почту, а аккаунт с ней уже есть. Если это вы, просто войдите. Если забыли пароль, задайте новый здесь:\n\n",
	}, letter{
		"You have an account",
		"Hello,\n\nsomebody gave your address here, and there is an account with it. If it was you, sign in. If you forgot the password, set a new one here:\n\n",
	})
}

// Reset leads a member who forgot the password to where a new one is set.
func Reset(language, to, link string) mail.Message {
	return write(language, to, link, letter{
		"Новый пароль",
		"Здравствуйте!\n\nЧтобы задать новый пароль, откройте ссылку в течение 30 минут. Она сработает один раз, и все сеансы завершатся. Если вы об этом не просили, ничего не делайте.\n\n",
	}, letter{
		"A new password",
		"Hello,\n\nto set a new password, open this link within 30 minutes. It works once, and ends all sessions. If you did not ask for it, do nothing.\n\n",
	})
}

// Move asks whether the owner of an address has their account move to it.
func Move(language, to, link string) mail.Message {
	return write(language, to, link, letter{
		"Подтвердите новую почту",
		"Здравствуйте!\n\nЧтобы входить с этой почтой, откройте ссылку в течение суток. Если вы об этом не просили, ничего не делайте.\n\n",
	}, letter{
		"Confirm your new address",
		"Hello,\n\nto sign in with this address, open the link within a day. If you did not ask for it, do nothing.\n\n",
	})
}

// Moved tells a member at the old address that the account has another one.
func Moved(language, to, link string) mail.Message {
	return write(language, to, link, letter{
		"Почта аккаунта изменена",
		"Здравствуйте!\n\nУ вашего аккаунта теперь другая почта. Если это сделали не вы, напишите организаторам.\n\n",
	}, letter{
		"Your account has another address",
		"Hello,\n\nyour account has another e-mail address now. If it was not you, write to the organizers.\n\n",
	})
}

// News is how much is new for a member. A mail says how much, and not of whom: it stays where it is
// when somebody is blocked or leaves.
type News struct{ Likes, Matches, Chats int }

// countOf returns a number with its words in a language: for one, few (Russian alone) or many.
func countOf(language string, n int, one, few, many string) string {
	words := map[rules.Plural]string{rules.One: one, rules.Few: few, rules.Many: many}
	return fmt.Sprintf("%d %s", n, words[rules.PluralOf(language, n)])
}

// An EventChange is an event that changed, as it is now.
type EventChange struct {
	ID, Title string
	Cancelled bool
	Start     time.Time
	Zone      string // the start is told by its clocks
	Location  string
}

// line says in one line how the event is now.
func (e EventChange) line(canceled, form string) string {
	if e.Cancelled {
		return "• " + e.Title + ": " + canceled
	}
	zone := rules.FindZone(e.Zone)
	if zone == nil {
		zone = time.UTC
	}
	text := "• " + e.Title + ": " + e.Start.In(zone).Format(form) + " (" + zone.String() + ")"
	if e.Location != "" {
		text += ", " + e.Location
	}
	return text
}

// Tell says the news and how changed events are now, with a link to the first page and a link that
// ends such mails.
func Tell(language, to string, n News, events []EventChange, link, stop string) mail.Message {
	var ru, en []string
	if n.Likes > 0 {
		ru, en = append(ru, countOf("ru", n.Likes, "новый лайк", "новых лайка", "новых лайков")),
			append(en, countOf("en", n.Likes, "new like", "", "new likes"))
	}
	if n.Matches > 0 {
		ru, en = append(ru, countOf("ru", n.Matches, "новая пара", "новые пары", "новых пар")),
			append(en, countOf("en", n.Matches, "new match", "", "new matches"))
	}
	if n.Chats > 0 {
		ru, en = append(ru, "новые сообщения в "+countOf("ru", n.Chats, "чате", "чатах", "чатах")),
			append(en, "new messages in "+countOf("en", n.Chats, "chat", "", "chats"))
	}
	inRu, inEn := letter{"Новое для вас", "Здравствуйте!\n\n"}, letter{"News for you", "Hello,\n\n"}
	if len(ru) > 0 {
		inRu.text += "Пока вас не было: " + strings.Join(ru, ", ") + ".\n\n"
		inEn.text += "While you were away: " + strings.Join(en, ", ") + ".\n\n"
	}
	if len(events) > 0 {
		inRu.text += "События, на которые вы записаны, изменились:\n"
		inEn.text += "Events that you attend have changed:\n"
		for _, e := range events {
			inRu.text += e.line("отменено", "02.01.2006 15:04") + "\n"
			inEn.text += e.line("cancelled", "2 January 2006, 15:04") + "\n"
		}
		inRu.text += "\n"
		inEn.text += "\n"
	}
	m := write(language, to, link, inRu, inEn)
	if language == rules.Languages[1] {
		m.Text += "\nNo more such mails: " + stop + "\n"
	} else {
		m.Text += "\nБольше не присылать таких писем: " + stop + "\n"
	}
	m.Unsubscribe = stop
	return m
}
