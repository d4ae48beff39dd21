package rules

import "time"

// Adult is the least age of a member.
const Adult = 18

// firstBirth is the first year of birth that is accepted.
const firstBirth = 1900

// BirthDate checks the birth date of a registration, and returns it.
func (b *Broken) BirthDate(s string, now time.Time) time.Time {
	born, err := time.Parse(time.DateOnly, s)
	switch {
	case err != nil || born.Year() < firstBirth || born.After(now):
		b.Add("birthDate", BirthDateForm, "give a day such as 2000-02-29, from 1900 on", s)
	case Age(born, now) < Adult:
		b.Add("birthDate", Underage, "members are 18 or older", nil)
	}
	return born
}

// Age returns the age of a person at an instant, by UTC. A person born on 29 February has a
// birthday on 1 March in other years.
func Age(born, now time.Time) int {
	now = now.UTC()
	age := now.Year() - born.Year()
	if now.Before(time.Date(now.Year(), born.Month(), born.Day(), 0, 0, 0, 0, time.UTC)) {
		age--
	}
	return age
}
