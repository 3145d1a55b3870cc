import { readFileSync } from 'node:fs';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { HttpEnv } from '../gateway-context.ts';
import type { Permission } from '../identity/principal.ts';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export type OpenApiDocument = ReturnType<OpenAPIHono<HttpEnv>['getOpenAPI31Document']>;

/** The OpenAPI 3.1 document of an app's routes, made of the schemas that validate their input. */
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

/** The credentials of docs/identity.md. A gateway without an identity file needs none. */
const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'countersign-session',
    description: 'Of a browser that signed in; under https its name begins with `__Host-`.',
  },
} as const;

/** The credentials that an operation accepts: one of these suffices. `{}` means that none is needed. */
export function securityOf(permission: Permission): Record<string, string[]>[] {
  return permission === 'anyone' ? [] : [{ bearer: [] }, { session: [] }];
}
