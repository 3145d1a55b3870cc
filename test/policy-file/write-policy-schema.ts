/**
 * `npm run schema`: writes schema/policy.schema.json, for editors, from the schema that policies are validated against.
 */
import { writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { policyJsonSchema } from '../../src/policy-file/json-schema.ts';

const path = new URL('../../schema/policy.schema.json', import.meta.url);
writeFileSync(path, await format(JSON.stringify(policyJsonSchema()), { parser: 'json', printWidth: 120 }));
