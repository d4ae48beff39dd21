// Exports, judged by the programs that they are for. PROMPTHUB_URL and PROMPTHUB_TOKEN say where and
// who.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { load } from '@langchain/core/load';
import { ChatPromptClient, TextPromptClient } from '@langfuse/client';
import { parse as parseCSV } from 'csv-parse/sync';
import { Dotprompt } from 'dotprompt';
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

test('another parser reads the same YAML', async () => {
  assert.deepEqual(parseYAML(await exported(chat, 'github-models')),
    { name: 'a-chat', model: 'some/model', modelParameters: { temperature: 0.5, stop: ['a: b'] }, messages });
  const [, front, body] = /^---\n([^]*?)\n---\n\n([^]*)\n$/.exec(await exported(letter, 'markdown'));
  assert.equal(body, text);
  assert.deepEqual(parseYAML(front), { name: 'letters/one', title: 'A letter', description: 'Writes: letters', config, tags: ['text'], ownTags: ['mine'], visibility: 'private' });
});

test('another parser reads the same CSV', async () => {
  const [row] = parseCSV(await exported(letter, 'csv'), { columns: true });
  assert.deepEqual({ ...row }, { act: 'A letter', prompt: text, for_devs: 'FALSE', type: 'TEXT', name: 'letters/one' });
});
