package main

import "net/http"

// langfuses are those of the clients of Langfuse.
func langfuses() []request {
	const prompts = "/lf/api/public/v2/prompts"
	made := func(l *lab) {
		l.makeToken()
		l.ask(call{
			method: http.MethodPost, path: prompts, user: ann,
			body: `{"name":"a/b","prompt":"{{c}}","labels":["production"],"config":{"d":1}}`,
		}, nil)
		l.ask(call{method: http.MethodPost, path: prompts, user: ann, body: `{"name":"a/b","prompt":"{{d}}"}`}, nil)
		l.settle()
	}
	including := func(l *lab) {
		made(l)
		l.ask(call{
			method: http.MethodPost, path: prompts, user: ann,
			body: `{"name":"c","prompt":"@@@langfusePrompt:name=a/b|label=production@@@","labels":["production"]}`,
		},
			nil)
		l.settle()
	}
	const skills = "/lf/api/public/unstable/skills"
	skilled := func(l *lab) {
		made(l)
		for _, n := range []string{"1", "2"} {
			l.ask(call{
				method: http.MethodPost, path: skills, user: ann,
				body: `{"files":[` + skillFile + `,{"path":"a.txt","content":"a"}]}`,
			}, nil)
			l.ask(call{
				method: http.MethodPatch, path: skills + "/a-skill/versions/" + n, user: ann,
				body: `{"labels":["production"]}`,
			}, nil)
		}
		l.settle()
	}
	skill := func(method, path, body string) call { return call{method: method, path: skills + path, body: body} }
	sent := func(method, path, body string) call { return call{method: method, path: prompts + path, body: body} }
	named := budget{2, 6}
	return []request{
		{
			name: "Langfuse: get by name and label", token: true, again: true, setup: made,
			call: sent("GET", "/a%2Fb", ""), steps: 2, tables: 6, budget: &named,
		},
		{
			name: "Langfuse: get by name and version", token: true, again: true, setup: made,
			call: sent("GET", "/a%2Fb?version=2", ""), steps: 2, tables: 6, budget: &named,
		},
		{
			name: "Langfuse: get by name in the old way", token: true, again: true, setup: made,
			call: call{method: "GET", path: "/lf/api/public/prompts?name=a/b"}, steps: 2, tables: 6, budget: &named,
		},
		{
			name: "Langfuse: get one that includes another", token: true, again: true, setup: including,
			call: sent("GET", "/c", ""), steps: 4, tables: 10,
		},
		{
			name: "Langfuse: get a name that nobody has", token: true, setup: made, status: 404,
			call: sent("GET", "/x", ""), steps: 2, tables: 4, behind: 1,
		},
		{
			name: "Langfuse: list 10", token: true, setup: made, call: sent("GET", "", ""),
			steps: 3, tables: 14, behind: 1,
		},
		{
			name: "Langfuse: list one", token: true, setup: made, call: sent("GET", "?name=a/b", ""),
			steps: 3, tables: 5, behind: 1,
		},
		{
			name: "Langfuse: create", token: true, setup: made,
			call: sent("POST", "", `{"name":"n","prompt":"x","labels":["production"]}`), steps: 6,
			tables: 8, queues: 2, behind: 2,
		},
		{
			name: "Langfuse: the project of the keys", token: true, again: true, setup: made,
			call: call{method: http.MethodGet, path: "/lf/api/public/projects"}, steps: 1, tables: 1,
		},
		{
			name: "Langfuse: create another version", token: true, setup: made,
			call: sent("POST", "", `{"name":"a/b","prompt":"x","labels":["production"]}`), steps: 7,
			tables: 16, queues: 2, behind: 2,
		},
		{
			name: "Langfuse: label a version", token: true, setup: made,
			call: sent("PATCH", "/a%2Fb/versions/2", `{"newLabels":["production"]}`), steps: 7,
			tables: 18, queues: 2, behind: 2,
		},
		{
			name: "Langfuse: delete a version", token: true, setup: made, call: sent("DELETE", "/a%2Fb?version=1", ""),
			steps: 10, tables: 20, queues: 2, behind: 2,
		},
		{
			name: "Langfuse: get a skill", token: true, again: true, setup: skilled,
			call: skill("GET", "/a-skill", ""), steps: 3, tables: 7,
		},
		{
			name: "Langfuse: the content of a file that is looked for", token: true, setup: skilled,
			call:  skill("GET", "/files/content?sha256Hashes=ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=", ""),
			steps: 6, tables: 11, behind: 1,
		},
		{
			name: "Langfuse: list skills", token: true, setup: skilled, call: skill("GET", "", ""),
			steps: 4, tables: 6, behind: 1,
		},
		{
			name: "Langfuse: create another version of a skill", token: true, setup: skilled,
			call: skill("POST", "", `{"files":[`+skillFile+`,{"path":"a.txt","content":"b"}]}`), status: 201, steps: 9,
			tables: 18, queues: 2, behind: 2,
		},
		{
			name: "Langfuse: tag a skill", token: true, setup: skilled,
			call:  skill("PATCH", "/a-skill", `{"tags":["a"]}`),
			steps: 10, tables: 22, queues: 2, behind: 2,
		},
		{
			name: "Langfuse: label a version of a skill", token: true, setup: skilled,
			call: skill("PATCH", "/a-skill/versions/1", `{"labels":["production"]}`), steps: 8,
			tables: 19, queues: 2, behind: 2,
		},
		{
			name: "Langfuse: delete a version of a skill", token: true, setup: skilled,
			call: skill("DELETE", "/a-skill/versions/1", ""), steps: 10, tables: 19, queues: 2, behind: 2,
		},
		{
			name: "Langfuse: delete", token: true, setup: made, call: sent("DELETE", "/a%2Fb", ""), steps: 8,
			tables: 17, queues: 2, behind: 2,
		},
	}
}

// langsmiths are those of the clients of LangSmith's hub.
func langsmiths() []request {
	const manifest = `{"lc":1,"type":"constructor","id":["langchain_core","prompts","prompt","PromptTemplate"],"kwargs":{"template":"new {x}","template_format":"f-string","input_variables":["x"]}}`
	made := func(l *lab) {
		l.makeToken()
		for _, text := range []string{"{{c}}", "{{d}}"} {
			l.ask(call{
				method: http.MethodPost, path: "/lf/api/public/v2/prompts", user: ann,
				body: `{"name":"greet","prompt":"` + text + `","labels":["production"]}`,
			}, nil)
		}
		l.settle()
	}
	const directory = "/v1/platform/hub/repos/-/a-skill/directories"
	skilled := func(l *lab) {
		made(l)
		l.ask(call{
			method: http.MethodPost, path: "/lf/api/public/unstable/skills", user: ann,
			body: `{"files":[` + skillFile + `,{"path":"a.txt","content":"a"}]}`,
		}, nil)
		l.settle()
	}
	sent := func(method, path, body string) call { return call{method: method, path: "/ls" + path, body: body} }
	return []request{
		{
			name: "LangSmith: pull the latest", token: true, again: true, setup: made,
			call: sent("GET", "/commits/-/greet/latest", ""), steps: 2, tables: 5,
		},
		{
			name: "LangSmith: pull by tag", token: true, again: true, setup: made,
			call: sent("GET", "/commits/-/greet/production", ""), steps: 2, tables: 6,
		},
		{
			name: "LangSmith: pull by commit", token: true, again: true, setup: made,
			call: sent("GET", "/commits/-/greet/00000001", ""), steps: 2, tables: 5,
		},
		{
			name: "LangSmith: list commits", token: true, again: true, setup: made,
			call: sent("GET", "/commits/-/greet?limit=1&offset=0", ""), steps: 3, tables: 8,
		},
		{
			name: "LangSmith: commit", token: true, setup: made,
			call: sent("POST", "/commits/-/greet", `{"manifest":`+manifest+`}`), steps: 7,
			tables: 16, queues: 2, behind: 2,
		},
		{
			name: "LangSmith: tag a commit", token: true, setup: made,
			call:  sent("POST", "/repos/-/greet/tags", `{"tag_name":"dev","commit_id":"00000001"}`),
			steps: 5, tables: 11, behind: 1,
		},
		{
			name: "LangSmith: info", token: true, again: true, setup: made,
			call: sent("GET", "/info", ""), steps: 0, tables: 0,
		},
		{
			name: "LangSmith: settings", token: true, again: true, setup: made,
			call: sent("GET", "/settings", ""), steps: 1, tables: 1,
		},
		{
			name: "LangSmith: list prompts", token: true, again: true, setup: made,
			call: sent("GET", "/repos?limit=100&offset=0", ""), steps: 4, tables: 66,
		},
		{
			name: "LangSmith: a prompt", token: true, again: true, setup: made,
			call: sent("GET", "/repos/-/greet", ""), steps: 3, tables: 6,
		},
		{
			name: "LangSmith: create", token: true, setup: made,
			call: sent("POST", "/repos", `{"repo_handle":"another","is_public":false}`), steps: 5,
			tables: 7, queues: 2, behind: 2,
		},
		{
			name: "LangSmith: update", token: true, setup: made,
			call: sent("PATCH", "/repos/-/greet", `{"description":"About it."}`), steps: 8,
			tables: 17, queues: 2, behind: 2,
		},
		{
			name: "LangSmith: delete", token: true, setup: made, call: sent("DELETE", "/repos/-/greet", ""), steps: 8,
			tables: 16, queues: 2, behind: 2,
		},
		{
			name: "LangSmith: pull a skill with two files", token: true, again: true, setup: skilled,
			call: sent("GET", directory, ""), steps: 3, tables: 7,
		},
		{
			name: "LangSmith: push a file of a skill", token: true, setup: skilled,
			call: sent("POST", directory+"/commits", `{"files":{"a.txt":{"type":"file","content":"b"}}}`), steps: 9,
			tables: 18, queues: 2, behind: 2,
		},
		{
			name: "LangSmith: delete a skill", token: true, setup: skilled,
			call: sent("DELETE", directory, ""), steps: 8,
			tables: 16, queues: 2, behind: 2,
		},
		{
			name: "LangSmith: like", token: true, setup: made, call: sent("POST", "/likes/-/greet", `{"like":true}`),
			steps: 6, tables: 12, queues: 2, behind: 2,
		},
	}
}
