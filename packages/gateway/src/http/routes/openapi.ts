import { OpenAPIHono, z } from '@hono/zod-openapi';
import { defineRoute } from '../shapes/define-route.ts';
import type { HttpEnv } from '../http-env.ts';
import { type OpenApiDocument, openApiDocument } from '../shapes/openapi-document.ts';
import { json } from '../shapes/response-shapes.ts';

const document = defineRoute('GET /openapi.json', {
  summary: 'This document',
  responses: { 200: json(z.looseObject({ openapi: z.string() }), 'OpenAPI 3.1.') },
});

/** The document of all routes of `app`. */
export function openApiRoutes(app: OpenAPIHono<HttpEnv>): OpenAPIHono<HttpEnv> {
  let made: OpenApiDocument | undefined;
  return new OpenAPIHono<HttpEnv>().openapi(document, (context) => context.json((made ??= openApiDocument(app))));
}
