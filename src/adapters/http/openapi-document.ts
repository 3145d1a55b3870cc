import { readFileSync } from 'node:fs';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { HttpEnv } from './http-env.ts';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export type OpenApiDocument = ReturnType<OpenAPIHono<HttpEnv>['getOpenAPI31Document']>;

/** The OpenAPI 3.1 document of the routes that an app has: made of the schemas that check their input. */
export function openApiDocument(app: OpenAPIHono<HttpEnv>): OpenApiDocument {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version,
      description: 'Human approval for the tool calls of AI agents. A refusal is a problem (RFC 9457) with a code.',
    },
  });
}
