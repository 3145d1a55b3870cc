import { defineConfig } from 'vite';

/** Leaves out the modules of `countersign` that the inbox does not use, because they have no side effects. */
const treeshake = { moduleSideEffects: (id: string) => id.startsWith(import.meta.dirname) };

// Any other value, such as that of a test runner, builds the inbox for its developers, with absolute paths in it.
process.env['NODE_ENV'] = 'production';

/** Builds the web inbox. The gateway serves the result under /inbox/ (src/http/routes/inbox.ts). */
export default defineConfig({
  root: 'src/inbox',
  base: '/inbox/',
  worker: { rolldownOptions: { treeshake } },
  build: {
    // `built-inbox.ts` builds into a folder of its own, because several builds may run at the same time.
    outDir: process.env['COUNTERSIGN_INBOX_FOLDER'] ?? '../../dist/inbox',
    emptyOutDir: true,
    // The strict content security policy forbids data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      treeshake,
      input: { index: 'src/inbox/index.html', 'service-worker': 'src/inbox/service-worker.ts' },
      // Browsers identify a service worker by its address, so the address is the same in every version.
      output: {
        entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
