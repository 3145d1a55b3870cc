/** Bundles the pages of test/fixtures/front-ends into the folder that the first argument names. */
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..', '..', 'fixtures', 'front-ends');
const pages = ['ag-ui.html', 'ai-sdk.html', 'examples.html'].map((page) => join(root, page));
await build({
  root,
  configFile: false,
  logLevel: 'error',
  build: { outDir: process.argv[2]!, emptyOutDir: true, minify: false, rolldownOptions: { input: pages } },
});
