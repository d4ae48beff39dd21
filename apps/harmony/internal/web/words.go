package web

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
)

// words are what pages say in one language.
type words struct{ Lang string }

// Has reports whether there are words for a key.
func (words) Has(key string) bool { _, ok := catalog[key]; return ok }

// T returns the words for a key. A key without words is a defect, which tests find.
func (w words) T(key string, args ...any) string {
	both, ok := catalog[key]
	if !ok {
		return key
	}
	text := both[0]
	if w.Lang == rules.Languages[1] {
		text = both[1]
	}
	if len(args) > 0 {
		return fmt.Sprintf(text, args...)
	}
	return text
}

// err returns what a page says of an error: by its code, or else by its kind.
func (w words) err(err error) string {
	code := fault.CodeOf(err)
	if p := (*httpjson.Problem)(nil); errors.As(err, &p) {
		code = p.Code
	}
	if w.Has("error." + string(code)) {
		return w.T("error." + string(code))
	}
	switch fault.Of(err) {
	case fault.Unavailable:
		return w.T("error.UNAVAILABLE")
	case fault.Invalid: // a form that was not read to its end
		return w.T("error.BODY_TOO_LARGE")
	}
	return w.T("error.INTERNAL")
}

// Device writes what a session is called.
func (w words) Device(name string) string {
	return strings.Replace(name, session.On, w.T("settings.on"), 1)
}

// catalog has all words of the pages, in Russian and in English.
var catalog = joined(memberWords, mailWords, eventWords, forumWords, moderationWords, shopWords, blogWords)

// joined returns the words of several subjects as one catalog.
func joined(all ...map[string][2]string) map[string][2]string {
	one := map[string][2]string{}
	for _, some := range all {
		maps.Copy(one, some)
	}
	return one
}

// memberWords are the words of the pages about members, and those that all pages share.
var memberWords = map[string][2]string{
	"site":        {"Harmony Meet", "Harmony Meet"},
	"skip":        {"К содержанию", "Skip to the content"},
	"nav":         {"Страницы", "Pages"},
	"nav.me":      {"Профиль", "Profile"},
	"nav.more":    {"Ещё", "More"},
	"nav.set":     {"Настройки", "Settings"},
	"sign-out":    {"Выйти", "Sign out"},
	"required":    {"обязательно", "required"},
	"show":        {"Показать пароль", "Show the password"},
	"hide":        {"Скрыть пароль", "Hide the password"},
	"save":        {"Сохранить", "Save"},
	"choose":      {"Выберите", "Choose"},
	"fix":         {"Исправьте то, что отмечено ниже.", "Correct what is marked below."},
	"error.title": {"Не получилось", "That did not work"},
	"error.back":  {"На главную", "To the first page"},
	"error.id":    {"Номер запроса: %s", "Request: %s"},

	"home.title": {"Фанаты одной группы", "Fans of one band"},
	"home.lead":  {"Здесь знакомятся слушатели AloeVera.", "Where listeners of AloeVera find one another."},
	"home.sees": {
		"Почту, дату рождения и место на карте видите только вы.",
		"Only you see your e-mail address, your birth date and your position.",
	},
	"home.age":          {"Участникам должно быть 18 лет или больше.", "Members are 18 or older."},
	"home.welcome":      {"Здравствуйте, %s!", "Welcome, %s!"},
	"home.new":          {"Новое", "What is new"},
	"home.events":       {"Скоро", "Coming up"},
	"home.likes.one":    {"%d лайк ждёт ответа", "%d like waits for you"},
	"home.likes.few":    {"%d лайка ждут ответа", "%d likes wait for you"},
	"home.likes.many":   {"%d лайков ждут ответа", "%d likes wait for you"},
	"home.matches.one":  {"%d новая пара", "%d new match"},
	"home.matches.few":  {"%d новые пары", "%d new matches"},
	"home.matches.many": {"%d новых пар", "%d new matches"},
	"home.chats.one":    {"Новые сообщения в %d чате", "New messages in %d chat"},
	"home.chats.few":    {"Новые сообщения в %d чатах", "New messages in %d chats"},
	"home.chats.many":   {"Новые сообщения в %d чатах", "New messages in %d chats"},
	"home.next": {
		"Расскажите о себе в профиле и выберите, кого вы ищете.",
		"Say something about yourself in your profile, and choose whom you look for.",
	},

	"sign-up.title":   {"Регистрация", "Sign up"},
	"sign-up.do":      {"Зарегистрироваться", "Sign up"},
	"sign-up.instead": {"Уже есть аккаунт?", "You have an account?"},
	"sign-in.title":   {"Вход", "Sign in"},
	"sign-in.do":      {"Войти", "Sign in"},
	"sign-in.instead": {"Ещё нет аккаунта?", "No account yet?"},
	"sign-in.forgot": {
		"Забыли пароль? Попросите у организаторов код.",
		"Forgot your password? Ask the organizers for a token.",
	},
	"sign-in.token": {"У меня есть код", "I have a token"},
	"reset.title":   {"Новый пароль", "New password"},
	"reset.lead": {
		"Код действует 30 минут и только один раз. Все сеансы завершатся.",
		"The token is good once, for 30 minutes. All sessions end.",
	},
	"me.title": {"Профиль", "Profile"},
	"me.lead": {
		"Имя, возраст, город, рассказ о себе и фотографии увидят другие.",
		"Others see your name, age, town, words about yourself and photos.",
	},
	"me.back":       {"Вернуться туда, где вы были", "Back to where you were"},
	"me.back.event": {"Вернуться к событию", "Back to the event"},
	"me.fixed":      {"Почта и дата рождения", "E-mail address and birth date"},
	"me.private": {
		"Видны только вам. Дата рождения не меняется.",
		"Only you see them. The birth date cannot be changed.",
	},
	"me.position":  {"Где вы", "Where you are"},
	"me.here":      {"Я здесь", "Where I am"},
	"me.here.fail": {"Браузер не сообщил место.", "The browser did not tell where you are."},
	"age":          {"возраст: %d", "age %d"},
	"me.photos":    {"Фотографии", "Photos"},
	"me.photo":     {"Фотография %d", "Photo %d"},
	"me.photos.hint": {
		"JPEG, PNG, WebP или GIF до 8 МБ, не больше десяти. Место съёмки и другие данные файла удаляются.", "JPEG, PNG, WebP or GIF of up to 8 MB, ten at most. Where a picture was taken and other data of the file are removed.",
	},
	"me.photos.add":      {"Добавить", "Add"},
	"me.photos.first":    {"Сделать первой", "Make it the first"},
	"me.photos.del":      {"Удалить", "Delete"},
	"me.photos.del.sure": {"Вернуть фотографию будет нельзя.", "The photo cannot be brought back."},
	"me.photos.del.yes":  {"Да, удалить", "Yes, delete"},
	"field.photo":        {"Новая фотография", "New photo"},
	"error.NOT_AN_IMAGE": {
		"Нужна картинка JPEG, PNG, WebP или GIF до 25 мегапикселей.",
		"Give a JPEG, PNG, WebP or GIF picture of up to 25 megapixels.",
	},
	"error.TOO_MANY_IMAGES": {
		"В профиле может быть не больше десяти фотографий. Сначала удалите одну.",
		"A profile has at most ten photos. Delete one first.",
	},
	"error.BODY_TOO_LARGE": {
		"Это слишком много: у фотографии может быть до 8 МБ.",
		"That is too much: a photo has up to 8 MB.",
	},
	"error.IMAGE_NOT_FOUND": {"Такой фотографии уже нет.", "This photo is not there any more."},
	"nav.likes":             {"Лайки", "Likes"},
	"nav.pairing":           {"Лайки и пары", "Likes and matches"},
	"nav.matches":           {"Пары", "Matches"},
	"more":                  {"Дальше", "More"},
	"person.title":          {"Участник", "Member"},
	"person.near":           {"не дальше %d км", "within %d km"},
	"person.match":          {"Вы пара: вы нравитесь друг другу.", "You match: you like each other."},
	"person.online":         {"Сейчас на сайте.", "Here now."},
	"person.liked":          {"Вы лайкнули этого участника.", "You like this member."},
	"likes.title":           {"Лайки", "Likes"},
	"likes.received":        {"Вы нравитесь", "They like you"},
	"likes.sent":            {"Вам нравятся", "You like them"},
	"likes.none":            {"Пока никого.", "Nobody yet."},
	"likes.match":           {"вы пара", "you match"},
	"likes.anonymous":       {"тайно", "secretly"},
	"likes.secret.one":      {"%d тайный лайк ждёт ответа.", "%d secret like waits for you."},
	"likes.secret.few":      {"%d тайных лайка ждут ответа.", "%d secret likes wait for you."},
	"likes.secret.many":     {"%d тайных лайков ждут ответа.", "%d secret likes wait for you."},
	"matches.title":         {"Пары", "Matches"},
	"matches.new":           {"новая", "new"},
	"match.title":           {"Взаимно", "A match"},
	"match.moment":          {"Вы и %s понравились друг другу!", "You and %s like each other!"},
	"match.next":            {"Теперь можно написать.", "Now you can write."},
	"match.on":              {"Смотреть дальше", "Look on"},
	"match.profile":         {"Профиль", "Profile"},
	"matches.none":          {"Пока нет пар.", "No matches yet."},
	"act.like":              {"Нравится", "Like"},
	"act.secret":            {"Нравится тайно", "Like secretly"},
	"act.pass":              {"Пропустить", "Pass"},
	"act.unlike":            {"Больше не нравится", "Take the like back"},
	"act.unmatch":           {"Разорвать пару", "End the match"},
	"act.unmatch.sure":      {"Писать друг другу будет нельзя.", "You cannot write to each other any more."},
	"act.unmatch.yes":       {"Да, разорвать", "Yes, end it"},
	"act.block":             {"Заблокировать", "Block"},
	"act.block.sure":        {"Вы больше не будете видеть друг друга.", "You will not see each other any more."},
	"act.block.yes":         {"Да, заблокировать", "Yes, block"},
	"act.unblock":           {"Разблокировать", "Unblock"},
	"settings.blocked":      {"Кого вы заблокировали", "Whom you have blocked"},
	"settings.none":         {"Никого.", "Nobody."},
	"done.pass": {
		"Этот участник вам больше не встретится 90 дней.",
		"You will not meet this member for 90 days.",
	},
	"done.block": {
		"Участник заблокирован: вы больше не видите друг друга.",
		"The member is blocked: you do not see each other any more.",
	},
	"done.unblock":          {"Участник разблокирован.", "The member is not blocked any more."},
	"error.USER_NOT_FOUND":  {"Такого участника нет.", "There is no such member."},
	"error.LIKE_NOT_FOUND":  {"Этого лайка уже нет.", "This like is not there any more."},
	"error.MATCH_NOT_FOUND": {"Этой пары уже нет.", "This match is not there any more."},
	"error.LIKE_MATCHED":    {"Вы уже лайкнули этого участника.", "You like this member already."},
	"error.LIKES_USED_UP": {
		"Лайки на сегодня закончились. Новые будут после полуночи по UTC.",
		"You have used up the likes of today. There are new ones after midnight UTC.",
	},
	"error.NOT_YOURSELF":  {"Это вы сами.", "This is you."},
	"settings.title":      {"Настройки", "Settings"},
	"settings.look":       {"Кого вы ищете", "Whom you look for"},
	"settings.show":       {"Что вы показываете", "What you show"},
	"settings.pass":       {"Пароль", "Password"},
	"settings.change":     {"Сменить пароль", "Change the password"},
	"settings.where":      {"Где вы вошли", "Where you are signed in"},
	"settings.this":       {"этот браузер", "this browser"},
	"settings.device":     {"Неизвестное устройство", "Unknown device"},
	"settings.on":         {" на ", session.On},
	"settings.used":       {"последний раз", "last used"},
	"settings.out":        {"Выйти везде", "Sign out everywhere"},
	"settings.leave":      {"Удалить аккаунт", "Delete the account"},
	"settings.leave.hint": {"Вас сразу перестанут видеть, а места на событиях освободятся. Месяц аккаунт можно восстановить, потом он будет стёрт.", "Nobody sees you from then on, and your places at events are given back. For a month you can restore the account; then it is erased."},
	"settings.leave.do":   {"Удалить аккаунт", "Delete the account"},
	"restore.title":       {"Восстановить аккаунт", "Restore an account"},
	"restore.lead": {
		"Удалённый аккаунт можно восстановить в течение месяца. Места на событиях нужно занять заново.",
		"A deleted account can be restored within a month. Take places at events again.",
	},
	"restore.do":            {"Восстановить", "Restore it"},
	"sign-in.deleted":       {"Удалили аккаунт?", "You deleted your account?"},
	"field.leavingPassword": {"Пароль, чтобы удалить аккаунт", "Password, to delete the account"},
	"done.account":          {"Аккаунт удалён.", "Your account is deleted."},
	"done.restored":         {"Аккаунт восстановлен.", "Your account is restored."},
	"error.NOT_DELETED":     {"Этот аккаунт не удалён. Просто войдите.", "This account is not deleted. Sign in."},

	"field.email":             {"Почта", "E-mail address"},
	"field.password":          {"Пароль", "Password"},
	"field.name":              {"Имя", "Name"},
	"field.birthDate":         {"Дата рождения", "Birth date"},
	"field.gender":            {"Пол", "Gender"},
	"field.bio":               {"О себе", "About you"},
	"field.location":          {"Город, который увидят другие", "Town that others see"},
	"field.lat":               {"Широта", "Latitude"},
	"field.lon":               {"Долгота", "Longitude"},
	"field.token":             {"Код", "Token"},
	"field.ageRangeMin":       {"Возраст от", "Age from"},
	"field.ageRangeMax":       {"Возраст до", "Age to"},
	"field.maxDistanceKm":     {"Не дальше, км", "No further than, km"},
	"field.showMe":            {"Показывать", "Show me"},
	"field.profileVisibility": {"Кто видит профиль", "Who sees your profile"},
	"field.anonymousLikes": {
		"Мои лайки тайные, пока я не скажу иначе",
		"My likes are secret unless I say otherwise",
	},
	"field.language":             {"Язык", "Language"},
	"field.notificationsEnabled": {"Уведомления", "Notifications"},
	"field.emailNotifications":   {"Письма", "E-mails"},
	"field.currentPassword":      {"Пароль сейчас", "Password now"},
	"field.newPassword":          {"Новый пароль", "New password"},

	"hint.birthDate": {
		"Её нельзя будет изменить. Другие увидят только возраст.",
		"It cannot be changed later. Others see only your age.",
	},
	"hint.name":        {"До 50 символов.", "Up to 50 characters."},
	"hint.bio":         {"До 1000 символов.", "Up to 1,000 characters."},
	"hint.location":    {"Слово или два, до 100 символов.", "A word or two, up to 100 characters."},
	"hint.lat":         {"От −90 до 90, например 55,7.", "From −90 to 90, such as 55.7."},
	"hint.lon":         {"От −180 до 180, например 37,6.", "From −180 to 180, such as 37.6."},
	"hint.ageRangeMax": {"99 значит «99 и старше».", "99 is 99 and older."},
	"hint.gender": {
		"Можно менять раз в 30 дней. В подборке людей это скажется через 30 дней.",
		"You can change it once in 30 days. It counts for the people whom you are shown 30 days later.",
	},
	"hint.profileVisibility": {
		"Если выбрать «только пары», те, кого вы лайкнули открыто, увидят только карточку.",
		"If it is matches alone, those whom you like openly see no more than your card.",
	},
	"hint.maxDistanceKm": {"0 значит «где угодно». С ограничением видны только те, кто указал место. Считается приблизительно: 10, 25, 50, 100, 250, 500, 1000 км.", "0 is anywhere. A limit shows only people who gave a position. It counts roughly: 10, 25, 50, 100, 250, 500, 1,000 km."},
	"hint.emailNotifications": {
		"О лайках, парах и сообщениях, которые ждут вас 15 минут: одно письмо обо всём, не больше трёх в день.", "About likes, matches and messages that wait for you 15 minutes: one mail about all, three a day at most.",
	},
	"hint.new":      {"От 10 до 128 любых символов.", "10 to 128 characters of any kind."},
	"hint.position": {"Место хранится с точностью до 10 км. Другие видят только примерное расстояние. Менять можно пять раз в день.", "It is kept to within about 10 km. Others see only a rough distance. You can change it 5 times a day."},

	"option.gender.female":             {"женский", "female"},
	"option.gender.male":               {"мужской", "male"},
	"option.gender.non-binary":         {"небинарный", "non-binary"},
	"option.gender.prefer-not-to-say":  {"не хочу указывать", "prefer not to say"},
	"option.showMe.everyone":           {"всех", "everyone"},
	"option.showMe.men":                {"мужчин", "men"},
	"option.showMe.women":              {"женщин", "women"},
	"option.showMe.non-binary":         {"небинарных людей", "non-binary people"},
	"option.profileVisibility.public":  {"все участники", "every member"},
	"option.profileVisibility.friends": {"пары и мои открытые лайки", "matches and my open likes"},
	"option.profileVisibility.private": {"только пары", "matches alone"},
	"option.language.ru":               {"русский", "Russian"},
	"option.language.en":               {"английский", "English"},

	"nav.people":   {"Люди", "People"},
	"people.title": {"Кого вы ещё не знаете", "Whom you may like"},
	"people.none": {
		"Пока больше никого нет. Загляните позже или расширьте поиск в настройках.",
		"There is no one else for now. Come back later, or look for more people in your settings.",
	},
	"people.further": {
		"Здесь подходящих людей нет, но дальше они могут быть.",
		"No one here fits, but further on people may.",
	},
	"people.settings": {"Кого вы ищете", "Whom you look for"},
	"people.again":    {"Сначала", "From the beginning"},
	"people.later":    {"Решу позже", "Decide later"},
	"done.deck.like":  {"Лайк отправлен.", "Your like is sent."},
	"done.deck.secret": {
		"Тайный лайк отправлен. Кто его отправил, узнают только при взаимности.",
		"Your secret like is sent. They learn who sent it only if they like you too.",
	},
	"error.TOO_MANY_MATCHES": {
		"У одного из вас уже 1000 пар, больше нельзя. Сначала разорвите какую-нибудь.",
		"One of you has 1,000 matches, the most there can be. End one first.",
	},

	"nav.chats":   {"Чаты", "Chats"},
	"chats.title": {"Чаты", "Chats"},
	"chats.none": {
		"Чат появится, когда вы с кем-нибудь станете парой или запишетесь на событие.",
		"A chat appears when you match someone, or attend an event.",
	},
	"chats.closed":      {"Пары больше нет.", "The match has ended."},
	"chats.unread.one":  {"%d новое сообщение", "%d new message"},
	"chats.unread.few":  {"%d новых сообщения", "%d new messages"},
	"chats.unread.many": {"%d новых сообщений", "%d new messages"},
	"chat.matched":      {"Вы понравились друг другу.", "You like each other."},
	"chat.joined":       {"теперь в чате", "joined"},
	"chat.left":         {"больше не в чате", "left"},
	"chat.picture":      {"Фото", "Picture"},
	"chat.attach":       {"Отправить фото", "Send a picture"},
	"chat.title":        {"Чат", "Chat"},
	"chat.gone":         {"Участник, которого вы не видите", "A member whom you cannot see"},
	"chat.log":          {"Сообщения", "Messages"},
	"chat.none":         {"Сообщений пока нет. Поздоровайтесь!", "No messages yet. Say hello!"},
	"chat.you":          {"вы", "you"},
	"chat.edited":       {"изменено", "edited"},
	"chat.read":         {"прочитано", "read"},
	"chat.deleted":      {"Сообщение удалено.", "This message was deleted."},
	"chat.edit":         {"Изменить", "Edit"},
	"chat.delete":       {"Удалить", "Delete"},
	"chat.delete.sure":  {"Его больше никто не прочтёт.", "No one can read it any more."},
	"chat.delete.yes":   {"Да, удалить", "Yes, delete"},
	"chat.menu":         {"Действия с сообщением", "Actions of the message"},
	"chat.new":          {"Новые сообщения", "New messages"},
	"chat.enter": {
		"Enter отправляет, Shift+Enter переносит строку",
		"Enter sends, Shift+Enter breaks the line",
	},
	"chat.older":              {"Раньше", "Older"},
	"chat.newest":             {"К новым сообщениям", "To the newest messages"},
	"chat.refresh":            {"Обновить", "Refresh"},
	"chat.mark":               {"Отметить прочитанным", "Mark as read"},
	"chat.send":               {"Отправить", "Send"},
	"chat.write":              {"Написать", "Write"},
	"chat.closed":             {"Этот чат больше не принимает сообщений.", "This chat takes no messages any more."},
	"chat.message":            {"Сообщение", "Message"},
	"hint.content":            {"До 4000 символов.", "Up to 4,000 characters."},
	"error.MESSAGE_LENGTH":    {"Нужно от 1 до 4000 символов.", "Give 1 to 4,000 characters."},
	"error.CHAT_NOT_FOUND":    {"Такого чата нет.", "There is no such chat."},
	"error.MESSAGE_NOT_FOUND": {"Этого сообщения уже нет.", "This message is not there any more."},
	"error.CHAT_CLOSED":       {"Этот чат больше не принимает сообщений.", "This chat takes no messages any more."},
	"error.NOT_A_TEXT": {
		"Фото нельзя изменить. Удалите его и отправьте другое.",
		"A picture cannot be changed. Delete it, and send another one.",
	},
	"error.PICTURES_USED_UP": {
		"Сегодня вы отправили 100 фото. Завтра можно ещё.",
		"You have sent 100 pictures today. Tomorrow you can send more.",
	},
	"error.EDIT_TOO_LATE": {
		"Изменить сообщение можно в течение 15 минут.",
		"A message can be edited for 15 minutes.",
	},
	"error.KEY_REUSED": {
		"Это сообщение уже отправлено. Напишите новое.",
		"This message was sent already. Write another one.",
	},

	"done.registered": {
		"Аккаунт создан. Теперь расскажите о себе.",
		"Your account is made. Now say something about yourself.",
	},
	"done.saved":    {"Сохранено.", "Saved."},
	"done.password": {"Пароль изменён. Войдите с новым.", "The password is changed. Sign in with the new one."},

	"error.EMAIL_FORM": {
		"Укажите адрес вида anna@example.com.",
		"Give an address such as anna@example.com.",
	},
	"error.EMAIL_TAKEN": {
		"С этим адресом уже есть аккаунт. Войдите или укажите другой.",
		"An account has this address already. Sign in, or give another one.",
	},
	"error.PASSWORD_LENGTH": {"Нужно от 10 до 128 символов.", "Give 10 to 128 characters."},
	"error.WEAK_PASSWORD": {
		"Придумайте другой пароль: в этом есть ваше имя или адрес, мало разных символов, или им пользуются многие.", "Choose another password: this one holds your name or address, repeats a few characters, or many people use it.",
	},
	"error.BIRTH_DATE_FORM":    {"Укажите день, начиная с 1900 года.", "Give a day, from 1900 on."},
	"error.UNDERAGE":           {"Участникам должно быть 18 лет или больше.", "Members are 18 or older."},
	"error.NAME_LENGTH":        {"Нужно от 1 до 50 символов.", "Give 1 to 50 characters."},
	"error.BIO_LENGTH":         {"Не больше 1000 символов.", "Give up to 1,000 characters."},
	"error.LOCATION_LENGTH":    {"Не больше 100 символов.", "Give up to 100 characters."},
	"error.GENDER_TOO_OFTEN":   {"Пол можно менять раз в 30 дней.", "A gender can be changed once in 30 days."},
	"error.POSITION_TOO_OFTEN": {"Место можно менять пять раз в день.", "A position can be changed 5 times a day."},
	"error.PREFERENCES_TOO_OFTEN": {
		"Пожелания можно менять двадцать раз в день.",
		"Preferences can be changed 20 times a day.",
	},
	"error.INVISIBLE_CHARACTERS": {"Уберите символы, которых не видно.", "Leave out characters that no reader sees."},
	"error.NOTHING_VISIBLE": {
		"Напишите хотя бы один видимый символ.",
		"Write at least one character that can be seen.",
	},
	"error.CONTROL_CHARACTER":  {"Уберите управляющие символы.", "Leave control characters out."},
	"error.GENDER_UNKNOWN":     {"Выберите вариант из списка.", "Choose one of the list."},
	"error.LANGUAGE_UNKNOWN":   {"Выберите вариант из списка.", "Choose one of the list."},
	"error.SHOW_ME_UNKNOWN":    {"Выберите вариант из списка.", "Choose one of the list."},
	"error.VISIBILITY_UNKNOWN": {"Выберите вариант из списка.", "Choose one of the list."},
	"error.POSITION_RANGE": {
		"Укажите широту от −90 до 90 и долготу от −180 до 180.",
		"Give a latitude of −90 to 90 and a longitude of −180 to 180.",
	},
	"error.AGE_RANGE": {
		"Укажите возраст от 18 до 99, сначала меньший.",
		"Give ages from 18 to 99, the lower one first.",
	},
	"error.DISTANCE_RANGE":      {"Укажите от 0 до 20000 км.", "Give 0 to 20,000 km."},
	"error.INVALID_CREDENTIALS": {"Почта или пароль неверны.", "The e-mail address or the password is wrong."},
	"error.INVALID_TOKEN": {
		"Код неверен или больше не действует.",
		"The token is wrong, or not good any more.",
	},
	"error.TOO_MANY_SIGN_UPS": {
		"С вашего адреса в интернете за этот час уже зарегистрировались пятеро. Подождите или войдите.",
		"Too many accounts were made from your address of the internet in this hour. Wait, or sign in.",
	},
	"error.TOO_MANY_AT_ONCE": {
		"Слишком много запросов сразу. Подождите секунду.",
		"Too many requests of yours are here at once. Wait a second.",
	},
	"error.TOO_MANY_ATTEMPTS": {
		"Слишком много неверных попыток. Подождите 15 минут.",
		"Too many wrong attempts. Wait 15 minutes.",
	},
	"error.ACCOUNT_DELETED": {
		"Этот аккаунт удалён. Месяц его можно восстановить.",
		"This account is deleted. For a month it can be restored.",
	},
	"error.ACCOUNT_SUSPENDED": {
		"Ваш аккаунт заблокирован модераторами.",
		"Your account is suspended by the moderators.",
	},
	"suspended.title": {"Аккаунт заблокирован", "Your account is suspended"},
	"suspended.until": {"Блокировка закончится:", "It ends:"},
	"suspended.ask": {
		"Если это ошибка, напишите организаторам.",
		"If this is a mistake, write to the organizers.",
	},
	"error.BUSY": {
		"Сейчас здесь слишком много запросов. Попробуйте через несколько секунд.",
		"Too many requests are here at once. Try again in some seconds.",
	},
	"error.OTHER_SITE": {
		"Форма отправлена с другого сайта. Откройте страницу здесь и попробуйте снова.",
		"This form was sent from another site. Open the page here and try again.",
	},
	"error.NO_SUCH_ROUTE": {"Такой страницы нет.", "There is no such page."},
	"error.UNAVAILABLE": {
		"Хранилище сейчас не отвечает. Попробуйте ещё раз.",
		"The storage does not answer at the moment. Try again.",
	},
	"error.INTERNAL": {
		"Что-то сломалось у нас. Попробуйте ещё раз.",
		"Something broke on our side. Try again.",
	},
}
