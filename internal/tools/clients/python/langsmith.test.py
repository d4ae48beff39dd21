# langsmith and langchain-core for Python. LANGSMITH_ENDPOINT and LANGSMITH_API_KEY say where and who,
# WORKSPACE which workspace the key is of, if it is of one.
import os
import unittest

from langchain_core.messages import HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langsmith import Client
from langsmith.prompt_cache import prompt_cache_singleton as cache
from langsmith.schemas import FileEntry
from langsmith.utils import LangSmithConflictError, LangSmithError, LangSmithNotFoundError

client = Client()
in_workspace = "WORKSPACE" in os.environ


class Prompts(unittest.TestCase):
    def test_push_and_pull_text(self):
        client.push_prompt("text", object=PromptTemplate.from_template("Say {x}, {{literally}}"), description="Says it", tags=["Mine"], commit_tags=["production"], commit_description="first")
        client.push_prompt("text", object=PromptTemplate.from_template("Second {x}"), commit_tags="staging")
        self.assertEqual(client.pull_prompt("text:production").invoke({"x": "1"}).to_string(), "Say 1, {literally}")
        self.assertEqual(client.pull_prompt("text").format(x="1"), "Second 1")
        commits = list(client.list_prompt_commits("text"))
        self.assertEqual([bool(c.parent_commit_hash) for c in commits], [True, False])
        for name in (commits[1].commit_hash, commits[1].commit_hash[:8]):
            self.assertEqual(client.pull_prompt(f"text:{name}").format(x="1"), "Say 1, {literally}")
        got = client.get_prompt("text")
        self.assertEqual((got.full_name, got.description, got.tags, got.num_commits, got.last_commit_hash), ("-/text", "Says it", ["Mine"], 2, commits[0].commit_hash))

    def test_push_and_pull_chat(self):
        chat = ChatPromptTemplate.from_messages([("system", "You are {who}"), MessagesPlaceholder("history"), ("human", "{question}"), ("ai", "Well:")])
        client.push_prompt("chat", object=chat)
        got = client.pull_prompt("chat")
        self.assertIsInstance(got, ChatPromptTemplate)
        filled = {"who": "Ann", "question": "{why}?", "history": [HumanMessage("Before")]}
        self.assertEqual(got.invoke(filled).to_messages(), chat.invoke(filled).to_messages())

    def test_what_is_not_there(self):
        with self.assertRaises(LangSmithNotFoundError):
            client.pull_prompt("unknown")
        self.assertIsNone(client.get_prompt("unknown"))

    def test_old_parent_and_same_content(self):
        template = PromptTemplate.from_template("one {x}")
        client.push_prompt("parents", object=template)
        first = client.get_prompt("parents").last_commit_hash
        client.push_prompt("parents", object=PromptTemplate.from_template("two {x}"), parent_commit_hash=first)
        with self.assertRaises(LangSmithConflictError):
            client.push_prompt("parents", object=PromptTemplate.from_template("three {x}"), parent_commit_hash=first)
        with self.assertRaises(LangSmithConflictError):
            client.push_prompt("parents", object=PromptTemplate.from_template("two {x}"))
        second = client.get_prompt("parents").last_commit_hash
        client.push_prompt("parents", object=PromptTemplate.from_template("three {x}"), parent_commit_hash=second, description="Counts")
        self.assertEqual(client.pull_prompt("parents", skip_cache=True).invoke({"x": "!"}).to_string(), "three !")
        self.assertEqual(client.get_prompt("parents").description, "Counts")

    @unittest.skipUnless(in_workspace, "a person has no rules")
    def test_a_tag_with_a_rule_moves_by_a_proposal_alone(self):
        with self.assertRaisesRegex(LangSmithError, "403.*NEEDS_PROPOSAL.*the label ruled move only by a proposal"):
            client.push_prompt("ruled", object=PromptTemplate.from_template("one {x}"), commit_tags=["ruled"])
        with self.assertRaises(LangSmithNotFoundError):
            client.pull_prompt("ruled:ruled")

    def test_list_change_like_and_delete(self):
        for name in ("listed-a", "listed-b"):
            client.push_prompt(name, object=PromptTemplate.from_template("x {x}"))
        client.update_prompt("listed-a", description="Changed", is_public=True)
        if in_workspace:
            with self.assertRaisesRegex(LangSmithError, "do this as a person"):
                client.like_prompt("listed-a")
        else:
            self.assertEqual(client.like_prompt("listed-a")["likes"], 1)
        listed = client.list_prompts(query="listed-")
        self.assertEqual(([p.repo_handle for p in listed.repos], listed.total), (["listed-a", "listed-b"], 2))
        self.assertEqual((listed.repos[0].description, listed.repos[0].num_likes), ("Changed", 0 if in_workspace else 1))
        self.assertEqual([p.repo_handle for p in client.list_prompts(query="listed-", is_public=False).repos], ["listed-b"])
        self.assertEqual([p.repo_handle for p in client.list_prompts(query="listed-", limit=1, offset=1).repos], ["listed-b"])
        client.delete_prompt("listed-b")
        self.assertIsNone(client.get_prompt("listed-b"))

    def test_skills_and_agents(self):
        text = "---\nname: tool\ndescription: A tool.\n---\n\nRun it.\n"
        client.push_prompt("no-skill", object=PromptTemplate.from_template("x {x}"))
        self.assertFalse(client.skill_exists("tool"))
        client.push_skill("tool", files={"SKILL.md": FileEntry(content=text), "run.sh": FileEntry(content="#!/bin/sh\r\n")})
        first = client.pull_skill("tool")
        self.assertEqual({path: e.content for path, e in first.files.items()}, {"SKILL.md": text, "run.sh": "#!/bin/sh\r\n"})
        client.push_skill("tool", files={"run.sh": None, "a.md": FileEntry(content="a")}, parent_commit=first.commit_hash)
        self.assertEqual(sorted(client.pull_skill("tool").files), ["SKILL.md", "a.md"])
        self.assertEqual(sorted(client.pull_skill("tool", version=first.commit_hash).files), ["SKILL.md", "run.sh"])
        with self.assertRaises(LangSmithConflictError):
            client.push_skill("tool", files={"b.md": FileEntry(content="b")}, parent_commit=first.commit_hash)
        self.assertEqual([r.repo_handle for r in client.list_skills().repos], ["tool"])
        self.assertEqual(client.list_agents().repos, [])
        with self.assertRaisesRegex(LangSmithError, "REPO_TYPE_NOT_KEPT"):
            client.push_agent("an-agent", files={"AGENTS.md": FileEntry(content="x")})
        with self.assertRaises(LangSmithNotFoundError):
            client.delete_skill("no-skill")
        self.assertTrue(client.skill_exists("no-skill"))  # it asks for any repository of that name
        client.delete_skill("tool")
        self.assertFalse(client.skill_exists("tool"))

    def test_its_cache(self):
        client.push_prompt("cached", object=PromptTemplate.from_template("one {x}"))
        self.assertEqual(client.pull_prompt("cached").format(x="1"), "one 1")
        client.push_prompt("cached", object=PromptTemplate.from_template("two {x}"))
        hits = cache.metrics.hits
        self.assertEqual(client.pull_prompt("cached").format(x="1"), "one 1")  # it keeps a name for five minutes
        self.assertEqual(cache.metrics.hits, hits + 1)
        self.assertEqual(client.pull_prompt("cached", skip_cache=True).format(x="1"), "two 1")


if __name__ == "__main__":
    unittest.main()
