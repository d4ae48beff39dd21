# langfuse for Python: what its users do with prompts. LANGFUSE_HOST, LANGFUSE_PUBLIC_KEY and
# LANGFUSE_SECRET_KEY say where and who, WORKSPACE which workspace the key is of, if it is of one.
import os
import time
import unittest

import httpx
from langfuse import Langfuse
from langfuse.api import AccessDeniedError, Error, NotFoundError, UnauthorizedError
from langfuse.api.unstable.skills import SkillVersionFileInput, SkillVersionFileReference
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate

asked = []  # the requests, as "GET /path"
client = httpx.Client(event_hooks={"request": [lambda r: asked.append(f"{r.method} {r.url.path}")]})
langfuse = Langfuse(tracing_enabled=False, httpx_client=client)
raw = langfuse.api.prompts  # which knows of no cache


def becomes(want, got):
    """Waits until a cache has followed what was changed."""
    end = time.monotonic() + 30
    while got() != want:
        if time.monotonic() > end:
            raise AssertionError(f"{got()!r} has not become {want!r}")
        time.sleep(0.05)


class Prompts(unittest.TestCase):
    def test_text_by_name_version_and_label(self):
        made = langfuse.create_prompt(name="text", prompt="A {{variable}}", labels=["production"], tags=["Of mine"], config={"temperature": 0.5}, commit_message="first")
        self.assertEqual((made.name, made.version, made.prompt, made.commit_message), ("text", 1, "A {{variable}}", "first"))
        langfuse.create_prompt(name="text", prompt="B {{variable}}", labels=["staging"])
        got = langfuse.get_prompt("text")
        self.assertEqual((got.version, got.labels, got.tags, got.config, got.variables), (1, ["production"], ["Of mine"], {"temperature": 0.5}, ["variable"]))
        self.assertEqual(got.compile(variable="<b>"), "A <b>")
        for more, version in (({"version": 1}, 1), ({"label": "staging"}, 2), ({"label": "latest"}, 2)):
            self.assertEqual(langfuse.get_prompt("text", **more).version, version, more)
        self.assertEqual(PromptTemplate.from_template(got.get_langchain_prompt()).format(variable="x"), "A x")

    def test_chat_with_placeholder(self):
        messages = [{"role": "system", "content": "You are {{who}}"}, {"type": "placeholder", "name": "history"}, {"role": "user", "content": "Hi {{name}}"}]
        langfuse.create_prompt(name="folder/a chat", type="chat", prompt=messages, labels=["production"])
        got = langfuse.get_prompt("folder/a chat", type="chat")
        history = [{"role": "user", "content": "Before"}, {"role": "assistant", "content": "Yes"}]
        said = got.compile(who="Ann", name="Bob", history=history)
        self.assertEqual([(m["role"], m["content"]) for m in said], [("system", "You are Ann"), ("user", "Before"), ("assistant", "Yes"), ("user", "Hi Bob")])
        template = ChatPromptTemplate.from_messages(got.get_langchain_prompt())
        self.assertEqual([m.content for m in template.format_messages(who="Ann", name="Bob", history=history)], ["You are Ann", "Before", "Yes", "Hi Bob"])

    def test_names_of_all_kinds(self):
        for name in ("with spaces", "with/some/slashes", "with?query&chars", "with+plus", "with%20escape", "with@at#hash", "unicode-名前-тест-🚀"):
            langfuse.create_prompt(name=name, prompt=f"of {name}", labels=["production"])
            got = langfuse.get_prompt(name)
            self.assertEqual((got.name, got.prompt), (name, f"of {name}"))
        with self.assertRaises(Error) as refused:
            langfuse.create_prompt(name="two//slashes", prompt="x")
        self.assertEqual(refused.exception.status_code, 400)

    def test_skills(self):
        skills, file = langfuse.api.unstable.skills, SkillVersionFileInput
        text = "---\nname: pdf-forms\ndescription: Fills forms.\nmetadata: {a: [1]}\n---\n\nRun it.\n"
        made = skills.create_version(files=[file(path="SKILL.md", content=text), file(path="run.sh", content="#!/bin/sh\r\n"), file(path="a/ü", content="")], commit_message="first")
        self.assertEqual((made.name, made.version, made.description, made.labels, made.commit_message), ("pdf-forms", 1, "Fills forms.", ["latest"], "first"))
        self.assertEqual(made.frontmatter, {"name": "pdf-forms", "description": "Fills forms.", "metadata": {"a": [1]}})
        with self.assertRaises(NotFoundError):
            skills.get("pdf-forms")  # it has no version with the label production
        self.assertEqual(skills.set_labels("pdf-forms", 1, labels=["production", "staging"]).labels, ["production", "staging", "latest"])
        got = skills.get("pdf-forms")
        contents = skills.get_file_contents(sha256hashes=",".join(f.sha256hash for f in got.files)).data
        self.assertEqual({f.path: c.content for f, c in zip(got.files, contents)}, {"SKILL.md": text, "run.sh": "#!/bin/sh\r\n", "a/ü": ""})
        kept = SkillVersionFileReference(path="SKILL.md", sha256hash=got.files[0].sha256hash)
        self.assertEqual(skills.create_version(files=[kept, file(path="new.md", content="new")]).version, 2)
        self.assertEqual([f.path for f in skills.get("pdf-forms", label="latest").files], ["SKILL.md", "new.md"])
        self.assertEqual(skills.set_labels("pdf-forms", 2, labels=["production"]).labels, ["production", "latest"])
        self.assertEqual(skills.get("pdf-forms", label="staging").version, 1)
        self.assertEqual(skills.update("pdf-forms", tags=["mine"]).tags, ["mine"])
        listed = skills.list(search="FORMS")
        self.assertEqual([(s.name, s.latest_version, s.production_version, s.tags) for s in listed.data], [("pdf-forms", 2, 2, ["mine"])])
        self.assertEqual((listed.meta.total_items, listed.meta.has_next_page), (1, False))
        self.assertTrue(skills.delete_version("pdf-forms", 2).deleted)
        self.assertTrue(skills.delete_version("pdf-forms", 1).deleted)
        self.assertEqual(skills.list().data, [])

    def test_labels_move(self):
        langfuse.create_prompt(name="labels", prompt="one", labels=["production"])
        langfuse.create_prompt(name="labels", prompt="two")
        langfuse.update_prompt(name="labels", version=2, new_labels=["production", "tested"])
        self.assertEqual(langfuse.get_prompt("labels").prompt, "two")  # the client forgets what it kept
        self.assertEqual(langfuse.get_prompt("labels", version=1).labels, [])
        with self.assertRaises(NotFoundError):
            langfuse.update_prompt(name="labels", version=9, new_labels=["x"])

    @unittest.skipUnless("WORKSPACE" in os.environ, "a person has no rules")
    def test_a_label_with_a_rule_moves_by_a_proposal_alone(self):
        langfuse.create_prompt(name="ruled", prompt="one", labels=["production"])
        for move in (
            lambda: langfuse.update_prompt(name="ruled", version=1, new_labels=["ruled"]),
            lambda: langfuse.create_prompt(name="ruled", prompt="two", labels=["ruled"]),
        ):
            with self.assertRaises(AccessDeniedError) as refused:
                move()
            self.assertEqual((refused.exception.status_code, refused.exception.body["code"]), (403, "NEEDS_PROPOSAL"))
            self.assertIn("the label ruled move only by a proposal", refused.exception.body["message"])
        self.assertCountEqual(langfuse.get_prompt("ruled", label="latest").labels, ["latest", "production"])

    def test_includes(self):
        langfuse.create_prompt(name="parts/child", prompt="child {{x}}", labels=["production"])
        langfuse.create_prompt(name="parts/parent", prompt="parent of @@@langfusePrompt:name=parts/child|label=production@@@", labels=["production"])
        self.assertEqual(langfuse.get_prompt("parts/parent").compile(x=1), "parent of child 1")

    def test_list_and_delete(self):
        for n in range(3):
            langfuse.create_prompt(name=f"list/{n}", prompt="x", labels=["of-list"])
        pages = [raw.list(label="of-list", page=n, limit=2) for n in (1, 2)]
        self.assertEqual([[p.name for p in page.data] for page in pages], [["list/0", "list/1"], ["list/2"]])
        self.assertEqual((pages[0].meta.total_items, pages[0].meta.total_pages), (3, 2))
        raw.delete("list%2F0")
        self.assertEqual([p.name for p in raw.list(label="of-list").data], ["list/1", "list/2"])

    def test_keys(self):
        self.assertTrue(langfuse.auth_check())
        wrong = Langfuse(public_key="other", secret_key=os.environ["LANGFUSE_SECRET_KEY"] + "x", tracing_enabled=False)
        for ask in (wrong.auth_check, lambda: wrong.get_prompt("text", max_retries=0)):
            with self.assertRaises(UnauthorizedError):
                ask()

    def test_what_is_not_there(self):
        with self.assertRaises(NotFoundError):
            langfuse.get_prompt("unknown", max_retries=0)
        fallback = langfuse.get_prompt("unknown", fallback="Fall {{back}}", max_retries=0)
        self.assertEqual((fallback.is_fallback, fallback.compile(back="s")), (True, "Fall s"))


class Cache(unittest.TestCase):
    def test_asks_once(self):
        langfuse.create_prompt(name="cached", prompt="x", labels=["production"])
        before = asked.count("GET /lf/api/public/v2/prompts/cached")
        for _ in range(3):
            langfuse.get_prompt("cached", cache_ttl_seconds=600)
        self.assertEqual(asked.count("GET /lf/api/public/v2/prompts/cached") - before, 1)
        langfuse.get_prompt("cached", cache_ttl_seconds=0)
        self.assertEqual(asked.count("GET /lf/api/public/v2/prompts/cached") - before, 2)

    def test_follows_a_label_that_somebody_else_moved(self):
        langfuse.create_prompt(name="moved", prompt="one", labels=["production"])
        text = lambda: langfuse.get_prompt("moved", cache_ttl_seconds=1).prompt
        self.assertEqual(text(), "one")
        raw.create(request={"type": "text", "name": "moved", "prompt": "two", "labels": ["production"]})
        becomes("two", text)

    def test_forgets_what_was_deleted(self):
        langfuse.create_prompt(name="deleted", prompt="one", labels=["production"])

        def text():
            return langfuse.get_prompt("deleted", cache_ttl_seconds=1, fallback="gone", max_retries=0).prompt

        self.assertEqual(text(), "one")
        raw.delete("deleted")
        becomes("gone", text)


if __name__ == "__main__":
    unittest.main()
