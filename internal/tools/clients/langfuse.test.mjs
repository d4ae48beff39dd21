// @langfuse/client 5: what its users do with prompts. LANGFUSE_BASE_URL, LANGFUSE_PUBLIC_KEY and
// LANGFUSE_SECRET_KEY say where and who, WORKSPACE which workspace the key is of, if it is of one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChatPromptClient, LangfuseClient, TextPromptClient } from '@langfuse/client';
import { ChatPromptTemplate, PromptTemplate } from '@langchain/core/prompts';

const langfuse = new LangfuseClient();
const { prompt, api } = langfuse;

// counted counts the requests for prompts while something is done.
async function counted(what) {
  let n = 0;
  const get = prompt.apiClient.prompts.get;
  prompt.apiClient.prompts.get = function (...args) { n++; return get.apply(this, args); };
  try { await what(); } finally { prompt.apiClient.prompts.get = get; }
  return n;
}
const status = code => error => { assert.equal(error.statusCode ?? error.rawResponse?.status, code, String(error)); return true; };

test('create and get a text', async () => {
  const made = await prompt.create({ name: 'text', prompt: 'A {{variable}}', labels: ['production'], config: { temperature: 0.5 } });
  assert(made instanceof TextPromptClient);
  assert.deepEqual([made.name, made.version, made.type, made.prompt, made.config], ['text', 1, 'text', 'A {{variable}}', { temperature: 0.5 }]);
  assert(made.labels.includes('production'));
  for (const got of [await prompt.get('text'), await langfuse.getPrompt('text'), await prompt.get('text', { version: 1 }), await prompt.get('text', { label: 'latest' })]) {
    assert(got instanceof TextPromptClient);
    assert.equal(got.prompt, 'A {{variable}}');
    assert.deepEqual(got.config, { temperature: 0.5 });
    assert.equal(got.isFallback, false);
  }
  assert.equal((await prompt.get('text')).compile({ variable: '{"foo":"<bar>"}' }), 'A {"foo":"<bar>"}');
});

test('create and get a chat with placeholders', async () => {
  const messages = [{ role: 'system', content: 'You are {{who}}' }, { type: 'placeholder', name: 'history' }, { role: 'user', content: 'Hi {{name}}' }];
  const made = await prompt.create({ name: 'chat', type: 'chat', prompt: messages, labels: ['production'], config: { a: [1, null] } });
  assert(made instanceof ChatPromptClient);
  const got = await prompt.get('chat', { type: 'chat' });
  assert(got instanceof ChatPromptClient);
  assert.deepEqual(got.prompt.map(m => m.type), ['chatmessage', 'placeholder', 'chatmessage']);
  const history = [{ role: 'user', content: 'Before' }, { role: 'assistant', content: 'Yes' }];
  assert.deepEqual(got.compile({ who: 'Ann', name: 'Bob' }, { history }), [{ role: 'system', content: 'You are Ann' }, ...history, { role: 'user', content: 'Hi Bob' }]);
  const raw = await api.prompts.get('chat');
  assert.deepEqual(raw.prompt, messages);
  assert.deepEqual([raw.type, raw.tags, raw.isActive, raw.resolutionGraph], ['chat', [], true, null]);
  const template = ChatPromptTemplate.fromMessages(got.getLangchainPrompt());
  assert.deepEqual([...template.inputVariables].sort(), ['history', 'name', 'who']);
  const filled = await template.formatMessages({ who: 'Ann', name: 'Bob', history });
  assert.deepEqual(filled.map(m => m.content), ['You are Ann', 'Before', 'Yes', 'Hi Bob']);
});

test('a text for LangChain', async () => {
  await prompt.create({ name: 'json', prompt: '{{animal}}\n{{\n "a": {{animal}}, "b": {{}}\n}}', labels: ['production'] });
  const template = PromptTemplate.fromTemplate((await prompt.get('json')).getLangchainPrompt());
  assert.equal(await template.format({ animal: 'cat' }), 'cat\n{\n "a": cat, "b": {}\n}');
});

test('tags of its own, on all versions', async () => {
  const made = await prompt.create({ name: 'tags', prompt: 'x', tags: ['tag1', 'Tag 2'] });
  assert.deepEqual(made.tags, ['tag1', 'Tag 2']);
  assert.deepEqual((await prompt.create({ name: 'tags', prompt: 'y' })).tags, ['tag1', 'Tag 2']);
  await prompt.create({ name: 'tags', prompt: 'z', tags: ['other'] });
  assert.deepEqual((await prompt.get('tags', { version: 1 })).tags, ['other']);
});

test('the same content again is a version', async () => {
  await prompt.create({ name: 'again', prompt: 'x', config: { a: 1 }, labels: ['production'], commitMessage: 'first' });
  await prompt.create({ name: 'again', prompt: 'x', config: { a: 1 } });
  const first = await prompt.get('again');
  assert.deepEqual([first.version, first.commitMessage], [1, 'first']);
  assert.equal((await prompt.get('again', { version: 2 })).version, 2);
});

test('what is not there', async () => {
  await assert.rejects(prompt.get('unknown'), status(404));
  await assert.rejects(prompt.get('unknown', { version: -1 }), status(404));
  await assert.rejects(prompt.get('unknown', { maxRetries: 2, fetchTimeoutMs: 3000 }), status(404));
  await assert.rejects(prompt.update({ name: 'unknown', version: 1, newLabels: ['production'] }), status(404));
  await assert.rejects(prompt.delete('non-existent/prompt'), status(404));
  assert.equal(await counted(() => assert.rejects(prompt.get('unknown', { maxRetries: 0 }))), 1);
});

test('fallbacks', async () => {
  const text = await prompt.get('no text', { fallback: 'Fall {{back}}', type: 'text' });
  assert.deepEqual([text.isFallback, text.version, text.prompt], [true, 0, 'Fall {{back}}']);
  const chat = await prompt.get('no chat', { fallback: [{ role: 'user', content: 'x' }], type: 'chat' });
  assert(chat.isFallback && chat instanceof ChatPromptClient);
  await prompt.create({ name: 'there', prompt: 'From the server', labels: ['production'] });
  const there = await prompt.get('there', { fallback: 'x' });
  assert.deepEqual([there.prompt, there.isFallback], ['From the server', false]);
});

test('its cache', async () => {
  await prompt.create({ name: 'cached', prompt: 'x', labels: ['production'] });
  assert.equal(await counted(async () => { await prompt.get('cached'); await prompt.get('cached', { cacheTtlSeconds: 60 }); }), 1);
  assert.equal(await counted(async () => { await prompt.get('cached', { cacheTtlSeconds: 0 }); await prompt.get('cached', { cacheTtlSeconds: 0 }); }), 2);
});

test('labels are added, move, and are no cache of old ones', async () => {
  const one = await prompt.create({ name: 'labels', prompt: 'one', labels: ['production'] });
  assert((await prompt.get('labels')).labels.includes('production'));
  const updated = await prompt.update({ name: 'labels', version: one.version, newLabels: ['production', 'staging', 'testing'] });
  assert.deepEqual(new Set(updated.labels), new Set(['production', 'staging', 'testing', 'latest']));
  assert((await prompt.get('labels')).labels.includes('testing'));
  await prompt.create({ name: 'labels', prompt: 'two', labels: ['staging'] });
  assert.equal((await prompt.get('labels', { label: 'staging' })).prompt, 'two');
  assert.deepEqual((await api.prompts.get('labels')).labels, ['production', 'testing']);
  await assert.rejects(prompt.update({ name: 'labels', version: 999, newLabels: ['x'] }), status(404));
  await assert.rejects(prompt.update({ name: 'labels', version: 1, newLabels: ['latest'] }), status(400));
});

test('without production there is no default', async () => {
  await prompt.create({ name: 'dev', prompt: 'x', labels: ['development', 'experimental'] });
  await assert.rejects(prompt.get('dev'), status(404));
  const got = await prompt.get('dev', { label: 'development' });
  assert(got.labels.includes('experimental') && !got.labels.includes('production'));
});

test('delete a version, and all', async () => {
  const name = 'folder/sub folder/deleted';
  await prompt.create({ name, prompt: 'one', labels: ['production'] });
  await prompt.create({ name, prompt: 'two', labels: ['staging'] });
  await prompt.get(name, { version: 1 });
  await prompt.delete(name, { version: 1 });
  await assert.rejects(prompt.get(name, { version: 1 }), status(404));
  assert.equal((await prompt.get(name, { version: 2 })).prompt, 'two');
  await prompt.delete(name);
  await assert.rejects(prompt.get(name, { label: 'staging' }), status(404));
});

test('names of all kinds', async () => {
  const names = [
    'with-dashes', 'with_underscores', 'with.dots', 'with spaces', 'with@at#hash', 'with/some/slashes', 'with?query&chars', 'with[some]brackets', 'with{some}braces',
    'with+plus', 'with\\backslash', 'with"quotes"', "with'apostrophes", 'with:colons', 'with;semicolons', 'with%20escape', 'unicode-名前-тест-🚀',
  ];
  for (const name of names) {
    await prompt.create({ name, prompt: `of ${name}`, labels: ['production'] });
    const got = await prompt.get(name);
    assert.deepEqual([got.name, got.prompt], [name, `of ${name}`]);
  }
  for (const name of ['with|pipe', 'a'.repeat(500), '/first', 'last/', 'two//slashes', 'new', '<b>html</b>']) {
    await assert.rejects(prompt.create({ name, prompt: 'x' }), status(400), name);
  }
});

test('includes', async () => {
  await prompt.create({ name: 'parts/child', prompt: 'child {{x}}', labels: ['production'] });
  const raw = 'parent of @@@langfusePrompt:name=parts/child|label=production@@@';
  const made = await prompt.create({ name: 'parts/parent', prompt: raw, labels: ['production'] });
  assert.equal((await prompt.get('parts/parent')).compile({ x: 1 }), 'parent of child 1');
  const resolved = await api.prompts.get('parts/parent');
  assert.deepEqual(resolved.resolutionGraph.root, { name: 'parts/parent', version: 1, id: (await api.prompts.get('parts/parent')).id });
  const unresolved = await api.prompts.get('parts/parent', { resolve: false });
  assert.deepEqual([unresolved.prompt, unresolved.resolutionGraph, made.prompt], [raw, null, raw]);
  await assert.rejects(prompt.delete('parts/child'), status(400));
  await assert.rejects(prompt.create({ name: 'parts/child', prompt: raw.replace('child', 'parent') }), status(400));
});

test('list', async () => {
  const all = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const list = await api.prompts.list({ page, limit: 7 });
    pages = list.meta.totalPages;
    all.push(...list.data);
  }
  assert.deepEqual(all.map(p => p.name), all.map(p => p.name).sort());
  const [labels] = (await api.prompts.list({ name: 'labels' })).data;
  assert.deepEqual([labels.versions, labels.labels, labels.type, labels.lastConfig], [[1, 2], ['latest', 'production', 'staging', 'testing'], 'text', {}]);
  assert.deepEqual((await api.prompts.list({ label: 'testing' })).data.map(p => [p.name, p.versions]), [['labels', [1]]]);
  assert.deepEqual((await api.prompts.list({ tag: 'other' })).data.map(p => p.name), ['tags']);
  assert((await api.prompts.list({ fromUpdatedAt: '2020-01-01T00:00:00Z', limit: 100 })).data.length >= all.length);
  assert.deepEqual((await api.prompts.list({ toUpdatedAt: '2020-01-01T00:00:00Z' })).data, []);
});

if (process.env.WORKSPACE) test('a label with a rule moves by a proposal alone', async () => {
  const refused = error => {
    assert.equal(error.statusCode, 403, String(error));
    assert.equal(error.body.code, 'NEEDS_PROPOSAL');
    assert.match(error.body.message, /the label ruled move only by a proposal/);
    return true;
  };
  await prompt.create({ name: 'ruled', prompt: 'one', labels: ['production'] });
  await assert.rejects(prompt.update({ name: 'ruled', version: 1, newLabels: ['ruled'] }), refused);
  await assert.rejects(prompt.update({ name: 'ruled', version: 1, newLabels: ['free', 'ruled'] }), refused);
  await assert.rejects(prompt.create({ name: 'ruled', prompt: 'two', labels: ['ruled'] }), refused);
  const { version, labels } = await api.prompts.get('ruled', { label: 'latest' });
  assert.deepEqual([version, labels.sort()], [1, ['latest', 'production']]);
});

test('who has no key, or a wrong one', async () => {
  const other = new LangfuseClient({ secretKey: process.env.LANGFUSE_SECRET_KEY + 'x' });
  await assert.rejects(other.api.prompts.get('text'), status(401));
});

test('many at once make a version each', async () => {
  const made = await Promise.all(Array.from({ length: 8 }, (_, i) => prompt.create({ name: 'at once', prompt: `${i}` })));
  assert.deepEqual(made.map(p => p.version).sort((a, b) => a - b), [1, 2, 3, 4, 5, 6, 7, 8]);
  for (const p of made) assert.equal((await api.prompts.get('at once', { version: p.version })).prompt, p.prompt);
});
