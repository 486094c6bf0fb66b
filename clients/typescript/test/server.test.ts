/** The client on a running memci, at MEMCI_API_URL. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { ConflictError, InvalidInputError, Memci, NotFoundError } from "../src/index.js";
import type { Hit, SearchOptions } from "../src/index.js";

const memci = new Memci(process.env["MEMCI_API_URL"], { waitMs: 30_000 });

test("a read shows what the same client has written", async () => {
  const alice = memci.agent(randomUUID());
  const stored = await alice.remember("I have a cat named Mia, who likes tuna.");
  assert.deepEqual([stored.accepted, stored.duplicates, stored.seq], [1, 0, 1]);
  const options: SearchOptions = { k: 3, sources: ["chat", "memory"] };
  const found = await alice.search("What does the cat eat?", options);
  assert.equal(found.pending, 0);
  assert.ok(found.hits.some((hit: Hit) => hit.text.includes("tuna")));
  const recalled = await alice.recall(["Mia"]);
  assert.ok(recalled.memories.some((memory) => memory.content.includes("Mia")));
  assert.match((await alice.recallText("Mia")).text, /Mia/);
  const context = await alice.context("What does Mia like?", { budget_tokens: 400 });
  assert.ok(context.tokens <= 400);
  assert.match(JSON.stringify(context.messages), /tuna/);
});

test("a job is awaited, and its memories are listed", async () => {
  const bob = memci.agent(randomUUID());
  const messages = [
    { role: "user", content: "我住在波尔图。" },
    { role: "assistant", content: "Porto is beautiful." },
  ] as const;
  const { job_id } = await bob.remember([...messages], { session_id: "第一/次" });
  assert.ok(job_id);
  assert.equal((await bob.wait(job_id)).state, "done");
  assert.equal((await bob.waitIdle()).seq, 2);
  const { nodes } = await bob.nodes({ kind: "memory", limit: 10 });
  assert.ok(nodes.length > 0);
  assert.equal((await bob.node(nodes[0]!.id)).id, nodes[0]!.id);
  assert.equal((await bob.jobs({ state: "dead" })).jobs.length, 0);
  assert.equal((await bob.messages({ session_id: "第一/次" })).messages.length, 2);
  await bob.endSession("第一/次");
  const { job_id: added } = await bob.addMemories("My dog is called Rex.");
  await bob.wait(added!);
  const [rex] = (await bob.nodes({ kind: "memory", text: "Rex" })).nodes;
  assert.deepEqual((await bob.editMemory(rex!.id, { text: "My dog is called Max." })).corrected, [rex!.id]);
  await bob.waitIdle();
  const [max] = (await bob.nodes({ kind: "memory", text: "Max" })).nodes;
  assert.deepEqual((await bob.deleteMemory(max!.id)).deleted, [max!.id]);
  assert.equal((await bob.nodes({ kind: "memory", text: "Max" })).nodes.length, 0);
});

test("the same key stores once, and the same id with another text is a conflict", async () => {
  const carol = memci.agent(randomUUID());
  const options = { idempotency_key: "k", remember: "never" } as const;
  for (const accepted of [1, 0]) assert.equal((await carol.record("One", options)).accepted, accepted);
  const message = { id: "m1", role: "user", content: "Two" } as const;
  await carol.record(message);
  await assert.rejects(carol.record({ ...message, content: "Three" }), ConflictError);
  assert.equal((await carol.messages()).messages.length, 2);
});

test("pages are written, read and pinned", async () => {
  const dan = memci.agent(randomUUID());
  const page = { name: "plan", description: "The plan", detail: "Buy milk.", parent: "usr-0" };
  const { index } = (await dan.page("create_detail_page", page)).page;
  assert.match(JSON.stringify(await dan.page("get_page", { index })), /Buy milk/);
  assert.match(JSON.stringify(await dan.pages()), /plan/);
  assert.match(JSON.stringify(await dan.window({ budget_tokens: 1000 })), /The plan/);
  const tools = await memci.tools("anthropic");
  assert.ok(tools.some((tool) => tool["name"] === "create_detail_page"));
  await dan.callTool("pin", '{"text": "Never lie."}');
  assert.match(JSON.stringify(await dan.pins()), /Never lie/);
});

test("documents of an agent and of a collection are found, and removed", async () => {
  const shared = memci.collection(randomUUID());
  const { id } = await shared.addDocument("porto.md", "# Museum\n\nIt opens at nine.");
  assert.equal((await shared.waitDocument(id)).state, "ready");
  const eve = memci.agent(randomUUID());
  const found = await eve.search("museum", { collections: [shared.id], sources: ["document"] });
  assert.match(JSON.stringify(found.hits), /opens at nine/);
  assert.equal((await shared.removeDocuments("")).documents, 1);
});

test("errors are typed, and name the wrong field", async () => {
  const frank = memci.agent(randomUUID());
  await assert.rejects(frank.about(), NotFoundError);
  const wrong = { role: "nobody", content: "x" } as unknown as string;
  await assert.rejects(frank.remember(wrong), (error: unknown) => {
    assert.ok(error instanceof InvalidInputError);
    assert.match(error.field ?? "", /role/);
    assert.equal(error.problem?.status, 422);
    return true;
  });
  assert.throws(() => memci.agent(".."), InvalidInputError);
});

test("users of the server itself share an agent, and see their own", async () => {
  const agent = randomUUID();
  await memci.add("I am vegetarian.", { user: "anna", agent });
  const hers = await memci.search("food", { user: "anna", agent });
  assert.match(JSON.stringify(hers.hits), /vegetarian/);
  const his = await memci.context("food", { user: "ben", agent, budget_tokens: 300 });
  assert.doesNotMatch(JSON.stringify(his.messages), /vegetarian/);
  await memci.agent(agent).eraseAgent();
  await assert.rejects(memci.agent(agent).about(), NotFoundError);
});
