// A producer in Node.js, by the Celery client celery-node:
//
//   npm install
//   MEMCI_BROKER_URL=redis://… node send.mjs bob
//
// Stores messages, requests a compression pass, and reads a message list that fits a token budget.
// docs/how-to/celery-producers.md describes every message.

import { randomUUID } from "node:crypto";
import celery from "celery-node";

const url = process.env.MEMCI_BROKER_URL ?? "redis://127.0.0.1:6379/0";
const agentId = process.argv[2] ?? "example";

// A client of celery-node sends to one queue: one client for an agent's messages, one for reads.
const mailbox = celery.createClient(url, url, `memci.agent.${agentId}`);
const reads = celery.createClient(url, url, "memci.read");

// Clients send when they are connected. Waiting keeps the messages in order, and shows if the broker
// is unavailable.
await Promise.all([mailbox.isReady(), reads.isReady()]);

function remember(messages) {
  const sent = mailbox.sendTask("memci.memory.create", [], { v: 1, agent_id: agentId, messages });
  return sent.taskId;
}

function compress(reason) {
  mailbox.sendTask("memci.memory.compress", [], { v: 1, agent_id: agentId, reason });
}

async function assemble(query, budget_tokens, more = {}) {
  const taskId = randomUUID();
  const request = { v: 1, agent_id: agentId, query, budget_tokens, ...more };
  const message = reads.createTaskMessage(taskId, "memci.read.assemble", [], request);
  // Without this header, the answer is not stored. celery-node has no option for it.
  message.headers.ignore_result = false;
  reads.sendTaskMessage("memci.read.assemble", message);
  return reads.asyncResult(taskId).get(40_000, 50);
}

const conversation = [
  { role: "user", content: "Our cat Miso eats nothing but tuna." },
  { role: "assistant", content: "Miso only eats tuna. I will remember." },
  { role: "user", content: "下周三上午十点去看牙医。" },
  { role: "assistant", content: "记下了：下周三上午十点看牙医。" },
];

try {
  const jobId = remember(conversation);
  compress("example");
  // The messages of a new agent have the seqs 1, 2, 3, …
  const fresh = { min_seq: conversation.length, wait_ms: 30_000 };
  const context = await assemble("What does Miso eat?", 400, fresh);
  console.log(JSON.stringify({ job_id: jobId, context }));
} finally {
  await Promise.all([mailbox.disconnect(), reads.disconnect()]);
}
