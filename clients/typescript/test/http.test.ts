/** Retries, timeouts and aborted calls, on a server that fails as it is told. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { ConnectionError, Memci, MemciError, RateLimitedError, UnavailableError } from "../src/index.js";
import type { ClientOptions } from "../src/index.js";

type Answering = (request: IncomingMessage, response: ServerResponse, attempt: number) => void;

/** Serve until the block ends; count requests. */
async function served(
  answering: Answering,
  block: (memci: Memci, requests: IncomingMessage[]) => Promise<void>,
  options: ClientOptions = {},
): Promise<void> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    request.resume().on("end", () => answering(request, response, requests.push(request)));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const retries = { firstPauseMs: 1, longestPauseMs: 50 };
    await block(new Memci(`http://127.0.0.1:${port}`, { retries, ...options }), requests);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function problem(response: ServerResponse, status: number, type: string): void {
  response.writeHead(status, { "Content-Type": "application/problem+json", "Retry-After": "1" });
  response.end(JSON.stringify({ type: `urn:memci:problem:${type}`, title: type, status, detail: "no" }));
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}

test("429 and 503 are tried again, with the same idempotency key", async () => {
  const answering: Answering = (_, response, attempt) => {
    if (attempt === 1) problem(response, 503, "unavailable");
    else if (attempt === 2) problem(response, 429, "rate-limited");
    else json(response, { seq: 7 });
  };
  await served(answering, async (memci, requests) => {
    assert.equal((await memci.agent("a").remember("Hello")).seq, 7);
    const keys = requests.map((each) => each.headers["idempotency-key"]);
    assert.equal(new Set(keys).size, 1);
    assert.equal(keys.length, 3);
  });
});

test("after the last attempt the error says how long the server asks to wait", async () => {
  const answering: Answering = (_, response) => problem(response, 429, "rate-limited");
  await served(answering, async (memci, requests) => {
    await assert.rejects(memci.agents(), (error: unknown) => {
      assert.ok(error instanceof RateLimitedError);
      assert.equal(error.retryAfterMs, 1_000);
      return true;
    });
    assert.equal(requests.length, 3);
  });
});

test("a pause is as long as Retry-After asks", async () => {
  const answering: Answering = (_, response, attempt) => {
    if (attempt === 1) problem(response, 503, "reads-busy");
    else json(response, { hits: [] });
  };
  const options = { retries: { firstPauseMs: 1 } };
  await served(answering, async (memci) => {
    const began = performance.now();
    await memci.search("x");
    assert.ok(performance.now() - began >= 990);
  }, options);
});

test("a lost answer is asked for again only where that does no harm", async () => {
  const answering: Answering = (request) => request.socket.destroy();
  await served(answering, async (memci, requests) => {
    await assert.rejects(memci.agent("a").about(), ConnectionError);
    assert.equal(requests.length, 3);
    await assert.rejects(memci.agent("a").eraseAgent(), UnavailableError);
    assert.equal(requests.length, 4);
  });
});

test("a server that is silent is given up after the timeout", async () => {
  const options = { retries: { attempts: 1 } };
  await served(() => undefined, async (memci) => {
    await assert.rejects(memci.agents({}, { timeoutMs: 30 }), ConnectionError);
  }, options);
});

test("an aborted call ends at once, with the reason", async () => {
  const reason = new Error("no longer needed");
  await served((_, response) => problem(response, 503, "unavailable"), async (memci, requests) => {
    const controller = new AbortController();
    const asked = memci.search("x", {}, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 20);
    await assert.rejects(asked, (error) => error === reason);
    assert.equal(requests.length, 1);
  }, { retries: { firstPauseMs: 60_000, longestPauseMs: 60_000 } });
  await served(() => undefined, async (memci) => {
    await assert.rejects(memci.agents({}, { signal: AbortSignal.abort(reason) }), (it) => it === reason);
  });
});

test("a read waits for the seq of the last write, and no other client's", async () => {
  const bodies: unknown[] = [];
  const answering: Answering = (_, response) => json(response, { seq: 12, hits: [] });
  const spy: typeof fetch = (url, init) => {
    bodies.push(JSON.parse(String(init?.body)));
    return fetch(url, init);
  };
  await served(answering, async (memci) => {
    await memci.agent("a").search("x");
    await memci.agent("a").remember("x");
    await memci.agent("a").search("x");
    await memci.agent("b").search("x");
    await memci.agent("a").search("x", { min_seq: 3, wait_ms: 5 });
  }, { fetch: spy, waitMs: 900 });
  assert.deepEqual(
    bodies.filter((_, at) => at !== 1),
    [{ query: "x" }, { min_seq: 12, wait_ms: 900, query: "x" }, { query: "x" }, { min_seq: 3, wait_ms: 5, query: "x" }],
  );
});

test("the key is sent, and no other program's answer is taken for memci's", async () => {
  const answering: Answering = (_, response) => response.end("<html>");
  await served(answering, async (memci, requests) => {
    await assert.rejects(memci.agents(), (error: unknown) => {
      assert.ok(error instanceof MemciError);
      return error.message.includes("is the address right?");
    });
    assert.equal(requests[0]?.headers.authorization, "Bearer secret");
  }, { apiKey: "secret\n" });
});
