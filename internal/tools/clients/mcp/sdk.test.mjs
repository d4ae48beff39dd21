// The TypeScript SDK, version 1 and version 2 on both wires: list, get, call, and go on where the
// server was killed and started between two calls. PROMPTHUB_URL and PROMPTHUB_TOKEN say where and
// who, WORKSPACE which workspace the token is of, if it is of one, RESTART_URL where to have the
// server killed and started.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { PROMPTHUB_URL, PROMPTHUB_TOKEN, WORKSPACE, RESTART_URL } = process.env;
const endpoint = new URL(PROMPTHUB_URL + (WORKSPACE ? `/mcp/w/${WORKSPACE}` : '/mcp'));
const requestInit = { headers: { Authorization: `Bearer ${PROMPTHUB_TOKEN}` } };

for (const p of [{ title: 'greeting', text: 'Greet {{name}} in a {{tone:warm|dry}} tone.', visibility: 'public' }, { title: 'Private', text: 'Private.', visibility: 'private' }]) {
  const { status } = await fetch(PROMPTHUB_URL + '/api/v1/prompts', { method: 'POST', body: JSON.stringify(p), headers: { ...requestInit.headers, 'content-type': 'application/json' } });
  assert.equal(status, 201);
}
const info = { name: 'sdk.test', version: '1' };

const clients = {
  'version 1, with a handshake': [() => new Client1(info), Transport1, '2025-11-25'],
  'version 2, with a handshake': [() => new Client(info), StreamableHTTPClientTransport, '2025-11-25'],
  'version 2, without': [() => new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), StreamableHTTPClientTransport, '2026-07-28'],
};

for (const [name, [make, Transport, version]] of Object.entries(clients)) {
  test(name, async () => {
    const client = make();
    const transport = new Transport(endpoint, { requestInit });
    await client.connect(transport);
    assert.equal(client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion, version);
    assert.equal(client.getServerVersion().name, 'prompthub');

    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map(p => p.name).sort(), ['greeting', 'private']);
    const greeting = prompts.find(p => p.name === 'greeting');
    assert.deepEqual(greeting.arguments.map(a => [a.name, a.required ?? false]), [['name', true], ['tone', false]]);
    const greet = async () => (await client.getPrompt({ name: 'greeting', arguments: { name: 'Ann' } })).messages[0].content.text;
    assert.equal(await greet(), 'Greet Ann in a warm tone.');
    await assert.rejects(client.getPrompt({ name: 'nothing' }), /no such prompt/);

    const { tools } = await client.listTools();
    assert.equal(tools.length, 9);
    const call = async () => (await client.callTool({ name: 'render_prompt', arguments: { id: 'greeting', values: { name: 'Bob', tone: 'dry' } } })).structuredContent;
    assert.equal((await call()).text, 'Greet Bob in a dry tone.');

    assert.equal((await fetch(RESTART_URL, { method: 'POST' })).status, 200);
    assert.equal((await call()).text, 'Greet Bob in a dry tone.');
    assert.equal(await greet(), 'Greet Ann in a warm tone.');

    const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'greeting' }, argument: { name: 'tone', value: 'd' } });
    assert.deepEqual(completion.values, ['dry']);
    const { resources } = await client.listResources();
    const { contents } = await client.readResource({ uri: resources.find(r => r.name === 'greeting').uri });
    assert.match(contents[0].text, /^---\nname: "greeting"\n/);
    await client.close();
  });
}

test('version 2 asks for what is missing', async () => {
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', ({ params }) => {
    assert.deepEqual(params.requestedSchema.required, ['name']);
    return { action: 'accept', content: { name: 'Eve' } };
  });
  await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit }));
  const { messages } = await client.getPrompt({ name: 'greeting', arguments: { tone: 'dry' } });
  assert.equal(messages[0].content.text, 'Greet Eve in a dry tone.');
  await client.close();
});
