import { DefinitionError } from 'countersign';
import { isObject, unknownName } from 'countersign/base';

/** Options of MCP servers of both kinds. */
export interface ServerOptions {
  /** The name, which begins the names of its tools (`NAME__TOOL`): 1 to 32 letters, digits, `-` or single inner `_`. */
  name: string;
  /** The tools to offer, by the server's own names. Default: all. */
  tools?: readonly string[];
  /**
   * If true, the server's risk hints are trusted. A tool that the server calls read-only may then run without
   * a question and may be repeated (docs/assessment.md). Default false: hints can only raise a risk.
   */
  trusted?: boolean;
  /** The longest time that a call waits for its answer, in milliseconds. Default one minute, at most a day. */
  timeoutMs?: number;
  /** The longest time to connect and to list the tools, in milliseconds. Default 10,000, at most 20,000. */
  startTimeoutMs?: number;
}

/** A server that each worker runs as a separate process. */
export interface StdioServer extends ServerOptions {
  /** The program, run without a shell. */
  command: string;
  args?: readonly string[];
  /** Its environment variables. It also gets `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`, and no others. */
  env?: Readonly<Record<string, string>>;
  /** Its working directory. Default: that of the worker. */
  cwd?: string;
  /** Where its standard error goes: to that of the worker (`inherit`), or nowhere (`ignore`). Default `ignore`. */
  stderr?: 'inherit' | 'ignore';
}

/** A server reached by streamable HTTP. */
export interface HttpServer extends ServerOptions {
  /** The endpoint of the server, by `https:` or `http:`, without a user or password. */
  url: string | URL;
  /** HTTP headers that are sent with each request. */
  headers?: Readonly<Record<string, string>>;
  /** A function that returns the bearer token; it is called before each request. Default: no token. */
  auth?: () => string | Promise<string>;
}

/** Options of `mcpServer`: a command or a URL. */
export type McpServerOptions = StdioServer | HttpServer;

const commonNames = ['name', 'tools', 'trusted', 'timeoutMs', 'startTimeoutMs'] satisfies (keyof ServerOptions)[];
const stdioNames = [...commonNames, 'command', 'args', 'env', 'cwd', 'stderr'] satisfies (keyof StdioServer)[];
const httpNames = [...commonNames, 'url', 'headers', 'auth'] satisfies (keyof HttpServer)[];

const longestCallMs = 24 * 3_600_000;
/** A worker sends no heartbeats while it waits for a server. After a longer wait, Temporal would count it as lost. */
const longestStartMs = 20_000;

/** Throws a `DefinitionError` for invalid options: one sentence that quotes no value of `env`, `headers` or `url`. */
export function checkServerOptions(options: unknown): asserts options is McpServerOptions {
  if (!isObject(options)) throw new DefinitionError('mcpServer: expected an object with name, and command or url');
  const { name, command, url, tools, trusted, timeoutMs, startTimeoutMs } = options;
  const place = typeof name === 'string' ? `MCP server ${JSON.stringify(name.slice(0, 80))}` : 'mcpServer';
  const fail = (sentence: string): never => {
    throw new DefinitionError(`${place}: ${sentence}`);
  };
  if ((command === undefined) === (url === undefined)) fail('give either command or url');
  const known: readonly string[] = command === undefined ? httpNames : stdioNames;
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined) fail(unknownName('option', unknown, known));
  if (tools !== undefined && !isTexts(tools)) fail('tools must be a list of names');
  if (trusted !== undefined && typeof trusted !== 'boolean') fail('trusted must be true or false');
  if (!isTime(timeoutMs, longestCallMs)) fail(`timeoutMs: expected a whole number from 1 to ${longestCallMs}`);
  if (!isTime(startTimeoutMs, longestStartMs))
    fail(`startTimeoutMs: expected a whole number from 1 to ${longestStartMs}`);
  const problem = command === undefined ? httpProblem(options) : stdioProblem(options);
  if (problem !== undefined) fail(problem);
}

/** Returns what is wrong with the options of a server that is a process; undefined if they are valid. */
function stdioProblem({ command, args, env, cwd, stderr }: Record<string, unknown>): string | undefined {
  if (typeof command !== 'string' || command === '') return 'command must be the name or path of a program';
  if (args !== undefined && !isTexts(args)) return 'args must be a list of texts';
  if (env !== undefined && !isTextRecord(env)) return 'env must be an object of texts';
  if (cwd !== undefined && typeof cwd !== 'string') return 'cwd must be the path of a folder';
  if (stderr !== undefined && stderr !== 'inherit' && stderr !== 'ignore')
    return "stderr must be 'inherit' or 'ignore'";
  return undefined;
}

/** Returns what is wrong with the options of a server that has a URL; undefined if they are valid. */
function httpProblem({ url, headers, auth }: Record<string, unknown>): string | undefined {
  const parsed = typeof url === 'string' || url instanceof URL ? URL.parse(String(url)) : null;
  if (parsed === null || !['https:', 'http:'].includes(parsed.protocol)) return 'url must be an https or http address';
  if (parsed.username !== '' || parsed.password !== '')
    return 'url must have no user and password: use auth or headers';
  if (headers !== undefined && !areHeaders(headers)) return 'headers must be an object of texts that HTTP can send';
  if (auth !== undefined && typeof auth !== 'function') return 'auth must be a function that gives a token';
  return undefined;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isTextRecord(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

/** True if `Headers`, which throws for names and values that HTTP cannot send, takes these texts. */
function areHeaders(value: unknown): boolean {
  if (!isTextRecord(value)) return false;
  try {
    return new Headers(value) instanceof Headers;
  } catch {
    return false;
  }
}

function isTime(value: unknown, longestMs: number): boolean {
  return (
    value === undefined || (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= longestMs)
  );
}
