/** The errors of the client. Each is made of a problem (RFC 9457); its message says what to do. */

import type { Problem } from "./api.js";

/** Something went wrong in memci. */
export class MemciError extends Error {
  /** What the server answered; none where no server answered. */
  readonly problem: Problem | undefined;
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, problem?: Problem, retryAfterMs?: number, cause?: unknown) {
    super(message, { cause });
    this.name = new.target.name;
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }

  /** The wrong field, such as `messages[3].role`, if one is. */
  get field(): string | undefined {
    return this.problem?.field ?? undefined;
  }
}

/** The input cannot be accepted, or is over a limit. */
export class InvalidInputError extends MemciError {}
/** What must stay in the context does not fit; `problem.needs` has the tokens of each part. */
export class BudgetTooSmallError extends MemciError {}
/** There is no such thing. */
export class NotFoundError extends MemciError {}
/** The request contradicts what is stored, or has a message that was erased for good. */
export class ConflictError extends MemciError {}
/** A valid API key is needed. */
export class UnauthorizedError extends MemciError {}
/** This API key may not do that, or the page may not be changed in this way. */
export class ForbiddenError extends MemciError {}
/** Too many requests with this API key. */
export class RateLimitedError extends MemciError {}
/** A part that is needed does not answer. */
export class UnavailableError extends MemciError {}

/** The server did not answer, or not in time; `cause` says more. */
export class ConnectionError extends UnavailableError {
  constructor(cause: unknown) {
    const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
    super(`no answer from the server (${name}: ${message}); is it running?`, undefined, undefined, cause);
  }

  /** Whether the request cannot have reached the server. */
  get neverArrived(): boolean {
    const { cause } = (this.cause ?? {}) as { cause?: { code?: string } };
    return ["ECONNREFUSED", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT"].includes(cause?.code ?? "");
  }
}

const TYPE_PREFIX = "urn:memci:problem:";
const KINDS: Record<string, typeof MemciError> = {
  "too-large": InvalidInputError,
  "invalid-input": InvalidInputError,
  "budget-too-small": BudgetTooSmallError,
  "not-found": NotFoundError,
  erased: ConflictError,
  conflict: ConflictError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  refused: ForbiddenError,
  "rate-limited": RateLimitedError,
  "read-timeout": UnavailableError,
  "reads-busy": UnavailableError,
  unavailable: UnavailableError,
};

/** Return the error that a problem describes. */
export function errorOf(problem: Problem, retryAfter: string | null): MemciError {
  const retryAfterMs = /^\d+$/.test(retryAfter ?? "") ? Number(retryAfter) * 1_000 : undefined;
  const kind = KINDS[String(problem.type).replace(TYPE_PREFIX, "")] ?? MemciError;
  return new kind(problem.detail, problem, retryAfterMs);
}
