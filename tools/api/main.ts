/** `npm run api`: writes docs/api.md, which the package has, from the declarations. Git ignores it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeDeclarations } from './declarations.ts';
import { readApi } from './read-api.ts';
import { renderPage } from './render-page.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-api-'));
try {
  writeDeclarations(folder);
  writeFileSync(new URL('../../docs/api.md', import.meta.url), await renderPage(readApi(folder)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
