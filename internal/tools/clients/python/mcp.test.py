# mcp for Python, with and without a handshake. PROMPTHUB_URL and PROMPTHUB_TOKEN say where and who.
import os
import unittest

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

url = os.environ["PROMPTHUB_URL"] + "/mcp"
headers = {"Authorization": "Bearer " + os.environ["PROMPTHUB_TOKEN"]}


class Assistant(unittest.IsolatedAsyncioTestCase):
    async def test_prompts_and_tools(self):
        for mode, version in (("auto", "2026-07-28"), ("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")):
            with self.subTest(mode):
                await self.prompts_and_tools(mode, version)

    async def prompts_and_tools(self, mode, version):
        async with httpx2.AsyncClient(headers=headers) as http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            self.assertEqual(client.protocol_version, version)
            tools = (await client.list_tools()).tools
            self.assertIn("save_prompt", [t.name for t in tools])
            name = f"greeting-{mode}"
            saved = await client.call_tool("save_prompt", {"title": "Greeting", "name": name, "content": "Greet {{name}} in a {{tone:warm|dry}} tone."})
            self.assertFalse(saved.is_error, saved)
            rendered = await client.call_tool("render_prompt", {"id": name, "values": {"name": "Bob", "tone": "dry"}})
            self.assertEqual(rendered.structured_content["text"], "Greet Bob in a dry tone.")
            found = await client.call_tool("search_prompts", {"query": "greet", "mine": True})
            self.assertFalse(found.is_error, found)
            unknown = await client.call_tool("get_prompt", {"id": "unknown"})
            self.assertTrue(unknown.is_error)

            listed = [p for p in (await client.list_prompts()).prompts if p.name == name]
            self.assertEqual([(a.name, bool(a.required)) for a in listed[0].arguments], [("name", True), ("tone", False)])
            got = await client.get_prompt(name, {"name": "Ann"})
            self.assertEqual(got.messages[0].content.text, "Greet Ann in a warm tone.")
            with self.assertRaisesRegex(MCPError, "no such prompt"):
                await client.get_prompt("unknown")

            resources = (await client.list_resources()).resources
            read = await client.read_resource(next(r.uri for r in resources if r.name == name))
            self.assertIn("Greet {{name}}", read.contents[0].text)

    async def test_without_a_token(self):
        with self.assertRaises(ExceptionGroup) as refused:
            async with Client(url) as client:
                await client.list_prompts()
        self.assertIsNotNone(refused.exception.subgroup(MCPError))


if __name__ == "__main__":
    unittest.main()
