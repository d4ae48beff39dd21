package web

// mailWords are the words of pages that have to do with mails, addresses and photos.
var mailWords = map[string][2]string{
	"sign-in.forgotten": {"Забыли пароль?", "Forgot your password?"},
	"forgot.title":      {"Забыли пароль", "Forgotten password"},
	"forgot.lead": {
		"Если с этой почтой есть аккаунт, мы пришлём ссылку, по которой вы зададите новый пароль.",
		"If there is an account with this address, we send a link by which you set a new password.",
	},
	"forgot.do":     {"Прислать ссылку", "Send a link"},
	"confirm.title": {"Подтверждение", "Confirm"},
	"confirm.lead": {
		"Введите пароль, который вы придумали при регистрации, и аккаунт готов.",
		"Give the password that you chose when you signed up, and your account is made.",
	},
	"confirm.do":          {"Подтвердить", "Confirm"},
	"confirm-email.title": {"Новая почта", "New address"},
	"confirm-email.lead": {
		"Подтвердите, что эта почта ваша. Дальше вы будете входить с ней.",
		"Confirm that this address is yours. From then on you sign in with it.",
	},
	"settings.email":        {"Почта", "E-mail address"},
	"settings.change.email": {"Сменить почту", "Change the address"},
	"me.change":             {"Изменить", "Change"},
	"field.emailPassword":   {"Пароль, чтобы сменить почту", "Password, to change the address"},
	"done.mail-join": {
		"Мы отправили письмо. Откройте ссылку из него, чтобы закончить регистрацию.",
		"A mail is on its way. Open its link to finish.",
	},
	"done.mail-reset": {
		"Если с этой почтой есть аккаунт, письмо уже в пути.",
		"If there is an account with this address, a mail is on its way.",
	},
	"done.mail-email": {
		"Мы отправили письмо на новую почту. Откройте ссылку из него.",
		"A mail is on its way to the new address. Open its link.",
	},
	"done.email":        {"Почта изменена.", "Your address is changed."},
	"unsubscribe.title": {"Письма о новом", "Mails about news"},
	"unsubscribe.lead": {
		"Нажмите кнопку, и мы больше не будем писать вам о лайках, парах и сообщениях. Снова включить письма можно в настройках.", "Press the button, and we write to you no more about likes, matches and messages. You can turn it on again in your settings.",
	},
	"unsubscribe.do":       {"Больше не присылать", "Send no more"},
	"done.unsubscribed":    {"Писем о новом больше не будет.", "No more mails about news."},
	"settings.nomail":      {"Но почта здесь пока не отправляется.", "But no mail is sent here yet."},
	"settings.data":        {"Ваши данные", "Your data"},
	"settings.data.hint":   {"Файл с вашим профилем, настройками, лайками, парами, событиями и чатами вдвоём, раз в час. Фотографий, форума и чатов событий в нём нет.", "A file of your profile, settings, likes, matches, events and chats of two, once an hour. It has no photos, and nothing of the forum or of chats of events."},
	"settings.data.do":     {"Скачать", "Download"},
	"error.DATA_TOO_OFTEN": {"Вы уже скачали данные в этом часу.", "You got your data in this hour."},
	"field.city":           {"Ближайший к вам город", "The city nearest to you"},
	"hint.city": {
		"Начните вводить название и выберите из списка. Чтобы не указывать место, оставьте поле пустым.", "Begin to write, and choose one of the list. Leave it empty to say nothing.",
	},
	"me.coordinates": {"Моего города нет: указать координаты", "My town is not there: give coordinates"},
	"error.CITY_UNKNOWN": {
		"Выберите город из списка или укажите координаты.",
		"Choose a city of the list, or give coordinates.",
	},
	"me.photos.up":   {"Раньше", "Earlier"},
	"me.photos.down": {"Позже", "Later"},
	"act.unpass":     {"Вернуть пропущенного", "Take it back"},
	"done.unpass":    {"Этот участник снова может вам встретиться.", "You may meet this member again."},
	"error.MAIL_OFF": {
		"Почта здесь не отправляется. Обратитесь к организаторам.",
		"No mail is sent here. Ask the organizers.",
	},
	"error.TOO_MANY_MAILS": {
		"Слишком много писем за этот час. Подождите.",
		"Too many mails were asked for in this hour. Wait.",
	},
}
