/** How requests are sent: with retries, timeouts, and errors made of the server's problems. */

import type { Problem, operations } from "./api.js";
import { ConnectionError, MemciError, RateLimitedError, UnavailableError, errorOf } from "./errors.js";

export type Operation = keyof operations;
/** The JSON that an operation takes. */
export type Body<O extends Operation> = operations[O] extends {
  requestBody?: { content: { "application/json": infer B } };
}
  ? NonNullable<B>
  : never;
/** The query parameters of an operation. */
export type Query<O extends Operation> = NonNullable<operations[O]["parameters"]["query"]>;
/** The JSON that an operation answers with. */
export type Answer<O extends Operation> = Values<operations[O]["responses"]> extends {
  content: { "application/json": infer A };
}
  ? A
  : never;
type Values<T> = T[keyof T];

/** The attempts of a request, and the pauses between them. */
export interface Retries {
  /** Default: 3. */
  attempts: number;
  /** Doubled after each attempt. Default: 200. The server's Retry-After may ask for more. */
  firstPauseMs: number;
  /** Default: 10,000. */
  longestPauseMs: number;
}

/** Options of a client. */
export interface ClientOptions {
  /** As `memci keys new` prints it. */
  apiKey?: string;
  /** The longest time for one attempt. Default: 30,000. */
  timeoutMs?: number;
  /** How long a read waits for what this client has written. Default: 2,000. */
  waitMs?: number;
  retries?: Partial<Retries>;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call, also between attempts; the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Instead of the client's. Methods that wait for workers wait so long in all, by default 60 s. */
  timeoutMs?: number | undefined;
}

export interface Sent extends CallOptions {
  query?: object | undefined;
  json?: unknown;
  body?: BodyInit;
  headers?: Record<string, string>;
  /** Time in addition to `timeoutMs`. */
  extraMs?: number;
  /** Whether sending it again does no harm. Default: true. */
  repeatable?: boolean;
}

/** Sends requests to one server; all agents of a client share it. */
export class Http {
  readonly waitMs: number;
  /** The highest seq of each agent that this client has written. */
  readonly latestSeqs = new Map<string, number>();
  readonly #url: string;
  readonly #options: ClientOptions;
  readonly #retries: Retries;

  constructor(url: string, options: ClientOptions) {
    if (!/^https?:$/.test(new URL(url).protocol)) {
      throw new TypeError("expected an address such as http://127.0.0.1:8000");
    }
    this.#url = url.replace(/\/+$/, "");
    this.#options = options;
    this.#retries = { attempts: 3, firstPauseMs: 200, longestPauseMs: 10_000, ...options.retries };
    this.waitMs = options.waitMs ?? 2_000;
  }

  /** Send a request until it is answered; return the JSON of the answer. */
  async json<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#attempt(method, path, sent)) as T;
      } catch (failure) {
        if (attempt >= this.#retries.attempts || !mayRepeat(failure, sent)) throw failure;
        const backoff = this.#retries.firstPauseMs * 2 ** (attempt - 1);
        const pauseMs = Math.max(backoff, failure.retryAfterMs ?? 0);
        await pause(Math.min(pauseMs, this.#retries.longestPauseMs), sent.signal);
      }
    }
  }

  async #attempt(method: string, path: string, sent: Sent): Promise<unknown> {
    const { apiKey, timeoutMs = 30_000, fetch = globalThis.fetch } = this.#options;
    const timeout = AbortSignal.timeout((sent.timeoutMs ?? timeoutMs) + (sent.extraMs ?? 0));
    const headers = new Headers(sent.headers);
    if (apiKey) headers.set("Authorization", `Bearer ${apiKey.trim()}`);
    if (sent.json !== undefined) headers.set("Content-Type", "application/json");
    try {
      const response = await fetch(this.#url + path + queryOf(sent.query), {
        method,
        headers,
        body: sent.json === undefined ? (sent.body ?? null) : JSON.stringify(sent.json),
        signal: sent.signal ? AbortSignal.any([sent.signal, timeout]) : timeout,
      });
      const answer = parsed(response, await response.text());
      if (!response.ok) throw errorOf(answer as Problem, response.headers.get("retry-after"));
      return answer;
    } catch (error) {
      sent.signal?.throwIfAborted();
      if (error instanceof MemciError) throw error;
      throw new ConnectionError(error);
    }
  }
}

/** Tell whether a failed request may be sent again: the server may have done it unseen. */
function mayRepeat(failure: unknown, sent: Sent): failure is RateLimitedError | UnavailableError {
  if (failure instanceof ConnectionError && !failure.neverArrived) return sent.repeatable ?? true;
  return failure instanceof RateLimitedError || failure instanceof UnavailableError;
}

function parsed(response: Response, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const { host } = new URL(response.url);
    throw new MemciError(
      `${host} answered ${response.status} with something that is no JSON; is the address right?`,
    );
  }
}

function queryOf(values: object = {}): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return query && `?${query}`;
}

/** Wait, unless the signal ends it. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
