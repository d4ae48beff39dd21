package rules

import "strings"

// common are 200 passwords that everybody tries first. They are listed here because none of them
// breaks another rule.
var common = func() map[string]bool {
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(commonWords) {
		all[word] = true
	}
	return all
}()

const commonWords = `
0123456789 0987654321 1234567890 12345678910 123456789a 1q2w3e4r5t 1q2w3e4r5t123 1q2w3e4r5t1234
1q2w3e4r5t12345 1q2w3e4r5t6y 1qaz2wsx3edc 1qaz2wsx3edc123 1qaz2wsx3edc1234 1qaz2wsx3edc12345 a123456789
aa12345678 abc1234567 abcd123456 abcdef1234 abcdefghij abcdefghijk admin12345 admin123456 administrator123
administrator1234 administrator12345 administrator123456 aleksandr123 aleksandr1234 aleksandr12345 aloevera123
aloevera1234 aloevera12345 asdfgh12345 asdfghjkl; baseball123 baseball1234 baseball12345 baseball123456
changeme123 changeme1234 changeme12345 chelsea123 chelsea1234 chelsea12345 computer123 computer1234
computer12345 computer123456 dragon1234 dragon12345 dragon123456 ekaterina123 ekaterina1234 ekaterina12345
ferrari123 ferrari1234 ferrari12345 football123 football1234 football12345 football123456 harmony123
harmony1234 harmony12345 iloveyou123 iloveyou1234 iloveyou12345 iloveyou123456 internet123 internet1234
internet12345 internet123456 letmein123 letmein1234 letmein12345 letmein123456 liverpool123 liverpool1234
liverpool12345 lubov12345 marina1234 marina12345 master1234 master12345 master123456 mercedes123 mercedes1234
mercedes12345 metallica123 metallica1234 metallica12345 michael123 michael1234 michael12345 michael123456
monkey1234 monkey12345 monkey123456 natasha123 natasha1234 natasha12345 p@ssw0rd123 p@ssw0rd1234 p@ssw0rd12345
p@ssword123 p@ssword1234 p@ssword12345 parol12345 passw0rd123 passw0rd1234 passw0rd12345 password123
password1234 password12345 password123456 pokemon123 pokemon1234 pokemon12345 pokemon123456 princess123
princess1234 princess12345 princess123456 privet1234 privet12345 q1w2e3r4t5123 q1w2e3r4t51234 q1w2e3r4t512345
q1w2e3r4t5y6 qazwsxedcrfv qweasdzxc123 qwerty1234 qwerty12345 qwerty123456 qwertyuiop qwertyuiop123
qwertyuiop1234 qwertyuiop12345 qwertyuiop123456 qwertyuiop[] rockstar123 rockstar1234 rockstar12345 samsung123
samsung1234 samsung12345 samsung123456 shadow1234 shadow12345 shadow123456 spartak123 spartak1234 spartak12345
starwars123 starwars1234 starwars12345 starwars123456 sunshine123 sunshine1234 sunshine12345 sunshine123456
superman123 superman1234 superman12345 superman123456 trustno123 trustno1234 trustno12345 trustno123456
vladimir123 vladimir1234 vladimir12345 welcome123 welcome1234 welcome12345 welcome123456 whatever123
whatever1234 whatever12345 whatever123456 zaq12wsx123 zaq12wsx1234 zaq12wsx12345 zaq12wsxcde3 zxcvbnm,./
йцукен12345 йцукен123456 йцукенгшщз йцукенгшщзхъ любовь12345 наташа12345 пароль12345 пароль123456 пароль2026
парольпароль привет12345 солнышко123 фывапролдж ячсмитьбю.
`
