// Package letters has the words of mails, in Russian and in English. None says a word that a member
// wrote: a stranger can have some of these mails sent to anybody.
package letters

import (
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/delivery/mail"
)

// A Letter is the words of a mail in one language, with a place for a link.
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
