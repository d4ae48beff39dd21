package web

// blogWords are the words of the pages of the blog.
var blogWords = map[string][2]string{
	"nav.blog":    {"Блог", "Blog"},
	"blog.title":  {"Блог", "Blog"},
	"blog.all":    {"Все записи блога", "All posts of the blog"},
	"blog.post":   {"Запись блога", "Post"},
	"blog.new":    {"Новая запись", "New post"},
	"blog.draft":  {"не опубликована", "not published"},
	"blog.delete": {"Удалить запись", "Delete the post"},
	"blog.back":   {"Ко всем записям", "To all posts"},

	"field.excerpt":  {"Коротко", "In short"},
	"field.postText": {"Текст", "Text"},
	"hint.postText": {
		"Markdown: # заголовок, **жирный**, - список, [ссылка](https://…). HTML останется текстом.",
		"Markdown: # heading, **bold**, - list, [link](https://…). HTML stays to be read.",
	},
	"field.tags":          {"Метки", "Tags"},
	"field.postPublished": {"Опубликовано", "Published"},
	"hint.postPublished":  {"До этого запись видят только администраторы.", "Until then admins alone see it."},
	"field.publishedAt":   {"Показать с", "Show from"},
	"hint.tags":           {"Через запятую, до 10.", "Up to 10, with commas between them."},
	"hint.publishedAt":    {"Если не указать, сразу.", "At once if you leave it out."},

	"error.POST_NOT_FOUND":      {"Такой записи нет.", "There is no such post."},
	"error.POST_TITLE_LENGTH":   {"От 1 до 200 знаков.", "Give 1 to 200 characters."},
	"error.POST_EXCERPT_LENGTH": {"До 500 знаков.", "Give up to 500 characters."},
	"error.POST_CONTENT_LENGTH": {"От 1 до 30000 знаков.", "Give 1 to 30,000 characters."},
	"error.POST_TAGS":           {"До 10 меток по 30 знаков.", "Give up to 10 tags of up to 30 characters."},
}
