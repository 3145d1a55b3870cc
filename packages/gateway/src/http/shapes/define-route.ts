import { type RouteConfig, createRoute, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import type { HttpEnv } from '../http-env.ts';
import { securityOf } from './openapi-document.ts';
import { type Permission, type RouteName, isPermitted, permissions } from '../identity/permissions.ts';
import { problemResponse, problemShape, unauthenticatedResponse } from '../responses/problem-response.ts';
import { strictIfJson, strictJson } from './strict-json.ts';

type MethodOf<Name extends string> = Name extends `${infer Method} ${string}` ? Lowercase<Method> : never;
type PathOf<Name extends string> = Name extends `${string} ${infer Path}` ? Path : never;
type Method = MethodOf<RouteName>;

const problems = {
  default: {
    description: 'A problem; docs/gateway.md lists the codes.',
    content: { 'application/problem+json': { schema: problemShape } },
  },
} as const;

/**
 * A route as handlers see it: with the types of its input. A handler may give any answer; the shapes of answers are for
 * the document, and tests compare both.
 */
type DefinedRoute<Name extends RouteName, Config extends RouteInput> = (Config extends { request: object }
  ? Pick<Config, 'request'>
  : unknown) & {
  method: MethodOf<Name>;
  path: PathOf<Name>;
  responses: Record<string, { description: string }>;
  getRoutingPath(): string;
};
type RouteInput = Omit<RouteConfig, 'method' | 'path'>;

/**
 * A route of the API: its method, path and permission come from `permissions`, and the shapes of its input and output
 * from `config`. A JSON body is read strictly, after the permission was checked.
 */
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
    // A route's own middleware checks the signature of a request. It runs before the body is parsed.
    middleware: [require(permissions[name]), ...[config.middleware ?? []].flat(), ...readersOf(config)],
  };
  return createRoute(route) as unknown as DefinedRoute<Name, Config>;
}

/**
 * How a route reads JSON: strictly. One that takes forms too reads them otherwise. A body whose schema is no
 * zod schema is not read here: the document shows it, and the route has a reader of its own.
 */
function readersOf({ request }: Pick<RouteConfig, 'request'>): MiddlewareHandler<HttpEnv>[] {
  const content = Object.entries(request?.body?.content ?? {});
  const types = content.filter(([, body]) => isChecked(body)).map(([type]) => type);
  if (!types.includes('application/json')) return [];
  return [types.length === 1 ? strictJson : strictIfJson];
}

function isChecked(body: object | undefined): boolean {
  return body !== undefined && 'schema' in body && body.schema instanceof z.ZodType;
}

/** Such as `postApprovalsRequestIdExtend`. */
function operationIdOf(name: string): string {
  const words = name.split(/[^A-Za-z]+/).filter((word) => word !== '');
  return words
    .map((word, index) => (index === 0 ? word.toLowerCase() : word[0]!.toUpperCase() + word.slice(1)))
    .join('');
}

function require(permission: Permission): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    if (permission !== 'anyone') {
      const principal = context.get('principal');
      if (principal === undefined) {
        const message = 'This needs a credential: sign in, or send a bearer token.';
        return unauthenticatedResponse(message, context.get('loginUrl'));
      }
      if (!isPermitted(permission, principal.roles)) {
        const needed = typeof permission === 'string' ? permission : permission.join(' or ');
        return problemResponse({ code: 'forbidden', message: `This needs the role ${needed}.` });
      }
    }
    return next();
  };
}
