/** The client: a server, its agents and its collections. Fields are named as in the HTTP API. */

import type * as api from "./api.js";
import { InvalidInputError, UnavailableError } from "./errors.js";
import { Http, pause } from "./http.js";
import type { Answer, Body, CallOptions, ClientOptions, Operation, Query, Sent } from "./http.js";

/** Messages in order; a text stands for a message of the user. */
export type Messages = string | api.MessageIn | readonly (string | api.MessageIn)[];
/** `idempotency_key`: requests with the same key are done once. */
export type AppendOptions = Omit<api.AppendRequest, "messages"> & { idempotency_key?: string };
export type SearchOptions = Omit<api.SearchRequest, "query">;
export type ContextOptions = Omit<api.ContextRequest, "query">;
export type RecallOptions = Omit<api.RecallRequest, "keywords" | "format">;
/** For `Memci` itself: whose memory, by default that of the agent `default`. */
export interface Whose {
  user?: string;
  agent?: string;
}
/** The name of a tool on pages, such as `update_page`. */
export type PageTool = Operation &
  { [P in keyof api.paths]: P extends `/v1/agents/{agent}/pages/${infer T}` ? T : never }[keyof api.paths];
type ToolFormat = NonNullable<Query<"list_tools">["format"]>;
type Erased = Omit<api.EraseRequest, "preview">;

const POLL_MS = 200;
const SLOW_MS = 300_000;

/** Methods below one path. */
class Part {
  constructor(
    protected readonly http: Http,
    /** The id of the agent, or the name of the collection. */
    readonly id: string,
    protected readonly path: string,
  ) {}

  protected send<T>(method: string, path: string, sent?: Sent): Promise<T> {
    return this.http.json<T>(method, this.path + path, sent);
  }

  /** Make a method that reads a list, or another thing with options. */
  protected reads<O extends Operation>(path: string) {
    return (query?: Query<O>, call?: CallOptions) =>
      this.send<Answer<O>>("GET", path, { ...call, query });
  }

  /** Make a method that reads one thing of a list. */
  protected readsOne<O extends Operation, Id extends string | number>(path: string) {
    return (id: Id, call?: CallOptions) =>
      this.send<Answer<O>>("GET", `${path}/${segment(String(id))}`, call);
  }

  /** Make a method that asks for something which does no harm when it is asked twice. */
  protected asks<O extends Operation>(path: string) {
    return (json?: Body<O>, call?: CallOptions) =>
      this.send<Answer<O>>("POST", path, { ...call, json });
  }

  /** Look until there is something to return; raise `UnavailableError` after the call's timeout. */
  protected async until<T>(late: string, call: CallOptions, look: () => Promise<T | undefined>) {
    const deadline = Date.now() + (call.timeoutMs ?? 60_000);
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (Date.now() > deadline) throw new UnavailableError(`${late} in time; do workers run?`);
      await pause(POLL_MS, call.signal);
    }
  }
}

/** Documents of an agent or a collection. */
class Documents extends Part {
  /** List documents by id, with their states. */
  documents = this.reads<"list_documents">("/documents");
  /** Return one document and its state. */
  document = this.readsOne<"get_document", number>("/documents");

  /** Add a document; the ending of its name says its format, such as `guide.md`. */
  addDocument(name: string, content: Blob | string, call?: CallOptions) {
    const body = new FormData();
    body.set("name", name);
    body.set("file", new Blob([content]));
    return this.send<api.DocumentAnswer>("POST", "/documents", { ...call, body, extraMs: SLOW_MS });
  }

  /** Remove one document for good. */
  removeDocument(documentId: number, call?: CallOptions) {
    const sent = { ...call, extraMs: SLOW_MS, repeatable: false };
    return this.send<api.DocumentsRemoved>("DELETE", `/documents/${documentId}`, sent);
  }

  /** Remove for good all documents whose names begin with `prefix`; empty: all. */
  removeDocuments(prefix: string, call?: CallOptions) {
    const sent = { ...call, query: { prefix }, extraMs: SLOW_MS };
    return this.send<api.DocumentsRemoved>("DELETE", "/documents", sent);
  }

  /** Return a document as soon as it can be found, or has failed: see `state`. */
  waitDocument(documentId: number, call: CallOptions = {}) {
    return this.until(`document ${documentId} was not read`, call, async () => {
      const found = await this.document(documentId, { signal: call.signal });
      return ["ready", "failed"].includes(found.state) ? found : undefined;
    });
  }
}

/** A collection of documents; its first document creates it. */
export class Collection extends Documents {}

/** The memory of one agent, and its pages. */
export class Agent extends Documents {
  /** Return the sizes of the agent's memory, and its open work. */
  about = this.reads<"get_agent">("");
  /** List messages by seq. */
  messages = this.reads<"list_messages">("/messages");
  /** List nodes by id. */
  nodes = this.reads<"list_nodes">("/nodes");
  /** Return one node. */
  node = this.readsOne<"get_node", number>("/nodes");
  /** List links by source, then target. */
  links = this.reads<"list_links">("/links");
  /** List what the agent is talking about, the latest mention first. */
  focus = this.reads<"list_focus">("/focus");
  /** List sessions by id. */
  sessions = this.reads<"list_sessions">("/sessions");
  /** List the summaries of sessions. */
  summaries = this.reads<"list_summaries">("/summaries");
  /** List pinned texts, which every window and context shows, and pinned pages. */
  pins = this.reads<"list_pins">("/pins");
  /** Return the plan of a session. */
  plan = this.reads<"show_plan">("/plan");
  /** Return the window of a session as messages for a model. */
  window = this.reads<"get_window">("/window");
  /** Return the tree of a session, or the removed pages, the latest first. */
  pages = this.reads<"list_pages">("/pages");
  /** List jobs in the order of the mailbox. */
  jobs = this.reads<"list_jobs">("/jobs");
  /** Return one job. */
  job = this.readsOne<"get_job", string>("/jobs");
  /** Return what an operation did. */
  receipt = this.readsOne<"get_receipt", string>("/receipts");
  /** Return the memory parameters that hold for the agent. */
  settings = this.reads<"get_settings">("/settings");
  /** Ask for one more pass; asking again while one waits changes nothing. */
  compress = this.asks<"compress">("/compress");
  /** Let no worker begin another job of the agent. */
  pause = this.asks<"pause">("/pause");
  /** Let workers go on. */
  resume = this.asks<"resume">("/resume");

  /** Store messages, and make memories of them now. */
  remember(messages: Messages, options?: Omit<AppendOptions, "remember">, call?: CallOptions) {
    return this.record(messages, { ...options, remember: "now" }, call);
  }

  /** Store messages; memories are made of them when they leave the window, or never. */
  async record(messages: Messages, options: AppendOptions = {}, call?: CallOptions) {
    // One key for all attempts: a request that arrived without an answer is not stored twice.
    const { idempotency_key = crypto.randomUUID(), ...rest } = options;
    const headers = { "Idempotency-Key": idempotency_key };
    const sent = { ...call, headers, json: { remember: "auto", ...rest, messages } };
    const answer = await this.send<api.AppendAnswer>("POST", "/messages", sent);
    const known = this.http.latestSeqs.get(this.id) ?? 0;
    this.http.latestSeqs.set(this.id, Math.max(known, answer.seq));
    return answer;
  }

  /** Remember facts without a conversation; they are pinned, so they do not fade. */
  addMemories(memories: string | string[] | api.NewMemory[], options: Omit<Body<"add_memories">, "memories"> = {}, call?: CallOptions) {
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const facts = [memories].flat().map((each) => (typeof each === "string" ? { text: each } : each));
    return this.send<api.AddAnswer>("POST", "/nodes", { ...call, headers, json: { ...options, memories: facts } });
  }

  /** Correct a memory with a new `text`, pin or unpin it, or set its type or worth. */
  editMemory(id: number, json: api.MemoryEdit, call?: CallOptions) {
    return this.send<api.EditAnswer>("PATCH", `/nodes/${id}`, { ...call, json });
  }

  /** Delete a memory; its messages stay stored, but reads do not show what it told. */
  deleteMemory(id: number, call?: CallOptions) {
    return this.send<api.DeleteAnswer>("DELETE", `/nodes/${id}`, call);
  }

  /** Search messages, memories, pages and documents, by meaning and by words. */
  search(query: string, options?: SearchOptions, call?: CallOptions) {
    return this.#read<api.SearchAnswer>("/search", { ...options, query }, call);
  }

  /** Search the network from what the agent is talking about; for programs. */
  recall(keywords: string | string[], options?: RecallOptions, call?: CallOptions) {
    const body = { ...options, keywords, format: "structured" };
    return this.#read<api.RecallAnswer>("/recall", body, call);
  }

  /** Search as `recall` does; for a model. */
  recallText(keywords: string | string[], options?: RecallOptions, call?: CallOptions) {
    return this.#read<api.RecallText>("/recall", { ...options, keywords, format: "text" }, call);
  }

  /** Assemble the messages that a model should see, within `budget_tokens`. */
  context(query?: string, options?: ContextOptions, call?: CallOptions) {
    return this.#read<api.ContextAnswer>("/context", { ...options, query }, call);
  }

  /** Write one document with all that another agent needs to continue a session. */
  handover(options?: api.HandoverRequest, call?: CallOptions) {
    return this.#read<api.HandoverAnswer>("/handover", { ...options }, call);
  }

  /** End a session; ending it again changes nothing, until something is said in it. */
  endSession(sessionId: string, call?: CallOptions) {
    const name = sessionId.split("/").map(segment).join("/");
    return this.send<api.SessionEndAnswer>("POST", `/sessions/${name}/end`, call);
  }

  /** Replace all of the agent's own parameters; the others go back to their defaults. */
  configure(json: Body<"put_settings">, call?: CallOptions) {
    return this.send<api.SettingsAnswer>("PUT", "/settings", { ...call, json });
  }

  /** Read or change pages, as in `page("get_page", {index})`. */
  page<T extends PageTool>(tool: T, json?: Body<T>, query?: Query<T>, call?: CallOptions) {
    const sent = { ...call, json, query, repeatable: /^(get|find)_/.test(tool) };
    return this.send<Answer<T>>("POST", `/pages/${tool}`, sent);
  }

  /** Use a tool as the agent's model; return what to tell the model. */
  callTool(name: string, args: object | string = {}, query?: Query<"use">, call?: CallOptions) {
    const json = typeof args === "string" ? (JSON.parse(args || "{}") as object) : args;
    const sent = { ...call, json, query, repeatable: false };
    return this.send<Record<string, unknown>>("POST", `/tools/${segment(name)}`, sent);
  }

  /** Cancel a queued job, run a dead one again (`replay`), or give it up (`discard`). */
  decide(jobId: string, what: "cancel" | "replay" | "discard", call?: CallOptions) {
    const path = `/jobs/${segment(jobId)}/${what}`;
    return this.send<api.JobAnswer>("POST", path, { ...call, repeatable: false });
  }

  /** Return a job as soon as it is no longer queued. */
  wait(jobId: string, call: CallOptions = {}) {
    return this.until(`job ${jobId} was not done`, call, async () => {
      const job = await this.job(jobId, { signal: call.signal });
      return job.state === "queued" ? undefined : job;
    });
  }

  /** Return the agent as soon as nothing is left to do for it. */
  waitIdle(call: CallOptions = {}) {
    return this.until(`agent ${this.id} was not idle`, call, async () => {
      const about = await this.about(undefined, { signal: call.signal });
      return about.idle ? about : undefined;
    });
  }

  /** Return what an erasure would remove; erases nothing. */
  previewErasure(which: Erased, call?: CallOptions) {
    const sent = { ...call, json: { ...which, preview: true }, extraMs: SLOW_MS };
    return this.send<api.ErasurePreview>("POST", "/erase", sent);
  }

  /** Erase messages, pages and pins, or a session, for good, with all that was made of them. */
  erase(json: Erased, call?: CallOptions) {
    return this.send<api.ReceiptAnswer>("POST", "/erase", { ...call, json, extraMs: SLOW_MS });
  }

  /** Erase all that the agent holds, for good. */
  eraseAgent(call?: CallOptions) {
    const sent = { ...call, extraMs: SLOW_MS, repeatable: false };
    return this.send<api.ReceiptAnswer>("DELETE", "", sent);
  }

  #read<T>(path: string, body: Record<string, unknown> & { wait_ms?: number }, call?: CallOptions) {
    const seq = this.http.latestSeqs.get(this.id);
    const fresh = seq === undefined ? {} : { min_seq: seq, wait_ms: this.http.waitMs };
    const json = { ...fresh, ...body };
    return this.send<T>("POST", path, { ...call, json, extraMs: json.wait_ms ?? 0 });
  }
}

/** A memci server; connects when first used. */
export class Memci {
  readonly #http: Http;

  constructor(url = "http://127.0.0.1:8000", options: ClientOptions = {}) {
    this.#http = new Http(url, options);
  }

  /** Return the memory of one agent; sends nothing yet. */
  agent(id: string): Agent {
    return new Agent(this.#http, id, `/v1/agents/${segment(id)}`);
  }

  /** Return one collection of documents; sends nothing yet. */
  collection(name: string): Collection {
    return new Collection(this.#http, name, `/v1/collections/${segment(name)}`);
  }

  /** Store messages of a user, and make memories of them now. */
  add(messages: Messages, { user, agent, ...options }: AppendOptions & Whose = {}, call?: CallOptions) {
    return this.#of(agent).remember(messages, { ...options, ...of(user) }, call);
  }

  /** Search what a user may see, by meaning and by words. */
  search(query: string, { user, agent, ...options }: SearchOptions & Whose = {}, call?: CallOptions) {
    return this.#of(agent).search(query, { ...options, ...of(user) }, call);
  }

  /** Assemble the messages that a model should see, within `budget_tokens`. */
  context(query?: string, { user, agent, ...options }: ContextOptions & Whose = {}, call?: CallOptions) {
    return this.#of(agent).context(query, { ...options, ...of(user) }, call);
  }

  /** List the agents that the key is for, by id. */
  agents(query?: Query<"list_agents">, call?: CallOptions) {
    return this.#http.json<api.AgentList>("GET", "/v1/agents", { ...call, query });
  }

  /** List the collections that the key is for, by name. */
  collections(query?: Query<"list_collections">, call?: CallOptions) {
    return this.#http.json<api.CollectionList>("GET", "/v1/collections", { ...call, query });
  }

  /** Return the tools that the key may use, to hand to a model's provider as they are. */
  tools(format: ToolFormat = "openai", call?: CallOptions) {
    const sent = { ...call, query: { format } };
    return this.#http.json<Record<string, unknown>[]>("GET", "/v1/tools", sent);
  }

  /** Return the state of the server's parts. */
  ready(call?: CallOptions) {
    return this.#http.json<api.ReadyAnswer>("GET", "/readyz", call);
  }

  #of(agent = "default"): Agent {
    return this.agent(agent);
  }
}

function of(user: string | undefined): { user_id?: string } {
  return user === undefined ? {} : { user_id: user };
}

/** Return a name as a part of a path; dots alone would be resolved on the way. */
function segment(name: string): string {
  if (/^\.*$/.test(name)) throw new InvalidInputError(`"${name}" is no id`);
  return encodeURIComponent(name);
}
