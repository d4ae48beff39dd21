// langchain's hub and the client of langsmith. LANGSMITH_ENDPOINT and LANGSMITH_API_KEY say where and
// who; PROMPTHUB_URL and PROMPTHUB_TOKEN the same for PromptHub's own API. WORKSPACE is which workspace
// the token is of, if it is of one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as hub from 'langchain/hub';
import { Client } from 'langsmith';
import { load } from '@langchain/core/load';
import { ChatPromptTemplate, DictPromptTemplate, FewShotChatMessagePromptTemplate, FewShotPromptTemplate, MessagesPlaceholder, PromptTemplate, StructuredPrompt } from '@langchain/core/prompts';

const client = new Client();
const json = x => JSON.parse(JSON.stringify(x));
const plain = messages => messages.map(m => [m.getType(), m.content]);

// own asks PromptHub's own API.
async function own(method, path, body) {
  const response = await fetch(`${process.env.PROMPTHUB_URL}/api/v1${path}`, {
    method, body: body && JSON.stringify(body), headers: { authorization: `Bearer ${process.env.PROMPTHUB_TOKEN}`, 'content-type': 'application/json', 'if-match': '*' },
  });
  assert(response.ok, `${method} ${path}: ${response.status}`);
  return response.json();
}
const rendered = async (id, values) => {
  const r = await own('POST', `/prompts/${id}/render`, { values });
  return r.messages ? r.messages.map(m => [{ system: 'system', user: 'human', assistant: 'ai' }[m.role], m.content]) : r.text;
};

const handle = process.env.WORKSPACE ?? 'chain';
if (!process.env.WORKSPACE) await own('PUT', '/me/profile', { handle });
const text = 'Say {{x}} as {"a": {"b": 1}} to ${who:Bob}, {not} {{y:z}}';
const made = await own('POST', '/prompts', { title: 'Pulled', name: 'pulled', text, labels: ['production'] });
const chat = await own('POST', '/prompts', {
  title: 'Chat', name: 'a/chat', messages: [{ role: 'system', content: 'You are {{who}} {}' }, { placeholder: 'history' }, { role: 'user', content: '{{question}}' }, { role: 'assistant', content: 'Well:' }],
});
await own('PATCH', `/prompts/${made.id}`, { text: 'Second {{x}}' });

test('pull by name, tag and commit; invoke says what our render says', async () => {
  assert.equal((await (await hub.pull('pulled')).invoke({ x: '1' })).value, 'Second 1');
  assert.equal((await own('POST', `/prompts/${made.id}/render`, { values: { x: '1' }, label: 'latest' })).text, 'Second 1');
  const production = await hub.pull('pulled:production');
  assert(production instanceof PromptTemplate);
  const want = (await own('POST', `/prompts/${made.id}/render`, { values: { x: '1' }, version: 1 })).text;
  assert.equal((await production.invoke({ x: '1' })).value, want);
  assert.equal(want, 'Say 1 as {"a": {"b": 1}} to Bob, {not} z');
  const commits = [];
  for await (const c of client.listCommits('pulled')) commits.push(c.commit_hash);
  assert.equal(commits.length, 2);
  assert.match(commits[1], /^[0-9a-f]{40}$/);
  for (const hash of [commits[1], commits[1].slice(0, 8)]) {
    assert.equal((await (await hub.pull(`pulled:${hash}`)).invoke({ x: '1' })).value, want);
  }
  await assert.rejects(hub.pull('pulled:unknown'));
  await assert.rejects(hub.pull(`pulled:${commits[1].slice(0, 39)}${commits[1].endsWith('0') ? '1' : '0'}`));
  await assert.rejects(hub.pull('unknown'));
});

test('pull a chat, whose name no identifier can hold, by its slug', async () => {
  const template = await hub.pull('a-chat');
  assert(template instanceof ChatPromptTemplate);
  const filled = await template.invoke({ who: '{Ann}', question: '{{why}}?', history: [] });
  assert.deepEqual(plain(filled.messages), (await rendered(chat.id, { who: '{Ann}', question: '{{why}}?' })).filter(m => m[0]));
  const history = await template.invoke({ who: 'A', question: 'q', history: [['human', 'before']] });
  assert.deepEqual(plain(history.messages)[1], ['human', 'before']);
});

test('what a prompt includes is pulled with it', async () => {
  await own('POST', '/prompts', { title: 'Part', name: 'part', text: 'as {{role}}', labels: ['production'] });
  const { id } = await own('POST', '/prompts', { title: 'Whole', name: 'whole', text: 'Speak @@@langfusePrompt:name=part|label=production@@@ {to} {{whom}}' });
  const values = { role: 'a cat', whom: 'Bob' };
  assert.equal((await (await hub.pull('whole')).invoke(values)).value, 'Speak as a cat {to} Bob');
  assert.equal(await rendered(id, values), 'Speak as a cat {to} Bob');
});

const pairs = ChatPromptTemplate.fromMessages([['human', '{q}'], ['ai', '{a}']]);
const five = {
  'a-text': [PromptTemplate.fromTemplate('Say {x} as {{json}}'), { x: '1' }, 'Say {{x}} as {json}'],
  'a-chat-2': [ChatPromptTemplate.fromMessages([['system', 'You are {who}'], new MessagesPlaceholder('history'), ['human', '{q}'], ['ai', 'ok'], ['placeholder', '{more}']]), { who: 'A', q: 'b', history: [], more: [] }],
  structured: [StructuredPrompt.fromMessagesAndSchema([['human', '{q}']], { title: 'Answer', type: 'object', properties: { a: { type: 'string' } } }), { q: '1' }],
  'few-shot': [new FewShotChatMessagePromptTemplate({ examples: [{ q: '1+1', a: '2' }, { q: '2+2', a: '4' }], examplePrompt: pairs, inputVariables: [] }), {}],
  mustache: [ChatPromptTemplate.fromMessages([['system', 'You {{who}}'], ['human', '{{#list}}{{.}},{{/list}}']], { templateFormat: 'mustache' }), { who: 'A', list: ['1', '2'] }],
};
for (const [name, [template, values, kept]] of Object.entries(five)) {
  test(`push and pull ${name}`, async () => {
    const url = await client.pushPrompt(name, { object: template, description: `About ${name}.`, tags: ['mine'] });
    assert.match(url, new RegExp(name));
    const { manifest, commit_hash } = await client.pullPromptCommit(name);
    assert.deepEqual(manifest, json(template));
    const pulled = await hub.pull(`${name}:${commit_hash}`);
    const [got, want] = [await pulled.invoke(values), await template.invoke(values)];
    assert.deepEqual(got.messages ? plain(got.messages) : got.value, want.messages ? plain(want.messages) : want.value);
    if (kept) assert.equal((await own('GET', `/users/me/prompts/${name}`)).text, kept);
  });
}

test('what was pushed shows and can be changed here, and then pulled', async () => {
  const p = await own('GET', '/users/me/prompts/structured');
  assert.deepEqual(p.messages, [{ role: 'user', content: '{{q}}' }]);
  await own('PATCH', `/prompts/${p.id}`, { messages: [{ role: 'user', content: 'Now {{q}}' }] });
  const pulled = await hub.pull('structured', { skipCache: true });
  assert.deepEqual(plain((await pulled.invoke({ q: '1' })).messages), [['human', 'Now 1']]);
  const few = await own('GET', '/users/me/prompts/few-shot');
  assert.deepEqual(few.messages.map(m => m.content), ['1+1', '2', '2+2', '4']);
});

test('push again: parents, tags, and nothing new', async () => {
  const push = (template, options) => client.createCommit('pushed', PromptTemplate.fromTemplate(template), options);
  await client.createPrompt('pushed', { description: 'About it', isPublic: false });
  await assert.rejects(hub.pull('pushed'), 'nothing was pushed yet');
  await push('one {x}', { tags: ['production'] });
  const { commit_hash: first } = await client.pullPromptCommit('pushed');
  await push('two {x}', { parentCommitHash: first, description: 'why' });
  await assert.rejects(push('three {x}', { parentCommitHash: first }));
  await assert.rejects(push('two {x}'));
  assert.equal((await (await hub.pull('pushed:production', { skipCache: true })).invoke({ x: '1' })).value, 'one 1');
  assert.equal((await (await hub.pull('pushed', { skipCache: true })).invoke({ x: '1' })).value, 'two 1');
  const commits = [];
  for await (const c of client.listCommits('pushed')) commits.push(c);
  assert.deepEqual(commits.map(c => c.description), ['why', 'Pushed by a client of LangSmith']);
  assert.equal(commits[0].parent_commit_hash, first);
});

test('list, like, update, delete', async () => {
  const names = async options => { const all = []; for await (const p of client.listPrompts(options)) all.push(p.repo_handle); return all; };
  assert((await names()).includes('pushed'));
  assert.deepEqual(await names({ query: 'about few' }), ['few-shot']);
  assert.deepEqual(await names({ isPublic: true }), []);
  if (process.env.WORKSPACE) await assert.rejects(client.likePrompt('pushed'), /403.*do this as a person/);
  else {
    assert.equal((await client.likePrompt('pushed')).likes, 1);
    assert.equal((await client.getPrompt('pushed')).num_likes, 1);
    assert.equal((await client.unlikePrompt('pushed')).likes, 0);
  }
  await client.updatePrompt('pushed', { description: 'New', tags: ['a', 'b'], isPublic: true });
  const p = await client.getPrompt('pushed');
  // a description belongs to a version here, so another one is a commit
  assert.deepEqual([p.description, p.tags, p.is_public, p.num_commits], ['New', ['a', 'b'], true, 3]);
  assert.equal(p.full_name, `${handle}/pushed`);
  assert.deepEqual(await names({ isPublic: true }), ['pushed']);
  const other = new Client({ apiKey: process.env.OTHER_TOKEN });
  assert.equal((await other.getPrompt(p.full_name)).description, 'New');
  assert.equal(await other.getPrompt(`${p.owner}/few-shot`), null);
  assert.equal((await other.likePrompt(p.full_name)).likes, 1);
  const { manifest } = await other.pullPromptCommit(p.full_name, { dangerouslyPullPublicPrompt: true });
  assert.equal((await (await load(JSON.stringify(manifest))).invoke({ x: '1' })).value, 'two 1');
  await client.deletePrompt('pushed');
  assert.equal(await client.promptExists('pushed'), false);
});

if (process.env.WORKSPACE) test('a tag with a rule moves by a proposal alone', async () => {
  const refused = /403.*NEEDS_PROPOSAL.*the label ruled move only by a proposal/;
  await client.pushPrompt('ruled', { object: PromptTemplate.fromTemplate('one {x}') });
  await assert.rejects(client.createCommit('ruled', PromptTemplate.fromTemplate('two {x}'), { tags: ['ruled'] }), refused);
  await assert.rejects(hub.pull('ruled:ruled'));
});

test('names of lists and answers can be used as they are', async () => {
  await client.createPrompt('named');
  const empty = await client.getPrompt('named');
  assert.deepEqual([empty.num_commits, empty.last_commit_hash], [0, null]);
  await client.pushPrompt('named', { object: PromptTemplate.fromTemplate('Say {x}') });
  const { commit_hash: hash } = await client.pullPromptCommit('named');
  const listed = async () => { for await (const p of client.listPrompts({ query: 'named' })) return p; };
  for (const p of [await listed(), await client.getPrompt('named')]) {
    assert.deepEqual([p.full_name, p.num_commits, p.last_commit_hash], ['-/named', 1, hash]);
    assert.equal((await (await hub.pull(p.full_name)).invoke({ x: '1' })).value, 'Say 1');
    await client.updatePrompt(p.full_name, { tags: ['x'] });
  }
  await client.updatePrompt('named', { isPublic: true });
  for (const p of [await listed(), await client.getPrompt('named'), await client.getPrompt(`${handle}/named`)]) {
    assert.deepEqual([p.full_name, p.num_commits, p.last_commit_hash], [`${handle}/named`, 1, hash]);
    await assert.rejects(client.pullPromptCommit(p.full_name), /public prompt/);
    assert.equal((await client.pullPromptCommit(p.full_name, { dangerouslyPullPublicPrompt: true })).commit_hash, hash);
    await client.updatePrompt(p.full_name, { tags: ['y'] });
  }
  await client.deletePrompt((await listed()).full_name);
  assert.equal(await listed(), undefined);
});

test('skills are pushed, pulled, listed and deleted; agents are not kept', async () => {
  const file = content => ({ type: 'file', content });
  const text = '---\nname: pdf-forms\ndescription: Fills forms.\n---\n\nRun it.\n';
  await client.pushPrompt('no-skill', { object: PromptTemplate.fromTemplate('x {x}') });
  assert.equal(await client.skillExists('pdf-forms'), false);
  const url = await client.pushSkill('pdf-forms', { files: { 'SKILL.md': file(text), 'scripts/fill.sh': file('#!/bin/sh\r\n'), 'a/ü': file('') }, tags: ['mine'] });
  assert.match(url, /pdf-forms\/0000000[0-9]/);
  const { files, commit_hash: first, commit_id: id } = await client.pullSkill('pdf-forms');
  assert.deepEqual(files, { 'SKILL.md': file(text), 'scripts/fill.sh': file('#!/bin/sh\r\n'), 'a/ü': file('') });
  assert.match(id, /^[0-9a-f]{8}-/);
  assert.equal(await client.skillExists('pdf-forms'), true);
  await client.pushSkill('pdf-forms', { files: { 'scripts/fill.sh': null, 'new.md': file('new') }, parentCommit: first });
  assert.deepEqual(Object.keys((await client.pullSkill('pdf-forms')).files).sort(), ['SKILL.md', 'a/ü', 'new.md']);
  assert.deepEqual(Object.keys((await client.pullSkill('pdf-forms', { version: first })).files).sort(), ['SKILL.md', 'a/ü', 'scripts/fill.sh']);
  await assert.rejects(client.pushSkill('pdf-forms', { files: { 'x.md': file('x') }, parentCommit: first }), /409/);
  await assert.rejects(client.pushSkill('pdf-forms', { files: { x: { type: 'skill', repo_handle: 'y' } } }), /REPO_TYPE_NOT_KEPT/);
  const own1 = await own('GET', '/users/me/prompts/pdf-forms');
  assert.equal(own1.description, 'Fills forms.');
  await own('PUT', `/prompts/${own1.id}/labels/production`, { version: 2 });
  assert.equal((await client.pullSkill('pdf-forms:production')).commit_hash, first);
  const listed = []; for await (const s of client.listSkills()) listed.push(s.repo_handle);
  assert.deepEqual(listed, ['pdf-forms']);
  for await (const other of client.listAgents()) assert.fail(`${other.repo_handle} is no agent`);
  await assert.rejects(client.pushAgent('an-agent', { files: { 'AGENTS.md': file('x') } }), /REPO_TYPE_NOT_KEPT/);
  for (const method of ['pullSkill', 'deleteSkill']) await assert.rejects(client[method]('no-skill'), /404/);
  await client.deleteSkill('pdf-forms');
  assert.equal(await client.skillExists('pdf-forms'), false);
  assert(await client.getPrompt('no-skill'));
});

test('a model is not taken', async () => {
  const model = { lc: 1, type: 'constructor', id: ['langchain', 'chat_models', 'openai', 'ChatOpenAI'], kwargs: {} };
  const sequence = { lc: 1, type: 'constructor', id: ['langchain_core', 'runnables', 'RunnableSequence'], kwargs: { first: json(five['a-text'][0]), last: model } };
  await client.createPrompt('with-model');
  await assert.rejects(client.createCommit('with-model', sequence), /RunnableSequence|422/);
});

test('a template that is not kept is refused with its name', async () => {
  const few = new FewShotPromptTemplate({ examples: [{ q: '1' }], examplePrompt: PromptTemplate.fromTemplate('{q}'), inputVariables: [], suffix: 'end' });
  await client.createPrompt('refused');
  await assert.rejects(client.createCommit('refused', few), /could not write .*FewShotPromptTemplate/);
  await assert.rejects(client.createCommit('refused', new DictPromptTemplate({ template: { a: '{b}' }, inputVariables: ['b'] })), /DictPromptTemplate.* no prompt alone/);
  assert.equal((await own('GET', '/users/me/prompts/refused')).text, 'Nothing was pushed yet.');
});
