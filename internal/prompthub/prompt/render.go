package prompt

// Template returns the texts of the content, one or those of its messages, with their variables.
func (c Content) Template() Template { return ParseTemplate(c.Variables, c.texts()...) }

// Render returns the content with values in the places of its variables; see Template.Render.
func (c Content) Render(values map[string]string, maxText int) (Content, error) {
	texts, err := c.Template().Render(values, maxText)
	if err != nil {
		return Content{}, err
	}
	c.Variables = nil
	return c.withTexts(texts), nil
}
