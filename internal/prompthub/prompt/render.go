package prompt

// Template returns the texts of the content, one or those of its messages, with their variables.
func (c Content) Template() Template {
	if c.Kind != KindChat {
		return ParseTemplate(c.Variables, c.Text)
	}
	texts := make([]string, len(c.Messages))
	for i, m := range c.Messages {
		texts[i] = m.Content
	}
	return ParseTemplate(c.Variables, texts...)
}

// Render returns the content with values in the places of its variables; see Template.Render.
func (c Content) Render(values map[string]string, maxText int) (Content, error) {
	texts, err := c.Template().Render(values, maxText)
	if err != nil {
		return Content{}, err
	}
	c.Variables = nil
	if c.Kind != KindChat {
		c.Text = texts[0]
		return c, nil
	}
	filled := make([]Message, len(c.Messages))
	for i, m := range c.Messages {
		m.Content = texts[i]
		filled[i] = m
	}
	c.Messages = filled
	return c, nil
}
