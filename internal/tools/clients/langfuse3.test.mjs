// langfuse 3: the client before the one of today, which asks the same routes.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Langfuse } from 'langfuse';

const langfuse = new Langfuse();
after(() => langfuse.shutdownAsync());

test('create, get by label and version, update, fall back', async () => {
  const made = await langfuse.createPrompt({ name: 'folder/v3', prompt: 'Say {{x}}', labels: ['production'], config: { model: 'm' }, tags: ['mine'] });
  assert.equal(made.version, 1);
  await langfuse.createPrompt({ name: 'folder/v3', prompt: 'Shout {{x}}', labels: ['staging'] });
  const got = await langfuse.getPrompt('folder/v3');
  assert.deepEqual([got.version, got.compile({ x: 'hi' }), got.config, got.tags], [1, 'Say hi', { model: 'm' }, ['mine']]);
  assert.equal((await langfuse.getPrompt('folder/v3', 2)).prompt, 'Shout {{x}}');
  assert.equal((await langfuse.getPrompt('folder/v3', undefined, { label: 'staging', cacheTtlSeconds: 0 })).version, 2);
  await langfuse.updatePrompt({ name: 'folder/v3', version: 2, newLabels: ['production'] });
  assert.equal((await langfuse.getPrompt('folder/v3', undefined, { cacheTtlSeconds: 0 })).version, 2);
  const fallback = await langfuse.getPrompt('unknown', undefined, { fallback: 'x' });
  assert.equal(fallback.isFallback, true);
  await assert.rejects(langfuse.getPrompt('unknown'));
});

test('a chat', async () => {
  await langfuse.createPrompt({
    name: 'chat', type: 'chat', labels: ['production'],
    prompt: [{ role: 'system', content: 'You are {{who}}' }, { type: 'placeholder', name: 'history' }],
  });
  const got = await langfuse.getPrompt('chat', undefined, { type: 'chat' });
  assert.deepEqual(got.compile({ who: 'Ann' }, { history: [{ role: 'user', content: 'x' }] }), [{ role: 'system', content: 'You are Ann' }, { role: 'user', content: 'x' }]);
});

if (process.env.WORKSPACE) test('a label with a rule moves by a proposal alone', async context => {
  await langfuse.createPrompt({ name: 'ruled', prompt: 'one', labels: ['production'] });
  const told = context.mock.method(console, 'error', () => {});
  await langfuse.updatePrompt({ name: 'ruled', version: 1, newLabels: ['ruled'] }); // this client tells why, and no more
  assert.match(told.mock.calls.flatMap(c => c.arguments).join(' '), /403.*the label ruled move only by a proposal.*NEEDS_PROPOSAL/s);
  assert.deepEqual((await langfuse.getPrompt('ruled')).labels.sort(), ['latest', 'production']);
});

// Traces go nowhere here, and that harms nothing.
test('traces', async () => {
  langfuse.trace({ name: 'a trace' }).generation({ name: 'g', prompt: await langfuse.getPrompt('chat', undefined, { type: 'chat' }) });
  await langfuse.flushAsync();
});
