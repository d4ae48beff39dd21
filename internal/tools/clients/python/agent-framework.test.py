# Agent Framework of Microsoft, without a model. PROMPTHUB_URL and PROMPTHUB_TOKEN say where and who.
import os
import unittest

import httpx2
from agent_framework import MCPStreamableHTTPTool

url = os.environ["PROMPTHUB_URL"] + "/mcp"
headers = {"Authorization": "Bearer " + os.environ["PROMPTHUB_TOKEN"]}


class Tool(unittest.IsolatedAsyncioTestCase):
    async def test_tools_and_prompts(self):
        async with self.tool() as tool:
            saved = await tool.call_tool("save_prompt", title="Framework", name="framework", content="Greet {{name}}.")
            self.assertIn("framework", str(saved[0].text))
            rendered = await tool.call_tool("render_prompt", id="framework", values={"name": "Bob"}, version=None)
            self.assertIn("Greet Bob.", rendered[0].text)
            self.assertIn("Greet Ann.", str(await tool.get_prompt("framework", name="Ann")))
        async with self.tool() as again:
            # a prompt is a function of the agent, too
            self.assertTrue({"render_prompt", "framework"} <= {f.name for f in again.functions})

    def tool(self):
        return MCPStreamableHTTPTool(name="prompthub", url=url, http_client=httpx2.AsyncClient(headers=headers))


if __name__ == "__main__":
    unittest.main()
