# The Agents SDK of OpenAI, without a model. PROMPTHUB_URL and PROMPTHUB_TOKEN say where and who.
import os
import unittest

from agents.mcp import MCPServerStreamableHttp

url = os.environ["PROMPTHUB_URL"] + "/mcp"
headers = {"Authorization": "Bearer " + os.environ["PROMPTHUB_TOKEN"]}


class Agent(unittest.IsolatedAsyncioTestCase):
    async def test_tools_and_prompts(self):
        async with MCPServerStreamableHttp(params={"url": url, "headers": headers}) as server:
            self.assertIn("save_prompt", [t.name for t in await server.list_tools()])
            saved = await server.call_tool("save_prompt", {"title": "Agents", "name": "agents", "content": "Greet {{name}}.", "description": None, "tags": "[]"})
            self.assertFalse(saved.is_error, saved)
            # strict schemas have null for what is not given, and models write objects as texts
            found = await server.call_tool("search_prompts", {"query": "greet", "tags": None, "limit": None, "mine": "true", "cursor": None})
            self.assertFalse(found.is_error, found)
            rendered = await server.call_tool("render_prompt", {"id": "agents", "values": '{"name": "Bob"}', "version": None})
            self.assertIn("Greet Bob.", rendered.content[0].text)
            wrong = await server.call_tool("render_prompt", {"id": "agents", "values": 7})
            self.assertTrue(wrong.is_error)
            self.assertIn("values must be an object", wrong.content[0].text)
            self.assertIn("agents", [p.name for p in (await server.list_prompts()).prompts])
            got = await server.get_prompt("agents", {"name": "Ann"})
            self.assertEqual(got.messages[0].content.text, "Greet Ann.")


if __name__ == "__main__":
    unittest.main()
