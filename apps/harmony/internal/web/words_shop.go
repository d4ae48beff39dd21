package web

// shopWords are the words of the pages of the store.
var shopWords = map[string][2]string{
	"nav.store":   {"Магазин", "Store"},
	"store.title": {"Магазин", "Store"},
	"store.item":  {"Товар", "Item"},
	"store.new":   {"Новый товар", "New item"},
	"store.buy":   {"Купить на сайте магазина", "Buy it at the shop"},
	"store.gone":  {"Сейчас не продаётся.", "Not on sale now."},
	"store.out":   {"Нет в наличии.", "Sold out."},
	"store.free":  {"бесплатно", "free"},
	"store.sort":  {"В каком порядке", "In which order"},

	"store.sort.title":  {"по названию", "by title"},
	"store.sort.price":  {"сначала дешёвые", "cheapest first"},
	"store.sort.-price": {"сначала дорогие", "dearest first"},
	"store.sort.newest": {"сначала новые", "newest first"},

	"store.photo":  {"Новая картинка", "New picture"},
	"store.delete": {"Удалить товар", "Delete the item"},
	"edit":         {"Изменить", "Change"},

	"field.itemCategory":        {"Раздел", "Category"},
	"field.stockQuantity":       {"Сколько осталось", "How many are left"},
	"field.isAvailable":         {"Есть в продаже", "On sale"},
	"field.externalPurchaseUrl": {"Адрес, где купить", "Address where it is bought"},
	"hint.itemCategory": {
		"От 1 до 40 строчных латинских букв, цифр и дефисов.",
		"1 to 40 of a to z, digits and hyphens.",
	},
	"hint.externalPurchaseUrl": {"Начинается с https://.", "It begins with https://."},

	"error.ITEM_NOT_FOUND": {"Такого товара нет.", "There is no such item."},
	"error.TOO_MANY_ITEMS": {
		"Товаров не может быть больше 1000. Сначала удалите один.",
		"There are at most 1,000 items. Delete one first.",
	},
	"error.ITEM_TITLE_LENGTH":       {"От 1 до 200 знаков.", "Give 1 to 200 characters."},
	"error.ITEM_DESCRIPTION_LENGTH": {"До 5000 знаков.", "Give up to 5,000 characters."},
	"error.ITEM_CATEGORY_FORM": {
		"Только строчные латинские буквы, цифры и дефисы, от 1 до 40.",
		"Give 1 to 40 of a to z, digits and hyphens.",
	},
	"error.STOCK_RANGE": {"Укажите от 0 до 1000000.", "Give 0 to 1,000,000."},
	"error.LINK_FORM": {
		"Нужен адрес, который начинается с https://.",
		"Give an address that begins with https://.",
	},
}
