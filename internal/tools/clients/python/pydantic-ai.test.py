# Pydantic AI, with the model for tests, which calls tools and no service. PROMPTHUB_URL and
# PROMPTHUB_TOKEN say where and who.
import os
import unittest

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.test import TestModel

url = os.environ["PROMPTHUB_URL"] + "/mcp"
headers = {"Authorization": "Bearer " + os.environ["PROMPTHUB_TOKEN"]}


class Toolset(unittest.IsolatedAsyncioTestCase):
    async def test_tools_of_an_agent(self):
        tools = ["search_prompts", "list_tags", "suggest", "save_prompt"]
        agent = Agent(TestModel(call_tools=tools), toolsets=[MCPToolset(url, headers=headers)])
        async with agent:
            ran = await agent.run("Save it.")
        returned = {p.tool_name: p.content for m in ran.all_messages() for p in m.parts if p.part_kind == "tool-return"}
        self.assertEqual(set(returned), set(tools))
        self.assertEqual(returned["save_prompt"]["name"], "a", returned)  # as that model writes every text


if __name__ == "__main__":
    unittest.main()
