// Exports, judged by the programs that they are for. PROMPTHUB_URL and PROMPTHUB_TOKEN say where and
// who.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { load } from '@langchain/core/load';
import { ChatPromptClient, LangfuseClient, TextPromptClient } from '@langfuse/client';
import { parse as parseCSV } from 'csv-parse/sync';
import { Dotprompt } from 'dotprompt';
import * as hub from 'langchain/hub';
import * as skills from 'skills-ref';
import { parse as parseYAML } from 'yaml';

const api = process.env.PROMPTHUB_URL + '/api/v1';
const headers = { authorization: `Bearer ${process.env.PROMPTHUB_TOKEN}`, 'content-type': 'application/json' };

async function ask(path, body) {
  const r = await fetch(api + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
  assert(r.ok, `${path}: ${r.status} ${r.ok ? '' : await r.text()}`);
  return r;
}
const create = async body => (await ask('/prompts', body)).json();
// imported takes a file of one prompt in, as the caller or as another, and returns what became of it.
async function imported(file, name, authorization = headers.authorization) {
  const r = await fetch(`${api}/import?file=${encodeURIComponent(name)}`, { method: 'POST', body: file, headers: { authorization, 'content-type': 'application/octet-stream' } });
  assert(r.ok, `${name}: ${r.status}`);
  return (await r.json()).items[0];
}
const exported = async (p, format) => (await ask(`/prompts/${p.id}/export?format=${format}`)).text();
const rendered = async (p, values) => (await ask(`/prompts/${p.id}/render`, { values })).json();

const text = 'Write "to" {{name}}: {{what}}\n\n- not: yaml\n\ttab, é 🚀';
const values = { name: 'Ann', what: 'a <b> & {c}' };
const messages = [
  { role: 'system', content: 'You are {{who}}.\nBe brief:\n  always.' }, { role: 'user', content: 'Hi, I am {{name}} # no comment' },
  { role: 'assistant', content: 'Hi {{name}}' }, { role: 'user', content: 'Go on' },
];
const chatValues = { who: 'a poet', name: 'Bob' };
const config = { model: 'some/model', temperature: 0.5, stop: ['a: b'] };
const letter = await create({ name: 'letters/one', title: 'A letter', description: 'Writes: letters', text, config, tags: ['text'], ownTags: ['mine'] });
const chat = await create({ name: 'a-chat', title: 'A chat', messages, config, variables: [{ name: 'who', type: 'text', required: true, description: 'a part' }, { name: 'name', type: 'text', default: 'Bob' }] });
const dir = mkdtempSync(join(tmpdir(), 'formats-'));
after(() => rmSync(dir, { recursive: true }));

test('skills-ref finds nothing wrong with a skill', async () => {
  for (const p of [letter, chat]) {
    const file = await exported(p, 'skill');
    const folder = join(dir, p.slug);
    mkdirSync(folder);
    writeFileSync(join(folder, 'SKILL.md'), file);
    assert.deepEqual(await skills.validate(folder), []);
    const { name, description } = await skills.readProperties(folder);
    assert.equal(name, p.slug);
    assert.equal(description, p.description);
  }
});

test('Dotprompt sends the same messages', async () => {
  const engine = new Dotprompt();
  const got = await engine.render(await exported(chat, 'dotprompt'), { input: chatValues });
  const want = (await rendered(chat, chatValues)).messages.map(m => ({ role: m.role === 'assistant' ? 'model' : m.role, content: [{ text: m.content }] }));
  assert.deepEqual(got.messages.map(({ role, content }) => ({ role, content })), want);
  assert.equal(got.model, 'some/model');
  assert.deepEqual(got.config, { temperature: 0.5, stop: ['a: b'] });
  const { input } = await engine.renderMetadata(await exported(chat, 'dotprompt'));
  assert.deepEqual(input, {
    default: { name: 'Bob' },
    schema: {
      type: 'object', additionalProperties: false, required: ['who'],
      properties: { who: { type: 'string', description: 'a part' }, name: { type: ['string', 'null'] } },
    },
  });
  const parsed = engine.parse(await exported(letter, 'dotprompt'));
  assert.equal(parsed.template, text);
  assert.equal(parsed.name, 'letters/one');
});

test('LangChain loads the templates and fills them in the same', async () => {
  const one = await load(await exported(letter, 'langchain'));
  assert.deepEqual(one.inputVariables, ['name', 'what']);
  assert.equal(await one.format({ name: 'Ann', what: 'rain' }), (await rendered(letter, { name: 'Ann', what: 'rain' })).text);
  const many = await load(await exported(chat, 'langchain'));
  const got = await many.formatMessages(chatValues);
  assert.deepEqual(got.map(m => m.content), (await rendered(chat, chatValues)).messages.map(m => m.content));
  assert.deepEqual(got.map(m => m.getType()), ['system', 'human', 'ai', 'human']);
});

test('the client of Langfuse compiles the same', async () => {
  const one = new TextPromptClient({ ...JSON.parse(await exported(letter, 'langfuse')), version: 1, labels: [] });
  assert.equal(one.compile(values), (await rendered(letter, values)).text);
  assert.deepEqual(one.config, config);
  const many = new ChatPromptClient({ ...JSON.parse(await exported(chat, 'langfuse')), version: 1, labels: [], tags: [] });
  assert.deepEqual(many.compile(chatValues).map(({ role, content }) => ({ role, content })), (await rendered(chat, chatValues)).messages);
});

test('placeholders with defaults, choices and spaces are filled in by the programs that get them', async () => {
  for (const [n, said] of ['In {{tone:warm}} words to ${who}', '${who} on {{my day}} as {{size:S|M}} and {{size}}', '{{tone:warm}} ${input:what:a hint} {no} "q"', '{{who | select:options=["Ann","Bob"]}}, ${tone:warm}'].entries()) {
    const p = await create({ name: `filled/${n}`, title: `Filled ${n}`, text: said });
    const given = { tone: 'dry', who: 'Ann', my_day: 'May 1', size: 'M', what: 'it' };
    const known = values => Object.fromEntries(Object.entries(values).filter(([name]) => new RegExp(`\\b${name.replace('_', '.')}\\b`).test(said)));
    const want = (await rendered(p, known(given))).text;
    const engine = new Dotprompt();
    const file = await exported(p, 'dotprompt');
    assert.equal((await engine.render(file, { input: given })).messages[0].content[0].text, want, file);
    const needed = { who: 'Ann', my_day: 'May 1', what: 'it' };
    const bare = (await rendered(p, known(needed))).text;
    const { input } = await engine.renderMetadata(file); // whose defaults Genkit puts in, and the library alone does not
    assert.equal((await engine.render(file, { input: { ...input?.default, ...needed } })).messages[0].content[0].text, bare, `without values for defaults: ${file}`);
    assert.equal(await (await load(await exported(p, 'langchain'))).format(given), want);
    assert.equal(new TextPromptClient({ ...JSON.parse(await exported(p, 'langfuse')), version: 1, labels: [] }).compile(given), want);
  }
});

test('another parser reads the same YAML', async () => {
  assert.deepEqual(parseYAML(await exported(chat, 'github-models')),
    { name: 'a-chat', model: 'some/model', modelParameters: { temperature: 0.5, stop: ['a: b'] }, messages });
  const [, front, body] = /^---\n([^]*?)\n---\n\n([^]*)\n$/.exec(await exported(letter, 'markdown'));
  assert.equal(body, text);
  assert.deepEqual(parseYAML(front), { name: 'letters/one', title: 'A letter', description: 'Writes: letters', config, tags: ['text'], ownTags: ['mine'], visibility: 'private' });
});

test('another parser reads the same CSV', async () => {
  const [row] = parseCSV(await exported(letter, 'csv'), { columns: true });
  assert.deepEqual({ ...row }, { act: 'A letter', prompt: text, for_devs: 'FALSE', type: 'TEXT', name: 'letters/one', description: 'Writes: letters', tags: 'text, mine' });
});

// Where DOTPROMPT_SPEC names the folder spec of github.com/google/dotprompt, each of its templates.
test('templates of the specification of Dotprompt come back, and render the same when they are written anew', { skip: !process.env.DOTPROMPT_SPEC && 'DOTPROMPT_SPEC names no folder' }, async t => {
  const files = readdirSync(process.env.DOTPROMPT_SPEC, { recursive: true }).filter(f => f.endsWith('.yaml'));
  const count = { templates: 0, refused: 0, renders: 0 };
  for (const file of files) {
    for (const c of parseYAML(readFileSync(join(process.env.DOTPROMPT_SPEC, file), 'utf8'))) {
      if (!c.tests || typeof c.template !== 'string') continue;
      const item = await imported(c.template, `${file}/${c.name}-${count.templates}.prompt`);
      count.templates++;
      if (item.outcome === 'rejected') {
        count.refused++;
        t.diagnostic(`${file} ${c.name}: ${item.reason}`);
        continue;
      }
      assert.equal(await exported(item, 'dotprompt'), c.template, c.name);
      const r = await fetch(`${api}/prompts/${item.id}`, { method: 'PATCH', body: JSON.stringify({ description: 'Edited' }), headers: { ...headers, 'if-match': '*' } });
      assert(r.ok, c.name);
      const anew = await exported(item, 'dotprompt');
      assert.notEqual(anew, c.template);
      for (const one of c.tests) {
        const render = async source => {
          const engine = new Dotprompt({ schemas: c.schemas, tools: c.tools, partialResolver: name => c.resolverPartials?.[name] ?? null });
          for (const [name, text] of Object.entries(c.partials ?? {})) engine.definePartial(name, text);
          try {
            const { messages } = await engine.render(source, { ...c.data, ...one.data }, one.options);
            // Line ends behind a template Dotprompt takes away where the file has front matter, as what is written anew has.
            for (const { content } of messages) if (content.at(-1)?.text) content.at(-1).text = content.at(-1).text.trimEnd();
            return messages;
          } catch (cause) {
            return cause.constructor.name;
          }
        };
        assert.deepEqual(await render(anew), await render(c.template), `${file} ${c.name}: ${one.desc}\n${anew}`);
        count.renders++;
      }
    }
  }
  t.diagnostic(JSON.stringify(count));
  assert(count.templates > 0);
});

test('what the client of Langfuse creates is the same elsewhere', async () => {
  const langfuse = new LangfuseClient();
  const prompt = [{ role: 'system', content: 'You are {{who}}' }, { type: 'placeholder', name: 'history' }, { role: 'user', content: 'Hi' }];
  await langfuse.api.prompts.create({ name: 'moves/chat', type: 'chat', prompt, config: { a: [1, null] }, labels: ['production'], tags: ['one', 'two'], commitMessage: 'why' });
  const { id } = await (await ask(`/users/me/prompts/${encodeURIComponent('moves/chat')}`)).json();
  const file = await exported({ id }, 'langfuse');
  const item = await imported(file, 'moves.json', `Bearer ${process.env.OTHER_TOKEN}`);
  assert.equal(item.outcome, 'created', item.reason);
  const [publicKey, secretKey] = process.env.OTHER_TOKEN.slice(3).split('_');
  const there = new LangfuseClient({ publicKey, secretKey });
  const told = ({ name, type, prompt, config, labels, tags, commitMessage, version }) => ({ name, type, prompt, config, labels, tags, commitMessage, version });
  assert.deepEqual(told(await there.api.prompts.get('moves/chat')), told(await langfuse.api.prompts.get('moves/chat')));
});

test('a manifest that was taken in is pulled from the hub, and says what our render says', async () => {
  const manifest = JSON.stringify({
    lc: 1, type: 'constructor', id: ['langchain_core', 'prompts', 'chat', 'ChatPromptTemplate'],
    kwargs: { input_variables: ['who'], messages: [
      { lc: 1, type: 'constructor', id: ['langchain_core', 'prompts', 'chat', 'SystemMessagePromptTemplate'], kwargs: { prompt: { lc: 1, type: 'constructor', id: ['langchain_core', 'prompts', 'prompt', 'PromptTemplate'], kwargs: { template: 'You are {{who}}.', template_format: 'mustache', input_variables: ['who'] } } } },
    ] },
  });
  const item = await imported(manifest, 'pulled-in.json');
  assert.equal(await exported(item, 'langchain'), manifest);
  const { messages } = await (await hub.pull('pulled-in')).invoke({ who: 'Ann' });
  assert.deepEqual(messages.map(m => m.content), (await rendered(item, { who: 'Ann' })).messages.map(m => m.content));
});
