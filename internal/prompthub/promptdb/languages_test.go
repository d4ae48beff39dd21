package promptdb_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// asPeopleAsk are titles with a question for each, as somebody might type it: with another ending,
// without accents, with a slip, or in two words.
var asPeopleAsk = map[string]string{
	"German": `
		Übersetzer für deutsche Texte | ubersetzer deutsch
		Bewerbungsschreiben verbessern | bewerbungsschreibens
		Kochrezepte aus Resten | kochrezept
		Reiseplaner für Familien | reiseplaner familie
		Gedichte über die Natur | gedicht natur
		Zusammenfassung eines Berichts | zusammenfassungen bericht
		Lehrer für Grammatik | lehrern grammatik
		Vorbereitung auf das Vorstellungsgespräch | vorstellungsgesprache
		Freundliche E-Mail an Kunden | email kunde
		Erklärung für Anfänger | erklarungen anfanger
		Prüfungsfragen für Schüler | prufungsfrage
		Kurzgeschichte mit überraschendem Ende | kurzgeschichten
		Ernährungsberater | ernahrungsberatern
		Geschäftsideen bewerten | geschaftsidee
		Rechtschreibung prüfen | rechtschriebung
		Stellenanzeige schreiben | stellenanzeigen
		Werbetexte für Instagram | werbetext
		Mathematik einfach erklärt | matematik
		Protokoll der Sitzung | protokolle
		Kinderlieder dichten | kinderlied
		Größe einer Wohnung schätzen | grosse wohnungen
		Fitnessplan für Einsteiger | fitness plan
		Sprachlehrer auf Reisen | sprach lehrer
		Steuererklärung vorbereiten | steuererklarung
		Glückwünsche zum Geburtstag | gluckwunsche geburtstage`,
	"French": `
		Traducteur de textes français | traducteurs francais
		Améliorer une lettre de motivation | lettres motivation
		Recettes de cuisine pour débutants | recette debutant
		Résumé d'un article | resume articles
		Poèmes sur la nature | poeme
		Préparation à un entretien | preparations entretien
		Professeur de mathématiques | professeurs mathematique
		Guide de voyage à Paris | guides voyages
		Correcteur d'orthographe | correcteurs ortographe
		Idées de cadeaux | idee cadeau
		Histoire courte pour les enfants | histoires enfant
		Conseiller en nutrition | conseillers
		Rédiger une annonce | annonces rediger
		Expliquer un problème complexe | problemes complexes
		Questions d'examen pour élèves | question eleve
		Planifier une réunion | reunions
		Critique de cinéma | critiques cinema
		Générateur de slogans | generateurs slogan
		Chanson d'anniversaire | chansons
		Développeur de logiciels | developpeur logiciel
		Été à la montagne | ete montagnes
		Dialogue entre deux philosophes | dialogues philosophe
		Évaluation d'un projet | evaluations projets
		Interprète de rêves | interpretes reve
		Plan d'entraînement sportif | plans entrainement`,
	"Spanish": `
		Traductor de textos al español | traductores espanol
		Redacción de una carta de presentación | redaccion cartas
		Recetas de cocina para principiantes | receta principiante
		Resumen de un artículo | resumenes articulo
		Poemas sobre la naturaleza | poema
		Preparación para una entrevista | preparacion entrevistas
		Profesor de matemáticas | profesores matematica
		Guía de viaje por México | guias viajes
		Corrector de ortografía | ortografia
		Ideas para regalos | idea regalo
		Cuento corto para los niños | cuentos nino
		Consejero de nutrición | consejeros nutricion
		Explicación de un problema | explicaciones problemas
		Preguntas de examen para alumnos | pregunta alumno
		Organizar una reunión | reuniones
		Crítico de cine | criticos
		Generador de lemas publicitarios | generadores lema
		Canción de cumpleaños | canciones
		Desarrollador de programas | desarrolladores programa
		Plan de entrenamiento físico | planes entrenamientos
		Diálogo entre dos filósofos | dialogos filosofo
		Evaluación de un proyecto | evaluaciones proyectos
		Intérprete de sueños | interpretes sueno
		Abogado laboral con experiencia | abogados laborales
		Análisis de la competencia | analisis`,
	"Russian": `
		Переводчик текстов на английский | переводчики текст
		Рецепты для начинающих | рецепт
		Краткое изложение статьи | изложения статей
		Стихи о природе | стихи природа
		Подготовка к собеседованию | собеседование
		Учитель математики | учителя математика
		Путеводитель по Москве | путеводители москва
		Проверка орфографии | проверки орфография
		Идеи для подарков | идея подарок
		Сказка для детей | сказки
		Советник по питанию | советники питание
		Объяснение сложной задачи | объяснения задач
		Вопросы для экзамена | вопрос экзамен
		План тренировок | планы тренировки
		Критик фильмов | критики фильм
		Генератор лозунгов | генераторы лозунг
		Песня на день рождения | песни
		Разработчик программ | разработчики программы
		Диалог двух философов | диалоги философ
		Оценка проекта | оценки проект
		Толкователь снов | толкователи
		Письмо клиенту | письма клиент
		Учёный о космосе | ученый космос
		Ёлка своими руками | елка
		Журналист на месте событий | журналситы`,
	"Chinese": `
		翻译助手 | 翻译
		英语老师 | 老师
		写作教练 | 写作
		旅行计划生成器 | 旅行计划
		代码审查专家 | 代码审查
		面试官模拟 | 面试
		菜谱推荐 | 菜谱
		心理咨询师 | 咨询
		小红书文案 | 文案
		论文摘要 | 摘要
		数学先生 | 先生
		健身教练计划 | 健身
		法律顾问 | 法律
		产品经理 | 产品
		会议纪要 | 会议
		诗歌创作 | 诗歌
		简历优化 | 简历
		故事大王 | 故事
		营养师建议 | 营养
		电影评论家 | 电影
		历史学家 | 历史
		广告语生成 | 广告
		Python入门教程 | python 入门
		面向儿童的科学解释 | 科学
		周报生成器 | 周报`,
}

// TestLanguages asks for titles in five languages, all in one library, as people ask: for nine of
// ten questions at least the prompt is among the first ten.
func TestLanguages(t *testing.T) {
	type question struct{ title, words string }
	asked := map[string][]question{}
	w := newWorld(t)
	for language, lines := range asPeopleAsk {
		for line := range strings.Lines(strings.TrimSpace(lines)) {
			title, words, ok := strings.Cut(strings.TrimSpace(line), " | ")
			require.True(t, ok, line)
			asked[language] = append(asked[language], question{title, words})
			w.add("ann", prompt.Draft{Title: title, Text: "…", Visibility: prompt.Public})
		}
		require.Len(t, asked[language], 25, language)
	}
	w.run()
	for language, questions := range asked {
		found := 0
		var missed []string
		for _, q := range questions {
			page, err := w.Find(t.Context(),
				promptdb.Search{Words: query(t, q.words), Text: true, Order: promptdb.Relevance}, "", 10)
			require.NoError(t, err)
			hit := false
			for _, it := range page.Items {
				hit = hit || it.Title == q.title
			}
			if hit {
				found++
			} else {
				missed = append(missed, q.words)
			}
		}
		t.Logf("%s: %d of %d, missed %q", language, found, len(questions), missed)
		require.GreaterOrEqual(t, float64(found), 0.9*float64(len(questions)), "%s: missed %q", language, missed)
	}
}
