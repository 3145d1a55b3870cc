import { type RouteConfig, createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler, Context } from 'hono';
import { readJson, jsonPlace } from 'countersign/json';
import { visibleText, type ProblemCode } from 'countersign/base';
import { readFileSync } from 'node:fs';
import type { HttpEnv } from '../gateway-context.ts';
import { type Permission, type RouteName, isPermitted, permissions } from '../identity/principal.ts';
import { problemResponse, problemShape, unauthenticatedResponse } from '../responses.ts';

type MethodOf<Name extends string> = Name extends `${infer Method} ${string}` ? Lowercase<Method> : never;
type PathOf<Name extends string> = Name extends `${string} ${infer Path}` ? Path : never;
type Method = MethodOf<RouteName>;

const problems = {
  default: {
    description: 'A problem; docs/gateway.md lists the codes.',
    content: { 'application/problem+json': { schema: problemShape } },
  },
} as const;

/** A route as `openapi` takes it. It types the input of the handler, but not the response, which tests check. */
type DefinedRoute<Name extends RouteName, Config extends RouteInput> = (Config extends { request: object }
  ? Pick<Config, 'request'>
  : unknown) & {
  method: MethodOf<Name>;
  path: PathOf<Name>;
  responses: Record<string, { description: string }>;
  getRoutingPath(): string;
};
type RouteInput = Omit<RouteConfig, 'method' | 'path'>;

/** Defines a route. It first checks the permission of its name in `permissions`, then reads a JSON body strictly. */
export function defineRoute<const Name extends RouteName, const Config extends RouteInput>(
  name: Name,
  config: Config,
): DefinedRoute<Name, Config> {
  const [method, path] = name.split(' ') as [string, PathOf<Name>];
  const route: RouteConfig = {
    ...config,
    responses: { ...config.responses, ...problems },
    method: method.toLowerCase() as Method,
    path,
    operationId: operationIdOf(name),
    security: securityOf(permissions[name]),
    // The middleware of `config` checks signatures of bodies, so it runs before the body is parsed.
    middleware: [requirePermission(permissions[name]), ...[config.middleware ?? []].flat(), ...readersOf(config)],
  };
  return createRoute(route) as unknown as DefinedRoute<Name, Config>;
}

/** The middleware that reads a JSON body; none if the route reads the body itself, because its schema is not of zod. */
function readersOf({ request }: Pick<RouteConfig, 'request'>): MiddlewareHandler<HttpEnv>[] {
  const content = Object.entries(request?.body?.content ?? {});
  const types = content.filter(([, body]) => isChecked(body)).map(([type]) => type);
  if (!types.includes('application/json')) return [];
  return [types.length === 1 ? strictJson : strictIfJson];
}

function isChecked(body: object | undefined): boolean {
  return body !== undefined && 'schema' in body && body.schema instanceof z.ZodType;
}

/** The `operationId` in the OpenAPI document, such as `postApprovalsRequestIdExtend`. */
function operationIdOf(name: string): string {
  const words = name.split(/[^A-Za-z]+/).filter((word) => word !== '');
  return words
    .map((word, index) => (index === 0 ? word.toLowerCase() : word[0]!.toUpperCase() + word.slice(1)))
    .join('');
}

/** Refuses senders without the permission: with 401 if they have no credential, with 403 if they lack the role. */
function requirePermission(permission: Permission): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    if (permission === 'anyone') return next();
    const principal = context.get('principal');
    if (principal === undefined) {
      const message = 'This needs a credential: sign in, or send a bearer token.';
      return unauthenticatedResponse(message, context.get('loginUrl'));
    }
    if (isPermitted(permission, principal.roles)) return next();
    const needed = typeof permission === 'string' ? permission : permission.join(' or ');
    return problemResponse({ code: 'forbidden', message: `This needs the role ${needed}.` });
  };
}

const jsonType = /^application\/json\s*(;|$)/i;

/**
 * Reads a body strictly: refuses JSON that parsers read differently, such as an object with a duplicate name. It also
 * refuses other media types, because a page of another origin can send those without a preflight. An empty body counts
 * as an empty object.
 */
export const strictJson: MiddlewareHandler<HttpEnv> = async ({ req }, next) => {
  const bytes = new Uint8Array(await req.arrayBuffer());
  if (bytes.length > 0 && !jsonType.test(req.header('content-type') ?? '')) {
    const message = `The body must be JSON, sent as 'content-type: application/json'.`;
    return problemResponse({ code: 'undecodable', message });
  }
  const text = readText(bytes);
  if (text === undefined) return problemResponse({ code: 'undecodable', message: 'The body is not UTF-8.' });
  if (text.trim() === '') {
    // Some routes have an optional body, and treat an absent body as an empty object.
    req.json = () => Promise.resolve({} as never);
    return next();
  }
  const read = readJson(text, { root: 'body', refusedKeys: ['__proto__'] });
  if ('problem' in read) return problemResponse({ code: 'undecodable', message: read.problem });
  // The handler gets this value. `JSON.parse` would misread some keys of the text (docs/decisions/0052).
  req.json = () => Promise.resolve(read.value as never);
  return next();
};

export const strictIfJson: MiddlewareHandler<HttpEnv> = (context, next) =>
  jsonType.test(context.req.header('content-type') ?? '') ? strictJson(context, next) : next();

function readText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

interface Issue {
  code?: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
  errors?: Issue[][];
}

type Checked = { success: true } | { success: false; target: string; error: { issues: unknown } };

const longestDetail = 500;
const roots: Record<string, string> = { json: 'body', form: 'body', param: 'path' };

/** Returns a `defaultHook` for the app of routes. It refuses input of the wrong shape, and names the first mistake. */
export function refuseInput(code: ProblemCode = 'arguments_invalid') {
  return (result: Checked, _context: Context<HttpEnv>): Response | undefined => {
    if (result.success) return undefined;
    const [first] = result.error.issues as Issue[];
    const message =
      first === undefined ? 'the input is not valid' : issueSentence(first, roots[result.target] ?? result.target);
    return problemResponse({ code, message: visibleText(message).slice(0, longestDetail) });
  };
}

/** One sentence about a mistake in the input, which begins with its place, such as `body.scope.kind`. */
function issueSentence(issue: Issue, root: string, path: PropertyKey[] = []): string {
  const place = [...path, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys ?? [];
    return `${jsonPlace(root, [...place, key])}: there is no such member`;
  }
  // For a union, this reports the alternative whose mistake is deepest in the input, or what all alternatives expect.
  const alternatives = (issue.errors ?? []).flatMap(([first]) => (first === undefined ? [] : [first]));
  const deepest = alternatives.toSorted((one, other) => depthOf(other) - depthOf(one))[0];
  if (deepest !== undefined && depthOf(deepest) > 0) return issueSentence(deepest, root, place);
  const expected = alternatives.length > 0 ? alternatives.map(({ message }) => message).join('; or ') : issue.message;
  return `${jsonPlace(root, place)}: ${expected}`;
}

function depthOf({ code, path }: Issue): number {
  return path.length + (code === 'unrecognized_keys' ? 1 : 0);
}

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export type OpenApiDocument = ReturnType<OpenAPIHono<HttpEnv>['getOpenAPI31Document']>;

/** The OpenAPI 3.1 document of the routes of `app`, made of the schemas that validate their input. */
export function openApiDocument(app: OpenAPIHono<HttpEnv>): OpenApiDocument {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version,
      description: 'Human approval for the tool calls of AI agents. A refusal is a problem (RFC 9457) with a code.',
    },
  });
  const { webhooks: _, ...rest } = document;
  return { ...rest, components: { ...document.components, securitySchemes } };
}

/** The credentials that docs/identity.md describes. A gateway without an identity file needs no credential. */
const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'countersign-session',
    description: 'Of a browser that signed in; under https its name begins with `__Host-`.',
  },
} as const;

/** The credentials that an operation accepts; one of them suffices. Empty if the operation needs none. */
function securityOf(permission: Permission): Record<string, string[]>[] {
  return permission === 'anyone' ? [] : [{ bearer: [] }, { session: [] }];
}
