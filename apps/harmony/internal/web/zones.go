package web

import (
	"slices"
	"strings"
)

// zoneCities are zones that a form offers, with the places that people know them by.
var zoneCities = []struct{ zone, russian, english string }{
	{"Europe/Kaliningrad", "Калининград", "Kaliningrad"},
	{"Europe/Moscow", "Москва", "Moscow"},
	{"Europe/Samara", "Самара", "Samara"},
	{"Asia/Yekaterinburg", "Екатеринбург", "Yekaterinburg"},
	{"Asia/Omsk", "Омск", "Omsk"},
	{"Asia/Novosibirsk", "Новосибирск", "Novosibirsk"},
	{"Asia/Krasnoyarsk", "Красноярск", "Krasnoyarsk"},
	{"Asia/Irkutsk", "Иркутск", "Irkutsk"},
	{"Asia/Yakutsk", "Якутск", "Yakutsk"},
	{"Asia/Vladivostok", "Владивосток", "Vladivostok"},
	{"Asia/Kamchatka", "Камчатка", "Kamchatka"},
	{"Europe/Kyiv", "Киев", "Kyiv"},
	{"Europe/Minsk", "Минск", "Minsk"},
	{"Asia/Tbilisi", "Тбилиси", "Tbilisi"},
	{"Asia/Yerevan", "Ереван", "Yerevan"},
	{"Asia/Almaty", "Алматы", "Almaty"},
	{"Asia/Tashkent", "Ташкент", "Tashkent"},
	{"Europe/Istanbul", "Стамбул", "Istanbul"},
	{"Asia/Jerusalem", "Иерусалим", "Jerusalem"},
	{"Asia/Dubai", "Дубай", "Dubai"},
	{"Asia/Bangkok", "Бангкок", "Bangkok"},
	{"Asia/Makassar", "Бали", "Bali"},
	{"Europe/Riga", "Рига", "Riga"},
	{"Europe/Vilnius", "Вильнюс", "Vilnius"},
	{"Europe/Tallinn", "Таллин", "Tallinn"},
	{"Europe/Chisinau", "Кишинёв", "Chisinau"},
	{"Europe/Berlin", "Берлин", "Berlin"},
	{"Europe/Paris", "Париж", "Paris"},
	{"Europe/Madrid", "Мадрид", "Madrid"},
	{"Europe/London", "Лондон", "London"},
	{"Europe/Belgrade", "Белград", "Belgrade"},
	{"Europe/Prague", "Прага", "Prague"},
	{"Europe/Warsaw", "Варшава", "Warsaw"},
	{"Asia/Kathmandu", "Катманду", "Kathmandu"},
	{"America/New_York", "Нью-Йорк", "New York"},
	{"America/Los_Angeles", "Лос-Анджелес", "Los Angeles"},
}

// Zones are names of time zones that a form offers.
func (words) Zones() (names []string) {
	for _, z := range zoneCities {
		names = append(names, z.zone)
	}
	return append(names, "UTC")
}

// City is the place that people know a zone by; "" for one that is none, such as UTC.
func (w words) City(zone string) string {
	at := slices.IndexFunc(zoneCities, func(z struct{ zone, russian, english string }) bool { return z.zone == zone })
	if at >= 0 && w.Lang == "ru" {
		return zoneCities[at].russian
	}
	if at >= 0 {
		return zoneCities[at].english
	}
	area, city, ok := strings.Cut(zone, "/")
	if !ok || area == "Etc" {
		return ""
	}
	return strings.ReplaceAll(city[strings.LastIndex(city, "/")+1:], "_", " ")
}
