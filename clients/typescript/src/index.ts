export type * from "./api.js";
export * from "./client.js";
export * from "./errors.js";
export type { CallOptions, ClientOptions, Retries } from "./http.js";
