package rules

import (
	"strings"

	"golang.org/x/text/currency"
)

// A Price is how much a place at an event or an item costs.
type Price struct {
	Minor    int64  // in the smallest unit of the currency
	Currency string // ISO 4217
}

// MaxPrice is how much a thing costs at most, in the smallest unit of its currency.
const MaxPrice = 1_000_000_000_000

// Price checks a price; nil is none.
func (b *Broken) Price(p *Price) {
	if p == nil {
		return
	}
	if p.Minor < 0 || p.Minor > MaxPrice {
		b.Add("price", PriceRange, "give 0 to 1000000000000 of the smallest unit", p.Minor)
	}
	if _, err := currency.ParseISO(p.Currency); err != nil || p.Currency != strings.ToUpper(p.Currency) {
		b.Add("price", CurrencyUnknown, "give a currency of ISO 4217, such as RUB", p.Currency)
	}
}
